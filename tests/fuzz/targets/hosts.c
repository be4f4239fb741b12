// Sequences of calls of tally.h, as a host makes them: each byte chooses the
// next, and what follows it the handles and numbers that it is given. Handles
// may be released already; two VMs send each other values.
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/host.h"
#include "tests/fuzz/targets/targets.h"

enum { HANDLES = 8 };

typedef struct state {
  tally_vm *vm;
  const uint8_t *at, *end;
  tally_value handles[HANDLES];
} state;

static uint8_t next(state *s) {
  return s->at < s->end ? *s->at++ : 0;
}
static tally_value *handle(state *s) {
  return &s->handles[next(s) % HANDLES];
}

// A value comes into a handle, whose old one is given back.
static void put(state *s, tally_status status, tally_value v) {
  if (status != TALLY_OK)
    return;
  tally_value *to = handle(s);
  tally_release(s->vm, *to);
  *to = v;
}

// As it is, or as one that is given away.
static tally_value given(state *s) {
  uint8_t which = next(s);
  tally_value v = s->handles[which % HANDLES];
  return which & 0x80 ? tally_take(v) : v;
}

static const char *const sources[] = {
    "x = arange(2000) * 0.5; x + 1",
    "x[0] = 7; x",
    "(1, \"a\", [1.5, 2])",
    "(a: 1, b: [[1], []])",
    "fn f(v) { v[0] = 1; v }",
    "fn g(v) = (v, v)",
    "v => v + 1",
    "x + ",
    "error(\"no\")",
    "[1, none, 3]",
    "categorical([\"b\", \"a\"])",
    "y = x[::2]; y",
    "[(x: 1, y: 2.0)]",
    "same_of(x)",
    "kept(x)",
    "token(x)",
    "maybe(1)",
    "g(x)[0]",
    "for i in 0..100 { x = x + 1 }",
    "reshape(arange(6), (2, 3)).T",
    "while true { }",
};
static const char *const names[] = {"x",   "y",       "f",         "g",
                                    "sum", "print",   "é",         "\xff",
                                    "",    "same_of", "twice_over"};
static const char *const types[] = {
    "float64",  "3 * float64", "2 * 3 * int32", "4 * {a: int8, b: float64}",
    "0 * int8", "var * int8",  "string",        "5 * uint8",
    "("};
#define ONE(list) (list)[next(s) % (sizeof(list) / sizeof *(list))]

static void let_go(void *context, void *data) {
  (void)context;
  free(data);
}

// A block of the host's, with strides that may lead out of it.
static void from_buffer(state *s) {
  enum { NBYTES = 96 };
  int64_t strides[4];
  for (int i = 0; i < 4; i++) strides[i] = 8 * (int8_t)next(s);
  uint8_t how = next(s);
  char *data = calloc(1, NBYTES);
  tally_buffer buffer = {.size = sizeof buffer,
                         .data = data,
                         .type = ONE(types),
                         .strides = how & 1 ? strides : NULL,
                         .read_only = how >> 1 & 1,
                         .nbytes = how & 4 ? NBYTES : how,
                         .release = let_go};
  if (buffer.nbytes > NBYTES)
    buffer.nbytes = NBYTES;
  tally_value out;
  if (data == NULL || tally_from_buffer(s->vm, &buffer, &out) != TALLY_OK) {
    free(data);
    return;
  }
  put(s, TALLY_OK, out);
}

// Each item that an array says it has is read.
static void to_buffer(state *s) {
  tally_array about;
  tally_value v = *handle(s);
  if (tally_to_buffer(s->vm, v, &about) != TALLY_OK || about.size == 0 ||
      strcmp(about.dtype, "float64") != 0)
    return;
  const char *at = about.data;
  double sum = 0;
  for (int i = 0; i < about.ndim; i++) {
    double x;
    memcpy(&x, at, sizeof x);
    sum += x;
    at += (about.shape[i] - 1) * about.strides[i];
  }
  double last;
  memcpy(&last, at, sizeof last);
}

static void send(state *s) {
  tally_parcel *parcel;
  tally_value v = given(s), out;
  if (tally_send(s->vm, tally_retain(s->vm, v), &parcel) != TALLY_OK)
    return;
  if (next(s) & 1)
    tally_free_parcel(parcel);
  else
    put(s, tally_receive(s->vm, parcel, &out), out);
}

static void make(state *s) {
  tally_value items[3] = {given(s), given(s), given(s)}, out = {0};
  static const char *const keys[] = {"a", "b", "a"};
  size_t n = next(s) % 4;
  if (next(s) & 1)
    put(s, tally_from_list(s->vm, n, items, &out), out);
  else
    put(s, tally_from_record(s->vm, n, keys, items, &out), out);
}

