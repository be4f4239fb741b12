// The library's functions that give a dying array back where they lack memory.
#include "tests/unit/fixture.h"

#include "vm/array/array.h"
#include "stdlib/families.h"
#include "vm/builtin.h"

enum { MOST = 4 };

// The arguments of a call; those left out take their defaults.
typedef struct arguments {
  tl_slot slots[MOST];
} arguments;

static arguments args2(tl_slot a, tl_slot b) {
  return (arguments){{a, b, tl_unset(), tl_unset()}};
}

static arguments args1(tl_slot a) {
  return args2(a, tl_unset());
}

static arguments args3(tl_slot a, tl_slot b, tl_slot c) {
  return (arguments){{a, b, c, tl_unset()}};
}

// An array of [dtype] with [columns] items in each of two rows, or in one.
static tl_array *some_items(tl_vm *vm, tl_dtype dtype, int ndim,
                            int64_t columns) {
  int64_t shape[] = {2, columns};
  tl_array *a = tl_array_zeros(vm, dtype, ndim, ndim == 2 ? shape : shape + 1);
  assert_non_null(a);
  size_t nbytes = tl_itemsize(dtype) * (size_t)a->size;
  for (size_t i = 0; i < nbytes; i += tl_itemsize(dtype))
    a->data[i] = dtype == TL_BOOL ? (char)(i % 3 == 0) : (char)(i % 61);
  return a;
}

// Fails each request for memory in turn: a dying array must come back as it
// was from a function that restores it, where the VM asked for that.
static void gives_back(tl_vm *vm, const char *name, const arguments *more,
                       tl_dtype dtype, int ndim, int64_t columns) {
  for (uint64_t n = 1;; n++) {
    tl_array *a = some_items(vm, dtype, ndim, columns);
    tl_array *same = some_items(vm, dtype, ndim, columns);
    const tl_builtin *builtin =
        tl_builtin_find(&tl_standard_library, NULL, name, strlen(name));
    tl_param params[TL_MAX_PARAMS];
    int count = tl_params_parse(builtin->params, params);
    tl_slot slots[TL_MAX_PARAMS] = {tl_own_array(a)}, out;
    for (int i = 1; i < count; i++) {
      bool given = i < MOST && !tl_is_unset(more->slots[i]);
      slots[i] = given ? more->slots[i] : params[i].value;
    }
    assert_true(tl_builtin_restores(builtin));
    vm->keeping = true;
    tl_memory_fail_at(vm, n);
    bool ok = tl_builtin_run(vm, builtin, slots, &out);
    tl_memory_fail_at(vm, 0);
    vm->keeping = false;
    bool refused = !ok && vm->error.status != TALLY_ERR_MEMORY;
    assert_int_equal(vm->error.set, !ok);
    tl_error_clear(vm);
    if (!ok) {
      assert_true(tl_is_unique(slots[0]));
      assert_ptr_equal(slots[0].array, a);
      assert_int_equal(tl_array_dtype(a), dtype);
      assert_int_equal(tl_ndim(a), ndim);
      assert_int_equal(a->size, same->size);
      assert_memory_equal(a->data, same->data,
                          tl_itemsize(dtype) * (size_t)a->size);
    }
    for (int i = 0; i < count; i++) tl_drop(vm, slots[i]);
    if (ok)
      tl_drop(vm, out);
    tl_drop(vm, tl_own_array(same));
    assert_int_equal(vm->stats.live_bytes, 0);
    if (ok || refused)
      return;
  }
}

static void what_lacks_memory_gives_a_dying_array_back(void **state) {
  tl_vm *vm = *state;
  const tl_slot none = tl_unset(), one = tl_weak_int(1), two = tl_weak_int(2);
  const struct {
    const char *name;
    arguments more;
  } calls[] = {
      {"roll", args3(none, one, none)},
      {"roll", args3(none, one, tl_weak_int(0))},
      {"diff", args1(none)},
      {"diff", args2(none, tl_weak_int(0))},
      {"diff", args3(none, tl_weak_int(-1), two)},
      {"clip", args3(none, one, two)},
      {"clip", args3(none, tl_none(), one)},
      {"copy", args1(none)},
      {"int", args1(none)},
      {"float", args1(none)},
      {"cumulative_sum", args2(none, tl_weak_int(0))},
      {"cumulative_max", args2(none, tl_weak_int(0))},
      {"tril", args1(none)},
      {"triu", args2(none, one)},
      {"zeros_like", args1(none)},
      {"full_like", args2(none, one)},
      {"digitize", args2(none, two)},
      {"interp", args3(none, two, one)},
  };
  static const tl_dtype dtypes[] = {TL_BOOL,    TL_INT8,    TL_INT64,
                                    TL_FLOAT32, TL_FLOAT64, TL_COMPLEX128};
  for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++)
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++)
      for (int ndim = 1; ndim <= 2; ndim++)
        for (int64_t columns = 3; columns < 10000; columns *= 50)
          gives_back(vm, calls[k].name, &calls[k].more, dtypes[d], ndim,
                     columns);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(what_lacks_memory_gives_a_dying_array_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
