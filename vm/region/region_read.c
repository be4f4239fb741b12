// Stage "read": a region's instructions as a graph: what they would do. Nothing
// is written meanwhile, so that a region may be given up at any point. What
// slots hold is read in region_slots.c, parts of arrays in region_views.c,
// calls in region_calls.c.
//
// Built for size.
#include "vm/region/region_reader.h"

// === What instructions are ===================================================

// Entries are operations plus one, so that 0 is an opcode that is none. Opcodes
// with a literal or an operation more in them count as their first operation.
tl_op tl_region_op(uint8_t opcode, uint32_t extra) {
  static const uint8_t ops[TL_OPCODE_COUNT] = {
      [TL_BC_ADD] = TL_OP_ADD + 1,
      [TL_BC_SUB] = TL_OP_SUBTRACT + 1,
      [TL_BC_MUL] = TL_OP_MULTIPLY + 1,
      [TL_BC_DIV] = TL_OP_DIVIDE + 1,
      [TL_BC_FLOORDIV] = TL_OP_FLOOR_DIVIDE + 1,
      [TL_BC_MOD] = TL_OP_REMAINDER + 1,
      [TL_BC_POW] = TL_OP_POW + 1,
      [TL_BC_BITAND] = TL_OP_BITWISE_AND + 1,
      [TL_BC_BITOR] = TL_OP_BITWISE_OR + 1,
      [TL_BC_BITXOR] = TL_OP_BITWISE_XOR + 1,
      [TL_BC_SHL] = TL_OP_LEFT_SHIFT + 1,
      [TL_BC_SHR] = TL_OP_RIGHT_SHIFT + 1,
      [TL_BC_EQ] = TL_OP_EQUAL + 1,
      [TL_BC_NE] = TL_OP_NOT_EQUAL + 1,
      [TL_BC_LT] = TL_OP_LESS + 1,
      [TL_BC_LE] = TL_OP_LESS_EQUAL + 1,
      [TL_BC_GT] = TL_OP_GREATER + 1,
      [TL_BC_GE] = TL_OP_GREATER_EQUAL + 1,
      [TL_BC_ADDI] = TL_OP_ADD + 1,
      [TL_BC_SUBI] = TL_OP_SUBTRACT + 1,
      [TL_BC_MULK] = TL_OP_MULTIPLY + 1,
      [TL_BC_DIVK] = TL_OP_DIVIDE + 1,
      [TL_BC_MODK] = TL_OP_REMAINDER + 1,
      [TL_BC_POWK] = TL_OP_POW + 1,
      [TL_BC_BITANDK] = TL_OP_BITWISE_AND + 1,
      [TL_BC_SHRK] = TL_OP_RIGHT_SHIFT + 1,
  };
  if (opcode == TL_BC_ELEM1 || opcode == TL_BC_ELEM2 || opcode == TL_BC_ELEM3)
    return extra < TL_OP_COUNT ? (tl_op)extra : TL_OP_COUNT;
  return ops[opcode] == 0 ? TL_OP_COUNT : (tl_op)(ops[opcode] - 1);
}

// What is no step of its own may still be an operation of the table above.
tl_region_step tl_region_step_of(uint8_t opcode, uint32_t extra) {
  static const uint8_t steps[TL_OPCODE_COUNT] = {
      [TL_BC_LOADK] = TL_STEP_LOAD,      [TL_BC_LOADI] = TL_STEP_LOAD,
      [TL_BC_GETG] = TL_STEP_LOAD,       [TL_BC_GETC] = TL_STEP_LOAD,
      [TL_BC_SELF] = TL_STEP_LOAD,       [TL_BC_MOV] = TL_STEP_MOVE,
      [TL_BC_MOVB] = TL_STEP_MOVE,       [TL_BC_DROP] = TL_STEP_DROP,
      [TL_BC_HOLD] = TL_STEP_HOLD,       [TL_BC_KEEP] = TL_STEP_HOLD,
      [TL_BC_INHERIT] = TL_STEP_HOLD,    [TL_BC_LEAVE] = TL_STEP_HOLD,
      [TL_BC_OWN] = TL_STEP_HOLD,        [TL_BC_KEEPALL] = TL_STEP_HOLD,
      [TL_BC_KEEPOF] = TL_STEP_HOLD,     [TL_BC_DETACH] = TL_STEP_HOLD,
      [TL_BC_SETTLE] = TL_STEP_TRANSFER, [TL_BC_GETEL] = TL_STEP_VIEW,
      [TL_BC_GETEL2] = TL_STEP_VIEW,     [TL_BC_INDEX] = TL_STEP_VIEW,
      [TL_BC_TAKEEL] = TL_STEP_VIEW,     [TL_BC_GETF] = TL_STEP_VIEW,
      [TL_BC_SETEL] = TL_STEP_PLACE,     [TL_BC_REPLACE] = TL_STEP_PLACE,
      [TL_BC_SETEL2] = TL_STEP_PLACE,    [TL_BC_SETPATH] = TL_STEP_PLACE,
      [TL_BC_CALLB] = TL_STEP_CALL,      [TL_BC_CALLK] = TL_STEP_INLINE,
      [TL_BC_CALL] = TL_STEP_INLINE};
  return steps[opcode] != TL_STEP_NONE ? (tl_region_step)steps[opcode]
         : tl_region_op(opcode, extra) == TL_OP_COUNT ? TL_STEP_NONE
                                                      : TL_STEP_OPERATION;
}

