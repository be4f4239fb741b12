// Lists sorted by the order of values.

#include <math.h>

#include "stdlib/arrays.h"
#include "stdlib/shared.h"
#include "vm/array/string_item.h"
#include "vm/vm.h"

// --- Sorting ----------------------------------------------------------------

// Items travel with what they are compared by.
typedef struct entry {
  tl_slot key;
  tl_slot item;
} entry;

// A merge sort from below: runs of RUN items by insertion, then pairs of runs
// until one is left. Stable, with n log n calls of tl_compare at most. These
// may fail, which qsort of the C library has no way to stop for.
//
typedef struct sorter {
  tl_vm *vm;
  int64_t count;
  entry *entries, *spare;  // spare has room for as many
  int sign;                // -1: descending
} sorter;

// Sets *is to whether a must stand before b, not where they are equal: that is
// what makes both directions stable. False after tl_fail.
static bool before(const sorter *s, const entry *a, const entry *b, bool *is) {
  int order;
  const tl_slot x = a->key, y = b->key;
  if (tl_class(x) == TL_CLASS_I64 && tl_class(y) == TL_CLASS_I64)
    order = (x.i > y.i) - (x.i < y.i);
  else if (tl_is_string(x) && tl_is_string(y) &&
           x.string->length < TL_LONG_TEXT)
    order = tl_string_compare(s->vm, x.string, y.string);
  else if (!tl_compare(s->vm, x, y, &order))
    return false;
  *is = order * s->sign < 0;
  return true;
}

// Below some eight items the moves of an insertion cost less than the copies of
// a merge.
enum { RUN = 8 };  // runs that are sorted by insertion, before merging begins

// Sorts [low, high) by insertion; equal items keep their order.
static bool sort_run(sorter *s, int64_t low, int64_t high) {
  for (int64_t k = low + 1; k < high; k++) {
    entry moving = s->entries[k];
    int64_t to = k;
    // A comparison that fails ends the loop; the item goes back to the gap, so
    // that none is lost.
    bool is = true;
    for (; to > low; to--) {
      if (!before(s, &moving, &s->entries[to - 1], &is) || !is)
        break;
      s->entries[to] = s->entries[to - 1];
    }
    s->entries[to] = moving;
    if (tl_failed(s->vm))
      return false;
  }
  return true;
}

// Merges the sorted runs [low, middle) and [middle, high); equal items keep
// their order.
static bool merge(sorter *s, int64_t low, int64_t middle, int64_t high) {
  entry *e = s->entries;
  bool crossed;
  // Runs in order already are one comparison: sorted lists take linear time.
  if (!before(s, &e[middle], &e[middle - 1], &crossed))
    return false;
  if (!crossed)
    return true;
  memcpy(s->spare, e + low, (size_t)(middle - low) * sizeof *e);
  int64_t i = 0, left = middle - low, k = middle, to = low;
  bool ok = true;
  while (ok && i < left && k < high) {
    bool second = false;
    ok = before(s, &e[k], &s->spare[i], &second);
    if (ok)
      e[to++] = second ? e[k++] : s->spare[i++];
  }
  memcpy(e + to, s->spare + i, (size_t)(left - i) * sizeof *e);
  return ok;
}

// Below so many keys merging is faster, and of longer lists the first items
// nearly always decide.
enum { UNIFORM_FROM = 64, COLUMNS_MOST = 4 };

// How many columns the keys have, to be sorted by one after the other: lists of
// that many items, or 1 of plain keys; 0: they are not alike.
static int64_t columns_of(const sorter *s) {
  tl_slot first = s->entries[0].key;
  bool lists = tl_is_list(first);
  int64_t width = lists ? first.list->length : 1;
  bool ok = true;
  for (int64_t i = 0; i < s->count && tl_poll_ok(s->vm, i, &ok); i++) {
    tl_slot key = s->entries[i].key;
    ok = tl_is_list(key) == lists && (!lists || key.list->length == width);
  }
  return ok && width <= COLUMNS_MOST ? width : 0;
}

// What the key of entry [i] has in a column.
static tl_slot part_of(const sorter *s, int64_t i, int64_t column) {
  tl_slot key = s->entries[i].key;
  return tl_is_list(key) ? key.list->items[column] : key;
}

// The dtype of the array that holds such keys: they are sorted as the array is
// where all have one. NaN is no such key, as an array has it at the end in both
// directions; TL_DTYPE_COUNT for it and all else.
static tl_dtype key_dtype(tl_slot key) {
  return tl_is_string(key)                                ? TL_STRING
         : tl_class(key) == TL_CLASS_I64                  ? TL_INT64
         : tl_class(key) == TL_CLASS_F64 && !isnan(key.f) ? TL_FLOAT64
                                                          : TL_DTYPE_COUNT;
}

// Whether the keys of a column all have one dtype.
static bool is_uniform(const sorter *s, int64_t column) {
  const tl_dtype dtype = key_dtype(part_of(s, 0, column));
  bool ok = dtype != TL_DTYPE_COUNT;
  for (int64_t i = 0; i < s->count && tl_poll_ok(s->vm, i, &ok); i++)
    ok = key_dtype(part_of(s, i, column)) == dtype;
  return ok;
}

