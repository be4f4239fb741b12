// Keys of records: making them of values, and when two are equal.
//
// A list that is a key is walked on the C stack: tl_key_fault_of has seen that
// it is no deeper than TL_KEY_DEPTH.

#include "vm/values/key.h"

#include <inttypes.h>

#include "vm/values/list.h"

// --- Integers ---------------------------------------------------------------

// Whether the slot is an integer of any dtype that int64 holds; s.i has its
// value.
static bool is_integer(tl_slot s) {
  return tl_is_scalar(s) && tl_dtype_is_integer((tl_dtype)tl_dtype_of(s)) &&
         (tl_dtype_of(s) != TL_UINT64 || s.u <= INT64_MAX);
}

// An int of 63 bits keeps its sign: the word is shifted back arithmetically.
bool tl_key_word(tl_slot s, uint64_t *word) {
  if (tl_is_bool(s)) {
    *word = (uint64_t)(s.i != 0) << 3 | TL_KEY_BOOL;
    return true;
  }
  if (!tl_is_scalar(s) || s.i >= INT64_C(1) << 62 || s.i < -(INT64_C(1) << 62))
    return false;
  *word = (uint64_t)s.i << 1 | TL_KEY_INTEGER;
  return true;
}

// --- What may be a key ------------------------------------------------------

// Whether a value is a key by itself, and no list.
static inline bool is_simple(tl_slot s) {
  return tl_class(s) == TL_CLASS_I64 || tl_is_string(s) || tl_is_bool(s) ||
         is_integer(s);
}

// tl_key_fault_of at a depth, with *left items to go.
static tl_key_fault fault_of(tl_slot s, int depth, int64_t *left,
                             tl_slot *wrong) {
  *wrong = s;
  // A text counts by its bytes: look-ups read it.
  if (depth > 0 && tl_is_string(s) &&
      (*left -= (int64_t)(s.string->length / TL_LONG_TEXT)) < 0)
    return TL_KEY_MANY;
  if (is_simple(s))
    return TL_KEY_FINE;
  if (!tl_is_list(s))
    return TL_KEY_OTHER;
  if (depth == TL_KEY_DEPTH)
    return TL_KEY_DEEP;
  *left -= s.list->length;
  if (*left < 0)
    return TL_KEY_MANY;
  tl_key_fault fault = TL_KEY_FINE;
  for (int64_t i = 0; fault == TL_KEY_FINE && i < s.list->length; i++)
    if (!is_simple(s.list->items[i]) || tl_is_string(s.list->items[i]))
      fault = fault_of(s.list->items[i], depth + 1, left, wrong);
  return fault;
}

// Whether a list has but items that need no further look, as most keys have.
static bool is_flat(tl_slot s) {
  if (!tl_is_list(s) || s.list->length > TL_KEY_ITEMS)
    return false;
  for (int64_t i = 0; i < s.list->length; i++)
    if (!tl_key_is_plain(s.list->items[i]))
      return false;
  return true;
}

// The count of items is for all lists together: one list may stand in another
// many times over, and so on for each level.
tl_key_fault tl_key_fault_of(tl_slot s, tl_slot *wrong) {
  int64_t left = TL_KEY_ITEMS;
  return is_flat(s) ? TL_KEY_FINE : fault_of(s, 0, &left, wrong);
}

// --- Making -----------------------------------------------------------------

// Whether the value may be shared as it is: in keys all integers are int64.
// Recurses, as fault_of did before.
static bool is_plain(tl_slot s) {
  if (!tl_is_list(s))
    return !is_integer(s) || tl_dtype_of(s) == TL_INT64;
  for (int64_t i = 0; i < s.list->length; i++)
    if (!is_plain(s.list->items[i]))
      return false;
  return true;
}

