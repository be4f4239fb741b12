// Script functions: bytecode, its side tables, closures and call records.
#ifndef TALLY_VM_FUNCTION_H
#define TALLY_VM_FUNCTION_H

#include "vm/builtin.h"
#include "vm/index/index.h"
#include "vm/interp/opcodes.h"
#include "vm/types/type.h"
#include "vm/vm.h"

// One instruction. Slots and constants reached through a, b, c are stored
// times 16, so that a handler adds them to a base; counts, immediates and
// extra words are not. [modes] has two bits each for b, c, a and a fourth.
typedef struct tl_ins {
  uint8_t op;
  uint8_t modes;
  uint16_t a, b, c;
} tl_ins;

typedef enum tl_mode {
  TL_MODE_BORROW,   // read; its OWNED bit is not looked at
  TL_MODE_CONSUME,  // x!  owns for certain, ends here
  TL_MODE_EITHER,   // x?  ends here if its bit is set
  TL_MODE_CONST,    // a constant or an immediate
} tl_mode;

// b:c as 32 bits: an extra index or a jump's offset, in instructions from the
// next one.
static inline uint32_t tl_ins_extra(tl_ins ins) {
  return (uint32_t)ins.b | (uint32_t)ins.c << 16;
}

enum { TL_MAX_SLOTS = 4095 };  // of a function

typedef struct tl_region_kept tl_region_kept;

// Code whose elementwise instructions may run as one (region.h).
typedef struct tl_region {
  uint32_t start, end;
  // Where the VM has given up: entering at what lies behind asked_at and before
  // skip would fail again. Only a hint.
  uint32_t asked_at, skip;
  tl_region_kept *kept;   // earlier runs (region_kept.c)
  uint32_t runs;          // up to now that were not like a kept one
  uint32_t wait;          // times not to ask, for that
  uint32_t refused_at;    // what cannot run from here, the pc and one,
  uint32_t refusals;      // was found so often,
  uint32_t refused_wait;  // and is not asked so many times
  bool was_small;         // the result of the last run that was read
  bool is_part;           // no region but together with others
  // It may run together with the regions behind it up to here; where they last
  // could not, it runs apart so many times. Without others: its end.
  uint32_t together;
  uint16_t apart;
  uint8_t apart_runs;  // how often they could not, in a row
} tl_region;

// Where an instruction stands in the source: byte offsets.
typedef struct tl_place_entry {
  uint32_t pc;
  uint32_t begin, end, at;
} tl_place_entry;

// In [start, end) the slot owns what it holds (either: if its bit is set).
typedef struct tl_unwind_range {
  uint32_t start, end;
  uint16_t slot;
  uint8_t either;
} tl_unwind_range;

// A try: an error raised in [start, end) goes to handler, with the innermost
// first. Slots in kept stay; those in own are made owners first.
typedef struct tl_handler {
  uint32_t start, end;
  uint32_t handler;
  uint16_t kept_count, own_count;
  const uint16_t *kept, *own;
} tl_handler;

typedef struct tl_function_param {
  tl_string *name;
  tl_param_kind kind;
  tl_type *pattern;  // NULL: none
} tl_function_param;

// What callers may rely on; the verifier checks it.
typedef struct tl_result_lender {
  uint16_t param;    // UINT16_MAX: an immortal
  uint8_t relation;  // tl_relation: same, part or hold
} tl_result_lender;

typedef struct tl_summary {
  uint8_t *param_modes;      // per parameter: TL_MODE_BORROW or TL_MODE_EITHER
  bool may_own, may_borrow;  // what the result is
  uint16_t lender_count;
  tl_result_lender *lenders;
  bool rebinds_any;       // calls something unknown
  uint32_t rebind_count;  // module variables it may rebind
  uint32_t *rebinds;
} tl_summary;

// A call's arguments where position alone does not say it: for each argument
// in the window, how it is given. Unknown callees and spreading only.
typedef struct tl_call_argument {
  uint8_t kind;     // 0 positional, 1 spread, 2 named
  tl_string *name;  // of a named one
} tl_call_argument;
typedef struct tl_call_shape {
  uint32_t count;
  tl_call_argument *arguments;
} tl_call_shape;

