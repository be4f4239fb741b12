// Integer arithmetic whose results have to fit: overflow: "error" and
// "saturate". Elementwise operations come here after typing (engine.c), so that
// broadcasting, promotion, rows and missing values are as everywhere:
//
//   operands --packed, cast--> blocks --saturating kernel--> a new array
//                                          |
//                                          +--> the first item that does not
//                                               fit, which "error" names
//
// The functions of engine.h that lead here are in fitting.c.
//
// Built for size.
#include "vm/kernels/overflow.h"

#include <stdio.h>

#include "vm/engine/engine_internal.h"

// --- Elementwise operations --------------------------------------------------

enum { SPELLED = 24 };  // bytes of an integer's text

// The integer at [item] as text.
// By way of 64 bits, whose sign the cast has extended: "%lld" of it is the
// number.
static const char *spell(tl_dtype dtype, const char *item, char text[SPELLED]) {
  uint64_t word;
  bool is_unsigned = tl_dtypes[dtype].kind == 'U';
  tl_kernels()->cast[dtype][TL_UINT64](&word, item, 1);
  snprintf(text, SPELLED, is_unsigned ? "%llu" : "%lld",
           (unsigned long long)word);
  return text;
}

// Indices come off from the last axis, since rows are in order. What has no
// room any more would be cut, but there always is: 24 bytes are enough for one.
void tl_spell_place(int ndim, const int64_t *shape, int64_t index,
                    tl_place_text text) {
  int64_t place[TL_MAX_DIMS];
  int length = 0;
  for (int i = ndim; i-- > 0;) {
    place[i] = index % shape[i];
    index /= shape[i];
  }
  text[0] = '\0';
  for (int i = 0; i < ndim && length < (int)sizeof(tl_place_text); i++)
    length += snprintf(text + length, sizeof(tl_place_text) - (size_t)length,
                       "%s%lld%s", i == 0 ? "[" : ", ", (long long)place[i],
                       i + 1 == ndim ? "]" : "");
}

// An operation under way: it takes the operands' items in rows, in the dtype
// computed in, and writes as many results.
typedef struct fitting {
  tl_saturate *kernel;
  int arity;
  size_t size;  // of an item
  char *to;     // of the next result
  int64_t done;
  // The first result that does not fit, and its operands; -1: there is none.
  int64_t first;
  char items[2][sizeof(uint64_t)];
} fitting;

// Fails (kind value) for the first item that does not fit.
// "add: 100 + 100 does not fit int8 at [3]"; of one operand "negative: the
// result for -128 does not fit int8 at [0]".
static bool fail_item(tl_vm *vm, tl_op op, tl_dtype dtype, const fitting *f,
                      const tl_array *target) {
  char x[SPELLED], y[SPELLED];
  tl_place_text place;
  const char *name = tl_ops[op].name, *type = tl_dtypes[dtype].name;
  // Of rows and of values that may be missing these are the inner places.
  tl_spell_place(vm->overflow_inside ? 0 : tl_ndim(target), tl_shape(target),
                 f->first, place);
  spell(dtype, f->items[0], x);
  const char *at = place[0] != '\0' ? " at " : "";
  if (tl_ops[op].arity == 1)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "%s: the result for %s does not fit %s%s%s", name, x, type,
                   at, place);
  return tl_fail(vm, TALLY_ERR_VALUE, "%s: %s %s %s does not fit %s%s%s", name,
                 x, tl_ops[op].sign, spell(dtype, f->items[1], y), type, at,
                 place);
}

// A tl_plan_consume. Results behind one that does not fit are written, too:
// "error" drops the target, and "saturate" wants them.
static void take_block(void *context, const void *const *items, size_t n) {
  fitting *f = context;
  size_t first = f->kernel(f->to, items[0], f->arity == 2 ? items[1] : NULL, n);
  for (int k = 0; k < f->arity && first < n && f->first < 0; k++)
    memcpy(f->items[k], (const char *)items[k] + first * f->size, f->size);
  if (first < n && f->first < 0)
    f->first = f->done + (int64_t)first;
  f->to += n * f->size;
  f->done += (int64_t)n;
}

// All items of the operands, broadcast to the shape of the target, which is
// dense; false: the VM was stopped.
static bool compute_all(tl_vm *vm, fitting *f, const tl_operand *x,
                        const tl_typing *typing, const tl_array *target) {
  tl_plan plan;
  tl_plan_room room;  // large: not cleared
  tl_plan_result results[2];
  int64_t strides[TL_MAX_DIMS];
  const int ndim = tl_ndim(target);
  tl_plan_open(&plan, &room, ndim, tl_shape(target));
  for (int k = 0; k < f->arity; k++) {
    tl_broadcast_strides(x[k].array, ndim, tl_shape(target), strides);
    tl_plan_stream(&plan, x[k].data, tl_itemsize(x[k].dtype), strides);
  }
  tl_plan_arrange(&plan, -1);
  plan.consume = take_block;
  plan.context = f;
  for (int k = 0; k < f->arity; k++)
    results[k] = (tl_plan_result){
        tl_plan_cast(&plan, k, x[k].dtype, typing->computed), -1, false};
  tl_plan_finish(&plan, results, f->arity);
  return tl_plan_run(vm, &plan, true);
}

// The target is never an operand's memory, even of one that dies: after an
// error the script may catch, all operands have to be as they were. A scalar is
// an array of no axes, of one item, and weak where the operands were.
bool tl_compute_fitting(tl_vm *vm, tl_op op, const tl_operand *x,
                        const tl_typing *typing, int ndim, const int64_t *shape,
                        tl_slot *out) {
  if (!tl_operands_check(vm, op, x, typing))
    return false;
  tl_array *target = tl_array_new(vm, typing->result, ndim, shape);
  if (target == NULL)
    return false;
  fitting f = {.kernel = tl_saturate_kernel(op, typing->computed),
               .arity = tl_ops[op].arity,
               .size = tl_itemsize(typing->computed),
               .to = target->data,
               .first = -1};
  bool ok = compute_all(vm, &f, x, typing, target);
  if (ok && f.first >= 0 && vm->overflow == TL_OVERFLOW_ERROR)
    ok = fail_item(vm, op, typing->computed, &f, target);
  if (!tl_result_finish(vm, ok, target, out))
    return false;
  if (ndim == 0 && typing->weak)
    out->tag |= TL_WEAK;
  return true;
}
