// Text inside structs. See text_items.h.
//
//   fixed_string[8]   "naïve"   6e 61 c3 af 76 65 00 00
//   char              "é"       e9 00 00 00, as the machine has an int32
#include "vm/nested/text_items.h"

#include <inttypes.h>
#include <utf8proc.h>

#include "vm/engine/lane.h"
#include "vm/index/select.h"
#include "vm/array/string_item.h"
#include "vm/suggest.h"

// Bytes of a foreign block need not be text (kind value). Returns false.
static bool fail_bytes(tl_vm *vm, const tl_type *type) {
  tl_string *text = tl_type_text(vm, type);
  if (text == NULL)
    return false;
  tl_fail(vm, TALLY_ERR_VALUE, "an item of type %s does not hold UTF-8 text",
          text->text);
  tl_drop(vm, tl_own_string(text));
  return false;
}

// A char is a code point in 4 bytes; 0 is no text. It is read by memcpy as it
// may lie anywhere in a struct.
static bool read_char(tl_vm *vm, const tl_type *type, const char *item,
                      tl_string_item *out) {
  utf8proc_uint8_t bytes[4];
  int32_t point;
  memcpy(&point, item, sizeof point);
  if (point == 0)
    return tl_string_item_set(vm, out, "", 0);
  if (point < 0 || !utf8proc_codepoint_valid(point))
    return fail_bytes(vm, type);
  size_t n = (size_t)utf8proc_encode_char(point, bytes);
  return tl_string_item_set(vm, out, (const char *)bytes, n);
}

// A fixed_string that fills all its bytes has no zero at the end.
static bool read_item(tl_vm *vm, const tl_type *type, const char *item,
                      tl_string_item *out) {
  if (type->kind == TL_TYPE_CHAR)
    return read_char(vm, type, item, out);
  const char *end = memchr(item, 0, (size_t)type->size);
  size_t at, n = end != NULL ? (size_t)(end - item) : (size_t)type->size;
  return tl_utf8_check(item, n, &at) ? tl_string_item_set(vm, out, item, n)
                                     : fail_bytes(vm, type);
}

// Strides are the block's, any, so a counter walks the items one by one; it
// polls every 65536 of them.
bool tl_text_items_show(tl_vm *vm, const tl_type *type, char *data, int ndim,
                        const int64_t *shape, const int64_t *strides,
                        tl_slot *out) {
  tl_array *a = tl_array_new(vm, TL_STRING, ndim, shape);
  if (a == NULL)
    return false;
  tl_string_item *to = tl_string_items(a);
  tl_counter counter;
  tl_counter_begin(&counter, ndim, shape, strides, data);
  bool ok = true;
  for (int64_t i = 0; ok && !counter.done; tl_counter_next(&counter), i++)
    ok = read_item(vm, type, counter.at, &to[i]) &&
         ((i & 0xffff) != 0xffff || tl_poll(vm, 64));
  return tl_result_finish(vm, ok, a, out);
}

// The one code point of a text, 0 for none; -1: there are more.
static int32_t only_point(const char *text, size_t nbytes) {
  utf8proc_int32_t point = 0;
  if (nbytes == 0)
    return 0;
  utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)text,
                                        (utf8proc_ssize_t)nbytes, &point);
  return n == (utf8proc_ssize_t)nbytes ? point : -1;
}

// Whether a text fits an item: one code point for a char; for a fixed_string at
// most its bytes, none of them zero, which would cut it when it is read.
static bool check_item(tl_vm *vm, const tl_type *type, const char *text,
                       size_t nbytes) {
  int clip = tl_clip(text, nbytes, 60);
  if (type->kind == TL_TYPE_CHAR)
    return only_point(text, nbytes) >= 0 ||
           tl_fail(vm, TALLY_ERR_VALUE,
                   "\"%.*s\" is no char: that is one code point", clip, text);
  if (nbytes > (size_t)type->size)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "\"%.*s\" has %zu bytes, more than a fixed_string[%" PRId64
                   "] holds",
                   clip, text, nbytes, type->size);
  return memchr(text, 0, nbytes) == NULL ||
         tl_fail(vm, TALLY_ERR_VALUE,
                 "\"%.*s\" contains a zero character, which ends a "
                 "fixed_string",
                 clip, text);
}

// Zeros behind the text, so that equal texts are equal bytes.
static void write_item(const tl_type *type, const char *text, size_t nbytes,
                       char *item) {
  if (type->kind == TL_TYPE_CHAR) {
    int32_t point = only_point(text, nbytes);
    memcpy(item, &point, sizeof point);
    return;
  }
  memset(item, 0, (size_t)type->size);
  memcpy(item, text, nbytes);
}

// Two passes over strings of the target's shape: all are checked before the
// first is written.
bool tl_text_items_fill(tl_vm *vm, const tl_type *type, char *data, int ndim,
                        const int64_t *shape, const int64_t *strides,
                        tl_slot value) {
  tl_array *texts = tl_array_new(vm, TL_STRING, ndim, shape);
  if (texts == NULL)
    return false;
  bool ok = ndim > 0 ? tl_array_store_all(vm, texts, value)
                     : tl_item_store(vm, texts, texts->data, value);
  const tl_string_item *from = tl_string_items(texts);
  for (int64_t i = 0; ok && i < texts->size; i++)
    ok = check_item(vm, type, tl_string_item_text(&from[i]),
                    tl_string_item_length(&from[i]));
  tl_counter counter;
  if (ok)
    tl_counter_begin(&counter, ndim, shape, strides, data);
  for (int64_t i = 0; ok && !counter.done; tl_counter_next(&counter), i++)
    write_item(type, tl_string_item_text(&from[i]),
               tl_string_item_length(&from[i]), data + (counter.at - data));
  tl_drop(vm, tl_own_array(texts));
  return ok;
}
