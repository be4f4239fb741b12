// The typing pass: blocks of bytecode, in the order of the code as far as they
// are reached, each from the types that its first path brought.
//
//     entry's tags ─▶ label 4 ─▶ step … step ─▶ jump to 9 ─▶ label 9, 9b …
//                                  │
//                                  ├ scalars, arrays of the entry    here
//                                  ├ else: references, their items   _places
//                                  └ else: the unit leaves, the block ends
//
// An instruction is tried as a whole: what does not fit appends nothing and
// changes no type, so that the next way finds it as it was. An array of the
// entry comes first with its facts in registers; the same array after it has
// moved is a reference like others.
#include "vm/native/typing.h"

// --- Where control goes -----------------------------------------------------

// A branch on a bool, or on two operands.
static tl_typing_step branch(tl_typing_pass *x, const tl_ins *ins,
                             const tl_decoded *d) {
  uint32_t a = ins->a >> 4;
  bool back = d->target <= x->pc;
  tl_typed *t;
  if (ins->op == TL_BC_JT || ins->op == TL_BC_JF) {
    if (x->now[a] != TL_TYPE_BOOL)
      return TL_TYPING_LEAVES;
    t = tl_typing_put(x, TL_TYPED_IF, TL_JIT_NONE, (int)a, TL_JIT_NONE);
    t->condition = (ins->op == TL_BC_JT) != back ? TL_IF_NE : TL_IF_EQ;
  } else if (!tl_typing_condition_of(x, ins, back, &t)) {
    return TL_TYPING_LEAVES;
  }
  return tl_typing_branch(x, t, d->target);
}

// --- Loops over ranges ------------------------------------------------------

// How many iterations a range of small constants has; -1: it is not known.
static int64_t known_count(const tl_typing_operand *bounds) {
  for (int i = 0; i < 3; i++)
    if (!bounds[i].is_known || bounds[i].value.i != (int32_t)bounds[i].value.i)
      return -1;
  int64_t step = bounds[2].value.i;
  int64_t span = bounds[1].value.i - bounds[0].value.i;
  if (step < 0) {
    step = -step;
    span = -span;
  }
  return step == 0 ? -1 : span <= 0 ? 0 : (span - 1) / step + 1;
}

// The number of iterations takes the place of the end. Bounds of narrow dtypes
// are integers like others.
//
//     a      the hidden next value        i = start, start + step, …
//     a + 1  the end, and from here on how many iterations are left
//     a + 2  the step
//
// A loop of many iterations is left at its beginning where the unit has made an
// array: entered there, it is of the entry, and has address and lengths in
// registers. Loops around it have gone on for some time, or will.
static void leave_for_arrays(tl_typing_pass *x, uint32_t count) {
  enum { MANY = 256, MANY_WITHIN = 32 };
  bool has_rows = false;
  for (uint64_t live = x->flow->live[x->then]; live != 0; live &= live - 1) {
    uint32_t s = (uint32_t)__builtin_ctzll(live);
    uint64_t tag = tl_jit_is_reference(x->now[s])
                       ? tl_jit_tag_of(x->unit, s, x->now[s])
                       : 0;
    for (uint32_t rank = 1; rank <= 3; rank++)
      has_rows |= tl_tag_is_grid(tag, rank) && (tag & TL_DENSE) != 0 &&
                  (tag & TL_DIRECT) != 0 && tl_tag_owns(tag);
  }
  if (!has_rows)
    return;
  tl_typed *t =
      tl_typing_put(x, TL_TYPED_IF, TL_JIT_NONE, (int)count, TL_JIT_NONE);
  t->condition = TL_IF_GT;
  t->imm = x->flow->depth[x->then] > 1 ? MANY_WITHIN : MANY;
  t->to = -1 - tl_typing_exit_with(x, x->then, x->flow->live[x->then]);
  if (x->flow->detours[x->then] == TL_DETOUR_NONE)
    x->flow->detours[x->then] = TL_DETOUR_NEVER;
}

