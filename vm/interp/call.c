// Calls of whatever can be called, from bytecode and from C.
//
//     tl_call          C code calls a value: arguments are copied to a window
//     tl_do_call       the instruction CALL: window is there already
//         │
//       call_any ──── by what the callee is:
//         ├ enter           script function: bind arguments, push a frame
//         ├ call_library    built-in: bind, then run_builtin
//         └ call_nameless   a type, float32(x), or a host's value
//
// Binding puts arguments by position, by name or spread from a container into
// one slot for each parameter, and fills in defaults. run_builtin is also the
// end of CALLB, whose arguments the compiler has bound.

#include "vm/nested/parts.h"
#include "vm/nested/ragged.h"
#include "vm/nested/indexed.h"
#include "vm/host.h"
#include "vm/interp/handlers.h"
#include "vm/interp/interp.h"
#include "vm/nested/lift.h"
#include "vm/values/list.h"
#include "vm/nested/raw_bytes.h"
#include "vm/memory/mapping.h"
#include "vm/memory/reserve.h"
#include "vm/poll.h"
#include "vm/events.h"
#include "vm/values/record.h"
#include "vm/bytecode/slots.h"
#include "vm/suggest.h"

// How deep calls from C into scripts may nest: each takes C stack, which cannot
// be measured in a portable manner.
enum { NATIVE_DEPTH_MAX = 64 };

// Pushes a frame for [function], for which there is room, whose slots begin at
// [base], where its arguments already are; [closure] is NULL for a function
// without captures, [flags] are TL_FRAME_*. The audit build clears the slots,
// since it recounts all of them.
static void push_frame(tl_vm *vm, tl_prototype *function, tl_closure *closure,
                       tl_slot *base, uint32_t flags) {
  tl_frame *frame = ++vm->frame;
  // The caller's pc was saved before; this is where the new frame begins.
  *frame = (tl_frame){.pc = function->code,
                      .base = base,
                      .function = function,
                      .closure = closure,
                      .flags = flags};
#ifdef TALLY_AUDIT
  for (uint32_t i = function->param_count; i < function->slot_count; i++)
    base[i] = tl_unset();
#endif
}

// --- Binding ----------------------------------------------------------------

// The parameters of any callee in one form, so that binding is written once.
typedef struct params {
  const char *function;
  uint32_t count;
  // One of the two is set: a script function or a built-in.
  tl_prototype *script;
  const tl_builtin *builtin;
  tl_param builtin_params[TL_MAX_PARAMS];
  // Where arguments go whose name is no parameter's; NULL: they are an error.
  tl_record **named;
} params;

// The kind of parameter [i].
static tl_param_kind kind_of(const params *p, uint32_t i) {
  return p->script != NULL ? p->script->params[i].kind
                           : p->builtin_params[i].kind;
}

// The name of parameter [i], *nbytes long and not terminated.
static const char *name_of(const params *p, uint32_t i, uint32_t *nbytes) {
  if (p->script != NULL) {
    *nbytes = (uint32_t)p->script->params[i].name->length;
    return p->script->params[i].name->text;
  }
  *nbytes = p->builtin_params[i].name_length;
  return p->builtin_params[i].name;
}

// Finds the parameters of [function] for binding. Fails (kind type) where it is
// no function.
static bool describe(tl_vm *vm, tl_slot function, params *p) {
  // The array of parameters is not cleared: that would take longer than a call
  // of a script function does.
  p->function = "the function";
  p->count = 0;
  p->script = NULL;
  p->builtin = NULL;
  p->named = NULL;
  switch (tl_dtype_of(function)) {
    case TL_KIND_FUNCTION:
    case TL_KIND_CLOSURE:
      p->script = tl_function_prototype(function);
      p->count = p->script->param_count;
      if (p->script->name->length > 0)
        p->function = p->script->name->text;
      return true;
    case TL_KIND_BUILTIN:
      p->builtin = function.pointer;
      break;
    default:
      return tl_fail(vm, TALLY_ERR_TYPE, "a call needs a function: got %s",
                     tl_described(vm, function));
  }
  p->function = p->builtin->name;
  p->count = (uint32_t)tl_params_parse(p->builtin->params, p->builtin_params);
  return true;
}

// The index of the parameter of that name, -1 if there is none; a rest
// parameter cannot be named.
static int32_t find_param(const params *p, const tl_string *name) {
  for (uint32_t i = 0; i < p->count; i++) {
    uint32_t nbytes;
    const char *text = name_of(p, i, &nbytes);
    if (nbytes == name->length && memcmp(text, name->text, nbytes) == 0)
      return kind_of(p, i) == TL_PARAM_REST ? -1 : (int32_t)i;
  }
  return -1;
}

