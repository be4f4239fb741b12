// What the compiled code says of each operation's result: which operand's
// memory it may take, with which other operations it is computed, and why not.
//
// Everything is read from the bytecode: modes say what ends, regions what is
// fused, and the next use of a slot why it lives on. At the end are the same
// words for messages of in-place contracts.
//
//     y = a * x + b    in place of x, which ends here
//                      fresh: x is used later, in line 4
#include <inttypes.h>

#include "vm/observe/explain_internal.h"

// --- Reading code -----------------------------------------------------------

// By the same table as regions use, so that both agree.
bool tl_explain_is_elementwise(const tl_decoded *d) {
  return tl_region_op(d->op, d->extra) != TL_OP_COUNT;
}

// What an instruction is to a region; of a built-in's call, what that is.
tl_region_step tl_explain_step(const tl_explainer *e, uint32_t pc,
                               const tl_decoded *d) {
  tl_region_step kind = tl_region_step_of(d->op, d->extra);
  if (kind == TL_STEP_CALL)
    return tl_region_call(e->p->constants[d->extra].pointer);
  if (kind != TL_STEP_INLINE)
    return kind;
  const tl_prototype *callee = tl_region_find_callee(&e->writers, pc, d);
  bool alone = callee == NULL ? d->op == TL_BC_CALLK || d->extra != 0
                              : callee->joins < TL_JOINS;
  return alone ? TL_STEP_NONE : kind;
}

// Whether it computes something where it may stand in a region.
bool tl_explain_joins(const tl_explainer *e, uint32_t pc, const tl_decoded *d) {
  tl_region_step kind = tl_explain_step(e, pc, d);
  return kind == TL_STEP_OPERATION || kind >= TL_STEP_CAST;
}

// Its result is its own operand 0. PUSH is none: it makes a list longer.
bool tl_explain_is_update(int op) {
  return tl_opcodes[op].result == TL_DEF_TARGET && op != TL_BC_PUSH;
}

const tl_note *tl_explain_note(const tl_explainer *e, uint32_t pc) {
  return tl_note_find(e->notes, &e->p->code[pc]);
}

// A slot may be read twice: the mode that says most counts. Slots of a window
// are always consumed.
int tl_explain_mode(const tl_decoded *d, uint32_t slot) {
  int mode = -1;
  for (uint32_t i = 0; i < d->operand_count; i++)
    if (d->operands[i] == slot && (int)d->modes[i] > mode)
      mode = d->modes[i];
  for (uint32_t i = 0; i < d->window_count; i++)
    if (d->window + i == slot)
      mode = TL_MODE_CONSUME;
  return mode;
}

// Whether the slot is a variable that the source names, not a temporary or a
// hidden slot of a loop.
static bool is_named(const tl_prototype *p, uint32_t slot) {
  return slot < p->named_count && p->slot_names[slot] != NULL;
}

// The line of the instruction at [at]. One that cannot fail has no place of its
// own: what it writes into a hidden slot is for the next instruction that has
// one.
static uint32_t line_of_use(const tl_explainer *e, uint32_t at,
                            const tl_decoded *d) {
  bool hidden = d->result >= 0 && !is_named(e->p, (uint32_t)d->result);
  for (uint32_t i = 0; hidden && i < e->p->place_count; i++)
    if (e->p->places[i].pc >= at)
      return tl_line_at(e->p, e->p->places[i].pc);
  return tl_line_at(e->p, at);
}

// The line of the nearest instruction that reads the slot after [pc], on any
// path; 0: none does. Gives up after some thousand steps.
// What was seen is not noted, so that a loop is gone round until then.
static uint32_t next_use(const tl_explainer *e, uint32_t pc, uint32_t slot) {
  enum { LIMIT = 4096, FORKS = 64 };
  uint32_t forks[FORKS], fork_count = 0, steps = 0;
  tl_decoded d;
  tl_decode(e->p, pc, &d);
  if (tl_decoded_sets(&d, slot))
    return 0;
  forks[fork_count++] = pc + d.words;
  while (fork_count > 0) {
    uint32_t at = forks[--fork_count];
    while (at < e->p->code_count && steps++ < LIMIT) {
      tl_decode(e->p, at, &d);
      int mode = tl_explain_mode(&d, slot);
      bool ends =
          d.op == TL_BC_DROP || d.op == TL_BC_SETTLE || d.op == TL_BC_LEAVE;
      if (mode >= 0 && !ends)
        return line_of_use(e, at, &d);
      if (tl_decoded_sets(&d, slot) || (mode >= 0 && ends))
        break;
      // The other path of a branch is looked at later.
      if (d.target >= 0 && fork_count < FORKS && d.falls_through)
        forks[fork_count++] = (uint32_t)d.target;
      if (d.falls_through)
        at += d.words;
      else if (d.target >= 0)
        at = (uint32_t)d.target;
      else
        break;
    }
  }
  return 0;
}

