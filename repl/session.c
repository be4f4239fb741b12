// A VM with what the command adds: interrupts, reports, counters. The signal
// handler may touch little, so what it needs stands in variables of this file,
// and there is one session at a time.
//
//                       is_running   was_asked
//     at the prompt         0            0
//     Ctrl-C                0            1     until somebody asks for it
//     tl_session_begin      1            0
//     Ctrl-C                1            1     the VM stops, or the process
//     tl_session_end        0            0

#include "repl/session.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "repl/colours.h"
#include "repl/file.h"
#include "repl/progress.h"
#include "repl/stats.h"
#include "repl/wrap.h"

// --- Interrupts -------------------------------------------------------------
// Ctrl-C asks the running script to stop. If it does not heed that, a second
// one within a second ends the process. No hand presses twice within the first
// 50 ms: that is one signal sent by two.

static tally_vm *interruptible;  // set while no handler is installed
static volatile sig_atomic_t is_running, was_asked, pauses;
static struct timespec asked_at;  // written and read by the handler alone

// The time from one to the other.
// May be negative. A clock that was never read counts as 0, long ago.
static double seconds_between(const struct timespec *from,
                              const struct timespec *to) {
  double seconds = (double)(to->tv_sec - from->tv_sec);
  return seconds + 1e-9 * (double)(to->tv_nsec - from->tv_nsec);
}

// The handler of Ctrl-C. Only calls that are safe in a handler (POSIX, 2.4.3):
// clock_gettime and _exit are, and tally_interrupt and
// tally_debug_pause only set a flag.
static void heed_interrupt(int signal_number) {
  (void)signal_number;
  // The code that is interrupted may be about to read errno.
  int saved = errno;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  double passed = seconds_between(&asked_at, &now);
  // The script did not heed the first one.
  if (is_running && was_asked && passed > 0.05 && passed <= 1) {
    // exit would flush streams that the script may be in the midst of writing.
    _exit(TL_INTERRUPTED);
  }
  was_asked = 1;
  asked_at = now;
  if (pauses)
    tally_debug_pause(interruptible);
  else if (is_running)
    tally_interrupt(interruptible);
  errno = saved;
}

// Installs the handler for [vm]; NULL: the default again.
// The default is set first, so that no handler runs while [interruptible]
// changes.
static void take_interrupts(tally_vm *vm) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  sigemptyset(&action.sa_mask);
  action.sa_handler = SIG_DFL;
  sigaction(SIGINT, &action, NULL);
  interruptible = vm;
  // A closed pipe ends the command without a word, whoever started it.
  sigaction(SIGPIPE, &action, NULL);
  if (vm == NULL)
    return;
  // Without SA_RESTART: a read at the prompt comes back.
  action.sa_handler = heed_interrupt;
  sigaction(SIGINT, &action, NULL);
}

// Whether runs show what they are at, and whether that is on the terminal that
// scripts write to.
static bool shows_progress, writes_to_terminal;

// An interrupt from before belongs to nobody.
void tl_session_begin(void) {
  was_asked = 0;
  is_running = 1;
  if (shows_progress)
    tl_progress_begin(interruptible);
}

// A debugger's prompt is within the run, which another Ctrl-C must not end.
void tl_session_pauses(bool on) {
  was_asked = 0;
  is_running = pauses = on;
}

// Reading and forgetting are two steps: a signal between them is forgotten,
// which a person repeats.
bool tl_session_was_interrupted(void) {
  bool asked = was_asked != 0;
  was_asked = 0;
  return asked;
}

// An interrupt that comes too late for this run is forgotten when the next one
// begins.
//
//     status                 returns                  session->ended
//     TALLY_OK               TL_DONE                  as before
//     TALLY_ERR_EXIT         what os.exit was given   true
//     TALLY_ERR_INTERRUPT    TL_INTERRUPTED           false, after a report
//     others                 TL_FAILED                false, after a report
int tl_session_end(tl_session *session, tally_status status) {
  is_running = pauses = 0;
  tl_progress_end();
  // What Ctrl-C cut short of the output is no failure to write.
  if (tl_session_was_interrupted())
    clearerr(stdout);
  if (status == TALLY_OK)
    return TL_DONE;
  session->ended = status == TALLY_ERR_EXIT;
  if (session->ended)
    return tally_error(session->vm)->exit_status;
  tl_session_report(session);
  return status == TALLY_ERR_INTERRUPT ? TL_INTERRUPTED : TL_FAILED;
}

// The block doubles whenever the count is a power of 2. Without memory for it
// the input is left out.
void tl_session_note_live(tl_session *session) {
  size_t n = session->live_count;
  tally_stats stats;
  if ((n & (n - 1)) == 0) {
    int64_t *larger = realloc(session->live, (2 * n + 1) * sizeof *larger);
    if (larger == NULL)
      return;
    session->live = larger;
  }
  tally_get_stats(session->vm, &stats);
  session->live[session->live_count++] = (int64_t)stats.live_bytes;
}

// Whether the last line that a script has written is not ended.
static bool is_within_line;

bool tl_session_is_within_line(void) {
  bool within = is_within_line;
  is_within_line = false;
  return within;
}

// Output first, so that the report stands behind it.
void tl_session_report(const tl_session *session) {
  const char *report = tally_error(session->vm)->report;
  size_t n = strlen(report);
  fflush(stdout);
  is_within_line = false;  // the report ends it
  tl_write_wrapped(stderr, report, tl_terminal_width(STDERR_FILENO),
                   tl_has_colours(STDERR_FILENO));
  if (n == 0 || report[n - 1] != '\n')
    fputc('\n', stderr);
}

