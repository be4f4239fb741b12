// tally.h: Arrow arrays in and out, through its C data interface.
//
//   numbers            an array over Arrow's own buffer, not copied
//   bool, utf8         an array, copied: Arrow packs bits, and texts end to end
//   fixed-size list    an array with one dimension more, not copied
//   list               rows of different lengths, their items not copied
//   missing values     ?T where a column has some
//   struct             a record of columns

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vm/array.h"
#include "vm/exports.h"
#include "vm/nested.h"
#include "vm/ragged.h"
#include "vm/record.h"

// --- The exchange format ----------------------------------------------------

struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

typedef struct ArrowSchema schema;
typedef struct ArrowArray arrow;

static const struct {
  char format;
  uint8_t dtype;
} formats[] = {
    {'c', TL_INT8},    {'C', TL_UINT8},   {'s', TL_INT16}, {'S', TL_UINT16},
    {'i', TL_INT32},   {'I', TL_UINT32},  {'l', TL_INT64}, {'L', TL_UINT64},
    {'f', TL_FLOAT32}, {'g', TL_FLOAT64},
};
enum { FORMATS = sizeof formats / sizeof *formats, MAX_DEPTH = 32 };

static tl_dtype dtype_of(const char *format) {
  for (int i = 0; i < FORMATS; i++) {
    if (formats[i].format == format[0] && format[1] == 0)
      return (tl_dtype)formats[i].dtype;
  }
  return TL_DTYPE_COUNT;
}

static char format_of(tl_dtype dtype) {
  for (int i = 0; i < FORMATS; i++) {
    if (formats[i].dtype == dtype)
      return formats[i].format;
  }
  return 0;
}

// --- In: checks -------------------------------------------------------------

static bool bit_at(const void *bits, int64_t i) {
  return (((const uint8_t *)bits)[i / 8] >> (i % 8) & 1) != 0;
}

static bool refuse(tl_vm *vm, const schema *s, const char *what) {
  return tl_fail(vm, TALLY_ERR_TYPE, "the Arrow column \"%s\" of format %s %s",
                 s->name == NULL ? "" : s->name, s->format, what);
}

static bool has_validity(const arrow *a) {
  return a->null_count != 0 && a->n_buffers > 0 && a->buffers != NULL &&
         a->buffers[0] != NULL && a->length > 0 && a->offset >= 0;
}

static int64_t count_missing(const arrow *a) {
  int64_t missing = 0;
  for (int64_t i = 0; has_validity(a) && i < a->length; i++)
    missing += !bit_at(a->buffers[0], a->offset + i);
  return missing;
}

// Lists and structs as a whole have no missing ones here; their items may.
static bool check_valid(tl_vm *vm, const schema *s, const arrow *a) {
  int64_t missing = count_missing(a);
  if (missing == 0)
    return true;
  return tl_fail(vm, TALLY_ERR_VALUE,
                 "the Arrow column \"%s\" has %lld missing values, and lists "
                 "and structs hold none: fill or drop them first",
                 s->name == NULL ? "" : s->name, (long long)missing);
}

// true where an item is missing; none where no item is.
static bool read_missing(tl_vm *vm, const arrow *a, tl_slot *out) {
  *out = tl_none();
  if (count_missing(a) == 0)
    return true;
  tl_array *array = tl_array_new(vm, TL_BOOL, 1, &a->length);
  if (array == NULL)
    return false;
  for (int64_t i = 0; i < a->length; i++)
    array->data[i] = !bit_at(a->buffers[0], a->offset + i);
  *out = tl_own_array(array);
  return true;
}

static bool check_counts(tl_vm *vm, const schema *s, const arrow *a,
                         int64_t buffers, int64_t children) {
  bool ok =
      a->length >= 0 && a->offset >= 0 &&
      a->length <= INT64_MAX - 1 - a->offset &&
      (a->n_buffers == buffers && s->n_children == a->n_children) &&
      (children < 0 || a->n_children == children) &&
      (a->n_buffers == 0 || a->buffers != NULL) &&
      (a->n_children == 0 || (a->children != NULL && s->children != NULL));
  for (int64_t i = 0; ok && i < a->n_children; i++) {
    ok = a->children[i] != NULL && s->children[i] != NULL &&
         s->children[i]->format != NULL;
  }
  return ok || refuse(vm, s, "is not laid out as that format is");
}

