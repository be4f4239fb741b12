// Opening and closing a VM; for api.c, and for tests of the layers below it,
// which may leave out compiler and library.
//
//     tl_vm_open ─ tl_vm_bind ─ memory ─ pool ─ slots ─ main module
//                   │
//                   └ tables for calls to higher layers: arrays, nested,
//                     fusion, host, observer, library
#pragma once

#include "vm/vm.h"

// Sets the tables that the layers below call through: the library (NULL: none),
// the observer, the operations of arrays, nested arrays, fused code and hosts.
void tl_vm_bind(tl_vm *vm, const tl_library *library);

// Makes a VM; NULL: no memory. [options] are complete: resize and write are
// set.
tl_vm *tl_vm_open(const tally_options *options,
                  const tl_compiler_hooks *compiler, const tl_library *library);
// Frees everything that the VM has. Handles and exports have been closed
// before.
void tl_vm_close(tl_vm *vm);
