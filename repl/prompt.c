// The plain prompt: reads lines, runs each whole input, shows its value.

#include "repl/prompt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

// Bytes of standard input, read ahead, and the input that they make up.
typedef struct reader {
  char *data;  // [0, used) is the input so far, [used, filled) is read ahead
  size_t used, filled, capacity;
} reader;

typedef enum reading {
  READ_LINE,
  READ_END,
  READ_INTERRUPTED,
  READ_FAILED,
} reading;

// --- Lines ------------------------------------------------------------------

static bool make_room(reader *in) {
  if (in->capacity - in->filled > 1)
    return true;
  size_t capacity = in->capacity * 2 + 4096;
  char *data = realloc(in->data, capacity);
  if (data == NULL) {
    fputs("tally: no memory for this input\n", stderr);
    return false;
  }
  in->data = data;
  in->capacity = capacity;
  return true;
}

// Reads more behind what is there.
static reading read_more(reader *in) {
  if (!make_room(in))
    return READ_FAILED;
  ssize_t n =
      read(STDIN_FILENO, in->data + in->filled, in->capacity - in->filled - 1);
  if (n > 0) {
    in->filled += (size_t)n;
    return READ_LINE;
  }
  if (n == 0)
    return READ_END;
  if (errno == EINTR)
    return READ_INTERRUPTED;
  fprintf(stderr, "tally: cannot read standard input: %s\n", strerror(errno));
  return READ_FAILED;
}

// Adds the next line, with its end, to the input. READ_END: nothing is left.
static reading read_line(reader *in) {
  size_t seen = in->used;
  for (;;) {
    const char *from = in->data == NULL ? NULL : in->data + seen;
    const char *end =
        from == NULL ? NULL : memchr(from, '\n', in->filled - seen);
    if (end != NULL) {
      in->used = (size_t)(end - in->data) + 1;
      return READ_LINE;
    }
    seen = in->filled;
    reading result = read_more(in);
    if (result == READ_LINE)
      continue;
    if (result == READ_INTERRUPTED && !tl_session_was_interrupted())
      continue;
    if (result != READ_END || in->filled == in->used)
      return result;
    in->used = in->filled;  // a last line without an end
    return READ_LINE;
  }
}

// Forgets the input that was run; what was read ahead moves to the front.
static void drop_input(reader *in) {
  in->filled -= in->used;
  if (in->filled > 0)
    memmove(in->data, in->data + in->used, in->filled);
  in->used = 0;
}

// --- One input --------------------------------------------------------------

static int terminal_width(void) {
#ifdef TIOCGWINSZ
  struct winsize size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
#endif
  const char *columns = getenv("COLUMNS");
  long width = columns == NULL ? 0 : strtol(columns, NULL, 10);
  return width > 0 && width < 10000 ? (int)width : 80;
}

// Calls [use] with the input as a string: the byte behind it, which may be
// the first of the next line, is borrowed for its end.
static int run_input(tl_session *session, reader *in) {
  if (memchr(in->data, 0, in->used) != NULL) {
    fflush(stdout);
    fputs("syntax error: the input holds a zero byte\n", stderr);
    return TL_FAILED;
  }
  char behind = in->data[in->used];
  in->data[in->used] = 0;
  tl_session_begin();
  tally_status status = tally_interact(session->vm, in->data, terminal_width());
  int result = tl_session_end(session, status);
  in->data[in->used] = behind;
  return result;
}

static bool is_complete(tl_session *session, reader *in) {
  char behind = in->data[in->used];
  in->data[in->used] = 0;
  tally_input state = tally_check_input(session->vm, in->data);
  in->data[in->used] = behind;
  return state == TALLY_INPUT_COMPLETE;
}

// Reads lines until they make an input. READ_END: the input, which may be
// empty, is the last.
static reading read_input(tl_session *session, reader *in, bool is_terminal) {
  drop_input(in);
  for (;;) {
    if (is_terminal)
      fputs(in->used == 0 ? "tally> " : "  ...> ", stdout);
    fflush(stdout);
    reading result = read_line(in);
    if (result != READ_LINE)
      return result;
    if (is_complete(session, in))
      return READ_LINE;
  }
}

// --- The prompt -------------------------------------------------------------

// Ctrl-C at the prompt gives the line up.
static void give_up_input(reader *in) {
  in->used = in->filled = 0;
  fputc('\n', stdout);
}

static int run_all(tl_session *session, reader *in, bool is_terminal) {
  int status = TL_DONE;
  for (;;) {
    reading result = read_input(session, in, is_terminal);
    if (result == READ_FAILED)
      return TL_FAILED;
    if (result == READ_INTERRUPTED) {
      if (!is_terminal)
        return TL_INTERRUPTED;
      give_up_input(in);
      continue;
    }
    bool is_last = result == READ_END;
    if (is_last && is_terminal)
      fputc('\n', stdout);
    if (is_last && in->used == 0)
      return status;
    int failed = run_input(session, in);
    if (is_terminal)
      continue;
    if (failed == TL_INTERRUPTED)
      return failed;
    if (failed != TL_DONE)
      status = TL_FAILED;
  }
}

int tl_prompt_run(tl_session *session) {
  bool is_terminal = isatty(STDIN_FILENO);
  reader in = {.data = NULL};
  if (is_terminal) {
    printf("Tally %s: Ctrl-C stops, Ctrl-D leaves, tally doc NAME explains\n",
           tally_version());
  }
  int status = run_all(session, &in, is_terminal);
  free(in.data);
  return status;
}
