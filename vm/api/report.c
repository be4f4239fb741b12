// tally.h: errors. The pending error of a call that failed becomes the report
// that tally_error shows until the next failure.
//
// A report is made with the VM, so that running out of memory can be reported.
// Inside a host's function that a script called, the error that was reported is
// kept as well: if the function fails with the same status, the script gets
// that error with its place and trace, and not a new one.
//
//     script ─▶ host's function ─▶ tally_call fails: report, error kept
//     script ◀─ kept error raised again ◀─ function returns the same status

#include <stdio.h>

#include "vm/api/api.h"
#include "vm/values/list.h"
#include "vm/memory/reserve.h"

// Names what is missing in the host's words: "the path is needed: got NULL".
bool tl_fail_null(tl_vm *vm, const char *what) {
  return tl_fail(vm, TALLY_ERR_HOST, "%s is needed: got NULL", what);
}

// Hooks of resources run in the middle of an instruction, where variables and
// code must stay as they are.
bool tl_may_run(tl_vm *vm) {
  return vm->access == TL_ACCESS_ALL ||
         tl_fail(vm, TALLY_ERR_HOST,
                 "a hook of a resource makes and reads values: it may not run "
                 "code, import or set variables");
}

// The report that tally_error shows, and the memory of its texts.
// All that it points to stays until the next error of the VM or its end.
struct tl_report {
  tl_pending_error kept;  // inside a hook: what it will pass on
  tally_error_info info;
  char *text;
  size_t text_size;
  char *message;
  size_t message_size;
  char kind[64];
  tl_list *trace;  // keeps the lines alive
  const char *lines[64];
};

// Frees what the report shows; what is kept for a hook stays.
static void forget(tl_vm *vm) {
  struct tl_report *r = vm->report;
  tl_free(vm, r->text, r->text_size);
  tl_free(vm, r->message, r->message_size);
  if (r->trace != NULL)
    tl_drop(vm, tl_own_list(r->trace));
  memset(&r->info, 0, sizeof *r - offsetof(struct tl_report, info));
}

// Made with the VM: what is needed to say that there is no memory.
bool tl_report_open(tl_vm *vm) {
  vm->report = tl_alloc_zeroed(vm, sizeof *vm->report, "an error report");
  return vm->report != NULL;
}

// What is left for a hook goes too, with its trace.
void tl_report_close(tl_vm *vm) {
  if (vm->report == NULL)
    return;
  forget(vm);
  tl_report_forget(vm);
  tl_free(vm, vm->report, sizeof *vm->report);
  vm->report = NULL;
}

// The whole report as text: place, message, excerpt, trace.
// An error of the compiler has a text of its own, with all messages.
//
//  script.tly:3:5: value error: index 4 …     place, kind, message
//      3 | x[4]                               excerpt
//        |   ^
//     in f, line 7                            trace, the innermost first
//
static void write_report(tl_vm *vm, tl_text *text) {
  const tl_pending_error *e = &vm->error;
  if (e->compiled && e->excerpt != NULL) {
    tl_text_puts(text, e->excerpt);
    return;
  }
  if (e->file != NULL && e->line > 0)
    tl_text_printf(text, "%s:%d:%d: ", e->file->text, e->line, e->column);
  tl_text_printf(text, "%s error: %s", tl_pending_kind(e),
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

// A copy of the text with a NUL; *size is its allocation. NULL: no memory.
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
// kind, file, line and trace come from the pending error, whose memory the
// report takes over where it can. What cannot be copied for lack of memory is
// shown as a constant text, so a report is always there.
tally_status tl_report(tl_vm *vm) {
  if (!vm->error.set)
    return TALLY_OK;
  tally_status status = vm->error.status;
  struct tl_report *r = vm->report;
  forget(vm);
  size_t before = tl_reserve(vm, TL_RESERVE);
  tl_text text;
  tl_text_open(&text, vm);
  write_report(vm, &text);
  if (!text.failed)
    r->text = keep_text(vm, text.bytes, text.length, &r->text_size);
  tl_text_close(&text);
  const char *message = vm->error.message == NULL ? "" : vm->error.message;
  r->message = keep_text(vm, message, strlen(message), &r->message_size);
  tl_reserve(vm, before);
  r->trace = vm->error.trace;
  vm->error.trace = NULL;
  snprintf(r->kind, sizeof r->kind, "%s", tl_pending_kind(&vm->error));
  size_t lines = 0;
  for (int64_t i = 0; r->trace != NULL && i < r->trace->length && lines < 64;
       i++)
    r->lines[lines++] = r->trace->items[i].string->text;
  r->info = (tally_error_info){
      .status = status,
      .kind = r->kind,
      .message = r->message == NULL ? "no memory" : r->message,
      .file = vm->error.file == NULL ? "" : vm->error.file->text,
      .line = vm->error.line,
      .column = vm->error.column,
      .report = r->text == NULL ? "memory error: no memory" : r->text,
      .trace_count = lines,
      .trace = r->lines,
      .exit_status = vm->error.exit_status};
  if (vm->error.file != NULL) {
    // A compilation's file name goes with the pending error; copy what shows.
    snprintf(vm->report_file, sizeof vm->report_file, "%s",
             vm->error.file->text);
    r->info.file = vm->report_file;
  }
  // Inside a hook: keep the error, with its trace, for the hook to pass on. An
  // interrupt that was met earlier goes first.
  if (vm->host_depth > 0 && !r->kept.is_final) {
    tl_report_forget(vm);
    tl_error_aside(vm, &r->kept);
    if (r->trace != NULL)
      r->kept.trace = tl_retain(vm, tl_borrow(tl_own_list(r->trace))).list;
  }
  tl_error_clear(vm);
  return status;
}

tally_status tl_report_fail(tl_vm *vm, tally_status status, const char *format,
                            ...) {
  va_list args;
  va_start(args, format);
  tl_fail_v(vm, status, format, args);
  va_end(args);
  return tl_report(vm);
}

// Such an error is raised whatever the hook returns: a host's function cannot
// swallow an interrupt.
bool tl_report_is_final(const tl_vm *vm) {
  return vm->report->kept.is_final;
}

// Called when a hook has returned: what it did not pass on is nobody's.
void tl_report_forget(tl_vm *vm) {
  // Mostly there is none: this is on the way of every call of the host.
  if (vm->report->kept.set)
    tl_error_forget(vm, &vm->report->kept);
}

// An interrupt is raised whatever status the hook returned.
// The report is given up as well: the error is pending now and will be reported
// by the call further out.
bool tl_report_raise(tl_vm *vm, tally_status status) {
  tl_pending_error *kept = &vm->report->kept;
  if (!kept->set || (kept->status != status && !kept->is_final))
    return false;
  forget(vm);  // the trace goes on: it may have one owner alone
  tl_error_resume(vm, kept);
  return true;
}

// For hooks: sets the error that the script is to see, and returns its status.
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

// Never NULL: without an error all texts are empty.
const tally_error_info *tally_error(tally_vm *vm) {
  static const tally_error_info none = {
      .kind = "", .message = "", .file = "", .report = ""};
  if (vm == NULL || vm->report == NULL)
    return &none;
  return vm->report->info.message == NULL ? &none : &vm->report->info;
}
