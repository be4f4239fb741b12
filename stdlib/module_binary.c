// The module binary: arrays as bytes, compressed bytes, files of bytes.
//
//   array --encode--> bytes --compress--> fewer bytes --write_binary--> file
//   array <--decode-- bytes <--expand---- fewer bytes <--read_binary--- file
//
// Bytes are vectors of uint8 or values of type bytes. The byte order is that
// of an argument, big: items are copied as they are and swapped in place where
// the machine has the other order (stdlib/byte_order.h).

#include "stdlib/byte_order.h"
#include "stdlib/compress.h"
#include "stdlib/families.h"
#include "vm/nested/raw_bytes.h"
#include "vm/array/string_item.h"

// The argument as a dense vector of bytes: uint8, or a value of type bytes.
// *out borrows or owns.
static bool read_bytes(tl_vm *vm, const char *function, tl_slot *s,
                       tl_slot *out) {
  if (tl_is_raw_bytes(*s) && tl_value_ndim(*s) == 0)
    return tl_raw_bytes_items(vm, *s, out);
  if (!tl_arg_numeric(vm, function, s))
    return false;
  if (tl_array_dtype(s->array) != TL_UINT8 || tl_ndim(s->array) != 1)
    return tl_arg_fail(vm, function, "data", "a vector of uint8", *s);
  return tl_as_contiguous(vm, function, *s, TL_UINT8, out);
}

// --- decode, encode ---------------------------------------------------------

// The items that bytes hold, as a vector. False where they are no whole number
// of items (kind value).
static bool decode_items(tl_vm *vm, const char *function, tl_dtype dtype,
                         bool big, const char *data, size_t nbytes,
                         tl_slot *out) {
  if (dtype == TL_STRING)
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "%s: dtype must be that of numbers, not string", function);
  size_t itemsize = tl_itemsize(dtype);
  // Half an item at the end is more likely a wrong dtype than padding.
  if (nbytes % itemsize != 0)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "%s: %zu bytes are no whole number of %s items", function,
                   nbytes, tl_dtypes[dtype].name);
  int64_t n = (int64_t)(nbytes / itemsize);
  tl_array *a = tl_array_new(vm, dtype, 1, &n);
  if (!a)
    return false;
  bool ok =
      tl_copy_bytes(vm, a->data, data, nbytes) &&
      tl_settle_all(vm, a->data, dtype, (size_t)n, big != tl_is_big_endian());
  return tl_array_finish(vm, ok, a, out);
}

// binary.decode(data, dtype, big).
static bool decode(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot data;
  if (!read_bytes(vm, "decode", &args[0], &data))
    return false;
  bool ok = decode_items(vm, "decode", tl_dtype_given(args[1], TL_UINT8),
                         args[2].i != 0, data.array->data,
                         (size_t)data.array->size, out);
  tl_drop(vm, data);
  return ok;
}

// The bytes of the items of [x] in row-major order; *out is owned.
static bool encode_items(tl_vm *vm, const char *function, tl_slot *x, bool big,
                         tl_slot *out) {
  tl_slot dense;
  if (tl_is_raw_bytes(*x) && tl_value_ndim(*x) == 0)
    return tl_raw_bytes_items(vm, *x, out);
  if (!tl_arg_numeric(vm, function, x))
    return false;
  tl_dtype dtype = tl_array_dtype(x->array);
  if (!tl_as_contiguous(vm, function, *x, dtype, &dense))
    return false;
  bool ok = tl_bytes_give(vm, dense.array->data,
                          (size_t)dense.array->size * tl_itemsize(dtype), out);
  if (ok &&
      !tl_settle_all(vm, out->array->data, dtype, (size_t)dense.array->size,
                     big != tl_is_big_endian())) {
    tl_drop(vm, *out);
    ok = false;
  }
  tl_drop(vm, dense);
  return ok;
}

// binary.encode(x, big).
static bool encode(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return encode_items(vm, "encode", &args[0], args[1].i != 0, out);
}

// --- compress, expand -------------------------------------------------------

// The argument format; zlib where it is none.
static bool read_packing(tl_vm *vm, const char *function, tl_slot s,
                         tl_packing *out) {
  static const char *const names[] = {[TL_PACKED_ZLIB] = "zlib",
                                      [TL_PACKED_GZIP] = "gzip",
                                      [TL_PACKED_RAW] = "raw",
                                      [TL_PACKED_ZSTD] = "zstd",
                                      NULL};
  int which = 0;
  bool ok = tl_arg_choice(vm, function, "format", s, names, &which);
  *out = (tl_packing)which;
  return ok;
}

