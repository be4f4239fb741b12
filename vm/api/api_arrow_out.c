// tally.h: values as Arrow arrays, through its C data interface; in is in
// api_arrow.c.
//
// Numbers are not copied: the Arrow array holds a handle to ours until its
// release function is called, which may be after the VM closed (exports.h).
// Bools and texts are copied into Arrow's layouts. Every export function fills
// one schema and one array; on failure both are as if nothing had been made.
//
//   make_array    record │ table of children │ room for buffers, at 64 bytes
//   make_schema   record │ format, name │ table of children

#include <stdio.h>

#include "vm/api/arrow.h"
#include "vm/api/exports.h"
#include "vm/nested/ragged.h"
#include "vm/nested/raw_bytes.h"
#include "vm/values/record.h"
#include "vm/array/string_item.h"
#include "vm/nested/indexed.h"

typedef struct ArrowSchema schema;
typedef struct ArrowArray arrow;

// A column is one record for the schema and one for the array; their children
// are records of their own.

// What an exported array needs: the value it holds, its table of buffers, and
// the bits of items that are there.
typedef struct array_record {
  tl_export head;
  const void *buffers[3];
  uint8_t *valid;  // a bit for each item, where some are missing
  size_t valid_size;
} array_record;

// The error of a value that has no Arrow form.
static bool fail_out(tl_vm *vm, tl_slot got) {
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "Arrow takes arrays of one dimension, ragged and categorical "
                 "ones, matrices, and records of those: got %s",
                 tl_described(vm, got));
}

// Arrow's release function: children first, then the record.
static void release_schema(schema *s) {
  for (int64_t i = 0; i < s->n_children; i++)
    if (s->children[i]->release != NULL)
      s->children[i]->release(s->children[i]);
  if (s->dictionary != NULL && s->dictionary->release != NULL)
    s->dictionary->release(s->dictionary);
  s->release = NULL;
  tl_export_end(s->private_data);
}

// The same for arrays.
// Arrow lets a consumer move children out, which marks them as released.
static void release_array(arrow *a) {
  for (int64_t i = 0; i < a->n_children; i++)
    if (a->children[i]->release != NULL)
      a->children[i]->release(a->children[i]);
  if (a->dictionary != NULL && a->dictionary->release != NULL)
    a->dictionary->release(a->dictionary);
  a->release = NULL;
  array_record *r = a->private_data;
  if (r->valid != NULL)
    r->head.resize(r->head.context, r->valid, r->valid_size, 0);
  tl_export_end(&r->head);
}

// Makes the table at [at] of pointers to [count] children, which lie behind it.
// Children are zeroed with their record: release NULL until they are made.
static void **children_at(char *at, int64_t count, size_t each) {
  void **table = (void **)(void *)at;
  char *items = at + (size_t)count * sizeof(void *);
  for (int64_t i = 0; i < count; i++) table[i] = items + (size_t)i * each;
  return table;
}

// A schema whose texts and children are in one record.
static bool make_schema(tl_vm *vm, const char *format, const char *name,
                        int64_t count, schema *out) {
  size_t length = strlen(name) + 1, flat = strlen(format) + 1;
  // Texts first, then the table of children, aligned for pointers.
  size_t texts = (length + flat + 15) / 16 * 16;
  size_t behind = (size_t)count * (sizeof(void *) + sizeof(schema));
  tl_slot none = tl_none();
  tl_export *e = tl_export_new(vm, sizeof *e + texts + behind, &none);
  if (e == NULL)
    return false;
  char *at = (char *)(e + 1);
  memcpy(at, format, flat);
  memcpy(at + flat, name, length);
  void **table = children_at(at + texts, count, sizeof(schema));
  *out = (schema){.format = at,
                  .name = at + flat,
                  .n_children = count,
                  .children = count == 0 ? NULL : (schema **)(void *)table,
                  .release = release_schema,
                  .private_data = e};
  return true;
}

