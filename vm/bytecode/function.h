// Script functions: bytecode, its side tables, closures and call records.
//
//     tl_module ── variables: a, b, norm …           one slot each
//       └ tl_unit ── text, line starts               all code from one text
//           ├ prototypes[0]                          the text's own statements
//           ├ prototypes[1 …]                        its functions
//           ├ paths, keys, names, shapes, groups     indexed by `extra`
//           └ adopted                                constants, immortal
//
//     tl_prototype ── code                           words of 64 bits (tl_ins)
//       ├ constants                                  for LOADK and …K
//       ├ places     pc → bytes of the source        for errors, listing
//       ├ ranges     [pc, pc) → slot that owns       what unwinding drops
//       ├ handlers   [pc, pc) → pc of a catch
//       ├ regions    [pc, pc) that may run fused
//       └ summary    what a caller may rely on
//
// A function without captures is its prototype, as an immortal value. One with
// captures is a tl_closure; local functions that call each other share one
// closure object (a group), so that there is no cycle of counts.
//
// Order of use: the compiler makes a unit (tl_unit_new) and fills it, tl_verify
// proves each prototype, tl_run_unit runs prototypes[0]; the rest is called
// through its values. A unit lives until its module is closed, or tl_reclaim
// finds that nothing leads to it; one without functions may end with its run
// (tl_unit_borrow).
//
// What ranges, handlers and summary are for: the interpreter writes no counts
// that the compiler could prove away, so nothing at run time knows which slots
// own. Where an error leaves a function, the ranges say it. A callee that is
// known is called without counts for its arguments or result, because its
// summary says what it consumes and what its result borrows from. All of it is
// proved again by the verifier before the code runs.
#pragma once

#include "vm/index/index.h"
#include "vm/bytecode/opcodes.h"
#include "vm/vm.h"

// One instruction word. Slots and constants reached through a, b, c are stored
// times 16 (the size of a slot), so that a handler adds them to a base without
// scaling; counts, immediates and extra words are not. [modes] has two bits
// each, from the lowest on: b, c, a and a fourth operand.
typedef struct tl_ins {
  uint8_t op;
  uint8_t modes;
  uint16_t a, b, c;
} tl_ins;

// What becomes of an operand in this instruction, as the compiler proved it. In
// a listing the marks are those of the second column.
typedef enum tl_mode {
  // No mark: it is read, and its OWNED bit is not looked at.
  TL_MODE_BORROW,
  // x!: the slot owns for certain, and this is its last use.
  TL_MODE_CONSUME,
  // x?: this is its last use, and it owns if its bit is set.
  TL_MODE_EITHER,
  // A constant or an immediate, not a slot.
  TL_MODE_CONST,
} tl_mode;

// b and c together as 32 bits: an extra index, or a jump's offset in words,
// counted from the next one.
static inline uint32_t tl_ins_extra(tl_ins ins) {
  return (uint32_t)ins.b | (uint32_t)ins.c << 16;
}

// Where tl_ins.modes has the mode of the operand in a field of the table of
// formats.
static inline int tl_mode_shift(char field) {
  static const uint8_t shifts[] = {4, 0, 2, 6};
  return shifts[field - 'a'];
}

// Where an instruction with a second word remembers what it found, in a field
// that its format leaves free (TL_FORMAT_ABX): a hint, which is tested before
// it is believed, so that any value is right.
static inline uint16_t *tl_ins_hint(const tl_ins *ins) {
  return (uint16_t *)&ins[1].a;
}

// Slots of a function at most: times 16, their offsets fit the 16 bits of a
// field.
enum { TL_MAX_SLOTS = 4095 };

typedef struct tl_region_cached tl_region_cached;

