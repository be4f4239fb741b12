// Orders of values that may be missing, which come last then, and of structs,
// by their fields in turn.
//
// The values become numbers, their places among the distinct ones in order, and
// the functions of plain arrays do the rest. Structs get their numbers from
// inner/nested.tly.

#include "stdlib/arguments.h"
#include "stdlib/distinct.h"
#include "stdlib/missing_order.h"
#include "stdlib/nested_reduce.h"
#include "stdlib/ragged.h"
#include "vm/array/describe.h"
#include "vm/bytecode/module.h"
#include "vm/nested/indexed.h"
#include "vm/nested/parts.h"
#include "vm/values/list.h"
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

bool tl_struct_codes(tl_vm *vm, const char *function, tl_slot p,
                     tl_coded *out) {
  if (tl_value_ndim(p) != 1)
    return tl_arg_fail(vm, function, "x", "of one axis", p);
  tl_slot given = tl_borrow(p), both;
  if (!tl_call_embedded(vm, "inner/nested", "codes_of", 1, &given, &both))
    return false;
  out->values = tl_retain(vm, tl_borrow(both.list->items[0]));
  out->codes = tl_retain(vm, tl_borrow(both.list->items[1]));
  tl_drop(vm, both);
  return true;
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
