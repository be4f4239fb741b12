// Types as values: datashapes, parsed, matched and printed.
//
//     `3 * N * {x: float64, y: ?int32}`
//
//     FIXED 3 ─of─▶ SYMBOL N ─of─▶ STRUCT ─┬ x: DTYPE float64
//                                          └ y: OPTION ─of─▶ DTYPE int32
//
// A type is a chain of dimensions and then what they hold. Types are interned:
// equal types are one object, so that comparing is comparing pointers; they
// live until the VM closes. The same nodes serve as types of values
// (tl_type_of), as patterns of parameters (tl_type_match) and, with offsets, as
// layouts of structs (layout.h).
#pragma once

#include "vm/string.h"

// A node of a datashape: dimensions, then what they hold, as a chain.
typedef enum tl_type_kind {
  // float64: items of an array, or a scalar.
  TL_TYPE_DTYPE,
  // 3 * of: a dimension of that length.
  TL_TYPE_FIXED,
  // var * of: rows of any lengths.
  TL_TYPE_VAR,
  // N * of: matches one dimension, and the same length wherever N stands.
  TL_TYPE_SYMBOL,
  // Dims... * of: matches any number of dimensions.
  TL_TYPE_ELLIPSIS,
  // ?of: values may be missing.
  TL_TYPE_OPTION,
  // T: matches any dtype, and the same one wherever the name stands. Int: any
  // of a set of types, and another wherever it stands.
  TL_TYPE_VARIABLE,
  // {x: float64, y: int32}
  TL_TYPE_STRUCT,
  // list, record, function …: kinds without items of one type, as typeof gives
  // them.
  TL_TYPE_OTHER,
  // fixed_string[n]: n bytes of UTF-8 in the struct, zeros behind.
  TL_TYPE_FIXED_STRING,
  // char: one code point in 4 bytes.
  TL_TYPE_CHAR,
  // bytes: any bytes, stored as strings are.
  TL_TYPE_BYTES,
  // pointer[of]: refers to a value in a block.
  TL_TYPE_POINTER,
  // categorical[of, ["a", "b"]]: the fields name the values.
  TL_TYPE_CATEGORICAL,
  // (int64, string): fields named by their numbers.
  TL_TYPE_TUPLE,
  // (int64, float64) -> of: fields without names.
  TL_TYPE_FUNCTION,
  // {x: float64, ...}: matches structs that have these fields and others.
  TL_TYPE_OPEN_STRUCT,
} tl_type_kind;

// The sets of types that names of patterns stand for; a name that is none of
// these is a variable.
typedef enum tl_type_set {
  TL_SET_NONE,
  TL_SET_ANY,     // whatever it is, with its dimensions
  TL_SET_SCALAR,  // one value: a number, a bool, text, bytes, a category
  TL_SET_BOOL,
  TL_SET_INT,  // integers, signed or not
  TL_SET_UINT,
  TL_SET_FLOAT,
  TL_SET_COMPLEX,
  TL_SET_FIXED,  // of dimensions: one of any length
  TL_SET_DIMS,   // any number of dimensions
} tl_type_set;

// How deep types may nest: functions over types recurse so deep.
// The C stack pays for each level; a deeper type fails (kind limit).
enum { TL_TYPE_DEPTH = 64 };

// A field of a struct, a member of a tuple, a category, or a parameter.
typedef struct tl_type_field {
  tl_string *name;
  tl_type *type;
} tl_type_field;

// A type. Equal types are one object; all are immortal.
struct tl_type {
  tl_object head;
  tl_type_kind kind;
  tl_dtype dtype : 16;  // DTYPE
  unsigned depth : 16;  // of the types in it: 0 for a dtype, at most
                        // TL_TYPE_DEPTH
  int64_t size;         // FIXED, FIXED_STRING; SYMBOL, ELLIPSIS, VARIABLE: the
                        // tl_type_set that the name stands for
  tl_string *name;      // SYMBOL, ELLIPSIS (both may be NULL: any), VARIABLE,
                        // OTHER
  tl_type *of;          // FIXED, VAR, SYMBOL, ELLIPSIS, OPTION, POINTER,
                        // CATEGORICAL (NULL: of strings), FUNCTION
  int64_t field_count;  // STRUCT, CATEGORICAL, TUPLE, FUNCTION, OPEN_STRUCT
  tl_type_field *fields;
  // STRUCT with a layout (layout.h): where each field begins. A type that is a
  // value has none, so that equal types are equal whatever lies beneath.
  int64_t *offsets;
  int64_t itemsize, align;
};

