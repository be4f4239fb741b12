// Comparing whole values: same(a, b), and == on lists and records.
//
//   same(a, b)   dtypes count, NaN is itself, ranges are no arrays
//   a == b       by value: 1 == 1.0, NaN unequal, (0..3,) == ([0, 1, 2],)
//
// Records are equal whatever the order of their fields; struct arrays too, in a
// block or by columns. What both miss is equal, whatever lies there.

#include "vm/nested/ragged.h"
#include "vm/kernels/kernels.h"
#include "vm/values/list.h"
#include "vm/nested/indexed.h"
#include "vm/nested/parts.h"
#include "vm/array/range.h"
#include "vm/values/record.h"
#include "vm/array/string_item.h"
#include "vm/values/pairs.h"

// Two containers that are being compared, and how far.
typedef struct pair {
  tl_slot a, b;
  int64_t index;
} pair;

// The stack of containers is its own, so that lists nest as deep as memory
// allows. Sixteen of them are enough for nearly all values and need no
// allocation.
typedef struct comparison {
  tl_vm *vm;
  bool loose;  // by value across dtypes, NaN unequal; else dtypes count
  bool failed;
  size_t count, room;
  pair *pairs;  // outermost first; first[] until they are many
  pair first[16];
  tl_pairs seen;  // equal, if all else is
} comparison;

// --- Numbers ----------------------------------------------------------------

// The real part of a number of any dtype, and the imaginary one.
static tl_real number_at(tl_dtype dtype, const void *item, double *im) {
  tl_real real = {.kind = 'F'};
  *im = 0;
  if (dtype == TL_COMPLEX128) {
    real.f = ((const tl_c128 *)item)->re;
    *im = ((const tl_c128 *)item)->im;
    return real;
  }
  tl_slot s = tl_scalar_load(dtype, item);
  if (!tl_read_real(s, &real)) {
    real.f = s.c64.re;
    *im = s.c64.im;
  }
  return real;
}

// Whether so many items may be compared; else c->failed.
static bool is_allowed(comparison *c, int64_t n) {
  c->failed = c->failed || !tl_poll_items(c->vm, n);
  return !c->failed;
}

// The same for a text of so many bytes that was, with what came of it.
static bool is_allowed_text(comparison *c, size_t nbytes, bool equal) {
  return is_allowed(c, (int64_t)(nbytes / 32)) && equal;
}

// A NaN is the same as a NaN, so that same(x, x) is true of every x, but equals
// nothing.
static bool is_nan(tl_real x) {
  return x.kind == 'F' && x.f != x.f;
}

// Strings by their bytes; numbers by value where the comparison is loose, else
// with NaN the same as NaN. Callers have compared the dtypes for the latter.
static bool items_equal(comparison *c, tl_dtype da, const void *a, tl_dtype db,
                        const void *b) {
  double im[2];
  if (da == TL_STRING || db == TL_STRING)
    return da == db && is_allowed_text(c, tl_string_item_length(a),
                                       tl_string_item_equal(c->vm, a, b));
  tl_real x = number_at(da, a, &im[0]), y = number_at(db, b, &im[1]);
  return tl_compare_reals(x, y) == 0 && !(c->loose && is_nan(x)) &&
         (im[0] == im[1] || (!c->loose && im[0] != im[0] && im[1] != im[1]));
}

// Numbers of different dtypes are the same only where == asks.
static bool scalars_equal(comparison *c, tl_slot a, tl_slot b) {
  _Alignas(16) char x[16], y[16];
  tl_dtype da = (tl_dtype)tl_dtype_of(a), db = (tl_dtype)tl_dtype_of(b);
  if ((a.tag & b.tag & TL_CLASS_I64) != 0 && da == db)
    return a.u == b.u;
  tl_number_store(a, x);
  tl_number_store(b, y);
  if (!c->loose && da != db)
    return false;
  return items_equal(c, da, x, db, y);
}

// --- Arrays and ranges ------------------------------------------------------

