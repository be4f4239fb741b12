// Strings: UTF-8 and grapheme clusters. The rules of clusters and widths are
// utf8proc's; ASCII, which is most text, never gets there.

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1  // memmem
#endif

#include "vm/string.h"

#include <utf8proc.h>

#include "vm/vm.h"

// --- Making -----------------------------------------------------------------

// For eight bytes at once: the top bits of those above 127, and some top bit if
// one of them is CR. The second part is the usual test for a zero byte: x - 1
// borrows from above only where x was 0. A borrow may mark the byte above a CR,
// too, but none where there is no CR. (Hacker's Delight, 6-1.)
static uint64_t odd_bytes(uint64_t word) {
  const uint64_t ones = UINT64_C(0x0101010101010101);
  const uint64_t other = word ^ ones * '\r';
  return word | ((other - ones) & ~other);
}

// Up to 8 bytes as a number that no other text of this length has: short texts
// need no loop for hash or test.
//
//     "abcde"    "abcd" and "bcde": two reads that overlap
//     "ab"       "a", "b", "b": the first, the middle, the last byte
static uint64_t short_word(const char *text, size_t nbytes) {
  uint32_t low, high;
  if (nbytes >= 4) {
    memcpy(&low, text, 4);
    memcpy(&high, text + nbytes - 4, 4);
    return low | (uint64_t)high << 32;
  }
  const unsigned char *bytes = (const unsigned char *)text;
  return nbytes == 0 ? 0
                     : bytes[0] | (uint64_t)bytes[nbytes / 2] << 8 |
                           (uint64_t)bytes[nbytes - 1] << 16;
}

// Whether every byte is a cluster: ASCII, in which only CR LF is one cluster of
// two bytes.
static bool is_bytewise(const char *text, size_t nbytes) {
  uint64_t all = 0, word, words[4];
  // Four words that do not wait for each other.
  for (; nbytes > 32; text += 32, nbytes -= 32) {
    memcpy(words, text, 32);
    all |= odd_bytes(words[0]) | odd_bytes(words[1]) | odd_bytes(words[2]) |
           odd_bytes(words[3]);
  }
  for (; nbytes > 8; text += 8, nbytes -= 8) {
    memcpy(&word, text, 8);
    all |= odd_bytes(word);
  }
  all |= odd_bytes(short_word(text, nbytes));
  return (all & UINT64_C(0x8080808080808080)) == 0;
}

// The NUL is there at once; with text NULL the bytes before it are the caller's
// to fill.
tl_string *tl_string_new(tl_vm *vm, const char *text, size_t nbytes) {
  size_t whole;
  if (tl_add_overflows(nbytes, sizeof(tl_string) + 1, &whole)) {
    tl_fail_memory(vm, nbytes, "a string");
    return NULL;
  }
  tl_string *string = tl_object_new(vm, TL_KIND_STRING, whole, "a string");
  if (string == NULL)
    return NULL;
  string->length = nbytes;
  string->hash = 0;
  string->text[nbytes] = 0;
  bool ok = text == NULL || (tl_copy_bytes(vm, string->text, text, nbytes) &&
                             tl_string_finish(vm, string));
  return ok ? string : tl_string_whole(vm, string, false);
}

// A separate step because TL_BYTEWISE depends on all bytes.
bool tl_string_finish(tl_vm *vm, tl_string *string) {
  bool bytewise = true;
  string->text[string->length] = 0;
  for (size_t at = 0, end = 0; bytewise && at < string->length; at = end) {
    if (!tl_poll_piece(vm, at, string->length, &end))
      return false;
    bytewise = is_bytewise(string->text + at, end - at);
  }
  if (bytewise)
    string->head.flags |= TL_BYTEWISE;
  return true;
}

// The steps of tl_text_hash as constants, of a text of one byte or none.
#define SHAKEN(h) ((h) ^ (h) >> 32)
#define MIX(h) SHAKEN(SHAKEN(h) * UINT64_C(0xd6e8feb86659fd93))
#define ODD UINT64_C(0x9fb21c651e98df25)
#define HASH(size, c)                               \
  MIX((MIX((size) + UINT64_C(0x9e3779b97f4a7c15)) ^ \
       (uint64_t)(c)*UINT64_C(0x10101)) *           \
      ODD)
