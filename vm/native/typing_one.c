// Instructions that a unit does not do itself: the interpreter's function does
// them (vm->one), and the unit goes on behind it.
//
//     t7 = record(t8, t9)      do          exit 12   declined: leaves before it
//                              t7 = rfetch exit 14   another tag: leaves behind
//
// What lives is in its slots meanwhile, with the tags of what the instruction
// touches. Behind it what it changes is in memory, tag and all, and nothing
// else has changed: no slot but those that the bytecode names. A result is then
// fetched, if it has the tag that is likely: the one that the opcode says, or
// one that it has had before (flow->made, by learn.c). One with many tags stays
// in memory, where the next such instruction finds it.
//
// What it stores may get more owners by it, so that units with such an
// instruction ask before each store into an array whether it is alone.
#include "vm/native/typing.h"

#include "vm/bytecode/module.h"
#include "vm/native/jit_internal.h"
#include "vm/region/region.h"

bool tl_jit_is_pair(const tl_builtin *builtin, const tl_ins *ins) {
  const tl_ins *then = ins + 2;
  return builtin->result == TL_PAIR && then->op == TL_BC_UNPACK &&
         then->b == ins->a && tl_ins_extra(then[1]) == 2 &&
         (then->modes & 3u) != TL_MODE_BORROW;
}

// --- What an instruction touches --------------------------------------------

// Whether the function of C does the instruction at [pc]: it calls no script
// and no host. A list that is made to be returned is left to the interpreter
// in frames that return to it, as no list may be needed.
static bool may_do(const tl_jit_flow *flow, const tl_prototype *p, uint32_t pc,
                   bool is_function) {
  const tl_ins *ins = &p->code[pc];
  if (tl_jit_is_joined(ins) && flow->leads[pc + 1])
    return false;
  switch (ins->op) {
    case TL_BC_LIST:
      return is_function || (ins[2].op != TL_BC_RET && ins[2].op != TL_BC_OWN);
    case TL_BC_CALLB: {
      const tl_builtin *builtin = p->constants[tl_ins_extra(ins[1])].pointer;
      return builtin->call != NULL && builtin->name != NULL &&
             (builtin->flags & (TL_FILES | TL_CLOCK | TL_ENVIRONMENT |
                                TL_EFFECT | TL_CALLS)) == 0 &&
             !(tl_jit_is_pair(builtin, ins) && flow->leads[pc + 2]);
    }
    case TL_BC_RET:
      return is_function;
    case TL_BC_GETC:
    case TL_BC_SELF:
    case TL_BC_CHECKSET:
      return false;
    default:
      return (ins->op < TL_BC_CALLK &&
              (ins->op < TL_BC_LOADK || ins->op > TL_BC_GETG)) ||
             ins->op == TL_BC_NEXT ||
             (ins->op >= TL_BC_JLT && ins->op <= TL_BC_JNGTK);
  }
}

bool tl_jit_is_joined(const tl_ins *ins) {
  return tl_may_join(ins->op) && (ins->modes & TL_WITH_NEXT) != 0;
}

// The operands that the instruction changes, beside its results.
static uint64_t changed_operands(const tl_prototype *p, const tl_decoded *d,
                                 uint32_t pc) {
  uint32_t a = p->code[pc].a >> 4, b = p->code[pc].b >> 4;
  switch (d->op) {
    case TL_BC_OWN:
    case TL_BC_DROP:
      return tl_jit_bit(a);
    case TL_BC_KEEP:
    case TL_BC_INHERIT:
    case TL_BC_KEEPOF:
      return tl_jit_bit(b);
    case TL_BC_SETTLE:
    case TL_BC_LEAVE:
    case TL_BC_HOLD:
    case TL_BC_DETACH:
      return tl_jit_bit(a) | tl_jit_bit(b);
    case TL_BC_REPLACE:
      return tl_jit_bit(d->operands[d->operand_count - 1]);
    case TL_BC_NEXT:
      return tl_jit_bit(b + 1);
    default:
      return 0;
  }
}

// The pc behind the instruction, and behind the one that a unit takes for one
// with it.
static uint32_t behind(const tl_prototype *p, uint32_t pc) {
  const tl_ins *ins = &p->code[pc];
  if (ins->op == TL_BC_CALLB &&
      tl_jit_is_pair(p->constants[tl_ins_extra(ins[1])].pointer, ins))
    return pc + 4;
  return pc + (tl_jit_is_joined(ins) || ins[1].op == TL_BC_EXTRA ? 2 : 1);
}

