// The listing that `tally dis` prints: each instruction with its modes, so that
// a reader sees where each value ends.
//
//      12  t4 = mul  a, x!        # 3: y = a * x
//      13  t5 = add  t4!, b
//      owned 12..13  a            dropped if an error leaves there
//      try 3..9 -> 20  keeps a    errors in 3..9 go on at 20
//
// x! ends here, x? ends here if the slot owns, plain x is borrowed. Everything
// goes through tl_decode, and every index is checked, since unverified code is
// listed too.
//
// Built for size.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "vm/text/format.h"
#include "vm/bytecode/function.h"
#include "vm/bytecode/module.h"

// One function being listed.
typedef struct listing {
  const tl_unit *unit;
  const tl_prototype *p;
  tl_text *out;
  uint32_t line;  // the last one shown, from 1; 0: none
} listing;

// A slot by its variable's name, or as t and its number.
static void put_slot(listing *l, uint32_t slot) {
  const tl_prototype *p = l->p;
  if (slot < p->named_count && p->slot_names[slot] != NULL)
    tl_text_puts(l->out, p->slot_names[slot]->text);
  else
    tl_text_printf(l->out, "t%u", slot);
}

// A slot with the mark of its mode.
// The marks are in the order of tl_mode, whose last is a constant's.
static void put_operand(listing *l, uint32_t slot, int mode) {
  static const char *const marks[] = {"", "!", "?", ""};
  put_slot(l, slot);
  tl_text_puts(l->out, marks[mode & 3]);
}

// A constant: a value as a literal, a function by its name.
static void put_constant(listing *l, uint32_t index) {
  // Code that is listed may not be verified, so no index is trusted.
  if (index >= l->p->constant_count) {
    tl_text_printf(l->out, "k%u", index);
    return;
  }
  tl_slot value = l->p->constants[index];
  if (tl_is_kind(value, TL_KIND_BUILTIN))
    tl_text_puts(l->out, ((const tl_builtin *)value.pointer)->name);
  else if (tl_is_kind(value, TL_KIND_FUNCTION))
    tl_text_puts(l->out, tl_function_prototype(value)->name->text);
  else
    tl_format_value(l->out->vm, l->out, value, true, 8);
}

// A variable of the module by its name.
static void put_global(listing *l, uint32_t index) {
  const tl_module *module = l->unit->module;
  if (module != NULL && index < module->variable_count)
    tl_text_puts(l->out, module->variable_names[index]->text);
  else
    tl_text_printf(l->out, "global %u", index);
}

// A field's or module's name.
static void put_name(listing *l, uint32_t index) {
  if (index < l->unit->name_count)
    tl_text_puts(l->out, l->unit->names[index]->text);
}

// The names of a record's fields, in parentheses.
static void put_keys(listing *l, uint32_t index) {
  if (index >= l->unit->key_count)
    return;
  tl_text_puts(l->out, " (");
  for (uint32_t i = 0; i < l->unit->keys[index].count; i++) {
    tl_text_puts(l->out, i == 0 ? "" : ", ");
    tl_text_puts(l->out, l->unit->keys[index].names[i]->text);
  }
  tl_text_putc(l->out, ')');
}

// A script function of the unit by its name; "fn" for one without.
static void put_function(listing *l, uint32_t index) {
  if (index >= l->unit->prototype_count)
    return;
  const tl_string *name = l->unit->prototypes[index]->name;
  tl_text_puts(l->out, name->length > 0 ? name->text : "fn");
}

// The functions of a closure group.
static void put_group(listing *l, uint32_t index) {
  if (index >= l->unit->group_count)
    return;
  const tl_group *group = &l->unit->groups[index];
  for (uint32_t i = 0; i < group->member_count; i++) {
    tl_text_puts(l->out, i == 0 ? "" : ", ");
    tl_text_puts(l->out, group->members[i]->name->length > 0
                             ? group->members[i]->name->text
                             : "fn");
  }
}

