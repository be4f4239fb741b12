// Elementwise operations on nested arrays: the engine runs over their parts.
//
//   RAGGED   over the items of all rows at once; the offsets are shared
//   OPTION   over the values; the result is missing where an operand is, but
//            for and, or and where, which may know their result (as in R)
//   STRUCT   == and != alone (struct_equal.h)
#include "vm/nested/forms.h"
#include "vm/nested/nested_elementwise.h"

#include <inttypes.h>
#include <string.h>

#include "vm/array/describe.h"
#include "vm/engine/engine.h"
#include "vm/error.h"
#include "vm/nested/grid.h"
#include "vm/kernels/kernels.h"
#include "vm/values/list.h"
#include "vm/nested/nested_set.h"
#include "vm/nested/parts.h"
#include "vm/nested/ragged.h"
#include "vm/nested/struct_equal.h"
#include "vm/values/record.h"
#include "vm/region/region.h"
#include "vm/vm.h"
#include "vm/objects.h"

enum { MOST = 3 };  // operands

// --- Operands ---------------------------------------------------------------

// A part of an operand that dies here is moved out, so that the result may take
// its memory; a failure puts it back.
typedef struct borrowed {
  tl_slot value;
  tl_slot *home;  // where it was moved from, or NULL
} borrowed;

static void lend(tl_vm *vm, tl_slot *operand, tl_slot *part, borrowed *out) {
  out->home = NULL;
  out->value = tl_borrow(*part);
  if (operand == NULL || !tl_is_unique(*operand) || vm->no_reuse)
    return;
  out->home = part;
  out->value = *part;
  part->tag &= ~TL_OWNED;
}

static void give_back(tl_vm *vm, borrowed *b, bool ok) {
  if (b->home == NULL) {
    tl_clear(vm, &b->value);
  } else if (!ok) {
    b->home->tag |= b->value.tag & TL_OWNED;
  } else {
    // Taken over or no longer wanted: the operand ends without this part.
    tl_clear(vm, &b->value);
    *b->home = tl_none();
  }
}

// --- Rows -------------------------------------------------------------------

static bool fail_rows(tl_vm *vm, tl_slot a, tl_slot b, int64_t row) {
  char x[TL_DESCRIBE], y[TL_DESCRIBE];
  tl_describe(a, x, sizeof x);
  tl_describe(b, y, sizeof y);
  if (row < 0) {
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "%s and %s do not broadcast: %" PRId64
                   " rows against %" PRId64,
                   x, y, tl_value_length(a, 0), tl_value_length(b, 0));
  }
  int64_t from, to, other, end;
  tl_ragged_row(a.nested, row, &from, &to);
  tl_ragged_row(b.nested, row, &other, &end);
  return tl_fail(vm, TALLY_ERR_SHAPE,
                 "%s and %s do not broadcast: row %" PRId64 " has %" PRId64
                 " items against %" PRId64,
                 x, y, row, to - from, end - other);
}

bool tl_ragged_parents(tl_vm *vm, const tl_nested *n, tl_array **out) {
  const int64_t *at = tl_ragged_offsets(n);
  int64_t rows = tl_ragged_rows(n);
  tl_array *places = tl_positions_new(vm, at[rows] - at[0]);
  if (places == NULL)
    return false;
  int64_t *to = tl_offsets_data(places);
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t k = at[i]; k < at[i + 1]; k++) *to++ = i;
  }
  *out = places;
  return true;
}

// The same of plain items, one after the other.
static bool spread_items(tl_vm *vm, const tl_array *values,
                         const tl_nested *model, tl_slot *out) {
  enum { ROWS = 1 << 14 };
  const int64_t *at = tl_ragged_offsets(model);
  int64_t rows = tl_ragged_rows(model), total = at[rows] - at[0];
  int64_t step = tl_strides(values)[0];
  size_t size = tl_itemsize(tl_array_dtype(values));
  tl_spread *spread = tl_kernels()->spread[tl_move_size(size)];
  tl_array *to = tl_array_new(vm, tl_array_dtype(values), 1, &total);
  for (int64_t i = 0; to != NULL && i < rows; i += ROWS) {
    int64_t n = rows - i < ROWS ? rows - i : ROWS;
    spread(to->data + (size_t)(at[i] - at[0]) * size, values->data + i * step,
           step, at + i, at[i], (size_t)(at[i + n] - at[i]));
    if (tl_poll(vm, (uint64_t)(at[i + n] - at[i]) / 1024 + 1))
      continue;
    tl_drop(vm, tl_own_array(to));
    return false;
  }
  if (to != NULL)
    *out = tl_own_array(to);
  return to != NULL;
}

