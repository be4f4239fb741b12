// From text to tree: lexing and parsing, for the compiler (tl_parse) and for
// the prompt (tl_parser_check). What the files of the parser share is in
// parser_internal.h.

#pragma once

#include "compiler/ast.h"
#include "compiler/diagnostics.h"

// Parses the whole of [source] into a block. Returns NULL if there are errors
// (see [diagnostics]) or if memory failed (arena->failed, and perhaps no
// diagnostic). Nodes and names live in the arena of [names], which must be
// [arena]. The tree keeps no pointer into source->text.
tl_ast *tl_parse(tl_arena *arena, tl_names *names, tl_source *source,
                 tl_diagnostics *diagnostics);

// What the prompt wants to know of a text.
typedef enum tl_parse_status {
  TL_PARSE_COMPLETE,
  TL_PARSE_INCOMPLETE,  // more lines can make it right: an open bracket or
                        // string, or an operator at the end
  TL_PARSE_ERROR,       // no further text can mend it
  TL_PARSE_NO_MEMORY,
} tl_parse_status;

// For the prompt: whether [text] can be run, or the next line is wanted. Text
// that is not UTF-8 is an error. Leaves nothing allocated: it has an arena of
// its own, from [resize].
tl_parse_status tl_parser_check(tl_resize_fn *resize, void *context,
                                const char *text, size_t nbytes);
