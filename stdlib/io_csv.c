// Tables in text: comma-separated values, as RFC 4180 has them.
//
// A file is read whole and taken apart in place, every cell becoming a text
// that ends with a NUL; so the columns are known before any of them is made.

#include <math.h>
#include <string.h>

#include "stdlib/arguments.h"
#include "stdlib/compress.h"
#include "stdlib/csv.h"
#include "stdlib/date.h"
#include "stdlib/families.h"
#include "stdlib/nested.h"
#include "stdlib/number.h"
#include "vm/format.h"
#include "vm/io.h"
#include "vm/list.h"
#include "vm/record.h"
#include "vm/vm.h"

// --- Taking a file apart ----------------------------------------------------

typedef struct csv {
  tl_vm *vm;
  const char *path;
  char *text;         // the file, then its cells
  size_t nbytes, at;  // read so far
  size_t to;          // written so far, never beyond [at]
  int64_t line;       // of [at], from 1
  char separator;
  bool ends[256];  // the bytes that may end a cell without quotes
} csv;

typedef struct cell {
  char *text;
  size_t nbytes;
  bool last;  // of its row
} cell;

static bool csv_fail(const csv *c, int64_t line, const char *message) {
  return tl_fail(c->vm, TALLY_ERR_VALUE, "read_csv: \"%s\", line %lld: %s",
                 c->path, (long long)line, message);
}

static bool is_line_end(char c) {
  return c == '\n' || c == '\r';
}

// Goes past \n, \r\n or \r, if one is here.
static void skip_line_end(csv *c) {
  if (c->at >= c->nbytes)
    return;
  if (c->text[c->at] == '\r' && c->at + 1 < c->nbytes &&
      c->text[c->at + 1] == '\n')
    c->at++;
  c->at++;
  c->line++;
}

// The part of a cell between its quotes. A quote within is written twice.
static bool quoted_part(csv *c) {
  int64_t opened = c->line;
  c->at++;
  for (;; c->at++) {
    if (c->at >= c->nbytes)
      return csv_fail(c, opened, "a quote is opened and never closed");
    char byte = c->text[c->at];
    if (byte == '"' && !(c->at + 1 < c->nbytes && c->text[c->at + 1] == '"'))
      break;
    if (byte == '"')
      c->at++;
    if (byte == '\n')
      c->line++;
    if (byte == 0)
      return csv_fail(c, c->line, "a zero byte");
    c->text[c->to++] = byte;
  }
  c->at++;
  while (c->at < c->nbytes && c->text[c->at] == ' ' && c->separator != ' ')
    c->at++;
  if (c->at < c->nbytes && c->text[c->at] != c->separator &&
      !is_line_end(c->text[c->at]))
    return csv_fail(c, c->line, "text behind a closing quote");
  return true;
}

static bool next_cell(csv *c, cell *out) {
  out->text = c->text + c->to;
  if (c->at < c->nbytes && c->text[c->at] == '"') {
    if (!quoted_part(c))
      return false;
  } else {
    char *from = c->text + c->at, *end = c->text + c->nbytes, *at = from;
    while (at < end && !c->ends[(unsigned char)*at]) at++;
    if (at < end && *at == 0)
      return csv_fail(c, c->line, "a zero byte");
    size_t nbytes = (size_t)(at - from);
    if (c->to != c->at)
      memmove(out->text, from, nbytes);
    c->to += nbytes;
    c->at += nbytes;
  }
  out->nbytes = (size_t)(c->text + c->to - out->text);
  out->last = c->at >= c->nbytes || is_line_end(c->text[c->at]);
  // Past the separator or line end first: the NUL may take its place.
  if (out->last)
    skip_line_end(c);
  else
    c->at++;
  c->text[c->to++] = 0;
  return true;
}

// Whether a row begins here; lines without any text are left out.
static bool has_row(csv *c) {
  while (c->at < c->nbytes && is_line_end(c->text[c->at])) skip_line_end(c);
  return c->at < c->nbytes;
}

// --- Columns ----------------------------------------------------------------

typedef enum column_kind { INTEGERS, FLOATS, STRINGS, DATES } column_kind;

typedef struct column {
  tl_string *name;  // counted
  column_kind kind;
  bool timed;  // of dates: some has a time
  bool wanted;
  tl_array *array;    // numbers are stored as they are read
  tl_array *missing;  // bool, with missing: true where there are gaps
} column;

