// Values of a host's own types: what the language does with them is asked of
// the type's hooks, and the object is released with its last owner.
//
// A type is a struct of hooks that may grow in later versions; a hook behind
// the end of the host's struct is missing (HOOK).
//
//   r.name      attribute     r[i]     index      r[i] = x   put
//   r + x       operate       r(x)     call       print      repr
//   for x in r  more, next
//   end         finish, release
//
// and whoever looks who holds what asks visit (handles.c).
//
// All but call may make and read values and do no more (tl_may_run); release
// may release handles alone.

#include <stdio.h>

#include "vm/api/api.h"
#include "vm/api/host.h"

// The object of a slot of that kind.
static tl_resource *resource_of(tl_slot s) {
  return s.pointer;
}

// The hook, or NULL where the host was compiled before there was one.
#define HOOK(type, name)                                               \
  ((type)->size >= offsetof(tally_resource, name) + sizeof(type)->name \
       ? (type)->name                                                  \
       : NULL)

// --- Life -------------------------------------------------------------------

// Resources that say what they hold are in a list of the VM's.
// Those without a visit hook stay out of it, and cost nothing when somebody
// looks who holds what.
static void enter_list(tl_vm *vm, tl_resource *resource) {
  if (HOOK(resource->type, visit) == NULL)
    return;
  resource->vm = vm;
  resource->older = vm->visiting;
  if (vm->visiting != NULL)
    vm->visiting->newer = resource;
  vm->visiting = resource;
}

// Both ends are found at once, so that an object's end takes no search however
// many there are.
static void leave_list(tl_resource *resource) {
  if (resource->vm == NULL)
    return;
  if (resource->older != NULL)
    resource->older->newer = resource->newer;
  if (resource->newer != NULL)
    resource->newer->older = resource->older;
  else
    resource->vm->visiting = resource->older;
}

// Finds or makes the count of a type on a device; NULL after tl_fail: memory,
// or as many as the type allows, on all devices together. A VM has few types,
// hence a list.
static tl_type_count *count_of(tl_vm *vm, const tally_resource *type,
                               size_t device) {
  size_t end = offsetof(tally_resource, limit) + sizeof type->limit;
  size_t alive = 0;
  tl_type_count *found = NULL;
  for (tl_type_count *c = vm->type_counts; c != NULL; c = c->next) {
    if (c->type != type)
      continue;
    alive += c->alive;
    if (c->device == device)
      found = c;
  }
  if (type->size >= end && type->limit != 0 && alive >= type->limit) {
    tl_fail(vm, TALLY_ERR_LIMIT, "%s: at most %zu at once", type->name,
            type->limit);
    return NULL;
  }
  if (found == NULL) {
    found = tl_alloc(vm, sizeof *found, "a type's count");
    if (found == NULL)
      return NULL;
    *found = (tl_type_count){
        .type = type, .device = device, .next = vm->type_counts};
    vm->type_counts = found;
  }
  return found;
}

// Behind the end of all values, for each resource refers to its count. What has
// no type is the VM's own.
void tl_resources_close(tl_vm *vm) {
  while (vm->type_counts->type != NULL) {
    tl_type_count *c = vm->type_counts;
    vm->type_counts = c->next;
    tl_free(vm, c, sizeof *c);
  }
}

// Which device the object's bytes are on. False after tl_fail (kind host).
// Before anything is counted, so that a wrong answer leaves nothing behind.
// Device 0 is always there.
static bool ask_device(tl_vm *vm, const tally_resource *type, void *object,
                       size_t *device) {
  *device =
      HOOK(type, device) == NULL ? 0 : type->device(type->context, object);
  return *device <= vm->options.device_count ||
         tl_fail(vm, TALLY_ERR_HOST, "%s: there is no device %zu", type->name,
                 *device);
}

// How for walks what has hooks for it, below.
static const tl_walked walked_by_host;

static bool has_steps(const tally_resource *type) {
  return HOOK(type, more) != NULL && HOOK(type, next) != NULL;
}

