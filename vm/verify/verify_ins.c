// The verifier's rules for one instruction: operands, conflicts between them,
// module variables, errors, definitions.

#include "vm/bytecode/module.h"
#include "vm/verify/verify.h"

// Whether a mode lets the instruction have what the operand owns, for certain
// or by its bit.
static bool consumes(int mode) {
  return mode == TL_MODE_CONSUME || mode == TL_MODE_EITHER;
}

// --- Operands: those in fields, then those in the window --------------------

// Operands are numbered through: 0 … operand_count - 1 are slots named in the
// instruction's fields, all further ones stand side by side in the window.
static uint32_t operand_count(const tl_checker *c) {
  return c->ins.operand_count + c->ins.window_count;
}

static bool in_window(const tl_checker *c, uint32_t i) {
  return i >= c->ins.operand_count;
}

static uint32_t operand_slot(const tl_checker *c, uint32_t i) {
  return in_window(c, i) ? c->ins.window + i - c->ins.operand_count
                         : c->ins.operands[i];
}

static int operand_role(const tl_checker *c, uint32_t i) {
  return tl_opcode_role(c->ins.op, (int)i);
}

// A window is taken over whole: what owns is consumed.
// Whether it owns the states say, as windows have no modes.
static bool is_consumed(const tl_checker *c, uint32_t i) {
  if (in_window(c, i))
    return tl_state_owns(&c->now[operand_slot(c, i)]);
  return consumes(c->ins.modes[i]);
}

// Only for CALLK, whose extra is the callee's number.
static const tl_summary *callee_summary(const tl_checker *c) {
  return &c->p->unit->prototypes[c->ins.extra]->summary;
}

// Whether argument [i] of a call of a known function goes to a parameter that
// only borrows. Such a parameter's slot in the callee is never dropped, so an
// owner that is given to it would leak.
static bool borrows_argument(const tl_checker *c, uint32_t i) {
  if (c->ins.op != TL_BC_CALLK)
    return false;
  const tl_prototype *callee = c->p->unit->prototypes[c->ins.extra];
  return i < callee->param_count && callee->summary.param_modes != NULL &&
         callee->summary.param_modes[i] == TL_MODE_BORROW;
}

// Operand [i], which is consumed, by itself: it owns for certain where the mode
// says so, the instruction is one that consumes at all, and what it hands on is
// whole. A view whose block somebody else keeps may not be an argument: the
// callee would not know for how long it is good.
static bool check_consumed(tl_checker *c, uint32_t i) {
  uint32_t x = operand_slot(c, i);
  int role = operand_role(c, i);
  const tl_state *state = &c->now[x];
  if (!in_window(c, i) && c->ins.modes[i] == TL_MODE_CONSUME &&
      state->kind != TL_OWNS)
    return tl_refuse(c, x, TL_RULE_CONSUMED_UNOWNED);
  if (role == TL_ROLE_CALLEE || c->ins.op == TL_BC_RAISE)
    return tl_refuse(c, x, TL_RULE_CONSUMED_KEPT);
  if (role == TL_ROLE_ARG && tl_state_in(state, 1u << TL_HELD))
    return tl_refuse(c, x, TL_RULE_GIVEN_LENT_BLOCK);
  if (borrows_argument(c, i))
    return tl_refuse(c, x, TL_RULE_GIVEN_TO_BORROWER);
  return true;
}

// What is consumed as [role] may be the lender of what is read as [other].
static bool may_borrow_from(const tl_checker *c, int role, int other,
                            unsigned relations) {
  if (tl_opcode_reads_first(c->ins.op))
    return true;
  if ((role == TL_ROLE_STORE || role == TL_ROLE_TARGET) &&
      (other == TL_ROLE_STORE || other == TL_ROLE_VALUE))
    return true;
  if (role == TL_ROLE_TARGET && other == TL_ROLE_SUCCESSOR)
    return relations == 1u << TL_PART;
  // The same operand twice, as a window's alias of the slot that is consumed.
  return role == TL_ROLE_USE && other == TL_ROLE_USE &&
         relations == 1u << TL_SAME;
}

