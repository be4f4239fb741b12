// Units: finding, making, entering and forgetting them.
//
//     tl_jit_enter ─▶ learn        what the frame is about to read; units that
//          │            │          did not expect it go
//          ▼            ▼
//       unit_for ──▶ compile ─▶ find_callee ─▶ compile …      of its calls
//          │
//          ▼
//         run ──▶ door ─▶ code of units, calling one another
//          │
//          └────▶ learn, of where it left
//
// Code runs within `run` alone. All that makes or frees units happens before or
// behind that, so no return address on C's stack leads into code that is gone.
// An instruction that C does for a unit may ask for memory, at whose limit code
// is dropped: it is no longer counted then, and goes when the unit has left.
#include "vm/native/jit_internal.h"
#include "vm/native/pieces.h"

#include "vm/bytecode/slots.h"
#include "vm/memory/memory_internal.h"
#include "vm/poll.h"

// The build has an emitter for this processor, and the system lets pages that
// were written be run.
bool tl_jit_is_available(void) {
  return TL_HAS_JIT && tl_code_may_run();
}

enum {
  // Units for one place, of different types. Each further combination of types
  // at one place would pay for its compilation less often.
  MOST_AT = 4,
  // Bounds what a script that makes functions at run time can have compiled.
  MOST_UNITS = 4096,
  // Compiling a call compiles its callee, on C's stack; deeper callees have to
  // come to a door of their own first.
  MOST_NESTING = 16,
  // Polls that make an entry worth its cost; a unit is given up after so many
  // entries when more than half of them had fewer.
  SHORT = 4,
  PATIENCE = 64,
  // A unit that was given up is tried once more at each so many doors.
  RETRY = 16,
  // Polls after the first one at which nothing ran.
  FIRST_WAIT = 7,
  // Compiling so many bytes takes as long as a poll that the interpreter does
  // is longer than one of a unit; entering one that leaves is so many polls.
  BYTES_OF_POLL = 32,
  POLLS_OF_ENTRY = 16,
  // So much is learned at once: what a function reads first it mostly reads
  // again.
  FREE_POLLS = 600,
  // Native calls take a few bytes of C's stack each: so many at most.
  MOST_CALLS = 4096,
};

// --- Making -----------------------------------------------------------------

// Frees a list of units with their code. Where the chunks are gone already,
// since values needed their memory, only the records are left of them.
static void free_units(tl_vm *vm, tl_jit_unit *unit) {
  while (unit != NULL) {
    tl_jit_unit *next = unit->next;
    if (unit->code != NULL)
      tl_code_drop(vm->jit->chunks, unit->code);
    tl_spare_free(vm, unit, sizeof *unit);
    vm->jit->unit_count--;
    unit = next;
  }
}

// Takes the units out of the list at [at] that are called as values, whoever
// does that: such have a cell of the unit's to compare, which tells them that
// the function is gone, until they are freed.
static void leave_orphans(tl_vm *vm, tl_jit_unit **at) {
  tl_jit *jit = vm->jit;
  while (*at != NULL) {
    tl_jit_unit *unit = *at;
    if (!unit->owns) {
      at = &unit->next;
      continue;
    }
    *at = unit->next;
    if (unit->code != NULL)
      tl_code_drop(jit->chunks, unit->code);
    unit->code = NULL;
    unit->function = NULL;
    unit->is_stale = jit->has_stale = true;
    unit->next = jit->orphans;
    jit->orphans = unit;
  }
}

// The function's unit of code is about to be freed: what was made of it goes.
// No frame of it is under way then, so nobody is within its code. Units that
// call it without a look at it are of the same unit of code (CALLK names no
// other functions) and go in the same breath.
static void forget(tl_vm *vm, struct tl_kept *kept) {
  tl_jit_function *f = (tl_jit_function *)kept;
  f->function->machine_code = NULL;
  leave_orphans(vm, &f->units);
  free_units(vm, f->units);
  if (f->flow != NULL)
    tl_spare_free(vm, f->flow, f->flow->nbytes);
  *(f->previous != NULL ? &f->previous->next : &vm->jit->functions) = f->next;
  if (f->next != NULL)
    f->next->previous = f->previous;
  tl_spare_free(vm, f, sizeof *f);
}

