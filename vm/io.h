// The door to files: nothing else opens, reads or writes one.
//
// [what] names who asks, for messages ("read_csv"); it needs TALLY_MAY_FILES.
// NULL: the host itself asks, and no capability is needed. Every failure of
// the system is kind io and gives the file's name and the system's reason.
#ifndef TALLY_VM_IO_H
#define TALLY_VM_IO_H

#include "vm/memory/memory.h"

// The path in a string; NULL (kind value) where it contains a NUL byte or is
// empty. Returns borrowed.
const char *tl_io_path(tl_vm *vm, const char *what, const tl_string *path);
// What the system calls an errno, in [text] or borrowed for ever.
const char *tl_io_reason(int error, char *text, size_t nbytes);

// --- Reading ----------------------------------------------------------------

// A file's bytes, followed by a NUL that nbytes leaves out.
typedef struct tl_bytes {
  char *data;
  size_t nbytes;
  size_t capacity;  // of the allocation
} tl_bytes;

// Reads a whole file. The memory cap bounds its size.
bool tl_io_read(tl_vm *vm, const char *what, const char *path, tl_bytes *out);
void tl_bytes_free(tl_vm *vm, tl_bytes *bytes);

// A file read piece by piece.
typedef struct tl_reader {
  tl_vm *vm;
  const char *what, *path;  // borrowed
  int fd;
  int64_t size;        // in bytes, of a regular file; else -1
  const char *memory;  // not NULL: no file, but these bytes, borrowed
  size_t at;
} tl_reader;

bool tl_reader_open(tl_vm *vm, const char *what, const char *path,
                    tl_reader *out);
// Reads from memory as if it were the file of that name.
tl_reader tl_reader_of(tl_vm *vm, const char *what, const char *path,
                       const void *data, size_t nbytes);
// Reads [nbytes], or what is left before the end: *got says how many.
bool tl_reader_read(tl_reader *reader, void *to, size_t nbytes, size_t *got);
// What is read next is at that byte of a regular file.
bool tl_reader_seek(tl_reader *reader, int64_t offset);
void tl_reader_close(tl_reader *reader);

// Whether a regular file (or a pipe or device) of that name is there; asks no
// capability, for imports.
bool tl_io_exists(const char *path);

// --- Writing ----------------------------------------------------------------

enum { TL_WRITER_BUFFER = 1 << 16 };

// Writes a file whole or not at all: to a temporary name in its folder, which
// takes the file's name when all of it is on the disk. A device or pipe is
// written as it is.
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
} tl_writer;

bool tl_writer_open(tl_vm *vm, const char *what, const char *path,
                    tl_writer *out);
// Writes to [memory], which is the caller's also after a failure; committing
// and abandoning do nothing.
tl_writer tl_writer_to(tl_vm *vm, const char *what, tl_bytes *memory);
bool tl_writer_write(tl_writer *writer, const void *data, size_t nbytes);
// Makes the file the one of that name. The writer is closed, also on failure.
bool tl_writer_commit(tl_writer *writer);
// Gives the file up: nothing of it remains. The writer is closed.
void tl_writer_abandon(tl_writer *writer);

// Appends to a file, which is made if need be.
bool tl_io_append(tl_vm *vm, const char *what, const char *path,
                  const void *data, size_t nbytes);

// --- Tests ------------------------------------------------------------------

// Asks [hook] before every call of the system ("open" "read" "seek" "write"
// "sync" "close" "rename"): an errno instead of 0 makes it fail so. NULL: none.
// For tests alone: one hook for the process.
typedef int tl_io_hook(void *context, const char *call);
void tl_io_inject(tl_io_hook *hook, void *context);

#endif
