// Functions for values of any kind: print, len, typeof, conversions, errors.
//
// Each built-in has the form (vm, args, out), with one slot of args for each
// parameter of its row in the table at the end; the row has its documentation
// too. A name with an underscore behind it, such as int_, is a word of C.
// Conversions come in two kinds:
//
//   int("0x1f"), float("1e3")    text is parsed here, item by item in arrays
//   int(2.7), float(x)           numbers are cast by the engine (tl_cast)

#include <inttypes.h>
#include <stdio.h>

#include "stdlib/families.h"
#include "vm/number.h"
#include "vm/engine/engine.h"
#include "vm/engine/scalars.h"
#include "vm/interp/catch.h"
#include "vm/interp/display.h"
#include "vm/text/format.h"
#include "vm/nested/indexed.h"
#include "vm/array/range.h"
#include "vm/values/record.h"
#include "vm/array/string_item.h"
#include "vm/suggest.h"

// --- Printing ---------------------------------------------------------------

// Adds the text of the argument [name], or [otherwise] where it is none. False
// after tl_fail.
static bool add_text(tl_vm *vm, tl_text *text, const char *name, tl_slot s,
                     const char *otherwise) {
  if (tl_is_none(s)) {
    tl_text_puts(text, otherwise);
    return !text->failed;
  }
  tl_string *string;
  if (!tl_arg_string(vm, "print", name, s, &string))
    return false;
  tl_text_add(text, string->text, string->length);
  return !text->failed;
}

// Adds the values as print shows them, the separator between them.
static bool add_values(tl_vm *vm, tl_text *text, const tl_list *values,
                       tl_slot separator) {
  for (int64_t i = 0; i < values->length; i++) {
    if (i > 0 && !add_text(vm, text, "sep", separator, " "))
      return false;
    if (!tl_format_value(vm, text, values->items[i], false, 0))
      return false;
  }
  return true;
}

// Writes all at once, so that lines of several VMs do not mix.
static bool print(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_text text;
  tl_text_open(&text, vm);
  // The text is complete before anything is written, so that a value whose text
  // cannot be made leaves no half a line.
  bool ok = add_values(vm, &text, args[0].list, args[1]) &&
            add_text(vm, &text, "end", args[2], "\n") &&
            tl_write(vm, text.bytes ? text.bytes : "", text.length);
  tl_text_close(&text);
  *out = tl_none();
  return ok;
}

// show(x, all): what the prompt shows of a value.
static bool show(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_text text;
  tl_text_open(&text, vm);
  bool ok = tl_format_display(vm, &text, args[0], vm->width, args[1].i != 0);
  if (ok && text.failed)
    ok = tl_fail_memory(vm, text.length, "the display");
  ok = ok && tl_write(vm, text.bytes ? text.bytes : "", text.length);
  tl_text_close(&text);
  *out = tl_none();
  return ok;
}

// show_decimals(n): from now on, of this VM.
static bool show_decimals(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const int64_t n = args[0].i;
  if (n < 1 || n > 17)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "show_decimals: n must be from 1 to 17, not %" PRId64, n);
  vm->decimals = (int)n;
  *out = tl_none();
  return true;
}

// format(x, spec).
static bool format(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const tl_string *spec =
      tl_is_none(args[1]) ? tl_empty_string() : args[1].string;
  tl_text text;
  tl_text_open(&text, vm);
  tl_slot shown = tl_borrow(args[0]);
  bool ok = tl_single_number(vm, &shown) &&
            tl_format_spec(vm, &text, shown, spec->text, spec->length);
  return tl_text_give(&text, ok, out);
}

// string(x): a string is its own text.
static bool string(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (tl_is_string(args[0])) {
    *out = tl_pass_on(&args[0]);
    return true;
  }
  tl_text text;
  tl_text_open(&text, vm);
  return tl_text_give(&text, tl_format_value(vm, &text, args[0], false, 0),
                      out);
}

// --- Asking -----------------------------------------------------------------

// The length along the leading axis; of a string, its clusters.
static bool len(tl_vm *vm, tl_slot *args, tl_slot *out);

// Of a pointer without axes that of its value.
static bool len_behind(tl_vm *vm, tl_slot s, tl_slot *out) {
  tl_slot value = tl_borrow(s);
  return tl_drop_after(vm, tl_spell_out(vm, 1, &value) && len(vm, &value, out),
                       &value);
}

