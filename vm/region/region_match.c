// Which nodes of a region one fused kernel computes together: a block is then
// read and written once for all of them.
//
// From a node that is wanted, the terms are listed that it and the nodes below
// it make, where each of these is read by nobody else and nothing is cast
// between them:
//
//        +           x * y + (z - w)
//      .   .
//     *     -        add_sub_vv_mul_vv, add_mul_vvv, add_sub_vvv
//    . .   . .
//    x y   z w       (vm/kernels/fused.h says how terms are spelled)
//
// The largest of them that has a kernel is taken: the nodes within it are
// absorbed, which makes them no steps of the plan.
//
// Built for size.
#include <string.h>

#include "vm/region/region_internal.h"

enum {
  DEPTH = 3,        // operations above each other in a term
  MOST_TERMS = 16,  // of one node: what is beyond is not looked at
};

typedef struct matcher {
  const tl_region_graph *g;
  const tl_region_singles *singles;
  tl_region_kernel *kernels;
  uint8_t readers[TL_REGION_NODES];  // how many operands a node is
} matcher;

// A term with the operands in its order, and the nodes besides the first one
// that it computes.
// Two terms of equal text have the same kernel, whatever nodes they are of.
typedef struct term {
  char text[TL_TERM_LENGTH + 1];
  int8_t length, operand_count, operations;
  int8_t node[TL_TERM_OPERANDS], operand[TL_TERM_OPERANDS];
  uint64_t absorbed;  // a bit for each node
} term;

typedef struct terms {
  term of[MOST_TERMS];
  int count;
} terms;

_Static_assert(TL_REGION_NODES <= 64, "nodes are bits of a word");

// A result counts as read by many, so that no kernel swallows it.
static void count_readers(matcher *m) {
  memset(m->readers, 0, sizeof m->readers);
  m->readers[(unsigned)m->g->value] = 1;
  for (int i = 0; i <= m->g->value; i++) {  // to be there: never absorbed
    if (tl_region_is_result(m->g, i))
      m->readers[i] = 8;
  }
  for (int i = 0; i <= m->g->value; i++) {
    const tl_region_node *n = &m->g->nodes[i];
    for (int k = 0; n->needed && k < n->arity; k++) {
      if (n->in[k] >= 0)
        m->readers[n->in[k]]++;
    }
  }
}

// --- Operations -------------------------------------------------------------

typedef enum class {
  NO_TERM,
  ARITHMETIC,  // gives the dtype of its operands
  COMPARISON,  // gives bools
  LOGIC,       // of bools
  CHOICE,      // of two operands, by a bool
} class;

typedef struct operation {
  const char *name;
  class class;
  bool may_swap;    // its operands may change places
  bool is_swapped;  // they do
} operation;

static const operation operations[TL_OP_COUNT] = {
    [TL_OP_ADD] = {"add", ARITHMETIC, true, false},
    [TL_OP_SUBTRACT] = {"sub", ARITHMETIC, false, false},
    [TL_OP_MULTIPLY] = {"mul", ARITHMETIC, true, false},
    [TL_OP_DIVIDE] = {"div", ARITHMETIC, false, false},
    [TL_OP_MINIMUM] = {"min", ARITHMETIC, false, false},
    [TL_OP_MAXIMUM] = {"max", ARITHMETIC, false, false},
    [TL_OP_SQRT] = {"sqrt", ARITHMETIC, false, false},
    [TL_OP_ABS] = {"abs", ARITHMETIC, false, false},
    [TL_OP_SQUARE] = {"square", ARITHMETIC, false, false},
    [TL_OP_LESS] = {"lt", COMPARISON, false, false},
    [TL_OP_LESS_EQUAL] = {"le", COMPARISON, false, false},
    [TL_OP_GREATER] = {"lt", COMPARISON, false, true},
    [TL_OP_GREATER_EQUAL] = {"le", COMPARISON, false, true},
    [TL_OP_EQUAL] = {"eq", COMPARISON, true, false},
    [TL_OP_NOT_EQUAL] = {"ne", COMPARISON, true, false},
    [TL_OP_BITWISE_AND] = {"and", LOGIC, true, false},
    [TL_OP_LOGICAL_AND] = {"and", LOGIC, true, false},
    [TL_OP_BITWISE_OR] = {"or", LOGIC, true, false},
    [TL_OP_LOGICAL_OR] = {"or", LOGIC, true, false},
    [TL_OP_WHERE] = {"where", CHOICE, false, false},
};

