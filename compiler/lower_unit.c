// What lowering adds to a unit: the constants of each function, names, lists of
// names for records and selections, functions and their groups, paths of
// places, shapes of calls.
//
// Tables grow in the arena by doubling and move to the unit at the end
// (compile.c). Constants are found again through a hash table with chains,
// since a long list literal may hold thousands.

#include "compiler/lower.h"

void *tl_unit_room(tl_builder *b, size_t nbytes) {
  void *room = tl_unit_alloc(b->vm, b->unit, nbytes);
  b->failed = b->failed || room == NULL;
  return room;
}

// A copy of arena memory. One byte more, so that a table without items is not
// NULL.
void *tl_unit_keep(tl_builder *b, const void *items, size_t nbytes) {
  void *copy = tl_unit_room(b, nbytes + 1);
  if (copy != NULL && nbytes > 0)
    memcpy(copy, items, nbytes);
  return copy;
}

// A hash of a constant: of a string's text, of the bits of all else.
static uint32_t slot_hash(tl_slot s) {
  if (tl_is_string(s))
    return (uint32_t)tl_string_hash(s.string);
  // Fibonacci hashing (Knuth): the upper half is well mixed.
  uint64_t h = (s.u ^ s.tag) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(h >> 32);
}

// Whether two constants are one. By bits: 0.0 and -0.0, 1 and 1.0 differ.
static bool same_constant(tl_slot a, tl_slot b) {
  if (tl_is_string(a) && tl_is_string(b))
    return tl_string_equal(a.string, b.string);
  return a.tag == b.tag && a.u == b.u;
}

// Whether a constant is the unit's to free: types belong to the VM, functions
// to their unit already.
static bool is_adoptable(tl_slot value) {
  return tl_is_heap(value) && !tl_is_function(value) && !tl_is_type(value);
}

// Gives an object to the unit, which frees it at its end.
static bool adopt(tl_builder *b, tl_slot value) {
  if (tl_unit_adopt(b->vm, b->unit, value))
    return true;
  b->failed = true;
  return false;
}

// Puts a constant at the front of its hash chain.
static void link_constant(tl_lower *l, uint32_t at, uint32_t hash) {
  int32_t *newest = &l->constant_table[hash % l->constant_buckets];
  l->constant_next[at] = *newest;
  *newest = (int32_t)at;
}

// Makes room for twice as many constants, and a table large enough for them.
static bool grow_constants(tl_lower *l) {
  tl_prototype *p = l->f->prototype;
  uint32_t capacity = l->f->constant_capacity * 2 + 16;
  tl_slot *constants = TL_ARENA_ARRAY(l->b->arena, tl_slot, capacity);
  int32_t *next = TL_ARENA_ARRAY(l->b->arena, int32_t, capacity);
  int32_t *table = TL_ARENA_ARRAY(l->b->arena, int32_t, capacity);
  if (constants == NULL || next == NULL || table == NULL)
    return false;
  // All chains are built anew: the number of buckets has changed.
  memset(table, -1, capacity * sizeof *table);
  if (p->constant_count > 0)
    memcpy(constants, p->constants, p->constant_count * sizeof *constants);
  p->constants = constants;
  l->constant_next = next;
  l->constant_table = table;
  l->constant_buckets = l->f->constant_capacity = capacity;
  for (uint32_t i = 0; i < p->constant_count; i++)
    link_constant(l, i, slot_hash(constants[i]));
  return true;
}

// The index of an equal constant, or -1.
static int32_t find_constant(const tl_lower *l, tl_slot value, uint32_t hash) {
  if (l->constant_buckets == 0)
    return -1;
  int32_t i = l->constant_table[hash % l->constant_buckets];
  while (i >= 0 && !same_constant(l->f->prototype->constants[i], value))
    i = l->constant_next[i];
  return i;
}

// A constant is immortal, so that slots may hold it without a count. An equal
// one that is there is used; the new object still belongs to the unit, which
// frees it.
uint32_t tl_add_constant(tl_lower *l, tl_slot value) {
  tl_prototype *p = l->f->prototype;
  // The slot of a constant owns nothing: the unit does.
  value.tag &= ~TL_OWNED;
  if (tl_is_heap(value) && !tl_is_function(value)) {
    // A dtype's type is the same for all VMs and is not written.
    if ((value.object->flags & TL_IMMORTAL) == 0)
      value.object->flags |= TL_IMMORTAL;
    if (tl_is_array(value))
      value.tag = tl_array_tag(value.array) | (value.tag & TL_WEAK);
  }
  uint32_t hash = slot_hash(value);
  int32_t found = find_constant(l, value, hash);
  if (found >= 0) {
    // An equal constant is there: the new object is freed with the unit all the
    // same.
    if (is_adoptable(value) && value.object != p->constants[found].object)
      adopt(l->b, value);
    return (uint32_t)found;
  }
  if (is_adoptable(value) && !adopt(l->b, value))
    return 0;
  if (p->constant_count == l->f->constant_capacity && !grow_constants(l))
    return 0;
  p->constants[p->constant_count] = value;
  link_constant(l, p->constant_count, hash);
  return p->constant_count++;
}

