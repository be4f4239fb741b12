// Machine code for references: items of lists, fields of records, places.
//
// The address of an object is in its slot's register, as an integer is. Items
// are slots, so an item is a tag and a payload at an address:
//
//     record   fields[k]   at + 24 k: key, tag, payload
//     list     items[i]    at + 16 i: tag, payload
//
// What is free for it, beside xmm0 and xmm1:
//
//     rdx   the container, where its slot has no register of its own; in a
//           path the container that the next step indexes
//     rax   an index from memory; then the item's tag, or a key
//     rcx   the address of a list's item, or of an array's items
//
// Payloads are moved in 8 bytes whatever the dtype: a slot has narrow integers
// extended, and nothing above a float32. Items of arrays have no slots, and
// here they are of 8 bytes or a bool's one.
//
// Every test comes before the first write, so that an exit finds the object,
// and the slots, as they were before the instruction.
#include "vm/native/emit.h"

#if TL_JIT_X64

#include "vm/array/array.h"
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

// Compares 8 or 4 bytes in memory with a constant of 32 bits.
static void compare_memory(emitter *e, int width, int base, int32_t at,
                           uint32_t with) {
  tl_x64_rm(&e->as, width, 0x81, 7, base, at);
  tl_as_word(&e->as, with);
}

// test byte [base + at], bits
static void test_byte(emitter *e, int base, int32_t at, int bits) {
  tl_x64_rm(&e->as, 0, 0xf6, 0, base, at);
  tl_as_byte(&e->as, bits);
}

// --- Finding
// ------------------------------------------------------------------

// The field of the record in [base] at a position; leaves where another key is
// there, or the record is shorter. rax is used. A name is compared
// by its address, as the interpreter's hint is: an equal one that was made
// elsewhere, as when a file was parsed, leaves.
static place field(emitter *e, const tl_typed *t, int base, int64_t key,
                   int position) {
  int32_t at = (int32_t)offsetof(tl_record, fields) +
               position * (int32_t)sizeof(tl_field);
  compare_memory(e, TL_X64_W, base, offsetof(tl_record, length),
                 (uint32_t)position);
  leave_if(e, TL_CC_BE, t);
  tl_x64_constant(&e->as, TL_AX, key);
  tl_x64_rm(&e->as, TL_X64_W, 0x3b, TL_AX, base,
            at + (int32_t)offsetof(tl_field, key));
  leave_if(e, TL_CC_NE, t);
  return (place){base, at + (int32_t)offsetof(tl_field, value)};
}

// The item of the list in [base]; leaves where there is none. An index that is
// not below the length, which is an unsigned comparison, may be one from the
// end: then it is below the length once that is added, and no other index is.
// rcx has the address behind it, and may have been neither base nor index.
static place list_item(emitter *e, const tl_typed *t, int base, int index) {
  tl_x64_move(&e->as, TL_CX, index);
  tl_x64_rm(&e->as, TL_X64_W, 0x3b, TL_CX, base, offsetof(tl_list, length));
  uint32_t below = tl_x64_skip(&e->as, TL_CC_B);
  tl_x64_rm(&e->as, TL_X64_W, 0x03, TL_CX, base, offsetof(tl_list, length));
  tl_x64_rm(&e->as, TL_X64_W, 0x3b, TL_CX, base, offsetof(tl_list, length));
  leave_if(e, TL_CC_AE, t);
  tl_x64_here(&e->as, below);
  tl_x64_rr(&e->as, TL_X64_W, 0xc1, 4, TL_CX);
  tl_as_byte(&e->as, 4);
  tl_x64_rr(&e->as, TL_X64_W, 0x03, TL_CX, base);
  return (place){TL_CX, offsetof(tl_list, items)};
}

// rcx = the items of the array of one axis in [base]; leaves where the index is
// not below the length. Index and items are then the operands of one move: the
// tag has said that the items lie without gaps.
static void array_items(emitter *e, const tl_typed *t, int base, int index) {
  tl_x64_rm(&e->as, TL_X64_W, 0x3b, index, base, offsetof(tl_array, dims));
  leave_if(e, TL_CC_AE, t);
  tl_x64_rm(&e->as, TL_X64_W, 0x8b, TL_CX, base, offsetof(tl_array, data));
}

