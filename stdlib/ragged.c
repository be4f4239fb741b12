// Rows of different lengths: made, taken apart, padded, paired.

#include "stdlib/ragged.h"

#include <inttypes.h>
#include <string.h>

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/families.h"
#include "stdlib/nested.h"
#include "vm/engine.h"
#include "vm/list.h"
#include "vm/nested_elementwise.h"
#include "vm/nested_join.h"
#include "vm/record.h"
#include "vm/vm.h"

// An array of two axes or more is taken as rows: the slot then owns them.
static bool ragged_argument(tl_vm *vm, const char *function, tl_slot *s) {
  tl_slot made;
  if (tl_is_form(*s, TL_FORM_RAGGED))
    return true;
  if (!tl_is_array(*s) || tl_ndim(s->array) < 2)
    return tl_arg_fail(vm, function, "x", "an array of rows", *s);
  if (!tl_ragged_of_regular(vm, *s, &made))
    return false;
  tl_clear(vm, s);
  *s = made;
  return true;
}

// --- Making -----------------------------------------------------------------

// The counts as offsets, which must come to [total] (-1: to anything).
static bool read_counts(tl_vm *vm, const char *function, tl_slot s,
                        int64_t total, tl_array **out) {
  tl_slot counts;
  if (!tl_as_contiguous(vm, function, s, TL_INT64, &counts))
    return false;
  const tl_array *a = counts.array;
  bool ok = tl_ndim(a) == 1 ||
            tl_fail(vm, TALLY_ERR_SHAPE, "%s: counts have %d axes, not 1",
                    function, tl_ndim(a));
  tl_array *offsets = ok ? tl_offsets_new(vm, a->size) : NULL;
  ok = offsets != NULL;
  for (int64_t i = 0; ok && i < a->size; i++) {
    int64_t n = ((const int64_t *)(const void *)a->data)[i];
    int64_t *to = &tl_offsets_data(offsets)[i + 1];
    if (n < 0 || __builtin_add_overflow(to[-1], n, to) ||
        (total >= 0 && *to > total)) {
      ok = tl_fail(vm, TALLY_ERR_VALUE,
                   n < 0 ? "%s: row %" PRId64 " would have %" PRId64 " items"
                         : "%s: row %" PRId64 " of %" PRId64
                           " items goes beyond the values",
                   function, i, n);
    }
  }
  if (ok && total >= 0 && tl_offsets_data(offsets)[a->size] != total) {
    ok = tl_fail(vm, TALLY_ERR_VALUE,
                 "%s: the counts come to %" PRId64 ", but there are %" PRId64
                 " values",
                 function, tl_offsets_data(offsets)[a->size], total);
  }
  tl_drop(vm, counts);
  if (ok)
    *out = offsets;
  else if (offsets != NULL)
    tl_drop(vm, tl_own_array(offsets));
  return ok;
}

static bool with_counts(tl_vm *vm, const char *function, tl_slot *args,
                        tl_slot *out) {
  tl_array *offsets;
  if (tl_value_ndim(args[0]) == 0 && !tl_arg_array(vm, function, &args[0]))
    return false;
  if (tl_value_ndim(args[0]) == 0)
    return tl_arg_fail(vm, function, "values", "an array", args[0]);
  if (!read_counts(vm, function, args[1], tl_value_length(args[0], 0),
                   &offsets))
    return false;
  tl_slot items = tl_take(vm, &args[0]);
  return tl_ragged_new(vm, offsets, &items, out);
}

static bool ragged(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return with_counts(vm, "ragged", args, out);
}

static bool unflatten(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return with_counts(vm, "unflatten", args, out);
}

static bool from_regular(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!tl_arg_array_or_string(vm, "from_regular", &args[0]))
    return false;
  if (tl_ndim(args[0].array) < 2)
    return tl_arg_fail(vm, "from_regular", "x", "an array of two axes or more",
                       args[0]);
  return tl_ragged_of_regular(vm, args[0], out);
}

