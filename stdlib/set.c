// Arrays as sets: distinct items, membership.

#include <string.h>

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/distinct_integers.h"
#include "stdlib/distinct_strings.h"
#include "stdlib/families.h"
#include "stdlib/missing_order.h"
#include "stdlib/nested_reduce.h"
#include "stdlib/ragged.h"
#include "vm/engine/engine.h"
#include "vm/kernels/kernels.h"
#include "vm/values/list.h"
#include "vm/nested/nested_join.h"
#include "vm/values/record.h"
#include "vm/array/stack.h"
#include "vm/values/string_item.h"
#include "vm/vm.h"

// --- Distinct items ---------------------------------------------------------

// All that can be asked about the distinct items of an array. Counts and
// positions are missing where nobody asked.
typedef struct distinct {
  tl_array *values;
  tl_array *indices;  // where each value occurs first
  tl_array *inverse;  // in x's shape: which value each item is
  tl_array *counts;
} distinct;

static void distinct_close(tl_vm *vm, distinct *d) {
  tl_array *parts[] = {d->values, d->indices, d->inverse, d->counts};
  for (int i = 0; i < 4; i++)
    if (parts[i])
      tl_drop(vm, tl_own_array(parts[i]));
}

static tl_array *ints(tl_vm *vm, int64_t n) {
  return tl_array_new(vm, TL_INT64, 1, &n);
}

static int64_t *items_of(tl_array *a) {
  return (int64_t *)a->data;
}

// Counts from the sorted items' run positions.
static bool find_counts(tl_vm *vm, distinct *d, const int64_t *start,
                        int64_t runs, int64_t n) {
  d->counts = ints(vm, runs);
  if (!d->counts)
    return false;
  for (int64_t i = 0; i < runs; i++)
    items_of(d->counts)[i] = (i + 1 < runs ? start[i + 1] : n) - start[i];
  return true;
}

static bool take_values(tl_vm *vm, distinct *d, tl_array *sorted,
                        const int64_t *start, int64_t runs) {
  tl_slot values;
  if (!tl_take_axis(vm, sorted, start, runs, 0, &values))
    return false;
  d->values = values.array;
  return true;
}

// Moves the first of each run of equal items down, of n sorted ones; returns
// how many there are.
static int64_t keep_firsts(tl_dtype dtype, char *items, int64_t n) {
  enum { ITEMS = 512 };
  _Alignas(64) char firsts[ITEMS * sizeof(tl_c128)];
  int64_t start[ITEMS + 1], kept = 0;
  size_t itemsize = tl_itemsize(dtype);
  for (int64_t at = 0; at < n; at += ITEMS) {
    // The item before tells whether the first one is new. It still stands
    // there: only what is not moved is as far down.
    int64_t before = at > 0;
    int64_t end = n - at < ITEMS ? n : at + ITEMS;
    const char *from = items + (size_t)(at - before) * itemsize;
    int64_t runs = tl_run_positions(dtype, start, from, end - at + before);
    int64_t count = runs - before;
    tl_kernels()->take[tl_move_size(itemsize)](
        firsts, from, (ptrdiff_t)itemsize, start + before, (size_t)count);
    memcpy(items + (size_t)kept * itemsize, firsts, (size_t)count * itemsize);
    kept += count;
  }
  return kept;
}

// Dense items that may be sorted where they are: the dying ones themselves, or
// a copy.
static tl_array *take_items(tl_vm *vm, tl_slot *items) {
  if (!tl_array_resizes(vm, *items))
    return tl_array_copy(vm, items->array);
  tl_array *a = items->array;
  *items = tl_none();
  return a;
}

// Whether what tells integers apart by a table takes them.
static bool is_counted(tl_dtype dtype) {
  return dtype == TL_BOOL || (tl_dtype_is_integer(dtype) && dtype != TL_UINT64);
}

// Without positions: sorts the items, or counts them.
static bool by_values(tl_vm *vm, tl_slot *items, bool counts, distinct *d) {
  tl_dtype dtype = tl_array_dtype(items->array);
  int64_t n = items->array->size, runs = 0;
  if (dtype == TL_STRING) {
    return tl_distinct_strings(vm, items->array, &d->values,
                               counts ? &d->counts : NULL);
  }
  if (n > 0 && is_counted(dtype)) {
    if (!tl_distinct_integers(vm, items, &d->values,
                              counts ? &d->counts : NULL))
      return false;
    if (d->values)
      return true;
  }
  tl_array *sorted = take_items(vm, items), *start = NULL;
  if (!sorted)
    return false;
  bool ok = tl_sort_items(vm, dtype, sorted->data, n, false);
  if (ok && counts) {
    ok = (start = ints(vm, n)) != NULL;
    if (ok)
      runs = tl_run_positions(dtype, items_of(start), sorted->data, n);
    ok = ok && find_counts(vm, d, items_of(start), runs, n);
  }
  tl_slot rest = tl_own_array(sorted);
  if (ok) {
    runs = keep_firsts(dtype, sorted->data, n);
    d->values = tl_array_narrow(vm, &rest, dtype, 1, &runs);
  }
  if (start)
    tl_drop(vm, tl_own_array(start));
  tl_drop(vm, rest);
  return ok;
}

