// What lowering adds to a unit: the constants of each function, names, and
// lists of names for records and selections.
//
// Tables grow in the arena by doubling and move to the unit at the end
// (compile.c). Constants are found again through a hash table with chains,
// since a long list literal may hold thousands.

#include <string.h>

#include "compiler/lower.h"

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
  if (tl_is_string(a) && tl_is_string(b)) {
    return tl_string_equal(a.string, b.string);
  }
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
    value.object->flags |= TL_IMMORTAL;
    if (tl_is_array(value)) {
      value.tag = tl_array_tag(value.array) | (value.tag & TL_WEAK);
    }
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
  if (p->constant_count == f->constant_capacity) {
    uint32_t capacity = f->constant_capacity * 2 + 16;
    tl_slot *constants = TL_ARENA_ARRAY(b->arena, tl_slot, capacity);
    if (constants == NULL)
      return 0;
    for (uint32_t i = 0; i < p->constant_count; i++) {
      constants[i] = p->constants[i];
    }
    p->constants = constants;
    f->constant_capacity = capacity;
  }
  p->constants[p->constant_count] = value;
  return p->constant_count++;
}

uint32_t tl_string_constant(tl_lower *l, const char *text, size_t nbytes) {
  tl_string *string = tl_string_new(l->b->vm, text, nbytes);
  if (string == NULL) {
    l->b->failed = true;
    return 0;
  }
  return tl_add_constant(l, tl_own_string(string));
}

void tl_load_constant(tl_lower *l, int32_t into, tl_slot value, tl_span span) {
  tl_emit_x(l, TL_BC_LOADK, into, tl_add_constant(l, value), span);
}

tl_string *tl_unit_string(tl_builder *b, const char *text, size_t nbytes) {
  uint32_t index = tl_unit_name(b, text, nbytes);
  return b->unit->name_count == 0 ? NULL : b->unit->names[index];
}

// Lists of names are not looked up: most are used once.
uint32_t tl_unit_keys(tl_builder *b, const tl_name *const *names,
                      uint32_t count) {
  tl_unit *unit = b->unit;
  if (unit->key_count == b->key_capacity) {
    uint32_t capacity = b->key_capacity * 2 + 8;
    struct tl_keys *keys = TL_ARENA_ARRAY(b->arena, struct tl_keys, capacity);
    if (keys == NULL)
      return 0;
    if (unit->key_count > 0) {
      memcpy(keys, unit->keys, unit->key_count * sizeof *keys);
    }
    unit->keys = keys;
    b->key_capacity = capacity;
  }
  struct tl_keys *keys = &unit->keys[unit->key_count];
  keys->count = count;
  keys->names =
      tl_unit_alloc(b->vm, unit, sizeof *keys->names * ((size_t)count + 1));
  if (keys->names == NULL) {
    b->failed = true;
    return 0;
  }
  for (uint32_t i = 0; i < count; i++) {
    keys->names[i] = tl_unit_string(b, names[i]->text, names[i]->nbytes);
  }
  return unit->key_count++;
}

// Only the last 64 names are searched: those that were asked for last come
// again soonest, and a long unit must not cost the square of its names.
uint32_t tl_unit_name(tl_builder *b, const char *text, size_t nbytes) {
  tl_unit *unit = b->unit;
  uint32_t look = unit->name_count > 64 ? unit->name_count - 64 : 0;
  for (uint32_t i = unit->name_count; i-- > look;) {
    if (unit->names[i]->length == nbytes &&
        memcmp(unit->names[i]->text, text, nbytes) == 0) {
      return i;
    }
  }
  if (unit->name_count == b->name_capacity) {
    uint32_t capacity = b->name_capacity * 2 + 16;
    tl_string **names = TL_ARENA_ARRAY(b->arena, tl_string *, capacity);
    if (names == NULL)
      return 0;
    if (unit->name_count > 0) {
      memcpy(names, unit->names, unit->name_count * sizeof *names);
    }
    unit->names = names;
    b->name_capacity = capacity;
  }
  tl_string *string = tl_string_new(b->vm, text, nbytes);
  if (string == NULL) {
    b->failed = true;
    return 0;
  }
  // Borrowed by prototypes and messages without a count.
  string->head.flags |= TL_IMMORTAL;
  if (!adopt(b, (tl_slot){.tag = TL_TAG_STRING, .string = string}))
    return 0;
  unit->names[unit->name_count] = string;
  return unit->name_count++;
}