// A value per row, as often as the row has items.
static bool spread(tl_vm *vm, tl_slot per_row, const tl_nested *model,
                   tl_slot *out) {
  if (tl_is_array(per_row) && tl_array_dtype(per_row.array) < TL_STRING)
    return spread_items(vm, per_row.array, model, out);
  tl_array *parents;
  if (!tl_ragged_parents(vm, model, &parents))
    return false;
  return tl_take_at(vm, true, per_row, parents, out);
}

// Whether these are values in a block, which may be missing.
static bool is_plain(tl_slot s) {
  return tl_is_array(s) ||
         (tl_is_form(s, TL_FORM_OPTION) && tl_is_array(s.nested->parts[1]));
}

// A column is a value per row without its axis of one.
static bool drop_axis(tl_vm *vm, tl_slot s, tl_slot *out) {
  int64_t rows = tl_value_length(s, 0);
  return tl_value_reshape(vm, s, 2, 1, &rows, out);
}

// The items of one operand as those of the model's rows.
static bool row_items(tl_vm *vm, tl_slot *operand, tl_slot model,
                      borrowed *out) {
  tl_slot s = *operand;
  const tl_nested *m = model.nested;
  int64_t row;
  *out = (borrowed){tl_borrow(s), NULL};
  if (tl_is_form(s, TL_FORM_RAGGED)) {
    tl_nested *n = s.nested;
    if (!tl_ragged_agree(m, n, &row))
      return fail_rows(vm, model, s, row);
    const int64_t *at = tl_ragged_offsets(n);
    if (at[0] == 0 &&
        at[tl_ragged_rows(n)] == tl_value_length(n->parts[1], 0)) {
      lend(vm, operand, &n->parts[1], out);
      return true;
    }
    return tl_ragged_items(vm, s, &out->value);
  }
  int ndim = tl_value_ndim(s);
  if (ndim == 0)
    return true;  // one value for all
  int64_t rows = tl_ragged_rows(m), length = tl_value_length(s, 0);
  if (length == rows && ndim == 1)
    return spread(vm, s, m, &out->value);
  if (is_plain(s) && ndim == 2 && length == rows &&
      tl_value_length(s, 1) == 1) {
    tl_slot column;
    if (!drop_axis(vm, s, &column))
      return false;
    bool ok = spread(vm, column, m, &out->value);
    tl_drop(vm, column);
    return ok;
  }
  if (ndim >= 2 && length == rows) {
    tl_slot regular;
    if (!tl_ragged_of_regular(vm, s, &regular))
      return false;
    bool ok = tl_ragged_agree(m, regular.nested, &row);
    if (!ok)
      fail_rows(vm, model, regular, row);
    else
      out->value = tl_retain(vm, tl_borrow(regular.nested->parts[1]));
    tl_drop(vm, regular);
    return ok;
  }
  return fail_rows(vm, model, s, -1);
}

// Whether an operand is one value for all, in one axis or two of length one.
static bool is_one(tl_slot s) {
  int ndim = is_plain(s) ? tl_value_ndim(s) : 0;
  return (ndim == 1 || ndim == 2) && tl_value_length(s, 0) == 1 &&
         tl_value_length(s, ndim - 1) == 1;
}

static bool operand_items(tl_vm *vm, tl_slot *operand, tl_slot model,
                          borrowed *out) {
  if (!is_one(*operand))
    return row_items(vm, operand, model, out);
  *out = (borrowed){tl_borrow(*operand), NULL};
  return tl_value_ndim(*operand) == 1 || drop_axis(vm, *operand, &out->value);
}

