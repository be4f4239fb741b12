// The compiler's stages in a row.

#include "compiler/compile.h"

#include <stdio.h>
#include <string.h>

#include "compiler/emit.h"
#include "compiler/fusion.h"
#include "compiler/layout.h"
#include "compiler/marks.h"
#include "compiler/parser.h"
#include "vm/memory/memory.h"
#include "vm/interp/module.h"

// The arena's memory goes through the VM's door like all other.
static void *resize(void *context, void *block, size_t old_size,
                    size_t new_size) {
  tl_vm *vm = context;
  if (new_size == 0) {
    if (block != NULL)
      tl_free(vm, block, old_size);
    return NULL;
  }
  if (block == NULL)
    return tl_alloc(vm, new_size, "the compiler");
  return tl_realloc(vm, block, old_size, new_size, "the compiler");
}

static tally_status status_of(tl_diagnostic_kind kind) {
  switch (kind) {
    case TL_DIAGNOSTIC_SYNTAX:
      return TALLY_ERR_SYNTAX;
    case TL_DIAGNOSTIC_NAME:
      return TALLY_ERR_NAME;
    case TL_DIAGNOSTIC_TYPE:
      return TALLY_ERR_TYPE;
    case TL_DIAGNOSTIC_VALUE:
      return TALLY_ERR_VALUE;
    case TL_DIAGNOSTIC_IO:
      return TALLY_ERR_IO;
    case TL_DIAGNOSTIC_LIMIT:
      return TALLY_ERR_LIMIT;
    case TL_DIAGNOSTIC_MEMORY:
      return TALLY_ERR_MEMORY;
  }
  return TALLY_ERR_SYNTAX;
}

// In the order of their places: the resolver and lowering find theirs apart.
static void sort_diagnostics(tl_diagnostics *list) {
  for (uint32_t i = 1; i < list->count; i++) {
    tl_diagnostic item = list->items[i];
    uint32_t k = i;
    for (; k > 0 && list->items[k - 1].span.at > item.span.at; k--) {
      list->items[k] = list->items[k - 1];
    }
    list->items[k] = item;
  }
}

// The first error becomes the pending one; its report holds all of them.
static void fail_with(tl_vm *vm, tl_arena *arena, tl_source *source,
                      tl_diagnostics *list, const char *name) {
  sort_diagnostics(list);
  const tl_diagnostic *first = &list->items[0];
  tl_fail(vm, status_of(first->kind), "%s", first->message);
  tl_place place = tl_source_place(source, first->span.at);
  vm->error.line = (int)place.line;
  vm->error.column = (int)place.column;
  vm->error.file = tl_string_from(vm, name);
  vm->error.placed = true;
  vm->error.compiled = true;
  size_t length = 0;
  char *texts[TL_DIAGNOSTICS_MAX];
  for (uint32_t i = 0; i < list->count; i++) {
    texts[i] = (char *)tl_diagnostic_render(&list->items[i], source, arena);
    if (texts[i] != NULL)
      length += strlen(texts[i]) + 1;
  }
  char more[64] = "";
  if (list->total > list->count) {
    snprintf(more, sizeof more, "and %u more errors",
             list->total - list->count);
  }
  size_t size = length + strlen(more) + 1;
  char *report = tl_alloc(vm, size, "an error report");
  if (report == NULL)
    return;
  char *to = report;
  for (uint32_t i = 0; i < list->count; i++) {
    if (texts[i] == NULL)
      continue;
    if (to != report)
      *to++ = '\n';
    size_t n = strlen(texts[i]);
    memcpy(to, texts[i], n);
    to += n;
  }
  if (more[0] != 0)
    to += snprintf(to, size - (size_t)(to - report), "\n%s", more);
  *to = 0;
  vm->error.excerpt = report;
  vm->error.excerpt_size = size;
}

static void *keep(tl_builder *b, const void *items, size_t nbytes) {
  void *copy = tl_unit_alloc(b->vm, b->unit, nbytes + 1);
  if (copy == NULL) {
    b->failed = true;
    return NULL;
  }
  if (nbytes > 0)
    memcpy(copy, items, nbytes);
  return copy;
}

