// Emission: the side tables of finished code. All are made from the list of
// points that can fail, in the order of their pcs:
//
//   places    pc -> source        for messages
//   ranges    [pc, pc) owns slot  for unwinding
//   relying   pc                  for assignments of invariant variables
//   handlers  [pc, pc) -> pc      for `try` and landing pads

#include "compiler/emit_internal.h"

// --- Side tables ------------------------------------------------------------

// Offsets count from the word behind the jump.
static void patch_jumps(tl_emitter *e) {
  for (uint32_t i = 0; i < e->fixup_count; i++) {
    const tl_fixup *x = &e->fixups[i];
    int64_t offset = (int64_t)e->block_pc[x->block] - ((int64_t)x->pc + 1);
    if (x->is_short) {
      e->code[x->pc].c = (uint16_t)(int16_t)offset;
    } else {
      uint32_t word = (uint32_t)(int32_t)offset;
      e->code[x->pc].b = (uint16_t)word;
      e->code[x->pc].c = (uint16_t)(word >> 16);
    }
  }
}

// Where each instruction that can fail stands in the source.
static void write_places(tl_emitter *e) {
  tl_place_entry *places =
      tl_unit_room(e->b, (size_t)e->point_count * sizeof *places);
  for (uint32_t i = 0; places != NULL && i < e->point_count; i++) {
    // Only points that can fail have a place: nothing else is ever reported.
    tl_span span = e->points[i].ins->span;
    places[i] =
        (tl_place_entry){e->points[i].pc, span.begin, span.end, span.at};
  }
  e->p->places = places;
  e->p->place_count = e->point_count;
}

// The line of each word, for a debugger. What ownership has put between the
// instructions of a line has none of its own.
static void write_lines(tl_emitter *e) {
  uint32_t *lines = tl_unit_room(e->b, (size_t)(e->count + 1) * sizeof *lines);
  for (uint32_t i = 0; lines != NULL && i < e->begin_count; i++) {
    tl_span span = e->begins[i].ins->span;
    uint32_t pc = e->begins[i].pc;
    uint32_t end = i + 1 < e->begin_count ? e->begins[i + 1].pc : e->count;
    uint32_t before = pc == 0 ? 0 : lines[pc - 1];
    uint32_t line = span.end == 0 ? before : tl_line_of(e->b->unit, span.at);
    // The end of a file is no line of it.
    if (e->p->index == 0 && i + 2 >= e->begin_count)
      line = 0;
    while (pc < end) lines[pc++] = line;
  }
  e->p->lines = lines;
}

// Which slots own at each point that can fail, as ranges of code: a slot that
// owns at several points in a row has one range. A call's consumed arguments
// are not among them: the analysis has left them out of [owned].
static void write_ranges(tl_emitter *e) {
  size_t slots = e->frame + 8;
  int32_t *open = TL_ARENA_ARRAY(e->arena, int32_t, slots);
  uint32_t *seen = TL_ARENA_ARRAY(e->arena, uint32_t, slots);
  tl_unwind_range *ranges = NULL;
  uint32_t count = 0, capacity = 0;
  if (e->arena->failed)
    return;
  for (size_t i = 0; i < slots; i++) open[i] = -1;
  for (uint32_t i = 0; i < e->point_count; i++) {
    const tl_cfg_ins *ins = e->points[i].ins;
    uint32_t pc = e->points[i].pc;
    for (int32_t k = 0; k < ins->owned_count; k++) {
      int32_t slot = ins->owned[k].slot;
      uint8_t either = ins->owned[k].either;
      int32_t r = open[slot];
      // The slot owned at the point before, too, and likewise: its range
      // goes on.
      if (r >= 0 && seen[slot] == i && ranges[r].either == either) {
        ranges[r].end = pc + 1;
      } else {
        if (!tl_arena_more(e->arena, &ranges, &capacity, count, sizeof *ranges))
          return;
        ranges[count] = (tl_unwind_range){pc, pc + 1, (uint16_t)slot, either};
        open[slot] = (int32_t)count++;
      }
      // Numbers of points, counted from 1, so that 0 is none.
      seen[slot] = i + 1;
    }
  }
  e->p->ranges = tl_unit_keep(e->b, ranges, count * sizeof *ranges);
  e->p->range_count = count;
}

