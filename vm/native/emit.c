// Machine code from typed operations, as far as it is the same for all
// processors: who is where, variables, calls, exits, jumps. The others of
// emit.h append what computes, and items.
//
// What an integer's register has is the slot's payload: 64 bits, extended from
// its dtype. A float's register has what is below; above a float32 stands 0, as
// whole slots are moved with it.
//
// Each register of a unit has one place for the whole unit: one of the
// processor's, for those that loops use most, else its home. The home of a
// slot's registers is its payload, the home of a fact is on the stack.
//
// A unit is called. It returns 1 in T2 where it left: all live slots, the
// record and vm->frame are then as the interpreter wants them. A function that
// has its result returns 0, and the result in T0 or the first register for
// floats. So a caller whose callee has left completes the callee's record and
// leaves too, with its own.
//
//     prologue   entry's slots and facts to their registers
//     operations
//     exits      of those that are jumped to; polls, which call C
#include "vm/native/jit_internal.h"

#if TL_HAS_JIT

#include "vm/array/array.h"
#include "vm/engine/scalars.h"
#include "vm/kernels/kernels.h"
#include "vm/memory/mapping.h"
#include "vm/native/emit.h"
#include "vm/poll.h"
#include "vm/region/region.h"

// The registers that are used most get the processor's. There is no allocation
// over intervals: a place for the whole unit needs no moves at labels, so any
// jump may go to any label, and an exit's code is the same wherever it is
// jumped to from. Facts compete with slots for the integer registers.
static void assign(emitter *e) {
  const float *weights = e->code->weights;
  int used[TL_JIT_REGISTERS], count = 0;
  memset(e->reg, -1, sizeof e->reg);
  // Most of them are not used at all.
  for (int r = 0; r < TL_JIT_REGISTERS; r++)
    if (weights[r] > 0)
      used[count++] = r;
  for (int k = 0; k < INTS + FLOATS; k++) {
    int best = -1;
    for (int i = 0; i < count; i++)
      if (is_float(used[i]) == (k >= INTS) && e->reg[used[i]] < 0 &&
          (best < 0 || weights[used[i]] > weights[best]))
        best = used[i];
    if (best >= 0)
      e->reg[best] = k < INTS ? int_registers[k] : float_registers[k - INTS];
  }
}

// --- Variables --------------------------------------------------------------

// T2 = the module's variables, which may have moved. Returns how far behind
// T2 the variable is. The code has the address of the module's field, not of
// the variables: those are moved when the module gets another one.
static int32_t find_variable(emitter *e, const tl_typed *t) {
  const tl_module *module = e->unit->function->unit->module;
  set_constant(e, T2, (int64_t)(intptr_t)&module->variables);
  read_word(e, T2, T2, 0);
  return (int32_t)t->imm * 16;
}

// T2 = the closure, which the frame's record has. Returns how far behind T2
// the captured value is.
static int32_t find_captured(emitter *e, const tl_typed *t) {
  read_word(e, T2, RECORD, offsetof(tl_frame, closure));
  return (int32_t)offsetof(tl_closure, captures) + (int32_t)t->imm * 16;
}

// A variable of the module, or a captured value. Leaves where it has another
// tag than the types say.
void tl_gen_variable(emitter *e, const tl_typed *t) {
  int32_t at =
      t->op == TL_TYPED_CAPTURED ? find_captured(e, t) : find_variable(e, t);
  if (tl_jit_is_reference(t->type) || t->other != TL_TYPE_UNKNOWN) {
    tl_jit_get_reference(e, t, at);
    return;
  }
  compare_memory(e, T2, at, (int64_t)tl_jit_tag(t->type));
  tl_jit_leave_if(e, TL_CC_NE, t);
  tl_jit_put_word(e, t->a, T2, at + 8);
}

void tl_gen_self(emitter *e, const tl_typed *t) {
  tl_jit_put_word(e, t->a, RECORD, offsetof(tl_frame, closure));
}

// Leaves where the variable owns what it has, which would have to be dropped.
// The tag is written with the payload: the variable may have had another type,
// which units that read it notice by the tag.
void tl_gen_put(emitter *e, const tl_typed *t) {
  int32_t at = find_variable(e, t);
  test_byte(e, T2, at + 2, TL_OWNED >> 16);
  tl_jit_leave_if(e, TL_CC_NE, t);
  tl_jit_put_item(e, t, T2, at);
}

