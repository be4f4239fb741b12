// Functions that work along an axis, called for each row of ragged ones, and
// their results put together again. See lift.h.

#include <inttypes.h>

#include "vm/array/describe.h"
#include "vm/error.h"
#include "vm/nested/lift.h"
#include "vm/nested/lift_internal.h"
#include "vm/nested/nested_join.h"
#include "vm/nested/parts.h"
#include "vm/nested/ragged.h"
#include "vm/values/list.h"
#include "vm/values/record.h"
#include "vm/vm.h"

static bool join_results(tl_vm *vm, void *context, int64_t count,
                         const tl_slot *results, tl_slot *out);

// Part [k] of each result, joined.
static bool join_parts(tl_vm *vm, int64_t count, const tl_slot *results,
                       int64_t k, tl_slot *out) {
  tl_slot *parts = tl_slots_new(vm, count, "rows");
  if (parts == NULL)
    return false;
  for (int64_t i = 0; i < count; i++) {
    parts[i] =
        tl_borrow(tl_is_record(results[i]) ? results[i].record->fields[k].value
                                           : results[i].list->items[k]);
  }
  bool ok = join_results(vm, NULL, count, parts, out);
  tl_slots_free(vm, parts, count);
  return ok;
}

static bool join_records(tl_vm *vm, int64_t count, const tl_slot *results,
                         tl_slot *out) {
  const tl_record *first = results[0].record;
  tl_record *record = tl_record_new(vm, first->length);
  bool ok = record != NULL;
  for (int64_t k = 0; ok && k < first->length; k++) {
    tl_slot joined;
    ok = join_parts(vm, count, results, k, &joined);
    if (!ok)
      break;
    tl_slot key = tl_key_slot(first->fields[k].key);
    ok = tl_record_set_key(vm, &record, &key, &joined);
    tl_clear(vm, &joined);
  }
  if (ok)
    *out = tl_own_record(record);
  else if (record != NULL)
    tl_drop(vm, tl_own_record(record));
  return ok;
}

// Rows where the results have axes, one item for each where they have none, and
// of records a record of such. count > 0.
static bool join_results(tl_vm *vm, void *context, int64_t count,
                         const tl_slot *results, tl_slot *out) {
  (void)context;
  if (tl_is_record(results[0]))
    return join_records(vm, count, results, out);
  if (tl_value_ndim(results[0]) > 0)
    return tl_ragged_of_rows(vm, count, results, out);
  return tl_stack_any(vm, count, results, out);
}

// Axis [given] of rows that have [axes] axes, counted within a row; -1 is the
// last one in both.
static bool find_row_axis(tl_vm *vm, const tl_builtin *builtin, tl_slot given,
                          int axes, tl_slot *out) {
  bool is_int = tl_class(given) == TL_CLASS_I64;
  if (!is_int || given.i == 0 || given.i == -axes) {
    return tl_fail(vm, TALLY_ERR_TYPE, "%s: %s", builtin->name,
                   tl_builtin_moves(builtin)
                       ? "of ragged rows needs an axis: 0 is that of the "
                         "rows, -1 within each of them"
                       : "rows of different lengths have axes from 1 on, or "
                         "-1, within them: none goes across them");
  }
  if (given.i < -axes || given.i >= axes) {
    return tl_fail(vm, TALLY_ERR_INDEX,
                   "%s: axis %" PRId64 " of an array of %d axes", builtin->name,
                   given.i, axes);
  }
  *out = tl_weak_int(given.i > 0 ? given.i - 1 : given.i);
  return true;
}

// A call of the function for one row, the arguments behind the first borrowed.
typedef struct row_call {
  const tl_builtin *builtin;
  uint32_t count;
  const tl_slot *args;
  int at;  // of the axis
  tl_slot axis;
} row_call;

static bool call_row(tl_vm *vm, void *context, int64_t row, tl_slot *out) {
  const row_call *c = context;
  const tl_slot x = c->args[0];
  const int64_t *offsets = tl_ragged_offsets(x.nested);
  int64_t begin = row < 0 ? offsets[0] : offsets[row];
  tl_slot given[TL_MAX_PARAMS];
  for (uint32_t i = 0; i < c->count; i++) given[i] = tl_borrow(c->args[i]);
  given[c->at] = c->axis;
  if (!tl_value_slice(vm, x.nested->parts[1], begin,
                      row < 0 ? begin : offsets[row + 1], &given[0]))
    return false;
  bool ok = tl_lift_call(vm, c->builtin, c->count, given, out);
  if (!ok)
    tl_fail_whole(vm, given[0], x);
  for (uint32_t i = 0; i < c->count; i++) tl_clear(vm, &given[i]);
  return ok;
}

bool tl_lift_rows(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                  const tl_slot *args, tl_slot *out) {
  row_call c = {builtin, count, args, tl_lift_axis(builtin), tl_none()};
  if (c.at < 0 ||
      !find_row_axis(vm, builtin, args[c.at], tl_value_axes(args[0]), &c.axis))
    return false;
  const tl_row_loop loop = {.name = builtin->name,
                            .count = tl_ragged_rows(args[0].nested),
                            .each = call_row,
                            .join = join_results,
                            .context = &c};
  return tl_map_rows(vm, &loop, out);
}
