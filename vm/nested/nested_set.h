// Places that are written to, between vm/index/path.c, which walks them in any
// values, and the forms (forms.h).
#pragma once

#include "vm/nested/nested.h"
#include "vm/index/select.h"

// Where a place is put together anew.
enum {
  TL_MOST_STEPS = 16,
  TL_MOST_ITEMS = 2 * TL_MAX_DIMS + 3,
  TL_MOST_PARTS = 64
};

// The name of a field that a step gives: .x or ["x"]; NULL: an index.
static inline tl_string *tl_step_name(const tl_step *step,
                                      const tl_slot *parts) {
  bool is_value = step->item_count == 1 && step->items[0].kind == TL_ITEM_VALUE;
  if (step->field == NULL && is_value && tl_is_string(parts[0]))
    return parts[0].string;
  return step->field;
}

// A place that is put together anew, with the room for what it consists of.
typedef struct tl_nested_place {
  tl_nested_path way;
  tl_step steps[TL_MOST_STEPS];
  tl_index_item items[TL_MOST_ITEMS];
  tl_slot parts[TL_MOST_PARTS];
} tl_nested_place;
static const tl_index_item tl_one_value = {.kind = TL_ITEM_VALUE};
static const tl_index_item tl_whole_axis = {.kind = TL_ITEM_SLICE};
static const tl_index_item tl_one_slice = {
    .kind = TL_ITEM_SLICE, .given = TL_SLICE_START | TL_SLICE_STOP};
// to->way becomes an index of [item], with its values, and then what [rest]
// has: in the rest's first index, of which it stands for the first [taken]
// items (0 or 1), or with -1 as a step of its own. False without an error:
// there is no room for all.
bool tl_place_begin(tl_nested_place *to, tl_index_item item,
                    const tl_slot *values, tl_nested_path rest, int taken);
// The way that is an index of one value.
static inline tl_nested_path tl_way_one(tl_slot *value) {
  return (tl_nested_path){&tl_index_one, 1, value};
}

// A part (a heap slot) updated where it is: in its memory if that is this
// slot's alone, else on a copy that takes its place. With no step left the part
// itself is replaced, in its own type and shape. The part's type stays: no
// column is added.
bool tl_part_update(tl_vm *vm, tl_nested_path w, tl_slot *part, tl_slot *value);

// Whether a record or struct array has the fields of [layout] and no others;
// the error where it has not; its field of that name, borrowed or owned.
bool tl_struct_has_fields(const tl_type *layout, tl_slot value);
bool tl_struct_fail_fields(tl_vm *vm, const tl_type *layout, tl_slot value);
bool tl_struct_value_field(tl_vm *vm, tl_slot value, tl_string *name,
                           tl_slot *out);
