// The dispatch loop once more, compiled to count references and instructions
// (tally --stats, memory.measure) and to fail at a chosen instruction in tests.
// Counting thus costs the usual loop nothing.
//
// Built for size.
#include "vm/events.h"
#include "vm/interp/handlers.h"
#include "vm/bytecode/opcodes.h"

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

// The operands in the instruction's own fields; those of a window are counted
// where they are moved there.
// Modes stand in the word as two bits each: b lowest, then c, then a. PUSH
// names the item in b and has no operand in c.
static void count_ins(tl_vm *vm, tl_slot *R, const tl_ins *ins) {
  const unsigned b = ins->modes & 3u, c = ins->modes >> 2 & 3u;
  const unsigned a = ins->modes >> 4 & 3u;
  vm->stats.instructions++;
  switch ((tl_format)tl_opcodes[ins->op].format) {
    case TL_FORMAT_A:
    case TL_FORMAT_XA:
    case TL_FORMAT_AJUMP:
    case TL_FORMAT_AKJUMP:
      count_operand(vm, tl_slot_at(R, ins->a), a);
      break;
    case TL_FORMAT_ABC:
    case TL_FORMAT_ABCX:
    case TL_FORMAT_ABCD:
      if (ins->op != TL_BC_PUSH)
        count_operand(vm, tl_slot_at(R, ins->c), c);
      count_operand(vm, tl_slot_at(R, ins->b), b);
      break;
    case TL_FORMAT_AB:
    case TL_FORMAT_ABI:
    case TL_FORMAT_ABK:
    case TL_FORMAT_ABX:
    case TL_FORMAT_BW:
    case TL_FORMAT_TVW:
      count_operand(vm, tl_slot_at(R, ins->b), b);
      break;
    case TL_FORMAT_ABJUMP:
      count_operand(vm, tl_slot_at(R, ins->a), a);
      count_operand(vm, tl_slot_at(R, ins->b), b);
      break;
    default:
      break;
  }
}

// A test wants this instruction to fail (vm->fail_in). Calls that would drop
// their window themselves have not run yet, so it is dropped here.
static bool is_to_fail(tl_vm *vm, tl_slot *R, const tl_ins *ins) {
  if (tl_opcodes[ins->op].fails == TL_NEVER || --vm->fail_in != 0)
    return false;
  tl_drop_call(vm, R, ins);
  tl_fail(vm, TALLY_ERR_ASSERT, "told to fail");
  return true;
}

// Whoever debugs the run wants it to end here; likewise.
static bool is_to_end(tl_vm *vm, tl_slot *R, const tl_ins *ins) {
  if (!vm->observer->before(vm))
    return false;
  tl_drop_call(vm, R, ins);
  tl_fail(vm, TALLY_ERR_INTERRUPT, "interrupted");
  vm->error.is_final = true;
  return true;
}

#define TL_COUNTING
#include "vm/interp/interp.c"
