// Records: fields in order, and from nine on a hash index behind them.
//
// The index is a hash table with open addressing that holds positions of
// fields; it has seven entries for four fields, ten for the first 512, and lies
// in the same allocation, behind them. Few are found faster by looking at each.
//
// Where a field goes out of the middle, others change their positions. The
// index is not gone through for that: a few such moves are kept behind it, by
// which the positions in it are corrected, and when there is no more room for
// moves it is built anew.

#include "vm/values/record.h"

#include "vm/events.h"

// From how many fields on there is an index; an entry without a field; the
// moves kept behind an index.
enum { INDEX_FROM = 9, NOBODY = -1, MOVES = 15 };

// --- The index --------------------------------------------------------------

// An entry keeps half of the key's hash, by which it also has its place: other
// keys need not be looked at, each of which would be a cache miss, and none
// where the index grows. A mark is the position, counted from
// the start of the block, so that it stays when the first fields go, and before
// the moves that are kept.
typedef struct entry {
  int32_t mark;
  uint32_t hash;
} entry;

// Fields that went, by their marks. Where those before one went up a place,
// what has a smaller mark is one place further now, and ~mark stands here; else
// what has a larger one is one place less far.
typedef struct moves {
  int32_t count, at[MOVES];
} moves;

// The index, behind the fields there is room for.
static entry *index_of(tl_record *record) {
  return (entry *)(void *)&record->fields[record->capacity];
}

// The moves, behind the index.
static moves *moves_of(tl_record *record) {
  return (moves *)(void *)(index_of(record) + record->index_size);
}

// How many fields the block has had before the first one.
static int64_t first_of(const tl_record *record) {
  return (int64_t)(tl_gap_of(&record->head) / sizeof(tl_field));
}

// Entries of the index of a record with that capacity, a multiple of 8; 0: it
// needs none. Of small ones, which stay in the cache, there are more, so that
// fewer entries stand away from their places.
static int32_t index_size(int64_t capacity) {
  const int64_t size = capacity * 7 / 4 + tl_least(capacity, 512) * 3 / 4;
  return capacity < INDEX_FROM ? 0 : (int32_t)((size + 7) & ~7);
}

// Where the entry of a key with that hash belongs. Places go up with hashes but
// for the last three bits, in which integers in a row differ, so that an index
// is copied to a larger one from its beginning to its end.
static inline uint32_t home_of(const tl_record *record, uint32_t hash) {
  uint64_t at = (uint64_t)hash * (uint32_t)record->index_size >> 32;
  return ((uint32_t)at & ~7u) | (hash & 7);
}

// The entry behind one, round at the end.
static inline uint32_t entry_behind(const tl_record *record, uint32_t at) {
  return ++at == (uint32_t)record->index_size ? 0 : at;
}

// How far an entry is behind another.
static inline uint32_t entries_from(const tl_record *record, uint32_t from,
                                    uint32_t at) {
  return at - from + (at < from ? (uint32_t)record->index_size : 0);
}

// Half of a key's hash, which must be that of the value it was made of.
static uint32_t hash_of(tl_key key) {
  if (tl_key_is_string(key))
    return (uint32_t)tl_string_hash(tl_key_string(key));
  return (uint32_t)(tl_key_object(key) == NULL ? tl_key_word_hash(key.word)
                                               : tl_key_hash(tl_key_slot(key)));
}

// The position of the field with that mark.
static inline int64_t position_of(tl_record *record, int32_t mark) {
  const moves *moved = moves_of(record);
  int64_t at = mark - first_of(record);
  for (int32_t i = 0; i < moved->count; i++) {
    int32_t gone = moved->at[i];
    at += gone < 0 ? mark < ~gone : -(mark > gone);
  }
  return at;
}

// The mark of a new field at the end: behind all that went.
static int32_t mark_of_last(tl_record *record) {
  const moves *moved = moves_of(record);
  int64_t mark = record->length - 1 + first_of(record);
  for (int32_t i = 0; i < moved->count; i++) mark += moved->at[i] >= 0;
  return (int32_t)mark;
}

