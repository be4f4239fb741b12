// Slots, object headers and the three counts.
//
// A slot is a tag word and 8 bytes of payload. Scalars up to 8 bytes live in
// the slot; everything else is a pointer to an object, which begins with
// tl_object.
//
//     slot     │ tag: class, dtype or kind, OWNED, WEAK … │ payload      │
//                                                              │
//     object   │ count │ kind │ flags │ dtype │ ndim │ nbytes │ its own … │
//
// The OWNED bit says that this slot holds one of the object's counts
// (docs/how-values-live.md). A reference's count is one of three kinds:
//
//   virtual    the compiler knows who owns; the bit is written truthfully
//   embedded   the bit decides at run time
//   immediate  a slot in the heap (list item, record field, capture, module
//              variable, host handle) with its bit set; its object is counted
//
// A heap slot without the bit refers to something immortal, or is borrowed by a
// container that only slots refer to (TL_BORROWED, see value.c).
//
// What a function does with a slot, in the order of their frequency:
//
//     tl_borrow     the same reference without a count
//     tl_take       the value of an argument for keeps: moved if it owned, else
//                   retained
//     tl_escape     the same for storing in the heap: views count their blocks,
//                   borrowing containers their items
//     tl_drop       gives up what the slot owns; the last owner frees
//     tl_is_unique  whether the object may be changed in place
#pragma once

#include "vm/dtype.h"

typedef struct tally_vm tl_vm;  // vm.h

// What an object is. For slots of class OBJ, and for none and unset (class
// SMALL), the kind also stands in the tag's dtype byte; so kinds start above
// the dtypes.
typedef enum tl_kind {
  // The two without an object: the value none, and a variable before its first
  // assignment.
  TL_KIND_NONE = 0x20,
  TL_KIND_UNSET,
  TL_KIND_ARRAY,
  TL_KIND_STRING,
  TL_KIND_LIST,
  TL_KIND_RECORD,
  TL_KIND_RANGE,
  TL_KIND_TYPE,
  TL_KIND_MODULE,
  TL_KIND_HANDLE,
  TL_KIND_BUILTIN,   // a function of the library; never counted
  TL_KIND_FUNCTION,  // a script function without captures; immortal
  TL_KIND_CLOSURE,   // a closure group: captures, one count (function.h)
  TL_KIND_NESTED,    // an array of structs, ragged or with missing values
  TL_KIND_COUNT
} tl_kind;

enum {  // tl_object.flags
  // The count is never read or written.
  TL_IMMORTAL = 1,
  // Arrays: whose block it is, whether the view counts it, and who may write
  // it.
  TL_VIEW = 2,       // array: the data belong to another array
  TL_HOLD = 4,       // array: this view counts its block
  TL_READONLY = 8,   // array: never written in place
  TL_EXTERNAL = 16,  // array: the data are a host's or mapped
  // Strings: ASCII without CR, so that a byte is a cluster. The bit has another
  // meaning for arrays: a call under an in-place contract was given it.
  TL_BYTEWISE = 32,
  TL_MARKED = 2,    // string: it has marks (string.h), which have its hash
  TL_INDEXED = 4,   // string: its characters were counted once
  TL_OPERAND = 32,  // array: given to a call under an in-place contract
  // View: of a place that a statement takes out and sets again, in a block that
  // nobody else has. A result may be written through it while it has no hold.
  TL_TAKEN = 32,
  // List, record: its block begins before it, by as many bytes as the size_t
  // there says (list.c, record.c).
  TL_GAP = 32,
  // Lists, records, closures: some items may be borrowed (value.c); items that
  // are added are not borrowed again.
  TL_BORROWED = 64,
  TL_KEEPING = 128,  // the same: items that are added are not borrowed again
};

// The header of every heap object.
// Where pointers have 64 bits it takes 16 bytes, so that what follows is
// aligned for any item.
typedef struct tl_object {
  uint32_t count;  // owners; born as 1
  uint8_t kind;    // tl_kind
  uint8_t flags;
  uint8_t dtype;  // arrays
  uint8_t ndim;   // arrays
  size_t nbytes;  // of the whole allocation
} tl_object;

typedef struct tl_array tl_array;
typedef struct tl_string tl_string;
typedef struct tl_list tl_list;
typedef struct tl_record tl_record;
typedef struct tl_range tl_range;
typedef struct tl_type tl_type;
typedef struct tl_nested tl_nested;

