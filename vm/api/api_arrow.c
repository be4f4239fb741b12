// tally.h: Arrow arrays in, through its C data interface; out is in
// api_arrow_out.c.
//
//   numbers            an array over Arrow's own buffer, not copied
//   dates and times    their integers
//   bool, utf8         an array, copied: Arrow packs bits, and texts end to end
//   binary             bytes, copied likewise; also those of a fixed size
//   string views       as their texts
//   fixed-size list    an array with one dimension more, not copied
//   list               rows of different lengths, their items not copied
//   dictionary         categories, or the values where these are no categories
//   missing values     ?T where a column has some
//   struct             a record of columns

#include <stdlib.h>

#include "stdlib/distinct.h"
#include "stdlib/distinct_strings.h"
#include "vm/api/arrow.h"
#include "vm/api/exports.h"
#include "vm/nested/raw_bytes.h"
#include "vm/values/record.h"
#include "vm/array/string_item.h"

typedef struct ArrowSchema schema;
typedef struct ArrowArray arrow;

// --- Formats ----------------------------------------------------------------

static const struct {
  char format;
  uint8_t dtype;
} formats[] = {
    // Arrow's letters for plain numbers.
    {'c', TL_INT8},    {'C', TL_UINT8},   {'s', TL_INT16},   {'S', TL_UINT16},
    {'i', TL_INT32},   {'I', TL_UINT32},  {'l', TL_INT64},   {'L', TL_UINT64},
    {'e', TL_FLOAT16}, {'f', TL_FLOAT32}, {'g', TL_FLOAT64},
};
enum { FORMATS = sizeof formats / sizeof *formats, MAX_DEPTH = 32 };

// Beginnings of the formats whose items are integers with a unit.
static const struct {
  char format[4];
  uint8_t dtype;
} times[] = {
    {"tdD", TL_INT32}, {"tdm", TL_INT64}, {"tts", TL_INT32},
    {"ttm", TL_INT32}, {"ttu", TL_INT64}, {"ttn", TL_INT64},
    {"ts", TL_INT64},  {"tD", TL_INT64},  {"tiM", TL_INT32},
};

// The dtype of a format of numbers, dates or times; TL_DTYPE_COUNT: it is none.
static tl_dtype dtype_of(const char *format) {
  for (int i = 0; i < FORMATS; i++)
    if (formats[i].format == format[0] && format[1] == 0)
      return (tl_dtype)formats[i].dtype;
  for (size_t i = 0; i < sizeof times / sizeof *times; i++)
    if (strncmp(format, times[i].format, strlen(times[i].format)) == 0)
      return (tl_dtype)times[i].dtype;
  return TL_DTYPE_COUNT;
}

// The reverse of dtype_of, for plain numbers.
char tl_arrow_format(tl_dtype dtype) {
  for (int i = 0; i < FORMATS; i++)
    if (formats[i].dtype == dtype)
      return formats[i].format;
  return 0;
}

// What a host may do with a format that has no type here.
static const struct {
  char format[3];
  const char *hint;
} refused[] = {
    {"d:", "is of decimals: cast it to float64 or int64"},
    {"+v", "is of list views: cast it to lists"},
    {"+m", "is of maps: cast it to lists of structs"},
    {"+u", "is of unions, which have no type here"},
    {"+r", "is run-end encoded: decode it first"},
};

// --- In: checks -------------------------------------------------------------

// Bit number [i] of a bitmap, the lowest of each byte first.
static bool bit_at(const void *bits, int64_t i) {
  return (((const uint8_t *)bits)[i / 8] >> (i % 8) & 1) != 0;
}

// The error of a column that is not taken, with its name and format. Returns
// false.
static bool refuse(tl_vm *vm, const schema *s, const char *what) {
  return tl_fail(vm, TALLY_ERR_TYPE, "the Arrow column \"%s\" of format %s %s",
                 s->name == NULL ? "" : s->name, s->format, what);
}

// Whether the array says for each item if it is there.
static bool has_validity(const arrow *a) {
  return a->null_count != 0 && a->n_buffers > 0 && a->buffers != NULL &&
         a->buffers[0] != NULL && a->length > 0 && a->offset >= 0;
}

