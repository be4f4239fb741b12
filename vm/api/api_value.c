// tally.h: scalars, strings, lists and records in and out. Arrays are in
// api_array.c, handles in handles.c.
//
// Reading a value borrows it from its handle; making one gives the host a
// handle of its own. Items and fields that the host marks by tally_take move,
// others are counted.

#include "vm/api/api.h"
#include "vm/engine/engine.h"
#include "vm/text/format.h"
#include "vm/values/list.h"
#include "vm/array/range.h"
#include "vm/values/record.h"
#include "vm/nested/indexed.h"
#include "vm/nested/raw_bytes.h"

// --- From C -----------------------------------------------------------------

// Gives a scalar, which stands in the handle itself; fails only where [out] is
// NULL.
static inline tally_status give_plain(tl_vm *vm, tl_slot value,
                                      tally_value *out) {
  TL_ENTER(vm);
  if (out == NULL)
    return tl_give(vm, value, out);
  *out = tl_plain_value(value);
  return TALLY_OK;
}

// The functions of scalars make no object: the value is in the handle, which
// needs no release.
tally_status tally_from_none(tally_vm *vm, tally_value *out) {
  return give_plain(vm, tl_none(), out);
}

tally_status tally_from_bool(tally_vm *vm, int b, tally_value *out) {
  return give_plain(vm, tl_bool(b != 0), out);
}

// Weak, as a literal is: beside float32 it becomes float32.
tally_status tally_from_int(tally_vm *vm, int64_t i, tally_value *out) {
  return give_plain(vm, tl_weak_int(i), out);
}

tally_status tally_from_float(tally_vm *vm, double f, tally_value *out) {
  return give_plain(vm, tl_weak_float(f), out);
}

// complex128 does not fit a slot, so it needs memory.
tally_status tally_from_complex(tally_vm *vm, double re, double im,
                                tally_value *out) {
  TL_ENTER(vm);
  tl_slot value = tl_new_complex(vm, re, im, true);
  return tl_is_unset(value) ? tl_report(vm) : tl_give(vm, value, out);
}

// Strings of scripts are UTF-8 throughout, and nothing checks them later.
bool tl_check_host_text(tl_vm *vm, const char *text, size_t nbytes) {
  size_t at;
  if (!tl_given(vm, text, "a text"))
    return false;
  if (tl_utf8_check(text, nbytes, &at))
    return true;
  return tl_fail(vm, TALLY_ERR_VALUE,
                 "text from the host is not UTF-8: the byte at offset %zu is "
                 "wrong",
                 at);
}

// NULL of 0 bytes is an empty string.
tally_status tally_from_string(tally_vm *vm, const char *text, size_t nbytes,
                               tally_value *out) {
  TL_ENTER(vm);
  if (text == NULL && nbytes == 0)
    text = "";
  if (!tl_check_host_text(vm, text, nbytes))
    return tl_report(vm);
  tl_string *string = tl_string_new(vm, text, nbytes);
  return string == NULL ? tl_report(vm)
                        : tl_give(vm, tl_own_string(string), out);
}

// Items marked by tally_take move into the list, others are counted. On failure
// all that were marked are released.
tally_status tally_from_list(tally_vm *vm, size_t count,
                             const tally_value *items, tally_value *out) {
  TL_ENTER(vm);
  if (count > 0 && !tl_given(vm, items, "the items"))
    return tl_report(vm);
  // The handles themselves could not be in memory, so none is looked at.
  if (count > PTRDIFF_MAX / sizeof(tl_slot)) {
    tl_fail_memory(vm, count, "a list");  // so many items there cannot be
    return tl_report(vm);
  }
  tl_list *list = tl_list_new(vm, (int64_t)count);
  tl_slot item, made;
  size_t i = 0;
  for (; list != NULL && i < count; i++) {
    if (!tl_handle_argument(vm, items[i], &item))
      break;
    list->items[list->length++] = tl_escape(vm, &item, TL_CAUSE_ITEM);
  }
  // Those that were read are in the list, which is dropped with them.
  bool ok = list != NULL && i == count;
  if (!ok)
    tl_handles_abandon(vm, count - i, items + i);
  return tl_list_give(vm, list, ok, &made) ? tl_give(vm, made, out)
                                           : tl_report(vm);
}

// Sets a field of a record that is made from handles; the handle is released on
// failure, if marked.
// The key is copied, the value moves or is counted.
static bool set_field(tl_vm *vm, tl_record **record, const char *key,
                      tally_value value) {
  tl_slot s;
  if (!tl_given(vm, key, "a key") ||
      !tl_check_host_text(vm, key, strlen(key)) ||
      !tl_handle_argument(vm, value, &s)) {
    tl_handles_abandon(vm, 1, &value);
    return false;
  }
  return tl_drop_after(vm, tl_record_set_name(vm, record, key, &s), &s);
}

