// Functions of the library, called with values that have nothing to do with
// what they want. The first two bytes choose the function, each further one a
// value for the next parameter, or that it keeps its default.
#include <stdio.h>
#include <string.h>

#include "tests/fuzz/targets/targets.h"

// Values of every type and layout, small, and at the ends of their ranges.
static const char values[] =
    "import strings\nimport linalg\nimport random\nimport fft\n"
    "import binary\nimport json\nimport memory\nimport stats\nimport tables\n"
    "import time\nimport io\nimport os\n"
    "m = reshape(arange(12), (3, 4))\n"
    "f = float64(m) / 3\n"
    "shared = (1, 2)\n"
    "for i in 0..20 { shared = (shared, shared) }\n"
    "P = (none, true, false, 0, 1, -1, 2, 3, 5, 1000000, -9223372036854775807,\n"
    "  9223372036854775807, 0.5, -0.0, nan, inf, 1e300, complex(2, 3), int8(-128),\n"
    "  uint64(5), float32(0.1), \"\", \"a\", \"größe, \\n x\", \"axis\", \"{{}}\",\n"
    "  \"%Y-%m-%d\", \"2024-02-29\", \"linear\", (), (1, \"a\"), (:),\n"
    "  (a: 1, b: \"x\"), 0..5, 5..0, 0..9 by 4, [1, 2, 3], [3.5, nan, -inf, 0.0],\n"
    "  zeros(0), zeros((0, 3)), zeros((3, 0)), m, m.T, f, f[::-1, ::2],\n"
    "  f[:, 1], m[1:, none], [[2.0, 1.0], [1.0, 3.0]], ones((2, 2, 2)),\n"
    "  [true, false, true], int8([1, -128, 127]), uint8([0, 200, 255]),\n"
    "  float32([0.5, 1.5]), float16([2, 0.1]), complex([1, 3], [2, -1]), [\"b\", \"\", \"a\"],\n"
    "  bytes([\"ab\", \"\"]), [1, none, 3], [none, none], [[1, 2], [], [3]],\n"
    "  [[[1], []], []], [(x: 1, y: 2.0), (x: 3, y: nan)], [[1, none], []],\n"
    "  categorical([\"b\", \"a\", \"b\"]), pointers([[1, 2], [3]], [1, 0]),\n"
    "  ragged(m, [1, 2]), zeros(3, dtype: `{a: int8}`),\n"
    "  `float32`, `3 * ?int8`, `var * {a: string}`, x => x, (x, y) => x,\n"
    "  () => 1, (+), sum, x => error(\"no\"), x => (x, x), shared,\n"
    "  broadcast_to([1.0], (4, 4)), arange(300), linspace(0, 1, 1025),\n"
    "  ([1], 2, \"a\"), (0, 1), (1, 0), (-1,), (2, 2), (3, -1), -2, 63, 64,\n"
    "  rows((a: [1, 2], b: [\"x\", \"y\"])),\n"
    // Types without items or bytes.
    "  zeros(2, dtype: `0 * int8`), zeros(2, dtype: `{a: 0 * int8}`),\n"
    "  zeros(2, dtype: `(0 * string,)`), zeros(0, dtype: `?string`),\n"
    "  zeros(2, dtype: `var * {a: 0 * int8}`), zeros(0, dtype: `pointer[int8]`),\n"
    "  zeros(2, dtype: `{a: {b: 0 * ?int8}}`),\n"
    "  zeros(2, dtype: `{a: 0 * pointer[int8]}`), zeros((2, 0, 3), dtype: bool),\n"
    "  zeros(0, dtype: `{a: 0 * int8}`), `0 * int8`, `{a: 0 * int8}`,\n"
    "  zeros(0, dtype: `var * int8`), zeros(0, dtype: `{a: fixed_string[3]}`),\n"
    "  zeros(2, dtype: `{a: 0 * uint8, b: string}`), `0 * var * int8`,\n"
    "  zeros(2, dtype: `2 * {a: 0 * int8}`), rows((a: [])), [[], []], [none],\n"
    "  zeros((2, 0), dtype: `pointer[string]`), zeros(2, dtype: `bytes`),\n"
    "  zeros(2, dtype: `(int8, ?string)`), zeros((2, 2), dtype: `?string`),\n"
    "  zeros(0, dtype: `{a: ?string, b: var * float64}`), [[(x: 1)], []],\n"
    "  zeros(2, dtype: `{a: ?int8, b: pointer[?int8]}`), [[\"\"]],\n"
    "  categorical([\"\"])[:0], zeros(2, dtype: `{a: var * int8}`),\n"
    "  broadcast_to(zeros(0), (3, 0)), zeros((0, 2), dtype: `?float64`),\n"
    // What options are called.
    "  \"saturate\", \"error\", \"wrap\", \"nearest\", \"reflect\", \"edge\",\n"
    "  \"full\", \"same\", \"valid\", \"ortho\", \"reduced\", \"NFC\", \"left\",\n"
    "  int16([[32767, -32768], [2, 181]]), uint64([0, 1]) - uint64(1))\n";

