// A host for the tests of tally.h: it counts the blocks that a VM holds, makes
// the n-th allocation fail, and keeps what scripts print. Each test runs again
// with each of its allocations refused: see refused.h.
#ifndef TALLY_TESTS_HOST_H
#define TALLY_TESTS_HOST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tally.h"
#include "tests/unit/refused.h"

typedef struct host {
  tally_vm *vm;
  size_t blocks, nbytes;  // that the VM holds
  uint64_t requests;      // allocations asked for so far
  uint64_t fail_at;       // the request that is refused; 0: none
  bool fail_from;         // and all behind it
  bool refused;
  bool deaf;              // write refuses
  uint64_t polls;         // how often the VM asked host_clock
  uint64_t interrupt_at;  // the poll that interrupts; 0: none
  char output[4096];      // NUL-terminated
  size_t length;
} host;

static inline void *host_resize(void *context, void *block, size_t old_size,
                                size_t new_size) {
  host *h = context;
  if (new_size == 0) {
    if (block != NULL)
      h->blocks--;
    h->nbytes -= old_size;
    free(block);
    return NULL;
  }
  if (new_size > old_size) {
    h->requests++;
    if (h->fail_at != 0 && (h->requests == h->fail_at ||
                            (h->fail_from && h->requests > h->fail_at))) {
      h->refused = true;
      return NULL;
    }
  }
  void *moved = realloc(block, new_size);
  if (moved == NULL)
    return NULL;
  if (block == NULL)
    h->blocks++;
  h->nbytes += new_size - old_size;
  return moved;
}

// A block for the VM, as its load hook gives one.
static inline void *host_block(host *h, size_t nbytes) {
  void *block = (refused.on ? refused_own : host_resize)(h, NULL, 0, nbytes);
  refused.caught = refused.caught || block == NULL;  // a load hook only says no
  return block;
}

static inline int host_write(void *context, const char *text, size_t nbytes) {
  host *h = context;
  if (h->deaf)
    return 1;
  size_t room = sizeof h->output - 1 - h->length;
  if (nbytes > room)
    nbytes = room;
  memcpy(h->output + h->length, text, nbytes);
  h->length += nbytes;
  h->output[h->length] = 0;
  return 0;
}

// Options of its VMs say: .clock = host_clock, .time_limit = HOST_LONG. Each
// poll is a millisecond.
#define HOST_LONG 1e9
static inline double host_clock(void *context) {
  host *h = context;
  if (++h->polls == h->interrupt_at)
    tally_interrupt(h->vm);
  return 1e-3 * (double)h->polls;
}

static inline tally_options host_options(host *h) {
  tally_options options = tally_default_options();
  options.resize = host_resize;
  options.write = host_write;
  options.context = h;
  options.threads = 1;
  return options;
}

// Opens a VM with these options, changed as the test needs.
static inline void host_open(host *h, const tally_options *options) {
  assert_int_equal(tally_open(options, &h->vm), TALLY_OK);
  assert_non_null(h->vm);
}

// Closes it: nothing was forgotten, and nothing leaks.
static inline void host_close(host *h) {
  assert_int_equal(tally_close(h->vm), 0);
  assert_int_equal(h->blocks, 0);
  assert_int_equal(h->nbytes, 0);
}

static inline int host_set_up(void **state) {
  host *h = calloc(1, sizeof *h);
  if (h == NULL)
    return 1;
  tally_options options = host_options(h);
  *state = h;
  return tally_open(&options, &h->vm) != TALLY_OK;
}

static inline int host_tear_down(void **state) {
  host *h = *state;
  size_t held = tally_close(h->vm);
  bool clean = held == 0 && h->blocks == 0 && h->nbytes == 0;
  free(h);
  return !clean;
}

#define HOST_TEST(name)                                               \
  cmocka_unit_test_setup_teardown(name, host_set_up, host_tear_down), \
      REFUSED_TEST(name, host_set_up, host_tear_down)

// --- Short ways -------------------------------------------------------------

static inline void run_ok(host *h, const char *source) {
  if (tally_eval(h->vm, source, NULL) != TALLY_OK) {
    fail_msg("%s\n%s", source, tally_error(h->vm)->report);
  }
}

static inline tally_value eval(host *h, const char *source) {
  tally_value out = {0, 0};
  if (tally_eval(h->vm, source, &out) != TALLY_OK) {
    fail_msg("%s\n%s", source, tally_error(h->vm)->report);
  }
  return out;
}

// The value of [source] as print shows it is [expected].
static inline void check_value(host *h, const char *source,
                               const char *expected) {
  tally_value value = eval(h, source), shown;
  const char *text;
  assert_int_equal(tally_format(h->vm, value, &shown), TALLY_OK);
  assert_int_equal(tally_to_string(h->vm, shown, &text, NULL), TALLY_OK);
  assert_string_equal(text, expected);
  tally_release(h->vm, shown);
  tally_release(h->vm, value);
}

static inline void check_error(host *h, tally_status status,
                               tally_status expected, const char *part,
                               const char *file, int line) {
  refused_int_equal((uintmax_t)status, (uintmax_t)expected, file, line);
  const tally_error_info *info = tally_error(h->vm);
  refused_int_equal((uintmax_t)info->status, (uintmax_t)expected, file, line);
  if (part[0] != 0 && strstr(info->message, part) == NULL)
    refused_fail(file, line, "no \"%s\" in: %s", part, info->message);
}

// [call] gave this status, and the error says so and has [part] in it.
#define CHECK_ERROR(h, call, expected_status, part) \
  check_error(h, call, expected_status, part, __FILE__, __LINE__)

#endif
