// Each test of tally.h again, with its first, its second, … allocation
// refused, until it passes without one that was: not under sanitizers and the
// auditor.
//
//   HOST_TEST(name) and PLAIN_TEST(name) in a list of tests stand for both,
//   ONCE_TEST(name, …, "why") for the test alone.
//
// The calls of tally.h below are macros: where one gives TALLY_ERR_MEMORY for
// the refusal, the test ends there. Then its VMs must be usable, and closing
// them must leave nothing. Until then every assertion holds as it does
// otherwise, but behind a script or a function of the host's that may have
// caught the error. Functions that the VM calls must return a failed status.
#ifndef TALLY_TESTS_REFUSED_H
#define TALLY_TESTS_REFUSED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tally.h"

typedef void *refused_resize(void *context, void *block, size_t old_size,
                             size_t new_size);

// In front of each block of a VM.
typedef struct refused_block {
  struct refused_block *next, **link;
  refused_resize *resize;
  void *context;
  size_t nbytes;   // with this
  uint64_t given;  // the call that gave it to the test, such as tally_to_arrow
} refused_block;

typedef struct refused_case {
  void (*body)(void **state);
  int (*set_up)(void **state);
  int (*tear_down)(void **state);
} refused_case;

enum { REFUSED_VMS = 16, REFUSED_PARCELS = 8 };

// Of each thread: a test's other threads run as they always do.
static _Thread_local struct {
  bool on;               // a test runs again
  bool ended;            // and was left
  bool refused, caught;  // somebody may have swallowed the error
  uint64_t requests, fail_at, first;
  int depth;              // calls of tally.h in each other
  uint64_t calls, given;  // the one that gives its blocks away, 0: none
  refused_block *blocks;
  tally_vm *vms[REFUSED_VMS];
  size_t vm_count;
  tally_parcel *parcels[REFUSED_PARCELS];
  size_t parcel_count;
  refused_resize *resize;  // the test's own
  jmp_buf end;
} refused;

// --- Blocks -----------------------------------------------------------------

static inline void refused_unlink(refused_block *b) {
  *b->link = b->next;
  if (b->next != NULL)
    b->next->link = b->link;
}

static inline void refused_link(refused_block *b) {
  b->next = refused.blocks;
  b->link = &refused.blocks;
  if (b->next != NULL)
    b->next->link = &b->next;
  refused.blocks = b;
}

static inline void *refused_pass(refused_resize *resize, void *context,
                                 void *block, size_t old_size,
                                 size_t new_size) {
  refused_block *b = block == NULL ? NULL : (refused_block *)block - 1;
  if (new_size > old_size && ++refused.requests == refused.fail_at) {
    refused.refused = true;
    return NULL;
  }
  if (b == NULL && new_size == 0)
    return NULL;
  if (b != NULL)
    refused_unlink(b);
  refused_block *moved =
      resize(context, b, b == NULL ? 0 : old_size + sizeof *b,
             new_size == 0 ? 0 : new_size + sizeof *b);
  if (new_size == 0)
    return NULL;
  if (moved == NULL) {
    if (b != NULL)
      refused_link(b);
    return NULL;
  }
  if (b == NULL)
    *moved = (refused_block){
        .resize = resize, .context = context, .given = refused.given};
  moved->nbytes = new_size + sizeof *b;
  refused_link(moved);
  return moved + 1;
}

static inline void *refused_own(void *context, void *block, size_t old_size,
                                size_t new_size) {
  return refused_pass(refused.resize, context, block, old_size, new_size);
}

static inline void *refused_system(void *context, void *block, size_t old_size,
                                   size_t new_size) {
  (void)context, (void)old_size;
  if (new_size != 0)
    return realloc(block, new_size);
  free(block);
  return NULL;
}

static inline void *refused_default(void *context, void *block, size_t old_size,
                                    size_t new_size) {
  return refused_pass(refused_system, context, block, old_size, new_size);
}

// --- Calls ------------------------------------------------------------------