// The state of binding one call's arguments.
typedef struct binder {
  tl_vm *vm;
  const params *p;
  tl_slot *out;  // one for each parameter
  // The next parameter that takes an argument by position.
  uint32_t next;
  // Arguments by position so far.
  uint32_t given;
  // The index of the rest parameter, -1: none.
  int32_t rest;
} binder;

// The error for an argument too many: it lists what the function takes.
__attribute__((cold)) static bool fail_too_many(const binder *b) {
  tl_param left[TL_MAX_PARAMS];
  if (b->p->count > TL_MAX_PARAMS)
    return tl_fail(b->vm, TALLY_ERR_TYPE, "%s has %u parameters, and got more",
                   b->p->function, b->p->count);
  for (uint32_t i = 0; i < b->p->count; i++) {
    left[i].name = name_of(b->p, i, &left[i].name_length);
    left[i].kind = kind_of(b->p, i);
  }
  char names[TL_PARAMS_TEXT];
  tl_params_spell(left, (int)b->p->count, names);
  return tl_fail(b->vm, TALLY_ERR_TYPE, "%s takes %s, and got more",
                 b->p->function, names);
}

// Binds the next argument by position: to the next parameter without a value,
// or to the rest list. Takes what the slot owns.
static bool bind_position(binder *b, tl_slot *value) {
  b->given++;
  while (b->next < b->p->count && kind_of(b->p, b->next) < TL_PARAM_REST) {
    if (tl_is_unset(b->out[b->next])) {
      b->out[b->next++] = *value;
      value->tag &= ~TL_OWNED;
      return true;
    }
    b->next++;
  }
  if (b->rest >= 0)
    return tl_list_push(b->vm, &b->out[b->rest].list, value);
  return fail_too_many(b);
}

// Puts an argument by name among those that the callee itself looks for.
static bool collect_name(binder *b, const tl_string *name, tl_slot *value) {
  tl_record **named = b->p->named;
  if (*named == NULL && (*named = tl_record_new(b->vm, 4)) == NULL)
    return false;
  if (tl_record_get(*named, name) != NULL)
    return tl_fail(b->vm, TALLY_ERR_TYPE, "%s: %s is given twice",
                   b->p->function, name->text);
  return tl_record_set(b->vm, named, (tl_string *)name, value);
}

// Binds an argument by its name; an unknown name is an error that suggests a
// similar one.
static bool bind_name(binder *b, const tl_string *name, tl_slot *value) {
  if (b->p->named != NULL)
    return collect_name(b, name, value);
  int32_t i = find_param(b->p, name);
  if (i < 0) {
    tl_suggestion near;
    tl_suggest_begin(&near, name->text, name->length);
    for (uint32_t k = 0; k < b->p->count; k++) {
      uint32_t nbytes;
      const char *text = name_of(b->p, k, &nbytes);
      tl_suggest_offer(&near, text, nbytes);
    }
    char hint[80];
    return tl_fail(b->vm, TALLY_ERR_TYPE, "%s has no parameter %s%s",
                   b->p->function, name->text,
                   tl_suggest_text(&near, hint, sizeof hint));
  }
  if (!tl_is_unset(b->out[i]))
    return tl_fail(b->vm, TALLY_ERR_TYPE, "%s: %s is given twice",
                   b->p->function, name->text);
  b->out[i] = *value;
  value->tag &= ~TL_OWNED;
  return true;
}

// f(...list, ...record): items of a list bind by position, fields of a record
// by name. A list that ends here, with no other owner, gives its items away.
__attribute__((cold)) static bool bind_spread(binder *b, tl_slot *value) {
  bool take = tl_is_unique(*value);
  if (tl_is_list(*value)) {
    tl_list *list = value->list;
    for (int64_t i = 0; i < list->length; i++) {
      // The list ends here: its items move.
      tl_slot item = take ? list->items[i] : tl_borrow(list->items[i]);
      if (take)
        list->items[i] = tl_none();
      else
        item = tl_retain(b->vm, item);
      bool ok = bind_position(b, &item);
      tl_drop(b->vm, item);
      if (!ok)
        return false;
    }
    return true;
  }
  if (tl_is_record(*value)) {
    tl_record *record = value->record;
    if (!tl_record_check_names(b->vm, record, "... before named arguments"))
      return false;
    for (int64_t i = 0; i < record->length; i++) {
      tl_slot item = tl_retain(b->vm, record->fields[i].value);
      bool ok = bind_name(b, tl_key_string(record->fields[i].key), &item);
      tl_drop(b->vm, item);
      if (!ok)
        return false;
    }
    return true;
  }
  return tl_fail(b->vm, TALLY_ERR_TYPE,
                 "... spreads a list or a record: got %s",
                 tl_described(b->vm, *value));
}

