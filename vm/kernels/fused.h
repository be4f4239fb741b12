// Fused kernels: loops of two to five operations, for regions. What is between
// the operations stays in a register of the machine and is rounded like any
// other result, so that the bits are those of the kernels one after the other.
//
// A kernel is known by the term that it computes, in prefix notation: the
// operations by their names, the operands by a letter each:
//
//   v   n items          add_mul_vvv            x * y + z
//   s   one, for all     sub_s_mul_vv           1 - x * y
//   b   n bools          where_lt_vs_mul_vvs    where(x < 0, y * z, 1)
//
// Operands that may change places stand in one order, so that a term has one
// spelling: more operations first, of two with as many the greater one as text
// (v before s); x > y is lt with its operands turned.
//
// Which terms have a kernel is a ledger, in fused_list.h. An expression without
// one is computed by the kernels of its parts, block by block.
#ifndef TALLY_VM_KERNELS_FUSED_H
#define TALLY_VM_KERNELS_FUSED_H

#include <stddef.h>

enum {
  TL_TERM_OPERANDS = 6,  // the most operands of a term
  TL_TERM_LENGTH = 31,   // the most characters
};

// out[i] = the term of in[0][i], in[1][i] … for i in [0, n); an operand of one
// item is in[k][0] for all i. [in] has TL_TERM_OPERANDS places, of which those
// behind the term's may be anything. [out] may be exactly one of the operands
// of n items, if its items are as wide.
typedef void tl_fused_loop(void *out, const void *const *in, size_t n);

// An entry of the list of a dtype. Lists are searched by text, when a region is
// planned, so that their order does not count.
typedef struct tl_fused_kernel {
  const char *term;  // NULL: the list ends here
  tl_fused_loop *loop;
} tl_fused_kernel;

#endif
