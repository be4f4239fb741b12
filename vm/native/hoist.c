// Second forms of loops over ranges, for what most of their iterations are: all
// indices inside, and enough fuel.
//
//     11                             11
//         i = move t4                    guard every t4 < x.length -> 11c
//         t = fload x[i]   exit 12       jump -> 11b
//         …                          11b
//         t4 = step … -> 11              i = move t4
//         jump -> 18                     t = fread x[i]
//                                        …
//                                        t4 = step … -> 11b
//                                        jump -> 18
//                                    …
//                                    11c     as the loop was, at the end
//
// An index is a *base* and a constant: the loop's variable, a slot that nothing
// in the loop writes, or nothing at all. Of the variable the first and the last
// value are tested. Where a guard fails, the loop runs as it was, and leaves
// where the interpreter has an error. The address of a row of two axes is
// computed before the loop, or, where it goes with the variable, at the
// beginning of an iteration.
//
// A short loop in it, of a known number of iterations, is written out; with it
// the loop around it is one without others, and its indices are constants. That
// there is fuel for all polls of an iteration is then tested once:
//
//     for k in 0..n {                k = move t4
//       for a in 0..3 {              row0 = row x[k]
//         s += x[k, a]               fuel 4 -> 9c
//       }                            t = fread row0[0]     s = fadd s, t
//     }                              t = fread row0[1]     s = fadd s, t
//                                    t = fread row0[2]     s = fadd s, t
//                                    spend 3
//                                    poll …
//
// New operations go behind the old ones in the same table, and take their place
// in the end, so the pass is linear in them; a loop that is large is left
// alone. Nothing here is believed: check.c proves it from what is emitted.
#include <string.h>

#include "vm/memory/memory.h"
#include "vm/native/typed.h"

enum {
  MOST_OPS = 192,  // of a loop, and of its second form
  MOST_BLOCKS = 48,
  MOST_SHORT = 4,  // iterations that are written out
  MOST_GUARDS = 16,
  MOST_LOOPS = 64,
  MOST_TRIES = 256,
};

// A base with what is added to it. The slot is TL_JIT_NONE for a constant
// alone, and the hidden next value for the loop's variable.
typedef struct index {
  int slot;
  bool is_variable;
  int32_t offset;
} index;

// A loop that gets a second form, by the label of its head.
typedef struct loop {
  int32_t head;
  int32_t slow;  // the head's label in the form that tests everything
  // Iterations of that form go back to the guards: it is for a moment only.
  bool returns;
} loop;

// A loop over a known range in it: its two bodies, of the first iteration and
// of those behind it, from the move into the variable to the step.
typedef struct short_loop {
  int hidden;
  int64_t start, by, count;
  uint32_t first, first_step, second, second_step;
} short_loop;

// The operations of a loop, or of its second form, without the head's label.
typedef struct body {
  tl_typed ops[MOST_OPS];
  uint32_t size;
} body;

