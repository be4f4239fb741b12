// Files: reading and writing them whole, tables, .npy with hostile headers,
// and what remains when the system fails half-way.

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/fixture.h"
#include "vm/array/array.h"
#include "stdlib/families.h"
#include "vm/builtin.h"
#include "vm/text/format.h"
#include "vm/io.h"

// --- A folder for the test --------------------------------------------------

static char folder[256];

static int make_folder(void **state) {
  const char *base = getenv("TMPDIR");
  (void)state;
  snprintf(folder, sizeof folder, "%s/tally-io-XXXXXX", base ? base : "/tmp");
  return mkdtemp(folder) ? 0 : -1;
}

// The number of files in the folder.
static int count_files(void) {
  DIR *dir = opendir(folder);
  int count = 0;
  assert_non_null(dir);
  for (struct dirent *e; (e = readdir(dir)) != NULL;)
    if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
      count++;
  closedir(dir);
  return count;
}

static int remove_folder(void **state) {
  DIR *dir = opendir(folder);
  (void)state;
  for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    if (e->d_name[0] != '.')
      unlink(path);
  }
  if (dir)
    closedir(dir);
  return rmdir(folder);
}

static char path_buffer[600];

static const char *path_of(const char *name) {
  snprintf(path_buffer, sizeof path_buffer, "%s/%s", folder, name);
  return path_buffer;
}

