// PNG images, from bytes to arrays of pixels; io_image.c reads other formats.
#ifndef TALLY_STDLIB_IMAGE_H
#define TALLY_STDLIB_IMAGE_H

#include "vm/array/array.h"

// Whether the data begin like a PNG file. Fewer than 8 bytes are none; the rest
// of the file may still be damaged.
bool tl_png_is(const void *data, size_t nbytes);
// Reads an image that tl_png_is() has recognised; *out is owned. False (kind
// value) where it is damaged; [path] is for the message. The array is uint8, of
// 16 bits uint16, with two axes or, of more channels than one, three. Needs
// zlib: fails (kind io) where it is missing.
bool tl_png_read(tl_vm *vm, const char *path, const void *data, size_t nbytes,
                 tl_slot *out);
#endif