static inline tally_status refused_open(const tally_options *options,
                                        tally_vm **out) {
  if (!refused.on ||
      (options != NULL && options->size < offsetof(tally_options, write)))
    return tally_open(options, out);
  tally_options changed = tally_default_options();
  if (options != NULL) {
    size_t size =
        options->size < sizeof changed ? options->size : sizeof changed;
    memcpy(&changed, options, size);
  }
  if (changed.resize == NULL ||
      changed.resize == tally_default_options().resize) {
    changed.resize = refused_default;
  } else {
    assert_true(refused.resize == NULL || refused.resize == changed.resize);
    refused.resize = changed.resize;
    changed.resize = refused_own;
  }
  refused.depth++;
  tally_status status = tally_open(&changed, out);
  refused.depth--;
  if (status == TALLY_OK) {
    assert_true(refused.vm_count < REFUSED_VMS);
    refused.vms[refused.vm_count++] = *out;
  }
  return status;
}

static inline size_t refused_close(tally_vm *vm) {
  if (refused.on && refused.ended)
    return 0;  // it is closed already
  if (refused.on && refused.depth == 0) {
    for (size_t i = 0; i < refused.vm_count; i++) {
      if (refused.vms[i] == vm)
        refused.vms[i--] = refused.vms[--refused.vm_count];
    }
  }
  refused.depth++;
  size_t held = tally_close(vm);
  refused.depth--;
  return held;
}

// May run hooks of the test's.
static inline void refused_release(tally_vm *vm, tally_value v) {
  refused.depth++;
  tally_release(vm, v);
  refused.depth--;
}

// The test ends here, for want of memory. [vm] has the error, NULL: none has.
static inline void refused_end(tally_vm *vm) {
  alarm(0);  // the test's, which would find no VM
  refused.fail_at = 0;
  refused.depth++;  // of here
  if (vm != NULL) {
    const tally_error_info *error = tally_error(vm);
    assert_int_equal(error->status, TALLY_ERR_MEMORY);
    assert_non_null(error->report);
  }
  uint64_t failed = refused.calls;
  for (size_t i = 0; i < refused.vm_count; i++) {
    if (tally_eval(refused.vms[i], "1 + 1", NULL) != TALLY_OK)
      fail_msg("not usable: %s", tally_error(refused.vms[i])->report);
    tally_close(refused.vms[i]);
  }
  for (size_t i = 0; i < refused.parcel_count; i++)
    tally_free_parcel(refused.parcels[i]);
  refused.parcel_count = refused.vm_count = 0;
  refused.depth = 0;
  refused.ended = true;
  for (refused_block *b = refused.blocks, *next; b != NULL; b = next) {
    next = b->next;
    if (b->given == 0 || b->given == failed)
      fail_msg("a block of %zu bytes is left", b->nbytes - sizeof *b);
    refused_unlink(b);
    b->resize(b->context, b, b->nbytes, 0);
  }
  longjmp(refused.end, 1);
}

static inline void refused_before(bool gives) {
  if (refused.depth++ == 0)
    refused.calls++;
  if (refused.depth == 1)
    refused.given = gives ? refused.calls : 0;
}

static inline tally_status refused_after(tally_status status, tally_vm *vm) {
  refused.depth--;
  if (status == TALLY_ERR_MEMORY && refused.on && refused.refused) {
    if (refused.depth == 0)
      refused_end(vm);
    refused.caught = true;  // perhaps, above
  }
  // Another error's text or trace may be what was refused.
  if (status != TALLY_OK && refused.on && refused.refused)
    refused.caught = true;
  return status;
}

// A script that catches errors may go on otherwise than the test says.
static inline const char *refused_source(const char *source) {
  if (source != NULL && strstr(source, "catch") != NULL)
    refused.caught = true;
  return source;
}

static inline tally_status refused_sent(tally_status status,
                                        tally_parcel **parcel) {
  if (status == TALLY_OK && refused.on) {
    assert_true(refused.parcel_count < REFUSED_PARCELS);
    refused.parcels[refused.parcel_count++] = *parcel;
  }
  return status;
}

static inline tally_parcel *refused_taken(tally_parcel *parcel) {
  for (size_t i = 0; i < refused.parcel_count; i++) {
    if (refused.parcels[i] == parcel)
      refused.parcels[i] = refused.parcels[--refused.parcel_count];
  }
  return parcel;
}