// A copy of a list in which all integers are int64; NULL after tl_fail.
static tl_list *plain_list(tl_vm *vm, const tl_list *from) {
  tl_list *made = tl_list_new(vm, from->length);
  for (int64_t i = 0; made != NULL && i < from->length; i++) {
    tl_slot item = tl_borrow(from->items[i]);
    if (tl_is_list(item)) {
      tl_list *inner = plain_list(vm, item.list);
      if (inner == NULL) {
        tl_drop(vm, tl_own_list(made));
        return NULL;
      }
      item = tl_own_list(inner);
    } else if (is_integer(item)) {
      item = tl_weak_int(item.i);
    }
    made->items[made->length++] = tl_escape(vm, &item, TL_CAUSE_ITEM);
  }
  return made;
}

// The key of a list: itself, or a plain copy.
static bool make_list(tl_vm *vm, tl_slot *s, tl_key *out) {
  tl_list *list;
  if (is_plain(*s)) {
    list = tl_escape(vm, s, TL_CAUSE_FIELD).list;
  } else {
    list = plain_list(vm, s->list);
    if (list == NULL)
      return false;
    tl_drop(vm, *s);
    s->tag &= ~TL_OWNED;
  }
  out->word = (uint64_t)(uintptr_t)list | TL_KEY_LIST;
  return true;
}

// A string moves in where it is owned, else it is counted.
// A plain list is shared: nobody changes a list that a record refers to. An
// integer beyond 63 bits gets a list of its own.
bool tl_key_make(tl_vm *vm, tl_slot *s, tl_key *out) {
  if (tl_is_string(*s)) {
    *out = tl_key_of_string(s->string);
    if (!tl_is_owned(*s))
      tl_retain(vm, *s);
    s->tag &= ~TL_OWNED;
    return true;
  }
  if (tl_is_list(*s))
    return make_list(vm, s, out);
  if (tl_key_word(*s, &out->word))
    return true;
  tl_list *wide = tl_list_new(vm, 1);
  if (wide == NULL)
    return false;
  wide->items[wide->length++] = tl_weak_int(s->i);
  out->word = (uint64_t)(uintptr_t)wide | TL_KEY_WIDE;
  return true;
}

// For copies of records, which share their keys.
void tl_key_retain(tl_vm *vm, tl_key key) {
  if (tl_key_object(key) != NULL)
    tl_retain(vm, tl_key_counted(key));
}

// The reverse of tl_key_make, without a count.
tl_slot tl_key_slot(tl_key key) {
  if ((key.word & 1) != 0)
    return tl_weak_int((int64_t)key.word >> 1);
  if ((key.word & TL_KEY_BITS) == TL_KEY_BOOL)
    return tl_bool(key.word >> 3 != 0);
  tl_slot s = tl_key_counted(key);
  return (key.word & TL_KEY_BITS) == TL_KEY_WIDE ? s.list->items[0] : s;
}

// --- Comparing --------------------------------------------------------------

static bool equal(tl_slot a, tl_slot b);

// Items of two lists. Most are integers or strings, and most that are equal are
// the same word or the same object.
static inline bool equal_items(tl_slot a, tl_slot b) {
  if ((uint16_t)a.tag != (uint16_t)b.tag)
    return equal(a, b);
  return a.u == b.u || (tl_is_string(a) ? tl_string_equal(a.string, b.string)
                                        : tl_is_list(a) && equal(a, b));
}

// Whether two values are the same key: integers by value, bools only bools.
static bool equal(tl_slot a, tl_slot b) {
  if (tl_is_string(a))
    return tl_is_string(b) && tl_string_equal(a.string, b.string);
  if (tl_is_bool(a) || tl_is_bool(b))
    return tl_is_bool(a) && tl_is_bool(b) && a.i == b.i;
  if (!tl_is_list(a))
    return tl_is_scalar(b) && a.i == b.i;
  if (!tl_is_list(b) || a.list->length != b.list->length)
    return false;
  for (int64_t i = 0; a.list != b.list && i < a.list->length; i++)
    if (!equal(a.list->items[i], b.list->items[i]))
      return false;
  return true;
}

