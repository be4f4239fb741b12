// Images, read: PNG (ISO/IEC 15948), which has chunks with check sums and rows
// that are filtered and deflated, and Netpbm's PGM and PPM, which are a header
// of numbers and rows of samples:
//
//   file -> chunks -> IDAT data together -> inflate -> rows -> unfilter ->
//   pixels
//
//   P5            gray (P6: red, green, blue; P2, P3: the same as text)
//   640 480       width and height
//   255           the largest sample; above 255 they have two bytes
//   ...           samples
//
// A header is not to be believed: an image is made only when all of its bytes
// are there. It is an array of rows * columns, or rows * columns * channels, of
// uint8 or uint16.

#include <string.h>

#include "stdlib/arguments.h"
#include "stdlib/byte_order.h"
#include "stdlib/compress.h"
#include "stdlib/families.h"
#include "vm/array/describe.h"
#include "vm/bytecode/module.h"
#include "vm/vm.h"

// --- PNG --------------------------------------------------------------------

// The first eight bytes of every PNG: a byte above 127, the name, and line
// ends that a transfer as text would change.
static const unsigned char signature[8] = {137, 'P',  'N', 'G',
                                           13,  '\n', 26,  '\n'};

// The kinds of IHDR: bit 0 palette, bit 1 color, bit 2 opacity.
enum { GRAY = 0, COLOR = 2, PALETTE = 3, GRAY_ALPHA = 4, COLOR_ALPHA = 6 };

// An image being read; what its chunks said so far.
typedef struct png {
  tl_vm *vm;
  const char *path;
  uint32_t width, height;
  int depth, kind, interlaced;
  int channels;  // in the file
  // Red, green, blue and opacity.
  unsigned char palette[256][4];
  int colors;
  bool transparent;  // some color of the palette is
  tl_bytes packed;
} png;

// Fails (kind value): the image is damaged.
static bool png_fail(const png *p, const char *why) {
  return tl_fail(p->vm, TALLY_ERR_VALUE,
                 "read_image: \"%s\" is no valid PNG image: %s", p->path, why);
}

// Four bytes as a number, the highest first, as in all of PNG.
static uint32_t word_at(const unsigned char *at) {
  return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 |
         at[3];
}

// --- Chunks -----------------------------------------------------------------

// IHDR: size, depth, kind of color.
static bool read_header(png *p, const unsigned char *data, size_t nbytes) {
  if (nbytes != 13)
    return png_fail(p, "its header has not 13 bytes");
  p->width = word_at(data);
  p->height = word_at(data + 4);
  p->depth = data[8];
  p->kind = data[9];
  p->interlaced = data[12];
  // Which depths each kind of image may have, as bits.
  static const unsigned depths[7] = {
      [GRAY] = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 | 1 << 16,
      [COLOR] = 1 << 8 | 1 << 16,
      [PALETTE] = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8,
      [GRAY_ALPHA] = 1 << 8 | 1 << 16,
      [COLOR_ALPHA] = 1 << 8 | 1 << 16};
  // By kind; kinds 1 and 5 do not exist.
  static const int channels[7] = {1, 0, 3, 1, 2, 0, 4};
  if (p->width == 0 || p->height == 0 || p->width > INT32_MAX ||
      p->height > INT32_MAX)
    return png_fail(p, "its size is 0 or too large");
  if (p->kind > 6 || p->depth > 16 || !(depths[p->kind] >> p->depth & 1))
    return png_fail(p, "its kind and depth do not fit");
  if (data[10] != 0 || data[11] != 0 || p->interlaced > 1)
    return png_fail(p, "its compression, filter or interlacing is unknown");
  p->channels = channels[p->kind];
  return true;
}

// PLTE: the colors, opaque until tRNS says otherwise.
static bool read_palette(png *p, const unsigned char *data, size_t nbytes) {
  if (nbytes == 0 || nbytes % 3 != 0 || nbytes > 768)
    return png_fail(p, "its palette has not 1 to 256 colors");
  p->colors = (int)(nbytes / 3);
  for (int i = 0; i < p->colors; i++) {
    memcpy(p->palette[i], data + 3 * i, 3);
    p->palette[i][3] = 255;
  }
  return true;
}