// Of what knows its length.
static bool known_length(tl_slot s, int64_t *out) {
  if (tl_is_list(s))
    *out = s.list->length;
  else if (tl_is_string(s) && tl_string_is_bytewise(s.string))
    *out = (int64_t)s.string->length;
  else if (tl_is_record(s))
    *out = s.record->length;
  else if (tl_is_array(s) && tl_ndim(s.array) > 0)
    *out = tl_shape(s.array)[0];
  else
    return false;
  return true;
}

static bool len(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot s = args[0];
  int64_t length;
  if (tl_is_string(s))
    length = tl_string_graphemes(vm, s.string);
  else if (tl_is_range(s))
    length = s.range->length;
  else if (tl_is_form(s, TL_FORM_POINTER) && tl_value_ndim(s) == 0)
    return len_behind(vm, s, out);
  else if (tl_is_nested(s))
    length = tl_value_length(s, 0);
  else if (!known_length(s, &length))
    return tl_arg_fail(vm, "len", "x",
                       "an array, list, record, range or string", s);
  *out = tl_weak_int(length);
  return length >= 0;
}

// Of what lives on.
static bool len_at_once(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int64_t length;
  if (tl_is_owned(args[0]) || !known_length(args[0], &length))
    return false;
  tl_slot made = tl_weak_int(length);
  tl_copy_slot(out, &made);
  return true;
}

// Types are interned and immortal, so the slot owns nothing.
static bool give_type(tl_type *type, tl_slot *out) {
  if (type != NULL)
    *out = tl_type_slot(type);
  return type != NULL;
}

// typeof(x).
static bool typeof_(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return give_type(tl_type_of(vm, args[0]), out);
}

// Of what lives on and has a type that is known.
static bool typeof_at_once(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return !tl_is_owned(args[0]) && give_type(tl_type_at_once(vm, args[0]), out);
}

// type(text).
static bool type(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const tl_string *text = args[0].string;
  return give_type(tl_type_parse(vm, text->text, text->length), out);
}

// same(a, b): one bool for values of all kinds. Dtypes count, and NaN is the
// same as NaN.
static bool same(tl_vm *vm, tl_slot *args, tl_slot *out) {
  bool is = tl_same(vm, args[0], args[1]);
  *out = tl_bool(is);
  return !tl_failed(vm);
}

// Whether a value that lives on is none, which is what is mostly asked, or one
// text another.
static bool same_at_once(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot a = args[0], b = args[1];
  bool texts =
      tl_is_string(a) && tl_is_string(b) && a.string->length < TL_LONG_TEXT;
  if (tl_is_owned(a) || tl_is_owned(b) ||
      !(texts || tl_is_none(a) || tl_is_none(b)))
    return false;
  tl_slot is = tl_bool(texts ? tl_string_equal(a.string, b.string)
                             : tl_is_none(a) && tl_is_none(b));
  tl_copy_slot(out, &is);
  return true;
}

// A value of the caller's own. Immutable values are passed on, since nobody
// can tell.
static bool copy(tl_vm *vm, tl_slot *args, tl_slot *out) {
  // A rank-0 complex128 is a number, not an array that could be written.
  if (tl_is_array(args[0]) && !tl_is_number(args[0]))
    return tl_array_give(tl_take_kept(vm, &args[0]), out);
  if (tl_is_nested(args[0]))
    return tl_nested_copy(vm, args[0], out);
  *out = tl_pass_on(&args[0]);
  return true;
}

// --- Conversions ------------------------------------------------------------

// Fails (kind value): "int: "12x" is not a whole number". A long text is cut.
static bool fail_text(tl_vm *vm, const char *function, const char *text,
                      size_t nbytes, const char *what) {
  int shown = tl_clip(text, nbytes, 60);
  return tl_fail(vm, TALLY_ERR_VALUE, "%s: \"%.*s%s\" is not %s", function,
                 shown, text, (size_t)shown < nbytes ? "…" : "", what);
}

// The base that a prefix says, 0x, 0o or 0b in small letters or capitals; 10
// where there is none.
static int prefix_base(const char *at, const char *end) {
  static const char letters[] = "xob";
  static const int bases[] = {16, 8, 2};
  if (end - at < 2 || at[0] != '0')
    return 10;
  const char *letter = strchr(letters, at[1] | 32);
  return letter != NULL ? bases[letter - letters] : 10;
}