static void put_file(const char *name, const char *data, size_t nbytes) {
  FILE *f = fopen(path_of(name), "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(data, 1, nbytes, f), nbytes);
  fclose(f);
}

static void put_text(const char *name, const char *text) {
  put_file(name, text, strlen(text));
}

static size_t get_file(const char *name, char *data, size_t room) {
  FILE *f = fopen(path_of(name), "rb");
  assert_non_null(f);
  size_t n = fread(data, 1, room, f);
  fclose(f);
  return n;
}

static void assert_file(const char *name, const char *text) {
  char data[2000];
  size_t n = get_file(name, data, sizeof data - 1);
  data[n] = 0;
  assert_string_equal(data, text);
}

// --- Calling the library ----------------------------------------------------

// A VM with all that it has, since the library calls functions in Tally.
static int open_vm(void **state) {
  tally_options options = tally_default_options();
  options.capabilities = TALLY_MAY_ALL;
  return tally_open(&options, (tally_vm **)state) != TALLY_OK;
}

// Fails where something is left alive.
static int close_vm(void **state) {
  tl_vm *vm = *state;
  tl_error_clear(vm);
  return tally_close(vm) != 0;
}

// Calls io.[name] on the file with positional and then named arguments; an
// argument whose tag is 0 keeps its default. Takes the arguments.
static bool call(tl_vm *vm, const char *name, const char *file, int count,
                 const tl_slot *given, tl_slot *out) {
  const tl_builtin *builtin =
      tl_builtin_find(&tl_standard_library, "io", name, strlen(name));
  assert_non_null(builtin);
  tl_param params[TL_MAX_PARAMS];
  tl_slot args[TL_MAX_PARAMS];
  int n = tl_params_parse(builtin->params, params);
  args[0] = text_slot(vm, path_of(file));
  for (int i = 1; i < n; i++)
    args[i] =
        i - 1 < count && given[i - 1].tag ? given[i - 1] : params[i].value;
  *out = tl_none();
  // As within a built-in that a script calls, whose values C holds.
  vm->native_depth += 2;
  bool ok = tl_builtin_run(vm, builtin, args, out);
  vm->native_depth -= 2;
  for (int i = 0; i < n; i++) tl_drop(vm, args[i]);
  return ok;
}

static bool read_csv(tl_vm *vm, const char *text, tl_slot *out) {
  put_text("t.csv", text);
  return call(vm, "read_csv", "t.csv", 0, NULL, out);
}

// A value's text, in a buffer of its own.
static const char *shown(tl_vm *vm, tl_slot value) {
  static char buffer[2000];
  tl_text text;
  tl_text_open(&text, vm);
  assert_true(tl_format_value(vm, &text, value, true, 0));
  snprintf(buffer, sizeof buffer, "%.*s", (int)text.length, text.bytes);
  tl_text_close(&text);
  return buffer;
}

static void expect_csv(tl_vm *vm, const char *text, const char *expected) {
  tl_slot out;
  if (!read_csv(vm, text, &out))
    fail_msg("%s", vm->error.message);
  assert_string_equal(shown(vm, out), expected);
  tl_drop(vm, out);
}

static void expect_csv_error(tl_vm *vm, const char *text, const char *message) {
  tl_slot out;
  assert_false(read_csv(vm, text, &out));
  const char *got = failure(vm, TALLY_ERR_VALUE);
  if (!strstr(got, message))
    fail_msg("%s, not %s", got, message);
  tl_error_clear(vm);
}

// --- Tables -----------------------------------------------------------------

static void csv_types(void **state) {
  tl_vm *vm = *state;
  expect_csv(vm, "a,b,c\n1,2.5,x\n2,1e3,y\n",
             "(a: [1, 2], b: [2.5, 1000.0], c: [\"x\", \"y\"])");
  // Whole numbers beyond int64 are floats, words make strings.
  expect_csv(vm, "a,b\n9223372036854775807,9223372036854775808\n",
             "(a: [9223372036854775807], b: [9.223372036854776e+18])");
  expect_csv(vm, "a,b\n-9223372036854775808,-5\n",
             "(a: [-9223372036854775808], b: [-5])");
  expect_csv(vm, "a\n1\nx\n", "(a: [\"1\", \"x\"])");
  expect_csv(vm, "a,b\nnan,-inf\nInfinity,1\n",
             "(a: [nan, inf], b: [-inf, 1.0])");
  expect_csv(vm, "a,b\n+1, .5 \n-0,5.\n", "(a: [1, 0], b: [0.5, 5.0])");
  expect_csv(vm, "a,b,c,d\n1e,1.2.3,-,0x10\n",
             "(a: [\"1e\"], b: [\"1.2.3\"], c: [\"-\"], d: [\"0x10\"])");
}

static void csv_empty_cells(void **state) {
  tl_vm *vm = *state;
  expect_csv(vm, "a,b,c\n1,,\n,2.5,x\n",
             "(a: [1.0, nan], b: [nan, 2.5], c: [\"\", \"x\"])");
  expect_csv(vm, "a,b\n,1\n,2\n", "(a: [nan, nan], b: [1, 2])");
  expect_csv(vm, "a\n", "(a: [])");
}

static void csv_quotes(void **state) {
  tl_vm *vm = *state;
  expect_csv(vm, "\"a b\",c\n\"x, \"\"y\"\"\nz\",1\n",
             "(\"a b\": [\"x, \\\"y\\\"\\nz\"], c: [1])");
  expect_csv(vm, "a,b\n\"1\",\"\"\n", "(a: [1], b: [nan])");
  expect_csv(vm, "a\nx\"y\n", "(a: [\"x\\\"y\"])");
}

static void csv_line_ends(void **state) {
  tl_vm *vm = *state;
  expect_csv(vm, "\xef\xbb\xbfx,y\r\n1,2\r\n\r\n3,4", "(x: [1, 3], y: [2, 4])");
  expect_csv(vm, "x,y\r1,2\r3,4\r", "(x: [1, 3], y: [2, 4])");
  expect_csv(vm, "größe,速度\n1,2\n", "(größe: [1], 速度: [2])");
  expect_csv(vm, "a,,b\n1,2,3\n", "(a: [1], c1: [2], b: [3])");
}

static void csv_options(void **state) {
  tl_vm *vm = *state;
  tl_slot out, names[2] = {text_slot(vm, "c"), text_slot(vm, "a")};
  put_text("t.csv", "# made by hand\na;b;c\n1;2;3\n");
  tl_slot args[4] = {
      {.tag = 0}, text_slot(vm, ";"), list_slot(vm, 2, names), tl_weak_int(1)};
  assert_true(call(vm, "read_csv", "t.csv", 4, args, &out));
  assert_string_equal(shown(vm, out), "(c: [3], a: [1])");
  tl_drop(vm, out);

  put_text("t.csv", "1,2\n3,4\n");
  tl_slot plain[1] = {tl_bool(false)};
  assert_true(call(vm, "read_csv", "t.csv", 1, plain, &out));
  assert_string_equal(shown(vm, out), "(c0: [1, 3], c1: [2, 4])");
  tl_drop(vm, out);

  names[0] = text_slot(vm, "u");
  names[1] = text_slot(vm, "v");
  tl_slot named[3] = {tl_bool(false), {.tag = 0}, list_slot(vm, 2, names)};
  assert_true(call(vm, "read_csv", "t.csv", 3, named, &out));
  assert_string_equal(shown(vm, out), "(u: [1, 3], v: [2, 4])");
  tl_drop(vm, out);
}

static void csv_malformed(void **state) {
  tl_vm *vm = *state;
  expect_csv_error(vm, "a,b\n1,2\n3\n",
                   "line 3: 1 cells, but the first row "
                   "has 2");
  expect_csv_error(vm, "a,b\n\"x\ny\",2\n1,2,3\n", "line 4: 3 cells");
  expect_csv_error(vm, "a\n1\n\"x\n\n\n",
                   "line 3, cell 1: a quote is opened and never closed");
  expect_csv_error(vm, "a,b\n1,\"x\"y\n",
                   "line 2, cell 2: text behind a closing quote");
  expect_csv_error(vm, "", "has no rows");
  expect_csv_error(vm, "\n\r\n", "has no rows");
  expect_csv_error(vm, "a,a\n1,2\n", "two columns named \"a\"");
  expect_csv_error(vm, "a\n\xff\n", "malformed at byte 2");
  tl_slot out;
  put_file("t.csv", "a\n1\0002\n", 6);
  assert_false(call(vm, "read_csv", "t.csv", 0, NULL, &out));
  assert_non_null(strstr(failure(vm, TALLY_ERR_VALUE), "a zero byte"));
}

// Decimal to binary, the quick way and the slow one.
static void csv_floats(void **state) {
  tl_vm *vm = *state;
  static const char *const texts[] = {
      "0.1",
      "1e22",
      "1e23",
      "123456789012345678",
      "9007199254740993.0",
      "2.2250738585072011e-308",
      "4.9406564584124654e-324",
      "1e-400",
      "1e400",
      "1.7976931348623157e308",
      "0.000001",
      "3.14159265358979323846264338327",
      "179769313486231580793728971405301199e272",
      "5e-324",
      "8.5e-1",
      "0.30000000000000004",
      "6.02214076e23",
      "00000000000000000000.1250000",
      "100000000000000000000000000000000000000000000.0e-40",
      "2.4703282292062327208e-324",
      "9007199254740992.5000000000000000001"};
  char table[4000] = "a\n";
  int count = (int)(sizeof texts / sizeof *texts);
  for (int i = 0; i < count; i++) {
    strcat(table, texts[i]);
    strcat(table, "\n");
  }
  tl_slot out;
  assert_true(read_csv(vm, table, &out));
  tl_slot *column = tl_record_get_name(out.record, "a");
  const double *items = (const double *)(void *)column->array->data;
  for (int i = 0; i < count; i++)
    if (items[i] != strtod(texts[i], NULL))
      fail_msg("%s", texts[i]);
  tl_drop(vm, out);
}

// Reads a table and writes it again.
static void expect_round_trip(tl_vm *vm, const char *text) {
  tl_slot table, out;
  assert_true(read_csv(vm, text, &table));
  tl_slot args[1] = {table};
  assert_true(call(vm, "write_csv", "out.csv", 1, args, &out));
  assert_file("out.csv", text);
}

static void csv_round_trip(void **state) {
  tl_vm *vm = *state;
  expect_round_trip(vm,
                    "a,b,c\n1,0.5,x\n2,,\"y, z\"\n3,1e+300,\"a \"\"b\"\"\n"
                    "c\"\n");
  expect_round_trip(vm, "a\n1.5\nnan\n");
  expect_round_trip(vm, "a\nx\n\"\"\n");
}

// --- npy --------------------------------------------------------------------

// Writes a file of version [major] with this header and items.
static void put_npy(int major, const char *header, const void *items,
                    size_t nbytes) {
  char data[4000] = "\x93NUMPY";
  size_t n = strlen(header), at = 8;
  data[6] = (char)major;
  data[at++] = (char)(n & 0xff);
  data[at++] = (char)(n >> 8);
  if (major > 1)
    at += 2;
  memcpy(data + at, header, n);
  if (nbytes)
    memcpy(data + at + n, items, nbytes);
  put_file("t.npy", data, at + n + nbytes);
}

static void expect_npy(tl_vm *vm, const char *expected) {
  tl_slot out;
  if (!call(vm, "read_npy", "t.npy", 0, NULL, &out))
    fail_msg("%s", vm->error.message);
  assert_string_equal(shown(vm, out), expected);
  tl_drop(vm, out);
}

static void expect_npy_error(tl_vm *vm, const char *message) {
  tl_slot out;
  assert_false(call(vm, "read_npy", "t.npy", 0, NULL, &out));
  assert_true(vm->error.set);
  if (!strstr(vm->error.message, message))
    fail_msg("%s, not %s", vm->error.message, message);
  // Nothing as large as the header says was ever asked for.
  assert_true(vm->stats.peak_bytes < 1 << 22);
  tl_error_clear(vm);
}

#define HEADER(descr, order, shape)                                    \
  "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape \
  ", }   \n"