// IDAT: chunks of one stream, put together before it is expanded.
static bool add_data(png *p, const unsigned char *data, size_t nbytes) {
  // Chunks may cut the compressed stream anywhere.
  tl_writer to = tl_writer_to(p->vm, "read_image", &p->packed);
  return tl_writer_write(&to, data, nbytes);
}

// Reads one chunk by its name; chunks of no interest are passed over. A palette
// of an image that has none is a hint for poorer screens, and ignored.
static bool read_chunk(png *p, const unsigned char *name,
                       const unsigned char *data, size_t nbytes, bool first) {
  // The header comes first, and only once.
  if (first != (memcmp(name, "IHDR", 4) == 0))
    return png_fail(
        p, first ? "it does not begin with a header" : "it has two headers");
  if (first)
    return read_header(p, data, nbytes);
  if (memcmp(name, "IDAT", 4) == 0)
    return add_data(p, data, nbytes);
  if (memcmp(name, "PLTE", 4) == 0)
    return p->kind != PALETTE || read_palette(p, data, nbytes);
  if (memcmp(name, "tRNS", 4) == 0 && p->kind == PALETTE) {
    if (nbytes > (size_t)p->colors)
      return png_fail(p, "it has more transparencies than colors");
    for (size_t i = 0; i < nbytes; i++) p->palette[i][3] = data[i];
    p->transparent = true;
    return true;
  }
  // A capital letter: whoever does not know this chunk cannot show the image.
  if (!(name[0] & 0x20) && memcmp(name, "IEND", 4) != 0)
    return png_fail(p, "it has a critical chunk that is unknown");
  return true;
}

// Reads all chunks up to IEND, each with its check sum: length, name, data,
// CRC.
static bool read_chunks(png *p, const unsigned char *at, size_t nbytes) {
  for (bool first = true;; first = false) {
    if (nbytes < 12)
      return png_fail(p, "it ends early");
    // Compared with the bytes left before anything is added to it.
    size_t length = word_at(at);
    if (length > nbytes - 12)
      return png_fail(p, "a chunk is longer than the file");
    if (tl_crc32(0, at + 4, length + 4) != word_at(at + 8 + length))
      return png_fail(p, "the check sum of a chunk is wrong");
    if (!read_chunk(p, at + 4, at + 8, length, first))
      return false;
    if (memcmp(at + 4, "IEND", 4) == 0)
      return true;
    at += length + 12;
    nbytes -= length + 12;
  }
}

// --- Filters ----------------------------------------------------------------

// Paeth's predictor: of left, above and above left, the one that is nearest to
// a + b - c.
static int paeth(int a, int b, int c) {
  // Ties go to a, then b, as the standard demands.
  int p = a + b - c;
  int da = p > a ? p - a : a - p, db = p > b ? p - b : b - p;
  int dc = p > c ? p - c : c - p;
  return da <= db && da <= dc ? a : db <= dc ? b : c;
}

// The byte that a filter predicts at i; [step] bytes make a pixel, [above] is
// the row before (NULL: zeros).
static int predicted(int filter, const unsigned char *row,
                     const unsigned char *above, size_t i, size_t step) {
  int a = i >= step ? row[i - step] : 0, b = above ? above[i] : 0;
  int c = above && i >= step ? above[i - step] : 0;
  switch (filter) {
    case 1:
      return a;
    case 2:
      return b;
    case 3:
      return (a + b) / 2;
    case 4:
      return paeth(a, b, c);
    default:
      return 0;
  }
}

// Adds the predictions to a row in place: each byte depends on those before
// it.
static bool unfilter(const png *p, unsigned char *row, int filter,
                     const unsigned char *above, size_t nbytes, size_t step) {
  if (filter > 4)
    return png_fail(p, "a row's filter is unknown");
  if (filter == 0)
    return true;
  for (size_t i = 0; i < nbytes; i++)
    row[i] = (unsigned char)(row[i] + predicted(filter, row, above, i, step));
  return true;
}

// --- Pixels -----------------------------------------------------------------

// A pass of an interlaced image: the first pixel and the distances.
typedef struct pass {
  uint32_t x, y, dx, dy;
} pass;

// Adam7: each pass takes every dx-th pixel of every dy-th row.
static const pass passes[7] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8},
                               {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2},
                               {0, 1, 1, 2}};
static const pass whole = {0, 0, 1, 1};

