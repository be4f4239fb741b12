// The compiler's stages in a row (compile_into, then back_end), what becomes
// of their errors, and the two smaller uses of the parser: formatting and
// describing a source. compile.h has the picture.

#include "compiler/compile.h"

#include "compiler/layout.h"
#include "compiler/parser.h"
#include "compiler/stages.h"
#include "vm/text/signature.h"
#include "vm/memory/reserve.h"
#include "vm/values/record.h"

// What a check of a script adds to, and how it computes what is closed.
struct tl_found {
  tl_list *found;
  tl_compute *compute;
  void *context;
};

// The arena's memory goes through the VM's allocator, so that it counts
// against the memory limit and can be made to fail in tests.
static void *resize(void *context, void *block, size_t old_size,
                    size_t new_size) {
  tl_vm *vm = context;
  // The protocol of tl_resize_fn in terms of the VM's allocator, which has a
  // function for each case.
  if (new_size == 0) {
    if (block != NULL)
      tl_free(vm, block, old_size);
    return NULL;
  }
  if (block == NULL)
    return tl_alloc(vm, new_size, "the compiler");
  return tl_realloc(vm, block, old_size, new_size, "the compiler");
}

// Makes the first error the pending one of the VM; its report, which the VM
// owns, holds the text of all of them.
static void fail_with(tl_vm *vm, tl_source *source, tl_diagnostics *list,
                      const char *name) {
  // The pending error is one; the others are only in the report, which hosts
  // print as it is.
  const tl_diagnostic *first = &list->items[0];
  tl_fail(vm, first->kind, "%s", first->message);
  tl_place place = tl_source_place(source, first->span.at);
  vm->error.line = (int)place.line;
  vm->error.column = (int)place.column;
  // The name may be any bytes of a path; an error shows valid UTF-8.
  vm->error.file = tl_string_mended(vm, name);
  // The place is known already, so unwinding must not add the line of the
  // caller.
  vm->error.placed = true;
  vm->error.compiled = true;
  tl_text report;
  tl_text_open(&report, vm);
  for (uint32_t i = 0; i < list->count; i++) {
    if (i > 0)
      tl_text_putc(&report, '\n');
    tl_diagnostic_render(&list->items[i], source, &report);
  }
  // Errors past the list's end are only counted.
  if (list->total > list->count)
    tl_text_printf(&report, "\nand %u more errors", list->total - list->count);
  tl_text_putc(&report, '\0');
  // Without memory for the report the first message is pending all the same.
  size_t nbytes;
  char *excerpt = tl_text_take(&report, &nbytes);
  if (excerpt == NULL)
    return;
  vm->error.excerpt = excerpt;
  vm->error.excerpt_size = nbytes;
}

// Moves the unit's tables from the arena, in which they grew, into memory of
// the unit.
static void keep_tables(tl_builder *b) {
  tl_unit *unit = b->unit;
#define KEEP(table, count) \
  (unit->table =           \
       tl_unit_keep(b, unit->table, unit->count * sizeof *unit->table))
  KEEP(names, name_count);
  KEEP(paths, path_count);
  KEEP(shapes, shape_count);
  KEEP(groups, group_count);
  KEEP(keys, key_count);
  KEEP(prototypes, prototype_count);
#undef KEEP
}

// The function that ownership calls with each finished function.
static bool emit_owned(void *context, tl_cfg_function *f, tl_arena *arena) {
  return tl_emit_function(context, f, arena);
}

// Notes in the module which of its variables functions declare global.
static void keep_shared(tl_builder *b) {
  tl_variable *v = b->resolver->module_scope->variables;
  for (; v != NULL; v = v->next)
    if (v->is_shared && v->index >= 0)
      b->unit->module->is_shared[v->index] = true;
}

// Notes in the unit and its module which module variables the unit's code
// takes for invariant, because no function of it assigns them.
static void keep_invariant(tl_builder *b) {
  tl_unit *unit = b->unit;
  // A bit for each module variable, in words of 64.
  uint32_t words = ((uint32_t)b->program->global_count + 63) / 64;
  unit->invariant =
      tl_unit_keep(b, b->program->invariant, words * sizeof *unit->invariant);
  unit->invariant_words = unit->invariant == NULL ? 0 : words;
  for (uint32_t g = 0; g < unit->module->variable_count; g++)
    unit->module->is_invariant[g] |= tl_unit_depends(unit, g);
}