// Parses a datashape; NULL after tl_fail (kind type), with the place in the
// text. The result is borrowed, as all types are.
//
//   dimensions  3 *  var *  N *  Dims... *  ... *  fixed * (of any length); 3
//                                                  ** 2 * is 3 * 3 *
//               Fixed * and Dims... * are fixed and ..., other names variables
//   items       a dtype or an alias (int real float double complex intptr
//               size_t), a set (Any Scalar Bool Int UInt Float Complex), a
//               variable (another word with a capital first), ?item, {x: int8,
//               "a b": int32}, {x: int8, ...}, fixed_string[8], char, bytes,
//               pointer[item], option[item] (which is ?item),
//               categorical[string, ["a", "b"]], (int64, string), (float64) ->
//               float64, the kinds of other values (list record function range
//               type module handle none)
//   comments    # to the end of the line
tl_type *tl_type_parse(tl_vm *vm, const char *text, size_t nbytes);
// The type of a scalar of that dtype; never fails.
tl_type *tl_type_of_dtype(tl_vm *vm, tl_dtype dtype);
// The type of a value where nothing is made or looked for: of numbers, strings
// and the kinds that were asked for before. NULL: tl_type_of knows.
tl_type *tl_type_at_once(tl_vm *vm, tl_slot value);
// The type of a value, as typeof(x) gives it; NULL after tl_fail.
tl_type *tl_type_of(tl_vm *vm, tl_slot value);
// The type as a value, borrowed: types are immortal.
tl_slot tl_type_slot(tl_type *type);
// The type as the language writes it, owned; NULL after tl_fail.
// A layout is written without its offsets, as the struct type that it was made
// of.
tl_string *tl_type_text(tl_vm *vm, const tl_type *type);
// So many of a type, which may be NULL after tl_fail: then NULL.
tl_type *tl_type_fixed(tl_vm *vm, int64_t size, tl_type *of);
// The position of the field of that name; -1: there is none.
int64_t tl_type_find(const tl_type *type, const tl_string *name);
// tl_type_text, and "x: " of a field, appended to a text.
void tl_type_write(tl_text *text, const tl_type *type);
void tl_type_write_name(tl_text *text, const tl_string *name);

// Structs, and tuples, which are structs whose fields are "0", "1", …
static inline bool tl_type_has_fields(const tl_type *type) {
  return type->kind == TL_TYPE_STRUCT || type->kind == TL_TYPE_TUPLE;
}

// fixed_string[n] and char: text within the struct, which is read as strings;
// the type counts as plain bytes (tl_type_is_plain).
static inline bool tl_type_is_text(const tl_type *type) {
  return type->kind == TL_TYPE_FIXED_STRING || type->kind == TL_TYPE_CHAR;
}

// Whether the node is a dimension over something.
static inline bool tl_type_is_dimension(const tl_type *type) {
  return type->kind >= TL_TYPE_FIXED && type->kind <= TL_TYPE_ELLIPSIS;
}

// The interned type that equals [model], whose name and field names are
// borrowed; NULL after tl_fail (kind memory, or type and limit for a model that
// cannot be).
// The fields of [model] may lie on the stack: they are copied. A model of kind
// TL_TYPE_DTYPE gives the constant type, and makes nothing.
tl_type *tl_type_intern(tl_vm *vm, const tl_type *model);

// Calls [visit] with each name that a type holds, for the auditor's recount.
// A name in several types is visited once for each, as each has one count of
// it.
void tl_types_each_name(tl_vm *vm, void (*visit)(void *context, tl_slot name),
                        void *context);

// Frees all of a VM's types, when it closes.
void tl_types_close(tl_vm *vm);

// What variables of a pattern stand for so far.
// One of these serves all parameters of a call, so that N is the same length in
// each. A seventeenth variable fails (kind type). Names are borrowed from the
// patterns.
typedef struct tl_bindings {
  int count;
  struct {
    tl_string *name;
    int64_t size;   // SYMBOL
    tl_type *type;  // VARIABLE; ELLIPSIS: the dimensions, over bool
  } items[16];
} tl_bindings;
// Whether a value matches a pattern such as `N * M * float64`. Variables seen
// before must agree with [bindings], which the caller clears first. Fails (kind
// type) naming the mismatch; [what] is the parameter's name.
bool tl_type_match(tl_vm *vm, const tl_type *pattern, tl_slot value,
                   tl_bindings *bindings, const char *what);