typedef struct table {
  csv csv;
  column *columns;
  int64_t count, capacity;
  int64_t rows, most_rows;
  size_t body;   // where the cells of the first row of data begin
  bool missing;  // empty cells are missing values
} table;

static void table_close(tl_vm *vm, table *t) {
  for (int64_t i = 0; i < t->count; i++) {
    if (t->columns[i].name)
      tl_drop(vm, tl_own_string(t->columns[i].name));
    if (t->columns[i].array)
      tl_drop(vm, tl_own_array(t->columns[i].array));
    if (t->columns[i].missing)
      tl_drop(vm, tl_own_array(t->columns[i].missing));
  }
  if (t->columns)
    tl_free(vm, t->columns, (size_t)t->capacity * sizeof *t->columns);
}

static bool add_column(tl_vm *vm, table *t, const char *name, size_t nbytes) {
  if (t->count == t->capacity) {
    int64_t capacity = t->capacity ? 2 * t->capacity : 16;
    column *columns = tl_realloc(
        vm, t->columns, (size_t)t->capacity * sizeof *columns,
        (size_t)capacity * sizeof *columns, "the columns of a table");
    if (!columns)
      return false;
    t->columns = columns;
    t->capacity = capacity;
  }
  tl_string *string = nbytes > 0
                          ? tl_string_new(vm, name, nbytes)
                          : tl_string_format(vm, "c%lld", (long long)t->count);
  if (!string)
    return false;
  t->columns[t->count++] = (column){.name = string, .wanted = true};
  return true;
}

static void trim(const char **text, size_t *nbytes) {
  while (*nbytes > 0 && **text == ' ') ++*text, --*nbytes;
  while (*nbytes > 0 && (*text)[*nbytes - 1] == ' ') --*nbytes;
}

static bool is_blank(const char *text, size_t nbytes) {
  trim(&text, &nbytes);
  return nbytes == 0;
}

static bool read_header(tl_vm *vm, table *t) {
  cell next;
  do {
    if (!next_cell(&t->csv, &next))
      return false;
    const char *name = next.text;
    size_t nbytes = next.nbytes;
    trim(&name, &nbytes);
    if (!add_column(vm, t, name, nbytes))
      return false;
  } while (!next.last);
  return true;
}

// No more rows than lines.
static int64_t count_lines(const csv *c) {
  int64_t count = 1;
  const char *end = c->text + c->nbytes;
  for (const char *at = c->text; (at = memchr(at, '\n', (size_t)(end - at)));
       at++)
    count++;
  for (const char *at = c->text; (at = memchr(at, '\r', (size_t)(end - at)));
       at++)
    count += at + 1 == end || at[1] != '\n';
  return count;
}

// The integers so far as floats: all cells up to [row].
static void become_floats(column *column, int64_t row) {
  column->kind = FLOATS;
  if (!column->array)
    return;
  column->array->head.dtype = TL_FLOAT64;
  char *items = column->array->data;
  for (int64_t i = 0; i < row; i++) {
    int64_t whole;
    memcpy(&whole, items + 8 * i, 8);
    double value = (double)whole;
    memcpy(items + 8 * i, &value, 8);
  }
}

// A number's place. Before the first one all are gaps: NaN, or where these are
// kept apart, 0.
static bool need_array(tl_vm *vm, table *t, column *column) {
  if (column->array)
    return true;
  tl_dtype dtype = column->kind == FLOATS ? TL_FLOAT64 : TL_INT64;
  column->array = tl_array_new(vm, dtype, 1, &t->most_rows);
  if (!column->array)
    return false;
  double *items = (double *)(void *)column->array->data;
  double gap = t->missing ? 0 : (double)NAN;
  for (int64_t i = 0; i < t->rows; i++) items[i] = gap;
  return true;
}

// An empty cell that is to be a missing value.
static bool note_gap(tl_vm *vm, table *t, column *column) {
  if (!column->missing)
    column->missing = tl_array_zeros(vm, TL_BOOL, 1, &t->most_rows);
  if (!column->missing)
    return false;
  column->missing->data[t->rows] = 1;
  if (column->array)
    memset(column->array->data + 8 * t->rows, 0, 8);
  return true;
}