// With positions: a stable argsort puts the first of equal items first.
static bool by_order(tl_vm *vm, tl_array *flat, const tl_array *x,
                     distinct *d) {
  int64_t n = flat->size, runs = 0;
  tl_slot sorted = tl_none();
  tl_array *order = ints(vm, n), *start = ints(vm, n);
  bool ok = order && start &&
            tl_argsort_items(vm, tl_array_dtype(flat), items_of(order),
                             flat->data, n, false) &&
            tl_take_axis(vm, flat, items_of(order), n, 0, &sorted);
  if (ok) {
    runs = tl_run_positions(tl_array_dtype(flat), items_of(start),
                            sorted.array->data, n);
    d->indices = ints(vm, runs);
    d->inverse = tl_array_new(vm, TL_INT64, tl_ndim(x), tl_shape(x));
    ok = d->indices && d->inverse &&
         take_values(vm, d, sorted.array, items_of(start), runs) &&
         find_counts(vm, d, items_of(start), runs, n);
  }
  for (int64_t i = 0; ok && i < runs; i++) {
    int64_t end = i + 1 < runs ? items_of(start)[i + 1] : n;
    items_of(d->indices)[i] = items_of(order)[items_of(start)[i]];
    for (int64_t k = items_of(start)[i]; k < end; k++)
      items_of(d->inverse)[items_of(order)[k]] = i;
  }
  tl_drop(vm, sorted);
  if (order)
    tl_drop(vm, tl_own_array(order));
  if (start)
    tl_drop(vm, tl_own_array(start));
  return ok;
}

// Takes what *x owns, where no positions are asked for.
static bool find_distinct(tl_vm *vm, const char *function, tl_slot *x,
                          bool positions, bool counts, distinct *d) {
  *d = (distinct){NULL, NULL, NULL, NULL};
  if (!tl_arg_array(vm, function, x))
    return false;
  tl_slot flat, borrowed = tl_borrow(*x), dense;
  int64_t size = x->array->size;
  if (!tl_array_contiguous(vm, positions ? &borrowed : x, &dense))
    return false;
  bool ok = tl_reshape(vm, &dense, 1, &size, &flat);
  if (ok) {
    ok = positions ? by_order(vm, flat.array, x->array, d)
                   : by_values(vm, &flat, counts, d);
    tl_drop(vm, flat);
  }
  tl_drop(vm, dense);
  if (!ok)
    distinct_close(vm, d);
  return ok;
}

bool tl_distinct_inverse(tl_vm *vm, const char *function, tl_array *x,
                         tl_array **values, tl_array **inverse) {
  distinct d;
  tl_slot s = {.tag = tl_array_tag(x), .array = x};
  if (!find_distinct(vm, function, &s, true, true, &d))
    return false;
  *values = d.values;
  *inverse = d.inverse;
  d.values = d.inverse = NULL;
  distinct_close(vm, &d);
  return true;
}

// Gives the parts that have a name to a record.
static bool distinct_record(tl_vm *vm, distinct *d, const char *const names[4],
                            tl_slot *out) {
  tl_array **parts[] = {&d->values, &d->indices, &d->inverse, &d->counts};
  tl_record *record = tl_record_new(vm, 4);
  bool ok = record != NULL;
  for (int i = 0; ok && i < 4; i++) {
    if (!names[i])
      continue;
    tl_slot part = *parts[i] ? tl_own_array(*parts[i]) : tl_none();
    if (tl_ndim(*parts[i]) == 0)
      part = tl_result(vm, *parts[i]);
    *parts[i] = NULL;
    ok = !tl_is_unset(part) && tl_record_set_name(vm, &record, names[i], &part);
    if (!ok)
      tl_drop(vm, part);
  }
  distinct_close(vm, d);
  if (ok)
    *out = tl_own_record(record);
  else if (record)
    tl_drop(vm, tl_own_record(record));
  return ok;
}

// The items of all rows, and of what may be missing those that are there: they
// take the argument's place. How many are missing.
static bool plain_items(tl_vm *vm, tl_slot *x, int64_t *missing) {
  *missing = 0;
  while (tl_is_form(*x, TL_FORM_RAGGED)) {
    tl_slot offsets, items;
    bool ends = tl_is_owned(*x);
    if (!(ends ? tl_ragged_flat(vm, *x, &offsets, &items)
               : tl_ragged_lend(vm, *x, &offsets, &items)))
      return false;
    tl_drop(vm, offsets);
    tl_clear(vm, x);
    *x = items;
  }
  if (!tl_is_form(*x, TL_FORM_OPTION))
    return true;
  tl_slot there;
  if (!tl_present(vm, *x, &there, missing))
    return false;
  tl_clear(vm, x);
  *x = there;
  return true;
}

