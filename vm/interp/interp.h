// Inside the interpreter: what the dispatch loop leaves to others.
#ifndef TALLY_VM_INTERP_H
#define TALLY_VM_INTERP_H

#include "vm/engine/engine.h"
#include "vm/interp/function.h"
#include "vm/region/region.h"
#include "vm/interp/module.h"

// Runs from the VM's top frame until the frame marked TL_FRAME_ENTRY returns.
// The result, owned, is in the slot before that frame's first. False: an error
// is pending and the entry frame is gone.
bool tl_interpret(tl_vm *vm);
bool tl_interpret_counting(tl_vm *vm);  // the same, counted

// A frame for [function] with its slots from [base] on; its arguments are
// there already. false after tl_fail (kind limit): too deep.
bool tl_push_frame(tl_vm *vm, tl_prototype *function, tl_closure *closure,
                   tl_slot *base, uint32_t flags);
// The first slot above the running frame, free for a call from C.
tl_slot *tl_free_slots(tl_vm *vm);
// The same with room for [count] arguments; NULL after tl_fail (kind limit).
tl_slot *tl_call_window(tl_vm *vm, uint32_t count);
// As tl_call, of arguments that are in such a window already.
bool tl_call_in(tl_vm *vm, tl_slot function, uint32_t count, tl_slot *window,
                tl_slot *out);

// --- Errors (unwind.c) ------------------------------------------------------

// Sets the pending error's place, if it has none, from an instruction.
void tl_error_place(tl_vm *vm, tl_prototype *function, const tl_slot *base,
                    uint32_t pc);
// Adds the call at [pc] to the pending error's trace; its place, if it has
// none.
void tl_error_trace(tl_vm *vm, tl_prototype *function, const tl_slot *base,
                    uint32_t pc);
// Whether the source is the library's own.
bool tl_is_library(const tl_unit *unit);
// Gives up what the frame owns at [pc]. The handler that catches there, or
// NULL; its kept slots are ready.
const tl_handler *tl_unwind(tl_vm *vm, tl_prototype *function, tl_slot *base,
                            uint32_t pc);

// --- Errors (named_errors.c) ------------------------------------------------

// Names the built-in that failed in the pending error's message, with its
// module, where the message begins with a name and no call inside has done so.
// An argument that it speaks of gets its parameter's name: [args] are those of
// the call, which are compared only.
void tl_error_of_builtin(tl_vm *vm, const tl_builtin *builtin,
                         const tl_slot *args);
// The same where a call was compiled to the operation itself: [text] is the
// source from where the error is on.
void tl_error_of_call(tl_vm *vm, const char *text, size_t nbytes);
// Names a function of the library that is written in Tally, where its frame
// ends by an error from inside: in place of what it called.
void tl_error_of_function(tl_vm *vm, const tl_prototype *function,
                          const tl_slot *args);

// --- Slow paths (ops.c): each false after tl_fail ---------------------------

// Runs the elementwise instruction [ins], whatever its operands: where to go
// on, which is further where a region ran as one. NULL after tl_fail.
const tl_ins *tl_do_elementwise(tl_vm *vm, const tl_prototype *function,
                                tl_slot *base, const tl_ins *ins);
// A call of the host's elementwise function, which a region may begin with; as
// tl_region_run. Where that fails the arguments are dropped.
tl_region_status tl_do_host_loop(tl_vm *vm, const tl_prototype *function,
                                 tl_slot *base, const tl_ins *ins,
                                 const tl_ins **next);
// A comparison that has to give one bool.
bool tl_do_compare(tl_vm *vm, tl_op op, const tl_slot *b, unsigned b_mode,
                   const tl_slot *c, unsigned c_mode, bool *truth);
// Reads operands by their modes; what they still own afterwards is dropped.
bool tl_do_matmul(tl_vm *vm, tl_slot *a, const tl_slot *b, const tl_slot *c,
                  unsigned modes);
// Whether the container has an item that equals it; asks what `in` may ask.
bool tl_contains(tl_vm *vm, tl_slot item, tl_slot container, bool *found);
bool tl_do_in(tl_vm *vm, const tl_slot *b, const tl_slot *c, unsigned modes,
              bool *found);
bool tl_do_range(tl_vm *vm, tl_slot *a, const tl_slot *b, const tl_slot *c,
                 const tl_slot *d);
// One bool, else an error that proposes any or all.
bool tl_do_truth(tl_vm *vm, tl_slot s, unsigned mode, bool *truth);
bool tl_do_stack(tl_vm *vm, uint32_t count, tl_slot *items, tl_slot *out);
bool tl_do_list(tl_vm *vm, uint32_t count, tl_slot *items, tl_slot *out);
bool tl_do_record(tl_vm *vm, const struct tl_keys *keys, tl_slot *values,
                  tl_slot *out);
