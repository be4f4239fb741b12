// Functions of the library, lifted to arrays that they do not know. See lift.h.
//
//   tl_lift
//     strings          of_strings: a call for each
//     TL_MOVES         moved: where do the numbers go? the items follow
//     a grid           of_grid: its rows in order, then the shape again
//     TL_EACH_ROW      tl_lift_rows: a call for each
//     TL_OF_MASKS      of_masks: a call for the mask, one for the values
//     TL_INNERMOST     of_rows: the inner rows, then the outer offsets
//     rows             of_rows: the items of all rows, then the offsets
//     missing values   of_values: the values, then the mask
//
// Each opens one level and calls again what may have to open the next.
#include "vm/nested/lift.h"

#include <inttypes.h>

#include "vm/array/stack.h"
#include "vm/array/string_item.h"
#include "vm/nested/nested_join.h"
#include "vm/nested/ragged.h"
#include "vm/values/list.h"
#include "vm/values/record.h"

// --- What calls gave --------------------------------------------------------

// What a function gave for each string or row of an array, put together again.

// One array of all strings, each list a row of it. A list with an item that is
// no string fails.
static bool join_lists(tl_vm *vm, int64_t count, const tl_slot *lists,
                       tl_slot *out) {
  tl_array *offsets = tl_offsets_new(vm, count);
  if (offsets == NULL)
    return false;
  int64_t *at = tl_offsets_data(offsets);
  bool ok = true;
  for (int64_t i = 0; i < count && tl_poll_ok(vm, i, &ok); i++)
    at[i + 1] = at[i] + lists[i].list->length;
  tl_array *items = ok ? tl_array_new(vm, TL_STRING, 1, &at[count]) : NULL;
  ok = items != NULL;
  for (int64_t i = 0; i < count && tl_poll_ok(vm, i, &ok); i++) {
    tl_list *list = lists[i].list;
    tl_string_item *to = tl_string_items(items) + at[i];
    for (int64_t k = 0; k < list->length && tl_poll_ok(vm, k, &ok); k++) {
      ok = tl_is_string(list->items[k]);
      if (ok)
        tl_string_item_put(vm, &to[k], list->items[k].string);
    }
  }
  tl_slot made;
  ok = tl_array_finish(vm, ok, items, &made);
  return tl_ragged_close(vm, ok, offsets, &made, out);
}

// Results of one kind: rows of lists of strings or of arrays, one item for each
// of what else there is. count > 0.
// By the first result; a later one of another kind fails in the join.
static bool join_of_strings(tl_vm *vm, int64_t count, const tl_slot *results,
                            tl_slot *out) {
  if (tl_is_list(results[0]))
    return join_lists(vm, count, results, out);
  return tl_is_array(results[0]) ? tl_ragged_of_rows(vm, count, results, out)
                                 : tl_stack(vm, count, results, out);
}

static bool join_results(tl_vm *vm, int64_t count, const tl_slot *results,
                         tl_slot *out);

// Records of the first one's keys, each key with what the calls gave for it,
// joined: a function that returns {values, counts} gives rows of both.
static bool join_records(tl_vm *vm, int64_t count, const tl_slot *results,
                         tl_slot *out) {
  const tl_record *first = results[0].record;
  tl_record *record = tl_record_new(vm, first->length);
  tl_slot *parts = record != NULL ? tl_slots_new(vm, count) : NULL;
  bool ok = parts != NULL;
  for (int64_t k = 0; ok && k < first->length; k++) {
    tl_slot joined, key = tl_key_slot(first->fields[k].key);
    for (int64_t i = 0; i < count && tl_poll_ok(vm, i, &ok); i++)
      parts[i] = tl_borrow(results[i].record->fields[k].value);
    ok = ok && join_results(vm, count, parts, &joined) &&
         tl_drop_after(vm, tl_record_set_key(vm, &record, &key, &joined),
                       &joined);
  }
  tl_slots_free(vm, parts, 0);
  return tl_record_give(vm, record, ok, out);
}

// Rows where the results have axes, one item for each where they have none, and
// of records a record of such. count > 0.
static bool join_results(tl_vm *vm, int64_t count, const tl_slot *results,
                         tl_slot *out) {
  if (tl_is_record(results[0]))
    return join_records(vm, count, results, out);
  if (tl_value_ndim(results[0]) > 0)
    return tl_ragged_of_rows(vm, count, results, out);
  return tl_stack_any(vm, count, results, out);
}