// Steps that are not known and below 1 are left to the interpreter, and so is
// 0. A uint64 bound may be no int64, so ranges of these are the interpreter's.
// Types are all tested before the first operation changes one.
static tl_typing_step begin_range(tl_typing_pass *x, const tl_ins *ins,
                                  const tl_decoded *d) {
  uint32_t a = ins->a >> 4;
  tl_typing_operand bounds[3];
  for (uint32_t i = 0; i < 3; i++) {
    bounds[i] = tl_typing_slot(x, a + i);
    if (!tl_jit_is_integer(x->now[a + i]) ||
        x->now[a + i] == tl_jit_of_dtype(TL_UINT64))
      return TL_TYPING_LEAVES;
  }
  const tl_typing_operand *step = &bounds[2];
  if (step->is_known && (step->value.i == 0 || step->value.i == INT64_MIN))
    return TL_TYPING_LEAVES;
  int64_t count = known_count(bounds);
  for (uint32_t i = 0; i < 3; i++)
    if (!tl_jit_is_int(x->now[a + i]))
      tl_typing_set(x, TL_TYPED_FIT, a + i, TL_TYPE_INT, (int)(a + i),
                    TL_JIT_NONE);
  if (count >= 0) {
    tl_typing_set_constant(x, a + 1, tl_weak_int(count));
  } else {
    tl_typed *t =
        tl_typing_set(x, TL_TYPED_COUNT, a + 1, TL_TYPE_INT | TL_TYPE_WEAK,
                      (int)a, step->is_known ? TL_JIT_NONE : (int)a + 2);
    t->imm = step->is_known ? step->value.i : 0;
  }
  // The hidden slots become weak; the count is.
  for (uint32_t i = 0; i < 3; i += 2)
    if ((x->now[a + i] & TL_TYPE_WEAK) == 0)
      tl_typing_set(x, TL_TYPED_MOVE, a + i, TL_TYPE_INT | TL_TYPE_WEAK,
                    (int)(a + i), TL_JIT_NONE);
  if (count == 0) {
    tl_typing_jump(x, (uint32_t)d->target);
    return TL_TYPING_ENDS;
  }
  if (count < 0) {
    tl_typed *t =
        tl_typing_put(x, TL_TYPED_IF, TL_JIT_NONE, (int)a + 1, TL_JIT_NONE);
    t->condition = TL_IF_EQ;
    t->to = tl_typing_edge(x, (uint32_t)d->target);
  }
  // The variable is written only where there is an iteration.
  tl_typing_set(x, TL_TYPED_MOVE, ins->b >> 4, TL_TYPE_INT | TL_TYPE_WEAK,
                (int)a, TL_JIT_NONE);
  leave_for_arrays(x, a + 1);
  return TL_TYPING_GOES_ON;
}

// The step back into the body. An edge that leaves has to leave with the
// variable moved on, as one into another body than round_at's has. The jump's
// own types are those with the variable moved on, so these are set for the edge
// and taken back for what comes behind the loop. The values of the hidden slots
// are not known any more on either side.
static tl_typing_step next_iteration(tl_typing_pass *x, const tl_ins *ins,
                                     const tl_decoded *d) {
  uint32_t a = ins->a >> 4, variable = ins->b >> 4;
  for (uint32_t i = 0; i < 3; i++)
    if (x->now[a + i] != (TL_TYPE_INT | TL_TYPE_WEAK))
      return TL_TYPING_LEAVES;
  tl_typing_poll(x);
  bool by_one = x->flow->by_one[d->target];
  tl_typed *t = tl_typing_put(x, TL_TYPED_STEP, (int)a, (int)a + 1,
                              by_one ? TL_JIT_NONE : (int)a + 2);
  t->type = TL_TYPE_INT | TL_TYPE_WEAK;
  t->imm = by_one;
  tl_jit_type before = x->now[variable];
  uint64_t known = x->known;
  x->now[variable] = TL_TYPE_INT | TL_TYPE_WEAK;
  x->known &= ~(tl_jit_bit(a) | tl_jit_bit(a + 1));
  t->to = tl_typing_edge(x, (uint32_t)d->target);
  bool moves_first =
      t->to >= 0 && tl_typing_round(x, (uint32_t)d->target, x->now) == ins;
  t->d = moves_first ? TL_JIT_NONE : (int16_t)variable;
  x->now[variable] = before;
  x->known = known & ~(tl_jit_bit(a) | tl_jit_bit(a + 1));
  return TL_TYPING_GOES_ON;
}

