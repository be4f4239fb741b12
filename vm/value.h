// Slots, object headers and the three counts.
//
// A slot is a tag word and 8 bytes of payload. Scalars up to 8 bytes live in
// the slot; everything else is a pointer to an object. The OWNED bit says that
// this slot holds one of the object's counts (docs/how-values-live.md):
//
//   virtual    the compiler knows who owns; the bit is written truthfully
//   embedded   the bit decides at run time
//   immediate  a slot in the heap (list item, record field, capture, module
//              variable, host handle) with its bit set; its object is counted
//
// A heap slot without the bit refers to something immortal, or is lent to a
// container that only slots refer to (TL_LENT).
#ifndef TALLY_VM_VALUE_H
#define TALLY_VM_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vm/types/dtype.h"

typedef struct tally_vm tl_vm;  // vm.h

// What an object is. For slots of class OBJ, and for none and unset (class
// SMALL), the kind also stands in the tag's dtype byte; so kinds start above
// the dtypes.
typedef enum tl_kind {
  TL_KIND_NONE = 0x20,  // no object: the value none
  TL_KIND_UNSET,        // no object: a variable before its first assignment
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
  TL_KIND_NATIVE,    // a library function with captured values (compose)
  TL_KIND_NESTED,    // an array of structs, ragged or with missing values
  TL_KIND_COUNT
} tl_kind;

enum {               // tl_object.flags
  TL_IMMORTAL = 1,   // the count is never read or written
  TL_VIEW = 2,       // array: the data belong to another array
  TL_HOLD = 4,       // array: this view counts its block
  TL_READONLY = 8,   // array: never written in place
  TL_EXTERNAL = 16,  // array: the data are a host's or mapped
  TL_BYTEWISE = 32,  // string: ASCII without CR, so a byte is a cluster
  TL_OPERAND = 32,   // array: a call that promises was given it (promise.h)
  TL_LENT = 64,      // list, record, closure: items may be borrowed (lend.c)
  TL_KEEPING = 128,  // the same: items that are added are not borrowed again
};

// Every heap object begins with this.
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

