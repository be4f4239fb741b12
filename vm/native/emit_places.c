// Machine code for references: items of lists, fields of records, places.
//
// The address of an object is in its slot's register, as an integer is. Items
// are slots, so an item is a tag and a payload at an address:
//
//     record   fields[k]   at + 24 k: key, tag, payload
//     list     items[i]    at + 16 i: tag, payload
//
// What is free for it, beside two registers for floats:
//
//     T2   the container, where its slot has no register of its own; in a
//           path the container that the next step indexes
//     T0   an index from memory; then the item's tag, or a key
//     T1   the address of a list's item, or of an array's items
//
// Payloads are moved in 8 bytes whatever the dtype: a slot has narrow integers
// extended, and nothing above a float32. Items of arrays have no slots, and
// are extended when they are read.
//
// Every test comes before the first write, so that an exit finds the object,
// and the slots, as they were before the instruction.
#include "vm/native/emit.h"

#if TL_HAS_JIT

#include "vm/array/array.h"
#include "vm/array/range.h"
#include "vm/string.h"
#include "vm/values/list.h"
#include "vm/values/record.h"

// Where an item is: [base + at] is its tag, and the payload is behind it.
// [base] is a register, whose object the place does not keep alive, and [at]
// counts bytes.
typedef struct place {
  int base;
  int32_t at;
} place;

// How far behind the base the payload is, in bytes.
static int32_t payload_of(place p) {
  return p.at + (int32_t)offsetof(tl_slot, u);
}

// --- Finding -----------------------------------------------------------------

// The field of the record in [base] at a position; leaves where another key is
// there, or the record is shorter. T0 is used. A name is compared
// by its address, as the interpreter's hint is: an equal one that was made
// elsewhere, as when a file was parsed, leaves.
static place field(emitter *e, const tl_typed *t, int base, int64_t key,
                   int position) {
  int32_t at = (int32_t)offsetof(tl_record, fields) +
               position * (int32_t)sizeof(tl_field);
  compare_memory(e, base, offsetof(tl_record, length), position);
  tl_jit_leave_if(e, TL_CC_BE, t);
  set_constant(e, T0, key);
  compare_word(e, T0, base, at + (int32_t)offsetof(tl_field, key));
  tl_jit_leave_if(e, TL_CC_NE, t);
  return (place){base, at + (int32_t)offsetof(tl_field, value)};
}

// The item of the list in [base]; leaves where there is none. An index that is
// not below the length, which is an unsigned comparison, may be one from the
// end: then it is below the length once that is added, and no other index is.
// T1 has the address behind it, and may have been neither base nor index.
static place list_item(emitter *e, const tl_typed *t, int base, int index) {
  move_int(e, T1, index);
  compare_word(e, T1, base, offsetof(tl_list, length));
  uint32_t below = skip(e, TL_CC_B);
  add_word(e, T1, base, offsetof(tl_list, length));
  compare_word(e, T1, base, offsetof(tl_list, length));
  tl_jit_leave_if(e, TL_CC_AE, t);
  here(e, below);
  shift_left(e, T1, 4);
  add_int(e, T1, base);
  return (place){T1, offsetof(tl_list, items)};
}

// T1 = the address of an item of the array in [base], by the slots of [rank]
// indices; leaves where one of them is not below the length of its axis. Where
// the items lie in rows T1 is the row's address, and the last index, which is
// returned, is an operand of the move; else -1 is. T0 is used.
//
//     dims   length 0 … length rank - 1, stride 0 … stride rank - 1, in bytes
static int array_item(emitter *e, const tl_typed *t, int base, const int *at,
                      int rank, bool in_rows) {
  int32_t dims = (int32_t)offsetof(tl_array, dims), size = sizeof(int64_t);
  int last = -1;
  for (int i = 0; i < rank; i++) {
    int index = tl_jit_get(e, at[i], T0);
    compare_word(e, index, base, dims + size * i);
    tl_jit_leave_if(e, TL_CC_AE, t);
    if (in_rows && i + 1 == rank) {
      last = index;
      break;
    }
    int to = i == 0 ? T1 : T0;
    move_int(e, to, index);
    multiply_word(e, to, base, dims + size * (rank + i));
    if (i > 0)
      add_int(e, T1, T0);
  }
  if (in_rows && rank == 1)
    read_word(e, T1, base, offsetof(tl_array, data));
  else
    add_word(e, T1, base, offsetof(tl_array, data));
  return last;
}

