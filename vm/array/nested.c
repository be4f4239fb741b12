// The trees of nested arrays as they are read: shapes, sizes, descriptions.
//
// Built for size.

#include "vm/array/nested.h"

#include <inttypes.h>

#include "vm/array/array.h"
#include "vm/types/layout.h"

#define ROWS_HINT                                                   \
  "; flatten(x) has the items of all rows, each(x, f) calls f for " \
  "each row, pad_rows(x, width) makes rows of one length"

const tl_form_traits tl_form_table[TL_FORM_COUNT] = {
    [TL_FORM_OPTION] = {.names = {"missing", "values"},
                        .spans = 3,
                        .before = "?",
                        .behind = "",
                        .hint = "; fill_missing(x, value) replaces what is "
                                "missing, drop_missing(x) leaves it out"},
    [TL_FORM_STRUCT] = {.names = {"the block", ""},
                        .spans = 1,
                        .hint = "; its fields are arrays: x.name, columns(x)"},
    [TL_FORM_COLUMNS] = {.spans = UINT32_MAX,
                         .hint = "; its fields are arrays: x.name, columns(x)"},
    [TL_FORM_RAGGED] = {.names = {"offsets", "items"},
                        .has_rows = true,
                        .shows_fields = true,
                        .before = "var * ",
                        .behind = "",
                        .hint = ROWS_HINT},
    [TL_FORM_GRID] = {.names = {"places", "rows"},
                      .spans = 1,
                      .has_rows = true,
                      .is_indexed = true,
                      .shows_fields = true,
                      .before = "",
                      .behind = "",
                      .hint = ROWS_HINT},
    [TL_FORM_CATEGORY] = {.names = {"codes", "categories"},
                          .spans = 1,
                          .is_indexed = true,
                          .before = "categorical[",
                          .behind = ", …]",
                          .hint = ""},
    [TL_FORM_POINTER] = {.names = {"places", "target"},
                         .spans = 1,
                         .is_indexed = true,
                         .shows_fields = true,
                         .before = "pointer[",
                         .behind = "]",
                         .hint = ""},
    [TL_FORM_BYTES] = {.names = {"bytes", ""}, .spans = 1, .hint = ""},
};

// --- Shapes -----------------------------------------------------------------

int tl_value_ndim(tl_slot s) {
  if (tl_is_array(s))
    return tl_ndim(s.array);
  return tl_is_nested(s) ? tl_nested_ndim(s.nested) : 0;
}

// 3 * 4 * var * var * float64 has four: two fixed ones and one for each var.
// Rows of matrices add the matrices' other axes.
int tl_value_axes(tl_slot s) {
  int axes = 0;
  while (tl_has_rows(s)) {
    // The rows' own axis counts once, with what is in them.
    axes += tl_is_form(s, TL_FORM_RAGGED) ? 1 : tl_value_ndim(s) - 1;
    s = s.nested->parts[1];
  }
  return axes + tl_value_ndim(s);
}

// The first part of every form but RAGGED has the array's axes, so the way down
// by parts[0] ends at an array, or at the string that one value of bytes is.
int64_t tl_value_length(tl_slot s, int axis) {
  // At most as deep as an array has axes: each turn is a part's part.
  while (tl_is_nested(s)) {
    if (tl_is_form(s, TL_FORM_RAGGED))
      return tl_shape(s.nested->parts[0].array)[0] - 1;
    s = s.nested->parts[0];
  }
  if (tl_is_string(s))  // bytes by themselves
    return (int64_t)s.string->length;
  if (!tl_is_array(s))  // the place of one pointer
    return 0;
  return tl_shape(s.array)[axis];
}

int tl_value_shape(tl_slot s, int64_t *shape) {
  int ndim = tl_value_ndim(s);
  for (int i = 0; i < ndim; i++) shape[i] = tl_value_length(s, i);
  return ndim;
}

bool tl_value_agrees(tl_slot a, tl_slot b, int first) {
  bool same = tl_value_ndim(a) == tl_value_ndim(b);
  for (int i = first; same && i < tl_value_ndim(a); i++)
    same = tl_value_length(a, i) == tl_value_length(b, i);
  return same;
}

// Not checked for overflow: the parts that have these axes were made by
// tl_shape_size.
int64_t tl_nested_size(const tl_nested *n) {
  int64_t size = 1;
  for (int i = 0; i < tl_nested_ndim(n); i++)
    size *= tl_value_length(tl_lend_nested(n), i);
  return size;
}

// Which bytes of a value count: those of all that it has, of the items that it
// shows, or of the blocks that it keeps.
typedef enum counted { HAS, SHOWS, HOLDS } counted;

// What of all bytes of the content lies between the first row's begin and the
// last one's end: exact for items of one size, and near enough for the choice
// it serves.
static int64_t used_bytes(tl_slot ragged, int64_t all) {
  int64_t start, stop, unused, rows = tl_value_length(ragged, 0);
  int64_t length = tl_value_length(ragged.nested->parts[1], 0);
  if (rows == 0 || length == 0)
    return 0;
  tl_ragged_row(ragged.nested, 0, &start, &unused);
  tl_ragged_row(ragged.nested, rows - 1, &unused, &stop);
  return (int64_t)((double)all / (double)length * (double)(stop - start));
}

