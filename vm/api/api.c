// tally.h, in terms of everything else: life, running, errors. Values and
// arrays are in api_value.c.

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/compile.h"
#include "compiler/parser.h"
#include "compiler/resolver.h"
#include "vm/api/api.h"
#include "vm/api/exports.h"
#include "vm/text/format.h"
#include "vm/api/host.h"
#include "vm/interp/interp.h"
#include "vm/io.h"
#include "vm/values/list.h"
#include "vm/memory/mapping.h"
#include "vm/interp/module.h"
#include "vm/api/open.h"
#include "vm/poll.h"

// --- Life -------------------------------------------------------------------

tally_status tally_open(const tally_options *options, tally_vm **out) {
  if (out == NULL)
    return TALLY_ERR_HOST;
  tally_options o = tally_default_options();
  if (options != NULL) {
    size_t size = options->size == 0 ? sizeof o : options->size;
    memcpy(&o, options, size < sizeof o ? size : sizeof o);
    o.size = sizeof o;
    if (o.resize == NULL)
      o.resize = tl_memory_resize;
    if (o.write == NULL)
      o.write = tally_default_options().write;
  }
  *out = tl_vm_open(&o, &tl_compiler);
  if (*out == NULL)
    return TALLY_ERR_MEMORY;
  if (tl_handles_open(*out) && tl_report_open(*out))
    return TALLY_OK;
  tally_close(*out);
  *out = NULL;
  return TALLY_ERR_MEMORY;
}

size_t tally_close(tally_vm *vm) {
  if (vm == NULL || vm->host_depth > 0 || vm->access != TL_ACCESS_ALL)
    return 0;
  tl_report_close(vm);
  tl_exports_close(vm);
  // First, for what scripts hold of the host's may in turn hold handles.
  tl_modules_clear(vm);
  size_t held = tl_handles_close(vm);
  tl_vm_close(vm);
  return held;
}

void tally_interrupt(tally_vm *vm) {
  if (vm != NULL)
    atomic_fetch_or_explicit(&vm->interrupted, TL_INTERRUPTED,
                             memory_order_relaxed);
}

const char *tally_version(void) {
  return TALLY_VERSION;
}

// --- Entry ------------------------------------------------------------------

bool tl_may_run(tl_vm *vm) {
  return vm->access == TL_ACCESS_ALL ||
         tl_fail(vm, TALLY_ERR_HOST,
                 "a hook of a resource makes and reads values: it may not run "
                 "code, import or set variables");
}

bool tl_fail_null(tl_vm *vm, const char *what) {
  return tl_fail(vm, TALLY_ERR_HOST, "%s is needed: got NULL", what);
}

// Calls from inside a running script share its budget and deadline.
static inline bool begin(tl_vm *vm) {
  if (vm->access != TL_ACCESS_ALL && !tl_may_run(vm))
    return false;
  if (vm->native_depth == 0)
    tl_poll_begin(vm);
  return true;
}

// --- Errors -----------------------------------------------------------------

struct tl_report {
  tally_error_info info;
  tl_pending_error kept;  // inside a hook: what it will pass on
  char *text;
  size_t text_size;
  char *message;
  size_t message_size;
  tl_list *trace;  // keeps the lines alive
  const char *lines[64];
};

static void forget(tl_vm *vm) {
  struct tl_report *r = vm->report;
  if (r->text != NULL)
    tl_free(vm, r->text, r->text_size);
  if (r->message != NULL)
    tl_free(vm, r->message, r->message_size);
  if (r->trace != NULL)
    tl_drop(vm, tl_own_list(r->trace));
  tl_pending_error kept = r->kept;
  memset(r, 0, sizeof *r);
  r->kept = kept;
}

// Made with the VM: what is needed to say that there is no memory.
bool tl_report_open(tl_vm *vm) {
  vm->report = tl_alloc_zeroed(vm, sizeof *vm->report, "an error report");
  return vm->report != NULL;
}

void tl_report_close(tl_vm *vm) {
  if (vm->report == NULL)
    return;
  forget(vm);
  tl_report_forget(vm);
  tl_free(vm, vm->report, sizeof *vm->report);
  vm->report = NULL;
}