// The same of what an ITEM or a SETITEM says.
static int item_of(emitter *e, const tl_typed *t, int base) {
  const int at[] = {t->c, t->d, t->e};
  uint64_t tag = tl_jit_tag_of(e->unit, (uint32_t)t->b, t->from[1]);
  return array_item(e, t, base, at,
                    t->d < 0   ? 1
                    : t->e < 0 ? 2
                               : 3,
                    (tag & TL_DENSE) != 0);
}

// Leaves where the object in [base] has a second owner, or is a container that
// borrows items: storing into it would have to make these owned first. The same
// as tl_is_unique of a slot that owns it; arrays never have the flag.
static void check_alone(emitter *e, const tl_typed *t, int base) {
  compare_half(e, base, offsetof(tl_object, count), 1);
  tl_jit_leave_if(e, TL_CC_NE, t);
  test_byte(e, base, offsetof(tl_object, flags), TL_BORROWED);
  tl_jit_leave_if(e, TL_CC_NE, t);
}

// --- Reading -----------------------------------------------------------------

// Of an item whose tag is in T0: the payload to the result's register, if it
// has the type; of the other type to that one's, and on to where the operation
// says. The position in a list that a loop walks moves on there.
static void load_typed(emitter *e, const tl_typed *t, place p) {
  uint32_t slot = (uint32_t)t->a % TL_JIT_SLOTS;
  uint64_t tag = tl_jit_tag_of(e->unit, slot, t->type);
  compare_constant(e, T0, (int64_t)tag);
  if (t->other == TL_TYPE_UNKNOWN) {
    tl_jit_leave_if(e, TL_CC_NE, t);
  } else {
    uint32_t same = skip(e, TL_CC_E);
    compare_constant(e, T0, (int64_t)tl_jit_tag_of(e->unit, slot, t->other));
    tl_jit_leave_if(e, TL_CC_NE, t);
    tl_jit_put_word(e, tl_jit_register(slot, t->other), p.base, payload_of(p));
    if (t->op == TL_TYPED_ITEM && t->imm != 0) {
      int position = tl_jit_get(e, t->c, T0);
      add_constant(e, position, 1);
      tl_jit_put(e, t->c, position);
    }
    tl_jit_go_to(e, t->to);
    here(e, same);
  }
  tl_jit_put_word(e, t->a, p.base, payload_of(p));
}

// An item by its type. Whether the container owns the item (bit 16) makes no
// difference: it is borrowed. The whole tag is compared, so a weak number is
// another type than one of its dtype, and an array of other rank another than
// the one that was seen.
static void read_place(emitter *e, const tl_typed *t, place p) {
  read_word(e, T0, p.base, p.at);
  clear_owned(e, T0);
  load_typed(e, t, p);
}

void tl_gen_field(emitter *e, const tl_typed *t) {
  read_place(e, t, field(e, t, tl_jit_get(e, t->b, T2), t->imm, t->d));
}

// What the slot has in memory, whose own tag counts.
void tl_gen_fetch(emitter *e, const tl_typed *t) {
  int32_t at = t->a % TL_JIT_SLOTS * 16;
  read_word(e, T0, SLOTS, at);
  load_typed(e, t, (place){SLOTS, at});
}

void tl_jit_get_reference(emitter *e, const tl_typed *t, int32_t at) {
  read_place(e, t, (place){T2, at});
}

