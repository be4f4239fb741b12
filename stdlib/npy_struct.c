// Dtypes of NumPy: made into ours and into layouts of structs, written from
// them.
//
//   [('x', '<f8'), ('', '|V4'), ('s', '<U4'), ('m', '<i4', (2, 3))]
//
//   x   float64                 at 0
//       padding, no field       at 8
//   s   4 * char                at 12
//   m   2 * 3 * int32           at 28      an item has 52 bytes

#include "stdlib/npy_struct.h"

#include <stdio.h>

#include "vm/types/layout.h"

// --- Dtypes -----------------------------------------------------------------

// NumPy's letters of our kinds.
static const char kinds[] = "BIUFC", letters[] = "biufc";

// The pair is looked up among our dtypes: "f2" and "f16" have none.
tl_dtype tl_npy_dtype(char letter, long size) {
  const char *at = letter != 0 ? strchr(letters, letter) : NULL;
  for (int d = 0; at && d < TL_STRING; d++)
    if (tl_dtypes[d].kind == kinds[at - letters] &&
        tl_dtypes[d].itemsize == size)
      return (tl_dtype)d;
  return TL_DTYPE_COUNT;
}

int tl_npy_spell_dtype(tl_dtype dtype, char *out, size_t room) {
  size_t size = tl_itemsize(dtype);
  char letter = letters[strchr(kinds, tl_dtypes[dtype].kind) - kinds];
  return snprintf(out, room, "'%c%c%zu'",
                  size == 1            ? '|'
                  : tl_is_big_endian() ? '>'
                                       : '<',
                  letter, size);
}

// --- Fields -----------------------------------------------------------------

// The type of a field: of one letter and a size, or a list of fields with their
// size, and fixed dimensions around it.
static tl_type *field_type(tl_vm *vm, const tl_slot *field) {
  const tl_list *shape = field[3].list;
  tl_type *type;
  if (tl_is_list(field[1])) {
    const tl_slot *inner = field[1].list->items;
    type = tl_npy_layout(vm, inner[0].list, inner[1].i, NULL);
  } else {
    const char letter = field[1].string->text[0];
    const int64_t size = field[2].i;
    tl_type model = {.kind = TL_TYPE_CHAR};
    if (letter == 'S')
      model = (tl_type){.kind = TL_TYPE_FIXED_STRING, .size = size};
    type = letter == 'S' || letter == 'U'
               ? tl_type_intern(vm, &model)
               : tl_type_of_dtype(vm, tl_npy_dtype(letter, (long)size));
    if (letter == 'U' && size > 1)
      type = tl_type_fixed(vm, size, type);
  }
  for (int64_t k = shape->length - 1; k >= 0; k--)
    type = tl_type_fixed(vm, shape->items[k].i, type);
  return type;
}

// Names stay the list's: the interned type has its own references.
tl_type *tl_npy_layout(tl_vm *vm, const tl_list *list, int64_t itemsize,
                       tl_npy_texts *texts) {
  const size_t count = (size_t)list->length;
  const size_t nbytes = count * (sizeof(tl_type_field) + sizeof(int64_t));
  tl_type_field *fields = tl_alloc(vm, nbytes, "fields");
  if (fields == NULL)
    return NULL;
  int64_t *offsets = (int64_t *)(void *)(fields + count);
  bool ok = true;
  for (size_t i = 0; ok && i < count; i++) {
    const tl_slot *field = list->items[i].list->items;
    fields[i] =
        (tl_type_field){.name = field[0].string, .type = field_type(vm, field)};
    offsets[i] = field[4].i;
    if (field[5].i != 0 && texts != NULL)
      tl_npy_set_text(texts, (int64_t)i);
    ok = fields[i].type != NULL;
  }
  tl_type model = {
      .kind = TL_TYPE_STRUCT, .field_count = list->length, .fields = fields};
  tl_type *plain = ok ? tl_type_intern(vm, &model) : NULL;
  tl_type *made =
      plain != NULL ? tl_layout_given(vm, plain, offsets, itemsize) : NULL;
  tl_free(vm, fields, nbytes);
  return made;
}