// The bytes as a vector; frees them in any case.
static bool give_and_free(tl_vm *vm, tl_bytes *bytes, tl_slot *out) {
  bool ok = tl_bytes_give(vm, bytes->data, bytes->nbytes, out);
  tl_bytes_free(vm, bytes);
  return ok;
}

// binary.compress(data, format, level).
static bool compress(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_packing packing;
  int64_t level;
  tl_slot data;
  tl_bytes bytes;
  if (!read_packing(vm, "compress", args[1], &packing) ||
      !tl_arg_int(vm, "compress", "level", args[2], &level))
    return false;
  // The levels of the libraries.
  int most = packing == TL_PACKED_ZSTD ? 22 : 9;
  if (level < 0 || level > most)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "compress: level is %lld, but must be from 0 to %d",
                   (long long)level, most);
  if (!read_bytes(vm, "compress", &args[0], &data))
    return false;
  bool ok = tl_compress(vm, "compress", packing, (int)level, data.array->data,
                        (size_t)data.array->size, &bytes);
  tl_drop(vm, data);
  return ok && give_and_free(vm, &bytes, out);
}

// binary.expand(data, format, most): the limit guards against small data that
// expand to all of memory.
static bool expand(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_packing packing;
  int64_t most = 1 << 30;
  tl_slot data;
  tl_bytes bytes;
  if (!read_packing(vm, "expand", args[1], &packing) ||
      (!tl_is_none(args[2]) &&
       !tl_arg_count(vm, "expand", "most", args[2], &most)) ||
      !read_bytes(vm, "expand", &args[0], &data))
    return false;
  bool ok = tl_expand(vm, "expand", "the data", packing, data.array->data,
                      (size_t)data.array->size, (size_t)most, &bytes);
  tl_drop(vm, data);
  return ok && give_and_free(vm, &bytes, out);
}

// binary.crc32(data).
static bool crc32(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot data;
  if (!read_bytes(vm, "crc32", &args[0], &data))
    return false;
  const size_t n = (size_t)data.array->size;
  uint32_t crc = 0;
  bool ok = true;
  for (size_t at = 0, end = 0; ok && at < n; at = end) {
    ok = tl_poll_piece(vm, at, n, &end);
    crc = ok ? tl_crc32(crc, data.array->data + at, end - at) : 0;
  }
  *out = tl_weak_int(crc);
  tl_drop(vm, data);
  return ok;
}

// Fails (kind value) where the bytes are no UTF-8, at the first wrong one.
static bool check_text(tl_vm *vm, const char *data, size_t nbytes) {
  size_t at;
  return tl_text_check(vm, data, nbytes, &at) ||
         tl_fail(vm, TALLY_ERR_VALUE,
                 "text: the data are no UTF-8 text: malformed at byte %zu", at);
}

// The same of all texts within a value of type bytes.
static bool check_texts(tl_vm *vm, tl_slot s) {
  // The innermost part of nested bytes has all the texts.
  while (tl_is_nested(s)) s = tl_borrow(s.nested->parts[1]);
  if (tl_is_string(s))
    return check_text(vm, s.string->text, s.string->length);
  tl_slot dense;
  if (!tl_array_contiguous(vm, &s, &dense))
    return false;
  const tl_string_item *items = tl_string_items(dense.array);
  bool ok = true;
  for (int64_t i = 0; ok && i < dense.array->size; i++)
    ok = check_text(vm, tl_string_item_text(&items[i]),
                    tl_string_item_length(&items[i]));
  tl_drop(vm, dense);
  return ok;
}

// The string of bytes. A value of type bytes has strings inside, which are
// checked and passed on without a copy.
static bool text(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot data;
  if (tl_is_raw_bytes(args[0])) {
    tl_slot inside = tl_raw_bytes_inside(args[0]);
    if (!check_texts(vm, inside))
      return false;
    *out = tl_retain(vm, inside);
    return true;
  }
  if (!read_bytes(vm, "text", &args[0], &data))
    return false;
  size_t nbytes = (size_t)data.array->size;
  tl_string *string = NULL;
  if (check_text(vm, data.array->data, nbytes))
    string = tl_string_new(vm, data.array->data, nbytes);
  tl_drop(vm, data);
  return tl_string_give(string, out);
}

// --- Files ------------------------------------------------------------------

