// What `tally doc` prints, and what `tally doc --check` finds missing.

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "repl/run.h"

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

static void print_summary(tally_vm *vm, const char *name) {
  char copy[256];
  snprintf(copy, sizeof copy, "%s", name);  // the next call may reuse it
  const char *text = tally_documentation(vm, copy);
  int at = printf("%-*s", NAME_COLUMNS, copy);
  print_sentence(text == NULL ? "" : text, at,
                 tl_terminal_width(STDOUT_FILENO));
}

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

static bool begins(tally_vm *vm, const char *name, const char *part) {
  (void)vm;
  return strncmp(name, part, strlen(part)) == 0;
}

static bool is_part(tally_vm *vm, const char *name, const char *part) {
  (void)vm;
  return contains(name, part);
}

static bool is_said(tally_vm *vm, const char *name, const char *part) {
  char copy[256];
  snprintf(copy, sizeof copy, "%s", name);  // the next call may reuse it
  const char *text = tally_documentation(vm, copy);
  return text != NULL && contains(text, part);
}

// Lists the names for which [fits] gives true.
static bool list_names(tally_vm *vm, const char *part,
                       bool (*fits)(tally_vm *, const char *, const char *)) {
  bool found = false;
  const char *name;
  for (size_t i = 0; (name = tally_documented(vm, i)) != NULL; i++) {
    char copy[256];
    snprintf(copy, sizeof copy, "%s", name);
    if (!fits(vm, copy, part))
      continue;
    print_summary(vm, copy);
    found = true;
  }
  return found;
}

// "linalg" lists what begins with "linalg.".
static bool list_module(tally_vm *vm, const char *module) {
  char prefix[256];
  int n = snprintf(prefix, sizeof prefix, "%s.", module);
  return n < (int)sizeof prefix && list_names(vm, prefix, begins);
}

// --- doc --check ------------------------------------------------------------

// Whether one of some words stands in the text; they end with NULL.
static bool has_word(const char *text, const char *const *words) {
  for (; *words != NULL; words++)
    if (strstr(text, *words) != NULL)
      return true;
  return false;
}

// What a documentation must have, told by the words that say it.
static const struct {
  const char *what;
  const char *const *words;
} parts[] = {
    {"dtypes", (const char *const[]){"dtype", "float", "Float", "integer",
                                     "int64", "numeric", "number", "bool",
                                     "complex", "string", "text", "any value",
                                     "record", "list", "bytes", NULL}},
    {"shapes",
     (const char *const[]){"array", "axis", "axes", "shape", "item", "vector",
                           "matri", "scalar", "list", "string", "number",
                           "record", "file", "value", "function", "text",
                           "bytes", NULL}},
    {"errors", (const char *const[]){"error", "never fails", "Never fails",
                                     "cannot fail", NULL}},
    {"an example", (const char *const[]){"\n    ", NULL}},
    {NULL, NULL},
};

// Signs of a formula or a method that somebody found.
static const char *const formula_signs[] = {
    " / (",     "ᵏ",           "ⁿ",          "m₂",          "²",
    "sum over", "sum of a[",   "= sum(",     "exp(",        "log(1",
    "gamma f",  "Fourier",     "polynomial", "approximant", "interpolat",
    "Bessel",   "distributio", "fraction q", "companion",   NULL};

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Whether a text names a source: a year, an RFC or a
// chapter of the Digital Library of Mathematical Functions.
static bool names_source(const char *text) {
  if (strstr(text, "RFC ") != NULL || strstr(text, "DLMF ") != NULL)
    return true;
  for (const char *c = text; *c != 0; c++)
    if (is_digit(*c) && (c == text || !is_digit(c[-1])) && is_digit(c[1]) &&
        is_digit(c[2]) && is_digit(c[3]) && !is_digit(c[4]) &&
        (*c == '1' || *c == '2') && (*c == '2' || c[1] >= '8'))
      return true;
  return false;
}

// What stands in a documentation beside its examples, which are indented.
static void copy_prose(const char *text, char *out, size_t room) {
  size_t n = 0;
  while (*text != 0) {
    size_t length = strcspn(text, "\n");
    bool is_example = strncmp(text, "    ", 4) == 0;
    for (size_t i = 0; !is_example && i < length && n + 2 < room; i++)
      out[n++] = text[i];
    if (n + 1 < room)
      out[n++] = '\n';
    text += length + (text[length] == '\n');
  }
  out[n] = 0;
}

static bool lacks_source(const char *text) {
  char prose[4096];
  copy_prose(text, prose, sizeof prose);
  return has_word(prose, formula_signs) && !names_source(prose);
}

// Prints what the documentation of [name] lacks; true if that is nothing.
static bool check_name(tally_vm *vm, const char *name) {
  const char *text = tally_documentation(vm, name);
  bool is_constant = tally_signature(vm, name) == NULL, complete = true;
  for (int i = 0; parts[i].what != NULL; i++) {
    bool is_example = parts[i + 1].what == NULL;
    if ((is_constant && !is_example) || has_word(text, parts[i].words))
      continue;
    if (complete)
      printf("%s lacks", name);
    printf("%s %s", complete ? "" : ",", parts[i].what);
    complete = false;
  }
  if (lacks_source(text)) {
    if (complete)
      printf("%s lacks", name);
    printf("%s a formula's source", complete ? "" : ",");
    complete = false;
  }
  if (!complete)
    putchar('\n');
  return complete;
}

// Of all names, or of those that begin with [prefix].
static int check_all(tally_vm *vm, const char *prefix) {
  int checked = 0, complete = 0;
  const char *name;
  for (size_t i = 0; (name = tally_documented(vm, i)) != NULL; i++) {
    char copy[256];
    snprintf(copy, sizeof copy, "%s", name);  // the next call may reuse it
    if (strncmp(copy, prefix, strlen(prefix)) != 0)
      continue;
    checked++;
    complete += check_name(vm, copy);
  }
  printf("%d of %d are complete\n", complete, checked);
  return complete == checked && checked > 0 ? TL_DONE : TL_FAILED;
}

int tl_show_doc(tally_vm *vm, const char *name) {
  const char *text = tally_documentation(vm, name);
  if (text != NULL) {
    const char *parameters = tally_signature(vm, name);
    if (parameters == NULL)
      printf("%s\n\n", name);
    else
      printf("%s(%s)\n\n", name, parameters);
    size_t n = strlen(text);
    printf("%s%s", text, n > 0 && text[n - 1] == '\n' ? "" : "\n");
    return TL_DONE;
  }
  if (list_module(vm, name))
    return TL_DONE;
  fprintf(stderr, "there is no documentation of %s\n", name);
  if (!list_names(vm, name, is_part))
    list_names(vm, name, is_said);
  return TL_FAILED;
}

int tl_run_doc(tl_session *session, const tl_command *cmd) {
  if (cmd->check)
    return check_all(session->vm, cmd->subject == NULL ? "" : cmd->subject);
  if (cmd->subject != NULL)
    return tl_show_doc(session->vm, cmd->subject);
  list_names(session->vm, "", begins);
  return TL_DONE;
}
