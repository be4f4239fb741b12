// What each operation's result lives in. What the compiled code says comes
// first ("may"), then what a run did ("ran"); the two are never mixed.
#include "vm/interp/explain.h"

#include <inttypes.h>
#include <string.h>

#include "vm/memory/memory.h"
#include "vm/region/region.h"

typedef struct explainer {
  tl_text *out;
  const tl_unit *unit;
  const tl_notes *notes;
  const tl_prototype *p;
  bool *leads;  // for each pc: a jump may lead there
} explainer;

// An instruction that has an array as its result, or may have.
typedef struct operation {
  uint32_t pc;
  tl_decoded d;
  const tl_place_entry *place;
  uint32_t line;
  const tl_note *note;      // NULL: nothing was seen
  const tl_region *region;  // it may run as one with others; NULL: alone
} operation;

static const char *const refusals[TL_REFUSAL_COUNT] = {
    "the operand is used later", "the operand is shared",
    "the result has another shape", "the items have another size",
    "the operand is a view or read-only"};

// --- Reading code -----------------------------------------------------------

static bool is_elementwise(const tl_decoded *d) {
  return tl_region_op(d->op, d->extra) != TL_OP_COUNT;
}

// What an instruction is to a region; of a built-in's call, what that is.
static tl_region_step step_of(const explainer *e, const tl_decoded *d) {
  tl_region_step kind = tl_region_step_of(d->op, d->extra);
  if (kind == TL_STEP_CALL)
    return tl_region_call(e->p->constants[d->extra].pointer);
  bool alone = kind == TL_STEP_INLINE &&
               (d->extra >= e->unit->prototype_count ||
                e->unit->prototypes[d->extra]->joins < TL_JOINS);
  return alone ? TL_STEP_NONE : kind;
}

// Whether it computes something where it may stand in a region.
static bool joins(const explainer *e, const tl_decoded *d) {
  tl_region_step kind = step_of(e, d);
  return kind == TL_STEP_OPERATION || kind >= TL_STEP_CAST;
}

static bool is_update(int op) {
  return tl_opcodes[op].result == TL_DEF_TARGET && op != TL_BC_PUSH;
}

static bool open_function(explainer *e, uint32_t index) {
  tl_vm *vm = e->out->vm;
  tl_decoded d;
  e->p = e->unit->prototypes[index];
  e->leads = tl_alloc_zeroed(vm, e->p->code_count + 1, "an explanation");
  if (e->leads == NULL) {
    tl_error_clear(vm);
    e->out->failed = true;
    return false;
  }
  for (uint32_t pc = 0; pc < e->p->code_count; pc += d.words) {
    tl_decode(e->p, pc, &d);
    if (d.target >= 0)
      e->leads[d.target] = true;
  }
  return true;
}

static void close_function(explainer *e) {
  tl_free(e->out->vm, e->leads, e->p->code_count + 1);
}

static const tl_region *region_at(const tl_prototype *p, uint32_t pc) {
  for (uint32_t i = 0; i < p->region_count; i++)
    if (p->regions[i].start <= pc && pc < p->regions[i].end)
      return &p->regions[i];
  return NULL;
}

static const tl_note *note_at(const explainer *e, uint32_t pc) {
  return tl_note_find(e->notes, &e->p->code[pc]);
}

static void read_operation(const explainer *e, uint32_t pc, operation *out) {
  *out = (operation){.pc = pc,
                     .place = tl_place_at(e->p, pc),
                     .line = tl_line_at(e->p, pc),
                     .note = note_at(e, pc),
                     .region = region_at(e->p, pc)};
  tl_decode(e->p, pc, &out->d);
}

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

static bool is_named(const tl_prototype *p, uint32_t slot) {
  return slot < p->named_count && p->slot_names[slot] != NULL;
}

// The line of the instruction at [at]. One that cannot fail has no place of its
// own: what it writes into a hidden slot is for the next that has.
static uint32_t line_of_use(const explainer *e, uint32_t at,
                            const tl_decoded *d) {
  bool hidden = d->result >= 0 && !is_named(e->p, (uint32_t)d->result);
  for (uint32_t i = 0; hidden && i < e->p->place_count; i++)
    if (e->p->places[i].pc >= at)
      return tl_line_at(e->p, e->p->places[i].pc);
  return tl_line_at(e->p, at);
}

