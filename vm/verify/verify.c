// The verifier's driver: is the code well formed, and do its states agree on
// every path?
//
// Bytecode is checked before it runs, whoever made it: what the compiler
// decided about ownership is not believed but proved again, by abstract
// interpretation. It knows opcodes, modes, unwind maps and summaries, and none
// of the compiler's reasons.
//
//   tl_verify ─ check_form       every field names something that is there
//             ─ start, search    states, to a fixpoint over all leaders; unwind
//                                maps against the states of the last visit
//             ─ visit_all        once more, where somebody wants to see or to
//                                be told what does not hold

#include "vm/bytecode/module.h"
#include "vm/elementwise.h"
#include "vm/verify/verify.h"
#include "vm/memory/reserve.h"

// --- Form -------------------------------------------------------------------

// Every operand must lie within the frame.
static bool check_slot(tl_checker *c, uint32_t slot) {
  return slot < c->p->slot_count || tl_refuse(c, slot, TL_RULE_BEYOND_FRAME);
}

static bool check_slots(tl_checker *c, const uint16_t *slots, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (!check_slot(c, slots[i]))
      return false;
  return true;
}

// How many functions are in the group of this one. UINT32_MAX where it is in
// none: it never runs as a closure, and SELF is itself whatever it carries.
static uint32_t member_limit(const tl_checker *c) {
  const tl_unit *unit = c->p->unit;
  uint32_t own = c->p->member;
  for (uint32_t i = 0; i < unit->group_count; i++) {
    const tl_group *group = &unit->groups[i];
    if (own < group->member_count && group->members[own] == c->p)
      return group->member_count;
  }
  return UINT32_MAX;
}

// The functions of the largest group: which group a closure is of only a run
// knows, and MEMBER looks there.
static uint32_t largest_group(const tl_checker *c) {
  const tl_unit *unit = c->p->unit;
  uint32_t most = 0;
  for (uint32_t i = 0; i < unit->group_count && most <= c->ins.extra; i++)
    if (unit->groups[i].member_count > most)
      most = unit->groups[i].member_count;
  return most;
}

// ELEM1 to ELEM3 carry an operation of so many operands: tables have rows for
// those alone.
static bool check_operation(tl_checker *c) {
  int op = c->ins.op;
  if (op != TL_BC_ELEM1 && op != TL_BC_ELEM2 && op != TL_BC_ELEM3)
    return true;
  return (c->ins.extra < TL_OP_COUNT &&
          tl_ops[c->ins.extra].arity == 1 + op - TL_BC_ELEM1) ||
         tl_refuse(c, 0, TL_RULE_BAD_INDEX);
}

// The limit of the index that the instruction carries; UINT32_MAX: it has none.
// The instruction's [extra] must be below it. Which table an index goes into is
// not in the opcode table, so each opcode that has one must be named here.
static uint32_t extra_limit(const tl_checker *c) {
  const tl_unit *unit = c->p->unit;
  switch (c->ins.op) {
    case TL_BC_LOADK:
    case TL_BC_CALLB:
      return c->p->constant_count;
    case TL_BC_CALLK:
      return unit->prototype_count;
    case TL_BC_CLOSURE:
      return unit->group_count;
    case TL_BC_RECORD:
    case TL_BC_FIELDS:
      return unit->key_count;
    case TL_BC_GETF:
    case TL_BC_IMPORT:
    case TL_BC_FORMAT:
    case TL_BC_CHECKSET:
      return unit->name_count;
    case TL_BC_INDEX:
    case TL_BC_TAKEEL:
    case TL_BC_TAKE:
    case TL_BC_UNTAKE:
    case TL_BC_SETPATH:
      return unit->path_count;
    case TL_BC_GETC:
      return c->p->capture_count;
    case TL_BC_MEMBER:
      return largest_group(c);
    case TL_BC_SELF:
      return c->ins.extra == c->p->member ? UINT32_MAX : member_limit(c);
    case TL_BC_GETG:
    case TL_BC_SETG:
    case TL_BC_TAKEG:
      return unit->module == NULL ? UINT32_MAX : unit->module->variable_count;
    case TL_BC_CALL:
      return unit->shape_count + 1;
    // Formats AKJUMP and ABK read two constants in a row, so the last index is
    // out of range for them.
    default:  // a literal stands beside itself as a float
      return tl_opcodes[c->ins.op].format == TL_FORMAT_AKJUMP ||
                     tl_opcodes[c->ins.op].format == TL_FORMAT_ABK
                 ? c->p->constant_count - (c->p->constant_count > 0)
                 : UINT32_MAX;
  }
}