// In the order of the text, not of a run: a loop's body may have another
// writer.
bool tl_explain_definition(const tl_explainer *e, uint32_t pc, uint32_t slot,
                           uint32_t *found) {
  tl_decoded d;
  *found = 0;
  return tl_writers_find(&e->writers, pc, slot, found, &d);
}

// --- Words ------------------------------------------------------------------

// The source of a place, on one line and not too long.
void tl_explain_source(tl_text *out, const tl_unit *unit,
                       const tl_place_entry *place) {
  enum { MOST = 48 };
  if (place == NULL || unit->text == NULL || place->end > unit->nbytes ||
      place->begin >= place->end) {
    tl_text_puts(out, "this line");
    return;
  }
  const char *from = unit->text + place->begin;
  size_t n = place->end - place->begin, shown = 0;
  bool blank = false;
  for (size_t i = 0; i < n; i++) {
    char c = from[i];
    if (c == '\n' || c == ' ' || c == '\t' || c == '\r') {
      blank = true;
      continue;
    }
    bool begins = ((unsigned char)c & 0xc0) != 0x80;
    if (begins && shown >= MOST) {
      tl_text_puts(out, "…");
      return;
    }
    if (blank && shown > 0)
      tl_text_putc(out, ' ');
    blank = false;
    shown += begins;
    tl_text_putc(out, c);
  }
}

void tl_explain_place(const tl_explainer *e, uint32_t pc) {
  tl_text_puts(e->out, "`");
  tl_explain_source(e->out, e->unit, tl_place_at(e->p, pc));
  tl_text_puts(e->out, "`");
}

// A variable's name, or where a temporary comes from.
void tl_explain_operand(const tl_explainer *e, uint32_t pc, uint32_t slot) {
  uint32_t from;
  tl_decoded d;
  if (is_named(e->p, slot)) {
    tl_text_puts(e->out, e->p->slot_names[slot]->text);
  } else if (tl_explain_definition(e, pc, slot, &from)) {
    tl_decode(e->p, from, &d);
    // A copy is called what it was copied from.
    if (d.op == TL_BC_MOV || d.op == TL_BC_MOVB) {
      tl_explain_operand(e, from, d.operands[0]);
      return;
    }
    if (d.op == TL_BC_LOADK) {
      tl_text_puts(e->out, "the literal");
      return;
    }
    tl_explain_place(e, from);
  } else {
    tl_text_puts(e->out, "a temporary");
  }
}

// Whether the slot certainly holds no array: a literal or a loop's counter.
static bool is_plain_scalar(const tl_explainer *e, uint32_t pc, uint32_t slot) {
  uint32_t from;
  tl_decoded d;
  if (is_named(e->p, slot) || !tl_explain_definition(e, pc, slot, &from))
    return false;
  tl_decode(e->p, from, &d);
  return d.op == TL_BC_LOADK || d.op == TL_BC_LOADI || d.op == TL_BC_FORVAR;
}

// Follows copies to the instruction that made what the slot holds; false: a
// parameter.
static bool find_origin(const tl_explainer *e, uint32_t pc, uint32_t slot,
                        uint32_t *from, tl_decoded *d) {
  for (*from = pc; tl_explain_definition(e, *from, slot, from);
       slot = d->operands[0]) {
    tl_decode(e->p, *from, d);
    if ((d->op != TL_BC_MOV && d->op != TL_BC_MOVB) ||
        is_named(e->p, d->operands[0]))
      return true;
  }
  return false;
}

// The variable that a slot is a copy of, as an argument may be; else the slot.
static uint32_t find_variable(const tl_explainer *e, uint32_t pc,
                              uint32_t slot) {
  uint32_t from;
  tl_decoded d;
  if (is_named(e->p, slot) || !find_origin(e, pc, slot, &from, &d))
    return slot;
  bool copies = d.op == TL_BC_MOV || d.op == TL_BC_MOVB;
  return copies ? d.operands[0] : slot;
}

