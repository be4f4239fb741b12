// tally debug: a run line by line, of which the hook of tally_debug decides
// where it stops; there commands are read, with the prompt's editor on a
// terminal.
//
//     tally_run ─▶ hook: does it stop here? ─▶ converse: commands, each a row
//                  breakpoints, step, catch              of the table at the
//                  end
//
// A command says by its result whether the conversation goes on.

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "repl/editor.h"
#include "repl/run.h"

// Where a run stops: at line [line] of a file, or where a function begins; and
// only if the condition holds, where there is one. Texts are its own.
typedef struct breakpoint {
  int number, line;
  char *place;  // the file, or with line 0 the function
  char *condition;
} breakpoint;

// Which lines stop the run besides breakpoints: by how many calls are around
// them.
typedef enum pace {
  PACE_RUN,
  PACE_STEP,    // any
  PACE_NEXT,    // with no more than [depth]
  PACE_FINISH,  // with fewer than [depth]
} pace;

enum { BREAKPOINTS = 64, LIST_LINES = 5 };

// One run that is debugged, on the stack of tl_run_debug. It owns the
// breakpoints' texts, both lines and the editor; [info] is borrowed, and valid
// only while the hook runs.
typedef struct debugger {
  tally_vm *vm;
  tl_editor *editor;  // NULL: lines of standard input
  char *line, *last;  // the command under way, and the one to be repeated
  size_t line_size;
  breakpoint breakpoints[BREAKPOINTS];
  int count, numbered;
  pace pace;
  size_t depth;
  bool catches;   // stops at caught errors, too
  bool begins;    // a function with a breakpoint begins: stops at its line
  bool ended;     // by quit, or as there are no more commands
  size_t frame;   // the selected one
  size_t listed;  // the line that `list` goes on behind; 0: around the frame's
  const tally_debug_info *info;
} debugger;

// What becomes of the run behind a command: another command is read, or the run
// goes on.
typedef enum reply { STAY, GO } reply;

// A copy of the bytes with a zero behind them, which the caller frees; NULL
// without memory.
static char *copy_text(const char *text, size_t nbytes) {
  char *copy = malloc(nbytes + 1);
  if (copy != NULL) {
    memcpy(copy, text, nbytes);
    copy[nbytes] = 0;
  }
  return copy;
}

// The error of the last call, which stands in no file.
static void print_error(const debugger *d) {
  const tally_error_info *e = tally_error(d->vm);
  printf("%s error: %s\n", e->kind, e->message);
}

// --- Places -----------------------------------------------------------------

// The bytes of a line, from 1, without its newline: borrowed from the place's
// source, *nbytes long. NULL: the file has fewer lines, and *nbytes is unset.
static const char *find_line(const tally_debug_place *place, size_t line,
                             size_t *nbytes) {
  const char *at = place->source, *end = at + place->nbytes;
  for (; line > 1 && at < end; line--) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    at = stop == NULL ? end : stop + 1;
  }
  if (at == end)
    return NULL;
  const char *stop = memchr(at, '\n', (size_t)(end - at));
  *nbytes = (size_t)((stop == NULL ? end : stop) - at);
  return at;
}

// The line with its number, the one that is next marked; nothing behind the
// end.
static void print_line(const tally_debug_place *place, size_t line) {
  size_t nbytes;
  const char *text = find_line(place, line, &nbytes);
  if (text != NULL)
    printf("%c%4zu | %.*s\n", (int)line == place->line ? '>' : ' ', line,
           (int)nbytes, text);
}

// "life.tly:12 in step", and the line. Prints nothing where there is no such
// frame, as when an error was raised in the library with no script around it.
static void print_place(debugger *d, size_t frame) {
  tally_debug_place place;
  if (tally_debug_frame(d->vm, frame, &place) != TALLY_OK)
    return;
  printf("%s:%d%s%s\n", place.file, place.line,
         *place.function == 0 ? "" : " in ", place.function);
  if (place.line > 0)
    print_line(&place, (size_t)place.line);
}

// Whether a file's path is, or ends with, the name that was given.
static bool is_file(const char *path, const char *name) {
  size_t m = strlen(path), n = strlen(name);
  return m >= n && strcmp(path + m - n, name) == 0 &&
         (m == n || path[m - n - 1] == '/');
}

// --- Stopping ---------------------------------------------------------------