// Lists side by side, where most that differ do so in their first item. Else by
// way of the value, as a wide integer is not equal by its word.
bool tl_key_is(tl_key key, tl_slot s) {
  if ((key.word & TL_KEY_BITS) == TL_KEY_LIST && tl_is_list(s)) {
    const tl_list *list = tl_key_counted(key).list;
    int64_t i = 0, n = s.list->length;
    if (list == s.list || list->length != n)
      return list == s.list;
    while (i < n && equal_items(list->items[i], s.list->items[i])) i++;
    return i == n;
  }
  return equal(tl_key_slot(key), s);
}

// The finaliser of splitmix64: every bit of the word moves every bit of the
// hash.
static inline uint64_t mix(uint64_t word) {
  word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
  return word ^ word >> 31;
}

// Eight integers in a row lie side by side in a record's index, in one line of
// the cache, so that keys that count up are entered and found in order. The
// upper half, which entries keep, tells them apart.
uint64_t tl_key_word_hash(uint64_t word) {
  if ((word & TL_KEY_INTEGER) == 0)
    return mix(word);
  uint64_t last = word >> 1 & 7;
  return mix(word >> 4) ^ (last | last << 32);
}

// The word of a value that is no list and no string.
static inline uint64_t word_of(tl_slot s) {
  uint64_t word;
  return tl_key_word(s, &word) ? word : s.u;
}

// Strings hash by their bytes, which they remember; lists by their items in
// order, each with one multiplication, as wherever the list is a key it is
// hashed anew; integers of any width by their value. Neither step joins two
// different hashes.
uint64_t tl_key_hash(tl_slot s) {
  if (tl_is_string(s))
    return tl_string_hash(s.string);
  if (!tl_is_list(s))
    return tl_key_word_hash(word_of(s));
  uint64_t hash = (uint64_t)s.list->length;
  for (int64_t i = 0; i < s.list->length; i++) {
    tl_slot item = s.list->items[i];
    uint64_t own = tl_class(item) == TL_CLASS_I64 ? item.u
                   : tl_is_string(item)           ? tl_string_hash(item.string)
                   : tl_is_list(item)             ? tl_key_hash(item)
                   : tl_is_bool(item)             ? ~word_of(item)
                                                  : item.u;
    hash = (hash ^ own) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
  }
  return mix(hash);
}

// --- As text ----------------------------------------------------------------

// Appends a value as the language writes it. The text may be cut in a string,
// between two characters.
static void write_key(tl_text *text, tl_slot s, bool quoted) {
  if (tl_is_string(s)) {
    const char *bytes = s.string->text;
    tl_text_puts(text, quoted ? "\"" : "");
    for (size_t at = 0, n; !text->failed && at < s.string->length; at += n) {
      n = 1;
      while (((unsigned char)bytes[at + n] & 0xc0) == 0x80) n++;
      tl_text_add(text, bytes + at, n);
    }
    tl_text_puts(text, quoted ? "\"" : "");
  } else if (tl_is_bool(s)) {
    tl_text_puts(text, s.i != 0 ? "true" : "false");
  } else if (tl_is_list(s)) {
    tl_text_puts(text, "(");
    for (int64_t i = 0; !text->failed && i < s.list->length; i++) {
      tl_text_puts(text, i > 0 ? ", " : "");
      write_key(text, s.list->items[i], true);
    }
    tl_text_puts(text, s.list->length == 1 ? ",)" : ")");
  } else {
    tl_text_printf(text, "%" PRId64, s.i);
  }
}

// A string at the top stands without quotes, as messages have it.
const char *tl_key_text(tl_slot s, char text[TL_KEY_TEXT]) {
  tl_text written;
  tl_text_within(&written, text, TL_KEY_TEXT);
  write_key(&written, s, false);
  text[written.length] = '\0';
  return text;
}
