// Functions for strings that need no import; the rest is the module strings.
//
// Positions are in grapheme clusters, while the code works on bytes; a string
// whose clusters are single bytes (tl_string_is_bytewise) needs no search for
// their bounds:
//
//   find("größer", "er")    byte 6, cluster 4
//
// Functions that make one string of many compute its length first.
//
// Built for speed.

#include "stdlib/families.h"
#include "stdlib/split.h"
#include "stdlib/text.h"
#include "vm/nested/ragged.h"
#include "vm/nested/raw_bytes.h"
#include "vm/array/string_item.h"

// --- split and join ---------------------------------------------------------

// split(s, sep).
static bool split(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_string *s = args[0].string;
  tl_string *separator = tl_is_none(args[1]) ? NULL : args[1].string;
  // An empty separator would split between all characters, for which there is
  // a function with a name.
  if (separator != NULL && separator->length == 0)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "split: sep is empty; strings.graphemes(s) gives the "
                   "characters");
  tl_list *list = tl_list_new(vm, 6);
  bool ok = list != NULL && (separator ? tl_split_at(vm, s, separator, &list)
                                       : tl_split_blanks(vm, s, &list));
  return tl_list_give(vm, list, ok, out);
}

// Copies a part and returns the place behind it; NULL after tl_fail. Up to 16
// bytes, as most parts have, are worth no call: two words that may overlap.
static inline char *put_part(tl_vm *vm, char *to, const char *text,
                             size_t nbytes) {
  if (nbytes <= 16)
    tl_copy_short(to, text, nbytes);
  else if (!tl_copy_bytes(vm, to, text, nbytes))
    return NULL;
  return to + nbytes;
}

// String [i] of a list or a vector of them; *flags stays what all strings of a
// list have. NULL after tl_fail (kind type): the item is none.
static inline const char *part_at(tl_vm *vm, tl_slot xs, size_t i,
                                  size_t *nbytes, unsigned *flags) {
  if (tl_is_list(xs)) {
    const tl_slot item = xs.list->items[i];
    if (!tl_is_string(item)) {
      tl_fail(vm, TALLY_ERR_TYPE, "join: item %zu must be a string, not %s", i,
              tl_described(vm, item));
      return NULL;
    }
    *flags &= item.string->head.flags;
    *nbytes = item.string->length;
    return item.string->text;
  }
  // The array may be a view with any stride.
  const tl_string_item *part =
      tl_string_item_at(xs.array->data + (int64_t)i * tl_strides(xs.array)[0]);
  *nbytes = tl_string_item_length(part);
  return tl_string_item_text(part);
}

// Joins [count] strings: the length first, so that there is one allocation and
// nothing is copied twice. NULL after tl_fail.
static tl_string *join_parts(tl_vm *vm, tl_slot xs, int64_t count,
                             const tl_string *between) {
  size_t nbytes, more = 0;
  unsigned flags = count > 1 ? between->head.flags : TL_BYTEWISE;
  bool ok = true,
       fits = !tl_mul_overflows(between->length,
                                count > 0 ? (size_t)count - 1 : 0, &nbytes);
  for (int64_t i = 0; i < count && tl_poll_ok(vm, i, &ok); i++) {
    ok = part_at(vm, xs, (size_t)i, &more, &flags) != NULL;
    fits = fits && ok && !tl_add_overflows(nbytes, more, &nbytes);
  }
  tl_string *joined =
      ok ? tl_string_new(vm, NULL, fits ? nbytes : SIZE_MAX) : NULL;
  if (joined == NULL)
    return NULL;
  char *to = joined->text;
  for (int64_t i = 0; i < count && tl_poll_ok(vm, i, &ok); i++) {
    const char *part = part_at(vm, xs, (size_t)i, &more, &flags);
    if (i > 0)
      to = put_part(vm, to, between->text, between->length);
    if (to != NULL)
      to = put_part(vm, to, part, more);
    ok = to != NULL;
  }
  if (tl_is_list(xs))
    tl_string_finish_parts(joined, flags);
  else
    ok = ok && tl_string_finish(vm, joined);
  return tl_string_whole(vm, joined, ok);
}

