// Instructions that the dispatch loop calls; handlers.h lists them. A handler
// reads its fields and modes, and leaves the work to a slow path of ops.c or to
// the container's own functions.
//
// Built for size.

#include "vm/interp/display.h"
#include "vm/interp/handlers.h"

#include "vm/events.h"
#include "vm/array/element.h"
#include "vm/embedded.h"
#include "vm/index/select.h"
#include "vm/interp/interp.h"
#include "vm/values/record.h"

// Writes a bool into a slot.
static void put_bool(tl_slot *a, bool value) {
  a->tag = TL_TAG_BOOL;
  a->i = value;
}

// Drops the index values of a path after the instruction has succeeded.
static bool end_path(tl_vm *vm, const tl_slot *values, uint32_t count) {
  tl_drop_all(vm, values, count);
  return true;
}

// --- Variables --------------------------------------------------------------

// A name that is also a built-in's gets a hint: the assignment in this function
// makes it a variable here.
bool tl_fail_unassigned(tl_vm *vm, const tl_string *name) {
  if (vm->host->find_function(vm, NULL, name->text, name->length) != NULL ||
      tl_embedded_global(vm->library, name->text) != NULL) {
    return tl_fail(vm, TALLY_ERR_NAME,
                   "%s is read before it is assigned: it is a variable here, "
                   "which hides the built-in %s",
                   name->text, name->text);
  }
  return tl_fail(vm, TALLY_ERR_NAME, "%s is not assigned yet", name->text);
}

// A module's variable is on the heap, so the value escapes into it: it gets a
// count unless it gives away its own.
bool tl_exec_setg(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  tl_slot value = tl_operand_read(RA, MODE_A);
  value = tl_escape(vm, &value, TL_CAUSE_GLOBAL);
  tl_module_assign(vm, tl_unit_of(vm)->module, tl_ins_extra(*ins), value, true);
  return true;
}

// Moves the value out and leaves the variable unset, for an update such as
// `x[i] = v` of a module's variable: it then has one owner and can be written
// in place.
bool tl_exec_takeg(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  const uint32_t index = tl_ins_extra(*ins);
  tl_module *module = tl_unit_of(vm)->module;
  if (tl_is_unset(module->variables[index]))
    return tl_fail_unassigned(vm, module->variable_names[index]);
  tl_operand_put(RA, tl_module_take(vm, module, index));
  return true;
}

// Another function of the same closure group: the same object with another
// index in the tag (bits 32-47). That the value is of a group with so many the
// verifier cannot know; what is not, as only forged code has it, stays itself.
bool tl_exec_member(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  (void)vm;
  tl_slot member = tl_operand_read(RB, MODE_B);
  const tl_closure *closure = member.pointer;
  if (tl_is_kind(member, TL_KIND_CLOSURE) && EXTRA() < closure->member_count) {
    member.tag &= ~(UINT64_C(0xffff) << 32);
    member.tag |= (uint64_t)EXTRA() << 32;
  }
  tl_copy_slot(RA, &member);
  return true;
}

// --- Operators --------------------------------------------------------------

// The result goes to its slot when the operands have been dropped.
bool tl_exec_in(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  bool found;
  if (!tl_do_in(vm, RB, RC, ins->modes, &found))
    return false;
  put_bool(RA, found);
  return true;
}

// --- Places -----------------------------------------------------------------

// The index values are dropped only on success: after a failure the window goes
// back as a whole (tl_drop_window).
bool tl_exec_take(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  tl_slot *a = RA;
  return tl_do_take(vm, RB, MODE_B, tl_path_of(vm, ins), a + 1, a) &&
         end_path(vm, a + 1, ins->c);
}

// Most updates find their place at once, so that the target's slot stays as it
// is.
bool tl_exec_setpath(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  const tl_path *path = tl_path_of(vm, ins);
  tl_slot value = tl_operand_read(RB, MODE_B);
  bool done =
      MODE_A != TL_MODE_BORROW && tl_place_store(vm, RA, path, RC, &value);
  return (done || tl_do_setpath(vm, RA, RB, path, RC, ins->modes)) &&
         end_path(vm, RC, ins[1].a);
}