// Leaves where the object in [base] has a second owner, or is a container that
// borrows items: storing into it would have to make these owned first. The same
// as tl_is_unique of a slot that owns it; arrays never have the flag.
static void check_alone(emitter *e, const tl_typed *t, int base) {
  compare_memory(e, 0, base, offsetof(tl_object, count), 1);
  leave_if(e, TL_CC_NE, t);
  test_byte(e, base, offsetof(tl_object, flags), TL_BORROWED);
  leave_if(e, TL_CC_NE, t);
}

// --- Reading
// ------------------------------------------------------------------

// Loads the payload of an item into the slot's register of that type.
static void load_payload(emitter *e, place p, int r) {
  bool floats = is_float(r);
  int a = into(e, r, floats ? 0 : TL_AX);
  tl_x64_rm(&e->as, floats ? TL_X64_SD : TL_X64_W, floats ? 0x10 : 0x8b, a,
            p.base, payload_of(p));
  put(e, r, a);
}

// The item to the result's register, if it has the type; of the other type to
// that one's, and on to where the operation says. Whether the container owns
// the item (bit 16) makes no difference: it is borrowed. The whole tag is
// compared, so a weak number is another type than one of its dtype, and an
// array of other rank another than the one that was seen.
static void read_place(emitter *e, const tl_typed *t, place p) {
  tl_assembler *as = &e->as;
  uint32_t slot = (uint32_t)t->a % TL_JIT_SLOTS;
  uint64_t tag = tl_jit_tag_of(e->unit, slot, t->type);
  tl_x64_rm(as, TL_X64_W, 0x8b, TL_AX, p.base, p.at);
  tl_x64_rr(as, TL_X64_W | TL_X64_0F, 0xba, 6, TL_AX);  // btr rax, 16
  tl_as_byte(as, 16);
  tl_x64_ri(as, 7, TL_AX, (int32_t)tag);
  if (t->other == TL_TYPE_UNKNOWN) {
    leave_if(e, TL_CC_NE, t);
  } else {
    uint32_t same = tl_x64_skip(as, TL_CC_E);
    tl_x64_ri(as, 7, TL_AX, (int32_t)tl_jit_tag_of(e->unit, slot, t->other));
    leave_if(e, TL_CC_NE, t);
    load_payload(e, p, tl_jit_register(slot, t->other));
    jump(e, t->to < 0 ? FIX_EXIT : FIX_LABEL, t->to < 0 ? -1 - t->to : t->to);
    tl_x64_here(as, same);
  }
  load_payload(e, p, t->a);
}

// A letter of a text, one of those that all VMs share; leaves where characters
// are not single bytes. The object of byte c is the table's entry c, as such a
// text is ASCII: tl_letters + c * sizeof(tl_letter).
static void read_letter(emitter *e, const tl_typed *t, int base, int index) {
  tl_assembler *as = &e->as;
  test_byte(e, base, offsetof(tl_object, flags), TL_BYTEWISE);
  leave_if(e, TL_CC_E, t);
  tl_x64_rm(as, TL_X64_W, 0x3b, index, base, offsetof(tl_string, length));
  leave_if(e, TL_CC_AE, t);
  tl_x64_rm(as, TL_X64_W, 0x8d, TL_CX, base, offsetof(tl_string, text));
  tl_x64_rx(as, TL_X64_0F, 0xb6, TL_AX, TL_CX, index, 1);
  tl_x64_rr(as, TL_X64_W, 0x69, TL_AX, TL_AX);
  tl_as_word(as, (uint32_t)sizeof(tl_letter));
  tl_x64_constant(as, TL_CX, (int64_t)(intptr_t)tl_letters);
  tl_x64_rr(as, TL_X64_W, 0x03, TL_AX, TL_CX);
  int a = into(e, t->a, TL_AX);
  tl_x64_move(as, a, TL_AX);
  put(e, t->a, a);
}