// Whether [function] is the code of the module itself, which nobody may call:
// it alone may assign variables that others take for invariant.
static bool is_own_code(const tl_checker *c, const tl_prototype *function) {
  return c->p->unit->invariant_words > 0 &&
         function == c->p->unit->prototypes[0];
}

// A call's target must be there and take that many arguments.
// What a value that is called takes is not known before it runs; CALL checks
// that itself.
static bool check_callee(tl_checker *c) {
  if (c->ins.op == TL_BC_CALLK) {
    const tl_prototype *callee = c->p->unit->prototypes[c->ins.extra];
    if (is_own_code(c, callee))
      return tl_refuse(c, 0, TL_RULE_CODE_AS_VALUE);
    return callee->param_count == c->ins.window_count ||
           tl_refuse(c, 0, TL_RULE_BAD_COUNT);
  }
  if (c->ins.op != TL_BC_CALLB)
    return true;
  tl_slot callee = c->p->constants[c->ins.extra];
  if (!tl_is_kind(callee, TL_KIND_BUILTIN))
    return tl_refuse(c, 0, TL_RULE_NO_BUILTIN);
  const tl_builtin *builtin = callee.pointer;
  if (c->ins.back < 0)
    return true;
  if (!tl_builtin_restores(builtin) || c->ins.window_count == 0)
    return tl_refuse(c, 0, TL_RULE_NOTHING_BACK);
  return check_slot(c, (uint32_t)c->ins.back);
}

// Whoever calls a value knows no summary, and gives what dies to the callee.
// So no parameter may only borrow: what dies as its argument would leak.
static bool check_value(tl_checker *c, const tl_prototype *function) {
  const tl_summary *s = &function->summary;
  // It alone may assign steady variables, as no other call of its unit is under
  // way where it runs.
  if (is_own_code(c, function))
    return tl_refuse(c, 0, TL_RULE_CODE_AS_VALUE);
  for (uint32_t i = 0; s->param_modes != NULL && i < function->param_count; i++)
    if (s->param_modes[i] == TL_MODE_BORROW)
      return tl_refuse(c, 0, TL_RULE_VALUE_BORROWS);
  return true;
}

// Functions that become values, as constants or as closures.
static bool check_values(tl_checker *c) {
  const tl_unit *unit = c->p->unit;
  if (c->ins.op == TL_BC_LOADK &&
      tl_is_kind(c->p->constants[c->ins.extra], TL_KIND_FUNCTION))
    return check_value(c, tl_function_prototype(c->p->constants[c->ins.extra]));
  if (c->ins.op != TL_BC_CLOSURE)
    return true;
  const tl_group *group = &unit->groups[c->ins.extra];
  for (uint32_t i = 0; i < group->member_count; i++)
    if (!check_value(c, group->members[i]))
      return false;
  return true;
}

// Whether every field of the current instruction names something that is
// there.
// Of results and windows the last slot is checked, since all others are below
// it. Limits of indices come before what is looked up by them.
static bool check_fields(tl_checker *c) {
  if (!check_slots(c, c->ins.operands, c->ins.operand_count))
    return false;
  if (c->ins.result_count > 0 &&
      !check_slot(c, (uint32_t)c->ins.result + c->ins.result_count - 1))
    return false;
  if (c->ins.window_count > 0 &&
      !check_slot(c, c->ins.window + c->ins.window_count - 1))
    return false;
  if (tl_opcodes[c->ins.op].format == TL_FORMAT_LOOP &&
      !check_slot(c, c->ins.operands[0] + (c->ins.op == TL_BC_MORE ? 1u : 2u)))
    return false;
  if (c->ins.op == TL_BC_NEXT && !check_slot(c, c->ins.operands[0] + 1u))
    return false;
  uint32_t limit = extra_limit(c), extra = c->ins.extra;
  if (c->ins.op == TL_BC_GETC)
    extra &= 0x7fffffffu;  // the top bit: no check is needed
  if (limit != UINT32_MAX && extra >= limit)
    return tl_refuse(c, 0, TL_RULE_BAD_INDEX);
  return check_operation(c) && check_callee(c) && check_values(c);
}

