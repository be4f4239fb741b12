// Which nodes of a region one kernel computes together (vm/kernels/pair.h): a
// block is then read and written once for both.
#include <string.h>

#include "vm/region/region_internal.h"

typedef struct matcher {
  const tl_region_graph *g;
  const tl_region_singles *singles;
  tl_region_kernel *kernels;
  uint8_t readers[TL_REGION_NODES];  // how many operands a node is
} matcher;

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

// The node that is operand [k] of node [at] and nothing else, computed in
// [dtype] and read as [result]; or -1.
static int inner_node(const matcher *m, int at, int k, tl_dtype dtype,
                      tl_dtype result, int readers) {
  const tl_region_node *n = &m->g->nodes[at];
  int in = n->in[k];
  if (in < 0 || m->readers[in] != readers)
    return -1;
  const tl_region_node *inner = &m->g->nodes[in];
  bool fits = inner->typing.computed == dtype &&
              inner->typing.result == result && n->typing.operands[k] == result;
  for (int i = 0; i < inner->arity; i++) {
    fits = fits && inner->typing.operands[i] == dtype;
  }
  return fits ? in : -1;
}

static void set_operand(tl_region_kernel *kernel, int node, int operand) {
  kernel->node[kernel->arity] = (int8_t)node;
  kernel->operand[kernel->arity++] = (int8_t)operand;
}

// --- Pairs ------------------------------------------------------------------

static const tl_pairs *find_pairs(tl_dtype dtype) {
  const tl_pair_table *table = tl_kernels()->pairs;
  switch (dtype) {
    case TL_INT8:
    case TL_UINT8:
      return &table->uint8;
    case TL_INT32:
      return &table->int32;
    case TL_INT64:
      return &table->int64;
    case TL_FLOAT32:
      return &table->float32;
    case TL_FLOAT64:
      return &table->float64;
    default:
      return NULL;
  }
}

// The form of node [at] as the first of two; its operands go to [kernel].
static bool find_first(const matcher *m, int at, tl_region_kernel *kernel,
                       tl_first *form) {
  const bool *single = m->singles->of[at];
  tl_op op = m->g->nodes[at].op;
  bool squared = op == TL_OP_SQUARE;
  bool second = !squared && single[1];
  if (single[0] && (second || squared))
    return false;
  bool turned = single[0] && op != TL_OP_SUBTRACT;
  switch (op) {
    case TL_OP_ADD:
      *form = single[0] || second ? TL_FIRST_ADD_VS : TL_FIRST_ADD_VV;
      break;
    case TL_OP_SUBTRACT:
      *form = single[0] ? TL_FIRST_SUBTRACT_SV
              : second  ? TL_FIRST_SUBTRACT_VS
                        : TL_FIRST_SUBTRACT_VV;
      break;
    case TL_OP_MULTIPLY:
    case TL_OP_SQUARE:
      *form = single[0] || second ? TL_FIRST_MULTIPLY_VS : TL_FIRST_MULTIPLY_VV;
      break;
    case TL_OP_DIVIDE:
      if (single[0])
        return false;
      *form = second ? TL_FIRST_DIVIDE_VS : TL_FIRST_DIVIDE_VV;
      break;
    default:
      return false;
  }
  set_operand(kernel, at, turned ? 1 : 0);
  set_operand(kernel, at, turned || squared ? 0 : 1);
  return true;
}

// The form of an operation as the second of two, where the first is operand
// [k] of it: for an operand of n items; that for a single one is the next.
static tl_second find_second(const tl_region_node *n, int k) {
  bool integer = tl_dtype_is_integer(n->typing.computed);
  switch (n->op) {
    case TL_OP_ADD:
      return TL_SECOND_ADD_V;
    case TL_OP_SUBTRACT:
      return k == 0 ? TL_SECOND_SUBTRACT_V : TL_SECOND_FROM_V;
    case TL_OP_MULTIPLY:
      return n->in[0] == n->in[1] ? TL_SECOND_SQUARE : TL_SECOND_MULTIPLY_V;
    case TL_OP_DIVIDE:
      return k == 0 ? TL_SECOND_DIVIDE_V : TL_SECOND_COUNT;
    // Of -0.0 and 0.0 the left one counts.
    case TL_OP_MINIMUM:
      return k == 0 || integer ? TL_SECOND_MINIMUM_V : TL_SECOND_COUNT;
    case TL_OP_MAXIMUM:
      return k == 0 || integer ? TL_SECOND_MAXIMUM_V : TL_SECOND_COUNT;
    case TL_OP_SQUARE:
      return TL_SECOND_SQUARE;
    case TL_OP_ABS:
      return TL_SECOND_ABS;
    case TL_OP_SQRT:
      return TL_SECOND_SQRT;
    default:
      return TL_SECOND_COUNT;
  }
}

