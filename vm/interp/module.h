// Modules and the units compiled into them.
#ifndef TALLY_VM_MODULE_H
#define TALLY_VM_MODULE_H

#include "vm/interp/function.h"

// A new module, linked into the VM. path: the directory that its imports start
// from, or NULL. NULL after tl_fail.
tl_module *tl_module_new(tl_vm *vm, const char *name, const char *path);
// A new variable, unset, of a name that is not there yet; -1 after tl_fail.
int32_t tl_module_add(tl_vm *vm, tl_module *module, const char *name,
                      size_t nbytes);
// The variable of that name, added if need be; -1 after tl_fail.
int32_t tl_module_variable(tl_vm *vm, tl_module *module, const char *name,
                           size_t nbytes);
// -1: there is none.
int32_t tl_module_find(const tl_module *module, const char *name,
                       size_t nbytes);
// Whether code of [unit] relies on a variable of its module being steady.
static inline bool tl_unit_relies(const tl_unit *unit, uint32_t index) {
  return index / 64 < unit->steady_words &&
         (unit->steady[index / 64] >> (index & 63) & 1) != 0;
}
// Whether [wanted] is one of [items], which are in order.
bool tl_is_among(const uint32_t *items, uint32_t count, uint32_t wanted);
// Whether the call at [pc] is one across which steady variables lend.
bool tl_relies_at(const tl_prototype *function, uint32_t pc);
// Gives a variable another value, which is taken. The old one is dropped; but
// where a call under way may borrow it, it waits for the end of all calls.
// [by_code]: the running function does that, which borrows nothing from it.
void tl_module_assign(tl_vm *vm, tl_module *module, uint32_t index,
                      tl_slot value, bool by_code);
// Takes a variable's value out for the running function and leaves it unset.
// Where the value has to wait there is one owner more.
tl_slot tl_module_take(tl_vm *vm, tl_module *module, uint32_t index);
// All calls have ended: drops what waited for that.
void tl_drop_waiting(tl_vm *vm);

// Gives up the values of all variables.
void tl_module_clear(tl_vm *vm, tl_module *module);
void tl_modules_clear(tl_vm *vm);  // of all modules
void tl_modules_close(tl_vm *vm);

// Loads and runs the module that an import names ("\"path" or " name", or
// "*name" for the library's own text and no other), once.
// Fails with kind io, name (a cycle) or what its code raises.
bool tl_module_import(tl_vm *vm, tl_module *from, const tl_string *spec,
                      tl_slot *out);
// A member of a module: a variable, *out owning its value, or a built-in;
// false after tl_fail.
bool tl_module_get(tl_vm *vm, const tl_module *module, tl_string *name,
                   tl_slot *out);

// An immortal object that a unit will free.
typedef struct tl_adopted {
  struct tl_adopted *next;
  tl_slot value;
} tl_adopted;

// A new unit with a copy of its text. NULL after tl_fail.
tl_unit *tl_unit_new(tl_vm *vm, tl_module *module, const char *file,
                     const char *text, size_t nbytes);
void tl_unit_free(tl_vm *vm, tl_unit *unit);
// Zeroed memory that lives as long as the unit.
void *tl_unit_alloc(tl_vm *vm, tl_unit *unit, size_t nbytes);
// Takes an immortal object, to be freed with the unit; false where memory is
// short: the object is gone then.
bool tl_unit_adopt(tl_vm *vm, tl_unit *unit, tl_slot value);
// Prepares a unit without functions to be freed before its module is: what it
// adopted is counted from here on, and the unit holds one count of each. False
// where its code may be reached later.
bool tl_unit_lend(tl_unit *unit);
// Calls [each] with what lent units hold, for recounting.
void tl_units_each_held(const tl_vm *vm,
                        void (*each)(void *context, tl_slot value),
                        void *context);

// --- reclaim.c
// ----------------------------------------------------------------

// Frees the units that no value, variable or running code leads to; returns how
// many bytes. Where more than a script's own code is under way nothing is freed
// now, but by the next call of:
size_t tl_reclaim(tl_vm *vm);
// Before code of the host's is compiled: reclaims what is asked for, or where
// there are twice as many units as were left the last time.
void tl_reclaim_at_times(tl_vm *vm);

#endif
