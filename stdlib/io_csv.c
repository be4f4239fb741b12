// Tables in text: comma-separated values, as RFC 4180 has them.
//
// A file is read whole. Its first row tells what the columns hold, then all of
// it is scanned in parts, by several threads if that pays, numbers going to
// where they stay. Columns that turn out to be texts are scanned once more.

#include <stdio.h>
#include <string.h>

#include "stdlib/arguments.h"
#include "stdlib/compress.h"
#include "stdlib/csv.h"
#include "stdlib/csv_scan.h"
#include "stdlib/families.h"
#include "stdlib/nested.h"
#include "vm/text/format.h"
#include "vm/io.h"
#include "vm/values/list.h"
#include "vm/values/record.h"
#include "vm/engine/pool.h"
#include "vm/values/string_item.h"
#include "vm/vm.h"

// --- A table ----------------------------------------------------------------

// What a column is beside what its cells are to be scanned to.
typedef struct column {
  tl_string *name;  // counted
  bool wanted;
  tl_array
      *array;  // its numbers, dates or texts; first, of texts, their places
  tl_array *missing;  // bool, with missing: true where there are gaps
  tl_csv_learned learned;
} column;

typedef struct table {
  tl_vm *vm;
  const char *path;
  tl_csv_source source;
  column *columns;
  int64_t count, capacity;
  tl_csv_part *parts;
  int64_t part_count;
  tl_csv_learned *learned;  // of each part, each column
  int64_t capacity_rows;    // of the arrays
  int64_t rows;
} table;

static size_t learned_nbytes(const table *t) {
  return (size_t)(t->part_count * t->count) * sizeof *t->learned;
}

static void table_close(tl_vm *vm, table *t) {
  for (int64_t i = 0; i < t->count; i++) {
    if (t->columns[i].name)
      tl_drop(vm, tl_own_string(t->columns[i].name));
    if (t->columns[i].array)
      tl_drop(vm, tl_own_array(t->columns[i].array));
    if (t->columns[i].missing)
      tl_drop(vm, tl_own_array(t->columns[i].missing));
  }
  if (t->learned)
    tl_free(vm, t->learned, learned_nbytes(t));
  if (t->parts)
    tl_free(vm, t->parts, (size_t)t->part_count * sizeof *t->parts);
  if (t->source.columns)
    tl_free(vm, t->source.columns,
            (size_t)t->count * sizeof *t->source.columns);
  if (t->columns)
    tl_free(vm, t->columns, (size_t)t->capacity * sizeof *t->columns);
}

// Fails with what is wrong in a part.
static bool fail_fault(const table *t, const tl_csv_part *part) {
  long long cell = (long long)part->fault_cell + 1;
  const char *message = "";
  char date[80];
  switch (part->fault) {
    case TL_CSV_CELL_COUNT:
      return tl_fail(t->vm, TALLY_ERR_VALUE,
                     "read_csv: \"%s\", line %lld: %lld cells, but the first "
                     "row has %lld",
                     t->path, (long long)part->fault_line, cell - 1,
                     (long long)t->count);
    case TL_CSV_NO_DATE:
      snprintf(date, sizeof date, "\"%.*s\"",
               (int)(part->fault_nbytes < 60 ? part->fault_nbytes : 60),
               part->fault_text);
      return tl_fail(t->vm, TALLY_ERR_VALUE,
                     "read_csv: \"%s\", line %lld: %s in column %s is no date "
                     "such as 2024-05-31 or 2024-05-31T12:00:00",
                     t->path, (long long)part->fault_line, date,
                     t->columns[part->fault_cell].name->text);
    case TL_CSV_OPEN_QUOTE:
      message = "a quote is opened and never closed";
      break;
    case TL_CSV_BEHIND_QUOTE:
      message = "text behind a closing quote";
      break;
    default:
      message = "a zero byte";
  }
  return tl_fail(t->vm, TALLY_ERR_VALUE,
                 "read_csv: \"%s\", line %lld, cell %lld: %s", t->path,
                 (long long)part->fault_line, cell, message);
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

static bool read_header(tl_vm *vm, table *t, tl_csv_part *part) {
  tl_csv_cell cell;
  do {
    part->fault_cell = t->count;
    if (!tl_csv_next(&t->source, part, &cell))
      return fail_fault(t, part);
    const char *name = cell.text;
    size_t nbytes = cell.nbytes;
    while (nbytes > 0 && *name == ' ') name++, nbytes--;
    while (nbytes > 0 && name[nbytes - 1] == ' ') nbytes--;
    if (!add_column(vm, t, name, nbytes))
      return false;
  } while (!cell.last);
  return true;
}

// Names for as many columns as the row that comes next has cells.
static bool name_cells(tl_vm *vm, table *t, const tl_csv_part *from) {
  tl_csv_part part = *from;
  tl_csv_cell cell;
  do {
    part.fault_cell = t->count;
    if (!tl_csv_next(&t->source, &part, &cell))
      return fail_fault(t, &part);
    if (!add_column(vm, t, "", 0))
      return false;
  } while (!cell.last);
  return true;
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
                   t->path, t->columns[i].name->text);
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
                 t->path, name->text);
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
                   (long long)s.list->length, t->path, (long long)t->count);
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
        t->columns[k].learned.kind = TL_CSV_DATES;
    }
    if (!found)
      return tl_fail(vm, TALLY_ERR_VALUE,
                     "read_csv: \"%s\" has no column \"%s\"", t->path,
                     name->text);
  }
  return true;
}