// join(xs, sep).
static bool join(tl_vm *vm, tl_slot *args, tl_slot *out);

// Joins the strings of each row of a ragged array into one.
static bool join_rows(tl_vm *vm, tl_slot *args, tl_slot *out) {
  // Each row is a slice, joined as if a script had called join for it.
  const tl_nested *n = args[0].nested;
  int64_t rows = tl_ragged_rows(n);
  tl_array *joined = tl_array_new(vm, TL_STRING, 1, &rows);
  bool ok = joined != NULL;
  for (int64_t i = 0; ok && i < rows; i++) {
    int64_t start, stop;
    tl_slot row[2] = {tl_none(), tl_borrow(args[1])}, text = tl_none();
    tl_ragged_row(n, i, &start, &stop);
    ok = ((i & 0xfff) != 0xfff || tl_poll(vm, 4)) &&
         tl_value_slice(vm, n->parts[1], start, stop, &row[0]) &&
         join(vm, row, &text) &&
         tl_item_store(vm, joined, joined->data + i * tl_strides(joined)[0],
                       text);
    tl_clear(vm, &row[0]);
    tl_clear(vm, &text);
  }
  return tl_array_finish(vm, ok, joined, out);
}

static bool join(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (tl_is_form(args[0], TL_FORM_RAGGED))
    return join_rows(vm, args, out);
  tl_slot xs = args[0];
  // Of no strings an array says no dtype: [f(x) for x in ()].
  bool is_array =
      tl_is_array(xs) && tl_ndim(xs.array) == 1 &&
      (tl_array_dtype(xs.array) == TL_STRING || xs.array->size == 0);
  if (!tl_is_list(xs) && !is_array)
    return tl_arg_fail(vm, "join", "xs", "a list or vector of strings", xs);
  tl_string *between = tl_empty_string();
  if (!tl_is_none(args[1]) &&
      !tl_arg_string(vm, "join", "sep", args[1], &between))
    return false;
  const int64_t count = is_array ? xs.array->size : xs.list->length;
  return tl_string_give(join_parts(vm, xs, count, between), out);
}

// --- replace and find -------------------------------------------------------

// In how many places, [most] of them, the text has the part, side by side.
static int64_t count_places(tl_vm *vm, const tl_string *s,
                            const tl_string *part, int64_t most) {
  int64_t count = 0;
  const char *found;
  size_t at = 0;
  for (; count < most && tl_poll_at(vm, count) &&
         (found = tl_string_search(vm, s, at, part));
       count++)
    at = (size_t)(found - s->text) + part->length;
  return count;
}

// Writes the text with [new] in the place of each of [count] times that it has
// [old]. False where that was interrupted.
static bool put_replaced(tl_vm *vm, char *to, const tl_string *s,
                         const tl_string *old, const tl_string *new,
                         int64_t count) {
  const char *from = s->text;
  while (count-- > 0) {
    const char *found = tl_string_search(vm, s, (size_t)(from - s->text), old);
    if (found == NULL || !tl_poll_at(vm, count))
      return false;
    if ((to = put_part(vm, to, from, (size_t)(found - from))) == NULL ||
        (to = put_part(vm, to, new->text, new->length)) == NULL)
      return false;
    from = found + old->length;
  }
  return put_part(vm, to, from, s->length - (size_t)(from - s->text)) != NULL;
}

// The same where a byte takes the place of another wherever that is.
static bool put_other_byte(tl_vm *vm, char *to, const tl_string *s, char old,
                           char new) {
  for (size_t at = 0, end = 0; at < s->length; at = end) {
    if (!tl_poll_piece(vm, at, s->length, &end))
      return false;
    for (size_t i = at; i < end; i++)
      to[i] = s->text[i] == old ? new : s->text[i];
  }
  return true;
}

