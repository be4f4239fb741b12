// The door to files.

#include "vm/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vm/vm.h"

static tl_io_hook *fault_hook;
static void *fault_context;

void tl_io_inject(tl_io_hook *hook, void *context) {
  fault_hook = hook;
  fault_context = context;
}

// Whether a test wants this call to fail; errno is then set.
static bool faulty(const char *call) {
  int error = fault_hook ? fault_hook(fault_context, call) : 0;
  if (error)
    errno = error;
  return error != 0;
}

// strerror_r gives a status by POSIX, and the text by GNU.
static const char *reason_of_status(int status, const char *text) {
  return status == 0 ? text : NULL;
}
static const char *reason_itself(const char *reason, const char *text) {
  (void)text;
  return reason;
}

const char *tl_io_reason(int error, char *text, size_t nbytes) {
  const char *reason =
      _Generic(strerror_r(error, text, nbytes), int
               : reason_of_status, default
               : reason_itself)(strerror_r(error, text, nbytes), text);
  if (reason)
    return reason;
  snprintf(text, nbytes, "error %d", error);
  return text;
}

static bool fail(tl_vm *vm, const char *what, const char *verb,
                 const char *path, int error) {
  char text[128];
  const char *reason = tl_io_reason(error, text, sizeof text);
  return tl_fail(vm, TALLY_ERR_IO, "%s%scannot %s \"%s\": %s", what ? what : "",
                 what ? ": " : "", verb, path, reason);
}

static bool allowed(tl_vm *vm, const char *what) {
  return !what || tl_require(vm, TALLY_MAY_FILES, what);
}

const char *tl_io_path(tl_vm *vm, const char *what, const tl_string *path) {
  if (path->length > 0 && strlen(path->text) == path->length)
    return path->text;
  tl_fail(vm, TALLY_ERR_VALUE,
          path->length == 0 ? "%s: the file's name is empty"
                            : "%s: the file's name contains a zero character",
          what);
  return NULL;
}

// --- Reading ----------------------------------------------------------------