static void write_report(tl_vm *vm, tl_text *text) {
  const tl_pending_error *e = &vm->error;
  if (e->compiled && e->excerpt != NULL) {
    tl_text_puts(text, e->excerpt);
    return;
  }
  if (e->file != NULL && e->line > 0) {
    tl_text_printf(text, "%s:%d:%d: ", e->file->text, e->line, e->column);
  }
  tl_text_printf(text, "%s error: %s", tl_error_kind_name(e->status),
                 e->message == NULL ? "" : e->message);
  if (e->excerpt != NULL) {
    tl_text_putc(text, '\n');
    tl_text_puts(text, e->excerpt);
  }
  for (int64_t i = 0; e->trace != NULL && i < e->trace->length; i++) {
    tl_text_puts(text, "\n   ");
    tl_text_puts(text, e->trace->items[i].string->text);
  }
}

static char *keep_text(tl_vm *vm, const char *from, size_t nbytes,
                       size_t *size) {
  *size = nbytes + 1;
  char *copy = tl_alloc(vm, *size, "an error report");
  if (copy == NULL)
    return NULL;
  memcpy(copy, from, nbytes);
  copy[nbytes] = 0;
  return copy;
}

// Turns the pending error into the report that tally_error gives.
tally_status tl_report(tl_vm *vm) {
  if (!vm->error.set)
    return TALLY_OK;
  tally_status status = vm->error.status;
  struct tl_report *r = vm->report;
  forget(vm);
  tl_text text;
  tl_text_open(&text, vm);
  write_report(vm, &text);
  if (!text.failed) {
    r->text = keep_text(vm, text.bytes, text.length, &r->text_size);
  }
  tl_text_close(&text);
  const char *message = vm->error.message == NULL ? "" : vm->error.message;
  r->message = keep_text(vm, message, strlen(message), &r->message_size);
  r->trace = vm->error.trace;
  vm->error.trace = NULL;
  size_t lines = 0;
  for (int64_t i = 0; r->trace != NULL && i < r->trace->length && lines < 64;
       i++) {
    r->lines[lines++] = r->trace->items[i].string->text;
  }
  r->info = (tally_error_info){
      .status = status,
      .kind = tl_error_kind_name(status),
      .message = r->message == NULL ? "no memory" : r->message,
      .file = vm->error.file == NULL ? "" : vm->error.file->text,
      .line = vm->error.line,
      .column = vm->error.column,
      .report = r->text == NULL ? "memory error: no memory" : r->text,
      .trace_count = lines,
      .trace = r->lines};
  if (vm->error.file != NULL) {
    // A compilation's file name goes with the pending error; copy what shows.
    snprintf(vm->report_file, sizeof vm->report_file, "%s",
             vm->error.file->text);
    r->info.file = vm->report_file;
  }
  if (vm->host_depth > 0 && !r->kept.is_final) {
    tl_report_forget(vm);
    r->kept = vm->error;
    if (r->trace != NULL)
      r->kept.trace = tl_retain(vm, tl_borrow(tl_own_list(r->trace))).list;
    vm->error = (tl_pending_error){.set = false};
  }
  tl_error_clear(vm);
  return status;
}

bool tl_report_is_final(const tl_vm *vm) {
  return vm->report->kept.is_final;
}

void tl_report_forget(tl_vm *vm) {
  tl_pending_error now = vm->error;
  vm->error = vm->report->kept;
  tl_error_clear(vm);
  vm->error = now;
  vm->report->kept = (tl_pending_error){.set = false};
}

bool tl_report_raise(tl_vm *vm, tally_status status) {
  tl_pending_error *kept = &vm->report->kept;
  if (!kept->set || (kept->status != status && !kept->is_final))
    return false;
  forget(vm);  // the trace goes on: it may have one owner alone
  tl_error_clear(vm);
  vm->error = *kept;
  *kept = (tl_pending_error){.set = false};
  return true;
}

tally_status tally_raise(tally_vm *vm, tally_status status, const char *format,
                         ...) {
  TL_ENTER(vm);
  if (status <= TALLY_OK || status >= TALLY_STATUS_COUNT)
    status = TALLY_ERR_HOST;
  if (tl_given(vm, format, "the message")) {
    va_list args;
    va_start(args, format);
    tl_fail_v(vm, status, format, args);
    va_end(args);
  }
  return tl_report(vm);
}

const tally_error_info *tally_error(tally_vm *vm) {
  static const tally_error_info none = {
      .kind = "", .message = "", .file = "", .report = ""};
  if (vm == NULL || vm->report == NULL)
    return &none;
  return vm->report->info.message == NULL ? &none : &vm->report->info;
}

// --- Running ----------------------------------------------------------------