// The text with [new] for [old]: the places are counted first, so that the
// result is made at once. NULL after tl_fail.
static tl_string *replaced(tl_vm *vm, const tl_string *s, const tl_string *old,
                           const tl_string *new, int64_t most) {
  const bool bytes =
      old->length == 1 && new->length == 1 && most >= (int64_t)s->length;
  int64_t count = bytes ? 0 : count_places(vm, s, old, most);
  if (tl_failed(vm))
    return NULL;
  size_t nbytes, rest = s->length - (size_t)count * old->length;
  bool fits = !tl_mul_overflows((size_t)count, new->length, &nbytes) &&
              !tl_add_overflows(nbytes, rest, &nbytes);
  tl_string *made = tl_string_new(vm, NULL, fits ? nbytes : SIZE_MAX);
  if (made == NULL)
    return NULL;
  bool ok = bytes
                ? put_other_byte(vm, made->text, s, old->text[0], new->text[0])
                : put_replaced(vm, made->text, s, old, new, count);
  if (tl_string_is_bytewise(s) && tl_string_is_bytewise(new))
    tl_string_finish_parts(made, TL_BYTEWISE);
  else
    ok = ok && tl_string_finish(vm, made);
  return tl_string_whole(vm, made, ok);
}

// replace(s, old, new, count).
static bool replace(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const tl_string *old = args[1].string;
  int64_t count = tl_is_none(args[3]) ? INT64_MAX : args[3].i;
  if (old->length == 0)
    return tl_fail(vm, TALLY_ERR_VALUE, "replace: old is empty");
  return tl_string_give(
      replaced(vm, args[0].string, old, args[2].string, count), out);
}

// The index, in clusters, of the first place from byte [at] on where [part]
// begins one; -1 if there is none. A match inside of a cluster does not count.
static int64_t find_text(tl_vm *vm, tl_string *s, size_t at,
                         const tl_string *part) {
  int64_t index = -1;
  const char *found = tl_string_search(vm, s, at, part);
  for (int64_t i = 0; found != NULL && tl_poll_at(vm, i); i++) {
    size_t place = (size_t)(found - s->text);
    index = tl_string_grapheme_at(vm, s, place);
    if (index >= 0 || tl_failed(vm))
      break;
    found = tl_string_search(vm, s, place + 1, part);
  }
  return index;
}

// Where a search of [count] items begins: negative places count from the end.
// False: behind the end, where nothing is found.
static bool search_begin(int64_t count, int64_t *start) {
  if (*start < 0)
    *start = *start < -count ? 0 : *start + count;
  return *start <= count;
}

// find(xs, part, start).
static bool find(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int64_t i = args[2].i;
  tl_string *part;
  *out = tl_weak_int(-1);
  if (tl_is_list(args[0])) {
    const tl_list *list = args[0].list;
    if (!search_begin(list->length, &i))
      return true;
    while (i < list->length && !tl_equal(vm, list->items[i], args[1]) &&
           tl_poll_at(vm, i))
      i++;
    *out = tl_weak_int(i < list->length ? i : -1);
    return !tl_failed(vm);
  }
  if (!tl_is_string(args[0]))
    return tl_arg_fail(vm, "find", "xs", "a string or a list", args[0]);
  if (!tl_arg_string(vm, "find", "part", args[1], &part))
    return false;
  tl_string *s = args[0].string;
  size_t begin = 0, end;
  int64_t count = i == 0 ? 0 : tl_string_graphemes(vm, s);
  if (count < 0 || !search_begin(count, &i))
    return count >= 0;
  if (i > 0)
    tl_string_grapheme_range(s, i, count, &begin, &end);
  *out = tl_weak_int(find_text(vm, s, begin, part));
  return !tl_failed(vm);
}

