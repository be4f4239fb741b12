// The file of inputs that an arrow brings back: see history.h. What its lines
// spell editing.tly says.

#include "repl/history.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The file's first line with libedit.
static const char libedit_head[] = "_HiStOrY_V2_";

// ~/.tally_history, or where TALLY_HISTORY says; NULL: nowhere.
// The caller frees it. NULL also without memory, and then there is no history.
static char *history_file(const char *behind) {
  const char *given = getenv("TALLY_HISTORY"), *home = getenv("HOME");
  const char *path = given != NULL ? given : home;
  if (path == NULL || path[0] == 0)
    return NULL;
  size_t size = strlen(path) + strlen(behind) + 32;
  char *file = malloc(size);
  if (file != NULL)
    snprintf(file, size, "%s%s%s", path, given != NULL ? "" : "/.tally_history",
             behind);
  return file;
}

// --- The file ---------------------------------------------------------------

// Reads the lines one by one, as the file may be of any length; a zero byte
// ends its line. Returns how many there were.
static size_t read_lines(FILE *from, tl_history_hook *recall, void *context,
                         bool *is_libedit) {
  char *line = NULL;
  size_t capacity = 0, count = 0;
  for (; getline(&line, &capacity, from) > 0; count++) {
    line[strcspn(line, "\n")] = 0;
    if (count == 0 && strcmp(line, libedit_head) == 0)
      *is_libedit = true;
    else
      recall(context, line, strlen(line));
  }
  free(line);
  return count;
}

// A folder, or a device that would never end, is no history. Where there is no
// file yet, its name is given all the same, and the first input makes it.
char *tl_history_read(const char *behind, tl_history_hook *recall,
                      void *context, bool *is_old) {
  struct stat what;
  char *file = history_file(behind);
  FILE *from = file == NULL ? NULL : fopen(file, "re");
  *is_old = false;
  if (from == NULL)
    return file;
  if (fstat(fileno(from), &what) == 0 && S_ISREG(what.st_mode))
    *is_old =
        read_lines(from, recall, context, is_old) > TL_HISTORY_LINES || *is_old;
  fclose(from);
  return file;
}

// One call writes the whole line, so lines of two prompts do not mix.
// O_NONBLOCK, since opening a pipe that nobody reads would wait for ever. The
// file is for its owner alone, as inputs may have passwords.
bool tl_history_append(const char *file, const char *line, size_t nbytes) {
  int to =
      open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600);
  bool ok = to < 0 || write(to, line, nbytes) >= 0;
  if (to >= 0)
    close(to);
  return ok;
}
