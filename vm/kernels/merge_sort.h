// A stable merge sort of words, from short runs that insertion puts in order.
// Included once for each order, after
//
//   #define MERGE_SORT merge_sort_values    the function's name
//   #define ITEM uint64_t                   what is moved
//   #define BEFORE(x, y) ((x) < (y))        may look things up in keys
//
// which it undefines. Sorts a[0, n) by way of b[0, n) and returns the one of
// both that the result is in; a stopped sort leaves anything there.

#ifndef MERGE_PIECE
#define MERGE_PIECE (1 << 16)  // items of a side between two polls
#endif

// Insertion makes runs of TL_INSERTION_RUN; then runs are merged in pairs, from
// one buffer to the other, doubling each time. The merge takes without
// branches, as which side is next cannot be foreseen.
static ITEM *MERGE_SORT(ITEM *a, ITEM *b, const uint64_t *keys, size_t n,
                        tl_stop *stop) {
  (void)keys;
  size_t done = 0;  // since the last poll
  for (size_t start = 0; start < n; start += TL_INSERTION_RUN) {
    if ((done += TL_INSERTION_RUN) > MERGE_PIECE) {
      done = 0;
      if (!tl_goes_on(stop))
        return a;
    }
    size_t end = n - start < TL_INSERTION_RUN ? n : start + TL_INSERTION_RUN;
    for (size_t i = start + 1; i < end; i++) {
      const ITEM item = a[i];
      size_t j = i;
      for (; j > start && BEFORE(item, a[j - 1]); j--) a[j] = a[j - 1];
      a[j] = item;
    }
  }
  for (size_t run = TL_INSERTION_RUN; run < n; run *= 2) {
    for (size_t i = 0; i < n; i += 2 * run) {
      const ITEM *left = a + i, *middle = a + (n - i < run ? n : i + run);
      const ITEM *right = middle,
                 *end = a + (n - i < 2 * run ? n : i + 2 * run);
      const bool is_long = (size_t)(end - left) > MERGE_PIECE;
      ITEM *to = b + i;
      // Up to the end of a piece of either side, so that no counter is needed.
      while (left < middle && right < end) {
        const ITEM *pause =
            middle - left > MERGE_PIECE ? left + MERGE_PIECE : middle;
        const ITEM *other =
            end - right > MERGE_PIECE ? right + MERGE_PIECE : end;
        while (left < pause && right < other) {
          // Of equal items the left one, which makes the sort stable.
          const bool take_right = BEFORE(*right, *left);
          *to++ = take_right ? *right : *left;
          right += take_right;
          left += !take_right;
        }
        if (is_long && !tl_goes_on(stop))
          return a;
      }
      while (left < middle) *to++ = *left++;
      while (right < end) *to++ = *right++;
      if ((done += 2 * run) > MERGE_PIECE) {
        done = 0;
        if (!tl_goes_on(stop))
          return a;
      }
    }
    ITEM *other = a;
    a = b;
    b = other;
  }
  return a;
}
#undef MERGE_SORT
#undef ITEM
#undef BEFORE
