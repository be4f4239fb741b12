// Choices for Tab: see completion.h.
//
//     the text ends with   found by       choices
//     \alp                 find_signs     alpha, and the sign that replaces it
//     "data/x              add_files      x1.csv, x2.csv
//     :load x              add_files      likewise
//     :ti                  add_commands   time
//     mean(x, ax           add_words      axis:
//
// Choices are whole names; how much of one stands there already is found by
// comparing, in tl_choices_typed.

#include "repl/completion.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "repl/commands.h"
#include "repl/run.h"
#include "repl/screen.h"
#include "repl/signs.h"

// Adds a copy of the name, also of one that is there; without memory none.
static void add_choice(void *context, const char *name) {
  tl_choices *c = context;
  if (c->count == c->capacity) {
    size_t capacity = c->capacity * 2 + 32;
    char **names = realloc(c->names, capacity * sizeof *names);
    if (names == NULL)
      return;
    c->names = names;
    c->capacity = capacity;
  }
  char *copy = malloc(strlen(name) + 1);
  if (copy != NULL)
    c->names[c->count++] = strcpy(copy, name);
}

void tl_choices_add(tl_choices *c, const char *name) {
  size_t i = 0;
  while (i < c->count && strcmp(c->names[i], name) != 0) i++;
  if (i == c->count)
    add_choice(c, name);
}

// Frees the copies and the table.
void tl_choices_free(tl_choices *c) {
  for (size_t i = 0; i < c->count; i++) free(c->names[i]);
  free(c->names);
  *c = (tl_choices){.names = NULL};
}

// Names of the language, the library and the session.
// The VM gives them in order, each once. Nothing is run, and an error, such as
// no memory, means no choices.
static void add_words(tally_vm *vm, const char *text, tl_choices *c) {
  tally_value list;
  if (tally_complete(vm, text, &list) != TALLY_OK)
    return;
  tl_each_text(vm, list, add_choice, c);
  tally_release(vm, list);
}

// Names of signs, for what stands behind a backslash.
// [part] is without the backslash; an empty one gets all.
static void add_signs(const char *part, tl_choices *c) {
  for (const tl_sign *s = tl_signs; s->name != NULL; s++)
    if (strncmp(s->name, part, strlen(part)) == 0)
      add_choice(c, s->name);
}

// Commands of the prompt, for a colon and what follows it.
// [part] is without the colon.
static void add_commands(const char *part, tl_choices *c) {
  const char *name;
  for (int i = 0; (name = tl_command_name(i)) != NULL; i++)
    if (strncmp(name, part, strlen(part)) == 0)
      add_choice(c, name);
}

// Files whose names go on from a path; those of folders end with a slash.
// Hidden ones only where a point was written.
// In the folder's own order, whatever that is. Of a path without a slash the
// working directory is looked at. A folder that cannot be read, or whose path
// has 1024 bytes, has no files. name has room for the 255 bytes that a name
// has at most, the slash and the zero.
static void add_files(const char *path, tl_choices *c) {
  const char *slash = strrchr(path, '/'), *part = slash ? slash + 1 : path;
  char folder[1024], name[300];
  int n = snprintf(folder, sizeof folder, "%.*s", (int)(part - path), path);
  DIR *dir = n < 0 || (size_t)n >= sizeof folder
                 ? NULL
                 : opendir(n > 0 ? folder : ".");
  if (dir == NULL)
    return;
  for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
    if (strncmp(entry->d_name, part, strlen(part)) != 0 ||
        (entry->d_name[0] == '.' && part[0] != '.'))
      continue;
    struct stat what;
    bool is_folder = fstatat(dirfd(dir), entry->d_name, &what, 0) == 0 &&
                     S_ISDIR(what.st_mode);
    snprintf(name, sizeof name, "%s%s", entry->d_name, is_folder ? "/" : "");
    add_choice(c, name);
  }
  closedir(dir);
}

// Where a string begins that is open at the text's end; NULL: none is. A
// backslash hides the sign behind it.
// From the text's begin each time, as only that shows which quotes open. Holes
// and comments are not reckoned with: a quote in a comment offers files.
static const char *open_string(const char *text) {
  const char *begin = NULL;
  for (; *text != 0; text++)
    if (*text == '\\' && begin != NULL && text[1] != 0)
      text++;
    else if (*text == '"')
      begin = begin == NULL ? text + 1 : NULL;
  return begin;
}

