// Which function a message speaks of: the one that was called, as the script
// would write it ("linalg.pinv"), and not what that one is made of.

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "stdlib/embedded.h"
#include "vm/interp/interp.h"
#include "vm/memory/memory_internal.h"

static bool is_word(const char *name, const char *text, size_t nbytes) {
  return strncmp(name, text, nbytes) == 0 && name[nbytes] == 0;
}

static bool is_function(const char *text, size_t nbytes) {
  for (const tl_family *family = tl_library; family->rows; family++)
    for (const tl_builtin *row = family->rows; row->name; row++)
      if (is_word(row->name, text, nbytes))
        return true;
  for (const struct tl_embedded *e = tl_embedded_modules; e->name; e++)
    for (const struct tl_embedded_function *f = e->functions; f->name; f++)
      if (is_word(f->name, text, nbytes))
        return true;
  return false;
}

static bool begins_with(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

// The length of the function's name that a message begins with, as in
// "max: …" and "sqrt needs …"; 0: it begins with none.
static size_t name_length(const char *message) {
  size_t n = 0, from = 0;
  for (; isalnum((unsigned char)message[n]) || message[n] == '_' ||
         message[n] == '.';
       n++) {
    if (message[n] == '.')
      from = n + 1;
  }
  const char *behind = message + n;
  bool ends = begins_with(behind, ": ") || begins_with(behind, " needs ") ||
              begins_with(behind, " takes ");
  return ends && is_function(message + from, n - from) ? n : 0;
}

// Puts module.name in place of the message's first bytes. Where there is no
// memory for that the message stays.
static void put_name(tl_vm *vm, const char *module, const char *name,
                     size_t replaced) {
  tl_pending_error *error = &vm->error;
  const char *dot = module ? "." : "", *colon = replaced == 0 ? ": " : "";
  if (error->message_size == 0)
    return;
  size_t before = (module ? strlen(module) + 1 : 0) + strlen(name);
  size_t nbytes = before + strlen(colon) + error->message_size - replaced;
  char *message = tl_alloc_quiet(vm, nbytes);
  if (message == NULL)
    return;
  snprintf(message, nbytes, "%s%s%s%s%s", module ? module : "", dot, name,
           colon, error->message + replaced);
  tl_free(vm, error->message, error->message_size);
  error->message = message;
  error->message_size = nbytes;
}

// Whether it says what is wrong with the arguments of a call, and not that
// something else failed meanwhile.
static bool is_of_arguments(tally_status kind) {
  return kind == TALLY_ERR_NAME || kind == TALLY_ERR_TYPE ||
         kind == TALLY_ERR_SHAPE || kind == TALLY_ERR_INDEX ||
         kind == TALLY_ERR_VALUE || kind == TALLY_ERR_DOMAIN;
}

// NULL for a function of the host.
static const tl_family *family_of(const tl_builtin *builtin) {
  for (const tl_family *family = tl_library; family->rows; family++)
    for (const tl_builtin *row = family->rows; row->name; row++)
      if (row == builtin)
        return family;
  return NULL;
}

void tl_error_of_builtin(tl_vm *vm, const tl_builtin *builtin) {
  tl_pending_error *error = &vm->error;
  if (error->placed || error->named)
    return;
  const tl_family *family = family_of(builtin);
  if (family == NULL)
    return;  // a host has its own words, as a script has
  size_t length = name_length(error->message);
  // astype may have been written int8(x), as such messages say.
  if (length == 0 &&
      (!is_of_arguments(error->status) || tl_builtin_is_cast(builtin)))
    return;
  error->named = true;
  put_name(vm, family->module, builtin->name, length);
}

void tl_error_of_function(tl_vm *vm, const tl_prototype *function) {
  tl_pending_error *error = &vm->error;
  const char *module = function->unit->module->name->text;
  const char *name = function->name->text;
  if (error->placed || tl_embedded_member(module, name) == NULL)
    return;
  size_t length = name_length(error->message);
  if (length == 0 && !is_of_arguments(error->status))
    return;
  error->named = true;
  put_name(vm, tl_embedded_find(module)->is_global ? NULL : module, name,
           length);
}
