// Files of text, read and written whole.
//
// What is read may be compressed and must be UTF-8, so that every string of a
// script is; io_open.c has files that are walked line by line. A file is
// written to another name first and renamed when it is complete, so a failure
// leaves the old one (vm/io.h).

#include "stdlib/compress.h"
#include "stdlib/families.h"

// U+FEFF in UTF-8, which some editors write in front.
static const char bom[3] = {'\xef', '\xbb', '\xbf'};

// io.read_text(path): checked, and without a byte order mark.
static bool read_text(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const char *path = tl_file_path(args[0]);
  tl_bytes bytes;
  if (!tl_io_read_expanded(vm, "read_text", path, &bytes))
    return false;
  const bool marked =
      bytes.nbytes >= sizeof bom && memcmp(bytes.data, bom, sizeof bom) == 0;
  const size_t skipped = marked ? sizeof bom : 0;
  tl_string *string = NULL;
  if (tl_io_check_text(vm, "read_text", path, 0, bytes.data, bytes.nbytes))
    string = tl_string_new(vm, bytes.data + skipped, bytes.nbytes - skipped);
  tl_bytes_free(vm, &bytes);
  return tl_string_give(string, out);
}

// io.write_text(path, text): the file is replaced when all is written.
static bool write_text(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const tl_string *text = args[1].string;
  *out = tl_none();
  return tl_io_write_packed(vm, "write_text", tl_file_path(args[0]), text->text,
                            text->length);
}

// io.append_text(path, text).
static bool append_text(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const tl_string *text = args[1].string;
  *out = tl_none();
  return tl_io_append(vm, "append_text", tl_file_path(args[0]), text->text,
                      text->length);
}

// Reading is an effect too: a file may change between two calls.
const tl_builtin tl_io_text_module[] = {
    /// The whole text of a file, which must be UTF-8; a byte order mark is left
    /// out. Compressed files (gzip, Zstandard) are expanded. Another file is a
    /// value error that gives the byte; /dev/stdin reads a pipe.
    ///     io.read_text("notes.txt")
    {"read_text", "path", read_text, TL_FILES | TL_EFFECT, .types = "p"},
    /// Writes a text to a file, which is replaced when all of it is written: a
    /// failure leaves the old one. The mode stays, but for the right to run as
    /// its owner or group, and the owner where the system allows it. A name that
    /// ends in .gz or .zst compresses it.
    /// A file that cannot be written is an error (kind io).
    ///     io.write_text("notes.txt", "one\ntwo\n")
    {"write_text", "path, text", write_text, TL_FILES | TL_EFFECT,
     .types = "ps"},
    /// Writes a text behind what a file holds, as it is: nothing is compressed.
    /// The file is made if there is none. A file that cannot be written is an io
    /// error, what is no string a type error.
    ///     io.append_text("log.txt", "done\n")
    {"append_text", "path, text", append_text, TL_FILES | TL_EFFECT,
     .types = "ps"},
    {.name = NULL},
};
