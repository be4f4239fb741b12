// tally.h: debugging. vm/observe/debug.c follows the run; here its events reach
// the host's hook, and the hook gets frames, names and values.
//
//     tally_debug_eval  "total / n" ─▶ fn(total, n) = total / n   compiled once
//                       in the frame's module, called with the frame's values
//
// Built for size.

#include "compiler/compile.h"
#include "compiler/resolver.h"
#include "vm/api/api.h"
#include "vm/observe/debug.h"

// Calls the hook as one of the host's functions is called, and returns whether
// the run goes on. The returned value is lent to it: where there is no memory
// for a handle the hook sees none. What it took of the time limit is given
// back.
static bool call_hook(tl_vm *vm, tally_debug_info *info, tl_slot returned) {
  tl_debug *d = vm->debug;
  double began = vm->deadline > 0 ? tl_clock_of(vm) : 0;
  // Since the last time its function may have gone, and another lie there.
  d->function = NULL;
  if (!tl_handle_borrow(vm, returned, &info->value)) {
    tl_error_clear(vm);
    info->value = tl_plain_value(tl_none());
  }
  vm->paused = true;
  vm->host_depth++;
  vm->native_depth++;
  int ends = d->hook(vm, d->context, info);
  tl_report_forget(vm);
  tally_release(vm, info->value);
  vm->native_depth--;
  vm->host_depth--;
  vm->paused = false;
  if (began > 0)
    vm->deadline += tl_clock_of(vm) - began;
  return ends == 0;
}

// Gives up an expression, if the place has one; its code goes with its handle,
// or with the call under way.
static void forget(tl_vm *vm, struct tl_expression *e) {
  if (e->text == NULL)
    return;
  tl_host_free(vm, e->text, e->size);
  tally_release(vm, e->function);
  e->text = NULL;
}

// Gives up the debugger's state and what it compiled, and restores the loop
// that the VM ran in before. Nothing happens where nobody debugs.
void tl_debug_close(tl_vm *vm) {
  tl_debug *d = vm->debug;
  if (d == NULL)
    return;
  for (int i = 0; i < TL_DEBUG_EXPRESSIONS; i++) forget(vm, &d->expressions[i]);
  vm->counting = d->was_counting;
  vm->debug = NULL;
  tl_host_free(vm, d, sizeof *d);
}

// A debugger has instructions counted, since the observer is called there
// alone. Whether they are is asked where the dispatch loop begins: hence the
// refusal (kind host) while a script runs.
tally_status tally_debug(tally_vm *vm, tally_debug_hook *hook, void *context) {
  TL_ENTER(vm);
  if (vm->paused || vm->frame >= vm->frames)
    return tl_report_fail(vm, TALLY_ERR_HOST, "tally_debug: a script runs");
  tl_debug_close(vm);
  if (hook == NULL)
    return TALLY_OK;
  tl_debug *d = tl_host_new(vm, sizeof *d);
  if (d == NULL) {
    tl_fail_memory(vm, sizeof *d, "a debugger");
    return tl_report(vm);
  }
  memset(d, 0, sizeof *d);
  atomic_init(&d->asked, false);
  d->hook = hook;
  d->context = context;
  d->tell = call_hook;
  d->was_counting = vm->counting;
  vm->counting = true;
  vm->debug = d;
  return TALLY_OK;
}

// Only sets a flag, which the next line takes back: a signal handler may do no
// more.
void tally_debug_pause(tally_vm *vm) {
  if (vm != NULL && vm->debug != NULL)
    atomic_store_explicit(&vm->debug->asked, true, memory_order_relaxed);
}

// --- Looking ----------------------------------------------------------------

// The frame; NULL after tl_fail: nothing is stopped (kind host), or there are
// not so many (kind index).
static const tl_frame *find_frame(tl_vm *vm, size_t index) {
  const tl_frame *f = NULL;
  if (!vm->paused)
    tl_fail(vm, TALLY_ERR_HOST, "no run has stopped for a debugger");
  else if ((f = tl_debug_frame(vm, index)) == NULL)
    tl_fail(vm, TALLY_ERR_INDEX, "there is no frame %zu", index);
  return f;
}

// The texts are the unit's, which the frame keeps alive.
tally_status tally_debug_frame(tally_vm *vm, size_t frame,
                               tally_debug_place *out) {
  TL_ENTER(vm);
  const tl_frame *f = find_frame(vm, frame);
  if (f == NULL || !tl_given(vm, out, "the place for the frame"))
    return tl_report(vm);
  const tl_unit *unit = f->function->unit;
  *out = (tally_debug_place){.file = unit->file->text,
                             .function = f->function->name->text,
                             .line = (int)tl_debug_line(f),
                             .source = unit->text,
                             .nbytes = unit->nbytes};
  return TALLY_OK;
}

