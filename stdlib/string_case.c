// Letters in capitals and small ones.

#include <string.h>
#include <utf8proc.h>

#include "stdlib/arguments.h"
#include "stdlib/text.h"
#include "vm/vm.h"

// --- Bytes ------------------------------------------------------------------

static bool is_small(unsigned char c) {
  return (unsigned char)(c - 'a') < 26;
}

static bool is_capital(unsigned char c) {
  return (unsigned char)(c - 'A') < 26;
}

// Eight letters from [first] on get the other case: those of which adding the
// distance to 128 sets the top bit, but not that of what is behind the last.
static uint64_t turn_word(uint64_t word, unsigned char first) {
  const uint64_t ones = UINT64_C(0x0101010101010101);
  uint64_t from = word + ones * (128u - first);
  uint64_t behind = word + ones * (128u - 26 - first);
  return word ^ ((from & ~behind & ones << 7) >> 2);
}

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

static void title_bytes(char *to, const char *from, size_t n) {
  bool in_word = false;
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)from[i];
    bool turned = in_word ? is_capital(c) : is_small(c);
    to[i] = (char)(c ^ turned << 5);
    in_word = is_small(c | 32) || (in_word && c == '\'');
  }
}

static bool change_bytes(tl_vm *vm, const tl_string *s, tl_case to,
                         tl_slot *out) {
  tl_string *made = tl_string_new(vm, NULL, s->length);
  if (made == NULL)
    return false;
  if (to == TL_TITLE)
    title_bytes(made->text, s->text, s->length);
  else
    turn_bytes(made->text, s->text, s->length, to == TL_UPPER ? 'a' : 'A');
  tl_string_finish(made);
  *out = tl_own_string(made);
  return true;
}

// --- Code points ------------------------------------------------------------

bool tl_is_letter(int32_t point) {
  if (point < 128)
    return is_small((unsigned char)(point | 32));
  utf8proc_category_t category = utf8proc_category(point);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool tl_is_mark(int32_t point) {
  if (point < 128)
    return false;
  utf8proc_category_t category = utf8proc_category(point);
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

// utf8proc maps one code point to one; these become two.
static void add_upper(tl_text *text, int32_t point, bool title) {
  if (point < 128)
    tl_text_putc(text, (char)(point ^ is_small((unsigned char)point) << 5));
  else if (point == 0xdf)
    tl_text_puts(text, title ? "Ss" : "SS");
  else
    tl_text_point(text,
                  title ? utf8proc_totitle(point) : utf8proc_toupper(point));
}

// Whether no letter and no mark stands at byte [at].
static bool is_outside(const tl_string *s, size_t at) {
  int32_t next = ' ';
  if (at < s->length)
    tl_text_decode(s->text + at, s->length - at, &next);
  return !tl_is_letter(next) && !tl_is_mark(next);
}

// A sigma at the end of a word, which ends at byte [end], has a form of its
// own.
static void add_lower(tl_text *text, int32_t point, bool in_word,
                      const tl_string *s, size_t end) {
  if (point < 128)
    tl_text_putc(text, (char)(point ^ is_capital((unsigned char)point) << 5));
  else if (point == 0x3a3 && in_word && is_outside(s, end))
    tl_text_point(text, 0x3c2);
  else
    tl_text_point(text, utf8proc_tolower(point));
}

bool tl_change_case(tl_vm *vm, const char *function, tl_slot s, tl_case to,
                    tl_slot *out) {
  tl_string *string;
  if (!tl_arg_string(vm, function, "s", s, &string))
    return false;
  if (tl_string_is_bytewise(string))
    return change_bytes(vm, string, to, out);
  tl_text text;
  tl_text_open(&text, vm);
  bool in_word = false;
  for (size_t at = 0; at < string->length;) {
    int32_t point;
    at += tl_text_decode(string->text + at, string->length - at, &point);
    if (to == TL_UPPER || (to == TL_TITLE && !in_word))
      add_upper(&text, point, to == TL_TITLE);
    else
      add_lower(&text, point, in_word, string, at);
    // An apostrophe does not end a word: Don't.
    bool joins = tl_is_mark(point) || point == '\'' || point == 0x2019;
    in_word = tl_is_letter(point) || (in_word && joins);
  }
  return tl_text_give(&text, out);
}