// --- In: columns ------------------------------------------------------------

// An Arrow array that an array of ours is over: moved here, and released with
// it.
typedef struct holder {
  arrow array;
  void *(*resize)(void *context, void *block, size_t old_size, size_t new_size);
  void *context;
} holder;

static void let_go(void *context, void *data) {
  (void)data;
  holder *h = context;
  if (h->array.release != NULL)
    h->array.release(&h->array);
  h->resize(h->context, h, sizeof *h, 0);
}

static bool import(tl_vm *vm, const schema *s, arrow *a, int depth,
                   tl_slot *out);

// Numbers: [rows] of [width] items each, 0: a plain column. On success [a] has
// been moved from.
static bool over_buffer(tl_vm *vm, const schema *s, arrow *a, tl_dtype dtype,
                        arrow *owner, int64_t first, int64_t rows,
                        int64_t width, tl_slot *out) {
  int64_t shape[2] = {rows, width}, strides[2], size;
  int ndim = width < 0 ? 1 : 2;
  size_t itemsize = tl_itemsize(dtype), nbytes;
  if (!tl_shape_size(vm, ndim, shape, itemsize, &size, &nbytes))
    return false;
  tl_shape_strides(ndim, shape, itemsize, strides);
  char *data = size == 0 ? NULL : (char *)(uintptr_t)a->buffers[1];
  if (size > 0 && data == NULL)
    return refuse(vm, s, "has no data");
  if (size > 0)
    data += (size_t)first * itemsize;
  if (size == 0 || !tl_is_aligned(ndim, strides, data, dtype)) {
    tl_array *copy = tl_array_new(vm, dtype, ndim, shape);
    if (copy == NULL)
      return false;
    if (size > 0)
      memcpy(copy->data, data, nbytes);
    *out = tl_own_array(copy);
    return true;  // [owner] goes with its parent
  }
  holder *h = vm->options.resize(vm->options.context, NULL, 0, sizeof *h);
  if (h == NULL)
    return tl_fail_memory(vm, sizeof *h, "an Arrow array");
  *h = (holder){.resize = vm->options.resize, .context = vm->options.context};
  tl_array *array = tl_array_external(vm, dtype, ndim, shape, strides, data,
                                      nbytes, true, let_go, h);
  if (array == NULL) {
    vm->options.resize(vm->options.context, h, sizeof *h, 0);
    return false;
  }
  h->array = *owner;
  owner->release = NULL;
  *out = tl_own_array(array);
  return true;
}

static bool import_numbers(tl_vm *vm, const schema *s, arrow *a, tl_dtype dtype,
                           tl_slot *out) {
  return check_counts(vm, s, a, 2, 0) &&
         over_buffer(vm, s, a, dtype, a, a->offset, a->length, -1, out);
}

static bool import_bools(tl_vm *vm, const schema *s, arrow *a, tl_slot *out) {
  if (!check_counts(vm, s, a, 2, 0))
    return false;
  if (a->length > 0 && a->buffers[1] == NULL)
    return refuse(vm, s, "has no data");
  tl_array *array = tl_array_new(vm, TL_BOOL, 1, &a->length);
  if (array == NULL)
    return false;
  for (int64_t i = 0; i < a->length; i++)
    array->data[i] = bit_at(a->buffers[1], a->offset + i);
  *out = tl_own_array(array);
  return true;
}

// The offset of item [i]; -1 where it is less than the one before.
static int64_t offset_at(const arrow *a, bool large, int64_t i) {
  int64_t at = a->offset + i;
  return large ? ((const int64_t *)a->buffers[1])[at]
               : ((const int32_t *)a->buffers[1])[at];
}

static bool check_offsets(tl_vm *vm, const schema *s, const arrow *a,
                          bool large) {
  if (a->length == 0)
    return true;
  size_t alignment = large ? 8 : 4;
  if (a->buffers[1] == NULL || (uintptr_t)a->buffers[1] % alignment != 0)
    return refuse(vm, s, "has no offsets, or misaligned ones");
  int64_t last = offset_at(a, large, 0);
  bool ok = last >= 0;
  for (int64_t i = 1; ok && i <= a->length; i++) {
    int64_t next = offset_at(a, large, i);
    ok = next >= last;
    last = next;
  }
  return ok || refuse(vm, s, "has offsets that go back");
}

