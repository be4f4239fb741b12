// Writing files whole or not at all, and folders for a while: for `tally fmt`,
// the memory plot, and tests that need a place of their own.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Makes [path] a file of [nbytes] bytes; the old content stays until all is
// written, and its permissions are kept. Returns false with errno set.
bool tl_write_file(const char *path, const char *text, size_t nbytes);

// Makes a new folder below TMPDIR, or else /tmp, and writes its name into
// [path]. Returns false with errno set.
bool tl_make_private_folder(char *path, size_t size);

// Removes a file, or a folder with all that is in it; links are not followed.
void tl_remove_tree(const char *path);
