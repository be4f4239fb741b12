// Opening and closing a VM; for api.c.
#ifndef TALLY_VM_OPEN_H
#define TALLY_VM_OPEN_H

#include "vm/vm.h"

// NULL: no memory. Options are complete (resize, write set).
tl_vm *tl_vm_open(const tally_options *options,
                  const tl_compiler_hooks *compiler);
void tl_vm_close(tl_vm *vm);

#include "vm/memory/memory_internal.h"
#include "vm/types/type.h"

#endif