// A letter of a text, one of those that all VMs share; leaves where characters
// are not single bytes. The object of byte c is the table's entry c, as such a
// text is ASCII: tl_letters + c * sizeof(tl_letter).
static void read_letter(emitter *e, const tl_typed *t, int base, int index) {
  test_byte(e, base, offsetof(tl_object, flags), TL_BYTEWISE);
  tl_jit_leave_if(e, TL_CC_E, t);
  compare_word(e, index, base, offsetof(tl_string, length));
  tl_jit_leave_if(e, TL_CC_AE, t);
  take_address(e, T1, base, offsetof(tl_string, text));
  tl_jit_load_item(e, TL_UINT8, T0, T1, index, 0);
  multiply_constant(e, T0, (int32_t)sizeof(tl_letter));
  set_constant(e, T1, (int64_t)(intptr_t)tl_letters);
  add_int(e, T0, T1);
  tl_jit_put_from(e, t->a, T0);
}

// b[c], by what the container is. An index below 0 leaves but for lists, as it
// is above any length when it is compared without a sign.
void tl_gen_item(emitter *e, const tl_typed *t) {
  int base = tl_jit_get(e, t->b, T2);
  if (t->dtype == TL_KIND_LIST)
    read_place(e, t, list_item(e, t, base, tl_jit_get(e, t->c, T0)));
  else if (t->dtype == TL_KIND_STRING)
    read_letter(e, t, base, tl_jit_get(e, t->c, T0));
  else
    tl_jit_read_item(e, t, T1, item_of(e, t, base), 0);
}

// --- Storing -----------------------------------------------------------------

// The value with its tag, to the place. Tags of items that units write have no
// bit above 30: x86-64 copies bit 31 to those above it.
void tl_jit_put_item(emitter *e, const tl_typed *t, int base, int32_t at) {
  uint64_t tag = tl_jit_tag_of(e->unit, (uint32_t)t->a % TL_JIT_SLOTS, t->type);
  TL_CHECK(tag >> 31 == 0);
  write_tag(e, tag, base, at);
  int a = tl_jit_get(e, t->a, is_float(t->a) ? 0 : T0);
  write_payload(e, is_float(t->a), a, base, payload_of((place){base, at}));
}

// The value with its tag takes the place of what has no count; leaves where
// that is a reference, whether it is owned or not. Nothing is dropped, so no
// other object can end here.
static void write_place(emitter *e, const tl_typed *t, place p) {
  test_byte(e, p.base, p.at, TL_CLASS_HEAP);
  tl_jit_leave_if(e, TL_CC_NE, t);
  tl_jit_put_item(e, t, p.base, p.at);
}

// The last item, and then one less in the list: what was read is a number, so
// nothing of it is left behind that anybody owns.
void tl_gen_pop(emitter *e, const tl_typed *t) {
  int base = tl_jit_get(e, t->b, T2);
  check_alone(e, t, base);
  compare_memory(e, base, offsetof(tl_list, length), 0);
  tl_jit_leave_if(e, TL_CC_E, t);
  read_word(e, T1, base, offsetof(tl_list, length));
  shift_left(e, T1, 4);
  add_int(e, T1, base);
  read_place(e, t,
             (place){T1, (int32_t)offsetof(tl_list, items) -
                             (int32_t)sizeof(tl_slot)});
  add_to_word(e, base, offsetof(tl_list, length), -1);
}

// Behind the last item, where there is room. A text that a list may refer to
// without a count is immortal, and what gives its own count away borrows
// nothing. The length is raised in memory while T1 has the old one, which
// becomes the new item's address.
void tl_gen_append(emitter *e, const tl_typed *t) {
  int base = tl_jit_get(e, t->b, T2);
  check_alone(e, t, base);
  uint64_t tag = tl_jit_tag_of(e->unit, 0, t->type);
  if (tl_jit_is_reference(t->type) && (tag & TL_CLASS_HEAP) != 0) {
    bool owned = (tag & TL_OWNED) != 0;
    test_byte(e, tl_jit_get(e, t->a, T0), offsetof(tl_object, flags),
              owned ? TL_BORROWED : TL_IMMORTAL);
    tl_jit_leave_if(e, owned ? TL_CC_NE : TL_CC_E, t);
  }
  read_word(e, T1, base, offsetof(tl_list, length));
  compare_word(e, T1, base, offsetof(tl_list, capacity));
  tl_jit_leave_if(e, TL_CC_AE, t);
  add_to_word(e, base, offsetof(tl_list, length), 1);
  shift_left(e, T1, 4);
  add_int(e, T1, base);
  tl_jit_put_item(e, t, T1, offsetof(tl_list, items));
}

