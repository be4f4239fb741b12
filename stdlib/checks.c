// What the library's functions in Tally ask of their arguments, in the words of
// those in C. They import it as a module; its name begins with _, so that it is
// not among what is documented and offered to scripts.
//
// Each gives its argument back, which is borrowed or dying as it was. The
// message of what it refuses names the function that was called, and the
// parameter of it that is given behind (vm/interp/named_errors.c).

#include <math.h>

#include "stdlib/families.h"
#include "stdlib/nested_reduce.h"
#include "stdlib/ragged.h"
#include "vm/nested/indexed.h"
#include "vm/nested/parts.h"
#include "vm/nested/raw_bytes.h"
#include "vm/observe/peak_contract.h"
#include "vm/text/format.h"

// The parameter's name, which the library's own calls always give.
static const char *name_in(tl_slot s) {
  return tl_is_string(s) ? s.string->text : "x";
}

// What the types of the row have read. The array that was made of a list stays
// in the argument's slot and moves on from there, so a check costs no copy.
static bool same(tl_vm *vm, tl_slot *args, tl_slot *out) {
  *out = tl_pass_on(&args[0]);
  return true;
}

// Of complex numbers the message shows the array that a list becomes.
static bool reals(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!tl_is_scalar(args[0]) && !tl_arg_numeric(vm, "reals", &args[0]))
    return false;
  if (tl_dtype_is_complex((tl_dtype)tl_dtype_of(args[0])))
    return tl_arg_fail(vm, "reals", "x", "real", args[0]);
  *out = tl_pass_on(&args[0]);
  return true;
}

// Numbers as the operators take them, in any form; integers become float64.
static bool inexact(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot x = args[0];
  const bool nested = tl_is_nested(x);
  const int dtype = tl_is_range(x) ? (int)TL_INT64 : tl_dtype_of(x);
  if (!tl_is_number(x) && !tl_is_range(x) && !nested &&
      !(tl_is_array(x) && dtype < TL_STRING))
    return tl_arg_fail(vm, "inexact", name_in(args[1]),
                       "a number or an array of numbers", x);
  if (nested) {
    tl_slot product[] = {tl_borrow(x), tl_weak_float(1)};
    return tl_elementwise(vm, TL_OP_MULTIPLY, product, out);
  }
  if (dtype < TL_FLOAT16)
    return tl_cast(vm, &args[0], TL_FLOAT64, out);
  *out = tl_pass_on(&args[0]);
  return true;
}

// All but an array of floats, which stays as it is, is converted in Tally.
static bool floats(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return tl_in_tally(vm, "floats_of", 1, args, out);
}

static bool floats_at_once(tl_vm *vm, tl_slot *args, tl_slot *out) {
  (void)vm;
  const int dtype = tl_dtype_of(args[0]);
  if (!tl_is_array(args[0]) || tl_ndim(args[0].array) == 0 ||
      dtype < TL_FLOAT16 || dtype > TL_FLOAT64)
    return false;
  const tl_slot same = tl_pass_on(&args[0]);
  tl_copy_slot(out, &same);
  return true;
}

// Each becomes an array in a new list. What tl_arg_arrays borrows from the list
// given is retained by the push.
static bool arrays(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_arrays given;
  if (!tl_arg_arrays(vm, "arrays", args[0], &given))
    return false;
  tl_list *list = tl_list_new(vm, given.count);
  bool ok = list != NULL;
  for (int64_t i = 0; ok && i < given.count; i++) {
    given.items[i].tag &= ~TL_WEAK;  // which tl_arg_arrays leaves on numbers
    ok = tl_list_push(vm, &list, &given.items[i]);
  }
  tl_arrays_close(vm, &given);
  return tl_list_give(vm, list, ok, out);
}

// The argument as it is where it is what was asked for: an integer stays an
// integer, and a weak number weak. So do all that follow.
static bool passed(bool ok, tl_slot *args, tl_slot *out) {
  if (ok)
    *out = tl_pass_on(&args[0]);
  return ok;
}

static bool real(tl_vm *vm, tl_slot *args, tl_slot *out) {
  double value;
  return passed(tl_arg_float(vm, "real", name_in(args[1]), args[0], &value),
                args, out);
}

// A new vector of them; *out is owned.
static bool give_integers(tl_vm *vm, int count, const int64_t *values,
                          tl_slot *out) {
  const int64_t n = count;
  tl_array *a = tl_array_new(vm, TL_INT64, 1, &n);
  if (a != NULL)
    memcpy(a->data, values, sizeof *values * (size_t)count);
  return tl_array_finish(vm, true, a, out);
}

