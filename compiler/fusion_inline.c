// Fusion: which calls of script functions may be read as part of their caller's
// regions. Of a closure the code around a call tells which function it is, and
// of other modules' functions a run: it reads whatever may be read.
#include "compiler/fusion_internal.h"

// Words of code: longer functions are worth their call, and reading them anew
// at each call would cost more than that.
enum { INLINE_WORDS = 48 };

// What an instruction is to a region, where calls are looked into:
//
//   OWN     only of a function that is called here, and of views
//   CALLB   by the built-in's own trait
//   CALL    of a function that is known: if that may be inlined; of one that is
//           not known, by position: yes, and the run decides
tl_region_step tl_fusion_step(const tl_writers *w, uint32_t pc,
                              const tl_decoded *d) {
  tl_region_step kind = tl_region_step_of(d->op, d->extra);
  if (d->op == TL_BC_OWN && !tl_region_may_own(w, pc, d->operands[0]))
    return TL_STEP_NONE;
  if (kind == TL_STEP_CALL)
    return tl_region_call(w->p->constants[d->extra].pointer);
  if (kind != TL_STEP_INLINE)
    return kind;
  tl_prototype *callee = tl_region_find_callee(w, pc, d);
  if (callee == NULL)
    return d->op == TL_BC_CALL && d->extra == 0 ? kind : TL_STEP_NONE;
  tl_fusion_find_joins(callee);
  bool whole = callee->param_count == d->window_count;
  return whole && callee->joins >= TL_JOINS ? kind : TL_STEP_NONE;
}

// Whether the step needs its array to exist as such, because a view is made of
// it: an index, a roll, or a call of a function that does so inside.
bool tl_fusion_takes_views(const tl_writers *w, uint32_t pc,
                           const tl_decoded *d, tl_region_step kind) {
  if (kind != TL_STEP_INLINE)
    return kind == TL_STEP_VIEW || kind == TL_STEP_ROLL ||
           kind == TL_STEP_LENGTH;
  const tl_prototype *callee = tl_region_find_callee(w, pc, d);
  return callee != NULL && callee->joins == TL_JOINS_VIEWS;
}

// By the rule of the operation's result; bitwise operations of bool give bool.
bool tl_fusion_makes_mask(tl_op op) {
  switch ((tl_rule)tl_ops[op].rule) {
    case TL_RULE_COMPARE:
    case TL_RULE_LOGICAL:
    case TL_RULE_TEST:
    case TL_RULE_BITWISE:
      return true;
    default:
      return false;
  }
}

// The operation whose result a slot holds at [end]; TL_OP_COUNT: none.
static tl_op operation_at(const tl_prototype *p, uint32_t end, uint32_t slot) {
  uint32_t at;
  tl_decoded d;
  return tl_writers_find(&(tl_writers){.p = p}, end, slot, &at, &d)
             ? tl_region_op(d.op, d.extra)
             : TL_OP_COUNT;
}

// Whether it takes the items of a mask that is computed here: that ends a
// region.
static bool selects(const tl_prototype *p, uint32_t pc, const tl_decoded *d) {
  if (d->op != TL_BC_GETEL)
    return false;
  tl_op op = operation_at(p, pc, d->operands[1]);
  return op != TL_OP_COUNT && tl_fusion_makes_mask(op);
}

// Jumps of any kind, but for JSET, which skips a parameter's default, and for
// LOOP, which goes backward: with those a function is not inlined.
static bool is_branch(uint8_t opcode) {
  tl_format format = (tl_format)tl_opcodes[opcode].format;
  return opcode != TL_BC_JSET && opcode != TL_BC_LOOP &&
         format != TL_FORMAT_LOOP && tl_formats[format].jump != 0;
}

// A function of operations in a row may be read as part of its caller.
static tl_inlining find_joins(tl_prototype *p) {
  tl_inlining found = TL_JOINS;
  int operations = 0;
  tl_writers writers = {.p = p};
  tl_decoded d;
  if (p->code_count > INLINE_WORDS)
    return TL_JOINS_NOT_LONG;
  if (p->handler_count > 0)
    return TL_JOINS_NOT_CATCHES;
  for (uint32_t pc = 0; pc < p->code_count; pc += d.words) {
    tl_decode(p, pc, &d);
    // A branch forward goes where the numbers lead that are there when the call
    // is read; types of parameters are checked then.
    if (d.op == TL_BC_RET || d.op == TL_BC_CHECKTYPES ||
        (is_branch(d.op) && d.target > (int64_t)pc))
      continue;
    tl_region_step kind = tl_fusion_step(&writers, pc, &d);
    if (kind == TL_STEP_NONE || kind == TL_STEP_PLACE || kind == TL_STEP_CALL ||
        selects(p, pc, &d)) {
      p->joins_not = pc;
      return TL_JOINS_NOT_HERE;
    }
    if (tl_fusion_takes_views(&writers, pc, &d, kind))
      found = TL_JOINS_VIEWS;
    operations += kind == TL_STEP_OPERATION || kind >= TL_STEP_CAST;
  }
  return operations > 0 ? found : TL_JOINS_NOT;
}

// Found once for each function. A recursive one finds itself marked as not
// inlined, and the search ends.
void tl_fusion_find_joins(tl_prototype *p) {
  if (p->joins != TL_JOINS_UNKNOWN)
    return;
  p->joins = TL_JOINS_NOT;  // while it is looked at: it may call itself
  p->joins = (uint8_t)find_joins(p);
}
