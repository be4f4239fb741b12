// The rows of a table of text, from a file to arrays: see csv_table.h.

#include "stdlib/csv_table.h"

#include "vm/array/string_item.h"
#include "vm/vm.h"

enum {
#ifdef TALLY_AUDIT
  PART_BYTES = 1 << 10,  // so that tests see where windows meet
#else
  PART_BYTES = 1 << 18,  // what the nearest caches hold
#endif
  ROWS_AT_ONCE = 1 << 14,
  CELL_BYTES = 64,  // of a part for each column, so that what is learned is
};                  // little beside the text

// --- A table ----------------------------------------------------------------

// The source follows the window; places in the old text are void now.
static void show_window(tl_csv_table *t) {
  t->source.text = t->window.begin;
  t->source.end = t->window.end;
}

// Threads share a window, so it has a part for each; one thread reads as much
// as the cache holds.
bool tl_csv_table_open(tl_vm *vm, const char *path, char separator,
                       tl_csv_table *out) {
  size_t step = PART_BYTES;
  if (tl_pool_threads(vm) > 1)
    step *= TL_CSV_PARTS;
  out->vm = vm;
  out->path = path;
  out->source = tl_csv_source_of(separator);
  if (!tl_csv_window_open(vm, "read_csv", path, step, &out->window))
    return false;
  show_window(out);
  return true;
}

// For the header and the first rows, which are looked for in the first window
// alone: that grows until it has them.
bool tl_csv_table_more(tl_csv_table *t) {
  if (!tl_csv_window_next(&t->window, t->window.begin))
    return false;
  show_window(t);
  return true;
}

// Also of a target that has none, and more than once.
static void drop_arrays(tl_vm *vm, tl_csv_target *target) {
  tl_clear(vm, &target->array);
  tl_clear(vm, &target->missing);
}

// They are as long as [expected] says: dropped before that changes.
static void drop_places(const tl_csv_table *t, tl_csv_target *target) {
  tl_free(t->vm, target->places, (size_t)t->expected * sizeof(int64_t));
  target->places = NULL;
}

// One table for all parts: part i has the entries from i * count on.
static size_t learned_nbytes(const tl_csv_table *t) {
  return (size_t)(TL_CSV_PARTS * t->count) * sizeof *t->learned;
}

// A table that was opened in part has NULL and none for the rest.
void tl_csv_table_close(tl_vm *vm, tl_csv_table *t) {
  for (int64_t i = 0; i < t->count; i++) {
    drop_arrays(vm, &t->targets[i]);
    drop_places(t, &t->targets[i]);
  }
  tl_free(vm, t->learned, learned_nbytes(t));
  if (t->source.columns)
    tl_free(vm, t->source.columns,
            (size_t)t->count * sizeof *t->source.columns);
  tl_free(vm, t->targets, t->capacity * sizeof *t->targets);
  tl_csv_window_close(&t->window);
}

// An empty cell is named as such, with the type that would allow it. Texts in
// messages are cut at 60 bytes.
static bool fail_cell(const tl_csv_table *t, const tl_csv_part *part) {
  const tl_csv_target *target = &t->targets[part->fault_cell];
  tl_string *type = tl_type_text(t->vm, target->type);
  if (!type)
    return false;
  if (part->fault_nbytes == 0)
    tl_fail(t->vm, TALLY_ERR_VALUE,
            "read_csv: \"%s\", line %lld: column %s is empty here and of type "
            "%s: ?%s may be missing",
            t->path, (long long)part->fault_line, target->name->text,
            type->text, type->text);
  else
    tl_fail(t->vm, TALLY_ERR_VALUE,
            "read_csv: \"%s\", line %lld: \"%.*s\" in column %s is no %s",
            t->path, (long long)part->fault_line,
            (int)(part->fault_nbytes < 60 ? part->fault_nbytes : 60),
            part->fault_text, target->name->text, type->text);
  tl_drop(t->vm, tl_own_string(type));
  return false;
}

