// Pieces as vector code; see pieces.h, and emit_vector.h for the forms.
//
//     piece(values in rdi, items in rsi):
//       addresses of the values that are walked to registers, singles to
//       vectors; rcx counts items
//       loop over whole vectors; then what is left, in the form's way
//
// (x + y) * 2 of float64 with AVX-512, where x is value 0, y is 2, 2 is 3, and
// the result 4:
//
//     mov rax, [rdi + 3 * size]     vbroadcastsd zmm31, [rax]
//     mov rdx, [rdi]                mov r8 and r9 likewise, of y and the result
//     xor ecx, ecx                  rax = rsi and -8, the items of whole
//     vectors
//   loop:
//     vmovdqu64 zmm0, [rdx + rcx * 8]
//     vmovdqu64 zmm1, [r8 + rcx * 8]
//     vaddpd zmm0, zmm0, zmm1       both operands are read for the last time
//     vmulpd zmm0, zmm0, zmm31
//     vmovdqu64 [r9 + rcx * 8], zmm0
//     add rcx, 8                    jump to loop while below rax
//   then, if rsi - rcx is not 0, k7 has so many bits, and the same once more
//   with loads that give 0 and stores that write nothing outside of k7
//
// Nothing is spilled and nothing is unrolled: vectors of one turn do not depend
// on the last turn's, so the processor overlaps turns by itself.
//
// All vectors have as many lanes as a whole one has of the widest dtype, so
// that with AVX-512 a narrower one takes a part of its register.
//
// Built for size.
#include "vm/native/emit_vector.h"

#if TL_JIT_X64

#include "vm/native/x64.h"

enum { MASKS = 6, FAILED = -1 };

typedef tl_vector_code code;
typedef tl_vector_emitter emitter;

// Registers for addresses, in the order in which they are given out: those that
// the caller keeps come late, as they have to be saved, and rdi last, as it
// leads to all values. rax, rcx and rsi count.
static const int8_t addresses[TL_PIECE_VALUES] = {
    TL_DX, TL_R8,  TL_R9,  TL_R10, TL_R11, TL_BX,
    TL_BP, TL_R12, TL_R13, TL_R14, TL_R15, TL_DI};

// --- Registers --------------------------------------------------------------

// Where bools have their registers, or numbers.
static uint32_t *pool(emitter *e, bool is_mask) {
  return is_mask && e->form->has_masks ? &e->free_masks : &e->free;
}

// A value that an operation reads as [dtype], in a register: a single's, the
// one it was made in or read to before, or a new one that is filled from memory
// here. The piece fails where there is none, or where bools would be read as
// numbers.
static int read(emitter *e, int value, tl_dtype dtype, bool single) {
  if (single)
    return e->single[value];
  if (e->at[value] < 0) {
    e->is_mask[value] = dtype == TL_BOOL;
    e->form->load_value(e, value, dtype);
  }
  e->failed |= e->is_mask[value] != (dtype == TL_BOOL);
  return e->at[value];
}

// The register of a value is free again. Singles keep theirs.
static void release(emitter *e, int value) {
  if (e->at[value] >= 0)
    *pool(e, e->is_mask[value]) |= 1u << e->at[value];
}

// --- Operations -------------------------------------------------------------

// Gives back the registers of operands that operation [i] reads for the last
// time.
static void release_read(emitter *e, int i) {
  const tl_piece_operation *o = &e->piece->operations[i];
  for (int k = 0; k < tl_ops[o->op].arity; k++) {
    bool again = false;
    for (int j = 0; j < k; j++)
      again |= o->in[j] == o->in[k] && (o->singles >> j & 1) == 0;
    if ((o->singles >> k & 1) == 0 && !again && e->last[o->in[k]] == i)
      release(e, o->in[k]);
  }
}

// Operands that are read here for the last time give their registers first, so
// that the result may have one of them; what is computed on the way may not.
// The result of a maximum is written before its operands have been read.
static void emit_operation(emitter *e, int i) {
  const tl_piece_operation *o = &e->piece->operations[i];
  int in[3] = {0, 0, 0};
  for (int k = 0; k < tl_ops[o->op].arity; k++) {
    tl_dtype dtype =
        o->op == TL_OP_WHERE && k == 0 ? TL_BOOL : (tl_dtype)o->dtype;
    in[k] = read(e, o->in[k], dtype, (o->singles >> k & 1) != 0);
  }
  if (o->op == TL_OP_SQUARE)
    in[1] = in[0];
  bool is_mask = tl_vector_gives_bools(o);
  bool frees = o->op != TL_OP_MINIMUM && o->op != TL_OP_MAXIMUM;
  int to = frees ? FAILED : tl_vector_take(e, &e->free);
  uint32_t before = e->free;
  release_read(e, i);
  if (to == FAILED)
    to = tl_vector_take(e, pool(e, is_mask));
  uint32_t held = e->free & ~before;
  e->free &= before;
  e->at[o->out] = (int8_t)to;
  e->is_mask[o->out] = is_mask;
  if (!e->failed)
    tl_vector_operation(e, o, to, in);
  e->free |= held;
}

