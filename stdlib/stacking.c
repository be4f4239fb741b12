// Results of many calls as one array: see stacking.h.
//
//   1, 2, 3             [1, 2, 3]
//   [1, 2], [3, 4]      2 * 2
//   [1, 2], [3]         rows where [nested], else the list of both
//   1, "a"              the list of both

#include "stdlib/stacking.h"

#include "vm/array/array.h"
#include "vm/nested/nested_join.h"
#include "vm/array/stack.h"
#include "vm/vm.h"

// Of no results, which have no type: float64, as [] is.
static bool empty_array(tl_vm *vm, tl_slot *out) {
  int64_t none = 0;
  return tl_array_finish(vm, true, tl_array_new(vm, TL_FLOAT64, 1, &none), out);
}

// Results that do not stack are no error: the list is the result then. An error
// of another kind, such as lack of memory, remains one.
bool tl_stack_results(tl_vm *vm, tl_list *list, bool nested, tl_slot *out) {
  tl_slot owned = tl_own_list(list);
  bool ok = list->length == 0 ? empty_array(vm, out)
            : nested          ? tl_stack_any(vm, list->length, list->items, out)
                              : tl_stack(vm, list->length, list->items, out);
  if (!ok && (vm->error.status == TALLY_ERR_TYPE ||
              vm->error.status == TALLY_ERR_SHAPE)) {
    tl_error_clear(vm);
    *out = owned;
    return true;
  }
  tl_drop(vm, owned);
  return ok;
}
