// Text inside structs: fixed_string[n] and char, as a C struct has them.
#pragma once

#include "vm/types/type.h"

// The items at [data] as an array of strings, or as one string where there is
// no axis: copies. A fixed_string ends at its first zero byte. Fails (kind
// value) where the bytes are no text.
bool tl_text_items_show(tl_vm *vm, const tl_type *type, char *data, int ndim,
                        const int64_t *shape, const int64_t *strides,
                        tl_slot *out);
// Writes a string, or an array of them that broadcasts, over the items; zeros
// behind. Fails before the first write (kind value) for text that does not fit.
bool tl_text_items_fill(tl_vm *vm, const tl_type *type, char *data, int ndim,
                        const int64_t *shape, const int64_t *strides,
                        tl_slot value);
