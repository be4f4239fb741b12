// Typing of references and of what they lead to: moves and borrows, items of
// lists, fields of records, places below them.
//
// The tag that an item has is not known before it is read. What one was the
// last time is in flow->seen (learn.c); the operation leaves where it finds
// another. A reference's type says whether its slot owns, so a move is a change
// of types alone, and nothing is counted:
//
//     t8 = movb s       now[t8] = borrowed record
//     t8 = mov s!       now[t8] = owned record, and now[s] = UNKNOWN
//
// What a place needs, by where it is tested:
//
//     when typed     the container's tag is known, and its slot owns it where
//                    something is stored; fields have been found before
//     each time      the item's tag; the index is below the length; of what is
//                    stored into: one owner, no borrowed items, and the item
//                    that goes has no count, as the one that comes has none
//
// So a store is a move of 16 bytes. All else is C's: items that are to be
// dropped or counted, copies of what is shared, and every error.
#include "vm/native/typing.h"

#include "vm/values/record.h"

// Whether the slot refers to an object, which is counted unless it is immortal.
static bool is_heap(uint64_t tag) {
  return (tag & TL_CLASS_HEAP) != 0;
}

// --- Moves, constants and variables ------------------------------------------

// A constant: a number, or none, a text, a function. The address of these is in
// the code, which goes with the function, and the constant with that.
static tl_typing_step constant(tl_typing_pass *x, uint32_t a, tl_slot value) {
  tl_jit_type type = tl_typing_type(x, value.tag);
  if (type == TL_TYPE_UNKNOWN || tl_tag_owns(value.tag))
    return TL_TYPING_LEAVES;
  if (tl_jit_is_scalar(type)) {
    tl_typing_set_constant(x, a, value);
    return TL_TYPING_GOES_ON;
  }
  tl_typing_set(x, TL_TYPED_RCONST, a, type, TL_JIT_NONE, TL_JIT_NONE)->imm =
      value.i;
  x->known |= tl_jit_bit(a);
  x->values[a] = value;
  return TL_TYPING_GOES_ON;
}

// A value that was owned is not where it was: a slot that lives on would own
// what another one has. The memory of the slot that it left still says that it
// owns, as behind the interpreter's MOV; it is dead, so nobody asks.
static tl_typing_step move(tl_typing_pass *x, uint32_t a, uint32_t b,
                           bool borrows) {
  uint64_t tag = tl_typing_tag(x, b);
  bool moves = tl_tag_owns(tag) && !borrows;
  tl_jit_type type = tl_typing_type(x, borrows ? tag & ~TL_OWNED : tag);
  if (tag == 0 || type == TL_TYPE_UNKNOWN || a == b ||
      (moves && (x->flow->live[x->then] & tl_jit_bit(b)) != 0))
    return TL_TYPING_LEAVES;
  if ((x->known >> b & 1) != 0)
    return constant(x, a, x->values[b]);
  tl_typing_set(x, TL_TYPED_LEND, a, type, (int)b, TL_JIT_NONE);
  if (moves)
    x->now[b] = TL_TYPE_UNKNOWN;
  return TL_TYPING_GOES_ON;
}

// A module variable has the type that it has now; if it gets another one, the
// unit leaves. A number is not known even where it is constant, as other code
// may write it between two reads. All else is borrowed, as long as the unit
// runs: a variable that owns what it has is not written by units.
static tl_typing_step variable(tl_typing_pass *x, const tl_ins *ins) {
  uint32_t index = tl_ins_extra(*ins);
  uint64_t tag = x->p->unit->module->variables[index].tag;
  tl_jit_type type = tl_typing_type(x, tag & ~TL_OWNED);
  if (type == TL_TYPE_UNKNOWN || (tag >> 8 & 0xff) == TL_KIND_UNSET)
    return TL_TYPING_LEAVES;
  tl_typed *t = tl_typing_set(x, TL_TYPED_GET, ins->a >> 4, type, TL_JIT_NONE,
                              TL_JIT_NONE);
  t->imm = index;
  return TL_TYPING_GOES_ON;
}

