// Bounds of peak memory: what is known of a value.
//
// Built for size.
#include <string.h>

#include "vm/array/array.h"
#include "vm/observe/peak_internal.h"
#include "vm/types/type.h"

const tl_peak_value tl_peak_plain = {.kind = TL_PEAK_PLAIN};

// Whether the two are equal whatever the symbols stand for.
static bool same_length(tl_length a, tl_length b) {
  return a.symbol == b.symbol && (a.symbol >= 0 || a.number == b.number);
}

// How many lengths are meant: of an array of any rank one, its number of items.
static int length_count(const tl_peak_value *v) {
  return v->ndim < 0 ? 1 : v->ndim;
}

// Lengths that are symbols are counted as powers, numbers are multiplied. Of
// rank 0 it is the bytes of one item.
bool tl_peak_bytes(const tl_peak_value *v, tl_product *out) {
  *out = (tl_product){.by = tl_itemsize(v->dtype)};
  for (int i = 0; i < length_count(v); i++) {
    tl_length n = v->lengths[i];
    if (n.symbol >= 0) {
      if (out->power[n.symbol]++ == UINT8_MAX)
        return false;
    } else if (__builtin_mul_overflow(out->by, (uint64_t)n.number, &out->by)) {
      return false;
    }
  }
  return true;
}

// Different symbols may stand for equal lengths in a run, so false means that
// it is not known.
bool tl_peak_same_shape(const tl_peak_value *a, const tl_peak_value *b) {
  bool same = a->ndim == b->ndim;
  for (int i = 0; same && i < length_count(a); i++)
    same = same_length(a->lengths[i], b->lengths[i]);
  return same;
}

// --- Broadcasting ------------------------------------------------------------

// The length of the result of two. A number that is not 1 is the result's,
// whatever a symbol stands for. False: two symbols, of which the text does not
// say that they are one, or two numbers that do not broadcast.
//
//     1 and n → n     5 and n → 5     n and n → n     n and m: not known
//     1 and 5 → 5     (n is 5 or 1)   5 and 5 → 5     4 and 5: an error
static bool broadcast_length(tl_length a, tl_length b, tl_length *out) {
  bool a_is_one = a.symbol < 0 && a.number == 1;
  bool b_is_one = b.symbol < 0 && b.number == 1;
  *out = a_is_one || (!b_is_one && b.symbol < 0) ? b : a;
  return same_length(a, b) || a_is_one || b_is_one ||
         (a.symbol < 0) != (b.symbol < 0);
}

// Arrays of any rank go with themselves and with numbers alone: of two nobody
// knows which has more axes.
bool tl_peak_broadcast(tl_peak_value *a, const tl_peak_value *b,
                       const char **why) {
  *why =
      "its operands have lengths of their own: parameters with types that "
      "share them, as in x :: `N * float64`, y :: `N * float64`";
  if (a->ndim < 0 || b->ndim < 0) {
    if (a->ndim == 0 || b->ndim == 0 || tl_peak_same_shape(a, b)) {
      if (a->ndim == 0) {
        a->ndim = b->ndim;
        memcpy(a->lengths, b->lengths, sizeof a->lengths);
      }
      return true;
    }
    return false;
  }
  tl_peak_value made = a->ndim >= b->ndim ? *a : *b;
  const tl_peak_value *less = a->ndim >= b->ndim ? b : a;
  for (int i = 1; i <= less->ndim; i++) {
    tl_length *to = &made.lengths[made.ndim - i];
    if (!broadcast_length(*to, less->lengths[less->ndim - i], to))
      return false;
  }
  a->ndim = made.ndim;
  memcpy(a->lengths, made.lengths, sizeof a->lengths);
  return true;
}

// --- Joining -----------------------------------------------------------------

// The longer of two lengths, if that is known. Of a symbol and a number, or of
// two symbols, nobody knows which is longer.
static bool join_length(tl_length *a, tl_length b) {
  if (same_length(*a, b))
    return true;
  if (a->symbol >= 0 || b.symbol >= 0)
    return false;
  a->number = a->number > b.number ? a->number : b.number;
  return true;
}

