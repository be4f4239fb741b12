// Items of arrays and lists, read and written by the dispatch loop itself:
// scalars in, scalars out, nothing allocated.
//
// All these functions return whether they did it. False changes nothing and
// means that the case is not plain (another rank, an index out of range, a
// shared array, a string): the caller then takes the general path, which also
// raises the errors. Two dtypes come first in each, float64 and int64, because
// most loops of scripts are over these.
#pragma once

#include "vm/array/array.h"
#include "vm/string.h"
#include "vm/values/list.h"

// The rank in a tag: 0 to 6; 7 stands for 7 and more.
#define TL_RANK(tag) ((tag) >> 24 & 7u)

// Wraps a negative index; false where it is out of range. One comparison
// without a sign serves the common case.
//
//   length 3:  2 stays 2, -1 becomes 2, 3 and -4 are out of range
static inline bool tl_index_wrap(int64_t *index, int64_t length) {
  uint64_t i = (uint64_t)*index, n = (uint64_t)length;
  if (__builtin_expect(i < n, 1))
    return true;
  i += n;
  *index = (int64_t)i;
  return i < n;
}

// The index in a scalar of another integer dtype than int64 as one of that;
// false: it is none. What follows takes int64 alone.
bool tl_index_widen(const tl_slot *s, tl_slot *out);

// Whether a tag is that of an array of rank [rank], at most 6.
static inline bool tl_is_of_rank(uint64_t tag, uint32_t rank) {
  return ((uint32_t)tag & (7u << 24 | 0xffu)) == (TL_CLASS_ARRAY | rank << 24);
}

// Loads an item as a scalar. False for strings and complex128, which are not
// unboxed; *a is unchanged then.
static inline bool tl_element_load(tl_slot *a, int dtype, const char *item) {
  uint64_t bits;
  if (dtype == TL_FLOAT64) {
    memcpy(&bits, item, sizeof bits);
    a->tag = TL_TAG_F64;
    a->u = bits;
    return true;
  }
  if (dtype == TL_INT64) {
    memcpy(&bits, item, sizeof bits);
    a->tag = TL_TAG_I64;
    a->u = bits;
    return true;
  }
  if (dtype == TL_BOOL) {
    a->tag = TL_TAG_BOOL;
    a->i = *item != 0;
    return true;
  }
  if (dtype >= TL_COMPLEX128)
    return false;
  tl_slot s = tl_scalar_load((tl_dtype)dtype, item);
  tl_copy_slot(a, &s);
  return true;
}

// a = base[index] of an array of rank 1 or of a list, whose item is borrowed.
// Part of the loop that asks: most of what programs read is such an item.
__attribute__((always_inline)) static inline bool tl_item_get(
    tl_slot *a, const tl_slot *base, const tl_slot *index) {
  if (__builtin_expect((uint8_t)index->tag != TL_CLASS_I64, 0))
    return false;
  int64_t i = index->i;
  if (tl_is_of_rank(base->tag, 1)) {
    const tl_array *x = base->array;
    if (__builtin_expect(!tl_index_wrap(&i, x->dims[0]), 0))
      return false;
    return tl_element_load(a, tl_dtype_of(*base), x->data + i * x->dims[1]);
  }
  if ((uint8_t)base->tag != TL_CLASS_LIST)
    return false;
  const tl_list *list = base->list;
  if (__builtin_expect(!tl_index_wrap(&i, list->length), 0))
    return false;
  uint64_t tag = list->items[i].tag & ~TL_OWNED, bits = list->items[i].u;
  a->tag = tag;
  a->u = bits;
  return true;
}

// The same, or a character of a text whose characters are single bytes.
static inline bool tl_element_get(tl_slot *a, const tl_slot *base,
                                  const tl_slot *index) {
  if (tl_item_get(a, base, index))
    return true;
  if ((uint8_t)index->tag == TL_CLASS_I64 && tl_is_string(*base) &&
      tl_string_is_bytewise(base->string)) {
    const tl_string *string = base->string;
    int64_t i = index->i;
    if (!tl_index_wrap(&i, (int64_t)string->length))
      return false;
    tl_slot letter = tl_letter_slot((unsigned char)string->text[i]);
    tl_copy_slot(a, &letter);
    return true;
  }
  return false;
}

// The same, but false where a list's item is owned by the list: the caller
// wants a value that depends on no owner.
static inline bool tl_element_peek(tl_slot *a, const tl_slot *base,
                                   const tl_slot *index) {
  int64_t i = index->i;
  if ((uint8_t)base->tag == TL_CLASS_LIST &&
      (uint8_t)index->tag == TL_CLASS_I64 &&
      tl_index_wrap(&i, base->list->length) &&
      tl_is_owned(base->list->items[i])) {
    return false;
  }
  return tl_item_get(a, base, index);
}

