// Letters in capitals and small ones, by Unicode's rules without those of
// single languages. Text of single bytes, which is most, is changed eight
// bytes at a time; other text code point by code point, with the cases that
// Unicode's SpecialCasing lists.
//
// Built for speed.

#include <utf8proc.h>

#include "stdlib/arguments.h"
#include "stdlib/text.h"

// --- Bytes ------------------------------------------------------------------

// Whether an ASCII byte is a small letter: one comparison without a sign.
static bool is_small(unsigned char c) {
  return (unsigned char)(c - 'a') < 26;
}

// The same of capitals.
static bool is_capital(unsigned char c) {
  return (unsigned char)(c - 'A') < 26;
}

// Changes the case of the letters among eight bytes: 26 letters from [first]
// on. A byte is one if adding the distance to 128 sets its top bit, but not if
// adding that of the place behind the last letter does too. Bytes are ASCII,
// so that no sum carries over.
static uint64_t turn_word(uint64_t word, unsigned char first) {
  const uint64_t ones = UINT64_C(0x0101010101010101);
  uint64_t from = word + ones * (128u - first);
  uint64_t behind = word + ones * (128u - 26 - first);
  return word ^ ((from & ~behind & ones << 7) >> 2);
}

// Changes the case of [n] ASCII bytes, eight at a time.
static void turn_bytes(char *to, const char *from, size_t n,
                       unsigned char first) {
  uint64_t word = 0;
  size_t i = 0;
  for (; n - i >= 8; i += 8) {
    memcpy(&word, from + i, 8);
    word = turn_word(word, first);
    memcpy(to + i, &word, 8);
  }
  memcpy(&word, from + i, n - i);
  word = turn_word(word, first);
  memcpy(to + i, &word, n - i);
}

// A capital letter at the beginning of each word of ASCII, small ones inside.
// Begins, and returns whether it ends, within a word.
static bool title_bytes(char *to, const char *from, size_t n, bool in_word) {
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)from[i];
    bool transposed = in_word ? is_capital(c) : is_small(c);
    to[i] = (char)(c ^ transposed << 5);
    in_word = is_small(c | 32) || (in_word && c == '\'');
  }
  return in_word;
}

// tl_change_case of a string whose clusters are single bytes.
static bool change_bytes(tl_vm *vm, const tl_string *s, tl_case to,
                         tl_slot *out) {
  tl_string *made = tl_string_new(vm, NULL, s->length);
  if (made == NULL)
    return false;
  bool in_word = false, ok = true;
  for (size_t at = 0, end = 0; ok && at < s->length; at = end) {
    ok = tl_poll_piece(vm, at, s->length, &end);
    if (to == TL_TITLE)
      in_word = title_bytes(made->text + at, s->text + at, end - at, in_word);
    else
      turn_bytes(made->text + at, s->text + at, end - at,
                 to == TL_UPPER ? 'a' : 'A');
  }
  tl_string_finish_parts(made, TL_BYTEWISE);
  return tl_string_give(tl_string_whole(vm, made, ok), out);
}

// --- Code points ------------------------------------------------------------

