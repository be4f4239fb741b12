// Functions that work along an axis, called for each row of ragged ones, and
// their results put together again. See lift.h.

#include <inttypes.h>

#include "vm/error.h"
#include "vm/nested/lift.h"
#include "vm/nested/lift_internal.h"
#include "vm/nested/nested_join.h"
#include "vm/nested/ragged.h"
#include "vm/values/list.h"
#include "vm/values/record.h"
#include "vm/vm.h"

static bool join_results(tl_vm *vm, int64_t count, const tl_slot *results,
                         tl_slot *out);

// Part [k] of each result, joined.
static bool join_parts(tl_vm *vm, int64_t count, const tl_slot *results,
                       int64_t k, tl_slot *out) {
  size_t nbytes = (size_t)count * sizeof(tl_slot);
  tl_slot *parts = tl_alloc(vm, nbytes, "rows");
  if (parts == NULL)
    return false;
  for (int64_t i = 0; i < count; i++) {
    parts[i] =
        tl_borrow(tl_is_record(results[i]) ? results[i].record->fields[k].value
                                           : results[i].list->items[k]);
  }
  bool ok = join_results(vm, count, parts, out);
  tl_free(vm, parts, nbytes);
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
    ok = tl_record_set(vm, &record, first->fields[k].key, &joined);
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
static bool join_results(tl_vm *vm, int64_t count, const tl_slot *results,
                         tl_slot *out) {
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
    bool moves = (builtin->flags & TL_MOVES) != 0;
    return tl_fail(vm, TALLY_ERR_TYPE, "%s: %s", builtin->name,
                   moves ? "of ragged rows needs an axis: 0 is that of the "
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

bool tl_lift_rows(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                  const tl_slot *args, tl_slot *out) {
  tl_slot given[TL_MAX_PARAMS], x = args[0], axis;
  for (uint32_t i = 0; i < count; i++) given[i] = tl_borrow(args[i]);
  int at = tl_lift_axis(builtin);
  if (at < 0 || !find_row_axis(vm, builtin, args[at], tl_value_axes(x), &axis))
    return false;
  given[at] = axis;
  const int64_t *offsets = tl_ragged_offsets(x.nested);
  // Without rows, the call of one without items tells what they would hold.
  int64_t rows = tl_ragged_rows(x.nested), calls = rows > 0 ? rows : 1;
  size_t nbytes = (size_t)calls * sizeof(tl_slot);
  tl_slot *results = tl_alloc(vm, nbytes, builtin->name), joined;
  int64_t made = 0;
  bool ok = results != NULL;
  while (ok && made < calls) {
    int64_t end = rows > 0 ? made + 1 : 0;
    ok = ((made & 0xff) != 0xff || tl_poll(vm, 1)) &&
         tl_value_slice(vm, x.nested->parts[1], offsets[rows > 0 ? made : 0],
                        offsets[end], &given[0]);
    if (ok && !tl_lift_call(vm, builtin, count, given, &results[made])) {
      tl_fail_whole(vm, given[0], x);
      ok = false;
    }
    for (uint32_t i = 0; i < count; i++) {
      tl_clear(vm, &given[i]);
      given[i] = (int)i == at ? axis : tl_borrow(args[i]);
    }
    made += ok;
  }
  ok = ok && join_results(vm, calls, results, rows > 0 ? out : &joined);
  while (made > 0) tl_drop(vm, results[--made]);
  if (results != NULL)
    tl_free(vm, results, nbytes);
  if (!ok || rows > 0)
    return ok;
  ok = tl_is_nested(joined) || tl_is_array(joined)
           ? tl_value_slice(vm, joined, 0, 0, out)
           : tl_fail(vm, TALLY_ERR_VALUE, "%s: there are no rows",
                     builtin->name);
  if (ok)
    tl_hold(vm, *out, TL_CAUSE_VIEW);
  tl_drop(vm, joined);
  return ok;
}
