// Proves typed operations before they become machine code, in every build: the
// typing pass is long, and what it gets wrong would be memory written wrongly.
// Nothing is taken from the pass but what it says: the labels' types are
// checked at each jump there, and what lives comes from the flow.
//
//     label 7: x float64, l list        now = the label's types
//        y = fadd x, x                  x has_float; now[y] = float64
//        setitem i, l, k     exit 3     l is owned; exit 3 writes back all
//        jump -> 7                      that lives, as now has it
//                                       label 7's types are those of now
//
// What is proven: a register is read as what was last written to it; no exit
// forgets a slot that the interpreter will read; no slot that owns is written
// over; nothing is stored into what its slot does not own. What cannot be
// proven here is tested by the code each time: indices, counts of owners, tags
// of items. That borrows do not outlive what they borrow from was proven of
// the bytecode (vm/verify), and moves in a unit are those of the bytecode.
#include "vm/elementwise.h"
#include "vm/native/typed.h"

// The walk over the operations, with the types of slots there. At a label they
// are the label's; behind an operation they are what it has made of them. A
// type here is what the slot's register has, not what its tag in memory says.
typedef struct checking {
  const tl_jit_code *code;
  const tl_jit_unit *unit;
  const tl_jit_flow *flow;
  tl_jit_type now[TL_JIT_SLOTS];
  // The operation under way.
  uint32_t at;
  // The guards and rows that have been read last, before a loop, as a range of
  // operations; the rows at the beginning of its body; and the head's label, -1
  // outside of such a loop.
  uint32_t claims, claims_end, tops, tops_end;
  int32_t loop;
  // Of that loop: the hidden next value, the variable, and the slots that
  // nothing may write in it.
  int hidden, variable;
  uint64_t fixed;
  bool steps[2];  // guards say something of any step, and of a step of 1
  int32_t chunk;  // the loop, where its iterations left are put aside; or -1
} checking;

// What registers for integers hold: all but floats. What it is in particular
// [from] says, which is compared with what is there.
static bool is_whole(tl_jit_type t) {
  return tl_jit_is_scalar(t) && !tl_jit_is_float(t);
}

// A register beside an array that the unit uses: its address or a length.
static bool is_fact(const checking *c, int r) {
  return r >= TL_JIT_FACTS &&
         r < TL_JIT_FACTS + TL_JIT_FACTS_EACH * (int)c->unit->array_count;
}

// Whether the register may be read as an integer, or as a float.
static bool has_whole(const checking *c, int r) {
  return (r >= 0 && r < TL_JIT_FLOAT && is_whole(c->now[r])) || is_fact(c, r);
}
// The same for a float: it has a register of its own, and never a fact.
static bool has_float(const checking *c, int r) {
  return r >= TL_JIT_FLOAT && r < TL_JIT_FACTS &&
         tl_jit_is_float(c->now[r - TL_JIT_FLOAT]);
}

// A register with the address of a row, for which there is room in the frame.
static bool is_row_register(const checking *c, int r) {
  int first = tl_jit_first_row(c->unit);
  return r >= first && r < first + c->code->row_count &&
         c->code->row_count <= TL_JIT_ROWS;
}

// How many axes the array of an operation on an item has.
static uint32_t rank_of(const checking *c, const tl_typed *t) {
  if (t->op == TL_TYPED_ROW)
    return 2;
  if (t->op >= TL_TYPED_READ && t->op <= TL_TYPED_WRITE)
    return is_row_register(c, t->e) ? 2 : 1;
  return t->d < 0 ? 1 : t->e < 0 ? 2 : 3;
}

// An array of the rank and dtype that the operation says, whose items lie in
// rows and which nothing has touched since the entry. What is stored into has
// to be owned by its slot alone; that the count is 1 is tested at the entry.
static bool is_array(const checking *c, int k, const tl_typed *t) {
  if (k < 0 || k >= (int)c->unit->array_count || !tl_jit_has_dtype(t->dtype))
    return false;
  const tl_jit_array *array = &c->unit->arrays[k];
  uint64_t tag = array->tag;
  bool is_inside = t->op >= TL_TYPED_ROW && t->op <= TL_TYPED_WRITE;
  bool stores = t->op == TL_TYPED_STORE || t->op == TL_TYPED_WRITE;
  bool fits = t->op == TL_TYPED_ROW ||
              (stores ? tl_typed_is_of_float(t) ? tl_jit_is_scalar(t->from[0])
                                                : has_whole(c, t->a)
                      : t->type == tl_jit_of_dtype((tl_dtype)t->dtype));
  return c->now[array->slot] == TL_TYPE_ENTRY && fits &&
         c->unit->tags[array->slot] == tag && (tag & TL_DENSE) != 0 &&
         tl_is_of_rank(tag, rank_of(c, t)) &&
         (is_inside || t->d < 0 || has_whole(c, t->d)) &&
         (is_inside || t->e < 0 || has_whole(c, t->e)) &&
         t->dtype == (uint8_t)(tag >> 8) &&
         (!stores || (array->is_written && (tag & TL_OWNED) != 0 &&
                      (tag & TL_DIRECT) != 0));
}

// Whether the operation says of a register that it reads what is there.
static bool is_from(const checking *c, int r, tl_jit_type from) {
  return r < 0 ||
         from == (r < TL_JIT_FACTS ? c->now[r % TL_JIT_SLOTS] : TL_TYPE_INT);
}

// Whether the register has a reference: one that the unit made, or one that was
// in its slot at the entry, whose tag was compared there. A slot that is not
// pinned had its type compared alone, and for what is no scalar that says
// nothing.
static bool has_reference(const checking *c, int r) {
  return r >= 0 && r < TL_JIT_FLOAT &&
         (tl_jit_is_reference(c->now[r]) ||
          (c->now[r] == TL_TYPE_ENTRY && (c->unit->pinned >> r & 1) != 0 &&
           (c->unit->live >> r & 1) != 0));
}