// Binds all arguments in their order; without a shape all are by position.
static bool bind_all(binder *b, const tl_call_shape *shape, uint32_t count,
                     tl_slot *args) {
  for (uint32_t i = 0; i < count; i++) {
    int kind = shape == NULL ? 0 : shape->arguments[i].kind;
    bool ok = kind == 0   ? bind_position(b, &args[i])
              : kind == 1 ? bind_spread(b, &args[i])
                          : bind_name(b, shape->arguments[i].name, &args[i]);
    if (!ok)
      return false;
  }
  return true;
}

// Fills in what was not given: a default of a built-in's signature. Defaults of
// script functions are code at their beginning, which looks for unset slots.
static bool bind_defaults(binder *b) {
  for (uint32_t i = 0; i < b->p->count; i++) {
    if (!tl_is_unset(b->out[i]))
      continue;
    if (kind_of(b->p, i) == TL_PARAM_REQUIRED) {
      uint32_t nbytes;
      const char *name = name_of(b->p, i, &nbytes);
      return tl_fail(b->vm, TALLY_ERR_TYPE, "%s needs its argument %.*s",
                     b->p->function, (int)nbytes, name);
    }
    if (b->p->builtin != NULL)
      b->out[i] = b->p->builtin_params[i].value;
  }
  return true;
}

// Fills out with one slot for each parameter. What args own is taken,
// on failure too.
// f(1, ...xs, k: 2) for fn f(a, b = 0, ...rest, k: 0) and xs = (5, 6, 7):
//
//   out   a: 1 │ b: 5 │ rest: (6, 7) │ k: 2
//
// A slot that stays unset is a default, which code of the function fills in.
static bool bind(tl_vm *vm, const params *p, const tl_call_shape *shape,
                 uint32_t count, tl_slot *args, tl_slot *out) {
  binder b = {.vm = vm, .p = p, .out = out, .rest = -1};
  bool ok = true;
  for (uint32_t i = 0; i < p->count; i++) {
    out[i] = tl_unset();
    if (kind_of(p, i) != TL_PARAM_REST)
      continue;
    tl_list *list = tl_list_new(vm, 4);
    if (list == NULL) {
      ok = false;
      continue;
    }
    out[i] = tl_own_list(list);
    b.rest = (int32_t)i;
  }
  ok = ok && bind_all(&b, shape, count, args) && bind_defaults(&b);
  tl_drop_all(vm, args, count);
  if (ok)
    return true;
  for (uint32_t i = 0; i < p->count; i++) tl_drop(vm, out[i]);
  return false;
}

// --- Calling ----------------------------------------------------------------

// Replaces categorical arguments and pointers by their values for functions
// that do not know these forms.
static bool spell_out(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                      tl_slot *args) {
  bool category = false, grid = false;
  if (builtin->takes == TL_CONTAINERS &&
      (tl_is_list(args[0]) || tl_is_record(args[0])))
    return true;  // the others are stored
  for (uint32_t i = 0; i < count; i++) {
    category |= tl_is_spelled(args[i]);
    grid |= tl_is_form(args[i], TL_FORM_GRID);
  }
  if ((!category && !grid) || builtin->takes == TL_FORMS ||
      tl_builtin_moves(builtin))
    return true;
  // What is applied to items or rows is applied to those of a grid.
  grid = grid && (builtin->flags & TL_GRIDS) == 0 &&
         !(builtin->lifts > TL_OF_MASKS && tl_is_form(args[0], TL_FORM_GRID));
  return (!category || tl_spell_out(vm, count, args)) &&
         (!grid || tl_open_each(vm, tl_grid_as_vars, count, args));
}

// Whether an argument that has to come back unchanged on failure is only
// borrowed for the call, rather than handed over: the function may convert it,
// or an interrupt may stop the function while it writes into a large one.
static bool is_borrowed(const tl_builtin *builtin, tl_call_mode mode,
                        const tl_slot *args) {
  // Below a megabyte a function is done before anybody would interrupt it.
  enum { SMALL = 1 << 20 };
  tl_slot s = args[0];
  if (mode < TL_CALL_RESTORES)
    return false;
  if (builtin->restores == TL_ARRAYS && tl_is_number(s))
    return true;
  if (tl_is_list(s) || tl_is_record(s))
    return builtin->restores == TL_ARRAYS;
  if (tl_is_array(s))
    return mode == TL_CALL_FINISHES && s.array->head.nbytes > SMALL;
  return !tl_is_nested(s) || tl_is_spelled(s) || tl_is_form(s, TL_FORM_GRID) ||
         tl_is_raw_bytes(s) || tl_is_lifted(builtin, args);
}

