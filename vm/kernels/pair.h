// Kernels of two or three operations, for regions: what is between them stays
// in a register of the machine, and is rounded like any other result, so that
// the bits are those of the kernels one after the other.
#ifndef TALLY_VM_KERNELS_PAIR_H
#define TALLY_VM_KERNELS_PAIR_H

#include <stddef.h>

#include "vm/types/dtype.h"

typedef void tl_kernel3(void *out, const void *a, const void *b, const void *c,
                        size_t n);
typedef void tl_kernel4(void *out, const void *a, const void *b, const void *c,
                        const void *d, size_t n);
typedef void tl_kernel6(void *out, const void *a, const void *b, const void *c,
                        const void *d, const void *e, const void *f, size_t n);

// t = x op y. Of a and b, V is n items and S is one.
typedef enum tl_first {
  TL_FIRST_ADD_VV,
  TL_FIRST_ADD_VS,
  TL_FIRST_SUBTRACT_VV,
  TL_FIRST_SUBTRACT_VS,
  TL_FIRST_SUBTRACT_SV,
  TL_FIRST_MULTIPLY_VV,
  TL_FIRST_MULTIPLY_VS,
  TL_FIRST_DIVIDE_VV,  // in joins alone
  TL_FIRST_DIVIDE_VS,
  TL_FIRST_COUNT
} tl_first;

// out = t op z; FROM is z - t. The last three have no z.
typedef enum tl_second {
  TL_SECOND_ADD_V,
  TL_SECOND_ADD_S,
  TL_SECOND_SUBTRACT_V,
  TL_SECOND_SUBTRACT_S,
  TL_SECOND_FROM_V,
  TL_SECOND_FROM_S,
  TL_SECOND_MULTIPLY_V,
  TL_SECOND_MULTIPLY_S,
  TL_SECOND_DIVIDE_V,
  TL_SECOND_DIVIDE_S,
  TL_SECOND_MINIMUM_V,
  TL_SECOND_MINIMUM_S,
  TL_SECOND_MAXIMUM_V,
  TL_SECOND_MAXIMUM_S,
  TL_SECOND_SQUARE,
  TL_SECOND_ABS,
  TL_SECOND_SQRT,
  TL_SECOND_COUNT
} tl_second;

// Comparisons of a and b; those of TL_BRANCH_QUESTIONS come first.
typedef enum tl_question {
  TL_QUESTION_LESS_VV,
  TL_QUESTION_LESS_VS,
  TL_QUESTION_LESS_SV,
  TL_QUESTION_LESS_EQUAL_VV,
  TL_QUESTION_LESS_EQUAL_VS,
  TL_QUESTION_LESS_EQUAL_SV,
  TL_QUESTION_EQUAL_VV,
  TL_QUESTION_EQUAL_VS,
  TL_QUESTION_NOT_EQUAL_VV,
  TL_QUESTION_NOT_EQUAL_VS,
  TL_QUESTION_COUNT
} tl_question;

// Choices between c and d.
typedef enum tl_choice {
  TL_CHOICE_VV,
  TL_CHOICE_VS,
  TL_CHOICE_SV,
  TL_CHOICE_COUNT
} tl_choice;

// Three operations: (x op y) op z op w, of the forms that chains are made of.
#define TL_TRIPLE_FIRSTS(X) \
  X(ADD_VV) X(SUBTRACT_VV) X(MULTIPLY_VV) X(MULTIPLY_VS)
#define TL_TRIPLE_SECONDS(X) \
  X(ADD_V) X(ADD_S) X(SUBTRACT_V) X(MULTIPLY_V) X(MULTIPLY_S)
#define TL_TRIPLE_THIRDS(X) \
  X(ADD_V) X(ADD_S) X(SUBTRACT_V) X(FROM_V) X(MULTIPLY_V) X(MULTIPLY_S)

