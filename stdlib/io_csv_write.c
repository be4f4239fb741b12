// Tables as text: what write_csv makes.

#include <math.h>

#include "stdlib/compress.h"
#include "stdlib/csv_scan.h"
#include "stdlib/families.h"
#include "vm/text/format.h"
#include "vm/nested/raw_bytes.h"
#include "vm/array/range.h"
#include "vm/values/record.h"

// Bytes from 0x80 on are parts of code points, which a table has many of.
bool tl_csv_separator(tl_vm *vm, const char *function, tl_slot s, char *out) {
  *out = ',';
  if (tl_is_none(s))
    return true;
  const tl_string *text = s.string;
  unsigned char c = (unsigned char)text->text[0];
  if (text->length != 1 || c >= 0x80 || c == '"' || c == '\n' || c == '\r')
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "%s: sep must be one ASCII character "
                   "and no quote or line end",
                   function);
  *out = (char)c;
  return true;
}

// --- write_csv --------------------------------------------------------------

// A row is made in memory and written at once. Adding text to it cannot fail:
// memory that was missing is noted in the text, and end_row reports it.
typedef struct csv_writer {
  tl_vm *vm;
  tl_writer file;
  tl_text row;
  char separator;
  bool alone;  // one column: an empty cell would be an empty line, which is no
               // row
} csv_writer;

// Whether a cell of this text would be read as another or as two without
// quotes. Blanks at the ends need them too, as some readers leave them out.
static bool needs_quotes(const csv_writer *w, const char *text, size_t nbytes) {
  if (nbytes == 0 ? w->alone : text[0] == ' ' || text[nbytes - 1] == ' ')
    return true;
  for (size_t i = 0; i < nbytes; i++)
    if (text[i] == w->separator || text[i] == '"' || tl_is_line_end(text[i]))
      return true;
  return false;
}

// Adds a cell to the row, in quotes where it needs them. A quote within is
// written twice (RFC 4180, 2.7).
static void add_text(csv_writer *w, const char *text, size_t nbytes) {
  if (!needs_quotes(w, text, nbytes)) {
    tl_text_add(&w->row, text, nbytes);
    return;
  }
  tl_text_putc(&w->row, '"');
  for (size_t i = 0; i < nbytes; i++) {
    if (text[i] == '"')
      tl_text_putc(&w->row, '"');
    tl_text_putc(&w->row, text[i]);
  }
  tl_text_putc(&w->row, '"');
}

// A number or bool whose text is in the row from [start] on: quoted where the
// separator stands in it, such as "." in 1.5.
static void end_number(csv_writer *w, size_t start) {
  size_t nbytes = w->row.length - start;
  char digits[128];
  if (w->row.failed || nbytes > sizeof digits ||
      !memchr(w->row.bytes + start, w->separator, nbytes))
    return;
  memcpy(digits, w->row.bytes + start, nbytes);
  w->row.length = start;
  add_text(w, digits, nbytes);
}

// Adds one value, borrowed, as a cell. False after tl_fail (kind type): it is
// no number, bool or string. NaN of the only column is written as a word.
static bool add_value(csv_writer *w, tl_slot value) {
  if (tl_is_string(value) || tl_is_none(value)) {
    bool none = tl_is_none(value);
    add_text(w, none ? "" : value.string->text,
             none ? 0 : value.string->length);
    return true;
  }
  if (!tl_is_number(value))
    return tl_arg_fail(w->vm, "write_csv", "each item",
                       "a number, bool or string", value);
  bool gap =
      (tl_dtype_of(value) == TL_FLOAT64 && isnan(value.f)) ||
      ((tl_dtype_of(value) == TL_FLOAT16 || tl_dtype_of(value) == TL_FLOAT32) &&
       isnan(value.f32));
  if (gap && !w->alone)
    return true;
  size_t start = w->row.length;
  if (!tl_format_value(w->vm, &w->row, value, false, 0))
    return false;
  end_number(w, start);
  return true;
}

// How many cells a column has that check_columns lets pass.
static int64_t column_length(tl_slot s) {
  if (tl_is_range(s))
    return s.range->length;
  return tl_is_list(s) ? s.list->length : tl_value_length(s, 0);
}

// Adds item [row] of a column, borrowed, as add_value does.
// float64, the most frequent dtype, is written without a slot in between.
// Nested columns give each item as a value of its own, to be dropped.
static bool add_item(csv_writer *w, tl_slot column, int64_t row) {
  if (tl_is_list(column))
    return add_value(w, column.list->items[row]);
  if (tl_is_range(column))
    return add_value(w, tl_weak_int(tl_range_item(column.range, row)));
  if (tl_is_nested(column)) {
    tl_slot item;
    if (!tl_nested_at(w->vm, column, row, &item))
      return false;
    return tl_drop_after(w->vm, add_value(w, item), &item);
  }
  const tl_array *a = column.array;
  const char *data = a->data + row * tl_strides(a)[0];
  if (tl_array_dtype(a) == TL_FLOAT64) {
    double value = *(const double *)(const void *)data;
    char digits[32];
    if (isnan(value) && !w->alone)
      return true;
    tl_format_real(value, TL_FLOAT64, digits);
    const size_t start = w->row.length;
    tl_text_puts(&w->row, digits);
    end_number(w, start);
    return true;
  }
  tl_slot item = tl_item(w->vm, a, data);
  return tl_drop_after(w->vm, !tl_is_unset(item) && add_value(w, item), &item);
}

