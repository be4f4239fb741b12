// Loops whose polls were taken before them (a CHUNK): nothing in them leaves,
// so all turns until the chunk's end are the unit's own business.
//
//     i = move t4                   i has the register of t4
//     t = mul i, n                  t += n            y = t + n
//     s = add s, t                  s += t            s2 += y         t += 2 n
//     t4 = step t5, t6 -> 11c       t4 += 2 t6        as often again  t5 -= 4
//
// Short turns stand side by side, in pairs: the second has registers of its own
// for the variable and what is a multiple of it, and an integer that is only
// added to goes on as two sums, so that one turn does not wait for the other.
// Before them plain turns bring the rest down to a multiple. What the loop
// computes with and has no register of the processor gets that of somebody
// else, whose value is on the stack meanwhile.
#include "vm/native/emit.h"

#if TL_HAS_JIT

// A loop of such turns.
typedef struct turns {
  const tl_typed *step;
  uint32_t first, end;  // operations of the body; end is the step
  int variable;         // which has the hidden next value's register
  bool is_read;         // by others than those that are linear in it
  float weights[TL_JIT_REGISTERS];  // 0: the loop does not use it
  uint16_t writes[TL_JIT_FACTS];    // operations that write the register
  struct {
    int had, has, processors;  // TL_JIT_NONE: nobody
  } loans[MOST_LENT];
  int loan_count;
  int linear[MOST_LEFT_OUT];  // what goes up by as much in each turn
} turns;

// --- Registers for the loop -------------------------------------------------

// Who has a register of the processor; NONE: nobody.
static int owner_of(const emitter *e, int processors, bool floats) {
  for (int r = 0; r < TL_JIT_REGISTERS; r++)
    if (e->reg[r] == processors && is_float(r) == floats)
      return r;
  return TL_JIT_NONE;
}

// Gives to [has], or to the emitter where that is NONE, a register of the
// processor that the loop does not use. Returns it; NONE: it uses all.
static int lend(emitter *e, turns *x, int has) {
  bool floats = has >= 0 && is_float(has);
  for (int i = 0; i < (floats ? FLOATS : INTS); i++) {
    int to = floats ? float_registers[i] : int_registers[i];
    int had = owner_of(e, to, floats);
    bool is_idle =
        x->loan_count < MOST_LENT && (had < 0 || x->weights[had] == 0);
    for (int k = 0; k < x->loan_count; k++)
      is_idle &= x->loans[k].has >= 0 || x->loans[k].processors != to;
    if (!is_idle)
      continue;
    if (had >= 0) {
      write_payload(e, floats, to, TL_SP, e->lent_at + 8 * x->loan_count);
      e->reg[had] = -1;
    }
    if (has >= 0) {
      tl_jit_load(e, to, has);
      e->reg[has] = (int8_t)to;
    }
    x->loans[x->loan_count].had = had;
    x->loans[x->loan_count].has = has;
    x->loans[x->loan_count++].processors = to;
    return to;
  }
  return TL_JIT_NONE;
}

// Takes back all loans but the first ones.
static void take_back(emitter *e, turns *x, int but) {
  while (x->loan_count > but) {
    int k = --x->loan_count, had = x->loans[k].had, has = x->loans[k].has;
    int from = x->loans[k].processors;
    if (has >= 0) {
      tl_jit_store(e, from, has);
      e->reg[has] = -1;
    }
    if (had >= 0) {
      read_payload(e, is_float(had), from, TL_SP, e->lent_at + 8 * k);
      e->reg[had] = (int8_t)from;
    }
  }
}

