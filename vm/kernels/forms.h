// How a kernel of several operands reads each of them: an item each (V), one
// item for all (S), or none (N).
#ifndef TALLY_VM_KERNELS_FORMS_H
#define TALLY_VM_KERNELS_FORMS_H

#define V_ONE(from) 0
#define S_ONE(from) *(from)
#define N_ONE(from) 0
#define V_AT(from, one, i) (from)[i]
#define S_AT(from, one, i) (one)
#define N_AT(from, one, i) 0
#define V_ON(from, count) (from) + (count)
#define S_ON(from, count) (from)
#define N_ON(from, count) (from)

// The four operands a, b, c and d as from_a and one_a to from_d and one_d.
#define OPEN_FOUR(T, A, B, C, D)                              \
  const T *from_a = a, *from_b = b, *from_c = c, *from_d = d; \
  const T one_a = A##_ONE(from_a), one_b = B##_ONE(from_b),   \
          one_c = C##_ONE(from_c), one_d = D##_ONE(from_d);   \
  (void)one_a, (void)one_b, (void)one_c, (void)one_d;

#endif
