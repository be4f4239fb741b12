// tally.h: what `tally doc` says of the library's functions, in C and in Tally,
// and of the host's. A number counts through all that is documented, so that no
// table of names is needed.

#include "vm/api/documentation.h"

#include <stdio.h>

#include "vm/embedded.h"
#include "vm/api/host.h"
#include "vm/memory/reserve.h"

// The entry of a row; a name that stands for its result has no parameters.
static tl_documented of_row(const char *module, const tl_builtin *row,
                            size_t docs_before) {
  return (tl_documented){module,   row->name,   row->params,
                         row->doc, docs_before, NULL};
}

// How many packed texts come before those of a table of rows.
static size_t docs_before_table(const tl_vm *vm, const tl_builtin *rows) {
  const struct tl_embedded_table *t = vm->library->embedded->tables;
  while (t->rows != rows) t++;
  return t->docs_before;
}

// The topic of what a module has in Tally.
static const char *topic_of(const tl_library *library, const char *module) {
  const tl_module_topic *t = library->topics;
  while (t->module != NULL && strcmp(t->module, module) != 0) t++;
  return t->topic;
}

bool tl_each_documented(const tl_vm *vm, tl_documented_visit *visit,
                        void *context) {
  size_t docs_before = 0;
  for (const tl_family *f = vm->library->families; f->rows != NULL; f++) {
    if (f->module != NULL && f->module[0] == '_')
      continue;  // the library's own (stdlib/checks.c)
    tl_documented d = {.docs_before = docs_before_table(vm, f->rows)};
    for (const tl_builtin *row = f->rows; row->name != NULL; row++) {
      d = of_row(f->module, row, d.docs_before);
      d.topic = f->topic;
      if (visit(context, &d))
        return true;
      d.docs_before++;
    }
  }
  for (const tl_constant *c = vm->library->constants; c->name != NULL; c++) {
    tl_documented d = {c->module, c->name, NULL, c->doc, 0, "constants"};
    if (visit(context, &d))
      return true;
  }
  for (const struct tl_embedded *e = vm->library->embedded->modules;
       e->name != NULL; e++) {
    tl_documented d = {.module = e->is_global ? NULL : e->name,
                       .topic = topic_of(vm->library, e->name)};
    for (const struct tl_embedded_function *f = e->functions; f->name != NULL;
         f++) {
      d.name = f->name;
      d.params = f->params;
      d.docs_before = docs_before++;
      if (visit(context, &d))
        return true;
    }
  }
  for (const tl_host_function *f = vm->host_functions; f != NULL; f = f->next) {
    tl_documented d = of_row(f->module, &f->row, 0);
    if (visit(context, &d))
      return true;
  }
  return false;
}

// An entry that is looked for, by its index or by its name; what is found goes
// to [found].
typedef struct sought {
  size_t index;
  const char *module, *name;
  size_t module_nbytes;
  tl_documented found;
} sought;

// Counts down to the index.
static bool is_at(void *context, const tl_documented *d) {
  sought *s = context;
  s->found = *d;
  return s->index-- == 0;
}

// Linear in the number of entries, and called for each of them in turn by those
// who list all: a thousand entries make a million steps, which is nothing for a
// prompt. Names of modules are given as "module.name".
const char *tally_documented(tally_vm *vm, size_t index) {
  sought s = {.index = index};
  if (vm == NULL || !tl_each_documented(vm, is_at, &s))
    return NULL;
  if (s.found.module == NULL)
    return s.found.name;
  snprintf(vm->report_file, sizeof vm->report_file, "%s.%s", s.found.module,
           s.found.name);
  return vm->report_file;
}

// Whether the entry has that name, in that module; no bytes: in none.
static bool is_called(void *context, const tl_documented *d) {
  sought *s = context;
  s->found = *d;
  return strcmp(d->name, s->name) == 0 &&
         (d->module == NULL
              ? s->module_nbytes == 0
              : s->module_nbytes > 0 && strlen(d->module) == s->module_nbytes &&
                    memcmp(d->module, s->module, s->module_nbytes) == 0);
}

// Finds an entry by "name" or "module.name".
// The first entry of the name: the library's before the host's.
static bool find(const tl_vm *vm, const char *name, tl_documented *out) {
  if (vm == NULL || name == NULL)
    return false;
  const char *dot = strchr(name, '.');
  sought s = {.module = name,
              .name = dot == NULL ? name : dot + 1,
              .module_nbytes = dot == NULL ? 0 : (size_t)(dot - name)};
  bool found = tl_each_documented(vm, is_called, &s);
  *out = s.found;
  return found;
}

// The library's packed texts, unpacked when first needed; NULL where there is
// no memory for them.
static const char *unpacked_docs(tl_vm *vm) {
  if (vm->docs == NULL) {
    size_t before = tl_reserve(vm, TL_RESERVE);
    vm->docs = tl_alloc_quiet(vm, vm->library->embedded->docs_nbytes);
    tl_reserve(vm, before);
    if (vm->docs != NULL)
      vm->library->embedded->unpack(vm->library->embedded->packed_docs,
                                    vm->docs);
  }
  return vm->docs;
}

// Texts of functions in Tally are packed one behind the other, each with a NUL;
// the entry says how many come before its own.
const char *tally_documentation(tally_vm *vm, const char *name) {
  tl_documented d;
  if (!find(vm, name, &d))
    return NULL;
  if (d.doc != NULL)
    return d.doc;
  const char *text = unpacked_docs(vm);
  for (size_t i = 0; text != NULL && i < d.docs_before; i++)
    text += strlen(text) + 1;
  return text;
}

// NULL where no text was ever asked for.
void tl_docs_close(tl_vm *vm) {
  tl_free(vm, vm->docs, vm->library->embedded->docs_nbytes);
}

// Borrowed for the VM's life, as the signature is; NULL: no such name.
const char *tally_topic(tally_vm *vm, const char *name) {
  tl_documented d;
  return find(vm, name, &d) ? d.topic : NULL;
}

// NULL also for a constant, which has no parameters.
const char *tally_signature(tally_vm *vm, const char *name) {
  tl_documented d;
  return find(vm, name, &d) ? d.params : NULL;
}
