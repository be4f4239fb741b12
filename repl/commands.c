// Commands of the prompt: a table of them, and each one in a few lines. What
// they show comes from the calls that a host has, too.
//
//     :ti  x * 2   ─ tl_run_command   a copy without colon and blanks
//                  ─ run_text         ti is :time alone; it has an argument
//                  ─ time_code        of the argument x * 2; gives a status
//                      ─ timed(…)     prints it, commands.tly
//                  ─ tl_session_end   reports it, as for an input
//
// A command adds its line to the table at the end, and completion and :help
// know it. It writes by stdout and returns a status; errors are those of the
// VM, raised by tally_raise where the VM has none.

#include "repl/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "repl/colours.h"
#include "repl/file.h"
#include "repl/program.h"
#include "repl/progress.h"
#include "repl/run.h"
#include "repl/wrap.h"

// --- Inputs -----------------------------------------------------------------

// Whether a script would refuse the input as a value that nothing uses: it is
// an expression, and no statement can stand behind it. Two tries of the
// compiler say so, since the grammar alone would not:
//
//     (TEXT)       parses: it is an expression, and no statement
//     TEXT
//     none         does not compile: the value of TEXT is not used
// False without memory: the input is saved as it was typed. Nothing runs, but
// vm's error is another afterwards.
static bool is_only_shown(tally_vm *vm, const char *text, size_t nbytes) {
  tally_value ignored;
  char *tried = malloc(nbytes + 16);
  if (tried == NULL)
    return false;
  // An end of line ends a comment.
  snprintf(tried, nbytes + 16, "(%.*s\n)", (int)nbytes, text);
  bool shown = tally_format_source(vm, "<saved>", tried, strlen(tried),
                                   &ignored) == TALLY_OK;
  if (shown) {
    tally_release(vm, ignored);
    snprintf(tried, nbytes + 16, "%.*s\nnone", (int)nbytes, text);
    shown = tally_compile(vm, tried, &ignored) == TALLY_ERR_SYNTAX;
    if (!shown)
      tally_release(vm, ignored);
  }
  free(tried);
  return shown;
}

// A value that was shown is printed by the script. So the saved script prints
// what the prompt has shown, and is not refused for values that nothing uses.
void tl_inputs_add(tl_inputs *inputs, tally_vm *vm, const char *text,
                   size_t nbytes) {
  while (nbytes > 0 && strchr(" \t\r\n", text[nbytes - 1]) != NULL) nbytes--;
  // The longest of the forms below and its zero byte.
  if (inputs->capacity - inputs->nbytes < nbytes + sizeof "print(\n)\n") {
    size_t capacity = inputs->capacity * 2 + nbytes + 1024;
    char *larger = realloc(inputs->text, capacity);
    if (larger == NULL)
      return;
    inputs->text = larger;
    inputs->capacity = capacity;
  }
  bool shown = is_only_shown(vm, text, nbytes);
  inputs->nbytes += (size_t)snprintf(
      inputs->text + inputs->nbytes, inputs->capacity - inputs->nbytes,
      !shown                              ? "%.*s\n"
      : memchr(text, '#', nbytes) != NULL ? "print(%.*s\n)\n"
                                          : "print(%.*s)\n",
      (int)nbytes, text);
}

// [text] may be of any bytes; a zero byte ends it for `:edit`.
void tl_inputs_note(tl_inputs *inputs, const char *text, size_t nbytes) {
  free(inputs->last);
  inputs->last = strndup(text, nbytes);
}

void tl_inputs_free(tl_inputs *inputs) {
  free(inputs->last);
  free(inputs->edited);
  free(inputs->text);
  *inputs = (tl_inputs){0};
}

// --- What a command is given ------------------------------------------------

// It lives while the command runs; [argument] is a copy that the command may
// change, and ends with a zero byte.
typedef struct asked {
  tl_session *session;
  tally_vm *vm;
  char *argument;  // without blanks around it; "" where there is none
  tl_inputs *inputs;
} asked;

// A value as a number, which is released; 0 of what is none, as a call that
// fails writes nothing.
static double take_number(tally_vm *vm, tally_value value) {
  double number = 0;
  tally_to_float(vm, value, &number);
  tally_release(vm, value);
  return number;
}