bool tl_ragged_spread(tl_vm *vm, tl_slot s, tl_slot model, tl_slot *out) {
  borrowed items;
  tl_slot lent = tl_borrow(s);
  if (!row_items(vm, &lent, model, &items))
    return false;
  *out = items.value;
  if (!tl_is_owned(items.value))
    *out = tl_retain(vm, items.value);
  return true;
}

// Whether an operand, of which one is ragged, stands for its rows.
static bool any_per_row(int arity, const tl_slot *slots) {
  bool any = false;
  for (int i = 0; i < arity; i++)
    any |= tl_is_array(slots[i]) && tl_ndim(slots[i].array) > 0;
  return any;
}

bool tl_rows_elementwise(tl_vm *vm, tl_op op, int arity, tl_slot *slots,
                         tl_slot *out) {
  borrowed items[MOST];
  tl_slot values[MOST], result, offsets, unused;
  tl_slot model = tl_none();
  int opened = 0;
  for (int i = arity - 1; i >= 0; i--) {
    if (tl_is_form(slots[i], TL_FORM_RAGGED))
      model = tl_borrow(slots[i]);
  }
  const int64_t *at = tl_ragged_offsets(model.nested);
  if (at[tl_ragged_rows(model.nested)] >= TL_REGION_LARGE &&
      any_per_row(arity, slots)) {
    bool done;
    if (!vm->fusion->apply_rows(vm, (int)op, arity, slots, out, &done))
      return false;
    if (done)
      return true;
  }
  if (at[0] == 0) {
    offsets = tl_retain(vm, tl_borrow(model.nested->parts[0]));
  } else {
    if (!tl_ragged_flat(vm, model, &offsets, &unused))
      return false;
    tl_drop(vm, unused);
  }
  // Made before anything is written into an operand: then nothing fails.
  tl_nested *made = tl_nested_new(vm, TL_FORM_RAGGED, 1, 2, NULL);
  bool ok = made != NULL;
  while (ok && opened < arity) {
    ok = operand_items(vm, &slots[opened], model, &items[opened]);
    values[opened] = ok ? items[opened].value : tl_none();
    opened += ok;
  }
  ok = ok && tl_elementwise(vm, op, values, &result);
  for (int i = 0; i < opened; i++) {
    items[i].value = values[i];
    give_back(vm, &items[i], ok);
  }
  if (!ok) {
    tl_drop(vm, offsets);
    if (made != NULL)
      tl_drop(vm, tl_own_nested(made));
    return false;
  }
  tl_nested_put(vm, made, 0, &offsets);
  tl_nested_put(vm, made, 1, &result);
  *out = tl_own_nested(made);
  return true;
}

// --- Missing values ---------------------------------------------------------

// The mask of an operand: false for what cannot be missing.
static tl_slot mask_of(tl_slot s) {
  if (tl_is_none(s))
    return tl_bool(true);
  return tl_is_form(s, TL_FORM_OPTION) ? tl_borrow(s.nested->parts[0])
                                       : tl_bool(false);
}

static bool any_mask(tl_vm *vm, int arity, const tl_slot *slots, tl_slot *out) {
  tl_slot mask = tl_bool(false);
  bool first = true;
  for (int i = 0; i < arity; i++) {
    tl_slot own = mask_of(slots[i]);
    if (!tl_is_array(own))
      continue;
    if (first) {
      mask = tl_retain(vm, own);
      first = false;
    } else if (!tl_compute_into(vm, TL_OP_LOGICAL_OR, &mask, own)) {
      tl_drop(vm, mask);
      return false;
    }
  }
  tl_copy_slot(out, &mask);
  return true;
}

// Where an operand is known to be [value]: there, and so.
static bool known(tl_vm *vm, tl_slot s, tl_slot plain, bool value,
                  tl_slot *out) {
  tl_slot there, so = tl_none();
  tl_slot mask = mask_of(s);
  if (!tl_compute1(vm, TL_OP_LOGICAL_NOT, mask, &there))
    return false;
  bool ok = value ? tl_compute2(vm, TL_OP_LOGICAL_AND, there, plain, out)
                  : tl_compute1(vm, TL_OP_LOGICAL_NOT, plain, &so) &&
                        tl_compute2(vm, TL_OP_LOGICAL_AND, there, so, out);
  tl_drop(vm, there);
  tl_drop(vm, so);
  return ok;
}

