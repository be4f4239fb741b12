// tally.h: what `tally doc` says of the library's functions, in C and in Tally,
// and of the host's. A number counts through all that is documented, so that no
// table of names is needed.

#include "vm/api/documentation.h"

#include <stdio.h>
#include <string.h>

#include "vm/embedded.h"
#include "vm/bytecode/function.h"
#include "vm/bytecode/module.h"
#include "vm/api/host.h"
#include "vm/memory/memory_internal.h"
#include "vm/vm.h"

// The entry of a row; a name that stands for its result has no parameters.
static tl_documented of_row(const char *module, const tl_builtin *row) {
  return (tl_documented){module, row->name, row->params, row->doc, 0, NULL};
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

// Counts down [index] through one group after the other.
// Linear in the number of entries, and called for each of them in turn by those
// who list all: a thousand entries make a million steps, which is nothing for a
// prompt.
bool tl_documented_at(const tl_vm *vm, size_t index, tl_documented *out) {
  size_t docs_before = 0;
  for (const tl_family *f = vm->library->families; f->rows != NULL; f++) {
    if (f->module != NULL && f->module[0] == '_')
      continue;  // the library's own (stdlib/checks.c)
    for (const tl_builtin *row = f->rows; row->name != NULL; row++) {
      if (index-- > 0)
        continue;
      *out = of_row(f->module, row);
      out->topic = f->topic;
      out->docs_before =
          docs_before_table(vm, f->rows) + (size_t)(row - f->rows);
      return true;
    }
  }
  for (const tl_constant *c = vm->library->constants; c->name != NULL; c++) {
    *out = (tl_documented){c->module, c->name, NULL, c->doc, 0, "constants"};
    if (index-- == 0)
      return true;
  }
  for (const struct tl_embedded *e = vm->library->embedded->modules;
       e->name != NULL; e++) {
    for (const struct tl_embedded_function *f = e->functions; f->name != NULL;
         f++) {
      *out = (tl_documented){e->is_global ? NULL : e->name,
                             f->name,
                             f->params,
                             NULL,
                             docs_before++,
                             topic_of(vm->library, e->name)};
      if (index-- == 0)
        return true;
    }
  }
  for (const tl_host_function *f = vm->host_functions; f != NULL; f = f->next) {
    *out = of_row(f->module, &f->row);
    if (index-- == 0)
      return true;
  }
  return false;
}

// Names of modules are given as "module.name".
const char *tally_documented(tally_vm *vm, size_t index) {
  tl_documented d;
  if (vm == NULL || !tl_documented_at(vm, index, &d))
    return NULL;
  if (d.module == NULL)
    return d.name;
  snprintf(vm->report_file, sizeof vm->report_file, "%s.%s", d.module, d.name);
  return vm->report_file;
}

// Whether the entry is in that module; no bytes: in none.
static bool is_in(const tl_documented *d, const char *module, size_t nbytes) {
  if (d->module == NULL || nbytes == 0)
    return d->module == NULL && nbytes == 0;
  return strlen(d->module) == nbytes && memcmp(d->module, module, nbytes) == 0;
}

// Finds an entry by "name" or "module.name".
// The first entry of the name: the library's before the host's.
static bool find(const tl_vm *vm, const char *name, tl_documented *out) {
  if (vm == NULL || name == NULL)
    return false;
  const char *dot = strchr(name, '.');
  const char *member = dot == NULL ? name : dot + 1;
  size_t nbytes = dot == NULL ? 0 : (size_t)(dot - name);
  for (size_t i = 0; tl_documented_at(vm, i, out); i++)
    if (strcmp(out->name, member) == 0 && is_in(out, name, nbytes))
      return true;
  return false;
}

// The library's packed texts, unpacked when first needed; NULL where there is
// no memory for them.
static const char *unpacked_docs(tl_vm *vm) {
  if (vm->docs == NULL) {
    vm->docs = tl_alloc_quiet(vm, vm->library->embedded->docs_nbytes);
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
