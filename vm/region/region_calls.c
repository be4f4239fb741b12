// Stage "read": calls of small functions, whose instructions are read as if
// they stood in the caller. Branches go where the numbers that they ask lead;
// parameters of a type are checked when all types are known.
//
// Which function a call goes to is told by the code around it (writers), or
// only by a run: one of another module's, a parameter, a captured one. What
// such a function reads besides is read where it has it.
//
// Built for size.

#include "vm/bytecode/module.h"
#include "vm/region/region_reader.h"

// === Writers =================================================================

// A beginning for each slot, one for the end, one more for the counting, and a
// pc for each slot that an instruction writes.
size_t tl_writers_size(const tl_prototype *p) {
  size_t size = (size_t)p->slot_count + 2;
  for (uint32_t pc = 0, count; pc < p->code_count; pc++, size += count)
    tl_decode_result(p, pc, &count);
  return size;
}

// A counting sort of the writers by slot: one pass counts, sums give where each
// slot's begin, a second pass writes them.
//
//     first  [0, 2, 2, 3]    slot 0 is written at 4 and 9, slot 1 nowhere,
//     pcs    [4, 9, 7]       slot 2 at 7
void tl_writers_index(tl_writers *w, const tl_prototype *p, uint32_t *memory) {
  w->p = p;
  w->first = memory;
  w->pcs = memory + p->slot_count + 2;
  // Counted two places on and summed, each slot's beginning is one place on;
  // as the pcs are filled in, it moves to the next slot's.
  uint32_t *next = w->first + 1, count;
  for (uint32_t pc = 0; pc < p->code_count; pc++)
    for (int32_t slot = tl_decode_result(p, pc, &count); count > 0; count--)
      next[slot++ + 1]++;
  for (uint32_t i = 1; i <= p->slot_count; i++) next[i] += next[i - 1];
  for (uint32_t pc = 0; pc < p->code_count; pc++)
    for (int32_t slot = tl_decode_result(p, pc, &count); count > 0; count--)
      w->pcs[next[slot++]++] = pc;
}

// Of the writers before [pc] the last one in the text, not the last one that
// has run: code that branches is read by callers who know that.
static bool find_by_scan(const tl_prototype *p, uint32_t pc, uint32_t slot,
                         uint32_t *at) {
  uint32_t count;
  while (pc-- > 0)
    if (slot - (uint32_t)tl_decode_result(p, *at = pc, &count) < count)
      return true;
  return false;
}

// The pcs of a slot rise.
static bool find_in_index(const tl_writers *w, uint32_t pc, uint32_t slot,
                          uint32_t *at) {
  const uint32_t *pcs = w->pcs + w->first[slot];
  uint32_t count = w->first[slot + 1] - w->first[slot];
  uint32_t before =
      pc == 0 ? 0 : tl_count_upto(pcs, count, sizeof *pcs, pc - 1);
  if (before > 0)
    *at = pcs[before - 1];
  return before > 0;
}

// False: no instruction before [pc] writes the slot, which is then a parameter.
bool tl_writers_find(const tl_writers *w, uint32_t pc, uint32_t slot,
                     uint32_t *at, tl_decoded *writer) {
  if (w->first == NULL ? !find_by_scan(w->p, pc, slot, at)
                       : !find_in_index(w, pc, slot, at))
    return false;
  tl_decode(w->p, *at, writer);
  return true;
}

// === Known functions =========================================================

// --- Branches ---------------------------------------------------------------

// Jumps on comparisons stand in a row in the table of opcodes.
bool tl_region_comparison(uint8_t opcode, tl_op *op, bool *negated) {
  static const uint8_t ops[] = {
      TL_OP_LESS,  TL_OP_LESS_EQUAL, TL_OP_EQUAL, TL_OP_NOT_EQUAL,
      TL_OP_LESS,  TL_OP_LESS_EQUAL, TL_OP_LESS,  TL_OP_GREATER,
      TL_OP_EQUAL, TL_OP_NOT_EQUAL,  TL_OP_LESS,  TL_OP_GREATER};
  if (opcode < TL_BC_JLT || opcode > TL_BC_JNGTK)
    return false;
  *op = (tl_op)ops[opcode - TL_BC_JLT];
  *negated = opcode == TL_BC_JNLT || opcode == TL_BC_JNLTK ||
             opcode == TL_BC_JNLE || opcode == TL_BC_JNGTK;
  return true;
}

