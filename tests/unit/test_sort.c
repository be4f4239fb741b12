// Sorts that are stopped, and how they come to memory: what a script cannot
// see. That they sort is what tests/kernels/sorted.tly says.
#include "tests/unit/kernel_items.h"

typedef struct patience {
  int left, asked;
} patience;

static bool lose_patience(void *context) {
  patience *p = context;
  p->asked++;
  return p->left-- == 0;
}

// Stopped at the first question, at the second and so on, a long sort asks no
// more and says so. What it never asked, nobody could stop.
static void stops_where_asked(void **state) {
  (void)state;
  enum { LONG = 300000 };
  static const tl_dtype dtypes[] = {TL_FLOAT64, TL_INT32, TL_COMPLEX64};
  size_t nbytes = 64 + tl_argsort_scratch(TL_COMPLEX64, LONG, false) +
                  tl_sort_scratch(TL_COMPLEX64, LONG);
  char *items = malloc(LONG * 16), *room = aligned_alloc(64, nbytes / 64 * 64);
  char *first = malloc(LONG * 16);
  int64_t *at = malloc(LONG * sizeof *at);
  for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++) {
    for (int argsort = 0; argsort < 2; argsort++) {
      bool done = false;
      int turns = 0;
      fill_random(dtypes[d], first, LONG);  // as often asked each time
      for (; !done; turns++) {
        patience p = {turns, 0};
        tl_stop stop = {lose_patience, &p, false};
        memcpy(items, first, LONG * tl_itemsize(dtypes[d]));
        done = argsort
                   ? tl_argsort(dtypes[d], at, items, LONG, false, room, &stop)
                   : tl_sort(dtypes[d], items, LONG, false, room, &stop);
        assert_int_equal(p.asked, done ? turns : turns + 1);
        assert_int_equal(stop.stopped, !done);
      }
      assert_true(turns > 4);
    }
  }
  free(items);
  free(first);
  free(room);
  free(at);
}

// Memory whose pages the system has still to give: it is known what was in
// them.
enum { FRESH = 0x5c, PAGE = 4096 };

typedef struct fresh_block {
  unsigned char *bytes;
  size_t nbytes;
} fresh_block;

typedef struct pages {
  fresh_block blocks[2];
  size_t written, most;  // up to the last question; most between two
} pages;

static bool is_fresh(const unsigned char *page) {
  for (int i = 0; i < PAGE; i++) {
    if (page[i] != FRESH)
      return false;
  }
  return true;
}

static bool count_pages(void *context) {
  pages *p = context;
  size_t written = 0;
  for (int b = 0; b < 2; b++)
    for (size_t at = 0; at + PAGE <= p->blocks[b].nbytes; at += PAGE)
      written += !is_fresh(p->blocks[b].bytes + at);
  p->most = p->most < written - p->written ? written - p->written : p->most;
  p->written = written;
  return false;
}

// The pages that a sort writes to first, which the system has to find, come a
// few between two questions, though the items of a pass go anywhere.
static void new_pages_come_a_few_at_a_time(void **state) {
  (void)state;
  enum { LONG = 600000, PIECE = (1 << 17) * 8 / PAGE };
  static const tl_dtype dtypes[] = {TL_FLOAT64, TL_INT64, TL_UINT16};
  pages p = {
      {{NULL, LONG * 8}, {NULL, tl_argsort_scratch(TL_INT64, LONG, false)}},
      0,
      0};
  char *items = malloc(LONG * 8);
  for (int b = 0; b < 2; b++)
    p.blocks[b].bytes =
        aligned_alloc(PAGE, (p.blocks[b].nbytes / PAGE + 1) * PAGE);
  for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++) {
    for (int argsort = 0; argsort < 2; argsort++) {
      tl_stop stop = {count_pages, &p, false};
      fill_random(dtypes[d], items, LONG);
      for (int b = 0; b < 2; b++)
        memset(p.blocks[b].bytes, FRESH, p.blocks[b].nbytes);
      p.written = p.most = 0;
      assert_true(
          argsort ? tl_argsort(dtypes[d], (int64_t *)(void *)p.blocks[0].bytes,
                               items, LONG, false, p.blocks[1].bytes, &stop)
                  : tl_sort(dtypes[d], items, LONG, false, p.blocks[1].bytes,
                            &stop));
      assert_true(p.written * PAGE >= LONG * tl_itemsize(dtypes[d]) * 9 / 10);
      assert_in_range(p.most, 1, PIECE + 100);
    }
  }
  free(items);
  free(p.blocks[0].bytes);
  free(p.blocks[1].bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stops_where_asked),
      cmocka_unit_test(new_pages_come_a_few_at_a_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