// Operand [i], which is consumed, against all others: none is the same slot,
// and none borrows from it, since it ends before they are read. What is
// excepted (may_borrow_from) the instruction reads in an order in which that is
// safe. A pair of operands that are both consumed is seen twice; `j < i`
// reports it once, from the later of the two.
static bool check_conflicts(tl_checker *c, uint32_t i) {
  uint32_t x = operand_slot(c, i);
  int role = operand_role(c, i);
  for (uint32_t j = 0; j < operand_count(c); j++) {
    uint32_t y = operand_slot(c, j);
    if (j == i)
      continue;
    if (y == x) {
      if (is_consumed(c, j) && (j < i || in_window(c, i)))
        return tl_refuse(c, x, TL_RULE_CONSUMED_TWICE);
      if (!may_borrow_from(c, role, operand_role(c, j), 1u << TL_SAME))
        return tl_refuse(c, x, TL_RULE_CONSUMED_AND_READ);
      continue;
    }
    unsigned relations = tl_state_relations(&c->now[y], x);
    if (relations != 0 &&
        !may_borrow_from(c, role, operand_role(c, j), relations))
      return tl_refuse(c, y, TL_RULE_BORROW_OWNER_CONSUMED);
  }
  return true;
}

// --- Taken items -------------------------------------------------------------

// An item is taken out for an update of its place, and until then nothing may
// look for it there. (What the indices are the verifier does not follow: they
// are the same slots.)

// Whether this reads or sets x.b while the item under [path], x.a…, is moved
// out of x. Only a first step by name makes that certain: two indices may be
// the same.
static bool is_other_field(const tl_checker *c, const tl_path *path) {
  const tl_unit *unit = c->p->unit;
  const tl_string *name = c->ins.op == TL_BC_GETF
                              ? unit->names[c->ins.extra]
                              : unit->paths[c->ins.extra].steps[0].field;
  return name != NULL && path->step_count > 0 && path->steps[0].field != NULL &&
         strcmp(path->steps[0].field->text, name->text) != 0;
}

// Whether the path is that of the item which is out: the same steps by name,
// which may stand in the unit twice.
static bool brings_back(const tl_checker *c, uint32_t path) {
  const tl_path *a = &c->p->unit->paths[path];
  const tl_path *b = &c->p->unit->paths[c->ins.extra];
  bool same = a->step_count == b->step_count;
  for (int i = 0; same && i < a->step_count; i++)
    same = a->steps[i].field != NULL && b->steps[i].field != NULL &&
           strcmp(a->steps[i].field->text, b->steps[i].field->text) == 0;
  return c->ins.extra == path || same;
}

// The first path of those that are out, and the others.
static uint32_t first_open(const tl_checker *c, uint32_t open) {
  return open < TL_SEVERAL ? open - 1 : c->open[open - TL_SEVERAL].path;
}
static uint32_t other_open(const tl_checker *c, uint32_t open) {
  return open < TL_SEVERAL ? 0 : c->open[open - TL_SEVERAL].rest;
}

// Those that are out, and the path besides. Where there are too many nobody
// knows which.
static uint32_t add_open(tl_checker *c, uint32_t path, uint32_t rest) {
  if (rest == 0 || rest == UINT32_MAX)
    return rest == 0 ? path + 1 : rest;
  for (uint32_t i = 0; i < c->open_count; i++)
    if (c->open[i].path == path && c->open[i].rest == rest)
      return TL_SEVERAL + i;
  if (c->open_count == TL_MOST_OPEN)
    return UINT32_MAX;
  c->open[c->open_count] = (tl_open_items){path, rest};
  return TL_SEVERAL + c->open_count++;
}

// Whether an operand that the item under a path was taken from may be read all
// the same: to bring it back, or for another field.
static bool may_read_beside(const tl_checker *c, uint32_t open) {
  const tl_path *path = &c->p->unit->paths[open];
  switch (c->ins.op) {
    case TL_BC_SETPATH:
      return brings_back(c, open) || is_other_field(c, path);
    case TL_BC_UNTAKE:
      return brings_back(c, open);
    case TL_BC_GETF:
    case TL_BC_TAKE:
      return is_other_field(c, path);
    case TL_BC_CHECKSET:
    case TL_BC_JSET:
      return true;
    case TL_BC_SETEL:
    case TL_BC_REPLACE:
      return path->step_count == 1 && path->part_count == 1;
    default:
      return false;
  }
}

// The same of all that was taken from it.
static bool may_read_open(const tl_checker *c, uint32_t i) {
  uint32_t open = c->now[operand_slot(c, i)].open;
  if (i != 0 || open == 0 || open == UINT32_MAX)
    return false;
  for (; open != 0; open = other_open(c, open))
    if (!may_read_beside(c, first_open(c, open)))
      return false;
  return true;
}

