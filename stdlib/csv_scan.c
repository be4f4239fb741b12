// Taking a table of text apart: see csv_scan.h.
//
// Rows are taken by batches where their cells are plain: kernels find where
// they end and read the numbers, column by column. Other rows are read cell by
// cell; there a number's digits are read while its end is looked for.
//
// Built for speed.

#include "stdlib/csv_scan.h"

#include <math.h>

#include "stdlib/csv_types.h"
#include "stdlib/date.h"
#include "vm/number.h"
#include "vm/kernels/kernels.h"

// A NUL is among the ends, so that a scan over a cell stops at the one behind
// the text without looking at the end.
tl_csv_source tl_csv_source_of(char separator) {
  tl_csv_source source = {.separator = separator};
  source.ends[0] = source.ends['\n'] = source.ends['\r'] = true;
  source.ends[(unsigned char)separator] = true;
  source.digits = strchr("+-.eE0123456789", separator) == NULL;
  return source;
}

// The marks stay the caller's, and must live as long as the source.
void tl_csv_mark_missing(tl_csv_source *source, const tl_csv_mark *marks,
                         int64_t count) {
  source->missing = true;
  source->marks = marks;
  source->mark_count = count;
  // Numbers are read while their end is looked for, and are not compared: where
  // one is a mark, all cells are read as texts first.
  for (int64_t i = 0; i < count; i++)
    if (tl_number_read(marks[i].text, marks[i].nbytes).kind != TL_NUMBER_NONE)
      source->digits = false;
}

// Each lane of a vector counts for itself, as -1 for each hit, until its byte
// may be full: a sum over lanes for every 16 bytes would cost more than the
// comparison.
int64_t tl_csv_line_ends(const char *at, const char *end) {
  typedef unsigned char bytes __attribute__((vector_size(16)));
  enum { TURNS = 255 };  // after which a byte's count is full
  int64_t count = 0;
  while (end - at > 16) {
    // \n, and \r without \n behind it; each lane counts for itself.
    bytes lanes = {0};
    for (int i = 0; i < TURNS && end - at > 16; i++, at += 16) {
      bytes now, next;
      memcpy(&now, at, 16);
      memcpy(&next, at + 1, 16);
      lanes -=
          (bytes)(now == '\n') | ((bytes)(now == '\r') & (bytes)(next != '\n'));
    }
    for (int k = 0; k < 16; k++) count += lanes[k];
  }
  for (; at < end; at++)
    count += *at == '\n' || (*at == '\r' && (at + 1 == end || at[1] != '\n'));
  return count;
}

// --- Cells ------------------------------------------------------------------

// Always false, so that a function can end with it.
static bool note_fault(tl_csv_part *part, tl_csv_fault fault, int64_t line) {
  part->fault = fault;
  part->fault_line = line;
  return false;
}

// Of a cell that lies on one line, as dates and numbers do.
static bool note_cell(tl_csv_part *part, tl_csv_fault fault,
                      const tl_csv_cell *cell) {
  part->fault_text = cell->text;
  part->fault_nbytes = cell->nbytes;
  return note_fault(part, fault, part->line);
}

// at[1] may be the NUL behind the text.
void tl_csv_skip_line_end(const tl_csv_source *source, tl_csv_part *part) {
  if (part->at >= source->end)
    return;
  if (*part->at == '\r' && part->at[1] == '\n')
    part->at++;
  part->at++;
  part->line++;
}

// Lines without text are no rows: they leave gaps among the rows that lines
// were counted for (close_ranks in csv_table.c).
bool tl_csv_has_row(const tl_csv_source *source, tl_csv_part *part) {
  while (part->at < source->end && tl_is_line_end(*part->at))
    tl_csv_skip_line_end(source, part);
  return part->at < source->end;
}

// A cell between quotes, up to what ends it. A quote within is written twice.
static bool read_quoted(const tl_csv_source *source, tl_csv_part *part,
                        tl_csv_cell *out) {
  int64_t opened = part->line;
  const char *at = part->at + 1, *end = source->end;
  out->text = at;
  for (;; at++) {
    if (at == end)
      return note_fault(part, TL_CSV_OPEN_QUOTE, opened);
    if (*at == '"') {
      if (at[1] != '"')
        break;
      at++;
      out->doubled = true;
    }
    if (*at == '\n')
      part->line++;
    if (*at == 0)
      return note_fault(part, TL_CSV_ZERO_BYTE, part->line);
  }
  out->nbytes = (size_t)(at++ - out->text);
  while (*at == ' ' && source->separator != ' ') at++;
  if (at < end && *at != source->separator && !tl_is_line_end(*at))
    return note_fault(part, TL_CSV_BEHIND_QUOTE, part->line);
  part->at = at;
  return true;
}