// Decodes the instruction at c->pc, which must be whole.
// Nothing of the instruction is believed before: an opcode out of range would
// index the tables of opcodes.
static bool read_ins(tl_checker *c) {
  const tl_prototype *p = c->p;
  if (p->code[c->pc].op >= TL_OPCODE_COUNT ||
      p->code[c->pc].op == TL_BC_EXTRA) {
    c->ins.op = p->code[c->pc].op;
    return tl_refuse(c, 0, TL_RULE_NO_INS);
  }
  tl_decode(p, c->pc, &c->ins);
  if (c->pc + c->ins.words > p->code_count)
    return tl_refuse(c, 0, TL_RULE_CUT_OFF);
  if (c->ins.words == 2 && p->code[c->pc + 1].op != TL_BC_EXTRA)
    return tl_refuse(c, 0, TL_RULE_NO_SECOND_WORD);
  return true;
}

// What is done with the next instruction leaves its own result out: that must
// use it up, beside something else. (It may itself be done with the next one.)
static bool check_joined(tl_checker *c) {
  const tl_ins *first = &c->p->code[c->pc], *second = first + 1;
  if (!tl_may_join(first->op) || (first->modes & TL_WITH_NEXT) == 0)
    return true;
  bool left = second->b == first->a;
  uint16_t used = left ? second->b : second->c;
  uint16_t beside = left ? second->c : second->b;
  unsigned mode = second->modes >> (left ? 0 : 2) & 3u;
  return (tl_may_join(second->op) && used == first->a && beside != first->a &&
          (mode == TL_MODE_CONSUME || mode == TL_MODE_EITHER)) ||
         tl_refuse(c, 0, TL_RULE_NO_SECOND);
}

// A jump may lead to [pc]: it must be the first word of an instruction.
static bool mark_leader(tl_checker *c, int64_t pc) {
  if (pc < 0 || pc >= c->p->code_count || c->p->code[pc].op == TL_BC_EXTRA)
    return tl_refuse(c, 0, TL_RULE_NO_TARGET);
  c->points[pc].is_leader = true;
  return true;
}

// Before anything is interpreted, all code is decoded once: opcodes, operands,
// jumps, handlers and unwind ranges must name what is there.
// Leaders are marked on the way: where jumps and handlers lead, states of
// several paths will be joined.
static bool check_form(tl_checker *c) {
  const tl_prototype *p = c->p;
  for (c->pc = 0; c->pc < p->code_count; c->pc += c->ins.words) {
    if (!read_ins(c) || !check_fields(c))
      return false;
    if (c->ins.target >= 0 && !mark_leader(c, c->ins.target))
      return false;
    if (c->ins.falls_through && c->pc + c->ins.words >= p->code_count)
      return tl_refuse(c, 0, TL_RULE_RUNS_OVER);
    if (!check_joined(c))
      return false;
  }
  c->pc = 0;
  for (uint32_t i = 0; i < p->range_count; i++)
    if (!check_slot(c, p->ranges[i].slot))
      return false;
  for (uint32_t i = 0; i < p->handler_count; i++) {
    const tl_handler *h = &p->handlers[i];
    if (!mark_leader(c, h->handler))
      return false;
    if (!check_slots(c, h->kept, h->kept_count) ||
        !check_slots(c, h->own, h->own_count))
      return false;
  }
  return p->code_count > 0 || tl_refuse(c, 0, TL_RULE_NO_CODE);
}

// --- The search -------------------------------------------------------------

static void clear(tl_slot_list *list) {
  while (list->count > 0) list->has[list->slots[--list->count]] = false;
}

// Makes the states joined at a leader the current ones.
// What the path before has left is cleared, and both lists begin anew.
static void load_point(tl_checker *c, const tl_join_point *point) {
  for (uint32_t y = 0; y < c->p->slot_count; y++) c->now[y].kind = TL_ABSENT;
  clear(&c->busy);
  clear(&c->borrowers);
  for (uint32_t i = 0; i < point->count; i++) {
    c->now[point->states[i].slot] = point->states[i].state;
    tl_check_busy(c, point->states[i].slot);
  }
}