// What is still out after an update of the target: of fields, the others.
static uint32_t stays_open(tl_checker *c) {
  uint32_t stays = 0, open = c->now[c->ins.operands[0]].open;
  if (c->ins.op != TL_BC_SETPATH || open == UINT32_MAX)
    return 0;
  for (; open != 0; open = other_open(c, open))
    if (!brings_back(c, first_open(c, open)))
      stays = add_open(c, first_open(c, open), stays);
  return stays;
}

// Whether this moves a value that has more lenders than a set holds.
// Only a move is let through: whatever else read the value would rely on owners
// that its set does not have.
static bool moves_overflowed(const tl_checker *c) {
  return tl_opcodes[c->ins.op].result == TL_DEF_COPY &&
         consumes(c->ins.modes[0]) &&
         c->was_overflowed == (int64_t)c->ins.operands[0];
}

// An operand with too many owners for its set may be moved on to where OWN
// makes an owner of it, and be read by nothing else.
static bool check_operand(tl_checker *c, uint32_t i) {
  uint32_t x = operand_slot(c, i);
  if (moves_overflowed(c))
    return true;
  return may_read_open(c, i) ? tl_check_alive(c, x) : tl_check_read(c, x);
}

// First all reads and then what is consumed, so that a conflict is reported
// only between operands that are good by themselves. A target that is not
// consumed may not own, because it is written into: its old value would leak.
static bool check_operands(tl_checker *c) {
  uint32_t n = operand_count(c);
  if (c->ins.op == TL_BC_CHECKTYPES)
    for (uint32_t i = 0; i < c->p->param_count; i++)
      if (!tl_check_read(c, i))
        return false;
  for (uint32_t i = 0; i < n; i++)
    if (!check_operand(c, i))
      return false;
  for (uint32_t i = 0; i < n; i++)
    if (is_consumed(c, i) && (!check_consumed(c, i) || !check_conflicts(c, i)))
      return false;
  if (n > 0 && operand_role(c, 0) == TL_ROLE_TARGET &&
      tl_state_owns(&c->now[c->ins.operands[0]]) && !is_consumed(c, 0))
    return tl_refuse(c, c->ins.operands[0], TL_RULE_TARGET_KEPT);
  return true;
}

// --- Module variables -------------------------------------------------------

// Whether the instruction may run scripts or a host's code of which no summary
// is at hand: calls of a value, imports, what the prompt shows, and built-ins
// that call what they are given.
static bool runs_unknown_code(const tl_checker *c) {
  switch (c->ins.op) {
    case TL_BC_CALL:
    case TL_BC_IMPORT:
    case TL_BC_SHOW:
      return true;
    case TL_BC_CALLK:
      return callee_summary(c)->rebinds_any;
    case TL_BC_CALLB:
      return tl_builtin_calls(c->p->constants[c->ins.extra].pointer);
    default:
      return false;
  }
}

// The compiler writes the list in order, so this looks at few of many.
// The loop is for bytecode from elsewhere, whose list need not be sorted.
static bool is_declared(const tl_summary *s, uint32_t global) {
  if (tl_is_among(s->rebinds, s->rebind_count, global))
    return true;
  for (uint32_t i = 0; i < s->rebind_count; i++)
    if (s->rebinds[i] == global)
      return true;
  return false;
}

// Whether module variable [global] may have another value after the
// instruction. Unknown code may assign all but those that the unit depends on
// being constant, at instructions for which it has noted that.
// TAKEG leaves its variable unset, which counts as another value.
static bool may_rebind(const tl_checker *c, uint32_t global) {
  if (c->ins.op == TL_BC_SETG || c->ins.op == TL_BC_TAKEG)
    return c->ins.extra == global;
  if (runs_unknown_code(c) &&
      !(tl_unit_depends(c->p->unit, global) && tl_depends_at(c->p, c->pc)))
    return true;
  return c->ins.op == TL_BC_CALLK && is_declared(callee_summary(c), global);
}

// Whether something that [state] borrows from is a module variable that the
// instruction may rebind: the old value then ends, and the borrow with it.
static bool borrows_from_rebound(const tl_checker *c, const tl_state *state) {
  for (int i = 0; i < state->count; i++) {
    uint32_t who = tl_borrow_owner_who(state->borrow_owners[i]);
    if (tl_who_is_global(who) && may_rebind(c, who - TL_WHO_GLOBAL))
      return true;
  }
  return false;
}

// A quick test before each of the slots is looked at.
static bool may_rebind_some(const tl_checker *c) {
  return c->ins.op == TL_BC_SETG || c->ins.op == TL_BC_TAKEG ||
         c->ins.op == TL_BC_CALLK || runs_unknown_code(c);
}