// A run of instructions around elementwise operations that may be computed in
// one pass (vm/region/region.h). The compiler marks it; the fields from
// asked_at on are what the VM has learned about it, and only hints.
typedef struct tl_region {
  // In words of the code, end excluded.
  uint32_t start, end;
  // Where the VM has given up: entering at what lies behind asked_at and before
  // skip would fail again. Only a hint.
  uint32_t asked_at, skip;
  // Cached graphs and plans of earlier runs (region_cache.c).
  tl_region_cached *cached;
  // Runs whose operands fitted no cached plan, since the last that did …
  uint32_t runs;
  // … and for how many times, therefore, the region is not tried.
  uint32_t wait;
  // The instruction from which the region cannot run, as its pc plus one; how
  // often that was found, and for how many times it is not tried again.
  uint32_t refused_at;
  uint32_t rejections;
  uint32_t refused_wait;
  // Nothing but numbers was found from there on: that an operand is large does
  // not matter then.
  bool refused_numbers;
  // If the result of the last run that was read was small, the items of the
  // array that asked; else 0. One with more items is another matter.
  int64_t small_items;
  // It is no region by itself, but only together with those behind it.
  bool is_part;
  // It may run together with the regions behind it, up to this pc: one pass
  // computes several results. If that last failed, it runs alone for
  // [disjoint] times, which grow with the failures in a row. A region that has
  // no such others has its own end here.
  uint32_t together;
  uint16_t disjoint;
  uint8_t disjoint_runs;  // how often they could not, in a row
} tl_region;

// Where the instructions from [pc] on stand in the source, as byte offsets: the
// expression is [begin, end), the operator or name that a message points to is
// at [at].
typedef struct tl_place_entry {
  uint32_t pc;
  uint32_t begin, end, at;
} tl_place_entry;

// An error in [start, end) has to drop what the slot owns; with [either] only
// if its bit says that it owns.
typedef struct tl_unwind_range {
  uint32_t start, end;
  uint16_t slot;
  uint8_t either;
} tl_unwind_range;

// A try: an error raised in [start, end) goes on at [handler]. Slots in [kept]
// stay as they are; those in [own] are made owners first, because what they
// borrow from is dropped on the way. Everything else that the frame owns is
// dropped.
typedef struct tl_handler {
  uint32_t start, end;
  uint32_t handler;
  uint16_t kept_count, own_count;
  const uint16_t *kept, *own;
} tl_handler;

// The extra of the CATCH that a handler begins with. A landing pad is the
// compiler's own: it undoes something and goes on unwinding. An unnamed `catch`
// does not look at the error, and one for its text only at kind and message.
typedef enum tl_catches {
  TL_CATCHES_NAMED,
  TL_CATCHES_PAD,
  TL_CATCHES_UNNAMED,
  TL_CATCHES_TEXT,
  TL_CATCHES_NOTHING  // of no handler
} tl_catches;

// A parameter of a script function; [pattern] is the type after its colon, or
// NULL.
typedef struct tl_function_param {
  tl_string *name;
  tl_param_kind kind;
  tl_type *pattern;  // NULL: none
} tl_function_param;

// One thing that a function's result may borrow from.
typedef struct tl_result_borrow_owner {
  // Index of the parameter; UINT16_MAX: something immortal.
  uint16_t param;
  // tl_relation: the result is the same object, an item, a view, or a container
  // that borrows from it.
  uint8_t relation;
} tl_result_borrow_owner;

// What callers of a known function may rely on, so that the call needs no
// counts. The compiler derives it, the verifier proves it.
//
//     fn first(xs) = xs[0]     borrows xs; the result may borrow a part of xs
//     fn twice(x) = x + x      may consume x; the result is owned
typedef struct tl_summary {
  // For each parameter TL_MODE_BORROW (the caller keeps it) or TL_MODE_EITHER
  // (the function drops it where its bit says so).
  uint8_t *param_modes;
  // Whether the result may be owned, and whether it may be borrowed from one of
  // [borrow_owners].
  bool may_own, may_borrow;
  uint16_t borrow_owner_count;
  tl_result_borrow_owner *borrow_owners;
  // It calls something unknown, which may assign any module variable.
  bool rebinds_any;
  // The module variables that it may assign, in order.
  uint32_t rebind_count;
  uint32_t *rebinds;
} tl_summary;

// How one argument of a call is given, where position alone does not say it.
// Only calls of unknown callees and calls that spread have a shape.
typedef struct tl_call_argument {
  // 0 by position, 1 spread (...x), 2 by name.
  uint8_t kind;
  tl_string *name;  // of a named one
} tl_call_argument;
// A call's arguments in the order of its window.
typedef struct tl_call_shape {
  uint32_t count;
  tl_call_argument *arguments;
} tl_call_shape;