// Enters a field with that mark, by its key's hash.
static inline void index_add(tl_record *record, uint32_t hash, int32_t mark) {
  entry *index = index_of(record);
  uint32_t at = home_of(record, hash);
  while (index[at].mark != NOBODY) at = entry_behind(record, at);
  index[at] = (entry){mark, hash};
}

// The entry of the field at that position, which has one.
static uint32_t entry_of(tl_record *record, int64_t position) {
  const entry *index = index_of(record);
  uint32_t at = home_of(record, hash_of(record->fields[position].key));
  while (position_of(record, index[at].mark) != position)
    at = entry_behind(record, at);
  return at;
}

// Takes the field's entry out and returns its mark. Entries behind it that
// would not be found across the hole move into it, one after the other (Knuth,
// volume 3, algorithm R).
static int32_t index_remove(tl_record *record, int64_t position) {
  entry *index = index_of(record);
  uint32_t hole = entry_of(record, position);
  int32_t mark = index[hole].mark;
  for (uint32_t at = entry_behind(record, hole); index[at].mark != NOBODY;
       at = entry_behind(record, at)) {
    if (entries_from(record, home_of(record, index[at].hash), at) <
        entries_from(record, hole, at))
      continue;
    index[hole] = index[at];
    hole = at;
  }
  index[hole].mark = NOBODY;
  return mark;
}

// Enters all fields anew: by the [count] entries of an index that keeps no
// moves, or, of none, by their keys.
static void index_fill(tl_record *record, const entry *old, int32_t count) {
  if (record->index_size == 0)
    return;
  memset(index_of(record), 0xff, (size_t)record->index_size * sizeof(entry));
  moves_of(record)->count = 0;
  for (int32_t i = 0; i < count; i++)
    if (old[i].mark != NOBODY)
      index_add(record, old[i].hash, old[i].mark);
  int64_t first = first_of(record);
  for (int64_t i = 0; count == 0 && i < record->length; i++)
    index_add(record, hash_of(record->fields[i].key), (int32_t)(i + first));
}

// Whether a field has the key that is looked for.
typedef bool is_key(tl_key key, const void *sought);

// The position of a field by its hash and a test of its key; -1.
// The walk ends since three of seven entries at least are empty. Inlined with
// its predicate, so that no call goes through the pointer.
static inline int64_t index_find(tl_record *record, uint32_t hash, is_key *is,
                                 const void *sought) {
  const entry *index = index_of(record);
  for (uint32_t at = home_of(record, hash); index[at].mark != NOBODY;
       at = entry_behind(record, at)) {
    if (index[at].hash != hash)
      continue;
    int64_t position = position_of(record, index[at].mark);
    if (is(record->fields[position].key, sought))
      return record->last = (int32_t)position;
  }
  return -1;
}

// --- Making and growing -----------------------------------------------------

// The bytes of a record with that capacity; false after tl_fail: too many
// fields.
static bool record_bytes(tl_vm *vm, int64_t capacity, size_t *nbytes) {
  if (capacity >= 0 && capacity < INT32_MAX / 4) {
    *nbytes = sizeof(tl_record) + (size_t)capacity * sizeof(tl_field);
    if (index_size(capacity) > 0)
      *nbytes += (size_t)index_size(capacity) * sizeof(entry) + sizeof(moves);
    return true;
  }
  return tl_fail_memory(vm, SIZE_MAX, "a record");
}

// The index is made with the record, empty, if so many fields need one.
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
  record->last = 0;
  index_fill(record, NULL, 0);
  return record;
}

// The capacity of a record that grows to [needed] fields at least: by half,
// also where it is a copy that gets them, since more may follow. Room alone
// is no reason for an index.
static int64_t grown(int64_t capacity, int64_t needed) {
  capacity += capacity / 2;
  if (capacity < needed)
    capacity = needed;
  if (capacity >= INDEX_FROM && needed < INDEX_FROM)
    return INDEX_FROM - 1;
  return capacity < 4 ? 4 : capacity;
}

