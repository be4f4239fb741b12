// The allocator's door, counts, death and the pending error.
#include "tests/unit/fixture.h"
#include "vm/interp/catch.h"

static void accounting_is_exact(void **state) {
  tl_vm *vm = *state;
  void *a = tl_alloc(vm, 100, "a block"), *b = tl_alloc(vm, 100000, "a block");
  assert_int_equal(vm->stats.live_bytes, 100100);
  tl_free(vm, a, 100);
  a = tl_alloc(vm, 10, "a block");
  assert_int_equal(vm->stats.live_bytes, 100010);
  assert_int_equal(vm->stats.peak_bytes, 100100);
  b = tl_realloc(vm, b, 100000, 7, "a block");
  assert_int_equal(vm->stats.live_bytes, 17);
  tl_free(vm, a, 10);
  tl_free(vm, b, 7);
  assert_int_equal(vm->stats.live_bytes, 0);
}

static void blocks_are_aligned_and_keep_their_bytes(void **state) {
  tl_vm *vm = *state;
  static const size_t sizes[] = {1,    63,    64,    65,      4000,   8192,
                                 8193, 32767, 32768, 1000000, 5 << 20};
  enum { COUNT = sizeof sizes / sizeof sizes[0] };
  for (int round = 0; round < 3; round++) {
    char *blocks[COUNT];
    for (int i = 0; i < COUNT; i++) {
      blocks[i] = tl_alloc(vm, sizes[i], "a block");
      assert_non_null(blocks[i]);
      assert_int_equal((uintptr_t)blocks[i] % (sizes[i] < 64 ? 16 : 64), 0);
      memset(blocks[i], i + 1, sizes[i]);
    }
    for (int i = 0; i < COUNT; i++) {
      assert_int_equal(blocks[i][0], i + 1);
      assert_int_equal(blocks[i][sizes[i] - 1], i + 1);
      tl_free(vm, blocks[i], sizes[i]);
    }
  }
}

static void zeroed_blocks_are_zero_also_from_the_cache(void **state) {
  tl_vm *vm = *state;
  size_t nbytes = 6 << 20;
  for (int round = 0; round < 3; round++) {
    char *block = tl_alloc_zeroed(vm, nbytes, "a block");
    for (size_t i = 0; i < nbytes; i += 511) assert_int_equal(block[i], 0);
    memset(block, 1, nbytes);
    tl_free(vm, block, nbytes);
  }
}

// A loop whose results are cut to a part of their block needs no more memory
// in each turn.
static void shrinking_leaves_no_pieces(void **state) {
  tl_vm *vm = *state;
  for (int turn = 0; turn < 10000; turn++) {
    size_t nbytes = 8000;
    void *block = tl_alloc(vm, nbytes, "a block");
    block = tl_shrink(vm, block, &nbytes, 1000);
    assert_int_equal(nbytes, 1000);
    tl_free(vm, block, nbytes);
  }
  assert_true(tl_memory_trim(vm) < 1 << 20);
}

// A loop whose results are cut to a half of their block asks the system for no
// pages from its third turn on.
static void pages_of_cut_blocks_are_used_again(void **state) {
  tl_vm *vm = *state;
  enum { WHOLE = 6 << 20, HALF = 3 << 20 };
  for (int turn = 0; turn < 6; turn++) {
    uint64_t hits = vm->stats.cache_hits;
    size_t nbytes = WHOLE;
    char *block = tl_alloc(vm, nbytes, "a block");
    memset(block, turn, nbytes);
    block = tl_shrink(vm, block, &nbytes, HALF);
    assert_int_equal(nbytes, HALF);
    assert_int_equal(block[HALF - 1], turn);
    tl_free(vm, block, nbytes);
    if (vm->memory->cache_count == 0)
      skip();  // under the sanitizers nothing is kept
    assert_true(turn < 2 || vm->stats.cache_hits == hits + 2);
  }
}