// Whether lists among the arguments have to be looked through for bytes, which
// functions that take bytes get as strings (tl_raw_bytes_given). A list that
// comes first has none where its first item is no array.
static bool opens_lists(const tl_builtin *builtin, const tl_slot *args) {
  if ((builtin->takes < TL_BYTES && !tl_builtin_moves(builtin)) ||
      (builtin->takes == TL_CONTAINERS && !tl_is_array(args[0])))
    return false;
  if (!tl_is_list(args[0]))
    return true;
  const tl_list *list = args[0].list;
  return list->length > 0 &&
         (tl_is_array(list->items[0]) || tl_is_nested(list->items[0]));
}

// The call of a function that a host has, that needs a capability, or whose
// arguments it may not know as they are: those are converted, or it is applied
// item by item.
static bool call_indirectly(tl_vm *vm, const tl_builtin *builtin,
                            uint32_t count, tl_slot *args, tl_slot *out) {
  unsigned needs = builtin->flags & TALLY_MAY_ALL;
  if (!spell_out(vm, builtin, count, args) ||
      (needs != 0 && !tl_require(vm, needs, builtin->name)))
    return false;
  if (tl_builtin_is_host(builtin))
    return vm->host->call(vm, builtin, args, out);
  if (tl_raw_bytes_given(builtin, count, args))
    return tl_raw_bytes_call(vm, builtin, count, args, out);
  return tl_is_lifted(builtin, args) ? tl_lift(vm, builtin, count, args, out)
                                     : tl_builtin_run(vm, builtin, args, out);
}

// Makes a result that is an object independent, unless the caller knows that it
// may borrow from the first argument, which was [first] before the call.
static inline void own_result(tl_vm *vm, const tl_builtin *builtin,
                              tl_call_mode mode, tl_slot first,
                              const tl_slot *args, tl_slot *out) {
  bool lends = mode >= TL_CALL_BORROWS && tl_builtin_may_borrow(builtin);
  // What it owns, its items own, too.
  if (lends && builtin->result == TL_LISTS)
    return;
  // Not if that was converted meanwhile, since a conversion ends with the call.
  if (!lends || tl_is_owned(first) || tl_is_owned(args[0]))
    tl_own_result(vm, builtin, out);
}

// Whether the function gets its arguments as they are, because all of them are
// plain. For the counters alone *dying says which arguments end here as arrays
// with no other owner.
static inline bool is_direct(const tl_builtin *builtin, uint32_t count,
                             const tl_slot *args, uint32_t *dying) {
  // What the checks below need is in the tags; most calls are of numbers and
  // lists alone.
  uint64_t tags = 0;
  bool nested = false;
  for (uint32_t i = 0; i < count; i++) {
    const tl_slot s = args[i];
    tags |= s.tag;
    if ((s.tag & (TL_CLASS_ARRAY | TL_CLASS_OBJ)) == 0)
      continue;
    nested |= tl_is_nested(s);
    if ((s.tag & TL_OWNED) != 0 && tl_is_array(s))
      *dying |= (uint32_t)tl_is_unique(s) << i;
  }
  return !nested && !tl_builtin_is_host(builtin) &&
         (builtin->flags & TALLY_MAY_ALL) == 0 &&
         ((tags & TL_CLASS_LIST) == 0 || !opens_lists(builtin, args)) &&
         !tl_is_lifted(builtin, args);
}

// Drops arguments from [first] on; those in the set [dying] are counted.
static inline void drop_arguments(tl_vm *vm, uint32_t first, uint32_t count,
                                  const tl_slot *args, uint32_t dying) {
  for (uint32_t i = first; i < count; i++) {
    if (!tl_is_owned(args[i]))
      continue;
    vm->stats.temps_ended += dying >> i & 1;
    tl_drop(vm, args[i]);
  }
}

