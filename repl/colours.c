// What a terminal can do, and how large it is: see colours.h.

#include "repl/colours.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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

// Whether a variable of the environment begins so.
static bool begins(const char *variable, const char *with) {
  const char *value = getenv(variable);
  return value != NULL && strncmp(value, with, strlen(with)) == 0;
}

// Terminals tell their names in TERM or TERM_PROGRAM. A multiplexer between
// passes these on, but no images.
int tl_picture_form(int file) {
  static const struct {
    const char *variable, *name;
    int form;
  } known[] = {
      {"TALLY_PICTURES", "kitty", 2},
      {"TALLY_PICTURES", "sixel", 3},
      {"TALLY_PICTURES", "", 1},
      {"TMUX", "", 1},
      {"STY", "", 1},
      {"TERM", "tmux", 1},
      {"TERM", "screen", 1},
      {"TERM", "xterm-kitty", 2},
      {"TERM", "xterm-ghostty", 2},
      {"KITTY_WINDOW_ID", "", 2},
      {"TERM_PROGRAM", "ghostty", 2},
      {"TERM_PROGRAM", "WezTerm", 2},
      {"TERM_PROGRAM", "iTerm", 3},
      {"TERM_PROGRAM", "mintty", 3},
      {"TERM", "foot", 3},
      {"TERM", "mlterm", 3},
      {"TERM", "contour", 3},
  };
  if (!tl_has_colours(file))
    return 0;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (begins(known[i].variable, known[i].name))
      return known[i].form;
  return 1;
}

// What is no terminal, a file or a pipe, fails the request, and both are 0. A
// terminal that does not know its size says 0, as do systems without that
// request.
static void measure_terminal(int file, int *columns, int *lines) {
  *columns = *lines = 0;
#ifdef TIOCGWINSZ
  struct winsize size;
  if (ioctl(file, TIOCGWINSZ, &size) == 0) {
    *columns = size.ws_col;
    *lines = size.ws_row;
  }
#endif
  (void)file;
}

int tl_terminal_width(int file) {
  int columns, lines;
  measure_terminal(file, &columns, &lines);
  return columns;
}

int tl_terminal_height(int file) {
  int columns, lines;
  measure_terminal(file, &columns, &lines);
  return lines;
}
