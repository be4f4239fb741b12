// Whether a value has the type that a pattern asks for, with the variables
// that the pattern binds:
//
//   pattern  N * M * T     value  3 * 4 * int8     N = 3, M = 4, T = int8
//   pattern  N * N * T     value  3 * 4 * int8     "N is 3 from before, here
//                                                  axis 1 is 4"
//
// Bindings are shared by all parameters of a function, so a match that fails
// takes back the bindings that it added.
//
// Built for size.
#include <inttypes.h>
#include <stdio.h>

#include "vm/array/array.h"
#include "vm/array/range.h"
#include "vm/suggest.h"
#include "vm/types/type.h"
#include "vm/values/list.h"
#include "vm/values/record.h"

// A match in progress: the value's dimensions (-1: ragged), what its items
// are, and the reason why it does not match, once that is known. The reason
// stays empty where the general message says enough.
typedef struct matching {
  tl_vm *vm;
  tl_bindings *bindings;
  int ndim;
  const int64_t *shape;
  tl_type *item;
  char reason[160];
  bool failed;       // an error is pending
  bool is_function;  // the value is one
} matching;

// --- Variables --------------------------------------------------------------

// The index of [name]'s binding; a new one has size -1 and type NULL. -1:
// there are too many, an error is pending.
static int bind(matching *m, tl_string *name) {
  tl_bindings *b = m->bindings;
  for (int i = 0; i < b->count; i++)
    if (tl_string_equal(b->items[i].name, name))
      return i;
  // A fixed room: patterns have a few variables.
  int room = (int)(sizeof b->items / sizeof *b->items);
  if (b->count == room) {
    tl_fail(m->vm, TALLY_ERR_TYPE,
            "the patterns of a function have at most %d variables", room);
    m->failed = true;
    return -1;
  }
  b->items[b->count].name = name;
  b->items[b->count].size = -1;
  b->items[b->count].type = NULL;
  return b->count++;
}

// Matches N in N * float64: the first axis binds it, others must agree. The
// name is NULL for an axis of any length.
static bool match_symbol(matching *m, tl_string *name, int axis) {
  if (name == NULL)
    return true;  // fixed: of any length
  int i = bind(m, name);
  if (i < 0)
    return false;
  int64_t *size = &m->bindings->items[i].size;
  if (*size < 0)
    *size = m->shape[axis];
  if (*size == m->shape[axis])
    return true;
  snprintf(m->reason, sizeof m->reason,
           "%.*s is %" PRId64 " from before, here axis %d is %" PRId64,
           tl_clip(name->text, name->length, 60), name->text, *size, axis,
           m->shape[axis]);
  return false;
}

// Matches a type variable such as T: the first use binds it, others must be
// the same type. Types are interned, so pointers are compared.
static bool match_bound_type(matching *m, tl_string *name, tl_type *type) {
  int i = bind(m, name);
  if (i < 0)
    return false;
  tl_type **bound = &m->bindings->items[i].type;
  if (*bound == NULL)
    *bound = type;
  if (*bound == type)
    return true;
  snprintf(m->reason, sizeof m->reason, "%.*s stood for something else before",
           tl_clip(name->text, name->length, 60), name->text);
  return false;
}

// --- Dimensions and items ---------------------------------------------------

// Matches one axis with one dimension of the pattern.
static bool match_dimension(matching *m, const tl_type *pattern, int axis) {
  // A ragged axis has no length, so it matches var and ... alone.
  bool ragged = m->shape[axis] < 0;
  if (pattern->kind == TL_TYPE_VAR && ragged)
    return true;
  if (ragged) {
    snprintf(m->reason, sizeof m->reason, "axis %d is ragged", axis);
    return false;
  }
  if (pattern->kind == TL_TYPE_SYMBOL) {
    bool any = pattern->size == TL_SET_FIXED;
    return match_symbol(m, any ? NULL : pattern->name, axis);
  }
  if (pattern->kind == TL_TYPE_FIXED && pattern->size == m->shape[axis])
    return true;
  if (pattern->kind == TL_TYPE_FIXED) {
    snprintf(m->reason, sizeof m->reason,
             "axis %d is %" PRId64 " against %" PRId64, axis, m->shape[axis],
             pattern->size);
  } else {
    snprintf(m->reason, sizeof m->reason, "axis %d is not ragged", axis);
  }
  return false;
}