static void growing_keeps_the_content(void **state) {
  tl_vm *vm = *state;
  size_t old = 1;
  char *block = tl_alloc(vm, old, "a block");
  block[0] = 42;
  for (size_t nbytes = 2; nbytes < 10 << 20; nbytes = nbytes * 3 / 2 + 1) {
    block = tl_realloc(vm, block, old, nbytes, "a block");
    assert_non_null(block);
    assert_int_equal(block[0], 42);
    old = nbytes;
  }
  tl_free(vm, block, old);
}

static bool is_filled(const char *block, size_t nbytes) {
  for (size_t i = 0; i < nbytes; i++)
    if (block[i] != (char)(i * 7 + i / 4096))
      return false;
  return true;
}

// Blocks of every way that memory comes, to every other size.
static void sizes_change(tl_vm *vm) {
  static const size_t sizes[] = {64,     700,     8000,    9000,    30000,
                                 200000, 2500000, 3000000, 9000000, 9100000};
  enum { COUNT = sizeof sizes / sizeof sizes[0] };
  for (int i = 0; i < COUNT; i++) {
    for (int k = 0; k < COUNT; k++) {
      size_t old = sizes[i], new = sizes[k], least = old < new ? old : new;
      char *block = tl_alloc(vm, old, "a block");
      for (size_t j = 0; j < old; j++) block[j] = (char)(j * 7 + j / 4096);
      vm->stats.peak_bytes = vm->stats.live_bytes;
      block = tl_realloc(vm, block, old, new, "a block");
      assert_non_null(block);
      assert_int_equal((uintptr_t)block % 64, 0);
      assert_true(is_filled(block, least));
      memset(block, 1, new);
      assert_int_equal(vm->stats.live_bytes, new);
      // Both sizes are there at a time where one is small alone.
      if (least > 8192 || (new < old &&old <= 8192))
        assert_int_equal(vm->stats.peak_bytes, old < new ? new : old);
      tl_free(vm, block, new);
      assert_int_equal(vm->stats.live_bytes, 0);
    }
  }
}

static void blocks_change_size_in_place(void **state) {
  sizes_change(*state);
}

static void what_is_behind_is_given_back(void **state) {
  tl_vm *vm = *state;
  size_t nbytes = 8000;
  char *block = tl_alloc(vm, nbytes, "a block");
  assert_ptr_equal(tl_shrink(vm, block, &nbytes, 9000), block);
  assert_int_equal(nbytes, 8000);
  block = tl_shrink(vm, block, &nbytes, 1000);
  assert_int_equal(nbytes, 1000);
  assert_int_equal(vm->stats.live_bytes, 1000);
  tl_free(vm, block, nbytes);
  tl_memory_trim(vm);
  assert_int_equal(vm->stats.live_bytes, 0);
}

static void the_cap_is_exact(void **state) {
  tl_vm *vm = *state;
  vm->options.memory_limit = 1 << 20;
  size_t nbytes = 1 << 20;
  void *block = tl_alloc(vm, nbytes, "a block");
  assert_non_null(block);
  assert_null(tl_alloc(vm, 1, "one byte more"));
  assert_string_equal(failure(vm, TALLY_ERR_MEMORY),
                      "no memory for one byte more: 1 bytes needed, 1.0 MB in "
                      "use, the limit is 1.0 MB");
  tl_error_clear(vm);
  tl_free(vm, block, nbytes);
  // The cached block gives way.
  void *small = tl_alloc(vm, 1000000, "a block");
  void *rest = tl_alloc(vm, nbytes - 1000000, "a block");
  assert_non_null(small);
  assert_non_null(rest);
  assert_false(tl_account_external(vm, vm, 1));
  tl_error_clear(vm);
  tl_free(vm, rest, nbytes - 1000000);
  assert_true(tl_account_external(vm, vm, 40000));
  assert_null(tl_alloc(vm, nbytes - 1000000, "a block"));
  tl_unaccount_external(vm, vm, 40000);
  tl_free(vm, small, 1000000);
}

static void an_allocation_fails_when_asked(void **state) {
  tl_vm *vm = *state;
  tl_memory_fail_at(vm, 2);
  void *a = tl_alloc(vm, 8, "a block");
  assert_non_null(a);
  assert_null(tl_alloc(vm, 8, "the second"));
  assert_int_equal(vm->error.status, TALLY_ERR_MEMORY);
  tl_error_clear(vm);
  void *b = tl_alloc(vm, 8, "a block");
  assert_non_null(b);
  tl_free(vm, a, 8);
  tl_free(vm, b, 8);
}