// The unit's tables grew in the arena; what is kept of them moves out.
static void keep_tables(tl_builder *b) {
  tl_unit *unit = b->unit;
  unit->names = keep(b, unit->names, unit->name_count * sizeof *unit->names);
  unit->paths = keep(b, unit->paths, unit->path_count * sizeof *unit->paths);
  unit->shapes =
      keep(b, unit->shapes, unit->shape_count * sizeof *unit->shapes);
  unit->groups =
      keep(b, unit->groups, unit->group_count * sizeof *unit->groups);
  unit->keys = keep(b, unit->keys, unit->key_count * sizeof *unit->keys);
  unit->prototypes = keep(b, unit->prototypes,
                          unit->prototype_count * sizeof *unit->prototypes);
}

static bool emit_owned(void *context, tl_cfg_function *f, tl_arena *arena) {
  return tl_emit_function(context, f, arena);
}

// The unit and its module say which variables its code takes for steady.
static void keep_steady(tl_builder *b) {
  tl_unit *unit = b->unit;
  uint32_t words = ((uint32_t)b->program->global_count + 63) / 64;
  unit->steady = keep(b, b->program->steady, words * sizeof *unit->steady);
  unit->steady_words = unit->steady == NULL ? 0 : words;
  for (uint32_t g = 0; g < unit->module->variable_count; g++)
    unit->module->is_steady[g] |= tl_unit_relies(unit, g);
}

static bool back_end(tl_builder *b) {
  for (int32_t i = 0; i < b->program->function_count; i++) {
    if (b->program->functions[i] == NULL)
      return false;
  }
  if (!tl_ownership(b->program, emit_owned, b))
    return false;
  // After all code is there: a region may take in a call.
  for (uint32_t i = 0; i < b->unit->prototype_count; i++) {
    tl_prototype *p = b->unit->prototypes[i];
    if (!tl_find_regions(b, p, (int32_t)p->named_count))
      return false;
  }
  keep_tables(b);
  keep_steady(b);
  return !b->failed;
}

static bool open_source(tl_vm *vm, tl_source *source, tl_arena *arena,
                        const char *name, const char *text, size_t nbytes) {
  size_t bad = 0;
  switch (tl_source_open(source, arena, name, text, nbytes, &bad)) {
    case TL_SOURCE_OK:
      return true;
    case TL_SOURCE_MALFORMED:
      return tl_fail(vm, TALLY_ERR_SYNTAX,
                     "%s is not UTF-8 text: the byte at offset %zu is wrong",
                     name, bad);
    case TL_SOURCE_TOO_LONG:
      return tl_fail(vm, TALLY_ERR_LIMIT,
                     "%s is too long: a source has less than 4 GiB", name);
    case TL_SOURCE_NO_MEMORY:
      break;
  }
  return tl_fail_memory(vm, nbytes, "a source");
}

static bool compile_into(tl_builder *b, const char *name, const char *text,
                         size_t nbytes, unsigned mode) {
  tl_vm *vm = b->vm;
  tl_source source;
  if (!open_source(vm, &source, b->arena, name, text, nbytes))
    return false;
  tl_names names;
  tl_names_open(&names, b->arena);
  tl_diagnostics diagnostics;
  tl_diagnostics_open(&diagnostics, b->arena);
  b->names = &names;
  b->diagnostics = &diagnostics;
  b->source = &source;
  tl_resolver resolver = {.vm = vm,
                          .arena = b->arena,
                          .names = &names,
                          .diagnostics = &diagnostics,
                          .module = b->unit->module,
                          .mode = (tl_unit_mode)mode};
  b->resolver = &resolver;
  tl_ast *program = tl_parse(b->arena, &names, &source, &diagnostics);
  bool ok = program != NULL && tl_resolve(&resolver, program) &&
            tl_lower_program(b, program);
  // Names can be wrong in the same text as uses: report both.
  if (!ok && program != NULL && diagnostics.total > 0 && !b->failed &&
      b->program->function_count == 0) {
    tl_lower_program(b, program);
  }
  ok = ok && tl_find_marks(b) && back_end(b) && tl_check_marks(b);
  if (diagnostics.total > 0 && !tl_failed(vm)) {
    fail_with(vm, b->arena, &source, &diagnostics, name);
    return false;
  }
  if (!ok && !tl_failed(vm))
    tl_fail_memory(vm, nbytes, "the compiler");
  return ok;
}

