// What random bytes are given to, for libFuzzer (`make fuzz-csv`) and, without
// it, for main.c, which runs the corpus again and damages it.
//
//     bytes ─▶ target.run ─▶ a value or an error; else fuzz_fail
//
// A target must not crash, hang, pass the memory limit or leave anything
// behind, whatever the bytes are. The VM that it is given lives for up to
// a thousand runs, so that opening it costs little; that nothing is left is
// looked at when it closes.
#ifndef TALLY_TESTS_FUZZ_TARGETS_H
#define TALLY_TESTS_FUZZ_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tally.h"

typedef struct fuzz_target {
  const char *name;
  // Run when a VM opens; it may define the function `target`. NULL: nothing.
  const char *script;
  void (*run)(tally_vm *vm, const uint8_t *data, size_t nbytes);
  unsigned capabilities;  // TALLY_MAY_…
} fuzz_target;

// The families; each table ends with a row without a name.
extern const fuzz_target fuzz_sources[], fuzz_texts[], fuzz_files[],
    fuzz_calls[], fuzz_hosts[];

// The target of that name, NULL: none.
const fuzz_target *fuzz_find(const char *name);
// Gives the bytes to the target.
void fuzz_one(const fuzz_target *target, const uint8_t *data, size_t nbytes);
// Closes the VM, if there is one, and asks that nothing is left.
void fuzz_end(void);

// What must not be has been: prints it and aborts, for libFuzzer to see.
void fuzz_fail(const char *what, const char *more);
// Asks that a script's error is one that bytes may lead to: an assertion of the
// target's own script is not, nor is a wrong use of the API.
void fuzz_expect(tally_vm *vm, tally_status status);
// Calls the script's `target` with the bytes as a string, if they are UTF-8.
void fuzz_call_text(tally_vm *vm, const uint8_t *data, size_t nbytes);

// Changes the bytes a little, as [seed] says: bits flip, words become the ends
// of their ranges, pieces go or come twice, numbers grow. Returns how many
// bytes there are then, at most [room].
size_t fuzz_damage(uint8_t *data, size_t nbytes, size_t room, uint64_t seed);

#endif