// Runs a built-in on bound arguments and drops them afterwards; where [mode]
// says so the first one stays in its slot if it fails. After a failure its
// result, if it came that far, has been dropped. [simple]: is_simple says yes,
// what is not needed is left out, and [dying] is what it found. [held]: the
// caller has an in-place contract, which the result must not break by being a
// new array.
static inline __attribute__((always_inline)) bool call_bound(
    tl_vm *vm, const tl_builtin *builtin, tl_call_mode mode, bool simple,
    uint32_t dying, bool held, uint32_t count, tl_slot *args, tl_slot *out) {
  const bool restores = mode >= TL_CALL_RESTORES, was_keeping = vm->keeping;
  const bool was_finishing = vm->finishing;
  const tl_slot own = count > 0 ? args[0] : tl_none();
  bool borrowed = restores && !simple && is_borrowed(builtin, mode, args);
  if (borrowed)
    args[0] = tl_borrow(own);
  const tl_slot first = borrowed ? args[0] : own;
  if (!simple && mode == TL_CALL_FINISHES && tl_is_array(first) && !borrowed)
    vm->finishing = true;
  // The function learns from this that its first argument has to come back.
  vm->keeping = restores;
  bool direct = simple || is_direct(builtin, count, args, &dying);
  // A mapped file may have become shorter, so what was read from it is zeros:
  // the error has to come before the function shows or stores anything.
  bool ok = (simple || vm->interrupted == 0 || tl_poll(vm, 0)) &&
            (direct ? tl_builtin_run(vm, builtin, args, out)
                    : call_indirectly(vm, builtin, count, args, out));
  vm->keeping = was_keeping;
  if (!simple)
    vm->finishing = was_finishing;
  if (ok && tl_is_heap(*out))
    own_result(vm, builtin, mode, first, args, out);
  ok = ok && (!held || vm->observer->contract_returns(vm, builtin->name, *out));
  // An interrupt during a long call takes effect now, not at the next poll.
  if (ok && vm->interrupted != 0 && !restores && !tl_poll(vm, 0)) {
    tl_drop(vm, *out);
    ok = false;
  }
  drop_arguments(vm, !ok && restores && !borrowed, count, args, ok ? dying : 0);
  if (borrowed && ok)
    tl_drop(vm, own);
  else if (borrowed)
    args[0] = own;
  if (!ok)
    *out = tl_none();
  return ok;
}

// The general case, with all checks.
static bool run_builtin(tl_vm *vm, const tl_builtin *builtin, tl_call_mode mode,
                        bool held, uint32_t count, tl_slot *args,
                        tl_slot *out) {
  return call_bound(vm, builtin, mode, false, 0, held, count, args, out);
}

// Whether a call needs little of what call_bound does besides calling the
// function, whose arguments are plain: no contract tells them from the result,
// and what is to come back on failure stays in its slot. *dying: see is_direct.
static inline bool is_simple(const tl_vm *vm, const tl_builtin *builtin,
                             tl_call_mode mode, uint32_t count,
                             const tl_slot *args, uint32_t *dying) {
  return is_direct(builtin, count, args, dying) && !tl_has_contracts(vm) &&
         vm->interrupted == 0 &&
         (mode < TL_CALL_RESTORES ||
          (!(mode == TL_CALL_FINISHES && tl_is_array(args[0])) &&
           !is_borrowed(builtin, mode, args)));
}

// Whether all arguments are numbers and strings, which any function of the
// library takes as they are, with nothing to give back to the caller.
static inline bool is_plain(const tl_vm *vm, const tl_builtin *builtin,
                            uint32_t count, const tl_slot *args) {
  for (uint32_t i = 0; i < count; i++)
    if (tl_is_heap(args[i]) && !tl_is_string(args[i]))
      return false;
  return !tl_builtin_is_host(builtin) && !tl_has_contracts(vm) &&
         vm->interrupted == 0 && (builtin->flags & TALLY_MAY_ALL) == 0;
}

// The arguments are gone after a failure; tl_error_of_builtin only compares
// their addresses with the one that the message speaks of.
bool tl_do_builtin(tl_vm *vm, const tl_builtin *builtin, tl_call_mode mode,
                   uint32_t count, tl_slot *args, tl_slot *out) {
  // One test of a flag where no code has in-place contracts.
  uint32_t dying = 0;
  bool simple =
      (mode < TL_CALL_RESTORES && is_plain(vm, builtin, count, args)) ||
      is_simple(vm, builtin, mode, count, args, &dying);
  bool held =
      vm->has_contracts && vm->observer->contract_holds(vm, count, args);
  if (simple
          ? call_bound(vm, builtin, mode, true, dying, false, count, args, out)
          : run_builtin(vm, builtin, mode, held, count, args, out))
    return true;
  tl_error_of_builtin(vm, builtin, args);
  return false;
}

// Code with in-place contracts is left to the general way, which asks them.
const tl_ins *tl_call_at_once(tl_vm *vm, const tl_builtin *builtin,
                              tl_slot *base, const tl_ins *ins) {
  tl_slot *a = tl_slot_at(base, ins->a), *out = a;
  const tl_ins *then = ins + 2;
  if (builtin->result == TL_PAIR) {
    if (then->op != TL_BC_UNPACK || then->b != ins->a ||
        tl_ins_extra(then[1]) != 2 || (then->modes & 3u) == TL_MODE_BORROW)
      return NULL;
    out = tl_slot_at(base, then->a);
    then += 2;
  }
  return !tl_has_contracts(vm) && builtin->at_once(vm, a + 1, out) ? then
                                                                   : NULL;
}

// Drops arguments after a failure and returns false.
// Whoever is called takes the arguments, and has to drop them where it does not
// come to run.
static bool drop_failed(tl_vm *vm, uint32_t count, tl_slot *args) {
  tl_drop_all(vm, args, count);
  return false;
}