// "upper: each string gives a string: got …" (kind type). Returns false.
static bool fail_kind(tl_vm *vm, const tl_builtin *builtin, tl_slot s,
                      const char *what) {
  return tl_fail(vm, TALLY_ERR_TYPE, "%s: %s: got %s", builtin->name, what,
                 tl_described(vm, s));
}

static bool fail_missing(tl_vm *vm, const tl_builtin *builtin, tl_slot s) {
  return fail_kind(vm, builtin, s,
                   "x must have no missing values (fill_missing replaces, "
                   "drop_missing leaves out)");
}

// Whoever opened the arguments drops them after the call, so the result must
// not borrow from them.
bool tl_lift_call(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                  tl_slot *args, tl_slot *out) {
  bool ok = tl_is_lifted(builtin, args)
                ? tl_lift(vm, builtin, count, args, out)
                : tl_builtin_run(vm, builtin, args, out);
  if (ok)
    tl_own_result(vm, builtin, out);
  return ok;
}

// Only what a slot owns is dropped: borrowed arguments stay their owner's.
static void drop_args(tl_vm *vm, uint32_t count, tl_slot *args) {
  for (uint32_t i = 0; i < count; i++) tl_clear(vm, &args[i]);
}

// The call with another first argument, which is given up.
static bool call_with(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                      const tl_slot *args, tl_slot first, tl_slot *out) {
  tl_slot given[TL_MAX_PARAMS] = {first};
  for (uint32_t i = 1; i < count; i++) given[i] = tl_borrow(args[i]);
  bool ok = tl_lift_call(vm, builtin, count, given, out);
  drop_args(vm, count, given);
  return ok;
}

// --- Each item ---------------------------------------------------------------

// The values with one of those that are there in each gap, which the function
// takes if it takes that one; without any a zero or no text. *out is owned.
// *there: whether there is any.
static bool fill_gaps(tl_vm *vm, const tl_nested *n, tl_slot *out,
                      bool *there) {
  tl_slot filler, present;
  if (!tl_option_present(vm, n, &present))
    return false;
  *there = tl_value_length(present, 0) > 0;
  if (!tl_drop_after(vm, !*there || tl_nested_at(vm, present, 0, &filler),
                     &present))
    return false;
  tl_dtype dtype = tl_array_dtype(n->parts[1].array);
  if (!*there && dtype == TL_STRING)
    filler = (tl_slot){.tag = TL_TAG_STRING, .string = tl_empty_string()};
  else if (!*there)
    filler = dtype == TL_BOOL ? tl_bool(false) : tl_weak_int(0);
  return tl_drop_after(
      vm, tl_compute3(vm, TL_OP_WHERE, n->parts[0], filler, n->parts[1], out),
      &filler);
}

// The function's values where all are missing: what it gives of no items tells
// their dtype. *out is owned.
static bool of_gaps_alone(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                          const tl_slot *args, const tl_array *values,
                          tl_slot *out) {
  int64_t none = 0;
  tl_slot empty, made;
  if (!tl_array_give(tl_array_new(vm, tl_array_dtype(values), 1, &none),
                     &empty) ||
      !call_with(vm, builtin, count, args, empty, &made))
    return false;
  bool ok = tl_is_array(made) ||
            tl_fail(vm, TALLY_ERR_TYPE, "%s: x has no items", builtin->name);
  tl_array *zeros = ok ? tl_array_zeros(vm, tl_array_dtype(made.array),
                                        tl_ndim(values), tl_shape(values))
                       : NULL;
  tl_drop(vm, made);
  return tl_array_give(zeros, out);
}

// What lies in the gaps may be what the function refuses: then it gets other
// values there.
// Tried again twice, in this order, after an error of kind value alone:
//
//   a value that is there in each gap      log([1, none, 4]) with 0 below none
//   no items at all, where all is missing  the dtype of the result is known
static bool refused(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                    const tl_slot *args, tl_slot *out) {
  bool there = true;
  tl_slot filled;
  const tl_nested *n = args[0].nested;
  if (vm->error.status != TALLY_ERR_VALUE || !tl_is_array(n->parts[1]))
    return false;
  tl_error_clear(vm);
  bool ok = fill_gaps(vm, n, &filled, &there) &&
            call_with(vm, builtin, count, args, filled, out);
  if (ok || vm->error.status != TALLY_ERR_VALUE || there)
    return ok;
  tl_error_clear(vm);
  return of_gaps_alone(vm, builtin, count, args, n->parts[1].array, out);
}