// The columns as they are scanned, before anything is known but names.
static bool open_columns(tl_vm *vm, table *t) {
  t->source.columns = tl_alloc(vm, (size_t)t->count * sizeof *t->source.columns,
                               "the columns of a table");
  for (int64_t k = 0; t->source.columns && k < t->count; k++)
    t->source.columns[k] = (tl_csv_column){.kind = t->columns[k].learned.kind,
                                           .wanted = t->columns[k].wanted};
  t->source.count = t->count;
  return t->source.columns != NULL;
}

// --- Parts ------------------------------------------------------------------

enum {
  PART_BYTES = 1 << 18,
  PART_MOST = 1024,
  CELL_BYTES = 64,  // of a part for each column, so that what is learned is
};                  // little beside the text

// The row that begins after the line in which [at] is.
static const char *next_row(const char *at, const char *end) {
  const char *line_end = memchr(at, '\n', (size_t)(end - at));
  return line_end ? line_end + 1 : end;
}

// Divides the rows behind [from]. Line ends within quotes end no row: a table
// with quotes is one part, as is one of which not all rows are asked for.
static bool divide(tl_vm *vm, table *t, const tl_csv_part *from) {
  const char *end = t->source.end;
  size_t nbytes = (size_t)(end - from->at), each = PART_BYTES;
  if (each < (size_t)t->count * CELL_BYTES)
    each = (size_t)t->count * CELL_BYTES;
  if (each < nbytes / PART_MOST)
    each = nbytes / PART_MOST;
  if (from->most < INT64_MAX || memchr(from->at, '"', nbytes))
    each = nbytes + 1;
  t->part_count = (int64_t)(nbytes / each) + 1;
  t->parts = tl_alloc_zeroed(vm, (size_t)t->part_count * sizeof *t->parts,
                             "the parts of a table");
  if (!t->parts)
    return false;
  t->learned = tl_alloc_zeroed(vm, learned_nbytes(t), "the parts of a table");
  if (!t->learned)
    return false;
  const char *at = from->at;
  int64_t line = from->line;
  for (int64_t i = 0; i < t->part_count; i++) {
    tl_csv_part *part = &t->parts[i];
    bool last = i + 1 == t->part_count || (size_t)(end - at) <= each;
    const char *to = last ? end : next_row(at + each, end);
    *part = (tl_csv_part){
        .from = at, .to = to, .from_line = line, .most = from->most};
    part->first = t->capacity_rows;
    part->learned = t->learned + i * t->count;
    int64_t lines = tl_csv_line_ends(at, to);
    line += lines;
    t->capacity_rows += lines;
    at = to;
  }
  if (nbytes > 0 && end[-1] != '\n' && end[-1] != '\r')
    t->capacity_rows++;
  if (t->capacity_rows > from->most)
    t->capacity_rows = from->most;
  return true;
}

