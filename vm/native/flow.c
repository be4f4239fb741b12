// What a function's bytecode says without types: which slots live where, how
// deep each instruction is in loops, where blocks begin. One pass over the code
// for each, but for liveness, which takes one for each depth of loops.

#include "vm/native/typed.h"

bool tl_jit_is_scalar(tl_jit_type t) {
  int dtype = (t & ~TL_TYPE_WEAK) - TL_TYPE_SCALAR;
  return tl_jit_has_dtype(dtype);
}

bool tl_jit_is_float(tl_jit_type t) {
  return tl_jit_is_scalar(t) && tl_dtype_is_real(tl_jit_dtype(t));
}

bool tl_jit_is_integer(tl_jit_type t) {
  return tl_jit_is_scalar(t) && tl_dtype_is_integer(tl_jit_dtype(t));
}

tl_jit_type tl_jit_type_of(uint64_t tag) {
  int weak = (tag & TL_WEAK) != 0 ? TL_TYPE_WEAK : 0;
  uint64_t dtype = tag >> 8 & 0xff;
  return (tag & TL_CLASS_SCALAR) != 0 && tl_jit_has_dtype((int)dtype)
             ? (tl_jit_type)((TL_TYPE_SCALAR + dtype) | (uint64_t)weak)
             : (tl_jit_type)TL_TYPE_ENTRY;
}

int tl_tag_length_kind(uint64_t tag) {
  if ((tag & TL_CLASS_ARRAY) != 0)
    return tl_is_of_rank(tag, 0) ? -1 : TL_KIND_ARRAY;
  return tl_tag_is_kind(tag, TL_KIND_LIST) ||
                 tl_tag_is_kind(tag, TL_KIND_RECORD) ||
                 tl_tag_is_kind(tag, TL_KIND_STRING) ||
                 tl_tag_is_kind(tag, TL_KIND_RANGE)
             ? (uint8_t)(tag >> 8)
             : -1;
}

uint64_t tl_jit_tag_of(const tl_jit_unit *unit, uint32_t slot, tl_jit_type t) {
  return tl_jit_is_scalar(t)      ? tl_jit_tag(t)
         : tl_jit_is_reference(t) ? unit->references[t - TL_TYPE_REFERENCE]
         : t == TL_TYPE_ENTRY     ? unit->tags[slot]
                                  : 0;
}

// The hidden slots of loops stand side by side, and decoding names the first.
// FORR uses three: the next value, what is left and the step; MORE and NEXT
// two: the array and the position.
void tl_jit_read_slots(const tl_decoded *d, uint64_t *reads, uint64_t *writes) {
  *reads = *writes = 0;
  for (uint32_t i = 0; i < d->operand_count; i++)
    *reads |= tl_jit_bit(d->operands[i]);
  for (uint32_t i = 0; i < d->window_count; i++)
    *reads |= tl_jit_bit(d->window + i);
  for (uint32_t i = 0; i < d->result_count; i++)
    *writes |= tl_jit_bit((uint32_t)d->result + i);
  if (d->op == TL_BC_FORR)
    *reads |= UINT64_C(7) << d->operands[0];
  if (d->op == TL_BC_MORE || d->op == TL_BC_NEXT)
    *reads |= UINT64_C(3) << d->operands[0];
  if (d->op == TL_BC_FORPREP)
    *writes |= UINT64_C(7) << d->operands[0];
}

// The slots that live behind an instruction. The variable of a range's loop is
// written on the way into the body alone.
//
//     live before = reads, and live behind but not written
static uint64_t live_behind(const tl_decoded *d, uint32_t pc, uint64_t writes,
                            const uint64_t *live) {
  bool steps = d->op == TL_BC_FORR, begins = d->op == TL_BC_FORPREP;
  uint64_t variable = steps || begins ? tl_jit_bit((uint32_t)d->result) : 0;
  uint64_t out = 0;
  if (d->falls_through)
    out |= live[pc + d->words] & ~(begins ? variable : 0);
  if (d->target >= 0)
    out |= live[d->target] & ~(steps ? variable : 0);
  return out & ~(writes & ~variable);
}

