// What `tally doc` and ?NAME print, and what `tally doc --check` finds missing.
//
//     tl_run_doc ─ list_topics          no NAME: all names under their topics
//                ─ show_file            FILE.tly: its ## lines
//                ─ tl_show_doc          NAME: its text, else what is like it
//                ─ check_all            --check
//                ─ tl_doc_html, _man    --html DIR, --man

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "repl/doc.h"
#include "repl/colours.h"
#include "repl/run.h"
#include "repl/wrap.h"

// Columns for the name in a list.
enum { NAME_COLUMNS = 24 };

// How many bytes and columns the word at [text] has.
static size_t word_at(const char *text, int *columns) {
  size_t n = 0;
  for (*columns = 0; text[n] != 0 && text[n] != ' ' && text[n] != '\n'; n++)
    *columns += ((unsigned char)text[n] & 0xC0) != 0x80;
  return n;
}

// The first sentence of a documentation behind a name: on one line, or within
// the terminal's [width].
static void print_sentence(const char *text, int at, int width) {
  bool ends = false;
  while (!ends && *text != 0) {
    int columns;
    size_t n = word_at(text, &columns);
    // The sentence ends with a word that ends with one point.
    ends = n > 1 && text[n - 1] == '.' && text[n - 2] != '.';
    if (width > 2 * NAME_COLUMNS && at + 1 + columns > width) {
      printf("\n%*s", NAME_COLUMNS, "");
      at = NAME_COLUMNS;
    }
    printf(" %.*s", (int)n, text);
    at += columns + 1;
    text += n + (text[n] != 0);
  }
  putchar('\n');
}

// A name and its first sentence.
static void print_summary(tally_vm *vm, const char *name) {
  char copy[256];
  snprintf(copy, sizeof copy, "%s", name);  // the next call may reuse it
  const char *text = tally_documentation(vm, copy);
  int at = printf("%-*s", NAME_COLUMNS, copy);
  print_sentence(text == NULL ? "" : text, at,
                 tl_terminal_width(STDOUT_FILENO));
}

