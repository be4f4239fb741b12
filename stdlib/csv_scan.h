// Taking a table of text apart: cells to numbers, dates and places of texts.
//
// A part of the table, some whole rows, sees plain memory alone: no VM, no
// allocation, no errors but what it notes. So any thread may scan it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a column holds: a cell that is no integer makes it floats, one that is
// no number texts. Dates are asked for. The order is that of generality: what
// two parts of a column learn is the greater of both, and a column never goes
// back.
//
//   1  2  3        INTEGERS        1  2.5  3      FLOATS
//   1  x  3        TEXTS           1  -    3      TEXTS (- is no number)
typedef enum tl_csv_kind {
  TL_CSV_INTEGERS,
  TL_CSV_FLOATS,
  TL_CSV_TEXTS,
  TL_CSV_DATES,
} tl_csv_kind;

// Where a column's cells go. NULL: nowhere.
typedef struct tl_csv_column {
  tl_csv_kind kind;  // at least
  bool wanted;
  char *items;  // 8 bytes a row: the number, microseconds (INT64_MIN: none),
                // or where in the source's text the cell begins
  char *gaps;   // a byte a row, 1 for blank cells; then NaN stands for none
  const struct tl_type *type;  // not NULL: a cell not of it is a fault
} tl_csv_column;

// A text that stands for a missing value.
typedef struct tl_csv_mark {
  const char *text;  // borrowed, without blanks at its ends
  size_t nbytes;
} tl_csv_mark;

// The text as it lies in memory, and what all threads that scan it share.
// Nothing of it changes during a scan but the columns' items and gaps, each
// thread writing the rows of its own part.
typedef struct tl_csv_source {
  const char *text, *end;  // whole lines; a NUL follows
  char separator;
  bool ends[256];            // the bytes that may end a cell without quotes
  bool digits;               // no number has a separator within
  bool missing;              // blank cells are missing values, not NaN
  const tl_csv_mark *marks;  // cells of these texts are read as blank ones
  int64_t mark_count;
  tl_csv_column *columns;
  int64_t count;
} tl_csv_source;

// What a part's cells tell about a column. The threads' results are joined when
// all parts are scanned.
typedef struct tl_csv_learned {
  tl_csv_kind kind;
  bool any;    // a number was there
  bool timed;  // some date has a time
  bool gap;
} tl_csv_learned;

// What is wrong where a scan stopped: an open quote (the text may end early),
// something between a closing quote and the separator, a NUL, too few or too
// many cells, no date, no value of the type asked for.
typedef enum tl_csv_fault {
  TL_CSV_FINE,
  TL_CSV_OPEN_QUOTE,
  TL_CSV_BEHIND_QUOTE,
  TL_CSV_ZERO_BYTE,
  TL_CSV_CELL_COUNT,
  TL_CSV_NO_DATE,
  TL_CSV_OTHER_TYPE,
} tl_csv_fault;

// The rows that begin in [from, to).
//
//   text  |.. rows before ..|from .. read .. |at .. left .. |to .. other parts
//                            first + rows is the row at [at]
//
// A row that begins before [to] is read whole, even where it ends behind it.
// [first] counts the lines of the window before the part, of which some may be
// no rows: the rows of parts then have gaps between them.
typedef struct tl_csv_part {
  const char *from, *to;
  const char *at;  // read so far
  int64_t line;    // of [at]
  int64_t first;   // row
  int64_t rows;    // read so far
  int64_t most;
  tl_csv_learned *learned;  // of each column
  tl_csv_fault fault;
  int64_t fault_line;
  int64_t fault_cell;  // from 0; of CELL_COUNT how many there are
  // The cell that is wrong, borrowed from the source; of TL_CSV_NO_DATE and
  // TL_CSV_OTHER_TYPE alone.
  const char *fault_text;
  size_t fault_nbytes;
} tl_csv_part;

// A cell: [text, text + nbytes) within the quotes, if it has any.
typedef struct tl_csv_cell {
  const char *text;
  size_t nbytes;
  bool doubled;  // has quotes written twice
  bool last;     // of its row
} tl_csv_cell;

// A lone \r ends a line, too, as in files of old Macintoshes.
static inline bool tl_is_line_end(char c) {
  return c == '\n' || c == '\r';
}
// Leaves out the blanks at both ends.
static inline void tl_csv_trim(const char **text, size_t *nbytes) {
  for (; *nbytes > 0 && **text == ' '; --*nbytes) ++*text;
  while (*nbytes > 0 && (*text)[*nbytes - 1] == ' ') --*nbytes;
}

// Of no text yet.
tl_csv_source tl_csv_source_of(char separator);

// Cells with these texts are missing, as blank ones are. The marks must live as
// long as the source is read.
void tl_csv_mark_missing(tl_csv_source *source, const tl_csv_mark *marks,
                         int64_t count);

// Whether a row begins here; goes past lines without any text.
bool tl_csv_has_row(const tl_csv_source *source, tl_csv_part *part);

// Goes past \n, \r\n or \r, if one is here.
void tl_csv_skip_line_end(const tl_csv_source *source, tl_csv_part *part);

// Reads a cell and goes past what ends it; false after noting a fault.
// out->text borrows from the source; quotes that are written twice are still so
// in it (out->doubled).
bool tl_csv_next(const tl_csv_source *source, tl_csv_part *part,
                 tl_csv_cell *out);

// Reads rows until [to], [most] or a fault, whose row is then at [at]; may be
// called again. Sets part->fault where it stops early; the rows before the
// fault are all stored and counted.
void tl_csv_scan(const tl_csv_source *source, tl_csv_part *part);

// How many lines end in [at, end). \r\n is one end. Quotes are not looked at.
int64_t tl_csv_line_ends(const char *at, const char *end);

// The integers of a column in these rows as floats.
void tl_csv_to_floats(char *items, int64_t first, int64_t rows);