// Whether an operation is computed in [dtype], gives it, and its operand [k],
// if any, comes in it.
static bool is_plain(const tl_region_node *n, tl_dtype dtype, int k) {
  return n->typing.computed == dtype && n->typing.result == dtype &&
         (k >= n->arity || n->typing.operands[k] == dtype);
}

// The form of node [at], whose operand [k] is computed by the same kernel; its
// other operand goes to [kernel]. TL_SECOND_COUNT: none.
static tl_second add_second(const matcher *m, int at, int k,
                            tl_region_kernel *kernel) {
  const tl_region_node *n = &m->g->nodes[at];
  tl_second form = find_second(n, k);
  if (form == TL_SECOND_COUNT || !is_plain(n, n->typing.computed, 1 - k))
    return TL_SECOND_COUNT;
  if (form >= TL_SECOND_SQUARE)
    return form;
  set_operand(kernel, at, 1 - k);
  return form + m->singles->of[at][1 - k];
}

static bool match_pair(matcher *m, int at, int k) {
  const tl_region_node *n = &m->g->nodes[at];
  tl_dtype dtype = n->typing.computed;
  const tl_pairs *pairs = find_pairs(dtype);
  // A square may be t * t.
  bool squared = find_second(n, k) == TL_SECOND_SQUARE;
  int inner = inner_node(m, at, k, dtype, dtype, squared ? n->arity : 1);
  tl_region_kernel found = {.arity = 0};
  tl_first first;
  if (pairs == NULL || inner < 0 || !find_first(m, inner, &found, &first))
    return false;
  tl_second second = add_second(m, at, k, &found);
  if (second == TL_SECOND_COUNT || (*pairs)[first][second] == NULL)
    return false;
  if (found.arity == 2)  // not read
    set_operand(&found, found.node[0], found.operand[0]);
  found.kernel.k3 = (*pairs)[first][second];
  m->kernels[at] = found;
  m->kernels[inner].absorbed = true;
  return true;
}

// --- Three operations -------------------------------------------------------

static int triple_first(tl_first form) {
  switch (form) {
#define X(NAME)         \
  case TL_FIRST_##NAME: \
    return TL_TRIPLE_FIRST_##NAME;
    TL_TRIPLE_FIRSTS(X)
#undef X
    default:
      return -1;
  }
}

static int triple_second(tl_second form) {
  switch (form) {
#define X(NAME)          \
  case TL_SECOND_##NAME: \
    return TL_TRIPLE_SECOND_##NAME;
    TL_TRIPLE_SECONDS(X)
#undef X
    default:
      return -1;
  }
}

static int triple_third(tl_second form) {
  switch (form) {
#define X(NAME)          \
  case TL_SECOND_##NAME: \
    return TL_TRIPLE_THIRD_##NAME;
    TL_TRIPLE_THIRDS(X)
#undef X
    default:
      return -1;
  }
}

static const tl_triples *find_triples(tl_dtype dtype) {
  const tl_pair_table *table = tl_kernels()->pairs;
  switch (dtype) {
    case TL_INT8:
    case TL_UINT8:
      return &table->triples_uint8;
    case TL_FLOAT32:
      return &table->triples_float32;
    case TL_FLOAT64:
      return &table->triples_float64;
    default:
      return NULL;
  }
}

// The operand [k] of the node, and of that the operand [l].
static bool match_triple(matcher *m, int at, int k, int l) {
  tl_dtype dtype = m->g->nodes[at].typing.computed;
  const tl_triples *triples = find_triples(dtype);
  int middle = inner_node(m, at, k, dtype, dtype, 1);
  if (triples == NULL || middle < 0 || l >= m->g->nodes[middle].arity)
    return false;
  int inner = inner_node(m, middle, l, dtype, dtype, 1);
  tl_region_kernel found = {.arity = 0};
  tl_first form;
  if (inner < 0 || !find_first(m, inner, &found, &form))
    return false;
  int first = triple_first(form);
  int second = triple_second(add_second(m, middle, l, &found));
  int third = triple_third(add_second(m, at, k, &found));
  if (first < 0 || second < 0 || third < 0 ||
      (*triples)[first][second][third] == NULL) {
    return false;
  }
  found.kernel.k4 = (*triples)[first][second][third];
  m->kernels[at] = found;
  m->kernels[middle].absorbed = m->kernels[inner].absorbed = true;
  return true;
}

