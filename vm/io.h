// The door to files: nothing else opens, reads or writes one.
//
// [what] names who asks, for messages ("read_csv"); it needs TALLY_MAY_FILES.
// NULL: the host itself asks, and no capability is needed. Every failure of the
// system is kind io and gives the file's name and the system's reason.
//
//     whole file     tl_io_read ─▶ tl_bytes                 tl_bytes_free
//     in pieces      tl_reader_open, _read …, _close
//     standard input tl_input_line, shared with readers of /dev/stdin
//     writing        tl_writer_open, _write …, _commit      or _abandon
//                      .tally-123-0.tmp ── fsync, rename ──▶ the file, whole
#pragma once

#include "vm/memory/memory.h"

// The path in a string, borrowed from it; NULL after tl_fail (kind value) where
// it is empty or contains a NUL byte.
const char *tl_io_path(tl_vm *vm, const char *what, const tl_string *path);
// What the system calls an errno: written into [text], or static.
const char *tl_io_reason(int error, char *text, size_t nbytes);

// --- Reading ----------------------------------------------------------------

// A file's bytes, followed by a NUL that nbytes leaves out. Owned by whoever
// has the struct; tl_bytes_free ends it.
typedef struct tl_bytes {
  char *data;
  size_t nbytes;
  size_t capacity;  // of the allocation
} tl_bytes;

// Reads a whole file into *out. The memory limit bounds its size. False after
// tl_fail, with nothing to free.
bool tl_io_read(tl_vm *vm, const char *what, const char *path, tl_bytes *out);
// Frees the bytes and leaves the struct empty.
void tl_bytes_free(tl_vm *vm, tl_bytes *bytes);

// A file that is read in pieces, or bytes in memory that are read as if they
// were one.
typedef struct tl_reader {
  tl_vm *vm;
  const char *what, *path;  // borrowed
  int fd;
  int64_t size;        // in bytes, of a regular file; else -1
  const char *memory;  // not NULL: no file, but these bytes, borrowed
  size_t at;
  bool is_input;  // standard input: what was read ahead of it comes first
} tl_reader;

// Opens a file for reading; folders are refused. False after tl_fail.
bool tl_reader_open(tl_vm *vm, const char *what, const char *path,
                    tl_reader *out);
// A reader of [data], which is borrowed, as if it were the file of that name.
tl_reader tl_reader_of(tl_vm *vm, const char *what, const char *path,
                       const void *data, size_t nbytes);
// Reads [nbytes], or what is left before the end: *got says how many. Polls
// between pieces. False after tl_fail.
bool tl_reader_read(tl_reader *reader, void *to, size_t nbytes, size_t *got);
// The next read begins at byte [offset] of a regular file.
bool tl_reader_seek(tl_reader *reader, int64_t offset);
// Closes the file; nothing is done if a mapping has taken the descriptor over.
void tl_reader_close(tl_reader *reader);

// The next line of standard input, without its end (\n or \r\n), for whoever
// asks: input(), io.stdin. Input is read ahead in pieces, which belong to the
// VM, so that each byte is given out once, here or to a reader of /dev/stdin.
// *text is borrowed until the next call; NULL: there are no more lines. False
// after tl_fail.
bool tl_input_line(tl_vm *vm, const char *what, const char **text,
                   size_t *nbytes);
// Sets *more to whether there is one more line: waits for it.
bool tl_input_more(tl_vm *vm, const char *what, bool *more);
// Frees what was read ahead, when the VM closes.
void tl_input_close(tl_vm *vm);

// Whether a regular file, a pipe or a device of that name is there. Needs no
// capability, for imports.
bool tl_io_exists(const char *path);

// --- Writing ----------------------------------------------------------------

// Small writes gather in a buffer of this size.
enum { TL_WRITER_BUFFER = 1 << 16 };

// A file that is written whole or not at all: to a temporary name in its
// folder, which takes the file's name when all of it is on the disk. A device
// or pipe is written directly; so are the process' own files by the names
// /dev/stdout, /dev/stderr and /dev/fd/N, whatever they lead to. What goes to
// standard output goes through the VM's write hook, in order with what is
// printed.
typedef struct tl_writer {
  tl_vm *vm;
  const char *what, *path;  // borrowed
  char *names;              // the true target's name, then the temporary one's
  size_t names_size;
  char *target, *temporary;  // into names; temporary NULL: written directly
  char *buffer;
  size_t used;
  int fd;
  tl_bytes *memory;  // not NULL: no file, but bytes added here
  bool is_output;    // no file, but the write hook
} tl_writer;

// Opens the file for writing; whoever reads the name still sees the old file.
// False after tl_fail.
bool tl_writer_open(tl_vm *vm, const char *what, const char *path,
                    tl_writer *out);
// A writer that appends to [memory], which is the caller's also after a
// failure; committing and abandoning do nothing.
tl_writer tl_writer_to(tl_vm *vm, const char *what, tl_bytes *memory);
// Writes through a buffer. False after tl_fail; the writer is then to be
// abandoned.
bool tl_writer_write(tl_writer *writer, const void *data, size_t nbytes);
// Makes what was written the file of that name. The writer is closed, on
// failure too: then the old file is untouched.
bool tl_writer_commit(tl_writer *writer);
// Gives the new file up: nothing of it remains. The writer is closed.
void tl_writer_abandon(tl_writer *writer);
// Commits where [ok], else abandons it and returns false.
static inline bool tl_writer_end(tl_writer *writer, bool ok) {
  if (ok)
    return tl_writer_commit(writer);
  tl_writer_abandon(writer);
  return false;
}

// Appends to a file, which is made if need be. If that fails, what was appended
// is taken back.
bool tl_io_append(tl_vm *vm, const char *what, const char *path,
                  const void *data, size_t nbytes);

// --- Tests ------------------------------------------------------------------

// For tests: asked before every call of the system ("open" "read" "seek"
// "write" "sync" "close" "rename"); an errno instead of 0 makes that call fail
// so.
typedef int tl_io_hook(void *context, const char *call);
// Installs the hook, one for the process; NULL: none.
void tl_io_inject(tl_io_hook *hook, void *context);
