// tally debug: a run line by line, of which the hook of tally_debug is told.
// What stops it, and what the commands do that are read there, is the business
// of a program in Tally, debug.tly, in a VM of its own; what is here tells it
// of events, reads lines, with the prompt's editor on a terminal, and asks the
// script's VM for it.
//
//     tally_run ─▶ heed ─ is_met ─ stops(event)            debug.tly
//                       ─ converse ─ stopped()
//                                  ─ read_line, command(line) …
//                                      run.keep(…) ─ tally_debug_eval
//
// A line that no command and no breakpoint waits for is passed over here: that
// is what a run mostly meets.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "repl/editor.h"
#include "repl/program.h"

// What a command gives, as debug.tly has it: another one is read, the run ends,
// or it goes on, and stops besides where stops() says so
enum {
  STAY = -1,
  END = -2,
  RUN = 0,  // nowhere
  STEP,     // at any line
  NEXT,     // at one with no more calls around it than now
  FINISH,   // with fewer
};

enum { BREAKPOINTS = 64 };

// One run that is debugged, on the stack of tl_run_debug. It owns the line, the
// editor and the program; [info] is borrowed, and valid only while the hook
// runs.
typedef struct debugger {
  tally_vm *vm, *program;
  tl_editor *editor;  // NULL: lines of standard input
  char *line;
  size_t line_size;
  // Where stops() is asked: at lines, where functions begin, at each line.
  int64_t lines[BREAKPOINTS];
  size_t line_count;
  int calls, changes;
  int64_t pace;  // what the last command gave
  size_t depth;  // calls around it then
  bool begins;   // a function with a breakpoint begins: stops at its line
  const tally_debug_info *info;
} debugger;

// --- What the program may ask -----------------------------------------------

// The error of the script's VM, which stands in no file, as one of the
// program's.
static tally_status pass_error(tally_vm *vm, const debugger *d) {
  const tally_error_info *e = tally_error(d->vm);
  return tally_raise(vm, TALLY_ERR_VALUE, "%s error: %s", e->kind, e->message);
}

// The frame that the first argument is; SIZE_MAX, which there is not, of none.
static size_t frame_of(tally_vm *vm, tally_value arg) {
  int64_t frame;
  return tally_to_int(vm, arg, &frame) == TALLY_OK ? (size_t)frame : SIZE_MAX;
}

// calls(): without the library's.
static tally_status count_calls(tally_vm *vm, void *context, size_t count,
                                const tally_value *args, tally_value *out) {
  const debugger *d = context;
  tally_debug_place place;
  int64_t n = 0;
  while (tally_debug_frame(d->vm, (size_t)n, &place) == TALLY_OK) n++;
  return tally_from_int(vm, n, out);
}

// place(frame); none where there is no such frame.
static tally_status give_place(tally_vm *vm, void *context, size_t count,
                               const tally_value *args, tally_value *out) {
  static const char *const keys[] = {"file", "line", "function", "source"};
  const debugger *d = context;
  tally_debug_place place;
  tally_value fields[4];
  if (tally_debug_frame(d->vm, frame_of(vm, args[0]), &place) != TALLY_OK)
    return tally_from_none(vm, out);
  tl_program_give(vm, place.file, strlen(place.file), &fields[0]);
  tally_from_int(vm, place.line, &fields[1]);
  tl_program_give(vm, place.function, strlen(place.function), &fields[2]);
  tl_program_give(vm, place.source, place.nbytes, &fields[3]);
  return tally_from_record(vm, 4, keys, fields, out);
}

// line(frame, n)
static tally_status find_line(tally_vm *vm, void *context, size_t count,
                              const tally_value *args, tally_value *out) {
  const debugger *d = context;
  int64_t line = 0;
  int found = 0;
  tally_to_int(vm, args[1], &line);
  return tally_debug_line(d->vm, frame_of(vm, args[0]), (int)line, &found) ==
                 TALLY_OK
             ? tally_from_int(vm, found, out)
             : pass_error(vm, d);
}