// Built-ins say themselves how they may stand in a region (tl_builtin.fused);
// of the host's functions those with a loop do.
tl_region_step tl_region_call(const tl_builtin *builtin) {
  if (tl_builtin_is_host(builtin))
    return ((const tl_host_function *)(const void *)builtin)->loop != NULL
               ? TL_STEP_HOST
               : TL_STEP_NONE;
  switch (builtin->fused) {
    case TL_FUSED_NOT:
      return TL_STEP_NONE;
    case TL_FUSED_CLIP:
      return TL_STEP_CLIP;
    case TL_FUSED_ROLL:
      return TL_STEP_ROLL;
    case TL_FUSED_LENGTH:
      return TL_STEP_LENGTH;
    default:
      return tl_builtin_begins(builtin) ? TL_STEP_CAST : TL_STEP_CALL;
  }
}

// === The reading =============================================================

// --- Operations -------------------------------------------------------------

// Such an operation is no node: its result is a number, and a guard computes it
// again.
static bool all_scalars(const tl_region_graph *g, const tl_region_node *n) {
  for (int i = 0; i < n->arity; i++)
    if (!tl_region_is_scalar(g, n->in[i]))
      return false;
  return true;
}

// A node on scalars alone is computed on the spot.
static bool compute_scalar(tl_region_reader *rd, const tl_region_node *n,
                           int *out) {
  tl_region_graph *g = rd->g;
  bool casts = n->cast != TL_DTYPE_COUNT;
  tl_region_guard guard = {.from = casts ? TL_FROM_CAST : TL_FROM_SCALARS,
                           .at = casts ? (uint32_t)n->cast : (uint32_t)n->op};
  for (int i = 0; i < n->arity; i++) guard.of[i] = (int8_t)(-1 - n->in[i]);
  tl_slot result;
  if (!tl_region_compute_scalars(g, &guard, &result))
    return false;
  *out = tl_reader_add_use(rd, result, -1, true);
  tl_reader_add_guard(rd, *out, guard);
  return *out < 0;
}

// The node that computes the same already, or -1.
// Only of operations: a second call of a host's function may give something
// else.
static int find_same(const tl_region_graph *g, const tl_region_node *n) {
  for (int i = 0; i < g->node_count; i++) {
    const tl_region_node *other = &g->nodes[i];
    if (other->op != n->op || other->cast != n->cast || other->host != NULL)
      continue;
    bool same = true;
    for (int k = 0; k < n->arity && same; k++) same = other->in[k] == n->in[k];
    if (same)
      return i;
  }
  return -1;
}

// Ends the node that stands behind the last one: *in is its value, which may be
// that of another node.
static bool end_node(tl_region_reader *rd, int *in) {
  tl_region_graph *g = rd->g;
  const tl_region_node *n = &g->nodes[g->node_count];
  if (all_scalars(g, n))
    return compute_scalar(rd, n, in);
  int same = find_same(g, n);
  *in = same >= 0 ? same : g->node_count++;
  return true;
}

// The node behind the last one, not yet counted: what fails leaves nothing.
// NULL: there are too many, or it is no operation.
static tl_region_node *begin_node(tl_region_reader *rd, tl_op op) {
  tl_region_graph *g = rd->g;
  if (op == TL_OP_COUNT || g->node_count == TL_REGION_NODES)
    return NULL;
  tl_region_node *n = &g->nodes[g->node_count];
  n->op = op;
  n->cast = TL_DTYPE_COUNT;
  n->host = NULL;
  n->is_power = op == TL_OP_POW;
  n->arity = (int8_t)tl_ops[op].arity;
  n->at = rd->at;
  n->pc = rd->end;
  return n;
}

