// Commands of the prompt: a table of them, and each one in a few lines. What
// they show comes from the calls that a host has, too.
//
//     :ti  x * 2   ─ tl_run_command   a copy without colon and blanks
//                  ─ run_text         ti is :time alone; it has an argument
//                  ─ time_code        of the argument x * 2; gives a status
//                  ─ tl_session_end   reports it, as for an input
//
// A command adds its line to the table at the end, and completion and :help
// know it. It writes by stdout and returns a status; errors are those of the
// VM, raised by tally_raise where the VM has none.

#include "repl/commands.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "repl/colours.h"
#include "repl/file.h"
#include "repl/run.h"
#include "repl/screen.h"
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

// 1234567 bytes as "1.2 MB"; [to] has room for 16 bytes. Powers of 1000, as the
// units say, and two digits or three. The bounds are those at which rounding
// would give a fourth digit. Returns [to].
static const char *spell_bytes(double nbytes, char *to) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  size_t unit = 0;
  for (; nbytes >= 999.5 && unit < 5; unit++) nbytes /= 1000;
  snprintf(to, 16, unit == 0 || nbytes >= 99.95 ? "%.0f %s" : "%.1f %s", nbytes,
           units[unit]);
  return to;
}

// 0.00123 seconds as "1.23 ms"; [to] has room for 16 bytes. Nanoseconds
// are the last unit: less is 0.5 ns. Returns [to].
static const char *spell_seconds(double seconds, char *to) {
  static const char *const units[] = {"s", "ms", "µs", "ns"};
  size_t unit = 0;
  for (; seconds < 0.9995 && unit < 3; unit++) seconds *= 1000;
  snprintf(to, 16, "%.3g %s", seconds, units[unit]);
  return to;
}