// From the graph to bytecode and regions; false after a diagnostic or without
// memory.
static bool back_end(tl_builder *b) {
  // A body that was not lowered, for want of memory, leaves a gap.
  for (int32_t i = 0; i < b->program->function_count; i++)
    if (b->program->functions[i] == NULL)
      return false;
  if (!tl_ownership(b->program, emit_owned, b))
    return false;
  // A region may extend into a callee, so all code must be there first.
  for (uint32_t i = 0; i < b->unit->prototype_count && !b->debugged; i++) {
    tl_prototype *p = b->unit->prototypes[i];
    if (!tl_find_regions(b, p, (int32_t)p->named_count))
      return false;
  }
  // What grew in the arena moves to the unit, which outlives it.
  keep_tables(b);
  keep_invariant(b);
  keep_shared(b);
  return !b->failed;
}

// tl_source_open, whose failures become errors of the VM.
static bool open_source(tl_vm *vm, tl_source *source, const char *name,
                        const char *text, size_t nbytes) {
  size_t bad = 0;
  tl_source_status status = tl_source_open(source, name, text, nbytes, &bad);
  // Not diagnostics: without valid text there are no lines to show.
  if (status == TL_SOURCE_MALFORMED)
    return tl_fail(vm, TALLY_ERR_SYNTAX,
                   "%s is not UTF-8 text: the byte at offset %zu is wrong",
                   name, bad);
  return status == TL_SOURCE_OK ||
         tl_fail(vm, TALLY_ERR_LIMIT,
                 "%s is too long: a source has less than 4 GiB", name);
}

// A text on its way through the front end.
typedef struct front {
  tl_source source;
  tl_names names;
  tl_diagnostics diagnostics;
} front;

// The tree of a text; NULL after tl_fail, or when memory failed.
static tl_ast *parse(tl_vm *vm, tl_arena *arena, front *f, const char *name,
                     const char *text, size_t nbytes) {
  if (!open_source(vm, &f->source, name, text, nbytes))
    return NULL;
  tl_names_open(&f->names, arena);
  tl_diagnostics_open(&f->diagnostics, arena);
  tl_ast *tree = tl_parse(arena, &f->names, &f->source, &f->diagnostics);
  if (tree == NULL && f->diagnostics.total > 0 && !tl_failed(vm))
    fail_with(vm, &f->source, &f->diagnostics, name);
  return tree;
}

// Adds what was found in the text to b->check->found, a record each: see
// tl_check_source. False after tl_fail.
static bool keep_findings(tl_builder *b, tl_source *source,
                          tl_diagnostics *list) {
  tl_vm *vm = b->vm;
  for (uint32_t i = 0; i < list->count; i++) {
    const tl_diagnostic *d = &list->items[i];
    tl_place place = tl_source_place(source, d->span.at);
    tl_record *record = tl_record_new(vm, 7);
    tl_text report;
    tl_slot text, value;
    tl_record_put_text(
        vm, &record, "kind",
        d->kind == TALLY_OK ? "warning" : tl_error_kind_name(d->kind));
    tl_record_put_text(vm, &record, "message", d->message);
    tl_record_put_int(vm, &record, "line", place.line);
    tl_record_put_int(vm, &record, "column", place.column);
    tl_record_put_int(vm, &record, "begin", d->span.begin);
    tl_record_put_int(vm, &record, "end", d->span.end);
    tl_text_open(&report, vm);
    tl_diagnostic_render(d, source, &report);
    bool ok = tl_text_give(&report, true, &text);
    tl_record_put_made(vm, &record, "report", ok, &text);
    if (!tl_record_put_end(record, &value) ||
        !tl_list_push_own(vm, &b->check->found, value))
      return false;
  }
  return true;
}

