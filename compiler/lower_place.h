// Places that are assigned: r.a[3].b. Within lowering.
#ifndef TALLY_COMPILER_LOWER_PLACE_H
#define TALLY_COMPILER_LOWER_PLACE_H

#include "compiler/lower.h"

// A target's steps: a path, and slots for the values between its brackets.
typedef struct tl_target_place {
  tl_target *target;
  tl_variable *variable;
  int32_t first;       // slot of the first part
  int32_t indices[2];  // the slots of the one or two parts of SETEL, SETEL2
  uint32_t parts;
  uint32_t path;
} tl_target_place;

// Finds slots for the parts, and with [path] adds the path. tl_place_parts
// evaluates the parts; [alone]: nothing is assigned between there and the
// update. tl_place_lower does both.
void tl_place_plan(tl_lower *l, tl_target *target, bool path,
                   tl_target_place *out);
void tl_place_parts(tl_lower *l, bool alone, tl_target_place *place);
void tl_place_lower(tl_lower *l, tl_target *target, bool alone,
                    tl_target_place *out);
// Whether the place is x[i], with at most [most] plain indices.
bool tl_place_is_item(const tl_target_place *place, uint32_t most);
// Reads the place with the parts that are there already.
int32_t tl_place_read(tl_lower *l, const tl_target_place *place);
// place = value.
void tl_place_set(tl_lower *l, const tl_target_place *place, int32_t value);
// The same for the container in slot [variable], a variable or a value taken
// out of the module. [op] is SETPATH (or what stands for it) or UNTAKE.
void tl_place_update(tl_lower *l, const tl_target_place *place, tl_opcode op,
                     int32_t variable, int32_t value);

// A module variable's value is taken out into [slot], changed and put back; a
// landing pad puts it back where the change fails.
typedef struct tl_taken_global {
  int32_t slot, pad, saved;
  uint32_t global;
} tl_taken_global;

void tl_global_take(tl_lower *l, const tl_variable *variable, tl_span span,
                    tl_taken_global *taken);
void tl_global_put(tl_lower *l, const tl_taken_global *taken, int32_t result,
                   tl_span span);

// --- Take, update, put (lower_take.c) ---------------------------------------

// place = value, where value uses the place's old value; place op= value.
// False: not lowered, since what is taken out would be missed or gains nothing.
bool tl_take_assign(tl_lower *l, tl_target *target, tl_ast *value);
// variable = value, for a variable of the module whose old value is used.
bool tl_take_whole(tl_lower *l, tl_target *target, tl_ast *value);
// (a, place) = value, where value is sure to be a list of two.
bool tl_take_pair(tl_lower *l, tl_target *target, tl_ast *value);
// Whether value is that: a call of a function of TL_PAIR.
bool tl_is_pair(tl_lower *l, const tl_target *target, const tl_ast *value);
// Two temporaries from the list in [value], which is such a value.
int32_t tl_unpack_pair(tl_lower *l, int32_t value, tl_span span);
bool tl_take_update(tl_lower *l, tl_ast *update);

#endif
