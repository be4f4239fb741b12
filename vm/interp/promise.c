// #:inplace at run time: see promise.h.
#include "vm/interp/promise.h"

#include <stdio.h>
#include <string.h>

#include "vm/error.h"
#include "vm/interp/interp.h"
#include "vm/interp/refusal.h"
#include "vm/nested/nested.h"
#include "vm/text/suggest.h"
#include "vm/values/list.h"
#include "vm/values/record.h"

static const tl_frame *running(const tl_vm *vm) {
  const tl_frame *f = vm->frame;
  return vm->frames == NULL || f < vm->frames || f->function == NULL ? NULL : f;
}

bool tl_unit_promises(const tl_unit *unit, uint32_t at) {
  uint32_t low = 0, high = unit->promise_count;
  while (low < high) {  // the first that begins behind it
    uint32_t middle = low + (high - low) / 2;
    if (unit->promises[middle].begin <= at)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 && at < unit->promises[low - 1].reach;
}

bool tl_is_promised(const tl_vm *vm) {
  const tl_frame *f = running(vm);
  if (!vm->has_promises || f == NULL)
    return false;
  const tl_unit *unit = f->function->unit;
  const tl_place_entry *place =
      unit->promise_count == 0
          ? NULL
          : tl_place_at(f->function, (uint32_t)(f->pc - f->function->code));
  return place != NULL && tl_unit_promises(unit, place->at);
}

void tl_promise_refused(tl_vm *vm, tl_refusal why, tl_slot operand) {
  if (!tl_is_promised(vm))
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
  tl_refusal why = (tl_refusal)vm->refused_why;
  uint32_t pc = (uint32_t)(f->pc - p->code);
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
  tl_spell_refusal(vm, why, vm->refused_operand, place, words, sizeof words);
  tl_text_printf(out, " %s", words);
}

static bool is_call(const tl_frame *f) {
  uint8_t op = f->pc->op;
  return op == TL_BC_CALLB || op == TL_BC_CALL;
}

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

bool tl_promise_keeps(tl_vm *vm) {
  if (vm->refused_at == NULL)
    return true;
  const tl_frame *f = running(vm);
  bool is_same = f != NULL && vm->refused_at == f->pc;
  vm->refused_at = NULL;
  if (!is_same)
    return true;
  uint32_t slot = refused_slot(vm);
  // The library's own arrays do not count; what it gives back is looked at.
  if (f->pc->op == TL_BC_IN || f->pc->op == TL_BC_NOTIN)
    return true;  // gives a bool
  // Nor do the parts of nested arrays that an index lends itself.
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

// --- Calls of the library ---------------------------------------------------

// Longer lists are not looked through: a call need not take longer for it.
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

bool tl_promise_holds(tl_vm *vm, uint32_t count, const tl_slot *args) {
  if (vm->no_reuse || !tl_is_promised(vm))
    return false;
  vm->refused_slot = UINT32_MAX;
  bool ok = true;
  for (uint32_t i = 0; i < count; i++) ok = mark(args[i], false) && ok;
  return ok;
}

// Whether this is all there is of an array that no operand was, or a list or
// nested array with such an array.
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

bool tl_promise_returns(tl_vm *vm, const char *name, tl_slot result) {
  if (!is_new(result))
    return true;
  // What is written float32(x) is this function, too.
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

bool tl_promise_makes(tl_vm *vm, tl_slot result, const char *why) {
  if (vm->no_reuse || !tl_is_promised(vm) || !is_new(result))
    return true;
  tl_drop(vm, result);
  return tl_fail(vm, TALLY_ERR_MEMORY, "#:inplace: %s", why);
}

bool tl_promise_takes(tl_vm *vm, const tl_slot *base, tl_slot result) {
  if (vm->no_reuse || !tl_is_promised(vm) || !is_new(result))
    return true;
  const tl_frame *f = vm->frame;
  tl_text why;
  tl_text_open(&why, vm);
  tl_spell_choice(&why, f->function, (uint32_t)(f->pc - f->function->code),
                  (uint32_t)(base - f->base));
  if (!why.failed)
    tl_fail(vm, TALLY_ERR_MEMORY, "#:inplace: %.*s",
            tl_clip(why.bytes, why.length, 300), why.bytes);
  tl_text_close(&why);
  tl_drop(vm, result);
  return false;
}

const char *tl_promise_callee(tl_slot callee) {
  if (tl_is_kind(callee, TL_KIND_BUILTIN))
    return ((const tl_builtin *)callee.pointer)->name;
  if (tl_is_kind(callee, TL_KIND_NATIVE))
    return ((const tl_native *)callee.pointer)->builtin->name;
  if (tl_is_function(callee))
    return tl_function_prototype(callee)->name->text;
  return "this call";  // of a type or of a host's value
}
