// Layouts of structs: see layout.h.
#include "vm/types/layout.h"

#include <inttypes.h>

#include "vm/error.h"

// --- Sizes ------------------------------------------------------------------

// Recurses no deeper than TL_TYPE_DEPTH, as types do.
bool tl_type_is_plain(const tl_type *type) {
  while (type->kind == TL_TYPE_FIXED) type = type->of;
  if (type->kind == TL_TYPE_DTYPE)
    return type->dtype != TL_STRING;
  if (tl_type_is_text(type))
    return true;
  if (!tl_type_has_fields(type) || type->field_count == 0)
    return false;
  for (int64_t i = 0; i < type->field_count; i++)
    if (!tl_type_is_plain(type->fields[i].type))
      return false;
  return true;
}

// As C has it: a struct's is in its layout, a complex number's is its parts',
// a char's that of an int32, and bytes have none.
int64_t tl_type_align(const tl_type *type) {
  while (type->kind == TL_TYPE_FIXED) type = type->of;
  if (tl_type_has_fields(type))
    return type->align;
  if (tl_type_is_text(type))
    return type->kind == TL_TYPE_CHAR ? 4 : 1;
  int64_t size = (int64_t)tl_itemsize(type->dtype);
  return tl_dtype_is_complex(type->dtype) ? size / 2 : size;
}

// False on overflow.
// Recursion is not needed: structs inside have been laid out, and know their
// size.
static bool size_of(const tl_type *type, int64_t *out) {
  int64_t count = 1, one;
  for (; type->kind == TL_TYPE_FIXED; type = type->of)
    if (__builtin_mul_overflow(count, type->size, &count))
      return false;
  one = tl_type_has_fields(type)             ? type->itemsize
        : type->kind == TL_TYPE_FIXED_STRING ? type->size
        : type->kind == TL_TYPE_CHAR         ? 4
                                     : (int64_t)tl_itemsize(type->dtype);
  return !__builtin_mul_overflow(count, one, out);
}

// The sizes of layouts were checked when they were made, so this cannot
// overflow for them.
int64_t tl_type_size(const tl_type *type) {
  int64_t size = 0;
  size_of(type, &size);
  return size;
}

// --- Making layouts ---------------------------------------------------------

// The error of a field that has no fixed size (kind type). Returns false.
static bool fail_plain(tl_vm *vm, const tl_type *field, const tl_string *name) {
  tl_string *text = tl_type_text(vm, field);
  if (text == NULL)
    return false;
  tl_fail(
      vm, TALLY_ERR_TYPE,
      "the field %s is %s: the fields of a struct in one block are "
      "numbers, fixed_string[n], char, fixed dimensions of them and structs",
      name->text, text->text);
  tl_drop(vm, tl_own_string(text));
  return false;
}

// Kind shape, as for an array that is too large. Returns false.
static bool fail_size(tl_vm *vm, const tl_string *name) {
  return tl_fail(vm, TALLY_ERR_SHAPE,
                 "the struct is too large: its size overflows at field %s",
                 name->text);
}

// A field's type with every struct in it laid out; NULL after tl_fail.
// The type itself where no struct is in it, so that no other type is made of
// dimensions over numbers.
static tl_type *lay_out(tl_vm *vm, tl_type *type, bool packed) {
  if (tl_type_has_fields(type))
    return tl_layout_of(vm, type, packed);
  if (type->kind != TL_TYPE_FIXED)
    return type;
  tl_type *of = lay_out(vm, type->of, packed);
  return of == type->of ? type : tl_type_fixed(vm, type->size, of);
}

// Rounds up; false on overflow.
// The double remainder makes 0 of a size that is aligned already.
static bool round_up(int64_t *size, int64_t align) {
  int64_t more = (align - *size % align) % align;
  return !__builtin_add_overflow(*size, more, size);
}

// Places the fields: [given] offsets, or one behind the other.
// By C's rules each field begins at a multiple of its alignment and the whole
// is as large as makes the next item aligned too. False (kind shape) where the
// sum overflows.
static bool place_fields(tl_vm *vm, tl_type *model, const int64_t *given,
                         bool packed) {
  int64_t end = 0;
  model->align = 1;
  for (int64_t i = 0; i < model->field_count; i++) {
    tl_type_field *field = &model->fields[i];
    int64_t size, align = packed ? 1 : tl_type_align(field->type);
    int64_t at = given != NULL ? given[i] : end;
    if (!size_of(field->type, &size) ||
        (given == NULL && !round_up(&at, align)) ||
        __builtin_add_overflow(at, size, &size)) {
      return fail_size(vm, field->name);
    }
    model->offsets[i] = at;
    // Given offsets may leave a field unaligned: then so is the struct.
    if (at % align == 0 && align > model->align)
      model->align = align;
    if (size > end)
      end = size;
  }
  if (!round_up(&end, model->align))
    return fail_size(vm, model->fields[model->field_count - 1].name);
  model->itemsize = end;
  return true;
}

// A type that is being put together on the stack, with its fields and their
// offsets in one allocation; interning copies them.
typedef struct draft {
  tl_type model;
  tl_type_field *fields;
  int64_t *offsets;
  size_t nbytes;
} draft;

