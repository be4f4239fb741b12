// NumPy's .npy files, read and written. npy_header.h has what stands before the
// items.

#include "stdlib/families.h"
#include "stdlib/compress.h"
#include "stdlib/npy_texts.h"
#include "vm/nested/indexed.h"
#include "vm/nested/raw_bytes.h"

// --- Items ------------------------------------------------------------------

// Items are read into the array as they are and put in order there.
static bool read_numbers(tl_reader *reader, const tl_npy *from, tl_array *a) {
  size_t itemsize = tl_itemsize(from->dtype);
  return tl_npy_read_exactly(reader, a->data, (size_t)a->size * itemsize) &&
         tl_settle_all(reader->vm, a->data, from->dtype, (size_t)a->size,
                       from->swapped);
}

// One of S, which ends where only zeros follow, or of V, which is kept whole.
static bool store_bytes(tl_reader *reader, tl_array *a, int64_t index,
                        const char *bytes, const tl_npy *from) {
  size_t n = (size_t)from->width;
  while (from->letter == 'S' && n > 0 && bytes[n - 1] == 0) n--;
  return tl_string_item_set(reader->vm, &tl_string_items(a)[index], bytes, n);
}

// Reads strings of U, S or V, each of the same width in the file.
//
//   points   | width code points, 4 bytes each | their text in UTF-8, as many |
//
// One buffer serves all strings; U is read to its first half, S and V use that
// too.
static bool read_strings(tl_reader *reader, const tl_npy *from, tl_array *a) {
  size_t width = (size_t)from->width, nbytes = 8 * width;
  if (width == 0 || a->size == 0)
    return true;
  uint32_t *points = tl_alloc(reader->vm, nbytes, "a string");
  if (!points)
    return false;
  bool ok = true;
  for (int64_t i = 0; ok && i < a->size; i++) {
    ok = tl_npy_read_exactly(reader, points, tl_npy_width(from));
    if (ok && from->letter == 'U' && from->swapped)
      tl_swap_bytes((char *)points, 4, width);
    ok = ok && (from->letter == 'U'
                    ? tl_npy_store_text(reader, a, i, points, from->width,
                                        (char *)(points + width))
                    : store_bytes(reader, a, i, (char *)points, from));
  }
  tl_free(reader->vm, points, nbytes);
  return ok;
}

// Structs, laid out as in the file.
static bool read_structs(tl_reader *reader, const tl_npy *from, tl_slot *out) {
  tl_vm *vm = reader->vm;
  const char *lacks = from->ndim == 0 ? "no axis"
                      : from->texts.any && from->ndim > 1
                          ? "several axes and strings"
                      : from->fortran && from->ndim > 1 ? "Fortran's order"
                                                        : NULL;
  if (lacks != NULL) {
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "read_npy: \"%s\" has structs of %s, which are not read",
                   reader->path, lacks);
  }
  if (!tl_struct_zeros(vm, from->layout, from->ndim, from->shape, out))
    return false;
  tl_array *block = out->nested->parts[0].array;
  if (!tl_npy_read_exactly(reader, block->data, (size_t)block->size)) {
    tl_clear(vm, out);
    return false;
  }
  bool settled = !from->swapped && !tl_npy_has_bools(from->layout);
  int64_t step = from->layout->itemsize;
  for (int64_t i = 0; !settled && i < block->size; i += step)
    tl_npy_settle(block->data + i, from->layout, from->swapped);
  if (!from->texts.any)
    return true;
  tl_slot raw = *out;
  return tl_drop_after(vm, tl_npy_open_texts(reader, from, raw, out), &raw);
}

// Reads header and items. *out is owned.
//
//   file (2, 3) in Fortran's order:  a d b e c f
//   array (3, 2) in ours:            a d | b e | c f     transposed: (2, 3)
static bool read_array(tl_reader *reader, tl_slot *out) {
  tl_vm *vm = reader->vm;
  tl_npy from = {.width = 0};
  uint64_t left = 0;
  if (!tl_npy_read_header(reader, &from, &left) ||
      !tl_npy_check_size(reader, &from, left))
    return false;
  if (from.layout != NULL)
    return read_structs(reader, &from, out);
  // Fortran's order is ours of the reversed shape, seen transposed.
  bool transposed = from.fortran && from.ndim > 1;
  int64_t shape[TL_MAX_DIMS];
  int axes[TL_MAX_DIMS];
  for (int k = 0; k < from.ndim; k++) {
    axes[k] = from.ndim - 1 - k;
    shape[k] = from.shape[transposed ? axes[k] : k];
  }
  tl_array *a = tl_array_new(vm, from.dtype, from.ndim, shape);
  if (!a)
    return false;
  bool ok =
      tl_result_finish(vm,
                       from.dtype == TL_STRING ? read_strings(reader, &from, a)
                                               : read_numbers(reader, &from, a),
                       a, out);
  tl_slot whole = *out;
  if (ok && transposed)
    ok = tl_drop_after(vm, tl_permute(vm, &whole, axes, out), &whole);
  if (!ok || from.dtype != TL_STRING || from.letter == 'U')
    return ok;
  tl_slot texts = *out;
  return tl_raw_bytes_close(vm, &texts, out);
}

