// Modules, their variables, and the units compiled into them: module.h has the
// contracts.
//
// A unit's tables lie in chunks that are freed together, so the compiler never
// frees a part of one. Its objects (constants, names) are immortal while the
// unit lives and become ordinary ones when it ends.
//
// Built for size.

#include "vm/bytecode/module.h"
#include "vm/objects.h"

#include "vm/embedded.h"
#include "vm/suggest.h"
#include "vm/values/list.h"

// --- Units ------------------------------------------------------------------

// Memory of a unit: a chunk of at least 4 KiB, of which pieces are handed out
// from the front.
typedef struct tl_chunk {
  struct tl_chunk *next;
  size_t nbytes, used;  // of the whole chunk
} tl_chunk;

enum { CHUNK = 4096 };

// Hands out the front of the current chunk, or makes another one.
void *tl_unit_alloc(tl_vm *vm, tl_unit *unit, size_t nbytes) {
  nbytes = (nbytes + 15) & ~(size_t)15;
  tl_chunk *chunk = unit->chunks;
  // The header of a chunk is in its own block.
  if (chunk == NULL || chunk->nbytes - chunk->used < nbytes) {
    size_t header = (sizeof(tl_chunk) + 15) & ~(size_t)15;
    size_t size = nbytes + header < CHUNK ? CHUNK : nbytes + header;
    chunk = tl_alloc_zeroed(vm, size, "compiled code");
    if (chunk == NULL)
      return NULL;
    chunk->nbytes = size;
    chunk->used = header;
    // A large chunk is full at once, so it goes behind the current one, which
    // has room left.
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

// On failure the object must not stay immortal, or nobody could free it.
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
  unit->has_counted |= tl_is_list(value);
  return true;
}

// Notes where each line begins, for messages and listings.
static bool index_lines(tl_vm *vm, tl_unit *unit) {
  uint32_t count = 1;
  const char *text = unit->text, *end = text + unit->nbytes, *at = text;
  for (; (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++) count++;
  unit->line_starts = tl_unit_alloc(vm, unit, count * sizeof(uint32_t));
  if (unit->line_starts == NULL)
    return false;
  unit->line_starts[unit->line_count++] = 0;
  for (at = text; (at = memchr(at, '\n', (size_t)(end - at))) != NULL;)
    unit->line_starts[unit->line_count++] = (uint32_t)(++at - text);
  return true;
}

// The unit is linked to its module first, so that tl_unit_free undoes all of
// it.
tl_unit *tl_unit_new(tl_vm *vm, tl_module *module, const char *file,
                     const char *text, size_t nbytes) {
  tl_unit *unit = tl_alloc_zeroed(vm, sizeof *unit, "compiled code");
  if (unit == NULL)
    return NULL;
  // Linked before anything can fail, so that tl_unit_free undoes all of it.
  unit->module = module;
  unit->next = module->units;
  module->units = unit;
  vm->unit_count++;
  unit->text = tl_unit_alloc(vm, unit, nbytes + 1);
  unit->file = unit->text == NULL ? NULL : tl_string_mended(vm, file);
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

// Ends an object's immortality: whoever made it so is its one owner.
static void make_mortal(tl_object *object) {
  if ((object->flags & TL_IMMORTAL) == 0)
    return;
  object->flags &= (uint8_t)~TL_IMMORTAL;
  object->count = 1;
}

// A unit whose only prototype is its own code has no functions that could live
// on, so its constants can be counted like any other values.
bool tl_unit_borrow(tl_unit *unit) {
  if (unit->prototype_count != 1)
    return false;
  // Types live as long as the VM, so a unit that has one stays.
  for (const tl_adopted *a = unit->adopted; a != NULL; a = a->next)
    if (tl_is_type(a->value))
      return false;
  for (tl_adopted *a = unit->adopted; a != NULL; a = a->next)
    make_mortal(a->value.object);
  unit->has_counted = true;
  return true;
}

// Of the objects that units adopted only those that tl_unit_borrow has made
// mortal count: the unit is one of their owners. Lists are named all the
// same, as they own items that count.
void tl_units_each_held(const tl_vm *vm,
                        void (*each)(void *context, tl_slot value),
                        void *context) {
  for (const tl_module *m = vm->modules; m != NULL; m = m->next)
    for (const tl_unit *u = m->units; u != NULL; u = u->next)
      for (const tl_adopted *a = u->has_counted ? u->adopted : NULL; a != NULL;
           a = a->next)
        if ((a->value.object->flags & TL_IMMORTAL) == 0 || tl_is_list(a->value))
          each(context, a->value);
}

// Takes a unit out of its module's list.
static void unlink_unit(tl_unit *unit) {
  tl_unit **at = &unit->module->units;
  while (*at != NULL && *at != unit) at = &(*at)->next;
  if (*at == unit)
    *at = unit->next;
}

// Cached plans of fused regions point into the code, as machine code does, so
// they go first.
void tl_unit_free(tl_vm *vm, tl_unit *unit) {
  vm->fusion->forget(vm, unit);
  for (uint32_t i = 0; i < unit->prototype_count; i++) {
    tl_prototype *p = unit->prototypes[i];
    if (p != NULL && p->machine_code != NULL)
      p->machine_code->free(vm, p->machine_code);
  }
  unlink_unit(unit);
  for (tl_adopted *a = unit->adopted; a != NULL; a = a->next) {
    make_mortal(a->value.object);
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

// A string that lives until free_string; NULL after tl_fail.
static tl_string *immortal_string(tl_vm *vm, const char *text, size_t nbytes) {
  tl_string *string = tl_string_new(vm, text, nbytes);
  if (string != NULL)
    string->head.flags |= TL_IMMORTAL;
  return string;
}

// The counterpart of immortal_string; NULL is ignored.
static void free_string(tl_vm *vm, tl_string *string) {
  if (string == NULL)
    return;
  make_mortal(&string->head);
  tl_drop(vm, tl_own_string(string));
}

// Modules are immortal: values refer to them without counts, and they go when
// the VM closes.
tl_module *tl_module_new(tl_vm *vm, const char *name, const char *path) {
  tl_module *module = tl_alloc_zeroed(vm, sizeof *module, "a module");
  if (module == NULL)
    return NULL;
  module->head.kind = TL_KIND_MODULE;
  module->head.flags = TL_IMMORTAL;
  module->head.count = 1;
  module->head.nbytes = sizeof *module;
  module->name = immortal_string(vm, name, strlen(name));
  module->path = path == NULL ? NULL : immortal_string(vm, path, strlen(path));
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

// Linear: modules have few names, and compiled code uses indices.
int32_t tl_module_find(const tl_module *module, const char *name,
                       size_t nbytes) {
  for (uint32_t i = 0; i < module->variable_count; i++) {
    const tl_string *other = module->variable_names[i];
    if (other->length == nbytes && memcmp(other->text, name, nbytes) == 0)
      return (int32_t)i;
  }
  return -1;
}

// The four tables of variables lie one behind the other in one block.
static size_t tables_size(size_t capacity) {
  return capacity * (sizeof(tl_slot) + sizeof(tl_string *) + 2 * sizeof(bool));
}

// Makes room for more variables.
static bool grow_variables(tl_vm *vm, tl_module *module) {
  const tl_module old = *module;
  const size_t n = old.variable_capacity, wider = n * 2 + 8;
  void *block = tl_alloc_zeroed(vm, tables_size(wider), "module variables");
  if (block == NULL)
    return false;
  module->variables = block;
  module->variable_names = (tl_string **)(void *)(module->variables + wider);
  module->is_invariant = (bool *)(module->variable_names + wider);
  module->is_shared = module->is_invariant + wider;
  module->variable_capacity = (uint32_t)wider;
  if (n > 0) {
    memcpy(module->variables, old.variables, n * sizeof *old.variables);
    memcpy(module->variable_names, old.variable_names,
           n * sizeof *old.variable_names);
    memcpy(module->is_invariant, old.is_invariant, n);
    memcpy(module->is_shared, old.is_shared, n);
    tl_free(vm, old.variables, tables_size(n));
  }
  return true;
}

// The tables may have grown for nothing if the name then finds no memory; that
// is room for the next one.
int32_t tl_module_add(tl_vm *vm, tl_module *module, const char *name,
                      size_t nbytes) {
  if (module->variable_count == module->variable_capacity &&
      !grow_variables(vm, module))
    return -1;
  tl_string *string = immortal_string(vm, name, nbytes);
  if (string == NULL)
    return -1;
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

// Binary search.
uint32_t tl_count_upto(const void *items, uint32_t count, size_t size,
                       uint32_t most) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2, number;
    memcpy(&number, (const char *)items + middle * size, sizeof number);
    if (number <= most)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

bool tl_is_among(const uint32_t *items, uint32_t count, uint32_t wanted) {
  uint32_t n = tl_count_upto(items, count, sizeof *items, wanted);
  return n > 0 && items[n - 1] == wanted;
}

bool tl_depends_at(const tl_prototype *function, uint32_t pc) {
  return tl_is_among(function->relying, function->relying_count, pc);
}

// A module read from a file has a path, even if it bears a library module's
// name. The main program is asked about most, at each error, and named first.
bool tl_is_library(const tl_vm *vm, const tl_unit *unit) {
  return unit->module != vm->main && unit->module->path == NULL &&
         tl_embedded_find(vm->library, unit->module->name->text) != NULL;
}

// Whether a call under way may borrow the variable's value, because its unit
// takes it for invariant: looks at the frames, each at the pc of its call.
static bool is_relied_on(const tl_vm *vm, const tl_module *module,
                         uint32_t index, bool by_code) {
  // A debugger's expression runs in the midst of a statement.
  if (vm->paused)
    return true;
  // Only invariant variables are borrowed across calls.
  if (!module->is_invariant[index])
    return false;
  // The running function borrows nothing from a variable that it assigns
  // itself.
  const tl_frame *end = vm->frame + !by_code;
  for (const tl_frame *f = vm->frames; f < end; f++) {
    const tl_prototype *p = f->function;
    if (p != NULL && p->unit->module == module &&
        tl_unit_depends(p->unit, index) && tl_depends_at(p, tl_frame_pc(f)))
      return true;
  }
  return false;
}

// Where there is no memory for that it is never freed: better than a borrow of
// what is gone.
void tl_let_wait(tl_vm *vm, tl_slot value) {
  bool failed = tl_failed(vm);
  if (vm->waiting == NULL)
    vm->waiting = tl_list_new(vm, 6);
  if (vm->waiting != NULL)
    tl_list_push(vm, &vm->waiting, &value);
  if (!failed)
    tl_error_clear(vm);
}

// Never fails: where a call under way may borrow the old value and there is no
// memory to note that, the old value is never freed (tl_let_wait).
void tl_module_assign(tl_vm *vm, tl_module *module, uint32_t index,
                      tl_slot value, bool by_code) {
  tl_slot *g = &module->variables[index], old = *g;
  // The new value stands before the old one is dropped: dropping may run a
  // release hook of the host's.
  tl_copy_slot(g, &value);
  if (!tl_is_owned(old))
    return;
  if (is_relied_on(vm, module, index, by_code)) {
    tl_let_wait(vm, old);
    return;
  }
  tl_drop(vm, old);
  // After x = x[:9] the block of the old x is the view's alone: a small view of
  // a large block is copied out.
  if (tl_is_owned(*g))
    tl_let_go(vm, g);
}

// With a call under way that may borrow the value, the list of waiting values
// owns it too, so that an update copies it instead of writing into it.
tl_slot tl_module_take(tl_vm *vm, tl_module *module, uint32_t index) {
  tl_slot *g = &module->variables[index], value = *g;
  *g = tl_unset();
  if (!tl_is_owned(value) || !is_relied_on(vm, module, index, true))
    return value;
  tl_let_wait(vm, value);
  return tl_retain(vm, tl_borrow(value));
}

// The list is taken off the VM first: dropping may run hooks of the host's,
// which may assign again.
void tl_drop_waiting(tl_vm *vm) {
  tl_list *waiting = vm->waiting;
  vm->waiting = NULL;
  if (waiting != NULL)
    tl_drop(vm, tl_own_list(waiting));
}

// Frees a module with its units and variables, which have been cleared.
static void free_module(tl_vm *vm, tl_module *module) {
  while (module->units != NULL) tl_unit_free(vm, module->units);
  for (uint32_t i = 0; i < module->variable_count; i++)
    free_string(vm, module->variable_names[i]);
  size_t n = module->variable_capacity;
  if (n > 0)
    tl_free(vm, module->variables, tables_size(n));
  free_string(vm, module->name);
  free_string(vm, module->path);
  tl_free(vm, module, sizeof *module);
}

// Unset before the drop, for the same reason.
void tl_modules_clear(tl_vm *vm) {
  for (tl_module *m = vm->modules; m != NULL; m = m->next)
    for (uint32_t i = 0; i < m->variable_count; i++) {
      tl_slot value = m->variables[i];
      m->variables[i] = tl_unset();
      if (tl_is_owned(value))
        tl_drop(vm, value);
    }
}

void tl_module_free(tl_vm *vm, tl_module *module) {
  tl_module **at = &vm->modules;
  while (*at != module) at = &(*at)->next;
  *at = module->next;
  free_module(vm, module);
}

// The variables of all modules go first, since values may refer to functions of
// other modules, and what was set aside of them to constants of units.
void tl_modules_close(tl_vm *vm) {
  tl_modules_clear(vm);
  tl_free_rest(vm, true);
  while (vm->modules != NULL) {
    tl_module *next = vm->modules->next;
    free_module(vm, vm->modules);
    vm->modules = next;
  }
}

// A variable of the module hides a built-in function of the same name.
tl_slot tl_module_member(tl_vm *vm, const tl_module *module,
                         const tl_string *name) {
  int32_t index = tl_module_find(module, name->text, name->length);
  if (index >= 0 && !tl_is_unset(module->variables[index]))
    return tl_borrow(module->variables[index]);
  const tl_builtin *builtin =
      module->builtin == NULL
          ? NULL
          : vm->host->find_function(vm, module->builtin, name->text,
                                    name->length);
  return builtin == NULL ? tl_unset() : tl_builtin_slot(builtin);
}

// The library's function in Tally becomes a variable of the module where it is
// named for the first time. *out, which is unset, stays so where there is none.
static bool load_member(tl_vm *vm, tl_module *module, const tl_string *name,
                        tl_slot *out) {
  if (module->builtin == NULL ||
      tl_embedded_member(vm->library, module->builtin, name->text) == NULL)
    return true;
  if (!vm->host->load_function(vm, module->builtin, name->text, out))
    return false;
  int32_t index = tl_module_variable(vm, module, name->text, name->length);
  if (index < 0)
    return false;
  tl_module_assign(vm, module, (uint32_t)index, *out, false);
  return true;
}

bool tl_module_get(tl_vm *vm, tl_module *module, tl_string *name,
                   tl_slot *out) {
  *out = tl_module_member(vm, module, name);
  if (tl_is_unset(*out) && !load_member(vm, module, name, out))
    return false;
  // A name such as os.args stands for its value.
  if (tl_is_kind(*out, TL_KIND_BUILTIN) && tl_builtin_is_value(out->pointer))
    return ((const tl_builtin *)out->pointer)->call(vm, NULL, out);
  if (!tl_is_unset(*out)) {
    // Owned: a script's functions may assign the variable anew, but nobody one
    // of the library.
    if (module->builtin == NULL)
      *out = tl_retain(vm, *out);
    return true;
  }
  tl_suggestion near;
  tl_suggest_begin(&near, name->text, name->length);
  for (uint32_t i = 0; i < module->variable_count; i++)
    tl_suggest_offer(&near, module->variable_names[i]->text,
                     module->variable_names[i]->length);
  const struct tl_embedded *text =
      module->builtin == NULL ? NULL
                              : tl_embedded_find(vm->library, module->builtin);
  for (int i = 0; text != NULL && text->functions[i].name != NULL; i++)
    tl_suggest_offer(&near, text->functions[i].name,
                     strlen(text->functions[i].name));
  char hint[80];
  return tl_fail(vm, TALLY_ERR_NAME, "the module %s has no %s%s",
                 module->name->text, name->text,
                 tl_suggest_text(&near, hint, sizeof hint));
}
