// Types: interned nodes, the types of values, and their text. The parser is in
// type_parse.c, layouts of structs are in layout.c.
#include "vm/types/type.h"
#include "vm/objects.h"

#include <inttypes.h>

#include "vm/array/array.h"
#include "vm/vm.h"

// --- Interning --------------------------------------------------------------

// The table of interned types: open addressing; the capacity is a power of two,
// and at most two thirds are used.
struct tl_types {
  size_t count, capacity;
  tl_type **slots;
  // Of the kinds that typeof has named, which need not be looked for again.
  tl_type *of_kinds[TL_KIND_COUNT];
};

// Mixes a value into a hash.
static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 29;
}

// The same for a name, which may be missing.
static uint64_t hash_name(uint64_t hash, tl_string *name) {
  return mix(hash, name != NULL ? tl_string_hash(name) : 0);
}

// A type's hash. Its inner types are interned, so their addresses stand for
// them.
// A layout has the fields of its struct type: offsets and size tell it apart.
static uint64_t hash_type(const tl_type *type) {
  uint64_t hash = mix(type->kind, (uint64_t)type->dtype);
  hash = mix(hash, (uint64_t)type->size);
  hash = hash_name(hash, type->name);
  hash = mix(hash, (uint64_t)(uintptr_t)type->of);
  for (int64_t i = 0; i < type->field_count; i++) {
    hash = hash_name(hash, type->fields[i].name);
    hash = mix(hash, (uint64_t)(uintptr_t)type->fields[i].type);
    if (type->offsets != NULL)
      hash = mix(hash, (uint64_t)type->offsets[i]);
  }
  return mix(hash, (uint64_t)type->itemsize);
}

// Whether both are the same name, or both missing.
static bool same_name(const tl_string *a, const tl_string *b) {
  if (a == NULL || b == NULL)
    return a == b;
  return tl_string_equal(a, b);
}

// Whether two nodes are the same type: inner types by address.
static bool same_type(const tl_type *a, const tl_type *b) {
  if (a->kind != b->kind || a->dtype != b->dtype || a->size != b->size ||
      a->of != b->of || a->field_count != b->field_count ||
      a->itemsize != b->itemsize || a->align != b->align ||
      (a->offsets == NULL) != (b->offsets == NULL) ||
      !same_name(a->name, b->name)) {
    return false;
  }
  for (int64_t i = 0; i < a->field_count; i++)
    if (a->fields[i].type != b->fields[i].type ||
        !same_name(a->fields[i].name, b->fields[i].name) ||
        (a->offsets != NULL && a->offsets[i] != b->offsets[i])) {
      return false;
    }
  return true;
}

// The place of the type that equals [model], or of the gap where it would be.
static tl_type **find_place(const struct tl_types *types,
                            const tl_type *model) {
  size_t mask = types->capacity - 1;
  size_t at = (size_t)hash_type(model) & mask;
  while (types->slots[at] != NULL && !same_type(types->slots[at], model))
    at = (at + 1) & mask;
  return &types->slots[at];
}

// Makes the table twice as large.
// Called before a type is made and not afterwards, so that a lack of memory
// leaves the table as it was.
static bool grow(tl_vm *vm, struct tl_types *types) {
  size_t capacity = types->capacity > 0 ? types->capacity * 2 : 32;
  tl_type **slots =
      tl_alloc_zeroed(vm, capacity * sizeof *slots, "the table of types");
  if (slots == NULL)
    return false;
  struct tl_types old = *types;
  types->slots = slots;
  types->capacity = capacity;
  for (size_t i = 0; i < old.capacity; i++)
    if (old.slots[i] != NULL)
      *find_place(types, old.slots[i]) = old.slots[i];
  tl_free(vm, old.slots, old.capacity * sizeof *old.slots);
  return true;
}

// Makes sure that one more type fits.
static bool ensure_room(tl_vm *vm) {
  if (vm->types == NULL) {
    vm->types = tl_alloc_zeroed(vm, sizeof *vm->types, "the table of types");
    if (vm->types == NULL)
      return false;
  }
  struct tl_types *types = vm->types;
  return types->count * 3 < types->capacity * 2 || grow(vm, types);
}

// Makes the name one that lives as long as the type: constants of a unit, which
// are not counted, end before the types do.
static bool own_name(tl_vm *vm, tl_string **name) {
  if (*name == NULL)
    return true;
  // A unit's constant, which is not counted: the type needs a copy.
  if (((*name)->head.flags & TL_IMMORTAL) != 0)
    *name = tl_string_new(vm, (*name)->text, (*name)->length);
  else
    tl_retain(vm, (tl_slot){.tag = TL_TAG_STRING, .string = *name});
  return *name != NULL;
}