// A cell whose text is a mark, blanks around it allowed, becomes a blank one.
static void blank_mark(const tl_csv_source *source, tl_csv_cell *cell) {
  const char *text = cell->text;
  size_t nbytes = cell->nbytes;
  tl_csv_trim(&text, &nbytes);
  for (int64_t i = 0; i < source->mark_count; i++) {
    const tl_csv_mark *mark = &source->marks[i];
    if (mark->nbytes == nbytes && memcmp(mark->text, text, nbytes) == 0) {
      cell->nbytes = 0;
      cell->doubled = false;
      return;
    }
  }
}

// Reads the bytes of a cell, and goes to what ends it.
static bool read_bytes(const tl_csv_source *source, tl_csv_part *part,
                       tl_csv_cell *out) {
  const char *at = part->at;
  *out = (tl_csv_cell){.text = at};
  if (*at == '"')
    return read_quoted(source, part, out);
  while (!source->ends[(unsigned char)*at]) at++;
  if (*at == 0 && at < source->end)
    return note_fault(part, TL_CSV_ZERO_BYTE, part->line);
  out->nbytes = (size_t)(at - out->text);
  part->at = at;
  return true;
}

// Marks are compared once a cell has an end, quoted or not.
static bool read_cell(const tl_csv_source *source, tl_csv_part *part,
                      tl_csv_cell *out) {
  if (!read_bytes(source, part, out))
    return false;
  if (source->mark_count > 0)
    blank_mark(source, out);
  return true;
}

// Goes past what ends a cell: true for a separator, after which comes another.
static bool has_another(const tl_csv_source *source, tl_csv_part *part) {
  if (*part->at == source->separator && part->at < source->end) {
    part->at++;
    return true;
  }
  tl_csv_skip_line_end(source, part);
  return false;
}

// For cells that are few: names of columns, and texts by their places.
bool tl_csv_next(const tl_csv_source *source, tl_csv_part *part,
                 tl_csv_cell *out) {
  if (!read_cell(source, part, out))
    return false;
  out->last = !has_another(source, part);
  return true;
}

// --- What cells hold --------------------------------------------------------

// By memcpy, as the bytes are integers before and doubles after. Integers above
// 2^53 are rounded, as they would be if they had been read as floats.
void tl_csv_to_floats(char *items, int64_t first, int64_t rows) {
  for (int64_t i = first; i < first + rows; i++) {
    int64_t whole;
    memcpy(&whole, items + 8 * i, 8);
    double value = (double)whole;
    memcpy(items + 8 * i, &value, 8);
  }
}

// The item of the present row; nothing where a scan only looks at kinds.
static void store(const tl_csv_column *column, const tl_csv_part *part,
                  const void *item) {
  if (column->items)
    memcpy(column->items + 8 * (part->first + part->rows), item, 8);
}

// The rows of this part that were stored as integers; other parts do the same,
// or the table does it for them in the end.
static void become_floats(const tl_csv_column *column, tl_csv_part *part,
                          tl_csv_learned *learned) {
  learned->kind = TL_CSV_FLOATS;
  if (column->items)
    tl_csv_to_floats(column->items, part->first, part->rows);
}

// A number keeps its own kind until the column becomes floats: an integer in a
// column of floats is stored by its double, which tl_number_read gives as well.
static void take_number(const tl_csv_column *column, tl_csv_part *part,
                        tl_csv_learned *learned, const tl_number *number) {
  learned->any = true;
  if (learned->kind == TL_CSV_INTEGERS && number->kind == TL_NUMBER_FLOAT)
    become_floats(column, part, learned);
  if (learned->kind == TL_CSV_INTEGERS)
    store(column, part, &number->i);
  else
    store(column, part, &number->f);
}

// The length says whether a time was there: a date alone has 10 characters, and
// maybe blanks around them.
static bool take_date(const tl_csv_column *column, tl_csv_part *part,
                      tl_csv_learned *learned, const tl_csv_cell *cell,
                      bool blank) {
  int64_t microseconds = INT64_MIN;
  const char *text = cell->text;
  size_t nbytes = cell->nbytes;
  tl_csv_trim(&text, &nbytes);
  if (!blank && !tl_date_read(text, nbytes, &microseconds))
    return note_cell(part, TL_CSV_NO_DATE, cell);
  learned->timed = learned->timed || nbytes > 10;
  store(column, part, &microseconds);
  return true;
}

