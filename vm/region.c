// Fused regions: see region.h.

#include "vm/region.h"

#include <string.h>

#include "vm/engine_internal.h"
#include "vm/error.h"
#include "vm/watch.h"

enum {
  NODES = 16,
  USES = 10,  // distinct operands from outside
  POLL_ITEMS = 64 * 1024,
};

typedef struct node {
  tl_op op;
  int arity;
  int in[3];  // a node, or -1 - the operand's number in uses
  tl_typing typing;
  tl_c128 items[3];  // scalars, converted for this node
  bool is_array;
} node;

// A slot that the region reads from outside.
typedef struct use {
  tl_slot value;
  tl_slot *slot;
  bool consumed;  // its last use is in the region
} use;

typedef struct region {
  node nodes[NODES];
  int node_count;
  use uses[USES];
  int use_count;
  tl_slot *result;  // of the last node
  int ndim;
  int64_t shape[TL_MAX_DIMS];
} region;

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
      [TL_BC_MUL_ADD_L] = TL_OP_MULTIPLY + 1,
      [TL_BC_MUL_SUB_L] = TL_OP_MULTIPLY + 1,
      [TL_BC_MUL_MUL_L] = TL_OP_MULTIPLY + 1,
      [TL_BC_ADD_ADD_L] = TL_OP_ADD + 1,
      [TL_BC_ADD_SUB_L] = TL_OP_ADD + 1,
      [TL_BC_ADD_MUL_L] = TL_OP_ADD + 1,
      [TL_BC_SUB_ADD_L] = TL_OP_SUBTRACT + 1,
      [TL_BC_SUB_SUB_L] = TL_OP_SUBTRACT + 1,
      [TL_BC_SUB_MUL_L] = TL_OP_SUBTRACT + 1,
      [TL_BC_MUL_ADD_R] = TL_OP_MULTIPLY + 1,
      [TL_BC_MUL_SUB_R] = TL_OP_MULTIPLY + 1,
      [TL_BC_MUL_MUL_R] = TL_OP_MULTIPLY + 1,
      [TL_BC_ADD_ADD_R] = TL_OP_ADD + 1,
      [TL_BC_ADD_SUB_R] = TL_OP_ADD + 1,
      [TL_BC_ADD_MUL_R] = TL_OP_ADD + 1,
      [TL_BC_SUB_ADD_R] = TL_OP_SUBTRACT + 1,
      [TL_BC_SUB_SUB_R] = TL_OP_SUBTRACT + 1,
      [TL_BC_SUB_MUL_R] = TL_OP_SUBTRACT + 1,
      [TL_BC_ADDK] = TL_OP_ADD + 1,
      [TL_BC_SUBK] = TL_OP_SUBTRACT + 1,
      [TL_BC_MULK] = TL_OP_MULTIPLY + 1,
      [TL_BC_DIVK] = TL_OP_DIVIDE + 1,
  };
  if (opcode == TL_BC_ELEM1 || opcode == TL_BC_ELEM2 || opcode == TL_BC_ELEM3) {
    return extra < TL_OP_COUNT ? (tl_op)extra : TL_OP_COUNT;
  }
  return ops[opcode] == 0 ? TL_OP_COUNT : (tl_op)(ops[opcode] - 1);
}

// --- Reading the instructions -----------------------------------------------

typedef struct reader {
  tl_vm *vm;
  const tl_prototype *function;
  tl_slot *base;
  region *r;
  tl_slot *made[NODES];  // the slot each node writes
} reader;

static int find_node(const reader *rd, const tl_slot *slot) {
  for (int i = rd->r->node_count - 1; i >= 0; i--) {
    if (rd->made[i] == slot)
      return i;
  }
  return -1;
}

static bool add_use(reader *rd, tl_slot value, tl_slot *slot, bool consumed,
                    int *in) {
  region *r = rd->r;
  if (!tl_is_number(value) &&
      !(tl_is_array(value) && value.array->head.dtype < TL_STRING)) {
    return false;
  }
  if (r->use_count == USES)
    return false;
  r->uses[r->use_count] = (use){value, slot, consumed};
  *in = -1 - r->use_count++;
  return true;
}

