// A place that is put together anew: an index in front of another. See
// nested_set.h.
//
// The forms use it to go on in a part: what they have worked out (a row's
// slice, places) stands in front, and the rest of the way behind it.
#include "vm/nested/nested_set.h"

#include <string.h>

// For x[i, j].f, an item and, of the rest, [j].f:
//
//   merges       (item, …)      the item instead of j, in one index
//   else         (item)[j].f    one step more
//
// What stands in *to borrows from [values] and [rest]; it is not copied when
// *to is, since way refers into it.
bool tl_place_begin(tl_nested_place *to, tl_index_item item,
                    const tl_slot *values, tl_nested_path rest, bool merges) {
  int own = tl_item_parts(item), behind = 0, left_out = 0, count = 1;
  for (int i = 0; i < rest.count; i++) behind += tl_step_parts(&rest.steps[i]);
  if (merges) {
    // The rest's first step becomes this one, but for its first item.
    left_out = tl_item_parts(rest.steps->items[0]);
    count = rest.steps->item_count;
    if (count > TL_MOST_ITEMS)
      return false;
    memcpy(to->items, rest.steps->items, (size_t)count * sizeof *to->items);
  }
  int steps = rest.count - merges;
  behind -= left_out;
  if (steps + 1 > TL_MOST_STEPS || own + behind > TL_MOST_PARTS)
    return false;
  to->items[0] = item;
  to->steps[0] = (tl_step){.item_count = (uint16_t)count, .items = to->items};
  for (int i = 0; i < steps; i++) to->steps[1 + i] = rest.steps[merges + i];
  for (int i = 0; i < own; i++) to->parts[i] = values[i];
  for (int i = 0; i < behind; i++)
    to->parts[own + i] = rest.parts[left_out + i];
  to->way = (tl_nested_path){to->steps, steps + 1, to->parts};
  return true;
}