// --- Calls of C -------------------------------------------------------------

// Stores to their slots what is in registers of those that the exit names, or
// loads it. What is at home needs no move. Of a slot's two registers that of
// its type is moved; the other one has nothing that anybody reads.
static void move_slots(emitter *e, uint64_t slots, const tl_jit_type *types,
                       bool back) {
  for (; slots != 0; slots &= slots - 1) {
    uint32_t s = (uint32_t)__builtin_ctzll(slots);
    int r = tl_jit_register(s, types[s]);
    if (e->reg[r] >= 0)
      back ? tl_jit_load(e, e->reg[r], r) : tl_jit_store(e, e->reg[r], r);
  }
}

// Loads what lies in slots of the entry as references, or all that does. Those
// that have been written since are loaded again behind it, by their types
// there; of a slot that is dead by now whatever is loaded does no harm.
static void load_entry(emitter *e, bool scalars) {
  const tl_jit_unit *u = e->unit;
  for (uint64_t slots = u->live; slots != 0; slots &= slots - 1) {
    uint32_t s = (uint32_t)__builtin_ctzll(slots);
    tl_jit_type type = tl_jit_type_of(u->tags[s]);
    int r = tl_jit_register(s, type);
    if (e->reg[r] >= 0 &&
        (tl_jit_is_scalar(type) ? scalars : (u->pinned >> s & 1) != 0))
      tl_jit_load(e, e->reg[r], r);
  }
}

// What lives comes back from its slots, and facts from the stack.
static void come_back(emitter *e, const tl_jit_exit *exit) {
  load_entry(e, false);
  move_slots(e, exit->slots, exit->types, true);
  for (uint32_t i = 0; i < TL_JIT_FACTS_EACH * e->unit->array_count; i++)
    if (e->reg[TL_JIT_FACTS + i] >= 0)
      tl_jit_load(e, e->reg[TL_JIT_FACTS + i], TL_JIT_FACTS + (int)i);
}

// Room on the stack for a call of C.
//
//     TL_SP  │ result │ constant │    16 and 16 bytes
enum { CONSTANT = 16, ROOM = 32 };

// The result, which is in T2: a slot's payload, 0 above a float32.
static void put_result(emitter *e, const tl_typed *t) {
  bool floats = is_float(t->a);
  int a = into(e, t->a, floats ? 0 : T2);
  floats ? move_bits(e, a, T2) : move_int(e, a, T2);
  tl_jit_put(e, t->a, a);
}

// The kernel of an operation on one float that gives a float of its width,
// which is what tl_scalar_unary calls for it; NULL: it is another one. The
// table of kernels is that of the processor, chosen once, so the address is
// good for the code's life.
static tl_kernel1 *kernel_of(const tl_typed *t) {
  tl_dtype dtype = tl_jit_dtype(t->type);
  return is_float(t->a) && t->from[2] == TL_TYPE_UNKNOWN &&
                 tl_jit_dtype(t->from[1]) == dtype &&
                 tl_op_compute_dtype((tl_op)t->condition, dtype) == dtype
             ? tl_kernels()->unary[t->condition][dtype]
             : NULL;
}

// kernel(&result, &b, 1), which never fails. The result's upper half is 0 where
// it has 32 bits.
static void call_kernel(emitter *e, const tl_typed *t, tl_kernel1 *kernel) {
  open_room(e, ROOM);
  set_constant(e, T0, 0);
  write_word(e, T0, TL_SP, 0);
  take_address(e, ARG0, TL_SP, 0);
  take_address(e, ARG1, SLOTS, home(t->b));
  set_constant(e, ARG2, 1);
  call_c(e, (intptr_t)kernel);
  read_word(e, T2, TL_SP, 0);
  close_room(e, ROOM);
}

