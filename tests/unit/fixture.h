// A VM set up by hand, for tests of the layers below the interpreter: memory
// and the pending error, no stack, no code.
#ifndef TALLY_TESTS_UNIT_FIXTURE_H
#define TALLY_TESTS_UNIT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stdlib/families.h"
#include "vm/api/open.h"
#include "vm/memory/memory_internal.h"
#include "vm/pool.h"
#include "vm/values/list.h"
#include "vm/values/record.h"
#include "vm/vm.h"

static inline tl_vm *fixture_open(void) {
  tl_vm *vm = calloc(1, sizeof *vm);
  assert_non_null(vm);
  tl_vm_bind(vm, &tl_standard_library);
  vm->options.capabilities = TALLY_MAY_ALL;
  vm->budget = UINT64_MAX;
  vm->args = tl_none();
  vm->decimals = 6;
  assert_true(tl_memory_open(vm));
  tl_pool_open(vm);
  return vm;
}

// Fails where something is left alive.
static inline void fixture_close(tl_vm *vm) {
  tl_pool_close(vm);  // a slow machine may have taken threads
  tl_error_clear(vm);
  assert_int_equal(vm->stats.live, 0);
  assert_int_equal(vm->stats.live_bytes, 0);
  tl_memory_close(vm);
  free(vm);
}

static inline int fixture_setup(void **state) {
  *state = fixture_open();
  return 0;
}

static inline int fixture_teardown(void **state) {
  fixture_close(*state);
  return 0;
}

#define FIXTURE_TEST(name) \
  cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

static inline tl_slot text_slot(tl_vm *vm, const char *text) {
  tl_string *string = tl_string_from(vm, text);
  assert_non_null(string);
  return tl_own_string(string);
}

// A list that takes the items.
static inline tl_slot list_slot(tl_vm *vm, int count, tl_slot *items) {
  tl_list *list = tl_list_new(vm, 0);
  assert_non_null(list);
  for (int i = 0; i < count; i++)
    assert_true(tl_list_push(vm, &list, &items[i]));
  return tl_own_list(list);
}

// The pending error's message, which must be of this kind.
static inline const char *failure(tl_vm *vm, tally_status kind) {
  assert_true(vm->error.set);
  assert_int_equal(vm->error.status, kind);
  return vm->error.message;
}

#endif