// Matches name... with the axes [first, last). They are bound as a type over
// bool, so that a second use can compare them as one pointer.
static bool match_ellipsis(matching *m, tl_string *name, int first, int last) {
  if (name == NULL)
    return true;
  tl_type *dims = tl_type_of_dtype(m->vm, TL_BOOL);
  for (int i = last - 1; i >= first && dims != NULL; i--) {
    bool ragged = m->shape[i] < 0;
    // Interned types are compared by address, so equal dimensions are one
    // type.
    tl_type model = {.kind = ragged ? TL_TYPE_VAR : TL_TYPE_FIXED,
                     .size = ragged ? 0 : m->shape[i],
                     .of = dims};
    dims = tl_type_intern(m->vm, &model);
  }
  if (dims == NULL)
    m->failed = true;
  return dims != NULL && match_bound_type(m, name, dims);
}

// Matches the number of dimensions, each of them, and the items.
static bool match_value(matching *m, const tl_type *pattern);
// Matches a field's type with a field's pattern: a type without a value, whose
// dimensions are read off into a matching of their own.
static bool match_type(matching *m, const tl_type *pattern, tl_type *type);

// Writes the reason why a field does not match: the field's type, or the
// reason from within it.
static bool tell_field(matching *m, const tl_string *name,
                       const tl_type *type) {
  // The inner reason is quoted behind the field's name.
  char within[sizeof m->reason];
  memcpy(within, m->reason, sizeof within);
  bool is_known = within[0] != '\0';
  snprintf(m->reason, sizeof m->reason, "field %.*s%s%.100s",
           tl_clip(name->text, name->length, 40), name->text,
           is_known ? ": " : " is ",
           is_known ? within : tl_described_type(m->vm, type));
  return false;
}

static bool tell_missing(matching *m, const tl_string *name) {
  snprintf(m->reason, sizeof m->reason, "there is no field %.*s",
           tl_clip(name->text, name->length, 60), name->text);
  return false;
}

// Matches what structs of the same fields, tuples of as many, ?T and
// pointer[T] contain.
static bool match_within(matching *m, const tl_type *pattern, tl_type *type) {
  if (pattern->kind == TL_TYPE_OPTION || pattern->kind == TL_TYPE_POINTER)
    return match_type(m, pattern->of, type->of);
  bool same = pattern->field_count == type->field_count;
  for (int64_t i = 0; same && i < pattern->field_count; i++) {
    same = tl_string_equal(pattern->fields[i].name, type->fields[i].name);
    if (same && !match_type(m, pattern->fields[i].type, type->fields[i].type))
      return tell_field(m, type->fields[i].name, type->fields[i].type);
  }
  if (!same)
    snprintf(m->reason, sizeof m->reason, "the fields are others");
  return same;
}

// Matches a struct's fields with those that an open struct names, in any order.
static bool match_open(matching *m, const tl_type *pattern,
                       const tl_type *type) {
  for (int64_t i = 0; i < pattern->field_count; i++) {
    const tl_type_field *wanted = &pattern->fields[i];
    int64_t k = tl_type_find(type, wanted->name);
    if (k < 0)
      return tell_missing(m, wanted->name);
    if (!match_type(m, wanted->type, type->fields[k].type))
      return tell_field(m, wanted->name, type->fields[k].type);
  }
  return true;
}

// Reads the dimensions off a type: shape has room for TL_MAX_DIMS.
static void read_type(matching *m, tl_type *type, int64_t *shape) {
  m->ndim = 0;
  m->shape = shape;
  for (; tl_type_is_dimension(type) && m->ndim < TL_MAX_DIMS; type = type->of)
    shape[m->ndim++] = type->kind == TL_TYPE_VAR ? -1 : type->size;
  m->item = type;
}

// A field's type against a field's pattern.
static bool match_type(matching *m, const tl_type *pattern, tl_type *type) {
  int64_t shape[TL_MAX_DIMS];
  // The reason is that of the inner match; the bindings are shared.
  matching inner = *m;
  inner.reason[0] = '\0';
  read_type(&inner, type, shape);
  bool ok = match_value(&inner, pattern);
  m->failed |= inner.failed;
  memcpy(m->reason, inner.reason, sizeof m->reason);
  return ok;
}