// Parts that are shared with other arrays count in full. Of what a value holds
// a view counts as all of its owner's block; a string, which nothing views, as
// nothing.
static int64_t bytes_of(tl_slot s, counted what) {
  if (tl_is_array(s))
    return (int64_t)tl_item_bytes(what == HOLDS ? tl_array_owner(s.array)
                                                : s.array);
  int64_t nbytes =
      tl_is_string(s) && what != HOLDS ? (int64_t)s.string->length : 0;
  for (int64_t i = 0; tl_is_nested(s) && i < s.nested->count; i++) {
    int64_t part = bytes_of(s.nested->parts[i], what);
    bool rows = what == SHOWS && i == 1 && tl_is_form(s, TL_FORM_RAGGED);
    nbytes += rows ? used_bytes(s, part) : part;
  }
  return nbytes;
}

int64_t tl_value_nbytes(tl_slot s) {
  return bytes_of(s, HAS);
}

// Rows of a slice use a part of their content.
int64_t tl_value_shown(tl_slot s) {
  return bytes_of(s, SHOWS);
}

int64_t tl_value_held(tl_slot s) {
  return bytes_of(s, HOLDS);
}

// Every part, down to the blocks, with a count of one.
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
  while (tl_nested_traits(n)->shows_fields && tl_is_nested(n->parts[1]))
    n = n->parts[1].nested;
  return n->layout != NULL ? tl_type_find(n->layout, name) : -1;
}

// --- Descriptions -----------------------------------------------------------
// Without the VM, which may be out of memory: into a buffer.

// The text of a value's type from dimension [skip] on, as tl_type_text would
// give it for tl_type_below(s, skip), but of categories not all of them.
// [raw_bytes]: strings are bytes.
static void describe(tl_text *text, tl_slot s, int skip, bool raw_bytes) {
  int ndim = tl_value_ndim(s);
  for (int i = skip; i < ndim; i++)
    tl_text_printf(text, "%" PRId64 " * ", tl_value_length(s, i));
  if (!tl_is_nested(s)) {
    tl_text_puts(text,
                 raw_bytes ? "bytes" : tl_dtypes[tl_array_dtype(s.array)].name);
    return;
  }
  const tl_nested *n = s.nested;
  const tl_form_traits *traits = tl_nested_traits(n);
  tl_form form = tl_nested_form(n);
  if (form == TL_FORM_STRUCT) {
    tl_type_write(text, n->layout);
  } else if (form == TL_FORM_COLUMNS) {
    // A tuple of one is written with a comma, as a list of one is.
    bool tuple = n->layout->kind == TL_TYPE_TUPLE;
    for (int64_t i = 0; i < n->count && !text->failed; i++) {
      tl_text_puts(text, i > 0 ? ", " : tuple ? "(" : "{");
      if (!tuple)
        tl_type_write_name(text, n->layout->fields[i].name);
      describe(text, n->parts[i], ndim, false);
    }
    tl_text_puts(text, !tuple ? "}" : n->count == 1 ? ",)" : ")");
  } else if (form == TL_FORM_BYTES) {
    describe(text, n->parts[0], ndim, true);
  } else {
    // Codes that may be missing stand for values that may be.
    tl_text_puts(text, tl_is_form(n->parts[0], TL_FORM_OPTION) ? "?" : "");
    tl_text_puts(text, traits->before);
    describe(text, n->parts[1], tl_part_spans(n, 1) ? ndim : 1, raw_bytes);
    tl_text_puts(text, traits->behind);
  }
}

void tl_nested_describe(const tl_nested *n, char *buffer, size_t size) {
  tl_text text;
  tl_text_within(&text, buffer, size);
  describe(&text, tl_lend_nested(n), 0, false);
  buffer[text.length] = 0;
}

const char *tl_plain_hint(tl_slot s) {
  return tl_is_nested(s) ? tl_nested_traits(s.nested)->hint : "";
}

const char *tl_part_name(const tl_nested *n, int64_t i) {
  return tl_nested_form(n) == TL_FORM_COLUMNS ? n->layout->fields[i].name->text
                                              : tl_nested_traits(n)->names[i];
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

// "x: offset 8, float64", and below it the field's dimensions and fields.
static void tree_fields(tl_text *text, const tl_type *layout, int depth) {
  for (int64_t i = 0; i < layout->field_count; i++) {
    const tl_type_field *field = &layout->fields[i];
    const tl_type *item = field->type;
    while (item->kind == TL_TYPE_FIXED) item = item->of;
    indent(text, depth);
    tl_text_add(text, field->name->text, field->name->length);
    tl_text_printf(text, ": offset %" PRId64, layout->offsets[i]);
    if (!tl_type_has_fields(item)) {
      tl_text_puts(text, ", ");
      tl_type_write(text, item);
    }
    tree_dimensions(text, field->type, depth + 1);
    if (tl_type_has_fields(item))
      tree_fields(text, item, depth + 1);
  }
}

// "size 3, stride 24" for each of the first [ndim] axes.
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

// Name, dtype and count on one line; a nested part goes on as a tree of its
// own.
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
  if (!tl_is_array(part)) {  // the place of one pointer
    tl_text_printf(text, ": %lld", (long long)part.i);
    return;
  }
  const tl_array *a = part.array;
  tl_text_printf(text, ": %s, count %u", tl_dtypes[tl_array_dtype(a)].name,
                 a->head.count);
  tree_array(text, a, tl_ndim(a), depth + 1);
  tree_owner(text, a, depth + 1);
}

// A struct array is shown as its block, with the fields in place of the axis of
// bytes.
void tl_nested_tree(tl_text *text, const tl_nested *n, int depth) {
  if (tl_nested_form(n) != TL_FORM_STRUCT) {
    for (int64_t i = 0; i < n->count; i++)
      tree_part(text, tl_part_name(n, i), n->parts[i], depth);
    return;
  }
  const tl_array *block = n->parts[0].array;
  tree_array(text, block, tl_nested_ndim(n), depth);
  tree_fields(text, n->layout, depth);
  tree_owner(text, block, depth);
}
