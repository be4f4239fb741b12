// Results of many calls as one array.
#ifndef TALLY_STDLIB_STACKING_H
#define TALLY_STDLIB_STACKING_H

#include "vm/values/list.h"

// An array of a list's items where they stack: scalars to one dimension, arrays
// of one shape to one more, strings to a string array; where [nested] is true
// also rows of different lengths, records and none. Else the list itself. Takes
// the list; *out is owned.
// No items give an empty array of float64. False only for errors other than
// that the items do not stack.
bool tl_stack_results(tl_vm *vm, tl_list *list, bool nested, tl_slot *out);

#endif
