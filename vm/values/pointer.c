// Arrays of pointers. See pointer.h.
#include "vm/values/pointer.h"

#include <string.h>

#include "vm/error.h"
#include "vm/index/select.h"
#include "vm/nested/grid.h"
#include "vm/values/category.h"
#include "vm/vm.h"

bool tl_pointer_new(tl_vm *vm, tl_slot *places, tl_slot *target, tl_slot *out) {
  return tl_nested_pair(vm, TL_FORM_POINTER, tl_ndim(places->array), places,
                        target, out);
}

bool tl_pointer_values(tl_vm *vm, const tl_nested *n, tl_slot *out) {
  bool ok = tl_is_form(n->parts[1], TL_FORM_RAGGED)
                ? tl_grid_of_places(vm, n->parts[0], n->parts[1], out)
                : tl_value_take(vm, n->parts[1], n->parts[0].array, out);
  if (ok && !tl_is_owned(*out))
    *out = tl_retain(vm, *out);
  if (ok)
    tl_hold(vm, *out, TL_CAUSE_VIEW);
  return ok;
}

bool tl_pointer_of_places(tl_vm *vm, const tl_nested *n, tl_slot *places,
                          tl_slot *out) {
  if (!tl_is_array(*places))
    return tl_nested_at(vm, n->parts[1], places->i, out);
  tl_slot target = tl_borrow(n->parts[1]);
  return tl_pointer_new(vm, places, &target, out);
}

// --- Setting ----------------------------------------------------------------

// Whether the first step names a field: .x or ["x"].
static bool names_field(const tl_way *w) {
  const tl_step *step = w->steps;
  return step->field != NULL ||
         (step->item_count == 1 && step->items[0].kind == TL_ITEM_VALUE &&
          tl_is_string(w->parts[0]));
}

// The places that are set, and the steps that go on from there.
static bool choose_places(tl_vm *vm, const tl_nested *n, tl_way w,
                          tl_slot *places, tl_way *rest) {
  *places = tl_borrow(n->parts[0]);
  *rest = w;
  if (w.count == 0 || names_field(&w))
    return true;
  tl_slot lent = tl_borrow(n->parts[0]);
  *rest = tl_way_below(w);
  return tl_index_get(vm, &lent, w.steps, w.parts, places);
}

bool tl_pointer_set(tl_vm *vm, tl_way w, tl_nested *n, tl_slot value) {
  static const tl_index_item at = {.kind = TL_ITEM_VALUE};
  tl_step steps[TL_MOST_STEPS];
  tl_slot places, plain = tl_borrow(value);
  tl_way rest;
  if (!choose_places(vm, n, w, &places, &rest))
    return false;
  int used = 0;
  for (int i = 0; i < rest.count; i++) used += tl_step_parts(&rest.steps[i]);
  bool ok = rest.count < TL_MOST_STEPS ||
            tl_fail(vm, TALLY_ERR_VALUE,
                    "what a pointer refers to is set by at most %d steps",
                    TL_MOST_STEPS - 1);
  size_t nbytes = ((size_t)used + 1) * sizeof(tl_slot);
  tl_slot *parts = ok ? tl_alloc(vm, nbytes, "an assignment") : NULL;
  ok = parts != NULL && tl_spell_out(vm, 1, &plain);
  if (ok) {
    steps[0] = (tl_step){.item_count = 1, .items = &at};
    if (rest.count > 0)
      memcpy(steps + 1, rest.steps, (size_t)rest.count * sizeof *steps);
    parts[0] = tl_borrow(places);
    if (used > 0)
      memcpy(parts + 1, rest.parts, (size_t)used * sizeof *parts);
    ok = tl_part_update(vm, (tl_way){steps, rest.count + 1, parts},
                        &n->parts[1], &plain);
  }
  tl_clear(vm, &plain);
  tl_clear(vm, &places);
  if (parts != NULL)
    tl_free(vm, parts, nbytes);
  return ok;
}
