// Keys of a terminal: see keys.h. Bytes are read one by one, so that what is
// typed ahead of a script that reads stays for it.
//
//     byte            name
//     a               a
//     0xc3 0xa9       é
//     Ctrl-A          ^A
//     ESC             <escape>, where 50 ms pass without a byte
//     ESC b           alt b
//     ESC [ 1 ; 5 C   ESC [1;5C, which editing.tly has a name for
//
// What is typed while a script runs goes by the terminal's own ways, as no key
// is read then: Ctrl-C is a signal, Ctrl-S stops the output, and a Ctrl-D is
// read afterwards as a zero byte, which is no key of the editor's.

#include "repl/keys.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <termios.h>
#include <unistd.h>

// A lone Escape is one after which nothing came for so long.
// Programs send sequences at once, networks in parts: 50 ms are more than what
// lies between two bytes of a slow line, and less than a person notices.
enum { ESCAPE_MS = 50, ESCAPE = 27 };

// One terminal, one editor: what was there before keys were read. A handler
// can be given no other place.
static struct termios before;
static volatile sig_atomic_t was_signalled, was_continued;

// A window that was resized, or a command that goes on after a stop.
static void heed_signal(int number) {
  was_signalled = 1;
  if (number == SIGCONT)
    was_continued = 1;
}

static void give_back(int number);

// The signals that are taken while keys are read. SIGTERM and SIGHUP end the
// process where nobody takes them: the shell gets its terminal back first, with
// its echo.
static const struct {
  int number;
  void (*heed)(int number);
} taken[] = {
#ifdef SIGWINCH
    {SIGWINCH, heed_signal},
#endif
    {SIGCONT, heed_signal},
    {SIGTERM, give_back},
    {SIGHUP, give_back},
};
enum { TAKEN = sizeof taken / sizeof taken[0] };
static struct sigaction old[TAKEN];

// The signal comes again as it would have come without keys being read.
static void give_back(int number) {
  tcsetattr(STDIN_FILENO, TCSANOW, &before);
  for (int i = 0; i < TAKEN; i++)
    if (taken[i].number == number)
      sigaction(number, &old[i], NULL);
  raise(number);
}

// Signals end a wait only while keys are read.
// Without SA_RESTART, so that pselect and read come back. Those that were
// there before come back by tl_keys_end. What would end the process and is
// ignored, as by nohup, stays ignored.
static void take_signals(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < TAKEN; i++) {
    action.sa_handler = taken[i].heed;
    sigaction(taken[i].number, &action, &old[i]);
    if (taken[i].heed == give_back && old[i].sa_handler == SIG_IGN)
      sigaction(taken[i].number, &old[i], NULL);
  }
}

// Waits until output has left, and does so again where a signal interrupts the
// wait: else a resized window would leave the terminal without an echo.
static bool set_terminal(const struct termios *to) {
  int failed;
  do {
    failed = tcsetattr(STDIN_FILENO, TCSADRAIN, to);
  } while (failed != 0 && errno == EINTR);
  return failed == 0;
}

// Enter is sent as a carriage return and Ctrl-J as an end of line, so both can
// be distinguished; eighth bits stay, Ctrl-S is a key. Output is as before:
// "\r\n" is written by who wants it.
bool tl_keys_begin(void) {
  if (tcgetattr(STDIN_FILENO, &before) != 0)
    return false;
  struct termios raw = before;
  raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR | IXON | ISTRIP);
  raw.c_lflag &= ~(tcflag_t)(ECHO | ICANON | ISIG | IEXTEN);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  take_signals();
  return set_terminal(&raw);
}

// May be called again without a begin between, as after a stop.
void tl_keys_end(void) {
  set_terminal(&before);
  for (int i = 0; i < TAKEN; i++) sigaction(taken[i].number, &old[i], NULL);
}

bool tl_keys_were_stopped(void) {
  bool stopped = was_continued != 0;
  was_continued = 0;
  return stopped;
}

// A terminal that is gone counts as a key, <closed>.
bool tl_keys_pending(void) {
  struct pollfd input = {STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, 0) > 0;
}