// An array that holds [value], or with [room] bytes of its own at *room_at; its
// children are in the same record.
// On success the record has a handle to the value, and what the slot owned. All
// of it is zeroed, so children that are not made yet count as released.
static bool make_array(tl_vm *vm, tl_slot *value, int64_t length,
                       int64_t buffers, int64_t count, size_t room, arrow *out,
                       char **room_at) {
  // Arrow recommends buffers aligned to 64 bytes.
  size_t head = (sizeof(array_record) + 63) / 64 * 64;
  size_t behind = (size_t)count * (sizeof(void *) + sizeof(arrow)), nbytes;
  if (tl_add_overflows(head + behind + 64, room, &nbytes))
    return tl_fail_memory(vm, room, "an Arrow array");
  array_record *r = tl_export_new(vm, nbytes, value);
  if (r == NULL)
    return false;
  void **table = children_at((char *)r + head, count, sizeof(arrow));
  if (room_at != NULL) {
    uintptr_t at = (uintptr_t)r + head + behind;
    *room_at = (char *)((at + 63) / 64 * 64);
  }
  *out = (arrow){.length = length,
                 .n_buffers = buffers,
                 .n_children = count,
                 .buffers = r->buffers,
                 .children = count == 0 ? NULL : (arrow **)(void *)table,
                 .release = release_array,
                 .private_data = r};
  return true;
}

// The array of Arrow's over the items of a dense one, which it keeps: what
// [dense] owns is taken.
static bool make_over(tl_vm *vm, tl_slot *dense, int64_t length, int64_t count,
                      arrow *out) {
  tl_slot held;
  if (!make_array(vm, dense, length, 2, count, 0, out, NULL))
    return false;
  array_record *r = out->private_data;
  // A small view may have been copied out when it got its handle, so the data
  // is read from there.
  tl_handle_get(vm, r->head.held, &held);
  r->buffers[1] = held.array->data;
  return true;
}

static bool export(tl_vm *vm, tl_slot value, const char *name, schema *s,
                   arrow *a);

// What export_… made before they failed, export releases.

// A dense array of numbers, not copied. Takes what [dense] owns.
static bool export_numbers(tl_vm *vm, tl_slot *dense, const char *name,
                           schema *s, arrow *a) {
  char format[2] = {tl_arrow_format(tl_array_dtype(dense->array)), 0};
  return make_over(vm, dense, dense->array->size, 0, a) &&
         make_schema(vm, format, name, 0, s);
}

// Bools as bits.
static bool export_bools(tl_vm *vm, const tl_array *dense, const char *name,
                         schema *s, arrow *a) {
  char *bits = NULL;
  tl_slot none = tl_none();
  size_t nbytes = ((size_t)dense->size + 7) / 8;
  // The record is zeroed, so bits of items that are false are clear.
  if (!make_array(vm, &none, dense->size, 2, 0, nbytes, a, &bits))
    return false;
  for (int64_t i = 0; i < dense->size; i++)
    if (dense->data[i] != 0)
      bits[i / 8] = (char)(bits[i / 8] | 1 << (i % 8));
  ((array_record *)a->private_data)->buffers[1] = bits;
  return make_schema(vm, "b", name, 0, s);
}

// Strings end to end, with offsets of 64 bits.
// Always large offsets: the total is not known to fit 32 bits.
static bool export_texts(tl_vm *vm, const tl_array *dense, const char *name,
                         schema *s, arrow *a) {
  const tl_string_item *items = tl_string_items(dense);
  // Offsets and texts lie in one block: first the offsets.
  size_t total = 0, offsets = ((size_t)dense->size + 1) * sizeof(int64_t);
  for (int64_t i = 0; i < dense->size; i++)
    total += tl_string_item_length(&items[i]);
  char *at = NULL;
  tl_slot none = tl_none();
  if (!make_array(vm, &none, dense->size, 3, 0, offsets + total, a, &at))
    return false;
  int64_t *offset = (int64_t *)(void *)at;
  char *text = at + offsets;
  array_record *r = a->private_data;
  r->buffers[1] = offset;
  r->buffers[2] = text;
  for (int64_t i = 0; i < dense->size; i++) {
    size_t nbytes = tl_string_item_length(&items[i]);
    memcpy(text + offset[i], tl_string_item_text(&items[i]), nbytes);
    offset[i + 1] = offset[i] + (int64_t)nbytes;
  }
  return make_schema(vm, "U", name, 0, s);
}

// The rows of a matrix as a fixed-size list.
static bool export_rows(tl_vm *vm, tl_slot *dense, const char *name, schema *s,
                        arrow *a) {
  int64_t rows = tl_shape(dense->array)[0], width = tl_shape(dense->array)[1];
  char format[24];
  snprintf(format, sizeof format, "+w:%lld", (long long)width);
  tl_slot none = tl_none();
  return make_array(vm, &none, rows, 1, 1, 0, a, NULL) &&
         make_schema(vm, format, name, 1, s) &&
         export_numbers(vm, dense, "item", s->children[0], a->children[0]);
}

