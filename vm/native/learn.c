// What items are: seen where a unit left, or at a door, and kept for the next
// unit that is made of the function.
//
//     unit leaves before `t1 = getf b.x` ─▶ tl_jit_learn looks at b.x
//       its tag is new here ─▶ flow->seen[pc]; units that this concerns go
//
// Two tags are kept of each instruction, so a function is made anew at most
// twice for each. The owned bit is not among what is kept of an item: a read
// borrows, whether the container owns the item or not.
//
//     instruction          seen[2 pc]             seen[2 pc + 1]
//     GETF, GETEL, NEXT    the item's tag         a second one that it had
//     TAKE                 the item's tag         its container's, with the bit
//     SETPATH              the container's, too   -
//     CALLB of pop         the last item's tag    a second one that it had
//
// Nothing that is looked at is believed: the code compares the tag each time.
// So it does no harm that the slots are those of another iteration than the one
// that will run, or that a path is not taken as far as this looks.
#include "vm/native/jit_internal.h"

#include <string.h>

#include "vm/array/element.h"
#include "vm/builtin.h"
#include "vm/values/list.h"
#include "vm/values/record.h"

// Fields of instructions have slots times 16, the bytes of one, as the
// interpreter adds them to its base.
static tl_slot *slot_at(const tl_frame *frame, uint32_t offset) {
  return &frame->base[offset >> 4];
}

// The slot of an item of a list or a record, by a step of a path whose index is
// *parts; NULL: there is none. An index is taken from *parts, which then is the
// next step's. A field is looked for where the step's hint says first, and the
// hint is set, which typing needs.
static tl_slot *find_step(tl_slot container, const tl_step *step,
                          const tl_slot **parts) {
  if (step->field != NULL)
    return tl_is_record(container)
               ? tl_record_get_hinted(container.record, step->field,
                                      tl_step_hint(step))
               : NULL;
  if (!tl_is_list(container) || step->item_count != 1 ||
      step->items[0].kind != TL_ITEM_VALUE ||
      (uint8_t)(*parts)->tag != TL_CLASS_I64)
    return NULL;
  int64_t i = (*parts)++->i;
  return tl_index_wrap(&i, container.list->length) ? &container.list->items[i]
                                                   : NULL;
}

// The container that the last step of a path indexes; NULL: it is not reached,
// as one on the way is missing, or is neither a list nor a record.
// *parts is then the last step's index.
static const tl_slot *find_last(const tl_slot *target, const tl_path *path,
                                const tl_slot **parts) {
  for (int i = 0; i + 1 < path->step_count && target != NULL; i++) {
    if (!tl_is_list(*target) && !tl_is_record(*target))
      return NULL;
    target = find_step(*target, &path->steps[i], parts);
  }
  return target;
}

// The tag of the item of a place; *container is that of what it is in. 0: there
// is none.
static uint64_t look_at_place(const tl_slot *target, const tl_path *path,
                              const tl_slot *parts, uint64_t *container) {
  const tl_slot *last = path->spreads ? NULL : find_last(target, path, &parts);
  tl_slot item;
  *container = last == NULL ? 0 : last->tag;
  if (last == NULL)
    return 0;
  if (tl_is_array(*last))
    return tl_item_get(&item, last, parts) ? item.tag : 0;
  const tl_slot *place =
      tl_is_list(*last) || tl_is_record(*last)
          ? find_step(*last, &path->steps[path->step_count - 1], &parts)
          : NULL;
  return place == NULL ? 0 : place->tag;
}

// What pop(l) is about to take from a list, borrowed from it; NULL: it is
// another call, or the list is empty. A call of pop with a key has a key behind
// the list, and takes another item than the last; its tag does no harm.
static const tl_slot *find_popped(const tl_frame *frame, const tl_ins *ins) {
  const tl_builtin *builtin =
      frame->function->constants[tl_ins_extra(ins[1])].pointer;
  const tl_slot *list = slot_at(frame, ins->a) + 1;
  return ins->b == 2 && builtin->name != NULL &&
                 strcmp(builtin->name, "pop") == 0 && tl_is_list(*list) &&
                 list->list->length > 0
             ? &list->list->items[list->list->length - 1]
             : NULL;
}

// The tag of what the instruction is about to read, or 0. [second] is the
// container's tag of an update. Nothing changes but hints, and nothing is
// counted: the item is in [item] for as long as its tag is read. What the
// instruction would refuse has no tag; the error is the interpreter's.
static uint64_t look(const tl_frame *frame, const tl_ins *ins,
                     uint64_t *second) {
  const tl_unit *unit = frame->function->unit;
  const tl_slot *b = slot_at(frame, ins->b), *found = NULL;
  tl_slot item;
  *second = 0;
  switch (ins->op) {
    case TL_BC_GETF:
      found = tl_is_record(*b)
                  ? tl_record_get_hinted(b->record,
                                         unit->names[tl_ins_extra(ins[1])],
                                         tl_ins_hint(ins))
                  : NULL;
      return found == NULL ? 0 : found->tag;
    case TL_BC_GETEL:
    case TL_BC_TAKEEL:
      return tl_is_list(*b) && tl_item_get(&item, b, slot_at(frame, ins->c))
                 ? item.tag
                 : 0;
    case TL_BC_NEXT:
      return tl_is_list(*b) && tl_item_get(&item, b, b + 1) ? item.tag : 0;
    case TL_BC_CALLB:
      found = find_popped(frame, ins);
      return found == NULL ? 0 : found->tag;
    case TL_BC_TAKE:
      return look_at_place(b, &unit->paths[tl_ins_extra(ins[1])],
                           slot_at(frame, ins->a) + 1, second);
    case TL_BC_SETPATH:
      look_at_place(slot_at(frame, ins->a), &unit->paths[tl_ins_extra(ins[1])],
                    slot_at(frame, ins->c), second);
      return *second;
    default:
      return 0;
  }
}

// Keeps a tag where there is room and it is new; whether it was kept. [room] is
// how many places there are at [seen]. A third tag of a place is never kept:
// units leave there from then on.
static bool keep(uint64_t *seen, uint64_t tag, int room) {
  for (int i = 0; i < room; i++) {
    if (seen[i] == tag)
      return false;
    if (seen[i] == 0) {
      seen[i] = tag;
      return true;
    }
  }
  return false;
}

// An item that is not there, or that the instruction does not read, teaches
// nothing. A container is kept even where the item's tag was known.
bool tl_jit_learn(const tl_jit_flow *flow, const tl_frame *frame) {
  uint32_t pc = (uint32_t)(frame->pc - frame->function->code);
  uint64_t container, tag = look(frame, frame->pc, &container);
  uint64_t *seen = &flow->seen[2 * pc];
  if (tag == 0)
    return false;
  switch (frame->pc->op) {
    // An update has one of each: what the number is, and what it is in.
    case TL_BC_TAKE: {
      bool kept = keep(&seen[0], tag & ~TL_OWNED, 1);
      return keep(&seen[1], container, 1) || kept;
    }
    case TL_BC_SETPATH:
      return keep(seen, tag, 1);
    default:
      return keep(seen, tag & ~TL_OWNED, 2);
  }
}
