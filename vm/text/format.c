// Values as print and string(x) show them.
//
// Arrays are walked by their axes, to a fixed depth. Lists and records nest as
// deep as memory allows, so they are walked with a stack of their own (nest).

#include "vm/text/format.h"
#include "vm/objects.h"

#include "vm/text/format_internal.h"
#include "vm/bytecode/function.h"
#include "vm/values/list.h"
#include "vm/array/range.h"
#include "vm/values/record.h"

enum {
  // A matrix that is wider goes over several lines; of an axis that is elided
  // so many items are shown at each end.
  LINE = 80,
  EDGE = 3,  // items shown at each end of an axis that is elided
};

// --- Strings and keys -------------------------------------------------------

// Whether the text is a word of the language, which cannot name a field without
// quotes.
static bool is_keyword(const tl_string *key) {
  static const char *const words[] = {
      "fn",       "if",     "else", "while", "for",    "in",  "break",
      "continue", "return", "try",  "catch", "import", "as",  "global",
      "and",      "or",     "not",  "true",  "false",  "none"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcmp(key->text, words[i]) == 0)
      return true;
  return false;
}

// Whether a text can stand as a name without quotes.
static bool is_name(const tl_string *key) {
  for (size_t at = 0, step; at < key->length; at += step) {
    int32_t point;
    step = tl_utf8_decode(key->text + at, key->length - at, &point);
    if (!(at == 0 ? tl_begins_name(point) : tl_continues_name(point)))
      return false;
  }
  return key->length > 0 && !is_keyword(key);
}

// Appends the name of a field as the language writes it: quoted if it is no
// name elsewhere.
// (a: 1, "two words": 2): quoted exactly where the language would not read the
// text as a name.
static void add_name(tl_text *text, const tl_string *name) {
  if (is_name(name))
    tl_text_add(text, name->text, name->length);
  else
    tl_format_quoted(text, name->text, name->length);
}

static bool add_nest(tl_text *text, tl_slot value, int64_t limit);

// The same for any key of a record.
// A list that is a key is not deep, and nothing but lists nests in it.
static void add_key(tl_text *text, tl_key key) {
  tl_slot s = tl_key_slot(key);
  if (tl_is_string(s))
    add_name(text, s.string);
  else if (tl_is_list(s))
    add_nest(text, s, 0);
  else
    tl_format_scalar(text, s);
}

// --- Arrays -----------------------------------------------------------------

// How an array is written.
typedef struct layout {
  tl_text *text;
  const tl_array *array;
  tl_item_format *item;  // writes an item; NULL: its shortest text
  const void *context;   // for item
  bool elided;           // only the ends of long axes
  bool broken;           // rows on lines of their own
} layout;

// What stands between two items of an axis: a comma, and in a broken layout new
// lines, one more for each axis that begins anew.
//
//     [[[1, 2],
//       [3, 4]],
//
//      [[5, 6],
//       [7, 8]]]
static void add_separator(const layout *l, int axis) {
  if (!l->broken || axis == tl_ndim(l->array) - 1) {
    tl_text_puts(l->text, ", ");
    return;
  }
  tl_text_putc(l->text, ',');
  for (int i = axis; i < tl_ndim(l->array) - 1; i++)
    tl_text_putc(l->text, '\n');
  for (int i = 0; i <= axis; i++) tl_text_putc(l->text, ' ');
}

// Writes an axis and what is below it. Recursion is as deep as an array has
// axes: at most TL_MAX_DIMS.
static bool add_axis(const layout *l, int axis, const char *data) {
  const tl_array *a = l->array;
  if (axis == tl_ndim(a)) {
    if (l->item != NULL)
      return l->item(l->text, tl_array_dtype(a), data, l->context);
    tl_format_item(l->text, tl_array_dtype(a), data);
    return !l->text->failed;
  }
  int64_t length = tl_shape(a)[axis], stride = tl_strides(a)[axis];
  bool skips = l->elided && length > 2 * EDGE;
  tl_text_putc(l->text, '[');
  for (int64_t i = 0; i < length; i++) {
    if (i > 0)
      add_separator(l, axis);
    if (skips && i == EDGE) {
      tl_text_puts(l->text, "…");
      i = length - EDGE - 1;
      continue;
    }
    if (!add_axis(l, axis + 1, data + i * stride))
      return false;
  }
  tl_text_putc(l->text, ']');
  return !l->text->failed;
}

