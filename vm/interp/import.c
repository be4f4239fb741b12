// Importing: finds a module by its name or path, compiles it and runs it once.
//
// A name is looked for in this order, and the first place that has it wins:
//
//     1. the host's own loader                      import_hosted
//     2. functions in C, the library's or the host's  import_library
//     3. a file beside the importing one            search, import_file
//     4. a file in a directory of TALLY_PATH        search
//     5. the library's own text in Tally            import_embedded
//     6. a native module NAME.so in 3 and 4         search, import_native
//     7. the same in Tally's own folder             tl_load_module (api/load.c)
//
// So a script's file hides what the library has in Tally, but not what it has
// in C. NAME.bind in 3 or 4, with no NAME.so anywhere, is an error that says
// how to build it (import_declared). A path in quotes skips 2 and 7. What a
// place needs is a capability; without it the place is passed over:
//
//     3, 6   TALLY_MAY_FILES        4   TALLY_MAY_ENVIRONMENT as well
//     6, 7   TALLY_MAY_LIBRARIES; in 6 a file that is there is then an error
//
// All of them end in found_module, if the module was imported before, or in
// run_code.
//
// Built for size.

#include <stdio.h>
#include <stdlib.h>

#include "vm/bytecode/module.h"
#include "vm/embedded.h"
#include "vm/io.h"
#include "vm/objects.h"

// A module as a value; modules are immortal until the VM closes.
// So no count is kept.
static tl_slot module_slot(tl_module *module) {
  return (tl_slot){.tag = TL_TAG_MODULE, .pointer = module};
}

// The newest module of that name, but for the main program; NULL.
// A file's module has its path as its name, as it was joined from the place and
// what the script wrote: "a/../b" and "b" are two modules.
static tl_module *find_module(tl_vm *vm, const char *name) {
  for (tl_module *m = vm->modules; m != NULL; m = m->next)
    if (m != vm->main && strcmp(m->name->text, name) == 0)
      return m;
  return NULL;
}

// Runs a module's code once and sets its state; [unit] is NULL where compiling
// it failed. The module stays either way, with the variables that it set.
static bool run_code(tl_vm *vm, tl_module *module, tl_unit *unit,
                     tl_slot *out) {
  tl_slot value = tl_none();
  if (unit == NULL || !tl_run_unit(vm, unit, &value)) {
    module->state = TL_MODULE_FAILED;
    return false;
  }
  tl_drop(vm, value);
  module->state = TL_MODULE_READY;
  *out = module_slot(module);
  return true;
}

// Whether a module is to be made of its text again: its code met an error, an
// interrupt or a limit, and may come through this time.
// NULL has not: there is nothing to make again.
static bool has_failed(const tl_module *module) {
  return module != NULL && module->state == TL_MODULE_FAILED;
}

// Makes a module of a text, compiles it and runs it; again in [module], if that
// has failed. The text's hash is noted in it.
static bool run_module(tl_vm *vm, tl_module *module, const char *name,
                       const char *directory, const char *text, size_t nbytes,
                       tl_slot *out) {
  if (!has_failed(module))
    module = tl_module_new(vm, name, directory);
  if (module == NULL)
    return false;
  module->state = TL_MODULE_RUNNING;
  module->text_hash = tl_text_hash(text, nbytes);
  tl_unit *unit = vm->compiler->compile(vm, module, name, text, nbytes, 1);
  return run_code(vm, module, unit, out);
}

// Takes all lines out of a text but those between first and last ones (see
// tl_embedded_function): empty lines stay, so that lines keep their
// numbers. Returns how many bytes are left.
static size_t keep_lines(char *text, size_t nbytes,
                         const unsigned short *lines) {
  size_t kept = 0, line = 1;
  for (size_t i = 0; i < nbytes && *lines != 0; i++) {
    if (line >= lines[0] || text[i] == '\n')
      text[kept++] = text[i];
    line += text[i] == '\n';
    // The next stretch of lines to keep.
    if (line > lines[1])
      lines += 2;
  }
  return kept;
}

