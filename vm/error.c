// The one pending error: setting it, its message, and giving it up.
//
// A message is allocated; where no memory is left it stands, cut short, in a
// buffer of the VM's own (vm->memory->message), whose size 0 says that nothing
// has to be freed.
//
// Built for size.

#include "vm/error.h"

#include <stdio.h>

#include "vm/memory/memory_internal.h"
#include "vm/vm.h"

// In the order of tally_status.
static const char *const kind_names[TALLY_STATUS_COUNT] = {
    "ok",    "syntax", "name",   "type", "shape", "index",
    "value", "domain", "memory", "io",   "limit", "interrupt",
    "host",  "assert", "exit",   "user"};

// A number that is no kind can only come from a host, so it is called host.
const char *tl_error_kind_name(tally_status kind) {
  return kind < TALLY_STATUS_COUNT ? kind_names[kind] : "host";
}

// Sets *kind to the kind of that name; false if there is none. "exit" is none
// that a script may raise.
// Linear: a dozen names, looked up only where an error is raised by name.
static bool error_kind_find(const char *name, tally_status *kind) {
  for (int i = TALLY_ERR_SYNTAX; i < TALLY_STATUS_COUNT; i++) {
    if (i == TALLY_ERR_EXIT || strcmp(kind_names[i], name) != 0)
      continue;
    *kind = (tally_status)i;
    return true;
  }
  return false;
}

const char *tl_pending_kind(const tl_pending_error *error) {
  return *error->own_kind ? error->own_kind : tl_error_kind_name(error->status);
}

bool tl_failed(const tl_vm *vm) {
  return vm->error.set;
}

// --- Raising ----------------------------------------------------------------

// Formats the message into the VM's own buffer first: most are short enough to
// be copied from there.
static void set_message(tl_vm *vm, const char *format, va_list args) {
  tl_pending_error *error = &vm->error;
  struct tl_memory *memory = vm->memory;
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(memory->message, sizeof memory->message, format, args);
  size_t nbytes = length < 0 ? 1 : (size_t)length + 1;
  if (nbytes > TL_LONGEST_MESSAGE + 1)
    nbytes = TL_LONGEST_MESSAGE + 1;
  error->message = tl_alloc_quiet(vm, nbytes);
  error->message_size = error->message ? nbytes : 0;
  if (error->message == NULL)
    error->message = memory->message;
  else if (nbytes <= sizeof memory->message)
    memcpy(error->message, memory->message, nbytes);
  else
    vsnprintf(error->message, nbytes, format, again);
  // A message may quote what a host gave, and scripts get it as a string, which
  // has to be valid UTF-8.
  tl_utf8_mend(error->message, strlen(error->message));
  va_end(again);
}

// Whether an error of that kind begins. The first one stays: later ones are its
// consequences.
static bool begins(tl_vm *vm, tally_status kind) {
  if (vm->error.set)
    return false;
  vm->error.set = true;
  vm->error.status = kind;
  vm->error.is_final = kind == TALLY_ERR_EXIT;
  return true;
}

bool tl_fail_v(tl_vm *vm, tally_status kind, const char *format, va_list args) {
  if (begins(vm, kind))
    set_message(vm, format, args);
  return false;
}

// Formatting a text takes longer than all else that an error costs.
bool tl_fail_text(tl_vm *vm, tally_status kind, const char *text) {
  tl_pending_error *error = &vm->error;
  struct tl_memory *memory = vm->memory;
  if (!begins(vm, kind))
    return false;
  size_t length = strnlen(text, TL_LONGEST_MESSAGE);
  error->message = tl_alloc_quiet(vm, length + 1);
  error->message_size = error->message ? length + 1 : 0;
  if (error->message == NULL) {
    error->message = memory->message;
    if (length >= sizeof memory->message)
      length = sizeof memory->message - 1;
  }
  memcpy(error->message, text, length);
  error->message[length] = 0;
  tl_utf8_mend(error->message, length);
  return false;
}

bool tl_fail(tl_vm *vm, tally_status kind, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tl_fail_v(vm, kind, format, args);
  va_end(args);
  return false;
}

