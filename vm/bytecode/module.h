// Modules, their variables, and the units compiled into them.
//
//     vm->modules ─▶ main ─▶ linalg ─▶ …       newest first, found by name
//                   └ units ─▶ unit ─▶ …   each text compiled into it: one
//                                          for a file, or for each input
//
// Order of use: tl_module_new, tl_unit_new with the text, the compiler fills
// the unit (tl_unit_alloc, tl_unit_adopt, tl_module_variable), tl_run_unit runs
// it. A unit is freed with its module, or by tl_reclaim when no value leads to
// it any longer.
//
// Variables that no function of a unit assigns are invariant to it: its code
// borrows them across calls. tl_module_assign keeps that safe for assignments
// by other units.
#pragma once

#include "vm/bytecode/function.h"

// A new module, linked into the VM, without variables. [path] is the directory
// that its imports start from, or NULL. Returns NULL after tl_fail; the VM owns
// it.
tl_module *tl_module_new(tl_vm *vm, const char *name, const char *path);
// Adds a variable, unset, of a name that is not there yet. Returns its index,
// -1 after tl_fail. May move module->variables.
int32_t tl_module_add(tl_vm *vm, tl_module *module, const char *name,
                      size_t nbytes);
// Returns the index of the variable of that name, which is added if need be; -1
// after tl_fail.
int32_t tl_module_variable(tl_vm *vm, tl_module *module, const char *name,
                           size_t nbytes);
// Returns the index of the variable of that name; -1: there is none.
int32_t tl_module_find(const tl_module *module, const char *name,
                       size_t nbytes);
// Whether code of [unit] takes a variable of its module for invariant, and so
// may borrow from it across calls.
static inline bool tl_unit_depends(const tl_unit *unit, uint32_t index) {
  return index / 64 < unit->invariant_words &&
         (unit->invariant[index / 64] >> (index & 63) & 1) != 0;
}
// How many of [count] items of [size] bytes have [most] or less as the uint32
// that each begins with; they are in ascending order by it.
uint32_t tl_count_upto(const void *items, uint32_t count, size_t size,
                       uint32_t most);
// Whether [wanted] is one of [items], which are in ascending order.
bool tl_is_among(const uint32_t *items, uint32_t count, uint32_t wanted);
// Whether some slot borrows from an invariant variable across the call at [pc].
bool tl_depends_at(const tl_prototype *function, uint32_t pc);
// Assigns [value], which is taken, to a variable. The old value is dropped; but
// if a call under way may borrow it, it is kept until all calls have ended.
// [by_code]: the running function itself assigns, and it borrows nothing from
// the variable.
void tl_module_assign(tl_vm *vm, tl_module *module, uint32_t index,
                      tl_slot value, bool by_code);
// Takes a variable's value out for the running function and leaves the variable
// unset. Returns owned; if a call under way may borrow the value, there is one
// more owner, so that it is not changed in place.
tl_slot tl_module_take(tl_vm *vm, tl_module *module, uint32_t index);
// Keeps [value], which is taken, alive until all calls have ended. Never fails.
void tl_let_wait(tl_vm *vm, tl_slot value);
// All calls have ended: drops the values that were kept for them.
void tl_drop_waiting(tl_vm *vm);

// Drops the values of all modules' variables, which are unset afterwards. Must
// come before any module is freed: values refer to functions of others.
void tl_modules_clear(tl_vm *vm);
// Frees a module that has no values and that nothing refers to.
void tl_module_free(tl_vm *vm, tl_module *module);
// Frees all modules with their units. No value may refer to them any longer.
void tl_modules_close(tl_vm *vm);

// Loads and runs, once, the module that an import names: [spec] is "\"path" or
// " name", or "*name" for the library's own text and nothing else. *out is
// borrowed: modules are immortal. Fails with kind io (not found), name (a
// circle), or what its code raises.
bool tl_module_import(tl_vm *vm, tl_module *from, const tl_string *spec,
                      tl_slot *out);
// Calls a function of one of the library's own modules in Tally ("inner/…"),
// which is run first where it has not been. Arguments and result are as those
// of tl_call: args are taken on every path, *out is owned.
bool tl_call_embedded(tl_vm *vm, const char *module, const char *function,
                      int count, tl_slot *args, tl_slot *out);
// A public function of such a module ("stats", "global/leaves"), which is there
// (tl_embedded_member): borrowed for good, as nobody assigns it. False where
// the module's text fails.
bool tl_load_embedded_function(tl_vm *vm, const char *module,
                               const char *function, tl_slot *out);
// A library module that is called, plot(x): *callee becomes the library's
// global function of the module's name, borrowed for good, which importing the
// module has hidden; it stays where there is none. False where that function's
// text fails.
bool tl_module_callee(tl_vm *vm, tl_slot *callee);
// A member of a module as it is there, borrowed: a variable or a built-in,
// which may be one that stands for its value; unset: there is none yet.
tl_slot tl_module_member(tl_vm *vm, const tl_module *module,
                         const tl_string *name);
// A member of a module: a variable, whose value *out owns, a built-in, or the
// library's function in Tally, which is compiled first where it has not been;
// false after tl_fail (kind name), with a similar name as a hint.
bool tl_module_get(tl_vm *vm, tl_module *module, tl_string *name, tl_slot *out);

// An immortal object that a unit frees: its constants, names and types.
typedef struct tl_adopted {
  struct tl_adopted *next;
  tl_slot value;
} tl_adopted;

// A new unit of [module] with a copy of its text and the starts of its lines.
// [file] is the name that messages use. Returns NULL after tl_fail.
tl_unit *tl_unit_new(tl_vm *vm, tl_module *module, const char *file,
                     const char *text, size_t nbytes);
// Frees a unit with all that it adopted; nothing may refer to its code.
void tl_unit_free(tl_vm *vm, tl_unit *unit);
// Whether the unit is one of the library's own texts in Tally: errors in it are
// reported at the call of it, and a debugger passes over it.
bool tl_is_library(const tl_vm *vm, const tl_unit *unit);
// Zeroed memory, aligned to 16 bytes, that lives as long as the unit. NULL
// after tl_fail.
void *tl_unit_alloc(tl_vm *vm, tl_unit *unit, size_t nbytes);
// Takes an immortal object, to be freed with the unit. Returns false where
// memory is short: the object has been freed then.
bool tl_unit_adopt(tl_vm *vm, tl_unit *unit, tl_slot value);
// Prepares a unit without functions for being freed before its module is: what
// it adopted is counted from here on, and the unit holds one count of each.
// Returns false where its code may be reached later, so that it has to stay.
bool tl_unit_borrow(tl_unit *unit);
// Calls [each] with every value that such units hold, for the auditor's
// recount.
void tl_units_each_held(const tl_vm *vm,
                        void (*each)(void *context, tl_slot value),
                        void *context);

// --- reclaim.c --------------------------------------------------------------

// Frees the units that no value, variable or running code leads to, and returns
// how many bytes that gave. Where more than a script's own code is under way
// nothing is freed at once, but by the next tl_reclaim_at_times. Polls: nothing
// is freed and an error is pending where the VM is to stop.
size_t tl_reclaim(tl_vm *vm);
// Before a host's text is compiled: reclaims if that was asked for, or if there
// are twice as many units as the last time left. False after tl_fail: stopped.
bool tl_reclaim_at_times(tl_vm *vm);