// What the operations on ownership have nothing to do for: a slot that owns
// nothing, or, of those that keep what another slot needs, one that needs
// nothing (interp.c has the same tests). Of one of the two the tag need not be
// known; where one is a scalar, that suffices.
bool tl_typing_is_idle(tl_typing_pass *x, const tl_ins *ins) {
  bool two = ins->op == TL_BC_KEEP || ins->op == TL_BC_INHERIT ||
             ins->op == TL_BC_HOLD || ins->op == TL_BC_DETACH;
  if (ins->op < TL_BC_CHECKSET || ins->op > TL_BC_KEEPOF)
    return false;
  if (tl_jit_is_scalar(x->now[ins->a >> 4]) ||
      (two && tl_jit_is_scalar(x->now[ins->b >> 4])))
    return true;
  uint64_t a = tl_typing_tag(x, ins->a >> 4), b;
  switch (ins->op) {
    case TL_BC_CHECKSET:
      return a != 0 && (a >> 8 & 0xff) != TL_KIND_UNSET;
    case TL_BC_DROP:
    case TL_BC_SETTLE:
    case TL_BC_LEAVE:
      return a != 0 && !tl_tag_owns(a);
    case TL_BC_OWN:
    case TL_BC_KEEPALL:
      return a != 0 && !is_heap(a);
    case TL_BC_KEEP:
    case TL_BC_INHERIT:
      b = tl_typing_tag(x, ins->b >> 4);
      return (a != 0 && !tl_tag_owns(a)) || (b != 0 && !is_heap(b));
    case TL_BC_HOLD:
    case TL_BC_DETACH:
      b = tl_typing_tag(x, ins->b >> 4);
      return (b != 0 && !tl_tag_owns(b)) ||
             (a != 0 && (a & TL_CLASS_ARRAY) == 0);
    default:
      return false;
  }
}

// The end of an array, behind which nobody looks at its slot.
tl_typing_step tl_typing_end(tl_typing_pass *x, uint32_t slot) {
  uint64_t tag = tl_typing_tag(x, slot), live = x->flow->live[x->then];
  if (!tl_tag_owns(tag) || (tag & TL_CLASS_ARRAY) == 0 ||
      (live & tl_jit_bit(slot)) != 0)
    return TL_TYPING_LEAVES;
  tl_typed *t =
      tl_typing_put(x, TL_TYPED_END, TL_JIT_NONE, (int)slot, TL_JIT_NONE);
  x->now[slot] = TL_TYPE_UNKNOWN;
  t->exit = tl_typing_exit_with(x, x->then, live);
  return TL_TYPING_GOES_ON;
}

// --- Items ------------------------------------------------------------------

// The type of the item that the instruction read when it was last looked at,
// always a borrowed one;
// [which] is 0, or 1 for another that it had, too. UNKNOWN: none was seen.
static tl_jit_type seen(tl_typing_pass *x, int which) {
  uint64_t tag = x->flow->seen[2 * x->pc + (uint32_t)which];
  x->is_unseen |= tag == 0 && which == 0;
  return tag == TL_JIT_MANY ? TL_TYPE_UNKNOWN : tl_typing_type(x, tag);
}

// Appends a read of an item; an item of the other type that was seen goes on in
// a version of what follows.
//
//     t9 = fitem l, k -> 8    a float: on to the next operation
//                      │      an int: to block 8, where t9 is an int
//                      └─ exit of the same instruction: anything else
//
// The edge is made while the slot has the other type and no known value, and
// both are as before for the type that is likely.
static tl_typed *put_read(tl_typing_pass *x, tl_typed_op op, uint32_t a,
                          tl_jit_type type, int b, int c) {
  tl_jit_type other = seen(x, 1), before = x->now[a];
  int32_t to = -1;
  if (other != TL_TYPE_UNKNOWN && other != type) {
    uint64_t known = x->known;
    x->now[a] = other;
    x->known &= ~tl_jit_bit(a);
    to = tl_typing_edge(x, x->then);
    x->now[a] = before;
    x->known = known;
  } else {
    other = TL_TYPE_UNKNOWN;
  }
  tl_typed *t = tl_typing_set(x, op, a, type, b, c);
  t->other = other;
  t->to = to;
  return t;
}

// Whether the container stays where it is: it is not used up here, or its slot
// owns nothing. Else the instruction is the last that needs it: its items may
// move out, and it is dropped.
static bool stays(const tl_ins *ins, uint64_t tag) {
  return (ins->modes & 3u) == TL_MODE_BORROW || !tl_tag_owns(tag);
}

// A captured value, which is borrowed from the running closure. Another closure
// of the function may have one of another type.
static tl_typing_step captured(tl_typing_pass *x, const tl_ins *ins) {
  tl_jit_type type = seen(x, 0);
  if (type == TL_TYPE_UNKNOWN)
    return TL_TYPING_LEAVES;
  put_read(x, TL_TYPED_CAPTURED, ins->a >> 4, type, TL_JIT_NONE, TL_JIT_NONE)
      ->imm = tl_ins_extra(*ins) & 0x7fffffffu;
  return TL_TYPING_GOES_ON;
}