// Reads digits of a base between 2 and 36, underscores between them as in
// literals allowed. Whether [at, end) is nothing else and its value is at most
// [limit].
static bool read_digits(const char *at, const char *end, int base,
                        uint64_t limit, uint64_t *out) {
  uint64_t value = 0;
  bool behind_digit = false;
  for (; at < end; at++) {
    if (*at == '_' && behind_digit) {
      behind_digit = false;
      continue;
    }
    // A digit of 36 is none of any base. The limit is checked before the
    // product can overflow.
    uint64_t digit = tl_digit_value(*at), unit = (uint64_t)base;
    if (digit >= unit || value > (limit - digit) / unit)
      return false;
    value = value * unit + digit;
    behind_digit = true;
  }
  *out = value;
  return behind_digit;
}

// Reads a whole number of a base (0: the one that its prefix says), with a
// sign, between blanks. True if the text is one that fits int64.
static bool read_whole(const char *text, size_t nbytes, int base,
                       int64_t *out) {
  const char *at = text, *end = text + nbytes;
  while (at < end && (*at == ' ' || *at == '\t')) at++;
  while (end > at && (end[-1] == ' ' || end[-1] == '\t')) end--;
  // The most negative integer has a magnitude of one more than the largest.
  bool negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+'))
    at++;
  int said = prefix_base(at, end);
  // "0b1" is the digits 0, b and 1 in base 16: a prefix counts where it says
  // the base that is asked for.
  if (said != 10 && (base == 0 || base == said))
    at += 2;
  uint64_t value, limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);
  if (!read_digits(at, end, base == 0 ? said : base, limit, &value))
    return false;
  *out = (int64_t)(negative ? 0 - value : value);
  return true;
}

// int(s): base 0 takes prefixes, and a float text with a whole value fails.
// False after tl_fail.
static bool parse_int(tl_vm *vm, const char *text, size_t nbytes, int base,
                      tl_slot *out) {
  // Two readers: a fast one for decimals, a general one for prefixes and
  // bases.
  tl_number number = {.kind = TL_NUMBER_NONE};
  // Most are plain decimals, which this reads fastest.
  if (base == 0 || base == 10)
    number = tl_number_read(text, nbytes);
  if (number.kind != TL_NUMBER_INT) {
    char what[64] = "a whole number that fits int64";
    if (base != 0)
      snprintf(what, sizeof what, "a whole number in base %d that fits int64",
               base);
    if (!read_whole(text, nbytes, base, &number.i))
      return fail_text(vm, "int", text, nbytes, what);
  }
  *out = tl_weak_int(number.i);
  return true;
}

// float(s): any number as Tally writes it, also inf and nan.
static bool parse_float(tl_vm *vm, const char *text, size_t nbytes,
                        tl_slot *out) {
  tl_number number = tl_number_read(text, nbytes);
  if (number.kind == TL_NUMBER_NONE)
    return fail_text(vm, "float", text, nbytes, "a number");
  *out = tl_weak_float(number.f);
  return true;
}

// A string array, item by item; [base] is that of whole numbers.
static bool parse_array(tl_vm *vm, const tl_array *from, tl_dtype dtype,
                        int base, tl_slot *out) {
  tl_array *to = tl_array_new(vm, dtype, tl_ndim(from), tl_shape(from));
  if (to == NULL)
    return false;
  tl_walk walk;
  char *const data[] = {from->data};
  const int64_t *const strides[] = {tl_strides(from)};
  tl_walk_begin(&walk, 1, tl_ndim(from), tl_shape(from), data, strides);
  tl_walk_by_pieces(&walk);
  char *item = to->data;
  bool ok = true;
  for (; ok && !walk.done; tl_walk_next(&walk)) {
    for (int64_t i = 0; ok && i < walk.length; i++) {
      const tl_string_item *from_item =
          tl_string_item_at(walk.data[0] + i * walk.step[0]);
      const char *text = tl_string_item_text(from_item);
      size_t nbytes = tl_string_item_length(from_item);
      tl_slot value = tl_none();
      ok = dtype == TL_INT64 ? parse_int(vm, text, nbytes, base, &value)
                             : parse_float(vm, text, nbytes, &value);
      if (ok)
        tl_scalar_store(value, item);
      // Both dtypes, int64 and float64, have items of 8 bytes.
      item += sizeof(int64_t);
    }
    ok = ok && tl_poll(vm, 1 + (uint64_t)walk.length / 1024);
  }
  return tl_array_finish(vm, ok, to, out);
}

