// tally.h, in terms of everything else: opening, running, calling, global
// variables, statistics. Values and arrays are in api_value.c and api_array.c,
// errors in report.c.
//
//   tally_run    read ─ compile ─ run ─ report or value
//   tally_eval   the same of a text, with the value of its last expression
//   tally_call   find the name: a variable of main, else a function
//   tally_apply  arguments into the callee's slots ─ run ─ value into a handle
//
// An error stays pending in the VM until tl_report makes a report of it.

#include <stdio.h>

#include "compiler/compile.h"
#include "compiler/parser.h"
#include "compiler/resolver.h"
#include "stdlib/families.h"
#include "vm/api/api.h"
#include "vm/api/exports.h"
#include "vm/api/host.h"
#include "vm/embedded.h"
#include "vm/interp/interp.h"
#include "vm/memory/mapping.h"
#include "vm/api/open.h"
#include "vm/native/jit.h"
#include "vm/observe/watch.h"

// --- Life -------------------------------------------------------------------

// The handles and the report are made with the VM, so that later failures can
// be reported.
// Fails (TALLY_ERR_HOST) without a place for the VM, or where devices are
// counted that are not given or too many, (TALLY_ERR_MEMORY) where it cannot be
// made: *out is NULL then.
tally_status tally_open(const tally_options *options, tally_vm **out) {
  if (out == NULL)
    return TALLY_ERR_HOST;
  TL_FLOATS_HERE;
  tally_options o = tally_default_options();
  // A host compiled against an older tally.h has a shorter struct; what it does
  // not have keeps its default.
  if (options != NULL) {
    // Size 0 stands for a host that filled in the whole struct.
    size_t size = options->size == 0 ? sizeof o : options->size;
    memcpy(&o, options, size < sizeof o ? size : sizeof o);
    o.size = sizeof o;
    if (o.resize == NULL)
      o.resize = tl_memory_resize;
    if (o.write == NULL)
      o.write = tally_default_options().write;
  }
  *out = NULL;
  if (o.device_count > TALLY_MAX_DEVICES ||
      (o.device_count > 0 && o.devices == NULL))
    return TALLY_ERR_HOST;
  for (size_t i = 0; i < o.device_count; i++) {
    const char *name = o.devices[i].name;
    if (name != NULL && !tl_utf8_check(name, strlen(name), NULL))
      return TALLY_ERR_HOST;
  }
  *out = tl_vm_open(&o, &tl_compiler, &tl_standard_library);
  if (*out == NULL)
    return TALLY_ERR_MEMORY;
  if (tl_handles_open(*out) && tl_report_open(*out))
    return TALLY_OK;
  tally_close(*out);
  *out = NULL;
  return TALLY_ERR_MEMORY;
}

// Not from inside a hook: the VM is still in use there.
// Returns how many handles the host had not released.
size_t tally_close(tally_vm *vm) {
  if (vm == NULL || vm->host_depth > 0 || vm->access != TL_ACCESS_ALL)
    return 0;
  tl_debug_close(vm);
  tl_report_close(vm);
  tl_exports_close(vm);
  // Modules first: resources of the host's that scripts hold may in turn hold
  // handles.
  tl_modules_clear(vm);
  size_t held = tl_handles_close(vm);
  tl_vm_close(vm);
  return held;
}

// From any thread or signal handler: one atomic operation on a word that code
// polls.
void tally_interrupt(tally_vm *vm) {
  if (vm != NULL)
    atomic_fetch_or_explicit(&vm->interrupted, TL_INTERRUPTED,
                             memory_order_relaxed);
}

// Likewise. Nothing is asked where nobody would hear the answer.
void tally_ask_progress(tally_vm *vm) {
  if (vm != NULL && vm->options.progress != NULL)
    atomic_fetch_or_explicit(&vm->interrupted, TL_ASKED, memory_order_relaxed);
}

const char *tally_version(void) {
  return TALLY_VERSION;
}

// --- Entry ------------------------------------------------------------------

