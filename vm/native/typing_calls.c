// Typing of calls of known functions, and of what functions give back.
//
//     caller's slots    … │ a │ argument 0 │ argument 1 │ …
//                           ▲   └ the callee's slot 0
//                           └ its result; several stand from argument 0 on
//
// A unit is made for the tags of the arguments, the owned bit among them,
// and says with which tags its results come back. So a caller goes on without
// looking, and nothing is counted on the way in or out:
//
//     r, k = moved(r, k)        arguments   owned record, weak int64
//     fn moved(r, k) {          r moves to slot 0 of the callee, which
//       r.n += 1                updates it in place: it has one owner
//       r, k + 1                no list is made: both go back side by side,
//     }                         to where UNPACK would have put them
//
// What the callee owns and does not give back it would have to drop, which no
// unit does: there it leaves, with all its callers.
#include "vm/native/typing.h"

#include "vm/native/jit_internal.h"

// The functions that are called by the instruction; of a value those that it
// was when frames came by. Returns how many; 0: none is known, or its arguments
// have to be bound. The code compares the value each time, and the tag says
// whether it is a closure. Who has in-place contracts looks at what is called.
static int called_functions(tl_typing_pass *x, const tl_ins *ins,
                            tl_prototype **functions) {
  uint32_t b = ins->b >> 4;
  if (ins->op == TL_BC_CALLK) {
    functions[0] = x->p->constants[tl_ins_extra(ins[1])].pointer;
    return 1;
  }
  if (b > ins->a >> 4 || tl_ins_extra(ins[1]) != 0 || x->p->has_contracts ||
      !tl_tag_is_function(tl_typing_tag(x, b)))
    return 0;
  const uint64_t *seen = &x->flow->seen[2 * x->pc];
  int count = 0;
  x->is_unseen |= seen[0] == 0;
  for (int i = 0; i < TL_JIT_CALLED; i++) {
    functions[count] = tl_jit_find_function(x->code->vm, seen[i]);
    count += functions[count] != NULL;
  }
  return count;
}

// The unit that is called counts as one of this unit's; false: there are too
// many. It counts even if its result is not known yet, as when an item in it
// was not seen. Where one of them goes, as its function has learned something,
// this one goes as well: the code has the address of the callee's [code] field.
static bool add_callee(tl_jit_unit *u, tl_jit_unit *callee) {
  for (uint32_t i = 0; i < u->callee_count; i++)
    if (u->callees[i] == callee)
      return true;
  if (u->callee_count == TL_JIT_CALLEES)
    return false;
  u->callees[u->callee_count++] = callee;
  return true;
}

// The instruction behind a call that takes its result apart: into as many names
// as results, no rest; NULL: none does. Nothing may jump between the two, since
// there the list would have to exist. It may move first, and what owns nothing
// ends without a trace:
//
//     t13 = callk f(t14, t15)    t5 = mov t13    drop t12    t6, t7 = unpack t5
static const tl_ins *taker_of(tl_typing_pass *x, const tl_ins *ins,
                              const tl_jit_unit *callee) {
  const tl_ins *then = ins + 2;
  uint16_t list = ins->a;
  if (then->op == TL_BC_MOV && then->b == list)
    list = then++->a;
  while (then->a != list &&
         (then->b != list || tl_jit_is_scalar(x->now[then->a >> 4])) &&
         tl_typing_is_idle(x, then))
    then++;
  for (const tl_ins *at = ins + 2; at <= then; at++)
    if (x->flow->leads[at - x->p->code])
      return NULL;
  return then->op == TL_BC_UNPACK && then->b == list &&
                 (then->modes & 3u) != TL_MODE_BORROW &&
                 then->a <= ins->a + 16 &&
                 tl_ins_extra(then[1]) == callee->result_count
             ? then
             : NULL;
}

// Whether the results of a call need not be moved to where they are wanted, or
// can be: those that vary stay where the callee has left them.
static bool may_move(const tl_ins *ins, const tl_ins *taker,
                     const tl_jit_unit *callee) {
  for (uint32_t i = 0; i < callee->result_count; i++)
    if (taker->a != ins->a + 16 && callee->result_tags[i] == 0)
      return false;
  return true;
}

