// The functions and the type: see host.h.
#include "tests/fuzz/host.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/writer.h"

static tally_status same_of(tally_vm *vm, void *context, size_t count,
                            const tally_value *args, tally_value *out) {
  (void)context, (void)count;
  *out = tally_retain(vm, args[0]);
  return TALLY_OK;
}

// Its argument is its own: gives it on, and now and then a copy in a list.
static tally_status taken(tally_vm *vm, void *context, size_t count,
                          const tally_value *args, tally_value *out) {
  (void)vm, (void)context, (void)count;
  *out = args[0];
  return TALLY_OK;
}

static tally_status maybe(tally_vm *vm, void *context, size_t count,
                          const tally_value *args, tally_value *out) {
  fuzz_host *host = context;
  (void)count;
  if (++host->calls % 5 == 0)
    return tally_raise(vm, TALLY_ERR_VALUE, "maybe");
  *out = tally_retain(vm, args[0]);
  return TALLY_OK;
}

// Holds on to each argument until the next comes, and gives the one before.
static tally_status kept(tally_vm *vm, void *context, size_t count,
                         const tally_value *args, tally_value *out) {
  fuzz_host *host = context;
  (void)count;
  tally_value mine = tally_retain(vm, args[0]);
  *out = host->has_kept ? host->kept : tally_retain(vm, args[0]);
  host->kept = mine;
  host->has_kept = true;
  return TALLY_OK;
}

static tally_status twice_over(tally_vm *vm, void *context, size_t count,
                               const tally_value *args, tally_value *out) {
  (void)context, (void)count;
  tally_value once;
  tally_status status = tally_apply(vm, args[0], 1, &args[1], &once);
  if (status != TALLY_OK)
    return status;
  tally_value given = tally_take(once);
  return tally_apply(vm, args[0], 1, &given, out);
}

static tally_status set_g(tally_vm *vm, void *context, size_t count,
                          const tally_value *args, tally_value *out) {
  (void)context, (void)count;
  tally_status status = tally_set_global(vm, "g", args[0]);
  if (status == TALLY_OK)
    *out = tally_retain(vm, args[0]);
  return status;
}

static void blend(void *context, size_t n, const void *const *inputs,
                  const ptrdiff_t *steps, void *output) {
  (void)context;
  const char *x = inputs[0], *y = inputs[1];
  double *to = output;
  for (size_t i = 0; i < n; i++, x += steps[0], y += steps[1]) {
    double a, b;
    memcpy(&a, x, sizeof a);
    memcpy(&b, y, sizeof b);
    to[i] = a * 0.5 + b;
  }
}

// --- Tokens hold a value ----------------------------------------------------

typedef struct token {
  fuzz_host *host;
  tally_value held;
} token;

static void let_go(void *context, void *object) {
  token *t = object;
  (void)context;
  tally_release(t->host->vm, t->held);
  t->host->tokens--;
  free(t);
}

static tally_status attribute(tally_vm *vm, void *context, void *object,
                              const char *name, tally_value *out) {
  (void)context;
  if (strcmp(name, "held") == 0)
    *out = tally_retain(vm, ((token *)object)->held);
  return TALLY_OK;
}

static const tally_resource token_type = {.size = sizeof token_type,
                                          .name = "token",
                                          .release = let_go,
                                          .attribute = attribute};

static tally_status make_token(fuzz_host *host, tally_vm *vm, tally_value held,
                               tally_value *out) {
  token *t = malloc(sizeof *t);
  if (t == NULL)
    return TALLY_ERR_MEMORY;
  *t = (token){host, tally_retain(vm, held)};
  tally_status status = tally_from_resource(vm, &token_type, t, out);
  if (status == TALLY_OK) {
    host->tokens++;
    return status;
  }
  tally_release(vm, t->held);
  free(t);
  return status;
}

static tally_status new_token(tally_vm *vm, void *context, size_t count,
                              const tally_value *args, tally_value *out) {
  (void)count;
  return make_token(context, vm, args[0], out);
}

// Of two tokens, which are its own then.
static tally_status merge(tally_vm *vm, void *context, size_t count,
                          const tally_value *args, tally_value *out) {
  void *first, *second;
  tally_status status = tally_to_resource(vm, args[0], &token_type, &first);
  if (status == TALLY_OK)
    status = tally_to_resource(vm, args[1], &token_type, &second);
  if (status == TALLY_OK)
    status = make_token(context, vm, ((token *)first)->held, out);
  for (size_t i = 0; i < count; i++) tally_release(vm, args[i]);
  return status;
}

// --- Opening ----------------------------------------------------------------

bool fuzz_host_open(fuzz_host *host, tally_vm *vm) {
  *host = (fuzz_host){.vm = vm};
  const tally_native functions[] = {
      {.name = "same_of", .params = "x", .call = same_of},
      {.name = "taken", .params = "x", .call = taken, .takes = 1},
      {.name = "maybe", .params = "x", .call = maybe},
      {.name = "kept", .params = "x", .call = kept},
      {.name = "twice_over", .params = "f, x", .call = twice_over},
      {.name = "set_g", .params = "x", .call = set_g},
      {.name = "token", .params = "x", .call = new_token},
      {.name = "merge", .params = "x, y", .call = merge, .takes = 3},
      {.name = "blend",
       .params = "x, y",
       .signature = "(float64, float64) -> float64",
       .loop = blend},
  };
  enum { COUNT = sizeof functions / sizeof *functions };
  tally_native with_context[COUNT];
  for (int i = 0; i < COUNT; i++) {
    with_context[i] = functions[i];
    with_context[i].context = host;
  }
  const tally_module module = {.size = sizeof module,
                               .functions = with_context,
                               .function_count = COUNT,
                               .function_size = sizeof *with_context};
  return tally_add_module(vm, &module) == TALLY_OK;
}

void fuzz_host_close(fuzz_host *host) {
  if (host->has_kept)
    tally_release(host->vm, host->kept);
  host->has_kept = false;
}

int fuzz_host_load(void *(*resize)(void *context, void *block, size_t old_size,
                                   size_t new_size),
                   void *context, const char *name, char **text,
                   size_t *nbytes) {
  if (strcmp(name, "aside.tly") != 0)
    return 1;
  *nbytes = strlen(tl_aside_module);
  *text = resize(context, NULL, 0, *nbytes);
  if (*text == NULL)
    return 1;
  memcpy(*text, tl_aside_module, *nbytes);
  return 0;
}
