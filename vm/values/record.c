// Records: fields in order, and from nine on a hash index behind them.
//
// The index is an open table of positions, twice as large as the capacity; it
// lies in the same allocation, behind the fields.

#include "vm/values/record.h"

#include <string.h>

#include "vm/values/string.h"
#include "vm/vm.h"

enum { INDEX_FROM = 9, NOBODY = -1 };

// --- The index --------------------------------------------------------------

// An entry keeps part of the key's hash, so that other keys need not be looked
// at: each would be a miss of the cache.
typedef struct entry {
  int32_t position;
  uint32_t hash;
} entry;

static entry *index_of(tl_record *record) {
  return (entry *)(void *)&record->fields[record->capacity];
}

static int64_t index_size(int64_t capacity) {
  if (capacity < INDEX_FROM)
    return 0;
  int64_t size = 32;
  while (size < 2 * capacity) size *= 2;
  return size;
}

static void index_add(tl_record *record, int64_t position) {
  entry *index = index_of(record);
  uint64_t mask = (uint64_t)record->index_size - 1;
  uint64_t hash = tl_string_hash(record->fields[position].key);
  uint64_t at = hash & mask;
  while (index[at].position != NOBODY) at = (at + 1) & mask;
  index[at] = (entry){(int32_t)position, (uint32_t)(hash >> 32)};
}

static void index_build(tl_record *record) {
  if (record->index_size == 0)
    return;
  memset(index_of(record), 0xff, (size_t)record->index_size * sizeof(entry));
  for (int64_t i = 0; i < record->length; i++) index_add(record, i);
}

static int64_t index_find(tl_record *record, tl_string *key) {
  const entry *index = index_of(record);
  uint64_t mask = (uint64_t)record->index_size - 1;
  uint64_t hash = tl_string_hash(key);
  for (uint64_t at = hash & mask; index[at].position != NOBODY;
       at = (at + 1) & mask) {
    if (index[at].hash == (uint32_t)(hash >> 32) &&
        tl_string_equal(record->fields[index[at].position].key, key))
      return index[at].position;
  }
  return -1;
}

// --- Making and growing -----------------------------------------------------

static bool record_bytes(tl_vm *vm, int64_t capacity, size_t *nbytes) {
  if (capacity >= 0 && capacity < INT32_MAX / 4) {
    *nbytes = sizeof(tl_record) + (size_t)capacity * sizeof(tl_field) +
              (size_t)index_size(capacity) * sizeof(entry);
    return true;
  }
  return tl_fail_memory(vm, SIZE_MAX, "a record");
}

tl_record *tl_record_new(tl_vm *vm, int64_t capacity) {
  size_t nbytes = 0;
  if (!record_bytes(vm, capacity, &nbytes))
    return NULL;
  tl_record *record = tl_object_new(vm, TL_KIND_RECORD, nbytes, "a record");
  if (record == NULL)
    return NULL;
  record->length = 0;
  record->capacity = capacity;
  record->index_size = index_size(capacity);
  index_build(record);
  return record;
}

static bool record_reserve(tl_vm *vm, tl_record **record, int64_t room) {
  tl_record *old = *record;
  if (old->capacity - old->length >= room)
    return true;
  int64_t capacity = old->capacity + old->capacity / 2;
  if (capacity < old->length + room)
    capacity = old->length + room;
  if (capacity < 4)
    capacity = 4;
  size_t nbytes = 0;
  if (!record_bytes(vm, capacity, &nbytes))
    return false;
  tl_record *grown = tl_realloc(vm, old, old->head.nbytes, nbytes, "a record");
  if (grown == NULL)
    return false;
  grown->head.nbytes = nbytes;
  grown->capacity = capacity;
  grown->index_size = index_size(capacity);
  index_build(grown);
  *record = grown;
  return true;
}

// --- Fields -----------------------------------------------------------------

int64_t tl_record_find(tl_record *record, tl_string *key) {
  if (record->index_size != 0)
    return index_find(record, key);
  for (int64_t i = 0; i < record->length; i++)
    if (record->fields[i].key == key)
      return i;
  for (int64_t i = 0; i < record->length; i++)
    if (tl_string_equal(record->fields[i].key, key))
      return i;
  return -1;
}