// Where the columns' cells go. What their texts are is not known yet, but
// where they are.
static bool make_room(tl_vm *vm, table *t) {
  for (int64_t k = 0; k < t->count; k++) {
    column *column = &t->columns[k];
    if (!column->wanted)
      continue;
    column->array = tl_array_new(vm, TL_INT64, 1, &t->capacity_rows);
    if (!column->array)
      return false;
    t->source.columns[k].items = column->array->data;
    if (!t->source.missing)
      continue;
    column->missing = tl_array_zeros(vm, TL_BOOL, 1, &t->capacity_rows);
    if (!column->missing)
      return false;
    t->source.columns[k].gaps = column->missing->data;
  }
  return true;
}

static void scan_part(void *context, int64_t i) {
  table *t = context;
  tl_csv_scan(&t->source, &t->parts[i]);
}

// All of a long part, with polls between.
static bool scan_pieces(tl_vm *vm, const table *t, tl_csv_part *part) {
  const char *to = part->to;
  bool ok = true;
  while (ok && part->at < to && !part->fault && part->rows < part->most) {
    bool last = to - part->at <= PART_BYTES;
    part->to = last ? to : part->at + PART_BYTES;
    tl_csv_scan(&t->source, part);
    ok = tl_poll(vm, 64);
  }
  return ok;
}

// What one part tells about a column, to what the parts before it told.
static void learn(tl_csv_learned *all, const tl_csv_learned *one) {
  if (all->kind < one->kind)
    all->kind = one->kind;
  all->any = all->any || one->any;
  all->timed = all->timed || one->timed;
  all->gap = all->gap || one->gap;
}

// A column in which some parts found integers alone and others not.
static void agree_on_floats(table *t, int64_t k) {
  for (int64_t i = 0; i < t->part_count; i++)
    if (t->parts[i].learned[k].kind == TL_CSV_INTEGERS)
      tl_csv_to_floats(t->source.columns[k].items, t->parts[i].first,
                       t->parts[i].rows);
}

static bool scan_parts(tl_vm *vm, table *t) {
  for (int64_t i = 0; i < t->part_count; i++) {
    tl_csv_part *part = &t->parts[i];
    part->at = part->from;
    part->line = part->from_line;
    part->rows = 0;
    for (int64_t k = 0; k < t->count; k++)
      part->learned[k] = (tl_csv_learned){.kind = t->source.columns[k].kind};
  }
  bool ok = t->part_count == 1
                ? scan_pieces(vm, t, &t->parts[0])
                : tl_pool_spread(vm, t->part_count, scan_part, t, 64);
  for (int64_t i = 0; ok && i < t->part_count; i++)
    if (t->parts[i].fault)
      return fail_fault(t, &t->parts[i]);
  for (int64_t k = 0; ok && k < t->count; k++) {
    if (!t->source.columns[k].wanted)
      continue;
    tl_csv_learned *all = &t->columns[k].learned;
    for (int64_t i = 0; i < t->part_count; i++)
      learn(all, &t->parts[i].learned[k]);
    if (all->kind == TL_CSV_FLOATS)
      agree_on_floats(t, k);
  }
  return ok;
}

// Scans again for the columns that looked like numbers and hold texts.
static bool scan_texts(tl_vm *vm, table *t) {
  bool any = false;
  for (int64_t k = 0; k < t->count; k++) {
    tl_csv_column *column = &t->source.columns[k];
    column->wanted = column->wanted && column->kind != TL_CSV_TEXTS &&
                     t->columns[k].learned.kind == TL_CSV_TEXTS;
    column->kind = t->columns[k].learned.kind;
    any = any || column->wanted;
  }
  return !any || scan_parts(vm, t);
}

// Moves the rows of each part behind those of the part before it: lines
// without text left gaps.
static void close_ranks(table *t) {
  for (int64_t i = 0; i < t->part_count; i++) {
    const tl_csv_part *part = &t->parts[i];
    size_t to = (size_t)t->rows, from = (size_t)part->first;
    size_t rows = (size_t)part->rows;
    t->rows += part->rows;
    for (int64_t k = 0; to != from && k < t->count; k++) {
      const tl_csv_column *column = &t->source.columns[k];
      if (column->items)
        memmove(column->items + 8 * to, column->items + 8 * from, 8 * rows);
      if (column->gaps)
        memmove(column->gaps + to, column->gaps + from, rows);
    }
  }
}