// An operand of a branch: the graph is good for this value alone.
static bool read_condition(tl_region_reader *rd, const tl_decoded *d,
                           uint32_t i, tl_slot *value) {
  int in;
  if (!tl_reader_look_up(rd, d->operands[i], &in) || in >= 0)
    return false;
  tl_region_use *u = tl_reader_use(rd, in);
  u->exact = true;
  *value = u->value;
  tl_reader_consume(rd, d->operands[i], in, d->modes[i]);
  return !tl_is_heap(*value);
}

// Two floats or two integers, as the instruction compares them.
// Comparisons of an int with a float are left to the call, as are others.
static bool compare(tl_region_reader *rd, tl_op op, const tl_slot *values,
                    bool *truth) {
  int both = tl_class(values[0]) | tl_class(values[1]);
  tl_slot result;
  if ((both != TL_CLASS_I64 && both != TL_CLASS_F64) ||
      !tl_elementwise(rd->g->vm, op, (tl_slot[]){values[0], values[1]},
                      &result))
    return false;
  *truth = result.u != 0;
  return true;
}

// Whether a branch is taken; false: that cannot be said here.
// Its operands are numbers, since an array has no truth value.
static bool read_branch(tl_region_reader *rd, const tl_decoded *d,
                        bool *taken) {
  tl_slot values[2];
  tl_op op;
  bool negated;
  if (d->op == TL_BC_JMP) {
    *taken = true;
    return true;
  }
  if (!read_condition(rd, d, 0, &values[0]))
    return false;
  if (d->op == TL_BC_JT || d->op == TL_BC_JF) {
    *taken = (values[0].u != 0) == (d->op == TL_BC_JT);
    return tl_class(values[0]) == TL_CLASS_BOOL;
  }
  if (!tl_region_comparison(d->op, &op, &negated))
    return false;
  if (d->operand_count == 2) {
    if (!read_condition(rd, d, 1, &values[1]))
      return false;
  } else {
    // The literal as what it is compared with: it stands twice.
    values[1] = rd->function->constants[d->extra];
    if (tl_class(values[0]) == TL_CLASS_F64)
      values[1] = rd->function->constants[d->extra + 1];
  }
  if (!compare(rd, op, values, taken))
    return false;
  *taken = *taken != negated;
  return true;
}

// --- Types of parameters ----------------------------------------------------

// The call is read now, its types are checked when those of the nodes are
// known.
static bool note_check(tl_region_reader *rd) {
  tl_region_graph *g = rd->g;
  if (g->check_count == TL_REGION_CHECKS ||
      rd->function->param_count > TL_REGION_CHECKED)
    return false;
  tl_region_check *check = &g->checks[g->check_count++];
  check->function = rd->function;
  for (uint32_t i = 0; i < rd->function->param_count; i++)
    if (!tl_reader_look_up(rd, rd->slots + i, &check->in[i]))
      return false;
  return true;
}

// An array of a node's dtype and shape, but for items.
typedef struct stand_in {
  _Alignas(16) int64_t words[sizeof(tl_array) / 8 + 2 * TL_MAX_DIMS + 8];
} stand_in;