// tl_scalar_binary(op, b, c, a) or tl_scalar_unary(op, b, a), which know no VM.
// Operands get their tags in their slots; a constant stands on the stack.
// Behind it T0 says whether it was done; T1 and T2 are the result's tag and
// payload.
static void call_scalar(emitter *e, const tl_typed *t) {
  bool binary = t->from[2] != TL_TYPE_UNKNOWN;
  int32_t b = t->b % TL_JIT_SLOTS * 16, c = t->c % TL_JIT_SLOTS * 16;
  write_tag(e, tl_jit_tag(t->from[1]), SLOTS, b);
  open_room(e, ROOM);
  take_address(e, ARG1, SLOTS, b);
  if (binary && t->c >= 0) {
    write_tag(e, tl_jit_tag(t->from[2]), SLOTS, c);
    take_address(e, ARG2, SLOTS, c);
  } else if (binary) {
    write_tag(e, tl_jit_tag(t->from[2]), TL_SP, CONSTANT);
    set_constant(e, T0, t->imm);
    write_word(e, T0, TL_SP, CONSTANT + 8);
    take_address(e, ARG2, TL_SP, CONSTANT);
  }
  take_address(e, binary ? ARG3 : ARG2, TL_SP, 0);
  set_constant(e, ARG0, t->condition);
  call_c(e, binary ? (intptr_t)tl_scalar_binary : (intptr_t)tl_scalar_unary);
  read_word(e, T1, TL_SP, 0);
  read_word(e, T2, TL_SP, 8);
  close_room(e, ROOM);
}

// An operation by a function of C. What lives is in its slots meanwhile. Leaves
// where the function declines, or the result has another tag than was likely.
// The few that have instructions of their own need no call.
//
//     registers ─▶ slots        of all that the exit names
//     tags of the operands      in their slots
//     call                      on an aligned stack
//     slots ─▶ registers        and facts from the unit's frame
//     did it? the right tag?    else by the exit, with all as it was
void tl_gen_compute(emitter *e, const tl_typed *t) {
  if (tl_jit_emit_math(e, t))
    return;
  const tl_jit_exit *exit = &e->code->exits[t->exit];
  tl_kernel1 *kernel = kernel_of(t);
  move_slots(e, exit->slots, exit->types, false);
  if (kernel != NULL)
    call_kernel(e, t, kernel);
  else
    call_scalar(e, t);
  come_back(e, exit);
  if (kernel == NULL) {
    test_truth(e);
    tl_jit_leave_if(e, TL_CC_E, t);
    compare_constant(e, T1, (int64_t)tl_jit_tag(t->type));
    tl_jit_leave_if(e, TL_CC_NE, t);
  }
  put_result(e, t);
}

// --- Calls of units ---------------------------------------------------------

// Whether frames of the unit, or of those that it calls, may be looked at while
// code runs: their records then have to be whole.
static bool needs_record(const tl_jit_unit *unit) {
  bool needs = unit->does;
  for (uint32_t i = 0; i < unit->callee_count; i++)
    needs |= unit->callees[i]->has_record ||
             (unit->callees[i]->is_open && unit->callees[i] != unit);
  return needs;
}

// The unit's place in its record, and in the code, which is in T0 behind it.
static void write_pc(emitter *e, uint32_t pc) {
  const tl_ins *ins = &e->unit->function->code[pc];
  set_constant(e, T0, (int64_t)(intptr_t)ins);
  write_word(e, T0, RECORD, offsetof(tl_frame, pc));
}

// Whose record it is, [at] bytes behind that of the unit under way. The closure
// of what is called as a value is there already, and so is its function where
// it may be one of several.
static void write_owner(emitter *e, const tl_jit_unit *unit, int32_t at,
                        bool is_one) {
  if (is_one) {
    set_constant(e, T0, (int64_t)(intptr_t)unit->function);
    write_word(e, T0, RECORD, at + (int32_t)offsetof(tl_frame, function));
  }
  set_constant(e, T0, unit->owns ? TL_FRAME_OWNS : 0);
  write_half(e, T0, RECORD, at + (int32_t)offsetof(tl_frame, flags));
  if (!unit->owns)
    write_word(e, T0, RECORD, at + (int32_t)offsetof(tl_frame, closure));
}

// Whether a value is called that is a closure, not a function without captures.
static bool calls_closure(const emitter *e, const tl_typed *t) {
  uint64_t tag = tl_jit_tag_of(e->unit, (uint32_t)t->b, t->from[1]);
  return (tag >> 8 & 0xff) == TL_KIND_CLOSURE;
}