bool tl_reader_open(tl_vm *vm, const char *what, const char *path,
                    tl_reader *out) {
  struct stat about;
  if (!allowed(vm, what))
    return false;
  int fd;
  // A machine without /proc has no such file, but has standard input.
  bool is_input = strcmp(path, "/dev/stdin") == 0;
  do {
    fd = faulty("open") ? -1
         : is_input     ? dup(STDIN_FILENO)
                        : open(path, O_RDONLY | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR && tl_poll(vm, 1));
  if (fd < 0)
    return fail(vm, what, "read", path, errno);
  if (fstat(fd, &about) != 0) {
    fail(vm, what, "read", path, errno);
    close(fd);
    return false;
  }
  if (S_ISDIR(about.st_mode)) {
    close(fd);
    return fail(vm, what, "read", path, EISDIR);
  }
  int64_t size = S_ISREG(about.st_mode) ? (int64_t)about.st_size : -1;
  *out =
      (tl_reader){.vm = vm, .what = what, .path = path, .fd = fd, .size = size};
  return true;
}

tl_reader tl_reader_of(tl_vm *vm, const char *what, const char *path,
                       const void *data, size_t nbytes) {
  return (tl_reader){.vm = vm,
                     .what = what,
                     .path = path,
                     .fd = -1,
                     .size = (int64_t)nbytes,
                     .memory = data};
}

bool tl_reader_read(tl_reader *reader, void *to, size_t nbytes, size_t *got) {
  *got = 0;
  if (reader->memory) {
    size_t left = (size_t)reader->size - reader->at;
    *got = nbytes < left ? nbytes : left;
    memcpy(to, reader->memory + reader->at, *got);
    reader->at += *got;
    return true;
  }
  while (*got < nbytes) {
    size_t want = nbytes - *got;
    // Pieces, so that a poll comes between; and some systems refuse 2 GiB.
    if (want > 1 << 22)
      want = 1 << 22;
    ssize_t n = faulty("read") ? -1 : read(reader->fd, (char *)to + *got, want);
    if (n == 0)
      break;
    if (n < 0 && errno != EINTR)
      return fail(reader->vm, reader->what, "read", reader->path, errno);
    if (n > 0)
      *got += (size_t)n;
    if (!tl_poll(reader->vm, 1))
      return false;
  }
  return true;
}

bool tl_reader_seek(tl_reader *reader, int64_t offset) {
  if (reader->memory)
    reader->at = (size_t)offset;
  else if (faulty("seek") || lseek(reader->fd, (off_t)offset, SEEK_SET) < 0)
    return fail(reader->vm, reader->what, "read", reader->path, errno);
  return true;
}

void tl_reader_close(tl_reader *reader) {
  if (reader->fd >= 0)
    close(reader->fd);
  reader->fd = -1;
}

// Reads on until the end, whatever size the file was said to have.
static bool read_rest(tl_reader *reader, tl_bytes *out) {
  for (;;) {
    size_t got, room = out->capacity - out->nbytes - 1;
    if (!tl_reader_read(reader, out->data + out->nbytes, room, &got))
      return false;
    out->nbytes += got;
    if (got < room)
      return true;
    size_t larger;
    if (tl_mul_overflows(out->capacity, 2, &larger))
      return tl_fail_memory(reader->vm, SIZE_MAX, reader->path);
    char *data =
        tl_realloc(reader->vm, out->data, out->capacity, larger, reader->path);
    if (!data)
      return false;
    out->data = data;
    out->capacity = larger;
  }
}

bool tl_io_read(tl_vm *vm, const char *what, const char *path, tl_bytes *out) {
  tl_reader reader;
  if (!tl_reader_open(vm, what, path, &reader))
    return false;
  // One byte more than the size shows that there is no more; one for the NUL.
  size_t capacity = reader.size > 0 ? (size_t)reader.size + 2 : 4096;
  *out = (tl_bytes){tl_alloc(vm, capacity, path), 0, capacity};
  bool ok = out->data && read_rest(&reader, out);
  tl_reader_close(&reader);
  if (ok)
    out->data[out->nbytes] = 0;
  else
    tl_bytes_free(vm, out);
  return ok;
}

void tl_bytes_free(tl_vm *vm, tl_bytes *bytes) {
  if (bytes->data)
    tl_free(vm, bytes->data, bytes->capacity);
  *bytes = (tl_bytes){NULL, 0, 0};
}

// --- Writing ----------------------------------------------------------------

enum { NAME_ROOM = 4096 };

// Follows symbolic links, so that the file they lead to is replaced and not
// the link. [target] holds the path and gets the result.
static bool follow_links(char target[NAME_ROOM]) {
  for (int links = 0; links < 40; links++) {
    struct stat about;
    char next[NAME_ROOM];
    if (lstat(target, &about) != 0 || !S_ISLNK(about.st_mode))
      return true;
    ssize_t n = readlink(target, next, sizeof next - 1);
    if (n < 0)
      return false;
    next[n] = 0;
    char *slash = strrchr(target, '/');
    size_t folder = next[0] == '/' || !slash ? 0 : (size_t)(slash - target) + 1;
    if (folder + (size_t)n >= NAME_ROOM) {
      errno = ENAMETOOLONG;
      return false;
    }
    memcpy(target + folder, next, (size_t)n + 1);
  }
  errno = ELOOP;
  return false;
}

// Opens a new file beside the target, under a name that nobody has.
static bool open_temporary(tl_writer *w, mode_t mode) {
  char *slash = strrchr(w->target, '/');
  size_t folder = slash ? (size_t)(slash - w->target) + 1 : 0;
  w->temporary = w->names + NAME_ROOM;
  for (unsigned i = 0; i < 1000; i++) {
    int n = snprintf(w->temporary, NAME_ROOM, "%.*s.tally-%ld-%u.tmp",
                     (int)folder, w->target, (long)getpid(), i);
    if (n >= NAME_ROOM) {
      errno = ENAMETOOLONG;
      break;
    }
    w->fd =
        faulty("open")
            ? -1
            : open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (w->fd >= 0 || errno != EEXIST)
      break;
  }
  return w->fd >= 0;
}

static bool open_target(tl_writer *w) {
  struct stat about;
  if (!follow_links(w->target))
    return false;
  if (stat(w->target, &about) != 0)
    return open_temporary(w, 0666);
  if (S_ISDIR(about.st_mode)) {
    errno = EISDIR;
    return false;
  }
  if (!S_ISREG(about.st_mode)) {
    w->fd = faulty("open") ? -1 : open(w->target, O_WRONLY | O_CLOEXEC);
    return w->fd >= 0;
  }
  // A file that may not be written must not be replaced either.
  if (access(w->target, W_OK) != 0 || !open_temporary(w, 0600))
    return false;
  // A pity where it fails, no more: another's file that we may write.
  (void)!fchmod(w->fd, about.st_mode & 07777);
  return true;
}

static void writer_free(tl_writer *w) {
  if (w->names)
    tl_free(w->vm, w->names, w->names_size);
  if (w->buffer)
    tl_free(w->vm, w->buffer, TL_WRITER_BUFFER);
  w->names = w->buffer = NULL;
}

bool tl_writer_open(tl_vm *vm, const char *what, const char *path,
                    tl_writer *out) {
  if (!allowed(vm, what))
    return false;
  *out = (tl_writer){.vm = vm, .what = what, .path = path, .fd = -1};
  if (strlen(path) >= NAME_ROOM)
    return fail(vm, what, "write", path, ENAMETOOLONG);
  out->names_size = 2 * NAME_ROOM;
  out->names = tl_alloc(vm, out->names_size, "a file's name");
  out->buffer =
      out->names ? tl_alloc(vm, TL_WRITER_BUFFER, "a file's buffer") : NULL;
  if (out->buffer) {
    out->target = out->names;
    memcpy(out->target, path, strlen(path) + 1);
    if (open_target(out))
      return true;
    fail(vm, what, "write", path, errno);
  }
  writer_free(out);
  return false;
}

static bool write_all(tl_writer *w, const char *data, size_t nbytes) {
  while (nbytes > 0) {
    size_t want = nbytes > 1 << 22 ? 1 << 22 : nbytes;
    ssize_t n = faulty("write") ? -1 : write(w->fd, data, want);
    if (n < 0 && errno != EINTR)
      return fail(w->vm, w->what, "write", w->path, errno);
    if (n > 0) {
      data += n;
      nbytes -= (size_t)n;
    }
    if (!tl_poll(w->vm, 1))
      return false;
  }
  return true;
}

static bool flush(tl_writer *w) {
  size_t used = w->used;
  w->used = 0;
  return write_all(w, w->buffer, used);
}

tl_writer tl_writer_to(tl_vm *vm, const char *what, tl_bytes *memory) {
  return (tl_writer){.vm = vm, .what = what, .fd = -1, .memory = memory};
}

static bool add_to_memory(tl_writer *w, const void *data, size_t nbytes) {
  tl_bytes *to = w->memory;
  if (nbytes > to->capacity - to->nbytes) {
    size_t larger =
        to->capacity + (nbytes > to->capacity ? nbytes : to->capacity) + 64;
    char *grown = tl_realloc(w->vm, to->data, to->capacity, larger, w->what);
    if (!grown)
      return false;
    to->data = grown;
    to->capacity = larger;
  }
  if (nbytes > 0)
    memcpy(to->data + to->nbytes, data, nbytes);
  to->nbytes += nbytes;
  return true;
}

bool tl_writer_write(tl_writer *writer, const void *data, size_t nbytes) {
  if (writer->memory)
    return add_to_memory(writer, data, nbytes);
  if (nbytes > TL_WRITER_BUFFER - writer->used && !flush(writer))
    return false;
  if (nbytes >= TL_WRITER_BUFFER)
    return write_all(writer, data, nbytes);
  memcpy(writer->buffer + writer->used, data, nbytes);
  writer->used += nbytes;
  return true;
}

// Closes a file and says whether all that was written arrived.
static bool close_file(tl_writer *w) {
  int fd = w->fd;
  w->fd = -1;
  bool injected = faulty("close");
  int error = injected ? errno : 0;
  if (close(fd) != 0 && errno != EINTR)
    error = errno;
  return error == 0 || fail(w->vm, w->what, "write", w->path, error);
}

// The new name is on the disk only when the folder is.
static void sync_folder(tl_writer *w) {
  char *slash = strrchr(w->target, '/');
  if (slash == w->target)
    slash++;
  if (slash)
    *slash = 0;
  int fd = open(slash ? w->target : ".", O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return;
  fsync(fd);
  close(fd);
}

bool tl_writer_commit(tl_writer *writer) {
  if (writer->memory)
    return true;
  bool ok = flush(writer);
  if (ok && writer->temporary && (faulty("sync") || fsync(writer->fd) != 0) &&
      errno != EINVAL)
    ok = fail(writer->vm, writer->what, "write", writer->path, errno);
  if (ok)
    ok = close_file(writer);
  if (ok && writer->temporary) {
    if (faulty("rename") || rename(writer->temporary, writer->target) != 0) {
      ok = fail(writer->vm, writer->what, "write", writer->path, errno);
    } else {
      writer->temporary = NULL;
      sync_folder(writer);
    }
  }
  tl_writer_abandon(writer);
  return ok;
}

void tl_writer_abandon(tl_writer *writer) {
  if (!writer->names)
    return;
  if (writer->fd >= 0)
    close(writer->fd);
  writer->fd = -1;
  if (writer->temporary)
    unlink(writer->temporary);
  writer_free(writer);
}

bool tl_io_append(tl_vm *vm, const char *what, const char *path,
                  const void *data, size_t nbytes) {
  if (!allowed(vm, what))
    return false;
  tl_writer w = {.vm = vm, .what = what, .path = path, .fd = -1};
  w.fd = faulty("open")
             ? -1
             : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (w.fd < 0)
    return fail(vm, what, "write", path, errno);
  struct stat about;
  bool whole = fstat(w.fd, &about) == 0 && S_ISREG(about.st_mode);
  bool ok = write_all(&w, data, nbytes);
  // Half an append is taken back.
  if (!ok && whole)
    (void)!ftruncate(w.fd, about.st_size);
  if (!ok) {
    close(w.fd);
    return false;
  }
  return close_file(&w);
}

bool tl_io_exists(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}
