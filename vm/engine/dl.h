// The system's loader of libraries. Where a build has none, or wants none
// (TALLY_NO_DLOPEN), no library is ever found.
#ifndef TALLY_VM_DL_H
#define TALLY_VM_DL_H

#include <stddef.h>

#ifdef TALLY_NO_DLOPEN
static inline void *tl_dl_open(const char *file) {
  return (void)file, NULL;
}
static inline void *tl_dl_find(void *handle, const char *symbol) {
  return (void)handle, (void)symbol, NULL;
}
static inline void tl_dl_close(void *handle) {
  (void)handle;
}
#else
#include <dlfcn.h>

static inline void *tl_dl_open(const char *file) {
  return dlopen(file, RTLD_LAZY | RTLD_LOCAL);
}
static inline void *tl_dl_find(void *handle, const char *symbol) {
  return dlsym(handle, symbol);
}
static inline void tl_dl_close(void *handle) {
  dlclose(handle);
}
#endif

#endif