// An instruction may not read, while it runs, what it may itself bring to an
// end. SETG is excepted: it stores the new value before it drops the old one.
static bool check_globals(tl_checker *c) {
  if (!may_rebind_some(c) || c->ins.op == TL_BC_SETG)
    return true;
  for (uint32_t i = 0; i < operand_count(c); i++)
    if (borrows_from_rebound(c, &c->now[operand_slot(c, i)]))
      return tl_refuse(c, operand_slot(c, i), TL_RULE_LENT_BY_REBOUND);
  return true;
}

// After the instruction no borrow of a rebound variable's old value may be
// read.
static void end_rebound(const tl_checker *c, tl_state *states) {
  if (!may_rebind_some(c))
    return;
  for (uint32_t i = 0; i < c->borrowers.count; i++) {
    tl_state *state = &states[c->borrowers.slots[i]];
    if (state->kind != TL_ABSENT && borrows_from_rebound(c, state))
      state->invalid = true;
  }
}

// Whether the summary declares all that this function rebinds.
// Callers rely on it for what they borrow across a call, so it may say too much
// and never too little.
static bool check_own_rebinding(tl_checker *c) {
  const tl_summary *mine = &c->p->summary;
  if (!may_rebind_some(c))
    return true;
  if ((c->ins.op == TL_BC_SETG || c->ins.op == TL_BC_TAKEG) &&
      c->p->index != 0 && tl_unit_depends(c->p->unit, c->ins.extra))
    return tl_refuse(c, 0, TL_RULE_INVARIANT_ASSIGNED);
  if (mine->rebinds_any)
    return true;
  if (runs_unknown_code(c))
    return tl_refuse(c, 0, TL_RULE_UNDECLARED_REBINDING);
  const uint32_t *list = &c->ins.extra;
  uint32_t count = 1;
  if (c->ins.op == TL_BC_CALLK) {
    list = callee_summary(c)->rebinds;
    count = callee_summary(c)->rebind_count;
  }
  for (uint32_t i = 0; i < count; i++)
    if (!is_declared(mine, list[i]))
      return tl_refuse(c, 0, TL_RULE_UNDECLARED_VARIABLE);
  return true;
}

// --- Errors -----------------------------------------------------------------

// What a library function's first argument owns is back in its own slot.
// Whoever borrowed from the window's slot borrows from that slot then.
static bool give_back(tl_checker *c, tl_state first) {
  uint32_t w = c->ins.window, x = (uint32_t)c->ins.back;
  if (x != w && tl_state_owns(&c->now[x]))
    return tl_refuse(c, x, TL_RULE_BACK_OVER_OWNER);
  c->error[x] = first;
  tl_check_watch(c, w);
  if (x != w)
    tl_rename_borrow_owners(c, c->error, w, x);
  tl_check_watch(c, x);  // it is looked at on the error path alone
  return true;
}

// The states that an error of this instruction leaves. What was in the window
// is gone, whether it was owned or not; the one exception is the first argument
// of a library function that gives it back. The borrowers of an owner that went
// lose their owner. Module variables count as rebound only if the instruction
// may fail after it has run code (TL_LATE).
static bool check_failure(tl_checker *c) {
  if (tl_opcodes[c->ins.op].fails == TL_NEVER)
    return true;
  // It may find the states as they are.
  if (c->ins.window_count == 0 && c->ins.back < 0 &&
      c->points[c->pc].handler == 0 && !may_rebind_some(c))
    return tl_check_error(c, c->now);
  tl_copy_states(c);
  for (uint32_t i = 0; i < c->ins.window_count; i++) {
    uint32_t w = c->ins.window + i;
    c->error[w].kind = TL_ABSENT;
    if (tl_state_owns(&c->now[w]) && !(i == 0 && c->ins.back >= 0))
      tl_end_borrow_owner(c, c->error, w);
  }
  if (c->ins.back >= 0 && !give_back(c, c->now[c->ins.window]))
    return false;
  // An update brings back what was taken, and then it cannot fail.
  if (c->ins.operand_count > 0 && operand_role(c, 0) == TL_ROLE_TARGET)
    c->error[c->ins.operands[0]].open = stays_open(c);
  if (tl_opcodes[c->ins.op].fails == TL_LATE)
    end_rebound(c, c->error);
  return tl_check_error(c, c->error);
}

// --- Definitions ------------------------------------------------------------

// The state of scalars and constants: nobody has to be asked before they are
// read, and they own nothing.
static tl_state immortal(void) {
  return tl_state_borrowed(TL_BORROWS, TL_WHO_IMMORTAL, TL_PART);
}