// From a leader on, to where the path ends or joins another.
// Its states go to the target of each jump on the way, and at its end to the
// next leader.
static bool follow(tl_checker *c, uint32_t pc) {
  c->leader = &c->points[pc];
  c->leader->refuted = false;
  load_point(c, c->leader);
  c->container_end = c->overflowed = -1;
  for (;;) {
    c->pc = pc;
    tl_decode(c->p, pc, &c->ins);
    if (c->visit != NULL)
      c->visit(c, c->context);
    if (!tl_check_ins(c))
      return false;
    if (c->ins.target >= 0 &&
        !tl_check_join(c, (uint32_t)c->ins.target, c->now))
      return false;
    if (!c->ins.falls_through)
      return true;
    pc += c->ins.words;
    if (c->points[pc].is_leader)
      return c->container_end >= 0 ? tl_refuse(c, (uint32_t)c->container_end,
                                               TL_RULE_CONTAINER_END)
                                   : tl_check_join(c, pc, c->now);
  }
}

// The entry's states: parameters are the caller's, as the summary says.
// An argument that is only borrowed has the caller as owner for the whole call;
// any other may come owned or not, which its bit tells.
static bool start(tl_checker *c) {
  const tl_prototype *p = c->p;
  for (uint32_t i = 0; i < p->param_count; i++) {
    bool lent = p->summary.param_modes != NULL &&
                p->summary.param_modes[i] == TL_MODE_BORROW;
    c->now[i] = tl_state_borrowed(lent ? TL_BORROWS : TL_EITHER,
                                  TL_WHO_CALLER + i, TL_SAME);
  }
  c->points[0].is_leader = true;
  c->pc = 0;
  return tl_check_join(c, 0, c->now);
}

// Follows leaders whose states have changed until none has.
// The first one in the code comes first, so that of most all paths have been
// followed before. Any order ends at the same fixpoint, since joins only add.
static bool search(tl_checker *c) {
  while (c->next < c->p->code_count) {
    uint32_t pc = c->next++;
    if (!c->points[pc].dirty)
      continue;
    c->points[pc].dirty = false;
    if (!follow(c, pc))
      return false;
  }
  return true;
}

// Once more over what was reached, where an unwind map does not hold, which is
// reported now, or somebody wants to see the final states.
// A path is followed from each leader that was reached to the next one, so each
// instruction is visited once.
static bool visit_all(tl_checker *c,
                      void (*visit)(tl_checker *checker, void *context),
                      void *context) {
  c->visit = visit;
  c->context = context;
  c->settled = true;
  for (uint32_t pc = 0; pc < c->p->code_count; pc++)
    if ((visit != NULL ? c->points[pc].reached : c->points[pc].refuted) &&
        !follow(c, pc))
      return false;
  return true;
}

// Which ranges lie over each stretch of code: counted, then filled in.
// A long script has thousands of ranges; with this each instruction looks only
// at those over its own stretch of TL_STRETCH.
//
//     stretch_starts  [0, 2, 2, 5]      over stretch 0 lie ranges 0 and 3,
//     stretch_ranges  [0, 3, 1, 2, 4]   over 1 none, over 2 the other three
static bool index_ranges(tl_checker *c) {
  const tl_prototype *p = c->p;
  uint32_t stretches = p->code_count / TL_STRETCH + 2, total = 0;
  c->stretch_starts = tl_alloc_zeroed(c->vm, stretches * sizeof(uint32_t),
                                      "the verifier's ranges");
  if (c->stretch_starts == NULL)
    return false;
  for (uint32_t i = 0; i < p->range_count; i++) {
    const tl_unwind_range *r = &p->ranges[i];
    if (r->start >= r->end || r->end > p->code_count)
      return tl_refuse(c, r->slot, TL_RULE_NO_RANGE);
    for (uint32_t s = r->start / TL_STRETCH; s <= (r->end - 1) / TL_STRETCH;
         s++, total++)
      c->stretch_starts[s]++;
  }
  c->stretch_ranges =
      tl_alloc(c->vm, (total + 1) * sizeof(uint32_t), "the verifier's ranges");
  if (c->stretch_ranges == NULL)
    return false;
  c->stretch_total = total;
  for (uint32_t s = 0, sum = 0; s < stretches; s++)
    c->stretch_starts[s] = sum += c->stretch_starts[s];
  for (uint32_t i = p->range_count; i-- > 0;)
    for (uint32_t s = p->ranges[i].start / TL_STRETCH;
         s <= (p->ranges[i].end - 1) / TL_STRETCH; s++)
      c->stretch_ranges[--c->stretch_starts[s]] = i;
  return true;
}