// One turn of the loop: all operations on a vector of each value, or on what is
// left. Values are written behind all reads, as memory may be an operand's. No
// register stays taken from one turn to the next but those of singles and
// constants.
static void emit_body(emitter *e) {
  uint32_t free = e->free, free_masks = e->free_masks;
  memset(e->at, -1, sizeof e->at);
  for (int i = 0; i < e->piece->count; i++) emit_operation(e, i);
  for (int i = 0; i < e->piece->count; i++) {
    const tl_piece_operation *o = &e->piece->operations[i];
    if (o->is_stored && !e->failed)
      e->form->store_value(e, o->out, (tl_dtype)o->dtype);
  }
  e->free = free;
  e->free_masks = free_masks;
}

// --- The whole --------------------------------------------------------------

// The address of a value: the first word of its record.
static void load_address(emitter *e, int reg, int value) {
  _Static_assert(offsetof(tl_plan_value, at) == 0, "read by machine code");
  tl_x64_rm(&e->as, TL_X64_W, 0x8b, reg, TL_DI,
            value * (int)sizeof(tl_plan_value));
}

// A register for the whole piece, from the upper end; so many at most that the
// operations keep enough of them.
static int add_single(emitter *e) {
  int most = e->form->vectors;
  for (int reg = most - 1; reg >= most - e->form->singles_most; reg--) {
    if ((e->free >> reg & 1) != 0) {
      e->free &= ~(1u << reg);
      return reg;
    }
  }
  e->failed = true;
  return 0;
}

// One item in all lanes, whichever of the widths it has; once for all of its
// operands, as a value has one dtype. rcx is 0 here. Choices by one bool for
// all items have no vector: the piece fails, and a kernel does them.
static void open_single(emitter *e, int value, tl_dtype dtype) {
  static const code repeats[] = {TL_CODE(38, 0x78),
                                 TL_CODE(38, 0x79),
                                 TL_CODE(38, 0x58),
                                 {TL_P_66, TL_M_38, 0x59, 1}};
  if (e->single[value] >= 0)
    return;
  e->failed |= dtype == TL_BOOL;
  e->single[value] = (int8_t)add_single(e);
  load_address(e, TL_AX, value);
  tl_vector_memory(e, repeats[tl_vector_width(dtype)], e->form->nbytes,
                   e->single[value], TL_AX, 1, 0, false);
}

// All bits of a vector set; it is kept for the whole piece.
static int open_ones(emitter *e) {
  static const code fill = TL_CODE(3A, 0x25), equal = TL_CODE(0F, 0x76);
  int reg = add_single(e);
  tl_vector_three(e, e->form->has_masks ? fill : equal, e->form->nbytes, reg,
                  reg, reg);
  if (e->form->has_masks)
    tl_vector_byte(e, 0xff);
  return reg;
}

// Bytes of 1: the absolute values of -1.
static int open_bytes(emitter *e) {
  static const code absolute = TL_CODE(38, 0x1c);
  int reg = open_ones(e);
  tl_vector_three(e, absolute, e->form->nbytes, reg, 0, reg);
  return reg;
}

// Shifts items of [width] by [count] within each: [digit] 2 to the right, 6 to
// the left.
static void shift(emitter *e, int reg, int width, int digit, int count) {
  const code c = {TL_P_66, TL_M_0F, (uint8_t)(0x70 + width), width == 3};
  tl_vector_three(e, c, e->form->nbytes, digit, reg, reg);
  tl_vector_byte(e, count);
}

// The highest bit of each item. There is no shift of bytes, and bytes of 1 in
// words lose nothing.
static int open_signs(emitter *e, int width) {
  int reg = width == 0 ? open_bytes(e) : open_ones(e);
  shift(e, reg, width == 0 ? 1 : width, 6, width == 0 ? 7 : (8 << width) - 1);
  return reg;
}

