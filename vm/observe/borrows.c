// References that count nothing: names for what another slot owns. No bit and
// no count says of such a slot that its value is alive, so the verifier is
// asked once more, whose states say for each instruction what may still be
// read.
//
//   x = ones(4)     x owns
//   y = x           y borrows from x: visited
//   f(x!)           while f runs, x has given its array away, and f may have
//                   freed it: y is not visited
//
// A slot that nobody reads any more may still be visited: its value is alive
// as long as what lends it is.

#include "vm/observe/references.h"
#include "vm/verify/verify.h"

// The look at one frame.
// The verifier visits all instructions of its function; the one where the frame
// stands is looked at.
typedef struct look {
  const tl_frame *frame;
  tl_reference_visit *visit;
  void *context;
  bool stopped;
} look;

// Whether the instruction may end the slot, so that its borrowers are not to be
// trusted while a call runs.
static bool is_operand(const tl_decoded *ins, uint32_t slot) {
  bool found = slot >= ins->window && slot - ins->window < ins->window_count;
  for (uint32_t i = 0; !found && i < ins->operand_count; i++)
    found = ins->operands[i] == slot && ins->modes[i] != TL_MODE_BORROW;
  return found;
}

// Whether the slot has a value that another owns throughout the instruction.
static bool is_alias(const tl_checker *c, const tl_frame *f, uint32_t slot) {
  const tl_state *state = &c->now[slot];
  if ((state->kind != TL_BORROWS && state->kind != TL_EITHER) ||
      state->invalid || tl_is_owned(f->base[slot]) ||
      !tl_is_heap(f->base[slot]))
    return false;
  for (uint32_t i = 0; i < state->count; i++) {
    uint32_t who = tl_borrow_owner_who(state->borrow_owners[i]);
    if (tl_who_is_slot(who) && is_operand(&c->ins, who))
      return false;
  }
  return tl_is_counted(f->base[slot]);
}

// Temporaries are left out: they are no names, and most of them are arguments
// of the call under way.
static void visit_aliases(tl_checker *c, void *context) {
  look *l = context;
  const tl_frame *f = l->frame;
  if (c->pc != tl_frame_pc(f))
    return;
  for (uint32_t i = 0; i < c->p->named_count && !l->stopped; i++) {
    if (c->p->slot_names[i] == NULL || !is_alias(c, f, i))
      continue;
    tl_reference r = {.kind = TL_REFERENCE_STACK,
                      .count = TL_COUNT_BORROWED,
                      .to = f->base[i],
                      .at = &f->base[i]};
    tl_name_slot(f, i, &r);
    l->stopped = !l->visit(l->context, &r);
  }
}

// Each frame's function is gone through once more, which costs as much as
// proving it did: a tool for looking, and not for loops.
bool tl_each_alias(tl_vm *vm, tl_reference_visit *visit, void *context,
                   bool *complete) {
  look l = {.visit = visit, .context = context};
  for (const tl_frame *f = vm->frames; f <= vm->frame && !l.stopped; f++) {
    l.frame = f;
    if (f->function != NULL &&
        !tl_verify_with(vm, (tl_prototype *)(uintptr_t)f->function,
                        visit_aliases, &l)) {
      // It was proved before it ran, so there was no memory.
      tl_error_clear(vm);
      *complete = false;
    }
  }
  return !l.stopped;
}
