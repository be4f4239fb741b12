// Writing files whole or not at all.
#ifndef TALLY_REPL_FILE_H
#define TALLY_REPL_FILE_H

#include <stdbool.h>
#include <stddef.h>

// Makes [path] a file of [nbytes] bytes; what was there stays until all is
// written, and its permissions are kept. Returns false with errno set.
bool tl_write_file(const char *path, const char *text, size_t nbytes);

#endif
