// The module strings: Unicode text, through utf8proc.
//
// Each function is written for one string; the trait TL_OF_TEXT of its row lets
// the VM call it for each string of an array. Characters are grapheme
// clusters, except where a name says code points:
//
//   graphemes("añ")     ("a", "ñ"), whether ñ is one code point or two
//   words("Don't")      one word: an apostrophe joins letters
//
// Built for speed.

#include <utf8proc.h>

#include "stdlib/families.h"
#include "stdlib/text.h"

// --- Normal forms -----------------------------------------------------------

// Texts are mapped in pieces, between which the VM polls.
enum { PIECE = 1 << 14, POINTS = 1 << 16 };

// Code points of a piece, in memory of the VM that grows.
typedef struct points {
  int32_t *items, *room;  // room: for those that are sorted
  utf8proc_ssize_t count, most;
} points;

// Frees both halves, which are one block; one that failed to open has no block,
// and is closed alike.
static void close_points(tl_vm *vm, points *p) {
  tl_free(vm, p->items, (size_t)p->most * 2 * sizeof(int32_t));
}

// Room for [most] code points and as many again to sort in. False after
// tl_fail.
static bool open_points(tl_vm *vm, points *p, utf8proc_ssize_t most) {
  *p = (points){.most = most};
  p->items = tl_alloc(vm, (size_t)most * 2 * sizeof(int32_t), "a string");
  p->room = p->items == NULL ? NULL : p->items + most;
  return p->items != NULL;
}

// Twice the room, with what is there.
static bool grow_points(tl_vm *vm, points *p) {
  points more;
  if (!open_points(vm, &more, 2 * p->most))
    return false;
  more.count = p->count;
  bool ok = tl_copy_bytes(vm, more.items, p->items,
                          (size_t)p->count * sizeof(int32_t));
  close_points(vm, ok ? p : &more);
  if (ok)
    *p = more;
  return ok;
}

// Whether a piece may begin with this code point: nothing before it is put in
// another order with it or composed with it, which happens to marks and to the
// vowels and final consonants of Hangul.
static bool begins_piece(int32_t point) {
  return point < 128 ||
         (!tl_is_mark(point) && !(point >= 0x1160 && point <= 0x11ff) &&
          !(point >= 0xd7b0 && point <= 0xd7ff));
}

// The end of the piece that begins at byte [at]. False after tl_fail.
static bool piece_end(tl_vm *vm, const tl_string *s, size_t at, size_t *end) {
  *end = s->length;
  if (s->length - at <= PIECE)
    return true;
  at += PIECE;
  while ((s->text[at] & 0xc0) == 0x80) at--;
  bool ok = true;
  for (int64_t i = 0; at < s->length && tl_poll_ok(vm, i, &ok); i++) {
    int32_t point;
    size_t step = tl_utf8_decode(s->text + at, s->length - at, &point);
    if (begins_piece(point))
      break;
    at += step;
  }
  *end = at;
  return ok;
}

// The canonical combining class of a code point, 0 to 254: 0 for what begins
// anew, and marks of different classes may change places.
static int class_of(int32_t point) {
  return utf8proc_get_property(point)->combining_class;
}

// Puts marks side by side in the order of their classes, of one class as they
// stood: by counting, since a text may have as many as it likes. False after
// tl_fail.
static bool order_marks(tl_vm *vm, int32_t *marks, utf8proc_ssize_t n,
                        int32_t *room) {
  utf8proc_ssize_t starts[257] = {0};
  bool ok = true;
  for (utf8proc_ssize_t i = 0; i < n && tl_poll_ok(vm, i, &ok); i++)
    starts[class_of(marks[i]) + 1]++;
  for (int i = 0; i < 256; i++) starts[i + 1] += starts[i];
  for (utf8proc_ssize_t i = 0; i < n && tl_poll_ok(vm, i, &ok); i++)
    room[starts[class_of(marks[i])]++] = marks[i];
  return ok && tl_copy_bytes(vm, marks, room, (size_t)n * sizeof *marks);
}

// The canonical ordering (Unicode Standard, 3.11, D109).
// False after tl_fail.
static bool order_points(tl_vm *vm, points *p) {
  bool ok = true;
  for (utf8proc_ssize_t i = 0, end; ok && i < p->count; i = end + 1) {
    for (end = i; end < p->count && class_of(p->items[end]) != 0 &&
                  tl_poll_ok(vm, end, &ok);
         end++) {
    }
    ok =
        ok && (end - i <= 1 || order_marks(vm, p->items + i, end - i, p->room));
  }
  return ok;
}