static bool add_operand(reader *rd, uint16_t slot, uint8_t mode, int *in) {
  tl_slot *s = &rd->base[slot];
  bool consumed = mode == TL_MODE_CONSUME || mode == TL_MODE_EITHER;
  int made = find_node(rd, s);
  if (made >= 0) {
    *in = made;
    return true;
  }
  // A value that the region itself loads is not in its slot: look here first.
  for (int i = 0; i < rd->r->use_count; i++) {
    use *u = &rd->r->uses[i];
    if (u->slot != s)
      continue;
    u->consumed = u->consumed || consumed;
    *in = -1 - i;
    return true;
  }
  return add_use(rd, *s, s, consumed, in);
}

// The literal of a K form, which stands behind the slot operand.
static bool add_literal(reader *rd, const tl_ins *ins, const tl_decoded *d,
                        int *in) {
  tl_slot value = tl_opcodes[ins->op].format == TL_FORMAT_ABI
                      ? tl_weak_int((int16_t)ins->c)
                      : rd->function->constants[d->extra];
  return add_use(rd, value, NULL, false, in);
}

// A slot gets another value: what it held before is found by number alone.
static void forget_slot(reader *rd, const tl_slot *slot) {
  for (int i = 0; i < rd->r->use_count; i++) {
    if (rd->r->uses[i].slot == slot)
      rd->r->uses[i].slot = NULL;
  }
  for (int i = 0; i < rd->r->node_count; i++) {
    if (rd->made[i] == slot)
      rd->made[i] = NULL;
  }
}

// An operation on scalars alone is computed on the spot; its slot counts as an
// operand from outside then.
static bool read_scalar(reader *rd, const node *n, tl_slot *to) {
  region *r = rd->r;
  tl_slot operands[3], result;
  for (int i = 0; i < n->arity; i++) {
    operands[i] = tl_borrow(r->uses[-1 - n->in[i]].value);
  }
  if (!tl_elementwise(rd->vm, n->op, operands, &result)) {
    tl_error_clear(rd->vm);
    return false;
  }
  if (tl_is_heap(result)) {  // complex128: rare enough to go one by one
    tl_drop(rd->vm, result);
    return false;
  }
  forget_slot(rd, to);
  int in;
  return add_use(rd, result, to, false, &in);
}

static bool is_all_scalars(const region *r, const node *n) {
  for (int i = 0; i < n->arity; i++) {
    if (n->in[i] >= 0 || tl_is_array(r->uses[-1 - n->in[i]].value)) {
      return false;
    }
  }
  return true;
}

static bool read_ins(reader *rd, uint32_t pc, const tl_decoded *d) {
  region *r = rd->r;
  const tl_ins *ins = &rd->function->code[pc];
  tl_op op = tl_region_op(d->op, d->extra);
  if (op == TL_OP_COUNT || r->node_count == NODES)
    return false;
  node *n = &r->nodes[r->node_count];
  n->op = op;
  n->arity = tl_ops[op].arity;
  for (uint32_t i = 0; i < d->operand_count; i++) {
    if (!add_operand(rd, d->operands[i], d->modes[i], &n->in[i]))
      return false;
  }
  if ((int)d->operand_count < n->arity && !add_literal(rd, ins, d, &n->in[1])) {
    return false;
  }
  if (is_all_scalars(r, n))
    return read_scalar(rd, n, &rd->base[d->result]);
  forget_slot(rd, &rd->base[d->result]);
  rd->made[r->node_count++] = &rd->base[d->result];
  return true;
}

// A value that the region's instructions load on the way. The slot stays as it
// is: should the region be declined, its instructions run one by one.
static bool load(reader *rd, const tl_decoded *d) {
  tl_slot *to = &rd->base[d->result];
  tl_slot value =
      d->op == TL_BC_LOADK
          ? rd->function->constants[d->extra]
          : tl_borrow(rd->function->unit->module->variables[d->extra]);
  int in;
  forget_slot(rd, to);
  return add_use(rd, value, to, false, &in);
}

static bool read_region(reader *rd, uint32_t pc, uint32_t end) {
  while (pc < end) {
    tl_decoded d;
    tl_decode(rd->function, pc, &d);
    bool is_load = d.op == TL_BC_LOADK || d.op == TL_BC_GETG;
    if (!(is_load ? load(rd, &d) : read_ins(rd, pc, &d)))
      return false;
    pc += d.words;
  }
  rd->r->result = rd->made[rd->r->node_count - 1];
  return rd->r->node_count > 1;
}

// --- Shapes and dtypes ------------------------------------------------------