// The running closure, by which a function within another one calls itself.
// One without captures has no closure.
static tl_typing_step self(tl_typing_pass *x, const tl_ins *ins) {
  tl_jit_type type = tl_typing_type(x, TL_TAG_CLOSURE);
  if (tl_ins_extra(*ins) != 0 || x->p->capture_count == 0 ||
      type == TL_TYPE_UNKNOWN)
    return TL_TYPING_LEAVES;
  tl_typing_set(x, TL_TYPED_SELF, ins->a >> 4, type, TL_JIT_NONE, TL_JIT_NONE);
  return TL_TYPING_GOES_ON;
}

// a = b.name, where the instruction found it the last time: at the position of
// the hint, which is at most TL_JIT_FIELDS. Records of another layout leave.
static tl_typing_step field(tl_typing_pass *x, const tl_ins *ins,
                            const tl_decoded *d) {
  uint32_t b = ins->b >> 4;
  uint64_t tag = tl_typing_tag(x, b);
  uint16_t at = *tl_ins_hint(ins);
  if (!tl_tag_is_kind(tag, TL_KIND_RECORD) || !stays(ins, tag) ||
      at >= TL_JIT_FIELDS)
    return TL_TYPING_LEAVES;
  tl_jit_type type = seen(x, 0);
  if (type == TL_TYPE_UNKNOWN)
    return TL_TYPING_LEAVES;
  tl_typed *t =
      put_read(x, TL_TYPED_FIELD, ins->a >> 4, type, (int)b, TL_JIT_NONE);
  t->imm = (int64_t)tl_key_of_string(x->p->unit->names[d->extra]).word;
  t->d = (int16_t)at;
  return TL_TYPING_GOES_ON;
}

// a = b[c] of a list or a text. Of a text the item is a text, one of those
// letters that are made once.
static tl_typing_step item(tl_typing_pass *x, uint32_t a, uint32_t b,
                           uint32_t c) {
  uint64_t tag = tl_typing_tag(x, b);
  bool list = tl_tag_is_kind(tag, TL_KIND_LIST),
       text = tl_tag_is_kind(tag, TL_KIND_STRING);
  tl_jit_type type =
      list ? seen(x, 0) : tl_typing_type(x, text ? TL_TAG_STRING : 0);
  if (type == TL_TYPE_UNKNOWN || !tl_jit_is_int(x->now[c]))
    return TL_TYPING_LEAVES;
  tl_typed *t = list ? put_read(x, TL_TYPED_ITEM, a, type, (int)b, (int)c)
                     : tl_typing_set(x, TL_TYPED_ITEM, a, type, (int)b, (int)c);
  t->dtype = (uint8_t)(tag >> 8);
  return TL_TYPING_GOES_ON;
}

// a[c] = b of a list that its slot owns, which takes any scalar with its own
// tag, weak or not. That nobody else has it is tested each time. With
// --no-reuse every store makes a copy, so it leaves.
static tl_typing_step set_item(tl_typing_pass *x, uint32_t a, uint32_t b,
                               uint32_t c) {
  uint64_t tag = tl_typing_tag(x, a);
  tl_jit_type has = x->now[b];
  if (!tl_tag_owns(tag) || !tl_tag_is_kind(tag, TL_KIND_LIST) ||
      !tl_jit_is_scalar(has) || !tl_jit_is_int(x->now[c]) ||
      x->code->vm->no_reuse)
    return TL_TYPING_LEAVES;
  tl_typed *t = tl_typing_put(x, TL_TYPED_SETITEM, tl_jit_register(b, has),
                              (int)a, (int)c);
  t->type = has;
  t->dtype = (uint8_t)(tag >> 8);
  return TL_TYPING_GOES_ON;
}