bool tl_do_push(tl_vm *vm, tl_slot *list, tl_slot *item, unsigned modes);
bool tl_do_format(tl_vm *vm, tl_slot *a, const tl_slot *b, unsigned modes,
                  const tl_string *spec);
bool tl_do_join(tl_vm *vm, uint32_t count, tl_slot *strings, tl_slot *out);
bool tl_do_closure(tl_vm *vm, const tl_group *group, uint32_t count,
                   tl_slot *captures, tl_slot *out);
bool tl_do_getel(tl_vm *vm, tl_slot *a, const tl_slot *base,
                 const tl_slot *index, unsigned modes);
bool tl_do_getel2(tl_vm *vm, tl_slot *a, const tl_slot *base, const tl_slot *i,
                  const tl_slot *j, unsigned modes);
bool tl_do_index(tl_vm *vm, tl_slot *base, unsigned mode, const tl_path *path,
                 tl_slot *parts, tl_slot *out);
bool tl_do_getf(tl_vm *vm, tl_slot *a, const tl_slot *base, unsigned mode,
                tl_string *name);
bool tl_do_fields(tl_vm *vm, tl_slot *a, const tl_slot *base, unsigned mode,
                  const struct tl_keys *keys);
bool tl_do_setpath(tl_vm *vm, tl_slot *target, const tl_slot *value,
                   const tl_path *path, tl_slot *parts, unsigned modes);
// Takes the item at [path] of [container] out of it, or reads it.
bool tl_do_take(tl_vm *vm, const tl_slot *container, unsigned mode,
                const tl_path *path, tl_slot *parts, tl_slot *out);
// Gives back what was taken.
void tl_do_untake(tl_vm *vm, tl_slot *target, const tl_slot *item,
                  const tl_path *path, tl_slot *parts, unsigned modes);
bool tl_do_unpack(tl_vm *vm, tl_slot *a, const tl_slot *b, unsigned mode,
                  uint32_t count);
bool tl_do_more(tl_vm *vm, const tl_slot *container, const tl_slot *position,
                bool *more);
bool tl_do_next(tl_vm *vm, tl_slot *a, tl_slot *container, tl_slot *position,
                unsigned mode, uint32_t what);
bool tl_do_forprep(tl_vm *vm, tl_slot *hidden, bool *any);
bool tl_do_check_types(tl_vm *vm, tl_prototype *function, tl_slot *params);
bool tl_do_show(tl_vm *vm, tl_slot value);
// With TL_KEEPS in [how] the first argument is left in its slot on failure, and
// with TL_STOPS too as it was where the host stopped the function; with
// TL_VIEWS a view of the first argument, if that is borrowed, may borrow its
// block; with TL_RETURNS it may itself be the result, still borrowed; with
// TL_LISTS the items of the result may be its.
bool tl_do_builtin(tl_vm *vm, const tl_builtin *builtin, unsigned how,
                   uint32_t count, tl_slot *args, tl_slot *out);
// How a call that keeps its first argument is made at [pc].
unsigned tl_keeps_how(const tl_prototype *function, const tl_builtin *builtin,
                      uint32_t pc);

// --- Ownership (ops_ownership.c) --------------------------------------------
void tl_do_settle(tl_slot *x, tl_slot *y);
void tl_do_inherit(tl_vm *vm, const tl_slot *x, tl_slot *y);
void tl_do_leave(tl_vm *vm, tl_slot *x, tl_slot *y);
void tl_do_keep(tl_vm *vm, const tl_slot *x, tl_slot *y);
void tl_do_hold(tl_vm *vm, tl_slot *y, tl_slot *x);
bool tl_do_detach(tl_vm *vm, tl_slot *y, tl_slot *x);
void tl_do_own(tl_vm *vm, tl_slot *x);
void tl_do_keepall(tl_vm *vm, tl_slot *x);
void tl_do_keepof(tl_vm *vm, tl_slot *x, tl_slot *y);

// --- Calls of whatever is called (call.c) -----------------------------------

// Calls a callee that is no plain script function: binds the arguments in the
// window first. Either pushes a frame (*pushed) or leaves the result in *out.
bool tl_do_call(tl_vm *vm, tl_slot callee, const tl_call_shape *shape,
                uint32_t count, tl_slot *window, bool *pushed, tl_slot *out);

// Debug builds: recounts everything (audit.c).
void tl_audit(tl_vm *vm, const tl_ins *pc);

#endif