// The literal of a K form, which stands behind the slot operand.
static bool read_literal(tl_region_reader *rd, const tl_ins *ins,
                         const tl_decoded *d, int *in) {
  tl_slot value = tl_opcodes[ins->op].format == TL_FORMAT_ABI
                      ? tl_weak_int((int16_t)ins->c)
                      : rd->function->constants[d->extra];
  *in = tl_reader_add_literal(rd, value);
  return *in < 0 && tl_region_is_operand(tl_reader_use(rd, *in));
}

// Operands in the order of the instruction, then the literal of its K form.
// An operand that is read twice, as in x * x, ends with the second.
static bool read_operation(tl_region_reader *rd, uint32_t pc,
                           const tl_decoded *d) {
  tl_region_node *n = begin_node(rd, tl_region_op(d->op, d->extra));
  int in;
  if (n == NULL)
    return false;
  for (uint32_t i = 0; i < d->operand_count; i++)
    if (!tl_reader_operand(rd, d, i, &n->in[i]))
      return false;
  if ((int)d->operand_count < n->arity &&
      !read_literal(rd, &rd->function->code[pc], d, &n->in[1]))
    return false;
  return end_node(rd, &in) &&
         tl_reader_bind(rd, (uint32_t)d->result, in, in < 0);
}

// The dtype that int, float and bool convert to; TL_DTYPE_COUNT: another.
static tl_dtype converts_to(const tl_builtin *builtin) {
  tl_fused_kind kind = builtin->fused;
  return kind == TL_FUSED_TO_INT     ? TL_INT64
         : kind == TL_FUSED_TO_FLOAT ? TL_FLOAT64
         : kind == TL_FUSED_TO_BOOL  ? TL_BOOL
                                     : TL_DTYPE_COUNT;
}

// Argument [i] of a call, whose value the graph is only for then; NULL: it is
// computed in the region.
static const tl_slot *exact_argument(tl_region_reader *rd, const tl_decoded *d,
                                     uint32_t i) {
  int in;
  if (!tl_reader_look_up(rd, d->window + i, &in) || in >= 0)
    return NULL;
  tl_region_use *u = tl_reader_use(rd, in);
  u->exact = true;
  return &u->value;
}

// Whether a call of int has its default base, 0: numbers take no other.
static bool has_no_base(tl_region_reader *rd, const tl_decoded *d) {
  const tl_slot *base = d->window_count == 2 ? exact_argument(rd, d, 1) : NULL;
  return base != NULL && tl_class(*base) == TL_CLASS_I64 && base->i == 0;
}

// Whether a call of astype says nothing of what does not fit.
static bool is_usual_cast(tl_region_reader *rd, const tl_decoded *d) {
  const tl_slot *overflow =
      d->window_count == 4 ? exact_argument(rd, d, 3) : NULL;
  return overflow != NULL && tl_is_none(*overflow);
}

// The dtype that a call converts to: the function's own, or what astype is
// asked for.
// Marks what it has looked at as exact.
static tl_dtype read_target(tl_region_reader *rd, const tl_decoded *d) {
  tl_dtype own = converts_to(rd->function->constants[d->extra].pointer);
  if (own == TL_INT64)
    return has_no_base(rd, d) ? own : TL_DTYPE_COUNT;
  if (own != TL_DTYPE_COUNT || !is_usual_cast(rd, d))
    return own;
  const tl_slot *to = exact_argument(rd, d, 1);
  return to != NULL && tl_is_type(*to) && to->type->kind == TL_TYPE_DTYPE
             ? to->type->dtype
             : TL_DTYPE_COUNT;
}

// Whether the use is an array that a cast to [to] gives itself. The graph is
// good for arrays of that dtype alone. Of a view a part may be set to it, which
// takes a node.
static bool has_dtype(const tl_region_use *u, tl_dtype to) {
  return u != NULL && u->direct && tl_is_array(u->value) &&
         tl_array_dtype(u->value.array) == to;
}

