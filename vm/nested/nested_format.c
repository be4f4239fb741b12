// Nested arrays as text: what print writes, and what the prompt shows.
//
//   print    [[1, none], [3]]            items one by one, through tl_nested_at
//   prompt   2 * {x: float64, s: string}
//             x  s                       a table: all cells are written into
//             1  ab                      one text first, as columns are as wide
//             2.5  c                     as their widest cell
#include <string.h>

#include "vm/array/describe.h"
#include "vm/text/format_internal.h"
#include "vm/nested/indexed.h"
#include "vm/nested/forms.h"
#include "vm/nested/raw_bytes.h"
#include "vm/vm.h"

enum {
  EDGE = 3,  // items shown at each end of an axis that is elided
  // A screen shows a few dozen; a thousand rows can still be scrolled through.
  LIMIT = 1000,  // the prompt elides arrays of more items
  GAP = 2,
  MARGIN = 1,
};

// --- On one line ------------------------------------------------------------

// Writes item [i] of the leading axis, arrays in it of at most [limit] items.
static bool format_at(tl_text *text, tl_slot s, int64_t i, int64_t limit) {
  tl_slot item;
  return tl_nested_at(text->vm, s, i, &item) &&
         tl_drop_after(text->vm,
                       tl_format_value(text->vm, text, item, true, limit),
                       &item);
}

// Recursion as deep as types nest, which the parser and the axes bound.
//
//  rows          [[1, none], [3]]
//  structs       [(a: 1, b: "x"), …]        items as print writes them alone
//  one pointer   1.5                        its value, without a sign of it
//  bytes         b"\x00ab"
//
// False after tl_fail, or where the text has failed; what was written until
// then is no use.
bool tl_nested_format(tl_text *text, tl_slot s, int64_t limit) {
  tl_vm *vm = text->vm;
  if (tl_is_raw_bytes(s) && tl_is_string(s.nested->parts[0])) {
    tl_raw_bytes_format(text, s.nested->parts[0].string);
    return !text->failed;
  }
  if (tl_value_ndim(s) == 0) {  // one pointer
    tl_slot value;
    return tl_indexed_values(vm, s, &value) &&
           tl_drop_after(vm, tl_format_value(vm, text, value, true, limit),
                         &value);
  }
  int64_t length = tl_value_length(s, 0);
  bool elided = limit > 0 && tl_nested_size(s.nested) > limit;
  tl_text_putc(text, '[');
  for (int64_t i = 0; i < length; i++) {
    if (i > 0)
      tl_text_puts(text, ", ");
    if (elided && length > 2 * EDGE && i == EDGE) {
      tl_text_puts(text, "…, ");
      i = length - EDGE;
    }
    if (!format_at(text, s, i, limit) ||
        ((i & 0xfff) == 0xfff && !tl_poll(vm, 4)))
      return false;
  }
  tl_text_putc(text, ']');
  return !text->failed;
}

// --- The prompt -------------------------------------------------------------

// A table of texts: columns of cells, measured before they are written.
typedef struct table {
  // Where the table goes, and all of its cells as one text.
  tl_text *text, cells;
  size_t *ends;  // of each cell in cells
  int64_t rows, columns;
  size_t nbytes;
} table;

// Room for the ends of all cells and, behind them, for the columns' widths: one
// allocation. False where memory is short; nothing is to be closed then.
static bool open_table(table *t, tl_text *text, int64_t rows, int64_t columns) {
  memset(t, 0, sizeof *t);
  t->text = text;
  t->rows = rows;
  t->columns = columns;
  t->nbytes = (size_t)(rows * columns + columns) * sizeof *t->ends;
  t->ends = tl_alloc(text->vm, t->nbytes, "the display");
  tl_text_open(&t->cells, text->vm);
  return t->ends != NULL;
}

// A failure within a cell is one of the text that it would have gone into.
static void close_table(table *t) {
  t->text->failed |= t->cells.failed;
  tl_text_close(&t->cells);
  tl_free(t->text->vm, t->ends, t->nbytes);
}

// In columns of the screen, not bytes: wide characters count twice.
// Ends alone are stored: a cell begins where the one before it ends.
static int cell_width(const table *t, int64_t cell) {
  size_t begin = cell > 0 ? t->ends[cell - 1] : 0, end = t->ends[cell];
  return end > begin ? tl_display_width(t->cells.bytes + begin, end - begin)
                     : 0;
}

// Every column is as wide as its widest cell, cells at the right end of it.
// Nothing is written if a cell could not be. False where the VM was stopped:
// a whole table may be of any length.
static bool write_table(table *t) {
  if (t->cells.failed)
    return true;
  int *widths = (int *)(void *)(t->ends + t->rows * t->columns);
  for (int64_t j = 0; j < t->columns; j++) {
    widths[j] = 0;
    for (int64_t i = 0; i < t->rows; i++) {
      if (!tl_poll_at(t->text->vm, i))
        return false;
      int width = cell_width(t, j * t->rows + i);
      if (width > widths[j])
        widths[j] = width;
    }
  }
  for (int64_t i = 0; i < t->rows; i++) {
    if (!tl_poll_at(t->text->vm, i))
      return false;
    for (int64_t j = 0; j < t->columns; j++) {
      int64_t cell = j * t->rows + i;
      size_t begin = cell > 0 ? t->ends[cell - 1] : 0;
      int blanks = widths[j] - cell_width(t, cell) + (j > 0 ? GAP : MARGIN);
      for (int k = 0; k < blanks; k++) tl_text_putc(t->text, ' ');
      tl_text_add(t->text, t->cells.bytes + begin, t->ends[cell] - begin);
    }
    tl_text_putc(t->text, '\n');
  }
  return true;
}

