// Damages files and reads them:
//
//   files COUNT [FIRST]    COUNT mutants of each file, seeds FIRST, FIRST + 1 …
//
// Bits flip, words become the ends of their ranges, pieces disappear, come
// twice or are cut off, numbers in text grow; checksums are put right again in
// half of the PNG files, so that what is behind them is reached. A reader must
// give a value or an error: nothing may crash, hang, pass the memory limit or
// stay behind. Run where tests/reference and examples are.
// The last line is the sum, and the exit status 1 if anything failed.
#define _DEFAULT_SOURCE 1  // for anonymous mappings
#define _DARWIN_C_SOURCE 1

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stdlib/compress.h"
#include "tally.h"

enum {
  LIMIT_BYTES = 256 << 20,
  LIMIT_SECONDS = 20,  // sanitized on a machine with other work
  MOST_BYTES = 1 << 20,
  NAME_BYTES = 256,
};

// A file to damage and what reads it; those without a slash are made first.
typedef struct target {
  const char *reader, *file;
} target;

#define DATA "tests/reference/data/"
static const target targets[] = {
    {"npy", DATA "fft_a.npy"},
    {"npy", DATA "io_palette.npy"},
    {"npy", "structs.npy"},
    {"npy", "strings.npy"},
    {"map_npy", DATA "fft_a.npy"},
    {"map_npy", "structs.npy"},
    {"npz", DATA "io_plain.npz"},
    {"npz", DATA "io_packed.npz"},
    {"image", DATA "io_bits.png"},
    {"image", DATA "io_gray.png"},
    {"image", DATA "io_gray16.png"},
    {"image", DATA "io_interlaced.png"},
    {"image", DATA "io_palette.png"},
    {"image", DATA "io_rgb.png"},
    {"image", DATA "io_rgba.png"},
    {"image", DATA "io_rgb.ppm"},
    {"image", DATA "io_gray.pgm"},
    {"wav", DATA "io_int16.wav"},
    {"wav", DATA "io_float32.wav"},
    {"text", DATA "io_text.gz"},
    {"text", "text.zst"},
    {"lines", "text.zst"},
    {"binary", DATA "io_text.gz"},
    {"csv", "examples/data/sunspots.csv"},
    {"csv", "quoted.csv"},
    {"csv_missing", "quoted.csv"},
    {"csv_dates", "quoted.csv"},
    {"csv_types", "quoted.csv"},
    {"json", "tree.json"},
    {"json_lines", "tree.json"},
};
enum { TARGETS = sizeof targets / sizeof *targets };

// Makes the files that are not there, and the readers. What is read is looked
// at as a whole.
static const char script[] =
    "import io\n"
    "import json\n"
    "import os\n"
    "folder = os.args[0]\n"
    "table = [(id: i, x: i / 8, tag: int8(i)) for i in 0..9]\n"
    "io.write_npy(\"{folder}/structs.npy\", table)\n"
    "io.write_npy(\"{folder}/strings.npy\", [\"a\", \"größe\", \"\"])\n"
    "text = join([\"line {i}\" for i in 0..200], \"\\n\")\n"
    "try { io.write_text(\"{folder}/text.zst\", text) } catch e { "
    "print(e.message) }\n"
    "rows = [\"{i},\\\"a \\\"\\\"b\\\"\\\" {i}\\\",{i / 3},2024-02-{i % 20 + "
    "10}\""
    " for i in 0..60]\n"
    "io.write_text(\"{folder}/quoted.csv\","
    " \"n,text,x,day\\n\" + join(rows, \"\\n\") + \"\\n,,,\\n\")\n"
    "tree = (a: [1, 2.5, -3e10], b: (\"x\", none, true), c: (d: (e: ())))\n"
    "io.write_text(\"{folder}/tree.json\", json.format(tree))\n"
    "readers = (npy: io.read_npy, map_npy: io.map_npy, npz: io.read_npz,\n"
    "  image: io.read_image, wav: io.read_wav, text: io.read_text,\n"
    "  lines: io.lines, binary: io.read_binary, csv: io.read_csv,\n"
    "  csv_missing: path => io.read_csv(path, missing: true),\n"
    "  csv_dates: path => io.read_csv(path, dates: (\"day\",)),\n"
    "  csv_types: path => io.read_csv(path,"
    " type: `{day: fixed_string[40], n: ?float32, s: string}`),\n"
    "  json: path => json.parse(io.read_text(path)),\n"
    "  json_lines: path =>"
    " (json.parse(line) for line in io.lines(path)))\n"
    "fn read(reader, path) {\n"
    "  value = readers[reader](path)\n"
    "  same(value, copy(value))\n"
    "}\n";

