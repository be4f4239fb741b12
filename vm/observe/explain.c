// The code of a unit as JSON for stdlib/inner/explain.tly, which says what each
// operation's result lives in: what the compiled code allows ("may"), and what
// a run did ("ran"). Messages of in-place contracts have it say what an operand
// is called, and what keeps it.
//
//     tl_explain_code ─ put_function ─ put_more ─┬─ put_called
//                     ─ put_machine_code         └─ put_note
//     tl_spell_…      ─ put_function
#include "vm/observe/explain.h"

#include <inttypes.h>

#include "vm/memory/reserve.h"
#include "vm/native/jit.h"
#include "vm/objects.h"
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

// --- Places -----------------------------------------------------------------

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

// --- Text -------------------------------------------------------------------

// A text of the C library's kind, NULL as null.
static void put_text(tl_text *out, const char *text) {
  if (text == NULL)
    tl_text_puts(out, "null");
  else
    tl_json_text(out, text, strlen(text));
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

// How often an operand's memory was refused for one reason, and as seen the
// first time, if it was, the operand's slot, null where it is not known, and
// what is to be said of it.
static void put_refused(tl_text *out, const void *of, uint32_t i) {
  const tl_note *n = of;
  const struct tl_rejection_words *words = n->words[i];
  tl_text_printf(out, "[%" PRIu64, n->refused[i]);
  if (words != NULL) {
    if (words->slot == UINT32_MAX)
      tl_text_puts(out, ", null, ");
    else
      tl_text_printf(out, ", %" PRIu32 ", ", words->slot);
    put_text(out, words->text);
  }
  tl_text_puts(out, "]");
}

// What the instruction did in a run: the note's counts as they are, and a bit
// for each operand whose memory was taken, the window's behind the others.
static void put_note(tl_text *out, const tl_note *n) {
  tl_text_printf(
      out,
      ", \"note\": {\"fused\": %" PRIu64 ", \"together\": %" PRIu64
      ", \"inplace\": %" PRIu64 ", \"fresh\": %" PRIu64 ", \"bytes\": %" PRIu64
      ", \"copies\": %" PRIu64 ", \"changed\": %" PRIu64 ", \"made\": %" PRIu64
      ", \"made_bytes\": %" PRIu64 ", \"largest\": %" PRIu64 ", \"taken\": %d",
      n->fused, n->together, n->inplace, n->fresh, n->nbytes, n->copies,
      n->changed, n->made, n->made_bytes, n->largest, n->taken);
  tl_json_list(out, "refused", n, TL_REJECTION_COUNT, put_refused);
  tl_text_puts(out, "}");
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
  const tl_place_entry *place = tl_place_at(p, pc);
  const bool computes = tl_region_op(d->op, d->extra) != TL_OP_COUNT;
  const bool is_update =
      tl_opcodes[d->op].result == TL_DEF_TARGET && d->op != TL_BC_PUSH;
  tl_explain_place(out, p, pc);
  tl_text_printf(out,
                 ", \"is_own_place\": %s, \"step\": \"%s\", \"computes\": %s"
                 ", \"is_update\": %s, \"region\": %d",
                 tl_json_bool(place != NULL && place->pc == pc),
                 step_name(e, pc, d), tl_json_bool(computes),
                 tl_json_bool(is_update),
                 r == NULL ? -1 : (int)(r - p->regions));
  put_called(e, pc, d);
  if (note == NULL)
    tl_text_puts(out, ", \"note\": null");
  else
    put_note(out, note);
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
  tl_json_list(out, "variables", p->slot_names, p->named_count, tl_json_name);
  tl_json_handlers(out, p);
  tl_text_printf(out, ", \"params\": %" PRIu32, p->param_count);
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

// --- Words for contracts ----------------------------------------------------

// Appends what a function of the program says of an operand of the instruction
// at [pc]. After a failure the text has failed.
static void spell(tl_text *out, const char *function, const tl_prototype *p,
                  uint32_t pc, uint32_t slot) {
  tl_vm *vm = out->vm;
  tl_text code;
  size_t before = tl_reserve(vm, TL_RESERVE);
  tl_text_open(&code, vm);
  tl_text_printf(
      &code, "{\"pc\": %" PRIu32 ", \"slot\": %" PRIu32 ", \"functions\": [",
      pc, slot);
  tl_explainer e = {.out = &code, .unit = p->unit};
  put_function(&e, p->index);
  tl_text_puts(&code, "]}");
  if (!vm->host->tell_code(vm, &code, "inner/explain", function, NULL, out)) {
    out->failed = true;
    if (!tl_failed(vm))
      tl_fail_memory(vm, code.length, "an explanation");
  }
  tl_reserve(vm, before);
}

void tl_spell_operand(tl_text *out, const tl_prototype *p, uint32_t pc,
                      uint32_t slot) {
  spell(out, "told_operand", p, pc, slot);
}

void tl_spell_keeper(tl_text *out, const tl_prototype *p, uint32_t pc,
                     uint32_t slot) {
  spell(out, "told_keeper", p, pc, slot);
}

void tl_spell_holder(tl_text *out, const tl_prototype *p, uint32_t pc,
                     uint32_t slot) {
  spell(out, "told_holder", p, pc, slot);
}

// "what is taken from x needs a new array: it is no view".
void tl_spell_choice(tl_text *out, const tl_prototype *p, uint32_t pc,
                     uint32_t slot) {
  tl_text_puts(out, "what is taken from ");
  tl_spell_operand(out, p, pc, slot);
  tl_text_puts(out, " needs a new array: it is no view");
}
