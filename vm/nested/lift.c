// Functions of the library, lifted to arrays that they do not know. See lift.h.

#include "vm/nested/lift.h"
#include "vm/nested/lift_internal.h"

#include <string.h>

#include "vm/array/describe.h"
#include "vm/engine/engine.h"
#include "vm/error.h"
#include "vm/nested/grid.h"
#include "vm/values/list.h"
#include "vm/nested/nested_elementwise.h"
#include "vm/nested/parts.h"
#include "vm/nested/ragged.h"
#include "vm/index/select.h"
#include "vm/array/stack.h"
#include "vm/array/string_item.h"
#include "vm/vm.h"

static bool fail_kind(tl_vm *vm, const tl_builtin *builtin, tl_slot s,
                      const char *what) {
  char text[TL_DESCRIBE];
  return tl_fail(vm, TALLY_ERR_TYPE, "%s: %s: got %s", builtin->name, what,
                 tl_describe(s, text, sizeof text));
}

bool tl_lift_call(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                  tl_slot *args, tl_slot *out) {
  bool ok = tl_is_lifted(builtin, args) ? tl_lift(vm, builtin, count, args, out)
                                        : builtin->call(vm, args, out);
  if (ok)
    tl_own_result(vm, builtin, out);
  return ok;
}

static void drop_args(tl_vm *vm, uint32_t count, tl_slot *args) {
  for (uint32_t i = 0; i < count; i++) tl_clear(vm, &args[i]);
}

// --- Each item --------------------------------------------------------------

// What a function made of the items of all rows: rows again, under their
// offsets, where it [has_items], else as it is. [ok]: whether it was made.
static bool close_result(tl_vm *vm, bool ok, bool has_items, tl_slot *offsets,
                         tl_slot *made, tl_slot *out) {
  if (!ok || has_items)
    return tl_rows_close(vm, ok, offsets, made, out);
  tl_clear(vm, offsets);
  tl_copy_slot(out, made);
  return true;
}

// The items of all rows of the arguments that are ragged, whose rows agree.
static bool of_rows(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                    const tl_slot *args, tl_slot *out) {
  tl_slot given[TL_MAX_PARAMS], offsets, made;
  uint32_t opened = 1;
  if (!tl_ragged_borrow(vm, args[0], &offsets, &given[0]))
    return false;
  bool ok = true;
  for (; ok && opened < count; opened += ok) {
    given[opened] = tl_borrow(args[opened]);
    if (tl_is_form(args[opened], TL_FORM_RAGGED))
      ok = tl_ragged_spread(vm, args[opened], args[0], &given[opened]);
  }
  ok = ok && tl_lift_call(vm, builtin, count, given, &made);
  drop_args(vm, opened, given);
  return close_result(vm, ok, ok && tl_value_ndim(made) > 0, &offsets, &made,
                      out);
}

// One item that is there, lent by the values where it is a string that has an
// object; *out is unset where all are missing. False: out of memory.
static bool one_present(tl_vm *vm, const tl_nested *n, tl_slot *out) {
  const tl_array *mask = n->parts[0].array, *values = n->parts[1].array;
  char *data[2] = {mask->data, values->data};
  const int64_t *strides[2] = {tl_strides(mask), tl_strides(values)};
  tl_walk walk;
  *out = tl_unset();
  tl_walk_begin(&walk, 2, tl_ndim(mask), tl_shape(mask), data, strides);
  for (; !walk.done; tl_walk_next(&walk)) {
    for (int64_t i = 0; i < walk.length; i++) {
      if (walk.data[0][i * walk.step[0]] != 0)
        continue;
      const char *item = walk.data[1] + i * walk.step[1];
      if (tl_array_dtype(values) != TL_STRING) {
        *out = tl_scalar_load(tl_array_dtype(values), item);
        return true;
      }
      *out =
          tl_string_item_value(vm, (const tl_string_item *)(const void *)item);
      return !tl_is_unset(*out);
    }
  }
  return true;
}

// The values with one of those that are there in each gap, which the function
// takes if it takes that one; without any a zero or no text. *out is owned.
// *there: whether there is any.
static bool fill_gaps(tl_vm *vm, const tl_nested *n, tl_slot *out,
                      bool *there) {
  tl_slot filler;
  if (!one_present(vm, n, &filler))
    return false;
  *there = !tl_is_unset(filler);
  tl_dtype dtype = tl_array_dtype(n->parts[1].array);
  if (!*there && dtype == TL_STRING)
    filler = (tl_slot){.tag = TL_TAG_STRING, .string = tl_empty_string()};
  else if (!*there)
    filler = dtype == TL_BOOL ? tl_bool(false) : tl_weak_int(0);
  bool ok = tl_compute3(vm, TL_OP_WHERE, n->parts[0], filler, n->parts[1], out);
  tl_drop(vm, filler);
  return ok;
}

