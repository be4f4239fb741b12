// What the prompt shows: the type, then aligned columns that fit the terminal.
//
//   2 * 3 * float64
//     1.0   20.5  3.25
//    -4.0    0.1  6.0
//
// Floats of one array get as many decimals as the one that needs most, up to
// six; exponents where that would hide small ones or widen large ones.
//
// Order: which items are shown (elided arrays show EDGE at each end of an
// axis), how floats are written, how wide each column is, which columns fit,
// and then the rows.

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "vm/array/describe.h"
#include "vm/text/format_internal.h"
#include "vm/values/list.h"
#include "vm/values/record.h"
#include "vm/vm.h"
#include "vm/objects.h"

enum {
  // Arrays of more items are elided; so many items are shown at each end of an
  // elided axis.
  LIMIT = 1000,  // arrays of more items are elided
  EDGE = 3,      // items shown at each end of an elided axis
  GAP = 2,       // columns between items
  MARGIN = 1,
  DEEPEST = 8,  // columns that the deepest level of a tree is indented by
};

// --- Which items are shown --------------------------------------------------

// An array on its way to the screen.
typedef struct picture {
  tl_text *text;
  const tl_array *array;
  int width;  // of the terminal
  bool elided, all;
  int64_t visits;  // left; an array of many short axes has too many to look at
  tl_float_form floats;
} picture;

// The number of items shown of an axis, "…" not among them.
static int64_t shown_count(const picture *p, int64_t length) {
  return p->elided && length > 2 * EDGE ? 2 * EDGE : length;
}

// The index of the i-th item shown.
static int64_t shown_index(const picture *p, int64_t length, int64_t i) {
  return shown_count(p, length) < length && i >= EDGE ? length - 2 * EDGE + i
                                                      : i;
}

// Called for each item shown.
typedef void visitor(picture *p, const char *item, void *context);

// Visits the items shown below an axis, as long as visits are left.
static void visit_shown(picture *p, int axis, const char *data, visitor *visit,
                        void *context) {
  const tl_array *a = p->array;
  if (p->visits == 0)
    return;
  if (axis == tl_ndim(a)) {
    p->visits--;
    visit(p, data, context);
    return;
  }
  int64_t length = tl_shape(a)[axis], count = shown_count(p, length);
  for (int64_t i = 0; i < count; i++) {
    int64_t at = shown_index(p, length, i);
    visit_shown(p, axis + 1, data + at * tl_strides(a)[axis], visit, context);
  }
}

// --- How floats are written -------------------------------------------------

// What the floats of an array have in common.
typedef struct range {
  int decimals;  // the most that an item needs
  int digits;    // the same, of significant ones
  double least, most;
} range;

// Takes a number into account; inf and nan need no digits.
static void measure(range *r, double value, tl_dtype dtype) {
  if (!isfinite(value))
    return;
  tl_digits d;
  tl_digits_shortest(value, dtype, &d);
  int decimals = tl_digits_decimals(&d);
  double size = fabs(value);
  if (decimals > r->decimals)
    r->decimals = decimals;
  if (d.count > r->digits)
    r->digits = d.count;
  if (size > r->most)
    r->most = size;
  if (size > 0 && size < r->least)
    r->least = size;
}

// Complex items count as two numbers.
static void measure_item(picture *p, const char *item, void *context) {
  double parts[2];
  tl_dtype real;
  int count = tl_float_parts(tl_array_dtype(p->array), item, parts, &real);
  for (int i = 0; i < count; i++) measure(context, parts[i], real);
}