// --- Items of arrays --------------------------------------------------------

// The number of the array in the slot, whose items are used; -1: it is none
// whose items lie in rows, or there are too many. What it is has to be known at
// the entry: its facts are read there. What is written has to own its data and
// be writable (TL_DIRECT), and to be owned by the slot; that nobody else owns
// it is tested at each entry. As long as the slot's type is ENTRY nothing has
// been moved into it or out of it, so the facts are those of what it has.
static int array_in(tl_typing_pass *x, uint32_t slot, uint32_t rank,
                    bool written) {
  tl_jit_unit *u = x->unit;
  uint64_t tag = u->tags[slot];
  if (x->now[slot] != TL_TYPE_ENTRY || !tl_is_of_rank(tag, rank) ||
      (tag & TL_DENSE) == 0)
    return -1;
  // Nobody tests arguments of a call for other owners at the entry.
  if (written && (u->is_function ||
                  (tag & (TL_OWNED | TL_DIRECT)) != (TL_OWNED | TL_DIRECT)))
    return -1;
  uint32_t i = 0;
  while (i < u->array_count && u->arrays[i].slot != slot) i++;
  if (i == TL_JIT_ARRAYS)
    return -1;
  if (i == u->array_count) {
    u->arrays[i] = (tl_jit_array){.slot = (uint8_t)slot, .tag = tag};
    u->array_count++;
  }
  u->arrays[i].is_written |= written;
  return (int)i;
}

// Indices of items, as many as the array has axes. Any integer will do: a slot
// has it extended to 64 bits, and what is not below the length leaves: negative
// ones, which count from the end, and uint64 above all lengths.
typedef struct indices {
  uint32_t count;
  uint32_t slots[3];
} indices;

// The tag of the array with items of scalars that the indices choose one of; 0:
// there is none. complex128 and texts have no slot of their own, and are left
// to the interpreter.
static uint64_t array_of(tl_typing_pass *x, uint32_t array, const indices *at) {
  uint64_t tag = tl_jit_tag_of(x->unit, array, x->now[array]);
  for (uint32_t i = 0; i < at->count; i++)
    if (!tl_jit_is_integer(x->now[at->slots[i]]))
      return 0;
  return tl_tag_is_grid(tag, at->count) ? tag : 0;
}

// The second and third index of an access.
static void put_indices(tl_typed *t, const indices *at) {
  t->d = at->count > 1 ? (int16_t)at->slots[1] : TL_JIT_NONE;
  t->e = at->count > 2 ? (int16_t)at->slots[2] : TL_JIT_NONE;
}