static void npy_versions(void **state) {
  tl_vm *vm = *state;
  static const int32_t items[6] = {1, 2, 3, 4, 5, 6};
  for (int major = 1; major <= 3; major++) {
    put_npy(major, HEADER("<i4", "False", "(2, 3)"), items, sizeof items);
    expect_npy(vm, "[[1, 2, 3], [4, 5, 6]]");
  }
  put_npy(1, HEADER("<i4", "True", "(2, 3)"), items, sizeof items);
  expect_npy(vm, "[[1, 3, 5], [2, 4, 6]]");
  put_npy(1, HEADER("<i4", "False", "()"), items, 4);
  expect_npy(vm, "1");
  put_npy(1, HEADER("<i4", "False", "(0,)"), items, 0);
  expect_npy(vm, "[]");
  put_npy(1, "{\"shape\":(6L,),\"fortran_order\":False,\"descr\":\"<i4\"}",
          items, sizeof items);
  expect_npy(vm, "[1, 2, 3, 4, 5, 6]");
}

static void npy_byte_orders(void **state) {
  tl_vm *vm = *state;
  put_npy(1, HEADER(">i2", "False", "(2,)"), "\x01\x00\xff\xfe", 4);
  expect_npy(vm, "[256, -2]");
  put_npy(1, HEADER(">f8", "False", "(1,)"), "\x3f\xf8\0\0\0\0\0\0", 8);
  expect_npy(vm, "[1.5]");
  // The halves of a complex number are swapped one by one.
  put_npy(1, HEADER(">c8", "False", "(1,)"), "\x3f\x80\0\0\xc0\0\0\0", 8);
  expect_npy(vm, "[1.0 - 2.0i]");
  put_npy(1, HEADER("|b1", "False", "(3,)"), "\0\x01\xff", 3);
  expect_npy(vm, "[false, true, true]");
  put_npy(1, HEADER(">U2", "False", "(2,)"),
          "\0\0\0a\0\0\0\0\0\x01\xf6\0\0\0\x03\xc0", 16);
  expect_npy(vm, "[\"a\", \"😀π\"]");
}