// The caller frees d->fields, which begin the allocation.
static bool open_draft(tl_vm *vm, draft *d, tl_type_kind kind, int64_t count) {
  size_t one = sizeof(tl_type_field) + sizeof(int64_t);
  d->nbytes = (size_t)(count > 0 ? count : 1) * one;
  d->fields = tl_alloc(vm, d->nbytes, "a layout");
  if (d->fields == NULL)
    return false;
  d->offsets = (int64_t *)(void *)(d->fields + count);
  d->model = (tl_type){.kind = kind,
                       .field_count = count,
                       .fields = d->fields,
                       .offsets = d->offsets};
  return true;
}

// Fails (kind type) for a field that is not plain, (kind value) for one beyond
// [itemsize]. A given size that the alignment does not divide lowers it: the
// second item would not be aligned.
// [given] are the fields' offsets; NULL: one field behind the other.
static tl_type *make_layout(tl_vm *vm, tl_type *type, const int64_t *given,
                            bool packed, int64_t itemsize) {
  draft d;
  if (!open_draft(vm, &d, type->kind, type->field_count))
    return NULL;
  bool ok = true;
  for (int64_t i = 0; ok && i < type->field_count; i++) {
    const tl_type_field *field = &type->fields[i];
    ok = tl_type_is_plain(field->type) ||
         fail_plain(vm, field->type, field->name);
    d.fields[i] = *field;
    if (ok)
      d.fields[i].type = lay_out(vm, field->type, packed);
    ok = ok && d.fields[i].type != NULL;
  }
  ok = ok && place_fields(vm, &d.model, given, packed);
  if (ok && itemsize > 0) {
    for (int64_t i = 0; ok && i < type->field_count; i++) {
      int64_t end = d.offsets[i] + tl_type_size(d.fields[i].type);
      if (end > itemsize)
        ok = tl_fail(vm, TALLY_ERR_VALUE,
                     "the field %s ends at byte %" PRId64
                     ", but an item has %" PRId64 " bytes",
                     d.fields[i].name->text, end, itemsize);
    }
    d.model.itemsize = itemsize;
    while (itemsize % d.model.align != 0) d.model.align /= 2;
  }
  tl_type *made = ok ? tl_type_intern(vm, &d.model) : NULL;
  tl_free(vm, d.fields, d.nbytes);
  return made;
}

// What is a layout already is one of its own, packed or not.
tl_type *tl_layout_of(tl_vm *vm, tl_type *type, bool packed) {
  if (type->offsets != NULL)
    return type;
  if (type->field_count == 0) {
    tl_fail(vm, TALLY_ERR_TYPE, "a struct array has at least one field");
    return NULL;
  }
  return make_layout(vm, type, NULL, packed, 0);
}

// Negative offsets fail here (kind value); those that reach too far where the
// layout is made.
tl_type *tl_layout_given(tl_vm *vm, tl_type *type, const int64_t *offsets,
                         int64_t itemsize) {
  for (int64_t i = 0; i < type->field_count; i++) {
    if (offsets[i] >= 0)
      continue;
    tl_fail(vm, TALLY_ERR_VALUE, "the offset of field %s is %" PRId64,
            type->fields[i].name->text, offsets[i]);
    return NULL;
  }
  return make_layout(vm, type, offsets, false, itemsize);
}

// Always a struct: of a tuple's members "0" and "2" these are the names.
tl_type *tl_layout_select(tl_vm *vm, const tl_type *layout, uint32_t count,
                          const int64_t *fields) {
  draft d;
  if (!open_draft(vm, &d, TL_TYPE_STRUCT, count))
    return NULL;
  for (uint32_t i = 0; i < count; i++) {
    d.fields[i] = layout->fields[fields[i]];
    if (layout->offsets != NULL)
      d.offsets[i] = layout->offsets[fields[i]];
  }
  if (layout->offsets == NULL)
    d.model.offsets = NULL;
  d.model.itemsize = layout->itemsize;
  d.model.align = layout->align;
  tl_type *made = tl_type_intern(vm, &d.model);
  tl_free(vm, d.fields, d.nbytes);
  return made;
}

// Interned, so it is the very type that typeof(x) gives. A type without layouts
// is itself.
tl_type *tl_layout_plain(tl_vm *vm, tl_type *layout) {
  if (layout->kind == TL_TYPE_FIXED) {
    tl_type *of = tl_layout_plain(vm, layout->of);
    return of == layout->of ? layout : tl_type_fixed(vm, layout->size, of);
  }
  if (!tl_type_has_fields(layout) || layout->offsets == NULL)
    return layout;
  draft d;
  if (!open_draft(vm, &d, layout->kind, layout->field_count))
    return NULL;
  d.model.offsets = NULL;
  bool ok = true;
  for (int64_t i = 0; ok && i < layout->field_count; i++) {
    d.fields[i] = layout->fields[i];
    d.fields[i].type = tl_layout_plain(vm, layout->fields[i].type);
    ok = d.fields[i].type != NULL;
  }
  tl_type *made = ok ? tl_type_intern(vm, &d.model) : NULL;
  tl_free(vm, d.fields, d.nbytes);
  return made;
}