// Whether the value is an array of strings.
static bool is_text_array(tl_slot s) {
  return tl_is_array(s) && tl_array_dtype(s.array) == TL_STRING;
}

// A number or array by the rule of dtypes; anything else fails (kind type).
static bool convert(tl_vm *vm, const char *function, tl_slot *s, tl_dtype dtype,
                    tl_slot *out) {
  if (tl_is_range(*s) && !tl_arg_array(vm, function, s))
    return false;
  if (!tl_is_array(*s) && !tl_is_scalar(*s))
    return tl_arg_fail(vm, function, "x", "a number, an array or a string", *s);
  return tl_cast(vm, s, dtype, out);
}

// The argument base of int: 0, or from 2 to 36.
static bool read_base(tl_vm *vm, tl_slot s, int *out) {
  int64_t base;
  if (!tl_arg_int(vm, "int", "base", s, &base))
    return false;
  if (base != 0 && (base < 2 || base > 36))
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "int: base must be from 2 to 36, or 0, not %lld",
                   (long long)base);
  *out = (int)base;
  return true;
}

// int(x, base).
static bool int_(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int base = 0;
  if (!read_base(vm, args[1], &base))
    return false;
  if (tl_is_string(args[0]))
    return parse_int(vm, args[0].string->text, args[0].string->length, base,
                     out);
  if (is_text_array(args[0]))
    return parse_array(vm, args[0].array, TL_INT64, base, out);
  if (base != 0)
    return tl_arg_fail(vm, "int", "x",
                       "a string or an array of strings where a base is given",
                       args[0]);
  return convert(vm, "int", &args[0], TL_INT64, out);
}

// Of a number.
static bool int_at_once(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return tl_class(args[1]) == TL_CLASS_I64 && args[1].i == 0 &&
         !tl_is_heap(args[0]) && tl_scalar_cast(&args[0], TL_INT64, out);
}

static bool float_at_once(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return !tl_is_heap(args[0]) && tl_scalar_cast(&args[0], TL_FLOAT64, out);
}

// float(x).
static bool float_(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (tl_is_string(args[0]))
    return parse_float(vm, args[0].string->text, args[0].string->length, out);
  if (is_text_array(args[0]))
    return parse_array(vm, args[0].array, TL_FLOAT64, 10, out);
  return convert(vm, "float", &args[0], TL_FLOAT64, out);
}

// bool(x): of texts only true and false are bools.
static bool bool_(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!tl_is_string(args[0]))
    return convert(vm, "bool", &args[0], TL_BOOL, out);
  const tl_string *text = args[0].string;
  // Exactly as bools are printed; "yes" or "1" are no bools.
  bool yes = strcmp(text->text, "true") == 0;
  if (!yes && strcmp(text->text, "false") != 0)
    return fail_text(vm, "bool", text->text, text->length, "true or false");
  *out = tl_bool(yes);
  return true;
}

// complex(re, im).
static bool complex(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (tl_is_none(args[1]))
    return convert(vm, "complex", &args[0], TL_COMPLEX128, out);
  tl_dtype dtype;
  if (!tl_promote_slots(vm, "complex", args[0], args[1], &dtype) ||
      !tl_arg_numeric(vm, "complex", &args[0]) ||
      !tl_arg_numeric(vm, "complex", &args[1]))
    return false;
  if (tl_dtype_is_complex(dtype))
    return tl_arg_fail(
        vm, "complex", "re and im", "real",
        tl_dtype_is_complex(tl_array_dtype(args[0].array)) ? args[0] : args[1]);
  // Integers become the parts of complex128.
  dtype = tl_compute_dtype(dtype);
  if (dtype != TL_FLOAT32)
    dtype = TL_FLOAT64;
  const tl_array *given[2] = {args[0].array, args[1].array};
  int ndim;
  int64_t shape[TL_MAX_DIMS];
  if (!tl_broadcast(vm, 2, given, &ndim, shape))
    return false;
  // Each part is written where it lies in the items: im * 1i would make NaN of
  // infinities.
  tl_array *to = tl_array_new(
      vm, dtype == TL_FLOAT32 ? TL_COMPLEX64 : TL_COMPLEX128, ndim, shape);
  bool ok = to != NULL;
  for (size_t i = 0; ok && i < 2; i++) {
    tl_slot base = tl_borrow(tl_own_array(to));
    char *first = to->data + i * tl_itemsize(dtype);
    const bool fits = tl_array_dtype(given[i]) == dtype;
    tl_array *cast = fits ? NULL : tl_array_cast(vm, given[i], dtype);
    tl_array *part =
        tl_view_new(vm, &base, dtype, first, ndim, shape, tl_strides(to));
    ok = (fits || cast != NULL) && part != NULL &&
         tl_array_fill(vm, part, fits ? given[i] : cast);
    tl_array_drop(vm, part);
    tl_array_drop(vm, cast);
  }
  return tl_result_finish(vm, ok, to, out);
}

