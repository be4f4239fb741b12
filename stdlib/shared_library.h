// Libraries of the system that are loaded when they are first needed: who does
// not use them needs not install them. A build may be linked with them instead
// (TALLY_WITH_ZLIB, TALLY_WITH_ZSTD, TALLY_WITH_PCRE2).
#pragma once

#include <pthread.h>

#include "vm/value.h"

// One library, declared static by the file that uses it: its names in order of
// preference, and where its functions go.
typedef struct tl_shared_library {
  const char *const *names;     // "libz.so.1" …, ended by NULL
  const char *const *symbols;   // ended by NULL
  void (**functions)(void);     // one place for each symbol
  const char *about;            // "zlib (Debian: zlib1g)", for messages
  void (*const *linked)(void);  // NULL, or the functions: nothing is loaded
  pthread_mutex_t lock;
  bool loaded;
} tl_shared_library;

// For lists X(function), from which symbols, linked and the declarations
// follow. Each is called by the type that its place has.
//
//   #define ZLIB(X) X(inflate) X(inflateEnd)
//   .symbols = (const char *const[]){ZLIB(TL_LIBRARY_SYMBOL) NULL}
#define TL_LIBRARY_SYMBOL(function) #function,
#define TL_LIBRARY_LINKED(function) function,
#define TL_LIBRARY_DECLARE(function) \
  __attribute__((visibility("default"))) void function(void);

// Loads the library at the first call; it stays for as long as the process.
// Fails (kind io): "read_npz: needs zlib (Debian: zlib1g), which is not
// installed". From any thread.
// Where loading fails once, the next call tries again: a library may be
// installed meanwhile.
bool tl_shared_library_need(tl_vm *vm, const char *function,
                            tl_shared_library *library);

// Memory of the VM's for a library that takes an allocator: counted, limited
// and owned by the library. NULL: there is none, and no error is set, as the
// library may do without. [vm] is the VM as libraries hand it back: of no type.
void *tl_library_alloc(void *vm, size_t nbytes);
// Frees such a block; NULL is allowed.
void tl_library_free(void *vm, void *block);
