// Records: ordered fields with string keys. A hash index is kept from 9 fields.
#ifndef TALLY_VM_RECORD_H
#define TALLY_VM_RECORD_H

#include "vm/memory/memory.h"

typedef struct tl_field {
  tl_string *key;  // counted unless immortal
  tl_slot value;   // heap slot
} tl_field;

struct tl_record {
  tl_object head;
  int64_t length;
  int64_t capacity;    // fields there is room for
  int64_t index_size;  // slots of the hash index behind the fields, 0: none
  tl_field fields[];
};

tl_record *tl_record_new(tl_vm *vm, int64_t capacity);
// The position of a key, or -1.
int64_t tl_record_find(tl_record *record, tl_string *key);
tl_slot *tl_record_get(tl_record *record, tl_string *key);  // NULL: not there
tl_slot *tl_record_get_name(tl_record *record, const char *key);
// Sets a field of a record that only the caller has; keeps the order, new keys
// go to the end. Moves *value in (or retains it); borrows key. The record may
// move: *record is updated. On failure nothing changed.
bool tl_record_set(tl_vm *vm, tl_record **record, tl_string *key,
                   tl_slot *value);
// The same, and a new key is moved in where its slot owns.
bool tl_record_set_key(tl_vm *vm, tl_record **record, tl_slot *key,
                       tl_slot *value);
bool tl_record_set_name(tl_vm *vm, tl_record **record, const char *key,
                        tl_slot *value);
bool tl_record_set_text(tl_vm *vm, tl_record **record, const char *key,
                        const char *text);
// Takes the field out; *out owns its value. The key must be there.
void tl_record_remove(tl_vm *vm, tl_record *record, int64_t position,
                      tl_slot *out);
// As tl_list_unique.
bool tl_record_unique(tl_vm *vm, tl_slot *s, int64_t room, tl_record **out);

#endif
