// Following a run for a debugger: see debug.h.
//
// A line begins where an instruction has another line than the one before it in
// the same frame, or where a jump leads back; behind a call the line goes on
// that it stands in.
//
// Built for size.
#include "vm/observe/debug.h"

#include "vm/bytecode/module.h"
#include "vm/verify/verify.h"

// --- Lines ------------------------------------------------------------------

// Lines were noted for each instruction where the code was compiled for a
// debugger; other code has a shorter table, which is searched.
uint32_t tl_debug_line(const tl_frame *frame) {
  const tl_prototype *p = frame->function;
  return p->lines != NULL ? p->lines[tl_frame_pc(frame)]
                          : tl_line_at(p, tl_frame_pc(frame));
}

// Tells the host of an event in the running frame. Borrows the value, which is
// none but for a return; a hook that wants the run to end is noted.
static void tell_of(tl_vm *vm, tally_debug_event event, tl_slot value) {
  tl_debug *d = vm->debug;
  const tl_frame *frame = vm->frame;
  tally_debug_info info = {.event = event,
                           .depth = (size_t)(frame - vm->frames),
                           .file = frame->function->unit->file->text,
                           .function = frame->function->name->text,
                           .line = (int)tl_debug_line(frame)};
  if (!d->tell(vm, &info, value))
    d->ending = true;
}

// Whether the instruction at [pc] begins a line, in a frame that is the last
// one's, or one that was returned to, or a new one.
static bool begins_line(const tl_debug *d, const uint32_t *lines, uint32_t pc,
                        ptrdiff_t depth) {
  if (lines[pc] == 0)
    return false;
  if (depth > d->depth || pc == 0)
    return true;
  if (depth < d->depth || d->returned)  // behind a call
    return d->told || (pc > 0 && lines[pc] != lines[pc - 1]);
  return lines[pc] != d->line || pc <= d->pc;
}

// Called for each instruction: what is usual comes first.
// Returns whether the run is to end here, once the hook has asked for it: only
// at an instruction that may fail, since the others have no way to an error.
bool tl_debug_before(tl_vm *vm) {
  tl_debug *d = vm->debug;
  const tl_frame *frame = vm->frame;
  if (vm->paused)
    return false;
  const uint32_t *lines = frame->function->lines;
  const tl_ins *ins = frame->pc;
  if (lines == NULL)
    return d->ending && tl_opcodes[ins->op].fails != TL_NEVER;
  uint32_t pc = tl_frame_pc(frame);
  ptrdiff_t depth = frame - vm->frames;
  bool calls = pc == 0 && (depth > d->depth || d->returned);
  bool begins = begins_line(d, lines, pc, depth), resumes = depth < d->depth;
  d->depth = depth;
  d->pc = pc;
  d->line = lines[pc];
  d->returned = ins->op == TL_BC_RET;
  if (!vm->error.set) {
    d->told = false;
    if (calls)
      tell_of(vm, TALLY_DEBUG_CALL, tl_none());
    if (begins && !d->ending)
      tell_of(vm,
              atomic_exchange(&d->asked, false) ? TALLY_DEBUG_PAUSE
                                                : TALLY_DEBUG_LINE,
              tl_none());
    else if (resumes && lines[pc] != 0 && !d->ending)
      tell_of(vm, TALLY_DEBUG_RESUME, tl_none());
    if (d->returned && lines[pc] != 0 && !d->ending)
      tell_of(vm, TALLY_DEBUG_RETURN,
              tl_borrow(*(tl_slot *)(void *)((char *)frame->base + ins->a)));
  }
  return d->ending && tl_opcodes[ins->op].fails != TL_NEVER;
}

// Whether a `catch` of a frame under way waits for the error. What a built-in
// takes is not seen.
static bool is_caught(const tl_vm *vm) {
  for (const tl_frame *f = vm->frame; f >= vm->frames; f--)
    if (f->function != NULL &&
        tl_catches_at(f->function, tl_frame_pc(f)) != TL_CATCHES_NOTHING)
      return true;
  return false;
}