// As many as there may be axes.
static bool integers(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int count;
  int64_t values[TL_MAX_DIMS];
  return tl_arg_ints(vm, "integers", name_in(args[1]), args[0], TL_MAX_DIMS,
                     &count, values) &&
         give_integers(vm, count, values, out);
}

// A length, or a list of them.
static bool lengths(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int count;
  int64_t values[TL_MAX_DIMS];
  return tl_arg_shape(vm, "lengths", name_in(args[1]), args[0], &count,
                      values) &&
         give_integers(vm, count, values, out);
}

// What is masked or has fields stays as it is; rows have no shape.
static bool spreadable(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const tl_list *given = args[0].list;
  tl_list *list = tl_list_new(vm, given->length);
  bool ok = list != NULL;
  for (int64_t i = 0; ok && i < given->length; i++) {
    tl_slot s = given->items[i], item = tl_borrow(s);
    bool nested = tl_is_nested(s) && !tl_is_form(s, TL_FORM_RAGGED) &&
                  !tl_is_form(s, TL_FORM_GRID);
    ok = (nested || tl_arg_array_at(vm, "broadcast_arrays", s, i, &item)) &&
         tl_list_push(vm, &list, &item);
    tl_clear(vm, &item);
  }
  return tl_list_give(vm, list, ok, out);
}

// Whether x is no plain array: structs, rows, what may be missing.
static bool not_plain(tl_vm *vm, tl_slot *args, tl_slot *out) {
  *out = tl_bool(tl_is_nested(args[0]));
  return true;
}

// Whether x has rows of different lengths, in a fixed shape or one axis.
static bool has_rows(tl_vm *vm, tl_slot *args, tl_slot *out) {
  *out = tl_bool(tl_has_rows(args[0]));
  return true;
}

// The lengths of the axes before those of rows, as a list.
static bool fixed_shape(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int64_t shape[TL_MAX_DIMS];
  int ndim = tl_value_shape(args[0], shape);
  tl_list *list = tl_list_new(vm, ndim);
  for (int i = 0; list != NULL && i < ndim; i++)
    list->items[list->length++] = tl_weak_int(shape[i]);
  return tl_list_give(vm, list, list != NULL, out);
}

// The first axis of x as axes of a shape, a list of integers.
static bool split_axis(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int ndim;
  int64_t shape[TL_MAX_DIMS];
  if (!tl_arg_shape(vm, "split_axis", "shape", args[1], &ndim, shape))
    return false;
  tl_slot x = tl_retain(vm, tl_borrow(args[0]));
  return tl_value_split_axis(vm, &x, ndim, shape, out);
}

// The items of the first axis of x, whatever they are, at places.
static bool items_at(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return tl_value_take(vm, args[0], args[1].array, out);
}

// Nothing, where the rows of both, which are no grids, agree; else fails.
static bool same_rows(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot a = tl_raw_bytes_inside(args[0]), b = tl_raw_bytes_inside(args[1]);
  int64_t row;
  *out = tl_none();
  return tl_ragged_agree(a.nested, b.nested, &row) ||
         tl_fail_ragged_rows(vm, name_in(args[2]), a, b, row);
}

// Items in rows such as model has, whose offsets they share.
static bool rows_like(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot offsets, own, items = tl_retain(vm, tl_borrow(args[0]));
  bool ok = tl_ragged_flat(vm, tl_raw_bytes_inside(args[1]), &offsets, &own);
  if (ok)
    tl_drop(vm, own);
  else
    offsets = tl_none();
  return tl_rows_close(vm, ok, &offsets, &items, out);
}

// The vectors along an axis of x, which may have missing values, as rows.
static bool lanes(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return tl_rows_along(vm, args[0].nested, (int)args[1].i, out);
}

// Arrays of any form along their first axis.
static bool joined(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return tl_value_concat(vm, args[0].list->length, args[0].list->items, out);
}

// A value's type as messages have it.
static bool shown(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return tl_string_give(tl_string_from(vm, tl_described(vm, args[0])), out);
}

// A value on one line, strings in quotes; arrays and lists of more than limit
// items are elided (0: none).
static bool text_of(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_text text;
  tl_text_open(&text, vm);
  bool ok = tl_format_value(vm, &text, args[0], true, args[1].i);
  return tl_text_give(&text, ok, out);
}

