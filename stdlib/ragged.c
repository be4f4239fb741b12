// Rows of different lengths: made, taken apart, padded.

#include "stdlib/ragged.h"

#include <inttypes.h>

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/families.h"
#include "vm/engine.h"
#include "vm/nested_elementwise.h"
#include "vm/vm.h"

// An array of two axes or more is taken as rows: the slot then owns them.
bool tl_arg_ragged(tl_vm *vm, const char *function, tl_slot *s) {
  tl_slot made;
  if (tl_is_form(*s, TL_FORM_RAGGED))
    return true;
  if (tl_value_ndim(*s) < 2)
    return tl_arg_fail(vm, function, "x", "an array of rows", *s);
  if (!tl_ragged_of_regular(vm, *s, &made))
    return false;
  tl_clear(vm, s);
  *s = made;
  return true;
}

// --- Making -----------------------------------------------------------------

// The counts as offsets, which must come to [total] (-1: to anything).
static bool read_counts(tl_vm *vm, const char *function, tl_slot s,
                        int64_t total, tl_array **out) {
  tl_slot counts;
  if (!tl_as_contiguous(vm, function, s, TL_INT64, &counts))
    return false;
  const tl_array *a = counts.array;
  bool ok = tl_ndim(a) == 1 ||
            tl_fail(vm, TALLY_ERR_SHAPE, "%s: counts have %d axes, not 1",
                    function, tl_ndim(a));
  tl_array *offsets = ok ? tl_offsets_new(vm, a->size) : NULL;
  ok = offsets != NULL;
  for (int64_t i = 0; ok && i < a->size; i++) {
    int64_t n = ((const int64_t *)(const void *)a->data)[i];
    int64_t *to = &tl_offsets_data(offsets)[i + 1];
    if (n < 0 || __builtin_add_overflow(to[-1], n, to) ||
        (total >= 0 && *to > total)) {
      ok = tl_fail(vm, TALLY_ERR_VALUE,
                   n < 0 ? "%s: row %" PRId64 " would have %" PRId64 " items"
                         : "%s: row %" PRId64 " of %" PRId64
                           " items goes beyond the values",
                   function, i, n);
    }
  }
  if (ok && total >= 0 && tl_offsets_data(offsets)[a->size] != total) {
    ok = tl_fail(vm, TALLY_ERR_VALUE,
                 "%s: the counts come to %" PRId64 ", but there are %" PRId64
                 " values",
                 function, tl_offsets_data(offsets)[a->size], total);
  }
  tl_drop(vm, counts);
  if (ok)
    *out = offsets;
  else if (offsets != NULL)
    tl_drop(vm, tl_own_array(offsets));
  return ok;
}

static bool with_counts(tl_vm *vm, const char *function, tl_slot *args,
                        tl_slot *out) {
  tl_array *offsets;
  if (tl_value_ndim(args[0]) == 0 && !tl_arg_array(vm, function, &args[0]))
    return false;
  if (tl_value_ndim(args[0]) == 0)
    return tl_arg_fail(vm, function, "values", "an array", args[0]);
  if (!read_counts(vm, function, args[1], tl_value_length(args[0], 0),
                   &offsets))
    return false;
  tl_slot items = tl_take(vm, &args[0]);
  return tl_ragged_new(vm, offsets, &items, out);
}

static bool ragged(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return with_counts(vm, "ragged", args, out);
}

static bool unflatten(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return with_counts(vm, "unflatten", args, out);
}

static bool from_regular(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!tl_is_nested(args[0]) &&
      !tl_arg_array_or_string(vm, "from_regular", &args[0]))
    return false;
  if (tl_value_ndim(args[0]) < 2)
    return tl_arg_fail(vm, "from_regular", "x", "an array of two axes or more",
                       args[0]);
  return tl_ragged_of_regular(vm, args[0], out);
}

