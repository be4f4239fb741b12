// What the families for nested arrays share.
#ifndef TALLY_STDLIB_NESTED_H
#define TALLY_STDLIB_NESTED_H

#include "vm/nested/nested.h"

// The fields of a struct array as a record; *out is owned.
bool tl_columns_of(tl_vm *vm, tl_slot p, tl_slot *out);

// The positions that put the items of one axis in order; missing ones last.
// *out is an int64 vector, owned; stable. Fails (kind type) for items without
// an order, such as structs, with a hint at sort_by.
bool tl_order_of(tl_vm *vm, const char *function, tl_slot key, bool descending,
                 tl_array **out);

#endif
