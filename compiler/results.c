// The state of what an instruction defines: what the result owns, and from
// whom it borrows.
//
// A state names owners with the relation in which the result stands to each:
// the same value, a part of it, a view of its block, or a container whose
// items are its. The relations of an operand carry over to the result as its
// kind of result says.
#include "compiler/ownership_internal.h"

// The script's function that a call names; NULL: it is not known.
const tl_owned_function *tl_callee_of(const tl_flow *flow,
                                      const tl_cfg_ins *ins) {
  return ins->op == TL_BC_CALLK ? &flow->program->functions[ins->extra] : NULL;
}

// The library's function that the instruction calls; NULL: it is no such call.
const tl_builtin *tl_builtin_of(const tl_flow *flow, const tl_cfg_ins *ins) {
  const tl_prototype *prototype = flow->cfg->prototype;
  if (ins->op != TL_BC_CALLB || prototype == NULL ||
      ins->extra >= prototype->constant_count)
    return NULL;
  tl_slot constant = prototype->constants[ins->extra];
  return tl_is_kind(constant, TL_KIND_BUILTIN) ? constant.pointer : NULL;
}

// How it takes several items.
static tl_portion portion_of(const tl_flow *flow, const tl_cfg_ins *ins) {
  const tl_prototype *prototype = flow->cfg->prototype;
  if (ins->op == TL_BC_FIELDS)
    return TL_PORTION_CHOICE;
  if (ins->op != TL_BC_INDEX || prototype == NULL ||
      ins->extra >= prototype->unit->path_count)
    return TL_PORTION_ANY;
  return tl_path_portion(&prototype->unit->paths[ins->extra]);
}

// Adds the owners of what stands in [relation] to operand [i]: those that its
// slot borrows from and, where that lives on, the slot itself.
static void add_owners(const tl_flow *flow, int32_t i, tl_relation relation,
                       tl_state *state) {
  int32_t x = flow->operands[i];
  const tl_state *from = tl_state_of(flow, x);
  if (flow->modes[i] == TL_MODE_BORROW)
    tl_state_derive(state, from, (uint32_t)x, relation);
  else
    tl_state_derive_borrow_owners(state, from, relation);
}

// A view of operand 0, or a list or record that borrows items of it: it stands
// to that in [first] and all further relations.
static tl_state slice_state(const tl_flow *flow, tl_relation first) {
  tl_state state = tl_state_new(TL_OWNS);
  for (tl_relation r = first; r <= TL_LENDS; r++)
    add_owners(flow, 0, r, &state);
  // x[:] of a string is x itself, which the slot may then only borrow.
  if (tl_state_needs_borrow_owner(&state))
    state.kind = TL_EITHER;
  return state;
}

// Adds that the result is an item of operand 0: owned, where that ends and has
// counts of all its items.
static void add_item(const tl_flow *flow, tl_state *state) {
  if (flow->modes[0] == TL_MODE_CONSUME &&
      !tl_state_in(tl_state_of(flow, flow->operands[0]), TL_TO_ITEMS))
    state->kind = TL_OWNS;
  else
    add_owners(flow, 0, TL_PART, state);
}

// An item of operand 0, or a view of it: only the run knows.
static tl_state item_state(const tl_flow *flow, const tl_cfg_ins *ins) {
  tl_portion portion = portion_of(flow, ins);
  if (portion != TL_PORTION_ANY)
    return slice_state(flow, (tl_relation)portion);
  tl_state state = tl_state_new(TL_EITHER);
  add_owners(flow, 0, TL_HELD, &state);
  // What is loaded is no slice.
  if (flow->modes[0] == TL_MODE_BORROW || ins->op != TL_BC_INDEX)
    tl_state_strip(&state, TL_TO_ITEMS);
  add_item(flow, &state);
  return state;
}