// The calls across which an invariant module variable is borrowed from, for
// the run to check.
static void write_relying(tl_emitter *e) {
  uint32_t *pcs = TL_ARENA_ARRAY(e->arena, uint32_t, e->point_count + 1);
  uint32_t count = 0;
  if (pcs == NULL)
    return;
  for (uint32_t i = 0; i < e->point_count; i++)
    if (e->points[i].ins->depends)
      pcs[count++] = e->points[i].pc;
  e->p->relying = tl_unit_keep(e->b, pcs, count * sizeof *pcs);
  e->p->relying_count = count;
}

// A list of slots in memory of the unit, as tables have them.
static uint16_t *keep_slots(tl_emitter *e, const int32_t *slots,
                            int32_t count) {
  uint16_t *copy = tl_unit_room(e->b, ((size_t)count + 1) * sizeof *copy);
  if (copy == NULL)
    return NULL;
  for (int32_t i = 0; i < count; i++) copy[i] = (uint16_t)slots[i];
  return copy;
}

// The ranges that a `try` or landing pad covers, and what it keeps. Points in
// a row with one handler make one range.
static void write_handlers(tl_emitter *e) {
  tl_handler *handlers = NULL;
  uint32_t count = 0, capacity = 0;
  // A range goes on as long as the points in a row have the same handler.
  // Points are the instructions that may fail, in the order of the code; those
  // between them cannot, so it does no harm that the range covers them.
  int32_t previous = -1;
  for (uint32_t i = 0; i < e->point_count; i++) {
    int32_t h = e->points[i].ins->handler;
    uint32_t pc = e->points[i].pc;
    // The handler of the point before covers this one, too.
    if (h >= 0 && h == previous) {
      handlers[count - 1].end = pc + 1;
    } else if (h >= 0) {
      if (!tl_arena_more(e->arena, &handlers, &capacity, count,
                         sizeof *handlers))
        return;
      const tl_cfg_block *block = &e->f->blocks[h];
      handlers[count++] =
          (tl_handler){.start = pc,
                       .end = pc + 1,
                       .handler = e->block_pc[h],
                       .kept_count = (uint16_t)block->kept_count,
                       .own_count = (uint16_t)block->own_count,
                       .kept = keep_slots(e, block->kept, block->kept_count),
                       .own = keep_slots(e, block->own, block->own_count)};
    }
    previous = h;
  }
  e->p->handlers = tl_unit_keep(e->b, handlers, count * sizeof *handlers);
  e->p->handler_count = count;
}

// What callers may know of the function, moved into memory of the unit.
static void write_summary(tl_emitter *e) {
  const tl_summary *from = &e->f->summary;
  tl_summary *to = &e->p->summary;
  *to = *from;
  to->param_modes =
      tl_unit_keep(e->b, from->param_modes, (size_t)e->f->param_count);
  to->borrow_owners =
      tl_unit_keep(e->b, from->borrow_owners,
                   from->borrow_owner_count * sizeof *from->borrow_owners);
  to->rebinds = tl_unit_keep(e->b, from->rebinds,
                             from->rebind_count * sizeof *from->rebinds);
}

// Must come after the last instruction: jumps forward have no target before
// that.
void tl_emit_tables(tl_emitter *e) {
  // All blocks have their pcs now.
  patch_jumps(e);
  write_places(e);
  if (e->b->debugged)
    write_lines(e);
  write_ranges(e);
  write_relying(e);
  write_handlers(e);
  write_summary(e);
}
