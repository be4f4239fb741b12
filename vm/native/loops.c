// Loops over ranges among typed operations: which blocks they have, and what
// their second forms are made of (hoist.c).
//
//     label 60 ─▶ blocks it leads to ─▶ those that lead back ─▶ operations
//                                                                   │
//                          short loops among them written out ◀─────┘
//
// Blocks have versions, and were typed in the order in which paths came to
// them, so those of a loop are not always side by side.

#include "vm/native/hoist.h"

// A loop over a known range in another: its two bodies, of the first iteration
// and of those behind it, from the move into the variable to the step.
typedef struct short_loop {
  int hidden;
  int64_t start, by, count;
  uint32_t first, first_step, second, second_step;
} short_loop;

// Whether no second form may have the operation: registers of rows would be
// lost, or it is a range, which has counts of its own.
static bool is_refused(const tl_typed *t) {
  return tl_typed_is_by_c(t) || t->op == TL_TYPED_COUNT;
}

// The small constant in the slot at [at]; false: it has none. Only the block's
// own operations are looked at, which is where a range begins.
static bool read_constant(const tl_typed *ops, int slot, uint32_t at,
                          int64_t *out) {
  const tl_typed *t = tl_hoist_writer(ops, slot, at);
  if (t == NULL || t->op != TL_TYPED_CONST || t->imm <= -TL_JIT_OFFSET ||
      t->imm >= TL_JIT_OFFSET)
    return false;
  *out = t->imm;
  return true;
}