// Tells of the pending error once, however many frames it then goes through.
// The error is put aside for as long as the hook runs, which may run code. One
// whose message is in the VM's own buffer tells of a lack of memory: with that
// nothing could be shown.
void tl_debug_raised(tl_vm *vm) {
  tl_debug *d = vm->debug;
  if (d->told || vm->paused || vm->error.is_final ||
      vm->error.message_size == 0)
    return;
  tl_pending_error error;
  tl_error_aside(vm, &error);
  tally_debug_info info = {.event = TALLY_DEBUG_RAISE,
                           .depth = (size_t)(vm->frame - vm->frames),
                           .file = vm->frame->function->unit->file->text,
                           .function = vm->frame->function->name->text,
                           .line = (int)tl_debug_line(vm->frame),
                           .kind = tl_pending_kind(&error),
                           .message = error.message,
                           .caught = is_caught(vm)};
  if (!d->tell(vm, &info, tl_none()))
    d->ending = true;
  tl_error_resume(vm, &error);
  d->told = true;
}

// --- Frames and variables ---------------------------------------------------

// Linear in the calls, which somebody reads one by one.
const tl_frame *tl_debug_frame(const tl_vm *vm, size_t index) {
  for (const tl_frame *f = vm->frame; vm->frames != NULL && f >= vm->frames;
       f--)
    if (f->function != NULL && !tl_is_library(vm, f->function->unit) &&
        index-- == 0)
      return f;
  return NULL;
}

// Of a module's top the variables are the module's; of a function first the
// named slots, then what the closure captured.
const char *tl_debug_name(const tl_frame *frame, uint32_t index) {
  const tl_prototype *p = frame->function;
  const tl_string *name = NULL;
  uint32_t captures = frame->closure == NULL ? 0 : p->capture_count;
  if (p == p->unit->prototypes[0])
    return index < p->unit->module->variable_count
               ? p->unit->module->variable_names[index]->text
               : NULL;
  if (index >= p->named_count + captures)
    return NULL;
  name = index < p->named_count ? p->slot_names[index]
                                : p->capture_names[index - p->named_count];
  return name == NULL ? "" : name->text;
}

// What the verifier knows before one instruction of a function.
typedef struct look {
  uint32_t pc;
  void (*see)(const tl_checker *c, void *context);
  void *context;
} look;

// Passes on what is known before the one instruction that was asked for.
// Instructions are visited once each, in the order of their code.
static void visit(tl_checker *c, void *context) {
  const look *l = context;
  if (c->pc == l->pc)
    l->see(c, l->context);
}

// Calls [see] with the states before the instruction that the frame is at.
// False after tl_fail: no memory.
static bool look_at(tl_vm *vm, const tl_frame *frame,
                    void (*see)(const tl_checker *c, void *context),
                    void *context) {
  look l = {tl_frame_pc(frame), see, context};
  return tl_verify_with(vm, frame->function, visit, &l);
}

// None has a slot whose owner has gone, or whose value lacks an item that was
// taken out.
static void see_values(const tl_checker *c, void *context) {
  tl_debug *d = context;
  for (uint32_t i = 0; i < c->p->slot_count; i++)
    d->has_value[i] = c->now[i].kind != TL_ABSENT && !c->now[i].invalid &&
                      c->now[i].open == 0;
}

// Whether the slot has a value; one answer for all slots is kept, as whoever
// looks at one variable looks at others.
static bool is_assigned(tl_vm *vm, const tl_frame *frame, uint32_t slot) {
  tl_debug *d = vm->debug;
  if (d->function != frame->function || d->at != tl_frame_pc(frame)) {
    d->function = NULL;
    memset(d->has_value, 0, sizeof d->has_value);
    if (!look_at(vm, frame, see_values, d))
      return false;
    d->function = frame->function;
    d->at = tl_frame_pc(frame);
  }
  return d->has_value[slot] && !tl_is_unset(frame->base[slot]);
}

