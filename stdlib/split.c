// Texts cut into strings: a loop over bytes, so not among the functions of
// strings that are built for size. Columns of texts repeat, so equal parts
// become one string with several counts (stdlib/interner.h).
//
// Built for speed.
#include "stdlib/split.h"

#include "stdlib/interner.h"
#include "stdlib/text.h"
#include "vm/vm.h"

// Which bytes are white space themselves, and which begin a sequence of white
// space: c2 of two bytes, e1, e2 or e3 of three.
enum { WORD, BLANK, PERHAPS };
static const unsigned char kinds[256] = {
    ['\t'] = BLANK,   ['\n'] = BLANK,   ['\v'] = BLANK,   ['\f'] = BLANK,
    ['\r'] = BLANK,   [' '] = BLANK,    [0xc2] = PERHAPS, [0xe1] = PERHAPS,
    [0xe2] = PERHAPS, [0xe3] = PERHAPS,
};

// How many bytes the white space at [text] takes; 0 where it is none.
static size_t blank_at(const char *text, size_t nbytes) {
  unsigned kind = kinds[(unsigned char)*text];
  if (kind != PERHAPS)
    return kind;
  int32_t point;
  size_t step = tl_utf8_decode(text, nbytes, &point);
  return tl_is_blank(point) ? step : 0;
}

// Appends bytes [begin, end) of the text as a string: a letter, or one that was
// met before if there is an equal one.
static bool push(tl_interner *interner, tl_list **list, const tl_string *s,
                 size_t begin, size_t end) {
  if (interner->met == NULL || end - begin < 2)
    return tl_list_push_cut(interner->vm, list, s, begin, end);
  tl_string *string = tl_intern(interner, s->text + begin, end - begin);
  if (string == NULL)
    return false;
  return tl_list_push_own(interner->vm, list, tl_own_string(string));
}

// Appends the words between white space.
static bool push_words(tl_interner *interner, const tl_string *s,
                       tl_list **list) {
  const char *text = s->text;
  size_t at = 0;
  for (;;) {
    size_t step;
    while (at < s->length && (step = blank_at(text + at, s->length - at)) > 0)
      at += step;
    size_t start = at;
    // Byte by byte: the rest of a sequence that is no white space is none
    // either.
    while (at < s->length && (kinds[(unsigned char)text[at]] == WORD ||
                              blank_at(text + at, s->length - at) == 0))
      at++;
    if (at == start)
      return true;
    if (!push(interner, list, s, start, at))
      return false;
  }
}

// The interner lives for one call: equal words of one text share a string.
bool tl_split_blanks(tl_vm *vm, const tl_string *s, tl_list **list) {
  tl_interner interner;
  tl_interner_open(&interner, vm, s->length);
  bool ok = push_words(&interner, s, list);
  tl_interner_close(&interner);
  return ok;
}

// A text without the separator is one part; one that ends with it has an empty
// last part.
bool tl_split_at(tl_vm *vm, const tl_string *s, const tl_string *separator,
                 tl_list **list) {
  tl_interner interner;
  tl_interner_open(&interner, vm, s->length);
  const char *found;
  size_t at = 0;
  bool ok = true;
  do {
    found = tl_string_search(vm, s, at, separator);
    size_t end = found != NULL ? (size_t)(found - s->text) : s->length;
    ok = !tl_failed(vm) && push(&interner, list, s, at, end);
    at = end + separator->length;
  } while (ok && found != NULL);
  tl_interner_close(&interner);
  return ok;
}
