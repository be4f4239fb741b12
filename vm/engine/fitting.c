// What calls with overflow: "error", "saturate" or "wrap" come to: elementwise
// operations by the engine, which asks vm->overflow (overflow.c); casts, of
// which the kernels wrap or saturate without a check; sums and products, which
// are folded exactly (tl_exact_fold), so that it does not matter whether
// something in between fits.
//
// Built for size.
#include "vm/engine/engine_internal.h"
#include "vm/engine/reduce_internal.h"
#include "vm/kernels/overflow.h"

// What has numbers, for which the rule is meant: texts and a host's values have
// their own, and may call scripts.
static bool has_numbers(tl_slot s) {
  return tl_is_number(s) || tl_is_range(s) || tl_is_array(s) || tl_is_nested(s);
}

// vm->overflow is set for the operation alone and taken back however it ends,
// as nothing else of the call may hear of it. What has no numbers goes the
// usual way: a string added to one joins them.
bool tl_elementwise_fitting(tl_vm *vm, tl_op op, tl_overflow how,
                            tl_slot *operands, tl_slot *out) {
  bool inside = false;
  for (int i = 0; i < tl_ops[op].arity; i++) {
    if (!has_numbers(operands[i]))
      return tl_elementwise_kept(vm, op, operands, out);
    inside |= tl_is_nested(operands[i]);
  }
  vm->overflow = (uint8_t)how;
  vm->overflow_inside = inside;
  bool ok = tl_elementwise_kept(vm, op, operands, out);
  vm->overflow = TL_OVERFLOW_UNSAID;
  return ok;
}

// --- Casts ------------------------------------------------------------------

// The integer as a scalar of the integer dtype, which has it.
static tl_slot integer_of(tl_dtype dtype, int64_t value) {
  uint64_t item;
  tl_kernels()->cast[TL_INT64][dtype](&item, &value, 1);
  return tl_scalar_load(dtype, &item);
}

// *s = op(*s, the end of the dtype's range), unless all of [from] is within it.
// Drops what *s owned where it is replaced.
// A range becomes an array on the way, and what the script sees of *s is not
// changed: arguments are the function's own.
static bool bound(tl_vm *vm, tl_op op, tl_slot *s, tl_dtype from, int64_t end) {
  tl_slot operands[] = {tl_borrow(*s), integer_of(from, end)}, out;
  if (!tl_elementwise_kept(vm, op, operands, &out))
    return false;
  return tl_replace(vm, s, out);
}

// Integers in another integer dtype: brought into its range while their own
// dtype has them still.
//
//  int64 to uint8      max(x, 0), then min(x, 255)
//  uint8 to int64      neither
//  uint64 to int8      min(x, 127): no uint64 is below -128
//
static bool bound_integers(tl_vm *vm, tl_slot *s, tl_dtype from, tl_dtype to) {
  if (tl_least_integer(from) < tl_least_integer(to) &&
      !bound(vm, TL_OP_MAXIMUM, s, from, tl_least_integer(to)))
    return false;
  return tl_largest_integer(from) <= tl_largest_integer(to) ||
         bound(vm, TL_OP_MINIMUM, s, from, (int64_t)tl_largest_integer(to));
}

//
//  saturate, integer to integer    bounds first, then a cast that always fits
//  saturate, float to integer      the kernel, which stops at the ends itself
//  wrap                            the kernel, without the check before it
//  error                           tl_cast, which fails as it always does
//
bool tl_cast_fitting(tl_vm *vm, tl_slot *s, tl_dtype dtype, tl_overflow how,
                     tl_slot *out) {
  if (how == TL_OVERFLOW_UNSAID)
    return tl_cast(vm, s, dtype, out);
  tl_dtype from = tl_is_number(*s) || tl_is_array(*s)
                      ? (tl_dtype)tl_dtype_of(*s)
                      : TL_INT64;
  if (how == TL_OVERFLOW_SATURATE && dtype < TL_STRING && from < TL_STRING &&
      tl_dtype_is_integer(from) && tl_dtype_is_integer(dtype) &&
      !bound_integers(vm, s, from, dtype))
    return false;
  vm->overflow = (uint8_t)how;
  bool ok = tl_cast(vm, s, dtype, out);
  vm->overflow = TL_OVERFLOW_UNSAID;
  return ok;
}

// --- Reductions --------------------------------------------------------------

// A sum or product under way, whose lanes are handed out in 64 bits.
typedef struct exact {
  tl_exact_fold fold;
  bool is_signed;
} exact;

