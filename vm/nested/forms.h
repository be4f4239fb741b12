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
#ifndef TALLY_VM_NESTED_FORMS_H
#define TALLY_VM_NESTED_FORMS_H

#include "vm/engine/elementwise.h"
#include "vm/nested/nested.h"
#include "vm/nested/nested_set.h"
#include "vm/text/format.h"

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
  for (int64_t i = 0; i < count; i++) {
    if (tl_is_nested(values[i]) && (int)tl_nested_form(values[i].nested) > form)
      form = (int)tl_nested_form(values[i].nested);
  }
  return form;
}

// --- The functions in the table ---------------------------------------------
// Structs in a block and by columns share what is said of structs; categories
// and pointers what is said of indexed arrays.

bool tl_option_get(tl_vm *vm, tl_slot base, const tl_step *step, tl_slot *parts,
                   tl_slot *out);
bool tl_struct_get(tl_vm *vm, tl_slot base, const tl_step *step, tl_slot *parts,
                   tl_slot *out);
bool tl_columns_get(tl_vm *vm, tl_slot base, const tl_step *step,
                    tl_slot *parts, tl_slot *out);
bool tl_ragged_get(tl_vm *vm, tl_slot base, const tl_step *step, tl_slot *parts,
                   tl_slot *out);
bool tl_grid_get(tl_vm *vm, tl_slot base, const tl_step *step, tl_slot *parts,
                 tl_slot *out);
bool tl_indexed_get(tl_vm *vm, tl_slot base, const tl_step *step,
                    tl_slot *parts, tl_slot *out);
bool tl_raw_bytes_get(tl_vm *vm, tl_slot base, const tl_step *step,
                      tl_slot *parts, tl_slot *out);

bool tl_option_set(tl_vm *vm, tl_nested_path w, tl_nested *n, tl_slot *value);
bool tl_struct_set(tl_vm *vm, tl_nested_path w, tl_nested *n, tl_slot *value);
bool tl_columns_set(tl_vm *vm, tl_nested_path w, tl_nested *n, tl_slot *value);
bool tl_ragged_set(tl_vm *vm, tl_nested_path w, tl_nested *n, tl_slot *value);
bool tl_grid_set(tl_vm *vm, tl_nested_path w, tl_nested *n, tl_slot *value);
bool tl_category_set(tl_vm *vm, tl_nested_path w, tl_nested *n, tl_slot *value);
bool tl_pointer_set(tl_vm *vm, tl_nested_path w, tl_nested *n, tl_slot *value);
bool tl_raw_bytes_set(tl_vm *vm, tl_nested_path w, tl_nested *n,
                      tl_slot *value);

bool tl_options_elementwise(tl_vm *vm, tl_op op, int arity, tl_slot *slots,
                            tl_slot *out);
// One answer for each item: whether all fields are equal, whatever axes and
// rows they have. It is missing where that depends on a missing value. An
// operand may be one item, a record or a list. where chooses whole structs;
// other operations fail.
bool tl_structs_elementwise(tl_vm *vm, tl_op op, int arity, tl_slot *slots,
                            tl_slot *out);
bool tl_rows_elementwise(tl_vm *vm, tl_op op, int arity, tl_slot *slots,
                         tl_slot *out);
bool tl_grid_elementwise(tl_vm *vm, tl_op op, int arity, tl_slot *slots,
                         tl_slot *out);
// == and != with one value compare codes; anything else works on the values.
bool tl_indexed_elementwise(tl_vm *vm, tl_op op, int arity, tl_slot *slots,
                            tl_slot *out);
bool tl_raw_bytes_elementwise(tl_vm *vm, tl_op op, int arity, tl_slot *slots,
                              tl_slot *out);

bool tl_options_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                       tl_slot *out);
bool tl_structs_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                       tl_slot *out);
bool tl_rows_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                    tl_slot *out);
bool tl_grid_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                    tl_slot *out);
// By their values.
bool tl_indexed_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                       tl_slot *out);
bool tl_raw_bytes_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                         tl_slot *out);

// As print writes it, of arrays of more than [limit] items the edges (0: all),
// and as the prompt shows it in lines of [width].
bool tl_nested_format(tl_text *text, tl_slot s, int64_t limit);
bool tl_nested_display(tl_text *text, tl_slot s, int width);

#endif