static bool import_texts(tl_vm *vm, const schema *s, arrow *a, bool large,
                         tl_slot *out) {
  if (!check_counts(vm, s, a, 3, 0) || !check_offsets(vm, s, a, large))
    return false;
  tl_array *array = tl_array_new(vm, TL_STRING, 1, &a->length);
  if (array == NULL)
    return false;
  tl_slot made = tl_own_array(array);
  const char *text = a->n_buffers < 3 ? NULL : a->buffers[2];
  for (int64_t i = 0; i < a->length; i++) {
    int64_t begin = offset_at(a, large, i), end = offset_at(a, large, i + 1);
    tl_string *string = NULL;
    if (text == NULL && end > begin)
      refuse(vm, s, "has no data");
    else if (tl_check_host_text(vm, end > begin ? text + begin : "",
                                (size_t)(end - begin)))
      string = tl_string_new(vm, end > begin ? text + begin : "",
                             (size_t)(end - begin));
    tl_slot item = tl_none();
    bool ok = string != NULL;
    if (ok) {
      item = tl_own_string(string);
      ok = tl_item_store(vm, array, array->data + (size_t)i * sizeof string,
                         item);
    }
    tl_drop(vm, item);
    if (!ok) {
      tl_drop(vm, made);
      return false;
    }
  }
  *out = made;
  return true;
}

// "+w:3": rows of three.
static bool import_rows(tl_vm *vm, const schema *s, arrow *a, tl_slot *out) {
  char *end;
  long long width = strtoll(s->format + 3, &end, 10);
  if (*end != 0 || width < 0)
    return refuse(vm, s, "is no format");
  if (!check_counts(vm, s, a, 1, 1) || !check_valid(vm, s, a))
    return false;
  arrow *child = a->children[0];
  const schema *of = s->children[0];
  tl_dtype dtype = dtype_of(of->format);
  int64_t needed, first;
  if (dtype == TL_DTYPE_COUNT)
    return refuse(vm, of, "makes no array of two dimensions");
  if (!check_counts(vm, of, child, 2, 0) || !check_valid(vm, of, child))
    return false;
  if (__builtin_mul_overflow(a->offset + a->length, (int64_t)width, &needed) ||
      needed > child->length)
    return refuse(vm, s, "has fewer items than its rows need");
  first = child->offset + a->offset * width;
  return over_buffer(vm, of, child, dtype, child, first, a->length, width, out);
}

// Rows of different lengths, over the items' array.
static bool import_lists(tl_vm *vm, const schema *s, arrow *a, bool large,
                         int depth, tl_slot *out) {
  if (!check_counts(vm, s, a, 2, 1) || !check_valid(vm, s, a) ||
      !check_offsets(vm, s, a, large))
    return false;
  if (a->length > 0 && offset_at(a, large, a->length) > a->children[0]->length)
    return refuse(vm, s, "has fewer items than its lists need");
  tl_slot items;
  if (!import(vm, s->children[0], a->children[0], depth + 1, &items))
    return false;
  tl_array *offsets = NULL;
  if (!tl_is_array(items) && !tl_is_nested(items))
    refuse(vm, s->children[0], "is no format for items of a list");
  else
    offsets = tl_offsets_new(vm, a->length);
  if (offsets == NULL) {
    tl_drop(vm, items);
    return false;
  }
  int64_t *at = tl_offsets_data(offsets);
  for (int64_t i = 0; a->length > 0 && i <= a->length; i++)
    at[i] = offset_at(a, large, i);
  return tl_ragged_new(vm, offsets, &items, out);
}

