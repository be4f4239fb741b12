// #:inplace at run time: see promise.h.
#include "vm/interp/promise.h"

#include <stdio.h>
#include <string.h>

#include "vm/error.h"
#include "vm/interp/refusal.h"

static const tl_frame *running(const tl_vm *vm) {
  const tl_frame *f = vm->frame;
  return vm->frames == NULL || f < vm->frames || f->function == NULL ? NULL : f;
}

bool tl_unit_promises(const tl_unit *unit, uint32_t at) {
  uint32_t low = 0, high = unit->promise_count;
  while (low < high) {  // the first that begins behind it
    uint32_t middle = low + (high - low) / 2;
    if (unit->promises[middle].begin <= at)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 && at < unit->promises[low - 1].reach;
}

bool tl_is_promised(const tl_vm *vm) {
  const tl_frame *f = running(vm);
  if (!vm->has_promises || f == NULL)
    return false;
  const tl_unit *unit = f->function->unit;
  const tl_place_entry *place =
      unit->promise_count == 0
          ? NULL
          : tl_place_at(f->function, (uint32_t)(f->pc - f->function->code));
  return place != NULL && tl_unit_promises(unit, place->at);
}

void tl_promise_refused(tl_vm *vm, tl_refusal why, tl_slot operand) {
  if (!tl_is_promised(vm))
    return;
  vm->refused_at = vm->frame->pc;
  vm->refused_why = (uint8_t)why;
  vm->refused_operand = operand;
}

// --- The error --------------------------------------------------------------

static void spell_reason(tl_vm *vm, char *out, size_t size) {
  const tl_frame *f = vm->frame;
  const tl_prototype *p = f->function;
  const tl_slot *place = tl_refused_slot(vm, vm->refused_operand);
  const char *name = "an operand";
  if (place != NULL && place < f->base + p->named_count &&
      p->slot_names[place - f->base] != NULL)
    name = p->slot_names[place - f->base]->text;
  int n = snprintf(out, size, "%.60s ", name);
  tl_spell_refusal(vm, (tl_refusal)vm->refused_why, vm->refused_operand, place,
                   out + n, size - (size_t)n);
}

bool tl_promise_keeps(tl_vm *vm) {
  if (vm->refused_at == NULL)
    return true;
  const tl_frame *f = running(vm);
  bool is_same = f != NULL && vm->refused_at == f->pc;
  vm->refused_at = NULL;
  if (!is_same)
    return true;
  char reason[360];
  spell_reason(vm, reason, sizeof reason);
  return tl_fail(vm, TALLY_ERR_MEMORY,
                 "#:inplace: the result needs a new array: %s", reason);
}
