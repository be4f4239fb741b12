// What a script's functions say of themselves, as text: for tally_describe and
// for tools. A function is described by an empty line behind what came before,
// then its name with its parameters, then its ## lines.
#pragma once

#include "vm/text/format.h"

// An empty line, unless nothing came before.
void tl_put_paragraph(tl_text *text);
// name(params), as the source has them.
void tl_put_signature(tl_text *text, const char *name, size_t name_nbytes,
                      const char *params, size_t nbytes);
// The documentation in lines of its own; NULL: there is none.
void tl_put_doc(tl_text *text, const char *doc, size_t nbytes);
