// Elementwise instructions whose operands are no plain scalars: finds the
// operands wherever the instruction's format keeps them, tries the region that
// the instruction may begin, and else applies the one operation
// (tl_elementwise).

#include "vm/interp/interp.h"
#include "vm/events.h"
#include "vm/engine/short.h"

// An instruction's operands in one form for all formats.
typedef struct operands {
  // Operands, and the words of the instruction.
  int count, words;
  const tl_slot *in[3];
  unsigned modes[3];
  // The immediate of ADDI as a slot, which in[1] then points to.
  tl_slot literal;
} operands;

#define SLOT(offset) ((tl_slot *)(void *)((char *)base + (offset)))

// Fills in *x from the fields of [ins]. The result may not be moved: x->in may
// point into it.
static void find_operands(const tl_prototype *function, tl_slot *base,
                          const tl_ins *ins, operands *x) {
  tl_format format = (tl_format)tl_opcodes[ins->op].format;
  x->count = 2;
  x->words = 1;
  x->in[0] = SLOT(ins->b);
  x->in[1] = SLOT(ins->c);
  x->modes[0] = ins->modes & 3u;
  x->modes[1] = ins->modes >> 2 & 3u;
  switch (format) {
    case TL_FORMAT_ABI:
      x->literal = tl_weak_int((int16_t)ins->c);
      x->in[1] = &x->literal;
      break;
    case TL_FORMAT_ABK:
      x->in[1] = &function->constants[ins->c / 16u];
      break;
    case TL_FORMAT_ABX:
      x->count = 1;
      x->words = 2;
      break;
    case TL_FORMAT_ABCD:
      x->count = 3;
      x->words = 2;
      x->in[2] = SLOT(ins[1].a);
      x->modes[2] = ins->modes >> 6;
      break;
    case TL_FORMAT_ABCX:
      x->words = 2;
      break;
    default:
      break;
  }
}

// The number of items of the largest operand, which decides whether a region is
// tried; of ragged rows the items of all rows.
static int64_t most_items(const operands *x) {
  int64_t most = 0;
  for (int i = 0; i < x->count; i++) {
    const tl_slot *s = x->in[i];
    if (tl_is_form(*s, TL_FORM_RAGGED))
      s = &s->nested->parts[1];
    int64_t items = tl_items_of(s);
    if (items > most)
      most = items;
  }
  return most;
}

// Applies one operation to all operands and ends those that end. *out is
// written last, as it may be an operand's slot.
static bool apply(tl_vm *vm, tl_op op, const operands *x, tl_slot *out) {
  tl_slot slots[3], result;
  // A mapped file that was lost, or an interrupt, comes before the operation.
  if (vm->interrupted != 0 && !tl_poll(vm, 0))
    return false;
  for (int i = 0; i < x->count; i++)
    slots[i] = tl_operand_read(x->in[i], x->modes[i]);
  bool truth;
  if (x->count == 2 && tl_ops[op].rule == TL_RULE_COMPARE &&
      tl_compare_at_once(op, slots[0], slots[1], &truth)) {
    for (int i = 0; i < 2; i++) tl_operand_end(vm, slots[i]);
    *out = tl_bool(truth);
    return true;
  }
  bool asked = vm->has_contracts &&
               vm->observer->contract_holds(vm, (uint32_t)x->count, slots);
  if (!tl_elementwise_kept(vm, op, slots, &result) ||
      (asked && !vm->observer->contract_makes(vm, result, TL_WHY_RESULT)))
    return false;
  for (int i = 0; i < x->count; i++) tl_operand_end(vm, slots[i]);
  tl_copy_slot(out, &result);
  return true;
}

// Whether another operand lies in the block of operand [at].
static bool is_shared(const operands *x, int at) {
  const tl_array *block = tl_array_owner(x->in[at]->array);
  for (int i = 0; i < x->count; i++)
    if (i != at && tl_is_array(*x->in[i]) &&
        tl_array_owner(x->in[i]->array) == block)
      return true;
  return false;
}

// Operands that end and are all that is left of an array, such as flip(x) or
// x[1:], are put in order where they lie: the result can go there. What gives
// bools of numbers has memory of its own, so nothing moves for it.
static bool settle(tl_vm *vm, tl_slot *base, tl_op op, const operands *x) {
  if (tl_ops[op].rule == TL_RULE_COMPARE || tl_ops[op].rule == TL_RULE_TEST)
    return true;
  for (int i = 0; i < x->count; i++) {
    const tl_slot *s = x->in[i];
    bool ends = x->modes[i] == TL_MODE_CONSUME || x->modes[i] == TL_MODE_EITHER;
    if (ends && tl_is_array(*s) && tl_is_view(s->array) && !is_shared(x, i) &&
        !tl_array_settle(vm, base + (s - base)))
      return false;
  }
  return true;
}