// What a cell tells about its column, and its number.
static bool learn(tl_vm *vm, table *t, column *column, const cell *cell,
                  int64_t line) {
  int64_t i = 0;
  double f = (double)NAN;
  if (!column->wanted)
    return true;
  bool blank = is_blank(cell->text, cell->nbytes);
  if (blank && t->missing)
    return note_gap(vm, t, column);
  if (column->kind == STRINGS)
    return true;
  if (column->kind == DATES) {
    column->timed = column->timed || cell->nbytes > 10;
    return blank || tl_date_read(cell->text, cell->nbytes, &i) ||
           tl_fail(vm, TALLY_ERR_VALUE,
                   "read_csv: \"%s\", line %lld: \"%s\" in column %s is no "
                   "date such as 2024-05-31 or 2024-05-31T12:00:00",
                   t->csv.path, (long long)line, cell->text,
                   column->name->text);
  }
  tl_number_kind kind = blank
                            ? TL_NUMBER_FLOAT
                            : tl_number_read(cell->text, cell->nbytes, &i, &f);
  if (kind == TL_NUMBER_NONE) {
    column->kind = STRINGS;
    if (column->array)
      tl_drop(vm, tl_own_array(column->array));
    column->array = NULL;
    return true;
  }
  // A hole in a column of integers is NaN, and no integer is that.
  if (kind == TL_NUMBER_FLOAT && column->kind == INTEGERS)
    become_floats(column, t->rows);
  if (!column->array && (blank || !need_array(vm, t, column)))
    return blank;
  char *place = column->array->data + 8 * t->rows;
  if (column->kind == INTEGERS)
    memcpy(place, &i, 8);
  else
    memcpy(place, &f, 8);
  return true;
}

static bool read_row(tl_vm *vm, table *t) {
  int64_t line = t->csv.line, count = 0;
  cell next;
  do {
    if (!next_cell(&t->csv, &next))
      return false;
    if (count < t->count && !learn(vm, t, &t->columns[count], &next, line))
      return false;
    count++;
  } while (!next.last);
  if (count == t->count)
    return true;
  return tl_fail(vm, TALLY_ERR_VALUE,
                 "read_csv: \"%s\", line %lld: %lld "
                 "cells, but the first row has %lld",
                 t->csv.path, (long long)line, (long long)count,
                 (long long)t->count);
}

// --- Which columns ----------------------------------------------------------

static bool check_names(tl_vm *vm, const table *t) {
  tl_record *seen = tl_record_new(vm, t->count);
  bool ok = seen != NULL;
  for (int64_t i = 0; ok && i < t->count; i++) {
    tl_slot none = tl_none(), name = tl_own_string(t->columns[i].name);
    if (tl_record_find(seen, t->columns[i].name) >= 0)
      ok = tl_fail(vm, TALLY_ERR_VALUE,
                   "read_csv: \"%s\" has two columns "
                   "named \"%s\"; read it with header: false, skip: 1",
                   t->csv.path, t->columns[i].name->text);
    else
      ok = tl_record_set_key(vm, &seen, &name, &none);
  }
  // The names were only lent to it.
  if (seen) {
    seen->length = 0;
    tl_drop(vm, tl_own_record(seen));
  }
  return ok;
}

static bool select_column(tl_vm *vm, table *t, tl_string *name) {
  for (int64_t i = 0; i < t->count; i++) {
    if (!tl_string_equal(t->columns[i].name, name))
      continue;
    t->columns[i].wanted = true;
    return true;
  }
  return tl_fail(vm, TALLY_ERR_VALUE, "read_csv: \"%s\" has no column \"%s\"",
                 t->csv.path, name->text);
}

static bool rename_column(tl_vm *vm, column *column, tl_string *name) {
  tl_slot slot = {.tag = TL_TAG_STRING, .string = name};
  tl_drop(vm, tl_own_string(column->name));
  column->name = NULL;
  slot = tl_retain(vm, slot);
  // An immortal string comes back without an owner: it needs none.
  if (tl_is_owned(slot)) {
    column->name = slot.string;
    return true;
  }
  column->name = tl_string_new(vm, name->text, name->length);
  return column->name != NULL;
}