// names(frame): without functions and modules.
static tally_status list_names(tally_vm *vm, void *context, size_t count,
                               const tally_value *args, tally_value *out) {
  const debugger *d = context;
  tally_value names;
  return tally_debug_names(d->vm, frame_of(vm, args[0]), &names) == TALLY_OK
             ? tl_program_lines(vm, d->vm, names, out)
             : pass_error(vm, d);
}

// --- Values that are kept ---------------------------------------------------

// A value of the script's VM that the program has, and owns.
typedef struct kept {
  tally_vm *vm;
  tally_value value;
} kept;

static void end_kept(void *context, void *object) {
  kept *k = object;
  tally_release(k->vm, k->value);
  free(k);
}

static const tally_resource kept_type = {.size = sizeof kept_type,
                                         .name = "value of the script's",
                                         .release = end_kept};

// The value that an argument of the program's is; NULL: it is none. Of what is
// to be shown, tested or assigned debug.tly gives one.
static const kept *kept_of(tally_vm *vm, tally_value arg) {
  void *object;
  return tally_to_resource(vm, arg, &kept_type, &object) == TALLY_OK ? object
                                                                     : NULL;
}

// Whether both are the same in all that they hold; what cannot be compared is
// not. The library's function is asked, whatever the script calls its own.
static bool are_same(tally_vm *vm, tally_value a, tally_value b) {
  tally_value args[] = {a, b}, answer;
  int truth = 0;
  if (tally_call(vm, ".same", 2, args, &answer) != TALLY_OK)
    return false;
  tally_to_bool(vm, answer, &truth);
  tally_release(vm, answer);
  return truth != 0;
}

// keep(frame, text, before)
static tally_status keep(tally_vm *vm, void *context, size_t count,
                         const tally_value *args, tally_value *out) {
  const debugger *d = context;
  const kept *before = kept_of(vm, args[2]);
  tally_value value;
  size_t nbytes;
  if (tally_debug_eval(d->vm, frame_of(vm, args[0]),
                       tl_program_text(vm, args[1], &nbytes),
                       &value) != TALLY_OK)
    return pass_error(vm, d);
  if (before != NULL && are_same(d->vm, before->value, value)) {
    tally_release(d->vm, value);
    *out = tally_retain(vm, args[2]);
    return TALLY_OK;
  }
  kept *k = malloc(sizeof *k);
  tally_status status = TALLY_ERR_MEMORY;
  if (k != NULL) {
    *k = (kept){d->vm, value};
    status = tally_from_resource(vm, &kept_type, k, out);
  }
  if (status == TALLY_OK)
    return status;
  tally_release(d->vm, value);
  free(k);
  return tally_raise(vm, TALLY_ERR_MEMORY, "no memory for a value");
}

// show(a): as print shows it.
static tally_status show_kept(tally_vm *vm, void *context, size_t count,
                              const tally_value *args, tally_value *out) {
  const debugger *d = context;
  const kept *k = kept_of(vm, args[0]);
  tally_value shown;
  size_t nbytes;
  if (tally_format(d->vm, k->value, &shown) != TALLY_OK)
    return pass_error(vm, d);
  const char *text = tl_program_text(d->vm, shown, &nbytes);
  tally_status status = tl_program_give(vm, text, nbytes, out);
  tally_release(d->vm, shown);
  return status;
}

// holds(a)
static tally_status test_kept(tally_vm *vm, void *context, size_t count,
                              const tally_value *args, tally_value *out) {
  const debugger *d = context;
  int truth;
  return tally_to_bool(d->vm, kept_of(vm, args[0])->value, &truth) == TALLY_OK
             ? tally_from_bool(vm, truth, out)
             : pass_error(vm, d);
}

// assign(frame, name, a)
static tally_status assign(tally_vm *vm, void *context, size_t count,
                           const tally_value *args, tally_value *out) {
  const debugger *d = context;
  size_t nbytes;
  return tally_debug_set(d->vm, frame_of(vm, args[0]),
                         tl_program_text(vm, args[1], &nbytes),
                         kept_of(vm, args[2])->value) == TALLY_OK
             ? tally_from_none(vm, out)
             : pass_error(vm, d);
}