// A line has code where some instruction of its is marked with it.
tally_status tally_debug_line(tally_vm *vm, size_t frame, int line, int *out) {
  TL_ENTER(vm);
  const tl_frame *f = find_frame(vm, frame);
  if (f == NULL || !tl_given(vm, out, "the place for the line"))
    return tl_report(vm);
  const tl_unit *unit = f->function->unit;
  uint32_t least = line < 1 ? 1 : (uint32_t)line, found = UINT32_MAX;
  for (uint32_t i = 0; i < unit->prototype_count; i++) {
    const tl_prototype *p = unit->prototypes[i];
    for (uint32_t pc = 0; p->lines != NULL && pc < p->code_count; pc++)
      if (p->lines[pc] >= least && p->lines[pc] < found)
        found = p->lines[pc];
  }
  *out = found == UINT32_MAX ? 0 : (int)found;
  return TALLY_OK;
}

// Whether a variable is listed. Functions and modules are no news to who looks
// at a module's top, where they would hide the few that change.
static bool is_shown(tl_slot value) {
  return !tl_is_kind(value, TL_KIND_FUNCTION) &&
         !tl_is_kind(value, TL_KIND_MODULE);
}

// In the order of tl_debug_name. A name that several slots have comes once for
// each of them.
tally_status tally_debug_names(tally_vm *vm, size_t frame, tally_value *out) {
  TL_ENTER(vm);
  const tl_frame *f = find_frame(vm, frame);
  const char *name;
  tl_list *list = NULL;
  if (f == NULL || !tl_given(vm, out, "the place for the names") ||
      (list = tl_list_new(vm, 8)) == NULL)
    return tl_report(vm);
  for (uint32_t i = 0; (name = tl_debug_name(f, i)) != NULL; i++) {
    tl_slot *value;
    if (!tl_debug_find(vm, f, name, strlen(name), &value) || value == NULL ||
        !is_shown(*value))
      continue;
    tl_string *text = tl_string_from(vm, name);
    if (text == NULL || !tl_list_push_own(vm, &list, tl_own_string(text)))
      break;
  }
  tl_slot names;
  return tl_list_give(vm, list, !tl_failed(vm), &names)
             ? tl_give(vm, names, out)
             : tl_report(vm);
}

// --- Evaluating -------------------------------------------------------------

// The frame's variables that an expression names, and their values, borrowed.
typedef struct bound {
  tl_slot values[TL_MAX_CALL_ARGUMENTS];
  const char *names[TL_MAX_CALL_ARGUMENTS];
  size_t nbytes[TL_MAX_CALL_ARGUMENTS];
  int count;
} bound;

// Adds a name, unless it is there already or is the module's, which the
// expression sees by itself. False after tl_fail.
static bool bind_name(tl_vm *vm, const tl_frame *f, const char *name,
                      size_t nbytes, bound *b) {
  tl_slot *slot;
  for (int i = 0; i < b->count; i++)
    if (b->nbytes[i] == nbytes && memcmp(b->names[i], name, nbytes) == 0)
      return true;
  if (!tl_debug_find(vm, f, name, nbytes, &slot))
    return !tl_failed(vm);
  if (slot == NULL)
    return tl_fail(vm, TALLY_ERR_NAME,
                   "%.*s has no value now: it is not assigned yet, or is just "
                   "being changed",
                   (int)nbytes, name);
  const tl_module *module = f->function->unit->module;
  if (slot >= module->variables &&
      slot < module->variables + module->variable_count)
    return true;
  if (b->count == TL_MAX_CALL_ARGUMENTS)
    return tl_fail(vm, TALLY_ERR_LIMIT,
                   "an expression names at most %d variables of a function",
                   TL_MAX_CALL_ARGUMENTS);
  b->values[b->count] = tl_borrow(*slot);
  b->names[b->count] = name;
  b->nbytes[b->count++] = nbytes;
  return true;
}

// Whether the name that begins there is a field's: behind one point. Behind
// three it is a variable whose items are spread.
static bool is_field(const char *text, size_t begin) {
  return begin > 0 && text[begin - 1] == '.' &&
         (begin < 3 || memcmp(text + begin - 3, "...", 3) != 0);
}

// Finds the names by the lexer: those behind a point are of fields. An
// expression with more tokens than are read is refused (kind limit), for a name
// that was left unbound could mean a variable of the module. False after
// tl_fail.
static bool bind_names(tl_vm *vm, const tl_frame *f, const char *text,
                       bound *b) {
  enum { MOST_TOKENS = 256 };
  tally_token tokens[MOST_TOKENS];
  size_t nbytes = strlen(text);
  size_t count = tally_tokens(vm, text, nbytes, tokens, MOST_TOKENS);
  if (count > MOST_TOKENS)
    return tl_fail(vm, TALLY_ERR_LIMIT,
                   "an expression has at most %d tokens: got %zu", MOST_TOKENS,
                   count);
  for (size_t i = 0; i < count; i++) {
    const tally_token *t = &tokens[i];
    if ((t->kind != TALLY_TOKEN_NAME && t->kind != TALLY_TOKEN_CALL) ||
        is_field(text, t->begin))
      continue;
    if (!bind_name(vm, f, text + t->begin, t->end - t->begin, b))
      return false;
  }
  return true;
}

