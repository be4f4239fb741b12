// The order of strings, by code points, which is that of their UTF-8's bytes:
// the first eight bytes are sorted as a number, then each group whose bytes are
// the same by the next eight. Small groups are sorted by insertion.
//
// Built for speed.

#include "vm/kernels/kernels.h"
#include "vm/poll.h"
#include "vm/array/string_item.h"

enum {
  KEY_BYTES = 8,
  SMALL_GROUP = 48,  // below it, insertion is faster
  DEEPEST = 128      // bytes that are sorted as numbers
};

// Arrays are of all strings; a group has its stretch of each.
typedef struct sorter {
  tl_vm *vm;
  const tl_string_item *items;
  bool descending;
  int64_t *order;  // the result
  uint64_t *keys;
  int64_t *places;  // of keys in their order
  void *scratch;    // of one group at a time
  uint32_t work;    // strings looked at
} sorter;

// Polls once in so many strings, however small the groups are. False after
// tl_fail.
static bool goes_on(sorter *s) {
  return (++s->work & 0xfff) != 0 || tl_poll(s->vm, 4);
}

// Compares two strings by their numbers; the sign is that of the order asked
// for.
static __attribute__((noinline)) int compare(const sorter *s, int64_t a,
                                             int64_t b) {
  int order = tl_string_item_compare(s->vm, &s->items[a], &s->items[b]);
  return s->descending ? -order : order;
}

// The bytes from [depth] on as a number in their order; 0 behind the end, as
// behind a text that lies in its item.
static inline uint64_t key_of(const tl_string_item *item, size_t depth) {
  const char *text = tl_string_item_text(item) + depth;
  const size_t length = tl_string_item_length(item);
  uint64_t word = 0;
  if (length >= depth + KEY_BYTES ||
      (depth == 0 && tl_string_item_is_short(item)))
    memcpy(&word, text, KEY_BYTES);
  else if (length > depth)
    memcpy(&word, text, length - depth);
  return tl_word_in_order(word);
}

// Inserts the order's n places at [begin] one after the other by the bytes from
// [depth] on, and compares only those whose first eight are the same; stable.
static __attribute__((noinline)) bool insert(sorter *s, int64_t begin,
                                             int64_t n, size_t depth) {
  int64_t *order = s->order + begin;
  uint64_t *keys = s->keys + begin;
  for (int64_t i = 0, to; i < n; i++) {
    const int64_t own = order[i];
    const tl_string_item *item = &s->items[own];
    const uint64_t key = key_of(item, depth) ^ (s->descending ? UINT64_MAX : 0);
    for (to = i; to > 0 &&
                 (keys[to - 1] > key ||
                  (keys[to - 1] == key && compare(s, own, order[to - 1]) < 0));
         to--) {
      order[to] = order[to - 1];
      keys[to] = keys[to - 1];
    }
    order[to] = own;
    keys[to] = key;
    if (!goes_on(s) || !tl_poll_text(s->vm, tl_string_item_length(item)))
      return false;
  }
  return true;
}

// Merges the order's n places at [begin], whose first [depth] bytes are the
// same; stable.
static bool merge(sorter *s, int64_t begin, int64_t n, size_t depth) {
  if (n < SMALL_GROUP)
    return insert(s, begin, n, depth);
  int64_t *order = s->order + begin, *other = s->places + begin;
  const int64_t half = n / 2;
  if (!merge(s, begin, half, depth) || !merge(s, begin + half, n - half, depth))
    return false;
  memcpy(other, order, (size_t)half * sizeof *order);
  int64_t i = 0, k = half, to = 0;
  while (i < half && k < n) {
    const size_t length = tl_string_item_length(&s->items[order[k]]);
    order[to++] = compare(s, order[k], other[i]) < 0 ? order[k++] : other[i++];
    if (!goes_on(s) || !tl_poll_text(s->vm, length))
      return false;
  }
  while (i < half) order[to++] = other[i++];
  return true;
}