// Only a name that ends in .gz or .zst is expanded; other files are read piece
// by piece to where the items stay.
static bool read_npy(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const char *path = tl_file_path(args[0]);
  tl_reader reader;
  tl_bytes bytes = {NULL, 0, 0};
  if (!tl_io_packs(path)) {
    if (!tl_reader_open(vm, "read_npy", path, &reader))
      return false;
  } else {
    if (!tl_io_read_expanded(vm, "read_npy", path, &bytes))
      return false;
    reader = tl_reader_of(vm, "read_npy", path, bytes.data, bytes.nbytes);
  }
  bool ok = read_array(&reader, out);
  tl_reader_close(&reader);
  tl_bytes_free(vm, &bytes);
  return ok;
}

// What a container holds: npz. [name] is for messages.
static bool decode_npy(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot data;
  const tl_string *name = tl_is_none(args[1]) ? NULL : args[1].string;
  if (tl_array_dtype(args[0].array) != TL_UINT8)
    return tl_arg_fail(vm, "decode_npy", "data", "an array of uint8", args[0]);
  if (!tl_as_contiguous(vm, "decode_npy", args[0], TL_UINT8, &data))
    return false;
  tl_reader reader =
      tl_reader_of(vm, "decode_npy", name ? name->text : "the data",
                   data.array->data, (size_t)data.array->size);
  return tl_drop_after(vm, read_array(&reader, out), &data);
}

// --- Writing ----------------------------------------------------------------

// Calls [each] on all items in row-major order, until it gives false.
typedef bool item_visitor(void *context, const char *item);
// Views of any strides are walked; nothing is copied.
static bool visit_items(tl_vm *vm, const tl_array *a, item_visitor *each,
                        void *context) {
  tl_walk walk;
  char *data = a->data;
  const int64_t *strides = tl_strides(a);
  tl_walk_begin(&walk, 1, tl_ndim(a), tl_shape(a), &data, &strides);
  tl_walk_by_pieces(&walk);
  for (; !walk.done; tl_walk_next(&walk)) {
    for (int64_t i = 0; i < walk.length; i++)
      if (!each(context, walk.data[0] + i * walk.step[0]))
        return false;
    if (!tl_poll(vm, 1 + (uint64_t)walk.length / 1024))
      return false;
  }
  return true;
}

typedef struct output {
  tl_vm *vm;
  const tl_array *a;
  const tl_type *layout;  // a is a block of structs
  tl_npy_texts texts;     // among its fields
  tl_writer file;
  int64_t width;  // code points of a string
  // Of bytes, as S; as V where one ends in a zero, which S would drop.
  bool raw_bytes, zero_ended;
  int64_t least;  // the length of the shortest
} output;

// The longest and the shortest item, in code points or bytes, and whether one
// ends in a zero, as only bytes do that are no text.
static bool measure_item(void *context, const char *item) {
  output *o = context;
  const tl_string_item *s = tl_string_item_at(item);
  size_t nbytes = tl_string_item_length(s);
  int64_t n = o->raw_bytes ? (int64_t)nbytes : tl_npy_count_points(s);
  if (n > o->width)
    o->width = n;
  if (n < o->least)
    o->least = n;
  o->zero_ended |=
      o->raw_bytes && nbytes > 0 && tl_string_item_text(s)[nbytes - 1] == 0;
  return true;
}

