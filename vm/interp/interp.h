// Inside the interpreter: the parts that the dispatch loop is made of.
//
// A running function is a call record (tl_frame) and a run of slots on one
// stack. An instruction names slots as offsets from the frame's base. A scalar
// lies in its slot; anything else is a pointer there, with one bit that says
// whether the slot owns a count of it.
//
//                  frames                       stack of slots
//         vm->frames ─ [host's call]     ┌──────────────────────────────┐
//                      [main]    base ───▶ x │ y │ z │ t3 │ result      │
//         vm->frame ── [norm]    base ─────────────────────▶ a │ b │ t2 │
//                       pc                                 └────────────┘
//
// A call puts its arguments side by side (the window); the callee's slot 0 is
// the first of them, and the slot below that gets the result. So a call copies
// no arguments, and returning writes base[-1].
//
// Order of calls, for `norm(x)` called from a host:
//
//     tl_call             call.c    copies the arguments into a window
//       push_frame        call.c    reserves slots, sets pc to the first word
//       tl_interpret      interp.c  runs until the entry frame returns
//         a handler                 scalars are computed right there
//         tl_short_binary           small arrays, in engine/short.c
//         tl_do_elementwise         all other arrays; asks for a region first
//         tl_exec_*       handlers.c  instructions longer than a call
//         tl_do_*         ops*.c    the slow paths below
//       fail:             interp.c  tl_error_place, tl_unwind, tl_error_trace
//
// Every slow path reads its operands by their modes (tl_mode in
// bytecode/function.h): a consumed one may be written into or has to be
// dropped, a borrowed one stays as it is. On success the operands that end are
// dropped and the result is owned by its slot. On failure tl_fail
// was called once, false is returned and nothing has been consumed: the
// unwinder then drops what the frame owns, by its map of ranges. Calls are the
// exception: they take their window of arguments on every path.
#pragma once

#include "vm/engine/engine.h"
#include "vm/region/region.h"
#include "vm/bytecode/module.h"

// Runs from the VM's top frame until the frame marked TL_FRAME_ENTRY returns.
// Its result, owned, is then in the slot before that frame's first. Returns
// false where an error is pending: the entry frame is gone and all that the
// frames owned has been dropped. Where the VM counts when it is called, each
// instruction is counted.
bool tl_interpret(tl_vm *vm);
// Counts the instruction [ins], before which frame [f] stands, and the
// references that it handles. False where it is not to be done, after tl_fail;
// a call's arguments have been dropped then.
bool tl_count_instruction(tl_vm *vm, tl_frame *f, const tl_ins *ins);

// Returns the first slot above the running frame, below which one is left for
// the result: free for a call from C, with room for [count] arguments. NULL
// after tl_fail (kind limit).
tl_slot *tl_call_window(tl_vm *vm, uint32_t count);
// As tl_call, for arguments that already stand in a window of tl_call_window:
// they are taken on every path. *out is owned, or none where this fails.
bool tl_call_in(tl_vm *vm, tl_slot function, uint32_t count, tl_slot *window,
                tl_slot *out);

// --- Operands ---------------------------------------------------------------

// An operand as its mode says: a borrowed one shows no owned bit.
static inline tl_slot tl_operand_read(const tl_slot *s, unsigned mode) {
  return mode == TL_MODE_CONSUME || mode == TL_MODE_EITHER ? *s : tl_borrow(*s);
}

// Writes a result, last, as the slot may be an operand's; its earlier value has
// been consumed.
static inline void tl_operand_put(tl_slot *a, tl_slot value) {
  tl_copy_slot(a, &value);
}

// Drops what [count] slots own; the slots keep their bits.
static inline void tl_drop_all(tl_vm *vm, const tl_slot *slots,
                               uint32_t count) {
  for (uint32_t i = 0; i < count; i++) tl_drop(vm, slots[i]);
}

// --- Errors (unwind.c) ------------------------------------------------------

