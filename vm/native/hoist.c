// Guards before innermost loops over ranges, so that what they read and write
// by the loop's variable is tested once and not in each iteration.
//
//     11                             11
//         i = move t4                    guard t4 … + 0 < x.length -> 11d
//         t = fload x[i]   exit 12       jump -> 11c
//         …                          11c
//         t4 = step … -> 11              i = move t4
//         jump -> 18                     t = fread x[i]
//                                        …
//                                        t4 = step … -> 11c
//                                        jump -> 18
//                                    …
//                                    11d     as the loop was, at the end
//
// An index is a *base* and a constant: the loop's variable, a slot that nothing
// in the loop writes, or nothing at all. Of the variable the first and the last
// value are tested. Where a guard fails, the loop runs as it was, and leaves
// where the interpreter has an error. The address of a row of two axes is
// computed before the loop, or, where it goes with the variable, at the
// beginning of an iteration.
//
// New operations go behind the old ones in the same table, and take their place
// in the end, so the pass is linear in them; a loop that is large is left
// alone. Nothing here is believed: check.c proves it from what is emitted.
#include "vm/native/typed.h"

#include <string.h>

enum {
  MOST_OPS = 128,  // of a loop, without its label
  MOST_GUARDS = 16,
  MOST_LOOPS = 64,
};

// A base with what is added to it. The slot is TL_JIT_NONE for a constant
// alone, and the hidden next value for the loop's variable.
typedef struct index {
  int slot;
  bool is_variable;
  int32_t offset;
} index;

// A loop that gets a second form, from its label to its step, both among them.
typedef struct loop {
  uint32_t head, step;
  int32_t slow, first_inner;  // labels of the form that tests everything
} loop;

typedef struct hoisting {
  tl_jit_code *code;
  uint32_t old_count;  // operations that were there
  uint32_t room;       // for operations beyond as many as there were
  loop loops[MOST_LOOPS];
  uint32_t loop_count;
  // Of the loop under way.
  const loop *at;
  int hidden, variable;
  uint64_t written;  // slots, but for the two and what the step writes
  tl_typed guards[MOST_GUARDS];
  uint32_t guard_count;
  tl_typed rows[TL_JIT_ROWS];
  uint32_t row_count;
} hoisting;

// --- Reading a loop ---------------------------------------------------------

// Whether the operation's first operand is its result.
static bool has_result(const tl_typed *t) {
  int kind = tl_typed_ops[t->op].kinds[0];
  return kind == TL_OPERAND_ID || kind == TL_OPERAND_FD ||
         kind == TL_OPERAND_RD;
}

static bool writes(const tl_typed *t, int slot) {
  return has_result(t) && t->a % TL_JIT_SLOTS == slot;
}

// An item of an array of the entry of one or two axes.
static bool is_access(const tl_typed *t) {
  return t->op >= TL_TYPED_LOAD && t->op <= TL_TYPED_FSTORE && t->e < 0;
}

// Whether the registers of rows would be lost behind it.
static bool calls(int op) {
  return op == TL_TYPED_CALL || op == TL_TYPED_FCALL || op == TL_TYPED_RCALL ||
         op == TL_TYPED_ROWCALL || op == TL_TYPED_COMPUTE ||
         op == TL_TYPED_FCOMPUTE;
}

// Reads the loop from the label at [head] to the step, and how many labels are
// in it; false: it has no second form. Control comes to those labels from
// within alone.
static bool read_loop(hoisting *x, uint32_t head, uint32_t end,
                      uint32_t *inner) {
  const tl_typed *ops = x->code->ops, *top = &ops[head + 1];
  const tl_jit_label *labels = x->code->labels;
  bool accesses = false;
  x->hidden = ops[end].a;
  x->variable = top->a;
  x->written = 0;
  *inner = 0;
  if (end - head > MOST_OPS || top->op != TL_TYPED_MOVE ||
      top->b != x->hidden || ops[end].d >= 0 || x->hidden + 2 >= TL_JIT_SLOTS ||
      ops[end + 1].op != TL_TYPED_JUMP)
    return false;
  for (uint32_t i = head + 2; i < end; i++) {
    const tl_typed *t = &ops[i];
    if (calls(t->op) || t->op == TL_TYPED_STEP || t->op == TL_TYPED_COUNT ||
        (t->op != TL_TYPED_LABEL && t->to == ops[head].to))
      return false;
    if (t->op == TL_TYPED_LABEL) {
      if (labels[t->to].first < head || labels[t->to].last > end)
        return false;
      ++*inner;
    }
    if (has_result(t))
      x->written |= UINT64_C(1) << t->a % TL_JIT_SLOTS;
    accesses |= is_access(t);
  }
  uint64_t fixed = UINT64_C(7) << x->hidden | UINT64_C(1) << x->variable;
  return accesses && (x->written & fixed) == 0;
}