// NULL: no memory. The function's record, made when it is first wanted. A
// function that is too large has one, too, without flow, so that it is not read
// again.
static tl_jit_function *function_of(tl_vm *vm, tl_prototype *p) {
  if (p->machine_code != NULL)
    return (tl_jit_function *)p->machine_code;
  tl_jit_function *f = tl_spare_alloc(vm, sizeof *f);
  if (f == NULL)
    return NULL;
  *f = (tl_jit_function){.kept = {.free = forget},
                         .number = ++vm->jit->last_number,
                         .next = vm->jit->functions,
                         .function = p,
                         .flow = tl_jit_read_flow(vm, p),
                         .owed = -FREE_POLLS};
  if (f->next != NULL)
    f->next->previous = f;
  vm->jit->functions = f;
  p->machine_code = &f->kept;
  return f;
}

// A function's unit for arguments of these tags, borrowed from the function;
// with [make] one is compiled where there is none. NULL: there is none. It is
// declared here since compiling a unit asks for those that it calls.
static tl_jit_unit *find_callee(tl_vm *vm, tl_prototype *function,
                                const uint64_t *tags, bool owns, bool make);

// Types, checks and emits. A unit that fails is empty; where others call it
// already, or memory is refused, there is no machine code from now on. The unit
// is open meanwhile, so that a recursive call finds it instead of making
// another. What the check refuses is a fault of the typing pass, hence the
// assertion; a build without assertions leaves the function to the interpreter.
static void compile(tl_vm *vm, tl_jit_function *f, tl_jit_unit *unit) {
  tl_jit *jit = vm->jit;
  tl_jit_code code;
  uint32_t at;
  unit->is_open = true;
  uint64_t strong = *f->flow->strong;
  bool ok = tl_jit_code_open(&code, vm, unit, f->flow);
  ok = ok && tl_jit_type_unit(&code, find_callee);
  if (ok && tl_jit_check(&code, &at) != NULL) {
    TL_CHECK(false);
    ok = false;
  }
  if (ok && !tl_jit_emit(&code))
    jit->is_off = true;
  tl_jit_code_close(&code);
  unit->is_open = false;
  f->owed += unit->size / BYTES_OF_POLL;
  f->has_learned |= strong != *f->flow->strong;
  unit->is_empty = unit->code == NULL;
  if (unit->is_function && unit->is_empty) {
    unit->result = TL_TYPE_UNKNOWN;
    jit->is_off |= unit->is_called;
  }
}

// A new unit of the function; NULL: there are too many, or no memory. A unit
// that turns out empty stays in the list, so that the same types are not tried
// again.
static tl_jit_unit *add_unit(tl_vm *vm, tl_jit_function *f, uint32_t pc) {
  tl_jit *jit = vm->jit;
  if (f->flow == NULL || jit->unit_count == MOST_UNITS)
    return NULL;
  tl_jit_unit *unit = tl_spare_alloc(vm, sizeof *unit);
  if (unit == NULL)
    return NULL;
  *unit = (tl_jit_unit){.next = f->units,
                        .function = f->function,
                        .pc = pc,
                        .results = &f->flow->made[2 * f->flow->count]};
  f->units = unit;
  jit->unit_count++;
  return unit;
}

// Whether the function's unit was made for arguments of those tags. Weak and
// not weak are two types here, and so are owned and borrowed: an argument that
// is owned is the callee's to update in place, and to end.
static bool takes(const tl_jit_unit *unit, const uint64_t *tags, bool owns) {
  return unit->owns == owns &&
         memcmp(unit->tags, tags, unit->function->param_count * sizeof *tags) ==
             0;
}

tl_prototype *tl_jit_find_function(const tl_vm *vm, uint64_t number) {
  const tl_jit_function *f = vm->jit == NULL ? NULL : vm->jit->functions;
  while (f != NULL && f->number != number) f = f->next;
  return f == NULL ? NULL : f->function;
}