static bool to_regular(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (tl_value_ndim(args[0]) > 1) {
    *out = tl_pass_on(&args[0]);
    return true;
  }
  if (!tl_arg_ragged(vm, "to_regular", &args[0]))
    return false;
  const int64_t *at = tl_ragged_offsets(args[0].nested);
  int64_t rows = tl_ragged_rows(args[0].nested);
  int64_t width = rows > 0 ? at[1] - at[0] : 0;
  for (int64_t i = 1; i < rows; i++) {
    if (at[i + 1] - at[i] == width)
      continue;
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "to_regular: row %" PRId64 " has %" PRId64
                   " items, row 0 has %" PRId64,
                   i, at[i + 1] - at[i], width);
  }
  tl_slot offsets, items, dense;
  if (!tl_ragged_flat(vm, args[0], &offsets, &items))
    return false;
  tl_drop(vm, offsets);
  if (!tl_is_array(items)) {
    tl_arg_fail(vm, "to_regular", "x", "of rows of plain items", args[0]);
    tl_drop(vm, items);
    return false;
  }
  bool ok = tl_array_contiguous(vm, &items, &dense);
  tl_drop(vm, items);
  if (!ok)
    return false;
  int64_t shape[TL_MAX_DIMS + 1] = {rows, width};
  int ndim = tl_ndim(dense.array) + 1;
  for (int i = 2; i < ndim; i++) shape[i] = tl_shape(dense.array)[i - 1];
  ok = tl_reshape(vm, &dense, ndim, shape, out);
  if (ok)
    tl_hold(vm, *out, TL_CAUSE_VIEW);
  tl_drop(vm, dense);
  return ok;
}

// --- Taking apart -----------------------------------------------------------

static bool is_ragged(tl_vm *vm, tl_slot *args, tl_slot *out) {
  (void)vm;
  *out = tl_bool(tl_is_form(args[0], TL_FORM_RAGGED));
  return true;
}

static bool lengths(tl_vm *vm, tl_slot *args, tl_slot *out) {
  bool is_ragged = tl_is_form(args[0], TL_FORM_RAGGED);
  if (!is_ragged && tl_value_ndim(args[0]) < 2)
    return tl_arg_ragged(vm, "lengths", &args[0]);
  int64_t rows = tl_value_length(args[0], 0);
  tl_array *counts = tl_positions_new(vm, rows);
  if (counts == NULL)
    return false;
  const int64_t *at = is_ragged ? tl_ragged_offsets(args[0].nested) : NULL;
  for (int64_t i = 0; i < rows; i++)
    tl_offsets_data(counts)[i] =
        is_ragged ? at[i + 1] - at[i] : tl_value_length(args[0], 1);
  *out = tl_own_array(counts);
  return true;
}

static bool local_index(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!tl_arg_ragged(vm, "local_index", &args[0]))
    return false;
  tl_slot offsets, items;
  if (!tl_ragged_flat(vm, args[0], &offsets, &items))
    return false;
  tl_drop(vm, items);
  const int64_t *at = tl_offsets_data(offsets.array);
  int64_t rows = offsets.array->size - 1;
  tl_array *places = tl_positions_new(vm, at[rows]);
  if (places == NULL) {
    tl_drop(vm, offsets);
    return false;
  }
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t k = at[i]; k < at[i + 1]; k++)
      tl_offsets_data(places)[k] = k - at[i];
  }
  tl_slot made = tl_own_array(places);
  return tl_nested_pair(vm, TL_FORM_RAGGED, 1, &offsets, &made, out);
}