// An array of one dimension, or a matrix of numbers.
static bool export_array(tl_vm *vm, tl_slot value, const char *name, schema *s,
                         arrow *a) {
  int ndim = tl_ndim(value.array);
  tl_dtype dtype = tl_array_dtype(value.array);
  bool is_number = tl_arrow_format(dtype) != 0;
  if (ndim != 1 && !(ndim == 2 && is_number))
    return fail_out(vm, value);
  if (!is_number && dtype != TL_BOOL && dtype != TL_STRING)
    return fail_out(vm, value);
  tl_slot from = tl_borrow(value), dense;
  if (!tl_array_contiguous(vm, &from, &dense))
    return false;
  bool ok = ndim == 2            ? export_rows(vm, &dense, name, s, a)
            : is_number          ? export_numbers(vm, &dense, name, s, a)
            : dtype == TL_STRING ? export_texts(vm, dense.array, name, s, a)
                                 : export_bools(vm, dense.array, name, s, a);
  tl_drop(vm, dense);
  return ok;
}

// Gives an array that was exported a bit for each item which says whether it is
// there.
static bool set_valid(tl_vm *vm, const tl_nested *option, arrow *a) {
  tl_slot from = tl_borrow(option->parts[0]), missing;
  if (!tl_array_contiguous(vm, &from, &missing))
    return false;
  array_record *r = a->private_data;
  // One byte more, so that an empty array has a bitmap, too.
  size_t nbytes = ((size_t)a->length + 7) / 8 + 1;
  r->valid = r->head.resize(r->head.context, NULL, 0, nbytes);
  r->valid_size = nbytes;
  bool ok = r->valid != NULL || tl_fail_memory(vm, nbytes, "an Arrow array");
  if (ok) {
    memset(r->valid, 0, nbytes);
    for (int64_t i = 0; i < a->length; i++) {
      bool is_missing = missing.array->data[i] != 0;
      a->null_count += is_missing;
      if (!is_missing)
        r->valid[i / 8] = (uint8_t)(r->valid[i / 8] | 1 << (i % 8));
    }
    r->buffers[0] = r->valid;
  }
  tl_drop(vm, missing);
  return ok;
}

// Values with a bit each that says whether they are there.
static bool export_option(tl_vm *vm, const tl_nested *n, const char *name,
                          schema *s, arrow *a) {
  return export(vm, tl_borrow(n->parts[1]), name, s, a) && set_valid(vm, n, a);
}

// Ragged rows as a list with offsets of 64 bits.
static bool export_ragged(tl_vm *vm, tl_slot value, const char *name, schema *s,
                          arrow *a) {
  tl_slot offsets, items, dense;
  if (!tl_ragged_flat(vm, value, &offsets, &items))
    return false;
  int64_t rows = tl_shape(offsets.array)[0] - 1;
  bool ok = tl_array_contiguous(vm, &offsets, &dense);
  if (ok) {
    ok = make_over(vm, &dense, rows, 1, a);
    tl_drop(vm, dense);
  }
  ok = ok && make_schema(vm, "+L", name, 1, s) &&
       export(vm, tl_borrow(items), "item", s->children[0], a->children[0]);
  tl_drop(vm, offsets);
  tl_drop(vm, items);
  return ok;
}

// Categories as codes with a dictionary. The dictionary is made as a child,
// which it then no longer is. Where some are missing, the codes are an option.
static bool export_category(tl_vm *vm, const tl_nested *n, const char *name,
                            schema *s, arrow *a) {
  bool missing = tl_is_form(n->parts[0], TL_FORM_OPTION);
  const tl_nested *option = missing ? n->parts[0].nested : NULL;
  tl_slot from = tl_borrow(missing ? option->parts[1] : n->parts[0]);
  tl_slot codes;
  if (!tl_array_contiguous(vm, &from, &codes))
    return false;
  bool ok = make_over(vm, &codes, codes.array->size, 1, a);
  tl_drop(vm, codes);
  if (!ok)
    return false;
  // The child's place becomes the dictionary's.
  a->dictionary = a->children[0];
  a->n_children = 0;
  a->children = NULL;
  if ((missing && !set_valid(vm, option, a)) ||
      !make_schema(vm, "i", name, 1, s))
    return false;
  s->dictionary = s->children[0];
  s->n_children = 0;
  s->children = NULL;
  return export(vm, tl_borrow(n->parts[1]), "", s->dictionary, a->dictionary);
}

