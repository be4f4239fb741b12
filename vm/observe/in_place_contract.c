// In-place contracts at run time: see in_place_contract.h.
//
// Three steps: whether the instruction under way stands under a contract (by
// its place in the source), which operand's memory was refused last, and the
// error that says so when an array is about to be made.
#include "vm/observe/in_place_contract.h"

#include <stdio.h>

#include "vm/bytecode/module.h"
#include "vm/observe/rejection.h"
#include "vm/suggest.h"
#include "vm/values/list.h"
#include "vm/values/record.h"

// The frame under way, if it runs script code; NULL.
static const tl_frame *running(const tl_vm *vm) {
  const tl_frame *f = vm->frame;
  return vm->frames == NULL || f < vm->frames || f->function == NULL ? NULL : f;
}

// Contracts may nest, so the nearest beginning before [at] may have ended while
// one around it has not. `reach` makes one comparison enough:
//
//   begin   10      20      40
//   end     90      30      50
//   reach   90      90      90      [at] = 60 is under the first
bool tl_has_contract(const tl_prototype *p, uint32_t pc) {
  const tl_unit *unit = p->unit;
  const tl_place_entry *place =
      unit->contract_count == 0 ? NULL : tl_place_at(p, pc);
  if (place == NULL)
    return false;
  uint32_t n = tl_count_upto(unit->contracts, unit->contract_count,
                             sizeof *unit->contracts, place->at);
  return n > 0 && place->at < unit->contracts[n - 1].reach;
}

bool tl_contract_near(const tl_vm *vm) {
  const tl_frame *f = running(vm);
  return f != NULL && f->function->has_contracts;
}

bool tl_contract_runs(const tl_vm *vm) {
  return tl_contract_near(vm) &&
         tl_has_contract(vm->frame->function, tl_frame_pc(vm->frame));
}

// Remembered until an array is about to be made: a refusal of one operand may
// be followed by another that serves.
void tl_contract_refused(tl_vm *vm, tl_rejection why, tl_slot operand) {
  if (!tl_is_under_contract(vm))
    return;
  vm->refused_at = vm->frame->pc;
  vm->refused_why = (uint8_t)why;
  vm->refused_operand = operand;
}

// --- The error --------------------------------------------------------------

// Which slot of the frame the operand is in; UINT32_MAX: none.
static uint32_t refused_slot(tl_vm *vm) {
  const tl_slot *place = tl_refused_slot(vm, vm->refused_operand);
  return place == NULL ? UINT32_MAX : (uint32_t)(place - vm->frame->base);
}

// "x is used later, in line 4".
static void spell_reason(tl_vm *vm, tl_text *out, uint32_t slot) {
  const tl_frame *f = vm->frame;
  const tl_prototype *p = f->function;
  tl_rejection why = (tl_rejection)vm->refused_why;
  uint32_t pc = tl_frame_pc(f);
  const tl_slot *place = slot == UINT32_MAX ? NULL : &f->base[slot];
  char words[300];
  if (why == TL_REFUSED_LIVE && place != NULL) {
    tl_spell_keeper(out, p, pc, slot);
    return;
  }
  if (place != NULL)
    tl_spell_operand(out, p, pc, slot);
  else
    tl_text_puts(out, "an operand");
  tl_spell_rejection(vm, why, vm->refused_operand, place, words, sizeof words);
  tl_text_printf(out, " %s", words);
}

// Of the library, or of a value that may be a function of the library.
static bool is_call(const tl_frame *f) {
  uint8_t op = f->pc->op;
  return op == TL_BC_CALLB || op == TL_BC_CALL;
}

// The error: what needs a new array, and which operand could not give its
// memory.
static bool fail_for(tl_vm *vm, const char *what, const char *name,
                     uint32_t slot) {
  tl_text reason;
  tl_text_open(&reason, vm);
  spell_reason(vm, &reason, slot);
  bool ok = !reason.failed;
  if (ok)
    tl_fail(vm, TALLY_ERR_MEMORY, "#:inplace: %.80s %s: %.*s", name, what,
            tl_clip(reason.bytes, reason.length, 300), reason.bytes);
  tl_text_close(&reason);
  return false;
}

// A rejection counts only if it was the instruction under way that met it.
// Calls pass here, because the arrays that the library makes on its way do not
// count; but the operand that was refused is remembered for the message.
bool tl_contract_keeps(tl_vm *vm) {
  if (vm->refused_at == NULL)
    return true;
  const tl_frame *f = running(vm);
  bool is_same = f != NULL && vm->refused_at == f->pc;
  vm->refused_at = NULL;
  if (!is_same)
    return true;
  uint32_t slot = refused_slot(vm);
  // The library's own arrays do not count; what it gives back is looked at.
  if (f->pc->op == TL_BC_IN)
    return true;  // gives a bool
  // Nor do the parts of nested arrays that an index borrows itself.
  if (tl_opcodes[f->pc->op].result == TL_DEF_ITEM && slot != UINT32_MAX &&
      tl_is_nested(f->base[slot]))
    return true;
  if (is_call(f)) {
    if (slot != UINT32_MAX && vm->refused_slot == UINT32_MAX &&
        vm->refused_why == TL_REFUSED_LIVE)
      vm->refused_slot = slot;
    return true;
  }
  return fail_for(vm, "needs a new array", "the result", slot);
}