// What the loop writes and has no register gets one: first what goes from turn
// to turn, which the head's label knows, then what it uses oftenest. Of a slot
// that has numbers of both kinds in the loop the two registers share their
// home, so these stay there.
static void lend_all(emitter *e, turns *x, const tl_jit_label *head) {
  int best;
  do {
    float most = 1;
    best = TL_JIT_NONE;
    for (int r = 0; r < TL_JIT_FACTS; r++) {
      float weight = x->weights[r];
      if (head->types[r % TL_JIT_SLOTS] != TL_TYPE_UNKNOWN)
        weight += TL_JIT_REGISTERS;
      if (e->reg[r] < 0 && x->writes[r] > 0 && weight > most &&
          x->weights[(r + TL_JIT_FLOAT) % TL_JIT_FACTS] == 0) {
        best = r;
        most = weight;
      }
    }
  } while (best >= 0 && lend(e, x, best) >= 0);
}

static void read_turns(const emitter *e, uint32_t at, turns *x) {
  const tl_typed *t = &e->code->ops[at];
  *x = (turns){.first = at + 1, .variable = TL_JIT_NONE, .is_read = true};
  do {
    tl_jit_weigh(++t, 1, x->weights);
    if (tl_typed_has_result(t))
      x->writes[t->a]++;
  } while (t->op != TL_TYPED_STEP);
  x->writes[t->b]++;
  x->step = t;
  x->end = (uint32_t)(t - e->code->ops);
}

// --- What is linear in the variable -----------------------------------------

// Where in the frame it stands by how much number [i] goes up.
static int32_t stride_at(const emitter *e, int i) {
  return e->lent_at + 8 * (MOST_LENT + i);
}

// The register of what the operation computes as a multiple of the variable,
// with something added: the address of a row, or a product of 64 bits of which
// nobody has an older one. NONE: it is another operation.
static int read_linear(const emitter *e, const turns *x, const tl_typed *t,
                       const tl_jit_label *head) {
  int v = x->variable, by = t->b == v ? t->c : t->b;
  bool multiplies =
      t->op == TL_TYPED_MUL && (t->b == v || t->c == v) && by != v &&
      (by < 0 || by >= TL_JIT_FACTS || x->writes[by] == 0) &&
      x->writes[t->a] == 1 && head->types[t->a] == TL_TYPE_UNKNOWN &&
      tl_itemsize(tl_jit_dtype(t->type)) == 8;
  int r = t->op == TL_TYPED_ROW && t->b == v ? t->d
          : multiplies                       ? t->a
                                             : TL_JIT_NONE;
  return r >= 0 && e->reg[r] >= 0 ? r : TL_JIT_NONE;
}

// Computes those of the first turn, and by how much they go up: as many of the
// same as the step is. Their operations are left out in the turns.
static void begin_linear(emitter *e, turns *x, const tl_jit_label *head) {
  for (uint32_t i = x->first; i < x->end && e->left_out < MOST_LEFT_OUT; i++) {
    const tl_typed *t = &e->code->ops[i];
    int linear = read_linear(e, x, t, head);
    if (linear < 0)
      continue;
    move_int(e, T0, get_int(e, x->step, T0));
    if (t->op == TL_TYPED_ROW) {
      multiply_fact(e, T0, TL_JIT_FACTS + TL_JIT_FACTS_EACH * t->c + 2);
      shift_left(e, T0,
                 __builtin_ctz((unsigned)tl_itemsize((tl_dtype)t->dtype)));
    } else {
      tl_typed by = *t;
      by.c = (int16_t)(t->b == x->variable ? t->c : t->b);
      (void)multiply_checked(e, T0, get_int(e, &by, T1));
    }
    write_word(e, T0, TL_SP, stride_at(e, (int)e->left_out));
    e->append(e, i, i + 1);
    tl_jit_weigh(t, -1, x->weights);
    x->weights[linear]++;
    x->linear[e->left_out] = linear;
    e->leaves_out[e->left_out++] = i;
  }
}

// One more turn for all of them.
static void step_linear(emitter *e, const turns *x) {
  for (int i = 0; i < (int)e->left_out; i++)
    add_word(e, e->reg[x->linear[i]], TL_SP, stride_at(e, i));
}

