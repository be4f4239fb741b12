// The distinct strings of an array, counted in a table.
#pragma once

#include "vm/array/array.h"

// The distinct items of a dense array of strings in code-point order, and how
// often each occurs where [counts] is not NULL. Both returns are owned. On
// failure neither is set. [counts] NULL: only the values.
bool tl_distinct_strings(tl_vm *vm, const tl_array *flat, tl_array **values,
                         tl_array **counts);
// Whether each string of a dense array is there once. *out is false on failure.
bool tl_strings_differ(tl_vm *vm, const tl_array *flat, bool *out);
// found[i]: whether each item of one dense array of strings is in another.
// [found] has queries->size bytes, all of which are written unless it fails.
bool tl_strings_among(tl_vm *vm, const tl_array *queries, const tl_array *items,
                      uint8_t *found);