// The tag of what is in the register of a slot; 0: it is not known, which is of
// no kind and owns nothing, so that nothing is proven by it.
static uint64_t tag_in(const checking *c, int r) {
  uint32_t slot = (uint32_t)r % TL_JIT_SLOTS;
  return tl_jit_tag_of(c->unit, slot, c->now[slot]);
}

// One operand by what the table says of it. Written operands are asked for
// their type too: a float's register gets a float, a reference's one whose tag
// the unit has. Operands that are none have to be TL_JIT_NONE.
static bool is_operand(const checking *c, const tl_typed *t, int kind, int r) {
  bool none = r == TL_JIT_NONE;
  switch ((tl_typed_kind)kind) {
    case TL_OPERAND_I:
      return has_whole(c, r);
    case TL_OPERAND_F:
      return has_float(c, r);
    case TL_OPERAND_N:
      return none || has_whole(c, r) || has_float(c, r);
    case TL_OPERAND_K:
      return none || has_whole(c, r);
    case TL_OPERAND_S:
      return none || (r < TL_JIT_FACTS && (has_whole(c, r) || has_float(c, r)));
    case TL_OPERAND_W:
    case TL_OPERAND_V:
      return (none && kind == TL_OPERAND_W) || has_whole(c, r) ||
             has_float(c, r) || has_reference(c, r);
    case TL_OPERAND_A:
      return is_array(c, r, t);
    case TL_OPERAND_R:
      return has_reference(c, r);
    case TL_OPERAND_T:
      return none ? t->imm != 0 : has_reference(c, r);
    case TL_OPERAND_C:
      return none || (has_reference(c, r) && tl_tag_is_function(tag_in(c, r)));
    case TL_OPERAND_RD:
      return r >= 0 && r < TL_JIT_FLOAT && tl_jit_is_reference(t->type) &&
             t->type - TL_TYPE_REFERENCE < (int)c->unit->reference_count;
    case TL_OPERAND_ID:
      return r >= 0 && r < TL_JIT_FLOAT && is_whole(t->type);
    case TL_OPERAND_FD:
      return r >= TL_JIT_FLOAT && r < TL_JIT_FACTS && tl_jit_is_float(t->type);
    case TL_OPERAND_VD:
      return is_operand(c, t, TL_OPERAND_ID, r) ||
             is_operand(c, t, TL_OPERAND_FD, r) ||
             is_operand(c, t, TL_OPERAND_RD, r);
    default:
      return none;
  }
}

// Whether leaving by the exit leaves each slot of [live] as the interpreter has
// it: written back with its type, or never touched. A slot that is written back
// without living is refused as well: its register may have anything by then.
//
//     lives   written   now           passes
//     yes     yes       x             where the exit says x, too
//     yes     no        ENTRY         the slot's memory is as it was
//     yes     no        MEMORY        the slot's memory is right
//     yes     no        other         no: memory has what was there before
//     no      yes       any           no
static bool is_exit_of(const checking *c, int32_t number, uint64_t live) {
  if ((uint32_t)number >= c->code->exit_count)
    return false;
  const tl_jit_exit *e = &c->code->exits[number];
  for (uint64_t left = e->slots | live; left != 0; left &= left - 1) {
    uint32_t s = (uint32_t)__builtin_ctzll(left);
    bool written = (e->slots >> s & 1) != 0, lives = (live >> s & 1) != 0;
    tl_jit_type now = c->now[s];
    if (written ? !lives || e->types[s] != now ||
                      !(tl_jit_is_scalar(now) || tl_jit_is_reference(now))
                : now != TL_TYPE_ENTRY && now != TL_TYPE_MEMORY)
      return false;
  }
  return true;
}

static bool is_target(const checking *c, int32_t to);

// Leaving before the exit's own instruction: all that lives there is right.
// What lives is the flow's word, not the exit's: an exit that forgets a slot
// does not pass.
static bool is_exit(const checking *c, int32_t number) {
  if (number < -1)
    return is_target(c, -2 - number);
  if ((uint32_t)number >= c->code->exit_count)
    return false;
  uint32_t pc = c->code->exits[number].pc;
  return pc < c->flow->count && is_exit_of(c, number, c->flow->live[pc]);
}

// Whether the operation under way is the jump from guards into their loop.
static bool is_door(const checking *c, int32_t to) {
  const tl_typed *t = &c->code->ops[c->at];
  return t->op == TL_TYPED_JUMP && t->to == to &&
         c->at + 1 < c->code->op_count && t[1].op == TL_TYPED_LABEL &&
         t[1].to == to;
}

// Whether control may go to [to] from here: all that the label says is so.
// Into a loop behind its guards it comes by these alone.
// UNKNOWN in a label asks for nothing, and nothing may be read of it behind the
// label without being written first.
static bool is_target(const checking *c, int32_t to) {
  if (to < 0)
    return is_exit(c, -1 - to);
  if ((uint32_t)to >= c->code->label_count)
    return false;
  const tl_jit_label *label = &c->code->labels[to];
  if (label->loop >= 0 && label->loop != c->loop && !is_door(c, to))
    return false;
  for (uint32_t s = 0; s < TL_JIT_SLOTS; s++)
    if (label->types[s] != TL_TYPE_UNKNOWN && label->types[s] != c->now[s])
      return false;
  return true;
}

// The same of a way on which a slot has another type.
static bool is_target_with(checking *c, uint32_t slot, tl_jit_type type,
                           int32_t to) {
  tl_jit_type before = c->now[slot];
  c->now[slot] = type;
  bool fits = is_target(c, to);
  c->now[slot] = before;
  return fits;
}