// a, … = b, of a list or an array of one axis that stays, where there are as
// many. What the items of a list were is kept of what C has made the first
// time. The results are dead before it, so each of their slots has the length,
// and then its item's index, on the way.
//
//     dy, dx = unpack step      dy = length step
//                               if dy != 2 -> exit
//                               dy = const 0
//                               dy = item step, dy     exit …
static tl_typing_step unpack(tl_typing_pass *x, const tl_ins *ins) {
  uint32_t a = ins->a >> 4, b = ins->b >> 4, count = tl_ins_extra(ins[1]);
  uint64_t tag = tl_typing_tag(x, b);
  bool list = tl_tag_is_kind(tag, TL_KIND_LIST);
  tl_jit_type types[TL_JIT_RESULTS];
  if (count == 0 || count > TL_JIT_RESULTS)
    return TL_TYPING_LEAVES;
  uint64_t results = (tl_jit_bit(count) - 1) << a;
  uint64_t live = x->flow->live[x->then] & results;
  if ((!list && !tl_tag_is_grid(tag, 1)) || !stays(ins, tag) ||
      (x->flow->live[x->pc] & results) != 0)
    return TL_TYPING_LEAVES;
  const uint64_t *made = &x->flow->made[2 * x->pc];
  int each = tl_jit_kept_each(tl_jit_kept(x->pc, x->then), live);
  for (uint32_t i = 0; i < count; i++) {
    if ((live & tl_jit_bit(a + i)) == 0)
      continue;
    uint64_t item = each > 1 && made[1] != 0 ? 0 : made[0];
    types[i] = !list ? tl_jit_of_dtype((tl_dtype)(tag >> 8 & 0xff))
               : item == TL_JIT_MANY || tl_tag_owns(item)
                   ? TL_TYPE_UNKNOWN
                   : tl_typing_type(x, item);
    if (types[i] == TL_TYPE_UNKNOWN)
      return TL_TYPING_LEAVES;
    made += each;
  }
  tl_typing_set(x, TL_TYPED_LENGTH, a, TL_TYPE_INT, (int)b, TL_JIT_NONE)
      ->dtype = (uint8_t)tl_tag_length_kind(tag);
  tl_typed *t = tl_typing_put(x, TL_TYPED_IF, TL_JIT_NONE, (int)a, TL_JIT_NONE);
  t->condition = TL_IF_NE;
  t->imm = count;
  t->to = -1 - tl_typing_exit(x);
  for (uint32_t i = 0; i < count; i++) {
    if ((live & tl_jit_bit(a + i)) == 0)
      continue;
    tl_typing_set(x, TL_TYPED_CONST, a + i, TL_TYPE_INT, TL_JIT_NONE,
                  TL_JIT_NONE)
        ->imm = i;
    tl_typing_set(x, TL_TYPED_ITEM, a + i, types[i], (int)b, (int)(a + i))
        ->dtype = (uint8_t)(tag >> 8);
  }
  return TL_TYPING_GOES_ON;
}

// --- Loops over lists and texts, and lengths --------------------------------

// While the position is below the length, on into the body. The container stays
// in its slot for all of the loop, so its length is read from it each time.
static tl_typing_step has_more(tl_typing_pass *x, const tl_ins *ins,
                               const tl_decoded *d) {
  uint32_t a = ins->a >> 4;
  uint64_t tag = tl_typing_tag(x, a);
  int kind = tl_tag_length_kind(tag);
  if (kind < 0 || !tl_jit_is_int(x->now[a + 1]))
    return TL_TYPING_LEAVES;
  tl_typing_poll(x);
  tl_typed *t =
      tl_typing_put(x, TL_TYPED_MORE, TL_JIT_NONE, (int)a + 1, (int)a);
  t->dtype = (uint8_t)kind;
  t->to = tl_typing_edge(x, (uint32_t)d->target);
  return TL_TYPING_GOES_ON;
}

// The item at the position, which moves on behind it, and on the way to the
// version of what follows for an item of the other type that was seen. A list
// that gives its items away is the interpreter's. Where the item is refused the
// position is as it was, as the exit is made before.
static tl_typing_step next_item(tl_typing_pass *x, const tl_ins *ins) {
  uint32_t b = ins->b >> 4, position = b + 1;
  uint64_t tag = tl_typing_tag(x, b);
  bool list = tl_tag_is_kind(tag, TL_KIND_LIST);
  if (list ? !stays(ins, tag)
           : !tl_tag_is_kind(tag, TL_KIND_STRING) ||
                 tl_ins_extra(ins[1]) == TL_NEXT_OF_LIST)
    return seen(x, 0), TL_TYPING_LEAVES;
  tl_jit_type type = x->now[position];
  tl_typing_step went = item(x, ins->a >> 4, b, position);
  if (went == TL_TYPING_LEAVES)
    return went;
  tl_typed *read = &x->code->ops[x->code->op_count - 1];
  read->imm = read->other != TL_TYPE_UNKNOWN;
  tl_typing_set(x, TL_TYPED_ADD, position, type, (int)position, TL_JIT_NONE)
      ->imm = 1;
  return went;
}

// len(x) of what its slot does not own. Texts have a length in bytes; where
// that is not the number of characters the operation leaves.
static tl_typing_step length(tl_typing_pass *x, const tl_ins *ins) {
  uint32_t a = ins->a >> 4;
  uint64_t tag = tl_typing_tag(x, a + 1);
  int kind = tl_tag_length_kind(tag);
  if (tl_tag_owns(tag) || kind < 0 || kind == TL_KIND_RANGE)
    return TL_TYPING_LEAVES;
  tl_typed *t = tl_typing_set(x, TL_TYPED_LENGTH, a, TL_TYPE_INT | TL_TYPE_WEAK,
                              (int)a + 1, TL_JIT_NONE);
  t->dtype = (uint8_t)kind;
  return TL_TYPING_GOES_ON;
}