static bool same_shape(const region *r, int ndim, const int64_t *shape) {
  return ndim == r->ndim &&
         memcmp(shape, r->shape, (size_t)ndim * sizeof *shape) == 0;
}

static void mark_arrays(const region *r, int n, const tl_array **arrays,
                        int *count, bool *seen) {
  const node *x = &r->nodes[n];
  for (int i = 0; i < x->arity; i++) {
    if (x->in[i] >= 0) {
      mark_arrays(r, x->in[i], arrays, count, seen);
      continue;
    }
    const use *u = &r->uses[-1 - x->in[i]];
    if (!tl_is_array(u->value) || seen[-1 - x->in[i]])
      continue;
    seen[-1 - x->in[i]] = true;
    arrays[(*count)++] = u->value.array;
  }
}

static bool node_shape(tl_vm *vm, const region *r, int n, int *ndim,
                       int64_t *shape, int *count) {
  const tl_array *arrays[USES];
  bool seen[USES] = {false};
  *count = 0;
  mark_arrays(r, n, arrays, count, seen);
  return *count == 0 || tl_broadcast(vm, *count, arrays, ndim, shape);
}

// Every node covers the whole result, or is a scalar: what would be computed
// for a row is not repeated for each.
static bool check_shapes(tl_vm *vm, region *r) {
  int count;
  if (!node_shape(vm, r, r->node_count - 1, &r->ndim, r->shape, &count) ||
      count == 0) {
    return false;
  }
  int64_t size = 1;
  for (int i = 0; i < r->ndim; i++) size *= r->shape[i];
  if (size < TL_REGION_ITEMS)
    return false;
  for (int i = 0; i < r->node_count - 1; i++) {
    int ndim = 0;
    int64_t shape[TL_MAX_DIMS];
    if (!node_shape(vm, r, i, &ndim, shape, &count))
      return false;
    r->nodes[i].is_array = count > 0;
    if (count > 0 && !same_shape(r, ndim, shape))
      return false;
  }
  r->nodes[r->node_count - 1].is_array = true;
  return true;
}

// Operations whose operands must be looked at before the first write are left
// to their own instruction.
static bool may_fail(const node *n) {
  if (!tl_dtype_is_integer(n->typing.computed))
    return false;
  switch (n->op) {
    case TL_OP_FLOOR_DIVIDE:
    case TL_OP_REMAINDER:
    case TL_OP_POW:
    case TL_OP_LEFT_SHIFT:
    case TL_OP_RIGHT_SHIFT:
      return true;
    default:
      return false;
  }
}

static tl_slot any_array(const region *r) {
  int u = 0;
  while (!tl_is_array(r->uses[u].value)) u++;
  return tl_borrow(r->uses[u].value);
}

static bool resolve_node(tl_vm *vm, region *r, node *n) {
  tl_operand x[3];
  tl_slot slots[3];
  memset(x, 0, sizeof x);
  for (int i = 0; i < n->arity; i++) {
    if (n->in[i] >= 0) {
      const node *from = &r->nodes[n->in[i]];
      x[i].dtype = from->typing.result;
      x[i].weak = from->typing.weak;
      if (!from->is_array)
        return false;           // scalars stay with the loop
      slots[i] = any_array(r);  // only that it is an array counts
      x[i].array = slots[i].array;
      continue;
    }
    bool is_number;
    slots[i] = tl_borrow(r->uses[-1 - n->in[i]].value);
    if (!tl_operand_open(vm, &slots[i], &x[i], &is_number) || !is_number) {
      return false;
    }
  }
  if (!tl_operands_resolve(vm, n->op, x, slots, &n->typing))
    return false;
  for (int i = 0; i < n->arity; i++) {
    if (x[i].array == NULL)
      n->items[i] = x[i].item;
  }
  return !may_fail(n);
}

static bool resolve(tl_vm *vm, region *r) {
  for (int i = 0; i < r->node_count; i++) {
    if (!resolve_node(vm, r, &r->nodes[i]))
      return false;
  }
  return true;
}

// --- Running ----------------------------------------------------------------

static tl_dtype use_dtype(const use *u) {
  return (tl_dtype)tl_dtype_of(u->value);
}