// Any cell; [start] is where it begins, quotes included.
static bool take_cell(const tl_csv_source *source, tl_csv_part *part, int64_t k,
                      const tl_csv_cell *cell, const char *start) {
  const tl_csv_column *column = &source->columns[k];
  tl_csv_learned *learned = &part->learned[k];
  bool blank = tl_csv_is_blank(cell);
  if (blank && source->missing) {
    learned->gap = true;
    if (column->gaps)
      column->gaps[part->first + part->rows] = 1;
  }
  if (learned->kind == TL_CSV_DATES)
    return take_date(column, part, learned, cell, blank);
  if (learned->kind <= TL_CSV_FLOATS) {
    // A hole in a column of integers is NaN, and no integer is that.
    tl_number number = {.kind = TL_NUMBER_FLOAT, .f = (double)NAN};
    if (blank && source->missing) {
      store(column, part, &(int64_t){0});
      return true;
    }
    if (!blank)
      number = tl_number_read(cell->text, cell->nbytes);
    if (number.kind != TL_NUMBER_NONE) {
      take_number(column, part, learned, &number);
      return true;
    }
    learned->kind = TL_CSV_TEXTS;
  }
  int64_t place = start - source->text;
  store(column, part, &place);
  return true;
}

// --- Rows -------------------------------------------------------------------

// A number is read while its end is looked for, which is fastest; it counts
// only if a cell may end where the number does. Everything else is read as text
// first: "1 2", quotes, marks, dates.
static bool scan_cell(const tl_csv_source *source, tl_csv_part *part,
                      int64_t k) {
  const tl_csv_column *column = k < source->count ? &source->columns[k] : NULL;
  bool wanted = column && column->wanted;
  if (wanted && source->digits && part->learned[k].kind <= TL_CSV_FLOATS) {
    tl_number number;
    const char *end = tl_number_scan(part->at, source->end, &number);
    if (end > part->at && source->ends[(unsigned char)*end]) {
      take_number(column, part, &part->learned[k], &number);
      part->at = end;
      return *end != 0 || end == source->end ||
             note_fault(part, TL_CSV_ZERO_BYTE, part->line);
    }
  }
  const char *start = part->at;
  tl_csv_cell cell;
  return read_cell(source, part, &cell) &&
         (!column || !column->type || tl_csv_is_of(column->type, &cell) ||
          note_cell(part, TL_CSV_OTHER_TYPE, &cell)) &&
         (!wanted || take_cell(source, part, k, &cell, start));
}

// One row and its line end. A fault among the cells comes before one of their
// number.
static bool scan_row(const tl_csv_source *source, tl_csv_part *part) {
  int64_t line = part->line, k = 0;
  do {
    part->fault_cell = k;
    if (!scan_cell(source, part, k++))
      return false;
  } while (has_another(source, part));
  part->fault_cell = k;
  return k == source->count || note_fault(part, TL_CSV_CELL_COUNT, line);
}

// --- Batches of rows --------------------------------------------------------

// Rows that all have as many cells as there are columns.
typedef struct batch {
  const char *text;
  tl_text_places places;
  size_t rows;
  size_t behind;  // bytes of a line end: one or two
} batch;

// Whether row r is such a one, the [line] that it ends with being the one that
// its last cell ends with, and ends as the first does.
static bool is_regular(const batch *b, size_t columns, size_t r) {
  const tl_text_places *p = &b->places;
  const uint16_t *end = &p->cell[(r + 1) * columns];
  size_t nbytes = (size_t)(end[0] - end[-1]);
  bool two = nbytes > 1 && b->text[end[0] - 2] == '\r';
  // A row of one cell without text is none.
  return p->line[r] == end[0] && two == (b->behind == 2) &&
         nbytes >= b->behind && (columns > 1 || nbytes > b->behind);
}

// Finds the regular rows at the beginning of the text that is ahead, up to a
// quote or NUL, that lie before [to].
static void find_rows(const tl_csv_source *source, const tl_csv_part *part,
                      batch *b) {
  const size_t columns = (size_t)source->count;
  const int64_t most = part->most - part->rows;
  size_t n = (size_t)(source->end - part->at) / 64 * 64;
  tl_text_places *p = &b->places;
  b->text = part->at;
  tl_kernels()->text_places(p, b->text, source->separator,
                            n < TL_TEXT_BYTES ? n : TL_TEXT_BYTES);
  size_t rows = p->cells / columns < p->lines ? p->cells / columns : p->lines;
  if ((int64_t)rows > most)
    rows = (size_t)most;
  while (rows > 0 && b->text + p->line[rows - 1] > part->to) rows--;
  b->behind =
      rows > 0 && p->line[0] > 1 && b->text[p->line[0] - 2] == '\r' ? 2 : 1;
  b->rows = 0;
  while (b->rows < rows && is_regular(b, columns, b->rows)) b->rows++;
  // A \r alone ends a line, too.
  size_t backs = b->behind == 2 ? b->rows : 0;
  if (p->backs > backs && b->rows > 0 && p->back[backs] < p->line[b->rows - 1])
    b->rows = 0;
}

