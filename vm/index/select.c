// Works out an index of an array: axes, slices, new axes, and where index
// arrays and masks stand among them. Most indices are integers and slices of
// step 1: tl_select_plain does these alone; the reader does the rest, item by
// item.
#include "vm/index/select.h"

#include <inttypes.h>

#include "vm/array/element.h"
#include "vm/array/range.h"

// --- Integers and slices ----------------------------------------------------

// The fast test is one bit: int64 has a class of its own. Other integer dtypes
// are stored widened, so that s.i is their value.
bool tl_index_integer(tl_slot s, int64_t *out) {
  *out = s.i;
  if ((s.tag & TL_CLASS_I64) != 0)
    return true;
  if (!tl_is_scalar(s) || !tl_dtype_is_integer((tl_dtype)tl_dtype_of(s)))
    return false;
  if (tl_dtypes[tl_dtype_of(s)].kind == 'U' && s.u > INT64_MAX)
    *out = INT64_MAX;
  return true;
}

// The text is of the slot and not of an int64, as an index above the largest
// one has been read as that.
bool tl_fail_index(tl_vm *vm, tl_slot s, int axis, int64_t length) {
  char text[TL_NUMBER_TEXT];
  return tl_fail(vm, TALLY_ERR_INDEX,
                 "index %s is out of range for axis %d with size %" PRId64,
                 tl_number_text(s, text), axis, length);
}

// Where a start or stop lies: negative ones count from the end, and what lies
// outside goes to the end it lies beyond: -1 or length - 1 going down, 0 or
// length going up.
// As Python clips slices: x[-100:100] is all of x.
static int64_t clip(int64_t at, int64_t length, int64_t step) {
  if (at < 0) {
    at += length;
    if (at < 0)
      return step < 0 ? -1 : 0;
  } else if (at >= length) {
    return step < 0 ? length - 1 : length;
  }
  return at;
}

// The slice from start to stop (excluded). Distances and steps are below 2**63,
// and clipped ends are small, so nothing overflows.
static tl_slice make_slice(int64_t start, int64_t stop, int64_t step) {
  tl_slice slice = {start, step, 0};
  if (step > 0 && start < stop) {
    slice.length = (stop - start - 1) / step + 1;
  } else if (step < 0 && stop < start) {
    slice.length = (start - stop - 1) / -step + 1;
  }
  return slice;
}

// Reads one part of a slice, if it is given and not none.
// *parts is moved past the value, none included.
static bool slice_part(tl_vm *vm, const tl_slot **parts, bool given,
                       int64_t *out, bool *is_there) {
  *is_there = false;
  if (!given)
    return true;
  tl_slot s = *(*parts)++;
  if (tl_is_none(s))
    return true;
  *is_there = true;
  if (tl_index_integer(s, out))
    return true;
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "the parts of a slice are integers: got %s",
                 tl_described(vm, s));
}

// None as a part stands for a part that is not given.
bool tl_slice_resolve(tl_vm *vm, tl_index_item item, const tl_slot **parts,
                      int64_t length, tl_slice *out) {
  int64_t part[3] = {0, 0, 1};  // start, stop and step
  bool has[3];
  for (int i = 0; i < 3; i++)
    if (!slice_part(vm, parts, (item.given & TL_SLICE_START << i) != 0,
                    &part[i], &has[i]))
      return false;
  const int64_t step = part[2] == INT64_MIN ? -INT64_MAX : part[2];
  if (step == 0)
    return tl_fail(vm, TALLY_ERR_VALUE, "the step of a slice is 0");
  const int64_t start = has[0]     ? clip(part[0], length, step)
                        : step > 0 ? 0
                                   : length - 1;
  const int64_t stop = has[1]     ? clip(part[1], length, step)
                       : step > 0 ? length
                                  : -1;
  *out = make_slice(start, stop, step);
  return true;
}

// As start:stop:step of the range, but its ends are numbers and not parts that
// may be left out:
//
//   0..3 of 10 items      0 1 2
//   -2..5 of 10 items     empty: -2 is 8
//   reverse(0..3)         2 1 0, though its stop is -1
tl_slice tl_slice_of_range(const tl_range *range, int64_t length) {
  int64_t step = range->step == INT64_MIN ? -INT64_MAX : range->step;
  int64_t start = clip(range->start, length, step);
  // A range that runs down past 0, as reverse(0..n) does, ends there: its stop
  // does not count from the end.
  bool passes_zero = step < 0 && range->start >= 0 && range->stop < 0;
  int64_t stop = passes_zero ? -1 : clip(range->stop, length, step);
  return make_slice(start, stop, step);
}