// As run_module, with the library's own text, which is unpacked first. Of a
// module that is one function only the lines of that are compiled.
static bool run_embedded(tl_vm *vm, tl_module *module,
                         const struct tl_embedded *e, tl_slot *out) {
  char *text = tl_alloc(vm, e->nbytes, "a module");
  tl_unit *unit = NULL;
  if (text != NULL) {
    const unsigned short *lines =
        tl_embedded_lines(vm->library, module->name->text);
    size_t nbytes = e->nbytes;
    vm->library->embedded->unpack(e->packed, text);
    if (lines != NULL)
      nbytes = keep_lines(text, nbytes, lines);
    unit = vm->compiler->compile(vm, module, e->name, text, nbytes, 1);
    tl_free(vm, text, e->nbytes);
  }
  return run_code(vm, module, unit, out);
}

// A module that is there: its value, or an error if it is running (a circle of
// imports).
static bool found_module(tl_vm *vm, tl_module *module, tl_slot *out) {
  if (module->state == TL_MODULE_RUNNING)
    return tl_fail(vm, TALLY_ERR_NAME,
                   "import of %s goes in a circle: it is being imported "
                   "already",
                   module->name->text);
  *out = module_slot(module);
  return true;
}

// The module of that name that this import has to make: a new one, or one that
// failed. NULL with *ready true: it is there, and *out has it; NULL with *ready
// false after tl_fail.
static tl_module *module_to_make(tl_vm *vm, const char *name, bool *ready,
                                 tl_slot *out) {
  tl_module *module = find_module(vm, name);
  *ready = false;
  if (module == NULL)
    return tl_module_new(vm, name, NULL);
  if (has_failed(module))
    return module;
  *ready = found_module(vm, module, out);
  return NULL;
}

// A module with functions in C; [name] is the library's or the host's own text.
// What it has in Tally as well is compiled function by function
// (tl_module_get).
static bool import_library(tl_vm *vm, const char *name, tl_slot *out) {
  bool ready;
  tl_module *module = module_to_make(vm, name, &ready, out);
  if (module == NULL)
    return ready;
  module->state = TL_MODULE_READY;
  module->builtin = name;
  *out = module_slot(module);
  return true;
}

// Runs the text of the file at [path] as a new module, or again in one that has
// failed. Its imports start from the file's directory.
static bool run_file(tl_vm *vm, tl_module *module, const char *path,
                     const tl_bytes *text, tl_slot *out) {
  const char *slash = strrchr(path, '/');
  tl_string *base = slash == NULL
                        ? tl_string_from(vm, ".")
                        : tl_string_new(vm, path, (size_t)(slash - path));
  if (base == NULL)
    return false;
  bool ok =
      run_module(vm, module, path, base->text, text->data, text->nbytes, out);
  tl_drop(vm, tl_own_string(base));
  return ok;
}

// Tries one place. *found says whether a file is there. If a file changed since
// it was imported, the main program (which may be the prompt) gets it anew;
// whoever has the old module keeps that.
static bool import_file(tl_vm *vm, const tl_module *from, const char *path,
                        const char *name, bool *found, tl_slot *out) {
  (void)name;
  tl_module *module = find_module(vm, path);
  // Only the main program gets a changed file anew, and not while the module is
  // running.
  bool may_change = module == NULL || has_failed(module) ||
                    (from == vm->main && module->state != TL_MODULE_RUNNING);
  bool ok = true;
  if (may_change && tl_io_exists(path)) {
    tl_bytes text;
    *found = true;
    ok = tl_io_read(vm, "import", path, &text);
    if (ok) {
      bool is_new = module == NULL || has_failed(module) ||
                    module->text_hash != tl_text_hash(text.data, text.nbytes);
      ok = is_new ? run_file(vm, module, path, &text, out)
                  : found_module(vm, module, out);
      tl_bytes_free(vm, &text);
    }
  } else if (module != NULL) {
    *found = true;
    ok = found_module(vm, module, out);
  }
  return ok;
}

