// Indexing against a naive reference: random arrays of any layout, random
// indices of every form, read and written.
#include "tests/unit/numbered.h"
#include "vm/array/reuse.h"

// --- Random indices ---------------------------------------------------------

enum { MOST = 12 };

typedef struct query {
  int item_count, part_count;
  tl_index_item items[MOST];
  tl_slot parts[3 * MOST];
  bool has_arrays;
} query;

static void add_item(query *q, uint8_t kind, uint8_t given) {
  q->items[q->item_count++] = (tl_index_item){kind, given};
}

static void add_value(query *q, tl_slot value) {
  add_item(q, TL_ITEM_VALUE, 0);
  q->parts[q->part_count++] = value;
}

static void add_slice(query *q, int64_t length) {
  uint8_t given = (uint8_t)pick(0, 7);
  int64_t far = length + 2;
  add_item(q, TL_ITEM_SLICE, given);
  for (int part = 1; part <= 4; part *= 2) {
    if ((given & part) == 0)
      continue;
    int64_t step = pick(0, 1) ? pick(1, 3) : pick(-3, -1);
    int64_t value = part == 4 ? step : pick(-far, far);
    q->parts[q->part_count++] = tl_weak_int(value);
  }
}

static void add_range(tl_vm *vm, query *q, int64_t length) {
  int64_t step = pick(0, 1) ? pick(1, 2) : pick(-2, -1);
  int64_t start = pick(0, length + 1), stop = pick(0, length + 1);
  add_value(q, tl_own_range(tl_range_new(vm, start, stop, step)));
}

static void add_mask(tl_vm *vm, query *q, int ndim, const int64_t *shape) {
  tl_slot mask = any_array(vm, TL_BOOL, ndim, shape);
  int64_t index[8] = {0};
  if (mask.array->size > 0) {
    do {
      *place(mask.array, index) = (char)pick(0, 1);
    } while (advance(ndim, shape, index));
  }
  add_value(q, mask);
  q->has_arrays = true;
}

static void add_array(tl_vm *vm, query *q, const int64_t *together,
                      int64_t length) {
  static const tl_dtype dtypes[] = {TL_INT8, TL_INT64, TL_INT64, TL_UINT16};
  tl_dtype dtype = dtypes[pick(0, 3)];
  int ndim = (int)pick(1, 2);
  int64_t shape[2];
  for (int i = 0; i < ndim; i++) {
    shape[i] = pick(0, 3) == 0 ? 1 : together[i + 2 - ndim];
  }
  tl_slot s = any_array(vm, dtype, ndim, shape);
  int64_t index[2] = {0};
  int64_t low = dtype == TL_UINT16 ? 0 : -length;
  if (s.array->size > 0) {
    do {
      put_number(vm, s.array, place(s.array, index), pick(low, length - 1));
    } while (advance(ndim, shape, index));
  }
  add_value(q, s);
  q->has_arrays = true;
}

// Masks and index arrays together broadcast only by luck, so a query has
// either.
static query any_query(tl_vm *vm, int ndim, const int64_t *shape,
                       bool with_arrays) {
  query q = {0};
  bool masks = pick(0, 1), ellipsis = false;
  int64_t together[2] = {pick(1, 3), pick(0, 3)};
  int axis = 0;
  while (axis < ndim) {
    int64_t length = shape[axis];
    int64_t form = pick(0, with_arrays ? 9 : 6);
    if (form == 0 && !ellipsis) {
      add_item(&q, TL_ITEM_ELLIPSIS, 0);
      ellipsis = true;
      axis += (int)pick(0, ndim - axis);
    } else if (form == 1 && q.item_count < 6) {
      add_value(&q, tl_none());
    } else if (form <= 3) {
      add_slice(&q, length);
      axis++;
    } else if (form == 4) {
      add_range(vm, &q, length);
      axis++;
    } else if (form <= 6 && length > 0) {
      add_value(&q, tl_weak_int(pick(-length, length - 1)));
      axis++;
    } else if (form > 6 && masks && !q.has_arrays) {
      int axes = (int)pick(1, ndim - axis);
      add_mask(vm, &q, axes, shape + axis);
      axis += axes;
    } else if (form > 6 && !masks && length > 0) {
      add_array(vm, &q, together, length);
      axis++;
    }
    if (!ellipsis && pick(0, 7) == 0)
      break;
  }
  return q;
}

