// The prompt: reads lines, runs each whole input, shows its value.
//
//     run_all ─ read_input ─ prompt_line …   until the grammar says whole, or
//                          ─ edit_input      an editor that asks it itself
//             ─ run_input  ─ tally_interact, ?NAME: documentation, or a command
//
// The input so far and what was read ahead of it lie in one buffer.
//
//     data     x = [1,⏎2]⏎ y = 3⏎ z
//     0                   used    filled      capacity
//     [0, used): the input, which grows line by line until it is whole
//     [used, filled): read ahead, of a pipe; a terminal gives a line at a time
//
// With an editor nothing is read ahead, and an input comes as a whole. At the
// end of each input the zero byte that ends it as a string takes the place of
// a byte that may be the next input's, for as long as the input runs.

#include "repl/prompt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "repl/colours.h"
#include "repl/commands.h"
#include "repl/editor.h"
#include "repl/wrap.h"

// Bytes of standard input, read ahead, and the input that they make up.
typedef struct reader {
  tl_editor *editor;  // on a terminal, where there is one
  bool is_terminal;
  char *data;  // [0, used) is the input so far, [used, filled) is read ahead
  size_t used, filled, capacity;
  tl_inputs inputs;  // those that ran
} reader;

// --- Lines ------------------------------------------------------------------