// heed(lines, calls, changes)
static tally_status set_heed(tally_vm *vm, void *context, size_t count,
                             const tally_value *args, tally_value *out) {
  debugger *d = context;
  tally_array lines;
  d->line_count = 0;
  if (tally_to_buffer(vm, args[0], &lines) == TALLY_OK &&
      lines.size <= BREAKPOINTS) {
    d->line_count = lines.size;
    memcpy(d->lines, lines.data, lines.size * sizeof *d->lines);
  }
  tally_to_bool(vm, args[1], &d->calls);
  tally_to_bool(vm, args[2], &d->changes);
  return tally_from_none(vm, out);
}

// --- The program ------------------------------------------------------------

// Opens the program. False after a message.
static bool open_program(debugger *d) {
  static const tally_native functions[] = {
      {.name = "calls", .params = "", .call = count_calls},
      {.name = "place", .params = "frame", .call = give_place},
      {.name = "line", .params = "frame, n", .call = find_line},
      {.name = "names", .params = "frame", .call = list_names},
      {.name = "keep", .params = "frame, text, before", .call = keep},
      {.name = "show", .params = "a", .call = show_kept},
      {.name = "holds", .params = "a", .call = test_kept},
      {.name = "assign", .params = "frame, name, a", .call = assign},
      {.name = "heed", .params = "lines, calls, changes", .call = set_heed},
  };
  d->program = tl_program_open(tl_debug, NULL, d, "run", functions,
                               sizeof functions / sizeof *functions, d->vm);
  return d->program != NULL;
}

// Calls a function of the program that gives a number or a bool; [otherwise]
// after a message. Takes the argument.
static int64_t ask(const debugger *d, const char *function, int count,
                   tally_value arg, int64_t otherwise) {
  tally_value value;
  int64_t answer = otherwise;
  int truth;
  if (tally_call(d->program, function, count, &arg, &value) == TALLY_OK) {
    if (tally_to_bool(d->program, value, &truth) == TALLY_OK)
      answer = truth;
    else
      tally_to_int(d->program, value, &answer);
    tally_release(d->program, value);
  } else {
    fprintf(stderr, "tally: %s\n", tally_error(d->program)->report);
  }
  if (count > 0)
    tally_release(d->program, arg);
  return answer;
}

// --- Stopping ---------------------------------------------------------------

// Whether the program has the run stop at the event, as it does where there is
// no memory to ask it.
static bool is_met(const debugger *d, const tally_debug_info *info) {
  static const char *const keys[] = {"kind", "file",    "line",  "function",
                                     "name", "message", "caught"};
  enum { FIELDS = sizeof keys / sizeof *keys };
  tally_vm *vm = d->program;
  const char *texts[FIELDS] = {[1] = info->file, [3] = info->function};
  tally_value fields[FIELDS], event;
  if (info->event == TALLY_DEBUG_RAISE) {
    texts[4] = info->kind;
    texts[5] = info->message;
  }
  bool ok = true;
  for (int i = 0; i < FIELDS; i++)
    ok = ok &&
         tl_program_give(vm, texts[i], texts[i] == NULL ? 0 : strlen(texts[i]),
                         &fields[i]) == TALLY_OK;
  tally_from_int(vm, (int64_t)info->event, &fields[0]);
  tally_from_int(vm, info->line, &fields[2]);
  tally_from_bool(vm, info->caught, &fields[6]);
  return !ok ||
         tally_from_record(vm, FIELDS, keys, fields, &event) != TALLY_OK ||
         ask(d, "stops", 1, event, 1) != 0;
}

// Whether the line is one that the last command wanted.
static bool is_wanted(const debugger *d, const tally_debug_info *info) {
  return d->begins || d->pace == STEP ||
         (d->pace == NEXT && info->depth <= d->depth) ||
         (d->pace == FINISH && info->depth < d->depth);
}