// A value: a scalar itself, or a reference. It is copied freely; whether a copy
// owns is for its holder to say (the OWNED bit).
typedef struct tl_slot {
  uint64_t tag;
  union {
    // Which member holds the payload follows from the class and dtype in the
    // tag.
    int64_t i;   // int64; bool and the narrow integers, sign-extended
    uint64_t u;  // uint64, uint8 … zero-extended
    double f;
    float f32;  // float32, and float16 widened
    tl_c64 c64;
    tl_object *object;
    tl_array *array;
    tl_string *string;
    tl_list *list;
    tl_record *record;
    tl_range *range;
    tl_type *type;
    tl_nested *nested;
    void *pointer;
  };
} tl_slot;

// --- Tags -------------------------------------------------------------------
// bits 0-7 class, one-hot · 8-15 dtype or kind · 16 OWNED · 17 WEAK
// arrays: 24-26 ndim (7: ask the object) · 27 DENSE · 28 DIRECT
// functions of a closure group: 32-47 the member's index
enum {
  TL_CLASS_I64 = 0x01,
  TL_CLASS_F64 = 0x02,
  TL_CLASS_BOOL = 0x04,
  TL_CLASS_SMALL = 0x08,  // every other unboxed scalar, none, unset
  TL_CLASS_ARRAY = 0x10,
  TL_CLASS_LIST = 0x20,
  TL_CLASS_FUNC = 0x40,
  TL_CLASS_OBJ = 0x80,
  // Masks: classes whose payload is a pointer, and those of scalars.
  TL_CLASS_HEAP = 0xf0,
  TL_CLASS_SCALAR = 0x0f,
};
// The slot holds a count of its object.
#define TL_OWNED (UINT64_C(1) << 16)
// A number without a dtype of its own: a literal, a length.
#define TL_WEAK (UINT64_C(1) << 17)
#define TL_DENSE (UINT64_C(1) << 27)  // C-contiguous
// Owns its data and may be written; they have no gaps, but without TL_DENSE
// their axes lie in another order (vm/array/layout.c).
#define TL_DIRECT (UINT64_C(1) << 28)

// The lesser of two.
static inline int64_t tl_least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

// A tag of a class and a dtype or kind.
#define TL_TAG(class, dtype) ((uint64_t)(class) | (uint64_t)(dtype) << 8)
#define TL_TAG_I64 TL_TAG(TL_CLASS_I64, TL_INT64)
#define TL_TAG_F64 TL_TAG(TL_CLASS_F64, TL_FLOAT64)
#define TL_TAG_BOOL TL_TAG(TL_CLASS_BOOL, TL_BOOL)
#define TL_TAG_NONE TL_TAG(TL_CLASS_SMALL, TL_KIND_NONE)
#define TL_TAG_UNSET TL_TAG(TL_CLASS_SMALL, TL_KIND_UNSET)
#define TL_TAG_LIST TL_TAG(TL_CLASS_LIST, TL_KIND_LIST)
#define TL_TAG_STRING TL_TAG(TL_CLASS_OBJ, TL_KIND_STRING)
#define TL_TAG_RECORD TL_TAG(TL_CLASS_OBJ, TL_KIND_RECORD)
#define TL_TAG_RANGE TL_TAG(TL_CLASS_OBJ, TL_KIND_RANGE)
#define TL_TAG_TYPE TL_TAG(TL_CLASS_OBJ, TL_KIND_TYPE)
#define TL_TAG_MODULE TL_TAG(TL_CLASS_OBJ, TL_KIND_MODULE)
#define TL_TAG_HANDLE TL_TAG(TL_CLASS_OBJ, TL_KIND_HANDLE)
#define TL_TAG_BUILTIN TL_TAG(TL_CLASS_FUNC, TL_KIND_BUILTIN)
#define TL_TAG_FUNCTION TL_TAG(TL_CLASS_FUNC, TL_KIND_FUNCTION)
#define TL_TAG_CLOSURE TL_TAG(TL_CLASS_FUNC, TL_KIND_CLOSURE)
#define TL_TAG_NESTED TL_TAG(TL_CLASS_OBJ, TL_KIND_NESTED)

