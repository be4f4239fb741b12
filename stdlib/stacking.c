#include "stdlib/stacking.h"

#include <string.h>

#include "stdlib/arguments.h"
#include "vm/operand.h"
#include "vm/kernels/kernels.h"
#include "vm/vm.h"

typedef enum stack_kind { STACK_NOT, STACK_NUMBERS, STACK_STRINGS } stack_kind;

static int item_ndim(tl_slot s) {
  return tl_is_array(s) ? tl_ndim(s.array) : 0;
}

static bool is_text(tl_slot s) {
  return tl_is_string(s) ||
         (tl_is_array(s) && tl_array_dtype(s.array) == TL_STRING);
}

// Whether all items have one shape and are all numbers or all strings.
static stack_kind classify(const tl_list *list) {
  tl_slot first = list->items[0];
  bool texts = is_text(first);
  int ndim = item_ndim(first);
  if (!texts && !tl_is_number(first) && !tl_is_array(first)) return STACK_NOT;
  for (int64_t i = 0; i < list->length; i++) {
    tl_slot s = list->items[i];
    if (texts ? !is_text(s)
              : is_text(s) || !(tl_is_number(s) || tl_is_array(s))) {
      return STACK_NOT;
    }
    if (item_ndim(s) != ndim) return STACK_NOT;
    if (ndim > 0 && memcmp(tl_shape(s.array), tl_shape(first.array),
                           (size_t)ndim * sizeof(int64_t)) != 0) {
      return STACK_NOT;
    }
  }
  return ndim < TL_MAX_DIMS ? (texts ? STACK_STRINGS : STACK_NUMBERS)
                            : STACK_NOT;
}

// The dtype of all numbers together; weak ones follow the others.
static tl_dtype common_dtype(const tl_list *list) {
  tl_operand all = {.dtype = TL_BOOL}, next = {.dtype = TL_BOOL};
  for (int64_t i = 0; i < list->length; i++) {
    next.dtype = (tl_dtype)tl_dtype_of(list->items[i]);
    next.weak = tl_is_weak(list->items[i]);
    if (i == 0) {
      all = next;
      continue;
    }
    if (all.dtype == next.dtype && all.weak == next.weak) continue;
    all.dtype = tl_operands_promote(&all, &next);
    all.weak = all.weak && next.weak;
  }
  return all.dtype;
}

static void store_number(tl_slot s, tl_dtype dtype, char *to) {
  tl_c128 item;
  tl_dtype from = (tl_dtype)tl_dtype_of(s);
  if (tl_is_array(s)) {
    memcpy(&item, s.array->data, tl_itemsize(from));
  } else {
    tl_scalar_store(s, &item);
  }
  tl_kernels()->cast[from][dtype](to, &item, 1);
}

static bool fill(tl_vm *vm, const tl_list *list, tl_array *array) {
  tl_dtype dtype = tl_array_dtype(array);
  if (array->size == 0) return true;
  size_t step = (size_t)tl_strides(array)[0];
  for (int64_t i = 0; i < list->length; i++) {
    tl_slot s = list->items[i];
    char *to = array->data + (size_t)i * step;
    if (item_ndim(s) > 0) {
      if (!tl_assign_part(vm, array, to, tl_ndim(array) - 1,
                          tl_shape(array) + 1, tl_strides(array) + 1,
                          s.array)) {
        return false;
      }
    } else if (dtype == TL_STRING) {
      if (!tl_item_store(vm, array, to, s)) return false;
    } else {
      store_number(s, dtype, to);
    }
  }
  return true;
}

static tl_array *stack(tl_vm *vm, const tl_list *list, stack_kind kind) {
  int64_t shape[TL_MAX_DIMS];
  tl_slot first = list->items[0];
  int ndim = item_ndim(first);
  shape[0] = list->length;
  for (int i = 0; i < ndim; i++) shape[i + 1] = tl_shape(first.array)[i];
  tl_dtype dtype = kind == STACK_STRINGS ? TL_STRING : common_dtype(list);
  tl_array *array = tl_array_new(vm, dtype, ndim + 1, shape);
  if (array != NULL && !fill(vm, list, array)) {
    tl_drop(vm, tl_own_array(array));
    return NULL;
  }
  return array;
}

bool tl_stack_results(tl_vm *vm, tl_list *list, tl_slot *out) {
  tl_slot owned = tl_own_list(list);
  if (list->length == 0) {
    int64_t none = 0;
    tl_array *empty = tl_array_new(vm, TL_FLOAT64, 1, &none);
    tl_drop(vm, owned);
    if (empty == NULL) return false;
    *out = tl_own_array(empty);
    return true;
  }
  stack_kind kind = classify(list);
  if (kind == STACK_NOT) {
    *out = owned;
    return true;
  }
  tl_array *array = stack(vm, list, kind);
  tl_drop(vm, owned);
  if (array == NULL) return false;
  *out = tl_own_array(array);
  return true;
}