static bool to_regular(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (tl_value_ndim(args[0]) > 1) {
    *out = tl_pass_on(&args[0]);
    return true;
  }
  if (!ragged_argument(vm, "to_regular", &args[0]))
    return false;
  const int64_t *at = tl_ragged_offsets(args[0].nested);
  int64_t rows = tl_ragged_rows(args[0].nested);
  int64_t width = rows > 0 ? at[1] - at[0] : 0;
  for (int64_t i = 1; i < rows; i++) {
    if (at[i + 1] - at[i] == width)
      continue;
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "to_regular: row %" PRId64 " has %" PRId64
                   " items, row 0 has %" PRId64,
                   i, at[i + 1] - at[i], width);
  }
  tl_slot offsets, items, dense;
  if (!tl_ragged_flat(vm, args[0], &offsets, &items))
    return false;
  tl_drop(vm, offsets);
  if (!tl_is_array(items)) {
    tl_arg_fail(vm, "to_regular", "x", "of rows of plain items", args[0]);
    tl_drop(vm, items);
    return false;
  }
  bool ok = tl_array_contiguous(vm, &items, &dense);
  tl_drop(vm, items);
  if (!ok)
    return false;
  int64_t shape[TL_MAX_DIMS + 1] = {rows, width};
  int ndim = tl_ndim(dense.array) + 1;
  for (int i = 2; i < ndim; i++) shape[i] = tl_shape(dense.array)[i - 1];
  ok = tl_reshape(vm, &dense, ndim, shape, out);
  if (ok)
    tl_hold(vm, *out, TL_CAUSE_VIEW);
  tl_drop(vm, dense);
  return ok;
}

// --- Taking apart -----------------------------------------------------------

static bool lengths(tl_vm *vm, tl_slot *args, tl_slot *out) {
  bool is_ragged = tl_is_form(args[0], TL_FORM_RAGGED);
  if (!is_ragged && tl_value_ndim(args[0]) < 2)
    return ragged_argument(vm, "lengths", &args[0]);
  int64_t rows = tl_value_length(args[0], 0);
  tl_array *counts = tl_positions_new(vm, rows);
  if (counts == NULL)
    return false;
  const int64_t *at = is_ragged ? tl_ragged_offsets(args[0].nested) : NULL;
  for (int64_t i = 0; i < rows; i++)
    tl_offsets_data(counts)[i] =
        is_ragged ? at[i + 1] - at[i] : tl_value_length(args[0], 1);
  *out = tl_own_array(counts);
  return true;
}

static bool local_index(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!ragged_argument(vm, "local_index", &args[0]))
    return false;
  tl_slot offsets, items;
  if (!tl_ragged_flat(vm, args[0], &offsets, &items))
    return false;
  tl_drop(vm, items);
  const int64_t *at = tl_offsets_data(offsets.array);
  int64_t rows = offsets.array->size - 1;
  tl_array *places = tl_positions_new(vm, at[rows]);
  if (places == NULL) {
    tl_drop(vm, offsets);
    return false;
  }
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t k = at[i]; k < at[i + 1]; k++)
      tl_offsets_data(places)[k] = k - at[i];
  }
  tl_slot made = tl_own_array(places);
  return tl_nested_pair(vm, TL_FORM_RAGGED, 1, &offsets, &made, out);
}

// x[i, 0] of each row, missing where the row is empty.
static bool firsts(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!ragged_argument(vm, "firsts", &args[0]))
    return false;
  const tl_nested *n = args[0].nested;
  const int64_t *at = tl_ragged_offsets(n);
  int64_t rows = tl_ragged_rows(n), length = tl_value_length(n->parts[1], 0);
  if (!tl_is_array(n->parts[1]))
    return tl_arg_fail(vm, "firsts", "x", "of rows of plain items", args[0]);
  tl_array *places = tl_positions_new(vm, rows);
  tl_array *mask = places != NULL ? tl_array_new(vm, TL_BOOL, 1, &rows) : NULL;
  bool ok = mask != NULL;
  for (int64_t i = 0; ok && i < rows; i++) {
    mask->data[i] = at[i] == at[i + 1];
    tl_offsets_data(places)[i] = at[i] == at[i + 1] ? 0 : at[i];
  }
  tl_slot values;
  if (ok && length == 0) {  // nothing to take: all are missing
    tl_array *zeros =
        tl_array_zeros(vm, tl_array_dtype(n->parts[1].array), 1, &rows);
    ok = zeros != NULL;
    if (ok)
      values = tl_own_array(zeros);
  } else if (ok) {
    ok = tl_value_take(vm, n->parts[1], places, &values);
  }
  if (places != NULL)
    tl_drop(vm, tl_own_array(places));
  if (!ok) {
    if (mask != NULL)
      tl_drop(vm, tl_own_array(mask));
    return false;
  }
  tl_slot missing = tl_own_array(mask);
  return tl_nested_pair(vm, TL_FORM_OPTION, tl_ndim(values.array), &missing,
                        &values, out);
}

