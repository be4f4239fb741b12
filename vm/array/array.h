// Arrays: a header with shape and strides over a block of items. Views are
// arrays over another array's block, closed under slicing, transposition and
// broadcasting: whatever strides a view has, another view of it is again a
// header over the same block.
//
// One allocation holds an array that owns its items. A view is a header alone,
// which refers to the owner of the block and, while TL_HOLD is set, counts it.
// An external array has a header over memory of the host or of a mapped file.
//
//   x = [[1, 2, 3], [4, 5, 6]]                y = x[:, 1]
//
//   slot x: tag (class, dtype, rank, DENSE, DIRECT) | pointer
//                                                       |
//   head | data | size 6 | shape 2 3 | strides 24 8 | pad | 1 2 3 4 5 6
//     ^      |                                              ^   ^
//     |      +----------------------------------------------+   |
//     +-- owner ---+                                            |
//   head VIEW | data | size 2 | shape 2 | strides 24 | owner    |
//                 +---------------------------------------------+
//
// The tag of a slot mirrors the header, so that the interpreter knows dtype,
// rank and layout without reading it: TL_DENSE says that the items lie in rows
// without gaps, TL_DIRECT that the array owns a writable block. Whoever
// changes a header makes the tag again with tl_own_array or tl_array_tag.
//
// The order of calls for a function that makes an array: tl_broadcast or a
// shape of its own, tl_array_over or tl_array_new, a tl_walk (or the engine)
// that fills it, tl_result for what the script sees. Files: array.c and
// resize.c make and change headers, view.c has views and who counts their
// block, copy.c, cast.c and transpose.c move items, layout.c chooses the axis
// order of results, shape.c and walk.c are the arithmetic of strides,
// element.h is the interpreter's inlined access to single items, string_item.h
// the items of string arrays, and describe.h names values in messages.
#pragma once

#include <string.h>

#include "vm/array/describe.h"
#include "vm/memory/memory.h"

// The most axes that an array can have; shapes on the stack have this size.
enum { TL_MAX_DIMS = 32 };

// The header of an array. head.dtype and head.ndim say the rest of the type.
// The fields up to dims[4) fill 64 bytes; the data of an array that owns its
// block follow on the next line of the same allocation, so they are aligned to
// 64 bytes whatever their size.
struct tl_array {
  tl_object head;
  char *data;      // the item at index 0, 0, …
  int64_t size;    // items
  int64_t dims[];  // shape[ndim], strides[ndim] in bytes, then for TL_VIEW and
                   // TL_EXTERNAL a tl_array_extra
};

// What lies behind dims of a view, which has the owner alone, and of an array
// over a host's block, which has the rest.
typedef struct tl_array_extra {
  tl_array *owner;  // of a view: the array whose data these are, never a view;
                    // counted if TL_HOLD is set
  void (*release)(void *context, void *data);  // of an external block
  void *context;
  size_t nbytes;
} tl_array_extra;

// The parts of the header, by name. tl_shape() and tl_strides() return
// borrowed pointers into it, each to tl_ndim() numbers; strides are in bytes
// and may be 0 or negative.
static inline int tl_ndim(const tl_array *a) {
  return a->head.ndim;
}
static inline tl_dtype tl_array_dtype(const tl_array *a) {
  return (tl_dtype)a->head.dtype;
}
static inline int64_t *tl_shape(const tl_array *a) {
  return (int64_t *)a->dims;
}
static inline int64_t *tl_strides(const tl_array *a) {
  return (int64_t *)a->dims + a->head.ndim;
}
// Whether the array has as many axes, of these lengths.
bool tl_has_shape(const tl_array *a, int ndim, const int64_t *shape);
// The items of a shape that is known to be sound.
static inline int64_t tl_shape_count(int ndim, const int64_t *shape) {
  int64_t count = 1;
  for (int i = 0; i < ndim; i++) count *= shape[i];
  return count;
}
// Sets the lengths, the strides and the size, for which there is room.
static inline void tl_set_dims(tl_array *a, int ndim, const int64_t *shape,
                               const int64_t *strides) {
  a->size = tl_shape_count(ndim, shape);
  for (int i = 0; i < ndim; i++) {
    a->dims[i] = shape[i];
    a->dims[ndim + i] = strides[i];
  }
}
// Whether the items belong to another array's block.
static inline bool tl_is_view(const tl_array *a) {
  return (a->head.flags & TL_VIEW) != 0;
}
// The functions of this folder that the layers below call, through a table
// because they may not include this header (vm/objects.h).
extern const struct tl_array_ops tl_array_ops;