// Whether a region may compute calls of a function as part of itself
// (compiler/fusion.c), and if not, why.
typedef enum tl_inlining {
  TL_JOINS_UNKNOWN,
  // It computes nothing that a region could.
  TL_JOINS_NOT,
  // It is too long.
  TL_JOINS_NOT_LONG,
  // It catches errors.
  TL_JOINS_NOT_CATCHES,
  // One of its instructions cannot stand in a region.
  TL_JOINS_NOT_HERE,
  // It is a few operations in a row, and can be.
  TL_JOINS,
  // The same, with views of its arguments.
  TL_JOINS_VIEWS,
} tl_inlining;

// A script function's code. As a value (without captures) it is immortal: it
// lives as long as its unit.
typedef struct tl_prototype {
  tl_object head;
  struct tl_unit *unit;
  // Its place in the unit's prototypes.
  uint32_t index;
  tl_string *name;  // "" for a lambda
  tl_string *doc;   // or NULL
  // Its parameters in the source, as byte offsets; equal: it has none.
  uint32_t params_begin, params_end;
  uint32_t param_count;
  // From so many arguments by position to so many, each stands where its
  // parameter is, and all others have defaults. With a ...rest no number does.
  //
  //     fn f(a, b = 2, c: 3)    1 to 2
  //     fn f(a, b)              2 to 2
  uint32_t least_count, most_count;
  bool has_rest;  // a ...rest parameter
  // All parameters are required and have no type pattern, so arguments by
  // position need no binding.
  bool plain;
  // Some of its code stands under #:inplace; what does not pays nothing for
  // that.
  bool has_contracts;
  tl_function_param *params;
  // Of the closure group that it belongs to, which all members share.
  uint32_t capture_count;
  // Its index in that group.
  uint32_t member;
  // Slots of its frame, at least 4 (slots.c counts on that).
  uint32_t slot_count;
  uint32_t code_count;
  tl_ins *code;
  uint32_t constant_count;
  // Never owned by slots: immortal while the unit is.
  tl_slot *constants;
  uint32_t place_count;
  tl_place_entry *places;  // sorted by pc
  uint32_t range_count;
  tl_unwind_range *ranges;  // sorted by start
  // The pcs, in order, of calls across which some slot borrows from a module
  // variable that the unit takes for invariant.
  uint32_t relying_count;
  uint32_t *relying;
  uint32_t region_count;
  // In order, and disjoint.
  tl_region *regions;
  // For each instruction the number of items that an operand must have for its
  // region to be tried, as a power of two; TL_NO_REGION: it is in no region.
  uint8_t *region_items;
  uint8_t region_least;  // the smallest of them; TL_NO_REGION: it has none
  uint32_t handler_count;
  tl_handler *handlers;       // disjoint: each pc has one at most
  uint32_t named_count;       // the first slots: those that may have a name
  tl_string **slot_names;     // of variables; NULL for hidden ones
  tl_string **capture_names;  // of the group's captures
  tl_summary summary;
  // 0 not yet, 1 proved, 2 rejected.
  uint8_t verified;
  // tl_inlining: whether a region that calls it may take it in.
  uint8_t joins;
  // The instruction that is the reason why not.
  uint32_t joins_not;
  // Machine code of its loops and of itself (vm/native/jit.h), or NULL; it ends
  // with the unit.
  struct tl_kept *machine_code;
  // The line of each word, of code that was compiled to be debugged; else NULL.
  uint32_t *lines;
  // Audit builds: for each pc the set of slots that own, as bits.
  uint64_t *owners_at;
  // The whole definition in the source, as byte offsets.
  uint32_t begin, end;
} tl_prototype;

// A shift by which no number of items is left.
enum { TL_NO_REGION = 63 };

// Whether an instruction with an operand of [items] items is to be run as part
// of its region: one shift and a load, since it is asked at each operation.
static inline bool tl_may_fuse(const tl_prototype *function, const tl_ins *ins,
                               int64_t items) {
  return items >> function->region_least != 0 &&
         items >> function->region_items[ins - function->code] != 0;
}

// A closure, or a group of local functions that name each other: one object,
// one count, one set of captures. A member's value is a slot with this object
// and the member's index in its tag (bits 32-47).
typedef struct tl_closure {
  tl_object head;
  uint32_t member_count;
  uint32_t capture_count;
  tl_prototype *const *members;
  tl_slot captures[];  // heap slots
} tl_closure;