// The line of the nearest instruction that reads the slot after [pc], on any
// path, 0: none does.
static uint32_t next_use(const explainer *e, uint32_t pc, uint32_t slot) {
  enum { LIMIT = 4096, FORKS = 64 };
  uint32_t forks[FORKS], fork_count = 0, steps = 0;
  tl_decoded d;
  tl_decode(e->p, pc, &d);
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
      if (d.result == (int32_t)slot || (mode >= 0 && ends))
        break;
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

// The instruction that wrote the slot last before [pc] in the text; false: a
// parameter.
static bool find_definition(const explainer *e, uint32_t pc, uint32_t slot,
                            uint32_t *found) {
  bool any = false;
  tl_decoded d;
  *found = 0;
  for (uint32_t at = 0; at < pc; at += d.words) {
    tl_decode(e->p, at, &d);
    if (d.result == (int32_t)slot) {
      *found = at;
      any = true;
    }
  }
  return any;
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

// A variable's name, or where a temporary comes from.
static void put_operand(const explainer *e, uint32_t pc, uint32_t slot) {
  uint32_t from;
  tl_decoded d;
  if (is_named(e->p, slot)) {
    tl_text_puts(e->out, e->p->slot_names[slot]->text);
  } else if (find_definition(e, pc, slot, &from)) {
    tl_decode(e->p, from, &d);
    if (d.op == TL_BC_MOV || d.op == TL_BC_MOVB) {
      put_operand(e, from, d.operands[0]);
      return;
    }
    tl_text_puts(e->out, "`");
    put_source(e->out, e->unit, tl_place_at(e->p, from));
    tl_text_puts(e->out, "`");
  } else {
    tl_text_puts(e->out, "a temporary");
  }
}

// Whether the slot surely holds no array: a literal or a loop's counter.
static bool is_plain_scalar(const explainer *e, uint32_t pc, uint32_t slot) {
  uint32_t from;
  tl_decoded d;
  if (is_named(e->p, slot) || !find_definition(e, pc, slot, &from))
    return false;
  tl_decode(e->p, from, &d);
  return d.op == TL_BC_LOADK || d.op == TL_BC_LOADI || d.op == TL_BC_FORVAR;
}

// Why an operand that does not end with the instruction at [last] lives on.
static void put_keeper(const explainer *e, uint32_t pc, uint32_t last,
                       uint32_t slot) {
  uint32_t from, line = next_use(e, last, slot);
  tl_decoded d = {.op = TL_BC_EXTRA};
  put_operand(e, pc, slot);
  if (!is_named(e->p, slot) && find_definition(e, pc, slot, &from))
    tl_decode(e->p, from, &d);
  if (d.op == TL_BC_GETG)
    tl_text_puts(e->out, " stays in its module variable");
  else if (d.op == TL_BC_GETC)
    tl_text_puts(e->out, " stays with the closure");
  else if (d.op == TL_BC_GETEL || d.op == TL_BC_GETF || d.op == TL_BC_NEXT ||
           d.op == TL_BC_INDEX)
    tl_text_puts(e->out, " belongs to what it was taken from");
  else if (line > 0)
    tl_text_printf(e->out, " is used later, in line %" PRIu32, line);
  else if (slot < e->p->param_count)
    tl_text_puts(e->out, " belongs to the caller");
  else
    tl_text_puts(e->out, " belongs to another name");
}

// --- What the code says -----------------------------------------------------

// The operands whose memory a result of [from, end) may take, or why none.
static void put_may(const explainer *e, uint32_t from, uint32_t end) {
  int taken = 0;
  tl_decoded d;
  for (uint32_t pc = from; pc < end; pc += d.words) {
    tl_decode(e->p, pc, &d);
    for (uint32_t i = 0; is_elementwise(&d) && i < d.operand_count; i++) {
      uint32_t slot = d.operands[i], made;
      bool inside =
          find_definition(e, pc, slot, &made) && made >= from && pc > from;
      if ((d.modes[i] != TL_MODE_CONSUME && d.modes[i] != TL_MODE_EITHER) ||
          inside || is_plain_scalar(e, pc, slot))
        continue;
      tl_text_puts(e->out, taken++ == 0 ? "in place of " : " or ");
      put_operand(e, pc, slot);
      if (d.modes[i] == TL_MODE_EITHER)
        tl_text_puts(e->out, " if nobody lent it");
    }
  }
  if (taken > 0) {
    tl_text_puts(e->out, taken == 1 ? ", which ends here" : ", which end here");
    return;
  }
  tl_text_puts(e->out, "fresh");
  uint32_t kept[2], kept_count = 0;
  uint32_t last = from;
  for (uint32_t pc = from; pc < end; pc += d.words) {
    tl_decode(e->p, pc, &d);
    last = pc;
  }
  for (uint32_t pc = from; pc < end; pc += d.words) {
    tl_decode(e->p, pc, &d);
    for (uint32_t i = 0; is_elementwise(&d) && i < d.operand_count; i++) {
      uint32_t slot = d.operands[i], made;
      bool inside =
          find_definition(e, pc, slot, &made) && made >= from && pc > from;
      bool again = kept_count == 2 || (kept_count == 1 && kept[0] == slot);
      if (inside || again || is_plain_scalar(e, pc, slot))
        continue;
      tl_text_puts(e->out, kept_count == 0 ? ": " : "; ");
      kept[kept_count++] = slot;
      put_keeper(e, pc, last, slot);
    }
  }
}

// Whether an instruction of a region only says where a view is: [j - 1].
static bool says_where(const explainer *e, const tl_region *region, uint32_t pc,
                       const tl_decoded *d) {
  tl_decoded next;
  if (region == NULL || !is_elementwise(d) || d->result < 0)
    return false;
  uint32_t slot = (uint32_t)d->result;
  for (uint32_t at = pc + d->words; at < region->end; at += next.words) {
    tl_decode(e->p, at, &next);
    if (mode_of(&next, slot) >= 0)
      return step_of(e, &next) == TL_STEP_VIEW && next.window <= slot &&
             slot < next.window + next.window_count;
    if (next.result == d->result)
      return false;
  }
  return false;
}

// "`a * b` (line 3)"
static void put_other(const explainer *e, const operation *o, uint32_t pc) {
  tl_text_puts(e->out, "`");
  put_source(e->out, e->unit, tl_place_at(e->p, pc));
  tl_text_puts(e->out, "`");
  uint32_t line = tl_line_at(e->p, pc);
  if (line != o->line)
    tl_text_printf(e->out, " (line %" PRIu32 ")", line);
}

// "in one pass with `a * b` (line 3)" for the others of the region.
static void put_region(const explainer *e, const operation *o) {
  int count = 0;
  tl_decoded d;
  for (uint32_t pc = o->region->start; pc < o->region->end; pc += d.words) {
    tl_decode(e->p, pc, &d);
    if (pc == o->pc || !joins(e, &d) || says_where(e, o->region, pc, &d))
      continue;
    tl_text_puts(e->out, count++ == 0 ? "in one pass with " : ", ");
    put_other(e, o, pc);
  }
  tl_text_puts(e->out, count == 0 ? "" : "; ");
}

// The instruction whose result stays: the call that takes in what the region
// computes, else the last elementwise one.
static uint32_t region_result(const explainer *e, const tl_region *r) {
  uint32_t last = r->start;
  tl_decoded d;
  for (uint32_t pc = r->start; pc < r->end; pc += d.words) {
    tl_decode(e->p, pc, &d);
    tl_region_step kind = step_of(e, &d);
    if (is_elementwise(&d) || kind == TL_STEP_CAST || kind == TL_STEP_HOST ||
        kind == TL_STEP_CALL || kind == TL_STEP_INLINE)
      last = pc;
  }
  return last;
}

// "together with `x - y` (line 4); " for the results of the regions that it may
// run together with.
static void put_together(const explainer *e, const operation *o) {
  int count = 0;
  for (uint32_t i = 0; i < e->p->region_count; i++) {
    const tl_region *r = &e->p->regions[i];
    if (r == o->region || r->together != o->region->together)
      continue;
    tl_text_puts(e->out, count++ == 0 ? "together with " : ", ");
    put_other(e, o, region_result(e, r));
  }
  tl_text_puts(e->out, count == 0 ? "" : "; ");
}

// Where another elementwise operation uses the result, and is not in the same
// region: why not. False: there is none.
static bool put_apart(const explainer *e, const operation *o) {
  if (!is_elementwise(&o->d) || o->d.result < 0 ||
      (o->region != NULL && o->pc != region_result(e, o->region)))
    return false;
  enum { FAR = 200 };
  uint32_t slot = (uint32_t)o->d.result;
  const char *why = NULL;
  uint32_t between = UINT32_MAX;
  tl_decoded d;
  uint32_t end =
      o->pc + FAR < e->p->code_count ? o->pc + FAR : e->p->code_count;
  for (uint32_t pc = o->pc + o->d.words; pc < end; pc += d.words) {
    tl_decode(e->p, pc, &d);
    if (e->leads[pc])
      why = "a branch or loop comes between";
    int mode = mode_of(&d, slot);
    bool moves = d.op == TL_BC_MOV || d.op == TL_BC_MOVB;
    if (mode >= 0 && o->region != NULL && pc < o->region->together)
      return false;
    if (mode >= 0 && is_elementwise(&d)) {
      if (mode != TL_MODE_CONSUME && mode != TL_MODE_EITHER)
        why = "the result is used again after it";
      if (why == NULL && between == UINT32_MAX)
        return false;
      tl_text_puts(e->out, "apart from `");
      put_source(e->out, e->unit, tl_place_at(e->p, pc));
      tl_text_puts(e->out, "`: ");
      if (why != NULL) {
        tl_text_puts(e->out, why);
      } else {
        tl_text_puts(e->out, "`");
        put_source(e->out, e->unit, tl_place_at(e->p, between));
        tl_text_puts(e->out, "` comes between");
      }
      return true;
    }
    if (mode >= 0 && !moves)
      return false;
    if (mode >= 0 && d.result >= 0)
      slot = (uint32_t)d.result;
    bool loads = d.op == TL_BC_LOADK || d.op == TL_BC_LOADI ||
                 d.op == TL_BC_GETG || moves || is_elementwise(&d);
    if (!loads && between == UINT32_MAX)
      between = pc;
    if (!d.falls_through || d.result == (int32_t)o->d.result)
      return false;
  }
  return false;
}

static void put_code(const explainer *e, const operation *o) {
  if (is_update(o->d.op)) {
    int mode = mode_of(&o->d, (uint32_t)o->d.result);
    put_operand(e, o->pc, (uint32_t)o->d.result);
    if (mode == TL_MODE_BORROW)
      tl_text_puts(e->out, " is copied: another name holds it here");
    else
      tl_text_puts(e->out, " is written in place if nothing else holds it");
  } else if (o->region != NULL) {
    put_region(e, o);
    if (o->pc != region_result(e, o->region))
      tl_text_puts(e->out, "no array of its own");
    else {
      put_together(e, o);
      if (step_of(e, &o->d) == TL_STEP_CALL)
        tl_text_puts(e->out, "takes the items as they are computed");
      else
        put_may(e, o->region->start, o->region->end);
    }
  } else if (is_elementwise(&o->d)) {
    put_may(e, o->pc, o->pc + o->d.words);
  } else {
    tl_text_puts(e->out, "only a run can tell");
  }
}

// --- What a run did ---------------------------------------------------------

typedef struct observed {
  uint64_t fused, inplace, fresh, copies, nbytes, largest;
  uint64_t refused[TL_REFUSAL_COUNT];
  const struct tl_refusal_words *words[TL_REFUSAL_COUNT];
  uint32_t words_pc[TL_REFUSAL_COUNT];
  uint32_t taken_pc;  // where an operand's memory was taken
  uint8_t taken;
} observed;

static void add_note(observed *s, const tl_note *n, uint32_t pc) {
  s->inplace += n->inplace;
  s->fresh += n->fresh;
  s->copies += n->copies;
  s->nbytes += n->nbytes;
  for (int i = 0; i < TL_REFUSAL_COUNT; i++) {
    s->refused[i] += n->refused[i];
    if (s->words[i] == NULL && n->words[i] != NULL) {
      s->words[i] = n->words[i];
      s->words_pc[i] = pc;
    }
  }
  if (n->largest > s->largest)
    s->largest = n->largest;
  if (n->taken != 0) {
    s->taken = n->taken;
    s->taken_pc = pc;
  }
}

// The memory of a region's result is noted where its run began.
static observed observe(const explainer *e, const operation *o) {
  observed s = {.fused = o->note == NULL ? 0 : o->note->fused};
  if (o->note != NULL)
    add_note(&s, o->note, o->pc);
  if (o->region == NULL || o->pc != region_result(e, o->region) || s.fused == 0)
    return s;
  for (uint32_t pc = o->region->start; pc < o->pc; pc++) {
    const tl_note *n = note_at(e, pc);
    if (n != NULL)
      add_note(&s, n, pc);
  }
  return s;
}

static void put_times(tl_text *out, uint64_t count) {
  tl_text_printf(out, count == 1 ? "once" : "%" PRIu64 " times", count);
}

static void put_taken(const explainer *e, const observed *s) {
  tl_decoded d;
  int count = 0;
  tl_decode(e->p, s->taken_pc, &d);
  for (uint32_t i = 0; i < d.operand_count + d.window_count && i < 8; i++) {
    if ((s->taken >> i & 1) == 0)
      continue;
    tl_text_puts(e->out, count++ == 0 ? " of " : " or ");
    put_operand(
        e, s->taken_pc,
        i < d.operand_count ? d.operands[i] : d.window + i - d.operand_count);
  }
}

// Which operand was refused, and why: of the first time.
static void put_refusal(const explainer *e, const operation *o,
                        const observed *s, int why) {
  const struct tl_refusal_words *words = s->words[why];
  if (words == NULL || (why == TL_REFUSED_LIVE && is_update(o->d.op)) ||
      (why == TL_REFUSED_LIVE && words->slot == UINT32_MAX)) {
    tl_text_puts(e->out, why == TL_REFUSED_LIVE && is_update(o->d.op)
                             ? "another name holds it"
                             : refusals[why]);
    return;
  }
  if (why == TL_REFUSED_LIVE) {
    put_keeper(e, s->words_pc[why], s->words_pc[why], words->slot);
    return;
  }
  if (words->slot == UINT32_MAX)
    tl_text_puts(e->out, "an operand");
  else
    put_operand(e, s->words_pc[why], words->slot);
  tl_text_printf(e->out, " %s", words->text);
}

static void put_ran(const explainer *e, const operation *o) {
  observed s = observe(e, o);
  bool first = true, inner = o->region != NULL && s.fused > 0 &&
                             o->pc != region_result(e, o->region);
  if (s.fused > 0) {
    tl_text_puts(e->out, "fused ");
    put_times(e->out, s.fused);
    first = false;
    if (o->note->together > 0 && !inner) {
      tl_text_puts(e->out, ", together ");
      put_times(e->out, o->note->together);
    }
  }
  if (s.inplace > 0 && !inner) {
    tl_text_puts(e->out, first ? "in place" : "; in place");
    put_taken(e, &s);
    tl_text_puts(e->out, " ");
    put_times(e->out, s.inplace);
    first = false;
  }
  if (s.fresh > 0 && !inner) {
    // A copy is a fresh array too: said once.
    bool copied = s.copies == s.fresh;
    tl_text_puts(e->out, first ? "" : "; ");
    tl_text_puts(e->out, copied ? "copied " : "fresh ");
    if (copied)
      s.copies = 0;
    put_times(e->out, s.fresh);
    tl_text_printf(e->out, ", %" PRIu64 " bytes", s.nbytes);
    first = false;
    const char *sep = ": ";
    for (int i = 0; i < TL_REFUSAL_COUNT; i++) {
      if (s.refused[i] == 0)
        continue;
      tl_text_puts(e->out, sep);
      put_refusal(e, o, &s, i);
      sep = ", ";
    }
  }
  if (o->region != NULL && s.fused == 0) {
    tl_text_puts(e->out, first ? "not " : "; not ");
    tl_text_puts(e->out, o->region->is_part ? "together: " : "fused: ");
    first = false;
    if (s.largest < TL_REGION_LARGE)
      tl_text_printf(e->out,
                     "fewer than %d items go one by one, but where they come "
                     "again",
                     TL_REGION_LARGE);
    else if (o->region->is_part)
      tl_text_puts(e->out,
                   "what they read or their shapes differ, or it would take "
                   "more memory");
    else
      tl_text_puts(e->out, "shapes, dtypes or arguments did not fit");
  }
  if (s.copies > 0) {
    tl_text_puts(e->out, first ? "copied " : ", copied ");
    put_times(e->out, s.copies);
    first = false;
  }
  if (first)
    tl_text_puts(e->out, "no array was met here");
}

// --- The whole --------------------------------------------------------------

static bool is_shown(const explainer *e, const operation *o) {
  if (o->place == NULL)
    return false;
  bool may = is_elementwise(&o->d) || is_update(o->d.op);
  if (e->notes == NULL || o->note == NULL)
    return may && e->notes == NULL;
  const tl_note *n = o->note;
  if (says_where(e, o->region, o->pc, &o->d))
    return n->fresh + n->inplace + n->copies > 0;
  return may || step_of(e, &o->d) == TL_STEP_NONE || joins(e, &o->d) ||
         n->fresh + n->inplace + n->copies > 0;
}

static uint32_t count_quiet(const explainer *e) {
  uint32_t count = 0;
  operation o;
  for (uint32_t pc = 0; pc < e->p->code_count; pc += o.d.words) {
    read_operation(e, pc, &o);
    count += (is_elementwise(&o.d) || is_update(o.d.op)) && !is_shown(e, &o);
  }
  return count;
}

static void put_name(const explainer *e, uint32_t index) {
  const tl_prototype *p = e->p;
  if (index == 0)
    tl_text_printf(e->out, "%s", e->unit->file->text);
  else
    tl_text_printf(e->out, "fn %s", p->name->text);
}

static void explain_function(explainer *e, uint32_t index) {
  operation o;
  uint32_t line = 0;
  bool named = false;
  for (uint32_t pc = 0; pc < e->p->code_count; pc += o.d.words) {
    read_operation(e, pc, &o);
    if (!is_shown(e, &o))
      continue;
    if (!named) {
      tl_text_puts(e->out, "\n");
      put_name(e, index);
      tl_text_puts(e->out, "\n");
      named = true;
    }
    if (o.line != line) {
      size_t nbytes;
      const char *source = tl_line_text(e->unit, o.line, &nbytes);
      tl_text_printf(e->out, "%5" PRIu32 "  ", o.line);
      tl_text_add(e->out, source, nbytes);
      tl_text_puts(e->out, "\n");
      line = o.line;
    }
    tl_text_puts(e->out, "         `");
    put_source(e->out, e->unit, o.place);
    tl_text_puts(e->out, "`\n           may: ");
    put_code(e, &o);
    size_t before = e->out->length;
    tl_text_puts(e->out, "\n                ");
    if (!put_apart(e, &o))
      e->out->length = before;
    if (e->notes != NULL) {
      tl_text_puts(e->out, "\n           ran: ");
      put_ran(e, &o);
    }
    tl_text_puts(e->out, "\n");
  }
  uint32_t quiet = e->notes == NULL ? 0 : count_quiet(e);
  if (named && quiet > 0)
    tl_text_printf(e->out,
                   "         (%" PRIu32
                   " more met scalars alone, or did not run)\n",
                   quiet);
}

void tl_explain_text(tl_text *out, const tl_unit *unit, const tl_notes *notes,
                     const char *error) {
  tl_text_puts(out,
               "may: what the compiled code allows, whatever the values are\n");
  if (notes != NULL)
    tl_text_puts(out, "ran: what this run did\n");
  for (uint32_t i = 0; i < unit->prototype_count; i++) {
    explainer e = {.out = out, .unit = unit, .notes = notes};
    if (!open_function(&e, i))
      return;
    explain_function(&e, i);
    close_function(&e);
  }
  if (error != NULL)
    tl_text_printf(out, "\nThe run ended with an error: %s\n", error);
}

// --- JSON -------------------------------------------------------------------

static void put_quoted(tl_text *out, const char *from, size_t nbytes) {
  tl_text_putc(out, '"');
  for (size_t i = 0; i < nbytes; i++) {
    unsigned char c = (unsigned char)from[i];
    if (c == '"' || c == '\\')
      tl_text_printf(out, "\\%c", c);
    else if (c < ' ')
      tl_text_printf(out, "\\u%04x", c);
    else
      tl_text_putc(out, (char)c);
  }
  tl_text_putc(out, '"');
}

// What was written from [begin] on becomes a JSON string.
static void quote_rest(tl_text *out, size_t begin) {
  tl_text plain;
  tl_text_open(&plain, out->vm);
  tl_text_add(&plain, out->bytes + begin, out->length - begin);
  out->length = begin;
  if (plain.failed)
    out->failed = true;
  else
    put_quoted(out, plain.bytes, plain.length);
  tl_text_close(&plain);
}

static void json_operation(const explainer *e, const operation *o) {
  tl_text *out = e->out;
  tl_text_printf(out, "{\"line\": %" PRIu32 ", \"function\": ", o->line);
  put_quoted(out, e->p->name->text, e->p->name->length);
  tl_text_puts(out, ", \"operation\": ");
  size_t begin = out->length;
  put_source(out, e->unit, o->place);
  quote_rest(out, begin);
  tl_text_puts(out, ", \"may\": ");
  begin = out->length;
  put_code(e, o);
  quote_rest(out, begin);
  if (o->region != NULL)
    tl_text_printf(out, ", \"region\": %" PRIu32, o->region->start);
  begin = out->length;
  tl_text_puts(out, ", \"apart\": ");
  size_t value = out->length;
  if (put_apart(e, o))
    quote_rest(out, value);
  else
    out->length = begin;
  if (e->notes != NULL) {
    observed s = observe(e, o);
    tl_text_printf(out,
                   ", \"ran\": {\"fused\": %" PRIu64 ", \"together\": %" PRIu64
                   ", \"inplace\": %" PRIu64 ", \"fresh\": %" PRIu64
                   ", \"bytes\": %" PRIu64 ", \"copies\": %" PRIu64,
                   s.fused, o->note == NULL ? 0 : o->note->together, s.inplace,
                   s.fresh, s.nbytes, s.copies);
    static const char *const names[TL_REFUSAL_COUNT] = {
        "live", "shared", "shape", "dtype", "external"};
    for (int i = 0; i < TL_REFUSAL_COUNT; i++)
      tl_text_printf(out, ", \"refused_%s\": %" PRIu64, names[i], s.refused[i]);
    tl_text_puts(out, "}");
  }
  tl_text_puts(out, "}");
}

void tl_explain_json(tl_text *out, const tl_unit *unit, const tl_notes *notes,
                     const char *error) {
  const char *sep = "";
  operation o;
  tl_text_puts(out, "{\"file\": ");
  put_quoted(out, unit->file->text, unit->file->length);
  tl_text_puts(out, ", \"error\": ");
  if (error == NULL)
    tl_text_puts(out, "null");
  else
    put_quoted(out, error, strlen(error));
  tl_text_puts(out, ", \"operations\": [");
  for (uint32_t i = 0; i < unit->prototype_count; i++) {
    explainer e = {.out = out, .unit = unit, .notes = notes};
    if (!open_function(&e, i))
      return;
    for (uint32_t pc = 0; pc < e.p->code_count; pc += o.d.words) {
      read_operation(&e, pc, &o);
      if (!is_shown(&e, &o))
        continue;
      tl_text_printf(out, "%s\n  ", sep);
      json_operation(&e, &o);
      sep = ",";
    }
    close_function(&e);
  }
  tl_text_puts(out, "\n]}\n");
}
