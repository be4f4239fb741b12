// Lines edited on a terminal: see editor.h. libedit's own header is not needed,
// since the few declarations used here are copied below, and its functions are
// found by name when a prompt begins.
//
// Order: loading, completion with Tab, keys, opening and reading.
#include "repl/editor.h"

#include <dirent.h>
#include <dlfcn.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "repl/commands.h"
#include "repl/signs.h"

// --- libedit, of its header what is used here -------------------------------

typedef struct editline EditLine;
typedef struct history History;

// libedit's view of the line: text, cursor, end.
typedef struct line_info {
  const char *buffer, *cursor, *end;
} line_info;

typedef struct history_event {
  int number;
  const char *text;
} history_event;

// Constants of libedit's header, for el_set, history and bound functions.
enum {  // for el_set
  EL_PROMPT = 0,
  EL_EDITOR = 2,
  EL_SIGNAL = 3,
  EL_BIND = 4,
  EL_SETTY = 8,
  EL_ADDFN = 9,
  EL_HIST = 10,
  EL_PREP_TERM = 16,
};
enum {
  H_SETSIZE = 1,
  H_ENTER = 10,
  H_LOAD = 17,
  H_SAVE = 18,
  H_SETUNIQUE = 20
};
enum {  // what a bound function returns
  CC_EOF = 2,
  CC_REFRESH = 4,
  CC_ERROR = 6,
  CC_REDISPLAY = 8,
};

// The functions of libedit that are used, found by name.
typedef struct library {
  EditLine *(*init)(const char *, FILE *, FILE *, FILE *);
  void (*end)(EditLine *);
  const char *(*gets)(EditLine *, int *);
  int (*set)(EditLine *, int, ...);
  int (*wset)(EditLine *, int, ...);  // keeps strings where set leaks copies
  int (*source)(EditLine *, const char *);
  const line_info *(*line)(EditLine *);
  int (*insertstr)(EditLine *, const char *);
  void (*deletestr)(EditLine *, int);
  History *(*history_init)(void);
  void (*history_end)(History *);
  int (*history)(History *, history_event *, int, ...);
} library;

// A prompt's editor.
struct tl_editor {
  tally_vm *vm;
  library lib;
  EditLine *edit;
  History *history;
  char *file;  // of the history; NULL: it is not kept
  const char *prompt;
  bool was_interrupted;
};

// A bound function is given libedit's object alone. There is one prompt.
static tl_editor *current;

