// Images: PNG (image_png.c) and Netpbm's PGM and PPM, which are a header of
// numbers and rows of samples:
//
//   P5            gray (P6: red, green, blue; P2, P3: the same as text)
//   640 480       width and height
//   255           the largest sample; above 255 they have two bytes
//   ...           samples
//
// An image is an array of rows * columns, or rows * columns * channels, of
// uint8 or uint16.

#include <string.h>

#include "stdlib/arguments.h"
#include "stdlib/byte_order.h"
#include "stdlib/compress.h"
#include "stdlib/families.h"
#include "stdlib/image.h"
#include "vm/array/describe.h"
#include "vm/vm.h"

// --- PGM and PPM ------------------------------------------------------------

// A PGM or PPM image being read; [at, end) is left.
typedef struct pnm {
  tl_vm *vm;
  const char *path;
  const unsigned char *at, *end;
} pnm;

// Fails (kind value): the image is damaged.
static bool pnm_fail(const pnm *p, const char *why) {
  return tl_fail(p->vm, TALLY_ERR_VALUE,
                 "read_image: \"%s\" is no valid PGM or PPM image: %s", p->path,
                 why);
}

// White space as Netpbm has it.
static bool is_space(unsigned char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// A number of at most [most] behind blanks and comments. The number ends where
// no digit follows; what comes next is left.
static bool next_number(pnm *p, int64_t most, int64_t *out) {
  // A comment goes from # to the end of its line.
  for (bool comment = false;
       p->at < p->end && (comment || is_space(*p->at) || *p->at == '#');
       p->at++)
    comment = comment ? *p->at != '\n' : *p->at == '#';
  if (p->at == p->end)
    return pnm_fail(p, "it ends early");
  if (*p->at < '0' || *p->at > '9')
    return pnm_fail(p, "a number is expected");
  for (*out = 0; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++) {
    *out = *out * 10 + (*p->at - '0');
    if (*out > most)
      return pnm_fail(p, "a number is too large");
  }
  return true;
}

// The pixels of the formats that write numbers as text.
static bool fill_text(pnm *p, tl_array *image, int64_t maximum) {
  for (int64_t i = 0, value; i < image->size; i++) {
    // Text is slow to read, so polls are frequent.
    if (i % 4096 == 4095 && !tl_poll(p->vm, 16))
      return false;
    if (!next_number(p, maximum, &value))
      return false;
    if (maximum < 256)
      ((uint8_t *)image->data)[i] = (uint8_t)value;
    else
      ((uint16_t *)(void *)image->data)[i] = (uint16_t)value;
  }
  return true;
}

// Reads the header and the pixels; [kind] is the digit behind P: 2 and 3 are
// text, 5 and 6 bytes, 3 and 6 have three channels.
static bool read_pnm(pnm *p, char kind, tl_slot *out) {
  int64_t shape[3], maximum;
  bool text = kind < '5';
  int channels = kind == '3' || kind == '6' ? 3 : 1;
  if (!next_number(p, INT32_MAX, &shape[1]) ||
      !next_number(p, INT32_MAX, &shape[0]) || !next_number(p, 65535, &maximum))
    return false;
  if (maximum == 0 || p->at == p->end || !is_space(*p->at))
    return pnm_fail(p, "its header is no such one");
  p->at++;
  shape[2] = channels;
  tl_dtype dtype = maximum < 256 ? TL_UINT8 : TL_UINT16;
  int64_t size;
  size_t nbytes, left = (size_t)(p->end - p->at);
  if (!tl_shape_size(p->vm, 3, shape, tl_itemsize(dtype), &size, &nbytes))
    return false;
  // A header is not to be believed: memory is taken only where the file has as
  // many pixels. In text a number takes a digit and a blank at least.
  if (text ? (size_t)size > left / 2 + 1 : nbytes > left)
    return pnm_fail(p, "it ends early");
  tl_array *image = tl_array_new(p->vm, dtype, channels == 1 ? 2 : 3, shape);
  if (!image)
    return false;
  bool ok = true;
  if (text)
    ok = fill_text(p, image, maximum);
  else if (nbytes > 0)
    memcpy(image->data, p->at, nbytes);
  // Samples of 16 bits have the higher byte first.
  if (!text && dtype == TL_UINT16 && !tl_is_big_endian())
    tl_swap_bytes(image->data, 2, (size_t)size);
  return tl_array_finish(p->vm, ok, image, out);
}

// --- read_image -------------------------------------------------------------

// io.read_image(path): the format by the file's first bytes, whatever its
// name.
static bool read_image(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const char *path;
  tl_bytes bytes;
  if (!tl_arg_path(vm, "read_image", args[0], &path) ||
      !tl_io_read_expanded(vm, "read_image", path, &bytes))
    return false;
  const unsigned char *data = (const unsigned char *)bytes.data;
  bool ok;
  if (tl_png_is(data, bytes.nbytes)) {
    ok = tl_png_read(vm, path, data, bytes.nbytes, out);
  } else if (bytes.nbytes > 3 && data[0] == 'P' && data[1] != 0 &&
             strchr("2356", (char)data[1])) {
    pnm p = {vm, path, data + 2, data + bytes.nbytes};
    ok = read_pnm(&p, (char)data[1], out);
  } else {
    ok = tl_fail(vm, TALLY_ERR_VALUE,
                 "read_image: \"%s\" is no PNG, PGM or PPM image", path);
  }
  tl_bytes_free(vm, &bytes);
  return ok;
}

// The format is found by the file's first bytes. What writes images is in
// io.tly.
const tl_builtin tl_io_image_module[] = {
    /// The pixels of a PNG, PGM or PPM image: rows * columns (gray), or rows *
    /// columns * channels (2: gray and opacity, 3: red, green, blue, 4: and
    /// opacity). Their dtype is uint8, of 16 bits uint16; fewer bits are spread
    /// over 0 .. 255, palettes expanded. A file that cannot be read is an io
    /// error, a damaged one a value error.
    ///     io.read_image("photo.png")
    {"read_image", "path", read_image, TL_FILES | TL_EFFECT},
    {.name = NULL},
};