// Adds the lenders of what stands in [relation] to operand 0: its slot, unless
// that ends here, and whoever lends to it.
static void derive(const tl_checker *c, tl_state *state, tl_relation relation) {
  uint32_t x = c->ins.operands[0];
  if (consumes(c->ins.modes[0]))
    tl_state_derive_borrow_owners(state, &c->now[x], relation);
  else
    tl_state_derive(state, &c->now[x], x, relation);
}

// A view of operand 0, or a list or record that borrows items of it: it stands
// to that in [first] and all further relations.
static tl_state slice_state(const tl_checker *c, tl_relation first) {
  tl_state state = tl_state_new(TL_OWNS);
  for (tl_relation r = first; r <= TL_LENDS; r++) derive(c, &state, r);
  if (tl_state_needs_borrow_owner(&state))
    state.kind = TL_EITHER;
  return state;
}

// An item of operand 0. An index that selects a portion makes a container of
// its own or a view (slice_state). Else there are two cases. If the container
// lives on, the item is part of it and, if it is a view, its block may be
// retained by it. If the container is consumed, the item can only be borrowed
// from where the container's own items came from, and it owns for certain where
// there are none such.
static tl_state item_state(const tl_checker *c) {
  uint32_t x = c->ins.operands[0];
  const tl_state *from = &c->now[x];
  tl_portion portion = c->ins.op == TL_BC_INDEX
                           ? tl_path_portion(&c->p->unit->paths[c->ins.extra])
                       : c->ins.op == TL_BC_FIELDS ? TL_PORTION_CHOICE
                                                   : TL_PORTION_ANY;
  if (portion != TL_PORTION_ANY)
    return slice_state(c, (tl_relation)portion);
  tl_state state = tl_state_new(TL_EITHER);
  bool drains = operand_role(c, 0) == TL_ROLE_DRAIN;
  bool of_list = c->ins.op == TL_BC_NEXT && c->ins.extra == TL_NEXT_OF_LIST;
  if (drains || !consumes(c->ins.modes[0])) {
    if (!of_list)
      tl_state_derive(&state, from, x, TL_HELD);
    tl_state_strip(&state, TL_TO_ITEMS);  // what is loaded is no slice
    tl_state_derive(&state, from, x, TL_PART);
    if (c->ins.op == TL_BC_NEXT && c->ins.extra >= TL_NEXT_PARTS)
      tl_state_derive(&state, from, x, TL_LENDS);
    return state;
  }
  tl_state_derive_borrow_owners(&state, from, TL_HELD);
  if (c->ins.op != TL_BC_INDEX)  // the others make no list that borrows
    tl_state_strip(&state, TL_TO_ITEMS);
  if (from->kind == TL_OWNS && !tl_state_in(from, TL_TO_ITEMS))
    state.kind = TL_OWNS;
  else
    tl_state_derive_borrow_owners(&state, from, TL_PART);
  return state;
}

// The items of operand 0, each in a slot of its own, and none a view of it:
// what is stored holds its block itself. Where the operand goes on they are
// part of it. Where it ends they are owned, but for those that it borrowed.
static tl_state items_state(const tl_checker *c) {
  const tl_state *from = &c->now[c->ins.operands[0]];
  bool gives = consumes(c->ins.modes[0]) && from->kind == TL_OWNS &&
               !tl_state_in(from, TL_TO_ITEMS);
  tl_state state = tl_state_new(gives ? TL_OWNS : TL_EITHER);
  if (!gives)
    derive(c, &state, TL_PART);
  return state;
}

// A move hands on the state as it is; a borrow is an alias of operand 0.
static tl_state copy_state(const tl_checker *c) {
  uint32_t x = c->ins.operands[0];
  if (consumes(c->ins.modes[0]))
    return c->now[x];
  tl_state state = tl_state_new(TL_BORROWS);
  tl_state_derive(&state, &c->now[x], x, TL_SAME);
  return state;
}