// Whether a breakpoint is at the line, of whatever file.
static bool is_heeded(const debugger *d, int line) {
  size_t i = 0;
  while (i < d->line_count && d->lines[i] != line) i++;
  return d->changes || i < d->line_count;
}

// Whether the run stops at the event; what is to be told of it is printed.
static bool stops(debugger *d, const tally_debug_info *info) {
  switch (info->event) {
    case TALLY_DEBUG_CALL:
      d->begins = (d->calls && is_met(d, info)) || d->begins;
      return false;
    case TALLY_DEBUG_RESUME:
      return d->pace == FINISH && info->depth < d->depth;
    case TALLY_DEBUG_RETURN:
      if (d->pace == FINISH && info->depth == d->depth) {
        printf("%s returns ", info->function);
        if (tl_print_value(d->vm, info->value) != TALLY_OK)
          printf("%s error: %s\n", tally_error(d->vm)->kind,
                 tally_error(d->vm)->message);
      }
      return false;
    case TALLY_DEBUG_RAISE:
      return is_met(d, info);
    case TALLY_DEBUG_PAUSE:
      return true;
    default: {
      bool met = is_heeded(d, info->line) && is_met(d, info);
      return met || is_wanted(d, info);
    }
  }
}

// --- Commands ---------------------------------------------------------------

// What Tab offers, as the program has it.
static tally_status list_own(void *context, const char *text, tally_vm *vm,
                             tally_value *out) {
  debugger *d = context;
  tally_value arg = {0, 0}, names;
  tally_status status = tl_program_give(d->program, text, strlen(text), &arg);
  if (status == TALLY_OK)
    status = tally_call(d->program, "offers", 1, &arg, &names);
  tally_release(d->program, arg);
  return status == TALLY_OK ? tl_program_lines(vm, d->program, names, out)
                            : tally_from_string(vm, "", 0, out);
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
// it. The session's interrupts are the prompt's meanwhile.
static void converse(debugger *d) {
  const char *text;
  size_t nbytes;
  tally_value line = {0, 0};
  d->begins = false;
  if (tl_session_is_within_line())
    putchar('\n');
  ask(d, "stopped", 0, line, 0);
  tl_session_pauses(false);
  do {
    d->pace = END;
    if (read_line(d, &text, &nbytes) &&
        tl_program_give(d->program, text, nbytes, &line) == TALLY_OK)
      d->pace = ask(d, "command", 1, line, STAY);
  } while (d->pace == STAY);
  d->depth = d->info->depth;
  fflush(stdout);
  tl_session_pauses(true);
}

// The hook of tally_debug, called for each event of the run; nonzero ends it:
// that is an interrupt, which is no failure of the command.
static int heed(tally_vm *vm, void *context, const tally_debug_info *info) {
  debugger *d = context;
  d->info = info;
  if (stops(d, info))
    converse(d);
  return d->pace == END;
}

// tally debug FILE. The run stops at its first line. The end of the commands
// ends it. Returns the exit status: that of a plain run, but done where quit
// ended it.
int tl_run_debug(tl_session *session, const tl_command *cmd) {
  debugger d = {.vm = session->vm, .pace = STEP};
  const tl_editor_use use = {
      .prompt = "debug> ", .history = "_debug", .own = list_own, .context = &d};
  if (!open_program(&d))
    return TL_FAILED;
  if (tally_debug(session->vm, heed, &d) != TALLY_OK) {
    tl_session_report(session);
    tally_close(d.program);
    return TL_FAILED;
  }
  if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
    d.editor = tl_editor_open(session->vm, &use);
  tl_session_begin();
  tl_session_pauses(true);
  tally_status status = tally_run(session->vm, cmd->subject, cmd->argc,
                                  (const char *const *)cmd->argv);
  int result = d.pace == END ? TL_DONE : tl_session_end(session, status);
  tally_debug(session->vm, NULL, NULL);
  tl_editor_close(d.editor);
  tally_close(d.program);
  free(d.line);
  return result;
}