// The code points from byte [at] to [end] decomposed, mapped and ordered as
// [options] say.
static bool decompose(tl_vm *vm, const tl_string *s, size_t at, size_t end,
                      utf8proc_option_t options, points *p) {
  int class = UTF8PROC_BOUNDCLASS_START;
  p->count = 0;
  for (int64_t i = 0; at < end && tl_poll_at(vm, i); i++) {
    int32_t point;
    size_t step = tl_utf8_decode(s->text + at, end - at, &point);
    utf8proc_ssize_t n = utf8proc_decompose_char(
        point, p->items + p->count, p->most - p->count, options, &class);
    if (n < 0)
      return tl_fail(vm, TALLY_ERR_VALUE, "strings: %s", utf8proc_errmsg(n));
    if (n > p->most - p->count) {
      if (!grow_points(vm, p))
        return false;
      continue;
    }
    p->count += n;
    at += step;
  }
  return !tl_failed(vm) && order_points(vm, p);
}

// The string of s after a mapping of utf8proc; *out is owned.
static bool map(tl_vm *vm, const tl_string *s, int options, tl_slot *out) {
  const utf8proc_option_t how = (utf8proc_option_t)options;
  points p;
  size_t room = s->length < POINTS / 4 ? 4 * s->length + 4 : POINTS;
  if (!open_points(vm, &p, (utf8proc_ssize_t)room))
    return false;
  tl_text text;
  tl_text_open(&text, vm);
  for (size_t at = 0, end; at < s->length && !text.failed; at = end) {
    text.failed =
        !piece_end(vm, s, at, &end) || !decompose(vm, s, at, end, how, &p);
    if (text.failed)
      break;
    utf8proc_ssize_t count = utf8proc_normalize_utf32(p.items, p.count, how);
    for (utf8proc_ssize_t i = 0; i < count && !text.failed; i++) {
      tl_text_point(&text, p.items[i]);
      text.failed |= !tl_poll_at(vm, i);
    }
  }
  close_points(vm, &p);
  return tl_text_give(&text, true, out);
}

// strings.normalize(s, form).
static bool normalize(tl_vm *vm, tl_slot *args, tl_slot *out) {
  static const struct form {
    const char *name;
    int options;
  } forms[] = {
      {"NFC", UTF8PROC_STABLE | UTF8PROC_COMPOSE},
      {"NFD", UTF8PROC_STABLE | UTF8PROC_DECOMPOSE},
      {"NFKC", UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT},
      {"NFKD", UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT},
  };
  const char *name = tl_is_none(args[1]) ? "NFC" : args[1].string->text;
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
    if (strcmp(forms[i].name, name) == 0)
      return map(vm, args[0].string, forms[i].options, out);
  return tl_fail(vm, TALLY_ERR_VALUE,
                 "normalize: form must be NFC, NFD, NFKC or NFKD, not "
                 "\"%.60s\"",
                 name);
}

// strings.casefold(s).
static bool casefold(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return map(vm, args[0].string,
             UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD, out);
}

// strings.strip_marks(s).
static bool strip_marks(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return map(vm, args[0].string,
             UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_STRIPMARK, out);
}

// --- Case -------------------------------------------------------------------

// strings.upper(s), lower(s) and title(s): the three cases of one function.
static bool upper(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return tl_change_case(vm, args[0].string, TL_UPPER, out);
}

static bool lower(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return tl_change_case(vm, args[0].string, TL_LOWER, out);
}

static bool title(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return tl_change_case(vm, args[0].string, TL_TITLE, out);
}

// --- Parts ------------------------------------------------------------------

// strings.graphemes(s).
static bool graphemes(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_string *s = args[0].string;
  int64_t count = tl_string_graphemes(vm, s);
  tl_list *list = count >= 0 ? tl_list_new(vm, count) : NULL;
  bool ok = list != NULL;
  if (ok && tl_string_is_bytewise(s)) {
    // Each byte is a letter, which needs no memory.
    for (size_t at = 0; at < s->length && tl_poll_ok(vm, (int64_t)at, &ok);
         at++)
      list->items[list->length++] = tl_letter_slot((unsigned char)s->text[at]);
    return tl_list_give(vm, list, ok, out);
  }
  for (size_t at = 0, end; ok && at < s->length; at = end) {
    end = tl_grapheme_end(s->text, s->length, at);
    ok = tl_poll_items(vm, (int64_t)(end - at)) &&
         tl_list_push_cut(vm, &list, s, at, end);
  }
  return tl_list_give(vm, list, ok, out);
}