// The extra fields behind dims. Only of arrays with TL_VIEW, where owner is
// the only one that exists, or with TL_EXTERNAL.
static inline tl_array_extra *tl_array_more(const tl_array *a) {
  return (tl_array_extra *)((int64_t *)a->dims + 2 * a->head.ndim);
}
// The array that owns a view's data; of an owning array, itself. Returns
// borrowed. A view refers to the owner itself, so this is never a chain.
static inline tl_array *tl_array_owner(const tl_array *a) {
  return tl_is_view(a) ? tl_array_more(a)->owner : (tl_array *)a;
}

// --- Making -----------------------------------------------------------------

// A new C-contiguous array of count 1, items uninitialised (strings: empty).
// Fails where the size overflows (kind shape) or memory is short. shape may be
// NULL where ndim is 0.
tl_array *tl_array_new(tl_vm *vm, tl_dtype dtype, int ndim,
                       const int64_t *shape);
// The same with zeros as items. Large ones get fresh pages of the system,
// which are zeros without a pass over them.
tl_array *tl_array_zeros(tl_vm *vm, tl_dtype dtype, int ndim,
                         const int64_t *shape);

// Gives [made], whose items are all alike or not set yet, the axis order in
// memory of the n arrays that have its shape, where these agree; else leaves
// it in rows. For results that scripts see; code that goes on through the
// items one after the other wants rows. [made] may be NULL; returns it.
tl_array *tl_array_ordered(const tl_vm *vm, tl_array *made, int n,
                           const tl_array *const *arrays);
// Whether tl_array_ordered would order an array of that shape otherwise than
// in rows.
bool tl_has_other_order(const tl_vm *vm, int ndim, const int64_t *shape, int n,
                        const tl_array *const *arrays);

// An array over a host's or a mapped block of [nbytes] bytes at [data], which
// are accounted as external memory.
//
//   strides    in bytes; NULL: row-major
//   read_only  no instruction writes the items; else no two items may share
//              memory
//   release    runs once, at the array's end; may be NULL
//
// On failure release is not called: the caller still owns the block.
tl_array *tl_array_external(tl_vm *vm, tl_dtype dtype, int ndim,
                            const int64_t *shape, const int64_t *strides,
                            void *data, size_t nbytes, bool read_only,
                            void (*release)(void *context, void *data),
                            void *context);
// Whose memory such an array shows: "the host", or "a mapped file" with what
// may be done to it.
const char *tl_external_owner(const tl_array *a);

// Frees an array whose last count is gone: its hold on a block, its strings,
// an external block, its memory. tl_drop and nothing else calls it.
void tl_array_free(tl_vm *vm, tl_array *a);

// A slot that owns [a]; its tag mirrors dtype, rank and layout. Takes the
// caller's count. Does not turn rank 0 into a scalar: see tl_result.
tl_slot tl_own_array(tl_array *a);
// The tag of a slot that refers to [a] without owning it. It has to be
// computed again whenever shape, strides or flags of [a] change.
uint64_t tl_array_tag(const tl_array *a);

// A slot that borrows it.
static inline tl_slot tl_lend_array(const tl_array *a) {
  return (tl_slot){.tag = tl_array_tag(a), .array = (tl_array *)(uintptr_t)a};
}

// The same of any object, for messages.
tl_slot tl_lend_object(const tl_object *object);

// Takes a new array; returns the slot a script sees: a rank-0 array becomes a
// typed scalar (complex128 stays a rank-0 array; a string item a string).
tl_slot tl_result(tl_vm *vm, tl_array *a);
// Drops an array that the caller owns, or NULL where it could not be made.
static inline void tl_array_drop(tl_vm *vm, tl_array *a) {
  if (a != NULL)
    tl_drop(vm, tl_own_array(a));
}
// Takes a new array, or NULL where it could not be made: then false; else *out
// owns it.
static inline bool tl_array_give(tl_array *a, tl_slot *out) {
  if (a != NULL)
    *out = tl_own_array(a);
  return a != NULL;
}
// The same where [ok]; else the array is dropped, and false.
bool tl_array_finish(tl_vm *vm, bool ok, tl_array *a, tl_slot *out);
// The same, where *out is what a script sees of it (tl_result).
bool tl_result_finish(tl_vm *vm, bool ok, tl_array *a, tl_slot *out);
// Takes [a], converts it to [dtype] and writes what a script sees of it into
// *out, owned. False after a conversion failed.
bool tl_cast_own(tl_vm *vm, tl_array *a, tl_dtype dtype, tl_slot *out);
// The same where [ok]; else [a], which may be NULL, is dropped, and false.
bool tl_cast_finish(tl_vm *vm, bool ok, tl_array *a, tl_dtype dtype,
                    tl_slot *out);