// Looks up a function; false: this libedit lacks it.
static bool find(void *handle, const char *name, void *function) {
  void *symbol = dlsym(handle, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

// Loads libedit by the names it has on Linux and macOS. It stays loaded, since
// what it knows of terminals is freed by nobody. False where there is none, or
// one that lacks a function: then the prompt reads plain lines.
static bool load(tl_editor *e) {
  static const char *const names[] = {"libedit.so.2", "libedit.so.0",
                                      "libedit.3.dylib", "libedit.dylib"};
  void *handle = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (handle != NULL)
      break;
  }
  library *l = &e->lib;
  return handle != NULL && find(handle, "el_init", &l->init) &&
         find(handle, "el_end", &l->end) && find(handle, "el_gets", &l->gets) &&
         find(handle, "el_set", &l->set) && find(handle, "el_wset", &l->wset) &&
         find(handle, "el_source", &l->source) &&
         find(handle, "el_line", &l->line) &&
         find(handle, "el_insertstr", &l->insertstr) &&
         find(handle, "el_deletestr", &l->deletestr) &&
         find(handle, "history_init", &l->history_init) &&
         find(handle, "history_end", &l->history_end) &&
         find(handle, "history", &l->history);
}

// --- Completion -------------------------------------------------------------

// What the text before the cursor may go on as: names for a word of the
// language, or for a sign after a backslash.
typedef struct choices {
  char **names;
  size_t count, capacity;
} choices;

// Adds a copy of a name; without memory for it there is one choice less.
static void add_choice(choices *c, const char *name) {
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

// Frees the copies and the table.
static void free_choices(choices *c) {
  for (size_t i = 0; i < c->count; i++) free(c->names[i]);
  free(c->names);
}

// Names of the language, the library and the session.
static void add_words(tl_editor *e, const char *text, choices *c) {
  tally_value list, item;
  const char *name;
  size_t nbytes;
  if (tally_complete(e->vm, text, &list) != TALLY_OK)
    return;
  for (size_t i = 0; i < tally_length(e->vm, list); i++) {
    if (tally_item(e->vm, list, i, &item) != TALLY_OK)
      break;
    if (tally_to_string(e->vm, item, &name, &nbytes) == TALLY_OK)
      add_choice(c, name);
    tally_release(e->vm, item);
  }
  tally_release(e->vm, list);
}

// Names of signs, for what stands behind a backslash.
static void add_signs(const char *part, choices *c) {
  for (const tl_sign *s = tl_signs; s->name != NULL; s++) {
    if (strncmp(s->name, part, strlen(part)) == 0)
      add_choice(c, s->name);
  }
}

// Commands of the prompt, for a colon and what follows it.
static void add_commands(const char *part, choices *c) {
  const char *name;
  for (int i = 0; (name = tl_command_name(i)) != NULL; i++) {
    if (strncmp(name, part, strlen(part)) == 0)
      add_choice(c, name);
  }
}

// Files whose names go on from a path; those of folders end with a slash.
// Hidden ones only where a point was written.
static void add_files(const char *path, choices *c) {
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
static const char *open_string(const char *text) {
  const char *begin = NULL;
  for (; *text != 0; text++) {
    if (*text == '\\' && begin != NULL && text[1] != 0)
      text++;
    else if (*text == '"')
      begin = begin == NULL ? text + 1 : NULL;
  }
  return begin;
}

// The file name that a command is given; NULL: it is given none.
static const char *file_of_command(const char *text) {
  bool takes =
      strncmp(text, ":load ", 6) == 0 || strncmp(text, ":save ", 6) == 0;
  return takes ? text + 6 + strspn(text + 6, " ") : NULL;
}

// How much of the name stands at the text's end already. The longest end of the
// text that the name begins with, since where a name begins differs for words,
// signs and files.
static size_t typed_length(const char *text, const char *name) {
  size_t end = strlen(text), n = strlen(name);
  for (size_t length = n < end ? n : end; length > 0; length--)
    if (memcmp(text + end - length, name, length) == 0)
      return length;
  return 0;
}

// How many bytes all choices begin with.
static size_t common_length(const choices *c) {
  size_t length = strlen(c->names[0]);
  for (size_t i = 1; i < c->count; i++) {
    size_t same = 0;
    while (same < length && c->names[i][same] == c->names[0][same]) same++;
    length = same;
  }
  return length;
}

// Code points, each taken for one column.
static int display_width(const char *text) {
  int width = 0;
  for (; *text != 0; text++) width += ((unsigned char)*text & 0xc0) != 0x80;
  return width;
}

// Prints the choices in columns, from top to bottom.
static void list_choices(const choices *c) {
  int widest = 0;
  for (size_t i = 0; i < c->count; i++) {
    int width = display_width(c->names[i]);
    widest = width > widest ? width : widest;
  }
  size_t columns = widest + 2 >= 78 ? 1 : 78 / (size_t)(widest + 2);
  size_t rows = (c->count + columns - 1) / columns;
  putchar('\n');
  for (size_t row = 0; row < rows; row++) {
    for (size_t i = row; i < c->count; i += rows) {
      int gap = widest + 2 - display_width(c->names[i]);
      printf("%s%*s", c->names[i], i + rows < c->count ? gap : 0, "");
    }
    putchar('\n');
  }
  fflush(stdout);
}

// Puts the sign in place of \name; false: there is none of that name.
static bool put_sign(tl_editor *e, EditLine *edit, const char *name) {
  for (const tl_sign *s = tl_signs; s->name != NULL; s++) {
    if (strcmp(s->name, name) != 0)
      continue;
    e->lib.deletestr(edit, (int)strlen(name) + 1);
    e->lib.insertstr(edit, s->sign);
    return true;
  }
  return false;
}

// Completes the text as far as all choices agree, else lists them.
static int use_choices(tl_editor *e, EditLine *edit, const char *text,
                       const choices *c) {
  if (c->count == 0)
    return CC_ERROR;
  size_t typed = typed_length(text, c->names[0]), common = common_length(c);
  // Nothing more is common to all choices: show them.
  if (common <= typed && c->count > 1) {
    list_choices(c);
    return CC_REDISPLAY;
  }
  c->names[0][common] = 0;
  if (common > typed)
    e->lib.insertstr(edit, c->names[0] + typed);
  return CC_REFRESH;
}

// What Tab does with the text before the cursor.
static int complete_text(tl_editor *e, EditLine *edit, const char *text) {
  if (text[strspn(text, " \t")] == 0) {
    e->lib.insertstr(edit, "  ");  // Tab at the front indents
    return CC_REFRESH;
  }
  choices c = {.names = NULL};
  const char *slash = strrchr(text, '\\'), *file = open_string(text);
  int result;
  if (file == NULL)
    file = file_of_command(text);
  // A backslash with a name behind it: a sign.
  if (slash != NULL && strpbrk(slash, " \t\"") == NULL) {
    add_signs(slash + 1, &c);
    result = use_choices(e, edit, text, &c);
    if (c.count == 1 ? put_sign(e, edit, c.names[0])
                     : put_sign(e, edit, slash + 1))
      result = CC_REFRESH;
  } else {
    if (file != NULL)
      add_files(file, &c);
    else if (text[0] == ':' && strchr(text, ' ') == NULL)
      add_commands(text + 1, &c);
    else
      add_words(e, text, &c);
    result = use_choices(e, edit, text, &c);
  }
  free_choices(&c);
  return result;
}

// The function that libedit calls for Tab.
static int complete(EditLine *edit, int key) {
  (void)key;
  tl_editor *e = current;
  const line_info *line = e->lib.line(edit);
  size_t nbytes = (size_t)(line->cursor - line->buffer);
  char *text = malloc(nbytes + 1);
  if (text == NULL)
    return CC_ERROR;
  memcpy(text, line->buffer, nbytes);
  text[nbytes] = 0;
  int result = complete_text(e, edit, text);
  free(text);
  return result;
}

// --- Keys -------------------------------------------------------------------

// Ctrl-C is a key while a line is edited: it gives the line up.
static int interrupt(EditLine *edit, int key) {
  (void)edit, (void)key;
  current->was_interrupted = true;
  return CC_EOF;
}

// Ctrl-Z stops the command as the shell expects.
static int suspend(EditLine *edit, int key) {
  (void)edit, (void)key;
  raise(SIGTSTP);
  return CC_REFRESH;
}

// libedit asks for the prompt each time it draws the line.
static char *show_prompt(EditLine *edit) {
  (void)edit;
  static char text[16];
  snprintf(text, sizeof text, "%s", current->prompt);
  return text;
}

// Binds keys, and takes Ctrl-C and Ctrl-Z from the terminal while a line is
// edited.
static void bind_keys(tl_editor *e) {
  static const char *const keys[][2] = {
      {"^I", "tally-complete"},
      {"^C", "tally-interrupt"},
      {"^Z", "tally-suspend"},
      {"^R", "em-inc-search-prev"},
      {"\033[H", "ed-move-to-beg"},
      {"\033[F", "ed-move-to-end"},
      {"\033OH", "ed-move-to-beg"},
      {"\033OF", "ed-move-to-end"},
      {"\033[3~", "ed-delete-next-char"},
  };
  const library *l = &e->lib;
  l->wset(e->edit, EL_ADDFN, L"tally-complete", L"Completes a name", complete);
  l->wset(e->edit, EL_ADDFN, L"tally-interrupt", L"Gives the line up",
          interrupt);
  l->wset(e->edit, EL_ADDFN, L"tally-suspend", L"Stops the command", suspend);
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    l->set(e->edit, EL_BIND, keys[i][0], keys[i][1], NULL);
  l->set(e->edit, EL_SETTY, "-d", "-isig", NULL);
}

// --- Life -------------------------------------------------------------------

// ~/.tally_history, or where TALLY_HISTORY says; NULL: nowhere.
static char *history_file(void) {
  const char *given = getenv("TALLY_HISTORY"), *home = getenv("HOME");
  if (given == NULL && (home == NULL || home[0] == 0))
    return NULL;
  if (given != NULL && given[0] == 0)
    return NULL;
  size_t size = strlen(given == NULL ? home : given) + 32;
  char *file = malloc(size);
  if (file != NULL) {
    snprintf(file, size, "%s%s", given == NULL ? home : given,
             given == NULL ? "/.tally_history" : "");
  }
  return file;
}

// Reads the history; without memory for it there is none.
static void open_history(tl_editor *e) {
  history_event event;
  e->history = e->lib.history_init();
  if (e->history == NULL)
    return;
  e->lib.history(e->history, &event, H_SETSIZE, 1000);
  e->lib.history(e->history, &event, H_SETUNIQUE, 1);
  e->file = history_file();
  if (e->file != NULL)
    e->lib.history(e->history, &event, H_LOAD, e->file);
  e->lib.set(e->edit, EL_HIST, e->lib.history, e->history);
}

// libedit reads text in the locale's encoding, and Tally's is UTF-8: false
// where no such locale is to be had.
static bool use_utf8(void) {
  setlocale(LC_CTYPE, "");
  if (strcmp(nl_langinfo(CODESET), "UTF-8") == 0)
    return true;
  return setlocale(LC_CTYPE, "C.UTF-8") != NULL ||
         setlocale(LC_CTYPE, "en_US.UTF-8") != NULL;
}

// libedit works with a terminal on both ends and a locale of UTF-8.
tl_editor *tl_editor_open(tally_vm *vm) {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !use_utf8())
    return NULL;
  tl_editor *e = calloc(1, sizeof *e);
  if (e == NULL)
    return NULL;
  e->vm = vm;
  e->prompt = "";
  current = e;
  if (load(e))
    e->edit = e->lib.init("tally", stdin, stdout, stderr);
  if (e->edit == NULL) {
    tl_editor_close(e);
    return NULL;
  }
  e->lib.set(e->edit, EL_PROMPT, show_prompt);
  e->lib.set(e->edit, EL_EDITOR, "emacs");
  e->lib.set(e->edit, EL_SIGNAL, 1);
  open_history(e);
  bind_keys(e);
  e->lib.source(e->edit, NULL);  // ~/.editrc
  return e;
}

// Also undoes an opening that failed half-way, so each part is tested.
void tl_editor_close(tl_editor *e) {
  if (e == NULL)
    return;
  history_event event;
  if (e->history != NULL && e->file != NULL)
    e->lib.history(e->history, &event, H_SAVE, e->file);
  if (e->history != NULL)
    e->lib.history_end(e->history);
  if (e->edit != NULL)
    e->lib.end(e->edit);
  free(e->file);
  free(e);
  current = NULL;
}

// A flag distinguishes Ctrl-C from the end of input, as libedit returns NULL
// for both.
tl_reading tl_editor_read(tl_editor *e, const char *prompt, const char **line,
                          size_t *nbytes) {
  int length = 0;
  e->prompt = prompt;
  e->was_interrupted = false;
  // Before the prompt shows, else a quick Ctrl-D is the terminal's own.
  e->lib.set(e->edit, EL_PREP_TERM, 1);
  *line = e->lib.gets(e->edit, &length);
  if (e->was_interrupted)
    return TL_READ_INTERRUPTED;
  if (*line == NULL || length <= 0)
    return length < 0 ? TL_READ_FAILED : TL_READ_END;
  *nbytes = (size_t)length;
  return TL_READ_LINE;
}

// Inputs of blanks are not remembered.
void tl_editor_remember(tl_editor *e, const char *input) {
  history_event event;
  if (e->history != NULL && input[strspn(input, " \t\r\n")] != 0)
    e->lib.history(e->history, &event, H_ENTER, input);
}