// Compares the value that is called with the functions of the units that it may
// be, each by its unit's field: where a function has been freed since, that is
// none. T1 then has the function, and T2, where they are equal, the address of
// the field.
static void compare_called(emitter *e, const tl_typed *t) {
  int called = tl_jit_get(e, t->b, T0);
  move_int(e, T1, called);
  if (calls_closure(e, t)) {
    read_word(e, T1, called, offsetof(tl_closure, members));
    read_word(e, T1, T1, 0);
  }
  uint32_t found[TL_JIT_CALLED], count = 0;
  for (int i = 0; i < TL_JIT_CALLED && t->callees[i] != NULL; i++) {
    if (i > 0)
      found[count++] = skip(e, TL_CC_E);
    set_constant(e, T2, (int64_t)(intptr_t)&t->callees[i]->function);
    compare_word(e, T1, T2, 0);
  }
  while (count > 0) here(e, found[--count]);
}

// Leaves where the value that is called is another function than those that it
// was when the unit was made. Its closure goes into its record, where a
// function without captures has none; so does the function, if there are
// several.
static void find_called(emitter *e, const tl_typed *t) {
  enum { RECORD_ABOVE = sizeof(tl_frame) };
  int called = T0;
  compare_called(e, t);
  tl_jit_leave_if(e, TL_CC_NE, t);
  if (calls_closure(e, t))
    called = tl_jit_get(e, t->b, T0);
  else
    set_constant(e, T0, 0);
  if (t->callees[1] != NULL)
    write_word(e, T1, RECORD, RECORD_ABOVE + (int)offsetof(tl_frame, function));
  write_word(e, called, RECORD,
             RECORD_ABOVE + (int)offsetof(tl_frame, closure));
}

// The tags of slots that the exit writes back; or of references alone.
static void write_tags(emitter *e, const tl_jit_exit *exit, uint64_t slots,
                       bool scalars) {
  for (slots &= exit->slots; slots != 0; slots &= slots - 1) {
    uint32_t s = (uint32_t)__builtin_ctzll(slots);
    if (scalars || tl_jit_is_reference(exit->types[s]))
      write_tag(e, tl_jit_tag_of(e->unit, s, exit->types[s]), SLOTS,
                (int32_t)s * 16);
  }
}

// Leaves where an argument is an array that a region may begin with.
static void ask_region(emitter *e, const tl_typed *t, uint64_t arguments) {
  const tl_jit_exit *before = &e->code->exits[t->exit];
  const int power = e->unit->function->region_items[before->pc];
  if (power > 30)
    return;
  for (; arguments != 0; arguments &= arguments - 1) {
    int s = __builtin_ctzll(arguments);
    tl_jit_type type =
        (before->slots >> s & 1) != 0 ? before->types[s] : TL_TYPE_ENTRY;
    uint64_t tag = tl_jit_tag_of(e->unit, (uint32_t)s, type);
    if ((tag & TL_CLASS_ARRAY) == 0)
      continue;
    read_word(e, T1, tl_jit_get(e, s, T0), offsetof(tl_array, size));
    compare_constant(e, T1, 1 << power);
    tl_jit_leave_if(e, TL_CC_AE, t);
  }
}

// Loads several results, which the callee left in its first slots. Their tags
// are not there: types have them, and exits write them.
static void load_row(emitter *e, const tl_jit_unit *callee, uint32_t first) {
  for (uint32_t i = 0; i < callee->result_count; i++) {
    uint64_t tag = callee->result_tags[i];
    int r = tl_jit_register(first + i, tl_jit_type_of(tag));
    if (tag != 0 && e->reg[r] >= 0)
      tl_jit_load(e, e->reg[r], r);
  }
}

// One poll: the fuel counts down; what happens at 0 stands behind the code. So
// a poll costs a loop two instructions per iteration.
void tl_gen_poll(emitter *e, const tl_typed *t) {
  count_fuel(e);
  tl_jit_jump_if(e, TL_CC_E, FIX_POLL, t->exit);
}

// What jit.c bounds the depth of calls by: the callee's slots begin so many
// behind its caller's.
static void note_callee(tl_jit *jit, const tl_jit_unit *callee, int step) {
  if (step > jit->most_step)
    jit->most_step = step;
  if (callee->function->slot_count > jit->most_slots)
    jit->most_slots = callee->function->slot_count;
}