// The field of a record as a number; 0 where there is none.
static double number_in(tally_vm *vm, tally_value record, const char *key) {
  tally_value field;
  return tally_field(vm, record, key, &field) == TALLY_OK
             ? take_number(vm, field)
             : 0;
}

// A library function of one value, or of none where [count] is 0, that gives a
// number. 0 where the call fails, as for a value that the function refuses.
static double number_of(tally_vm *vm, const char *function, int count,
                        tally_value value) {
  tally_value result;
  return tally_call(vm, function, count, &value, &result) == TALLY_OK
             ? take_number(vm, result)
             : 0;
}

// --- :time, :type, :mem -----------------------------------------------------

// What :time calls, and how that ended.
typedef struct timed {
  tally_vm *vm;
  tally_value function;
  tally_status status;
} timed;

// calls(n). Results are released within, which belongs to what a call costs. An
// interrupt between two calls stops neither of them.
static tally_status time_calls(tally_vm *vm, void *context, size_t count,
                               const tally_value *args, tally_value *out) {
  timed *t = context;
  int64_t n = 0;
  tally_to_int(vm, args[0], &n);
  double begin = tl_seconds_now();
  for (int64_t i = 0; i < n && t->status == TALLY_OK; i++)
    t->status = tally_apply(t->vm, t->function, 0, NULL, NULL);
  double taken = tl_seconds_now() - begin;
  if (t->status == TALLY_OK && tl_session_was_interrupted())
    t->status = tally_raise(t->vm, TALLY_ERR_INTERRUPT, "interrupted");
  return t->status == TALLY_OK ? tally_from_float(vm, taken, out)
                               : tally_raise(vm, t->status, "the code failed");
}

// Opens the program that prints what they show, which can call t->function.
// NULL after a message.
static tally_vm *open_program(timed *t) {
  static const tally_native functions[] = {
      {.name = "calls", .params = "n", .call = time_calls}};
  return tl_program_open(tl_commands, NULL, t, "run", functions, 1, NULL);
}

// Calls a function of the program with two texts, NULL for none, and with
// numbers. What fails there is an error of the prompt's VM.
static tally_status tell(const timed *t, tally_vm *program,
                         const char *function, const char *a, const char *b,
                         int count, const double *numbers) {
  const char *const texts[] = {a, b};
  tally_value args[6];
  int n = 0;
  for (int i = 0; i < 2; i++) {
    if (texts[i] != NULL)
      tl_program_give(program, texts[i], strlen(texts[i]), &args[n++]);
  }
  for (int i = 0; i < count; i++)
    tally_from_float(program, numbers[i], &args[n++]);
  tally_status status = tally_call(program, function, n, args, NULL);
  while (n > 0) tally_release(program, args[--n]);
  return status == TALLY_OK || t->status != TALLY_OK
             ? t->status
             : tally_raise(t->vm, status, "%s", tally_error(program)->message);
}

// The same in a VM of its own, which ends with it.
static tally_status tell_once(timed *t, const char *function, const char *a,
                              int count, const double *numbers) {
  tally_vm *program = open_program(t);
  if (program == NULL)
    return tally_raise(t->vm, TALLY_ERR_MEMORY, "no memory for a program");
  tally_status status = tell(t, program, function, a, NULL, count, numbers);
  tally_close(program);
  return status;
}

// The code is compiled once, as a function without parameters that sees the
// prompt's variables, and not read anew for each run, so that what is timed is
// what a script's loop would do.
static tally_status time_code(const asked *q) {
  timed t = {.vm = q->vm};
  tally_value counts;
  tally_status status = tally_compile(q->vm, q->argument, &t.function);
  if (status != TALLY_OK)
    return status;
  status = tally_call(q->vm, "memory.measure", 1, &t.function, &counts);
  if (status == TALLY_OK) {
    const double numbers[] = {number_in(q->vm, counts, "allocs"),
                              number_in(q->vm, counts, "alloc_bytes"),
                              number_in(q->vm, counts, "peak_bytes")};
    tally_release(q->vm, counts);
    status = tell_once(&t, "timed", NULL, 3, numbers);
  }
  tally_release(q->vm, t.function);
  return status;
}

