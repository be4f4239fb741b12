// Modules, their variables, and the units compiled into them.

#include "vm/interp/module.h"
#include "vm/region/region.h"

#include <stdlib.h>
#include <string.h>

#include "vm/embedded.h"
#include "vm/api/host.h"
#include "vm/io.h"
#include "vm/memory/memory.h"
#include "vm/text/suggest.h"
#include "vm/values/list.h"

// --- Units ------------------------------------------------------------------

// Memory of a unit: chunks that are freed together.
typedef struct tl_chunk {
  struct tl_chunk *next;
  size_t nbytes, used;  // of the whole chunk
} tl_chunk;

enum { CHUNK = 4096 };

void *tl_unit_alloc(tl_vm *vm, tl_unit *unit, size_t nbytes) {
  nbytes = (nbytes + 15) & ~(size_t)15;
  tl_chunk *chunk = unit->chunks;
  if (chunk == NULL || chunk->nbytes - chunk->used < nbytes) {
    size_t header = (sizeof(tl_chunk) + 15) & ~(size_t)15;
    size_t size = nbytes + header < CHUNK ? CHUNK : nbytes + header;
    chunk = tl_alloc_zeroed(vm, size, "compiled code");
    if (chunk == NULL)
      return NULL;
    chunk->nbytes = size;
    chunk->used = header;
    // A large one goes behind the current one, which has room left.
    if (size > CHUNK && unit->chunks != NULL) {
      chunk->next = unit->chunks->next;
      unit->chunks->next = chunk;
    } else {
      chunk->next = unit->chunks;
      unit->chunks = chunk;
    }
  }
  void *block = (char *)chunk + chunk->used;
  chunk->used += nbytes;
  return block;
}

bool tl_unit_adopt(tl_vm *vm, tl_unit *unit, tl_slot value) {
  tl_adopted *node = tl_unit_alloc(vm, unit, sizeof *node);
  if (node == NULL) {
    value.object->flags &= (uint8_t)~TL_IMMORTAL;
    value.tag |= TL_OWNED;
    tl_drop(vm, value);
    return false;
  }
  node->value = value;
  node->next = unit->adopted;
  unit->adopted = node;
  return true;
}

static bool index_lines(tl_vm *vm, tl_unit *unit) {
  uint32_t count = 1;
  for (size_t i = 0; i < unit->nbytes; i++) count += unit->text[i] == '\n';
  unit->line_starts = tl_unit_alloc(vm, unit, count * sizeof(uint32_t));
  if (unit->line_starts == NULL)
    return false;
  unit->line_starts[unit->line_count++] = 0;
  for (size_t i = 0; i < unit->nbytes; i++) {
    if (unit->text[i] == '\n') {
      unit->line_starts[unit->line_count++] = (uint32_t)(i + 1);
    }
  }
  return true;
}

tl_unit *tl_unit_new(tl_vm *vm, tl_module *module, const char *file,
                     const char *text, size_t nbytes) {
  tl_unit *unit = tl_alloc_zeroed(vm, sizeof *unit, "compiled code");
  if (unit == NULL)
    return NULL;
  unit->module = module;
  unit->next = module->units;
  module->units = unit;
  vm->unit_count++;
  unit->text = tl_unit_alloc(vm, unit, nbytes + 1);
  unit->file = unit->text == NULL ? NULL : tl_string_from(vm, file);
  if (unit->file != NULL) {
    unit->file->head.flags |= TL_IMMORTAL;
    tl_slot name = {.tag = TL_TAG_STRING, .string = unit->file};
    memcpy(unit->text, text, nbytes);
    unit->nbytes = nbytes;
    if (tl_unit_adopt(vm, unit, name) && index_lines(vm, unit))
      return unit;
  }
  tl_unit_free(vm, unit);
  return NULL;
}