// A cast is a node of one operand, or moves what has the dtype already. Its
// other arguments are the same in each run, since the graph is good for their
// values alone.
static bool read_cast(tl_region_reader *rd, const tl_decoded *d) {
  tl_region_node *n = begin_node(rd, TL_OP_POSITIVE);
  int in;
  if (n == NULL || !tl_reader_look_up(rd, d->window, &n->in[0]) ||
      !tl_region_is_operand(tl_reader_use(rd, n->in[0])))
    return false;
  tl_dtype to = read_target(rd, d);
  if (to >= TL_STRING)
    return false;
  if (has_dtype(tl_reader_use(rd, n->in[0]), to)) {
    tl_reader_binding(rd->g, d->window)->over = true;
    return tl_reader_bind(rd, (uint32_t)d->result, n->in[0], false);
  }
  tl_reader_consume(rd, d->window, n->in[0], TL_MODE_CONSUME);
  n->cast = to;
  return end_node(rd, &in) &&
         tl_reader_bind(rd, (uint32_t)d->result, in, in < 0);
}

// clip(x, min, max): its maximum with min, then the minimum with max.
// Bounds that are none give no node; the graph is then good for none alone.
static bool read_clip(tl_region_reader *rd, const tl_decoded *d) {
  static const tl_op ops[] = {TL_OP_POSITIVE, TL_OP_MAXIMUM, TL_OP_MINIMUM};
  int in[3], bounds = 0;
  if (d->window_count != 3)
    return false;
  for (uint32_t i = 0; i < 3; i++) {
    if (!tl_reader_look_up(rd, d->window + i, &in[i]))
      return false;
    tl_region_use *u = tl_reader_use(rd, in[i]);
    bool is_none = u != NULL && tl_is_none(u->value);
    if (i == 0 ? is_none : !is_none && !tl_region_is_operand(u))
      return false;
    tl_reader_consume(rd, d->window + i, in[i], TL_MODE_CONSUME);
    if (is_none)
      u->exact = true;
    if (is_none || i == 0)
      continue;
    tl_region_node *n = begin_node(rd, ops[i]);
    if (n == NULL)
      return false;
    n->in[0] = in[0];
    n->in[1] = in[i];
    if (!end_node(rd, &in[0]))
      return false;
    bounds++;
  }
  return bounds > 0 &&
         tl_reader_bind(rd, (uint32_t)d->result, in[0], in[0] < 0);
}

// A loop of the host's. Two of the same operands may give two results: who
// knows.
static bool read_host(tl_region_reader *rd, const tl_decoded *d) {
  tl_region_graph *g = rd->g;
  const tl_host_function *f = rd->function->constants[d->extra].pointer;
  tl_region_node *n = begin_node(rd, TL_OP_POSITIVE);
  if (n == NULL || (int)d->window_count != f->param_count)
    return false;
  n->host = f;
  n->arity = (int8_t)f->param_count;
  for (uint32_t i = 0; i < d->window_count; i++) {
    if (!tl_reader_look_up(rd, d->window + i, &n->in[i]))
      return false;
    const tl_region_use *u = tl_reader_use(rd, n->in[i]);
    if (!tl_region_is_operand(u) ||
        (u != NULL && tl_is_heap(u->value) && !tl_region_is_array(u->value)))
      return false;
    tl_reader_consume(rd, d->window + i, n->in[i], TL_MODE_CONSUME);
  }
  return !all_scalars(g, n) &&
         tl_reader_bind(rd, (uint32_t)d->result, g->node_count++, false);
}

// --- Consumers --------------------------------------------------------------

// One of several results, which nothing may read before all is computed.
static bool add_result(tl_region_reader *rd, uint32_t slot,
                       const tl_region_result *result) {
  tl_region_graph *g = rd->g;
  int at = g->result_count;
  if (at == TL_REGION_RESULTS)
    return false;
  g->results[g->result_count++] = *result;
  return tl_reader_bind(rd, slot, TL_REGION_FOLDED + at, false);
}

// Whether [value] is the items that were taken, or was computed of them and of
// numbers, by nodes behind the taking. Other arrays would have as many items as
// the mask takes, and not as many as it has.
static bool is_of_taken(const tl_region_graph *g, int value) {
  if (value < 0)
    return g->uses[-1 - value].taken;
  for (int i = g->taken_at; i <= value; i++) {
    const tl_region_node *n = &g->nodes[i];
    if (n->host != NULL)
      return false;
    for (int k = 0; k < n->arity; k++) {
      int in = n->in[k];
      if (in >= 0 ? in < g->taken_at
                  : !g->uses[-1 - in].taken && !tl_region_is_scalar(g, in))
        return false;
    }
  }
  return value >= g->taken_at;
}