// --- Counting axes ----------------------------------------------------------

static const tl_index_item value_item = {.kind = TL_ITEM_VALUE};
const tl_step tl_index_one = {.item_count = 1, .items = &value_item};

// A field takes none.
int tl_step_parts(const tl_step *step) {
  int parts = 0;
  for (int i = 0; step->field == NULL && i < step->item_count; i++)
    parts += tl_item_parts(step->items[i]);
  return parts;
}

// A bool is a mask of no axes, and makes one.
bool tl_index_is_item(const tl_array *a, const tl_step *step,
                      const tl_slot *parts) {
  if (step->item_count != tl_ndim(a))
    return false;
  for (int i = 0; i < step->item_count; i++)
    if (step->items[i].kind != TL_ITEM_VALUE || !tl_is_scalar(parts[i]) ||
        tl_is_bool(parts[i]))
      return false;
  return true;
}

// The index (), which an array without axes takes, and any other, too.
static bool is_empty_index(tl_slot s) {
  return tl_is_list(s) && s.list->length == 0;
}

// A bool is a mask of no axes.
int tl_item_axes(tl_index_item item, const tl_slot *part) {
  if (item.kind != TL_ITEM_VALUE)
    return item.kind == TL_ITEM_SLICE;
  if (tl_is_none(*part) || tl_is_bool(*part))
    return 0;
  // A mask covers the axes that it has.
  bool is_mask = tl_is_array(*part) && part->array->head.dtype == TL_BOOL;
  return is_mask ? tl_ndim(part->array) : 1;
}

// The state of reading an index from left to right.
// The invariant: axes before [axis] have been used up, and as many dimensions
// as the basic part has so far are in *out.
typedef struct reader {
  tl_vm *vm;
  const tl_array *base;
  tl_selection *out;
  int axis;  // the next axis of base
  int rest;  // axes that an ellipsis stands for
  int fancy_count;
  tl_fancy fancy[TL_MAX_DIMS];
  // Where the fancy dimensions go: 0 before the first one, 1 among them, 2
  // after them; a fancy item then sends them all to the front.
  int stage;
} reader;

// Counts the axes that the items stand for, to know how many an ellipsis is.
// Several index arrays count one axis each, a mask as many as it has.
static bool count_axes(reader *r, const tl_step *step, const tl_slot *parts) {
  int64_t axes = 0;
  int ellipses = 0;
  for (int i = 0; i < step->item_count; i++) {
    tl_index_item item = step->items[i];
    ellipses += item.kind == TL_ITEM_ELLIPSIS;
    if (item.kind != TL_ITEM_VALUE || step->item_count > 1 ||
        !is_empty_index(*parts))
      axes += tl_item_axes(item, parts);
    parts += tl_item_parts(item);
  }
  if (ellipses > 1)
    return tl_fail(r->vm, TALLY_ERR_INDEX, "an index has at most one \"...\"");
  if (axes > tl_ndim(r->base)) {
    if (tl_ndim(r->base) == 0)
      return tl_fail(r->vm, TALLY_ERR_TYPE,
                     "%s cannot be indexed: a number has no axes, so %" PRId64
                     " %s too many",
                     tl_dtypes[tl_array_dtype(r->base)].name, axes,
                     axes == 1 ? "index is" : "indices are");
    return tl_fail(r->vm, TALLY_ERR_INDEX,
                   "%" PRId64 " indices are too many for %d %s: %s", axes,
                   tl_ndim(r->base),
                   tl_ndim(r->base) == 1 ? "dimension" : "dimensions",
                   tl_described(r->vm, tl_lend_array(r->base)));
  }
  r->rest = tl_ndim(r->base) - (int)axes;
  return true;
}

// --- Items ------------------------------------------------------------------

// Adds a dimension to the basic part.
// A new axis comes here with length 1 and stride 0.
static bool add_dimension(reader *r, int64_t length, int64_t stride) {
  tl_selection *out = r->out;
  if (r->stage == 1)
    r->stage = 2;
  if (out->ndim == TL_MAX_DIMS)
    return tl_fail_dims(r->vm, "the result would have more than");
  out->shape[out->ndim] = length;
  out->strides[out->ndim++] = stride;
  return true;
}