// The typing pass calls this for each call of a known function, and it calls
// the typing pass for the callee: mutual recursion is as deep as calls are in
// the source, bounded by MOST_NESTING. A recursive function finds its own unit
// open; that its code comes to an end is then owed to its caller, which is why
// compile gives all up when it does not.
static tl_jit_unit *find_callee(tl_vm *vm, tl_prototype *function,
                                const uint64_t *tags, bool owns, bool make) {
  tl_jit *jit = vm->jit;
  tl_jit_function *f = function_of(vm, function);
  tl_jit_unit *unit = f == NULL ? NULL : f->units;
  while (unit != NULL && !(unit->is_function && takes(unit, tags, owns)))
    unit = unit->next;
  if (unit == NULL && make && f != NULL && !jit->is_off &&
      function->verified == 1 && jit->nesting < MOST_NESTING &&
      (unit = add_unit(vm, f, 0)) != NULL) {
    unit->is_function = true;
    unit->owns = owns;
    unit->live = (UINT64_C(1) << function->param_count) - 1;
    memcpy(unit->tags, tags, function->param_count * sizeof *tags);
    jit->nesting++;
    compile(vm, f, unit);
    jit->nesting--;
  }
  if (unit == NULL || unit->is_empty)
    return NULL;
  unit->is_called |= unit->is_open;
  return unit;
}

// --- Entering ---------------------------------------------------------------

// Whether the frame's slots have the types that the unit was made for. Of
// scalars and of what is not touched the types suffice, while arrays whose
// items are used, and what is read as a reference, need all of their tag.
static bool has_types(const tl_jit_unit *unit, const tl_frame *frame) {
  const tl_slot *base = frame->base;
  for (uint64_t read = unit->live | unit->pinned; read != 0; read &= read - 1) {
    int s = __builtin_ctzll(read);
    if (base[s].tag != unit->tags[s] &&
        ((unit->pinned >> s & 1) != 0 ||
         tl_jit_type_of(base[s].tag) != tl_jit_type_of(unit->tags[s])))
      return false;
  }
  for (uint32_t i = 0; i < unit->array_count; i++)
    if (base[unit->arrays[i].slot].tag != unit->arrays[i].tag)
      return false;
  return true;
}

// Arrays that are written have one owner, the slot; nothing in a unit changes
// that: references move or are borrowed there, and neither counts. What is not
// in its slot since the entry is tested at each store instead (emit_places.c).
// Where another owner shows up the interpreter has to copy the array
// first; then the slot has a copy of its own, and a later entry passes.
static bool owns_alone(const tl_jit_unit *unit, const tl_slot *base) {
  for (uint32_t i = 0; i < unit->array_count; i++)
    if (unit->arrays[i].is_written &&
        base[unit->arrays[i].slot].object->count != 1)
      return false;
  return true;
}

// The unit for the frame as it is, made if there is none; NULL: no memory, or
// there are too many for this place. Only tags of live slots are taken: others
// may be left from anything.
static tl_jit_unit *unit_for(tl_vm *vm, const tl_frame *frame) {
  tl_prototype *p = frame->function;
  tl_jit_function *f = function_of(vm, p);
  if (f == NULL || f->flow == NULL)
    return NULL;
  uint32_t pc = (uint32_t)(frame->pc - p->code), count = 0;
  for (uint32_t s = 0; *f->flow->strong != 0 && s < p->slot_count; s++)
    frame->base[s] = tl_jit_settle(f->flow, pc, s, frame->base[s]);
  for (tl_jit_unit *unit = f->units; unit != NULL; unit = unit->next) {
    if (unit->is_function || unit->pc != pc)
      continue;
    if (has_types(unit, frame))
      return unit;
    count++;
  }
  tl_jit_unit *unit = count < MOST_AT ? add_unit(vm, f, pc) : NULL;
  if (unit == NULL)
    return NULL;
  unit->live = f->flow->live[pc];
  unit->runs_before = f->flow->runs[pc];
  f->flow->runs[pc] = 0;
  for (uint32_t s = 0; s < p->slot_count; s++)
    if ((unit->live >> s & 1) != 0)
      unit->tags[s] = frame->base[s].tag;
  if (frame->closure != NULL)
    tl_jit_learn_captures(f->flow, frame->function, frame->closure);
  compile(vm, f, unit);
  return unit;
}