static void npy_hostile(void **state) {
  tl_vm *vm = *state;
  static const double items[4] = {1, 2, 3, 4};
  put_npy(1, HEADER("<f8", "False", "(5,)"), items, sizeof items);
  expect_npy_error(vm, "ends early");
  put_npy(1, HEADER("<f8", "False", "(1000000000000,)"), items, sizeof items);
  expect_npy_error(vm, "ends early");
  put_npy(1, HEADER("<f8", "False", "(4294967296, 4294967296, 4294967296)"),
          items, sizeof items);
  expect_npy_error(vm, "too large");
  put_npy(1, HEADER("<f8", "False", "(0, 4294967296, 4294967296, 4294967296)"),
          items, sizeof items);
  {
    // Nothing fits, or no items do: either is an answer.
    tl_slot out;
    if (call(vm, "read_npy", "t.npy", 0, NULL, &out))
      tl_drop(vm, out);
    tl_error_clear(vm);
  }
  put_npy(1, HEADER("<f8", "False", "(99999999999999999999,)"), items, 8);
  expect_npy_error(vm, "no number");
  put_npy(1, HEADER("<f8", "False", "(-1,)"), items, 8);
  expect_npy_error(vm, "no number");
  put_npy(1,
          HEADER("<f8", "False",
                 "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
                 "1,1,1,1)"),
          items, 8);
  expect_npy_error(vm, "too many axes");
  put_npy(1, HEADER("<U1000000000000", "False", "(1,)"), items, 8);
  expect_npy_error(vm, "ends early");
  put_npy(1, HEADER("<U0", "False", "(1000000000000,)"), items, 0);
  expect_npy_error(vm, "empty strings");
  put_npy(1, HEADER("<U1", "False", "(1,)"), "\0\0\x11\0", 4);
  expect_npy_error(vm, "invalid code point in item 0, character 0");
  put_npy(1, HEADER("<O8", "False", "(1,)"), items, 8);
  expect_npy_error(vm, "which Tally does not have");
  put_npy(1, HEADER("<f3", "False", "(1,)"), items, 8);
  expect_npy_error(vm, "which Tally does not have");
  put_npy(1, HEADER("#f8", "False", "(1,)"), items, 8);
  expect_npy_error(vm, "byte order");
  put_npy(1, HEADER("<f8", "Maybe", "(1,)"), items, 8);
  expect_npy_error(vm, "neither True nor False");
}

