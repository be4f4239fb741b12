// The types of nested arrays: what one item is, below the fixed dimensions.
#include "vm/nested/nested.h"

#include "vm/text/format.h"
#include "vm/types/layout.h"

// --- Categories --------------------------------------------------------------

// A category as the type's text has it: a string itself, a number as print
// writes it. Returns owned, or an immortal string; NULL after tl_fail.
static tl_string *category_name(tl_vm *vm, const tl_array *categories,
                                int64_t i) {
  tl_slot item =
      tl_item(vm, categories, categories->data + i * tl_strides(categories)[0]);
  if (tl_is_unset(item) || tl_is_string(item))
    return tl_is_unset(item) ? NULL : item.string;
  tl_text text;
  tl_text_open(&text, vm);
  bool ok = tl_format_value(vm, &text, item, false, 0);
  tl_drop(vm, item);
  if (ok)
    return tl_text_finish(&text);
  tl_text_close(&text);
  return NULL;
}

// categorical[string, ["a", "b"]]
static tl_type *type_of_category(tl_vm *vm, const tl_nested *n) {
  const tl_array *categories = n->parts[1].array;
  tl_type model = {.kind = TL_TYPE_CATEGORICAL,
                   .of = tl_type_of_dtype(vm, tl_array_dtype(categories))};
  size_t nbytes = ((size_t)categories->size + 1) * sizeof *model.fields;
  model.fields = tl_alloc(vm, nbytes, "a type");
  bool ok = model.fields != NULL;
  for (int64_t i = 0; ok && i < categories->size; i++) {
    tl_string *name = category_name(vm, categories, i);
    ok = name != NULL;
    if (ok)
      model.fields[model.field_count++] = (tl_type_field){name, model.of};
  }
  tl_type *type = ok ? tl_type_intern(vm, &model) : NULL;
  for (int64_t i = 0; i < model.field_count; i++) {
    tl_string *name = model.fields[i].name;
    if ((name->head.flags & TL_IMMORTAL) == 0)
      tl_drop(vm, tl_own_string(name));
  }
  tl_free(vm, model.fields, nbytes);
  return type;
}

// --- Bytes -------------------------------------------------------------------

// The same type with bytes for its strings.
// Rows and options are gone through to the string at the bottom of them.
static tl_type *bytes_for_strings(tl_vm *vm, tl_type *type) {
  tl_type model = {.kind = TL_TYPE_BYTES};
  if (type == NULL)
    return NULL;
  if (type->kind != TL_TYPE_DTYPE) {
    model = (tl_type){.kind = type->kind, .size = type->size};
    model.of = bytes_for_strings(vm, type->of);
    if (model.of == NULL)
      return NULL;
  }
  return tl_type_intern(vm, &model);
}

// The text inside has a type of its own, in which strings are then bytes.
static tl_type *type_of_bytes(tl_vm *vm, const tl_nested *n) {
  tl_slot inside = n->parts[0];
  return bytes_for_strings(
      vm, tl_is_string(inside) ? tl_type_of_dtype(vm, TL_STRING)
                               : tl_type_below(vm, inside, tl_nested_ndim(n)));
}

// --- Any ---------------------------------------------------------------------

tl_type *tl_type_columns(tl_vm *vm, const tl_type *model,
                         const tl_slot *columns, int skip) {
  for (int64_t i = 0; i < model->field_count; i++) {
    model->fields[i].type = tl_type_below(vm, columns[i], skip);
    if (model->fields[i].type == NULL || !tl_poll_at(vm, i))
      return NULL;
  }
  return tl_type_intern(vm, model);
}

// The layout has the fields' names; their types are read off the columns, since
// an update may have given a column another one.
static tl_type *type_of_columns(tl_vm *vm, const tl_nested *n) {
  tl_type model = {.kind = n->layout->kind, .field_count = n->count};
  size_t nbytes = (size_t)n->count * sizeof *model.fields;
  model.fields = tl_alloc(vm, nbytes, "a type");
  if (model.fields == NULL)
    return NULL;
  for (int64_t i = 0; i < n->count; i++)
    model.fields[i].name = n->layout->fields[i].name;
  tl_type *type = tl_type_columns(vm, &model, n->parts, tl_nested_ndim(n));
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
      return type_of_bytes(vm, n);
    case TL_FORM_GRID:
      return tl_type_below(vm, n->parts[1], 1);
    case TL_FORM_CATEGORY:
      if (tl_is_array(n->parts[0]))
        return type_of_category(vm, n);
      model.kind = TL_TYPE_OPTION;
      model.of = type_of_category(vm, n);
      break;
    default:
      model.of = tl_type_below(vm, n->parts[1],
                               tl_part_spans(n, 1) ? tl_nested_ndim(n) : 1);
      break;
  }
  return model.of != NULL ? tl_type_intern(vm, &model) : NULL;
}

// From the inside out: the item, then a fixed dimension around it for each axis
// from the last one to [skip].
tl_type *tl_type_below(tl_vm *vm, tl_slot s, int skip) {
  tl_type *type;
  int ndim = tl_value_ndim(s);
  if (tl_is_nested(s))
    type = type_of_item(vm, s.nested);
  else
    type = tl_type_of_dtype(vm, tl_array_dtype(s.array));
  for (int i = ndim - 1; i >= skip; i--)
    type = tl_type_fixed(vm, tl_value_length(s, i), type);
  return type;
}