// The last operation before [at] that writes the slot, in the same block; NULL:
// it is not known which one.
static const tl_typed *writer(const hoisting *x, int slot, uint32_t at) {
  const tl_typed *ops = x->code->ops;
  for (uint32_t i = at; --i > x->at->head + 1 && ops[i].op != TL_TYPED_LABEL;)
    if (writes(&ops[i], slot))
      return &ops[i];
  return NULL;
}

// What is in the slot where the operation [at] reads it, as a base and a
// constant. Sums are those of int64, so that what is added is the same in
// registers of 64 bits.
static bool read_index(const hoisting *x, int slot, uint32_t at, index *out) {
  const tl_typed *ops = x->code->ops;
  int64_t offset = 0;
  for (;;) {
    bool fits = offset > -TL_JIT_OFFSET && offset < TL_JIT_OFFSET;
    bool is_variable = slot == x->variable;
    *out =
        (index){is_variable ? x->hidden : slot, is_variable, (int32_t)offset};
    if (!fits || slot < 0 || slot >= TL_JIT_SLOTS)
      return false;
    if (is_variable || (x->written >> slot & 1) == 0)
      return true;
    const tl_typed *t = writer(x, slot, at);
    if (t == NULL)
      return false;
    if (t->op == TL_TYPED_CONST) {
      *out = (index){TL_JIT_NONE, false, (int32_t)(offset + t->imm)};
      return t->imm >= 0 && t->imm < TL_JIT_OFFSET && offset + t->imm >= 0;
    }
    bool sums = (t->op == TL_TYPED_ADD || t->op == TL_TYPED_SUB) && t->c < 0 &&
                tl_jit_is_int(t->from[1]) && t->imm > -TL_JIT_OFFSET &&
                t->imm < TL_JIT_OFFSET;
    if (!tl_jit_is_int(t->type) || (t->op != TL_TYPED_MOVE && !sums))
      return false;
    if (sums)
      offset += t->op == TL_TYPED_ADD ? t->imm : -t->imm;
    slot = t->b;
    at = (uint32_t)(t - ops);
  }
}

// --- What is tested before it -----------------------------------------------

// The type of a slot that nothing in the loop writes, or of the variable.
static tl_jit_type type_of(const hoisting *x, int slot) {
  const tl_typed *ops = x->code->ops;
  return slot < 0 ? TL_TYPE_UNKNOWN
         : slot == x->variable
             ? TL_TYPE_INT | TL_TYPE_WEAK
             : x->code->labels[ops[x->at->head].to].types[slot];
}

// An operation of these, which has no result; the caller sets the rest.
static tl_typed make(const hoisting *x, tl_typed_op op, int b, int c) {
  return (tl_typed){.op = (uint8_t)op,
                    .a = TL_JIT_NONE,
                    .b = (int16_t)b,
                    .c = (int16_t)c,
                    .d = TL_JIT_NONE,
                    .e = TL_JIT_NONE,
                    .from = {TL_TYPE_UNKNOWN, type_of(x, b), TL_TYPE_UNKNOWN},
                    .to = -1,
                    .exit = -1};
}

