// Shared by the files that bound peak memory: peak_bound.h has the list.
#ifndef TALLY_VM_PEAK_INTERNAL_H
#define TALLY_VM_PEAK_INTERNAL_H

#include "vm/observe/peak_bound.h"
#include "vm/region/region.h"

// --- Formulas: peak_formula.c ------------------------------------------------

enum {
  // More would make formulas that nobody reads; a function that needs them is
  // reported as not known.
  TL_PEAK_SYMBOLS = 8,  // of one function
  TL_PEAK_TERMS = 24,   // of a sum
  TL_PEAK_AXES = 4,     // of an array
};

// A length that only a call knows. Two symbols are one where name and axis are
// the same.
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

// The symbol's number; -1: there are too many. Borrows the name, which has to
// outlive the symbols.
int tl_peak_symbol_of(tl_peak_symbols *s, const tl_string *name, int axis);

// A number times powers of symbols.
//
//     16 * x.shape[0] * y.size      by = 16, power = {1, 1, 0, …}
//
// Symbols stand for lengths, so a product is never negative and grows with each
// of them: that is what makes bounds of products bounds.
typedef struct tl_product {
  uint64_t by;
  uint8_t power[TL_PEAK_SYMBOLS];
} tl_product;

// A sum of products, each of other powers. [lost]: there were too many. A sum
// that has lost a term bounds nothing any more, and stays lost.
typedef struct tl_sum {
  tl_product terms[TL_PEAK_TERMS];
  int count;
  bool lost;
} tl_sum;

// Adds the product to the term of the same powers, or as a term of its own.
// [lost] is set where there is no room, or the factor is more than 64 bits.
void tl_sum_add(tl_sum *sum, const tl_product *p);
// The larger factor of each product: never less than either sum, since no
// length is negative.
void tl_sum_max(tl_sum *sum, const tl_sum *other);
// The sum where all symbols are 1000: which of two places needs more. 1000
// makes a power more weigh more than any usual factor does.
double tl_sum_weigh(const tl_sum *sum);
// Writes it as the language would: "16 * x.shape[0] + 8 * x.size"; 0: "0".
void tl_sum_put(tl_text *out, const tl_sum *sum, const tl_peak_symbols *s);
// The factor is written even if it is 1.
void tl_product_put(tl_text *out, const tl_product *p,
                    const tl_peak_symbols *s);

// --- Values: peak_values.c ---------------------------------------------------

// A length: a symbol, or -1 and a number. Lengths are upper bounds: x[1:] is
// as long as x. [number] means nothing where there is a symbol.
typedef struct tl_length {
  int symbol;
  int64_t number;
} tl_length;

// A slot is UNSET where nothing was written, or its value has ended: what comes
// along another path is then taken as it is.
typedef enum tl_peak_kind {
  TL_PEAK_UNSET,
  TL_PEAK_PLAIN,    // of no array's memory; a number is lengths[0], if known
  TL_PEAK_NONE,     // none
  TL_PEAK_ARRAY,    // ndim -1: of any rank, lengths[0] items
  TL_PEAK_SHAPE,    // a list of lengths
  TL_PEAK_UNKNOWN,  // anything
} tl_peak_kind;

// What is known of the value in a slot. A view and its array have one block
// number, and the block's bytes count once, by whichever of them owns. Values
// are compared byte by byte (wait_at), so they are copied whole and begin as
// zeros.
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

// A number, text or the like, of which nothing is known.
extern const tl_peak_value tl_peak_plain;

// The bytes of an array's items. False: a symbol's power is too large. [v] is
// of kind ARRAY. The header of an array is not counted (TL_PEAK_FREE in
// peak_contract.h).
bool tl_peak_bytes(const tl_peak_value *v, tl_product *out);
// Whether the shapes are the same whatever the symbols stand for. Ranks that
// are not known are the same where the numbers of items are.
bool tl_peak_same_shape(const tl_peak_value *a, const tl_peak_value *b);
// Broadcasts [b] into the shape of *a. False: it is not known which length the
// result has; *why says what would have to be known. *why is set in either
// case; *a is changed on true alone.
bool tl_peak_broadcast(tl_peak_value *a, const tl_peak_value *b,
                       const char **why);
// What either may be, into *a; [block]: a number for the block of two. False:
// nothing is known of it. On false *a may be half changed, and is to be thrown
// away.
bool tl_peak_join(tl_peak_value *a, const tl_peak_value *b, uint32_t block);
// The value of a parameter, or of a variable from outside, of that type; NULL:
// none is given. [names] are the names of dimensions that were given so far,
// one table for all parameters of a function: N in two types is one length. It
// owns nothing. Kind UNKNOWN where the type says no shape, or there are too
// many symbols.
tl_peak_value tl_peak_given(tl_peak_symbols *s, const tl_string *name,
                            const tl_type *pattern, tl_bindings *names);

#endif
