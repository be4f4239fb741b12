// The host that random programs run in: functions in C that return, take, keep
// and call back, and a type of values that hold values.
#ifndef TALLY_TESTS_FUZZ_HOST_H
#define TALLY_TESTS_FUZZ_HOST_H

#include <stdbool.h>

#include "tally.h"

typedef struct fuzz_host {
  tally_vm *vm;
  tally_value kept;
  bool has_kept;
  int calls;   // of maybe
  int tokens;  // made and not released
} fuzz_host;

// Adds the functions; false: no memory. The host must outlive the VM.
bool fuzz_host_open(fuzz_host *host, tally_vm *vm);
// Lets go of what it keeps: before tally_close.
void fuzz_host_close(fuzz_host *host);
// The options' load hook: knows "aside.tly" alone. Its context, the options',
// goes to [resize].
int fuzz_host_load(void *(*resize)(void *context, void *block, size_t old_size,
                                   size_t new_size),
                   void *context, const char *name, char **text,
                   size_t *nbytes);

#endif