// x[i, 0] of each row, missing where the row is empty.
static bool firsts(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!tl_arg_ragged(vm, "firsts", &args[0]))
    return false;
  const tl_nested *n = args[0].nested;
  const int64_t *at = tl_ragged_offsets(n);
  int64_t rows = tl_ragged_rows(n), length = tl_value_length(n->parts[1], 0);
  if (!tl_is_array(n->parts[1]))
    return tl_arg_fail(vm, "firsts", "x", "of rows of plain items", args[0]);
  tl_array *places = tl_positions_new(vm, rows);
  tl_array *mask = places != NULL ? tl_array_new(vm, TL_BOOL, 1, &rows) : NULL;
  bool ok = mask != NULL;
  for (int64_t i = 0; ok && i < rows; i++) {
    mask->data[i] = at[i] == at[i + 1];
    tl_offsets_data(places)[i] = at[i] == at[i + 1] ? 0 : at[i];
  }
  tl_slot values;
  if (ok && length == 0) {  // nothing to take: all are missing
    tl_array *zeros =
        tl_array_zeros(vm, tl_array_dtype(n->parts[1].array), 1, &rows);
    ok = zeros != NULL;
    if (ok)
      values = tl_own_array(zeros);
  } else if (ok) {
    ok = tl_value_take(vm, n->parts[1], places, &values);
  }
  if (places != NULL)
    tl_drop(vm, tl_own_array(places));
  if (!ok) {
    if (mask != NULL)
      tl_drop(vm, tl_own_array(mask));
    return false;
  }
  tl_slot missing = tl_own_array(mask);
  return tl_nested_pair(vm, TL_FORM_OPTION, tl_ndim(values.array), &missing,
                        &values, out);
}

static bool singletons(tl_vm *vm, tl_slot *args, tl_slot *out) {
  bool option = tl_is_form(args[0], TL_FORM_OPTION);
  if (!option && !tl_arg_array_or_string(vm, "singletons", &args[0]))
    return false;
  if (tl_value_ndim(args[0]) != 1)
    return tl_arg_fail(vm, "singletons", "x", "of one axis", args[0]);
  int64_t rows = tl_value_length(args[0], 0);
  tl_array *offsets = tl_offsets_new(vm, rows);
  if (offsets == NULL)
    return false;
  const tl_array *mask = option ? args[0].nested->parts[0].array : NULL;
  for (int64_t i = 0; i < rows; i++) {
    bool there = mask == NULL || mask->data[i * tl_strides(mask)[0]] == 0;
    tl_offsets_data(offsets)[i + 1] = tl_offsets_data(offsets)[i] + there;
  }
  tl_slot items;
  bool ok = true;
  if (option) {
    tl_slot there, lent = tl_borrow(args[0].nested->parts[0]);
    ok = tl_elementwise(vm, TL_OP_LOGICAL_NOT, &lent, &there);
    if (ok) {
      ok = tl_value_take(vm, args[0].nested->parts[1], there.array, &items);
      tl_drop(vm, there);
    }
  } else {
    items = tl_take(vm, &args[0]);
  }
  if (ok)
    return tl_ragged_new(vm, offsets, &items, out);
  tl_drop(vm, tl_own_array(offsets));
  return false;
}

// --- Padding ----------------------------------------------------------------

