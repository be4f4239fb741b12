// Columns of a table of text whose types are given.
#pragma once

#include "stdlib/csv_scan.h"
#include "vm/types/type.h"

// Whether cells can hold such values: real numbers, bools, texts, and each of
// these where it may be missing.
bool tl_csv_can_hold(const tl_type *type);

// Whether a cell has nothing but spaces.
bool tl_csv_is_blank(const tl_csv_cell *cell);
// Whether a cell is one, or is blank where it may be missing.
bool tl_csv_is_of(const tl_type *type, const tl_csv_cell *cell);

// As what its cells are scanned.
//
//   int8, int64       TL_CSV_INTEGERS       bool, uint64      TL_CSV_TEXTS
//   float32           TL_CSV_FLOATS         string, char      TL_CSV_TEXTS
tl_csv_kind tl_csv_kind_of(const tl_type *type);

// Makes of a scanned column the items of its type, which in structs may be
// narrower still; [missing] flags those that are (or is none). False without an
// error where a cell is not of the type: tl_csv_is_of finds it. *column is
// replaced and owned, unless it is text, which stays.
bool tl_csv_convert(tl_vm *vm, const tl_type *type, tl_csv_kind kind,
                    const tl_slot *missing, tl_slot *column);
