// What the prompt shows of values.
#pragma once

#include "vm/string.h"

// Appends what the prompt shows: the type, then aligned columns; large arrays
// are elided, unless [all] is asked for: then the columns of a wide matrix
// stand in blocks below each other. [width] is the terminal's columns. Ends
// with a newline. False after tl_fail.
bool tl_format_display(tl_vm *vm, tl_text *text, tl_slot value, int width,
                       bool all);
// Prints a value as the prompt does after an expression; none prints nothing.
bool tl_do_show(tl_vm *vm, tl_slot value);
