// Threads for array work: every chunk runs once, an interrupt stops a job, and
// small work stays on one thread.
#include "tests/unit/host.h"
#include "vm/poll.h"
#include "vm/pool.h"
#include "vm/vm.h"

enum { CHUNKS = 1000 };

static void count(void *context, int64_t chunk) {
  atomic_int *counts = context;
  atomic_fetch_add(&counts[chunk], 1);
}

static void test_each_chunk_once(void **state) {
  (void)state;
  static host h;
  tally_options options = host_options(&h);
  options.threads = 4;
  host_open(&h, &options);
  h.vm->pool.eager = true;
  static atomic_int counts[CHUNKS];
  for (int round = 1; round <= 50; round++) {
    assert_true(tl_pool_run(h.vm, CHUNKS, count, counts, true, 0));
    for (int i = 0; i < CHUNKS; i++) assert_int_equal(counts[i], round);
  }
  assert_int_equal(h.vm->pool.workers, 3);
  host_close(&h);
}

static void test_interrupt_stops(void **state) {
  (void)state;
  static host h;
  tally_options options = host_options(&h);
  options.threads = 2;
  host_open(&h, &options);
  h.vm->pool.eager = true;
  static atomic_int counts[CHUNKS];
  tally_interrupt(h.vm);
  assert_false(tl_pool_run(h.vm, CHUNKS, count, counts, true, 1));
  assert_int_equal(h.vm->error.status, TALLY_ERR_INTERRUPT);
  tl_error_clear(h.vm);
  // A pass that must finish does.
  static atomic_int all[CHUNKS];
  tally_interrupt(h.vm);
  assert_true(tl_pool_run(h.vm, CHUNKS, count, all, false, 1));
  for (int i = 0; i < CHUNKS; i++) assert_int_equal(all[i], 1);
  host_close(&h);
}

// Two long chunks that wait for each other's start, of which that of the caller
// then ends and the worker's goes on until it is stopped, or for ten seconds.
typedef struct long_chunks {
  tl_vm *vm;
  pthread_t caller;
  atomic_int begun;
  bool was_stopped;
} long_chunks;

static void run_long(void *context, int64_t chunk) {
  (void)chunk;
  long_chunks *l = context;
  double begin = tl_clock();
  atomic_fetch_add(&l->begun, 1);
  while (atomic_load(&l->begun) < 2 && tl_clock() - begin < 10) sched_yield();
  if (pthread_equal(l->caller, pthread_self())) {
    tally_interrupt(l->vm);
    return;
  }
  while (!l->was_stopped && tl_clock() - begin < 10)
    l->was_stopped = atomic_load(&l->vm->pool.stopped);
}

static void test_interrupt_while_waiting(void **state) {
  (void)state;
  static host h;
  tally_options options = host_options(&h);
  options.threads = 2;
  host_open(&h, &options);
  h.vm->pool.eager = true;
  long_chunks l = {.vm = h.vm, .caller = pthread_self()};
  assert_false(tl_pool_run(h.vm, 2, run_long, &l, TL_STOPS_WITHIN, 0));
  assert_true(l.was_stopped);
  assert_int_equal(h.vm->error.status, TALLY_ERR_INTERRUPT);
  tl_error_clear(h.vm);
  host_close(&h);
}

static void test_budget_counts_all_threads(void **state) {
  (void)state;
  static host h;
  tally_options options = host_options(&h);
  options.threads = 2;
  options.instruction_limit = 2000;
  host_open(&h, &options);
  h.vm->pool.eager = true;
  static atomic_int counts[CHUNKS];
  tl_poll_begin(h.vm);
  assert_false(tl_pool_run(h.vm, CHUNKS, count, counts, true, 100));
  assert_int_equal(h.vm->error.status, TALLY_ERR_LIMIT);
  tl_error_clear(h.vm);
  host_close(&h);
}

static void test_one_thread_has_no_pool(void **state) {
  (void)state;
  static host h;
  tally_options options = host_options(&h);
  options.threads = 1;
  host_open(&h, &options);
  h.vm->pool.eager = true;
  tally_value value;
  assert_int_equal(tally_eval(h.vm, "sum(arange(1000000) * 2 + 1)", &value),
                   TALLY_OK);
  tally_release(h.vm, value);
  assert_int_equal(h.vm->pool.workers, 0);
  host_close(&h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_chunk_once),
      cmocka_unit_test(test_interrupt_stops),
      cmocka_unit_test(test_interrupt_while_waiting),
      cmocka_unit_test(test_budget_counts_all_threads),
      cmocka_unit_test(test_one_thread_has_no_pool),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
