// Texts of programs: laid out, described, compiled, run, and as a prompt sees
// them while they are typed.
#include <string.h>

#include "tests/fuzz/targets/targets.h"

// Laid out twice is laid out once, and still a program.
static void run_format(tally_vm *vm, const uint8_t *data, size_t nbytes) {
  const char *text, *again;
  size_t n, m;
  tally_value once, twice;
  tally_status status =
      tally_format_source(vm, "fuzz", (const char *)data, nbytes, &once);
  fuzz_expect(vm, status);
  if (status != TALLY_OK)
    return;
  tally_to_string(vm, once, &text, &n);
  status = tally_format_source(vm, "fuzz", text, n, &twice);
  if (status == TALLY_OK) {
    tally_to_string(vm, twice, &again, &m);
    if (n != m || memcmp(text, again, n) != 0)
      fuzz_fail("laid out again it differs:\n", again);
    tally_release(vm, twice);
  } else if (status != TALLY_ERR_MEMORY) {
    fuzz_fail("laid out it is no program: ", tally_error(vm)->report);
  }
  tally_release(vm, once);
}

static void run_compile(tally_vm *vm, const uint8_t *data, size_t nbytes) {
  fuzz_expect(vm, tally_disassemble(vm, "fuzz", (const char *)data, nbytes));
}

// A script may fail its own assertions; no more than that is known of it.
static void run_script(tally_vm *vm, const uint8_t *data, size_t nbytes) {
  tally_status status =
      tally_run_source(vm, "fuzz", (const char *)data, nbytes, 0, NULL);
  if (status == TALLY_ERR_HOST)
    fuzz_fail("", tally_error(vm)->report);
}

// A text ends at its first zero byte here.
static void run_prompt(tally_vm *vm, const uint8_t *data, size_t nbytes) {
  char text[4096];
  tally_value out;
  if (nbytes >= sizeof text)
    return;
  if (nbytes > 0)
    memcpy(text, data, nbytes);
  text[nbytes] = 0;
  if (tally_complete(vm, text, &out) == TALLY_OK)
    tally_release(vm, out);
  if (tally_describe_source(vm, "fuzz", text, strlen(text), &out) == TALLY_OK)
    tally_release(vm, out);
  if (tally_resolve_source(vm, "fuzz", text, strlen(text), &out) == TALLY_OK)
    tally_release(vm, out);
  if (tally_check_input(vm, text) == TALLY_INPUT_COMPLETE)
    tally_interact(vm, text, 60);
}

const fuzz_target fuzz_sources[] = {
    {.name = "format", .run = run_format},
    {.name = "source", .run = run_compile},
    {.name = "script", .run = run_script},
    {.name = "prompt", .run = run_prompt},
    {0},
};
