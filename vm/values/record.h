// Records: ordered fields, each with a key. A hash index is kept from 9 fields
// on.
//
//     tl_record  │ head │ length … │ key value │ … room │ hash index │
//
// Names of the language's own, and most others, are strings: functions that
// take a tl_string look for that. Those that take a slot look for any key that
// may be one (key.h).
//
// Where its first fields were removed, its head has moved up to those that are
// left, as that of a list does (list.h).
//
// A record is changed by whoever has its only reference (tl_record_unique).
// Functions that may make it grow take tl_record **, since it may move.
#pragma once

#include "vm/values/key.h"

// One field.
typedef struct tl_field {
  tl_key key;     // counted unless immortal
  tl_slot value;  // heap slot
} tl_field;

// A record object. The hash index, if there is one, lies behind the fields
// there is room for.
struct tl_record {
  tl_object head;
  int64_t length;
  int64_t capacity;    // fields there is room for
  int32_t index_size;  // slots of the hash index behind the fields, 0: none
  // Where the index found a key the last time: whoever asks whether a list is
  // a key there, reads its value and stores another hashes it once.
  int32_t last;
  tl_field fields[];
};

// A record without fields and with room for [capacity], owned; NULL after
// tl_fail.
tl_record *tl_record_new(tl_vm *vm, int64_t capacity);
// A record whose keys are these distinct strings, in order, and whose values
// are all none; owned, NULL after tl_fail. The keys are retained.
tl_record *tl_record_of_names(tl_vm *vm, int64_t count,
                              tl_string *const *names);
// The position of a field with that string as its key; -1.
int64_t tl_record_find(tl_record *record, const tl_string *key);
// The same for a key that is no string.
// Of two keys that are equal by value, such as int8(1) and 1, there is one.
int64_t tl_record_find_other(tl_record *record, tl_slot key);
// The same for any value that may be a key.
static inline int64_t tl_record_find_key(tl_record *record, tl_slot key) {
  return tl_is_string(key) ? tl_record_find(record, key.string)
                           : tl_record_find_other(record, key);
}
// The value at a key, borrowed as a place; NULL: it is not there. Valid until
// the record grows or loses a field.
tl_slot *tl_record_get(tl_record *record, const tl_string *key);
// As tl_record_get, where *hint is the position at which the field was found
// the last time, in whatever record: instructions and paths remember it.
tl_slot *tl_record_get_again(tl_record *record, const tl_string *key,
                             uint16_t *hint);
// The same, with a look at that position before anything is called: code names
// fields by constants, so the key is mostly the very same string.
static inline tl_slot *tl_record_get_hinted(tl_record *record,
                                            const tl_string *key,
                                            uint16_t *hint) {
  tl_field *field = &record->fields[*hint];
  if (__builtin_expect(*hint < record->length &&
                           field->key.word == tl_key_of_string(key).word,
                       1))
    return &field->value;
  return tl_record_get_again(record, key, hint);
}
// The value at any key, as tl_record_get.
static inline tl_slot *tl_record_get_key(tl_record *record, tl_slot key) {
  int64_t at = tl_record_find_key(record, key);
  return at < 0 ? NULL : &record->fields[at].value;
}
// The same for a name in C.
tl_slot *tl_record_get_name(tl_record *record, const char *key);
// Whether all keys are strings, as the names of fields and columns are; else
// fails (kind type): "[what] needs keys that are strings: …".
bool tl_record_check_names(tl_vm *vm, const tl_record *record,
                           const char *what);
// Sets a field of a record that only the caller has. The order stays, new keys
// go to the end. *value moves in, or is retained; key is borrowed. The record
// may move: *record is updated. On failure nothing has changed.
bool tl_record_set(tl_vm *vm, tl_record **record, tl_string *key,
                   tl_slot *value);
// The same for any key, which moves in where it is new and its slot owns it.
bool tl_record_set_key(tl_vm *vm, tl_record **record, tl_slot *key,
                       tl_slot *value);
// The same for a name in C, of which a string is made.
bool tl_record_set_name(tl_vm *vm, tl_record **record, const char *key,
                        tl_slot *value);
// Making a record field by field: each of the tl_record_put functions adds one.
// After a failure the record has been dropped and *record is NULL (as where
// tl_record_new found no memory), and further fields are left out, so that only
// the end has to look.
//
//   tl_record *record = tl_record_new(vm, 2);
//   tl_record_put(vm, &record, "values", values);  // takes it in any case
//   tl_record_put_int(vm, &record, "count", count);
//   return tl_record_put_end(record, out);
void tl_record_put(tl_vm *vm, tl_record **record, const char *name,
                   tl_slot value);
// Numbers of up to 2^63 - 1, as a weak int64; the text is copied.
void tl_record_put_int(tl_vm *vm, tl_record **record, const char *name,
                       uint64_t value);
void tl_record_put_text(tl_vm *vm, tl_record **record, const char *name,
                        const char *text);
// A field's value could not be made: gives the record up.
void tl_record_put_nothing(tl_vm *vm, tl_record **record);
// As tl_record_put where [ok], else as tl_record_put_nothing.
void tl_record_put_made(tl_vm *vm, tl_record **record, const char *name,
                        bool ok, const tl_slot *value);
// *out owns the finished record; false after tl_fail, where it was given up.
bool tl_record_put_end(tl_record *record, tl_slot *out);
// Takes a record, or NULL where it could not be made: where [ok] *out owns it,
// else it is dropped. Returns [ok].
bool tl_record_give(tl_vm *vm, tl_record *record, bool ok, tl_slot *out);
// Takes the field at [position] out; *out owns its value.
// The key is dropped; fewer than half of the others move. The record may move:
// *record is updated.
void tl_record_remove(tl_vm *vm, tl_record **record, int64_t position,
                      tl_slot *out);
// As tl_list_unique.
bool tl_record_unique(tl_vm *vm, tl_slot *s, int64_t room, tl_record **out);