// Names of the table's own types are counted unless they are constants.
static void drop_name(tl_vm *vm, tl_string *name) {
  if (name == NULL || (name->head.flags & TL_IMMORTAL) != 0)
    return;
  tl_drop(vm, tl_own_string(name));
}

// How deep the types in the model nest.
static unsigned depth_of(const tl_type *model) {
  unsigned depth = model->of != NULL ? model->of->depth + 1 : 0;
  for (int64_t i = 0; i < model->field_count; i++) {
    const tl_type *field = model->fields[i].type;
    if (field != NULL && field->depth >= depth)
      depth = field->depth + 1;
  }
  return depth;
}

// Whether there can be values of such a type: one without fields would have no
// parts, and every array has some.
// One that nests deeper than TL_TYPE_DEPTH fails (kind limit).
static bool check_model(tl_vm *vm, const tl_type *model) {
  if (tl_type_has_fields(model) && model->field_count == 0)
    return tl_fail(vm, TALLY_ERR_TYPE, "a struct or tuple type needs a field");
  if (depth_of(model) > TL_TYPE_DEPTH)
    return tl_fail(vm, TALLY_ERR_LIMIT, "types nest at most %d deep",
                   TL_TYPE_DEPTH);
  return true;
}

// A copy of [model] that holds its names; its fields follow it in the same
// block, and behind them their offsets.
// Either all of its names are owned, or the type is freed and no name has got a
// count.
static tl_type *make_type(tl_vm *vm, const tl_type *model) {
  size_t fields = (size_t)model->field_count * sizeof(tl_type_field);
  size_t offsets =
      model->offsets != NULL ? (size_t)model->field_count * sizeof(int64_t) : 0;
  tl_type *type = tl_object_new(vm, TL_KIND_TYPE,
                                sizeof *type + fields + offsets, "a type");
  if (type == NULL)
    return NULL;
  tl_object head = type->head;
  *type = *model;
  type->head = head;
  type->head.flags = TL_IMMORTAL;
  type->depth = (uint16_t)depth_of(model);
  type->fields = (tl_type_field *)(void *)(type + 1);
  if (fields > 0)
    memcpy(type->fields, model->fields, fields);
  if (model->offsets != NULL) {
    type->offsets = (int64_t *)(void *)((char *)type->fields + fields);
    memcpy(type->offsets, model->offsets, offsets);
  }
  // Names are owned one by one; after a failure those that are get dropped.
  bool ok = own_name(vm, &type->name);
  int64_t owned = 0;
  while (ok && owned < type->field_count) {
    ok = own_name(vm, &type->fields[owned].name);
    owned += ok;
  }
  if (ok)
    return type;
  drop_name(vm, type->name);
  while (owned > 0) drop_name(vm, type->fields[--owned].name);
  tl_object_free(vm, &type->head);
  return NULL;
}

// A type of a dtype is constant; any other is found, or made and put into the
// gap.
// The gap found before make_type is the right one after it: making a type
// interns no other and so does not move the table.
tl_type *tl_type_intern(tl_vm *vm, const tl_type *model) {
  if (model->kind == TL_TYPE_DTYPE)
    return tl_type_of_dtype(vm, model->dtype);
  // There may be a million fields. Behind this no poll may stand: who asks what
  // the run is at may intern types, and the gap would be another.
  if (!check_model(vm, model) || !ensure_room(vm) ||
      !tl_poll_items(vm, model->field_count))
    return NULL;
  tl_type **place = find_place(vm->types, model);
  if (*place == NULL) {
    *place = make_type(vm, model);
    if (*place != NULL)
      vm->types->count++;
  }
  return *place;
}

tl_type *tl_type_fixed(tl_vm *vm, int64_t size, tl_type *of) {
  tl_type model = {.kind = TL_TYPE_FIXED, .size = size, .of = of};
  return of != NULL ? tl_type_intern(vm, &model) : NULL;
}

// Each as a slot that owns, since the type has one count of it.
void tl_types_each_name(tl_vm *vm, void (*visit)(void *context, tl_slot name),
                        void *context) {
  const struct tl_types *types = vm->types;
  for (size_t i = 0; types != NULL && i < types->capacity; i++) {
    const tl_type *type = types->slots[i];
    if (type == NULL)
      continue;
    if (type->name != NULL)
      visit(context, tl_own_string(type->name));
    for (int64_t j = 0; j < type->field_count; j++)
      if (type->fields[j].name != NULL)
        visit(context, tl_own_string(type->fields[j].name));
  }
}

