// Inputs that an arrow brings back: see history.h. Files of libedit, which
// Tally had before, are read too: they spell bytes as three octal digits behind
// a backslash.
//
//     the file                 entries
//     x = 1                    none, as the same comes once more
//     fn f(x) {\n  x + 1\n}    three lines: fn f(x) {, x + 1 and }
//     x = 1                    x = 1
//
// Lines are only added, so a file may have the same input often and more than
// TL_HISTORY_MOST of them; reading leaves the newest ones. It is written anew
// when it has become twice as long as what is read of it.

#include "repl/history.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "repl/file.h"

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

// Drops the entry; those behind it move up.
static void remove_entry(tl_history *h, size_t at) {
  free(h->entries[at].text);
  h->count--;
  memmove(h->entries + at, h->entries + at + 1,
          (h->count - at) * sizeof *h->entries);
}

// Adds a copy at the end, without the blanks there. An equal one is dropped,
// or else the oldest where the table is full.
// So an input that was typed again moves to the end. False: nothing was added,
// because of no text or no memory, and the entries are as they were. [text] is
// copied first, and may be an entry's own.
static bool add_entry(tl_history *h, const char *text, size_t nbytes) {
  while (nbytes > 0 && strchr(" \t\r\n", text[nbytes - 1]) != NULL) nbytes--;
  char *copy = nbytes == 0 ? NULL : malloc(nbytes + 1);
  if (copy == NULL)
    return false;
  memcpy(copy, text, nbytes);
  copy[nbytes] = 0;
  for (size_t i = 0; i < h->count; i++)
    if (h->entries[i].nbytes == nbytes &&
        memcmp(h->entries[i].text, copy, nbytes) == 0)
      remove_entry(h, i--);
  if (h->count == TL_HISTORY_MOST)
    remove_entry(h, 0);
  h->entries[h->count++] = (tl_entry){copy, nbytes};
  return true;
}

// --- The file ---------------------------------------------------------------

// Replaces what a line of the file spells by what it stands for, in place;
// returns its length.
//
//     \n  end of line      \\  backslash      \040  a blank, of libedit's
//     others: a backslash is itself
//
// What is written is never longer than what was read, so one buffer is enough.
// \000 gives a zero byte, which only the length shows.
static size_t decode(char *line) {
  char *to = line;
  for (const char *from = line; *from != 0; from++) {
    char octal[4] = {0};
    if (*from == '\\')
      memcpy(octal, from + 1, strnlen(from + 1, 3));
    if (strlen(octal) == 3 && strspn(octal, "01234567") == 3) {
      *to++ = (char)strtol(octal, NULL, 8);
      from += 3;
    } else if (octal[0] == 'n' || octal[0] == '\\') {
      *to++ = octal[0] == 'n' ? '\n' : '\\';
      from++;
    } else {
      *to++ = *from;
    }
  }
  *to = 0;
  return (size_t)(to - line);
}

// The entry as its line of the file, with the line's end; the caller frees it.
// NULL: no memory.
// Twice the bytes at most, where each of them is spelled by two, and the end.
static char *encode(const tl_entry *entry, size_t *nbytes) {
  char *line = malloc(2 * entry->nbytes + 1), *to = line;
  for (size_t i = 0; line != NULL && i < entry->nbytes; i++) {
    char c = entry->text[i];
    if (c == '\n' || c == '\\')
      *to++ = '\\';
    *to++ = c == '\n' ? 'n' : c;
  }
  if (line != NULL)
    *to++ = '\n';
  *nbytes = line == NULL ? 0 : (size_t)(to - line);
  return line;
}

// Writes all entries in place of what the file has.
// A prompt that adds a line at this very time may lose it: that happens once
// in two thousand inputs. Without memory for an entry it is left out.
static void rewrite(const tl_history *h) {
  char *all = NULL;
  size_t size, nbytes;
  FILE *to = open_memstream(&all, &size);
  for (size_t i = 0; to != NULL && i < h->count; i++) {
    char *line = encode(&h->entries[i], &nbytes);
    fwrite(line == NULL ? "" : line, 1, nbytes, to);
    free(line);
  }
  if (to != NULL && fclose(to) == 0)
    tl_write_file(h->file, all, size);
  free(all);
}

// Returns how many lines there were.
// Of more than TL_HISTORY_MOST lines the last ones stay. A zero byte ends its
// line. The file may be of any length, its lines are read one by one.
static size_t read_lines(tl_history *h, FILE *from, bool *is_libedit) {
  char *line = NULL;
  size_t capacity = 0, count = 0;
  for (ssize_t n; (n = getline(&line, &capacity, from)) > 0; count++) {
    line[strcspn(line, "\n")] = 0;
    if (count == 0 && strcmp(line, libedit_head) == 0)
      *is_libedit = true;
    else
      add_entry(h, line, decode(line));
  }
  free(line);
  return count;
}

// A folder, or a device that would never end, is no history. The file is
// written anew where most of its lines are no longer of use.
// Where there is no file yet, h->file is set all the same, and the first input
// makes it.
void tl_history_open(tl_history *h, const char *behind) {
  struct stat what;
  h->file = history_file(behind);
  FILE *from = h->file == NULL ? NULL : fopen(h->file, "re");
  if (from == NULL)
    return;
  bool is_libedit = false;
  if (fstat(fileno(from), &what) == 0 && S_ISREG(what.st_mode)) {
    size_t count = read_lines(h, from, &is_libedit);
    if (is_libedit || count > 2 * (size_t)TL_HISTORY_MOST)
      rewrite(h);
  }
  fclose(from);
}

// Nothing is written: each input was, when it ran.
void tl_history_close(tl_history *h) {
  while (h->count > 0) free(h->entries[--h->count].text);
  free(h->file);
}

// One call writes the whole line, so lines of two prompts do not mix. What
// cannot be written is kept for this prompt alone.
// O_NONBLOCK, since opening a pipe that nobody reads would wait for ever. The
// file is for its owner alone, as inputs may have passwords.
void tl_history_add(tl_history *h, const char *text, size_t nbytes) {
  if (!add_entry(h, text, nbytes) || h->file == NULL)
    return;
  size_t length;
  char *line = encode(&h->entries[h->count - 1], &length);
  int file = open(h->file,
                  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600);
  if (line != NULL && file >= 0 && write(file, line, length) < 0) {
    free(h->file);
    h->file = NULL;
  }
  if (file >= 0)
    close(file);
  free(line);
}

// Whether the entry begins with the text, or holds it anywhere.
// No bytes fit each entry. An entry that is shorter does not fit.
static bool fits(const tl_entry *entry, const char *text, size_t nbytes,
                 bool anywhere) {
  for (size_t at = 0; at + nbytes <= entry->nbytes; at++) {
    if (memcmp(entry->text + at, text, nbytes) == 0)
      return true;
    if (!anywhere)
      return false;
  }
  return false;
}

// With step -1 from index from - 1 down to 0, with 1 from from + 1 up. From
// count, where the draft is, only -1 finds anything.
size_t tl_history_find(const tl_history *h, size_t from, int step,
                       const char *text, size_t nbytes, bool anywhere) {
  size_t at = from;
  while (step < 0 ? at > 0 : at + 1 < h->count) {
    at = step < 0 ? at - 1 : at + 1;
    if (fits(&h->entries[at], text, nbytes, anywhere))
      return at;
  }
  return h->count;
}