// A view with the given geometry over the block of base->array, dtype and data
// pointer as given; the caller has checked that all of it lies in the block.
//
//   base owns      the view takes over its hold on the block; base no longer
//                  owns
//   base borrows   the view borrows the block (no TL_HOLD): good only while the
//                  base lives, until tl_hold makes it independent
//
// Where base owns an array that nobody else has and the geometry is all of it,
// its axes in any order, the result is that array. NULL where memory is short;
// base is as it was then.
tl_array *tl_view_new(tl_vm *vm, tl_slot *base, tl_dtype dtype, char *data,
                      int ndim, const int64_t *shape, const int64_t *strides);

// The same of the dtype that the array in [base] has, in *out, owned.
bool tl_view(tl_vm *vm, tl_slot *base, char *data, int ndim,
             const int64_t *shape, const int64_t *strides, tl_slot *out);

// Makes *out the value of [s] with C-contiguous items. Where s is dense, *out
// takes over what s had, owned or borrowed, and s no longer owns; else *out
// owns a copy and s stays as it was.
bool tl_array_contiguous(tl_vm *vm, tl_slot *s, tl_slot *out);
// A new array with the same items, C-contiguous, never a view. Counted as a
// copy in the statistics. NULL where memory is short or the VM was stopped.
tl_array *tl_array_copy(tl_vm *vm, const tl_array *a);
// The same with the items converted; checks that values fit as the language's
// conversions do (NaN or out of range into integers is kind value). Complex
// into real fails (kind type).
tl_array *tl_array_cast(tl_vm *vm, const tl_array *a, tl_dtype dtype);
// Fails (kind value) with the item of dtype [from] that is out of the range of
// [to].
bool tl_fail_item(tl_vm *vm, tl_dtype from, const char *item, tl_dtype to);
// The same, but the axes of the result lie in memory as those of [a] do.
tl_array *tl_array_cast_kept(tl_vm *vm, const tl_array *a, tl_dtype dtype);
// Where the slot has alone a square matrix that lies in columns, moves the
// items into rows within its block. Else does nothing.
void tl_array_untranspose(tl_vm *vm, tl_slot *s);
// Where the slot alone has a view of a block that nobody else has, in reversed
// order or of a part in a row, moves the items into that order to the front:
// the slot has the block itself then, which may be written in place. Else does
// nothing. False after tl_fail: the VM was stopped before.
bool tl_array_settle(tl_vm *vm, tl_slot *s);
// The bytes of an array's items.
static inline size_t tl_item_bytes(const tl_array *a) {
  return (size_t)a->size * tl_itemsize(tl_array_dtype(a));
}
// Exchanges n bytes, which do not overlap.
static inline void tl_exchange_bytes(char *a, char *b, size_t n) {
  uint64_t word;
  size_t at = 0;
  for (; at + sizeof word <= n; at += sizeof word) {
    memcpy(&word, a + at, sizeof word);
    memcpy(a + at, b + at, sizeof word);
    memcpy(b + at, &word, sizeof word);
  }
  for (; at < n; at++) {
    char byte = a[at];
    a[at] = b[at];
    b[at] = byte;
  }
}
// The same of many, with the polls of tl_poll_over. False after tl_fail.
bool tl_exchange_pieces(tl_vm *vm, char *a, char *b, size_t nbytes);
// Whether the owned slot is an array that may be overwritten as a whole in its
// own memory: unique, DIRECT, dense.
bool tl_array_is_reusable(tl_slot s);

// Copies the items of [from] over those of [to], whatever memory they share.
// The dtypes are equal and from broadcasts to to's shape; the caller has
// checked both. Strings are counted. Does not poll, so a script never sees
// half an assignment; it fails only before the first write.
bool tl_array_assign(tl_vm *vm, tl_array *to, const tl_array *from);
// The same into a part of a new array that shares no memory with [from]. It
// polls, so it may fail with the items half written.
bool tl_array_fill(tl_vm *vm, tl_array *to, const tl_array *from);
// The first items of [from], [shape] of them along each axis, over those of
// [to] from the one at [at] on. Neither polls nor fails. The two share no
// memory, have as many axes, and items that are as large and no strings.
void tl_array_put(tl_array *to, const int64_t *at, const int64_t *shape,
                  const tl_array *from);
