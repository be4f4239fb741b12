// The order of structs: by their fields in turn.
//
// Each field's items become numbers, their places among its distinct ones, and
// those of all fields together one number for each struct. The functions of
// plain arrays do the rest (missing_order.h).

#include "stdlib/arguments.h"
#include "stdlib/distinct.h"
#include "stdlib/missing_order.h"
#include "stdlib/ragged.h"
#include "vm/array/describe.h"
#include "vm/nested/indexed.h"
#include "vm/nested/raw_bytes.h"
#include "vm/nested/parts.h"
#include "vm/vm.h"

static int64_t *items_of(const tl_array *a) {
  return (int64_t *)(void *)a->data;
}

// Takes what *x has, and gives its places among its distinct ones, one axis.
static bool rank_again(tl_vm *vm, const char *function, tl_array **x) {
  tl_array *values, *inverse;
  bool ok = tl_distinct_inverse(vm, function, *x, &values, &inverse);
  tl_drop(vm, tl_own_array(*x));
  *x = ok ? inverse : NULL;
  if (ok)
    tl_drop(vm, tl_own_array(values));
  return ok;
}

// The numbers of a field, with one axis or more, dense; how many there are.
static bool rank_field(tl_vm *vm, const char *function, tl_slot field,
                       tl_array **ranks, int64_t *count) {
  if (tl_is_spelled(field)) {
    tl_slot values = tl_borrow(field);
    if (!tl_spell_out(vm, 1, &values))
      return false;
    bool done = rank_field(vm, function, values, ranks, count);
    tl_drop(vm, values);
    return done;
  }
  field = tl_raw_bytes_inside(field);
  if (tl_is_form(field, TL_FORM_OPTION) || tl_has_fields(field)) {
    tl_coded coded;
    if (!tl_codes_of(vm, function, field, false, &coded))
      return false;
    *ranks = coded.codes.array;
    *count = tl_value_length(coded.values, 0);
    tl_drop(vm, coded.values);
    return true;
  }
  tl_array *values;
  if (!tl_is_array(field))
    return tl_arg_fail(vm, function, "each field", "of numbers or strings",
                       field);
  if (!tl_distinct_inverse(vm, function, field.array, &values, ranks))
    return false;
  *count = values->size;
  tl_drop(vm, tl_own_array(values));
  return true;
}

// The numbers of a field decide where those so far are equal. They are of as
// many columns as the field has items in a struct.
static bool refine(tl_vm *vm, const char *function, tl_array **codes,
                   const tl_array *ranks, int64_t count) {
  int64_t n = (*codes)->size, columns = n > 0 ? ranks->size / n : 0;
  for (int64_t j = 0; j < columns; j++) {
    // Both are below the number of items: their product is an int64.
    for (int64_t i = 0; i < n; i++)
      items_of(*codes)[i] =
          items_of(*codes)[i] * count + items_of(ranks)[i * columns + j];
    if (!rank_again(vm, function, codes))
      return false;
  }
  return true;
}

static bool refine_by(tl_vm *vm, const char *function, tl_slot p, int64_t i,
                      tl_array **codes) {
  tl_slot borrowed = tl_borrow(p), field;
  tl_array *ranks;
  int64_t count;
  if (!tl_nested_field(vm, &borrowed, i, &field))
    return false;
  bool ok = rank_field(vm, function, field, &ranks, &count);
  tl_drop(vm, field);
  if (!ok)
    return false;
  ok = refine(vm, function, codes, ranks, count);
  tl_drop(vm, tl_own_array(ranks));
  return ok;
}

bool tl_row_codes(tl_vm *vm, const char *function, tl_slot x,
                  tl_array **codes) {
  tl_array *ranks;
  int64_t count, n = tl_value_length(x, 0);
  if (!rank_field(vm, function, x, &ranks, &count))
    return false;
  *codes = tl_array_zeros(vm, TL_INT64, 1, &n);
  bool ok = *codes != NULL && refine(vm, function, codes, ranks, count);
  tl_drop(vm, tl_own_array(ranks));
  if (!ok && *codes != NULL)
    tl_drop(vm, tl_own_array(*codes));
  return ok;
}

bool tl_struct_codes(tl_vm *vm, const char *function, tl_slot p,
                     tl_coded *out) {
  if (tl_value_ndim(p) != 1)
    return tl_arg_fail(vm, function, "x", "of one axis", p);
  int64_t n = tl_value_length(p, 0);
  tl_array *codes = tl_array_zeros(vm, TL_INT64, 1, &n);
  for (int64_t i = 0; codes != NULL && i < p.nested->layout->field_count; i++) {
    if (!refine_by(vm, function, p, i, &codes)) {
      tl_array_drop(vm, codes);
      return false;
    }
  }
  if (codes == NULL)
    return false;
  tl_distinct d;
  tl_slot all = tl_own_array(codes);
  bool ok = tl_distinct_find(vm, function, &all, true, true, &d);
  tl_clear(vm, &all);
  if (!ok)
    return false;
  ok = tl_value_take(vm, p, d.indices, &out->values);
  if (ok) {
    out->codes = tl_own_array(d.inverse);
    d.inverse = NULL;
  }
  tl_distinct_close(vm, &d);
  return ok;
}