// Adds to the guards that the index is below the length in the register.
static void guard(hoisting *x, const index *at, int length) {
  int32_t low = at->offset, high = at->offset;
  uint32_t i = 0;
  while (i < x->guard_count &&
         !(x->guards[i].b == at->slot && x->guards[i].c == length &&
           (x->guards[i].d == 0) == at->is_variable))
    i++;
  tl_typed *t = &x->guards[i];
  if (i == x->guard_count) {
    *t = make(x, TL_TYPED_GUARD, at->slot, length);
    t->d = at->is_variable ? 0 : TL_JIT_NONE;
    t->from[2] = TL_TYPE_INT;
    t->to = x->at->slow;
    x->guard_count++;
  } else {
    low = low < tl_jit_low(t) ? low : tl_jit_low(t);
    high = high > tl_jit_high(t) ? high : tl_jit_high(t);
  }
  t->imm = (int64_t)((uint64_t)(uint32_t)low << 32 | (uint32_t)high);
}

// The register with the address of the array's row; -1: there are no more.
static int row_of(hoisting *x, const tl_typed *access, const index *at) {
  int slot = at->is_variable ? x->variable : at->slot;
  for (uint32_t i = 0; i < x->row_count; i++)
    if (x->rows[i].b == slot && x->rows[i].imm == at->offset &&
        x->rows[i].c == access->c)
      return x->rows[i].d;
  if (x->row_count == TL_JIT_ROWS)
    return -1;
  tl_typed *t = &x->rows[x->row_count];
  *t = make(x, TL_TYPED_ROW, slot, access->c);
  t->imm = at->offset;
  t->dtype = access->dtype;
  t->d = (int16_t)(tl_jit_first_row(x->code->unit) + (int)x->row_count++);
  if (x->code->row_count < (int)x->row_count)
    x->code->row_count = (int)x->row_count;
  return t->d;
}

// Changes what registers are worth: this many uses more of one.
static void weigh(hoisting *x, int r, float uses) {
  static const float weights[] = {1, 10, 1e2f, 1e3f, 1e4f, 1e5f, 1e6f};
  uint32_t pc = x->code->labels[x->code->ops[x->at->head].to].pc;
  if (r >= 0)
    x->code->weights[r] += uses * weights[x->code->flow->depth[pc]];
}

// The access [at] without its tests, which become guards. False: its indices
// are not of that kind.
static bool hoist_access(hoisting *x, uint32_t at, tl_typed *out) {
  const tl_typed *t = &x->code->ops[at];
  int facts = TL_JIT_FACTS + TL_JIT_FACTS_EACH * t->c;
  bool has_rows = t->d >= 0;
  index first, last;
  if (x->guard_count + 2 > MOST_GUARDS || !read_index(x, t->b, at, &first))
    return false;
  last = first;
  if (has_rows && !read_index(x, t->d, at, &last))
    return false;
  int address = has_rows ? row_of(x, t, &first) : facts;
  if (address < 0)
    return false;
  guard(x, &first, facts + 1);
  if (has_rows)
    guard(x, &last, facts + 2);
  *out = make(x, (tl_typed_op)(t->op - TL_TYPED_LOAD + TL_TYPED_READ),
              last.is_variable ? x->variable : last.slot, t->c);
  out->a = t->a;
  out->type = t->type;
  out->from[0] = t->from[0];
  out->dtype = t->dtype;
  out->e = (int16_t)address;
  out->imm = last.offset;
  out->exit = t->op == TL_TYPED_STORE ? t->exit : -1;
  weigh(x, facts + 1, -1);
  weigh(x, t->b, -1);
  weigh(x, out->b, 1);
  if (has_rows) {
    weigh(x, facts, -1);
    weigh(x, facts + 2, -2);
    weigh(x, t->d, -1);
    weigh(x, address, 1);
  }
  return true;
}

// --- Writing ----------------------------------------------------------------

// Appends behind the operations that were there; begin_loop has asked for room.
static void append(hoisting *x, const tl_typed *t) {
  tl_jit_code *code = x->code;
  code->ops[code->op_count++] = *t;
}

// Appends a jump to the label, or the label.
static void append_label(hoisting *x, tl_typed_op op, int32_t number) {
  tl_typed t = make(x, op, TL_JIT_NONE, TL_JIT_NONE);
  t.to = number;
  append(x, &t);
}

