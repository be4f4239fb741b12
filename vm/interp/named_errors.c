// Which function a message speaks of: the one that the script called, as the
// script would write it, and not what that is made of.
//
//     linalg.pinv(x) calls svd, which fails:   "svd: x has no rows"
//     after tl_error_of_function:              "linalg.pinv: a has no rows"
//
// Both names are replaced, the function's and the argument's. A message that
// begins with no function's name gets one in front, if it is about arguments at
// all.
//
// Built for size.

#include <ctype.h>
#include <stdio.h>

#include "vm/embedded.h"
#include "vm/interp/interp.h"

// Whether the library has a function of that name, in C or in Tally.
static bool is_function(const tl_vm *vm, const char *text, size_t nbytes) {
  for (const tl_family *family = vm->library->families; family->rows; family++)
    for (const tl_builtin *row = family->rows; row->name; row++)
      if (tl_text_is(row->name, text, nbytes))
        return true;
  for (const struct tl_embedded *e = vm->library->embedded->modules; e->name;
       e++)
    for (const struct tl_embedded_function *f = e->functions; f->name; f++)
      if (tl_text_is(f->name, text, nbytes))
        return true;
  return false;
}

static bool begins_with(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

// The length of the function's name that a message begins with, as in "max: …"
// or "sqrt needs …"; 0: it begins with none. Most often it is [likely], the one
// that was called.
static size_t name_length(const tl_vm *vm, const char *message,
                          const char *likely) {
  size_t n = 0, from = 0;
  for (; isalnum((unsigned char)message[n]) || message[n] == '_' ||
         message[n] == '.';
       n++)
    if (message[n] == '.')
      from = n + 1;
  const char *behind = message + n;
  bool ends = begins_with(behind, ": ") || begins_with(behind, " needs ") ||
              begins_with(behind, " takes ") ||
              begins_with(behind, " has no parameter ");
  bool is = ends && (tl_text_is(likely, message + from, n - from) ||
                     is_function(vm, message + from, n - from));
  return is ? n : 0;
}

// Puts a text in place of [replaced] bytes of the message. Where there is no
// memory for the new message the old one stays.
static void splice(tl_vm *vm, size_t at, size_t replaced, const char *text,
                   size_t nbytes) {
  tl_pending_error *error = &vm->error;
  if (error->message_size == 0 ||
      (replaced == nbytes && memcmp(error->message + at, text, nbytes) == 0))
    return;
  size_t size = error->message_size - replaced + nbytes;
  char *message = tl_alloc_quiet(vm, size);
  if (message == NULL)
    return;
  const char *behind = error->message + at + replaced;
  snprintf(message, size, "%.*s%.*s%s", (int)at, error->message, (int)nbytes,
           text, behind);
  tl_free(vm, error->message, error->message_size);
  error->message = message;
  error->message_size = size;
}

// Puts module.name in place of the message's first bytes, or in front of it.
static void put_name(tl_vm *vm, const char *module, const char *name,
                     size_t replaced) {
  char text[160];
  int length = snprintf(text, sizeof text, "%s%s%s%s", module ? module : "",
                        module ? "." : "", name, replaced == 0 ? ": " : "");
  splice(vm, 0, replaced, text,
         (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

// Whether two slots hold the same value: bits of ownership and of weak literals
// aside.
static bool is_same(tl_slot a, tl_slot b) {
  const uint64_t notes = TL_OWNED | TL_WEAK;
  return (a.tag & ~notes) == (b.tag & ~notes) && a.u == b.u;
}

// The parameter whose argument was rejected: the one of the name in the
// message, unless an inner function gave that name and its value was another;
// else the one that got the value; else, where nothing is known, one whose
// values may have been spelled out before the call, or the only one that is
// required. NULL: none.
static const tl_param *refused_param(const tl_vm *vm, const char *name,
                                     const tl_param *params, int count,
                                     const tl_slot *args) {
  const tl_param *named = NULL, *got = NULL, *nested = NULL;
  for (int i = 0; i < count; i++) {
    if (tl_is_nested(args[i]))  // by the tag: what it had may be gone
      nested = &params[i];
    if (named == NULL && params[i].name_length == vm->error.refused_size &&
        memcmp(params[i].name, name, params[i].name_length) == 0)
      named = &params[i];
    if (got == NULL && is_same(args[i], vm->error.refused))
      got = &params[i];
  }
  // Of two that have the value the one of the name: both may be none.
  if (named != NULL && (!vm->error.refused_known ||
                        is_same(args[named - params], vm->error.refused)))
    return named;
  if (got != NULL || named != NULL)
    return got != NULL ? got : named;
  if (nested == NULL &&
      (count == 1 || (count > 1 && params[1].kind != TL_PARAM_REQUIRED)))
    nested = &params[0];
  return begins_with(name, TL_UNKNOWN_ARGUMENT " ") ? nested : NULL;
}

// Behind a function's name of [length] bytes the message goes on with an
// argument's name: replaces that by the name of this function's own parameter.
static void put_argument(tl_vm *vm, const tl_param *params, int count,
                         size_t length, const tl_slot *args) {
  tl_pending_error *error = &vm->error;
  size_t at = length + strlen(": "), nbytes = error->refused_size;
  if (nbytes == 0 || length == 0)
    return;
  const tl_param unknown = {.name = TL_UNKNOWN_ARGUMENT,
                            .name_length = sizeof TL_UNKNOWN_ARGUMENT - 1};
  const tl_param *param =
      refused_param(vm, error->message + at, params, count, args);
  if (param == NULL && !error->refused_known)
    return;  // "every item", which says enough
  if (param == NULL)
    param = &unknown;
  splice(vm, at, nbytes, param->name, param->name_length);
  error->refused_size = param->name_length;
  error->refused_known = true;
}

// Whether an error of this kind says what is wrong with a call's arguments, and
// not that something else failed meanwhile.
static bool is_of_arguments(tally_status kind) {
  return kind == TALLY_ERR_NAME || kind == TALLY_ERR_TYPE ||
         kind == TALLY_ERR_SHAPE || kind == TALLY_ERR_INDEX ||
         kind == TALLY_ERR_VALUE || kind == TALLY_ERR_DOMAIN;
}

// Only the innermost call whose name a script would write gives the name: an
// error that has a place or a name already is left alone.
void tl_error_of_builtin(tl_vm *vm, const tl_builtin *builtin,
                         const tl_slot *args) {
  tl_pending_error *error = &vm->error;
  if (error->placed || error->named)
    return;
  if (tl_builtin_is_host(builtin))
    return;  // a host has its own words, as a script has
  const char *module = tl_builtin_module(vm->library, builtin);
  if (module != NULL && module[0] == '_')
    return;  // it speaks of the library's function that called it
  size_t length = name_length(vm, error->message, builtin->name);
  // astype may have been written int8(x), as such messages say.
  if (length == 0 &&
      (!is_of_arguments(error->status) || builtin->fused == TL_FUSED_CAST))
    return;
  error->named = true;
  tl_param params[TL_MAX_PARAMS];
  int count = tl_params_parse(builtin->params, params);
  put_argument(vm, params, count, length, args);
  put_name(vm, module, builtin->name, length);
}

// A message that speaks of an argument (refused_size) is left alone: without
// the arguments nobody can tell which one it was.
void tl_error_of_call(tl_vm *vm, const char *text, size_t nbytes) {
  size_t n = 0;
  while (n < nbytes && (isalnum((unsigned char)text[n]) || text[n] == '_')) n++;
  if (n == nbytes || text[n] != '(' || vm->error.refused_size > 0)
    return;
  const tl_builtin *builtin = tl_builtin_find(vm->library, NULL, text, n);
  if (builtin != NULL)
    tl_error_of_builtin(vm, builtin, NULL);
}

// Cuts the middle out of a message that shows all of a large argument.
static void shorten(tl_vm *vm) {
  enum { LONG = 900, BEGIN = 500, END = 300 };
  const char *message = vm->error.message;
  size_t length = strlen(message), from = BEGIN, to = length - END;
  if (length <= LONG)
    return;
  while ((message[from] & 0xc0) == 0x80) from--;  // not within a code point
  while ((message[to] & 0xc0) == 0x80) to++;
  splice(vm, from, to - from, " … ", strlen(" … "));
}

// The parameters of a script function in the form of those of a built-in.
static int params_of(const tl_prototype *function,
                     tl_param out[TL_MAX_PARAMS]) {
  int count = 0;
  for (; count < (int)function->param_count && count < TL_MAX_PARAMS; count++)
    out[count] = (tl_param){
        .name = function->params[count].name->text,
        .name_length = (uint32_t)function->params[count].name->length,
        .kind = function->params[count].kind,
    };
  return count;
}

// Whether a function is among the arguments, which may have failed by itself.
static bool has_callee(const tl_prototype *function, const tl_slot *args) {
  for (uint32_t i = 0; i < function->param_count; i++)
    if (tl_is_callable(args[i]))
      return true;
  return false;
}

// Whether the name that the message begins with is that of a built-in among the
// arguments: that has failed by itself then.
static bool is_of_callee(const tl_prototype *function, const tl_slot *args,
                         const char *message, size_t length) {
  for (uint32_t i = 0; i < function->param_count; i++) {
    if (!tl_is_kind(args[i], TL_KIND_BUILTIN))
      continue;
    const tl_builtin *given = args[i].pointer;
    size_t n = strlen(given->name), from = length - n;
    if (n <= length && memcmp(message + from, given->name, n) == 0 &&
        (from == 0 || message[from - 1] == '.'))
      return true;
  }
  return false;
}

// A function in Tally of the library: its name takes the place of the name of
// whatever it called, but not of what it was given.
void tl_error_of_function(tl_vm *vm, const tl_prototype *function,
                          const tl_slot *args) {
  tl_pending_error *error = &vm->error;
  const char *module = function->unit->module->name->text;
  const char *name = function->name->text;
  // A module read from a file is the user's own, with its own places; and a
  // function that one of the library has made only calls what it was given.
  if (error->placed || function->unit->module->path != NULL ||
      function->capture_count > 0)
    return;
  // One that scripts do not know leaves the name to what it works for.
  if (tl_embedded_member(vm->library, module, name) == NULL) {
    error->named = error->named && has_callee(function, args);
    return;
  }
  size_t length = name_length(vm, error->message, name);
  if (error->named && is_of_callee(function, args, error->message, length))
    return;
  error->named = true;
  if (length == 0 && !is_of_arguments(error->status))
    return;
  tl_param params[TL_MAX_PARAMS];
  put_argument(vm, params, params_of(function, params), length, args);
  const struct tl_embedded *text = tl_embedded_find(vm->library, module);
  put_name(vm, text->is_global ? NULL : text->name, name, length);
  shorten(vm);
}