static void close_query(tl_vm *vm, query *q) {
  for (int i = 0; i < q->part_count; i++) tl_drop(vm, q->parts[i]);
}

// --- The reference ----------------------------------------------------------
//
// An index as NumPy's documentation tells it: masks are replaced by the arrays
// of their nonzero coordinates, integers beside arrays are arrays of rank 0.

typedef struct entry {
  enum { ONE, LINE, NEW, FANCY, GAP } kind;
  int64_t at;     // ONE
  int64_t count;  // LINE
  int64_t places[16];
  int ndim;  // FANCY
  int64_t shape[2];
  int64_t numbers[300];
} entry;

typedef struct reference {
  int count;
  entry entries[16];
  int ndim;
  int64_t shape[16];
  int fancy_at, fancy_ndim;
  int64_t fancy_shape[2];
} reference;

static int64_t wrap(int64_t at, int64_t length) {
  return at < 0 ? at + length : at;
}

static void line_entry(entry *e, bool has_start, int64_t start, bool has_stop,
                       int64_t stop, int64_t step, int64_t length) {
  e->kind = LINE;
  e->count = 0;
  if (!has_start)
    start = step > 0 ? 0 : length - 1;
  else
    start = wrap(start, length);
  if (!has_stop)
    stop = step > 0 ? length : -1;
  else if ((stop = wrap(stop, length)) < 0)
    stop = -1;
  if (step > 0 && start < 0)
    start = 0;
  if (step > 0 && stop < 0)
    stop = 0;
  if (step < 0 && start >= length)
    start = length - 1;
  for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) {
    if (i >= length || i < 0)
      break;
    e->places[e->count++] = i;
  }
}

static const tl_slot *slice_entry(entry *e, uint8_t given, const tl_slot *part,
                                  int64_t length) {
  int64_t values[3] = {0, 0, 1};
  for (int i = 0; i < 3; i++) {
    if ((given & 1 << i) != 0)
      values[i] = (part++)->i;
  }
  line_entry(e, (given & 1) != 0, values[0], (given & 2) != 0, values[1],
             values[2], length);
  return part;
}

static int mask_entries(tl_vm *vm, entry *e, const tl_array *mask) {
  int ndim = tl_ndim(mask);
  int64_t index[8] = {0}, n = 0;
  if (mask->size > 0) {
    do {
      if (!number_at(vm, mask, index))
        continue;
      for (int i = 0; i < ndim; i++) e[i].numbers[n] = index[i];
      n++;
    } while (advance(ndim, tl_shape(mask), index));
  }
  for (int i = 0; i < ndim; i++) {
    e[i].kind = FANCY;
    e[i].ndim = 1;
    e[i].shape[0] = n;
  }
  return ndim;
}

static void array_entry(tl_vm *vm, entry *e, const tl_array *a,
                        int64_t length) {
  int64_t index[2] = {0}, n = 0;
  e->kind = FANCY;
  e->ndim = tl_ndim(a);
  for (int i = 0; i < e->ndim; i++) e->shape[i] = tl_shape(a)[i];
  if (a->size == 0)
    return;
  do {
    e->numbers[n++] = wrap(number_at(vm, a, index), length);
  } while (advance(e->ndim, e->shape, index));
}

static int axes_of(const query *q) {
  int axes = 0;
  const tl_slot *part = q->parts;
  for (int i = 0; i < q->item_count; i++) {
    tl_index_item item = q->items[i];
    if (item.kind == TL_ITEM_SLICE) {
      axes++;
      part += __builtin_popcount(item.given);
    } else if (item.kind == TL_ITEM_VALUE) {
      bool mask = tl_is_array(*part) && part->array->head.dtype == TL_BOOL;
      axes += mask ? tl_ndim(part->array) : !tl_is_none(*part);
      part++;
    }
  }
  return axes;
}

