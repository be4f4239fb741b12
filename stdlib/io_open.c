// Text files that are walked line by line: `for line in io.open(path)`.

#include <string.h>

#include "stdlib/arguments.h"
#include "stdlib/compress.h"
#include "stdlib/families.h"
#include "vm/api/host.h"
#include "vm/io.h"
#include "vm/vm.h"

enum { PIECE = 1 << 16 };

// An open file; [start, end) of the buffer is read and not given out yet.
typedef struct line_file {
  tl_vm *vm;
  tl_string *name;  // counted
  tl_reader reader;
  char *buffer;
  size_t capacity, start, end;
  size_t searched;  // no line ends before it
  int64_t line;     // given out so far
  bool began, ended;
} line_file;

static void close_file(void *context, void *object) {
  (void)context;
  line_file *f = object;
  tl_vm *vm = f->vm;
  tl_reader_close(&f->reader);
  if (f->buffer)
    tl_free(vm, f->buffer, f->capacity);
  tl_drop(vm, tl_own_string(f->name));
  tl_free(vm, f, sizeof *f);
}

static const tally_resource file_type = {
    .size = sizeof(tally_resource),
    .name = "file",
    .doc = "A text file that for walks line by line.",
    .release = close_file,
};

// Reads a piece; what is not given out moves to the front, and grows if need
// be.
static bool read_piece(tl_vm *vm, line_file *f) {
  size_t left = f->end - f->start, got;
  if (left > 0)
    memmove(f->buffer, f->buffer + f->start, left);
  f->searched -= f->start;
  f->start = 0;
  f->end = left;
  if (f->capacity - left < PIECE) {
    size_t capacity = 2 * f->capacity;
    char *buffer = tl_realloc(vm, f->buffer, f->capacity, capacity, "a line");
    if (!buffer)
      return false;
    f->buffer = buffer;
    f->capacity = capacity;
  }
  if (!tl_poll(vm, PIECE / 1024) ||
      !tl_reader_read(&f->reader, f->buffer + left, PIECE, &got))
    return false;
  f->end += got;
  f->ended = got == 0;
  return true;
}

// The second byte of packed data begins no code point, so that no text is
// taken for one.
static bool may_be_packed(const line_file *f) {
  const unsigned char *start = (const unsigned char *)f->buffer;
  return f->end >= 2 && ((start[0] == 0x1f && start[1] == 0x8b) ||
                         (start[0] == 0x28 && start[1] == 0xb5));
}

static bool expand(tl_vm *vm, line_file *f) {
  while (!f->ended)
    if (!read_piece(vm, f))
      return false;
  tl_bytes text = {f->buffer, f->end, f->capacity};
  bool ok = tl_expand_text(vm, "open", f->name->text, &text);
  f->buffer = text.data;
  f->end = text.nbytes;
  f->capacity = text.capacity;  // all 0 after a failure: nothing is left
  return ok;
}

static bool read_more(tl_vm *vm, line_file *f) {
  bool is_first = !f->began;
  f->began = true;
  return read_piece(vm, f) && (!is_first || !may_be_packed(f) || expand(vm, f));
}

// Where the next line ends: at its \n, or the end of the file.
static bool find_end(tl_vm *vm, line_file *f, size_t *out) {
  for (;;) {
    const char *at = f->searched == f->end ? NULL
                                           : memchr(f->buffer + f->searched,
                                                    '\n', f->end - f->searched);
    f->searched = at ? (size_t)(at - f->buffer) : f->end;
    *out = f->searched;
    if (at || f->ended)
      return true;
    if (!read_more(vm, f))
      return false;
  }
}

static bool has_line(tl_vm *vm, void *object, bool *more) {
  line_file *f = object;
  size_t end;
  if (!find_end(vm, f, &end))
    return false;
  *more = f->start < f->end;
  return true;
}

static bool next_line(tl_vm *vm, void *object, tl_slot *out) {
  line_file *f = object;
  size_t end, bad;
  if (!find_end(vm, f, &end))
    return false;
  const char *text = f->buffer + f->start;
  size_t length = end - f->start;
  if (length > 0 && text[length - 1] == '\r')
    length--;
  if (f->line++ == 0 && length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
    text += 3, length -= 3;
  if (!tl_utf8_check(text, length, &bad))
    return tl_fail(
        vm, TALLY_ERR_VALUE,
        "io.open: \"%s\", line %lld: no UTF-8 text: malformed at its "
        "byte %zu",
        f->name->text, (long long)f->line, bad);
  tl_string *string = tl_string_new(vm, text, length);
  if (!string)
    return false;
  f->start = f->searched = end < f->end ? end + 1 : end;
  *out = tl_own_string(string);
  return true;
}

static const tl_walked lines = {has_line, next_line};

static bool open_file(tl_vm *vm, const char *path, line_file **out) {
  line_file *f = tl_alloc(vm, sizeof *f, "a file");
  if (!f)
    return false;
  *f = (line_file){.vm = vm, .capacity = 2 * PIECE};
  f->buffer = tl_alloc(vm, f->capacity, "a file");
  f->name = f->buffer ? tl_string_new(vm, path, strlen(path)) : NULL;
  if (f->name && tl_reader_open(vm, "open", f->name->text, &f->reader)) {
    *out = f;
    return true;
  }
  if (f->name)
    tl_drop(vm, tl_own_string(f->name));
  if (f->buffer)
    tl_free(vm, f->buffer, f->capacity);
  tl_free(vm, f, sizeof *f);
  return false;
}

static bool open(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_string *name;
  line_file *f;
  if (!tl_arg_string(vm, "open", "path", args[0], &name))
    return false;
  const char *path = tl_io_path(vm, "open", name);
  if (!path || !open_file(vm, path, &f))
    return false;
  tl_resource *resource =
      tl_object_new(vm, TL_KIND_HANDLE, sizeof *resource, "a file");
  if (!resource) {
    close_file(NULL, f);
    return false;
  }
  resource->type = &file_type;
  resource->object = f;
  resource->nbytes = 0;
  resource->walked = &lines;
  *out = (tl_slot){.tag = TL_TAG_HANDLE | TL_OWNED, .pointer = resource};
  return true;
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_io_open_module[] = {
    {"open", "path", open, TL_FILES | TL_EFFECT,
     TL_DOC(
         "A text file, or a pipe, whose lines for walks one by one, without their\n"
         "ends: no more than a piece and a line of it is in memory. Each line is\n"
         "given once; the file is closed with its last use. What is compressed (gzip,\n"
         "Zstandard) is expanded, whole, when the first line is asked for. A file\n"
         "that cannot be read is an io error, a line that is no UTF-8 or damaged\n"
         "compressed data a value error.\n"
         "    for line in io.open(\"log.txt\") { print(line) }\n")},
    {NULL, NULL, NULL, 0, NULL},
};