// A missing value is a distinct one, the last.
static bool append_missing(tl_vm *vm, tl_array *values, tl_slot *out) {
  tl_slot all = tl_own_array(values);
  bool ok = tl_nested_append(vm, all, tl_none(), out);
  tl_drop(vm, all);
  return ok;
}

static bool unique_values(tl_vm *vm, tl_slot *args, tl_slot *out) {
  distinct d;
  int64_t missing;
  if (!plain_items(vm, &args[0], &missing) ||
      !find_distinct(vm, "unique", &args[0], false, false, &d))
    return false;
  if (missing > 0)
    return append_missing(vm, d.values, out);
  *out = tl_own_array(d.values);
  return true;
}

static bool unique_counts(tl_vm *vm, tl_slot *args, tl_slot *out) {
  distinct d;
  int64_t missing;
  if (!plain_items(vm, &args[0], &missing) ||
      !find_distinct(vm, "unique_counts", &args[0], false, true, &d))
    return false;
  if (missing == 0) {
    return distinct_record(
        vm, &d, (const char *[]){"values", NULL, NULL, "counts"}, out);
  }
  tl_slot values = tl_none(), counts = tl_own_array(d.counts), both;
  tl_slot one[2] = {counts, tl_none()}, count = tl_int(missing);
  tl_record *record = tl_record_new(vm, 2);
  bool ok = append_missing(vm, d.values, &values) && record != NULL &&
            tl_stack(vm, 1, &count, &one[1]) &&
            tl_value_concat(vm, 2, one, &both);
  tl_clear(vm, &one[1]);
  tl_drop(vm, counts);
  if (ok) {
    ok = tl_record_set_name(vm, &record, "values", &values);
    ok = tl_record_set_name(vm, &record, "counts", &both) && ok;
    tl_clear(vm, &both);
  }
  tl_clear(vm, &values);
  if (ok)
    *out = tl_own_record(record);
  else if (record != NULL)
    tl_drop(vm, tl_own_record(record));
  return ok;
}

static bool unique_inverse(tl_vm *vm, tl_slot *args, tl_slot *out) {
  distinct d;
  if (tl_is_form(args[0], TL_FORM_OPTION)) {
    return tl_coded_call(vm, "unique_inverse", unique_inverse, false,
                         TL_ANSWER_RECORD, args, out);
  }
  return find_distinct(vm, "unique_inverse", &args[0], true, true, &d) &&
         distinct_record(
             vm, &d, (const char *[]){"values", NULL, "inverse_indices", NULL},
             out);
}

static bool unique_all(tl_vm *vm, tl_slot *args, tl_slot *out) {
  distinct d;
  if (tl_is_form(args[0], TL_FORM_OPTION)) {
    return tl_coded_call(vm, "unique_all", unique_all, false, TL_ANSWER_RECORD,
                         args, out);
  }
  return find_distinct(vm, "unique_all", &args[0], true, true, &d) &&
         distinct_record(
             vm, &d,
             (const char *[]){"values", "indices", "inverse_indices", "counts"},
             out);
}

// --- Membership -------------------------------------------------------------

// Whether each dense query is among the dense sorted items.
static void mark_found(uint8_t *found, const tl_array *sorted,
                       const tl_array *queries, const int64_t *place) {
  tl_dtype dtype = tl_array_dtype(sorted);
  size_t itemsize = tl_itemsize(dtype);
  for (int64_t i = 0; i < queries->size; i++) {
    // The place after equal items: the one before it may be the query.
    const char *query = queries->data + (size_t)i * itemsize;
    found[i] = 0;
    if (place[i] == 0)
      continue;
    const char *item = sorted->data + (size_t)(place[i] - 1) * itemsize;
    if (dtype == TL_FLOAT64)
      found[i] = *(const double *)(const void *)item ==
                 *(const double *)(const void *)query;
    else if (dtype == TL_FLOAT32)
      found[i] = *(const float *)(const void *)item ==
                 *(const float *)(const void *)query;
    else
      found[i] = memcmp(item, query, itemsize) == 0;
  }
}