// The error for a type that does not convert: 3 * float32(x) is most often
// meant as float32(x).
__attribute__((cold)) static bool fail_conversion(tl_vm *vm, tl_type *type) {
  const tl_type *item = type;
  while (item->kind == TL_TYPE_FIXED) item = item->of;
  tl_string *text = tl_type_text(vm, type);
  if (text != NULL) {
    tl_fail(
        vm, TALLY_ERR_TYPE,
        "only the type of items converts, such as %s(x): got %s",
        item->kind == TL_TYPE_DTYPE ? tl_dtypes[item->dtype].name : "float32",
        text->text);
    tl_drop(vm, tl_own_string(text));
  }
  return false;
}

// Types are callable: float32(x) converts an array or number, a struct type
// converts a record, bytes(x) a string or list.
//
//  float32(x)                 a cast, of nested arrays by astype
//  {a: int8}((a: 1))          a struct of a record
//  bytes("ab")                bytes
//  each((1, 2), string)       texts: what the name's own call gives
//  (3 * float32)(x)           an error: the type of items converts
//
static bool call_type(tl_vm *vm, tl_type *type, uint32_t count, tl_slot *args,
                      tl_slot *out) {
  bool ok;
  if (count != 1) {
    ok =
        tl_fail(vm, TALLY_ERR_TYPE, "a type converts one value: got %u", count);
  } else if (tl_type_has_fields(type) ||
             (type->kind == TL_TYPE_FIXED && tl_type_has_fields(type->of))) {
    ok = tl_struct_convert(vm, type, args[0], out);
    if (ok)
      tl_hold(vm, *out, TL_CAUSE_VIEW);
  } else if (type->kind == TL_TYPE_BYTES) {
    ok = tl_raw_bytes_of(vm, args[0], out);
  } else if (type->kind != TL_TYPE_DTYPE) {
    ok = fail_conversion(vm, type);
  } else if (type->dtype == TL_STRING) {
    const tl_builtin *text = tl_builtin_find(vm->library, NULL, "string", 6);
    return run_builtin(vm, text, TL_CALL_OWNS, false, 1, args, out);
  } else if (tl_is_nested(args[0])) {
    // Nested arrays are converted by the library's own function.
    const tl_builtin *astype = tl_builtin_find(vm->library, NULL, "astype", 6);
    tl_slot inner[] = {args[0], tl_type_slot(type), tl_bool(true), tl_none()};
    return run_builtin(vm, astype, TL_CALL_OWNS, false, 4, inner, out);
  } else {
    ok = tl_cast(vm, &args[0], type->dtype, out);
    if (ok)
      *out = tl_escape(vm, out, TL_CAUSE_CALL);
  }
  tl_drop_all(vm, args, count);
  return ok;
}

// A call of a host's value, whose hook gets handles of the arguments; they are
// dropped when it has returned. [has_names]: the last is a record of those by
// name. The arguments are moved to where no call by the hook writes, as the
// window of a call from C is free for the next one. More than fit the hook does
// not get.
static bool call_resource(tl_vm *vm, tl_slot callee, bool has_names,
                          uint32_t count, tl_slot *args, tl_slot *out) {
  enum { MOST = 64 };
  tl_slot given[MOST];
  if (count <= MOST) {
    for (uint32_t i = 0; i < count; i++) tl_copy_slot(&given[i], &args[i]);
    args = given;
  }
  bool ok = vm->host->call_resource(vm, callee, has_names, count, args, out);
  tl_drop_all(vm, args, count);
  return ok;
}

// A call of a type or of a host's value, whose parameters have no names. What
// is spread is put into a list first; a host's value gets names as a record
// behind it.
static bool call_nameless(tl_vm *vm, tl_slot callee, const tl_call_shape *shape,
                          uint32_t count, tl_slot *args, tl_slot *out) {
  bool is_type = tl_is_type(callee);
  tl_slot rest = tl_none();
  tl_record *named = NULL;
  if (shape != NULL) {
    params p = {.function = is_type ? "a type" : "a value of the host",
                .count = 1,
                .named = is_type ? NULL : &named};
    tl_params_parse("...arguments", p.builtin_params);
    if (!bind(vm, &p, shape, count, args, &rest)) {
      if (named != NULL)
        tl_drop(vm, tl_own_record(named));
      return false;
    }
    if (named != NULL &&
        !tl_list_push_own(vm, &rest.list, tl_own_record(named))) {
      tl_drop(vm, rest);
      return false;
    }
    args = rest.list->items;
    count = (uint32_t)rest.list->length;
    rest.list->length = 0;  // the call takes the items
  }
  bool ok = is_type
                ? call_type(vm, callee.type, count, args, out)
                : call_resource(vm, callee, named != NULL, count, args, out);
  tl_drop(vm, rest);
  return ok;
}