// The next item of an iteration: an item of the container, a view of it, or,
// of enumerate and its kin, a list that borrows the item.
static tl_state next_state(const tl_flow *flow, const tl_cfg_ins *ins) {
  int32_t x = flow->operands[0];
  const tl_state *from = tl_state_of(flow, x);
  tl_state state = tl_state_new(TL_EITHER);
  // An item of a list is no view of it.
  if (ins->op != TL_BC_NEXT || ins->extra != TL_NEXT_OF_LIST)
    tl_state_derive(&state, from, (uint32_t)x, TL_HELD);
  tl_state_strip(&state, TL_TO_ITEMS);
  tl_state_derive(&state, from, (uint32_t)x, TL_PART);
  if (ins->op == TL_BC_NEXT && ins->extra >= TL_NEXT_PARTS)
    tl_state_derive(&state, from, (uint32_t)x, TL_LENDS);
  return state;
}

// A view object is owned; the block behind it is borrowed from the operand.
static tl_state view_state(const tl_flow *flow) {
  tl_state state = tl_state_new(TL_OWNS);
  add_owners(flow, 0, TL_HELD, &state);
  return state;
}

// Operand 0 itself or a new object.
static tl_state same_state(const tl_flow *flow) {
  bool owns =
      flow->modes[0] != TL_MODE_BORROW && flow->modes[0] != TL_MODE_EITHER;
  tl_state state = tl_state_new(owns ? TL_OWNS : TL_EITHER);
  if (!owns)
    add_owners(flow, 0, TL_SAME, &state);
  return state;
}

// Of a list or a string: those are no views.
static tl_state whole_state(const tl_flow *flow) {
  tl_state state = same_state(flow);
  if (flow->modes[0] == TL_MODE_CONSUME)
    add_owners(flow, 0, TL_SAME, &state);
  tl_state_strip(&state, 1u << TL_HELD);
  return state;
}

// A new container, or the list that one more item is pushed into: it borrows
// what it does not take over.
static tl_state container_state(const tl_flow *flow, const tl_cfg_ins *ins) {
  tl_state state = tl_state_new(TL_OWNS);
  for (int32_t i = 0; i < ins->operand_count; i++) {
    int32_t x = flow->operands[i];
    const tl_state *from = tl_state_of(flow, x);
    if (tl_opcode_role(ins->op, i) != TL_ROLE_STORE) {
      tl_state_derive_items(&state, from);
      continue;
    }
    if (flow->modes[i] == TL_MODE_RETAIN)
      continue;  // it keeps its items itself
    // A slot that only borrows has nothing of its own to lend: whoever it
    // borrows from lends in its place.
    if (flow->modes[i] == TL_MODE_BORROW && from->kind != TL_BORROWS)
      tl_state_add(&state, tl_borrow_owner_of((uint32_t)x, TL_LENDS));
    tl_state_derive_stored(&state, from);
  }
  return state;
}

// What the library says that its first argument may be to the result.
static tl_state library_state(const tl_flow *flow, const tl_cfg_ins *ins) {
  const tl_builtin *builtin = tl_builtin_of(flow, ins);
  if (builtin == NULL || !tl_builtin_may_borrow(builtin))
    return tl_state_new(TL_OWNS);
  if (builtin->result == TL_VIEWS)
    return view_state(flow);
  bool lists = builtin->result == TL_LISTS;
  tl_state state = lists ? tl_state_new(TL_OWNS) : same_state(flow);
  if (lists || flow->modes[0] != TL_MODE_BORROW)
    add_owners(flow, 0, lists ? TL_LENDS : TL_HELD, &state);
  return state;
}

