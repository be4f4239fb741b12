// Columns of a table of text whose types are given: see csv_types.h.

#include "stdlib/csv_types.h"

#include "vm/number.h"
#include "vm/engine/operand.h"
#include "vm/array/string_item.h"
#include "vm/vm.h"

// T of ?T, else the type itself: what a cell with text is compared with.
static const tl_type *present(const tl_type *type) {
  return type->kind == TL_TYPE_OPTION ? type->of : type;
}

// Any of the types whose values are strings before they go into structs.
static bool is_text(const tl_type *type) {
  return type->kind == TL_TYPE_FIXED_STRING || type->kind == TL_TYPE_CHAR ||
         (type->kind == TL_TYPE_DTYPE && type->dtype == TL_STRING);
}

// The dtypes up to TL_FLOAT64 are bools, integers and floats.
bool tl_csv_can_hold(const tl_type *type) {
  type = present(type);
  return is_text(type) ||
         (type->kind == TL_TYPE_DTYPE && type->dtype <= TL_FLOAT64);
}

// Those that no scanned number holds are read from their texts.
static bool is_read_from_texts(const tl_type *type) {
  return type->dtype == TL_BOOL || type->dtype == TL_UINT64;
}

// Bools and uint64 are scanned as texts and converted at the end: no scanned
// number holds all of them.
tl_csv_kind tl_csv_kind_of(const tl_type *type) {
  type = present(type);
  if (is_text(type) || is_read_from_texts(type))
    return TL_CSV_TEXTS;
  return tl_dtype_is_integer(type->dtype) ? TL_CSV_INTEGERS : TL_CSV_FLOATS;
}

// --- Cells ------------------------------------------------------------------

// The words of C, Python and SQL, and 0 and 1; nothing else is a bool.
static bool read_bool(const char *text, size_t nbytes, uint64_t *out) {
  static const char *const words[] = {"false", "true", "False", "True",
                                      "FALSE", "TRUE", "0",     "1"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    *out = i % 2;
    if (strlen(words[i]) == nbytes && memcmp(words[i], text, nbytes) == 0)
      return true;
  }
  return false;
}

// Digits alone, without a sign; a number above 2^64 - 1 is none.
static bool read_unsigned(const char *text, size_t nbytes, uint64_t *out) {
  *out = 0;
  for (size_t i = 0; i < nbytes; i++) {
    unsigned digit = (unsigned)text[i] - '0';
    if (digit > 9 || *out > (UINT64_MAX - digit) / 10)
      return false;
    *out = 10 * *out + digit;
  }
  return nbytes > 0;
}

// A bool or a uint64, blanks around it allowed.
static bool read_item(tl_dtype dtype, const char *text, size_t nbytes,
                      uint64_t *out) {
  tl_csv_trim(&text, &nbytes);
  return dtype == TL_BOOL ? read_bool(text, nbytes, out)
                          : read_unsigned(text, nbytes, out);
}

// Whether a text has room in a struct's field.
static bool text_fits(const tl_type *type, const char *text, size_t nbytes) {
  if (type->kind == TL_TYPE_FIXED_STRING)
    return nbytes <= (size_t)type->size;
  return type->kind != TL_TYPE_CHAR || tl_utf8_count(text, nbytes) <= 1;
}

// An integer of a narrow dtype must be in its range; a float may be rounded.
static bool number_fits(tl_dtype dtype, const tl_number *number) {
  if (!tl_dtype_is_integer(dtype))
    return number->kind != TL_NUMBER_NONE;
  return number->kind == TL_NUMBER_INT && tl_int_fits(number->i, dtype);
}

// Also of a quoted cell; tabs are text.
bool tl_csv_is_blank(const tl_csv_cell *cell) {
  for (size_t i = 0; i < cell->nbytes; i++)
    if (cell->text[i] != ' ')
      return false;
  return true;
}