typedef struct tl_slot {
  uint64_t tag;
  union {
    int64_t i;   // int64; bool and the narrow integers, sign-extended
    uint64_t u;  // uint64, uint8 … zero-extended
    double f;
    float f32;
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
  TL_CLASS_HEAP = 0xf0,  // the payload is a pointer
  TL_CLASS_SCALAR = 0x0f,
};
#define TL_OWNED (UINT64_C(1) << 16)
#define TL_WEAK (UINT64_C(1) << 17)
#define TL_DENSE (UINT64_C(1) << 27)  // C-contiguous
// Owns its data and may be written; they have no gaps, but without TL_DENSE
// their axes lie in another order (vm/array/layout.c).
#define TL_DIRECT (UINT64_C(1) << 28)

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
#define TL_TAG_NATIVE TL_TAG(TL_CLASS_FUNC, TL_KIND_NATIVE)
#define TL_TAG_NESTED TL_TAG(TL_CLASS_OBJ, TL_KIND_NESTED)

static inline int tl_class(tl_slot s) {
  return (int)(s.tag & 0xff);
}
// The dtype of a scalar or an array; the kind of anything else.
static inline int tl_dtype_of(tl_slot s) {
  return (int)(s.tag >> 8 & 0xff);
}
static inline bool tl_is_heap(tl_slot s) {
  return (s.tag & TL_CLASS_HEAP) != 0;
}
static inline bool tl_is_owned(tl_slot s) {
  return (s.tag & TL_OWNED) != 0;
}
static inline bool tl_is_weak(tl_slot s) {
  return (s.tag & TL_WEAK) != 0;
}
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
static inline bool tl_is_kind(tl_slot s, tl_kind kind) {
  return tl_dtype_of(s) == (int)kind;
}
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

// Copies in two halves: one vector move of a slot that was just written in two
// parts misses the processor's store forwarding.
static inline void tl_copy_slot(tl_slot *to, const tl_slot *from) {
  uint64_t tag = from->tag, payload = from->u;
  to->tag = tag;
  to->u = payload;
}

// --- Making scalar slots (none of these can fail) ---------------------------
static inline tl_slot tl_none(void) {
  return (tl_slot){.tag = TL_TAG_NONE, .u = 0};
}
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
// The typed scalar stored at [item], of a dtype below TL_COMPLEX128.
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

// Gives up what [s] owns, if anything: the last owner frees the object, its
// items in order and without recursion. The slot's bits are not changed.
void tl_drop(tl_vm *vm, tl_slot s);

// Drops and leaves the slot none, for slots that live on.
static inline void tl_clear(tl_vm *vm, tl_slot *s) {
  if (tl_is_owned(*s))
    tl_drop(vm, *s);
  *s = tl_none();
}

// Adds a count to what [s] refers to and returns an owning slot; immortals and
// scalars come back as they are. One heap count written (counted as rc_inc).
tl_slot tl_retain(tl_vm *vm, tl_slot s);

// Moves [s] out if it owns, else retains: either way the result is a slot that
// may be stored in the heap, once views hold their block (cause: why the
// promotion happened, for the counters). [s] no longer owns. A view of little
// of a large block may be copied out, which can fail: false, with s intact.
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
tl_slot tl_escape(tl_vm *vm, tl_slot *s, tl_cause cause);

// What has the owning slot alone: a view of little of a large block that nothing
// else keeps any longer is copied out, where there is memory for that.
void tl_let_go(tl_vm *vm, tl_slot *s);

// Takes the value out of an argument: owned if it was, else retained.
static inline tl_slot tl_take(tl_vm *vm, tl_slot *s) {
  return tl_escape(vm, s, TL_CAUSE_CALL);
}

// Takes the value out of an argument: owned if it was, else borrowed still. For
// results of TL_RETURNS (builtin.h).
static inline tl_slot tl_pass_on(tl_slot *s) {
  tl_slot out = *s;
  s->tag &= ~TL_OWNED;
  return out;
}

// A function of TL_KEEPS fails: what it took from its argument is the
// argument's again, as it was; a copy of that is dropped. Takes [taken].
static inline void tl_put_back(tl_vm *vm, tl_slot *s, tl_slot taken) {
  if (tl_is_heap(*s) && s->object == taken.object)
    *s = taken;
  else
    tl_drop(vm, taken);
}

// Stores in a new [container] what *item owns; what it only borrows stays
// lent, and the container remembers that (TL_LENT). Returns the heap slot.
tl_slot tl_lend(tl_vm *vm, tl_object *container, tl_slot *item, tl_cause cause);

// Visits the items of [container] that it may borrow, and then what those may
// borrow unless the visitor returns false.
typedef bool tl_visit_lent(tl_vm *vm, tl_slot *item, tl_cause cause,
                           void *context);
void tl_each_lent(tl_vm *vm, tl_object *container, tl_visit_lent *visit,
                  void *context);

// Whether the container has few items, also within those that borrow, too: then
// it may go on borrowing where it is stored, and where a lender ends. All
// others keep what they borrow then, so that nobody looks at many items again
// and again.
bool tl_lends_few(tl_object *container);

// Some items are borrowed no longer: where none is, the container forgets that.
void tl_note_kept(tl_object *container);

// Gives the container a count of each item that it borrows.
void tl_keep_items(tl_vm *vm, tl_object *container);

// Whether [s] refers to an object that keeps a count.
bool tl_is_counted(tl_slot s);

// Whether the slot is the object's only owner, so that it may be changed in
// place by whoever consumes the slot. The bit is tested first: a borrowed
// slot may never look at the count. A container of
// borrowed items keeps them before it changes.
static inline bool tl_is_unique(tl_slot s) {
  return tl_is_owned(s) && s.object->count == 1 &&
         (s.object->flags & TL_LENT) == 0;
}

// The same once its items are its own.
static inline bool tl_may_change(tl_vm *vm, tl_slot s) {
  if (tl_is_owned(s) && (s.object->flags & TL_LENT) != 0)
    tl_keep_items(vm, s.object);
  return tl_is_unique(s);
}

// "list", "function" … for what is no array and no scalar.
const char *tl_kind_name(int kind);

// The value's type as text, for messages: "3 * 4 * float32", "int64",
// "string", "list", "record", "function", "none". Written into buffer.
const char *tl_describe(tl_slot s, char *buffer, size_t size);
enum { TL_DESCRIBE = 160 };  // a buffer size that always suffices

// one bool for all kinds (the language's same(a, b)); deep, without recursion
// limits becoming crashes. Dtypes are compared too; NaN is the same as NaN.
bool tl_same(tl_vm *vm, tl_slot a, tl_slot b);
// The same by value, as == on lists and records and `in` on lists: numbers are
// compared across dtypes, NaN equals nothing, a range equals an array.
bool tl_equal(tl_vm *vm, tl_slot a, tl_slot b);

#endif
