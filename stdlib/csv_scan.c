// Taking a table of text apart: see csv_scan.h.
//
// A number's digits are read while its end is looked for, so that most cells
// are seen once.

#include "stdlib/csv_scan.h"

#include <math.h>
#include <string.h>

#include "stdlib/date.h"
#include "stdlib/number.h"

static bool is_line_end(char c) {
  return c == '\n' || c == '\r';
}

void tl_csv_source_open(tl_csv_source *source, const char *text, size_t nbytes,
                        char separator) {
  *source = (tl_csv_source){
      .text = text, .end = text + nbytes, .separator = separator};
  source->ends[0] = source->ends['\n'] = source->ends['\r'] = true;
  source->ends[(unsigned char)separator] = true;
  source->digits = strchr("+-.eE0123456789", separator) == NULL;
}

int64_t tl_csv_line_ends(const char *at, const char *end) {
  int64_t count = 0;
  for (const char *c = at; (c = memchr(c, '\n', (size_t)(end - c))); c++)
    count++;
  for (const char *c = at; (c = memchr(c, '\r', (size_t)(end - c))); c++)
    count += c + 1 == end || c[1] != '\n';
  return count;
}

// --- Cells ------------------------------------------------------------------

static bool note_fault(tl_csv_part *part, tl_csv_fault fault, int64_t line) {
  part->fault = fault;
  part->fault_line = line;
  return false;
}

void tl_csv_skip_line_end(const tl_csv_source *source, tl_csv_part *part) {
  if (part->at >= source->end)
    return;
  if (*part->at == '\r' && part->at[1] == '\n')
    part->at++;
  part->at++;
  part->line++;
}

bool tl_csv_has_row(const tl_csv_source *source, tl_csv_part *part) {
  while (part->at < source->end && is_line_end(*part->at))
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
  if (at < end && *at != source->separator && !is_line_end(*at))
    return note_fault(part, TL_CSV_BEHIND_QUOTE, part->line);
  part->at = at;
  return true;
}

static bool read_cell(const tl_csv_source *source, tl_csv_part *part,
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

// Goes past what ends a cell: true for a separator, after which comes another.
static bool has_another(const tl_csv_source *source, tl_csv_part *part) {
  if (*part->at == source->separator && part->at < source->end) {
    part->at++;
    return true;
  }
  tl_csv_skip_line_end(source, part);
  return false;
}

bool tl_csv_next(const tl_csv_source *source, tl_csv_part *part,
                 tl_csv_cell *out) {
  if (!read_cell(source, part, out))
    return false;
  out->last = !has_another(source, part);
  return true;
}

// --- What cells hold --------------------------------------------------------

void tl_csv_to_floats(char *items, int64_t first, int64_t rows) {
  for (int64_t i = first; i < first + rows; i++) {
    int64_t whole;
    memcpy(&whole, items + 8 * i, 8);
    double value = (double)whole;
    memcpy(items + 8 * i, &value, 8);
  }
}

static void store(const tl_csv_column *column, const tl_csv_part *part,
                  const void *item) {
  if (column->items)
    memcpy(column->items + 8 * (part->first + part->rows), item, 8);
}

static void become_floats(const tl_csv_column *column, tl_csv_part *part,
                          tl_csv_learned *learned) {
  learned->kind = TL_CSV_FLOATS;
  if (column->items)
    tl_csv_to_floats(column->items, part->first, part->rows);
}

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

static bool is_blank(const tl_csv_cell *cell) {
  for (size_t i = 0; i < cell->nbytes; i++)
    if (cell->text[i] != ' ')
      return false;
  return true;
}

static bool take_date(const tl_csv_column *column, tl_csv_part *part,
                      tl_csv_learned *learned, const tl_csv_cell *cell,
                      bool blank) {
  int64_t microseconds = INT64_MIN;
  if (!blank && !tl_date_read(cell->text, cell->nbytes, &microseconds)) {
    part->fault_text = cell->text;
    part->fault_nbytes = cell->nbytes;
    return note_fault(part, TL_CSV_NO_DATE, part->line);
  }
  learned->timed = learned->timed || cell->nbytes > 10;
  store(column, part, &microseconds);
  return true;
}

// Any cell; [start] is where it begins, quotes included.
static bool take_cell(const tl_csv_source *source, tl_csv_part *part, int64_t k,
                      const tl_csv_cell *cell, const char *start) {
  const tl_csv_column *column = &source->columns[k];
  tl_csv_learned *learned = &part->learned[k];
  bool blank = is_blank(cell);
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
         (!wanted || take_cell(source, part, k, &cell, start));
}

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

void tl_csv_scan(const tl_csv_source *source, tl_csv_part *part) {
  while (part->rows < part->most && tl_csv_has_row(source, part) &&
         part->at < part->to) {
    if (!scan_row(source, part))
      return;
    part->rows++;
  }
}
