// Functions of the host's: registering them (tally_add_module), finding them,
// calling them.
//
// A row of the host becomes a tl_host_function, whose first part is a row like
// the library's, so that the compiler needs no second kind of function. Its
// optional signature "(float64, _) -> float64" is checked at each call.
//
//   {"clamp", "x, low: 0.0", "…", .signature = "(float64, _) -> float64"}
//
//   row      name, params and doc, copied: the compiler sees a built-in
//   params   float64 and NULL (anything), result float64
//   call     through tl_hook_run; or loop, for items one by one (vm/engine)

#include <stdio.h>

#include "vm/api/api.h"
#include "vm/api/host.h"
#include "vm/engine/engine.h"

// --- Finding ----------------------------------------------------------------

// Whether both are the same module, or both NULL.
static bool is_same(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

// The list that a name is in.
// A function of a module and a global one of the same name are in one list,
// which is_same tells apart. A module of thousands of functions is so found in
// a few steps; compiling a script looks up each name that it calls.
static size_t hash_of(const char *name, size_t nbytes) {
  uint32_t hash = 0;
  for (size_t i = 0; i < nbytes; i++) hash = hash * 31 + (unsigned char)name[i];
  return (hash ^ hash >> 7) % TL_HOST_NAMES;
}

// The host's functions, the newest first, then the library's.
const tl_builtin *tl_function_find(const tl_vm *vm, const char *module,
                                   const char *name, size_t nbytes) {
  const tl_host_function *f = vm->host_names[hash_of(name, nbytes)];
  for (; f != NULL; f = f->next_alike)
    if (is_same(f->module, module) && tl_text_is(f->row.name, name, nbytes))
      return &f->row;
  return tl_builtin_find(vm->library, module, name, nbytes);
}

// For completions and suggestions; the order decides what hides what.
// Every row is there once, with NULL as the module of a global function.
void tl_host_each_function(const tl_vm *vm, tl_each_function *each,
                           void *context) {
  for (const tl_host_function *f = vm->host_functions; f != NULL; f = f->next)
    each(context, f->module, f->row.name);
}

// The host's modules, then the library's.
// The newest module first, though no two have one name (make_module).
const char *tl_native_module(const tl_vm *vm, const char *name, size_t nbytes) {
  for (const tl_host_module *m = vm->host_modules; m != NULL; m = m->next)
    if (tl_text_is(m->name, name, nbytes))
      return m->name;
  for (const tl_family *f = vm->library->families; f->rows != NULL; f++)
    if (f->module != NULL && tl_text_is(f->module, name, nbytes))
      return f->module;
  return NULL;
}

// --- Registering ------------------------------------------------------------

// Copies a text to *at, which moves behind it; NULL stays NULL.
// The room was measured by text_size, in the same order of texts or another.
static const char *copy_text(char **at, const char *text) {
  if (text == NULL)
    return NULL;
  size_t nbytes = strlen(text) + 1;
  char *to = memcpy(*at, text, nbytes);
  *at += nbytes;
  return to;
}

// Bytes of a text with its NUL; 0 for NULL.
// What copy_text will need.
static size_t text_size(const char *text) {
  return text == NULL ? 0 : strlen(text) + 1;
}

// Whether the text may be a name: letters, digits and underscores, no digit
// first; bytes beyond ASCII are letters.
static bool is_name(const char *text) {
  // An empty text has its NUL among these, so it is no name either.
  if (text == NULL || strchr("0123456789", *text) != NULL)
    return false;
  for (const char *p = text; *p != 0; p++) {
    bool ascii_word = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                      (*p >= '0' && *p <= '9') || *p == '_';
    if (!ascii_word && (*p & 0x80) == 0)
      return false;
  }
  return true;
}

// The end of one type in a list: a comma or a bracket that is not inside
// others.
//   float64, {x: int64, y: int64}, (a, b)) -> …
//          ^                     ^       ^
static const char *type_end(const char *at) {
  int depth = 0;
  for (; *at != 0; at++) {
    if (depth == 0 && (*at == ',' || *at == ')'))
      return at;
    // Commas inside structs and tuples belong to the type.
    depth += (*at == '{' || *at == '(') - (*at == '}' || *at == ')');
  }
  return at;
}

// A signature may go over lines.
static const char *skip_blanks(const char *at) {
  while (*at == ' ' || *at == '\n') at++;
  return at;
}

// Returns false.
// One message for all mistakes of form: it shows what the form is.
static bool bad_signature(tl_vm *vm, const char *name, const char *signature) {
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "%s: the signature %s is not of the form (TYPE, TYPE) -> TYPE "
                 "with a type for each parameter",
                 name, signature);
}

