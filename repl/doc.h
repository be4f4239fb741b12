// The documentation of all names: by topics, and as one page to read.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tally.h"

// The folder that --html gets, made where there is none, gets index.html: the
// reference with a search, in one file that needs no other. TALLY_ERR_IO where
// it cannot be written; an old file stays then.
tally_status tl_doc_html(tally_vm *vm, const char *folder);

// Has the function of doc.tly print what it makes of [text], or of all names
// where that is NULL; *answer gets whether it found something, or nothing lacks.
// That standard output refuses it is seen when the command closes it.
tally_status tl_doc_ask(tally_vm *vm, const char *function, const char *text,
                        int *answer);
