// Strings: immutable UTF-8 text, valid by construction.
//
// A reader's character is a grapheme cluster (utf8proc): lengths and indices
// count clusters, searches work on bytes. In ASCII without CR each byte is a
// cluster, which a flag remembers (TL_BYTEWISE), so that indexing is free
// there. Other texts are marked when they are indexed again, long ones at
// first: a note of the byte at which every 32nd cluster begins stays with the
// string and is freed with it. Where memory is short a text is walked from its
// front instead.
//
//     a π b … │ c d é … │ e f      marks: 0, 47, 95; last looked for: (40, 58)
//
// tl_text, below, is the buffer in which printing and formatting build text.
#pragma once

#include <string.h>

#include "vm/memory/memory.h"
#include "vm/check.h"
#include "vm/utf8.h"

// Where clusters of a text begin that is not bytewise.
typedef struct tl_marks {
  size_t nbytes;  // of this
  uint64_t hash;  // the string's
  // How many clusters are known, and the byte behind them. The last cluster of
  // a text is not among them, since what is appended may join it.
  int64_t count;
  size_t end;
  // The text's length when all its clusters were known; 0: they never were.
  size_t whole;
  // The cluster that was looked for last, and the byte where it begins.
  int64_t near;
  size_t near_at;
  size_t begins[];  // of the clusters 0, TL_MARK_STEP, 2 * TL_MARK_STEP …
} tl_marks;

// A string object; its text is part of it.
struct tl_string {
  tl_object head;
  size_t length;  // bytes, without the final NUL
  union {
    uint64_t hash;    // 0: not yet computed
    tl_marks *marks;  // with TL_MARKED, which then have the hash
  };
  char text[];  // length bytes of UTF-8 and a NUL
};

// Bytes from which on comparing a text counts for polls (tl_poll_text).
enum { TL_LONG_TEXT = 256 };

// A tl_string of one byte or none, which all VMs share: immortal, never
// written. The text of a tl_string is a flexible member, that standard C does
// not initialise.
typedef struct tl_letter {
  tl_object head;
  size_t length;
  uint64_t hash;  // computed already
  char text[8];
} tl_letter;

enum { TL_NO_LETTER = 128 };
// The letters of ASCII by their codes, and behind them "".
extern const tl_letter tl_letters[TL_NO_LETTER + 1];

// The slot of a letter of ASCII, or of "" for TL_NO_LETTER. It owns nothing.
static inline tl_slot tl_letter_slot(unsigned code) {
  TL_CHECK(code <= TL_NO_LETTER);
  return (tl_slot){.tag = TL_TAG_STRING,
                   .string = (tl_string *)(uintptr_t)&tl_letters[code]};
}
// The value of an uninitialised string item.
static inline tl_string *tl_empty_string(void) {
  return tl_letter_slot(TL_NO_LETTER).string;
}

// A new string of [nbytes] of valid UTF-8, which are copied. With text NULL the
// bytes are left for the caller to fill, who then calls tl_string_finish.
// Returns owned; NULL after tl_fail.
tl_string *tl_string_new(tl_vm *vm, const char *text, size_t nbytes);
// Ends a string that was filled by the caller: sets its NUL and TL_BYTEWISE.
// False after tl_fail: a poll of a long one.
bool tl_string_finish(tl_vm *vm, tl_string *string);
// The same of one that was filled with whole strings alone, whose flags
// and'ed are [flags]: what is true of all parts is true of the string, so
// its bytes are not looked at.
static inline void tl_string_finish_parts(tl_string *string, unsigned flags) {
  string->text[string->length] = 0;
  string->head.flags |= (uint8_t)(flags & TL_BYTEWISE);
}
// Part of a text as a value: "" and letters of ASCII are immortal strings that
// all VMs share, others a new one, owned. False after tl_fail.
bool tl_string_part(tl_vm *vm, const char *text, size_t nbytes, tl_slot *out);
// Bytes [begin, end) of a string as a value, likewise. Where each byte of the
// string is a cluster, the part is not looked at.
bool tl_string_cut(tl_vm *vm, const tl_string *string, size_t begin, size_t end,
                   tl_slot *out);
