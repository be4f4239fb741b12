// What the native modules that `tally bind` writes are made of: arguments to C
// and results back, handles and what keeps them alive, errors that jump. It
// needs tally.h alone, and modules written by hand may use it, too.
//
//     argument ─ bind_integer, bind_float, bind_text, bind_items, bind_object
//     result   ─ bind_wrap (an object), bind_from_items, bind_from_text, …
//     release  ─ bind_end: the object, then what it lives in
//
// [what] is "module.function: parameter" everywhere, for messages. A function
// that can fail returns a status after tally_raise; nothing is left then.
#ifndef TALLY_BIND_H
#define TALLY_BIND_H

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tally.h"

// A module uses some of these functions, not all: each is static in its file,
// so that modules of different versions of this header do not meet.
#define BIND_UNUSED __attribute__((unused))

// An object of the library's. What was made from it, or lives in it, keeps it
// alive, and is counted: an object with children cannot be given away.
typedef struct bind_handle {
  void *object;  // NULL: it was given away
  // For the release hook, which is not given it.
  tally_vm *vm;
  int is_lent;  // the library releases it, not the script
  // Values that were made `within` this object or as a view of it. They keep
  // the handle alive by themselves; the count is what refuses to give it away.
  int children;
  // Calls under way that have it, and whether one of them gives it away: what
  // the call's callbacks or its other arguments may not end, or use.
  int calls, is_going;
  struct bind_handle *parent;
  tally_value owner;  // {0, 0}: nothing has to live as long
} bind_handle;

// What a handle's declaration says of its objects; the context of its hooks.
// What may be NULL: nbytes, the memory behind an object is not counted then;
// device, it is the process's; finish, nothing fails at the end.
typedef struct bind_type {
  void (*release)(void *object);
  size_t (*nbytes)(void *object);
  const char *(*device)(void *object);
  const char *(*finish)(void *object);  // what failed, or NULL
} bind_type;

// The end of a handle: first the object, then what it lives in.
// The release hook of every handle, so it may use the VM for tally_release
// only.
static BIND_UNUSED void bind_end(void *context, void *object) {
  const bind_type *type = context;
  bind_handle *h = object;
  if (h->object != NULL && !h->is_lent)
    type->release(h->object);
  if (h->parent != NULL)
    h->parent->children--;
  tally_release(h->vm, h->owner);
  free(h);
}

// What memory.refs, chain and the like see of a handle: what it lives in.
static BIND_UNUSED void bind_visit(void *context, void *object, tally_see *see,
                                   void *to) {
  const bind_handle *h = object;
  (void)context;
  if (h->owner.handle != 0 || h->owner.check != 0)
    see(to, h->owner);
}

// Asked once, when the handle is made. What is lent is in the count of whoever
// owns it already, or in nobody's.
static BIND_UNUSED size_t bind_nbytes(void *context, void *object) {
  const bind_type *type = context;
  bind_handle *h = object;
  return sizeof *h +
         (type->nbytes == NULL || h->is_lent ? 0 : type->nbytes(h->object));
}

// What is still to be done before the end, and may fail. What was given away or
// is lent has no end here.
static BIND_UNUSED const char *bind_finish(void *context, void *object) {
  const bind_type *type = context;
  bind_handle *h = object;
  return type->finish == NULL || h->object == NULL || h->is_lent
             ? NULL
             : type->finish(h->object);
}

// Where the bytes count: on the host's device of that name; where it has none,
// as the process's, so that they are under a limit in any case. "cpu" is the
// process, without a look: asking for a device that is not there takes longer
// than all else.
static BIND_UNUSED size_t bind_device(void *context, void *object) {
  const bind_type *type = context;
  bind_handle *h = object;
  tally_device_stats d;
  const char *name = type->device == NULL ? NULL : type->device(h->object);
  if (name == NULL || strcmp(name, "cpu") == 0)
    return 0;
  size_t i = 1;
  while (i <= TALLY_MAX_DEVICES && tally_get_device(h->vm, i, &d) == TALLY_OK) {
    if (strcmp(d.name, name) == 0)
      return i;
    i++;
  }
  return 0;
}