// Parses one type of a signature; `_` stands for anything and leaves *out NULL.
static bool parse_type(tl_vm *vm, const char *text, size_t nbytes,
                       tl_type **out) {
  // _ stands for anything.
  while (nbytes > 0 && text[nbytes - 1] == ' ') nbytes--;
  if (nbytes == 1 && *text == '_')
    return true;
  *out = tl_type_parse(vm, text, nbytes);
  return *out != NULL;
}

// Parses "(TYPE, TYPE) -> TYPE" with one type for each parameter.
// A missing result, "(float64)", is anything. False (kind type) where the form
// or the number of parameters is wrong.
// What was parsed before a mistake belongs to the VM's types, so there is
// nothing to free.
static bool parse_signature(tl_vm *vm, tl_host_function *f,
                            const char *signature) {
  const char *at = skip_blanks(signature);
  int count = 0;
  if (*at != '(')
    return bad_signature(vm, f->row.name, signature);
  at = skip_blanks(at + 1);
  while (*at != ')') {
    const char *end = type_end(at);
    if (*end == 0 || end == at || count == f->param_count)
      return bad_signature(vm, f->row.name, signature);
    if (!parse_type(vm, at, (size_t)(end - at), &f->params[count++]))
      return false;
    at = skip_blanks(*end == ',' ? end + 1 : end);
  }
  at = skip_blanks(at + 1);
  if (count != f->param_count)
    return bad_signature(vm, f->row.name, signature);
  if (*at == 0)
    return true;
  if (strncmp(at, "->", 2) != 0)
    return bad_signature(vm, f->row.name, signature);
  at = skip_blanks(at + 2);
  return parse_type(vm, at, strlen(at), &f->result);
}

// Checks name and texts of a row, and that the name is free.
// Fails (kind name) for a name that is no word or taken, (kind host) where
// there is not just one of call and loop, (kind value) for texts that are no
// UTF-8.
// Global functions may not hide those of the library either: scripts are read
// by others, who know what sum is.
static bool check_row(tl_vm *vm, const char *module, const tally_native *row) {
  if (!is_name(row->name))
    return tl_fail(vm, TALLY_ERR_NAME, "a function's name is a word: got %s",
                   row->name == NULL ? "NULL" : row->name);
  if ((row->call == NULL) == (row->loop == NULL))
    return tl_fail(vm, TALLY_ERR_HOST, "%s: a function has either call or loop",
                   row->name);
  const char *const texts[] = {row->name, row->params, row->doc,
                               row->signature};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (texts[i] != NULL && !tl_check_host_text(vm, texts[i], strlen(texts[i])))
      return false;
  if (tl_function_find(vm, module, row->name, strlen(row->name)) != NULL)
    return tl_fail(vm, TALLY_ERR_NAME, "there is a function %s already",
                   row->name);
  return true;
}

// Checks the parameters' text; elementwise functions have required parameters
// alone.
// 60 bytes are what messages have room for. Kind name for parameters that are
// no words, kind host for those of an elementwise function.
static bool check_params(tl_vm *vm, tl_host_function *f) {
  tl_param params[TL_MAX_PARAMS];
  f->param_count = tl_params_parse(f->row.params, params);
  bool is_plain = true;
  for (int i = 0; i < f->param_count; i++) {
    size_t n = params[i].name_length;
    is_plain = is_plain && params[i].kind == TL_PARAM_REQUIRED && n > 0;
    if (n == 0 || n > 60)
      return tl_fail(vm, TALLY_ERR_NAME,
                     "%s: the parameters are words and defaults, such as "
                     "\"x, axis: none, ...rest\": got %s",
                     f->row.name, f->row.params);
  }
  if (f->loop != NULL && (!is_plain || f->param_count < 1 ||
                          f->param_count > TALLY_MAX_LOOP_INPUTS)) {
    return tl_fail(vm, TALLY_ERR_HOST,
                   "%s: an elementwise function has 1 to %d parameters, all "
                   "required",
                   f->row.name, TALLY_MAX_LOOP_INPUTS);
  }
  return true;
}

