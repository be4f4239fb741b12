// What an object with one instruction set's kernels shows to libtally.so, which
// loads it (isa.c): its table, where both were compiled with the same one.
#include "vm/kernels/kernels.h"
#include "vm/kernels/loop.h"
#include "vm/kernels/wide.h"

#define TABLE_(isa) tl_kernels_##isa
#define TABLE(isa) TABLE_(isa)
extern const tl_kernel_table TABLE(TL_ISA);

__attribute__((visibility("default"))) tl_wide_kernels tally_wide_kernels;

const void *tally_wide_kernels(size_t nbytes) {
  return nbytes == sizeof(tl_kernel_table) ? &TABLE(TL_ISA) : NULL;
}