static void look(state *s) {
  tally_value v = *handle(s), out = {0};
  const char *text;
  size_t n;
  int b;
  int64_t i;
  double x, y;
  tally_to_bool(s->vm, v, &b);
  tally_to_int(s->vm, v, &i);
  tally_to_float(s->vm, v, &x);
  tally_to_complex(s->vm, v, &x, &y);
  if (tally_to_string(s->vm, v, &text, &n) == TALLY_OK && text[n] != 0)
    fuzz_fail("a string has no end", "");
  tally_type(s->vm, v);
  tally_length(s->vm, v);
  put(s, tally_format(s->vm, v, &out), out);
}

static void step(state *s) {
  tally_vm *vm = s->vm;
  tally_value out = {0}, args[2];
  switch (next(s) % 24) {
    case 0:
      put(s, tally_from_none(vm, &out), out);
      break;
    case 1:
      put(s, tally_from_int(vm, (int8_t)next(s), &out), out);
      break;
    case 2:
      put(s, tally_from_float(vm, next(s) / 4.0, &out), out);
      break;
    case 3:
      put(s, tally_from_complex(vm, next(s), 1, &out), out);
      break;
    case 4: {
      size_t n = next(s) % 16;
      n = n < (size_t)(s->end - s->at) ? n : (size_t)(s->end - s->at);
      put(s, tally_from_string(vm, (const char *)s->at, n, &out), out);
      break;
    }
    case 5:
      make(s);
      break;
    case 6:
      look(s);
      break;
    case 7:
      put(s, tally_item(vm, *handle(s), next(s), &out), out);
      break;
    case 8:
      put(s, tally_field(vm, *handle(s), ONE(names), &out), out);
      break;
    case 9:
      tally_release(vm, *handle(s));
      break;
    case 10: {
      tally_value v = *handle(s);
      if (tally_is_live(vm, v))
        put(s, TALLY_OK, tally_retain(vm, v));
      break;
    }
    case 11:
    case 12:
      put(s, tally_eval(vm, ONE(sources), &out), out);
      break;
    case 13:
      put(s, tally_compile(vm, ONE(sources), &out), out);
      break;
    case 14:
      args[0] = given(s), args[1] = given(s);
      put(s, tally_call(vm, ONE(names), next(s) % 3, args, &out), out);
      break;
    case 15:
      args[0] = given(s), args[1] = given(s);
      put(s, tally_apply(vm, *handle(s), next(s) % 3, args, &out), out);
      break;
    case 16:
      put(s, tally_get_global(vm, ONE(names), &out), out);
      break;
    case 17:
      tally_set_global(vm, ONE(names), given(s));
      break;
    case 18:
      tally_move_global(vm, ONE(names), *handle(s));
      break;
    case 19:
      from_buffer(s);
      break;
    case 20:
      to_buffer(s);
      break;
    case 21:
      send(s);
      break;
    case 22:
      tally_interrupt(vm);
      tally_trim(vm);
      break;
    default:
      tally_error(vm);
      put(s, tally_complete(vm, "x.", &out), out);
  }
}

static void *resize(void *context, void *block, size_t old_size,
                    size_t new_size) {
  *(size_t *)context += new_size - old_size;
  if (new_size > 0)
    return realloc(block, new_size);
  free(block);
  return NULL;
}

static int write_nothing(void *context, const char *text, size_t nbytes) {
  (void)context, (void)text, (void)nbytes;
  return 0;
}

// In a VM of its own, at whose end nothing may be left.
static void run_host(tally_vm *unused, const uint8_t *data, size_t nbytes) {
  (void)unused;
  state s = {.at = data, .end = data + nbytes};
  size_t live = 0;
  tally_options options = tally_default_options();
  options.resize = resize;
  options.write = write_nothing;
  options.context = &live;
  options.stack_size = 1 << 16;
  options.memory_limit = 2 << 20;
  options.instruction_limit = 300;
  options.threads = 1;
  options.capabilities = 0;
  fuzz_host host;
  if (tally_open(&options, &s.vm) != TALLY_OK || !fuzz_host_open(&host, s.vm))
    fuzz_fail("the VM did not open", "");
  while (s.at < s.end) step(&s);
  for (int i = 0; i < HANDLES; i++) tally_release(s.vm, s.handles[i]);
  fuzz_host_close(&host);
  if (tally_close(s.vm) != 0 || live != 0 || host.tokens != 0)
    fuzz_fail("a host's values are left", "");
}

const fuzz_target fuzz_hosts[] = {{.name = "hosts", .run = run_host}, {0}};
