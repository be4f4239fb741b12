// Reading a region's instructions: calls of small functions, whose instructions
// are read as if they stood in the caller. Branches go where the numbers that
// they ask lead; parameters of a type are checked when all types are known.
#include <string.h>

#include "vm/error.h"
#include "vm/region/region_reader.h"
#include "vm/types/type.h"

// --- Branches ---------------------------------------------------------------

// What a branch that compares asks for; [negated]: it goes where that is false.
static bool comparison(uint8_t opcode, tl_op *op, bool *negated) {
  static const struct {
    uint8_t opcode, op;
    bool negated;
  } all[] = {
      {TL_BC_JLT, TL_OP_LESS, false},
      {TL_BC_JLE, TL_OP_LESS_EQUAL, false},
      {TL_BC_JEQ, TL_OP_EQUAL, false},
      {TL_BC_JNE, TL_OP_NOT_EQUAL, false},
      {TL_BC_JNLT, TL_OP_LESS, true},
      {TL_BC_JNLE, TL_OP_LESS_EQUAL, true},
      {TL_BC_JLTK, TL_OP_LESS, false},
      {TL_BC_JLEK, TL_OP_LESS_EQUAL, false},
      {TL_BC_JGTK, TL_OP_GREATER, false},
      {TL_BC_JGEK, TL_OP_GREATER_EQUAL, false},
      {TL_BC_JEQK, TL_OP_EQUAL, false},
      {TL_BC_JNEK, TL_OP_NOT_EQUAL, false},
      {TL_BC_JNLTK, TL_OP_LESS, true},
      {TL_BC_JNLEK, TL_OP_LESS_EQUAL, true},
      {TL_BC_JNGTK, TL_OP_GREATER, true},
      {TL_BC_JNGEK, TL_OP_GREATER_EQUAL, true},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (all[i].opcode == opcode) {
      *op = (tl_op)all[i].op;
      *negated = all[i].negated;
      return true;
    }
  }
  return false;
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
  if (!comparison(d->op, &op, &negated))
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

static bool note_check(tl_region_reader *rd) {
  tl_region_graph *g = rd->g;
  if (g->check_count == TL_REGION_CHECKS ||
      rd->function->param_count > TL_REGION_CHECKED)
    return false;
  tl_region_check *check = &g->checks[g->check_count++];
  check->function = rd->function;
  for (uint32_t i = 0; i < rd->function->param_count; i++) {
    if (!tl_reader_look_up(rd, rd->slots + i, &check->in[i]))
      return false;
  }
  return true;
}

// An array of a node's dtype and shape, but for items.
typedef struct stand_in {
  _Alignas(16) int64_t words[sizeof(tl_array) / 8 + 2 * TL_MAX_DIMS + 8];
} stand_in;

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
  for (int i = 0; i < g->binding_count; i++) {
    if (g->bindings[i].slot >= call->window)
      g->bindings[i].over = true;
  }
  return true;
}

// Moves an instruction's slots to where the call's are.
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