// Whether s begins with the part, or ends with it. Bytes decide: UTF-8 is
// self-synchronising, so equal bytes are whole code points.
static bool has_part(tl_vm *vm, const tl_slot *args, bool end, tl_slot *out) {
  const tl_string *s = args[0].string, *part = args[1].string;
  const size_t n = part->length;
  *out = tl_bool(s->length >= n &&
                 tl_text_compare(vm, s->text + (end ? s->length - n : 0), n,
                                 part->text, n) == 0);
  return !tl_failed(vm);
}

static bool starts_with(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return has_part(vm, args, false, out);
}

static bool ends_with(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return has_part(vm, args, true, out);
}

// --- strip ------------------------------------------------------------------

// The code points that are stripped: a bit for each of ASCII, and for each
// other one where they are given as many; else one by one, or blanks where they
// are not given.
typedef struct stripped {
  const tl_string *set;
  uint64_t *bits;
  uint64_t ascii[2];
} stripped;

enum { FEW_BYTES = 32, BITS_BYTES = (0x10ffff / 64 + 1) * 8 };

// Reads the set; the caller frees the bits. False after tl_fail: there are
// none.
static bool open_stripped(tl_vm *vm, const tl_string *set, stripped *out) {
  *out =
      (stripped){set, NULL, {UINT64_C(0x100003e00), 0}};  // "\t" to "\r", " "
  if (set == NULL)
    return true;
  out->ascii[0] = 0;
  if (set->length <= FEW_BYTES) {
    for (size_t i = 0; i < set->length; i++) {
      const unsigned char one = (unsigned char)set->text[i];
      if (one < 128)
        out->ascii[one / 64] |= UINT64_C(1) << one % 64;
    }
    return true;
  }
  out->bits = tl_alloc(vm, BITS_BYTES, "strip");
  if (out->bits == NULL)
    return false;
  memset(out->bits, 0, BITS_BYTES);
  bool ok = true;
  size_t at = 0;
  for (int64_t i = 0; at < set->length && tl_poll_ok(vm, i, &ok); i++) {
    int32_t one;
    at += tl_utf8_decode(set->text + at, set->length - at, &one);
    out->bits[one / 64] |= UINT64_C(1) << one % 64;
  }
  memcpy(out->ascii, out->bits, sizeof out->ascii);
  if (!ok)
    tl_free(vm, out->bits, BITS_BYTES);
  return ok;
}

// strips of a text that begins beyond ASCII.
static __attribute__((noinline)) size_t strips_far(const stripped *s,
                                                   const char *text,
                                                   size_t nbytes) {
  int32_t point, one;
  const size_t step = tl_utf8_decode(text, nbytes, &point);
  if (s->bits != NULL)
    return (s->bits[point / 64] >> point % 64 & 1) != 0 ? step : 0;
  if (s->set == NULL)
    return tl_is_blank(point) ? step : 0;
  for (size_t at = 0; at < s->set->length;) {
    at += tl_utf8_decode(s->set->text + at, s->set->length - at, &one);
    if (one == point)
      return step;
  }
  return 0;
}

// How many bytes the code point takes that the text begins with, if it is
// stripped; else 0.
static inline size_t strips(const stripped *s, const char *text,
                            size_t nbytes) {
  const unsigned char first = (unsigned char)text[0];
  return first < 128 ? s->ascii[first >> 6] >> (first & 63) & 1
                     : strips_far(s, text, nbytes);
}