// Whether the type is a dtype of numbers or bools, as parameters and results of
// an elementwise function are.
static bool is_loop_type(const tl_type *type) {
  return type != NULL && type->kind == TL_TYPE_DTYPE && type->dtype < TL_STRING;
}

// Checks that the signature of an elementwise function has dtypes alone.
static bool check_loop(tl_vm *vm, const tl_host_function *f) {
  bool ok = f->loop == NULL || is_loop_type(f->result);
  for (int i = 0; ok && f->loop != NULL && i < f->param_count; i++)
    ok = is_loop_type(f->params[i]);
  return ok || tl_fail(vm, TALLY_ERR_TYPE,
                       "%s: the signature of an elementwise function has "
                       "dtypes alone, such as (float64, float64) -> float64",
                       f->row.name);
}

// Makes the function of a row, its texts behind it in one block; NULL after
// tl_fail.
static tl_host_function *make_function(tl_vm *vm, const char *module,
                                       const tally_native *row) {
  if (!check_row(vm, module, row))
    return NULL;
  const char *doc = row->doc == NULL ? "" : row->doc;
  const char *params = row->params == NULL ? "" : row->params;
  // One block for the function and its texts, as the host's may not live on.
  size_t nbytes = sizeof(tl_host_function) + text_size(row->name) +
                  text_size(params) + text_size(doc);
  tl_host_function *f = tl_alloc_zeroed(vm, nbytes, "a function of the host");
  if (f == NULL)
    return NULL;
  char *at = (char *)(f + 1);
  f->nbytes = nbytes;
  f->module = module;
  f->call = row->call;
  f->loop = row->loop;
  f->context = row->context;
  f->takes = row->takes;
  // Every parameter goes by position: a call needs no look at names or rests. A
  // default such as 1.5 has a point as well, which only makes calls slower.
  f->is_plain = row->loop == NULL && strpbrk(params, ":.") == NULL;
  // A loop sees numbers alone; any other function may run scripts and have
  // effects.
  unsigned may = row->loop != NULL ? 0 : TL_EFFECT | TL_CALLS;
  f->row = (tl_builtin){.name = copy_text(&at, row->name),
                        .params = copy_text(&at, params),
                        .doc = copy_text(&at, doc),
                        .flags = may | (row->needs & TALLY_MAY_ALL),
                        .takes = TL_FORMS};
  if (check_params(vm, f) &&
      (row->signature == NULL || parse_signature(vm, f, row->signature)) &&
      check_loop(vm, f))
    return f;
  tl_free(vm, f, f->nbytes);
  return NULL;
}

// Adds a module by its name; NULL after tl_fail.
// The module is in vm->host_modules then, and has no functions yet. A name of
// the library's is taken as well.
static tl_host_module *make_module(tl_vm *vm, const tally_module *module) {
  if (!is_name(module->name)) {
    tl_fail(vm, TALLY_ERR_NAME, "a module's name is a word: got %s",
            module->name);
    return NULL;
  }
  if (tl_native_module(vm, module->name, strlen(module->name)) != NULL) {
    tl_fail(vm, TALLY_ERR_NAME, "there is a module %s already", module->name);
    return NULL;
  }
  const char *doc = module->doc == NULL ? "" : module->doc;
  size_t nbytes =
      sizeof(tl_host_module) + text_size(module->name) + text_size(doc);
  tl_host_module *m = tl_alloc_zeroed(vm, nbytes, "a module of the host");
  if (m == NULL)
    return NULL;
  char *at = (char *)(m + 1);
  m->nbytes = nbytes;
  m->name = copy_text(&at, module->name);
  m->doc = copy_text(&at, doc);
  m->next = vm->host_modules;
  vm->host_modules = m;
  return m;
}

// Frees the functions added since [until] was the newest.
// In both lists the newest is first, so the head of its hash's list is this
// function.
static void free_newest(tl_vm *vm, const tl_host_function *until) {
  while (vm->host_functions != until) {
    tl_host_function *f = vm->host_functions;
    vm->host_functions = f->next;
    vm->host_names[hash_of(f->row.name, strlen(f->row.name))] = f->next_alike;
    // Its texts lie in the same block; its types are the VM's, and go with it.
    tl_free(vm, f, f->nbytes);
  }
}

// The module has no functions by then: theirs refer to its name.
static void free_newest_module(tl_vm *vm) {
  tl_host_module *m = vm->host_modules;
  vm->host_modules = m->next;
  tl_free(vm, m, m->nbytes);
}

