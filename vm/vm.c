// Opening and closing a VM, and its doors to the host.

#include "vm/vm.h"
#include "vm/api/watch.h"

#include <stdio.h>
#include <string.h>

#include "vm/api/documentation.h"
#include "vm/api/host.h"
#include "vm/interp/interp.h"
#include "vm/memory/memory.h"
#include "vm/interp/module.h"
#include "vm/api/open.h"
#include "vm/poll.h"
#include "vm/interp/slots.h"

static int default_write(void *context, const char *text, size_t nbytes) {
  (void)context;
  return fwrite(text, 1, nbytes, stdout) == nbytes ? 0 : 1;
}

tally_options tally_default_options(void) {
  return (tally_options){.size = sizeof(tally_options),
                         .resize = tl_memory_resize,
                         .write = default_write,
                         .capabilities = TALLY_MAY_ALL};
}

tl_vm *tl_vm_open(const tally_options *options,
                  const tl_compiler_hooks *compiler) {
  tl_vm *vm = options->resize(options->context, NULL, 0, sizeof *vm);
  if (vm == NULL)
    return NULL;
  memset(vm, 0, sizeof *vm);
  vm->options = *options;
  vm->compiler = compiler;
  vm->args = tl_none();
  vm->grown = tl_none();
  vm->caught = tl_none();
  vm->width = 80;
  vm->no_reuse = options->no_reuse != 0;
  vm->fuel = TL_FUEL;
  vm->budget = UINT64_MAX;
  if (!tl_memory_open(vm)) {
    options->resize(options->context, vm, sizeof *vm, 0);
    return NULL;
  }
  tl_pool_open(vm);
  if (tl_slots_open(vm)) {
    vm->main = tl_module_new(vm, "main", NULL);
    if (vm->main != NULL)
      return vm;
  }
  tl_vm_close(vm);
  return NULL;
}

void tl_vm_close(tl_vm *vm) {
  tally_options options = vm->options;
  tl_watch_close(vm);
  tl_error_clear(vm);
  tl_drop(vm, vm->args);
  tl_drop(vm, vm->grown);
  tl_modules_close(vm);
  tl_types_close(vm);
  tl_docs_close(vm);
  tl_host_close(vm);
  tl_error_clear(vm);
  tl_slots_close(vm);
  tl_pool_close(vm);
  tl_memory_close(vm);
  options.resize(options.context, vm, sizeof *vm, 0);
}

bool tl_require(tl_vm *vm, unsigned capability, const char *what) {
  if ((vm->options.capabilities & capability) == capability)
    return true;
  unsigned missing = capability & ~vm->options.capabilities;
  const char *thing = (missing & TALLY_MAY_FILES) != 0   ? "files"
                      : (missing & TALLY_MAY_CLOCK) != 0 ? "the clock"
                                                         : "the environment";
  return tl_fail(vm, TALLY_ERR_IO, "%s: this script may not use %s", what,
                 thing);
}

bool tl_write(tl_vm *vm, const char *text, size_t nbytes) {
  if (nbytes == 0)
    return true;
  tl_access before = vm->access;
  vm->access = TL_ACCESS_NONE;
  int refused = vm->options.write(vm->options.context, text, nbytes);
  vm->access = before;
  if (refused == 0)
    return true;
  return tl_fail(vm, TALLY_ERR_IO, "print: the output refuses text");
}
