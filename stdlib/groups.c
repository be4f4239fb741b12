// Runs of equal items, and values gathered by keys.

#include <inttypes.h>

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/families.h"
#include "stdlib/missing_order.h"
#include "stdlib/shared.h"
#include "stdlib/ragged.h"
#include "vm/array/describe.h"
#include "vm/bytecode/module.h"
#include "vm/nested/ragged.h"
#include "vm/values/record.h"
#include "vm/vm.h"

// A flag for each item: whether it differs from the one before. What is
// missing differs from what is there, and is like what is missing.
//
//   items   7 7 8 none none 8
//   flags   0 0 1 1    0    1
//
// Returns owned; NULL after tl_fail. The first item has no flag.
static tl_array *flag_changes(tl_vm *vm, tl_slot items) {
  enum { ITEMS = 512 };
  bool option = tl_is_form(items, TL_FORM_OPTION);
  tl_slot borrowed = tl_borrow(option ? items.nested->parts[1] : items), dense;
  if (!tl_array_contiguous(vm, &borrowed, &dense))
    return NULL;
  int64_t n = dense.array->size, at[ITEMS + 1];
  tl_dtype dtype = tl_array_dtype(dense.array);
  tl_array *flags = tl_array_zeros(vm, TL_BOOL, 1, &n);
  for (int64_t i = 0; flags != NULL && i < n; i += ITEMS) {
    // The item before tells whether the first one is new.
    int64_t before = i > 0, count = n - i < ITEMS ? n - i : ITEMS;
    const char *from =
        dense.array->data + (size_t)(i - before) * tl_itemsize(dtype);
    int64_t runs = tl_run_positions(dtype, at, from, count + before);
    for (int64_t k = before; k < runs; k++) flags->data[i + at[k] - before] = 1;
  }
  tl_drop(vm, dense);
  if (!option || flags == NULL)
    return flags;
  const tl_array *mask = items.nested->parts[0].array;
  int64_t step = tl_strides(mask)[0];
  for (int64_t i = 1; i < n; i++) {
    bool gap = mask->data[i * step] != 0;
    if (gap != (mask->data[(i - 1) * step] != 0))
      flags->data[i] = 1;
    else if (gap)
      flags->data[i] = 0;
  }
  return flags;
}

// The lengths of the runs within each row, in rows. Takes the flags.
//
//   flags   0 0 1 | 0 0     at  0 3 5        (a row begins a run)
//   counts  2 1   | 2       offsets  0 2 3
//
// Both results are owned, or neither is set.
static bool count_runs(tl_vm *vm, tl_array *flags, const int64_t *at,
                       int64_t rows, tl_array **offsets, tl_array **counts) {
  *offsets = tl_offsets_new(vm, rows);
  int64_t *to = *offsets != NULL ? tl_offsets_data(*offsets) : NULL;
  for (int64_t i = 0; to != NULL && i < rows; i++) {
    to[i + 1] = to[i];
    if (at[i] < at[i + 1])
      flags->data[at[i]] = 1;  // a row begins anew
    for (int64_t k = at[i]; k < at[i + 1]; k++) to[i + 1] += flags->data[k];
  }
  *counts = to != NULL ? tl_positions_new(vm, to[rows]) : NULL;
  int64_t *run = *counts != NULL ? tl_offsets_data(*counts) - 1 : NULL;
  for (int64_t i = 0; run != NULL && i < rows; i++) {
    for (int64_t k = at[i]; k < at[i + 1]; k++) {
      if (flags->data[k] != 0)
        *++run = 0;
      ++*run;
    }
  }
  tl_drop(vm, tl_own_array(flags));
  if (*counts == NULL && *offsets != NULL)
    tl_drop(vm, tl_own_array(*offsets));
  return *counts != NULL;
}

// A vector is one row, of which only the counts are given.
static bool run_lengths(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot at, items, made;
  tl_array *flags, *offsets, *counts;
  bool vector =
      tl_value_ndim(args[0]) < 2 && !tl_is_form(args[0], TL_FORM_RAGGED);
  if (vector && !tl_is_form(args[0], TL_FORM_OPTION) &&
      !tl_arg_array_or_string(vm, "run_lengths", &args[0]))
    return false;
  if (vector && tl_value_ndim(args[0]) != 1)
    return tl_arg_fail(vm, "run_lengths", "x", "of an axis", args[0]);
  if (vector) {
    int64_t ends[2] = {0, tl_value_length(args[0], 0)};
    flags = flag_changes(vm, args[0]);
    if (flags == NULL || !count_runs(vm, flags, ends, 1, &offsets, &counts))
      return false;
    tl_drop(vm, tl_own_array(offsets));
    *out = tl_own_array(counts);
    return true;
  }
  if (!tl_arg_ragged(vm, "run_lengths", &args[0]) ||
      !tl_ragged_flat(vm, args[0], &at, &items))
    return false;
  bool plain = tl_value_ndim(items) == 1 &&
               (tl_is_array(items) || tl_is_form(items, TL_FORM_OPTION));
  if (!plain)
    tl_arg_fail(vm, "run_lengths", "x", "of rows of plain items", args[0]);
  flags = plain ? flag_changes(vm, items) : NULL;
  bool ok = flags != NULL && count_runs(vm, flags, tl_offsets_data(at.array),
                                        at.array->size - 1, &offsets, &counts);
  tl_drop(vm, at);
  tl_drop(vm, items);
  if (!ok)
    return false;
  made = tl_own_array(counts);
  return tl_ragged_new(vm, offsets, &made, out);
}