// *out owns the string; false where it is NULL, for which there was no memory.
bool tl_string_give(tl_string *string, tl_slot *out);
// A new string of a NUL-terminated text of valid UTF-8.
tl_string *tl_string_from(tl_vm *vm, const char *text);
// A new string as printf would print it.
tl_string *tl_string_format(tl_vm *vm, const char *format, ...);
// A new string of two in a row. Both are borrowed.
tl_string *tl_string_concat(tl_vm *vm, tl_string *a, tl_string *b);
// As tl_string_concat, in the memory of [a], which has one owner and is not
// [b]. Returns where it then is; NULL leaves [a] as it was. When it moves, half
// as much again stays free, so that a text built in pieces is copied a few
// times, not once for each piece.
tl_string *tl_string_append(tl_vm *vm, tl_string *a, const tl_string *b);
// Frees a string that nothing refers to, with its marks.
void tl_string_free(tl_vm *vm, tl_string *string);
// Returns the string if it was filled; else frees it, unless it is NULL, and
// returns NULL: tl_fail has been called.
tl_string *tl_string_whole(tl_vm *vm, tl_string *string, bool ok);
// Whether a text that ends with a zero byte is just these bytes, which need
// none behind them.
static inline bool tl_text_is(const char *text, const char *bytes,
                              size_t nbytes) {
  return strncmp(text, bytes, nbytes) == 0 && text[nbytes] == 0;
}
// Whether both have the same bytes. Text is not normalised. Hashes are not
// compared: computing one reads all bytes, as memcmp does. Most that differ do
// so in their first byte, which "" has, too.
static inline bool tl_string_equal(const tl_string *a, const tl_string *b) {
  return a == b || (a->length == b->length && a->text[0] == b->text[0] &&
                    memcmp(a->text, b->text, a->length) == 0);
}
enum { TL_TEXT_PIECE = 2 << 20 };  // bytes compared between two polls
// Below, equal to or above 0: in the order of code points, which is that of the
// bytes. Texts of many megabytes are compared in pieces with polls between them
// that count no work. After tl_fail (kind interrupt or limit) it is above 0,
// and the next tl_poll_text for [a] returns false.
int tl_text_compare(tl_vm *vm, const char *a, size_t n, const char *b,
                    size_t m);
static inline int tl_string_compare(tl_vm *vm, const tl_string *a,
                                    const tl_string *b) {
  return tl_text_compare(vm, a->text, a->length, b->text, b->length);
}
// tl_string_equal with these polls; false after tl_fail.
static inline bool tl_string_same(tl_vm *vm, const tl_string *a,
                                  const tl_string *b) {
  return a->length < TL_TEXT_PIECE
             ? tl_string_equal(a, b)
             : a == b ||
                   (a->length == b->length && tl_string_compare(vm, a, b) == 0);
}
// The first place of [part] from byte [at] on, or NULL; also after tl_fail
// (kind interrupt or limit), since a long search polls.
const char *tl_string_search(tl_vm *vm, const tl_string *s, size_t at,
                             const tl_string *part);
// A hash of bytes, which is never 0.
uint64_t tl_text_hash(const char *text, size_t nbytes);
// The same of a string, which remembers it.
uint64_t tl_string_hash_anew(tl_string *string);
static inline uint64_t tl_string_hash(tl_string *string) {
  uint64_t hash = (string->head.flags & TL_MARKED) != 0 ? string->marks->hash
                                                        : string->hash;
  return hash != 0 ? hash : tl_string_hash_anew(string);
}

// Whether each byte is a cluster.
static inline bool tl_string_is_bytewise(const tl_string *string) {
  return (string->head.flags & TL_BYTEWISE) != 0;
}