// Whether a region may take in the calls of a function
// (compiler/fusion_inline.c).
typedef enum tl_inlining {
  TL_JOINS_UNKNOWN,
  TL_JOINS_NOT,  // it computes nothing that a region may
  TL_JOINS_NOT_LONG,
  TL_JOINS_NOT_CATCHES,  // errors
  TL_JOINS_NOT_HERE,     // an instruction cannot stand in a region
  TL_JOINS,              // a few operations in a row
  TL_JOINS_VIEWS,        // likewise, with views of its arguments
} tl_inlining;

// A script function's code. As a value (no captures) it is immortal: it lives
// as long as its unit.
typedef struct tl_prototype {
  tl_object head;
  struct tl_unit *unit;
  uint32_t index;   // in the unit's prototypes
  tl_string *name;  // "" for a lambda
  tl_string *doc;   // or NULL
  uint32_t param_count;
  uint32_t required_count;
  bool has_rest;  // a ...rest parameter
  bool plain;     // required parameters only, no pattern
  tl_function_param *params;
  uint32_t capture_count;  // of the closure group it belongs to
  uint32_t member;         // its index in the group
  uint32_t slot_count;     // of a frame, at least 4
  uint32_t code_count;
  tl_ins *code;
  uint32_t constant_count;
  tl_slot *constants;  // never owned by slots: immortal while the unit is
  uint32_t place_count;
  tl_place_entry *places;  // sorted by pc
  uint32_t range_count;
  tl_unwind_range *ranges;  // sorted by start
  // Calls across which a variable lends that the unit takes for steady: their
  // pcs, in order.
  uint32_t relying_count;
  uint32_t *relying;
  uint32_t region_count;
  tl_region *regions;  // sorted, apart
  // For each instruction, as a power of two, the items that an operand must
  // have for its region to be asked; TL_NO_REGION: it is in none.
  uint8_t *region_items;
  uint32_t handler_count;
  tl_handler *handlers;       // innermost first where they overlap
  uint32_t named_count;       // the first slots: those that may have a name
  tl_string **slot_names;     // of variables; NULL for hidden ones
  tl_string **capture_names;  // of the group's captures
  tl_summary summary;
  uint8_t verified;     // 0 not yet, 1 yes, 2 refused
  uint8_t joins;        // tl_inlining: of a region that calls it
  uint32_t joins_not;   // the instruction that is why not
  uint64_t *owners_at;  // for the auditor: a set of slots for each pc
} tl_prototype;

enum {
  TL_FUSED_LEAST = 4,  // as a power of two, as region_items are
  TL_NO_REGION = 63,
};

// Whether an instruction with an operand of so many items is to be run as part
// of its region.
static inline bool tl_may_fuse(const tl_prototype *function, const tl_ins *ins,
                               int64_t items) {
  return items >> TL_FUSED_LEAST != 0 && function->region_count > 0 &&
         items >> function->region_items[ins - function->code] != 0;
}

// A closure, or a group of local functions that name each other: one object,
// one count, one set of captures. A member's value is this object and an index
// in the slot's tag (bits 32-47).
typedef struct tl_closure {
  tl_object head;
  uint32_t member_count;
  uint32_t capture_count;
  tl_prototype *const *members;
  tl_slot captures[];  // heap slots
} tl_closure;

static inline uint32_t tl_member_index(tl_slot s) {
  return (uint32_t)(s.tag >> 32 & 0xffff);
}
// The prototype behind a FUNC slot of kind FUNCTION or CLOSURE.
tl_prototype *tl_function_prototype(tl_slot s);

// A library function with values of its own: compose(f, g).
typedef struct tl_native {
  tl_object head;
  const tl_builtin *builtin;  // gets values before the call's arguments
  uint32_t count;
  tl_slot values[];  // heap slots
} tl_native;
tl_native *tl_native_new(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                         tl_slot *values);

// A group that CLOSURE makes.
typedef struct tl_group {
  uint32_t member_count;
  tl_prototype **members;
} tl_group;

// Source that says #:inplace: bytes from [begin] to [end]. In the order of
// their beginnings; one may stand in another.
typedef struct tl_promise {
  uint32_t begin, end;
  uint32_t reach;  // the last end of this one and those before
} tl_promise;