// Moves them, from the first on, as they move down. What the callee has given
// the slot owns or borrows in its new place as it did.
static void move_results(tl_typing_pass *x, uint32_t to, uint32_t from,
                         uint32_t count) {
  for (uint32_t i = 0; i < count && to != from; i++) {
    tl_jit_type type = x->now[from + i];
    tl_typed_op op = !tl_jit_is_scalar(type) ? TL_TYPED_LEND
                     : tl_jit_is_float(type) ? TL_TYPED_FMOVE
                                             : TL_TYPED_MOVE;
    tl_typing_set(x, op, to + i, type, tl_jit_register(from + i, type),
                  TL_JIT_NONE);
    x->now[from + i] = TL_TYPE_UNKNOWN;
  }
}

// Whether the instruction behind a call returns its result as it is, so that
// several go on to this unit's caller.
static bool passes_row(const tl_typing_pass *x, const tl_ins *ins,
                       const tl_jit_unit *callee) {
  const tl_ins *then = ins + 2;
  return x->unit->is_function && then->op == TL_BC_RET && then->a == ins->a &&
         (then->modes >> 4 & 3u) != TL_MODE_BORROW &&
         !x->flow->leads[x->pc + 2] && (callee->owns || !x->unit->owns) &&
         (x->flow->varies[0] & TL_JIT_SINGLE) == 0;
}

// The types of the results in this unit, which numbers its tags by itself;
// false: there are too many tags. *types has room for TL_JIT_RESULTS.
static bool result_types(tl_typing_pass *x, const tl_jit_unit *callee,
                         tl_jit_type *types) {
  if (tl_jit_is_scalar(callee->result)) {
    types[0] = callee->result;
    return true;
  }
  for (uint32_t i = 0; i < callee->result_count; i++) {
    types[i] = callee->result_tags[i] == 0
                   ? TL_TYPE_MEMORY
                   : tl_typing_type(x, callee->result_tags[i]);
    if (types[i] == TL_TYPE_UNKNOWN)
      return false;
  }
  return true;
}

// The operation itself. Of several results each has its slot's memory behind
// it, and is loaded from there. Two exits: [before] where there is no room for
// the call, or the poll stops, with the arguments as they are; and [within],
// where the callee has left, with nothing from the result's slot on, which is
// the callee's by then.
static void put_call(tl_typing_pass *x, uint32_t a, int b, uint32_t count,
                     tl_jit_unit **callees, const tl_jit_type *types) {
  const tl_jit_unit *callee = callees[0];
  int32_t before = tl_typing_exit(x);
  tl_jit_type called = b < 0 ? TL_TYPE_UNKNOWN : x->now[b];
  // While the call is under way, what lives across it is in its slots.
  int32_t within =
      tl_typing_exit_with(x, x->pc, x->flow->live[x->pc] & (tl_jit_bit(a) - 1));
  for (uint32_t s = a; s < x->p->slot_count; s++) {
    x->now[s] = TL_TYPE_UNKNOWN;
    x->known &= ~tl_jit_bit(s);
  }
  tl_typed *t;
  if (callee->result == TL_TYPE_ROW) {
    t = tl_typing_put(x, TL_TYPED_ROWCALL, TL_JIT_NONE, b, TL_JIT_NONE);
    t->to = (int32_t)a;
    for (uint32_t i = 0; i < callee->result_count; i++)
      x->now[a + (callee->is_single ? 0 : 1) + i] = types[i];
    x->then = x->pc + (callee->is_single ? 2 : 4);
  } else {
    t = tl_typing_set(x, TL_TYPED_CALL, a, types[0], b, TL_JIT_NONE);
  }
  t->from[1] = called;
  t->d = (int16_t)count;
  t->imm = within;
  t->exit = before;
  memcpy(t->callees, callees, sizeof t->callees);
}

// The units that the instruction calls, with these arguments: the first whose
// result is known, and those that give the same. A value that is another
// function leaves.
static tl_typing_step find_units(tl_typing_pass *x, const tl_ins *ins,
                                 uint32_t count, const uint64_t *tags,
                                 tl_jit_unit **units) {
  tl_prototype *functions[TL_JIT_CALLED];
  int found = 0, function_count = called_functions(x, ins, functions);
  for (int i = 0; i < function_count; i++) {
    const tl_prototype *p = functions[i];
    if (!p->plain || p->param_count != count || p->slot_count > TL_JIT_SLOTS)
      continue;
    tl_jit_unit *unit = x->find(x->code->vm, functions[i], tags,
                                ins->op == TL_BC_CALL, x->defers);
    bool is_known = unit != NULL && unit->result != TL_TYPE_UNKNOWN;
    if (!is_known && !x->defers)
      return TL_TYPING_WAITS;
    if (unit != NULL && add_callee(x->unit, unit) && is_known &&
        (found == 0 || tl_jit_gives_same(units[0], unit)))
      units[found++] = unit;
  }
  return found > 0 ? TL_TYPING_GOES_ON : TL_TYPING_LEAVES;
}