// Writes an array on one line, and if that turns out wider than LINE, again
// with rows on lines of their own.
static bool add_array(layout *l, bool may_break) {
  tl_text *text = l->text;
  may_break = may_break && tl_ndim(l->array) > 1;
  // An item takes three columns at least, so what cannot fit is not tried.
  if (!may_break || l->elided || l->array->size <= LINE / 3) {
    size_t start = text->length;
    if (!add_axis(l, 0, l->array->data))
      return false;
    if (!may_break ||
        tl_display_width(text->bytes + start, text->length - start) <= LINE)
      return true;
    // It was too wide: what was written is taken back.
    text->length = start;
  }
  l->broken = true;
  return add_axis(l, 0, l->array->data);
}

// For callers with an item format of their own: never elided.
bool tl_format_array(tl_text *text, const tl_array *a, tl_item_format *item,
                     const void *context) {
  layout l = {text, a, item, context, false, false};
  return add_array(&l, true);
}

// --- Values without items ---------------------------------------------------

// start..stop, and "by" a step.
static void add_range(tl_text *text, const tl_range *range) {
  tl_text_printf(text, "%lld..%lld", (long long)range->start,
                 (long long)range->stop);
  if (range->step != 1)
    tl_text_printf(text, " by %lld", (long long)range->step);
}

// A type, between backticks inside containers.
static void add_type(tl_text *text, const tl_type *type, bool quoted) {
  const char *mark = quoted && type->kind != TL_TYPE_DTYPE ? "`" : "";
  tl_text_puts(text, mark);
  tl_type_write(text, type);
  tl_text_puts(text, mark);
}

// The name of any function; "" for a lambda.
static const char *function_name(tl_slot s) {
  if (tl_is_kind(s, TL_KIND_BUILTIN))
    return ((const tl_builtin *)s.pointer)->name;
  const tl_prototype *prototype = tl_function_prototype(s);
  return prototype->name ? prototype->name->text : "";
}

// "<fn name>"
static void add_function(tl_text *text, tl_slot s) {
  const char *name = function_name(s);
  tl_text_puts(text, name[0] ? "<fn " : "<fn");
  tl_text_puts(text, name);
  tl_text_putc(text, '>');
}

// "<module linalg>"
static void add_module(tl_text *text, const tl_module *module) {
  tl_text_puts(text, "<module ");
  tl_text_puts(text, module->name ? module->name->text : "");
  tl_text_putc(text, '>');
}

// A host's value, by its own text.
static bool add_resource(tl_text *text, tl_slot s) {
  tl_string *string = text->vm->host->text(text->vm, s);
  if (string == NULL)
    return false;
  tl_text_add(text, string->text, string->length);
  tl_drop(text->vm, tl_own_string(string));
  return !text->failed;
}

// Everything but lists and records.
static bool add_plain(tl_text *text, tl_slot s, bool quoted, bool may_break,
                      int64_t limit) {
  if (tl_is_array(s)) {
    bool elided = limit > 0 && s.array->size > limit;
    layout l = {text, s.array, NULL, NULL, elided, false};
    return add_array(&l, may_break);
  }
  if (tl_is_scalar(s)) {
    tl_format_scalar(text, s);
    return !text->failed;
  }
  switch (tl_dtype_of(s)) {
    case TL_KIND_NONE:
      tl_text_puts(text, "none");
      break;
    case TL_KIND_UNSET:
      tl_text_puts(text, "unset");
      break;
    case TL_KIND_STRING:
      if (quoted)
        tl_format_quoted(text, s.string->text, s.string->length);
      else
        tl_text_add(text, s.string->text, s.string->length);
      break;
    case TL_KIND_RANGE:
      add_range(text, s.range);
      break;
    case TL_KIND_TYPE:
      add_type(text, s.type, quoted);
      break;
    case TL_KIND_MODULE:
      add_module(text, s.pointer);
      break;
    case TL_KIND_HANDLE:
      return add_resource(text, s);
    case TL_KIND_NESTED:
      return text->vm->nested->format(text, s, limit);
    default:
      add_function(text, s);
      break;
  }
  return !text->failed;
}

