// Draws what a run is at, over itself, and takes it off before anything else is
// written. See progress.h. A timer's signal sets a flag in the VM, which calls
// tl_progress_draw at its next poll: a run of less than a second pays two calls
// of the system, and a longer one what is drawn.
//
// The time that is left follows from the part that was done since the loop was
// seen first, anew whenever the part changes; in between it counts down.
//
//     seconds   1     11    21    25
//     part      0.1   0.4   0.7   0.7      3 % a second: 10 s left, 6 s left

#include "repl/progress.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "repl/colours.h"
#include "repl/screen.h"

enum { FIRST_US = 1000000, NEXT_US = 250000 };

static tally_vm *asked;    // of the run under way, or NULL
static bool is_elsewhere;  // the cursor stands behind text whose line goes on
// Whether it stands behind the line, and whether the run was asked and has not
// answered yet: the handler of the signal looks at both.
static volatile sig_atomic_t is_shown, was_asked;

// What the estimate is made from: times of the monotonic clock in seconds.
static struct {
  double began;            // the run
  double seen, part_seen;  // the loop when it was seen first
  int line;                // its line; 0: none yet
  double part, over;       // the last part, and when all of it may be done
} estimate;

// Not the wall clock's, which may be set back meanwhile.
double tl_seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// --- The timer --------------------------------------------------------------

// Only what a handler may: flags, and a write. A run that has not answered
// since the last signal waits, most likely for input, which the line would
// stand before.
static void ask(int signal_number) {
  int saved = errno;
  (void)signal_number;
  if (was_asked && is_shown)
    is_shown = write(STDERR_FILENO, "\r\033[K", 4) != 4;
  was_asked = true;
  tally_ask_progress(asked);
  errno = saved;
}

// 0: it rings no more.
static void set_timer(int first_us) {
  struct itimerval timer = {
      .it_value = {first_us / 1000000, first_us % 1000000},
      .it_interval = {0, first_us == 0 ? 0 : NEXT_US}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

// Reads and waits go on behind the signal (SA_RESTART).
void tl_progress_begin(tally_vm *vm) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  sigemptyset(&action.sa_mask);
  action.sa_handler = ask;
  action.sa_flags = SA_RESTART;
  asked = vm;
  memset(&estimate, 0, sizeof estimate);
  estimate.began = tl_seconds_now();
  is_elsewhere = false;
  was_asked = false;
  sigaction(SIGALRM, &action, NULL);
  set_timer(FIRST_US);
}

// A signal that is under way already finds the handler, which knows no VM.
void tl_progress_end(void) {
  if (asked == NULL)
    return;
  set_timer(0);
  tl_progress_hide(true);
  asked = NULL;
}

// --- The line ---------------------------------------------------------------

// "17 s", "4:05 min", "2:03 h".
static void put_time(char *to, size_t nbytes, double seconds) {
  int s = seconds < 1e8 ? (int)seconds : 100000000;
  if (s < 60)
    snprintf(to, nbytes, "%d s", s);
  else if (s < 3600)
    snprintf(to, nbytes, "%d:%02d min", s / 60, s % 60);
  else
    snprintf(to, nbytes, "%d:%02d h", s / 3600, s / 60 % 60);
}

// Takes the part into the estimate. Another loop, or one that runs again,
// begins it anew. Returns the seconds that are left; below 0: nobody knows.
static double seconds_left(const tally_progress *at, double now) {
  if (estimate.line != at->line || at->part < estimate.part) {
    estimate.line = at->line;
    estimate.seen = now;
    estimate.part = estimate.part_seen = at->part;
    estimate.over = 0;
  }
  if (at->part > estimate.part && now > estimate.seen) {
    double speed = (at->part - estimate.part_seen) / (now - estimate.seen);
    estimate.over = now + (1 - at->part) / speed;
    estimate.part = at->part;
  }
  return estimate.over - now;
}

// The line that is made, and the cells that are left of the terminal's.
typedef struct line {
  char text[1024];
  size_t nbytes;
  int cells;
} line;

// Adds bytes that take no cells, or that have them already; none where the
// buffer is full, which no terminal's width comes near.
static void add_bytes(line *to, const char *text, size_t nbytes) {
  if (nbytes > sizeof to->text - to->nbytes)
    return;
  memcpy(to->text + to->nbytes, text, nbytes);
  to->nbytes += nbytes;
}

// Adds the text as far as there are cells for it; what would move the cursor
// becomes a blank.
static void add_cut(line *to, const char *text, size_t nbytes) {
  for (size_t at = 0; at < nbytes;) {
    size_t end = tl_sign_end(text, nbytes, at);
    bool plain = (unsigned char)text[at] >= ' ' && text[at] != 127;
    int taken = plain ? tl_cells(text + at, end - at) : 1;
    if (taken > to->cells)
      break;
    add_bytes(to, plain ? text + at : " ", plain ? end - at : 1);
    to->cells -= taken;
    at = end;
  }
}

// "42 %, 17 s left", "42 % after 40 s", or only for how long it has run.
static void add_times(line *to, const tally_progress *at) {
  double now = tl_seconds_now(),
         left = at->part < 0 ? -1 : seconds_left(at, now);
  char time[32], text[80];
  put_time(time, sizeof time, left >= 0 ? left + 1 : now - estimate.began);
  if (at->part < 0)
    snprintf(text, sizeof text, "%s", time);
  else
    snprintf(text, sizeof text, left >= 0 ? "%d %%, %s left" : "%d %% after %s",
             (int)(100 * at->part), time);
  add_cut(to, text, strlen(text));
}

// "train.tly:12  for epoch in 0..epochs {"; an input at the prompt has no name.
// Of a path the last part is shown.
static void add_place(line *to, const tally_progress *at) {
  const char *slash = strrchr(at->file, '/');
  const char *file = slash == NULL ? at->file : slash + 1;
  char text[300];
  if (*file != 0 && *file != '<') {
    snprintf(text, sizeof text, "  %.255s:%d", file, at->line);
    add_cut(to, text, strlen(text));
  }
  add_cut(to, "  ", 2);
  add_cut(to, at->text, at->nbytes);
}

// Nothing is drawn into the line of a script's own output, nor from the
// background, nor where the terminal's width is not known. The last column
// stays free, so that no terminal goes on in the next line.
void tl_progress_draw(void *context, const tally_progress *at) {
  (void)context;
  const int columns = tl_terminal_width(STDERR_FILENO);
  const bool has_colours = tl_has_colours(STDERR_FILENO);
  was_asked = false;
  if (is_elsewhere || columns < 2 || tcgetpgrp(STDERR_FILENO) != getpgrp())
    return;
  line to = {.cells = columns - 1};
  add_bytes(&to, "\r\033[K", 4);
  add_bytes(&to, TL_GREY, has_colours ? sizeof TL_GREY - 1 : 0);
  add_times(&to, at);
  add_place(&to, at);
  // There is room for the end of the colour.
  if (to.nbytes > sizeof to.text - sizeof TL_PLAIN)
    to.nbytes = sizeof to.text - sizeof TL_PLAIN;
  add_bytes(&to, TL_PLAIN, has_colours ? sizeof TL_PLAIN - 1 : 0);
  fwrite(to.text, 1, to.nbytes, stderr);
  fflush(stderr);
  is_shown = true;
}

// Written before the text that follows, which goes through another buffer.
void tl_progress_hide(bool ends) {
  is_elsewhere = !ends;
  if (!is_shown)
    return;
  is_shown = false;
  fputs("\r\033[K", stderr);
  fflush(stderr);
}