// How many items are missing, counted: a null_count may be -1 for unknown.
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

// *out is an array of the bits of the items in a buffer, each the other way
// round where [turned]. False after tl_fail.
static bool read_bits(tl_vm *vm, const arrow *a, int buffer, bool turned,
                      tl_slot *out) {
  tl_array *array = tl_array_new(vm, TL_BOOL, 1, &a->length);
  for (int64_t i = 0; array != NULL && i < a->length; i++)
    array->data[i] = bit_at(a->buffers[buffer], a->offset + i) != turned;
  return tl_array_give(array, out);
}

// *out is an array of bools, true where an item is missing, or none where no
// item is. False after tl_fail.
static bool read_missing(tl_vm *vm, const arrow *a, tl_slot *out) {
  *out = tl_none();
  return count_missing(a) == 0 || read_bits(vm, a, 0, true, out);
}

// Whether length and offset are none below 0, and their sum does not overflow.
static bool has_extent(const arrow *a) {
  return a->length >= 0 && a->offset >= 0 &&
         a->length <= INT64_MAX - 1 - a->offset;
}

// Whether buffers and children are as many as the format has, and lengths do
// not overflow: what another library gives is not trusted.
static bool check_counts(tl_vm *vm, const schema *s, const arrow *a,
                         int64_t buffers, int64_t children) {
  bool ok =
      has_extent(a) &&
      (a->n_buffers == buffers && s->n_children == a->n_children) &&
      (children < 0 || a->n_children == children) &&
      (a->n_buffers == 0 || a->buffers != NULL) &&
      (a->n_children == 0 || (a->children != NULL && s->children != NULL));
  for (int64_t i = 0; ok && i < a->n_children; i++)
    ok = a->children[i] != NULL && s->children[i] != NULL &&
         s->children[i]->format != NULL;
  return ok || refuse(vm, s, "is not laid out as that format is");
}

// --- In: columns ------------------------------------------------------------

// An Arrow array that an array of ours is over: it was moved here, and is
// released with ours. Made by the host's allocator, since it may outlive the
// VM's accounting.
typedef struct holder {
  arrow array;
  void *(*resize)(void *context, void *block, size_t old_size, size_t new_size);
  void *context;
} holder;

// The release function of such an array.
static void let_go(void *context, void *data) {
  (void)data;
  holder *h = context;
  if (h->array.release != NULL)
    h->array.release(&h->array);
  h->resize(h->context, h, sizeof *h, 0);
}

static bool import(tl_vm *vm, const schema *s, arrow *a, int depth,
                   tl_slot *out);

// An array over Arrow's own buffer: [rows] of [width] items, -1: a plain
// column. On success [owner], the Arrow array that has to stay, has been moved
// from. Data that are not aligned are copied, and [owner] is left.
//
//   plain column    first offset, rows length, width -1     length
//   rows of 3       first offset * 3, rows length, width 3  length * 3
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
  // Nothing to share, or not readable by whole items: a copy.
  if (size == 0 || !tl_is_aligned(ndim, strides, data, dtype)) {
    tl_array *copy = tl_array_new(vm, dtype, ndim, shape);
    if (copy == NULL)
      return false;
    if (size > 0)
      memcpy(copy->data, data, nbytes);
    *out = tl_own_array(copy);
    return true;  // [owner] goes with its parent
  }
  holder *h = tl_host_new(vm, sizeof *h);
  if (h == NULL)
    return tl_fail_memory(vm, sizeof *h, "an Arrow array");
  *h = (holder){.resize = vm->options.resize, .context = vm->options.context};
  tl_array *array = tl_array_external(vm, dtype, ndim, shape, strides, data,
                                      nbytes, true, let_go, h);
  if (array == NULL) {
    tl_host_free(vm, h, sizeof *h);
    return false;
  }
  // Arrow's rule for moving: copy the struct and mark the old one as released.
  h->array = *owner;
  owner->release = NULL;
  *out = tl_own_array(array);
  return true;
}

// A plain column of numbers, not copied.
static bool import_numbers(tl_vm *vm, const schema *s, arrow *a, tl_dtype dtype,
                           tl_slot *out) {
  return check_counts(vm, s, a, 2, 0) &&
         over_buffer(vm, s, a, dtype, a, a->offset, a->length, -1, out);
}