// Appends the value to the list, which its slot owns. The value has no count to
// write: a number, none, or a text, which is asked each time whether it is an
// immortal one; or it gives its own count away. A list without room leaves, so
// that one that doubles when it grows leaves ever more seldom.
static bool put_append(tl_typing_pass *x, uint32_t list, uint32_t value) {
  uint64_t tag = tl_typing_tag(x, list), has = tl_typing_tag(x, value);
  tl_jit_type item = tl_typing_type(x, has);
  bool moves =
      tl_tag_moves_in(has) && (x->flow->live[x->then] & tl_jit_bit(value)) == 0;
  if (!tl_tag_is_kind(tag, TL_KIND_LIST) || !tl_tag_owns(tag) || has == 0 ||
      (is_heap(has) && has != TL_TAG_STRING && !moves) ||
      item == TL_TYPE_UNKNOWN || x->code->vm->no_reuse)
    return false;
  tl_typed *t = tl_typing_put(x, TL_TYPED_APPEND, tl_jit_register(value, item),
                              (int)list, TL_JIT_NONE);
  t->type = item;
  if (moves)
    x->now[value] = TL_TYPE_UNKNOWN;
  return true;
}

// append(x, value), where the list moves into the result.
//
//     t7 = callb append(t8, t9)      append t9, t8
//                                    t7 = lend t8     now[t8] = UNKNOWN
static tl_typing_step append(tl_typing_pass *x, const tl_ins *ins) {
  uint32_t a = ins->a >> 4, list = a + 1;
  tl_jit_type type = tl_typing_type(x, tl_typing_tag(x, list));
  if (type == TL_TYPE_UNKNOWN || !put_append(x, list, a + 2))
    return TL_TYPING_LEAVES;
  tl_typing_set(x, TL_TYPED_LEND, a, type, (int)list, TL_JIT_NONE);
  x->now[list] = TL_TYPE_UNKNOWN;
  return TL_TYPING_GOES_ON;
}

// list += item, as comprehensions do.
static tl_typing_step push(tl_typing_pass *x, const tl_ins *ins) {
  uint64_t has = tl_typing_tag(x, ins->b >> 4);
  if ((tl_tag_owns(has) && (ins->modes & 3u) == TL_MODE_BORROW) ||
      (ins->modes >> 4 & 3u) == TL_MODE_BORROW ||
      !put_append(x, ins->a >> 4, ins->b >> 4))
    return TL_TYPING_LEAVES;
  return TL_TYPING_GOES_ON;
}

// x, l = pop(l) of a list that its slot owns, where the item is a number: the
// call and the instruction that takes its pair apart are one, as nothing may
// jump between them. The item stands in the result's slot until the list has
// moved out of the item's.
//
//     t3 = callb pop(t4, t5)         t3 = pop t4
//     t4, t5 = unpack t3!            t5 = lend t4     now[t4] = UNKNOWN
//                                    t4 = move t3
static tl_typing_step pop(tl_typing_pass *x, const tl_ins *ins) {
  const tl_ins *then = ins + 2;
  uint32_t a = ins->a >> 4, list = a + 1, key = a + 2;
  uint64_t tag = tl_typing_tag(x, list);
  tl_jit_type type = tl_typing_type(x, tag), item = seen(x, 0);
  if (!tl_tag_is_kind(tag, TL_KIND_LIST) || !tl_tag_owns(tag) ||
      type == TL_TYPE_UNKNOWN || tl_typing_tag(x, key) != TL_TAG_NONE ||
      !tl_jit_is_scalar(item) || seen(x, 1) != TL_TYPE_UNKNOWN ||
      x->code->vm->no_reuse || then->op != TL_BC_UNPACK || then->b != ins->a ||
      then->a != ins->a + 16 || (then->modes & 3u) == TL_MODE_BORROW ||
      tl_ins_extra(then[1]) != 2 || x->flow->leads[x->pc + 2])
    return TL_TYPING_LEAVES;
  tl_typing_set(x, TL_TYPED_POP, a, item, (int)list, TL_JIT_NONE);
  tl_typing_set(x, TL_TYPED_LEND, key, type, (int)list, TL_JIT_NONE);
  x->now[list] = TL_TYPE_UNKNOWN;
  tl_typing_set(x, tl_jit_is_float(item) ? TL_TYPED_FMOVE : TL_TYPED_MOVE, list,
                item, tl_jit_register(a, item), TL_JIT_NONE);
  x->then = x->pc + 4;
  return TL_TYPING_GOES_ON;
}

// typeof(x), which looks at the tag alone: a constant, where the tag says which
// type that is, as it does of numbers, texts, lists and records.
static tl_typing_step type_of(tl_typing_pass *x, const tl_ins *ins,
                              const tl_builtin *builtin) {
  tl_slot value = {.tag = tl_typing_tag(x, (ins->a >> 4) + 1u)}, type;
  return value.tag != 0 && builtin->at_once(x->code->vm, &value, &type)
             ? constant(x, ins->a >> 4, type)
             : TL_TYPING_LEAVES;
}

