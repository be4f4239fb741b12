// The transfer function of the ownership analysis: one instruction.
//
// It decides for each operand whether the instruction may consume it, which is
// what a last use means, and puts in before the instruction whatever that
// needs: borrowers of a consumed slot become independent of it, operands that
// would be overwritten move aside. The steps and the rules (a) to (e) are told
// in docs/how-values-live.md.
#include <limits.h>

#include "compiler/ownership_internal.h"

// --- What an instruction does to module variables ---------------------------

// A library function that fails before it takes anything.
static bool fails_first(const tl_flow *flow, const tl_cfg_ins *ins) {
  const tl_builtin *builtin = tl_builtin_of(flow, ins);
  return builtin != NULL && tl_builtin_restores(builtin);
}

// Whether code may run that the compiler does not see: another module's, a
// function value's, a host's.
static bool runs_unknown_code(const tl_flow *flow, const tl_cfg_ins *ins) {
  switch (ins->op) {
    case TL_BC_CALL:
    case TL_BC_IMPORT:
    case TL_BC_SHOW:
      return true;
    case TL_BC_CALLB: {
      const tl_builtin *builtin = tl_builtin_of(flow, ins);
      return builtin == NULL || tl_builtin_calls(builtin);
    }
    default:
      return false;
  }
}

// Whether code that is not known may assign a variable: only if a function of
// this unit does. Where other units do, the old value waits
// (vm/bytecode/module.h).
static bool may_be_assigned(const tl_flow *flow, uint32_t global) {
  const tl_owned_program *program = flow->program;
  return program->cfg->is_conservative ||
         (int32_t)global / 64 >= program->global_words ||
         tl_bit(program->assigned, (int32_t)global);
}

// Whether the instruction may assign module variable [global], and so end what
// it lent.
static bool may_rebind(const tl_flow *flow, const tl_cfg_ins *ins, bool unknown,
                       uint32_t global) {
  if (ins->op == TL_BC_SETG || ins->op == TL_BC_TAKEG)
    return ins->extra == global;
  const tl_owned_function *callee = tl_callee_of(flow, ins);
  if (unknown || (callee != NULL && callee->rebinds_any))
    return may_be_assigned(flow, global);
  return callee != NULL &&
         ((int32_t)global / 64 >= flow->program->global_words ||
          (callee->rebinds != NULL &&
           tl_bit(callee->rebinds, (int32_t)global)));
}

// Notes that the function may assign any module variable, if so.
static void note_any_rebound(tl_owned_function *f, bool any) {
  f->has_changed |= any && !f->rebinds_any;
  f->rebinds_any |= any;
}

// Adds to the function's summary which module variables this instruction may
// assign.
static void note_rebinding(tl_flow *flow, const tl_cfg_ins *ins, bool unknown) {
  tl_owned_function *f = flow->function;
  const tl_owned_function *callee = tl_callee_of(flow, ins);
  note_any_rebound(f, unknown || (callee != NULL && callee->rebinds_any));
  if (ins->op == TL_BC_SETG || ins->op == TL_BC_TAKEG) {
    if ((int32_t)ins->extra / 64 < flow->program->global_words)
      tl_note_rebound(flow->program, f, (int32_t)ins->extra);
    else
      note_any_rebound(f, true);
  }
  if (callee != NULL && callee->rebinds != NULL)
    TL_EACH_BIT(g, callee->rebinds, flow->program->global_words)
  tl_note_rebound(flow->program, f, g);
}

// Notes that the borrow is good only as long as nobody assigns the variable
// during this call: the variable counts as invariant, and the unit says that
// it depends on that.
static void depend(tl_flow *flow, const tl_state *state) {
  for (int i = 0; i < state->count; i++) {
    uint32_t who = tl_borrow_owner_who(state->borrow_owners[i]);
    if (!tl_who_is_global(who))
      continue;
    tl_bit_set(flow->program->cfg->invariant, (int32_t)(who - TL_WHO_GLOBAL));
    flow->depends = true;
  }
}