// Of several slots with one name, as blocks within blocks have, the last one
// with a value is meant.
bool tl_debug_find(tl_vm *vm, const tl_frame *frame, const char *name,
                   size_t nbytes, tl_slot **slot) {
  const tl_prototype *p = frame->function;
  bool found = false;
  *slot = NULL;
  for (uint32_t i = 0; i < p->named_count; i++) {
    if (p->slot_names[i] == NULL ||
        !tl_text_is(p->slot_names[i]->text, name, nbytes))
      continue;
    found = true;
    if (is_assigned(vm, frame, i))
      *slot = &frame->base[i];
  }
  for (uint32_t i = 0; frame->closure != NULL && i < p->capture_count; i++) {
    if (found || !tl_text_is(p->capture_names[i]->text, name, nbytes))
      continue;
    found = true;
    if (!tl_is_unset(frame->closure->captures[i]))
      *slot = &frame->closure->captures[i];
  }
  if (found || tl_failed(vm))
    return !tl_failed(vm);
  int32_t at = tl_module_find(p->unit->module, name, nbytes);
  if (at < 0)
    return false;
  tl_slot *variable = &p->unit->module->variables[at];
  if (!tl_is_unset(*variable))
    *slot = variable;
  return true;
}

// --- Assigning --------------------------------------------------------------

// What a slot's owners and borrowers allow: whether the slot counts its value
// itself, and whether another may take the value's place.
typedef struct place {
  uint32_t slot;
  bool owns, is_free;
} place;

// A slot may get another value where nothing borrows from it and it borrows
// from nothing that its own value would have to go with.
static void see_place(const tl_checker *c, void *context) {
  place *to = context;
  const tl_state *state = &c->now[to->slot];
  to->owns = state->kind != TL_BORROWS;
  to->is_free = state->kind != TL_ABSENT && !state->invalid && state->open == 0;
  for (int i = 0; i < state->count; i++) {
    uint32_t who = tl_borrow_owner_who(state->borrow_owners[i]);
    to->is_free = to->is_free && who != TL_WHO_SELF && !tl_who_is_slot(who) &&
                  !tl_who_is_global(who);
  }
  for (uint32_t y = 0; y < c->p->slot_count; y++)
    if (y != to->slot && c->now[y].kind != TL_ABSENT &&
        tl_state_borrowed_by(&c->now[y], to->slot))
      to->is_free = false;
}

// A slot that owns for certain, or perhaps, owns the new value; one that only
// borrows borrows it from the list of values that wait for all calls to end.
bool tl_debug_assign(tl_vm *vm, const tl_frame *frame, const char *name,
                     size_t nbytes, tl_slot value) {
  tl_slot *slot;
  bool found = tl_debug_find(vm, frame, name, nbytes, &slot);
  const tl_module *module = frame->function->unit->module;
  int32_t at = tl_module_find(module, name, nbytes);
  value = tl_escape(vm, &value, TL_CAUSE_HOST);
  if (found && slot != NULL && at >= 0 && slot == &module->variables[at]) {
    tl_module_assign(vm, frame->function->unit->module, (uint32_t)at, value,
                     false);
    return true;
  }
  if (slot < frame->base || slot >= frame->base + frame->function->slot_count)
    slot = NULL;
  place to = {.slot = slot == NULL ? 0 : (uint32_t)(slot - frame->base)};
  if (slot == NULL || !look_at(vm, frame, see_place, &to) || !to.is_free) {
    tl_drop(vm, value);
    return tl_fail(vm, found ? TALLY_ERR_VALUE : TALLY_ERR_NAME,
                   found ? "%.*s cannot be set here: it has no value of its own"
                         : "%.*s is no variable here",
                   (int)nbytes, name);
  }
  tl_slot old = *slot;
  *slot = to.owns ? value : tl_borrow(value);
  tl_let_wait(vm, to.owns ? old : value);
  return true;
}