bool tl_npy_has_bools(const tl_type *type) {
  while (type->kind == TL_TYPE_FIXED) type = type->of;
  if (!tl_type_has_fields(type))
    return type->kind == TL_TYPE_DTYPE && type->dtype == TL_BOOL;
  for (int64_t i = 0; i < type->field_count; i++) {
    if (tl_npy_has_bools(type->fields[i].type))
      return true;
  }
  return false;
}

// Recurses over the type, once for each item of the file; texts of bytes have
// no order.
void tl_npy_settle(char *at, const tl_type *type, bool swapped) {
  if (type->kind == TL_TYPE_DTYPE)
    tl_settle_items(at, type->dtype, 1, swapped);
  else if (type->kind == TL_TYPE_CHAR && swapped)
    tl_swap_bytes(at, (size_t)tl_type_size(type), 1);
  int64_t step = type->kind == TL_TYPE_FIXED ? tl_type_size(type->of) : 0;
  for (int64_t i = 0; type->kind == TL_TYPE_FIXED && i < type->size; i++)
    tl_npy_settle(at + i * step, type->of, swapped);
  for (int64_t i = 0; tl_type_has_fields(type) && i < type->field_count; i++)
    tl_npy_settle(at + type->offsets[i], type->fields[i].type, swapped);
}

// --- Writing ----------------------------------------------------------------

// A name in quotes, so that Python reads it back. Bytes above 127 stay: version
// 3 of the format is UTF-8.
static void add_name(tl_text *text, const tl_string *name) {
  tl_text_puts(text, "('");
  for (size_t i = 0; i < name->length; i++) {
    if (name->text[i] == '\'' || name->text[i] == '\\')
      tl_text_putc(text, '\\');
    tl_text_putc(text, name->text[i]);
  }
  tl_text_puts(text, "', ");
}

// A gap as an unnamed field of raw bytes, which is how NumPy writes one.
static void add_padding(tl_text *text, int64_t nbytes) {
  if (nbytes > 0)
    tl_text_printf(text, "('', '|V%lld'), ", (long long)nbytes);
}

// Only gaps say where fields are, which is why offsets must rise. Fixed
// dimensions become the shape of a field, outermost first.
bool tl_npy_write_fields(tl_vm *vm, tl_text *text, const tl_type *layout,
                         const tl_npy_texts *texts) {
  const char order = tl_is_big_endian() ? '>' : '<';
  int64_t end = 0;
  tl_text_putc(text, '[');
  for (int64_t i = 0; i < layout->field_count; i++) {
    const tl_type_field *field = &layout->fields[i];
    const tl_type *item = field->type;
    if (layout->offsets[i] < end) {
      return tl_fail(vm, TALLY_ERR_TYPE,
                     "write_npy: the field %s lies before the end of the one "
                     "before it; relayout(p) first",
                     field->name->text);
    }
    add_padding(text, layout->offsets[i] - end);
    end = layout->offsets[i] + tl_type_size(item);
    add_name(text, field->name);
    if (texts != NULL && tl_npy_is_text(texts, i)) {
      tl_text_printf(text, "'%cU%lld'), ", order, (long long)item->size);
      continue;
    }
    while (item->kind == TL_TYPE_FIXED) item = item->of;
    if (tl_type_has_fields(item)) {
      if (!tl_npy_write_fields(vm, text, item, NULL))
        return false;
    } else if (item->kind == TL_TYPE_FIXED_STRING) {
      tl_text_printf(text, "'|S%lld'", (long long)item->size);
    } else if (item->kind == TL_TYPE_CHAR) {
      tl_text_printf(text, "'%cU1'", order);
    } else {
      char dtype[16];
      tl_npy_spell_dtype(item->dtype, dtype, sizeof dtype);
      tl_text_puts(text, dtype);
    }
    if (item != field->type) {
      tl_text_puts(text, ", (");
      for (const tl_type *t = field->type; t != item; t = t->of)
        tl_text_printf(text, "%lld, ", (long long)t->size);
      tl_text_putc(text, ')');
    }
    tl_text_puts(text, "), ");
  }
  add_padding(text, layout->itemsize - end);
  tl_text_putc(text, ']');
  return !text->failed;
}