// Whether the opcode's result is an item of its first operand.
static bool is_taken_out(int op) {
  return op == TL_BC_GETEL || op == TL_BC_GETEL2 || op == TL_BC_GETF ||
         op == TL_BC_NEXT || op == TL_BC_INDEX || op == TL_BC_UNPACK ||
         op == TL_BC_TAKE || op == TL_BC_TAKEEL;
}

// The container that the instruction at [from] took its result out of.
static void put_container(const tl_explainer *e, uint32_t from,
                          const tl_decoded *d) {
  uint32_t slot = d->operand_count > 0 ? d->operands[0] : d->window, unused;
  if (is_named(e->p, slot) || tl_explain_definition(e, from, slot, &unused))
    tl_explain_operand(e, from, slot);
  else
    tl_text_puts(e->out, "what it was taken from");
}

// The line where an error at [pc] is caught by a handler that needs the slot;
// 0: nowhere.
static uint32_t line_of_handler(const tl_explainer *e, uint32_t pc,
                                uint32_t slot) {
  for (uint32_t i = 0; i < e->p->handler_count; i++) {
    const tl_handler *h = &e->p->handlers[i];
    if (pc < h->start || h->end <= pc)
      continue;
    for (uint32_t k = 0; k < h->kept_count; k++)
      if (h->kept[k] == slot)
        return tl_line_at(e->p, h->handler);
  }
  return 0;
}

// Another variable that the slot was copied to or from last before [pc].
static bool find_other_name(const tl_prototype *p, uint32_t pc, uint32_t slot,
                            uint32_t *other) {
  bool found = false;
  tl_decoded d;
  for (uint32_t at = 0; at < pc; at += d.words) {
    tl_decode(p, at, &d);
    if (d.op != TL_BC_MOV && d.op != TL_BC_MOVB)
      continue;
    uint32_t to = (uint32_t)d.result, from = d.operands[0];
    if ((to == slot || from == slot) && is_named(p, to == slot ? from : to)) {
      *other = to == slot ? from : to;
      found = true;
    }
  }
  return found;
}

// Says what else refers to what the instruction at [from] loaded; false: it
// loaded nothing that already existed.
static bool put_origin(const tl_explainer *e, uint32_t from,
                       const tl_decoded *d, bool named) {
  if (d->op == TL_BC_GETG) {
    tl_text_puts(e->out, " stays in its module variable");
  } else if (d->op == TL_BC_GETC) {
    tl_text_puts(e->out, " stays with the closure");
  } else if (d->op == TL_BC_LOADK) {
    tl_text_puts(e->out, named ? " is a literal, which is never written to"
                               : " is never written to");
  } else if (is_taken_out(d->op)) {
    tl_text_puts(e->out, " is held by ");
    put_container(e, from, d);
  } else {
    return false;
  }
  return true;
}

// " is used later, in line 4".
static void put_use(const tl_explainer *e, uint32_t pc, uint32_t line) {
  bool here = line == tl_line_at(e->p, pc);
  tl_text_printf(e->out, " is used %s line %" PRIu32,
                 here ? "again in" : "later, in", line);
}

// Why an operand that does not end with the instruction at [last] lives on.
void tl_explain_keeper(const tl_explainer *e, uint32_t pc, uint32_t last,
                       uint32_t slot) {
  uint32_t from, other;
  slot = find_variable(e, pc, slot);
  uint32_t line = next_use(e, last, slot);
  uint32_t caught = line_of_handler(e, pc, slot);
  tl_decoded d = {.op = TL_BC_EXTRA};
  bool named = is_named(e->p, slot);
  tl_explain_operand(e, pc, slot);
  // A parameter has no origin in this function.
  if (!find_origin(e, pc, slot, &from, &d))
    d.op = TL_BC_EXTRA;
  if (!named && put_origin(e, from, &d, named))
    return;
  // In the order of what tells most: a later use, a handler, the caller,
  // another name.
  if (line > 0)
    put_use(e, pc, line);
  else if (caught > 0)
    tl_text_printf(e->out,
                   " is needed where an error is caught, in line %" PRIu32,
                   caught);
  else if (slot < e->p->param_count)
    tl_text_puts(e->out, " belongs to the caller");
  else if ((line = next_use(e, pc, slot)) > 0)
    put_use(e, pc, line);
  else if (named && find_other_name(e->p, pc, slot, &other))
    tl_text_printf(e->out, " is held by %s, too",
                   e->p->slot_names[other]->text);
  else if (!put_origin(e, from, &d, named))
    tl_text_puts(e->out, " belongs to another name");
}