// The function's values where all are missing: what it gives of no items tells
// their dtype. *out is owned.
static bool of_gaps_alone(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                          tl_slot *given, const tl_array *values,
                          tl_slot *out) {
  int64_t none = 0;
  tl_slot made;
  tl_array *empty = tl_array_new(vm, tl_array_dtype(values), 1, &none);
  if (empty == NULL)
    return false;
  given[0] = tl_own_array(empty);
  if (!tl_lift_call(vm, builtin, count, given, &made))
    return false;
  bool ok = tl_is_array(made) ||
            tl_fail(vm, TALLY_ERR_TYPE, "%s: x has no items", builtin->name);
  tl_array *zeros = ok ? tl_array_zeros(vm, tl_array_dtype(made.array),
                                        tl_ndim(values), tl_shape(values))
                       : NULL;
  tl_drop(vm, made);
  if (zeros != NULL)
    *out = tl_own_array(zeros);
  return zeros != NULL;
}

// What lies in the gaps may be what the function refuses: then it gets other
// values there.
static bool refused(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                    const tl_slot *args, tl_slot *out) {
  tl_slot given[TL_MAX_PARAMS];
  bool there = true;
  const tl_nested *n = args[0].nested;
  if (vm->error.status != TALLY_ERR_VALUE || !tl_is_array(n->parts[1]))
    return false;
  tl_error_clear(vm);
  for (uint32_t i = 0; i < count; i++) given[i] = tl_borrow(args[i]);
  given[0] = tl_none();
  bool ok = fill_gaps(vm, n, &given[0], &there) &&
            tl_lift_call(vm, builtin, count, given, out);
  drop_args(vm, count, given);
  if (ok || vm->error.status != TALLY_ERR_VALUE || there)
    return ok;
  tl_error_clear(vm);
  for (uint32_t i = 1; i < count; i++) given[i] = tl_borrow(args[i]);
  ok = of_gaps_alone(vm, builtin, count, given, n->parts[1].array, out);
  drop_args(vm, count, given);
  return ok;
}

// The values that may be missing; so may the results.
static bool of_values(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                      const tl_slot *args, tl_slot *out) {
  tl_slot given[TL_MAX_PARAMS], made, mask;
  const tl_nested *n = args[0].nested;
  for (uint32_t i = 0; i < count; i++) given[i] = tl_borrow(args[i]);
  given[0] = tl_borrow(n->parts[1]);
  bool ok = tl_lift_call(vm, builtin, count, given, &made);
  drop_args(vm, count, given);
  ok = ok || refused(vm, builtin, count, args, &made);
  if (!ok)
    return false;
  // Results that may be missing themselves have nothing missing of their own.
  if (tl_is_form(made, TL_FORM_OPTION)) {
    tl_slot values = tl_retain(vm, tl_borrow(made.nested->parts[1]));
    tl_drop(vm, made);
    made = values;
  }
  if (!tl_is_array(made) || tl_ndim(made.array) != tl_nested_ndim(n)) {
    tl_drop(vm, made);
    return fail_kind(vm, builtin, args[0],
                     "x must have no missing values (fill_missing replaces, "
                     "drop_missing leaves out)");
  }
  mask = tl_retain(vm, tl_borrow(n->parts[0]));
  return tl_option_of(vm, &mask, &made, out);
}

// A function that chooses and places items: the values' result is missing where
// the mask's is true. One item is itself, or none.
static bool of_masks(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                     const tl_slot *args, tl_slot *out) {
  tl_slot given[TL_MAX_PARAMS], made[2];
  const tl_nested *n = args[0].nested;
  int done = 0;
  for (bool ok = true; ok && done < 2; done += ok) {
    for (uint32_t i = 0; i < count; i++) given[i] = tl_borrow(args[i]);
    given[0] = tl_borrow(n->parts[done]);
    ok = tl_lift_call(vm, builtin, count, given, &made[done]);
    drop_args(vm, count, given);
  }
  if (done == 2 && tl_is_array(made[0]) && tl_value_ndim(made[1]) > 0) {
    return tl_nested_pair(vm, TL_FORM_OPTION, tl_value_ndim(made[1]), &made[0],
                          &made[1], out);
  }
  if (done == 2 && tl_is_bool(made[0])) {
    if (made[0].i != 0)
      tl_clear(vm, &made[1]);
    *out = made[0].i != 0 ? tl_none() : made[1];
    return true;
  }
  while (done > 0) tl_drop(vm, made[--done]);
  return false;
}