static void make_mortal(tl_adopted *a) {
  tl_object *object = a->value.object;
  if ((object->flags & TL_IMMORTAL) == 0)
    return;
  object->flags &= (uint8_t)~TL_IMMORTAL;
  object->count = 1;
}

// Types live as long as the VM.
static bool is_lendable(const tl_adopted *a) {
  return !tl_is_type(a->value);
}

bool tl_unit_lend(tl_unit *unit) {
  if (unit->prototype_count != 1)
    return false;
  for (const tl_adopted *a = unit->adopted; a != NULL; a = a->next) {
    if (!is_lendable(a))
      return false;
  }
  for (tl_adopted *a = unit->adopted; a != NULL; a = a->next) make_mortal(a);
  return true;
}

void tl_units_each_held(const tl_vm *vm,
                        void (*each)(void *context, tl_slot value),
                        void *context) {
  for (const tl_module *m = vm->modules; m != NULL; m = m->next) {
    for (const tl_unit *u = m->units; u != NULL; u = u->next) {
      for (const tl_adopted *a = u->adopted; a != NULL; a = a->next) {
        if ((a->value.object->flags & TL_IMMORTAL) == 0) {
          each(context, a->value);
        }
      }
    }
  }
}

static void unlink_unit(tl_unit *unit) {
  tl_unit **at = &unit->module->units;
  while (*at != NULL && *at != unit) at = &(*at)->next;
  if (*at == unit)
    *at = unit->next;
}

void tl_unit_free(tl_vm *vm, tl_unit *unit) {
  tl_region_forget(vm, unit);
  unlink_unit(unit);
  for (tl_adopted *a = unit->adopted; a != NULL; a = a->next) {
    make_mortal(a);
    a->value.tag |= TL_OWNED;
    tl_drop(vm, a->value);
  }
  for (tl_chunk *chunk = unit->chunks; chunk != NULL;) {
    tl_chunk *next = chunk->next;
    tl_free(vm, chunk, chunk->nbytes);
    chunk = next;
  }
  tl_free(vm, unit, sizeof *unit);
  vm->unit_count--;
}

// --- Modules ----------------------------------------------------------------

static tl_string *immortal_string(tl_vm *vm, const char *text) {
  tl_string *string = tl_string_from(vm, text);
  if (string != NULL)
    string->head.flags |= TL_IMMORTAL;
  return string;
}

static void free_string(tl_vm *vm, tl_string *string) {
  if (string == NULL)
    return;
  string->head.flags &= (uint8_t)~TL_IMMORTAL;
  string->head.count = 1;
  tl_drop(vm, tl_own_string(string));
}

tl_module *tl_module_new(tl_vm *vm, const char *name, const char *path) {
  tl_module *module = tl_alloc_zeroed(vm, sizeof *module, "a module");
  if (module == NULL)
    return NULL;
  module->head.kind = TL_KIND_MODULE;
  module->head.flags = TL_IMMORTAL;
  module->head.count = 1;
  module->head.nbytes = sizeof *module;
  module->name = immortal_string(vm, name);
  module->path = path == NULL ? NULL : immortal_string(vm, path);
  if (module->name == NULL || (path != NULL && module->path == NULL)) {
    free_string(vm, module->name);
    free_string(vm, module->path);
    tl_free(vm, module, sizeof *module);
    return NULL;
  }
  module->next = vm->modules;
  vm->modules = module;
  return module;
}

int32_t tl_module_find(const tl_module *module, const char *name,
                       size_t nbytes) {
  for (uint32_t i = 0; i < module->variable_count; i++) {
    const tl_string *other = module->variable_names[i];
    if (other->length == nbytes && memcmp(other->text, name, nbytes) == 0) {
      return (int32_t)i;
    }
  }
  return -1;
}