// A handler that needs the old value, another variable, or something that only
// a run knows.
void tl_explain_holder(const tl_explainer *e, uint32_t pc, uint32_t slot) {
  uint32_t caught = line_of_handler(e, pc, slot), other;
  if (caught > 0) {
    tl_text_printf(
        e->out, "the handler in line %" PRIu32 " needs its old value", caught);
  } else if (find_other_name(e->p, pc, slot, &other)) {
    tl_text_printf(e->out, "%s holds it, too", e->p->slot_names[other]->text);
  } else {
    tl_text_puts(e->out, "another name holds it");
  }
}

// --- What the code says -----------------------------------------------------

// Whether the instruction gives a view of its operand and copies nothing.
static bool is_view(const tl_decoded *d) {
  return tl_region_step_of(d->op, d->extra) == TL_STEP_VIEW;
}

// The last instruction of a region is an index only if it selects by a mask.
bool tl_explain_selects(const tl_region *region, uint32_t pc,
                        const tl_decoded *d) {
  return region != NULL && pc + d->words == region->end && is_view(d);
}

// Whether an instruction of [from, end) reads arrays item by item.
static bool reads_items(uint32_t from, uint32_t end, uint32_t pc,
                        const tl_decoded *d) {
  return tl_explain_is_elementwise(d) ||
         (pc > from && pc + d->words == end && is_view(d));
}

// Whether an operand of [from, end) comes from outside and may be an array.
static bool is_given(const tl_explainer *e, uint32_t from, uint32_t pc,
                     uint32_t slot) {
  uint32_t made;
  bool inside =
      tl_explain_definition(e, pc, slot, &made) && made >= from && pc > from;
  return !inside && !is_plain_scalar(e, pc, slot);
}

// Names the operands of [from, end) whose memory the result may take, arrays
// of which views are read among them; returns how many.
static int put_taken(const tl_explainer *e, uint32_t from, uint32_t end) {
  int taken = 0;
  tl_decoded d;
  for (uint32_t pc = from; pc < end; pc += d.words) {
    tl_decode(e->p, pc, &d);
    uint32_t count =
        reads_items(from, end, pc, &d) ? d.operand_count : is_view(&d);
    for (uint32_t i = 0; i < count; i++) {
      if ((d.modes[i] != TL_MODE_CONSUME && d.modes[i] != TL_MODE_EITHER) ||
          !is_given(e, from, pc, d.operands[i]))
        continue;
      tl_text_puts(e->out, taken++ == 0 ? "in place of " : " or ");
      tl_explain_operand(e, pc, d.operands[i]);
      if (d.modes[i] == TL_MODE_EITHER)
        tl_text_puts(e->out, " if nobody lent it");
    }
  }
  return taken;
}

// The last instruction of [from, end).
static uint32_t last_of(const tl_explainer *e, uint32_t from, uint32_t end) {
  uint32_t last = from;
  tl_decoded d;
  for (uint32_t pc = from; pc < end; pc += d.words) {
    tl_decode(e->p, pc, &d);
    last = pc;
  }
  return last;
}

// Names the operands whose memory a result of [from, end) may take, or says why
// none.
static void put_may(const tl_explainer *e, uint32_t from, uint32_t end) {
  int taken = put_taken(e, from, end);
  if (taken > 0) {
    tl_text_puts(e->out, taken == 1 ? ", which ends here" : ", which end here");
    return;
  }
  tl_text_puts(e->out, "fresh");
  uint32_t kept[2], kept_count = 0, last = last_of(e, from, end);
  tl_decoded d;
  for (uint32_t pc = from; pc < end; pc += d.words) {
    tl_decode(e->p, pc, &d);
    for (uint32_t i = 0; reads_items(from, end, pc, &d) && i < d.operand_count;
         i++) {
      uint32_t slot = d.operands[i];
      bool again = kept_count == 2 || (kept_count == 1 && kept[0] == slot);
      if (again || !is_given(e, from, pc, slot))
        continue;
      tl_text_puts(e->out, kept_count == 0 ? ": " : "; ");
      kept[kept_count++] = slot;
      tl_explain_keeper(e, pc, last, slot);
    }
  }
}

