// Zeros of any type: what an array of it holds before anything is written.
//
//     number     0            ?T           missing
//     string     ""           categories   the first
//     bytes      b""          var * T      no items
//     struct     of each field             pointer   to a zero of its own
//
// Every function below makes the parts before the array that takes them, and
// drops those that were made where a later one fails.

#include "vm/nested/ragged.h"
#include "vm/types/layout.h"
#include "vm/array/string_item.h"
#include "vm/nested/raw_bytes.h"

// The items of a type in a shape of fixed dimensions.
typedef struct maker {
  tl_vm *vm;
  const char *function;
  tl_type *whole;  // for messages
} maker;

// "zeros: <type><why>" (kind type). Returns false.
static bool fail(const maker *m, const char *why) {
  tl_string *text = tl_type_text(m->vm, m->whole);
  if (text == NULL)
    return false;
  tl_fail(m->vm, TALLY_ERR_TYPE, "%s: %s%s", m->function, text->text, why);
  tl_drop(m->vm, tl_own_string(text));
  return false;
}

// What can be made is listed, as types have more than zeros can be made of.
static bool fail_zeros(const maker *m) {
  return fail(m,
              " cannot be made from its type alone: numbers, strings, "
              "structs, ?T of numbers and strings, categories, pointers and "
              "rows (not of pointers) can, below a fixed dimension");
}

// Text of a fixed size lies in structs that are plain bytes.
static bool fail_text(const maker *m) {
  return fail(m,
              ": fixed_string[n] and char are fields of structs that have "
              "no string, ?T, bytes or rows beside them; write string");
}

static bool zeros(const maker *m, tl_type *type, int ndim, const int64_t *given,
                  tl_slot *out);

// All of them missing.
// Values in the places of missing ones are never seen, but have to be of the
// type.
static bool zero_options(const maker *m, tl_type *of, int ndim,
                         const int64_t *shape, tl_slot *out) {
  tl_slot values;
  if (of->kind != TL_TYPE_DTYPE && of->kind != TL_TYPE_BYTES)
    return fail_zeros(m);
  if (!zeros(m, of, ndim, shape, &values))
    return false;
  tl_array *mask = tl_array_new(m->vm, TL_BOOL, ndim, shape);
  if (mask != NULL &&
      !tl_fill_bytes(m->vm, mask->data, 1, (size_t)mask->size)) {
    tl_array_drop(m->vm, mask);
    mask = NULL;
  }
  return tl_places_pair(m->vm, TL_FORM_OPTION, mask, &values, out);
}

// Rows without items.
// The items are made even though there are none: they tell the rows' type.
static bool zero_rows(const maker *m, tl_type *of, int ndim,
                      const int64_t *shape, tl_slot *out) {
  int64_t none = 0, rows;
  size_t nbytes;
  // Of the offsets.
  if (!tl_shape_size(m->vm, ndim, shape, sizeof(int64_t), &rows, &nbytes))
    return false;
  tl_slot items, whole;
  // Rows that grow are joined, which gives the values that pointers refer to.
  if (of->kind == TL_TYPE_POINTER)
    return fail_zeros(m);
  if (!zeros(m, of, 1, &none, &items))
    return false;
  int64_t count = rows + 1;
  return tl_ragged_new(m->vm, tl_array_zeros(m->vm, TL_INT64, 1, &count),
                       &items, &whole) &&
         tl_grid_of_shape(m->vm, ndim, shape, &whole, out);
}

// Each field is an array of zeros of its own type, in the array's shape.
// A column that fails drops those before it, with the array that they are in.
static bool zero_columns(const maker *m, tl_type *type, int ndim,
                         const int64_t *shape, tl_slot *out) {
  tl_nested *n =
      tl_nested_new(m->vm, TL_FORM_COLUMNS, ndim, type->field_count, type);
  bool ok = n != NULL;
  for (int64_t i = 0; ok && i < type->field_count; i++) {
    tl_slot column;
    ok = zeros(m, type->fields[i].type, ndim, shape, &column);
    if (ok)
      tl_nested_put(m->vm, n, i, &column);
  }
  return tl_nested_finish(m->vm, ok, n, out);
}

