// Nested arrays: making them, their shapes and types. See nested.h.
#include "vm/nested/nested.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "vm/values/category.h"
#include "vm/error.h"
#include "vm/types/layout.h"
#include "vm/memory/mapping.h"
#include "vm/values/octets.h"
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
  bool octets =
      second != NULL && tl_is_octets(*second) && form != TL_FORM_POINTER;
  if (octets) {
    tl_slot inside = tl_retain(vm, tl_octets_inside(*second));
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
  if (octets) {
    tl_slot whole = *out;
    return tl_octets_close(vm, &whole, out);
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

// --- Shapes -----------------------------------------------------------------

int tl_value_ndim(tl_slot s) {
  if (tl_is_array(s))
    return tl_ndim(s.array);
  return tl_is_nested(s) ? tl_nested_ndim(s.nested) : 0;
}

int tl_value_axes(tl_slot s) {
  int axes = 0;
  while (tl_is_form(s, TL_FORM_RAGGED) || tl_is_form(s, TL_FORM_GRID)) {
    // The rows' own axis counts once, with what is in them.
    axes += tl_is_form(s, TL_FORM_RAGGED) ? 1 : tl_value_ndim(s) - 1;
    s = s.nested->parts[1];
  }
  return axes + tl_value_ndim(s);
}

int64_t tl_value_length(tl_slot s, int axis) {
  // At most as deep as an array has axes: each turn is a part's part.
  while (tl_is_nested(s)) {
    if (tl_is_form(s, TL_FORM_RAGGED))
      return tl_shape(s.nested->parts[0].array)[0] - 1;
    s = s.nested->parts[0];
  }
  if (tl_is_string(s))  // bytes by themselves
    return (int64_t)s.string->length;
  return tl_shape(s.array)[axis];
}

int64_t tl_nested_size(const tl_nested *n) {
  tl_slot s = {.tag = TL_TAG_NESTED, .nested = (tl_nested *)n};
  int64_t size = 1;
  for (int i = 0; i < tl_nested_ndim(n); i++) size *= tl_value_length(s, i);
  return size;
}

int64_t tl_value_nbytes(tl_slot s) {
  if (tl_is_array(s)) {
    tl_dtype dtype = tl_array_dtype(s.array);
    return s.array->size * (int64_t)tl_itemsize(dtype);
  }
  int64_t nbytes = tl_is_string(s) ? (int64_t)s.string->length : 0;
  for (int64_t i = 0; tl_is_nested(s) && i < s.nested->count; i++)
    nbytes += tl_value_nbytes(s.nested->parts[i]);
  return nbytes;
}

int64_t tl_value_shown(tl_slot s) {
  if (!tl_is_form(s, TL_FORM_RAGGED)) {
    int64_t nbytes = tl_is_nested(s) ? 0 : tl_value_nbytes(s);
    for (int64_t i = 0; tl_is_nested(s) && i < s.nested->count; i++)
      nbytes += tl_value_shown(s.nested->parts[i]);
    return nbytes;
  }
  int64_t start, stop, unused, rows = tl_value_length(s, 0);
  int64_t all = tl_value_shown(s.nested->parts[1]);
  int64_t length = tl_value_length(s.nested->parts[1], 0);
  int64_t offsets = tl_value_nbytes(s.nested->parts[0]);
  if (rows == 0 || length == 0)
    return offsets;
  tl_ragged_row(s.nested, 0, &start, &unused);
  tl_ragged_row(s.nested, rows - 1, &unused, &stop);
  return offsets +
         (int64_t)((double)all / (double)length * (double)(stop - start));
}

int64_t tl_value_held(tl_slot s) {
  if (tl_is_array(s)) {
    const tl_array *owner = tl_array_owner(s.array);
    return owner->size * (int64_t)tl_itemsize(tl_array_dtype(owner));
  }
  int64_t nbytes = 0;
  for (int64_t i = 0; tl_is_nested(s) && i < s.nested->count; i++)
    nbytes += tl_value_held(s.nested->parts[i]);
  return nbytes;
}

bool tl_nested_keeps_alone(const tl_nested *n) {
  bool alone = true;
  for (int64_t i = 0; alone && i < n->count; i++) {
    tl_slot part = n->parts[i];
    alone = tl_is_owned(part) && part.object->count == 1;
    if (alone && tl_is_nested(part))
      alone = tl_nested_keeps_alone(part.nested);
    else if (alone)
      alone = tl_array_owner(part.array)->head.count == 1;
  }
  return alone;
}

void tl_ragged_row(const tl_nested *n, int64_t i, int64_t *start,
                   int64_t *stop) {
  const tl_array *offsets = n->parts[0].array;
  const int64_t *at = (const int64_t *)(const void *)offsets->data;
  *start = at[i];
  *stop = at[i + 1];
}

int64_t tl_nested_find(const tl_nested *n, const tl_string *name) {
  // Rows of structs have the structs' fields.
  while ((tl_nested_form(n) == TL_FORM_RAGGED ||
          tl_nested_form(n) == TL_FORM_GRID ||
          tl_nested_form(n) == TL_FORM_POINTER) &&
         tl_is_nested(n->parts[1])) {
    n = n->parts[1].nested;
  }
  if (n->layout == NULL)
    return -1;
  for (int64_t i = 0; i < n->layout->field_count; i++) {
    if (tl_string_equal(n->layout->fields[i].name, name))
      return i;
  }
  return -1;
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

static tl_type *type_of_item(tl_vm *vm, const tl_nested *n) {
  tl_type model = {.kind = TL_TYPE_OPTION};
  switch (tl_nested_form(n)) {
    case TL_FORM_STRUCT:
      return tl_layout_plain(vm, n->layout);
    case TL_FORM_COLUMNS:
      return type_of_columns(vm, n);
    case TL_FORM_OPTION:
      model.of = tl_type_below(vm, n->parts[1], tl_nested_ndim(n));
      break;
    case TL_FORM_CATEGORY:
      if (tl_is_array(n->parts[0]))
        return tl_category_type(vm, n);
      model.of = tl_category_type(vm, n);
      break;
    case TL_FORM_GRID:
      return tl_type_below(vm, n->parts[1], 1);
    case TL_FORM_BYTES:
      return tl_octets_type(vm, n);
    case TL_FORM_POINTER:
      model.kind = TL_TYPE_POINTER;
      model.of = tl_type_below(vm, n->parts[1], 1);
      break;
    default:
      model.kind = TL_TYPE_VAR;
      model.of = tl_type_below(vm, n->parts[1], 1);
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

// --- Descriptions -----------------------------------------------------------
// Without the VM, which may be out of memory: into a buffer.

typedef struct line {
  char *at;
  size_t left;
  bool octets;  // strings are bytes
} line;

static void add(line *l, const char *text) {
  size_t n = strlen(text);
  bool cut = n + 4 > l->left;
  if (l->left < 5)
    return;
  if (cut)
    text = "…", n = strlen(text);
  memcpy(l->at, text, n + 1);
  l->at += n;
  l->left = cut ? 0 : l->left - n;
}

static void describe_type(line *l, const tl_type *type);

// What comes before field i, of a struct its name.
static void describe_begin(line *l, const tl_type *type, int64_t i) {
  bool tuple = type->kind == TL_TYPE_TUPLE;
  add(l, i > 0 ? ", " : tuple ? "(" : "{");
  if (tuple)
    return;
  bool word = tl_type_is_word(type->fields[i].name);
  add(l, word ? "" : "\"");
  add(l, type->fields[i].name->text);
  add(l, word ? ": " : "\": ");
}

static void describe_end(line *l, const tl_type *type) {
  bool tuple = type->kind == TL_TYPE_TUPLE;
  add(l, !tuple ? "}" : type->field_count == 1 ? ",)" : ")");
}

static void describe_fields(line *l, const tl_type *type) {
  for (int64_t i = 0; i < type->field_count && l->left > 0; i++) {
    describe_begin(l, type, i);
    describe_type(l, type->fields[i].type);
  }
  describe_end(l, type);
}

static void describe_dimension(line *l, int64_t length) {
  char number[32];
  snprintf(number, sizeof number, "%" PRId64 " * ", length);
  add(l, number);
}

// What one item in a block is called.
static const char *plain_name(const tl_type *type, char *buffer, size_t size) {
  if (type->kind == TL_TYPE_CHAR)
    return "char";
  if (type->kind != TL_TYPE_FIXED_STRING)
    return tl_dtypes[type->dtype].name;
  snprintf(buffer, size, "fixed_string[%" PRId64 "]", type->size);
  return buffer;
}

static void describe_type(line *l, const tl_type *type) {
  for (; type->kind == TL_TYPE_FIXED; type = type->of)
    describe_dimension(l, type->size);
  char text[48];
  if (tl_type_has_fields(type))
    describe_fields(l, type);
  else
    add(l, plain_name(type, text, sizeof text));
}

static void describe(line *l, tl_slot s, int skip) {
  int ndim = tl_value_ndim(s);
  for (int i = skip; i < ndim; i++)
    describe_dimension(l, tl_value_length(s, i));
  if (!tl_is_nested(s)) {
    add(l, l->octets ? "bytes" : tl_dtypes[tl_array_dtype(s.array)].name);
    return;
  }
  const tl_nested *n = s.nested;
  switch (tl_nested_form(n)) {
    case TL_FORM_STRUCT:
      describe_fields(l, n->layout);
      break;
    case TL_FORM_COLUMNS:
      for (int64_t i = 0; i < n->count && l->left > 0; i++) {
        describe_begin(l, n->layout, i);
        describe(l, n->parts[i], ndim);
      }
      describe_end(l, n->layout);
      break;
    case TL_FORM_OPTION:
      add(l, "?");
      describe(l, n->parts[1], ndim);
      break;
    case TL_FORM_GRID:
      describe(l, n->parts[1], 1);
      break;
    case TL_FORM_BYTES:
      l->octets = true;
      describe(l, n->parts[0], ndim);
      l->octets = false;
      break;
    case TL_FORM_POINTER:
      add(l, "pointer[");
      describe(l, n->parts[1], 1);
      add(l, "]");
      break;
    case TL_FORM_CATEGORY:
      add(l, tl_is_array(n->parts[0]) ? "categorical[" : "?categorical[");
      describe(l, n->parts[1], 1);
      add(l, ", …]");
      break;
    default:
      add(l, "var * ");
      describe(l, n->parts[1], 1);
      break;
  }
}

void tl_nested_describe(const tl_nested *n, char *buffer, size_t size) {
  line l = {buffer, size, false};
  buffer[0] = 0;
  describe(&l, (tl_slot){.tag = TL_TAG_NESTED, .nested = (tl_nested *)n}, 0);
}

const char *tl_plain_hint(tl_slot s) {
  if (!tl_is_nested(s))
    return "";
  switch (tl_nested_form(s.nested)) {
    case TL_FORM_OPTION:
      return "; fill_missing(x, value) replaces what is missing, "
             "drop_missing(x) leaves it out";
    case TL_FORM_RAGGED:
    case TL_FORM_GRID:
      return "; flatten(x) has the items of all rows, each(x, f) calls f for "
             "each row, pad(x, width, fill) makes rows of one length";
    case TL_FORM_STRUCT:
    case TL_FORM_COLUMNS:
      return "; its fields are arrays: x.name, columns(x)";
    default:
      return "";
  }
}

// --- The tree ---------------------------------------------------------------

static void indent(tl_text *text, int depth) {
  tl_text_putc(text, '\n');
  for (int i = 0; i < depth; i++) tl_text_puts(text, "  ");
}

// "size 3, stride 40": the fixed dimensions of a field.
static const tl_type *tree_dimensions(tl_text *text, const tl_type *type,
                                      int depth) {
  for (; type->kind == TL_TYPE_FIXED; type = type->of) {
    indent(text, depth);
    tl_text_printf(text, "size %" PRId64 ", stride %" PRId64, type->size,
                   tl_type_size(type->of));
  }
  return type;
}

static void tree_fields(tl_text *text, const tl_type *layout, int depth) {
  for (int64_t i = 0; i < layout->field_count; i++) {
    const tl_type_field *field = &layout->fields[i];
    const tl_type *item = field->type;
    while (item->kind == TL_TYPE_FIXED) item = item->of;
    indent(text, depth);
    tl_text_add(text, field->name->text, field->name->length);
    tl_text_printf(text, ": offset %" PRId64, layout->offsets[i]);
    char name[48];
    if (!tl_type_has_fields(item))
      tl_text_printf(text, ", %s", plain_name(item, name, sizeof name));
    tree_dimensions(text, field->type, depth + 1);
    if (tl_type_has_fields(item))
      tree_fields(text, item, depth + 1);
  }
}

static void tree_array(tl_text *text, const tl_array *a, int ndim, int depth) {
  for (int i = 0; i < ndim; i++) {
    indent(text, depth);
    tl_text_printf(text, "size %" PRId64 ", stride %" PRId64, tl_shape(a)[i],
                   tl_strides(a)[i]);
  }
}

// Who has the memory.
static void tree_owner(tl_text *text, const tl_array *a, int depth) {
  const tl_array *owner = tl_array_owner(a);
  indent(text, depth);
  tl_text_printf(text, "data: %p, ", (void *)a->data);
  if (tl_is_view(a)) {
    tl_text_printf(text, "owner: array at %p, count %u", (const void *)owner,
                   owner->head.count);
  } else {
    bool external = (a->head.flags & TL_EXTERNAL) != 0;
    tl_text_printf(text, "owner: %s",
                   external ? tl_external_owner(a) : "itself");
  }
}

static void tree_part(tl_text *text, const char *name, tl_slot part,
                      int depth) {
  indent(text, depth);
  tl_text_puts(text, name);
  if (tl_is_nested(part)) {
    tl_nested_tree(text, part.nested, depth + 1);
    return;
  }
  if (tl_is_string(part)) {
    tl_text_printf(text, ": %zu bytes, count %u", part.string->length,
                   part.object->count);
    return;
  }
  const tl_array *a = part.array;
  tl_text_printf(text, ": %s, count %u", tl_dtypes[tl_array_dtype(a)].name,
                 a->head.count);
  tree_array(text, a, tl_ndim(a), depth + 1);
  tree_owner(text, a, depth + 1);
}

void tl_nested_tree(tl_text *text, const tl_nested *n, int depth) {
  switch (tl_nested_form(n)) {
    case TL_FORM_STRUCT: {
      const tl_array *block = n->parts[0].array;
      tree_array(text, block, tl_nested_ndim(n), depth);
      tree_fields(text, n->layout, depth);
      tree_owner(text, block, depth);
      return;
    }
    case TL_FORM_COLUMNS:
      for (int64_t i = 0; i < n->count; i++)
        tree_part(text, n->layout->fields[i].name->text, n->parts[i], depth);
      return;
    case TL_FORM_OPTION:
      tree_part(text, "missing", n->parts[0], depth);
      tree_part(text, "values", n->parts[1], depth);
      return;
    case TL_FORM_CATEGORY:
      tree_part(text, "codes", n->parts[0], depth);
      tree_part(text, "categories", n->parts[1], depth);
      return;
    case TL_FORM_BYTES:
      tree_part(text, "bytes", n->parts[0], depth);
      return;
    case TL_FORM_POINTER:
      tree_part(text, "places", n->parts[0], depth);
      tree_part(text, "target", n->parts[1], depth);
      return;
    case TL_FORM_GRID:
      tree_part(text, "places", n->parts[0], depth);
      tree_part(text, "rows", n->parts[1], depth);
      return;
    default:
      tree_part(text, "offsets", n->parts[0], depth);
      tree_part(text, "items", n->parts[1], depth);
      return;
  }
}