// The bytes are all that the value keeps alive: a view of a large array shows
// the array's. The code runs, and may change variables, as any input does.
static tally_status show_type(const asked *q) {
  timed t = {.vm = q->vm};
  tally_value value;
  tally_status status = tally_eval(q->vm, q->argument, &value);
  if (status != TALLY_OK)
    return status;
  const double held = number_of(q->vm, "memory.held", 1, value);
  status = tell_once(&t, "sized", tally_type(q->vm, value), 1, &held);
  tally_release(q->vm, value);
  return status;
}

// The program that lists variables, and the VM that has them.
typedef struct listed {
  timed t;
  tally_vm *program;
} listed;

// Those of the library are no variables.
static void add_variable(void *context, const char *name) {
  const listed *to = context;
  tally_value value;
  if (tally_get_global(to->t.vm, name, &value) != TALLY_OK)
    return;
  const double held = number_of(to->t.vm, "memory.held", 1, value);
  tell(&to->t, to->program, "add", name, tally_type(to->t.vm, value), 1, &held);
  tally_release(to->t.vm, value);
}

// What is alive is asked before the program is opened, which takes memory, too.
static tally_status show_memory(const asked *q) {
  listed to = {.t.vm = q->vm};
  tally_value names, live;
  tally_stats stats;
  char type[48];
  snprintf(type, sizeof type, "%zu * int64", q->session->live_count);
  const tally_buffer buffer = {.data = q->session->live,
                               .type = type,
                               .nbytes = q->session->live_count * 8};
  tally_get_stats(q->vm, &stats);
  const double numbers[] = {
      (double)stats.live_bytes, (double)stats.peak_bytes,
      number_of(q->vm, "memory.rss", 0, (tally_value){0, 0})};
  tally_status status = tally_complete(q->vm, "", &names);
  if (status != TALLY_OK)
    return status;
  to.program = open_program(&to.t);
  if (to.program != NULL) {
    tl_each_text(q->vm, names, add_variable, &to);
    if (buffer.data != NULL &&
        tally_from_buffer(to.program, &buffer, &live) == TALLY_OK)
      tally_set_global(to.program, "live", live);
    status = tell(&to.t, to.program, "memory", NULL, NULL, 3, numbers);
    tally_close(to.program);
  }
  tally_release(q->vm, names);
  return status;
}

// --- :explain, :dis ---------------------------------------------------------

// The code runs, as with `tally explain`, and what it changes stays changed.
static tally_status explain_code(const asked *q) {
  tally_value explained;
  tally_status status = tally_explain_source(q->vm, q->argument, 0, &explained);
  if (status == TALLY_OK)
    tl_print_text(q->vm, explained, tl_terminal_width(STDOUT_FILENO));
  return status;
}

// Of a name that is a function's, that function; of other code the function
// that :time calls. Nothing runs; the VM writes the listing by itself.
static tally_status disassemble_code(const asked *q) {
  tally_value function;
  tally_status status = tally_get_global(q->vm, q->argument, &function);
  if (status == TALLY_OK) {
    status = tally_disassemble_function(q->vm, function);
    tally_release(q->vm, function);
    if (status != TALLY_ERR_TYPE)
      return status;
  }
  status = tally_compile(q->vm, q->argument, &function);
  if (status != TALLY_OK)
    return status;
  status = tally_disassemble_function(q->vm, function);
  tally_release(q->vm, function);
  return status;
}

// --- :load, :save, :edit, :reset, :quit -------------------------------------

// An existing file is replaced.
static tally_status save_inputs(const asked *q) {
  if (!tl_write_file(q->argument, q->inputs->text, q->inputs->nbytes)) {
    return tally_raise(q->vm, TALLY_ERR_IO, "%s cannot be written: %s",
                       q->argument, strerror(errno));
  }
  printf("saved %s\n", q->argument);
  return TALLY_OK;
}

// The file, without the ends of lines at its end; NULL: it cannot be read.
// A zero byte ends the text, too. The caller frees it.
static char *read_back(const char *path) {
  char *text = NULL;
  size_t nbytes = 0, capacity = 0;
  FILE *from = fopen(path, "rb");
  ssize_t n = from == NULL ? -1 : getdelim(&text, &capacity, 0, from);
  if (from != NULL)
    fclose(from);
  if (n < 0) {
    free(text);
    return NULL;
  }
  for (nbytes = (size_t)n; nbytes > 0 && text[nbytes - 1] == '\n';) nbytes--;
  text[nbytes] = 0;
  return text;
}

