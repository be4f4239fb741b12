// A VM of its own that makes texts and pictures of another one, by programs in
// Tally. It has the host's allocator and nothing else of the host's: its prints
// go nowhere, and it may use no files.
//
// Built for size.
#include "vm/api/painter.h"

#include "vm/api/api.h"
#include "vm/bytecode/module.h"
#include "vm/memory/memory_internal.h"

// The painter's output: what it draws is its result, not its print.
static int write_nothing(void *context, const char *text, size_t nbytes) {
  (void)context, (void)text, (void)nbytes;
  return 0;
}

// The host's allocator: the painter's context is not the host's.
static void *resize_by_host(void *context, void *block, size_t old_size,
                            size_t new_size) {
  const tally_options *host = &((const tl_painter *)context)->of->options;
  return host->resize(host->context, block, old_size, new_size);
}

// The painter asks for the time at each poll, and hears there whether the other
// VM is to stop. Its own time stands still, so that its limit never comes.
static double time_of_painter(void *context) {
  const tl_painter *p = context;
  if (tl_is_awaited(p->of))
    tally_interrupt(p->vm);
  return 0;
}

tl_vm *tl_painter_open(tl_painter *p, tl_vm *of) {
  *p = (tl_painter){.of = of};
  tally_options options = tally_default_options();
  if (!of->memory->system)
    options.resize = resize_by_host;
  options.context = p;
  options.write = write_nothing;
  options.clock = time_of_painter;
  options.time_limit = 1;
  options.capabilities = 0;
  options.threads = 1;
  // What stopped the run that is drawn stops no picture of it.
  if (of->native_depth == 0)
    tl_poll_begin(of);
  if (tally_open(&options, &p->vm) == TALLY_OK)
    tl_poll_begin(p->vm);
  else
    tl_fail_memory(of, sizeof *p->vm, "a picture");
  return p->vm;
}

bool tl_painter_close(tl_painter *p, bool ok, tl_slot drawn, tl_text *text) {
  if (ok) {
    tl_text_add(text, drawn.string->text, drawn.string->length);
    tl_drop(p->vm, drawn);
  } else if (tl_poll(p->of, 0)) {
    tally_status status = tl_report(p->vm);
    tl_fail(p->of, status, "%s", tally_error(p->vm)->message);
  }
  tally_close(p->vm);
  return ok;
}

bool tl_tell_code(tl_vm *vm, tl_text *code, const char *program,
                  const char *function, const tl_slot *more, tl_text *text) {
  tl_painter p;
  if (code->failed || tl_painter_open(&p, vm) == NULL) {
    tl_text_close(code);
    return false;
  }
  tl_slot args[2] = {tl_none(), more == NULL ? tl_none() : *more};
  tl_slot told = tl_none();
  tl_string *given = tl_string_new(p.vm, code->bytes, code->length);
  tl_text_close(code);
  if (given != NULL)
    args[0] = tl_own_string(given);
  bool ok =
      given != NULL && tl_call_embedded(p.vm, program, function,
                                        more == NULL ? 1 : 2, args, &told);
  return tl_painter_close(&p, ok, told, text);
}