static void add_lines(reference *r, const int64_t *shape, int *axis,
                      int count) {
  for (; count > 0; count--) {
    int64_t length = shape[(*axis)++];
    line_entry(&r->entries[r->count++], false, 0, false, 0, 1, length);
  }
}

static void read_entries(tl_vm *vm, reference *r, const query *q, int ndim,
                         const int64_t *shape) {
  int axis = 0, rest = ndim - axes_of(q);
  const tl_slot *part = q->parts;
  r->count = 0;
  for (int i = 0; i < q->item_count; i++) {
    entry *e = &r->entries[r->count];
    tl_index_item item = q->items[i];
    if (item.kind == TL_ITEM_SLICE) {
      part = slice_entry(e, item.given, part, shape[axis++]);
      r->count++;
    } else if (item.kind == TL_ITEM_ELLIPSIS) {
      e->kind = GAP;
      r->count++;
      add_lines(r, shape, &axis, rest);
      rest = 0;
    } else if (tl_is_none(*part)) {
      e->kind = NEW;
      r->count++;
      part++;
    } else if (tl_is_range(*part)) {
      const tl_range *range = (part++)->range;
      int64_t length = shape[axis++];
      bool past = range->step < 0 && range->stop < 0;
      line_entry(e, true, range->start, !past, range->stop, range->step,
                 length);
      r->count++;
    } else if (!tl_is_array(*part)) {
      e->kind = ONE;
      e->at = wrap((part++)->i, shape[axis++]);
      r->count++;
    } else if (part->array->head.dtype == TL_BOOL) {
      int axes = mask_entries(vm, e, (part++)->array);
      axis += axes;
      r->count += axes;
    } else {
      array_entry(vm, e, (part++)->array, shape[axis++]);
      r->count++;
    }
  }
  add_lines(r, shape, &axis, rest);
}

static bool is_fancy(const entry *e) {
  return e->kind == FANCY || e->kind == ONE;
}

static void read_query(tl_vm *vm, reference *r, const query *q, int ndim,
                       const int64_t *shape) {
  read_entries(vm, r, q, ndim, shape);
  int64_t lines[16];
  int count = 0, runs = 0;
  bool inside = false;
  r->fancy_ndim = r->fancy_at = 0;
  r->fancy_shape[0] = r->fancy_shape[1] = 1;
  for (int i = 0; i < r->count; i++) {
    const entry *e = &r->entries[i];
    if (is_fancy(e) && !inside) {
      runs++;
      r->fancy_at = count;
    }
    inside = is_fancy(e);
    if (e->kind == LINE)
      lines[count++] = e->count;
    if (e->kind == NEW)
      lines[count++] = 1;
    if (e->kind == FANCY && e->ndim > r->fancy_ndim)
      r->fancy_ndim = e->ndim;
  }
  for (int i = 0; i < r->count; i++) {
    const entry *e = &r->entries[i];
    for (int k = 0; e->kind == FANCY && k < e->ndim; k++) {
      int64_t *dim = &r->fancy_shape[k + r->fancy_ndim - e->ndim];
      if (e->shape[k] != 1)
        *dim = e->shape[k];
    }
  }
  if (runs > 1)
    r->fancy_at = 0;
  r->ndim = 0;
  for (int i = 0; i <= count; i++) {
    for (int k = 0; i == r->fancy_at && k < r->fancy_ndim; k++) {
      r->shape[r->ndim++] = r->fancy_shape[k];
    }
    if (i < count)
      r->shape[r->ndim++] = lines[i];
  }
}