// What is shared with the process that tries: it may die.
typedef struct progress {
  int target;
  uint64_t seed;
  uint64_t values, errors, failed;
} progress;

typedef struct file {
  unsigned char bytes[MOST_BYTES];
  size_t nbytes;
} file;

static char folder[] = "/tmp/tally-files-XXXXXX";

// --- Damage -----------------------------------------------------------------

static uint32_t below(uint64_t *state, size_t n) {
  *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return n == 0 ? 0 : (uint32_t)((*state >> 33) % n);
}

// Some bytes become others of the same number.
static void overwrite(file *f, uint64_t *chance) {
  static const uint32_t ends[] = {
      0,      1,          0x7f,       0x80,       0xff,       0x7fff,
      0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0, 0x10000};
  size_t at = below(chance, f->nbytes);
  uint64_t word = ends[below(chance, sizeof ends / sizeof *ends)];
  bool big = below(chance, 2);
  size_t width = (size_t)1 << below(chance, 4);
  for (size_t i = 0; i < width && at + i < f->nbytes; i++)
    f->bytes[at + i] = (unsigned char)(word >> 8 * (big ? width - 1 - i : i));
}

// A piece is removed, or comes twice.
static void move_piece(file *f, uint64_t *chance) {
  size_t at = below(chance, f->nbytes), n = below(chance, f->nbytes - at + 1);
  if (below(chance, 2)) {
    memmove(f->bytes + at, f->bytes + at + n, f->nbytes - at - n);
    f->nbytes -= n;
  } else if (f->nbytes + n <= MOST_BYTES) {
    memmove(f->bytes + at + n, f->bytes + at, f->nbytes - at);
    f->nbytes += n;
  }
}

// A digit somewhere behind becomes many.
static void grow_number(file *f, uint64_t *chance) {
  size_t at = below(chance, f->nbytes), n = 1 + below(chance, 24);
  while (at < f->nbytes && (f->bytes[at] < '0' || f->bytes[at] > '9')) at++;
  if (at == f->nbytes || f->nbytes + n > MOST_BYTES)
    return;
  memmove(f->bytes + at + n, f->bytes + at, f->nbytes - at);
  memset(f->bytes + at, '9', n);
  f->nbytes += n;
}