static bool singletons(tl_vm *vm, tl_slot *args, tl_slot *out) {
  bool option = tl_is_form(args[0], TL_FORM_OPTION);
  if (!option && !tl_arg_array_or_string(vm, "singletons", &args[0]))
    return false;
  if (tl_value_ndim(args[0]) != 1)
    return tl_arg_fail(vm, "singletons", "x", "of one axis", args[0]);
  int64_t rows = tl_value_length(args[0], 0);
  tl_array *offsets = tl_offsets_new(vm, rows);
  if (offsets == NULL)
    return false;
  const tl_array *mask = option ? args[0].nested->parts[0].array : NULL;
  for (int64_t i = 0; i < rows; i++) {
    bool there = mask == NULL || mask->data[i * tl_strides(mask)[0]] == 0;
    tl_offsets_data(offsets)[i + 1] = tl_offsets_data(offsets)[i] + there;
  }
  tl_slot items;
  bool ok = true;
  if (option) {
    tl_slot there, lent = tl_borrow(args[0].nested->parts[0]);
    ok = tl_elementwise(vm, TL_OP_LOGICAL_NOT, &lent, &there);
    if (ok) {
      ok = tl_value_take(vm, args[0].nested->parts[1], there.array, &items);
      tl_drop(vm, there);
    }
  } else {
    items = tl_take(vm, &args[0]);
  }
  if (ok)
    return tl_ragged_new(vm, offsets, &items, out);
  tl_drop(vm, tl_own_array(offsets));
  return false;
}

// --- Padding ----------------------------------------------------------------

// x, width, fill
static bool pad_rows(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int64_t width;
  if (!ragged_argument(vm, "pad_rows", &args[0]) ||
      !tl_arg_count(vm, "pad_rows", "width", args[1], &width))
    return false;
  const tl_nested *n = args[0].nested;
  tl_slot content = n->parts[1];
  const int64_t *at = tl_ragged_offsets(n);
  int64_t shape[2] = {tl_ragged_rows(n), width}, size;
  size_t nbytes;
  if (!tl_is_array(content) || tl_ndim(content.array) != 1)
    return tl_arg_fail(vm, "pad_rows", "x", "of rows of plain items", args[0]);
  if (!tl_shape_size(vm, 2, shape, sizeof(int64_t), &size, &nbytes))
    return false;
  tl_array *places = tl_array_new(vm, TL_INT64, 2, shape);
  tl_array *gaps = places != NULL ? tl_array_new(vm, TL_BOOL, 2, shape) : NULL;
  bool ok = gaps != NULL;
  for (int64_t i = 0; ok && i < shape[0]; i++) {
    for (int64_t k = 0; k < width; k++) {
      bool gap = at[i] + k >= at[i + 1];
      gaps->data[i * width + k] = gap;
      tl_offsets_data(places)[i * width + k] = gap ? 0 : at[i] + k;
    }
  }
  tl_slot values = tl_none();
  if (ok && content.array->size == 0) {
    tl_array *zeros =
        tl_array_zeros(vm, tl_array_dtype(content.array), 2, shape);
    ok = zeros != NULL;
    if (ok)
      values = tl_own_array(zeros);
  } else if (ok) {
    ok = tl_value_take(vm, content, places, &values);
  }
  if (places != NULL)
    tl_drop(vm, tl_own_array(places));
  tl_slot mask = gaps != NULL ? tl_own_array(gaps) : tl_none();
  if (!ok) {
    tl_clear(vm, &mask);
    return false;
  }
  if (tl_is_none(args[2]))
    return tl_nested_pair(vm, TL_FORM_OPTION, 2, &mask, &values, out);
  tl_slot parts[3] = {mask, tl_borrow(args[2]), values};
  ok = tl_elementwise(vm, TL_OP_WHERE, parts, out);
  tl_clear(vm, &parts[0]);
  tl_clear(vm, &parts[2]);
  return ok;
}

// --- Pairs ------------------------------------------------------------------

// Rows of structs: offsets over columns, each taken from its own content.
static bool struct_rows(tl_vm *vm, tl_array *offsets, int64_t count,
                        tl_string *const *names, tl_slot *columns,
                        tl_slot *out) {
  tl_slot items;
  bool ok = tl_struct_of_columns(vm, count, names, columns, &items);
  for (int64_t i = 0; i < count; i++) tl_clear(vm, &columns[i]);
  if (ok)
    return tl_ragged_new(vm, offsets, &items, out);
  tl_drop(vm, tl_own_array(offsets));
  return false;
}

static bool pair_rows(tl_vm *vm, tl_array *offsets, tl_slot a, tl_array *left,
                      tl_slot b, tl_array *right, tl_slot *out) {
  tl_string *names[2] = {tl_string_from(vm, "first"),
                         tl_string_from(vm, "second")};
  tl_slot columns[2] = {tl_none(), tl_none()};
  bool ok = names[0] != NULL && names[1] != NULL &&
            tl_value_take(vm, a, left, &columns[0]) &&
            tl_value_take(vm, b, right, &columns[1]);
  if (ok) {
    ok = struct_rows(vm, offsets, 2, names, columns, out);
  } else {
    tl_drop(vm, tl_own_array(offsets));
    tl_clear(vm, &columns[0]);
    tl_clear(vm, &columns[1]);
  }
  for (int i = 0; i < 2; i++) {
    if (names[i] != NULL)
      tl_drop(vm, tl_own_string(names[i]));
  }
  tl_drop(vm, tl_own_array(left));
  tl_drop(vm, tl_own_array(right));
  return ok;
}