// a = b[indices]. The item is not weak: it has its array's dtype. An array of
// which there are no facts, as the slot has been written since the entry or its
// items do not lie in rows, is a reference: each access reads address, lengths
// and strides anew. What its slot owns may end with that.
//
//     x as at the entry, in rows     t5 = load x[i, j]      facts in registers
//     made in the unit, x.T, x[:, 0] t5 = item x, i, j
//     f(x)[i, j]                     t5 = item t6, i, j     end t6
static tl_typing_step load(tl_typing_pass *x, const tl_ins *ins,
                           const indices *at) {
  uint32_t value = ins->a >> 4, array = ins->b >> 4;
  uint64_t tag = array_of(x, array, at);
  bool ends = ins->op != TL_BC_TAKEEL && ins->op != TL_BC_NEXT &&
              (ins->modes & 3u) != TL_MODE_BORROW && tl_tag_owns(tag);
  if (tag == 0 || (ends && value == array))
    return TL_TYPING_LEAVES;
  int k = array_in(x, array, at->count, false);
  tl_dtype dtype = (tl_dtype)(tag >> 8 & 0xff);
  if (k < 0)
    tl_typing_tag(x, array);
  tl_typed *t = tl_typing_set(
      x, k < 0 ? TL_TYPED_ITEM : TL_TYPED_LOAD, value, tl_jit_of_dtype(dtype),
      (int)(k < 0 ? array : at->slots[0]), k < 0 ? (int)at->slots[0] : k);
  t->dtype = (uint8_t)dtype;
  put_indices(t, at);
  return ends ? tl_typing_end(x, array) : TL_TYPING_GOES_ON;
}

// array[indices] = value. Other conversions, as of floats into integers, are
// left to the interpreter, whether they are errors or not. What is stored into
// has one owner, which is tested at the entry, or each time where there are no
// facts, so no copy is ever due. With --no-reuse every store makes one.
static tl_typing_step store(tl_typing_pass *x, uint32_t value, uint32_t array,
                            const indices *at) {
  uint64_t tag = array_of(x, array, at);
  tl_dtype dtype = (tl_dtype)(tag >> 8 & 0xff);
  tl_jit_type has = x->now[value];
  if (tag == 0 || !tl_jit_may_store(has, (int)dtype))
    return TL_TYPING_LEAVES;
  int k = array_in(x, array, at->count, true);
  if (k < 0 && (x->code->vm->no_reuse ||
                (tl_typing_tag(x, array) & (TL_OWNED | TL_DIRECT)) !=
                    (TL_OWNED | TL_DIRECT)))
    return TL_TYPING_LEAVES;
  tl_typed *t = tl_typing_put(
      x, k < 0 ? TL_TYPED_SETITEM : TL_TYPED_STORE, tl_jit_register(value, has),
      (int)(k < 0 ? array : at->slots[0]), k < 0 ? (int)at->slots[0] : k);
  if (k < 0)
    t->type = has;
  t->dtype = (uint8_t)dtype;
  put_indices(t, at);
  return TL_TYPING_GOES_ON;
}

// The parts of a path, if it is one index of plain values, of which there is
// one for each of three axes.
static bool read_path(const tl_typing_pass *x, uint32_t path, uint32_t window,
                      indices *at) {
  const tl_path *p = &x->p->unit->paths[path];
  at->count = 3;
  if (p->step_count != 1 || p->part_count != 3 || p->spreads ||
      p->steps[0].field != NULL || p->steps[0].item_count != 3)
    return false;
  for (uint32_t i = 0; i < 3; i++) {
    if (p->steps[0].items[i].kind != TL_ITEM_VALUE)
      return false;
    at->slots[i] = window + i;
  }
  return true;
}

// Items of arrays of three axes, whose indices stand in a window, as INDEX and
// SETPATH have them. A path with fields, or of another form, is not tried here.
static tl_typing_step deep_item(tl_typing_pass *x, const tl_ins *ins) {
  uint32_t a = ins->a >> 4, b = ins->b >> 4, c = ins->c >> 4;
  uint32_t path = tl_ins_extra(ins[1]);
  indices at;
  if (ins->op == TL_BC_SETPATH)
    return (ins->modes >> 4 & 3u) != TL_MODE_BORROW && !x->code->vm->no_reuse &&
                   read_path(x, path, c, &at)
               ? store(x, b, a, &at)
               : TL_TYPING_LEAVES;
  return read_path(x, path, a + 1, &at) ? load(x, ins, &at) : TL_TYPING_LEAVES;
}

