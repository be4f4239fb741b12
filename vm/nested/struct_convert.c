// A type with fields called: structs and tuples of lists of items.
#include <inttypes.h>

#include "vm/error.h"
#include "vm/types/layout.h"
#include "vm/values/list.h"
#include "vm/nested/nested.h"
#include "vm/nested/nested_join.h"
#include "vm/nested/nested_set.h"
#include "vm/values/record.h"
#include "vm/index/select.h"
#include "vm/vm.h"

static bool is_struct_array(tl_slot s) {
  return tl_is_nested(s) && s.nested->layout != NULL && tl_value_ndim(s) == 1;
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
    if ((!tl_is_list(item) && !tl_is_record(item)) ||
        !tl_struct_has_fields(type, item))
      return tl_struct_fail_fields(vm, type, item);
  }
  return true;
}

// Field k of all items, as an array. *out is owned.
static bool collect(tl_vm *vm, const tl_type *type, tl_slot value, int64_t k,
                    tl_slot *out) {
  tl_string *name = type->fields[k].name;
  if (!tl_is_list(value)) {
    if (!tl_struct_value_field(vm, value, name, out))
      return false;
    if (!tl_is_owned(*out))
      *out = tl_retain(vm, *out);
    return true;
  }
  int64_t count = value.list->length;
  size_t nbytes = ((size_t)count + 1) * sizeof(tl_slot);
  tl_slot *items = tl_alloc(vm, nbytes, "structs");
  bool ok = items != NULL;
  for (int64_t i = 0; ok && i < count; i++)
    ok = tl_struct_value_field(vm, value.list->items[i], name, &items[i]);
  // Structs in structs are converted themselves.
  if (ok && tl_type_has_fields(type->fields[k].type)) {
    tl_list *list = tl_list_new(vm, count);
    ok = list != NULL;
    for (int64_t i = 0; ok && i < count; i++) {
      tl_slot one = tl_borrow(items[i]);
      ok = tl_list_push(vm, &list, &one);
    }
    tl_slot whole = list != NULL ? tl_own_list(list) : tl_none();
    ok = ok && tl_struct_convert(vm, type->fields[k].type, whole, out);
    tl_clear(vm, &whole);
  } else {
    ok = ok && tl_stack_any(vm, count, items, out);
  }
  if (items != NULL)
    tl_free(vm, items, nbytes);
  return ok;
}

static bool convert_field(tl_vm *vm, tl_type *type, tl_nested *made,
                          tl_slot value, int64_t k) {
  static const tl_index_item all = {.kind = TL_ITEM_SLICE};
  static const tl_step whole = {.item_count = 1, .items = &all};
  tl_slot column;
  if (!collect(vm, type, value, k, &column))
    return false;
  bool ok;
  if (tl_nested_form(made) == TL_FORM_STRUCT) {
    ok = tl_struct_fill(vm, made->parts[0], made->layout->offsets[k],
                        made->layout->fields[k].type, column);
  } else {
    tl_slot lent = tl_borrow(column);
    ok = tl_part_update(vm, (tl_way){&whole, 1, NULL}, &made->parts[k], &lent);
  }
  tl_drop(vm, column);
  return ok;
}

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
  tl_type model = {.kind = TL_TYPE_FIXED, .size = count, .of = item};
  tl_type *whole = tl_type_intern(vm, &model);
  if (whole == NULL || !tl_zeros_of_type(vm, "a type", whole, out))
    return false;
  bool ok = true;
  for (int64_t k = 0; ok && count > 0 && k < item->field_count; k++)
    ok = convert_field(vm, item, out->nested, value, k);
  if (!ok)
    tl_clear(vm, out);
  return ok;
}