// The index is built once, when all keys are there.
tl_record *tl_record_of_names(tl_vm *vm, int64_t count,
                              tl_string *const *names) {
  // To an empty record fields will be added.
  tl_record *record = tl_record_new(vm, count == 0 ? grown(0, 1) : count);
  for (int64_t i = 0; record != NULL && i < count; i++) {
    tl_slot name = {.tag = TL_TAG_STRING, .string = names[i]};
    tl_retain(vm, name);
    record->fields[i].key = tl_key_of_string(names[i]);
    record->fields[i].value = tl_none();
  }
  if (record != NULL) {
    record->length = count;
    index_fill(record, NULL, 0);
  }
  return record;
}

// Moves the record up by a field, of which it has no more than its place. The
// index stays where it is.
static tl_record *move_up(tl_record *record) {
  size_t gap = tl_gap_of(&record->head) + sizeof(tl_field);
  tl_record *up = (tl_record *)(void *)((char *)record + sizeof(tl_field));
  memmove(up, record, sizeof *record);
  ((size_t *)(void *)up)[-1] = gap;
  up->head.flags |= TL_GAP;
  up->head.nbytes -= sizeof(tl_field);
  up->capacity--;
  up->length--;
  return up;
}

// Moves the record down to the start of its block.
static tl_record *move_down(tl_record *record) {
  size_t gap = tl_gap_of(&record->head);
  tl_record *down = (tl_record *)(void *)((char *)record - gap);
  memmove(down, record,
          sizeof *record + (size_t)record->length * sizeof(tl_field));
  down->head.flags &= (uint8_t)~TL_GAP;
  down->head.nbytes += gap;
  down->capacity += (int64_t)(gap / sizeof(tl_field));
  index_fill(down, NULL, 0);
  return down;
}

// Gives a record that has been moved to a larger block that capacity. The index
// lies behind the fields, so it is made anew there, of a copy of the old one;
// where it keeps moves, or there is no memory for that, of the keys.
static void extend(tl_vm *vm, tl_record *record, int64_t capacity) {
  int32_t count = record->index_size;
  size_t nbytes = (size_t)count * sizeof(entry);
  entry *old = count > 0 && moves_of(record)->count == 0
                   ? tl_spare_alloc(vm, nbytes)
                   : NULL;
  if (old != NULL)
    memcpy(old, index_of(record), nbytes);
  record->capacity = capacity;
  record->index_size = index_size(capacity);
  index_fill(record, old, old == NULL ? 0 : count);
  if (old != NULL)
    tl_spare_free(vm, old, nbytes);
}

// Makes room for more fields.
static bool record_reserve(tl_vm *vm, tl_record **record, int64_t room) {
  tl_record *old = *record;
  if (old->capacity - old->length >= room)
    return true;
  // Half as much room as there are fields, or the next gap would be closed
  // soon.
  if (first_of(old) > 0) {
    *record = old = move_down(old);
    if (old->capacity - old->length >= room + old->length / 2)
      return true;
  }
  int64_t capacity = grown(old->capacity, old->length + room);
  size_t nbytes = 0;
  if (!record_bytes(vm, capacity, &nbytes))
    return false;
  tl_record *grown = tl_realloc(vm, old, old->head.nbytes, nbytes, "a record");
  if (grown == NULL)
    return false;
  grown->head.nbytes = nbytes;
  extend(vm, grown, capacity);
  *record = grown;
  return true;
}

// --- Fields -----------------------------------------------------------------

// The predicates of index_find: a key that is this string, this word, or equal
// to this value.
static inline bool is_string(tl_key key, const void *sought) {
  return tl_key_is_string(key) &&
         (tl_key_string(key)->length < TL_TEXT_PIECE ||
          tl_string_hash(tl_key_string(key)) ==
              tl_string_hash((tl_string *)sought)) &&
         tl_string_equal(tl_key_string(key), sought);
}