// Whether a value moves into a container without a count: a number, or what
// gives its own count away and borrows nothing.
static inline bool moves_in(const tl_slot *value, unsigned mode) {
  return !tl_is_heap(*value) ||
         (tl_is_owned(*value) && mode != TL_MODE_BORROW &&
          (value->object->flags & TL_BORROWED) == 0);
}

// Whether a value can be stored in a container directly: the slot is its only
// owner, and the value is a number or gives its own count away.
static inline bool is_plain_put(const tl_vm *vm, const tl_slot *target,
                                const tl_slot *value, unsigned modes) {
  return (modes >> 4 & 3u) != TL_MODE_BORROW && tl_is_unique(*target) &&
         !vm->no_reuse && moves_in(value, modes & 3u);
}

// list[i] = value where the slot is the list's only owner and the value moves
// in; false: it is not so. The old item is dropped last, as it may be what
// keeps others alive.
static bool put_item(tl_vm *vm, const tl_slot *target, const tl_slot *value,
                     const tl_slot *index, unsigned modes) {
  int64_t i = index->i;
  if ((uint8_t)target->tag != TL_CLASS_LIST ||
      (uint8_t)index->tag != TL_CLASS_I64 ||
      !is_plain_put(vm, target, value, modes) ||
      !tl_index_wrap(&i, target->list->length))
    return false;
  tl_changed_in_place(vm, *target);
  tl_slot *item = &target->list->items[i], old, stored = *value;
  stored = tl_escape(vm, &stored, TL_CAUSE_ITEM);
  tl_copy_slot(&old, item);
  tl_copy_slot(item, &stored);
  tl_drop(vm, old);
  return true;
}

// A field of a record, else a path of one step: the dispatch loop has tried to
// set the item of an array or a list.
bool tl_exec_setel(tl_vm *vm, tl_slot *target, const tl_slot *value,
                   uint16_t count, const tl_slot *i, const tl_slot *j,
                   unsigned modes) {
  // Of a record the key is looked up once and no path is built.
  if (count == 1 && tl_is_record(*target) && tl_key_allowed(*i) &&
      is_plain_put(vm, target, value, modes)) {
    tl_slot item, key = tl_operand_read(i, modes >> 2 & 3u);
    tl_copy_slot(&item, value);
    if (!tl_record_set_key(vm, &target->record, &key, &item))
      return false;
    tl_drop(vm, key);
    return true;
  }
  if (count == 1 && put_item(vm, target, value, i, modes))
    return true;
  // The general path takes the index values as parts; borrowed ones without
  // their owned bit.
  tl_step step = {.item_count = count, .items = tl_value_items};
  tl_path path = {.step_count = 1, .part_count = count, .steps = &step};
  tl_slot parts[2] = {tl_operand_read(i, modes >> 2 & 3u),
                      tl_operand_read(j, modes >> 6 & 3u)};
  if (!tl_do_setpath(vm, target, value, &path, parts, modes))
    return false;
  tl_drop_all(vm, parts, count);
  return true;
}

// Returns the item of the list that target[i] = value displaces, if it is just
// [heir]'s object, the list has one owner, and storing cannot fail; else NULL.
// The list's count of the item can then simply become that variable's.
static tl_slot *find_displaced(const tl_vm *vm, const tl_slot *target,
                               const tl_slot *value, const tl_slot *index,
                               const tl_slot *successor) {
  int64_t i = index->i;
  if (vm->no_reuse || !tl_is_list(*target) || !tl_is_unique(*target) ||
      (uint8_t)index->tag != TL_CLASS_I64 ||
      !tl_index_wrap(&i, target->list->length))
    return NULL;
  tl_slot *item = &target->list->items[i];
  if (!tl_is_owned(*item) || !tl_is_heap(*successor) ||
      tl_is_owned(*successor) || item->pointer != successor->pointer)
    return NULL;
  // If the value is the list itself or borrows from it, storing it makes the
  // list shared, and the item may not be changed in place.
  bool shares =
      tl_is_heap(*value) &&
      (value->pointer == target->pointer ||
       (tl_is_counted(*value) && (value->object->flags & TL_BORROWED)));
  return shares ? NULL : item;
}