// --- Each string ------------------------------------------------------------

// The same numbers, bools or strings in the shape of [x]. Takes [flat].
static bool in_shape(tl_vm *vm, const tl_array *x, tl_slot *flat,
                     tl_slot *out) {
  return tl_value_split_axis(vm, flat, tl_ndim(x), tl_shape(x), out);
}

// Lists of strings as rows of strings.
static bool rows_of_lists(tl_vm *vm, int64_t count, const tl_slot *lists,
                          tl_slot *out) {
  tl_array *offsets = tl_offsets_new(vm, count);
  if (offsets == NULL)
    return false;
  int64_t *at = tl_offsets_data(offsets);
  for (int64_t i = 0; i < count; i++) at[i + 1] = at[i] + lists[i].list->length;
  tl_array *items = tl_array_new(vm, TL_STRING, 1, &at[count]);
  bool ok = items != NULL;
  for (int64_t i = 0; ok && i < count; i++) {
    tl_list *list = lists[i].list;
    tl_string_item *to = tl_string_items(items) + at[i];
    for (int64_t k = 0; ok && k < list->length; k++) {
      ok = tl_is_string(list->items[k]);
      if (ok)
        tl_string_item_put(vm, &to[k], list->items[k].string);
    }
  }
  tl_slot made;
  ok = tl_array_finish(vm, ok, items, &made);
  return tl_ragged_close(vm, ok, offsets, &made, out);
}

// Results of one kind for each string of [x]: an array like x, or a row for
// each where they are lists or arrays themselves.
static bool join_results(tl_vm *vm, const tl_builtin *builtin,
                         const tl_array *x, const tl_slot *results,
                         tl_slot *out) {
  tl_slot first = results[0], flat;
  bool rows = tl_is_list(first) || tl_is_array(first);
  if (!rows)
    return tl_stack(vm, x->size, results, &flat) && in_shape(vm, x, &flat, out);
  if (tl_ndim(x) != 1) {
    return fail_kind(vm, builtin,
                     (tl_slot){.tag = tl_array_tag(x), .array = (tl_array *)x},
                     "each string gives a row, so x has one axis");
  }
  return tl_is_list(first) ? rows_of_lists(vm, x->size, results, out)
                           : tl_ragged_of_rows(vm, x->size, results, out);
}

// An array without strings: one call tells what it would hold.
static bool of_no_strings(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                          tl_slot *given, const tl_array *x, tl_slot *out) {
  tl_slot one, row;
  given[0] = (tl_slot){.tag = TL_TAG_STRING, .string = tl_empty_string()};
  if (!tl_lift_call(vm, builtin, count, given, &one))
    return false;
  bool list = tl_is_list(one), rows = list || tl_is_array(one);
  bool ok = list   ? rows_of_lists(vm, 1, &one, &row)
            : rows ? tl_ragged_of_rows(vm, 1, &one, &row)
                   : tl_stack(vm, 1, &one, &row);
  tl_drop(vm, one);
  ok = ok && tl_value_slice(vm, row, 0, 0, out);
  if (ok)
    tl_hold(vm, *out, TL_CAUSE_VIEW);
  tl_clear(vm, &row);
  if (ok && !rows) {
    tl_slot flat = *out;
    ok = in_shape(vm, x, &flat, out);
  }
  return ok;
}

// The call for the string at [i], which is lent where there is one.
static bool call_on(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                    tl_slot *given, const tl_array *x, int64_t i,
                    tl_slot *out) {
  const tl_string_item *item = &tl_string_items(x)[i];
  tl_string *string = tl_string_item_object(item);
  given[0] = string != NULL ? (tl_slot){.tag = TL_TAG_STRING, .string = string}
                            : tl_string_item_value(vm, item);
  bool ok =
      !tl_is_unset(given[0]) && tl_lift_call(vm, builtin, count, given, out);
  tl_clear(vm, &given[0]);
  if (!ok || (i & 0xfff) != 0xfff || tl_poll(vm, 4))
    return ok;
  tl_drop(vm, *out);
  return false;
}