// All code compiled from one text.
struct tl_unit {
  tl_module *module;
  tl_unit *next;    // of the module
  tl_string *file;  // as messages name it
  char *text;       // the source, for excerpts
  size_t nbytes;
  uint32_t line_count;
  uint32_t *line_starts;
  uint32_t prototype_count;
  tl_prototype **prototypes;  // [0] is the module's own code
  uint32_t path_count;
  tl_path *paths;
  uint32_t shape_count;
  tl_call_shape *shapes;
  uint32_t group_count;
  tl_group *groups;
  uint32_t key_count;  // lists of names: record literals, field selections
  struct tl_keys {
    uint32_t count;
    tl_string **names;
  } * keys;
  uint32_t promise_count;
  tl_promise *promises;
  // Variables of the module, as a bit set, that this code takes for steady:
  // none of its functions assigns them, and what other code does while a call
  // of this one is under way is made to wait (tl_module_assign).
  uint32_t steady_words;
  uint64_t *steady;
  uint32_t name_count;  // field names, module names, format specifications
  tl_string **names;
  struct tl_chunk *chunks;     // everything above, freed at once
  struct tl_adopted *adopted;  // its immortal objects (module.h)
  bool is_reached;             // while units are reclaimed
};

// A module's variables.
struct tl_module {
  tl_object head;  // kind MODULE, immortal
  tl_module *next;
  tl_string *name;      // "main", "linalg", a path
  tl_string *path;      // directory that imports start from; or NULL
  const char *builtin;  // a library module's name: its functions are built in
  tl_unit *units;
  uint32_t variable_count, variable_capacity;
  tl_string **variable_names;
  tl_slot *variables;  // heap slots; the array may move when compiling only
  bool *is_steady;     // for each: some unit takes it for steady
  uint8_t state;       // 0 new, 1 running, 2 done, 3 failed
};

// Call records stand apart from the slots.
struct tl_frame {
  const tl_ins *pc;  // the instruction under way, while it calls
  tl_slot *base;     // slot 0
  tl_prototype *function;
  tl_closure *closure;  // the running closure, or NULL
  uint32_t flags;
};
enum {
  TL_FRAME_ENTRY = 1,  // called from C: return leaves the loop
  TL_FRAME_OWNS = 2,   // its caller knows no summary: the result is owned
  TL_FRAME_HELD = 4,   // of the library: its caller promises (promise.h)
};

// --- Running ----------------------------------------------------------------

// Runs a unit's own code. *out is owned.
bool tl_run_unit(tl_vm *vm, tl_unit *unit, tl_slot *out);

// --- Reading bytecode -------------------------------------------------------

// An instruction taken apart: what the listing, the verifier and the auditor
// know of encodings.
typedef struct tl_decoded {
  uint8_t op;
  uint8_t words;   // 1 or 2
  int32_t result;  // slot, -1: none
  uint32_t operand_count;
  uint16_t operands[8];           // slots outside the window
  uint8_t modes[8];               // tl_mode of each
  uint32_t window, window_count;  // slots taken over whole; count 0: none
  int32_t back;  // CALLB: the slot that gets the window's first operand back
                 // where it fails, -1: it is consumed all the same
  uint32_t extra;
  int64_t target;  // pc jumped to, -1: none
  bool falls_through;
} tl_decoded;
void tl_decode(const tl_prototype *function, uint32_t pc, tl_decoded *out);

// Where an instruction stands in the source; NULL: unknown.
const tl_place_entry *tl_place_at(const tl_prototype *function, uint32_t pc);
// The source line of an instruction, from 1; 0: unknown. And the text of a
// line without the blanks around it, which is not terminated.
uint32_t tl_line_at(const tl_prototype *function, uint32_t pc);
const char *tl_line_text(const tl_unit *unit, uint32_t line, size_t *nbytes);

// Checks a function's bytecode (vm/verify/verify.h): false after
// tl_fail (kind host) naming the function, the instruction and the rule.
bool tl_verify(tl_vm *vm, tl_prototype *function);

// The listing that `tally dis` prints.
bool tl_disassemble_unit(tl_vm *vm, const tl_unit *unit, tl_text *out);

#endif