// Room for so many more bytes and a zero behind them.
// False after a message. Bytes that are there stay, but may move.
static bool make_room(reader *in, size_t nbytes) {
  if (in->capacity - in->filled > nbytes)
    return true;
  size_t capacity = in->capacity * 2 + nbytes + 4096;
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
// By read and not by stdin, so that a signal ends the wait. TL_READ_LINE:
// there are more bytes; TL_READ_END: there never will be; TL_READ_FAILED after
// a message.
static tl_reading read_more(reader *in) {
  if (!make_room(in, 1))
    return TL_READ_FAILED;
  ssize_t n =
      read(STDIN_FILENO, in->data + in->filled, in->capacity - in->filled - 1);
  if (n > 0) {
    in->filled += (size_t)n;
    return TL_READ_LINE;
  }
  if (n == 0)
    return TL_READ_END;
  if (errno == EINTR)
    return TL_READ_INTERRUPTED;
  fprintf(stderr, "tally: cannot read standard input: %s\n", strerror(errno));
  return TL_READ_FAILED;
}

// Adds the next line, with its end, to the input. TL_READ_END: nothing is left.
// [seen] bytes have no end of line in them, so each byte is looked at once
// however the line arrives. After an interrupt what was read of the line is
// still there, behind in->used.
static tl_reading read_line(reader *in) {
  size_t seen = in->used;
  for (;;) {
    const char *from = in->data == NULL ? NULL : in->data + seen;
    const char *end =
        from == NULL ? NULL : memchr(from, '\n', in->filled - seen);
    if (end != NULL) {
      in->used = (size_t)(end - in->data) + 1;
      return TL_READ_LINE;
    }
    seen = in->filled;
    tl_reading result = read_more(in);
    if (result == TL_READ_LINE)
      continue;
    // Another signal than Ctrl-C: read on.
    if (result == TL_READ_INTERRUPTED && !tl_session_was_interrupted())
      continue;
    if (result != TL_READ_END || in->filled == in->used)
      return result;
    in->used = in->filled;  // a last line without an end
    return TL_READ_LINE;
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

// The columns to show values in.
// The terminal's own, or COLUMNS where there is none, or 80.
static int terminal_width(void) {
  int known = tl_terminal_width(STDOUT_FILENO);
  if (known > 0)
    return known;
  const char *columns = getenv("COLUMNS");
  long width = columns == NULL ? 0 : strtol(columns, NULL, 10);
  return width > 0 && width < 10000 ? (int)width : 80;
}

// Runs the input as a string: the byte behind it, which may be the first of the
// next line, is replaced by a zero meanwhile.
// tally_interact shows the value. The input is noted for `:edit` in any case,
// and for `:save` where it ran: returns TL_DONE then, else as tl_session_end.
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
  tl_session_note_live(session);
  in->data[in->used] = behind;
  tl_inputs_note(&in->inputs, in->data, in->used);
  if (result == TL_DONE)
    tl_inputs_add(&in->inputs, session->vm, in->data, in->used);
  return result;
}

// Whether the session has a variable of that name.
static bool is_variable(tally_vm *vm, const char *name) {
  tally_value value;
  if (tally_get_global(vm, name, &value) != TALLY_OK)
    return false;
  tally_release(vm, value);
  return true;
}

// ?NAME asks for documentation, and so do help(NAME) and apropos("TEXT"),
// unless a script calls something so: the bytes that say so; NULL: none do. On
// a terminal alone: in a pipe it is what the grammar makes of it, an error.
static const char *question(tally_vm *vm, const reader *in) {
  static const struct {
    const char *begin, *name;
  } words[] = {{"?", "?"}, {"help(", "help"}, {"apropos(", "apropos"}};
  for (size_t i = 0; in->is_terminal && i < sizeof words / sizeof *words; i++) {
    size_t n = strlen(words[i].begin);
    if (in->used >= n && memcmp(in->data, words[i].begin, n) == 0)
      return is_variable(vm, words[i].name) ? NULL : words[i].begin;
  }
  return NULL;
}

// Shows the documentation that was asked for.
// Parentheses of a call are left out: ?mean() is ?mean. A name of more than
// 255 bytes is cut, and so is not found.
static void answer(tl_session *session, const reader *in, const char *asks) {
  size_t begin = strlen(asks), end = in->used;
  while (begin < end && strchr(" \"", in->data[begin]) != NULL) begin++;
  while (end > begin && strchr(" \t\r\n()\"", in->data[end - 1]) != NULL) end--;
  char name[256];
  snprintf(name, sizeof name, "%.*s", (int)(end - begin), in->data + begin);
  if (name[0] == 0)
    tl_write_wrapped(
        stdout,
        "?NAME shows the documentation of NAME, ?linalg what a module has, "
        "apropos(\"TEXT\") what speaks of a text; :help lists the commands\n",
        terminal_width(), false);
  else if (*asks == 'a')
    tl_search_doc(session->vm, name);
  else
    tl_show_doc(session->vm, name);
  fflush(stdout);
}

// Takes a whole input from the editor, or one that it has failed in, which is
// then read ahead, for plain lines to go on with.
// in->used is 0 before, as the input before was dropped. The editor's text is
// copied, since it is the editor's.
static tl_reading edit_input(reader *in) {
  const char *text;
  size_t nbytes;
  tl_reading result = tl_editor_read(in->editor, &text, &nbytes);
  bool has_failed = result == TL_READ_FAILED && text != NULL;
  if (result != TL_READ_LINE && !has_failed)
    return result;
  if (!make_room(in, nbytes))
    return TL_READ_FAILED;
  memcpy(in->data + in->filled, text, nbytes);
  in->filled += nbytes;
  in->used = has_failed ? 0 : in->filled;
  return result;
}

// Shows the prompt, and what is there of the line, and adds the line to the
// input.
// For terminals without an editor, such as TERM=dumb, and for pipes, which get
// no prompt.
static tl_reading prompt_line(reader *in) {
  if (in->is_terminal) {
    const char *rest = in->data == NULL ? "" : in->data + in->used;
    size_t n = in->filled - in->used;
    const char *end = memchr(rest, '\n', n);
    fputs(in->used == 0 ? "tally> " : "  ...> ", stdout);
    fwrite(rest, 1, end == NULL ? n : (size_t)(end - rest) + 1, stdout);
  }
  fflush(stdout);
  return read_line(in);
}

// Reads lines until they make an input. TL_READ_END: the input, which may be
// empty, is the last.
// TL_READ_LINE: it is whole, or without memory to ask for that. What the input
// before has printed is flushed before the editor draws, which writes past
// stdout.
static tl_reading read_input(tl_session *session, reader *in) {
  drop_input(in);
  // Memory that the VM has cached goes back while somebody thinks.
  if (in->is_terminal)
    tally_trim(session->vm);
  // The editor draws over its line.
  if (in->editor != NULL && tl_session_is_within_line())
    fputc('\n', stdout);
  fflush(stdout);
  if (in->editor != NULL)
    return edit_input(in);
  for (;;) {
    tl_reading result = prompt_line(in);
    if (result != TL_READ_LINE ||
        tl_input_is_whole(session->vm, in->data, in->used))
      return result;
  }
}

// --- The prompt -------------------------------------------------------------

// Runs a command; what `:edit` leaves is typed at the next prompt.
static int run_command(tl_session *session, reader *in) {
  int result = tl_run_command(session, in->data, in->used, &in->inputs);
  if (in->inputs.edited != NULL && in->editor != NULL)
    tl_editor_offer(in->editor, in->inputs.edited, strlen(in->inputs.edited));
  free(in->inputs.edited);
  in->inputs.edited = NULL;
  return result;
}

// Ctrl-C at the prompt gives the input up. The editor has left its line
// already.
// What was read ahead goes with it, as Ctrl-C is for all that was typed.
static void give_up_input(reader *in) {
  in->used = in->filled = 0;
  if (in->editor == NULL)
    fputc('\n', stdout);
}

// Runs input after input; returns the exit status.
//
//                            terminal               pipe or file
//     Ctrl-C at the prompt   the input is given up  ends with 130
//     Ctrl-C in a run        the next prompt        ends with 130
//     an error               the next prompt        the next input
//     the end                0                      0, or 1 after an error
//     os.exit(n), :quit      n, 0                   n, 0
//
// Each pass reads at least a byte or gets an end, a failure or a signal, so it
// ends with the input.
static int run_all(tl_session *session, reader *in) {
  int status = TL_DONE;
  for (;;) {
    tl_reading result = read_input(session, in);
    if (result == TL_READ_FAILED && in->editor == NULL)
      return TL_FAILED;
    // Without an editor any more the terminal's own lines serve.
    if (result == TL_READ_FAILED) {
      tl_editor_close(in->editor);
      in->editor = NULL;
      continue;
    }
    if (result == TL_READ_INTERRUPTED) {
      if (!in->is_terminal)
        return TL_INTERRUPTED;
      give_up_input(in);
      continue;
    }
    // The last input may end without a newline, and is still run.
    bool is_last = result == TL_READ_END;
    if (is_last && in->is_terminal && in->editor == NULL)
      fputc('\n', stdout);
    if (is_last && in->used == 0)
      return status;
    const char *asks = question(session->vm, in);
    if (asks != NULL) {
      answer(session, in, asks);
      continue;
    }
    int failed = tl_is_command(in->data, in->used) ? run_command(session, in)
                                                   : run_input(session, in);
    if (session->ended)
      return failed;
    if (in->is_terminal)
      continue;
    if (failed == TL_INTERRUPTED)
      return failed;
    if (failed != TL_DONE)
      status = TL_FAILED;
  }
}

// Only a terminal gets the greeting and an editor.
// Without an editor (no memory, a dumb terminal) the terminal's own lines
// serve.
int tl_prompt_run(tl_session *session, const tl_command *cmd) {
  static const tl_editor_use use = {.prompt = "tally> ", .history = ""};
  reader in = {.is_terminal = isatty(STDIN_FILENO)};
  (void)cmd;
  if (in.is_terminal) {
    char greeting[128];
    snprintf(greeting, sizeof greeting,
             "Tally %s: ?NAME explains, :help lists commands, Ctrl-D leaves\n",
             tally_version());
    tl_write_wrapped(stdout, greeting, terminal_width(), false);
    in.editor = tl_editor_open(session->vm, &use);
  }
  int status = run_all(session, &in);
  tl_editor_close(in.editor);
  tl_inputs_free(&in.inputs);
  free(in.data);
  return status;
}
