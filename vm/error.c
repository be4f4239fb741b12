// The one pending error.

#include "vm/error.h"

#include <stdio.h>
#include <string.h>

#include "vm/values/list.h"
#include "vm/memory/memory_internal.h"
#include "vm/nested/nested.h"
#include "vm/values/record.h"
#include "vm/vm.h"

// In the order of tally_status.
static const char *const kind_names[TALLY_STATUS_COUNT] = {
    "ok",     "syntax", "name", "type",  "shape",     "index", "value",
    "domain", "memory", "io",   "limit", "interrupt", "host",  "assert"};

const char *tl_error_kind_name(tally_status kind) {
  return kind < TALLY_STATUS_COUNT ? kind_names[kind] : "host";
}

bool tl_error_kind_find(const char *name, tally_status *kind) {
  for (int i = TALLY_ERR_SYNTAX; i < TALLY_STATUS_COUNT; i++) {
    if (strcmp(kind_names[i], name) != 0)
      continue;
    *kind = (tally_status)i;
    return true;
  }
  return false;
}

bool tl_failed(const tl_vm *vm) {
  return vm->error.set;
}

// --- Raising ----------------------------------------------------------------

// Where no memory is left, the message stands in the VM's own, cut short.
static void set_message(tl_vm *vm, const char *format, va_list args) {
  tl_pending_error *error = &vm->error;
  struct tl_memory *memory = vm->memory;
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(memory->message, sizeof memory->message, format, args);
  size_t nbytes = length < 0 ? 1 : (size_t)length + 1;
  error->message = tl_alloc_quiet(vm, nbytes);
  error->message_size = error->message ? nbytes : 0;
  if (error->message)
    vsnprintf(error->message, nbytes, format, again);
  else
    error->message = memory->message;
  va_end(again);
}

bool tl_fail_v(tl_vm *vm, tally_status kind, const char *format, va_list args) {
  if (vm->error.set)
    return false;
  vm->error.set = true;
  vm->error.status = kind;
  set_message(vm, format, args);
  return false;
}

bool tl_fail(tl_vm *vm, tally_status kind, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tl_fail_v(vm, kind, format, args);
  va_end(args);
  return false;
}

// What an argument is: a type by its text, other values by their kind.
static const char *describe_argument(tl_vm *vm, tl_slot s, char *buffer,
                                     size_t size) {
  if (!tl_is_type(s))
    return tl_describe(s, buffer, size);
  tl_string *text = tl_type_text(vm, s.type);
  if (!text)
    return "a type";
  snprintf(buffer, size, "the type %s", text->text);
  tl_drop(vm, tl_own_string(text));
  return buffer;
}

bool tl_arg_fail(tl_vm *vm, const char *function, const char *name,
                 const char *expected, tl_slot s) {
  tl_pending_error *error = &vm->error;
  if (error->set)
    return false;
  char what[TL_DESCRIBE];
  error->refused_known = name == NULL;
  if (name == NULL)
    name = TL_UNKNOWN_ARGUMENT;
  tl_fail(vm, TALLY_ERR_TYPE, "%s: %s must be %s, not %s%s", function, name,
          expected, describe_argument(vm, s, what, sizeof what),
          tl_plain_hint(s));
  error->refused = s;
  error->refused_size = strlen(name);
  return false;
}

// Another message than the pending one, of three texts. Where there is no
// memory for that the message stays.
static void put_message(tl_vm *vm, const char *first, const char *second,
                        const char *third) {
  tl_pending_error *error = &vm->error;
  size_t nbytes = strlen(first) + strlen(second) + strlen(third) + 1;
  char *message = tl_alloc_quiet(vm, nbytes);
  if (message == NULL)
    return;
  snprintf(message, nbytes, "%s%s%s", first, second, third);
  tl_free(vm, error->message, error->message_size);
  error->message = message;
  error->message_size = nbytes;
}

void tl_fail_field(tl_vm *vm, const tl_string *name) {
  const tl_pending_error *error = &vm->error;
  static const char mark[] = "field ";
  if (error->message_size == 0 || error->status == TALLY_ERR_MEMORY)
    return;
  if (strncmp(error->message, mark, strlen(mark)) != 0) {
    put_message(vm, "", ": ", error->message);
  } else {
    put_message(vm, ".", error->message + strlen(mark), "");
  }
  put_message(vm, mark, name->text, error->message);
}

void tl_fail_whole(tl_vm *vm, tl_slot part, tl_slot whole) {
  tl_pending_error *error = &vm->error;
  char what[TL_DESCRIBE], text[TL_DESCRIBE];
  if (error->message_size == 0 || error->status != TALLY_ERR_TYPE)
    return;
  tl_describe(part, what, sizeof what);
  size_t length = strlen(error->message), tail = strlen(what);
  if (length < tail || strcmp(error->message + length - tail, what) != 0)
    return;
  error->message[length - tail] = '\0';
  put_message(vm, error->message, tl_describe(whole, text, sizeof text), "");
}

// "1.5 GB" and the like; below 1 KB the exact number.
static void write_bytes(char *buffer, size_t size, size_t nbytes) {
  static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};
  double amount = (double)nbytes;
  int unit = 0;
  for (; amount >= 1000 && unit < 5; unit++) amount /= 1000;
  snprintf(buffer, size, amount < 10 && unit > 0 ? "%.1f %s" : "%.0f %s",
           amount, units[unit]);
}