// Whether an instruction of a region only says where a view is: [j - 1].
bool tl_explain_says_where(const tl_explainer *e, const tl_region *region,
                           uint32_t pc, const tl_decoded *d) {
  tl_decoded next;
  if (region == NULL || !tl_explain_is_elementwise(d) || d->result < 0)
    return false;
  uint32_t slot = (uint32_t)d->result;
  for (uint32_t at = pc + d->words; at < region->end; at += next.words) {
    tl_decode(e->p, at, &next);
    if (tl_explain_mode(&next, slot) >= 0)
      return tl_explain_step(e, at, &next) == TL_STEP_VIEW &&
             next.window <= slot && slot < next.window + next.window_count;
    if (next.result == d->result)
      return false;
  }
  return false;
}

// "`a * b` (line 3)".
static void put_other(const tl_explainer *e, const tl_explained *o,
                      uint32_t pc) {
  tl_explain_place(e, pc);
  uint32_t line = tl_line_at(e->p, pc);
  if (line != o->line)
    tl_text_printf(e->out, " (line %" PRIu32 ")", line);
}

// Of many other operations only the first are named: each of them names the
// others, too.
enum { NAMED = 3 };

// Names one of the others.
static void put_listed(const tl_explainer *e, const tl_explained *o,
                       const char *words, int before, uint32_t pc) {
  if (before > NAMED)
    return;
  tl_text_puts(e->out, before == 0 ? words : ", ");
  put_other(e, o, pc);
}

// Ends the list, with how many were left out.
static void end_listed(const tl_explainer *e, int count) {
  if (count > NAMED + 1)
    tl_text_printf(e->out, " and %d more", count - NAMED - 1);
  tl_text_puts(e->out, count == 0 ? "" : "; ");
}

// Whether it is a reduction that a region's pass waits for: no part of that.
static bool is_inner(const tl_explainer *e, const tl_region *r, uint32_t pc,
                     const tl_decoded *d) {
  return tl_explain_step(e, pc, d) == TL_STEP_CALL && pc + d->words < r->end;
}

// "in one pass with `a * b` (line 3)" for the others of the region.
static void put_region(const tl_explainer *e, const tl_explained *o) {
  int count = 0;
  tl_decoded d;
  const char *words = is_inner(e, o->region, o->pc, &o->d)
                          ? "computed before the pass of "
                          : "in one pass with ";
  for (uint32_t pc = o->region->start; pc < o->region->end; pc += d.words) {
    tl_decode(e->p, pc, &d);
    bool joins =
        tl_explain_joins(e, pc, &d) || tl_explain_selects(o->region, pc, &d);
    if (pc == o->pc || !joins || is_inner(e, o->region, pc, &d) ||
        tl_explain_says_where(e, o->region, pc, &d))
      continue;
    put_listed(e, o, words, count++, pc);
  }
  end_listed(e, count);
}

// The call or selection that takes what the region computes, else its last
// elementwise instruction.
uint32_t tl_explain_result(const tl_explainer *e, const tl_region *r) {
  uint32_t last = r->start;
  tl_decoded d;
  for (uint32_t pc = r->start; pc < r->end; pc += d.words) {
    tl_decode(e->p, pc, &d);
    tl_region_step kind = tl_explain_step(e, pc, &d);
    if (tl_explain_is_elementwise(&d) || kind == TL_STEP_CAST ||
        kind == TL_STEP_CLIP || kind == TL_STEP_HOST || kind == TL_STEP_CALL ||
        kind == TL_STEP_INLINE || tl_explain_selects(r, pc, &d))
      last = pc;
  }
  return last;
}

// Whether what a region computes goes to a part of an array.
static bool ends_in_place(const tl_explainer *e, const tl_region *r) {
  tl_decoded d;
  tl_decode(e->p, last_of(e, r->start, r->end), &d);
  return tl_explain_is_update(d.op);
}

// As tl_explain_result, or the update of a region that only assigns.
static uint32_t last_computed(const tl_explainer *e, const tl_region *r) {
  uint32_t pc = tl_explain_result(e, r);
  tl_decoded d;
  tl_decode(e->p, pc, &d);
  bool computes = tl_explain_joins(e, pc, &d) || tl_explain_selects(r, pc, &d);
  return computes || !ends_in_place(e, r) ? pc : last_of(e, r->start, r->end);
}

// "together with `x - y` (line 4); " for the results of the regions with which
// it may run together.
static void put_together(const tl_explainer *e, const tl_explained *o) {
  int count = 0;
  for (uint32_t i = 0; i < e->p->region_count; i++) {
    const tl_region *r = &e->p->regions[i];
    if (r == o->region || r->together != o->region->together)
      continue;
    put_listed(e, o, "together with ", count++, last_computed(e, r));
  }
  end_listed(e, count);
}

