// Words of operands: what an operand is called, and why it lives on, for `tally
// explain` and for messages of in-place contracts.
//
// Everything is read from the bytecode: modes say what ends, and the next use
// of a slot why it lives on.
//
//     y = a * x + b    x is used later, in line 4
#include <inttypes.h>

#include "vm/observe/code_json.h"
#include "vm/observe/explain_internal.h"

// --- Reading code -----------------------------------------------------------

// A slot may be read twice: the mode that says most counts. Slots of a window
// are always consumed. -1: the instruction does not read it.
static int mode_of(const tl_decoded *d, uint32_t slot) {
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
      int mode = mode_of(&d, slot);
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
static void put_source(tl_text *out, const tl_unit *unit,
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

void tl_explain_place(tl_text *out, const tl_prototype *p, uint32_t pc) {
  const tl_place_entry *place = tl_place_at(p, pc);
  tl_text_printf(out,
                 ", \"line\": %" PRIu32 ", \"is_placed\": %s, \"source\": ",
                 tl_line_at(p, pc), tl_json_bool(place != NULL));
  const size_t begin = out->length;
  put_source(out, p->unit, place);
  tl_json_quote_rest(out, begin);
}

// The source of the instruction at [pc], quoted.
static void put_place(const tl_explainer *e, uint32_t pc) {
  tl_text_puts(e->out, "`");
  put_source(e->out, e->unit, tl_place_at(e->p, pc));
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
    put_place(e, from);
  } else {
    tl_text_puts(e->out, "a temporary");
  }
}

// Whether the slot certainly holds no array: a literal or a loop's counter.
bool tl_explain_is_plain_scalar(const tl_explainer *e, uint32_t pc,
                                uint32_t slot) {
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

// A use that counts is behind the last instruction of the region.
void tl_explain_keeper(const tl_explainer *e, uint32_t pc, const tl_region *r,
                       uint32_t slot) {
  uint32_t from, other, last = pc;
  tl_decoded d = {.op = TL_BC_EXTRA};
  for (uint32_t at = pc; r != NULL && at < r->end; at += d.words) {
    tl_decode(e->p, at, &d);
    last = at;
  }
  slot = find_variable(e, pc, slot);
  uint32_t line = next_use(e, last, slot);
  uint32_t caught = line_of_handler(e, pc, slot);
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
  const tl_region *r = tl_region_at(p, pc);
  tl_explain_keeper(&e, pc, r, slot);
}

void tl_spell_holder(tl_text *out, const tl_prototype *p, uint32_t pc,
                     uint32_t slot) {
  tl_explainer e = explainer(out, p);
  tl_explain_holder(&e, pc, slot);
}