// First asks for a region, which then continues behind all of its instructions;
// else this operation runs alone.
const tl_ins *tl_do_elementwise(tl_vm *vm, const tl_prototype *function,
                                tl_slot *base, const tl_ins *ins) {
  operands x;
  find_operands(function, base, ins, &x);
  int64_t items = most_items(&x);
  // The operation that the opcode, or the extra of an ELEM, names.
  tl_op op = tl_region_op(ins->op, tl_ins_extra(ins[1]));
  if ((items >= TL_REGION_LARGE || function->has_contracts) &&
      !settle(vm, base, op, &x))
    return NULL;
  if (tl_may_fuse(function, ins, items)) {
    const tl_ins *next;
    tl_region_status status =
        tl_region_run(vm, function, base, ins, items, &next);
    if (status == TL_REGION_DONE)
      return next;
    if (status == TL_REGION_FAILED)
      return NULL;
  }
  return apply(vm, op, &x, SLOT(ins->a)) ? ins + x.words : NULL;
}

// No region begins with strings. *a is written last, as it may be an operand's
// slot.
bool tl_do_concat(tl_vm *vm, tl_slot *a, const tl_slot *b, const tl_slot *c,
                  unsigned modes) {
  tl_slot left = tl_operand_read(b, modes & 3u);
  tl_slot right = tl_operand_read(c, modes >> 2 & 3u), joined;
  if ((vm->interrupted != 0 && !tl_poll(vm, 0)) ||
      !tl_strings_join(vm, &left, right, &joined))
    return false;
  tl_operand_end(vm, left);
  tl_operand_end(vm, right);
  tl_operand_put(a, joined);
  return true;
}

// The window is dropped here on failure because a call takes its arguments on
// every path, and the caller cannot know whether this one was run.
tl_region_status tl_do_host_loop(tl_vm *vm, const tl_prototype *function,
                                 tl_slot *base, const tl_ins *ins,
                                 const tl_ins **next) {
  tl_slot *window = SLOT(ins->a) + 1;
  const tl_builtin *builtin = function->constants[tl_ins_extra(ins[1])].pointer;
  // A call of a host's function is worth a region only for large arrays.
  int64_t items = 0;
  for (uint32_t i = 0; i < ins->b; i++)
    if (tl_items_of(&window[i]) > items)
      items = tl_items_of(&window[i]);
  if (items < TL_REGION_LARGE || function->region_count == 0 ||
      tl_region_call(builtin) != TL_STEP_HOST)
    return TL_REGION_DECLINED;
  tl_region_status status = tl_region_run(vm, function, base, ins, items, next);
  for (uint32_t i = 0; status == TL_REGION_FAILED && i < ins->b; i++)
    tl_drop(vm, window[i]);
  return status;
}

// The result is dropped in any case: a branch keeps only the bool.
bool tl_do_compare(tl_vm *vm, tl_op op, const tl_slot *b, unsigned b_mode,
                   const tl_slot *c, unsigned c_mode, bool *truth) {
  tl_slot result = tl_none();
  // Both operands are borrowed until it is known that the result is one bool:
  // what fails has consumed nothing.
  operands x = {.count = 2, .in = {b, c}};
  tl_slot ends[2] = {tl_operand_read(b, b_mode & 3u),
                     tl_operand_read(c, c_mode & 3u)};
  bool parts = (op == TL_OP_EQUAL || op == TL_OP_NOT_EQUAL) &&
               ((tl_is_list(*b) && tl_is_list(*c)) ||
                (tl_is_record(*b) && tl_is_record(*c)));
  bool ok = true;
  if (parts) {  // lists and records are equal part by part
    *truth = vm->nested->equal(vm, *b, *c) == (op == TL_OP_EQUAL);
    ok = !tl_failed(vm);
  } else if (!tl_compare_at_once(op, *b, *c, truth)) {
    ok = apply(vm, op, &x, &result) && tl_do_truth(vm, result, truth);
    tl_drop(vm, result);
  }
  for (int i = 0; ok && i < 2; i++) tl_operand_end(vm, ends[i]);
  return ok;
}