// A path such as .rows[_, :]: _ stands for a value, : for a slice.
static void put_path(listing *l, uint32_t index) {
  if (index >= l->unit->path_count)
    return;
  const tl_path *path = &l->unit->paths[index];
  for (uint32_t i = 0; i < path->step_count; i++) {
    const tl_step *step = &path->steps[i];
    if (step->field != NULL) {
      tl_text_printf(l->out, ".%s", step->field->text);
      continue;
    }
    tl_text_putc(l->out, '[');
    for (uint32_t k = 0; k < step->item_count; k++) {
      static const char *const kinds[] = {"_", ":", "...", "..._"};
      tl_text_puts(l->out, k == 0 ? "" : ", ");
      tl_text_puts(l->out, kinds[step->items[k].kind]);
    }
    tl_text_putc(l->out, ']');
  }
}

// Whether what is called is written in front of the operands: f(a, b).
static bool names_callee(int op) {
  return op == TL_BC_CALLK || op == TL_BC_CALLB || op == TL_BC_CLOSURE;
}

// The name of what is called or made.
static void put_callee(listing *l, const tl_decoded *d) {
  if (d->op == TL_BC_CALLK)
    put_function(l, d->extra);
  else if (d->op == TL_BC_CALLB)
    put_constant(l, d->extra);
  else
    put_group(l, d->extra);
}

// What an instruction is about besides its operands: constant, variable, field,
// path.
// Opcodes that are not named here have no extra, or one that is written
// elsewhere (the callee in front, a jump's target behind).
static void put_extra(listing *l, const tl_decoded *d) {
  const char *sep = d->operand_count + d->window_count > 0 ? ", " : "";
  switch (d->op) {
    case TL_BC_LOADK:
    case TL_BC_MULK:
    case TL_BC_DIVK:
    case TL_BC_MODK:
    case TL_BC_POWK:
    case TL_BC_BITANDK:
    case TL_BC_SHRK:
      tl_text_puts(l->out, sep);
      put_constant(l, d->extra);
      break;
    case TL_BC_LOADI:
    case TL_BC_ADDI:
    case TL_BC_SUBI:
      tl_text_printf(l->out, "%s%d", sep, (int)(int32_t)d->extra);
      break;
    case TL_BC_GETG:
    case TL_BC_TAKEG:
      put_global(l, d->extra);
      break;
    case TL_BC_SETG:
      tl_text_puts(l->out, " -> ");
      put_global(l, d->extra);
      break;
    case TL_BC_GETC:
      if (d->extra < l->p->capture_count && l->p->capture_names != NULL)
        tl_text_puts(l->out, l->p->capture_names[d->extra]->text);
      break;
    case TL_BC_GETF:
      tl_text_putc(l->out, '.');
      put_name(l, d->extra);
      break;
    case TL_BC_IMPORT:
      put_name(l, d->extra);
      break;
    case TL_BC_RECORD:
    case TL_BC_FIELDS:
      put_keys(l, d->extra);
      break;
    case TL_BC_INDEX:
    case TL_BC_TAKE:
    case TL_BC_UNTAKE:
    case TL_BC_SETPATH:
      tl_text_putc(l->out, ' ');
      put_path(l, d->extra);
      break;
    case TL_BC_UNPACK:
      // Of a, ...r, b it says "...1": the name at index 1 takes the rest.
      if (d->extra >> 16 != 0)
        tl_text_printf(l->out, "%s...%u", sep, (d->extra >> 16) - 1);
      break;
    case TL_BC_SELF:
    case TL_BC_MEMBER:
      tl_text_printf(l->out, "%s%u", sep, d->extra);
      break;
    default:
      if (tl_opcodes[d->op].format != TL_FORMAT_AKJUMP)
        break;
      tl_text_puts(l->out, sep);
      put_constant(l, d->extra);
      break;
  }
}