// Into an array, at T1 and the index, which goes into T1 where it is in T0. A
// number is converted in an array of floats; an integer has to be one of the
// dtype. T2 is free: the container's address is not needed any more.
static void write_number(emitter *e, const tl_typed *t, int index) {
  tl_dtype dtype = (tl_dtype)t->dtype;
  if (index == T0) {
    take_item(e, T1, T1, T0, (int)tl_itemsize(dtype));
    index = -1;
  }
  int a = tl_jit_get_stored(e, t, T0);
  tl_jit_store_item(e, dtype, a, T1, index, 0);
}

// b[c] = a. The container is tested before the index: where it has a second
// owner the interpreter copies it, whatever the index is.
void tl_gen_setitem(emitter *e, const tl_typed *t) {
  int base = tl_jit_get(e, t->b, T2);
  check_alone(e, t, base);
  if (t->dtype == TL_KIND_LIST)
    write_place(e, t, list_item(e, t, base, tl_jit_get(e, t->c, T0)));
  else
    write_number(e, t, item_of(e, t, base));
}

// --- Places ------------------------------------------------------------------

// The tag that a container on the way has to have, so that the next step may
// index it: it is owned by what it is in. What the last step indexes is what
// the operation says.
static uint32_t wanted_tag(const tl_typed *t, const tl_step *step, bool last) {
  uint64_t tag = step->field != NULL ? TL_TAG_RECORD : TL_TAG_LIST;
  if (last && t->dtype < TL_DTYPE_COUNT)
    tag = TL_TAG(TL_CLASS_ARRAY, t->dtype) | UINT64_C(1) << 24 | TL_DENSE |
          TL_DIRECT;
  return (uint32_t)(tag | TL_OWNED);
}

// Goes down to the container of the last step, from that in T2 on. Each has
// one owner: were one shared, storing below it would be seen by the others.
// Returns the last step; *part is the slot of its index.
//
//     l[k].w[i]     T2 = l                   alone?
//                   T1 = item k of T2       a record, owned by the list?
//                   T2 = its payload         alone?
//                   field w of T2            an array, owned by the record?
//                   T2 = its payload         alone?  its item i is the place
static const tl_step *go_down(emitter *e, const tl_typed *t, int *part) {
  const tl_path *path = (const tl_path *)(intptr_t)t->imm;
  const tl_step *step = path->steps;
  *part = t->d;
  move_int(e, T2, tl_jit_get(e, t->b, T2));
  for (int i = 0; i + 1 < path->step_count; i++, step++) {
    check_alone(e, t, T2);
    place p = step->field != NULL
                  ? field(e, t, T2, (int64_t)tl_key_of_string(step->field).word,
                          step->hint)
                  : list_item(e, t, T2, tl_jit_get(e, (*part)++, T0));
    compare_memory(e, p.base, p.at,
                   wanted_tag(t, step + 1, i + 2 == path->step_count));
    tl_jit_leave_if(e, TL_CC_NE, t);
    read_word(e, T2, p.base, payload_of(p));
  }
  check_alone(e, t, T2);
  return step;
}

// Reads or writes the place that a path leads to. Reading asks for single
// owners, too: it is the first half of an update, and what the interpreter
// would have to copy for it is left to the interpreter.
void tl_gen_place(emitter *e, const tl_typed *t) {
  bool writes = t->op == TL_TYPED_POKE;
  int part;
  const tl_step *step = go_down(e, t, &part);
  place p;
  if (step->field != NULL) {
    p = field(e, t, T2, (int64_t)tl_key_of_string(step->field).word,
              step->hint);
  } else if (t->dtype == TL_KIND_LIST) {
    p = list_item(e, t, T2, tl_jit_get(e, part, T0));
  } else {
    int index = array_item(e, t, T2, &part, 1, true);
    writes ? write_number(e, t, index) : tl_jit_read_item(e, t, T1, index, 0);
    return;
  }
  writes ? write_place(e, t, p) : read_place(e, t, p);
}