// x, width, fill
static bool pad_rows(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int64_t width;
  if (!tl_arg_ragged(vm, "pad_rows", &args[0]) ||
      !tl_arg_count(vm, "pad_rows", "width", args[1], &width))
    return false;
  const tl_nested *n = args[0].nested;
  tl_slot content = n->parts[1];
  const int64_t *at = tl_ragged_offsets(n);
  int64_t shape[2] = {tl_ragged_rows(n), width}, size;
  size_t nbytes;
  if (!tl_is_array(content) || tl_ndim(content.array) != 1)
    return tl_arg_fail(vm, "pad_rows", "x", "of rows of plain items", args[0]);
  if (!tl_shape_size(vm, 2, shape, sizeof(int64_t), &size, &nbytes))
    return false;
  tl_array *places = tl_array_new(vm, TL_INT64, 2, shape);
  tl_array *gaps = places != NULL ? tl_array_new(vm, TL_BOOL, 2, shape) : NULL;
  bool ok = gaps != NULL;
  for (int64_t i = 0; ok && i < shape[0]; i++) {
    for (int64_t k = 0; k < width; k++) {
      bool gap = at[i] + k >= at[i + 1];
      gaps->data[i * width + k] = gap;
      tl_offsets_data(places)[i * width + k] = gap ? 0 : at[i] + k;
    }
  }
  tl_slot values = tl_none();
  if (ok && content.array->size == 0) {
    tl_array *zeros =
        tl_array_zeros(vm, tl_array_dtype(content.array), 2, shape);
    ok = zeros != NULL;
    if (ok)
      values = tl_own_array(zeros);
  } else if (ok) {
    ok = tl_value_take(vm, content, places, &values);
  }
  if (places != NULL)
    tl_drop(vm, tl_own_array(places));
  tl_slot mask = gaps != NULL ? tl_own_array(gaps) : tl_none();
  if (!ok) {
    tl_clear(vm, &mask);
    return false;
  }
  if (tl_is_none(args[2]))
    return tl_nested_pair(vm, TL_FORM_OPTION, 2, &mask, &values, out);
  tl_slot parts[3] = {mask, tl_borrow(args[2]), values};
  ok = tl_elementwise(vm, TL_OP_WHERE, parts, out);
  tl_clear(vm, &parts[0]);
  tl_clear(vm, &parts[2]);
  return ok;
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_ragged_builtins[] = {
    {"ragged", "values, counts", ragged, TL_PURE,
     "Rows of different lengths: the first counts[0] values, the next\n"
     "counts[1], and so on. The counts must come to the number of values.\n"
     "Values other than arrays are an error (kind type).\n"
     "    ragged([1, 2, 3], [2, 0, 1])    # [[1, 2], [], [3]]\n"},
    {"unflatten", "x, counts", unflatten, TL_PURE,
     "ragged(x, counts): what flatten took away.\n"
     "Rows of the array, of any dtype. Counts that do not come to the number "
     "of\n"
     "values are an error (kind value).\n"
     "    unflatten([1, 2, 3], [1, 2])    # [[1], [2, 3]]\n"},
    {"from_regular", "x", from_regular, TL_PURE,
     "An array of two axes or more as one with ragged rows, all of a length.\n"
     "Values other than arrays are an error (kind type).\n"
     "    typeof(from_regular([[1, 2], [3, 4]]))    # 2 * var * int64\n"},
    {"to_regular", "x", to_regular, TL_RETURNS | TL_OF_ROWS,
     "A ragged array whose rows have one length as an array without var; a\n"
     "row of another length is an error (kind shape).\n"
     "Any dtype, which stays.\n"
     "    to_regular(ragged([1, 2, 3, 4], [2, 2]))    # [[1, 2], [3, 4]]\n"},
    {"is_ragged", "x", is_ragged, TL_PURE,
     "Whether x is an array of rows that may differ in length: of a var\n"
     "dimension. Takes any value of any dtype; never fails.\n"
     "    is_ragged([[1], [2, 3]])    # true\n"},
    {"lengths", "x", lengths, TL_OF_ROWS,
     "The number of items of each row.\n"
     "Values other than arrays are an error (kind type).\n"
     "    lengths([[1, 2], [], [3]])    # [2, 0, 1]\n"},
    {"local_index", "x", local_index, TL_OF_ROWS,
     "The place of each item within its row.\n"
     "Gives int64. Values other than arrays are an error (kind type).\n"
     "    local_index([[5, 6], [7]])    # [[0, 1], [0]]\n"},
    {"firsts", "x", firsts, TL_OF_ROWS,
     "The first item of each row, missing where a row is empty.\n"
     "Any dtype, which stays. Values other than arrays are an error (kind\n"
     "type).\n"
     "    firsts([[1, 2], [], [3]])    # [1, none, 3]\n"},
    {"singletons", "x", singletons, TL_PURE,
     "Each item as a row of its own, a missing one as an empty row.\n"
     "Any dtype, which stays. Values other than arrays are an error (kind\n"
     "type).\n"
     "    singletons([1, none, 3])    # [[1], [], [3]]\n"},
    {"pad_rows", "x, width, fill = none", pad_rows, TL_OF_ROWS,
     "The rows of x cut or filled to width items, as an array of two axes;\n"
     "what is filled is missing, or the value of fill.\n"
     "Any dtype, which stays. Values other than arrays are an error (kind\n"
     "type).\n"
     "    pad_rows([[1, 2, 3], [4]], 2, 0)    # [[1, 2], [4, 0]]\n"},
    {NULL, NULL, NULL, 0, NULL},
};