// Whether the arguments of a call are those of a host's function already, one
// for each parameter in order.
// Those are most calls of the host: names, defaults and rest arguments, which
// take the longest, have nothing to do there. A function that is not plain
// takes arguments by its own rules.
static bool is_bound(tl_slot callee, const tl_call_shape *shape,
                     uint32_t count) {
  const tl_builtin *builtin = callee.pointer;
  if (shape != NULL || !tl_is_kind(callee, TL_KIND_BUILTIN) ||
      !tl_builtin_is_host(builtin))
    return false;
  const tl_host_function *f = (const tl_host_function *)(const void *)builtin;
  return f->is_plain && (int)count == f->param_count;
}

// Runs a built-in on bound arguments, which it drops.
// The arguments are still there when a failure is named, so that the one that
// was refused can be named.
static bool run_bound(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                      tl_slot *bound, tl_slot *out) {
  bool ok = run_builtin(vm, builtin, TL_CALL_OWNS, false, count, bound, out);
  if (!ok)
    tl_error_of_builtin(vm, builtin, bound);
  return ok;
}

// Binds the arguments of a call of a built-in, and runs it.
static bool call_library(tl_vm *vm, tl_slot callee, const tl_call_shape *shape,
                         uint32_t count, tl_slot *args, tl_slot *out) {
  params p;
  tl_slot bound[TL_MAX_PARAMS];
  if (is_bound(callee, shape, count)) {
    for (uint32_t i = 0; i < count; i++) {
      bound[i] = args[i];
      args[i].tag &= ~TL_OWNED;
    }
    return run_bound(vm, callee.pointer, count, bound, out);
  }
  describe(vm, callee, &p);
  if (!bind(vm, &p, shape, count, args, bound)) {
    tl_error_of_builtin(vm, p.builtin, bound);
    return false;
  }
  return run_bound(vm, p.builtin, p.count, bound, out);
}

// Calls a script function: puts the arguments where its parameters are, and
// pushes its frame. Takes the arguments.
static bool enter(tl_vm *vm, tl_slot callee, const tl_call_shape *shape,
                  uint32_t count, tl_slot *window, uint32_t flags) {
  tl_prototype *function = tl_function_prototype(callee);
  tl_closure *closure =
      tl_is_kind(callee, TL_KIND_CLOSURE) ? callee.pointer : NULL;
  if (!tl_slots_reserve(vm, window + function->slot_count, vm->frame + 1))
    return drop_failed(vm, count, window);
  // Nothing to bind: missing arguments are unset, and code at the function's
  // beginning fills in their defaults.
  if (shape == NULL && tl_stands_in_place(function, count)) {
    for (; count < function->param_count; count++) window[count] = tl_unset();
  } else {
    // Bound into memory of their own, as window and parameters overlap.
    tl_slot *bound =
        tl_alloc(vm, (function->param_count + 1) * sizeof(tl_slot), "a call");
    if (bound == NULL)
      return drop_failed(vm, count, window);
    params p;
    describe(vm, callee, &p);
    bool ok = bind(vm, &p, shape, count, window, bound);
    for (uint32_t i = 0; ok && i < p.count; i++) window[i] = bound[i];
    tl_free(vm, bound, (function->param_count + 1) * sizeof(tl_slot));
    if (!ok) {
      tl_error_of_function(vm, function, window);
      return false;
    }
  }
  push_frame(vm, function, closure, window, flags);
  return true;
}

// Calls whatever [callee] is, as tl_do_call.
static bool call_any(tl_vm *vm, tl_slot callee, const tl_call_shape *shape,
                     uint32_t count, tl_slot *window, bool *pushed,
                     tl_slot *out) {
  if (!tl_is_function(callee)) {
    if (tl_is_type(callee) || tl_is_resource(callee))
      return call_nameless(vm, callee, shape, count, window, out);
    params p;
    describe(vm, callee, &p);
    return drop_failed(vm, count, window);
  }
  if (tl_is_kind(callee, TL_KIND_BUILTIN))
    return call_library(vm, callee, shape, count, window, out);
  if (!enter(vm, callee, shape, count, window, TL_FRAME_OWNS))
    return false;
  *pushed = true;
  return true;
}

// The name by which an error speaks of the callee.
static const char *name_of_callee(tl_slot callee) {
  if (tl_is_kind(callee, TL_KIND_BUILTIN))
    return ((const tl_builtin *)callee.pointer)->name;
  if (tl_is_function(callee))
    return tl_function_prototype(callee)->name->text;
  return "this call";  // of a type or of a host's value
}