// Whether the breakpoint's condition is true in the innermost frame; without a
// condition it is. One that fails is told, and stops the run: a mistake in it
// must not look like a breakpoint that is never met.
static bool holds(debugger *d, const breakpoint *b) {
  tally_value value;
  int truth = 1;
  if (b->condition == NULL)
    return true;
  tally_status status = tally_debug_eval(d->vm, 0, b->condition, &value);
  if (status == TALLY_OK) {
    status = tally_to_bool(d->vm, value, &truth);
    tally_release(d->vm, value);
  }
  if (status != TALLY_OK)
    print_error(d);
  return status != TALLY_OK || truth != 0;
}

// One of a line where the line is next, one of a function where that begins.
static bool is_at_breakpoint(debugger *d, const tally_debug_info *info) {
  for (int i = 0; i < d->count; i++) {
    const breakpoint *b = &d->breakpoints[i];
    bool here = info->event == TALLY_DEBUG_CALL
                    ? b->line == 0 && strcmp(info->function, b->place) == 0
                    : b->line == info->line && b->line != 0 &&
                          is_file(info->file, b->place);
    if (here && holds(d, b))
      return true;
  }
  return false;
}

// Whether the line is one that the last command wanted.
static bool is_wanted(const debugger *d, const tally_debug_info *info) {
  return d->begins || d->pace == PACE_STEP ||
         (d->pace == PACE_NEXT && info->depth <= d->depth) ||
         (d->pace == PACE_FINISH && info->depth < d->depth);
}

// What is told of an event before commands are read; false: it is none to stop
// at.
static bool stops(debugger *d, const tally_debug_info *info) {
  switch (info->event) {
    case TALLY_DEBUG_CALL:
      d->begins = is_at_breakpoint(d, info) || d->begins;
      return false;
    case TALLY_DEBUG_RESUME:
      return d->pace == PACE_FINISH && info->depth < d->depth;
    case TALLY_DEBUG_RETURN:
      if (d->pace == PACE_FINISH && info->depth == d->depth) {
        printf("%s returns ", info->function);
        if (tl_print_value(d->vm, info->value) != TALLY_OK)
          print_error(d);
      }
      return false;
    case TALLY_DEBUG_RAISE:
      if (!d->catches && info->caught)
        return false;
      printf("%s error: %s%s\n", info->kind, info->message,
             info->caught ? " (a catch waits for it)" : "");
      return true;
    case TALLY_DEBUG_PAUSE:
      return true;
    default:
      return is_wanted(d, info) || is_at_breakpoint(d, info);
  }
}

// --- Commands ---------------------------------------------------------------

// Lets the run go on; how far is counted in calls from where it stands.
static reply go(debugger *d, pace pace) {
  d->pace = pace;
  d->depth = d->info->depth;
  return GO;
}

// Behind it only breakpoints, errors and an interrupt stop the run.
static reply do_continue(debugger *d, char *rest) {
  (void)rest;
  return go(d, PACE_RUN);
}

// Stops at the next line wherever that is, within a call too.
static reply do_step(debugger *d, char *rest) {
  (void)rest;
  return go(d, PACE_STEP);
}

// Stops at the next line that has no more calls around it than this one: what
// the line calls runs through, and a return stops in the caller.
static reply do_next(debugger *d, char *rest) {
  (void)rest;
  return go(d, PACE_NEXT);
}

// Stops in the caller; on the way the hook shows what the function returns.
static reply do_finish(debugger *d, char *rest) {
  (void)rest;
  return go(d, PACE_FINISH);
}

// The hook's result then ends the run with an interrupt, which is no failure of
// the command.
static reply do_quit(debugger *d, char *rest) {
  (void)rest;
  d->ended = true;
  return GO;
}

// "2: life.tly:5 if n > 3", as break and info print it.
static void describe(const breakpoint *b) {
  printf("%d: %s", b->number, b->place);
  if (b->line > 0)
    printf(":%d", b->line);
  printf("%s%s\n", b->condition == NULL ? "" : " if ",
         b->condition == NULL ? "" : b->condition);
}

// Takes what stands behind the word `if` off a place, and returns it, borrowed
// from the same text. NULL: nothing does.
static char *cut_condition(char *text) {
  char *at = strstr(text, " if ");
  if (at == NULL)
    return NULL;
  *at = 0;
  return at + 4 + strspn(at + 4, " ");
}