// The size is asked for once, and accounted as external memory, or as memory on
// a device, until the release. On failure release is not called: the object
// stays the host's.
tally_status tally_from_resource(tally_vm *vm, const tally_resource *type,
                                 void *object, tally_value *out) {
  TL_ENTER(vm);
  if (!tl_given(vm, type, "the type") ||
      !tl_given(vm, type->name, "the type's name") ||
      !tl_given(vm, out, "the place for the result") ||
      !tl_check_host_text(vm, type->name, strlen(type->name)))
    return tl_report(vm);
  size_t nbytes =
      HOOK(type, nbytes) == NULL ? 0 : type->nbytes(type->context, object);
  // The handle is reserved first: once the value is made nothing may fail any
  // more, since giving it up would release the object.
  tally_value handle;
  if (!tl_handle_reserve(vm, &handle))
    return tl_report(vm);
  tl_resource *resource = NULL;
  size_t device;
  tl_type_count *count =
      ask_device(vm, type, object, &device) ? count_of(vm, type, device) : NULL;
  if (count != NULL && tl_account_on(vm, count, object, nbytes)) {
    resource =
        tl_object_new(vm, TL_KIND_HANDLE, sizeof *resource, "a resource");
    if (resource == NULL)
      tl_unaccount_on(vm, count, object, nbytes);
  }
  if (resource == NULL) {
    tally_release(vm, handle);
    return tl_report(vm);
  }
  *resource = (tl_resource){.head = resource->head,
                            .type = type,
                            .object = object,
                            .nbytes = nbytes,
                            .walked = has_steps(type) ? &walked_by_host : NULL,
                            .counted = count};
  count->alive++;
  enter_list(vm, resource);
  tl_handle_fill(
      vm, handle,
      (tl_slot){.tag = TL_TAG_HANDLE | TL_OWNED, .pointer = resource});
  *out = handle;
  return TALLY_OK;
}

// The type's address says whether the value is of that type.
tally_status tally_to_resource(tally_vm *vm, tally_value v,
                               const tally_resource *type, void **object) {
  TL_ENTER(vm);
  tl_slot s;
  if (!tl_given(vm, type, "the type") ||
      !tl_given(vm, object, "the place for the object") ||
      !tl_handle_get(vm, v, &s))
    return tl_report(vm);
  if (!tl_is_resource(s) || resource_of(s)->type != type)
    return tl_report_wrong_type(vm, type->name, s);
  *object = resource_of(s)->object;
  return TALLY_OK;
}

// Of the library's own blocks the VM keeps no list: what is taken back is
// believed, so that freeing needs no search.
tally_status tally_account(tally_vm *vm, size_t device, const void *block,
                           size_t nbytes) {
  TL_ENTER(vm);
  bool ok = device <= vm->options.device_count ||
            tl_fail(vm, TALLY_ERR_HOST, "there is no device %zu", device);
  return ok && tl_account_on(vm, &vm->untyped[device], block, nbytes)
             ? TALLY_OK
             : tl_report(vm);
}

// Without tl_enter, which would refuse it to release hooks. More than there is
// would leave the device full for ever, and there is no status to refuse it by.
void tally_unaccount(tally_vm *vm, size_t device, const void *block,
                     size_t nbytes) {
  if (vm != NULL && device <= vm->options.device_count &&
      nbytes <= vm->untyped[device].nbytes)
    tl_unaccount_on(vm, &vm->untyped[device], block, nbytes);
}

// Tells the host that the end of an object failed; no script can be told, since
// it ends between two instructions. Without memory of its own, as the end may
// come where there is none.
// A text of the host's may be of any length and of any bytes: who reads it
// expects one line of UTF-8, whose last character is whole or left out.
static void report_failure(tl_vm *vm, const tally_resource *type,
                           const char *what) {
  char line[400];
  snprintf(line, sizeof line, "%s: %s", type->name, what);
  // What was cut ends with a whole character.
  size_t n = strlen(line);
  if (n == sizeof line - 1) {
    while (n > 0 && (line[n - 1] & 0xc0) == 0x80) n--;
    line[n - (n > 0 && (line[n - 1] & 0x80) != 0)] = 0;
  }
  tl_utf8_mend(line, strlen(line));
  for (char *c = line; (c = strpbrk(c, "\r\n")) != NULL;) *c = ' ';
  if (vm->options.report != NULL)
    vm->options.report(vm->options.context, line);
}

// What end_object gets: the VM to report to, and the hooks. The object is
// passed beside it, as to any release hook.
typedef struct ending {
  tl_vm *vm;
  const tally_resource *type;
} ending;