// Where a region ends at the latest that begins at [pc]; [pc]: there is none.
static uint32_t reach_of(const tl_prototype *p, uint32_t pc) {
  uint32_t n =
      tl_count_upto(p->regions, p->region_count, sizeof *p->regions, pc);
  const tl_region *r = n == 0 ? NULL : &p->regions[n - 1];
  uint32_t end = r == NULL ? 0 : r->together > r->end ? r->together : r->end;
  return end > pc ? end : pc;
}

// Adds the slots of the instructions from [pc] to [end].
static void add_slots(const tl_prototype *p, uint32_t pc, uint32_t end,
                      uint64_t *touched, uint64_t *changed) {
  tl_decoded d;
  for (; pc < end; pc += d.words) {
    uint64_t reads, results;
    tl_decode(p, pc, &d);
    tl_jit_read_slots(&d, &reads, &results);
    results |= changed_operands(p, &d, pc);
    if (d.back >= 0)
      reads |= tl_jit_bit((uint32_t)d.back);
    *changed |= results;
    *touched |= results | reads;
  }
}

bool tl_jit_is_made_own(const tl_jit_code *code, uint32_t at, uint32_t slot) {
  const tl_typed *t = at == 0 ? NULL : &code->ops[at - 1];
  if (t != NULL && at > 1 && t->op == TL_TYPED_FETCH &&
      (uint32_t)t->a % TL_JIT_SLOTS == slot)
    t--;
  if (t == NULL || t->op != TL_TYPED_DO)
    return false;
  const tl_ins *ins = &code->unit->function->code[code->exits[t->exit].pc];
  return (ins->op == TL_BC_OWN || ins->op == TL_BC_RET) &&
         (uint32_t)ins->a >> 4 == slot;
}

bool tl_jit_read_one(const tl_jit_flow *flow, const tl_prototype *p,
                     uint32_t pc, bool is_function, tl_jit_one_slots *out) {
  if (pc >= flow->count || p->code[pc].op == TL_BC_EXTRA ||
      !may_do(flow, p, pc, is_function))
    return false;
  tl_decoded d;
  tl_decode(p, pc, &d);
  uint32_t then = behind(p, pc), reach = reach_of(p, pc);
  *out = (tl_jit_one_slots){.then = then};
  if (flow->spans[pc] != 0) {
    out->spans = true;
    out->then = pc + flow->spans[pc];
  }
  add_slots(p, pc, out->then, &out->touched, &out->changed);
  uint64_t beyond = 0;
  add_slots(p, out->then, reach, &out->touched, &beyond);
  out->live = flow->live[out->then];
  // Its result is what is left of a function, owned from here on.
  if (d.op == TL_BC_RET)
    out->live = out->changed = out->touched;
  if (d.target >= 0)
    out->live |= flow->live[d.target];
  out->changed &= out->live;
  return true;
}

void tl_jit_types_behind(const tl_jit_one_slots *one, uint64_t kept,
                         tl_jit_type *types) {
  for (uint32_t s = 0; s < TL_JIT_SLOTS; s++) {
    bool in_memory = types[s] == TL_TYPE_ENTRY || types[s] == TL_TYPE_MEMORY;
    if ((one->changed & tl_jit_bit(s)) != 0)
      types[s] = TL_TYPE_MEMORY;
    else if ((!in_memory && (kept & tl_jit_bit(s)) == 0) ||
             ((one->touched & ~one->live) & tl_jit_bit(s)) != 0)
      types[s] = TL_TYPE_UNKNOWN;
  }
}

// --- Typing -----------------------------------------------------------------

// The tag of a result by the opcode, or as it was before of what is updated; 0:
// it is not known. [before] is the tag that the slot had.
static uint64_t likely_tag(const tl_typing_pass *x, const tl_ins *ins,
                           uint32_t slot, uint64_t before) {
  if (ins->op >= TL_BC_UNTAKE && ins->op <= TL_BC_SETPATH)
    return before | TL_OWNED;
  switch (ins->op) {
    case TL_BC_LIST:
    case TL_BC_PUSH:
      return TL_TAG_LIST | TL_OWNED;
    case TL_BC_RECORD:
      return TL_TAG_RECORD | TL_OWNED;
    case TL_BC_FORMAT:
    case TL_BC_JOIN:
      return TL_TAG_STRING | TL_OWNED;
    case TL_BC_IN:
      return TL_TAG_BOOL;
    case TL_BC_GETEL:
    case TL_BC_GETF:
    case TL_BC_TAKEEL:
      return x->flow->seen[2 * x->pc] == TL_JIT_MANY ? 0
                                                     : x->flow->seen[2 * x->pc];
    case TL_BC_OWN:
      return before == 0 ? 0 : before | TL_OWNED;
    case TL_BC_NEXT:
    case TL_BC_KEEP:
    case TL_BC_KEEPOF:
    case TL_BC_INHERIT:
    case TL_BC_HOLD:
    case TL_BC_DETACH:
      return before;
    // What the first slot owns the second one has taken over, or it is gone.
    case TL_BC_SETTLE:
    case TL_BC_LEAVE:
      return slot == (uint32_t)ins->a >> 4            ? before & ~TL_OWNED
             : before != 0 && ins->op == TL_BC_SETTLE ? before | TL_OWNED
                                                      : before;
    default:
      return 0;
  }
}