// The class byte of a slot, one bit for each class, so that two slots can be
// tested with one `or`.
static inline int tl_class(tl_slot s) {
  return (int)(s.tag & 0xff);
}
// The dtype of a scalar or an array; the kind of anything else.
static inline int tl_dtype_of(tl_slot s) {
  return (int)(s.tag >> 8 & 0xff);
}
// Whether the payload is a pointer to an object.
static inline bool tl_is_heap(tl_slot s) {
  return (s.tag & TL_CLASS_HEAP) != 0;
}
// Whether the slot holds one of the object's counts.
static inline bool tl_is_owned(tl_slot s) {
  return (s.tag & TL_OWNED) != 0;
}
// Whether a number takes its dtype from what it meets: a literal, a length.
static inline bool tl_is_weak(tl_slot s) {
  return (s.tag & TL_WEAK) != 0;
}
// By class, which is one bit of the tag; all other kinds are found by the dtype
// byte.
static inline bool tl_is_array(tl_slot s) {
  return (s.tag & TL_CLASS_ARRAY) != 0;
}
static inline bool tl_is_list(tl_slot s) {
  return (s.tag & TL_CLASS_LIST) != 0;
}
static inline bool tl_is_function(tl_slot s) {
  return (s.tag & TL_CLASS_FUNC) != 0;
}
// A bool or number in the slot itself. complex128 is a rank-0 array instead:
// see tl_is_number in array.h.
static inline bool tl_is_scalar(tl_slot s) {
  return (s.tag & TL_CLASS_SCALAR) != 0 && tl_dtype_of(s) < TL_DTYPE_COUNT;
}
// Whether the slot is of that kind; not for arrays, whose tag holds a dtype.
static inline bool tl_is_kind(tl_slot s, tl_kind kind) {
  return tl_dtype_of(s) == (int)kind;
}
// The value none; not the state of a variable before its first assignment,
// which is unset and which no script can read.
static inline bool tl_is_none(tl_slot s) {
  return tl_is_kind(s, TL_KIND_NONE);
}
static inline bool tl_is_unset(tl_slot s) {
  return tl_is_kind(s, TL_KIND_UNSET);
}
static inline bool tl_is_bool(tl_slot s) {
  return (s.tag & TL_CLASS_BOOL) != 0;
}
static inline bool tl_is_string(tl_slot s) {
  return tl_is_kind(s, TL_KIND_STRING);
}
static inline bool tl_is_record(tl_slot s) {
  return tl_is_kind(s, TL_KIND_RECORD);
}
static inline bool tl_is_range(tl_slot s) {
  return tl_is_kind(s, TL_KIND_RANGE);
}
static inline bool tl_is_type(tl_slot s) {
  return tl_is_kind(s, TL_KIND_TYPE);
}
static inline bool tl_is_nested(tl_slot s) {
  return tl_is_kind(s, TL_KIND_NESTED);
}
// Whether a call may take it: a function, a type, or a value of the host's,
// which the call itself asks.
static inline bool tl_is_callable(tl_slot s) {
  return tl_is_function(s) || tl_is_type(s) || tl_is_kind(s, TL_KIND_HANDLE);
}

// Copies in two halves: one vector move of a slot that was just written in two
// parts would miss the processor's store forwarding.
static inline void tl_copy_slot(tl_slot *to, const tl_slot *from) {
  uint64_t tag = from->tag, payload = from->u;
  to->tag = tag;
  to->u = payload;
}

// --- Making scalar slots (none of these can fail) ---------------------------

// Typed numbers have a dtype of their own; weak ones, literals and sizes, take
// it from what they meet.
static inline tl_slot tl_none(void) {
  return (tl_slot){.tag = TL_TAG_NONE, .u = 0};
}
// What a slot holds before its variable is assigned, and the place that an item
// was moved out of.
static inline tl_slot tl_unset(void) {
  return (tl_slot){.tag = TL_TAG_UNSET, .u = 0};
}
static inline tl_slot tl_bool(bool b) {
  return (tl_slot){.tag = TL_TAG_BOOL, .i = b};
}
static inline tl_slot tl_int(int64_t i) {  // typed int64
  return (tl_slot){.tag = TL_TAG_I64, .i = i};
}
static inline tl_slot tl_weak_int(int64_t i) {  // literals, shapes, sizes, len
  return (tl_slot){.tag = TL_TAG_I64 | TL_WEAK, .i = i};
}
static inline tl_slot tl_float(double f) {  // typed float64
  return (tl_slot){.tag = TL_TAG_F64, .f = f};
}
static inline tl_slot tl_weak_float(double f) {
  return (tl_slot){.tag = TL_TAG_F64 | TL_WEAK, .f = f};
}
// The class of an unboxed scalar of [dtype]; not for complex128 and string.
static inline int tl_scalar_class(tl_dtype dtype) {
  return dtype == TL_INT64     ? TL_CLASS_I64
         : dtype == TL_FLOAT64 ? TL_CLASS_F64
         : dtype == TL_BOOL    ? TL_CLASS_BOOL
                               : TL_CLASS_SMALL;
}
// Returns the typed scalar stored at [item], of a dtype below TL_COMPLEX128.
tl_slot tl_scalar_load(tl_dtype dtype, const void *item);
// Stores an unboxed scalar's own bytes at [item], tl_itemsize of its dtype.
void tl_scalar_store(tl_slot s, void *item);

