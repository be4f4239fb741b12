// Compressed data, by zlib and Zstandard, which are loaded when first needed.
// The output grows by doubling up to the limit of the caller, so that a small
// file cannot expand to all of memory.

#include "stdlib/compress.h"

#include <limits.h>

#include "stdlib/shared_library.h"
#include "vm/vm.h"

// --- zlib -------------------------------------------------------------------

// zlib.h's z_stream, which has been the same since 1995. Declared here so that
// building needs no headers of zlib.
typedef struct z_stream {
  const unsigned char *next_in;
  unsigned avail_in;
  unsigned long total_in;
  unsigned char *next_out;
  unsigned avail_out;
  unsigned long total_out;
  const char *message;
  void *state;
  void *(*zalloc)(void *opaque, unsigned items, unsigned size);
  void (*zfree)(void *opaque, void *block);
  void *opaque;
  int data_type;
  unsigned long adler, reserved;
} z_stream;

// The few constants of zlib.h that are used, by its values.
enum { Z_NO_FLUSH = 0, Z_FINISH = 4, Z_OK = 0, Z_STREAM_END = 1, Z_BUF = -5 };

// Filled in the order of ZLIB(X) when the library is loaded; called only after
// tl_shared_library_need returned true.
static struct {
  int (*inflate_init)(z_stream *z, int window, const char *version, int size);
  int (*inflate)(z_stream *z, int flush);
  int (*inflate_end)(z_stream *z);
  int (*deflate_init)(z_stream *z, int level, int method, int window,
                      int memory, int strategy, const char *version, int size);
  int (*deflate)(z_stream *z, int flush);
  int (*deflate_end)(z_stream *z);
} zlib;

// The functions in the order of the fields above.
#define ZLIB(X)    \
  X(inflateInit2_) \
  X(inflate) X(inflateEnd) X(deflateInit2_) X(deflate) X(deflateEnd)
#ifdef TALLY_WITH_ZLIB
ZLIB(TL_LIBRARY_DECLARE)
#endif