// Gives the pending error the file, line, column and excerpt of the instruction
// at [pc], if it has no place yet. In a function of the library the place stays
// open, since its caller is to be shown; [base] are the function's slots, to
// find out which argument a message speaks of. A debugger hears of it.
void tl_error_place(tl_vm *vm, tl_prototype *function, const tl_slot *base,
                    uint32_t pc);
// Adds the call at [pc] to the pending error's trace, as "called from
// life.tly:30:6 in step". If the error has no place yet, this call becomes its
// place.
void tl_error_trace(tl_vm *vm, tl_prototype *function, const tl_slot *base,
                    uint32_t pc);
// Drops what the frame owns at [pc], by the function's map of owned ranges.
// Returns the handler that catches there, whose slots are kept and made owners
// first; NULL when the frame ends.
const tl_handler *tl_unwind(tl_vm *vm, tl_prototype *function, tl_slot *base,
                            uint32_t pc);

// --- Errors (named_errors.c) ------------------------------------------------

// Names the built-in that failed in the pending error's message, with its
// module, where the message begins with a name and no call inside has done so.
// An argument that it speaks of gets its parameter's name: [args] are those of
// the call, which are compared only.
void tl_error_of_builtin(tl_vm *vm, const tl_builtin *builtin,
                         const tl_slot *args);
// The same where the compiler put the operation itself in place of a call:
// [text] is the source from the error's place on, and names the built-in if it
// begins with "name(".
void tl_error_of_call(tl_vm *vm, const char *text, size_t nbytes);
// Names a function of the library that is written in Tally, where its frame
// ends by an error from inside: in place of what it called.
void tl_error_of_function(tl_vm *vm, const tl_prototype *function,
                          const tl_slot *args);

// --- Slow paths (ops.c): each false after tl_fail ---------------------------

// Runs the elementwise instruction [ins], whatever its operands are. Returns
// where to go on, which is behind a whole region where that ran as one; NULL
// after tl_fail.
const tl_ins *tl_do_elementwise(tl_vm *vm, const tl_prototype *function,
                                tl_slot *base, const tl_ins *ins);
// Tries to run a region that begins with a call of the host's own elementwise
// function; returns as tl_region_run, with *next set when it is done. On
// failure the arguments in the window have been dropped.
tl_region_status tl_do_host_loop(tl_vm *vm, const tl_prototype *function,
                                 tl_slot *base, const tl_ins *ins,
                                 const tl_ins **next);
// a = b + c of two strings; operands that end are dropped. False after tl_fail.
bool tl_do_concat(tl_vm *vm, tl_slot *a, const tl_slot *b, const tl_slot *c,
                  unsigned modes);
// A comparison that a branch needs: sets *truth if the result is one bool, else
// fails as tl_do_truth does. The operands are consumed by their modes only on
// success.
bool tl_do_compare(tl_vm *vm, tl_op op, const tl_slot *b, unsigned b_mode,
                   const tl_slot *c, unsigned c_mode, bool *truth);
// Sets *found to whether [container] has an item equal to [item]: an item of a
// list or array, a key of a record, a part of a string, a member of a range, a
// row's item of ragged rows. Both are borrowed. Fails for a container of
// another kind.
bool tl_contains(tl_vm *vm, tl_slot item, tl_slot container, bool *found);
// The instruction `in`: tl_contains, after which operands that end are dropped.
bool tl_do_in(tl_vm *vm, const tl_slot *b, const tl_slot *c, unsigned modes,
              bool *found);
// Sets *truth if [s] is one bool. Anything else is an error whose message
// proposes any, all or a comparison, since Tally has no truth of numbers or
// lists.
bool tl_do_truth(tl_vm *vm, tl_slot s, bool *truth);
// A list of the [count] slots in the window, which it takes over. What a slot
// only borrows the list borrows too (tl_borrow_item), as long as slots alone
// refer to the list.
bool tl_do_list(tl_vm *vm, uint32_t count, tl_slot *items, tl_slot *out);
// An array of the items along a new first axis; they are borrowed.
bool tl_do_stack(tl_vm *vm, uint32_t count, const tl_slot *items,
                 tl_slot *result);
