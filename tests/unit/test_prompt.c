// The prompt on a terminal, as a person has it: keys are typed when the screen
// shows that the command waits for them.

#ifdef __linux__
#define _GNU_SOURCE  // prlimit
#endif
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
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/terminal.h"

enum { PATIENCE_MS = 120000 };

static char tally[1024], folder[] = "/tmp/tally-prompt-XXXXXX";
static terminal screen;

// The prompt in a terminal of its own; [variable] is set for it, as NAME=VALUE.
static void run_child(const char *name, char *variable, char **arguments) {
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
  unsetenv("NO_COLOR");
  unsetenv("TALLY_KEYS");
  setenv("TALLY_HISTORY", history, 1);
  setenv("HOME", folder, 1);
  if (variable != NULL)
    putenv(variable);
  execv(tally, arguments);
  _exit(3);
}

static void resize(terminal *t, int rows, int columns) {
  struct winsize size = {.ws_row = (unsigned short)rows,
                         .ws_col = (unsigned short)columns};
  t->rows = rows;
  t->columns = columns;
  assert_int_equal(ioctl(t->keys, TIOCSWINSZ, &size), 0);
}

static terminal *start_command(char *variable, char **arguments) {
  terminal *t = &screen;
  terminal_open(t);
  t->keys = posix_openpt(O_RDWR | O_NOCTTY);
  if (t->keys < 0) {  // such as in a chroot without /dev/pts
    print_message("no pseudo-terminal to be had: %s\n", strerror(errno));
    skip();
  }
  assert_int_equal(grantpt(t->keys), 0);
  assert_int_equal(unlockpt(t->keys), 0);
  resize(t, 24, 80);
  const char *name = ptsname(t->keys);
  assert_non_null(name);
  t->child = fork();
  assert_true(t->child >= 0);
  if (t->child == 0)
    run_child(name, variable, arguments);
  return t;
}

static terminal *start_with(char *variable) {
  char *arguments[] = {tally, NULL};
  return start_command(variable, arguments);
}

static terminal *start(void) {
  return start_with(NULL);
}

// Takes what the command writes next; fails where nothing comes any more.
static void take_more(terminal *t, const char *awaited) {
  char bytes[4096];
  struct pollfd fd = {t->keys, POLLIN, 0};
  ssize_t n = -1;
  if (poll(&fd, 1, PATIENCE_MS) > 0)
    n = read(t->keys, bytes, sizeof bytes);
  if (n <= 0) {
    kill(t->child, SIGKILL);
    fail_msg("no \"%s\" on the screen:%s", awaited,
             terminal_text(t, t->since, false));
  }
  for (ssize_t i = 0; i < n; i++) terminal_take_byte(t, bytes[i]);
}

// Waits until the screen shows the text behind the last prompt. Each row begins
// with an end of line.
static void see(terminal *t, const char *text) {
  while (strstr(terminal_text(t, t->since, false), text) == NULL)
    take_more(t, text);
}

// The same for what cells look like.
static void see_styles(terminal *t, const char *styles) {
  while (strstr(terminal_text(t, t->since, true), styles) == NULL)
    take_more(t, styles);
}

static void type(terminal *t, const char *keys) {
  size_t length = strlen(keys);
  assert_int_equal(write(t->keys, keys, length), length);
}

// Waits for the next prompt, with nothing behind it and the cursor there.
static void see_prompt(terminal *t) {
  while (t->row <= t->since || t->column != 7 ||
         strncmp(terminal_text(t, t->row, false), "\ntally>", 7) != 0 ||
         (t->text[7] != 0 && t->text[7] != '\n'))
    take_more(t, "tally> ");
  t->since = t->row;
}

// Types at the next prompt and waits for what it leads to.
static void expect(terminal *t, const char *keys, const char *shown) {
  see_prompt(t);
  type(t, keys);
  see(t, shown);
}