// Makes a value of an object; NULL is none. [owner] lives as long, and [parent]
// counts it; {0, 0} and NULL: it depends on nothing. On failure (kind memory)
// the object is still the caller's, and nothing was retained or counted.
//
//   fresh            is_lent 0, no owner
//   fresh within k   is_lent 0, parent and owner are those of k
//   view of k        is_lent 1, parent and owner are those of k
//   borrow           is_lent 1, no owner
static BIND_UNUSED tally_status bind_wrap(tally_vm *vm,
                                          const tally_resource *type,
                                          const void *object, int is_lent,
                                          bind_handle *parent,
                                          tally_value owner, tally_value *out) {
  if (object == NULL)
    return tally_from_none(vm, out);
  bind_handle *h = malloc(sizeof *h);
  if (h == NULL)
    return tally_raise(vm, TALLY_ERR_MEMORY, "no memory for a handle");
  *h = (bind_handle){
      .object = (void *)(uintptr_t)object, .vm = vm, .is_lent = is_lent};
  tally_status status = tally_from_resource(vm, type, h, out);
  if (status != TALLY_OK) {
    free(h);
    return status;
  }
  if (owner.handle != 0 || owner.check != 0)
    h->owner = tally_retain(vm, owner);
  h->parent = parent;
  if (parent != NULL)
    parent->children++;
  return TALLY_OK;
}

// The object of an argument; *out returns borrowed, valid as long as [v].
//
//   TALLY_ERR_TYPE   a value of another type
//   TALLY_ERR_VALUE  its object was given away, by an earlier call
static BIND_UNUSED tally_status bind_object(tally_vm *vm, const char *what,
                                            tally_value v,
                                            const tally_resource *type,
                                            bind_handle **out) {
  void *object;
  if (tally_to_resource(vm, v, type, &object) != TALLY_OK) {
    return tally_raise(vm, TALLY_ERR_TYPE, "%s must be %s, not %s", what,
                       type->name, tally_type(vm, v));
  }
  *out = object;
  if ((*out)->object != NULL)
    return TALLY_OK;
  return tally_raise(vm, TALLY_ERR_VALUE, "%s was given away already", what);
}

// The same for the length of a call, which ends with bind_unused; *out is NULL
// on failure. Kind value, too, where the call gives the same object away.
static BIND_UNUSED tally_status bind_borrowed(tally_vm *vm, const char *what,
                                              tally_value v,
                                              const tally_resource *type,
                                              bind_handle **out) {
  bind_handle *h = NULL;
  tally_status status = bind_object(vm, what, v, type, &h);
  *out = NULL;
  if (status != TALLY_OK)
    return status;
  if (h->is_going) {
    return tally_raise(vm, TALLY_ERR_VALUE, "%s is given away by the same call",
                       what);
  }
  h->calls++;
  *out = h;
  return TALLY_OK;
}

// The end of a call that had the handle; NULL is ignored.
static BIND_UNUSED void bind_unused(bind_handle *h) {
  if (h != NULL && --h->calls == 0)
    h->is_going = 0;
}

// The same for one that is given away. The caller sets (*out)->object to NULL
// once the library has it. Kind value, too, for what is lent, has children, or
// is an argument of a call under way.
static BIND_UNUSED tally_status bind_given(tally_vm *vm, const char *what,
                                           tally_value v,
                                           const tally_resource *type,
                                           bind_handle **out) {
  tally_status status = bind_borrowed(vm, what, v, type, out);
  if (status != TALLY_OK)
    return status;
  bind_handle *h = *out;
  if (!h->is_lent && h->calls == 1 && h->children == 0) {
    h->is_going = 1;
    return TALLY_OK;
  }
  bind_unused(h);
  *out = NULL;
  if (h->is_lent) {
    return tally_raise(vm, TALLY_ERR_VALUE,
                       "%s belongs to the library and cannot be given away",
                       what);
  }
  if (h->calls > 0) {
    return tally_raise(vm, TALLY_ERR_VALUE,
                       "%s is still in use by a call under way", what);
  }
  return tally_raise(vm, TALLY_ERR_VALUE,
                     "%s is still in use by %d value%s made from it", what,
                     h->children, h->children == 1 ? "" : "s");
}

// Whether the script has passed none, for parameters whose type has a ?.
static BIND_UNUSED int bind_is_none(tally_vm *vm, tally_value v) {
  return strcmp(tally_type(vm, v), "none") == 0;
}

// A string as C reads it: *out returns borrowed, valid as long as the argument.
//
//   TALLY_ERR_TYPE   it is no string
//   TALLY_ERR_VALUE  it has a NUL inside, behind which C would see nothing
static BIND_UNUSED tally_status bind_text(tally_vm *vm, const char *what,
                                          tally_value v, const char **out) {
  size_t nbytes;
  if (tally_to_string(vm, v, out, &nbytes) != TALLY_OK) {
    return tally_raise(vm, TALLY_ERR_TYPE, "%s must be a string, not %s", what,
                       tally_type(vm, v));
  }
  if (strlen(*out) == nbytes)
    return TALLY_OK;
  return tally_raise(vm, TALLY_ERR_VALUE, "%s has a character of code 0", what);
}

