// Nested arrays are made here, and what they are made of: numbers, offsets,
// slots. All other files of this folder stand above. See nested.h.
#include "vm/nested/nested.h"

#include "vm/kernels/kernels.h"
#include "vm/nested/forms.h"
#include "vm/values/list.h"

// --- Forms -------------------------------------------------------------------

bool tl_outermost_of(tl_vm *vm, int64_t count, const tl_slot *values,
                     int *form) {
  const size_t n = (size_t)count;
  *form = -1;
  for (size_t at = 0, end = 0; at < n; at = end) {
    if (!tl_poll_piece(vm, at, n, &end))
      return false;
    const int piece = tl_outermost((int64_t)(end - at), values + at);
    *form = piece > *form ? piece : *form;
  }
  return true;
}

// --- Workspace ---------------------------------------------------------------

// They are the items of a list, so that millions of them are freed as a list's
// are, where somebody waits in part.
tl_slot *tl_slots_new(tl_vm *vm, int64_t count) {
  tl_list *list = tl_list_new(vm, count);
  for (; list != NULL && list->length < count; list->length++) {
    list->items[list->length] = tl_none();
    if (!tl_poll_at(vm, list->length)) {
      tl_drop(vm, tl_own_list(list));
      return NULL;
    }
  }
  return list != NULL ? list->items : NULL;
}

// What a failed call may have left in slot [made] is not looked at.
void tl_slots_free(tl_vm *vm, tl_slot *slots, int64_t made) {
  if (slots == NULL)
    return;
  tl_list *list = (tl_list *)(void *)((char *)slots - offsetof(tl_list, items));
  list->length = made;
  tl_drop(vm, tl_own_list(list));
}

// The array is whole as far as its block is concerned.
bool tl_array_polled(tl_vm *vm, tl_array **a, int64_t i) {
  if (*a != NULL && tl_poll_at(vm, i))
    return true;
  tl_array_drop(vm, *a);
  *a = NULL;
  return false;
}

// --- Numbers -----------------------------------------------------------------

// Fails (kind shape) as tl_array_new does.
tl_array *tl_numbers_new(tl_vm *vm, int ndim, const int64_t *shape,
                         int64_t first, int64_t step) {
  enum { PIECE = 1 << 16 };
  tl_array *a = tl_array_new(vm, TL_INT64, ndim, shape);
  for (int64_t i = 0; a != NULL && i < a->size; i += PIECE) {
    const int64_t n = a->size - i < PIECE ? a->size - i : PIECE;
    // Unsigned: steps may wrap behind the last item.
    const uint64_t at = (uint64_t)first + (uint64_t)i * (uint64_t)step;
    tl_kernels()->iota(tl_offsets_data(a) + i, (int64_t)at, step, (size_t)n);
    if (n == PIECE && !tl_poll(vm, PIECE / 1024)) {
      tl_array_drop(vm, a);
      return NULL;
    }
  }
  return a;
}

// Of RAGGED these are the rows' numbers, of a grid one for each row.
tl_array *tl_number_items(tl_vm *vm, tl_slot s, int64_t first) {
  int64_t shape[TL_MAX_DIMS];
  int ndim = tl_value_shape(s, shape);
  return tl_numbers_new(vm, ndim, shape, first, 1);
}

tl_array *tl_positions_new(tl_vm *vm, int64_t n) {
  return tl_array_new(vm, TL_INT64, 1, &n);
}

// Fails (kind memory); [rows] is a length that an array has.
tl_array *tl_offsets_new(tl_vm *vm, int64_t rows) {
  tl_array *offsets = tl_positions_new(vm, rows + 1);
  if (offsets != NULL)
    tl_offsets_data(offsets)[0] = 0;
  return offsets;
}

// A running sum: row i of a mask's choice begins where the ones before end.
tl_array *tl_true_offsets(tl_vm *vm, const int64_t *at, int64_t rows,
                          const tl_array *flags) {
  tl_array *offsets = tl_offsets_new(vm, rows);
  for (int64_t i = 0; offsets != NULL && i < rows; i++) {
    int64_t *to = tl_offsets_data(offsets) + i;
    to[1] = to[0];
    for (int64_t k = at[i]; k < at[i + 1]; k++) to[1] += flags->data[k] != 0;
  }
  return offsets;
}

// --- Arrays ------------------------------------------------------------------

// All parts are none until they are put, so that a half-made one can be
// dropped like any other.
tl_nested *tl_nested_new(tl_vm *vm, tl_form form, int ndim, int64_t count,
                         tl_type *layout) {
  tl_nested *n = tl_object_new(vm, TL_KIND_NESTED,
                               sizeof *n + (size_t)count * sizeof(tl_slot),
                               "a nested array");
  if (n == NULL)
    return NULL;
  n->head.dtype = (uint8_t)form;
  n->head.ndim = (uint8_t)ndim;
  n->layout = layout;
  n->count = count;
  for (int64_t i = 0; i < count; i++) n->parts[i] = tl_none();
  return n;
}