// Its arguments and what lives across it go through their slots. Where there is
// no room for another call, the interpreter makes it, or says so: jit.c has put
// records and slots into one bound, to which each call adds what it takes.
//
//     caller's slots    … │ a │ argument 0 │ argument 1 │ …
//                           ▲   ▲
//         the result's slot ┘   └ the callee's slot 0, its SLOTS
//
// The callee's registers are the same ones for other slots, so all that lives
// comes back from memory behind the call. Of the record above only its place is
// counted: the callee writes to it when it leaves, and emit_within the rest.
void tl_gen_call(emitter *e, const tl_typed *t) {
  const tl_jit_exit *within = &e->code->exits[t->imm];
  const tl_jit_exit *before = &e->code->exits[t->exit];
  const tl_jit_unit *callee = t->callees[0];
  bool row = t->op == TL_TYPED_ROWCALL;
  int base = (row ? t->to : t->a % TL_JIT_SLOTS) + 1;
  uint64_t arguments = ((UINT64_C(1) << t->d) - 1) << base;
  for (int i = 0; i < TL_JIT_CALLED && t->callees[i] != NULL; i++)
    note_callee(e->code->vm->jit, t->callees[i], base);
  move_slots(e, within->slots, within->types, false);
  move_slots(e, arguments & before->slots, before->types, false);
  // The callee takes a reference that it does not touch for being as at its
  // entry, and its exits leave that out. Scalars every exit writes back.
  write_tags(e, before, arguments, false);
  if (e->unit->has_record)
    write_pc(e, before->pc);
  if (e->unit->function->region_count > 0 &&
      (t->b >= 0 || callee->function->joins >= TL_JOINS))
    ask_region(e, t, arguments);
  compare_word(e, RECORD, MACHINE, offsetof(tl_vm, native_end));
  tl_jit_leave_if(e, TL_CC_AE, t);
  if (t->b >= 0)
    find_called(e, t);
  tl_gen_poll(e, t);
  if (t->callees[1] != NULL)
    compare_called(e, t);
  add_constant(e, SLOTS, base * 16);
  add_constant(e, RECORD, (int32_t)sizeof(tl_frame));
  if (t->callees[1] != NULL)
    call_at(e, T2,
            (int32_t)offsetof(tl_jit_unit, code) -
                (int32_t)offsetof(tl_jit_unit, function));
  else
    call_unit(e, callee);
  add_constant(e, SLOTS, -base * 16);
  add_constant(e, RECORD, -(int32_t)sizeof(tl_frame));
  compare_constant(e, T2, 0);
  tl_jit_jump_if(e, TL_CC_NE, FIX_WITHIN, (int32_t)(t - e->code->ops));
  come_back(e, within);
  if (row)
    load_row(e, callee, (uint32_t)base - callee->is_single);
  else
    tl_jit_put_from(e, t->a, is_float(t->a) ? 0 : T0);
}

// The result goes where callers look, with 0 for "it has one". What the slot
// owned the caller's slot owns from here on: its type says so.
void tl_gen_result(emitter *e, const tl_typed *t) {
  if (t->op == TL_TYPED_ROWRETURN)
    tl_jit_give_row(e, t);
  else if (is_float(t->a))
    move_float(e, 0, tl_jit_get(e, t->a, 0));
  else
    move_int(e, T0, tl_jit_get(e, t->a, T0));
  set_constant(e, T2, 0);
  go_back(e);
}

// --- What C does ------------------------------------------------------------

// The slots of the exit's instruction, of which the check has found that C may
// do it.
static tl_jit_one_slots read_done(const emitter *e, const tl_jit_exit *exit) {
  tl_jit_one_slots one = {0};
  bool may = tl_jit_read_one(e->code->flow, e->unit->function, exit->pc,
                             e->unit->is_function, &one);
  TL_CHECK(may);
  return one;
}

// An instruction by vm->one: tl_jit_one(vm, base, ins), which says in the 32
// bits that it returns how it went. What lives is in memory, with the tags of
// what it touches; what it did not change comes back behind it.
void tl_gen_do(emitter *e, const tl_typed *t) {
  const tl_jit_exit *exit = &e->code->exits[t->exit];
  tl_jit_one_slots one = read_done(e, exit);
  tl_jit_exit behind = *exit;
  behind.slots &= ~one.changed & one.live;
  move_slots(e, exit->slots, exit->types, false);
  write_tags(e, exit, one.touched, true);
  write_pc(e, exit->pc);
  write_word(e, RECORD, MACHINE, offsetof(tl_vm, frame));
  write_half(e, FUEL, MACHINE, offsetof(tl_vm, fuel));
  move_int(e, ARG2, T0);
  open_room(e, ROOM);
  move_int(e, ARG0, MACHINE);
  move_int(e, ARG1, SLOTS);
  const tl_prototype *p = e->unit->function;
  if (one.spans)
    set_constant(
        e, ARG3,
        (tl_region_at(p, exit->pc) - p->regions) << 32 | (one.then - exit->pc));
  call_c(e, one.spans ? (intptr_t)tl_jit_span : (intptr_t)tl_jit_one);
  close_room(e, ROOM);
  read_half(e, FUEL, MACHINE, offsetof(tl_vm, fuel));
  cut(e, TL_UINT32, T0, T0);
  compare_constant(e, T0, TL_ONE_DONE);
  tl_jit_jump_if(e, TL_CC_B, FIX_UNDONE, (int32_t)(t - e->code->ops));
  // Loads leave the flags as they are.
  come_back(e, &behind);
  if (t->op == TL_TYPED_DOIF)
    tl_jit_jump_to(e, t->condition == TL_IF_NE ? TL_CC_A : TL_CC_BE, t->to);
}