// An instruction without its number and source line.
static void put_body(listing *l, const tl_decoded *d) {
  bool shows_result =
      d->result >= 0 && tl_opcodes[d->op].format != TL_FORMAT_LOOP;
  for (uint32_t i = 0; shows_result && i < d->result_count; i++) {
    tl_text_puts(l->out, i == 0 ? "" : ", ");
    put_slot(l, (uint32_t)d->result + i);
  }
  tl_text_puts(l->out, shows_result ? " = " : "");
  for (const char *c = tl_opcodes[d->op].name; *c != '\0'; c++)
    tl_text_putc(l->out, (char)tolower((unsigned char)*c));
  tl_text_puts(l->out, "  ");
  for (uint32_t i = 0; i < d->operand_count; i++) {
    tl_text_puts(l->out, i == 0 ? "" : ", ");
    put_operand(l, d->operands[i], d->modes[i]);
  }
  if (names_callee(d->op))
    put_callee(l, d);
  if (d->window_count > 0 || names_callee(d->op)) {
    tl_text_puts(l->out, "(");
    for (uint32_t i = 0; i < d->window_count; i++) {
      tl_text_puts(l->out, i == 0 ? "" : ", ");
      put_slot(l, d->window + i);
    }
    tl_text_puts(l->out, ")");
  }
  if (!names_callee(d->op))
    put_extra(l, d);
  if (tl_opcodes[d->op].format == TL_FORMAT_LOOP && d->result >= 0) {
    tl_text_puts(l->out, ", ");
    put_slot(l, (uint32_t)d->result);
  }
  if (d->target >= 0)
    tl_text_printf(l->out, " -> %lld", (long long)d->target);
}

// --- Source lines -----------------------------------------------------------

// Line 1 begins at 0.
uint32_t tl_line_of(const tl_unit *unit, uint32_t at) {
  return tl_count_upto(unit->line_starts, unit->line_count,
                       sizeof *unit->line_starts, at);
}

// An instruction has the place of the last entry at or before it.
const tl_place_entry *tl_place_at(const tl_prototype *p, uint32_t pc) {
  uint32_t n = tl_count_upto(p->places, p->place_count, sizeof *p->places, pc);
  return n == 0 ? NULL : &p->places[n - 1];
}

// Ranges of handlers do not overlap: each has left out those within it.
const tl_handler *tl_handler_at(const tl_prototype *p, uint32_t pc) {
  for (uint32_t i = 0; i < p->handler_count; i++)
    if (p->handlers[i].start <= pc && pc < p->handlers[i].end)
      return &p->handlers[i];
  return NULL;
}

// A handler within a landing pad's range does not hide it.
static bool has_pad(const tl_prototype *p, uint32_t pc) {
  for (uint32_t i = 0; i < p->handler_count; i++) {
    const tl_handler *h = &p->handlers[i];
    const tl_ins *ins = &p->code[h->handler];
    if (h->start <= pc && pc < h->end && ins->op == TL_BC_CATCH &&
        tl_ins_extra(*ins) == TL_CATCHES_PAD)
      return true;
  }
  return false;
}

// Outside of scripts nothing is known.
bool tl_has_taken(const tl_vm *vm) {
  if (vm->frame < vm->frames)
    return true;
  for (const tl_frame *f = vm->frames; f <= vm->frame; f++)
    if (f->function != NULL && has_pad(f->function, tl_frame_pc(f)))
      return true;
  return false;
}

uint32_t tl_line_at(const tl_prototype *p, uint32_t pc) {
  const tl_place_entry *place = tl_place_at(p, pc);
  return place == NULL || p->unit->line_count == 0
             ? 0
             : tl_line_of(p->unit, place->at);
}

// [line] must be one that the unit has. The result is not NUL-terminated.
const char *tl_line_text(const tl_unit *unit, uint32_t line, size_t *nbytes) {
  const char *begin = unit->text + unit->line_starts[line - 1];
  const char *end = unit->text + unit->nbytes;
  while (begin < end && (*begin == ' ' || *begin == '\t')) begin++;
  const char *stop = memchr(begin, '\n', (size_t)(end - begin));
  if (stop == NULL)
    stop = end;
  while (stop > begin && (stop[-1] == '\r' || stop[-1] == ' ')) stop--;
  *nbytes = (size_t)(stop - begin);
  return begin;
}

// The source line behind an instruction, from column 36 on.
// Columns are bytes here, so that a name beyond ASCII moves the text leftwards.
static void put_source(listing *l, uint32_t line, size_t column) {
  size_t nbytes;
  const char *text = tl_line_text(l->unit, line, &nbytes);
  for (; column < 36; column++) tl_text_putc(l->out, ' ');
  tl_text_printf(l->out, "  # %u: ", line);
  tl_text_add(l->out, text, nbytes);
}