static bool import_record(tl_vm *vm, const schema *s, arrow *a, int depth,
                          tl_slot *out) {
  if (!check_counts(vm, s, a, 1, -1) || !check_valid(vm, s, a))
    return false;
  tl_record *record = tl_record_new(vm, a->n_children);
  bool ok = record != NULL;
  for (int64_t i = 0; ok && i < a->n_children; i++) {
    const schema *of = s->children[i];
    arrow *child = a->children[i];
    const char *name = of->name == NULL ? "" : of->name;
    tl_slot column = tl_none();
    // A slice of a struct is one of each child.
    ok = child->length - a->offset >= a->length ||
         refuse(vm, of, "is shorter than its struct");
    if (ok) {
      child->offset += a->offset;
      child->length = a->length;
      if (a->offset > 0 || child->null_count > 0)
        child->null_count = -1;
    }
    ok = ok && tl_check_host_text(vm, name, strlen(name)) &&
         import(vm, of, child, depth + 1, &column) &&
         tl_record_set_name(vm, &record, name, &column);
    tl_drop(vm, column);
  }
  if (ok)
    *out = tl_own_record(record);
  else if (record != NULL)
    tl_drop(vm, tl_own_record(record));
  return ok;
}

static bool import_leaf(tl_vm *vm, const schema *s, arrow *a, tl_slot *out) {
  tl_dtype dtype = dtype_of(s->format);
  if (dtype != TL_DTYPE_COUNT)
    return import_numbers(vm, s, a, dtype, out);
  if (strcmp(s->format, "b") == 0)
    return import_bools(vm, s, a, out);
  if (strcmp(s->format, "u") == 0 || strcmp(s->format, "U") == 0)
    return import_texts(vm, s, a, s->format[0] == 'U', out);
  return refuse(vm, s,
                "has no type here: numbers, bools, utf8, lists and "
                "structs have");
}

static bool import(tl_vm *vm, const schema *s, arrow *a, int depth,
                   tl_slot *out) {
  const char *format = s->format;
  tl_slot missing, values;
  if (depth > MAX_DEPTH)
    return refuse(vm, s, "nests too deeply");
  if (s->dictionary != NULL || a->dictionary != NULL)
    return refuse(vm, s, "is encoded by a dictionary: decode it first");
  if (strncmp(format, "+w:", 3) == 0)
    return import_rows(vm, s, a, out);
  if (strcmp(format, "+l") == 0 || strcmp(format, "+L") == 0)
    return import_lists(vm, s, a, format[1] == 'L', depth, out);
  if (strcmp(format, "+s") == 0)
    return import_record(vm, s, a, depth, out);
  if (!read_missing(vm, a, &missing))
    return false;
  if (!import_leaf(vm, s, a, &values)) {
    tl_drop(vm, missing);
    return false;
  }
  if (!tl_is_none(missing))
    return tl_nested_pair(vm, TL_FORM_OPTION, 1, &missing, &values, out);
  *out = values;
  return true;
}

static void release_both(schema *s, arrow *a) {
  if (a->release != NULL)
    a->release(a);
  if (s->release != NULL)
    s->release(s);
}

tally_status tally_from_arrow(tally_vm *vm, struct ArrowSchema *s,
                              struct ArrowArray *a, tally_value *out) {
  if (s == NULL || a == NULL || !tl_enter(vm)) {
    if (s != NULL && s->release != NULL)
      s->release(s);
    if (a != NULL && a->release != NULL)
      a->release(a);
    if (!tl_enter(vm))
      return TALLY_ERR_HOST;
    tl_fail_null(vm, s == NULL ? "the schema" : "the array");
    return tl_report(vm);
  }
  tl_slot value;
  bool ok = s->release != NULL && a->release != NULL && s->format != NULL;
  if (!ok)
    tl_fail(vm, TALLY_ERR_HOST, "the Arrow schema or array was released");
  ok = ok && import(vm, s, a, 0, &value);
  release_both(s, a);  // what was moved out is marked
  return ok ? tl_give(vm, value, out) : tl_report(vm);
}

// --- Out --------------------------------------------------------------------
//
// A column and what it needs: one record for the schema and one for the array,
// whose children are records of their own.

typedef struct array_record {
  tl_export head;
  const void *buffers[3];
  uint8_t *valid;  // a bit for each item, where some are missing
  size_t valid_size;
} array_record;

static bool fail_out(tl_vm *vm, tl_slot got) {
  char text[TL_DESCRIBE];
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "Arrow takes arrays of one dimension, ragged ones, matrices, "
                 "and records of those: got %s",
                 tl_describe(got, text, sizeof text));
}