// Tries the library's text in Tally. A module for scripts has no variables at
// first: tl_module_get asks for each function where a script names it.
static bool import_embedded(tl_vm *vm, const char *name, bool *found,
                            tl_slot *out) {
  const struct tl_embedded *e = tl_embedded_find(vm->library, name);
  if (e == NULL)
    return true;
  *found = true;
  if (!e->is_global && e->functions->name != NULL && strcmp(e->name, name) == 0)
    return import_library(vm, e->name, out);
  bool ready;
  tl_module *module = module_to_make(vm, name, &ready, out);
  if (module == NULL)
    return ready;
  module->state = TL_MODULE_RUNNING;
  return run_embedded(vm, module, e, out);
}

// Makes the module that a function of a file in Tally is in: one of its own,
// "stats/median", or that of all of the file.
static bool import_part(tl_vm *vm, const char *file, const char *function,
                        tl_module **out) {
  bool found = false;
  tl_slot made;
  char name[64];
  snprintf(name, sizeof name, "%s/%s", file, function);
  if (tl_embedded_lines(vm->library, name) == NULL)
    snprintf(name, sizeof name, "%s", file);
  if (!import_embedded(vm, name, &found, &made))
    return false;
  *out = made.pointer;
  return true;
}

// A global function of the library that is written in Tally: the variable of
// its module, borrowed, as nobody assigns it. This runs at each call of such a
// function, so the module found last is remembered by the address of [spec].
static bool import_global(tl_vm *vm, const tl_string *spec, tl_slot *out) {
  const char *name = spec->text + 1;
  tl_module **last =
      &vm->global_modules[((uintptr_t)spec >> 4) % TL_GLOBAL_MODULES];
  bool found = false;
  tl_module *module = *last;
  if (module == NULL || module->name->length != spec->length - 1 ||
      memcmp(module->name->text, name, spec->length - 1) != 0) {
    if (!import_embedded(vm, name, &found, out))
      return false;
    *last = module = out->pointer;
  }
  if (!found_module(vm, module, out))
    return false;
  if (module->own == 0) {
    const char *own = name + strlen(TL_GLOBAL_MODULE);
    module->own = 1 + (uint32_t)tl_module_find(module, own, strlen(own));
  }
  // The variable of a library module is never assigned again, so a borrow will
  // do.
  *out = tl_borrow(module->variables[module->own - 1]);
  return true;
}

bool tl_load_embedded_function(tl_vm *vm, const char *module,
                               const char *function, tl_slot *out) {
  tl_module *made;
  if (!import_part(vm, module, function, &made))
    return false;
  int32_t index = tl_module_find(made, function, strlen(function));
  *out = tl_borrow(made->variables[index]);
  return true;
}

bool tl_module_callee(tl_vm *vm, tl_slot *callee) {
  const char *own = ((const tl_module *)callee->pointer)->name->text;
  char name[64];
  if (tl_embedded_global(vm->library, own) == NULL)
    return true;
  snprintf(name, sizeof name, TL_GLOBAL_MODULE "%s", own);
  return tl_load_embedded_function(vm, name, own, callee);
}

// Whether a module is [name], or the function of that file alone.
static bool is_part(const tl_module *module, const char *name,
                    const char *function) {
  const size_t length = strlen(name);
  const char *own = module->name->text;
  return strncmp(own, name, length) == 0 &&
         (own[length] == 0 ||
          (own[length] == '/' && strcmp(own + length + 1, function) == 0));
}

// The module found last is remembered, and the variable borrowed, as
// import_global does it. Names of functions are literals, several of which may
// lie within 16 bytes.
bool tl_call_embedded(tl_vm *vm, const char *module, const char *function,
                      int count, tl_slot *args, tl_slot *out) {
  tl_module **last =
      &vm->global_modules[(uintptr_t)function % TL_GLOBAL_MODULES];
  if ((*last == NULL || !is_part(*last, module, function)) &&
      !import_part(vm, module, function, last)) {
    for (int i = 0; i < count; i++) tl_drop(vm, args[i]);
    return false;
  }
  int32_t index = tl_module_find(*last, function, strlen(function));
  return tl_call(vm, tl_borrow((*last)->variables[index]), count, args, out);
}

// The last part of a path: the name of a module in a file.
// Without its ending, which search adds: "lib/m" is m.
static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