// A slot gets a result with that tag; false: the unit has no type for it.
static bool set_result(checking *c, uint32_t slot, uint64_t tag) {
  tl_jit_type type = tag == 0 ? TL_TYPE_MEMORY : tl_jit_type_of(tag);
  if (slot >= TL_JIT_SLOTS)
    return false;
  for (uint32_t i = 0; type == TL_TYPE_ENTRY && i < c->unit->reference_count;
       i++)
    if (c->unit->references[i] == tag)
      type = (tl_jit_type)(TL_TYPE_REFERENCE + i);
  c->now[slot] = type;
  return type != TL_TYPE_ENTRY;
}

// Whether the unit takes the arguments, which stand from slot [a] + 1 on.
static bool is_callee(const checking *c, const tl_typed *t, int a,
                      const tl_jit_unit *unit) {
  bool fits = unit->is_function && unit->owns == (t->b >= 0) &&
              unit->function->param_count == (uint32_t)t->d;
  for (int i = 0; fits && i < t->d; i++)
    fits = a + 1 + i < TL_JIT_SLOTS && tag_in(c, a + 1 + i) == unit->tags[i];
  return fits;
}

// Whether the record has a closure with a captured value of that number.
static bool has_closure(const checking *c, int64_t number) {
  return (!c->unit->is_function || c->unit->owns) && number >= 0 &&
         (uint64_t)number < c->unit->function->capture_count;
}

// Of a value that is called the emitter takes the form from its type; UNKNOWN
// where a function is. The callee finds its arguments behind the result's slot,
// of its types. What lives below the result's slot has to be written back by
// the exit [imm], since the interpreter goes on above it with frames of both,
// should it leave:
//
//     slot     0 … a - 1     a        a + 1 … a + d     behind
//              exit [imm]    result   arguments         the callee's
//
// What lives there has to be in its slot before the call, too, since
// the callee may leave; from that slot on all belongs to the callee and is
// unknown afterwards.
static bool is_call(checking *c, const tl_typed *t) {
  const tl_jit_unit *callee = t->callees[0];
  bool row = t->op == TL_TYPED_ROWCALL;
  int a = row ? t->to : t->a % TL_JIT_SLOTS;
  if (callee == NULL || a < 0 || a >= TL_JIT_SLOTS || t->b > a ||
      t->from[1] != (t->b < 0 ? TL_TYPE_UNKNOWN : c->now[t->b]) ||
      (uint32_t)t->exit >= c->code->exit_count)
    return false;
  for (int i = 0; i < TL_JIT_CALLED && t->callees[i] != NULL; i++)
    if (!is_callee(c, t, a, t->callees[i]) ||
        !tl_jit_gives_same(t->callees[i], callee))
      return false;
  bool result =
      row ? callee->result == TL_TYPE_ROW
      : tl_jit_is_reference(t->type)
          ? callee->result == TL_TYPE_REFERENCE &&
                tl_jit_tag_of(c->unit, 0, t->type) == callee->result_tags[0]
          : t->type == callee->result;
  uint32_t pc = c->code->exits[t->exit].pc;
  uint64_t below = (UINT64_C(1) << a) - 1;
  if (!result || !is_exit_of(c, (int32_t)t->imm, c->flow->live[pc] & below))
    return false;
  // The callee's slots are those behind.
  for (int s = a; s < TL_JIT_SLOTS; s++) c->now[s] = TL_TYPE_UNKNOWN;
  uint32_t first = (uint32_t)a + (callee->is_single ? 0 : 1);
  for (uint32_t i = 0; row && i < callee->result_count; i++)
    if (!set_result(c, first + i, callee->result_tags[i]))
      return false;
  return true;
}

// No register of the unit is as it was behind a call of C, so what is not kept
// in its slot is lost, and a later read of it is refused; facts come back from
// the stack, and references of the entry from their slots.
static void lose_registers(checking *c, uint64_t kept) {
  for (int s = 0; s < TL_JIT_SLOTS; s++)
    if (c->now[s] != TL_TYPE_ENTRY && c->now[s] != TL_TYPE_MEMORY &&
        (kept >> s & 1) == 0)
      c->now[s] = TL_TYPE_UNKNOWN;
}

// An operation by a function of C: its operands have to be in their slots, and
// so has all that is read behind it.
static bool is_computed(checking *c, const tl_typed *t) {
  uint64_t kept = c->code->exits[t->exit].slots;
  bool one = t->from[2] == TL_TYPE_UNKNOWN;
  if (t->b < 0 || (kept >> t->b % TL_JIT_SLOTS & 1) == 0 ||
      (t->c >= 0 && (kept >> t->c % TL_JIT_SLOTS & 1) == 0) ||
      (t->c < 0 && !one && !tl_jit_is_scalar(t->from[2])) ||
      t->condition >= (one ? TL_OP_COUNT : TL_BINARY_OPS))
    return false;
  lose_registers(c, kept);
  return true;
}

// An array ends that its slot owns, and what the exit names lives on.
static bool is_end(checking *c, const tl_typed *t) {
  uint64_t tag = tag_in(c, t->b);
  lose_registers(c, t->exit < 0 ? 0 : c->code->exits[t->exit].slots);
  c->now[t->b] = TL_TYPE_UNKNOWN;
  return t->exit >= 0 && tl_tag_owns(tag) && (tag & TL_CLASS_ARRAY) != 0;
}

// An instruction that C does: its operands are in their slots, as all is that
// lives there, and the types behind it are those that the bytecode says.
static bool is_done(checking *c, const tl_typed *t) {
  const tl_jit_exit *exit = &c->code->exits[t->exit];
  tl_jit_one_slots one;
  if (!tl_jit_read_one(c->flow, c->unit->function, exit->pc,
                       c->unit->is_function, &one) ||
      t->imm != one.then || !c->unit->does)
    return false;
  tl_jit_types_behind(&one, exit->slots, c->now);
  return true;
}

// Where the slot has the other type: control goes where the label, or the exit,
// wants just that. The rest of what is there is as before the operation.
static bool is_other_target(checking *c, const tl_typed *t) {
  return is_target_with(c, (uint32_t)t->a % TL_JIT_SLOTS, t->other, t->to);
}

