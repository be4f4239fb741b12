// Functions of order for values that may be missing, and for structs.
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
// *out is owned (tl_coded_close), and undefined on failure. Fails with kind
// type where the values are neither numbers nor strings.
bool tl_missing_codes(tl_vm *vm, const char *function, tl_slot x, bool first,
                      tl_coded *out);
// Of an axis of structs, in the order of their fields in turn.
// As many codes as structs; their values are structs again, each once. Fails
// with kind type for more than one axis, and for fields that have no order,
// such as rows.
bool tl_struct_codes(tl_vm *vm, const char *function, tl_slot p, tl_coded *out);
// Of either.
// The caller has asked tl_needs_codes before.
bool tl_codes_of(tl_vm *vm, const char *function, tl_slot x, bool first,
                 tl_coded *out);
// Whether a function of an order must go by codes.
static inline bool tl_needs_codes(tl_slot x) {
  return tl_is_form(x, TL_FORM_OPTION) || tl_has_fields(x);
}
// Gives up both; codes that were moved out are none by then.
void tl_coded_close(tl_vm *vm, tl_coded *coded);

// What a function of an order gives.
typedef enum tl_answer {
  TL_ANSWER_PLACES,  // positions: as they are
  TL_ANSWER_VALUES,  // items of x
  TL_ANSWER_RECORD,  // a record with items in its field "values"
} tl_answer;

// The call of args[0], which needs codes, by them.
// sort of x = [b, none, a], say:
//
//   codes   [1, 2, 0]  --call-->  [0, 1, 2]  --values-->  [a, b, none]
//
// args[0] is the caller's again afterwards. [first]: the missing values come
// first in the order of codes, for functions that order downward and still want
// them last. *out is owned.
bool tl_coded_call(tl_vm *vm, const char *function, tl_builtin_fn *call,
                   bool first, tl_answer answer, tl_slot *args, tl_slot *out);

#endif