#define LETTER(size, c)                                              \
  {                                                                  \
    .head = {.count = 1,                                             \
             .kind = TL_KIND_STRING,                                 \
             .flags = TL_IMMORTAL | ((c) == '\r' ? 0 : TL_BYTEWISE), \
             .nbytes = sizeof(tl_letter)},                           \
    .length = (size), .hash = HASH(size, c), .text = {               \
      (c)                                                            \
    }                                                                \
  }
#define LETTERS4(c) \
  LETTER(1, c), LETTER(1, (c) + 1), LETTER(1, (c) + 2), LETTER(1, (c) + 3)
#define LETTERS16(c) \
  LETTERS4(c), LETTERS4((c) + 4), LETTERS4((c) + 8), LETTERS4((c) + 12)

const tl_letter tl_letters[TL_NO_LETTER + 1] = {
    LETTERS16(0),  LETTERS16(16), LETTERS16(32),  LETTERS16(48), LETTERS16(64),
    LETTERS16(80), LETTERS16(96), LETTERS16(112), LETTER(0, 0)};

// Sets *out to the letter that the text is, if it is one, or to "".
static inline bool is_letter(const char *text, size_t nbytes, tl_slot *out) {
  unsigned first = nbytes == 1 ? (unsigned char)text[0] : TL_NO_LETTER;
  if (nbytes > 1 || first > TL_NO_LETTER)
    return false;
  *out = tl_letter_slot(first);
  return true;
}

// So that a function can end with what made the string.
bool tl_string_give(tl_string *string, tl_slot *out) {
  if (string != NULL)
    *out = tl_own_string(string);
  return string != NULL;
}

// Letters are by far the most frequent parts: reading a text by index makes no
// strings.
bool tl_string_part(tl_vm *vm, const char *text, size_t nbytes, tl_slot *out) {
  if (is_letter(text, nbytes, out))
    return true;
  return tl_string_give(tl_string_new(vm, text, nbytes), out);
}

// A part of text with longer clusters may have none of them, so that its bytes
// are looked at; a part of ASCII is ASCII.
bool tl_string_cut(tl_vm *vm, const tl_string *string, size_t begin, size_t end,
                   tl_slot *out) {
  TL_CHECK(begin <= end && end <= string->length);
  const char *text = string->text + begin;
  if (!tl_string_is_bytewise(string))
    return tl_string_part(vm, text, end - begin, out);
  if (is_letter(text, end - begin, out))
    return true;
  tl_string *made = tl_string_new(vm, NULL, end - begin);
  if (made == NULL || !tl_copy_bytes(vm, made->text, text, end - begin))
    return tl_string_whole(vm, made, false) != NULL;
  made->head.flags |= TL_BYTEWISE;
  return tl_string_give(made, out);
}

// The text has to be UTF-8 already: it is the VM's own, or was checked.
tl_string *tl_string_from(tl_vm *vm, const char *text) {
  return tl_string_new(vm, text, strlen(text));
}

// The flag follows from those of the parts, without a look at the bytes.
tl_string *tl_string_concat(tl_vm *vm, tl_string *a, tl_string *b) {
  tl_string *string = tl_string_new(vm, NULL, a->length + b->length);
  bool ok = string != NULL &&
            tl_copy_bytes(vm, string->text, a->text, a->length) &&
            tl_copy_bytes(vm, string->text + a->length, b->text, b->length);
  // Neither has a CR, so no cluster joins across the border.
  if (ok)
    tl_string_finish_parts(string, a->head.flags & b->head.flags);
  return tl_string_whole(vm, string, ok);
}

// Where the string's hash is. A string with marks has their address in the
// place of its hash, so that strings without are no larger for them.
static uint64_t *hash_of(tl_string *string) {
  return (string->head.flags & TL_MARKED) != 0 ? &string->marks->hash
                                               : &string->hash;
}

// Below this size nothing is kept free, unless the same text has grown so many
// times without another one between: short texts are rarely built of many
// pieces.
enum { SPARE_FROM = 256, MANY_TIMES = 6 };