// The source's index for one of the result's.
static void source_of(const reference *r, const int64_t *index,
                      int64_t *source) {
  const int64_t *fancy = index + r->fancy_at;
  int line = 0, axis = 0;
  for (int i = 0; i < r->count; i++) {
    const entry *e = &r->entries[i];
    int at = line >= r->fancy_at ? line + r->fancy_ndim : line;
    if (e->kind == LINE) {
      source[axis++] = e->places[index[at]];
      line++;
    } else if (e->kind == NEW) {
      line++;
    } else if (e->kind == ONE) {
      source[axis++] = e->at;
    } else if (e->kind == FANCY) {
      int64_t n = 0;
      for (int k = 0; k < e->ndim; k++) {
        int64_t own = fancy[k + r->fancy_ndim - e->ndim];
        n = n * e->shape[k] + (e->shape[k] == 1 ? 0 : own);
      }
      source[axis++] = e->numbers[n];
    }
  }
}

// --- Reading ----------------------------------------------------------------

static void check_result(tl_vm *vm, const reference *r, const tl_array *base,
                         tl_slot out) {
  int64_t index[16] = {0}, source[8];
  if (r->ndim == 0) {
    source_of(r, index, source);
    assert_int_equal(number_of(vm, tl_retain(vm, out)),
                     number_at(vm, base, source));
    return;
  }
  assert_true(tl_is_array(out));
  assert_int_equal(tl_ndim(out.array), r->ndim);
  for (int i = 0; i < r->ndim; i++) {
    assert_int_equal(tl_shape(out.array)[i], r->shape[i]);
  }
  assert_int_equal(out.tag & ~TL_OWNED, tl_array_tag(out.array));
  if (size_of(r->ndim, r->shape) == 0)
    return;
  do {
    source_of(r, index, source);
    assert_int_equal(number_at(vm, out.array, index),
                     number_at(vm, base, source));
  } while (advance(r->ndim, r->shape, index));
}

static int any_shape(int64_t *shape) {
  int ndim = (int)pick(1, 4);
  for (int i = 0; i < ndim; i++) shape[i] = pick(0, 9) == 0 ? 0 : pick(1, 4);
  return ndim;
}

static void test_random_reads(void **state) {
  tl_vm *vm = *state;
  static reference r;
  for (int turn = 0; turn < 6000; turn++) {
    seed = (uint64_t)turn;
    int64_t shape[4];
    int ndim = any_shape(shape);
    tl_slot base = pick(0, 1) ? any_array(vm, any_dtype(), ndim, shape)
                              : dense_array(vm, any_dtype(), ndim, shape);
    query q = any_query(vm, ndim, shape, turn % 2 == 1);
    read_query(vm, &r, &q, ndim, shape);
    tl_step step = {.item_count = (uint16_t)q.item_count, .items = q.items};
    tl_slot borrowed = tl_borrow(base), out;
    if (!tl_index_get(vm, &borrowed, &step, q.parts, &out)) {
      fail_msg("turn %d: %s", turn, vm->error.message);
    }
    check_result(vm, &r, base.array, out);
    tl_drop(vm, out);
    // Consuming the source: the result must live by itself.
    tl_array *copy = tl_array_copy(vm, base.array);
    assert_true(tl_index_get(vm, &base, &step, q.parts, &out));
    tl_drop(vm, base);
    check_result(vm, &r, copy, out);
    tl_drop(vm, out);
    tl_drop(vm, tl_own_array(copy));
    close_query(vm, &q);
  }
}

// --- Writing ----------------------------------------------------------------

// A value that broadcasts to the shape: a scalar, an array, or a view of the
// target itself.
static tl_slot any_value(tl_vm *vm, tl_slot target, tl_dtype dtype, int ndim,
                         const int64_t *shape) {
  int64_t own[16];
  int skipped = ndim > 0 ? (int)pick(0, ndim) : 0, count = 0;
  if (ndim > 4)
    skipped = ndim - 4;
  for (int i = skipped; i < ndim; i++) {
    own[count++] = pick(0, 3) == 0 ? 1 : shape[i];
  }
  const tl_array *t = target.array;
  int64_t form = pick(0, 3);
  if (form == 1 && tl_ndim(t) <= ndim) {
    bool fits = true;
    for (int i = 0; i < tl_ndim(t); i++) {
      int64_t dim = tl_shape(t)[i];
      if (dim != 1 && dim != shape[i + ndim - tl_ndim(t)])
        fits = false;
    }
    if (fits)
      return tl_borrow(target);
  }
  if (form > 1 && count > 0)
    return any_array(vm, dtype, count, own);
  if (dtype == TL_STRING)
    return text_slot(vm, "77");
  return tl_weak_int(77);
}