// Whether the strings of a group whose bytes up to [depth] are the same may
// differ. Those that end here may in how many zeros they end with. False also
// after tl_fail.
static bool may_differ(sorter *s, int64_t begin, int64_t n, size_t depth) {
  const tl_string_item *first = &s->items[s->order[begin]];
  const char *text = tl_string_item_text(first);
  const size_t length = tl_string_item_length(first);
  // Strings that share one text, as those cut by split do, are equal without a
  // look at their bytes.
  bool same = true, even = true, longer = false;
  for (int64_t i = 0; i < n && goes_on(s); i++) {
    const tl_string_item *item = &s->items[s->order[begin + i]];
    same &= tl_string_item_text(item) == text;
    even &= tl_string_item_length(item) == length;
    longer |= tl_string_item_length(item) > depth;
  }
  return !same && (longer || !even) && !tl_failed(s->vm);
}

// Puts the words in the order of [places].
static bool reorder(sorter *s, uint64_t *words, const int64_t *places,
                    int64_t n) {
  uint64_t *moved = s->scratch;
  for (int64_t i = 0; i < n && tl_poll_at(s->vm, i); i++)
    moved[i] = words[places[i]];
  return !tl_failed(s->vm) &&
         tl_copy_bytes(s->vm, words, moved, (size_t)n * sizeof *words);
}

// Orders a group by eight bytes from [depth] on. Places and keys are moved
// through the scratch memory, which the sort no longer needs.
static bool sort_by_keys(sorter *s, int64_t begin, int64_t n, size_t depth) {
  int64_t *order = s->order + begin, *places = s->places + begin;
  uint64_t *keys = s->keys + begin;
  for (int64_t i = 0; i < n && tl_poll_at(s->vm, i); i++)
    keys[i] = key_of(&s->items[order[i]], depth);
  tl_stop stop = tl_stop_of(s->vm);
  if (tl_failed(s->vm) || !tl_poll(s->vm, (uint64_t)n >> 10) ||
      !tl_argsort(TL_UINT64, places, keys, (size_t)n, s->descending, s->scratch,
                  &stop))
    return false;
  return reorder(s, (uint64_t *)order, places, n) &&
         reorder(s, keys, places, n);
}

// Sorts the n strings of the order at [begin], whose first [depth] bytes are
// the same; groups of equal keys recurse with eight bytes more. DEEPEST bounds
// the recursion for texts with long common beginnings.
static bool sort_group(sorter *s, int64_t begin, int64_t n, size_t depth) {
  if (n < SMALL_GROUP || depth >= DEEPEST)
    return merge(s, begin, n, depth);
  if (!sort_by_keys(s, begin, n, depth))
    return false;
  const uint64_t *keys = s->keys;
  const int64_t end = begin + n;
  for (int64_t i = begin, next; i < end; i = next) {
    const uint64_t key = keys[i];
    for (next = i + 1; next < end && keys[next] == key;) next++;
    if (!goes_on(s) ||
        (next - i > 1 && may_differ(s, i, next - i, depth + KEY_BYTES) &&
         !sort_group(s, i, next - i, depth + KEY_BYTES)))
      return false;
  }
  return !tl_failed(s->vm);
}

// The order is stable in both directions.
bool tl_argsort_strings(tl_vm *vm, int64_t *order, const tl_string_item *items,
                        int64_t n, bool descending) {
  const size_t words = (size_t)n * 2 * sizeof(uint64_t);
  const size_t head = (words + 64) / 64 * 64;  // scratch begins on a line
  const size_t nbytes =
      head +
      (n < SMALL_GROUP ? 0 : tl_argsort_scratch(TL_UINT64, (size_t)n, false));
  char *room = tl_alloc(vm, nbytes, "argsort");
  if (!room)
    return false;
  bool ok = true;
  for (int64_t i = 0; i < n && tl_poll_ok(vm, i, &ok); i++) order[i] = i;
  sorter s = {.vm = vm,
              .items = items,
              .descending = descending,
              .order = order,
              .scratch = room + head};
  s.places = (int64_t *)(void *)room;
  s.keys = (uint64_t *)(void *)room + n;
  ok = ok && sort_group(&s, 0, n, 0);
  tl_free(vm, room, nbytes);
  return ok;
}