static void npy_broken_headers(void **state) {
  tl_vm *vm = *state;
  static const char *const headers[] = {
      "",
      "{",
      "{'descr",
      "{'descr': '<f8'",
      "{'descr': '<f8'}",
      "[]",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (1",
      "{'descr': '<f8', 'fortran_order': False, 'shape': 1}",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'x': 1}",
      "{'descr': '<', 'fortran_order': False, 'shape': (1,)}",
      "{'descr': '\\\\', 'fortran_order': False, 'shape': (1,)}",
      "{1: 2}"};
  for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
    put_npy(1, headers[i], "12345678", 8);
    expect_npy_error(vm, "read_npy: \"");
  }
  put_npy(4, HEADER("<f8", "False", "(1,)"), "12345678", 8);
  expect_npy_error(vm, "version");
  put_file("t.npy", "\x93NUMPY\x01\0\xff\xff{", 11);
  expect_npy_error(vm, "longer than the file");
  put_file("t.npy", "\x93NUMPY\x02\0\xff\xff\xff\xff{", 13);
  expect_npy_error(vm, "too long");
  put_file("t.npy", "\x93NUM", 4);
  expect_npy_error(vm, "does not begin as one");
  put_file("t.npy", "PK\x03\x04 and so on", 14);
  expect_npy_error(vm, "does not begin as one");
  put_file("t.npy", "", 0);
  expect_npy_error(vm, "does not begin as one");
}

// Every file cut short anywhere is an error, and none reads beyond its end.
static void npy_truncated(void **state) {
  tl_vm *vm = *state;
  static const double items[2] = {1, 2};
  char data[200];
  put_npy(1, HEADER("<f8", "False", "(2,)"), items, sizeof items);
  size_t nbytes = get_file("t.npy", data, sizeof data);
  for (size_t n = 0; n < nbytes; n++) {
    put_file("t.npy", data, n);
    expect_npy_error(vm, "read_npy: \"");
  }
}