static tl_unit *compile_once(tl_vm *vm, tl_module *module, const char *name,
                             const char *text, size_t nbytes, unsigned mode,
                             bool is_cautious) {
  tl_unit *unit = tl_unit_new(vm, module, name, text, nbytes);
  if (unit == NULL)
    return NULL;
  tl_arena arena;
  tl_arena_open(&arena, resize, vm);
  tl_cfg_program program = {.arena = &arena, .is_cautious = is_cautious};
  tl_builder builder = {
      .vm = vm, .arena = &arena, .unit = unit, .program = &program};
  bool ok = compile_into(&builder, name, text, nbytes, mode);
  tl_arena_close(&arena);
  if (ok)
    return unit;
  tl_unit_free(vm, unit);
  return NULL;
}

// Where code is audited a refusal stays an error: random programs report it.
static bool may_try_again(const tl_vm *vm) {
#ifdef TALLY_AUDIT
  return vm->distrust;
#else
  (void)vm;
  return true;
#endif
}

static bool is_refused(tl_vm *vm, const tl_unit *unit, bool *failed) {
  for (uint32_t i = 0; i < unit->prototype_count && !*failed; i++)
    *failed = !tl_verify(vm, unit->prototypes[i]);
  for (uint32_t i = 0; *failed && i < unit->prototype_count; i++)
    if (unit->prototypes[i]->verified == 2)
      return true;
  return false;
}

// What runs is verified first; here already, so that a fault of the ownership
// analysis costs counts and not the program: what the verifier refuses is
// compiled once more, and then nothing is lent but to slots.
tl_unit *tl_compile(tl_vm *vm, tl_module *module, const char *name,
                    const char *text, size_t nbytes, unsigned mode) {
  bool failed = false;
  tl_unit *unit = compile_once(vm, module, name, text, nbytes, mode, false);
  if (unit == NULL)
    return NULL;
  bool refused = is_refused(vm, unit, &failed);
  if ((!refused && !vm->distrust) || !may_try_again(vm)) {
    if (!failed)
      return unit;
    tl_unit_free(vm, unit);
    return NULL;
  }
  tl_unit_free(vm, unit);
  if (refused)
    tl_error_clear(vm);
  return failed && !refused
             ? NULL
             : compile_once(vm, module, name, text, nbytes, mode, true);
}

// --- Layout -----------------------------------------------------------------

// The text laid out, in [arena]; NULL after tl_fail or where memory failed.
static const char *lay_out(tl_vm *vm, tl_arena *arena, const char *name,
                           const char *text, size_t nbytes,
                           uint32_t *out_nbytes) {
  tl_source source, laid;
  tl_names names;
  tl_diagnostics diagnostics;
  if (!open_source(vm, &source, arena, name, text, nbytes))
    return NULL;
  tl_names_open(&names, arena);
  tl_diagnostics_open(&diagnostics, arena);
  if (tl_parse(arena, &names, &source, &diagnostics) == NULL) {
    if (diagnostics.total > 0)
      fail_with(vm, arena, &source, &diagnostics, name);
    return NULL;
  }
  tl_tokens tokens = {.items = NULL}, again = {.items = NULL};
  const char *result = NULL;
  if (tl_lex(&tokens, arena, &source, false))
    result = tl_layout(&source, &tokens, arena, out_nbytes);
  if (result != NULL &&
      open_source(vm, &laid, arena, name, result, *out_nbytes) &&
      tl_lex(&again, arena, &laid, false) &&
      !tl_layout_is_same(&source, &tokens, &laid, &again)) {
    tl_fail(vm, TALLY_ERR_HOST,
            "%s is left as it is: laid out, it would be another program; "
            "this is a fault of Tally",
            name);
  }
  tl_tokens_release(&tokens, arena);
  tl_tokens_release(&again, arena);
  return arena->failed || tl_failed(vm) ? NULL : result;
}

bool tl_format_source(tl_vm *vm, const char *name, const char *text,
                      size_t nbytes, tl_slot *out) {
  tl_arena arena;
  uint32_t length = 0;
  tl_arena_open(&arena, resize, vm);
  const char *laid = lay_out(vm, &arena, name, text, nbytes, &length);
  tl_string *string = laid == NULL ? NULL : tl_string_new(vm, laid, length);
  tl_arena_close(&arena);
  if (string == NULL)
    return tl_failed(vm) ? false : tl_fail_memory(vm, nbytes, "a layout");
  *out = tl_own_string(string);
  return true;
}

const tl_compiler_hooks tl_compiler = {.compile = tl_compile};