// What is fetched is in memory with its tag, which the code compares; else
// control leaves behind the instruction, or goes on with the other type.
static bool is_fetched(checking *c, const tl_typed *t) {
  uint32_t slot = (uint32_t)t->a % TL_JIT_SLOTS;
  return c->now[slot] == TL_TYPE_MEMORY &&
         tl_jit_tag_of(c->unit, slot, t->type) != 0 &&
         (t->other == TL_TYPE_UNKNOWN ||
          (tl_jit_tag_of(c->unit, slot, t->other) != 0 &&
           is_other_target(c, t)));
}

// Whether the widths of what is read and of the result fit. Integers are cut by
// the emitter to whatever the result is, so of these only kinds have to be
// right; bools come of bools alone. A bool is 0 or 1 in its register, which
// `not` and stores rely on: an AND of a bool and an integer would break that.
static bool has_widths(const tl_typed *t) {
  if (t->op >= TL_TYPED_ADD && t->op <= TL_TYPED_FIT)
    return tl_jit_is_integer(t->type) && tl_jit_is_integer(t->from[1]);
  switch ((tl_typed_op)t->op) {
    case TL_TYPED_MOVE:
      return tl_jit_dtype(t->type) == tl_jit_dtype(t->from[1]) ||
             (tl_jit_is_integer(t->type) && tl_jit_is_integer(t->from[1]) &&
              tl_dtype_promote(tl_jit_dtype(t->type),
                               tl_jit_dtype(t->from[1])) ==
                  tl_jit_dtype(t->type));
    case TL_TYPED_AND:
    case TL_TYPED_OR:
    case TL_TYPED_XOR:
      return t->type == TL_TYPE_BOOL
                 ? t->from[1] == TL_TYPE_BOOL &&
                       (t->c < 0 || t->from[2] == TL_TYPE_BOOL)
                 : tl_jit_is_integer(t->type);
    case TL_TYPED_TRUNC:
      return t->type == TL_TYPE_INT && tl_jit_dtype(t->from[1]) == TL_FLOAT64;
    case TL_TYPED_FNEG:
    case TL_TYPED_FABS:
      return tl_jit_dtype(t->from[1]) == t->dtype;
    case TL_TYPED_FIF:
    case TL_TYPED_FSET:
      return t->b >= 0 && (t->dtype == TL_FLOAT32 || t->dtype == TL_FLOAT64);
    default:
      return !tl_typed_has_result(t) || !tl_jit_is_float(t->type) ||
             t->op > TL_TYPED_RETURN || t->dtype == tl_jit_dtype(t->type);
  }
}

// Whether a result in that slot is owned where the caller wants that: by its
// tag, or since what is before has made it so.
static bool is_given(const checking *c, uint32_t slot, uint64_t tag) {
  const tl_typed *before = &c->code->ops[c->at - 1];
  return !c->unit->owns || tl_tag_owns_all(tag) ||
         tl_jit_is_made_own(c->code, c->at, slot) ||
         (before->op == TL_TYPED_ROWCALL && before->callees[0]->owns);
}

// Whether the unit gives what it says: the tags of the results, which are what
// callers were made for. That the function owns nothing else by then was proven
// of the bytecode.
static bool is_row(const checking *c, const tl_typed *t, uint32_t first,
                   uint32_t count) {
  if (!c->unit->is_function || count != c->unit->result_count || count == 0 ||
      count > TL_JIT_RESULTS || first + count > TL_JIT_SLOTS ||
      c->unit->result !=
          (t->op == TL_TYPED_ROWRETURN ? TL_TYPE_ROW : TL_TYPE_REFERENCE))
    return false;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t tag = c->unit->result_tags[i];
    if (t->op == TL_TYPED_ROWRETURN && t->from[i] != c->now[first + i])
      return false;
    uint64_t has = tag_in(c, (int)(first + i));
    if (!is_given(c, first + i, has) ||
        (tag == 0 ? c->now[first + i] == TL_TYPE_UNKNOWN : has != tag))
      return false;
  }
  return true;
}

// Whether the one result is what the unit says: a scalar by its type.
static bool is_result(const checking *c, const tl_typed *t) {
  return c->unit->result == TL_TYPE_REFERENCE
             ? is_row(c, t, (uint32_t)t->a, 1)
             : c->unit->is_function && t->a < TL_JIT_FACTS &&
                   c->now[t->a % TL_JIT_SLOTS] == c->unit->result;
}

// Whether [to] follows from [from]: the same reference, or one that borrows it.
// Never the other way: what borrows does not become an owner without a count.
static bool may_lend(uint64_t from, uint64_t to) {
  return from == to || (from & ~TL_OWNED) == to;
}

// Whether what an operation reads or writes of an array fits its dtype: a store
// may convert, a load converts nothing.
static bool fits(const tl_typed *t, bool writes) {
  return writes ? tl_jit_may_store(t->type, t->dtype)
                : t->type == tl_jit_of_dtype((tl_dtype)t->dtype);
}

// The container that an item is read from, or stored into: then its slot owns
// it, and the value has the type that the code will write as its tag. A text
// has texts, and no item of it is stored.
static bool is_container(const checking *c, const tl_typed *t, bool writes) {
  uint64_t tag = tag_in(c, t->b);
  if (writes &&
      ((tag & TL_OWNED) == 0 || t->type != c->now[t->a % TL_JIT_SLOTS]))
    return false;
  if (t->dtype == TL_KIND_LIST)
    return tl_tag_is_kind(tag, TL_KIND_LIST) &&
           (!writes || tl_jit_is_scalar(t->type));
  if (t->dtype == TL_KIND_STRING)
    return !writes && tl_tag_is_kind(tag, TL_KIND_STRING) &&
           tl_jit_tag_of(c->unit, 0, t->type) == TL_TAG_STRING;
  return tl_tag_is_grid(tag, rank_of(c, t)) &&
         (uint8_t)(tag >> 8) == t->dtype && fits(t, writes) &&
         (t->d < 0 || has_whole(c, t->d)) && (t->e < 0 || has_whole(c, t->e)) &&
         (!writes || (tag & TL_DIRECT) != 0);
}