// break LINE, FILE:LINE or FUNCTION, and perhaps a condition. A line alone is
// one of the selected frame's file. Neither file nor function is looked up: it
// may be imported later.
static reply do_break(debugger *d, char *rest) {
  tally_debug_place here;
  char *condition = cut_condition(rest), *colon = strrchr(rest, ':'), *end;
  const char *number = colon == NULL ? rest : colon + 1;
  long line = strtol(number, &end, 10);
  bool numbered = end > number && *end == 0 && line > 0 && line < 1 << 30;
  if (*rest == 0 || (colon != NULL && !numbered)) {
    puts("break wants LINE, FILE:LINE or a function's name");
    return STAY;
  }
  if (d->count == BREAKPOINTS) {
    printf("there are %d breakpoints already\n", BREAKPOINTS);
    return STAY;
  }
  const char *place = rest;
  size_t nbytes = colon == NULL ? strlen(rest) : (size_t)(colon - rest);
  if (numbered && colon == NULL &&
      tally_debug_frame(d->vm, d->frame, &here) == TALLY_OK) {
    place = here.file;
    nbytes = strlen(place);
  }
  breakpoint b = {.number = ++d->numbered,
                  .line = numbered ? (int)line : 0,
                  .place = copy_text(place, nbytes)};
  if (condition != NULL)
    b.condition = copy_text(condition, strlen(condition));
  if (b.place == NULL || (condition != NULL && b.condition == NULL)) {
    free(b.place);
    free(b.condition);
    puts("no memory for a breakpoint");
    return STAY;
  }
  describe(&b);
  d->breakpoints[d->count++] = b;
  return STAY;
}

// The last one takes its place: numbers stay, the order does not matter.
static void remove_breakpoint(debugger *d, int at) {
  free(d->breakpoints[at].place);
  free(d->breakpoints[at].condition);
  d->breakpoints[at] = d->breakpoints[--d->count];
}

// delete NUMBER, or all.
static reply do_delete(debugger *d, char *rest) {
  int number = atoi(rest), before = d->count;
  for (int i = d->count - 1; i >= 0; i--)
    if (*rest == 0 || d->breakpoints[i].number == number)
      remove_breakpoint(d, i);
  if (before == d->count)
    puts("there is no such breakpoint");
  return STAY;
}

// In the order of their numbers.
static reply do_info(debugger *d, char *rest) {
  (void)rest;
  for (int n = 1; n <= d->numbered; n++)
    for (int i = 0; i < d->count; i++)
      if (d->breakpoints[i].number == n)
        describe(&d->breakpoints[i]);
  if (d->count == 0)
    puts("no breakpoints");
  printf("errors stop the run where %s\n",
         d->catches ? "they are raised" : "no catch waits for them");
  return STAY;
}

// catch, catch off: which errors stop the run.
static reply do_catch(debugger *d, char *rest) {
  d->catches = strcmp(rest, "off") != 0;
  return do_info(d, rest);
}

// The call that print, locals, list and set speak of.
static reply select_frame(debugger *d, size_t frame) {
  tally_debug_place place;
  if (tally_debug_frame(d->vm, frame, &place) != TALLY_OK) {
    puts("there is no call further out");
    return STAY;
  }
  d->frame = frame;
  d->listed = 0;
  print_place(d, frame);
  return STAY;
}

// Fails with a message at the outermost call, and stays there.
static reply do_up(debugger *d, char *rest) {
  (void)rest;
  return select_frame(d, d->frame + 1);
}

// Likewise at the innermost call.
static reply do_down(debugger *d, char *rest) {
  (void)rest;
  if (d->frame > 0)
    return select_frame(d, d->frame - 1);
  puts("this is the innermost call");
  return STAY;
}

// Of very deep recursion the innermost calls are enough.
static reply do_where(debugger *d, char *rest) {
  tally_debug_place place;
  size_t most = *rest == 0 ? 40 : (size_t)strtoul(rest, NULL, 10), i = 0;
  for (; tally_debug_frame(d->vm, i, &place) == TALLY_OK; i++) {
    if (i == most) {
      puts("  …");
      break;
    }
    printf("%c %s:%d%s%s\n", i == d->frame ? '>' : ' ', place.file, place.line,
           *place.function == 0 ? "" : " in ", place.function);
  }
  return STAY;
}