// The object's nbytes is the room, so tl_object_free needs no other field. The
// hash of the old text is forgotten. [b] may not be [a], whose text moves
// before it is read; tl_strings_join sees to that. On failure a is as it was.
tl_string *tl_string_append(tl_vm *vm, tl_string *a, const tl_string *b) {
  TL_CHECK(a->head.count == 1);
  size_t length, need, room;
  const int times = vm->last_grown == &a->head ? vm->times_grown + 1 : 1;
  if (tl_add_overflows(a->length, b->length, &length) ||
      tl_add_overflows(length, sizeof(tl_string) + 1, &need) ||
      tl_add_overflows(need,
                       need < SPARE_FROM && times < MANY_TIMES ? 0 : need / 2,
                       &room)) {
    tl_fail_memory(vm, a->length, "a string");
    return NULL;
  }
  // Half as much again, so that a loop of appends copies each byte a few times.
  if (need > a->head.nbytes) {
    a = tl_realloc(vm, a, a->head.nbytes, room, "a string");
    if (a == NULL)
      return NULL;
    a->head.nbytes = room;
    vm->last_grown = &a->head;
    vm->times_grown = times;
  }
  memcpy(a->text + a->length, b->text, b->length);
  a->length = length;
  *hash_of(a) = 0;
  a->text[length] = 0;
  if (!tl_string_is_bytewise(b))
    a->head.flags &= (uint8_t)~TL_BYTEWISE;
  return a;
}

// Marks are all that a string refers to.
void tl_string_free(tl_vm *vm, tl_string *string) {
  if ((string->head.flags & TL_MARKED) != 0)
    tl_free(vm, string->marks, string->marks->nbytes);
  tl_object_free(vm, &string->head);
}

tl_string *tl_string_whole(tl_vm *vm, tl_string *string, bool ok) {
  if (!ok && string != NULL)
    tl_string_free(vm, string);
  return ok ? string : NULL;
}

// --- Comparing --------------------------------------------------------------

// The order of UTF-8's bytes is that of the code points.
// A piece counts enough for tl_poll_text to look around, which it does not do
// for a text of a few bytes.
int tl_text_compare(tl_vm *vm, const char *a, size_t n, const char *b,
                    size_t m) {
  size_t shared = n < m ? n : m;
  int order;
  while ((order = memcmp(
              a, b, shared < TL_TEXT_PIECE ? shared : TL_TEXT_PIECE)) == 0 &&
         shared > TL_TEXT_PIECE) {
    a += TL_TEXT_PIECE, b += TL_TEXT_PIECE, shared -= TL_TEXT_PIECE;
    if (!tl_poll(vm, 0))
      return 1;
  }
  return order != 0 ? (order < 0 ? -1 : 1) : (n > m) - (n < m);
}

// Mixes the bits of a word: a multiplication by an odd number carries low bits
// up, a shift brings high ones down, and each step can be undone, so that no
// two words become one.
static uint64_t mix(uint64_t h) {
  h ^= h >> 32;
  h *= UINT64_C(0xd6e8feb86659fd93);
  return h ^ h >> 32;
}

// Eight bytes at a time; the length is in the seed, so that zeros at the end
// count. The last word is multiplied twice: after one, words of a few bytes
// differ in so few ways that their places in a table lie in heaps. Of a text
// beyond 2 MB words are left out, so that nobody waits for it: memory has room
// for so few of these that it does not matter where some have the same hash.
uint64_t tl_text_hash(const char *text, size_t nbytes) {
  enum { MOST = TL_TEXT_PIECE };
  const char *at = text, *end = text + nbytes;
  const ptrdiff_t step = nbytes < MOST ? 8 : (ptrdiff_t)(nbytes / MOST + 1) * 8;
  uint64_t h = mix(nbytes + UINT64_C(0x9e3779b97f4a7c15)), word;
  for (; end - at > step; at += step) {
    memcpy(&word, at, 8);
    h = mix(h ^ word) * ODD;
  }
  at = end - at > 8 ? end - 8 : at;
  h = mix((h ^ short_word(at, (size_t)(end - at))) * ODD);
  // 0 stands for a hash that is not computed yet.
  return h ? h : 1;
}

// Those that all VMs share have theirs, so they are not written here.
uint64_t tl_string_hash_anew(tl_string *string) {
  uint64_t *hash = hash_of(string);
  *hash = tl_text_hash(string->text, string->length);
  return *hash;
}