typedef struct hoisting {
  tl_jit_code *code;
  uint32_t old_count;  // operations that were there
  int32_t old_labels;
  uint32_t room;  // for operations beyond as many as there were
  uint32_t tries;
  loop loops[MOST_LOOPS];
  int32_t loop_count;
  // Of the loop under way: the labels of its blocks, the head's first and the
  // step's last; its operations, and those of its second form.
  loop *at;
  int32_t blocks[MOST_BLOCKS + 1];
  uint32_t block_count;
  body old, new;
  int hidden, variable;
  uint64_t written;  // slots, but for the two and what the step writes
  int64_t spent;     // fuel, by loops that were written out
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

// The last operation before [at] that writes the slot, in the same block, which
// begins behind operation 0; NULL: it is not known which one.
static const tl_typed *writer(const tl_typed *ops, int slot, uint32_t at) {
  while (--at > 0 && ops[at].op != TL_TYPED_LABEL)
    if (writes(&ops[at], slot))
      return &ops[at];
  return NULL;
}

// The small constant in the slot at [at]; false: it has none.
static bool read_constant(const tl_typed *ops, int slot, uint32_t at,
                          int64_t *out) {
  const tl_typed *t = writer(ops, slot, at);
  if (t == NULL || t->op != TL_TYPED_CONST || t->imm <= -TL_JIT_OFFSET ||
      t->imm >= TL_JIT_OFFSET)
    return false;
  *out = t->imm;
  return true;
}

// Where in the loop the label is; 0: nowhere.
static uint32_t find_label(const body *loop, int32_t label) {
  for (uint32_t i = 1; i < loop->size; i++)
    if (loop->ops[i].op == TL_TYPED_LABEL && loop->ops[i].to == label)
      return i;
  return 0;
}

// The body of a short loop behind its label: one block, from the move into the
// variable to the step.
static bool read_body(const hoisting *x, int hidden, int32_t label,
                      uint32_t *start, uint32_t *step) {
  const tl_typed *ops = x->old.ops;
  uint32_t i = find_label(&x->old, label) + 1;
  *start = i;
  if (i == 1 || ops[i].op != TL_TYPED_MOVE || ops[i].b != hidden)
    return false;
  while (i + 1 < x->old.size && ops[i].op != TL_TYPED_LABEL &&
         ops[i].op != TL_TYPED_JUMP && ops[i].op != TL_TYPED_STEP)
    i++;
  *step = i;
  return ops[i].op == TL_TYPED_STEP && ops[i].a == hidden && ops[i].d < 0 &&
         i + 1 < x->old.size && ops[i + 1].op == TL_TYPED_JUMP;
}

// Reads the loop that the jump at [at] begins, whose start, step and number of
// iterations are constants; the first iteration may have a label of its own, as
// it finds other types.
//
//         jump -> L
//     L   body   step -> L2   jump
//     L2  body   step -> L2   jump
static bool read_short(const hoisting *x, uint32_t at, short_loop *s) {
  const tl_typed *ops = x->old.ops;
  uint32_t label = find_label(&x->old, ops[at].to);
  int hidden = ops[label + 1].b;
  if (label == 0 || ops[label + 1].op != TL_TYPED_MOVE || hidden < 0 ||
      hidden + 2 >= TL_JIT_SLOTS)
    return false;
  s->hidden = hidden;
  if (!read_constant(ops, hidden, at, &s->start) ||
      !read_constant(ops, hidden + 1, at, &s->count) ||
      !read_constant(ops, hidden + 2, at, &s->by) || s->count < 1 ||
      s->count > MOST_SHORT ||
      !read_body(x, hidden, ops[at].to, &s->first, &s->first_step))
    return false;
  int32_t again = ops[s->first_step].to;
  return read_body(x, hidden, again, &s->second, &s->second_step) &&
         ops[s->second_step].to == again;
}

// Adds to a body; too much is noticed in the end.
static void add(body *to, const tl_typed *t) {
  if (to->size < MOST_OPS)
    to->ops[to->size] = *t;
  to->size++;
}

// Adds slot = value to the second form.
static void add_constant(hoisting *x, int slot, int64_t value) {
  tl_typed t = {.op = TL_TYPED_CONST,
                .type = TL_TYPE_INT | TL_TYPE_WEAK,
                .dtype = TL_FLOAT64,
                .a = (int16_t)slot,
                .b = TL_JIT_NONE,
                .c = TL_JIT_NONE,
                .d = TL_JIT_NONE,
                .e = TL_JIT_NONE,
                .to = -1,
                .exit = -1,
                .imm = value};
  add(&x->new, &t);
}

// Adds all iterations of the loop, which spend fuel instead of polling.
static void write_out(hoisting *x, const short_loop *s) {
  const tl_typed *ops = x->old.ops;
  uint32_t step = 0;
  for (int64_t i = 0; i < s->count; i++) {
    uint32_t from = i == 0 ? s->first : s->second;
    step = i == 0 ? s->first_step : s->second_step;
    add_constant(x, ops[from].a, s->start + i * s->by);
    for (uint32_t k = from + 1; k < step; k++) {
      tl_typed t = ops[k];
      if (t.op == TL_TYPED_POLL) {
        t.op = TL_TYPED_SPEND;
        t.exit = -1;
        t.imm = 1;
        x->spent++;
      }
      add(&x->new, &t);
    }
    add_constant(x, s->hidden, s->start + (i + 1) * s->by);
    add_constant(x, s->hidden + 1, s->count - 1 - i);
  }
  add(&x->new, &ops[step + 1]);
}

// The block's first operation behind its label, and the one behind its last.
static uint32_t block_end(const hoisting *x, int32_t label) {
  uint32_t i = x->code->labels[label].at + 1;
  while (i < x->old_count && x->code->ops[i].op != TL_TYPED_LABEL) i++;
  return i;
}

// Marks the blocks that the block goes to.
static void mark_behind(hoisting *x, int32_t block) {
  const tl_typed *ops = x->code->ops;
  uint32_t end = block_end(x, block);
  for (uint32_t i = x->code->labels[block].at + 1; i < end; i++)
    if (ops[i].to >= 0 && ops[i].op != TL_TYPED_ROWCALL)
      x->code->labels[ops[i].to].is_marked = true;
}

// Whether the block goes to the head by a step, or else to a block that is
// marked.
static bool leads_back(const hoisting *x, int32_t block, bool by_step) {
  const tl_typed *ops = x->code->ops;
  uint32_t end = block_end(x, block);
  for (uint32_t i = x->code->labels[block].at + 1; i < end; i++)
    if (by_step ? ops[i].op == TL_TYPED_STEP && ops[i].to == x->at->head
                : ops[i].to >= 0 && ops[i].op != TL_TYPED_ROWCALL &&
                      ops[i].to != x->at->head &&
                      x->code->labels[ops[i].to].is_marked)
      return true;
  return false;
}

static void unmark(tl_jit_code *code) {
  for (uint32_t i = 0; i < code->label_count; i++)
    code->labels[i].is_marked = false;
}

// Blocks between the head and the step in the bytecode that the head leads to,
// in that order. Other versions of the head are heads themselves, of loops with
// other types. False: there are too many.
static bool find_near(hoisting *x) {
  const tl_jit_label *labels = x->code->labels;
  uint32_t first = labels[x->at->head].pc, before = 0;
  uint32_t step = (uint32_t)x->code->flow->rounds[first];
  x->block_count = 0;
  unmark(x->code);
  mark_behind(x, x->at->head);
  do {
    before = x->block_count;
    x->block_count = 0;
    for (uint32_t pc = first; pc <= step; pc++)
      for (int32_t i = x->code->label_at[pc]; i >= 0; i = labels[i].next) {
        bool is_head = i == x->at->head;
        if (i >= x->old_labels ||
            (pc == first ? !is_head : !labels[i].is_marked))
          continue;
        if (x->block_count == MOST_BLOCKS)
          return false;
        mark_behind(x, i);
        x->blocks[x->block_count++] = i;
      }
  } while (x->block_count != before);
  return true;
}

// The blocks that the head leads to and that lead to the head again, by one
// step at the end of the last one. The first is the head; the others are taken
// in the order of the bytecode, in which all jumps but those of loops go
// forward.
static bool find_blocks(hoisting *x) {
  tl_jit_label *labels = x->code->labels;
  int32_t head = x->at->head, last = -1, *blocks = x->blocks;
  if (!find_near(x))
    return false;
  unmark(x->code);
  for (uint32_t i = 0; i < x->block_count; i++) {
    labels[blocks[i]].is_marked = leads_back(x, blocks[i], true);
    last = labels[blocks[i]].is_marked ? blocks[i] : last;
  }
  for (bool again = true; again;) {
    again = false;
    for (uint32_t i = x->block_count; i-- > 0;)
      if (!labels[blocks[i]].is_marked && leads_back(x, blocks[i], false))
        again = labels[blocks[i]].is_marked = true;
  }
  uint32_t count = 1, near = x->block_count;
  int32_t others[MOST_BLOCKS];
  memcpy(others, blocks, near * sizeof *others);
  blocks[0] = head;
  for (uint32_t i = 0; i < near; i++)
    if (labels[others[i]].is_marked && others[i] != head && others[i] != last)
      blocks[count++] = others[i];
  if (last != head)
    blocks[count++] = last;
  x->block_count = count;
  return last >= 0;
}

// All operations of the loop, in the order of its blocks, up to the step.
// False: they are too many, or another block has a step to the head, too.
static bool read_blocks(hoisting *x) {
  const tl_typed *ops = x->code->ops;
  x->old.size = 0;
  for (uint32_t i = 0; i < x->block_count; i++) {
    uint32_t at = x->code->labels[x->blocks[i]].at;
    uint32_t end = block_end(x, x->blocks[i]);
    int32_t member = x->code->labels[x->blocks[i]].member;
    if (member >= 0 && &x->loops[member] != x->at)
      return false;
    for (uint32_t k = at + (i == 0); k < end; k++) add(&x->old, &ops[k]);
  }
  if (x->old.size > MOST_OPS || x->old.size < 4)
    return false;
  const tl_typed *step = &x->old.ops[x->old.size - 2];
  return step->op == TL_TYPED_STEP && step->to == x->at->head && step->d < 0 &&
         step[1].op == TL_TYPED_JUMP;
}

// Makes the second form of the loop's operations, with short loops written out;
// false: it has none. The bodies of short loops, and their labels, are left to
// the slow form.
static bool read_loop(hoisting *x) {
  const tl_typed *ops = x->old.ops;
  bool skips[MOST_OPS] = {false};
  short_loop inner;
  if (!find_blocks(x) || !read_blocks(x))
    return false;
  uint32_t end = x->old.size - 2;
  int64_t polls = 0;
  x->hidden = ops[end].a;
  x->variable = ops[0].a;
  x->new.size = 0;
  x->spent = 0;
  if (ops[0].op != TL_TYPED_MOVE || ops[0].b != x->hidden ||
      x->hidden + 2 >= TL_JIT_SLOTS)
    return false;
  for (uint32_t i = 0; i <= end + 1; i++) {
    const tl_typed *t = &ops[i];
    if (skips[i])
      continue;
    if (t->op == TL_TYPED_JUMP && read_short(x, i, &inner)) {
      write_out(x, &inner);
      for (uint32_t k = inner.first - 1; k < inner.first_step + 2; k++)
        skips[k] = true;
      for (uint32_t k = inner.second - 1; k < inner.second_step + 2; k++)
        skips[k] = true;
      continue;
    }
    if (i < end && (calls(t->op) || t->op == TL_TYPED_STEP ||
                    t->op == TL_TYPED_COUNT || t->to == x->at->head))
      return false;
    polls += t->op == TL_TYPED_POLL;
    add(&x->new, t);
  }
  if (x->spent > 0)
    x->spent += polls;
  return x->new.size <= MOST_OPS;
}

// Whether nothing leaves the second form before its end, which is a poll and
// the step: then the polls of many iterations may be taken at once.
static bool is_closed(const hoisting *x) {
  const tl_typed *ops = x->new.ops;
  if (x->spent > 0 || x->new.size < 4 ||
      ops[x->new.size - 3].op != TL_TYPED_POLL)
    return false;
  for (uint32_t i = 1; i + 3 < x->new.size; i++) {
    bool goes = tl_jit_jumps(ops[i].op);
    if (ops[i].exit >= 0 || ops[i].op >= TL_TYPED_CALL ||
        ops[i].op == TL_TYPED_EXIT || ops[i].op == TL_TYPED_STEP ||
        (goes && (ops[i].to < 0 || find_label(&x->new, ops[i].to) < i)))
      return false;
  }
  return true;
}

// Whether the second form has accesses or polls to gain by, and nothing in it
// writes what its guards rely on. Where fuel is asked for at the head, no jump
// goes back.
static bool is_worth_it(hoisting *x) {
  const tl_typed *ops = x->new.ops;
  bool accesses = false;
  x->written = 0;
  for (uint32_t i = 1; i + 2 < x->new.size; i++) {
    const tl_typed *t = &ops[i];
    if (has_result(t))
      x->written |= UINT64_C(1) << t->a % TL_JIT_SLOTS;
    accesses |= is_access(t);
    if (x->spent > 0 && t->op != TL_TYPED_LABEL && t->to >= 0) {
      uint32_t to = find_label(&x->new, t->to);
      if (to > 0 && to < i)
        return false;
    }
  }
  uint64_t fixed = UINT64_C(7) << x->hidden | UINT64_C(1) << x->variable;
  return (accesses || is_closed(x)) && (x->written & fixed) == 0;
}

// What is in the slot where the operation [at] reads it, as a base and a
// constant. Sums are those of int64, so that what is added is the same in
// registers of 64 bits.
static bool read_index(const hoisting *x, int slot, uint32_t at, index *out) {
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
    const tl_typed *t = writer(x->new.ops, slot, at);
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
    at = (uint32_t)(t - x->new.ops);
  }
}