// Waits for a byte without letting a signal slip in between the look at it and
// the wait. False: a signal came, or the time is over.
//
//     blocked:   was_signalled?  ─ no ─▶  pselect, which lets signals through
//                                         while it waits, and at no other time
//
// SIGINT is the session's, and has no flag here: one that comes before the
// block is seen with the next key. Less than 0 ms: it waits for as long as it
// takes.
static bool wait_for_byte(int milliseconds) {
  struct timespec limit = {0, milliseconds * 1000000L};
  sigset_t blocked, free_again;
  fd_set input;
  FD_ZERO(&input);
  FD_SET(STDIN_FILENO, &input);
  sigemptyset(&blocked);
#ifdef SIGWINCH
  sigaddset(&blocked, SIGWINCH);
#endif
  sigaddset(&blocked, SIGCONT);
  sigaddset(&blocked, SIGINT);
  sigprocmask(SIG_BLOCK, &blocked, &free_again);
  bool came = !was_signalled &&
              pselect(STDIN_FILENO + 1, &input, NULL, NULL,
                      milliseconds < 0 ? NULL : &limit, &free_again) > 0;
  sigprocmask(SIG_SETMASK, &free_again, NULL);
  return came;
}

// The next byte; -1: none within the time, or a signal, -2: no more will come.
// After a signal that was not yet reported each call gives -1 at once, also in
// the midst of a sequence, whose rest is then read as keys of its own.
static int next_byte(int milliseconds) {
  unsigned char byte;
  if (!wait_for_byte(milliseconds))
    return -1;
  ssize_t n = read(STDIN_FILENO, &byte, 1);
  return n == 1 ? byte : n < 0 && errno == EINTR ? -1 : -2;
}

// Makes the name of an ASCII character: itself, or as Ctrl with another one.
static void spell(char *to, const char *before, int byte) {
  bool is_control = byte < 32 || byte == 127;
  snprintf(to, TL_KEY_SIZE, "%s%s%c", before, is_control ? "^" : "",
           is_control ? byte ^ 64 : byte);
}

// Reads a sequence to its end, its first byte being there.
//
//     ESC [ or O   parameters 0x20 to 0x3f …   one byte of 0x40 to 0x7e ends it
//     ESC [ [ A    the Linux console's F1: a second [ does not
//
// ESC [ alone is Alt with a bracket. There is room for 14 bytes, so the loop
// ends whatever comes.
static void read_sequence(int first, char to[TL_KEY_SIZE]) {
  size_t n = 2;
  to[0] = ESCAPE;
  to[1] = (char)first;
  for (int byte; n < TL_KEY_SIZE - 1 && (byte = next_byte(ESCAPE_MS)) >= 0;) {
    to[n++] = (char)byte;
    if (byte >= 0x40 && byte <= 0x7e && !(n == 3 && byte == '['))
      break;
  }
  to[n] = 0;
  if (n == 2)
    spell(to, "alt ", first);
}

// The character that begins with this byte, as far as its bytes may be one's:
// of those that are no UTF-8 all the same, such as halves of surrogates, the
// VM makes no text. Controls of the terminal, 0x80 to 0x9f, are no key, nor is
// what a byte ends that does not belong to it.
//
//     first byte    0xc2 … 0xdf   0xe0 … 0xef   0xf0 … 0xf4
//     more          1             2             3
static void read_character(int first, char *to) {
  int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  if (first < 0xc2 || first > 0xf4)
    return;
  char bytes[TL_KEY_SIZE] = {(char)first};
  for (int i = 1, byte; i <= more; i++) {
    byte = next_byte(ESCAPE_MS);
    if (byte < 0x80 || byte > 0xbf || (first == 0xc2 && byte < 0xa0))
      return;
    bytes[i] = (char)byte;
  }
  strcpy(to, bytes);
}

// A signal is told once, however many came. Alt with a letter outside of ASCII
// is no key; two Escapes are one.
void tl_keys_next(char to[TL_KEY_SIZE]) {
  int byte = next_byte(-1);
  to[0] = 0;
  if (byte == -1) {
    was_signalled = 0;
    strcpy(to, "<signal>");
  } else if (byte == -2) {
    strcpy(to, "<closed>");
  } else if (byte >= 0x80) {
    read_character(byte, to);
  } else if (byte != ESCAPE) {
    spell(to, "", byte);
  } else {
    byte = next_byte(ESCAPE_MS);
    if (byte < 0 || byte == ESCAPE)
      strcpy(to, "<escape>");
    else if (byte == '[' || byte == 'O')
      read_sequence(byte, to);
    else if (byte < 0x80)
      spell(to, "alt ", byte);
  }
}