// Type patterns look at the header alone, so that no items are needed.
static tl_slot open_stand_in(stand_in *s, const tl_region_graph *g, int node) {
  const tl_region_node *n = &g->nodes[node];
  const tl_region_shape *shape = &g->shapes[n->shape];
  tl_array *a = (tl_array *)(void *)s->words;
  memset(s, 0, sizeof *s);
  a->head = (tl_object){.count = 1,
                        .kind = TL_KIND_ARRAY,
                        .dtype = (uint8_t)n->typing.result,
                        .ndim = (uint8_t)shape->ndim,
                        .nbytes = sizeof *s};
  a->size = tl_region_size(g);
  memcpy(tl_shape(a), shape->lengths,
         (size_t)shape->ndim * sizeof *shape->lengths);
  tl_shape_strides(shape->ndim, shape->lengths, tl_itemsize(n->typing.result),
                   tl_strides(a));
  return (tl_slot){.tag = tl_array_tag(a), .array = a};
}

// A node behind the result has no type yet, and its call is not this region's.
bool tl_region_check_types(const tl_region_graph *g) {
  for (int i = 0; i < g->check_count; i++) {
    const tl_region_check *check = &g->checks[i];
    tl_bindings bindings = {.count = 0};
    for (uint32_t k = 0; k < check->function->param_count; k++) {
      const tl_function_param *p = &check->function->params[k];
      stand_in made;
      if (p->pattern == NULL)
        continue;
      if (check->in[k] > g->value)
        return false;
      tl_slot value = check->in[k] >= 0 ? open_stand_in(&made, g, check->in[k])
                                        : g->uses[-1 - check->in[k]].value;
      if (!tl_type_match(g->vm, p->pattern, value, &bindings, p->name->text))
        return false;
    }
  }
  return true;
}

// --- The whole --------------------------------------------------------------

// What a function returns: what it has computed, or a view.
// The result goes to a slot of the caller, which is one level up.
static bool read_return(tl_region_reader *rd, const tl_decoded *d,
                        uint32_t to) {
  int in;
  if (!tl_reader_look_up(rd, d->operands[0], &in))
    return false;
  const tl_region_use *u = tl_reader_use(rd, in);
  rd->depth--;
  bool ok = (u == NULL || !tl_is_heap(u->value) || !u->direct) &&
            tl_reader_bind(rd, to, in, u != NULL && !tl_is_heap(u->value));
  rd->depth++;
  return ok;
}

// What is in a call's window and above ends with it.
static bool end_window(tl_region_graph *g, const tl_decoded *call) {
  for (int i = 0; i < g->binding_count; i++)
    if (g->bindings[i].slot >= call->window)
      g->bindings[i].over = true;
  return true;
}

// Moves an instruction's slots to where the call's are.
// A callee's slots begin at the window of its call, in the same frame, so that
// all slots that are read have one numbering.
static void shift(tl_decoded *d, uint32_t slots) {
  if (d->result >= 0)
    d->result += (int32_t)slots;
  for (uint32_t i = 0; i < d->operand_count; i++)
    d->operands[i] = (uint16_t)(d->operands[i] + slots);
  d->window += slots;
}

// Its slots are names alone; an error in it is left to the call itself.
bool tl_reader_inline(tl_region_reader *rd, const tl_decoded *call) {
  tl_region_reader inner = *rd;
  tl_decoded d;
  if (!tl_reader_callee(rd, call, &inner))
    return false;
  inner.slots = call->window;
  for (uint32_t i = 0; i < call->window_count; i++) {
    int in;
    if (!tl_reader_look_up(rd, call->window + i, &in))
      return false;
  }
  if (++inner.depth > TL_REGION_DEPTH)
    return false;
  for (uint32_t pc = 0; pc < inner.function->code_count;) {
    bool taken = false;
    tl_decode(inner.function, pc, &d);
    shift(&d, inner.slots);
    if (d.op == TL_BC_RET)
      return read_return(&inner, &d, (uint32_t)call->result) &&
             end_window(rd->g, call);
    bool ok = d.op == TL_BC_CHECKTYPES ? note_check(&inner)
              : d.target >= 0          ? read_branch(&inner, &d, &taken)
                                       : tl_reader_one(&inner, pc, &d);
    if (!ok)
      return false;
    pc = taken ? (uint32_t)d.target : pc + d.words;
  }
  return false;
}

// === Functions that only a run knows =========================================

// --- What the code tells ----------------------------------------------------

