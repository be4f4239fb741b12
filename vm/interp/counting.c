// What comes before each instruction where the dispatch loop counts: references
// and instructions (tally --stats, memory.measure), the time of each line, and
// whether the run is to fail or to end here.
//
// Built for speed.
#include "vm/events.h"
#include "vm/interp/handlers.h"

// Counts one operand: whether its count was known when compiled (virtual) or is
// a bit of its slot (embedded), and whether it was moved or borrowed here.
static void count_operand(tl_vm *vm, const tl_slot *s, unsigned mode) {
  if (!tl_is_heap(*s))
    return;
  bool moves =
      mode == TL_MODE_CONSUME || (mode == TL_MODE_EITHER && tl_is_owned(*s));
  vm->stats.refs_virtual += mode != TL_MODE_EITHER;
  vm->stats.refs_embedded += mode == TL_MODE_EITHER;
  vm->stats.moves += moves;
  vm->stats.borrows += !moves;
}

// The operands in the instruction's own fields, but for targets and those in a
// second word; those of a window are counted where they are moved there, and
// ownership instructions and loops have no modes.
static void count_ins(tl_vm *vm, tl_slot *R, const tl_ins *ins) {
  tl_format format = (tl_format)tl_opcodes[ins->op].format;
  vm->stats.instructions++;
  if (format == TL_FORMAT_AA || format == TL_FORMAT_LOOP)
    return;
  for (const char *at = tl_formats[format].operands; *at != 0; at++) {
    const unsigned mode = ins->modes >> tl_mode_shift(*at) & 3u;
    uint16_t field = *at == 'a' ? ins->a : *at == 'b' ? ins->b : ins->c;
    if (*at != 'd')
      count_operand(vm, tl_slot_at(R, field), mode);
  }
}

// Whether a test wants this instruction to fail (vm->fail_in), or whoever
// debugs the run wants it to end here. Calls that would drop their window
// themselves have not run yet, so it is dropped here.
static bool is_to_end(tl_vm *vm, tl_slot *R, const tl_ins *ins) {
  const bool fails = vm->fail_in != 0 &&
                     tl_opcodes[ins->op].fails != TL_NEVER &&
                     --vm->fail_in == 0;
  if (!fails && (vm->debug == NULL || !vm->observer->before(vm)))
    return false;
  tl_drop_call(vm, R, ins);
  tl_fail(vm, fails ? TALLY_ERR_ASSERT : TALLY_ERR_INTERRUPT,
          fails ? "told to fail" : "interrupted");
  vm->error.is_final |= !fails;
  return true;
}

// What is timed is the instruction before, at which the frame still stands.
bool tl_count_instruction(tl_vm *vm, tl_frame *f, const tl_ins *ins) {
  if (vm->timed)
    vm->observer->step(vm);
  f->pc = ins;
  vm->frame = f;
  count_ins(vm, f->base, ins);
  return (vm->fail_in == 0 && vm->debug == NULL) ||
         !is_to_end(vm, f->base, ins);
}
