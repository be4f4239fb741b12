// Types as values: datashapes, parsed, matched and printed.
#ifndef TALLY_VM_TYPE_H
#define TALLY_VM_TYPE_H

#include "vm/memory/memory.h"

// A node of a datashape. Dimensions, then what they hold, as a chain.
typedef enum tl_type_kind {
  TL_TYPE_DTYPE,     // float64
  TL_TYPE_FIXED,     // 3 * of
  TL_TYPE_VAR,       // var * of
  TL_TYPE_SYMBOL,    // N * of          matches one dimension
  TL_TYPE_ELLIPSIS,  // Dims... * of    matches any number of dimensions
  TL_TYPE_OPTION,    // ?of             may be missing
  TL_TYPE_VARIABLE,  // Scalar          matches any dtype
  TL_TYPE_STRUCT,    // {x: float64}
  TL_TYPE_OTHER,     // list, record, function … (typeof gives these)
  // In structs: text in place.
  TL_TYPE_FIXED_STRING,  // fixed_string[n]: n bytes of UTF-8, zeros behind
  TL_TYPE_CHAR,          // char: one code point in 4 bytes
  TL_TYPE_BYTES,         // bytes: any bytes, stored as strings are
  TL_TYPE_POINTER,       // pointer[of]: refers to a value in a block
  TL_TYPE_CATEGORICAL,   // categorical[of, ["a", "b"]]: fields name the values
  TL_TYPE_TUPLE,         // (int64, string): fields named by their numbers
  TL_TYPE_FUNCTION,      // (int64, float64) -> of: fields without names
} tl_type_kind;

typedef struct tl_type_field {
  tl_string *name;
  tl_type *type;
} tl_type_field;

// Types are interned: equal types are one object. They are immortal.
struct tl_type {
  tl_object head;
  tl_type_kind kind;
  tl_dtype dtype;       // DTYPE
  int64_t size;         // FIXED, FIXED_STRING
  tl_string *name;      // SYMBOL, ELLIPSIS (both may be NULL: any), VARIABLE,
                        // OTHER
  tl_type *of;          // FIXED, VAR, SYMBOL, ELLIPSIS, OPTION, POINTER,
                        // CATEGORICAL (NULL: of strings), FUNCTION
  int64_t field_count;  // STRUCT, CATEGORICAL, TUPLE, FUNCTION
  tl_type_field *fields;
  // STRUCT with a layout (layout.h): where each field begins. A type that is a
  // value has none, so that equal types are equal whatever lies beneath.
  int64_t *offsets;
  int64_t itemsize, align;
};

// Parses a datashape; fails (kind type) with the place in the text.
//
//   dimensions  3 *  var *  N *  Dims... *  ... *  fixed * (of any length);
//               3 ** 2 * is 3 * 3 *
//   items       a dtype or an alias (int real float double complex intptr
//               size_t), a variable (a capital letter first), ?item,
//               {x: float64, "a b": int32}, fixed_string[8], char, bytes,
//               pointer[item], categorical[string, ["a", "b"]],
//               (int64, string), (float64) -> float64, the kinds of other
//               values (list record function range type module handle none)
//   comments    # to the end of the line
tl_type *tl_type_parse(tl_vm *vm, const char *text, size_t nbytes);
tl_type *tl_type_of_dtype(tl_vm *vm, tl_dtype dtype);
tl_type *tl_type_of(tl_vm *vm, tl_slot value);  // typeof(x)
tl_slot tl_type_slot(tl_type *type);            // borrowed: types are immortal
tl_string *tl_type_text(tl_vm *vm, const tl_type *type);

// Whether a field's name stands in a type without quotes.
bool tl_type_is_word(const tl_string *name);

// Structs, and tuples, which are structs whose fields are "0", "1", …
static inline bool tl_type_has_fields(const tl_type *type) {
  return type->kind == TL_TYPE_STRUCT || type->kind == TL_TYPE_TUPLE;
}

static inline bool tl_type_is_dimension(const tl_type *type) {
  return type->kind >= TL_TYPE_FIXED && type->kind <= TL_TYPE_ELLIPSIS;
}

// The interned type that equals [model], whose name and field names are
// borrowed; NULL after tl_fail (kind memory).
tl_type *tl_type_intern(tl_vm *vm, const tl_type *model);

// The names that types hold, for the auditor.
void tl_types_each_name(tl_vm *vm, void (*visit)(void *context, tl_slot name),
                        void *context);

// Frees all of a VM's types; when it closes.
void tl_types_close(tl_vm *vm);

// Whether a value matches a pattern such as `N * M * float64`; variables seen
// before (in bindings, an opaque record the caller clears) must agree. Fails
// (kind type) naming the mismatch; [what] is the parameter's name.
typedef struct tl_bindings {
  int count;
  struct {
    tl_string *name;
    int64_t size;   // SYMBOL
    tl_type *type;  // VARIABLE; ELLIPSIS: the dimensions, over bool
  } items[16];
} tl_bindings;
bool tl_type_match(tl_vm *vm, const tl_type *pattern, tl_slot value,
                   tl_bindings *bindings, const char *what);

// A dtype argument: a type value of kind DTYPE; else kind type, naming the
// function and the argument.
bool tl_dtype_argument(tl_vm *vm, const char *function, tl_slot s,
                       tl_dtype *out);

#endif