// A place below an owned container, whose indices are integers. Containers on
// the way are tested when the code runs; the last one is what [dtype] says,
// which the code tests, too, unless the path has one step alone.
//
//     l[k].w[i]      step 0   [k]   of the list in slot b, whose tag is known
//                    step 1   .w    of a record: its tag is compared
//                    step 2   [i]   of what [dtype] says: compared, too
//                    k, i           slots d and d + 1
static bool is_place(const checking *c, const tl_typed *t, bool writes) {
  const tl_path *path = (const tl_path *)(intptr_t)t->imm;
  uint64_t tag = tag_in(c, t->b);
  int part = t->d;
  if (path == NULL || path->spreads || path->step_count < 1 ||
      path->step_count > TL_JIT_STEPS || (tag & TL_OWNED) == 0)
    return false;
  for (int i = 0; i < path->step_count; i++) {
    const tl_step *step = &path->steps[i];
    bool last = i + 1 == path->step_count;
    if (step->field == NULL &&
        (step->item_count != 1 || step->items[0].kind != TL_ITEM_VALUE ||
         part < 0 || part >= TL_JIT_SLOTS || !tl_jit_is_int(c->now[part++])))
      return false;
    int kind = step->field != NULL                  ? TL_KIND_RECORD
               : last && t->dtype != TL_KIND_RECORD ? t->dtype
                                                    : TL_KIND_LIST;
    if (last && kind != t->dtype)
      return false;
    bool array = kind < TL_DTYPE_COUNT;
    if (i == 0 && (array ? !tl_tag_is_row(tag) || (uint8_t)(tag >> 8) != kind ||
                               (tag & TL_DIRECT) == 0
                         : !tl_tag_is_kind(tag, kind)))
      return false;
    if (last && array && !fits(t, writes))
      return false;
  }
  bool array = t->dtype < TL_DTYPE_COUNT;
  if (!array && t->dtype != TL_KIND_LIST && t->dtype != TL_KIND_RECORD)
    return false;
  if (!writes)
    return tl_jit_is_scalar(t->type);
  uint64_t value =
      tl_jit_tag_of(c->unit, (uint32_t)t->a % TL_JIT_SLOTS, t->type);
  return value == tag_in(c, t->a) && (value & TL_CLASS_HEAP) == 0 && value != 0;
}

// A read that gives a reference gives a borrowed one: the container keeps the
// count, and an owner made here would drop it a second time.
static bool is_borrowed(const checking *c, tl_jit_type type) {
  return tl_jit_is_scalar(type) ||
         (tl_jit_tag_of(c->unit, 0, type) & TL_OWNED) == 0;
}

// A read of an item, of either type.
static bool borrows(checking *c, const tl_typed *t) {
  return is_borrowed(c, t->type) &&
         (t->other == TL_TYPE_UNKNOWN ||
          (is_borrowed(c, t->other) && is_other_target(c, t)));
}

// Whether the operation loses a count: it writes a slot that owns. Of a slot of
// the entry that nobody reads it is not known here; that no instruction does
// so was proven when the bytecode was verified.
static bool loses(const checking *c, const tl_typed *t) {
  if (!tl_typed_has_result(t))
    return false;
  uint32_t slot = (uint32_t)t->a % TL_JIT_SLOTS;
  return tl_jit_is_reference(c->now[slot]) &&
         (tag_in(c, (int)slot) & TL_OWNED) != 0;
}

// --- Loops behind guards ----------------------------------------------------

// Whether a guard says that [offset] more than the slot, or the constant alone,
// is below the length in the register. The variable stands for the hidden next
// value that it was moved from.
static bool is_guarded(const checking *c, int slot, int64_t offset,
                       int length) {
  for (uint32_t i = c->claims; i < c->claims_end; i++) {
    const tl_typed *t = &c->code->ops[i];
    bool same = t->d == 0 ? c->loop >= 0 && slot == c->variable : slot == t->b;
    if (t->op == TL_TYPED_GUARD && same && t->c == length &&
        tl_jit_low(t) <= offset && offset <= tl_jit_high(t))
      return true;
  }
  return false;
}

// The last of the rows that was put into the register; NULL: none.
static const tl_typed *find_row(const checking *c, int r) {
  for (uint32_t i = c->tops_end; i-- > c->tops;)
    if (c->code->ops[i].d == r)
      return &c->code->ops[i];
  for (uint32_t i = c->claims_end; i-- > c->claims;)
    if (c->code->ops[i].op == TL_TYPED_ROW && c->code->ops[i].d == r)
      return &c->code->ops[i];
  return NULL;
}

// The chunk of the loop, before its head; NULL: it polls in each iteration.
static const tl_typed *find_chunk(const checking *c) {
  if (c->claims_end <= c->claims)
    return NULL;
  const tl_typed *last = &c->code->ops[c->claims_end - 1];
  return last->op == TL_TYPED_CHUNK ? last : NULL;
}

// Guards, rows and a chunk stand side by side before the loop; a constant that
// is guarded is not below 0.
static void claim(checking *c) {
  if (c->claims_end != c->at)
    c->claims = c->at;
  c->claims_end = c->at + 1;
  c->tops = c->tops_end = 0;
}

static bool is_guard(checking *c, const tl_typed *t) {
  bool every = t->d == 0;
  claim(c);
  return c->loop < 0 && is_fact(c, t->c) && tl_jit_low(t) <= tl_jit_high(t) &&
         (t->b >= 0 || (tl_jit_low(t) >= 0 && !every)) &&
         (!every || (t->b + 2 < TL_JIT_SLOTS && has_whole(c, t->b + 1) &&
                     has_whole(c, t->b + 2)));
}

