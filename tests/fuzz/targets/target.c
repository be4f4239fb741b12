// The targets' VM, and what all of them share: see targets.h.
#define _DEFAULT_SOURCE 1

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/targets/targets.h"

// Small, so that no run takes long: many small ones find more than a few long
// ones do.
enum {
  LIMIT_BYTES = 4 << 20,
  LIMIT_INSTRUCTIONS = 1000,  // iterations, or 1,024 items each
  RUNS_OF_A_VM = 1000,
  HELD_BYTES = LIMIT_BYTES / 4,  // by variables: more, and the VM closes
  STACK_BYTES = 1 << 17,
};

static tally_vm *vm;
static int runs;
static size_t live;    // bytes of the VM's
static size_t opened;  // … when it had opened

static void *resize(void *context, void *block, size_t old_size,
                    size_t new_size) {
  (void)context;
  if (new_size == 0) {
    live -= old_size;
    free(block);
    return NULL;
  }
  void *moved = realloc(block, new_size);
  if (moved != NULL)
    live += new_size - old_size;
  return moved;
}

static int write_nothing(void *context, const char *text, size_t nbytes) {
  (void)context, (void)text, (void)nbytes;
  return 0;
}

void fuzz_fail(const char *what, const char *more) {
  fprintf(stderr, "FAILED: %s%s\n", what, more);
  abort();
}

void fuzz_expect(tally_vm *in, tally_status status) {
  if (status == TALLY_ERR_ASSERT || status == TALLY_ERR_HOST)
    fuzz_fail("", tally_error(in)->report);
}

static void open_vm(const fuzz_target *target) {
  tally_options options = tally_default_options();
  options.resize = resize;
  options.write = write_nothing;
  options.memory_limit = LIMIT_BYTES;
  options.instruction_limit = LIMIT_INSTRUCTIONS;
  options.stack_size = STACK_BYTES;
  options.threads = 1;
  options.no_blas = 1;  // which no sanitizer looks into
  options.seeded = 1;
  options.capabilities = target->capabilities;
  if (tally_open(&options, &vm) != TALLY_OK)
    fuzz_fail("the VM did not open", "");
  if (target->script != NULL &&
      tally_eval(vm, target->script, NULL) != TALLY_OK)
    fuzz_fail("the script: ", tally_error(vm)->report);
  opened = live;
}

void fuzz_end(void) {
  if (vm == NULL)
    return;
  char left[64];
  size_t values = tally_close(vm);
  vm = NULL;
  runs = 0;
  snprintf(left, sizeof left, "%zu values, %zu bytes", values, live);
  if (values != 0 || live != 0)
    fuzz_fail("left behind: ", left);
}

void fuzz_one(const fuzz_target *target, const uint8_t *data, size_t nbytes) {
  if (vm == NULL)
    open_vm(target);
  // Bytes that are exactly as long as they are said to be.
  uint8_t *exact = malloc(nbytes + (nbytes == 0));
  if (exact == NULL)
    return;
  if (nbytes > 0)
    memcpy(exact, data, nbytes);
  target->run(vm, exact, nbytes);
  free(exact);
  if (++runs == RUNS_OF_A_VM || live > opened + HELD_BYTES)
    fuzz_end();
}

void fuzz_call_text(tally_vm *in, const uint8_t *data, size_t nbytes) {
  tally_value text;
  if (tally_from_string(in, (const char *)data, nbytes, &text) != TALLY_OK)
    return;
  fuzz_expect(in, tally_call(in, "target", 1, &text, NULL));
  tally_release(in, text);
}

const fuzz_target *fuzz_find(const char *name) {
  const fuzz_target *const families[] = {fuzz_sources, fuzz_texts, fuzz_files,
                                         fuzz_calls, fuzz_hosts};
  for (size_t i = 0; i < sizeof families / sizeof *families; i++)
    for (const fuzz_target *t = families[i]; t->name != NULL; t++)
      if (strcmp(t->name, name) == 0)
        return t;
  return NULL;
}
