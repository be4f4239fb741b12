// Who refers to what: every reference that a script could make, with a name
// for the place it is in and the count it is part of.
#ifndef TALLY_VM_REFERENCES_H
#define TALLY_VM_REFERENCES_H

#include "vm/interp/function.h"

typedef enum tl_reference_kind {
  TL_REFERENCE_STACK,     // a slot of a frame under way
  TL_REFERENCE_VARIABLE,  // a module's variable
  TL_REFERENCE_HOST,      // a handle that the host holds
  TL_REFERENCE_ITEM,      // inside another object
} tl_reference_kind;

typedef enum tl_reference_count {
  TL_COUNT_VIRTUAL,    // the compiler knows it
  TL_COUNT_EMBEDDED,   // the slot's bit says it
  TL_COUNT_IMMEDIATE,  // in the object's count field
} tl_reference_count;

enum { TL_REFERENCE_NAME = 120 };

typedef struct tl_reference {
  tl_reference_kind kind;
  tl_reference_count count;
  const tl_object *from;         // of an ITEM; else NULL
  const tl_slot *at;             // of the STACK; else NULL
  tl_slot to;                    // counted, not immortal
  bool is_first;                 // of tl_each_reference: the first to it
  char name[TL_REFERENCE_NAME];  // "x in fn f, line 3, slot 2", "[0]", ".key"
} tl_reference;

// Returns false to stop.
typedef bool tl_reference_visit(void *context, const tl_reference *r);

// The owners outside of objects. False: stopped.
bool tl_each_root(tl_vm *vm, tl_reference_visit *visit, void *context);
// What one value refers to.
bool tl_each_item(tl_slot value, tl_reference_visit *visit, void *context);
// All of these, each object's once. *complete tells whether there was memory
// to do it.
bool tl_each_reference(tl_vm *vm, tl_reference_visit *visit, void *context,
                       bool *complete);

// Whom a message names as the owner: "[0] of a list", "x of module main".
void tl_spell_owner(const tl_reference *r, char *out, size_t size);

#endif
