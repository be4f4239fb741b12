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

#include "vm/error.h"
#include "vm/values/list.h"
#include "vm/nested/nested.h"
#include "vm/nested/nested_join.h"
#include "vm/nested/nested_set.h"
#include "vm/nested/parts.h"
#include "vm/values/record.h"
#include "vm/index/select.h"
#include "vm/vm.h"

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
  if (tl_is_list(item)) {
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "item %" PRId64 " has %" PRId64
                   " values, but the type has "
                   "%" PRId64 " fields",
                   i, item.list->length, type->field_count);
  }
  tl_struct_fail_fields(vm, type, item);
  return fail_within(vm, i, "", "");
}

// Whether the value is items with the type's fields.
static bool check_items(tl_vm *vm, const tl_type *type, tl_slot value) {
  if (is_struct_array(value)) {
    return tl_struct_has_fields(type, value) ||
           tl_struct_fail_fields(vm, type, value);
  }
  if (!tl_is_list(value))
    return tl_struct_fail_fields(vm, type, value);
  for (int64_t i = 0; i < value.list->length; i++) {
    tl_slot item = value.list->items[i];
    if ((!tl_is_list(item) && !tl_is_record(item)) || !has_fields(type, item))
      return fail_item(vm, type, i, item);
  }
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

// Field k of the items [from, to) of a list, as an array. *out is owned.
static bool collect(tl_vm *vm, const tl_type *type, const tl_list *list,
                    int64_t from, int64_t to, int64_t k, tl_slot *out) {
  int64_t count = to - from;
  tl_slot *items = tl_slots_new(vm, count, "structs");
  bool ok = items != NULL;
  for (int64_t i = 0; ok && i < count; i++)
    ok = item_field(vm, type, list->items[from + i], k, &items[i]);
  // Structs in structs are converted themselves.
  if (ok && tl_type_has_fields(type->fields[k].type)) {
    tl_list *inner = tl_list_new(vm, count);
    ok = inner != NULL;
    for (int64_t i = 0; ok && i < count; i++) {
      tl_slot one = tl_borrow(items[i]);
      ok = tl_list_push(vm, &inner, &one);
    }
    tl_slot whole = inner != NULL ? tl_own_list(inner) : tl_none();
    ok = ok && tl_struct_convert(vm, type->fields[k].type, whole, out);
    tl_clear(vm, &whole);
  } else {
    ok = ok && tl_stack_any(vm, count, items, out);
  }
  tl_slots_free(vm, items, 0);
  return ok;
}

// made's field k = column, of all items.
static bool store_column(tl_vm *vm, tl_nested *made, int64_t k,
                         tl_slot column) {
  static const tl_index_item all = {.kind = TL_ITEM_SLICE};
  static const tl_step whole = {.item_count = 1, .items = &all};
  if (tl_nested_form(made) == TL_FORM_STRUCT) {
    return tl_struct_fill(vm, made->parts[0], made->layout->offsets[k],
                          made->layout->fields[k].type, column);
  }
  tl_slot borrowed = tl_borrow(column);
  return tl_part_update(vm, (tl_nested_path){&whole, 1, NULL}, &made->parts[k],
                        &borrowed);
}

// [count] items of the type, all zero: what is converted is written over them,
// so that the type's own layout and dtypes decide.
static bool zero_items(tl_vm *vm, tl_type *item, int64_t count, tl_slot *out) {
  tl_type model = {.kind = TL_TYPE_FIXED, .size = count, .of = item};
  tl_type *whole = tl_type_intern(vm, &model);
  return whole != NULL && tl_zeros_of_type(vm, "a type", whole, 0, NULL, out);
}

// Whether item i by itself can have its field k.
static bool try_item(tl_vm *vm, tl_type *type, const tl_list *list, int64_t i,
                     int64_t k) {
  tl_slot one, column;
  if (!zero_items(vm, type, 1, &one))
    return false;
  bool ok = collect(vm, type, list, i, i + 1, k, &column);
  if (ok) {
    ok = store_column(vm, one.nested, k, column);
    tl_drop(vm, column);
  }
  tl_drop(vm, one);
  return ok;
}

// The error says which item and field it was: the first that fails alone.
static bool name_item(tl_vm *vm, tl_type *type, const tl_list *list,
                      int64_t k) {
  if (vm->error.status != TALLY_ERR_TYPE && vm->error.status != TALLY_ERR_VALUE)
    return false;
  const char *name = type->fields[k].name->text;
  bool tuple = type->kind == TL_TYPE_TUPLE;
  for (int64_t i = 0; i < list->length; i++) {
    tl_error_clear(vm);
    if (!try_item(vm, type, list, i, k)) {
      return fail_within(vm, i, tuple ? ", value " : ", field ", name);
    }
  }
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "the values of field %s differ in kind or shape", name);
}

// By columns, not by items: a field's values of all items are stacked and
// stored at once. That fails without a word about which item it was, so
// name_item looks for it, which is slow and done for an error alone.
static bool convert_field(tl_vm *vm, tl_type *type, tl_nested *made,
                          tl_slot value, int64_t k) {
  tl_slot column;
  bool list = tl_is_list(value);
  bool ok;
  if (list) {
    ok = collect(vm, type, value.list, 0, value.list->length, k, &column);
  } else {
    ok = tl_struct_value_field(vm, value, type->fields[k].name, &column);
    if (ok && !tl_is_owned(column))
      column = tl_retain(vm, column);
  }
  if (ok) {
    ok = store_column(vm, made, k, column);
    tl_drop(vm, column);
  }
  return ok || (list && name_item(vm, type, value.list, k));
}

// Checked before anything is made: names, then for each field that the values
// convert. Fails with the kind of the assignment, (kind shape) for another
// count than the type's dimension. *out is owned; untouched on failure but for
// being cleared.
bool tl_struct_convert(tl_vm *vm, tl_type *type, tl_slot value, tl_slot *out) {
  tl_type *item = type->kind == TL_TYPE_FIXED ? type->of : type;
  if (!check_items(vm, item, value))
    return false;
  int64_t count =
      tl_is_list(value) ? value.list->length : tl_value_length(value, 0);
  if (type->kind == TL_TYPE_FIXED && type->size != count) {
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "a type of %" PRId64 " items converts as many: got %" PRId64,
                   type->size, count);
  }
  if (!zero_items(vm, item, count, out))
    return false;
  bool ok = true;
  for (int64_t k = 0; ok && count > 0 && k < item->field_count; k++)
    ok = convert_field(vm, item, out->nested, value, k);
  if (!ok)
    tl_clear(vm, out);
  return ok;
}
