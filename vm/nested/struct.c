// Struct arrays: their fields as views, records as items, and back.
//
//   layout {a: int8, p: 3 * float32}      offsets 0 4, 16 bytes
//
//   block   5 * 16 * uint8   │a···pppp pppp pppp│a···pppp pppp pppp│ …
//   .p      5 * 3 * float32  data + 4, strides 16 4: a view
//   [2]     (a: 1, p: […])   a record, with copies: it does not need the block
//   .p = v                   checked, then written through the same region
#include "vm/array/reuse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <utf8proc.h>

#include "vm/array/string_item.h"
#include "vm/engine/lane.h"
#include "vm/index/select.h"
#include "vm/nested/nested.h"
#include "vm/suggest.h"
#include "vm/types/layout.h"
#include "vm/values/list.h"
#include "vm/values/record.h"

// --- Text inside structs ----------------------------------------------------

// Text inside structs: fixed_string[n] and char, as a C struct has them.
//
//   fixed_string[8]   "naïve"   6e 61 c3 af 76 65 00 00
//   char              "é"       e9 00 00 00, as the machine has an int32

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

// The items at [data] as an array of strings, or as one string where there is
// no axis: copies. A fixed_string ends at its first zero byte. Fails (kind
// value) where the bytes are no text.
// Strides are the block's, any, so a counter walks the items one by one; it
// polls every 65536 of them.
static bool text_items_show(tl_vm *vm, const tl_type *type, char *data,
                            int ndim, const int64_t *shape,
                            const int64_t *strides, tl_slot *out) {
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

// Writes a string, or an array of them that broadcasts, over the items; zeros
// behind. Fails before the first write (kind value) for text that does not fit.
// Two passes over strings of the target's shape: all are checked before the
// first is written.
static bool text_items_fill(tl_vm *vm, const tl_type *type, char *data,
                            int ndim, const int64_t *shape,
                            const int64_t *strides, tl_slot value) {
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

// --- Geometry ---------------------------------------------------------------

// Part of each item of a block: its axes are the block's but for the last,
// then the fixed dimensions of the type.
typedef struct region {
  char *data;
  const tl_type *item;  // what is left below the fixed dimensions
  int ndim;
  int64_t shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];
} region;

// For a block of 5 * 24 * uint8 and a field 3 * float32 at offset 8: data 8
// bytes behind the block's, shape 5 3, strides 24 4. Fails (kind shape) where
// the type's dimensions leave no axis free for an item's bytes.
static bool find_region(tl_vm *vm, const tl_array *bytes, int64_t offset,
                        const tl_type *type, region *out) {
  out->data = bytes->data + offset * tl_strides(bytes)[tl_ndim(bytes) - 1];
  out->ndim = tl_ndim(bytes) - 1;
  for (int i = 0; i < out->ndim; i++) {
    out->shape[i] = tl_shape(bytes)[i];
    out->strides[i] = tl_strides(bytes)[i];
  }
  for (; type->kind == TL_TYPE_FIXED; type = type->of) {
    // One axis is kept for an item's bytes.
    if (out->ndim == TL_MAX_DIMS - 1)
      return tl_fail_dims(vm, "an array has at most");
    out->shape[out->ndim] = type->size;
    out->strides[out->ndim++] = tl_type_size(type->of);
  }
  out->item = type;
  return true;
}

// The bits of the address and of all strides at once: a multiple of the
// alignment, which is a power of two, has none below it.
static bool is_aligned(const region *r) {
  uint64_t align = (uint64_t)tl_type_align(r->item), bits;
  bits = (uint64_t)(uintptr_t)r->data;
  for (int i = 0; i < r->ndim; i++)
    if (r->shape[i] > 1)
      bits |= (uint64_t)r->strides[i];
  return (bits & (align - 1)) == 0;
}

// The region as bytes: one axis more.
static tl_array *region_bytes(tl_vm *vm, tl_slot bytes, region *r) {
  tl_slot base = tl_borrow(bytes);
  r->shape[r->ndim] = tl_type_size(r->item);
  r->strides[r->ndim] = 1;
  return tl_view_new(vm, &base, TL_UINT8, r->data, r->ndim + 1, r->shape,
                     r->strides);
}

// --- Items ------------------------------------------------------------------

// The item takes the values one after the other; those that it did not come to
// stay the caller's.
bool tl_struct_item(tl_vm *vm, const tl_type *type, tl_slot *values,
                    tl_slot *out) {
  bool tuple = type->kind == TL_TYPE_TUPLE;
  tl_list *list = tuple ? tl_list_new(vm, type->field_count) : NULL;
  tl_record *record = tuple ? NULL : tl_record_new(vm, type->field_count);
  bool ok = list != NULL || record != NULL;
  for (int64_t i = 0; ok && i < type->field_count; i++)
    ok = tuple ? tl_list_push(vm, &list, &values[i])
               : tl_record_set(vm, &record, type->fields[i].name, &values[i]);
  return tuple ? tl_list_give(vm, list, ok, out)
               : tl_record_give(vm, record, ok, out);
}

// --- Showing ----------------------------------------------------------------

// Items that cannot be read where they lie: copied, then seen as their dtype.
static bool show_unaligned(tl_vm *vm, tl_slot bytes, region *r, tl_slot *out) {
  tl_array *view = region_bytes(vm, bytes, r);
  tl_dtype dtype = r->item->dtype;
  tl_slot base;
  bool ok = view != NULL && tl_array_give(tl_array_copy(vm, view), &base);
  tl_array_drop(vm, view);
  tl_shape_strides(r->ndim, r->shape, tl_itemsize(dtype), r->strides);
  return ok && tl_drop_after(
                   vm,
                   tl_array_give(tl_view_new(vm, &base, dtype, base.array->data,
                                             r->ndim, r->shape, r->strides),
                                 out),
                   &base);
}

// The one place where numbers come out of a block: a single one by value, as
// its address may not be aligned, several as a view.
static bool show_dtype(tl_vm *vm, tl_slot bytes, region *r, tl_slot *out) {
  if (r->ndim == 0) {
    tl_c128 item;
    tl_dtype dtype = r->item->dtype;
    memcpy(&item, r->data, tl_itemsize(dtype));
    if (dtype != TL_COMPLEX128) {
      *out = tl_scalar_load(dtype, &item);
      return true;
    }
    *out = tl_new_complex(vm, item.re, item.im, false);
    return !tl_is_unset(*out);
  }
  if (!is_aligned(r))
    return show_unaligned(vm, bytes, r, out);
  tl_slot base = tl_borrow(bytes);
  return tl_array_give(tl_view_new(vm, &base, r->item->dtype, r->data, r->ndim,
                                   r->shape, r->strides),
                       out);
}

// Field i of one item. Arrays are copies: they do not hold the block.
static bool show_field(tl_vm *vm, tl_slot bytes, const tl_type *layout,
                       int64_t i, tl_slot *out) {
  if (!tl_struct_show(vm, bytes, layout->offsets[i], layout->fields[i].type,
                      out))
    return false;
  tl_slot view = *out;
  return !tl_is_array(view) || !tl_is_view(view.array) ||
         tl_drop_after(vm, tl_array_give(tl_array_copy(vm, view.array), out),
                       &view);
}

// A record of one item, or of a tuple a list.
static bool show_record(tl_vm *vm, tl_slot bytes, const tl_type *layout,
                        tl_slot *out) {
  tl_slot *values = tl_slots_new(vm, layout->field_count);
  int64_t made = 0;
  bool ok = values != NULL;
  for (; ok && made < layout->field_count; made += ok)
    ok = show_field(vm, bytes, layout, made, &values[made]);
  return tl_slots_free_after(vm, ok && tl_struct_item(vm, layout, values, out),
                             values, made);
}

// Structs within structs are views of the same block, with its strides.
static bool show_struct(tl_vm *vm, tl_slot bytes, region *r, tl_slot *out) {
  tl_array *view = region_bytes(vm, bytes, r);
  if (view == NULL)
    return false;
  tl_slot part = tl_own_array(view);
  tl_type *layout = (tl_type *)r->item;
  return r->ndim == 0
             ? tl_drop_after(vm, show_record(vm, part, layout, out), &part)
             : tl_struct_of_block(vm, layout, &part, out);
}

// Text is always copied, numbers only where they are not aligned.
bool tl_struct_show(tl_vm *vm, tl_slot bytes, int64_t offset,
                    const tl_type *type, tl_slot *out) {
  region r;
  if (!find_region(vm, bytes.array, offset, type, &r))
    return false;
  if (tl_type_is_text(r.item))
    return text_items_show(vm, r.item, r.data, r.ndim, r.shape, r.strides, out);
  return tl_type_has_fields(r.item) ? show_struct(vm, bytes, &r, out)
                                    : show_dtype(vm, bytes, &r, out);
}

// --- Filling ----------------------------------------------------------------

// Items that are not aligned cannot be written as their dtype: they are made in
// an array of their own, which also checks the value, and moved byte by byte.
static bool fill_dtype(tl_vm *vm, tl_slot bytes, region *r, tl_slot value) {
  tl_slot base = tl_borrow(bytes);
  if (is_aligned(r)) {
    tl_array *view = tl_view_new(vm, &base, r->item->dtype, r->data, r->ndim,
                                 r->shape, r->strides);
    if (view == NULL)
      return false;
    // A result that was written through a view of the field is there already.
    bool is_there = tl_is_array(value) &&
                    tl_array_dtype(value.array) == r->item->dtype &&
                    tl_arrays_coincide(value.array, view);
    bool ok = is_there || tl_array_store_all(vm, view, value);
    tl_drop(vm, tl_own_array(view));
    return ok;
  }
  // Made apart, then moved as bytes.
  tl_array *whole = tl_array_new(vm, r->item->dtype, r->ndim, r->shape);
  bool ok = whole != NULL && tl_array_store_all(vm, whole, value);
  tl_array *to = ok ? region_bytes(vm, bytes, r) : NULL;
  ok = to != NULL;
  if (ok) {
    region all = *r;
    all.data = whole->data;
    tl_shape_strides(r->ndim + 1, r->shape, 1, all.strides);
    tl_array *from = region_bytes(vm, tl_lend_array(whole), &all);
    ok = from != NULL && tl_array_assign(vm, to, from);
    tl_array_drop(vm, from);
    tl_array_drop(vm, to);
  }
  tl_array_drop(vm, whole);
  return ok;
}

// Says for a record which field is missing or is too much, for others what
// would do (kind type). Returns false.
bool tl_struct_fail_fields(tl_vm *vm, const tl_type *layout, tl_slot value) {
  tl_type *plain = tl_layout_plain(vm, (tl_type *)layout);
  tl_string *text = plain != NULL ? tl_type_text(vm, plain) : NULL;
  if (text == NULL)
    return false;
  if (tl_is_record(value)) {
    const tl_record *r = value.record;
    char extra[TL_KEY_TEXT] = "";
    for (int64_t i = 0; i < layout->field_count; i++)
      if (tl_record_find((tl_record *)r, layout->fields[i].name) < 0)
        tl_fail(vm, TALLY_ERR_TYPE,
                "an item of type %s needs a field %s, which the record does "
                "not have",
                text->text, layout->fields[i].name->text);
    for (int64_t i = 0; i < r->length; i++) {
      const tl_string *key = tl_key_string(r->fields[i].key);
      if (key == NULL || tl_type_find(layout, key) < 0)
        tl_key_text(tl_key_slot(r->fields[i].key), extra);
    }
    tl_fail(vm, TALLY_ERR_TYPE, "an item of type %s has no field %s",
            text->text, extra);
  } else {
    tl_fail(
        vm, TALLY_ERR_TYPE,
        "an item of type %s is set to %s or a struct array with those "
        "fields: got %s",
        text->text,
        layout->kind == TL_TYPE_TUPLE ? "a list of as many values" : "a record",
        tl_described(vm, value));
  }
  tl_drop(vm, tl_own_string(text));
  return false;
}

// A tuple's fields are named "0", "1", …, which are the places in a list.
bool tl_struct_value_field(tl_vm *vm, tl_slot value, tl_string *name,
                           tl_slot *out) {
  if (tl_is_record(value)) {
    *out = tl_borrow(*tl_record_get(value.record, name));
    return true;
  }
  if (tl_is_list(value)) {
    *out = tl_borrow(value.list->items[strtoll(name->text, NULL, 10)]);
    return true;
  }
  tl_slot borrowed = tl_borrow(value);
  return tl_nested_field(vm, &borrowed, tl_nested_find(value.nested, name),
                         out);
}

// Names count and not their order, but for a list, which has none and fits a
// tuple of as many fields.
bool tl_struct_has_fields(const tl_type *layout, tl_slot value) {
  int64_t count = tl_is_record(value) ? value.record->length
                  : tl_is_nested(value) && value.nested->layout != NULL
                      ? value.nested->layout->field_count
                      : -1;
  if (tl_is_list(value))
    return layout->kind == TL_TYPE_TUPLE &&
           value.list->length == layout->field_count;
  bool all = count == layout->field_count;
  for (int64_t i = 0; all && i < layout->field_count; i++) {
    tl_string *name = layout->fields[i].name;
    all = tl_is_record(value) ? tl_record_find(value.record, name) >= 0
                              : tl_nested_find(value.nested, name) >= 0;
  }
  return all;
}

// Not undone where a field fails: fill_struct calls it on a copy. The error
// then names the field.
static bool fill_fields(tl_vm *vm, tl_slot bytes, const tl_type *layout,
                        tl_slot value) {
  for (int64_t i = 0; i < layout->field_count; i++) {
    tl_slot field;
    if (!tl_struct_value_field(vm, value, layout->fields[i].name, &field))
      return false;
    bool ok = tl_struct_fill(vm, bytes, layout->offsets[i],
                             layout->fields[i].type, field);
    tl_drop(vm, field);
    if (!ok)
      return tl_fail_field(vm, layout->fields[i].name), false;
  }
  return true;
}

// Structs of the same layout and shape come over by their bytes. Of others a
// field may fail when some are written: all is tried on a copy of the items,
// whose bytes then come over at once.
static bool fill_struct(tl_vm *vm, tl_slot bytes, region *r, tl_slot value) {
  const tl_type *layout = r->item;
  if (!tl_struct_has_fields(layout, value))
    return tl_struct_fail_fields(vm, layout, value);
  tl_array *view = region_bytes(vm, bytes, r);
  if (view == NULL)
    return false;
  const bool alike =
      tl_is_form(value, TL_FORM_STRUCT) && value.nested->layout == layout &&
      tl_has_shape(value.nested->parts[0].array, tl_ndim(view), tl_shape(view));
  tl_array *from =
      alike ? value.nested->parts[0].array : tl_array_copy(vm, view);
  bool ok = from != NULL &&
            (alike || fill_fields(vm, tl_own_array(from), layout, value)) &&
            tl_array_assign(vm, view, from);
  if (!alike)
    tl_array_drop(vm, from);
  tl_array_drop(vm, view);
  return ok;
}

// As tl_struct_show, the other way. A failure writes nothing.
bool tl_struct_fill(tl_vm *vm, tl_slot bytes, int64_t offset,
                    const tl_type *type, tl_slot value) {
  region r;
  if (!find_region(vm, bytes.array, offset, type, &r))
    return false;
  if (tl_type_is_text(r.item))
    return text_items_fill(vm, r.item, r.data, r.ndim, r.shape, r.strides,
                           value);
  return tl_type_has_fields(r.item) ? fill_struct(vm, bytes, &r, value)
                                    : fill_dtype(vm, bytes, &r, value);
}

// --- Fields of an array -----------------------------------------------------

// Options, rows and indexed arrays of structs show the fields of these: part 0,
// the mask, offsets or places, is shared, and the field is the new content.
bool tl_nested_field(tl_vm *vm, tl_slot *base, int64_t i, tl_slot *out) {
  const tl_nested *n = base->nested;
  bool ok = true;
  tl_form form = tl_nested_form(n);
  if (tl_nested_traits(n)->shows_fields) {
    tl_slot first = tl_borrow(n->parts[0]), borrowed = tl_borrow(n->parts[1]);
    tl_slot field;
    return tl_nested_field(vm, &borrowed, i, &field) &&
           tl_nested_pair(vm, form, tl_nested_ndim(n), &first, &field, out);
  }
  if (tl_nested_form(n) == TL_FORM_STRUCT) {
    ok = tl_struct_show(vm, n->parts[0], n->layout->offsets[i],
                        n->layout->fields[i].type, out);
  } else {
    *out = tl_borrow(n->parts[i]);
    if (tl_is_owned(*base))
      *out = tl_retain(vm, *out);
  }
  // What dies here does not keep the block for the view.
  if (ok && tl_is_owned(*base))
    tl_hold(vm, *out, TL_CAUSE_VIEW);
  return ok;
}

// A block stays where it is under a layout of fewer fields; columns are shared.
// Fails (kind name) for a field that there is not. *out is owned.
bool tl_nested_select(tl_vm *vm, tl_slot base, uint32_t count,
                      tl_string *const *names, tl_slot *out) {
  const tl_nested *n = base.nested;
  tl_form form = tl_nested_form(n);
  if (tl_nested_traits(n)->shows_fields && tl_is_nested(n->parts[1])) {
    tl_slot first = tl_borrow(n->parts[0]), fields;
    return tl_nested_select(vm, tl_borrow(n->parts[1]), count, names,
                            &fields) &&
           tl_nested_pair(vm, form, tl_nested_ndim(n), &first, &fields, out);
  }
  bool is_block = form == TL_FORM_STRUCT, ok = true;
  size_t nbytes = (count + 1) * sizeof(int64_t);
  int64_t *fields = tl_alloc(vm, nbytes, "a selection of fields");
  if (fields == NULL)
    return false;
  for (uint32_t i = 0; ok && i < count; i++) {
    fields[i] = tl_nested_find(n, names[i]);
    ok = fields[i] >= 0 || tl_fail_no_field(vm, base, names[i]);
  }
  tl_type *layout = ok ? tl_layout_select(vm, n->layout, count, fields) : NULL;
  tl_nested *made = layout == NULL
                        ? NULL
                        : tl_nested_new(vm, form, tl_nested_ndim(n),
                                        is_block ? 1 : (int64_t)count, layout);
  for (int64_t i = 0; made != NULL && i < made->count; i++) {
    tl_slot part = tl_borrow(n->parts[is_block ? 0 : fields[i]]);
    tl_nested_put(vm, made, i, &part);
  }
  tl_free(vm, fields, nbytes);
  return tl_nested_finish(vm, true, made, out);
}

// --- From columns -----------------------------------------------------------

// Whether the columns are arrays of one length; fields name them in the errors,
// of kind type for what has no axis, shape for another length.
static bool check_columns(tl_vm *vm, int64_t count, const tl_type_field *fields,
                          const tl_slot *columns) {
  bool ok = true;
  for (int64_t i = 0; i < count && tl_poll_ok(vm, i, &ok); i++) {
    if (tl_value_ndim(columns[i]) < 1)
      return tl_fail(vm, TALLY_ERR_TYPE,
                     "the column %s must be an array, not %s",
                     fields[i].name->text, tl_described(vm, columns[i]));
    int64_t first = tl_value_length(columns[0], 0);
    int64_t length = tl_value_length(columns[i], 0);
    if (length != first)
      return tl_fail(vm, TALLY_ERR_SHAPE,
                     "the column %s has %" PRId64 " items, %s has %" PRId64,
                     fields[i].name->text, length, fields[0].name->text, first);
  }
  return ok;
}

// A column, borrowed, into its field of the items, which are new: in pieces of
// rows, between which it polls. [bytes] are the items, a row of bytes each;
// what was written before a failure stays, and the caller drops all of it.
static bool fill_column(tl_vm *vm, tl_slot bytes, const tl_type *layout,
                        int64_t field, tl_slot column) {
  enum { ROWS = 1 << 16 };
  const tl_type *type = layout->fields[field].type;
  const int64_t offset = layout->offsets[field];
  const int64_t rows = tl_value_length(column, 0);
  if (rows <= ROWS)
    return tl_struct_fill(vm, bytes, offset, type, column);
  bool ok = true;
  for (int64_t at = 0; ok && at < rows; at += ROWS) {
    int64_t stop = rows - at < ROWS ? rows : at + ROWS;
    tl_slot to, from;
    if (!tl_poll(vm, ROWS / 1024) || !tl_value_slice(vm, bytes, at, stop, &to))
      return false;
    ok = tl_value_slice(vm, column, at, stop, &from) &&
         tl_drop_after(vm, tl_struct_fill(vm, to, offset, type, from), &from);
    tl_drop(vm, to);
  }
  return ok;
}

// Zeros first, then each column is written into its field: that converts and
// checks as an assignment does. *out is owned.
static bool block_of_columns(tl_vm *vm, tl_type *type, const tl_slot *columns,
                             tl_slot *out) {
  tl_type *layout = tl_layout_of(vm, type, false);
  int64_t length = tl_value_length(columns[0], 0);
  if (layout == NULL || !tl_struct_zeros(vm, layout, 1, &length, out))
    return false;
  bool ok = true;
  for (int64_t i = 0; i < layout->field_count && tl_poll_ok(vm, i, &ok); i++)
    ok = fill_column(vm, out->nested->parts[0], layout, i, columns[i]);
  if (!ok)
    tl_clear(vm, out);
  return ok;
}

// [names] is the first of the names, the next one lies [step] bytes behind.
// Names come as pointers in an array or as a member of a layout: hence
// the step. The form follows from the types alone: one block if every field is
// of fixed size. Fails (kind value) without fields, (kind type) for a column
// that is no array, (kind shape) for lengths that differ.
static bool of_columns(tl_vm *vm, tl_type_kind kind, int64_t count,
                       tl_string *const *names, size_t step,
                       const tl_slot *columns, tl_slot *out) {
  tl_type model = {.kind = kind, .field_count = count};
  size_t nbytes = (size_t)count * sizeof *model.fields;
  if (count == 0)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "a struct array has at least one field");
  model.fields = tl_alloc(vm, nbytes, "a struct type");
  if (model.fields == NULL)
    return false;
  for (int64_t i = 0; i < count; i++) {
    const char *at = (const char *)names + (size_t)i * step;
    model.fields[i].name = *(tl_string *const *)(const void *)at;
  }
  tl_type *type = check_columns(vm, count, model.fields, columns)
                      ? tl_type_columns(vm, &model, columns, 1)
                      : NULL;
  tl_free(vm, model.fields, nbytes);
  if (type == NULL)
    return false;
  if (tl_type_is_plain(type))
    return block_of_columns(vm, type, columns, out);
  tl_nested *n = tl_nested_new(vm, TL_FORM_COLUMNS, 1, count, type);
  bool ok = n != NULL;
  for (int64_t i = 0; i < count && tl_poll_ok(vm, i, &ok); i++) {
    tl_slot part = tl_borrow(columns[i]);
    tl_nested_put(vm, n, i, &part);
  }
  return tl_nested_finish(vm, ok, n, out);
}

