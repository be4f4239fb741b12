// Errors as values: the record that `catch` gives, and raising it again.
//
// The record has the fields kind, message, line, column, file and trace. Making
// it may fail for want of memory: then the error that was pending is lost to
// the script and the new one is pending in its place.
//
// Built for size.

#include "vm/interp/catch.h"

#include "vm/array/describe.h"
#include "vm/memory/memory_internal.h"
#include "vm/values/list.h"
#include "vm/values/record.h"
#include "vm/vm.h"

// A record of a copy of the error, whose trace moves out of it; the file's name
// is the unit's own immortal string. False after tl_fail.
static bool make_record(tl_vm *vm, tl_pending_error *error, tl_slot *out) {
  tl_record *record = tl_record_new(vm, 6);
  tl_record_put_text(vm, &record, "kind", tl_pending_kind(error));
  tl_record_put_text(vm, &record, "message", error->message);
  if (error->is_text)
    return tl_record_put_end(record, out);
  tl_record_put_int(vm, &record, "line", (uint64_t)error->line);
  tl_record_put_int(vm, &record, "column", (uint64_t)error->column);
  tl_slot file = {.tag = TL_TAG_STRING, .string = error->file};
  if (error->file != NULL)
    tl_record_put(vm, &record, "file", file);
  else
    tl_record_put_text(vm, &record, "file", "");
  tl_list *trace = error->trace != NULL ? error->trace : tl_list_new(vm, 0);
  error->trace = NULL;
  if (trace != NULL)
    tl_record_put(vm, &record, "trace", tl_own_list(trace));
  else
    tl_record_put_nothing(vm, &record);
  return tl_record_put_end(record, out);
}

// The error is taken out of the VM first, since making the record may itself
// fail: then that failure is pending and the old error is gone.
bool tl_error_take(tl_vm *vm, tl_slot *out) {
  tl_pending_error error;
  tl_error_aside(vm, &error);
  // The VM's own message is overwritten if making the record fails.
  char message[sizeof vm->memory->message];
  if (error.message == vm->memory->message) {
    memcpy(message, error.message, sizeof message);
    error.message = message;
  }
  bool ok = make_record(vm, &error, out);
  if (error.message == message)
    error.message = NULL;
  tl_error_forget(vm, &error);
  return ok;
}

// --- Raising again ----------------------------------------------------------

// A string field's text, or [otherwise] where it is missing or of another kind:
// a script may raise a record that it wrote itself.
static const char *text_field(tl_record *record, const char *key,
                              const char *otherwise) {
  const tl_slot *value = tl_record_get_name(record, key);
  return value && tl_is_string(*value) ? value->string->text : otherwise;
}

// A positive int field; 0 where it is missing, of another kind or too large.
static int number_field(tl_record *record, const char *key) {
  const tl_slot *value = tl_record_get_name(record, key);
  if (!value || tl_class(*value) != TL_CLASS_I64)
    return 0;
  return value->i > 0 && value->i < INT32_MAX ? (int)value->i : 0;
}

// Whether the value may serve as a trace: a list of strings and nothing else.
static bool is_trace(const tl_slot *value) {
  if (!value || !tl_is_list(*value))
    return false;
  for (int64_t i = 0; i < value->list->length; i++)
    if (!tl_is_string(value->list->items[i]))
      return false;
  return true;
}

// The trace grows while the error unwinds further, so it may not be shared.
static void restore_trace(tl_vm *vm, const tl_slot *value) {
  if (!is_trace(value))
    return;
  tl_pending_error error;
  tl_error_aside(vm, &error);
  tl_list *list = tl_list_copy(vm, value->list, 0);
  if (list != NULL)
    error.trace = list;
  tl_error_resume(vm, &error);
}

// Gives the pending error the place of the record, so that an error raised
// again is shown where it first happened. Without a line the place of `error`
// counts.
static void restore_place(tl_vm *vm, tl_record *record) {
  tl_pending_error *error = &vm->error;
  error->line = number_field(record, "line");
  error->column = number_field(record, "column");
  const tl_slot *file = tl_record_get_name(record, "file");
  if (file && tl_is_string(*file) && file->string->length > 0)
    error->file = tl_retain(vm, *file).string;
  restore_trace(vm, tl_record_get_name(record, "trace"));
  error->placed = error->line > 0;
}

// A record that was caught is raised as it was, with its place and trace; any
// record with a message will do.
bool tl_error_raise(tl_vm *vm, tl_slot error) {
  if (vm->error.set)
    return false;
  if (tl_is_string(error)) {
    tl_fail_text(vm, TALLY_ERR_VALUE, error.string->text);
    vm->error.named = true;
    return false;
  }
  const tl_slot *message =
      tl_is_record(error) ? tl_record_get_name(error.record, "message") : NULL;
  if (message == NULL || !tl_is_string(*message)) {
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "error: a string or an error record is raised, not %s",
                   tl_described(vm, error));
  }
  tl_fail_named(vm, text_field(error.record, "kind", "value"),
                message->string->text);
  vm->error.named = true;
  restore_place(vm, error.record);
  return false;
}