// false and missing is false, true or missing is true: those are not missing.
static bool logic_mask(tl_vm *vm, bool deciding, const tl_slot *slots,
                       const tl_slot *plain, tl_slot *mask) {
  tl_slot a = tl_none(), b = tl_none(), sure = tl_none(), open = tl_none();
  bool ok = known(vm, slots[0], plain[0], deciding, &a) &&
            known(vm, slots[1], plain[1], deciding, &b) &&
            tl_compute2(vm, TL_OP_LOGICAL_OR, a, b, &sure) &&
            tl_compute1(vm, TL_OP_LOGICAL_NOT, sure, &open) &&
            tl_compute_into(vm, TL_OP_LOGICAL_AND, mask, open);
  tl_drop(vm, a);
  tl_drop(vm, b);
  tl_drop(vm, sure);
  tl_drop(vm, open);
  return ok;
}

// The value of a decided result: true or missing is true whatever lies there.
static bool logic_value(tl_vm *vm, bool deciding, const tl_slot *slots,
                        const tl_slot *plain, tl_slot *out) {
  tl_slot a = tl_none(), b = tl_none();
  bool ok = known(vm, slots[0], plain[0], deciding, &a) &&
            known(vm, slots[1], plain[1], deciding, &b);
  tl_slot sure = tl_none();
  ok = ok && tl_compute2(vm, TL_OP_LOGICAL_OR, a, b, &sure);
  if (ok && deciding) {
    tl_copy_slot(out, &sure);
  } else if (ok) {
    ok = tl_compute1(vm, TL_OP_LOGICAL_NOT, sure, out);
    tl_drop(vm, sure);
  }
  tl_drop(vm, a);
  tl_drop(vm, b);
  return ok;
}

// Masks of where: the condition's, and of the values those that are chosen.
static bool where_mask(tl_vm *vm, const tl_slot *slots, const tl_slot *plain,
                       tl_slot *out) {
  tl_slot chosen, mask;
  if (!tl_compute3(vm, TL_OP_WHERE, plain[0], mask_of(slots[1]),
                   mask_of(slots[2]), &chosen)) {
    return false;
  }
  bool ok = tl_compute2(vm, TL_OP_LOGICAL_OR, chosen, mask_of(slots[0]), &mask);
  tl_drop(vm, chosen);
  if (ok)
    tl_copy_slot(out, &mask);
  return ok;
}

static bool same_shape(const tl_array *a, const tl_array *b) {
  return tl_ndim(a) == tl_ndim(b) &&
         memcmp(tl_shape(a), tl_shape(b),
                (size_t)tl_ndim(a) * sizeof(int64_t)) == 0;
}

// The mask as an array of the values' shape; takes both where it fails.
static bool spread_mask(tl_vm *vm, tl_slot *mask, tl_slot *values) {
  const tl_array *v = values->array;
  if (!tl_is_array(*mask) || !same_shape(mask->array, v)) {
    tl_slot item;
    tl_array *whole = tl_array_new(vm, TL_BOOL, tl_ndim(v), tl_shape(v));
    bool ok = whole != NULL && tl_as_array(vm, "mask", *mask, &item);
    if (ok) {
      ok = tl_array_assign(vm, whole, item.array);
      tl_drop(vm, item);
    }
    tl_clear(vm, mask);
    if (!ok) {
      if (whole != NULL)
        tl_drop(vm, tl_own_array(whole));
      tl_clear(vm, values);
      return false;
    }
    *mask = tl_own_array(whole);
  }
  return true;
}

bool tl_option_of(tl_vm *vm, tl_slot *mask, tl_slot *values, tl_slot *out) {
  return spread_mask(vm, mask, values) &&
         tl_nested_pair(vm, TL_FORM_OPTION, tl_ndim(values->array), mask,
                        values, out);
}

static bool is_logic(tl_op op, bool *deciding) {
  *deciding = op == TL_OP_LOGICAL_OR || op == TL_OP_BITWISE_OR;
  return *deciding || op == TL_OP_LOGICAL_AND || op == TL_OP_BITWISE_AND;
}