// The columns argument: with a header it selects, without one it names.
static bool apply_columns(tl_vm *vm, table *t, tl_slot s, bool header) {
  if (tl_is_none(s))
    return true;
  if (!tl_is_list(s))
    return tl_arg_fail(vm, "read_csv", "columns", "a list of strings", s);
  if (!header && s.list->length != t->count)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "read_csv: columns has %lld names, "
                   "\"%s\" has %lld columns",
                   (long long)s.list->length, t->csv.path, (long long)t->count);
  for (int64_t i = 0; header && i < t->count; i++) t->columns[i].wanted = false;
  for (int64_t i = 0; i < s.list->length; i++) {
    tl_string *name;
    if (!tl_arg_string(vm, "read_csv", "each of the columns", s.list->items[i],
                       &name))
      return false;
    if (header ? !select_column(vm, t, name)
               : !rename_column(vm, &t->columns[i], name))
      return false;
  }
  return true;
}

// --- Rows -------------------------------------------------------------------

// columns and dates name columns of the header, else of the first row.
static bool choose_columns(tl_vm *vm, table *t, tl_slot columns, tl_slot dates,
                           bool header) {
  if (!apply_columns(vm, t, columns, header) || !check_names(vm, t))
    return false;
  if (tl_is_none(dates))
    return true;
  if (!tl_is_list(dates))
    return tl_arg_fail(vm, "read_csv", "dates", "a list of strings", dates);
  for (int64_t i = 0; i < dates.list->length; i++) {
    tl_string *name;
    bool found = false;
    if (!tl_arg_string(vm, "read_csv", "each of the dates",
                       dates.list->items[i], &name))
      return false;
    for (int64_t k = 0; !found && k < t->count; k++) {
      found = tl_string_equal(t->columns[k].name, name);
      if (found)
        t->columns[k].kind = DATES;
    }
    if (!found)
      return tl_fail(vm, TALLY_ERR_VALUE,
                     "read_csv: \"%s\" has no column \"%s\"", t->csv.path,
                     name->text);
  }
  return true;
}

// How many cells the row that comes next has, without taking it apart.
static bool name_cells(tl_vm *vm, table *t) {
  bool quoted = false;
  for (size_t at = t->csv.at;; at++) {
    char byte = at < t->csv.nbytes ? t->csv.text[at] : '\n';
    if (at < t->csv.nbytes && byte == '"')
      quoted = !quoted;
    if (at < t->csv.nbytes && quoted)
      continue;
    bool ends = is_line_end(byte);
    if ((ends || byte == t->csv.separator) && !add_column(vm, t, "", 0))
      return false;
    if (ends)
      return true;
  }
}

static bool read_rows(tl_vm *vm, table *t, tl_slot *args, bool header,
                      int64_t most) {
  if (!has_row(&t->csv))
    return tl_fail(vm, TALLY_ERR_VALUE, "read_csv: \"%s\" has no rows",
                   t->csv.path);
  if (header ? !read_header(vm, t) : !name_cells(vm, t))
    return false;
  if (!choose_columns(vm, t, args[3], args[5], header))
    return false;
  t->body = t->csv.to;
  t->most_rows = count_lines(&t->csv);
  while (t->rows < most && has_row(&t->csv)) {
    if (!read_row(vm, t))
      return false;
    if (++t->rows % 1024 == 0 && !tl_poll(vm, 1))
      return false;
  }
  return true;
}

// --- Making arrays ----------------------------------------------------------

// A column of numbers in the length that it has; all NaN where it has none.
static bool fit_numbers(tl_vm *vm, table *t, column *column) {
  tl_array *a = column->array;
  if (a && a->size == t->rows)
    return true;
  tl_dtype dtype = a && column->kind == INTEGERS ? TL_INT64 : TL_FLOAT64;
  tl_array *fitted = tl_array_new(vm, dtype, 1, &t->rows);
  if (!fitted)
    return false;
  if (a && t->rows > 0)
    memcpy(fitted->data, a->data, (size_t)t->rows * 8);
  double *items = (double *)(void *)fitted->data;
  double gap = t->missing ? 0 : (double)NAN;
  for (int64_t i = 0; !a && i < t->rows; i++) items[i] = gap;
  if (a)
    tl_drop(vm, tl_own_array(a));
  column->array = fitted;
  return true;
}

