// Calls of the system by the library, and its allocations, each of which can be
// refused. The linker puts __wrap_NAME in place of NAME (--wrap, see the
// Makefile) for all that is linked here: what is refused is counted by
// refuse.h.
#define _GNU_SOURCE 1

#include "tests/fuzz/refuse.h"

#include "compiler/arena.h"
#include "vm/memory/memory_internal.h"

refusals *refused_calls, *refused_blocks;
bool refuses_arenas;
refused_sites *refused_from;
refused_places *new_places;

// Notes the request if it is the first from there. Without frame pointers only
// some callers are known, so that there are fewer places.
__attribute__((no_sanitize("address"))) static void note_place(
    uint64_t request) {
  void **frame = __builtin_frame_address(0), **next;
  uint64_t hash = 1;
  for (int i = 0; i < CALLERS; i++, frame = next) {
    hash = (hash ^ (uintptr_t)frame[1]) * UINT64_C(0x9e3779b97f4a7c15);
    next = *frame;
    if (next <= frame || (char *)next - (char *)frame > 1 << 14 ||
        (uintptr_t)next % sizeof(void *) != 0)
      break;
  }
  uint32_t at = (uint32_t)(hash >> 40) % PLACES;
  while (new_places->seen[at] != 0 && new_places->seen[at] != hash)
    at = (at + 1) % PLACES;
  if (new_places->seen[at] == hash || new_places->used == PLACES / 2)
    return;
  new_places->used++;
  new_places->seen[at] = hash;
  new_places->requests[new_places->count++] = request;
}

bool refuse_block(void) {
  if (refused_blocks == NULL)
    return false;
  if (new_places != NULL)
    note_place(refused_blocks->requests + 1);
  return is_refused(refused_blocks);
}

#ifdef __linux__
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// Keeps the place, if it is a new one.
static void keep_site(void *site) {
  refused_sites *from = refused_from;
  for (int i = 0; i < from->count; i++)
    if (from->sites[i] == site)
      return;
  if (from->count < SITES)
    from->sites[from->count++] = site;
}

// Whether the call that returns to [site] is refused, with errno set.
static bool refuse(void *site, int error) {
  refusals *r = refused_calls;
  if (r == NULL || !is_refused(r))
    return false;
  if (refused_from != NULL)
    keep_site(site);
  errno = error;
  return true;
}

// WRAP(type, name, parameters, arguments, what it returns then, errno)
#define WRAP(type, name, params, args, failed, error) \
  type __real_##name params;                          \
  type __wrap_##name params;                          \
  type __wrap_##name params {                         \
    if (refuse(__builtin_return_address(0), error))   \
      return failed;                                  \
    return __real_##name args;                        \
  }

WRAP(int, open, (const char *path, int flags, mode_t mode), (path, flags, mode),
     -1, EMFILE)
WRAP(int, openat, (int folder, const char *path, int flags, mode_t mode),
     (folder, path, flags, mode), -1, EMFILE)
WRAP(int, dup, (int fd), (fd), -1, EMFILE)
WRAP(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n), -1, EIO)
WRAP(ssize_t, write, (int fd, const void *from, size_t n), (fd, from, n), -1,
     ENOSPC)
WRAP(int, stat, (const char *path, struct stat *out), (path, out), -1, EACCES)
WRAP(int, lstat, (const char *path, struct stat *out), (path, out), -1, EACCES)
WRAP(int, fstat, (int fd, struct stat *out), (fd, out), -1, EIO)
WRAP(off_t, lseek, (int fd, off_t to, int from), (fd, to, from), -1, ESPIPE)
WRAP(int, fsync, (int fd), (fd), -1, EIO)
WRAP(int, rename, (const char *from, const char *to), (from, to), -1, EACCES)
WRAP(int, unlink, (const char *path), (path), -1, EACCES)
WRAP(int, unlinkat, (int folder, const char *path, int flags),
     (folder, path, flags), -1, EACCES)
WRAP(int, remove, (const char *path), (path), -1, EACCES)
WRAP(ssize_t, readlink, (const char *path, char *to, size_t n), (path, to, n),
     -1, EACCES)
WRAP(char *, realpath, (const char *path, char *to), (path, to), NULL, EACCES)
WRAP(int, access, (const char *path, int how), (path, how), -1, EACCES)
WRAP(int, fchown, (int fd, uid_t owner, gid_t group), (fd, owner, group), -1,
     EPERM)