// A string for each: they go into the array as they are made. Takes [first].
static bool to_strings(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                       tl_slot *given, const tl_array *x, tl_slot first,
                       tl_slot *out) {
  tl_array *to = tl_array_new(vm, TL_STRING, tl_ndim(x), tl_shape(x));
  if (to == NULL) {
    tl_drop(vm, first);
    return false;
  }
  tl_string_item *items = tl_string_items(to);
  tl_string_item_take(vm, &items[0], &first);
  bool ok = true;
  for (int64_t i = 1; ok && i < x->size; i++) {
    tl_slot made;
    ok = call_on(vm, builtin, count, given, x, i, &made);
    if (!ok)
      break;
    ok = tl_is_string(made) ||
         fail_kind(vm, builtin, made, "each string gives a string");
    if (ok)
      tl_string_item_take(vm, &items[i], &made);
    else
      tl_drop(vm, made);
  }
  if (!ok) {
    tl_drop(vm, tl_own_array(to));
    return false;
  }
  *out = tl_result(vm, to);
  return !tl_is_unset(*out);
}

// A number or a row for each, side by side once all are there. Takes [first].
static bool to_values(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                      tl_slot *given, const tl_array *x, tl_slot first,
                      tl_slot *out) {
  tl_slot *results = tl_slots_new(vm, x->size, builtin->name);
  if (results == NULL) {
    tl_drop(vm, first);
    return false;
  }
  int64_t made = 1;
  results[0] = first;
  while (made < x->size &&
         call_on(vm, builtin, count, given, x, made, &results[made]))
    made++;
  bool ok = made == x->size && join_results(vm, builtin, x, results, out);
  tl_slots_free(vm, results, made);
  return ok;
}

static bool of_strings(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                       const tl_slot *args, tl_slot *out) {
  tl_slot given[TL_MAX_PARAMS], dense, borrowed = tl_borrow(args[0]);
  for (uint32_t i = 0; i < count; i++) given[i] = tl_borrow(args[i]);
  if (!tl_array_contiguous(vm, &borrowed, &dense))
    return false;
  const tl_array *x = dense.array;
  tl_slot first;
  bool ok;
  if (x->size == 0)
    ok = of_no_strings(vm, builtin, count, given, x, out);
  else if (!call_on(vm, builtin, count, given, x, 0, &first))
    ok = false;
  else if (tl_is_string(first))
    ok = to_strings(vm, builtin, count, given, x, first, out);
  else
    ok = to_values(vm, builtin, count, given, x, first, out);
  tl_drop(vm, dense);
  return ok;
}

// --- Moving items -----------------------------------------------------------

// Whether an axis of a grid's rows is asked for, rather than one of its own.
static bool is_within_grid(const tl_builtin *builtin, const tl_slot *args) {
  int at = tl_lift_axis(builtin);
  if (!tl_is_form(args[0], TL_FORM_GRID) || at < 0 ||
      tl_class(args[at]) != TL_CLASS_I64)
    return false;
  return args[at].i < 0
             ? args[at].i + tl_value_axes(args[0]) >= tl_value_ndim(args[0])
             : args[at].i >= tl_value_ndim(args[0]);
}

// The items of those numbers: indexed by their places along each axis.
static bool follow(tl_vm *vm, tl_slot s, tl_array *numbers, tl_slot *out) {
  int ndim = tl_value_ndim(s);
  if (ndim == 1)
    return tl_value_take(vm, s, numbers, out);
  static const tl_index_item items[TL_MAX_DIMS];  // all TL_ITEM_VALUE
  tl_slot parts[TL_MAX_DIMS];
  int64_t below = 1;
  int axis = ndim;
  bool ok = true;
  while (ok && axis > 0) {
    int64_t length = tl_value_length(s, axis - 1);
    tl_array *places =
        tl_array_new(vm, TL_INT64, tl_ndim(numbers), tl_shape(numbers));
    ok = places != NULL;
    if (!ok)
      break;
    const int64_t *from = (const int64_t *)(const void *)numbers->data;
    int64_t *to = (int64_t *)(void *)places->data;
    for (int64_t i = 0; i < numbers->size; i++)
      to[i] = from[i] / below % length;
    parts[--axis] = tl_own_array(places);
    below *= length;
  }
  tl_step step = {.item_count = (uint16_t)ndim, .items = items};
  tl_slot base = tl_borrow(s);
  ok = ok && tl_index_get(vm, &base, &step, parts, out);
  for (; axis < ndim; axis++) tl_clear(vm, &parts[axis]);
  return ok;
}