static void trimming_gives_everything_dead_back(void **state) {
  tl_vm *vm = *state;
  enum { COUNT = 3000 };
  static void *blocks[COUNT];
  for (int i = 0; i < COUNT; i++) blocks[i] = tl_alloc(vm, 640, "a block");
  for (int i = 1; i < COUNT; i++) tl_free(vm, blocks[i], 640);
  void *large = tl_alloc(vm, 1 << 20, "a block");
  tl_free(vm, large, 1 << 20);
  tl_memory_trim(vm);
  assert_int_equal(tl_memory_trim(vm), 0);
  for (int i = 1; i < COUNT; i++) blocks[i] = tl_alloc(vm, 640, "a block");
  for (int i = 0; i < COUNT; i++) tl_free(vm, blocks[i], 640);
}

static void idle_blocks_are_given_back(void **state) {
  tl_vm *vm = *state;
  struct tl_memory *memory = vm->memory;
  tl_memory_trim(vm);
  void *old = tl_alloc(vm, 1 << 20, "a block");
  void *young = tl_alloc(vm, 3 << 20, "a block");
  tl_free(vm, old, 1 << 20);
  tl_free(vm, young, 3 << 20);
  if (memory->cache_count == 0)
    skip();  // under the sanitizers nothing is kept
  assert_int_equal(memory->cache_count, 2);
  tl_memory_rest(vm);
  assert_int_equal(memory->cache_count, 2);
  memory->cache[0].died -= 2 * TL_CACHE_IDLE;
  tl_memory_rest(vm);
  assert_int_equal(memory->cache_count, 1);
  assert_int_equal(memory->cached_bytes, memory->cache[0].capacity);
  assert_ptr_equal(memory->cache[0].block, young);
  // The next block that dies shows out those that waited too long.
  memory->cache[0].died -= 2 * TL_CACHE_IDLE;
  void *next = tl_alloc(vm, 9 << 20, "a block");
  tl_free(vm, next, 9 << 20);
  assert_int_equal(memory->cache_count, 1);
  assert_ptr_equal(memory->cache[0].block, next);
  tl_memory_trim(vm);
  assert_int_equal(memory->cached_bytes, 0);
}

// --- A host's allocator -----------------------------------------------------

typedef struct host {
  size_t bytes, most;
} host;

static void *host_resize(void *context, void *block, size_t old_size,
                         size_t new_size) {
  host *h = context;
  size_t bytes = h->bytes - old_size + new_size;
  if (bytes > h->most)
    return NULL;
  h->bytes = bytes;
  if (new_size != 0)
    return realloc(block, new_size);
  free(block);
  return NULL;
}

// A VM's memory alone, in blocks of the host's.
static tl_vm *open_with(host *h) {
  tl_vm *vm = calloc(1, sizeof *vm);
  assert_non_null(vm);
  vm->options.resize = host_resize;
  vm->options.context = h;
  assert_true(tl_memory_open(vm));
  return vm;
}

static void close_with(tl_vm *vm, const host *h) {
  tl_memory_close(vm);
  assert_int_equal(h->bytes, 0);
  free(vm);
}

static void a_hosts_allocator_gets_true_sizes_back(void **state) {
  (void)state;
  host h = {.most = 64 << 20};
  tl_vm *vm = open_with(&h);
  void *a = tl_alloc(vm, 5, "a block"), *b = tl_alloc(vm, 40 << 20, "a block");
  assert_int_equal((uintptr_t)b % 64, 0);
  tl_free(vm, b, 40 << 20);
  // The host has no room beside the cached block: it is given back first.
  b = tl_alloc(vm, 60 << 20, "a block");
  assert_non_null(b);
  assert_null(tl_alloc(vm, 40 << 20, "a block"));
  tl_error_clear(vm);
  tl_free(vm, a, 5);
  tl_free(vm, b, 60 << 20);
  close_with(vm, &h);
}

