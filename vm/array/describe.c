// What values are, as text for messages, and the messages about arguments and
// operands that need it.
//
// A message names dtype and shape, never the items, so that it has a bounded
// length:
//
//   3 * 4 * float32      an array       list, record, none    by kind
//   int64                a scalar       the type float64      an argument
//
// Built for size.

#include "vm/array/describe.h"

#include <math.h>
#include <stdio.h>

#include "vm/host.h"
#include "vm/array/array.h"
#include "vm/array/nested.h"
#include "vm/vm.h"

// Nested arrays describe themselves; resources have the name of their type;
// other values that of their kind.
const char *tl_describe(tl_slot s, char *buffer, size_t size) {
  if (tl_is_nested(s)) {
    tl_nested_describe(s.nested, buffer, size);
    return buffer;
  }
  if (!tl_is_array(s)) {
    const char *name = tl_is_scalar(s) ? tl_dtypes[tl_dtype_of(s)].name
                       : tl_is_resource(s)
                           ? ((const tl_resource *)s.pointer)->type->name
                           : tl_kind_name(tl_dtype_of(s));
    snprintf(buffer, size, "%s", name);
    return buffer;
  }
  const tl_array *a = s.array;
  const char *name = tl_dtypes[a->head.dtype].name;
  size_t at = 0;
  buffer[0] = 0;
  for (int i = 0; i < tl_ndim(a); i++) {
    // Room for a dimension, the mark of omission and the longest dtype.
    if (at + 24 + 8 + strlen(name) >= size) {
      at += (size_t)snprintf(buffer + at, size - at, "... * ");
      break;
    }
    at += (size_t)snprintf(buffer + at, size - at, "%lld * ",
                           (long long)tl_shape(a)[i]);
  }
  snprintf(buffer + at, size - at, "%s", name);
  return buffer;
}

const char *tl_described(tl_vm *vm, tl_slot s) {
  vm->next_described = (vm->next_described + 1) % TL_DESCRIPTIONS;
  return tl_describe(s, vm->described[vm->next_described], TL_DESCRIBE);
}

const char *tl_described_type(tl_vm *vm, const tl_type *type) {
  tl_text text;
  vm->next_described = (vm->next_described + 1) % TL_DESCRIPTIONS;
  tl_text_within(&text, vm->described[vm->next_described], TL_DESCRIBE);
  tl_type_write(&text, type);
  text.bytes[text.length] = 0;
  return text.bytes;
}

// Unsigned integers alone may lie beyond int64; all others stand in the slot
// extended to 64 bits. The sign of a NaN is that of whichever operand the
// processor took it from, and is no part of any text.
const char *tl_number_text(tl_slot s, char text[TL_NUMBER_TEXT]) {
  char kind = tl_dtypes[tl_dtype_of(s)].kind;
  double f = tl_dtype_of(s) == TL_FLOAT64 ? s.f : (double)s.f32;
  if (kind == 'F')
    snprintf(text, TL_NUMBER_TEXT, "%.17g", isnan(f) ? NAN : f);
  else if (kind == 'U')
    snprintf(text, TL_NUMBER_TEXT, "%llu", (unsigned long long)s.u);
  else
    snprintf(text, TL_NUMBER_TEXT, "%lld", (long long)s.i);
  return text;
}

// Names an argument: a type by its text, other values by their kind.
static const char *describe_argument(tl_vm *vm, tl_slot s, char *buffer,
                                     size_t size) {
  if (!tl_is_type(s))
    return tl_describe(s, buffer, size);
  snprintf(buffer, size, "the type %s", tl_described_type(vm, s.type));
  return buffer;
}

// The first error stays: a function that fails while it reports another
// failure must not hide it.
bool tl_arg_fail(tl_vm *vm, const char *function, const char *name,
                 const char *expected, tl_slot s) {
  tl_pending_error *error = &vm->error;
  if (error->set)
    return false;
  char what[TL_DESCRIBE];
  // The interpreter finds the parameter that got the value, and puts its name
  // in place of the first refused_size bytes of the name.
  error->refused_known = name == NULL;
  if (name == NULL)
    name = TL_UNKNOWN_ARGUMENT;
  tl_fail(vm, TALLY_ERR_TYPE, "%s: %s must be %s, not %s%s", function, name,
          expected, describe_argument(vm, s, what, sizeof what),
          tl_plain_hint(s));
  error->refused = s;
  error->refused_size = strlen(name);
  return false;
}

// A row of an array is no value that the script wrote; the message names the
// whole array instead.
void tl_fail_whole(tl_vm *vm, tl_slot part, tl_slot whole) {
  tl_pending_error *error = &vm->error;
  if (error->message_size == 0 || error->status != TALLY_ERR_TYPE)
    return;
  const char *what = tl_described(vm, part);
  size_t length = strlen(error->message), tail = strlen(what);
  // The message is of another kind where it does not end with the part.
  if (length < tail || strcmp(error->message + length - tail, what) != 0)
    return;
  error->message[length - tail] = '\0';
  tl_put_message(vm, error->message, tl_described(vm, whole), "");
}

// The interpreter has the source text of the operands, this function their
// types; together they make the lines below the message.
void tl_fail_operands(tl_vm *vm, tl_slot left, tl_slot right) {
  tl_pending_error *error = &vm->error;
  tl_describe(left, error->left, sizeof error->left);
  tl_describe(right, error->right, sizeof error->right);
}

// A dtype in quotes is a common mistake, so the message says how to write it.
bool tl_dtype_argument(tl_vm *vm, const char *function, tl_slot s,
                       tl_dtype *out) {
  if (tl_is_type(s) && s.type->kind == TL_TYPE_DTYPE) {
    *out = s.type->dtype;
    return true;
  }
  char expected[TL_DESCRIBE] = "a type such as float64";
  if (tl_is_string(s) &&
      tl_dtype_find(s.string->text, s.string->length) != TL_DTYPE_COUNT)
    snprintf(expected, sizeof expected, "%s without quotes", s.string->text);
  // int and float convert, and are no types.
  const char *name = tl_is_kind(s, TL_KIND_BUILTIN)
                         ? ((const tl_builtin *)s.pointer)->name
                         : "";
  if (strcmp(name, "int") == 0 || strcmp(name, "float") == 0)
    snprintf(expected, sizeof expected, "%s64 (%s converts numbers)", name,
             name);
  return tl_arg_fail(vm, function, "dtype", expected, s);
}