static void npy_round_trip(void **state) {
  tl_vm *vm = *state;
  for (int d = 0; d < TL_STRING; d++) {
    int64_t shape[3] = {2, 1, 3};
    tl_array *a = tl_array_zeros(vm, (tl_dtype)d, 3, shape);
    for (size_t i = 0; i < 6 * tl_itemsize((tl_dtype)d); i++)
      a->data[i] = (char)(d == TL_BOOL ? i % 2 : i % 60);
    tl_slot x = tl_own_array(a), out, again;
    tl_slot args[1] = {tl_retain(vm, x)};
    assert_true(call(vm, "write_npy", "t.npy", 1, args, &out));
    assert_true(call(vm, "read_npy", "t.npy", 0, NULL, &again));
    assert_true(tl_same(vm, x, again));
    tl_drop(vm, x);
    tl_drop(vm, again);
  }
}

static void npy_views_and_strings(void **state) {
  tl_vm *vm = *state;
  tl_slot out, again;
  int64_t two = 2, step = -2 * (int64_t)sizeof(tl_string_item);
  tl_array *words = tl_array_new(vm, TL_STRING, 1, &(int64_t){3});
  static const char *const texts[3] = {"", "größe", "😀"};
  for (int i = 0; i < 3; i++) {
    tl_slot s = text_slot(vm, texts[i]);
    assert_true(tl_item_store(vm, words, words->data + 16 * i, s));
    tl_drop(vm, s);
  }
  // Every second item, backwards.
  tl_slot base = tl_own_array(words);
  tl_array *view =
      tl_view_new(vm, &base, TL_STRING, words->data + 32, 1, &two, &step);
  tl_drop(vm, base);
  tl_slot args[1] = {tl_own_array(view)};
  assert_true(call(vm, "write_npy", "t.npy", 1, args, &out));
  assert_true(call(vm, "read_npy", "t.npy", 0, NULL, &again));
  assert_string_equal(shown(vm, again), "[\"😀\", \"\"]");
  tl_drop(vm, again);
}

// --- Text, and the door itself ----------------------------------------------

static void texts_of_files(void **state) {
  tl_vm *vm = *state;
  tl_slot out, args[1] = {text_slot(vm, "one\r\ntwo\n\nthree")};
  assert_true(call(vm, "write_text", "t.txt", 1, args, &out));
  args[0] = text_slot(vm, "!\n");
  assert_true(call(vm, "append_text", "t.txt", 1, args, &out));
  assert_file("t.txt", "one\r\ntwo\n\nthree!\n");
  put_text("t.txt", "\xef\xbb\xbfx");
  assert_true(call(vm, "read_text", "t.txt", 0, NULL, &out));
  assert_string_equal(shown(vm, out), "\"x\"");
  tl_drop(vm, out);
  put_text("t.txt", "ab\xc3");
  assert_false(call(vm, "read_text", "t.txt", 0, NULL, &out));
  assert_non_null(strstr(failure(vm, TALLY_ERR_VALUE), "malformed at byte 2"));
}

static void expect_io_error(tl_vm *vm, const char *function, const char *file,
                            const char *reason) {
  tl_slot out, args[1] = {text_slot(vm, "text")};
  bool reads = strncmp(function, "read", 4) == 0;
  if (reads)
    tl_drop(vm, args[0]);
  assert_false(call(vm, function, file, reads ? 0 : 1, args, &out));
  const char *got = failure(vm, TALLY_ERR_IO);
  assert_non_null(strstr(got, function));
  if (file[0])
    assert_non_null(strstr(got, file));
  if (!strstr(got, reason))
    fail_msg("%s, not %s", got, reason);
  tl_error_clear(vm);
}

