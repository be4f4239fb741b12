// A type with fields called: structs and tuples of lists of items.
//
//   t = {x: float64, n: int32}
//   t of ((x: 1, n: 2), (x: 3, n: 4))     2 items, by names
//   t of ((1, 2), (3, 4))                 2 items, by their order
//   t of other structs                    field by field, by names
//
// Zeros of the type are made first; then each field is written from a column
// of its values.
#include <inttypes.h>
#include <stdio.h>

#include "vm/values/list.h"
#include "vm/nested/nested_join.h"
#include "vm/nested/nested_set.h"

// Whether it is an array of structs along one axis, which converts as a list
// of such does.
static bool is_struct_array(tl_slot s) {
  return tl_is_nested(s) && s.nested->layout != NULL && tl_value_ndim(s) == 1;
}

// A list has a value for each field in their order, whatever their names.
static bool has_fields(const tl_type *type, tl_slot item) {
  return tl_is_list(item) ? item.list->length == type->field_count
                          : tl_struct_has_fields(type, item);
}

// The pending error, with the place that it is about before it: item [i], and
// with a name what it has of that name.
static bool fail_within(tl_vm *vm, int64_t i, const char *part,
                        const char *name) {
  char cause[512];
  tally_status kind = vm->error.status;
  snprintf(cause, sizeof cause, "%s", vm->error.message);
  tl_error_clear(vm);
  return tl_fail(vm, kind, "item %" PRId64 "%s%s: %s", i, part, name, cause);
}

// Item [i] of a list has not the type's fields.
static bool fail_item(tl_vm *vm, const tl_type *type, int64_t i, tl_slot item) {
  if (tl_is_list(item))
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "item %" PRId64 " has %" PRId64
                   " values, but the type has "
                   "%" PRId64 " fields",
                   i, item.list->length, type->field_count);
  tl_struct_fail_fields(vm, type, item);
  return fail_within(vm, i, "", "");
}

// Whether all items have the type's fields.
static bool check_items(tl_vm *vm, const tl_type *type, int64_t count,
                        const tl_slot *items) {
  for (int64_t i = 0; i < count; i++)
    if ((!tl_is_list(items[i]) && !tl_is_record(items[i])) ||
        !has_fields(type, items[i]))
      return fail_item(vm, type, i, items[i]);
  return true;
}

// Field k of one item.
static bool item_field(tl_vm *vm, const tl_type *type, tl_slot item, int64_t k,
                       tl_slot *out) {
  if (!tl_is_list(item))
    return tl_struct_value_field(vm, item, type->fields[k].name, out);
  *out = tl_borrow(item.list->items[k]);
  return true;
}

static bool convert(tl_vm *vm, tl_type *type, int64_t count,
                    const tl_slot *items, tl_slot structs, tl_slot *out);

// Field k of so many items, as an array. *out is owned.
static bool collect(tl_vm *vm, const tl_type *type, int64_t count,
                    const tl_slot *items, int64_t k, tl_slot *out) {
  tl_type *of = type->fields[k].type;
  tl_slot *values = tl_slots_new(vm, count);
  bool ok = values != NULL;
  for (int64_t i = 0; ok && i < count; i++)
    ok = tl_poll_at(vm, i) && item_field(vm, type, items[i], k, &values[i]);
  // Structs in structs are converted themselves.
  if (ok && tl_type_has_fields(of))
    ok = check_items(vm, of, count, values) &&
         convert(vm, of, count, values, tl_none(), out);
  else
    ok = ok && tl_stack_any(vm, count, values, out);
  tl_slots_free(vm, values, 0);
  return ok;
}

// made's field k = column, of all items.
static bool store_column(tl_vm *vm, tl_nested *made, int64_t k,
                         tl_slot column) {
  static const tl_index_item all = {.kind = TL_ITEM_SLICE};
  static const tl_step whole = {.item_count = 1, .items = &all};
  if (tl_nested_form(made) == TL_FORM_STRUCT)
    return tl_struct_fill(vm, made->parts[0], made->layout->offsets[k],
                          made->layout->fields[k].type, column);
  tl_slot borrowed = tl_borrow(column), none[1];
  return tl_part_update(vm, (tl_nested_path){&whole, 1, none}, &made->parts[k],
                        &borrowed);
}