// A further version of a label, which is there already and has its types.
static int32_t copy_label(tl_jit_code *code, int32_t of, int32_t loop) {
  int32_t number = (int32_t)code->label_count++;
  tl_jit_label *label = &code->labels[number];
  *label = code->labels[of];
  int32_t newest = code->label_at[label->pc];
  label->version = (uint8_t)(code->labels[newest].version + 1);
  label->next = newest;
  label->loop = loop;
  code->label_at[label->pc] = number;
  return number;
}

// Whether the operation reads the slot, or may leave with it; those on
// references, and what else is not known, are taken to do so.
static bool reads(const tl_jit_code *code, const tl_typed *t, int slot) {
  const int16_t operands[] = {has_result(t) ? (int16_t)TL_JIT_NONE : t->a, t->b,
                              t->c, t->d, t->e};
  const uint8_t *kinds = tl_typed_ops[t->op].kinds;
  if (t->op >= TL_TYPED_CALL || t->op == TL_TYPED_COUNT)
    return true;
  for (int i = 0; i < 5; i++)
    if (operands[i] >= 0 && operands[i] < TL_JIT_FACTS &&
        operands[i] % TL_JIT_SLOTS == slot &&
        !(i == 2 && kinds[2] == TL_OPERAND_A))
      return true;
  int exit = t->exit >= 0 ? t->exit : tl_jit_jumps(t->op) ? -1 - t->to : -1;
  if (exit >= 0 && (code->exits[exit].slots >> slot & 1) != 0)
    return true;
  return tl_jit_jumps(t->op) && t->to >= 0 &&
         code->labels[t->to].types[slot] != TL_TYPE_UNKNOWN;
}

// Whether nothing reads what the operation [at] of the new ones writes, as
// happens to indices whose constants moved into the accesses.
static bool is_idle(const hoisting *x, uint32_t at) {
  const tl_jit_code *code = x->code;
  const tl_typed *t = &code->ops[at];
  int slot = t->a;
  if (t->op != TL_TYPED_CONST && t->op != TL_TYPED_MOVE &&
      t->op != TL_TYPED_ADD && t->op != TL_TYPED_SUB)
    return false;
  for (uint32_t i = at + 1; i < code->op_count; i++) {
    t = &code->ops[i];
    if (t->op == TL_TYPED_LABEL || reads(code, t, slot))
      return false;
    if (writes(t, slot) || t->op == TL_TYPED_JUMP)
      return true;
  }
  return false;
}

// Takes idle operations out of the new ones from [start] on.
static void drop_idle(hoisting *x, uint32_t start) {
  tl_jit_code *code = x->code;
  for (uint32_t i = code->op_count; i-- > start;)
    if (is_idle(x, i)) {
      code->op_count--;
      memmove(&code->ops[i], &code->ops[i + 1],
              (code->op_count - i) * sizeof *code->ops);
    }
}

// The rows that go with the variable, or those that do not.
static void append_rows(hoisting *x, bool of_variable) {
  for (uint32_t i = 0; i < x->row_count; i++)
    if ((x->rows[i].b == x->variable) == of_variable) {
      weigh(x, x->rows[i].b, of_variable ? 1 : 0);
      append(x, &x->rows[i]);
    }
}

// The loop's label, its guards and rows, and the loop with what they make of
// it. Accesses are tried in the old operations first, as their guards come
// before them.
static void append_fast(hoisting *x) {
  tl_jit_code *code = x->code;
  const loop *at = x->at;
  tl_typed items[MOST_OPS];
  bool is_hoisted[MOST_OPS] = {false};
  x->guard_count = x->row_count = 0;
  for (uint32_t i = at->head + 2; i < at->step; i++)
    is_hoisted[i - at->head] =
        is_access(&code->ops[i]) && hoist_access(x, i, &items[i - at->head]);
  int32_t label = code->ops[at->head].to;
  append(x, &code->ops[at->head]);
  // Those of the variable stand together: they share its last value.
  for (int of = 0; of < 2; of++)
    for (uint32_t i = 0; i < x->guard_count; i++)
      if ((x->guards[i].d == 0) == (of == 0))
        append(x, &x->guards[i]);
  append_rows(x, false);
  int32_t fast = copy_label(code, label, (int32_t)code->label_count);
  append_label(x, TL_TYPED_JUMP, fast);
  append_label(x, TL_TYPED_LABEL, fast);
  append(x, &code->ops[at->head + 1]);
  append_rows(x, true);
  uint32_t start = code->op_count;
  for (uint32_t i = at->head + 2; i <= at->step; i++) {
    tl_typed t = is_hoisted[i - at->head] ? items[i - at->head] : code->ops[i];
    if (t.op == TL_TYPED_LABEL)
      code->labels[t.to].loop = fast;
    if (i == at->step)
      t.to = fast;
    append(x, &t);
  }
  append(x, &code->ops[at->step + 1]);
  drop_idle(x, start);
}