static int join_side(tl_first form) {
  switch (form) {
#define X(NAME)         \
  case TL_FIRST_##NAME: \
    return TL_JOIN_SIDE_##NAME;
    TL_JOIN_SIDES(X)
#undef X
    default:
      return -1;
  }
}

// The operands [k] and k + 1 of node [at], each computed by the same kernel:
// their forms, and in [inner] the nodes. Forms are told apart by [form_of].
static bool find_sides(const matcher *m, int at, int k, tl_dtype dtype,
                       int (*form_of)(tl_first), tl_region_kernel *kernel,
                       int *forms, int *inner) {
  for (int i = 0; i < 2; i++) {
    tl_first first;
    inner[i] = inner_node(m, at, k + i, dtype, dtype, 1);
    if (inner[i] < 0 || !find_first(m, inner[i], kernel, &first))
      return false;
    forms[i] = form_of(first);
    if (forms[i] < 0)
      return false;
  }
  return true;
}

// Operand [k] of node [at] as a sum or difference times one item.
typedef struct scaled {
  int form;
  int product, sum;  // nodes
} scaled;

static bool find_scaled(const matcher *m, int at, int k, tl_dtype dtype,
                        tl_region_kernel *kernel, scaled *side) {
  side->product = inner_node(m, at, k, dtype, dtype, 1);
  if (side->product < 0 || m->g->nodes[side->product].op != TL_OP_MULTIPLY)
    return false;
  const bool *single = m->singles->of[side->product];
  if (single[0] == single[1])
    return false;
  tl_first form;
  side->sum = inner_node(m, side->product, single[0], dtype, dtype, 1);
  if (side->sum < 0 || !find_first(m, side->sum, kernel, &form))
    return false;
  set_operand(kernel, side->product, !single[0]);
  side->form = form == TL_FIRST_ADD_VV        ? TL_SCALED_ADD
               : form == TL_FIRST_SUBTRACT_VV ? TL_SCALED_SUBTRACT
                                              : -1;
  return side->form >= 0;
}

static bool match_scaled(matcher *m, int at) {
  const tl_region_node *n = &m->g->nodes[at];
  tl_dtype dtype = n->typing.computed;
  tl_region_kernel found = {.arity = 0};
  scaled sides[2];
  if ((n->op != TL_OP_ADD && n->op != TL_OP_SUBTRACT) ||
      !find_scaled(m, at, 0, dtype, &found, &sides[0]) ||
      !find_scaled(m, at, 1, dtype, &found, &sides[1])) {
    return false;
  }
  const tl_pair_table *table = tl_kernels()->pairs;
  const tl_scaled *kernels =
      dtype == TL_FLOAT64 ? &table->scaled_float64 : &table->scaled_float32;
  found.kernel.k6 =
      (*kernels)[n->op == TL_OP_ADD ? TL_SCALED_ADD : TL_SCALED_SUBTRACT]
                [sides[0].form][sides[1].form];
  m->kernels[at] = found;
  for (int i = 0; i < 2; i++) {
    m->kernels[sides[i].product].absorbed = true;
    m->kernels[sides[i].sum].absorbed = true;
  }
  return true;
}

static tl_join find_join(tl_op op) {
  switch (op) {
    case TL_OP_ADD:
      return TL_JOIN_ADD;
    case TL_OP_SUBTRACT:
      return TL_JOIN_SUBTRACT;
    case TL_OP_MULTIPLY:
      return TL_JOIN_MULTIPLY;
    default:
      return TL_JOIN_COUNT;
  }
}

static bool match_join(matcher *m, int at) {
  const tl_region_node *n = &m->g->nodes[at];
  tl_dtype dtype = n->typing.computed;
  int joined = at;
  if (n->op == TL_OP_SQRT)  // of a sum
    joined = inner_node(m, at, 0, dtype, dtype, 1);
  if (joined < 0)
    return false;
  tl_join join = find_join(m->g->nodes[joined].op);
  tl_region_kernel found = {.arity = 0};
  int forms[2], inner[2];
  if (join == TL_JOIN_COUNT || (joined != at && join != TL_JOIN_ADD) ||
      !find_sides(m, joined, 0, dtype, join_side, &found, forms, inner)) {
    return false;
  }
  if (joined != at)
    join = TL_JOIN_NORM;
  const tl_pair_table *table = tl_kernels()->pairs;
  const tl_joins *joins =
      dtype == TL_FLOAT64 ? &table->joins_float64 : &table->joins_float32;
  found.kernel.k4 = (*joins)[join][forms[0]][forms[1]];
  m->kernels[joined].absorbed = joined != at;
  m->kernels[inner[0]].absorbed = m->kernels[inner[1]].absorbed = true;
  m->kernels[at] = found;
  return true;
}