// A value as a number, which is released; 0 of what is none.
static double take_number(tally_vm *vm, tally_value value) {
  double number = 0;
  if (tally_to_float(vm, value, &number) != TALLY_OK)
    number = 0;
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

// --- :time ------------------------------------------------------------------

// With three the median is neither the slowest nor the fastest; a thousand fill
// a third of a second with calls of 330 µs or less.
enum { SAMPLES_LEAST = 3, SAMPLES_MOST = 1000 };

// Seconds of a clock that nobody sets.
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The fastest first, for qsort.
static int compare_times(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// How long so many calls take; negative: one failed. Results are released
// within, which belongs to what a call costs.
static double time_calls(tally_vm *vm, tally_value function, int calls) {
  double begin = now();
  for (int i = 0; i < calls; i++)
    if (tally_apply(vm, function, 0, NULL, NULL) != TALLY_OK)
      return -1;
  return now() - begin;
}

// Samples of several calls each, so that the clock's own time does not count,
// until a third of a second has passed; the times of a call, in order. Returns
// how many samples; 0: a call failed. [times] has room for SAMPLES_MOST. The
// median of samples is what is reported, as a mean would grow with everything
// else that the machine does.
static int sample(tally_vm *vm, tally_value function, int calls,
                  double *times) {
  int count = 0;
  double all = 0;
  while (count < SAMPLES_LEAST || (count < SAMPLES_MOST && all < 0.33)) {
    double taken = time_calls(vm, function, calls);
    if (taken < 0)
      return 0;
    // An interrupt between two calls stops neither of them.
    if (tl_session_was_interrupted()) {
      tally_raise(vm, TALLY_ERR_INTERRUPT, "interrupted");
      return 0;
    }
    all += taken;
    times[count++] = taken / calls;
  }
  qsort(times, (size_t)count, sizeof *times, compare_times);
  return count;
}

// The first call is counted; the second says how many make a sample. A sample
// takes 50 µs or one call, whichever is longer, as reading the clock costs some
// 20 to 50 ns. The counted call also fills caches, so that none of those timed
// is the first.
static tally_status time_function(tally_vm *vm, tally_value function) {
  static double times[SAMPLES_MOST];
  char a[16], b[16], c[16];
  tally_value counts;
  tally_status status = tally_call(vm, "memory.measure", 1, &function, &counts);
  if (status != TALLY_OK)
    return status;
  double arrays = number_in(vm, counts, "allocs");
  double nbytes = number_in(vm, counts, "alloc_bytes");
  double peak = number_in(vm, counts, "peak_bytes");
  tally_release(vm, counts);
  double once = time_calls(vm, function, 1);
  int calls = once < 5e-8 ? 1000 : once > 5e-5 ? 1 : (int)(5e-5 / once);
  int count = once < 0 ? 0 : sample(vm, function, calls, times);
  if (count == 0)
    return tally_error(vm)->status;
  printf("%s, the median of %d runs (%s to %s)\n",
         spell_seconds(times[count / 2], a), count * calls,
         spell_seconds(times[0], b), spell_seconds(times[count - 1], c));
  printf("%.0f array%s made, %s; %s more alive at the peak\n", arrays,
         arrays == 1 ? "" : "s", spell_bytes(nbytes, a), spell_bytes(peak, b));
  return TALLY_OK;
}

// The code is compiled once, as a function without parameters that sees the
// prompt's variables.
// Compiled and not read anew for each run, so that what is timed is what a
// script's loop would do.
static tally_status time_code(const asked *q) {
  tally_value function;
  tally_status status = tally_compile(q->vm, q->argument, &function);
  if (status != TALLY_OK)
    return status;
  status = time_function(q->vm, function);
  tally_release(q->vm, function);
  return status;
}

// --- :type, :mem ------------------------------------------------------------

// The bytes are all that the value keeps alive: a view of a large array shows
// the array's.
// The code runs, and may change variables, as any input does.
static tally_status show_type(const asked *q) {
  tally_value value;
  char nbytes[16];
  tally_status status = tally_eval(q->vm, q->argument, &value);
  if (status != TALLY_OK)
    return status;
  printf("%s, %s\n", tally_type(q->vm, value),
         spell_bytes(number_of(q->vm, "memory.held", 1, value), nbytes));
  tally_release(q->vm, value);
  return TALLY_OK;
}

// A variable as :mem shows it.
typedef struct variable {
  const char *name;
  char type[48];
  double nbytes;
} variable;

// The largest first; of equal ones by name, so that the list is the same each
// time.
// None of the numbers is a NaN, so this is an order.
static int compare_variables(const void *a, const void *b) {
  const variable *x = a, *y = b;
  return x->nbytes != y->nbytes
             ? (x->nbytes < y->nbytes) - (x->nbytes > y->nbytes)
             : strcmp(x->name, y->name);
}

typedef struct variables {
  tally_vm *vm;
  variable *of;
  size_t count;
} variables;

// [of] has room for as many as there are names. Those of the library are no
// variables. The name lives as long as their list.
static void add_variable(void *context, const char *name) {
  variables *all = context;
  tally_value value;
  if (tally_get_global(all->vm, name, &value) != TALLY_OK)
    return;
  variable *v = &all->of[all->count++];
  v->name = name;
  v->nbytes = number_of(all->vm, "memory.held", 1, value);
  // A long type, as of a record, is cut, between characters.
  const char *type = tally_type(all->vm, value);
  size_t nbytes = strlen(type), kept = 0, end;
  while (kept < nbytes && (end = tl_sign_end(type, nbytes, kept)) <= 44)
    kept = end;
  snprintf(v->type, sizeof v->type, "%.*s", (int)kept, type);
  tally_release(all->vm, value);
}

// Live bytes over the session, a bar for one input or more; nothing at all is
// no bar, and the least of something is one of the lowest.
static void draw_live(const tl_live *live) {
  static const char *const bars[] = {" ", "▁", "▂", "▃", "▄",
                                     "▅", "▆", "▇", "█"};
  uint64_t most = 0;
  char a[16];
  for (int i = 0; i < live->count; i++)
    if (live->nbytes[i] > most)
      most = live->nbytes[i];
  if (live->count < 2 || most == 0)
    return;
  printf("%10s ", spell_bytes((double)most, a));
  for (int i = 0; i < live->count; i++)
    fputs(bars[(int)ceil(8 * (double)live->nbytes[i] / (double)most)], stdout);
  puts(live->step == 1 ? "  behind each input" : "  behind the inputs");
}

// The variables by the bytes that they keep alive, then the whole. Arrays that
// several variables share are counted for each, so the lines may add up to more
// than what is alive.
// Without memory for the list there are the sums alone, which need none.
static tally_status show_memory(const asked *q) {
  tally_value names;
  tally_status status = tally_complete(q->vm, "", &names);
  if (status != TALLY_OK)
    return status;
  variables all = {q->vm, calloc(tally_length(q->vm, names), sizeof *all.of),
                   0};
  char a[16], b[16];
  if (all.of != NULL)
    tl_each_text(q->vm, names, add_variable, &all);
  if (all.count > 0)
    qsort(all.of, all.count, sizeof *all.of, compare_variables);
  for (size_t i = 0; i < all.count; i++) {
    const char *name = all.of[i].name;
    int pad = 16 - tl_cells(name, strlen(name));
    printf("%10s  %s%*s %s\n", spell_bytes(all.of[i].nbytes, a), name,
           pad > 0 ? pad : 0, "", all.of[i].type);
  }
  free(all.of);
  tally_release(q->vm, names);
  draw_live(&q->session->live);
  tally_stats stats;
  tally_get_stats(q->vm, &stats);
  printf("%s alive, %s at the peak\n", spell_bytes((double)stats.live_bytes, a),
         spell_bytes((double)stats.peak_bytes, b));
  // What the process has with other libraries and code, where the system says.
  double resident = number_of(q->vm, "memory.rss", 0, (tally_value){0, 0});
  if (resident > 0)
    printf("%s of the whole process\n", spell_bytes(resident, a));
  return TALLY_OK;
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
  (void)q;
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