// Where most entries soon leave, the next poll is not worth asking at: a loop
// of three iterations, say. Once in a while one is entered nevertheless, as the
// same loop may run long when it is given more; then it is no longer given up.
// With --native=always no unit is, so that tests enter wherever they can.
static bool is_given_up(const tl_vm *vm, const tl_jit_unit *unit) {
  return unit->short_runs > PATIENCE && unit->short_runs > unit->runs / 2 &&
         !vm->every_poll;
}

// How many calls deep a unit may go from the frame: for the sake of C's stack,
// of the records that are left, and of the slots. So a call compares one
// number.
//
//     base ─▶ step │ step │ … │ slots of the last callee      stack_end
static ptrdiff_t most_calls(const tl_vm *vm, const tl_frame *frame) {
  const tl_jit *jit = vm->jit;
  ptrdiff_t most = vm->frames_end - 1 - frame;
  ptrdiff_t room = vm->stack_end - frame->base - (ptrdiff_t)jit->most_slots;
  if (jit->most_step > 0 && room / jit->most_step < most)
    most = room / jit->most_step;
  return most < 0 ? 0 : most < MOST_CALLS ? most : MOST_CALLS;
}

// Whether the unit calls one that is out of date. What it calls is what was
// added while it was typed, and may be more than its code has.
static bool calls_stale(const tl_jit_unit *unit) {
  for (uint32_t i = 0; i < unit->callee_count; i++)
    if (unit->callees[i]->is_stale)
      return true;
  return false;
}

// Marks units that call one that is out of date. Whether there were any: the
// caller repeats it until there are none, as calls may be many functions deep.
// Nothing has been freed by then, so all pointers to callees are good.
static bool spread(tl_jit *jit) {
  bool any = false;
  for (tl_jit_function *f = jit->functions; f != NULL; f = f->next)
    for (tl_jit_unit *unit = f->units; unit != NULL; unit = unit->next)
      if (!unit->is_stale && calls_stale(unit))
        any = unit->is_stale = true;
  return any;
}

// Takes the units that are out of date out of the function's list, and frees
// them. How often they ran is kept for the report; that they were given up is
// forgotten.
static void free_stale(tl_vm *vm, tl_jit_function *f) {
  tl_jit_unit **at = &f->units;
  while (*at != NULL) {
    tl_jit_unit *unit = *at;
    if (!unit->is_stale) {
      at = &unit->next;
      continue;
    }
    f->flow->runs[unit->pc] += (uint32_t)(unit->runs + unit->runs_before);
    *at = unit->next;
    unit->next = NULL;
    free_units(vm, unit);
  }
}

// Makes the function's units anew that others call, in their places, so that
// those need not be made again; false: one of them has another result now, or
// none, or keeps its record where it did not.
static bool remake(tl_vm *vm, tl_jit_function *f) {
  for (tl_jit_unit *unit = f->units; unit != NULL; unit = unit->next) {
    if (!unit->is_function || unit->code == NULL)
      continue;
    tl_jit_unit before = *unit;
    unit->code = NULL;
    unit->is_called = false;
    compile(vm, f, unit);
    tl_code_drop(vm->jit->chunks, before.code);
    if (unit->is_empty || unit->result != before.result ||
        (unit->has_record && !before.has_record))
      return false;
  }
  return true;
}

// Whether a unit that others call does not say what it gives.
static bool lacks_result(const tl_jit_function *f) {
  const tl_jit_unit *unit = f->units;
  while (unit != NULL &&
         !(unit->is_function && unit->result == TL_TYPE_UNKNOWN))
    unit = unit->next;
  return unit != NULL;
}

// The function of a value that is about to be called gets its record, whose
// number the caller's flow will have. What its first unit will read of the
// closure is learned here, since no frame of it comes by.
static void note_called(tl_vm *vm, tl_slot called) {
  if (!tl_is_script(called))
    return;
  tl_prototype *p = tl_function_prototype(called);
  tl_jit_function *f = function_of(vm, p);
  if (f != NULL && f->flow != NULL && tl_is_kind(called, TL_KIND_CLOSURE))
    tl_jit_learn_captures(f->flow, p, called.pointer);
}

// How a frame comes to be looked at: a unit is to be entered in it, was left in
// it, or was left in a function that the unit had called.
enum way { ENTERS, LEAVES, LEAVES_CALLED };