// Which member of its group a closure's slot is.
static inline uint32_t tl_member_index(tl_slot s) {
  return (uint32_t)(s.tag >> 32 & 0xffff);
}
// Whether a value is a function of a script.
static inline bool tl_is_script(tl_slot s) {
  return tl_is_kind(s, TL_KIND_FUNCTION) || tl_is_kind(s, TL_KIND_CLOSURE);
}
// The prototype behind a FUNC slot of kind FUNCTION or CLOSURE.
static inline tl_prototype *tl_function_prototype(tl_slot s) {
  if (tl_is_kind(s, TL_KIND_FUNCTION))
    return s.pointer;
  const tl_closure *closure = s.pointer;
  return closure->members[tl_member_index(s)];
}

// Whether so many arguments by position are the parameters as they stand, so
// that nothing has to be bound: those behind are unset, which is a default.
static inline bool tl_stands_in_place(const tl_prototype *function,
                                      uint32_t count) {
  return count >= function->least_count && count <= function->most_count;
}

// The functions of a closure object that CLOSURE makes.
typedef struct tl_group {
  uint32_t member_count;
  tl_prototype **members;
} tl_group;

// An in-place contract: source between [begin] and [end] (bytes) that says
// #:inplace. A unit's contracts are in the order of their beginnings; one may
// stand inside another.
typedef struct tl_contract {
  uint32_t begin, end;
  // The largest end of this one and those before it, for searching.
  uint32_t reach;
} tl_contract;

// All code compiled from one text.
struct tl_unit {
  tl_module *module;
  // Of the same module.
  tl_unit *next;
  // The name by which messages call it.
  tl_string *file;
  // The source, for excerpts.
  char *text;
  size_t nbytes;
  uint32_t line_count;
  uint32_t *line_starts;
  uint32_t prototype_count;
  // [0] is the module's own code.
  tl_prototype **prototypes;
  uint32_t path_count;
  tl_path *paths;
  uint32_t shape_count;
  tl_call_shape *shapes;
  uint32_t group_count;
  tl_group *groups;
  // Lists of names, of record literals and selections such as r.{a, b}.
  uint32_t key_count;
  struct tl_keys {
    uint32_t count;
    tl_string **names;
  } * keys;
  uint32_t contract_count;
  tl_contract *contracts;
  // The module's variables, as a bit set, that this code takes for invariant:
  // none of its functions assigns them, so its slots may borrow from them
  // across calls. If other code assigns one while such a call is under way, the
  // old value is kept until all calls have ended (tl_module_assign).
  uint32_t invariant_words;
  uint64_t *invariant;
  // Names of fields and modules, and format specifications.
  uint32_t name_count;
  tl_string **names;
  // The memory of everything above, freed at once.
  struct tl_chunk *chunks;
  // Its immortal objects: constants and names (module.h).
  struct tl_adopted *adopted;
  // The auditor has to look at some of them: at lists, and after tl_unit_borrow
  // at all.
  bool has_counted;
  // Set while units are reclaimed: something leads to it.
  bool is_reached;
};

// How far the import of a module has come.
typedef enum tl_module_state {
  TL_MODULE_NEW,
  TL_MODULE_RUNNING,  // importing it now would be a circle
  TL_MODULE_READY,
  TL_MODULE_FAILED,
} tl_module_state;

// A module: the variables that its units share.
struct tl_module {
  tl_object head;  // kind MODULE, immortal
  tl_module *next;
  tl_string *name;  // "main", "linalg", a path
  // The directory that its imports start from, or NULL.
  tl_string *path;
  // The library module whose functions in C are its members, or NULL.
  const char *builtin;
  tl_unit *units;
  uint32_t variable_count, variable_capacity;
  tl_string **variable_names;
  // Heap slots. The array may move, but only while code is compiled.
  tl_slot *variables;
  // For each: some unit takes it for invariant.
  bool *is_invariant;
  // For each: some function declares it global.
  bool *is_shared;
  // Hash of the file that it was read from.
  uint64_t text_hash;
  uint8_t state;  // tl_module_state
  // Of the module of a global function: 1 + its variable; 0: not asked for yet.
  uint32_t own;
};