// The module that a native one, just loaded, has added.
// *out as import_library sets it; kind name where tally_open_NAME has added
// modules of other names only.
static bool import_added(tl_vm *vm, const char *name, tl_slot *out) {
  const char *module = vm->host->find_module(vm, name, strlen(name));
  if (module != NULL)
    return import_library(vm, module, out);
  return tl_fail(vm, TALLY_ERR_NAME,
                 "import: the native module %s adds no module of that name",
                 name);
}

// Tries one place for a native module. One that was loaded before is a module
// of the host's, which is found earlier unless it is named by its path.
// Declarations without the library that is made of them have a hint of their
// own.
//   import m          NAME.so beside, …      module m
//   import "lib/m"    lib/m.so               module m, by the last part
//
// A module is known by that last part: a second m.so in another folder is not
// loaded, and its import gives the first. Without the capability a file that is
// there is an error (kind io) and not passed over, as the script means it.
static bool import_native(tl_vm *vm, const tl_module *from, const char *path,
                          const char *name, bool *found, tl_slot *out) {
  (void)from;
  // lib/m.so has tally_open_m.
  const char *base = base_name(name);
  bool ok = true;
  *found = tl_io_exists(path);
  if (*found && vm->host->find_module(vm, base, strlen(base)) == NULL)
    ok = tl_require(vm, TALLY_MAY_LIBRARIES, "import") &&
         vm->host->load_module(vm, path, base, NULL);
  return ok && (!*found || import_added(vm, base, out));
}

// Fails where there are declarations of a module that nobody has built yet.
// The declarations are read by `tally bind` alone: an import neither compiles
// nor runs them. Sets *found where it fails, which ends the search.
static bool import_declared(tl_vm *vm, const tl_module *from, const char *path,
                            const char *name, bool *found, tl_slot *out) {
  (void)from, (void)out;
  *found = tl_io_exists(path);
  return !*found || tl_fail(vm, TALLY_ERR_IO,
                            "import: %s needs its native module (tally bind "
                            "--build %s), which is not installed",
                            name, path);
}

// What search does in each place: import_file, import_native, import_declared.
// *found false and true as the result: there is nothing here, the next place is
// tried. False, after tl_fail, ends the search. [name] is what was written.
typedef bool try_place(tl_vm *vm, const tl_module *from, const char *path,
                       const char *name, bool *found, tl_slot *out);

// What is looked for: a name with an ending, and how.
typedef struct wanted {
  tl_module *from;
  const char *name, *ending;
  try_place *try;
} wanted;

// Tries a directory; an empty one is the current one, or that of an absolute
// name.
static bool try_in(tl_vm *vm, const wanted *w, const char *directory,
                   size_t length, bool *found, tl_slot *out) {
  bool slash = length > 0 && directory[length - 1] != '/';
  tl_string *path = tl_string_format(vm, "%.*s%s%s%s", (int)length, directory,
                                     slash ? "/" : "", w->name, w->ending);
  bool ok =
      path != NULL && w->try(vm, w->from, path->text, w->name, found, out);
  if (path != NULL)
    tl_drop(vm, tl_own_string(path));
  return ok;
}

// Tries the place beside the importing file, then the directories of
// TALLY_PATH, as far as the host allows files and environment. An absolute path
// is looked for nowhere else.
static bool search(tl_vm *vm, wanted w, bool *found, tl_slot *out) {
  if ((vm->options.capabilities & TALLY_MAY_FILES) == 0)
    return true;
  const char *base =
      w.from->path == NULL || w.name[0] == '/' ? "" : w.from->path->text;
  if (!try_in(vm, &w, base, strlen(base), found, out))
    return false;
  bool more = w.name[0] != '/' &&
              (vm->options.capabilities & TALLY_MAY_ENVIRONMENT) != 0;
  const char *list = more ? getenv("TALLY_PATH") : NULL;
  while (list != NULL && *list != 0 && !*found) {
    size_t length = strcspn(list, ":");
    if (length > 0 && !try_in(vm, &w, list, length, found, out))
      return false;
    list += length + (list[length] == ':');
  }
  return true;
}

