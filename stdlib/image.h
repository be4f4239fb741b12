// Formats of image files, between bytes and arrays of pixels.
#ifndef TALLY_STDLIB_IMAGE_H
#define TALLY_STDLIB_IMAGE_H

#include "vm/array/array.h"
#include "vm/io.h"

// What is written: dense rows of pixels of 1 to 4 channels, of 1 byte or of 2
// with the higher one first.
typedef struct tl_pixels {
  int64_t height, width;
  int channels;
  size_t itemsize;
  const unsigned char *rows;
} tl_pixels;

bool tl_png_is(const void *data, size_t nbytes);
bool tl_png_read(tl_vm *vm, const char *path, const void *data, size_t nbytes,
                 tl_slot *out);
bool tl_png_write(tl_vm *vm, const tl_pixels *x, tl_writer *to);

#endif
