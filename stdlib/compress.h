// Compressed data: zlib's formats and Zstandard's, by the system's libraries.
// Both are loaded when they are first needed and fail with a name of the
// package where they are missing. The data, packed and expanded, and zlib's own
// state are the VM's memory, so that a limit holds for them; Zstandard's state,
// some 100 KiB and what its window takes, is not.
#pragma once

#include "vm/io.h"

// The formats of compressed data.
typedef enum tl_packing {
  TL_PACKED_ZLIB,  // as in PNG
  TL_PACKED_GZIP,  // several members follow each other
  TL_PACKED_RAW,   // deflate without a frame, as in zip
  TL_PACKED_ZSTD,
} tl_packing;

// Expands [data] into *out (owned by the caller, a NUL behind it), at most
// [most] bytes: more are an error (kind value), as are data that end early or
// are damaged. *out is empty after a failure. [what] and [path] are for
// messages. Trailing bytes behind the last member or frame: of gzip ignored if
// they begin no other member, of Zstandard an error. Polls, so that it may be
// stopped.
bool tl_expand(tl_vm *vm, const char *what, const char *path,
               tl_packing packing, const void *data, size_t nbytes, size_t most,
               tl_bytes *out);

// Compresses [data] into *out, owned by the caller; level 0 to 9, for Zstandard
// to 22. Fails (kind io) where the library is missing. For another level zlib
// fails (kind value), and Zstandard takes the nearest. On failure there is
// nothing to free.
bool tl_compress(tl_vm *vm, const char *what, tl_packing packing, int level,
                 const void *data, size_t nbytes, tl_bytes *out);

// The CRC-32 of gzip, zip and PNG of the bytes that [crc] is of, 0 for none,
// and these. Needs no library.
//
//   crc = tl_crc32(0, head, 4);         the sum of head
//   crc = tl_crc32(crc, data, nbytes);  the sum of head and data together
uint32_t tl_crc32(uint32_t crc, const void *data, size_t nbytes);

// Whether data begin like gzip or Zstandard; *out says which. Fewer bytes than
// the shortest whole file of the format has are no such, and *out has no
// meaning where it is false.
bool tl_is_packed(const void *data, size_t nbytes, tl_packing *out);

// Expands *text in place if it is packed, else leaves it. Frees the packed
// bytes in any case; *text is empty after a failure.
bool tl_expand_text(tl_vm *vm, const char *what, const char *path,
                    tl_bytes *text);

// As tl_io_read; a file that begins like gzip or Zstandard is expanded.
bool tl_io_read_expanded(tl_vm *vm, const char *what, const char *path,
                         tl_bytes *out);

// Whether a file of this name is compressed: it ends in .gz or .zst.
bool tl_io_packs(const char *path);

// Writes a file whole or not at all; a name that ends in .gz or .zst compresses
// it. A failure leaves the old file (vm/io.h). Fails (kind io) where the
// library for the ending is missing, before the file is opened.
bool tl_io_write_packed(tl_vm *vm, const char *what, const char *path,
                        const void *data, size_t nbytes);

// Fails (kind value) where bytes of a file are no UTF-8, at the first wrong
// one: [offset] of them lie before these.
bool tl_io_check_text(tl_vm *vm, const char *what, const char *path,
                      int64_t offset, const char *text, size_t nbytes);
