// A VM of its own that makes texts and pictures of another one, by programs in
// Tally. It has the host's allocator and nothing else of the host's: its prints
// go nowhere, and it may use no files.
//
// Built for size.
#include "vm/api/painter.h"

#include "vm/api/api.h"
#include "vm/bytecode/module.h"

// The painter's output: what it draws is its result, not its print.
static int write_nothing(void *context, const char *text, size_t nbytes) {
  (void)context, (void)text, (void)nbytes;
  return 0;
}

tally_vm *tl_painter_open(tl_vm *vm) {
  tally_options options = tally_default_options();
  options.resize = vm->options.resize;
  options.context = vm->options.context;
  options.write = write_nothing;
  options.capabilities = 0;
  options.threads = 1;
  tally_vm *painter;
  if (tally_open(&options, &painter) == TALLY_OK)
    return painter;
  tl_fail_memory(vm, sizeof *painter, "a picture");
  return NULL;
}

bool tl_painter_close(tl_vm *vm, tally_vm *painter, bool ok, tl_slot drawn,
                      tl_text *text) {
  if (ok) {
    tl_text_add(text, drawn.string->text, drawn.string->length);
    tl_drop(painter, drawn);
  } else {
    tally_status status = tl_report(painter);
    tl_fail(vm, status, "%s", tally_error(painter)->message);
  }
  tally_close(painter);
  return ok;
}

bool tl_tell_code(tl_vm *vm, tl_text *code, const char *program,
                  const char *function, const tl_slot *more, tl_text *text) {
  tally_vm *painter = code->failed ? NULL : tl_painter_open(vm);
  if (painter == NULL) {
    tl_text_close(code);
    return false;
  }
  tl_slot args[2] = {tl_none(), more == NULL ? tl_none() : *more};
  tl_slot told = tl_none();
  tl_string *given = tl_string_new(painter, code->bytes, code->length);
  tl_text_close(code);
  if (given != NULL)
    args[0] = tl_own_string(given);
  bool ok =
      given != NULL && tl_call_embedded(painter, program, function,
                                        more == NULL ? 1 : 2, args, &told);
  return tl_painter_close(vm, painter, ok, told, text);
}