#define REFUSED_FIRST(vm, ...) vm
#define REFUSED_AS(name, gives, ...)                        \
  refused_after((refused_before(gives), name(__VA_ARGS__)), \
                REFUSED_FIRST(__VA_ARGS__, 0))
#define REFUSED_CALL(name, ...) REFUSED_AS(name, false, __VA_ARGS__)
#define REFUSED_GIVEN(name, ...) REFUSED_AS(name, true, __VA_ARGS__)

#define tally_open(options, out) \
  refused_after((refused_before(false), refused_open(options, out)), NULL)
#define tally_close(vm) refused_close(vm)
#define tally_release(vm, v) refused_release(vm, v)
#define tally_eval(vm, source, out) \
  REFUSED_CALL(tally_eval, vm, refused_source(source), out)
#define tally_compile(vm, source, out) \
  REFUSED_CALL(tally_compile, vm, refused_source(source), out)
#define tally_interact(vm, source, width) \
  REFUSED_CALL(tally_interact, vm, refused_source(source), width)
#define tally_run_source(vm, name, source, ...) \
  REFUSED_CALL(tally_run_source, vm, name, refused_source(source), __VA_ARGS__)
#define tally_run(...) REFUSED_CALL(tally_run, __VA_ARGS__)
#define tally_apply(...) REFUSED_CALL(tally_apply, __VA_ARGS__)
#define tally_call(...) REFUSED_CALL(tally_call, __VA_ARGS__)
#define tally_get_global(...) REFUSED_CALL(tally_get_global, __VA_ARGS__)
#define tally_set_global(...) REFUSED_CALL(tally_set_global, __VA_ARGS__)
#define tally_move_global(...) REFUSED_CALL(tally_move_global, __VA_ARGS__)
#define tally_add_module(...) REFUSED_CALL(tally_add_module, __VA_ARGS__)
#define tally_raise(...) REFUSED_CALL(tally_raise, __VA_ARGS__)
#define tally_from_resource(...) REFUSED_CALL(tally_from_resource, __VA_ARGS__)
#define tally_to_resource(...) REFUSED_CALL(tally_to_resource, __VA_ARGS__)
#define tally_account(...) REFUSED_CALL(tally_account, __VA_ARGS__)
#define tally_debug(...) REFUSED_CALL(tally_debug, __VA_ARGS__)
#define tally_debug_frame(...) REFUSED_CALL(tally_debug_frame, __VA_ARGS__)
#define tally_debug_line(...) REFUSED_CALL(tally_debug_line, __VA_ARGS__)
#define tally_debug_names(...) REFUSED_CALL(tally_debug_names, __VA_ARGS__)
#define tally_debug_eval(...) REFUSED_CALL(tally_debug_eval, __VA_ARGS__)
#define tally_debug_set(...) REFUSED_CALL(tally_debug_set, __VA_ARGS__)
#define tally_complete(...) REFUSED_CALL(tally_complete, __VA_ARGS__)
#define tally_from_none(...) REFUSED_CALL(tally_from_none, __VA_ARGS__)
#define tally_from_bool(...) REFUSED_CALL(tally_from_bool, __VA_ARGS__)
#define tally_from_int(...) REFUSED_CALL(tally_from_int, __VA_ARGS__)
#define tally_from_float(...) REFUSED_CALL(tally_from_float, __VA_ARGS__)
#define tally_from_complex(...) REFUSED_CALL(tally_from_complex, __VA_ARGS__)
#define tally_from_string(...) REFUSED_CALL(tally_from_string, __VA_ARGS__)
#define tally_from_list(...) REFUSED_CALL(tally_from_list, __VA_ARGS__)
#define tally_from_record(...) REFUSED_CALL(tally_from_record, __VA_ARGS__)
#define tally_to_bool(...) REFUSED_CALL(tally_to_bool, __VA_ARGS__)
#define tally_to_int(...) REFUSED_CALL(tally_to_int, __VA_ARGS__)
#define tally_to_float(...) REFUSED_CALL(tally_to_float, __VA_ARGS__)
#define tally_to_complex(...) REFUSED_CALL(tally_to_complex, __VA_ARGS__)
#define tally_to_string(...) REFUSED_CALL(tally_to_string, __VA_ARGS__)
#define tally_format(...) REFUSED_CALL(tally_format, __VA_ARGS__)
#define tally_item(...) REFUSED_CALL(tally_item, __VA_ARGS__)
#define tally_field(...) REFUSED_CALL(tally_field, __VA_ARGS__)
#define tally_from_buffer(...) REFUSED_CALL(tally_from_buffer, __VA_ARGS__)
#define tally_to_buffer(...) REFUSED_CALL(tally_to_buffer, __VA_ARGS__)
#define tally_from_pointers(...) REFUSED_CALL(tally_from_pointers, __VA_ARGS__)
#define tally_to_pointers(...) REFUSED_CALL(tally_to_pointers, __VA_ARGS__)
#define tally_from_dlpack(...) REFUSED_CALL(tally_from_dlpack, __VA_ARGS__)
#define tally_from_dlpack_versioned(...) \
  REFUSED_CALL(tally_from_dlpack_versioned, __VA_ARGS__)