// Whether the unit may give results of that type and those tags. The first
// return that is typed says what they are. One of others leaves, and it is
// noted what differs: units that are made after that has come up (learn.c) give
// such a result with its tag, and the caller looks at it. So none beside a
// number is a result like others.
//
//     return r, none        varies: bit 1
//     return r, 5           the first is a record each time
//     return none           varies: TL_JIT_SINGLE, so that lists are made
static bool agrees(tl_typing_pass *x, tl_jit_type type, uint32_t count,
                   const uint64_t *tags) {
  tl_jit_unit *u = x->unit;
  uint8_t *varies = x->flow->varies, differs = 0;
  if (u->result == TL_TYPE_UNKNOWN) {
    u->result = type;
    u->result_count = count;
    memcpy(u->result_tags, tags, count * sizeof *tags);
  }
  if (u->result != type || u->result_count != count)
    differs = TL_JIT_SINGLE;
  for (uint32_t i = 0; i < count && differs != TL_JIT_SINGLE; i++)
    if (u->result_tags[i] != tags[i])
      differs |= (uint8_t)(type == TL_TYPE_ROW ? 1u << i : TL_JIT_SINGLE);
  if (differs != TL_JIT_SINGLE || (varies[1] & ~varies[0]) == 0)
    varies[1] |= differs;
  return differs == 0;
}

// Appends the end with results that stand in slots side by side from [first].
static tl_typing_step put_row(tl_typing_pass *x, uint32_t first,
                              uint32_t count) {
  tl_typed *t = tl_typing_put_plain(x, TL_TYPED_ROWRETURN);
  t->d = (int16_t)first;
  t->imm = count;
  memcpy(t->from, &x->now[first], count);
  return TL_TYPING_ENDS;
}

// Whether several results of the callee may be this unit's.
static bool passes_on(tl_typing_pass *x, const tl_jit_unit *callee) {
  uint64_t tags[TL_JIT_RESULTS];
  for (uint32_t i = 0; i < callee->result_count; i++)
    tags[i] = (x->flow->varies[0] >> i & 1) != 0 ? 0 : callee->result_tags[i];
  return agrees(x, TL_TYPE_ROW, callee->result_count, tags);
}

// A call of a known function, or of a value that was one. While its result is
// not known, other paths come first: one of them will say it. A recursive
// function has its type by a path that does not recurse:
//
//     fn fib(n) {
//       if n < 2 { return n }        typed first: the result is int64
//       fib(n - 1) + fib(n - 2)      deferred until then
//     }
tl_typing_step tl_typing_call(tl_typing_pass *x, const tl_ins *ins) {
  bool owns = ins->op == TL_BC_CALL;
  uint32_t a = ins->a >> 4, count = owns ? ins->c : ins->b;
  uint64_t tags[TL_JIT_SLOTS] = {0};
  tl_jit_type types[TL_JIT_RESULTS] = {0};
  tl_jit_unit *units[TL_JIT_CALLED] = {NULL};
  for (uint32_t i = 0; i < count; i++) {
    tags[i] = tl_typing_tag(x, a + 1 + i);
    if (tags[i] == 0)
      return TL_TYPING_LEAVES;
  }
  tl_typing_step went = find_units(x, ins, count, tags, units);
  if (went != TL_TYPING_GOES_ON)
    return went;
  const tl_jit_unit *unit = units[0];
  if (!result_types(x, unit, types))
    return TL_TYPING_LEAVES;
  bool row = unit->result == TL_TYPE_ROW && !unit->is_single;
  bool passes = row && passes_row(x, ins, unit) && passes_on(x, unit);
  const tl_ins *taker = row && !passes ? taker_of(x, ins, unit) : NULL;
  if (row && !passes && (taker == NULL || !may_move(ins, taker, unit)))
    return TL_TYPING_LEAVES;
  put_call(x, a, owns ? ins->b >> 4 : TL_JIT_NONE, count, units, types);
  if (passes)
    return put_row(x, a + 1, unit->result_count);
  if (taker != NULL) {
    x->then = (uint32_t)(taker - x->p->code) + 2;
    move_results(x, taker->a >> 4, a + 1, unit->result_count);
  }
  uint64_t varied = 0, before[TL_JIT_SLOTS] = {0};
  for (uint32_t s = a; s < x->p->slot_count; s++)
    varied |= x->now[s] == TL_TYPE_MEMORY ? tl_jit_bit(s) : 0;
  // What other calls of the function gave is likely here, too.
  uint64_t *made = &x->flow->made[2 * x->pc];
  if (varied != 0 && made[0] == 0)
    memcpy(made, unit->results, 2 * sizeof *made);
  return tl_typing_fetch(x, ins, varied & x->flow->live[x->then], before);
}

