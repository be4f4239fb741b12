// Arrays: a header with shape and strides over a block of items. Views are
// arrays over another array's block, closed under slicing, transposition and
// broadcasting.
#ifndef TALLY_VM_ARRAY_H
#define TALLY_VM_ARRAY_H

#include "vm/memory/memory.h"

enum { TL_MAX_DIMS = 32 };

// head.dtype and head.ndim say the rest of the type. The fields up to dims[4)
// fill 64 bytes; the data follow on the next line of the same allocation, so
// they are aligned to 64 bytes whatever their size.
struct tl_array {
  tl_object head;
  char *data;      // the item at index 0, 0, …
  int64_t size;    // items
  int64_t dims[];  // shape[ndim], strides[ndim] in bytes, then for TL_VIEW and
                   // TL_EXTERNAL a tl_array_extra
};

typedef struct tl_array_extra {
  tl_array *owner;  // of a view: the array whose data these are, never a view;
                    // counted if TL_HOLD is set
  void (*release)(void *context, void *data);  // of an external block
  void *context;
  size_t nbytes;
} tl_array_extra;

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
static inline bool tl_is_view(const tl_array *a) {
  return (a->head.flags & TL_VIEW) != 0;
}
// Behind dims, for TL_VIEW (where owner is all there is) and TL_EXTERNAL.
static inline tl_array_extra *tl_array_more(const tl_array *a) {
  return (tl_array_extra *)((int64_t *)a->dims + 2 * a->head.ndim);
}
// The array that owns a view's data; of an owning array, itself.
tl_array *tl_array_owner(const tl_array *a);

// --- Making -----------------------------------------------------------------

// A new C-contiguous array, items uninitialised (strings: empty). Fails where
// the size overflows (kind shape) or memory is short. shape may have ndim 0.
tl_array *tl_array_new(tl_vm *vm, tl_dtype dtype, int ndim,
                       const int64_t *shape);
tl_array *tl_array_zeros(tl_vm *vm, tl_dtype dtype, int ndim,
                         const int64_t *shape);

// A new array, whose items are all alike or not set yet, with its axes in
// memory as those of the n arrays that have its shape, where these agree; else
// as it was. For results that scripts see: who goes on with items one after the
// other wants rows. [made] may be NULL; returns it.
tl_array *tl_array_ordered(const tl_vm *vm, tl_array *made, int n,
                           const tl_array *const *arrays);
// Whether an array of that shape would be ordered otherwise than in rows.
bool tl_has_other_order(const tl_vm *vm, int ndim, const int64_t *shape, int n,
                        const tl_array *const *arrays);

// An array over a host's or mapped block: [strides] in bytes, NULL for
// row-major. Where it is not read-only, no two items may share memory. [nbytes]
// are accounted as external; release (may be NULL) runs once, at the array's
// end; on failure it is not called.
tl_array *tl_array_external(tl_vm *vm, tl_dtype dtype, int ndim,
                            const int64_t *shape, const int64_t *strides,
                            void *data, size_t nbytes, bool read_only,
                            void (*release)(void *context, void *data),
                            void *context);

// Frees an array whose last owner is gone: its hold on a block, its strings,
// an external block, its memory. tl_drop and nothing else calls it.
void tl_array_free(tl_vm *vm, tl_array *a);

// The slot that owns [a], its tag mirroring it. Does not turn rank 0 into a
// scalar: see tl_result.
tl_slot tl_own_array(tl_array *a);
// The tag of a slot that refers to [a] without owning it.
uint64_t tl_array_tag(const tl_array *a);

// Takes a new array; returns the slot a script sees: a rank-0 array becomes a
// typed scalar (complex128 stays a rank-0 array; a string item a string).
tl_slot tl_result(tl_vm *vm, tl_array *a);

// A view with the given geometry over the block of base->array, dtype and data
// pointer as given. If [base] owns, the view takes over its hold on the block
// and base no longer owns; else the view borrows the block (no TL_HOLD): good
// only while the base lives. tl_hold makes it independent. Where base owns an
// array that nobody else has and the geometry is all of it in order, the result
// is that array.
tl_array *tl_view_new(tl_vm *vm, tl_slot *base, tl_dtype dtype, char *data,
                      int ndim, const int64_t *shape, const int64_t *strides);
// Makes a view count its block, if it does not yet. Nothing for other values.
void tl_hold(tl_vm *vm, tl_slot s, tl_cause cause);

// C-contiguous: what [s] has is taken over if it is dense (and owned), else a
// copy is made. *out owns, or borrows if s was borrowed and dense.
bool tl_array_contiguous(tl_vm *vm, tl_slot *s, tl_slot *out);
// A new array with the same items, C-contiguous, never a view.
tl_array *tl_array_copy(tl_vm *vm, const tl_array *a);
// The same converted; checks that values fit as the language's conversions do
// (NaN or out of range into integers is kind value). Complex into real fails.
tl_array *tl_array_cast(tl_vm *vm, const tl_array *a, tl_dtype dtype);
// The same, but the axes of the result lie in memory as those of [a] do.
tl_array *tl_array_cast_kept(tl_vm *vm, const tl_array *a, tl_dtype dtype);
// Where the slot alone has the transpose of a square block, moves the items
// into that order where they are: the slot then owns the block itself.
void tl_array_untranspose(tl_vm *vm, tl_slot *s);
// Whether the owned slot is an array that may be overwritten wholly in place:
// unique, DIRECT, dense.
bool tl_array_is_reusable(tl_slot s);