// Integers and bools: no two words are the same key.
static bool is_word(tl_key key, const void *sought) {
  return key.word == *(const uint64_t *)sought;
}

// Lists and integers of 64 bits.
static bool is_value(tl_key key, const void *sought) {
  return tl_key_is(key, *(const tl_slot *)sought);
}

// Whether a key is that which was found before: whoever asks for one often
// reads its value and stores another next, and then nothing is searched. A
// string has its hash and is found as soon; comparing two texts that differ
// would take longer.
static inline bool is_last(const tl_record *record, is_key *is,
                           const void *sought) {
  return record->last < record->length &&
         is(record->fields[record->last].key, sought);
}

// Compiled code names fields by constants, so the very same string is likely:
// addresses are compared first, then texts.
int64_t tl_record_find(tl_record *record, const tl_string *key) {
  if (record->index_size != 0)
    return index_find(record, (uint32_t)tl_string_hash((tl_string *)key),
                      is_string, key);
  for (int64_t i = 0; i < record->length; i++)
    if (record->fields[i].key.word == tl_key_of_string(key).word)
      return i;
  for (int64_t i = 0; i < record->length; i++)
    if (is_string(record->fields[i].key, key))
      return i;
  return -1;
}

// Finds a key that is one word: an integer or a bool.
static int64_t find_word(tl_record *record, uint64_t word) {
  if (is_last(record, is_word, &word))
    return record->last;
  if (record->index_size != 0)
    return index_find(record, (uint32_t)tl_key_word_hash(word), is_word, &word);
  for (int64_t i = 0; i < record->length; i++)
    if (record->fields[i].key.word == word)
      return i;
  return -1;
}

// Integers and bools are one word; lists and wide integers are compared by
// value.
int64_t tl_record_find_other(tl_record *record, tl_slot key) {
  uint64_t word;
  if (!tl_is_list(key) && tl_key_word(key, &word))
    return find_word(record, word);
  if (record->index_size != 0)
    return is_last(record, is_value, &key)
               ? record->last
               : index_find(record, (uint32_t)tl_key_hash(key), is_value, &key);
  for (int64_t i = 0; i < record->length; i++)
    if (is_value(record->fields[i].key, &key))
      return i;
  return -1;
}

tl_slot *tl_record_get(tl_record *record, const tl_string *key) {
  int64_t at = tl_record_find(record, key);
  return at < 0 ? NULL : &record->fields[at].value;
}

// Of two strings with one text either may be the key, as units have names of
// their own: then the hint saves the search, if not the comparison.
tl_slot *tl_record_get_again(tl_record *record, const tl_string *key,
                             uint16_t *hint) {
  tl_field *field = &record->fields[*hint];
  if (*hint < record->length && is_string(field->key, key))
    return &field->value;
  int64_t at = tl_record_find(record, key);
  if (at < 0)
    return NULL;
  if (at <= UINT16_MAX)
    *hint = (uint16_t)at;
  return &record->fields[at].value;
}

// For names in C, of small records: no string is made, and no hash.
tl_slot *tl_record_get_name(tl_record *record, const char *key) {
  size_t nbytes = strlen(key);
  for (int64_t i = 0; i < record->length; i++) {
    const tl_string *name = tl_key_string(record->fields[i].key);
    if (name != NULL && name->length == nbytes &&
        memcmp(name->text, key, nbytes) == 0)
      return &record->fields[i].value;
  }
  return NULL;
}

// The first key that is none is named.
bool tl_record_check_names(tl_vm *vm, const tl_record *record,
                           const char *what) {
  char text[TL_KEY_TEXT];
  for (int64_t i = 0; i < record->length; i++) {
    tl_key key = record->fields[i].key;
    if (!tl_key_is_string(key))
      return tl_fail(vm, TALLY_ERR_TYPE,
                     "%s needs keys that are strings: the record has the key "
                     "%s",
                     what, tl_key_text(tl_key_slot(key), text));
  }
  return true;
}