// Room for [total] pairs; false drops the offsets too.
static bool open_pairs(tl_vm *vm, tl_array *offsets, int64_t total,
                       tl_array **left, tl_array **right) {
  *left = tl_positions_new(vm, total);
  *right = *left != NULL ? tl_positions_new(vm, total) : NULL;
  if (*right != NULL)
    return true;
  if (*left != NULL)
    tl_drop(vm, tl_own_array(*left));
  tl_drop(vm, tl_own_array(offsets));
  return false;
}

static bool fail_rows(tl_vm *vm, const char *function, tl_slot a, tl_slot b,
                      int64_t row) {
  int64_t rows = tl_ragged_rows(a.nested), others = tl_ragged_rows(b.nested);
  if (rows != others) {
    return tl_fail(vm, TALLY_ERR_SHAPE, "%s: %" PRId64 " rows against %" PRId64,
                   function, rows, others);
  }
  return tl_fail(vm, TALLY_ERR_SHAPE, "%s: row %" PRId64 " differs in length",
                 function, row);
}

static bool cartesian(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!ragged_argument(vm, "cartesian", &args[0]) ||
      !ragged_argument(vm, "cartesian", &args[1]))
    return false;
  tl_slot a = args[0], b = args[1];
  int64_t rows = tl_ragged_rows(a.nested);
  if (tl_ragged_rows(b.nested) != rows)
    return fail_rows(vm, "cartesian", a, b, 0);
  const int64_t *x = tl_ragged_offsets(a.nested);
  const int64_t *y = tl_ragged_offsets(b.nested);
  tl_array *offsets = tl_offsets_new(vm, rows), *left, *right;
  if (offsets == NULL)
    return false;
  int64_t *to = tl_offsets_data(offsets);
  for (int64_t i = 0; i < rows; i++) {
    int64_t pairs;
    if (__builtin_mul_overflow(x[i + 1] - x[i], y[i + 1] - y[i], &pairs) ||
        __builtin_add_overflow(to[i], pairs, &to[i + 1])) {
      tl_drop(vm, tl_own_array(offsets));
      return tl_fail(vm, TALLY_ERR_SHAPE,
                     "cartesian: row %" PRId64 " has too many pairs", i);
    }
  }
  if (!open_pairs(vm, offsets, to[rows], &left, &right))
    return false;
  int64_t at = 0;
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = x[i]; j < x[i + 1]; j++) {
      for (int64_t k = y[i]; k < y[i + 1]; k++, at++) {
        tl_offsets_data(left)[at] = j;
        tl_offsets_data(right)[at] = k;
      }
    }
  }
  return pair_rows(vm, offsets, a.nested->parts[1], left, b.nested->parts[1],
                   right, out);
}

static bool combinations(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!ragged_argument(vm, "combinations", &args[0]))
    return false;
  tl_slot a = args[0];
  int64_t rows = tl_ragged_rows(a.nested);
  const int64_t *x = tl_ragged_offsets(a.nested);
  tl_array *offsets = tl_offsets_new(vm, rows), *left, *right;
  if (offsets == NULL)
    return false;
  int64_t *to = tl_offsets_data(offsets);
  for (int64_t i = 0; i < rows; i++) {
    int64_t n = x[i + 1] - x[i], pairs;
    if (__builtin_mul_overflow(n, n - 1, &pairs) ||
        __builtin_add_overflow(to[i], pairs / 2, &to[i + 1])) {
      tl_drop(vm, tl_own_array(offsets));
      return tl_fail(vm, TALLY_ERR_SHAPE,
                     "combinations: row %" PRId64 " has too many pairs", i);
    }
  }
  if (!open_pairs(vm, offsets, to[rows], &left, &right))
    return false;
  int64_t at = 0;
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = x[i]; j < x[i + 1]; j++) {
      for (int64_t k = j + 1; k < x[i + 1]; k++, at++) {
        tl_offsets_data(left)[at] = j;
        tl_offsets_data(right)[at] = k;
      }
    }
  }
  return pair_rows(vm, offsets, a.nested->parts[1], left, a.nested->parts[1],
                   right, out);
}