// Whether the result is dropped, and nothing has read it before.
static bool is_unused(const tl_explainer *e, const tl_explained *o) {
  tl_decoded d;
  if (o->d.result < 0 || tl_explain_is_update(o->d.op))
    return false;
  for (uint32_t pc = o->pc + o->d.words; pc < e->p->code_count && !e->leads[pc];
       pc += d.words) {
    tl_decode(e->p, pc, &d);
    if (tl_explain_mode(&d, (uint32_t)o->d.result) >= 0)
      return d.op == TL_BC_DROP;
    if (!d.falls_through)
      break;
  }
  return false;
}

// By what the operation is: an update, a part of a region, an elementwise
// operation, or something else.
static void put_code(const tl_explainer *e, const tl_explained *o) {
  if (tl_explain_is_update(o->d.op)) {
    int mode = tl_explain_mode(&o->d, (uint32_t)o->d.result);
    tl_explain_operand(e, o->pc, (uint32_t)o->d.result);
    if (mode == TL_MODE_BORROW) {
      tl_text_puts(e->out, " is copied: ");
      tl_explain_holder(e, o->pc, (uint32_t)o->d.result);
    } else {
      tl_text_puts(e->out, " is written in place if nothing else holds it");
    }
  } else if (o->region != NULL) {
    put_region(e, o);
    if (o->pc != tl_explain_result(e, o->region))
      tl_text_puts(e->out, "no array of its own");
    else {
      put_together(e, o);
      if (tl_explain_step(e, o->pc, &o->d) == TL_STEP_CALL) {
        tl_text_puts(e->out, "takes the items as they are computed");
        return;
      }
      if (tl_explain_selects(o->region, o->pc, &o->d))
        tl_text_puts(e->out, "takes the mask's items as they are computed, ");
      if (ends_in_place(e, o->region))
        tl_text_puts(e->out, "goes where it is assigned to");
      else
        put_may(e, o->region->start, o->region->end);
    }
  } else if (tl_explain_is_elementwise(&o->d)) {
    put_may(e, o->pc, o->pc + o->d.words);
  } else {
    tl_text_puts(e->out, "only a run can tell");
  }
}

void tl_explain_code(const tl_explainer *e, const tl_explained *o) {
  put_code(e, o);
  if (is_unused(e, o))
    tl_text_puts(e->out, "; no use: nothing reads it");
}

// --- For #:inplace ----------------------------------------------------------

// An explainer without indexes, for a single message.
static tl_explainer explainer(tl_text *out, const tl_prototype *p) {
  return (tl_explainer){
      .out = out, .unit = p->unit, .p = p, .writers = {.p = p}};
}

// For in-place contracts the same words are written without the indexes of an
// explainer.
void tl_spell_operand(tl_text *out, const tl_prototype *p, uint32_t pc,
                      uint32_t slot) {
  tl_explainer e = explainer(out, p);
  tl_explain_operand(&e, pc, slot);
}

// "what is taken from x needs a new array: it is no view".
void tl_spell_choice(tl_text *out, const tl_prototype *p, uint32_t pc,
                     uint32_t slot) {
  tl_text_puts(out, "what is taken from ");
  tl_spell_operand(out, p, pc, slot);
  tl_text_puts(out, " needs a new array: it is no view");
}

// An operand of a fused run lives on only if something behind the run reads it.
void tl_spell_keeper(tl_text *out, const tl_prototype *p, uint32_t pc,
                     uint32_t slot) {
  tl_explainer e = explainer(out, p);
  const tl_region *r = tl_explain_region(p, pc);
  tl_explain_keeper(&e, pc, r == NULL ? pc : last_of(&e, pc, r->end), slot);
}

void tl_spell_holder(tl_text *out, const tl_prototype *p, uint32_t pc,
                     uint32_t slot) {
  tl_explainer e = explainer(out, p);
  tl_explain_holder(&e, pc, slot);
}

// Linear: a function has few regions, and this is for reports.
const tl_region *tl_explain_region(const tl_prototype *p, uint32_t pc) {
  for (uint32_t i = 0; i < p->region_count; i++)
    if (p->regions[i].start <= pc && pc < p->regions[i].end)
      return &p->regions[i];
  return NULL;
}