// --- Nests ------------------------------------------------------------------

// A list or record that is being written, and its next item.
typedef struct level {
  tl_slot value;  // a list or a record
  int64_t index;
} level;

// The stack of them; the first levels need no memory.
typedef struct nest {
  tl_text *text;
  size_t count, room;
  level *levels;  // first[] until they are many
  level first[32];
} nest;

// Goes into a list or record; false after tl_fail.
static bool nest_push(nest *n, tl_slot value) {
  if (!tl_make_room(n->text->vm, &n->levels, n->first, &n->room, n->count,
                    sizeof(level), "a text"))
    return false;
  n->levels[n->count++] = (level){value, 0};
  return true;
}

// Closes a list or record of [length] items: (x,) and (:) keep their mark.
static void add_close(tl_text *text, tl_slot value, int64_t length) {
  if (tl_is_list(value))
    tl_text_puts(text, length == 1 ? ",)" : ")");
  else
    tl_text_puts(text, length == 0 ? ":)" : ")");
}

// Writes up to the next item, which is returned; NULL: the level is closed.
static const tl_slot *next_item(nest *n, int64_t limit) {
  level *top = &n->levels[n->count - 1];
  bool is_list = tl_is_list(top->value);
  int64_t length =
      is_list ? top->value.list->length : top->value.record->length;
  if (top->index == 0)
    tl_text_putc(n->text, '(');
  if (top->index == length) {
    add_close(n->text, top->value, length);
    n->count--;
    return NULL;
  }
  if (top->index > 0)
    tl_text_puts(n->text, ", ");
  // The items in the middle are left out.
  if (limit > 0 && length > limit && length > 2 * EDGE && top->index == EDGE) {
    tl_text_puts(n->text, "…, ");
    top->index = length - EDGE;
  }
  int64_t i = top->index++;
  if (is_list)
    return &top->value.list->items[i];
  // A record's item has its key in front.
  const tl_field *field = &top->value.record->fields[i];
  add_key(n->text, field->key);
  tl_text_puts(n->text, ": ");
  return &field->value;
}

// Of what is elided no line is longer, in bytes: lists that share their parts
// would have no end.
enum { LONGEST_LINE = 1 << 16 };

// Writes a list or record with all that is in it.
static bool add_nest(tl_text *text, tl_slot value, int64_t limit) {
  nest n = {.text = text, .room = 32};
  const size_t start = text->length;
  n.levels = n.first;
  bool ok = nest_push(&n, value);
  while (ok && n.count > 0) {
    if (limit > 0 && text->length - start > LONGEST_LINE) {
      tl_text_puts(text, "…");
      break;
    }
    const tl_slot *item = next_item(&n, limit);
    if (item == NULL)
      ok = !text->failed;
    else if (tl_is_list(*item) || tl_is_record(*item))
      ok = nest_push(&n, *item);
    else
      ok = add_plain(text, *item, true, false, limit);
  }
  if (n.levels != n.first)
    tl_free(text->vm, n.levels, n.room * sizeof(level));
  return ok;
}

// Containers take the walk without recursion, since they may nest as deep as
// memory allows.
bool tl_format_value(tl_vm *vm, tl_text *text, tl_slot value, bool quoted,
                     int64_t limit) {
  (void)vm;
  if (tl_is_list(value) || tl_is_record(value))
    return add_nest(text, value, limit);
  return add_plain(text, value, quoted, !quoted, limit);
}