// The lane hands out items cast to 64 bits, of whichever sign the dtype has.
static bool fold_piece(void *context, const void *items, size_t n) {
  exact *e = context;
  tl_exact_fold_items(&e->fold, items, e->is_signed, n);
  return true;
}

// The results of all lanes, in rows, to [out]. [result] has their shape.
//
//  axis 0 of  [[100, -3],      lanes [100, 100] and [-3, 5]
//             [100,  5]]       int8: 200 does not fit, at [0]; 2 does
//
// Lanes are walked one by one whatever the axes are: an exact fold of 128 bits
// takes longer than reading items that lie far from each other.
static bool fold_lanes(tl_vm *vm, tl_reduction reduction, const tl_split *split,
                       tl_array *result) {
  const tl_dtype from = tl_array_dtype(split->array);
  const tl_dtype dtype = tl_array_dtype(result);
  const bool is_signed = tl_dtypes[from].kind != 'U';
  int64_t at = 0;
  tl_counter counter;
  tl_counter_begin(&counter, split->kept, split->kept_shape,
                   split->kept_strides, split->array->data);
  for (; !counter.done; tl_counter_next(&counter), at++) {
    tl_lane lane = {counter.at,
                    split->reduced,
                    split->reduced_shape,
                    split->reduced_strides,
                    from,
                    is_signed ? TL_INT64 : TL_UINT64};
    exact e = {{.is_product = reduction == TL_REDUCE_PROD, .absolute = 1},
               is_signed};
    if (split->length > 0 && !tl_lane_walk(vm, &lane, fold_piece, &e))
      return false;
    char *to = result->data + (size_t)at * tl_itemsize(dtype);
    if (tl_exact_fold_end(&e.fold, dtype, to) ||
        vm->overflow == TL_OVERFLOW_SATURATE)
      continue;
    tl_place_text place;
    tl_spell_place(tl_ndim(result), tl_shape(result), at, place);
    return tl_fail(vm, TALLY_ERR_VALUE, "%s: the result does not fit %s%s%s",
                   tl_reduction_name(reduction), tl_dtypes[dtype].name,
                   place[0] != '\0' ? " at " : "", place);
  }
  return true;
}

// The integer dtype of the results, or TL_DTYPE_COUNT: they are none, or are
// folded of what is none.
// Bools are summed as integers, as everywhere. Without a wish it is the widest
// of the sign, whose wrap of 64 bits is then the one that counts.
static tl_dtype exact_dtype(tl_dtype from, tl_dtype wanted) {
  bool is_integer =
      from == TL_BOOL || (from < TL_STRING && tl_dtype_is_integer(from));
  if (wanted == TL_DTYPE_COUNT)
    wanted = tl_dtypes[from].kind == 'U' ? TL_UINT64 : TL_INT64;
  return is_integer && wanted < TL_STRING && tl_dtype_is_integer(wanted)
             ? wanted
             : TL_DTYPE_COUNT;
}

// Of what is not folded exactly the plain reduction answers: floats do not
// overflow so, and a wrap is what it does anyway. The results are made before
// the fold, and dropped where one of them does not fit.
bool tl_reduce_fitting(tl_vm *vm, tl_reduction reduction, tl_slot *x,
                       uint32_t axes, bool keepdims, tl_dtype dtype,
                       tl_overflow how, tl_slot *out) {
  tl_slot s;
  int64_t shape[TL_MAX_DIMS];
  if (!tl_as_array(vm, tl_reduction_name(reduction), *x, &s))
    return false;
  tl_dtype exactly = exact_dtype(tl_array_dtype(s.array), dtype);
  if (how < TL_OVERFLOW_ERROR || exactly == TL_DTYPE_COUNT) {
    tl_clear(vm, &s);
    return tl_reduce(vm, reduction, x, axes, keepdims, dtype, 0, out);
  }
  tl_split split;
  tl_split_axes(s.array, axes, &split);
  int ndim = tl_reduce_shape(tl_ndim(s.array), tl_shape(s.array), axes,
                             keepdims, shape);
  tl_array *result = tl_array_new(vm, exactly, ndim, shape);
  vm->overflow = (uint8_t)how;
  bool ok = result != NULL &&
            (result->size == 0 || fold_lanes(vm, reduction, &split, result));
  vm->overflow = TL_OVERFLOW_UNSAID;
  tl_clear(vm, &s);
  return tl_result_finish(vm, ok, result, out);
}