// Copies [from], converted and broadcast, into the part of the new array [to]
// at [data] with this geometry (strides in bytes). It polls, so [to] may be
// half written when it fails. [from] must broadcast to [shape]; the caller
// checks that the part lies within the block of [to].
bool tl_assign_part(tl_vm *vm, tl_array *to, char *data, int ndim,
                    const int64_t *shape, const int64_t *strides,
                    const tl_array *from);

// Whether the two may share an item's memory. Judged by their extents and by
// one common period, so true may be wrong, but false is not.
//
//   x[:, 0], x[:, 1]     false
//   x[0:3], x[2:5]       true
bool tl_arrays_overlap(const tl_array *a, const tl_array *b);
// Whether the two have one shape and are walked by the same steps: items i lie
// equally far from each other, whichever i is.
bool tl_arrays_walk_alike(const tl_array *a, const tl_array *b);

// --- In a dying array's memory: reuse.c, resize.c ---------------------------

// An array for a result of the dense array [x]'s shape, where each item is
// read before the result's is written: x itself where it is dying and its
// items are as large (x then no longer owns, and has the result's dtype), else
// a new one.
tl_array *tl_array_over(tl_vm *vm, tl_slot *x, tl_dtype dtype);

// The bytes before the items of a new array of such a rank and size.
size_t tl_array_header(int ndim, size_t nbytes);
// Whether the slot's array is dying and may become longer or shorter in its
// own memory. Where it may not, the reason is counted.
bool tl_array_resizes(tl_vm *vm, tl_slot s);
// Makes such an array [length] long in its first axis, with room for [more]
// rows behind; the new items are uninitialised (strings: empty). s still owns
// it, maybe at another address. False leaves it as it was.
bool tl_array_widen(tl_vm *vm, tl_slot *s, int64_t length, int64_t more);
// Makes such an array [length] long in its first axis, which is at most its
// length, and gives the memory behind back. The caller has emptied the strings
// that are cut off.
void tl_array_cut(tl_vm *vm, tl_slot *s, int64_t length);
// Takes such an array, whose first items are the result: it gets this dtype
// and this shape, of at most as many axes and bytes, and gives back the memory
// behind. Empties the slot. Returns owned. Not for strings.
tl_array *tl_array_narrow(tl_vm *vm, tl_slot *s, tl_dtype dtype, int ndim,
                          const int64_t *shape);

// --- Shapes -----------------------------------------------------------------

// Whether the items lie in row-major order without gaps. Axes of length 1 do
// not matter, and an array of at most one item is always contiguous.
bool tl_lies_in_rows(const tl_array *a);
static inline bool tl_is_contiguous(const tl_array *a) {
  return (a->head.ndim == 1 &&
          a->dims[1] == (int64_t)tl_itemsize(tl_array_dtype(a))) ||
         tl_lies_in_rows(a);
}
// Sets *size to the items of a shape and *nbytes to items * itemsize. False
// (kind shape) where a dimension is negative, there are more than TL_MAX_DIMS,
// or the bytes overflow.
bool tl_shape_size(tl_vm *vm, int ndim, const int64_t *shape, size_t itemsize,
                   int64_t *size, size_t *nbytes);
// Writes the row-major strides in bytes. A dimension of 0 counts as 1, so that
// the strides of an empty array are those of a full one.
//
//   2 * 3 * 4 of 8 bytes     96 32 8
void tl_shape_strides(int ndim, const int64_t *shape, size_t itemsize,
                      int64_t *strides);

// The error of more axes than there can be: "an array has at most", which goes
// on with their number. Returns false.
bool tl_fail_dims(tl_vm *vm, const char *what);

// The error of an index that is out of range; returns false.
bool tl_fail_range(tl_vm *vm, int64_t index, int axis, int64_t length);

// Broadcasts n shapes, aligned at the right; NULL is that of one item.
//
//   2 * 3  with  3      2 * 3
//   2 * 1  with  4      2 * 4
//   3 * 4  with  5      false, kind shape: "3 * 4 * int8 and 5 * int8 do not
//                       broadcast: axis 1 is 4 against 5"
bool tl_broadcast(tl_vm *vm, int n, const tl_array *const *arrays, int *ndim,
                  int64_t *shape);