// The pixels of a pass in each direction, and the bytes of its rows.
static uint64_t pass_width(const png *p, pass s) {
  return s.x >= p->width ? 0 : (p->width - s.x + s.dx - 1) / s.dx;
}
// The rows of a pass.
static uint64_t pass_height(const png *p, pass s) {
  return s.y >= p->height ? 0 : (p->height - s.y + s.dy - 1) / s.dy;
}
// The bytes of a row of so many pixels, without its filter: samples below 8
// bits share bytes.
static uint64_t row_bytes(const png *p, uint64_t width) {
  return (width * (uint64_t)p->channels * (uint64_t)p->depth + 7) / 8;
}

// The bytes of all rows with their filters; UINT64_MAX where that overflows.
static uint64_t raw_bytes(const png *p) {
  uint64_t sum = 0;
  for (int i = 0; i < (p->interlaced ? 7 : 1); i++) {
    pass s = p->interlaced ? passes[i] : whole;
    uint64_t width = pass_width(p, s), bytes;
    if (width == 0)
      continue;
    if (__builtin_mul_overflow(row_bytes(p, width) + 1, pass_height(p, s),
                               &bytes) ||
        __builtin_add_overflow(sum, bytes, &sum))
      return UINT64_MAX;
  }
  return sum;
}

// Channel [c] of pixel [x] in a row, as it is stored.
static unsigned sample(const png *p, const unsigned char *row, uint64_t x,
                       int c) {
  // Samples below 8 bits are packed from the highest bit of a byte down.
  uint64_t i = x * (uint64_t)p->channels + (uint64_t)c;
  if (p->depth == 8)
    return row[i];
  if (p->depth == 16)
    return (unsigned)row[2 * i] << 8 | row[2 * i + 1];
  uint64_t bit = i * (uint64_t)p->depth;
  return (unsigned)row[bit / 8] >>
             (8 - (unsigned)p->depth - (unsigned)(bit % 8)) &
         ((1u << p->depth) - 1);
}

// Writes a pixel as the array has it: palettes expanded, fewer bits spread
// over 0 to 255.
static bool put_pixel(const png *p, const unsigned char *row, uint64_t from,
                      int channels, char *to) {
  if (p->kind == PALETTE) {
    unsigned color = sample(p, row, from, 0);
    if (color >= (unsigned)p->colors)
      return png_fail(p, "a pixel's color is not in the palette");
    memcpy(to, p->palette[color], (size_t)channels);
    return true;
  }
  for (int c = 0; c < channels; c++) {
    unsigned value = sample(p, row, from, c);
    if (p->depth == 16)
      ((uint16_t *)(void *)to)[c] = (uint16_t)value;
    else
      ((uint8_t *)to)[c] = (uint8_t)(value * 255 / ((1u << p->depth) - 1));
  }
  return true;
}

// Unfilters and writes the rows of one pass; *raw goes behind them. A pixel's
// predecessor is [step] bytes before, at least 1, also where several pixels
// share a byte.
static bool fill_pass(const png *p, pass s, unsigned char **raw, int channels,
                      tl_array *image) {
  uint64_t width = pass_width(p, s), height = pass_height(p, s);
  size_t nbytes = (size_t)row_bytes(p, width);
  size_t step = (size_t)(p->channels * p->depth + 7) / 8;
  size_t pixel = (size_t)channels * tl_itemsize(tl_array_dtype(image));
  const unsigned char *above = NULL;
  for (uint64_t y = 0; width > 0 && y < height; y++) {
    // Each row has its filter in front.
    unsigned char *row = *raw + 1;
    if (!tl_poll(p->vm, 1 + (nbytes >> 10)) ||
        !unfilter(p, row, row[-1], above, nbytes, step))
      return false;
    char *to =
        image->data + ((size_t)(s.y + y * s.dy) * p->width + s.x) * pixel;
    // Such rows are the pixels already.
    if (p->depth == 8 && p->kind != PALETTE && s.dx == 1)
      memcpy(to, row, nbytes);
    else
      for (uint64_t x = 0; x < width; x++, to += s.dx * pixel)
        if (!put_pixel(p, row, x, channels, to))
          return false;
    above = row;
    *raw += nbytes + 1;
  }
  return true;
}

