// What each operation's result lives in, for all functions of a unit. What the
// compiled code says comes first ("may"), then what a run did ("ran"); the two
// are never mixed.
#include "vm/observe/explain.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "vm/native/jit.h"
#include "vm/observe/explain_internal.h"
#include "vm/memory/memory.h"

// --- The whole --------------------------------------------------------------

// Prepares a function: where jumps lead, and which instruction writes which
// slot. False: no memory, which the text then says.
static bool open_function(tl_explainer *e, uint32_t index) {
  tl_vm *vm = e->out->vm;
  tl_decoded d;
  e->p = e->unit->prototypes[index];
  e->leads = tl_alloc_zeroed(vm, e->p->code_count + 1, "an explanation");
  e->writers_size = tl_writers_size(e->p) * sizeof(uint32_t);
  uint32_t *memory = tl_alloc_zeroed(vm, e->writers_size, "an explanation");
  if (e->leads == NULL || memory == NULL) {
    tl_free(vm, e->leads, e->p->code_count + 1);
    tl_free(vm, memory, e->writers_size);
    tl_error_clear(vm);
    e->out->failed = true;
    return false;
  }
  tl_writers_index(&e->writers, e->p, memory);
  for (uint32_t pc = 0; pc < e->p->code_count; pc += d.words) {
    tl_decode(e->p, pc, &d);
    if (d.target >= 0)
      e->leads[d.target] = true;
  }
  return true;
}

// The sizes are those that opening has asked for.
static void close_function(tl_explainer *e) {
  tl_free(e->out->vm, e->leads, e->p->code_count + 1);
  tl_free(e->out->vm, e->writers.first, e->writers_size);
}

// Collects what is known of the instruction at [pc].
static void read_operation(const tl_explainer *e, uint32_t pc,
                           tl_explained *out) {
  *out = (tl_explained){.pc = pc,
                        .place = tl_place_at(e->p, pc),
                        .line = tl_line_at(e->p, pc),
                        .note = tl_explain_note(e, pc),
                        .region = tl_explain_region(e->p, pc)};
  tl_decode(e->p, pc, &out->d);
}

// Whether the instruction is an operation worth a line: one that computes
// arrays, or was seen to make one.
static bool is_shown(const tl_explainer *e, const tl_explained *o) {
  if (o->place == NULL)
    return false;
  bool may = tl_explain_is_elementwise(&o->d) || tl_explain_is_update(o->d.op);
  if (e->notes == NULL || o->note == NULL)
    return may && e->notes == NULL;
  const tl_note *n = o->note;
  bool told = n->fresh + n->inplace + n->copies + n->changed + n->made > 0;
  if (tl_explain_says_where(e, o->region, o->pc, &o->d))
    return told;
  return may || tl_explain_step(e, o->pc, &o->d) == TL_STEP_NONE ||
         tl_explain_selects(o->region, o->pc, &o->d) ||
         tl_explain_joins(e, o->pc, &o->d) || told;
}

// Operations that are not shown, since they met scalars alone or did not run.
static uint32_t count_quiet(const tl_explainer *e) {
  uint32_t count = 0;
  tl_explained o;
  for (uint32_t pc = 0; pc < e->p->code_count; pc += o.d.words) {
    read_operation(e, pc, &o);
    count +=
        (tl_explain_is_elementwise(&o.d) || tl_explain_is_update(o.d.op)) &&
        !is_shown(e, &o);
  }
  return count;
}

// The function's name, or the script's.
static void put_name(const tl_explainer *e, uint32_t index) {
  const tl_prototype *p = e->p;
  if (index == 0)
    tl_text_printf(e->out, "%s", e->unit->file->text);
  else
    tl_text_printf(e->out, "fn %s", p->name->text);
}

