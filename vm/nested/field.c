// .name on values: record keys, attributes of arrays and scalars, members of
// modules.
//
// Built for speed.

#include "vm/host.h"
#include "vm/array/range.h"
#include "vm/bytecode/module.h"
#include "vm/index/select.h"
#include "vm/nested/parts.h"
#include "vm/objects.h"
#include "vm/types/layout.h"
#include "vm/values/list.h"

// Inlined, so that a literal's length is known and is compared as a number.
static inline __attribute__((always_inline)) bool is_named(
    const tl_string *name, const char *text) {
  const size_t nbytes = strlen(text);
  return name->length == nbytes && memcmp(name->text, text, nbytes) == 0;
}

// --- Shapes ------------------------------------------------------------------

// The items of an array, nested or not, a range, or a scalar.
static int64_t size_of(tl_slot s) {
  return tl_is_array(s)    ? s.array->size
         : tl_is_range(s)  ? s.range->length
         : tl_is_nested(s) ? tl_nested_size(s.nested)
                           : 1;
}

// The lengths as a list of weak integers, as a script would have written them;
// a range's is its length, a nested array's the fixed dimensions. *out is
// owned. Fails (kind type) where the items are rows.
static bool shape_list(tl_vm *vm, tl_slot s, int ndim, tl_slot *out) {
  if (tl_has_rows(s))
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "%s has no shape: len(x) rows of lengths(x) items",
                   tl_described(vm, s));
  tl_list *list = tl_list_new(vm, ndim);
  if (list == NULL)
    return false;
  for (int i = 0; i < ndim; i++)
    list->items[i] = tl_weak_int(tl_is_array(s)   ? s.array->dims[i]
                                 : tl_is_range(s) ? s.range->length
                                                  : tl_value_length(s, i));
  list->length = ndim;
  *out = tl_own_list(list);
  return true;
}

// The attributes that need no items, of anything that has a shape. *found tells
// whether the name is that of one.
static inline bool outline(tl_vm *vm, tl_slot s, const tl_string *name,
                           bool *found, tl_slot *out) {
  int ndim = tl_is_range(s) ? 1 : tl_value_ndim(s);
  tl_dtype dtype = tl_is_range(s) ? TL_INT64 : (tl_dtype)tl_dtype_of(s);
  *found = true;
  if (is_named(name, "shape"))
    return shape_list(vm, s, ndim, out);
  if (is_named(name, "dtype")) {
    tl_type *type = tl_is_nested(s) ? tl_type_below(vm, s, ndim)
                                    : tl_type_of_dtype(vm, dtype);
    *out = type != NULL ? tl_type_slot(type) : tl_none();
    return type != NULL;
  }
  if (is_named(name, "ndim"))
    *out = tl_weak_int(ndim);
  else if (is_named(name, "size"))
    *out = tl_weak_int(size_of(s));
  else if (is_named(name, "nbytes"))
    *out =
        tl_weak_int(tl_is_nested(s) ? tl_value_nbytes(s)
                                    : size_of(s) * (int64_t)tl_itemsize(dtype));
  else
    *found = false;
  return *found;
}

bool tl_outline(tl_vm *vm, tl_slot array, const tl_string *name, tl_slot *out) {
  bool found;
  if (outline(vm, array, name, &found, out))
    return true;
  if (found)
    tl_error_clear(vm);
  return false;
}

// --- Views -------------------------------------------------------------------

// x.T, or with [last_two] x.mT: the axes reversed, as views. Fails (kind shape)
// for mT below two axes, where x.T is still x itself, and (kind type) for rows.
static bool transpose(tl_vm *vm, tl_slot *base, bool last_two, tl_slot *out) {
  int axes[TL_MAX_DIMS], ndim = tl_value_ndim(*base);
  int first = last_two ? ndim - 2 : 0;
  bool nested = tl_is_nested(*base);
  if (nested && tl_value_axes(*base) > ndim && (last_two || ndim < 2))
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "%s has no transpose: its rows differ in length",
                   tl_described(vm, *base));
  if (last_two && ndim < 2)
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "mT exchanges the last two axes: the array has %d", ndim);
  for (int i = 0; i < ndim; i++)
    axes[i] = i < first ? i : ndim - 1 - (i - first);
  if (nested && ndim < 2) {
    *out = tl_retain(vm, tl_borrow(*base));
    return true;
  }
  if (nested)
    return tl_value_permute(vm, *base, axes, ndim, out);
  const tl_array *a = base->array;
  int64_t shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  for (int i = 0; i < ndim; i++) {
    shape[i] = tl_shape(a)[axes[i]];
    strides[i] = tl_strides(a)[axes[i]];
  }
  return tl_view(vm, base, a->data, ndim, shape, strides, out);
}