// A slot that refers to [object] without owning it: a borrow.
static inline tl_slot tl_borrow(tl_slot s) {
  s.tag &= ~TL_OWNED;
  return s;
}
// A slot for a new object (count 1), owning it.
static inline tl_slot tl_own_string(tl_string *string) {
  return (tl_slot){.tag = TL_TAG_STRING | TL_OWNED, .string = string};
}
static inline tl_slot tl_own_list(tl_list *list) {
  return (tl_slot){.tag = TL_TAG_LIST | TL_OWNED, .list = list};
}
static inline tl_slot tl_own_record(tl_record *record) {
  return (tl_slot){.tag = TL_TAG_RECORD | TL_OWNED, .record = record};
}
static inline tl_slot tl_own_range(tl_range *range) {
  return (tl_slot){.tag = TL_TAG_RANGE | TL_OWNED, .range = range};
}

// --- Counting ---------------------------------------------------------------

// Gives up what [s] owns, if anything: the last owner frees the object and its
// items in order, without recursion. The slot's bits are not changed.
void tl_drop(tl_vm *vm, tl_slot s);
// Nests and arrays of strings that may be set aside at once. While an
// interrupt, a deadline or the error that says so is pending, a large one is
// freed only in part, so that control comes back soon; the rest goes when the
// host calls the next time.
enum { TL_UNFREED = 16 };
// Sets an object aside whose freeing has begun, if somebody waits for control.
// An array's items are gone from [size] on. False: go on.
bool tl_free_later(tl_vm *vm, tl_object *object);
// Frees what was set aside: [all], or until somebody waits again.
void tl_free_rest(tl_vm *vm, bool all);

// Drops and leaves the slot none, for slots that live on.
static inline void tl_clear(tl_vm *vm, tl_slot *s) {
  if (tl_is_owned(*s))
    tl_drop(vm, *s);
  *s = tl_none();
}

// Drops what the slot has and gives it another value, which it takes. Always
// true, so that it can end a function.
static inline bool tl_replace(tl_vm *vm, tl_slot *s, tl_slot made) {
  tl_clear(vm, s);
  *s = made;
  return true;
}

// Drops a value of which something was made; gives [made], whether that is so.
static inline bool tl_drop_after(tl_vm *vm, bool made, const tl_slot *s) {
  tl_drop(vm, *s);
  return made;
}

// Makes a value that was read independent of what it was read from: owned, and
// with a count of what it shows. Always true, so that it can end a condition.
bool tl_keep_made(tl_vm *vm, tl_slot *s);

// Adds a count to what [s] refers to and returns an owning slot; immortals and
// scalars come back as they are. One write of a count in memory (rc_inc).
tl_slot tl_retain(tl_vm *vm, tl_slot s);

// Why a reference became counted; one counter each in `tally --stats`.
typedef enum tl_cause {
  TL_CAUSE_ITEM,
  TL_CAUSE_FIELD,
  TL_CAUSE_CAPTURE,
  TL_CAUSE_GLOBAL,
  TL_CAUSE_HOST,
  TL_CAUSE_VIEW,
  TL_CAUSE_CALL,
  TL_CAUSE_KEEP,
  TL_CAUSE_UNWIND,
  TL_CAUSE_COUNT
} tl_cause;
// Moves [s] out if it owns, else retains: either way the result is a slot that
// may be stored in the heap, with views counting their block and containers
// their items. [s] no longer owns. [cause] is why the promotion happened, for
// the counters. A view of little of a large block may be copied out where there
// is memory for that; it never fails.
tl_slot tl_escape(tl_vm *vm, tl_slot *s, tl_cause cause);

// For the last owner of a view: if the view shows little of a large block that
// nothing else refers to, it is copied out where there is memory for that, so
// that the block can go.
void tl_let_go(tl_vm *vm, tl_slot *s);

// Takes the value out of an argument: owned if it was, else retained.
static inline tl_slot tl_take(tl_vm *vm, tl_slot *s) {
  return tl_escape(vm, s, TL_CAUSE_CALL);
}

// Takes the value out of an argument: owned if it was, else still borrowed. For
// the results of functions with TL_RETURNS (builtin.h).
static inline tl_slot tl_pass_on(tl_slot *s) {
  tl_slot out = *s;
  s->tag &= ~TL_OWNED;
  return out;
}

