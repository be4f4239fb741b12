// The distinct integers of an array. See distinct_integers.h.
//
// Built for speed.

#include "stdlib/distinct_integers.h"
#include "vm/kernels/kernels.h"
#include "vm/vm.h"

// What was seen of the integers from [low] on: a byte for each, or its count.
typedef struct table {
  tl_vm *vm;
  tl_array *seen;
  int64_t low;
  int64_t limit;  // how long it may be
  bool counts;
} table;

// 16 KiB of int64: half of the first cache, the table's part that is in use
// having the rest.
enum { BLOCK = 2048 };

// The least or greatest of n items, 1 or more.
static int64_t extreme(tl_fold fold, const int64_t *items, size_t n) {
  const tl_kernel_table *kernels = tl_kernels();
  tl_fold_state state;
  int64_t item;
  tl_fold_begin(&state);
  kernels->fold_feed[fold][TL_INT64](&state, items, n);
  kernels->fold_end[fold][TL_INT64](&state, &item);
  return item;
}

// A block of [flat] from item [at] on, of *n items; [wide] is room for them.
static const int64_t *block_at(const tl_array *flat, int64_t at,
                               int64_t wide[BLOCK], size_t *n) {
  tl_dtype dtype = tl_array_dtype(flat);
  const char *from = flat->data + (size_t)at * tl_itemsize(dtype);
  *n = (size_t)(flat->size - at < BLOCK ? flat->size - at : BLOCK);
  if (dtype == TL_INT64)
    return (const int64_t *)(const void *)from;
  tl_kernels()->cast[dtype][TL_INT64](wide, from, *n);
  return wide;
}

// Makes the table, from the least of the items, 1 or more, to the greatest.
// False where the VM failed, or *fits is: it would be too long.
static bool open_table(table *t, const tl_array *flat, bool *fits) {
  int64_t low = INT64_MAX, high = INT64_MIN;
  for (int64_t at = 0; at < flat->size; at += BLOCK) {
    int64_t wide[BLOCK];
    size_t n;
    const int64_t *items = block_at(flat, at, wide, &n);
    int64_t least = extreme(TL_FOLD_MIN, items, n);
    int64_t most = extreme(TL_FOLD_MAX, items, n);
    low = least < low ? least : low;
    high = most > high ? most : high;
    *fits = (uint64_t)high - (uint64_t)low < (uint64_t)t->limit;
    if (!*fits || !tl_poll(t->vm, BLOCK / 1024))
      return false;
  }
  const int64_t length = high - low + 1;
  t->low = low;
  t->seen = tl_array_zeros(t->vm, t->counts ? TL_INT64 : TL_BOOL, 1, &length);
  return t->seen != NULL;
}

// The same, and enters all items.
static bool enter(table *t, const tl_array *flat, bool *fits) {
  if (!open_table(t, flat, fits))
    return false;
  for (int64_t at = 0; at < flat->size; at += BLOCK) {
    int64_t wide[BLOCK];
    size_t n;
    const int64_t *items = block_at(flat, at, wide, &n);
    if (!tl_poll(t->vm, BLOCK / 1024))
      return false;
    int64_t *count = (int64_t *)(void *)t->seen->data;
    char *mark = t->seen->data;
    const int64_t low = t->low;  // no store below can change it
    if (t->counts)
      for (size_t i = 0; i < n; i++) count[items[i] - low]++;
    else
      for (size_t i = 0; i < n; i++) mark[items[i] - low] = 1;
  }
  return true;
}

// How many distinct integers there are: what is not 0 in the table; -1 after
// tl_fail.
static int64_t count_seen(const table *t) {
  const tl_kernel_table *kernels = tl_kernels();
  tl_dtype dtype = tl_array_dtype(t->seen);
  tl_fold_state state;
  int64_t found;
  tl_fold_begin(&state);
  const size_t length = (size_t)t->seen->size;
  for (size_t at = 0, end = 0; at < length; at = end) {
    if (!tl_poll_piece(t->vm, at, length, &end))
      return -1;
    kernels->fold_feed[TL_FOLD_COUNT][dtype](
        &state, t->seen->data + at * tl_itemsize(dtype), end - at);
  }
  kernels->fold_end[TL_FOLD_COUNT][dtype](&state, &found);
  return found;
}

// Writes what was seen to [values], and its counts where they were kept. False
// after tl_fail.
static bool leave(const table *t, tl_array *values, tl_array *counts) {
  const tl_kernel_table *kernels = tl_kernels();
  tl_dtype dtype = tl_array_dtype(values), from = tl_array_dtype(t->seen);
  char *value = values->data;
  char *count = counts ? counts->data : NULL;
  for (int64_t at = 0; at < t->seen->size; at += BLOCK) {
    int64_t left = t->seen->size - at, places[BLOCK];
    size_t n = (size_t)(left < BLOCK ? left : BLOCK);
    const char *seen = t->seen->data + (size_t)at * tl_itemsize(from);
    uint8_t mask[BLOCK];
    kernels->cast[from][TL_BOOL](mask, seen, n);
    size_t found = kernels->true_indices(places, mask, t->low + at, n);
    kernels->cast[TL_INT64][dtype](value, places, found);
    value += found * tl_itemsize(dtype);
    if (count != NULL)
      count += sizeof(int64_t) * kernels->compress[3](count, seen, mask, n);
    if (!tl_poll(t->vm, BLOCK / 1024))
      return false;
  }
  return true;
}

