// The distinct items of an array: see distinct.h.
#include "stdlib/distinct.h"

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/distinct_integers.h"
#include "stdlib/distinct_strings.h"
#include "vm/kernels/prefetch.h"
#include "vm/kernels/kernels.h"
#include "vm/nested/nested.h"

// Parts that the caller took are to be NULL by then.
void tl_distinct_close(tl_vm *vm, tl_distinct *d) {
  tl_array *parts[] = {d->values, d->indices, d->inverse, d->counts};
  for (int i = 0; i < 4; i++) tl_array_drop(vm, parts[i]);
}

// Counts from the sorted items' run positions.
static bool find_counts(tl_vm *vm, tl_distinct *d, const int64_t *start,
                        int64_t runs, int64_t n) {
  d->counts = tl_positions_new(vm, runs);
  if (!d->counts)
    return false;
  for (int64_t i = 0; i < runs && tl_poll_at(vm, i); i++)
    tl_offsets_data(d->counts)[i] =
        (i + 1 < runs ? start[i + 1] : n) - start[i];
  return !tl_failed(vm);
}

// A poll between blocks of 512 items, of which the next begins at [at].
static bool poll_blocks(tl_vm *vm, int64_t at) {
  return at == 0 || at % (1 << 13) != 0 || tl_poll(vm, 8);
}

