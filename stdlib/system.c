// The small modules about the world outside: time, and the part of os that is
// about the process.
//
// Each function's row names the capability that it needs, which a host can
// withhold: without TALLY_MAY_CLOCK there is no time, without
// TALLY_MAY_ENVIRONMENT no environment. A host may also give a clock of its
// own, so that a run can be repeated exactly.

#include <stdlib.h>

#include "stdlib/families.h"
#include "vm/poll.h"

// --- time -------------------------------------------------------------------

// Reads a clock of the system.
static bool seconds(tl_vm *vm, const char *function, clockid_t clock,
                    tl_slot *out) {
  struct timespec t;
  if (clock_gettime(clock, &t) != 0)
    return tl_fail(vm, TALLY_ERR_IO, "%s: the system's clock cannot be read",
                   function);
  *out = tl_weak_float((double)t.tv_sec + 1e-9 * (double)t.tv_nsec);
  return true;
}

// The same by the host's clock, where it has given one: a host may want runs
// that repeat exactly.
static bool host_seconds(tl_vm *vm, const char *function, clockid_t clock,
                         tl_slot *out) {
  if (vm->options.clock == NULL)
    return seconds(vm, function, clock, out);
  *out = tl_weak_float(tl_clock_of(vm));
  return true;
}

// time.now().
static bool now(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return host_seconds(vm, "time.now", CLOCK_REALTIME, out);
}

// time.clock().
static bool monotonic(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return host_seconds(vm, "time.clock", CLOCK_MONOTONIC, out);
}

// time.cpu(): of the whole process, which no host's clock can replace.
static bool cpu(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return seconds(vm, "time.cpu", CLOCK_PROCESS_CPUTIME_ID, out);
}

// time.sleep(seconds): in pieces, so that an interrupt or the time limit ends
// it.
static bool sleep_seconds(tl_vm *vm, tl_slot *args, tl_slot *out) {
  double wanted = args[0].f;
  // NaN too.
  if (!(wanted >= 0))
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "time.sleep: seconds is %g, but must not be negative",
                   wanted);
  while (wanted > 0) {
    // Short enough that an interrupt seems immediate.
    double piece = wanted < 0.02 ? wanted : 0.02;
    struct timespec t = {0, (long)(piece * 1e9)};
    nanosleep(&t, NULL);
    wanted -= piece;
    tl_memory_rest(vm);
    if (!tl_poll(vm, 1 << 20))
      return false;
  }
  *out = tl_none();
  return true;
}

// Clocks are read anew at each call (TL_EFFECT), if the VM may (TL_CLOCK).
const tl_builtin tl_time_module[] = {
    /// Seconds since the beginning of 1970 (UTC) by the wall clock, a float64 scalar.
    /// A VM without the clock gives an io error.
    ///     time.now() > 0    # true
    {"now", "", now, TL_CLOCK | TL_EFFECT},
    /// Seconds on a clock that is never set, for differences: a float64 scalar.
    /// A VM without the clock gives an io error.
    ///     time.clock() <= time.clock()    # true
    {"clock", "", monotonic, TL_CLOCK | TL_EFFECT},
    /// Waits so many seconds, a number; an interrupt ends it. A negative number
    /// or NaN is a value error; a VM without the clock gives an io error.
    ///     time.sleep(0.001)    # none
    {"sleep", "seconds", sleep_seconds, TL_CLOCK | TL_EFFECT, .types = "f"},
    /// Seconds of the processors' time that the whole process has used: for
    /// differences that do not count what other programs do. A float64 scalar. A
    /// VM without the clock gives an io error.
    ///     time.cpu() <= time.cpu()    # true
    {"cpu", "", cpu, TL_CLOCK | TL_EFFECT},
    {.name = NULL},
};

// --- os ---------------------------------------------------------------------

// os.args: the host's list, or an empty one.
static bool arguments(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!tl_is_none(vm->args)) {
    *out = tl_retain(vm, vm->args);
    return true;
  }
  // The host gave no arguments.
  tl_list *list = tl_list_new(vm, 0);
  return tl_list_give(vm, list, list != NULL, out);
}

// os.getenv(name).
static bool environment(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const tl_string *name = args[0].string;
  size_t at;
  const char *value = getenv(name->text);
  *out = tl_none();
  if (!value)
    return true;
  // The environment has bytes, strings have text.
  if (!tl_utf8_check(value, strlen(value), &at))
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "os.getenv: %s is no UTF-8 text: "
                   "malformed at byte %zu",
                   name->text, at);
  return tl_string_give(tl_string_from(vm, value), out);
}

// os.exit(status). Nothing outside the VM ends, so no capability is asked for:
// the error passes every catch and reaches the host, which decides about the
// status.
static bool exit_script(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const int64_t status = args[0].i;
  if (status < 0 || status > 255)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "os.exit: status is %lld, but must be from 0 to 255",
                   (long long)status);
  tl_fail(vm, TALLY_ERR_EXIT, "the script ended itself with status %d",
          (int)status);
  vm->error.exit_status = (int)status;
  return false;
}

// os.args is a value: its row is called when the name is read.
const tl_builtin tl_os_module[] = {
    /// The script's arguments: a list of strings, empty at the prompt.
    ///     os.args
    {"args", NULL, arguments},
    /// A variable of the environment as a string; none if there is none.
    /// A VM without the environment gives an io error, a name that is no string
    /// a type error, a variable that is no UTF-8 a value error.
    ///     os.getenv("TALLY_IS_NOT_SET")    # none
    {"getenv", "name", environment, TL_ENVIRONMENT | TL_EFFECT, .types = "s"},
    /// Ends the script at once, from however deep: everything it has is freed,
    /// files it was writing are left as they were, no catch sees it, and the
    /// command exits with that status, from 0 (all is well) to 255. In a program
    /// that embeds Tally the program goes on: it gets TALLY_ERR_EXIT and the
    /// status. Another status is a value error, what is no integer a type error.
    ///     if len(os.args) > 9 { os.exit(2) }
    {"exit", "status = 0", exit_script, TL_EFFECT, .types = "i"},
    {.name = NULL},
};
