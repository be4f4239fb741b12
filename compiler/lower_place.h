// Places that are assigned, r.a[3].b, and three methods to set one. Within
// lowering.
//
//   tl_place_set       SETPATH: writes into the variable's value
//   tl_global_begin …  of a module variable: moved out, written, put back
//   tl_take_assign …   r.a[k] = g(r.a[k]): the item is moved out as well
//
// A place is planned (slots for its parts), its parts are evaluated once, and
// then it may be read, written, or both.
#pragma once

#include "compiler/lower.h"

// A target's steps as a path of the unit, and slots for the values between its
// brackets.
typedef struct tl_target_place {
  tl_target *target;
  tl_variable *variable;
  int32_t first;       // slot of the first part
  int32_t indices[2];  // the slots of the one or two parts of SETEL, SETEL2
  uint32_t parts;
  uint32_t path;
} tl_target_place;

// Finds slots for the parts, and with [path] adds the path to the unit;
// evaluates nothing.
void tl_place_plan(tl_lower *l, tl_target *target, bool path,
                   tl_target_place *out);
// Evaluates the parts. [alone]: nothing is assigned between here and the
// update, so an index that is a variable need not be copied.
void tl_place_parts(tl_lower *l, bool alone, tl_target_place *place);
// tl_place_plan and then tl_place_parts.
void tl_place_lower(tl_lower *l, tl_target *target, bool alone,
                    tl_target_place *out);
// Whether the place is x[i], or x[i, j] with [most] 2: plain indices, no slices
// or fields.
bool tl_place_is_item(const tl_target_place *place, uint32_t most);
// Reads the place with the parts that are evaluated already, of what is in slot
// [base], -1: of the variable; returns a temporary with the value.
int32_t tl_place_read(tl_lower *l, const tl_target_place *place, int32_t base);
// place = value.
void tl_place_set(tl_lower *l, const tl_target_place *place, int32_t value);
// The same for the container in slot [variable]: a variable, or a value moved
// out of the module. [op] is SETPATH (or SETEL, SETEL2 in its place) or
// UNTAKE.
void tl_place_update(tl_lower *l, const tl_target_place *place, tl_opcode op,
                     int32_t variable, int32_t value);

// --- A module variable within a statement ------------------------------------

// Begins it for the variable of [place], the target of an assignment or one of
// its targets. [value] is evaluated first; NULL: it has been. False: it is no
// module variable, or somebody might miss it.
bool tl_global_begin(tl_lower *l, const tl_ast_assign *assign,
                     const tl_target *place, tl_ast *value,
                     tl_taken_global *taken);
// Puts it back, and closes the landing pad.
void tl_global_end(tl_lower *l, tl_taken_global *taken, tl_span span);
// Whether a call runs code that may change variables of the module.
bool tl_calls_unknown(tl_lower *l, tl_ast *call);

// --- get(r, k, fallback) ----------------------------------------------------

// Enters a block where the key of the place r[k] is there; [no] is where it is
// not. The parts of the place have been evaluated.
void tl_enter_found(tl_lower *l, const tl_target_place *place, int32_t no,
                    bool as_get, tl_span span);

// --- Take, update, put (lower_take.c) ---------------------------------------

// target = value, where value uses the target's old value: a place, a variable
// of the module, or one of this function that concat goes on. False: nothing is
// lowered, because what is taken out would be missed, or nothing is gained.
bool tl_take_assign(tl_lower *l, tl_target *target, tl_ast *value);
// a, place, … = value, where one target takes its old value and all others are
// names; [rest] is ...rest, or the number of targets if none is. [is_pair]: the
// value is a call of a function of TL_PAIR. False likewise.
bool tl_take_one_of(tl_lower *l, tl_target *target, tl_ast *value,
                    uint32_t rest, bool is_pair);
// place op= value, and get(r, k, fallback) op= value.
void tl_lower_place_update(tl_lower *l, tl_ast *ast);

// The place whose old value is used by the new one, while that is lowered.
struct tl_taking {
  const tl_ast *leaf;  // the place's old value within the new one
  bool is_late;        // others read the container before it is used
  bool is_again;       // the old value stands there more than once
  bool is_out;         // it is in [item] from here on
  bool is_whole;       // the place is a variable itself, which stays there
  tl_target_place place;
  int32_t item;  // slot of what was taken
  int32_t base;  // of the container
  int32_t pad, saved;
};

// Whether [ast] reads just what [target] sets.
bool tl_reads(const tl_ast *ast, const tl_target *target);