// Fails: x, the parameter of that name, is not what was expected.
static bool refused(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return tl_arg_fail(vm, "refused", name_in(args[1]), args[2].string->text,
                     args[0]);
}

// Rows and items that may be missing stay as they are; a string becomes one
// item.
static bool items_of(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return passed(tl_is_form(args[0], TL_FORM_OPTION) ||
                    tl_is_form(args[0], TL_FORM_RAGGED) ||
                    tl_arg_array_or_string(vm, "items", &args[0]),
                args, out);
}

// A list or a range becomes an array; items that may be missing stay.
static bool array_of(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return passed(tl_is_form(args[0], TL_FORM_OPTION) ||
                    tl_arg_array(vm, "array", &args[0]),
                args, out);
}

// The places of values among categories, int32, and a categorical array of
// both.
static bool category_codes(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return tl_category_codes(vm, args[0], args[1], out);
}

static bool category(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot codes = tl_retain(vm, tl_borrow(args[0]));
  tl_slot categories = tl_retain(vm, tl_borrow(args[1]));
  return tl_indexed_new(vm, TL_FORM_CATEGORY, &codes, &categories, out);
}

// Pointers to the items of a target, which they retain as a view its block.
static bool pointers_to(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot places = tl_retain(vm, tl_borrow(args[0]));
  tl_slot target = tl_take(vm, &args[1]);
  tl_hold(vm, target, TL_CAUSE_VIEW);
  return tl_indexed_new(vm, TL_FORM_POINTER, &places, &target, out);
}

// Missing where gone, a mask of x's shape, is true.
static bool option(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot mask = tl_retain(vm, tl_borrow(args[0]));
  tl_slot values = tl_retain(vm, tl_borrow(args[1]));
  return tl_option_of(vm, &mask, &values, out);
}

// What lies below the mask of x, which may have missing values.
static bool underneath(tl_vm *vm, tl_slot *args, tl_slot *out) {
  *out = tl_retain(vm, tl_borrow(args[0].nested->parts[1]));
  return true;
}

// What can be called.
static bool function(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return passed(
      tl_is_callable(args[0]) ||
          tl_arg_fail(vm, "function", name_in(args[1]), "a function", args[0]),
      args, out);
}

// What has items that a key or an index can change.
static bool container(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const tl_slot s = args[0];
  return passed(tl_is_record(s) || tl_is_list(s) || tl_is_array(s) ||
                    tl_is_nested(s) ||
                    tl_arg_fail(vm, "container", name_in(args[1]),
                                "a record, list or array", s),
                args, out);
}

// What has an order by itself, or by that of its fields; rows have none.
static bool ordered(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return passed(!tl_is_form(args[0], TL_FORM_RAGGED) ||
                    tl_arg_fail(vm, "ordered", name_in(args[1]),
                                "of numbers or strings", args[0]),
                args, out);
}

// For sort and its like, which order an axis of structs by fields. The message
// says what to write for lists of other things.
static bool structs(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!tl_has_fields(args[0]))
    return tl_arg_fail(vm, "structs", "p",
                       "an array of structs (sort(xs, key: f) orders other "
                       "things)",
                       args[0]);
  if (tl_value_ndim(args[0]) != 1)
    return tl_arg_fail(vm, "structs", "p", "of one axis", args[0]);
  *out = tl_pass_on(&args[0]);
  return true;
}

// #:peak begins a promise of so many bytes for the part of the caller's source
// between two offsets. A float is rounded up.
static bool peak(tl_vm *vm, tl_slot *args, tl_slot *out) {
  double nbytes;
  int64_t begin, end;
  if (!tl_arg_float(vm, "#:peak", "nbytes", args[0], &nbytes) ||
      !tl_arg_int(vm, "#:peak", "begin", args[1], &begin) ||
      !tl_arg_int(vm, "#:peak", "end", args[2], &end))
    return false;
  if (!(nbytes >= 0))
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "#:peak: %.17g bytes cannot be promised", nbytes);
  *out = tl_none();
  return tl_peak_contract_begin(
      vm, nbytes >= 0x1p63 ? UINT64_MAX : (uint64_t)ceil(nbytes),
      (uint32_t)begin, (uint32_t)end);
}