// An item of an array, whose items are in rcx: of 8 bytes, or a bool's one.
static void read_number(emitter *e, const tl_typed *t, int index) {
  bool floats = is_float(t->a);
  int a = into(e, t->a, floats ? 0 : TL_AX);
  if (t->dtype == TL_BOOL)
    tl_x64_rx(&e->as, TL_X64_0F, 0xb6, a, TL_CX, index, 1);
  else
    tl_x64_rx(&e->as, floats ? TL_X64_SD : TL_X64_W, floats ? 0x10 : 0x8b, a,
              TL_CX, index, 8);
  put(e, t->a, a);
}

// b[c], by what the container is. An index below 0 leaves but for lists, as it
// is above any length when it is compared without a sign.
static void read_item(emitter *e, const tl_typed *t) {
  int base = get(e, t->b, TL_DX), index = get(e, t->c, TL_AX);
  if (t->dtype == TL_KIND_LIST) {
    read_place(e, t, list_item(e, t, base, index));
  } else if (t->dtype == TL_KIND_STRING) {
    read_letter(e, t, base, index);
  } else {
    array_items(e, t, base, index);
    read_number(e, t, index);
  }
}

// --- Storing
// ------------------------------------------------------------------

// The value with its tag, to the place. Tags of items that units write have no
// bit above 31.
static void put_item(emitter *e, const tl_typed *t, place p) {
  uint64_t tag = tl_jit_tag_of(e->unit, (uint32_t)t->a % TL_JIT_SLOTS, t->type);
  bool floats = is_float(t->a);
  tl_x64_rm(&e->as, TL_X64_W, 0xc7, 0, p.base, p.at);
  tl_as_word(&e->as, (uint32_t)tag);
  tl_x64_rm(&e->as, floats ? TL_X64_SD : TL_X64_W, floats ? 0x11 : 0x89,
            get(e, t->a, floats ? 0 : TL_AX), p.base, payload_of(p));
}

// The value with its tag takes the place of what has no count; leaves where
// that is a reference, whether it is owned or not. Nothing is dropped, so no
// other object can end here.
static void write_place(emitter *e, const tl_typed *t, place p) {
  test_byte(e, p.base, p.at, TL_CLASS_HEAP);
  leave_if(e, TL_CC_NE, t);
  put_item(e, t, p);
}

// The last item, and then one less in the list: what was read is a number, so
// nothing of it is left behind that anybody owns.
static void pop_item(emitter *e, const tl_typed *t) {
  tl_assembler *as = &e->as;
  int base = get(e, t->b, TL_DX);
  check_alone(e, t, base);
  compare_memory(e, TL_X64_W, base, offsetof(tl_list, length), 0);
  leave_if(e, TL_CC_E, t);
  tl_x64_rm(as, TL_X64_W, 0x8b, TL_CX, base, offsetof(tl_list, length));
  tl_x64_rr(as, TL_X64_W, 0xc1, 4, TL_CX);
  tl_as_byte(as, 4);
  tl_x64_rr(as, TL_X64_W, 0x03, TL_CX, base);
  read_place(e, t,
             (place){TL_CX, (int32_t)offsetof(tl_list, items) -
                                (int32_t)sizeof(tl_slot)});
  tl_x64_rm(as, TL_X64_W, 0xff, 1, base, offsetof(tl_list, length));
}

// Behind the last item, where there is room. A text that a list may refer to
// without a count is immortal. The length is raised in memory while rcx has the
// old one, which becomes the new item's address.
static void append_item(emitter *e, const tl_typed *t) {
  tl_assembler *as = &e->as;
  int base = get(e, t->b, TL_DX);
  check_alone(e, t, base);
  if (tl_jit_is_reference(t->type) &&
      (tl_jit_tag_of(e->unit, 0, t->type) & TL_CLASS_HEAP) != 0) {
    test_byte(e, get(e, t->a, TL_AX), offsetof(tl_object, flags), TL_IMMORTAL);
    leave_if(e, TL_CC_E, t);
  }
  tl_x64_rm(as, TL_X64_W, 0x8b, TL_CX, base, offsetof(tl_list, length));
  tl_x64_rm(as, TL_X64_W, 0x3b, TL_CX, base, offsetof(tl_list, capacity));
  leave_if(e, TL_CC_AE, t);
  tl_x64_rm(as, TL_X64_W, 0xff, 0, base, offsetof(tl_list, length));
  tl_x64_rr(as, TL_X64_W, 0xc1, 4, TL_CX);
  tl_as_byte(as, 4);
  tl_x64_rr(as, TL_X64_W, 0x03, TL_CX, base);
  put_item(e, t, (place){TL_CX, offsetof(tl_list, items)});
}