static bool is_bools(tl_slot s) {
  if (tl_is_form(s, TL_FORM_OPTION))
    s = s.nested->parts[1];
  return (tl_is_array(s) || tl_is_scalar(s)) && tl_dtype_of(s) == TL_BOOL;
}

// Integer divisors and exponents are checked item by item: what lies where one
// is missing must not fail.
static bool is_checked(tl_op op) {
  return op == TL_OP_FLOOR_DIVIDE || op == TL_OP_REMAINDER || op == TL_OP_POW ||
         op == TL_OP_LEFT_SHIFT || op == TL_OP_RIGHT_SHIFT;
}

// Values may be written where they are if the mask is that of the result:
// nothing fails behind that.
static void keep_unlike_mask(tl_vm *vm, int arity, tl_slot mask,
                             borrowed *parts, tl_slot *plain) {
  for (int i = 0; i < arity; i++) {
    if (parts[i].home == NULL || (tl_is_array(mask) && tl_is_array(plain[i]) &&
                                  same_shape(mask.array, plain[i].array)))
      continue;
    give_back(vm, &parts[i], false);
    plain[i] = tl_borrow(plain[i]);
    parts[i] = (borrowed){plain[i], NULL};
  }
}

bool tl_options_elementwise(tl_vm *vm, tl_op op, int arity, tl_slot *slots,
                            tl_slot *out) {
  borrowed parts[MOST];
  tl_slot plain[MOST], mask = tl_none(), result = tl_none();
  tl_nested *made = NULL;
  bool deciding = false;
  // where(c, none, x) makes items missing: anything lies there.
  int gap = op == TL_OP_WHERE ? 1 + tl_is_none(slots[2]) : 0;
  for (int i = 0; i < arity; i++) {
    if (!tl_is_none(slots[i]) || (i == gap && !tl_is_none(slots[3 - i])))
      continue;
    char text[TL_DESCRIBE];
    return tl_fail(
        vm, TALLY_ERR_TYPE,
        "%s with none: is_missing(x) asks, fill_missing(x, value) "
        "replaces",
        tl_describe(slots[1 - i < 0 ? 0 : 1 - i], text, sizeof text));
  }
  bool logic = arity == 2 && is_logic(op, &deciding) && is_bools(slots[0]) &&
               is_bools(slots[1]);
  for (int i = 0; i < arity; i++) {
    tl_slot *from = tl_is_none(slots[i]) ? &slots[3 - i] : &slots[i];
    bool option = tl_is_form(*from, TL_FORM_OPTION);
    bool whole = logic || op == TL_OP_WHERE;
    if (option)
      lend(vm, whole ? NULL : from, &from->nested->parts[1], &parts[i]);
    else
      parts[i] = (borrowed){tl_borrow(*from), NULL};
    plain[i] = parts[i].value;
  }
  bool ok = true;
  if (is_checked(op) && arity == 2 && tl_is_form(slots[1], TL_FORM_OPTION)) {
    tl_slot safe;
    ok = tl_compute3(vm, TL_OP_WHERE, mask_of(slots[1]), tl_weak_int(1),
                     plain[1], &safe);
    if (ok) {
      give_back(vm, &parts[1], false);
      parts[1] = (borrowed){safe, NULL};
      plain[1] = safe;
    }
  }
  if (ok && op == TL_OP_WHERE)
    ok = where_mask(vm, slots, plain, &mask);
  else if (ok)
    ok = any_mask(vm, arity, slots, &mask);
  if (ok && logic) {
    ok = logic_mask(vm, deciding, slots, plain, &mask) &&
         logic_value(vm, deciding, slots, plain, &result);
  } else if (ok) {
    keep_unlike_mask(vm, arity, mask, parts, plain);
    made = tl_nested_new(vm, TL_FORM_OPTION, 0, 2, NULL);
    ok = made != NULL && tl_elementwise(vm, op, plain, &result);
  }
  for (int i = 0; i < arity; i++) {
    parts[i].value = plain[i];
    give_back(vm, &parts[i], ok);
  }
  if (ok && tl_is_number(result)) {
    // One complex number, which has an array of its own: there or none.
    bool missing = tl_is_array(mask) ? mask.array->data[0] != 0 : mask.i != 0;
    if (missing)
      tl_clear(vm, &result);
    *out = missing ? tl_none() : result;
    tl_clear(vm, &mask);
    if (made != NULL)
      tl_drop(vm, tl_own_nested(made));
    return true;
  }
  if (made == NULL && ok)
    return tl_option_of(vm, &mask, &result, out);
  if (ok && spread_mask(vm, &mask, &result)) {
    made->head.ndim = (uint8_t)tl_ndim(result.array);
    tl_nested_put(vm, made, 0, &mask);
    tl_nested_put(vm, made, 1, &result);
    *out = tl_own_nested(made);
    return true;
  }
  if (made != NULL)
    tl_drop(vm, tl_own_nested(made));
  if (!ok)
    tl_clear(vm, &mask);
  return false;
}