// Writes the row and empties it, keeping its memory for the next. False: the
// file cannot be written, or text found no memory on the way.
static bool end_row(csv_writer *w) {
  tl_text_putc(&w->row, '\n');
  if (w->row.failed)
    return false;
  bool ok = tl_writer_write(&w->file, w->row.bytes, w->row.length);
  w->row.length = 0;
  return ok;
}

// Before the file is opened: a wrong column leaves the old file. Fails (kind
// type) for what is no column, (kind shape) for lengths that differ.
static bool check_columns(tl_vm *vm, const tl_record *columns) {
  if (!tl_record_check_names(vm, columns, "write_csv"))
    return false;
  for (int64_t i = 0; i < columns->length; i++) {
    tl_slot value = columns->fields[i].value;
    if (tl_is_raw_bytes(value)) {
      return tl_fail(vm, TALLY_ERR_TYPE,
                     "write_csv: %s has bytes, and a table of text none: "
                     "binary.text(b) is their text where they are UTF-8",
                     tl_key_string(columns->fields[i].key)->text);
    }
    if (!tl_is_list(value) && !tl_is_range(value) &&
        !((tl_is_form(value, TL_FORM_OPTION) || tl_is_spelled(value)) &&
          tl_value_ndim(value) == 1) &&
        !(tl_is_array(value) && tl_ndim(value.array) == 1))
      return tl_arg_field_fail(vm, "write_csv", "columns",
                               tl_key_string(columns->fields[i].key),
                               "an array with one axis or a list", value);
    int64_t first = column_length(columns->fields[0].value);
    if (column_length(value) != first)
      return tl_fail(vm, TALLY_ERR_SHAPE,
                     "write_csv: %s has %lld items, %s "
                     "has %lld",
                     tl_key_string(columns->fields[0].key)->text,
                     (long long)first,
                     tl_key_string(columns->fields[i].key)->text,
                     (long long)column_length(value));
  }
  return true;
}

// The line of names where [header] asks for it, and all rows; polls once in
// 1024 of them. A record without fields gives an empty file.
static bool write_rows(csv_writer *w, const tl_record *columns, bool header) {
  int64_t count = columns->length;
  w->alone = count == 1;
  int64_t rows = count > 0 ? column_length(columns->fields[0].value) : 0;
  for (int64_t k = 0; header && k < count; k++) {
    const tl_string *key = tl_key_string(columns->fields[k].key);
    if (k > 0)
      tl_text_putc(&w->row, w->separator);
    add_text(w, key->text, key->length);
  }
  if (header && count > 0 && !end_row(w))
    return false;
  for (int64_t row = 0; row < rows; row++) {
    for (int64_t k = 0; k < count; k++) {
      if (k > 0)
        tl_text_putc(&w->row, w->separator);
      if (!add_item(w, columns->fields[k].value, row))
        return false;
    }
    if (!end_row(w) ||
        (row % 1024 == 1023 && !tl_poll_part(w->vm, 1, row, rows)))
      return false;
  }
  return true;
}

// Row by row, or where the file is compressed the text as a whole first.
static bool write_table(csv_writer *w, const char *path,
                        const tl_record *columns, bool header) {
  const bool packs = tl_io_packs(path);
  tl_bytes text = {0};
  if (packs)
    w->file = tl_writer_to(w->vm, "write_csv", &text);
  else if (!tl_writer_open(w->vm, "write_csv", path, &w->file))
    return false;
  tl_text_open(&w->row, w->vm);
  bool ok = write_rows(w, columns, header);
  tl_text_close(&w->row);
  if (packs)
    ok = ok &&
         tl_io_write_packed(w->vm, "write_csv", path, text.data, text.nbytes);
  else
    ok = tl_writer_end(&w->file, ok);
  tl_bytes_free(w->vm, &text);
  return ok;
}

// path, columns, header, sep
static bool write_csv(tl_vm *vm, tl_slot *args, tl_slot *out) {
  csv_writer w = {.vm = vm};
  if (!tl_csv_separator(vm, "write_csv", args[3], &w.separator))
    return false;
  if (tl_has_fields(args[1])) {
    tl_slot columns;
    if (!tl_columns_of(vm, args[1], &columns))
      return false;
    tl_replace(vm, &args[1], columns);
  }
  if (!tl_is_record(args[1]))
    return tl_arg_fail(vm, "write_csv", "columns", "a record of arrays",
                       args[1]);
  *out = tl_none();
  return check_columns(vm, args[1].record) &&
         write_table(&w, tl_file_path(args[0]), args[1].record, args[2].i != 0);
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_io_csv_write_module[] = {
    /// Writes a record of columns (arrays or lists of one length), or an array
    /// of structs, as a table of text. NaN and missing values become empty
    /// cells. The file is replaced when all of it is written, compressed where
    /// its name ends in .gz or .zst. A file that cannot be written is an error
    /// (kind io).
    ///     io.write_csv("data.csv", (t: [1, 2], v: [0.5, 0.25]))
    {"write_csv", "path, columns, header: true, sep: \",\"", write_csv,
     TL_FILES | TL_EFFECT, .types = "p.bS"},
    {.name = NULL},
};
