// What a script without capabilities can reach: each documented function is
// called in a dozen ways in a VM that has none, and no call of the system's for
// files is made; those of the table are refused by name.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tally.h"
#include "vm/io.h"

// Functions that need a capability, with arguments that would do, and what the
// refusal names.
static const struct {
  const char *name, *arguments, *thing;
} doors[] = {
    {"io.open", "\"f\"", "files"},
    {"io.lines", "\"f\"", "files"},
    {"io.read_text", "\"f\"", "files"},
    {"io.write_text", "\"f\", \"t\"", "files"},
    {"io.append_text", "\"f\", \"t\"", "files"},
    {"io.read_npy", "\"f\"", "files"},
    {"io.write_npy", "\"f\", [1.0]", "files"},
    {"io.map_npy", "\"f\"", "files"},
    {"io.read_npz", "\"f\"", "files"},
    {"io.write_npz", "\"f\", (a: [1.0])", "files"},
    {"io.read_csv", "\"f\"", "files"},
    {"io.write_csv", "\"f\", (a: [1.0])", "files"},
    {"io.read_image", "\"f\"", "files"},
    {"io.write_image", "\"f\", zeros((2, 2), dtype: uint8)", "files"},
    {"os.list", "\".\"", "files"},
    {"os.status", "\"f\"", "files"},
    {"os.make_folder", "\"f\"", "files"},
    {"os.remove", "\"f\"", "files"},
    {"os.rename", "\"f\", \"g\"", "files"},
    {"os.temporary_folder", "", "files"},
    {"os.working_folder", "", ""},
    {"os.script_folder", "", ""},
    {"os.getenv", "\"HOME\"", "the environment"},
    {"time.now", "", "the clock"},
    {"time.clock", "", "the clock"},
    {"time.cpu", "", "the clock"},
    {"time.sleep", "0.001", "the clock"},
    {"memory.timeline", "() => 1", "the clock"},
    {"memory.rss", "", "the environment"},
    {"fft.use", "\"fftw\"", "files"},
};

static const char *const ways[] = {
    "",
    "\"f\"",
    "\"f\", \"g\"",
    "\"f\", [1.0, 2.0]",
    "[1.0, 2.0]",
    "[[1.0, 2.0]]",
    "[1.0, 2.0], \"f\"",
    "(a: [1, 2])",
    "\"f\", (a: [1, 2])",
    "() => 1",
    "3",
    "\"f\", \"g\", true",
};

static char called[64];  // the last call of the system's, or ""

static int note(void *context, const char *call) {
  (void)context;
  snprintf(called, sizeof called, "%s", call);
  return 0;
}

static int write_nothing(void *context, const char *text, size_t nbytes) {
  (void)context, (void)text, (void)nbytes;
  return 0;
}

static tally_vm *open_closed(void) {
  tally_vm *vm;
  tally_options options = tally_default_options();
  options.capabilities = 0;
  options.write = write_nothing;
  options.memory_limit = 64u << 20;
  options.instruction_limit = 1000000;
  assert_int_equal(tally_open(&options, &vm), TALLY_OK);
  return vm;
}

// Calls a function, importing its module; the status.
static tally_status call(tally_vm *vm, const char *name,
                         const char *arguments) {
  char source[512];
  const char *dot = strchr(name, '.');
  const int module = dot == NULL ? 0 : (int)(dot - name);
  snprintf(source, sizeof source, "%s%.*s\nresult = %s(%s)",
           module > 0 ? "import " : "", module, name, name, arguments);
  called[0] = '\0';
  return tally_eval(vm, source, NULL);
}

static void test_doors_are_closed(void **state) {
  (void)state;
  tally_vm *vm = open_closed();
  for (size_t i = 0; i < sizeof doors / sizeof *doors; i++) {
    tally_status status = call(vm, doors[i].name, doors[i].arguments);
    char thing[64];
    snprintf(thing, sizeof thing, "may not use %s", doors[i].thing);
    if (status != TALLY_ERR_IO || called[0] != '\0' ||
        strstr(tally_error(vm)->message, thing) == NULL)
      fail_msg("%s(%s): status %d, %s %s", doors[i].name, doors[i].arguments,
               (int)status, tally_error(vm)->message, called);
  }
  tally_close(vm);
}

static void test_nothing_else_is_a_door(void **state) {
  (void)state;
  tally_vm *vm = open_closed();
  const char *name;
  for (size_t i = 0; (name = tally_documented(vm, i)) != NULL; i++) {
    char own[128];
    snprintf(own, sizeof own, "%s", name);
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
      call(vm, own, ways[k]);
      if (called[0] != '\0')
        fail_msg("%s(%s) calls %s", own, ways[k], called);
    }
  }
  tally_close(vm);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_doors_are_closed),
      cmocka_unit_test(test_nothing_else_is_a_door),
  };
  tl_io_inject(note, NULL);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