// Whether a point is part of a word: letters, marks, digits and connecting
// punctuation.
static bool is_word_point(int32_t point) {
  switch (utf8proc_category(point)) {
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      return tl_is_letter(point) || tl_is_mark(point);
  }
}

// Whether a point is a decimal digit of any script.
static bool is_digit(int32_t point) {
  return utf8proc_category(point) == UTF8PROC_CATEGORY_ND;
}

// Whether [point] joins what stands on its two sides: don't, 3.14.
static bool joins(int32_t before, int32_t point, int32_t after) {
  // Apostrophes and the middle dot of Catalan between letters; points and
  // commas between digits.
  if (point == '\'' || point == 0x2019 || point == 0xb7)
    return tl_is_letter(before) && tl_is_letter(after);
  if (point == '.' || point == ',')
    return is_digit(before) && is_digit(after);
  return false;
}

// The end of the word that begins at byte [at]; 0 after tl_fail.
static size_t word_end(tl_vm *vm, const tl_string *s, size_t at) {
  // The point before and the one after decide whether a sign joins.
  int32_t before = 0;
  for (int64_t i = 0; at < s->length && tl_poll_at(vm, i); i++) {
    int32_t point, after = 0;
    size_t step = tl_utf8_decode(s->text + at, s->length - at, &point);
    if (at + step < s->length)
      tl_utf8_decode(s->text + at + step, s->length - at - step, &after);
    if (!is_word_point(point) && !joins(before, point, after))
      break;
    at += step;
    before = point;
  }
  return tl_failed(vm) ? 0 : at;
}

// strings.words(s).
static bool words(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_string *s = args[0].string;
  tl_list *list = tl_list_new(vm, 4);
  bool ok = list != NULL;
  size_t at = 0;
  for (int64_t i = 0; at < s->length && tl_poll_ok(vm, i, &ok); i++) {
    int32_t point;
    size_t step = tl_utf8_decode(s->text + at, s->length - at, &point);
    if (!is_word_point(point)) {
      at += step;
      continue;
    }
    size_t end = word_end(vm, s, at);
    ok = end > 0 && tl_list_push_cut(vm, &list, s, at, end);
    at = end;
  }
  return tl_list_give(vm, list, ok, out);
}

// strings.lines(s): a last line without an end is a line, an empty one behind
// the last end is not.
static bool lines(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_string *s = args[0].string;
  tl_list *list = tl_list_new(vm, 4);
  bool ok = list != NULL;
  for (size_t at = 0; ok && at < s->length;) {
    // The end of a line is searched as a byte, which UTF-8 allows.
    const char *newline = memchr(s->text + at, '\n', s->length - at);
    size_t end = newline ? (size_t)(newline - s->text) : s->length;
    size_t next = newline ? end + 1 : end;
    if (end > at && s->text[end - 1] == '\r')
      end--;
    ok = tl_list_push_cut(vm, &list, s, at, end);
    at = next;
  }
  return tl_list_give(vm, list, ok, out);
}

// --- Asking and building ----------------------------------------------------

// strings.length(s): len(s), but also of each string of an array.
static bool length(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_string *s = args[0].string;
  int64_t count = tl_string_graphemes(vm, s);
  *out = tl_weak_int(count);
  return count >= 0;
}

// strings.display_width(s).
static bool display_width(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const tl_string *s = args[0].string;
  int64_t width = tl_text_width(vm, s->text, s->length);
  *out = tl_weak_int(width);
  return width >= 0;
}

// strings.category(c).
static bool category(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const tl_string *s = args[0].string;
  if (s->length == 0)
    return tl_fail(vm, TALLY_ERR_VALUE, "category: the string is empty");
  int32_t point;
  tl_utf8_decode(s->text, s->length, &point);
  return tl_string_give(tl_string_from(vm, utf8proc_category_string(point)),
                        out);
}

// strings.repeat(s, count).
static bool repeat(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const tl_string *s = args[0].string;
  size_t nbytes;
  if (tl_mul_overflows(s->length, (size_t)args[1].i, &nbytes))
    return tl_fail_memory(vm, SIZE_MAX, "a string");
  tl_string *string = tl_string_new(vm, NULL, nbytes);
  if (string == NULL)
    return false;
  size_t done = nbytes > 0 ? s->length : 0;
  bool ok = tl_copy_bytes(vm, string->text, s->text, done);
  // The text that is there is copied behind itself, twice as much each time.
  for (size_t more; ok && done < nbytes; done += more) {
    more = done < nbytes - done ? done : nbytes - done;
    ok = tl_copy_bytes(vm, string->text + done, string->text, more);
  }
  tl_string_finish_parts(string, s->head.flags);
  return tl_string_give(tl_string_whole(vm, string, ok), out);
}

