// Libraries loaded at run time: one lock for each, because two VMs may need
// one at the same time.
//
//   tl_shared_library_need -> load: by name, or the functions that are linked
//                               -> find_all: every symbol, or another version
//
// A library stays open for as long as the process, so its functions can be
// called without a lock.

#include "stdlib/shared_library.h"

#include <string.h>

#include "vm/dl.h"
#include "vm/error.h"
#include "vm/memory/memory_internal.h"

// Writes the address of every symbol to its place; false where one is missing:
// another version.
static bool find_all(void *handle, const tl_shared_library *library) {
  for (size_t i = 0; library->symbols[i]; i++) {
    void *symbol = tl_dl_find(handle, library->symbols[i]);
    if (!symbol)
      return false;
    // C has no cast between pointers to objects and to functions.
    memcpy(&library->functions[i], &symbol, sizeof symbol);
  }
  return true;
}

// Takes the linked functions, or opens the first library by name that has all
// of them.
static bool load(const tl_shared_library *library) {
  if (library->linked) {
    for (size_t i = 0; library->symbols[i]; i++)
      library->functions[i] = library->linked[i];
    return true;
  }
  for (const char *const *name = library->names; *name; name++) {
    void *handle = tl_dl_open(*name);
    if (handle && find_all(handle, library))
      return true;  // and stays for as long as the process
    if (handle)
      tl_dl_close(handle);
  }
  return false;
}

// A library that is missing is looked for again at the next call: it may be
// installed meanwhile.
bool tl_shared_library_need(tl_vm *vm, const char *function,
                            tl_shared_library *library) {
  pthread_mutex_lock(&library->lock);
  if (!library->loaded)
    library->loaded = load(library);
  bool loaded = library->loaded;
  pthread_mutex_unlock(&library->lock);
  return loaded ||
         tl_fail(vm, TALLY_ERR_IO, "%s: needs %s, which is not installed",
                 function, library->about);
}

// Libraries free without a size, so that the size stands before the block: 16
// bytes, for a block that is aligned for anything.
enum { BEFORE = 16 };

void *tl_library_alloc(void *vm, size_t nbytes) {
  size_t all;
  size_t *block =
      tl_add_overflows(nbytes, BEFORE, &all) ? NULL : tl_alloc_quiet(vm, all);
  if (block == NULL)
    return NULL;
  *block = all;
  return (char *)block + BEFORE;
}

void tl_library_free(void *vm, void *block) {
  if (block == NULL)
    return;
  char *start = (char *)block - BEFORE;
  tl_free(vm, start, *(size_t *)(void *)start);
}
