// The prompt on a terminal, as a person has it: keys are typed when the screen
// shows that the command waits for them.

#define _DEFAULT_SOURCE  // ioctl
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

enum { PATIENCE_MS = 120000 };

static char tally[1024], folder[] = "/tmp/tally-prompt-XXXXXX";

typedef struct terminal {
  int keys;  // the terminal's other side
  pid_t child;
  char screen[1 << 16];
  size_t filled, seen;  // bytes of the screen, and those looked at
} terminal;

static void run_child(const char *name) {
  char history[64];
  snprintf(history, sizeof history, "%s/history", folder);
  setsid();
  int side = open(name, O_RDWR);  // a session's first terminal is its own
  if (side < 0)
    _exit(3);
  dup2(side, STDIN_FILENO);
  dup2(side, STDOUT_FILENO);
  dup2(side, STDERR_FILENO);
  setenv("TERM", "xterm", 1);
  setenv("LC_ALL", "C.UTF-8", 1);
  setenv("TALLY_HISTORY", history, 1);
  setenv("HOME", folder, 1);
  execl(tally, tally, (char *)NULL);
  _exit(3);
}

static void start(terminal *t) {
  memset(t, 0, sizeof *t);
  t->keys = posix_openpt(O_RDWR | O_NOCTTY);
  if (t->keys < 0) {  // such as in a chroot without /dev/pts
    print_message("no pseudo-terminal to be had: %s\n", strerror(errno));
    skip();
  }
  assert_int_equal(grantpt(t->keys), 0);
  assert_int_equal(unlockpt(t->keys), 0);
  const char *name = ptsname(t->keys);
  assert_non_null(name);
  t->child = fork();
  assert_true(t->child >= 0);
  if (t->child == 0)
    run_child(name);
}

// Waits until the screen shows the text, behind what was waited for before.
static void see(terminal *t, const char *text) {
  for (;;) {
    const char *found = strstr(t->screen + t->seen, text);
    if (found != NULL) {
      t->seen = (size_t)(found - t->screen) + strlen(text);
      return;
    }
    struct pollfd fd = {t->keys, POLLIN, 0};
    ssize_t n = -1;
    if (poll(&fd, 1, PATIENCE_MS) > 0)
      n = read(t->keys, t->screen + t->filled,
               sizeof t->screen - 1 - t->filled);
    if (n <= 0) {
      kill(t->child, SIGKILL);
      fail_msg("no \"%s\" on the screen: %s", text, t->screen + t->seen);
    }
    t->filled += (size_t)n;
  }
}

static void type(terminal *t, const char *keys) {
  size_t length = strlen(keys);
  assert_int_equal(write(t->keys, keys, length), length);
}

// Types at the next prompt and waits for what it leads to.
static void expect(terminal *t, const char *keys, const char *shown) {
  see(t, "tally> ");
  type(t, keys);
  see(t, shown);
}

static void leave(terminal *t) {
  int status;
  see(t, "tally> ");
  type(t, "\004");
  assert_int_equal(waitpid(t->child, &status, 0), t->child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  close(t->keys);
}

static void test_tab_completes(void **state) {
  (void)state;
  terminal t;
  start(&t);
  expect(&t, "mean_of = 41\n", "\n");
  expect(&t, "mean_o\t + 1\n", "\n42");
  expect(&t, "\\alph\t = 6\n", "\n");
  expect(&t, "\\alpha\t \\times\t 7\n", "\n42");
  expect(&t, "mea\t\t", "mean_of");  // both, listed, and the line again
  expect(&t, "\003", "\n");
  expect(&t, "r = (north: 42)\n", "\n");
  expect(&t, "r.no\t\n", "\n42");
  leave(&t);
}

static void test_lines_are_edited(void **state) {
  (void)state;
  terminal t;
  start(&t);
  expect(&t, "20 + 1\n", "\n21");
  expect(&t, "\033[A + 21\n", "\n42");
  expect(&t, "1 + \003", "");
  expect(&t, "6 * 7\n", "\n42");
  expect(&t, "fn f(x) {\n", "  ...> ");
  type(&t, "\t x + 1\n");
  see(&t, "  ...> ");
  type(&t, "}\n");
  expect(&t, "f(41)\n", "\n42");
  leave(&t);
}

static void test_ctrl_c_stops_what_runs(void **state) {
  (void)state;
  terminal t;
  start(&t);
  expect(&t, "for i in 0..2 { print(i) }; while true { }\n", "\n1");
  type(&t, "\003");
  see(&t, "interrupted");
  expect(&t, "6 * 7\n", "\n42");
  leave(&t);
}

static void test_predicates_are_answered(void **state) {
  (void)state;
  terminal t;
  start(&t);
  expect(&t, "?rot90\n", "rot90(x");
  expect(&t, "? cumulative_sum()\n", "cumulative_sum(x");
  expect(&t, "?\n", "?NAME shows");
  expect(&t, "?no_such\n", "no documentation of no_such");
  leave(&t);
}

static void test_the_history_is_kept(void **state) {
  (void)state;
  terminal t;
  start(&t);
  expect(&t, "40 + 2\n", "\n42");
  leave(&t);
  start(&t);
  expect(&t, "\033[A\n", "\n42");
  leave(&t);
}

// Of an input of several lines all come back, also in a later session.
static void test_an_arrow_brings_all_lines_back(void **state) {
  (void)state;
  terminal t;
  start(&t);
  expect(&t, "for i in 0..2 {\n", "  ...> ");
  type(&t, "print(i + 7)\n");
  see(&t, "  ...> ");
  type(&t, "}\n");
  see(&t, "\n8");
  expect(&t, "\033[A\n", "\n8");
  leave(&t);
  start(&t);
  expect(&t, "\033[A\n", "\n8");
  leave(&t);
}

static void test_messages_are_cut_between_words(void **state) {
  (void)state;
  terminal t;
  start(&t);
  struct winsize size = {.ws_row = 24, .ws_col = 40};
  assert_int_equal(ioctl(t.keys, TIOCSWINSZ, &size), 0);
  expect(&t, "error(\"one two three four five six seven eight nine ten\")\n",
         "error: one two three\r\n  four five six seven eight nine ten\r\n");
  leave(&t);
}

int main(int argc, char **argv) {
  (void)argc;
  const char *slash = strrchr(argv[0], '/');
  int n = slash == NULL ? 1 : (int)(slash - argv[0]);
  snprintf(tally, sizeof tally, "%.*s/../../tally", n,
           slash == NULL ? "." : argv[0]);
  if (mkdtemp(folder) == NULL)
    return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tab_completes),
      cmocka_unit_test(test_lines_are_edited),
      cmocka_unit_test(test_ctrl_c_stops_what_runs),
      cmocka_unit_test(test_predicates_are_answered),
      cmocka_unit_test(test_the_history_is_kept),
      cmocka_unit_test(test_an_arrow_brings_all_lines_back),
      cmocka_unit_test(test_messages_are_cut_between_words),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  char history[64];
  snprintf(history, sizeof history, "%s/history", folder);
  unlink(history);
  rmdir(folder);
  return failed;
}