// Reads and writes of items, by opcode. TAKEEL reads for an update such as
// x[i] += 1, for which an array of scalars has nothing to move out.
static tl_typing_step item(tl_typing_pass *x, const tl_ins *ins) {
  uint32_t a = ins->a >> 4, b = ins->b >> 4, c = ins->c >> 4;
  uint32_t d = ins[1].a >> 4;
  const indices one = {1, {c}}, two = {2, {c, d}};
  switch (ins->op) {
    case TL_BC_GETEL:
    case TL_BC_TAKEEL:
      return load(x, ins, &one);
    case TL_BC_GETEL2:
      return load(x, ins, &two);
    case TL_BC_SETEL:
    case TL_BC_REPLACE:
      return store(x, b, a, &one);
    default:
      return store(x, b, a, &two);
  }
}

// --- Iterating over arrays --------------------------------------------------

// While the position is below the length, on into the body.
static tl_typing_step has_more(tl_typing_pass *x, const tl_ins *ins,
                               const tl_decoded *d) {
  uint32_t a = ins->a >> 4;
  int k = tl_jit_is_int(x->now[a + 1]) ? array_in(x, a, 1, false) : -1;
  if (k < 0)
    return TL_TYPING_LEAVES;
  tl_typing_poll(x);
  tl_typed *t = tl_typing_put(x, TL_TYPED_IF, TL_JIT_NONE, (int)a + 1,
                              TL_JIT_FACTS + TL_JIT_FACTS_EACH * k + 1);
  t->condition = TL_IF_LT;
  t->to = tl_typing_edge(x, (uint32_t)d->target);
  return TL_TYPING_GOES_ON;
}

// The item at the position, which moves on. The bounds are tested once more by
// the load, which costs a comparison that is never true, and proves it to the
// check.
static tl_typing_step next_item(tl_typing_pass *x, const tl_ins *ins) {
  uint32_t position = (ins->b >> 4) + 1u;
  tl_jit_type type = x->now[position];
  const indices at = {1, {position}};
  tl_typing_step went = load(x, ins, &at);
  if (went == TL_TYPING_GOES_ON)
    tl_typing_set(x, TL_TYPED_ADD, position, type, (int)position, TL_JIT_NONE)
        ->imm = 1;
  return went;
}

// --- Values and variables ---------------------------------------------------

// A move of a scalar, whether it ends where it was or not. What is known stays
// so: a constant is made anew instead of being moved.
static tl_typing_step copy(tl_typing_pass *x, uint32_t a, uint32_t b) {
  tl_jit_type type = x->now[b];
  if (!tl_jit_is_scalar(type))
    return TL_TYPING_LEAVES;
  if ((x->known & tl_jit_bit(b)) != 0)
    tl_typing_set_constant(x, a, x->values[b]);
  else
    tl_typing_set(x, tl_jit_is_float(type) ? TL_TYPED_FMOVE : TL_TYPED_MOVE, a,
                  type, tl_jit_register(b, type), TL_JIT_NONE);
  return TL_TYPING_GOES_ON;
}

// Stores a scalar in a variable of the module, unless that owns an object. The
// variable's type may change by it; units that read it compare its tag.
static tl_typing_step put_variable(tl_typing_pass *x, const tl_ins *ins) {
  uint32_t a = ins->a >> 4;
  tl_jit_type type = x->now[a];
  if (!tl_jit_is_scalar(type))
    return TL_TYPING_LEAVES;
  tl_typed *t = tl_typing_put(x, TL_TYPED_PUT, tl_jit_register(a, type),
                              TL_JIT_NONE, TL_JIT_NONE);
  t->type = type;
  t->imm = tl_ins_extra(*ins);
  return TL_TYPING_GOES_ON;
}

// --- Blocks -----------------------------------------------------------------