// Looks at what the frame is about to read, and at what the instruction [did]
// has made, if that came before (NULL: none did); else at why a unit has left
// there. Where that is new, the function's units go, since it is not known
// which of them come by the instruction; they are made again when a poll asks.
// Those that others call are made again, in their places, when one of them is
// left; where that fails all go that call them, so that nobody is left who has
// a pointer to one. No unit is running. Each instruction teaches a few times at
// most, so this comes to an end.
static void learn(tl_vm *vm, const tl_frame *frame, const tl_ins *did,
                  enum way way) {
  const tl_ins *pc = frame->pc, *code = frame->function->code;
  const tl_ins *end = code + frame->function->code_count;
  tl_jit_function *f = (tl_jit_function *)frame->function->machine_code;
  if (f == NULL || f->flow == NULL || pc < code || pc >= end)
    return;
  uint8_t varied = f->flow->varies[0];
  if (pc->op == TL_BC_CALL)
    note_called(vm, frame->base[pc->b >> 4]);
  bool is_new = did >= code && did < end &&
                (tl_jit_learn_made(f->flow, frame, did) ||
                 (vm->jit->has_gone && tl_jit_learn_span(f->flow, frame, did)));
  is_new |= tl_jit_learn(f->flow, frame);
  // Where a loop's function returns the unit ends; of one that was called C may
  // do what makes the result an owner.
  bool ends = frame->pc->op == TL_BC_RET && way != LEAVES_CALLED;
  is_new |= did == NULL && !is_new && way != ENTERS && !ends &&
            tl_jit_learn_detour(f->flow, frame);
  bool stays = varied == f->flow->varies[0];
  f->is_behind |= is_new;
  f->has_learned |= is_new;
  if (!f->has_learned && !(way == LEAVES_CALLED && f->is_behind))
    return;
  if (f->owed > 0 && !vm->every_poll && stays && !lacks_result(f))
    return;
  // Units that were not left go on as they are until they are; but nobody calls
  // one whose result is not known.
  if (way == LEAVES_CALLED || !stays || lacks_result(f)) {
    stays = stays && remake(vm, f);
    f->is_behind = false;
  }
  f->has_learned = false;
  for (tl_jit_unit *unit = f->units; unit != NULL; unit = unit->next)
    unit->is_stale = !unit->is_function || !stays || unit->is_empty;
  while (spread(vm->jit)) {
  }
  vm->jit->has_stale = true;
}

// So many polls of the function's have come, or have been waited for.
static void pay(const tl_prototype *function, int32_t polls) {
  tl_jit_function *f = (tl_jit_function *)function->machine_code;
  if (f != NULL)
    f->owed -= polls;
}

// Frees all units that are out of date. That waits for the next door, so that
// what ran last is still there to be told and listed.
static void free_all_stale(tl_vm *vm) {
  if (!vm->jit->has_stale)
    return;
  vm->jit->has_stale = false;
  while (vm->jit->orphans != NULL && spread(vm->jit)) {
  }
  for (tl_jit_function *f = vm->jit->functions; f != NULL; f = f->next)
    free_stale(vm, f);
  free_units(vm, vm->jit->orphans);
  vm->jit->orphans = NULL;
}

// Frees the pages of all code, none of which is running.
static void drop_chunks(tl_vm *vm) {
  tl_code_close(vm, vm->jit->chunks);
  vm->jit->chunks = NULL;
  vm->jit->door = NULL;
}

// A unit has left as its calls had come to their bound: next time there is room
// for twice as many, where that makes nothing else go. The interpreter, which
// needs fewer slots for most calls than units reckon with, might never ask.
static void make_room(tl_vm *vm) {
  const struct tl_memory *memory = vm->memory;
  size_t limit = vm->options.memory_limit;
  size_t slots = (size_t)(vm->stack_end - vm->stack);
  uint64_t all = tl_live_now(vm) + memory->code_bytes +
                 slots * (sizeof(tl_slot) + sizeof(tl_frame));
  if (memory->ceiling == 0 && (limit == 0 || all < limit) &&
      !tl_slots_reserve(vm, vm->stack_end + 1, vm->frames_end))
    tl_error_clear(vm);
}

