// Nested arrays: making them, and their types. See nested.h.

#include "vm/nested/nested.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "vm/nested/indexed.h"
#include "vm/error.h"
#include "vm/types/layout.h"
#include "vm/memory/mapping.h"
#include "vm/nested/raw_bytes.h"
#include "vm/vm.h"

// --- Making -----------------------------------------------------------------

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

void tl_nested_put(tl_vm *vm, tl_nested *n, int64_t i, tl_slot *part) {
  n->parts[i] = tl_escape(vm, part, TL_CAUSE_ITEM);
}

bool tl_nested_pair(tl_vm *vm, tl_form form, int ndim, tl_slot *first,
                    tl_slot *second, tl_slot *out) {
  int64_t count = second != NULL ? 2 : 1;
  // Bytes are bytes on the outside.
  bool raw_bytes =
      second != NULL && tl_is_raw_bytes(*second) && form != TL_FORM_POINTER;
  if (raw_bytes) {
    tl_slot inside = tl_retain(vm, tl_raw_bytes_inside(*second));
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
  if (raw_bytes) {
    tl_slot whole = *out;
    return tl_raw_bytes_close(vm, &whole, out);
  }
  return true;
}

bool tl_struct_zeros(tl_vm *vm, tl_type *layout, int ndim, const int64_t *shape,
                     tl_slot *out) {
  int64_t full[TL_MAX_DIMS];
  if (ndim >= TL_MAX_DIMS) {
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "an array of structs has at most %d dimensions",
                   TL_MAX_DIMS - 1);
  }
  for (int i = 0; i < ndim; i++) full[i] = shape[i];
  full[ndim] = layout->itemsize;
  tl_array *block = tl_array_zeros(vm, TL_UINT8, ndim + 1, full);
  if (block == NULL)
    return false;
  tl_slot part = tl_own_array(block);
  if (!tl_nested_pair(vm, TL_FORM_STRUCT, ndim, &part, NULL, out))
    return false;
  out->nested->layout = layout;
  return true;
}

// --- Types ------------------------------------------------------------------

static tl_type *type_of_columns(tl_vm *vm, const tl_nested *n) {
  tl_type model = {.kind = n->layout->kind, .field_count = n->count};
  size_t nbytes = (size_t)n->count * sizeof *model.fields;
  model.fields = tl_alloc(vm, nbytes, "a type");
  if (model.fields == NULL)
    return NULL;
  bool ok = true;
  for (int64_t i = 0; ok && i < n->count; i++) {
    model.fields[i].name = n->layout->fields[i].name;
    model.fields[i].type = tl_type_below(vm, n->parts[i], tl_nested_ndim(n));
    ok = model.fields[i].type != NULL;
  }
  tl_type *type = ok ? tl_type_intern(vm, &model) : NULL;
  tl_free(vm, model.fields, nbytes);
  return type;
}

// The type of what one item is, below the fixed dimensions.
static tl_type *type_of_item(tl_vm *vm, const tl_nested *n) {
  static const tl_type_kind kinds[TL_FORM_COUNT] = {
      [TL_FORM_OPTION] = TL_TYPE_OPTION,
      [TL_FORM_RAGGED] = TL_TYPE_VAR,
      [TL_FORM_POINTER] = TL_TYPE_POINTER};
  tl_form form = tl_nested_form(n);
  tl_type model = {.kind = kinds[form]};
  switch (form) {
    case TL_FORM_STRUCT:
      return tl_layout_plain(vm, n->layout);
    case TL_FORM_COLUMNS:
      return type_of_columns(vm, n);
    case TL_FORM_BYTES:
      return tl_raw_bytes_type(vm, n);
    case TL_FORM_GRID:
      return tl_type_below(vm, n->parts[1], 1);
    case TL_FORM_CATEGORY:
      if (tl_is_array(n->parts[0]))
        return tl_category_type(vm, n);
      model.kind = TL_TYPE_OPTION;
      model.of = tl_category_type(vm, n);
      break;
    default:
      model.of = tl_type_below(vm, n->parts[1],
                               tl_part_spans(n, 1) ? tl_nested_ndim(n) : 1);
      break;
  }
  return model.of != NULL ? tl_type_intern(vm, &model) : NULL;
}

tl_type *tl_type_below(tl_vm *vm, tl_slot s, int skip) {
  tl_type *type;
  int ndim = tl_value_ndim(s);
  if (tl_is_nested(s))
    type = type_of_item(vm, s.nested);
  else
    type = tl_type_of_dtype(vm, tl_array_dtype(s.array));
  for (int i = ndim - 1; i >= skip && type != NULL; i--) {
    tl_type model = {
        .kind = TL_TYPE_FIXED, .size = tl_value_length(s, i), .of = type};
    type = tl_type_intern(vm, &model);
  }
  return type;
}