// Copies items of [from] into [to] (equal dtype; from broadcasts to to's
// shape, already checked). Handles overlap. Retains strings and drops old.
bool tl_array_assign(tl_vm *vm, tl_array *to, const tl_array *from);
// The same into a part of a new array, that shares nothing with [from]. It
// polls, so it may fail with the items half written.
bool tl_array_fill(tl_vm *vm, tl_array *to, const tl_array *from);

// Whether the two may share an item's memory (by their extents: true may be
// wrong, false is not).
bool tl_arrays_overlap(const tl_array *a, const tl_array *b);
// The first byte and the one after the last that [a] covers.
void tl_array_extent(const tl_array *a, char **begin, char **end);

// What an uninitialised string item is: "", immortal.
tl_string *tl_empty_string(void);

// --- In a dying array's memory: reuse.c, resize.c ---------------------------

// An array for a result of the dense array [x]'s shape whose items are read
// before they are written: x itself where it is dying and its items are as
// large (x then no longer owns, and has the result's dtype), else a new one.
tl_array *tl_array_over(tl_vm *vm, tl_slot *x, tl_dtype dtype);

// Whether the slot's array is dying and may become longer or shorter where it
// is; where it may not, the reason is counted.
bool tl_array_resizes(tl_vm *vm, tl_slot s);
// Makes such an array [length] long in its first axis, with room for [more]
// rows behind; the new items are uninitialised (strings: empty). s owns it
// still, at another address. False leaves it as it was.
bool tl_array_widen(tl_vm *vm, tl_slot *s, int64_t length, int64_t more);
// Makes such an array [length] long in its first axis, which is no more than it
// was, and gives the room behind back; what is cut off of strings is empty.
void tl_array_cut(tl_vm *vm, tl_slot *s, int64_t length);
// Takes such an array, whose first items are the result: it gets this shape of
// at most as many axes and bytes, and gives back what lies behind. Not for
// strings.
tl_array *tl_array_narrow(tl_vm *vm, tl_slot *s, tl_dtype dtype, int ndim,
                          const int64_t *shape);

// --- Shapes -----------------------------------------------------------------

bool tl_is_contiguous(const tl_array *a);
// Items of a shape, checked: false (kind shape) on overflow or a negative
// dimension; *nbytes gets items * itemsize.
bool tl_shape_size(tl_vm *vm, int ndim, const int64_t *shape, size_t itemsize,
                   int64_t *size, size_t *nbytes);
// Row-major strides in bytes.
void tl_shape_strides(int ndim, const int64_t *shape, size_t itemsize,
                      int64_t *strides);

// Broadcasts n shapes, aligned at the right.
//
//   2 * 3  with  3      2 * 3
//   2 * 1  with  4      2 * 4
//   3 * 4  with  5      false, kind shape: "3 * 4 * int8 and 5 * int8 do not
//                       broadcast: axis 1 is 4 against 5"
bool tl_broadcast(tl_vm *vm, int n, const tl_array *const *arrays, int *ndim,
                  int64_t *shape);
// The strides with which [a] is walked as [shape]: 0 along repeated axes.
void tl_broadcast_strides(const tl_array *a, int ndim, const int64_t *shape,
                          int64_t *strides);
// How far apart in memory items of such a stride are.
static inline int64_t tl_distance(int64_t stride) {
  return stride < 0 ? -stride : stride;
}
// Sorts axes by how far apart their items are, the farthest first; equal ones
// stay in their order. Whether any moved.
bool tl_axes_by_stride(int count, const int64_t *strides, int *axes);

// An axis argument: negative counts from the end; false (kind index) names the
// function, the axis and the number of axes.
bool tl_axis(tl_vm *vm, const char *function, int64_t axis, int ndim, int *out);

// Walks the items of up to 4 arrays of one shape in row-major order, giving
// runs along the innermost axis. Dimensions of length 1 are dropped and
// neighbours merged where every operand allows.
typedef struct tl_walk {
  int n, ndim;
  int64_t shape[TL_MAX_DIMS];
  int64_t strides[4][TL_MAX_DIMS];
  int64_t index[TL_MAX_DIMS];
  char *data[4];    // of the current run
  int64_t length;   // items of a run
  int64_t step[4];  // bytes between a run's items
  bool done;
} tl_walk;
void tl_walk_begin(tl_walk *walk, int n, int ndim, const int64_t *shape,
                   char *const *data, const int64_t *const *strides);
void tl_walk_next(tl_walk *walk);

// --- Values as arrays -------------------------------------------------------

// A number or bool: an unboxed scalar or a rank-0 complex128.
static inline bool tl_is_number(tl_slot s) {
  return tl_is_scalar(s) || (tl_is_array(s) && s.array->head.ndim == 0 &&
                             s.array->head.dtype == TL_COMPLEX128);
}
tl_slot tl_new_complex(tl_vm *vm, double re, double im,
                       bool weak);  // unset: failed

// An argument as an array: an array itself is borrowed into *out (nothing
// owned unless made here), a scalar becomes a rank-0 array, a range an int64
// array, a list or string fails (kind type) naming [function]. What *out owns
// the caller drops.
bool tl_as_array(tl_vm *vm, const char *function, tl_slot s, tl_slot *out);

// Items, for code that is not hot.
tl_slot tl_item(tl_vm *vm, const tl_array *a, const char *item);  // owned/typed
bool tl_item_store(tl_vm *vm, tl_array *a, char *item, tl_slot value);

#endif