// The tables keep one capacity: they grow together or not at all.
static bool grow_variables(tl_vm *vm, tl_module *module) {
  size_t old = module->variable_capacity, wider = old * 2 + 8;
  tl_slot *variables =
      tl_alloc(vm, wider * sizeof *variables, "module variables");
  if (variables == NULL)
    return false;
  tl_string **names = tl_alloc(vm, wider * sizeof *names, "module variables");
  bool *is_steady =
      names == NULL ? NULL : tl_alloc_zeroed(vm, wider, "module variables");
  if (is_steady == NULL) {
    if (names != NULL)
      tl_free(vm, names, wider * sizeof *names);
    tl_free(vm, variables, wider * sizeof *variables);
    return false;
  }
  if (old > 0) {
    memcpy(variables, module->variables, old * sizeof *variables);
    memcpy(names, module->variable_names, old * sizeof *names);
    memcpy(is_steady, module->is_steady, old);
    tl_free(vm, module->is_steady, old);
    tl_free(vm, module->variables, old * sizeof *variables);
    tl_free(vm, module->variable_names, old * sizeof *names);
  }
  module->variables = variables;
  module->variable_names = names;
  module->is_steady = is_steady;
  module->variable_capacity = (uint32_t)wider;
  return true;
}

int32_t tl_module_add(tl_vm *vm, tl_module *module, const char *name,
                      size_t nbytes) {
  if (module->variable_count == module->variable_capacity &&
      !grow_variables(vm, module)) {
    return -1;
  }
  tl_string *string = tl_string_new(vm, name, nbytes);
  if (string == NULL)
    return -1;
  string->head.flags |= TL_IMMORTAL;
  int32_t index = (int32_t)module->variable_count++;
  module->variable_names[index] = string;
  module->variables[index] = tl_unset();
  return index;
}

int32_t tl_module_variable(tl_vm *vm, tl_module *module, const char *name,
                           size_t nbytes) {
  int32_t index = tl_module_find(module, name, nbytes);
  return index >= 0 ? index : tl_module_add(vm, module, name, nbytes);
}

