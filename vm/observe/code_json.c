// The code of a unit as JSON: see code_json.h.
//
//     tl_json_listing ─ put_keys, put_path …   what instructions name
//                     ─ put_function ─ tl_json_code ─ put_instruction
//
// Built for size.
#include "vm/observe/code_json.h"

#include <inttypes.h>

#include "vm/text/format.h"

// --- Values of JSON ---------------------------------------------------------

void tl_json_quote_rest(tl_text *out, size_t begin) {
  tl_text plain;
  tl_text_open(&plain, out->vm);
  tl_text_add(&plain, out->bytes + begin, out->length - begin);
  out->length = begin;
  if (plain.failed)
    out->failed = true;
  else
    tl_text_json(out, plain.bytes, plain.length);
  tl_text_close(&plain);
}

void tl_json_list(tl_text *out, const char *name, const void *of,
                  uint32_t count, tl_json_item *put) {
  const bool is_first = out->length > 0 && out->bytes[out->length - 1] == '{';
  tl_text_printf(out, "%s\"%s\": [", is_first ? "" : ", ", name);
  for (uint32_t i = 0; i < count; i++) {
    tl_text_puts(out, i == 0 ? "" : ", ");
    put(out, of, i);
  }
  tl_text_putc(out, ']');
}

// A string of the VM's, NULL as null.
static void put_string(tl_text *out, const tl_string *s) {
  if (s == NULL)
    tl_text_puts(out, "null");
  else
    tl_text_json(out, s->text, s->length);
}

// Items of lists: numbers, strings, and names of functions.
static void put_slot(tl_text *out, const void *of, uint32_t i) {
  tl_text_printf(out, "%" PRIu16, ((const uint16_t *)of)[i]);
}

static void put_mode(tl_text *out, const void *of, uint32_t i) {
  tl_text_printf(out, "%" PRIu8, ((const uint8_t *)of)[i]);
}

void tl_json_name(tl_text *out, const void *of, uint32_t i) {
  put_string(out, ((tl_string *const *)of)[i]);
}

static void put_function_name(tl_text *out, const void *of, uint32_t i) {
  put_string(out, ((tl_prototype *const *)of)[i]->name);
}

// --- Functions --------------------------------------------------------------

static void put_instruction(tl_text *out, uint32_t pc, const tl_decoded *d) {
  tl_text_printf(out,
                 "{\"pc\": %" PRIu32 ", \"next\": %" PRIu32
                 ", \"op\": \"%s\", \"window\": [%" PRIu32 ", %" PRIu32
                 "], \"result\": %" PRId32 ", \"results\": %" PRIu32
                 ", \"target\": %" PRId64 ", \"falls\": %s",
                 pc, pc + d->words, tl_opcodes[d->op].name, d->window,
                 d->window_count, d->result, d->result_count, d->target,
                 tl_json_bool(d->falls_through));
  tl_json_list(out, "operands", d->operands, d->operand_count, put_slot);
  tl_json_list(out, "modes", d->modes, d->operand_count, put_mode);
}

// A handler, with what it keeps and what it makes owners.
static void put_handler(tl_text *out, const void *of, uint32_t i) {
  const tl_handler *h = &((const tl_handler *)of)[i];
  tl_text_printf(out,
                 "{\"start\": %" PRIu32 ", \"end\": %" PRIu32
                 ", \"handler\": %" PRIu32,
                 h->start, h->end, h->handler);
  tl_json_list(out, "keeps", h->kept, h->kept_count, put_slot);
  tl_json_list(out, "owns", h->own, h->own_count, put_slot);
  tl_text_putc(out, '}');
}

void tl_json_code(tl_text *out, const tl_prototype *p, tl_json_more *more,
                  void *context) {
  tl_decoded d;
  tl_text_puts(out, ", \"name\": ");
  put_string(out, p->name);
  tl_json_list(out, "handlers", p->handlers, p->handler_count, put_handler);
  tl_text_printf(out,
                 ", \"slots\": %" PRIu32 ", \"end\": %" PRIu32 ", \"code\": [",
                 p->slot_count, p->code_count);
  for (uint32_t pc = 0; pc < p->code_count; pc += d.words) {
    tl_decode(p, pc, &d);
    tl_text_puts(out, pc == 0 ? "" : ",\n");
    put_instruction(out, pc, &d);
    more(out, context, p, pc, &d);
    tl_text_putc(out, '}');
  }
  tl_text_putc(out, ']');
}

static void put_line(tl_text *out, const void *of, uint32_t i) {
  size_t nbytes;
  const char *line = tl_line_text(of, i + 1, &nbytes);
  tl_text_json(out, line, nbytes);
}

void tl_json_lines(tl_text *out, const tl_unit *unit) {
  tl_json_list(out, "lines", unit, unit->line_count, put_line);
}

// --- What a listing has besides ---------------------------------------------

// A constant: a value as a literal, a function by its name.
static void put_constant(tl_text *out, const void *of, uint32_t i) {
  const size_t begin = out->length;
  tl_slot value = ((const tl_slot *)of)[i];
  if (tl_is_kind(value, TL_KIND_BUILTIN))
    tl_text_puts(out, ((const tl_builtin *)value.pointer)->name);
  else if (tl_is_kind(value, TL_KIND_FUNCTION))
    tl_text_puts(out, tl_function_prototype(value)->name->text);
  else
    tl_format_value(out->vm, out, value, true, 8);
  tl_json_quote_rest(out, begin);
}

