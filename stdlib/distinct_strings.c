// The distinct strings of an array. See distinct_strings.h.
//
// A table of hashes finds equal strings, so that only the distinct ones are
// sorted.
//
// Built for speed.
#include "stdlib/distinct_strings.h"

#include "stdlib/arrays.h"
#include "vm/array/string_item.h"
#include "vm/vm.h"

typedef struct entry {
  tl_string_item item;  // counts nothing
  uint64_t hash;
  int64_t count;  // 0: free
} entry;

typedef struct table {
  tl_vm *vm;
  entry *entries;  // open addressing
  size_t capacity, used;
} table;

// The entry of the item, or the free one where it belongs. The table always has
// a free one, as it grows at two thirds.
static entry *find(const table *t, const tl_string_item *item, uint64_t hash) {
  size_t mask = t->capacity - 1;
  for (size_t at = (size_t)hash & mask;; at = (at + 1) & mask) {
    entry *e = &t->entries[at];
    if (e->count == 0 ||
        (e->hash == hash && tl_string_item_equal(t->vm, &e->item, item)))
      return e;
  }
}

// False after tl_fail, with the old table unchanged. [first]: the entries of
// the first one.
static bool grow(table *t, size_t first) {
  table old = *t;
  t->capacity = old.capacity > 0 ? 2 * old.capacity : first;
  t->entries = tl_alloc_zeroed(t->vm, t->capacity * sizeof *t->entries,
                               "a table of strings");
  bool ok = t->entries != NULL &&
            tl_touch(t->vm, t->entries, t->capacity * sizeof *t->entries);
  for (size_t i = 0; i < old.capacity && tl_poll_ok(t->vm, (int64_t)i, &ok);
       i++) {
    const entry *e = &old.entries[i];
    if (e->count > 0)
      *find(t, &e->item, e->hash) = *e;
  }
  const table dead = ok ? old : *t;
  if (!ok)
    *t = old;
  if (dead.entries != NULL)
    tl_free(t->vm, dead.entries, dead.capacity * sizeof *dead.entries);
  return ok;
}

// Counts every item of [flat], whose strings the entries borrow: [flat] must
// live as long as the table.
static bool count_all(table *t, const tl_array *flat) {
  const tl_string_item *items = tl_string_items(flat);
  // A few items need no table that takes longer to clear than to fill.
  size_t first = 16;
  while (first < 256 && 2 * first < 3 * (size_t)flat->size) first *= 2;
  for (int64_t i = 0; i < flat->size && tl_poll_at(t->vm, i); i++) {
    if (3 * t->used >= 2 * t->capacity && !grow(t, first))
      return false;
    uint64_t hash = tl_string_item_hash(&items[i]);
    entry *e = find(t, &items[i], hash);
    if (e->count++ == 0) {
      e->item = items[i];
      e->hash = hash;
      t->used++;
    }
    if (!tl_poll_text(t->vm, tl_string_item_length(&items[i])))
      return false;
  }
  return !tl_failed(t->vm);
}

// The items are copies of the bits alone, so nothing of them is dropped.
static void close_table(table *t) {
  tl_free(t->vm, t->entries, t->capacity * sizeof *t->entries);
}

// The table's strings and counts, as they lie there. False after tl_fail.
static bool list_entries(const table *t, tl_array *strings, tl_array *counts) {
  tl_string_item *to = tl_string_items(strings);
  int64_t *count = (int64_t *)(void *)counts->data;
  bool ok = true;
  for (size_t i = 0; i < t->capacity && tl_poll_ok(t->vm, (int64_t)i, &ok);
       i++) {
    if (t->entries[i].count == 0)
      continue;
    tl_string_item_copy(t->vm, to++, &t->entries[i].item);
    *count++ = t->entries[i].count;
  }
  return ok;
}

// Both results are owned; on failure neither is set that the caller would have
// to drop, and what was made of them is gone.
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

// Sorting only the distinct strings is what makes it fast: there are few of
// them in most columns.
bool tl_distinct_strings(tl_vm *vm, const tl_array *flat, tl_array **values,
                         tl_array **counts) {
  table t = {.vm = vm};
  tl_array *strings = NULL, *found = NULL;
  bool ok = count_all(&t, flat);
  int64_t n = (int64_t)t.used;
  ok = ok && (strings = tl_array_new(vm, TL_STRING, 1, &n)) != NULL &&
       (found = tl_array_new(vm, TL_INT64, 1, &n)) != NULL &&
       list_entries(&t, strings, found) &&
       in_order(vm, strings, found, values, counts);
  tl_array_drop(vm, strings);
  tl_array_drop(vm, found);
  close_table(&t);
  return ok;
}

bool tl_strings_differ(tl_vm *vm, const tl_array *flat, bool *out) {
  table t = {.vm = vm};
  bool ok = count_all(&t, flat);
  *out = ok && t.used == (size_t)flat->size;
  close_table(&t);
  return ok;
}

// A table of the items, then one search for each query. found[i] is 0 or 1.
bool tl_strings_among(tl_vm *vm, const tl_array *queries, const tl_array *items,
                      uint8_t *found) {
  table t = {.vm = vm};
  bool ok = count_all(&t, items);
  const tl_string_item *query = tl_string_items(queries);
  for (int64_t i = 0; i < queries->size && tl_poll_ok(vm, i, &ok); i++) {
    found[i] = t.used > 0 &&
               find(&t, &query[i], tl_string_item_hash(&query[i]))->count > 0;
    ok = tl_poll_text(vm, tl_string_item_length(&query[i]));
  }
  close_table(&t);
  return ok;
}