// Ranges reach over instructions that cannot fail, where the slot may be dead.
// Only where an error may happen does the unwinder look at the slot.
static bool fails(const tl_prototype *p, uint32_t pc) {
  return tl_opcodes[p->code[pc].op].fails != TL_NEVER;
}

// The slots that an error at each place drops, or keeps for its handler: they
// have to be right in memory there, whether the code reads them or not. A unit
// leaves before whatever may fail, so that the interpreter finds them there and
// unwinds as ever. The slots that handlers keep are [asked], too.
static void find_pinned(const tl_prototype *p, uint64_t *pinned,
                        uint64_t *asked) {
  for (uint32_t i = 0; i < p->range_count; i++) {
    const tl_unwind_range *r = &p->ranges[i];
    for (uint32_t pc = r->start; pc < r->end; pc++)
      if (fails(p, pc))
        pinned[pc] |= tl_jit_bit(r->slot);
  }
  for (uint32_t i = 0; i < p->handler_count; i++) {
    const tl_handler *h = &p->handlers[i];
    uint64_t kept = 0;
    for (uint32_t k = 0; k < h->kept_count; k++) kept |= tl_jit_bit(h->kept[k]);
    for (uint32_t k = 0; k < h->own_count; k++) kept |= tl_jit_bit(h->own[k]);
    for (uint32_t pc = h->start; pc < h->end; pc++)
      if (fails(p, pc)) {
        pinned[pc] |= kept;
        asked[pc] |= kept;
      }
  }
}

// Backwards over the code until nothing changes. [live] comes with what is
// pinned and has a word more than the code. Sets only grow and are bounded, so
// it ends; each pass carries what lives around one more loop. (Backward
// data-flow analysis of live variables, as in any book on compilers.) The same
// for [asked], which is of slots that more is read of than how they compare.
static void find_live(const tl_prototype *p, const uint64_t *pinned,
                      uint64_t *live, uint64_t *asked) {
  for (bool again = true; again;) {
    again = false;
    for (uint32_t pc = p->code_count; pc-- > 0;) {
      if (p->code[pc].op == TL_BC_EXTRA)
        continue;
      tl_decoded d;
      uint64_t reads, writes;
      tl_decode(p, pc, &d);
      tl_jit_read_slots(&d, &reads, &writes);
      // It names its source in a field that decoding takes for an immediate.
      if (d.op == TL_BC_FORVAR)
        reads |= tl_jit_bit(p->code[pc].b >> 4);
      uint64_t in = pinned[pc] | reads | live_behind(&d, pc, writes, live);
      bool compares =
          d.op == TL_BC_DROP || (d.op >= TL_BC_JLT && d.op <= TL_BC_JNGTK);
      uint64_t more = asked[pc] | (compares ? 0 : reads) |
                      live_behind(&d, pc, writes, asked);
      again |= in != live[pc] || more != asked[pc];
      live[pc] = in;
      asked[pc] = more;
    }
  }
}

// A jump back closes a loop of all that lies between. [open] counts loops that
// begin and end at each place; it has a word more than the code. Depth is the
// running sum of [open], and is cut at 6, which is the largest that the weights
// of registers distinguish.
//
//     open     0 +1  0  0 -1         depth     0  1  1  1  0
static void find_jumps(const tl_prototype *p, tl_jit_flow *flow,
                       int32_t *open) {
  for (uint32_t pc = 0; pc < p->code_count;) {
    tl_decoded d;
    tl_decode(p, pc, &d);
    if (d.target >= 0) {
      uint32_t to = (uint32_t)d.target;
      flow->leads[to] = true;
      if (d.falls_through)
        flow->leads[pc + d.words] = true;
      if (flow->jumps[to] < 3)
        flow->jumps[to]++;
      if (to <= pc) {
        open[to]++;
        open[pc + d.words]--;
      }
    }
    pc += d.words;
  }
  int32_t depth = 0;
  for (uint32_t pc = 0; pc < p->code_count; pc++) {
    depth += open[pc];
    flow->depth[pc] = depth < 6 ? (uint8_t)depth : 6;
  }
}