// Whether the items that a mask says get [value]: it was computed of what the
// mask took, of this array or others, or it is a number, and the mask is
// computed here.
static bool is_masked(const tl_region_graph *g, int mask, int value) {
  if (!g->takes)
    return mask >= 0 && tl_region_is_scalar(g, value) &&
           tl_region_is_mask(g, mask);
  return mask == g->taken_mask && is_of_taken(g, value);
}

// What stays where the mask is false: of the array that is use [in] what was
// taken, or else the array.
static int find_rest(const tl_region_graph *g, int in) {
  for (int u = 0; u < g->use_count; u++)
    if (g->uses[u].taken && g->uses[u].root == g->uses[-1 - in].root)
      return -1 - u;
  return in;
}

// target[mask] = *value, of use [in]: a choice between it and what the target
// has. The region cannot end before.
static bool read_masked(tl_region_reader *rd, const tl_decoded *d, int in,
                        int *value) {
  tl_region_graph *g = rd->g;
  int mask;
  if (d->op != TL_BC_SETEL || g->together ||
      !tl_reader_look_up(rd, d->operands[2], &mask) ||
      !is_masked(g, mask, *value))
    return false;
  tl_region_node *n = begin_node(rd, TL_OP_WHERE);
  if (n == NULL)
    return false;
  n->in[0] = mask;
  n->in[1] = *value;
  n->in[2] = find_rest(g, in);
  tl_reader_consume(rd, d->operands[2], mask, d->modes[2]);
  g->takes = false;
  g->masked = true;
  g->detaches = false;
  g->place = (tl_region_index){.count = 0};
  return end_node(rd, value);
}

// target[…] = a node
// The value is a node: for what is none the store alone is as good, but for a
// number where a mask is computed.
static bool read_place(tl_region_reader *rd, uint32_t pc, const tl_decoded *d) {
  tl_region_graph *g = rd->g;
  uint32_t target = d->operands[0];
  int in, value;
  if (!tl_reader_look_up(rd, target, &in) ||
      !tl_reader_look_up(rd, d->operands[1], &value))
    return false;
  const tl_region_use *u = tl_reader_use(rd, in);
  if (u == NULL || !u->direct || u->root < 0 || !tl_region_is_array(u->value) ||
      g->roots[u->root].ends ||
      (g->takes || value < 0 ? !read_masked(rd, d, in, &value)
                             : !tl_reader_index(rd, d, 2, &g->place)))
    return false;
  tl_reader_consume(rd, d->operands[0], in, d->modes[0]);
  if (g->together) {
    tl_region_result result = {.slot = UINT32_MAX,
                               .node = value,
                               .target = u->root,
                               .place = g->place};
    tl_reader_consume(rd, d->operands[1], value, d->modes[1]);
    return add_result(rd, target, &result);
  }
  g->consumer = TL_CONSUMER_PLACE;
  g->consumer_pc = pc;
  g->consumed_slot = d->operands[1];
  g->target = u->root;
  g->value = value;
  g->result = target;
  return true;
}

// A reduction, running fold or norm among several results.
// The result's slot is not known yet: UINT32_MAX until find_all_left sees where
// it has ended up.
static bool read_result(tl_region_reader *rd, const tl_decoded *d) {
  tl_region_graph *g = rd->g;
  int in, at = g->result_count;
  const tl_builtin *fold = rd->function->constants[d->extra].pointer;
  if (at == TL_REGION_RESULTS || !tl_builtin_folds(fold) ||
      !tl_reader_arguments(rd, d, g->result_arguments[at]) ||
      !tl_reader_look_up(rd, d->window, &in) || in < 0)
    return false;
  tl_reader_consume(rd, d->window, in, TL_MODE_CONSUME);
  tl_region_result result = {
      .slot = UINT32_MAX, .node = in, .fold = fold, .target = -1};
  return add_result(rd, (uint32_t)d->result, &result);
}

// The value of a reduction of arguments[0], an array, which another reading may
// have computed. NULL: it failed, or there are too many. The graph owns it
// until tl_region_end_inner, the caller borrows it. An error stays set until
// the region is given up, where the instruction at fault raises it anew.
static const tl_slot *reduce(tl_region_graph *g, uint32_t pc,
                             const tl_builtin *builtin, tl_slot *arguments) {
  for (int i = 0; i < g->inner_count; i++)
    if (g->inner[i].pc == pc)
      return &g->inner[i].value;
  if (g->inner_count == TL_REGION_INNER)
    return NULL;
  tl_slot *value = &g->inner[g->inner_count].value;
  if (!tl_builtin_run(g->vm, builtin, arguments, value))
    return NULL;
  g->inner[g->inner_count++].pc = pc;
  return value;
}

