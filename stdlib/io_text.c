// Files of text, read and written whole.
//
// What is read may be compressed and must be UTF-8, so that every string of a
// script is; io_open.c has files that are walked line by line. A file is
// written to another name first and renamed when it is complete, so a failure
// leaves the old one (vm/io.h).

#include <string.h>

#include "stdlib/arguments.h"
#include "stdlib/compress.h"
#include "stdlib/families.h"
#include "stdlib/text.h"
#include "vm/io.h"
#include "vm/values/list.h"
#include "vm/vm.h"

// U+FEFF in UTF-8, which some editors write in front.
static const char bom[3] = {'\xef', '\xbb', '\xbf'};

// Fails (kind value) where the file is no UTF-8, at the first wrong byte.
static bool check_text(tl_vm *vm, const char *function, const char *path,
                       const char *text, size_t nbytes) {
  size_t at;
  if (tl_utf8_check(text, nbytes, &at))
    return true;
  return tl_fail(vm, TALLY_ERR_VALUE,
                 "%s: \"%s\" is no UTF-8 text: malformed "
                 "at byte %zu",
                 function, path, at);
}

// The whole text of a file, checked and without a byte order mark. *out is to
// be freed; *text points into it.
static bool text_of(tl_vm *vm, const char *function, tl_slot name,
                    tl_bytes *out, char **text, size_t *nbytes) {
  const char *path;
  if (!tl_arg_path(vm, function, name, &path) ||
      !tl_io_read_expanded(vm, function, path, out))
    return false;
  *text = out->data;
  *nbytes = out->nbytes;
  if (*nbytes >= sizeof bom && memcmp(*text, bom, sizeof bom) == 0) {
    *text += sizeof bom;
    *nbytes -= sizeof bom;
  }
  if (check_text(vm, function, path, out->data, out->nbytes))
    return true;
  tl_bytes_free(vm, out);
  return false;
}

// io.read_text(path).
static bool read_text(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_bytes bytes;
  char *text;
  size_t nbytes;
  if (!text_of(vm, "read_text", args[0], &bytes, &text, &nbytes))
    return false;
  tl_string *string = tl_string_new(vm, text, nbytes);
  tl_bytes_free(vm, &bytes);
  return tl_string_give(string, out);
}

// Ends a line at \n, \r\n or a lone \r. Returns where the next one begins.
// *next is the place behind the next \n, which is looked for once however many
// \r come before it.
static size_t line_end(const char *text, size_t nbytes, size_t from,
                       size_t *next, size_t *end) {
  // The \n found last is behind this place still, unless a line went past it.
  if (*next <= from) {
    const char *newline = memchr(text + from, '\n', nbytes - from);
    *next = (newline != NULL ? (size_t)(newline - text) : nbytes) + 1;
  }
  size_t at = *next - 1;
  const char *lone = memchr(text + from, '\r', at - from);
  if (lone != NULL)
    at = (size_t)(lone - text);
  *end = at;
  // \r\n is one end.
  if (at + 1 < nbytes && text[at] == '\r' && text[at + 1] == '\n')
    at++;
  return at < nbytes ? at + 1 : at;
}

// Appends the lines to *list, polling now and then.
static bool split_lines(tl_vm *vm, const char *text, size_t nbytes,
                        tl_list **list) {
  size_t next = 0;
  for (size_t at = 0, turns = 0; at < nbytes; turns++) {
    size_t end, start = at;
    at = line_end(text, nbytes, at, &next, &end);
    if (turns % 1024 == 1023 && !tl_poll(vm, 1))
      return false;
    if (!tl_list_push_text(vm, list, text + start, end - start))
      return false;
  }
  return true;
}

// io.lines(path).
static bool lines(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_bytes bytes;
  char *text;
  size_t nbytes;
  if (!text_of(vm, "lines", args[0], &bytes, &text, &nbytes))
    return false;
  tl_list *list = tl_list_new(vm, 0);
  bool ok = list && split_lines(vm, text, nbytes, &list);
  tl_bytes_free(vm, &bytes);
  return tl_list_give(vm, list, ok, out);
}

// The two arguments of the functions that write.
static bool path_and_text(tl_vm *vm, const char *function, tl_slot *args,
                          const char **path, tl_string **text) {
  return tl_arg_path(vm, function, args[0], path) &&
         tl_arg_string(vm, function, "text", args[1], text);
}

// io.write_text(path, text): the file is replaced when all is written.
static bool write_text(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const char *path;
  tl_string *text;
  *out = tl_none();
  return path_and_text(vm, "write_text", args, &path, &text) &&
         tl_io_write_packed(vm, "write_text", path, text->text, text->length);
}

// io.append_text(path, text).
static bool append_text(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const char *path;
  tl_string *text;
  *out = tl_none();
  return path_and_text(vm, "append_text", args, &path, &text) &&
         tl_io_append(vm, "append_text", path, text->text, text->length);
}

// Reading is an effect too: a file may change between two calls.
const tl_builtin tl_io_text_module[] = {
    /// The whole text of a file, which must be UTF-8; a byte order mark is left
    /// out. Compressed files (gzip, Zstandard) are expanded. Another file is a
    /// value error that gives the byte; /dev/stdin reads a pipe.
    ///     io.read_text("notes.txt")
    {"read_text", "path", read_text, TL_FILES | TL_EFFECT},
    /// The list of a text file's lines, without their ends.
    /// A file that cannot be read is an error (kind io), one that is not UTF-8
    /// another (value); /dev/stdin reads standard input.
    ///     io.lines("notes.txt")
    {"lines", "path", lines, TL_FILES | TL_EFFECT},
    /// Writes a text to a file, which is replaced when all of it is written: a
    /// failure leaves the old one. The mode stays, but for the right to run as
    /// its owner or group, and the owner where the system allows it. A name that
    /// ends in .gz or .zst compresses it.
    /// A file that cannot be written is an error (kind io).
    ///     io.write_text("notes.txt", "one\ntwo\n")
    {"write_text", "path, text", write_text, TL_FILES | TL_EFFECT},
    /// Writes a text behind what a file holds, as it is: nothing is compressed.
    /// The file is made if there is none. A file that cannot be written is an io
    /// error, what is no string a type error.
    ///     io.append_text("log.txt", "done\n")
    {"append_text", "path, text", append_text, TL_FILES | TL_EFFECT},
    {.name = NULL},
};