static bool zip_ragged(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!tl_is_record(args[0]) || args[0].record->length == 0)
    return tl_arg_fail(vm, "zip_ragged", "c", "a record of ragged arrays",
                       args[0]);
  const tl_record *r = args[0].record;
  tl_slot first = r->fields[0].value;
  for (int64_t i = 0; i < r->length; i++) {
    int64_t row;
    if (!tl_is_form(r->fields[i].value, TL_FORM_RAGGED))
      return tl_arg_fail(vm, "zip_ragged", r->fields[i].key->text,
                         "a ragged array", r->fields[i].value);
    if (!tl_ragged_agree(first.nested, r->fields[i].value.nested, &row))
      return fail_rows(vm, "zip_ragged", first, r->fields[i].value, row);
  }
  size_t nbytes = (size_t)r->length * (sizeof(tl_slot) + sizeof(tl_string *));
  tl_slot *columns = tl_alloc(vm, nbytes, "zip_ragged");
  if (columns == NULL)
    return false;
  tl_string **names = (tl_string **)(void *)(columns + r->length);
  tl_slot offsets = tl_none();
  int64_t made = 0;
  bool ok = true;
  for (; ok && made < r->length; made += ok) {
    tl_clear(vm, &offsets);
    names[made] = r->fields[made].key;
    ok = tl_ragged_flat(vm, r->fields[made].value, &offsets, &columns[made]);
    if (!ok)
      offsets = tl_none();
  }
  if (ok) {
    ok = struct_rows(vm, offsets.array, r->length, names, columns, out);
  } else {
    tl_clear(vm, &offsets);
    while (made > 0) tl_drop(vm, columns[--made]);
  }
  tl_free(vm, columns, nbytes);
  return ok;
}

// --- Runs and groups --------------------------------------------------------

static bool run_lengths(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot dense;
  if (!tl_arg_array_or_string(vm, "run_lengths", &args[0]))
    return false;
  if (tl_ndim(args[0].array) != 1)
    return tl_arg_fail(vm, "run_lengths", "x", "of one axis", args[0]);
  tl_slot lent = tl_borrow(args[0]);
  if (!tl_array_contiguous(vm, &lent, &dense))
    return false;
  int64_t n = dense.array->size;
  tl_array *begins = tl_positions_new(vm, n + 1), *counts = NULL;
  if (begins != NULL) {
    int64_t *at = tl_offsets_data(begins);
    int64_t runs =
        tl_run_positions(tl_array_dtype(dense.array), at, dense.array->data, n);
    counts = tl_positions_new(vm, runs);
    for (int64_t i = 0; counts != NULL && i < runs; i++)
      tl_offsets_data(counts)[i] = (i + 1 < runs ? at[i + 1] : n) - at[i];
    tl_drop(vm, tl_own_array(begins));
  }
  tl_drop(vm, dense);
  if (counts != NULL)
    *out = tl_own_array(counts);
  return counts != NULL;
}

static bool put_field(tl_vm *vm, tl_record **record, const char *name,
                      tl_slot *value) {
  bool ok = tl_record_set_name(vm, record, name, value);
  tl_drop(vm, *value);
  return ok;
}

// The keys in order, each once, and the values of each as a row.
static bool group_by(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!tl_arg_array_or_string(vm, "group_by", &args[0]))
    return false;
  if (tl_ndim(args[0].array) != 1)
    return tl_arg_fail(vm, "group_by", "keys", "of one axis", args[0]);
  if (tl_value_ndim(args[1]) == 0 && !tl_arg_array(vm, "group_by", &args[1]))
    return false;
  int64_t n = args[0].array->size;
  if (tl_value_ndim(args[1]) == 0 || tl_value_length(args[1], 0) != n) {
    return tl_fail(
        vm, TALLY_ERR_SHAPE,
        "group_by: %" PRId64 " keys for %" PRId64 " values", n,
        tl_value_ndim(args[1]) == 0 ? 1 : tl_value_length(args[1], 0));
  }
  tl_array *order, *begins = NULL, *offsets = NULL;
  tl_slot sorted = tl_none(), values = tl_none(), keys = tl_none(), rows;
  if (!tl_order_of(vm, "group_by", args[0], false, &order))
    return false;
  bool ok = tl_value_take(vm, args[0], order, &sorted) &&
            tl_value_take(vm, args[1], order, &values) &&
            (begins = tl_positions_new(vm, n + 1)) != NULL;
  int64_t runs = 0;
  if (ok) {
    runs = tl_run_positions(tl_array_dtype(sorted.array),
                            tl_offsets_data(begins), sorted.array->data, n);
    offsets = tl_offsets_new(vm, runs);
    ok = offsets != NULL;
  }
  for (int64_t i = 0; ok && i < runs; i++)
    tl_offsets_data(offsets)[i + 1] =
        i + 1 < runs ? tl_offsets_data(begins)[i + 1] : n;
  if (ok) {
    tl_array *firsts = tl_positions_new(vm, runs);
    ok = firsts != NULL;
    if (ok) {
      memcpy(firsts->data, begins->data, (size_t)runs * sizeof(int64_t));
      ok = tl_value_take(vm, sorted, firsts, &keys);
      tl_drop(vm, tl_own_array(firsts));
    }
  }
  tl_drop(vm, tl_own_array(order));
  tl_clear(vm, &sorted);
  if (begins != NULL)
    tl_drop(vm, tl_own_array(begins));
  if (!ok) {
    tl_clear(vm, &values);
    if (offsets != NULL)
      tl_drop(vm, tl_own_array(offsets));
    return false;
  }
  if (!tl_ragged_new(vm, offsets, &values, &rows)) {
    tl_clear(vm, &keys);
    return false;
  }
  tl_record *record = tl_record_new(vm, 2);
  if (record == NULL) {
    tl_drop(vm, keys);
    tl_drop(vm, rows);
    return false;
  }
  ok = put_field(vm, &record, "keys", &keys);
  ok = put_field(vm, &record, "values", &rows) && ok;
  if (ok)
    *out = tl_own_record(record);
  else
    tl_drop(vm, tl_own_record(record));
  return ok;
}