// The kinds of the first row's cells, with which the scan begins.
static bool guess(tl_vm *vm, table *t, const tl_csv_part *from) {
  size_t nbytes = (size_t)t->count * sizeof(tl_csv_learned);
  tl_csv_part first = *from;
  first.most = from->most < 1 ? 0 : 1;
  first.learned = tl_alloc_zeroed(vm, nbytes, "the columns of a table");
  if (!first.learned)
    return false;
  for (int64_t k = 0; k < t->count; k++)
    first.learned[k].kind = t->source.columns[k].kind;
  tl_csv_scan(&t->source, &first);
  for (int64_t k = 0; k < t->count; k++)
    t->source.columns[k].kind = t->columns[k].learned.kind =
        first.learned[k].kind;
  tl_free(vm, first.learned, nbytes);
  return !first.fault || fail_fault(t, &first);
}

static bool read_rows(tl_vm *vm, table *t, tl_csv_part *from, tl_slot *args,
                      bool header) {
  if (!tl_csv_has_row(&t->source, from))
    return tl_fail(vm, TALLY_ERR_VALUE, "read_csv: \"%s\" has no rows",
                   t->path);
  if (header ? !read_header(vm, t, from) : !name_cells(vm, t, from))
    return false;
  if (!choose_columns(vm, t, args[3], args[5], header) ||
      !open_columns(vm, t) || !guess(vm, t, from) || !divide(vm, t, from) ||
      !make_room(vm, t) || !scan_parts(vm, t) || !scan_texts(vm, t))
    return false;
  close_ranks(t);
  return true;
}

// --- Making arrays ----------------------------------------------------------

// An array in the length that the table has.
static bool fit(tl_vm *vm, const table *t, tl_array **a) {
  tl_array *old = *a;
  if (!old || old->size == t->rows)
    return true;
  *a = tl_array_new(vm, tl_array_dtype(old), 1, &t->rows);
  if (*a && t->rows > 0)
    memcpy((*a)->data, old->data,
           (size_t)t->rows * tl_itemsize(tl_array_dtype(old)));
  tl_drop(vm, tl_own_array(old));
  return *a != NULL;
}

static bool store_text(tl_vm *vm, tl_array *a, int64_t row, const char *text,
                       size_t nbytes) {
  if (nbytes == 0)
    return true;  // the array is born with empty strings
  tl_string_item *item = &tl_string_items(a)[row];
  // Tables often repeat a word: one string serves all of a run.
  if (row > 0 && tl_string_item_length(item - 1) == nbytes &&
      memcmp(tl_string_item_text(item - 1), text, nbytes) == 0) {
    tl_string_item_copy(vm, item, item - 1);
    return true;
  }
  return tl_string_item_set(vm, item, text, nbytes);
}

// A cell's text, quotes written twice being one; in [buffer] where it has such.
static bool cell_text(const tl_csv_cell *cell, tl_text *buffer,
                      const char **text, size_t *nbytes) {
  *text = cell->text;
  *nbytes = cell->nbytes;
  if (!cell->doubled)
    return true;
  buffer->length = 0;
  for (size_t i = 0; i < cell->nbytes; i++) {
    tl_text_putc(buffer, cell->text[i]);
    i += cell->text[i] == '"';
  }
  *text = buffer->bytes;
  *nbytes = buffer->length;
  return !buffer->failed;
}

static bool make_texts(tl_vm *vm, const table *t, tl_array *texts,
                       const int64_t *places) {
  tl_text buffer;
  bool ok = true;
  tl_text_open(&buffer, vm);
  for (int64_t row = 0; ok && row < t->rows; row++) {
    tl_csv_part part = {.at = t->source.text + places[row]};
    tl_csv_cell cell;
    const char *text;
    size_t nbytes;
    ok = tl_csv_next(&t->source, &part, &cell) &&
         cell_text(&cell, &buffer, &text, &nbytes) &&
         store_text(vm, texts, row, text, nbytes) &&
         (row % 1024 != 1023 || tl_poll(vm, 1));
  }
  tl_text_close(&buffer);
  return ok;
}