// The body of a short loop behind its label: one block, from the move into the
// variable to the step.
static bool read_body(const tl_hoisting *x, int hidden, int32_t label,
                      uint32_t *start, uint32_t *step) {
  const tl_typed *ops = x->old.ops;
  uint32_t i = tl_hoist_find_label(&x->old, label) + 1;
  *start = i;
  if (i == 1 || ops[i].op != TL_TYPED_MOVE || ops[i].b != hidden)
    return false;
  while (i + 1 < x->old.size && ops[i].op != TL_TYPED_LABEL &&
         ops[i].op != TL_TYPED_JUMP && ops[i].op != TL_TYPED_STEP &&
         !is_refused(&ops[i]))
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
static bool read_short(const tl_hoisting *x, uint32_t at, short_loop *s) {
  const tl_typed *ops = x->old.ops;
  uint32_t label = tl_hoist_find_label(&x->old, ops[at].to);
  int hidden = ops[label + 1].b;
  if (label == 0 || ops[label + 1].op != TL_TYPED_MOVE || hidden < 0 ||
      hidden + 2 >= TL_JIT_SLOTS)
    return false;
  s->hidden = hidden;
  if (!read_constant(ops, hidden, at, &s->start) ||
      !read_constant(ops, hidden + 1, at, &s->count) ||
      !read_constant(ops, hidden + 2, at, &s->by) || s->count < 1 ||
      s->count > TL_HOIST_SHORT ||
      !read_body(x, hidden, ops[at].to, &s->first, &s->first_step))
    return false;
  int32_t again = ops[s->first_step].to;
  return read_body(x, hidden, again, &s->second, &s->second_step) &&
         ops[s->second_step].to == again;
}

// Adds to a body; too much is noticed in the end.
static void add(tl_hoist_body *to, const tl_typed *t) {
  if (to->size < TL_HOIST_OPS)
    to->ops[to->size] = *t;
  to->size++;
}

// Adds slot = value to the second form.
static void add_constant(tl_hoisting *x, int slot, int64_t value) {
  tl_typed t = tl_typed_of(TL_TYPED_CONST, slot, TL_JIT_NONE, TL_JIT_NONE);
  t.type = TL_TYPE_INT | TL_TYPE_WEAK;
  t.imm = value;
  add(&x->new, &t);
}

// Adds all iterations of the loop. The hidden slots are as they would be where
// something leaves; where nothing does, they are idle.
//
//         jump -> L                  a = const 0   body   poll
//     L   a = move t6                t6 = const 1  t7 = const 1
//         body                       a = const 1   body   poll
//         poll                       t6 = const 2  t7 = const 0
//         t6 = step t7, t8 -> L      jump
//         jump
static void write_out(tl_hoisting *x, const short_loop *s) {
  const tl_typed *ops = x->old.ops;
  uint32_t step = 0;
  for (int64_t i = 0; i < s->count; i++) {
    uint32_t from = i == 0 ? s->first : s->second;
    step = i == 0 ? s->first_step : s->second_step;
    add_constant(x, ops[from].a, s->start + i * s->by);
    for (uint32_t k = from + 1; k < step; k++) add(&x->new, &ops[k]);
    add_constant(x, s->hidden, s->start + (i + 1) * s->by);
    add_constant(x, s->hidden + 1, s->count - 1 - i);
  }
  add(&x->new, &ops[step + 1]);
}

// The block's first operation behind its label, and the one behind its last.
static uint32_t block_end(const tl_hoisting *x, int32_t label) {
  uint32_t i = x->code->labels[label].at + 1;
  while (i < x->old_count && x->code->ops[i].op != TL_TYPED_LABEL) i++;
  return i;
}

// Marks the blocks that the block goes to as ahead, and the block itself as one
// that leads back if it goes to the head by a step, or to one that leads back.
// Of an operation on an item it goes to where an item of another type leads.
// Whether any mark is new.
static bool mark(tl_hoisting *x, int32_t block) {
  tl_jit_label *labels = x->code->labels, *from = &labels[block];
  bool again = false;
  for (uint32_t i = from->at + 1; i < block_end(x, block); i++) {
    const tl_typed *t = &x->code->ops[i];
    if (t->to < 0 || t->op == TL_TYPED_ROWCALL)
      continue;
    tl_jit_label *to = &labels[t->to];
    bool back = t->to == x->at->head ? t->op == TL_TYPED_STEP : to->leads_back;
    again |= !to->is_ahead || from->leads_back < back;
    to->is_ahead = true;
    from->leads_back |= back;
  }
  return again;
}

// The blocks between the head and the step in the bytecode that the head leads
// to and that lead to the head again, by a step at the end of the last one. The
// first is the head; the others are taken in the order of the bytecode, in
// which all jumps but those of loops go forward. Other versions of the head are
// heads themselves, of loops with other types. False: there are too many.
static bool find_blocks(tl_hoisting *x) {
  tl_jit_label *labels = x->code->labels;
  int32_t head = x->at->head;
  uint32_t first = labels[head].pc;
  uint32_t step = (uint32_t)x->code->flow->rounds[first];
  for (uint32_t i = 0; i < x->code->label_count; i++)
    labels[i].is_ahead = labels[i].leads_back = false;
  // Downwards and upwards in turns: each way one of the marks goes far.
  for (bool again = true, up = false; again; up = !up) {
    again = false;
    for (uint32_t n = 0; n <= step - first; n++) {
      uint32_t pc = up ? step - n : first + n;
      for (int32_t i = x->code->label_at[pc]; i >= 0; i = labels[i].next)
        if (i == head ||
            (i < x->old_labels && pc > first && labels[i].is_ahead))
          again |= mark(x, i);
    }
  }
  x->block_count = 0;
  for (uint32_t pc = first; pc <= step; pc++)
    for (int32_t i = x->code->label_at[pc]; i >= 0; i = labels[i].next)
      if (labels[i].leads_back && x->block_count++ < TL_HOIST_BLOCKS)
        x->blocks[x->block_count - 1] = i;
  return x->block_count <= TL_HOIST_BLOCKS && labels[head].leads_back;
}

// All operations of the loop, in the order of its blocks, up to the step.
// False: they are too many, or another block has a step to the head, too.
static bool read_blocks(tl_hoisting *x) {
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
  if (x->old.size > TL_HOIST_OPS || x->old.size < 4)
    return false;
  const tl_typed *step = &x->old.ops[x->old.size - 2];
  return step->op == TL_TYPED_STEP && step->to == x->at->head && step->d < 0 &&
         step[1].op == TL_TYPED_JUMP;
}

bool tl_hoist_read(tl_hoisting *x) {
  const tl_typed *ops = x->old.ops;
  bool skips[TL_HOIST_OPS] = {false};
  short_loop inner;
  if (!find_blocks(x) || !read_blocks(x))
    return false;
  uint32_t end = x->old.size - 2;
  x->hidden = ops[end].a;
  x->variable = ops[0].a;
  x->by_one = ops[end].c < 0;
  x->new.size = 0;
  x->polls = 0;
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
    if (i < end &&
        (is_refused(t) || t->op == TL_TYPED_STEP || t->to == x->at->head))
      return false;
    add(&x->new, t);
  }
  if (x->new.size > TL_HOIST_OPS)
    return false;
  for (uint32_t i = 0; i < x->new.size; i++)
    x->polls += x->new.ops[i].op == TL_TYPED_POLL;
  return true;
}

// Those of loops that were written out are as many each time if no branch is
// before them.
bool tl_hoist_is_closed(const tl_hoisting *x) {
  const tl_typed *ops = x->new.ops;
  bool branches = false;
  if (x->new.size < 4 || ops[x->new.size - 3].op != TL_TYPED_POLL)
    return false;
  for (uint32_t i = 1; i + 3 < x->new.size; i++) {
    bool goes = tl_jit_jumps(ops[i].op), polls = ops[i].op == TL_TYPED_POLL;
    if ((polls ? branches : ops[i].exit >= 0) || ops[i].op >= TL_TYPED_CALL ||
        ops[i].op == TL_TYPED_EXIT || ops[i].op == TL_TYPED_STEP ||
        (goes &&
         (ops[i].to < 0 || tl_hoist_find_label(&x->new, ops[i].to) < i)))
      return false;
    branches |= goes;
  }
  return true;
}