static void put_members(tl_text *out, const void *of, uint32_t count,
                        tl_json_item *put) {
  tl_text_putc(out, '{');
  tl_json_list(out, "of", of, count, put);
  tl_text_putc(out, '}');
}

// The names of a record's fields, and the functions of a closure group.
static void put_keys(tl_text *out, const void *of, uint32_t i) {
  const struct tl_keys *keys = &((const struct tl_keys *)of)[i];
  put_members(out, keys->names, keys->count, tl_json_name);
}

static void put_group(tl_text *out, const void *of, uint32_t i) {
  const tl_group *group = &((const tl_group *)of)[i];
  put_members(out, group->members, group->member_count, put_function_name);
}

// A path such as .rows[_, :]: _ stands for a value, : for a slice.
static void put_path(tl_text *out, const void *of, uint32_t i) {
  static const char *const kinds[] = {"_", ":", "...", "..._"};
  const tl_path *path = &((const tl_path *)of)[i];
  tl_text_putc(out, '"');
  for (uint32_t k = 0; k < path->step_count; k++) {
    const tl_step *step = &path->steps[k];
    if (step->field != NULL)
      tl_text_printf(out, ".%s", step->field->text);
    for (uint32_t m = 0; step->field == NULL && m < step->item_count; m++)
      tl_text_printf(out, "%s%s", m == 0 ? "[" : ", ",
                     kinds[step->items[m].kind]);
    tl_text_puts(out, step->field == NULL ? "]" : "");
  }
  tl_text_putc(out, '"');
}

// The slots that own in a range of instructions, which an error there drops.
static void put_range(tl_text *out, const void *of, uint32_t i) {
  const tl_unwind_range *r = &((const tl_unwind_range *)of)[i];
  tl_text_printf(out,
                 "{\"start\": %" PRIu32 ", \"end\": %" PRIu32
                 ", \"slot\": %" PRIu32 ", \"either\": %s}",
                 r->start, r->end, (uint32_t)r->slot, tl_json_bool(r->either));
}

// A tl_json_more function: extra, what that is where it says more than the
// opcode, and the line of which the instruction is the first, else 0.
static void put_more(tl_text *out, void *context, const tl_prototype *p,
                     uint32_t pc, const tl_decoded *d) {
  (void)context;
  const tl_format format = (tl_format)tl_opcodes[d->op].format;
  const char extra = tl_formats[format].extra;
  const bool constant = extra == 'B' || extra == 'C' || d->op == TL_BC_LOADK;
  const bool number = extra == 'i' || d->op == TL_BC_LOADI;
  const tl_place_entry *place = tl_place_at(p, pc);
  tl_text_printf(out,
                 ", \"extra\": %" PRId32
                 ", \"holds\": \"%s\", \"is_loop\": %s, \"line\": %" PRIu32,
                 (int32_t)d->extra,
                 constant ? "constant"
                 : number ? "number"
                          : "",
                 tl_json_bool(format == TL_FORMAT_LOOP),
                 place == NULL || place->pc != pc ? 0 : tl_line_at(p, pc));
}

// Whether the function only borrows its parameter [i].
static void put_param(tl_text *out, const void *of, uint32_t i) {
  const uint8_t *modes = ((const tl_prototype *)of)->summary.param_modes;
  tl_text_puts(out, tl_json_bool(modes != NULL && modes[i] == TL_MODE_BORROW));
}

static void put_function(tl_text *out, const void *of, uint32_t i) {
  const tl_prototype *p = ((tl_prototype *const *)of)[i];
  const bool has_names = p->capture_names != NULL;
  tl_text_puts(out, i == 0 ? "{" : "\n{");
  tl_json_list(out, "borrows", p, p->param_count, put_param);
  tl_json_list(out, "variables", p->slot_names, p->named_count, tl_json_name);
  tl_json_list(out, "captures", p->capture_names,
               has_names ? p->capture_count : 0, tl_json_name);
  tl_json_list(out, "constants", p->constants, p->constant_count, put_constant);
  tl_json_list(out, "ranges", p->ranges, p->range_count, put_range);
  tl_text_printf(out, ", \"is_main\": %s", tl_json_bool(p->index == 0));
  tl_json_code(out, p, put_more, NULL);
  tl_text_putc(out, '}');
}

void tl_json_listing(tl_text *out, const tl_unit *unit,
                     const tl_prototype *only) {
  const tl_module *module = unit->module;
  tl_text_puts(out, "{\"file\": ");
  put_string(out, unit->file);
  tl_json_lines(out, unit);
  tl_json_list(out, "members", unit->prototypes, unit->prototype_count,
               put_function_name);
  tl_json_list(out, "globals", module->variable_names, module->variable_count,
               tl_json_name);
  tl_json_list(out, "names", unit->names, unit->name_count, tl_json_name);
  tl_json_list(out, "keys", unit->keys, unit->key_count, put_keys);
  tl_json_list(out, "groups", unit->groups, unit->group_count, put_group);
  tl_json_list(out, "paths", unit->paths, unit->path_count, put_path);
  if (only != NULL)
    tl_json_list(out, "functions", &only, 1, put_function);
  else
    tl_json_list(out, "functions", unit->prototypes, unit->prototype_count,
                 put_function);
  tl_text_putc(out, '}');
}
