// The compiler's memory: what grows keeps its items and harms nobody else's.

#include <stdlib.h>
#include <string.h>

#include "compiler/lower.h"
#include "tests/unit/fixture.h"
#include "vm/bytecode/module.h"

typedef struct heap {
  size_t live;    // bytes
  int allowance;  // requests that are granted; -1: all
} heap;

static void *resize(void *context, void *block, size_t old_size,
                    size_t new_size) {
  heap *h = context;
  if (new_size == 0) {
    free(block);
    h->live -= old_size;
    return NULL;
  }
  if (h->allowance == 0)
    return NULL;
  h->allowance -= h->allowance > 0;
  void *moved = realloc(block, new_size);
  assert_non_null(moved);
  h->live += new_size - old_size;
  return moved;
}

static void fill(uint32_t *items, size_t from, size_t to, uint32_t seed) {
  for (size_t i = from; i < to; i++) items[i] = seed + (uint32_t)i;
}

static void check(const uint32_t *items, size_t count, uint32_t seed) {
  for (size_t i = 0; i < count; i++)
    assert_int_equal(items[i], seed + (uint32_t)i);
}

// Two arrays that grow in turn, and small pieces between.
static void test_growing(void **state) {
  (void)state;
  heap h = {.live = 0, .allowance = -1};
  tl_arena arena;
  tl_arena_open(&arena, resize, &h);
  uint32_t *a = NULL, *b = NULL;
  unsigned char *pieces[20];
  size_t count = 0;
  for (uint32_t turn = 0; turn < 20; turn++) {
    size_t more = count * 2 + 3, nbytes = more * sizeof *a;
    a = tl_arena_grow(&arena, a, count * sizeof *a, nbytes);
    b = tl_arena_grow(&arena, b, count * sizeof *b, nbytes);
    pieces[turn] = tl_arena_alloc(&arena, 24);
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(pieces[turn]);
    for (int i = 0; i < 24; i++) assert_int_equal(pieces[turn][i], 0);
    memset(pieces[turn], (int)turn + 1, 24);
    check(a, count, 1);
    check(b, count, 7);
    fill(a, count, more, 1);
    fill(b, count, more, 7);
    count = more;
  }
  check(a, count, 1);
  check(b, count, 7);
  for (int turn = 0; turn < 20; turn++) {
    for (int i = 0; i < 24; i++) assert_int_equal(pieces[turn][i], turn + 1);
  }
  // The large ones have given back what they were before.
  assert_true(h.live < 3 * count * sizeof *a);
  tl_arena_close(&arena);
  assert_int_equal(h.live, 0);
}

// Refused memory leaves the items where they are.
static void test_refused(void **state) {
  (void)state;
  for (size_t count = 16; count <= 65536; count *= 16) {
    heap h = {.live = 0, .allowance = -1};
    tl_arena arena;
    tl_arena_open(&arena, resize, &h);
    assert_non_null(tl_arena_alloc(&arena, 1));
    uint32_t *a = tl_arena_grow(&arena, NULL, 0, count * sizeof *a);
    assert_non_null(a);
    fill(a, 0, count, 3);
    h.allowance = 0;
    assert_null(tl_arena_grow(&arena, a, count * sizeof *a, (size_t)8 << 20));
    assert_true(arena.failed);
    check(a, count, 3);
    tl_arena_close(&arena);
    assert_int_equal(h.live, 0);
  }
}

// A list that grows item by item; without memory it is as it was.
static void test_one_more(void **state) {
  (void)state;
  heap h = {.live = 0, .allowance = -1};
  tl_arena arena;
  tl_arena_open(&arena, resize, &h);
  uint32_t *items = NULL, capacity = 0, count = 0;
  while (count < 100000) {
    assert_true(tl_arena_more(&arena, &items, &capacity, count, sizeof *items));
    assert_true(count < capacity);
    items[count] = 5 + count;
    count++;
  }
  check(items, count, 5);
  h.allowance = 0;
  uint32_t *before = items, room = capacity;
  // There is room until the list is full.
  assert_true(
      tl_arena_more(&arena, &items, &capacity, room - 1, sizeof *items));
  assert_false(tl_arena_more(&arena, &items, &capacity, room, sizeof *items));
  assert_true(items == before && capacity == room && arena.failed);
  check(items, count, 5);
  tl_arena_close(&arena);
  assert_int_equal(h.live, 0);
}

// What fills in a path asks for its steps, whichever memory is short.
static void test_path_without_memory(void **state) {
  tl_vm *vm = *state;
  tl_module *module = tl_module_new(vm, "m", "");
  tl_unit *unit = tl_unit_new(vm, module, "m", "", 0);
  assert_non_null(unit);
  heap h = {.allowance = 0};
  tl_arena arena;
  tl_arena_open(&arena, resize, &h);
  tl_builder builder = {.vm = vm, .arena = &arena, .unit = unit};
  tl_step step, *steps = &step;
  assert_int_equal(tl_unit_path(&builder, 1, &steps), 0);
  assert_null(steps);
  tl_modules_close(vm);  // with its unit
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_growing),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_one_more),
      FIXTURE_TEST(test_path_without_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