// As if it had been typed in, for :save, too.
static tally_status load_file(const asked *q) {
  tally_status status = tally_run(q->vm, q->argument, 0, NULL);
  char *text = status == TALLY_OK ? read_back(q->argument) : NULL;
  if (text != NULL)
    tl_inputs_add(q->inputs, q->vm, text, strlen(text));
  free(text);
  return status;
}

// The newest input in the editor that the person uses, with its own ways for
// many lines. What it leaves is typed at the next prompt, and runs with Enter.
// The path goes by a variable, so that the shell finds nothing in it to obey.
// The file is in a folder that only its owner may enter, and goes with it. An
// editor that fails, or was stopped by Ctrl-C, leaves the input as it was:
// nothing is offered.
static tally_status edit_last(const asked *q) {
  char folder[1024], path[1100];
  const char *last = q->inputs->last == NULL ? "" : q->inputs->last;
  if (!isatty(STDIN_FILENO) || !tl_terminal_is_able())
    return tally_raise(q->vm, TALLY_ERR_IO, ":edit needs a terminal");
  if (!tl_make_private_folder(folder, sizeof folder)) {
    return tally_raise(q->vm, TALLY_ERR_IO, "no folder for the editor: %s",
                       strerror(errno));
  }
  snprintf(path, sizeof path, "%s/input.tly", folder);
  setenv("TALLY_EDITED", path, 1);
  bool ok = tl_write_file(path, last, strlen(last)) &&
            system("${VISUAL:-${EDITOR:-vi}} \"$TALLY_EDITED\"") == 0;
  free(q->inputs->edited);
  q->inputs->edited = ok ? read_back(path) : NULL;
  unsetenv("TALLY_EDITED");
  tl_remove_tree(folder);
  return ok ? TALLY_OK
            : tally_raise(q->vm, TALLY_ERR_IO, "the editor has failed");
}

// By a statement, since the host's interface has no call that deletes a
// variable.
// Names are the VM's own, so no text of theirs can be more than a name. One of
// more than 280 bytes stays, as it would be cut.
static void forget_variable(void *context, const char *name) {
  char text[300];
  tally_value value;
  if (tally_get_global(context, name, &value) != TALLY_OK)
    return;
  tally_release(context, value);
  snprintf(text, sizeof text, "del(%.280s)", name);
  tally_eval(context, text, NULL);
}

// Inputs are forgotten with them, as a script of the later ones alone has to
// run. The memory goes back to the system, for those who look at the process.
// Names that the session gave to library functions go as well: those of the
// library are seen again.
static tally_status forget_all(const asked *q) {
  static const char *const words[] = {"", "_"};  // private names by themselves
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    tally_value names;
    tally_status status = tally_complete(q->vm, words[i], &names);
    if (status != TALLY_OK)
      return status;
    tl_each_text(q->vm, names, forget_variable, q->vm);
    tally_release(q->vm, names);
  }
  q->inputs->nbytes = 0;
  tally_trim(q->vm);
  return TALLY_OK;
}

// The prompt looks at the session behind each command.
static tally_status leave(const asked *q) {
  q->session->ended = true;
  return TALLY_OK;
}

// --- The table --------------------------------------------------------------

static tally_status list_commands(const asked *q);