#define tally_to_dlpack(...) REFUSED_GIVEN(tally_to_dlpack, __VA_ARGS__)
#define tally_to_dlpack_versioned(...) \
  REFUSED_GIVEN(tally_to_dlpack_versioned, __VA_ARGS__)
#define tally_from_arrow(...) REFUSED_CALL(tally_from_arrow, __VA_ARGS__)
#define tally_to_arrow(...) REFUSED_GIVEN(tally_to_arrow, __VA_ARGS__)
#define tally_send(vm, v, out) \
  refused_sent(REFUSED_CALL(tally_send, vm, v, out), out)
#define tally_receive(vm, parcel, out) \
  REFUSED_CALL(tally_receive, vm, refused_taken(parcel), out)
#define tally_free_parcel(parcel) tally_free_parcel(refused_taken(parcel))
#define tally_watch(...) REFUSED_CALL(tally_watch, __VA_ARGS__)
#define tally_plot_memory(...) REFUSED_CALL(tally_plot_memory, __VA_ARGS__)
#define tally_plot_time(...) REFUSED_CALL(tally_plot_time, __VA_ARGS__)
#define tally_get_device(...) REFUSED_CALL(tally_get_device, __VA_ARGS__)
#define tally_left(...) REFUSED_CALL(tally_left, __VA_ARGS__)
#define tally_explain(...) REFUSED_CALL(tally_explain, __VA_ARGS__)
#define tally_explain_source(...) \
  REFUSED_CALL(tally_explain_source, __VA_ARGS__)
#define tally_check_source(...) REFUSED_CALL(tally_check_source, __VA_ARGS__)
#define tally_describe(...) REFUSED_CALL(tally_describe, __VA_ARGS__)
#define tally_describe_source(...) \
  REFUSED_CALL(tally_describe_source, __VA_ARGS__)
#define tally_resolve_source(...) \
  REFUSED_CALL(tally_resolve_source, __VA_ARGS__)
#define tally_format_source(...) REFUSED_CALL(tally_format_source, __VA_ARGS__)
#define tally_disassemble(...) REFUSED_CALL(tally_disassemble, __VA_ARGS__)
#define tally_disassemble_function(...) \
  REFUSED_CALL(tally_disassemble_function, __VA_ARGS__)

// Says COMPLETE where it has no memory to look: running then tells.
static inline tally_input refused_input(tally_input input) {
  refused.caught = refused.caught || refused.refused;
  return input;
}
#define tally_check_input(...) refused_input(tally_check_input(__VA_ARGS__))

// Finds no tokens where it has no memory to look.
static inline size_t refused_tokens(size_t count) {
  refused.caught = refused.caught || (count == 0 && refused.refused);
  return count;
}
#define tally_tokens(...) refused_tokens(tally_tokens(__VA_ARGS__))

// Has no text where there is no memory to unpack it.
static inline const char *refused_text(const char *text) {
  refused.caught = refused.caught || (text == NULL && refused.refused);
  return text;
}
#define tally_documentation(...) refused_text(tally_documentation(__VA_ARGS__))