// Begins a call that runs code. Calls from inside a running script share that
// script's budget and deadline.
// False after tl_fail where a hook of a resource is running. Budget and
// deadline begin with the outermost call of the host.
static inline bool begin(tl_vm *vm) {
  if (vm->access != TL_ACCESS_ALL && !tl_may_run(vm))
    return false;
  if (vm->native_depth == 0) {
    tl_poll_begin(vm);
    tl_free_rest(vm, false);
  }
  return true;
}

// --- Running ----------------------------------------------------------------

// Compiles a text and runs it once; *out, unless NULL, gets its value.
// The unit is freed at once unless its code may be reached later (functions,
// records of a watched run).
static tally_status run_text(tl_vm *vm, const char *name, const char *text,
                             size_t nbytes, unsigned mode, tally_value *out) {
  tl_unit *unit = NULL;
  if (begin(vm) && tl_reclaim_at_times(vm))
    unit = tl_compile(vm, vm->main, name, text, nbytes, mode);
  if (unit == NULL)
    return tl_report(vm);
  // Records of a run refer to code by address, so watched code stays.
  bool is_borrowed = vm->watch == NULL && tl_unit_borrow(unit);
  tl_slot value = tl_none();
  bool ok = tl_run_unit(vm, unit, &value) &&
            (out == NULL || tl_handle_new(vm, &value, out));
  tl_drop(vm, value);
  tally_status status = ok ? TALLY_OK : tl_report(vm);
  if (is_borrowed)
    tl_unit_free(vm, unit);
  return status;
}

// A text whose value is the value of its last expression.
// *out is owned by the host; NULL: the value is dropped.
tally_status tally_eval(tally_vm *vm, const char *source, tally_value *out) {
  TL_ENTER(vm);
  if (!tl_given(vm, source, "the source"))
    return tl_report(vm);
  return run_text(vm, "<eval>", source, strlen(source), TL_UNIT_EVAL, out);
}

// An input at a prompt: the value of an expression is shown, in [width]
// columns.
tally_status tally_interact(tally_vm *vm, const char *source, int width) {
  TL_ENTER(vm);
  if (!tl_given(vm, source, "the source"))
    return tl_report(vm);
  vm->width = width < 20 ? 20 : width;
  return run_text(vm, "<prompt>", source, strlen(source), TL_UNIT_PROMPT, NULL);
}

// Whether an input is whole is the parser's question alone; no VM state is
// touched.
tally_input tally_check_input(tally_vm *vm, const char *source) {
  if (!tl_enter(vm) || source == NULL)
    return TALLY_INPUT_COMPLETE;
  tl_parse_status status = tl_parser_check(
      vm->options.resize, vm->options.context, source, strlen(source));
  return status == TL_PARSE_INCOMPLETE ? TALLY_INPUT_INCOMPLETE
                                       : TALLY_INPUT_COMPLETE;
}