// Whether an operation needs the signs of its items: those of floats are
// turned, and unsigned numbers compared by instructions for signed ones.
static bool has_signs(const emitter *e, const tl_piece_operation *o) {
  tl_dtype dtype = (tl_dtype)o->dtype;
  tl_op op = (tl_op)o->op;
  if (tl_vector_is_float(dtype) || e->form->has_masks)
    return tl_vector_is_float(dtype) && op == TL_OP_NEGATIVE;
  return tl_vector_is_unsigned(dtype) &&
         (tl_vector_compares(op) || op == TL_OP_MINIMUM || op == TL_OP_MAXIMUM);
}

// What operations need besides their operands: bytes of 1 to make bools of
// masks, the sign of items and all bits but it.
static void open_constants(emitter *e) {
  for (int i = 0; i < e->piece->count; i++) {
    const tl_piece_operation *o = &e->piece->operations[i];
    tl_dtype dtype = (tl_dtype)o->dtype;
    int width = tl_vector_width(dtype);
    bool is_mask = tl_vector_gives_bools(o);
    if (is_mask && o->is_stored && e->form->has_masks && e->ones < 0)
      e->ones = (int8_t)open_bytes(e);
    if (has_signs(e, o) && e->signs[width] < 0)
      e->signs[width] = (int8_t)open_signs(e, width);
    if (tl_vector_is_float(dtype) && o->op == TL_OP_ABS &&
        e->rests[width] < 0) {
      e->rests[width] = (int8_t)open_ones(e);
      shift(e, e->rests[width], width, 2, 1);
    }
  }
}

// Registers for what is read and written, and where values are read last.
// Returns how many addresses there are. A value that is made in the piece has
// one only if it is written.
static int open_values(emitter *e) {
  int count = 0;
  bool made[TL_PLAN_VALUES] = {false};
  for (int i = 0; i < e->piece->count; i++) {
    const tl_piece_operation *o = &e->piece->operations[i];
    for (int k = 0; k <= tl_ops[o->op].arity; k++) {
      bool is_out = k == tl_ops[o->op].arity;
      int value = is_out ? o->out : o->in[k];
      if (!is_out && (o->singles >> k & 1) != 0) {
        continue;
      } else if (!is_out) {
        e->last[value] = (int8_t)i;
      } else {
        made[value] = true;
        e->last[value] = o->is_stored ? TL_PIECE_OPERATIONS : (int8_t)i;
      }
      if (e->pointer[value] >= 0 || (made[value] && !(is_out && o->is_stored)))
        continue;
      if (count == TL_PIECE_VALUES) {
        e->failed = true;
        return count;
      }
      e->pointer[value] = addresses[count++];
    }
  }
  for (int i = 0; i < e->piece->count; i++) {
    const tl_piece_operation *o = &e->piece->operations[i];
    if (o->is_stored)
      e->last[o->out] = TL_PIECE_OPERATIONS;
  }
  return count;
}

// Pushes those of the first [count] addresses that the caller keeps, or with
// [back] pops them in the opposite order. The stack is of no use otherwise, so
// that its alignment does not matter.
static void save(emitter *e, int count, bool back) {
  for (int i = 0; i < count; i++) {
    int reg = addresses[back ? count - 1 - i : i];
    if (reg == TL_BX || reg == TL_BP || reg >= TL_R12)
      tl_x64_open(&e->as, 0, (back ? 0x58 : 0x50) | (reg & 7), 0, 0, reg);
  }
}

// A jump whose target is [to], or set by land where that is not known yet.
// Returns the place behind it, from which its 32 bits count.
static uint32_t jump_if(emitter *e, int condition, uint32_t to) {
  tl_vector_byte(e, 0x0f);
  tl_vector_byte(e, 0x80 | condition);
  tl_as_word(&e->as, to - (e->as.size + 4));
  return e->as.size;
}

// The jump that ends at [from] goes here. Where memory for the code was refused
// its bytes may not be there, and nothing is written.
static void land(emitter *e, uint32_t from) {
  uint32_t distance = e->as.size - from;
  if (!e->as.is_full)
    memcpy(e->as.bytes + from - 4, &distance, sizeof distance);
}

// The items that are left of rsi, as many as k7 has bits.
static void finish_masked(emitter *e) {
  static const uint8_t bits[] = {0xc4, 0xe2, 0xc8, 0xf5, 0xc0,   // bzhi
                                 0xc4, 0xe1, 0xfb, 0x92, 0xf8};  // kmovq
  tl_x64_rr(&e->as, TL_X64_W, 0x2b, TL_SI, TL_CX);
  uint32_t done = jump_if(e, TL_CC_E, 0);
  tl_x64_constant(&e->as, TL_AX, -1);
  for (size_t i = 0; i < sizeof bits; i++) tl_vector_byte(e, bits[i]);
  emit_body(e);
  land(e, done);
}