// One instruction of the bytecode: those that units know, by opcode. What is
// not in the list computes or leaves. JSET asks whether a slot was ever
// written, which types do not say.
static tl_typing_step step(tl_typing_pass *x, const tl_ins *ins,
                           const tl_decoded *d) {
  uint32_t a = ins->a >> 4;
  switch (ins->op) {
    case TL_BC_MOV:
    case TL_BC_MOVB:
    case TL_BC_FORVAR:
      return copy(x, a, ins->b >> 4);
    case TL_BC_LOADI:
      tl_typing_set_constant(x, a, tl_weak_int((int32_t)tl_ins_extra(*ins)));
      return TL_TYPING_GOES_ON;
    case TL_BC_SETG:
      return put_variable(x, ins);
    case TL_BC_GETEL:
    case TL_BC_GETEL2:
    case TL_BC_TAKEEL:
    case TL_BC_SETEL:
    case TL_BC_SETEL2:
    case TL_BC_REPLACE:
      return item(x, ins);
    case TL_BC_INDEX:
    case TL_BC_SETPATH:
      return deep_item(x, ins);
    case TL_BC_CALLK:
    case TL_BC_CALL:
      return tl_typing_call(x, ins);
    case TL_BC_CALLB:
      return tl_typing_convert(x, ins);
    case TL_BC_LIST:
      return tl_typing_give_row(x, ins);
    case TL_BC_RET:
      // C does only a part of it.
      if (tl_typing_give_result(x, ins) == TL_TYPING_LEAVES)
        tl_typing_put_plain(x, TL_TYPED_EXIT);
      return TL_TYPING_ENDS;
    case TL_BC_LOOP:
    case TL_BC_JMP:
      if (ins->op == TL_BC_LOOP)
        tl_typing_poll(x);
      tl_typing_jump(x, (uint32_t)d->target);
      return TL_TYPING_ENDS;
    case TL_BC_FORPREP:
      return begin_range(x, ins, d);
    case TL_BC_FORR:
      return next_iteration(x, ins, d);
    case TL_BC_MORE:
      return has_more(x, ins, d);
    case TL_BC_NEXT:
      return next_item(x, ins);
    case TL_BC_JSET:
      return TL_TYPING_LEAVES;
    default:
      break;
  }
  if (d->target >= 0)
    return branch(x, ins, d);
  tl_typing_step went = tl_typing_compute(x, ins, d);
  return went == TL_TYPING_LEAVES ? tl_typing_short(x, ins, d) : went;
}

// The rest of the block, from the instruction under way on, is typed later;
// what was appended from [start] on goes. [number] is the block's label where
// nothing is left of it; else -1. Operations that were taken back have made
// exits, which stay and do no harm.
static void defer(tl_typing_pass *x, uint32_t start, int32_t number) {
  x->code->op_count = start;
  if (number < 0) {
    number = tl_typing_jump(x, x->pc);
    if (number < 0 || !x->code->labels[number].is_pending)
      return;
  }
  tl_jit_label *label = &x->code->labels[number];
  label->is_deferred = true;
  label->is_pending = false;
}

