// The code of a unit as JSON for stdlib/inner/explain.tly, which says what each
// operation's result lives in: what the compiled code allows ("may"), and what
// a run did ("ran"). What names an operand, or says what keeps it, is written
// in explain_words.c, as messages of in-place contracts need it too.
//
//     tl_explain_code ─ put_function ─ put_instruction ─┬─ put_operands
//                     ─ put_machine_code                └─ put_note
#include "vm/observe/explain.h"

#include <inttypes.h>
#include <string.h>

#include "vm/native/jit.h"
#include "vm/observe/explain_internal.h"
#include "vm/memory/memory.h"

// --- Text -------------------------------------------------------------------

void tl_explain_quoted(tl_text *out, const char *from, size_t nbytes) {
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

// A text of the C library's kind, NULL as null.
static void put_text(tl_text *out, const char *text) {
  if (text == NULL)
    tl_text_puts(out, "null");
  else
    tl_explain_quoted(out, text, strlen(text));
}

// Turns what was written from [begin] on into a JSON string.
static void quote_rest(tl_text *out, size_t begin) {
  tl_text plain;
  tl_text_open(&plain, out->vm);
  tl_text_add(&plain, out->bytes + begin, out->length - begin);
  out->length = begin;
  if (plain.failed)
    out->failed = true;
  else
    tl_explain_quoted(out, plain.bytes, plain.length);
  tl_text_close(&plain);
}

// As JSON has it.
static const char *truth(bool is_true) {
  return is_true ? "true" : "false";
}

// The operand's name as a JSON string.
static void put_name(const tl_explainer *e, uint32_t pc, uint32_t slot) {
  const size_t begin = e->out->length;
  tl_explain_operand(e, pc, slot);
  quote_rest(e->out, begin);
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
      [TL_STEP_CALL] = "call",     [TL_STEP_SELECT] = "select"};
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

// The operands: each with the instruction that wrote it last in the text, -1
// for a parameter. Where the items are read, [reads], or in a region a view of
// them or an argument moved, its name and whether it certainly is no array; of
// one that does not end there, what keeps it beyond the region, or the
// instruction.
static void put_operands(const tl_explainer *e, const tl_region *r, uint32_t pc,
                         const tl_decoded *d, bool reads) {
  tl_text *out = e->out;
  tl_text_puts(out, ", \"operands\": [");
  for (uint32_t i = 0; i < d->operand_count; i++) {
    const uint32_t slot = d->operands[i];
    uint32_t made;
    const bool found = tl_explain_definition(e, pc, slot, &made);
    const bool is_plain = reads && tl_explain_is_plain_scalar(e, pc, slot);
    tl_text_printf(out,
                   "%s{\"slot\": %" PRIu32 ", \"mode\": %d, \"made\": %" PRId64
                   ", \"is_plain\": %s",
                   i == 0 ? "" : ", ", slot, (int)d->modes[i],
                   found ? (int64_t)made : -1, truth(is_plain));
    if (reads) {
      tl_text_puts(out, ", \"name\": ");
      put_name(e, pc, slot);
    }
    if (reads && !is_plain && d->modes[i] == TL_MODE_BORROW) {
      tl_text_puts(out, ", \"keeper\": ");
      const size_t begin = out->length;
      tl_explain_keeper(
          e, pc, r == NULL ? pc : tl_explain_last_of(e, pc, r->end), slot);
      quote_rest(out, begin);
    }
    tl_text_puts(out, "}");
  }
  tl_text_puts(out, "]");
}

// The slot of operand [i], counting those of the window behind the others.
static uint32_t slot_of(const tl_decoded *d, uint32_t i) {
  return i < d->operand_count ? (uint32_t)d->operands[i]
                              : d->window + i - d->operand_count;
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
    put_name(e, pc, slot_of(d, i));
    sep = ", ";
  }
  tl_text_puts(e->out, "], \"range\": ");
  uint32_t from, i = 0;
  while (i < count && !(tl_explain_definition(e, pc, slot_of(d, i), &from) &&
                        e->p->code[from].op == TL_BC_RANGE))
    i++;
  if (i < count)
    put_name(e, pc, slot_of(d, i));
  else
    tl_text_puts(e->out, "null");
}