// The calls of the library that units know, as far as it has a way at once for
// them. One with more or fewer arguments is another call of that name.
static tl_typing_step call_library(tl_typing_pass *x, const tl_ins *ins) {
  const tl_builtin *builtin = x->p->constants[tl_ins_extra(ins[1])].pointer;
  if (builtin->name == NULL || builtin->at_once == NULL)
    return TL_TYPING_LEAVES;
  if (ins->b == 1 && strcmp(builtin->name, "len") == 0)
    return length(x, ins);
  if (ins->b == 2 && strcmp(builtin->name, "append") == 0)
    return append(x, ins);
  if (ins->b == 2 && strcmp(builtin->name, "pop") == 0)
    return pop(x, ins);
  if (ins->b == 1 && strcmp(builtin->name, "typeof") == 0)
    return type_of(x, ins, builtin);
  return TL_TYPING_LEAVES;
}

// --- Places -----------------------------------------------------------------

// Whether a place is one that operations reach: fields and single indices, at
// most TL_JIT_STEPS of them. [parts] is the slot of the first index; the others
// stand behind it. Indices are int64, as units compare them with lengths.
static bool is_plain(tl_typing_pass *x, const tl_path *path, uint32_t parts) {
  if (path->spreads || path->step_count == 0 || path->step_count > TL_JIT_STEPS)
    return false;
  for (int i = 0; i < path->step_count; i++) {
    const tl_step *step = &path->steps[i];
    if (step->field != NULL) {
      if (step->hint >= TL_JIT_FIELDS)
        return false;
    } else if (step->item_count != 1 || step->items[0].kind != TL_ITEM_VALUE ||
               !tl_jit_is_int(x->now[parts++])) {
      return false;
    }
  }
  return true;
}

// The tag of the container that the last step indexes: of a field a record,
// else what was seen; 0: nothing was. [which] is where learn.c has put it for
// the instruction. With one step alone it is the target, whose tag is known.
static uint64_t last_container(tl_typing_pass *x, const tl_path *path,
                               uint64_t target, int which) {
  if (path->step_count == 1)
    return target;
  if (path->steps[path->step_count - 1].field != NULL)
    return TL_TAG_RECORD | TL_OWNED;
  uint64_t tag = x->flow->seen[2 * x->pc + (uint32_t)which];
  x->is_unseen |= tag == 0;
  return tag == TL_JIT_MANY ? 0 : tag;
}

// Whether the first step fits the target, and the last one its container. Those
// between are tested when they are taken.
static bool leads(const tl_path *path, uint64_t target, uint64_t container) {
  const tl_step *last = &path->steps[path->step_count - 1];
  bool first =
      path->steps[0].field != NULL
          ? tl_tag_is_kind(target, TL_KIND_RECORD)
          : tl_tag_is_kind(target, TL_KIND_LIST) || path->step_count == 1;
  bool ends = last->field != NULL ? tl_tag_is_kind(container, TL_KIND_RECORD)
                                  : tl_tag_is_kind(container, TL_KIND_LIST) ||
                                        (tl_tag_is_row(container) &&
                                         (container & TL_DIRECT) != 0);
  return first && ends && tl_tag_owns(target) && tl_tag_owns(container);
}

// a = the place below b that is about to be updated, where that is a number. It
// is then only read: what is no number would move out, for the operation that
// follows to have it alone, and the unit leaves before that.
static tl_typing_step peek(tl_typing_pass *x, const tl_ins *ins,
                           const tl_decoded *d) {
  const tl_path *path = &x->p->unit->paths[d->extra];
  uint32_t a = ins->a >> 4, b = ins->b >> 4;
  uint64_t target = tl_typing_tag(x, b);
  tl_jit_type type = seen(x, 0);
  uint64_t container = last_container(x, path, target, 1);
  if (!is_plain(x, path, a + 1) || !tl_jit_is_scalar(type) ||
      !leads(path, target, container) || x->code->vm->no_reuse ||
      (tl_tag_is_row(container) &&
       tl_jit_of_dtype((tl_dtype)(container >> 8 & 0xff)) != type))
    return TL_TYPING_LEAVES;
  tl_typed *t = tl_typing_set(x, TL_TYPED_PEEK, a, type, (int)b, TL_JIT_NONE);
  t->imm = (int64_t)(intptr_t)path;
  t->d = (int16_t)(a + 1);
  t->dtype = (uint8_t)(container >> 8);
  return TL_TYPING_GOES_ON;
}