// --- Grapheme clusters ------------------------------------------------------

// Whether a cluster ends between two code points whatever comes before them, by
// a test that finds this of Latin, Greek and Cyrillic letters: below U+0600
// nothing joins what follows it but CR, and below U+0483 nothing joins what
// stands before it but LF and the accents from U+0300 to U+036F.
static bool is_apart(int32_t before, int32_t after) {
  return before < 0x600 && before != '\r' && after < 0x483 &&
         (after < 0x300 || after >= 0x370);
}

// The most code points of a cluster, so that whoever walks clusters can poll
// between them. No script of the world comes near.
enum { LONGEST_CLUSTER = 1 << 14 };

// By the rules of UAX #29, which utf8proc has. The state goes along, since
// flags and families depend on more than two neighbours.
//
//  "e\u0301x"      e and its accent    3 bytes
//  "\r\n"         one cluster         2
//  two flags       four letters, of which two by two are a flag
//
size_t tl_grapheme_end(const char *text, size_t nbytes, size_t at) {
  const unsigned char *s = (const unsigned char *)text + at;
  // Two letters of ASCII are the common case and never join.
  if (nbytes - at > 1 && s[0] < 128 && s[1] < 128 && s[0] != '\r')
    return at + 1;
  utf8proc_int32_t before, after, state = 0;
  at += tl_utf8_decode(text + at, nbytes - at, &before);
  for (int count = 1; at < nbytes && count < LONGEST_CLUSTER; count++) {
    size_t step = tl_utf8_decode(text + at, nbytes - at, &after);
    if (is_apart(before, after) ||
        utf8proc_grapheme_break_stateful(before, after, &state))
      break;
    at += step;
    before = after;
  }
  return at;
}

// --- Marks ------------------------------------------------------------------

enum {
  MARK_STEP = 32,  // clusters from one mark to the next
  // Bytes: shorter texts are always walked, and longer ones when they are
  // indexed for the first time, as most are never again; the longest are not.
  MARKED_FROM = 16,
  MARKED_AT_ONCE = 1024,
};

int64_t tl_text_points(tl_vm *vm, const char *text, size_t nbytes) {
  int64_t count = 0;
  for (size_t at = 0, end = 0; at < nbytes; at = end) {
    if (!tl_poll_piece(vm, at, nbytes, &end))
      return -1;
    count += (int64_t)tl_utf8_count(text + at, end - at);
  }
  return count;
}

// Room for the marks of the whole text, which has at most one cluster for each
// code point; where the text grew, for half as many again. False where there is
// no memory, which is no error, or with *stopped after tl_fail. Room for the
// most that may be needed is cheaper than counting clusters twice.
static bool marks_reserve(tl_vm *vm, tl_string *s, bool *stopped) {
  tl_marks *old = (s->head.flags & TL_MARKED) != 0 ? s->marks : NULL;
  size_t known = old != NULL ? (size_t)old->count : 0;
  size_t from = old != NULL ? old->end : 0;
  int64_t points = tl_text_points(vm, s->text + from, s->length - from);
  *stopped = points < 0;
  if (*stopped)
    return false;
  size_t room = (known + (size_t)points) / MARK_STEP + 1;
  if (old != NULL && old->nbytes >= sizeof *old + room * sizeof(size_t))
    return true;
  if (old != NULL)
    room += room / 2;
  size_t nbytes = sizeof *old + room * sizeof(size_t);
  tl_marks *marks = tl_alloc_quiet(vm, nbytes);
  if (marks == NULL)
    return false;
  if (old != NULL) {
    memcpy(marks, old, old->nbytes);
    tl_free(vm, old, old->nbytes);
  } else {
    *marks = (tl_marks){.hash = s->hash};
    marks->begins[0] = 0;
    s->head.flags |= TL_MARKED;
  }
  marks->nbytes = nbytes;
  s->marks = marks;
  return true;
}

// Whether there are marks of all of the text.
static bool has_marks(const tl_string *s) {
  return (s->head.flags & TL_MARKED) != 0 && s->marks->whole == s->length;
}

