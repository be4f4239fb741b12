// The documentation of all names: by topics, and as one page to read.
#ifndef TALLY_REPL_DOC_H
#define TALLY_REPL_DOC_H

#include <stdbool.h>
#include <stddef.h>

#include "tally.h"

// The topic of each name, "" for those of a host; *count gets how many there
// are. The caller frees the array; NULL: no memory.
const char **tl_doc_topics(tally_vm *vm, size_t *count);

// The folder that --html gets, made where there is none, gets index.html: the
// reference with a search, in one file that needs no other. TALLY_ERR_IO where
// it cannot be written; an old file stays then.
tally_status tl_doc_html(tally_vm *vm, const char *folder);

// Prints the same as a manual page of section 7, in the language of man, where
// a name that another text means is bold instead of a link. That standard output
// refuses it is seen when the command closes it.
tally_status tl_doc_man(tally_vm *vm);

// Prints what the documentation of names that begin with [prefix] lacks, and how
// many are complete; *complete gets whether all are, and there are any.
tally_status tl_doc_check(tally_vm *vm, const char *prefix, int *complete);

#endif