// Step 1: what still borrows from a module variable is owned before the
// variable may change.
static void own_borrows_of_globals(tl_flow *flow, const tl_cfg_ins *ins,
                                   const uint64_t *err) {
  bool unknown = runs_unknown_code(flow, ins);
  // While an item is out of it nothing may look at the container, so what a
  // call would make an owner is one before.
  // Here OWN comes before the item is out: later it would have to look at a
  // container with an item missing.
  if (tl_opcode_takes(ins->op) &&
      tl_state_has(tl_state_of(flow, ins->operands[0]), tl_who_is_global))
    tl_own(flow, ins->operands[0]);
  if (!unknown && ins->op != TL_BC_SETG && ins->op != TL_BC_TAKEG &&
      ins->op != TL_BC_CALLK)
    return;
  note_rebinding(flow, ins, unknown);
  const tl_owned_function *callee = tl_callee_of(flow, ins);
  bool others_run = unknown || (callee != NULL && callee->rebinds_any);
  TL_EACH_BIT(y, flow->borrowers, flow->function->words) {
    if (!tl_bit(flow->after, y) && !(err != NULL && tl_bit(err, y)) &&
        (flow->uses[y] == 0 || ins->op == TL_BC_SETG))
      continue;
    const tl_state *state = &flow->now[y];
    bool borrowed = false;
    for (int i = 0; i < state->count && !borrowed; i++) {
      uint32_t who = tl_borrow_owner_who(state->borrow_owners[i]);
      borrowed = tl_who_is_global(who) &&
                 may_rebind(flow, ins, unknown, who - TL_WHO_GLOBAL);
    }
    if (borrowed)
      tl_own(flow, y);
    else if (others_run)
      depend(flow, state);
  }
}

// --- Operands ---------------------------------------------------------------

// Operands from this one on stand in a window: the instruction takes them over
// whether it succeeds or not.
static int32_t window_from(int op) {
  int32_t outside = 0;
  if (tl_formats[tl_opcodes[op].format].window == 0)
    return INT_MAX;
  while (tl_operand_field(op, outside) != 0) outside++;
  return outside;
}

// These read an operand and leave it, whatever becomes of it afterwards.
static bool only_looks(int op) {
  return op == TL_BC_CHECKSET || op == TL_BC_JSET || op == TL_BC_MORE ||
         op == TL_BC_RAISE || op == TL_BC_SHOW;
}

// Whether the instruction changes its first operand in place.
static bool is_update(int op) {
  return tl_opcodes[op].roles[0] == TL_ROLE_TARGET;
}

// How the callee takes the argument at [position], as far as its summary is
// known.
static tl_mode param_mode(const tl_flow *flow, const tl_cfg_ins *ins,
                          int32_t position) {
  const tl_owned_function *callee = tl_callee_of(flow, ins);
  if (callee == NULL || position >= callee->cfg->param_count)
    return TL_MODE_EITHER;
  return (tl_mode)callee->param_modes[position];
}

// Rule (b): may the last of an operand's several positions be consumed?
static bool may_consume_one(const tl_flow *flow, const tl_cfg_ins *ins,
                            int32_t slot) {
  // All positions must have one role, and an argument may be consumed only
  // where the parameter takes what it is given.
  int role = -1;
  for (int32_t i = 0; i < ins->operand_count; i++) {
    if (flow->operands[i] != slot)
      continue;
    int r = tl_opcode_role(ins->op, i);
    if (role >= 0 && r != role)
      return false;
    role = r;
    if (r == TL_ROLE_ARG && param_mode(flow, ins, i) != TL_MODE_EITHER)
      return false;
  }
  if (role == TL_ROLE_ARG)
    return ins->op != TL_BC_CALLB;
  return role == TL_ROLE_STORE || role == TL_ROLE_USE;
}

// Whether the instruction reads both operands before either ends, or stores
// both: it then takes care of their counts itself, and the order does not
// matter.
static bool is_kept_safe(int op, int consumer_role, int other_role) {
  if (tl_opcode_reads_first(op))
    return true;
  return (consumer_role == TL_ROLE_STORE || consumer_role == TL_ROLE_TARGET) &&
         (other_role == TL_ROLE_STORE || other_role == TL_ROLE_VALUE);
}

// Fills [borrowed]: the operands that borrow from some slot. They are few.
static int32_t find_borrowed(tl_flow *flow, const tl_cfg_ins *ins) {
  int32_t count = 0;
  for (int32_t i = 0; i < ins->operand_count; i++)
    if (tl_state_has(tl_state_of(flow, flow->operands[i]), tl_who_is_slot))
      flow->borrowed[count++] = i;
  return count;
}

