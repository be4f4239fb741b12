// What stands before the items of a .npy file, versions 1 to 3: a magic number
// and a Python dict that describes the array.
//
// A header is not to be believed: every length is checked against the file's
// before anything of that length is allocated. Messages name reader->what.
#pragma once

#include "stdlib/npy_struct.h"
#include "vm/array/array.h"
#include "vm/io.h"

enum { TL_NPY_PREFIX = 8 };  // magic, version

extern const char tl_npy_magic[6];

// What a header says of the items behind it.
typedef struct tl_npy {
  tl_dtype dtype;
  tl_type *layout;     // of structs; NULL: items of dtype
  tl_npy_texts texts;  // among its fields
  bool swapped;        // the other byte order than this machine's
  bool fortran;
  int64_t width;  // of strings: code points; of bytes: bytes
  char letter;    // of strings: U; of bytes: S, V
  int ndim;
  int64_t shape[TL_MAX_DIMS];
} tl_npy;

// The bytes of a string in the file.
static inline size_t tl_npy_width(const tl_npy *from) {
  return (size_t)from->width * (from->letter == 'U' ? 4 : 1);
}

// Reads up to where the items begin; [left] is what the file holds behind.
// Fails with kind value where the header breaks the format, kind type for
// dtypes that Tally has not, kind io where the file ends early. [out] starts
// zeroed.
bool tl_npy_read_header(tl_reader *reader, tl_npy *out, uint64_t *left);
// Checks that the file holds as many items as its shape says.
// Fails (kind io) with both numbers. Items of no bytes, such as U0, could be as
// many as a file likes to claim; there may be a million more of them than it
// has bytes (kind value).
bool tl_npy_check_size(tl_reader *reader, const tl_npy *from, uint64_t left);
// Reads [nbytes]; fewer are an error (kind io).
bool tl_npy_read_exactly(tl_reader *reader, void *to, size_t nbytes);