// A report for which there is no memory says that alone.
static inline const tally_error_info *refused_error(
    const tally_error_info *error) {
  refused.caught =
      refused.caught || (refused.refused &&
                         strcmp(error->report, "memory error: no memory") == 0);
  return error;
}
#define tally_error(vm) refused_error(tally_error(vm))

// --- Assertions, which a caught refusal may make untrue ----------------------

static inline void refused_expects(bool holds) {
  if (!holds && refused.on && refused.refused && refused.caught &&
      refused.depth == 0 && !refused.ended)
    refused_end(NULL);
}

static inline void refused_int_equal(uintmax_t a, uintmax_t b, const char *file,
                                     int line) {
  refused_expects(a == b);
  _assert_int_equal(a, b, file, line);
}

static inline void refused_string_equal(const char *a, const char *b,
                                        const char *file, int line) {
  refused_expects(strcmp(a, b) == 0);
  _assert_string_equal(a, b, file, line);
}

static inline void refused_true(bool holds, const char *text, const char *file,
                                int line) {
  refused_expects(holds);
  _assert_true(holds, text, file, line);
}

__attribute__((format(printf, 3, 4))) static inline void refused_fail(
    const char *file, int line, const char *format, ...) {
  refused_expects(false);
  va_list parts;
  va_start(parts, format);
  vprint_error(format, parts);
  va_end(parts);
  print_error("\n");
  _fail(file, line);
}

#undef assert_int_equal
#define assert_int_equal(a, b) \
  refused_int_equal((uintmax_t)(a), (uintmax_t)(b), __FILE__, __LINE__)
#undef assert_string_equal
#define assert_string_equal(a, b) refused_string_equal(a, b, __FILE__, __LINE__)
#undef assert_true
#define assert_true(c) refused_true((c) ? true : false, #c, __FILE__, __LINE__)
#undef assert_non_null
#undef assert_false
#define assert_non_null(p) \
  refused_true((p) != NULL ? true : false, #p, __FILE__, __LINE__)
#define assert_false(c) \
  refused_true((c) ? false : true, "!(" #c ")", __FILE__, __LINE__)
#undef fail_msg
#define fail_msg(...) refused_fail(__FILE__, __LINE__, __VA_ARGS__)

// Whether each instruction, or each access to memory, is looked at.
static inline bool refused_is_slow(void) {
#if defined(TALLY_AUDIT) || defined(__SANITIZE_ADDRESS__) || \
    defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

// How often, where a test does the same many times: [few] where it runs again.
static inline int refused_times(int many, int few) {
  return refused.on ? few : many;
}

// --- The runner -------------------------------------------------------------

// False where the body was left.
static inline bool refused_runs(void (*body)(void **), void **state) {
  if (setjmp(refused.end) != 0)
    return false;
  body(state);
  return true;
}

static inline void refused_rerun(void **state) {
  const refused_case *test = *state;
  bool refusing = true;
  // Too slow there; and a test that is left early leaves its own blocks, which
  // a sanitizer would call leaks.
  if (refused_is_slow())
    skip();
  for (uint64_t n = 1; refusing; n++) {
    void *own = NULL;
    memset(&refused, 0, sizeof refused);
    refused.on = true;
    if (test->set_up != NULL)
      assert_int_equal(test->set_up(&own), 0);
    refused.requests = 0;
    refused.fail_at = refused.first = n;
    if (refused_runs(test->body, &own))
      refused.fail_at = 0;
    refusing = refused.refused;
    if (test->tear_down != NULL)
      assert_int_equal(test->tear_down(&own), 0);
    assert_null(refused.blocks);
    refused.on = false;
  }
}

// Tells which allocation it was, where a test failed.
static inline int refused_tell(void **state) {
  (void)state;
  if (refused.on)
    print_error("with allocation %llu refused\n",
                (unsigned long long)refused.first);
  refused.on = false;
  return 0;
}

#define REFUSED_TEST(name, set_up, tear_down)                   \
  {                                                             \
#name " without memory", refused_rerun, NULL, refused_tell, \
        &(refused_case) {                                       \
      name, set_up, tear_down                                   \
    }                                                           \
  }
#define PLAIN_TEST(name) cmocka_unit_test(name), REFUSED_TEST(name, NULL, NULL)
#define ONCE_TEST(name, set_up, tear_down, why) \
  cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