// The items of numbers that stand in rows, as broadcast_to makes them: in rows
// of the same lengths. Takes numbers.
static bool follow_rows(tl_vm *vm, tl_slot s, tl_slot numbers, tl_slot *out) {
  tl_slot offsets, flat, found;
  bool ok = tl_ragged_flat(vm, numbers, &offsets, &flat);
  tl_drop(vm, numbers);
  if (!ok)
    return false;
  ok = follow(vm, s, flat.array, &found);
  tl_drop(vm, flat);
  return tl_rows_close(vm, ok, &offsets, &found, out);
}

// The same of rows below fixed dimensions. Takes numbers.
static bool follow_grid(tl_vm *vm, tl_slot s, tl_slot numbers, tl_slot *out) {
  int64_t shape[TL_MAX_DIMS];
  int ndim = tl_value_shape(numbers, shape);
  tl_slot rows, made;
  bool ok = tl_grid_rows(vm, numbers.nested, &rows);
  tl_drop(vm, numbers);
  return ok && follow_rows(vm, s, rows, &made) &&
         tl_value_split_axis(vm, &made, ndim, shape, out);
}

int tl_lift_axis(const tl_builtin *builtin) {
  tl_param params[TL_MAX_PARAMS];
  int count = tl_params_parse(builtin->params, params);
  for (int i = 1; i < count; i++) {
    if (params[i].name_length == 4 && memcmp(params[i].name, "axis", 4) == 0)
      return i;
  }
  return -1;
}

// Rows are moved along axis 0 alone, which has to be said: other axes, and
// none, are the function's own business.
static bool moves_rows(const tl_builtin *builtin, const tl_slot *args) {
  int at = tl_lift_axis(builtin);
  return at > 0 && tl_class(args[at]) == TL_CLASS_I64 && args[at].i == 0;
}

// Whether the function is called for each of ragged rows.
static bool is_of_each_row(const tl_builtin *builtin) {
  return builtin->lifts == TL_EACH_ROW || builtin->lifts == TL_MOVES_EACH_ROW;
}

// Whether rows are moved one by one, or the axis is missing that says how.
static bool wants_axis(const tl_builtin *builtin, const tl_slot *args) {
  int at = tl_lift_axis(builtin);
  return is_of_each_row(builtin) || (at > 1 && tl_is_none(args[at]));
}

static bool moved(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                  tl_slot *args, tl_slot *out) {
  if (tl_is_form(args[0], TL_FORM_RAGGED) && !moves_rows(builtin, args)) {
    return wants_axis(builtin, args)
               ? tl_lift_rows(vm, builtin, count, args, out)
               : builtin->call(vm, args, out);
  }
  tl_slot given[TL_MAX_PARAMS], places, dense;
  tl_array *numbers = tl_number_items(vm, args[0], 0);
  if (numbers == NULL)
    return false;
  for (uint32_t i = 0; i < count; i++) given[i] = tl_borrow(args[i]);
  given[0] = tl_own_array(numbers);
  bool ok = tl_lift_call(vm, builtin, count, given, &places);
  drop_args(vm, count, given);
  if (!ok)
    return false;
  if (tl_is_form(places, TL_FORM_RAGGED))
    return follow_rows(vm, args[0], places, out);
  if (tl_is_form(places, TL_FORM_GRID))
    return follow_grid(vm, args[0], places, out);
  bool one = tl_is_scalar(places);
  ok = one ? tl_stack(vm, 1, &places, &dense)
           : tl_array_contiguous(vm, &places, &dense);
  tl_drop(vm, places);
  if (!ok)
    return false;
  tl_slot found;
  ok = follow(vm, args[0], dense.array, one ? &found : out);
  tl_drop(vm, dense);
  if (!ok || !one)
    return ok;
  ok = tl_nested_at(vm, found, 0, out);
  if (ok)
    tl_hold(vm, *out, TL_CAUSE_VIEW);
  tl_drop(vm, found);
  return ok;
}

// --- Any --------------------------------------------------------------------

