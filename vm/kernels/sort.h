// What sorting values and sorting positions share.
//
// Items become keys: unsigned integers in the items' order, turned over for
// descending order, so that one ascending sort serves all. NaN is the largest
// key in both directions.
//
//   int8       -1   0   1            keys 7f, 80, 81
//   float32    -1.0   0.0   inf      keys 407fffff, 80000000, ff800000
//   NaN                              all bits set
#pragma once

#include "vm/kernels/kernels.h"

enum {
  // Six passes of 11 bits sort keys of 64, where digits of 8 bits would take
  // eight; the counters of a pass are 16 KiB, half of the nearest cache.
  TL_DIGIT_BITS = 11,  // of a radix pass
  TL_DIGITS = 1 << TL_DIGIT_BITS,
  TL_DIGIT_PASSES = 6,   // for 64 bits
  TL_SMALL_SORT = 200,   // below it, merging is faster
  TL_INSERTION_RUN = 16  // the runs that merging starts from
};

// The items from i up to *end are one piece of n; between two pieces the caller
// of the sort may stop it. False at the end, and for ever once it is stopped,
// so that what follows in a stopped sort has nothing to do.
static inline bool tl_piece(tl_stop *stop, size_t i, size_t n, size_t *end) {
  enum { PIECE = 1 << 17 };  // under a millisecond of any pass
  if (i >= n || (stop && stop->stopped) || (i >= PIECE && !tl_goes_on(stop)))
    return false;
  *end = n - i < PIECE ? n : i + PIECE;
  return true;
}

// Writes into each page of a block whose bytes mean nothing yet. The system
// gives a page when it is written first, which takes it longer than a thousand
// items take us; the passes write all over the block from their first piece on.
void tl_sort_touch(void *block, size_t nbytes, tl_stop *stop);

// Out of items or keys [a], the keys or items [out]: each item by a key of its
// own width, or of 64 bits. Which bits are [turned] depends on the dtype.
typedef void tl_sort_converter(void *out, const void *a, size_t n,
                               uint64_t turned, bool same_zero, tl_stop *stop);
struct tl_sort_convert {
  tl_sort_converter *keys_own, *items_own, *keys_wide, *items_wide;
};

// Writes the keys of [n] real items or bools, widened to 64 bits. With
// [same_zero], -0.0 and 0.0 have one key.
void tl_sort_keys(tl_dtype dtype, uint64_t *keys, const void *a, size_t n,
                  bool descending, bool same_zero, tl_stop *stop);

// The same in place, as words of the items' own size; and back, where [a] may
// be [keys]. tl_sort of unsigned integers sorts such keys.
void tl_sort_to_keys(tl_dtype dtype, void *a, size_t n, bool descending,
                     tl_stop *stop);
void tl_sort_from_keys(tl_dtype dtype, void *a, const void *keys, size_t n,
                       bool descending, tl_stop *stop);
// Back from keys of 64 bits.
void tl_sort_from_wide(tl_dtype dtype, void *a, const uint64_t *keys, size_t n,
                       bool descending, tl_stop *stop);

// The sorted runs[0, m) and runs[m, n), merged: what stands at [from, to) of
// the result goes to the same places of [out]. Keys have 4 or 8 bytes.
//
//   runs 1 4 6 | 2 3 5, m 3, n 6, from 2, to 4     out[2] 3, out[3] 4
void tl_merge_keys(size_t itemsize, void *out, const void *runs, size_t m,
                   size_t n, size_t from, size_t to);
// The same of positions, beside their sorted keys; of equal ones the first
// run's come first. out_keys NULL: positions alone.
void tl_merge_places(int64_t *out, const int64_t *runs, uint64_t *out_keys,
                     const uint64_t *keys, size_t m, size_t n, size_t from,
                     size_t to);

// Counters for all radix passes over n keys.
typedef struct tl_radix_counts {
  size_t digit[TL_DIGIT_PASSES][TL_DIGITS];
} tl_radix_counts;

// Sorts words by [passes] digits from bit [shift] up, using the buffer b of the
// same length; the result is in a or in b: the one returned.
uint32_t *tl_radix_sort4(uint32_t *a, uint32_t *b, size_t n, unsigned shift,
                         unsigned passes, tl_radix_counts *counts,
                         tl_stop *stop);
uint64_t *tl_radix_sort8(uint64_t *a, uint64_t *b, size_t n, unsigned shift,
                         unsigned passes, tl_radix_counts *counts,
                         tl_stop *stop);
// By all digits that they have, whose number the compiler then knows.
uint8_t *tl_radix_sort1(uint8_t *a, uint8_t *b, size_t n,
                        tl_radix_counts *counts, tl_stop *stop);
uint16_t *tl_radix_sort2(uint16_t *a, uint16_t *b, size_t n,
                         tl_radix_counts *counts, tl_stop *stop);

// What n > 0 keys span, in bits. As keys, integers around zero differ in all
// bits; their distances from the least one do not.
typedef struct tl_key_span {
  uint64_t least;    // no key is below it
  unsigned bits;     // enough for every distance from it, at least 1
  unsigned varying;  // up to the highest one in which keys differ
} tl_key_span;

// One pass; where [stop] ends it early the span is of no use, as is the sort.
//
//   keys 1000 1003 1001     least 1000, bits 2, varying 2
tl_key_span tl_keys_span(const uint64_t *keys, size_t n, tl_stop *stop);