// After lowering the hash table is gone, so equal constants are not found.
uint32_t tl_function_constant(tl_builder *b, tl_cfg_function *f,
                              tl_slot value) {
  tl_prototype *p = f->prototype;
  if (!tl_arena_more(b->arena, &p->constants, &f->constant_capacity,
                     p->constant_count, sizeof *p->constants))
    return 0;
  p->constants[p->constant_count] = value;
  return p->constant_count++;
}

void tl_load_string(tl_lower *l, int32_t into, const char *text, size_t nbytes,
                    tl_span span) {
  tl_string *string = tl_string_new(l->b->vm, text, nbytes);
  if (string != NULL)
    tl_load_constant(l, into, tl_own_string(string), span);
  else
    l->b->failed = true;
}

int32_t tl_load_constant(tl_lower *l, int32_t want, tl_slot value,
                         tl_span span) {
  want = tl_into(l, want);
  tl_emit_x(l, TL_BC_LOADK, want, tl_add_constant(l, value), span);
  return want;
}

int32_t tl_lower_failed(tl_lower *l, int32_t want, tl_span span) {
  return tl_load_constant(l, want, tl_none(), span);
}

void tl_load_function(tl_lower *l, int32_t into, tl_prototype *function,
                      tl_span span) {
  tl_load_constant(
      l, into, (tl_slot){.tag = TL_TAG_FUNCTION, .pointer = function}, span);
}

// Borrowed by prototypes and messages without a count.
tl_string *tl_unit_string(tl_builder *b, const char *text, size_t nbytes) {
  tl_string *string = tl_string_new(b->vm, text, nbytes);
  b->failed |= string == NULL;
  if (string == NULL)
    return NULL;
  string->head.flags |= TL_IMMORTAL;
  return adopt(b, (tl_slot){.tag = TL_TAG_STRING, .string = string}) ? string
                                                                     : NULL;
}

// A name without memory was noted in the arena, whose failure ends it all.
uint32_t tl_unit_name(tl_builder *b, const tl_name *name) {
  tl_unit *unit = b->unit;
  if (name == NULL || name->notes->unit > 0)
    return name == NULL ? 0 : name->notes->unit - 1;
  tl_string *string = tl_unit_string(b, name->text, name->nbytes);
  if (string == NULL ||
      !tl_arena_more(b->arena, &unit->names, &b->name_capacity,
                     unit->name_count, sizeof *unit->names))
    return 0;
  unit->names[unit->name_count] = string;
  name->notes->unit = ++unit->name_count;
  return unit->name_count - 1;
}

uint32_t tl_unit_text(tl_builder *b, const char *text, size_t nbytes) {
  return tl_unit_name(b, tl_names_get(b->names, text, nbytes));
}

tl_string *tl_unit_named(tl_builder *b, const tl_name *name) {
  uint32_t index = tl_unit_name(b, name);
  return b->unit->name_count == 0 ? NULL : b->unit->names[index];
}

// Lists of names are not looked up: most are used once.
uint32_t tl_unit_keys(tl_builder *b, const tl_name *const *names,
                      uint32_t count) {
  tl_unit *unit = b->unit;
  if (!tl_arena_more(b->arena, &unit->keys, &b->key_capacity, unit->key_count,
                     sizeof *unit->keys))
    return 0;
  struct tl_keys *keys = &unit->keys[unit->key_count];
  keys->count = count;
  keys->names = tl_unit_room(b, sizeof *keys->names * ((size_t)count + 1));
  if (keys->names == NULL)
    return 0;
  for (uint32_t i = 0; i < count; i++)
    keys->names[i] = tl_unit_named(b, names[i]);
  return unit->key_count++;
}

// --- Functions, paths, calls ------------------------------------------------

// A function without a name has the empty string, so that messages need not
// test for NULL. The number is its place in the table: CALLK names it so.
tl_prototype *tl_unit_prototype(tl_builder *b, const tl_name *name) {
  tl_unit *unit = b->unit;
  tl_prototype *p = tl_unit_room(b, sizeof *p);
  if (p == NULL ||
      !tl_arena_more(b->arena, &unit->prototypes, &b->prototype_capacity,
                     unit->prototype_count, sizeof *unit->prototypes))
    return NULL;
  p->head.kind = TL_KIND_FUNCTION;
  // Functions live as long as their unit and are never counted.
  p->head.flags = TL_IMMORTAL;
  p->head.count = 1;
  p->unit = unit;
  p->name =
      tl_unit_named(b, name == NULL ? tl_names_get(b->names, "", 0) : name);
  p->index = unit->prototype_count;
  unit->prototypes[unit->prototype_count++] = p;
  return p;
}