// Functions first: each refers to its module's name.
// At the end of tally_close, when no value refers to a function any more.
void tl_host_close(tl_vm *vm) {
  free_newest(vm, NULL);
  while (vm->host_modules != NULL) free_newest_module(vm);
}

// Row number [index], whatever the size of a row was when the host was
// compiled.
//   an older host's row   │ name params call signature doc takes │
//   ours                  │ name params call signature doc takes │ zero …
static tally_native row_at(const tally_module *module, size_t index) {
  size_t size = module->function_size;
  tally_native row = {.name = NULL};
  const char *from = (const char *)module->functions + index * size;
  // Fields that an older host does not have are zero.
  memcpy(&row, from, size < sizeof row ? size : sizeof row);
  return row;
}

// Adds all rows of a module, or none.
// A row sees those before it: the same name twice in one module is refused.
static bool add_functions(tl_vm *vm, const tally_module *module) {
  tl_host_module *m = NULL;
  tl_host_function *before = vm->host_functions;
  if (module->name != NULL) {
    m = make_module(vm, module);
    if (m == NULL)
      return false;
  }
  for (size_t i = 0; i < module->function_count; i++) {
    tally_native row = row_at(module, i);
    tl_host_function *f = make_function(vm, m == NULL ? NULL : m->name, &row);
    if (f == NULL) {
      // All rows or none: those that were added already go again.
      free_newest(vm, before);
      if (m != NULL)
        free_newest_module(vm);
      return false;
    }
    f->next = vm->host_functions;
    vm->host_functions = f;
    size_t alike = hash_of(f->row.name, strlen(f->row.name));
    f->next_alike = vm->host_names[alike];
    vm->host_names[alike] = f;
  }
  return true;
}

// Both structs may be those of an older tally.h, so their sizes are the host's.
// A struct of a host that is newer is read as far as it is known here.
tally_status tally_add_module(tally_vm *vm, const tally_module *module) {
  if (!tl_enter(vm))
    return TALLY_ERR_HOST;
  if (!tl_may_run(vm) || !tl_given(vm, module, "the module"))
    return tl_report(vm);
  tally_module given = {.size = 0};
  memcpy(&given, module,
         module->size < sizeof given ? module->size : sizeof given);
  bool ok = given.function_count == 0 ||
            tl_given(vm, given.functions, "the module's functions");
  if (ok && given.function_count > 0 &&
      given.function_size < offsetof(tally_native, call) + sizeof(void *)) {
    ok = tl_fail(vm, TALLY_ERR_HOST,
                 "function_size is sizeof(tally_native): got %zu",
                 given.function_size);
  }
  if (given.name != NULL)
    ok = ok && tl_check_host_text(vm, given.name, strlen(given.name));
  ok = ok && add_functions(vm, &given);
  return ok ? TALLY_OK : tl_report(vm);
}

// --- Running hooks ----------------------------------------------------------

// Makes a handle for each argument; *made says how many there are, also on
// failure.
// Arguments that are given away leave their slots empty; those borrowed stay.
static bool make_handles(tl_vm *vm, const tl_hook_call *call,
                         tally_value *handles, uint32_t *made) {
  for (*made = 0; *made < call->count; ++*made) {
    tl_slot *arg = &call->args[*made];
    // The mask has 64 bits; arguments beyond are borrowed.
    bool takes = *made < 64 && (call->takes >> *made & 1) != 0;
    if (takes ? !tl_handle_new(vm, arg, &handles[*made])
              : !tl_handle_borrow(vm, *arg, &handles[*made]))
      return false;
  }
  return true;
}

// Raises what a hook reported, or that it failed without saying why.
// A status that is none, or not ours, is kind host: the hook's result is not to
// be trusted further than its error. An interrupt that has come meanwhile goes
// first, for a `catch` may have the error, which is often what the interrupt
// did to the host (a read that ended, Python's KeyboardInterrupt). Returns
// false.
static bool pass_on(tl_vm *vm, const tl_hook_call *call, tally_status status) {
  if (!tl_report_is_final(vm) && !tl_poll(vm, 0))
    return false;
  if (tl_report_raise(vm, status))
    return false;
  if (status <= TALLY_OK || status >= TALLY_STATUS_COUNT)
    status = TALLY_ERR_HOST;
  return tl_fail(vm, status, "%s failed", call->name);
}