// A copy of a text of C's; NULL is none. The library's text is still its own,
// also where it was fresh: the glue frees it after this.
static BIND_UNUSED tally_status bind_from_text(tally_vm *vm, const char *text,
                                               tally_value *out) {
  return text == NULL ? tally_from_none(vm, out)
                      : tally_from_string(vm, text, strlen(text), out);
}

// An integer, or a bool as 0 or 1, from [low] to [high], both included. A high
// above INT64_MAX (of size_t) is never reached: scripts have no such integers.
//
//   bind_integer(vm, "m.f: n", v, INT_MIN, INT_MAX, &i)
//   bind_integer(vm, "m.f: n", v, 0, SIZE_MAX, &i)
//
//   TALLY_ERR_TYPE   no integer; 2.0 is none
//   TALLY_ERR_VALUE  out of range; *out is written all the same
static BIND_UNUSED tally_status bind_integer(tally_vm *vm, const char *what,
                                             tally_value v, int64_t low,
                                             uint64_t high, int64_t *out) {
  int truth;
  if (tally_to_int(vm, v, out) != TALLY_OK) {
    if (tally_to_bool(vm, v, &truth) != TALLY_OK) {
      return tally_raise(vm, TALLY_ERR_TYPE, "%s must be an integer, not %s",
                         what, tally_type(vm, v));
    }
    *out = truth;
  }
  // Where [low] is negative the type is signed, and so is [high].
  if (*out >= low && (low < 0    ? *out <= (int64_t)high
                      : *out < 0 ? 0
                                 : (uint64_t)*out <= high))
    return TALLY_OK;
  if (low < 0) {
    return tally_raise(vm, TALLY_ERR_VALUE,
                       "%s must be from %lld to %lld, not %lld", what,
                       (long long)low, (long long)high, (long long)*out);
  }
  return tally_raise(vm, TALLY_ERR_VALUE,
                     "%s must be from %lld to %llu, not %lld", what,
                     (long long)low, (unsigned long long)high, (long long)*out);
}

// A number as a double; kind type for anything else. A float parameter gets it
// rounded, and infinite where it is too large.
static BIND_UNUSED tally_status bind_float(tally_vm *vm, const char *what,
                                           tally_value v, double *out) {
  if (tally_to_float(vm, v, out) == TALLY_OK)
    return TALLY_OK;
  return tally_raise(vm, TALLY_ERR_TYPE, "%s must be a number, not %s", what,
                     tally_type(vm, v));
}

// A result of an unsigned type; kind value above INT64_MAX, which no integer of
// a script reaches.
static BIND_UNUSED tally_status bind_from_unsigned(tally_vm *vm, uint64_t i,
                                                   tally_value *out) {
  if (i <= INT64_MAX)
    return tally_from_int(vm, (int64_t)i, out);
  return tally_raise(vm, TALLY_ERR_VALUE, "the result %llu does not fit int64",
                     (unsigned long long)i);
}

// An array argument as the library reads it: dense, of its dtype.
typedef struct bind_array {
  tally_array of;
  tally_value made;  // what had to be converted; {0, 0}: nothing
  int64_t shape[4];  // as the script has it; what is more than four is not here
  int ndim;
} bind_array;

// An order of dtypes by their first letter: an array may become one of its own
// kind or a later one, and nothing becomes complex for a library.
//
//   0 bool ─▶ 1 int8 … uint64 ─▶ 2 float32, float64      3 all else
//
// Within a kind, integers are checked (bind_range); floats are rounded.
static BIND_UNUSED int bind_kind(const char *dtype) {
  return *dtype == 'b'                    ? 0
         : *dtype == 'i' || *dtype == 'u' ? 1
         : *dtype == 'f'                  ? 2
                                          : 3;
}

// Whether the items lie in row-major order without gaps. The stride of an axis
// of one item is never used, so it may be anything.
static BIND_UNUSED int bind_is_dense(const tally_array *a, int64_t itemsize) {
  for (int i = a->ndim - 1; i >= 0; i--) {
    if (a->shape[i] != 1 && a->strides[i] != itemsize)
      return 0;
    itemsize *= a->shape[i];
  }
  return 1;
}

// Whether integers fit the narrower dtype.
static BIND_UNUSED tally_status bind_range(tally_vm *vm, const char *what,
                                           tally_value v, int64_t low,
                                           uint64_t high) {
  // The ends decide for all items between them.
  static const char *const ends[] = {".min", ".max"};
  tally_value end;
  int64_t i;
  for (int k = 0; k < 2; k++) {
    tally_status status = tally_call(vm, ends[k], 1, &v, &end);
    if (status == TALLY_OK) {
      status = bind_integer(vm, what, end, low, high, &i);
      tally_release(vm, end);
    }
    if (status != TALLY_OK)
      return status;
  }
  return TALLY_OK;
}

