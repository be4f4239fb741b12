// The distinct strings of an array. See distinct_strings.h.
//
// A table of hashes finds equal strings, so that only the distinct ones are
// sorted. A string keeps its hash, and pieces of a split text that are equal
// are one string: then the address says it all.
#include "stdlib/distinct_strings.h"

#include <string.h>

#include "stdlib/arrays.h"
#include "vm/string.h"
#include "vm/vm.h"

typedef struct entry {
  tl_string *string;
  int64_t count;
} entry;

typedef struct table {
  tl_vm *vm;
  entry *entries;  // open addressing; a string of NULL: free
  size_t capacity, used;
} table;

static entry *find(const table *t, tl_string *string) {
  size_t mask = t->capacity - 1;
  uint64_t hash = tl_string_hash(string);
  for (size_t at = (size_t)hash & mask;; at = (at + 1) & mask) {
    entry *e = &t->entries[at];
    if (e->string == NULL || e->string == string ||
        (tl_string_hash(e->string) == hash &&
         tl_string_equal(e->string, string)))
      return e;
  }
}

static bool grow(table *t) {
  table old = *t;
  t->capacity = old.capacity > 0 ? 2 * old.capacity : 256;
  t->entries = tl_alloc_zeroed(t->vm, t->capacity * sizeof *t->entries,
                               "a table of strings");
  if (t->entries == NULL) {
    *t = old;
    return false;
  }
  for (size_t i = 0; i < old.capacity; i++) {
    if (old.entries[i].string != NULL)
      *find(t, old.entries[i].string) = old.entries[i];
  }
  tl_free(t->vm, old.entries, old.capacity * sizeof *old.entries);
  return true;
}

static bool count_all(table *t, const tl_array *flat) {
  tl_string *const *items = (tl_string *const *)(const void *)flat->data;
  for (int64_t i = 0; i < flat->size; i++) {
    if (3 * t->used >= 2 * t->capacity && !grow(t))
      return false;
    entry *e = find(t, items[i]);
    t->used += e->string == NULL;
    e->string = items[i];
    e->count++;
    if ((i & 0xffff) == 0xffff && !tl_poll(t->vm, 64))
      return false;
  }
  return true;
}

// The table's strings and counts, as they lie there.
static void list_entries(const table *t, tl_array *strings, tl_array *counts) {
  tl_string **to = (tl_string **)(void *)strings->data;
  int64_t *count = (int64_t *)(void *)counts->data;
  for (size_t i = 0; i < t->capacity; i++) {
    if (t->entries[i].string == NULL)
      continue;
    tl_slot s = {.tag = TL_TAG_STRING, .string = t->entries[i].string};
    *to++ = tl_retain(t->vm, s).string;
    *count++ = t->entries[i].count;
  }
}

static bool in_order(tl_vm *vm, tl_array *strings, tl_array *counts,
                     tl_array **values, tl_array **ordered) {
  int64_t n = strings->size;
  tl_slot taken, tallied;
  tl_array *order = tl_array_new(vm, TL_INT64, 1, &n);
  if (order == NULL)
    return false;
  int64_t *at = (int64_t *)(void *)order->data;
  bool ok = tl_argsort_items(vm, TL_STRING, at, strings->data, n, false) &&
            tl_take_axis(vm, strings, at, n, 0, &taken);
  if (ok && ordered != NULL) {
    ok = tl_take_axis(vm, counts, at, n, 0, &tallied);
    if (ok)
      *ordered = tallied.array;
    else
      tl_drop(vm, taken);
  }
  tl_drop(vm, tl_own_array(order));
  if (ok)
    *values = taken.array;
  return ok;
}

bool tl_distinct_strings(tl_vm *vm, const tl_array *flat, tl_array **values,
                         tl_array **counts) {
  table t = {.vm = vm};
  tl_array *strings = NULL, *found = NULL;
  bool ok = count_all(&t, flat);
  int64_t n = (int64_t)t.used;
  ok = ok && (strings = tl_array_new(vm, TL_STRING, 1, &n)) != NULL &&
       (found = tl_array_new(vm, TL_INT64, 1, &n)) != NULL;
  if (ok) {
    list_entries(&t, strings, found);
    ok = in_order(vm, strings, found, values, counts);
  }
  if (strings != NULL)
    tl_drop(vm, tl_own_array(strings));
  if (found != NULL)
    tl_drop(vm, tl_own_array(found));
  if (t.entries != NULL)
    tl_free(vm, t.entries, t.capacity * sizeof *t.entries);
  return ok;
}