// How often an operand's memory was refused for that reason, and as seen the
// first time, if it was, the operand's name or null and what is to be said of
// it. Of one that is used later that says all.
static void put_refused(const tl_explainer *e, uint32_t pc, const tl_note *n,
                        tl_rejection why) {
  tl_text *out = e->out;
  const struct tl_rejection_words *words = n->words[why];
  const bool named = words != NULL && words->slot != UINT32_MAX;
  tl_text_printf(out, "[%" PRIu64, n->refused[why]);
  if (why == TL_REFUSED_LIVE && named) {
    tl_text_puts(out, ", null, ");
    const size_t begin = out->length;
    tl_explain_keeper(e, pc, pc, words->slot);
    quote_rest(out, begin);
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
  tl_text_puts(e->out, ", \"target\": ");
  put_name(e, pc, slot);
  tl_text_puts(e->out, ", \"holder\": ");
  const size_t begin = e->out->length;
  if (d->modes[0] == TL_MODE_BORROW ||
      (n != NULL && n->refused[TL_REFUSED_LIVE] > 0))
    tl_explain_holder(e, pc, slot);
  quote_rest(e->out, begin);
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
  quote_rest(e->out, begin);
}

// One instruction, by the fields that the program reads of it.
static void put_instruction(const tl_explainer *e, uint32_t pc,
                            const tl_decoded *d) {
  tl_text *out = e->out;
  const tl_region *r = tl_explain_region(e->p, pc);
  const tl_place_entry *place = tl_place_at(e->p, pc);
  const tl_note *note = tl_note_find(e->notes, &e->p->code[pc]);
  const bool computes = tl_region_op(d->op, d->extra) != TL_OP_COUNT;
  const bool is_update =
      tl_opcodes[d->op].result == TL_DEF_TARGET && d->op != TL_BC_PUSH;
  const char *step = step_name(e, pc, d);
  tl_text_printf(out,
                 "{\"pc\": %" PRIu32 ", \"next\": %" PRIu32
                 ", \"op\": \"%s\", \"line\": %" PRIu32
                 ", \"is_placed\": %s, \"source\": ",
                 pc, pc + d->words, tl_opcodes[d->op].name,
                 tl_line_at(e->p, pc), truth(place != NULL));
  const size_t begin = out->length;
  tl_explain_source(out, e->unit, place);
  quote_rest(out, begin);
  tl_text_printf(
      out,
      ", \"step\": \"%s\", \"computes\": %s, \"is_update\": %s"
      ", \"region\": %d, \"window\": [%" PRIu32 ", %" PRIu32
      "], \"result\": %" PRId32 ", \"goes_to\": %" PRId64 ", \"falls\": %s",
      step, truth(computes), truth(is_update),
      r == NULL ? -1 : (int)(r - e->p->regions), d->window, d->window_count,
      d->result, d->target, truth(d->falls_through));
  put_operands(e, r, pc, d,
               computes || (r != NULL &&
                            (strcmp(step, "view") == 0 || d->op == TL_BC_MOV)));
  put_called(e, pc, d);
  if (is_update)
    put_update(e, pc, d, note);
  if (note == NULL)
    tl_text_puts(out, ", \"note\": null");
  else
    put_note(e, pc, d, note);
  tl_text_puts(out, "}");
}

// --- The code ---------------------------------------------------------------

// A function: its regions and instructions. False: there is no memory for the
// index of which instruction writes which slot, which the text then says.
static bool put_function(tl_explainer *e, uint32_t index) {
  tl_text *out = e->out;
  const tl_prototype *p = e->p = e->unit->prototypes[index];
  const size_t nbytes = tl_writers_size(p) * sizeof(uint32_t);
  uint32_t *memory = tl_alloc_zeroed(out->vm, nbytes, "an explanation");
  tl_decoded d;
  if (memory == NULL) {
    tl_error_clear(out->vm);
    out->failed = true;
    return false;
  }
  tl_writers_index(&e->writers, p, memory);
  tl_text_puts(out, "{\"name\": ");
  tl_explain_quoted(out, p->name->text, p->name->length);
  tl_text_printf(out, ", \"end\": %" PRIu32 ", \"regions\": [", p->code_count);
  for (uint32_t i = 0; i < p->region_count; i++) {
    const tl_region *r = &p->regions[i];
    tl_text_printf(out,
                   "%s{\"start\": %" PRIu32 ", \"end\": %" PRIu32
                   ", \"together\": %" PRIu32 ", \"is_part\": %s}",
                   i == 0 ? "" : ", ", r->start, r->end, r->together,
                   truth(r->is_part));
  }
  tl_text_puts(out, "], \"code\": [");
  for (uint32_t pc = 0; pc < p->code_count; pc += d.words) {
    tl_decode(p, pc, &d);
    tl_text_puts(out, pc == 0 ? "" : ",\n");
    put_instruction(e, pc, &d);
  }
  tl_text_puts(out, "]}");
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
                 truth(report->is_given_up));
  put_text(m->out, report->function->name->text);
  tl_text_puts(m->out, ", \"left_name\": ");
  put_text(m->out, left->name->text);
  tl_text_puts(m->out, "}");
  m->sep = ", ";
}

void tl_explain_code(tl_text *out, const tl_unit *unit, const tl_notes *notes,
                     const char *error) {
  size_t nbytes;
  tl_text_puts(out, "{\"file\": ");
  tl_explain_quoted(out, unit->file->text, unit->file->length);
  tl_text_puts(out, ", \"error\": ");
  put_text(out, error);
  tl_text_printf(out, ", \"has_run\": %s, \"large\": %d, \"native\": [",
                 truth(notes != NULL), TL_REGION_LARGE);
  machine_code m = {.out = out, .unit = unit, .sep = ""};
  if (notes != NULL)
    tl_jit_each(out->vm, put_machine_code, &m);
  tl_text_puts(out, "], \"lines\": [");
  for (uint32_t i = 1; i <= unit->line_count; i++) {
    const char *line = tl_line_text(unit, i, &nbytes);
    tl_text_puts(out, i == 1 ? "" : ", ");
    tl_explain_quoted(out, line, nbytes);
  }
  tl_text_puts(out, "], \"functions\": [");
  tl_explainer e = {.out = out, .unit = unit, .notes = notes};
  for (uint32_t i = 0; i < unit->prototype_count; i++) {
    tl_text_puts(out, i == 0 ? "" : ",\n");
    if (!put_function(&e, i))
      return;
  }
  tl_text_puts(out, "]}");
}
