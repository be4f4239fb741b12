// Rows of different lengths: made, taken apart, padded.
//
//
//   ragged([1, 2, 3], [2, 0, 1])
//
//   offsets   0 2 2 3       row i has the items from offset i up to i + 1
//   items     1 2 3
//
// Functions here make or read offsets; items are moved only by padding.

#include "stdlib/ragged.h"

#include <inttypes.h>

#include "stdlib/families.h"
#include "vm/nested/parts.h"

// An array of two axes or more is taken as rows: the slot then owns them.
bool tl_arg_ragged(tl_vm *vm, const char *function, tl_slot *s) {
  tl_slot made;
  if (tl_is_form(*s, TL_FORM_RAGGED))
    return true;
  if (tl_value_ndim(*s) < 2)
    return tl_arg_fail(vm, function, "x", "an array of rows", *s);
  if (!tl_ragged_of_regular(vm, *s, &made))
    return false;
  return tl_replace(vm, s, made);
}

// --- Making -----------------------------------------------------------------

// The counts as offsets, which must come to [total].
static bool read_counts(tl_vm *vm, tl_slot s, int64_t total, tl_array **out) {
  tl_slot counts;
  if (tl_is_array(s) && s.array->size > 0 &&
      !tl_dtype_is_integer(tl_array_dtype(s.array)))
    return tl_arg_fail(vm, "ragged", "counts", "an array of integers", s);
  if (!tl_as_contiguous(vm, "ragged", s, TL_INT64, &counts))
    return false;
  const tl_array *a = counts.array;
  bool ok = tl_ndim(a) >= 1 ||
            tl_fail(vm, TALLY_ERR_SHAPE, "ragged: counts have no axis");
  tl_array *offsets = ok ? tl_offsets_new(vm, a->size) : NULL;
  ok = offsets != NULL;
  for (int64_t i = 0; i < a->size && tl_poll_ok(vm, i, &ok); i++) {
    int64_t n = ((const int64_t *)(const void *)a->data)[i];
    int64_t *to = &tl_offsets_data(offsets)[i + 1];
    // The first count that goes too far is named, not the sum of all.
    if (n < 0 || __builtin_add_overflow(to[-1], n, to) || *to > total) {
      ok = tl_fail(vm, TALLY_ERR_VALUE,
                   n < 0 ? "ragged: counts: row %" PRId64 " would have %" PRId64
                           " items"
                         : "ragged: counts: row %" PRId64 " of %" PRId64
                           " items goes beyond the values",
                   i, n);
    }
  }
  if (ok && tl_offsets_data(offsets)[a->size] != total) {
    ok = tl_fail(vm, TALLY_ERR_VALUE,
                 "ragged: the counts come to %" PRId64
                 ", but there are %" PRId64 " values",
                 tl_offsets_data(offsets)[a->size], total);
  }
  tl_drop(vm, counts);
  if (ok)
    *out = offsets;
  else
    tl_array_drop(vm, offsets);
  return ok;
}

// ragged(values, counts): rows over the values as they are, without a copy.
// Counts of several axes give rows in a grid of their shape. Takes the values
// where they end here.
static bool ragged(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_array *offsets = NULL;
  if (tl_value_ndim(args[0]) == 0 && !tl_arg_array(vm, "ragged", &args[0]))
    return false;
  if (tl_value_ndim(args[0]) == 0)
    return tl_arg_fail(vm, "ragged", "values", "an array", args[0]);
  if (!read_counts(vm, args[1], tl_value_length(args[0], 0), &offsets))
    return false;
  tl_slot items = tl_take(vm, &args[0]), made;
  if (!tl_ragged_new(vm, offsets, &items, &made))
    return false;
  int64_t rows = tl_ragged_rows(made.nested);
  const tl_array *counts = tl_is_array(args[1]) ? args[1].array : NULL;
  return tl_value_split_axis(vm, &made, counts != NULL ? tl_ndim(counts) : 1,
                             counts != NULL ? tl_shape(counts) : &rows, out);
}

// from_regular(x): the first axis becomes rows of one length.
static bool from_regular(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!tl_is_nested(args[0]) &&
      !tl_arg_array_or_string(vm, "from_regular", &args[0]))
    return false;
  if (tl_value_ndim(args[0]) < 2)
    return tl_arg_fail(vm, "from_regular", "x", "an array of two axes or more",
                       args[0]);
  return tl_ragged_of_regular(vm, args[0], out);
}

// to_regular(x): the reverse, which fails (kind shape) where lengths differ.
// What is regular already is passed on.
static bool to_regular(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (tl_value_ndim(args[0]) > 1) {
    *out = tl_pass_on(&args[0]);
    return true;
  }
  return tl_arg_ragged(vm, "to_regular", &args[0]) &&
         tl_in_module(vm, "inner/nested", "as_regular", 1, args, out);
}

// --- Taking apart -----------------------------------------------------------

// is_ragged(x): of the form alone, whatever the lengths.
static bool is_ragged(tl_vm *vm, tl_slot *args, tl_slot *out) {
  *out = tl_bool(tl_is_form(args[0], TL_FORM_RAGGED));
  return true;
}