// A kind's name that is the language's own gives that kind, so that a script
// can raise what the library raises.
bool tl_fail_named(tl_vm *vm, const char *kind, const char *message) {
  tally_status status;
  if (vm->error.set)
    return false;
  if (error_kind_find(kind, &status))
    return tl_fail_text(vm, status, message);
  if (strcmp(kind, kind_names[TALLY_ERR_EXIT]) == 0)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "error: kind \"exit\" is no error's: os.exit(status) ends "
                   "a script");
  size_t nbytes = strlen(kind);
  if (nbytes == 0 || nbytes >= sizeof vm->error.own_kind)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "error: kind is a name of 1 to %d bytes, not of %zu",
                   (int)sizeof vm->error.own_kind - 1, nbytes);
  tl_fail_text(vm, TALLY_ERR_USER, message);
  memcpy(vm->error.own_kind, kind, nbytes + 1);
  return false;
}

// The texts may be parts of the old message: that is freed last.
void tl_put_message(tl_vm *vm, const char *first, const char *second,
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

// An error from within a field: "field a.b: …" grows from the inside out.
void tl_fail_field(tl_vm *vm, const tl_string *name) {
  const tl_pending_error *error = &vm->error;
  static const char mark[] = "field ";
  if (error->message_size == 0 || error->status == TALLY_ERR_MEMORY)
    return;
  if (strncmp(error->message, mark, strlen(mark)) != 0) {
    tl_put_message(vm, "", ": ", error->message);
  } else {
    tl_put_message(vm, ".", error->message + strlen(mark), "");
  }
  tl_put_message(vm, mark, name->text, error->message);
}

// An amount for a reader: "1.5 GB"; below 1 kB the exact number.
static void write_bytes(char *buffer, size_t size, size_t nbytes) {
  static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};
  double amount = (double)nbytes;
  int unit = 0;
  for (; amount >= 1000 && unit < 5; unit++) amount /= 1000;
  snprintf(buffer, size, amount < 10 && unit > 0 ? "%.1f %s" : "%.0f %s",
           amount, units[unit]);
}

// Writes into the VM's own buffer, as there may be no memory for anything else.
bool tl_fail_memory(tl_vm *vm, size_t nbytes, const char *what) {
  tl_pending_error *error = &vm->error;
  if (error->set)
    return false;
  struct tl_memory *memory = vm->memory;
  char need[32], live[32], cap[32];
  write_bytes(need, sizeof need, nbytes);
  write_bytes(live, sizeof live, (size_t)tl_live_now(vm));
  write_bytes(cap, sizeof cap, vm->options.memory_limit);
  if (memory->ceiling != 0 &&
      memory->over(vm, nbytes, memory->message, sizeof memory->message))
    ;  // says so itself
  else if (vm->options.memory_limit != 0)
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

// File and trace are dropped last, after the error is marked as gone: dropping
// may look at it.
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
  // The two texts at the end are long, and empty where they begin with NUL.
  // Whole words are cleared.
  memset(error, 0, (offsetof(tl_pending_error, left) + 8) / 8 * 8);
  error->right[0] = 0;
  if (file != NULL && (file->head.flags & TL_IMMORTAL) == 0)
    tl_drop(vm, tl_own_string(file));
  if (trace != NULL)
    tl_drop(vm, tl_own_list(trace));
}

void tl_error_aside(tl_vm *vm, tl_pending_error *kept) {
  *kept = vm->error;
  memset(&vm->error, 0, sizeof vm->error);
}

void tl_error_resume(tl_vm *vm, tl_pending_error *kept) {
  tl_error_clear(vm);
  vm->error = *kept;
  memset(kept, 0, sizeof *kept);
}

// The error is put in the pending one's place for a moment, since
// tl_error_clear knows how to free one.
void tl_error_forget(tl_vm *vm, tl_pending_error *kept) {
  tl_pending_error now;
  tl_error_aside(vm, &now);
  tl_error_resume(vm, kept);
  tl_error_resume(vm, &now);
}