tl_slot *tl_record_get(tl_record *record, tl_string *key) {
  int64_t at = tl_record_find(record, key);
  return at < 0 ? NULL : &record->fields[at].value;
}

tl_slot *tl_record_get_name(tl_record *record, const char *key) {
  size_t nbytes = strlen(key);
  for (int64_t i = 0; i < record->length; i++) {
    const tl_string *name = record->fields[i].key;
    if (name->length == nbytes && memcmp(name->text, key, nbytes) == 0)
      return &record->fields[i].value;
  }
  return NULL;
}

static tl_string *retain_key(tl_vm *vm, tl_string *key) {
  return tl_retain(vm, (tl_slot){.tag = TL_TAG_STRING, .string = key}).string;
}

static void drop_key(tl_vm *vm, tl_string *key) {
  if ((key->head.flags & TL_IMMORTAL) == 0)
    tl_drop(vm, tl_own_string(key));
}

// With [takes_key] a key that is new becomes the record's, which it says.
static bool record_set(tl_vm *vm, tl_record **record, tl_string *key,
                       bool *takes_key, tl_slot *value) {
  int64_t at = tl_record_find(*record, key);
  if (at >= 0) {
    tl_slot *field = &(*record)->fields[at].value, old = *field;
    *field = tl_escape(vm, value, TL_CAUSE_FIELD);
    tl_drop(vm, old);
    return true;
  }
  if (!record_reserve(vm, record, 1))
    return false;
  tl_record *r = *record;
  r->fields[r->length].key = takes_key != NULL ? key : retain_key(vm, key);
  if (takes_key != NULL)
    *takes_key = true;
  r->fields[r->length].value = tl_escape(vm, value, TL_CAUSE_FIELD);
  r->length++;
  if (r->index_size != 0)
    index_add(r, r->length - 1);
  return true;
}

bool tl_record_set(tl_vm *vm, tl_record **record, tl_string *key,
                   tl_slot *value) {
  return record_set(vm, record, key, NULL, value);
}

bool tl_record_set_key(tl_vm *vm, tl_record **record, tl_slot *key,
                       tl_slot *value) {
  bool taken = false;
  bool ok = record_set(vm, record, key->string,
                       tl_is_owned(*key) ? &taken : NULL, value);
  if (taken)
    key->tag &= ~TL_OWNED;
  return ok;
}

bool tl_record_set_name(tl_vm *vm, tl_record **record, const char *key,
                        tl_slot *value) {
  tl_string *name = tl_string_from(vm, key);
  if (name == NULL)
    return false;
  bool taken = false;
  bool ok = record_set(vm, record, name, &taken, value);
  if (!taken)
    drop_key(vm, name);
  return ok;
}

bool tl_record_set_text(tl_vm *vm, tl_record **record, const char *key,
                        const char *text) {
  tl_string *string = tl_string_from(vm, text);
  if (string == NULL)
    return false;
  tl_slot value = tl_own_string(string);
  bool ok = tl_record_set_name(vm, record, key, &value);
  tl_drop(vm, value);
  return ok;
}

void tl_record_remove(tl_vm *vm, tl_record *record, int64_t position,
                      tl_slot *out) {
  tl_field *field = &record->fields[position];
  tl_string *key = field->key;
  *out = field->value;
  record->length--;
  memmove(field, field + 1,
          (size_t)(record->length - position) * sizeof(tl_field));
  index_build(record);
  drop_key(vm, key);
}

bool tl_record_unique(tl_vm *vm, tl_slot *s, int64_t room, tl_record **out) {
  tl_record *record = s->record;
  if (tl_may_change(vm, *s)) {
    if (!record_reserve(vm, &record, room))
      return false;
    *out = record;
    s->tag &= ~TL_OWNED;
    return true;
  }
  tl_record *copy = tl_record_new(vm, record->length + room);
  if (copy == NULL)
    return false;
  for (int64_t i = 0; i < record->length; i++) {
    tl_slot value = tl_borrow(record->fields[i].value);
    copy->fields[i].key = retain_key(vm, record->fields[i].key);
    copy->fields[i].value = tl_escape(vm, &value, TL_CAUSE_FIELD);
  }
  copy->length = record->length;
  index_build(copy);
  if (tl_is_owned(*s))
    tl_drop(vm, *s);
  s->tag &= ~TL_OWNED;
  *out = copy;
  return true;
}