static tally_status run_text(tl_vm *vm, const char *name, const char *text,
                             size_t nbytes, unsigned mode, tally_value *out) {
  tl_unit *unit = NULL;
  if (begin(vm)) {
    tl_reclaim_at_times(vm);
    unit = tl_compile(vm, vm->main, name, text, nbytes, mode);
  }
  if (unit == NULL)
    return tl_report(vm);
  // Code without functions is over when it has run: evaluating the same text
  // for ever takes no more memory.
  bool is_lent = vm->watch == NULL && tl_unit_lend(unit);
  tl_slot value = tl_none();
  bool ok = tl_run_unit(vm, unit, &value) &&
            (out == NULL || tl_handle_new(vm, &value, out));
  tl_drop(vm, value);
  tally_status status = ok ? TALLY_OK : tl_report(vm);
  if (is_lent)
    tl_unit_free(vm, unit);
  return status;
}

tally_status tally_eval(tally_vm *vm, const char *source, tally_value *out) {
  TL_ENTER(vm);
  if (!tl_given(vm, source, "the source"))
    return tl_report(vm);
  return run_text(vm, "<eval>", source, strlen(source), TL_UNIT_EVAL, out);
}

tally_status tally_interact(tally_vm *vm, const char *source, int width) {
  TL_ENTER(vm);
  if (!tl_given(vm, source, "the source"))
    return tl_report(vm);
  vm->width = width < 20 ? 20 : width;
  return run_text(vm, "<prompt>", source, strlen(source), TL_UNIT_PROMPT, NULL);
}

tally_input tally_check_input(tally_vm *vm, const char *source) {
  if (!tl_enter(vm) || source == NULL)
    return TALLY_INPUT_COMPLETE;
  tl_parse_status status = tl_parser_check(
      vm->options.resize, vm->options.context, source, strlen(source));
  return status == TL_PARSE_INCOMPLETE ? TALLY_INPUT_INCOMPLETE
                                       : TALLY_INPUT_COMPLETE;
}

static bool set_args(tl_vm *vm, int argc, const char *const *argv) {
  if (argc > 0 && !tl_given(vm, argv, "the arguments"))
    return false;
  tl_list *list = tl_list_new(vm, argc);
  if (list == NULL)
    return false;
  for (int i = 0; i < argc; i++) {
    tl_string *text = NULL;
    size_t at;
    if (!tl_given(vm, argv[i], "an argument")) {
    } else if (!tl_utf8_check(argv[i], strlen(argv[i]), &at)) {
      tl_fail(vm, TALLY_ERR_VALUE, "argument %d is not UTF-8 text", i + 1);
    } else {
      text = tl_string_from(vm, argv[i]);
    }
    if (text == NULL) {
      tl_drop(vm, tl_own_list(list));
      return false;
    }
    list->items[list->length++] = tl_own_string(text);
  }
  tl_drop(vm, vm->args);
  vm->args = tl_own_list(list);
  return true;
}

// Imports are looked for beside the script.
static bool set_directory(tl_vm *vm, const char *path) {
  const char *slash = strrchr(path, '/');
  if (slash == NULL || vm->main->path != NULL)
    return true;
  size_t nbytes = slash == path ? 1 : (size_t)(slash - path);
  vm->main->path = tl_string_new(vm, path, nbytes);
  if (vm->main->path == NULL)
    return false;
  vm->main->path->head.flags |= TL_IMMORTAL;
  return true;
}

tally_status tally_run_source(tally_vm *vm, const char *name,
                              const char *source, size_t nbytes, int argc,
                              const char *const *argv) {
  TL_ENTER(vm);
  if (!tl_may_run(vm) || !tl_given(vm, name, "the name") ||
      !tl_given(vm, source, "the source") || !set_directory(vm, name) ||
      !set_args(vm, argc, argv)) {
    return tl_report(vm);
  }
  return run_text(vm, name, source, nbytes, TL_UNIT_SCRIPT, NULL);
}

tally_status tally_run(tally_vm *vm, const char *path, int argc,
                       const char *const *argv) {
  TL_ENTER(vm);
  tl_bytes text;
  if (!begin(vm) || !tl_given(vm, path, "the path"))
    return tl_report(vm);
  if (strcmp(path, "-") == 0)
    path = "/dev/stdin";
  if (!set_directory(vm, path) || !tl_io_read(vm, NULL, path, &text)) {
    return tl_report(vm);
  }
  const char *name = strcmp(path, "/dev/stdin") == 0 ? "<stdin>" : path;
  tally_status status =
      tally_run_source(vm, name, text.data, text.nbytes, argc, argv);
  tl_bytes_free(vm, &text);
  return status;
}