// Whether the instruction passes on what it finds, so that a slot of which the
// tag is not known before is no better known behind it.
static bool passes_on(int op) {
  return op == TL_BC_MOV || op == TL_BC_MOVB ||
         tl_opcodes[op].format == TL_FORMAT_A ||
         tl_opcodes[op].format == TL_FORMAT_AA;
}

// Leaving behind the instruction, so that what it has made is looked at.
static int32_t exit_behind(tl_typing_pass *x) {
  int32_t exit = tl_typing_exit_with(x, x->then, x->flow->live[x->then]);
  x->code->exits[exit].did = (int32_t)x->pc;
  return exit;
}

// Fetches the result in the slot, as far as its tag is known: [made] has [each]
// tags that it has had; NULL: none are kept of it. With the second one control
// goes on in a version of what follows. False: none was seen yet, and the unit
// leaves behind the instruction, for learn.c to look at it.
static bool fetch_result(tl_typing_pass *x, const tl_ins *ins, uint32_t slot,
                         const uint64_t *made, int each, uint64_t before) {
  uint64_t tag = made == NULL ? 0 : made[0], also = each > 1 ? made[1] : 0;
  if (tag == 0 && x->flow->spans[x->pc] == 0)
    tag = likely_tag(x, ins, slot, before);
  if (ins->op == TL_BC_DROP || tag == TL_JIT_MANY || also == TL_JIT_MANY ||
      (tag == 0 && (made == NULL || passes_on(ins->op))))
    return true;
  tl_jit_type type = tl_typing_type(x, tag), other = tl_typing_type(x, also);
  if (tag != 0 && type == TL_TYPE_UNKNOWN)
    return true;
  int32_t exit = exit_behind(x), to = -1;
  if (tag == 0) {
    x->unit->is_curious = true;
    tl_typing_put_plain(x, TL_TYPED_EXIT)->exit = exit;
    return false;
  }
  if (other != TL_TYPE_UNKNOWN && other != type) {
    x->now[slot] = other;
    to = tl_typing_edge(x, x->then);
    x->now[slot] = TL_TYPE_MEMORY;
  }
  tl_typed *t =
      tl_typing_set(x, TL_TYPED_FETCH, slot, type, TL_JIT_NONE, TL_JIT_NONE);
  t->other = to == -1 ? TL_TYPE_UNKNOWN : other;
  t->to = to;
  t->exit = exit;
  return true;
}

// What has two tags comes last, so that the version for the second one knows
// the other results.
tl_typing_step tl_typing_fetch(tl_typing_pass *x, const tl_ins *ins,
                               uint64_t changed, const uint64_t *before) {
  int kept = tl_jit_kept(x->pc, x->then);
  int each = tl_jit_kept_each(kept, changed);
  for (int twos = 0; twos < 2; twos++) {
    int i = 0;
    for (uint64_t rest = changed; rest != 0; rest &= rest - 1, i += each) {
      uint32_t slot = (uint32_t)__builtin_ctzll(rest);
      const uint64_t *made =
          i < kept ? &x->flow->made[2 * x->pc + (uint32_t)i] : NULL;
      if ((each > 1 && made[1] != 0) == twos &&
          !fetch_result(x, ins, slot, made, each, before[slot]))
        return TL_TYPING_ENDS;
    }
  }
  return TL_TYPING_GOES_ON;
}