// Sorts the items, unless they are strings.
static bool search_members(tl_vm *vm, const tl_array *queries, tl_array *items,
                           uint8_t *found) {
  if (tl_array_dtype(items) == TL_STRING)
    return tl_strings_among(vm, queries, items, found);
  tl_array *place = ints(vm, queries->size);
  bool ok = place &&
            tl_sort_items(vm, tl_array_dtype(items), items->data, items->size,
                          false) &&
            tl_search_sorted(vm, items, queries, true, items_of(place));
  if (ok)
    mark_found(found, items, queries, items_of(place));
  if (place)
    tl_drop(vm, tl_own_array(place));
  return ok;
}

static bool find_members(tl_vm *vm, const tl_array *queries, tl_array *items,
                         bool invert, tl_slot *out) {
  bool fits = items->size > 0 && is_counted(tl_array_dtype(items));
  tl_array *found =
      tl_array_new(vm, TL_BOOL, tl_ndim(queries), tl_shape(queries));
  if (!found)
    return false;
  uint8_t *is = (uint8_t *)found->data;
  if ((fits && !tl_integers_among(vm, queries, items, is, &fits)) ||
      (!fits && !search_members(vm, queries, items, is))) {
    tl_drop(vm, tl_own_array(found));
    return false;
  }
  for (int64_t i = 0; invert && i < found->size; i++) is[i] ^= 1;
  *out = tl_result(vm, found);
  return true;
}

static bool isin(tl_vm *vm, tl_slot *args, tl_slot *out) {
  bool invert;
  tl_dtype dtype;
  tl_slot weak[2] = {args[0], args[1]};
  if (!tl_arg_bool(vm, "isin", "invert", args[2], &invert))
    return false;
  for (int i = 0; i < 2; i++) {
    if (!tl_arg_array_or_string(vm, "isin", &args[i]))
      return false;
    if (!tl_is_scalar(weak[i]))
      weak[i] = args[i];
  }
  if (!tl_promote_slots(vm, "isin", weak[0], weak[1], &dtype))
    return false;
  if (tl_dtype_is_complex(dtype))
    return tl_arg_fail(vm, "isin", "x1", "real", args[0]);
  tl_slot queries;
  if (!tl_as_contiguous(vm, "isin", args[0], dtype, &queries))
    return false;
  tl_array *items = tl_array_dtype(args[1].array) == dtype
                        ? tl_array_copy(vm, args[1].array)
                        : tl_array_cast(vm, args[1].array, dtype);
  bool ok = items && find_members(vm, queries.array, items, invert, out);
  if (items)
    tl_drop(vm, tl_own_array(items));
  tl_drop(vm, queries);
  return ok;
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_set_builtins[] = {
    {"unique", "x", unique_values, TL_OF_BYTES,
     TL_DOC(
         "The distinct items of x, sorted; the same as unique_values. NaNs differ\n"
         "from one another.\n"
         "Any dtype, which stays; counts and indices are int64. Lists and values\n"
         "without items are an error (kind type).\n"
         "    unique([3, 1, 3])    # [1, 3]\n")},
    {"unique_values", "x", unique_values, TL_OF_BYTES,
     TL_DOC(
         "The distinct items of x, sorted.\n"
         "Any dtype, which stays; counts and indices are int64. Lists and values\n"
         "without items are an error (kind type).\n"
         "    unique_values([2, 2, 1])    # [1, 2]\n")},
    {"unique_counts", "x", unique_counts, TL_OF_BYTES,
     TL_DOC(
         "The distinct items of x and how often each occurs.\n"
         "Any dtype, which stays; counts and indices are int64. Lists and values\n"
         "without items are an error (kind type).\n"
         "    unique_counts([5, 7, 5])    # (values: [5, 7], counts: [2, 1])\n")},
    {"unique_inverse", "x", unique_inverse, TL_OF_BYTES,
     TL_DOC(
         "The distinct items of x, and for each item of x the position of its\n"
         "value: r.values[r.inverse_indices] is x.\n"
         "Any dtype, which stays; counts and indices are int64. Lists and values\n"
         "without items are an error (kind type).\n"
         "    unique_inverse([7, 5, 7]).inverse_indices    # [1, 0, 1]\n")},
    {"unique_all", "x", unique_all, TL_OF_BYTES,
     TL_DOC(
         "The distinct items of x: values, indices (where each occurs first),\n"
         "inverse_indices and counts.\n"
         "Any dtype, which stays; counts and indices are int64. Lists and values\n"
         "without items are an error (kind type).\n"
         "    unique_all([7, 5, 7]).indices    # [1, 0]\n")},
    {"isin", "x1, x2, invert: false", isin, TL_OF_ITEMS | TL_OF_BYTES,
     TL_DOC(
         "Whether each item of x1 is among the items of x2; or is not, where\n"
         "invert is true.\n"
         "Any dtypes that promote; gives bools. Strings with numbers are an error\n"
         "(kind type).\n"
         "    isin([1, 2, 3], [3, 1])    # [true, false, true]\n")},
    {NULL, NULL, NULL, 0, NULL},
};