static void a_hosts_blocks_change_size(void **state) {
  (void)state;
  host h = {.most = 64 << 20};
  tl_vm *vm = open_with(&h);
  sizes_change(vm);
  // A host that refuses leaves everything as it was.
  size_t nbytes = 1000000;
  char *block = tl_alloc(vm, nbytes, "a block");
  memset(block, 3, nbytes);
  tl_memory_trim(vm);
  h.most = 0;
  assert_null(tl_realloc(vm, block, nbytes, 2 * nbytes, "a block"));
  tl_error_clear(vm);
  assert_ptr_equal(tl_shrink(vm, block, &nbytes, 20000), block);
  assert_int_equal(nbytes, 1000000);
  assert_int_equal(vm->stats.live_bytes, 1000000);
  assert_int_equal(block[999999], 3);
  h.most = 64 << 20;
  tl_free(vm, block, nbytes);
  close_with(vm, &h);
}

// --- Counts and death -------------------------------------------------------

static void counts_go_up_and_down(void **state) {
  tl_vm *vm = *state;
  tl_slot s = text_slot(vm, "text"), again = tl_retain(vm, tl_borrow(s));
  assert_int_equal(s.string->head.count, 2);
  assert_false(tl_is_unique(s));
  tl_drop(vm, again);
  assert_true(tl_is_unique(s));
  tl_drop(vm, tl_borrow(s));
  tl_drop(vm, s);
  assert_int_equal(vm->stats.live, 0);
  assert_int_equal(vm->stats.rc_inc, 1);
  assert_int_equal(vm->stats.rc_dec, 1);
}

static void escape_moves_or_retains(void **state) {
  tl_vm *vm = *state;
  tl_slot s = text_slot(vm, "text");
  tl_slot moved = tl_escape(vm, &s, TL_CAUSE_ITEM);
  assert_false(tl_is_owned(s));
  assert_int_equal(moved.string->head.count, 1);
  tl_slot kept = tl_escape(vm, &s, TL_CAUSE_ITEM);
  assert_int_equal(moved.string->head.count, 2);
  tl_drop(vm, kept);
  tl_drop(vm, moved);
}

static void a_deep_nest_is_freed_without_recursion(void **state) {
  tl_vm *vm = *state;
  tl_slot nest = tl_none();
  for (int i = 0; i < 1000000; i++) {
    tl_slot items[] = {tl_int(i), nest, text_slot(vm, "leaf")};
    nest = list_slot(vm, i % 7 == 0 ? 3 : 2, items);
    tl_drop(vm, items[2]);
  }
  tl_drop(vm, nest);
}

static void a_deep_nest_of_records_is_freed(void **state) {
  tl_vm *vm = *state;
  tl_slot nest = text_slot(vm, "end");
  for (int i = 0; i < 100000; i++) {
    tl_record *record = tl_record_new(vm, 2);
    tl_slot one = tl_int(1);
    assert_true(tl_record_set_name(vm, &record, "first", &one));
    assert_true(tl_record_set_name(vm, &record, "rest", &nest));
    nest = tl_own_record(record);
  }
  tl_drop(vm, nest);
}

static void shared_items_outlive_their_list(void **state) {
  tl_vm *vm = *state;
  tl_slot text = text_slot(vm, "shared"), inner_items[] = {tl_borrow(text)};
  tl_slot inner = list_slot(vm, 1, inner_items);
  tl_slot items[] = {tl_borrow(inner), tl_borrow(inner), tl_borrow(text)};
  tl_slot outer = list_slot(vm, 3, items);
  tl_drop(vm, outer);
  assert_int_equal(inner.list->head.count, 1);
  assert_int_equal(text.string->head.count, 2);
  tl_drop(vm, inner);
  tl_drop(vm, text);
}

// --- Errors -----------------------------------------------------------------

static void the_first_error_wins(void **state) {
  tl_vm *vm = *state;
  assert_false(tl_fail(vm, TALLY_ERR_SHAPE, "%d against %d", 5, 4));
  tl_fail(vm, TALLY_ERR_VALUE, "another");
  assert_string_equal(failure(vm, TALLY_ERR_SHAPE), "5 against 4");
}