// --- Errors -----------------------------------------------------------------

// Raises an error: a value of a catch again, or a text with a kind of the
// script's own.
static bool error(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (tl_is_none(args[1]))
    return tl_error_raise(vm, args[0]);
  tl_string *text, *name;
  if (!tl_arg_string(vm, "error", "text", args[0], &text) ||
      !tl_arg_string(vm, "error", "kind", args[1], &name))
    return false;
  // A kind of the script's own, which a catch can compare.
  tl_fail_named(vm, name->text, text->text);
  vm->error.named = true;  // the message is the script's
  return false;
}

// Raises an error of kind assert. A condition that is no bool is a mistake of
// its own: an array has no single truth.
static bool assert_(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!tl_is_bool(args[0])) {
    // The usual mistake is a comparison of arrays.
    const char *hint = tl_is_array(args[0]) ? "; write all(…) or any(…)" : "";
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "assert: condition must be a bool, not "
                   "%s%s",
                   tl_described(vm, args[0]), hint);
  }
  *out = tl_none();
  if (args[0].i)
    return true;
  if (tl_is_none(args[1]))
    return tl_fail(vm, TALLY_ERR_ASSERT, "the condition is false");
  tl_string *text;
  if (!tl_arg_string(vm, "assert", "text", args[1], &text))
    return false;
  tl_fail(vm, TALLY_ERR_ASSERT, "%.*s", TL_LONGEST_MESSAGE, text->text);
  vm->error.named = true;
  return false;
}

// --- The table --------------------------------------------------------------

