// Strings: immutable UTF-8 text, valid by construction.
#ifndef TALLY_VM_STRING_H
#define TALLY_VM_STRING_H

#include "vm/memory/memory.h"

struct tl_string {
  tl_object head;
  size_t length;  // bytes, without the final NUL
  uint64_t hash;  // 0: not yet computed
  char text[];    // length bytes of UTF-8 and a NUL
};

// Copies [nbytes] of valid UTF-8 (text may be NULL: left for the caller to
// fill, which then calls tl_string_finish).
tl_string *tl_string_new(tl_vm *vm, const char *text, size_t nbytes);
void tl_string_finish(tl_string *string);  // sets TL_BYTEWISE, the NUL
tl_string *tl_string_from(tl_vm *vm, const char *text);  // NUL-terminated
tl_string *tl_string_format(tl_vm *vm, const char *format, ...);
tl_string *tl_string_concat(tl_vm *vm, tl_string *a, tl_string *b);
// The same in the memory of [a], which is unique and not [b]; NULL leaves it as
// it was. Where it moves, half as much again is kept free: a text built piece
// by piece is copied a few times, not once for each piece.
tl_string *tl_string_append(tl_vm *vm, tl_string *a, const tl_string *b);
bool tl_string_equal(const tl_string *a, const tl_string *b);
int tl_string_compare(const tl_string *a, const tl_string *b);  // code points
// The first place of [part] from byte [at] on, or NULL.
const char *tl_string_search(const tl_string *s, size_t at,
                             const tl_string *part);
uint64_t tl_text_hash(const char *text, size_t nbytes);  // never 0
uint64_t tl_string_hash(tl_string *string);              // the same, kept

static inline bool tl_string_is_bytewise(const tl_string *string) {
  return (string->head.flags & TL_BYTEWISE) != 0;
}

// Grapheme clusters (utf8proc): the number of them; the byte range of
// clusters [start, stop), both within 0 … count.
int64_t tl_string_graphemes(const tl_string *string);
void tl_string_grapheme_range(const tl_string *string, int64_t start,
                              int64_t stop, size_t *begin, size_t *end);
// The end of the cluster that begins at byte [at].
size_t tl_grapheme_end(const char *text, size_t nbytes, size_t at);
// Columns on a terminal.
int tl_display_width(const char *text, size_t nbytes);

// Whether the text is valid UTF-8; else *at is the first wrong byte's offset.
bool tl_utf8_check(const char *text, size_t nbytes, size_t *at);

// A growing buffer of text, for printing and building strings. After a failed
// append (kind memory) further ones do nothing; finishing then fails.
typedef struct tl_text {
  tl_vm *vm;
  char *bytes;
  size_t length, capacity;
  bool failed;
} tl_text;
void tl_text_open(tl_text *text, tl_vm *vm);
void tl_text_add(tl_text *text, const char *bytes, size_t nbytes);
void tl_text_puts(tl_text *text, const char *string);
void tl_text_putc(tl_text *text, char c);
void tl_text_printf(tl_text *text, const char *format, ...);
tl_string *tl_text_finish(tl_text *text);  // returns owned; closes
void tl_text_close(tl_text *text);

#endif