// Whether two arrays may be equal at all.
static bool headers_agree(const comparison *c, const tl_array *a,
                          const tl_array *b) {
  return tl_has_shape(a, tl_ndim(b), tl_shape(b)) &&
         (c->loose || tl_array_dtype(a) == tl_array_dtype(b));
}

// Pairs of items that lie [step] bytes apart; where a byte of [gap] is set
// nothing is looked at.
typedef struct item_run {
  const char *data[3];  // of a, of b, the gaps
  const int64_t *step;  // of the same
} item_run;

// Item by item, whatever the dtypes: [da] of a, [db] of b.
static bool runs_agree(comparison *c, item_run r, tl_dtype da, tl_dtype db,
                       int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    if (*r.data[2] == 0 && !items_equal(c, da, r.data[0], db, r.data[1]))
      return false;
    for (int k = 0; k < 3; k++) r.data[k] += r.step[k];
  }
  return true;
}

// Blocks of this many items are compared by a kernel: as many as leave both
// buffers, where items are packed, in the nearest cache.
enum { BLOCK = 256 };

// [n] items of a run side by side: where they lie, or else in [packed].
static const char *side_by_side(const item_run *r, int k, size_t itemsize,
                                size_t n, char *packed) {
  if (r->step[k] == (int64_t)itemsize)
    return r->data[k];
  tl_kernels()->pack[tl_move_size(itemsize)](packed, r->data[k], r->step[k], n);
  return packed;
}

// The same of numbers of one dtype, none of them missing. Only where the kernel
// finds a difference are items looked at one by one: it may be two NaN.
static bool numbers_agree(comparison *c, item_run r, tl_dtype dtype,
                          int64_t n) {
  _Alignas(64) char packed[2][BLOCK * sizeof(tl_c128)];
  unsigned char equal[BLOCK];
  const size_t itemsize = tl_itemsize(dtype);
  tl_kernel2 *compare = tl_kernels()->binary[TL_OP_EQUAL][dtype];
  for (int64_t at = 0; at < n; at += BLOCK) {
    const size_t m = (size_t)(n - at < BLOCK ? n - at : BLOCK);
    compare(equal, side_by_side(&r, 0, itemsize, m, packed[0]),
            side_by_side(&r, 1, itemsize, m, packed[1]), m);
    if (memchr(equal, 0, m) != NULL &&
        !runs_agree(c, r, dtype, dtype, (int64_t)m))
      return false;
    for (int k = 0; k < 2; k++) r.data[k] += r.step[k] * (int64_t)m;
  }
  return true;
}

enum { POLLED = 1 << 16 };  // items between two polls

// What [missing] (NULL: nothing) marks is not looked at.
static bool items_agree(comparison *c, const tl_array *missing,
                        const tl_array *a, const tl_array *b) {
  static const char there = 0;
  static const int64_t still[TL_MAX_DIMS];
  if (!headers_agree(c, a, b))
    return false;
  tl_dtype da = tl_array_dtype(a), db = tl_array_dtype(b);
  // A kernel compares two runs of one dtype, and all of their items: it is not
  // for strings, nor where the missing ones do not count.
  const bool numbers = missing == NULL && da == db && da < TL_STRING;
  tl_walk walk;
  char *const data[] = {a->data, b->data,
                        missing != NULL ? missing->data : (char *)&there};
  const int64_t *const strides[] = {
      tl_strides(a), tl_strides(b),
      missing != NULL ? tl_strides(missing) : still};
  tl_walk_begin(&walk, 3, tl_ndim(a), tl_shape(a), data, strides);
  for (; !walk.done; tl_walk_next(&walk)) {
    item_run r = {{walk.data[0], walk.data[1], walk.data[2]}, walk.step};
    for (int64_t left = walk.length, n; left > 0; left -= n) {
      n = left < POLLED ? left : POLLED;
      if (!is_allowed(c, n) ||
          !(numbers ? numbers_agree(c, r, da, n) : runs_agree(c, r, da, db, n)))
        return false;
      for (int k = 0; k < 3; k++) r.data[k] += r.step[k] * n;
    }
  }
  return true;
}