static int plan_operand(tl_plan *plan, const region *r, node *n, int i,
                        const int *streams, const int *values) {
  if (n->in[i] >= 0) {
    return tl_plan_cast(plan, values[n->in[i]],
                        r->nodes[n->in[i]].typing.result,
                        n->typing.operands[i]);
  }
  int u = -1 - n->in[i];
  if (tl_is_array(r->uses[u].value) && tl_ndim(r->uses[u].value.array) > 0) {
    return tl_plan_cast(plan, streams[u], use_dtype(&r->uses[u]),
                        n->typing.operands[i]);
  }
  return streams[u];
}

// A stream for each array, and one for each scalar as each node wants it.
static bool is_scalar_use(const region *r, const node *n, int i) {
  return n->in[i] < 0 && (!tl_is_array(r->uses[-1 - n->in[i]].value) ||
                          tl_ndim(r->uses[-1 - n->in[i]].value.array) == 0);
}

static int plan_kernel(tl_plan *plan, const node *n, const int *in) {
  const tl_kernel_table *kernels = tl_kernels();
  tl_dtype dtype = n->typing.computed;
  size_t itemsize = tl_itemsize(n->typing.result);
  if (n->arity == 1) {
    return tl_plan_unary(plan, kernels->unary[n->op][dtype], in[0], itemsize);
  }
  if (n->arity == 3) {
    return tl_plan_select(plan, kernels->select[dtype], in[0], in[1], in[2],
                          itemsize);
  }
  bool alike = n->typing.operands[0] == n->typing.operands[1];
  return tl_plan_binary(plan, tl_binary_kernel(n->op, &n->typing),
                        alike ? kernels->binary_vs[n->op][dtype] : NULL,
                        alike ? kernels->binary_sv[n->op][dtype] : NULL, in[0],
                        in[1], itemsize);
}

static int plan_node(tl_plan *plan, region *r, node *n, const int *streams,
                     const int *values, const int *scalars) {
  int in[3] = {0, 0, 0}, before = plan->value_count;
  for (int i = 0; i < n->arity; i++) {
    in[i] = is_scalar_use(r, n, i)
                ? scalars[i]
                : plan_operand(plan, r, n, i, streams, values);
  }
  int value = plan_kernel(plan, n, in);
  for (int i = 0; i < n->arity; i++) {  // what was cast for this node alone
    if (in[i] >= before && in[i] != value)
      tl_plan_release(plan, in[i]);
  }
  return value;
}

// When a node's value has been read for the last time its register is free.
static void release_dead(tl_plan *plan, const region *r, int at,
                         const int *values) {
  const node *n = &r->nodes[at];
  for (int i = 0; i < n->arity; i++) {
    int made = n->in[i];
    if (made < 0)
      continue;
    bool again = false;
    for (int k = at + 1; k < r->node_count && !again; k++) {
      for (int j = 0; j < r->nodes[k].arity; j++) {
        again = again || r->nodes[k].in[j] == made;
      }
    }
    for (int j = 0; j < i; j++) again = again || n->in[j] == made;
    if (!again)
      tl_plan_release(plan, values[made]);
  }
}

static bool run(tl_vm *vm, region *r, tl_array *target, bool may_stop,
                bool *declined) {
  tl_plan plan;
  int streams[USES], scalars[NODES][3], values[NODES];
  tl_plan_open(&plan, r->ndim, r->shape);
  int stream_count = 1;
  for (int u = 0; u < r->use_count; u++) {
    const tl_slot v = r->uses[u].value;
    streams[u] = -1;
    if (!tl_is_array(v) || tl_ndim(v.array) == 0)
      continue;
    int64_t strides[TL_MAX_DIMS];
    tl_broadcast_strides(v.array, r->ndim, r->shape, strides);
    streams[u] = tl_plan_stream(&plan, v.array->data,
                                tl_itemsize(tl_array_dtype(v.array)), strides);
    stream_count++;
  }
  for (int n = 0; n < r->node_count; n++) {
    for (int i = 0; i < r->nodes[n].arity; i++) {
      if (!is_scalar_use(r, &r->nodes[n], i))
        continue;
      if (++stream_count > TL_PLAN_STREAMS) {
        *declined = true;
        return true;
      }
      scalars[n][i] =
          tl_plan_stream(&plan, &r->nodes[n].items[i],
                         tl_itemsize(r->nodes[n].typing.operands[i]), NULL);
    }
  }
  const node *last = &r->nodes[r->node_count - 1];
  int output =
      tl_plan_stream(&plan, target->data, tl_itemsize(last->typing.result),
                     tl_strides(target));
  tl_plan_arrange(&plan, output);
  for (int n = 0; n < r->node_count; n++) {
    values[n] = plan_node(&plan, r, &r->nodes[n], streams, values, scalars[n]);
    release_dead(&plan, r, n, values);
  }
  tl_plan_finish(&plan, values[r->node_count - 1]);
  if (plan.failed) {
    *declined = true;
    return true;
  }
  return tl_plan_run(vm, &plan, may_stop);
}