// --- Row by row -------------------------------------------------------------

// The items of x as one dense array that is the caller's to write.
static bool own_items(tl_vm *vm, const char *function, tl_slot x,
                      tl_slot *offsets, tl_array **items) {
  tl_slot flat;
  if (!tl_ragged_flat(vm, x, offsets, &flat))
    return false;
  bool plain = tl_is_array(flat) && tl_ndim(flat.array) == 1;
  if (!plain)
    tl_arg_fail(vm, function, "x", "of rows of plain items", x);
  *items = plain ? tl_array_copy(vm, flat.array) : NULL;
  tl_drop(vm, flat);
  if (*items == NULL)
    tl_drop(vm, *offsets);
  return *items != NULL;
}

bool tl_ragged_sort(tl_vm *vm, tl_slot x, bool descending, bool order,
                    tl_slot *out) {
  tl_slot offsets, made;
  tl_array *items, *places = NULL;
  const char *name = order ? "argsort" : "sort";
  if (!own_items(vm, name, x, &offsets, &items))
    return false;
  bool ok = true;
  if (order) {
    places = tl_positions_new(vm, items->size);
    ok = places != NULL;
  }
  const int64_t *at = tl_offsets_data(offsets.array);
  size_t size = tl_itemsize(tl_array_dtype(items));
  for (int64_t i = 0; ok && i < offsets.array->size - 1; i++) {
    char *row = items->data + (size_t)at[i] * size;
    int64_t n = at[i + 1] - at[i];
    if (n == 0)
      continue;
    ok = order ? tl_argsort_items(vm, tl_array_dtype(items),
                                  tl_offsets_data(places) + at[i], row, n,
                                  descending)
               : tl_sort_items(vm, tl_array_dtype(items), row, n, descending);
  }
  made = tl_own_array(order && places != NULL ? places : items);
  if (order && places != NULL)
    tl_drop(vm, tl_own_array(items));
  if (ok)
    return tl_nested_pair(vm, TL_FORM_RAGGED, 1, &offsets, &made, out);
  tl_drop(vm, made);
  tl_drop(vm, offsets);
  return false;
}

bool tl_ragged_cumulative(tl_vm *vm, const char *name, tl_reduction reduction,
                          tl_slot x, tl_dtype dtype, tl_slot *out) {
  tl_slot offsets, whole, made = tl_none();
  tl_array *items, *to = NULL;
  if (!own_items(vm, name, x, &offsets, &items))
    return false;
  whole = tl_own_array(items);
  const int64_t *at = tl_offsets_data(offsets.array);
  bool ok = true;
  for (int64_t i = 0; ok && i < offsets.array->size - 1; i++) {
    tl_slot row, sums;
    ok = tl_value_slice(vm, whole, at[i], at[i + 1], &row);
    if (ok) {
      ok = tl_cumulative(vm, reduction, &row, 0, false, dtype, &sums);
      tl_drop(vm, row);
    }
    if (ok && to == NULL) {
      to = tl_array_new(vm, tl_array_dtype(sums.array), 1, &items->size);
      ok = to != NULL;
      if (!ok)
        tl_drop(vm, sums);
    }
    if (ok) {
      size_t size = tl_itemsize(tl_array_dtype(to));
      memcpy(to->data + (size_t)at[i] * size, sums.array->data,
             (size_t)(at[i + 1] - at[i]) * size);
      tl_drop(vm, sums);
    }
    ok = ok && ((i & 0xfff) != 0xfff || tl_poll(vm, 16));
  }
  if (to == NULL)
    made = whole;
  else
    tl_drop(vm, whole), made = tl_own_array(to);
  if (ok)
    return tl_nested_pair(vm, TL_FORM_RAGGED, 1, &offsets, &made, out);
  tl_drop(vm, made);
  tl_drop(vm, offsets);
  return false;
}

