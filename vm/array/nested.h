// Arrays whose items are more than a number or a string: structs, values that
// may be missing, rows of different lengths.
//
// Such an array is a small tree over plain arrays, which stay what they are,
// with their engine, their views and their counts. For example
//
//   [[1, none], [3]]   RAGGED ── offsets   0 2 3
//                        └────── OPTION ── missing   false true false
//                                  └────── values        1    ·     3
//
// What a form adds to its parts:
//
//   record    STRUCT    parts[0]  the block: uint8, with a last axis of an
//                                 item's bytes; layout says where fields begin
//             COLUMNS   parts[i]  field i by itself, for structs that are no
//                                 plain bytes: a field is a string, may be
//                                 missing or is ragged
//   option    OPTION    parts[0]  bool: true where the item is missing
//                       parts[1]  the values; anything where one is missing
//   list      RAGGED    parts[0]  int64 offsets, one more than there are rows
//                       parts[1]  the rows' items, one row behind the other:
//                                 row i is [offsets[i], offsets[i + 1])
//   indexed   parts[0] has the place of each item in parts[1], the target:
//             GRID      rows of a ragged array in a regular order (ragged.h)
//             CATEGORY  values out of a few, codes in int32 (indexed.h)
//             POINTER   references to the values of any array (indexed.h)
//   bytes     BYTES     parts[0]  the bytes as if they were text: a string
//                                 (there is no axis then), or any array of
//                                 strings (raw_bytes.h)
//
// Where operands of several forms meet, the one that stands last in tl_form
// says what happens: it opens the array that it is, and the others follow.
//
// ndim counts the fixed leading dimensions: the axes that all parts share.
// RAGGED has one, its rows. tl_form_traits says which parts have these axes
// themselves; what moves, cuts or reshapes the axes goes to those parts and
// shares the others.
#pragma once

#include "vm/types/type.h"

// From the innermost to the outermost, see above.
typedef enum tl_form {
  TL_FORM_OPTION,
  TL_FORM_STRUCT,
  TL_FORM_COLUMNS,
  TL_FORM_RAGGED,
  TL_FORM_GRID,
  TL_FORM_CATEGORY,
  TL_FORM_POINTER,
  TL_FORM_BYTES,
  TL_FORM_COUNT
} tl_form;

// What is to be known of a form to read it.
typedef struct tl_form_traits {
  const char *names[2];  // of its parts; NULL: those of the fields
  uint32_t spans;        // bit i: part i has the array's own leading axes
  bool has_rows;         // its items are rows of any length
  bool is_indexed;       // parts[0] are places in parts[1]
  bool shows_fields;     // of structs below, as if they were its own
  const char *before, *behind;  // the description of parts[1] in its own
  const char *hint;  // what makes a plain array of it, after a semicolon
} tl_form_traits;
extern const tl_form_traits tl_form_table[TL_FORM_COUNT];

struct tl_nested {
  tl_object head;   // head.dtype: the form, head.ndim
  tl_type *layout;  // STRUCT: with offsets; COLUMNS: the fields' names
  int64_t count;    // of parts
  tl_slot parts[];  // heap slots: arrays, or nested again
};

static inline tl_form tl_nested_form(const tl_nested *n) {
  return (tl_form)n->head.dtype;
}
static inline const tl_form_traits *tl_nested_traits(const tl_nested *n) {
  return &tl_form_table[n->head.dtype];
}
static inline bool tl_is_form(tl_slot s, tl_form form) {
  return tl_is_nested(s) && tl_nested_form(s.nested) == form;
}
// Whether it is an array of structs, in one block or by columns.
static inline bool tl_has_fields(tl_slot s) {
  return tl_is_form(s, TL_FORM_STRUCT) || tl_is_form(s, TL_FORM_COLUMNS);
}
// Whether its items are rows: RAGGED or GRID.
static inline bool tl_has_rows(tl_slot s) {
  return tl_is_nested(s) && tl_nested_traits(s.nested)->has_rows;
}
// Whether part [i] has the array's own leading axes.
static inline bool tl_part_spans(const tl_nested *n, int64_t i) {
  return i >= 32 || (tl_nested_traits(n)->spans >> i & 1) != 0;
}
// Whether its items are places in another part, which stays whole: what does
// not know the form gets the values (tl_spell_out).
static inline bool tl_is_spelled(tl_slot s) {
  return tl_is_form(s, TL_FORM_CATEGORY) || tl_is_form(s, TL_FORM_POINTER);
}
// A slot that owns it: takes the caller's count.
static inline tl_slot tl_own_nested(tl_nested *n) {
  return (tl_slot){.tag = TL_TAG_NESTED | TL_OWNED, .nested = n};
}
// A slot that borrows it.
static inline tl_slot tl_lend_nested(const tl_nested *n) {
  return (tl_slot){.tag = TL_TAG_NESTED, .nested = (tl_nested *)(uintptr_t)n};
}
// The fixed leading dimensions, 0 for bytes of one value.
static inline int tl_nested_ndim(const tl_nested *n) {
  return n->head.ndim;
}

// --- Shapes and descriptions ------------------------------------------------

// The fixed leading dimensions of an array or nested array; 0 for others.
int tl_value_ndim(tl_slot s);
// The length of one of them.
int64_t tl_value_length(tl_slot s, int axis);
// All of them at once: room for TL_MAX_DIMS; returns how many.
int tl_value_shape(tl_slot s, int64_t *shape);
// Whether two values have as many of them, and those from [first] on are of the
// same lengths.
bool tl_value_agrees(tl_slot a, tl_slot b, int first);
// All axes: those, and the dimensions of the rows below them.
// For 3 * 4 * var * 2 * float64:
//
//   ndim 2     length(axis 1) 4     shape 3 4     axes 4     size 12
int tl_value_axes(tl_slot s);
// Items: the product of the fixed leading dimensions.
int64_t tl_nested_size(const tl_nested *n);
// The bytes of all that a value shows (not of what it holds).
int64_t tl_value_nbytes(tl_slot s);
// The bytes of the items that a value shows, rows that it leaves out not
// counted, and those of the blocks that it keeps for them.
int64_t tl_value_shown(tl_slot s);
int64_t tl_value_held(tl_slot s);
// Whether nothing but this value, which is nested, keeps those blocks.
// False where a part, or the block that a part views, has another owner too:
// then a copy would free nothing.
bool tl_nested_keeps_alone(const tl_nested *n);
// As tl_describe: into a buffer, cut where it is full.
// Takes no memory, so it may be called after an allocation has failed.
void tl_nested_describe(const tl_nested *n, char *buffer, size_t size);
// What makes a plain array of such a value, for the end of an error's message;
// "" where it is plain or nothing does.
const char *tl_plain_hint(tl_slot s);
// What part [i] is called: that of the form, or a field's name.
const char *tl_part_name(const tl_nested *n, int64_t i);
// The position of a field; -1: none, or no struct.
int64_t tl_nested_find(const tl_nested *n, const tl_string *name);
// Row i of a ragged array.
// Its items are [*start, *stop) of parts[1].
void tl_ragged_row(const tl_nested *n, int64_t i, int64_t *start,
                   int64_t *stop);
// The tree, a line for each part of it, indented by [depth].
// For a reader who wonders where the memory is: names, strides and owners. A
// failure is the text's.
void tl_nested_tree(tl_text *text, const tl_nested *n, int depth);