static void system_reasons(void **state) {
  tl_vm *vm = *state;
  expect_io_error(vm, "read_text", "missing", strerror(ENOENT));
  expect_io_error(vm, "read_csv", "", strerror(EISDIR));
  expect_io_error(vm, "read_npy", "", strerror(EISDIR));
  expect_io_error(vm, "write_text", "", strerror(EISDIR));
  expect_io_error(vm, "write_text", "no/such/file", strerror(ENOENT));
  expect_io_error(vm, "append_text", "no/such/file", strerror(ENOENT));
  vm->options.capabilities = TALLY_MAY_CLOCK;
  expect_io_error(vm, "read_text", "", "");
  expect_io_error(vm, "write_text", "", "");
  expect_io_error(vm, "append_text", "", "");
}

static void names_with_zeros(void **state) {
  tl_vm *vm = *state;
  tl_string *name = tl_string_new(vm, "a\0b", 3);
  assert_null(tl_io_path(vm, "read_text", name));
  failure(vm, TALLY_ERR_VALUE);
  tl_drop(vm, tl_own_string(name));
}

// A failing call of the system, the nth of its kind.
typedef struct fault {
  const char *call;
  int after;
} fault;

static int inject(void *context, const char *called) {
  fault *f = context;
  if (strcmp(f->call, called) != 0)
    return 0;
  return f->after-- == 0 ? ENOSPC : 0;
}

// Whatever fails, the old file stays and nothing else remains.
static void failed_writes(void **state) {
  tl_vm *vm = *state;
  static const char *const calls[] = {"open", "write", "sync", "close",
                                      "rename"};
  put_text("kept.txt", "old");
  int files = count_files();
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    fault f = {calls[i], 0};
    tl_slot out, args[1] = {text_slot(vm, "new")};
    tl_io_inject(inject, &f);
    bool ok = call(vm, "write_text", "kept.txt", 1, args, &out);
    tl_io_inject(NULL, NULL);
    assert_false(ok);
    assert_non_null(strstr(failure(vm, TALLY_ERR_IO), strerror(ENOSPC)));
    tl_error_clear(vm);
    assert_file("kept.txt", "old");
    assert_int_equal(count_files(), files);
  }
  // A large file fails in the middle.
  tl_array *a = tl_array_zeros(vm, TL_FLOAT64, 1, &(int64_t){1 << 21});
  fault f = {"write", 2};
  tl_slot out, args[1] = {tl_own_array(a)};
  tl_io_inject(inject, &f);
  assert_false(call(vm, "write_npy", "kept.txt", 1, args, &out));
  tl_io_inject(NULL, NULL);
  assert_file("kept.txt", "old");
  assert_int_equal(count_files(), files);
}

static void failed_reads(void **state) {
  tl_vm *vm = *state;
  static const char *const calls[] = {"open", "read"};
  put_text("t.csv", "a\n1\n");
  for (int i = 0; i < 2; i++) {
    fault f = {calls[i], 0};
    tl_slot out;
    tl_io_inject(inject, &f);
    assert_false(call(vm, "read_csv", "t.csv", 0, NULL, &out));
    tl_io_inject(NULL, NULL);
    failure(vm, TALLY_ERR_IO);
    tl_error_clear(vm);
  }
}

// The file's mode and the link to it are still there after it is replaced.
static void replaced_file(void **state) {
  tl_vm *vm = *state;
  char link_path[600];
  struct stat about;
  put_text("real.txt", "old");
  assert_int_equal(chmod(path_of("real.txt"), 0640), 0);
  snprintf(link_path, sizeof link_path, "%s/link.txt", folder);
  assert_int_equal(symlink("real.txt", link_path), 0);
  tl_slot out, args[1] = {text_slot(vm, "new")};
  assert_true(call(vm, "write_text", "link.txt", 1, args, &out));
  assert_file("real.txt", "new");
  assert_int_equal(lstat(link_path, &about), 0);
  assert_true(S_ISLNK(about.st_mode));
  assert_int_equal(stat(path_of("real.txt"), &about), 0);
  assert_int_equal(about.st_mode & 07777, 0640);
}