// --- concat and append ------------------------------------------------------

// Row by row: a of row i, then b of row i.
static bool concat_rows(tl_vm *vm, const tl_list *list, tl_slot *out) {
  int64_t count = list->length, total = 0;
  tl_slot first = list->items[0], content;
  int64_t rows = tl_ragged_rows(first.nested);
  size_t nbytes = (size_t)count * (sizeof(tl_slot) + sizeof(int64_t));
  tl_slot *flat = tl_alloc(vm, nbytes, "concat");
  if (flat == NULL)
    return false;
  int64_t *base = (int64_t *)(void *)(flat + count);
  int64_t made = 0;
  bool ok = true;
  for (; ok && made < count; made += ok) {
    tl_slot at, s = list->items[made];
    if (!tl_is_form(s, TL_FORM_RAGGED) || tl_ragged_rows(s.nested) != rows) {
      ok = tl_is_form(s, TL_FORM_RAGGED)
               ? fail_rows(vm, "concat", first, s, 0)
               : tl_arg_fail(vm, "concat", "each item", "a ragged array", s);
      continue;
    }
    ok = tl_ragged_flat(vm, s, &at, &flat[made]);
    if (!ok)
      continue;
    tl_drop(vm, at);
    base[made] = total - tl_ragged_offsets(s.nested)[0];
    total += tl_value_length(flat[made], 0);
  }
  ok = ok && tl_value_concat(vm, count, flat, &content);
  while (made > 0) tl_drop(vm, flat[--made]);
  tl_array *offsets = ok ? tl_offsets_new(vm, rows) : NULL;
  tl_array *places = offsets != NULL ? tl_positions_new(vm, total) : NULL;
  int64_t to = 0;
  for (int64_t i = 0; places != NULL && i < rows; i++) {
    for (int64_t k = 0; k < count; k++) {
      const int64_t *at = tl_ragged_offsets(list->items[k].nested);
      for (int64_t j = at[i]; j < at[i + 1]; j++)
        tl_offsets_data(places)[to++] = base[k] + j;
    }
    tl_offsets_data(offsets)[i + 1] = to;
  }
  tl_free(vm, flat, nbytes);
  tl_slot items;
  bool taken = places != NULL && tl_value_take(vm, content, places, &items);
  if (ok)
    tl_drop(vm, content);
  if (places != NULL)
    tl_drop(vm, tl_own_array(places));
  if (taken)
    return tl_ragged_new(vm, offsets, &items, out);
  if (offsets != NULL)
    tl_drop(vm, tl_own_array(offsets));
  return false;
}

bool tl_nested_concat(tl_vm *vm, const tl_list *list, tl_slot axis,
                      tl_slot *out) {
  int64_t along = 0;
  if (!tl_is_none(axis) && !tl_arg_int(vm, "concat", "axis", axis, &along))
    return false;
  if (along == 0)
    return tl_value_concat(vm, list->length, list->items, out);
  if (along == 1 && tl_is_form(list->items[0], TL_FORM_RAGGED))
    return concat_rows(vm, list, out);
  return tl_fail(vm, TALLY_ERR_VALUE,
                 "concat: nested arrays are joined along axis 0, ragged ones "
                 "also row by row, along axis 1");
}