// Behind the loop they are those of the last turn.
static void end_linear(emitter *e, const turns *x) {
  for (int i = 0; i < (int)e->left_out; i++) {
    read_word(e, T0, TL_SP, stride_at(e, i));
    subtract_checked(e, e->reg[x->linear[i]], T0);
  }
  e->left_out = 0;
}

// --- Pairs ------------------------------------------------------------------

// What the second turn of a pair has registers of its own for. The first ones
// go up by strides: number [i] says which, -1 is the step's, and NONE none.
typedef struct pairs {
  int own[2 * MOST_LENT], by[2 * MOST_LENT];
  int8_t with[2 * MOST_LENT];
  int count;
  int strides[MOST_LEFT_OUT];  // their registers
} pairs;
enum { BY_STEP = -1, BY_NOTHING = -2 };

// Register [r] has [other] in the second turn; false: that is none.
static bool add_own(pairs *p, int r, int by, int other) {
  p->own[p->count] = r;
  p->by[p->count] = by;
  p->with[p->count] = (int8_t)other;
  p->count += other >= 0;
  return other >= 0;
}

// The sum of 64 bits that operation number [i] adds to, if nothing else in the
// loop reads or writes it; NONE: it is another operation.
static int read_sum(const emitter *e, const turns *x, uint32_t i) {
  const tl_typed *t = &e->code->ops[i];
  return (t->op == TL_TYPED_ADD || t->op == TL_TYPED_SUB) && t->a == t->b &&
                 t->c != t->a && tl_itemsize(tl_jit_dtype(t->type)) == 8 &&
                 x->weights[t->a] == 2 && e->reg[t->a] >= 0
             ? t->a
             : TL_JIT_NONE;
}

static void exchange(emitter *e, pairs *p) {
  for (int i = 0; i < p->count; i++) {
    int8_t before = e->reg[p->own[i]];
    e->reg[p->own[i]] = p->with[i];
    p->with[i] = before;
  }
}

// Two turns, and the step of both.
static void append_pair(emitter *e, const turns *x, pairs *p) {
  for (int turn = 0; turn < 2; turn++) {
    e->append(e, x->first, x->end);
    exchange(e, p);
    for (int i = 0; i < p->count; i++) {
      int to = e->reg[p->own[i]], from = turn == 0 ? p->with[i] : to;
      if (p->by[i] == BY_STEP && x->step->c < 0)
        take_address(e, to, from, 1 + turn);
      else if (p->by[i] != BY_NOTHING && (turn == 1 || from != to))
        take_item(e, to, from,
                  p->by[i] == BY_STEP ? tl_jit_get(e, x->step->c, T1)
                                      : p->strides[p->by[i]],
                  1 + turn);
    }
  }
}

// Pairs of turns until none is left; false, and nothing is appended: there are
// too few registers.
static bool append_pairs(emitter *e, turns *x, int turns) {
  pairs p = {.count = 0};
  int loans = x->loan_count, hidden = x->step->a, b = e->reg[x->step->b];
  int by = x->is_read || x->step->c >= 0 ? BY_STEP : BY_NOTHING;
  bool fits = add_own(&p, hidden, by,
                      x->is_read ? lend(e, x, TL_JIT_NONE) : e->reg[hidden]);
  for (int i = 0; i < (int)e->left_out; i++)
    fits = fits && add_own(&p, x->linear[i], i, lend(e, x, TL_JIT_NONE)) &&
           (p.strides[i] = lend(e, x, TL_JIT_NONE)) >= 0;
  if (!fits) {
    take_back(e, x, loans);
    return false;
  }
  if (x->variable >= 0)
    add_own(&p, x->variable, BY_NOTHING, p.with[0]);
  int sums = p.count;
  for (uint32_t i = x->first; i < x->end; i++) {
    int sum = read_sum(e, x, i);
    if (sum >= 0 && add_own(&p, sum, BY_NOTHING, lend(e, x, TL_JIT_NONE)))
      set_constant(e, p.with[p.count - 1], 0);
  }
  for (int i = 0; i < (int)e->left_out; i++)
    read_word(e, p.strides[i], TL_SP, stride_at(e, i));
  if (p.by[0] == BY_NOTHING)
    add_int(e, e->reg[hidden], b);
  align_loop(e);
  uint32_t again = e->as.size;
  for (int i = 0; i < turns; i += 2) append_pair(e, x, &p);
  count_down(e, b, turns);
  jump_back(e, TL_CC_NE, again);
  for (int i = sums; i < p.count; i++) add_int(e, e->reg[p.own[i]], p.with[i]);
  take_back(e, x, loans);
  return true;
}