// Axis [last] is within the rows, and the only one for functions of rows.
static bool within_rows(tl_vm *vm, const tl_builtin *builtin, int last,
                        tl_slot *args) {
  bool of_rows = builtin->lifts >= TL_OF_ROWS && builtin->lifts != TL_MOVES;
  int at = of_rows ? tl_lift_axis(builtin) : -1;
  if (at < 0 || tl_class(args[at]) != TL_CLASS_I64 || args[at].i == -1)
    return true;
  if (args[at].i != last) {
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "%s: works within the rows of a ragged array: axis: -1",
                   builtin->name);
  }
  args[at] = tl_weak_int(-1);
  return true;
}

// Whether a result has an item for each of so many rows. One of an axis that
// was not named is a result of all items, unless it is rows itself.
static bool is_of_rows(const tl_builtin *builtin, const tl_slot *args,
                       tl_slot made, int64_t rows) {
  int at = tl_lift_axis(builtin);
  bool all =
      at > 0 && tl_is_none(args[at]) && !tl_is_form(made, TL_FORM_RAGGED);
  return !all && tl_value_ndim(made) > 0 && tl_value_length(made, 0) == rows;
}

// The rows of a grid in order; what has an item for each gets the grid's shape.
static bool of_grid(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                    const tl_slot *args, tl_slot *out) {
  tl_slot given[TL_MAX_PARAMS], made;
  int64_t shape[TL_MAX_DIMS], rows = tl_nested_size(args[0].nested);
  int ndim = tl_value_shape(args[0], shape);
  uint32_t opened = 0;
  bool ok = true;
  for (; ok && opened < count; opened += ok) {
    given[opened] = tl_borrow(args[opened]);
    if (tl_is_form(args[opened], TL_FORM_GRID))
      ok = tl_grid_rows(vm, args[opened].nested, &given[opened]);
  }
  ok = ok && within_rows(vm, builtin, tl_value_axes(args[0]) - 1, given) &&
       tl_lift_call(vm, builtin, count, given, &made);
  drop_args(vm, opened, given);
  if (!ok)
    return false;
  if (is_of_rows(builtin, args, made, rows))
    return tl_value_split_axis(vm, &made, ndim, shape, out);
  tl_copy_slot(out, &made);
  return true;
}

static bool has_rows_within(tl_slot s) {
  return tl_is_form(s, TL_FORM_RAGGED) && tl_has_rows(s.nested->parts[1]);
}

// Rows of rows: the inner ones, under the offsets of the outer ones.
static bool of_inner(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                     const tl_slot *args, tl_slot *out) {
  tl_slot given[TL_MAX_PARAMS], offsets, made;
  for (uint32_t i = 0; i < count; i++) given[i] = tl_borrow(args[i]);
  if (!within_rows(vm, builtin, tl_value_axes(args[0]) - 1, given) ||
      !tl_ragged_flat(vm, args[0], &offsets, &given[0]))
    return false;
  int64_t rows = tl_value_length(given[0], 0);
  bool ok = tl_lift_call(vm, builtin, count, given, &made);
  drop_args(vm, count, given);
  return close_result(vm, ok, ok && is_of_rows(builtin, args, made, rows),
                      &offsets, &made, out);
}

bool tl_lift(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
             tl_slot *args, tl_slot *out) {
  tl_slot x = args[0];
  if (tl_is_array(x)) {
    return tl_array_dtype(x.array) == TL_STRING
               ? of_strings(vm, builtin, count, args, out)
               : builtin->call(vm, args, out);
  }
  if (tl_builtin_moves(builtin) && !is_within_grid(builtin, args))
    return moved(vm, builtin, count, args, out);
  if (tl_is_form(x, TL_FORM_GRID))
    return of_grid(vm, builtin, count, args, out);
  if (is_of_each_row(builtin) && tl_is_form(x, TL_FORM_RAGGED))
    return tl_lift_rows(vm, builtin, count, args, out);
  if (builtin->lifts == TL_OF_MASKS && tl_is_form(x, TL_FORM_OPTION))
    return of_masks(vm, builtin, count, args, out);
  if (builtin->lifts == TL_INNERMOST && has_rows_within(x))
    return of_inner(vm, builtin, count, args, out);
  if (builtin->lifts != TL_OF_ITEMS && builtin->lifts != TL_OF_TEXT)
    return builtin->call(vm, args, out);
  if (tl_is_form(x, TL_FORM_RAGGED))
    return of_rows(vm, builtin, count, args, out);
  if (tl_is_form(x, TL_FORM_OPTION))
    return of_values(vm, builtin, count, args, out);
  return builtin->call(vm, args, out);  // which says that it takes no structs
}