static void match(matcher *m, int at) {
  const tl_region_node *n = &m->g->nodes[at];
  bool is_float =
      n->typing.computed == TL_FLOAT64 || n->typing.computed == TL_FLOAT32;
  if (is_float && (match_scaled(m, at) || match_join(m, at)))
    return;
  if (n->arity == 2) {
    for (int i = 0; i < 4; i++) {
      if (match_triple(m, at, i / 2, i % 2))
        return;
    }
  }
  for (int k = 0; k < n->arity && k < 2; k++) {
    if (match_pair(m, at, k))
      return;
  }
}

// --- Choices ----------------------------------------------------------------

static bool find_question(const matcher *m, int at, tl_region_kernel *kernel,
                          tl_question *form) {
  const bool *single = m->singles->of[at];
  tl_op op = m->g->nodes[at].op;
  bool turned = op == TL_OP_GREATER || op == TL_OP_GREATER_EQUAL ||
                ((op == TL_OP_EQUAL || op == TL_OP_NOT_EQUAL) && single[0]);
  bool left = single[turned], right = single[!turned];
  tl_question vv;
  if (left && right)
    return false;
  switch (op) {
    case TL_OP_LESS:
    case TL_OP_GREATER:
      vv = TL_QUESTION_LESS_VV;
      break;
    case TL_OP_LESS_EQUAL:
    case TL_OP_GREATER_EQUAL:
      vv = TL_QUESTION_LESS_EQUAL_VV;
      break;
    case TL_OP_EQUAL:
      vv = TL_QUESTION_EQUAL_VV;
      break;
    case TL_OP_NOT_EQUAL:
      vv = TL_QUESTION_NOT_EQUAL_VV;
      break;
    default:
      return false;
  }
  *form = vv + (right ? 1 : left ? 2 : 0);
  set_operand(kernel, at, turned);
  set_operand(kernel, at, !turned);
  return true;
}

static bool match_choice(matcher *m, int at) {
  const tl_region_node *n = &m->g->nodes[at];
  const bool *single = m->singles->of[at];
  tl_dtype dtype = n->typing.computed;
  if ((dtype != TL_FLOAT32 && dtype != TL_FLOAT64) ||
      n->typing.operands[1] != dtype || n->typing.operands[2] != dtype ||
      (single[1] && single[2])) {
    return false;
  }
  int inner = inner_node(m, at, 0, dtype, TL_BOOL, 1);
  tl_region_kernel found = {.arity = 0};
  tl_question question;
  if (inner < 0 || !find_question(m, inner, &found, &question))
    return false;
  tl_choice choice = single[1]   ? TL_CHOICE_SV
                     : single[2] ? TL_CHOICE_VS
                                 : TL_CHOICE_VV;
  set_operand(&found, at, 1);
  set_operand(&found, at, 2);
  const tl_pair_table *table = tl_kernels()->pairs;
  const tl_choices *choices =
      dtype == TL_FLOAT32 ? &table->choose_float32 : &table->choose_float64;
  found.kernel.k4 = (*choices)[question][choice];
  m->kernels[at] = found;
  m->kernels[inner].absorbed = true;
  return true;
}

// Both of what is chosen from are computed by the same kernel.
static bool match_branch(matcher *m, int at) {
  const tl_region_node *n = &m->g->nodes[at];
  if (n->typing.computed != TL_FLOAT64)
    return false;
  int question = inner_node(m, at, 0, TL_FLOAT64, TL_BOOL, 1);
  tl_region_kernel found = {.arity = 0};
  tl_question form;
  int forms[2], inner[2];
  if (question < 0 || !find_question(m, question, &found, &form) ||
      (int)form >= TL_BRANCH_QUESTIONS ||
      !find_sides(m, at, 1, TL_FLOAT64, triple_first, &found, forms, inner)) {
    return false;
  }
  const tl_pair_table *table = tl_kernels()->pairs;
  found.kernel.k6 = table->branches_float64[form][forms[0]][forms[1]];
  m->kernels[at] = found;
  m->kernels[question].absorbed = true;
  m->kernels[inner[0]].absorbed = m->kernels[inner[1]].absorbed = true;
  return true;
}

// --- Masks ------------------------------------------------------------------

