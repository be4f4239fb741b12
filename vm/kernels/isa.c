// Chooses the table of kernels for this machine, at the first call of
// tl_kernels():
//
//   linked statically       tl_kernels_base, _avx2, _avx512 are in the program
//   TALLY_KERNELS_BESIDE    base is in the library, the others are objects in a
//                           directory beside it, loaded by name
#ifdef TALLY_KERNELS_BESIDE
#define _GNU_SOURCE 1  // for dladdr
#include <stdio.h>

#include "vm/dl.h"
#include "vm/kernels/wide.h"
#endif
#include <stdlib.h>
#include <string.h>

#include "vm/kernels/kernels.h"

extern const tl_kernel_table tl_kernels_base;
extern const tl_kernel_table *tl_kernels_chosen;
// Stores the choice. Threads that come first together all choose the same, so
// no lock is needed.
const tl_kernel_table *tl_kernels_choose(void);

#if defined(__x86_64__) && !defined(TALLY_NO_ISA)
#ifndef TALLY_KERNELS_BESIDE
// Linked into the program or library where no objects lie beside it.
extern const tl_kernel_table tl_kernels_avx2;
extern const tl_kernel_table tl_kernels_avx512;
#endif

// Asked of the C library where it has the answer at hand: the compiler's own
// test runs cpuid, which traps in virtual machines (some 20 microseconds each).
#if defined(__GLIBC__) && \
    (__GLIBC__ > 2 || (__GLIBC__ == 2 && __GLIBC_MINOR__ >= 33))
#include <sys/platform/x86.h>

// As the header's x86_cpu_active, whose shift into the sign is undefined.
static bool is_active(unsigned index) {
  return __x86_get_cpuid_feature_leaf(index / 128)
                 ->active_array[index % 128 / 32] >>
             index % 32 &
         1u;
}
#define HAS(FEATURE, name) (is_active(x86_cpu_##FEATURE))
#else
#define HAS(FEATURE, name) (__builtin_cpu_supports(name))
#endif

// Whether the processor and the system support the set: all features that its
// files are compiled with.
static bool has_avx2(void) {
  return HAS(AVX2, "avx2") && HAS(FMA, "fma") && HAS(BMI2, "bmi2") &&
         HAS(F16C, "f16c");
}

// The parts of AVX-512 that the files of that set use.
static bool has_avx512(void) {
  return has_avx2() && HAS(AVX512F, "avx512f") && HAS(AVX512DQ, "avx512dq") &&
         HAS(AVX512BW, "avx512bw") && HAS(AVX512VL, "avx512vl");
}
#else
// Another processor, or a build of the base set alone: there is nothing wider.
static bool has_avx2(void) {
  return false;
}
static bool has_avx512(void) {
  return false;
}
#define tl_kernels_avx2 tl_kernels_base
#define tl_kernels_avx512 tl_kernels_base
#endif

#ifdef TALLY_KERNELS_BESIDE
// libtally.so has the base set. The others are objects in a directory of that
// name beside it, of which a machine loads the widest that it can run. Where
// there is none, base gives the same results, more slowly.
static const tl_kernel_table *wide(const char *name) {
  // The library finds its own place by the address of one of its objects.
  Dl_info library;
  char *path, file[4096];
  if (dladdr(&tl_kernels_base, &library) == 0 ||
      (path = realpath(library.dli_fname, NULL)) == NULL)
    return NULL;
  char *end = strrchr(path, '/');
  int length = end == NULL ? -1
                           : snprintf(file, sizeof file, "%.*s/%s/%s.so",
                                      (int)(end - path), path,
                                      TALLY_KERNELS_BESIDE, name);
  free(path);
  if (length < 0 || length >= (int)sizeof file)
    return NULL;
  void *object = tl_dl_open(file);
  void *found = object == NULL ? NULL : tl_dl_find(object, TL_WIDE_KERNELS);
  tl_wide_kernels *table;
  memcpy(&table, &found, sizeof table);
  return table == NULL ? NULL : table(sizeof(tl_kernel_table));
}
// The table of a set: from an object beside the library, or linked.
#define WIDE(name) wide(#name)
#else
#define WIDE(name) &tl_kernels_##name
#endif

// The sets that files are compiled for; an unknown name is NULL.
const tl_kernel_table *tl_kernels_named(const char *name) {
  if (strcmp(name, "base") == 0)
    return &tl_kernels_base;
  if (strcmp(name, "avx2") == 0 && has_avx2())
    return WIDE(avx2);
  if (strcmp(name, "avx512") == 0 && has_avx512())
    return WIDE(avx512);
  return NULL;
}

// The widest set that is built and runs here, or the one that TALLY_ISA names.
static const tl_kernel_table *choose(void) {
  // A wish for a set that does not run here is ignored.
  const char *wish = getenv("TALLY_ISA");
  const tl_kernel_table *table = wish ? tl_kernels_named(wish) : NULL;
  if (table == NULL)
    table = tl_kernels_named("avx512");
  if (table == NULL)
    table = tl_kernels_named("avx2");
  return table != NULL ? table : tl_kernels_named("base");
}

const tl_kernel_table *tl_kernels_chosen;

// Threads that come first together all choose the same.
const tl_kernel_table *tl_kernels_choose(void) {
  const tl_kernel_table *table = choose();
  __atomic_store_n(&tl_kernels_chosen, table, __ATOMIC_RELAXED);
  return table;
}