// The values that may be missing; so may the results.
// The mask is shared with the argument, since the function moves no items.
static bool of_values(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                      const tl_slot *args, tl_slot *out) {
  tl_slot made, mask;
  const tl_nested *n = args[0].nested;
  if (!call_with(vm, builtin, count, args, tl_borrow(n->parts[1]), &made) &&
      !refused(vm, builtin, count, args, &made))
    return false;
  // A function whose result may be missing for reasons of its own would need
  // two masks joined; none that is lifted so does that.
  // Results that may be missing themselves have nothing missing of their own.
  if (tl_is_form(made, TL_FORM_OPTION)) {
    tl_slot values = tl_retain(vm, tl_borrow(made.nested->parts[1]));
    tl_drop(vm, made);
    made = values;
  }
  if (!tl_is_array(made) || tl_ndim(made.array) != tl_nested_ndim(n)) {
    tl_drop(vm, made);
    return fail_missing(vm, builtin, args[0]);
  }
  mask = tl_retain(vm, tl_borrow(n->parts[0]));
  return tl_option_of(vm, &mask, &made, out);
}

// A function that chooses and places items: the values' result is missing where
// the mask's is true. It gives an array of one axis or more.
// Both calls move items in the same way, as they are given the same arguments
// but for the array, so that mask and values still belong together.
static bool of_masks(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                     const tl_slot *args, tl_slot *out) {
  tl_slot mask, values;
  const tl_nested *n = args[0].nested;
  if (!call_with(vm, builtin, count, args, tl_borrow(n->parts[0]), &mask))
    return false;
  if (!call_with(vm, builtin, count, args, tl_borrow(n->parts[1]), &values))
    return tl_drop_after(vm, false, &mask);
  TL_CHECK(tl_is_array(mask) && tl_value_ndim(values) > 0);
  return tl_nested_pair(vm, TL_FORM_OPTION, tl_value_ndim(values), &mask,
                        &values, out);
}

// --- Each string -------------------------------------------------------------

// The call for the string at [i], which is lent where there is one.
// A short string lies in its item and has no object: it gets one for the call.
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
// The dtype of the result is known from the first one on, so that no slots are
// needed in between. Fails (kind type) if a later call gives no string.
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
  return tl_result_finish(vm, ok, to, out);
}

// The call for each string of [x].
typedef struct string_call {
  const tl_builtin *builtin;
  uint32_t count;
  tl_slot *given;
  const tl_array *x;
  tl_slot *first;  // what the first call gave, NULL: there is no string
} string_call;

// The loop's [each]. Call 0 was made before, to see what the function gives;
// -1 asks what there would be without any string, which "" answers.
static bool call_string(tl_vm *vm, void *context, int64_t i, tl_slot *out) {
  const string_call *c = context;
  if (i > 0)
    return call_on(vm, c->builtin, c->count, c->given, c->x, i, out);
  if (i == 0) {
    tl_copy_slot(out, c->first);
    *c->first = tl_none();
    return true;
  }
  c->given[0] = (tl_slot){.tag = TL_TAG_STRING, .string = tl_empty_string()};
  return tl_lift_call(vm, c->builtin, c->count, c->given, out);
}

// A number or a row for each, side by side once all are there: an array like x,
// or rows where the results are lists or arrays. Takes [first].
// Fails (kind type) where each string gives a row and x has several axes: there
// is no grid of what differs by chance.
static bool to_values(tl_vm *vm, string_call *c, tl_slot *out) {
  const tl_array *x = c->x;
  const tl_row_loop loop = {.name = c->builtin->name,
                            .count = x->size,
                            .each = call_string,
                            .join = join_of_strings,
                            .context = c};
  tl_slot flat;
  if (!tl_map_rows(vm, &loop, &flat))
    return false;
  if (!tl_is_form(flat, TL_FORM_RAGGED))
    return tl_value_split_axis(vm, &flat, tl_ndim(x), tl_shape(x), out);
  tl_copy_slot(out, &flat);
  if (x->size == 0 || tl_ndim(x) == 1)
    return true;
  tl_drop(vm, flat);
  return fail_kind(vm, c->builtin, tl_lend_array(x),
                   "each string gives a row, so x has one axis");
}