// Into an array, whose items are in rcx. An integer is converted in an array of
// floats. rdx is free: the container's address is not needed any more, and rax
// may be the index.
static void write_number(emitter *e, const tl_typed *t, int index) {
  tl_assembler *as = &e->as;
  if (t->dtype == TL_FLOAT64) {
    int a = 0;
    if (is_float(t->a)) {
      a = get(e, t->a, 0);
    } else {
      tl_x64_rr(as, TL_X64_PD, 0x57, 0, 0);
      tl_x64_rr(as, TL_X64_SD | TL_X64_W, 0x2a, 0, get(e, t->a, TL_DX));
    }
    tl_x64_rx(as, TL_X64_SD, 0x11, a, TL_CX, index, 8);
  } else if (t->dtype == TL_BOOL) {
    tl_x64_rx(as, TL_X64_BYTE, 0x88, get(e, t->a, TL_DX), TL_CX, index, 1);
  } else {
    tl_x64_rx(as, TL_X64_W, 0x89, get(e, t->a, TL_DX), TL_CX, index, 8);
  }
}

// b[c] = a. The container is tested before the index: where it has a second
// owner the interpreter copies it, whatever the index is.
static void write_item(emitter *e, const tl_typed *t) {
  int base = get(e, t->b, TL_DX), index = get(e, t->c, TL_AX);
  check_alone(e, t, base);
  if (t->dtype == TL_KIND_LIST) {
    write_place(e, t, list_item(e, t, base, index));
  } else {
    array_items(e, t, base, index);
    write_number(e, t, index);
  }
}

// --- Places
// -------------------------------------------------------------------

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

// Goes down to the container of the last step, from that in rdx on. Each has
// one owner: were one shared, storing below it would be seen by the others.
// Returns the last step; *part is the slot of its index.
//
//     l[k].w[i]     rdx = l                   alone?
//                   rcx = item k of rdx       a record, owned by the list?
//                   rdx = its payload         alone?
//                   field w of rdx            an array, owned by the record?
//                   rdx = its payload         alone?  its item i is the place
static const tl_step *go_down(emitter *e, const tl_typed *t, int *part) {
  const tl_path *path = (const tl_path *)(intptr_t)t->imm;
  const tl_step *step = path->steps;
  *part = t->d;
  tl_x64_move(&e->as, TL_DX, get(e, t->b, TL_DX));
  for (int i = 0; i + 1 < path->step_count; i++, step++) {
    check_alone(e, t, TL_DX);
    place p =
        step->field != NULL
            ? field(e, t, TL_DX, (int64_t)tl_key_of_string(step->field).word,
                    step->hint)
            : list_item(e, t, TL_DX, get(e, (*part)++, TL_AX));
    compare_memory(e, TL_X64_W, p.base, p.at,
                   wanted_tag(t, step + 1, i + 2 == path->step_count));
    leave_if(e, TL_CC_NE, t);
    tl_x64_rm(&e->as, TL_X64_W, 0x8b, TL_DX, p.base, payload_of(p));
  }
  check_alone(e, t, TL_DX);
  return step;
}

// Reads or writes the place that a path leads to. Reading asks for single
// owners, too: it is the first half of an update, and what the interpreter
// would have to copy for it is left to the interpreter.
static void at_place(emitter *e, const tl_typed *t, bool writes) {
  int part;
  const tl_step *step = go_down(e, t, &part);
  place p;
  if (step->field != NULL) {
    p = field(e, t, TL_DX, (int64_t)tl_key_of_string(step->field).word,
              step->hint);
  } else if (t->dtype == TL_KIND_LIST) {
    p = list_item(e, t, TL_DX, get(e, part, TL_AX));
  } else {
    int index = get(e, part, TL_AX);
    array_items(e, t, TL_DX, index);
    writes ? write_number(e, t, index) : read_number(e, t, index);
    return;
  }
  writes ? write_place(e, t, p) : read_place(e, t, p);
}