// The types' own memory goes as one object each; inner types are found by the
// table, too.
// No type counts those in it, so the order in which they go does not matter.
void tl_types_close(tl_vm *vm) {
  struct tl_types *types = vm->types;
  if (types == NULL)
    return;
  for (size_t i = 0; i < types->capacity; i++) {
    tl_type *type = types->slots[i];
    if (type == NULL)
      continue;
    drop_name(vm, type->name);
    for (int64_t j = 0; j < type->field_count; j++)
      drop_name(vm, type->fields[j].name);
    tl_object_free(vm, &type->head);
  }
  tl_free(vm, types->slots, types->capacity * sizeof *types->slots);
  tl_free(vm, types, sizeof *types);
  vm->types = NULL;
}

// --- Types of values --------------------------------------------------------

// The dtypes' own types are constant: all VMs share them, and a count of
// UINT32_MAX is never written.
#define X(ENUM, name, T, type_kind)                   \
  [TL_##ENUM] = {.head = {.count = UINT32_MAX,        \
                          .kind = TL_KIND_TYPE,       \
                          .flags = TL_IMMORTAL,       \
                          .nbytes = sizeof(tl_type)}, \
                 .kind = TL_TYPE_DTYPE,               \
                 .dtype = TL_##ENUM},
static const tl_type dtype_types[TL_DTYPE_COUNT] = {TL_DTYPES(X)};
#undef X

// [vm] is there for the likeness to its neighbours alone.
tl_type *tl_type_of_dtype(tl_vm *vm, tl_dtype dtype) {
  (void)vm;
  return (tl_type *)(uintptr_t)&dtype_types[dtype];
}

// The type of an array: its dimensions from the inside out.
// A dimension is interned over its inner type, so that has to be there.
static tl_type *type_of_array(tl_vm *vm, const tl_array *a) {
  tl_type *type = tl_type_of_dtype(vm, tl_array_dtype(a));
  for (int i = tl_ndim(a) - 1; i >= 0; i--)
    type = tl_type_fixed(vm, tl_shape(a)[i], type);
  return type;
}

tl_type *tl_type_at_once(tl_vm *vm, tl_slot value) {
  if (tl_is_string(value))
    return tl_type_of_dtype(vm, TL_STRING);
  if (tl_is_scalar(value))
    return tl_type_of_dtype(vm, (tl_dtype)tl_dtype_of(value));
  return vm->types != NULL ? vm->types->of_kinds[tl_dtype_of(value)] : NULL;
}

// Values that are no arrays have a type by the name of their kind.
tl_type *tl_type_of(tl_vm *vm, tl_slot value) {
  tl_type *known = tl_type_at_once(vm, value);
  if (known != NULL)
    return known;
  if (tl_is_array(value))
    return type_of_array(vm, value.array);
  if (tl_is_nested(value))
    return vm->nested->type(vm, value);
  tl_string *name = tl_string_from(vm, tl_kind_name(tl_dtype_of(value)));
  if (name == NULL)
    return NULL;
  tl_type model = {.kind = TL_TYPE_OTHER, .name = name};
  tl_type *type = tl_type_intern(vm, &model);
  tl_drop(vm, tl_own_string(name));
  if (type != NULL)
    vm->types->of_kinds[tl_dtype_of(value)] = type;
  return type;
}

tl_slot tl_type_slot(tl_type *type) {
  return (tl_slot){.tag = TL_TAG_TYPE, .type = type};
}

// Fields are few, so they are looked through one by one.
int64_t tl_type_find(const tl_type *type, const tl_string *name) {
  int64_t i = type->field_count - 1;
  while (i >= 0 && !tl_string_equal(type->fields[i].name, name)) i--;
  return i;
}

// --- Text -------------------------------------------------------------------

// Whether a name stands in a type without quotes: of letters, digits and
// underscores, no digit first; all beyond ASCII are letters.
static bool is_word(const tl_string *name) {
  if (name->length == 0)
    return false;
  for (size_t i = 0; i < name->length; i++) {
    uint8_t c = (uint8_t)name->text[i];
    bool digit = c >= '0' && c <= '9' && i > 0;
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!digit && !letter && c != '_' && c < 0x80)
      return false;
  }
  return true;
}

// Appends a name in quotes, escaped.
static void add_quoted(tl_text *text, const tl_string *name) {
  tl_text_putc(text, '"');
  for (size_t i = 0; i < name->length; i++) {
    char c = name->text[i];
    if (c == '"' || c == '\\')
      tl_text_putc(text, '\\');
    if (c == '\n')
      tl_text_puts(text, "\\n");
    else
      tl_text_putc(text, c);
  }
  tl_text_putc(text, '"');
}