// Replaces what was made by what a function of the library makes of it. [dtype]
// is a second argument of it, NULL: there is none.
static BIND_UNUSED tally_status bind_convert(tally_vm *vm, const char *function,
                                             const char *dtype, tally_value v,
                                             bind_array *out) {
  int first = out->made.handle == 0 && out->made.check == 0;
  tally_value args[2] = {first ? v : out->made, {0, 0}}, made = {0, 0};
  tally_status status = TALLY_OK;
  char type[32];
  if (dtype != NULL) {
    snprintf(type, sizeof type, "`%s`", dtype);
    status = tally_eval(vm, type, &args[1]);
  }
  if (status == TALLY_OK)
    status = tally_call(vm, function, dtype == NULL ? 1 : 2, args, &made);
  tally_release(vm, args[1]);
  if (status != TALLY_OK)
    return status;
  tally_release(vm, out->made);
  out->made = made;
  return tally_to_buffer(vm, made, &out->of);
}

// An array argument in the form that C reads: row-major, dense, of [dtype].
// Most arrays are that already, and C reads the script's own memory.
//
//   float64[4]                         of.data is the array's
//   int64[4] for float64               astype, then of.data is made's
//   x[::2], x.T                        flatten, after astype if both
//
// out->made is to be released after the call, also on failure; what goes on
// reading the data has to keep it, or the argument where nothing was made. low
// and high are those of an integer dtype.
//
//   TALLY_ERR_TYPE   no array of numbers, or of a later kind (bind_kind)
//   TALLY_ERR_VALUE  an integer that the narrower dtype does not hold
static BIND_UNUSED tally_status bind_items(tally_vm *vm, const char *what,
                                           tally_value v, const char *dtype,
                                           size_t itemsize, int64_t low,
                                           uint64_t high, bind_array *out) {
  if (tally_to_buffer(vm, v, &out->of) != TALLY_OK ||
      strchr(out->of.dtype, ' ') != NULL ||
      strcmp(out->of.dtype, "string") == 0 ||
      bind_kind(out->of.dtype) > bind_kind(dtype)) {
    return tally_raise(vm, TALLY_ERR_TYPE, "%s must be an array of %s, not %s",
                       what, dtype, tally_type(vm, v));
  }
  tally_status status = TALLY_OK;
  out->ndim = out->of.ndim;
  for (int i = 0; i < out->ndim && i < 4; i++) out->shape[i] = out->of.shape[i];
  if (strcmp(out->of.dtype, dtype) != 0) {
    if (bind_kind(dtype) == 1 && out->of.size > 0)
      status = bind_range(vm, what, v, low, high);
    if (status == TALLY_OK)
      status = bind_convert(vm, ".astype", dtype, v, out);
  }
  if (status == TALLY_OK && !bind_is_dense(&out->of, (int64_t)itemsize))
    status = bind_convert(vm, ".flatten", NULL, v, out);
  return status;
}

// Memory that the library fills, of this shape, zeroed; at least a byte, so
// that C never gets NULL. *out returns owned, by free; [what] names it in
// messages.
//
//   TALLY_ERR_VALUE   a size below 0, or bytes beyond size_t
//   TALLY_ERR_MEMORY  the system has no more
static BIND_UNUSED tally_status bind_allocate(tally_vm *vm, const char *what,
                                              int ndim, const int64_t *shape,
                                              size_t itemsize, void **out) {
  size_t nbytes = itemsize;
  for (int i = 0; i < ndim; i++) {
    if (shape[i] < 0 ||
        __builtin_mul_overflow(nbytes, (size_t)shape[i], &nbytes)) {
      return tally_raise(vm, TALLY_ERR_VALUE, "%s cannot have %lld items", what,
                         (long long)shape[i]);
    }
  }
  *out = calloc(nbytes > 0 ? nbytes : 1, 1);
  return *out != NULL
             ? TALLY_OK
             : tally_raise(vm, TALLY_ERR_MEMORY, "no memory for %s: %zu bytes",
                           what, nbytes);
}

// What has to live as long as an array over the library's memory.
typedef struct bind_view {
  tally_vm *vm;
  bind_handle *parent;
  tally_value owner;
  void (*release)(void *data);
} bind_view;

