// #:inplace at run time: see promise.h.
#include "vm/promise.h"

#include <stdio.h>
#include <string.h>

#include "vm/error.h"
#include "vm/references.h"

static const tl_frame *running(const tl_vm *vm) {
  const tl_frame *f = vm->frame;
  return vm->frames == NULL || f < vm->frames || f->function == NULL ? NULL : f;
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
  for (uint32_t i = 0; place != NULL && i < unit->promise_count; i++)
    if (unit->promises[i].begin <= place->at &&
        place->at < unit->promises[i].end)
      return true;
  return false;
}

void tl_promise_refused(tl_vm *vm, tl_refusal why) {
  if (!tl_is_promised(vm))
    return;
  vm->refused_at = vm->frame->pc;
  vm->refused_why = (uint8_t)why;
}

// --- The error --------------------------------------------------------------

// The first array among the instruction's operands, and its slot.
static tl_slot find_operand(const tl_frame *f, uint32_t *slot) {
  tl_decoded d;
  tl_decode(f->function, (uint32_t)(f->pc - f->function->code), &d);
  for (uint32_t i = 0; i < d.operand_count + d.window_count; i++) {
    *slot =
        i < d.operand_count ? d.operands[i] : d.window + i - d.operand_count;
    if (tl_is_array(f->base[*slot]))
      return f->base[*slot];
  }
  return tl_none();
}

typedef struct owners {
  const tl_object *wanted;
  char text[200];
} owners;

static bool add_owner(void *context, const tl_reference *r) {
  owners *o = context;
  size_t n = strlen(o->text);
  if (r->to.object == o->wanted && n + 4 < sizeof o->text)
    snprintf(o->text + n, sizeof o->text - n, "%s%s", n == 0 ? ": " : " and ",
             r->name);
  return true;
}

static void spell_reason(tl_vm *vm, char *out, size_t size) {
  const tl_frame *f = vm->frame;
  uint32_t slot = 0;
  tl_slot operand = find_operand(f, &slot);
  const tl_prototype *p = f->function;
  const char *name = slot < p->named_count && p->slot_names[slot] != NULL
                         ? p->slot_names[slot]->text
                         : "an operand";
  bool is_array = tl_is_array(operand);
  bool complete;
  owners o = {.wanted = is_array ? operand.object : NULL};
  switch ((tl_refusal)vm->refused_why) {
    case TL_REFUSED_LIVE:
      snprintf(out, size, "%.60s is used later, or belongs to someone else",
               name);
      return;
    case TL_REFUSED_SHARED:
      if (is_array)
        tl_each_reference(vm, add_owner, &o, &complete);
      snprintf(out, size, "%.60s is shared%s", name, o.text);
      return;
    case TL_REFUSED_SHAPE:
      snprintf(out, size,
               "the result has another shape than %.60s, or %.60s "
               "is strided",
               name, name);
      return;
    case TL_REFUSED_DTYPE:
      snprintf(out, size,
               "the result's items have another size than those of "
               "%.60s",
               name);
      return;
    default:
      snprintf(out, size, "%.60s is %s", name,
               is_array && (operand.array->head.flags & TL_READONLY) != 0
                   ? "read-only"
               : is_array && (operand.array->head.flags & TL_VIEW) != 0
                   ? "a view of another array"
               : is_array && (operand.array->head.flags & TL_EXTERNAL) != 0
                   ? "memory of the host's"
                   : "read-only");
  }
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