// The names of the library on Debian and macOS.
static tl_shared_library zlib_library = {
    .names = (const char *const[]){"libz.so.1", "libz.so", "libz.1.dylib",
                                   "libz.dylib", NULL},
    .symbols = (const char *const[]){ZLIB(TL_LIBRARY_SYMBOL) NULL},
    .functions = (void (**)(void)) & zlib,
#ifdef TALLY_WITH_ZLIB
    .linked = (void (*const[])(void)){ZLIB(TL_LIBRARY_LINKED)},
#endif
    .about = "zlib (Debian's package zlib1g)",
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

// --- Zstandard --------------------------------------------------------------

// ZSTD_inBuffer and ZSTD_outBuffer, which have one layout.
typedef struct zstd_buffer {
  void *data;
  size_t nbytes, at;
} zstd_buffer;

// ZSTD_customMem.
typedef struct zstd_memory {
  void *(*alloc)(void *opaque, size_t nbytes);
  void (*free)(void *opaque, void *block);
  void *opaque;
} zstd_memory;

// The few constants of zstd.h that are used, by its values.
enum { ZSTD_LEVEL = 100, ZSTD_GO_ON = 0, ZSTD_END = 2 };
static const size_t ZSTD_NO_MEMORY = (size_t)-64;

static struct {
  void *(*open)(zstd_memory memory);
  size_t (*close)(void *stream);
  size_t (*expand)(void *stream, zstd_buffer *out, zstd_buffer *in);
  unsigned (*is_error)(size_t code);
  const char *(*error_name)(size_t code);
  size_t (*bound)(size_t nbytes);
  void *(*maker)(zstd_memory memory);
  size_t (*maker_close)(void *maker);
  size_t (*set)(void *maker, int parameter, int value);
  size_t (*set_size)(void *maker, unsigned long long nbytes);
  size_t (*make)(void *maker, zstd_buffer *out, zstd_buffer *in, int end);
} zstd;

// The functions in the order of the fields above.
#define ZSTD(X)                                                          \
  X(ZSTD_createDStream_advanced)                                         \
  X(ZSTD_freeDStream)                                                    \
  X(ZSTD_decompressStream)                                               \
  X(ZSTD_isError)                                                        \
  X(ZSTD_getErrorName)                                                   \
  X(ZSTD_compressBound)                                                  \
  X(ZSTD_createCCtx_advanced) X(ZSTD_freeCCtx) X(ZSTD_CCtx_setParameter) \
      X(ZSTD_CCtx_setPledgedSrcSize) X(ZSTD_compressStream2)
#ifdef TALLY_WITH_ZSTD
ZSTD(TL_LIBRARY_DECLARE)
#endif

// The names of the library on Debian and macOS.
static tl_shared_library zstd_library = {
    .names = (const char *const[]){"libzstd.so.1", "libzstd.so",
                                   "libzstd.1.dylib", "libzstd.dylib", NULL},
    .symbols = (const char *const[]){ZSTD(TL_LIBRARY_SYMBOL) NULL},
    .functions = (void (**)(void)) & zstd,
#ifdef TALLY_WITH_ZSTD
    .linked = (void (*const[])(void)){ZSTD(TL_LIBRARY_LINKED)},
#endif
    .about = "Zstandard (Debian's package libzstd1)",
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

// --- Room -------------------------------------------------------------------

// Data that are expanded or compressed: read from [at] on, written to *out, at
// most [most] bytes.
//
//   data  [ taken | at ........ nbytes ]
//   out   [ written, nbytes | room ... ]  capacity
//
// The capacity is at most [most] + 2: one byte shows an excess, one is the NUL.
typedef struct expansion {
  tl_vm *vm;
  const char *what, *path;
  const unsigned char *data;
  size_t nbytes, at;
  size_t most;
  tl_bytes *out;
} expansion;

// Fails (kind value): "read_text: "x.gz": compressed data end early".
static bool damaged(const expansion *e, const char *why) {
  return tl_fail(e->vm, TALLY_ERR_VALUE, "%s: \"%s\": compressed data %s",
                 e->what, e->path, why);
}

// The library had no memory for its state.
static bool no_memory(const expansion *e) {
  return tl_fail_memory(e->vm, 1 << 17, "a library's work");
}

// Makes room for more bytes, behind which a NUL fits. False after tl_fail:
// memory is short or [most] is reached.
static bool make_room(expansion *e) {
  tl_bytes *out = e->out;
  if (out->nbytes + 1 < out->capacity)
    return true;
  // One byte more than allowed was written: that is how it is noticed.
  if (out->nbytes > e->most)
    return tl_fail(e->vm, TALLY_ERR_VALUE,
                   "%s: \"%s\" expands to more than %zu bytes", e->what,
                   e->path, e->most);
  size_t larger = out->capacity ? 2 * out->capacity : 4096;
  if (larger > e->most + 2)
    larger = e->most + 2;
  char *data = tl_realloc(e->vm, out->data, out->capacity, larger, e->path);
  if (!data)
    return false;
  out->data = data;
  out->capacity = larger;
  return true;
}

// --- Expanding --------------------------------------------------------------

// zlib's allocator; Zstandard takes the VM's as they are.
static void *z_alloc(void *opaque, unsigned items, unsigned size) {
  return tl_library_alloc(opaque, (size_t)items * size);
}

// zlib's window bits, which say the format too.
static int window_of(tl_packing packing) {
  return packing == TL_PACKED_RAW ? -15 : packing == TL_PACKED_ZLIB ? 15 : 31;
}

// How many bytes a library gets at once: between two pieces the VM is polled.
// zlib takes some milliseconds for four times as many.
static unsigned piece_of(size_t nbytes) {
  return nbytes > 1 << 15 ? 1 << 15 : (unsigned)nbytes;
}

// Has zlib take the data, in pieces, and write what it makes of them: to
// expand, or [ends], all of them compressed. Without input and progress a
// stream to expand wants more than there is.
static bool run_zlib(expansion *e, z_stream *z, bool ends) {
  for (int status = Z_OK; status != Z_STREAM_END;) {
    if (!tl_poll(e->vm, 16) || !make_room(e))
      return false;
    z->next_in = e->data + e->at;
    z->avail_in = piece_of(e->nbytes - e->at);
    z->next_out = (unsigned char *)e->out->data + e->out->nbytes;
    z->avail_out = piece_of(e->out->capacity - e->out->nbytes - 1);
    // zlib counts down; the differences are what it took and gave.
    unsigned in = z->avail_in, all = z->avail_out;
    bool is_last = ends && in == e->nbytes - e->at;
    status = (ends ? zlib.deflate : zlib.inflate)(
        z, is_last ? Z_FINISH : Z_NO_FLUSH);
    e->at += in - z->avail_in;
    e->out->nbytes += all - z->avail_out;
    if (!ends &&
        (status == Z_BUF || (status == Z_OK && in == 0 && z->avail_out == all)))
      return damaged(e, "end early");
    if (status == Z_BUF)
      status = Z_OK;
    if (status != Z_OK && status != Z_STREAM_END)
      return !tl_failed(e->vm) &&
             damaged(e, ends ? "cannot be made" : "are damaged");
  }
  return true;
}

// Expands one stream, or one member of gzip.
static bool inflate_one(expansion *e, tl_packing packing) {
  z_stream z = {.zalloc = z_alloc, .zfree = tl_library_free, .opaque = e->vm};
  if (zlib.inflate_init(&z, window_of(packing), "1", (int)sizeof z) != Z_OK)
    return no_memory(e);
  bool ok = run_zlib(e, &z, false);
  zlib.inflate_end(&z);
  return ok;
}

// Expands all members of gzip, which may follow one another.
static bool inflate_all(expansion *e, tl_packing packing) {
  do {
    if (!inflate_one(e, packing))
      return false;
  } while (packing == TL_PACKED_GZIP && e->nbytes - e->at > 2 &&
           e->data[e->at] == 0x1f && e->data[e->at + 1] == 0x8b);
  return true;
}

// One of Zstandard's errors.
static bool zstd_failed(const expansion *e, size_t code) {
  return code == ZSTD_NO_MEMORY ? no_memory(e)
                                : damaged(e, zstd.error_name(code));
}

// Where Zstandard takes its work from.
static zstd_memory memory_of(tl_vm *vm) {
  return (zstd_memory){tl_library_alloc, tl_library_free, vm};
}

// Has Zstandard take the data, in pieces, and write what it makes of them: to
// expand all frames, or [ends], all of them compressed. A stream to expand that
// wants more and moves nothing has reached the end of the data.
static bool run_zstd(expansion *e, void *stream, bool ends) {
  tl_bytes *to = e->out;
  for (size_t left = 1; left != 0 || e->at < e->nbytes;) {
    if (!tl_poll(e->vm, 16) || !make_room(e))
      return false;
    const size_t rest = e->nbytes - e->at, piece = piece_of(rest);
    // The stream does not write to its input, whatever its type says.
    zstd_buffer in = {(void *)(uintptr_t)(e->data + e->at), piece, 0};
    zstd_buffer out = {to->data + to->nbytes, to->capacity - to->nbytes - 1, 0};
    left = ends ? zstd.make(stream, &out, &in,
                            piece == rest ? ZSTD_END : ZSTD_GO_ON)
                : zstd.expand(stream, &out, &in);
    if (zstd.is_error(left))
      return zstd_failed(e, left);
    e->at += in.at;
    to->nbytes += out.at;
    if (!ends && left != 0 && out.at == 0 && in.at == 0)
      return damaged(e, "end early");
  }
  return true;
}

// Expands all frames of Zstandard.
static bool unzstd(expansion *e) {
  void *stream = zstd.open(memory_of(e->vm));
  if (!stream)
    return no_memory(e);
  bool ok = run_zstd(e, stream, false);
  zstd.close(stream);
  return ok;
}

// [most] is bounded so that sums of sizes cannot overflow.
bool tl_expand(tl_vm *vm, const char *what, const char *path,
               tl_packing packing, const void *data, size_t nbytes, size_t most,
               tl_bytes *out) {
  bool is_zstd = packing == TL_PACKED_ZSTD;
  *out = (tl_bytes){NULL, 0, 0};
  if (!tl_shared_library_need(vm, what,
                              is_zstd ? &zstd_library : &zlib_library))
    return false;
  if (most > SIZE_MAX / 2)
    most = SIZE_MAX / 2;
  // A picture may have no data at all, and NULL + 0 is undefined.
  expansion e = {vm,     what, path, data != NULL ? data : "",
                 nbytes, 0,    most, out};
  bool ok = is_zstd ? unzstd(&e) : inflate_all(&e, packing);
  if (ok && out->nbytes > most)
    ok = tl_fail(vm, TALLY_ERR_VALUE,
                 "%s: \"%s\" expands to more than %zu bytes", what, path, most);
  if (ok)
    out->data[out->nbytes] = 0;
  else
    tl_bytes_free(vm, out);
  return ok;
}

// --- Compressing ------------------------------------------------------------

// Compresses all of e's bytes into e->out in one go, as Zstandard tells
// beforehand how many bytes will do. False after tl_fail; then e->out has no
// memory.
static bool compress_zstd(expansion *e, int level) {
  tl_bytes *out = e->out;
  void *maker = zstd.maker(memory_of(e->vm));
  out->capacity = zstd.bound(e->nbytes) + 1;
  if (maker == NULL)
    return no_memory(e);
  out->data = tl_alloc(e->vm, out->capacity, "compressed data");
  // The size goes into the header, and makes the tables as large as needed.
  zstd.set(maker, ZSTD_LEVEL, level);
  zstd.set_size(maker, e->nbytes);
  bool ok = out->data != NULL && run_zstd(e, maker, true);
  zstd.maker_close(maker);
  if (!ok)
    tl_bytes_free(e->vm, out);
  return ok;
}

// The buffer grows as for expanding; Zstandard gives a bound in advance.
bool tl_compress(tl_vm *vm, const char *what, tl_packing packing, int level,
                 const void *data, size_t nbytes, tl_bytes *out) {
  bool is_zstd = packing == TL_PACKED_ZSTD;
  *out = (tl_bytes){NULL, 0, 0};
  if (!tl_shared_library_need(vm, what,
                              is_zstd ? &zstd_library : &zlib_library))
    return false;
  expansion e = {vm, what, "the data", data, nbytes, 0, SIZE_MAX / 2, out};
  if (is_zstd)
    return compress_zstd(&e, level);
  z_stream z = {.zalloc = z_alloc, .zfree = tl_library_free, .opaque = vm};
  if (zlib.deflate_init(&z, level, 8, window_of(packing), 8, 0, "1",
                        (int)sizeof z) != Z_OK)
    return no_memory(&e);
  bool ok = run_zlib(&e, &z, true);
  zlib.deflate_end(&z);
  if (!ok)
    tl_bytes_free(vm, out);
  return ok;
}

uint32_t tl_crc32(uint32_t crc, const void *data, size_t nbytes) {
  // Four bits at a time: a table of 16 words (RFC 1952, 8).
  static const uint32_t table[16] = {
      0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
      0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
      0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  const unsigned char *at = data;
  crc = ~crc;
  for (size_t i = 0; i < nbytes; i++) {
    crc ^= at[i];
    crc = crc >> 4 ^ table[crc & 15];
    crc = crc >> 4 ^ table[crc & 15];
  }
  return ~crc;
}

// --- Files ------------------------------------------------------------------

// The most that the format can give: deflate a little more than a thousand
// times its size, a block of Zstandard 128 KiB out of 4 bytes. More is taken
// for an attack; a small file may always be 64 MiB.
static size_t most_expanded(tl_packing packing, size_t nbytes) {
  size_t most;
  if (tl_mul_overflows(nbytes, packing == TL_PACKED_ZSTD ? 1 << 15 : 1100,
                       &most))
    return SIZE_MAX;
  return most < 1 << 26 ? 1 << 26 : most;
}

// More than the first two bytes are compared, since text files may begin like
// anything.
bool tl_is_packed(const void *data, size_t nbytes, tl_packing *out) {
  const unsigned char *start = data;
  *out = nbytes > 0 && start[0] == 0x1f ? TL_PACKED_GZIP : TL_PACKED_ZSTD;
  if (*out == TL_PACKED_GZIP)
    return nbytes >= 18 && start[1] == 0x8b && start[2] == 8;
  return nbytes >= 8 && start[0] == 0x28 && start[1] == 0xb5 &&
         start[2] == 0x2f && start[3] == 0xfd;
}

// The packed bytes are freed whether it succeeds or not: the caller has one
// buffer to care for.
bool tl_expand_text(tl_vm *vm, const char *what, const char *path,
                    tl_bytes *text) {
  tl_packing packing;
  tl_bytes packed = *text;
  if (!tl_is_packed(packed.data, packed.nbytes, &packing))
    return true;
  bool ok = tl_expand(vm, what, path, packing, packed.data, packed.nbytes,
                      most_expanded(packing, packed.nbytes), text);
  tl_bytes_free(vm, &packed);
  return ok;
}

// The first bytes decide and not the name, so that a renamed file is read, too.
bool tl_io_read_expanded(tl_vm *vm, const char *what, const char *path,
                         tl_bytes *out) {
  return tl_io_read(vm, what, path, out) && tl_expand_text(vm, what, path, out);
}

bool tl_io_check_text(tl_vm *vm, const char *what, const char *path,
                      int64_t offset, const char *text, size_t nbytes) {
  size_t at;
  return tl_text_check(vm, text, nbytes, &at) ||
         tl_fail(vm, TALLY_ERR_VALUE,
                 "%s: \"%s\" is no UTF-8 text: malformed at byte %lld", what,
                 path, (long long)(offset + (int64_t)at));
}

// A path that is nothing but the ending, such as ".gz", does not end so: it
// names a hidden file.
static bool path_ends(const char *path, const char *ending) {
  size_t n = strlen(path), m = strlen(ending);
  return n > m && strcmp(path + n - m, ending) == 0;
}

bool tl_io_packs(const char *path) {
  return path_ends(path, ".gz") || path_ends(path, ".zst");
}

// Writes a file whole or not at all.
static bool write_whole(tl_vm *vm, const char *what, const char *path,
                        const void *data, size_t nbytes) {
  tl_writer file;
  if (!tl_writer_open(vm, what, path, &file))
    return false;
  return tl_writer_end(&file, tl_writer_write(&file, data, nbytes));
}

// Level 6 is zlib's default and 3 Zstandard's.
bool tl_io_write_packed(tl_vm *vm, const char *what, const char *path,
                        const void *data, size_t nbytes) {
  // The name decides, as for reading the first bytes do.
  bool gzip = path_ends(path, ".gz");
  if (!tl_io_packs(path))
    return write_whole(vm, what, path, data, nbytes);
  tl_bytes packed;
  if (!tl_compress(vm, what, gzip ? TL_PACKED_GZIP : TL_PACKED_ZSTD,
                   gzip ? 6 : 3, data, nbytes, &packed))
    return false;
  bool ok = write_whole(vm, what, path, packed.data, packed.nbytes);
  tl_bytes_free(vm, &packed);
  return ok;
}