bool tl_nested_append(tl_vm *vm, tl_slot x, tl_slot item, tl_slot *out) {
  tl_slot one;
  if (tl_is_none(item) && tl_is_form(x, TL_FORM_OPTION)) {
    // One missing item of the array's own type.
    int64_t length = 1;
    tl_array *mask = tl_array_new(vm, TL_BOOL, 1, &length);
    tl_array *value =
        mask != NULL
            ? tl_array_zeros(vm, tl_array_dtype(x.nested->parts[1].array), 1,
                             &length)
            : NULL;
    if (value == NULL) {
      if (mask != NULL)
        tl_drop(vm, tl_own_array(mask));
      return false;
    }
    mask->data[0] = 1;
    tl_slot first = tl_own_array(mask), second = tl_own_array(value);
    if (!tl_nested_pair(vm, TL_FORM_OPTION, 1, &first, &second, &one))
      return false;
  } else if (!tl_stack_any(vm, 1, &item, &one)) {
    return false;
  }
  // A row stacks to a regular array of one row.
  if (tl_is_form(x, TL_FORM_RAGGED) && tl_is_array(one) &&
      tl_ndim(one.array) > 1) {
    tl_slot row;
    bool ok = tl_ragged_of_regular(vm, one, &row);
    tl_drop(vm, one);
    if (!ok)
      return false;
    one = row;
  }
  tl_slot both[2] = {tl_borrow(x), one};
  bool ok = tl_value_concat(vm, 2, both, out);
  tl_drop(vm, one);
  return ok;
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_ragged_builtins[] = {
    {"ragged", "values, counts", ragged, TL_PURE,
     "Rows of different lengths: the first counts[0] values, the next\n"
     "counts[1], and so on. The counts must come to the number of values.\n"
     "Values other than arrays are an error (kind type).\n"
     "    ragged([1, 2, 3], [2, 0, 1])    # [[1, 2], [], [3]]\n"},
    {"unflatten", "x, counts", unflatten, TL_PURE,
     "ragged(x, counts): what flatten took away.\n"
     "Rows of the array, of any dtype. Counts that do not come to the number "
     "of\n"
     "values are an error (kind value).\n"
     "    unflatten([1, 2, 3], [1, 2])    # [[1], [2, 3]]\n"},
    {"from_regular", "x", from_regular, TL_PURE,
     "An array of two axes or more as one with ragged rows, all of a length.\n"
     "Values other than arrays are an error (kind type).\n"
     "    typeof(from_regular([[1, 2], [3, 4]]))    # 2 * var * int64\n"},
    {"to_regular", "x", to_regular, TL_RETURNS,
     "A ragged array whose rows have one length as an array without var; a\n"
     "row of another length is an error (kind shape).\n"
     "Any dtype, which stays.\n"
     "    to_regular(ragged([1, 2, 3, 4], [2, 2]))    # [[1, 2], [3, 4]]\n"},
    {"lengths", "x", lengths, TL_PURE,
     "The number of items of each row.\n"
     "Values other than arrays are an error (kind type).\n"
     "    lengths([[1, 2], [], [3]])    # [2, 0, 1]\n"},
    {"local_index", "x", local_index, TL_PURE,
     "The place of each item within its row.\n"
     "Gives int64. Values other than arrays are an error (kind type).\n"
     "    local_index([[5, 6], [7]])    # [[0, 1], [0]]\n"},
    {"firsts", "x", firsts, TL_PURE,
     "The first item of each row, missing where a row is empty.\n"
     "Any dtype, which stays. Values other than arrays are an error (kind\n"
     "type).\n"
     "    firsts([[1, 2], [], [3]])    # [1, none, 3]\n"},
    {"singletons", "x", singletons, TL_PURE,
     "Each item as a row of its own, a missing one as an empty row.\n"
     "Any dtype, which stays. Values other than arrays are an error (kind\n"
     "type).\n"
     "    singletons([1, none, 3])    # [[1], [], [3]]\n"},
    {"pad_rows", "x, width, fill = none", pad_rows, TL_PURE,
     "The rows of x cut or filled to width items, as an array of two axes;\n"
     "what is filled is missing, or the value of fill.\n"
     "Any dtype, which stays. Values other than arrays are an error (kind\n"
     "type).\n"
     "    pad_rows([[1, 2, 3], [4]], 2, 0)    # [[1, 2], [4, 0]]\n"},
    {"cartesian", "a, b", cartesian, TL_PURE,
     "For each row all pairs of an item of a with one of b, as structs with\n"
     "the fields first and second.\n"
     "Any dtype, which stays. Values other than arrays are an error (kind\n"
     "type).\n"
     "    cartesian([[1, 2], []], [[3], [4]]).second    # [[3, 3], []]\n"},
    {"combinations", "x", combinations, TL_PURE,
     "For each row all pairs of its items, each once, as structs with the\n"
     "fields first and second.\n"
     "Any dtype, which stays. Values other than arrays are an error (kind\n"
     "type).\n"
     "    combinations([[1, 2, 3], [4]]).second    # [[2, 3, 3], []]\n"},
    {"zip_ragged", "c", zip_ragged, TL_PURE,
     "Ragged arrays with rows of the same lengths, given as a record, as rows\n"
     "of structs.\n"
     "Values other than arrays are an error (kind type).\n"
     "    zip_ragged((x: [[1], [2, 3]], y: [[4], [5, 6]]))[1, 0]    # (x: 2, "
     "y: 5)\n"},
    {"run_lengths", "x", run_lengths, TL_PURE,
     "How often each item of x is repeated before another comes.\n"
     "Any dtype, which stays.\n"
     "Values other than arrays are an error (kind type).\n"
     "    run_lengths([7, 7, 8, 7])    # [2, 1, 1]\n"},
    {"group_by", "keys, values", group_by, TL_PURE,
     "The keys in order, each once, and the values of each as a row, in the\n"
     "order they had: a record of keys and values.\n"
     "Keys of another length are an error (kind shape).\n"
     "    group_by([\"b\", \"a\", \"b\"], [1, 2, 3]).values    # [[2], [1, "
     "3]]\n"},
    {NULL, NULL, NULL, 0, NULL},
};