// io.read_binary(path, dtype, big, offset, count).
static bool read_binary(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const char *path = tl_file_path(args[0]);
  const int64_t offset = args[3].i;
  const int64_t count = tl_is_none(args[4]) ? -1 : args[4].i;
  const tl_dtype dtype = tl_dtype_given(args[1], TL_UINT8);
  tl_bytes bytes;
  if (!tl_io_read_expanded(vm, "read_binary", path, &bytes))
    return false;
  size_t left =
      (uint64_t)offset <= bytes.nbytes ? bytes.nbytes - (size_t)offset : 0;
  // Without a count, all the rest of the file.
  size_t wanted = left;
  bool ok = true;
  // A count that does not fit, or whose bytes overflow, ends the same way: the
  // file is too short.
  if ((uint64_t)offset > bytes.nbytes ||
      (count >= 0 &&
       (tl_mul_overflows((size_t)count, tl_itemsize(dtype), &wanted) ||
        wanted > left)))
    ok = tl_fail(vm, TALLY_ERR_IO,
                 "read_binary: \"%s\" ends early: it has %zu bytes", path,
                 bytes.nbytes);
  ok = ok && decode_items(vm, "read_binary", dtype, args[2].i != 0,
                          bytes.data + offset, wanted, out);
  tl_bytes_free(vm, &bytes);
  return ok;
}

// io.write_binary(path, x, big).
static bool write_binary(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot bytes;
  if (!encode_items(vm, "write_binary", &args[1], args[2].i != 0, &bytes))
    return false;
  *out = tl_none();
  bool ok = tl_io_write_packed(vm, "write_binary", tl_file_path(args[0]),
                               bytes.array->data, (size_t)bytes.array->size);
  tl_drop(vm, bytes);
  return ok;
}

// --- The tables -------------------------------------------------------------

// Bytes of type bytes are taken as they are (TL_FORMS), not as an array of
// numbers.
const tl_builtin tl_binary_module[] = {
    /// The numbers that bytes (a vector of uint8) hold, one behind the other:
    /// a vector of the dtype. The lowest byte comes first unless big is true.
    /// Bytes that make no whole number of items are a value error.
    ///     binary.decode(uint8([1, 0, 2, 1]), int16)    # [1, 258]
    {"decode", "data, dtype, big: false", decode, .takes = TL_FORMS,
     .types = "xDb"},
    /// The bytes of the items of x in row-major order, a vector of uint8: what
    /// decode reads. Strings are a type error.
    ///     binary.encode(int16([1, 258]))    # [1, 0, 2, 1]
    {"encode", "x, big: false", encode, .takes = TL_FORMS, .types = "xb"},
    /// The string whose UTF-8 bytes these are (a vector of uint8, or of type
    /// bytes: of an array of them one each); malformed ones are a value error.
    ///     binary.text(uint8([207, 128]))    # "π"
    {"text", "data", text, .takes = TL_FORMS},
    /// Bytes (a vector of uint8) in fewer bytes: format "zlib", "gzip",
    /// "raw" (deflate without a frame), by zlib, or "zstd". level is from
    /// 0 to 9, for zstd to 22. A library that is missing is an io error.
    ///     len(binary.compress(zeros(1000, dtype: uint8))) < 30    # true
    {"compress", "data, format = \"zlib\", level: 6", compress,
     .takes = TL_FORMS, .types = "x"},
    /// The bytes that compress made fewer. Damaged data, or more than most
    /// bytes, are a value error.
    ///     binary.expand(binary.compress(uint8([1, 2])))    # [1, 2]
    {"expand", "data, format = \"zlib\", most: 1073741824", expand,
     .takes = TL_FORMS, .types = "x"},
    /// The check sum of bytes (a vector of uint8) that zip, gzip and PNG use:
    /// CRC-32, an integer (RFC 1952).
    /// Other values are an error (kind type).
    ///     binary.crc32(bytes("123456789"))    # 3421780262
    {"crc32", "data", crc32, .takes = TL_FORMS},
    {.name = NULL},
};

// The same for files: rows that need the capability of files (TL_FILES).
const tl_builtin tl_io_binary_module[] = {
    /// The numbers of a dtype (uint8 unless given) that a file holds: count of
    /// them, or all, from byte offset on, the lowest byte first unless big is
    /// true. A vector. Compressed files (gzip, Zstandard) are expanded. A file
    /// that cannot be read or has too few bytes is an io error, bytes that are no
    /// whole number of items a value error, a dtype of no numbers a type error.
    ///     io.read_binary("samples.raw", float32)
    {"read_binary", "path, dtype = none, big: false, offset: 0, count: none",
     read_binary, TL_FILES | TL_EFFECT, .types = "pDbnN"},
    /// Writes the items of x in row-major order to a file, which is replaced
    /// when all of it is written; one named .gz or .zst is compressed. A file
    /// that cannot be written is an io error; strings and missing items are a
    /// type error.
    ///     io.write_binary("samples.raw", float32([0.5, 1]))
    {"write_binary", "path, x, big: false", write_binary, TL_FILES | TL_EFFECT,
     .types = "p.b"},
    {.name = NULL},
};
