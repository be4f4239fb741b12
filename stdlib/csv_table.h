// The rows of a table of text, from a file to arrays.
//
// Its text is read and scanned a window at a time, once, numbers going to where
// they stay. Columns that turn out late to be texts are scanned once more.
#pragma once

#include "stdlib/csv_scan.h"
#include "stdlib/csv_window.h"
#include "vm/types/type.h"

enum { TL_CSV_PARTS = 16 };  // of a window, for threads

// What a column is beside what its cells are scanned to.
typedef struct tl_csv_target {
  tl_string *name;  // borrowed
  bool wanted;
  tl_slot array;    // owned: its numbers, dates or texts
  tl_slot missing;  // owned: bool, with missing: true where there are gaps
  tl_csv_learned learned;
  tl_type *type;    // given; NULL: what the cells tell
  int64_t *places;  // of the window's texts
} tl_csv_target;

// A table while it is read. The arrays of its columns, of which the rows so far
// are filled:
//
//   |.. rows ..|.. rows of this window ..|.. memory for more ..|room
//
// [most] is INT64_MAX where all rows are wanted; else one thread reads them.
typedef struct tl_csv_table {
  tl_vm *vm;
  const char *path;  // borrowed
  tl_csv_window window;
  tl_csv_source source;
  tl_csv_target *targets;  // of each column
  int64_t count;
  size_t capacity;
  // Only parts[0 .. part_count) are of the present window.
  tl_csv_part parts[TL_CSV_PARTS];
  int64_t part_count;
  tl_csv_learned *learned;  // of each part, each column
  int64_t first_offset;     // of the text, where the rows begin
  int64_t first_line;
  int64_t most;      // rows
  int64_t rows;      // read so far
  int64_t line;      // of the rows that come next
  int64_t room;      // rows that the arrays have memory for
  int64_t expected;  // rows for which windows' places have memory
} tl_csv_table;

// Opens the file with a first window. Must be closed, also after a failure.
bool tl_csv_table_open(tl_vm *vm, const char *path, char separator,
                       tl_csv_table *out);
// Closes the file and drops names, arrays and places that nobody took.
void tl_csv_table_close(tl_vm *vm, tl_csv_table *table);

// Gets more text into the first window. All pointers into the old window are
// void then. Fails (kind memory) where one row has more bytes than there is
// memory for.
bool tl_csv_table_more(tl_csv_table *table);

// Reads the rows from [from] on, whose columns have targets; then these have
// their arrays. Fails with the first fault in the text (kind value), or where
// the file changes meanwhile (kind io). What was read so far is dropped by
// tl_csv_table_close.
bool tl_csv_table_read(tl_csv_table *table, const tl_csv_part *from);

// Fails with the first cell that is not of the type given for its column: there
// is one, in a table that was read.
bool tl_csv_table_fail_type(tl_csv_table *table);

// Fails with what is wrong in a part.
bool tl_csv_table_fail(const tl_csv_table *table, const tl_csv_part *part);