// Writes the cells of a column: its name and the items that are shown of field
// j, floats of one number each in one form, as those of a vector. Of a table
// that is elided there is one row of "…" in the middle.
static bool add_column(table *t, tl_slot s, int64_t j, bool elided) {
  tl_vm *vm = t->text->vm;
  tl_slot base = tl_borrow(s), field;
  size_t *ends = t->ends + j * t->rows;
  tl_format_name(&t->cells, s.nested->layout->fields[j].name);
  ends[0] = t->cells.length;
  if (!tl_nested_field(vm, &base, j, &field))
    return false;
  const tl_array *a =
      tl_is_array(field) && tl_ndim(field.array) == 1 ? field.array : NULL;
  tl_float_form floats = {0};
  if (a != NULL)
    floats = tl_choose_floats(vm, a, elided);
  bool ok = true;
  for (int64_t i = 1; ok && i < t->rows; i++) {
    int64_t row =
        elided && i > EDGE ? tl_value_length(s, 0) - t->rows + i : i - 1;
    if (elided && i == EDGE + 1)
      tl_text_puts(&t->cells, "…");
    else if (floats.decimals > 0)
      tl_format_aligned(&t->cells, floats, tl_array_dtype(a),
                        a->data + row * tl_strides(a)[0]);
    else
      ok = format_at(&t->cells, field, row, 8);
    ends[i] = t->cells.length;
    ok = ok && tl_poll_at(vm, i);
  }
  return tl_drop_after(vm, ok, &field);
}

// The fields of the items of one axis, below their names.
//
//  at    0     1    2      3    4     5      cells in columns, names first
//       " x"  "1"  "2.5"  " s" "ab"  "c"
//  ends  1     2    5      6    8     9
static bool display_fields(tl_text *text, tl_slot s, bool all) {
  int64_t length = tl_value_length(s, 0);
  bool elided = !all && length > LIMIT;
  int64_t columns = s.nested->layout->field_count;
  table t;
  bool ok = open_table(&t, text, 1 + (elided ? 2 * EDGE + 1 : length), columns);
  if (!ok)
    return false;
  for (int64_t j = 0; ok && j < columns; j++) ok = add_column(&t, s, j, elided);
  ok = ok && write_table(&t);
  close_table(&t);
  return ok && !text->failed;
}

// An item a line; those that may be missing fill the lines.
// A missing one takes the room of "none". Rows and records stand alone, since
// they differ in length.
static bool display_items(tl_text *text, tl_slot s, int width, bool all) {
  tl_vm *vm = text->vm;
  int64_t length = tl_value_length(s, 0);
  bool elided = !all && length > LIMIT;
  bool in_lines = (tl_is_form(s, TL_FORM_OPTION) || tl_is_raw_bytes(s)) &&
                  tl_value_ndim(s) == 1;
  int used = 0;
  for (int64_t i = 0; i < length; i++) {
    if (elided && i == EDGE) {
      tl_text_puts(text, in_lines ? "  …" : " …\n");
      used += 3;
      i = length - EDGE;
    }
    tl_text cell;
    tl_text_open(&cell, vm);
    bool ok = format_at(&cell, s, i, 24);
    int need =
        ok && cell.length > 0 ? tl_display_width(cell.bytes, cell.length) : 0;
    if (in_lines && used > 0 && used + GAP + need > width) {
      tl_text_putc(text, '\n');
      used = 0;
    }
    int blanks = used > 0 ? GAP : MARGIN;
    for (int k = 0; k < blanks; k++) tl_text_putc(text, ' ');
    if (ok && cell.length > 0)
      tl_text_add(text, cell.bytes, cell.length);
    used = in_lines ? used + blanks + need : 0;
    if (!in_lines)
      tl_text_putc(text, '\n');
    ok = ok && !cell.failed && tl_poll_at(vm, i);
    tl_text_close(&cell);
    if (!ok)
      return false;
  }
  if (in_lines && length > 0)
    tl_text_putc(text, '\n');
  return !text->failed;
}

// The type on the first line, and below it a table for structs of one axis, the
// items for others.
// [all]: nothing is elided, and the text as long as the value. False after
// tl_fail, which a deadline is, too.
bool tl_nested_display(tl_text *text, tl_slot s, int width, bool all) {
  if (tl_value_ndim(s) == 0) {  // bytes, one pointer
    bool ok = tl_nested_format(text, s, 0);
    tl_text_putc(text, '\n');
    return ok && !text->failed;
  }
  tl_text_puts(text, tl_described(text->vm, s));
  tl_text_putc(text, '\n');
  return tl_has_fields(s) && tl_value_ndim(s) == 1
             ? display_fields(text, s, all)
             : display_items(text, s, width, all);
}
