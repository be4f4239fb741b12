// Elementwise functions of the host: operands are converted to the dtypes that
// the signature names and broadcast; the host's loop gets runs of items with
// their steps:
//
//   loop(context, n, inputs[], steps[], output)    steps in bytes, 0: a scalar
//
// The result is written over a dying operand where one fits, so that a host's
// function costs no more memory than an operation of the language.
//
// Built for size.

#include "vm/engine/engine_internal.h"
#include "vm/host.h"
#include "vm/types/type.h"

// An operand in the dtype that the loop reads.
typedef struct input {
  tl_slot slot;     // owns what opening made or took
  tl_array *array;  // NULL: a scalar, its item is at data
  char *data;
  tl_c128 item;
} input;

// Fails (kind type): the parameter is of another dtype.
static bool refuse(tl_vm *vm, const tl_host_function *f, int index,
                   tl_slot got) {
  tl_param params[TL_MAX_PARAMS];
  tl_params_parse(f->row.params, params);
  return tl_fail(vm, TALLY_ERR_TYPE, "%s: %.*s is of %s: got %s", f->row.name,
                 (int)params[index].name_length, params[index].name,
                 tl_dtypes[f->params[index]->dtype].name,
                 tl_described(vm, got));
}

// Converts where no value of a higher kind would be lost: int into float, but
// not float into int. Takes what [arg] owns where that helps.
static bool open_input(tl_vm *vm, const tl_host_function *f, int index,
                       tl_slot *arg, input *in) {
  tl_dtype dtype = f->params[index]->dtype;
  in->slot = tl_none();
  in->array = NULL;
  in->data = (char *)&in->item;
  if (tl_is_scalar(*arg))
    return tl_scalar_convert(vm, *arg, dtype, &in->item);
  if (!tl_is_range(*arg) &&
      (!tl_is_array(*arg) || tl_array_dtype(arg->array) >= TL_STRING))
    return refuse(vm, f, index, *arg);
  tl_slot from;
  if (!tl_as_array(vm, f->row.name, *arg, &from))
    return false;
  // A dying argument hands its array over, whose memory may take the result.
  if (tl_is_array(*arg) && from.array == arg->array && !tl_is_owned(from)) {
    from.tag |= arg->tag & TL_OWNED;
    arg->tag &= ~TL_OWNED;
  }
  in->slot = from;
  if (tl_array_dtype(from.array) != dtype) {
    if (tl_kind_rank(tl_array_dtype(from.array)) > tl_kind_rank(dtype))
      return refuse(vm, f, index, from);
    tl_slot cast;
    if (!tl_cast(vm, &in->slot, dtype, &cast))
      return false;
    tl_replace(vm, &in->slot, cast);
  }
  if (tl_is_scalar(in->slot)) {  // of a rank-0 array
    tl_scalar_store(in->slot, &in->item);
    return true;
  }
  in->array = in->slot.array;
  in->data = in->array->data;
  return true;
}

// A dying input that is disjoint from the others, or a new array; NULL after
// tl_fail.
static tl_array *find_target(tl_vm *vm, input *inputs, int count,
                             tl_dtype dtype, int ndim, const int64_t *shape) {
  tl_reusable operands[TALLY_MAX_LOOP_INPUTS];
  for (int i = 0; i < count; i++)
    operands[i] = (tl_reusable){&inputs[i].slot, inputs[i].array};
  int found = tl_find_reusable(vm, operands, count, dtype, ndim, shape,
                               TL_REUSE_DISJOINT);
  return found >= 0 ? tl_reuse(vm, &inputs[found].slot, dtype, ndim, shape)
                    : tl_array_new(vm, dtype, ndim, shape);
}

// Calls the loop for all items of [out], block by block, as a step of a plan.
static bool walk(tl_vm *vm, const tl_host_function *f, const input *inputs,
                 tl_array *out) {
  tl_plan plan;
  tl_plan_room room;  // large: not cleared
  int values[TALLY_MAX_LOOP_INPUTS], ndim = tl_ndim(out);
  size_t itemsize = tl_itemsize(tl_array_dtype(out));
  int64_t strides[TL_MAX_DIMS];
  tl_plan_open(&plan, &room, ndim, tl_shape(out));
  for (int i = 0; i < f->param_count; i++) {
    tl_broadcast_strides(inputs[i].array, ndim, tl_shape(out), strides);
    values[i] = tl_plan_stream(&plan, inputs[i].data,
                               tl_itemsize(f->params[i]->dtype), strides);
  }
  tl_plan_arrange(&plan,
                  tl_plan_stream(&plan, out->data, itemsize, tl_strides(out)));
  tl_plan_finish_one(&plan, tl_plan_host(&plan, f, values, itemsize));
  return tl_plan_run(vm, &plan, true);
}

// Calls the loop for one item. It has no business in the VM meanwhile.
static bool apply_scalars(tl_vm *vm, const tl_host_function *f,
                          const input *inputs, tl_slot *out) {
  const void *from[TALLY_MAX_LOOP_INPUTS];
  ptrdiff_t steps[TALLY_MAX_LOOP_INPUTS] = {0};
  tl_c128 item = {0, 0};
  tl_access before = vm->access;
  for (int i = 0; i < f->param_count; i++) from[i] = inputs[i].data;
  vm->access = TL_ACCESS_NONE;
  f->loop(f->context, 1, from, steps, &item);
  vm->access = before;
  if (f->result->dtype == TL_COMPLEX128) {
    *out = tl_new_complex(vm, item.re, item.im, false);
    return !tl_is_unset(*out);
  }
  *out = tl_scalar_load(f->result->dtype, &item);
  return true;
}

// Broadcasts the arrays and calls the loop for all items.
static bool apply_arrays(tl_vm *vm, const tl_host_function *f, input *inputs,
                         const tl_array *const *arrays, tl_slot *out) {
  int ndim;
  int64_t shape[TL_MAX_DIMS];
  if (!tl_broadcast(vm, f->param_count, arrays, &ndim, shape))
    return false;
  tl_array *array =
      find_target(vm, inputs, f->param_count, f->result->dtype, ndim, shape);
  return tl_result_finish(vm, array != NULL && walk(vm, f, inputs, array),
                          array, out);
}

// Inputs are opened one after the other and all closed at the end, also those
// behind a failure.
bool tl_host_loop(tl_vm *vm, const tl_host_function *f, tl_slot *args,
                  tl_slot *out) {
  input inputs[TALLY_MAX_LOOP_INPUTS];
  const tl_array *arrays[TALLY_MAX_LOOP_INPUTS];
  int opened = 0;
  bool ok = true, scalar = true;
  while (ok && opened < f->param_count) {
    input *in = &inputs[opened];
    ok = open_input(vm, f, opened, &args[opened], in);
    arrays[opened++] = in->array;
    scalar = scalar && in->array == NULL;
  }
  ok = ok && (scalar ? apply_scalars(vm, f, inputs, out)
                     : apply_arrays(vm, f, inputs, arrays, out));
  for (int i = 0; i < opened; i++) tl_drop(vm, inputs[i].slot);
  return ok;
}