// Bools are packed as bits in Arrow, so they are copied.
static bool import_bools(tl_vm *vm, const schema *s, arrow *a, tl_slot *out) {
  if (!check_counts(vm, s, a, 2, 0))
    return false;
  if (a->length > 0 && a->buffers[1] == NULL)
    return refuse(vm, s, "has no data");
  return read_bits(vm, a, 1, false, out);
}

// Where item [i] of a list or text begins, of 32 or 64 bits.
static int64_t offset_at(const arrow *a, bool large, int64_t i) {
  int64_t at = a->offset + i;
  return large ? ((const int64_t *)a->buffers[1])[at]
               : ((const int32_t *)a->buffers[1])[at];
}

// Whether the offsets are there, aligned, and never go back.
// Offsets that go back would make rows of negative length, which nothing later
// looks for.
static bool check_offsets(tl_vm *vm, const schema *s, const arrow *a,
                          bool large) {
  // An empty list may come without offsets.
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

// Texts or bytes in one of Arrow's layouts.
typedef struct pieces {
  const schema *s;
  const arrow *a;
  char layout;    // v: views, w: of one width, else the letter of the format
  int64_t width;  // of w
} pieces;

// Checks that the buffers of the layout are there.
static bool open_pieces(tl_vm *vm, pieces *p) {
  const schema *s = p->s;
  const arrow *a = p->a;
  char *end;
  if (p->layout == 'v')
    return check_counts(vm, s, a, a->n_buffers < 3 ? 3 : a->n_buffers, 0) &&
           (a->length == 0 || a->buffers[1] != NULL ||
            refuse(vm, s, "has no views"));
  if (p->layout != 'w')
    return check_counts(vm, s, a, 3, 0) &&
           check_offsets(vm, s, a, p->layout == 'U' || p->layout == 'Z');
  p->width = strtoll(s->format + 2, &end, 10);
  int64_t total;
  if (*end != 0 || end == s->format + 2 || p->width < 0)
    return refuse(vm, s, "is no format");
  return check_counts(vm, s, a, 2, 0) &&
         (!__builtin_mul_overflow(a->offset + a->length, p->width, &total) ||
          refuse(vm, s, "is not laid out as that format is"));
}

// Finds item [i] of views. A view is a length and up to 12 bytes, or a length,
// the first four bytes, and where all are: the number of a buffer and an offset
// in it. The last buffer has the sizes of those buffers.
static bool find_viewed(tl_vm *vm, const pieces *p, int64_t i,
                        const char **text, int64_t *nbytes) {
  const arrow *a = p->a;
  int64_t at = a->offset + i, size = -1;
  int32_t view[4];  // of the length, the beginning, a buffer, an offset
  const char *item = (const char *)a->buffers[1] + at * (int64_t)sizeof view;
  memcpy(view, item, sizeof view);
  *nbytes = view[0];
  *text = item + sizeof view[0];
  if (view[0] >= 0 && view[0] <= 12)
    return true;
  if (view[0] < 0 || view[2] < 0 || view[2] >= a->n_buffers - 3 || view[3] < 0)
    return refuse(vm, p->s, "has a view of what is not there");
  const char *data = a->buffers[2 + view[2]];
  const char *sizes = a->buffers[a->n_buffers - 1];
  if (sizes != NULL && data != NULL)
    memcpy(&size, sizes + view[2] * (int64_t)sizeof size, sizeof size);
  if ((int64_t)view[3] + *nbytes > size)
    return refuse(vm, p->s, "has a view of what is not there");
  *text = data + view[3];
  return true;
}

// Finds the bytes of item [i]; empty for one that is missing, whatever stands
// there.
static bool find_piece(tl_vm *vm, const pieces *p, int64_t i, const char **text,
                       int64_t *nbytes) {
  const arrow *a = p->a;
  *text = "";
  *nbytes = 0;
  if (has_validity(a) && !bit_at(a->buffers[0], a->offset + i))
    return true;  // whatever stands there
  if (p->layout == 'v')
    return find_viewed(vm, p, i, text, nbytes);
  bool fixed = p->layout == 'w', large = p->layout == 'U' || p->layout == 'Z';
  int64_t begin = fixed ? (a->offset + i) * p->width : offset_at(a, large, i);
  int64_t n = fixed ? p->width : offset_at(a, large, i + 1) - begin;
  if (n == 0)
    return true;
  if (a->buffers[fixed ? 1 : 2] == NULL)
    return refuse(vm, p->s, "has no data");
  *text = (const char *)a->buffers[fixed ? 1 : 2] + begin;
  *nbytes = n;
  return true;
}

// An array of strings, or of bytes, copied.
static bool import_texts(tl_vm *vm, const schema *s, const arrow *a, bool bytes,
                         tl_slot *out) {
  pieces p = {.s = s, .a = a, .layout = s->format[0]};
  if (!open_pieces(vm, &p))
    return false;
  tl_array *array = tl_array_new(vm, TL_STRING, 1, &a->length);
  if (array == NULL)
    return false;
  tl_slot made = tl_own_array(array);
  for (int64_t i = 0; i < a->length; i++) {
    const char *text;
    int64_t n;
    if (!find_piece(vm, &p, i, &text, &n) ||
        (!bytes && !tl_check_host_text(vm, text, (size_t)n)) ||
        !tl_string_item_set(vm, &tl_string_items(array)[i], text, (size_t)n)) {
      tl_drop(vm, made);
      return false;
    }
  }
  *out = made;
  return !bytes || tl_raw_bytes_close(vm, &made, out);
}

// A fixed-size list, such as "+w:3" for rows of three: an array with one
// dimension more.
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

// A list: rows of different lengths over the items' array, which is not copied.
// The child is taken whole, with the offsets as they are: a slice of lists
// begins somewhere within it, as our rows may.
static bool import_lists(tl_vm *vm, const schema *s, arrow *a, bool large,
                         int depth, tl_slot *out) {
  if (!check_counts(vm, s, a, 2, 1) || !check_valid(vm, s, a) ||
      !check_offsets(vm, s, a, large))
    return false;
  // The last offset is the largest, so it bounds all of them.
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

// A struct: a record of columns.
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
    if (!has_extent(child))
      ok = refuse(vm, of, "is not laid out as that format is");
    else
      ok = child->length >= a->offset + a->length ||
           refuse(vm, of, "is shorter than its struct");
    if (ok) {
      // The slice is passed on to the child, whose count of missing values is
      // then unknown.
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
  return tl_record_give(vm, record, ok, out);
}

// *out becomes the values where none is missing, else an option of both. Takes
// both; where [ok] is false there are no values.
static bool give(tl_vm *vm, bool ok, tl_slot *missing, tl_slot *values,
                 tl_slot *out) {
  if (ok && !tl_is_none(*missing))
    return tl_nested_pair(vm, TL_FORM_OPTION, 1, missing, values, out);
  tl_drop(vm, *missing);
  if (ok)
    *out = *values;
  return ok;
}

// A column of nothing but missing values.
static bool import_nulls(tl_vm *vm, const schema *s, const arrow *a,
                         tl_slot *out) {
  if (a->length < 0)
    return refuse(vm, s, "is not laid out as that format is");
  tl_array *array = tl_array_new(vm, TL_BOOL, 1, &a->length);
  if (array == NULL)
    return false;
  if (a->length > 0)
    memset(array->data, 1, (size_t)a->length);
  tl_slot missing = tl_own_array(array), values;
  // The values are never seen: each is missing.
  bool ok = tl_array_finish(
      vm, true, tl_array_zeros(vm, TL_INT64, 1, &a->length), &values);
  return give(vm, ok, &missing, &values, out);
}

// The error of a format that has no type here, with a hint where there is one.
static bool refuse_format(tl_vm *vm, const schema *s) {
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    if (strncmp(s->format, refused[i].format, strlen(refused[i].format)) == 0)
      return refuse(vm, s, refused[i].hint);
  return refuse(
      vm, s,
      "has no type here: numbers, bools, texts, dates, lists, structs "
      "and dictionaries have");
}

// A column without children.
// Whether items are missing was read before: this is about the values alone,
// whatever stands where one is missing.
static bool import_leaf(tl_vm *vm, const schema *s, arrow *a, tl_slot *out) {
  tl_dtype dtype = dtype_of(s->format);
  if (dtype != TL_DTYPE_COUNT)
    return import_numbers(vm, s, a, dtype, out);
  if (strcmp(s->format, "b") == 0)
    return import_bools(vm, s, a, out);
  const char *format = s->format;
  if (strcmp(format, "u") == 0 || strcmp(format, "U") == 0 ||
      strcmp(format, "vu") == 0)
    return import_texts(vm, s, a, false, out);
  if (strcmp(format, "z") == 0 || strcmp(format, "Z") == 0 ||
      strcmp(format, "vz") == 0 || strncmp(format, "w:", 2) == 0)
    return import_texts(vm, s, a, true, out);
  return refuse_format(vm, s);
}

// --- In: dictionaries -------------------------------------------------------

// More values than that are no categories, but data.
enum { MOST_CATEGORIES = 1 << 20 };

// Whether values may be categories: each is there once. Floats may not be,
// since they can be equal without having the same bits.
// *out is false for more than MOST_CATEGORIES. False after tl_fail.
static bool are_categories(tl_vm *vm, tl_slot values, bool *out) {
  const tl_array *a = values.array;
  tl_dtype dtype = tl_array_dtype(a);
  tl_distinct found;
  *out = false;
  if (a->size > MOST_CATEGORIES ||
      (dtype != TL_STRING && dtype != TL_BOOL && !tl_dtype_is_integer(dtype)))
    return true;
  // Their order does not matter, and sorting them would take most of the time.
  if (dtype == TL_STRING)
    return tl_strings_differ(vm, a, out);
  tl_slot borrowed = tl_borrow(values);
  if (!tl_distinct_find(vm, "tally_from_arrow", &borrowed, false, false,
                        &found))
    return false;
  *out = found.values->size == a->size;
  tl_distinct_close(vm, &found);
  return true;
}

// The code of item [i], an index in the dictionary.
static int64_t code_at(const arrow *a, tl_dtype dtype, int64_t i) {
  size_t at = (size_t)(a->offset + i) * tl_itemsize(dtype);
  return tl_scalar_load(dtype, (const char *)a->buffers[1] + at).i;
}

// The codes as an array of int32, with 0 for missing ones; NULL after tl_fail.
// Codes of any integer dtype; each is checked, as it becomes an index.
static tl_array *read_codes(tl_vm *vm, const schema *s, const arrow *a,
                            tl_dtype dtype, int64_t count) {
  if (a->length > 0 && (a->buffers[1] == NULL ||
                        (uintptr_t)a->buffers[1] % tl_itemsize(dtype) != 0)) {
    refuse(vm, s, "has no codes, or misaligned ones");
    return NULL;
  }
  tl_array *codes = tl_array_new(vm, TL_INT32, 1, &a->length);
  bool missing = has_validity(a);
  for (int64_t i = 0; codes != NULL && i < a->length; i++) {
    bool is_missing = missing && !bit_at(a->buffers[0], a->offset + i);
    int64_t code = is_missing ? 0 : code_at(a, dtype, i);
    ((int32_t *)(void *)codes->data)[i] = (int32_t)code;
    if (!is_missing && (code < 0 || code >= count)) {
      refuse(vm, s, "has a code that is outside its dictionary");
      tl_drop(vm, tl_own_array(codes));
      return NULL;
    }
  }
  return codes;
}

// The dictionary's values as an array of our own: a dictionary belongs to its
// array and may not be moved out of it.
static bool read_dictionary(tl_vm *vm, const schema *s, const arrow *a,
                            int depth, tl_slot *out) {
  // Borrowed: without a release function nothing of it is moved out.
  arrow borrowed = *a;
  borrowed.release = NULL;
  if (!import(vm, s, &borrowed, depth + 1, out))
    return false;
  if (!tl_is_array(*out) || tl_ndim(out->array) != 1) {
    tl_drop(vm, *out);
    return refuse(vm, s,
                  "is no dictionary here: numbers, bools and utf8 are, without "
                  "missing values");
  }
  tl_array *copy = tl_array_copy(vm, out->array);
  tl_drop(vm, *out);
  if (copy != NULL)
    *out = tl_own_array(copy);
  return copy != NULL;
}

// A dictionary column: categories if its values may be, else the values that
// the codes stand for.
// Values that may be missing stay values: ?T is more use than codes that may be
// missing.
static bool import_dictionary(tl_vm *vm, const schema *s, const arrow *a,
                              int depth, tl_slot *out) {
  tl_dtype dtype = dtype_of(s->format);
  if (s->dictionary == NULL || a->dictionary == NULL ||
      s->dictionary->format == NULL || dtype == TL_DTYPE_COUNT ||
      !tl_dtype_is_integer(dtype))
    return refuse(vm, s, "is not laid out as one with a dictionary is");
  tl_slot values, missing, made;
  if (!check_counts(vm, s, a, 2, 0) ||
      !read_dictionary(vm, s->dictionary, a->dictionary, depth, &values))
    return false;
  bool are = false;
  tl_array *array = are_categories(vm, values, &are)
                        ? read_codes(vm, s, a, dtype, values.array->size)
                        : NULL;
  tl_slot codes = array == NULL ? tl_none() : tl_own_array(array);
  if (array == NULL || !read_missing(vm, a, &missing)) {
    tl_drop(vm, codes);
    tl_drop(vm, values);
    return false;
  }
  if (are && tl_is_none(missing))
    return tl_indexed_new(vm, TL_FORM_CATEGORY, &codes, &values, out);
  // Not categories: the values themselves, one for each code. A dictionary
  // without values has none to stand where all are missing.
  bool ok;
  if (values.array->size > 0)
    ok = tl_value_take(vm, values, array, &made);
  else
    ok = tl_array_finish(
        vm, true,
        tl_array_zeros(vm, tl_array_dtype(values.array), 1, &array->size),
        &made);
  tl_drop(vm, codes);
  tl_drop(vm, values);
  return give(vm, ok, &missing, &made, out);
}

// --- In ---------------------------------------------------------------------

// Makes a value of a column of any format; what it needs of [a] has been moved
// out on success. False after tl_fail.
static bool import(tl_vm *vm, const schema *s, arrow *a, int depth,
                   tl_slot *out) {
  const char *format = s->format;
  tl_slot missing, values;
  // The recursion is on the C stack.
  if (depth > MAX_DEPTH)
    return refuse(vm, s, "nests too deeply");
  if (s->dictionary != NULL || a->dictionary != NULL)
    return import_dictionary(vm, s, a, depth, out);
  if (strcmp(format, "n") == 0)
    return import_nulls(vm, s, a, out);
  if (strncmp(format, "+w:", 3) == 0)
    return import_rows(vm, s, a, out);
  if (strcmp(format, "+l") == 0 || strcmp(format, "+L") == 0)
    return import_lists(vm, s, a, format[1] == 'L', depth, out);
  if (strcmp(format, "+s") == 0)
    return import_record(vm, s, a, depth, out);
  if (format[0] == '+')
    return refuse_format(vm, s);
  if (!has_extent(a))
    return refuse(vm, s, "is not laid out as that format is");
  if (!read_missing(vm, a, &missing))
    return false;
  bool ok = import_leaf(vm, s, a, &values);
  return give(vm, ok, &missing, &values, out);
}

void tl_arrow_release(schema *s, arrow *a) {
  if (a != NULL && a->release != NULL)
    a->release(a);
  if (s != NULL && s->release != NULL)
    s->release(s);
}

// Takes both structs on every path, as Arrow's consumers do: what an array of
// ours goes on needing was moved out and is marked as released.
tally_status tally_from_arrow(tally_vm *vm, struct ArrowSchema *s,
                              struct ArrowArray *a, tally_value *out) {
  if (!tl_enter(vm))
    tl_arrow_release(s, a);
  TL_ENTER(vm);
  tl_slot value;
  bool ok =
      tl_given(vm, s, "the schema") && tl_given(vm, a, "the array") &&
      ((s->release != NULL && a->release != NULL && s->format != NULL) ||
       tl_fail(vm, TALLY_ERR_HOST, "the Arrow schema or array was released")) &&
      import(vm, s, a, 0, &value);
  tl_arrow_release(s, a);  // what was moved out is marked
  return ok ? tl_give(vm, value, out) : tl_report(vm);
}
