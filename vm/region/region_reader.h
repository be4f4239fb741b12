// Shared by the files that read a region's instructions as a graph:
//
//   region_slots.c   what slots hold; loads, moves and ends
//   region_views.c   slices, transposes, rolled arrays, selections
//   region_calls.c   calls of small functions, also such that only a run knows
//   region_read.c    operations, what a region ends in, the whole
//
// All that read return false where the region cannot be read on; nothing but
// the graph has been written then.
#pragma once

#include "vm/region/region_internal.h"

// A reader within a call is a copy of the one around it, one level deeper.
typedef struct tl_region_reader {
  tl_region_graph *g;
  // The code that is read: the region's function, or one that it calls, whose
  // slots begin at the call's window.
  const tl_prototype *function;
  uint32_t slots;
  int8_t callee;  // its number among the callees, -1: the region's own unit
  int depth;      // of calls
  uint32_t at;    // the region's own instruction
  uint32_t end;   // the pc after it
  uint32_t done;  // the pc after the last one that did more than load
  uint32_t last;  // the pc after the region: 0, several are read together
  bool cuts;      // places where one result is left are looked for …
  uint32_t cut;   // … and this is the last of them; 0: none
} tl_region_reader;

// What a slot holds: the number of a node, or -1 - that of a use, in *in.
// In a callee only what it has set itself can be looked up.
bool tl_reader_look_up(tl_region_reader *rd, uint32_t slot, int *in);

// The last binding of a slot, NULL: none.
// Returns borrowed, until the next binding is made.
tl_region_binding *tl_reader_binding(const tl_region_graph *g, uint32_t slot);
// Whether a slot will hold what its binding says: a value of its own from
// before, or what it gets in the end. Views are not made, nor moves of arrays.
bool tl_reader_is_there(const tl_region_graph *g, const tl_region_binding *b);

// From here on [slot] holds [in]. [binds]: see tl_region_binding.
// [binds] only takes effect in the region's own frame, not within a callee.
// False: there are too many bindings.
bool tl_reader_bind(tl_region_reader *rd, uint32_t slot, int in, bool binds);

// A use's value; NULL for a node.
static inline tl_region_use *tl_reader_use(const tl_region_reader *rd, int in) {
  return in >= 0 ? NULL : &rd->g->uses[-1 - in];
}

// Adds a use; returns its operand number, 0 where there are too many.
// [root] is the number of the slot's root, or -1. Borrows the value.
int tl_reader_add_use(tl_region_reader *rd, tl_slot value, int root,
                      bool direct);
// A use that is the same in each run, since it stands in the code.
int tl_reader_add_literal(tl_region_reader *rd, tl_slot value);

// Notes where the use [in] comes from.
// Without room for it the graph is not cached, and good for this run alone.
void tl_reader_add_guard(tl_region_reader *rd, int in, tl_region_guard guard);

// The use that was loaded as the guard says, or a new one with the guard.
// Returns its operand number, 0 where there are too many. Borrows the value.
int tl_reader_add_loaded(tl_region_reader *rd, tl_slot value,
                         tl_region_guard guard);

// An instruction ends what it reads: of a view only the view's object, which
// here there is none of.
// Does nothing for a mode that borrows.
void tl_reader_consume(tl_region_reader *rd, uint32_t slot, int in,
                       uint8_t mode);

// Whether it may be computed with: a node (NULL), a number, a plain array.
bool tl_region_is_operand(const tl_region_use *u);

// Operand [i] of an instruction, which is to be computed with.
bool tl_reader_operand(tl_region_reader *rd, const tl_decoded *d, uint32_t i,
                       int *in);

// A call's arguments but the first: scalars, constants and lists, which end
// there.
// Argument i goes to out[i], borrowed; the graph is good for these values
// alone.
bool tl_reader_arguments(tl_region_reader *rd, const tl_decoded *d,
                         tl_slot *out);

// Any instruction of a function, at [pc].
// False where the instruction cannot stand in a region, or not with the
// values that its slots have now.
bool tl_reader_one(tl_region_reader *rd, uint32_t pc, const tl_decoded *d);

// The function that a call goes to, in inner->function and inner->callee.
// [inner] is a copy of [rd] before the call. A function of a closure becomes a
// callee with a guard for its code.
bool tl_reader_callee(tl_region_reader *rd, const tl_decoded *call,
                      tl_region_reader *inner);

// One instruction each.
bool tl_reader_inline(tl_region_reader *rd, const tl_decoded *call);
// A function that is called from a slot: the region needs it to be there to the
// end.
bool tl_reader_own(tl_region_reader *rd, const tl_decoded *d);
// The number of a literal or variable becomes a use, and the slot shows it.
bool tl_reader_load(tl_region_reader *rd, const tl_decoded *d);
// MOV ends its source, MOVB borrows from it.
bool tl_reader_move(tl_region_reader *rd, const tl_decoded *d);
// What it ends may be the memory of a later result.
bool tl_reader_drop(tl_region_reader *rd, const tl_decoded *d);
// Fails for arrays that are none of the region's views: these need it.
bool tl_reader_hold(tl_region_reader *rd, const tl_decoded *d);
// Guarded by whether the ownership went over, since both slots can be either.
bool tl_reader_transfer(tl_region_reader *rd, const tl_decoded *d);
// r.name of a record or module, l[i] of a list, len(x), x.size: numbers,
// arrays, functions, further containers.
bool tl_reader_item(tl_region_reader *rd, const tl_decoded *d);
// An index of numbers and slices; one of arrays fails here.
bool tl_reader_view(tl_region_reader *rd, const tl_decoded *d);
// False for other names, which tl_reader_item is tried with.
bool tl_reader_transpose(tl_region_reader *rd,
                         const tl_decoded *d);  // .T and .mT
// Whether a node, or a use as -1 - its number, is a mask whatever the operands
// are.
bool tl_region_is_mask(const tl_region_graph *g, int in);
// Only as the last instruction of the region itself, not of a callee.
bool tl_reader_select(tl_region_reader *rd, uint32_t pc, const tl_decoded *d);
// The array again, as a view with a wrap; a roll of a roll adds the shifts.
bool tl_reader_roll(tl_region_reader *rd, const tl_decoded *d);

// The index of an instruction, whose operands before [first] are others.
bool tl_reader_index(tl_region_reader *rd, const tl_decoded *d, uint32_t first,
                     tl_region_index *index);