// Replaces a field's value. The old value is dropped last: it may be what keeps
// the new one alive.
static void set_value(tl_vm *vm, tl_slot *field, tl_slot *value) {
  tl_slot old = *field;
  *field = tl_escape(vm, value, TL_CAUSE_FIELD);
  tl_drop(vm, old);
}

// Adds a field, for which there is room; takes the key.
static void add_field(tl_vm *vm, tl_record *r, tl_key key, tl_slot *value) {
  r->fields[r->length].key = key;
  r->fields[r->length].value = tl_escape(vm, value, TL_CAUSE_FIELD);
  r->last = (int32_t)r->length++;
  if (r->index_size != 0)
    index_add(r, hash_of(key), mark_of_last(r));
}

// The key is retained where it is new: it stays the caller's.
bool tl_record_set(tl_vm *vm, tl_record **record, tl_string *key,
                   tl_slot *value) {
  tl_slot name = {.tag = TL_TAG_STRING, .string = key};
  return tl_record_set_key(vm, record, &name, value);
}

// The key is made last: once it has moved in nothing can fail.
bool tl_record_set_key(tl_vm *vm, tl_record **record, tl_slot *key,
                       tl_slot *value) {
  int64_t at = tl_record_find_key(*record, *key);
  if (at >= 0) {
    set_value(vm, &(*record)->fields[at].value, value);
    return true;
  }
  tl_key own;
  if (!record_reserve(vm, record, 1) || !tl_key_make(vm, key, &own))
    return false;
  add_field(vm, *record, own, value);
  return true;
}

// A string is made even where the field is there, so this is not for loops.
bool tl_record_set_name(tl_vm *vm, tl_record **record, const char *key,
                        tl_slot *value) {
  tl_slot own;
  return tl_string_give(tl_string_from(vm, key), &own) &&
         tl_drop_after(vm, tl_record_set_key(vm, record, &own, value), &own);
}

// A record that is not whole must not be seen.
bool tl_record_give(tl_vm *vm, tl_record *record, bool ok, tl_slot *out) {
  if (ok)
    *out = tl_own_record(record);
  else if (record != NULL)
    tl_drop(vm, tl_own_record(record));
  return ok;
}

// From here on tl_record_put does nothing but drop its value.
void tl_record_put_nothing(tl_vm *vm, tl_record **record) {
  if (*record != NULL)
    tl_drop(vm, tl_own_record(*record));
  *record = NULL;
}

// The value is dropped in any case: it owns nothing where it was stored.
void tl_record_put(tl_vm *vm, tl_record **record, const char *name,
                   tl_slot value) {
  if (*record != NULL && !tl_record_set_name(vm, record, name, &value))
    tl_record_put_nothing(vm, record);
  tl_drop(vm, value);  // owns nothing where it was stored
}

void tl_record_put_int(tl_vm *vm, tl_record **record, const char *name,
                       uint64_t value) {
  tl_record_put(vm, record, name, tl_weak_int((int64_t)value));
}

void tl_record_put_text(tl_vm *vm, tl_record **record, const char *name,
                        const char *text) {
  tl_slot value;
  bool ok = *record != NULL && tl_string_give(tl_string_from(vm, text), &value);
  tl_record_put_made(vm, record, name, ok, &value);
}

void tl_record_put_made(tl_vm *vm, tl_record **record, const char *name,
                        bool ok, const tl_slot *value) {
  if (ok)
    tl_record_put(vm, record, name, *value);
  else
    tl_record_put_nothing(vm, record);
}

// NULL says that something failed on the way; the error is pending.
bool tl_record_put_end(tl_record *record, tl_slot *out) {
  if (record != NULL)
    *out = tl_own_record(record);
  return record != NULL;
}