tl_float_form tl_choose_floats(tl_vm *vm, const tl_array *a, bool elided) {
  tl_dtype dtype = tl_array_dtype(a);
  if (!tl_dtype_is_real(dtype) && !tl_dtype_is_complex(dtype))
    return (tl_float_form){0};
  range r = {.least = DBL_MAX};
  // Of an array of many short axes only a part is measured.
  picture p = {.array = a, .elided = elided, .visits = 100 * LIMIT};
  visit_shown(&p, 0, a->data, measure_item, &r);
  // Few decimals would show a small number as zeros.
  // Exponents also from 1e16 on, where digits before the point would no longer
  // be exact, and from 1e9 on with decimals, where a column would be too wide
  // to read.
  const int most = vm->decimals;
  bool hides = r.least < 1e-4 && r.decimals > most;
  bool exponents = hides || r.most >= 1e16 || (r.most >= 1e9 && r.decimals > 3);
  int decimals = exponents ? r.digits - 1 : r.decimals;
  decimals = decimals > most ? most : decimals;
  return (tl_float_form){decimals < 1 ? 1 : decimals, exponents};
}

// Appends a float as all of the array are written.
static void add_float(tl_text *text, tl_float_form form, double value) {
  char buffer[TL_PRINTED];
  tl_print_float(buffer, value, form.decimals, form.exponents ? 'e' : 'f',
                 false);
  tl_text_puts(text, buffer);
}

// Appends both parts of a complex number.
static void add_complex(tl_text *text, tl_float_form form, double re,
                        double im) {
  bool minus = signbit(im) && !isnan(im);
  add_float(text, form, re);
  tl_text_puts(text, minus ? " - " : " + ");
  add_float(text, form, minus ? -im : im);
  tl_text_putc(text, 'i');
}

void tl_format_aligned(tl_text *text, tl_float_form form, tl_dtype dtype,
                       const void *item) {
  double parts[2];
  tl_dtype real;
  int count = tl_float_parts(dtype, item, parts, &real);
  if (count == 0)
    tl_format_item(text, dtype, item);
  else if (count == 1)
    add_float(text, form, parts[0]);
  else
    add_complex(text, form, parts[0], parts[1]);
}

// Appends any item.
static void add_item(const picture *p, tl_text *text, const char *item) {
  tl_format_aligned(text, p->floats, tl_array_dtype(p->array), item);
}

// --- Cells ------------------------------------------------------------------

// Columns that the text takes.
static int text_width(const tl_text *text) {
  return text->length ? tl_display_width(text->bytes, text->length) : 0;
}

// Appends the text cut to [room] cells, the last one a "…" if it was longer.
static void add_cut(tl_text *to, const char *bytes, size_t nbytes, int room) {
  if (tl_display_width(bytes, nbytes) <= room) {
    tl_text_add(to, bytes, nbytes);
    return;
  }
  size_t end = 0;
  int used = 0;
  while (end < nbytes) {
    size_t next = tl_grapheme_end(bytes, nbytes, end);
    used += tl_display_width(bytes + end, next - end);
    if (used > room - 1)
      break;
    end = next;
  }
  tl_text_add(to, bytes, end);
  tl_text_puts(to, "…");
}

// A negative count adds none: a cell may be wider than its column.
static void add_blanks(tl_text *text, int count) {
  for (int i = 0; i < count; i++) tl_text_putc(text, ' ');
}

// Strings are aligned to the left, numbers to the right.
static bool is_text(const picture *p) {
  return tl_array_dtype(p->array) == TL_STRING;
}

// One item in [width] cells: numbers to the right, strings to the left.
static void add_cell(const picture *p, const char *item, int width) {
  tl_text cell;
  tl_text_open(&cell, p->text->vm);
  add_item(p, &cell, item);
  // Widths are those on the screen, not bytes.
  int blanks = width - text_width(&cell);
  if (!is_text(p))
    add_blanks(p->text, blanks);
  if (cell.length)
    add_cut(p->text, cell.bytes, cell.length, width);
  if (is_text(p))
    add_blanks(p->text, blanks);
  p->text->failed |= cell.failed;
  tl_text_close(&cell);
}

// Visitor: makes a column as wide as its widest item, at most a line.
static void widen(picture *p, const char *item, void *context) {
  int *width = context, room = p->width - MARGIN;
  tl_text cell;
  tl_text_open(&cell, p->text->vm);
  add_item(p, &cell, item);
  int w = text_width(&cell);
  if (w > *width)
    *width = w < room ? w : room;
  p->text->failed |= cell.failed;
  tl_text_close(&cell);
}

