// The one function that an object with an instruction set's kernels exports to
// libtally.so, which loads it (isa.c): it returns the object's table, if both
// were compiled with the same layout of tables.
#include "vm/kernels/loop.h"
#include "vm/kernels/wide.h"

#define TABLE_(isa) tl_kernels_##isa
#define TABLE(isa) TABLE_(isa)
extern const tl_kernel_table TABLE(TL_ISA);

__attribute__((visibility("default"))) tl_wide_kernels tally_wide_kernels;

// The library passes the size of its own tables, which another version's differ
// in.
const void *tally_wide_kernels(size_t nbytes) {
  return nbytes == sizeof(tl_kernel_table) ? &TABLE(TL_ISA) : NULL;
}