// Sets *item to the address of base[first, second], where base is an array of
// rank 2; false where an index is no int64 or out of range.
static inline bool tl_element_at2(const tl_slot *base, const tl_slot *first,
                                  const tl_slot *second, char **item) {
  if (__builtin_expect((uint8_t)(first->tag | second->tag) != TL_CLASS_I64, 0))
    return false;
  const tl_array *x = base->array;
  int64_t i = first->i, j = second->i;
  if (__builtin_expect(!tl_index_wrap(&i, x->dims[0]), 0) ||
      __builtin_expect(!tl_index_wrap(&j, x->dims[1]), 0))
    return false;
  *item = x->data + i * x->dims[2] + j * x->dims[3];
  return true;
}

// a = base[first, second] of an array of rank 2.
static inline bool tl_element_get2(tl_slot *a, const tl_slot *base,
                                   const tl_slot *first,
                                   const tl_slot *second) {
  char *item;
  return __builtin_expect(tl_is_of_rank(base->tag, 2), 1) &&
         tl_element_at2(base, first, second, &item) &&
         tl_element_load(a, tl_dtype_of(*base), item);
}

// tl_element_store of a number that changes its dtype. False also where it does
// not fit.
bool tl_element_convert(char *item, int dtype, const tl_slot *value);

// Stores a number in an item where that needs no check of the kinds, or an
// integer that fits. False: another path has to convert it or to fail.
static inline bool tl_element_store(char *item, int dtype,
                                    const tl_slot *value) {
  unsigned class = (uint8_t)value->tag;
  if (dtype == TL_FLOAT64) {
    if (class == TL_CLASS_F64) {
      memcpy(item, &value->f, sizeof value->f);
      return true;
    }
    double v = (double)value->i;
    if (class != TL_CLASS_I64)
      return tl_element_convert(item, dtype, value);
    memcpy(item, &v, sizeof v);
    return true;
  }
  if (dtype == TL_INT64) {
    if (class != TL_CLASS_I64)
      return tl_element_convert(item, dtype, value);
    memcpy(item, &value->i, sizeof value->i);
    return true;
  }
  if (dtype == TL_BOOL) {
    if (class != TL_CLASS_BOOL)
      return false;
    *item = (char)value->i;
    return true;
  }
  if (dtype >= TL_COMPLEX128 || tl_dtype_of(*value) != dtype ||
      class != TL_CLASS_SMALL)
    return tl_element_convert(item, dtype, value);
  tl_scalar_store(*value, item);
  return true;
}

// Whether the slot is the only owner of an array of that rank whose items may
// be written: one comparison of the tag, one of the count.
static inline bool tl_element_is_writable(const tl_slot *s, uint64_t rank) {
  const uint64_t mask =
      UINT64_C(0xff) | TL_OWNED | TL_DIRECT | UINT64_C(7) << 24;
  return (s->tag & mask) ==
             (TL_CLASS_ARRAY | TL_OWNED | TL_DIRECT | rank << 24) &&
         s->object->count == 1;
}

// list[index] = value where the slot is the list's only owner, and neither the
// old item nor the new one needs a count.
static inline bool tl_item_set(const tl_slot *target, const tl_slot *value,
                               const tl_slot *index) {
  int64_t i = index->i;
  if ((uint8_t)target->tag != TL_CLASS_LIST || !tl_is_unique(*target) ||
      (uint8_t)index->tag != TL_CLASS_I64 || tl_is_heap(*value) ||
      !tl_index_wrap(&i, target->list->length) ||
      tl_is_owned(target->list->items[i])) {
    return false;
  }
  tl_copy_slot(&target->list->items[i], value);
  return true;
}

// target[index] = value for an array of rank 1.
static inline bool tl_element_set(const tl_slot *target, const tl_slot *value,
                                  const tl_slot *index) {
  if (__builtin_expect(!tl_element_is_writable(target, 1), 0) ||
      (uint8_t)index->tag != TL_CLASS_I64) {
    return false;
  }
  tl_array *x = target->array;
  int64_t i = index->i;
  return tl_index_wrap(&i, x->dims[0]) &&
         tl_element_store(x->data + i * x->dims[1], tl_dtype_of(*target),
                          value);
}

// target[first, second] = value for an array of rank 2.
static inline bool tl_element_set2(const tl_slot *target, const tl_slot *value,
                                   const tl_slot *first,
                                   const tl_slot *second) {
  if (__builtin_expect(!tl_element_is_writable(target, 2), 0))
    return false;
  char *item;
  return tl_element_at2(target, first, second, &item) &&
         tl_element_store(item, tl_dtype_of(*target), value);
}