// --- Others
// -------------------------------------------------------------------

// len(b): of a text its bytes, where each of them is a character; of an array
// its first axis.
static void put_length(emitter *e, const tl_typed *t) {
  int base = get(e, t->b, TL_DX);
  if (t->dtype == TL_KIND_STRING) {
    test_byte(e, base, offsetof(tl_object, flags), TL_BYTEWISE);
    leave_if(e, TL_CC_E, t);
  }
  int32_t at = t->dtype == TL_KIND_STRING   ? offsetof(tl_string, length)
               : t->dtype == TL_KIND_LIST   ? offsetof(tl_list, length)
               : t->dtype == TL_KIND_RECORD ? offsetof(tl_record, length)
                                            : offsetof(tl_array, dims);
  int a = into(e, t->a, TL_AX);
  tl_x64_rm(&e->as, TL_X64_W, 0x8b, a, base, at);
  put(e, t->a, a);
}

// Into the body while the position is below the list's length, which is read
// again each time, as the interpreter does. Positions begin at 0 and count up,
// so the comparison may have a sign.
static void more(emitter *e, const tl_typed *t) {
  int position = get(e, t->b, TL_AX), base = get(e, t->c, TL_DX);
  tl_x64_rm(&e->as, TL_X64_W, 0x3b, position, base, offsetof(tl_list, length));
  jump_to(e, TL_CC_L, t->to);
}

// Compares two texts by their bytes, so that the zero flag says whether they
// are equal. Most that differ do so in their length or first byte; others go
// byte by byte (repe cmpsb takes rsi, rdi and rcx), for which the registers are
// on the stack meanwhile. Of two empty ones the flag is that of their NUL, as
// nothing is compared then. mov, lea and pop leave the flags.
static void compare_texts(emitter *e, const tl_typed *t) {
  tl_assembler *as = &e->as;
  const int32_t text = offsetof(tl_string, text);
  const int32_t bytes = offsetof(tl_string, length);
  tl_x64_move(as, TL_AX, get(e, t->b, TL_AX));
  if (t->c < 0)
    tl_x64_constant(as, TL_DX, t->imm);
  else
    tl_x64_move(as, TL_DX, get(e, t->c, TL_DX));
  tl_x64_rr(as, TL_X64_W, 0x3b, TL_AX, TL_DX);
  uint32_t same = tl_x64_skip(as, TL_CC_E);
  tl_x64_rm(as, TL_X64_W, 0x8b, TL_CX, TL_AX, bytes);
  tl_x64_rm(as, TL_X64_W, 0x3b, TL_CX, TL_DX, bytes);
  uint32_t longer = tl_x64_skip(as, TL_CC_NE);
  tl_x64_rm(as, TL_X64_0F, 0xb6, TL_CX, TL_AX, text);
  tl_x64_rm(as, TL_X64_BYTE, 0x3a, TL_CX, TL_DX, text);
  uint32_t differs = tl_x64_skip(as, TL_CC_NE);
  tl_as_byte(as, 0x50 | TL_SI);
  tl_as_byte(as, 0x50 | TL_DI);
  tl_x64_rm(as, TL_X64_W, 0x8b, TL_CX, TL_AX, bytes);
  tl_x64_rm(as, TL_X64_W, 0x8d, TL_SI, TL_AX, text);
  tl_x64_rm(as, TL_X64_W, 0x8d, TL_DI, TL_DX, text);
  tl_as_byte(as, 0xf3);
  tl_as_byte(as, 0xa6);
  tl_as_byte(as, 0x58 | TL_DI);
  tl_as_byte(as, 0x58 | TL_SI);
  tl_x64_here(as, same);
  tl_x64_here(as, longer);
  tl_x64_here(as, differs);
}

// The jump, or the truth as 0 or 1. setcc writes a byte alone, so movzx widens
// it.
static void on_texts(emitter *e, const tl_typed *t) {
  int condition = t->condition == TL_IF_EQ ? TL_CC_E : TL_CC_NE;
  compare_texts(e, t);
  if (t->op == TL_TYPED_RIF) {
    jump_to(e, condition, t->to);
    return;
  }
  tl_x64_rr(&e->as, TL_X64_0F | TL_X64_BYTE, 0x90 | condition, 0, TL_AX);
  int a = into(e, t->a, TL_AX);
  tl_x64_rr(&e->as, TL_X64_0F, 0xb6, a, TL_AX);
  put(e, t->a, a);
}