// strip(s, chars, left, right).
static bool strip(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_string *s = args[0].string;
  const bool left = args[2].i != 0, right = args[3].i != 0;
  stripped chars;
  if (!open_stripped(vm, tl_is_none(args[1]) ? NULL : args[1].string, &chars))
    return false;
  // Code point by code point from both ends; nothing in between is looked at.
  size_t begin = 0, end = s->length, step;
  bool ok = true;
  for (int64_t i = 0; left && begin < end && tl_poll_ok(vm, i, &ok) &&
                      (step = strips(&chars, s->text + begin, end - begin)) > 0;
       i++)
    begin += step;
  for (int64_t i = 0; right && end > begin && tl_poll_ok(vm, i, &ok); i++) {
    size_t last = end - 1;
    // Back over the bytes that continue a code point.
    while (last > begin && ((unsigned char)s->text[last] & 0xc0) == 0x80)
      last--;
    if (strips(&chars, s->text + last, end - last) == 0)
      break;
    end = last;
  }
  if (chars.bits != NULL)
    tl_free(vm, chars.bits, BITS_BYTES);
  if (!ok || end - begin < s->length)
    return ok && tl_string_cut(vm, s, begin, end, out);
  *out = tl_retain(vm, tl_borrow(args[0]));  // nothing was stripped
  return true;
}

// --- Points and bytes -------------------------------------------------------

// codepoints(s).
static bool codepoints(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const tl_string *s = args[0].string;
  int64_t count = tl_text_points(vm, s->text, s->length);
  tl_array *points = count < 0 ? NULL : tl_array_new(vm, TL_INT64, 1, &count);
  if (points == NULL)
    return false;
  int64_t *to = (int64_t *)(void *)points->data;
  size_t at = 0;
  bool ok = true;
  for (int64_t i = 0; i < count && at < s->length && tl_poll_ok(vm, i, &ok);
       i++) {
    int32_t point;
    at += tl_utf8_decode(s->text + at, s->length - at, &point);
    to[i] = point;
  }
  return tl_array_finish(vm, ok, points, out);
}

// bytes(s).
static bool bytes(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_string *s;
  if (tl_is_raw_bytes(args[0]))
    return tl_raw_bytes_items(vm, args[0], out);
  if (!tl_arg_string(vm, "bytes", "s", args[0], &s))
    return false;
  int64_t count = (int64_t)s->length;
  tl_array *array = tl_array_new(vm, TL_UINT8, 1, &count);
  if (array == NULL)
    return false;
  // A string's text is valid UTF-8, so its bytes are too.
  return tl_array_finish(vm, tl_copy_bytes(vm, array->data, s->text, s->length),
                         array, out);
}