// A reduction between operations, of an array that was there before: it is
// computed now, and what it gives is a value from outside. A number of all
// items is computed again in each run; with an axis or the like the graph is
// good for this run alone, and if it is given up the reduction was for nothing:
// so that is for large arrays, for which a pass and an array less are worth it.
static bool read_inner(tl_region_reader *rd, uint32_t pc, const tl_decoded *d,
                       int in) {
  enum { WORTH_ITEMS = 8192 };  // measured
  const tl_region_use *x = tl_reader_use(rd, in);
  const tl_builtin *builtin = rd->function->constants[d->extra].pointer;
  tl_slot arguments[TL_MAX_PARAMS];
  tl_region_guard guard = {
      .from = TL_FROM_REDUCTION, .at = pc, .of = {(int8_t)(-1 - in)}};
  if (rd->depth > 0 || !tl_builtin_reduces(builtin) || x->wrap > 0 ||
      !tl_is_array(x->value) || !tl_reader_arguments(rd, d, arguments))
    return false;
  x = tl_reader_use(rd, in);
  bool again = tl_region_usual(arguments, d->window_count, &guard.offset);
  if (!again && tl_items_of(&x->items) < WORTH_ITEMS)
    return false;
  arguments[0] = tl_borrow(x->items);
  const tl_slot *value = reduce(rd->g, pc, builtin, arguments);
  // What is promised to make no array the call itself answers for.
  if (value == NULL || (tl_is_heap(*value) && tl_is_under_contract(rd->g->vm)))
    return false;
  tl_reader_consume(rd, d->window, in, TL_MODE_CONSUME);
  rd->g->uncacheable |= !again || tl_is_heap(*value);
  int made = tl_reader_add_use(rd, tl_borrow(*value), -1, true);
  tl_reader_add_guard(rd, made, guard);
  return made < 0 &&
         tl_reader_bind(rd, (uint32_t)d->result, made, !tl_is_heap(*value));
}

// The consumer's own instruction is remembered (consumer_pc), for when the fold
// cannot be fed.
static bool read_fold(tl_region_reader *rd, uint32_t pc, const tl_decoded *d) {
  tl_region_graph *g = rd->g;
  int in;
  if (tl_reader_look_up(rd, d->window, &in) && in < 0)
    return read_inner(rd, pc, d, in);
  if (g->together)
    return read_result(rd, d);
  g->fold = rd->function->constants[d->extra].pointer;
  if (!tl_reader_arguments(rd, d, g->arguments) ||
      !tl_reader_look_up(rd, d->window, &in) || in < 0)
    return false;
  g->consumer =
      g->fold->fused == TL_FUSED_SCAN ? TL_CONSUMER_SCAN : TL_CONSUMER_FOLD;
  g->consumer_pc = pc;
  g->consumed_slot = d->window;
  g->value = in;
  g->result = (uint32_t)d->result;
  return true;
}

// --- The whole --------------------------------------------------------------

// By what the built-in is to a region; what is none of the others may end it as
// a reduction.
static bool read_call(tl_region_reader *rd, uint32_t pc, const tl_decoded *d) {
  switch (tl_region_call(rd->function->constants[d->extra].pointer)) {
    case TL_STEP_CAST:
      return read_cast(rd, d);
    case TL_STEP_CLIP:
      return read_clip(rd, d);
    case TL_STEP_ROLL:
      return tl_reader_roll(rd, d);
    case TL_STEP_LENGTH:
      return tl_reader_item(rd, d);
    case TL_STEP_HOST:
      return read_host(rd, d);
    default:
      return read_fold(rd, pc, d);
  }
}

// A view as the last instruction is tried as a selection first, since x[mask]
// and x[i] have the same opcode.
bool tl_reader_one(tl_region_reader *rd, uint32_t pc, const tl_decoded *d) {
  switch (tl_region_step_of(d->op, d->extra)) {
    case TL_STEP_LOAD:
      return tl_reader_load(rd, d);
    case TL_STEP_MOVE:
      return tl_reader_move(rd, d);
    case TL_STEP_DROP:
      return tl_reader_drop(rd, d);
    case TL_STEP_HOLD:
      return d->op == TL_BC_OWN ? tl_reader_own(rd, d) : tl_reader_hold(rd, d);
    case TL_STEP_TRANSFER:
      return tl_reader_transfer(rd, d);
    case TL_STEP_VIEW:
      if (rd->depth == 0 && rd->end == rd->last)
        return tl_reader_select(rd, pc, d);
      if (d->op == TL_BC_GETF)
        return tl_reader_transpose(rd, d) || tl_reader_item(rd, d);
      return tl_reader_view(rd, d) || tl_reader_item(rd, d);
    case TL_STEP_OPERATION:
      return read_operation(rd, pc, d);
    case TL_STEP_PLACE:
      return read_place(rd, pc, d);
    case TL_STEP_CALL:
      return read_call(rd, pc, d);
    case TL_STEP_INLINE:
      return tl_reader_inline(rd, d);
    default:
      return false;
  }
}