// Runs all stages into b->unit; false after tl_fail. After syntax errors
// nothing else is looked at: what follows from a broken tree would be noise.
static bool compile_into(tl_builder *b, const char *name, const char *text,
                         size_t nbytes, unsigned mode) {
  tl_vm *vm = b->vm;
  front f;
  f.diagnostics.total = 0;
  tl_ast *program = parse(vm, b->arena, &f, name, text, nbytes);
  if (program == NULL && b->check != NULL && f.diagnostics.total > 0) {
    tl_error_clear(vm);
    return keep_findings(b, &f.source, &f.diagnostics);
  }
  if (program == NULL)
    return tl_failed(vm) ? false : tl_fail_memory(vm, nbytes, "the compiler");
  b->names = &f.names;
  b->diagnostics = &f.diagnostics;
  b->source = &f.source;
  tl_resolver resolver = {.vm = vm,
                          .arena = b->arena,
                          .names = &f.names,
                          .diagnostics = &f.diagnostics,
                          .module = b->unit->module,
                          .mode = (tl_unit_mode)mode};
  b->resolver = &resolver;
  bool ok = tl_resolve(&resolver, program);
  tl_diagnostics warnings;
  tl_diagnostics_open(&warnings, b->arena);
  if (ok && b->check != NULL)
    tl_find_warnings(&resolver, program, &warnings);
  ok = ok && tl_lower_program(b, program);
  // The resolver stops at wrong names, but lowering finds other errors: run it
  // once, only for its reports, so that one run shows both.
  if (!ok && f.diagnostics.total > 0 && !b->failed &&
      b->program->function_count == 0)
    tl_lower_program(b, program);
  // Pragmas are found before the back end, since they are places in the source,
  // and checked behind it, on the modes in the bytecode. It finds no errors
  // otherwise, so that a check of a script without pragmas does without.
  // What they claim of memory does not hold for code that is debugged.
  ok = ok && (b->debugged || tl_find_pragmas(b));
  if (b->check == NULL || b->unit->contract_count > 0)
    ok = ok && back_end(b) && tl_check_pragmas(b);
  if (b->check != NULL && !tl_failed(vm)) {
    tl_diagnostics certain;
    tl_diagnostics_open(&certain, b->arena);
    if (ok)
      tl_find_certain_errors(&resolver, program, &f.source, b->check->compute,
                             b->check->context, &certain);
    return keep_findings(b, &f.source, &f.diagnostics) &&
           keep_findings(b, &f.source, &certain) &&
           keep_findings(b, &f.source, &warnings);
  }
  // An error of the VM itself (memory, a limit) comes before what was reported
  // because of it.
  if (f.diagnostics.total > 0 && !tl_failed(vm)) {
    fail_with(vm, &f.source, &f.diagnostics, name);
    return false;
  }
  // Nothing was reported, so a stage gave up for want of memory.
  if (!ok && !tl_failed(vm))
    tl_fail_memory(vm, nbytes, "the compiler");
  return ok;
}

// A new unit from the text, or NULL after tl_fail. With
// [is_conservative], only slots borrow. With [check] NULL in any case: what is
// only checked has no code.
static tl_unit *compile_once(tl_vm *vm, tl_module *module, const char *name,
                             const char *text, size_t nbytes, unsigned mode,
                             bool is_conservative, struct tl_found *check) {
  tl_unit *unit = tl_unit_new(vm, module, name, text, nbytes);
  if (unit == NULL)
    return NULL;
  tl_arena arena;
  tl_arena_open(&arena, resize, vm);
  tl_cfg_program program = {.arena = &arena,
                            .is_conservative = is_conservative};
  tl_builder builder = {
      .vm = vm,
      .arena = &arena,
      .unit = unit,
      .program = &program,
      .check = check,
      .debugged = vm->debug != NULL && !tl_is_library(vm, unit)};
  bool ok = compile_into(&builder, name, text, nbytes, mode);
  tl_arena_close(&arena);
  if (ok && check == NULL)
    return unit;
  // The table of functions went with the arena.
  unit->prototype_count = 0;
  tl_unit_free(vm, unit);
  return NULL;
}

// Whether code that the verifier rejects is compiled once more. Where code is
// audited the rejection stays an error, so that tests with random programs
// report it.
static bool may_try_again(const tl_vm *vm) {
#ifdef TALLY_AUDIT
  return vm->conservative;
#else
  (void)vm;
  return true;
#endif
}

