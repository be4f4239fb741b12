// The door to files: see io.h. Every system call that may fail asks `faulty`
// first, so that tests can make each of them fail.
//
// Built for size.

#include "vm/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vm/vm.h"

static tl_io_hook *fault_hook;
static void *fault_context;

void tl_io_inject(tl_io_hook *hook, void *context) {
  fault_hook = hook;
  fault_context = context;
}

// Whether a test wants this call to fail; errno is then set. It stands in front
// of each call, so that the call itself is skipped, too.
static bool faulty(const char *call) {
  int error = fault_hook ? fault_hook(fault_context, call) : 0;
  if (error)
    errno = error;
  return error != 0;
}

// strerror_r returns a status by POSIX, and the text in GNU's version: one
// function for each, chosen by the type.
static const char *reason_of_status(int status, const char *text) {
  return status == 0 ? text : NULL;
}
static const char *reason_itself(const char *reason, const char *text) {
  (void)text;
  return reason;
}

// The thread-safe form of strerror, since VMs run in several threads.
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

// The error of a failed system call: "read_csv: cannot read "x.csv": No such
// file". [what] is the script's function, or NULL where the host reads.
static bool fail(tl_vm *vm, const char *what, const char *verb,
                 const char *path, int error) {
  char text[128];
  const char *reason = tl_io_reason(error, text, sizeof text);
  return tl_fail(vm, TALLY_ERR_IO, "%s%scannot %s \"%s\": %s", what ? what : "",
                 what ? ": " : "", verb, path, reason);
}

// Whether the script may use files; the host itself always may.
static bool allowed(tl_vm *vm, const char *what) {
  return !what || tl_require(vm, TALLY_MAY_FILES, what);
}

// A path with a NUL byte would name another file than the script says.
const char *tl_io_path(tl_vm *vm, const char *what, const tl_string *path) {
  enum { LONGEST = 1 << 16 };  // no system takes as many
  if (path->length > LONGEST) {
    tl_fail(vm, TALLY_ERR_VALUE,
            "%s: the file's name has %zu bytes; %d are most", what,
            (size_t)path->length, LONGEST);
    return NULL;
  }
  if (path->length > 0 && strlen(path->text) == path->length)
    return path->text;
  tl_fail(vm, TALLY_ERR_VALUE,
          path->length == 0 ? "%s: the file's name is empty"
                            : "%s: the file's name contains a zero character",
          what);
  return NULL;
}

// --- Waiting ----------------------------------------------------------------

// Waits until a pipe or terminal can be read or written, as a regular file can
// at once. It looks around 50 times a second: a deadline ends the wait, and an
// interrupt that no signal comes with. False after tl_fail.
static bool await(tl_vm *vm, int fd, short events) {
  struct pollfd awaited = {.fd = fd, .events = events};
  for (;;) {
    int n = poll(&awaited, 1, 20);
    if (n > 0 || (n < 0 && errno != EINTR))
      return true;  // whoever reads or writes finds out what is wrong
    if (!tl_poll(vm, 1))
      return false;
  }
}

// What a call has failed with that is to be tried again, behind a wait.
static bool is_passing(int error) {
  return error == EINTR || error == EAGAIN;
}

// --- Reading ----------------------------------------------------------------