// Writes the order of the entries' keys, copied to [items] as an array has
// them. Strings are borrowed there: the keys outlive the call.
static bool order_uniform(sorter *s, int64_t column, char *items,
                          int64_t *order) {
  const tl_dtype dtype = key_dtype(part_of(s, 0, column));
  bool ok = true;
  for (int64_t i = 0; i < s->count && tl_poll_ok(s->vm, i, &ok); i++) {
    tl_slot key = part_of(s, i, column);
    if (dtype == TL_STRING)
      ((tl_string_item *)items)[i] = tl_string_item_of(key.string);
    else
      memcpy(items + (size_t)i * sizeof key.u, &key.u, sizeof key.u);
  }
  return ok &&
         tl_argsort_items(s->vm, dtype, order, items, s->count, s->sign < 0);
}

// Sorts entries by uniform keys, by the last column first, as each order keeps
// the one before among equals; one allocation has the items of a column and,
// behind them, the order.
static bool sort_uniform(sorter *s, int64_t columns) {
  size_t items_bytes = (size_t)s->count * sizeof(tl_string_item);
  size_t nbytes = items_bytes + (size_t)s->count * sizeof(int64_t);
  char *items = tl_alloc(s->vm, nbytes, "sort");
  if (items == NULL)
    return false;
  int64_t *order = (int64_t *)(items + items_bytes);
  bool ok = true;
  while (ok && columns-- > 0) {
    ok = order_uniform(s, columns, items, order);
    for (int64_t i = 0; i < s->count && tl_poll_ok(s->vm, i, &ok); i++)
      s->spare[i] = s->entries[order[i]];
    if (ok) {
      entry *sorted = s->spare;
      s->spare = s->entries;
      s->entries = sorted;
    }
  }
  tl_free(s->vm, items, nbytes);
  return ok;
}

// Whether all columns are uniform; how many they are.
static bool has_uniform(const sorter *s, int64_t *columns) {
  *columns = s->count < UNIFORM_FROM ? 0 : columns_of(s);
  bool all = *columns > 0;
  for (int64_t c = 0; all && c < *columns; c++) all = is_uniform(s, c);
  return all;
}

// Sorts s->entries. On failure they are in some order, each of them still there
// once: the caller can drop them all.
static bool sort_entries(sorter *s) {
  int64_t columns;
  if (has_uniform(s, &columns))
    return sort_uniform(s, columns);
  if (tl_failed(s->vm))
    return false;
  for (int64_t low = 0; low < s->count; low += RUN) {
    int64_t high = low + RUN < s->count ? low + RUN : s->count;
    if (!sort_run(s, low, high))
      return false;
    if (low % 1024 == 0 && !tl_poll(s->vm, 1))
      return false;
  }
  for (int64_t width = RUN; width < s->count; width *= 2) {
    for (int64_t low = 0; low + width < s->count; low += 2 * width) {
      int64_t high = low + 2 * width;
      if (high > s->count)
        high = s->count;
      if (!merge(s, low, low + width, high))
        return false;
      if (width > 512 && !tl_poll(s->vm, (uint64_t)width >> 9))
        return false;
    }
    if (!tl_poll(s->vm, (uint64_t)s->count >> 10))
      return false;
  }
  return true;
}

// Fills in keys; those made so far are dropped on failure.
static bool make_keys(sorter *s, tl_slot function) {
  for (int64_t i = 0; i < s->count; i++) {
    entry *e = &s->entries[i];
    tl_slot item = tl_retain(s->vm, e->item);
    if (tl_call(s->vm, tl_borrow(function), 1, &item, &e->key))
      continue;
    while (i-- > 0) tl_drop(s->vm, s->entries[i].key);
    return false;
  }
  return true;
}

// Sorts the list's items in its own memory; on failure they stay as they are.
// Without a key function the items are their own keys, borrowed; keys that a
// function made are owned until the end.
static bool sort_items(tl_vm *vm, tl_list *list, bool descending, tl_slot key) {
  sorter s = {.vm = vm, .count = list->length, .sign = descending ? -1 : 1};
  size_t nbytes = 2 * (size_t)s.count * sizeof(entry);
  entry *entries = tl_alloc(vm, nbytes, "sort");
  if (entries == NULL)
    return false;
  s.entries = entries;
  s.spare = entries + s.count;
  bool ok = true;
  for (int64_t i = 0; i < s.count && tl_poll_ok(vm, i, &ok); i++) {
    tl_slot item = list->items[i];
    s.entries[i] = (entry){tl_borrow(item), item};
  }
  bool keyed = ok && !tl_is_none(key);
  ok = ok && (!keyed || make_keys(&s, key));
  if (ok) {
    ok = sort_entries(&s);
    for (int64_t i = 0; i < s.count; i++) {
      if (ok)
        list->items[i] = s.entries[i].item;
      if (keyed)
        tl_drop(vm, s.entries[i].key);
    }
  }
  tl_free(vm, entries, nbytes);
  return ok;
}

// On failure the list goes back to where it came from, as the caller's error
// handler may still read it.
bool tl_list_sort(tl_vm *vm, tl_slot *s, bool descending, tl_slot key,
                  tl_slot *out) {
  tl_list *list;
  tl_slot other = tl_borrow(*s);  // stays as it is where it must be copied
  if (!tl_is_none(key) && !tl_is_callable(key))
    return tl_arg_fail(vm, "sort", "key", "a function", key);
  if (!tl_list_unique(vm, tl_may_change(vm, *s) ? s : &other, 0, &list))
    return false;
  const bool ok = list->length < 2 || sort_items(vm, list, descending, key);
  return tl_give_or_put_back(vm, ok, tl_own_list(list), s, out);
}
