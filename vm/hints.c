// What people write who know other languages and libraries, and what to say to
// it: a search in the lines of hints.txt, which the build puts into the
// library.
//
// Built for size.
#include "vm/hints.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// Linear, as there are few lines, and only messages ask.
const char *tl_hint(const char *kind, const char *word, size_t nbytes) {
  const size_t begin = strlen(kind);
  for (const char *line = tl_hint_lines; *line != 0; line += strlen(line) + 1) {
    if (strncmp(line, kind, begin) != 0 || line[begin] != ' ')
      continue;
    const char *written = line + begin + 1;
    if (strncmp(written, word, nbytes) == 0 && written[nbytes] == ' ')
      return written + nbytes + strspn(written + nbytes, " ");
  }
  return NULL;
}

// The same of a word below another, as in "random.rand"; [first] may be NULL.
static const char *hint_below(const char *kind, const char *first,
                              const char *second) {
  char word[80];
  int n = snprintf(word, sizeof word, "%s%s%s", first == NULL ? "" : first,
                   first == NULL ? "" : ".", second);
  return n < (int)sizeof word ? tl_hint(kind, word, (size_t)n) : NULL;
}

const char *tl_parameter_hint(const char *function, const char *parameter) {
  return hint_below("parameter", function, parameter);
}

// The length of the module's name that a code begins with; 0: none.
static size_t module_length(const char *code) {
  size_t n = 0;
  while (isalpha((unsigned char)code[n])) n++;
  return n > 1 && code[n] == '.' ? n : 0;
}

// A sentence of its own goes before a code.
const char *tl_name_hint(const char *module, const char *name, char *buffer,
                         size_t size) {
  const char *said = module == NULL ? hint_below("name", NULL, name) : NULL;
  const char *code = said == NULL ? hint_below("code", module, name) : NULL;
  if (code == NULL)
    return said;
  size_t n = module_length(code);
  bool imported = n == 0 || (module != NULL && strlen(module) == n &&
                             memcmp(module, code, n) == 0);
  snprintf(buffer, size,
           imported ? "write %s" : "write %s, and import %.*s first", code,
           (int)n, code);
  return buffer;
}