// The array of pixels from the rows of all passes.
static bool make_image(const png *p, unsigned char *raw, tl_slot *out) {
  // A palette becomes its colors, with opacity only if some color has it.
  int channels = p->kind != PALETTE ? p->channels : p->transparent ? 4 : 3;
  int64_t shape[3] = {p->height, p->width, channels};
  tl_array *image = tl_array_new(p->vm, p->depth == 16 ? TL_UINT16 : TL_UINT8,
                                 channels == 1 ? 2 : 3, shape);
  if (!image)
    return false;
  bool ok = true;
  for (int i = 0; ok && i < (p->interlaced ? 7 : 1); i++)
    ok = fill_pass(p, p->interlaced ? passes[i] : whole, &raw, channels, image);
  return tl_array_finish(p->vm, ok, image, out);
}

// Expands the data and makes the image. As many bytes must come out as the
// header says.
static bool read_pixels(png *p, tl_slot *out) {
  tl_bytes raw;
  uint64_t expected = raw_bytes(p);
  if (p->kind == PALETTE && p->colors == 0)
    return png_fail(p, "it has no palette");
  // The sum of sizes of the header, which nothing vouches for.
  if (expected > SIZE_MAX / 4)
    return png_fail(p, "its size is too large");
  if (!tl_expand(p->vm, "read_image", p->path, TL_PACKED_ZLIB, p->packed.data,
                 p->packed.nbytes, (size_t)expected, &raw))
    return false;
  bool ok = raw.nbytes == expected
                ? make_image(p, (unsigned char *)raw.data, out)
                : png_fail(p, "it has fewer pixels than its size says");
  tl_bytes_free(p->vm, &raw);
  return ok;
}

// Whether the data begin like a PNG file: eight bytes that no text file and no
// damaged transfer has.
static bool is_png(const void *data, size_t nbytes) {
  return nbytes >= 8 && memcmp(data, signature, 8) == 0;
}

// Reads what is_png has recognised; *out is owned. Fails (kind value) where it
// is damaged, (kind io) where there is no zlib. All chunks are read before any
// pixel: the palette may stand behind others.
static bool read_png(tl_vm *vm, const char *path, const void *data,
                     size_t nbytes, tl_slot *out) {
  png p = {.vm = vm, .path = path};
  bool ok = read_chunks(&p, (const unsigned char *)data + 8, nbytes - 8) &&
            read_pixels(&p, out);
  tl_bytes_free(vm, &p.packed);
  return ok;
}

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
  if (is_png(data, bytes.nbytes)) {
    ok = read_png(vm, path, data, bytes.nbytes, out);
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

// io.write_image(path, x): by inner/image.tly.
static bool write_image(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const char *path;
  if (!tl_arg_path(vm, "write_image", args[0], &path) ||
      !tl_arg_numeric(vm, "write_image", &args[1]))
    return false;
  tl_string *name = tl_string_from(vm, path);
  if (name == NULL)
    return false;
  tl_slot given[2] = {tl_own_string(name), tl_take(vm, &args[1])};
  if (tl_call_embedded(vm, "inner/image", "write_image", 2, given, out))
    return true;
  vm->error.named = false;  // it gets this function's name
  return false;
}

// The format is found by the file's first bytes when reading, by its name when
// writing.
const tl_builtin tl_io_image_module[] = {
    /// The pixels of a PNG, PGM or PPM image: rows * columns (gray), or rows *
    /// columns * channels (2: gray and opacity, 3: red, green, blue, 4: and
    /// opacity). Their dtype is uint8, of 16 bits uint16; fewer bits are spread
    /// over 0 .. 255, palettes expanded. A file that cannot be read is an io
    /// error, a damaged one a value error.
    ///     io.read_image("photo.png")
    {"read_image", "path", read_image, TL_FILES | TL_EFFECT},
    /// Writes pixels, shaped as read_image gives them, of uint8 or uint16, to
    /// a file whose name ends in .png, .pgm or .ppm; it is replaced when all of
    /// it is written. Another dtype is a type error, another shape, or one of no
    /// pixels, a shape error, another ending of the name a value error.
    ///     io.write_image("gray.png", uint8([[0, 255], [255, 0]]))
    {"write_image", "path, x", write_image, TL_FILES | TL_EFFECT},
    {.name = NULL},
};