// As tally_from_list; equal keys set one field, the last value wins.
tally_status tally_from_record(tally_vm *vm, size_t count,
                               const char *const *keys,
                               const tally_value *values, tally_value *out) {
  TL_ENTER(vm);
  if (count > 0 && !tl_given(vm, values, "the values"))
    return tl_report(vm);
  // So many handles could not be in memory, so none is looked at.
  if (count > PTRDIFF_MAX / sizeof(tally_value)) {
    tl_fail_memory(vm, count, "a record");
    return tl_report(vm);
  }
  tl_record *record = NULL;
  if (count > INT32_MAX)
    tl_fail_memory(vm, count, "a record");
  else if (count == 0 || tl_given(vm, keys, "the keys"))
    record = tl_record_new(vm, (int64_t)count);
  tl_slot made;
  size_t i = 0;
  bool ok = record != NULL;
  for (; ok && i < count; i++) ok = set_field(vm, &record, keys[i], values[i]);
  if (!ok)
    tl_handles_abandon(vm, count - i, values + i);
  return tl_record_give(vm, record, ok, &made) ? tl_give(vm, made, out)
                                               : tl_report(vm);
}

// --- To C -------------------------------------------------------------------
// What each takes; every other value fails (kind type):
//
//     tally_to_bool       a bool
//     tally_to_int        an integer of any dtype that int64 holds
//     tally_to_float      an integer or a float, of any dtype
//     tally_to_complex    one of these, or a complex number
//     tally_to_string     a string

// Kind type: "the host asks for an array, and the value is string".
tally_status tl_report_wrong_type(tl_vm *vm, const char *wanted, tl_slot got) {
  return tl_report_fail(vm, TALLY_ERR_TYPE,
                        "the host asks for %s, and the value is %s", wanted,
                        tl_described(vm, got));
}

// As tl_asked; a single pointer is the number that it refers to.
static bool asked_number(tl_vm *vm, tally_value v, const void *out,
                         tl_slot *s) {
  return tl_asked(vm, v, out, s) && tl_single_number(vm, s);
}

// Numbers are no bools, here as in scripts.
tally_status tally_to_bool(tally_vm *vm, tally_value v, int *out) {
  TL_ENTER(vm);
  tl_slot s;
  if (!asked_number(vm, v, out, &s))
    return tl_report(vm);
  if (!tl_is_bool(s))
    return tl_report_wrong_type(vm, "a bool", s);
  *out = (int)s.i;
  return TALLY_OK;
}

// Any integer that int64 holds.
tally_status tally_to_int(tally_vm *vm, tally_value v, int64_t *out) {
  TL_ENTER(vm);
  tl_slot s;
  if (!asked_number(vm, v, out, &s))
    return tl_report(vm);
  if (!tl_is_scalar(s) || !tl_dtype_is_integer((tl_dtype)tl_dtype_of(s)))
    return tl_report_wrong_type(vm, "an integer", s);
  // No silent change of sign.
  if (tl_dtype_of(s) == TL_UINT64 && s.u > INT64_MAX)
    return tl_report_wrong_type(vm, "an int64", s);
  *out = s.i;
  return TALLY_OK;
}

// Any number, by way of a cast.
// Fails (kind type) for bools, as in scripts.
tally_status tally_to_complex(tally_vm *vm, tally_value v, double *re,
                              double *im) {
  TL_ENTER(vm);
  tl_slot s, wide;
  if (!tl_given(vm, re, "the place for the result") ||
      !asked_number(vm, v, im, &s))
    return tl_report(vm);
  if (!tl_is_number(s) || tl_is_bool(s))
    return tl_report_wrong_type(vm, "a number", s);
  if (!tl_cast(vm, &s, TL_COMPLEX128, &wide))
    return tl_report(vm);
  const tl_c128 *z = (const tl_c128 *)(const void *)wide.array->data;
  *re = z->re;
  *im = z->im;
  tl_drop(vm, wide);
  return TALLY_OK;
}

// The usual handle, a float64 in itself, is read without any call.
// Fails (kind type) for bools, complex numbers and arrays of rank above 0.
tally_status tally_to_float(tally_vm *vm, tally_value v, double *out) {
  TL_ENTER(vm);
  tl_slot s;
  // A float64 in the handle itself.
  if ((v.handle & ~TL_WEAK) == (TL_PLAIN | TL_TAG_F64) && out != NULL) {
    memcpy(out, &v.check, sizeof *out);
    return TALLY_OK;
  }
  if (!asked_number(vm, v, out, &s))
    return tl_report(vm);
  switch (tl_is_scalar(s) ? tl_dtypes[tl_dtype_of(s)].kind : 0) {
    case 'F':
      *out = tl_dtype_of(s) == TL_FLOAT64 ? s.f : (double)s.f32;
      return TALLY_OK;
    case 'I':
      *out = (double)s.i;
      return TALLY_OK;
    case 'U':
      *out = (double)s.u;
      return TALLY_OK;
    default:
      return tl_report_wrong_type(vm, "a real number", s);
  }
}