// The group of a CLOSURE, or of another member's. A function that was moved
// more often than this is one that only a run knows.
static tl_prototype *find_member(const tl_writers *w, uint32_t pc,
                                 uint32_t slot) {
  enum { MOVES = 8 };
  uint32_t member = 0;
  tl_decoded d;
  for (int i = 0; i < MOVES && tl_writers_find(w, pc, slot, &pc, &d); i++) {
    if (d.op == TL_BC_CLOSURE) {
      const tl_group *group = &w->p->unit->groups[d.extra];
      return member < group->member_count ? group->members[member] : NULL;
    }
    if (d.op == TL_BC_LOADK &&
        tl_is_kind(w->p->constants[d.extra], TL_KIND_FUNCTION))
      return w->p->constants[d.extra].pointer;
    if (d.op == TL_BC_MEMBER)
      member = d.extra;
    else if (d.op != TL_BC_MOV && d.op != TL_BC_MOVB)
      return NULL;
    slot = d.operands[0];
  }
  return NULL;
}

// A constant names the function of this unit; otherwise the slot is followed
// back to where its value was made.
tl_prototype *tl_region_find_callee(const tl_writers *w, uint32_t pc,
                                    const tl_decoded *call) {
  if (call->op == TL_BC_CALLK) {
    const tl_unit *unit = w->p->unit;
    bool known = call->extra < unit->prototype_count;
    return known ? unit->prototypes[call->extra] : NULL;
  }
  return find_member(w, pc, call->operands[0]);
}

// A view that is an argument.
bool tl_region_may_own(const tl_writers *w, uint32_t pc, uint32_t slot) {
  uint32_t at;
  tl_decoded d;
  return tl_writers_find(w, pc, slot, &at, &d) &&
         tl_region_step_of(d.op, d.extra) == TL_STEP_VIEW;
}

// --- Reading ----------------------------------------------------------------

// What the region makes, and a view that it alone knows, need no owner.
bool tl_reader_own(tl_region_reader *rd, const tl_decoded *d) {
  int in;
  if (!tl_reader_look_up(rd, d->operands[0], &in))
    return false;
  const tl_region_use *u = tl_reader_use(rd, in);
  return u == NULL || !u->direct;
}

// The same use called twice is one callee, with one guard. -1: there are too
// many.
static int add_callee(tl_region_graph *g, const tl_prototype *function,
                      int use) {
  for (int i = 0; i < g->callee_count; i++)
    if (g->callees[i].use == use)
      return i;
  if (g->callee_count == TL_REGION_CALLEES)
    return -1;
  g->callees[g->callee_count].function = function;
  g->callees[g->callee_count].use = (int8_t)use;
  return g->callee_count++;
}

// A function that is called by a constant needs no guard; one that a slot has
// needs the guard that its code is the same. Named and spread arguments are
// left to the call.
bool tl_reader_callee(tl_region_reader *rd, const tl_decoded *call,
                      tl_region_reader *inner) {
  tl_region_graph *g = rd->g;
  int in;
  if (call->op == TL_BC_CALLK) {
    inner->function = rd->function->unit->prototypes[call->extra];
    return true;
  }
  if (call->extra != 0 || !tl_reader_look_up(rd, call->operands[0], &in) ||
      in >= 0)
    return false;
  tl_slot value = tl_reader_use(rd, in)->value;
  if (!tl_is_kind(value, TL_KIND_FUNCTION) &&
      !tl_is_kind(value, TL_KIND_CLOSURE))
    return false;
  const tl_prototype *function = tl_function_prototype(value);
  if (function->joins < TL_JOINS || function->has_rest ||
      function->param_count != call->window_count)
    return false;
  int before = g->callee_count, callee = add_callee(g, function, -1 - in);
  if (callee < 0)
    return false;
  if (callee == before) {
    tl_reader_add_guard(
        rd, in,
        (tl_region_guard){.from = TL_FROM_CALLEE, .at = (uint32_t)callee});
  }
  inner->function = function;
  inner->callee = (int8_t)callee;
  return true;
}
