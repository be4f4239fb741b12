// What a VM may do beyond itself, and its door to the host's output:
// capabilities are tested here, and text goes to the host's write hook.
//
// Built for size.

#include "vm/vm.h"

// The message names the first capability that is missing.
bool tl_require(tl_vm *vm, unsigned capability, const char *what) {
  if ((vm->options.capabilities & capability) == capability)
    return true;
  unsigned missing = capability & ~vm->options.capabilities;
  const char *thing = (missing & TALLY_MAY_FILES) != 0   ? "files"
                      : (missing & TALLY_MAY_CLOCK) != 0 ? "the clock"
                      : (missing & TALLY_MAY_LIBRARIES) != 0
                          ? "native modules"
                          : "the environment";
  return tl_fail(vm, TALLY_ERR_IO, "%s: this script may not use %s", what,
                 thing);
}

bool tl_write(tl_vm *vm, const char *text, size_t nbytes) {
  return tl_write_for(vm, "print", text, nbytes);
}

// The hook gets the text as it is, in one piece; what it does not want is an
// error that a script may catch.
bool tl_write_for(tl_vm *vm, const char *what, const char *text,
                  size_t nbytes) {
  // A hook is never called for nothing.
  if (nbytes == 0)
    return true;
  if (!tl_output_counts(vm, nbytes))
    return false;
  // The host's hook may not call back into the VM: code is running.
  tl_access before = vm->access;
  vm->access = TL_ACCESS_NONE;
  int refused = vm->options.write(vm->options.context, text, nbytes);
  vm->access = before;
  if (refused == 0)
    return true;
  return tl_fail(vm, TALLY_ERR_IO, "%s: the output refuses text", what);
}