// Turns the places of texts into texts.
static bool place_texts(tl_vm *vm, const table *t, column *column) {
  tl_array *places = column->array;
  column->array = tl_array_new(vm, TL_STRING, 1, &t->rows);
  bool ok = column->array &&
            make_texts(vm, t, column->array, (int64_t *)(void *)places->data);
  tl_drop(vm, tl_own_array(places));
  return ok;
}

// Days, where no date of the column has a time.
static void count_days(int64_t *items, int64_t rows) {
  for (int64_t i = 0; i < rows; i++)
    if (items[i] != INT64_MIN)
      items[i] /= INT64_C(86400000000);  // a whole number of days
}

static bool make_column(tl_vm *vm, const table *t, column *column) {
  const tl_csv_learned *learned = &column->learned;
  if (!learned->gap && column->missing) {
    tl_drop(vm, tl_own_array(column->missing));
    column->missing = NULL;
  }
  if (!fit(vm, t, &column->missing))
    return false;
  if (learned->kind == TL_CSV_TEXTS)
    return place_texts(vm, t, column);
  if (learned->kind == TL_CSV_FLOATS ||
      (learned->kind == TL_CSV_INTEGERS && !learned->any))
    column->array->head.dtype = TL_FLOAT64;
  if (!fit(vm, t, &column->array))
    return false;
  if (learned->kind == TL_CSV_DATES && !learned->timed)
    count_days((int64_t *)(void *)column->array->data, t->rows);
  return true;
}

static bool make_arrays(tl_vm *vm, table *t) {
  for (int64_t k = 0; k < t->count; k++)
    if (t->columns[k].wanted && !make_column(vm, t, &t->columns[k]))
      return false;
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

static void skip_lines(const table *t, tl_csv_part *part, int64_t count) {
  for (; count > 0 && part->at < t->source.end; count--) {
    while (part->at < t->source.end && *part->at != '\n' && *part->at != '\r')
      part->at++;
    tl_csv_skip_line_end(&t->source, part);
  }
}

static bool check_text(const table *t, const tl_bytes *bytes) {
  size_t bad;
  return tl_utf8_check(bytes->data, bytes->nbytes, &bad) ||
         tl_fail(t->vm, TALLY_ERR_VALUE,
                 "read_csv: \"%s\" is no UTF-8 text: malformed at byte %zu",
                 t->path, bad);
}

// path, header, sep, columns, skip, dates, rows, missing
static bool read_csv(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_string *name;
  bool header, missing;
  char separator;
  int64_t skip;
  tl_bytes bytes;
  table t = {.vm = vm};
  tl_csv_part start = {.line = 1, .most = INT64_MAX};
  if (!tl_arg_string(vm, "read_csv", "path", args[0], &name) ||
      !tl_arg_bool(vm, "read_csv", "header", args[1], &header) ||
      !tl_csv_separator(vm, "read_csv", args[2], &separator) ||
      !tl_arg_count(vm, "read_csv", "skip", args[4], &skip) ||
      (!tl_is_none(args[6]) &&
       !tl_arg_count(vm, "read_csv", "rows", args[6], &start.most)) ||
      !tl_arg_bool(vm, "read_csv", "missing", args[7], &missing))
    return false;
  t.path = tl_io_path(vm, "read_csv", name);
  if (!t.path || !tl_io_read_expanded(vm, "read_csv", t.path, &bytes))
    return false;
  tl_csv_source_open(&t.source, bytes.data, bytes.nbytes, separator);
  t.source.missing = missing;
  bool marked = bytes.nbytes >= 3 && memcmp(bytes.data, "\xef\xbb\xbf", 3) == 0;
  start.at = bytes.data + (marked ? 3 : 0);
  start.to = t.source.end;
  skip_lines(&t, &start, skip);
  tl_record *record = NULL;
  if (check_text(&t, &bytes) && read_rows(vm, &t, &start, args, header) &&
      make_arrays(vm, &t))
    record = make_record(vm, &t, args[3]);
  if (record)
    *out = tl_own_record(record);
  table_close(vm, &t);
  tl_bytes_free(vm, &bytes);
  return record != NULL;
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