// Made once for each group: bodies of other members may ask first, since calls
// among them name the prototype and not a variable.
tl_prototype **tl_group_prototypes(tl_builder *b, tl_closure_group *group) {
  if (group->lowered != NULL)
    return group->lowered;
  tl_prototype **members = tl_unit_room(b, sizeof *members * group->count);
  if (members == NULL)
    return NULL;
  for (uint32_t i = 0; i < group->count; i++) {
    members[i] = tl_unit_prototype(b, group->functions[i]->function.name);
    if (members[i] == NULL)
      return NULL;
    // Members know their place in the group, and that they share captures.
    members[i]->member = i;
    members[i]->capture_count = group->capture_count;
  }
  group->lowered = members;
  return members;
}

uint32_t tl_unit_group(tl_builder *b, uint32_t count, tl_prototype **members) {
  tl_unit *unit = b->unit;
  if (!tl_arena_more(b->arena, &unit->groups, &b->group_capacity,
                     unit->group_count, sizeof *unit->groups))
    return 0;
  unit->groups[unit->group_count] = (tl_group){count, members};
  return unit->group_count++;
}

uint32_t tl_unit_path(tl_builder *b, uint32_t step_count, tl_step **steps) {
  tl_unit *unit = b->unit;
  *steps = tl_unit_room(b, sizeof **steps * (size_t)step_count);
  if (*steps == NULL ||
      !tl_arena_more(b->arena, &unit->paths, &b->path_capacity,
                     unit->path_count, sizeof *unit->paths)) {
    *steps = NULL;
    return 0;
  }
  unit->paths[unit->path_count] =
      (tl_path){.step_count = (uint16_t)step_count, .steps = *steps};
  return unit->path_count++;
}

uint32_t tl_unit_item_path(tl_builder *b) {
  tl_step *steps;
  if (b->item_path > 0)
    return b->item_path - 1;
  uint32_t path = tl_unit_path(b, 1, &steps);
  tl_index_item *item = tl_unit_room(b, sizeof *item);
  if (steps == NULL || item == NULL)
    return 0;
  item->kind = TL_ITEM_VALUE;
  steps[0].item_count = 1;
  steps[0].items = item;
  b->unit->paths[path].part_count = 1;
  b->item_path = path + 1;
  return path;
}

// Only the last 64 paths are searched: those that were asked for last come
// again soonest, and a long unit must not cost the square of its paths.
void tl_unit_field_path(tl_builder *b, uint32_t name) {
  const tl_unit *unit = b->unit;
  if (unit->name_count == 0)
    return;
  uint32_t look = unit->path_count > 64 ? unit->path_count - 64 : 0;
  for (uint32_t i = unit->path_count; i-- > look;)
    if (unit->paths[i].step_count == 1 && !unit->paths[i].lends &&
        unit->paths[i].steps[0].field == unit->names[name])
      return;
  tl_step *steps;
  tl_unit_path(b, 1, &steps);
  if (steps != NULL)
    steps[0].field = unit->names[name];
}

uint32_t tl_unit_shape(tl_builder *b, const tl_ast_call *call) {
  tl_unit *unit = b->unit;
  // Shape 0 means: all by position.
  uint32_t index = unit->shape_count == 0 ? 1 : unit->shape_count;
  tl_call_argument *arguments =
      tl_unit_room(b, sizeof *arguments * ((size_t)call->count + 1));
  if (arguments == NULL ||
      !tl_arena_more(b->arena, &unit->shapes, &b->shape_capacity, index,
                     sizeof *unit->shapes))
    return 0;
  for (uint32_t i = 0; i < call->count; i++) {
    const tl_argument *a = &call->arguments[i];
    arguments[i].kind = (uint8_t)a->kind;
    if (a->name != NULL)
      arguments[i].name = tl_unit_named(b, a->name);
  }
  if (index == 1)
    unit->shapes[0] = (tl_call_shape){.count = 0};
  unit->shapes[index] = (tl_call_shape){call->count, arguments};
  unit->shape_count = index + 1;
  return index;
}

// Values that lowering makes, such as types and constant lists, report by the
// VM's pending error, which knows no place in the text. All kinds but type
// become value, as they are about a literal.
void tl_diagnose_pending(tl_builder *b, tl_span span) {
  const tl_pending_error *error = &b->vm->error;
  if (error->status == TALLY_ERR_MEMORY) {  // nobody's mistake
    b->failed = true;
    return;
  }
  tl_diagnose(
      b->diagnostics,
      error->status == TALLY_ERR_TYPE ? TALLY_ERR_TYPE : TALLY_ERR_VALUE, span,
      "%s", error->message == NULL ? "no memory" : error->message);
  // From here on it is a diagnostic among others, with a place in the text.
  tl_error_clear(b->vm);
}