// Notes that a field with that mark went and others took its place. Where
// nothing is noted yet, the last one may go unnoticed; after that it may not,
// or the next one would get a mark among those that went.
static void note_move(tl_record *record, int32_t mark, bool is_up,
                      bool moves_others) {
  moves *moved = moves_of(record);
  if (!moves_others && (is_up || moved->count == 0))
    return;
  if (moved->count == MOVES)
    index_fill(record, NULL, 0);
  else
    moved->at[moved->count++] = is_up ? ~mark : mark;
}

// Corrects the marks of the fields before a position, or of those behind it,
// from the one beside it on: each gets the mark that the last one has left.
static void shift_marks(tl_record *record, int64_t position, bool is_up) {
  const int32_t step = is_up ? -1 : 1;
  for (int64_t i = position + step; i >= 0 && i < record->length; i += step)
    index_of(record)[entry_of(record, i)].mark -= step;
}

// Closes the hole at a position of a record with an index, where a field with
// that mark was: the fields before it move up, or those behind it down,
// whichever are fewer. Near an end few fields move, and their own marks are
// corrected, so that no index is built for them.
static tl_record *close_hole(tl_record *record, int64_t position,
                             int32_t mark) {
  tl_field *fields = record->fields;
  int64_t behind = record->length - 1 - position;
  bool is_up = position < behind;
  int64_t moving = is_up ? position : behind;
  bool shifts = moves_of(record)->count == 0 && moving <= record->length / 32;
  if (shifts)
    shift_marks(record, position, is_up);
  if (is_up) {
    memmove(fields + 1, fields, (size_t)position * sizeof(tl_field));
    record = move_up(record);
  } else {
    memmove(fields + position, fields + position + 1,
            (size_t)behind * sizeof(tl_field));
    record->length--;
  }
  if (!shifts)
    note_move(record, mark, is_up, moving > 0);
  return is_up && first_of(record) > record->length ? move_down(record)
                                                    : record;
}

// The key is dropped last.
void tl_record_remove(tl_vm *vm, tl_record **record, int64_t position,
                      tl_slot *out) {
  tl_field *field = &(*record)->fields[position];
  tl_key key = field->key;
  *out = field->value;
  if ((*record)->index_size != 0) {
    int32_t mark = index_remove(*record, position);
    *record = close_hole(*record, position, mark);
  } else {
    (*record)->length--;
    memmove(field, field + 1,
            (size_t)((*record)->length - position) * sizeof(tl_field));
  }
  tl_key_drop(vm, key);
}

// A copy shares keys and values, each with one more count.
static tl_record *copy_record(tl_vm *vm, const tl_record *record,
                              int64_t room) {
  const int64_t n = record->length;
  tl_record *copy = tl_record_new(vm, room == 0 ? n : grown(n, n + room));
  if (copy == NULL)
    return NULL;
  for (int64_t i = 0; i < n; i++) {
    tl_slot value = tl_borrow(record->fields[i].value);
    copy->fields[i].key = record->fields[i].key;
    tl_key_retain(vm, copy->fields[i].key);
    if (tl_is_heap(value))
      value = tl_escape(vm, &value, TL_CAUSE_FIELD);
    tl_copy_slot(&copy->fields[i].value, &value);
  }
  copy->length = n;
  index_fill(copy, NULL, 0);
  return copy;
}

bool tl_record_unique(tl_vm *vm, tl_slot *s, int64_t room, tl_record **out) {
  tl_record *record = s->record;
  if (tl_may_change(vm, *s)) {
    tl_changed_in_place(vm, *s);
    if (!record_reserve(vm, &record, room))
      return false;
  } else {
    record = tl_may_copy(vm, *s) ? copy_record(vm, record, room) : NULL;
    if (record == NULL)
      return false;
    tl_made_copy(vm, tl_own_record(record));
    tl_drop(vm, *s);
  }
  s->tag &= ~TL_OWNED;
  *out = record;
  return true;
}