// The first call decides: a string goes the way of to_strings, which makes the
// array at once, anything else that of to_values.
static bool of_strings(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                       const tl_slot *args, tl_slot *out) {
  tl_slot given[TL_MAX_PARAMS], dense, borrowed = tl_borrow(args[0]), first;
  for (uint32_t i = 0; i < count; i++) given[i] = tl_borrow(args[i]);
  if (!tl_array_contiguous(vm, &borrowed, &dense))
    return false;
  string_call c = {builtin, count, given, dense.array, &first};
  first = tl_none();
  bool ok = dense.array->size == 0 ||
            call_on(vm, builtin, count, given, dense.array, 0, &first);
  if (ok && dense.array->size > 0 && tl_is_string(first))
    ok = to_strings(vm, builtin, count, given, dense.array, first, out);
  else
    ok = ok && to_values(vm, &c, out), tl_clear(vm, &first);
  tl_drop(vm, dense);
  return ok;
}

// --- Each row ----------------------------------------------------------------

// The parameter's position, looked up by its name in the row's signature.
static int axis_of(const tl_builtin *builtin) {
  tl_param params[TL_MAX_PARAMS];
  int count = tl_params_parse(builtin->params, params);
  for (int i = 1; i < count; i++)
    if (params[i].name_length == 4 && memcmp(params[i].name, "axis", 4) == 0)
      return i;
  return -1;
}

// Axis [given] of rows that have [axes] axes, counted within a row; -1 is the
// last one in both.
// For rows of 2 axes (var * var): 1 is 0 within a row, 2 is 1, -1 is -1. Axis
// 0 goes across rows of different lengths and is refused (kind type).
static bool find_row_axis(tl_vm *vm, const tl_builtin *builtin, tl_slot given,
                          int axes, tl_slot *out) {
  bool is_int = tl_class(given) == TL_CLASS_I64;
  if (!is_int || given.i == 0 || given.i == -axes)
    return tl_fail(vm, TALLY_ERR_TYPE, "%s: %s", builtin->name,
                   tl_builtin_moves(builtin)
                       ? "of ragged rows needs an axis: 0 is that of the "
                         "rows, -1 within each of them"
                       : "rows of different lengths have axes from 1 on, or "
                         "-1, within them: none goes across them");
  if (given.i < -axes || given.i >= axes)
    return tl_fail(vm, TALLY_ERR_INDEX,
                   "%s: axis %" PRId64 " of an array of %d axes", builtin->name,
                   given.i, axes);
  *out = tl_weak_int(given.i > 0 ? given.i - 1 : given.i);
  return true;
}

// A call of the function for one row, the arguments behind the first borrowed.
typedef struct row_call {
  const tl_builtin *builtin;
  uint32_t count;
  const tl_slot *args;
  int at;  // of the axis
  tl_slot axis;
} row_call;

// A tl_row_map. The row's slot is emptied, as the call may take its memory. An
// error speaks of the whole array, not of a row that no script has seen, unless
// the row went along into the call and is gone.
static bool call_row(tl_vm *vm, void *context, tl_slot *row, tl_slot *out) {
  const row_call *c = context;
  const tl_slot before = *row;
  tl_slot given[TL_MAX_PARAMS] = {tl_pass_on(row)};
  for (uint32_t i = 1; i < c->count; i++) given[i] = tl_borrow(c->args[i]);
  given[c->at] = c->axis;
  bool ok = tl_lift_call(vm, c->builtin, c->count, given, out);
  if (!ok && tl_is_owned(given[0]) == tl_is_owned(before))
    tl_fail_whole(vm, given[0], c->args[0]);
  drop_args(vm, c->count, given);
  return ok;
}

// For functions that look at a row as a whole, as topk does. The price, a call
// for each row, is nothing beside long rows and most of the time where the
// rows are short.
bool tl_lift_rows(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                  const tl_slot *args, tl_slot *out) {
  row_call c = {builtin, count, args, axis_of(builtin), tl_none()};
  const tl_nested *n = args[0].nested;
  return c.at >= 0 &&
         find_row_axis(vm, builtin, args[c.at], tl_value_axes(args[0]),
                       &c.axis) &&
         tl_each_row(vm, builtin->name, n->parts[1], tl_ragged_offsets(n),
                     tl_ragged_rows(n), call_row, &c, join_results, out);
}

// --- Moving items ------------------------------------------------------------

// Whether an axis of a grid's rows is asked for, rather than one of its own.
// Negative axes count from the end of all axes, the rows' included.
static bool is_within_grid(const tl_builtin *builtin, const tl_slot *args) {
  int at = axis_of(builtin);
  if (!tl_is_form(args[0], TL_FORM_GRID) || at < 0 ||
      tl_class(args[at]) != TL_CLASS_I64)
    return false;
  return args[at].i < 0
             ? args[at].i + tl_value_axes(args[0]) >= tl_value_ndim(args[0])
             : args[at].i >= tl_value_ndim(args[0]);
}

