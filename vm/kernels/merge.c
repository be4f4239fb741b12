// Merging two sorted runs that stand one behind the other, a part of the result
// at a time: parts can be made by different threads.
#include "vm/kernels/loop.h"
#include "vm/kernels/sort.h"

// Of the runs left[0, m) and right[0, k), those that stand at [from, to) of the
// result; of equal keys the left one comes first.
#define MERGE(name, T)                                                      \
  /* How many of the first [at] items are the left run's. */                \
  static size_t split_##name(const T *left, size_t m, const T *right,       \
                             size_t k, size_t at) {                         \
    size_t low = at > k ? at - k : 0, high = at < m ? at : m;               \
    while (low < high) {                                                    \
      const size_t middle = low + (high - low) / 2;                         \
      if (right[at - middle - 1] < left[middle])                            \
        high = middle;                                                      \
      else                                                                  \
        low = middle + 1;                                                   \
    }                                                                       \
    return low;                                                             \
  }                                                                         \
  static void merge_##name(T *out, const T *left, size_t m, const T *right, \
                           size_t k, size_t from, size_t to) {              \
    size_t i = split_##name(left, m, right, k, from), j = from - i;         \
    for (; from < to && i < m && j < k; from++) {                           \
      const bool take_right = right[j] < left[i];                           \
      out[from] = take_right ? right[j] : left[i];                          \
      j += take_right;                                                      \
      i += !take_right;                                                     \
    }                                                                       \
    for (; from < to && i < m; from++) out[from] = left[i++];               \
    for (; from < to; from++) out[from] = right[j++];                       \
  }
MERGE(words4, tl_word4)
MERGE(words8, tl_key8)

// Runs of m and n - m words of 4 or 8 bytes. Parts [from, to) of one result may
// be made at once: each finds by halving where it begins in both runs.
void tl_merge_keys(size_t itemsize, void *out, const void *runs, size_t m,
                   size_t n, size_t from, size_t to) {
  if (itemsize == 4) {
    const tl_word4 *a = runs;
    merge_words4(out, a, m, a + m, n - m, from, to);
  } else {
    const tl_key8 *a = runs;
    merge_words8(out, a, m, a + m, n - m, from, to);
  }
}

// [runs] has positions whose keys are at the same places of [keys]; the merged
// keys go to [out_keys] where a further merge needs them.
void tl_merge_places(int64_t *out, const int64_t *runs, uint64_t *out_keys,
                     const uint64_t *keys, size_t m, size_t n, size_t from,
                     size_t to) {
  const tl_key8 *left = (const tl_key8 *)keys, *right = left + m;
  const size_t k = n - m, first = from;
  size_t i = split_words8(left, m, right, k, from), j = from - i;
  for (; from < to && i < m && j < k; from++) {
    const bool take_right = right[j] < left[i];
    out[from] = runs[take_right ? m + j : i];
    j += take_right;
    i += !take_right;
  }
  for (; from < to && i < m; from++) out[from] = runs[i++];
  for (; from < to; from++) out[from] = runs[m + j++];
  if (out_keys != NULL)
    merge_words8((tl_key8 *)out_keys, left, m, right, k, first, to);
}