// Whether the verifier rejects a function of the unit. Sets [failed] also
// where it ran out of memory.
static bool is_refused(tl_vm *vm, const tl_unit *unit, bool *failed) {
  for (uint32_t i = 0; i < unit->prototype_count && !*failed; i++)
    *failed = !tl_verify(vm, unit->prototypes[i]);
  for (uint32_t i = 0; *failed && i < unit->prototype_count; i++)
    if (unit->prototypes[i]->verified == 2)
      return true;
  return false;
}

// Code is verified before it runs; here already, so that a fault in the
// ownership analysis costs reference counts and not the program: a unit that
// the verifier rejects is compiled once more, and then only slots borrow.
static tl_unit *compile_proved(tl_vm *vm, tl_module *module, const char *name,
                               const char *text, size_t nbytes, unsigned mode) {
  bool failed = false;
  tl_unit *unit =
      compile_once(vm, module, name, text, nbytes, mode, false, NULL);
  if (unit == NULL)
    return NULL;
  bool refused = is_refused(vm, unit, &failed);
  if ((!refused && !vm->conservative) || !may_try_again(vm)) {
    if (!failed)
      return unit;
    tl_unit_free(vm, unit);
    return NULL;
  }
  tl_unit_free(vm, unit);
  // The rejection is no error of the script: forget it and compile once more.
  if (refused)
    tl_error_clear(vm);
  return failed && !refused
             ? NULL
             : compile_once(vm, module, name, text, nbytes, mode, true, NULL);
}

tl_unit *tl_compile(tl_vm *vm, tl_module *module, const char *name,
                    const char *text, size_t nbytes, unsigned mode) {
  size_t before = tl_reserve(vm, TL_RESERVE);
  tl_unit *unit = compile_proved(vm, module, name, text, nbytes, mode);
  tl_reserve(vm, before);
  return unit;
}

// In a module of its own, so that no name of the main module counts, nor stays
// behind.
bool tl_check_source(tl_vm *vm, const char *name, const char *text,
                     size_t nbytes, tl_compute *compute, void *context,
                     tl_slot *out) {
  tl_module *module = tl_module_new(vm, "main", NULL);
  struct tl_found check = {.found = module == NULL ? NULL : tl_list_new(vm, 4),
                           .compute = compute,
                           .context = context};
  if (check.found != NULL)
    compile_once(vm, module, name, text, nbytes, TL_UNIT_SCRIPT, false, &check);
  if (module != NULL)
    tl_module_free(vm, module);
  return tl_list_give(vm, check.found, check.found != NULL && !tl_failed(vm),
                      out);
}

// --- Layout -----------------------------------------------------------------

// Makes a text of a script into [out]; false after tl_fail or when memory
// failed.
typedef bool make_text(tl_vm *vm, tl_arena *arena, const char *name,
                       const char *code, size_t nbytes, tl_text *out);

// Sets [out] to a new string that [make] has made. A failure of the arena sets
// no error by itself, so it becomes one of kind memory, for [what].
static bool make_string(tl_vm *vm, make_text *make, const char *what,
                        const char *name, const char *code, size_t nbytes,
                        tl_slot *out) {
  tl_arena arena;
  tl_text text;
  tl_arena_open(&arena, resize, vm);
  tl_text_open(&text, vm);
  bool ok = make(vm, &arena, name, code, nbytes, &text);
  tl_arena_close(&arena);
  return tl_text_give(&text, ok, out) ||
         (!tl_failed(vm) && tl_fail_memory(vm, nbytes, what));
}