// By the items: the step of an empty range or of one item does not matter.
static bool ranges_equal(const tl_range *a, const tl_range *b) {
  if (a->length != b->length)
    return false;
  if (a->length == 0)
    return true;
  return a->start == b->start && (a->length == 1 || a->step == b->step);
}

// Item by item, for == alone: to same() a range is no array.
static bool range_is_array(comparison *c, const tl_range *range,
                           const tl_array *a) {
  if (!c->loose || tl_ndim(a) != 1 || a->size != range->length)
    return false;
  const char *item = a->data;
  for (int64_t i = 0; i < range->length; i++, item += tl_strides(a)[0]) {
    int64_t value = tl_range_item(range, i);
    if (!is_allowed(c, 1) ||
        !items_equal(c, TL_INT64, &value, tl_array_dtype(a), item))
      return false;
  }
  return true;
}

// --- Containers -------------------------------------------------------------

// The items of a list, or the fields of a record.
static int64_t length_of(tl_slot s) {
  return tl_is_list(s) ? s.list->length : s.record->length;
}

// Notes a pair whose items are to be compared by step(), once however often it
// comes. False where memory is short, with c->failed set.
static bool push(comparison *c, tl_slot a, tl_slot b) {
  if (tl_pairs_seen(&c->seen, a.object, b.object))
    return true;
  if (!tl_make_room(c->vm, &c->pairs, c->first, &c->room, c->count,
                    sizeof(pair), "a comparison")) {
    c->failed = true;
    return false;
  }
  c->pairs[c->count++] = (pair){a, b, 0};
  return true;
}

static bool values_equal(comparison *c, tl_slot a, tl_slot b);

// What is missing in both is the same; what lies there does not matter.
static bool options_equal(comparison *c, const tl_nested *a,
                          const tl_nested *b) {
  const tl_array *missing = a->parts[0].array;
  return items_agree(c, NULL, missing, b->parts[0].array) &&
         items_agree(c, missing, a->parts[1].array, b->parts[1].array);
}

// Notes that a part to be compared could not be made.
static bool made(comparison *c, bool ok) {
  c->failed = c->failed || !ok;
  return ok;
}

// Compares two parts and drops them; y only where it was made.
static bool parts_equal(comparison *c, tl_slot x, bool y_made,
                        const tl_slot *y) {
  bool equal = made(c, y_made);
  if (equal) {
    equal = values_equal(c, x, *y);
    tl_drop(c->vm, *y);
  }
  tl_drop(c->vm, x);
  return equal;
}

// Compares what [open] makes of both.
static bool opened_equal(comparison *c, tl_opener *open, tl_slot a, tl_slot b) {
  tl_slot x, y;
  return made(c, open(c->vm, a, &x)) &&
         parts_equal(c, x, open(c->vm, b, &y), &y);
}

// Fields are found by name, so their order does not matter, nor whether they
// lie in a block or by columns. An error of a part is in c->failed.
static bool fields_equal(comparison *c, tl_slot a, tl_slot b) {
  const tl_type *layout = a.nested->layout;
  int64_t count = layout->field_count;
  bool equal = count == b.nested->layout->field_count;
  for (int64_t i = 0; equal && i < count; i++) {
    tl_slot x, y, left = tl_borrow(a), right = tl_borrow(b);
    int64_t other = tl_nested_find(b.nested, layout->fields[i].name);
    if (other < 0 || !made(c, tl_nested_field(c->vm, &left, i, &x)))
      return false;
    equal = parts_equal(c, x, tl_nested_field(c->vm, &right, other, &y), &y);
  }
  return equal;
}

// Recursion as deep as a type nests.
static bool nested_equal(comparison *c, tl_slot a, tl_slot b) {
  const tl_nested *n = a.nested, *m = b.nested;
  bool has_fields = n->layout != NULL;
  if (!tl_value_agrees(a, b, 0) || has_fields != (m->layout != NULL) ||
      (!has_fields && tl_nested_form(n) != tl_nested_form(m)))
    return false;
  int64_t row;
  switch (tl_nested_form(n)) {
    case TL_FORM_OPTION:
      return options_equal(c, n, m);
    case TL_FORM_RAGGED:
      return tl_ragged_agree(n, m, &row) &&
             opened_equal(c, tl_ragged_items, a, b);
    case TL_FORM_GRID:
      return opened_equal(c, tl_grid_rows, a, b);
    case TL_FORM_POINTER:
      // Wherever the values lie that they refer to.
      return opened_equal(c, tl_indexed_values, a, b);
    case TL_FORM_BYTES:
    case TL_FORM_CATEGORY:
      for (int64_t i = 0; i < n->count; i++)
        if (!values_equal(c, n->parts[i], m->parts[i]))
          return false;
      return true;
    default:
      return fields_equal(c, a, b);
  }
}