// An item and zeros up to the common width.
static bool write_bytes(void *context, const char *item) {
  static const char zeros[64];
  output *o = context;
  const tl_string_item *s = tl_string_item_at(item);
  size_t n = tl_string_item_length(s), left = (size_t)o->width - n;
  bool ok = tl_writer_write(&o->file, tl_string_item_text(s), n);
  for (size_t more; ok && left > 0; left -= more) {
    more = left < sizeof zeros ? left : sizeof zeros;
    ok = tl_writer_write(&o->file, zeros, more);
  }
  return ok;
}

// S drops zeros at the end and V keeps them, with those that fill an item up:
// so a zero at an end is safe only where nothing is filled up.
static bool fits_bytes(const output *o) {
  return !o->zero_ended || o->least == o->width ||
         tl_fail(o->vm, TALLY_ERR_VALUE,
                 "%s: an item of bytes ends in a zero, which is kept only "
                 "where all have one length",
                 o->file.what);
}

// Four bytes for each code point, in this machine's order as the header says.
static bool write_string(void *context, const char *item) {
  output *o = context;
  const char *text = tl_string_item_text(tl_string_item_at(item));
  size_t nbytes = tl_string_item_length(tl_string_item_at(item));
  bool ok = true;
  size_t at = 0;
  for (int64_t i = 0; ok && i < o->width; i++) {
    uint32_t c = at < nbytes ? tl_npy_next_point(text, &at) : 0;
    ok = tl_writer_write(&o->file, &c, sizeof c);
  }
  return ok;
}

// For views, whose items do not lie in a row.
static bool write_number(void *context, const char *item) {
  output *o = context;
  return tl_writer_write(&o->file, item, tl_itemsize(tl_array_dtype(o->a)));
}

// The dict of the header, up to the blanks at its end. False after tl_fail.
static bool add_dict(const output *o, tl_text *text) {
  tl_dtype dtype = tl_array_dtype(o->a);
  int ndim = tl_ndim(o->a) - (o->layout != NULL);
  tl_text_puts(text, "{'descr': ");
  if (o->layout != NULL) {
    if (!tl_npy_write_fields(o->vm, text, o->layout, &o->texts))
      return false;
  } else if (dtype == TL_STRING) {
    tl_text_printf(text, "'%c%c%lld'",
                   o->raw_bytes         ? '|'
                   : tl_is_big_endian() ? '>'
                                        : '<',
                   !o->raw_bytes   ? 'U'
                   : o->zero_ended ? 'V'
                                   : 'S',
                   (long long)o->width);
  } else {
    char name[16];
    tl_npy_spell_dtype(dtype, name, sizeof name);
    tl_text_puts(text, name);
  }
  tl_text_puts(text, ", 'fortran_order': False, 'shape': (");
  for (int k = 0; k < ndim; k++)
    tl_text_printf(text, k == 0 || k + 1 < ndim ? "%lld, " : "%lld",
                   (long long)tl_shape(o->a)[k]);
  tl_text_puts(text, "), }");
  return true;
}

// What stands before the items (npy_header.h):
//
//   magic, version 1.0 | length, 2 bytes | {'descr': '<f8', ...}  blanks, \n |
//   a multiple of 64 bytes in all
//
// Fails (kind value) where the length needs more than 16 bits: version 1.0 has
// no more.
static bool write_header(output *o) {
  tl_text text;
  tl_text_open(&text, o->vm);
  bool ok = add_dict(o, &text);
  // The items begin at a multiple of 64, so that they can be mapped.
  size_t nbytes =
      (TL_NPY_PREFIX + 2 + text.length + 1 + 63) / 64 * 64 - TL_NPY_PREFIX - 2;
  while (ok && !text.failed && text.length + 1 < nbytes)
    tl_text_putc(&text, ' ');
  tl_text_putc(&text, '\n');
  unsigned char start[TL_NPY_PREFIX + 2] = {0};
  memcpy(start, tl_npy_magic, sizeof tl_npy_magic);
  start[6] = 1;
  start[8] = (unsigned char)(nbytes & 0xff);
  start[9] = (unsigned char)(nbytes >> 8);
  ok = ok && !text.failed &&
       (nbytes <= UINT16_MAX ||
        tl_fail(o->vm, TALLY_ERR_VALUE,
                "write_npy: the fields' names are too long for a header")) &&
       tl_writer_write(&o->file, start, sizeof start) &&
       tl_writer_write(&o->file, text.bytes, nbytes);
  tl_text_close(&text);
  return ok;
}