const tl_builtin tl_checks_module[] = {
    // x as an array of numbers or bools.
    {"numbers", "x", same, .result = TL_RETURNS, .types = "m"},
    // x as an array of real numbers or bools, or as a number.
    {"reals", "x", reals, .result = TL_RETURNS},
    // x, numbers in any form, integers as float64.
    {"inexact", "x, name", inexact, .result = TL_RETURNS},
    // x as an array of floats; what is not real fails as float64(x) does.
    {"floats", "x", floats, TL_GRIDS, .result = TL_RETURNS, .takes = TL_FORMS,
     .at_once = floats_at_once},
    // The items of a list as a list of arrays.
    {"arrays", "xs", arrays},
    // x, a real number.
    {"real", "x, name", real, TL_EFFECT},
    // x, an integer.
    {"integer", "x, name", same, TL_EFFECT, .types = "i@"},
    // The integers of x, a number, list or array, as a vector.
    {"integers", "x, name", integers, TL_EFFECT},
    // A shape, of which x is one, as a vector.
    {"lengths", "x, name", lengths, TL_EFFECT},
    {"nested", "x", not_plain, .takes = TL_FORMS},
    {"option", "gone, x", option},
    {"underneath", "x", underneath, .takes = TL_FORMS},
    {"has_rows", "x", has_rows, TL_GRIDS, .takes = TL_BYTES},
    {"fixed_shape", "x", fixed_shape, TL_GRIDS, .takes = TL_BYTES},
    {"same_rows", "a, b, name", same_rows, TL_EFFECT, .takes = TL_FORMS},
    {"rows", "x", same, TL_GRIDS, .result = TL_RETURNS, .takes = TL_BYTES,
     .types = "g"},
    {"rows_like", "items, model", rows_like, TL_GRIDS, .takes = TL_FORMS},
    {"lanes", "x, axis", lanes, .takes = TL_FORMS},
    {"across", "x", tl_rows_across, .takes = TL_FORMS},
    {"joined", "xs", joined, .takes = TL_BYTES},
    {"shown", "x", shown, TL_GRIDS, .takes = TL_FORMS},
    {"text_of", "x, limit", text_of, TL_GRIDS, .takes = TL_FORMS},
    {"refused", "x, name, expected", refused, TL_GRIDS | TL_EFFECT,
     .takes = TL_FORMS},
    {"pointer", "places, target", pointers_to, TL_GRIDS, .takes = TL_FORMS},
    // x as an array; its items may be missing.
    {"array", "x", array_of, .result = TL_RETURNS},
    {"array_no_bytes", "x", array_of, .result = TL_RETURNS, .takes = TL_BYTES},
    {"category_codes", "categories, x", category_codes},
    {"category", "codes, categories", category},
    // x as an array of numbers, strings or what may be missing, or as rows.
    {"items", "x", items_of, .result = TL_RETURNS, .takes = TL_BYTES},
    {"items_at", "x, places", items_at, TL_GRIDS, .takes = TL_BYTES},
    {"split_axis", "x, shape", split_axis, TL_GRIDS, .takes = TL_BYTES},
    // The items of a list as arrays or other forms that broadcast.
    {"spreadable", "xs", spreadable, .takes = TL_BYTES},
    {"spread", "x", tl_list_spread, .result = TL_RETURNS,
     .takes = TL_CONTAINERS},
    // x, an integer that is not negative.
    {"count", "x, name", same, TL_EFFECT, .types = "n@"},
    // x, a bool.
    {"flag", "x, name", same, TL_EFFECT, .types = "b@"},
    // x, a string.
    {"text", "x, name", same, TL_EFFECT, .result = TL_RETURNS, .types = "s@"},
    // A path, where the script may use files, which is asked first.
    {"path", "path", same, TL_FILES | TL_EFFECT, .result = TL_RETURNS,
     .types = "p"},
    // f, a function or a type.
    {"function", "f, name", function, TL_EFFECT, .result = TL_RETURNS},
    // x, a record, a list or an array.
    {"container", "x, name", container, TL_EFFECT, .result = TL_RETURNS},
    // x, numbers, strings, structs, what of these may be missing.
    {"ordered", "x, name", ordered, TL_EFFECT, .result = TL_RETURNS,
     .takes = TL_BYTES},
    // p, an axis of structs, of pointers their values.
    {"structs", "p", structs, TL_EFFECT, .result = TL_RETURNS},
    // #:peak nbytes above what stands at the bytes [begin, end) of the source.
    {"peak", "nbytes, begin, end", peak, TL_EFFECT},
    {.name = NULL},
};