bool tl_struct_of_columns(tl_vm *vm, int64_t count, tl_string *const *names,
                          const tl_slot *columns, tl_slot *out) {
  return of_columns(vm, TL_TYPE_STRUCT, count, names, sizeof *names, columns,
                    out);
}

// The names lie within the fields, one tl_type_field after the other.
bool tl_struct_like(tl_vm *vm, const tl_type *layout, const tl_slot *columns,
                    tl_slot *out) {
  const tl_type_field *fields = layout->fields;
  return of_columns(vm, layout->kind, layout->field_count, &fields->name,
                    sizeof *fields, columns, out);
}

// As tl_struct_of_columns fails.
bool tl_struct_of_record(tl_vm *vm, const tl_record *fields,
                         const tl_slot *columns, tl_slot *out) {
  size_t nbytes = ((size_t)fields->length + 1) * sizeof(tl_string *);
  tl_string **names = tl_alloc(vm, nbytes, "fields");
  if (names == NULL)
    return false;
  for (int64_t i = 0; i < fields->length; i++)
    names[i] = tl_key_string(fields->fields[i].key);
  bool ok = tl_struct_of_columns(vm, fields->length, names, columns, out);
  tl_free(vm, names, nbytes);
  return ok;
}

// Tuples are structs whose fields are named by their places.
bool tl_tuples_of_columns(tl_vm *vm, int64_t count, const tl_slot *columns,
                          tl_slot *out) {
  size_t nbytes = ((size_t)count + 1) * sizeof(tl_string *);
  tl_string **names = tl_alloc(vm, nbytes, "tuples");
  int64_t made = 0;
  bool ok = names != NULL;
  while (ok && made < count) {
    names[made] = tl_string_format(vm, "%" PRId64, made);
    ok = names[made] != NULL && tl_poll_at(vm, made);
    made += names[made] != NULL;
  }
  ok = ok &&
       of_columns(vm, TL_TYPE_TUPLE, count, names, sizeof *names, columns, out);
  while (made > 0) tl_drop(vm, tl_own_string(names[--made]));
  tl_free(vm, names, nbytes);
  return ok;
}