// Whether a node is an operation of a term whose operands have [dtype]: it
// computes in that, casts nothing, and gives that or, if it compares, bools.
static bool fits(const tl_region_node *n, tl_dtype dtype) {
  class class = operations[n->op].class;
  if (class == NO_TERM || n->host != NULL || n->cast != TL_DTYPE_COUNT)
    return false;
  tl_dtype computed = class == LOGIC ? TL_BOOL : dtype;
  tl_dtype result = class == COMPARISON ? TL_BOOL : computed;
  if (n->typing.computed != computed || n->typing.result != result)
    return false;
  for (int k = class == CHOICE; k < n->arity; k++) {
    if (n->typing.operands[k] != computed)
      return false;
  }
  return class != CHOICE || n->typing.operands[0] == TL_BOOL;
}

// --- Terms ------------------------------------------------------------------

// One letter: s for a single, b for the bytes of a mask, v for items.
static term leaf(const matcher *m, int at, int k) {
  bool single = m->singles->of[at][k];
  bool is_mask = operations[m->g->nodes[at].op].class == LOGIC;
  return (term){.text = {single    ? 's'
                         : is_mask ? 'b'
                                   : 'v'},
                .length = 1,
                .operand_count = 1,
                .node = {(int8_t)at},
                .operand = {(int8_t)k}};
}

// false: the term gets too long.
static bool append_text(term *to, const char *text) {
  size_t length = strlen(text);
  if ((size_t)to->length + length > TL_TERM_LENGTH)
    return false;
  memcpy(to->text + to->length, text, length + 1);
  to->length = (int8_t)(to->length + (int8_t)length);
  return true;
}

// An operation within a term is set off by an underscore. false: too many
// operands, or too long a text.
// On false [to] is half written and is thrown away.
static bool append(term *to, const term *part) {
  bool is_behind = to->text[to->length - 1] != '_';
  if (to->operand_count + part->operand_count > TL_TERM_OPERANDS ||
      (part->operations > 0 && is_behind && !append_text(to, "_")) ||
      !append_text(to, part->text))
    return false;
  for (int i = 0; i < part->operand_count; i++) {
    to->node[to->operand_count] = part->node[i];
    to->operand[to->operand_count++] = part->operand[i];
  }
  to->operations = (int8_t)(to->operations + part->operations);
  to->absorbed |= part->absorbed;
  return true;
}

// The order of two operands that may change places.
// Kernels are listed under one order only, so that x * y + z and z + x * y are
// the same term.
static bool comes_first(const term *x, const term *y) {
  return x->operations != y->operations ? x->operations > y->operations
                                        : strcmp(x->text, y->text) >= 0;
}

// An operation on the parts, one more term.
static void add_term(terms *out, const operation *op, bool may_swap,
                     const term *const *parts, int count) {
  if (out->count == MOST_TERMS)
    return;
  term *t = &out->of[out->count];
  *t = (term){.operations = 1};
  bool turned =
      op->is_swapped || (may_swap && !comes_first(parts[0], parts[1]));
  if (!append_text(t, op->name) || !append_text(t, "_"))
    return;
  for (int k = 0; k < count; k++) {
    if (!append(t, parts[turned ? 1 - k : k]))
      return;
  }
  out->count++;
}

static void list_terms(const matcher *m, int at, tl_dtype dtype, int depth,
                       terms *out);

// What operand [k] of a node can be in a term: read, or computed as well.
// [readers] is how often the node must be read for it to be absorbed: once, or
// twice by a square.
static void list_operand(const matcher *m, int at, int k, tl_dtype dtype,
                         int depth, int readers, terms *out) {
  const tl_region_node *n = &m->g->nodes[at];
  int in = n->in[k];
  out->count = 0;
  if (in >= 0 && depth > 0 && m->readers[in] == readers &&
      !m->singles->of[at][k])
    list_terms(m, in, dtype, depth, out);
  for (int i = 0; i < out->count; i++) out->of[i].absorbed |= UINT64_C(1) << in;
  if (out->count < MOST_TERMS)
    out->of[out->count++] = leaf(m, at, k);
}

// A node's square, be it by SQUARE or as x * x.
static void list_squares(const matcher *m, int at, tl_dtype dtype, int depth,
                         terms *out) {
  const tl_region_node *n = &m->g->nodes[at];
  terms inner;
  list_operand(m, at, 0, dtype, depth - 1, n->arity, &inner);
  for (int i = 0; i < inner.count; i++) {
    const term *x = &inner.of[i];
    if (x->operations > 0)
      add_term(out, &operations[TL_OP_SQUARE], false, &x, 1);
    else
      add_term(out, &operations[TL_OP_MULTIPLY], false,
               (const term *const[]){x, x}, 2);
  }
}