tl_typing_step tl_typing_one(tl_typing_pass *x, const tl_ins *ins,
                             int64_t target) {
  tl_jit_one_slots one;
  uint64_t before[TL_JIT_SLOTS];
  if (!tl_jit_read_one(x->flow, x->p, x->pc, x->unit->is_function, &one))
    return TL_TYPING_LEAVES;
  uint64_t live = x->flow->live[x->pc];
  // Behind a jump back comes a poll, which leaves before it: it is done anew.
  if (target >= 0 && target <= x->pc && (one.touched & ~one.live) != 0)
    return TL_TYPING_LEAVES;
  for (uint32_t s = 0; s < x->p->slot_count; s++) {
    before[s] = tl_jit_tag_of(x->unit, s, x->now[s]);
    if ((live & tl_jit_bit(s)) != 0 && x->now[s] == TL_TYPE_UNKNOWN)
      return TL_TYPING_LEAVES;
  }
  tl_typed *t =
      tl_typing_put_plain(x, target < 0 ? TL_TYPED_DO : TL_TYPED_DOIF);
  t->imm = one.then;
  x->unit->does = true;
  tl_jit_types_behind(&one, x->code->exits[t->exit].slots, x->now);
  x->known &= ~one.touched;
  x->then = one.then;
  t->condition = target <= x->pc ? TL_IF_EQ : TL_IF_NE;
  if (target >= 0)
    return tl_typing_branch(x, t, target);
  return tl_typing_fetch(x, ins, one.changed, before);
}

// --- Doing it ---------------------------------------------------------------

void tl_jit_goes_on(tl_vm *vm, const tl_ins *ins) {
  vm->jit->has_gone = true;
  vm->jit->did = ins;
}

// The fuel is all in one place while a unit runs, and what C polls for may put
// some of it aside.
static inline tl_one end_one(tl_vm *vm, tl_one how) {
  vm->fuel += vm->fuel_aside;
  vm->fuel_aside = 0;
  vm->jit->has_failed = how == TL_ONE_FAILED;
  return how;
}

tl_one tl_jit_one(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  return end_one(vm, vm->one(vm, base, ins));
}

// The instructions of a region that did not run, one by one. Where they end
// elsewhere, or something else is in the way, the unit leaves at that.
__attribute__((noinline)) static tl_one do_each(tl_vm *vm, tl_slot *base,
                                                const tl_ins *ins,
                                                const tl_ins *end) {
  tl_frame *frame = vm->frame;
  const tl_prototype *p = frame->function;
  for (const tl_ins *at = ins; at != end; at = frame->pc) {
    tl_one how = vm->one(vm, base, at);
    if (how == TL_ONE_DONE)
      frame->pc = p->code + behind(p, (uint32_t)(at - p->code));
    else if (how != TL_ONE_WENT || (at == ins && frame->pc != end))
      return end_one(vm, how);
    vm->jit->has_gone = false;
    if (frame->pc > end)
      return end_one(vm, TL_ONE_LEFT);
  }
  return end_one(vm, TL_ONE_DONE);
}

// The region at [ins] is tried as it was the last time, without a look at the
// operation. [span]: its words, and its number above 32 bits.
tl_one tl_jit_span(tl_vm *vm, tl_slot *base, const tl_ins *ins, int64_t span) {
  const tl_ins *end = ins + (uint32_t)span, *next;
  tl_region *where = &vm->frame->function->regions[span >> 32];
  tl_region_status status = tl_region_run_again(where, base, ins, &next);
  if (status == TL_REGION_FAILED)
    return end_one(vm, TL_ONE_FAILED);
  if (status == TL_REGION_DECLINED)
    return do_each(vm, base, ins, end);
  vm->frame->pc = next;
  vm->jit->did = ins;
  vm->jit->has_gone = next != end;
  return end_one(vm, next == end ? TL_ONE_DONE : TL_ONE_WENT);
}

// --- Ways around ------------------------------------------------------------

// An operation that has left the unit lately has a way around instead: where it
// finds what it cannot do, C does the instruction, in a block of its own.
//
//     rpoke t3, s.packet   else -> 18b     18b   do setpath
//     jump -> 20                                 s = rfetch     exit 20
//                                                jump -> 20
void tl_typing_detour(tl_typing_pass *x, uint32_t start,
                      const tl_jit_type *before) {
  tl_jit_type behind[TL_JIT_SLOTS];
  int32_t label = -1;
  for (uint32_t i = start; i < x->code->op_count; i++) {
    tl_typed *t = &x->code->ops[i];
    if (t->exit < 0 || t->op == TL_TYPED_POLL || t->op == TL_TYPED_DO ||
        t->op == TL_TYPED_DOIF || t->op == TL_TYPED_COMPUTE ||
        x->code->exits[t->exit].pc != x->pc)
      continue;
    if (label < 0) {
      memcpy(behind, x->now, sizeof behind);
      memcpy(x->now, before, sizeof behind);
      label = tl_typing_label(x, x->pc);
      x->code->labels[label].is_detour = true;
      memcpy(x->now, behind, sizeof behind);
    }
    t->exit = -2 - label;
  }
  if (label >= 0)
    tl_typing_jump(x, x->then);
}