// Sets a field of a record that is being made and has room for it. What the
// slot only borrows the record borrows, too. False after tl_fail: no memory.
bool tl_set_new_field(tl_vm *vm, tl_record **record, tl_string *key,
                      tl_slot *value);
// Where the LIST at [ins] makes what [frame] returns, and the caller's next
// instruction only takes that apart into so many slots: moves the items from
// the window there, with what they own, so that no list is needed. What is
// stored by a list is stored here: views hold their blocks, and what was only
// borrowed still is, unless the caller knows no summary. Cannot fail. Returns
// where the caller goes on, NULL where all this is not so; then nothing has
// happened.
const tl_ins *tl_hand_over(tl_vm *vm, const tl_frame *frame, const tl_ins *ins);
// list += item, in place where the slot is the list's only owner, else in a
// copy. [modes]: the item's in bits 0-1, the target's in bits 4-5.
bool tl_do_push(tl_vm *vm, tl_slot *list, tl_slot *item, unsigned modes);
// b[i] into slot [a] by the general path; the loop has tried tl_element_get.
// The result is a borrowed item, or a view or copy that the slot owns.
bool tl_do_getel(tl_vm *vm, tl_slot *a, const tl_slot *base,
                 const tl_slot *index, unsigned modes);
// The same for b[i, j]; j's mode is in bits 6-7.
bool tl_do_getel2(tl_vm *vm, tl_slot *a, const tl_slot *base, const tl_slot *i,
                  const tl_slot *j, unsigned modes);
// b[…] for any one step of a path: slices, masks, several indices, `...`.
// [parts] are the index values in the window, which are dropped; *out gets the
// result.
bool tl_do_index(tl_vm *vm, tl_slot *base, unsigned mode, const tl_path *path,
                 tl_slot *parts, tl_slot *out);
// b.name into slot [a]: a field of a record, of a struct array, a member of a
// module, or an attribute such as shape.
bool tl_do_getf(tl_vm *vm, tl_slot *a, const tl_slot *base, unsigned mode,
                tl_string *name);
// target path = value, such as p.rows[i].name = v. Writes in place as far as
// each container on the way has one owner, copies the others. [parts] are the
// values of the path's indices, which stay with the caller.
bool tl_do_setpath(tl_vm *vm, tl_slot *target, const tl_slot *value,
                   const tl_path *path, tl_slot *parts, unsigned modes);
// The item at [path] of [container] for an update in place, `x[i] += 1`: it is
// moved out where this container is the only owner, so that it has one owner
// while it is computed with; else it is only read.
bool tl_do_take(tl_vm *vm, const tl_slot *container, unsigned mode,
                const tl_path *path, tl_slot *parts, tl_slot *out);
// a, b = value: checks the number of items and moves or copies them into the
// slots from [a] on. [extra] as tl_unpack_extra has it, for `first, ...rest`.
bool tl_do_unpack(tl_vm *vm, tl_slot *a, const tl_slot *b, unsigned mode,
                  uint32_t extra);
// The length that a loop over a value goes up to, in bytes for a string, as
// NEXT's position counts; -1: there is none, as of a file.
int64_t tl_walked_length(tl_slot c);
// Sets *more to whether the loop over [container] has an item at [position], an
// index (in a string: a byte). Fails where the value cannot be iterated over.
bool tl_do_more(tl_vm *vm, const tl_slot *container, const tl_slot *position,
                bool *more);
// The next item into slot [a], and [position] moved on. [what] is one of
// TL_NEXT_*. A container that ends with the loop gives its items away instead
// of lending them.
bool tl_do_next(tl_vm *vm, tl_slot *a, tl_slot *container, tl_slot *position,
                unsigned mode, uint32_t what);