// Where the groups of keys in this order begin and end, and the first position
// of each. Both are owned.
static bool find_groups(tl_vm *vm, tl_slot keys, tl_array *order,
                        tl_array **offsets, tl_array **firsts) {
  tl_slot sorted;
  if (!tl_value_take(vm, keys, order, &sorted))
    return false;
  tl_array *flags = flag_changes(vm, sorted);
  tl_drop(vm, sorted);
  if (flags == NULL)
    return false;
  int64_t n = flags->size, runs = n > 0;
  for (int64_t i = 1; i < n; i++) runs += flags->data[i] != 0;
  *offsets = tl_offsets_new(vm, runs);
  *firsts = *offsets != NULL ? tl_positions_new(vm, runs) : NULL;
  bool ok = *firsts != NULL;
  int64_t run = 0;
  for (int64_t i = 0; ok && i < n; i++) {
    if (i > 0 && flags->data[i] == 0)
      continue;
    tl_offsets_data(*offsets)[run] = i;
    tl_offsets_data(*firsts)[run++] = tl_offsets_data(order)[i];
  }
  if (ok)
    tl_offsets_data(*offsets)[runs] = n;
  else if (*offsets != NULL)
    tl_drop(vm, tl_own_array(*offsets));
  tl_drop(vm, tl_own_array(flags));
  return ok;
}

// The keys in order, each once, and the values of each as rows.
static bool take_groups(tl_vm *vm, tl_slot *args, tl_slot *keys,
                        tl_slot *rows) {
  tl_array *order, *offsets, *firsts;
  tl_slot values;
  if (!tl_order_of(vm, "group_by", args[0], false, &order))
    return false;
  bool ok = find_groups(vm, args[0], order, &offsets, &firsts);
  if (ok) {
    ok = tl_value_take(vm, args[0], firsts, keys);
    tl_drop(vm, tl_own_array(firsts));
    if (ok && !tl_value_take(vm, args[1], order, &values)) {
      tl_drop(vm, *keys);
      ok = false;
    }
    if (!ok)
      tl_drop(vm, tl_own_array(offsets));
  }
  tl_drop(vm, tl_own_array(order));
  if (ok && !tl_ragged_new(vm, offsets, &values, rows)) {
    tl_drop(vm, *keys);
    ok = false;
  }
  return ok;
}

// The record of keys and values, which is owned:
//
//   keys b a b, values 1 2 3     order 1 0 2
//   keys of the result  a b      values  [2] [1 3]
//
// The order is stable, so that the values of a key stay in the order they had.
static bool group_by(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const bool structs = tl_has_fields(args[0]);
  if (!structs && !tl_is_form(args[0], TL_FORM_OPTION) &&
      !tl_arg_array_or_string(vm, "group_by", &args[0]))
    return false;
  if (tl_value_ndim(args[0]) != 1)
    return tl_arg_fail(vm, "group_by", "keys", "of one axis", args[0]);
  if (structs) {
    tl_slot given[] = {tl_borrow(args[0]), tl_borrow(args[1])};
    return tl_call_embedded(vm, "inner/arrays", "group_by_structs", 2, given,
                            out);
  }
  if (tl_value_ndim(args[1]) == 0 && !tl_arg_array(vm, "group_by", &args[1]))
    return false;
  int64_t n = tl_value_length(args[0], 0);
  if (tl_value_ndim(args[1]) == 0 || tl_value_length(args[1], 0) != n) {
    return tl_fail(
        vm, TALLY_ERR_SHAPE,
        "group_by: %" PRId64 " keys for %" PRId64 " values", n,
        tl_value_ndim(args[1]) == 0 ? 1 : tl_value_length(args[1], 0));
  }
  tl_slot keys, rows;
  if (!take_groups(vm, args, &keys, &rows))
    return false;
  tl_record *record = tl_record_new(vm, 2);
  tl_record_put(vm, &record, "keys", keys);
  tl_record_put(vm, &record, "values", rows);
  return tl_record_put_end(record, out);
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_group_builtins[] = {
    /// How often each item of x is repeated before another comes; of several
    /// axes or rows, within each row. What is missing is like what is missing.
    /// Any dtype; gives int64.
    /// Values other than arrays are an error (kind type).
    ///     run_lengths([7, 7, 8, 7])    # [2, 1, 1]
    ///     run_lengths([[7, 7], [], [7, 8, 8]])    # [[2], [], [1, 2]]
    {"run_lengths", "x", run_lengths, .lifts = TL_INNERMOST, .takes = TL_BYTES},
    /// The keys in order, each once, and the values of each as a row, in the
    /// order they had: a record of keys and values. A missing key is the last.
    /// Keys may be structs, in the order of their fields in turn.
    /// Keys of another length are an error (kind shape).
    ///     group_by(["b", "a", "b"], [1, 2, 3]).values    # [[2], [1, 3]]
    ///     names, rows = group_by(["b", "a", "b"], [1, 2, 3])
    ///     names    # ["a", "b"]
    {"group_by", "keys, values", group_by, .takes = TL_BYTES},
    {.name = NULL},
};