// Marks the text, or what was added to it; false: it is walked instead, or with
// *stopped after tl_fail. What is marked stays so.
// The walk that a poll has stopped goes on from m->end the next time. It polls
// by bytes and not by clusters: a cluster may be one byte, or 64 KB of accents.
static bool mark(tl_vm *vm, tl_string *s, bool *stopped) {
  const bool again = (s->head.flags & (TL_INDEXED | TL_MARKED)) != 0;
  s->head.flags |= TL_INDEXED;
  if (s->length < MARKED_FROM || (!again && s->length < MARKED_AT_ONCE) ||
      !marks_reserve(vm, s, stopped))
    return false;
  tl_marks *m = s->marks;
  size_t end;
  while ((end = tl_grapheme_end(s->text, s->length, m->end)) < s->length) {
    *stopped = !tl_poll_items(vm, (int64_t)(end - m->end));
    m->end = end;
    if (++m->count % MARK_STEP == 0)
      m->begins[m->count / MARK_STEP] = end;
    if (*stopped)
      return false;
  }
  m->whole = s->length;
  return true;
}

// The byte where cluster [index] begins, or the text ends.
//
//     index 70:  begins[2], which is of cluster 64, and six steps from there;
//                never more than MARK_STEP - 1
static size_t begin_of(tl_marks *m, const tl_string *s, int64_t index) {
  if (index > m->count)
    return s->length;
  int64_t i = index / MARK_STEP * MARK_STEP;
  size_t at = m->begins[index / MARK_STEP];
  // A walk in order of the indices goes on from where it was.
  if (m->near > i && m->near <= index) {
    i = m->near;
    at = m->near_at;
  }
  for (; i < index; i++) at = tl_grapheme_end(s->text, s->length, at);
  m->near = index;
  m->near_at = at;
  return at;
}

// Marks count the clusters that others follow, hence the one more.
// -1 after tl_fail: the VM was stopped on the way. Where marks have no room the
// text is walked each time, which is slow and right.
int64_t tl_string_graphemes(tl_vm *vm, tl_string *string) {
  // A letter is constant, so that nothing can be marked in it.
  if (tl_string_is_bytewise(string) || string->length == 1)
    return (int64_t)string->length;
  bool stopped = false;
  if (has_marks(string) || mark(vm, string, &stopped))
    return string->marks->count + 1;
  if (stopped)
    return -1;
  int64_t count = 0;
  for (size_t at = 0, end; at < string->length; at = end, count++) {
    end = tl_grapheme_end(string->text, string->length, at);
    if (!tl_poll_items(vm, (int64_t)(end - at)))
      return -1;
  }
  return count;
}

// In ASCII the indices are the bytes.
void tl_string_grapheme_range(const tl_string *string, int64_t start,
                              int64_t stop, size_t *begin, size_t *end) {
  TL_CHECK(0 <= start && start <= stop);
  if (tl_string_is_bytewise(string)) {
    *begin = (size_t)start;
    *end = (size_t)stop;
    return;
  }
  if (has_marks(string)) {
    *begin = begin_of(string->marks, string, start);
    *end = begin_of(string->marks, string, stop);
    return;
  }
  size_t at = 0;
  int64_t i = 0;
  for (; i < start; i++) at = tl_grapheme_end(string->text, string->length, at);
  *begin = at;
  for (; i < stop; i++) at = tl_grapheme_end(string->text, string->length, at);
  *end = at;
}

// From the last mark that is not behind the byte.
// Marks are one in MARK_STEP clusters, so that a binary search leaves at most
// so many to be walked.
int64_t tl_string_grapheme_at(tl_vm *vm, tl_string *string, size_t at) {
  TL_CHECK(at <= string->length);
  if (tl_string_is_bytewise(string))
    return (int64_t)at;
  bool stopped = false;
  bool marked =
      has_marks(string) || (at >= MARKED_AT_ONCE && mark(vm, string, &stopped));
  if (stopped)
    return -1;
  const tl_marks *m = marked ? string->marks : NULL;
  int64_t low = 0, high = m != NULL ? m->count / MARK_STEP + 1 : 1;
  while (high - low > 1) {
    int64_t middle = (low + high) / 2;
    if (m->begins[middle] <= at)
      low = middle;
    else
      high = middle;
  }
  size_t begin = low > 0 ? m->begins[low] : 0;
  int64_t index = low * MARK_STEP;
  for (; begin < at; index++)
    begin = tl_grapheme_end(string->text, string->length, begin);
  return begin == at ? index : -1;
}