// A table's places are differences of int64, in which uint64 has no room.
bool tl_integers_counted(tl_dtype dtype) {
  return dtype == TL_BOOL || (tl_dtype_is_integer(dtype) && dtype != TL_UINT64);
}

// The table may be as long as there are items: then clearing and reading it
// costs no more than they do. Where *items is dying and may shrink, the values
// go to its own memory, which was read by then.
bool tl_distinct_integers(tl_vm *vm, tl_slot *items, tl_array **values,
                          tl_array **counts) {
  const tl_array *flat = items->array;
  tl_dtype dtype = tl_array_dtype(flat);
  table t = {vm, NULL, 0, flat->size, counts != NULL};
  bool fits = true;
  int64_t found = 0;
  *values = NULL;
  bool ok = enter(&t, flat, &fits);
  if (ok)
    found = count_seen(&t);
  ok = ok && found >= 0 &&
       (!counts || (*counts = tl_array_new(vm, TL_INT64, 1, &found)) != NULL);
  if (ok) {
    *values = tl_array_resizes(vm, *items)
                  ? tl_array_narrow(vm, items, dtype, 1, &found)
                  : tl_array_new(vm, dtype, 1, &found);
    ok = *values != NULL;
  }
  ok = ok && leave(&t, *values, counts ? *counts : NULL);
  tl_array_drop(vm, t.seen);
  return ok || !fits;
}

// Puts each number's place among those that were seen in its count's stead.
// False after tl_fail.
static bool rank_seen(const table *t) {
  int64_t *count = (int64_t *)(void *)t->seen->data, rank = 0;
  for (int64_t i = 0; i < t->seen->size && tl_poll_at(t->vm, i); i++)
    if (count[i] != 0)
      count[i] = rank++;
  return !tl_failed(t->vm);
}

// The place of each item among the values, after rank_seen.
static bool place_items(const table *t, const tl_array *flat, int64_t *out) {
  const int64_t *rank = (const int64_t *)(const void *)t->seen->data;
  for (int64_t at = 0; at < flat->size; at += BLOCK) {
    int64_t wide[BLOCK];
    size_t n;
    const int64_t *items = block_at(flat, at, wide, &n);
    if (!tl_poll(t->vm, BLOCK / 1024))
      return false;
    for (size_t i = 0; i < n; i++)
      out[(size_t)at + i] = rank[items[i] - t->low];
  }
  return true;
}

// The first occurrence is found by going from the last item to the first, each
// overwriting what came behind it: no test is needed.
bool tl_integers_placed(tl_vm *vm, const tl_array *flat, const tl_array *x,
                        bool all, tl_distinct *d) {
  table t = {vm, NULL, 0, flat->size, true};
  bool fits = true;
  bool ok = enter(&t, flat, &fits);
  int64_t found = ok ? count_seen(&t) : 0;
  ok = ok && found >= 0;
  if (ok) {
    d->values = tl_array_new(vm, tl_array_dtype(flat), 1, &found);
    d->inverse = tl_array_new(vm, TL_INT64, tl_ndim(x), tl_shape(x));
    d->counts = all ? tl_array_new(vm, TL_INT64, 1, &found) : NULL;
    d->indices = all ? tl_array_new(vm, TL_INT64, 1, &found) : NULL;
    ok = d->values && d->inverse && (!all || (d->counts && d->indices));
  }
  if (ok) {
    int64_t *inverse = (int64_t *)(void *)d->inverse->data;
    ok = leave(&t, d->values, d->counts) && rank_seen(&t) &&
         place_items(&t, flat, inverse);
    // From the last to the first, which stays.
    for (int64_t i = flat->size; all && i-- > 0 && tl_poll_ok(vm, i, &ok);)
      ((int64_t *)(void *)d->indices->data)[inverse[i]] = i;
  }
  tl_array_drop(vm, t.seen);
  return ok || !fits;
}

// Which of a block of queries were seen.
static void look_up(const table *t, const int64_t *queries, size_t n,
                    uint8_t *found) {
  const char *seen = t->seen->data;
  uint64_t low = (uint64_t)t->low, size = (uint64_t)t->seen->size;
  for (size_t i = 0; i < n; i++) {
    uint64_t place = (uint64_t)queries[i] - low;
    uint64_t is_within = place < size;
    found[i] = (uint8_t)((uint64_t)seen[place & (0 - is_within)] & is_within);
  }
}

// A query outside of the table is answered by its place alone (look_up),
// without a branch.
bool tl_integers_among(tl_vm *vm, const tl_array *queries,
                       const tl_array *items, uint8_t *found, bool *fits) {
  // A table of more bytes would take longer to clear than the search does.
  int64_t limit = 8 * (queries->size + items->size) + BLOCK;
  table t = {vm, NULL, 0, limit, false};
  *fits = true;
  bool ok = enter(&t, items, fits);
  for (int64_t at = 0; ok && at < queries->size; at += BLOCK) {
    int64_t wide[BLOCK];
    size_t n;
    const int64_t *block = block_at(queries, at, wide, &n);
    ok = tl_poll(vm, BLOCK / 1024);
    look_up(&t, block, n, found + at);
  }
  tl_array_drop(vm, t.seen);
  return ok || !*fits;
}