// Moves the first of each run of equal items down, of n sorted ones; returns
// how many there are. Writes where they begin to [places], unless that is NULL.
// -1 after tl_fail.
static int64_t keep_firsts(tl_vm *vm, tl_dtype dtype, char *items, int64_t n,
                           int64_t *places) {
  // A block of the widest items and its positions are 12 KiB: they stay in the
  // first cache while a kernel gathers them.
  enum { ITEMS = 512 };
  _Alignas(64) char firsts[ITEMS * sizeof(tl_c128)];
  int64_t start[ITEMS + 1], kept = 0;
  size_t itemsize = tl_itemsize(dtype);
  for (int64_t at = 0; at < n; at += ITEMS) {
    if (!poll_blocks(vm, at))
      return -1;
    // The item before tells whether the first one is new. It still stands
    // there: only what is not moved is as far down.
    int64_t before = at > 0;
    int64_t end = n - at < ITEMS ? n : at + ITEMS;
    const char *from = items + (size_t)(at - before) * itemsize;
    int64_t runs = tl_run_positions(vm, dtype, start, from, end - at + before);
    if (runs < 0)
      return -1;
    int64_t count = runs - before;
    tl_kernels()->take[tl_move_size(itemsize)](
        firsts, from, (ptrdiff_t)itemsize, start + before, (size_t)count);
    memcpy(items + (size_t)kept * itemsize, firsts, (size_t)count * itemsize);
    for (int64_t i = 0; places != NULL && i < count; i++)
      places[kept + i] = start[before + i] + at - before;
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

// Without positions: sorts the items, or counts them.
static bool by_values(tl_vm *vm, tl_slot *items, bool counts, tl_distinct *d) {
  tl_dtype dtype = tl_array_dtype(items->array);
  int64_t n = items->array->size, runs = 0;
  if (dtype == TL_STRING) {
    return tl_distinct_strings(vm, items->array, &d->values,
                               counts ? &d->counts : NULL);
  }
  if (n > 0 && tl_integers_counted(dtype)) {
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
  if (ok && counts)
    ok = (start = tl_positions_new(vm, n)) != NULL;
  if (ok)
    runs = keep_firsts(vm, dtype, sorted->data, n,
                       start != NULL ? tl_offsets_data(start) : NULL);
  ok = ok && runs >= 0 &&
       (start == NULL || find_counts(vm, d, tl_offsets_data(start), runs, n));
  tl_slot rest = tl_own_array(sorted);
  if (ok)
    d->values = tl_array_narrow(vm, &rest, dtype, 1, &runs);
  tl_array_drop(vm, start);
  tl_drop(vm, rest);
  return ok;
}

// Marks the first position of each run of equal items in order, by turning it
// over, and writes its item to [firsts] unless that is NULL. Returns how many
// there are; -1 after tl_fail.
static int64_t mark_firsts(tl_vm *vm, const tl_array *flat, int64_t *order,
                           char *firsts) {
  enum { ITEMS = 512 };
  _Alignas(64) char items[(ITEMS + 1) * sizeof(tl_c128)];
  int64_t start[ITEMS + 1], runs = 0, last = 0;
  tl_dtype dtype = tl_array_dtype(flat);
  size_t itemsize = tl_itemsize(dtype);
  tl_gather *take = tl_kernels()->take[tl_move_size(itemsize)];
  for (int64_t at = 0; at < flat->size; at += ITEMS) {
    if (!poll_blocks(vm, at))
      return -1;
    // The item before tells whether the first one is new.
    int64_t before = at > 0;
    int64_t n = flat->size - at < ITEMS ? flat->size - at : ITEMS;
    take(items, flat->data, (ptrdiff_t)itemsize, &last, (size_t)before);
    take(items + (size_t)before * itemsize, flat->data, (ptrdiff_t)itemsize,
         order + at, (size_t)n);
    last = order[at + n - 1];
    int64_t found = tl_run_positions(vm, dtype, start, items, n + before);
    if (found < 0)
      return -1;
    for (int64_t i = before; i < found; i++) {
      int64_t *first = &order[at + start[i] - before];
      *first = ~*first;
    }
    found -= before;
    if (firsts)
      take(firsts + (size_t)runs * itemsize, items, (ptrdiff_t)itemsize,
           start + before, (size_t)found);
    runs += found;
  }
  return runs;
}

// Writes each item's run, and leaves the runs' first positions at the front of
// the order, which is not read again there. False after tl_fail.
static bool number_runs(tl_vm *vm, int64_t *order, int64_t n, int64_t *inverse,
                        int64_t *counts) {
  enum { AHEAD = 32 };
  int64_t run = -1;
  if (!tl_touch(vm, inverse, (size_t)n * sizeof *inverse))
    return false;
  for (int64_t i = 0; i < n && tl_poll_at(vm, i); i++) {
    int64_t place = order[i], next = order[i + AHEAD < n ? i + AHEAD : i];
    tl_prefetch(&inverse[next < 0 ? ~next : next], 0);
    if (place < 0) {
      place = ~place;
      order[++run] = place;
      if (counts)
        counts[run] = 0;
    }
    inverse[place] = run;
    if (counts)
      counts[run]++;
  }
  return !tl_failed(vm);
}

// With positions: a stable argsort puts the first of equal items first.
static bool by_order(tl_vm *vm, tl_array *flat, const tl_array *x, bool counts,
                     tl_distinct *d) {
  int64_t n = flat->size, runs = 0;
  tl_dtype dtype = tl_array_dtype(flat);
  tl_array *order = tl_positions_new(vm, n);
  tl_slot values = tl_none(), firsts = order ? tl_own_array(order) : values;
  bool ok = order && tl_argsort_items(vm, dtype, tl_offsets_data(order),
                                      flat->data, n, false);
  if (ok && dtype != TL_STRING) {
    d->values = tl_array_new(vm, dtype, 1, &n);
    ok = d->values != NULL;
  }
  if (ok)
    runs = mark_firsts(vm, flat, tl_offsets_data(order),
                       d->values ? d->values->data : NULL);
  ok = ok && runs >= 0;
  if (ok) {
    if (d->values) {
      values = tl_own_array(d->values);
      tl_array_cut(vm, &values, runs);
      d->values = values.array;
    }
    d->inverse = tl_array_new(vm, TL_INT64, tl_ndim(x), tl_shape(x));
    d->counts = d->inverse && counts ? tl_positions_new(vm, runs) : NULL;
    ok = d->inverse && (d->counts || !counts);
  }
  ok = ok &&
       number_runs(vm, tl_offsets_data(order), n, tl_offsets_data(d->inverse),
                   counts ? tl_offsets_data(d->counts) : NULL);
  if (ok && dtype == TL_STRING) {
    ok = tl_take_axis(vm, flat, tl_offsets_data(order), runs, 0, &values);
    d->values = ok ? values.array : NULL;
  }
  if (ok && counts) {
    tl_array_cut(vm, &firsts, runs);
    d->indices = firsts.array;
    return true;
  }
  tl_drop(vm, firsts);
  return ok;
}

// Integers that are close together are counted in a table; all else is sorted.
// The table says by NULL values that their range is too wide.
static bool with_positions(tl_vm *vm, tl_array *flat, const tl_array *x,
                           bool counts, tl_distinct *d) {
  if (flat->size > 0 && tl_integers_counted(tl_array_dtype(flat))) {
    if (!tl_integers_placed(vm, flat, x, counts, d))
      return false;
    if (d->values)
      return true;
  }
  return by_order(vm, flat, x, counts, d);
}

// Without positions x may be taken: it is sorted where it lies. With them it is
// only borrowed, as its items are read again for the inverse.
bool tl_distinct_find(tl_vm *vm, const char *function, tl_slot *x,
                      bool positions, bool counts, tl_distinct *d) {
  *d = (tl_distinct){NULL, NULL, NULL, NULL};
  if (!tl_arg_array(vm, function, x))
    return false;
  tl_slot flat, borrowed = tl_borrow(*x), dense;
  int64_t size = x->array->size;
  if (!tl_array_contiguous(vm, positions ? &borrowed : x, &dense))
    return false;
  bool ok = tl_reshape(vm, &dense, 1, &size, &flat);
  if (ok) {
    ok = positions ? with_positions(vm, flat.array, x->array, counts, d)
                   : by_values(vm, &flat, counts, d);
    tl_drop(vm, flat);
  }
  tl_drop(vm, dense);
  if (!ok)
    tl_distinct_close(vm, d);
  return ok;
}
