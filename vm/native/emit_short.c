// Machine code for short arrays: a loop over vectors in the unit itself.
//
//     z = short x multiply y add z
//
//     leave, unless z has one owner, and all are as long and not too long
//     addresses behind the items to registers; T1 = - the number of items
//   loop:  0 = [x + T1 * 8]  1 = [y …]  0 = 0 * 1  1 = [z …]  0 = 0 + 1
//          [z …] = 0         T1 += 4    while a whole vector is left
//     then what is left, one by one
//
// With AVX-512 vectors of twice the length come first.
//
// Each operation rounds once, as the kernels do. Items are read and written at
// one place in each turn, so any two operands may be one array. It is for
// x86-64 with AVX2: elsewhere no such operation is made.
#include "vm/native/emit.h"

#if TL_HAS_JIT

#if TL_JIT_X64

#include "vm/native/emit_vector.h"

// Bytes of a vector, and of a long one.
enum { NBYTES = 32, LONG = 64 };

// The operation with the addresses of its arrays: of b, c and d, -1 for a
// number, which is in all lanes of vector 1.
typedef struct short_loop {
  const tl_typed *t;
  int8_t from[3], to;
  int size;  // of an item
} short_loop;

// The registers for addresses. The fuel is in memory meanwhile, if need be.
static const int8_t pointers[3] = {T0, T2, FUEL};

// An instruction for all lanes, or for the lowest one.
static tl_vector_code code_of(const short_loop *s, int opcode, bool single) {
  tl_vector_code c = tl_vector_of_floats(s->size, opcode);
  if (single)
    c.prefix = s->size == 8 ? TL_P_F2 : TL_P_F3;
  return c;
}

// addpd and its like, by operation.
static const uint8_t opcodes[] = {[TL_OP_ADD] = 0x58,
                                  [TL_OP_SUBTRACT] = 0x5c,
                                  [TL_OP_MULTIPLY] = 0x59,
                                  [TL_OP_DIVIDE] = 0x5e};

// One turn, of a vector or of one item.
static void emit_turn(tl_vector_emitter *v, const short_loop *s, int lanes) {
  const tl_typed *t = s->t;
  bool single = lanes == 1;
  const int bytes = single ? 16 : lanes * s->size;
  const tl_vector_code load = code_of(s, 0x10, single),
                       store = code_of(s, 0x11, single);
  bool first = s->from[0] >= 0, second = s->from[1] >= 0;
  if (first)
    tl_vector_memory(v, load, bytes, 0, s->from[0], s->size, 0, false);
  if (second)
    tl_vector_memory(v, load, bytes, first ? 1 : 0, s->from[1], s->size, 0,
                     false);
  tl_vector_three(v, code_of(s, opcodes[t->condition], single), bytes, 0,
                  first ? 0 : 1, first ? 1 : 0);
  if (t->d >= 0) {
    bool right = tl_short_is_right(t);
    tl_vector_memory(v, load, bytes, 1, s->from[2], s->size, 0, false);
    tl_vector_three(v, code_of(s, opcodes[tl_short_then(t)], single), bytes, 0,
                    right ? 1 : 0, right ? 0 : 1);
  }
  tl_vector_memory(v, store, bytes, 0, s->to, s->size, 0, false);
}

// Turns from T1 on, a number below 0, while there are as many as [lanes] left.
static void emit_turns(tl_vector_emitter *v, const short_loop *s, int lanes) {
  tl_x64_ri(&v->as, 7, T1, -lanes);
  uint32_t none = tl_x64_skip(&v->as, TL_CC_G), at = v->as.size;
  emit_turn(v, s, lanes);
  tl_x64_ri(&v->as, 0, T1, lanes);
  tl_x64_ri(&v->as, 7, T1, -lanes);
  tl_as_byte(&v->as, 0x70 | TL_CC_LE);
  tl_as_byte(&v->as, (int)(at - (v->as.size + 1)) & 0xff);
  tl_x64_here(&v->as, none);
}

// Whether operand number i, from b on, is an array.
static bool is_array(const tl_typed *t, int i) {
  return i == 2 ? t->d >= 0
                : (i == 0 || t->c >= 0) && !tl_jit_is_scalar(t->from[i + 1]);
}