// One item a turn, from rcx on.
static void finish_items(emitter *e) {
  tl_x64_rr(&e->as, TL_X64_W, 0x3b, TL_CX, TL_SI);
  uint32_t done = jump_if(e, TL_CC_AE, 0), head = e->as.size;
  emit_body(e);
  tl_x64_ri(&e->as, 0, TL_CX, 1);
  tl_x64_rr(&e->as, TL_X64_W, 0x3b, TL_CX, TL_SI);
  jump_if(e, TL_CC_B, head);
  land(e, done);
}

// Whole vectors, rcx up to what rax has of them; then the items that are left.
static void emit_loop(emitter *e) {
  tl_assembler *as = &e->as;
  tl_x64_rr(as, 0, 0x31, TL_CX, TL_CX);
  tl_x64_move(as, TL_AX, TL_SI);
  tl_x64_ri(as, 4, TL_AX, -e->lanes);
  uint32_t none = jump_if(e, TL_CC_E, 0), head = as->size;
  emit_body(e);
  tl_x64_ri(as, 0, TL_CX, e->lanes);
  tl_x64_rr(as, TL_X64_W, 0x3b, TL_CX, TL_AX);
  jump_if(e, TL_CC_B, head);
  land(e, none);
  e->is_rest = true;
  if (e->form->has_masks)
    finish_masked(e);
  else
    finish_items(e);
}

// Lanes: as many as the widest dtype has in a vector; parts of fewer than 16
// bytes have no whole register, but for bools. Where bools are as wide as what
// they are about, all numbers have to be. 0: there is no such number.
static int find_lanes(const emitter *e) {
  int widest = 1, narrowest = 8;
  for (int i = 0; i < e->piece->count; i++) {
    tl_dtype dtype = (tl_dtype)e->piece->operations[i].dtype;
    int size = tl_vector_size(dtype);
    if (size > widest)
      widest = size;
    if (dtype != TL_BOOL && size < narrowest)
      narrowest = size;
  }
  int lanes = e->form->nbytes / widest;
  bool fits = e->form->has_masks ? lanes * narrowest >= 16
                                 : narrowest == widest || widest == 1;
  return fits ? lanes : 0;
}

// One item of each operand that is one, in all lanes of a register.
static void open_singles(emitter *e) {
  tl_x64_rr(&e->as, 0, 0x31, TL_CX, TL_CX);  // the index of loads
  for (int i = 0; i < e->piece->count; i++) {
    const tl_piece_operation *o = &e->piece->operations[i];
    for (int k = 0; k < tl_ops[o->op].arity; k++) {
      bool is_choice = o->op == TL_OP_WHERE && k == 0;
      if ((o->singles >> k & 1) != 0)
        open_single(e, o->in[k], is_choice ? TL_BOOL : (tl_dtype)o->dtype);
    }
  }
}

// The addresses of what is walked; rdi, which leads to them, comes last.
static void load_addresses(emitter *e) {
  int last = -1;
  for (int v = 0; v < TL_PLAN_VALUES; v++) {
    if (e->pointer[v] == TL_DI)
      last = v;
    else if (e->pointer[v] >= 0)
      load_address(e, e->pointer[v], v);
  }
  if (last >= 0)
    load_address(e, TL_DI, last);
}

// The emitter has a copy of the assembler, which is given back whatever came of
// it: the caller frees its bytes. Values get their registers before the first
// byte, so that what needs too many addresses writes nothing.
bool tl_piece_emit(const tl_vector_piece *piece, const tl_vector_form *form,
                   tl_assembler *as) {
  static const uint8_t vzeroupper[] = {0xc5, 0xf8, 0x77};
  emitter e = {.as = *as, .form = form, .piece = piece, .ones = -1};
  e.free = UINT32_MAX >> (32 - form->vectors);
  e.free_masks = (2u << MASKS) - 2;
  e.lanes = find_lanes(&e);
  memset(e.signs, -1, sizeof e.signs);
  memset(e.rests, -1, sizeof e.rests);
  memset(e.pointer, -1, sizeof e.pointer);
  memset(e.single, -1, sizeof e.single);
  int count = open_values(&e);
  if (e.failed || e.lanes == 0)
    return false;
  save(&e, count, false);
  open_singles(&e);
  open_constants(&e);
  load_addresses(&e);
  emit_loop(&e);
  for (int i = 0; i < 3; i++) tl_as_byte(&e.as, vzeroupper[i]);
  save(&e, count, true);
  tl_as_byte(&e.as, 0xc3);
  *as = e.as;
  return !e.failed;
}

#endif