// The text laid out.
static bool lay_out(tl_vm *vm, tl_arena *arena, const char *name,
                    const char *code, size_t nbytes, tl_text *out) {
  front f;
  tl_source laid;
  if (parse(vm, arena, &f, name, code, nbytes) == NULL)
    return false;
  // The parser has released its tokens, so the text is lexed again.
  tl_tokens tokens = {.items = NULL}, again = {.items = NULL};
  bool ok = tl_lex(&tokens, arena, &f.source, false) &&
            tl_layout(&f.source, &tokens, arena, out) && !out->failed;
  // The result is lexed again and compared token by token: a fault here must
  // never change a program.
  if (ok && open_source(vm, &laid, name, out->bytes, out->length) &&
      tl_lex(&again, arena, &laid, false) &&
      !tl_layout_is_same(&f.source, &tokens, &laid, &again)) {
    tl_fail(vm, TALLY_ERR_HOST,
            "%s is left as it is: laid out, it would be another program; "
            "this is a fault of Tally",
            name);
  }
  tl_tokens_release(&tokens, arena);
  tl_tokens_release(&again, arena);
  return ok && !arena->failed && !tl_failed(vm);
}

bool tl_format_source(tl_vm *vm, const char *name, const char *text,
                      size_t nbytes, tl_slot *out) {
  return make_string(vm, lay_out, "a layout", name, text, nbytes, out);
}

// --- Documentation ----------------------------------------------------------

// Adds a definition's signature or an assignment's target, with the ## lines
// above it; nothing for other statements. The signature is the source between
// the parentheses, so defaults read as the author wrote them.
static void describe_statement(const tl_source *source, const tl_ast *ast,
                               tl_text *text) {
  if (ast->kind == TL_AST_DEFINE) {
    const tl_ast_function *f = &ast->define.function->function;
    uint32_t begin = 0, end = 0;
    if (f->count > 0) {
      begin = f->params[0].span.begin;
      end = f->params[f->count - 1].span.end;
    }
    tl_put_signature(text, f->name->text, f->name->nbytes, source->text + begin,
                     end - begin);
    tl_put_doc(text, f->doc, f->doc_nbytes);
  } else if (ast->kind == TL_AST_ASSIGN && ast->assign.doc != NULL) {
    tl_put_paragraph(text);
    tl_span span = ast->assign.target.span;
    tl_text_add(text, source->text + span.begin, span.end - span.begin);
    tl_text_putc(text, '\n');
    tl_put_doc(text, ast->assign.doc, ast->assign.doc_nbytes);
  }
}

// Adds the description of each statement at the top of the text.
static bool describe(tl_vm *vm, tl_arena *arena, const char *name,
                     const char *code, size_t nbytes, tl_text *text) {
  front f;
  const tl_ast *root = parse(vm, arena, &f, name, code, nbytes);
  if (root == NULL)
    return false;
  // Only what stands at the top: names within functions are nobody else's.
  for (uint32_t i = 0; i < root->items.count; i++)
    describe_statement(&f.source, root->items.items[i], text);
  return true;
}

// The text is parsed and not resolved: names that mean nothing are no error.
bool tl_describe_source(tl_vm *vm, const char *name, const char *code,
                        size_t nbytes, tl_slot *out) {
  return make_string(vm, describe, "a description", name, code, nbytes, out);
}

// --- Names ------------------------------------------------------------------

// In a module of its own, as a check. Errors of the resolver stay in its list,
// which nobody reads.
bool tl_resolve_source(tl_vm *vm, const char *name, const char *text,
                       size_t nbytes, tl_slot *out) {
  tl_arena arena;
  front f;
  tl_list *list = NULL;
  tl_arena_open(&arena, resize, vm);
  tl_module *module = tl_module_new(vm, "main", NULL);
  tl_ast *program =
      module == NULL ? NULL : parse(vm, &arena, &f, name, text, nbytes);
  tl_occurrences found = {.arena = &arena};
  tl_resolver resolver = {.vm = vm,
                          .arena = &arena,
                          .names = &f.names,
                          .diagnostics = &f.diagnostics,
                          .module = module,
                          .mode = TL_UNIT_SCRIPT,
                          .occurrences = &found};
  if (program != NULL) {
    tl_resolve(&resolver, program);
    list = tl_occurrences_list(vm, &found);
  }
  if (arena.failed && !tl_failed(vm))
    tl_fail_memory(vm, nbytes, "the compiler");
  tl_arena_close(&arena);
  if (module != NULL)
    tl_module_free(vm, module);
  return tl_list_give(vm, list, list != NULL && !tl_failed(vm), out);
}

const tl_compiler_hooks tl_compiler = {.compile = tl_compile};
