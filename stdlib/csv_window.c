// A file of text a window at a time: see csv_window.h.

#include "stdlib/csv_window.h"

#include "stdlib/compress.h"
#include "vm/vm.h"

// Bytes that the window shows, without the NUL.
static size_t size_of(const tl_csv_window *w) {
  return (size_t)(w->end - w->begin);
}

// Puts the NUL's byte back.
static void uncover(tl_csv_window *w) {
  if (w->end != NULL)
    *w->end = w->behind;
}

// --- Reading ----------------------------------------------------------------

// Two bytes more than asked for: one that shows whether there is more, one for
// the NUL.
static bool reserve(tl_csv_window *w, size_t nbytes) {
  tl_reader *r = &w->reader;
  size_t capacity;
  if (tl_add_overflows(nbytes, 2, &capacity))
    return tl_fail_memory(r->vm, SIZE_MAX, r->path);
  if (capacity <= w->bytes.capacity)
    return true;
  char *data =
      tl_realloc(r->vm, w->bytes.data, w->bytes.capacity, capacity, r->path);
  if (data == NULL)
    return false;
  w->bytes.data = data;
  w->bytes.capacity = capacity;
  return true;
}

// Reads on until [nbytes] and one more are there, which shows that there is
// more, or the file ends.
static bool read_on(tl_csv_window *w, size_t nbytes, bool *ended) {
  tl_bytes *bytes = &w->bytes;
  size_t got;
  *ended = false;
  if (bytes->nbytes > nbytes)
    return true;
  if (!reserve(w, nbytes) ||
      !tl_reader_read(&w->reader, bytes->data + bytes->nbytes,
                      nbytes + 1 - bytes->nbytes, &got))
    return false;
  bytes->nbytes += got;
  *ended = bytes->nbytes <= nbytes;
  return true;
}

// Twice as much each time, so that copying stays linear. The file is closed
// then.
static bool read_all(tl_csv_window *w) {
  bool ended = false;
  while (!ended)
    if (!read_on(w, 2 * w->bytes.nbytes + 4096, &ended))
      return false;
  w->held = true;
  tl_reader_close(&w->reader);
  w->bytes.data[w->bytes.nbytes] = 0;
  return true;
}

// --- Lines ------------------------------------------------------------------

// Behind the last line that ends before [end]; [begin] if none does, NULL after
// tl_fail. What follows a \r at the very end is not known.
static char *last_line_end(tl_vm *vm, char *begin, char *end) {
  for (char *at = end; at > begin; at--) {
    if (at[-1] == '\n' || (at[-1] == '\r' && at < end && *at != '\n'))
      return at;
    if ((end - at) % (1 << 20) == (1 << 20) - 1 && !tl_poll(vm, 1))
      return NULL;
  }
  return begin;
}

// Shows the lines that end within the first [want] bytes from [at] on, or as
// many more as one line takes.
static bool show(tl_csv_window *w, size_t at, size_t want) {
  tl_bytes *bytes = &w->bytes;
  for (;;) {
    bool ended = true;
    if (!w->held && !read_on(w, at + want, &ended))
      return false;
    size_t left = bytes->nbytes - at;
    w->last = ended && left <= want;
    w->begin = bytes->data + at;
    w->end = w->begin + (left < want ? left : want);
    if (!w->last)
      w->end = last_line_end(w->reader.vm, w->begin, w->end);
    if (w->end == NULL)
      return false;
    if (w->last || w->end > w->begin)
      break;
    w->end = NULL;
    if (tl_mul_overflows(want, 2, &want))
      return tl_fail_memory(w->reader.vm, SIZE_MAX, w->reader.path);
  }
  w->behind = *w->end;
  *w->end = 0;
  // Windows end at lines, so no code point lies across two of them.
  return tl_io_check_text(w->reader.vm, w->reader.what, w->reader.path,
                          w->offset, w->begin, size_of(w));
}

// --- Windows ----------------------------------------------------------------

// A file whose size is known is read as a whole if it is smaller than a window;
// what has no size (a pipe) or is compressed cannot be sought in, and is read
// whole.
bool tl_csv_window_open(tl_vm *vm, const char *what, const char *path,
                        size_t step, tl_csv_window *out) {
  tl_packing packing;
  bool ended;
  *out = (tl_csv_window){.reader = {.fd = -1}, .step = step};
  if (!tl_reader_open(vm, what, path, &out->reader))
    return false;
  const int64_t size = out->reader.size;
  const size_t first = size > 0 && (uint64_t)size < step ? (size_t)size : step;
  if (!read_on(out, first, &ended))
    return false;
  bool packed = tl_is_packed(out->bytes.data, out->bytes.nbytes, &packing);
  if ((size < 0 || packed) && !read_all(out))
    return false;
  if (packed && !tl_expand_text(vm, what, path, &out->bytes))
    return false;
  out->size = out->held ? (int64_t)out->bytes.nbytes : size;
  return show(out, 0, first);
}

// What lies before [at] is given back: the rest moves to the front of the
// memory, which is little, as a window mostly ends within a line.
bool tl_csv_window_next(tl_csv_window *w, const char *at) {
  size_t passed = (size_t)(at - w->begin), shown = size_of(w);
  size_t from = (size_t)(at - w->bytes.data), want = w->step;
  uncover(w);
  w->end = NULL;
  w->offset += (int64_t)passed;
  if (passed == 0 && tl_mul_overflows(shown, 2, &want))
    return tl_fail_memory(w->reader.vm, SIZE_MAX, w->reader.path);
  if (want < w->step)
    want = w->step;
  if (!w->held && from > 0) {
    w->bytes.nbytes -= from;
    memmove(w->bytes.data, w->bytes.data + from, w->bytes.nbytes);
    from = 0;
  }
  return show(w, from, want);
}

// Of a whole text nothing moves; a file is read again from there.
bool tl_csv_window_seek(tl_csv_window *w, int64_t offset) {
  uncover(w);
  w->end = NULL;
  w->offset = offset;
  if (w->held)
    return show(w, (size_t)offset, w->step);
  w->bytes.nbytes = 0;
  return tl_reader_seek(&w->reader, offset) && show(w, 0, w->step);
}

// Also of a window that did not open: its file is -1 and its memory NULL.
void tl_csv_window_close(tl_csv_window *w) {
  tl_reader_close(&w->reader);
  tl_bytes_free(w->reader.vm, &w->bytes);
}