// Writes the strides with which [a] is walked as [shape], to which it
// broadcasts: 0 along repeated axes. NULL is one item.
//
//   3 of 8 bytes, as 2 * 3         0 8
//   2 * 1 of 8 bytes, as 2 * 3     8 0
void tl_broadcast_strides(const tl_array *a, int ndim, const int64_t *shape,
                          int64_t *strides);
// The distance in memory of items of such a stride.
static inline int64_t tl_distance(int64_t stride) {
  return stride < 0 ? -stride : stride;
}
// Sorts the [count] axes in [axes] by the distance of their items, the
// farthest first; equal ones stay in their order. Whether any moved.
//
//   strides 8 32, axes 0 1     axes 1 0, true
bool tl_axes_by_stride(int count, const int64_t *strides, int *axes);

// Checks an axis argument, of which a negative one counts from the end. False
// (kind index) after a message that names the function, the axis and the
// number of axes.
bool tl_axis(tl_vm *vm, const char *function, int64_t axis, int ndim, int *out);

// Walks the items of up to 4 arrays of one shape in row-major order, giving
// runs along the innermost axis. Dimensions of length 1 are dropped, and
// neighbours are merged where every operand allows, so a run is as long as it
// can be:
//
//   for (tl_walk_begin(&walk, …); !walk.done; tl_walk_next(&walk))
//     walk.length items at walk.data[k], walk.step[k] bytes apart
// ndim counts the dimensions that are walked from run to run, those of
// [shape]; index says where among them the current run is.
typedef struct tl_walk {
  int n, ndim;
  int64_t shape[TL_MAX_DIMS];
  int64_t strides[4][TL_MAX_DIMS];
  int64_t index[TL_MAX_DIMS];
  char *data[4];    // of the current run
  int64_t length;   // items of a run, or of a piece of one
  int64_t step[4];  // bytes between a run's items
  int64_t begun;    // items of the run before this piece
  int64_t whole;    // items of the run
  bool done;
} tl_walk;
// Starts at the first run. [strides] has one array of [ndim] strides in bytes
// for each of the [n] operands; nothing is borrowed after the call. A shape
// without items is done at once.
void tl_walk_begin(tl_walk *walk, int n, int ndim, const int64_t *shape,
                   char *const *data, const int64_t *const *strides);
// Goes to the next run, or sets done behind the last one.
void tl_walk_next(tl_walk *walk);
// Behind tl_walk_begin, for loops that poll once in a run: runs come in pieces
// of 16,384 items at most.
void tl_walk_by_pieces(tl_walk *walk);

// --- Values as arrays -------------------------------------------------------

// Whether the value is a number or bool: an unboxed scalar or a rank-0
// complex128, which does not fit a slot.
static inline bool tl_is_number(tl_slot s) {
  return tl_is_scalar(s) || (tl_is_array(s) && s.array->head.ndim == 0 &&
                             s.array->head.dtype == TL_COMPLEX128);
}
// A number as an array of rank 0 of its own, for what indexes and updates it.
// Returns owned; NULL after tl_fail.
tl_array *tl_number_box(tl_vm *vm, tl_slot number);
// Writes a number's item, which takes 16 bytes at most.
static inline void tl_number_store(tl_slot s, void *item) {
  if (tl_is_array(s))
    memcpy(item, s.array->data, tl_itemsize(tl_array_dtype(s.array)));
  else
    tl_scalar_store(s, item);
}
// A complex128 number, as an array of rank 0; [weak] like a literal's. Returns
// owned; unset where memory is short.
tl_slot tl_new_complex(tl_vm *vm, double re, double im,
                       bool weak);  // unset: failed

// An argument as an array: an array itself is borrowed into *out, a scalar
// becomes a rank-0 array, a range an int64 array, a list or string fails (kind
// type) naming [function]. The caller drops what *out owns, if it owns.
bool tl_as_array(tl_vm *vm, const char *function, tl_slot s, tl_slot *out);

// The item at an address within [a], as a value: owned where it is on the
// heap. Unset where memory is short. For code that is not hot.
tl_slot tl_item(tl_vm *vm, const tl_array *a, const char *item);  // owned/typed
// Stores a value at an address within [a], converted by the rule of assignment
// (no higher kind, and it must fit). Releases a string that stood there. False
// after tl_fail leaves the item as it was.
bool tl_item_store(tl_vm *vm, tl_array *a, char *item, tl_slot value);