// How many iterations are left is aside from the chunk, the last before the
// loop, to behind the step of the same loop, and nobody may leave or ask
// meanwhile.
static bool is_chunk(checking *c, const tl_typed *t) {
  claim(c);
  return c->loop < 0 && is_row_register(c, t->d) && t->b >= 0 &&
         t->b < TL_JIT_SLOTS && t->imm > 0 && t->imm <= INT32_MAX / 2;
}

static bool is_rest_of_chunk(const checking *c, const tl_typed *t) {
  const tl_typed *step = t - 1, *chunk = find_chunk(c);
  return c->at > 0 && step->op == TL_TYPED_STEP && chunk != NULL &&
         c->chunk == step->to && chunk->d == t->d && step->b == t->a;
}

// Before the loop, of an index that nothing in it writes, or first of all in
// its body.
static bool is_row_address(checking *c, const tl_typed *t) {
  int columns = TL_JIT_FACTS + TL_JIT_FACTS_EACH * t->c + 1;
  if (!is_row_register(c, t->d) || !is_guarded(c, t->b, t->imm, columns) ||
      (c->loop < 0 ? c->claims_end : c->tops_end) != c->at)
    return false;
  if (c->loop < 0)
    claim(c);
  else
    c->tops_end++;
  return true;
}

// An item of a guarded index, by the address of its row or of all items. The
// array's own facts cannot change in a unit; is_array has proven what it is.
static bool is_inside(const checking *c, const tl_typed *t) {
  int facts = TL_JIT_FACTS + TL_JIT_FACTS_EACH * t->c;
  const tl_typed *row = is_row_register(c, t->e) ? find_row(c, t->e) : NULL;
  bool has_address = row != NULL ? row->c == t->c : t->e == facts;
  return c->loop >= 0 && has_address && t->imm >= -TL_JIT_OFFSET &&
         t->imm <= TL_JIT_OFFSET &&
         is_guarded(c, t->b, t->imm, facts + (row != NULL ? 2 : 1)) &&
         (t->op == TL_TYPED_READ || tl_typed_is_of_float(t) ||
          (int)tl_jit_dtype(t->from[0]) == t->dtype || is_exit(c, t->exit));
}

// The head of a loop, whose guards stand before the jump to it, and the move
// into its variable behind it. From here to the step nothing may write a slot
// of theirs, and the variable is the hidden next value of which they say
// something: only the step changes that, to the next of the values that were
// tested.
//
//     claims       guard every t4 < x.length      fixed: t4, t5, t6, i, k
//                  guard k < y.length
//                  row0 = row y[k]
//     claims_end   jump -> 7c
//                  7c  (loop = 7c)
//                  i = move t4                    hidden t4, variable i
//     tops         row1 = row x[i]
//     tops_end     …
static bool begin_loop(checking *c, int32_t label) {
  const tl_typed *ops = c->code->ops;
  uint32_t at = c->at;
  if (c->claims_end == 0 || c->claims_end + 1 != at ||
      ops[at - 1].op != TL_TYPED_JUMP || ops[at - 1].to != label ||
      at + 1 >= c->code->op_count || ops[at + 1].op != TL_TYPED_MOVE ||
      ops[at + 1].b < 0 || ops[at + 1].b + 2 >= TL_JIT_SLOTS)
    return false;
  c->hidden = ops[at + 1].b;
  c->variable = ops[at + 1].a;
  if (c->variable < 0 || c->variable >= TL_JIT_SLOTS ||
      c->variable == c->hidden)
    return false;
  c->fixed = UINT64_C(7) << c->hidden | UINT64_C(1) << c->variable;
  c->tops = c->tops_end = at + 2;
  c->loop = label;
  const tl_typed *chunk = find_chunk(c);
  c->chunk = chunk == NULL ? -1 : label;
  if (chunk != NULL && chunk->b != c->hidden + 1)
    return false;
  c->steps[0] = c->steps[1] = false;
  uint64_t moving = c->fixed;
  for (uint32_t i = c->claims; i < c->claims_end; i++) {
    bool chunks = ops[i].op == TL_TYPED_CHUNK;
    int b = chunks ? TL_JIT_NONE : ops[i].b;
    bool every = ops[i].op == TL_TYPED_GUARD && ops[i].d == 0;
    bool clashes =
        chunk != NULL && ops[i].op == TL_TYPED_ROW && ops[i].d == chunk->d;
    if (clashes || (chunks && &ops[i] != chunk))
      return false;
    if (every ? b != c->hidden : b >= 0 && (moving >> b & 1) != 0)
      return false;
    if (b >= 0)
      c->fixed |= UINT64_C(1) << b;
    c->steps[ops[i].e >= 0] |= every;
  }
  return true;
}

// Whether the operation stays in the loop, whose step a rest follows, and polls
// nowhere. Registers of rows, of which one has the rest, nobody else writes.
static bool keeps_chunk(const checking *c, const tl_typed *t) {
  if (t->exit >= 0 || t->op == TL_TYPED_EXIT || t->op >= TL_TYPED_CALL ||
      t->b == c->hidden + 1 ||
      (t->op == TL_TYPED_ROW && t->d == find_chunk(c)->d))
    return t->op == TL_TYPED_STEP && c->at + 1 < c->code->op_count &&
           t[1].op == TL_TYPED_REST;
  return !tl_jit_jumps(t->op) || ((uint32_t)t->to < c->code->label_count &&
                                  c->code->labels[t->to].loop == c->loop);
}

