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

// The length of the name that a message begins with, in front of ": "; 0 where
// it is no function's.
static size_t name_length(const char *message) {
  size_t n = 0, from = 0;
  for (; isalnum((unsigned char)message[n]) || message[n] == '_' ||
         message[n] == '.';
       n++) {
    if (message[n] == '.')
      from = n + 1;
  }
  bool ends = message[n] == ':' && message[n + 1] == ' ';
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

// What went wrong outside of any function has no name in front.
static bool is_of_arguments(tally_status kind) {
  return kind == TALLY_ERR_NAME || kind == TALLY_ERR_TYPE ||
         kind == TALLY_ERR_SHAPE || kind == TALLY_ERR_INDEX ||
         kind == TALLY_ERR_VALUE || kind == TALLY_ERR_DOMAIN;
}

static const char *module_of(const tl_builtin *builtin) {
  for (const tl_family *family = tl_library; family->rows; family++)
    for (const tl_builtin *row = family->rows; row->name; row++)
      if (row == builtin)
        return family->module;
  return NULL;
}

void tl_error_of_builtin(tl_vm *vm, const tl_builtin *builtin) {
  tl_pending_error *error = &vm->error;
  if (error->placed || error->named)
    return;
  size_t length = name_length(error->message);
  error->named = length > 0;
  if (length > 0)
    put_name(vm, module_of(builtin), builtin->name, length);
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