// Makes the result the last node: shapes and dtypes are decided up to there, so
// that what is computed for nothing behind it still fails as it has to. A
// result that an earlier node has is that node once more; nobody needs the
// earlier one then, unless it is computed for nothing, too.
static bool end_in_value(tl_region_graph *g, uint32_t at, uint32_t pc) {
  if (g->value == g->node_count - 1)
    return true;
  if (g->value < 0 || g->node_count == TL_REGION_NODES)
    return false;
  tl_region_node *n = &g->nodes[g->node_count];
  *n = g->nodes[g->value];
  n->at = at;
  n->pc = pc;
  g->value = g->node_count++;
  return true;
}

// Whether an array ends here of which a view is read, or with what has it.
static bool ends_elsewhere(const tl_region_graph *g) {
  for (int i = 0; i < g->use_count; i++) {
    const tl_region_use *u = &g->uses[i];
    int ended;
    if (u->direct ? u->root < 0 && tl_region_owner(g, i, &ended) != NULL
                  : u->root >= 0 && g->roots[u->root].consumed)
      return true;
  }
  return false;
}

// A region that ends in an operation: its result is the last one's.
// A single node gains nothing over the operation itself, without a roll or an
// array to the front of which it may go.
static bool find_result(tl_region_reader *rd, const tl_decoded *last) {
  tl_region_graph *g = rd->g;
  if (g->takes)
    return false;
  for (int i = 0; g->has_heirs && i < g->binding_count; i++)
    if (g->bindings[i].heir && !g->bindings[i].over)
      return false;
  if (g->consumer != TL_CONSUMER_ARRAY)
    return end_in_value(g, rd->at, rd->end);
  g->result = (uint32_t)last->result;
  if (last->result < 0 || !tl_reader_look_up(rd, g->result, &g->value) ||
      !end_in_value(g, rd->at, rd->end))
    return false;
  return g->node_count + g->wrap_count > 1 || ends_elsewhere(g);
}

// The only result that is still to be read, where the reading has come to, if
// it is the last node, as errors of later ones would be lost; NULL: a region
// may not end here.
static const tl_region_binding *find_cut(const tl_region_graph *g) {
  const tl_region_binding *left = NULL;
  for (int i = 0; i < g->binding_count; i++) {
    const tl_region_binding *b = &g->bindings[i];
    if (b->over || (b->in < 0 && tl_reader_is_there(g, b)))
      continue;
    if (b->in < 0 || left != NULL)
      return NULL;
    left = b;
  }
  bool ends = g->node_count > 1 && !g->takes && left != NULL &&
              left->in == g->node_count - 1;
  return ends ? left : NULL;
}

// Of one that is read together: all of them.
// Returns false for an array that two slots would share: each slot needs one of
// its own.
static bool add_left(tl_region_graph *g, const tl_region_binding *b) {
  if (b->in >= TL_REGION_FOLDED) {
    tl_region_result *r = &g->results[b->in - TL_REGION_FOLDED];
    bool first = r->slot == UINT32_MAX;
    r->slot = b->slot;
    return first;
  }
  for (int i = 0; i < g->result_count; i++) {
    const tl_region_result *r = &g->results[i];
    if (r->fold == NULL && r->target < 0 && r->node == b->in)
      return false;
  }
  if (g->result_count == TL_REGION_RESULTS)
    return false;
  g->results[g->result_count++] =
      (tl_region_result){.slot = b->slot, .node = b->in, .target = -1};
  return true;
}

