// How a source is laid out: what `tally fmt` writes. It needs the text and its
// tokens only; compile.c parses first, so that a text with errors is left
// alone, and checks the result with tl_layout_is_same.
#pragma once

#include "compiler/lexer.h"
#include "vm/string.h"

// Appends to [out] the text of [source] with its blanks, indentation and empty
// lines put in order. Tokens, comments and the ends of lines stay where they
// are, so the program stays the same. The source must parse; [tokens] are its
// tokens. False where [arena] has no memory.
bool tl_layout(const tl_source *source, const tl_tokens *tokens,
               tl_arena *arena, tl_text *out);

// Whether two texts have the same tokens, with the same newlines that count:
// the proof that one is only another layout of the other. Comments are not
// compared.
bool tl_layout_is_same(const tl_source *a, const tl_tokens *a_tokens,
                       const tl_source *b, const tl_tokens *b_tokens);
