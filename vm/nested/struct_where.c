// where of whole structs: it chooses among the numbers of items, and these follow.
#include "vm/engine/engine.h"
#include "vm/error.h"
#include "vm/nested/grid.h"
#include "vm/nested/nested_join.h"
#include "vm/nested/ragged.h"
#include "vm/nested/struct_equal.h"
#include "vm/vm.h"

// The items of an operand as structs of [type] along one axis, and their
// numbers, from [first] on, in the operand's shape.
static bool number_items(tl_vm *vm, tl_type *type, tl_slot s, int64_t first,
                         tl_slot *items, tl_slot *numbers) {
  bool one = tl_is_record(s);
  if (!one && !tl_has_fields(s)) {
    char text[TL_DESCRIBE];
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "structs are chosen beside structs or a record of their "
                   "fields, not %s",
                   tl_describe(s, text, sizeof text));
  }
  tl_slot flat;
  if (!(one ? tl_stack_any(vm, 1, &s, &flat) : tl_value_flatten(vm, s, &flat)))
    return false;
  bool ok = tl_struct_convert(vm, type, flat, items);
  tl_clear(vm, &flat);
  *numbers = tl_weak_int(first);
  if (!ok || one)
    return ok;
  int64_t shape[TL_MAX_DIMS];
  int ndim = tl_value_ndim(s);
  for (int i = 0; i < ndim; i++) shape[i] = tl_value_length(s, i);
  tl_array *made = tl_array_new(vm, TL_INT64, ndim, shape);
  if (made == NULL) {
    tl_clear(vm, items);
    return false;
  }
  for (int64_t i = 0; i < made->size; i++) tl_offsets_data(made)[i] = first + i;
  *numbers = tl_own_array(made);
  return true;
}

// The same error, about the structs instead of their numbers.
static bool fail_shapes(tl_vm *vm, const tl_slot *slots) {
  char text[3][TL_DESCRIBE];
  if (vm->error.status != TALLY_ERR_SHAPE)
    return false;
  for (int i = 0; i < 3; i++) tl_describe(slots[i], text[i], sizeof text[i]);
  tl_error_clear(vm);
  return tl_fail(vm, TALLY_ERR_SHAPE, "%s, %s and %s do not broadcast", text[0],
                 text[1], text[2]);
}

bool tl_structs_where(tl_vm *vm, const tl_slot *slots, tl_slot *out) {
  tl_slot model = tl_has_fields(slots[1]) ? slots[1] : slots[2];
  if (!tl_has_fields(model)) {
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "the condition must be bools, not structs");
  }
  tl_type *type = tl_type_below(vm, model, tl_value_ndim(model));
  tl_slot items[2] = {tl_none(), tl_none()}, whole, chosen = tl_none();
  tl_slot parts[3] = {tl_borrow(slots[0]), tl_none(), tl_none()};
  bool ok = type != NULL &&
            number_items(vm, type, slots[1], 0, &items[0], &parts[1]) &&
            number_items(vm, type, slots[2], tl_value_length(items[0], 0),
                         &items[1], &parts[2]) &&
            (tl_elementwise(vm, TL_OP_WHERE, parts, &chosen) ||
             fail_shapes(vm, slots));
  if (ok && !tl_is_array(chosen)) {
    ok = tl_fail(vm, TALLY_ERR_TYPE,
                 "structs are chosen where the condition is known: "
                 "fill_missing(c, false)");
  }
  ok = ok && tl_value_concat(vm, 2, items, &whole);
  if (ok) {
    ok = tl_value_take(vm, whole, chosen.array, out);
    tl_clear(vm, &whole);
  }
  for (int i = 0; i < 2; i++) {
    tl_clear(vm, &items[i]);
    tl_clear(vm, &parts[1 + i]);
  }
  tl_clear(vm, &chosen);
  return ok;
}