// A call record. Records stand behind the stack of slots, not among them, so
// that arguments and results of nested calls stay side by side.
struct tl_frame {
  // The instruction under way, while it calls.
  const tl_ins *pc;
  // Slot 0.
  tl_slot *base;
  tl_prototype *function;
  // The running closure, or NULL.
  tl_closure *closure;
  uint32_t flags;
};
enum {
  // Called from C: its return leaves the loop.
  TL_FRAME_ENTRY = 1,
  // Its caller knows no summary, so its result has to be owned.
  TL_FRAME_OWNS = 2,
  // It is the library's, and its caller has an in-place contract.
  TL_FRAME_HELD = 4,
};

// The place of the frame's instruction in its function's code. Of frames
// further out this is the call under way.
static inline uint32_t tl_frame_pc(const tl_frame *frame) {
  return (uint32_t)(frame->pc - frame->function->code);
}

// --- Running ----------------------------------------------------------------

// Verifies the unit's prototypes where that has not been done, and runs its own
// code. *out is owned; false after tl_fail.
bool tl_run_unit(tl_vm *vm, tl_unit *unit, tl_slot *out);

// --- Reading bytecode -------------------------------------------------------

// An instruction decoded: the one place where the listing, the verifier and the
// auditor learn where its operands are.
typedef struct tl_decoded {
  uint8_t op;
  // 1 or 2.
  uint8_t words;
  // The slot written, -1: none; and how many are written from there on.
  int32_t result;
  uint32_t result_count;
  uint32_t operand_count;
  // Slots outside the window.
  uint16_t operands[8];
  // tl_mode of each of them.
  uint8_t modes[8];
  // Slots that are taken over as a whole; count 0: none.
  uint32_t window, window_count;
  // Of CALLB: the slot that gets the window's first operand back if the call
  // fails; -1: it is consumed all the same.
  int32_t back;
  uint32_t extra;
  // The pc jumped to, -1: none.
  int64_t target;
  bool falls_through;
} tl_decoded;
// Decodes the instruction at [pc] into *out. Fields that are out of range are
// passed on as they are: the verifier checks them.
void tl_decode(const tl_prototype *function, uint32_t pc, tl_decoded *out);
// Only what it writes: tl_decoded.result and, in [count], result_count.
int32_t tl_decode_result(const tl_prototype *function, uint32_t pc,
                         uint32_t *count);
// Whether the instruction writes the slot.
static inline bool tl_decoded_sets(const tl_decoded *ins, uint32_t slot) {
  return slot - (uint32_t)ins->result < ins->result_count;
}

// Where an instruction stands in the source; NULL: unknown. Borrowed from the
// function.
const tl_place_entry *tl_place_at(const tl_prototype *p, uint32_t pc);
// The handler that an error of the instruction goes to, which is the innermost;
// NULL: none. Borrowed from the function.
const tl_handler *tl_handler_at(const tl_prototype *p, uint32_t pc);
// What a handler is, or NULL.
tl_catches tl_handler_kind(const tl_prototype *p, const tl_handler *h);
// Which `catch` of the function an error of the instruction at [pc] comes to,
// perhaps behind landing pads, which raise it again.
tl_catches tl_catches_at(const tl_prototype *p, uint32_t pc);
// Whether an error now would put something back that a frame had taken out of
// its place: an update such as x[i] += f(y) is under way. True too where no
// script runs.
bool tl_has_taken(const tl_vm *vm);
// The line, from 1, that holds the byte at [at] of the unit's text.
uint32_t tl_line_of(const tl_unit *unit, uint32_t at);
// The source line of an instruction, counted from 1; 0: unknown.
uint32_t tl_line_at(const tl_prototype *p, uint32_t pc);
// The text of a line (from 1) without the blanks around it; not terminated,
// *nbytes long, and part of the unit's text.
const char *tl_line_text(const tl_unit *unit, uint32_t line, size_t *nbytes);

// Proves that a function's bytecode keeps to the rules of ownership
// (vm/verify/verify.h). Returns false after tl_fail (kind host), whose message
// names the function, the instruction and the rule.
bool tl_verify(tl_vm *vm, tl_prototype *function);