// Around the frame's line, a line that is given, or behind what was listed.
static reply do_list(debugger *d, char *rest) {
  tally_debug_place place;
  if (tally_debug_frame(d->vm, d->frame, &place) != TALLY_OK)
    return STAY;
  size_t line = (size_t)strtoul(rest, NULL, 10), nbytes;
  if (line == 0 && d->listed == 0)
    line = (size_t)place.line;
  size_t first = line == 0 ? d->listed + 1 : line - LIST_LINES;
  if (line > 0 && line <= LIST_LINES)
    first = 1;
  if (find_line(&place, first, &nbytes) == NULL)
    puts("the file has no more lines");
  d->listed = first + 2 * LIST_LINES;
  for (size_t i = first; i <= d->listed; i++) print_line(&place, i);
  return STAY;
}

// The value of an expression in the selected frame; *out returns owned. False
// after a message, with *out unset.
static bool evaluate(debugger *d, const char *text, tally_value *out) {
  if (tally_debug_eval(d->vm, d->frame, text, out) == TALLY_OK)
    return true;
  print_error(d);
  return false;
}

// Prints the value of an expression in the selected frame as print in a script
// shows it. What the expression calls is run and not debugged itself.
static reply do_print(debugger *d, char *rest) {
  tally_value value;
  if (*rest == 0) {
    puts("print wants an expression");
  } else if (evaluate(d, rest, &value)) {
    if (tl_print_value(d->vm, value) != TALLY_OK)
      print_error(d);
    tally_release(d->vm, value);
  }
  return STAY;
}

// Prints each variable of the selected frame on a line of its own. Those
// without a value are left out, and so are functions and modules.
static reply do_locals(debugger *d, char *rest) {
  tally_value names, item, value;
  const char *name;
  size_t nbytes;
  (void)rest;
  if (tally_debug_names(d->vm, d->frame, &names) != TALLY_OK) {
    print_error(d);
    return STAY;
  }
  for (size_t i = 0; i < tally_length(d->vm, names); i++) {
    if (tally_item(d->vm, names, i, &item) != TALLY_OK)
      break;
    if (tally_to_string(d->vm, item, &name, &nbytes) == TALLY_OK &&
        evaluate(d, name, &value)) {
      printf("%s = ", name);
      tl_print_value(d->vm, value);
      tally_release(d->vm, value);
    }
    tally_release(d->vm, item);
  }
  tally_release(d->vm, names);
  return STAY;
}

// set NAME = EXPR: the expression is evaluated first, in the selected frame; an
// error of it or of the assignment leaves the variable as it was.
static reply do_set(debugger *d, char *rest) {
  tally_value value;
  size_t n = strcspn(rest, " =");
  char *behind = rest + n + strspn(rest + n, " ");
  if (n == 0 || *behind != '=' || behind[1] == '=') {
    puts("set wants NAME = EXPRESSION");
    return STAY;
  }
  rest[n] = 0;
  if (!evaluate(d, behind + 1, &value))
    return STAY;
  if (tally_debug_set(d->vm, d->frame, rest, value) != TALLY_OK)
    print_error(d);
  tally_release(d->vm, value);
  return STAY;
}

static reply do_help(debugger *d, char *rest);

// A command: any beginning of its name will do, of those in front first. run
// gets what stands behind the name, which it may write into; it prints its own
// errors, since a wrong command never ends the run.
typedef struct command {
  const char *name, *what;
  reply (*run)(debugger *d, char *rest);
} command;

