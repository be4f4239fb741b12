// What reading and writing CSV share (io_csv.c, io_csv_write.c).
#ifndef TALLY_STDLIB_CSV_H
#define TALLY_STDLIB_CSV_H

#include "vm/value.h"

// The character between cells: one of ASCII, no quote or line end; none is a
// comma. Fails with kind value. On failure *out may have been set, and nothing
// depends on it.
bool tl_csv_separator(tl_vm *vm, const char *function, tl_slot s, char *out);

#endif
