// Operations on short arrays whose result is in the memory of an operand that
// ends: a unit computes them itself, as it allocates nothing by that.
//
//     t8 = mul x, y
//     z = add t8!, z!      z = short x multiply y add z      exit 28
//
// That is what the interpreter does by vm/engine/short.c, two instructions at
// once where the compiler has said that they may be joined. The tags of the
// operands are known; the lengths, and that nobody else owns what is written,
// are tested each time. All else is left to C: results with memory of their
// own, lengths that differ, arrays that a region may take.
#include "vm/native/typing.h"

#include "vm/kernels/kernels.h"
#include "vm/native/jit_internal.h"
#include "vm/region/region.h"

// An operand: its slot or constant, and whether its array ends here.
typedef struct short_operand {
  tl_typing_operand is;
  uint64_t tag;  // of a slot
  bool is_array, ends;
} short_operand;

// As in vm/engine/short.c, two at once are of so many items at most, one is of
// so many as go without a poll.
enum { MOST_JOINED = 256, MOST = 16384 };

int32_t tl_jit_short_limit(const tl_prototype *function, uint32_t pc,
                           bool joined) {
  int32_t limit = (joined ? MOST_JOINED : MOST) + 1;
  const int power =
      function->region_count == 0 ? TL_NO_REGION : function->region_items[pc];
  return power < 31 && 1 << power < limit ? 1 << power : limit;
}

static short_operand operand_of(const tl_typing_pass *x, tl_typing_operand is,
                                unsigned mode) {
  short_operand o = {.is = is};
  if (is.slot < 0 || tl_jit_is_scalar(is.type))
    return o;
  o.tag = tl_jit_tag_of(x->unit, (uint32_t)is.slot, is.type);
  o.is_array = tl_tag_is_short(o.tag);
  mode &= 3u;
  o.ends =
      (mode == TL_MODE_CONSUME || mode == TL_MODE_EITHER) && tl_tag_owns(o.tag);
  return o;
}

// Whether a number takes the array's dtype without a general promotion: it has
// that, or is weak.
static bool meets(const short_operand *o, tl_dtype dtype) {
  return tl_jit_is_scalar(o->is.type) &&
         (tl_jit_dtype(o->is.type) == dtype ||
          ((o->is.type & TL_TYPE_WEAK) != 0 &&
           (tl_jit_is_float(o->is.type) || tl_jit_is_integer(o->is.type))));
}

// The one operand that ends; NULL: none or several do.
static const short_operand *find_ending(const short_operand *o, int count) {
  const short_operand *found = NULL;
  for (int i = 0; i < count; i++) {
    if (o[i].ends && found != NULL)
      return NULL;
    found = o[i].ends ? &o[i] : found;
  }
  return found;
}

// Whether the operands are arrays of one dtype, or one of two is a number that
// meets it.
static bool are_alike(const short_operand *o, int count, tl_dtype dtype) {
  for (int i = 0; i < count; i++)
    if (o[i].is_array ? (tl_dtype)(o[i].tag >> 8 & 0xff) != dtype
                      : count > 2 || !meets(&o[i], dtype))
      return false;
  return true;
}

// Appends b op c, and with o[2] the next instruction's operation, whose result
// is in slot [a]. NULL: nothing was appended.
static tl_typed *put(tl_typing_pass *x, tl_op op, uint32_t a,
                     const short_operand *o, int count) {
  const short_operand *target = find_ending(o, count);
  if (target == NULL || !target->is_array || op > TL_OP_DIVIDE)
    return NULL;
  const tl_dtype dtype = (tl_dtype)(target->tag >> 8 & 0xff);
  tl_jit_type type = are_alike(o, count, dtype) ? tl_typing_type(x, target->tag)
                                                : TL_TYPE_UNKNOWN;
  int taken = target->is.slot;
  if (type == TL_TYPE_UNKNOWN)
    return NULL;
  // From here on the unit is one for these tags.
  for (int i = 0; i < count; i++)
    if (o[i].is_array)
      tl_typing_tag(x, (uint32_t)o[i].is.slot);
  tl_typed *t =
      tl_typing_set(x, TL_TYPED_SHORT, a, type, tl_typing_register(&o[0].is),
                    tl_typing_register(&o[1].is));
  if ((uint32_t)taken != a)
    x->now[taken] = TL_TYPE_UNKNOWN;
  t->condition = (uint8_t)op;
  t->dtype = (uint8_t)dtype;
  t->d = count > 2 ? (int16_t)o[2].is.slot : TL_JIT_NONE;
  t->e = (int16_t)taken;
  if (t->c < 0)
    t->imm = tl_typing_bits(&o[1].is, dtype);
  x->code->vm->jit->has_short = true;
  return t;
}

// Both of two instructions, of three arrays.
static bool put_two(tl_typing_pass *x, const tl_ins *ins, tl_op op,
                    short_operand *o) {
  const tl_ins *next = ins + 1;
  bool left = next->b == ins->a;
  uint32_t d = (uint32_t)(left ? next->c : next->b) >> 4;
  o[2] = operand_of(x, tl_typing_slot(x, d),
                    left ? next->modes >> 2 : next->modes);
  tl_typed *t = o[2].is_array ? put(x, op, next->a >> 4, o, 3) : NULL;
  if (t == NULL)
    return false;
  t->imm = (int64_t)tl_region_op(next->op, 0) | (left ? 0 : 1 << 8);
  x->then = x->pc + 2;
  return true;
}

// Nothing is appended for what C does better, as it has more ways, or where the
// processor has no vectors of 32 bytes that emit_short.c has code for.
tl_typing_step tl_typing_short(tl_typing_pass *x, const tl_ins *ins,
                               const tl_decoded *d) {
  const tl_vm *vm = x->code->vm;
  tl_op op = tl_region_op(ins->op, d->extra);
  if (op > TL_OP_DIVIDE || !TL_JIT_X64 ||
      strcmp(tl_kernels()->name, "base") == 0 || vm->no_reuse ||
      x->p->has_contracts || vm->jit->notes)
    return TL_TYPING_LEAVES;
  short_operand o[3];
  o[0] = operand_of(x, tl_typing_slot(x, ins->b >> 4), ins->modes);
  o[1] = operand_of(x, tl_typing_right(x, ins, false), ins->modes >> 2);
  if (tl_jit_is_joined(ins) && !x->flow->leads[x->pc + 1] &&
      put_two(x, ins, op, o))
    return TL_TYPING_GOES_ON;
  return put(x, op, ins->a >> 4, o, 2) != NULL ? TL_TYPING_GOES_ON
                                               : TL_TYPING_LEAVES;
}