// Ends a line without blanks at its end.
static void end_line(tl_text *text) {
  while (text->length > 0 && text->bytes[text->length - 1] == ' ')
    text->length--;
  tl_text_putc(text, '\n');
}

// --- Vectors ----------------------------------------------------------------

// Items in rows as long as the terminal allows, one below the other.
static void add_vector(picture *p) {
  int width = 0;
  p->visits = p->all ? INT64_MAX : LIMIT;
  visit_shown(p, 0, p->array->data, widen, &width);
  int64_t length = tl_shape(p->array)[0], count = shown_count(p, length);
  int64_t stride = tl_strides(p->array)[0];
  int used = 0;
  for (int64_t i = 0; i < count && !p->text->failed; i++) {
    bool skip = count < length && i == EDGE;
    int need = width + (used > 0 ? GAP : MARGIN);
    // The line is full.
    if (used > 0 && used + need + (skip ? GAP + 1 : 0) > p->width) {
      end_line(p->text);
      used = 0;
      need = width + MARGIN;
    }
    add_blanks(p->text, need - width);
    if (skip) {
      tl_text_puts(p->text, "…");
      add_blanks(p->text, GAP);
      used += GAP + 1;
    }
    add_cell(p, p->array->data + shown_index(p, length, i) * stride, width);
    used += need;
  }
  end_line(p->text);
}

// --- Matrices ---------------------------------------------------------------

// The columns of a matrix, and which of them are shown.
typedef struct columns {
  int64_t length;  // of the axis
  int64_t count;   // shown
  int64_t left;    // of them, before "…"
  int64_t right;   // and behind it
  int *widths;
} columns;

// Finds the width of each column.
static void measure_columns(picture *p, const char *data, columns *c) {
  const int64_t *shape = tl_shape(p->array), *strides = tl_strides(p->array);
  int row = tl_ndim(p->array) - 2;
  int64_t rows = shown_count(p, shape[row]);
  for (int64_t j = 0; j < c->count; j++) {
    c->widths[j] = 0;
    for (int64_t i = 0; i < rows; i++) {
      const char *item = data + shown_index(p, shape[row], i) * strides[row] +
                         shown_index(p, c->length, j) * strides[row + 1];
      widen(p, item, &c->widths[j]);
    }
  }
}

// Chooses the columns that fit: from both ends, in turn, while there is room.
static void fit_columns(const picture *p, columns *c) {
  int64_t most = p->elided && c->count < c->length ? EDGE : c->count;
  int used = MARGIN;
  for (int64_t j = 0; j < c->count; j++) used += c->widths[j] + GAP;
  // All columns fit; the last one needs no gap behind it.
  if (most == c->count && used - GAP <= p->width) {
    c->left = c->count;
    c->right = 0;
    return;
  }
  c->left = c->right = 0;
  used = MARGIN + 1;
  while (c->left + c->right < c->count) {
    // Columns are taken from both ends in turn, as long as they fit.
    bool at_left = c->left <= c->right;
    int64_t j = at_left ? c->left : c->count - 1 - c->right;
    used += c->widths[j] + GAP;
    if (used > p->width && c->left > 0)
      break;
    if (at_left)
      c->left++;
    else
      c->right++;
  }
}

// Appends the items of a row in columns [begin, end), [blanks] before the
// first.
static void add_cells(const picture *p, const columns *c, const char *row,
                      int64_t begin, int64_t end, int blanks) {
  int64_t stride = tl_strides(p->array)[tl_ndim(p->array) - 1];
  for (int64_t j = begin; j < end; j++) {
    add_blanks(p->text, j == begin ? blanks : GAP);
    add_cell(p, row + shown_index(p, c->length, j) * stride, c->widths[j]);
  }
}

