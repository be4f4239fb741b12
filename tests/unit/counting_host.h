// What tests/counting/hosted.txt asks of its host: values with a release hook,
// a callback that is kept, and a count that is full.
#ifndef TALLY_TESTS_COUNTING_HOST_H
#define TALLY_TESTS_COUNTING_HOST_H

#include <stdio.h>

#include "tests/unit/host.h"
#include "vm/api/api.h"

// One at a time, as the tests run.
static struct counting_host {
  char log[256];  // names in the order of their end
  int things;     // alive
  tally_value callback;
  bool has_callback;
} counting_host;

// --- T(name), T + T, t.name, released() --------------------------------------

typedef struct thing {
  char name[16];
} thing;

static void thing_ends(void *context, void *object) {
  (void)context;
  size_t used = strlen(counting_host.log);
  snprintf(counting_host.log + used, sizeof counting_host.log - used, "%s ",
           ((thing *)object)->name);
  counting_host.things--;
  free(object);
}

static tally_status thing_attribute(tally_vm *vm, void *context, void *object,
                                    const char *name, tally_value *out) {
  (void)context;
  const char *text = ((thing *)object)->name;
  return strcmp(name, "name") != 0
             ? TALLY_OK
             : tally_from_string(vm, text, strlen(text), out);
}

static tally_status thing_operate(tally_vm *vm, void *context, const char *op,
                                  size_t count, const tally_value *operands,
                                  tally_value *out);

static const tally_resource thing_type = {.size = sizeof thing_type,
                                          .name = "thing",
                                          .release = thing_ends,
                                          .attribute = thing_attribute,
                                          .operate = thing_operate};

static tally_status make_thing(tally_vm *vm, const char *name,
                               tally_value *out) {
  thing *t = calloc(1, sizeof *t);
  if (t == NULL)
    return TALLY_ERR_MEMORY;
  snprintf(t->name, sizeof t->name, "%s", name);
  tally_status status = tally_from_resource(vm, &thing_type, t, out);
  if (status == TALLY_OK)
    counting_host.things++;
  else
    free(t);
  return status;
}

static tally_status thing_operate(tally_vm *vm, void *context, const char *op,
                                  size_t count, const tally_value *operands,
                                  tally_value *out) {
  (void)context;
  char name[32] = "";
  if (strcmp(op, "+") != 0)
    return TALLY_OK;
  for (size_t i = 0; i < count; i++) {
    void *object;
    tally_status status =
        tally_to_resource(vm, operands[i], &thing_type, &object);
    if (status != TALLY_OK)
      return status;
    strcat(name, ((thing *)object)->name);
  }
  return make_thing(vm, name, out);
}

static tally_status new_thing(tally_vm *vm, void *context, size_t count,
                              const tally_value *args, tally_value *out) {
  (void)context, (void)count;
  const char *name;
  tally_status status = tally_to_string(vm, args[0], &name, NULL);
  return status != TALLY_OK ? status : make_thing(vm, name, out);
}

static tally_status released(tally_vm *vm, void *context, size_t count,
                             const tally_value *args, tally_value *out) {
  (void)context, (void)count, (void)args;
  tally_status status =
      tally_from_string(vm, counting_host.log, strlen(counting_host.log), out);
  counting_host.log[0] = 0;
  return status;
}

// --- give(f), fire(), let_go() ----------------------------------------------

static tally_status how_many(tally_vm *vm, tally_value *out) {
  return tally_from_int(vm, counting_host.has_callback, out);
}

static void forget_callback(tally_vm *vm) {
  if (counting_host.has_callback)
    tally_release(vm, counting_host.callback);
  counting_host.has_callback = false;
}

static tally_status give(tally_vm *vm, void *context, size_t count,
                         const tally_value *args, tally_value *out) {
  (void)context, (void)count;
  forget_callback(vm);
  counting_host.callback = tally_retain(vm, args[0]);
  counting_host.has_callback = true;
  return how_many(vm, out);
}

static tally_status fire(tally_vm *vm, void *context, size_t count,
                         const tally_value *args, tally_value *out) {
  (void)context, (void)count, (void)args;
  return tally_apply(vm, counting_host.callback, 0, NULL, out);
}

static tally_status let_go(tally_vm *vm, void *context, size_t count,
                           const tally_value *args, tally_value *out) {
  (void)context, (void)count, (void)args;
  forget_callback(vm);
  return how_many(vm, out);
}

// --- crowd(x) ----------------------------------------------------------------

// Whether an array's count stays where it is once it is full.
static tally_status crowd(tally_vm *vm, void *context, size_t count,
                          const tally_value *args, tally_value *out) {
  (void)context, (void)count;
  tl_slot x;
  if (!tl_handle_get(vm, args[0], &x))
    return TALLY_ERR_TYPE;
  uint32_t before = x.object->count;
  tl_slot owned = x;
  owned.tag |= TL_OWNED;
  x.object->count = UINT32_MAX - 1;
  tl_retain(vm, x);
  tl_retain(vm, x);
  bool full = x.object->count == UINT32_MAX;
  for (int i = 0; i < 5; i++) tl_drop(vm, owned);
  full = full && x.object->count == UINT32_MAX;
  x.object->count = before;
  return tally_from_bool(vm, full, out);
}

// --- Opening ----------------------------------------------------------------

static void counting_host_open(host *h) {
  static const tally_native functions[] = {
      {.name = "T", .params = "name", .call = new_thing},
      {.name = "released", .params = "", .call = released},
      {.name = "give", .params = "f", .call = give},
      {.name = "fire", .params = "", .call = fire},
      {.name = "let_go", .params = "", .call = let_go},
      {.name = "crowd", .params = "x", .call = crowd},
  };
  const tally_module module = {
      .size = sizeof module,
      .functions = functions,
      .function_count = sizeof functions / sizeof *functions,
      .function_size = sizeof *functions};
  assert_int_equal(tally_add_module(h->vm, &module), TALLY_OK);
}

// What a case that failed midway has left with the host.
static void counting_host_rest(host *h) {
  forget_callback(h->vm);
  counting_host.log[0] = 0;
}

#endif