// Blocks of two ways become one of a number of its own, which is as large as
// the larger of them; a view keeps its block, whose bytes then have to be of
// one formula. The result owns if either does, as what may be alive has to be
// counted.
static bool join_arrays(tl_peak_value *a, const tl_peak_value *b,
                        uint32_t block) {
  bool one = a->ndim == b->ndim;
  for (int i = 0; one && i < length_count(a); i++)
    one = join_length(&a->lengths[i], b->lengths[i]);
  if (!one)
    return false;
  if (tl_itemsize(b->dtype) > tl_itemsize(a->dtype))
    a->dtype = b->dtype;
  a->is_view = a->is_view && b->is_view;
  if (a->owns != b->owns || a->block != b->block) {
    a->owns = a->owns || b->owns;
    a->block = block;
    if (memcmp(a->held.power, b->held.power, sizeof a->held.power) != 0)
      return tl_peak_bytes(a, &a->held) && !a->is_view;
    if (b->held.by > a->held.by)
      a->held = b->held;
  }
  return true;
}

// A slot that one way has not set is not read behind both. Of different kinds
// nothing is known. Numbers stay known where they are the same on both; a list
// of lengths has to be.
bool tl_peak_join(tl_peak_value *a, const tl_peak_value *b, uint32_t block) {
  if (a->kind == TL_PEAK_UNSET || b->kind == TL_PEAK_UNSET) {
    if (a->kind == TL_PEAK_UNSET)
      *a = *b;
    return true;
  }
  if (a->kind == TL_PEAK_ARRAY && b->kind == TL_PEAK_ARRAY)
    return join_arrays(a, b, block);
  if (a->kind != b->kind)
    return false;
  if (a->kind == TL_PEAK_PLAIN && a->is_known)
    a->is_known = b->is_known && same_length(a->lengths[0], b->lengths[0]);
  return a->kind != TL_PEAK_SHAPE || tl_peak_same_shape(a, b);
}

// --- From outside ------------------------------------------------------------

// The length of one dimension of a type; a name stands for the parameter that
// has it first.
//
//     x :: `N * float64`, y :: `N * 3 * float64`
//
//     x  N is new: the symbol x.shape[0]      y  N is that one; 3 is 3
//
// At most 16 names are noted; further ones become symbols of their own, which
// only makes less known.
static bool given_length(tl_peak_symbols *s, const tl_string *param, int axis,
                         const tl_type *t, tl_bindings *names, tl_length *out) {
  *out = (tl_length){-1, t->size};
  if (t->kind == TL_TYPE_FIXED)
    return true;
  if (t->kind != TL_TYPE_SYMBOL)
    return false;
  for (int i = 0; t->name != NULL && t->size == TL_SET_NONE && i < names->count;
       i++) {
    if (names->items[i].name == t->name) {
      out->symbol = (int)names->items[i].size;
      return true;
    }
  }
  out->symbol = tl_peak_symbol_of(s, param, axis);
  if (t->name != NULL && out->symbol >= 0 && names->count < 16) {
    names->items[names->count].name = t->name;
    names->items[names->count++].size = out->symbol;
  }
  return out->symbol >= 0;
}

// Of items that no type names, float64 is assumed: no real dtype is larger. A
// parameter owns nothing and is a view: its block is the caller's, is not
// counted, and is never written in place. Of one without a type only the number
// of its items has a symbol.
tl_peak_value tl_peak_given(tl_peak_symbols *s, const tl_string *name,
                            const tl_type *pattern, tl_bindings *names) {
  tl_peak_value v = {
      .kind = TL_PEAK_ARRAY, .is_view = true, .dtype = TL_FLOAT64, .ndim = -1};
  if (pattern == NULL) {
    v.lengths[0].symbol = tl_peak_symbol_of(s, name, TL_PEAK_SIZE);
    if (v.lengths[0].symbol < 0)
      v.kind = TL_PEAK_UNKNOWN;
    return v;
  }
  v.ndim = 0;
  for (; v.kind == TL_PEAK_ARRAY && tl_type_is_dimension(pattern);
       pattern = pattern->of) {
    if (v.ndim == TL_PEAK_AXES ||
        !given_length(s, name, v.ndim, pattern, names, &v.lengths[v.ndim]))
      v.kind = TL_PEAK_UNKNOWN;
    v.ndim++;
  }
  if (pattern->kind == TL_TYPE_DTYPE && pattern->dtype < TL_STRING)
    v.dtype = pattern->dtype;
  else if (pattern->kind != TL_TYPE_VARIABLE)
    v.kind = TL_PEAK_UNKNOWN;
  if (v.kind == TL_PEAK_ARRAY && v.ndim == 0) {
    v.kind = TL_PEAK_PLAIN;
    v.lengths[0].symbol = tl_peak_symbol_of(s, name, TL_PEAK_NUMBER);
    v.is_known = v.lengths[0].symbol >= 0 && tl_dtype_is_integer(v.dtype);
  }
  return v;
}
