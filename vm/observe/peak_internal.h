// Shared by the files that bound peak memory: peak_bound.h has the list.
#ifndef TALLY_VM_PEAK_INTERNAL_H
#define TALLY_VM_PEAK_INTERNAL_H

#include "vm/observe/peak_bound.h"
#include "vm/region/region.h"

// --- Formulas: peak_formula.c ------------------------------------------------

enum {
  TL_PEAK_SYMBOLS = 8,  // of one function
  TL_PEAK_TERMS = 24,   // of a sum
  TL_PEAK_AXES = 4,     // of an array
};

// A length that only a call knows.
typedef struct tl_peak_symbol {
  const tl_string *name;  // of the variable
  int axis;               // x.shape[axis]; or one of those below
} tl_peak_symbol;
enum {
  TL_PEAK_SIZE = -1,    // x.size
  TL_PEAK_NUMBER = -2,  // x itself
};

typedef struct tl_peak_symbols {
  tl_peak_symbol of[TL_PEAK_SYMBOLS];
  int count;
} tl_peak_symbols;

// The symbol's number; -1: there are too many.
int tl_peak_symbol_of(tl_peak_symbols *s, const tl_string *name, int axis);

// A number times powers of symbols.
typedef struct tl_product {
  uint64_t by;
  uint8_t power[TL_PEAK_SYMBOLS];
} tl_product;

// A sum of products, each of other powers. [lost]: there were too many.
typedef struct tl_sum {
  tl_product terms[TL_PEAK_TERMS];
  int count;
  bool lost;
} tl_sum;

void tl_sum_add(tl_sum *sum, const tl_product *p);
// The larger factor of each product: never less than either sum, since no
// length is negative.
void tl_sum_max(tl_sum *sum, const tl_sum *other);
// The sum where all symbols are 1000: which of two places needs more.
double tl_sum_weigh(const tl_sum *sum);
// Writes it as the language would: "16 * x.shape[0] + 8 * x.size"; 0: "0".
void tl_sum_put(tl_text *out, const tl_sum *sum, const tl_peak_symbols *s);
void tl_product_put(tl_text *out, const tl_product *p,
                    const tl_peak_symbols *s);

// --- Values: peak_values.c ---------------------------------------------------

// A length: a symbol, or -1 and a number. Lengths are upper bounds: x[1:] is
// as long as x.
typedef struct tl_length {
  int symbol;
  int64_t number;
} tl_length;

typedef enum tl_peak_kind {
  TL_PEAK_UNSET,
  TL_PEAK_PLAIN,    // of no array's memory; a number is lengths[0], if known
  TL_PEAK_NONE,     // none
  TL_PEAK_ARRAY,    // ndim -1: of any rank, lengths[0] items
  TL_PEAK_SHAPE,    // a list of lengths
  TL_PEAK_UNKNOWN,  // anything
} tl_peak_kind;

// What is known of the value in a slot.
typedef struct tl_peak_value {
  uint8_t kind;     // tl_peak_kind
  bool is_known;    // of PLAIN: lengths[0]
  bool is_weak;     // of PLAIN: a literal's number
  bool owns;        // its block is alive by it
  bool is_view;     // of the block
  bool is_virtual;  // computed in a region, without memory
  int8_t ndim;
  tl_dtype dtype;
  tl_length lengths[TL_PEAK_AXES];
  uint32_t block;   // its number
  tl_product held;  // the block's bytes
  uint32_t since;   // the pc that made it
} tl_peak_value;

extern const tl_peak_value tl_peak_plain;

// The bytes of an array's items. False: a symbol's power is too large.
bool tl_peak_bytes(const tl_peak_value *v, tl_product *out);
bool tl_peak_same_shape(const tl_peak_value *a, const tl_peak_value *b);
// Broadcasts [b] into the shape of *a. False: it is not known which length the
// result has; *why says what would have to be known.
bool tl_peak_broadcast(tl_peak_value *a, const tl_peak_value *b,
                       const char **why);
// What either may be, into *a; [block]: a number for the block of two. False:
// nothing is known of it.
bool tl_peak_join(tl_peak_value *a, const tl_peak_value *b, uint32_t block);
// The value of a parameter, or of a variable from outside, of that type; NULL:
// none is given.
tl_peak_value tl_peak_given(tl_peak_symbols *s, const tl_string *name,
                            const tl_type *pattern, tl_bindings *names);

#endif