enum { MOST_NAMES = 2048, NAME_BYTES = 64, MOST_TEXT = 1024 };
static char names[MOST_NAMES][NAME_BYTES];
static size_t count;
static long long value_count;

// The functions, in the order of the documentation.
static void find_names(tally_vm *vm) {
  const char *name;
  for (size_t i = 0; (name = tally_documented(vm, i)) != NULL; i++) {
    if (count == MOST_NAMES || strlen(name) >= NAME_BYTES)
      continue;
    strcpy(names[count], name);
    count += tally_signature(vm, names[count]) != NULL;
  }
}

// Adds to a text that has room enough.
static void add(char *text, const char *more, size_t nbytes) {
  size_t n = strlen(text);
  if (n + nbytes < MOST_TEXT) {
    memcpy(text + n, more, nbytes);
    text[n + nbytes] = 0;
  }
}

// One argument for each parameter; after the first that keeps its default all
// are given by name.
static void add_arguments(char *text, const char *params, const uint8_t *data,
                          size_t nbytes) {
  bool by_name = false;
  size_t i = 0;
  for (const char *at = params; *at != 0 && i < nbytes; i++) {
    size_t word = strcspn(at, ",:= "), all = strcspn(at, ",");
    bool rest = strncmp(at, "...", 3) == 0;
    by_name |= memchr(at, ':', all) != NULL;
    if (data[i] >= 240 && memchr(at, '=', all) != NULL) {
      by_name = true;
    } else if (data[i] < 240 || !by_name) {
      char value[32];
      snprintf(value, sizeof value, "P[%d], ", data[i] % (int)value_count);
      if (by_name && !rest) {
        add(text, at, word);
        add(text, ": ", 2);
      }
      add(text, value, strlen(value));
    }
    at += all;
    while (*at == ',' || *at == ' ') at++;
  }
}

static void run_call(tally_vm *vm, const uint8_t *data, size_t nbytes) {
  char text[MOST_TEXT] = "";
  tally_value pool, out;
  if (nbytes < 3)
    return;
  if (count == 0)
    find_names(vm);
  if (value_count == 0) {
    if (tally_get_global(vm, "P", &pool) != TALLY_OK)
      fuzz_fail("no values", "");
    value_count = (long long)tally_length(vm, pool);
    tally_release(vm, pool);
  }
  const char *name = names[(data[0] << 8 | data[1]) % (int)count];
  add(text, name, strlen(name));
  add(text, "(", 1);
  add_arguments(text, tally_signature(vm, name), data + 2, nbytes - 2);
  add(text, ")", 1);
  if (tally_eval(vm, text, &out) == TALLY_OK) {
    tally_value shown;
    if (tally_format(vm, out, &shown) == TALLY_OK)
      tally_release(vm, shown);
    tally_release(vm, out);
  } else if (tally_error(vm)->status == TALLY_ERR_HOST) {
    fuzz_fail(text, tally_error(vm)->report);
  }
}

const fuzz_target fuzz_calls[] = {
    {.name = "calls", .script = values, .run = run_call},
    {0},
};
