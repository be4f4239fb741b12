// The code of a unit as JSON for stdlib/inner/explain.tly, which says what each
// operation's result lives in: what the compiled code allows ("may"), and what
// a run did ("ran"). What names an operand, or says what keeps it, is written
// without indexes as well, as messages of in-place contracts need it too.
//
//     tl_explain_code ─ put_function ─ put_more ─┬─ put_input
//                     ─ put_machine_code         └─ put_note
#include "vm/observe/explain.h"

#include <inttypes.h>

#include "vm/native/jit.h"
#include "vm/observe/code_json.h"
#include "vm/observe/rejection.h"
#include "vm/region/region.h"

// The function being explained, and where the words go.
typedef struct tl_explainer {
  tl_text *out;
  const tl_unit *unit;
  const tl_notes *notes;  // of a run; NULL: there was none
  const tl_prototype *p;
  tl_writers writers;
} tl_explainer;

// --- Words of operands ------------------------------------------------------

// Words of operands: what an operand is called, and why it lives on, for `tally
// explain` and for messages of in-place contracts.
//
// Everything is read from the bytecode: modes say what ends, and the next use
// of a slot why it lives on.
//
//     y = a * x + b    x is used later, in line 4

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

// Appends a variable's name, or where a temporary comes from.
// A variable's name, or where a temporary comes from.
static void explain_operand(const tl_explainer *e, uint32_t pc, uint32_t slot) {
  uint32_t from;
  tl_decoded d;
  if (is_named(e->p, slot)) {
    tl_text_puts(e->out, e->p->slot_names[slot]->text);
  } else if (tl_writers_find(&e->writers, pc, slot, &from, &d)) {
    // A copy is called what it was copied from.
    if (d.op == TL_BC_MOV || d.op == TL_BC_MOVB) {
      explain_operand(e, from, d.operands[0]);
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
static bool explain_is_plain_scalar(const tl_explainer *e, uint32_t pc,
                                    uint32_t slot) {
  uint32_t from;
  tl_decoded d;
  if (is_named(e->p, slot) ||
      !tl_writers_find(&e->writers, pc, slot, &from, &d))
    return false;
  return d.op == TL_BC_LOADK || d.op == TL_BC_LOADI || d.op == TL_BC_FORVAR;
}

// Follows copies to the instruction that made what the slot holds; false: a
// parameter.
static bool find_origin(const tl_explainer *e, uint32_t pc, uint32_t slot,
                        uint32_t *from, tl_decoded *d) {
  for (*from = pc; tl_writers_find(&e->writers, *from, slot, from, d);
       slot = d->operands[0]) {
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
  uint32_t slot = d->operand_count > 0 ? d->operands[0] : d->window, at;
  tl_decoded made;
  if (is_named(e->p, slot) ||
      tl_writers_find(&e->writers, from, slot, &at, &made))
    explain_operand(e, from, slot);
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

// Appends why an operand that does not end with the region [r], or else (NULL)
// with the instruction, lives on.
// A use that counts is behind the last instruction of the region.
static void explain_keeper(const tl_explainer *e, uint32_t pc,
                           const tl_region *r, uint32_t slot) {
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
  explain_operand(e, pc, slot);
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

// Appends what else refers to what an update at [pc] would write to: "l holds
// it, too".
// A handler that needs the old value, another variable, or something that only
// a run knows.
static void explain_holder(const tl_explainer *e, uint32_t pc, uint32_t slot) {
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
  explain_operand(&e, pc, slot);
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
  explain_keeper(&e, pc, r, slot);
}

void tl_spell_holder(tl_text *out, const tl_prototype *p, uint32_t pc,
                     uint32_t slot) {
  tl_explainer e = explainer(out, p);
  explain_holder(&e, pc, slot);
}

// --- Text -------------------------------------------------------------------

// A text of the C library's kind, NULL as null.
static void put_text(tl_text *out, const char *text) {
  if (text == NULL)
    tl_text_puts(out, "null");
  else
    tl_text_json(out, text, strlen(text));
}

// The operand's name as a JSON string.
static void put_name(const tl_explainer *e, uint32_t pc, uint32_t slot) {
  const size_t begin = e->out->length;
  explain_operand(e, pc, slot);
  tl_json_quote_rest(e->out, begin);
}

// --- Instructions -----------------------------------------------------------

// What an instruction is to a region, as far as an explanation asks: "part" is
// what only belongs to the operations around it.
static const char *step_name(const tl_explainer *e, uint32_t pc,
                             const tl_decoded *d) {
  static const char *const names[] = {
      [TL_STEP_NONE] = "none",     [TL_STEP_LOAD] = "part",
      [TL_STEP_MOVE] = "part",     [TL_STEP_DROP] = "part",
      [TL_STEP_HOLD] = "part",     [TL_STEP_TRANSFER] = "part",
      [TL_STEP_VIEW] = "view",     [TL_STEP_OPERATION] = "operation",
      [TL_STEP_PLACE] = "part",    [TL_STEP_CAST] = "cast",
      [TL_STEP_CLIP] = "clip",     [TL_STEP_HOST] = "host",
      [TL_STEP_INLINE] = "inline", [TL_STEP_ROLL] = "roll",
      [TL_STEP_LENGTH] = "length", [TL_STEP_CALL] = "call",
      [TL_STEP_SELECT] = "select"};
  tl_region_step kind = tl_region_step_of(d->op, d->extra);
  if (kind == TL_STEP_CALL)
    return names[tl_region_call(e->p->constants[d->extra].pointer)];
  if (kind != TL_STEP_INLINE)
    return names[kind];
  const tl_prototype *callee = tl_region_find_callee(&e->writers, pc, d);
  bool alone = callee == NULL ? d->op == TL_BC_CALLK || d->extra != 0
                              : callee->joins < TL_JOINS;
  return names[alone ? TL_STEP_NONE : kind];
}

// Operand [i]: the instruction that wrote it last in the text, -1 for a
// parameter. Where the items are read, [reads], or in a region a view of them
// or an argument moved, its name and whether it certainly is no array; of one
// that does not end there, what keeps it beyond the region, or the instruction.
static void put_input(const tl_explainer *e, const tl_region *r, uint32_t pc,
                      const tl_decoded *d, uint32_t i, bool reads) {
  tl_text *out = e->out;
  const uint32_t slot = d->operands[i];
  uint32_t made;
  tl_decoded maker;
  const bool found = tl_writers_find(&e->writers, pc, slot, &made, &maker);
  const bool is_plain = reads && explain_is_plain_scalar(e, pc, slot);
  tl_text_printf(out,
                 "%s{\"slot\": %" PRIu32 ", \"mode\": %d, \"made\": %" PRId64
                 ", \"is_plain\": %s",
                 i == 0 ? "" : ", ", slot, (int)d->modes[i],
                 found ? (int64_t)made : -1, tl_json_bool(is_plain));
  if (reads) {
    tl_text_puts(out, ", \"name\": ");
    put_name(e, pc, slot);
  }
  if (reads && !is_plain && d->modes[i] == TL_MODE_BORROW) {
    tl_text_puts(out, ", \"keeper\": ");
    const size_t begin = out->length;
    explain_keeper(e, pc, r, slot);
    tl_json_quote_rest(out, begin);
  }
  tl_text_puts(out, "}");
}

// The operands whose memory was taken, and the range among all, which is
// written out as an array; null: there is none.
static void put_taken(const tl_explainer *e, uint32_t pc, const tl_decoded *d,
                      const tl_note *n) {
  const uint32_t count = d->operand_count + d->window_count;
  const char *sep = "";
  tl_text_puts(e->out, ", \"taken\": [");
  for (uint32_t i = 0; i < count && i < 8; i++) {
    if ((n->taken >> i & 1) == 0)
      continue;
    tl_text_puts(e->out, sep);
    put_name(e, pc, tl_operand_slot(d, i));
    sep = ", ";
  }
  tl_text_puts(e->out, "], \"range\": ");
  uint32_t from, i = 0;
  tl_decoded made;
  while (i < count && !(tl_writers_find(&e->writers, pc, tl_operand_slot(d, i),
                                        &from, &made) &&
                        made.op == TL_BC_RANGE))
    i++;
  if (i < count)
    put_name(e, pc, tl_operand_slot(d, i));
  else
    tl_text_puts(e->out, "null");
}

// How often an operand's memory was refused for that reason, and as seen the
// first time, if it was, the operand's name or null and what is to be said of
// it. Of one that is used later that says all; where a region ran, later is
// behind that.
static void put_refused(const tl_explainer *e, uint32_t pc, const tl_note *n,
                        tl_rejection why) {
  tl_text *out = e->out;
  const struct tl_rejection_words *words = n->words[why];
  const bool named = words != NULL && words->slot != UINT32_MAX;
  tl_text_printf(out, "[%" PRIu64, n->refused[why]);
  if (why == TL_REFUSED_LIVE && named) {
    tl_text_puts(out, ", null, ");
    const size_t begin = out->length;
    explain_keeper(e, pc, n->fused > 0 ? tl_region_at(e->p, pc) : NULL,
                   words->slot);
    tl_json_quote_rest(out, begin);
  } else if (why != TL_REFUSED_LIVE && words != NULL) {
    tl_text_puts(out, ", ");
    if (named)
      put_name(e, pc, words->slot);
    else
      tl_text_puts(out, "null");
    tl_text_puts(out, ", ");
    put_text(out, words->text);
  }
  tl_text_puts(out, "]");
}

// What the instruction did in a run: the note's counts as they are.
static void put_note(const tl_explainer *e, uint32_t pc, const tl_decoded *d,
                     const tl_note *n) {
  tl_text_printf(e->out,
                 ", \"note\": {\"fused\": %" PRIu64 ", \"together\": %" PRIu64
                 ", \"inplace\": %" PRIu64 ", \"fresh\": %" PRIu64
                 ", \"bytes\": %" PRIu64 ", \"copies\": %" PRIu64
                 ", \"changed\": %" PRIu64 ", \"made\": %" PRIu64
                 ", \"made_bytes\": %" PRIu64 ", \"largest\": %" PRIu64,
                 n->fused, n->together, n->inplace, n->fresh, n->nbytes,
                 n->copies, n->changed, n->made, n->made_bytes, n->largest);
  put_taken(e, pc, d, n);
  tl_text_puts(e->out, ", \"refused\": [");
  for (int i = 0; i < TL_REJECTION_COUNT; i++) {
    tl_text_puts(e->out, i == 0 ? "" : ", ");
    put_refused(e, pc, n, (tl_rejection)i);
  }
  tl_text_puts(e->out, "]}");
}

// An update: the name of what it writes to, and where that is copied, or was
// refused, what else refers to it.
static void put_update(const tl_explainer *e, uint32_t pc, const tl_decoded *d,
                       const tl_note *n) {
  const uint32_t slot = (uint32_t)d->result;
  tl_text_puts(e->out, ", \"updates\": ");
  put_name(e, pc, slot);
  tl_text_puts(e->out, ", \"holder\": ");
  const size_t begin = e->out->length;
  if (d->modes[0] == TL_MODE_BORROW ||
      (n != NULL && n->refused[TL_REFUSED_LIVE] > 0))
    explain_holder(e, pc, slot);
  tl_json_quote_rest(e->out, begin);
}

// The script function that an instruction calls and that no region takes in,
// with the reason; null: it calls none, or one that only a run knows.
static void put_called(const tl_explainer *e, uint32_t pc,
                       const tl_decoded *d) {
  const tl_prototype *callee = d->op == TL_BC_CALLK || d->op == TL_BC_CALL
                                   ? tl_region_find_callee(&e->writers, pc, d)
                                   : NULL;
  tl_text_puts(e->out, ", \"called\": ");
  if (callee == NULL || callee->joins <= TL_JOINS_NOT ||
      callee->joins >= TL_JOINS) {
    tl_text_puts(e->out, "null");
    return;
  }
  const size_t begin = e->out->length;
  tl_text_puts(e->out, callee->name->length > 0 ? callee->name->text : "it");
  if (callee->joins == TL_JOINS_NOT_LONG)
    tl_text_puts(e->out, " is long");
  else if (callee->joins == TL_JOINS_NOT_CATCHES)
    tl_text_puts(e->out, " catches errors");
  else
    tl_text_printf(e->out, " does more than compute items, in line %" PRIu32,
                   tl_line_at(callee, callee->joins_not));
  tl_json_quote_rest(e->out, begin);
}

// A tl_json_more function: what the program reads of an instruction besides.
static void put_more(tl_text *out, void *context, const tl_prototype *p,
                     uint32_t pc, const tl_decoded *d) {
  const tl_explainer *e = context;
  const tl_region *r = tl_region_at(p, pc);
  const tl_note *note = tl_note_find(e->notes, &p->code[pc]);
  const bool computes = tl_region_op(d->op, d->extra) != TL_OP_COUNT;
  const bool is_update =
      tl_opcodes[d->op].result == TL_DEF_TARGET && d->op != TL_BC_PUSH;
  const char *step = step_name(e, pc, d);
  tl_explain_place(out, p, pc);
  tl_text_printf(out,
                 ", \"step\": \"%s\", \"computes\": %s, \"is_update\": %s"
                 ", \"region\": %d, \"inputs\": [",
                 step, tl_json_bool(computes), tl_json_bool(is_update),
                 r == NULL ? -1 : (int)(r - p->regions));
  for (uint32_t i = 0; i < d->operand_count; i++)
    put_input(e, r, pc, d, i,
              computes || (r != NULL &&
                           (strcmp(step, "view") == 0 || d->op == TL_BC_MOV)));
  tl_text_puts(out, "]");
  put_called(e, pc, d);
  if (is_update)
    put_update(e, pc, d, note);
  if (note == NULL)
    tl_text_puts(out, ", \"note\": null");
  else
    put_note(e, pc, d, note);
}

// --- The code ---------------------------------------------------------------

static void put_region(tl_text *out, const void *of, uint32_t i) {
  const tl_region *r = &((const tl_region *)of)[i];
  tl_text_printf(out,
                 "{\"start\": %" PRIu32 ", \"end\": %" PRIu32
                 ", \"together\": %" PRIu32 ", \"is_part\": %s}",
                 r->start, r->end, r->together, tl_json_bool(r->is_part));
}

// A function: its regions and instructions. False: there is no memory for the
// index of which instruction writes which slot, which the text then says.
static bool put_function(tl_explainer *e, uint32_t index) {
  tl_text *out = e->out;
  const tl_prototype *p = e->p = e->unit->prototypes[index];
  const size_t nbytes = tl_writers_size(p) * sizeof(uint32_t);
  uint32_t *memory = tl_alloc_zeroed(out->vm, nbytes, "an explanation");
  if (memory == NULL) {
    tl_error_clear(out->vm);
    out->failed = true;
    return false;
  }
  tl_writers_index(&e->writers, p, memory);
  tl_text_puts(out, "{");
  tl_json_list(out, "regions", p->regions, p->region_count, put_region);
  tl_json_code(out, p, put_more, e);
  tl_text_puts(out, "}");
  tl_free(out->vm, e->writers.first, nbytes);
  return true;
}

// The places of a unit's code that ran as machine code.
typedef struct machine_code {
  tl_text *out;
  const tl_unit *unit;
  const char *sep;
} machine_code;

// A tl_jit_each function. Why it left is the instruction there: what it does,
// or for what values.
static void put_machine_code(void *context, const tl_jit_report *report) {
  machine_code *m = context;
  if (report->function->unit != m->unit)
    return;
  const tl_prototype *left = report->left_in;
  tl_text_printf(m->out,
                 "%s{\"line\": %" PRIu32 ", \"runs\": %" PRIu64
                 ", \"left\": %" PRIu32
                 ", \"op\": \"%s\""
                 ", \"is_given_up\": %s, \"name\": ",
                 m->sep, tl_line_at(report->function, report->pc), report->runs,
                 tl_line_at(left, report->left_at),
                 tl_opcodes[left->code[report->left_at].op].name,
                 tl_json_bool(report->is_given_up));
  put_text(m->out, report->function->name->text);
  tl_text_puts(m->out, ", \"left_name\": ");
  put_text(m->out, left->name->text);
  tl_text_puts(m->out, "}");
  m->sep = ", ";
}

void tl_explain_code(tl_text *out, const tl_unit *unit, const tl_notes *notes,
                     const char *error) {
  tl_text_puts(out, "{\"file\": ");
  tl_text_json(out, unit->file->text, unit->file->length);
  tl_text_puts(out, ", \"error\": ");
  put_text(out, error);
  tl_text_printf(out, ", \"has_run\": %s, \"large\": %d, \"native\": [",
                 tl_json_bool(notes != NULL), TL_REGION_LARGE);
  machine_code m = {.out = out, .unit = unit, .sep = ""};
  if (notes != NULL)
    tl_jit_each(out->vm, put_machine_code, &m);
  tl_text_puts(out, "]");
  tl_json_lines(out, unit);
  tl_text_puts(out, ", \"functions\": [");
  tl_explainer e = {.out = out, .unit = unit, .notes = notes};
  for (uint32_t i = 0; i < unit->prototype_count; i++) {
    tl_text_puts(out, i == 0 ? "" : ",\n");
    if (!put_function(&e, i))
      return;
  }
  tl_text_puts(out, "]}");
}
