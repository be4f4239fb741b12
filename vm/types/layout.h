// Where the fields of a struct lie: the offsets and sizes that a C compiler
// would choose, none of its padding, or as they are given.
//
//     {a: int8, b: float64}     by C's rules   a at 0, b at 8, 16 bytes
//                               packed         a at 0, b at 1,  9 bytes
//
// A layout is a struct type with offsets. It is interned like all types, so two
// arrays of one layout point to the same one.
#pragma once

#include "vm/types/type.h"

// The layout of a struct type by C's rules, or [packed] without padding; of a
// layout, itself. NULL after tl_fail (kind type) where a field has no fixed
// size.
tl_type *tl_layout_of(tl_vm *vm, tl_type *type, bool packed);
// The layout with these offsets and this size of an item (0: up to the end of
// the last field, aligned). Fields may overlap, as in a C union. NULL after
// tl_fail (kind value) where one does not fit.
// [offsets] has one for each field, in bytes from the item's begin, and is
// borrowed. [type] is a plain struct type, or fails as tl_layout_of does.
tl_type *tl_layout_given(tl_vm *vm, tl_type *type, const int64_t *offsets,
                         int64_t itemsize);
// A layout of some fields of another, at their places.
// Items stay as large as they were, so that the block can be shared: bytes of
// the fields left out lie between the others.
// [fields] are positions in [layout], each less than its field_count, and
// borrowed. NULL only where memory runs out.
tl_type *tl_layout_select(tl_vm *vm, const tl_type *layout, uint32_t count,
                          const int64_t *fields);
// The struct type that a layout was made of: without offsets.
// Structs within it lose theirs, too. NULL only where memory runs out.
tl_type *tl_layout_plain(tl_vm *vm, tl_type *layout);

// Whether values of a type are plain bytes: numbers, and structs and fixed
// dimensions of such.
// False for strings, ?T, var, bytes, pointers and categories, and for a struct
// with any of these.
bool tl_type_is_plain(const tl_type *type);
// Whether items of the type are text within a struct, as a C struct has it,
// which is read as strings: the type counts as plain bytes.
static inline bool tl_type_is_text(const tl_type *type) {
  return type->kind == TL_TYPE_FIXED_STRING || type->kind == TL_TYPE_CHAR;
}
// Bytes of a value of a plain type, whose structs are layouts.
//
//   3 * {a: int8, b: float64}     48, the last padding included
int64_t tl_type_size(const tl_type *type);
// Its alignment.
// 1 where the layout is packed; the layout's own where its offsets were given.
int64_t tl_type_align(const tl_type *type);
