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

#include "repl/debug_internal.h"

enum { LIST_LINES = 5 };

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

// --- Stopping ---------------------------------------------------------------

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
      d->begins = tl_stops_at(d, info) || d->begins;
      return false;
    case TALLY_DEBUG_RESUME:
      return d->pace == PACE_FINISH && info->depth < d->depth;
    case TALLY_DEBUG_RETURN:
      if (d->pace == PACE_FINISH && info->depth == d->depth) {
        printf("%s returns ", info->function);
        if (tl_print_value(d->vm, info->value) != TALLY_OK)
          tl_debugger_error(d);
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
      return tl_stops_at(d, info) || is_wanted(d, info);
  }
}

// --- Commands ---------------------------------------------------------------

// Lets the run go on; how far is counted in calls from where it stands.
static reply go(debugger *d, pace pace) {
  d->pace = pace;
  d->depth = d->info->depth;
  return GO;
}

// The hook's result then ends the run with an interrupt, which is no failure of
// the command.
static reply do_quit(debugger *d, char *rest) {
  (void)rest;
  d->ended = true;
  return GO;
}

// catch, catch off: which errors stop the run.
static reply do_catch(debugger *d, char *rest) {
  d->catches = strcmp(rest, "off") != 0;
  return tl_stops_info(d, rest);
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
  tl_debugger_error(d);
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
      tl_debugger_error(d);
    tally_release(d->vm, value);
  }
  return STAY;
}

// "y = 6", for one name; an error of it is told in its place.
static void print_variable(void *context, const char *name) {
  debugger *d = context;
  tally_value value;
  if (!evaluate(d, name, &value))
    return;
  printf("%s = ", name);
  tl_print_value(d->vm, value);
  tally_release(d->vm, value);
}

// Prints each variable of the selected frame on a line of its own. Those
// without a value are left out, and so are functions and modules.
static reply do_locals(debugger *d, char *rest) {
  (void)rest;
  tl_debugger_names(d, d->frame, print_variable, d);
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
    tl_debugger_error(d);
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
  pace pace;  // where run is NULL: lets the run go on so
} command;

static const command commands[] = {
    {"break", "PLACE [if EXPR]  stop at LINE, FILE:LINE or FUNCTION",
     tl_stops_break, PACE_RUN},
    {"continue", "until something stops it", NULL, PACE_RUN},
    {"run", "the same", NULL, PACE_RUN},
    {"step", "to the next line, also of a function that is called", NULL,
     PACE_STEP},
    {"next", "to the next line of this function", NULL, PACE_NEXT},
    {"watch", "NAME [if EXPR]  stop where the variable has changed",
     tl_stops_watch, PACE_RUN},
    {"finish", "until this function returns, and show what", NULL, PACE_FINISH},
    {"print", "EXPR", do_print, PACE_RUN},
    {"locals", "all variables of the call", do_locals, PACE_RUN},
    {"list", "[LINE]", do_list, PACE_RUN},
    {"where", "[N]  the calls under way", do_where, PACE_RUN},
    {"up", "to the call further out", do_up, PACE_RUN},
    {"down", "and back", do_down, PACE_RUN},
    {"set", "NAME = EXPR", do_set, PACE_RUN},
    {"catch", "[off]  stop at errors that are caught, too", do_catch, PACE_RUN},
    {"delete", "[N]  a breakpoint, or all", tl_stops_delete, PACE_RUN},
    {"info", "the breakpoints", tl_stops_info, PACE_RUN},
    {"help", "this", do_help, PACE_RUN},
    {"quit", "end the run", do_quit, PACE_RUN},
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

// What Tab offers: commands at the line's begin, and behind one variables of
// the selected call besides the names of the prompt.
static void list_own(void *context, const char *text, tl_text_hook *see,
                     void *to) {
  debugger *d = context;
  if (strpbrk(text, " \t") != NULL)
    tl_debugger_names(d, d->frame, see, to);
  else
    for (int i = 0; i < COMMANDS; i++) see(to, commands[i].name);
}

// Runs a line; an empty one runs the last command again, so that step is typed
// once. The text is borrowed and copied; without memory nothing happens.
static reply run_line(debugger *d, const char *text, size_t nbytes) {
  while (nbytes > 0 && isspace((unsigned char)text[nbytes - 1])) nbytes--;
  while (nbytes > 0 && isspace((unsigned char)*text)) text++, nbytes--;
  if (nbytes > 0) {
    free(d->last);
    d->last = strndup(text, nbytes);
  }
  // Commands write into their line.
  char *line = d->last == NULL ? NULL : strdup(d->last);
  if (line == NULL)
    return STAY;
  size_t n = strcspn(line, " \t");
  char *rest = line + n + strspn(line + n, " \t");
  reply result = STAY;
  int i = 0;
  while (i < COMMANDS && strncmp(line, commands[i].name, n) != 0) i++;
  if (i < COMMANDS)
    result = commands[i].run == NULL ? go(d, commands[i].pace)
                                     : commands[i].run(d, rest);
  else
    printf("there is no command %.*s: help lists them\n", (int)n, line);
  free(line);
  return result;
}

// Reads a line into *text, borrowed until the next one is read. False at the
// end of the input. What was printed is flushed first, as both share a
// terminal. With an editor that failed, and has said so, the terminal's own
// lines serve from then on, as at the prompt: the run need not end for it, and
// neither are its breakpoints lost.
static bool read_line(debugger *d, const char **text, size_t *nbytes) {
  tl_reading reading = TL_READ_INTERRUPTED;
  fflush(stdout);
  while (d->editor != NULL && reading == TL_READ_INTERRUPTED)
    reading = tl_editor_read(d->editor, text, nbytes);
  if (d->editor != NULL && reading != TL_READ_FAILED)
    return reading == TL_READ_LINE;
  tl_editor_close(d->editor);
  d->editor = NULL;
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
  while (result == STAY && !d->ended)
    if (read_line(d, &text, &nbytes))
      result = run_line(d, text, nbytes);
    else
      d->ended = true;
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
  const tl_editor_use use = {
      .prompt = "debug> ", .history = "_debug", .own = list_own, .context = &d};
  if (tally_debug(session->vm, heed, &d) != TALLY_OK) {
    tl_session_report(session);
    return TL_FAILED;
  }
  if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
    d.editor = tl_editor_open(session->vm, &use);
  tl_session_begin();
  tl_session_pauses(true);
  tally_status status = tally_run(session->vm, cmd->subject, cmd->argc,
                                  (const char *const *)cmd->argv);
  int result = d.ended ? TL_DONE : tl_session_end(session, status);
  tally_debug(session->vm, NULL, NULL);
  tl_editor_close(d.editor);
  tl_stops_free(&d);
  free(d.line);
  free(d.last);
  return result;
}