// The text is the string's own: valid as long as the host holds the value.
tally_status tally_to_string(tally_vm *vm, tally_value v, const char **text,
                             size_t *nbytes) {
  TL_ENTER(vm);
  tl_slot s;
  if (!tl_given(vm, text, "the place for the result") ||
      !tl_handle_get(vm, v, &s))
    return tl_report(vm);
  if (!tl_is_string(s))
    return tl_report_wrong_type(vm, "a string", s);
  *text = s.string->text;
  if (nbytes != NULL)
    *nbytes = s.string->length;
  return TALLY_OK;
}

// The whole type of a nested array, which may name many fields and categories;
// NULL: there is no memory for it.
static const char *nested_type(tl_vm *vm, tl_slot s) {
  const tl_type *type = tl_type_of(vm, s);
  tl_string *text = type != NULL ? tl_type_text(vm, type) : NULL;
  if (text == NULL) {
    tl_error_clear(vm);
    return NULL;
  }
  tl_drop(vm, vm->type_string);
  vm->type_string = tl_own_string(text);
  return text->text;
}

// Never fails: a released handle is "released".
// The text is overwritten by the next call.
const char *tally_type(tally_vm *vm, tally_value v) {
  tl_slot s;
  if (!tl_enter(vm))
    return "released";
  if (!tl_handle_get(vm, v, &s)) {
    tl_error_clear(vm);
    return "released";
  }
  const char *whole = tl_is_nested(s) ? nested_type(vm, s) : NULL;
  return whole != NULL ? whole
                       : tl_describe(s, vm->type_text, sizeof vm->type_text);
}

// The text as print shows it.
tally_status tally_format(tally_vm *vm, tally_value v, tally_value *out) {
  TL_ENTER(vm);
  tl_slot s;
  if (!tl_asked(vm, v, out, &s))
    return tl_report(vm);
  tl_text text;
  tl_text_open(&text, vm);
  if (!tl_format_value(vm, &text, s, false, 0)) {
    tl_text_close(&text);
    return tl_report(vm);
  }
  return tl_give_text(vm, &text, out);
}

// 0 for everything without items; of a string the bytes.
size_t tally_length(tally_vm *vm, tally_value v) {
  tl_slot s;
  if (!tl_enter(vm))
    return 0;
  if (!tl_handle_get(vm, v, &s)) {
    tl_error_clear(vm);
    return 0;
  }
  if (tl_is_list(s))
    return (size_t)s.list->length;
  if (tl_is_record(s))
    return (size_t)s.record->length;
  if (tl_is_string(s))
    return s.string->length;
  if (tl_is_range(s))
    return (size_t)s.range->length;
  // Bytes by themselves have no axis, and are as long as their text.
  if (tl_is_raw_bytes(s) ||
      ((tl_is_array(s) || tl_is_nested(s)) && tl_value_ndim(s) > 0))
    return (size_t)tl_value_length(s, 0);
  return 0;
}

// Items by index; of a record the values of fields in order.
// Fails (kind index) beyond the items, (kind type) for what has none.
tally_status tally_item(tally_vm *vm, tally_value v, size_t index,
                        tally_value *out) {
  TL_ENTER(vm);
  static const tl_index_item one = {TL_ITEM_VALUE, 0};
  static const tl_step step = {.item_count = 1, .items = &one};
  // What is too large for an index is beyond all items, not one from the end.
  tl_slot s, item;
  tl_slot at = tl_weak_int(index < INT64_MAX ? (int64_t)index : INT64_MAX);
  if (!tl_asked(vm, v, out, &s))
    return tl_report(vm);
  if (tl_is_record(s)) {
    // Fields of a record count from 0, in their order.
    if (index >= (size_t)s.record->length)
      return tl_report_fail(vm, TALLY_ERR_INDEX,
                            "field %zu is out of range for a record of %lld",
                            index, (long long)s.record->length);
    return tl_give(vm, tl_borrow(s.record->fields[index].value), out);
  }
  if (!tl_index_get(vm, &s, &step, &at, &item))
    return tl_report(vm);
  return tl_give(vm, item, out);
}

// As x.name in the language, so that attributes such as shape work, too.
// Fails (kind name, index) for a field that there is not.
tally_status tally_field(tally_vm *vm, tally_value v, const char *key,
                         tally_value *out) {
  TL_ENTER(vm);
  tl_slot s, item;
  if (!tl_asked(vm, v, out, &s))
    return tl_report(vm);
  if (!tl_given(vm, key, "the key") ||
      !tl_check_host_text(vm, key, strlen(key)))
    return tl_report(vm);
  // The language's fields are named by strings.
  tl_string *name = tl_string_from(vm, key);
  if (name == NULL)
    return tl_report(vm);
  bool ok = tl_field_get(vm, &s, name, &item);
  tl_drop(vm, tl_own_string(name));
  return ok ? tl_give(vm, item, out) : tl_report(vm);
}