// Runs the unit in the frame. Before it all fuel is put together, so that the
// unit counts down one number; behind it the fuel is split again. Calls of the
// unit are bounded here, too: beyond, it leaves at the call, and the
// interpreter makes it.
static tl_jit_status run(tl_vm *vm, tl_frame *frame, tl_jit_unit *unit) {
  tl_jit *jit = vm->jit;
  const tl_ins *entry = frame->pc;
  int32_t before = vm->fuel + vm->fuel_aside;
  vm->fuel = before;
  vm->fuel_aside = 0;
  vm->native_end = frame + most_calls(vm, frame);
  jit->has_polled = jit->is_refused = jit->has_failed = jit->has_gone = false;
  jit->did = NULL;
  jit->is_running = true;
  jit->door(vm, frame->base, frame, unit->code);
  jit->is_running = false;
  bool is_deep = vm->frame == vm->native_end;
  vm->native_end = NULL;
  if (jit->is_off)
    drop_chunks(vm);
  unit->runs++;
  // Of a run that has polled the last fuel alone is known; and what C did may
  // have filled it up again, from an instruction budget.
  int32_t polls = before - vm->fuel + (jit->has_polled ? TL_FUEL : 0);
  polls = polls < 0 ? 0 : polls;
  bool is_short = !jit->has_polled && polls < SHORT;
  unit->short_runs = is_short                ? unit->short_runs + 1
                     : is_given_up(vm, unit) ? 0
                                             : unit->short_runs;
  const tl_frame *left = vm->frame;
  unit->left_at = (uint32_t)(left->pc - left->function->code);
  unit->left_in = left->function;
  pay(frame->function, POLLS_OF_ENTRY + polls);
  if (left != frame)
    pay(left->function, POLLS_OF_ENTRY + polls);
  // Without fuel it also leaves for the interpreter to poll.
  if (jit->is_refused || vm->fuel == 0) {
    tl_give_fuel(vm, 1, 1);
    return jit->is_refused ? TL_JIT_FAILED : TL_JIT_LEFT;
  }
  // Where it left at once, the same poll would only come back to it.
  bool moved = polls > 0 || left != frame || left->pc != entry;
  tl_give_fuel(vm, vm->fuel, moved && !is_given_up(vm, unit) ? 1 : TL_FUEL);
  jit->wait = FIRST_WAIT;
  if (jit->has_failed)
    return TL_JIT_FAILED;
  if (is_deep && left - frame < MOST_CALLS)
    make_room(vm);
  learn(vm, left, jit->did, left == frame ? LEAVES : LEAVES_CALLED);
  return TL_JIT_LEFT;
}

// Nothing runs here. The next poll at which machine code is asked for is a few
// ahead, and twice as many each time that this happens in a row, so that code
// of which nothing can be made pays little. Their numbers are odd: loops
// of which one poll in a power of two is at a place like this are soon met at
// another. They are above 1, as the poll of this instruction may be done anew.
static tl_jit_status pass_by(tl_vm *vm, const tl_frame *frame) {
  tl_jit *jit = vm->jit;
  if (vm->every_poll)
    return TL_JIT_NOT;
  pay(frame->function, jit->wait);
  tl_give_fuel(vm, vm->fuel + vm->fuel_aside, jit->wait);
  jit->wait = jit->wait < TL_FUEL ? 2 * jit->wait + 1 : jit->wait;
  return TL_JIT_NOT;
}

// Code that was not verified is not entered, since types are what the verifier
// has proven of slots. The door is made here and copied as bytes: ISO C has no
// cast from an object's address to a function's.
tl_jit_status tl_jit_enter(tl_vm *vm, tl_frame *frame) {
  tl_jit *jit = vm->jit;
  if (jit->is_off || jit->is_running || frame->function->verified != 1 ||
      (vm->counting && !jit->while_counting) || (jit->has_short && jit->notes))
    return TL_JIT_NOT;
  if (jit->door == NULL) {
    void *door = tl_jit_make_door(vm);
    jit->is_off = door == NULL;
    if (jit->is_off)
      return TL_JIT_NOT;
    memcpy(&jit->door, &door, sizeof door);
  }
  free_all_stale(vm);
  learn(vm, frame, NULL, ENTERS);
  free_all_stale(vm);
  tl_jit_unit *unit = unit_for(vm, frame);
  if (unit == NULL || jit->is_off || unit->is_empty ||
      (is_given_up(vm, unit) && ++unit->doors % RETRY != 0) ||
      !owns_alone(unit, frame->base))
    return pass_by(vm, frame);
  return run(vm, frame, unit);
}