// Lines count from 1 in the file as it is, cells from 1 in their row.
bool tl_csv_table_fail(const tl_csv_table *t, const tl_csv_part *part) {
  long long cell = (long long)part->fault_cell + 1;
  const char *message = "";
  switch (part->fault) {
    case TL_CSV_CELL_COUNT:
      return tl_fail(t->vm, TALLY_ERR_VALUE,
                     "read_csv: \"%s\", line %lld: %lld cells, but the first "
                     "row has %lld",
                     t->path, (long long)part->fault_line, cell - 1,
                     (long long)t->count);
    case TL_CSV_NO_DATE:
      return tl_fail(t->vm, TALLY_ERR_VALUE,
                     "read_csv: \"%s\", line %lld: \"%.*s\" in column %s is no "
                     "date such as 2024-05-31 or 2024-05-31T12:00:00",
                     t->path, (long long)part->fault_line,
                     (int)(part->fault_nbytes < 60 ? part->fault_nbytes : 60),
                     part->fault_text, t->targets[part->fault_cell].name->text);
    case TL_CSV_OTHER_TYPE:
      return fail_cell(t, part);
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

// --- Room -------------------------------------------------------------------

// What a row takes in the arrays, at least 1 so that it can divide.
static size_t row_nbytes(const tl_csv_table *t) {
  size_t nbytes = 1;
  for (int64_t k = 0; k < t->count; k++) {
    const tl_csv_column *column = &t->source.columns[k];
    if (column->wanted)
      nbytes += column->kind == TL_CSV_TEXTS ? sizeof(tl_string_item) : 8;
  }
  return nbytes;
}

// How many rows to have memory for where [rows] are needed now: as many as the
// rows read so far let expect; but, as they may be unlike the others, no more
// memory than the text has bytes, or twice what is needed.
static int64_t expected_rows(const tl_csv_table *t, int64_t rows) {
  const int64_t passed = t->window.offset - t->first_offset;
  const int64_t left = t->window.size - t->window.offset;
  double most = (double)t->window.size / (double)row_nbytes(t);
  double expected = 2 * (double)rows;
  if (most < expected)
    most = expected;
  if (passed > 0 && t->rows > 0 && left >= 0) {
    double each = (double)passed / (double)t->rows;
    expected = (double)t->rows + (double)left / each;
    expected += expected / 64 + 16;
  }
  if (expected > most)
    expected = most;
  int64_t room = expected > (double)rows ? (int64_t)expected : rows;
  return room < t->most ? room : t->most;
}

// An array with the present room, into which the rows go that were read.
static bool enlarge(const tl_csv_table *t, tl_slot *array, tl_dtype dtype) {
  tl_array *a = dtype == TL_BOOL ? tl_array_zeros(t->vm, dtype, 1, &t->room)
                                 : tl_array_new(t->vm, dtype, 1, &t->room);
  if (!a)
    return false;
  if (!tl_is_none(*array)) {
    tl_array *old = array->array;
    if (!tl_copy_bytes(t->vm, a->data, old->data,
                       (size_t)t->rows * tl_itemsize(dtype)))
      return tl_array_finish(t->vm, false, a, array);
    if (dtype == TL_STRING)
      tl_string_items_clear(tl_string_items(old), t->rows);
    tl_drop(t->vm, *array);
  }
  *array = tl_own_array(a);
  return true;
}

// Only the wanted columns have arrays. False leaves some of them enlarged: all
// are dropped when the table is closed.
static bool enlarge_all(const tl_csv_table *t) {
  for (int64_t k = 0; k < t->count; k++) {
    tl_csv_target *target = &t->targets[k];
    const tl_csv_column *column = &t->source.columns[k];
    if (!column->wanted)
      continue;
    if (!enlarge(t, &target->array,
                 column->kind == TL_CSV_TEXTS ? TL_STRING : TL_INT64) ||
        (t->source.missing && !enlarge(t, &target->missing, TL_BOOL)))
      return false;
  }
  return true;
}

// Texts of a window are made when all its parts are scanned, so each has a
// place meanwhile; the memory serves all windows, and grows with the largest.
static bool find_places(tl_csv_table *t, int64_t rows) {
  if (rows > t->expected) {
    for (int64_t k = 0; k < t->count; k++) drop_places(t, &t->targets[k]);
    t->expected = rows;
  }
  for (int64_t k = 0; k < t->count; k++) {
    tl_csv_column *column = &t->source.columns[k];
    if (!column->wanted || column->kind != TL_CSV_TEXTS)
      continue;
    if (!t->targets[k].places)
      t->targets[k].places =
          tl_alloc(t->vm, (size_t)t->expected * sizeof(int64_t), "texts");
    if (!t->targets[k].places)
      return false;
    column->items = (char *)t->targets[k].places;
  }
  return true;
}

// Lets the columns' cells go to where the next [more] rows are.
static bool make_room(tl_csv_table *t, int64_t more) {
  const int64_t rows = t->rows + more;
  if (rows > t->room || t->room == 0) {
    t->room = expected_rows(t, rows);
    if (!enlarge_all(t))
      return false;
  }
  for (int64_t k = 0; k < t->count; k++) {
    const tl_csv_target *target = &t->targets[k];
    tl_csv_column *column = &t->source.columns[k];
    if (!column->wanted)
      continue;
    column->items = target->array.array->data + 8 * t->rows;
    if (t->source.missing)
      column->gaps = target->missing.array->data + t->rows;
  }
  return find_places(t, more);
}

// --- Texts ------------------------------------------------------------------

// [first]: there is no item before this one.
static bool store_text(tl_vm *vm, tl_string_item *item, bool first,
                       const char *text, size_t nbytes) {
  if (nbytes == 0)
    return true;  // items are born as empty strings
  // Tables often repeat a word: one string serves all of a run.
  if (!first && tl_string_item_length(item - 1) == nbytes &&
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

// The cells are read a second time, by their places, while their text is likely
// to be in the cache. Here and not in the parts, since strings are the VM's
// memory and parts belong to threads.
static bool make_texts(const tl_csv_table *t, const tl_csv_target *target,
                       int64_t rows) {
  tl_string_item *items = tl_string_items(target->array.array) + t->rows;
  tl_text buffer;
  bool ok = true;
  tl_text_open(&buffer, t->vm);
  for (int64_t row = 0; ok && row < rows; row++) {
    tl_csv_part part = {.at = t->source.text + target->places[row]};
    tl_csv_cell cell;
    const char *text;
    size_t nbytes;
    ok = tl_csv_next(&t->source, &part, &cell) &&
         cell_text(&cell, &buffer, &text, &nbytes) &&
         store_text(t->vm, items + row, t->rows + row == 0, text, nbytes) &&
         (row % 1024 != 1023 || tl_poll(t->vm, 1));
  }
  tl_text_close(&buffer);
  return ok;
}

// --- Parts ------------------------------------------------------------------

// What one part tells about a column, to what the parts before it told.
static void learn(tl_csv_learned *all, const tl_csv_learned *one) {
  if (all->kind < one->kind)
    all->kind = one->kind;
  all->any = all->any || one->any;
  all->timed = all->timed || one->timed;
  all->gap = all->gap || one->gap;
}

// The part begins with the kinds that the columns have, so that its first rows
// are stored as the rows before were.
static void start_part(tl_csv_table *t, int64_t i, const char *from,
                       const char *to, int64_t first, int64_t line) {
  tl_csv_part *part = &t->parts[i];
  *part = (tl_csv_part){
      .at = from, .to = to, .line = line, .first = first, .most = INT64_MAX};
  part->learned = t->learned + i * t->count;
  for (int64_t k = 0; k < t->count; k++)
    part->learned[k] = (tl_csv_learned){.kind = t->source.columns[k].kind};
}

// A column of integers so far, in the rows before and in some parts.
static void become_floats(tl_csv_table *t, int64_t k) {
  tl_csv_column *column = &t->source.columns[k];
  tl_csv_to_floats(t->targets[k].array.array->data, 0, t->rows);
  for (int64_t i = 0; i < t->part_count; i++)
    if (t->parts[i].learned[k].kind == TL_CSV_INTEGERS)
      tl_csv_to_floats(column->items, t->parts[i].first, t->parts[i].rows);
  column->kind = TL_CSV_FLOATS;
}

// Moves the rows of each part behind those of the part before it: lines
// without text left gaps. Returns how many there are.
static int64_t close_ranks(const tl_csv_table *t) {
  int64_t rows = 0;
  for (int64_t i = 0; i < t->part_count; i++) {
    const tl_csv_part *part = &t->parts[i];
    size_t to = (size_t)rows, from = (size_t)part->first;
    size_t n = (size_t)part->rows;
    rows += part->rows;
    for (int64_t k = 0; to != from && k < t->count; k++) {
      const tl_csv_column *column = &t->source.columns[k];
      if (!column->wanted)
        continue;
      memmove(column->items + 8 * to, column->items + 8 * from, 8 * n);
      if (!column->gaps)
        continue;
      memmove(column->gaps + to, column->gaps + from, n);
      memset(column->gaps + to + n, 0, from - to);
    }
  }
  return rows;
}

// Makes of the scanned parts rows of the table.
static bool take_parts(tl_csv_table *t) {
  for (int64_t k = 0; k < t->count; k++) {
    tl_csv_column *column = &t->source.columns[k];
    if (!column->wanted)
      continue;
    tl_csv_learned *all = &t->targets[k].learned;
    for (int64_t i = 0; i < t->part_count; i++)
      learn(all, &t->parts[i].learned[k]);
    if (all->kind == TL_CSV_FLOATS && column->kind == TL_CSV_INTEGERS)
      become_floats(t, k);
  }
  const int64_t rows = close_ranks(t);
  for (int64_t k = 0; k < t->count; k++) {
    tl_csv_column *column = &t->source.columns[k];
    if (!column->wanted || t->targets[k].learned.kind != TL_CSV_TEXTS)
      continue;
    if (column->kind == TL_CSV_TEXTS) {
      if (!make_texts(t, &t->targets[k], rows))
        return false;
      continue;
    }
    // The rows before are texts, too: they are read again in the end.
    drop_arrays(t->vm, &t->targets[k]);
    column->wanted = false;
    column->items = column->gaps = NULL;
  }
  t->rows += rows;
  return true;
}

// --- Windows ----------------------------------------------------------------

// The row that begins after the line in which [at] is.
static const char *next_row(const char *at, const char *end) {
  const char *line_end = memchr(at, '\n', (size_t)(end - at));
  return line_end ? line_end + 1 : end;
}

// Divides the rows of the window behind [at] for threads, and returns how many
// there are at most; 0 where one part serves as well. Line ends within quotes
// end no row, so that no part could begin behind one.
static int64_t divide(tl_csv_table *t, const char *at) {
  const char *end = t->source.end;
  size_t nbytes = (size_t)(end - at), each = PART_BYTES;
  if (each < (size_t)t->count * CELL_BYTES)
    each = (size_t)t->count * CELL_BYTES;
  if (each < nbytes / TL_CSV_PARTS)
    each = nbytes / TL_CSV_PARTS;
  if (nbytes < 2 * each || t->most < INT64_MAX || tl_pool_threads(t->vm) == 1 ||
      memchr(at, '"', nbytes))
    return 0;
  int64_t line = t->line, first = 0;
  for (t->part_count = 0; at < end; t->part_count++) {
    const bool last =
        t->part_count + 1 == TL_CSV_PARTS || (size_t)(end - at) <= each;
    const char *to = last ? end : next_row(at + each, end);
    start_part(t, t->part_count, at, to, first, line);
    int64_t lines = tl_csv_line_ends(at, to);
    line += lines;
    first += lines;
    at = to;
  }
  t->line = line;
  return first + (end[-1] != '\n' && end[-1] != '\r');
}

// Runs in any thread: it touches the part, the rows of the part and nothing
// else.
static void scan_part(void *context, int64_t i) {
  tl_csv_table *t = context;
  tl_csv_scan(&t->source, &t->parts[i]);
}

// The first part with a fault is the first one in the text, as parts are in
// order.
static bool scan_parts(tl_csv_table *t, int64_t rows) {
  if (!make_room(t, rows) ||
      !tl_pool_spread(t->vm, t->part_count, scan_part, t, 64))
    return false;
  for (int64_t i = 0; i < t->part_count; i++)
    if (t->parts[i].fault)
      return tl_csv_table_fail(t, &t->parts[i]);
  return take_parts(t);
}

// Scans a window's rows some at a time, to where *at then is: its end, or a row
// that more text is needed for.
static bool scan_rows(tl_csv_table *t, const char **at) {
  tl_csv_part *part = &t->parts[0];
  do {
    int64_t rows = (t->source.end - *at) / t->count + 1;
    if (rows > ROWS_AT_ONCE)
      rows = ROWS_AT_ONCE;
    if (rows > t->most - t->rows)
      rows = t->most - t->rows;
    t->part_count = 1;
    start_part(t, 0, *at, t->source.end, 0, t->line);
    part->most = rows;
    if (!make_room(t, rows))
      return false;
    tl_csv_scan(&t->source, part);
    bool cut = part->fault == TL_CSV_OPEN_QUOTE && !t->window.last;
    if (part->fault && !cut)
      return tl_csv_table_fail(t, part);
    *at = part->at;
    t->line = part->line;
    if (!take_parts(t) || !tl_poll(t->vm, 64))
      return false;
    if (cut)
      break;
  } while (*at < t->source.end && t->rows < t->most);
  return true;
}

// Scans from [at] on, in the window, to the end of the text or of what is
// wanted.
static bool scan_windows(tl_csv_table *t, const char *at) {
  t->rows = t->room = 0;
  t->line = t->first_line;
  for (;;) {
    int64_t rows = divide(t, at);
    if (rows > 0 ? !scan_parts(t, rows) : !scan_rows(t, &at))
      return false;
    if (rows > 0)
      at = t->source.end;
    if ((t->window.last && at == t->source.end) || t->rows >= t->most)
      return true;
    if (!tl_csv_window_next(&t->window, at))
      return false;
    show_window(t);
    at = t->source.text;
  }
}

// The second reading must find what the first found; the file was written to
// between them.
static bool fail_changed(const tl_csv_table *t) {
  return tl_fail(t->vm, TALLY_ERR_IO,
                 "read_csv: \"%s\" changed while it was read", t->path);
}

// From the first row on, with the columns that are wanted now.
static bool scan_again(tl_csv_table *t) {
  if (!tl_csv_window_seek(&t->window, t->first_offset))
    return false;
  show_window(t);
  return scan_windows(t, t->source.text);
}

// Scans again for the columns that looked like numbers and hold texts.
static bool scan_texts(tl_csv_table *t) {
  const int64_t rows = t->rows;
  bool any = false;
  for (int64_t k = 0; k < t->count; k++) {
    tl_csv_column *column = &t->source.columns[k];
    column->wanted = t->targets[k].wanted && !column->wanted;
    column->kind = t->targets[k].learned.kind;
    any = any || column->wanted;
  }
  return !any || (scan_again(t) && (t->rows == rows || fail_changed(t)));
}

// No column is wanted: each cell is only compared with its type, so the scan
// stops at the first one that is none of it. That it finds none means that the
// file changed.
bool tl_csv_table_fail_type(tl_csv_table *t) {
  for (int64_t k = 0; k < t->count; k++) {
    t->source.columns[k].wanted = false;
    t->source.columns[k].type = t->targets[k].type;
  }
  return scan_again(t) && fail_changed(t);
}

// --- All rows ---------------------------------------------------------------

// The columns as they are scanned, before anything is known but names.
static bool open_columns(tl_csv_table *t) {
  t->source.columns =
      tl_alloc_zeroed(t->vm, (size_t)t->count * sizeof *t->source.columns,
                      "the columns of a table");
  if (!t->source.columns)
    return false;
  t->learned =
      tl_alloc_zeroed(t->vm, learned_nbytes(t), "the parts of a table");
  if (!t->learned)
    return false;
  t->source.count = t->count;
  for (int64_t k = 0; k < t->count; k++) {
    t->source.columns[k].kind = t->targets[k].learned.kind;
    t->source.columns[k].wanted = t->targets[k].wanted;
  }
  return true;
}

// The kinds of the first row's cells, with which the scan begins.
static bool guess(tl_csv_table *t, const char *at) {
  start_part(t, 0, at, t->source.end, 0, t->first_line);
  tl_csv_part *first = &t->parts[0];
  first->most = t->most < 1 ? 0 : 1;
  tl_csv_scan(&t->source, first);
  for (int64_t k = 0; k < t->count; k++)
    t->source.columns[k].kind = t->targets[k].learned.kind =
        first->learned[k].kind;
  return !first->fault || tl_csv_table_fail(t, first);
}

// Days, where no date of the column has a time.
static void count_days(int64_t *items, int64_t rows) {
  for (int64_t i = 0; i < rows; i++)
    if (items[i] != INT64_MIN)
      items[i] /= INT64_C(86400000000);  // a whole number of days
}

// Arrays of the length and type that the columns have.
static void finish(const tl_csv_table *t, tl_csv_target *target) {
  const tl_csv_learned *learned = &target->learned;
  tl_array_cut(t->vm, &target->array, t->rows);
  tl_array *a = target->array.array;
  if (learned->kind == TL_CSV_FLOATS ||
      (learned->kind == TL_CSV_INTEGERS && !learned->any))
    a->head.dtype = TL_FLOAT64;
  target->array = tl_own_array(a);  // a slot knows the dtype
  if (learned->kind == TL_CSV_DATES && !learned->timed)
    count_days((int64_t *)(void *)a->data, t->rows);
  if (learned->gap) {
    tl_array_cut(t->vm, &target->missing, t->rows);
    return;
  }
  tl_clear(t->vm, &target->missing);
}

// In four steps, each of which may fail:
//
//   guess          kinds of the first row
//   scan_windows   numbers, dates and texts, window by window
//   scan_texts     once more for columns whose cells are texts after all
//   finish         length and dtype of each array
bool tl_csv_table_read(tl_csv_table *t, const tl_csv_part *from) {
  t->first_offset = t->window.offset + (from->at - t->source.text);
  t->first_line = from->line;
  if (!open_columns(t) || !guess(t, from->at) || !scan_windows(t, from->at) ||
      !scan_texts(t))
    return false;
  for (int64_t k = 0; k < t->count; k++)
    if (t->targets[k].wanted)
      finish(t, &t->targets[k]);
  return true;
}