// Appends a row of the columns shown, of which at least one is at the left.
static void add_row(const picture *p, const columns *c, const char *row) {
  add_cells(p, c, row, 0, c->left, MARGIN);
  if (c->left + c->right < c->length) {
    add_blanks(p->text, GAP);
    tl_text_puts(p->text, "…");
  }
  add_cells(p, c, row, c->count - c->right, c->count, GAP);
  end_line(p->text);
}

// Appends all columns, those that fit side by side in a block of their own
// each:
//
//     [:, 0..9]
//      …
static void add_blocks(const picture *p, const columns *c, const char *data) {
  int row = tl_ndim(p->array) - 2;
  int64_t rows = tl_shape(p->array)[row];
  const int64_t *strides = tl_strides(p->array);
  for (int64_t begin = 0, end; begin < c->length; begin = end) {
    int used = MARGIN + c->widths[begin];
    for (end = begin + 1; end < c->length; end++) {
      used += GAP + c->widths[end];
      if (used > p->width)
        break;
    }
    tl_text_printf(p->text, "[:, %lld..%lld]\n", (long long)begin,
                   (long long)end);
    for (int64_t i = 0; i < rows && !p->text->failed; i++) {
      add_cells(p, c, data + i * strides[row], begin, end, MARGIN);
      end_line(p->text);
    }
  }
}

// Appends a matrix; false after tl_fail.
static bool add_matrix(picture *p, const char *data) {
  tl_vm *vm = p->text->vm;
  const int64_t *shape = tl_shape(p->array), *strides = tl_strides(p->array);
  int row = tl_ndim(p->array) - 2;
  columns c = {.length = shape[row + 1]};
  c.count = shown_count(p, c.length);
  size_t nbytes = (size_t)c.count * sizeof(int);
  c.widths = tl_alloc(vm, nbytes, "the widths of columns");
  if (c.widths == NULL)
    return false;
  measure_columns(p, data, &c);
  fit_columns(p, &c);
  bool in_blocks = p->all && c.left + c.right < c.length;
  if (in_blocks)
    add_blocks(p, &c, data);
  int64_t rows = in_blocks ? 0 : shown_count(p, shape[row]);
  for (int64_t i = 0; i < rows && !p->text->failed; i++) {
    if (rows < shape[row] && i == EDGE) {
      add_blanks(p->text, MARGIN);
      tl_text_puts(p->text, "…\n");
    }
    add_row(p, &c, data + shown_index(p, shape[row], i) * strides[row]);
  }
  tl_free(vm, c.widths, nbytes);
  return !p->text->failed;
}

// --- More axes --------------------------------------------------------------

// [0, 1, :, :] above a matrix of an array with more axes.
static void add_heading(const picture *p, const int64_t *index) {
  tl_text_putc(p->text, '[');
  for (int i = 0; i < tl_ndim(p->array) - 2; i++)
    tl_text_printf(p->text, "%lld, ", (long long)index[i]);
  tl_text_puts(p->text, ":, :]\n");
}

// Appends each matrix below a line that says which it is.
static bool add_matrices(picture *p, int axis, const char *data,
                         int64_t *index) {
  const tl_array *a = p->array;
  if (axis == tl_ndim(a) - 2) {
    if (axis > 0)
      add_heading(p, index);
    p->visits--;
    return add_matrix(p, data);
  }
  int64_t length = tl_shape(a)[axis], count = shown_count(p, length);
  for (int64_t i = 0; i < count; i++) {
    if ((count < length && i == EDGE) || p->visits == 0)
      tl_text_puts(p->text, "…\n");
    if (p->visits == 0)
      return true;
    index[axis] = shown_index(p, length, i);
    const char *part = data + index[axis] * tl_strides(a)[axis];
    if (!add_matrices(p, axis + 1, part, index))
      return false;
  }
  return true;
}

// Appends type and items of an array.
static bool display_array(tl_text *text, tl_slot s, int width, bool all) {
  picture p = {.text = text, .array = s.array, .width = width, .all = all};
  tl_text_puts(text, tl_described(text->vm, s));
  tl_text_putc(text, '\n');
  if (s.array->size == 0)
    return !text->failed;
  p.elided = !all && s.array->size > LIMIT;
  p.floats = tl_choose_floats(text->vm, s.array, p.elided);
  int64_t index[TL_MAX_DIMS];
  p.visits = all ? INT64_MAX : LIMIT;  // now of matrices
  if (tl_ndim(s.array) > 1)
    return add_matrices(&p, 0, s.array->data, index);
  add_vector(&p);
  return !text->failed;
}

