// Runs of equal items, and values gathered by keys.

#include <inttypes.h>
#include <string.h>

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/families.h"
#include "stdlib/nested.h"
#include "vm/ragged.h"
#include "vm/record.h"
#include "vm/vm.h"

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

// --- The table --------------------------------------------------------------

const tl_builtin tl_group_builtins[] = {
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