// The unit has left: T2 says so.
static void end_left(emitter *e) {
  write_word(e, SLOTS, RECORD, offsetof(tl_frame, base));
  set_constant(e, T2, 1);
  go_back(e);
}

// The array in the slot is dropped by tl_drop, which runs no script and needs
// no slot. What lives is in memory meanwhile.
void tl_gen_end(emitter *e, const tl_typed *t) {
  const tl_jit_exit *behind = &e->code->exits[t->exit];
  uint64_t tag = tl_jit_tag_of(e->unit, (uint32_t)t->b, t->from[1]);
  move_slots(e, behind->slots, behind->types, false);
  move_int(e, ARG2, tl_jit_get(e, t->b, T0));
  open_room(e, ROOM);
  move_int(e, ARG0, MACHINE);
  set_constant(e, ARG1, (int64_t)tag);
  call_c(e, (intptr_t)tl_drop);
  close_room(e, ROOM);
  come_back(e, behind);
}

// It was declined, or has failed: the unit leaves before it, with what it has
// left in the slots that it touches.
static uint32_t emit_undone(emitter *e, int32_t op) {
  const tl_jit_exit *exit = &e->code->exits[e->code->ops[op].exit];
  uint32_t at = e->as.size;
  write_tags(e, exit, ~read_done(e, exit).touched, true);
  end_left(e);
  return at;
}

// --- All operations ---------------------------------------------------------

void tl_gen_label(emitter *e, const tl_typed *t) {
  if (e->code->labels[t->to].loop == t->to)
    align_loop(e);
  e->label_at[t->to] = e->as.size;
}

// A jump to the label that comes next is left out.
void tl_gen_jump(emitter *e, const tl_typed *t) {
  const tl_typed *next = t + 1, *end = e->code->ops + e->code->op_count;
  if (t->to < 0 || next == end || next->op != TL_TYPED_LABEL ||
      next->to != t->to)
    tl_jit_go_to(e, t->to);
}

void tl_gen_exit(emitter *e, const tl_typed *t) {
  jump(e, FIX_EXIT, t->exit);
}

static tl_jit_emit_fn *const emits[TL_TYPED_COUNT_OF_OPS] = {
#define OP(NAME, a, b, c, goes, gen) tl_gen_##gen,
    TL_TYPED_OPS(OP)
#undef OP
};

// --- Entry and exits --------------------------------------------------------

// Facts go home as well as into their registers: after a call they come from
// there. Tags of arrays were compared by C (has_types in jit.c), so their
// descriptors are read unchecked. Slots without a register are at home already.
//
//     slot ─▶ tl_array:  data ─▶ items      facts: data, dims[0] to dims[2]
static void prologue(emitter *e) {
  const tl_jit_unit *u = e->unit;
  e->unit->has_record = needs_record(u);
  if (u->has_record && u->is_function) {
    write_word(e, SLOTS, RECORD, offsetof(tl_frame, base));
    write_owner(e, u, 0, true);
  }
  open_frame(e);
  for (uint32_t k = 0; k < u->array_count; k++) {
    int facts = TL_JIT_FACTS + TL_JIT_FACTS_EACH * (int)k;
    int rank = (int)(u->arrays[k].tag >> 24 & 7);
    read_word(e, T0, SLOTS, u->arrays[k].slot * 16 + 8);
    for (int i = 0; i <= rank; i++) {
      int32_t field = i == 0 ? (int32_t)offsetof(tl_array, data)
                             : (int32_t)offsetof(tl_array, dims) + 8 * (i - 1);
      int to = into(e, facts + i, T1);
      read_word(e, to, T0, field);
      tl_jit_store(e, to, facts + i);
    }
  }
  load_entry(e, true);
}

