// What a function gave for each string or row of an array, put together again.
#ifndef TALLY_VM_LIFT_JOIN_H
#define TALLY_VM_LIFT_JOIN_H

#include "vm/nested/nested.h"

// Results of one kind: rows of lists of strings or of arrays, one item for each
// of what else there is. count > 0.
bool tl_join_of_strings(tl_vm *vm, int64_t count, const tl_slot *results,
                        tl_slot *out);
// Rows where the results have axes, one item for each where they have none, and
// of records a record of such. count > 0.
bool tl_join_results(tl_vm *vm, int64_t count, const tl_slot *results,
                     tl_slot *out);

#endif