// --- The table --------------------------------------------------------------

// All rows work on one string; TL_OF_TEXT lifts them to arrays of strings,
// with missing ones left out.
const tl_builtin tl_strings_module[] = {
    /// s, or each string of an array, in a normal form of Unicode: "NFC" (unless
    /// given), "NFD", "NFKC" or "NFKD" (Unicode Standard Annex 15). Another form is
    /// an error of kind value, what is no string one of kind type.
    ///     strings.normalize("ﬁne", "NFKC")    # fine
    {"normalize", "s, form = none", normalize, .lifts = TL_OF_TEXT,
     .types = "sS"},
    /// s, or each string of an array, as it is compared where case does not matter.
    /// What is no string is a type error.
    ///     strings.casefold("Straße")    # strasse
    {"casefold", "s", casefold, .lifts = TL_OF_TEXT, .types = "s"},
    /// s, or each string of an array, without accents and other marks (Unicode's
    /// categories Mn, Mc, Me), in NFC. Letters that are no letter with a mark, such
    /// as ø, stay. What is no string is a type error.
    ///     strings.strip_marks("café Ångström")    # cafe Angstrom
    {"strip_marks", "s", strip_marks, .lifts = TL_OF_TEXT, .types = "s"},
    /// s, or each string of an array, in capital letters, by Unicode's SpecialCasing
    /// for no language of its own (ß is SS, ﬁ FI); missing ones stay missing. What
    /// is no string is a type error.
    ///     strings.upper("größe")    # GRÖSSE
    {"upper", "s", upper, .lifts = TL_OF_TEXT, .types = "s"},
    /// s, or each string of an array, in small letters; missing ones stay missing.
    /// What is no string is a type error.
    ///     strings.lower("ΑΓΟΡΑΣ")    # αγορας
    {"lower", "s", lower, .lifts = TL_OF_TEXT, .types = "s"},
    /// s, or each string of an array, with a capital letter at the beginning of
    /// each word. What is no string is a type error.
    ///     strings.title("a small language")    # A Small Language
    {"title", "s", title, .lifts = TL_OF_TEXT, .types = "s"},
    /// The characters as a reader sees them (grapheme clusters): a list, or of an
    /// array of strings a row for each. What is no string is a type error.
    ///     strings.graphemes("añ🇫🇷")    # ("a", "ñ", "🇫🇷")
    {"graphemes", "s", graphemes, .lifts = TL_OF_TEXT, .types = "s"},
    /// The words of a text, runs of letters and digits with apostrophes and decimal
    /// points inside: a list, or of an array of strings a row for each. What is no
    /// string is a type error.
    ///     strings.words("Don't pay 3.50, Ada!")    # ("Don't", "pay", "3.50", "Ada")
    {"words", "s", words, .lifts = TL_OF_TEXT, .types = "s"},
    /// The lines of a text without their ends (\n or \r\n): a list, or of an array
    /// of strings a row for each. What is no string is a type error.
    ///     strings.lines("one\ntwo\n")    # ("one", "two")
    {"lines", "s", lines, .lifts = TL_OF_TEXT, .types = "s"},
    /// The number of characters (grapheme clusters) of s, as len(s) has it; of an
    /// array of strings that of each. An int64. What is no string is a type error.
    ///     strings.length(["größe", "a"])    # [5, 1]
    {"length", "s", length, .lifts = TL_OF_TEXT, .types = "s"},
    /// The columns that s, or each string of an array, takes on a terminal: an
    /// int64. What is no string is a type error.
    ///     strings.display_width("速度")    # 4
    {"display_width", "s", display_width, .lifts = TL_OF_TEXT, .types = "s"},
    /// The general category of a string's first character in two letters (Unicode
    /// Standard Annex 44), or of the first of each string of an array. An empty
    /// string is a value error, what is no string a type error.
    ///     strings.category("A")    # Lu
    {"category", "c", category, .lifts = TL_OF_TEXT, .types = "s"},
    /// s, or each string of an array, count times one after the other. A negative
    /// count is a value error, one that is no integer a type error.
    ///     strings.repeat("ab", 3)    # ababab
    {"repeat", "s, count", repeat, .lifts = TL_OF_TEXT, .types = "sn"},
    {.name = NULL},
};
