// Formats of image files, between bytes and arrays of pixels. A format has
// three functions: whether data are such an image, reading, and writing;
// io_image.c chooses among them.
#ifndef TALLY_STDLIB_IMAGE_H
#define TALLY_STDLIB_IMAGE_H

#include "vm/array/array.h"
#include "vm/io.h"

// An image to be written: dense rows of pixels of 1 to 4 channels, of 1 byte
// or of 2 with the higher one first. Borrows the rows.
//
//   row 0   R G B  R G B  ...       channels 3, itemsize 1
//   row 1   R G B  R G B  ...       [rows] at its first byte
typedef struct tl_pixels {
  int64_t height, width;
  int channels;
  size_t itemsize;
  // height * width * channels * itemsize bytes.
  const unsigned char *rows;
} tl_pixels;

// Whether the data begin like a PNG file. Fewer than 8 bytes are none; the rest
// of the file may still be damaged.
bool tl_png_is(const void *data, size_t nbytes);
// Reads an image that tl_png_is() has recognised; *out is owned. False (kind
// value) where it is damaged; [path] is for the message. The array is uint8, of
// 16 bits uint16, with two axes or, of more channels than one, three. Needs
// zlib: fails (kind io) where it is missing.
bool tl_png_read(tl_vm *vm, const char *path, const void *data, size_t nbytes,
                 tl_slot *out);
// Writes the image, all of it or false after tl_fail. The caller ends or
// abandons the file. Fails (kind io) where zlib is missing.
bool tl_png_write(tl_vm *vm, const tl_pixels *x, tl_writer *to);

#endif
