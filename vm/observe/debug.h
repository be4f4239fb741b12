// Following a run for a debugger: which lines, calls, returns and errors it
// comes by, the frames under way, and which of their variables have a value.
//
//     counting.c ── before ──▶ debug.c ── tell ──▶ vm/api/api_debug.c ─▶ host
//     unwind.c   ── raised ──▶
//
// Where nothing is counted the loop does none of this. Code that is compiled
// while somebody debugs has no fused regions, and its variables live until
// their function ends (compiler/lower_function.c); functions of the library are
// passed over. Whether a slot has a value at an instruction is the verifier's
// knowledge: it is asked again where somebody looks, and nothing is noted while
// the run goes.
#pragma once

#include "vm/bytecode/function.h"

enum { TL_DEBUG_EXPRESSIONS = 16 };

// One debugger's state. Allocated from the host, so that it is in no count.
typedef struct tl_debug {
  tally_debug_hook *hook;
  void *context;
  // Calls the hook, with a handle of the value that is returned, and says
  // whether the run goes on. vm/api hands it over.
  bool (*tell)(tl_vm *vm, tally_debug_info *info, tl_slot returned);
  bool was_counting;  // before it was debugged
  atomic_bool asked;  // tally_debug_pause
  bool ending;        // the hook wants the run to end
  bool told;          // the pending error was told
  // The last instruction: its frame's number, its place, whether it returned.
  ptrdiff_t depth;
  uint32_t pc, line;
  bool returned;
  // Which slots of [function] have a value before its instruction [at]. NULL
  // until a hook asks: kept for the time of one call of the hook.
  const tl_prototype *function;
  uint32_t at;
  uint8_t has_value[TL_MAX_SLOTS];
  // Expressions that were compiled lately, as functions that handles keep.
  struct tl_expression {
    char *text;  // NULL: a free place
    size_t size;
    const tl_module *module;
    tally_value function;
  } expressions[TL_DEBUG_EXPRESSIONS];
  unsigned newest;
} tl_debug;

// The observer's functions: see vm/events.h.
bool tl_debug_before(tl_vm *vm);
void tl_debug_raised(tl_vm *vm);

// The frame of a script's code that is [index] calls out from the innermost
// one; NULL: there are not so many.
const tl_frame *tl_debug_frame(const tl_vm *vm, size_t index);
// The line that the frame is at, from 1; 0: unknown.
uint32_t tl_debug_line(const tl_frame *frame);

// The variable of that name in the frame: a slot of it, a captured value, or a
// variable of its module. *slot is borrowed; NULL: the name is the frame's own,
// but it has no value now. Returns false where the frame knows no such
// variable, and after tl_fail where there is no memory to find out.
bool tl_debug_find(tl_vm *vm, const tl_frame *frame, const char *name,
                   size_t nbytes, tl_slot **slot);
// The name of the frame's [index]-th variable: parameters and locals, captures,
// or, at a module's top, its variables. NULL behind the last; "" for one that
// no script can name.
const char *tl_debug_name(const tl_frame *frame, uint32_t index);

// Assigns [value], which is taken, to a variable of the frame: false after
// tl_fail (kind name) where it knows none, (kind value) where others borrow
// from the variable, or where it has no value that could be replaced.
bool tl_debug_assign(tl_vm *vm, const tl_frame *frame, const char *name,
                     size_t nbytes, tl_slot value);