// In the form of a release hook, so that both hooks run under the same rules:
// they may release handles, and nothing else.
static void end_object(void *context, void *object) {
  const ending *e = context;
  const tally_resource *type = e->type;
  const char *failed =
      HOOK(type, finish) == NULL ? NULL : type->finish(type->context, object);
  if (failed != NULL)
    report_failure(e->vm, type, failed);
  if (type->release != NULL)
    type->release(type->context, object);
}

// The VM's own object goes first: the hooks may do as they like with the
// host's.
//
//  leave the list, take the bytes back, free the VM's object
//  finish(object)    may fail, and says how
//  release(object)   in any case
//
void tl_resource_free(tl_vm *vm, tl_resource *resource) {
  ending e = {vm, resource->type};
  void *object = resource->object;
  leave_list(resource);
  if (resource->counted != NULL) {
    resource->counted->alive--;
    tl_unaccount_on(vm, resource->counted, object, resource->nbytes);
  }
  tl_object_free(vm, &resource->head);
  tl_release_hook(vm, end_object, &e, object);
}

// --- What the language asks -------------------------------------------------

// What a hook is asked for.
typedef enum purpose {
  FOR_ATTRIBUTE,
  FOR_INDEX,
  FOR_PUT,
  FOR_CALL,
  FOR_OPERATE,
  FOR_MORE,
  FOR_NEXT,
  FOR_REPR
} purpose;

// A hook that is asked, and what it gets besides the arguments.
// On the stack of the call that asks: a hook keeps no pointer to it.
typedef struct asking {
  purpose what;
  const tally_resource *type;
  void *object;
  const char *text;  // the attribute's or the operator's name
  bool alone;        // put: nobody else has the object
  bool has_names;    // call: the last argument is a record of those by name
  size_t at;         // more, next: the step
  int more;          // what more found
} asking;

// Calls the type's hook, in the form that tl_hook_run calls. The last argument
// of put is the value; operate is asked with all operands, of which any may be
// the resource.
static tally_status run_hook(tl_vm *vm, void *context, size_t count,
                             const tally_value *args, tally_value *out) {
  asking *a = context;
  const tally_resource *t = a->type;
  switch (a->what) {
    case FOR_ATTRIBUTE:
      return t->attribute(vm, t->context, a->object, a->text, out);
    case FOR_INDEX:
      return t->index(vm, t->context, a->object, count, args, out);
    case FOR_PUT:
      return t->put(vm, t->context, a->object, a->alone, count - 1, args,
                    args[count - 1], out);
    case FOR_CALL:
      if (a->has_names)
        return t->call_named(vm, t->context, a->object, count - 1, args,
                             args[count - 1], out);
      return t->call(vm, t->context, a->object, count, args, out);
    case FOR_OPERATE:
      return t->operate(vm, t->context, a->text, count, args, out);
    case FOR_MORE:
      return t->more(vm, t->context, a->object, a->at, &a->more);
    case FOR_NEXT:
      return t->next(vm, t->context, a->object, a->at, out);
    default:
      return t->repr(vm, t->context, a->object, out);
  }
}

// Asks with [count] arguments. All but call may only make and read values.
// [declined] as tl_hook_run has it.
static bool ask(tl_vm *vm, asking *a, uint32_t count, tl_slot *args,
                tl_slot *out, bool *declined) {
  tl_hook_call call = {
      .name = a->type->name,
      .access = a->what == FOR_CALL ? TL_ACCESS_ALL : TL_ACCESS_VALUES,
      .count = count,
      .args = args};
  return tl_hook_run(vm, &call, run_hook, a, out, declined);
}

// The hooks and the object of a value.
static asking asking_of(tl_slot s, purpose what) {
  return (asking){.what = what,
                  .type = resource_of(s)->type,
                  .object = resource_of(s)->object,
                  .text = ""};
}

// A step of a loop over a resource whose type has hooks for it.
static bool has_more(tl_vm *vm, const tl_resource *resource, int64_t at,
                     bool *more) {
  asking a = {FOR_MORE, resource->type, resource->object, .at = (size_t)at};
  tl_slot nothing;
  bool ok = ask(vm, &a, 0, NULL, &nothing, NULL);
  *more = a.more != 0;
  return ok;
}