WRAP(int, fchmod, (int fd, mode_t mode), (fd, mode), -1, EPERM)
WRAP(int, ftruncate, (int fd, off_t n), (fd, n), -1, EIO)
WRAP(int, fcntl, (int fd, int what, void *with), (fd, what, with), -1, ENOLCK)
WRAP(int, kill, (pid_t pid, int sign), (pid, sign), -1, EPERM)
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode), -1, EACCES)
WRAP(DIR *, opendir, (const char *path), (path), NULL, EMFILE)
WRAP(struct dirent *, readdir, (DIR * folder), (folder), NULL, EIO)
WRAP(char *, getcwd, (char *to, size_t n), (to, n), NULL, EACCES)
WRAP(void *, mmap,
     (void *at, size_t n, int access, int flags, int fd, off_t offset),
     (at, n, access, flags, fd, offset), MAP_FAILED, ENOMEM)
WRAP(void *, mremap, (void *at, size_t old, size_t n, int flags),
     (at, old, n, flags), MAP_FAILED, ENOMEM)
WRAP(int, madvise, (void *at, size_t n, int advice), (at, n, advice), -1,
     EINVAL)
WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL,
     EMFILE)
WRAP(size_t, fread, (void *to, size_t size, size_t n, FILE *from),
     (to, size, n, from), 0, EIO)
WRAP(int, sigaction,
     (int sign, const struct sigaction *to, struct sigaction *from),
     (sign, to, from), -1, EINVAL)
WRAP(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *how, void *(*run)(void *),
      void *with),
     (thread, how, run, with), EAGAIN, EAGAIN)
WRAP(void *, dlopen, (const char *path, int how), (path, how), NULL, ENOENT)

// The allocator itself refuses, so that the error is the one that it sets.
#define WRAP_BLOCK(type, name, params, args) \
  type __real_##name params;                 \
  type __wrap_##name params;                 \
  type __wrap_##name params {                \
    if (!refuse_block())                     \
      return __real_##name args;             \
    tl_memory_fail_at(vm, 1);                \
    type block = __real_##name args;         \
    tl_memory_fail_at(vm, 0);                \
    return block;                            \
  }

WRAP_BLOCK(void *, tl_alloc, (tl_vm * vm, size_t n, const char *what),
           (vm, n, what))
WRAP_BLOCK(void *, tl_alloc_quiet, (tl_vm * vm, size_t n), (vm, n))
WRAP_BLOCK(void *, tl_alloc_zeroed, (tl_vm * vm, size_t n, const char *what),
           (vm, n, what))
WRAP_BLOCK(void *, tl_realloc,
           (tl_vm * vm, void *old, size_t n, size_t then, const char *what),
           (vm, old, n, then, what))
WRAP_BLOCK(void *, tl_object_new,
           (tl_vm * vm, tl_kind kind, size_t n, const char *what),
           (vm, kind, n, what))

// An arena gives room out of blocks, of which few are asked for: here each
// piece of that is refused, so that the compiler meets it everywhere.
#define WRAP_ARENA(type, name, params, args, asks)                      \
  type __real_##name params;                                            \
  type __wrap_##name params;                                            \
  type __wrap_##name params {                                           \
    if (!refuses_arenas || arena->failed || !(asks) || !refuse_block()) \
      return __real_##name args;                                        \
    arena->failed = true;                                               \
    return 0;                                                           \
  }

WRAP_ARENA(void *, tl_arena_alloc, (tl_arena * arena, size_t n), (arena, n),
           true)
WRAP_ARENA(void *, tl_arena_array, (tl_arena * arena, size_t n, size_t size),
           (arena, n, size), true)
WRAP_ARENA(void *, tl_arena_grow,
           (tl_arena * arena, void *items, size_t old, size_t n),
           (arena, items, old, n), true)
WRAP_ARENA(bool, tl_arena_more,
           (tl_arena * arena, void *items, uint32_t *room, uint32_t n,
            size_t size),
           (arena, items, room, n, size), n >= *room)
WRAP_ARENA(bool, tl_arena_outside,
           (tl_arena * arena, void *items, size_t *size, size_t n),
           (arena, items, size, n), true)
WRAP_ARENA(char *, tl_arena_text,
           (tl_arena * arena, const char *text, size_t n), (arena, text, n),
           true)

// Closed all the same, or descriptors would run out.
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd) {
  int status = __real_close(fd);
  return refuse(__builtin_return_address(0), EIO) ? -1 : status;
}
#endif