static void leave(terminal *t) {
  int status;
  see_prompt(t);
  type(t, "\004");
  assert_int_equal(waitpid(t->child, &status, 0), t->child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  close(t->keys);
}

static void write_file(const char *name, const char *text) {
  FILE *to = fopen(name, "w");
  assert_non_null(to);
  fputs(text, to);
  fclose(to);
}

static void test_tab_completes(void **state) {
  (void)state;
  terminal *t = start();
  expect(t, "mean_of = 41\n", "\n");
  expect(t, "mean_o\t + 1\n", "\n42");
  expect(t, "\\alph\t = 6\n", "\n");
  expect(t, "\\alpha\t \\times\t 7\n", "\n42");
  expect(t, "\"\\:rock\t\"\n", "\n\"\U0001f680\"");
  expect(t, "mea\t\t", "mean_of");  // both, listed, and the line again
  type(t, "\003");
  expect(t, "r = (north: 42)\n", "\n");
  expect(t, "r.no\t\n", "\n42");
  // A name that is no UTF-8 does not hide the others.
  char path[64];
  snprintf(path, sizeof path, "%s/whole.txt", folder);
  write_file(path, "");
  snprintf(path, sizeof path, "%s/w\xff", folder);
  int malformed = creat(path, 0600);  // not every system allows it
  close(malformed);
  snprintf(path, sizeof path, "len(\"%s/w\t\") * 0 + 42\n", folder);
  expect(t, path, "\n42");
  snprintf(path, sizeof path, "%s/w\xff", folder);
  unlink(path);
  snprintf(path, sizeof path, "%s/whole.txt", folder);
  unlink(path);
  // Two letters that have only their first byte in common.
  expect(t, "zz\u03b2 = 35; zz\u03b3 = 7\n", "\n");
  expect(t, "zz\t\u03b2 + zz\u03b3\n", "\n42");
  leave(t);
}

static void test_lines_are_edited(void **state) {
  (void)state;
  terminal *t = start();
  expect(t, "20 + 1\n", "\n21");
  expect(t, "\033[A + 21\n", "\n42");
  expect(t, "1 + \003", "");
  expect(t, "print(\"unended\", end: \"\")\n", "\nunended\ntally>");
  expect(t, "6 * 7\n", "\n42");
  expect(t, "fn f(x) {\n", "\n  ...>");
  type(t, "x + 1\n}\n");
  expect(t, "f(41)\n", "\n42");
  leave(t);
}

static void test_ctrl_c_stops_what_runs(void **state) {
  (void)state;
  terminal *t = start();
  expect(t, "for i in 0..2 { print(i) }; while true { }\n", "\n1");
  see(t, " s  for i in 0..2");  // what runs long says what it is at
  type(t, "\003");
  see(t, "interrupted");
  assert_null(strstr(terminal_text(t, t->since, false), " s  for i in 0..2"));
  expect(t, "6 * 7\n", "\n42");
  leave(t);
}

static void test_predicates_are_answered(void **state) {
  (void)state;
  terminal *t = start();
  expect(t, "?rot90\n", "rot90(x");
  expect(t, "? cumulative_sum()\n", "cumulative_sum(x");
  expect(t, "?\n", "?NAME shows");
  expect(t, "?no_such\n", "no documentation of no_such");
  expect(t, "?srot\n", "no documentation of srot; did you mean sort?");
  expect(t, "help(rot90)\n", "rot90(x");
  expect(t, "apropos(\"sort\")\n", "\nargsort");
  // A script's own function of that name is called.
  expect(t, "fn help(x) = x * 21\n", "tally> ");
  expect(t, "help(2)\n", "42");
  leave(t);
}

static void test_the_history_is_kept(void **state) {
  (void)state;
  terminal *t = start();
  expect(t, "40 + 2\n", "\n42");
  leave(t);
  t = start();
  expect(t, "\033[A\n", "\n42");
  leave(t);
}

// Of an input of several lines all come back, also in a later session.
static void test_an_arrow_brings_all_lines_back(void **state) {
  (void)state;
  terminal *t = start();
  expect(t, "for i in 0..2 {\n", "  ...>");
  type(t, "print(i + 7)\n");
  see(t, "7)\n  ...>");
  type(t, "}\n");
  see(t, "\n8");
  expect(t, "\033[A\n", "\n8");
  leave(t);
  t = start();
  expect(t, "\033[A\n", "\n8");
  leave(t);
}

static void test_messages_are_cut_between_words(void **state) {
  (void)state;
  terminal *t = start();
  resize(t, 24, 40);
  expect(t, "error(\"one two three four five six seven eight nine ten\")\n",
         "error: one two three\n  four five six seven eight nine ten\n");
  expect(t, ":help\n",
         "\n:time    CODE  how long it takes, and\n  what it allocates\n");
  expect(t, "help(clip)\n",
         "\nx with items below min set to min and\n  items above max set to");
  leave(t);
}

// Where a line of a prompt is empty, an arrow shows the newest; else the newest
// that begins as what stands before the cursor.
static void test_up_searches_by_prefix(void **state) {
  (void)state;
  terminal *t = start();
  expect(t, "aa = 1\n", "");
  expect(t, "bb = 2\n", "");
  expect(t, "ab = 3\n", "");
  expect(t, "a\033[A\033[A", "\ntally> aa = 1");
  type(t, "\033[B");
  see(t, "\ntally> ab = 3");
  type(t, "\033[B\003");
  see(t, "\ntally> a\n");
  expect(t, "\022b =\022", "\ntally> bb = 2\nsearch: b =");
  type(t, "\007x\003");
  see(t, "\ntally> x\n");
  leave(t);
}

static void test_changes_are_undone(void **state) {
  (void)state;
  terminal *t = start();
  expect(t, "one two\027", "\ntally> one");
  type(t, "three");
  see(t, "\ntally> one three");
  type(t, "\037");
  see(t, "\ntally> one");
  type(t, "\037");
  see(t, "\ntally> one two");
  type(t, "\033_");
  see(t, "\ntally> one");
  type(t, "\001\013\031\031");
  see(t, "\ntally> one one");
  type(t, "\003");
  leave(t);
}

// Within brackets a line goes on with blanks, and a closing one goes back.
static void test_lines_are_indented(void **state) {
  (void)state;
  terminal *t = start();
  expect(t, "fn f(x) {\n", "\ntally> fn f(x) {\n  ...>");
  type(t, "if x > 0 {");
  see(t, "\n  ...>   if x > 0 {");
  type(t, "\n");
  see(t, "x > 0 {\n  ...>");
  type(t, "return 42");
  see(t, "\n  ...>     return 42");
  type(t, "\n");
  see(t, "42\n  ...>");
  type(t, "}");
  see(t, "\n  ...>   }");
  // The arrows move between lines, and all of them can be changed.
  type(t, "\033[A\033[A\033[Hx = 41; ");
  see(t, "\n  ...> x = 41;   if x > 0 {");
  type(t, "\037\033[B\033[B\033[F");
  type(t, "\033\r}\n");
  expect(t, "f(1)\n", "\n42");
  leave(t);
}

static void test_tokens_have_colours(void **state) {
  (void)state;
  terminal *t = start();
  expect(t, "if f(\"a\") { 12 } # b", "12 } # b");
  see_styles(t, "\npppppppmmpbpgggppppccpppddd");
  type(t, "\003");
  see_prompt(t);
  type(t, "g([1])");  // the parentheses match each other
  see_styles(t, "\npppppppbRpcpR");
  type(t, "\033[D");  // and here the brackets
  see_styles(t, "\npppppppbpRcRp");
  type(t, "\003");
  expect(t, "1 ) 2\n", "syntax error");
  see_styles(t, "\npppppppcpupc\n");
  see_styles(t, "EEEEEEEEEEEEE");  // the kind in the report
  expect(t, "x = 5 5\n", "syntax error");
  see_styles(t, "\npppppppppppcpu\n");
  leave(t);
}

static void test_hints_are_shown(void **state) {
  (void)state;
  terminal *t = start();
  expect(t, "hinted = 41 + 1\n", "");
  expect(t, "hin", "\ntally> hinted = 41 + 1");
  see_styles(t, "\nppppppppppdddddddddddd");
  type(t, "\005; hinted\n");
  see(t, "\n42");
  expect(t, "linsp", "\ntally> linspace");  // the only name there is
  see_styles(t, "\nppppppppppppddd");
  type(t, "\003");
  expect(t, "linspace(1, ", "\nlinspace(start, stop");
  type(t, "\003");
  see(t, "\ntally> linspace(1,\n");
  expect(t, "fn twice(x, by: 2) { x * by }\n", "");
  expect(t, "twice(", "\ntwice(x, by: 2)");
  type(t, "4)\n");
  see(t, "\n8");
  leave(t);
}

// Of a text that is higher than the screen the rows around the cursor are
// shown, with their colours.
static void test_a_text_higher_than_the_screen(void **state) {
  (void)state;
  terminal *t = start();
  char text[1024] = "\033[200~x = (\r", line[16];
  for (int i = 1; i <= 60; i++) {
    snprintf(line, sizeof line, "%d,\r", i);
    strcat(text, line);
  }
  expect(t, strcat(text, "\"\xce\xb2\"\033[201~"), "");
  int bottom = t->since + 23;
  while (strstr(terminal_text(t, bottom, false), "...> \"\xce\xb2\"") == NULL)
    take_more(t, "the last line");
  type(t, "\033<");  // to the begin, and back
  see(t, "\ntally> x = (\n  ...> 1,");
  type(t, "\033>)");
  while (strstr(terminal_text(t, bottom, false), "...> \"\xce\xb2\")") == NULL)
    take_more(t, "the last line");
  assert_non_null(
      strstr(terminal_text(t, bottom - 22, true), "\npppppppccp\n"));
  type(t, "; len(x)\n");
  see(t, "\n61");
  leave(t);
}

// Text from the clipboard is not indented once more, and runs when Enter says
// so.
static void test_a_paste_is_text(void **state) {
  (void)state;
  terminal *t = start();
  expect(t, "\033[200~fn f(x) {\r  x + 1\r}\r\nf(41)\033[201~",
         "\ntally> fn f(x) {\n  ...>   x + 1\n  ...> }\n  ...> f(41)");
  type(t, "\n");
  see(t, "\n42");
  // The end of a paste may get lost; Ctrl-C ends it, too.
  expect(t, "\033[200~12 + ", "");
  type(t, "3");
  type(t, "\003");
  see(t, "\ntally> 12 + 3");
  type(t, "0\n");
  see(t, "\n42");
  leave(t);
}

// Keys go by what is seen as one sign, whatever it is made of.
static void test_signs_are_graphemes(void **state) {
  (void)state;
  terminal *t = start();
  expect(
      t, "\"e\u0301\u6f22\U0001f1e9\U0001f1ea\U0001f469\u200d\U0001f467z\"",
      "\ntally> \"e\u0301\u6f22\U0001f1e9\U0001f1ea\U0001f469\u200d\U0001f467z\"");
  assert_int_equal(t->column, 7 + 1 + 1 + 2 + 2 + 2 + 1 + 1);
  type(t, "\033[D\033[D\177\177");
  see(t, "\ntally> \"e\u0301\u6f22z\"");
  type(t, "\033[D\177");
  see(t, "\ntally> \"\u6f22z\"");
  type(t, "\003");
  leave(t);
}

static void test_a_window_is_resized(void **state) {
  (void)state;
  terminal *t = start();
  expect(t, "\"0123456789012345678901234567890123456789\"", "789\"");
  resize(t, 24, 120);
  type(t, "  ");
  see(t, "\ntally> \"0123456789012345678901234567890123456789\"");
  type(t, "\003");
  see_prompt(t);
  resize(t, 24, 10);
  type(t, "123456789012 + 1");
  see(t, "\n> 1234567\n89012 + 1");
  type(t, "\n");
  see(t, "\n1234567890\n13");
  // What is higher than the terminal is seen around the cursor.
  resize(t, 4, 40);
  while (strncmp(terminal_text(t, t->row, false), "\ntally>", 7) != 0)
    take_more(t, "tally>");
  type(t, "\033[200~[1,\r2,\r3,\r4,\r5,\r6]\033[201~");
  see(t, "\n  ...> 3,\n  ...> 4,\n  ...> 5,\n  ...> 6]");
  type(t, "\003");
  leave(t);
}

// After a stop the terminal shows what somebody else has written.
static void test_a_stop_draws_again(void **state) {
  (void)state;
  terminal *t = start();
  int status;
  expect(t, "1 + 4", "\ntally> 1 + 4");
  kill(t->child, SIGSTOP);
  assert_int_equal(waitpid(t->child, &status, WUNTRACED), t->child);
  terminal_line_feed(t);
  t->column = 0;
  t->since = t->row;
  kill(t->child, SIGCONT);
  see(t, "\ntally> 1 + 4");
  type(t, "1\n");
  see(t, "\n42");
  leave(t);
}

// Who ends the command gets the terminal as it was, with its echo.
static void test_an_end_gives_the_terminal_back(void **state) {
  (void)state;
  terminal *t = start();
  struct termios seen;
  int status;
  expect(t, "1 + 4", "\ntally> 1 + 4");
  assert_int_equal(tcgetattr(t->keys, &seen), 0);
  assert_int_equal(seen.c_lflag & ECHO, 0);
  kill(t->child, SIGTERM);
  assert_int_equal(waitpid(t->child, &status, 0), t->child);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
  assert_int_equal(tcgetattr(t->keys, &seen), 0);
  assert_int_not_equal(seen.c_lflag & ECHO, 0);
  close(t->keys);
}

// Escape alone is told from a sequence by the time after it, so the cursor is
// waited for, which goes to that column.
static void press_escape(terminal *t, int column) {
  type(t, "\033");
  while (t->column != column) take_more(t, "the cursor further left");
}

static void test_keys_of_vi(void **state) {
  (void)state;
  terminal *t = start_with("TALLY_KEYS=vi");
  expect(t, "one two three", "three");
  press_escape(t, 7 + 12);
  type(t, "bcwtwo");
  see(t, "\ntally> one two two");
  press_escape(t, 7 + 10);
  type(t, "0dw$xrkrr");
  see(t, "\ntally> two tr");
  type(t, "uuuu");
  see(t, "\ntally> one two two");
  type(t, "ddi1 + 4");
  see(t, "\ntally> 1 + 4");
  press_escape(t, 7 + 4);
  type(t, "a1");
  see(t, "\ntally> 1 + 41");
  press_escape(t, 7 + 5);
  // A paste leaves the mode as it was.
  type(t, "\033[200~2\033[201~x");
  see(t, "\ntally> 1 + 42");
  type(t, "uu");
  see(t, "\ntally> 1 + 41");
  type(t, "kj\n");
  see(t, "\n42");
  leave(t);
}

// Without colours there are no hints, as nothing would tell them from the text.
static void test_no_colours(void **state) {
  (void)state;
  terminal *t = start_with("NO_COLOR=1");
  expect(t, "hinted = 42\n", "");
  expect(t, "hin", "\ntally> hin");
  type(t, "ted; 2 )\n");
  see(t, "syntax error");
  for (int row = 0; row < t->used; row++)
    for (int i = 0; i < t->columns; i++)
      assert_int_equal(t->cells[row][i].style, 'p');
  leave(t);
}

// The terminal edits the line then, and nothing but text is written.
static void test_a_dumb_terminal(void **state) {
  (void)state;
  terminal *t = start_with("TERM=dumb");
  expect(t, "fn f(x) {\n", "\n  ...>");
  type(t, "x\n}\nf(42)\n");
  see(t, "42\ntally>");
  leave(t);
}

// A history that cannot be written is kept for the session alone.
static void test_a_history_that_is_none(void **state) {
  (void)state;
  terminal *t = start_with("TALLY_HISTORY=/");
  expect(t, "40 + 2\n", "\n42");
  expect(t, "\033[A + 1\n", "\n43");
  leave(t);
}

// What an answer and its expectation have not in common has a colour.
static void test_a_difference_has_colours(void **state) {
  (void)state;
  char name[64];
  snprintf(name, sizeof name, "%s/g.tly", folder);
  write_file(name, "print([1, 22, 3])  # expect: [1, 20, 3]\n");
  char *arguments[] = {tally, "test", name, NULL};
  terminal *t = start_command(NULL, arguments);
  see(t, ":1: expected [1, 20, 3], got [1, 22, 3]\n0 passed, 1 failed");
  see_styles(t, "gppppppppppppppprpppp\n");
  waitpid(t->child, NULL, 0);
  close(t->keys);
  write_file(name, "x=1\n");
  char *format[] = {tally, "fmt", "--diff", name, NULL};
  t = start_command(NULL, format);
  see(t, "\n@@ -1,1 +1,1 @@\n-x=1\n+x = 1");
  see_styles(t, "\nccccccccccccccc\nrrrr\ngggggg");
  waitpid(t->child, NULL, 0);
  close(t->keys);
  unlink(name);
}

// What a run is at stands in a line that goes where the run waits.
static void test_a_wait_shows_no_progress(void **state) {
  (void)state;
  char flag[64], code[256];
  snprintf(flag, sizeof flag, "%s/flag", folder);
  snprintf(code, sizeof code,
           "import os\nimport time\n"
           "while not (\"flag\" in os.list(\"%s\")) { time.sleep(0.01) }\n"
           "print(\"got\", input())",
           folder);
  char *arguments[] = {tally, "-e", code, NULL};
  terminal *t = start_command(NULL, arguments);
  see(t, " s  while not");
  write_file(flag, "");
  while (strstr(terminal_text(t, 0, false), "while not") != NULL)
    take_more(t, "an empty line");
  type(t, "abc\n");
  see(t, "got abc");
  unlink(flag);
  waitpid(t->child, NULL, 0);
  close(t->keys);
}

// The debugger completes its commands and the variables of the call, and has a
// history of its own.
static void test_a_debugger_is_edited(void **state) {
  (void)state;
  char name[64];
  snprintf(name, sizeof name, "%s/debugged.tly", folder);
  write_file(name, "fn f(of_call) {\n  of_call + 1\n}\nx = f(41)\n");
  char *arguments[] = {tally, "debug", name, NULL};
  for (int i = 0; i < 2; i++) {
    terminal *t = start_command(NULL, arguments);
    see(t, "debug>");
    type(t, i == 0 ? "brea\t f\n" : "\033[A\033[A\033[A\033[A\n");
    see(t, "\n1: f");
    type(t, "c\n");
    see(t, "in f");
    type(t, "print of_c\t + 1\n");
    see(t, "\n42");
    type(t, "q\n");
    waitpid(t->child, NULL, 0);
    close(t->keys);
  }
  unlink(name);
}

// Without memory for the editor plain lines serve, and the first of them begins
// with the key that was to open it; of a key that types nothing there is none.
static void test_no_memory_for_the_editor(void **state) {
  (void)state;
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
  for (int i = 0; i < 2; i++) {
    struct rlimit none, usual;
    terminal *t = start();
    see_prompt(t);
    assert_int_equal(prlimit(t->child, RLIMIT_AS, NULL, &usual), 0);
    none = (struct rlimit){1, usual.rlim_max};
    assert_int_equal(prlimit(t->child, RLIMIT_AS, &none, NULL), 0);
    type(t, i == 0 ? "4" : "\033[A");
    see(t, i == 0 ? "\ntally> 4" : "memory\ntally>");
    assert_int_equal(prlimit(t->child, RLIMIT_AS, &usual, NULL), 0);
    type(t, i == 0 ? "0 + 2\n" : "40 + 2\n");
    see(t, "\n42");
    leave(t);
  }
#else
  skip();
#endif
}

// What an editor leaves is typed at the next prompt.
static void test_an_input_in_an_editor(void **state) {
  (void)state;
  terminal *t = start_with("EDITOR=sed -i -e s/1/41/");
  expect(t, "fn f(x) {\n", "\n  ...>");
  type(t, "x + 1\n}\n");
  expect(t, ":edit\n", "\ntally> fn f(x) {\n  ...>   x + 41\n  ...> }");
  type(t, "\n");
  t->since++;
  expect(t, "f(1)\n", "\n42");
  leave(t);
  t = start_with("EDITOR=false");
  expect(t, ":edit\n", "the editor has failed");
  leave(t);
}

// The session that README.md shows is what a terminal shows.
static void test_the_session_of_the_readme(void **state) {
  (void)state;
  static char readme[1 << 16];
  FILE *from = fopen("README.md", "r");
  if (from == NULL)
    skip();  // the tests are run elsewhere
  readme[fread(readme, 1, sizeof readme - 1, from)] = 0;
  fclose(from);
  char *session = strstr(readme, "\ntally> ");
  assert_non_null(session);
  *strstr(session, "\n```") = 0;
  char *copy = strdup(session);
  terminal *t = start();
  int first = -1, last = -1;
  // What is typed has no blanks before it; they come by themselves.
  for (char *line = strtok(copy, "\n"); line != NULL;
       line = strtok(NULL, "\n")) {
    bool begins = strncmp(line, "tally> ", 7) == 0;
    if (!begins && strncmp(line, "  ...> ", 7) != 0)
      continue;
    if (begins)
      see_prompt(t);
    while (t->row == last || t->column < 7) take_more(t, line);
    last = t->row;
    first = first < 0 ? t->row : first;
    type(t, line + 7 + strspn(line + 7, " "));
    type(t, "\n");
  }
  free(copy);
  see_prompt(t);
  t->since = first;
  see(t, session);
  t->since = t->row - 1;
  leave(t);
}

// One of libedit's, which the command had before.
static void test_an_old_history(void **state) {
  (void)state;
  char name[64], variable[96];
  snprintf(name, sizeof name, "%s/old", folder);
  snprintf(variable, sizeof variable, "TALLY_HISTORY=%s", name);
  write_file(
      name,
      "_HiStOrY_V2_\n1\\040+\\0401\\012\nfn\\040f(x)\\040{\\012\\040x\\012}"
      "\\012\n");
  terminal *t = start_with(variable);
  expect(t, "\033[A", "\ntally> fn f(x) {\n  ...>  x\n  ...> }");
  type(t, "\020");
  see(t, "\ntally> 1 + 1");
  type(t, "\n");
  see(t, "\n2");
  leave(t);
  unlink(name);
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
      cmocka_unit_test(test_a_wait_shows_no_progress),
      cmocka_unit_test(test_up_searches_by_prefix),
      cmocka_unit_test(test_changes_are_undone),
      cmocka_unit_test(test_lines_are_indented),
      cmocka_unit_test(test_tokens_have_colours),
      cmocka_unit_test(test_hints_are_shown),
      cmocka_unit_test(test_a_text_higher_than_the_screen),
      cmocka_unit_test(test_a_paste_is_text),
      cmocka_unit_test(test_signs_are_graphemes),
      cmocka_unit_test(test_a_window_is_resized),
      cmocka_unit_test(test_a_stop_draws_again),
      cmocka_unit_test(test_an_end_gives_the_terminal_back),
      cmocka_unit_test(test_keys_of_vi),
      cmocka_unit_test(test_no_colours),
      cmocka_unit_test(test_a_dumb_terminal),
      cmocka_unit_test(test_a_history_that_is_none),
      cmocka_unit_test(test_a_difference_has_colours),
      cmocka_unit_test(test_a_debugger_is_edited),
      cmocka_unit_test(test_no_memory_for_the_editor),
      cmocka_unit_test(test_an_input_in_an_editor),
      cmocka_unit_test(test_the_session_of_the_readme),
      cmocka_unit_test(test_an_old_history),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  char history[64];
  snprintf(history, sizeof history, "%s/history", folder);
  unlink(history);
  rmdir(folder);
  return failed;
}