// The small letter of a capital one of ASCII; other bytes stay, so a text in
// UTF-8 stays one.
static char small(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

// Whether [part] stands in [text], in capital or small letters.
static bool contains(const char *text, const char *part) {
  for (; *text != 0; text++) {
    size_t n = 0;
    while (part[n] != 0 && small(text[n]) == small(part[n])) n++;
    if (part[n] == 0)
      return true;
  }
  return false;
}

// Predicates for list_names: the name begins with [part], contains it, or its
// documentation does.
static bool begins(tally_vm *vm, const char *name, const char *part) {
  (void)vm;
  return strncmp(name, part, strlen(part)) == 0;
}

static bool is_part(tally_vm *vm, const char *name, const char *part) {
  (void)vm;
  return contains(name, part);
}

// A name of the library's list is good only until the next call, so it is
// copied.
static bool is_said(tally_vm *vm, const char *name, const char *part) {
  char copy[256];
  snprintf(copy, sizeof copy, "%s", name);  // the next call may reuse it
  const char *text = tally_documentation(vm, copy);
  return text != NULL && contains(text, part);
}

// Lists the names for which [fits] gives true, [most] of them, and says how
// many more there are; returns whether there are any.
static bool list_names(tally_vm *vm, const char *part,
                       bool (*fits)(tally_vm *, const char *, const char *),
                       size_t most) {
  size_t found = 0;
  const char *name;
  for (size_t i = 0; (name = tally_documented(vm, i)) != NULL; i++) {
    char copy[256];
    snprintf(copy, sizeof copy, "%s", name);
    if (fits(vm, copy, part) && ++found <= most)
      print_summary(vm, copy);
  }
  if (found > most)
    printf("and %zu more\n", found - most);
  return found > 0;
}

// All names under their topics, which come in the order of their first names.
static bool list_topics(tally_vm *vm) {
  size_t count;
  const char **topics = tl_doc_topics(vm, &count);
  for (size_t i = 0; topics != NULL && i < count; i++) {
    const char *topic = topics[i];
    if (topic == NULL)
      continue;
    printf("%s# %s\n\n", i == 0 ? "" : "\n",
           topic[0] == 0 ? "of the host" : topic);
    for (size_t k = i; k < count; k++) {
      if (topics[k] == NULL || strcmp(topics[k], topic) != 0)
        continue;
      print_summary(vm, tally_documented(vm, k));
      topics[k] = NULL;
    }
  }
  bool listed = topics != NULL;
  free(topics);
  return listed;
}

// "linalg" lists what begins with "linalg."; false: nothing does.
static bool list_module(tally_vm *vm, const char *module) {
  char prefix[256];
  int n = snprintf(prefix, sizeof prefix, "%s.", module);
  return n < (int)sizeof prefix && list_names(vm, prefix, begins, SIZE_MAX);
}

// What words of Python, R, MATLAB and Julia are called here: names, or modules
// with a point, parted by blanks. `tally doc --check` looks for each of them.
static const struct {
  const char *word, *names;
} synonyms[] = {
    {"apply", "each map_axis"},
    {"argparse", "os.args"},
    {"cellfun", "each"},
    {"concatenate", "concat stack"},
    {"dataframe", "io.read_csv rows columns group_by"},
    {"datetime", "time."},
    {"delete", "pop"},
    {"dict", "keys values has put pop"},
    {"dropna", "drop_missing"},
    {"exception", "error assert"},
    {"exit", "os.exit"},
    {"fillna", "fill_missing"},
    {"findall", "strings.matches"},
    {"fopen", "io.open"},
    {"getenv", "os.getenv"},
    {"glob", "os.list"},
    {"groupby", "group_by"},
    {"gsub", "strings.substitute replace"},
    {"hashmap", "keys values has put pop"},
    {"isna", "is_missing isnan"},
    {"lapply", "each"},
    {"lm", "stats.linear_regression linalg.lstsq polyfit"},
    {"map", "each map_axis"},
    {"merge", "isin searchsorted group_by cartesian"},
    {"paste", "join format"},
    {"pickle", "io.write_npz json.format"},
    {"quit", "os.exit"},
    {"raise", "error"},
    {"reduce", "fold scan"},
    {"regex",
     "strings.match strings.matches strings.substitute "
     "strings.split_matches"},
    {"regexp",
     "strings.match strings.matches strings.substitute "
     "strings.split_matches"},
    {"rolling", "sliding_windows convolve"},
    {"sapply", "each"},
    {"set", "unique isin unique_counts"},
    {"sprintf", "format"},
    {"stdin", "io.stdin input"},
    {"sub", "strings.substitute replace subtract"},
    {"tapply", "group_by"},
    {"throw", "error"},
    {"tic", "time.clock"},
    {"toc", "time.clock"},
    {"unittest", "assert"},
};

enum { SYNONYMS = sizeof synonyms / sizeof *synonyms };

// The next of the names at [*names], into [name]; false: there is none.
static bool next_name(const char **names, char name[64]) {
  *names += strspn(*names, " ");
  size_t n = strcspn(*names, " ");
  snprintf(name, 64, "%.*s", (int)n, *names);
  *names += n;
  return n > 0;
}

// Lists what another language's word is called here; false: none is known.
static bool list_synonyms(tally_vm *vm, const char *word) {
  char name[64];
  for (int i = 0; i < SYNONYMS; i++) {
    if (strcmp(synonyms[i].word, word) != 0)
      continue;
    for (const char *at = synonyms[i].names; next_name(&at, name);) {
      if (name[strlen(name) - 1] == '.')
        list_names(vm, name, begins, SIZE_MAX);
      else
        print_summary(vm, name);
    }
    return true;
  }
  return false;
}

// Whether any name begins so.
static bool is_begun(tally_vm *vm, const char *prefix) {
  const char *name;
  for (size_t i = 0; (name = tally_documented(vm, i)) != NULL; i++)
    if (strncmp(name, prefix, strlen(prefix)) == 0)
      return true;
  return false;
}

// Says which synonyms stand for nothing; true: none does.
static bool check_synonyms(tally_vm *vm) {
  bool complete = true;
  char name[64];
  for (int i = 0; i < SYNONYMS; i++) {
    for (const char *at = synonyms[i].names; next_name(&at, name);) {
      bool is_module = name[strlen(name) - 1] == '.';
      if (is_module ? is_begun(vm, name)
                    : tally_documentation(vm, name) != NULL)
        continue;
      printf("%s stands for %s, which is not there\n", synonyms[i].word, name);
      complete = false;
    }
  }
  return complete;
}

// --- doc --check ------------------------------------------------------------

// Checks all names, or those that begin with [prefix]; returns the exit status.
static int check_all(tl_session *session, const char *prefix) {
  int complete = 0;
  tl_session_begin();
  int result =
      tl_session_end(session, tl_doc_check(session->vm, prefix, &complete));
  // Synonyms are checked when everything is.
  bool known = prefix[0] != 0 || check_synonyms(session->vm);
  return result == TL_DONE && complete && known ? TL_DONE : TL_FAILED;
}

// Prints a description and releases it; false: it is empty.
static bool print_described(tally_vm *vm, tally_value value) {
  const char *text;
  size_t nbytes = 0;
  if (tally_to_string(vm, value, &text, &nbytes) == TALLY_OK)
    fwrite(text, 1, nbytes, stdout);
  tally_release(vm, value);
  return nbytes > 0;
}

// Prints what a script's ## lines say of its functions; the script is not run.
static int show_file(tl_session *session, const char *path) {
  tally_value value;
  tl_session_begin();
  tally_status status =
      tally_describe_source(session->vm, path, NULL, 0, &value);
  int result = tl_session_end(session, status);
  if (status != TALLY_OK || print_described(session->vm, value))
    return result;
  fprintf(stderr, "%s defines no function\n", path);
  return TL_FAILED;
}

// Whether the subject of a command is the path of a script and no name.
static bool is_script(const char *name) {
  size_t n = strlen(name);
  return n > 4 && strcmp(name + n - 4, ".tly") == 0;
}

// What the compiler says to an unknown name, until the next call:
// "; did you mean sort?", or "". Nothing runs.
static const char *near_name(tally_vm *vm, const char *name) {
  tally_value ignored;
  tally_status status = tally_compile(vm, name, &ignored);
  if (status == TALLY_OK) {
    tally_release(vm, ignored);
    return "";
  }
  const char *near = strstr(tally_error(vm)->message, "; did you mean");
  return near == NULL ? "" : near;
}

// Where many names fit, a screen shows the first ones.
int tl_search_doc(tally_vm *vm, const char *text) {
  const size_t most = 24;
  bool found = list_synonyms(vm, text);
  found |= list_names(vm, text, is_part, most);
  if (found || list_names(vm, text, is_said, most))
    return TL_DONE;
  fprintf(stderr, "there is no documentation of %s%s\n", text,
          near_name(vm, text));
  return TL_FAILED;
}

// Prints what the library says of a name. On a terminal that has less than the
// 80 columns of its lines, those of a paragraph become one, cut anew.
static void print_documentation(const char *name, const char *parameters,
                                const char *text) {
  const int width = tl_terminal_width(STDOUT_FILENO);
  const char *open = parameters == NULL ? "" : "(";
  const char *close = parameters == NULL ? "" : ")";
  if (parameters == NULL)
    parameters = "";
  size_t nbytes = strlen(name) + strlen(parameters) + strlen(text) + 6;
  char *all = malloc(nbytes);
  if (all == NULL) {
    fputs("tally: no memory for this text\n", stderr);
    return;
  }
  snprintf(all, nbytes, "%s%s%s%s\n\n%s", name, open, parameters, close, text);
  bool is_prose = true;
  for (char *at = all; width > 0 && width < 80 && *at != 0; at++) {
    if (*at != '\n')
      continue;
    if (is_prose && at[1] != 0 && strchr(" \n", at[1]) == NULL)
      *at = ' ';
    else
      is_prose = strchr(" \n", at[1]) == NULL;
  }
  tl_write_wrapped(stdout, all, width, false);
  if (all[strlen(all) - 1] != '\n')
    putchar('\n');
  free(all);
}

// From the narrow to the wide: a script's own function, a documented name, a
// module, another language's word, names that contain it, texts that do.
int tl_show_doc(tally_vm *vm, const char *name) {
  tally_value own;
  if (tally_describe(vm, name, &own) == TALLY_OK && print_described(vm, own))
    return TL_DONE;
  const char *text = tally_documentation(vm, name);
  if (text != NULL) {
    print_documentation(name, tally_signature(vm, name), text);
    return TL_DONE;
  }
  return list_module(vm, name) ? TL_DONE : tl_search_doc(vm, name);
}

// Whether an import of a module finds a file of that ending, here or in
// TALLY_PATH.
static bool has_file(const char *name, size_t n, const char *ending) {
  char path[1024];
  const char *list = getenv("TALLY_PATH");
  snprintf(path, sizeof path, "%.*s%s", (int)n, name, ending);
  bool found = access(path, R_OK) == 0;
  while (!found && list != NULL && *list != 0) {
    size_t length = strcspn(list, ":");
    int size = snprintf(path, sizeof path, "%.*s/%.*s%s", (int)length, list,
                        (int)n, name, ending);
    found = size < (int)sizeof path && access(path, R_OK) == 0;
    list += length + (list[length] == ':');
  }
  return found;
}

// Imports the native module of a name that nobody knows, which adds its
// documentation. A module in Tally is left alone, since documentation runs no
// scripts. Whether it fails is of no interest here.
static void import_module_of(tally_vm *vm, const char *name) {
  char text[160];
  size_t n = strcspn(name, ".");
  if (tally_documentation(vm, name) != NULL || n == 0 || n > 100 ||
      is_begun(vm, name) || has_file(name, n, ".tly"))
    return;
  snprintf(text, sizeof text, "import %.*s", (int)n, name);
  tally_eval(vm, text, NULL);
}

// Writes the reference as HTML into the folder of --html, or else for man;
// returns the exit status.
static int write_reference(tl_session *session, const tl_command *cmd) {
  tl_session_begin();
  return tl_session_end(session, cmd->html == NULL
                                     ? tl_doc_man(session->vm)
                                     : tl_doc_html(session->vm, cmd->html));
}

//   tally doc            all topics with their names
//   tally doc NAME       what tl_show_doc has
//   tally doc FILE.tly   the documentation in a script
//   tally doc --check    what lacks documentation
//   tally doc --html DIR, --man   the reference
int tl_run_doc(tl_session *session, const tl_command *cmd) {
  if (cmd->html != NULL || cmd->man)
    return write_reference(session, cmd);
  if (cmd->check)
    return check_all(session, cmd->subject == NULL ? "" : cmd->subject);
  if (cmd->subject != NULL && is_script(cmd->subject))
    return show_file(session, cmd->subject);
  if (cmd->subject != NULL) {
    import_module_of(session->vm, cmd->subject);
    return tl_show_doc(session->vm, cmd->subject);
  }
  return list_topics(session->vm) ? TL_DONE : TL_FAILED;
}
