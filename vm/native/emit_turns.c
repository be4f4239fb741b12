// Loops whose polls were taken before them (a CHUNK): nothing in them leaves,
// so all turns until the chunk's end are the unit's own business.
//
//     i = move t4                   i has the register of t4
//     s = add s, i                  s += t4       x = t4 + t6       s2 += x
//     t4 = step t5, t6 -> 11c       t4 += 2 t6    as often again    t5 -= 4
//
// Short turns stand side by side, in pairs: the second has the variable of its
// own, and an integer that is only added to goes on as two sums, so that one
// turn does not wait for the other. Before them plain turns bring the rest down
// to a multiple. What the loop computes with and has no register of the
// processor gets that of somebody else, whose value is on the stack meanwhile.
#include "vm/native/emit.h"

#if TL_HAS_JIT

// A loop of such turns.
typedef struct turns {
  const tl_typed *step;
  uint32_t first, end;               // operations of the body; end is the step
  float weights[TL_JIT_REGISTERS];   // 0: the loop does not use it
  uint16_t writes[TL_JIT_FACTS];     // operations that write the register
  struct {
    int had, has, processors;  // TL_JIT_NONE: nobody
  } loans[MOST_LENT];
  int loan_count;
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
    bool is_idle = x->loan_count < MOST_LENT &&
                   (had < 0 || x->weights[had] == 0);
    for (int k = 0; k < x->loan_count; k++)
      is_idle &= x->loans[k].has >= 0 || x->loans[k].processors != to;
    if (!is_idle)
      continue;
    if (had >= 0) {
      write_payload(e, floats, to, TL_SP, e->lent_at + 8 * x->loan_count);
      e->reg[had] = -1;
    }
    if (has >= 0) {
      load(e, to, has);
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
      store(e, from, has);
      e->reg[has] = -1;
    }
    if (had >= 0) {
      read_payload(e, is_float(had), from, TL_SP, e->lent_at + 8 * k);
      e->reg[had] = (int8_t)from;
    }
  }
}

// Lends to what is written and read oftenest without a register. Of a slot that
// has numbers of both kinds in the loop the two registers share their home, so
// these stay there.
static void lend_all(emitter *e, turns *x) {
  int best;
  do {
    best = TL_JIT_NONE;
    for (int r = 0; r < TL_JIT_FACTS; r++)
      if (e->reg[r] < 0 && x->writes[r] > 0 && x->weights[r] > 1 &&
          x->weights[(r + TL_JIT_FLOAT) % TL_JIT_FACTS] == 0 &&
          (best < 0 || x->weights[r] > x->weights[best]))
        best = r;
  } while (best >= 0 && lend(e, x, best) >= 0);
}

// --- Turns ------------------------------------------------------------------

static void read_turns(const emitter *e, uint32_t at, turns *x) {
  const tl_typed *t = &e->code->ops[at];
  *x = (turns){.first = at + 1};
  do {
    tl_jit_weigh(++t, 1, x->weights);
    if (tl_typed_has_result(t))
      x->writes[t->a]++;
  } while (t->op != TL_TYPED_STEP);
  x->writes[t->b]++;
  x->step = t;
  x->end = (uint32_t)(t - e->code->ops);
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

// Exchanges the registers of what the second turn of a pair has for itself.
static void swap(emitter *e, const int *own, int8_t *with, int count) {
  for (int i = 0; i < count; i++) {
    int8_t before = e->reg[own[i]];
    e->reg[own[i]] = with[i];
    with[i] = before;
  }
}

// Two turns, and the step of both.
static void append_pair(emitter *e, const turns *x, const int *own,
                        int8_t *with, int count) {
  int a = e->reg[x->step->a];
  tl_jit_emit_ops(e, x->first, x->end);
  int c = get(e, x->step->c, T1);
  if (count == 0)
    add_int(e, a, c);
  else
    take_item(e, with[0], a, c, 1);
  swap(e, own, with, count);
  tl_jit_emit_ops(e, x->first, x->end);
  swap(e, own, with, count);
  c = get(e, x->step->c, T1);
  if (count == 0)
    add_int(e, a, c);
  else
    take_item(e, a, a, c, 2);
}

// Pairs of turns until none is left. [variable] is the loop's, if it has the
// register of the hidden next value.
static void append_pairs(emitter *e, turns *x, int variable, int turns) {
  int own[MOST_LENT + 1], loans = x->loan_count, count = 0, b;
  int8_t with[MOST_LENT + 1];
  int other = lend(e, x, TL_JIT_NONE);
  if (other >= 0) {
    own[count] = x->step->a;
    with[count++] = (int8_t)other;
    if (variable >= 0) {
      own[count] = variable;
      with[count++] = (int8_t)other;
    }
  }
  int sums = count;
  for (uint32_t i = x->first; i < x->end && other >= 0; i++) {
    int sum = read_sum(e, x, i);
    other = sum < 0 ? other : lend(e, x, TL_JIT_NONE);
    if (sum >= 0 && other >= 0) {
      set_constant(e, other, 0);
      own[count] = sum;
      with[count++] = (int8_t)other;
    }
  }
  b = e->reg[x->step->b];
  align_loop(e);
  uint32_t again = e->as.size;
  for (int i = 0; i < turns; i += 2) append_pair(e, x, own, with, count);
  add_constant(e, b, -turns);
  compare_constant(e, b, 0);
  jump_back(e, TL_CC_NE, again);
  for (int i = sums; i < count; i++) add_int(e, e->reg[own[i]], with[i]);
  take_back(e, x, loans);
}

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
static void append_turns(emitter *e, turns *x, int variable) {
  const tl_typed *step = x->step;
  uint32_t first_fix = e->fix_count, at = e->as.size;
  tl_jit_emit_ops(e, x->first, x->end);
  uint32_t size = e->as.size - at;
  int b = e->reg[step->b], turns = size <= 32 ? 4 : 2;
  if (has_jumps(e, first_fix) || size > 64 || e->reg[step->a] < 0 || b < 0) {
    tl_gen_step(e, step);
    return;
  }
  add_int(e, e->reg[step->a], get(e, step->c, T1));
  count_down(e, b);
  test_multiple(e, b, turns);
  jump_back(e, TL_CC_NE, e->label_at[step->to]);
  compare_constant(e, b, 0);
  int32_t done = e->next_label++;
  jump_if(e, TL_CC_E, FIX_LABEL, done);
  append_pairs(e, x, variable, turns);
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
  int hidden = x.step->a, variable = e->reg[hidden] < 0 ? -1 : t[1].a;
  int8_t has = variable < 0 ? -1 : e->reg[variable];
  if (variable >= 0) {
    x.first++;
    x.weights[variable] = 0;
    e->reg[variable] = -1;
  }
  lend_all(e, &x);
  if (variable >= 0) {
    x.weights[variable] = x.weights[hidden];
    e->reg[variable] = e->reg[hidden];
  }
  tl_gen_label(e, t);
  append_turns(e, &x, variable);
  take_back(e, &x, 0);
  if (variable >= 0) {
    e->reg[variable] = has;
    int to = into(e, variable, T0);
    move_int(e, to, e->reg[hidden]);
    subtract_checked(e, to, get(e, x.step->c, T1));
    put(e, variable, to);
  }
  return x.end + 1 - at;
}

#endif