// --- Life -------------------------------------------------------------------

// Values need the memory: the interpreter does all from now on. What is running
// leaves at its next poll at the latest, and keeps its pages until then.
static void drop_code(tl_vm *vm) {
  tl_jit *jit = vm->jit;
  tl_pieces_drop(vm);
  jit->is_off = true;
  tl_code_forgo(vm, jit->chunks);
  if (!jit->is_running)
    drop_chunks(vm);
}

// A page is tried for each VM: a process may give up the right to make pages
// executable between two of them.
void tl_jit_open(tl_vm *vm) {
  if (vm->options.native == TALLY_NATIVE_OFF || !tl_jit_is_available())
    return;
  vm->jit = tl_spare_alloc(vm, sizeof *vm->jit);
  if (vm->jit == NULL)
    return;
  *vm->jit = (tl_jit){.wait = FIRST_WAIT, .last_number = TL_JIT_MANY};
  vm->pieces = TL_JIT_X64 ? &tl_pieces : NULL;
  vm->memory->drop_code = drop_code;
  vm->every_poll = vm->options.native == TALLY_NATIVE_ALWAYS;
}

// Without machine code there is nothing to enter, whatever is asked for.
void tl_jit_while_counting(tl_vm *vm, bool enters, bool notes) {
  if (vm->jit == NULL)
    return;
  vm->jit->while_counting = enters;
  vm->jit->notes = notes;
}

// Functions have freed their units by `forget`, so only chunks are left. Twice
// does no harm.
void tl_jit_close(tl_vm *vm) {
  if (vm->jit == NULL)
    return;
  tl_pieces_close(vm);
  free_units(vm, vm->jit->orphans);
  tl_code_close(vm, vm->jit->chunks);
  tl_spare_free(vm, vm->jit, sizeof *vm->jit);
  vm->jit = NULL;
}

// --- Telling ----------------------------------------------------------------

// Functions come in the order in which they were first asked for.
static const tl_jit_function *oldest(const tl_vm *vm) {
  const tl_jit_function *f = vm->jit == NULL ? NULL : vm->jit->functions;
  while (f != NULL && f->next != NULL) f = f->next;
  return f;
}

// The operations are typed once more, which gives the same again unless hints
// of fields or types of variables have changed since. Of a unit whose callee
// has not been made that makes it, though nothing runs.
static bool type_again(tl_vm *vm, const tl_jit_function *f, tl_jit_unit *unit,
                       void (*each)(void *context, const tl_jit_code *),
                       void *context) {
  if (unit->code == NULL)
    return true;
  tl_jit_code code;
  tl_jit_unit copy = *unit;
  bool ok = tl_jit_code_open(&code, vm, &copy, f->flow) &&
            tl_jit_type_unit(&code, find_callee);
  if (ok)
    each(context, &code);
  tl_jit_code_close(&code);
  return ok;
}

// The list is newest first, and the previous links go from the oldest on.
bool tl_jit_each_code(tl_vm *vm,
                      void (*each)(void *context, const tl_jit_code *),
                      void *context) {
  for (const tl_jit_function *f = oldest(vm); f != NULL; f = f->previous)
    for (tl_jit_unit *unit = f->units; unit != NULL; unit = unit->next)
      if (!type_again(vm, f, unit, each, context))
        return false;
  return true;
}

// Units that were only called have no runs, and no report: their caller's
// stands for them.
void tl_jit_each(tl_vm *vm,
                 void (*each)(void *context, const tl_jit_report *report),
                 void *context) {
  for (const tl_jit_function *f = oldest(vm); f != NULL; f = f->previous)
    for (const tl_jit_unit *unit = f->units; unit != NULL; unit = unit->next)
      if (unit->runs > 0) {
        tl_jit_report report = {.function = f->function,
                                .pc = unit->pc,
                                .runs = unit->runs + unit->runs_before,
                                .is_given_up = is_given_up(vm, unit),
                                .left_in = unit->left_in,
                                .left_at = unit->left_at};
        each(context, &report);
      }
}
