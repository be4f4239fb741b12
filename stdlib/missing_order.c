// Orders of values that may be missing, which come last then, and of structs,
// by their fields in turn.
//
// The values become numbers, their places among the distinct ones in order, and
// the functions of plain arrays do the rest. Each field's items become numbers
// so, and those of all fields together one number for each struct.

#include "stdlib/arguments.h"
#include "stdlib/distinct.h"
#include "stdlib/missing_order.h"
#include "stdlib/nested_reduce.h"
#include "stdlib/ragged.h"
#include "vm/array/describe.h"
#include "vm/nested/indexed.h"
#include "vm/nested/parts.h"
#include "vm/nested/raw_bytes.h"
#include "vm/values/record.h"
#include "vm/vm.h"

// Codes in the shape of the mask: those of the values that are there in turn,
// [otherwise] where one is missing.
static tl_array *spread_codes(tl_vm *vm, const tl_array *mask,
                              const tl_array *there, int64_t otherwise) {
  tl_array *codes = tl_array_new(vm, TL_INT64, tl_ndim(mask), tl_shape(mask));
  if (codes == NULL)
    return NULL;
  const int64_t *from = (const int64_t *)(const void *)there->data;
  int64_t *to = (int64_t *)(void *)codes->data;
  for (int64_t i = 0; i < codes->size; i++)
    to[i] = mask->data[i] != 0 ? otherwise : *from++;
  return codes;
}

// Codes of the values that are there come from the plain array of these; then
// they are spread over the mask. Where any is missing, none is appended to the
// values, so that the last code stands for it.
//
//   x       [3, none, 1, 3]
//   values  [1, 3, none]
//   codes   [1, 2, 0, 1]    with [first]  [1, -1, 0, 1]
bool tl_missing_codes(tl_vm *vm, const char *function, tl_slot x, bool first,
                      tl_coded *out) {
  tl_slot there, dense, mask = tl_borrow(x.nested->parts[0]);
  int64_t missing;
  tl_array *values, *inverse;
  if (!tl_present(vm, x, &there, &missing))
    return false;
  bool ok = tl_is_array(there) ||
            tl_arg_fail(vm, function, "x", "numbers or strings", x);
  ok = ok && tl_distinct_inverse(vm, function, there.array, &values, &inverse);
  tl_drop(vm, there);
  if (!ok)
    return false;
  int64_t count = values->size;
  out->values = tl_own_array(values);
  tl_array *codes = NULL;
  if (tl_array_contiguous(vm, &mask, &dense)) {
    codes = spread_codes(vm, dense.array, inverse, first ? -1 : count);
    tl_drop(vm, dense);
  }
  tl_drop(vm, tl_own_array(inverse));
  ok = codes != NULL;
  if (ok && missing > 0) {
    tl_slot known = out->values;
    ok = tl_nested_append(vm, known, tl_none(), &out->values);
    if (ok)
      tl_drop(vm, known);
  }
  ok = tl_array_finish(vm, ok, codes, &out->codes);
  if (!ok)
    tl_drop(vm, out->values);
  return ok;
}

// --- Structs ----------------------------------------------------------------

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
  // Rank 0 is the least item; equal items have equal ranks.
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

// Refines *codes by field i of the structs p; takes *codes, which is NULL
// afterwards where that failed in the last step.
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

// Codes of the fields, folded from the first field on; each step ranks again,
// so that the numbers stay below the count of structs:
//
//   name  b a b   ranks 1 0 1                          1 0 1
//   age   7 9 5   ranks 1 2 0   codes 1*3+1 0*3+2 1*3+0 = 4 2 3, again 2 0 1
//
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

// --- Either -----------------------------------------------------------------

bool tl_codes_of(tl_vm *vm, const char *function, tl_slot x, bool first,
                 tl_coded *out) {
  return tl_is_form(x, TL_FORM_OPTION)
             ? tl_missing_codes(vm, function, x, first, out)
             : tl_struct_codes(vm, function, x, out);
}

void tl_coded_close(tl_vm *vm, tl_coded *coded) {
  tl_drop(vm, coded->values);
  tl_clear(vm, &coded->codes);
}

// The values that an int64 array of codes stands for. *out is owned.
// A code below 0 is the missing value's, which the values have last.
static bool coded_values(tl_vm *vm, const tl_coded *coded, tl_slot codes,
                         tl_slot *out) {
  tl_array *at = tl_array_copy(vm, codes.array);
  if (at == NULL)
    return false;
  // The missing value, if there are codes below 0 at all.
  int64_t last = tl_value_length(coded->values, 0) - 1;
  int64_t *places = (int64_t *)(void *)at->data;
  for (int64_t i = 0; i < at->size; i++)
    places[i] = places[i] < 0 ? last : places[i];
  return tl_take_at(vm, true, coded->values, at, out);
}

// The same for the field "values" of a record, which the slot owns.
// The record stays with its slot at each step, so that a failure leaves it to
// be dropped once.
static bool coded_record(tl_vm *vm, const tl_coded *coded, tl_slot *record) {
  tl_slot *field = tl_record_get_name(record->record, "values"), values;
  tl_record *own;
  if (!coded_values(vm, coded, *field, &values))
    return false;
  bool ok = tl_record_unique(vm, record, 2, &own);
  if (ok) {
    *record = tl_own_record(own);
    ok = tl_record_set_name(vm, &own, "values", &values);
    *record = tl_own_record(own);
  }
  tl_clear(vm, &values);
  return ok;
}

// args[0] is exchanged for the codes during the call and put back afterwards,
// as the caller still owns it.
bool tl_coded_call(tl_vm *vm, const char *function, tl_builtin_fn *call,
                   bool first, tl_answer answer, tl_slot *args, tl_slot *out) {
  tl_coded coded;
  tl_slot x = args[0], made;
  if (!tl_codes_of(vm, function, x, first, &coded))
    return false;
  args[0] = coded.codes;
  coded.codes = tl_none();
  bool ok = call(vm, args, &made);
  tl_clear(vm, &args[0]);
  args[0] = x;
  if (ok && answer == TL_ANSWER_PLACES) {
    *out = made;
  } else if (ok && answer == TL_ANSWER_VALUES) {
    ok = coded_values(vm, &coded, made, out);
    tl_drop(vm, made);
  } else if (ok) {
    ok = coded_record(vm, &coded, &made);
    *out = made;
    if (!ok)
      tl_drop(vm, made);
  }
  tl_coded_close(vm, &coded);
  return ok;
}