// --- Others ------------------------------------------------------------------

// Where a container has its length: of a text its bytes, of an array its first
// axis.
static int32_t length_of(int kind) {
  return kind == TL_KIND_STRING   ? offsetof(tl_string, length)
         : kind == TL_KIND_LIST   ? offsetof(tl_list, length)
         : kind == TL_KIND_RECORD ? offsetof(tl_record, length)
         : kind == TL_KIND_RANGE  ? offsetof(tl_range, length)
                                  : offsetof(tl_array, dims);
}

// len(b); of a text its bytes, where each of them is a character.
void tl_gen_length(emitter *e, const tl_typed *t) {
  int base = tl_jit_get(e, t->b, T2);
  if (t->dtype == TL_KIND_STRING) {
    test_byte(e, base, offsetof(tl_object, flags), TL_BYTEWISE);
    tl_jit_leave_if(e, TL_CC_E, t);
  }
  tl_jit_put_word(e, t->a, base, length_of(t->dtype));
}

// Into the body while the position is below the length, which is read
// again each time, as the interpreter does. Positions begin at 0 and count up,
// so the comparison may have a sign.
void tl_gen_more(emitter *e, const tl_typed *t) {
  int position = tl_jit_get(e, t->b, T0), base = tl_jit_get(e, t->c, T2);
  compare_word(e, position, base, length_of(t->dtype));
  tl_jit_jump_to(e, TL_CC_L, t->to);
}

// Compares two texts by their bytes, so that the flags say whether they are
// equal, or how they stand in order. Most that differ do so in their length or
// first byte.
static void compare_texts(emitter *e, const tl_typed *t) {
  const int32_t text = offsetof(tl_string, text);
  const int32_t bytes = offsetof(tl_string, length);
  move_int(e, T0, tl_jit_get(e, t->b, T0));
  if (t->c < 0)
    set_constant(e, T2, t->imm);
  else
    move_int(e, T2, tl_jit_get(e, t->c, T2));
  compare_int(e, T0, T2);
  uint32_t same = skip(e, TL_CC_E);
  bool order = t->condition != TL_IF_EQ && t->condition != TL_IF_NE;
  uint32_t longer = 0;
  if (!order) {
    read_word(e, T1, T0, bytes);
    compare_word(e, T1, T2, bytes);
    longer = skip(e, TL_CC_NE);
  }
  compare_bytes(e, bytes, text, order);
  if (!order)
    here(e, longer);
  here(e, same);
}

void tl_gen_on_texts(emitter *e, const tl_typed *t) {
  static const uint8_t codes[] = {TL_CC_B,  TL_CC_BE, TL_CC_A,
                                  TL_CC_AE, TL_CC_E,  TL_CC_NE};
  compare_texts(e, t);
  tl_jit_decide(e, t, codes[t->condition]);
}

// Several results: to the callee's first slots, which may have been the places
// of some of them. So all are on the stack before the first is written.
//
// With those that vary go their tags.
//
//     push last … push first    pop first ─▶ slot 0 … pop last ─▶ slot n - 1
void tl_jit_give_row(emitter *e, const tl_typed *t) {
  int count = (int)t->imm, first = e->unit->is_single ? -1 : 0;
  for (int i = count; i-- > 0;) {
    int s = t->d + i;
    uint64_t tag = tl_jit_tag_of(e->unit, (uint32_t)s, t->from[i]);
    int r = tl_jit_register((uint32_t)s, t->from[i]);
    if (tag != 0 && e->reg[r] >= 0)
      tl_jit_store(e, e->reg[r], r);
    push_word(e, SLOTS, home(r));
    if (e->unit->result_tags[i] != 0)
      continue;
    if (tag != 0)
      write_tag(e, tag, SLOTS, s * 16);
    push_word(e, SLOTS, s * 16);
  }
  for (int i = 0; i < count; i++) {
    if (e->unit->result_tags[i] == 0)
      pop_word(e, SLOTS, (first + i) * 16);
    pop_word(e, SLOTS, (first + i) * 16 + 8);
  }
}

#endif
