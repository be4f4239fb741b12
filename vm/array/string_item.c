// The items of string arrays. See string_item.h for their layout. All stores
// go through replace(), which keeps the counts right.
#include "vm/array/string_item.h"
#include "vm/vm.h"

_Static_assert(sizeof(tl_string_item) == 16 &&
                   offsetof(tl_string_item, rest) == 8 &&
                   offsetof(tl_string_item, string) == 8,
               "items are two words, and text goes on from start to rest");

// --- Looking ----------------------------------------------------------------

// The first four bytes decide most cases, then the inlined comparison has done.
// The order of bytes in UTF-8 is that of code points.
int tl_string_item_compare_long(tl_vm *vm, const tl_string_item *a,
                                const tl_string_item *b) {
  return tl_text_compare(vm, tl_string_item_text(a), tl_string_item_length(a),
                         tl_string_item_text(b), tl_string_item_length(b));
}

// A short text hashes by its two words, a long one by its string, which
// remembers its hash.
uint64_t tl_string_item_hash(const tl_string_item *item) {
  if (!tl_string_item_is_short(item))
    return tl_string_hash(item->string);
  // Short items hash by their words, which equal texts share; a text is never
  // short in one item and long in another.
  uint64_t h =
      (tl_string_item_word(item, 0) + 1) * UINT64_C(0x9e3779b97f4a7c15);
  h = ((h ^ h >> 32) + tl_string_item_word(item, 1)) *
      UINT64_C(0xd6e8feb86659fd93);
  return h ^ h >> 32;
}

// A slot's string is always an object: a short text is made one, a long text
// counts its own.
tl_slot tl_string_item_value(tl_vm *vm, const tl_string_item *item) {
  tl_slot s = {.tag = TL_TAG_STRING, .string = tl_string_item_object(item)};
  if (s.string != NULL)
    return tl_retain(vm, s);
  return tl_string_part(vm, tl_string_item_text(item), item->length, &s)
             ? s
             : tl_unset();
}

// --- Storing ----------------------------------------------------------------

// An item that holds the text itself.
static __attribute__((noinline)) tl_string_item short_item(const char *text,
                                                           size_t nbytes) {
  tl_string_item item = {.length = (uint32_t)nbytes};
  tl_copy_short((char *)&item + offsetof(tl_string_item, start), text, nbytes);
  return item;
}

// The bytes of a long text are not copied: the item refers to the string.
tl_string_item tl_string_item_of(tl_string *string) {
  size_t n = string->length;
  if (n <= TL_SHORT_TEXT)
    return short_item(string->text, n);
  tl_string_item item = {.length = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX};
  memcpy(item.start, string->text, sizeof item.start);
  item.string = string;
  return item;
}

// All zeros are an item of length 0, which is short.
void tl_string_items_clear(tl_string_item *items, int64_t n) {
  memset(items, 0, (size_t)n * sizeof *items);
}

// Counts the string of a long item.
static void keep(tl_vm *vm, const tl_string_item *item) {
  tl_string *string = tl_string_item_object(item);
  if (string != NULL)
    tl_retain(vm, (tl_slot){.tag = TL_TAG_STRING, .string = string});
}

// Takes the count of a long item's string back.
static void drop(tl_vm *vm, const tl_string_item *item) {
  tl_string *string = tl_string_item_object(item);
  if (string != NULL && (string->head.flags & TL_IMMORTAL) == 0)
    tl_drop(vm, tl_own_string(string));
}

// Puts [new] in the item's place. The old one is dropped last: its string may
// be all that keeps the new one's text alive.
static void replace(tl_vm *vm, tl_string_item *item, tl_string_item new) {
  tl_string_item old = *item;
  *item = new;
  drop(vm, &old);
}

// The string stays the caller's. A short text goes where it stays, as what was
// just written in pieces is slow to read as a whole.
void tl_string_item_put(tl_vm *vm, tl_string_item *item, tl_string *string) {
  const size_t n = string->length;
  if (n <= TL_SHORT_TEXT && tl_string_item_is_short(item)) {
    *item = (tl_string_item){.length = (uint32_t)n};
    tl_copy_short((char *)item + offsetof(tl_string_item, start), string->text,
                  n);
    return;
  }
  tl_string_item new = tl_string_item_of(string);
  keep(vm, &new);
  replace(vm, item, new);
}

// A short text is copied into the item, so the string itself is no longer
// needed.
void tl_string_item_take(tl_vm *vm, tl_string_item *item, tl_slot *string) {
  tl_string_item new = tl_string_item_of(string->string);
  if (tl_string_item_is_short(&new))
    tl_drop(vm, *string);
  else if (!tl_is_owned(*string))
    keep(vm, &new);
  *string = tl_none();
  replace(vm, item, new);
}

// The text may be part of the item's own string, which is dropped last.
bool tl_string_item_set(tl_vm *vm, tl_string_item *item, const char *text,
                        size_t nbytes) {
  if (nbytes <= TL_SHORT_TEXT) {
    replace(vm, item, short_item(text, nbytes));
    return true;
  }
  tl_string *string = tl_string_new(vm, text, nbytes);
  if (string == NULL)
    return false;
  replace(vm, item, tl_string_item_of(string));
  return true;
}

// Short results are built on the stack, long ones in a new string.
bool tl_string_item_join(tl_vm *vm, tl_string_item *item,
                         const tl_string_item *a, const tl_string_item *b) {
  size_t n = tl_string_item_length(a), m = tl_string_item_length(b);
  // The text is built apart from the item, because a or b may be the item
  // itself.
  char room[TL_SHORT_TEXT], *text = room;
  tl_string *joined = NULL;
  if (n + m > sizeof room) {
    joined = tl_string_new(vm, NULL, n + m);
    if (joined == NULL)
      return false;
    text = joined->text;
  }
  if (!tl_copy_bytes(vm, text, tl_string_item_text(a), n) ||
      !tl_copy_bytes(vm, text + n, tl_string_item_text(b), m) ||
      (joined != NULL && !tl_string_finish(vm, joined))) {
    tl_string_free(vm, joined);
    return false;
  }
  replace(vm, item,
          joined != NULL ? tl_string_item_of(joined) : short_item(room, n + m));
  return true;
}

// Counted before the old item is dropped: both may be the same item.
void tl_string_item_copy(tl_vm *vm, tl_string_item *item,
                         const tl_string_item *from) {
  tl_string_item new = *from;
  keep(vm, &new);
  replace(vm, item, new);
}

// --- Counting ---------------------------------------------------------------

// Used after a kernel has copied items as 16 bytes: until then nothing counts
// the copies, so nothing may fail in between.
void tl_string_items_keep(tl_vm *vm, const tl_string_item *items, int64_t n) {
  for (int64_t i = 0; i < n; i++) keep(vm, &items[i]);
}

// The items themselves are not cleared: the caller overwrites or frees them.
void tl_string_items_drop(tl_vm *vm, const tl_string_item *items, int64_t n) {
  for (int64_t i = 0; i < n; i++) drop(vm, &items[i]);
}