// As call_any, where the program has in-place contracts: whether the callee's
// result is to be checked against the caller's contract. Not inlined, since few
// programs have any.
__attribute__((noinline)) static bool call_held(tl_vm *vm, tl_slot callee,
                                                const tl_call_shape *shape,
                                                uint32_t count, tl_slot *window,
                                                bool *pushed, tl_slot *out) {
  bool held = vm->observer->contract_holds(vm, count, window);
  if (!call_any(vm, callee, shape, count, window, pushed, out))
    return false;
  if (!held)
    return true;
  if (!*pushed)
    return vm->observer->contract_returns(vm, name_of_callee(callee), *out);
  if (tl_is_library(vm, vm->frame->function->unit))
    vm->frame->flags |= TL_FRAME_HELD;
  return true;
}

bool tl_do_call(tl_vm *vm, tl_slot callee, const tl_call_shape *shape,
                uint32_t count, tl_slot *window, bool *pushed, tl_slot *out) {
  return vm->has_contracts
             ? call_held(vm, callee, shape, count, window, pushed, out)
             : call_any(vm, callee, shape, count, window, pushed, out);
}

// Without a frame, before the first call, the stack's own first slot is left
// for a result.
tl_slot *tl_call_window(tl_vm *vm, uint32_t count) {
  tl_slot *base = vm->stack + 1;
  if (vm->frame >= vm->frames)
    base = vm->frame->base + vm->frame->function->slot_count + 1;
  return tl_slots_reserve(vm, base + count + 1, vm->frame) ? base : NULL;
}

// A call that fails may have written *out before; nobody may look at that.
static bool fail_call(tl_slot *out) {
  *out = tl_none();
  return false;
}

// Runs a call from C: pushes an entry frame and interprets until it returns.
// Takes the arguments.
static bool call_in(tl_vm *vm, tl_slot function, uint32_t n, tl_slot *base,
                    tl_slot *out) {
  // The host's functions have a limit of their own.
  if (vm->native_depth - vm->host_depth > NATIVE_DEPTH_MAX) {
    tl_drop_all(vm, base, n);
    return tl_fail(vm, TALLY_ERR_LIMIT,
                   "functions of the library call each other too deeply");
  }
  // Library functions that call a function for each item poll here, or a long
  // fold could not be interrupted.
  if (--vm->fuel <= 0 && !tl_refuel(vm))
    return drop_failed(vm, n, base);
  vm->native_depth++;
  bool pushed = false;
  tl_frame *before = vm->frame;
  bool ok = call_any(vm, function, NULL, n, base, &pushed, out);
  if (ok && pushed) {
    vm->frame->flags |= TL_FRAME_ENTRY;
    ok = tl_interpret(vm);
    if (ok)
      tl_copy_slot(out, base - 1);
    if (ok && (vm->interrupted & TL_FILE_LOST) != 0 && !tl_poll(vm, 0)) {
      tl_mapping_restore(vm);
      tl_drop(vm, *out);
      ok = false;
    }
  }
  vm->frame = before;
  vm->native_depth--;
  // All calls have ended: values that assigned module variables had may go.
  if (vm->waiting != NULL && vm->frame < vm->frames)
    tl_drop_waiting(vm);
  if (vm->frame < vm->frames)
    tl_end_promises(vm);
  return ok;
}

bool tl_call_in(tl_vm *vm, tl_slot function, uint32_t n, tl_slot *base,
                tl_slot *out) {
  return call_in(vm, function, n, base, out) || fail_call(out);
}

// Copies the arguments into a window, which the call then takes over.
bool tl_call(tl_vm *vm, tl_slot function, int count, tl_slot *args,
             tl_slot *out) {
  uint32_t n = (uint32_t)count;
  tl_slot *base = tl_call_window(vm, n);
  if (base == NULL) {
    tl_drop_all(vm, args, n);
    return fail_call(out);
  }
  // The arguments move: what the caller's slots owned the window owns.
  for (uint32_t i = 0; i < n; i++) {
    tl_copy_slot(&base[i], &args[i]);
    args[i].tag &= ~TL_OWNED;
  }
  return tl_call_in(vm, function, n, base, out);
}

// A unit's own code is its first prototype, called without arguments.
bool tl_run_unit(tl_vm *vm, tl_unit *unit, tl_slot *out) {
  for (uint32_t i = 0; i < unit->prototype_count; i++) {
    tl_prototype *p = unit->prototypes[i];
    // Each function is proved once, before the first run of its unit.
    if (p->verified == 1)
      continue;
    if (!tl_verify(vm, p))
      return false;
    p->verified = 1;
  }
  tl_slot function = {.tag = TL_TAG_FUNCTION, .pointer = unit->prototypes[0]};
  return tl_call(vm, function, 0, NULL, out);
}