// Rule (c): another operand borrows from [slot], and nobody settles it because
// it ends here too. [risk] NULL: also where somebody would.
static bool is_borrowed_by_operand(const tl_flow *flow, const tl_cfg_ins *ins,
                                   int32_t slot, int role, const uint64_t *risk,
                                   int32_t borrowed_count) {
  for (int32_t k = 0; k < borrowed_count; k++) {
    int32_t i = flow->borrowed[k], y = flow->operands[i];
    if (y != slot && tl_bit(flow->present, y) &&
        tl_state_borrowed_by(&flow->now[y], (uint32_t)slot) &&
        !(risk != NULL && tl_bit(risk, y)) &&
        !is_kept_safe(ins->op, role, tl_opcode_role(ins->op, i)))
      return true;
  }
  return false;
}

// Whether something that lives on may be an item or a slice of what an item is
// loaded from. Then all of them part it among them where it ends, behind the
// load.
static bool items_are_borrowed(const tl_flow *flow, int32_t slot) {
  TL_EACH_BIT(y, flow->borrowers, flow->function->words) {
    if (y != slot && tl_bit(flow->after, y) &&
        (tl_state_relations(&flow->now[y], (uint32_t)slot) &
         ~(1u << TL_SAME)) != 0)
      return true;
  }
  return false;
}

// Whether the call goes on in a list that is operand [i], as append, insert, put
// and pop do: a slice of a list is a list of its own, which may be taken over
// whoever has the items. What orders or copies would only count what it borrows.
static bool goes_on(const tl_flow *flow, const tl_cfg_ins *ins, int32_t i) {
  const tl_builtin *b = tl_builtin_of(flow, ins);
  return i == 0 && b != NULL && b->restores == TL_ALL &&
         (b->result == TL_PAIR ||
          (b->result == TL_NEW &&
           (b->takes == TL_CONTAINERS || b->takes == TL_FORMS)));
}

// Step 2: whether operand [i] may be consumed, by the rules (a) to (e).
static bool is_candidate(tl_flow *flow, const tl_cfg_ins *ins, int32_t i,
                         const uint64_t *err, bool risky,
                         int32_t borrowed_count) {
  int32_t x = flow->operands[i];
  int role = tl_opcode_role(ins->op, i);
  const tl_state *state = tl_state_of(flow, x);
  if (role == TL_ROLE_TARGET)  // settling the others may make it an owner
    return tl_bit(flow->present, x);
  if (state->kind == TL_BORROWS)
    return false;
  if (role == TL_ROLE_DRAIN)
    return true;
  if (role == TL_ROLE_NONE || role == TL_ROLE_CALLEE || only_looks(ins->op))
    return false;  // (e)
  if (x != ins->result && tl_bit(flow->after, x))
    return false;
  if (x == ins->result && is_update(ins->op))
    return false;
  if (risky && err != NULL && tl_bit(err, x) &&
      !(i == 0 && fails_first(flow, ins)))
    return false;  // (a)
  if (flow->uses[x] > 1 && !may_consume_one(flow, ins, x))
    return false;  // (b)
  if (is_borrowed_by_operand(flow, ins, x, role, flow->risk, borrowed_count))
    return false;  // (c)
  if (role == TL_ROLE_CONTAINER && ins->op != TL_BC_INDEX &&
      items_are_borrowed(flow, x))
    return false;
  return role != TL_ROLE_ARG ||  // (d)
         ((!tl_state_in(state, 1u << TL_HELD) || tl_bit(flow->taken, x) ||
           goes_on(flow, ins, i)) &&
          param_mode(flow, ins, i) == TL_MODE_EITHER);
}