// From the label on to where control ends or another label is. A block that
// runs into another label jumps there, even if it is the next one; the emitter
// leaves such jumps out.
static void type_block(tl_typing_pass *x, int32_t number) {
  uint32_t start = x->code->op_count;
  tl_jit_label *label = &x->code->labels[number];
  uint32_t pc = label->pc;
  label->is_pending = false;
  memcpy(x->now, label->types, sizeof x->now);
  x->known = 0;
  tl_typing_put_plain(x, TL_TYPED_LABEL)->to = number;
  const tl_ins *round = tl_typing_round(x, pc, x->now);
  if (round != NULL)
    tl_typing_set(x, TL_TYPED_MOVE, round->b >> 4, TL_TYPE_INT | TL_TYPE_WEAK,
                  round->a >> 4, TL_JIT_NONE);
  for (bool first = true; !x->is_full; first = false) {
    if (!first && (x->flow->leads[pc] || x->code->label_at[pc] >= 0)) {
      tl_typing_jump(x, pc);
      return;
    }
    tl_decoded d;
    tl_decode(x->p, pc, &d);
    x->pc = pc;
    uint32_t before = x->code->op_count;
    tl_jit_type types[TL_JIT_SLOTS];
    if (x->flow->detours[pc] == TL_DETOUR_MADE)
      memcpy(types, x->now, sizeof types);
    x->then = pc + d.words;
    x->is_unseen = false;
    bool around = first && label->is_detour;
    tl_typing_step went =
        around ? TL_TYPING_LEAVES : step(x, &x->p->code[pc], &d);
    if (went == TL_TYPING_LEAVES && !around) {
      x->code->op_count = before;
      went = tl_typing_place(x, &x->p->code[pc], &d);
    }
    if (went == TL_TYPING_LEAVES) {
      x->code->op_count = before;
      x->unit->is_curious |= x->is_unseen;
      if (!x->is_unseen)
        went = tl_typing_one(x, &x->p->code[pc], d.target);
    }
    if (went == TL_TYPING_LEAVES) {
      x->code->op_count = before;
      // The interpreter does it, from its beginning on.
      tl_typing_put_plain(x, TL_TYPED_EXIT);
    }
    if (went == TL_TYPING_WAITS)
      defer(x, first ? start : before, first ? number : -1);
    if (went != TL_TYPING_GOES_ON)
      return;
    if (x->flow->detours[pc] == TL_DETOUR_MADE && !around) {
      uint32_t count = x->code->op_count;
      tl_typing_detour(x, before, types);
      if (x->code->op_count > count)
        return;
    }
    pc = x->then;
  }
}

// Takes a block that is pending, of the first pc that has one; -1: there is
// none. A pc has one bit for all its versions, so the bit is cleared only when
// none of them is pending.
static int32_t take_pending(tl_typing_pass *x) {
  for (; x->first < x->pending_count; x->first++) {
    uint64_t *word = &x->pending[x->first];
    for (; *word != 0; *word &= *word - 1) {
      uint32_t pc = x->first * 64 + (uint32_t)__builtin_ctzll(*word);
      for (int32_t i = x->code->label_at[pc]; i >= 0;
           i = x->code->labels[i].next)
        if (x->code->labels[i].is_pending)
          return i;
    }
  }
  return -1;
}

// Blocks until none is pending; then those that were deferred, whose calls now
// find what their functions give, or leave. Only now are callees made: a
// recursive one finds this unit's result, if one of its paths has said it.
static void type_blocks(tl_typing_pass *x) {
  int32_t next;
  for (;;) {
    while (!x->is_full && (next = take_pending(x)) >= 0) type_block(x, next);
    if (x->defers || x->is_full)
      return;
    x->defers = true;
    for (uint32_t i = 0; i < x->code->label_count; i++) {
      tl_jit_label *label = &x->code->labels[i];
      label->is_pending = label->is_deferred;
      if (label->is_pending)
        tl_typing_mark(x, label->pc);
    }
  }
}

// What lives at the entry has the types of its tags there, and everything else
// is UNKNOWN. The arrays are found anew, since listing types a unit twice.
bool tl_jit_type_unit(tl_jit_code *code, tl_jit_find_callee *find) {
  tl_jit_unit *u = code->unit;
  tl_typing_pass x = {.code = code,
                      .unit = u,
                      .p = u->function,
                      .flow = code->flow,
                      .find = find};
  x.pending_count = u->function->code_count / 64 + 1;
  size_t nbytes = x.pending_count * sizeof *x.pending;
  x.pending = tl_spare_alloc(code->vm, nbytes);
  if (x.pending == NULL)
    return false;
  memset(x.pending, 0, nbytes);
  u->array_count = u->reference_count = u->callee_count = 0;
  u->pinned = 0;
  u->is_curious = u->does = false;
  for (uint32_t s = 0; s < u->function->slot_count; s++)
    if ((u->live & tl_jit_bit(s)) != 0)
      x.now[s] = tl_jit_type_of(u->tags[s]);
  tl_typing_label(&x, u->pc);
  type_blocks(&x);
  tl_spare_free(code->vm, x.pending, nbytes);
  if (!x.is_full)
    tl_jit_hoist(code);
  return !x.is_full;
}
