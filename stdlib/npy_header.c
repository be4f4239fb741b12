// What stands before the items of a .npy file. See npy_header.h.
//
//
//   \x93NUMPY  1 0  118 0  {'descr': '<f8', 'fortran_order': False, …}\n
//   magic      |    |      the dict, blanks up to a multiple of 64 bytes
//              |    its length, 2 bytes, from version 2 on 4, little-endian
//              version

#include "stdlib/npy_header.h"

#include <ctype.h>
#include <stdlib.h>

enum {
  MOST_HEADER = 1 << 20  // bytes; NumPy's own are below 200
};

const char tl_npy_magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

// --- The header -------------------------------------------------------------

typedef tl_npy_source header;

// Always false, after a message with the function and the file.
static bool npy_fail(const header *h, const char *message) {
  return tl_fail(h->vm, TALLY_ERR_VALUE, "%s: \"%s\" is no valid .npy file: %s",
                 h->what, h->path, message);
}

// Goes past blanks and a word if that comes next. Text ends at h->end, not with
// a NUL, so lengths are compared first.
static bool accept_word(header *h, const char *word) {
  size_t nbytes = strlen(word);
  while (h->at < h->end && isspace((unsigned char)*h->at)) h->at++;
  if ((size_t)(h->end - h->at) < nbytes || memcmp(h->at, word, nbytes) != 0)
    return false;
  h->at += nbytes;
  return true;
}

// A tuple such as (), (3,) or (3, 4). A comma may lack at the end only.
static bool read_shape(header *h, tl_npy *out) {
  out->ndim = 0;
  if (!tl_npy_accept(h, '('))
    return npy_fail(h, "its shape is no tuple");
  while (!tl_npy_accept(h, ')')) {
    if (out->ndim == TL_MAX_DIMS)
      return npy_fail(h, "it has too many axes");
    if (!tl_npy_read_length(h, &out->shape[out->ndim++]))
      return npy_fail(h, "a length in its shape is no number from 0 to 2^63");
    accept_word(h, "L");  // Python 2 wrote long integers so
    if (!tl_npy_accept(h, ',') && h->at < h->end && *h->at != ')')
      return npy_fail(h, "its shape is no tuple");
  }
  return true;
}

// Either a list of fields, which makes structs, or a string: byte order,
// letter, item size. Letters without a dtype of Tally's fail with kind type, so
// that a reader can tell them from a file that is broken.
static bool read_descr(header *h, tl_npy *out) {
  char text[32];
  if (tl_npy_accept(h, '[')) {
    out->dtype = TL_UINT8;
    out->layout = tl_npy_read_fields(h, &out->swapped, &out->texts);
    return out->layout != NULL;
  }
  if (!tl_npy_read_quoted(h, text, sizeof text) || strlen(text) < 3)
    return npy_fail(h, "it has no descr");
  if (!strchr("<>|=", text[0]))
    return npy_fail(h, "its byte order is unknown");
  char *rest;
  long size = strtol(text + 2, &rest, 10);
  // A size that is none fits no dtype, and is reported with the whole text. So
  // is one whose bytes cannot be counted: a code point takes up to 8.
  if (*rest != 0 || size < 0 || size > INT64_MAX / 8)
    size = -1;
  out->swapped = text[0] != '|' && tl_npy_is_swapped(text[0]);
  if (strchr("USV", text[1]) != NULL && size >= 0) {
    out->dtype = TL_STRING;
    out->width = size;
    out->letter = text[1];
    return true;
  }
  out->dtype = tl_npy_dtype(text[1], size);
  if (out->dtype != TL_DTYPE_COUNT)
    return true;
  return tl_fail(h->vm, TALLY_ERR_TYPE,
                 "%s: \"%s\" has items of type \"%s\", which Tally does not "
                 "have",
                 h->what, h->path, text);
}

// A Python dict with exactly the three keys of the format, in any order; the
// bits of [seen] say which were there.
static bool read_dict(header *h, tl_npy *out) {
  unsigned seen = 0;
  if (!tl_npy_accept(h, '{'))
    return npy_fail(h, "its header is no dict");
  while (!tl_npy_accept(h, '}')) {
    char key[32];
    if (!tl_npy_read_quoted(h, key, sizeof key) || !tl_npy_accept(h, ':'))
      return npy_fail(h, "its header is no dict");
    if (strcmp(key, "descr") == 0) {
      if (!read_descr(h, out))
        return false;
      seen |= 1;
    } else if (strcmp(key, "fortran_order") == 0) {
      out->fortran = accept_word(h, "True");
      if (!out->fortran && !accept_word(h, "False"))
        return npy_fail(h, "its fortran_order is neither True nor False");
      seen |= 2;
    } else if (strcmp(key, "shape") == 0) {
      if (!read_shape(h, out))
        return false;
      seen |= 4;
    } else {
      return npy_fail(h, "its header has an unknown key");
    }
    tl_npy_accept(h, ',');
  }
  return seen == 7 ||
         npy_fail(h, "its header lacks descr, fortran_order or shape");
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
  header h = {.vm = reader->vm, .what = reader->what, .path = reader->path};
  // A pipe has no size against which lengths could be checked.
  if (reader->size < 0)
    return tl_fail(h.vm, TALLY_ERR_IO, "%s: \"%s\" is no regular file", h.what,
                   h.path);
  if (reader->size < TL_NPY_PREFIX + 2 ||
      !tl_npy_read_exactly(reader, start, TL_NPY_PREFIX + 2) ||
      memcmp(start, tl_npy_magic, sizeof tl_npy_magic) != 0)
    return tl_failed(h.vm) ? false : npy_fail(&h, "it does not begin as one");
  int version = start[6];
  if (version < 1 || version > 3)
    return npy_fail(&h, "its version is not 1, 2 or 3");
  size_t nbytes = start[8] | (size_t)start[9] << 8, front = TL_NPY_PREFIX + 2;
  if (version > 1) {
    if (!tl_npy_read_exactly(reader, start + front, 2))
      return false;
    nbytes |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    front += 2;
  }
  // Both before anything of that length is allocated.
  if (nbytes > MOST_HEADER)
    return npy_fail(&h, "its header is too long");
  if (nbytes > (uint64_t)reader->size - front)
    return npy_fail(&h, "its header is longer than the file");
  *left = (uint64_t)reader->size - front - nbytes;
  char *text = tl_alloc(h.vm, nbytes + 1, "a header");
  if (!text)
    return false;
  h.at = text;
  h.end = text + nbytes;
  bool ok = tl_npy_read_exactly(reader, text, nbytes) && read_dict(&h, out);
  tl_free(h.vm, text, nbytes + 1);
  return ok;
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
