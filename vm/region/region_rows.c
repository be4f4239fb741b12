// Regions over ragged rows. They run over the items of all rows at once; an
// array with one item for each row is read as its rows have items, block by
// block. The offsets stay what they are.
//
// Built for size.

#include "vm/nested/ragged.h"
#include "vm/region/region_internal.h"

// --- Operands ---------------------------------------------------------------

// Rows that are a part of larger content are not taken: their items would not
// be all of the array.
tl_slot tl_region_items(tl_slot value) {
  if (!tl_is_form(value, TL_FORM_RAGGED))
    return value;
  const tl_nested *n = value.nested;
  const int64_t *at = tl_ragged_offsets(n);
  tl_slot items = n->parts[1];
  bool all = tl_is_array(items) && tl_ndim(items.array) == 1 && at[0] == 0 &&
             at[tl_ragged_rows(n)] == items.array->size;
  return all ? tl_borrow(items) : value;
}

// Rows agree where their offsets do; the first ones are the result's.
bool tl_region_find_rows(tl_region_graph *g) {
  int64_t row;
  g->rows = NULL;
  for (int u = 0; u < g->use_count; u++) {
    const tl_region_use *use = &g->uses[u];
    if (!tl_region_is_ragged(use))
      continue;
    if (g->rows == NULL) {
      g->rows = use->value.nested;
      g->shapes[0].ndim = 1;
      g->shapes[0].lengths[0] = use->items.array->size;
      g->shape_count = 1;
    } else if (!tl_ragged_agree(g->rows, use->value.nested, &row)) {
      return false;
    }
  }
  return true;
}

// A column, rows * 1, is broadcast over each row as a vector is.
bool tl_region_is_per_row(const tl_region_graph *g, tl_slot items) {
  if (!tl_region_is_array(items))
    return true;  // a number is one for all
  const tl_array *a = items.array;
  int ndim = tl_ndim(a);
  return tl_shape(a)[0] == tl_ragged_rows(g->rows) &&
         (ndim == 1 || (ndim == 2 && tl_shape(a)[1] == 1));
}

// --- Into rows --------------------------------------------------------------

// The dying rows whose items the result may be written into, or -1.
// Both the rows and their content must be nobody else's.
static int find_target(const tl_region_graph *g, tl_dtype dtype) {
  for (int u = 0; u < g->use_count; u++) {
    const tl_region_use *x = &g->uses[u];
    if (tl_region_is_ragged(x) && x->root >= 0 && x->direct &&
        g->roots[x->root].consumed && tl_is_unique(x->value) &&
        tl_can_reuse(g->vm, x->value.nested->parts[1], dtype, 1,
                     g->shapes[0].lengths) &&
        tl_region_is_safe_target(g, x->items.array))
      return u;
  }
  return -1;
}

// The content is written over in place, so the run may not stop.
static tl_region_status reuse_rows(tl_region_graph *g, int use, tl_dtype dtype,
                                   tl_slot *out) {
  const tl_region_use *x = &g->uses[use];
  tl_slot *items = &x->value.nested->parts[1];
  if (!tl_poll_items(g->vm, items->array->size))
    return TL_REGION_FAILED;
  tl_region_status status = tl_region_write(g, items->array, dtype, false);
  if (status != TL_REGION_DONE)
    return status;
  *items = tl_own_array(tl_reuse(g->vm, items, dtype, 1, g->shapes[0].lengths));
  g->roots[x->root].consumed = false;
  *out = x->value;
  return status;
}

// The offsets are shared with the operand's.
tl_region_status tl_region_rows_to_array(tl_region_graph *g, tl_slot *out) {
  tl_vm *vm = g->vm;
  tl_dtype dtype = g->nodes[g->value].typing.result;
  int reused = find_target(g, dtype);
  if (reused >= 0)
    return reuse_rows(g, reused, dtype, out);
  tl_nested *made = tl_nested_new(vm, TL_FORM_RAGGED, 1, 2, NULL);
  if (made == NULL)
    return TL_REGION_FAILED;
  tl_array *items;
  tl_region_status status = tl_region_make_array(g, &items);
  if (status != TL_REGION_DONE) {
    tl_drop(vm, tl_own_nested(made));
    return status;
  }
  made->parts[0] = tl_retain(vm, tl_borrow(g->rows->parts[0]));
  made->parts[1] = tl_own_array(items);
  *out = tl_own_nested(made);
  return status;
}

// --- Reductions of each row -------------------------------------------------

// A row without items has no smallest one; the built-in says so.
static bool any_empty(const int64_t *at, int64_t rows) {
  for (int64_t i = 0; i < rows; i++)
    if (at[i] == at[i + 1])
      return true;
  return false;
}

// Items come block by block and rows end anywhere in them: a row stream takes
// them, on one thread.
static tl_region_status fold_each(tl_region_graph *g, tl_reduction reduction,
                                  tl_slot *out) {
  tl_vm *vm = g->vm;
  const int64_t *at = tl_ragged_offsets(g->rows);
  int64_t rows = tl_ragged_rows(g->rows);
  tl_dtype dtype = g->nodes[g->value].typing.result;
  bool mean = reduction == TL_REDUCE_MEAN;
  bool extreme = reduction == TL_REDUCE_MIN || reduction == TL_REDUCE_MAX;
  if (mean && dtype < TL_FLOAT16)
    dtype = TL_FLOAT64;
  tl_method method;
  tl_method_choose(&method, reduction, dtype);
  if (method.feed == NULL || (extreme && any_empty(at, rows)))
    return TL_REGION_DECLINED;
  tl_region_tile tile = {1, g->shapes[0].lengths, NULL, NULL};
  tl_plan *plan = tl_region_plan_whole(g, &tile, NULL, dtype, NULL);
  if (plan == NULL)
    return TL_REGION_DECLINED;
  tl_dtype made = tl_fold_result(method.fold, dtype);
  tl_array *to = tl_array_new(vm, made, 1, &rows);
  if (to == NULL)
    return TL_REGION_FAILED;
  tl_row_stream stream;  // large: not cleared
  tl_row_stream_open_rows(&stream, &method, rows, at, to->data);
  plan->consume = tl_row_stream_take;
  plan->context = &stream;
  if (!tl_plan_run(vm, plan, true)) {
    tl_drop(vm, tl_own_array(to));
    return TL_REGION_FAILED;
  }
  tl_row_stream_close(&stream);
  for (int64_t i = 0; mean && i < rows; i++)
    tl_reduce_divide(made, to->data + (size_t)i * method.out, 1,
                     (double)(at[i + 1] - at[i]));
  *out = tl_own_array(to);
  return TL_REGION_DONE;
}

// [axes] are bits of two axes, rows and items.
tl_region_status tl_region_fold_rows(tl_region_graph *g, tl_slot *out) {
  tl_fold_call call;
  if (g->fold->fused != TL_FUSED_REDUCTION ||
      !g->vm->library->fused->reduction(g->vm, g->fold, 2, g->arguments,
                                        &call) ||
      call.keepdims)
    return TL_REGION_DECLINED;
  if (call.axes == 3) {  // all items, as one row
    call.axes = 1;
    return tl_region_fold_call(g, &call, out);
  }
  tl_reduction reduction = (tl_reduction)call.reduction;
  bool is_fold = reduction != TL_REDUCE_VAR && reduction != TL_REDUCE_STD &&
                 reduction != TL_REDUCE_ARGMIN && reduction != TL_REDUCE_ARGMAX;
  return call.axes == 2 && call.dtype == TL_DTYPE_COUNT && is_fold
             ? fold_each(g, reduction, out)
             : TL_REGION_DECLINED;
}