// Appends a code point; fails (kind value) for surrogates and what is out of
// range.
static bool add_point(tl_vm *vm, tl_text *text, int64_t point) {
  if (point < 0 || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
    return tl_fail(vm, TALLY_ERR_VALUE, "char: %lld is no code point",
                   (long long)point);
  tl_text_point(text, (int32_t)point);
  return !text->failed;
}

// Appends all points of a dense vector of int64.
static bool add_points(tl_vm *vm, tl_text *text, const tl_array *a) {
  const char *item = a->data;
  for (int64_t i = 0; i < a->size; i++, item += tl_strides(a)[0])
    if (!add_point(vm, text, *(const int64_t *)(const void *)item))
      return false;
  return true;
}

// Letters of ASCII are shared by all.
static bool char_at_once(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot code = args[0];
  if (tl_class(code) != TL_CLASS_I64 || code.u >= TL_NO_LETTER)
    return false;
  tl_slot letter = tl_letter_slot((unsigned)code.u);
  tl_copy_slot(out, &letter);
  return true;
}

// char(code).
static bool char_(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int64_t point;
  tl_slot points;
  tl_text text;
  tl_text_open(&text, vm);
  bool ok;
  if (tl_is_scalar(args[0])) {
    ok = tl_arg_int(vm, "char", "code", args[0], &point) &&
         add_point(vm, &text, point);
  } else {
    // A vector of integers of any dtype; other ranks have no order of
    // characters.
    bool whole = tl_is_range(args[0]) ||
                 (tl_is_array(args[0]) && tl_ndim(args[0].array) == 1 &&
                  tl_dtype_is_integer(tl_array_dtype(args[0].array)));
    ok = whole || tl_arg_fail(vm, "char", "code",
                              "an integer or a vector of them", args[0]);
    ok = ok && tl_as_contiguous(vm, "char", args[0], TL_INT64, &points);
    if (ok) {
      ok = add_points(vm, &text, points.array);
      tl_drop(vm, points);
    }
  }
  return tl_text_give(&text, ok, out);
}

// --- The table --------------------------------------------------------------

// Rows with TL_OF_TEXT take arrays of strings too, item by item; join and char
// take arrays as a whole.
const tl_builtin tl_string_builtins[] = {
    /// The parts of a string between separators, as a list; without one, between
    /// blanks, of which there may be several in a row. Of an array of strings a
    /// row of parts for each, a ragged array.
    /// Arguments other than strings are an error (kind type).
    ///     split("a,b,,c", ",")    # ("a", "b", "", "c")
    ///     split("  two words ")    # ("two", "words")
    ///     split(["a b", "c"])    # [["a", "b"], ["c"]]
    {"split", "s, sep = none", split, .lifts = TL_OF_TEXT, .types = "sS"},
    /// One string of many, sep (nothing) between them; of rows of strings one
    /// for each row.
    /// Arguments other than strings are an error (kind type).
    ///     join(("a", "b", "c"), "-")    # a-b-c
    {"join", "xs, sep = none", join},
    /// s with new in place of old everywhere, or count times from the front.
    /// Takes strings, or arrays of strings item by item: other values are an
    /// error (kind type).
    ///     replace("banana", "an", "o")    # booa
    {"replace", "s, old, new, count: none", replace, .lifts = TL_OF_TEXT,
     .types = "sssN"},
    /// Where a part begins in a string, or an equal item stands in a list: the
    /// first index from start on, which may count from the end, or -1.
    /// Arguments other than strings are an error (kind type), and a start that
    /// is no integer.
    ///     find("größer", "er")    # 4
    ///     find((3, 1, 2), 2)    # 2
    ///     find("banana", "an", 2)    # 3
    {"find", "xs, part, start = 0", find, .lifts = TL_OF_TEXT, .types = "..i"},
    /// Whether a string begins with a part.
    /// Arguments other than strings are an error (kind type).
    ///     starts_with("tally", "ta")    # true
    {"starts_with", "s, part", starts_with, .lifts = TL_OF_TEXT, .types = "ss"},
    /// Whether a string ends with a part.
    /// Arguments other than strings are an error (kind type).
    ///     ends_with("x.csv", ".csv")    # true
    {"ends_with", "s, part", ends_with, .lifts = TL_OF_TEXT, .types = "ss"},
    /// s without the blanks at its ends, or without the characters given.
    /// Takes strings, or arrays of strings item by item: other values are an
    /// error (kind type).
    ///     strip("  a b ") + "."    # a b.
    ///     strip("--x--", "-", right: false)    # x--
    {"strip", "s, chars = none, left: true, right: true", strip,
     .lifts = TL_OF_TEXT, .types = "sSbb"},
    /// The code points of a string's characters, an int64 array.
    /// Values other than strings are an error (kind type).
    ///     codepoints("aπ")    # [97, 960]
    {"codepoints", "s", codepoints, .lifts = TL_OF_TEXT, .types = "s"},
    /// The bytes of a string in UTF-8, or of a value of type bytes: a uint8
    /// array. Other values are an error (kind type). A value of that type is
    /// made by the type itself, whose name stands in backticks.
    ///     bytes("π")    # [207, 128]
    ///     `bytes`("π")    # b"\xcf\x80"
    {"bytes", "s", bytes, .lifts = TL_OF_TEXT, .takes = TL_FORMS},
    /// The character of a code point, or the string of an array of them.
    /// A number that is no code point is an error (kind value).
    ///     char(960)    # π
    ///     char([72, 105])    # Hi
    {"char", "code", char_, .at_once = char_at_once},
    {.name = NULL},
};