// Appends a name, in quotes where it needs them.
// Quotes are needed by blanks, signs and a digit in front.
static void add_name(tl_text *text, const tl_string *name) {
  if (is_word(name))
    tl_text_add(text, name->text, name->length);
  else
    add_quoted(text, name);
}

// The name of a field in front of its type.
void tl_type_write_name(tl_text *text, const tl_string *name) {
  add_name(text, name);
  tl_text_puts(text, ": ");
}

// Appends the fields of a type with commas between: "x: float64", or of one of
// both alone.
static void add_list(tl_text *text, const tl_type *type, bool names,
                     bool types) {
  for (int64_t i = 0; i < type->field_count; i++) {
    tl_text_puts(text, i > 0 ? ", " : "");
    if (names && types)
      tl_type_write_name(text, type->fields[i].name);
    else if (names)
      add_quoted(text, type->fields[i].name);
    if (types)
      tl_type_write(text, type->fields[i].type);
  }
}

// {x: float64, y: int32}
static void add_fields(tl_text *text, const tl_type *type) {
  tl_text_putc(text, '{');
  add_list(text, type, true, true);
  if (type->kind == TL_TYPE_OPEN_STRUCT)
    tl_text_puts(text, type->field_count > 0 ? ", ..." : "...");
  tl_text_putc(text, '}');
}

// (int64, string)
static void add_members(tl_text *text, const tl_type *type) {
  tl_text_putc(text, '(');
  add_list(text, type, false, true);
  // Without the comma it would be read as a type in parentheses.
  if (type->kind == TL_TYPE_TUPLE && type->field_count == 1)
    tl_text_putc(text, ',');
  tl_text_putc(text, ')');
}

// categorical[string, ["a", "b"]]
static void add_categories(tl_text *text, const tl_type *type) {
  tl_text_puts(text, "categorical[");
  tl_type_write(text, type->of);
  tl_text_puts(text, ", [");
  add_list(text, type, true, false);
  tl_text_puts(text, "]]");
}

// Appends types that are more than a name.
// The default is a type that is nothing but its name: a variable, or a kind of
// values such as list.
static void add_compound(tl_text *text, const tl_type *type) {
  switch (type->kind) {
    case TL_TYPE_STRUCT:
    case TL_TYPE_OPEN_STRUCT:
      add_fields(text, type);
      break;
    case TL_TYPE_FIXED_STRING:
      tl_text_printf(text, "fixed_string[%" PRId64 "]", type->size);
      break;
    case TL_TYPE_CHAR:
      tl_text_puts(text, "char");
      break;
    case TL_TYPE_BYTES:
      tl_text_puts(text, "bytes");
      break;
    case TL_TYPE_POINTER:
      tl_text_puts(text, "pointer[");
      tl_type_write(text, type->of);
      tl_text_putc(text, ']');
      break;
    case TL_TYPE_CATEGORICAL:
      add_categories(text, type);
      break;
    case TL_TYPE_FUNCTION:
      add_members(text, type);
      tl_text_puts(text, " -> ");
      tl_type_write(text, type->of);
      break;
    case TL_TYPE_TUPLE:
      add_members(text, type);
      break;
    default:
      add_name(text, type->name);
      break;
  }
}

// Appends a dimension and its *.
// Of the dimensions without a name "fixed" is any length, and "..." any number
// of axes.
static void add_dimension(tl_text *text, const tl_type *type) {
  if (type->kind == TL_TYPE_FIXED) {
    tl_text_printf(text, "%" PRId64, type->size);
  } else if (type->kind == TL_TYPE_VAR) {
    tl_text_puts(text, "var");
  } else {
    if (type->name != NULL)
      add_name(text, type->name);
    else if (type->kind == TL_TYPE_SYMBOL)
      tl_text_puts(text, "fixed");
    if (type->kind == TL_TYPE_ELLIPSIS)
      tl_text_puts(text, "...");
  }
  tl_text_puts(text, " * ");
}

// Recurses at most TL_TYPE_DEPTH deep, as types nest no deeper.
void tl_type_write(tl_text *text, const tl_type *type) {
  for (; tl_type_is_dimension(type); type = type->of) add_dimension(text, type);
  for (; type->kind == TL_TYPE_OPTION; type = type->of) tl_text_putc(text, '?');
  if (type->kind == TL_TYPE_DTYPE) {
    tl_text_puts(text, tl_dtypes[type->dtype].name);
  } else {
    add_compound(text, type);
  }
}

// Anything that this writes the parser reads back as the same type.
tl_string *tl_type_text(tl_vm *vm, const tl_type *type) {
  tl_text text;
  tl_text_open(&text, vm);
  tl_type_write(&text, type);
  return tl_text_finish(&text);
}