// The script's own output would stand in an explanation's way.
// 0: it counts as written.
static int write_nothing(void *context, const char *text, size_t nbytes) {
  (void)context, (void)text, (void)nbytes;
  return 0;
}

// --- Life -------------------------------------------------------------------

// Text for standard output gathers in its buffer; a terminal sees each line.
// 1, and the VM raises an error, where stdout cannot be written.
static int write_out(void *context, const char *text, size_t nbytes) {
  (void)context;
  if (nbytes > 0)
    is_within_line = text[nbytes - 1] != '\n';
  if (nbytes > 0 && writes_to_terminal)
    tl_progress_hide(!is_within_line);
  return fwrite(text, 1, nbytes, stdout) == nbytes ? 0 : 1;
}

// Output to a pipe or file gathers in a large buffer.
// session->vm is open where the result is true, and only then. A language
// server's VM has no capabilities, since a document that is opened must not
// act.
bool tl_session_open(tl_session *session, const tl_command *cmd) {
  tally_options options = cmd->options;
  options.keep_ans = cmd->action == TL_ACTION_PROMPT;
  options.colors = tl_picture_form(STDOUT_FILENO);
  if (cmd->action == TL_ACTION_LSP)
    options.capabilities = 0;  // nothing of a document may reach outside
  options.write = cmd->action == TL_ACTION_EXPLAIN ? write_nothing : write_out;
  *session = (tl_session){.stats = cmd->stats,
                          .memory_plot = cmd->memory_plot,
                          .profile = cmd->profile};
  shows_progress =
      (cmd->action == TL_ACTION_PROMPT || cmd->action == TL_ACTION_RUN ||
       cmd->action == TL_ACTION_CODE) &&
      isatty(STDERR_FILENO) && tl_terminal_is_able();
  if (shows_progress)
    options.progress = tl_progress_draw;
  writes_to_terminal = isatty(STDOUT_FILENO);
  if (!writes_to_terminal)
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
  if (tally_open(&options, &session->vm) != TALLY_OK) {
    fputs("tally: no memory to begin with; is --limit-memory too small?\n",
          stderr);
    return false;
  }
  take_interrupts(session->vm);
  if (session->stats != TL_STATS_NONE)
    tally_count(session->vm, 1);
  unsigned watched = (session->memory_plot != NULL ? TALLY_WATCH_MEMORY : 0u) |
                     (session->profile != NULL ? TALLY_WATCH_TIME : 0u);
  if (watched != 0 && tally_watch(session->vm, watched) != TALLY_OK) {
    tl_session_report(session);
    tally_close(session->vm);
    return false;
  }
  return true;
}

// Whether all output has arrived; else a message.
// errno is of the last call that failed, which for an error of long ago may be
// another's.
static bool flush_output(void) {
  if (fflush(stdout) == 0 && !ferror(stdout))
    return true;
  fprintf(stderr, "tally: cannot write to standard output: %s\n",
          strerror(errno));
  return false;
}

// Columns for a picture as text: the terminal's, within bounds.
// Less than 40, or 0 where there is no terminal, is too little: then 80.
static int plot_width(void) {
  int width = tl_terminal_width(STDERR_FILENO);
  return width < 40 ? 80 : width < 120 ? width : 120;
}

// Writes a picture to its file, or to standard error.
typedef tally_status drawing(tally_vm *vm, tally_plot_form form, int width,
                             tally_value *out);
// The path's ending says the form: .svg, .json, else text. "-" is standard
// error. False after a report or a message.
static bool write_plot(tl_session *session, const char *path, drawing *draw) {
  const char *ending = strrchr(path, '.');
  bool svg = ending != NULL && strcmp(ending, ".svg") == 0;
  bool json = ending != NULL && strcmp(ending, ".json") == 0;
  size_t nbytes;
  tally_value plot;
  const char *text;
  tally_plot_form form = svg    ? TALLY_PLOT_SVG
                         : json ? TALLY_PLOT_JSON
                                : TALLY_PLOT_TEXT;
  if (draw(session->vm, form, plot_width(), &plot) != TALLY_OK ||
      tally_to_string(session->vm, plot, &text, &nbytes) != TALLY_OK) {
    tl_session_report(session);
    return false;
  }
  bool ok = true;
  if (strcmp(path, "-") == 0)
    fwrite(text, 1, nbytes, stderr);
  else
    ok = tl_write_file(path, text, nbytes);
  if (!ok)
    fprintf(stderr, "tally: cannot write %s: %s\n", path, strerror(errno));
  tally_release(session->vm, plot);
  return ok;
}

// Output that could not be written is a failure, whatever the script did.
// [status] stays where it says a failure already. All that is wanted is
// written, also after one of them has failed.
int tl_session_close(tl_session *session, int status) {
  if (!flush_output() && status == TL_DONE)
    status = TL_FAILED;
  if (session->stats != TL_STATS_NONE) {
    tally_stats stats;
    tally_get_stats(session->vm, &stats);
    tl_stats_write(&stats, session->stats, stderr);
  }
  bool ok = session->memory_plot == NULL ||
            write_plot(session, session->memory_plot, tally_plot_memory);
  if (session->profile != NULL &&
      !write_plot(session, session->profile, tally_plot_time))
    ok = false;
  if (!ok && status == TL_DONE)
    status = TL_FAILED;
  take_interrupts(NULL);
  tally_close(session->vm);
  free(session->live);
  session->vm = NULL;
  return status;
}