// Fills [candidates]: for each distinct operand its last position, or the
// target's.
static int32_t find_candidates(tl_flow *flow, const tl_cfg_ins *ins,
                               const uint64_t *err, bool risky,
                               int32_t borrowed_count) {
  int32_t count = 0;
  uint64_t *seen = flow->mask;
  // From the last operand to the first, because of several positions of one
  // slot the last one may consume it.
  memset(seen, 0, (size_t)flow->function->words * sizeof(uint64_t));
  for (int32_t i = ins->operand_count - 1; i >= 0; i--) {
    int32_t x = flow->operands[i];
    bool target = tl_opcode_role(ins->op, i) == TL_ROLE_TARGET;
    if (tl_bit(seen, x) && !target)
      continue;
    tl_bit_set(seen, x);
    if (!is_candidate(flow, ins, i, err, risky, borrowed_count))
      continue;
    // A view counts its block first. What was taken is one only where nothing
    // could be taken, and what a list goes on in seldom.
    if (tl_opcode_role(ins->op, i) == TL_ROLE_ARG &&
        tl_state_in(&flow->now[x], 1u << TL_HELD))
      tl_own(flow, x);
    flow->candidates[count++] = i;
  }
  return count;
}

// Whether consuming operand [i] may save a copy: by a function that goes on in
// its first argument, or by one of the script that owns what it is given.
static bool saves_a_copy(const tl_flow *flow, const tl_cfg_ins *ins,
                         int32_t i) {
  if (ins->op == TL_BC_CALLB)
    return i == 0 && fails_first(flow, ins);
  return ins->op == TL_BC_CALLK && param_mode(flow, ins, i) == TL_MODE_EITHER;
}

// Whether operand [i] ends here, as far as its place among the operands goes:
// the rules (a) and (b).
static bool ends_here(const tl_flow *flow, const tl_cfg_ins *ins, int32_t i,
                      const uint64_t *err, bool risky) {
  int32_t x = flow->operands[i];
  return tl_bit(flow->present, x) && flow->now[x].kind != TL_BORROWS &&
         flow->uses[x] == 1 && (x == ins->result || !tl_bit(flow->after, x)) &&
         (!risky || err == NULL || !tl_bit(err, x) ||
          (i == 0 && fails_first(flow, ins)));
}

// Fills [mask] with the other operands that end here, too, and borrow from
// [x], where all of them can be parted from it: items of it, views, and
// containers that have such in them. Of an alias only one could own.
static bool find_parts(tl_flow *flow, int32_t x, int32_t borrowed_count) {
  bool some = false;
  memset(flow->mask, 0, (size_t)flow->function->words * sizeof(uint64_t));
  for (int32_t k = 0; k < borrowed_count; k++) {
    int32_t y = flow->operands[flow->borrowed[k]];
    if (y == x || !tl_bit(flow->present, y) || tl_bit(flow->risk, y))
      continue;
    unsigned relations = tl_state_relations(&flow->now[y], (uint32_t)x);
    if ((relations & 1u << TL_SAME) != 0)
      return false;
    if (relations != 0)
      tl_bit_set(flow->mask, y);
    some |= relations != 0;
  }
  return some;
}

// Before rule (c) is asked: l = append(l, l[0]) counts the item, so that the
// list, which ends, may be taken over. Returns how many operands borrow then.
static int32_t part_operands(tl_flow *flow, const tl_cfg_ins *ins,
                             const uint64_t *err, bool risky) {
  int32_t borrowed_count = find_borrowed(flow, ins);
  bool settled = false;
  for (int32_t i = 0; borrowed_count > 0 && i < ins->operand_count; i++)
    if (saves_a_copy(flow, ins, i) && ends_here(flow, ins, i, err, risky) &&
        find_parts(flow, flow->operands[i], borrowed_count)) {
      tl_settle(flow, flow->operands[i], flow->mask, NULL);
      settled = true;
    }
  return settled ? find_borrowed(flow, ins) : borrowed_count;
}

// Step 3: settles what borrows from the candidates.
static void settle_candidates(tl_flow *flow, const tl_cfg_ins *ins,
                              int32_t count) {
  size_t nbytes = (size_t)flow->function->words * sizeof(uint64_t);
  for (int32_t k = 0; k < count; k++) {
    int32_t i = flow->candidates[k], x = flow->operands[i];
    int role = tl_opcode_role(ins->op, i);
    if (flow->now[x].kind == TL_BORROWS)
      continue;
    memcpy(flow->mask, flow->risk, nbytes);
    // What else an update reads must not change under its hands, except the
    // value, which it looks after itself.
    if (role == TL_ROLE_TARGET)
      for (int32_t j = 0; j < ins->operand_count; j++)
        if (tl_opcode_role(ins->op, j) == TL_ROLE_USE)
          tl_bit_set(flow->mask, flow->operands[j]);
    tl_bit_clear(flow->mask, x);
    tl_settle(flow, x, flow->mask,
              role == TL_ROLE_TARGET || tl_opcode_takes(ins->op) ? ins : NULL);
    flow->modes[i] = (uint8_t)tl_mode_of(&flow->now[x]);
  }
}