// Has C make the slot's value an owner, which then is in its memory, whatever
// it is.
static tl_typing_step own_result(tl_typing_pass *x, const tl_ins *ins,
                                 uint32_t a) {
  uint64_t none = 0;
  if (x->now[a] == TL_TYPE_UNKNOWN || !agrees(x, TL_TYPE_ROW, 1, &none) ||
      tl_typing_one(x, ins, -1) == TL_TYPING_LEAVES)
    return TL_TYPING_LEAVES;
  x->unit->is_single = true;
  return put_row(x, a, 1);
}

// Functions return to their caller's machine code; a frame that the interpreter
// entered returns by the interpreter. What the slot owns and only lends is left
// to that too: the owned bit would have to go. What the result borrows from,
// the compiler's summary of the function says to the caller's bytecode.
tl_typing_step tl_typing_give_result(tl_typing_pass *x, const tl_ins *ins) {
  uint32_t a = ins->a >> 4;
  tl_jit_type type = x->now[a];
  uint64_t tag = tl_typing_tag(x, a), none = 0;
  bool whole = tl_jit_is_scalar(type);
  bool lends = (ins->modes >> 4 & 3u) == TL_MODE_BORROW;
  if (!x->unit->is_function || (lends && (tag == 0 || (tag & TL_OWNED) != 0)))
    return TL_TYPING_LEAVES;
  if (x->unit->owns && !tl_tag_owns_all(tag) &&
      !tl_jit_is_made_own(x->code, x->code->op_count, a))
    return own_result(x, ins, a);
  if ((x->flow->varies[0] & TL_JIT_SINGLE) != 0) {
    x->unit->is_single = true;
    return agrees(x, TL_TYPE_ROW, 1, &none) ? put_row(x, a, 1)
                                            : TL_TYPING_LEAVES;
  }
  if (tag == 0)
    x->flow->varies[1] |= TL_JIT_SINGLE;
  if (tag == 0 ||
      !agrees(x, whole ? type : TL_TYPE_REFERENCE, whole ? 0 : 1, &tag))
    return TL_TYPING_LEAVES;
  tl_typing_put(x, TL_TYPED_RETURN, tl_jit_register(a, type), TL_JIT_NONE,
                TL_JIT_NONE);
  return TL_TYPING_ENDS;
}

// A list that is made to be returned at once, of which the caller wants the
// items: these go back as they are, owned or borrowed, and no list is made;
// owned, where the list would become an owner of what it borrows. Of
// an array that does not own its data it is not known here whether it is a
// view, whose block may want a count.
tl_typing_step tl_typing_give_row(tl_typing_pass *x, const tl_ins *ins) {
  uint32_t a = ins->a >> 4, count = ins->b;
  const tl_ins *then = ins + 2;
  uint64_t tags[TL_JIT_RESULTS];
  bool owns = then->op == TL_BC_OWN && then->a == ins->a;
  then += owns;
  owns |= x->unit->owns;
  if (!x->unit->is_function || then->op != TL_BC_RET || then->a != ins->a ||
      (then->modes >> 4 & 3u) == TL_MODE_BORROW || count == 0 ||
      count > TL_JIT_RESULTS || x->flow->leads[x->pc + 2] ||
      x->flow->leads[then - x->p->code] ||
      (x->flow->varies[0] & TL_JIT_SINGLE) != 0)
    return TL_TYPING_LEAVES;
  for (uint32_t i = 0; i < count; i++) {
    tags[i] = tl_typing_tag(x, a + 1 + i);
    if (tags[i] == 0 || ((owns || (tags[i] & TL_CLASS_ARRAY) != 0) &&
                         !tl_tag_owns_all(tags[i])))
      return TL_TYPING_LEAVES;
    if ((x->flow->varies[0] >> i & 1) != 0)
      tags[i] = 0;
  }
  return agrees(x, TL_TYPE_ROW, count, tags) ? put_row(x, a + 1, count)
                                             : TL_TYPING_LEAVES;
}