// Adds what the result borrows from argument [i], to which it stands in
// [relation], as far as that is not simply the result's own.
static void add_argument(const tl_flow *flow, int32_t i, tl_relation relation,
                         tl_state *state, bool *owned, bool *borrowed) {
  const tl_state *from = tl_state_of(flow, flow->operands[i]);
  // An argument that is passed leaves this function: the result cannot borrow
  // from its slot, only from whomever the slot borrows from.
  bool passed = flow->modes[i] != TL_MODE_BORROW;
  bool whole = (1u << relation & TL_OF_WHOLE) != 0;
  *owned |= passed && whole;
  // An item of what was given may be lent to that.
  bool lent = relation == TL_PART && tl_state_in(from, TL_TO_ITEMS);
  if (passed &&
      (flow->modes[i] == TL_MODE_RETAIN || (from->kind == TL_OWNS && !lent)))
    return;
  *borrowed |= whole;
  add_owners(flow, i, relation, state);
  if (relation == TL_LENDS)  // it may be in what comes back, too
    tl_state_derive_inner(state, from);
}

// What the callee's summary says about the result, in terms of the arguments.
static tl_state call_state(const tl_flow *flow, const tl_cfg_ins *ins) {
  const tl_owned_function *callee = tl_callee_of(flow, ins);
  if (callee->result.kind == TL_ABSENT)  // never returns, as far as is known
    return tl_state_borrowed(TL_BORROWS, TL_WHO_IMMORTAL, TL_PART);
  bool owned = callee->result.kind != TL_BORROWS, borrowed = false;
  tl_state state = tl_state_new(TL_OWNS);
  for (int k = 0; k < callee->result.count; k++) {
    tl_borrow_owner borrow_owner = callee->result.borrow_owners[k];
    uint32_t who = tl_borrow_owner_who(borrow_owner);
    if (!tl_who_is_caller(who)) {
      tl_state_add(&state, borrow_owner);
      borrowed |= (borrow_owner & TL_OF_WHOLE) != 0;
      continue;
    }
    int32_t i = (int32_t)(who - TL_WHO_CALLER);
    for (tl_relation r = TL_SAME; i < ins->operand_count && r <= TL_INNER; r++)
      if ((borrow_owner >> r & 1) != 0)
        add_argument(flow, i, r, &state, &owned, &borrowed);
  }
  // What was given may come back, or some of it.
  for (int32_t i = 0; i < ins->operand_count; i++) {
    if (!tl_is_consumed(flow, i))
      continue;
    const tl_state *from = tl_state_of(flow, flow->operands[i]);
    tl_state_derive_items(&state, from);
    tl_state_derive_inner(&state, from);
  }
  state.kind = owned && borrowed ? TL_EITHER : borrowed ? TL_BORROWS : TL_OWNS;
  return state;
}

// Follows from the opcode's kind of result (opcodes.h) and from the operands'
// modes and states, so it must run before those that are consumed are
// forgotten.
tl_state tl_result_state(const tl_flow *flow, const tl_cfg_ins *ins) {
  if (tl_opcode_lends(ins->op))
    return container_state(flow, ins);
  switch ((tl_result_kind)tl_opcodes[ins->op].result) {
    case TL_DEF_OWNED:
      return library_state(flow, ins);
    case TL_DEF_TARGET:
      return tl_state_new(TL_OWNS);
    case TL_DEF_ITEM:
      return item_state(flow, ins);
    case TL_DEF_NEXT:
      return next_state(flow, ins);
    // Any of the items, which are no views.
    case TL_DEF_ITEMS: {
      tl_state state = tl_state_new(TL_EITHER);
      add_item(flow, &state);
      return state;
    }
    case TL_DEF_SAME:
      return whole_state(flow);
    case TL_DEF_CALL:
      return call_state(flow, ins);
    case TL_DEF_GLOBAL:
      return tl_state_borrowed(TL_BORROWS, TL_WHO_GLOBAL + ins->extra, TL_PART);
    case TL_DEF_CAPTURE:
      return tl_state_borrowed(TL_BORROWS, TL_WHO_SELF, TL_PART);
    case TL_DEF_SELF:
      return tl_state_borrowed(TL_BORROWS, TL_WHO_SELF, TL_SAME);
    default:
      return tl_state_borrowed(TL_BORROWS, TL_WHO_IMMORTAL, TL_PART);
  }
}