// The result of a call of a known function: its summary says in which relation
// the result stands to which parameter, and that is composed with what the
// arguments borrow from here. Example: the summary of `fn f(a) = a[0]` says
// PART of parameter 0; if the argument is an alias of slot 3, the result is
// PART of slot 3.
static tl_state call_state(const tl_checker *c) {
  const tl_summary *s = callee_summary(c);
  if (!s->may_own && !s->may_borrow)
    return immortal();
  tl_state state = tl_state_new(TL_OWNS);
  bool owned = s->may_own, borrowed = false;
  for (uint16_t k = 0; k < s->borrow_owner_count; k++) {
    tl_relation relation = (tl_relation)s->borrow_owners[k].relation;
    bool whole = (1u << relation & TL_OF_WHOLE) != 0;
    uint32_t i = s->borrow_owners[k].param;
    if (i == UINT16_MAX || i >= c->ins.window_count) {
      tl_state_add(&state, tl_borrow_owner_of(TL_WHO_IMMORTAL, relation));
      borrowed |= whole;
      continue;
    }
    uint32_t x = c->ins.window + i;
    const tl_state *from = &c->now[x];
    owned |= tl_state_owns(from) && whole;
    // An item of what was given may be lent to that.
    if (from->kind == TL_OWNS &&
        (relation != TL_PART || !tl_state_in(from, TL_TO_ITEMS)))
      continue;
    borrowed |= whole;
    // The window's own slot is no lender: it is gone after the call.
    tl_state_derive_borrow_owners(&state, from, relation);
    if (relation == TL_LENDS)  // it may be in what comes back, too
      tl_state_derive_inner(&state, from);
  }
  // What was given may come back, or some of it.
  for (uint32_t i = 0; i < c->ins.window_count; i++) {
    const tl_state *from = &c->now[c->ins.window + i];
    if (!tl_state_owns(from))
      continue;
    tl_state_derive_items(&state, from);
    tl_state_derive_inner(&state, from);
  }
  state.kind = owned && borrowed ? TL_EITHER : borrowed ? TL_BORROWS : TL_OWNS;
  return state;
}

// The first argument itself, or a view of it, borrows from who lends that: the
// window's own slot is gone after the call.
static tl_state library_state(const tl_checker *c) {
  const tl_builtin *builtin = c->p->constants[c->ins.extra].pointer;
  tl_state state = tl_state_new(TL_OWNS);
  if (c->ins.window_count == 0)
    return state;
  const tl_state *from = &c->now[c->ins.window];
  bool returns = builtin->result == TL_RETURNS;
  if (returns && from->kind != TL_OWNS) {
    state.kind = TL_EITHER;
    tl_state_derive_borrow_owners(&state, from, TL_SAME);
  }
  if (builtin->result == TL_VIEWS || (returns && from->kind != TL_BORROWS))
    tl_state_derive_borrow_owners(&state, from, TL_HELD);
  if (builtin->result == TL_LISTS)
    tl_state_derive_borrow_owners(&state, from, TL_LENDS);
  return state;
}

// A list or a string, perhaps the operand's own: those are no views.
static tl_state same_state(const tl_checker *c) {
  bool owned =
      consumes(c->ins.modes[0]) && c->now[c->ins.operands[0]].kind == TL_OWNS;
  tl_state state = tl_state_new(owned ? TL_OWNS : TL_EITHER);
  derive(c, &state, TL_SAME);
  tl_state_strip(&state, 1u << TL_HELD);
  return state;
}

// A new container, or the list that one more item is pushed into: it borrows
// what it does not take over.
static tl_state container_state(const tl_checker *c) {
  tl_state state = tl_state_new(TL_OWNS);
  for (uint32_t i = 0; i < operand_count(c); i++) {
    uint32_t x = operand_slot(c, i);
    const tl_state *from = &c->now[x];
    if (operand_role(c, i) != TL_ROLE_STORE) {
      tl_state_derive_items(&state, from);
      continue;
    }
    // The window's own slot is no lender: it is gone afterwards.
    if (!in_window(c, i) && !is_consumed(c, i) && from->kind != TL_BORROWS)
      tl_state_add(&state, tl_borrow_owner_of(x, TL_LENDS));
    tl_state_derive_stored(&state, from);
  }
  return state;
}

// Whether what lends to the result outlives the instruction.
// Otherwise the container would refer to what has just been dropped.
static bool check_lending(tl_checker *c, const tl_state *state) {
  for (uint32_t i = 0; i < operand_count(c); i++) {
    uint32_t x = operand_slot(c, i);
    if ((is_consumed(c, i) || operand_role(c, i) == TL_ROLE_TARGET) &&
        tl_state_borrowed_by(state, x))
      return tl_refuse(c, x, TL_RULE_LENT_BY_CONSUMED);
  }
  return true;
}