// One write for contiguous items, else item by item in row-major order.
static bool write_items(output *o) {
  if (tl_array_dtype(o->a) == TL_STRING)
    return visit_items(o->vm, o->a, o->raw_bytes ? write_bytes : write_string,
                       o);
  size_t itemsize = tl_itemsize(tl_array_dtype(o->a));
  if (tl_is_contiguous(o->a))
    return tl_writer_write(&o->file, o->a->data, (size_t)o->a->size * itemsize);
  return visit_items(o->vm, o->a, write_number, o);
}

// The header and items, wherever the writer leads.
static bool write_array(output *o) {
  if (tl_array_dtype(o->a) == TL_STRING &&
      (!visit_items(o->vm, o->a, measure_item, o) || !fits_bytes(o)))
    return false;
  // NumPy has no strings of width 0.
  if (o->width == 0)
    o->width = 1;
  return write_header(o) && write_items(o);
}

// An array, or a block of structs.
static bool open_output(tl_vm *vm, const char *function, tl_slot *s,
                        output *out) {
  *out = (output){.vm = vm, .least = INT64_MAX};
  tl_slot raw_bytes = tl_raw_bytes_inside(*s);
  if (tl_is_raw_bytes(*s) && tl_is_array(raw_bytes)) {
    out->a = raw_bytes.array;
    out->raw_bytes = true;
    return true;
  }
  if (tl_is_form(*s, TL_FORM_COLUMNS)) {
    tl_slot raw;
    if (!tl_npy_close_texts(vm, function, *s, &out->texts, &raw))
      return false;
    tl_replace(vm, s, raw);
  }
  if (tl_is_form(*s, TL_FORM_STRUCT)) {
    out->a = s->nested->parts[0].array;
    out->layout = s->nested->layout;
    return true;
  }
  if (!tl_arg_array(vm, function, s))
    return false;
  out->a = s->array;
  return true;
}

// The old file stays where anything fails, as tl_writer_end then abandons the
// new one.
static bool write_npy(tl_vm *vm, tl_slot *args, tl_slot *out) {
  output o;
  *out = tl_none();
  return open_output(vm, "write_npy", &args[1], &o) &&
         tl_writer_open(vm, "write_npy", tl_file_path(args[0]), &o.file) &&
         tl_writer_end(&o.file, write_array(&o));
}

// The same bytes in memory, for a container of several arrays.
static bool encode_npy(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_bytes bytes = {NULL, 0, 0};
  output o;
  if (!tl_spell_out(vm, 1, args) ||
      !open_output(vm, "encode_npy", &args[0], &o))
    return false;
  o.file = tl_writer_to(vm, "encode_npy", &bytes);
  bool ok = write_array(&o) && tl_bytes_give(vm, bytes.data, bytes.nbytes, out);
  tl_bytes_free(vm, &bytes);
  return ok;
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_io_npy_module[] = {
    /// The array in a file of NumPy's format .npy (versions 1 to 3, any byte
    /// order; a file in Fortran's order gives a transposed view). A structured
    /// dtype gives a struct array in the layout of the file (with fields of U, of
    /// columns), U gives strings, S and V give bytes.
    /// A file that cannot be read is an error (kind io), a damaged one another
    /// (value).
    ///     io.read_npy("weights.npy")
    {"read_npy", "path", read_npy, TL_FILES | TL_EFFECT, .types = "p"},
    /// Writes an array to a file of NumPy's format .npy, which is replaced when
    /// all of it is written. A struct array of numbers is written in its layout,
    /// strings as U of the longest one's length, also among fields.
    /// A file that cannot be written is an error (kind io), what is no array of
    /// numbers, bools, strings or bytes another (type).
    ///     io.write_npy("weights.npy", zeros((3, 4)))
    {"write_npy", "path, x", write_npy, TL_FILES | TL_EFFECT, .types = "p"},
    /// The array in the bytes (an array of uint8) of a .npy file; name stands
    /// for the file's in messages. Errors as in read_npy.
    /// Values other than bytes are an error (kind type), such as are no file of
    /// the format another (value).
    ///     io.decode_npy(io.encode_npy([1, 2]))    # [1, 2]
    {"decode_npy", "data, name = \"the data\"", decode_npy, .types = "mS"},
    /// The bytes of a .npy file of an array: an array of uint8.
    /// Values other than arrays are an error (kind type).
    ///     char(io.encode_npy([1, 2])[1:6])    # "NUMPY"
    {"encode_npy", "x", encode_npy, .takes = TL_FORMS},
    {.name = NULL},
};