static size_t big_word(const unsigned char *at) {
  return (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
}

static void mend_png(file *f) {
  for (size_t at = 8; at + 12 <= f->nbytes;) {
    size_t n = big_word(f->bytes + at);
    if (n > f->nbytes - at - 12)
      return;
    uint32_t crc = tl_crc32(0, f->bytes + at + 4, n + 4);
    for (size_t i = 0; i < 4; i++)
      f->bytes[at + 8 + n + i] = (unsigned char)(crc >> (24 - 8 * i));
    at += n + 12;
  }
}

static void damage(file *f, uint64_t seed) {
  uint64_t chance = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
  for (uint32_t left = 1 + below(&chance, 4); left > 0 && f->nbytes > 0;
       left--) {
    switch (below(&chance, 6)) {
      case 0:
        f->bytes[below(&chance, f->nbytes)] ^=
            (unsigned char)(1u << below(&chance, 8));
        break;
      case 1:
        f->bytes[below(&chance, f->nbytes)] =
            (unsigned char)below(&chance, 256);
        break;
      case 2:
        move_piece(f, &chance);
        break;
      case 3:
        f->nbytes = below(&chance, f->nbytes);
        break;
      case 4:
        grow_number(f, &chance);
        break;
      default:
        overwrite(f, &chance);
    }
  }
  if (f->nbytes > 8 && memcmp(f->bytes, "\x89PNG", 4) == 0 && seed % 2)
    mend_png(f);
}

// --- Reading ----------------------------------------------------------------

static size_t live;  // bytes of the VM's

static void *resize(void *context, void *block, size_t old_size,
                    size_t new_size) {
  (void)context;
  live += new_size - old_size;
  if (new_size == 0) {
    free(block);
    return NULL;
  }
  return realloc(block, new_size);
}

static void path_of(const char *name, char out[NAME_BYTES]) {
  if (strchr(name, '/'))
    snprintf(out, NAME_BYTES, "%s", name);
  else
    snprintf(out, NAME_BYTES, "%s/%s", folder, name);
}

static bool load(const char *path, file *f) {
  FILE *from = fopen(path, "rb");
  if (!from)
    return false;
  f->nbytes = fread(f->bytes, 1, MOST_BYTES, from);
  return fclose(from) == 0;
}

static bool save(const char *path, const file *f) {
  remove(path);  // a file cut to nothing is waited for by some file systems
  FILE *to = fopen(path, "wb");
  if (!to)
    return false;
  bool ok = fwrite(f->bytes, 1, f->nbytes, to) == f->nbytes;
  return fclose(to) == 0 && ok;
}

static void report(progress *p, const char *what) {
  printf("FAILED: %s of %s, seed %llu: %s\n", targets[p->target].reader,
         targets[p->target].file, (unsigned long long)p->seed, what);
  p->failed++;
}

static void read_file(tally_vm *vm, progress *p, const char *path) {
  tally_value args[2];
  const char *texts[2] = {targets[p->target].reader, path};
  for (int i = 0; i < 2; i++)
    tally_from_string(vm, texts[i], strlen(texts[i]), &args[i]);
  tally_status status = tally_call(vm, "read", 2, args, NULL);
  for (int i = 0; i < 2; i++) tally_release(vm, args[i]);
  if (status == TALLY_OK)
    p->values++;
  else if (status == TALLY_ERR_VALUE || status == TALLY_ERR_IO ||
           status == TALLY_ERR_MEMORY || status == TALLY_ERR_SHAPE ||
           status == TALLY_ERR_TYPE)
    p->errors++;
  else
    report(p, tally_error(vm)->message);
}

static tally_vm *open_vm(progress *p) {
  tally_options options = tally_default_options();
  options.resize = resize;
  options.memory_limit = LIMIT_BYTES;
  options.time_limit = LIMIT_SECONDS;
  tally_vm *vm;
  const char *args[] = {folder};
  if (tally_open(&options, &vm) != TALLY_OK)
    return NULL;
  if (tally_run_source(vm, "files.tly", script, sizeof script - 1, 1, args) ==
      TALLY_OK)
    return vm;
  report(p, tally_error(vm)->message);
  tally_close(vm);
  return NULL;
}

static void work(progress *p, uint64_t first, uint64_t count) {
  static file whole, damaged;
  char from[NAME_BYTES], to[NAME_BYTES];
  tally_vm *vm = open_vm(p);
  if (!vm)
    exit(2);
  path_of("damaged", to);
  for (; p->target < TARGETS; p->target++, p->seed = first) {
    path_of(targets[p->target].file, from);
    whole.nbytes = 0;
    if (!load(from, &whole) && strchr(targets[p->target].file, '/'))
      report(p, "cannot read it");  // without zstd some are not made
    for (; p->seed < first + count; p->seed++) {
      memcpy(damaged.bytes, whole.bytes, whole.nbytes);
      damaged.nbytes = whole.nbytes;
      damage(&damaged, p->seed);
      if (!save(to, &damaged))
        report(p, "cannot write it");
      read_file(vm, p, to);
    }
  }
  tally_close(vm);
  if (live != 0)
    report(p, "bytes are left");
  fflush(stdout);
}

// --- The program ------------------------------------------------------------

static void remove_folder(void) {
  static const char *const names[] = {"damaged",  "structs.npy", "strings.npy",
                                      "text.zst", "quoted.csv",  "tree.json"};
  char path[NAME_BYTES];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    path_of(names[i], path);
    remove(path);
  }
  rmdir(folder);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fputs("usage: files COUNT [FIRST]\n", stderr);
    return 2;
  }
  uint64_t count = strtoull(argv[1], NULL, 10);
  uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  progress *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED || !mkdtemp(folder))
    return 2;
  p->seed = first;
  while (p->target < TARGETS) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      work(p, first, count);
      _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0)
      return 2;
    if (p->target < TARGETS) {
      printf("the process died (%d)\n", status);
      report(p, "the process died");
      if (WIFEXITED(status))
        break;  // it never began
      p->seed++;
    }
  }
  remove_folder();
  printf("%llu damaged files were read, %llu refused\n",
         (unsigned long long)p->values, (unsigned long long)p->errors);
  printf("%llu passed, %llu failed\n",
         (unsigned long long)(p->values + p->errors),
         (unsigned long long)p->failed);
  return p->failed == 0 ? 0 : 1;
}
