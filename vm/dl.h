// The system's loader of libraries. Where a build has none, or wants none
// (TALLY_NO_DLOPEN), no library is ever found.
#pragma once

#include <stddef.h>

#ifdef TALLY_NO_DLOPEN
// Without a loader: nothing is found, and callers use what is built in.
static inline void *tl_dl_open(const char *file) {
  return (void)file, NULL;
}
static inline void *tl_dl_open_whole(const char *file) {
  return (void)file, NULL;
}
static inline const char *tl_dl_error(void) {
  return "this build loads no libraries";
}
static inline void *tl_dl_find(void *handle, const char *symbol) {
  return (void)handle, (void)symbol, NULL;
}
static inline void tl_dl_close(void *handle) {
  (void)handle;
}
#else
#include <dlfcn.h>

// Opens a library, sought as the system does where [file] has no slash; NULL:
// there is none. Its names are not offered to libraries that come later.
static inline void *tl_dl_open(const char *file) {
  return dlopen(file, RTLD_LAZY | RTLD_LOCAL);
}
// The same for a library that needs names of this program: false where one is
// missing, instead of an end of the process at its first use.
static inline void *tl_dl_open_whole(const char *file) {
  return dlopen(file, RTLD_NOW | RTLD_LOCAL);
}
// Why the last call of these failed, as the system says it.
static inline const char *tl_dl_error(void) {
  const char *text = dlerror();
  return text == NULL ? "it does not load" : text;
}
// The address of a function or object of the library; NULL: it has none such.
static inline void *tl_dl_find(void *handle, const char *symbol) {
  return dlsym(handle, symbol);
}
// No address that was found in the library may be used afterwards.
static inline void tl_dl_close(void *handle) {
  dlclose(handle);
}
#endif