// A complex item is two of these in a row, the real one first.
static tl_dtype part_dtype(tl_dtype dtype) {
  return dtype == TL_COMPLEX64 ? TL_FLOAT32 : TL_FLOAT64;
}

// The real (0) or imaginary (1) parts of a complex array, as a view.
static bool part_view(tl_vm *vm, tl_slot *base, int part, tl_slot *out) {
  const tl_array *a = base->array;
  tl_dtype dtype = part_dtype(tl_array_dtype(a));
  char *data = a->data + (size_t)part * tl_itemsize(dtype);
  return tl_array_give(tl_view_new(vm, base, dtype, data, tl_ndim(a),
                                   tl_shape(a), tl_strides(a)),
                       out);
}

// .real and .imag of one number, without an array for it. What was a literal's
// number stays weak, so that (3).imag promotes as 0 does.
static bool scalar_part(tl_slot *base, int part, tl_slot *out) {
  if (tl_is_array(*base)) {  // complex128
    tl_c128 c = *(const tl_c128 *)(const void *)base->array->data;
    *out = tl_float(part == 0 ? c.re : c.im);
    out->tag |= base->tag & TL_WEAK;
    return true;
  }
  if (tl_dtype_of(*base) == TL_COMPLEX64) {
    float f = part == 0 ? base->c64.re : base->c64.im;
    *out = tl_scalar_load(TL_FLOAT32, &f);
    return true;
  }
  if (part == 0)
    return tl_pass_to(base, out);
  const uint64_t zero = 0;
  *out = tl_scalar_load((tl_dtype)tl_dtype_of(*base), &zero);
  out->tag |= base->tag & TL_WEAK;
  return true;
}

// Only views and the array itself can be written through: T, mT, the parts of
// complex items, and real of real items, which is the array.
bool tl_attribute_place(tl_vm *vm, tl_slot *base, const tl_string *name,
                        tl_slot *out) {
  tl_dtype dtype = tl_array_dtype(base->array);
  bool is_imag = is_named(name, "imag");
  if (is_named(name, "T") || is_named(name, "mT"))
    return transpose(vm, base, is_named(name, "mT"), out);
  if (tl_dtype_is_complex(dtype) && (is_imag || is_named(name, "real")))
    return part_view(vm, base, is_imag, out);
  if (dtype != TL_STRING && is_named(name, "real"))
    return tl_pass_to(base, out);
  if (!tl_is_attribute(name))
    return tl_fail_no_field(vm, *base, name);
  return tl_fail(vm, TALLY_ERR_TYPE, "the %s of an array cannot be set",
                 name->text);
}

// --- Attributes --------------------------------------------------------------

// A range has the attributes of the array that it stands for.
static bool range_attribute(tl_vm *vm, tl_slot *base, tl_string *name,
                            tl_slot *out) {
  if (is_named(name, "T") || is_named(name, "real"))
    return tl_pass_to(base, out);
  tl_slot made;
  return tl_array_give(tl_range_to_array(vm, base->range), &made) &&
         tl_drop_after(vm, tl_field_get(vm, &made, name, out), &made);
}

// What reshapes or splits a number: [is_part] for .real and .imag, else .T,
// which is the number, or .mT, which fails as it does for a vector.
static bool number_attribute(tl_vm *vm, tl_slot *base, const tl_string *name,
                             bool is_part, tl_slot *out) {
  if (is_part)
    return scalar_part(base, is_named(name, "imag"), out);
  return is_named(name, "T")
             ? tl_pass_to(base, out)
             : tl_fail(vm, TALLY_ERR_SHAPE,
                       "mT exchanges the last two axes: a number has none");
}

// The attributes that need no items come first; the others give views, of a
// range of the array that it stands for. The imaginary part of real items is a
// new array of zeros: there is nothing to view, and so nothing to write through
// either (tl_attribute_place).
static bool attribute(tl_vm *vm, tl_slot *base, tl_string *name, tl_slot *out) {
  bool found, ok = outline(vm, *base, name, &found, out);
  if (found)
    return ok;
  bool is_imag = is_named(name, "imag");
  bool is_part = is_imag || is_named(name, "real");
  if (!is_part && !is_named(name, "T") && !is_named(name, "mT"))
    return tl_fail_no_field(vm, *base, name);
  if (tl_is_range(*base))
    return range_attribute(vm, base, name, out);
  if (tl_is_number(*base))
    return number_attribute(vm, base, name, is_part, out);
  const tl_array *a = base->array;
  tl_dtype dtype = tl_array_dtype(a);
  if (is_part && dtype == TL_STRING)
    return tl_fail(vm, TALLY_ERR_TYPE, "an array of strings has no %s part",
                   is_imag ? "imaginary" : "real");
  if (is_imag && !tl_dtype_is_complex(dtype))
    return tl_array_give(tl_array_zeros(vm, dtype, tl_ndim(a), tl_shape(a)),
                         out);
  return tl_attribute_place(vm, base, name, out);
}