// A tl_items_map: the items of a value at the numbers that a function has given
// for them, which are one number, an array, or rows as broadcast_to makes them.
// The items of a tree are moved by one gather, whatever is in them; of a grid
// only the places are, and the rows stay where they are.
static bool follow(tl_vm *vm, void *value, tl_slot numbers, tl_slot *out) {
  const tl_slot s = *(tl_slot *)value;
  int64_t shape[TL_MAX_DIMS];
  int ndim = tl_value_shape(numbers, shape);
  tl_slot part, made;
  if (tl_is_form(numbers, TL_FORM_RAGGED))
    return tl_map_items(vm, numbers, follow, value, out);
  if (tl_is_form(numbers, TL_FORM_GRID))
    return tl_grid_rows(vm, numbers, &part) &&
           tl_drop_after(vm, follow(vm, value, part, &made), &part) &&
           tl_value_split_axis(vm, &made, ndim, shape, out);
  if (ndim > 0 && tl_is_form(s, TL_FORM_GRID))
    return follow(vm, &s.nested->parts[0], numbers, &part) &&
           tl_drop_after(
               vm, tl_grid_of_places(vm, part, s.nested->parts[1], out), &part);
  return tl_value_flatten(vm, s, &part) &&
         tl_drop_after(vm,
                       (ndim > 0 ? tl_value_take(vm, part, numbers.array, out)
                                 : tl_nested_at(vm, part, numbers.i, out)) &&
                           tl_keep_made(vm, out),
                       &part);
}

// Rows are moved along axis 0 alone, which has to be said: other axes, and
// none, are the function's own business.
static bool moves_rows(const tl_builtin *builtin, const tl_slot *args) {
  int at = axis_of(builtin);
  return at > 0 && tl_class(args[at]) == TL_CLASS_I64 && args[at].i == 0;
}

// Whether the function is called for each of ragged rows.
static bool is_of_each_row(const tl_builtin *builtin) {
  return builtin->lifts == TL_EACH_ROW || builtin->lifts == TL_MOVES_EACH_ROW;
}

// Whether rows are moved one by one, or the axis is missing that says how.
static bool wants_axis(const tl_builtin *builtin, const tl_slot *args) {
  int at = axis_of(builtin);
  return is_of_each_row(builtin) || (at > 1 && tl_is_none(args[at]));
}

// tile, flip, roll, repeat, broadcast_to and their like, of any tree:
//
//   numbers of the items   0 1 2 3         of the fixed axes
//   the function on them   3 2 1 0         flip, which knows integers
//   the items of those     follow          whatever they are
//
// So a function of plain integers moves structs, text and rows. What it gives
// may be one number, an array, rows or a grid of numbers.
static bool moved(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                  tl_slot *args, tl_slot *out) {
  if (tl_is_form(args[0], TL_FORM_RAGGED) && !moves_rows(builtin, args))
    return wants_axis(builtin, args)
               ? tl_lift_rows(vm, builtin, count, args, out)
               : tl_builtin_run(vm, builtin, args, out);
  tl_slot numbers, places;
  return tl_array_give(tl_number_items(vm, args[0], 0), &numbers) &&
         call_with(vm, builtin, count, args, numbers, &places) &&
         tl_drop_after(vm, follow(vm, &args[0], places, out), &places);
}

// --- Any ---------------------------------------------------------------------

// Axis [last] is within the rows, and the only one for functions of rows.
// Sets args[axis] to -1 where it names the last of all axes by its number.
// Other axes fail (kind value) for functions that work within rows.
static bool within_rows(tl_vm *vm, const tl_builtin *builtin, int last,
                        tl_slot *args) {
  bool of_rows = builtin->lifts >= TL_OF_ROWS && builtin->lifts != TL_MOVES;
  int at = of_rows ? axis_of(builtin) : -1;
  if (at < 0 || tl_class(args[at]) != TL_CLASS_I64 || args[at].i == -1)
    return true;
  if (args[at].i != last)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "%s: works within the rows of a ragged array: axis: -1",
                   builtin->name);
  args[at] = tl_weak_int(-1);
  return true;
}