// What each of the target's items is after the assignment, in order.
static void expect(tl_vm *vm, const reference *r, const tl_array *target,
                   tl_slot value, int64_t *numbers) {
  int64_t index[16] = {0}, source[8], n = 0;
  if (target->size == 0)
    return;
  do {
    numbers[n++] = number_at(vm, target, index);
  } while (advance(tl_ndim(target), tl_shape(target), index));
  if (size_of(r->ndim, r->shape) == 0)
    return;
  memset(index, 0, sizeof index);
  do {
    int64_t own[16], number = 77;
    if (tl_is_array(value)) {
      const tl_array *v = value.array;
      for (int i = 0; i < tl_ndim(v); i++) {
        own[i] = tl_shape(v)[i] == 1 ? 0 : index[i + r->ndim - tl_ndim(v)];
      }
      number = number_at(vm, v, own);
    }
    source_of(r, index, source);
    int64_t at = 0;
    for (int i = 0; i < tl_ndim(target); i++) {
      at = at * tl_shape(target)[i] + source[i];
    }
    numbers[at] = number;
  } while (advance(r->ndim, r->shape, index));
}

static void check_numbers(tl_vm *vm, const tl_array *a,
                          const int64_t *numbers) {
  int64_t index[8] = {0}, n = 0;
  if (a->size == 0)
    return;
  do {
    assert_int_equal(number_at(vm, a, index), numbers[n++]);
  } while (advance(tl_ndim(a), tl_shape(a), index));
}

static void test_random_writes(void **state) {
  tl_vm *vm = *state;
  static reference r;
  int64_t numbers[300];
  for (int turn = 0; turn < 6000; turn++) {
    seed = (uint64_t)turn + 1000000;
    int64_t shape[4];
    int ndim = any_shape(shape);
    tl_dtype dtype = any_dtype();
    bool dense = pick(0, 2) > 0;
    tl_slot target = dense ? dense_array(vm, dtype, ndim, shape)
                           : any_array(vm, dtype, ndim, shape);
    tl_array *before = target.array;
    query q = any_query(vm, ndim, shape, turn % 2 == 1);
    read_query(vm, &r, &q, ndim, shape);
    tl_step step = {.item_count = (uint16_t)q.item_count, .items = q.items};
    tl_path path = {1, (uint16_t)q.part_count, &step, false};
    tl_slot value = any_value(vm, target, dtype, r.ndim, r.shape), out;
    expect(vm, &r, target.array, value, numbers);
    // Somebody else has it, or nobody.
    tl_slot other = pick(0, 1) ? tl_retain(vm, target) : tl_none();
    tl_array *old = tl_array_copy(vm, target.array);
    // A view of all of a block is written through, as nobody else counts that.
    const tl_array *block = tl_array_owner(before);
    bool in_place = tl_is_none(other) && ((target.tag & TL_DIRECT) != 0 ||
                                          tl_arrays_coincide(before, block));
    if (!tl_path_set(vm, &target, &path, q.parts, &value, &out)) {
      fail_msg("turn %d: %s", turn, vm->error.message);
    }
    assert_false(tl_is_owned(target));
    assert_false(tl_is_owned(value));
    assert_int_equal(out.array == before, in_place);
    check_numbers(vm, out.array, numbers);
    if (tl_is_array(other))
      assert_true(tl_same(vm, other, tl_own_array(old)));
    tl_drop(vm, other);
    tl_drop(vm, tl_own_array(old));
    tl_drop(vm, out);
    close_query(vm, &q);
  }
}