// --- Any --------------------------------------------------------------------

// What a value's items are, as far as == is concerned: others than numbers are
// never equal to these, nor texts.
typedef enum item_kind { NUMBERS, TEXTS, FIELDS, OTHERS } item_kind;

static item_kind kind_of(tl_slot s) {
  while (tl_is_nested(s)) {
    if (tl_has_fields(s))
      return FIELDS;
    s = s.nested->parts[1];
  }
  if (tl_is_string(s) || (tl_is_array(s) && tl_dtype_of(s) == TL_STRING))
    return TEXTS;
  return tl_is_array(s) || tl_is_scalar(s) ? NUMBERS : OTHERS;
}

// A record or list beside structs, in rows too, stands for one of them.
static bool never_equal(tl_slot a, tl_slot b) {
  item_kind x = kind_of(a), y = kind_of(b);
  if (x == FIELDS || y == FIELDS) {
    tl_slot other = x == FIELDS ? b : a;
    return tl_is_none(other) ||
           (x != y && !tl_is_record(other) && !tl_is_list(other) &&
            !tl_has_fields(a) && !tl_has_fields(b));
  }
  return x != y;
}

bool tl_nested_elementwise(tl_vm *vm, tl_op op, tl_slot *slots, tl_slot *out) {
  int arity = tl_ops[op].arity, form = tl_outermost(arity, slots);
  bool spelled = form == TL_FORM_CATEGORY || form == TL_FORM_POINTER;
  bool beside_none =
      arity == 2 && (tl_is_none(slots[0]) || tl_is_none(slots[1]));
  bool opened = form == TL_FORM_BYTES || (spelled && !beside_none);
  // Against a list or another kind of value == is one bool.
  if (!opened && (op == TL_OP_EQUAL || op == TL_OP_NOT_EQUAL) &&
      never_equal(slots[0], slots[1])) {
    *out = tl_bool(op == TL_OP_NOT_EQUAL);
    return true;
  }
  if (form < 0 || (spelled && !opened))
    form = TL_FORM_OPTION;  // which knows none
  return tl_forms[form].elementwise(vm, op, arity, slots, out);
}

// --- What the layers below call ---------------------------------------------

static bool set(tl_vm *vm, const tl_nested_path *way, tl_slot target,
                bool in_place, bool may_widen, tl_slot *value,
                tl_nested **out) {
  return tl_nested_set(vm, *way, target, in_place, may_widen, value, out);
}

static bool elementwise(tl_vm *vm, int op, tl_slot *slots, tl_slot *out) {
  return tl_nested_elementwise(vm, (tl_op)op, slots, out);
}

static tl_type *type_of(tl_vm *vm, tl_slot s) {
  return tl_type_below(vm, s, 0);
}

const struct tl_nested_ops tl_nested_ops = {
    .copy = tl_nested_copy,
    .equal = tl_equal,
    .type = type_of,
    .field = tl_field_get,
    .attribute_place = tl_attribute_place,
    .fail_no_field = tl_fail_no_key,
    .get = tl_nested_get,
    .get_mask = tl_option_mask_get,
    .known_mask = tl_option_known,
    .set = set,
    .elementwise = elementwise,
    .format = tl_nested_format,
    .display = tl_nested_display,
};
