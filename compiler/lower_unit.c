// Lowering: what a unit keeps, its constants and names.

#include <string.h>

#include "compiler/lower.h"

static uint32_t slot_hash(tl_slot s) {
  if (tl_is_string(s))
    return (uint32_t)tl_string_hash(s.string);
  uint64_t h = (s.u ^ s.tag) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(h >> 32);
}

static bool same_constant(tl_slot a, tl_slot b) {
  if (tl_is_string(a) && tl_is_string(b)) {
    return tl_string_equal(a.string, b.string);
  }
  return a.tag == b.tag && a.u == b.u;
}

// Whether a constant is the unit's to free: types belong to the VM.
static bool is_adoptable(tl_slot value) {
  return tl_is_heap(value) && !tl_is_function(value) && !tl_is_type(value);
}

static bool adopt(tl_builder *b, tl_slot value) {
  if (tl_unit_adopt(b->vm, b->unit, value))
    return true;
  b->failed = true;
  return false;
}

static void link_constant(tl_lower *l, uint32_t at, uint32_t hash) {
  int32_t *newest = &l->constant_table[hash % l->constant_buckets];
  l->constant_next[at] = *newest;
  *newest = (int32_t)at;
}

// Room for twice as many, in a table that is large enough for them.
static bool grow_constants(tl_lower *l) {
  tl_prototype *p = l->f->prototype;
  uint32_t capacity = l->f->constant_capacity * 2 + 16;
  tl_slot *constants = TL_ARENA_ARRAY(l->b->arena, tl_slot, capacity);
  int32_t *next = TL_ARENA_ARRAY(l->b->arena, int32_t, capacity);
  int32_t *table = TL_ARENA_ARRAY(l->b->arena, int32_t, capacity);
  if (constants == NULL || next == NULL || table == NULL)
    return false;
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

static int32_t find_constant(const tl_lower *l, tl_slot value, uint32_t hash) {
  if (l->constant_buckets == 0)
    return -1;
  int32_t i = l->constant_table[hash % l->constant_buckets];
  while (i >= 0 && !same_constant(l->f->prototype->constants[i], value))
    i = l->constant_next[i];
  return i;
}

uint32_t tl_add_constant(tl_lower *l, tl_slot value) {
  tl_prototype *p = l->f->prototype;
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

uint32_t tl_unit_name(tl_builder *b, const char *text, size_t nbytes) {
  tl_unit *unit = b->unit;
  // The names of one unit are few; those asked for last come again soonest.
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
  string->head.flags |= TL_IMMORTAL;
  if (!adopt(b, (tl_slot){.tag = TL_TAG_STRING, .string = string}))
    return 0;
  unit->names[unit->name_count] = string;
  return unit->name_count++;
}