// [count] items of the type, all zero: what is converted is written over them,
// so that the type's own layout and dtypes decide.
static bool zero_items(tl_vm *vm, tl_type *item, int64_t count, tl_slot *out) {
  tl_type *whole = tl_type_fixed(vm, count, item);
  return whole != NULL && tl_zeros_of_type(vm, "a type", whole, 0, NULL, out);
}

// Whether an item by itself can have its field k.
static bool try_item(tl_vm *vm, tl_type *type, const tl_slot *item, int64_t k) {
  tl_slot one, column;
  return zero_items(vm, type, 1, &one) &&
         tl_drop_after(
             vm,
             collect(vm, type, 1, item, k, &column) &&
                 tl_drop_after(vm, store_column(vm, one.nested, k, column),
                               &column),
             &one);
}

// The error says which item and field it was: the first that fails alone.
static bool name_item(tl_vm *vm, tl_type *type, int64_t count,
                      const tl_slot *items, int64_t k) {
  if (vm->error.status != TALLY_ERR_TYPE && vm->error.status != TALLY_ERR_VALUE)
    return false;
  const char *name = type->fields[k].name->text;
  bool tuple = type->kind == TL_TYPE_TUPLE;
  for (int64_t i = 0; i < count; i++) {
    tl_error_clear(vm);
    if (!try_item(vm, type, &items[i], k))
      return fail_within(vm, i, tuple ? ", value " : ", field ", name);
  }
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "the values of field %s differ in kind or shape", name);
}

// By columns, not by items: a field's values of all items are stacked and
// stored at once. That fails without a word about which item it was, so
// name_item looks for it, which is slow and done for an error alone.
static bool convert_field(tl_vm *vm, tl_type *type, tl_nested *made,
                          int64_t count, const tl_slot *items, tl_slot structs,
                          int64_t k) {
  tl_slot column;
  bool ok = (items != NULL ? collect(vm, type, count, items, k, &column)
                           : tl_struct_value_field(
                                 vm, structs, type->fields[k].name, &column)) &&
            tl_drop_after(vm, store_column(vm, made, k, column), &column);
  return ok || (items != NULL && name_item(vm, type, count, items, k));
}

// So many items, which have the fields, or with NULL as items the structs.
static bool convert(tl_vm *vm, tl_type *type, int64_t count,
                    const tl_slot *items, tl_slot structs, tl_slot *out) {
  if (!zero_items(vm, type, count, out))
    return false;
  bool ok = true;
  for (int64_t k = 0; ok && count > 0 && k < type->field_count; k++)
    ok = convert_field(vm, type, out->nested, count, items, structs, k);
  if (!ok)
    tl_clear(vm, out);
  return ok;
}

// Checked before anything is made: names, then for each field that the values
// convert. Fails with the kind of the assignment, (kind shape) for another
// count than the type's dimension. *out is owned; untouched on failure but for
// being cleared.
bool tl_struct_convert(tl_vm *vm, tl_type *type, tl_slot value, tl_slot *out) {
  tl_type *item = type->kind == TL_TYPE_FIXED ? type->of : type;
  bool list = tl_is_list(value);
  const tl_slot *items = list ? value.list->items : NULL;
  if (!list && (!is_struct_array(value) || !tl_struct_has_fields(item, value)))
    return tl_struct_fail_fields(vm, item, value);
  int64_t count = list ? value.list->length : tl_value_length(value, 0);
  if (list && !check_items(vm, item, count, items))
    return false;
  if (type->kind == TL_TYPE_FIXED && type->size != count)
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "a type of %" PRId64 " items converts as many: got %" PRId64,
                   type->size, count);
  return convert(vm, item, count, items, value, out);
}