// What the opcode table says about results (tl_result_kind), as a state.
static tl_state result_state(const tl_checker *c) {
  if (tl_opcode_lends(c->ins.op))
    return container_state(c);
  switch ((tl_result_kind)tl_opcodes[c->ins.op].result) {
    case TL_DEF_OWNED:
      return c->ins.op == TL_BC_CALLB ? library_state(c)
                                      : tl_state_new(TL_OWNS);
    case TL_DEF_TARGET:
      return tl_state_new(TL_OWNS);
    case TL_DEF_COPY:
      return copy_state(c);
    case TL_DEF_ITEM:
    case TL_DEF_NEXT:
      return item_state(c);
    case TL_DEF_ITEMS:
      return items_state(c);
    case TL_DEF_SAME:
      return same_state(c);
    case TL_DEF_GLOBAL:
      return tl_state_borrowed(TL_BORROWS, TL_WHO_GLOBAL + c->ins.extra,
                               TL_PART);
    case TL_DEF_CAPTURE:
      return tl_state_borrowed(TL_BORROWS, TL_WHO_SELF, TL_PART);
    case TL_DEF_SELF:
      return tl_state_borrowed(TL_BORROWS, TL_WHO_SELF, TL_SAME);
    case TL_DEF_CALL:
      return call_state(c);
    default:
      return immortal();
  }
}

// What is consumed has no state any more, and lends nothing.
// The drained operand of a loop stays in its slot, though items may have moved
// out of it.
static void end_consumed(tl_checker *c) {
  uint32_t n = operand_count(c);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t x = operand_slot(c, i);
    bool gone = is_consumed(c, i) || operand_role(c, i) == TL_ROLE_TARGET;
    if (operand_role(c, i) == TL_ROLE_DRAIN) {
      if (gone)
        tl_end_borrow_owner(c, c->now, x);
      continue;
    }
    if (!gone && !in_window(c, i))
      continue;
    bool owned = tl_state_owns(&c->now[x]);
    c->now[x].kind = TL_ABSENT;
    if (owned)
      tl_end_borrow_owner(c, c->now, x);
  }
}

// A move renames: who borrowed from x borrows from d from now on, and stays
// good. That is why it must not go by way of end_consumed, which would end
// them.
static bool check_move(tl_checker *c, tl_state state) {
  uint32_t d = (uint32_t)c->ins.result, x = c->ins.operands[0];
  if (d == x) {
    c->now[d] = state;
    return true;
  }
  c->now[x].kind = TL_ABSENT;
  if (!tl_check_define(c, d, state))
    return false;
  if (moves_overflowed(c))
    c->overflowed = d;
  tl_rename_borrow_owners(c, c->now, x, d);
  return true;
}

// A range's loop keeps scalars in its hidden slots.
// The first hidden slot is an operand and has been looked at as such.
static bool check_loop(tl_checker *c) {
  uint32_t hidden = c->ins.operands[0];
  uint32_t count = c->ins.op == TL_BC_MORE || c->ins.op == TL_BC_NEXT ? 2 : 3;
  for (uint32_t i = 1; i < count; i++)
    if (!tl_check_read(c, hidden + i))
      return false;
  return true;
}

// The three hidden slots of a loop over a range, and its variable, are numbers.
static bool define_loop(tl_checker *c) {
  uint32_t hidden = c->ins.operands[0];
  for (uint32_t i = 0; i < 3; i++)
    if (!tl_check_define(c, hidden + i, immortal()))
      return false;
  return tl_check_define(c, (uint32_t)c->ins.result, immortal());
}

// The result's state is read off the operands first, then what was consumed
// ends, and only then is the result defined: it may be the slot of an operand.
static bool check_definition(tl_checker *c) {
  if (c->ins.op == TL_BC_FORPREP || c->ins.op == TL_BC_FORR) {
    end_consumed(c);
    return define_loop(c);
  }
  tl_state state = {0};
  if (c->ins.result >= 0)
    state = result_state(c);
  if (tl_opcodes[c->ins.op].result == TL_DEF_TARGET)
    state.open = stays_open(c);
  if (tl_opcode_lends(c->ins.op) && !check_lending(c, &state))
    return false;
  if (tl_opcodes[c->ins.op].result == TL_DEF_COPY && consumes(c->ins.modes[0]))
    return check_move(c, state);
  uint32_t open =
      c->ins.operand_count > 0 ? c->now[c->ins.operands[0]].open : 0;
  end_consumed(c);
  if (tl_opcode_takes(c->ins.op) && consumes(c->ins.modes[0])) {
    c->now[c->ins.operands[0]].open = add_open(c, c->ins.extra, open);
    tl_check_busy(c, c->ins.operands[0]);
  }
  for (uint32_t i = 0; i < c->ins.result_count; i++)
    if (!tl_check_define(c, (uint32_t)c->ins.result + i, state))
      return false;
  return true;
}