static void release_schema(schema *s) {
  for (int64_t i = 0; i < s->n_children; i++) {
    if (s->children[i]->release != NULL)
      s->children[i]->release(s->children[i]);
  }
  s->release = NULL;
  tl_export_end(s->private_data);
}

static void release_array(arrow *a) {
  for (int64_t i = 0; i < a->n_children; i++) {
    if (a->children[i]->release != NULL)
      a->children[i]->release(a->children[i]);
  }
  a->release = NULL;
  array_record *r = a->private_data;
  if (r->valid != NULL)
    r->head.resize(r->head.context, r->valid, r->valid_size, 0);
  tl_export_end(&r->head);
}

// A table at [at] of pointers to [count] children, which lie behind it.
static void **children_at(char *at, int64_t count, size_t each) {
  void **table = (void **)(void *)at;
  char *items = at + (size_t)count * sizeof(void *);
  for (int64_t i = 0; i < count; i++) table[i] = items + (size_t)i * each;
  return table;
}

static bool make_schema(tl_vm *vm, const char *format, const char *name,
                        int64_t count, schema *out) {
  size_t length = strlen(name) + 1, flat = strlen(format) + 1;
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

// An array over [value], or with [room] bytes of its own at *room_at.
static bool make_array(tl_vm *vm, tl_slot *value, int64_t length,
                       int64_t buffers, int64_t count, size_t room, arrow *out,
                       char **room_at) {
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

static bool export(tl_vm *vm, tl_slot value, const char *name, schema *s,
                   arrow *a);

// Takes what [dense] owns.
static bool export_numbers(tl_vm *vm, tl_slot *dense, const char *name,
                           schema *s, arrow *a) {
  char format[2] = {format_of(tl_array_dtype(dense->array)), 0};
  if (!make_array(vm, dense, dense->array->size, 2, 0, 0, a, NULL))
    return false;
  array_record *r = a->private_data;
  tl_slot held;
  tl_handle_get(vm, r->head.held, &held);
  r->buffers[1] = held.array->data;
  if (make_schema(vm, format, name, 0, s))
    return true;
  a->release(a);
  return false;
}

static bool export_bools(tl_vm *vm, const tl_array *dense, const char *name,
                         schema *s, arrow *a) {
  char *bits = NULL;
  tl_slot none = tl_none();
  size_t nbytes = ((size_t)dense->size + 7) / 8;
  if (!make_array(vm, &none, dense->size, 2, 0, nbytes, a, &bits))
    return false;
  for (int64_t i = 0; i < dense->size; i++) {
    if (dense->data[i] != 0)
      bits[i / 8] = (char)(bits[i / 8] | 1 << (i % 8));
  }
  ((array_record *)a->private_data)->buffers[1] = bits;
  if (make_schema(vm, "b", name, 0, s))
    return true;
  a->release(a);
  return false;
}

static bool export_texts(tl_vm *vm, const tl_array *dense, const char *name,
                         schema *s, arrow *a) {
  tl_string *const *items = (tl_string *const *)(const void *)dense->data;
  size_t total = 0, offsets = ((size_t)dense->size + 1) * sizeof(int64_t);
  for (int64_t i = 0; i < dense->size; i++) total += items[i]->length;
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
    memcpy(text + offset[i], items[i]->text, items[i]->length);
    offset[i + 1] = offset[i] + (int64_t)items[i]->length;
  }
  if (make_schema(vm, "U", name, 0, s))
    return true;
  a->release(a);
  return false;
}

// Rows of a matrix as a fixed-size list.
static bool export_rows(tl_vm *vm, tl_slot *dense, const char *name, schema *s,
                        arrow *a) {
  int64_t rows = tl_shape(dense->array)[0], width = tl_shape(dense->array)[1];
  char format[24];
  snprintf(format, sizeof format, "+w:%lld", (long long)width);
  tl_slot none = tl_none();
  if (!make_array(vm, &none, rows, 1, 1, 0, a, NULL))
    return false;
  if (make_schema(vm, format, name, 1, s)) {
    if (export_numbers(vm, dense, "item", s->children[0], a->children[0]))
      return true;
    s->release(s);
  }
  a->release(a);
  return false;
}

static bool export_array(tl_vm *vm, tl_slot value, const char *name, schema *s,
                         arrow *a) {
  int ndim = tl_ndim(value.array);
  tl_dtype dtype = tl_array_dtype(value.array);
  bool is_number = format_of(dtype) != 0;
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

// Values with a bit each that says whether they are there.
static bool export_option(tl_vm *vm, const tl_nested *n, const char *name,
                          schema *s, arrow *a) {
  tl_slot from = tl_borrow(n->parts[0]), missing;
  if (!tl_array_contiguous(vm, &from, &missing))
    return false;
  bool ok = export(vm, tl_borrow(n->parts[1]), name, s, a);
  if (ok) {
    array_record *r = a->private_data;
    size_t nbytes = ((size_t)a->length + 7) / 8 + 1;
    r->valid = r->head.resize(r->head.context, NULL, 0, nbytes);
    r->valid_size = nbytes;
    ok = r->valid != NULL;
    if (ok) {
      memset(r->valid, 0, nbytes);
      for (int64_t i = 0; i < a->length; i++) {
        bool is_missing = missing.array->data[i] != 0;
        a->null_count += is_missing;
        if (!is_missing)
          r->valid[i / 8] = (uint8_t)(r->valid[i / 8] | 1 << (i % 8));
      }
      r->buffers[0] = r->valid;
    } else {
      tl_fail_memory(vm, nbytes, "an Arrow array");
      s->release(s);
      a->release(a);
    }
  }
  tl_drop(vm, missing);
  return ok;
}

static bool export_ragged(tl_vm *vm, tl_slot value, const char *name, schema *s,
                          arrow *a) {
  tl_slot offsets, items, held;
  if (!tl_ragged_flat(vm, value, &offsets, &items))
    return false;
  int64_t rows = tl_shape(offsets.array)[0] - 1;
  bool ok = false;
  tl_slot dense;
  if (tl_array_contiguous(vm, &offsets, &dense)) {
    ok = make_array(vm, &dense, rows, 2, 1, 0, a, NULL);
    tl_drop(vm, dense);
  }
  if (ok) {
    array_record *r = a->private_data;
    tl_handle_get(vm, r->head.held, &held);
    r->buffers[1] = held.array->data;
    ok = make_schema(vm, "+L", name, 1, s);
    if (ok &&
        !export(vm, tl_borrow(items), "item", s->children[0], a->children[0])) {
      s->release(s);
      ok = false;
    }
    if (!ok)
      a->release(a);
  }
  tl_drop(vm, offsets);
  tl_drop(vm, items);
  return ok;
}

static bool export_record(tl_vm *vm, const tl_record *record, const char *name,
                          schema *s, arrow *a) {
  int64_t count = record->length, length = 0;
  for (int64_t i = 0; i < count; i++) {
    tl_slot column = record->fields[i].value;
    if (tl_value_ndim(column) == 0)
      return fail_out(vm, column);
    int64_t n = tl_value_length(column, 0);
    if (i > 0 && n != length) {
      return tl_fail(vm, TALLY_ERR_SHAPE,
                     "the columns of a struct have one length: %s has %lld, "
                     "%s %lld",
                     record->fields[0].key->text, (long long)length,
                     record->fields[i].key->text, (long long)n);
    }
    length = n;
  }
  tl_slot none = tl_none();
  if (!make_array(vm, &none, length, 1, count, 0, a, NULL))
    return false;
  bool ok = make_schema(vm, "+s", name, count, s);
  if (!ok) {
    a->release(a);
    return false;
  }
  for (int64_t i = 0; ok && i < count; i++) {
    ok = export(vm, tl_borrow(record->fields[i].value),
                record->fields[i].key->text, s->children[i], a->children[i]);
  }
  if (!ok) {
    s->release(s);
    a->release(a);
  }
  return ok;
}

static bool export(tl_vm *vm, tl_slot value, const char *name, schema *s,
                   arrow *a) {
  if (tl_is_record(value))
    return export_record(vm, value.record, name, s, a);
  if (tl_is_form(value, TL_FORM_OPTION) && tl_nested_ndim(value.nested) == 1)
    return export_option(vm, value.nested, name, s, a);
  if (tl_is_form(value, TL_FORM_RAGGED))
    return export_ragged(vm, value, name, s, a);
  return tl_is_array(value) ? export_array(vm, value, name, s, a)
                            : fail_out(vm, value);
}

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
