// A place that is put together anew: an index in front of another. See
// nested_set.h.
//
// The forms use it to go on in a part: what they have worked out (a row's
// slice, places) stands in front, and the rest of the way behind it.
#include "vm/nested/nested_set.h"

// For an item and a rest [i, …].f:
//
//   taken 1      (item, …)      the item instead of i, in one index
//   taken 0      (item, i, …)   in front of it
//   taken -1     (item)[i, …]   one step more
//
// What stands in *to borrows from [values] and [rest]; it is not copied when
// *to is, since way refers into it.
bool tl_place_begin(tl_nested_place *to, tl_index_item item,
                    const tl_slot *values, tl_nested_path rest, int taken) {
  int own = tl_item_parts(item), behind = 0, left_out = 0, more = 0;
  for (int i = 0; i < rest.count; i++) behind += tl_step_parts(&rest.steps[i]);
  if (taken >= 0) {
    // The rest's first step becomes this one, but for the item that is taken.
    left_out = taken > 0 ? tl_item_parts(rest.steps->items[0]) : 0;
    more = rest.steps->item_count - taken;
    if (more >= TL_MOST_ITEMS)
      return false;
    memcpy(to->items + 1, rest.steps->items + taken,
           (size_t)more * sizeof *to->items);
  }
  int merged = taken >= 0, steps = rest.count - merged;
  behind -= left_out;
  if (steps + 1 > TL_MOST_STEPS || own + behind > TL_MOST_PARTS)
    return false;
  to->items[0] = item;
  to->steps[0] =
      (tl_step){.item_count = (uint16_t)(1 + more), .items = to->items};
  for (int i = 0; i < steps; i++) to->steps[1 + i] = rest.steps[merged + i];
  for (int i = 0; i < own; i++) to->parts[i] = values[i];
  for (int i = 0; i < behind; i++)
    to->parts[own + i] = rest.parts[left_out + i];
  to->way = (tl_nested_path){to->steps, steps + 1, to->parts};
  return true;
}
