// The code of a unit as JSON for stdlib/inner/explain.tly, which says what each
// operation's result lives in: what the compiled code allows ("may"), and what
// a run did ("ran"). What names an operand, or says what keeps it, is written
// in explain_words.c, as messages of in-place contracts need it too.
//
//     tl_explain_code ─ put_function ─ put_more ─┬─ put_input
//                     ─ put_machine_code         └─ put_note
#include "vm/observe/explain.h"

#include <inttypes.h>

#include "vm/native/jit.h"
#include "vm/observe/code_json.h"
#include "vm/observe/explain_internal.h"
#include "vm/observe/rejection.h"

// --- Text -------------------------------------------------------------------

// A text of the C library's kind, NULL as null.
static void put_text(tl_text *out, const char *text) {
  if (text == NULL)
    tl_text_puts(out, "null");
  else
    tl_json_text(out, text, strlen(text));
}

// The operand's name as a JSON string.
static void put_name(const tl_explainer *e, uint32_t pc, uint32_t slot) {
  const size_t begin = e->out->length;
  tl_explain_operand(e, pc, slot);
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
  const bool found = tl_explain_definition(e, pc, slot, &made);
  const bool is_plain = reads && tl_explain_is_plain_scalar(e, pc, slot);
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
    tl_explain_keeper(e, pc, r, slot);
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
  while (i < count &&
         !(tl_explain_definition(e, pc, tl_operand_slot(d, i), &from) &&
           e->p->code[from].op == TL_BC_RANGE))
    i++;
  if (i < count)
    put_name(e, pc, tl_operand_slot(d, i));
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
    tl_explain_keeper(e, pc, NULL, words->slot);
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
    tl_explain_holder(e, pc, slot);
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
  tl_json_text(out, unit->file->text, unit->file->length);
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