// The same to *out. Always true, so that it can end a function.
static inline bool tl_pass_to(tl_slot *s, tl_slot *out) {
  tl_copy_slot(out, s);
  s->tag &= ~TL_OWNED;
  return true;
}

// A function that restores (builtin.h) fails: what it took from its argument is
// the argument's again, as it was. If that had become a copy, the copy is
// dropped. Takes [taken].
static inline void tl_put_back(tl_vm *vm, tl_slot *s, tl_slot taken) {
  if (tl_is_heap(*s) && s->object == taken.object)
    *s = taken;
  else
    tl_drop(vm, taken);
}

// The end of such a function: what it took is its result, or where [ok] is
// false the argument's again. Returns [ok].
static inline bool tl_give_or_put_back(tl_vm *vm, bool ok, tl_slot taken,
                                       tl_slot *s, tl_slot *out) {
  if (ok)
    *out = taken;
  else
    tl_put_back(vm, s, taken);
  return ok;
}

// Stores *item in a new [container] without a count if the slot only borrows
// it; the container is marked to know that (TL_BORROWED). What *item owns
// moves. Returns the slot to be put into the container.
tl_slot tl_borrow_item(tl_vm *vm, tl_object *container, tl_slot *item,
                       tl_cause cause);

// Called for each item that a container borrows; *item may be changed in place.
// Returns whether to go on with what that item itself borrows.
typedef bool tl_visit_borrowed(tl_vm *vm, tl_slot *item, tl_cause cause,
                               void *context);
// Visits the items of [container] that it may borrow, and then, unless the
// visitor returns false, what those may borrow.
void tl_each_borrowed(tl_vm *vm, tl_object *container, tl_visit_borrowed *visit,
                      void *context);

// Whether the container has few items, together with the borrowing containers
// in it: then it may go on borrowing where it is stored or an owner of its
// items ends. All others get counts then, so that nobody looks at many items
// again and again.
bool tl_lends_few(tl_object *container);

// The item of [container] that alone owns [object], or of a container that it
// alone owns: the object ends with the container, if that has one owner and
// ends. NULL: there is none among the first items.
// Returns borrowed: the item may be emptied.
tl_slot *tl_sole_item(tl_slot container, const tl_object *object);

// Some items got counts: where none is borrowed any longer the container's mark
// is taken off.
void tl_note_kept(tl_object *container);

// Gives the container a count of each item that it borrows, also within those
// that borrow, and marks it so that it will not borrow again.
void tl_keep_items(tl_vm *vm, tl_object *container);
// Makes a value that is about to be stored count what it borrows: a view its
// block, if it does not yet, a container its items.
void tl_hold(tl_vm *vm, tl_slot s, tl_cause cause);

// The bytes between the start of a list's or a record's block and itself.
static inline size_t tl_gap_of(const tl_object *container) {
  return (container->flags & TL_GAP) != 0
             ? ((const size_t *)(const void *)container)[-1]
             : 0;
}

// Whether [s] refers to an object whose count is kept: not a scalar, and
// nothing immortal.
bool tl_is_counted(tl_slot s);

// Whether the slot is the object's only owner. The bit is tested first: a
// borrowed slot may not even look at the count. Items that a container owns may
// be moved out of it then; those that it borrows are not owned.
static inline bool tl_is_alone(tl_slot s) {
  return tl_is_owned(s) && s.object->count == 1;
}

// Whether, besides, whoever consumes the slot may change the object in place: a
// container of borrowed items has to take counts of them before it changes
// (tl_may_change).
static inline bool tl_is_unique(tl_slot s) {
  return tl_is_alone(s) && (s.object->flags & TL_BORROWED) == 0;
}

// As tl_is_unique, after giving the container counts of items that it borrows.
static inline bool tl_may_change(tl_vm *vm, tl_slot s) {
  if (tl_is_owned(s) && (s.object->flags & TL_BORROWED) != 0)
    tl_keep_items(vm, s.object);
  return tl_is_unique(s);
}

// "list", "function" … for what is no array and no scalar.
const char *tl_kind_name(int kind);

// One bool for all kinds, the language's same(a, b): dtypes are compared too,
// and NaN is the same as NaN. Works on values nested to any depth.
bool tl_same(tl_vm *vm, tl_slot a, tl_slot b);
// The same by value, as == on lists and records and `in` on lists: numbers are
// compared across dtypes, NaN equals nothing, a range equals an array.
bool tl_equal(tl_vm *vm, tl_slot a, tl_slot b);
