// A file is written beside its place, then moved there, so that a failure or a
// crash leaves the old file. vm/io.c does the same for scripts, with more care
// for the disk; the command is a host and uses only what a host has.
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700  // realpath, nftw
#endif

#include "repl/file.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Writes a new file, or what is no file; false if any byte did not arrive.
static bool write_part(const char *part, const char *text, size_t nbytes) {
  FILE *to = fopen(part, "wb");
  bool ok = to != NULL && fwrite(text, 1, nbytes, to) == nbytes;
  return to != NULL && fclose(to) == 0 && ok;
}

// Writes beside the path, then renames. errno stays that of the step that
// failed.
static bool replace(const char *path, const char *text, size_t nbytes) {
  size_t size = strlen(path) + sizeof ".part";
  char *part = malloc(size);
  struct stat old;
  if (part == NULL)
    return false;
  snprintf(part, size, "%s.part", path);
  bool ok = write_part(part, text, nbytes) &&
            (stat(path, &old) != 0 || chmod(part, old.st_mode & 07777) == 0) &&
            rename(part, path) == 0;
  int error = errno;
  if (!ok)
    remove(part);
  free(part);
  errno = error;
  return ok;
}

// A link stays a link: the file that it names is replaced. A device or pipe
// stays one, too, and is written directly.
bool tl_write_file(const char *path, const char *text, size_t nbytes) {
  struct stat old;
  char *real = realpath(path, NULL);
  const char *target = real != NULL ? real : path;
  bool is_device = stat(target, &old) == 0 && !S_ISREG(old.st_mode);
  bool ok = is_device ? write_part(target, text, nbytes)
                      : replace(target, text, nbytes);
  int error = errno;
  free(real);
  errno = error;
  return ok;
}

// mkdtemp makes the folder for this user alone.
bool tl_make_private_folder(char *path, size_t size) {
  const char *below = getenv("TMPDIR");
  if (below == NULL || below[0] == 0)
    below = "/tmp";
  int n = snprintf(path, size, "%s/tally-XXXXXX", below);
  if (n < 0 || (size_t)n >= size) {
    errno = ENAMETOOLONG;
    return false;
  }
  return mkdtemp(path) != NULL;
}

static int remove_one(const char *path, const struct stat *info, int kind,
                      struct FTW *at) {
  (void)info, (void)kind, (void)at;
  remove(path);
  return 0;
}

// What is in a folder goes before it; links are removed, and not what they
// name.
void tl_remove_tree(const char *path) {
  nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