// Each allocation of a write fails in turn: nothing is lost, and nothing has
// changed.
static void test_writes_without_memory(void **state) {
  tl_vm *vm = *state;
  static reference r;
  int64_t numbers[300];
  for (int turn = 0; turn < 1500; turn++) {
    seed = (uint64_t)turn + 3000000;
    int64_t shape[4];
    int ndim = any_shape(shape);
    tl_dtype dtype = any_dtype();
    tl_slot target = pick(0, 2) > 0 ? dense_array(vm, dtype, ndim, shape)
                                    : any_array(vm, dtype, ndim, shape);
    query q = any_query(vm, ndim, shape, turn % 2 == 1);
    read_query(vm, &r, &q, ndim, shape);
    tl_step step = {.item_count = (uint16_t)q.item_count, .items = q.items};
    tl_path path = {1, (uint16_t)q.part_count, &step, false};
    tl_slot value = any_value(vm, target, dtype, r.ndim, r.shape), out;
    expect(vm, &(reference){.ndim = 1}, target.array, value, numbers);
    uint64_t n = 0;
    for (;;) {
      tl_memory_fail_at(vm, ++n);
      if (tl_path_set(vm, &target, &path, q.parts, &value, &out)) {
        break;
      }
      tl_memory_fail_at(vm, 0);
      failure(vm, TALLY_ERR_MEMORY);
      tl_error_clear(vm);
      check_numbers(vm, target.array, numbers);
    }
    tl_memory_fail_at(vm, 0);
    tl_drop(vm, out);
    close_query(vm, &q);
  }
}

static void test_reads_without_memory(void **state) {
  tl_vm *vm = *state;
  for (int turn = 0; turn < 1500; turn++) {
    seed = (uint64_t)turn + 4000000;
    int64_t shape[4];
    int ndim = any_shape(shape);
    tl_slot base = any_array(vm, any_dtype(), ndim, shape), out;
    query q = any_query(vm, ndim, shape, turn % 2 == 1);
    tl_step step = {.item_count = (uint16_t)q.item_count, .items = q.items};
    for (uint64_t n = 1;; n++) {
      tl_memory_fail_at(vm, n);
      if (tl_index_get(vm, &base, &step, q.parts, &out)) {
        break;
      }
      failure(vm, TALLY_ERR_MEMORY);
      tl_error_clear(vm);
      assert_true(tl_is_owned(base));
    }
    tl_memory_fail_at(vm, 0);
    tl_drop(vm, base);
    tl_drop(vm, out);
    close_query(vm, &q);
  }
}

// A value that is another part of the target, of any shape and order.
static tl_array *any_part(tl_vm *vm, tl_slot target, int64_t rows,
                          int64_t columns) {
  const tl_array *a = target.array;
  tl_slot borrowed = tl_borrow(target);
  int64_t shape[] = {rows, columns}, strides[2];
  int first = (int)pick(0, 1);
  char *data = a->data;
  for (int i = 0; i < 2; i++) {
    int axis = i ^ first;
    int64_t step = pick(1, 2), room = tl_shape(a)[axis];
    strides[i] = tl_strides(a)[axis] * step;
    int64_t reach = (shape[i] - 1) * step;
    data += pick(0, room - reach - 1) * tl_strides(a)[axis];
    if (pick(0, 1)) {
      data += reach * tl_strides(a)[axis];
      strides[i] = -strides[i];
    }
  }
  return tl_view_new(vm, &borrowed, tl_array_dtype(a), data, 2, shape, strides);
}