// The numbers of column k in rows [from, from + n), if all are plain.
static bool take_decimals(const tl_csv_source *source, tl_csv_part *part,
                          int64_t k, const batch *b, size_t from, size_t n) {
  const tl_csv_column *column = &source->columns[k];
  tl_csv_learned *learned = &part->learned[k];
  const size_t columns = (size_t)source->count;
  double values[TL_DECIMALS];
  int64_t integers[TL_DECIMALS];
  char *items = column->items + 8 * (part->first + part->rows);
  const uint16_t *begin = b->places.cell + from * columns + (size_t)k;
  const size_t behind = k + 1 == source->count ? b->behind : 1;
  const bool floats = learned->kind == TL_CSV_FLOATS;
  unsigned seen = tl_kernels()->decimals(
      floats ? (double *)(void *)items : values, floats ? NULL : integers,
      b->text, begin, columns, behind, n);
  if (seen & TL_DECIMAL_OTHER)
    return false;
  learned->any = true;
  if (floats)
    return true;
  if (seen == TL_DECIMAL_POINT)
    become_floats(column, part, learned);
  memcpy(items,
         learned->kind == TL_CSV_INTEGERS ? (void *)integers : (void *)values,
         8 * n);
  return true;
}

// The same one by one, whatever they are.
static bool take_cells(const tl_csv_source *source, tl_csv_part *part,
                       int64_t k, const batch *b, size_t from, size_t n) {
  const size_t columns = (size_t)source->count;
  const size_t behind = k + 1 == source->count ? b->behind : 1;
  for (size_t r = from; r < from + n; r++, part->rows++) {
    const uint16_t *begin = b->places.cell + r * columns + (size_t)k;
    const char *text = b->text + begin[0];
    tl_csv_cell cell = {.text = text,
                        .nbytes = (size_t)(begin[1] - begin[0]) - behind};
    if (source->mark_count > 0)
      blank_mark(source, &cell);
    if (!take_cell(source, part, k, &cell, text))
      return false;
  }
  return true;
}

// Column by column, so that the kernel reads the same column of many rows; a
// piece that has other cells than plain numbers is read cell by cell.
static bool take_column(const tl_csv_source *source, tl_csv_part *part,
                        int64_t k, const batch *b) {
  const int64_t first = part->rows;
  bool ok = true;
  for (size_t r = 0; ok && r < b->rows; r += TL_DECIMALS) {
    size_t n = b->rows - r < TL_DECIMALS ? b->rows - r : TL_DECIMALS;
    part->rows = first + (int64_t)r;
    ok = (part->learned[k].kind <= TL_CSV_FLOATS &&
          take_decimals(source, part, k, b, r, n)) ||
         take_cells(source, part, k, b, r, n);
  }
  part->rows = first;
  return ok;
}

// Whether the source's rows can be taken so at all.
static bool has_batches(const tl_csv_source *source, const tl_csv_part *part) {
  for (int64_t k = 0; k < source->count; k++)
    if (source->columns[k].type ||
        (source->columns[k].wanted && !source->columns[k].items))
      return false;
  return source->digits && !source->ends['"'] && part->most - part->rows >= 8;
}

// Takes rows up to [to]; false where none could be taken. A fault among them is
// left to be found row by row, as the first of the text. The kernels load 16
// bytes in front of a cell's end, so the first bytes of the text are not for
// them.
static bool scan_batch(const tl_csv_source *source, tl_csv_part *part,
                       batch *b) {
  if (part->at - source->text < 16)
    return false;
  find_rows(source, part, b);
  if (b->rows == 0)
    return false;
  for (int64_t k = 0; k < source->count; k++)
    if (source->columns[k].wanted && !take_column(source, part, k, b)) {
      part->fault = TL_CSV_FINE;
      return false;
    }
  part->rows += (int64_t)b->rows;
  part->line += (int64_t)b->rows;
  part->at += b->places.line[b->rows - 1];
  return true;
}

// After each batch that fails the next try waits twice as long, up to 512 rows:
// text in which no batch succeeds costs little more than reading row by row.
void tl_csv_scan(const tl_csv_source *source, tl_csv_part *part) {
  const bool batches = has_batches(source, part);
  // After rows that were not plain, more of that kind are likely to follow.
  int64_t wait = 0, patience = 0;
  batch b;
  while (part->rows < part->most && tl_csv_has_row(source, part) &&
         part->at < part->to) {
    if (batches && wait-- <= 0) {
      if (scan_batch(source, part, &b)) {
        patience = wait = 0;
        continue;
      }
      patience = patience < 512 ? 2 * patience + 1 : patience;
      wait = patience;
    }
    const char *row = part->at;
    const int64_t line = part->line;
    if (!scan_row(source, part)) {
      part->at = row;
      part->line = line;
      return;
    }
    part->rows++;
  }
}