// The place below a = b, of what has no count: numbers, and none. A value that
// its slot keeps (TL_MODE_BORROW) would have to be counted were it heap; the
// interpreter does these.
static tl_typing_step poke(tl_typing_pass *x, const tl_ins *ins,
                           const tl_decoded *d) {
  const tl_path *path = &x->p->unit->paths[d->extra];
  uint32_t a = ins->a >> 4, b = ins->b >> 4, parts = ins->c >> 4;
  uint64_t target = tl_typing_tag(x, a), has = tl_typing_tag(x, b);
  uint64_t container = last_container(x, path, target, 0);
  tl_jit_type type = x->now[b];
  bool array = tl_tag_is_row(container);
  if ((ins->modes >> 4 & 3u) == TL_MODE_BORROW || has == 0 || is_heap(has) ||
      !is_plain(x, path, parts) || !leads(path, target, container) ||
      x->code->vm->no_reuse ||
      (array && !tl_jit_may_store(type, (int)(container >> 8 & 0xff))) ||
      (type = tl_typing_type(x, has)) == TL_TYPE_UNKNOWN)
    return TL_TYPING_LEAVES;
  tl_typed *t = tl_typing_put(x, TL_TYPED_POKE, tl_jit_register(b, type),
                              (int)a, TL_JIT_NONE);
  t->type = type;
  t->imm = (int64_t)(intptr_t)path;
  t->d = (int16_t)parts;
  t->dtype = (uint8_t)(container >> 8);
  return TL_TYPING_GOES_ON;
}

// --- Comparisons ------------------------------------------------------------

// An operand of a comparison. [tag] is 0 where it is not known, or the value
// ends here and is to be dropped. [address] is that of a constant text.
typedef struct compared {
  uint64_t tag;
  int slot;  // TL_JIT_NONE: a constant
  int64_t address;
} compared;

// Only the tag counts for a comparison with none; the slot is what is read of a
// text.
static compared in_slot(tl_typing_pass *x, uint32_t slot, unsigned mode) {
  uint64_t tag = tl_typing_tag(x, slot);
  return (compared){tl_tag_owns(tag) && mode != TL_MODE_BORROW ? 0 : tag,
                    (int)slot, 0};
}

// Whether two values are equal, which is known of two types that are, and where
// one of them is none and the other none, a scalar, a record, a list or a text;
// false: it is not known.
static bool knows_equal(const tl_typing_pass *x, const compared *a,
                        const compared *b, bool *equal) {
  if (a->tag == TL_TAG_TYPE && b->tag == TL_TAG_TYPE && a->slot >= 0 &&
      b->slot >= 0) {
    *equal = x->values[a->slot].type == x->values[b->slot].type;
    return (x->known >> a->slot & x->known >> b->slot & 1) != 0;
  }
  bool first = a->tag == TL_TAG_NONE, second = b->tag == TL_TAG_NONE;
  uint64_t other = first ? b->tag : a->tag;
  *equal = first && second;
  return (first || second) &&
         (*equal || tl_jit_is_scalar(tl_jit_type_of(other)) ||
          tl_tag_is_kind(other, TL_KIND_RECORD) ||
          tl_tag_is_kind(other, TL_KIND_STRING) ||
          tl_tag_is_kind(other, TL_KIND_LIST));
}

// Appends the comparison of two texts; [a] is the slot that gets the truth, or
// TL_JIT_NONE for a jump, whose target the caller sets. NULL: they are none,
// and nothing was appended. The order of texts is that of their bytes.
static tl_typed *put_compare(tl_typing_pass *x, tl_typed_condition condition,
                             int a, const compared *b, const compared *c) {
  if (!tl_tag_is_kind(b->tag, TL_KIND_STRING) ||
      !tl_tag_is_kind(c->tag, TL_KIND_STRING))
    return NULL;
  tl_typed *t =
      a >= 0 ? tl_typing_set(x, TL_TYPED_RSET, (uint32_t)a, TL_TYPE_BOOL,
                             b->slot, c->slot)
             : tl_typing_put(x, TL_TYPED_RIF, TL_JIT_NONE, b->slot, c->slot);
  t->condition = (uint8_t)tl_typing_total(condition);
  t->imm = c->address;
  return t;
}

// A jump on none is one that is always taken, or never: the type says whether a
// slot is none. So a walk along `next` has two versions of its loop's end, and
// the test is the one of the item's tag when it was read.
static tl_typing_step jump_on_none(tl_typing_pass *x, const tl_decoded *d,
                                   bool taken) {
  if (!taken)
    return TL_TYPING_GOES_ON;
  if (d->target <= x->pc)
    tl_typing_poll(x);
  tl_typing_jump(x, (uint32_t)d->target);
  return TL_TYPING_ENDS;
}