// A slice of the next axis.
static bool add_slice(reader *r, tl_slice slice) {
  int64_t stride = tl_strides(r->base)[r->axis++];
  if (slice.length > 0)
    r->out->data += slice.start * stride;
  // One item or none: the step may be anything, and the product overflow.
  if (slice.length > 1)
    stride *= slice.step;
  return add_dimension(r, slice.length, stride);
}

// Notes that a fancy item stands here. NumPy's rule: dimensions of index arrays
// that stand side by side go to the place of the first one; if something stands
// between them, they go to the front.
static void note_fancy(reader *r) {
  if (r->stage == 0)
    r->out->fancy_at = r->out->ndim;
  if (r->stage == 2)
    r->out->fancy_at = 0;
  if (r->stage < 2)
    r->stage = 1;
}

// An integer for the next axis.
static bool add_integer(reader *r, tl_slot s, int64_t at) {
  int64_t length = tl_shape(r->base)[r->axis];
  if (!tl_index_wrap(&at, length))
    return tl_fail_index(r->vm, s, r->axis, length);
  r->out->data += at * tl_strides(r->base)[r->axis++];
  // Beside an index array an integer is one too, of rank 0.
  note_fancy(r);
  return true;
}

// Whether the mask has the lengths of its axes.
// These are as many as the mask has, from r->axis on; count_axes has seen to it
// that they are there.
static bool check_mask(reader *r, const tl_array *mask) {
  for (int i = 0; i < tl_ndim(mask); i++) {
    int64_t length = tl_shape(r->base)[r->axis + i];
    // A mask of no items takes none, as the array API standard has it.
    if (tl_shape(mask)[i] == length || tl_shape(mask)[i] == 0)
      continue;
    return tl_fail(r->vm, TALLY_ERR_INDEX,
                   "the mask's axis %d has size %" PRId64
                   ", but axis %d of the array has %" PRId64,
                   i, tl_shape(mask)[i], r->axis + i, length);
  }
  return true;
}

// The error of a value that cannot index an array.
static bool fail_kind(tl_vm *vm, tl_slot s) {
  const char *hint = tl_is_list(s) ? "; asarray(l) makes an array of it"
                     : tl_is_form(s, TL_FORM_OPTION)
                         ? "; fill_missing(mask, false) is a mask"
                         : "";
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "an array is indexed by integers, slices, ranges, none, and "
                 "arrays of integers or bools: got %s%s",
                 tl_described(vm, s), hint);
}

// An index array, a mask or a bool. Bools stand for no axes, so there may be
// more of them than axes.
static bool add_fancy(reader *r, tl_fancy fancy, int axes) {
  if (r->fancy_count == TL_MAX_DIMS)
    return tl_fail(r->vm, TALLY_ERR_INDEX,
                   "an index has at most %d index arrays and masks",
                   TL_MAX_DIMS);
  note_fancy(r);
  r->out->is_fancy = true;
  r->fancy[r->fancy_count++] = fancy;
  r->axis += axes;
  return true;
}

// An array as index: of integers, or a mask. The literal [] is of floats and
// taken for no indices.
static bool add_array(reader *r, tl_slot s) {
  const tl_array *array = s.array;
  tl_dtype dtype = tl_array_dtype(array);
  bool literal = array->size == 0 && tl_ndim(array) == 1;  // x[[]]
  if (tl_ndim(array) == 0 || (dtype != TL_BOOL && !tl_dtype_is_integer(dtype) &&
                              !(literal && dtype == TL_FLOAT64))) {
    return fail_kind(r->vm, s);
  }
  if (dtype == TL_BOOL && !check_mask(r, array))
    return false;
  return add_fancy(r, (tl_fancy){.array = array, .axis = r->axis},
                   dtype == TL_BOOL ? tl_ndim(array) : 1);
}

// One value of the index.
static bool add_value(reader *r, tl_slot s) {
  int64_t index;
  if (tl_index_integer(s, &index))
    return add_integer(r, s, index);
  if (tl_is_array(s))
    return add_array(r, s);
  if (tl_is_none(s))
    return add_dimension(r, 1, 0);
  if (tl_is_bool(s))
    return add_fancy(r, (tl_fancy){.axis = r->axis, .is_true = s.i != 0}, 0);
  if (tl_is_range(s)) {
    int64_t length = tl_shape(r->base)[r->axis];
    return add_slice(r, tl_slice_of_range(s.range, length));
  }
  return fail_kind(r->vm, s);
}