// Whether the items are of a set of types.
static bool is_in_set(const matching *m, tl_type_set set) {
  // The kinds of dtypes in each set.
  static const char *const kinds[] = {
      [TL_SET_BOOL] = "B",  [TL_SET_INT] = "IU",    [TL_SET_UINT] = "U",
      [TL_SET_FLOAT] = "F", [TL_SET_COMPLEX] = "C",
  };
  const tl_type *item = m->item;
  const bool is_dtype = item->kind == TL_TYPE_DTYPE;
  if (set == TL_SET_ANY)
    return true;
  if (set == TL_SET_SCALAR)
    return is_dtype || item->kind == TL_TYPE_FIXED_STRING ||
           item->kind == TL_TYPE_CHAR || item->kind == TL_TYPE_BYTES ||
           item->kind == TL_TYPE_CATEGORICAL;
  return is_dtype && set < sizeof kinds / sizeof *kinds && kinds[set] != NULL &&
         strchr(kinds[set], tl_dtypes[item->dtype].kind) != NULL;
}

// Matches what is below the dimensions.
static bool match_item(matching *m, const tl_type *pattern) {
  if (pattern == m->item)
    return true;
  if (pattern->kind == m->item->kind &&
      (pattern->kind == TL_TYPE_OPTION || pattern->kind == TL_TYPE_POINTER ||
       tl_type_has_fields(pattern)) &&
      match_within(m, pattern, m->item))
    return true;
  if (pattern->kind == TL_TYPE_OPEN_STRUCT && tl_type_has_fields(m->item))
    return match_open(m, pattern, m->item);
  if (pattern->kind == TL_TYPE_FUNCTION && m->is_function)
    return true;  // its parameters are checked when it is called
  bool is_set =
      pattern->kind == TL_TYPE_VARIABLE && pattern->size != TL_SET_NONE;
  if (is_set && is_in_set(m, (tl_type_set)pattern->size))
    return true;
  if (pattern->kind == TL_TYPE_VARIABLE && !is_set &&
      (m->item->kind == TL_TYPE_DTYPE || m->item->kind == TL_TYPE_BYTES ||
       m->ndim > 0)) {
    return match_bound_type(m, pattern->name, m->item);
  }
  if (m->ndim > 0 && m->item->kind == TL_TYPE_DTYPE)
    snprintf(m->reason, sizeof m->reason, "the items are %s",
             tl_dtypes[m->item->dtype].name);
  return false;
}

// From left to right, so that N is bound by the first axis that has it and the
// reason names a later one.
static bool match_value(matching *m, const tl_type *pattern) {
  // An ellipsis takes all axes that the other dimensions leave.
  int wanted = 0;
  bool any = false;
  // Dimensions of the pattern, without the ellipsis.
  const tl_type *t = pattern;
  for (; tl_type_is_dimension(t); t = t->of) {
    if (t->kind == TL_TYPE_ELLIPSIS)
      any = true;
    else
      wanted++;
  }
  // Any has whatever dimensions the pattern leaves.
  any |= t->kind == TL_TYPE_VARIABLE && t->size == TL_SET_ANY;
  if (any ? m->ndim < wanted : m->ndim != wanted) {
    snprintf(m->reason, sizeof m->reason, "%d %s against %s%d", m->ndim,
             m->ndim == 1 ? "dimension" : "dimensions", any ? "at least " : "",
             wanted);
    return false;
  }
  int axis = 0;
  for (; tl_type_is_dimension(pattern); pattern = pattern->of) {
    if (pattern->kind == TL_TYPE_ELLIPSIS) {
      // The ellipsis takes the axes that the dimensions behind it leave.
      int last = axis + m->ndim - wanted;
      bool dims = pattern->size == TL_SET_DIMS;
      if (!match_ellipsis(m, dims ? NULL : pattern->name, axis, last))
        return false;
      axis = last;
    } else if (!match_dimension(m, pattern, axis++)) {
      return false;
    }
  }
  return match_item(m, pattern);
}

// --- The whole --------------------------------------------------------------

// Fails (kind type): "f: expected 3 * float64, got 4 * float64 (axis 0 is 4
// against 3)".
static bool fail_match(matching *m, const tl_type *pattern, tl_slot value,
                       const char *what) {
  tl_string *text = tl_type_text(m->vm, pattern);
  if (text == NULL)
    return false;
  bool reason = m->reason[0] != '\0';
  tl_fail(m->vm, TALLY_ERR_TYPE, "%s: expected %s, got %s%s%s%s", what,
          text->text, tl_described(m->vm, value), reason ? " (" : "", m->reason,
          reason ? ")" : "");
  tl_drop(m->vm, tl_own_string(text));
  return false;
}