// Where the displaced item is not known to be the variable's, the variable gets
// a count first, since the store may free the item. On failure that count is
// dropped again.
bool tl_exec_replace(tl_vm *vm, tl_slot *target, const tl_slot *value,
                     const tl_slot *i, tl_slot *successor, unsigned modes) {
  tl_slot *item = find_displaced(vm, target, value, i, successor);
  if (item != NULL) {
    tl_slot from = tl_operand_read(value, modes & 3u);
    tl_slot made = tl_escape(vm, &from, TL_CAUSE_ITEM);
    successor->tag |= TL_OWNED;
    tl_copy_slot(item, &made);
    return true;
  }
  bool was_owned = tl_is_owned(*successor);
  tl_do_keep(vm, target, successor);
  bool ok = tl_element_set(target, value, i) ||
            tl_exec_setel(vm, target, value, 1, i, i, modes);
  // The store failed, so the target still owns the item: the variable's count
  // is one too many.
  if (!ok && !was_owned && tl_is_owned(*successor)) {
    tl_drop(vm, *successor);
    successor->tag &= ~TL_OWNED;
  }
  return ok;
}

// --- The prompt and errors --------------------------------------------------

// The value goes to `ans` when it has been shown, where the host wants that.
// One that is lent, as by a variable, does not: the next change of the variable
// would have to copy it.
bool tl_exec_show(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  tl_slot value = *RA;
  if (!tl_do_show(vm, value))
    return false;
  const bool keeps = vm->options.keep_ans && !tl_is_none(value) &&
                     (!tl_is_heap(value) || tl_is_owned(value));
  int32_t ans = keeps ? tl_module_variable(vm, vm->main, "ans", 3) : -1;
  if (ans < 0) {
    tl_drop(vm, tl_operand_read(RA, MODE_A));
    return !keeps;
  }
  value = MODE_A == TL_MODE_BORROW ? tl_retain(vm, value)
                                   : tl_escape(vm, &value, TL_CAUSE_GLOBAL);
  tl_module_assign(vm, vm->main, (uint32_t)ans, value, false);
  return true;
}

// The unwinder has made the record if anybody reads it, because making it may
// fail.
bool tl_exec_catch(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  tl_copy_slot(RA, &vm->caught);
  vm->caught = tl_none();
  return true;
}

// The window of a CALLB begins with an argument that it may have to give back.
void tl_drop_call(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  tl_slot *window = RA + 1;
  uint32_t count = ins->op == TL_BC_CALLB  ? ins->b
                   : ins->op == TL_BC_CALL ? ins->c
                                           : 0;
  bool keeps = ins->op == TL_BC_CALLB && ins->c != 0;
  if (keeps)
    tl_copy_slot(tl_slot_at(base, ins[1].a), window);
  for (uint32_t i = keeps; i < count; i++) tl_drop(vm, window[i]);
}

// An instruction that takes its window over gives it back where it fails.
// Calls of what may be no script function have done so themselves.
void tl_drop_window(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  // Calls take their arguments on every path.
  if (ins->op == TL_BC_CALL || ins->op == TL_BC_CALLB)
    return;
  const tl_format_info *f = &tl_formats[tl_opcodes[ins->op].format];
  tl_slot *window = f->window == 'c' ? RC : RA + 1;
  uint32_t count = f->count == 'b'   ? ins->b
                   : f->count == 'c' ? ins->c
                   : f->count == 'd' ? ins[1].a
                                     : 0;
  for (uint32_t i = 0; i < count; i++) tl_drop(vm, window[i]);
}
