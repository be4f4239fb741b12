// Compressed data: zlib's formats and Zstandard's, by the system's libraries.
#ifndef TALLY_STDLIB_COMPRESS_H
#define TALLY_STDLIB_COMPRESS_H

#include <stdint.h>

#include "vm/io.h"

typedef enum tl_packing {
  TL_PACKED_RAW,   // deflate without a frame, as in zip
  TL_PACKED_ZLIB,  // as in PNG
  TL_PACKED_GZIP,  // several members follow each other
  TL_PACKED_ZSTD,
} tl_packing;

// Expands [data] into *out (owned by the caller), at most [most] bytes of it:
// more are an error, as are data that end early or are damaged. [what] and
// [path] are for messages.
bool tl_expand(tl_vm *vm, const char *what, const char *path,
               tl_packing packing, const void *data, size_t nbytes, size_t most,
               tl_bytes *out);

// Compresses; level 1 to 9, for Zstandard to 22.
bool tl_compress(tl_vm *vm, const char *what, tl_packing packing, int level,
                 const void *data, size_t nbytes, tl_bytes *out);

// The CRC-32 of gzip, zip and PNG. Needs no library.
uint32_t tl_crc32(uint32_t crc, const void *data, size_t nbytes);

// Whether data begin as gzip or Zstandard, and as which.
bool tl_is_packed(const void *data, size_t nbytes, tl_packing *out);

// Expands a text that is packed; *text is NULL after a failure.
bool tl_expand_text(tl_vm *vm, const char *what, const char *path,
                    tl_bytes *text);

// As tl_io_read; a file that begins as gzip or Zstandard is expanded.
bool tl_io_read_expanded(tl_vm *vm, const char *what, const char *path,
                         tl_bytes *out);

// Whether a file of this name is compressed: it ends in .gz or .zst.
bool tl_io_packs(const char *path);

// Writes a file whole or not at all; a name that ends in .gz or .zst
// compresses it.
bool tl_io_write_packed(tl_vm *vm, const char *what, const char *path,
                        const void *data, size_t nbytes);

#endif