// Standard input is a duplicate of its descriptor, so that closing the reader
// leaves it open.
bool tl_reader_open(tl_vm *vm, const char *what, const char *path,
                    tl_reader *out) {
  struct stat about;
  if (!allowed(vm, what))
    return false;
  int fd;
  // A machine without /proc has no such file, but has standard input.
  bool is_input = strcmp(path, "/dev/stdin") == 0;
  // Opening a pipe would wait for its other end. Reading does, where a poll
  // tells a pipe that nobody has opened yet from one that has ended.
#ifdef __linux__
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
#else
  const int flags = O_RDONLY | O_CLOEXEC;
#endif
  do {
    fd = faulty("open") ? -1 : is_input ? dup(STDIN_FILENO) : open(path, flags);
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
  // Only a regular file has a size that says how much there is to read.
  int64_t size = S_ISREG(about.st_mode) ? (int64_t)about.st_size : -1;
  // Of standard input a part may have been read before, so its size says
  // nothing.
  if (is_input && (vm->input != NULL || lseek(fd, 0, SEEK_CUR) != 0))
    size = -1;
  *out = (tl_reader){.vm = vm,
                     .what = what,
                     .path = path,
                     .fd = fd,
                     .size = size,
                     .is_input = is_input};
  return true;
}

// No capability is needed: the bytes are in memory already.
tl_reader tl_reader_of(tl_vm *vm, const char *what, const char *path,
                       const void *data, size_t nbytes) {
  return (tl_reader){.vm = vm,
                     .what = what,
                     .path = path,
                     .fd = -1,
                     .size = (int64_t)nbytes,
                     .memory = data};
}

// Room for [more] bytes behind those that are there: at least twice as much as
// before where it has to grow. False after tl_fail (kind memory, of [what]),
// with all as it was.
// Doubling keeps the copying of what comes in pieces linear.
static bool reserve_bytes(tl_vm *vm, tl_bytes *bytes, size_t more,
                          const char *what) {
  const size_t old = bytes->capacity;
  size_t larger;
  if (more <= old - bytes->nbytes)
    return true;
  if (tl_add_overflows(old, more > old ? more : old, &larger))
    return tl_fail_memory(vm, SIZE_MAX, what);
  char *data = tl_realloc(vm, bytes->data, old, larger, what);
  if (data == NULL)
    return false;
  bytes->data = data;
  bytes->capacity = larger;
  return true;
}

// What input() and the like have read ahead of standard input.
//
//     data           start             searched          end        capacity
//      │ given out    │ ends no line    │ not searched    │ for reads  │
typedef struct tl_input {
  tl_bytes bytes;  // from [start] on they are not given out yet
  size_t start;
  size_t searched;  // no line ends before it
} tl_input;

// Moves bytes that were read ahead to a reader of /dev/stdin; returns how many.
static size_t take_ahead(tl_vm *vm, void *to, size_t nbytes) {
  tl_input *in = vm->input;
  size_t n = in == NULL ? 0 : in->bytes.nbytes - in->start;
  if (n > nbytes)
    n = nbytes;
  if (n > 0) {
    memcpy(to, in->bytes.data + in->start, n);
    in->start += n;
    in->searched = in->start;
  }
  return n;
}

// *got is less than [nbytes] only at the end of the file.
//
//  /dev/stdin    what input() has left over, then the descriptor
//  a file        the descriptor
//  memory        the bytes, without a poll
//
bool tl_reader_read(tl_reader *reader, void *to, size_t nbytes, size_t *got) {
  // What input() has read ahead belongs before what the descriptor has left.
  *got = reader->is_input ? take_ahead(reader->vm, to, nbytes) : 0;
  if (reader->memory) {
    size_t left = (size_t)reader->size - reader->at;
    *got = nbytes < left ? nbytes : left;
    bool ok = tl_copy_bytes(reader->vm, to, reader->memory + reader->at, *got);
    reader->at += *got;
    return ok;
  }
  while (*got < nbytes) {
    size_t want = nbytes - *got;
    // In pieces, so that a poll comes between them; and some systems refuse 2
    // GiB at once.
    if (want > 1 << 20)
      want = 1 << 20;
    if (reader->size < 0 && !await(reader->vm, reader->fd, POLLIN))
      return false;
    ssize_t n = faulty("read") ? -1 : read(reader->fd, (char *)to + *got, want);
    if (n == 0)
      break;
    if (n < 0 && !is_passing(errno))
      return fail(reader->vm, reader->what, "read", reader->path, errno);
    if (n > 0) {
      *got += (size_t)n;
      reader->at += (size_t)n;
    }
    // Also for those who work on the piece, as long as there are more.
    reader->vm->done = (int64_t)reader->at;
    reader->vm->total = (int64_t)reader->at < reader->size ? reader->size : 0;
    if (!tl_poll(reader->vm, 1))
      return false;
  }
  return true;
}

// For bytes in memory the offset is not checked; the caller sees to it that it
// is at most their number.
bool tl_reader_seek(tl_reader *reader, int64_t offset) {
  reader->at = (size_t)offset;
  if (reader->memory)
    return true;
  if (faulty("seek") || lseek(reader->fd, (off_t)offset, SEEK_SET) < 0)
    return fail(reader->vm, reader->what, "read", reader->path, errno);
  return true;
}

// It may be called twice; of bytes in memory nothing is freed.
void tl_reader_close(tl_reader *reader) {
  if (reader->fd >= 0)
    close(reader->fd);
  reader->fd = -1;
}

// --- Standard input ---------------------------------------------------------

// The VM's read-ahead of standard input, made when first needed; NULL after
// tl_fail.
// Two pieces at first: a read of one has room behind a line of the other.
static tl_input *input_of(tl_vm *vm) {
  enum { PIECE = 1 << 16 };
  if (vm->input != NULL)
    return vm->input;
  tl_input *in = tl_alloc(vm, sizeof *in, "standard input");
  if (in == NULL)
    return NULL;
  memset(in, 0, sizeof *in);
  if (!reserve_bytes(vm, &in->bytes, 2 * PIECE, "standard input")) {
    tl_free(vm, in, sizeof *in);
    return NULL;
  }
  return vm->input = in;
}

// What was read ahead and not given out is lost to the process.
void tl_input_close(tl_vm *vm) {
  if (vm->input == NULL)
    return;
  tl_free(vm, vm->input->bytes.data, vm->input->bytes.capacity);
  tl_free(vm, vm->input, sizeof *vm->input);
  vm->input = NULL;
}

// Makes room behind what is there: moves it to the front first, and grows the
// buffer only if it is more than half full then.
static bool make_room(tl_vm *vm, tl_input *in) {
  size_t left = in->bytes.nbytes - in->start;
  // The part that is not given out yet moves to the front.
  if (in->start > 0 && left > 0)
    memmove(in->bytes.data, in->bytes.data + in->start, left);
  in->searched -= in->start;
  in->start = 0;
  in->bytes.nbytes = left;
  return reserve_bytes(vm, &in->bytes, in->bytes.capacity / 2, "a line");
}

// Reads what has come so far: of a terminal a line, without waiting until the
// buffer is full. *got is 0 at the end of input.
static bool read_ahead(tl_vm *vm, const char *what, size_t *got) {
  tl_input *in = vm->input;
  if (!make_room(vm, in))
    return false;
  // The prompt for an answer may still be in stdout's buffer.
  fflush(stdout);
  while (await(vm, STDIN_FILENO, POLLIN)) {
    ssize_t n = faulty("read")
                    ? -1
                    : read(STDIN_FILENO, in->bytes.data + in->bytes.nbytes,
                           in->bytes.capacity - in->bytes.nbytes);
    if (n < 0 && !is_passing(errno))
      return fail(vm, what, "read", "/dev/stdin", errno);
    if (!tl_poll(vm, 1))
      return false;
    if (n < 0)
      continue;
    *got = (size_t)n;
    in->bytes.nbytes += *got;
    return true;
  }
  return false;
}

// Looks for the next line's end, *end, and reads on until there is one or the
// input ends.
static bool find_line(tl_vm *vm, const char *what, size_t *end) {
  tl_input *in = input_of(vm);
  if (in == NULL)
    return false;
  for (;;) {
    const char *at = in->searched == in->bytes.nbytes
                         ? NULL
                         : memchr(in->bytes.data + in->searched, '\n',
                                  in->bytes.nbytes - in->searched);
    // Not searched again when more has been read.
    in->searched =
        at != NULL ? (size_t)(at - in->bytes.data) : in->bytes.nbytes;
    *end = in->searched;
    size_t got = 0;
    if (at != NULL)
      return true;
    if (!read_ahead(vm, what, &got))
      return false;
    if (got == 0) {
      *end = in->bytes.nbytes;
      return true;
    }
  }
}

// Reads ahead up to the end of a line, which tl_input_line then need not look
// for again (tl_input.searched).
bool tl_input_more(tl_vm *vm, const char *what, bool *more) {
  size_t end;
  if (!allowed(vm, what) || !find_line(vm, what, &end))
    return false;
  *more = vm->input->start < vm->input->bytes.nbytes;
  return true;
}

// The line stays in the buffer until the next call.
bool tl_input_line(tl_vm *vm, const char *what, const char **text,
                   size_t *nbytes) {
  size_t end;
  *text = NULL;
  *nbytes = 0;
  if (!allowed(vm, what) || !find_line(vm, what, &end))
    return false;
  tl_input *in = vm->input;
  if (in->start == in->bytes.nbytes)
    return true;
  *text = in->bytes.data + in->start;
  *nbytes = end - in->start;
  in->start = in->searched = end < in->bytes.nbytes ? end + 1 : end;
  // A file from Windows ends its lines with \r\n.
  if (*nbytes > 0 && (*text)[*nbytes - 1] == '\r')
    --*nbytes;
  return true;
}

// --- Whole files ------------------------------------------------------------

// Reads on until the end, whatever size the file was said to have: it may grow,
// or have none. A read that gives less than the room says that the file has
// ended, so the first room is one byte more than the file's size. The last byte
// of the block stays free for the NUL.
static bool read_rest(tl_reader *reader, tl_bytes *out) {
  for (;;) {
    size_t got, room = out->capacity - out->nbytes - 1;
    if (!tl_reader_read(reader, out->data + out->nbytes, room, &got))
      return false;
    out->nbytes += got;
    if (got < room)
      return true;
    if (!reserve_bytes(reader->vm, out, 2, reader->path))
      return false;
  }
}

// The file's size is only a first guess: it may grow, or not be known.
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

// Empty bytes are freed, too; afterwards they are empty.
void tl_bytes_free(tl_vm *vm, tl_bytes *bytes) {
  tl_free(vm, bytes->data, bytes->capacity);
  *bytes = (tl_bytes){NULL, 0, 0};
}

// --- Writing ----------------------------------------------------------------

// PATH_MAX of Linux; longer names fail as the system's own would.
enum { NAME_ROOM = 4096 };

// The process' own file that a name such as /dev/stdout or /dev/fd/3 stands
// for; -1: none. Such a file is neither opened anew, which would begin at its
// front, nor replaced.
static int own_file(const char *path) {
  // Names by which Linux shows the process' own descriptors.
  static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
  if (strcmp(path, "/dev/stdout") == 0)
    return STDOUT_FILENO;
  if (strcmp(path, "/dev/stderr") == 0)
    return STDERR_FILENO;
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    size_t n = strlen(folders[i]);
    if (strncmp(path, folders[i], n) != 0)
      continue;
    size_t digits = strspn(path + n, "0123456789");
    if (digits > 0 && digits < 8 && path[n + digits] == 0)
      return atoi(path + n);
  }
  return -1;
}