static const command commands[] = {
    {"break", "PLACE [if EXPR]  stop at LINE, FILE:LINE or FUNCTION", do_break},
    {"continue", "until something stops it", do_continue},
    {"run", "the same", do_continue},
    {"step", "to the next line, also of a function that is called", do_step},
    {"next", "to the next line of this function", do_next},
    {"finish", "until this function returns, and show what", do_finish},
    {"print", "EXPR", do_print},
    {"locals", "all variables of the call", do_locals},
    {"list", "[LINE]", do_list},
    {"where", "[N]  the calls under way", do_where},
    {"up", "to the call further out", do_up},
    {"down", "and back", do_down},
    {"set", "NAME = EXPR", do_set},
    {"catch", "[off]  stop at errors that are caught, too", do_catch},
    {"delete", "[N]  a breakpoint, or all", do_delete},
    {"info", "the breakpoints", do_info},
    {"help", "this", do_help},
    {"quit", "end the run", do_quit},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

// Printed from the table, so that no command is forgotten here.
static reply do_help(debugger *d, char *rest) {
  (void)d, (void)rest;
  for (int i = 0; i < COMMANDS; i++)
    printf("  %-9s %s\n", commands[i].name, commands[i].what);
  puts("Names may be cut short; an empty line repeats the last command.");
  return STAY;
}

// Runs a line; an empty one runs the last command again, so that step is typed
// once. The text is borrowed and copied; without memory nothing happens.
static reply run_line(debugger *d, const char *text, size_t nbytes) {
  while (nbytes > 0 && isspace((unsigned char)text[nbytes - 1])) nbytes--;
  while (nbytes > 0 && isspace((unsigned char)*text)) text++, nbytes--;
  if (nbytes > 0) {
    free(d->last);
    d->last = copy_text(text, nbytes);
  }
  // Commands write into their line.
  char *line = d->last == NULL ? NULL : copy_text(d->last, strlen(d->last));
  if (line == NULL)
    return STAY;
  size_t n = strcspn(line, " \t");
  char *rest = line + n + strspn(line + n, " \t");
  reply result = STAY;
  int i = 0;
  while (i < COMMANDS && strncmp(line, commands[i].name, n) != 0) i++;
  if (i < COMMANDS)
    result = commands[i].run(d, rest);
  else
    printf("there is no command %.*s: help lists them\n", (int)n, line);
  free(line);
  return result;
}

// Reads a line into *text, borrowed until the next one is read. False at the
// end of the input. What was printed is flushed first, as both share a
// terminal.
static bool read_line(debugger *d, const char **text, size_t *nbytes) {
  tl_reading reading = TL_READ_INTERRUPTED;
  fflush(stdout);
  while (d->editor != NULL && reading == TL_READ_INTERRUPTED)
    reading = tl_editor_read(d->editor, text, nbytes);
  if (d->editor != NULL)
    return reading == TL_READ_LINE;
  if (isatty(STDIN_FILENO))
    fputs("debug> ", stdout);
  fflush(stdout);
  ssize_t n = getline(&d->line, &d->line_size, stdin);
  *text = d->line;
  *nbytes = n < 0 ? 0 : (size_t)n;
  return n >= 0;
}

// Reads commands until one lets the run go on, or there are no more, which ends
// it. Each stop begins at the innermost frame; the session's interrupts are the
// prompt's meanwhile.
static void converse(debugger *d) {
  const char *text;
  size_t nbytes;
  reply result = STAY;
  d->frame = d->listed = 0;
  d->begins = false;
  if (tl_session_is_within_line())
    putchar('\n');
  print_place(d, 0);
  tl_session_pauses(false);
  while (result == STAY && !d->ended) {
    if (read_line(d, &text, &nbytes))
      result = run_line(d, text, nbytes);
    else
      d->ended = true;
  }
  fflush(stdout);
  tl_session_pauses(true);
}

// The hook of tally_debug, called for each event of the run; nonzero ends it.
// [context] is the debugger.
static int heed(tally_vm *vm, void *context, const tally_debug_info *info) {
  debugger *d = context;
  (void)vm;
  d->info = info;
  if (stops(d, info))
    converse(d);
  return d->ended;
}

// tally debug FILE. The run stops at its first line. The end of the commands
// ends it. Returns the exit status: that of a plain run, but done where quit
// ended it.
int tl_run_debug(tl_session *session, const tl_command *cmd) {
  debugger d = {.vm = session->vm, .pace = PACE_STEP};
  if (tally_debug(session->vm, heed, &d) != TALLY_OK) {
    tl_session_report(session);
    return TL_FAILED;
  }
  if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
    d.editor = tl_editor_open(session->vm);
  if (d.editor != NULL)
    tl_editor_prompt(d.editor, "debug> ");
  tl_session_begin();
  tl_session_pauses(true);
  tally_status status = tally_run(session->vm, cmd->subject, cmd->argc,
                                  (const char *const *)cmd->argv);
  int result = d.ended ? TL_DONE : tl_session_end(session, status);
  tally_debug(session->vm, NULL, NULL);
  tl_editor_close(d.editor);
  while (d.count > 0) remove_breakpoint(&d, 0);
  free(d.line);
  free(d.last);
  return result;
}