// Whether the operation leaves a loop's guards as true as they were: it writes
// no slot of them but the variable at the head, and calls nobody. The step
// takes the next of the values that were tested, and ends the loop.
static bool keeps_loop(checking *c, const tl_typed *t) {
  bool is_head = c->at + 1 == c->tops;
  if (c->loop < 0 || is_head)
    return true;
  if (c->chunk == c->loop && !keeps_chunk(c, t))
    return false;
  if (t->op == TL_TYPED_STEP)
    return t->a == c->hidden && t->b == c->hidden + 1 &&
           (t->c < 0 ? !c->steps[0] : t->c == c->hidden + 2 && !c->steps[1]) &&
           t->d < 0 && t->to == c->loop;
  return !tl_typed_is_by_c(t) &&
         (!tl_typed_has_result(t) ||
          (c->fixed >> (uint32_t)t->a % TL_JIT_SLOTS & 1) == 0);
}

// --- All operations ---------------------------------------------------------

// Whether the list [list] may get the value of the operation at its end: one
// that has no count, is asked each time, or gives its own count away.
static bool may_append(const checking *c, const tl_typed *t) {
  uint64_t list = tag_in(c, t->b), item = tag_in(c, t->a);
  return tl_tag_is_kind(list, TL_KIND_LIST) && tl_tag_owns(list) && item != 0 &&
         t->a % TL_JIT_SLOTS != t->b &&
         item == tl_jit_tag_of(c->unit, 0, t->type) &&
         ((item & TL_CLASS_HEAP) == 0 || item == TL_TAG_STRING ||
          tl_tag_moves_in(item));
}

// Whether the operands of a SHORT are arrays of its dtype, or in the first
// operation one of them a number, and the array that it writes is one of them,
// which its slot owns; that nobody else does is tested each time. The result's
// slot owns it from here on.
static bool is_short(checking *c, const tl_typed *t) {
  const int16_t operands[] = {t->b, t->c, t->d};
  int arrays = 0;
  bool finds = false;
  for (int i = 0; i < 3; i++) {
    int r = operands[i];
    tl_jit_type type = r < 0 ? TL_TYPE_FLOAT : c->now[r % TL_JIT_SLOTS];
    if (r >= 0 && has_reference(c, r)) {
      uint64_t tag = tag_in(c, r);
      if (!tl_tag_is_short(tag) || (uint8_t)(tag >> 8) != t->dtype)
        return false;
      arrays++;
      finds |= r == t->e;
    } else if (!(tl_jit_is_float(type) || tl_jit_is_integer(type))) {
      return false;
    }
  }
  uint64_t tag = finds ? tag_in(c, t->e) : 0;
  if (t->condition > TL_OP_DIVIDE ||
      (t->d >= 0 && tl_short_then(t) > TL_OP_DIVIDE) ||
      arrays < (t->d < 0 ? 1 : 3) || !tl_tag_owns(tag) ||
      tag != tl_jit_tag_of(c->unit, 0, t->type))
    return false;
  c->now[t->e] = TL_TYPE_UNKNOWN;
  return true;
}

// What the table does not say of an operation. Called before the result is
// written. Constants that would be wrong for the processor (a shift of 64, a
// divisor of 0) are refused here, since the emitter tests only operands in
// registers.
static bool is_sound(checking *c, const tl_typed *t) {
  switch ((tl_typed_op)t->op) {
    case TL_TYPED_CHUNK:
      return is_chunk(c, t);
    case TL_TYPED_REST:
      return is_rest_of_chunk(c, t);
    case TL_TYPED_PUT:
      return tl_jit_is_scalar(t->from[0]);
    case TL_TYPED_EXIT:
      return t->exit >= 0;
    case TL_TYPED_GUARD:
      return is_guard(c, t);
    case TL_TYPED_ROW:
      return is_row_address(c, t);
    case TL_TYPED_READ:
    case TL_TYPED_WRITE:
      return is_inside(c, t);
    case TL_TYPED_SHL:
    case TL_TYPED_SAR:
      return t->c >= 0 ||
             (t->imm >= 0 &&
              t->imm < 8 * (int)tl_itemsize(tl_jit_dtype(t->type)));
    case TL_TYPED_FLOORDIV:
    case TL_TYPED_MOD:
      return t->c >= 0 || (t->imm != 0 && t->imm != -1);
    case TL_TYPED_IF:
    case TL_TYPED_SET:
      return t->condition <= TL_IF_NE;
    case TL_TYPED_COUNT:
      return has_whole(c, t->a) &&
             (t->c >= 0 || (t->imm != 0 && t->imm != INT64_MIN));
    case TL_TYPED_STEP:
      return has_whole(c, t->a) && has_whole(c, t->b) && t->b < TL_JIT_FLOAT &&
             t->d < TL_JIT_SLOTS && (t->c >= 0 || t->imm == 1);
    case TL_TYPED_NOT:
      return !is_fact(c, t->b) && c->now[t->b] == TL_TYPE_BOOL;
    case TL_TYPED_SELF:
      return has_closure(c, 0) &&
             tl_jit_tag_of(c->unit, 0, t->type) == TL_TAG_CLOSURE;
    case TL_TYPED_CAPTURED:
      return has_closure(c, t->imm) && borrows(c, t);
    case TL_TYPED_COMPUTE:
      return t->exit >= 0 && is_computed(c, t);
    case TL_TYPED_SHORT:
      return is_short(c, t);
    case TL_TYPED_END:
      return is_end(c, t);
    case TL_TYPED_DO:
    case TL_TYPED_DOIF:
      return t->exit >= 0 && is_done(c, t);
    case TL_TYPED_FETCH:
      return is_fetched(c, t);
    case TL_TYPED_CALL:
    case TL_TYPED_ROWCALL:
      return is_call(c, t);
    case TL_TYPED_RETURN:
      return is_result(c, t);
    case TL_TYPED_LEND:
      return may_lend(tag_in(c, t->b), tl_jit_tag_of(c->unit, 0, t->type)) &&
             t->a != t->b;
    case TL_TYPED_RCONST:
    case TL_TYPED_GET:
      return is_borrowed(c, t->type) && t->other == TL_TYPE_UNKNOWN;
    case TL_TYPED_FIELD:
      return tl_tag_is_kind(tag_in(c, t->b), TL_KIND_RECORD) && t->d >= 0 &&
             t->d < TL_JIT_FIELDS && borrows(c, t);
    case TL_TYPED_ITEM:
      return is_container(c, t, false) && borrows(c, t) &&
             (t->other == TL_TYPE_UNKNOWN ? t->imm == 0
                                          : t->dtype == TL_KIND_LIST);
    case TL_TYPED_SETITEM:
      return is_container(c, t, true);
    case TL_TYPED_APPEND:
      return may_append(c, t);
    case TL_TYPED_POP:
      return tl_tag_is_kind(tag_in(c, t->b), TL_KIND_LIST) &&
             (tag_in(c, t->b) & TL_OWNED) != 0 && tl_jit_is_scalar(t->type) &&
             t->a % TL_JIT_SLOTS != t->b && t->other == TL_TYPE_UNKNOWN;
    case TL_TYPED_LENGTH:
      return tl_tag_length_kind(tag_in(c, t->b)) == t->dtype &&
             t->dtype != TL_KIND_RANGE;
    case TL_TYPED_MORE:
      return tl_tag_length_kind(tag_in(c, t->c)) == t->dtype;
    case TL_TYPED_RIF:
    case TL_TYPED_RSET:
      return tl_tag_is_kind(tag_in(c, t->b), TL_KIND_STRING) &&
             (t->c < 0 || tl_tag_is_kind(tag_in(c, t->c), TL_KIND_STRING)) &&
             t->condition <= TL_IF_NE;
    case TL_TYPED_PEEK:
      return is_place(c, t, false) && t->other == TL_TYPE_UNKNOWN;
    case TL_TYPED_POKE:
      return is_place(c, t, true);
    case TL_TYPED_ROWRETURN:
      return t->d >= 0 && is_row(c, t, (uint32_t)t->d, (uint32_t)t->imm);
    default:
      return true;
  }
}