// Most take values of every form as they are (TL_FORMS): print and len see
// a categorical array, not its values. print, error and assert have effects,
// so no call of them is left out.
const tl_builtin tl_value_builtins[] = {
    /// Writes the values as text, sep (a blank) between them, then end (a
    /// newline).
    /// A write that the output refuses is an error (kind io).
    ///     print(1, [2.5], "a", sep: " | ")    # 1 | [2.5] | a
    {"print", "...values, sep: none, end: none", print, TL_EFFECT,
     .takes = TL_FORMS},
    /// Writes x as the prompt shows it: the type, then aligned columns, as wide
    /// as the terminal (80 columns in a script). Of large values both ends are
    /// shown, unless all is true. A write that the output refuses is an error
    /// (kind io).
    ///     show([1.5, 10])
    ///     # 2 * float64
    ///     #   1.5  10.0
    {"show", "x, all = false", show, TL_EFFECT, .takes = TL_FORMS,
     .types = ".b"},
    /// From now on show and the prompt write the floats of an array, and those of
    /// a column of a table, with at most n decimals, from 1 to 17; 6 at first.
    /// Other n are a value error.
    ///     show_decimals(2)
    ///     show([pi, 10])
    ///     # 2 * float64
    ///     #   3.14  10.00
    {"show_decimals", "n", show_decimals, TL_EFFECT, .types = "i"},
    /// The text of x under a specification of Python's format language; arrays
    /// item by item. A wrong specification is an error (kind value).
    ///     format(pi, ".2f")    # 3.14
    ///     format(42, "06")    # 000042
    ///     format([0.5, 1.25], ".1f")    # [0.5, 1.2]
    {"format", "x, spec = none", format, .takes = TL_FORMS, .types = ".S"},
    /// The number of items: of an array's leading axis, a list, a record, a
    /// range; of a string its grapheme clusters.
    /// Values without items, such as numbers, are an error (kind type).
    ///     len([[1, 2], [3, 4], [5, 6]])    # 3
    ///     len("größe")    # 5
    {"len", "x", len, .takes = TL_FORMS, .fused = TL_FUSED_LENGTH,
     .at_once = len_at_once},
    /// The type of x.
    /// Takes any value and never fails.
    ///     typeof([[1.0, 2.0]])    # 1 * 2 * float64
    ///     typeof("a") == string    # true
    {"typeof", "x", typeof_, .takes = TL_FORMS, .at_once = typeof_at_once},
    /// The type that a datashape says; a literal in backquotes is one at once.
    /// Text that is no type is an error (kind type).
    ///     type("2 * int64") == typeof([1, 2])    # true
    {"type", "text", type, .types = "s"},
    /// Whether a and b have one type and equal items, as one bool. NaN is the
    /// same as NaN.
    /// Takes any value and never fails.
    ///     same([1, 2], [1, 2])    # true
    ///     same(1, 1.0)    # false
    {"same", "a, b", same, .takes = TL_FORMS, .at_once = same_at_once},
    /// x as int64: a float without its fraction, a string read as a whole
    /// number; arrays item by item. A string's digits are of base 2 to 36; base
    /// 0 reads decimals, and others behind 0x, 0o and 0b, which are allowed
    /// with their base too. Underscores may part digits. What does not fit or
    /// is no number is an error (kind value), a base for numbers one of kind
    /// type. hex, oct and bin write what this reads.
    ///     int(-2.7)    # -2
    ///     int("12") + 1    # 13
    ///     int("ff", base: 16)    # 255
    ///     int(["0b101", "0x1f", "-1_000"])    # [5, 31, -1000]
    {"int", "x, base = 0", int_, .result = TL_RETURNS, .restores = TL_ARRAYS,
     .lifts = TL_OF_ITEMS, .fused = TL_FUSED_TO_INT, .at_once = int_at_once},
    /// x as float64; a string is read as a number. Arrays item by item.
    /// Text that is no number is an error (kind value), a list one of kind type.
    ///     float("1.5")    # 1.5
    ///     float([1, 2])    # [1.0, 2.0]
    {"float", "x", float_, .result = TL_RETURNS, .restores = TL_ARRAYS,
     .lifts = TL_OF_ITEMS, .fused = TL_FUSED_TO_FLOAT,
     .at_once = float_at_once},
    /// Whether x is not 0; "true" and "false" are read. Arrays item by item.
    /// Other text is an error (kind value), a list one of kind type.
    ///     bool([0, 2])    # [false, true]
    {"bool", "x", bool_, .result = TL_RETURNS, .lifts = TL_OF_ITEMS,
     .fused = TL_FUSED_TO_BOOL},
    /// The complex number with these parts, arrays item by item, broadcast; or
    /// re alone as a complex number. complex64 of float32 parts, complex128 of
    /// other real ones. Complex parts are an error (kind type).
    ///     complex(1, [2, inf])    # [1.0 + 2.0i, 1.0 + infi]
    {"complex", "re, im = none", complex, .result = TL_RETURNS,
     .lifts = TL_OF_ITEMS},
    /// The text of x, as print shows it.
    /// Takes any value and never fails.
    ///     string(1.5) + "!"    # 1.5!
    ///     string((1, 2))    # (1, 2)
    /// Of an array it is one text; each(x, string) is an array of the items'.
    ///     each([1, 2], string)    # ["1", "2"]
    {"string", "x", string, .result = TL_RETURNS, .takes = TL_FORMS},
    /// x in memory of its own. Values never change under another name, so this
    /// matters for memory alone: a copied slice does not keep the whole array.
    /// Takes any value, of any dtype, and never fails but for want of memory.
    ///     copy([1, 2, 3][0:1])    # [1]
    {"copy", "x", copy, .result = TL_RETURNS, .restores = TL_ALL,
     .takes = TL_FORMS},
    /// Raises an error of a kind (value), or an error record again. The kind is
    /// one of Tally's or a name of the script's own, of at most 63 bytes: then a
    /// host sees the status TALLY_ERR_USER and that name.
    ///     try { error("2 m + 1 s", kind: "unit") } catch e { e.kind }    # unit
    ///     try { error("no", kind: "shape") } catch e { e.kind }    # shape
    {"error", "text, kind: none", error, TL_EFFECT},
    /// Raises an error of kind assert where the condition is false.
    /// Takes a bool and a string: other values are an error (kind type), a
    /// condition that is an array too.
    ///     try { assert(1 > 2, "order") } catch e { e.message }    # order
    {"assert", "condition, text = none", assert_, TL_EFFECT},
    {.name = NULL},
};
