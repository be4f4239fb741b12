// A source text, and how an offset in it is shown.
//
// Tokens, nodes and instructions carry spans of byte offsets; only a message
// and the line table of finished code turn them into lines and columns.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// No tree is higher than this, so a recursive walk of it is safe on a stack of
// 256 KiB (1 MB under sanitizers). Text that would need more is an error.
#define TL_TREE_HEIGHT_MAX 1000

// A part of a source, in byte offsets. [begin, end) is the whole expression;
// [at] is its operator, or the place where an error's caret belongs.
typedef struct tl_span {
  uint32_t begin, end, at;
} tl_span;

// A text and its name, which are borrowed and must stay while the source is
// used.
typedef struct tl_source {
  const char *name;  // as shown in messages: a path, "<prompt>"; borrowed
  const char *text;  // borrowed; valid UTF-8 once tl_source_open returned true
  uint32_t nbytes;
} tl_source;

typedef enum tl_source_status {
  TL_SOURCE_OK,
  TL_SOURCE_MALFORMED,  // not UTF-8, see bad_offset
  TL_SOURCE_TOO_LONG,   // 4 GiB or more
} tl_source_status;

// Opens [text], which must stay as it is while the source is used. A byte
// order mark at its start is skipped (it stays part of the offsets). Sets
// [bad_offset] to the first byte that belongs to no UTF-8 character.
tl_source_status tl_source_open(tl_source *source, const char *name,
                                const char *text, size_t nbytes,
                                size_t *bad_offset);

// How people count: lines from 1, columns from 1 in display cells.
typedef struct tl_place {
  uint32_t line, column;
  uint32_t line_begin, line_end;  // the line's bytes, without its newline
} tl_place;

// Offsets past the end give the end. Linear in the offset.
tl_place tl_source_place(const tl_source *source, uint32_t offset);

// Display cells that [text] takes: 2 for a wide character, 0 for a combining
// one, 1 for a control character (which is printed as a blank). Malformed
// bytes: 1 each.
uint32_t tl_source_width(const char *text, size_t nbytes);