// lengths(x): differences of neighbouring offsets. An array of two axes or more
// has rows of one length.
static bool lengths(tl_vm *vm, tl_slot *args, tl_slot *out) {
  bool is_ragged = tl_is_form(args[0], TL_FORM_RAGGED);
  if (!is_ragged && tl_value_ndim(args[0]) < 2)
    return tl_arg_ragged(vm, "lengths", &args[0]);
  int64_t rows = tl_value_length(args[0], 0);
  tl_array *counts = tl_positions_new(vm, rows);
  if (counts == NULL)
    return false;
  const int64_t *at = is_ragged ? tl_ragged_offsets(args[0].nested) : NULL;
  for (int64_t i = 0; i < rows && tl_array_polled(vm, &counts, i); i++)
    tl_offsets_data(counts)[i] =
        is_ragged ? at[i + 1] - at[i] : tl_value_length(args[0], 1);
  return tl_array_give(counts, out);
}

// local_index(x): rows as x has them, each from 0 on.
static bool local_index(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot offsets, items;
  if (!tl_ragged_flat(vm, args[0], &offsets, &items))
    return false;
  tl_drop(vm, items);
  const int64_t *at = tl_offsets_data(offsets.array);
  int64_t rows = offsets.array->size - 1;
  tl_array *places = tl_positions_new(vm, at[rows]);
  bool going = places != NULL;
  for (int64_t i = 0; going && i < rows && tl_poll_ok(vm, i, &going); i++) {
    for (int64_t k = at[i]; k < at[i + 1] && tl_poll_ok(vm, k, &going); k++)
      tl_offsets_data(places)[k] = k - at[i];
  }
  tl_slot made;
  bool ok = tl_array_finish(vm, going, places, &made);
  return tl_rows_close(vm, ok, &offsets, &made, out);
}

// --- Padding ----------------------------------------------------------------

// pad_rows(x, width, fill): longer rows are cut, a gap is none or fill.
static bool pad_rows(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const tl_slot content = args[0].nested->parts[1], fill = args[2];
  const bool option = tl_is_form(content, TL_FORM_OPTION);
  const tl_slot values = option ? content.nested->parts[1] : content;
  // A struct as a whole is not missing: its fields are.
  if (tl_has_fields(content) && tl_is_none(fill))
    return tl_in_module(vm, "inner/nested", "pad_structs", 2, args, out);
  if (!tl_has_fields(values) &&
      (!tl_is_array(values) || tl_ndim(values.array) != 1)) {
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "pad_rows: rows of plain items have places to be missing, "
                   "not rows of %s",
                   tl_described(vm, content));
  }
  const bool texts = tl_dtype_of(values) == TL_STRING;
  if (!tl_is_none(fill) && tl_is_array(content) && tl_is_string(fill) != texts)
    return tl_arg_fail(
        vm, "pad_rows", "fill",
        texts ? "a string, as the items are" : "a number, as the items are",
        fill);
  return tl_in_module(vm, "inner/nested", "pad", 3, args, out);
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_ragged_builtins[] = {
    /// Rows of different lengths: the first counts[0] values, the next
    /// counts[1], and so on. The counts must come to the number of values;
    /// counts of several axes give rows in their shape.
    /// Values other than arrays and counts other than integers are an error
    /// (kind type), counts that do not fit the values another (value).
    ///     ragged([1, 2, 3], [2, 0, 1])    # [[1, 2], [], [3]]
    {"ragged", "values, counts", ragged, .takes = TL_BYTES},
    /// ragged(x, counts): what flatten took away.
    /// Rows of the array, of any dtype. Counts that do not come to the number of
    /// values are an error (kind value).
    ///     unflatten([1, 2, 3], [1, 2])    # [[1], [2, 3]]
    {"unflatten", "x, counts", ragged, .takes = TL_BYTES},
    /// An array of two axes or more as one with ragged rows, all of a length.
    /// Values other than arrays are an error (kind type).
    ///     typeof(from_regular([[1, 2], [3, 4]]))    # 2 * var * int64
    {"from_regular", "x", from_regular, .takes = TL_BYTES},
    /// A ragged array whose rows have one length as an array without var; a
    /// row of another length is an error (kind shape).
    /// Any dtype, which stays.
    ///     to_regular(ragged([1, 2, 3, 4], [2, 2]))    # [[1, 2], [3, 4]]
    {"to_regular", "x", to_regular, .result = TL_RETURNS, .lifts = TL_OF_ROWS,
     .takes = TL_BYTES},
    /// Whether x is an array of rows that may differ in length: of a var
    /// dimension. Takes any value of any dtype; never fails.
    ///     is_ragged([[1], [2, 3]])    # true
    {"is_ragged", "x", is_ragged, .takes = TL_BYTES},
    /// The number of items of each row.
    /// Values other than arrays are an error (kind type).
    ///     lengths([[1, 2], [], [3]])    # [2, 0, 1]
    {"lengths", "x", lengths, .lifts = TL_OF_ROWS, .takes = TL_BYTES},
    /// The place of each item within its row.
    /// Gives int64. Values other than arrays are an error (kind type).
    ///     local_index([[5, 6], [7]])    # [[0, 1], [0]]
    {"local_index", "x", local_index, .lifts = TL_OF_ROWS, .takes = TL_BYTES,
     .types = "g"},
    /// The rows of x cut or filled to width items, as an array of two axes;
    /// what is filled is missing, or the value of fill.
    /// Any dtype, which stays. Values other than arrays are an error (kind
    /// type).
    ///     pad_rows([[1, 2, 3], [4]], 2, 0)    # [[1, 2], [4, 0]]
    {"pad_rows", "x, width, fill = none", pad_rows, .lifts = TL_INNERMOST,
     .takes = TL_BYTES, .types = "gn"},
    {.name = NULL},
};