// ASCII without a look-up; the categories L of Unicode are neighbours in
// utf8proc's numbering.
bool tl_is_letter(int32_t point) {
  if (point < 128)
    return is_small((unsigned char)(point | 32));
  utf8proc_category_t category = utf8proc_category(point);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

// The categories Mn, Mc and Me.
bool tl_is_mark(int32_t point) {
  if (point < 128)
    return false;
  utf8proc_category_t category = utf8proc_category(point);
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

// Whether a letter has a case.
static bool is_cased(int32_t point) {
  if (point < 128)
    return is_small((unsigned char)(point | 32));
  utf8proc_category_t category = utf8proc_category(point);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LT;
}

// Adds the capitals of a point of which Unicode's SpecialCasing makes several,
// such as ß and ﬁ; false where it is no such point. utf8proc maps one code
// point to one, so they are the capitals of what full case folding gives; an
// iota behind a title's first letter is written below it.
static bool add_several(tl_text *text, int32_t point, bool title) {
  // All but six of them are ligatures and letters of Greek with two marks.
  if (point < 0x1e96 && point != 0xdf && point != 0x149 && point != 0x1f0 &&
      point != 0x390 && point != 0x3b0 && point != 0x587)
    return false;
  utf8proc_int32_t folded[4];
  int class = 0;
  utf8proc_category_t category = utf8proc_category(point);
  if (category == UTF8PROC_CATEGORY_LU ||
      (title && (category == UTF8PROC_CATEGORY_LT ||
                 (point != 0xdf && utf8proc_totitle(point) != point))))
    return false;
  utf8proc_ssize_t n =
      utf8proc_decompose_char(point, folded, 4, UTF8PROC_CASEFOLD, &class);
  if (n < 2 || n > 4)
    return false;
  bool begun = false;
  for (int i = 0; i < n; i++) {
    int32_t upper = utf8proc_toupper(folded[i]);
    if (title && begun)
      upper = folded[i] == 0x3b9 ? 0x345 : folded[i];
    begun |= upper != folded[i];
    tl_text_point(text, upper);
  }
  return true;
}

// Adds a point in capitals, or in title case.
static void add_upper(tl_text *text, int32_t point, bool title) {
  if (point < 128)
    tl_text_putc(text, (char)(point ^ is_small((unsigned char)point) << 5));
  else if (!add_several(text, point, title))
    tl_text_point(text,
                  title ? utf8proc_totitle(point) : utf8proc_toupper(point));
}

// What may stand between the letters of a word without ending it.
static bool is_between(int32_t point) {
  if (point < 128)
    return point == '\'' || point == '.' || point == ':' || point == '^' ||
           point == '`';
  utf8proc_category_t category = utf8proc_category(point);
  return tl_is_mark(point) || category == UTF8PROC_CATEGORY_LM ||
         category == UTF8PROC_CATEGORY_SK || category == UTF8PROC_CATEGORY_CF ||
         point == 0xb7 || point == 0x2018 || point == 0x2019;
}

// Whether no letter of the word follows at byte [at].
static bool is_last(const tl_string *s, size_t at) {
  int32_t next = ' ';
  do {
    if (at >= s->length)
      return true;
    at += tl_utf8_decode(s->text + at, s->length - at, &next);
  } while (is_between(next));
  return !is_cased(next);
}

// Adds a point in small letters. A sigma that is the last letter of several
// has a form of its own, and a capital I keeps its dot.
static void add_lower(tl_text *text, int32_t point, bool after_letter,
                      const tl_string *s, size_t end) {
  if (point < 128)
    tl_text_putc(text, (char)(point ^ is_capital((unsigned char)point) << 5));
  else if (point == 0x3a3 && after_letter && is_last(s, end))
    tl_text_point(text, 0x3c2);
  else if (point == 0x130)
    tl_text_puts(text, "i\xcc\x87");
  else
    tl_text_point(text, utf8proc_tolower(point));
}

// Title case needs two states: whether a word has begun, and whether a cased
// letter stands before, for the final sigma.
bool tl_change_case(tl_vm *vm, const tl_string *string, tl_case to,
                    tl_slot *out) {
  if (tl_string_is_bytewise(string))
    return change_bytes(vm, string, to, out);
  tl_text text;
  tl_text_open(&text, vm);
  bool in_word = false, after_letter = false;
  for (size_t at = 0; at < string->length && !text.failed;) {
    int32_t point;
    at += tl_utf8_decode(string->text + at, string->length - at, &point);
    if (to == TL_UPPER || (to == TL_TITLE && !in_word))
      add_upper(&text, point, to == TL_TITLE);
    else
      add_lower(&text, point, after_letter, string, at);
    // Capitals need no look at what stands around.
    if (to == TL_UPPER)
      continue;
    // An apostrophe does not end a word: Don't.
    bool joins = tl_is_mark(point) || point == '\'' || point == 0x2019;
    in_word = tl_is_letter(point) || (in_word && joins);
    after_letter = is_cased(point) || (after_letter && is_between(point));
  }
  return tl_text_give(&text, true, out);
}
