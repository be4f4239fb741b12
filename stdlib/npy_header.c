// What stands before the items of a .npy file. See npy_header.h.
//
//
//   \x93NUMPY  1 0  118 0  {'descr': '<f8', 'fortran_order': False, …}\n
//   magic      |    |      the dict, blanks up to a multiple of 64 bytes
//              |    its length, 2 bytes, from version 2 on 4, little-endian
//              version

#include "stdlib/npy_header.h"

#include "vm/bytecode/module.h"

enum {
  MOST_HEADER = 1 << 20  // bytes; NumPy's own are below 200
};

const char tl_npy_magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

// Always false, after a message with the function and the file.
static bool npy_fail(const tl_reader *r, const char *message) {
  return tl_fail(r->vm, TALLY_ERR_VALUE, "%s: \"%s\" is no valid .npy file: %s",
                 r->what, r->path, message);
}

// What inner/npy.tly has found in the header's dict.
static bool set_header(tl_vm *vm, const tl_slot *found, tl_npy *out) {
  const tl_list *fields = found[3].list, *shape = found[6].list;
  out->letter = found[0].string->text[0];
  out->swapped = found[2].i != 0;
  out->fortran = found[5].i != 0;
  out->ndim = (int)shape->length;
  for (int i = 0; i < out->ndim; i++) out->shape[i] = shape->items[i].i;
  if (fields->length > 0) {
    out->dtype = TL_UINT8;
    out->layout = tl_npy_layout(vm, fields, found[4].i, &out->texts);
    return out->layout != NULL;
  }
  const bool is_text = strchr("USV", out->letter) != NULL;
  out->width = is_text ? found[1].i : 0;
  out->dtype =
      is_text ? TL_STRING : tl_npy_dtype(out->letter, (long)found[1].i);
  return true;
}

// Takes over the header's text, a vector of bytes.
static bool read_dict(const tl_reader *r, tl_array *text, tl_npy *out) {
  tl_vm *vm = r->vm;
  tl_slot given[] = {tl_none(), tl_none(), tl_own_array(text),
                     tl_letter_slot(tl_is_big_endian() ? '<' : '>')};
  tl_slot found;
  if (!tl_string_give(tl_string_from(vm, r->what), &given[0]) ||
      !tl_string_give(tl_string_from(vm, r->path), &given[1])) {
    for (int i = 0; i < 3; i++) tl_clear(vm, &given[i]);
    return false;
  }
  if (!tl_call_embedded(vm, "inner/npy", "header", 4, given, &found)) {
    vm->error.named = false;
    return false;
  }
  const bool ok = set_header(vm, found.list->items, out);
  tl_drop(vm, found);
  return ok;
}

// A file may become shorter while it is read, so this is checked although sizes
// were compared before.
bool tl_npy_read_exactly(tl_reader *reader, void *to, size_t nbytes) {
  size_t got;
  if (!tl_reader_read(reader, to, nbytes, &got))
    return false;
  if (got == nbytes)
    return true;
  return tl_fail(reader->vm, TALLY_ERR_IO,
                 "%s: \"%s\" ends early: %zu bytes are missing", reader->what,
                 reader->path, nbytes - got);
}

// Reads up to where the items begin; [left] is what the file holds behind.
bool tl_npy_read_header(tl_reader *reader, tl_npy *out, uint64_t *left) {
  unsigned char start[TL_NPY_PREFIX + 4];
  tl_vm *vm = reader->vm;
  // A pipe has no size against which lengths could be checked.
  if (reader->size < 0)
    return tl_fail(vm, TALLY_ERR_IO, "%s: \"%s\" is no regular file",
                   reader->what, reader->path);
  if (reader->size < TL_NPY_PREFIX + 2 ||
      !tl_npy_read_exactly(reader, start, TL_NPY_PREFIX + 2) ||
      memcmp(start, tl_npy_magic, sizeof tl_npy_magic) != 0)
    return tl_failed(vm) ? false : npy_fail(reader, "it does not begin as one");
  int version = start[6];
  if (version < 1 || version > 3)
    return npy_fail(reader, "its version is not 1, 2 or 3");
  size_t nbytes = start[8] | (size_t)start[9] << 8, front = TL_NPY_PREFIX + 2;
  if (version > 1) {
    if (!tl_npy_read_exactly(reader, start + front, 2))
      return false;
    nbytes |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    front += 2;
  }
  // Both before anything of that length is allocated.
  if (nbytes > MOST_HEADER)
    return npy_fail(reader, "its header is too long");
  if (nbytes > (uint64_t)reader->size - front)
    return npy_fail(reader, "its header is longer than the file");
  *left = (uint64_t)reader->size - front - nbytes;
  const int64_t length = (int64_t)nbytes;
  tl_array *text = tl_array_new(vm, TL_UINT8, 1, &length);
  if (text == NULL || !tl_npy_read_exactly(reader, text->data, nbytes)) {
    tl_array_drop(vm, text);
    return false;
  }
  return read_dict(reader, text, out);
}

// Checks that the file holds as many items as its shape says.
bool tl_npy_check_size(tl_reader *reader, const tl_npy *from, uint64_t left) {
  int64_t size;
  size_t nbytes,
      itemsize = from->layout != NULL       ? (size_t)from->layout->itemsize
                 : from->dtype == TL_STRING ? tl_npy_width(from)
                                            : tl_itemsize(from->dtype);
  if (!tl_shape_size(reader->vm, from->ndim, from->shape,
                     itemsize ? itemsize : 1, &size, &nbytes))
    return false;
  // Items of no bytes: their number alone could exhaust memory.
  if (itemsize == 0 && size > 0 && (uint64_t)size > left + (1 << 20))
    return tl_fail(reader->vm, TALLY_ERR_VALUE,
                   "%s: \"%s\" has %lld empty strings", reader->what,
                   reader->path, (long long)size);
  if (itemsize == 0 || nbytes <= left)
    return true;
  return tl_fail(reader->vm, TALLY_ERR_IO,
                 "%s: \"%s\" ends early: its shape needs %zu bytes of items, "
                 "the file has %llu",
                 reader->what, reader->path, nbytes, (unsigned long long)left);
}