// Sets os.args from the host's strings.
// Nothing changes where an argument fails (kind value, host).
static bool set_args(tl_vm *vm, int argc, const char *const *argv) {
  if (argc > 0 && !tl_given(vm, argv, "the arguments"))
    return false;
  tl_list *list = tl_list_new(vm, argc);
  if (list == NULL)
    return false;
  for (int i = 0; i < argc; i++) {
    bool is_text =
        tl_given(vm, argv[i], "an argument") &&
        (tl_utf8_check(argv[i], strlen(argv[i]), NULL) ||
         tl_fail(vm, TALLY_ERR_VALUE, "argument %d is not UTF-8 text", i + 1));
    tl_string *text = is_text ? tl_string_from(vm, argv[i]) : NULL;
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

// Imports are looked for beside the script, whose path this is.
static bool set_directory(tl_vm *vm, const char *path) {
  const char *slash = strrchr(path, '/');
  // Only the first script decides where imports are looked for.
  if (slash == NULL || vm->main->path != NULL)
    return true;
  size_t nbytes = slash == path ? 1 : (size_t)(slash - path);
  vm->main->path = tl_string_new(vm, path, nbytes);
  if (vm->main->path == NULL)
    return false;
  vm->main->path->head.flags |= TL_IMMORTAL;
  return true;
}

// A whole script, with its directory for imports and its arguments for os.args.
tally_status tally_run_source(tally_vm *vm, const char *name,
                              const char *source, size_t nbytes, int argc,
                              const char *const *argv) {
  TL_ENTER(vm);
  if (!tl_may_run(vm) || !tl_given(vm, name, "the name") ||
      !tl_given(vm, source, "the source") || !set_directory(vm, name) ||
      !set_args(vm, argc, argv))
    return tl_report(vm);
  // A debugger looks at variables of the top that nothing reads any more, and
  // so does whoever types at a prompt.
  bool stays = vm->debug != NULL || vm->options.keep_ans;
  return run_text(vm, name, source, nbytes,
                  stays ? TL_UNIT_MODULE : TL_UNIT_SCRIPT, NULL);
}

// Reads the file by the host's right, not the script's: no capability is
// needed.
// Fails (kind io) where the file cannot be read.
tally_status tally_run(tally_vm *vm, const char *path, int argc,
                       const char *const *argv) {
  TL_ENTER(vm);
  tl_bytes text;
  if (!begin(vm) || !tl_given(vm, path, "the path"))
    return tl_report(vm);
  if (strcmp(path, "-") == 0)
    path = "/dev/stdin";
  if (!set_directory(vm, path) || !tl_io_read(vm, NULL, path, &text))
    return tl_report(vm);
  const char *name = strcmp(path, "/dev/stdin") == 0 ? "<stdin>" : path;
  tally_status status =
      tally_run_source(vm, name, text.data, text.nbytes, argc, argv);
  tl_bytes_free(vm, &text);
  return status;
}

// Compiles without running: the unit's own code becomes a function of no
// parameters.
// Verified here and not at the first call, so that a call of it never fails for
// that. The unit lives as long as the main module.
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

// Whether a call may have so many arguments; else fails and releases those that
// were marked by tally_take.
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

// Calls a function with the host's handles: their values go straight to the
// slots where the function's parameters are.
// Numbers, the common arguments, are read without a call for each; as soon as
// there is another value all are read anew by tl_handles_read, which knows how
// to undo.
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
  // Numbers need no handle in the table.
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

// Reports a call that could not begin, and releases the arguments marked by
// tally_take.
static tally_status refuse_call(tl_vm *vm, int count, const tally_value *args) {
  if (args != NULL && count > 0)
    tl_handles_abandon(vm, (size_t)count, args);
  return tl_report(vm);
}

// The function is borrowed, or taken where it is marked by tally_take; it is
// owned during the call in that case only.
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

// The variable of the main module, borrowed; false after tl_fail (kind name).
// A variable that was declared but not assigned yet is not defined.
static bool find_global(tl_vm *vm, const char *name, tl_slot **out) {
  if (!tl_given(vm, name, "the name"))
    return false;
  int32_t index = tl_module_find(vm->main, name, strlen(name));
  if (index < 0 || tl_is_unset(vm->main->variables[index]))
    return tl_fail(vm, TALLY_ERR_NAME, "%s is not defined", name);
  *out = &vm->main->variables[index];
  return true;
}

// One in C is found by its row, one in Tally by its module, which is run first
// where it has not been.
bool tl_function_named(tl_vm *vm, const char *name, tl_slot *out) {
  const char *from = name + (*name == '.'), *point = strchr(from, '.');
  const char *own = point == NULL ? from : point + 1, *native = NULL;
  char module[64];
  if (point == NULL)
    snprintf(module, sizeof module, TL_GLOBAL_MODULE "%s", own);
  else
    snprintf(module, sizeof module, "%.*s", (int)(point - from), from);
  if (point != NULL)
    native = tl_native_module(vm, module, strlen(module));
  const tl_builtin *builtin = tl_function_find(vm, native, own, strlen(own));
  if (builtin != NULL && (point == NULL || native != NULL)) {
    *out = tl_builtin_slot(builtin);
    return true;
  }
  if (tl_embedded_member(vm->library, module, own) == NULL)
    return tl_fail(vm, TALLY_ERR_NAME, "%s is not defined", from);
  return begin(vm) && tl_load_embedded_function(vm, module, own, out);
}

// A variable of the main module goes before a built-in of the same name.
tally_status tally_call(tally_vm *vm, const char *name, int count,
                        const tally_value *args, tally_value *out) {
  TL_ENTER(vm);
  tl_slot *function;
  if (find_global(vm, name, &function)) {
    // The call may assign the name, and must not lose the function.
    tl_slot held = tl_retain(vm, *function);
    tally_status status = apply(vm, held, count, args, out);
    tl_drop(vm, held);
    return status;
  }
  if (name == NULL)
    return refuse_call(vm, count, args);
  // Where the name is no variable's, but a built-in's, that was no error.
  tl_error_clear(vm);
  tl_slot named;
  if (!tl_function_named(vm, name, &named))
    return refuse_call(vm, count, args);
  return apply(vm, named, count, args, out);
}

// The handle gets a count of its own, as the variable may be assigned later.
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

// Assigns a variable of the main module. The handle is [read] as an argument or
// taken. Assigning may drop the old value, and with it run release hooks.
static tally_status set_global(tl_vm *vm, const char *name, tally_value handle,
                               bool (*read)(tl_vm *, tally_value, tl_slot *)) {
  tl_slot value;
  int32_t index = -1;
  if (!read(vm, handle, &value))
    return tl_report(vm);
  if (tl_may_run(vm) && tl_given(vm, name, "the name") &&
      tl_check_host_text(vm, name, strlen(name)))
    index = tl_module_variable(vm, vm->main, name, strlen(name));
  if (index < 0) {
    tl_drop(vm, value);
    return tl_report(vm);
  }
  value = tl_escape(vm, &value, TL_CAUSE_GLOBAL);
  tl_module_assign(vm, vm->main, (uint32_t)index, value, false);
  return TALLY_OK;
}

// The handle stays the host's, unless it is marked by tally_take.
tally_status tally_set_global(tally_vm *vm, const char *name,
                              tally_value value) {
  TL_ENTER(vm);
  return set_global(vm, name, value, tl_handle_argument);
}

// Takes the handle, so that the variable may become the only owner.
tally_status tally_move_global(tally_vm *vm, const char *name,
                               tally_value value) {
  TL_ENTER(vm);
  return set_global(vm, name, value, tl_handle_take);
}

// --- Seeing it --------------------------------------------------------------

// A copy: the host may keep it while the VM runs on.
void tally_get_stats(tally_vm *vm, tally_stats *out) {
  if (out == NULL)
    return;
  if (vm == NULL) {
    memset(out, 0, sizeof *out);
    return;
  }
  tl_free_rest(vm, true);
  *out = vm->stats;
}

// Peaks begin at what there is now; of devices too.
void tally_reset_stats(tally_vm *vm) {
  if (vm == NULL)
    return;
  tl_stats_reset(vm);
}

// The name is the VM's copy, which stays as long as it does. Both peaks of the
// process's memory are added: the sum is never below what there was at once.
tally_status tally_get_device(tally_vm *vm, size_t device,
                              tally_device_stats *out) {
  TL_ENTER(vm);
  if (!tl_given(vm, out, "the place for the result"))
    return tl_report(vm);
  if (device > vm->options.device_count)
    return tl_report_fail(vm, TALLY_ERR_HOST, "there is no device %zu", device);
  const tally_stats *s = &vm->stats;
  const tl_device *d = device > 0 ? &vm->devices[device - 1] : NULL;
  *out = d == NULL
             ? (tally_device_stats){"memory", s->live_bytes + s->ext_bytes,
                                    s->peak_bytes + s->ext_peak_bytes,
                                    vm->options.memory_limit}
             : (tally_device_stats){d->name, d->bytes, d->peak, d->limit};
  return TALLY_OK;
}

// Counting promotions costs a branch at each, so it is off by default. A watch
// needs it, and leaves it as the host wants it.
void tally_count(tally_vm *vm, int on) {
  if (vm == NULL)
    return;
  if (vm->watch != NULL)
    vm->watch->was_counting = on != 0;
  else
    vm->counting = on != 0;
}

size_t tally_trim(tally_vm *vm) {
  if (!tl_enter(vm))
    return 0;
  tl_free_rest(vm, true);
  return tl_memory_trim(vm);
}

bool tl_read_source(tl_vm *vm, const char *name, const char **source,
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

int tally_has_native_code(void) {
  return tl_jit_is_available();
}

// Gives the host a string that [make] makes of a script's text.
// [make] gives an owned string, or false after tl_fail.
static tally_status from_source(tally_vm *vm, const char *name,
                                const char *source, size_t nbytes,
                                bool (*make)(tl_vm *, const char *,
                                             const char *, size_t, tl_slot *),
                                tally_value *out) {
  TL_ENTER(vm);
  tl_bytes file;
  tl_slot slot;
  if (!begin(vm) || !tl_given(vm, name, "the name") ||
      !tl_given(vm, out, "the result") ||
      !tl_read_source(vm, name, &source, &nbytes, &file))
    return tl_report(vm);
  bool ok = make(vm, name, source, nbytes, &slot);
  tl_bytes_free(vm, &file);
  return ok ? tl_give(vm, slot, out) : tl_report(vm);
}

// The text as the formatter writes it; a syntax error is reported as by a run.
tally_status tally_format_source(tally_vm *vm, const char *name,
                                 const char *source, size_t nbytes,
                                 tally_value *out) {
  return from_source(vm, name, source, nbytes, tl_format_source, out);
}

// Computes a closed expression of a script that is checked, in a VM of its own,
// which is opened for the first and may do nothing: see tl_compute. A check
// without memory for it does without. Instructions bound it, not the time, so
// that what is found depends on the script alone; time bounds what counts none.
static tally_status compute(void *context, const char *text, size_t nbytes,
                            const char **message) {
  tally_vm **own = context;
  char source[2048];
  tally_value value;
  tally_options options = tally_default_options();
  options.capabilities = 0;
  options.memory_limit = (size_t)16 << 20;
  options.instruction_limit = 5000;
  options.time_limit = 1;
  options.threads = 1;
  options.no_blas = options.no_signals = 1;
  options.native = TALLY_NATIVE_OFF;
  if (nbytes >= sizeof source ||
      (*own == NULL && tally_open(&options, own) != TALLY_OK))
    return TALLY_OK;
  memcpy(source, text, nbytes);
  source[nbytes] = 0;
  tally_status status = tally_eval(*own, source, &value);
  if (status == TALLY_OK)
    tally_release(*own, value);
  else
    *message = tally_error(*own)->message;
  return status;
}

static bool check_source(tl_vm *vm, const char *name, const char *text,
                         size_t nbytes, tl_slot *out) {
  tally_vm *own = NULL;
  bool ok = tl_check_source(vm, name, text, nbytes, compute, &own, out);
  tally_close(own);
  return ok;
}

// What a script is warned of; its errors are reported as by a run.
tally_status tally_check_source(tally_vm *vm, const char *name,
                                const char *source, size_t nbytes,
                                tally_value *out) {
  return from_source(vm, name, source, nbytes, check_source, out);
}

// What the script's names mean, without running it.
tally_status tally_resolve_source(tally_vm *vm, const char *name,
                                  const char *source, size_t nbytes,
                                  tally_value *out) {
  return from_source(vm, name, source, nbytes, tl_resolve_source, out);
}

// What the script's own functions say of themselves, without running it.
tally_status tally_describe_source(tally_vm *vm, const char *name,
                                   const char *source, size_t nbytes,
                                   tally_value *out) {
  return from_source(vm, name, source, nbytes, tl_describe_source, out);
}