static void an_error_becomes_a_record_and_back(void **state) {
  tl_vm *vm = *state;
  tl_fail(vm, TALLY_ERR_DOMAIN, "no root of %d", -1);
  vm->error.line = 3;
  tl_slot caught;
  assert_true(tl_error_take(vm, &caught));
  assert_false(tl_failed(vm));
  tl_slot *message = tl_record_get_name(caught.record, "message");
  assert_string_equal(message->string->text, "no root of -1");
  assert_int_equal(tl_record_get_name(caught.record, "line")->i, 3);
  assert_true(tl_is_list(*tl_record_get_name(caught.record, "trace")));
  assert_false(tl_error_raise(vm, caught));
  assert_string_equal(failure(vm, TALLY_ERR_DOMAIN), "no root of -1");
  assert_int_equal(vm->error.line, 3);
  tl_error_clear(vm);
  tl_drop(vm, caught);
}

static void taking_an_error_survives_each_failure(void **state) {
  tl_vm *vm = *state;
  for (uint64_t n = 1;; n++) {
    tl_fail(vm, TALLY_ERR_DOMAIN, "no root");
    tl_slot caught;
    tl_memory_fail_at(vm, n);
    bool ok = tl_error_take(vm, &caught);
    tl_memory_fail_at(vm, 0);
    if (ok) {
      tl_drop(vm, caught);
      assert_true(n > 3);
      return;
    }
    failure(vm, TALLY_ERR_MEMORY);
    tl_error_clear(vm);
    assert_int_equal(vm->stats.live_bytes, 0);
  }
}

static void a_message_survives_without_memory(void **state) {
  tl_vm *vm = *state;
  tl_memory_fail_at(vm, 1);
  tl_fail(vm, TALLY_ERR_INDEX, "index %d", 7);
  assert_string_equal(failure(vm, TALLY_ERR_INDEX), "index 7");
}

// P8 relies on this counter: it does count.
static void counts_of_immortals_are_noticed(void **state) {
  tl_vm *vm = *state;
  tl_string *s = tl_string_from(vm, "for ever");
  tl_slot slot = tl_own_string(s);
  assert_int_equal(vm->stats.rc_immortal_touched, 0);
  s->head.count = 2;
  s->head.flags |= TL_IMMORTAL;
  tl_drop(vm, slot);
  assert_int_equal(vm->stats.rc_immortal_touched, 1);
  s->head.flags &= (uint8_t)~TL_IMMORTAL;
  tl_drop(vm, slot);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(counts_of_immortals_are_noticed),
      FIXTURE_TEST(accounting_is_exact),
      FIXTURE_TEST(blocks_are_aligned_and_keep_their_bytes),
      FIXTURE_TEST(zeroed_blocks_are_zero_also_from_the_cache),
      FIXTURE_TEST(shrinking_leaves_no_pieces),
      FIXTURE_TEST(pages_of_cut_blocks_are_used_again),
      FIXTURE_TEST(growing_keeps_the_content),
      FIXTURE_TEST(blocks_change_size_in_place),
      FIXTURE_TEST(what_is_behind_is_given_back),
      FIXTURE_TEST(the_cap_is_exact),
      FIXTURE_TEST(an_allocation_fails_when_asked),
      FIXTURE_TEST(trimming_gives_everything_dead_back),
      FIXTURE_TEST(idle_blocks_are_given_back),
      cmocka_unit_test(a_hosts_allocator_gets_true_sizes_back),
      cmocka_unit_test(a_hosts_blocks_change_size),
      FIXTURE_TEST(counts_go_up_and_down),
      FIXTURE_TEST(escape_moves_or_retains),
      FIXTURE_TEST(a_deep_nest_is_freed_without_recursion),
      FIXTURE_TEST(a_deep_nest_of_records_is_freed),
      FIXTURE_TEST(shared_items_outlive_their_list),
      FIXTURE_TEST(the_first_error_wins),
      FIXTURE_TEST(an_error_becomes_a_record_and_back),
      FIXTURE_TEST(taking_an_error_survives_each_failure),
      FIXTURE_TEST(a_message_survives_without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