bool tl_fail_memory(tl_vm *vm, size_t nbytes, const char *what) {
  tl_pending_error *error = &vm->error;
  if (error->set)
    return false;
  struct tl_memory *memory = vm->memory;
  char need[32], live[32], cap[32];
  write_bytes(need, sizeof need, nbytes);
  write_bytes(live, sizeof live,
              (size_t)(vm->stats.live_bytes + vm->stats.ext_bytes));
  write_bytes(cap, sizeof cap, vm->options.memory_limit);
  if (vm->options.memory_limit != 0)
    snprintf(memory->message, sizeof memory->message,
             "no memory for %s: %s needed, %s in use, the limit is %s", what,
             need, live, cap);
  else
    snprintf(memory->message, sizeof memory->message,
             "no memory for %s: %s needed, %s in use", what, need, live);
  error->set = true;
  error->status = TALLY_ERR_MEMORY;
  error->message = memory->message;
  error->message_size = 0;
  return false;
}

void tl_fail_operands(tl_vm *vm, tl_slot left, tl_slot right) {
  tl_pending_error *error = &vm->error;
  tl_describe(left, error->left, sizeof error->left);
  tl_describe(right, error->right, sizeof error->right);
}

void tl_error_clear(tl_vm *vm) {
  tl_pending_error *error = &vm->error;
  if (error->message_size)
    tl_free(vm, error->message, error->message_size);
  if (error->note_size)
    tl_free(vm, error->note, error->note_size);
  if (error->excerpt_size)
    tl_free(vm, error->excerpt, error->excerpt_size);
  tl_string *file = error->file;
  tl_list *trace = error->trace;
  *error = (tl_pending_error){.set = false};
  if (file != NULL && (file->head.flags & TL_IMMORTAL) == 0)
    tl_drop(vm, tl_own_string(file));
  if (trace != NULL)
    tl_drop(vm, tl_own_list(trace));
}

// --- Catching ---------------------------------------------------------------

static bool set_number(tl_vm *vm, tl_record **record, const char *key, int n) {
  tl_slot value = tl_weak_int(n);
  return tl_record_set_name(vm, record, key, &value);
}

static bool set_file(tl_vm *vm, tl_record **record, tl_string *file) {
  if (file == NULL)
    return tl_record_set_text(vm, record, "file", "");
  tl_slot value = {.tag = TL_TAG_STRING, .string = file};
  return tl_record_set_name(vm, record, "file", &value);
}

// The trace is moved out of the error, or an empty list is made.
static bool set_trace(tl_vm *vm, tl_record **record, tl_list **trace) {
  tl_list *list = *trace ? *trace : tl_list_new(vm, 0);
  if (list == NULL)
    return false;
  *trace = NULL;
  tl_slot value = tl_own_list(list);
  bool ok = tl_record_set_name(vm, record, "trace", &value);
  tl_drop(vm, value);
  return ok;
}

// Fills a record from a copy of the error; what is taken out of it is NULL.
static bool fill_record(tl_vm *vm, tl_pending_error *error,
                        tl_record **record) {
  return tl_record_set_text(vm, record, "kind",
                            tl_error_kind_name(error->status)) &&
         tl_record_set_text(vm, record, "message", error->message) &&
         set_number(vm, record, "line", error->line) &&
         set_number(vm, record, "column", error->column) &&
         set_file(vm, record, error->file) &&
         set_trace(vm, record, &error->trace);
}

bool tl_error_take(tl_vm *vm, tl_slot *out) {
  tl_pending_error error = vm->error;
  vm->error = (tl_pending_error){.set = false};
  // The VM's own message is overwritten if making the record fails.
  char message[sizeof vm->memory->message];
  if (error.message == vm->memory->message) {
    memcpy(message, error.message, sizeof message);
    error.message = message;
  }
  tl_record *record = tl_record_new(vm, 6);
  bool ok = record != NULL && fill_record(vm, &error, &record);
  if (ok)
    *out = tl_own_record(record);
  else if (record != NULL)
    tl_drop(vm, tl_own_record(record));
  tl_pending_error failure = vm->error;
  vm->error = error;
  if (error.message == message)
    vm->error.message = NULL;
  tl_error_clear(vm);
  vm->error = failure;
  return ok;
}

// --- Raising again ----------------------------------------------------------

static const char *text_field(tl_record *record, const char *key,
                              const char *otherwise) {
  const tl_slot *value = tl_record_get_name(record, key);
  return value && tl_is_string(*value) ? value->string->text : otherwise;
}

static int number_field(tl_record *record, const char *key) {
  const tl_slot *value = tl_record_get_name(record, key);
  if (!value || tl_class(*value) != TL_CLASS_I64)
    return 0;
  return value->i > 0 && value->i < INT32_MAX ? (int)value->i : 0;
}

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
  tl_slot trace = tl_borrow(*value);
  tl_list *list;
  tl_pending_error error = vm->error;
  vm->error = (tl_pending_error){.set = false};
  if (tl_list_unique(vm, &trace, 0, &list))
    error.trace = list;
  tl_error_clear(vm);
  vm->error = error;
}

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

bool tl_error_raise(tl_vm *vm, tl_slot error) {
  if (vm->error.set)
    return false;
  if (tl_is_string(error)) {
    tl_fail(vm, TALLY_ERR_VALUE, "%s", error.string->text);
    vm->error.named = true;
    return false;
  }
  const tl_slot *message =
      tl_is_record(error) ? tl_record_get_name(error.record, "message") : NULL;
  if (message == NULL || !tl_is_string(*message)) {
    char type[TL_DESCRIBE];
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "error: a string or an error record is raised, not %s",
                   tl_describe(error, type, sizeof type));
  }
  tally_status kind;
  const char *name = text_field(error.record, "kind", "value");
  if (!tl_error_kind_find(name, &kind))
    kind = TALLY_ERR_VALUE;
  tl_fail(vm, kind, "%s", message->string->text);
  vm->error.named = true;
  restore_place(vm, error.record);
  return false;
}
