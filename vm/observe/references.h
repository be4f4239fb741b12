// Who refers to what: every reference that a script could make, with a name for
// the place it is in and the count it is part of. For memory.owners and the
// like, and for messages about shared arrays.
//
//     roots: slots of frames, variables of modules, the host's handles
//       └ items: [0] of a list, .key of a record, captured by a function,
//                what a resource says that it holds …
//
// A circle through a resource has no root: it is found in the VM's list of such
// resources, when all that has a root was met.
#pragma once

#include "vm/bytecode/function.h"

// Where a reference is.
typedef enum tl_reference_kind {
  // A slot of a frame under way.
  TL_REFERENCE_STACK,
  // A module's variable.
  TL_REFERENCE_VARIABLE,
  // A handle that the host holds.
  TL_REFERENCE_HOST,
  // Inside another object.
  TL_REFERENCE_ITEM,
  // No reference: a resource that holds what leads back to it, and that nothing
  // else leads to. No count frees it.
  TL_REFERENCE_CIRCLE,
} tl_reference_kind;

// Which of the three counts it is part of (vm/value.h).
typedef enum tl_reference_count {
  // The compiler knows it.
  TL_COUNT_VIRTUAL,
  // The slot's bit says it.
  TL_COUNT_EMBEDDED,
  // It is in the object's count field.
  TL_COUNT_IMMEDIATE,
  // None: a name or a view for as long as another reference lasts.
  TL_COUNT_BORROWED,
} tl_reference_count;

// Room for a reference's name; longer ones are cut.
enum { TL_REFERENCE_NAME = 120 };

// One reference. Valid during the visit.
typedef struct tl_reference {
  tl_reference_kind kind;
  tl_reference_count count;
  // The object that an ITEM is in; else NULL.
  const tl_object *from;
  // The slot of a STACK reference; else NULL.
  const tl_slot *at;
  tl_slot to;  // counted, not immortal
  // In tl_each_reference: the first reference to its object that was met.
  bool is_first;
  // "x in fn f, line 3, slot 2", "[0]", ".key"
  char name[TL_REFERENCE_NAME];
} tl_reference;

// Visits a reference; returns false to stop.
typedef bool tl_reference_visit(void *context, const tl_reference *r);

// Visits the owners outside of objects. False: stopped.
bool tl_each_root(tl_vm *vm, tl_reference_visit *visit, void *context);
// Visits what one value refers to.
bool tl_each_item(tl_slot value, tl_reference_visit *visit, void *context);
// Visits all references, looking into each object once. *complete tells whether
// there was memory to do it, and no interrupt where it [polls] (tl_fail then).
bool tl_each_reference(tl_vm *vm, bool polls, tl_reference_visit *visit,
                       void *context, bool *complete);
// Whether what a resource holds leads back to it. *complete is set to false
// where there was no memory to find out.
bool tl_is_in_circle(tl_vm *vm, const struct tl_resource *resource,
                     bool *complete);

// Visits the names in frames under way for what another reference owns (y after
// y = x). *complete is set to false where there was no memory to find them.
// False: stopped.
bool tl_each_alias(tl_vm *vm, tl_reference_visit *visit, void *context,
                   bool *complete);

// Names the slot of a frame as a reference.
void tl_name_slot(const tl_frame *f, uint32_t slot, tl_reference *r);

// Writes what a message calls the owner: "[0] of a list", "x of module main".
void tl_spell_owner(const tl_reference *r, char *out, size_t size);