// Tries the same places for a native module, then Tally's own folder of them.
// Last of all, so that no library that lies about in a folder hides a script or
// the library. Each place costs one look at the file system, in imports that
// find nothing else.
static bool search_native(tl_vm *vm, tl_module *from, const char *name,
                          bool is_path, bool *found, tl_slot *out) {
  if (!search(vm, (wanted){from, name, ".so", import_native}, found, out))
    return false;
  // Tally's own folder is no place of the script's, so a path never means it.
  unsigned needed = TALLY_MAY_FILES | TALLY_MAY_LIBRARIES;
  if (!*found && !is_path && (vm->options.capabilities & needed) == needed &&
      (!vm->host->load_module(vm, NULL, name, found) ||
       (*found && !import_added(vm, name, out))))
    return false;
  return *found ||
         search(vm, (wanted){from, name, ".bind", import_declared}, found, out);
}

// Tries the host's loader (options.load), which gives the text of a module.
// What the host has loaded stays: its loader is asked once for each name, again
// after a failure. The text is the host's, by its resize.
static bool import_hosted(tl_vm *vm, const char *name, bool *found,
                          tl_slot *out) {
  if (vm->options.load == NULL)
    return true;
  tl_module *module = find_module(vm, name);
  if (module != NULL && !has_failed(module)) {
    *found = true;
    return found_module(vm, module, out);
  }
  char *text = NULL;
  size_t nbytes = 0;
  if (vm->options.load(vm->options.context, name, &text, &nbytes) != 0)
    return true;
  *found = true;
  bool ok = run_module(vm, module, name, NULL, text, nbytes, out);
  tl_host_free(vm, text, nbytes);
  return ok;
}

// The library's own functions in Tally check their arguments with those of a
// module that is not for scripts (stdlib/checks.c).
static bool is_inner(const tl_vm *vm, const tl_module *from, const char *name) {
  return strcmp(name, "_arguments") == 0 &&
         tl_embedded_find(vm->library, from->name->text) == NULL;
}

// Tries the places in the order of the list above. Only a name that is no path
// can be a module of the library or the host.
bool tl_module_import(tl_vm *vm, tl_module *from, const tl_string *spec,
                      tl_slot *out) {
  bool is_path = spec->text[0] == '"';
  const char *name = spec->text + 1;
  bool found = false;
  if (spec->text[0] == '*')  // a global function's: nobody else's
    return import_global(vm, spec, out);
  bool ok = import_hosted(vm, name, &found, out);
  if (!ok || found)
    return ok;
  const char *native = is_path || is_inner(vm, from, name)
                           ? NULL
                           : vm->host->find_module(vm, name, strlen(name));
  if (native != NULL)
    return import_library(vm, native, out);
  size_t n = strlen(name);
  // A path may be written with its ending or without.
  bool ends = n > 4 && strcmp(name + n - 4, ".tly") == 0;
  const char *ending = is_path && ends ? "" : ".tly";
  // Whoever writes the ending .tly wants that file and no other.
  ok = search(vm, (wanted){from, name, ending, import_file}, &found, out) &&
       (found || import_embedded(vm, name, &found, out)) &&
       (found || ends || search_native(vm, from, name, is_path, &found, out));
  if (!ok || found)
    return ok;
  // The most common imports of Python programs that need none here.
  if (strcmp(name, "numpy") == 0 || strcmp(name, "math") == 0)
    return tl_fail(vm, TALLY_ERR_IO,
                   "import: there is no module %s: functions on arrays and "
                   "numbers need none, %s.sqrt(x) is sqrt(x)",
                   name, name);
  // The one module of Tally's that is built apart.
  if (strcmp(name, "torch") == 0)
    return tl_fail(vm, TALLY_ERR_IO,
                   "import: there is no module torch: `make torch` builds it "
                   "where libtorch is installed, beside Tally's own modules or "
                   "in TALLY_PATH");
  return tl_fail(vm, TALLY_ERR_IO,
                 is_path ? "import: there is no file %s beside the importing "
                           "file or in TALLY_PATH"
                         : "import: there is no module %s in the library, and "
                           "no file %s.tly beside the importing file or in "
                           "TALLY_PATH",
                 name, name);
}
