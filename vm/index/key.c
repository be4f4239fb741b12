// What may be the key of a record, and what an error says of the rest. The
// rules are those of vm/values/key.h, which has no words for errors, as it lies
// below the layer that describes values.

#include "vm/index/select.h"
#include "vm/values/key.h"

// The error of a value that is no key, with what to write in its place.
static bool fail_kind(tl_vm *vm, tl_slot s) {
  const char *hint = "";
  if (tl_dtype_of(s) == TL_UINT64)
    hint = " beyond int64: \"{x}\" is its text";
  else if (tl_is_scalar(s))
    hint = ": int(x) makes an integer, \"{x}\" a string";
  else if (tl_is_array(s) || tl_is_range(s))
    hint = ": (v for v in x) makes a list";
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "a key of a record is a string, an integer, a bool or a list "
                 "of such: got %s%s",
                 tl_described(vm, s), hint);
}

// The value or item at fault is named, with its type.
bool tl_key_check(tl_vm *vm, tl_slot s) {
  tl_slot wrong;
  switch (tl_key_fault_of(s, &wrong)) {
    case TL_KEY_FINE:
      return !tl_is_string(s) || tl_poll_text(vm, s.string->length);
    case TL_KEY_OTHER:
      return fail_kind(vm, wrong);
    case TL_KEY_DEEP:
      return tl_fail(vm, TALLY_ERR_LIMIT,
                     "a list that is a key nests at most %d deep",
                     TL_KEY_DEPTH);
    default:
      return tl_fail(vm, TALLY_ERR_LIMIT,
                     "a list that is a key has at most %d items, and of texts "
                     "%d bytes",
                     TL_KEY_ITEMS, TL_KEY_ITEMS * TL_LONG_TEXT);
  }
}