// A record of columns as a struct; the columns have to be equally long.
// Fails (kind type) for keys that are no strings and for fields that are no
// columns, (kind shape) for columns of different lengths.
static bool export_record(tl_vm *vm, const tl_record *record, const char *name,
                          schema *s, arrow *a) {
  int64_t count = record->length, length = 0;
  if (!tl_record_check_names(vm, record, "an Arrow struct"))
    return false;
  for (int64_t i = 0; i < count; i++) {
    tl_slot column = record->fields[i].value;
    // A column has one item for each row.
    if (tl_value_ndim(column) == 0)
      return fail_out(vm, column);
    int64_t n = tl_value_length(column, 0);
    if (i > 0 && n != length)
      return tl_fail(vm, TALLY_ERR_SHAPE,
                     "the columns of a struct have one length: %s has %lld, "
                     "%s %lld",
                     tl_key_string(record->fields[0].key)->text,
                     (long long)length,
                     tl_key_string(record->fields[i].key)->text, (long long)n);
    length = n;
  }
  tl_slot none = tl_none();
  bool ok = make_array(vm, &none, length, 1, count, 0, a, NULL) &&
            make_schema(vm, "+s", name, count, s);
  for (int64_t i = 0; ok && i < count; i++)
    ok = export(vm, tl_borrow(record->fields[i].value),
                tl_key_string(record->fields[i].key)->text, s->children[i],
                a->children[i]);
  return ok;
}

// Bytes are laid out as texts are; only the format differs.
static bool export_raw_bytes(tl_vm *vm, tl_slot value, const char *name,
                             schema *s, arrow *a) {
  if (tl_value_ndim(value) == 0)
    return fail_out(vm, value);
  if (!export(vm, tl_raw_bytes_inside(value), name, s, a))
    return false;
  schema *leaf = s;
  while (leaf->format[0] == '+') leaf = leaf->children[0];
  // The leaf is text, whose layout is that of bytes: only its letter changes,
  // in our own copy of the format.
  ((char *)(uintptr_t)leaf->format)[0] = 'Z';
  return true;
}

// Exports a value by its kind.
static bool export_any(tl_vm *vm, tl_slot value, const char *name, schema *s,
                       arrow *a) {
  if (tl_is_raw_bytes(value))
    return export_raw_bytes(vm, value, name, s, a);
  if (tl_is_record(value))
    return export_record(vm, value.record, name, s, a);
  if (tl_is_form(value, TL_FORM_OPTION) && tl_nested_ndim(value.nested) == 1)
    return export_option(vm, value.nested, name, s, a);
  if (tl_is_form(value, TL_FORM_CATEGORY) && tl_nested_ndim(value.nested) == 1)
    return export_category(vm, value.nested, name, s, a);
  if (tl_is_form(value, TL_FORM_POINTER)) {
    // Pointers become the values that they refer to.
    tl_slot plain = tl_borrow(value);
    if (!tl_spell_out(vm, 1, &plain))
      return false;
    return tl_drop_after(vm, export(vm, plain, name, s, a), &plain);
  }
  if (tl_is_form(value, TL_FORM_RAGGED))
    return export_ragged(vm, value, name, s, a);
  return tl_is_array(value) ? export_array(vm, value, name, s, a)
                            : fail_out(vm, value);
}

// Exports a value of any kind; on failure nothing of it is left.
static bool export(tl_vm *vm, tl_slot value, const char *name, schema *s,
                   arrow *a) {
  s->release = NULL;
  a->release = NULL;
  if (export_any(vm, value, name, s, a))
    return true;
  tl_arrow_release(s, a);
  return false;
}

// Nothing is written to the host's structs before all has been made.
tally_status tally_to_arrow(tally_vm *vm, tally_value v,
                            struct ArrowSchema *schema_out,
                            struct ArrowArray *array_out) {
  TL_ENTER(vm);
  tl_slot value;
  if (!tl_given(vm, schema_out, "the place for the schema") ||
      !tl_given(vm, array_out, "the place for the array") ||
      !tl_handle_get(vm, v, &value))
    return tl_report(vm);
  schema s;
  arrow a;
  if (!export(vm, value, "", &s, &a))
    return tl_report(vm);
  *schema_out = s;
  *array_out = a;
  return TALLY_OK;
}