// A borrowed variable of the module. Whether the module owns its value makes no
// difference. The array of variables may move when the module gets another one,
// so its address is read from the module each time.
static void get_variable(emitter *e, const tl_typed *t) {
  const tl_module *module = e->unit->function->unit->module;
  tl_typed plain = *t;
  plain.other = TL_TYPE_UNKNOWN;
  tl_x64_constant(&e->as, TL_DX, (int64_t)(intptr_t)&module->variables);
  tl_x64_rm(&e->as, TL_X64_W, 0x8b, TL_DX, TL_DX, 0);
  read_place(e, &plain, (place){TL_DX, (int32_t)t->imm * 16});
}

// Several results: to the callee's first slots, which may have been the places
// of some of them. So all are on the stack before the first is written.
//
//     push last … push first    pop first ─▶ slot 0 … pop last ─▶ slot n - 1
static void give_row(emitter *e, const tl_typed *t) {
  tl_assembler *as = &e->as;
  int count = (int)t->imm;
  for (int i = count; i-- > 0;) {
    int r = t->d + i;
    if (tl_jit_is_float(tl_jit_type_of(e->unit->result_tags[i])))
      r += TL_JIT_FLOAT;
    if (e->reg[r] >= 0)
      store(e, e->reg[r], r);
    tl_x64_rm(as, 0, 0xff, 6, TL_BX, home(r));
  }
  for (int i = 0; i < count; i++) tl_x64_rm(as, 0, 0x8f, 0, TL_BX, home(i));
}

// Dispatch by operation. Operands that may be at home go to rdx if they are
// containers, and to rax if they are indices.
bool tl_jit_emit_place(emitter *e, const tl_typed *t) {
  int a;
  switch ((tl_typed_op)t->op) {
    case TL_TYPED_LEND:
      a = into(e, t->a, TL_AX);
      tl_x64_move(&e->as, a, get(e, t->b, TL_AX));
      put(e, t->a, a);
      break;
    case TL_TYPED_RCONST:
      a = into(e, t->a, TL_AX);
      tl_x64_constant(&e->as, a, t->imm);
      put(e, t->a, a);
      break;
    case TL_TYPED_RGET:
      get_variable(e, t);
      break;
    case TL_TYPED_FIELD:
    case TL_TYPED_FFIELD:
    case TL_TYPED_RFIELD:
      read_place(e, t, field(e, t, get(e, t->b, TL_DX), t->imm, t->d));
      break;
    case TL_TYPED_ITEM:
    case TL_TYPED_FITEM:
    case TL_TYPED_RITEM:
      read_item(e, t);
      break;
    case TL_TYPED_SETITEM:
    case TL_TYPED_FSETITEM:
      write_item(e, t);
      break;
    case TL_TYPED_APPEND:
    case TL_TYPED_FAPPEND:
    case TL_TYPED_RAPPEND:
      append_item(e, t);
      break;
    case TL_TYPED_POP:
    case TL_TYPED_FPOP:
      pop_item(e, t);
      break;
    case TL_TYPED_LENGTH:
      put_length(e, t);
      break;
    case TL_TYPED_MORE:
      more(e, t);
      break;
    case TL_TYPED_RIF:
    case TL_TYPED_RSET:
      on_texts(e, t);
      break;
    case TL_TYPED_PEEK:
    case TL_TYPED_FPEEK:
      at_place(e, t, false);
      break;
    case TL_TYPED_POKE:
    case TL_TYPED_FPOKE:
    case TL_TYPED_RPOKE:
      at_place(e, t, true);
      break;
    case TL_TYPED_ROWRETURN:
      give_row(e, t);
      break;
    default:
      return false;
  }
  return true;
}

#elif TL_HAS_JIT

// References are left to the interpreter.
bool tl_jit_emit_place(emitter *e, const tl_typed *t) {
  (void)e, (void)t;
  return false;
}

#endif