// The number of code points; -1 after tl_fail, since it polls.
int64_t tl_text_points(tl_vm *vm, const char *text, size_t nbytes);
// The number of clusters. A text that is not bytewise is marked here, if it is
// long or was asked before; lack of memory is no error, an interrupt is: -1.
// Who calls the next one calls this first.
int64_t tl_string_graphemes(tl_vm *vm, tl_string *string);
// The byte range of clusters [start, stop), both within 0 … count.
void tl_string_grapheme_range(const tl_string *string, int64_t start,
                              int64_t stop, size_t *begin, size_t *end);
// The cluster that begins at byte [at], which is within the text; -1 if none
// does, and after tl_fail (interrupted).
int64_t tl_string_grapheme_at(tl_vm *vm, tl_string *string, size_t at);
// The end, in bytes, of the cluster that begins at byte [at]. One of more than
// 16,384 code points is cut there, so that this takes no longer than 0.3 ms.
size_t tl_grapheme_end(const char *text, size_t nbytes, size_t at);
// Columns that the text takes on a terminal.
int tl_display_width(const char *text, size_t nbytes);
// The same of a text that may be long: polls, -1 after tl_fail.
int64_t tl_text_width(tl_vm *vm, const char *text, size_t nbytes);

// As tl_utf8_check (vm/utf8.h), and polls: false after tl_fail, too, which no
// later error replaces.
bool tl_text_check(tl_vm *vm, const char *text, size_t nbytes, size_t *at);

// A string of a name that the system or a host gave, with wrong bytes as `?`.
// Returns owned; NULL after tl_fail.
tl_string *tl_string_mended(tl_vm *vm, const char *text);

// A growing buffer of text, for printing and building strings. After a failed
// append (kind memory) further ones do nothing, so callers need not test each;
// finishing then fails.
//
//     tl_text text;
//     tl_text_open(&text, vm);
//     tl_text_printf(&text, "%d items", n);
//     return tl_text_finish(&text);
typedef struct tl_text {
  tl_vm *vm;
  char *bytes;  // NULL, [room], or a block
  size_t length, capacity;
  size_t polled;  // the length at the last poll
  bool failed;
  char room[96];  // for short texts, so an open text is not copied or moved
} tl_text;
// Begins an empty text; nothing is allocated. As it grows it polls, and an
// interrupt is a failure that it remembers: who writes a long one stops where
// text->failed is set.
void tl_text_open(tl_text *text, tl_vm *vm);
// The same of a text that takes no memory, for a buffer of at least 5 bytes. It
// is cut with "…" at the first piece that does not fit whole, and has failed
// then; the caller puts a NUL behind its length.
void tl_text_within(tl_text *text, char *buffer, size_t size);
// Append bytes, a NUL-terminated text, one byte, or what printf would print.
// The bytes of a text that is finished as a string have to be valid UTF-8 as a
// whole.
void tl_text_add(tl_text *text, const char *bytes, size_t nbytes);
void tl_text_puts(tl_text *text, const char *string);
void tl_text_putc(tl_text *text, char c);
void tl_text_printf(tl_text *text, const char *format, ...);
// A text as a string of JSON. False: nothing more is added.
bool tl_text_json(tl_text *text, const char *string, size_t nbytes);
// The text as a string, owned; NULL after tl_fail, also of an earlier append.
// Closes the text.
tl_string *tl_text_finish(tl_text *text);
// Closes the text; *out is its string, owned, where [ok] is. False after
// tl_fail.
bool tl_text_give(tl_text *text, bool ok, tl_slot *out);
// The bytes as a block of *nbytes, for the caller to free with tl_free; NULL
// after tl_fail, also of an earlier append, or without any bytes. Closes the
// text.
char *tl_text_take(tl_text *text, size_t *nbytes);
// Frees the text.
void tl_text_close(tl_text *text);
