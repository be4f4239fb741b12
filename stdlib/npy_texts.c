// Strings of .npy files, by themselves and as fields of structs: see
// npy_texts.h.
//
//
//   file    'a' 0 0 0  'b' 'c' 0 0     4 code points of 32 bits each
//   array   "a"        "bc"
//
// Writing needs the longest text first: all items of a file are equally wide.
#include "stdlib/npy_texts.h"

#include <inttypes.h>
#include <utf8proc.h>

#include "vm/nested/nested.h"
#include "vm/types/layout.h"

// --- One string -------------------------------------------------------------

// NumPy fills up with zeros, so those at the end are not part of the text;
// zeros before are. Surrogates and what lies above U+10FFFF fail (kind value):
// no UTF-8 has them.
bool tl_npy_store_text(tl_reader *reader, tl_array *a, int64_t index,
                       const uint32_t *points, int64_t width, char *text) {
  size_t nbytes = 0;
  while (width > 0 && points[width - 1] == 0) width--;
  for (int64_t i = 0; i < width; i++) {
    uint32_t c = points[i];
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
      return tl_fail(reader->vm, TALLY_ERR_VALUE,
                     "read_npy: \"%s\" has an invalid code point in item "
                     "%" PRId64 ", character %" PRId64,
                     reader->path, index, i);
    nbytes += (size_t)utf8proc_encode_char((utf8proc_int32_t)c,
                                           (utf8proc_uint8_t *)text + nbytes);
  }
  return tl_string_item_set(reader->vm, &tl_string_items(a)[index], text,
                            nbytes);
}

uint32_t tl_npy_next_point(const char *text, size_t *at) {
  int32_t point;  // the text is valid
  *at += tl_utf8_decode(text + *at, 4, &point);
  return (uint32_t)point;
}

int64_t tl_npy_count_points(const tl_string_item *item) {
  return (int64_t)tl_utf8_count(tl_string_item_text(item),
                                tl_string_item_length(item));
}

// --- Fields of structs ------------------------------------------------------

// Field i of each struct, w code points, as strings.
static bool read_column(tl_reader *reader, const tl_npy *from, tl_slot p,
                        int64_t i, tl_slot *out) {
  tl_vm *vm = reader->vm;
  const tl_type *layout = from->layout;
  const int64_t n = from->shape[0], width = layout->fields[i].type->size;
  const char *at = p.nested->parts[0].array->data + layout->offsets[i];
  // The code points, and behind them room for their UTF-8.
  size_t nbytes = 8 * (size_t)width;
  uint32_t *points = tl_alloc(vm, nbytes, "a string");
  tl_array *a = points != NULL ? tl_array_new(vm, TL_STRING, 1, &n) : NULL;
  bool ok = a != NULL;
  for (int64_t k = 0; ok && k < n; k++, at += layout->itemsize) {
    memcpy(points, at, 4 * (size_t)width);
    ok = tl_npy_store_text(reader, a, k, points, width,
                           (char *)(points + width));
  }
  tl_free(vm, points, nbytes);
  return tl_array_finish(vm, ok, a, out);
}

// A copy, so that nothing keeps the file's block.
static bool copy_column(tl_vm *vm, tl_slot p, int64_t i, tl_slot *out) {
  tl_slot borrowed = tl_borrow(p), field;
  if (!tl_nested_field(vm, &borrowed, i, &field))
    return false;
  bool ok = tl_is_array(field)
                ? tl_array_finish(vm, true, tl_array_copy(vm, field.array), out)
                : tl_nested_copy(vm, field, out);
  tl_drop(vm, field);
  return ok;
}

// Structs in one block cannot have strings, so the result has a column for each
// field, texts and others.
bool tl_npy_open_texts(tl_reader *reader, const tl_npy *from, tl_slot p,
                       tl_slot *out) {
  tl_vm *vm = reader->vm;
  const tl_type *layout = from->layout;
  int64_t made = 0;
  tl_slot *columns = tl_slots_new(vm, layout->field_count);
  bool ok = columns != NULL;
  for (; ok && made < layout->field_count; made += ok)
    ok = tl_npy_is_text(&from->texts, made)
             ? read_column(reader, from, p, made, &columns[made])
             : copy_column(vm, p, made, &columns[made]);
  ok = ok && tl_struct_like(vm, layout, columns, out);
  tl_slots_free(vm, columns, made);
  return ok;
}