// A cluster is as wide as its widest character; the variation selector for
// pictures (U+FE0F) asks for two columns. A flag or a family is one picture of
// two columns, not the sum of its parts.
// By utf8proc's table of East Asian widths. What the terminal's font does may
// differ, and cannot be known.
static int cluster_width(const char *text, size_t begin, size_t end) {
  int width = 0;
  while (begin < end) {
    utf8proc_int32_t point;
    begin += tl_utf8_decode(text + begin, end - begin, &point);
    int w = point == 0xfe0f ? 2 : utf8proc_charwidth(point);
    if (w > width)
      width = w;
  }
  return width;
}

// ASCII needs no tables: control characters take no column.
int tl_display_width(const char *text, size_t nbytes) {
  int width = 0;
  for (size_t at = 0, end; at < nbytes; at = end) {
    unsigned char c = (unsigned char)text[at];
    // Nothing that could join it follows.
    bool alone = at + 1 >= nbytes || (unsigned char)text[at + 1] < 128;
    if (c < 128 && alone) {
      width += c >= 32 && c != 127;
      end = at + 1;
      continue;
    }
    end = tl_grapheme_end(text, nbytes, at);
    width += cluster_width(text, at, end);
  }
  return width;
}

int64_t tl_text_width(tl_vm *vm, const char *text, size_t nbytes) {
  enum { PIECE = 1 << 14 };
  int64_t width = 0;
  for (size_t at = 0, end; at < nbytes; at = end) {
    // Clusters end between two characters of ASCII, but for \r\n.
    end = nbytes - at > PIECE ? at + PIECE : nbytes;
    if (end < nbytes &&
        (((text[end - 1] | text[end]) & 0x80) != 0 || text[end] == '\n')) {
      end = at;
      while (end < nbytes && end - at < PIECE)
        end = tl_grapheme_end(text, nbytes, end);
    }
    if (at > 0 && !tl_poll(vm, PIECE / 1024))
      return -1;
    width += tl_display_width(text + at, end - at);
  }
  return width;
}

// --- UTF-8 ------------------------------------------------------------------

// In pieces that end where a code point begins, if it is one at all.
bool tl_text_check(tl_vm *vm, const char *text, size_t nbytes, size_t *at) {
  enum { PIECE = 1 << 20, LONGEST_POINT = 4 };
  for (size_t from = 0, end; from < nbytes; from = end) {
    end = nbytes - from <= PIECE ? nbytes : from + PIECE;
    for (int i = 1; end < nbytes && i < LONGEST_POINT; i++)
      end -= (text[end] & 0xc0) == 0x80;
    if (!tl_utf8_check(text + from, end - from, at)) {
      *at += from;
      return false;
    }
    if (end < nbytes && !tl_poll(vm, 0))
      return false;
  }
  return true;
}

enum {
  TRIES = 8,           // places that are looked at one by one
  SEARCHED = 1 << 20,  // bytes searched between two polls
};

// Where the largest suffix of the part begins in the order of bytes, or in the
// reverse, and its period. Fewer steps than three for each byte. False after
// tl_fail.
static bool largest_suffix(tl_vm *vm, const tl_string *part, bool reverse,
                           size_t *begin, size_t *period) {
  const unsigned char *x = (const unsigned char *)part->text;
  size_t suffix = 0, other = 1, k = 0, p = 1;
  for (int64_t i = 0; other + k < part->length; i++) {
    const int order = x[other + k] - x[suffix + k];
    if (order == 0 && k + 1 < p) {
      k++;
    } else if (order == 0) {
      other += p, k = 0;
    } else if ((order < 0) != reverse) {
      other += k + 1, k = 0;
      p = other - suffix;
    } else {
      suffix = other++, k = 0;
      p = 1;
    }
    if (!tl_poll_at(vm, i))
      return false;
  }
  *begin = suffix, *period = p;
  return true;
}