#define X(NAME) TL_TRIPLE_FIRST_##NAME,
enum { TL_TRIPLE_FIRSTS(X) TL_TRIPLE_FIRST_COUNT };
#undef X
#define X(NAME) TL_TRIPLE_SECOND_##NAME,
enum { TL_TRIPLE_SECONDS(X) TL_TRIPLE_SECOND_COUNT };
#undef X
#define X(NAME) TL_TRIPLE_THIRD_##NAME,
enum { TL_TRIPLE_THIRDS(X) TL_TRIPLE_THIRD_COUNT };
#undef X

// (a op b) op (c op d): both sides are of the forms of TL_JOIN_SIDES.
#define TL_JOIN_SIDES(X) TL_TRIPLE_FIRSTS(X) X(DIVIDE_VV) X(DIVIDE_VS)
#define X(NAME) TL_JOIN_SIDE_##NAME,
enum { TL_JOIN_SIDES(X) TL_JOIN_SIDE_COUNT };
#undef X
typedef enum tl_join {
  TL_JOIN_ADD,
  TL_JOIN_SUBTRACT,
  TL_JOIN_MULTIPLY,
  TL_JOIN_NORM,  // the square root of the sum
  TL_JOIN_COUNT
} tl_join;

typedef tl_kernel3 *tl_pairs[TL_FIRST_COUNT][TL_SECOND_COUNT];
typedef tl_kernel4 *tl_choices[TL_QUESTION_COUNT][TL_CHOICE_COUNT];
typedef tl_kernel4 *tl_triples[TL_TRIPLE_FIRST_COUNT][TL_TRIPLE_SECOND_COUNT]
                              [TL_TRIPLE_THIRD_COUNT];
typedef tl_kernel4
    *tl_joins[TL_JOIN_COUNT][TL_JOIN_SIDE_COUNT][TL_JOIN_SIDE_COUNT];

// (a op b) * s op (d op e) * t, as in sums of differences in several
// directions: op is + or -, s and t are one item each.
enum { TL_SCALED_ADD, TL_SCALED_SUBTRACT, TL_SCALED_COUNT };
typedef tl_kernel6
    *tl_scaled[TL_SCALED_COUNT][TL_SCALED_COUNT][TL_SCALED_COUNT];

// a < b ? (c op d) : (e op f): both sides are of the first forms of
// TL_TRIPLE_FIRSTS.
enum { TL_BRANCH_QUESTIONS = TL_QUESTION_EQUAL_VV };
typedef tl_kernel6 *tl_branches[TL_BRANCH_QUESTIONS][TL_TRIPLE_FIRST_COUNT]
                               [TL_TRIPLE_FIRST_COUNT];

// NULL where there is none: for integers, quotients and what follows. Those of
// uint8 serve int8 too, and have no minimum and maximum; three of them are sums
// and differences.
typedef struct tl_pair_table {
  tl_pairs uint8, int32, int64, float32, float64;
  tl_choices choose_float32, choose_float64;  // question ? c : d
  tl_triples triples_uint8, triples_float32, triples_float64;
  tl_joins joins_float32, joins_float64;
  tl_scaled scaled_float32, scaled_float64;
  tl_branches branches_float64;
} tl_pair_table;

// Masks: a comparison of a and b, joined with a mask c or with a comparison of
// c and d. The operands of the second kind are of n items and of one.
typedef enum tl_logic { TL_LOGIC_AND, TL_LOGIC_OR, TL_LOGIC_COUNT } tl_logic;
typedef tl_kernel3 *tl_masks[TL_QUESTION_COUNT][TL_LOGIC_COUNT];
typedef tl_kernel4
    *tl_both[TL_QUESTION_COUNT][TL_QUESTION_COUNT][TL_LOGIC_COUNT];

typedef struct tl_asked {
  tl_masks masks;
  tl_both both;
} tl_asked;
typedef struct tl_question_table {
  tl_asked of_uint8, of_int64, of_float32, of_float64;
} tl_question_table;

#endif