// All operands of FORPREP end, though their slots live on: whoever borrows from
// one of them, other operands too, has to be independent of it.
static void settle_range(tl_flow *flow, const tl_cfg_ins *ins) {
  for (int32_t i = 0; i < ins->operand_count; i++) {
    int32_t x = ins->operands[i];
    memcpy(flow->mask, flow->after,
           (size_t)flow->function->words * sizeof(uint64_t));
    for (int32_t j = 0; j < ins->operand_count; j++)
      tl_bit_set(flow->mask, ins->operands[j]);
    if (tl_state_of(flow, x)->kind != TL_BORROWS)
      tl_settle(flow, x, flow->mask, NULL);
  }
}

// Steps 4 and 5, and the further places of an argument given twice.
static void decide_modes(tl_flow *flow, const tl_cfg_ins *ins, int32_t count,
                         int32_t borrowed_count) {
  for (int32_t k = 0; k < count; k++) {
    int32_t i = flow->candidates[k], x = flow->operands[i];
    int role = tl_opcode_role(ins->op, i);
    if (role == TL_ROLE_DRAIN || role == TL_ROLE_TARGET)
      continue;
    // Settling may have made one operand another's lender.
    if (is_borrowed_by_operand(flow, ins, x, role, NULL, borrowed_count))
      flow->modes[i] = TL_MODE_BORROW;
    if (flow->modes[i] == TL_MODE_BORROW || role != TL_ROLE_ARG ||
        flow->uses[x] == 1)
      continue;
    for (int32_t j = 0; j < i; j++)
      if (flow->operands[j] == x)
        flow->modes[j] = TL_MODE_RETAIN;
  }
}

// Whether [slot] is not this function's any more after the instruction.
static bool is_gone(const tl_flow *flow, const tl_cfg_ins *ins, int32_t slot) {
  for (int32_t j = 0; j < ins->operand_count; j++)
    if (flow->operands[j] == slot &&
        (tl_is_consumed(flow, j) ||
         tl_opcode_role(ins->op, j) == TL_ROLE_TARGET))
      return true;
  return false;
}

// The container in [slot] gets counts of the items that it borrows.
static void retain_items(tl_flow *flow, int32_t slot) {
  tl_put(flow, TL_BC_KEEPALL, -1, slot, -1, TL_MODE_BORROW);
  tl_state_strip(&flow->now[slot], TL_TO_ITEMS);
}

// Whether somebody who ends here lends in one of these relations.
static bool is_borrowed_by_gone(const tl_flow *flow, const tl_cfg_ins *ins,
                                const tl_state *state, unsigned relations) {
  for (int k = 0; k < state->count; k++) {
    uint32_t who = tl_borrow_owner_who(state->borrow_owners[k]);
    if ((state->borrow_owners[k] & relations) != 0 && tl_who_is_slot(who) &&
        is_gone(flow, ins, (int32_t)who))
      return true;
  }
  return false;
}

// A container that is made borrows what it does not take over, unless a lender
// of that ends here: then it gets a count of its own.
static void count_borrowed_by_gone(tl_flow *flow, const tl_cfg_ins *ins) {
  if (!tl_opcode_lends(ins->op))
    return;
  for (int32_t i = 0; i < ins->operand_count; i++) {
    int32_t x = flow->operands[i];
    if (tl_opcode_role(ins->op, i) != TL_ROLE_STORE)
      continue;
    const tl_state *state = tl_state_of(flow, x);
    if (is_borrowed_by_gone(flow, ins, state, TL_TO_ITEMS))
      retain_items(flow, x);
    if (flow->modes[i] == TL_MODE_CONSUME)
      continue;
    // The same slot is stored twice, and another of its positions is consumed.
    bool twice = flow->modes[i] == TL_MODE_BORROW && is_gone(flow, ins, x);
    bool gone = is_borrowed_by_gone(flow, ins, state, TL_OF_WHOLE);
    if (!gone && !twice)
      continue;
    if (flow->modes[i] == TL_MODE_EITHER) {
      tl_own(flow, x);
      flow->modes[i] = TL_MODE_CONSUME;
    } else {
      flow->modes[i] =
          !gone && state->kind == TL_EITHER ? TL_MODE_SHARE : TL_MODE_RETAIN;
    }
  }
}