// The file name that a command is given; NULL: it is given none.
// Those commands whose table in commands.c says FILE, by their whole names.
static const char *file_of_command(const char *text) {
  bool takes =
      strncmp(text, ":load ", 6) == 0 || strncmp(text, ":save ", 6) == 0;
  return takes ? text + 6 + strspn(text + 6, " ") : NULL;
}

// A backslash with a name behind it. A name that is whole, or the only one that
// goes on so, stands for its sign.
//
//     \alpha    alpha is whole: α
//     \alp      alpha alone begins so: α
//     \in       is whole, though int goes on from it: ∈
//     \i        several: their list
static void find_signs(tl_choices *c, const char *slash) {
  add_signs(slash + 1, c);
  const char *name = c->count == 1 ? c->names[0] : slash + 1;
  for (const tl_sign *s = tl_signs; s->name != NULL; s++)
    if (strcmp(s->name, name) == 0)
      c->sign = s->sign;
  c->replaced = strlen(slash);
}

// A backslash comes first, as signs are typed within strings as well; behind a
// blank or a quote it is no sign's any more.
void tl_choices_find(tl_choices *c, tally_vm *vm, const char *text) {
  const char *slash = strrchr(text, '\\'), *file = open_string(text);
  if (file == NULL)
    file = file_of_command(text);
  if (slash != NULL && strpbrk(slash, " \t\n\"") == NULL)
    find_signs(c, slash);
  else if (file != NULL)
    add_files(file, c);
  else if (text[0] == ':' && strchr(text, ' ') == NULL)
    add_commands(text + 1, c);
  else
    add_words(vm, text, c);
}

// The longest end of the text that the first name begins with, since where a
// name begins differs for words, signs and files.
// There is one choice at least. Where the end of what stands before the word
// happens to fit, too, that counts as typed: behind `"a/` a folder `a/` within
// it counts as whole.
size_t tl_choices_typed(const tl_choices *c, const char *text) {
  const char *name = c->names[0];
  size_t end = strlen(text), n = strlen(name);
  for (size_t length = n < end ? n : end; length > 0; length--)
    if (memcmp(text + end - length, name, length) == 0)
      return length;
  return 0;
}

// Whole characters: β and γ have their first byte in common, which alone is no
// text.
size_t tl_choices_common(const tl_choices *c) {
  const char *name = c->names[0];
  size_t length = strlen(name);
  for (size_t i = 1; i < c->count; i++) {
    size_t same = 0;
    while (same < length && c->names[i][same] == name[same]) same++;
    length = same;
  }
  while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80) length--;
  return length;
}

// Cells that the widest takes.
// At least 1, so that no division is by less than 3.
static int widest_of(const tl_choices *c) {
  int widest = 1;
  for (size_t i = 0; i < c->count; i++) {
    int width = tl_cells(c->names[i], strlen(c->names[i]));
    widest = width > widest ? width : widest;
  }
  return widest;
}

// A gap of two between columns. The text is written to a stream in memory, so
// that its length need not be known.
//
//     7 columns, 4 rows     a  e     7 columns, 3 rows     a  c
//                           b  f                           b  d
//                           c  g                           3 more
//                           d
//
// Where names are cut off, their number takes one of the lines; with a single
// line it comes below.
char *tl_choices_list(const tl_choices *c, int columns, int rows) {
  char *text = NULL;
  size_t nbytes;
  FILE *to = open_memstream(&text, &nbytes);
  if (to == NULL)
    return NULL;
  int widest = widest_of(c);
  size_t across = columns > widest + 2 ? (size_t)(columns / (widest + 2)) : 1;
  size_t down = (c->count + across - 1) / across, shown = c->count;
  // A single line is shown even where no row is to spare: cut shorter than it
  // is, it would claim more names than there are.
  if (down > 1 && down > (size_t)rows) {
    down = rows > 1 ? (size_t)rows - 1 : 1;
    shown = down * across;
  }
  for (size_t row = 0; row < down; row++) {
    for (size_t i = row; i < shown; i += down) {
      const char *name = c->names[i];
      bool is_last = i + down >= shown;
      int gap = widest + 2 - tl_cells(name, strlen(name));
      fprintf(to, "%s%*s", name, is_last ? 0 : gap, "");
    }
    if (row + 1 < down)
      fputc('\n', to);
  }
  if (shown < c->count)
    fprintf(to, "\n%zu more", c->count - shown);
  fclose(to);
  return text;
}