// --- Lists and records ------------------------------------------------------

// An item on one line. A long one is cut, or, where [fits] is given, not
// appended; *fits says so.
static bool add_line(tl_text *text, tl_slot value, int width, bool *fits) {
  tl_text line;
  tl_text_open(&line, text->vm);
  // Arrays within a line are elided early: the line is cut anyway.
  bool ok = tl_format_value(text->vm, &line, value, true, 24);
  bool whole = fits == NULL || text_width(&line) <= width;
  if (ok && whole && line.length)
    add_cut(text, line.bytes, line.length, width);
  if (fits != NULL)
    *fits = ok && whole;
  tl_text_close(&line);
  if (whole)
    tl_text_putc(text, '\n');
  return ok && !text->failed;
}

// One level of a list or record, which is shown as a tree. Deeper ones show
// less, and the deepest is cut, so that a tree stays short.
typedef struct level {
  int width, indent;
  bool all;
} level;

static bool display_items(tl_text *text, tl_slot value, level l);

// Appends what is in front of an item: its key or its index.
static void add_label(tl_text *text, tl_slot value, int64_t i, level l) {
  add_blanks(text, l.indent + 2);
  if (tl_is_list(value)) {
    tl_text_printf(text, "[%lld] ", (long long)i);
  } else {
    tl_format_key(text, value.record->fields[i].key);
    tl_text_puts(text, ": ");
  }
}

// Appends an item behind its label: on the line if it fits, else a list or
// record has its own items below, and others are cut.
static bool display_item(tl_text *text, tl_slot item, int room, level l) {
  bool is_tree = tl_is_list(item) || tl_is_record(item), done = false;
  if (!is_tree || l.indent >= DEEPEST)
    return add_line(text, item, room, NULL);
  if (!add_line(text, item, room, &done))
    return false;
  l.indent += 2;
  return done || display_items(text, item, l);
}

// Appends a list or record with one item a line; of a long one both ends.
static bool display_items(tl_text *text, tl_slot value, level l) {
  bool is_list = tl_is_list(value);
  int64_t length = is_list ? value.list->length : value.record->length;
  int64_t most = l.indent == 0 ? 60 : 12, end = most / 3;
  tl_text_printf(text, "%s of %lld\n", is_list ? "list" : "record",
                 (long long)length);
  for (int64_t i = 0; i < length; i++) {
    if (!l.all && length > most && i == end) {
      add_blanks(text, l.indent + 2);
      tl_text_puts(text, "…\n");
      i = length - end;
    }
    size_t start = text->length;
    add_label(text, value, i, l);
    if (text->failed)
      return false;
    int used = tl_display_width(text->bytes + start, text->length - start);
    tl_slot item =
        is_list ? value.list->items[i] : value.record->fields[i].value;
    int room = l.width - used;
    if (!display_item(text, item, room < 8 ? 8 : room, l))
      return false;
  }
  return true;
}

// Each kind of value has its own display; everything else is on one line.
bool tl_format_display(tl_vm *vm, tl_text *text, tl_slot value, int width,
                       bool all) {
  if (width < 20)
    width = 20;
  if (tl_is_array(value) && !tl_is_number(value))
    return display_array(text, value, width, all);
  if (tl_is_nested(value))
    return text->vm->nested->display(text, value, width, all);
  bool done = false;
  if (tl_is_list(value) || tl_is_record(value)) {
    if (!add_line(text, value, width, &done))
      return false;
    return done || display_items(text, value, (level){width, 0, all});
  }
  if (!tl_format_value(vm, text, value, true, 0))
    return false;
  tl_text_putc(text, '\n');
  return !text->failed;
}
