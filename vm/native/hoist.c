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
// the loop around it is one without others, and its indices are constants.
// Where nothing leaves, the polls of all iterations that there is fuel for are
// taken before:
//
//     for k in 0..n {                chunk t5 row1 -> 9c
//       for a in 0..3 {              k = move t4
//         s += x[k, a]               row0 = row x[k]
//       }                            t = fread row0[0]     s = fadd s, t
//     }                              t = fread row0[1]     s = fadd s, t
//                                    t = fread row0[2]     s = fadd s, t
//                                    t4 = step t5, t6 …
//
// New operations go behind the old ones in the same table, and take their place
// in the end, so the pass is linear in them; a loop that is large is left
// alone. Nothing here is believed: check.c proves it from what is emitted.

#include "vm/native/hoist.h"

// A base with what is added to it. The slot is TL_JIT_NONE for a constant
// alone, and the hidden next value for the loop's variable.
typedef struct index {
  int slot;
  bool is_variable;
  int32_t offset;
} index;

// What is in the slot where the operation [at] reads it, as a base and a
// constant. Sums are those of int64, so that what is added is the same in
// registers of 64 bits. False: it is computed in another way, or in another
// block.
//
//     i = move t4              i        the variable, 0
//     t9 = sub i, 1            t9       the variable, -1
//     t9 = const 2             t9       nothing, 2
//     k, which is not written  k        k, 0
static bool read_index(const tl_hoisting *x, int slot, uint32_t at,
                       index *out) {
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
    const tl_typed *t = tl_hoist_writer(x->new.ops, slot, at);
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

// Whether the access [at] has indices that guards can test. [*last] is that of
// the items of a row; of one axis it is [*first], too.
static bool read_indices(const tl_hoisting *x, uint32_t at, index *first,
                         index *last) {
  const tl_typed *t = &x->new.ops[at];
  // Of an array of the entry, of one or two axes.
  return t->op >= TL_TYPED_LOAD && t->op <= TL_TYPED_STORE && t->e < 0 &&
         read_index(x, t->b, at, first) &&
         read_index(x, t->d < 0 ? t->b : t->d, at, last);
}

// Whether the second form has a guard or polls to gain by, and nothing in it
// writes what its guards rely on.
static bool is_worth_it(tl_hoisting *x) {
  const tl_typed *ops = x->new.ops;
  bool gains = tl_hoist_is_closed(x);
  x->written = 0;
  for (uint32_t i = 1; i + 2 < x->new.size; i++)
    if (tl_typed_has_result(&ops[i]))
      x->written |= UINT64_C(1) << ops[i].a % TL_JIT_SLOTS;
  uint64_t fixed = UINT64_C(7) << x->hidden | UINT64_C(1) << x->variable;
  index first, last;
  for (uint32_t i = 1; i + 2 < x->new.size && !gains; i++)
    gains = read_indices(x, i, &first, &last);
  return gains && (x->written & fixed) == 0;
}

// --- What is tested before it -----------------------------------------------

// The type of a slot that nothing in the loop writes, or of the variable.
static tl_jit_type type_of(const tl_hoisting *x, int slot) {
  return slot < 0              ? TL_TYPE_UNKNOWN
         : slot == x->variable ? TL_TYPE_INT | TL_TYPE_WEAK
                               : x->code->labels[x->at->head].types[slot];
}

// An operation of these, which has no result.
static tl_typed make(const tl_hoisting *x, tl_typed_op op, int b, int c) {
  tl_typed t = tl_typed_of((int)op, TL_JIT_NONE, b, c);
  t.from[1] = type_of(x, b);
  return t;
}

// Adds to the guards that the index is below the length in the register. What
// is added to one base is one guard, of the least and the most: x[i - 1] and
// x[i + 1] want "i -1 to i +1".
static void guard(tl_hoisting *x, const index *at, int length) {
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
    t->e = at->is_variable && x->by_one ? 1 : TL_JIT_NONE;
    t->from[2] = TL_TYPE_INT;
    t->to = x->at->slow;
    x->guard_count++;
  } else {
    low = low < tl_jit_low(t) ? low : tl_jit_low(t);
    high = high > tl_jit_high(t) ? high : tl_jit_high(t);
  }
  t->imm = (int64_t)((uint64_t)(uint32_t)low << 32 | (uint32_t)high);
}