static bool fit_missing(tl_vm *vm, table *t, column *column) {
  tl_array *a = column->missing;
  if (!a || a->size == t->rows)
    return true;
  column->missing = tl_array_new(vm, TL_BOOL, 1, &t->rows);
  if (column->missing && t->rows > 0)
    memcpy(column->missing->data, a->data, (size_t)t->rows);
  tl_drop(vm, tl_own_array(a));
  return column->missing != NULL;
}

static bool make_arrays(tl_vm *vm, table *t) {
  for (int64_t i = 0; i < t->count; i++) {
    column *column = &t->columns[i];
    if (!column->wanted)
      continue;
    if (!fit_missing(vm, t, column))
      return false;
    if (column->kind == INTEGERS || column->kind == FLOATS) {
      if (!fit_numbers(vm, t, column))
        return false;
      continue;
    }
    column->array = tl_array_new(
        vm, column->kind == DATES ? TL_INT64 : TL_STRING, 1, &t->rows);
    if (!column->array)
      return false;
  }
  return true;
}

static bool store_text(tl_vm *vm, tl_array *a, int64_t row, const char *text,
                       size_t nbytes) {
  if (nbytes == 0)
    return true;  // the array is born with empty strings
  char *item = a->data + (size_t)row * sizeof(tl_string *);
  // Tables often repeat a word: one string serves all of a run.
  if (row > 0) {
    tl_slot before = tl_item(vm, a, item - sizeof(tl_string *));
    bool same = tl_is_string(before) && before.string->length == nbytes &&
                memcmp(before.string->text, text, nbytes) == 0;
    bool stored = same && tl_item_store(vm, a, item, before);
    tl_drop(vm, before);
    if (same)
      return stored;
  }
  tl_string *string = tl_string_new(vm, text, nbytes);
  if (!string)
    return false;
  bool ok = tl_item_store(vm, a, item, tl_borrow(tl_own_string(string)));
  tl_drop(vm, tl_own_string(string));
  return ok;
}

static bool store_cell(tl_vm *vm, column *column, int64_t row, const char *text,
                       size_t nbytes) {
  if (column->kind == STRINGS)
    return store_text(vm, column->array, row, text, nbytes);
  int64_t microseconds;
  if (!tl_date_read(text, nbytes, &microseconds))
    microseconds = INT64_MIN;  // a gap
  else if (!column->timed)
    microseconds /= INT64_C(86400000000);  // a whole number of days
  memcpy(column->array->data + 8 * row, &microseconds, 8);
  return true;
}

// Texts and dates, once it is known what the columns hold.
static bool fill_arrays(tl_vm *vm, table *t) {
  bool any = false;
  for (int64_t k = 0; k < t->count; k++)
    any = any || (t->columns[k].wanted && t->columns[k].kind >= STRINGS);
  const char *text = t->csv.text + t->body;
  for (int64_t row = 0; any && row < t->rows; row++) {
    for (int64_t k = 0; k < t->count; k++) {
      size_t nbytes = strlen(text);
      column *column = &t->columns[k];
      if (column->wanted && column->kind >= STRINGS &&
          !store_cell(vm, column, row, text, nbytes))
        return false;
      text += nbytes + 1;
    }
    if (row % 1024 == 1023 && !tl_poll(vm, 1))
      return false;
  }
  return true;
}

static bool set_column(tl_vm *vm, tl_record **record, column *column) {
  tl_slot value = tl_own_array(column->array);
  column->array = NULL;
  if (column->missing) {
    tl_slot mask = tl_own_array(column->missing), values = value;
    column->missing = NULL;
    if (!tl_nested_pair(vm, TL_FORM_OPTION, 1, &mask, &values, &value))
      return false;
  }
  // The name goes along: the columns' list needs it no more.
  tl_slot name = tl_own_string(column->name);
  column->name = NULL;
  if (tl_record_set_key(vm, record, &name, &value)) {
    tl_drop(vm, name);
    return true;
  }
  tl_drop(vm, name);
  tl_drop(vm, value);
  return false;
}