// The tags of what an exit writes back, whose payloads are there. A slot's tag
// in memory is that of the entry or older until then, and nobody reads it
// before. The owned bit is part of what is written: a slot that a reference
// moved to owns it from here on. The slot that it left is dead, and its tag
// stays, as behind the interpreter's own moves. Then the call record stands at
// the exit's instruction, and the unit ends. The address of the instruction
// stands in the code: a function's bytecode stays where it is as long as its
// units do.
static void leave(emitter *e, const tl_jit_exit *exit) {
  write_tags(e, exit, ~UINT64_C(0), true);
  write_pc(e, exit->pc);
  end_left(e);
}

// The exit's code, made when it is first jumped to. Place 0 is that of the
// prologue, or of the first operation, and never an exit's.
static uint32_t emit_exit(emitter *e, int32_t number) {
  uint32_t *at = &e->exit_at[number];
  if (*at != 0)
    return *at;
  *at = e->as.size;
  const tl_jit_exit *exit = &e->code->exits[number];
  move_slots(e, exit->slots, exit->types, false);
  if (exit->did >= 0) {
    const tl_ins *did = &e->unit->function->code[exit->did];
    set_constant(e, T0, (int64_t)(intptr_t)did);
    set_constant(e, T1, (int64_t)(intptr_t)&e->code->vm->jit->did);
    write_word(e, T0, T1, 0);
  }
  write_word(e, RECORD, MACHINE, offsetof(tl_vm, frame));
  leave(e, exit);
  return *at;
}

// A callee has left: its record lacks who it is. RECORD is the caller's own
// again, and the callee's is the one above it. vm->frame was set by the unit
// that left first, the innermost one, and is not touched here. Payloads are in
// their slots since the call.
static uint32_t emit_within(emitter *e, int32_t op) {
  const tl_typed *t = &e->code->ops[op];
  const tl_jit_exit *exit = &e->code->exits[t->imm];
  uint32_t at = e->as.size;
  write_owner(e, t->callees[0], sizeof(tl_frame), t->callees[1] == NULL);
  leave(e, exit);
  return at;
}

// Everything in registers to the stack, or back from there. In the order of the
// unit's registers, from the stack's end on: the same both times.
static void move_registers(emitter *e, bool back) {
  int at = 0;
  for (int r = 0; r < TL_JIT_REGISTERS; r++)
    if (e->reg[r] >= 0)
      back ? read_payload(e, is_float(r), e->reg[r], TL_SP, 8 * at++)
           : write_payload(e, is_float(r), e->reg[r], TL_SP, 8 * at++);
}

// More fuel for a unit that ran out of it; 0 after tl_fail. All of it is in one
// place while a unit runs. Nothing in it may run a script, ask for memory or
// look at the slots: their tags are not right.
static int32_t refuel(tl_vm *vm) {
  vm->jit->has_polled = true;
  // The pages have to go: the interpreter goes on, with the same poll. Who asks
  // what the run is at looks at slots: it polls there as well.
  if (vm->jit->is_off ||
      (atomic_load_explicit(&vm->interrupted, memory_order_relaxed) &
       TL_ASKED) != 0)
    return 0;
  vm->jit->is_refused = !tl_refuel(vm);
  int32_t fuel = vm->fuel + vm->fuel_aside;
  vm->fuel_aside = 0;
  return vm->jit->is_refused ? 0 : fuel;
}

// The fuel ran out: asks C for more, and goes on behind [after]; where there is
// none, an error is pending.
static uint32_t emit_poll(emitter *e, int32_t exit, uint32_t after) {
  const int32_t room = (8 * (INTS + FLOATS) + 15) & ~15;
  uint32_t at = e->as.size;
  open_room(e, room);
  move_registers(e, false);
  move_int(e, ARG0, MACHINE);
  call_c(e, (intptr_t)refuel);
  cut(e, TL_UINT32, FUEL, T0);
  move_registers(e, true);
  close_room(e, room);
  compare_constant(e, FUEL, 0);
  jump_back(e, TL_CC_NE, after);
  jump(e, FIX_EXIT, exit);
  return at;
}

