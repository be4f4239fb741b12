// What a run is at, for somebody who waits: a line of the script, and which
// part of it is done. Nothing is noted meanwhile: the loops under way are found
// in the code of the frames, and their counters in the slots.
//
//     main      for i in 0..10         at 3      (3 + 0.65) / 10 = 0.365
//     train(i)  for x in rows          130 of 200         130 / 200 = 0.65
//
// What encloses a loop without saying how often, such as `while` or a call from
// C, makes the part unknown, until a loop further out says it.
//
// Built for size.
#include "vm/interp/interp.h"

enum { FRAMES = 64, AHEAD = 32 };

// Whether the instruction at [end] may run behind that at [pc] without a jump
// back: then what it reads is alive at [pc]. Of the places that are jumped to
// the nearest is taken, so that each instruction is read once; of very many
// some are forgotten, and the answer may be a false no.
static bool leads_to(const tl_prototype *p, uint32_t pc, uint32_t end) {
  uint32_t ahead[AHEAD], count = 0;
  tl_decoded ins;
  while (pc < end) {
    tl_decode(p, pc, &ins);
    if (ins.target > pc && ins.target <= end && count < AHEAD)
      ahead[count++] = (uint32_t)ins.target;
    uint32_t next = ins.falls_through ? pc + ins.words : UINT32_MAX;
    for (uint32_t i = count; i-- > 0;) {
      if (ahead[i] <= pc)
        ahead[i] = ahead[--count];
      else if (ahead[i] < next)
        next = ahead[i];
    }
    pc = next;
  }
  return pc == end;
}

// The first number of a range whose loop begins at [body]: it is known where it
// is a constant, which then is loaded before FORPREP, three instructions back.
//
//     t5 = loadk 0    t6 = …    t7 = loadk 1    forprep t5, t6, t7    body
//
static bool find_start(const tl_prototype *p, uint32_t body, uint16_t counter,
                       int64_t *start) {
  for (uint32_t back = 2; back <= 8 && back <= body; back++) {
    const tl_ins *ins = &p->code[body - back];
    if (ins->a != counter)
      continue;
    if (ins->op == TL_BC_LOADI) {
      *start = (int32_t)tl_ins_extra(*ins);
      return true;
    }
    if (ins->op != TL_BC_LOADK)
      return false;
    const tl_slot *k = &p->constants[tl_ins_extra(*ins)];
    *start = k->i;
    return (uint8_t)k->tag == TL_CLASS_I64;
  }
  return false;
}

// The part of a loop that is done, where [inner] says which part of its present
// turn; -1: it is not known how many turns there are. The counters of a range
// are the present number, the turns that are left with this one, and the step.
static double part_of(const tl_frame *f, uint32_t at, uint32_t body,
                      double inner) {
  const tl_prototype *p = f->function;
  const tl_ins *ins = &p->code[at];
  const tl_slot *hidden = &f->base[ins->a / sizeof(tl_slot)];
  double turn = inner < 0 ? 0 : inner;
  if (ins->op == TL_BC_MORE) {
    int64_t length = tl_walked_length(hidden[0]);
    // A file has no length, but knows which part of it was read.
    if (length < 0)
      return inner;
    // Of the turn under way the item was taken already.
    double done = (double)hidden[1].i - (at == tl_frame_pc(f) ? 0 : 1);
    return length > 0 && done >= 0 ? (done + turn) / (double)length : -1;
  }
  int64_t start;
  if (!find_start(p, body, ins->a, &start) || hidden[2].i == 0)
    return -1;
  double done = ((double)hidden[0].i - (double)start) / (double)hidden[2].i;
  return (done + turn) / (done + (double)hidden[1].i);
}

// Follows the loops of a frame from the innermost to the outermost one, in
// which order their ends stand in the code. [part]: of what the frame calls.
// Returns the part of the outermost, whose place in the code is then *loop.
static double follow(const tl_frame *f, double part, uint32_t *loop) {
  const tl_prototype *p = f->function;
  const uint32_t pc = tl_frame_pc(f);
  tl_decoded ins;
  for (uint32_t at = pc; at < p->code_count; at += ins.words) {
    tl_decode(p, at, &ins);
    if (ins.target < 0 || ins.target > pc || !leads_to(p, pc, at))
      continue;
    bool counts = ins.op == TL_BC_FORR || ins.op == TL_BC_MORE;
    part = counts ? part_of(f, at, (uint32_t)ins.target, part) : -1;
    if (part >= 0)
      *loop = at;
  }
  return part;
}

// Sets the place to a line of the frame's code, unless that is the library's.
static void put_place(tl_vm *vm, const tl_frame *f, uint32_t pc,
                      tally_progress *out) {
  const tl_unit *unit = f->function->unit;
  if (tl_is_library(vm, unit))
    return;
  out->file = unit->file->text;
  out->line = (int)tl_line_at(f->function, pc);
  out->text = out->line == 0
                  ? ""
                  : tl_line_text(unit, (uint32_t)out->line, &out->nbytes);
}

// The line is that of the outermost loop whose part is known, or else of the
// outermost call. Deep recursion is looked at from outside.
void tl_progress_tell(tl_vm *vm) {
  tally_progress out = {.file = "", .text = "", .part = -1};
  const tl_frame *f = vm->frame;
  if (vm->total > 0)
    out.part = (double)vm->done / (double)vm->total;
  // What says no more of itself is not under way any longer.
  vm->total = 0;
  if (f != NULL && f - vm->frames >= FRAMES)
    f = vm->frames + FRAMES - 1;
  for (; f != NULL && f >= vm->frames; f--) {
    if (f->function == NULL)
      continue;
    uint32_t loop = UINT32_MAX;
    out.part = follow(f, out.part, &loop);
    if (loop != UINT32_MAX || out.part < 0 || out.line == 0)
      put_place(vm, f,
                loop != UINT32_MAX && out.part >= 0 ? loop : tl_frame_pc(f),
                &out);
    if ((f->flags & TL_FRAME_ENTRY) != 0 && f > vm->frames)
      out.part = -1;
  }
  tl_access before = vm->access;
  vm->access = TL_ACCESS_NONE;
  vm->options.progress(vm->options.context, &out);
  vm->access = before;
}