// The first category everywhere.
// Code 0 everywhere. Categories are the type's own names, so that of ?T of
// other dtypes, or of no names, nothing could be said.
static bool zero_categories(const maker *m, const tl_type *type, int ndim,
                            const int64_t *shape, tl_slot *out) {
  bool texts = type->of == NULL || (type->of->kind == TL_TYPE_DTYPE &&
                                    type->of->dtype == TL_STRING);
  if (!texts || type->field_count == 0)
    return fail_zeros(m);
  tl_array *names = tl_array_new(m->vm, TL_STRING, 1, &type->field_count);
  if (names == NULL)
    return false;
  tl_slot categories = tl_own_array(names);
  for (int64_t i = 0; i < type->field_count; i++)
    tl_string_item_put(m->vm, &tl_string_items(names)[i], type->fields[i].name);
  return tl_places_pair(m->vm, TL_FORM_CATEGORY,
                        tl_array_zeros(m->vm, TL_INT32, ndim, shape),
                        &categories, out);
}

// Each to a value of its own.
//
//  2 * 2 * pointer[T]     places 0 1, 2 3 of 4 zeros of T
//  pointer[T]             place 0 of one
//
// None is shared, so that setting through one changes no other.
static bool zero_pointers(const maker *m, tl_type *of, int ndim,
                          const int64_t *shape, tl_slot *out) {
  tl_slot target, first;
  if (ndim == 0) {
    int64_t one = 1;
    first = tl_weak_int(0);
    return zeros(m, of, 1, &one, &target) &&
           tl_indexed_new(m->vm, TL_FORM_POINTER, &first, &target, out);
  }
  int64_t size = tl_shape_count(ndim, shape);
  tl_array *places = tl_numbers_new(m->vm, ndim, shape, 0, 1);
  if (places != NULL && zeros(m, of, 1, &size, &target))
    return tl_places_pair(m->vm, TL_FORM_POINTER, places, &target, out);
  tl_array_drop(m->vm, places);
  return false;
}

// An empty string in each place is what b"" is.
static bool zero_raw_bytes(const maker *m, int ndim, const int64_t *shape,
                           tl_slot *out) {
  tl_slot inside;
  return tl_array_give(tl_array_zeros(m->vm, TL_STRING, ndim, shape),
                       &inside) &&
         tl_raw_bytes_close(m->vm, &inside, out);
}

// Fixed dimensions of the type become further axes, so 2 * 3 * float64 is an
// array of floats at once. Below no axis at all only numbers and strings have
// zeros; plain structs lie in one block, others by columns.
//
//  2 * 3 * float64           shape 2 3 of floats
//  2 * var * int8            2 empty rows
//  4 * {a: int8, b: string}  columns: 4 * int8, 4 * string
//  4 * {a: int8, b: int8}    a block of 4 * 2 bytes
//
static bool zeros(const maker *m, tl_type *type, int ndim, const int64_t *given,
                  tl_slot *out) {
  int64_t shape[TL_MAX_DIMS];
  for (int i = 0; i < ndim; i++) shape[i] = given[i];
  for (; type->kind == TL_TYPE_FIXED; type = type->of) {
    if (ndim == TL_MAX_DIMS)
      return tl_fail_dims(m->vm, "an array has at most");
    shape[ndim++] = type->size;
  }
  if (type->kind == TL_TYPE_DTYPE) {
    tl_array *a = tl_array_zeros(m->vm, type->dtype, ndim, shape);
    if (a != NULL)
      *out = tl_result(m->vm, a);
    return a != NULL && !tl_is_unset(*out);
  }
  if (tl_type_is_text(type))
    return fail_text(m);
  if (ndim == 0 && type->kind != TL_TYPE_POINTER)
    return fail_zeros(m);
  switch (type->kind) {
    case TL_TYPE_OPTION:
      return zero_options(m, type->of, ndim, shape, out);
    case TL_TYPE_VAR:
      return zero_rows(m, type->of, ndim, shape, out);
    case TL_TYPE_POINTER:
      return zero_pointers(m, type->of, ndim, shape, out);
    case TL_TYPE_CATEGORICAL:
      return zero_categories(m, type, ndim, shape, out);
    case TL_TYPE_BYTES:
      return zero_raw_bytes(m, ndim, shape, out);
    case TL_TYPE_STRUCT:
    case TL_TYPE_TUPLE:
      if (!tl_type_is_plain(type))
        return zero_columns(m, type, ndim, shape, out);
      type = tl_layout_of(m->vm, type, false);
      return type != NULL && tl_struct_zeros(m->vm, type, ndim, shape, out);
    default:
      return fail_zeros(m);
  }
}

// *out is owned. Fails (kind type) for a type of which there are no zeros,
// naming the whole type and not the part; (kind shape) beyond TL_MAX_DIMS.
bool tl_zeros_of_type(tl_vm *vm, const char *function, tl_type *type, int ndim,
                      const int64_t *shape, tl_slot *out) {
  maker m = {vm, function, type};
  return zeros(&m, type, ndim, shape, out);
}
