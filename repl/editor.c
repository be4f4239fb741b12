// Inputs edited on a terminal: see editor.h. What is typed and shown is the
// business of a program in Tally, editing.tly, in a VM of its own; what is here
// reads keys for it, writes what it draws, and asks the prompt's VM for it.
//
//     tl_editor_read ─ begin(), write(offered)
//                    ─ tl_keys_next ─ press(key)           editing.tly
//                      drawing(columns, rows, is_over)
//                        prompt.complete(…) ─ tally_complete
//                    ─ remember()
//
// Nothing is drawn while more keys are there already. A program that fails says
// so, and has the prompt read plain lines from then on, the first of which
// begins with what was typed. Keys and texts that are no UTF-8 do not reach it.
// The two VMs share nothing: values cross as copies of their texts.

#include "repl/editor.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "repl/colours.h"
#include "repl/commands.h"
#include "repl/file.h"
#include "repl/history.h"
#include "repl/keys.h"
#include "repl/program.h"
#include "repl/screen.h"

// The program's numbers besides those of tl_reading: the command is to be
// stopped, as the shell has it, and the input stays as it is; or nothing ended.
enum { SUSPENDED = 4, GOES_ON = -1 };

struct tl_editor {
  // Whose names are completed, borrowed, and that of editing.tly, owned.
  tally_vm *vm, *program;
  const tl_editor_use *use;
  bool is_vi;
  char *file;     // of the history; NULL: it is not kept
  char *offered;  // begins the next input; NULL: nothing does
  char *text;     // of the last input
  // What opened the program, and is pressed next; "": nothing is.
  char key[TL_KEY_SIZE];
};

// --- What the program may ask -----------------------------------------------

// complete(before): names that the word at its end may become, a line each.
// Nothing of the session runs for it. An error, such as no memory, means no
// names.
static tally_status complete(tally_vm *vm, void *context, size_t count,
                             const tally_value *args, tally_value *out) {
  const tl_editor *e = context;
  size_t n;
  tally_value names;
  return tally_complete(e->vm, tl_program_text(vm, args[0], &n), &names) ==
                 TALLY_OK
             ? tl_program_lines(vm, e->vm, names, out)
             : tally_from_string(vm, "", 0, out);
}

// own(before): what the use has besides, likewise; none where it has nothing.
static tally_status list_own(tally_vm *vm, void *context, size_t count,
                             const tally_value *args, tally_value *out) {
  const tl_editor *e = context;
  size_t n;
  return e->use->own == NULL
             ? tally_from_none(vm, out)
             : e->use->own(e->use->context, tl_program_text(vm, args[0], &n),
                           vm, out);
}