// --- Rescues: operands that need a place of their own -----------------------

// An index that is the target itself would change while it is read. It gets a
// count of its own, so that the update copies.
static void rescue_indices(tl_flow *flow, const tl_cfg_ins *ins) {
  if (!is_update(ins->op))
    return;
  int32_t target = flow->operands[0], spare = flow->function->spare;
  bool done = false;
  for (int32_t i = 1; i < ins->operand_count; i++) {
    if (flow->operands[i] != target ||
        tl_opcode_role(ins->op, i) != TL_ROLE_USE)
      continue;
    if (!done) {
      tl_put(flow, TL_BC_MOV, spare, target, -1, TL_MODE_BORROW);
      tl_state state = *tl_state_of(flow, target);
      tl_set_state(flow, spare, &state);
      tl_own(flow, spare);
      flow->uses[spare] = 0;
      done = true;
    }
    flow->operands[i] = spare;
    flow->uses[spare]++;
    flow->uses[target]--;
  }
}

// Moves what [slot] owns to [aside], where the instruction reads it then.
static void move_aside(tl_flow *flow, const tl_cfg_ins *ins, int32_t slot,
                       int32_t aside) {
  tl_state state = flow->now[slot];
  tl_put(flow, TL_BC_MOV, aside, slot, -1, tl_mode_of(&state));
  tl_forget(flow, slot);
  tl_set_state(flow, aside, &state);
  tl_rename_borrow_owner(flow, slot, aside);
  for (int32_t i = 0; i < ins->operand_count; i++)
    if (flow->operands[i] == slot)
      flow->operands[i] = aside;
}

// The result's slot still owns its old value, which the instruction reads but
// does not consume: the old value moves aside.
static void rescue_result(tl_flow *flow, const tl_cfg_ins *ins) {
  int32_t d = ins->result;
  if (d < 0 || is_update(ins->op) || !tl_bit(flow->present, d) ||
      flow->now[d].kind == TL_BORROWS)
    return;
  bool plain = true;
  for (int32_t i = 0; i < ins->operand_count; i++)
    if (flow->operands[i] == d && tl_is_consumed(flow, i))
      plain = tl_opcode_role(ins->op, i) == TL_ROLE_DRAIN;
  if (plain)
    move_aside(flow, ins, d, flow->function->spare);
}

// The window's slot for operand [i].
static int32_t window_slot(const tl_cfg_ins *ins, int32_t i) {
  int32_t from = window_from(ins->op);
  if (ins->window < 0 || i < from)
    return -1;
  return ins->window + i + (from == 0 ? 1 : from == 1 ? 0 : -2);
}

// A window is taken over whole. What stands in it already, owns, and is not
// consumed moves aside, so that the window gets a borrow.
static void rescue_window(tl_flow *flow, const tl_cfg_ins *ins) {
  for (int32_t i = 0; i < ins->operand_count; i++) {
    int32_t x = flow->operands[i];
    if (flow->modes[i] == TL_MODE_BORROW && x == window_slot(ins, i) &&
        tl_state_of(flow, x)->kind != TL_BORROWS)
      move_aside(flow, ins, x, flow->function->spare + 1 + i);
  }
}