// What a type says of itself: the bytes of an item, which structs have as a C
// compiler lays them out.
static bool type_attribute(tl_vm *vm, const tl_slot *base,
                           const tl_string *name, tl_slot *out) {
  tl_type *type = base->type;
  if (!is_named(name, "itemsize"))
    return tl_fail_no_field(vm, *base, name);
  if (type->kind == TL_TYPE_DTYPE) {
    *out = tl_weak_int((int64_t)tl_itemsize(type->dtype));
    return true;
  }
  bool has_fields = tl_type_has_fields(type);
  if (!has_fields && !tl_type_is_plain(type))
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "items of type %s have no size of their own; nbytes(x) is "
                   "that of an array",
                   tl_described_type(vm, type));
  if (has_fields)
    type = tl_layout_of(vm, type, false);
  if (type == NULL)
    return false;
  *out = tl_weak_int(tl_type_size(type));
  return true;
}

// --- Nested arrays -----------------------------------------------------------

// The attributes of nested arrays, and how each is read as a function.
static const struct {
  const char *name, *call;
} nested_attributes[] = {
    {"shape", "shape(x)"},        {"ndim", "ndim(x)"},
    {"size", "size(x)"},          {"dtype", "dtype(x)"},
    {"nbytes", "nbytes(x)"},      {"T", "permute_dims(x, …)"},
    {"mT", "matrix_transpose(x)"}};

// Called before either meaning is chosen, so that a script cannot come to read
// a column because a table happens to have one named "size".
bool tl_field_is_clear(tl_vm *vm, const tl_nested *n, const tl_string *name) {
  const size_t count = sizeof nested_attributes / sizeof *nested_attributes;
  size_t i = 0;
  while (i < count && !is_named(name, nested_attributes[i].name)) i++;
  if (i == count || tl_nested_find(n, name) < 0)
    return true;
  return tl_fail(vm, TALLY_ERR_NAME,
                 "%s of %s is a field and an attribute of arrays: the field "
                 "is written x[\"%s\"], the attribute %s",
                 name->text, tl_described(vm, tl_lend_nested(n)), name->text,
                 nested_attributes[i].call);
}

// *found tells whether the name is that of an attribute.
static bool nested_attribute(tl_vm *vm, tl_slot *base, const tl_string *name,
                             bool *found, tl_slot *out) {
  const tl_nested *n = base->nested;
  bool ok = outline(vm, *base, name, found, out);
  if (*found)
    return ok;
  *found = true;
  if (is_named(name, "T") || is_named(name, "mT"))
    return transpose(vm, base, is_named(name, "mT"), out);
  for (int i = 0; tl_is_spelled(*base) && i < 2; i++)
    if (is_named(name, tl_part_name(n, i))) {
      *out = tl_retain(vm, tl_borrow(n->parts[i]));
      return true;
    }
  return *found = false;
}

// An attribute first, then a field; a name that is both has failed before.
static bool attribute_or_field(tl_vm *vm, tl_slot *base, tl_string *name,
                               tl_slot *out) {
  bool found;
  if (!tl_field_is_clear(vm, base->nested, name))
    return false;
  bool ok = nested_attribute(vm, base, name, &found, out);
  if (found)
    return ok;
  int64_t i = tl_nested_find(base->nested, name);
  if (i >= 0)
    return tl_nested_field(vm, base, i, out);
  return tl_fail_no_field(vm, *base, name);
}

// --- Any value ---------------------------------------------------------------

// Ordered by what scripts ask most: records, then arrays and numbers.
bool tl_field_get(tl_vm *vm, tl_slot *base, tl_string *name, tl_slot *out) {
  if (tl_is_record(*base))
    return tl_record_value(
        vm, base, (tl_slot){.tag = TL_TAG_STRING, .string = name}, out);
  if (tl_has_attributes(*base))
    return attribute(vm, base, name, out);
  if (tl_is_nested(*base))
    return attribute_or_field(vm, base, name, out);
  if (tl_is_kind(*base, TL_KIND_MODULE))
    return tl_module_get(vm, base->pointer, name, out);
  if (tl_is_resource(*base))
    return vm->host->attribute(vm, *base, name, out);
  if (tl_is_type(*base))
    return type_attribute(vm, base, name, out);
  return tl_fail_no_field(vm, *base, name);
}

// For shape(x) and its like, which a field of that name does not disturb.
bool tl_attribute_get(tl_vm *vm, tl_slot *base, tl_string *name, tl_slot *out) {
  bool found;
  if (!tl_is_nested(*base))
    return tl_field_get(vm, base, name, out);
  return nested_attribute(vm, base, name, &found, out);
}
