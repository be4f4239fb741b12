// Memory for machine code: pages that are written first and made executable
// then, never both at once.
//
//     chunk ─▶ │ unit │ unit │ …          │      64 KiB, one mapping
//                              ▲ used      read and execute, but while one more
//                                          unit is copied into it
//
// While a chunk is written none of its code runs: a VM is used by one thread,
// and units are made by the interpreter, which no unit calls.
#pragma once

#include "vm/vm.h"

// Whether there is an emitter for this processor and system. That of AArch64
// was never run under macOS, whose pages of code have rules of their own.
#if defined(__x86_64__) && !defined(__ILP32__) && \
    (defined(__unix__) || defined(__APPLE__))
#define TL_JIT_X64 1
#else
#define TL_JIT_X64 0
#endif
#if defined(__aarch64__) && !defined(__ILP32__) && defined(__AARCH64EL__) && \
    defined(__unix__)
#define TL_JIT_A64 1
#else
#define TL_JIT_A64 0
#endif
#define TL_HAS_JIT (TL_JIT_X64 || TL_JIT_A64)

typedef struct tl_code_chunk tl_code_chunk;

// The code of a unit begins at a multiple of these bytes, and so may loops in
// it.
enum { TL_CODE_ALIGN = 32 };
// No chunk is counted from now on, though code in it may still be running.
void tl_code_forgo(tl_vm *vm, tl_code_chunk *chunks);

// Copies [size] bytes of code to where they can run. NULL: no memory under the
// VM's limit, or the system makes no page executable. Borrows the bytes. The
// result stays where it is until tl_code_drop, so absolute addresses of it may
// stand in other units; what the bytes say of their own place has to be
// relative.
void *tl_code_put(tl_vm *vm, tl_code_chunk **chunks, const uint8_t *bytes,
                  uint32_t size);
// The code is not used any more; a chunk without code in use is written anew.
// [code] is what tl_code_put returned.
void tl_code_drop(tl_code_chunk *chunks, const void *code);
// Gives all chunks back. Called when the VM closes, behind the last function's
// end.
void tl_code_close(tl_vm *vm, tl_code_chunk *chunks);

// Whether the system makes a page executable, asked once by trying. The pages
// that were tried are given back. Without an emitter it is false.
bool tl_code_may_run(void);