// A command with an argument's name needs one, and one without takes none.
// [what] is its line of help.
static const struct {
  const char *name, *argument, *what;
  tally_status (*run)(const asked *);
} commands[] = {
    {"help", "", "these commands; ?NAME explains a function", list_commands},
    {"time", "CODE", "how long it takes, and what it allocates", time_code},
    {"type", "CODE", "the type of its value, and its bytes", show_type},
    {"mem", "", "the variables by their bytes, and what is alive", show_memory},
    {"explain", "CODE", "what each operation's result lives in, and why",
     explain_code},
    {"dis", "CODE", "its bytecode, with each operand's ownership",
     disassemble_code},
    {"load", "FILE", "runs a script; its variables stay", load_file},
    {"save", "FILE", "writes the inputs that ran as a script", save_inputs},
    {"edit", "", "the last input in $VISUAL, $EDITOR or vi", edit_last},
    {"reset", "", "forgets all variables", forget_all},
    {"quit", "", "leaves, as Ctrl-D does", leave},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

// In the table's order, which goes from help and measuring to files; a line
// that is longer than the terminal's goes on in the next.
static tally_status list_commands(const asked *q) {
  const int width = tl_terminal_width(STDOUT_FILENO);
  char line[128];
  for (int i = 0; i < COMMANDS; i++) {
    snprintf(line, sizeof line, ":%-8s%-6s%s\n", commands[i].name,
             commands[i].argument, commands[i].what);
    tl_write_wrapped(stdout, line, width, false);
  }
  puts("ans is the last value that was shown");
  return TALLY_OK;
}

// A blank before the colon makes it none, and the grammar then refuses it.
bool tl_is_command(const char *line, size_t nbytes) {
  return nbytes > 0 && line[0] == ':';
}

// The grammar is asked for the text with its zero behind it, so of a copy.
// Without memory it counts as whole, so that a person gets an error and no
// line after line.
bool tl_input_is_whole(tally_vm *vm, const char *text, size_t nbytes) {
  if (tl_is_command(text, nbytes) || (nbytes > 0 && text[0] == '?'))
    return true;
  char *copy = malloc(nbytes + 1);
  if (copy == NULL)
    return true;
  memcpy(copy, text, nbytes);
  copy[nbytes] = 0;
  bool whole = tally_check_input(vm, copy) == TALLY_INPUT_COMPLETE;
  free(copy);
  return whole;
}

const char *tl_command_name(int at) {
  return at < COMMANDS ? commands[at].name : NULL;
}

// A command whose name begins as is written, if there is one alone. -1: none,
// -2: several. A whole name wins over longer ones that begin with it.
//
//     "time"   :time, at once
//     "t"      -2: time and type
//     "x"      -1
//     ""       -1, as each name begins so
static int find_command(const char *name, size_t length) {
  int found = -1;
  for (int i = 0; i < COMMANDS; i++) {
    if (strncmp(commands[i].name, name, length) != 0)
      continue;
    if (commands[i].name[length] == 0)
      return i;
    found = found == -1 ? i : -2;
  }
  return length == 0 ? -1 : found;
}

// The command's name ends at the first blank; [text] is changed. Mistakes in
// the command itself are reported here, and are no errors of the VM:
// tally_error is as before.
// TL_FAILED for a mistake in the command; nothing ran then. Else the run is
// within tl_session_begin and tl_session_end, so Ctrl-C stops it as it does an
// input.
static int run_text(tl_session *session, char *text, tl_inputs *inputs) {
  size_t length = strcspn(text, " \t");
  char *argument = text + length + strspn(text + length, " \t");
  int at = find_command(text, length);
  if (at < 0) {
    fprintf(stderr, "tally: %s :%.*s; :help lists them\n",
            at == -1 ? "no command" : "several commands begin with",
            (int)length, text);
    return TL_FAILED;
  }
  if ((*argument != 0) != (*commands[at].argument != 0)) {
    fprintf(stderr, "tally: write :%s%s%s\n", commands[at].name,
            *commands[at].argument != 0 ? " " : "", commands[at].argument);
    return TL_FAILED;
  }
  asked q = {session, session->vm, argument, inputs};
  tl_session_begin();
  int result = tl_session_end(session, commands[at].run(&q));
  fflush(stdout);
  return result;
}

// Blanks at the end are cut off, and the line is copied to get an end of its
// own. What scripts have printed is flushed first, as messages go by standard
// error.
int tl_run_command(tl_session *session, const char *line, size_t nbytes,
                   tl_inputs *inputs) {
  // The colon itself stays, so [text] has a byte for the zero.
  while (nbytes > 1 && strchr(" \t\r\n", line[nbytes - 1]) != NULL) nbytes--;
  char *text = malloc(nbytes);
  fflush(stdout);
  if (text == NULL || memchr(line, 0, nbytes) != NULL) {
    fputs(text == NULL ? "tally: no memory for this command\n"
                       : "tally: the command holds a zero byte\n",
          stderr);
    free(text);
    return TL_FAILED;
  }
  memcpy(text, line + 1, nbytes - 1);  // without the colon
  text[nbytes - 1] = 0;
  int result = run_text(session, text, inputs);
  free(text);
  return result;
}