// The two-way search (Crochemore, Perrin 1991) for a part of megabytes: linear,
// without a table, and in steps that may be stopped. The part is cut where a
// larger period cannot hide: its right half is compared forwards, then its left
// half. Of a part that repeats itself, what is known to fit after a step of the
// period is not looked at again. NULL as in search_long.
static const char *search_two_way(tl_vm *vm, const char *from, const char *end,
                                  const tl_string *part) {
  const char *x = part->text;
  const size_t n = part->length;
  size_t cut, period, other, other_period, known = 0;
  if (!largest_suffix(vm, part, false, &cut, &period) ||
      !largest_suffix(vm, part, true, &other, &other_period))
    return NULL;
  if (other > cut)
    cut = other, period = other_period;
  int64_t work = 0;
  size_t same = 0;
  while (same < cut && x[same] == x[same + period] && tl_poll_at(vm, work++))
    same++;
  const bool repeats = same == cut;
  if (!repeats)
    period = (cut > n - cut ? cut : n - cut) + 1;
  while ((size_t)(end - from) >= n) {
    size_t k = cut > known ? cut : known;
    for (; k < n && x[k] == from[k]; k++)
      if (!tl_poll_at(vm, work++))
        return NULL;
    if (k < n) {
      from += k - cut + 1, known = 0;
      if (!tl_poll_at(vm, work++))
        return NULL;
      continue;
    }
    for (k = cut; k > known && x[k - 1] == from[k - 1]; k--)
      if (!tl_poll_at(vm, work++))
        return NULL;
    if (k <= known)
      return from;
    from += period;
    known = repeats ? n - period : 0;
  }
  return NULL;
}

// Linear, by the C library, in pieces that overlap by what is looked for. NULL:
// it is not there, or tl_fail was called by the poll; the caller looks at the
// VM's error.
//
//  piece 1   ============++        +: more bytes, part->length - 1
//  piece 2               ============++
//
// A find that begins in a piece ends in it or in its overlap.
static const char *search_long(tl_vm *vm, const char *from, const char *end,
                               const tl_string *part) {
  const size_t more = part->length - 1;
  if (more > SEARCHED)
    return search_two_way(vm, from, end, part);
  while ((size_t)(end - from) > more) {
    const size_t left = (size_t)(end - from) - more;
    const size_t n = left < SEARCHED ? left : SEARCHED;
    const char *found = memmem(from, n + more, part->text, part->length);
    if (found != NULL || n == left)
      return found;
    from += n;
    if (!tl_poll(vm, SEARCHED / 1024))
      return NULL;
  }
  return NULL;
}

// The first place of a byte before [end], or NULL. It is often near, and then
// worth no call.
static inline const char *find_byte(const char *p, const char *end, char byte) {
  const char *near = end - p > 16 ? p + 16 : end;
  while (p < near && *p != byte) p++;
  if (p < near)
    return p;
  return p < end ? memchr(p, byte, (size_t)(end - p)) : NULL;
}

// Looks for the first byte, then compares; where that succeeds often, only the
// first byte does.
const char *tl_string_search(tl_vm *vm, const tl_string *s, size_t at,
                             const tl_string *part) {
  TL_CHECK(at <= s->length);
  const char *p = s->text + at, *end = s->text + s->length;
  if (part->length == 0)
    return p;
  for (int i = 0; i < TRIES && (size_t)(end - p) >= part->length; i++, p++) {
    const size_t places = (size_t)(end - p) - part->length + 1;
    if (places > SEARCHED)
      break;
    p = find_byte(p, p + places, part->text[0]);
    if (p == NULL)
      return NULL;
    if (part->length == 1 ||
        memcmp(p + 1, part->text + 1, part->length - 1) == 0)
      return p;
  }
  return search_long(vm, p, end, part);
}

// Nearly all names are valid already, and need no copy.
tl_string *tl_string_mended(tl_vm *vm, const char *text) {
  size_t nbytes = strlen(text);
  if (tl_utf8_check(text, nbytes, NULL))
    return tl_string_new(vm, text, nbytes);
  char *copy = tl_alloc(vm, nbytes, "a name");
  if (copy == NULL)
    return NULL;
  memcpy(copy, text, nbytes);
  tl_utf8_mend(copy, nbytes);
  tl_string *string = tl_string_new(vm, copy, nbytes);
  tl_free(vm, copy, nbytes);
  return string;
}
