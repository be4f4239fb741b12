// A file is written beside its place, then moved there.
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700  // realpath
#endif

#include "repl/file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool write_part(const char *part, const char *text, size_t nbytes) {
  FILE *to = fopen(part, "wb");
  bool ok = to != NULL && fwrite(text, 1, nbytes, to) == nbytes;
  return to != NULL && fclose(to) == 0 && ok;
}

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

bool tl_write_file(const char *path, const char *text, size_t nbytes) {
  // A link stays one: the file that it names is replaced.
  char *real = realpath(path, NULL);
  bool ok = replace(real != NULL ? real : path, text, nbytes);
  int error = errno;
  free(real);
  errno = error;
  return ok;
}
