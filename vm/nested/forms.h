// What each form does: a table of functions for each, found by tl_form.
//
//   x[i, j]       tl_index_get     ─▶ vm->nested->get          ─▶ get
//   x[i].f = v    tl_part_update   ─▶ vm->nested->set          ─▶ set
//   x + y         tl_elementwise   ─▶ vm->nested->elementwise  ─▶ elementwise
//   concat(x, y)  tl_value_concat  ─▶ vm->nested->concat       ─▶ concat
//
// The drivers between the last two arrows are in forms.c, above all functions
// of the table. These work on parts by what is at the left, which may come
// back.
//
// Where several values take part, the outermost form among them (tl_form) is
// asked. It opens what is of its form, leaves the others to stand for
// themselves, and calls the same operation on what that gives: so bytes come
// before what may be missing in them, and rows before their items. What works
// on the parts of all forms alike is in parts.h.
//
// A form's functions are called with what the drivers have made sure of:
//
//   get          base is of this form, the step no field's name
//   set          [n] is to change; its parts may belong to other arrays too
//   elementwise  no operand is of a form further out
//   concat       no item is of a form further out, count > 0
#pragma once

#include "vm/elementwise.h"
#include "vm/nested/nested_set.h"

// where(c, x, y) has the most.
enum { TL_MOST_OPERANDS = 3 };

typedef struct tl_form_ops {
  // base[step]. *out is owned, or borrows from [base].
  bool (*get)(tl_vm *vm, tl_slot base, const tl_step *step, tl_slot *parts,
              tl_slot *out);
  // n.way = value, where n is this call's to change; its parts may be shared.
  // A failure leaves what n shows as it was.
  bool (*set)(tl_vm *vm, tl_nested_path w, tl_nested *n, tl_slot *value);
  // op(slots), an operand of this form being the outermost. An operand that the
  // slot alone owns may give its memory to *out, which is owned.
  bool (*elementwise)(tl_vm *vm, tl_op op, int arity, tl_slot *slots,
                      tl_slot *out);
  // The items one behind the other along the leading axis. *out is owned.
  bool (*concat)(tl_vm *vm, int64_t count, const tl_slot *items, tl_slot *out);
} tl_form_ops;

// The outermost form among values; -1 where none is nested.
static inline int tl_outermost(int64_t count, const tl_slot *values) {
  int form = -1;
  for (int64_t i = 0; i < count; i++)
    if (tl_is_nested(values[i]) && (int)tl_nested_form(values[i].nested) > form)
      form = (int)tl_nested_form(values[i].nested);
  return form;
}

// The same of many, between which it polls. False after tl_fail.
bool tl_outermost_of(tl_vm *vm, int64_t count, const tl_slot *values,
                     int *form);

// The rows of the table, each at the end of the file that has its functions.
extern const tl_form_ops tl_option_ops, tl_struct_ops, tl_columns_ops,
    tl_ragged_ops, tl_grid_ops, tl_category_ops, tl_pointer_ops, tl_bytes_ops;

// --- Functions of the table in other files -----------------------------------

// x[i] is a view of the row. Fails (kind index) for a row or item that there is
// not, (kind shape) for a ragged index of other rows.
bool tl_ragged_get(tl_vm *vm, tl_slot base, const tl_step *step, tl_slot *parts,
                   tl_slot *out);

// One answer for each item: whether all fields are equal, whatever axes and
// rows they have. It is missing where that depends on a missing value. An
// operand may be one item, a record or a list. where chooses whole structs;
// other operations fail.
bool tl_structs_elementwise(tl_vm *vm, tl_op op, int arity, tl_slot *slots,
                            tl_slot *out);
// The items of all rows at once; fails (kind shape) for other rows.
bool tl_rows_elementwise(tl_vm *vm, tl_op op, int arity, tl_slot *slots,
                         tl_slot *out);

// Matrices among them become rows; a vector fails.
bool tl_rows_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                    tl_slot *out);

// As print writes it, of arrays of more than [limit] items the edges (0: all).
bool tl_nested_format(tl_text *text, tl_slot s, int64_t limit);