// Leaves where an operand is not what the loop takes. Behind it T1 is the
// number of items. Takes T2.
static void test_operands(emitter *e, const tl_typed *t) {
  const int16_t operands[] = {t->b, t->c, t->d};
  uint32_t pc = t->exit < -1 ? e->code->labels[-2 - t->exit].pc
                             : e->code->exits[t->exit].pc;
  int target = tl_jit_get(e, t->e, T2);
  compare_half(e, target, offsetof(tl_object, count), 1);
  tl_jit_leave_if(e, TL_CC_NE, t);
  read_word(e, T1, target, offsetof(tl_array, dims));
  compare_constant(e, T1, tl_jit_short_limit(e->unit->function, pc, t->d >= 0));
  tl_jit_leave_if(e, TL_CC_AE, t);
  for (int i = 0; i < 3; i++)
    if (is_array(t, i) && operands[i] != t->e) {
      compare_word(e, T1, tl_jit_get(e, operands[i], T2),
                   offsetof(tl_array, dims));
      tl_jit_leave_if(e, TL_CC_NE, t);
    }
}

// What the operands have in common goes into registers; T1 becomes - the number
// of items.
static short_loop begin(emitter *e, const tl_typed *t) {
  const int16_t operands[] = {t->b, t->c, t->d};
  short_loop s = {.t = t, .size = (int)tl_itemsize((tl_dtype)t->dtype)};
  for (int i = 0, used = 0; i < 3; i++) {
    s.from[i] = -1;
    if (!is_array(t, i))
      continue;
    int to = s.from[i] = pointers[used++];
    read_word(e, to, tl_jit_get(e, operands[i], to), offsetof(tl_array, data));
    take_item(e, to, to, T1, s.size);
    if (operands[i] == t->e)
      s.to = (int8_t)to;
  }
  negate(e, T1);
  return s;
}

// What --stats and hosts are told: a counter of the VM's.
static void add_to(emitter *e, size_t counter, int by) {
  tl_x64_rm(&e->as, TL_X64_W, 0x81, 0, MACHINE, (int32_t)counter);
  tl_as_word(&e->as, (uint32_t)by);
}

static void count_result(emitter *e, bool joined) {
  add_to(e, offsetof(tl_vm, stats.inplace), 1);
  add_to(e, offsetof(tl_vm, stats.temps_ended), joined ? 2 : 1);
  if (joined)
    add_to(e, offsetof(tl_vm, stats.fused_ops), 1);
}

// A number is repeated in all lanes of vector 1: vbroadcastsd and -ss.
static void repeat(tl_vector_emitter *v, int size, int from) {
  static const tl_vector_code repeats[] = {TL_CODE(38, 0x18),
                                           {TL_P_66, TL_M_38, 0x19, 1}};
  tl_vector_three(v, repeats[size == 8], v->form->nbytes, 1, 0, from);
}

// Upper halves of vectors are 0 again behind it (vzeroupper), as other
// instructions would wait for them.
void tl_gen_short(emitter *e, const tl_typed *t) {
  bool three = t->d >= 0;
  int scalar = is_array(t, 0) ? is_array(t, 1) ? -1 : 2 : 1;
  test_operands(e, t);
  if (three)
    write_half(e, FUEL, MACHINE, offsetof(tl_vm, fuel));
  int number = scalar < 0 ? -1 : get_float(e, t, scalar, 1);
  short_loop s = begin(e, t);
  bool is_long = strcmp(tl_kernels()->name, "avx512") == 0;
  tl_vector_emitter v = {.as = e->as,
                         .form = is_long ? &tl_vector_512 : &tl_vector_256};
  if (number >= 0)
    repeat(&v, s.size, number);
  if (is_long)
    emit_turns(&v, &s, LONG / s.size);
  v.form = &tl_vector_256;
  emit_turns(&v, &s, NBYTES / s.size);
  emit_turns(&v, &s, 1);
  static const uint8_t zero_upper[] = {0xc5, 0xf8, 0x77};
  for (int i = 0; i < 3; i++) tl_as_byte(&v.as, zero_upper[i]);
  e->as = v.as;
  if (three)
    read_half(e, FUEL, MACHINE, offsetof(tl_vm, fuel));
  count_result(e, three);
  if (t->a != t->e)
    tl_jit_put_from(e, t->a, tl_jit_get(e, t->e, T0));
}

#else

void tl_gen_short(emitter *e, const tl_typed *t) {
  (void)e, (void)t;
  TL_CHECK(false);
}

#endif

#endif