// The terms whose first operation is node [at], [depth] of them above each
// other; appended to [out].
static void list_terms(const matcher *m, int at, tl_dtype dtype, int depth,
                       terms *out) {
  const tl_region_node *n = &m->g->nodes[at];
  if (!fits(n, dtype))
    return;
  if (n->op == TL_OP_SQUARE ||
      (n->op == TL_OP_MULTIPLY && n->in[0] == n->in[1])) {
    list_squares(m, at, dtype, depth, out);
    return;
  }
  // Of integers it does not matter which one of equal operands wins.
  const operation *op = &operations[n->op];
  bool may_swap =
      op->may_swap || ((n->op == TL_OP_MINIMUM || n->op == TL_OP_MAXIMUM) &&
                       tl_dtype_is_integer(dtype));
  terms operands[3];
  int counts[3] = {1, 1, 1};
  for (int k = 0; k < n->arity; k++) {
    list_operand(m, at, k, dtype, depth - 1, 1, &operands[k]);
    counts[k] = operands[k].count;
  }
  for (int i = 0; i < counts[0]; i++) {
    for (int j = 0; j < counts[1]; j++) {
      for (int k = 0; k < counts[2]; k++) {
        const term *parts[] = {&operands[0].of[i], &operands[1].of[j],
                               &operands[2].of[k]};
        add_term(out, op, may_swap, parts, n->arity);
      }
    }
  }
}

// --- Kernels ----------------------------------------------------------------

// NULL: there is none. Kernels of bytes know no sign, which only order needs.
// Linear in the kernels of a dtype; plans are cached, so this runs seldom.
static tl_fused_loop *find_loop(const term *t, tl_dtype dtype) {
  bool is_ordered =
      strstr(t->text, "lt_") != NULL || strstr(t->text, "le_") != NULL;
  if (dtype == TL_BOOL || (dtype == TL_INT8 && !is_ordered))
    dtype = TL_UINT8;
  if ((int)dtype >= TL_KERNEL_DTYPES)
    return NULL;
  const tl_fused_kernel *kernel = tl_kernels()->fused[dtype];
  for (; kernel != NULL && kernel->term != NULL; kernel++) {
    if (strcmp(kernel->term, t->text) == 0)
      return kernel->loop;
  }
  return NULL;
}

// The dtype of the operands of the terms that begin with a node.
// Of logic it is the dtype that its comparisons have, as in x > 0 and y > 0.
static tl_dtype term_dtype(const matcher *m, int at) {
  const tl_region_node *n = &m->g->nodes[at];
  if (operations[n->op].class != LOGIC)
    return n->typing.computed;
  for (int k = 0; k < n->arity; k++) {
    const tl_region_node *in = n->in[k] < 0 ? NULL : &m->g->nodes[n->in[k]];
    if (in != NULL && operations[in->op].class == COMPARISON)
      return in->typing.computed;
  }
  return TL_BOOL;
}

// Terms of one operation have their ordinary kernel; of the others the one with
// the most operations is taken, the first of equal ones.
static void match(matcher *m, int at, tl_dtype dtype) {
  terms found = {.count = 0};
  const term *best = NULL;
  tl_fused_loop *loop = NULL;
  list_terms(m, at, dtype, DEPTH, &found);
  for (int i = 0; i < found.count; i++) {
    const term *t = &found.of[i];
    if (t->operations < 2 ||
        (best != NULL && t->operations <= best->operations))
      continue;
    tl_fused_loop *other = find_loop(t, dtype);
    if (other != NULL) {
      best = t;
      loop = other;
    }
  }
  if (best == NULL)
    return;
  tl_region_kernel *kernel = &m->kernels[at];
  kernel->loop = loop;
  kernel->operand_count = best->operand_count;
  memcpy(kernel->node, best->node, sizeof kernel->node);
  memcpy(kernel->operand, best->operand, sizeof kernel->operand);
  for (int i = 0; i < at; i++) {
    if ((best->absorbed >> i & 1) != 0)
      m->kernels[i].absorbed = true;
  }
}

// From the result backward, so that a chain is cut from its end.
void tl_region_match(const tl_region_graph *g, const tl_region_singles *singles,
                     tl_region_kernel *kernels) {
  matcher m = {.g = g, .singles = singles, .kernels = kernels};
  count_readers(&m);
  for (int i = 0; i <= g->value; i++) kernels[i] = (tl_region_kernel){0};
  for (int i = g->value; i >= 0; i--) {
    if (g->nodes[i].needed && !kernels[i].absorbed)
      match(&m, i, term_dtype(&m, i));
  }
}