// By the text, as the column may have been scanned as something wider. Quotes
// that are written twice count once.
bool tl_csv_is_of(const tl_type *type, const tl_csv_cell *cell) {
  const char *text = cell->text;
  size_t nbytes = cell->nbytes;
  bool blank = tl_csv_is_blank(cell);
  if (blank && type->kind == TL_TYPE_OPTION)
    return true;
  if (cell->doubled) {
    size_t quotes = 0;
    for (size_t i = 0; i < cell->nbytes; i++) quotes += text[i] == '"';
    nbytes -= quotes / 2;
  }
  type = present(type);
  if (is_text(type))
    return text_fits(type, text, nbytes);
  uint64_t item;
  if (is_read_from_texts(type))
    return read_item(type->dtype, text, nbytes, &item);
  tl_number number = tl_number_read(text, nbytes);
  return !blank && number_fits(type->dtype, &number);
}

// --- Columns ----------------------------------------------------------------

// [missing] is the mask of the column, or none where nothing is missing.
static bool is_gap(const tl_slot *missing, int64_t i) {
  return !tl_is_none(*missing) && missing->array->data[i];
}

// Gaps are texts without bytes, which always fit.
static bool all_fit(const tl_type *type, const tl_array *texts) {
  const tl_string_item *items = tl_string_items(texts);
  for (int64_t i = 0; i < tl_shape(texts)[0]; i++)
    if (!text_fits(type, tl_string_item_text(&items[i]),
                   tl_string_item_length(&items[i])))
      return false;
  return true;
}

// The strings of the column become bools or uint64; gaps stay 0. False, without
// an error, where a text is none: the caller then looks for its cell.
static bool read_texts(tl_vm *vm, tl_dtype dtype, const tl_slot *missing,
                       tl_slot *column) {
  const tl_array *texts = column->array;
  const int64_t rows = tl_shape(texts)[0];
  const tl_string_item *items = tl_string_items(texts);
  const size_t itemsize = tl_itemsize(dtype);
  tl_array *out = tl_array_zeros(vm, dtype, 1, &rows);
  bool ok = out != NULL;
  for (int64_t i = 0; ok && i < rows; i++) {
    if (is_gap(missing, i))
      continue;
    uint64_t item = 0;
    ok = read_item(dtype, tl_string_item_text(&items[i]),
                   tl_string_item_length(&items[i]), &item);
    if (dtype == TL_BOOL)
      out->data[i] = (char)item;
    else
      memcpy(out->data + (size_t)i * itemsize, &item, itemsize);
  }
  if (ok)
    tl_drop(vm, *column);
  return tl_array_finish(vm, ok, out, column);
}

// A number that does not fit fails without an error, as in read_texts; other
// errors, such as short memory, stay.
static bool cast(tl_vm *vm, tl_dtype dtype, tl_slot *column) {
  if (column->array->head.dtype == dtype)
    return true;
  tl_array *out = tl_array_cast(vm, column->array, dtype);
  if (!out && vm->error.status == TALLY_ERR_VALUE)
    tl_error_clear(vm);  // the cell is named instead
  if (!out)
    return false;
  return tl_replace(vm, column, tl_own_array(out));
}

// The mask is bytes of 0 and 1.
static bool has_gap(const tl_slot *missing) {
  return !tl_is_none(*missing) &&
         memchr(missing->array->data, 1, (size_t)tl_shape(missing->array)[0]);
}

// Three reasons for false: the scan found a more general kind than the type
// has, a cell is empty though the type has no ?, or a value is not of it.
bool tl_csv_convert(tl_vm *vm, const tl_type *type, tl_csv_kind kind,
                    const tl_slot *missing, tl_slot *column) {
  const tl_type *of = present(type);
  if (is_text(of))
    return all_fit(of, column->array);
  if (kind > tl_csv_kind_of(type) || (of == type && has_gap(missing)))
    return false;
  return is_read_from_texts(of) ? read_texts(vm, of->dtype, missing, column)
                                : cast(vm, of->dtype, column);
}