// Compares numbers, arrays and trees at once, and pushes lists and records,
// whose items step() takes one by one.
static bool values_equal(comparison *c, tl_slot a, tl_slot b) {
  if (tl_is_number(a) || tl_is_number(b))
    return tl_is_number(a) && tl_is_number(b) && scalars_equal(c, a, b);
  if (tl_is_array(a) && tl_is_array(b))
    return items_agree(c, NULL, a.array, b.array);
  if (tl_is_array(a) && tl_is_range(b))
    return range_is_array(c, b.range, a.array);
  if (tl_is_range(a) && tl_is_array(b))
    return range_is_array(c, a.range, b.array);
  if (tl_class(a) != tl_class(b) || tl_dtype_of(a) != tl_dtype_of(b))
    return false;
  switch (tl_dtype_of(a)) {
    case TL_KIND_NONE:
    case TL_KIND_UNSET:
      return true;
    case TL_KIND_STRING:
      return is_allowed_text(c, a.string->length,
                             tl_string_same(c->vm, a.string, b.string));
    case TL_KIND_RANGE:
      return ranges_equal(a.range, b.range);
    case TL_KIND_NESTED:
      return nested_equal(c, a, b);
    case TL_KIND_LIST:
    case TL_KIND_RECORD:
      // What is one object need not be looked into, but for a NaN in it.
      return length_of(a) == length_of(b) &&
             ((a.object == b.object && !c->loose) || push(c, a, b));
    default:
      // Functions of one closure group share an object; the upper half of the
      // tag says which member each is.
      return a.pointer == b.pointer && a.tag >> 32 == b.tag >> 32;
  }
}

// Compares the next item of the innermost pair; the order of a record's fields
// does not matter to its equality.
static bool step(comparison *c) {
  if (!tl_pairs_poll(&c->seen)) {
    c->failed = true;
    return false;
  }
  pair *top = &c->pairs[c->count - 1];
  int64_t i = top->index++;
  if (i == length_of(top->a)) {
    c->count--;
    return true;
  }
  if (tl_is_list(top->a))
    return values_equal(c, top->a.list->items[i], top->b.list->items[i]);
  const tl_field *field = &top->a.record->fields[i];
  const tl_slot *other =
      tl_record_get_key(top->b.record, tl_key_slot(field->key));
  return other != NULL && values_equal(c, field->value, *other);
}

// Equal means that the walk ended with nothing left on the stack. An error
// counts as unequal; it is pending in the VM.
static bool compare(tl_vm *vm, tl_slot a, tl_slot b, bool loose) {
  comparison c;  // not zeroed: that would cost more than to compare numbers
  c.vm = vm;
  c.loose = loose;
  c.failed = false;
  c.count = 0;
  c.room = 16;
  c.pairs = c.first;
  c.seen.vm = vm;
  c.seen.count = c.seen.room = 0;
  c.seen.entries = NULL;
  c.seen.work = 0;
  bool equal = values_equal(&c, a, b);
  while (equal && c.count > 0) equal = step(&c);
  if (c.seen.room > 0)
    tl_pairs_close(&c.seen);
  if (c.pairs != c.first)
    tl_free(vm, c.pairs, c.room * sizeof(pair));
  return equal && !c.failed;
}

bool tl_same(tl_vm *vm, tl_slot a, tl_slot b) {
  return compare(vm, a, b, false);
}

bool tl_equal(tl_vm *vm, tl_slot a, tl_slot b) {
  return compare(vm, a, b, true);
}