// Loops over ranges whose bodies nothing else leads to than their beginning and
// their step. Where the code behind a loop begins with what only its end needs,
// the beginning is followed by a jump to the body. Both bring the variable, so
// the body may begin with the move as well. Most steps are a constant 1, which
// is loaded before the beginning.
//
//      6  t5 = loadk 1
//      7  forprep t3, i -> 9
//      8  jmp -> 11                jumps[8] = 0
//      9  …
//     11  body                     jumps[11] = 2, rounds[11] = 17
//     17  forr t3, i -> 11
static void find_rounds(const tl_prototype *p, tl_jit_flow *flow) {
  for (uint32_t pc = 0; pc < p->code_count; pc++) {
    const tl_ins *ins = &p->code[pc];
    tl_decoded d;
    if (ins->op != TL_BC_FORR)
      continue;
    tl_decode(p, pc, &d);
    uint32_t body = (uint32_t)d.target, at = body;
    do at--;
    while (at < body && !(p->code[at].op == TL_BC_FORPREP &&
                          p->code[at].a == ins->a && p->code[at].b == ins->b));
    if (at - 1 >= body)
      continue;
    tl_decode(p, at + 1, &d);
    bool jumps = at + 1 < body && d.op == TL_BC_JMP && d.target == (int)body &&
                 flow->jumps[at + 1] == 0;
    if (flow->jumps[body] != 1 + jumps || !(jumps || at + 1 == body))
      continue;
    flow->rounds[body] = (int32_t)pc;
    const tl_ins *by = &p->code[at - 1];
    tl_slot one = tl_weak_int(1);
    flow->by_one[body] =
        by->op == TL_BC_LOADK && by->a >> 4 == (ins->a >> 4) + 2 &&
        !flow->leads[at] &&
        memcmp(&p->constants[tl_ins_extra(*by)], &one, sizeof one) == 0;
  }
}

// One block: the parts by falling alignment, then what is needed only here. Two
// of the parts, what is pinned and where loops open, are not read later, but
// are too small to be worth a block of their own. [seen] has two words for each
// word of code and begins empty: units made from this flow add to it as they
// leave, and it lives as long as the function.
tl_jit_flow *tl_jit_read_flow(tl_vm *vm, const tl_prototype *p) {
  size_t n = (size_t)p->code_count + 1;
  if (p->slot_count > TL_JIT_SLOTS || p->code_count > TL_JIT_WORDS)
    return NULL;
  size_t nbytes = sizeof(tl_jit_flow) +
                  n * (7 * sizeof(uint64_t) + 3 * sizeof(int32_t) + 6) +
                  sizeof(uint64_t) + 2;
  tl_jit_flow *flow = tl_spare_alloc(vm, nbytes);
  if (flow == NULL)
    return NULL;
  memset(flow, 0, nbytes);
  flow->count = p->code_count;
  flow->nbytes = nbytes;
  flow->live = (uint64_t *)(void *)(flow + 1);
  uint64_t *pinned = flow->live + n;
  flow->asked = pinned + n;
  flow->strong = flow->asked + n;
  flow->seen = flow->strong + 1;
  flow->made = flow->seen + 2 * n;
  flow->rounds = (int32_t *)(void *)(flow->made + 2 * n);
  int32_t *open = flow->rounds + n;
  flow->runs = (uint32_t *)(open + n);
  flow->depth = (uint8_t *)(flow->runs + n);
  flow->jumps = flow->depth + n;
  flow->leads = (bool *)(flow->jumps + n);
  flow->detours = (uint8_t *)(flow->leads + n);
  flow->spans = flow->detours + n;
  flow->by_one = (bool *)(flow->spans + n);
  flow->varies = (uint8_t *)(flow->by_one + n);
  memset(flow->rounds, -1, n * sizeof *flow->rounds);
  find_jumps(p, flow, open);
  find_rounds(p, flow);
  find_pinned(p, pinned, flow->asked);
  find_live(p, pinned, flow->live, flow->asked);
  return flow;
}

tl_slot tl_jit_settle(const tl_jit_flow *flow, uint32_t pc, uint32_t slot,
                      tl_slot value) {
  if (value.tag == (TL_TAG_F64 | TL_WEAK) && (float)value.f == value.f &&
      (*flow->strong & ~flow->asked[pc] & tl_jit_bit(slot)) != 0)
    value.tag = TL_TAG_F64;
  return value;
}