// Writes the instruction with operands and modes as decided. An argument that
// is given twice gets a copy with a count of its own first.
static tl_cfg_ins *put_decided(tl_flow *flow, const tl_cfg_ins *ins) {
  if (flow->out == NULL)
    return NULL;
  int32_t n = ins->operand_count, first = flow->function->spare + 1;
  tl_cfg_ins decided = *ins;
  if (!tl_ins_room(flow->arena, &decided, (size_t)n + 1))
    return NULL;
  if (flow->successor >= 0) {
    decided.op = TL_BC_REPLACE;
    decided.operands[decided.operand_count++] = flow->successor;
  }
  for (int32_t i = 0; i < n; i++) {
    decided.operands[i] = flow->operands[i];
    decided.modes[i] = flow->modes[i];
    bool shares = flow->modes[i] == TL_MODE_SHARE;
    if (flow->modes[i] != TL_MODE_RETAIN && !shares)
      continue;
    if (flow->operands[i] == window_slot(ins, i))
      decided.window = -1;  // it stays there
    tl_put(flow, TL_BC_MOV, first + i, flow->operands[i], -1, TL_MODE_BORROW);
    if (shares)
      tl_put(flow, TL_BC_KEEP, -1, flow->operands[i], first + i,
             TL_MODE_BORROW);
    else
      tl_put(flow, TL_BC_OWN, -1, first + i, -1, TL_MODE_BORROW);
    decided.operands[i] = first + i;
    decided.modes[i] = shares ? TL_MODE_EITHER : TL_MODE_CONSUME;
  }
  // What moved aside may live across a call: the window goes above it.
  if (tl_bit_next(flow->present, flow->function->words,
                  flow->function->spare) >= 0)
    decided.window = -1;
  decided.gives_back = flow->gives_back;
  decided.depends = flow->depends;
  return tl_put_ins(flow, &decided);
}

// --- Definitions ------------------------------------------------------------

// A definition that was pinned is made an owner at once, so that nothing is
// borrowed from elsewhere.
static void own_if_pinned(tl_flow *flow, const tl_cfg_ins *ins, int32_t slot) {
  const tl_state *state = &flow->now[slot];
  // What owns already, or borrows from what never ends, needs nothing.
  bool bare = state->kind == TL_OWNS && state->count == 0;
  bool fixed = state->kind == TL_BORROWS && state->count == 1 &&
               tl_borrow_owner_who(state->borrow_owners[0]) == TL_WHO_IMMORTAL;
  if (slot < flow->function->spare && !bare && !fixed &&
      (ins->is_pinned || flow->function->pinned[slot]))
    tl_own(flow, slot);
}

// Notes whether what the slot has now was set by TAKE.
static void note_taken(tl_flow *flow, int32_t slot, bool taken) {
  if (taken)
    tl_bit_set(flow->taken, slot);
  else
    tl_bit_clear(flow->taken, slot);
}

// Gives a result its state.
static void define_slot(tl_flow *flow, const tl_cfg_ins *ins, int32_t slot,
                        const tl_state *state) {
  tl_define_state(flow, slot, state);
  note_taken(flow, slot, tl_opcode_takes(ins->op));
  own_if_pinned(flow, ins, slot);
  // What is new may be a container that borrows: it does not stay one.
  if (flow->program->cfg->is_conservative &&
      tl_state_in(&flow->now[slot], TL_TO_ITEMS))
    retain_items(flow, slot);
}

// Ends what the instruction consumed, and gives its results the state that
// follows from the operands. FORPREP leaves numbers where its operands were.
static void define(tl_flow *flow, const tl_cfg_ins *ins) {
  tl_state state = {0};
  const bool leaves = ins->op == TL_BC_FORPREP;
  const int32_t count = leaves ? ins->operand_count : tl_result_count(ins);
  if (count > 0)
    state = tl_result_state(flow, ins);
  for (int32_t i = 0; i < ins->operand_count; i++) {
    int role = tl_opcode_role(ins->op, i);
    if ((tl_is_consumed(flow, i) && role != TL_ROLE_DRAIN) ||
        role == TL_ROLE_TARGET)
      tl_forget(flow, flow->operands[i]);
  }
  for (int32_t i = 0; i < count; i++)
    define_slot(flow, ins, leaves ? ins->operands[i] : ins->result + i, &state);
}

// --- The two shapes ---------------------------------------------------------

// A copy is a move where its source ends here, else an alias that borrows.
static void transfer_copy(tl_flow *flow, const tl_cfg_ins *ins) {
  int32_t d = ins->result, s = ins->operands[0];
  if (d == s && ins->op != TL_BC_MEMBER)
    return;
  // A copy of the state, since defining d below may overwrite it (d == s).
  tl_state state = *tl_state_of(flow, s);
  bool moves = d == s || !tl_bit(flow->after, s);
  flow->modes[0] = moves ? (uint8_t)tl_mode_of(&state) : TL_MODE_BORROW;
  flow->gives_back = flow->depends = false;
  put_decided(flow, ins);
  if (!moves) {
    tl_state alias = tl_state_new(TL_BORROWS);
    tl_state_derive(&alias, &state, (uint32_t)s, TL_SAME);
    state = alias;
  } else if (d != s) {
    tl_forget(flow, s);
    tl_rename_borrow_owner(flow, s, d);
  }
  tl_define_state(flow, d, &state);
  note_taken(flow, d, moves && tl_bit(flow->taken, s));
  own_if_pinned(flow, ins, d);
}