// Puts the source line if the instruction is the first of it.
static void put_line(listing *l, uint32_t pc, size_t column) {
  const tl_prototype *p = l->p;
  if (l->unit->line_count == 0)
    return;
  const tl_place_entry *place = tl_place_at(p, pc);
  // Only an instruction that begins a place begins a line of the source.
  if (place == NULL || place->pc != pc)
    return;
  uint32_t line = tl_line_of(l->unit, place->at);
  if (line != l->line)
    put_source(l, line, column);
  l->line = line;
}

// --- Functions --------------------------------------------------------------

// A function's first line: its parameters, of which those marked ? may be
// consumed by it, and how large it is.
static void put_header(listing *l) {
  const tl_prototype *p = l->p;
  const tl_summary *s = &p->summary;
  if (p == l->unit->prototypes[0])
    tl_text_printf(l->out, "%s", l->unit->file->text);
  else
    tl_text_printf(l->out, "fn %s", p->name->text);
  tl_text_putc(l->out, '(');
  for (uint32_t i = 0; i < p->param_count; i++) {
    tl_text_puts(l->out, i == 0 ? "" : ", ");
    // A parameter that the function never consumes is listed without a mark.
    bool borrowed =
        s->param_modes != NULL && s->param_modes[i] == TL_MODE_BORROW;
    put_operand(l, i, borrowed ? TL_MODE_BORROW : TL_MODE_EITHER);
  }
  tl_text_printf(l->out, ")  %u slots, %u words\n", p->slot_count,
                 p->code_count);
}

// The slots that own in a range of instructions, which an error there drops.
static void put_ranges(listing *l) {
  const tl_prototype *p = l->p;
  for (uint32_t i = 0; i < p->range_count; i++) {
    const tl_unwind_range *r = &p->ranges[i];
    tl_text_printf(l->out, "  owned %u..%u  ", r->start, r->end);
    put_operand(l, r->slot, r->either ? TL_MODE_EITHER : TL_MODE_BORROW);
    tl_text_putc(l->out, '\n');
  }
}

// The function's handlers, with what they keep and what they make owners.
static void put_handlers(listing *l) {
  const tl_prototype *p = l->p;
  for (uint32_t i = 0; i < p->handler_count; i++) {
    const tl_handler *h = &p->handlers[i];
    tl_text_printf(l->out, "  try %u..%u -> %u", h->start, h->end, h->handler);
    for (uint16_t k = 0; k < h->kept_count; k++) {
      tl_text_puts(l->out, k == 0 ? "  keeps " : ", ");
      put_slot(l, h->kept[k]);
    }
    for (uint16_t k = 0; k < h->own_count; k++) {
      tl_text_puts(l->out, k == 0 ? "  owns " : ", ");
      put_slot(l, h->own[k]);
    }
    tl_text_putc(l->out, '\n');
  }
}

// All instructions of a function.
static void put_code(listing *l) {
  for (uint32_t pc = 0; pc < l->p->code_count;) {
    size_t begin = l->out->length;
    tl_decoded d;
    tl_decode(l->p, pc, &d);
    tl_text_printf(l->out, "%5u  ", pc);
    put_body(l, &d);
    put_line(l, pc, l->out->length - begin);
    tl_text_putc(l->out, '\n');
    pc += d.words;
  }
}

void tl_disassemble_function(const tl_prototype *function, tl_text *out) {
  listing l = {.unit = function->unit, .p = function, .out = out};
  put_header(&l);
  put_code(&l);
  put_ranges(&l);
  put_handlers(&l);
}

// The unit's own code comes first, then its functions in the order of the
// source.
void tl_disassemble_unit(const tl_unit *unit, tl_text *out) {
  for (uint32_t i = 0; i < unit->prototype_count; i++) {
    if (i > 0)
      tl_text_putc(out, '\n');
    tl_disassemble_function(unit->prototypes[i], out);
  }
}