static tl_logic find_logic(const tl_region_node *n) {
  if (n->typing.computed != TL_BOOL || !is_plain(n, TL_BOOL, 0) ||
      !is_plain(n, TL_BOOL, 1)) {
    return TL_LOGIC_COUNT;
  }
  switch (n->op) {
    case TL_OP_BITWISE_AND:
    case TL_OP_LOGICAL_AND:
      return TL_LOGIC_AND;
    case TL_OP_BITWISE_OR:
    case TL_OP_LOGICAL_OR:
      return TL_LOGIC_OR;
    default:
      return TL_LOGIC_COUNT;
  }
}

// A comparison that is an operand of a node and nothing else.
typedef struct question {
  int node;
  tl_question form;
  tl_dtype dtype;  // whose kernels it has
  tl_region_kernel operands;
} question;

static bool find_asked(const matcher *m, int at, int k, question *q) {
  int in = m->g->nodes[at].in[k];
  if (in < 0)
    return false;
  q->dtype = m->g->nodes[in].typing.computed;
  q->node = inner_node(m, at, k, q->dtype, TL_BOOL, 1);
  q->operands = (tl_region_kernel){.arity = 0};
  if (q->node < 0 || !find_question(m, q->node, &q->operands, &q->form))
    return false;
  if (q->dtype == TL_BOOL ||
      (q->dtype == TL_INT8 && q->form >= TL_QUESTION_EQUAL_VV)) {
    q->dtype = TL_UINT8;
  }
  return true;
}

static void add_asked(tl_region_kernel *kernel, const question *q) {
  for (int i = 0; i < q->operands.arity; i++)
    set_operand(kernel, q->operands.node[i], q->operands.operand[i]);
}

static const tl_asked *find_asked_of(tl_dtype dtype) {
  const tl_question_table *table = tl_kernels()->questions;
  switch (dtype) {
    case TL_UINT8:
      return &table->of_uint8;
    case TL_INT64:
      return &table->of_int64;
    case TL_FLOAT32:
      return &table->of_float32;
    case TL_FLOAT64:
      return &table->of_float64;
    default:
      return NULL;
  }
}

static bool match_both(matcher *m, int at, tl_logic logic, const question *x,
                       const question *y) {
  const tl_asked *asked = find_asked_of(x->dtype);
  if (asked == NULL || x->dtype != y->dtype)
    return false;
  tl_kernel4 *kernel = asked->both[x->form][y->form][logic];
  if (kernel == NULL)
    return false;
  tl_region_kernel found = {.arity = 0, .kernel = {.k4 = kernel}};
  add_asked(&found, x);
  add_asked(&found, y);
  m->kernels[at] = found;
  m->kernels[x->node].absorbed = m->kernels[y->node].absorbed = true;
  return true;
}

// Two comparisons, or one and a mask.
static bool match_mask(matcher *m, int at) {
  tl_logic logic = find_logic(&m->g->nodes[at]);
  question asked[2];
  if (logic == TL_LOGIC_COUNT)
    return false;
  bool first = find_asked(m, at, 0, &asked[0]);
  bool second = find_asked(m, at, 1, &asked[1]);
  if (first && second &&
      (match_both(m, at, logic, &asked[0], &asked[1]) ||
       match_both(m, at, logic, &asked[1], &asked[0]))) {
    return true;
  }
  for (int k = 0; k < 2; k++) {
    const question *q = &asked[k];
    if (!(k == 0 ? first : second) || m->singles->of[at][1 - k])
      continue;
    const tl_asked *of = find_asked_of(q->dtype);
    if (of == NULL)
      continue;
    tl_region_kernel found = {.arity = 0};
    found.kernel.k3 = of->masks[q->form][logic];
    add_asked(&found, q);
    set_operand(&found, at, 1 - k);
    m->kernels[at] = found;
    m->kernels[q->node].absorbed = true;
    return true;
  }
  return false;
}

// --- The whole --------------------------------------------------------------

// From the result backward, so that a chain is cut into pairs from its end.
void tl_region_match(const tl_region_graph *g, const tl_region_singles *singles,
                     tl_region_kernel *kernels) {
  matcher m;
  m.g = g;
  m.singles = singles;
  m.kernels = kernels;
  count_readers(&m);
  for (int i = 0; i <= g->value; i++) {
    kernels[i] = (tl_region_kernel){.arity = 0};
  }
  for (int i = g->value; i >= 0; i--) {
    if (!g->nodes[i].needed || kernels[i].absorbed ||
        tl_kernels()->pairs == NULL)
      continue;
    if (g->nodes[i].op == TL_OP_WHERE) {
      if (!match_branch(&m, i))
        match_choice(&m, i);
    } else if (!match_mask(&m, i)) {
      match(&m, i);
    }
  }
}