// Follows symbolic links in [target], so that the file they lead to is replaced
// and not the link. False, with errno set, where there are too many. By hand
// and not by realpath, as the last name need not exist yet. 40 is the bound
// that Linux has (path_resolution(7)).
static bool follow_links(char target[NAME_ROOM]) {
  for (int links = 0; links < 40; links++) {
    struct stat about;
    char next[NAME_ROOM];
    if (own_file(target) >= 0 || lstat(target, &about) != 0 ||
        !S_ISLNK(about.st_mode))
      return true;
    ssize_t n = readlink(target, next, sizeof next - 1);
    if (n < 0)
      return false;
    next[n] = 0;
    char *slash = strrchr(target, '/');
    // A relative link is relative to the folder that it stands in.
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

// Locks all of an open file for writing, as long as it is open; false: somebody
// else has, or it cannot be. POSIX record locks go with the process that took
// them, however it ends, which is what remove_stale needs.
static bool lock(int fd) {
  struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(fd, F_SETLK, &all) == 0;
}

// Removes a temporary file whose writer was killed: no process has its number,
// and none, in another container either, holds the lock of a writer. Both tests
// are needed: a number may belong to a new process, and a container sees other
// numbers than its neighbour on the same disk.
static void remove_stale(int folder, const char *name) {
  static const char front[] = ".tally-";
  const size_t length = strlen(name);
  if (strncmp(name, front, sizeof front - 1) != 0 || length < 4 ||
      strcmp(name + length - 4, ".tmp") != 0)
    return;
  const long pid = strtol(name + sizeof front - 1, NULL, 10);
  if (pid <= 0 || pid > INT32_MAX || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
    return;
  int fd = openat(folder, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return;
  if (lock(fd))
    unlinkat(folder, name, 0);
  close(fd);
}

// Looks once for what killed writers left, in each folder where something is
// saved that is not the one before.
static void clean_folder(tl_vm *vm, const char *target, size_t length) {
  char path[NAME_ROOM] = ".";
  if (length > 0) {
    memcpy(path, target, length);
    path[length] = 0;
  }
  struct stat about;
  if (stat(path, &about) != 0 || about.st_ino == vm->cleaned_folder)
    return;
  vm->cleaned_folder = about.st_ino;
  DIR *folder = opendir(path);
  for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
    remove_stale(dirfd(folder), entry->d_name);
  if (folder != NULL)
    closedir(folder);
}

// Opens a new file beside the target, under a name that nobody has. O_EXCL
// fails for a name that is there, links included, so nobody can have put a link
// in its place.
static bool open_temporary(tl_writer *w, mode_t mode) {
  char *slash = strrchr(w->target, '/');
  size_t folder = slash ? (size_t)(slash - w->target) + 1 : 0;
  w->temporary = w->names + NAME_ROOM;
  clean_folder(w->vm, w->target, folder);
  for (unsigned i = 0; i < 1000; i++) {
    // In the same folder, since a file cannot be renamed into another file
    // system.
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
  if (w->fd >= 0)
    (void)lock(w->fd);  // where the file system has no locks it is not needed
  return w->fd >= 0;
}

// Whether [path] is a pipe, which ENXIO says that nobody reads yet.
static bool is_pipe(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISFIFO(about.st_mode);
}

// Opens what is there, or with O_CREAT a new file; of a pipe it waits for the
// other end. False with errno.
// The poll's error stands where it stopped the wait: what the caller then says
// of errno is not heard.
static bool open_to_write(tl_writer *w, const char *path, int flags) {
  for (;;) {
    w->fd = faulty("open")
                ? -1
                : open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | flags, 0666);
    if (w->fd >= 0)
      return true;
    const bool waits = errno == ENXIO && is_pipe(path);
    if (!waits && errno != EINTR)
      return false;
    if (waits)
      poll(NULL, 0, 20);
    if (!tl_poll(w->vm, 1))
      return false;
  }
}

// Finds out what the path stands for and opens what is to be written: an own
// file, a device, or a temporary file. False with errno set.
//
//     /dev/stdout, /dev/fd/3     the descriptor itself, from where it is
//     a device, a pipe           opened and written directly
//     a file, or nothing yet     a temporary file beside it, renamed at the end
static bool open_target(tl_writer *w) {
  struct stat about;
  if (!follow_links(w->target))
    return false;
  int own = own_file(w->target);
  if (own >= 0) {
    w->is_output = own == STDOUT_FILENO;
    fflush(stdout);
    if (!w->is_output)
      w->fd = faulty("open") ? -1 : dup(own);
    return w->is_output || w->fd >= 0;
  }
  // A new file gets the permissions that the process' mask leaves.
  if (stat(w->target, &about) != 0)
    return open_temporary(w, 0666);
  if (S_ISDIR(about.st_mode)) {
    errno = EISDIR;
    return false;
  }
  // A device or pipe cannot be replaced, so it is written directly.
  if (!S_ISREG(about.st_mode))
    return open_to_write(w, w->target, 0);
  // A file that may not be written must not be replaced either.
  if (access(w->target, W_OK) != 0 || !open_temporary(w, 0600))
    return false;
  // Each may fail, for a file of another user that we may write. What is new
  // has not earned the right to run as its owner.
  (void)!fchown(w->fd, about.st_uid, about.st_gid);
  (void)!fchmod(w->fd, about.st_mode & 01777);
  return true;
}

// Frees names and buffer; the file has been closed.
static void writer_free(tl_writer *w) {
  tl_free(w->vm, w->names, w->names_size);
  tl_free(w->vm, w->buffer, TL_WRITER_BUFFER);
  w->names = w->buffer = NULL;
}

// Both names and the buffer are allocated before the file is opened, so that
// nothing else can fail afterwards.
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

// Writes in pieces, polling between them. write may take less than it is given,
// so it goes on with the rest.
//
//  to standard output   by the host's hook, whose limit tl_write_for counts
//  to a file            counted here, then in pieces of 1 MiB
//
// A piece that would pass the limit is not written, nor is any part of it.
static bool write_all(tl_writer *w, const char *data, size_t nbytes) {
  if (w->is_output)
    return tl_write_for(w->vm, w->what ? w->what : "print", data, nbytes);
  if (!tl_output_counts(w->vm, nbytes))
    return false;
  const size_t total = nbytes;
  while (nbytes > 0) {
    size_t want = nbytes > 1 << 20 ? 1 << 20 : nbytes;
    ssize_t n = faulty("write") ? -1 : write(w->fd, data, want);
    if (n < 0 && !is_passing(errno))
      return fail(w->vm, w->what, "write", w->path, errno);
    if (n < 0 && errno == EAGAIN && !await(w->vm, w->fd, POLLOUT))
      return false;
    if (n > 0) {
      data += n;
      nbytes -= (size_t)n;
    }
    // Of less the end is known to whoever gathers it here.
    if (!tl_poll_part(w->vm, 1, (int64_t)(total - nbytes),
                      total > TL_WRITER_BUFFER ? (int64_t)total : 0))
      return false;
  }
  return true;
}

// Writes the buffer's content.
static bool flush(tl_writer *w) {
  size_t used = w->used;
  w->used = 0;
  return write_all(w, w->buffer, used);
}

// [memory] may have bytes already; they stay in front.
tl_writer tl_writer_to(tl_vm *vm, const char *what, tl_bytes *memory) {
  return (tl_writer){.vm = vm, .what = what, .fd = -1, .memory = memory};
}

// The writer's target is memory: appends there, doubling as it grows. At least
// doubling, so that many small writes copy each byte a few times.
static bool add_to_memory(tl_writer *w, const void *data, size_t nbytes) {
  tl_bytes *to = w->memory;
  if (!reserve_bytes(w->vm, to, nbytes, w->what) ||
      !tl_copy_bytes(w->vm, to->data + to->nbytes, data, nbytes))
    return false;
  to->nbytes += nbytes;
  return true;
}

// Large pieces go past the buffer, after what it holds.
bool tl_writer_write(tl_writer *writer, const void *data, size_t nbytes) {
  if (writer->memory)
    return add_to_memory(writer, data, nbytes);
  if (nbytes > TL_WRITER_BUFFER - writer->used && !flush(writer))
    return false;
  // A large piece would only be copied by the buffer.
  if (nbytes >= TL_WRITER_BUFFER)
    return write_all(writer, data, nbytes);
  memcpy(writer->buffer + writer->used, data, nbytes);
  writer->used += nbytes;
  return true;
}

// Closes the file and says whether all that was written has arrived: some file
// systems report a full disk only here. After EINTR the descriptor is closed on
// Linux, and closing it again might close another's: it counts as closed.
static bool close_file(tl_writer *w) {
  int fd = w->fd;
  if (w->is_output)
    return true;
  w->fd = -1;
  bool injected = faulty("close");
  int error = injected ? errno : 0;
  if (close(fd) != 0 && errno != EINTR)
    error = errno;
  return error == 0 || fail(w->vm, w->what, "write", w->path, error);
}

// The new name is on the disk only when the folder is. Best effort: without it
// a crash may bring the old file back, whole. It writes into the target's name,
// which is not used again.
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

// The order is what makes it safe: all data on the disk, then the name, then
// the folder. EINVAL: a file that cannot be synced.
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

// Also ends a commit: what has been renamed is no temporary any longer.
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

// The process' own files are written through a writer, since they are not
// opened by name.
bool tl_io_append(tl_vm *vm, const char *what, const char *path,
                  const void *data, size_t nbytes) {
  if (!allowed(vm, what))
    return false;
  tl_writer w = {.vm = vm, .what = what, .path = path, .fd = -1};
  if (own_file(path) >= 0) {
    return tl_writer_open(vm, what, path, &w) &&
           tl_writer_end(&w, tl_writer_write(&w, data, nbytes));
  }
  if (!open_to_write(&w, path, O_CREAT | O_APPEND))
    return fail(vm, what, "write", path, errno);
  struct stat about;
  // Of a regular file the old length is known, to which a failed append goes
  // back.
  bool whole = fstat(w.fd, &about) == 0 && S_ISREG(about.st_mode);
  // What is longer has not earned the right to run as its owner, either.
  if (whole && (about.st_mode & 06000) != 0)
    (void)!fchmod(w.fd, about.st_mode & 01777);
  bool ok = write_all(&w, data, nbytes);
  // A part of an append is taken back.
  if (!ok && whole)
    (void)!ftruncate(w.fd, about.st_size);
  if (!ok) {
    close(w.fd);
    return false;
  }
  return close_file(&w);
}

// A file that may not be read is there, and opening it then gives the reason.
bool tl_io_exists(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}