// --- Returning --------------------------------------------------------------

// Whether the summary lists the owner in all its relations. Callers can follow
// borrows of their own arguments and of immortals alone; anything else that the
// result borrows from, a local slot or a module variable, is never listed.
static bool summary_tells(const tl_summary *s, tl_borrow_owner borrow_owner) {
  uint32_t who = tl_borrow_owner_who(borrow_owner);
  uint16_t param = UINT16_MAX;
  if (tl_who_is_caller(who))
    param = (uint16_t)(who - TL_WHO_CALLER);
  else if (who != TL_WHO_IMMORTAL)
    return false;
  unsigned told = 0;
  for (uint16_t i = 0; i < s->borrow_owner_count; i++)
    if (s->borrow_owners[i].param == param)
      told |= 1u << (s->borrow_owners[i].relation & 31);
  return (tl_borrow_owner_relations(borrow_owner) & ~told) == 0;
}

// At a return nothing but the result owns, and the summary, on which callers
// rely, says no less about the result than its state here.
static bool check_return(tl_checker *c) {
  uint32_t x = c->ins.operands[0];
  const tl_state *state = &c->now[x];
  const tl_summary *s = &c->p->summary;
  if (!tl_check_read(c, x))
    return false;
  if (c->ins.modes[0] == TL_MODE_CONSUME && state->kind != TL_OWNS)
    return tl_refuse(c, x, TL_RULE_RETURNED_UNOWNED);
  if (c->ins.modes[0] == TL_MODE_BORROW && state->kind != TL_BORROWS)
    return tl_refuse(c, x, TL_RULE_RETURNED_AS_BORROW);
  for (uint32_t y = 0; y < c->p->slot_count; y++)
    if (y != x && tl_state_owns(&c->now[y]))
      return tl_refuse(c, y, TL_RULE_LEFT_AT_RETURN);
  if (state->kind != TL_BORROWS && !s->may_own)
    return tl_refuse(c, x, TL_RULE_UNDECLARED_OWNED);
  if (state->kind != TL_OWNS && !s->may_borrow)
    return tl_refuse(c, x, TL_RULE_UNDECLARED_BORROWED);
  for (int i = 0; i < state->count; i++)
    if (!summary_tells(s, state->borrow_owners[i]))
      return tl_refuse(c, x, TL_RULE_UNDECLARED_BORROW_OWNER);
  return true;
}

// What gives items to its heirs ends at once: until then only it is settled,
// since its heirs are all that keeps these items.
static bool check_container_end(tl_checker *c) {
  uint32_t x = (uint32_t)c->container_end;
  const uint16_t *s = c->ins.operands;
  int op = c->ins.op;
  if (op == TL_BC_LEAVE || op == TL_BC_DROP)
    c->container_end = -1;
  if (op == TL_BC_LEAVE &&
      (tl_state_relations(&c->now[s[1]], x) & TL_TO_ITEMS) != 0)
    return tl_refuse(c, x, TL_RULE_CONTAINER_END);
  bool settles = op == TL_BC_INHERIT || op == TL_BC_LEAVE || op == TL_BC_DROP
                     ? s[0] == x
                     : op == TL_BC_HOLD && s[1] == x;
  return settles || tl_refuse(c, x, TL_RULE_CONTAINER_END);
}

// The order matters: operands are read in the states before the instruction,
// the error edge sees them without what was consumed, then module variables
// end, and the result is defined last. DETACH may fail for lack of memory
// before it has changed anything, so its error edge sees the states as they
// are.
bool tl_check_ins(tl_checker *c) {
  if (c->container_end >= 0 && !check_container_end(c))
    return false;
  c->was_overflowed = c->overflowed;
  c->overflowed = -1;
  if (tl_opcode_moves_ownership(c->ins.op))
    return check_failure(c) && tl_check_ownership(c);
  if (c->ins.op == TL_BC_RET)
    return check_return(c);
  if ((c->ins.op == TL_BC_FORR || c->ins.op == TL_BC_MORE ||
       c->ins.op == TL_BC_NEXT) &&
      !check_loop(c))
    return false;
  if (!check_operands(c) || !check_globals(c) || !check_own_rebinding(c) ||
      !check_failure(c))
    return false;
  end_rebound(c, c->now);
  if (c->ins.op == TL_BC_REPLACE)
    tl_check_kept(c, c->ins.operands[0], c->ins.operands[3]);
  return check_definition(c);
}