// Axes that the index leaves as they are.
static bool add_whole(reader *r, int count) {
  for (; count > 0; count--) {
    int64_t length = tl_shape(r->base)[r->axis];
    if (!add_slice(r, (tl_slice){0, 1, length}))
      return false;
  }
  return true;
}

// One item of the index; *parts is moved past its values.
static bool add_item(reader *r, tl_index_item item, const tl_slot **parts) {
  if (item.kind == TL_ITEM_VALUE)
    return add_value(r, *(*parts)++);
  if (item.kind == TL_ITEM_ELLIPSIS) {
    int count = r->rest;
    r->rest = 0;
    if (r->stage == 1)
      r->stage = 2;  // it parts index arrays even if empty
    return add_whole(r, count);
  }
  int64_t length = tl_shape(r->base)[r->axis];
  tl_slice slice;
  return tl_slice_resolve(r->vm, item, parts, length, &slice) &&
         add_slice(r, slice);
}

// --- The whole --------------------------------------------------------------

// A bound of a slice of step 1, clipped to the axis; false: it is no int64.
// The value is clipped before it is known to be an integer, which costs less
// than a jump; what is no integer is thrown away.
static bool plain_bound(tl_slot s, int64_t length, int64_t *out) {
  *out = clip(s.i, length, 1);
  return (s.tag & TL_CLASS_I64) != 0;
}

// Integers within their axes and slices of step 1, whose bounds are int64.
// False where anything else stands among them.
bool tl_select_plain(const tl_array *base, const tl_step *step,
                     const tl_slot *parts, tl_selection *out) {
  const int ndim = tl_ndim(base);
  out->data = base->data;
  out->ndim = 0;
  out->is_fancy = false;
  if (step->item_count > ndim)
    return false;
  const int64_t *shape = tl_shape(base), *strides = tl_strides(base);
  for (int i = 0; i < ndim; i++) {
    int64_t start = 0, stop = shape[i];
    if (i < step->item_count) {
      const tl_index_item item = step->items[i];
      if (item.kind == TL_ITEM_VALUE) {
        int64_t at = parts->i;
        if ((parts++->tag & TL_CLASS_I64) == 0 || !tl_index_wrap(&at, shape[i]))
          return false;
        out->data += at * strides[i];
        continue;
      }
      if (item.kind != TL_ITEM_SLICE || (item.given & TL_SLICE_STEP) != 0 ||
          ((item.given & TL_SLICE_START) != 0 &&
           !plain_bound(*parts++, shape[i], &start)) ||
          ((item.given & TL_SLICE_STOP) != 0 &&
           !plain_bound(*parts++, shape[i], &stop)))
        return false;
    }
    if (start < stop)
      out->data += start * strides[i];
    out->shape[out->ndim] = start < stop ? stop - start : 0;
    out->strides[out->ndim++] = strides[i];
  }
  return true;
}

// Two attempts, as nearly all indices are integers and slices: those go through
// tl_select_plain in one loop, and the reader begins anew where it gave up. A
// base of fewer items in the index than axes is whole in the rest of them.
bool tl_select(tl_vm *vm, const tl_array *base, const tl_step *step,
               const tl_slot *parts, tl_selection *out) {
  out->fancy_at = 0;
  out->keep = tl_none();
  if (tl_select_plain(base, step, parts, out))
    return true;
  reader r;
  r.vm = vm;
  r.base = base;
  r.out = out;
  r.axis = r.fancy_count = r.stage = 0;
  out->data = base->data;
  out->ndim = 0;
  if (!count_axes(&r, step, parts))
    return false;
  bool is_whole = step->item_count == 1 &&
                  step->items[0].kind == TL_ITEM_VALUE &&
                  is_empty_index(parts[0]);
  for (int i = 0; i < step->item_count && !is_whole; i++)
    if (!add_item(&r, step->items[i], &parts))
      return false;
  if (!add_whole(&r, r.rest))
    return false;
  return !out->is_fancy ||
         tl_positions_make(vm, base, r.fancy_count, r.fancy, out);
}

// May be called for one that is not fancy, which has nothing to give up.
void tl_selection_close(tl_vm *vm, tl_selection *selection) {
  tl_clear(vm, &selection->keep);
}