bool tl_nested_finish(tl_vm *vm, bool ok, tl_nested *n, tl_slot *out) {
  if (ok && n != NULL)
    *out = tl_own_nested(n);
  else if (n != NULL)
    tl_drop(vm, tl_own_nested(n));
  return ok && n != NULL;
}

void tl_nested_put(tl_vm *vm, tl_nested *n, int64_t i, tl_slot *part) {
  n->parts[i] = tl_escape(vm, part, TL_CAUSE_ITEM);
}

// With [second] NULL an array of one part. If the content is bytes, what is
// built is the same form over the text inside, and bytes around all of it:
//
//   OPTION of BYTES of strings     BYTES of OPTION of strings
//
// since BYTES is the outermost form (tl_form), and pointers alone have it in
// their target.
bool tl_nested_pair(tl_vm *vm, tl_form form, int ndim, tl_slot *first,
                    tl_slot *second, tl_slot *out) {
  int64_t count = second != NULL ? 2 : 1;
  // Bytes are bytes on the outside.
  bool raw_bytes = second != NULL && tl_is_form(*second, TL_FORM_BYTES) &&
                   form != TL_FORM_POINTER;
  if (raw_bytes) {
    tl_slot inside = tl_retain(vm, tl_borrow(second->nested->parts[0]));
    tl_clear(vm, second);
    *second = inside;
  }
  tl_nested *n = tl_nested_new(vm, form, ndim, count, NULL);
  if (n == NULL) {
    tl_clear(vm, first);
    if (second != NULL)
      tl_clear(vm, second);
    return false;
  }
  tl_nested_put(vm, n, 0, first);
  if (second != NULL)
    tl_nested_put(vm, n, 1, second);
  *out = tl_own_nested(n);
  tl_slot whole = *out;
  return !raw_bytes ||
         tl_nested_pair(vm, TL_FORM_BYTES, ndim, &whole, NULL, out);
}

// The layout is set behind, as tl_nested_pair knows none; types live as long as
// the VM, so nothing counts it.
bool tl_struct_of_block(tl_vm *vm, tl_type *layout, tl_slot *bytes,
                        tl_slot *out) {
  if (!tl_nested_pair(vm, TL_FORM_STRUCT, tl_ndim(bytes->array) - 1, bytes,
                      NULL, out))
    return false;
  out->nested->layout = layout;
  return true;
}

// One axis less than others have: the last one of the block is an item's bytes.
bool tl_struct_zeros(tl_vm *vm, tl_type *layout, int ndim, const int64_t *shape,
                     tl_slot *out) {
  int64_t full[TL_MAX_DIMS];
  if (ndim >= TL_MAX_DIMS)
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "an array of structs has at most %d dimensions",
                   TL_MAX_DIMS - 1);
  for (int i = 0; i < ndim; i++) full[i] = shape[i];
  full[ndim] = layout->itemsize;
  tl_slot part;
  return tl_array_give(tl_array_zeros(vm, TL_UINT8, ndim + 1, full), &part) &&
         tl_struct_of_block(vm, layout, &part, out);
}

bool tl_places_pair(tl_vm *vm, tl_form form, tl_array *places, tl_slot *second,
                    tl_slot *out) {
  tl_slot first;
  if (tl_array_give(places, &first))
    return tl_nested_pair(vm, form,
                          form == TL_FORM_RAGGED ? 1 : tl_ndim(places), &first,
                          second, out);
  tl_clear(vm, second);
  return false;
}

bool tl_ragged_new(tl_vm *vm, tl_array *offsets, tl_slot *items, tl_slot *out) {
  return tl_places_pair(vm, TL_FORM_RAGGED, offsets, items, out);
}

// For code of the form "make offsets, make items": its only end, whichever of
// the two failed.
bool tl_ragged_close(tl_vm *vm, bool ok, tl_array *offsets, tl_slot *items,
                     tl_slot *out) {
  if (ok)
    return tl_ragged_new(vm, offsets, items, out);
  tl_array_drop(vm, offsets);
  return false;
}

// The offsets of other rows are shared, so that rows of one origin are known to
// agree at once (tl_ragged_agree).
bool tl_rows_close(tl_vm *vm, bool ok, tl_slot *offsets, tl_slot *items,
                   tl_slot *out) {
  if (ok)
    return tl_nested_pair(vm, TL_FORM_RAGGED, 1, offsets, items, out);
  tl_clear(vm, offsets);
  return false;
}