// The hook of an array's buffer: the memory first, as the owner may be what
// frees the allocator that it came from.
static BIND_UNUSED void bind_view_end(void *context, void *data) {
  bind_view *view = context;
  if (view->release != NULL)
    view->release(data);
  if (view->parent != NULL)
    view->parent->children--;
  tally_release(view->vm, view->owner);
  free(view);
}

// An array over memory of the library's: with [release] the script's from now
// on, else lent as long as [owner] lives. On failure it is still the caller's.
//
//   shape   [ndim] sizes, at least one axis; dense, row-major
//   NULL    as [data] is none
//   lent    is read-only: an operation that would reuse its memory copies it
//
// Errors are those of tally_from_buffer.
static BIND_UNUSED tally_status
bind_from_items(tally_vm *vm, void *data, const char *dtype, size_t itemsize,
                int ndim, const int64_t *shape, void (*release)(void *),
                bind_handle *parent, tally_value owner, tally_value *out) {
  char type[TALLY_MAX_DIMS * 24 + 32];
  size_t n = 0, nbytes = itemsize;
  // Also where no items were wanted: an empty result may be NULL in C.
  if (data == NULL)
    return tally_from_none(vm, out);
  for (int i = 0; i < ndim; i++) {
    n += (size_t)snprintf(type + n, sizeof type - n, "%lld * ",
                          (long long)shape[i]);
    nbytes *= (size_t)shape[i];
  }
  snprintf(type + n, sizeof type - n, "%s", dtype);
  bind_view *view = malloc(sizeof *view);
  if (view == NULL)
    return tally_raise(vm, TALLY_ERR_MEMORY, "no memory for an array");
  // The owner is retained last, when nothing can fail any more.
  *view = (bind_view){vm, parent, {0, 0}, release};
  tally_buffer buffer = {.size = sizeof buffer,
                         .data = data,
                         .type = type,
                         .nbytes = nbytes,
                         .read_only = release == NULL,
                         .release = bind_view_end,
                         .context = view};
  tally_status status = tally_from_buffer(vm, &buffer, out);
  if (status != TALLY_OK) {
    free(view);
    return status;
  }
  if (owner.handle != 0 || owner.check != 0)
    view->owner = tally_retain(vm, owner);
  if (parent != NULL)
    parent->children++;
  return TALLY_OK;
}

// A copy of items that a callback sees for the time of its call.
// [data] borrowed. The script may keep the array: it owns the copy.
static BIND_UNUSED tally_status bind_copy_items(tally_vm *vm, const void *data,
                                                const char *dtype,
                                                size_t itemsize, int ndim,
                                                const int64_t *shape,
                                                tally_value *out) {
  void *copy;
  size_t nbytes = itemsize;
  tally_status status =
      bind_allocate(vm, "a callback's array", ndim, shape, itemsize, &copy);
  if (status != TALLY_OK)
    return status;
  for (int i = 0; i < ndim; i++) nbytes *= (size_t)shape[i];
  if (nbytes > 0)
    memcpy(copy, data, nbytes);
  status = bind_from_items(vm, copy, dtype, itemsize, ndim, shape, free, NULL,
                           (tally_value){0, 0}, out);
  if (status != TALLY_OK)
    free(copy);
  return status;
}

// A function of the script's that the library calls. After an error it is not
// called again, and the error is that of the whole call.
typedef struct bind_call {
  tally_vm *vm;
  // Borrowed for the time of the call, as its argument is.
  tally_value function;
  tally_status status;
} bind_call;

// --- Errors that jump -------------------------------------------------------

// Where bind_throw goes: set by a call that was declared to jump, for its time,
// and put back by it, so calls may lie within each other. An adapter that has
// to clean up sets its own, and jumps on to the one before:
//
//   jmp_buf here, *before = bind_jump;
//   bind_jump = &here;
//   if (setjmp(here) != 0) {
//     bind_jump = before;
//     free_what_is_half_made();
//     longjmp(*before, 1);
//   }
//   …
//   bind_jump = before;
//
// A thread has its own, as libraries call their handlers where they fail.
static BIND_UNUSED _Thread_local jmp_buf *bind_jump;
static BIND_UNUSED _Thread_local char bind_thrown[512];

// Ends the running call with this message, cut at 511 bytes, as its error. For
// the library's error handler; what lies between is not released. Never call it
// from a callback's own frames: those of the VM would be jumped over.
static BIND_UNUSED _Noreturn void bind_throw(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(bind_thrown, sizeof bind_thrown, format, list);
  va_end(list);
  if (bind_jump == NULL) {  // outside a call that was declared to jump
    fprintf(stderr, "%s\n", bind_thrown);
    abort();
  }
  longjmp(*bind_jump, 1);
}

#endif
