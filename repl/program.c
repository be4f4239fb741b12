// A VM for a program, and the module `library`, by which it asks what is
// documented.
//
//     tl_program_open ─ tally_add_module   library, and the caller's
//                     ─ tally_eval         the program's definitions

#include "repl/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *tl_program_text(tally_vm *vm, tally_value value, size_t *nbytes) {
  const char *text;
  if (tally_to_string(vm, value, &text, nbytes) == TALLY_OK)
    return text;
  *nbytes = 0;
  return "";
}

tally_status tl_program_give(tally_vm *vm, const char *text, size_t nbytes,
                             tally_value *out) {
  static const char other[] = "(bytes that are no text)";
  if (text == NULL)
    return tally_from_none(vm, out);
  return tally_from_string(vm, text, nbytes, out) == TALLY_OK
             ? TALLY_OK
             : tally_from_string(vm, other, sizeof other - 1, out);
}

tally_status tl_program_lines(tally_vm *vm, tally_vm *from, tally_value list,
                              tally_value *out) {
  tally_value args[] = {list, {0, 0}}, text = {0, 0};
  size_t nbytes;
  tally_from_string(from, "\n", 1, &args[1]);
  // The library's, whatever a script calls so.
  tally_call(from, ".join", 2, args, &text);
  const char *lines = tl_program_text(from, text, &nbytes);
  tally_status status = tl_program_give(vm, lines, nbytes, out);
  tally_release(from, args[0]);
  tally_release(from, args[1]);
  tally_release(from, text);
  return status;
}

// --- library ----------------------------------------------------------------

// The row of a name of [about]. What is asked for comes one after the other, as
// the VM may write the next answer over the last.
static tally_status make_row(tally_vm *vm, tally_vm *about, const char *name,
                             tally_value *out) {
  static const char *const keys[] = {"name", "parameters", "text", "topic"};
  static const char *(*const ask[])(tally_vm *, const char *) = {
      NULL, tally_signature, tally_documentation, tally_topic};
  enum { FIELDS = sizeof keys / sizeof *keys };
  tally_value fields[FIELDS];
  for (int i = 0; i < FIELDS; i++) {
    const char *text = ask[i] == NULL ? name : ask[i](about, name);
    if (text == NULL && ask[i] != tally_signature)
      text = "";
    tally_status status =
        tl_program_give(vm, text, text == NULL ? 0 : strlen(text), &fields[i]);
    if (status != TALLY_OK)
      return status;
  }
  return tally_from_record(vm, FIELDS, keys, fields, out);
}

// row(name)
static tally_status find_row(tally_vm *vm, void *context, size_t count,
                             const tally_value *args, tally_value *out) {
  size_t n;
  const char *name = tl_program_text(vm, args[0], &n);
  return tally_documentation(context, name) == NULL
             ? tally_from_none(vm, out)
             : make_row(vm, context, name, out);
}

// rows(prefix). A name is copied, as the VM may write the next answer over it.
static tally_status list_rows(tally_vm *vm, void *context, size_t count,
                              const tally_value *args, tally_value *out) {
  size_t names = 0, made = 0, n;
  const char *prefix = tl_program_text(vm, args[0], &n);
  while (tally_documented(context, names) != NULL) names++;
  tally_value *rows = malloc((names + 1) * sizeof *rows);
  if (rows == NULL)
    return tally_raise(vm, TALLY_ERR_MEMORY, "no memory for names");
  tally_status status = TALLY_OK;
  for (size_t i = 0; i < names && status == TALLY_OK; i++) {
    char name[256];
    snprintf(name, sizeof name, "%s", tally_documented(context, i));
    if (strncmp(name, prefix, n) == 0)
      status = make_row(vm, context, name, &rows[made++]);
  }
  if (status == TALLY_OK)
    status = tally_from_list(vm, made, rows, out);
  free(rows);
  return status;
}

// --- Tokens -----------------------------------------------------------------

// Frees rows of tokens whose array has ended.
static void free_rows(void *context, void *data) {
  free(data);
}

// Without memory for the rows it fails.
tally_status tl_program_tokens(tally_vm *vm, void *context, size_t count,
                               const tally_value *args, tally_value *out) {
  size_t nbytes;
  const char *text = tl_program_text(vm, args[0], &nbytes);
  count = tally_tokens(vm, text, nbytes, NULL, 0);
  tally_token *found = calloc(count + 1, sizeof *found);
  int64_t *rows = calloc(count + 1, 4 * sizeof *rows);
  if (found == NULL || rows == NULL) {
    free(found);
    free(rows);
    return tally_raise(vm, TALLY_ERR_MEMORY, "no memory for tokens");
  }
  count = tally_tokens(vm, text, nbytes, found, count);
  for (size_t i = 0; i < count; i++) {
    rows[4 * i] = found[i].kind;
    rows[4 * i + 1] = (int64_t)found[i].begin;
    rows[4 * i + 2] = (int64_t)found[i].end;
    rows[4 * i + 3] = (int64_t)found[i].match;
  }
  free(found);
  char type[64];
  snprintf(type, sizeof type, "%zu * 4 * int64", count);
  tally_buffer buffer = {.data = rows,
                         .type = type,
                         .nbytes = count * 4 * sizeof *rows,
                         .release = free_rows};
  tally_status status = tally_from_buffer(vm, &buffer, out);
  if (status != TALLY_OK)
    free(rows);
  return status;
}

// --- The VM -----------------------------------------------------------------

enum { MOST_FUNCTIONS = 16 };  // of a module

// Adds a module of functions, unless it has no name. Those without a context
// get this one.
static tally_status add_module(tally_vm *vm, const char *name,
                               const tally_native *functions, size_t count,
                               void *context) {
  tally_native rows[MOST_FUNCTIONS];
  if (name == NULL)
    return TALLY_OK;
  for (size_t i = 0; i < count; i++) {
    rows[i] = functions[i];
    if (rows[i].context == NULL)
      rows[i].context = context;
  }
  const tally_module module = {.size = sizeof module,
                               .name = name,
                               .functions = rows,
                               .function_count = count,
                               .function_size = sizeof *rows};
  return tally_add_module(vm, &module);
}

tally_vm *tl_program_open(const char *text, const tally_options *options,
                          void *context, const char *name,
                          const tally_native *functions, size_t count,
                          tally_vm *about) {
  tally_vm *vm = NULL;
  tally_options quiet = tally_default_options();
  quiet.threads = quiet.no_signals = 1;
  tally_status status = tally_open(options == NULL ? &quiet : options, &vm);
  static const tally_native library[] = {
      {.name = "row", .params = "name", .call = find_row},
      {.name = "rows", .params = "prefix", .call = list_rows},
  };
  if (status == TALLY_OK)
    status = add_module(vm, "library", library, 2, about == NULL ? vm : about);
  if (status == TALLY_OK)
    status = add_module(vm, name, functions, count, context);
  if (status == TALLY_OK)
    status = tally_eval(vm, text, NULL);
  if (status == TALLY_OK)
    return vm;
  fprintf(stderr, "tally: %s\n",
          vm == NULL ? "no memory" : tally_error(vm)->report);
  tally_close(vm);
  return NULL;
}