// A jump on how two values compare.
static tl_typing_step jump_compared(tl_typing_pass *x, const tl_ins *ins,
                                    const tl_decoded *d) {
  tl_typed_condition condition = tl_typing_condition(ins->op, false);
  bool orders = condition != TL_IF_EQ && condition != TL_IF_NE, equal;
  compared a = in_slot(x, ins->a >> 4, ins->modes >> 4 & 3u), b;
  if (tl_opcodes[ins->op].format == TL_FORMAT_AKJUMP) {
    tl_slot k = x->p->constants[ins->b >> 4];
    b = (compared){k.tag, TL_JIT_NONE, k.i};
  } else {
    b = in_slot(x, ins->b >> 4, ins->modes & 3u);
  }
  if (a.tag == 0 || b.tag == 0)
    return TL_TYPING_LEAVES;
  if (!orders && knows_equal(x, &a, &b, &equal))
    return jump_on_none(x, d, equal == (condition == TL_IF_EQ));
  condition = tl_typing_condition(ins->op, d->target <= x->pc);
  tl_typed *t = put_compare(x, condition, TL_JIT_NONE, &a, &b);
  return t == NULL ? TL_TYPING_LEAVES : tl_typing_branch(x, t, d->target);
}

// The comparison itself.
static tl_typing_step truth_of(tl_typing_pass *x, const tl_ins *ins) {
  compared b = in_slot(x, ins->b >> 4, ins->modes & 3u);
  compared c = in_slot(x, ins->c >> 4, ins->modes >> 2 & 3u);
  tl_typed_condition condition = tl_typing_condition(ins->op, false);
  bool equal;
  if (b.tag == 0 || c.tag == 0)
    return TL_TYPING_LEAVES;
  if (ins->op > TL_BC_NE || !knows_equal(x, &b, &c, &equal))
    return put_compare(x, condition, (int)(ins->a >> 4), &b, &c) != NULL
               ? TL_TYPING_GOES_ON
               : TL_TYPING_LEAVES;
  tl_typing_set_constant(x, ins->a >> 4,
                         tl_bool(equal == (ins->op == TL_BC_EQ)));
  return TL_TYPING_GOES_ON;
}

// --- All of them ------------------------------------------------------------

// What scalars and arrays have left over: step in typing.c comes first, so that
// an array of the entry has its facts in registers.
tl_typing_step tl_typing_place(tl_typing_pass *x, const tl_ins *ins,
                               const tl_decoded *d) {
  uint32_t a = ins->a >> 4, b = ins->b >> 4, c = ins->c >> 4;
  if (tl_typing_is_idle(x, ins))
    return TL_TYPING_GOES_ON;
  switch (ins->op) {
    case TL_BC_MOV:
    case TL_BC_MOVB:
      return move(x, a, b, ins->op == TL_BC_MOVB);
    case TL_BC_LOADK:
      return constant(x, a, x->p->constants[tl_ins_extra(*ins)]);
    case TL_BC_GETG:
      return variable(x, ins);
    case TL_BC_GETC:
      return captured(x, ins);
    case TL_BC_SELF:
      return self(x, ins);
    case TL_BC_DROP:
      return tl_typing_end(x, a);
    case TL_BC_GETF:
      return field(x, ins, d);
    case TL_BC_GETEL:
      return stays(ins, tl_typing_tag(x, b)) ? item(x, a, b, c)
                                             : TL_TYPING_LEAVES;
    case TL_BC_SETEL:
      return set_item(x, a, b, c);
    case TL_BC_REPLACE:
      return tl_jit_is_scalar(x->now[ins[1].a >> 4]) ? set_item(x, a, b, c)
                                                     : TL_TYPING_LEAVES;
    case TL_BC_TAKEEL:
      // What is no number moves out of its place, so that the update finds it
      // with one owner: for either of the types that were seen.
      return tl_jit_is_reference(seen(x, 0)) || tl_jit_is_reference(seen(x, 1))
                 ? TL_TYPING_LEAVES
                 : item(x, a, b, c);
    case TL_BC_TAKE:
      return peek(x, ins, d);
    case TL_BC_SETPATH:
      return poke(x, ins, d);
    case TL_BC_CALLB:
      return call_library(x, ins);
    case TL_BC_PUSH:
      return push(x, ins);
    case TL_BC_UNPACK:
      return unpack(x, ins);
    case TL_BC_MORE:
      return has_more(x, ins, d);
    case TL_BC_NEXT:
      return next_item(x, ins);
    default:
      if (ins->op >= TL_BC_EQ && ins->op <= TL_BC_GE)
        return truth_of(x, ins);
      if (ins->op >= TL_BC_JLT && ins->op <= TL_BC_JNGTK)
        return jump_compared(x, ins, d);
      return TL_TYPING_LEAVES;
  }
}