// Whether a result has an item for each of so many rows. One of an axis that
// was not named is a result of all items, unless it is rows itself.
// By the length alone: what has as many items as there are rows is taken for
// one item for each.
static bool is_of_rows(const tl_builtin *builtin, const tl_slot *args,
                       tl_slot made, int64_t rows) {
  int at = axis_of(builtin);
  bool all =
      at > 0 && tl_is_none(args[at]) && !tl_is_form(made, TL_FORM_RAGGED);
  return !all && tl_value_ndim(made) > 0 && tl_value_length(made, 0) == rows;
}

// The rows of a grid in order; what has an item for each gets the grid's shape.
// Arguments that are grids too are opened as the first one is.
static bool of_grid(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                    const tl_slot *args, tl_slot *out) {
  tl_slot given[TL_MAX_PARAMS], made;
  int64_t shape[TL_MAX_DIMS], rows = tl_nested_size(args[0].nested);
  int ndim = tl_value_shape(args[0], shape);
  uint32_t opened = 0;
  bool ok = true;
  for (; ok && opened < count; opened += ok)
    ok = tl_grid_rows(vm, args[opened], &given[opened]);
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

// Whether the items of the rows are rows themselves.
static bool has_rows_within(tl_slot s) {
  return tl_is_form(s, TL_FORM_RAGGED) && tl_has_rows(s.nested->parts[1]);
}

// The items of all rows of the arguments that are ragged, whose rows agree: the
// rows of the other arguments are brought to those of the first by
// tl_ragged_spread. Results that are no items (a total) are given as they are.
// [inner]: of rows of rows, the inner ones under the offsets of the outer ones;
// what has an item for each inner row becomes rows.
static bool of_rows(tl_vm *vm, const tl_builtin *builtin, bool inner,
                    uint32_t count, const tl_slot *args, tl_slot *out) {
  tl_slot given[TL_MAX_PARAMS], offsets, made;
  uint32_t opened = 1;
  if (!tl_ragged_flat(vm, args[0], &offsets, &given[0]))
    return false;
  int64_t rows = tl_value_length(given[0], 0);
  bool ok = true;
  for (; ok && opened < count; opened += ok) {
    given[opened] = tl_borrow(args[opened]);
    if (!inner && tl_is_form(args[opened], TL_FORM_RAGGED))
      ok = tl_ragged_spread(vm, args[opened], args[0], &given[opened]);
  }
  ok = ok && within_rows(vm, builtin, tl_value_axes(args[0]) - 1, given) &&
       tl_lift_call(vm, builtin, count, given, &made);
  drop_args(vm, opened, given);
  if (!ok ||
      (inner ? is_of_rows(builtin, args, made, rows) : tl_value_ndim(made) > 0))
    return tl_rows_close(vm, ok, &offsets, &made, out);
  tl_clear(vm, &offsets);
  tl_copy_slot(out, &made);
  return true;
}

// The order matters: grids before rows, since a grid's rows are ragged; options
// before items, since functions that place items treat the mask as an array.
bool tl_lift(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
             tl_slot *args, tl_slot *out) {
  tl_slot x = args[0];
  if (tl_is_array(x))
    return tl_array_dtype(x.array) == TL_STRING
               ? of_strings(vm, builtin, count, args, out)
               : tl_builtin_run(vm, builtin, args, out);
  if (tl_builtin_moves(builtin) && !is_within_grid(builtin, args))
    return moved(vm, builtin, count, args, out);
  if (tl_is_form(x, TL_FORM_GRID))
    return of_grid(vm, builtin, count, args, out);
  if (is_of_each_row(builtin) && tl_is_form(x, TL_FORM_RAGGED))
    return tl_lift_rows(vm, builtin, count, args, out);
  if (builtin->lifts == TL_OF_MASKS && tl_is_form(x, TL_FORM_OPTION))
    return of_masks(vm, builtin, count, args, out);
  if (builtin->lifts == TL_INNERMOST && has_rows_within(x))
    return of_rows(vm, builtin, true, count, args, out);
  if (builtin->lifts != TL_OF_ITEMS && builtin->lifts != TL_OF_TEXT)
    return tl_builtin_run(vm, builtin, args, out);
  if (tl_is_form(x, TL_FORM_RAGGED))
    return of_rows(vm, builtin, false, count, args, out);
  if (tl_is_form(x, TL_FORM_OPTION))
    return of_values(vm, builtin, count, args, out);
  // Which says that it takes no structs.
  return tl_builtin_run(vm, builtin, args, out);
}