bool tl_is_among(const uint32_t *items, uint32_t count, uint32_t wanted) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (items[middle] == wanted)
      return true;
    if (items[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return false;
}

bool tl_relies_at(const tl_prototype *function, uint32_t pc) {
  return tl_is_among(function->relying, function->relying_count, pc);
}

// Whether a call under way may borrow the variable's value because it takes it
// for steady.
static bool is_relied_on(const tl_vm *vm, const tl_module *module,
                         uint32_t index, bool by_code) {
  if (!module->is_steady[index])
    return false;
  const tl_frame *end = vm->frame + !by_code;
  for (const tl_frame *f = vm->frames; f < end; f++) {
    const tl_prototype *p = f->function;
    if (p != NULL && p->unit->module == module &&
        tl_unit_relies(p->unit, index) &&
        tl_relies_at(p, (uint32_t)(f->pc - p->code)))
      return true;
  }
  return false;
}

// [value] stays alive until all calls have ended. Where there is no memory for
// that, it stays for good: better than a borrow of what is gone.
static void let_wait(tl_vm *vm, tl_slot value) {
  bool failed = tl_failed(vm);
  if (vm->waiting == NULL)
    vm->waiting = tl_list_new(vm, 6);
  if (vm->waiting != NULL)
    tl_list_push(vm, &vm->waiting, &value);
  if (!failed)
    tl_error_clear(vm);
}

void tl_module_assign(tl_vm *vm, tl_module *module, uint32_t index,
                      tl_slot value, bool by_code) {
  tl_slot *g = &module->variables[index], old = *g;
  tl_copy_slot(g, &value);
  if (!tl_is_owned(old))
    return;
  if (is_relied_on(vm, module, index, by_code)) {
    let_wait(vm, old);
    return;
  }
  tl_drop(vm, old);
  // x = x[:9]: the old x no longer keeps the block.
  if (tl_is_owned(*g))
    tl_let_go(vm, g);
}

tl_slot tl_module_take(tl_vm *vm, tl_module *module, uint32_t index) {
  tl_slot *g = &module->variables[index], value = *g;
  *g = tl_unset();
  if (!tl_is_owned(value) || !is_relied_on(vm, module, index, true))
    return value;
  let_wait(vm, value);
  return tl_retain(vm, tl_borrow(value));
}

void tl_drop_waiting(tl_vm *vm) {
  tl_list *waiting = vm->waiting;
  vm->waiting = NULL;
  if (waiting != NULL)
    tl_drop(vm, tl_own_list(waiting));
}

void tl_module_clear(tl_vm *vm, tl_module *module) {
  for (uint32_t i = 0; i < module->variable_count; i++) {
    tl_slot value = module->variables[i];
    module->variables[i] = tl_unset();
    if (tl_is_owned(value))
      tl_drop(vm, value);
  }
}

static void free_module(tl_vm *vm, tl_module *module) {
  while (module->units != NULL) tl_unit_free(vm, module->units);
  for (uint32_t i = 0; i < module->variable_count; i++) {
    free_string(vm, module->variable_names[i]);
  }
  size_t n = module->variable_capacity;
  if (n > 0) {
    tl_free(vm, module->variables, n * sizeof *module->variables);
    tl_free(vm, module->variable_names, n * sizeof *module->variable_names);
    tl_free(vm, module->is_steady, n);
  }
  free_string(vm, module->name);
  free_string(vm, module->path);
  tl_free(vm, module, sizeof *module);
}

void tl_modules_clear(tl_vm *vm) {
  for (tl_module *m = vm->modules; m != NULL; m = m->next) {
    tl_module_clear(vm, m);
  }
}

void tl_modules_close(tl_vm *vm) {
  tl_modules_clear(vm);
  while (vm->modules != NULL) {
    tl_module *next = vm->modules->next;
    free_module(vm, vm->modules);
    vm->modules = next;
  }
}

// --- Importing --------------------------------------------------------------

static tl_slot module_slot(tl_module *module) {
  return (tl_slot){.tag = TL_TAG_MODULE, .pointer = module};
}

static tl_module *find_module(tl_vm *vm, const char *name) {
  for (tl_module *m = vm->modules; m != NULL; m = m->next) {
    if (m != vm->main && strcmp(m->name->text, name) == 0)
      return m;
  }
  return NULL;
}

// Runs a module's code once, NULL where compiling it failed; the module keeps
// its variables.
static bool run_code(tl_vm *vm, tl_module *module, tl_unit *unit,
                     tl_slot *out) {
  tl_slot value = tl_none();
  if (unit == NULL || !tl_run_unit(vm, unit, &value)) {
    module->state = 3;
    return false;
  }
  tl_drop(vm, value);
  module->state = 2;
  *out = module_slot(module);
  return true;
}

static bool run_module(tl_vm *vm, const char *name, const char *directory,
                       const char *text, size_t nbytes, tl_slot *out) {
  tl_module *module = tl_module_new(vm, name, directory);
  if (module == NULL)
    return false;
  module->state = 1;
  tl_unit *unit = vm->compiler->compile(vm, module, name, text, nbytes, 1);
  return run_code(vm, module, unit, out);
}

// The same with what the library has of a module in Tally.
static bool run_embedded(tl_vm *vm, tl_module *module,
                         const struct tl_embedded *e, tl_slot *out) {
  char *text = tl_alloc(vm, e->nbytes, "a module");
  tl_unit *unit = NULL;
  if (text != NULL) {
    tl_inflate(e->packed, text);
    unit = vm->compiler->compile(vm, module, e->name, text, e->nbytes, 1);
    tl_free(vm, text, e->nbytes);
  }
  return run_code(vm, module, unit, out);
}

static bool found_module(tl_vm *vm, tl_module *module, tl_slot *out) {
  if (module->state == 1) {
    return tl_fail(vm, TALLY_ERR_NAME,
                   "import of %s goes in a circle: it is being imported "
                   "already",
                   module->name->text);
  }
  if (module->state == 3) {
    return tl_fail(vm, TALLY_ERR_NAME,
                   "the module %s failed when it was "
                   "first imported",
                   module->name->text);
  }
  *out = module_slot(module);
  return true;
}

// A module with functions in C; [name] is the library's or the host's own text.
// Where it has some in Tally too, these import
// the module itself, which is ready before they run.
static bool import_library(tl_vm *vm, const char *name, tl_slot *out) {
  tl_module *module = find_module(vm, name);
  // One that failed, for want of memory, is tried again.
  if (module != NULL && module->state != 3)
    return found_module(vm, module, out);
  if (module == NULL)
    module = tl_module_new(vm, name, NULL);
  if (module == NULL)
    return false;
  module->state = 2;
  module->builtin = name;
  const struct tl_embedded *also = tl_embedded_find(name);
  if (also != NULL)
    return run_embedded(vm, module, also, out);
  *out = module_slot(module);
  return true;
}

static char *join_path(tl_vm *vm, const char *directory, size_t length,
                       const char *name, const char *ending) {
  size_t size = length + strlen(name) + strlen(ending) + 2;
  char *path = tl_alloc(vm, size, "a path");
  if (path == NULL)
    return NULL;
  memcpy(path, directory, length);
  if (length > 0 && directory[length - 1] != '/')
    path[length++] = '/';
  strcpy(path + length, name);
  strcat(path, ending);
  return path;
}

static void free_path(tl_vm *vm, char *path, size_t length, const char *name,
                      const char *ending) {
  tl_free(vm, path, length + strlen(name) + strlen(ending) + 2);
}

// Tries one place. *found says whether a file is there.
static bool import_file(tl_vm *vm, const char *directory, size_t length,
                        const char *name, const char *ending, bool *found,
                        tl_slot *out) {
  char *path = join_path(vm, directory, length, name, ending);
  if (path == NULL)
    return false;
  bool ok = true;
  tl_module *module = find_module(vm, path);
  if (module != NULL) {
    *found = true;
    ok = found_module(vm, module, out);
  } else if (tl_io_exists(path)) {
    *found = true;
    tl_bytes text;
    ok = tl_io_read(vm, "import", path, &text);
    if (ok) {
      const char *slash = strrchr(path, '/');
      char *base = slash == NULL
                       ? NULL
                       : tl_alloc(vm, (size_t)(slash - path) + 1, "a path");
      if (base != NULL) {
        memcpy(base, path, (size_t)(slash - path));
        base[slash - path] = 0;
      }
      ok = run_module(vm, path, base == NULL ? "." : base, text.data,
                      text.nbytes, out);
      if (base != NULL)
        tl_free(vm, base, (size_t)(slash - path) + 1);
      tl_bytes_free(vm, &text);
    }
  }
  free_path(vm, path, length, name, ending);
  return ok;
}

static bool import_embedded(tl_vm *vm, const char *name, bool *found,
                            tl_slot *out) {
  const struct tl_embedded *e = tl_embedded_find(name);
  if (e == NULL)
    return true;
  *found = true;
  tl_module *module = find_module(vm, name);
  if (module != NULL)
    return found_module(vm, module, out);
  module = tl_module_new(vm, name, NULL);
  if (module == NULL)
    return false;
  module->state = 1;
  return run_embedded(vm, module, e, out);
}

// Beside the importing file, then in TALLY_PATH, then the library.
static bool search(tl_vm *vm, tl_module *from, const char *name,
                   const char *ending, bool *found, tl_slot *out) {
  bool may_read = (vm->options.capabilities & TALLY_MAY_FILES) != 0;
  if (!may_read)
    return true;
  if (name[0] == '/') {
    return import_file(vm, "", 0, name, ending, found, out);
  }
  const char *base = from->path == NULL ? "" : from->path->text;
  if (!import_file(vm, base, strlen(base), name, ending, found, out)) {
    return false;
  }
  if (*found || (vm->options.capabilities & TALLY_MAY_ENVIRONMENT) == 0) {
    return true;
  }
  const char *list = getenv("TALLY_PATH");
  while (list != NULL && *list != 0 && !*found) {
    size_t length = strcspn(list, ":");
    if (length > 0 &&
        !import_file(vm, list, length, name, ending, found, out)) {
      return false;
    }
    list += length;
    if (*list == ':')
      list++;
  }
  return true;
}

static bool import_hosted(tl_vm *vm, const char *name, bool *found,
                          tl_slot *out) {
  if (vm->options.load == NULL)
    return true;
  tl_module *module = find_module(vm, name);
  if (module != NULL) {
    *found = true;
    return found_module(vm, module, out);
  }
  char *text = NULL;
  size_t nbytes = 0;
  if (vm->options.load(vm->options.context, name, &text, &nbytes) != 0) {
    return true;
  }
  *found = true;
  bool ok = run_module(vm, name, NULL, text, nbytes, out);
  vm->options.resize(vm->options.context, text, nbytes, 0);
  return ok;
}

bool tl_module_import(tl_vm *vm, tl_module *from, const tl_string *spec,
                      tl_slot *out) {
  bool is_path = spec->text[0] == '"';
  const char *name = spec->text + 1;
  bool found = false;
  if (spec->text[0] == '*')  // a global function's: nobody else's
    return import_embedded(vm, name, &found, out);
  if (!import_hosted(vm, name, &found, out))
    return false;
  if (found)
    return true;
  const char *native =
      is_path ? NULL : tl_native_module(vm, name, strlen(name));
  if (native != NULL) {
    return import_library(vm, native, out);
  }
  size_t n = strlen(name);
  bool ends = n > 4 && strcmp(name + n - 4, ".tly") == 0;
  if (!search(vm, from, name, is_path && ends ? "" : ".tly", &found, out)) {
    return false;
  }
  if (found)
    return true;
  if (!import_embedded(vm, name, &found, out))
    return false;
  if (found)
    return true;
  if (strcmp(name, "numpy") == 0 || strcmp(name, "math") == 0) {
    return tl_fail(vm, TALLY_ERR_IO,
                   "import: there is no module %s: functions on arrays and "
                   "numbers need none, %s.sqrt(x) is sqrt(x)",
                   name, name);
  }
  return tl_fail(vm, TALLY_ERR_IO,
                 is_path ? "import: there is no file %s beside the importing "
                           "file or in TALLY_PATH"
                         : "import: there is no module %s in the library, and "
                           "no file %s.tly beside the importing file or in "
                           "TALLY_PATH",
                 name, name);
}

bool tl_module_get(tl_vm *vm, const tl_module *module, tl_string *name,
                   tl_slot *out) {
  int32_t index = tl_module_find(module, name->text, name->length);
  if (index >= 0 && !tl_is_unset(module->variables[index])) {
    // Owned: the module's functions may assign the variable anew.
    *out = tl_retain(vm, module->variables[index]);
    return true;
  }
  if (module->builtin != NULL) {
    const tl_builtin *builtin =
        tl_function_find(vm, module->builtin, name->text, name->length);
    if (builtin != NULL) {
      if (builtin->flags & TL_VALUE)
        return builtin->call(vm, NULL, out);
      *out = tl_builtin_slot(builtin);
      return true;
    }
  }
  tl_suggestion near;
  tl_suggest_begin(&near, name->text, name->length);
  for (uint32_t i = 0; i < module->variable_count; i++) {
    tl_suggest_offer(&near, module->variable_names[i]->text,
                     module->variable_names[i]->length);
  }
  char hint[80];
  return tl_fail(vm, TALLY_ERR_NAME, "the module %s has no %s%s",
                 module->name->text, name->text,
                 tl_suggest_text(&near, hint, sizeof hint));
}