// commands(): the names of the prompt's commands, likewise, without colons.
static tally_status list_commands(tally_vm *vm, void *context, size_t count,
                                  const tally_value *args, tally_value *out) {
  char text[256] = "";
  const char *name;
  for (int i = 0; (name = tl_command_name(i)) != NULL; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s\n", name);
  return tally_from_string(vm, text, strlen(text), out);
}

// cells(text): how many the terminal takes for it, as utf8proc has them.
static tally_status count_cells(tally_vm *vm, void *context, size_t count,
                                const tally_value *args, tally_value *out) {
  size_t nbytes;
  const char *text = tl_program_text(vm, args[0], &nbytes);
  return tally_from_int(vm, tl_cells(text, nbytes), out);
}

// signature(name): "mean(x, axis: none)". What the session defines hides the
// library's. Asked with each drawing, so nothing of it runs code.
// tally_describe gives an empty string, and no error, for a name that the
// session does not define; of another the first line is the signature.
static tally_status spell_call(tally_vm *vm, void *context, size_t count,
                               const tally_value *args, tally_value *out) {
  const tl_editor *e = context;
  size_t nbytes = 0;
  const char *name = tl_program_text(vm, args[0], &nbytes), *text = "";
  char line[512];
  tally_value described;
  if (tally_describe(e->vm, name, &described) != TALLY_OK)
    return tally_from_none(vm, out);
  tally_to_string(e->vm, described, &text, NULL);
  snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
  tally_release(e->vm, described);
  const char *parameters = tally_signature(e->vm, name);
  if (line[0] == 0 && parameters != NULL)
    snprintf(line, sizeof line, "%s(%s)", name, parameters);
  // A line that was cut within a character is no text.
  return line[0] == 0 ||
                 tally_from_string(vm, line, strlen(line), out) != TALLY_OK
             ? tally_from_none(vm, out)
             : TALLY_OK;
}

// is_whole(text): as the prompt itself asks of lines that are piped into it.
static tally_status is_whole(tally_vm *vm, void *context, size_t count,
                             const tally_value *args, tally_value *out) {
  const tl_editor *e = context;
  size_t nbytes;
  const char *text = tl_program_text(vm, args[0], &nbytes);
  return tally_from_bool(vm, tl_input_is_whole(e->vm, text, nbytes), out);
}

// wrong_place(text): (line, column) of the first error that the grammar knows,
// as the report has them; none for a text without one. What names mean is not
// asked, so a text may have no wrong place and fail.
static tally_status see_wrong(tally_vm *vm, void *context, size_t count,
                              const tally_value *args, tally_value *out) {
  const tl_editor *e = context;
  size_t nbytes;
  const char *text = tl_program_text(vm, args[0], &nbytes);
  tally_value laid_out, place[2];
  if (tally_format_source(e->vm, "<prompt>", text, nbytes, &laid_out) ==
      TALLY_OK) {
    tally_release(e->vm, laid_out);
    return tally_from_none(vm, out);
  }
  tally_from_int(vm, tally_error(e->vm)->line, &place[0]);
  tally_from_int(vm, tally_error(e->vm)->column, &place[1]);
  return tally_from_list(vm, 2, place, out);
}

// pending(): whether a key can be read at once, as in the middle of a paste.
static tally_status is_pending(tally_vm *vm, void *context, size_t count,
                               const tally_value *args, tally_value *out) {
  return tally_from_bool(vm, tl_keys_pending(), out);
}

// --- The program ------------------------------------------------------------

// Calls a function of the program; false after a message.
static bool call(const tl_editor *e, const char *function, int count,
                 const tally_value *args, tally_value *out) {
  if (tally_call(e->program, function, count, args, out) == TALLY_OK)
    return true;
  fprintf(stderr, "tally: %s\n", tally_error(e->program)->report);
  return false;
}

// The same with one text; what is none, as keys of a broken terminal may be, is
// passed over.
static bool call_with(const tl_editor *e, const char *function,
                      const char *text, size_t nbytes, tally_value *out) {
  tally_value arg;
  if (tally_from_string(e->program, text, nbytes, &arg) != TALLY_OK)
    return tally_from_int(e->program, GOES_ON, out) == TALLY_OK;
  bool ok = call(e, function, 1, &arg, out);
  tally_release(e->program, arg);
  return ok;
}

// Calls a function that gives a text; a copy of it, *nbytes long and ended by a
// zero byte, for the caller to free. NULL after a message.
static char *ask(const tl_editor *e, const char *function, int count,
                 const tally_value *args, size_t *nbytes) {
  tally_value value;
  if (!call(e, function, count, args, &value))
    return NULL;
  const char *text = tl_program_text(e->program, value, nbytes);
  char *copy = malloc(*nbytes + 2);
  if (copy != NULL)
    memcpy(copy, text, *nbytes + 1);
  tally_release(e->program, value);
  return copy;
}

// A line of the history.
static void recall(void *context, const char *text, size_t nbytes) {
  tally_value ignored;
  if (call_with(context, "recall_line", text, nbytes, &ignored))
    tally_release(((tl_editor *)context)->program, ignored);
}

// --- The terminal -----------------------------------------------------------

// Reads the size anew each time, as a window may have changed; what does not
// say its size has 80 columns and 24 rows.
static bool draw(const tl_editor *e, bool is_over) {
  int columns = tl_terminal_width(STDOUT_FILENO);
  int rows = tl_terminal_height(STDOUT_FILENO);
  tally_value args[3];
  size_t nbytes;
  tally_from_int(e->program, columns <= 0 ? 80 : columns, &args[0]);
  tally_from_int(e->program, rows <= 0 ? 24 : rows, &args[1]);
  tally_from_bool(e->program, is_over, &args[2]);
  char *text = ask(e, "drawing", 3, args, &nbytes);
  if (text != NULL)
    tl_screen_write(text, nbytes);
  free(text);
  return text != NULL;
}

// The terminal sends a paste in brackets, and has a cursor for each of vi's
// modes. What was drawn before is no longer known, as others have written
// since. False: the terminal gives no single keys, or is gone.
static bool take_terminal(const tl_editor *e) {
  tally_value none;
  if ((e->program != NULL && !call(e, "forget", 0, NULL, &none)) ||
      !tl_keys_begin())
    return false;
  tl_screen_write("\033[?2004h", 8);
  return true;
}

// The cursor's shape and the brackets of pastes go back first: a script that
// asks for input should get neither.
static void give_terminal(const tl_editor *e) {
  if (e->is_vi)
    tl_screen_write("\033[0 q", 5);
  tl_screen_write("\033[?2004l", 8);
  tl_keys_end();
}

// Stops the command as the shell expects; what was typed is drawn again. The
// terminal sends no signal while keys are read, so Ctrl-Z raises it here. The
// call returns when the shell lets the command go on; the SIGCONT that came
// with it is forgotten, as all that it asks for is done.
static void suspend(const tl_editor *e) {
  tl_screen_write("\033[J\r\n", 5);
  give_terminal(e);
  raise(SIGTSTP);
  take_terminal(e);
  tl_keys_were_stopped();
}

// Reads a key and has the program do what it does; sets how the input ends.
// After a stop from outside the terminal has the shell's ways; of a window that
// was resized nothing is to be done. False after a message.
static bool press(tl_editor *e, int64_t *ending) {
  char key[TL_KEY_SIZE];
  tally_value value;
  strcpy(key, e->key);
  e->key[0] = 0;
  if (key[0] == 0)
    tl_keys_next(key);
  *ending = GOES_ON;
  if (strcmp(key, "<signal>") == 0) {
    if (tl_session_was_interrupted()) {
      strcpy(key, "<interrupt>");
    } else if (tl_keys_were_stopped()) {
      give_terminal(e);
      take_terminal(e);
    }
  }
  if (!call_with(e, "press", key, strlen(key), &value))
    return false;
  tally_to_int(e->program, value, ending);
  if (*ending == SUSPENDED) {
    suspend(e);
    *ending = GOES_ON;
  }
  return true;
}

// --- Opening the program ----------------------------------------------------

// Opens the program with what it may ask, and tells it of earlier inputs and
// what it is for. A history that is old is written anew: a prompt that adds a
// line at this very time may lose it. False after a message.
static bool open_program(tl_editor *e) {
  static const tally_native functions[] = {
      {.name = "complete", .params = "before", .call = complete},
      {.name = "own", .params = "before", .call = list_own},
      {.name = "commands", .params = "", .call = list_commands},
      {.name = "tokens", .params = "text", .call = tl_program_tokens},
      {.name = "cells", .params = "text", .call = count_cells},
      {.name = "signature", .params = "name", .call = spell_call},
      {.name = "is_whole", .params = "text", .call = is_whole},
      {.name = "wrong_place", .params = "text", .call = see_wrong},
      {.name = "pending", .params = "", .call = is_pending}};
  e->program = tl_program_open(tl_editing, NULL, e, "prompt", functions,
                               sizeof functions / sizeof *functions, e->vm);
  tally_value args[3], none;
  bool is_old;
  size_t nbytes;
  if (e->program == NULL ||
      tally_from_string(e->program, e->use->prompt, strlen(e->use->prompt),
                        &args[0]) != TALLY_OK)
    return false;
  tally_from_bool(e->program, tl_has_colours(STDOUT_FILENO), &args[1]);
  tally_from_bool(e->program, e->is_vi, &args[2]);
  e->file = tl_history_read(e->use->history, recall, e, &is_old);
  if (!call(e, "open", 3, args, &none))
    return false;
  char *all = is_old ? ask(e, "all_lines", 0, NULL, &nbytes) : NULL;
  if (all != NULL)
    tl_write_file(e->file, all, nbytes);
  free(all);
  return true;
}

// Shows the first prompt, as the program would, and opens the program when a
// key comes: to compile it takes more time and memory than all that the command
// does before. Who leaves at once does not need it. TL_READ_LINE: it is open.
static tl_reading await_key(tl_editor *e) {
  size_t n = strlen(e->use->prompt);
  int columns = tl_terminal_width(STDOUT_FILENO);
  size_t shown = columns > 0 && columns < 20 ? 2 : n;
  tl_screen_write(e->use->prompt + n - shown, shown);
  tl_keys_next(e->key);
  if (strcmp(e->key, "^D") != 0 && strcmp(e->key, "<closed>") != 0)
    return open_program(e) ? TL_READ_LINE : TL_READ_FAILED;
  tl_screen_write("\r\n", 2);
  return TL_READ_END;
}

// --- Reading ----------------------------------------------------------------

// Puts the input into the history, and its line into the file: a blank one
// into neither. What cannot be written is kept for this prompt alone, and the
// file is not tried again.
static void remember(tl_editor *e) {
  size_t nbytes;
  char *line = ask(e, "remember", 0, NULL, &nbytes);
  if (line != NULL && nbytes > 0 && e->file != NULL &&
      !tl_history_append(e->file, line, nbytes)) {
    free(e->file);
    e->file = NULL;
  }
  free(line);
}

// The key that came before the program failed to open, if it types a text, else
// an empty one. NULL without memory.
static char *copy_key(const tl_editor *e, size_t *nbytes) {
  size_t n = strlen(e->key);
  *nbytes = tl_sign_end(e->key, n, 0) == n ? n : 0;
  return strndup(e->key, *nbytes);
}

// The terminal is taken before the prompt shows, else a quick Ctrl-D is the
// terminal's own. The text that is returned was drawn last, with its error
// underlined.
tl_reading tl_editor_read(tl_editor *e, const char **text, size_t *nbytes) {
  int64_t ending = GOES_ON;
  tally_value none;
  *text = NULL;
  if (!take_terminal(e))
    return TL_READ_FAILED;
  tl_reading opened = e->program == NULL ? await_key(e) : TL_READ_LINE;
  bool ok = opened == TL_READ_LINE && call(e, "begin", 0, NULL, &none) &&
            (e->offered == NULL ||
             call_with(e, "write", e->offered, strlen(e->offered), &none));
  free(e->offered);
  e->offered = NULL;
  ok = ok && (e->key[0] != 0 || draw(e, false));
  while (ok && ending == GOES_ON)
    ok = press(e, &ending) &&
         (ending != GOES_ON || tl_keys_pending() || draw(e, false));
  ok = ok && draw(e, true);
  give_terminal(e);
  free(e->text);
  e->text = e->key[0] != 0       ? copy_key(e, nbytes)
            : e->program == NULL ? NULL
                                 : ask(e, "current", 0, NULL, nbytes);
  *text = e->text;
  if (e->text == NULL || !ok)
    return opened == TL_READ_LINE ? TL_READ_FAILED : opened;
  if (ending == TL_READ_LINE)
    remember(e);
  memcpy(e->text + *nbytes, "\n", 2);
  *nbytes += 1;
  return (tl_reading)ending;
}

void tl_editor_offer(tl_editor *e, const char *text, size_t nbytes) {
  free(e->offered);
  e->offered = strndup(text, nbytes);
}

// --- Opening ----------------------------------------------------------------

// vi by TALLY_KEYS, or where a file of libedit's or readline's asks for it.
// Other lines of these files are passed over, as are their conditions by
// program or terminal: a line within `$if` counts. A file of such a name that
// cannot be read asks for nothing. Lines of more than 255 bytes are looked at
// in parts.
static bool asks_for_vi(const char *file, const char *phrase) {
  const char *home = getenv("HOME");
  char path[1024], line[256];
  bool asks = false;
  snprintf(path, sizeof path, "%s/%s", home == NULL ? "" : home, file);
  FILE *from = home == NULL ? NULL : fopen(path, "re");
  while (from != NULL && fgets(line, sizeof line, from) != NULL)
    asks = asks ||
           strncmp(line + strspn(line, " \t"), phrase, strlen(phrase)) == 0;
  if (from != NULL)
    fclose(from);
  return asks;
}

// TALLY_KEYS alone decides where it is set, so `TALLY_KEYS=emacs` is the way
// back for who has vi in all other programs.
static bool vi_is_wanted(void) {
  const char *keys = getenv("TALLY_KEYS");
  if (keys != NULL)
    return strcmp(keys, "vi") == 0;
  return asks_for_vi(".editrc", "bind -v") ||
         asks_for_vi(".inputrc", "set editing-mode vi");
}

// Both ends have to be a terminal: keys come from one and the drawing goes to
// the other.
tl_editor *tl_editor_open(tally_vm *vm, const tl_editor_use *use) {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !tl_terminal_is_able())
    return NULL;
  tl_editor *e = calloc(1, sizeof *e);
  if (e != NULL)
    *e = (tl_editor){.vm = vm, .use = use, .is_vi = vi_is_wanted()};
  return e;
}

// The terminal was given back by each tl_editor_read.
void tl_editor_close(tl_editor *e) {
  if (e == NULL)
    return;
  tally_close(e->program);
  free(e->file);
  free(e->offered);
  free(e->text);
  free(e);
}
