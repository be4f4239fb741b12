// Where instructions stand: lines of the source, and handlers around them.
//
// Built for size.

#include "vm/bytecode/module.h"

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

tl_catches tl_handler_kind(const tl_prototype *p, const tl_handler *h) {
  if (h == NULL)
    return TL_CATCHES_NOTHING;
  const tl_ins ins = p->code[h->handler];
  return ins.op == TL_BC_CATCH ? (tl_catches)tl_ins_extra(ins)
                               : TL_CATCHES_NAMED;
}

tl_catches tl_catches_at(const tl_prototype *p, uint32_t pc) {
  for (;;) {
    const tl_handler *h = tl_handler_at(p, pc);
    const tl_catches kind = tl_handler_kind(p, h);
    if (kind != TL_CATCHES_PAD)
      return kind;
    for (pc = h->handler; pc < p->code_count && p->code[pc].op != TL_BC_RAISE;)
      pc++;
  }
}

// A handler within a landing pad's range does not hide it.
static bool has_pad(const tl_prototype *p, uint32_t pc) {
  for (uint32_t i = 0; i < p->handler_count; i++) {
    const tl_handler *h = &p->handlers[i];
    if (h->start <= pc && pc < h->end &&
        tl_handler_kind(p, h) == TL_CATCHES_PAD)
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