// A dying operand that the result may be written into: none of the others may
// be read at another place of its memory.
static int find_target(tl_vm *vm, const region *r, tl_dtype dtype) {
  for (int u = 0; u < r->use_count; u++) {
    const use *x = &r->uses[u];
    if (!x->consumed || !tl_is_array(x->value) ||
        !tl_can_reuse(vm, x->value, dtype, r->ndim, r->shape)) {
      continue;
    }
    bool safe = true;
    for (int k = 0; k < r->use_count && safe; k++) {
      if (k == u || !tl_is_array(r->uses[k].value))
        continue;
      const tl_array *other = r->uses[k].value.array;
      safe = !tl_arrays_overlap(other, x->value.array) ||
             tl_arrays_coincide(other, x->value.array);
    }
    if (safe)
      return u;
  }
  return -1;
}

static tl_region_status compute(tl_vm *vm, region *r) {
  tl_dtype dtype = r->nodes[r->node_count - 1].typing.result;
  int64_t size = 1;
  for (int i = 0; i < r->ndim; i++) size *= r->shape[i];
  int reused = find_target(vm, r, dtype);
  tl_array *target;
  tl_slot owner = tl_none();
  if (reused >= 0) {
    // The pass must finish once it has begun: it is paid for before.
    if (size >= POLL_ITEMS && !tl_poll(vm, (uint64_t)size / 1024)) {
      return TL_REGION_FAILED;
    }
    owner = r->uses[reused].value;
    target = owner.array;
  } else {
    target = tl_array_new(vm, dtype, r->ndim, r->shape);
    if (target == NULL)
      return TL_REGION_FAILED;
  }
  bool declined = false;
  bool ok = run(vm, r, target, reused < 0, &declined);
  if (declined || !ok) {
    if (reused < 0)
      tl_drop(vm, tl_own_array(target));
    return declined ? TL_REGION_DECLINED : TL_REGION_FAILED;
  }
  if (reused >= 0) {
    target = tl_reuse(vm, &owner, dtype, r->ndim, r->shape);
    r->uses[reused].consumed = false;
  }
  tl_slot result = tl_own_array(target);
  use *uses = r->uses;
  tl_copy_slot(r->result, &result);
  for (int u = 0; u < r->use_count; u++) {
    if (!uses[u].consumed || !tl_is_owned(uses[u].value))
      continue;
    vm->stats.temps_ended++;
    tl_drop(vm, uses[u].value);
  }
  vm->stats.fused_ops += (uint64_t)(r->node_count - 1);
  vm->stats.temps_ended += (uint64_t)(r->node_count - 1);
  return TL_REGION_DONE;
}

static const tl_region *find_region(const tl_prototype *f, uint32_t pc) {
  uint32_t low = 0, high = f->region_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (f->regions[middle].end <= pc) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == f->region_count || f->regions[low].start > pc)
    return NULL;
  return &f->regions[low];
}

tl_region_status tl_region_run(tl_vm *vm, const tl_prototype *function,
                               tl_slot *base, const tl_ins *at,
                               const tl_ins **next) {
  uint32_t pc = (uint32_t)(at - function->code);
  const tl_region *where = find_region(function, pc);
  if (where == NULL || vm->no_reuse)
    return TL_REGION_DECLINED;
  region r = {.node_count = 0};
  reader rd = {.vm = vm, .function = function, .base = base, .r = &r};
  if (!read_region(&rd, pc, where->end))
    return TL_REGION_DECLINED;
  if (!check_shapes(vm, &r) || !resolve(vm, &r)) {
    // The instruction that is wrong says so itself.
    tl_error_clear(vm);
    return TL_REGION_DECLINED;
  }
  tl_region_status status = compute(vm, &r);
  if (status == TL_REGION_DONE) {
    *next = function->code + where->end;
    if (vm->watch != NULL)
      tl_watch_fused(vm, at, *next, r.result->array);
  }
  return status;
}