// A file that runs as its owner does so no more with what somebody else wrote,
// or added.
static void replaced_program(void **state) {
  static const char *const functions[] = {"write_text", "append_text"};
  tl_vm *vm = *state;
  struct stat about;
  for (int i = 0; i < 2; i++) {
    put_text("program", "old");
    assert_int_equal(chmod(path_of("program"), 06755), 0);
    tl_slot out, args[1] = {text_slot(vm, "new")};
    assert_true(call(vm, functions[i], "program", 1, args, &out));
    assert_int_equal(stat(path_of("program"), &about), 0);
    assert_int_equal(about.st_mode & 07777, 0755);
  }
}

// What killed writers left goes at the next save, that of others stays.
static void stale_files(void **state) {
  tl_vm *vm = *state;
  char dead[64], alive[64];
  pid_t child = fork();
  if (child == 0)
    _exit(0);
  assert_int_equal(waitpid(child, NULL, 0), child);
  snprintf(dead, sizeof dead, ".tally-%ld-0.tmp", (long)child);
  snprintf(alive, sizeof alive, ".tally-%ld-0.tmp", (long)getppid());
  put_text(dead, "half");
  put_text(alive, "half");
  put_text(".tally-notes.tmp", "a person's");
  vm->cleaned_folder = 0;
  tl_slot out, args[1] = {text_slot(vm, "new")};
  assert_true(call(vm, "write_text", "saved.txt", 1, args, &out));
  assert_int_not_equal(access(path_of(dead), F_OK), 0);
  assert_file(alive, "half");
  assert_file(".tally-notes.tmp", "a person's");
  assert_int_equal(unlink(path_of(alive)), 0);
  assert_int_equal(unlink(path_of(".tally-notes.tmp")), 0);
}

// Every allocation of a call fails once: an error each time, and no leak
// (which close_vm looks for).
static bool memory_refused;

static void short_of_memory(void **state) {
  tl_vm *vm = *state;
  put_text("t.csv", "a,b,c\n1,x,\n2,y,1.5\n3,y,2\n");
  bool ok = false;
  tl_slot out;
  // What it calls is there when memory gets short.
  assert_true(call(vm, "read_csv", "t.csv", 0, NULL, &out));
  tl_drop(vm, out);
  for (size_t more = 256; !ok && more < 1 << 20; more += 97) {
    vm->options.memory_limit = (size_t)vm->stats.live_bytes + more;
    ok = call(vm, "read_csv", "t.csv", 0, NULL, &out);
    if (ok) {
      tl_drop(vm, out);
    } else {
      failure(vm, TALLY_ERR_MEMORY);
      memory_refused = true;
    }
    tl_error_clear(vm);
  }
  vm->options.memory_limit = 0;
  assert_true(ok);
  assert_true(memory_refused);
}

#define IO_TEST(name) cmocka_unit_test_setup_teardown(name, open_vm, close_vm)

int main(void) {
  const struct CMUnitTest tests[] = {
      IO_TEST(csv_types),
      IO_TEST(csv_empty_cells),
      IO_TEST(csv_quotes),
      IO_TEST(csv_line_ends),
      IO_TEST(csv_options),
      IO_TEST(csv_malformed),
      IO_TEST(csv_floats),
      IO_TEST(csv_round_trip),
      IO_TEST(npy_versions),
      IO_TEST(npy_byte_orders),
      IO_TEST(npy_hostile),
      IO_TEST(npy_broken_headers),
      IO_TEST(npy_truncated),
      IO_TEST(npy_round_trip),
      IO_TEST(npy_views_and_strings),
      IO_TEST(texts_of_files),
      IO_TEST(system_reasons),
      IO_TEST(names_with_zeros),
      IO_TEST(failed_reads),
      IO_TEST(replaced_file),
      IO_TEST(replaced_program),
      IO_TEST(stale_files),
      IO_TEST(failed_writes),
      IO_TEST(short_of_memory),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
