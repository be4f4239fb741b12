// Nested arrays as text: what print writes, items one by one.
#include "vm/text/format_internal.h"
#include "vm/nested/indexed.h"
#include "vm/nested/raw_bytes.h"

enum { EDGE = 3 };  // items shown at each end of an axis that is elided

// Writes item [i] of the leading axis, arrays in it of at most [limit] items.
static bool format_at(tl_text *text, tl_slot s, int64_t i, int64_t limit) {
  tl_slot item;
  return tl_nested_at(text->vm, s, i, &item) &&
         tl_drop_after(text->vm,
                       tl_format_value(text->vm, text, item, true, limit),
                       &item);
}

// Recursion as deep as types nest, which the parser and the axes bound.
//
//  rows          [[1, none], [3]]
//  structs       [(a: 1, b: "x"), …]        items as print writes them alone
//  one pointer   1.5                        its value, without a sign of it
//  bytes         b"\x00ab"
//
// False after tl_fail, or where the text has failed; what was written until
// then is no use.
bool tl_nested_format(tl_text *text, tl_slot s, int64_t limit) {
  tl_vm *vm = text->vm;
  if (tl_is_raw_bytes(s) && tl_is_string(s.nested->parts[0])) {
    tl_raw_bytes_format(text, s.nested->parts[0].string);
    return !text->failed;
  }
  if (tl_value_ndim(s) == 0) {  // one pointer
    tl_slot value;
    return tl_indexed_values(vm, s, &value) &&
           tl_drop_after(vm, tl_format_value(vm, text, value, true, limit),
                         &value);
  }
  int64_t length = tl_value_length(s, 0);
  bool elided = limit > 0 && tl_nested_size(s.nested) > limit;
  tl_text_putc(text, '[');
  for (int64_t i = 0; i < length; i++) {
    if (i > 0)
      tl_text_puts(text, ", ");
    if (elided && length > 2 * EDGE && i == EDGE) {
      tl_text_puts(text, "…, ");
      i = length - EDGE;
    }
    if (!format_at(text, s, i, limit) || !tl_poll_at(vm, i))
      return false;
  }
  tl_text_putc(text, ']');
  return !text->failed;
}