// The constant of an operation, behind the code: 8 bytes, which pages of code
// let be read. Each has its own copy, as few are used twice.
static uint32_t emit_data(emitter *e, int32_t op) {
  uint32_t at = e->as.size;
  tl_as_put(&e->as, (uint64_t)e->code->ops[op].imm, 8);
  return at;
}

// Where a fix goes; what is not there yet is made. Exits and polls are appended
// behind all that is there. FIX_SELF is the unit's first byte.
static uint32_t target_of(emitter *e, const fix *f) {
  switch ((fix_kind)f->kind) {
    case FIX_LABEL:
      return e->label_at[f->to];
    case FIX_EXIT:
      return emit_exit(e, f->to);
    case FIX_POLL:
      return emit_poll(e, f->to, f->at + 4);
    case FIX_WITHIN:
      return emit_within(e, f->to);
    case FIX_DATA:
      return emit_data(e, f->to);
    case FIX_UNDONE:
      return emit_undone(e, f->to);
    default:
      return 0;
  }
}

// Appends operations up to number [to], with the choices among them.
static void append_ops(emitter *e, uint32_t from, uint32_t to) {
  while (from < to) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->left_out; i++)
      count |= e->leaves_out[i] == from;
    if (count == 0)
      count = tl_jit_emit_choice(e, from);
    if (count == 0)
      count = tl_jit_emit_turns(e, from);
    if (count == 0)
      emits[e->code->ops[from].op](e, &e->code->ops[from]);
    from += count == 0 ? 1 : count;
  }
}

// One block for all tables of the emitter; false: no memory. No operation has
// more than 24 jumps: a store into a place of three steps has the most, with
// up to seven tests for each.
static bool open_emitter(emitter *e, tl_jit_code *code) {
  uint32_t labels = code->label_count, exits = code->exit_count;
  *e = (emitter){.code = code,
                 .unit = code->unit,
                 .as = {.vm = code->vm},
                 .fix_capacity = 24 * code->op_count + 8};
  e->frame_size = 8 * (TL_JIT_FACTS_EACH * code->unit->array_count +
                       (uint32_t)code->row_count);
  // Behind the facts, and behind the labels, what loops in turns need.
  e->lent_at = (int32_t)e->frame_size;
  e->next_label = (int32_t)labels;
  for (uint32_t i = 0; i < code->op_count; i++)
    labels += code->ops[i].op == TL_TYPED_CHUNK;
  if (labels > code->label_count)
    e->frame_size += 8 * (MOST_LENT + MOST_LEFT_OUT);
  e->nbytes =
      (labels + exits) * sizeof(uint32_t) + e->fix_capacity * sizeof(fix);
  e->block = tl_spare_alloc(code->vm, e->nbytes);
  if (e->block == NULL)
    return false;
  memset(e->block, 0, (labels + exits) * sizeof(uint32_t));
  e->label_at = e->block;
  e->exit_at = e->label_at + labels;
  e->fixes = (fix *)(void *)(e->exit_at + exits);
  e->append = append_ops;
  assign(e);
  return true;
}

// Operations first, then what they jump to that is not there yet. Exits may
// jump to exits, so the table grows while it is walked. The unit's size is set
// even on failure; its code is NULL then.
bool tl_jit_emit(tl_jit_code *code) {
  emitter e;
  if (!open_emitter(&e, code))
    return false;
  prologue(&e);
  append_ops(&e, 0, code->op_count);
  // Exits have jumps of their own, so the number grows on the way.
  for (uint32_t i = 0; i < e.fix_count && !e.as.is_full; i++) {
    fix f = e.fixes[i];
    uint32_t to = target_of(&e, &f);
    if (!e.as.is_full)
      aim(&e, &f, to);
  }
  tl_jit *jit = code->vm->jit;
  if (!e.as.is_full && !e.declines)
    code->unit->code =
        tl_code_put(code->vm, &jit->chunks, e.as.bytes, e.as.size);
  code->unit->size = e.as.size;
  tl_as_close(&e.as);
  tl_spare_free(code->vm, e.block, e.nbytes);
  return code->unit->code != NULL || e.declines;
}

#else

// No emitter for this processor: nobody makes a unit.
bool tl_jit_emit(tl_jit_code *code) {
  (void)code;
  return false;
}
void *tl_jit_make_door(tl_vm *vm) {
  (void)vm;
  return NULL;
}

#endif
