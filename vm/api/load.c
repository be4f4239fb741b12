// Native modules in files: libraries that add functions to a VM when a script
// imports them.
//
//     import NAME ─▶ vm->host->load_module ─▶ dlopen NAME.so
//                                          ─▶ tally_open_NAME(vm)
//                                          ─▶ tally_add_module(vm, …)
//
// A library stays loaded for as long as the process: its code and its tables of
// types are in use until the last VM is closed, and other VMs find it loaded.
//
// Built for size.

#define _GNU_SOURCE 1  // for dladdr

#include <stdio.h>
#include <stdlib.h>

#include "vm/api/api.h"
#include "vm/api/host.h"
#include "vm/dl.h"

// Names and paths of modules are at most so long, all in all.
enum { ROOM = 4096 };

// Functions for modules that Tally itself does not call, one of each object
// file: a program that is linked with libtally.a has them all then.
typedef void any_function(void);
__attribute__((used)) static any_function *const for_modules[] = {
    (void (*)(void))tally_from_buffer,  (void (*)(void))tally_from_resource,
    (void (*)(void))tally_from_dlpack,  (void (*)(void))tally_from_arrow,
    (void (*)(void))tally_to_arrow,     (void (*)(void))tally_send,
    (void (*)(void))tally_from_complex, (void (*)(void))tally_set_global,
};

// As a hook: what the module raises is the import's error.
static tally_status open_module(tl_vm *vm, void *context, size_t count,
                                const tally_value *args, tally_value *out) {
  (void)count, (void)args, (void)out;
  tally_open_module *open;
  memcpy(&open, context, sizeof open);
  return open(vm);
}

// Runs the function of a loaded library that adds the module.
// With all access, as the module's rows are added inside of an import, where a
// hook may usually do less.
static bool run_opening(tl_vm *vm, void *symbol, const char *name) {
  tl_hook_call call = {.name = name, .access = TL_ACCESS_ALL};
  tl_slot nothing;
  return tl_hook_run(vm, &call, open_module, &symbol, &nothing, NULL);
}

// Loads the library at [path] and lets it add its module.
// Kind io where the system does not load it, with the system's words; kind name
// where it is a library of another sort, which is closed again.
static bool load(tl_vm *vm, const char *path, const char *name) {
  char text[ROOM];
  // Without a slash the system would look for it in folders of its own.
  int n =
      snprintf(text, sizeof text, "%s%s", strchr(path, '/') ? "" : "./", path);
  void *library = n < ROOM ? tl_dl_open_whole(text) : NULL;
  if (library == NULL)
    return tl_fail(vm, TALLY_ERR_IO, "import: %s does not load: %s", path,
                   n < ROOM ? tl_dl_error() : "the path is too long");
  n = snprintf(text, sizeof text, "tally_open_%s", name);
  void *symbol = n < ROOM ? tl_dl_find(library, text) : NULL;
  if (symbol != NULL)
    return run_opening(vm, symbol, name);
  tl_dl_close(library);
  return tl_fail(vm, TALLY_ERR_NAME,
                 "import: %s is no native module: it has no function "
                 "tally_open_%s",
                 path, name);
}

#ifdef TALLY_NO_DLOPEN
// There is no place where modules could be.
static bool own_path(const char *name, char *out) {
  return (void)name, (void)out, false;
}
#else
// Writes the path of a module in tally-VERSION/ beside the library, or the
// program, that this code is in; false: it has no known place. [out] has room
// for ROOM bytes.
static bool own_path(const char *name, char *out) {
  static const char here;
  Dl_info self;
  if (dladdr(&here, &self) == 0)
    return false;
  // The system knows the program by its first argument, which is a mere name
  // where the shell found it in PATH: no path from here.
  bool is_path = strchr(self.dli_fname, '/') != NULL;
  char *path = realpath(is_path ? self.dli_fname : "/proc/self/exe", NULL);
  char *end = path == NULL ? NULL : strrchr(path, '/');
  int n = end == NULL
              ? ROOM
              : snprintf(out, ROOM, "%.*s/tally-" TALLY_VERSION "/%s.so",
                         (int)(end - path), path, name);
  free(path);
  return n < ROOM;
}
#endif

// Without a path it is Tally's own folder; *found is written there alone, and
// true also where the library then does not load.
bool tl_load_module(tl_vm *vm, const char *path, const char *name,
                    bool *found) {
  char own[ROOM];
  if (path != NULL)
    return load(vm, path, name);
  *found = own_path(name, own) && tl_io_exists(own);
  return !*found || load(vm, own, name);
}
