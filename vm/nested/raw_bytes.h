// Bytes: a value of type bytes, and arrays of them.
//
// A nested array of TL_FORM_BYTES around what holds its bytes as if they were
// text: a string (one value, of no axes), an array of strings, one with missing
// values, rows of them. A string's bytes need not be UTF-8 here, so that string
// never gets out by itself. Strings are stored, moved, compared and ordered
// byte by byte, so whatever does that serves bytes too: it is opened, and what
// comes back is closed again. Strings beside bytes stand for their UTF-8, a
// vector of uint8 for its items.
#pragma once

#include "vm/nested/nested.h"

// Whether it is bytes or an array of them, in any of the ways above.
static inline bool tl_is_raw_bytes(tl_slot s) {
  return tl_is_form(s, TL_FORM_BYTES);
}
// What is inside; lent. Others are themselves.
static inline tl_slot tl_raw_bytes_inside(tl_slot s) {
  return tl_borrow(tl_is_raw_bytes(s) ? s.nested->parts[0] : s);
}

// What is a string, or has strings for items, as bytes; lists and records with
// their items so; others as they are. Takes [s] on every path; *out is owned.
bool tl_raw_bytes_close(tl_vm *vm, tl_slot *s, tl_slot *out);
// A call with its arguments opened and its result closed, as the function's row
// says it may be (builtin.h: tl_takes).
bool tl_raw_bytes_call(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                       tl_slot *args, tl_slot *out);
// Whether a call of these arguments is one that has to go that way.
bool tl_raw_bytes_given(const tl_builtin *builtin, uint32_t count,
                        const tl_slot *args);

// `bytes`(x): of strings, of a vector of uint8, of rows of uint8.
// Bytes are themselves. Fails (kind type) for others. *out is owned.
bool tl_raw_bytes_of(tl_vm *vm, tl_slot s, tl_slot *out);
// uint8(b): a vector of one value, rows of many. *out is owned.
bool tl_raw_bytes_items(tl_vm *vm, tl_slot s, tl_slot *out);

// Appends them as they are written: b"ab\xff"
void tl_raw_bytes_format(tl_text *text, const tl_string *bytes);
