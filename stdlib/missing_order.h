// Functions of order for values that may be missing.
#ifndef TALLY_STDLIB_MISSING_ORDER_H
#define TALLY_STDLIB_MISSING_ORDER_H

#include "vm/builtin.h"
#include "vm/nested/nested.h"

// Values as their places among the distinct ones.
typedef struct tl_coded {
  tl_slot
      values;     // the distinct ones in order; where any is missing, that last
  tl_slot codes;  // int64, of the array's shape
} tl_coded;

// Of [x] of TL_FORM_OPTION. What is missing has the code behind the last one,
// or with [first] -1.
bool tl_missing_codes(tl_vm *vm, const char *function, tl_slot x, bool first,
                      tl_coded *out);
void tl_coded_close(tl_vm *vm, tl_coded *coded);
// The values that an int64 array of codes stands for. *out is owned.
bool tl_coded_values(tl_vm *vm, const tl_coded *coded, tl_slot codes,
                     tl_slot *out);
// The same for the field "values" of a record, which the slot owns.
bool tl_coded_record(tl_vm *vm, const tl_coded *coded, tl_slot *record);

// What a function of an order gives.
typedef enum tl_answer {
  TL_ANSWER_PLACES,  // positions: as they are
  TL_ANSWER_VALUES,  // items of x
  TL_ANSWER_RECORD,  // a record with items in its field "values"
} tl_answer;

// The call of args[0], of TL_FORM_OPTION, by its codes.
bool tl_coded_call(tl_vm *vm, const char *function, tl_builtin_fn *call,
                   bool first, tl_answer answer, tl_slot *args, tl_slot *out);

#endif