// --- What is tested before it -----------------------------------------------

// The type of a slot that nothing in the loop writes, or of the variable.
static tl_jit_type type_of(const hoisting *x, int slot) {
  return slot < 0              ? TL_TYPE_UNKNOWN
         : slot == x->variable ? TL_TYPE_INT | TL_TYPE_WEAK
                               : x->code->labels[x->at->head].types[slot];
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

// The access [at] without its tests, which become guards. False: its indices
// are not of that kind.
static bool hoist_access(hoisting *x, uint32_t at, tl_typed *out) {
  const tl_typed *t = &x->new.ops[at];
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

// Takes an operation out of the new ones.
static void take_out(tl_jit_code *code, uint32_t at) {
  code->op_count--;
  memmove(&code->ops[at], &code->ops[at + 1],
          (code->op_count - at) * sizeof *code->ops);
}

// Takes idle operations out of the new ones from [start] on, and makes one of
// spendings of fuel between which nothing leaves.
static void tidy(hoisting *x, uint32_t start) {
  tl_jit_code *code = x->code;
  int64_t later = 0;
  for (uint32_t i = code->op_count; i-- > start;) {
    tl_typed *t = &code->ops[i];
    bool joins = t->op == TL_TYPED_SPEND && later > 0;
    if (joins)
      code->ops[later].imm += t->imm;
    if (joins || is_idle(x, i)) {
      take_out(code, i);
      later -= later > 0;
    } else if (t->op == TL_TYPED_SPEND) {
      later = i;
    } else if (t->exit >= 0 || tl_jit_jumps(t->op) || t->op == TL_TYPED_LABEL) {
      later = 0;
    }
  }
}

// The rows that go with the variable, or those that do not.
static void append_rows(hoisting *x, bool of_variable) {
  for (uint32_t i = 0; i < x->row_count; i++)
    if ((x->rows[i].b == x->variable) == of_variable)
      append(x, &x->rows[i]);
}

// Behind the step: what was put aside is left, and the slow form polls.
static void append_rest(hoisting *x, int rest) {
  int left = x->hidden + 1;
  tl_typed t = make(x, TL_TYPED_REST, TL_JIT_NONE, TL_JIT_NONE);
  t.a = (int16_t)left;
  t.d = (int16_t)rest;
  t.type = TL_TYPE_INT | TL_TYPE_WEAK;
  append(x, &t);
  t = make(x, TL_TYPED_IF, left, TL_JIT_NONE);
  t.from[1] = TL_TYPE_INT | TL_TYPE_WEAK;
  t.condition = TL_IF_NE;
  t.to = x->at->slow;
  append(x, &t);
}

// The loop's label, its guards and rows, and the body with what they make of
// it. Guards of the variable stand together: they share its last value.
static void append_fast(hoisting *x) {
  tl_jit_code *code = x->code;
  tl_typed item, *ops = x->new.ops;
  uint32_t size = x->new.size;
  x->guard_count = x->row_count = 0;
  // Backwards, as an access is where its index was computed.
  for (uint32_t i = size - 2; i-- > 1;)
    if (is_access(&ops[i]) && hoist_access(x, i, &item))
      ops[i] = item;
  append_label(x, TL_TYPED_LABEL, x->at->head);
  for (int of = 0; of < 2; of++)
    for (uint32_t i = 0; i < x->guard_count; i++)
      if ((x->guards[i].d == 0) == (of == 0))
        append(x, &x->guards[i]);
  append_rows(x, false);
  int rest = tl_jit_first_row(code->unit) + (int)x->row_count;
  bool closed = is_closed(x) && x->row_count < TL_JIT_ROWS;
  if (closed) {
    tl_typed t = make(x, TL_TYPED_CHUNK, x->hidden + 1, TL_JIT_NONE);
    t.d = (int16_t)rest;
    t.to = x->at->slow;
    append(x, &t);
    x->at->returns = true;
    if (code->row_count < (int)x->row_count + 1)
      code->row_count = (int)x->row_count + 1;
  }
  int32_t fast = copy_label(code, x->at->head, (int32_t)code->label_count);
  append_label(x, TL_TYPED_JUMP, fast);
  append_label(x, TL_TYPED_LABEL, fast);
  append(x, &ops[0]);
  append_rows(x, true);
  if (x->spent > 0) {
    append_label(x, TL_TYPED_FUEL, x->at->slow);
    code->ops[code->op_count - 1].imm = x->spent;
  }
  uint32_t start = code->op_count;
  ops[size - 2].to = fast;
  for (uint32_t i = 1; i < size; i++) {
    if (ops[i].op == TL_TYPED_LABEL)
      code->labels[ops[i].to].loop = fast;
    if (closed && i == size - 1)
      append_rest(x, rest);
    if (!closed || i != size - 3)
      append(x, &ops[i]);
  }
  tidy(x, start);
}

// A block of the loop as it was. Labels that are in its other form, too, have
// another one here; those of loops that were written out are here alone.
static void append_slow(hoisting *x, uint32_t start) {
  const tl_typed *ops = x->code->ops;
  const tl_jit_label *labels = x->code->labels;
  int32_t loop = labels[ops[start].to].member;
  for (uint32_t i = start;
       i < x->old_count && (i == start || ops[i].op != TL_TYPED_LABEL); i++) {
    tl_typed t = ops[i];
    bool returns = t.op == TL_TYPED_STEP && t.to == x->loops[loop].head &&
                   x->loops[loop].returns;
    if (t.to >= 0 && labels[t.to].member == loop && labels[t.to].slow >= 0 &&
        !returns)
      t.to = labels[t.to].slow;
    append(x, &t);
  }
}

// Whether anybody comes to a block of loop [number] but its head from outside.
static bool is_entered(const tl_jit_code *code, int32_t number, int32_t head) {
  int32_t from = -1;
  for (uint32_t i = 0; i < code->op_count; i++) {
    const tl_typed *t = &code->ops[i];
    if (t->op == TL_TYPED_LABEL)
      from = code->labels[t->to].member;
    else if (t->to >= 0 && t->op != TL_TYPED_ROWCALL && from != number &&
             t->to != head && code->labels[t->to].member == number)
      return true;
  }
  return code->labels[code->ops[0].to].member == number &&
         code->ops[0].to != head;
}

// Tries the label as the head of a loop. With a second form it is among the
// loops then, and its blocks have labels for the slow form.
static void try_loop(hoisting *x, int32_t head) {
  tl_jit_code *code = x->code;
  loop *at = &x->loops[x->loop_count];
  uint32_t labels = 2;
  if (x->loop_count == MOST_LOOPS || x->tries == MOST_TRIES ||
      code->flow->rounds[code->labels[head].pc] < 0 ||
      code->labels[head].member >= 0)
    return;
  x->tries++;
  *at = (loop){.head = head};
  x->at = at;
  if (!read_loop(x) || !is_worth_it(x))
    return;
  for (uint32_t i = 0; i < x->new.size; i++)
    labels += x->new.ops[i].op == TL_TYPED_LABEL;
  uint32_t more = x->old.size + x->new.size + 8 + MOST_GUARDS + TL_JIT_ROWS;
  if (more > x->room || code->label_count + labels + 1 > code->label_capacity)
    return;
  x->room -= more;
  at->slow = copy_label(code, head, -1);
  code->labels[head].slow = at->slow;
  for (uint32_t i = 0; i < x->new.size; i++)
    if (x->new.ops[i].op == TL_TYPED_LABEL)
      code->labels[x->new.ops[i].to].slow =
          copy_label(code, x->new.ops[i].to, -1);
  for (uint32_t i = 0; i < x->block_count; i++)
    code->labels[x->blocks[i]].member = x->loop_count;
  at->returns = x->spent > 0 || is_entered(code, x->loop_count, head);
  x->loop_count++;
}

// Where the labels are. The places of those that are made later do not count.
static void find_labels(tl_jit_code *code) {
  for (uint32_t i = 0; i < code->label_count; i++)
    code->labels[i].member = code->labels[i].slow = -1;
  for (uint32_t i = 0; i < code->op_count; i++)
    if (code->ops[i].op == TL_TYPED_LABEL)
      code->labels[code->ops[i].to].at = i;
}

// Finds loops, those around others first, as their heads stand before them.
static void find_loops(hoisting *x) {
  const tl_jit_code *code = x->code;
  for (uint32_t pc = 0; pc < code->flow->count; pc++)
    for (int32_t i = code->label_at[pc]; i >= 0; i = code->labels[i].next)
      if (i < x->old_labels)
        try_loop(x, i);
}

// Jumps from outside into a loop's second form go to the slow one instead.
static void redirect(tl_jit_code *code) {
  int32_t loop = -1;
  for (uint32_t i = 0; i < code->op_count; i++) {
    tl_typed *t = &code->ops[i];
    if (t->op == TL_TYPED_LABEL) {
      loop = code->labels[t->to].loop;
    } else if (t->to >= 0 && t->op != TL_TYPED_ROWCALL) {
      const tl_jit_label *to = &code->labels[t->to];
      if (to->loop >= 0 && to->loop != loop && to->loop != t->to)
        t->to = to->slow;
    }
    loop = t->op == TL_TYPED_STEP ? -1 : loop;
  }
}

// --- What registers are worth -----------------------------------------------

// What an operation's operands weigh: those of loops count tenfold for each
// level, and those of slow forms next to nothing. An array is weighed by its
// address and its lengths.
static void weigh(tl_jit_code *code, const tl_typed *t, float weight) {
  const int16_t operands[] = {t->a, t->b, t->c};
  const uint8_t *kinds = tl_typed_ops[t->op].kinds;
  bool is_item = t->op >= TL_TYPED_LOAD && t->op <= TL_TYPED_FSTORE;
  for (int i = 0; i < 3; i++)
    if (kinds[i] != TL_OPERAND__ && kinds[i] != TL_OPERAND_A &&
        operands[i] >= 0)
      code->weights[operands[i]] += weight;
  if (t->other != TL_TYPE_UNKNOWN)
    code->weights[tl_jit_register((uint32_t)t->a % TL_JIT_SLOTS, t->other)] +=
        weight;
  int facts = TL_JIT_FACTS + TL_JIT_FACTS_EACH * t->c;
  if (t->op == TL_TYPED_CHUNK) {
    code->weights[t->d] += weight * 0.01f;
  } else if (t->op == TL_TYPED_ROW) {
    code->weights[t->d] += weight;
    code->weights[facts] += weight;
    code->weights[facts + 2] += weight;
  } else if (t->op >= TL_TYPED_READ && t->op <= TL_TYPED_FWRITE) {
    code->weights[t->e] += weight;
  } else if (is_item) {
    const int further[] = {t->d, t->e};
    code->weights[facts] += weight;
    code->weights[facts + 1] += weight;
    for (int i = 0; i < 2 && further[i] >= 0; i++) {
      code->weights[further[i]] += weight;
      code->weights[facts + 2 + i] += 2 * weight;
    }
  }
}

// Of all operations; those from [slow] on are of slow forms. Guards and rows
// before a loop are done as often as it is entered.
static void weigh_all(tl_jit_code *code, uint32_t slow) {
  static const float weights[] = {1, 10, 1e2f, 1e3f, 1e4f, 1e5f, 1e6f};
  float weight = 1;
  for (uint32_t i = 0; i < code->op_count; i++) {
    const tl_typed *t = &code->ops[i];
    if (t->op == TL_TYPED_LABEL)
      weight = weights[code->flow->depth[code->labels[t->to].pc]] *
               (i < slow ? 1 : 1e-3f);
    weigh(code, t, t->op == TL_TYPED_GUARD ? 0.1f * weight : weight);
  }
}

// The old operations, with second forms where the heads of their loops were,
// and behind all of them the slow forms; returns where these begin. The unit
// begins with the label that it began with, or with one of its types.
static uint32_t append_all(hoisting *x) {
  tl_jit_code *code = x->code;
  const tl_typed *ops = code->ops;
  const tl_jit_label *first = &code->labels[ops[0].to];
  int32_t member = -1;
  if (first->member >= 0 && x->loops[first->member].head != ops[0].to) {
    append_label(x, TL_TYPED_LABEL, copy_label(code, ops[0].to, -1));
    append_label(x, TL_TYPED_JUMP, ops[0].to);
  }
  for (uint32_t i = 0; i < x->old_count; i++) {
    if (ops[i].op == TL_TYPED_LABEL) {
      member = code->labels[ops[i].to].member;
      x->at = member < 0 ? NULL : &x->loops[member];
      if (x->at != NULL && x->at->head == ops[i].to && read_loop(x) &&
          is_worth_it(x))
        append_fast(x);
    }
    if (member < 0)
      append(x, &ops[i]);
  }
  uint32_t slow = code->op_count - x->old_count;
  for (uint32_t i = 0; i < x->old_count; i++)
    if (ops[i].op == TL_TYPED_LABEL && code->labels[ops[i].to].member >= 0)
      append_slow(x, i);
  return slow;
}

void tl_jit_hoist(tl_jit_code *code) {
  uint32_t slow = code->op_count;
  hoisting *x = code->op_capacity < 2 * code->op_count + 2
                    ? NULL
                    : tl_spare_alloc(code->vm, sizeof *x);
  if (x != NULL) {
    memset(x, 0, sizeof *x);
    x->code = code;
    x->old_count = code->op_count;
    x->old_labels = (int32_t)code->label_count;
    x->room = code->op_capacity - 2 * code->op_count - 2;
    find_labels(code);
    find_loops(x);
    slow = append_all(x);
    code->op_count -= x->old_count;
    memmove(code->ops, &code->ops[x->old_count],
            code->op_count * sizeof *code->ops);
    redirect(code);
    tl_spare_free(code->vm, x, sizeof *x);
  }
  weigh_all(code, slow);
}