// Every slot that is still to be read is a result, or has its value already;
// the last node has to be one of them, as errors of nodes behind it would be
// lost.
static bool find_all_left(tl_region_graph *g) {
  g->consumer = TL_CONSUMER_MULTI;
  g->value = -1;
  for (int i = 0; i < g->binding_count; i++) {
    const tl_region_binding *b = &g->bindings[i];
    if (!b->over && !(b->in < 0 ? tl_reader_is_there(g, b) : add_left(g, b)))
      return false;
  }
  for (int i = 0; i < g->result_count; i++) {
    if (g->results[i].slot == UINT32_MAX)
      return false;
    if (g->results[i].node > g->value)
      g->value = g->results[i].node;
  }
  g->result = g->result_count > 0 ? g->results[0].slot : 0;
  return g->result_count > 1 && g->value == g->node_count - 1;
}

// Reads the instructions to [end], or as far as it comes, into a graph that is
// cleared; *last is the last one. Roots begin as consumed where an instruction
// has ended them; the run takes that back for those whose memory a result has
// got.
static uint32_t read_to(tl_region_reader *rd, tl_region_graph *g, uint32_t pc,
                        uint32_t end, tl_decoded *last) {
  tl_region_clear(g);
  rd->g = g;
  rd->function = g->function;
  rd->callee = -1;
  rd->done = pc;
  last->result = -1;
  while (pc < end) {
    tl_decoded d;
    tl_decode(g->function, pc, &d);
    g->skip = pc + d.words;
    if (d.op != TL_BC_DROP) {  // behind the last operation there may be some
      *last = d;
      rd->at = pc;
      rd->end = g->skip;
    }
    if (!tl_reader_one(rd, pc, &d))
      break;
    pc = g->skip;
    if (tl_region_step_of(d.op, d.extra) != TL_STEP_LOAD)
      rd->done = pc;
    if (rd->cuts && find_cut(g) != NULL)
      rd->cut = pc;
  }
  g->end = pc;
  for (int i = 0; i < g->root_count; i++)
    g->roots[i].consumed = g->roots[i].ends;
  return pc;
}

// Read twice where it stops early: the first time tells how far, the second
// reads no more than that.
bool tl_region_read_together(tl_region_graph *g, uint32_t pc, uint32_t end) {
  tl_region_reader rd = {0}, again = {0};
  tl_decoded last;
  g->together = g->settles = true;
  uint32_t to = read_to(&rd, g, pc, end, &last);
  if (to == pc)
    return false;
  if (to < end) {
    if (tl_region_is_stopped(g->vm))
      return false;
    tl_error_clear(g->vm);
    read_to(&again, g, pc, to, &last);
  }
  g->together = false;
  return g->end == to && find_all_left(g);
}

// To its end it is the compiler's region; up to where reading stopped it is one
// if a single result is left there. One that is too large is cut at the last
// place before where a single result is left, so that the rest can go on in its
// memory: a cut there costs no array.
static bool read_region(tl_region_graph *g, uint32_t pc, uint32_t end) {
  tl_region_reader rd = {.last = end};
  tl_decoded last;
  uint32_t to = read_to(&rd, g, pc, end, &last);
  if (to == end)
    return find_result(&rd, &last);
  if (tl_region_is_stopped(g->vm))
    return false;
  bool full = g->node_count == TL_REGION_NODES;
  // What is loaded for the instruction that stops it is not the region's, which
  // would compare the value in each run.
  if (g->node_count < 2 || tl_region_read_before(g, pc, rd.done))
    return g->node_count >= 2;
  tl_region_reader cuts = {.last = UINT32_MAX, .cuts = true};
  if (full)
    read_to(&cuts, g, pc, to, &last);
  return cuts.cut > 0 && tl_region_read_before(g, pc, cuts.cut);
}

// Without what containers lend, if that was in the way.
bool tl_region_read(tl_region_graph *g, uint32_t pc, uint32_t end) {
  g->settles = g->has_heirs = false;
  bool ok = read_region(g, pc, end);
  if (ok || !g->has_heirs || tl_region_is_stopped(g->vm))
    return ok;
  tl_error_clear(g->vm);
  g->settles = true;
  return read_region(g, pc, end);
}

// g->skip stays what the longer reading has found, so that no run tries again
// between the two.
bool tl_region_read_before(tl_region_graph *g, uint32_t pc, uint32_t end) {
  tl_region_reader rd = {.last = UINT32_MAX};
  tl_decoded last;
  uint32_t skip = g->skip;
  tl_error_clear(g->vm);
  bool ok = read_to(&rd, g, pc, end, &last) == end;
  const tl_region_binding *left = ok ? find_cut(g) : NULL;
  g->skip = skip;
  if (left == NULL)
    return false;
  g->result = left->slot;
  g->value = left->in;
  return true;
}