// The general case, in five steps: what borrows from module variables is owned
// where they may change (1), candidates for consuming are found by rules (a) to
// (e) (2), their borrowers are made independent (3), modes are decided (4), and
// what is stored while its owner ends gets a count (5).
static void transfer_operation(tl_flow *flow, const tl_cfg_ins *ins) {
  size_t nbytes = (size_t)flow->function->words * sizeof(uint64_t);
  int32_t handler = tl_handler_of(ins), window = window_from(ins->op);
  const uint64_t *err =
      handler >= 0 ? tl_live_at(flow->function, handler) : NULL;
  bool risky = ins->fails == TL_LATE || window != INT_MAX;

  flow->depends = false;
  own_borrows_of_globals(flow, ins, err);
  rescue_indices(flow, ins);
  // The slots whose values somebody may still see: those that live on, without
  // the one that is written, and where the instruction may fail late or takes
  // over a window, those that the handler sees.
  memcpy(flow->risk, flow->after, nbytes);
  if (ins->result >= 0)
    tl_bit_clear(flow->risk, ins->result);
  if (risky && err != NULL)
    for (int32_t w = 0; w < flow->function->words; w++) flow->risk[w] |= err[w];

  if (ins->op == TL_BC_FORPREP)
    settle_range(flow, ins);
  int32_t borrowed_count = part_operands(flow, ins, err, risky);
  int32_t count = find_candidates(flow, ins, err, risky, borrowed_count);
  settle_candidates(flow, ins, count);
  // What has been settled borrows no more.
  if (count > 0)
    borrowed_count = find_borrowed(flow, ins);
  decide_modes(flow, ins, count, borrowed_count);
  count_borrowed_by_gone(flow, ins);
  rescue_result(flow, ins);
  rescue_window(flow, ins);

  flow->gives_back = err != NULL && fails_first(flow, ins) &&
                     tl_bit(err, flow->operands[0]) && tl_is_consumed(flow, 0);
  tl_cfg_ins *done = put_decided(flow, ins);
  // Of an error whose name nobody reads no record has to be made.
  if (done != NULL && ins->op == TL_BC_CATCH && ins->extra != TL_CATCHES_PAD &&
      !tl_bit(flow->after, ins->result))
    done->extra = TL_CATCHES_UNNAMED;
  if (ins->fails != TL_NEVER) {
    memset(flow->gone, 0, nbytes);
    for (int32_t i = window + flow->gives_back; i < ins->operand_count; i++)
      if (tl_is_consumed(flow, i))
        tl_bit_set(flow->gone, flow->operands[i]);
    tl_may_fail(flow, done, handler, flow->gone);
  }
  if (flow->successor >= 0)
    tl_settle_successor(flow, flow->operands[0]);
  define(flow, ins);
}

void tl_transfer(tl_flow *flow, const tl_cfg_ins *ins, const uint64_t *after,
                 bool is_end) {
  flow->after = after;
  flow->span = ins->span;
  if (tl_is_idle(ins, after))
    return;
  for (int32_t i = 0; i < ins->operand_count; i++) {
    int32_t slot = ins->operands[i];
    flow->operands[i] = slot;
    flow->modes[i] = TL_MODE_BORROW;
    if (slot >= 0 && flow->uses[slot] < 255)
      flow->uses[slot]++;
  }
  if (tl_opcodes[ins->op].result == TL_DEF_COPY)
    transfer_copy(flow, ins);
  else
    transfer_operation(flow, ins);
  for (int32_t i = 0; i < ins->operand_count; i++)
    if (ins->operands[i] >= 0)
      flow->uses[ins->operands[i]] = 0;
  flow->uses[flow->function->spare] = 0;
  if (!is_end)
    tl_end_dead(flow, after);
}