// Prepares the three hidden slots of `for i in start..stop..step`: from start,
// stop, step they become next, iterations left, step. *any says whether there
// is an iteration at all.
bool tl_do_forprep(tl_vm *vm, tl_slot *hidden, bool *any);
// What a call of a built-in leaves to its caller; each does what those before
// it do.
typedef enum tl_call_mode {
  // Nothing: the result owns what it refers to.
  TL_CALL_OWNS,
  // The result may borrow from the first argument what its trait says
  // (tl_result_trait), as compiled code knows: the argument itself, which is
  // still borrowed then, a view of its block, its items.
  TL_CALL_BORROWS,
  // On failure the first argument is left in its slot …
  TL_CALL_RESTORES,
  // … as it was, even if the host interrupted the function (TL_STOPS).
  TL_CALL_FINISHES,
} tl_call_mode;
// Calls a built-in with [count] arguments in [args], which are consumed; *out
// gets the result.
bool tl_do_builtin(tl_vm *vm, const tl_builtin *builtin, tl_call_mode mode,
                   uint32_t count, tl_slot *args, tl_slot *out);
// Runs the CALLB at [ins] of a function that has a shorter way (at_once), and
// with it an UNPACK behind it that takes the two of a TL_PAIR apart. Cannot
// fail. Returns where to go on; NULL: it is not so simple, and nothing has
// happened.
const tl_ins *tl_call_at_once(tl_vm *vm, const tl_builtin *builtin,
                              tl_slot *base, const tl_ins *ins);
// TL_CALL_RESTORES, or TL_CALL_FINISHES if a landing pad will look at the first
// argument of the call at [ins].
tl_call_mode tl_call_restores(const tl_prototype *function,
                              const tl_builtin *builtin, const tl_ins *ins);

// --- Ownership (ops_ownership.c) --------------------------------------------
// SETTLE x, y: y is the same object as x, which ends. If x owns and y does not,
// the ownership moves to y.
void tl_do_settle(tl_slot *x, tl_slot *y);
// INHERIT x, y: y may be an item of x, which ends. y takes over the count that
// x had of the item, or gets one of its own.
void tl_do_inherit(tl_vm *vm, const tl_slot *x, tl_slot *y);
// LEAVE x, y: x ends and y may depend on it in any relation. Does what HOLD,
// SETTLE and INHERIT do for what y turns out to be, then drops x.
void tl_do_leave(tl_vm *vm, tl_slot *x, tl_slot *y);
// KEEP x, y: y may be an item of x, which is about to change or end; y gets a
// count of its own if that cannot be excluded.
void tl_do_keep(tl_vm *vm, const tl_slot *x, tl_slot *y);
// HOLD y, x: the view in y gets a count of the block that it shows, and x's own
// count where x is just the owner of that block.
void tl_do_hold(tl_vm *vm, tl_slot *y, tl_slot *x);
// DETACH y, x: x is about to be written in place, so a view of its block in y
// gets a copy of what it shows. Returns false after tl_fail (kind memory).
bool tl_do_detach(tl_vm *vm, tl_slot *y, tl_slot *x);
// OWN x: the slot becomes an owner of what it holds, and a view of its block.
void tl_do_own(tl_vm *vm, tl_slot *x);
// KEEPALL x: the container in x gets counts of all items that it borrows.
void tl_do_keepall(tl_vm *vm, tl_slot *x);
// KEEPOF x, y: the container in y gets counts of those items that it borrows
// and x may own.
void tl_do_keepof(tl_vm *vm, tl_slot *x, tl_slot *y);

// --- Calls of whatever is called (call.c) -----------------------------------

// Calls anything that can be called: script functions with named, spread or
// default arguments, closures, built-ins, types, the host's values. The [count]
// arguments in [window] are taken on every path; [shape] says how each is
// given, NULL: all by position. A script function gets a frame (*pushed is set
// and the loop goes on there); of anything else the result is in *out.
bool tl_do_call(tl_vm *vm, tl_slot callee, const tl_call_shape *shape,
                uint32_t count, tl_slot *window, bool *pushed, tl_slot *out);

// One instruction for machine code (one.c); see tl_one_fn.
tl_one_fn tl_do_one;

// In audit builds, before each instruction: recounts every reference of the VM
// and compares (verify/audit.c).
void tl_audit(tl_vm *vm, const tl_ins *pc);