static bool give_next(tl_vm *vm, const tl_resource *resource, int64_t at,
                      tl_slot *out) {
  asking a = {FOR_NEXT, resource->type, resource->object, .at = (size_t)at};
  return ask(vm, &a, 0, NULL, out, NULL);
}

static const tl_walked walked_by_host = {has_more, give_next};

// The error of a field that the type does not have.
static bool fail_attribute(tl_vm *vm, tl_slot base, const tl_string *name) {
  return tl_fail(vm, TALLY_ERR_NAME, "%s has no field %s",
                 resource_of(base)->type->name, name->text);
}

// A hook that leaves the result untouched has no such field.
bool tl_resource_attribute(tl_vm *vm, tl_slot base, const tl_string *name,
                           tl_slot *out) {
  asking a = asking_of(base, FOR_ATTRIBUTE);
  a.text = name->text;
  if (HOOK(a.type, attribute) == NULL)
    return fail_attribute(vm, base, name);
  bool declined = false;
  return ask(vm, &a, 0, NULL, out, &declined) &&
         (!declined || fail_attribute(vm, base, name));
}

// Fails (kind type) for a type without the hook. What the hook leaves untouched
// is none.
bool tl_resource_index(tl_vm *vm, tl_slot base, uint32_t count, tl_slot *parts,
                       tl_slot *out) {
  asking a = asking_of(base, FOR_INDEX);
  if (HOOK(a.type, index) == NULL)
    return tl_fail(vm, TALLY_ERR_TYPE, "%s cannot be indexed", a.type->name);
  return ask(vm, &a, count, parts, out, NULL);
}

// Fails (kind type) for a type without the hook. What the hook leaves untouched
// is the base, as it wrote into the object.
bool tl_resource_put(tl_vm *vm, tl_slot base, bool alone, uint32_t count,
                     tl_slot *parts, tl_slot *out) {
  asking a = asking_of(base, FOR_PUT);
  a.alone = alone;
  if (HOOK(a.type, put) == NULL)
    return tl_fail(vm, TALLY_ERR_TYPE, "%s has no items to set", a.type->name);
  bool same = false;
  if (!ask(vm, &a, count, parts, out, &same))
    return false;
  if (same)
    *out = tl_retain(vm, tl_borrow(base));
  return true;
}

// The only hook that may run code, as functions of the host may.
bool tl_resource_call(tl_vm *vm, tl_slot callee, bool has_names, uint32_t count,
                      tl_slot *args, tl_slot *out) {
  asking a = asking_of(callee, FOR_CALL);
  a.has_names = has_names;
  if (HOOK(a.type, call) == NULL)
    return tl_fail(vm, TALLY_ERR_TYPE, "a call needs a function: got %s",
                   a.type->name);
  if (has_names && HOOK(a.type, call_named) == NULL)
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "a call of %s takes arguments by position", a.type->name);
  return ask(vm, &a, count, args, out, NULL);
}

// The first operand of a type with the hook answers; if it declines, the next
// one is asked.
bool tl_resource_operate(tl_vm *vm, const char *sign, uint32_t arity,
                         tl_slot *operands, tl_slot *out, bool *known) {
  *known = false;
  for (uint32_t i = 0; i < arity; i++) {
    if (!tl_is_resource(operands[i]))
      continue;
    asking a = asking_of(operands[i], FOR_OPERATE);
    a.text = sign;
    if (HOOK(a.type, operate) == NULL)
      continue;
    bool declined = false;
    *known = true;
    bool ok = ask(vm, &a, arity, operands, out, &declined);
    if (!ok || !declined)
      return ok;
    *known = false;
  }
  return true;
}

// A type without the hook is shown as <name>.
tl_string *tl_resource_text(tl_vm *vm, tl_slot s) {
  asking a = asking_of(s, FOR_REPR);
  tl_slot out = tl_none();
  if (HOOK(a.type, repr) != NULL) {
    if (!ask(vm, &a, 0, NULL, &out, NULL))
      return NULL;
    if (tl_is_string(out))
      return tl_is_owned(out) ? out.string : tl_retain(vm, out).string;
    tl_drop(vm, out);
  }
  tl_text text;
  tl_text_open(&text, vm);
  tl_text_printf(&text, "<%s>", a.type->name);
  return tl_text_finish(&text);
}