// One operation: its operands, what is particular to it, and then what it
// writes and where it jumps. NULL: all is well.
static const char *check_one(checking *c, const tl_typed *t) {
  const tl_typed_info *info = &tl_typed_ops[t->op];
  const int16_t operands[] = {t->a, t->b, t->c};
  for (int i = 0; i < 3; i++)
    if (!is_operand(c, t, info->kinds[i], operands[i]))
      return "an operand of another kind";
  for (int i = 0; i < 3; i++)
    if (info->kinds[i] >= TL_OPERAND_I && info->kinds[i] <= TL_OPERAND_V &&
        !is_from(c, operands[i], t->from[i]))
      return "an operand of another type";
  if (!has_widths(t))
    return "a result of another width";
  bool leaves = tl_typed_leaves(t->op, t->c) || (info->goes & TL_GOES_X) != 0;
  if (leaves && !is_exit(c, t->exit))
    return "its exit forgets a slot";
  if (!is_sound(c, t))
    return "it is not what the operation wants";
  if (loses(c, t))
    return "it loses a count";
  if (!keeps_loop(c, t))
    return "it changes what guards have tested";
  // What moved is not where it was.
  if (t->op == TL_TYPED_APPEND && (tag_in(c, t->a) & TL_OWNED) != 0)
    c->now[t->a] = TL_TYPE_UNKNOWN;
  if (t->op == TL_TYPED_LEND &&
      (tl_jit_tag_of(c->unit, 0, t->type) & TL_OWNED) != 0)
    c->now[t->b] = TL_TYPE_UNKNOWN;
  if (tl_typed_has_result(t))
    c->now[t->a % TL_JIT_SLOTS] = t->type;
  if (!tl_jit_jumps(t->op))
    return NULL;
  // A step writes the loop's variable on the way back alone.
  bool fits = t->op == TL_TYPED_STEP && t->d >= 0
                  ? is_target_with(c, (uint32_t)t->d, t->type, t->to)
                  : is_target(c, t->to);
  if (t->op == TL_TYPED_STEP)
    c->loop = -1;
  return fits ? NULL : "a jump to where other types are";
}

// One pass suffices, as labels carry their types: what a jump brings is
// compared with the label, wherever that stands, and what follows a label
// starts from these types alone. No type is inferred from the operations before
// it.
const char *tl_jit_check(tl_jit_code *code, uint32_t *at) {
  checking c = {.code = code,
                .unit = code->unit,
                .flow = code->flow,
                .loop = -1,
                .chunk = -1};
  bool ended = true;
  for (*at = 0; *at < code->op_count; ++*at) {
    const tl_typed *t = &code->ops[*at];
    c.at = *at;
    if (t->op >= TL_TYPED_COUNT_OF_OPS)
      return "no operation";
    if (t->op == TL_TYPED_LABEL) {
      if (!ended || t->to < 0 || (uint32_t)t->to >= code->label_count)
        return "no label";
      tl_jit_label *label = &code->labels[t->to];
      if (label->is_placed)
        return "a label twice";
      label->is_placed = true;
      memcpy(c.now, label->types, sizeof c.now);
      if (label->loop == t->to ? !begin_loop(&c, t->to)
                               : label->loop >= 0 && label->loop != c.loop)
        return "a loop without guards";
      c.loop = label->loop;
      ended = false;
      continue;
    }
    if (ended)
      return "nothing leads here";
    const char *why = check_one(&c, t);
    if (why != NULL)
      return why;
    // Behind it a label has to follow, or the end: what stood there otherwise
    // would be code that nothing leads to, with types that nobody has proven.
    ended = (tl_typed_ops[t->op].goes & TL_GOES_Z) != 0;
  }
  for (uint32_t i = 0; i < code->label_count; i++)
    if (!code->labels[i].is_placed)
      return "a label nowhere";
  return ended ? NULL : "the end is open";
}