// Matches a tuple pattern such as (int64, string) with a list, item by item.
static bool match_items(tl_vm *vm, const tl_type *pattern, const tl_list *list,
                        tl_bindings *bindings, const char *what) {
  for (int64_t i = 0; i < list->length; i++) {
    // The message names the item: f: x[1].
    char item[96];
    snprintf(item, sizeof item, "%.60s[%" PRId64 "]", what, i);
    if (!tl_type_match(vm, pattern->fields[i].type, list->items[i], bindings,
                       item))
      return false;
  }
  return true;
}

// Matches a struct pattern such as {x: int64, ...} with a record, field by
// field, in whatever order the record has them. Without ... it has no others.
static bool match_record(matching *m, const tl_type *pattern, tl_slot value,
                         const char *what) {
  tl_record *record = value.record;
  const bool open = pattern->kind == TL_TYPE_OPEN_STRUCT;
  for (int64_t i = 0; i < pattern->field_count; i++) {
    const tl_string *name = pattern->fields[i].name;
    int64_t at = tl_record_find(record, name);
    if (at < 0) {
      tell_missing(m, name);
      return fail_match(m, pattern, value, what);
    }
    // The message names the field: f: x.y.
    char field[96];
    snprintf(field, sizeof field, "%.60s.%.*s", what,
             tl_clip(name->text, name->length, 30), name->text);
    if (!tl_type_match(m->vm, pattern->fields[i].type, record->fields[at].value,
                       m->bindings, field))
      return false;
  }
  if (open || record->length == pattern->field_count)
    return true;
  snprintf(m->reason, sizeof m->reason, "it has other fields, too");
  return fail_match(m, pattern, value, what);
}

// A range matches like a vector of int64; a list matches a tuple item by item,
// a record a struct field by field; none and what matches T match ?T. Other
// values have a type of their own.
static bool match_any(tl_vm *vm, const tl_type *pattern, tl_slot value,
                      tl_bindings *bindings, const char *what) {
  matching m = {.vm = vm, .bindings = bindings};
  const tl_type *asked = pattern;  // for the message
  m.is_function = tl_is_function(value);
  if (pattern->kind == TL_TYPE_OPTION && tl_is_none(value))
    return true;
  if (pattern->kind == TL_TYPE_OPTION && !tl_is_nested(value))
    pattern = pattern->of;
  if (pattern->kind == TL_TYPE_TUPLE && tl_is_list(value) &&
      value.list->length == pattern->field_count)
    return match_items(vm, pattern, value.list, bindings, what);
  if ((pattern->kind == TL_TYPE_STRUCT ||
       pattern->kind == TL_TYPE_OPEN_STRUCT) &&
      tl_is_record(value))
    return match_record(&m, pattern, value, what);
  int64_t nested[TL_MAX_DIMS];  // -1: ragged
  if (tl_is_array(value)) {
    m.ndim = tl_ndim(value.array);
    m.shape = tl_shape(value.array);
    m.item = tl_type_of_dtype(vm, tl_array_dtype(value.array));
  } else if (tl_is_nested(value)) {
    tl_type *type = tl_type_of(vm, value);
    if (type == NULL)
      return false;
    read_type(&m, type, nested);
  } else if (tl_is_range(value) && pattern->kind != TL_TYPE_OTHER) {
    m.ndim = 1;
    m.shape = &value.range->length;
    m.item = tl_type_of_dtype(vm, TL_INT64);
  } else {
    m.item = tl_type_of(vm, value);
    if (m.item == NULL)
      return false;
  }
  return match_value(&m, pattern) ||
         (!m.failed && fail_match(&m, asked, value, what));
}

// What the parts of a value have bound is taken back, too, if the whole does
// not match.
bool tl_type_match(tl_vm *vm, const tl_type *pattern, tl_slot value,
                   tl_bindings *bindings, const char *what) {
  int seen = bindings->count;
  if (match_any(vm, pattern, value, bindings, what))
    return true;
  bindings->count = seen;
  return false;
}