// The register with the address of the array's row; -1: there are no more. Rows
// of one array and index share it. That of the variable is made in each
// iteration, where the hidden next value has been moved to it.
static int row_of(tl_hoisting *x, const tl_typed *access, const index *at) {
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

// The access [at] without its tests, which become guards. False: it is none,
// its indices are not of that kind, or there are too many guards; then it tests
// as before, beside others that do not. A store of an integer may still leave,
// as the items' dtype may not have it.
//
//     t6 = fload x[i, t9]  exit 12       t6 = fread row0[k -1]
//     store v[t9], n       exit 14       write v[k -1], n        exit 14
static bool hoist_access(tl_hoisting *x, uint32_t at, tl_typed *out) {
  const tl_typed *t = &x->new.ops[at];
  int facts = TL_JIT_FACTS + TL_JIT_FACTS_EACH * t->c;
  bool has_rows = t->d >= 0;
  index first, last;
  if (x->guard_count + 2 > TL_HOIST_GUARDS ||
      !read_indices(x, at, &first, &last))
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
  bool tests = t->op == TL_TYPED_STORE && !tl_typed_is_of_float(t) &&
               (int)tl_jit_dtype(t->from[0]) != t->dtype;
  out->exit = tests ? t->exit : -1;
  return true;
}

// --- Writing ----------------------------------------------------------------

// Appends behind the operations that were there; try_loop has asked for room.
static void append(tl_hoisting *x, const tl_typed *t) {
  tl_jit_code *code = x->code;
  code->ops[code->op_count++] = *t;
}

// Appends a jump to the label, or the label.
static void append_label(tl_hoisting *x, tl_typed_op op, int32_t number) {
  tl_typed t = make(x, op, TL_JIT_NONE, TL_JIT_NONE);
  t.to = number;
  append(x, &t);
}

// A further version of a label, which is there already and has its types. The
// caller has asked for room. Versions go on being numbered, for the listing.
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

// The slots that are read by an operation or where it goes, with those that are
// read behind it: all where it is not known.
static uint64_t read_from(const tl_jit_code *code, const tl_typed *t,
                          uint64_t behind) {
  const int16_t operands[] = {t->a, t->b, t->c, t->d, t->e};
  bool is_known = t->op < TL_TYPED_CALL ||
                  (t->op >= TL_TYPED_LEND && t->op <= TL_TYPED_RSET);
  if (!is_known || t->exit < TL_JIT_NONE)
    return UINT64_MAX;
  bool writes = tl_typed_has_result(t) && t->op != TL_TYPED_COUNT;
  uint64_t slots = (tl_typed_ops[t->op].goes & TL_GOES_Z) != 0 ? 0 : behind;
  if (writes)
    slots &= ~tl_jit_bit((uint32_t)t->a % TL_JIT_SLOTS);
  for (int i = writes ? 1 : 0; i < 5; i++)
    if (operands[i] >= 0 && operands[i] < TL_JIT_FACTS &&
        !(i == 2 && tl_typed_ops[t->op].kinds[2] == TL_OPERAND_A))
      slots |= tl_jit_bit((uint32_t)operands[i] % TL_JIT_SLOTS);
  bool goes = tl_jit_jumps(t->op) || t->other != TL_TYPE_UNKNOWN;
  const int32_t exits[] = {t->exit, goes ? -1 - t->to : -1};
  for (int i = 0; i < 2; i++)
    if (exits[i] >= 0)
      slots |= code->exits[exits[i]].slots;
  return t->to < 0 ? slots : slots | code->flow->live[code->labels[t->to].pc];
}

// Leaves out operations from [start] on whose results nobody reads, such as
// arguments of a call for which there is an operation, and indices whose
// constants moved into the accesses. It goes from each block's end to its
// beginning. A loop's body may begin with the variable, which is looked for
// there.
static void tidy(tl_jit_code *code, uint32_t start) {
  uint64_t slots = UINT64_MAX;
  uint32_t to = code->op_count;
  for (uint32_t i = code->op_count; i-- > start;) {
    const tl_typed *t = &code->ops[i];
    bool only_writes = t->op == TL_TYPED_CONST || t->op == TL_TYPED_RCONST ||
                       t->op == TL_TYPED_FCONST || t->op == TL_TYPED_MOVE ||
                       t->op == TL_TYPED_FMOVE || t->op == TL_TYPED_ADD ||
                       t->op == TL_TYPED_SUB;
    if (only_writes && i > 0 && t[-1].op != TL_TYPED_LABEL &&
        (slots >> (uint32_t)t->a % TL_JIT_SLOTS & 1) == 0)
      continue;
    slots = read_from(code, t, slots);
    code->ops[--to] = *t;
  }
  memmove(&code->ops[start], &code->ops[to],
          (code->op_count - to) * sizeof *code->ops);
  code->op_count -= to - start;
}

// The rows that go with the variable, which stand in the body, or those that do
// not, which stand before the loop.
static void append_rows(tl_hoisting *x, bool of_variable) {
  for (uint32_t i = 0; i < x->row_count; i++)
    if ((x->rows[i].b == x->variable) == of_variable)
      append(x, &x->rows[i]);
}

// Behind the step: what was put aside is left, and the slow form polls. Its
// step comes back to the guards, and to the next chunk.
static void append_rest(tl_hoisting *x, int rest) {
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
//
//     head   guard …  row …  chunk …     fails: to the slow form's head
//            jump -> fast
//     fast   variable  row …
//            body
//            step -> fast
//            rest, and on behind the loop
static void append_fast(tl_hoisting *x) {
  tl_jit_code *code = x->code;
  tl_typed item, *ops = x->new.ops;
  uint32_t size = x->new.size;
  x->guard_count = x->row_count = 0;
  // Backwards, as an access is where its index was computed.
  for (uint32_t i = size - 2; i-- > 1;)
    if (hoist_access(x, i, &item))
      ops[i] = item;
  append_label(x, TL_TYPED_LABEL, x->at->head);
  for (int of = 0; of < 2; of++)
    for (uint32_t i = 0; i < x->guard_count; i++)
      if ((x->guards[i].d == 0) == (of == 0))
        append(x, &x->guards[i]);
  append_rows(x, false);
  int rest = tl_jit_first_row(code->unit) + (int)x->row_count;
  bool closed = tl_hoist_is_closed(x) && x->row_count < TL_JIT_ROWS;
  if (closed) {
    tl_typed t = make(x, TL_TYPED_CHUNK, x->hidden + 1, TL_JIT_NONE);
    t.d = (int16_t)rest;
    t.imm = x->polls;
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
  uint32_t start = code->op_count;
  ops[size - 2].to = fast;
  for (uint32_t i = 1; i < size; i++) {
    if (ops[i].op == TL_TYPED_LABEL)
      code->labels[ops[i].to].loop = fast;
    if (closed && i == size - 1)
      append_rest(x, rest);
    if (!closed || ops[i].op != TL_TYPED_POLL)
      append(x, &ops[i]);
  }
  tidy(code, start);
}

// A block of the loop as it was. Labels that are in its other form, too, have
// another one here; those of loops that were written out are here alone. Jumps
// within the loop stay in this form, but for the step of one that returns.
static void append_slow(tl_hoisting *x, uint32_t start) {
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

// Whether anybody comes to a block of loop [number] but its head from outside:
// a jump of another version of the code, or the unit's own beginning. Such
// paths come to the slow form, and must not stay there.
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
static void try_loop(tl_hoisting *x, int32_t head) {
  tl_jit_code *code = x->code;
  tl_hoist_loop *at = &x->loops[x->loop_count];
  uint32_t labels = 2;
  if (x->loop_count == TL_HOIST_LOOPS || x->tries == TL_HOIST_TRIES ||
      code->flow->rounds[code->labels[head].pc] < 0 ||
      code->labels[head].member >= 0)
    return;
  x->tries++;
  *at = (tl_hoist_loop){.head = head};
  x->at = at;
  if (!tl_hoist_read(x) || !is_worth_it(x))
    return;
  for (uint32_t i = 0; i < x->new.size; i++)
    labels += x->new.ops[i].op == TL_TYPED_LABEL;
  uint32_t more = x->old.size + x->new.size + 8 + TL_HOIST_GUARDS + TL_JIT_ROWS;
  if (more > x->room || code->label_count + labels + 1 > code->label_capacity)
    return;
  x->room -= more;
  code->labels[head].slow = at->slow = copy_label(code, head, -1);
  for (uint32_t i = 0; i < x->new.size; i++)
    if (x->new.ops[i].op == TL_TYPED_LABEL)
      code->labels[x->new.ops[i].to].slow =
          copy_label(code, x->new.ops[i].to, -1);
  for (uint32_t i = 0; i < x->block_count; i++)
    code->labels[x->blocks[i]].member = x->loop_count;
  at->returns = is_entered(code, x->loop_count, head);
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
static void find_loops(tl_hoisting *x) {
  const tl_jit_code *code = x->code;
  for (uint32_t pc = 0; pc < code->flow->count; pc++)
    for (int32_t i = code->label_at[pc]; i >= 0; i = code->labels[i].next)
      if (i < x->old_labels)
        try_loop(x, i);
}

// Jumps from outside into a loop's second form go to the slow one instead, as
// its guards have not been asked. The jump to the head itself is that from the
// guards.
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

void tl_jit_weigh(const tl_typed *t, float weight, float *weights) {
  const int16_t operands[] = {t->a, t->b, t->c};
  const uint8_t *kinds = tl_typed_ops[t->op].kinds;
  bool is_item = t->op >= TL_TYPED_LOAD && t->op <= TL_TYPED_STORE;
  for (int i = 0; i < 3; i++)
    if (kinds[i] != TL_OPERAND__ && kinds[i] != TL_OPERAND_A &&
        operands[i] >= 0)
      weights[operands[i]] += weight;
  if (t->other != TL_TYPE_UNKNOWN)
    weights[tl_jit_register((uint32_t)t->a % TL_JIT_SLOTS, t->other)] += weight;
  int facts = TL_JIT_FACTS + TL_JIT_FACTS_EACH * t->c;
  if (t->op == TL_TYPED_CHUNK || (t->op == TL_TYPED_SHORT && t->d >= 0)) {
    weights[t->d] += weight;
  } else if (t->op == TL_TYPED_ROW) {
    weights[t->d] += weight;
    weights[facts] += weight;
    weights[facts + 2] += weight;
  } else if (t->op >= TL_TYPED_READ && t->op <= TL_TYPED_WRITE) {
    weights[t->e] += weight;
  } else if (is_item || t->op == TL_TYPED_ITEM || t->op == TL_TYPED_SETITEM) {
    const int further[] = {t->d, t->e};
    float fact = is_item ? weight : 0;
    weights[is_item ? facts : t->b] += fact;
    weights[is_item ? facts + 1 : t->b] += fact;
    for (int i = 0; i < 2 && further[i] >= 0; i++) {
      weights[further[i]] += weight;
      weights[is_item ? facts + 2 + i : t->b] += 2 * fact;
    }
  }
}

// Of all operations: those of loops count tenfold for each level, and those of
// slow forms, from [slow] on, next to nothing. Guards and chunks before a loop
// are done as often as it is entered.
static void weigh_all(tl_jit_code *code, uint32_t slow) {
  static const float weights[] = {1, 10, 1e2f, 1e3f, 1e4f, 1e5f, 1e6f};
  float weight = 1;
  for (uint32_t i = 0; i < code->op_count; i++) {
    const tl_typed *t = &code->ops[i];
    if (t->op == TL_TYPED_LABEL)
      weight = weights[code->flow->depth[code->labels[t->to].pc]] *
               (i < slow ? 1 : 1e-3f);
    bool before = t->op == TL_TYPED_GUARD || t->op == TL_TYPED_CHUNK;
    tl_jit_weigh(t, before ? 0.1f * weight : weight, code->weights);
  }
}

// The old operations, with second forms where the heads of their loops were,
// and behind all of them the slow forms; returns where these begin. The unit
// begins with the label that it began with, or with one of its types.
static uint32_t append_all(tl_hoisting *x) {
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
      if (x->at != NULL && x->at->head == ops[i].to && tl_hoist_read(x) &&
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
  tidy(code, 0);
  uint32_t slow = code->op_count;
  tl_hoisting *x = code->op_capacity < 2 * code->op_count + 2
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