// Whether the expression is this one, in that module.
static bool is_same(const struct tl_expression *e, const tl_module *module,
                    const tl_text *text) {
  return e->text != NULL && e->module == module && e->size == text->length &&
         memcmp(e->text, text->bytes, text->length) == 0;
}

// Compiles the text, whose value is a function, and keeps that in place of the
// expression that was compiled longest ago. NULL after tl_fail.
static struct tl_expression *add_expression(tl_vm *vm, tl_module *module,
                                            const tl_text *text) {
  tl_debug *d = vm->debug;
  struct tl_expression *e = &d->expressions[d->newest++ % TL_DEBUG_EXPRESSIONS];
  forget(vm, e);
  tl_unit *unit = tl_compile(vm, module, "<debug>", text->bytes, text->length,
                             TL_UNIT_EVAL);
  tl_slot function = tl_none();
  tally_value handle;
  if (unit == NULL || !tl_run_unit(vm, unit, &function))
    return NULL;
  bool ok = tl_handle_new(vm, &function, &handle);
  tl_drop(vm, function);
  char *copy = ok ? tl_host_new(vm, text->length) : NULL;
  if (copy == NULL) {
    if (ok)
      tally_release(vm, handle);
    tl_fail_memory(vm, text->length, "an expression");
    return NULL;
  }
  memcpy(copy, text->bytes, text->length);
  *e = (struct tl_expression){copy, text->length, module, handle};
  return e;
}

// The expression as a function of the names; NULL after tl_fail.
static struct tl_expression *find_expression(tl_vm *vm, tl_module *module,
                                             const char *expression,
                                             const bound *b) {
  tl_text text;
  tl_text_open(&text, vm);
  tl_text_puts(&text, "fn(");
  for (int i = 0; i < b->count; i++)
    tl_text_printf(&text, "%s%.*s", i == 0 ? "" : ", ", (int)b->nbytes[i],
                   b->names[i]);
  tl_text_printf(&text, ") = (\n%s\n)", expression);
  struct tl_expression *e = NULL;
  for (int i = 0; i < TL_DEBUG_EXPRESSIONS && !text.failed && e == NULL; i++)
    if (is_same(&vm->debug->expressions[i], module, &text))
      e = &vm->debug->expressions[i];
  if (e == NULL && !text.failed)
    e = add_expression(vm, module, &text);
  if (text.failed && !tl_failed(vm))
    tl_fail_memory(vm, text.length, "an expression");
  tl_text_close(&text);
  return e;
}

// An expression becomes a function of the variables that it names, so that it
// runs as any other call. The frame's values are counted once more for the time
// of the call, so that nothing that it does changes them.
tally_status tally_debug_eval(tally_vm *vm, size_t frame,
                              const char *expression, tally_value *out) {
  TL_ENTER(vm);
  bound b = {.count = 0};
  tl_slot function, value = tl_none();
  const tl_frame *f = find_frame(vm, frame);
  if (f == NULL || !tl_given(vm, out, "the place for the value") ||
      !tl_check_host_text(vm, expression,
                          expression == NULL ? 0 : strlen(expression)) ||
      !bind_names(vm, f, expression, &b))
    return tl_report(vm);
  const struct tl_expression *e =
      find_expression(vm, f->function->unit->module, expression, &b);
  if (e == NULL || !tl_handle_get(vm, e->function, &function))
    return tl_report(vm);
  // The cache may give the function up while it runs.
  function = tl_retain(vm, function);
  for (int i = 0; i < b.count; i++) b.values[i] = tl_retain(vm, b.values[i]);
  bool ok = tl_call(vm, function, b.count, b.values, &value);
  tl_drop(vm, function);
  return ok ? tl_give(vm, value, out) : tl_report(vm);
}

// What the rules are is tl_debug_assign's; the value stays the host's.
tally_status tally_debug_set(tally_vm *vm, size_t frame, const char *name,
                             tally_value value) {
  TL_ENTER(vm);
  tl_slot slot;
  const tl_frame *f = find_frame(vm, frame);
  if (f == NULL || !tl_given(vm, name, "the name") ||
      !tl_handle_get(vm, value, &slot) ||
      !tl_debug_assign(vm, f, name, strlen(name), slot))
    return tl_report(vm);
  return TALLY_OK;
}