// String i of a vector that need not be dense.
static const tl_string_item *item_of(const tl_array *a, int64_t i) {
  return tl_string_item_at(a->data + i * tl_strides(a)[0]);
}

// Whether a column is a vector of strings, which NumPy writes as U.
static bool is_text(tl_slot column) {
  return tl_is_array(column) && tl_array_dtype(column.array) == TL_STRING &&
         tl_ndim(column.array) == 1;
}

// The type that a field has in the file.
static tl_type *file_type(tl_vm *vm, const char *function, tl_slot column,
                          const tl_string *name) {
  bool numbers =
      tl_is_array(column) && tl_array_dtype(column.array) != TL_STRING;
  if (numbers || tl_is_form(column, TL_FORM_STRUCT))
    return tl_type_below(vm, column, 1);
  if (!is_text(column)) {
    tl_fail(vm, TALLY_ERR_TYPE,
            "%s: the field %s is %s, which a .npy file does not have: numbers, "
            "bools, a string, structs of them",
            function, name->text, tl_described(vm, column));
    return NULL;
  }
  const tl_array *a = column.array;
  int64_t width = 1;  // NumPy has no strings of width 0
  for (int64_t i = 0; i < a->size; i++) {
    int64_t n = tl_npy_count_points(item_of(a, i));
    width = n > width ? n : width;
  }
  tl_type *one = tl_type_intern(vm, &(tl_type){.kind = TL_TYPE_CHAR});
  return tl_type_fixed(vm, width, one);
}

// The layout of the structs in the file: each text as wide as the longest of
// its column. Sets the bits of *texts. NULL after tl_fail.
static tl_type *file_layout(tl_vm *vm, const char *function, tl_slot p,
                            tl_npy_texts *texts) {
  const tl_type *layout = p.nested->layout;
  size_t nbytes = (size_t)layout->field_count * sizeof(tl_type_field);
  tl_type_field *fields = tl_alloc(vm, nbytes, "fields");
  bool ok = fields != NULL;
  for (int64_t i = 0; ok && i < layout->field_count; i++) {
    tl_slot column = p.nested->parts[i];
    fields[i] = (tl_type_field){.name = layout->fields[i].name};
    fields[i].type = file_type(vm, function, column, fields[i].name);
    ok = fields[i].type != NULL;
    if (is_text(column))
      tl_npy_set_text(texts, i);
  }
  tl_type model = {.kind = TL_TYPE_STRUCT,
                   .field_count = layout->field_count,
                   .fields = fields};
  tl_type *type = ok ? tl_type_intern(vm, &model) : NULL;
  tl_free(vm, fields, nbytes);
  return type != NULL ? tl_layout_of(vm, type, false) : NULL;
}

// Code points into fields of zeros; the file's width suffices for each.
static void write_column(const tl_array *a, char *to, int64_t step) {
  for (int64_t i = 0; i < a->size; i++, to += step) {
    const tl_string_item *item = item_of(a, i);
    const char *text = tl_string_item_text(item);
    size_t nbytes = tl_string_item_length(item);
    // The rest of the field is zero already.
    char *next = to;
    for (size_t at = 0; at < nbytes; next += sizeof(uint32_t)) {
      uint32_t point = tl_npy_next_point(text, &at);
      memcpy(next, &point, sizeof point);
    }
  }
}

// A block of zeros in the file's layout, filled column by column. Columns that
// NumPy has no type for, such as rows, fail (kind type).
bool tl_npy_close_texts(tl_vm *vm, const char *function, tl_slot p,
                        tl_npy_texts *texts, tl_slot *out) {
  if (tl_value_ndim(p) != 1 || p.nested->layout->kind != TL_TYPE_STRUCT ||
      p.nested->count > TL_NPY_FIELDS)
    return tl_arg_fail(vm, function, "x", "an axis of structs with names", p);
  int64_t n = tl_value_length(p, 0);
  tl_type *layout = file_layout(vm, function, p, texts);
  if (layout == NULL || !tl_struct_zeros(vm, layout, 1, &n, out))
    return false;
  for (int64_t i = 0; i < layout->field_count; i++) {
    tl_slot column = p.nested->parts[i], block = out->nested->parts[0];
    if (tl_npy_is_text(texts, i))
      write_column(column.array, block.array->data + layout->offsets[i],
                   layout->itemsize);
    else if (!tl_struct_fill(vm, block, layout->offsets[i],
                             layout->fields[i].type, column)) {
      tl_clear(vm, out);
      return false;
    }
  }
  return true;
}