tally_status tally_compile(tally_vm *vm, const char *source,
                           tally_value *function) {
  TL_ENTER(vm);
  tl_unit *unit = NULL;
  if (begin(vm) && tl_given(vm, source, "the source") &&
      tl_given(vm, function, "the place for the function")) {
    unit = tl_compile(vm, vm->main, "<function>", source, strlen(source),
                      TL_UNIT_EVAL);
  }
  if (unit == NULL)
    return tl_report(vm);
  for (uint32_t i = 0; i < unit->prototype_count; i++) {
    if (!tl_verify(vm, unit->prototypes[i]))
      return tl_report(vm);
    unit->prototypes[i]->verified = 1;
  }
  tl_slot value = {.tag = TL_TAG_FUNCTION, .pointer = unit->prototypes[0]};
  return tl_handle_new(vm, &value, function) ? TALLY_OK : tl_report(vm);
}

static bool check_count(tl_vm *vm, int count, const tally_value *args) {
  if (count > 0 && !tl_given(vm, args, "the arguments"))
    return false;
  if (count >= 0 && count <= TL_MAX_CALL_ARGUMENTS)
    return true;
  tl_fail(vm, TALLY_ERR_HOST,
          "a call from the host has at most %d arguments: got %d",
          TL_MAX_CALL_ARGUMENTS, count);
  tl_handles_abandon(vm, count < 0 ? 0 : (size_t)count, args);
  return false;
}

// The arguments go straight to where the function's parameters are.
static tally_status apply(tl_vm *vm, tl_slot function, int count,
                          const tally_value *args, tally_value *out) {
  tl_slot value = tl_none();
  if (!check_count(vm, count, args))
    return tl_report(vm);
  tl_slot *window = tl_call_window(vm, (uint32_t)count);
  if (window == NULL || !begin(vm)) {
    tl_handles_abandon(vm, (size_t)count, args);
    return tl_report(vm);
  }
  int plain = 0;  // numbers are read here: a call is often made of nothing else
  while (plain < count && tl_is_plain(args[plain], &window[plain])) plain++;
  if ((plain < count && !tl_handles_read(vm, count, args, window)) ||
      !tl_call_in(vm, function, (uint32_t)count, window, &value))
    return tl_report(vm);
  if (!tl_is_heap(value)) {
    if (out != NULL)
      *out = tl_plain_value(value);
    return TALLY_OK;
  }
  bool ok = out == NULL || tl_handle_new(vm, &value, out);
  if (tl_is_owned(value))
    tl_drop(vm, value);
  return ok ? TALLY_OK : tl_report(vm);
}

static tally_status refuse_call(tl_vm *vm, int count, const tally_value *args) {
  if (args != NULL && count > 0)
    tl_handles_abandon(vm, (size_t)count, args);
  return tl_report(vm);
}

tally_status tally_apply(tally_vm *vm, tally_value function, int count,
                         const tally_value *args, tally_value *out) {
  TL_ENTER(vm);
  tl_slot f;
  if (!tl_handle_argument(vm, function, &f))
    return refuse_call(vm, count, args);
  tally_status status = apply(vm, f, count, args, out);
  tl_drop(vm, f);
  return status;
}

static bool find_global(tl_vm *vm, const char *name, tl_slot **out) {
  if (!tl_given(vm, name, "the name"))
    return false;
  int32_t index = tl_module_find(vm->main, name, strlen(name));
  if (index < 0 || tl_is_unset(vm->main->variables[index])) {
    return tl_fail(vm, TALLY_ERR_NAME, "%s is not defined", name);
  }
  *out = &vm->main->variables[index];
  return true;
}

tally_status tally_call(tally_vm *vm, const char *name, int count,
                        const tally_value *args, tally_value *out) {
  TL_ENTER(vm);
  tl_slot *function;
  if (find_global(vm, name, &function)) {
    // A count of its own: the call may rebind the name.
    tl_slot held = tl_retain(vm, *function);
    tally_status status = apply(vm, held, count, args, out);
    tl_drop(vm, held);
    return status;
  }
  const tl_builtin *builtin =
      name == NULL ? NULL : tl_function_find(vm, NULL, name, strlen(name));
  if (builtin == NULL)
    return refuse_call(vm, count, args);
  tl_error_clear(vm);
  return apply(vm, tl_builtin_slot(builtin), count, args, out);
}