// --- Turns ------------------------------------------------------------------

// Whether the body that was appended last has jumps of its own: they would go
// to its first copy.
static bool has_jumps(const emitter *e, uint32_t first_fix) {
  for (uint32_t i = first_fix; i < e->fix_count; i++)
    if (e->fixes[i].kind != FIX_DATA)
      return true;
  return false;
}

// Plain turns, until their rest is a multiple of the pairs', or without these
// to the end.
static void append_turns(emitter *e, turns *x) {
  const tl_typed *step = x->step;
  uint32_t first_fix = e->fix_count, at = e->as.size;
  e->append(e, x->first, x->end);
  uint32_t size = e->as.size - at;
  int b = e->reg[step->b], turns = size <= 32 ? 4 : 2;
  bool pairs =
      !has_jumps(e, first_fix) && size <= 64 && e->reg[step->a] >= 0 && b >= 0;
  step_linear(e, x);
  if (!pairs) {
    tl_gen_step(e, step);
    return;
  }
  add_step(e, step, e->reg[step->a]);
  count_down(e, b, 1);
  test_multiple(e, b, turns);
  jump_back(e, TL_CC_NE, e->label_at[step->to]);
  compare_constant(e, b, 0);
  int32_t done = e->next_label++;
  tl_jit_jump_if(e, TL_CC_E, FIX_LABEL, done);
  if (!append_pairs(e, x, turns))
    jump(e, FIX_LABEL, step->to);
  e->label_at[done] = e->as.size;
}

// The variable is the hidden next value until the step, so it needs no register
// of its own. Behind the loop it is one step less.
uint32_t tl_jit_emit_turns(emitter *e, uint32_t at) {
  const tl_typed *t = &e->code->ops[at];
  turns x;
  if (at < 2 || t->op != TL_TYPED_LABEL ||
      e->code->labels[t->to].loop != t->to || t[-2].op != TL_TYPED_CHUNK)
    return 0;
  read_turns(e, at, &x);
  const tl_jit_label *head = &e->code->labels[t->to];
  int hidden = x.step->a, v = t[1].a;
  int8_t has = e->reg[v];
  if (e->reg[hidden] >= 0) {
    x.variable = v;
    x.first++;
    e->reg[v] = e->reg[hidden];
    begin_linear(e, &x, head);
    x.is_read = x.weights[v] > 1 || x.weights[hidden] > 2;
    x.weights[v] = 0;
    e->reg[v] = -1;
  }
  lend_all(e, &x, head);
  if (x.variable >= 0) {
    x.weights[v] = x.weights[hidden];
    e->reg[v] = e->reg[hidden];
  }
  align_loop(e);
  e->label_at[t->to] = e->as.size;
  append_turns(e, &x);
  end_linear(e, &x);
  take_back(e, &x, 0);
  if (x.variable >= 0) {
    e->reg[v] = has;
    int to = into(e, v, T0);
    move_int(e, to, e->reg[hidden]);
    subtract_checked(e, to, get_int(e, x.step, T1));
    tl_jit_put(e, v, to);
  }
  return x.end + 1 - at;
}

#endif