// The loop as it was, with labels of its own.
static void append_slow(hoisting *x, const loop *at) {
  tl_jit_code *code = x->code;
  int32_t from[MOST_OPS], inner = 0;
  for (uint32_t i = at->head + 1; i < at->step; i++)
    if (code->ops[i].op == TL_TYPED_LABEL)
      from[inner++] = code->ops[i].to;
  for (uint32_t i = at->head; i <= at->step + 1; i++) {
    tl_typed t = code->ops[i];
    if (t.to == code->ops[at->head].to)
      t.to = at->slow;
    for (int32_t k = 0; k < inner; k++)
      if (t.to == from[k]) {
        t.to = at->first_inner + k;
        break;
      }
    append(x, &t);
  }
}

// Whether the label at [head] begins a loop, which then is among the loops with
// labels for its second form. Its step is the last operation that goes there.
static bool begin_loop(hoisting *x, uint32_t head) {
  tl_jit_code *code = x->code;
  uint32_t inner, end = code->labels[code->ops[head].to].last;
  uint32_t more = end - head + 4 + MOST_GUARDS + TL_JIT_ROWS;
  loop *at = &x->loops[x->loop_count];
  if (x->loop_count == MOST_LOOPS || end <= head + 2 ||
      end + 1 >= x->old_count || code->ops[end].op != TL_TYPED_STEP ||
      more > x->room)
    return false;
  *at = (loop){.head = head, .step = end};
  x->at = at;
  if (!read_loop(x, head, end, &inner) ||
      code->label_count + inner + 2 > code->label_capacity)
    return false;
  at->slow = copy_label(code, code->ops[head].to, -1);
  at->first_inner = (int32_t)code->label_count;
  for (uint32_t i = head + 1; i < end; i++)
    if (code->ops[i].op == TL_TYPED_LABEL)
      copy_label(code, code->ops[i].to, -1);
  x->loop_count++;
  x->room -= more;
  return true;
}

// The new operations take the place of the old ones.
static void replace(hoisting *x) {
  tl_jit_code *code = x->code;
  code->op_count -= x->old_count;
  memmove(code->ops, &code->ops[x->old_count],
          code->op_count * sizeof *code->ops);
}

// Of each label the first and the last operation that goes there.
static void find_jumps(tl_jit_code *code) {
  for (uint32_t i = 0; i < code->label_count; i++) {
    code->labels[i].first = code->op_count;
    code->labels[i].last = 0;
  }
  for (uint32_t i = 0; i < code->op_count; i++) {
    const tl_typed *t = &code->ops[i];
    if (t->op == TL_TYPED_LABEL || t->op == TL_TYPED_ROWCALL || t->to < 0)
      continue;
    tl_jit_label *label = &code->labels[t->to];
    label->first = label->first < i ? label->first : i;
    label->last = i;
  }
}

void tl_jit_hoist(tl_jit_code *code) {
  hoisting x = {.code = code, .old_count = code->op_count};
  if (code->op_capacity < 2 * x.old_count)
    return;
  x.room = code->op_capacity - 2 * x.old_count;
  find_jumps(code);
  for (uint32_t i = 0; i < x.old_count;)
    if (code->ops[i].op == TL_TYPED_LABEL && begin_loop(&x, i)) {
      append_fast(&x);
      i = x.at->step + 2;
    } else {
      append(&x, &code->ops[i++]);
    }
  for (uint32_t i = 0; i < x.loop_count; i++) append_slow(&x, &x.loops[i]);
  replace(&x);
}