tally_status tally_get_global(tally_vm *vm, const char *name,
                              tally_value *out) {
  TL_ENTER(vm);
  tl_slot *variable;
  if (!tl_given(vm, out, "the place for the value") ||
      !find_global(vm, name, &variable))
    return tl_report(vm);
  tl_slot value = tl_borrow(*variable);
  return tl_handle_new(vm, &value, out) ? TALLY_OK : tl_report(vm);
}

// Takes the value.
static tally_status set_global(tl_vm *vm, const char *name, tl_slot value) {
  int32_t index = -1;
  if (tl_may_run(vm) && tl_given(vm, name, "the name") &&
      tl_check_host_text(vm, name, strlen(name))) {
    index = tl_module_variable(vm, vm->main, name, strlen(name));
  }
  if (index < 0) {
    tl_drop(vm, value);
    return tl_report(vm);
  }
  value = tl_escape(vm, &value, TL_CAUSE_GLOBAL);
  tl_module_assign(vm, vm->main, (uint32_t)index, value, false);
  return TALLY_OK;
}

tally_status tally_set_global(tally_vm *vm, const char *name,
                              tally_value value) {
  TL_ENTER(vm);
  tl_slot s;
  if (!tl_handle_argument(vm, value, &s))
    return tl_report(vm);
  return set_global(vm, name, s);
}

tally_status tally_move_global(tally_vm *vm, const char *name,
                               tally_value value) {
  TL_ENTER(vm);
  tl_slot s;
  if (!tl_handle_take(vm, value, &s))
    return tl_report(vm);
  return set_global(vm, name, s);
}

// --- Seeing it --------------------------------------------------------------

void tally_get_stats(tally_vm *vm, tally_stats *out) {
  if (out == NULL)
    return;
  if (vm == NULL)
    memset(out, 0, sizeof *out);
  else
    *out = vm->stats;
}

void tally_reset_stats(tally_vm *vm) {
  if (vm == NULL)
    return;
  tally_stats now = vm->stats;
  memset(&vm->stats, 0, sizeof vm->stats);
  vm->stats.live = now.live;
  vm->stats.live_bytes = vm->stats.peak_bytes = now.live_bytes;
  vm->stats.ext_bytes = now.ext_bytes;
}

void tally_count(tally_vm *vm, int on) {
  if (vm != NULL)
    vm->counting = on != 0;
}

size_t tally_trim(tally_vm *vm) {
  return tl_enter(vm) ? tl_memory_trim(vm) : 0;
}

// NULL [source]: the file [name] is read.
static bool read_source(tally_vm *vm, const char *name, const char **source,
                        size_t *nbytes, tl_bytes *file) {
  *file = (tl_bytes){.data = NULL};
  if (*source != NULL)
    return true;
  if (!tl_io_read(vm, NULL, name, file))
    return false;
  *source = file->data;
  *nbytes = file->nbytes;
  return true;
}

tally_status tally_disassemble(tally_vm *vm, const char *name,
                               const char *source, size_t nbytes) {
  TL_ENTER(vm);
  tl_bytes file;
  if (!begin(vm) || !tl_given(vm, name, "the name") ||
      !read_source(vm, name, &source, &nbytes, &file))
    return tl_report(vm);
  tl_unit *unit =
      tl_compile(vm, vm->main, name, source, nbytes, TL_UNIT_SCRIPT);
  if (file.data != NULL)
    tl_bytes_free(vm, &file);
  if (unit == NULL)
    return tl_report(vm);
  tl_text text;
  tl_text_open(&text, vm);
  bool ok = tl_disassemble_unit(vm, unit, &text);
  if (ok && text.failed)
    ok = tl_fail_memory(vm, text.length, "a listing");
  ok = ok && tl_write(vm, text.bytes, text.length);
  tl_text_close(&text);
  tl_unit_free(vm, unit);
  return ok ? TALLY_OK : tl_report(vm);
}

tally_status tally_format_source(tally_vm *vm, const char *name,
                                 const char *source, size_t nbytes,
                                 tally_value *out) {
  TL_ENTER(vm);
  tl_bytes file;
  tl_slot slot;
  if (!begin(vm) || !tl_given(vm, name, "the name") ||
      !tl_given(vm, out, "the result") ||
      !read_source(vm, name, &source, &nbytes, &file))
    return tl_report(vm);
  bool ok = tl_format_source(vm, name, source, nbytes, &slot);
  if (file.data != NULL)
    tl_bytes_free(vm, &file);
  if (!ok)
    return tl_report(vm);
  ok = tl_handle_new(vm, &slot, out);
  tl_drop(vm, slot);
  return ok ? TALLY_OK : tl_report(vm);
}