// x[a:b:s, c:d:t] = another part of x, with slices or index arrays.
static void add_places(tl_vm *vm, query *q, const tl_array *part,
                       const tl_array *whole, int axis, bool fancy) {
  int64_t stride = tl_strides(part)[axis], step = stride;
  bool swapped = llabs(tl_strides(part)[axis]) % tl_strides(whole)[0] == 0;
  int64_t unit = tl_strides(whole)[swapped ? 0 : 1];
  step /= unit;
  int64_t offset = part->data - whole->data;
  int64_t start = swapped ? offset / tl_strides(whole)[0]
                          : offset % tl_strides(whole)[0] / unit;
  int64_t count = tl_shape(part)[axis], stop = start + count * step;
  if (!fancy) {
    add_value(q, tl_own_range(tl_range_new(vm, start, stop, step)));
    return;
  }
  tl_array *index = tl_array_new(vm, TL_INT64, 1, &count);
  for (int64_t i = 0; i < count; i++) {
    ((int64_t *)(void *)index->data)[i] = start + i * step;
  }
  add_value(q, tl_own_array(index));
}

static void test_overlapping_writes(void **state) {
  tl_vm *vm = *state;
  static reference r;
  int64_t numbers[196];
  for (int turn = 0; turn < 3000; turn++) {
    seed = (uint64_t)turn + 2000000;
    tl_slot target = dense_array(vm, any_dtype(), 2, SHAPE(14, 14));
    int64_t rows = pick(1, 6), columns = pick(1, 6);
    tl_array *place_of = any_part(vm, target, rows, columns);
    bool turned = llabs(tl_strides(place_of)[0]) < tl_strides(target.array)[0];
    query q = {0};
    int first = turned ? 1 : 0;
    add_places(vm, &q, place_of, target.array, first, pick(0, 1));
    add_places(vm, &q, place_of, target.array, 1 - first, false);
    int64_t shape[] = {tl_shape(place_of)[first],
                       tl_shape(place_of)[1 - first]};
    tl_array *part = any_part(vm, target, shape[0], shape[1]);
    read_query(vm, &r, &q, 2, tl_shape(target.array));
    assert_int_equal(r.ndim, 2);
    assert_memory_equal(r.shape, shape, sizeof shape);
    tl_slot value = tl_borrow(tl_own_array(part)), out;
    expect(vm, &r, target.array, value, numbers);
    tl_step step = {.item_count = 2, .items = q.items};
    tl_path path = {1, 2, &step, false};
    assert_true(tl_path_set(vm, &target, &path, q.parts, &value, &out));
    check_numbers(vm, out.array, numbers);
    tl_drop(vm, tl_own_array(part));
    tl_drop(vm, tl_own_array(place_of));
    tl_drop(vm, out);
    close_query(vm, &q);
  }
}

// x[x] = v: the positions lie in the target.
static void test_positions_in_the_target(void **state) {
  tl_vm *vm = *state;
  tl_array *a = tl_array_new(vm, TL_INT64, 1, SHAPE(4));
  memcpy(a->data, SHAPE(3, 2, 1, 0), 32);
  tl_slot target = tl_own_array(a), borrowed = tl_borrow(target), out;
  tl_index_item item = {TL_ITEM_VALUE, 0};
  tl_step step = {.item_count = 1, .items = &item};
  tl_path path = {1, 1, &step, false};
  tl_array *v = tl_array_new(vm, TL_INT64, 1, SHAPE(4));
  memcpy(v->data, SHAPE(10, 11, 12, 13), 32);
  tl_slot value = tl_own_array(v);
  assert_true(tl_path_set(vm, &target, &path, &borrowed, &value, &out));
  assert_memory_equal(out.array->data, SHAPE(13, 12, 11, 10), 32);
  // And the value too: x[x] = x.
  memcpy(out.array->data, SHAPE(3, 0, 1, 2), 32);
  borrowed = value = tl_borrow(out);
  assert_true(tl_path_set(vm, &out, &path, &borrowed, &value, &target));
  assert_memory_equal(target.array->data, SHAPE(0, 1, 2, 3), 32);
  tl_copy_slot(&out, &target);
  tl_drop(vm, out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      INDEX_TEST(test_random_reads),
      INDEX_TEST(test_random_writes),
      INDEX_TEST(test_writes_without_memory),
      INDEX_TEST(test_reads_without_memory),
      INDEX_TEST(test_overlapping_writes),
      INDEX_TEST(test_positions_in_the_target),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