// The list, record or string is itself what the statement changes, so its copy
// counts whether an instruction or the library makes it. A constant of the
// program is no memory that could be taken.
bool tl_contract_copies(tl_vm *vm, tl_rejection why, tl_slot operand) {
  if (vm->no_reuse || why == TL_REFUSED_EXTERNAL || !tl_is_under_contract(vm))
    return true;
  vm->refused_why = (uint8_t)why;
  vm->refused_operand = operand;
  char name[40];
  snprintf(name, sizeof name, "the %s", tl_kind_name(operand.object->kind));
  return fail_for(vm, "would be copied", name, refused_slot(vm));
}

// --- Calls of the library ---------------------------------------------------

// Longer lists are not looked through, so that a call never takes longer for
// it.
enum { MOST_ITEMS = 1024 };

// Marks the arrays that a result may be, or be a view of. False: there may be
// more of them than are marked.
static bool mark(tl_slot s, bool inside) {
  bool ok = true;
  if (tl_is_array(s)) {
    tl_array *owner = tl_array_owner(s.array);
    if ((owner->head.flags & TL_IMMORTAL) == 0)
      owner->head.flags |= TL_OPERAND;
  } else if (tl_is_list(s)) {
    const tl_list *list = s.list;
    ok = !inside && list->length <= MOST_ITEMS;
    for (int64_t i = 0; ok && i < list->length; i++)
      ok = mark(list->items[i], true);
  } else if (tl_is_record(s)) {
    const tl_record *record = s.record;
    ok = !inside && record->length <= MOST_ITEMS;
    for (int64_t i = 0; ok && i < record->length; i++)
      ok = mark(record->fields[i].value, true);
  } else if (tl_is_nested(s)) {
    for (int64_t i = 0; i < s.nested->count; i++)
      ok = mark(s.nested->parts[i], inside) && ok;
  }
  return ok;
}

// The arguments of a call under a contract are marked, so that its result can
// be recognised as one of them.
bool tl_contract_holds(tl_vm *vm, uint32_t count, const tl_slot *args) {
  if (vm->no_reuse || !tl_is_under_contract(vm))
    return false;
  vm->refused_slot = UINT32_MAX;
  bool ok = true;
  for (uint32_t i = 0; i < count; i++) ok = mark(args[i], false) && ok;
  return ok;
}

// Whether this is the only reference to an array that no operand was, or a list
// or nested array with such an array in it.
static bool is_new(tl_slot s) {
  const unsigned other = TL_OPERAND | TL_EXTERNAL | TL_IMMORTAL;
  if (tl_is_nested(s) && tl_is_unique(s)) {
    for (int64_t i = 0; i < s.nested->count; i++)
      if (is_new(s.nested->parts[i]))
        return true;
    return false;
  }
  if (tl_is_list(s) && tl_is_unique(s) && s.list->length <= MOST_ITEMS) {
    for (int64_t i = 0; i < s.list->length; i++)
      if (tl_is_array(s.list->items[i]) && is_new(s.list->items[i]))
        return true;
    return false;
  }
  if (!tl_is_array(s) || !tl_is_unique(s) || tl_ndim(s.array) == 0)
    return false;
  const tl_array *owner = tl_array_owner(s.array);
  return owner->head.count == 1 && (owner->head.flags & other) == 0;
}

// The message prefers the reason that is known, a refused operand, to the plain
// fact that the result is new.
bool tl_contract_returns(tl_vm *vm, const char *name, tl_slot result) {
  if (!is_new(result))
    return true;
  // astype is what float32(x) calls: the message names what the script has.
  const char *to = strcmp(name, "astype") == 0 && tl_is_array(result)
                       ? tl_dtypes[tl_array_dtype(result.array)].name
                       : NULL;
  char what[100];
  snprintf(what, sizeof what, "%s%.60s", to == NULL ? "" : "the conversion to ",
           to == NULL ? name : to);
  tl_drop(vm, result);
  if (vm->refused_slot != UINT32_MAX) {
    vm->refused_why = TL_REFUSED_LIVE;
    return fail_for(vm, "makes a new array", what, vm->refused_slot);
  }
  return tl_fail(vm, TALLY_ERR_MEMORY,
                 "#:inplace: %s makes a new array: it is in no operand's "
                 "memory",
                 what);
}

// --- Instructions that make arrays by themselves ----------------------------

// With --no-reuse nothing is in place, and so no contract is checked.
bool tl_contract_makes(tl_vm *vm, tl_slot result, const char *why) {
  if (vm->no_reuse || !tl_is_under_contract(vm) || !is_new(result))
    return true;
  tl_drop(vm, result);
  return tl_fail(vm, TALLY_ERR_MEMORY, "#:inplace: %s", why);
}

// Items that were copied out of [base], where a view would have been none.
bool tl_contract_takes(tl_vm *vm, const tl_slot *base, tl_slot result) {
  if (vm->no_reuse || !tl_is_under_contract(vm) || !is_new(result))
    return true;
  const tl_frame *f = vm->frame;
  tl_text why;
  tl_text_open(&why, vm);
  tl_spell_choice(&why, f->function, tl_frame_pc(f),
                  (uint32_t)(base - f->base));
  if (!why.failed)
    tl_fail(vm, TALLY_ERR_MEMORY, "#:inplace: %.*s",
            tl_clip(why.bytes, why.length, 300), why.bytes);
  tl_text_close(&why);
  tl_drop(vm, result);
  return false;
}