// All operations of a function, below the source lines they stand in.
static void explain_function(tl_explainer *e, uint32_t index) {
  tl_explained o;
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
    tl_explain_source(e->out, e->unit, o.place);
    tl_text_puts(e->out, "`\n           may: ");
    tl_explain_code(e, &o);
    // The line is begun before it is known whether there is anything to say; if
    // not, the text is cut back.
    size_t before = e->out->length;
    tl_text_puts(e->out, "\n                ");
    if (!tl_explain_apart(e, &o))
      e->out->length = before;
    if (e->notes != NULL) {
      tl_text_puts(e->out, "\n           ran: ");
      tl_explain_ran(e, &o);
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

// Functions in the order of the source, each with its operations.
// The places of a unit's code that ran as machine code.
typedef struct machine_code {
  tl_text *out;
  const tl_unit *unit;
  bool any;
} machine_code;

// Writes "line 3 in f": the script itself has no name, so its places are lines
// alone.
static void put_place(tl_text *out, const tl_prototype *p, uint32_t pc) {
  const char *name = p->name->text;
  tl_text_printf(out, "line %u", tl_line_at(p, pc));
  if (*name != 0)
    tl_text_printf(out, " in %s", name);
}

// Why it left is the instruction there: what it does, or for what values.
static void explain_machine_code(void *context, const tl_jit_report *report) {
  machine_code *m = context;
  if (report->function->unit != m->unit)
    return;
  tl_text_puts(m->out, m->any ? "" : "\nnative: what ran as machine code\n");
  m->any = true;
  tl_text_puts(m->out, "  ");
  put_place(m->out, report->function, report->pc);
  if (report->runs == 1)
    tl_text_puts(m->out, ": entered once, left last at ");
  else
    tl_text_printf(m->out, ": entered %llu times, left last at ",
                   (unsigned long long)report->runs);
  put_place(m->out, report->left_in, report->left_at);
  tl_text_puts(m->out, " (");
  for (const char *c =
           tl_opcodes[report->left_in->code[report->left_at].op].name;
       *c != 0; c++)
    tl_text_putc(m->out, (char)tolower(*c));
  tl_text_puts(m->out, report->is_given_up ? "); given up, it left too soon\n"
                                           : ")\n");
}

// The script comes first, then its functions. Where a run failed, what it did
// until then is still told, and the error stands last.
void tl_explain_text(tl_text *out, const tl_unit *unit, const tl_notes *notes,
                     const char *error) {
  tl_text_puts(out,
               "may: what the compiled code allows, whatever the values are\n");
  if (notes != NULL)
    tl_text_puts(out, "ran: what this run did\n");
  for (uint32_t i = 0; i < unit->prototype_count; i++) {
    tl_explainer e = {.out = out, .unit = unit, .notes = notes};
    if (!open_function(&e, i))
      return;
    explain_function(&e, i);
    close_function(&e);
  }
  machine_code m = {.out = out, .unit = unit};
  if (notes != NULL)
    tl_jit_each(out->vm, explain_machine_code, &m);
  if (error != NULL)
    tl_text_printf(out, "\nThe run ended with an error: %s\n", error);
}

// --- JSON -------------------------------------------------------------------

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

// One operation as a JSON object.
static void json_operation(const tl_explainer *e, const tl_explained *o) {
  tl_text *out = e->out;
  tl_text_printf(out, "{\"line\": %" PRIu32 ", \"function\": ", o->line);
  tl_explain_quoted(out, e->p->name->text, e->p->name->length);
  tl_text_puts(out, ", \"operation\": ");
  size_t begin = out->length;
  tl_explain_source(out, e->unit, o->place);
  quote_rest(out, begin);
  tl_text_puts(out, ", \"may\": ");
  begin = out->length;
  tl_explain_code(e, o);
  quote_rest(out, begin);
  if (o->region != NULL)
    tl_text_printf(out, ", \"region\": %" PRIu32, o->region->start);
  begin = out->length;
  tl_text_puts(out, ", \"apart\": ");
  size_t value = out->length;
  if (tl_explain_apart(e, o))
    quote_rest(out, value);
  else
    out->length = begin;
  if (e->notes != NULL) {
    tl_observed s = tl_explain_observe(e, o);
    tl_text_printf(out,
                   ", \"ran\": {\"fused\": %" PRIu64 ", \"together\": %" PRIu64
                   ", \"inplace\": %" PRIu64
                   ", \"fresh\": %" PRIu64 ", \"bytes\": %" PRIu64
                   ", \"copies\": %" PRIu64 ", \"changed\": %" PRIu64
                   ", \"made\": %" PRIu64 ", \"made_bytes\": %" PRIu64,
                   s.fused, o->note == NULL ? 0 : o->note->together,
                   s.inplace, s.fresh, s.nbytes, s.copies, s.changed, s.made,
                   s.made_bytes);
    static const char *const names[TL_REJECTION_COUNT] = {
        "live", "shared", "shape", "dtype", "external"};
    for (int i = 0; i < TL_REJECTION_COUNT; i++)
      tl_text_printf(out, ", \"refused_%s\": %" PRIu64, names[i], s.refused[i]);
    tl_text_puts(out, "}");
  }
  tl_text_puts(out, "}");
}

// One flat list of operations, each with its function's name.
void tl_explain_json(tl_text *out, const tl_unit *unit, const tl_notes *notes,
                     const char *error) {
  const char *sep = "";
  tl_explained o;
  tl_text_puts(out, "{\"file\": ");
  tl_explain_quoted(out, unit->file->text, unit->file->length);
  tl_text_puts(out, ", \"error\": ");
  if (error == NULL)
    tl_text_puts(out, "null");
  else
    tl_explain_quoted(out, error, strlen(error));
  tl_text_puts(out, ", \"operations\": [");
  for (uint32_t i = 0; i < unit->prototype_count; i++) {
    tl_explainer e = {.out = out, .unit = unit, .notes = notes};
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