// Gives back what index_ranges allocated.
static void free_index(tl_checker *c) {
  uint32_t stretches = c->p->code_count / TL_STRETCH + 2;
  if (c->stretch_starts != NULL)
    tl_free(c->vm, c->stretch_starts, stretches * sizeof(uint32_t));
  if (c->stretch_ranges != NULL)
    tl_free(c->vm, c->stretch_ranges,
            (c->stretch_total + 1) * sizeof(uint32_t));
}

// Of several around an instruction the first is meant, as when one is unwound.
// Written from the last to the first, so that the first one stands there in the
// end.
static void index_handlers(tl_checker *c) {
  const tl_prototype *p = c->p;
  for (uint32_t i = p->handler_count; i-- > 0;) {
    const tl_handler *h = &p->handlers[i];
    for (uint32_t pc = h->start; pc < h->end && pc < p->code_count; pc++)
      c->points[pc].handler = i + 1;
  }
}

// The tables lie in one block, those of the strictest alignment first.
bool tl_verify_with(tl_vm *vm, tl_prototype *p,
                    void (*visit)(tl_checker *checker, void *context),
                    void *context) {
  tl_checker c = {.vm = vm, .p = p};
  size_t slots = p->slot_count, words = p->code_count;
  size_t nbytes =
      words * sizeof *c.points +
      slots * (2 * sizeof *c.now + 2 * sizeof *c.busy.slots + sizeof *c.mapped +
               2 * sizeof *c.busy.has + sizeof *c.marks);
  void *block = tl_alloc_zeroed(vm, nbytes, "the verifier's states");
  if (block == NULL)
    return false;
  c.points = block;
  c.now = (void *)(c.points + words);
  c.error = c.now + slots;
  c.busy.slots = (void *)(c.error + slots);
  c.borrowers.slots = c.busy.slots + slots;
  c.mapped = c.borrowers.slots + slots;
  c.busy.has = (void *)(c.mapped + slots);
  c.borrowers.has = c.busy.has + slots;
  c.marks = (void *)(c.borrowers.has + slots);
  index_handlers(&c);
  bool ok = check_form(&c) && index_ranges(&c) && start(&c) && search(&c) &&
            visit_all(&c, visit, context);
  for (uint32_t i = 0; i < p->code_count; i++)
    if (c.points[i].states != NULL)
      tl_free(vm, c.points[i].states,
              c.points[i].capacity * sizeof *c.points[i].states);
  free_index(&c);
  tl_free(vm, block, nbytes);
  return ok;
}

#ifdef TALLY_AUDIT
// Notes for the auditor which slots may own before each instruction.
static void note_owners(tl_checker *c, void *context) {
  size_t words = (c->p->slot_count + 63) / 64;
  uint64_t *set = (uint64_t *)context + c->pc * words;
  for (uint32_t y = 0; y < c->p->slot_count; y++)
    if (tl_state_owns(&c->now[y]))
      set[y / 64] |= UINT64_C(1) << (y & 63);
}

static bool verify(tl_vm *vm, tl_prototype *p) {
  size_t words = (p->slot_count + 63) / 64 * p->code_count;
  uint64_t *sets = tl_unit_alloc(vm, p->unit, words * sizeof *sets);
  if (sets == NULL || !tl_verify_with(vm, p, note_owners, sets))
    return false;
  p->owners_at = sets;
  return true;
}
#else
static bool verify(tl_vm *vm, tl_prototype *p) {
  return tl_verify_with(vm, p, NULL, NULL);
}
#endif

// A function is verified once, when it is first called. The answer is kept,
// but for a lack of memory.
bool tl_verify(tl_vm *vm, tl_prototype *function) {
  if (function->verified == 1)
    return true;
  size_t before = tl_reserve(vm, TL_RESERVE);
  bool ok = verify(vm, function);
  tl_reserve(vm, before);
  // A lack of memory says nothing about the code.
  function->verified = ok ? 1 : vm->error.status == TALLY_ERR_HOST ? 2 : 0;
  return ok;
}
