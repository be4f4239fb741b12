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
//     GETC                 the value's tag        a second one that it had
//     CALL                 the function's number  -, and a count behind
//
// Nothing that is looked at is believed: the code compares the tag each time.
// So it does no harm that the slots are those of another iteration than the one
// that will run, or that a path is not taken as far as this looks.
#include "vm/native/jit_internal.h"

#include "vm/values/record.h"

// So many functions are learned at a place that calls values.
enum { MOST_CALLED = 64 };

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

// The tag of a captured value, which is borrowed; 0: it is not set yet.
static uint64_t look_at_captured(const tl_closure *closure, const tl_ins *ins,
                                 tl_slot *item) {
  *item = tl_borrow(closure->captures[tl_ins_extra(*ins) & 0x7fffffffu]);
  return tl_is_unset(*item) ? 0 : item->tag;
}

// The number of a function that is called as a value, if it has one by now; 0:
// it has none, or is no function of a script.
static uint64_t number_of(tl_slot called) {
  const tl_prototype *p =
      tl_is_script(called) ? tl_function_prototype(called) : NULL;
  return p == NULL || p->machine_code == NULL
             ? 0
             : ((const tl_jit_function *)p->machine_code)->number;
}

// The tag of what the instruction is about to read, or 0. [second] is the
// container's tag of an update, or TL_JIT_MANY of an instruction that reads no
// item. Nothing changes but hints, and nothing is counted. Of a field or an
// item of a list *item is that, borrowed. What the instruction would refuse has
// no tag; the error is the interpreter's.
static uint64_t look(const tl_frame *frame, const tl_ins *ins, uint64_t *second,
                     tl_slot *item) {
  const tl_unit *unit = frame->function->unit;
  const tl_slot *b = slot_at(frame, ins->b), *found = NULL;
  *second = 0;
  *item = tl_none();
  switch (ins->op) {
    case TL_BC_GETF:
      found = tl_is_record(*b)
                  ? tl_record_get_hinted(b->record,
                                         unit->names[tl_ins_extra(ins[1])],
                                         tl_ins_hint(ins))
                  : NULL;
      if (found != NULL)
        *item = tl_borrow(*found);
      return found == NULL ? 0 : found->tag;
    case TL_BC_GETEL:
    case TL_BC_TAKEEL:
    case TL_BC_NEXT:
      found = ins->op == TL_BC_NEXT ? b + 1 : slot_at(frame, ins->c);
      return tl_is_list(*b) && tl_item_get(item, b, found) ? item->tag : 0;
    case TL_BC_GETC:
      return look_at_captured(frame->closure, ins, item);
    case TL_BC_CALL:
      return number_of(*b);
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
      *second = TL_JIT_MANY;
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

// What was found to differ between the function's returns, when units of it
// were typed, is told apart from now on; whether that is new.
static bool let_vary(const tl_jit_flow *flow) {
  bool is_new = (flow->varies[1] & ~flow->varies[0]) != 0;
  flow->varies[0] |= flow->varies[1];
  return is_new;
}

// Where an instruction that reads an item finds none that a unit could read, as
// of a record by its key, nobody need look again: whether that is new.
static bool see_nothing(uint64_t *seen) {
  bool is_new = false;
  for (int i = 0; i < 2; i++)
    if (seen[i] == 0) {
      is_new = true;
      seen[i] = TL_JIT_MANY;
    }
  return is_new;
}

// Keeps what was looked at; whether that is new. A container is kept even where
// the item's tag was known.
static bool keep_seen(const tl_ins *ins, uint64_t *seen, uint64_t tag,
                      uint64_t container) {
  switch (ins->op) {
    // An update has one of each: what the number is, and what it is in.
    case TL_BC_TAKE: {
      bool kept = keep(&seen[0], tag & ~TL_OWNED, 1);
      return keep(&seen[1], container, 1) || kept;
    }
    case TL_BC_SETPATH:
      return keep(seen, tag, 1);
    // The functions that were called last, one after the other: who takes a
    // function calls it many times, and is then given another one. The last
    // place has their count.
    case TL_BC_CALL: {
      uint64_t *count = &seen[TL_JIT_CALLED];
      for (int i = 0; i < TL_JIT_CALLED; i++)
        if (seen[i] == tag)
          return false;
      if (*count == MOST_CALLED)
        return false;
      seen[(*count)++ % TL_JIT_CALLED] = tag;
      return true;
    }
    default:
      return keep(seen, tag & ~TL_OWNED, 2);
  }
}

// What an instruction gives as far as that is seen from here; false: it is not.
static bool foresee(const tl_frame *at, const tl_ins *ins, tl_slot *out) {
  const tl_prototype *p = at->function;
  switch (ins->op) {
    case TL_BC_MOV:
      *out = *slot_at(at, ins->b);
      return true;
    case TL_BC_MOVB:
      *out = tl_borrow(*slot_at(at, ins->b));
      return true;
    case TL_BC_LOADK:
      *out = p->constants[tl_ins_extra(*ins)];
      return true;
    case TL_BC_LOADI:
      *out = tl_weak_int((int32_t)tl_ins_extra(*ins));
      return true;
    case TL_BC_GETG:
      *out = tl_borrow(p->unit->module->variables[tl_ins_extra(*ins)]);
      return true;
    default:
      return false;
  }
}

// Goes on over the instructions behind the frame's pc, as far as what they read
// is seen from here, so that a function is not made anew for each of them.
// Nothing runs: what an instruction would compute is not known behind it. Paths
// that would not be taken, and values of another iteration, do no harm.
//
//     t7 = getf c.nodes    seen
//     t6 = getel t7, i     seen, by t7 as it will be
//     i = add i, 1         i is not known from here on
static bool look_ahead(const tl_jit_flow *flow, const tl_frame *frame) {
  enum { AHEAD = 40 };
  const tl_prototype *p = frame->function;
  uint32_t pc = (uint32_t)(frame->pc - p->code);
  uint64_t known = flow->live[pc];
  tl_slot slots[TL_JIT_SLOTS + 1];
  tl_frame at = *frame;
  bool is_new = false;
  memcpy(slots, frame->base, p->slot_count * sizeof *slots);
  at.base = slots;
  for (int i = 0; i < AHEAD && pc < flow->count; i++) {
    const tl_ins *ins = &p->code[pc];
    tl_decoded d;
    tl_jit_one_slots one;
    tl_decode(p, pc, &d);
    tl_slot item = tl_none();
    uint64_t container, reads, writes;
    tl_jit_read_slots(&d, &reads, &writes);
    bool sees = (reads & ~known) == 0 && foresee(&at, ins, &item);
    if ((reads & ~known) == 0 && !sees) {
      uint64_t tag = look(&at, ins, &container, &item);
      sees = tag != 0 && !tl_is_none(item);
      if (tag != 0)
        is_new |= keep_seen(ins, &flow->seen[2 * pc], tag, container);
    }
    if (tl_jit_read_one(flow, p, pc, true, &one))
      known &= ~one.changed;
    known &= ~writes;
    if (sees && d.result_count == 1) {
      slots[d.result] = item;
      known |= UINT64_C(1) << d.result;
    }
    if (!d.falls_through && d.target <= pc)
      break;
    pc = d.falls_through ? pc + d.words : (uint32_t)d.target;
  }
  return is_new;
}

void tl_jit_learn_captures(const tl_jit_flow *flow, const tl_prototype *p,
                           const tl_closure *closure) {
  tl_slot item;
  for (uint32_t pc = 0; pc < flow->count; pc++)
    if (p->code[pc].op == TL_BC_GETC) {
      uint64_t tag = look_at_captured(closure, &p->code[pc], &item);
      if (tag != 0)
        keep(&flow->seen[2 * pc], tag & ~TL_OWNED, 2);
    }
}

// An item that is not there, or that the instruction does not read, teaches
// nothing.
bool tl_jit_learn(const tl_jit_flow *flow, const tl_frame *frame) {
  uint32_t pc = (uint32_t)(frame->pc - frame->function->code);
  if (frame->pc->op == TL_BC_RET || frame->pc->op == TL_BC_LIST)
    return let_vary(flow);
  tl_slot item;
  uint64_t container, tag = look(frame, frame->pc, &container, &item);
  uint64_t *seen = &flow->seen[2 * pc];
  bool is_new = tag == 0 ? container != TL_JIT_MANY && see_nothing(seen)
                         : keep_seen(frame->pc, seen, tag, container);
  return (is_new && look_ahead(flow, frame)) || is_new;
}

// Where two tags are kept that a varying result of the callee has had anywhere:
// behind those of the callee's own instructions.
static uint64_t *results_of(const tl_prototype *p, const tl_ins *call) {
  const tl_prototype *callee = p->constants[tl_ins_extra(call[1])].pointer;
  const tl_jit_function *f = (const tl_jit_function *)callee->machine_code;
  return &f->flow->made[2 * f->flow->count];
}

// The slots that an instruction has made, and the pc behind it: of a call those
// of its results that vary.
static bool read_made(const tl_jit_flow *flow, const tl_prototype *p,
                      uint32_t pc, tl_jit_one_slots *out) {
  const tl_ins *ins = &p->code[pc];
  if (ins->op != TL_BC_CALLK)
    return tl_jit_read_one(flow, p, pc, true, out);
  const tl_prototype *callee = p->constants[tl_ins_extra(ins[1])].pointer;
  const tl_jit_function *f = (const tl_jit_function *)callee->machine_code;
  if (f == NULL || f->flow == NULL)
    return false;
  uint64_t varies = f->flow->varies[0];
  bool single = (varies & TL_JIT_SINGLE) != 0;
  out->then = pc + (single ? 2 : 4);
  out->changed =
      (single ? 1 : varies << 1) << (ins->a >> 4) & flow->live[out->then];
  return true;
}

// A tag of a result for which there is no room is kept as TL_JIT_MANY, so that
// it stays in memory from then on. The frame's slots are those behind the
// instruction.
bool tl_jit_learn_made(const tl_jit_flow *flow, const tl_frame *frame,
                       const tl_ins *did) {
  const tl_prototype *p = frame->function;
  tl_jit_one_slots one;
  uint32_t pc = (uint32_t)(did - p->code);
  if (!read_made(flow, p, pc, &one) || frame->pc != &p->code[one.then])
    return false;
  uint64_t *made = &flow->made[2 * pc];
  if (did->op == TL_BC_CALLK && one.changed != 0)
    keep(results_of(p, did), frame->base[__builtin_ctzll(one.changed)].tag, 2);
  bool kept = false;
  int room = tl_jit_kept(pc, one.then);
  int each = tl_jit_kept_each(room, one.changed);
  for (int i = 0; i < room && one.changed != 0; i += each) {
    uint64_t tag = frame->base[__builtin_ctzll(one.changed)].tag;
    one.changed &= one.changed - 1;
    uint64_t *last = &made[i + each - 1];
    kept |= keep(&made[i], tag, each);
    if (made[i] != tag && *last != tag) {
      kept |= *last != TL_JIT_MANY;
      *last = TL_JIT_MANY;
    }
  }
  return kept;
}

// Regions of more words are left to the interpreter.
bool tl_jit_learn_span(const tl_jit_flow *flow, const tl_frame *frame,
                       const tl_ins *did) {
  uint8_t *span = &flow->spans[did - frame->function->code];
  ptrdiff_t words = frame->pc - did;
  if (words <= (did[1].op == TL_BC_EXTRA ? 2 : 1) || words > UINT8_MAX ||
      words == *span || frame->pc->op == TL_BC_EXTRA)
    return false;
  *span = (uint8_t)words;
  return true;
}

bool tl_jit_learn_detour(const tl_jit_flow *flow, const tl_frame *frame) {
  tl_jit_one_slots one;
  uint32_t pc = (uint32_t)(frame->pc - frame->function->code);
  if (flow->detours[pc] != TL_DETOUR_NONE ||
      !tl_jit_read_one(flow, frame->function, pc, true, &one))
    return false;
  flow->detours[pc] = TL_DETOUR_MADE;
  return true;
}
