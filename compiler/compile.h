// The compiler's one entrance, and what its later stages share.
#ifndef TALLY_COMPILER_COMPILE_H
#define TALLY_COMPILER_COMPILE_H

#include "vm/interp/function.h"

// Compiles a text into a unit of [module]; [mode] is a tl_unit_mode. NULL
// after tl_fail (kind syntax, name …): the report names each of up to 20
// errors. The unit belongs to the module.
tl_unit *tl_compile(tl_vm *vm, tl_module *module, const char *name,
                    const char *text, size_t nbytes, unsigned mode);

// The same program with its blanks, indentation and empty lines in order, a
// string. False after tl_fail: text that does not parse.
bool tl_format_source(tl_vm *vm, const char *name, const char *text,
                      size_t nbytes, tl_slot *out);

extern const tl_compiler_hooks tl_compiler;

#endif
