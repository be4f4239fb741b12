// Folds of parts that are merged, as threads do it, and of pieces of any length
// have the bits of the fold of all. What that is, tests/kernels says.
#include "tests/unit/kernel_items.h"

enum { MOST = 5000 };

static _Alignas(64) unsigned char items[MOST * 16];

static item fold_all(const tl_kernel_table *table, tl_fold kind, tl_dtype dtype,
                     size_t n) {
  tl_fold_state state;
  item x = {{0}};
  tl_fold_begin(&state);
  table->fold_feed[kind][dtype](&state, items, n);
  table->fold_end[kind][dtype](&state, &x);
  return x;
}

// In parts of two leaves, which are merged; each comes in pieces of any length.
static item fold_parts(const tl_kernel_table *table, tl_fold kind,
                       tl_dtype dtype, size_t n) {
  const size_t itemsize = tl_itemsize(dtype);
  tl_fold_state all, part;
  item x = {{0}};
  tl_fold_begin(&all);
  for (size_t i = 0; i < n;) {
    const size_t end = n - i < 2 * TL_FOLD_LEAF ? n : i + 2 * TL_FOLD_LEAF;
    tl_fold_begin(&part);
    while (i < end) {
      size_t piece = random_bits() % 700;
      piece = piece < end - i ? piece : end - i;
      table->fold_feed[kind][dtype](&part, items + i * itemsize, piece);
      i += piece;
    }
    table->fold_merge[kind][dtype](&all, &part);
  }
  table->fold_end[kind][dtype](&all, &x);
  return x;
}

static void parts_have_the_bits_of_all(void **state) {
  (void)state;
  const tl_kernel_table *tables[3];
  const int count = kernel_tables(tables);
  for (int t = 0; t < count; t++) {
    for (tl_fold kind = 0; kind < TL_FOLD_KINDS; kind++) {
      for (tl_dtype dtype = 0; dtype < TL_STRING; dtype++) {
        if (tables[t]->fold_feed[kind][dtype] == NULL)
          continue;
        for (int round = 0; round < 60; round++) {
          const size_t n =
              round < 30 ? (size_t)round + 1 : 1 + random_bits() % MOST;
          fill_random(dtype, items, n);
          assert_true(same_items(tl_fold_result(kind, dtype),
                                 fold_all(tables[t], kind, dtype, n),
                                 fold_parts(tables[t], kind, dtype, n), 0));
        }
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_have_the_bits_of_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
