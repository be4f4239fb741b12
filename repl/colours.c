// Whether there are colours: see colours.h.

#include "repl/colours.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool tl_terminal_is_able(void) {
  const char *name = getenv("TERM");
  return name != NULL && name[0] != 0 && strcmp(name, "dumb") != 0;
}

// An empty NO_COLOR counts as none.
bool tl_has_colours(int file) {
  const char *refused = getenv("NO_COLOR");
  return isatty(file) && tl_terminal_is_able() &&
         (refused == NULL || refused[0] == 0);
}