static tl_record *make_record(tl_vm *vm, table *t, tl_slot order) {
  tl_record *record = tl_record_new(vm, t->count);
  bool ok = record != NULL;
  // In the order asked for, else that of the file.
  for (int64_t i = 0; ok && tl_is_list(order) && i < order.list->length; i++) {
    for (int64_t k = 0; ok && k < t->count; k++)
      if (t->columns[k].array &&
          tl_string_equal(t->columns[k].name, order.list->items[i].string))
        ok = set_column(vm, &record, &t->columns[k]);
  }
  for (int64_t i = 0; ok && i < t->count; i++)
    if (t->columns[i].array)
      ok = set_column(vm, &record, &t->columns[i]);
  if (!ok && record)
    tl_drop(vm, tl_own_record(record));
  return ok ? record : NULL;
}

// --- read_csv ---------------------------------------------------------------

static bool skip_lines(csv *c, int64_t count) {
  for (; count > 0 && c->at < c->nbytes; count--) {
    while (c->at < c->nbytes && !is_line_end(c->text[c->at])) c->at++;
    skip_line_end(c);
  }
  return true;
}

static bool parse_table(tl_vm *vm, table *t, tl_slot *args, bool header,
                        int64_t skip, int64_t most, tl_slot *out) {
  csv *c = &t->csv;
  size_t bad;
  if (!tl_utf8_check(c->text, c->nbytes, &bad))
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "read_csv: \"%s\" is no UTF-8 text: "
                   "malformed at byte %zu",
                   c->path, bad);
  if (c->nbytes >= 3 && memcmp(c->text, "\xef\xbb\xbf", 3) == 0)
    c->at = 3;
  tl_record *record = NULL;
  c->ends[0] = c->ends['\n'] = c->ends['\r'] = true;
  c->ends[(unsigned char)c->separator] = true;
  if (skip_lines(c, skip) && read_rows(vm, t, args, header, most) &&
      make_arrays(vm, t) && fill_arrays(vm, t))
    record = make_record(vm, t, args[3]);
  if (record)
    *out = tl_own_record(record);
  return record != NULL;
}

// path, header, sep, columns, skip, dates, rows, missing
static bool read_csv(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_string *name;
  bool header;
  int64_t skip, most = INT64_MAX;
  tl_bytes bytes;
  table t = {.csv = {.vm = vm, .line = 1}};
  if (!tl_arg_string(vm, "read_csv", "path", args[0], &name) ||
      !tl_arg_bool(vm, "read_csv", "header", args[1], &header) ||
      !tl_csv_separator(vm, "read_csv", args[2], &t.csv.separator) ||
      !tl_arg_count(vm, "read_csv", "skip", args[4], &skip) ||
      (!tl_is_none(args[6]) &&
       !tl_arg_count(vm, "read_csv", "rows", args[6], &most)) ||
      !tl_arg_bool(vm, "read_csv", "missing", args[7], &t.missing))
    return false;
  t.csv.path = tl_io_path(vm, "read_csv", name);
  if (!t.csv.path || !tl_io_read_expanded(vm, "read_csv", t.csv.path, &bytes))
    return false;
  t.csv.text = bytes.data;
  t.csv.nbytes = bytes.nbytes;
  bool ok = parse_table(vm, &t, args, header, skip, most, out);
  table_close(vm, &t);
  tl_bytes_free(vm, &bytes);
  return ok;
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_io_csv_module[] = {
    {"read_csv",
     "path, header: true, sep: \",\", columns: none, skip: 0, dates: none, "
     "rows: none, missing: false",
     read_csv, TL_FILES | TL_EFFECT,
     "A table of text as a record of columns: arrays of int64, float64 or\n"
     "string, the first of these that holds all cells. Empty cells are NaN\n"
     "(in strings \"\"). The first row, behind skip lines, names the columns,\n"
     "unless header is false: then they are c0, c1, … or what columns says.\n"
     "With a header, columns lists those to be read. dates lists columns of\n"
     "dates: int64 days since 1970-01-01, or microseconds where one has a "
     "time\n"
     "(UTC); iinfo(int64).min for a gap. rows reads no more of them. sep is\n"
     "one character (\"\\t\" for TSV); compressed files are expanded. A row "
     "with\n"
     "too few or too many cells is an error (kind value) with its line. With\n"
     "missing: true the columns with empty cells are of type ?T instead, the\n"
     "cells missing. rows(table) makes structs of it.\n"
     "    io.read_csv(\"data.csv\", sep: \";\")\n"},
    {NULL, NULL, NULL, 0, NULL},
};
