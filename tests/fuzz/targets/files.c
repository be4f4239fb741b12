// Files of every format that is read. The bytes are put into one file, which
// the script's function reads as whatever it may be taken for; what is read is
// looked at as a whole.
#define _DEFAULT_SOURCE 1
#define _DARWIN_C_SOURCE 1

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stdlib/compress.h"
#include "tests/fuzz/targets/targets.h"

// Reads by each function; a value must equal its copy.
#define LOOK                                              \
  "import io\n"                                           \
  "fn look(reader, path) {\n"                             \
  "  try { v = reader(path) } catch e {\n"                \
  "    assert(e.kind in kinds, e.message); return none\n" \
  "  }\n"                                                 \
  "  assert(same(v, copy(v)))\n"                          \
  "  z = string(v)\n"                                     \
  "  v\n"                                                 \
  "}\n"                                                   \
  "kinds = (\"value\", \"io\", \"memory\", \"shape\", \"type\")\n"

static const char npy[] = LOOK
    "fn target(path) {\n"
    "  v = look(io.read_npy, path)\n"
    "  w = look(io.map_npy, path)\n"
    "  if v != none { assert(w == none or same(v, w))\n"
    "    try { b = io.encode_npy(v) } catch e { return none }\n"
    "    assert(same(io.decode_npy(b), v)) }\n"
    "}\n";
static const char npz[] = LOOK "fn target(path) = look(io.read_npz, path)\n";
static const char image[] =
    LOOK "fn target(path) = look(io.read_image, path)\n";
static const char wav[] = LOOK "fn target(path) = look(io.read_wav, path)\n";
static const char text[] = LOOK
    "import binary\n"
    "fn target(path) {\n"
    "  z = look(io.read_text, path)\n"
    "  z = look(io.lines, path)\n"
    "  z = look(path => [len(l) for l in io.open(path)], path)\n"
    "  b = look(io.read_binary, path)\n"
    "  z = look(path => io.read_binary(path, dtype: `int32`, offset: 3,"
    " big: true), path)\n"
    "  if b != none {\n"
    "    for f in (\"zlib\", \"gzip\", \"raw\", \"zstd\") {\n"
    "      z = look(b => binary.expand(b, f), b)\n"
    "    }\n"
    "    z = look(binary.text, b)\n"
    "  }\n"
    "}\n";
static const char csv[] = LOOK
    "fn target(path) {\n"
    "  z = look(io.read_csv, path)\n"
    "  z = look(path => io.read_csv(path, missing: true), path)\n"
    "  z = look(path => io.read_csv(path, dates: (\"day\",)), path)\n"
    "  z = look(path => io.read_csv(path,"
    " type: `{day: fixed_string[40], n: ?float32, s: string}`), path)\n"
    "}\n";

static char path[64];
static int file = -1;

static void remove_file(void) {
  unlink(path);
}

// One file for all runs: what reads it has closed it again.
static bool open_file(void) {
  snprintf(path, sizeof path, "%s/tally-fuzz-XXXXXX",
           access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  file = mkstemp(path);
  return file >= 0 && atexit(remove_file) == 0;
}

static void run_file(tally_vm *vm, const uint8_t *data, size_t nbytes) {
  tally_value name;
  if ((file < 0 && !open_file()) || ftruncate(file, 0) != 0 ||
      pwrite(file, data, nbytes, 0) != (ssize_t)nbytes)
    fuzz_fail("the file cannot be written", "");
  if (tally_from_string(vm, path, strlen(path), &name) != TALLY_OK)
    return;
  fuzz_expect(vm, tally_call(vm, "target", 1, &name, NULL));
  tally_release(vm, name);
}

static size_t big_word(const uint8_t *at) {
  return (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
}

// Puts the checksums of a PNG file right, so that what is behind them is
// reached.
static void mend_png(uint8_t *data, size_t nbytes) {
  for (size_t at = 8; at + 12 <= nbytes;) {
    size_t n = big_word(data + at);
    if (n > nbytes - at - 12)
      return;
    uint32_t crc = tl_crc32(0, data + at + 4, n + 4);
    for (size_t i = 0; i < 4; i++)
      data[at + 8 + n + i] = (uint8_t)(crc >> (24 - 8 * i));
    at += n + 12;
  }
}

// As it is, and with the checksums that it should have.
static void run_image(tally_vm *vm, const uint8_t *data, size_t nbytes) {
  run_file(vm, data, nbytes);
  if (nbytes < 20 || memcmp(data, "\x89PNG", 4) != 0)
    return;
  uint8_t *mended = malloc(nbytes);
  if (mended == NULL)
    return;
  memcpy(mended, data, nbytes);
  mend_png(mended, nbytes);
  if (memcmp(mended, data, nbytes) != 0)
    run_file(vm, mended, nbytes);
  free(mended);
}

#define READS(name, script, run) \
  { name, script, run, TALLY_MAY_FILES }
const fuzz_target fuzz_files[] = {
    READS("npy", npy, run_file),
    READS("npz", npz, run_file),
    READS("image", image, run_image),
    READS("wav", wav, run_file),
    READS("text", text, run_file),
    READS("csv", csv, run_file),
    {0},
};