// Takes the value out of the hook's result handle; an untouched handle is none,
// and says that the hook declined.
static bool take_result(tl_vm *vm, const tl_hook_call *call, tally_value out,
                        tl_slot *result, bool *declined) {
  *result = tl_none();
  if (out.handle == 0 && out.check == 0) {  // untouched
    if (declined != NULL)
      *declined = true;
    return true;
  }
  if (tl_handle_take(vm, out, result))
    return true;
  tl_error_clear(vm);
  return tl_fail(vm, TALLY_ERR_HOST, "%s gave a value that was released",
                 call->name);
}

// In order: handles for the arguments, the hook with its access, what it raised
// or returned, and the handles again.
// The handles are released at the end in any case: what the hook retained lives
// on, with a count of its own.
bool tl_hook_run(tl_vm *vm, const tl_hook_call *call, tl_hook *hook,
                 void *context, tl_slot *out, bool *declined) {
  tally_value handles[TL_MAX_CALL_ARGUMENTS], result = {0, 0};
  uint32_t made = 0;
  tl_access before = vm->access;
  if (call->count > TL_MAX_CALL_ARGUMENTS)
    return tl_fail(vm, TALLY_ERR_TYPE, "%s takes at most %d arguments",
                   call->name, TL_MAX_CALL_ARGUMENTS);
  if (vm->host_depth >= TALLY_MAX_DEPTH)
    return tl_fail(vm, TALLY_ERR_LIMIT,
                   "functions of the host call each other too deeply");
  bool ok = make_handles(vm, call, handles, &made);
  if (ok) {
    vm->host_depth++;
    vm->native_depth++;
    if (call->access > before)
      vm->access = call->access;
    tally_status status = hook(vm, context, call->count, handles, &result);
    vm->access = before;
    if (status != TALLY_OK)
      ok = pass_on(vm, call, status);
    // The hook met an interrupt and went on: the script is to stop all the
    // same.
    else if (tl_report_is_final(vm))
      ok = !tl_report_raise(vm, TALLY_ERR_LIMIT);
    tl_report_forget(vm);
    ok = ok && take_result(vm, call, result, out, declined);
    vm->native_depth--;
    vm->host_depth--;
  }
  if (!ok)
    tally_release(vm, result);
  // A handle that the hook released has another generation now, so releasing it
  // again does nothing.
  for (uint32_t i = 0; i < made; i++) tally_release(vm, handles[i]);
  return ok;
}

// --- Calling ----------------------------------------------------------------

// Checks the arguments against the signature, binding its type variables.
// A variable of the signature stands for one type in all parameters and in the
// result, hence the shared bindings.
// The parameters' names are needed for messages alone, so they are parsed only
// if some type is there to check.
static bool check_types(tl_vm *vm, const tl_host_function *f,
                        const tl_slot *args, tl_bindings *bindings) {
  tl_param params[TL_MAX_PARAMS];
  bool parsed = false;
  for (int i = 0; i < f->param_count; i++) {
    if (f->params[i] == NULL)
      continue;
    if (!parsed) {
      tl_params_parse(f->row.params, params);
      parsed = true;
    }
    char name[160];
    snprintf(name, sizeof name, "%s: %.*s", f->row.name,
             (int)params[i].name_length, params[i].name);
    if (!tl_type_match(vm, f->params[i], args[i], bindings, name))
      return false;
  }
  return true;
}

// Elementwise functions go their own way; of others the signature is checked
// before and after.
bool tl_host_call(tl_vm *vm, const tl_builtin *builtin, tl_slot *args,
                  tl_slot *out) {
  const tl_host_function *f = (const tl_host_function *)(const void *)builtin;
  if (f->loop != NULL)
    return tl_host_loop(vm, f, args, out);
  // Not cleared as a whole: that would take longer than many a function does.
  tl_bindings bindings;
  bindings.count = 0;
  if (!check_types(vm, f, args, &bindings))
    return false;
  tl_hook_call call = {.name = f->row.name,
                       .count = (uint32_t)f->param_count,
                       .args = args,
                       .takes = f->takes};
  if (!tl_hook_run(vm, &call, f->call, f->context, out, NULL))
    return false;
  if (f->result == NULL ||
      tl_type_match(vm, f->result, *out, &bindings, "the result"))
    return true;
  // The result is not of the type that was promised: nobody gets it.
  tl_drop(vm, *out);
  return false;
}
