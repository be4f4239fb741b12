// Emission: instructions of the graph to words of bytecode.
//
// Blocks go out in order. Operands become fields of a word, or are laid side
// by side in a window; where several instructions have a common form, one word
// stands for them:
//
//   t = loadk 1;  i = add i, t                      addi i, 1
//   t = loadk 9;  c = lt i, t;  jt c                jltk i, 9
//   t = mul x, y; z = add t!, w                     mul_add_l x, y; add t, w
//   t = copy x!;  ret t!                            ret x
//
// Jumps get their offsets when all blocks are there (emit_tables.c).

#include <math.h>

#include "compiler/emit_internal.h"

// Appends a word and returns its pc; 0 without memory, which the end of each
// block notices.
static uint32_t put(tl_emitter *e, tl_ins ins) {
  if (!tl_arena_more(e->arena, &e->code, &e->capacity, e->count, sizeof ins))
    return 0;
  e->code[e->count] = ins;
  return e->count++;
}

// Notes that the word at [pc] jumps to [block].
static void add_fixup(tl_emitter *e, uint32_t pc, int32_t block,
                      bool is_short) {
  if (tl_arena_more(e->arena, &e->fixups, &e->fixup_capacity, e->fixup_count,
                    sizeof *e->fixups))
    e->fixups[e->fixup_count++] = (tl_fixup){pc, block, is_short};
}

// Notes that the word at [pc] can fail as [ins] says.
static void add_point(tl_emitter *e, uint32_t pc, const tl_cfg_ins *ins) {
  if (tl_arena_more(e->arena, &e->points, &e->point_capacity, e->point_count,
                    sizeof *e->points))
    e->points[e->point_count++] = (tl_point){pc, ins};
}

// Notes that the words from here on are of [ins], for the lines of code that is
// debugged.
static void add_begin(tl_emitter *e, const tl_cfg_ins *ins) {
  if (e->b->debugged && tl_arena_more(e->arena, &e->begins, &e->begin_capacity,
                                      e->begin_count, sizeof *e->begins))
    e->begins[e->begin_count++] = (tl_point){e->count, ins};
}

// --- Fields -----------------------------------------------------------------

// A slot or constant as words have it, times 16 (function.h).
static uint16_t scaled(int32_t slot) {
  return (uint16_t)(slot * 16);
}

// The mode of an operand; modes of the analysis alone are borrows.
static uint8_t mode_of(const tl_cfg_ins *ins, int32_t operand) {
  uint8_t mode = ins->modes[operand];
  return mode > TL_MODE_CONST ? TL_MODE_BORROW : mode;
}

// The modes byte: b in the first two bits, then c, a, and a fourth.
static uint8_t modes(uint8_t b, uint8_t c, uint8_t a, uint8_t d) {
  return (uint8_t)(b | c << 2 | a << 4 | d << 6);
}

// A jump to [block], wherever it is.
static void put_jump(tl_emitter *e, int32_t block) {
  uint32_t pc = put(e, (tl_ins){.op = TL_BC_JMP});
  add_fixup(e, pc, block, false);
}

// Whether [block] follows the one at position [at] in the code.
static bool is_next(const tl_emitter *e, int32_t at, int32_t block) {
  return at + 1 < e->sequence_count && e->sequence[at + 1] == block;
}

// Whether a block's code is there already.
static bool is_backward(const tl_emitter *e, int32_t block) {
  return e->block_pc[block] != UINT32_MAX;
}

// A jump to [block], unless it comes next. Backward ones poll, so they are
// points that can fail.
static void put_goto(tl_emitter *e, int32_t at, int32_t block,
                     const tl_cfg_ins *ins) {
  if (is_next(e, at, block))
    return;
  // A loop must be interruptible, so each iteration passes a poll.
  bool back = is_backward(e, block);
  uint32_t pc = put(e, (tl_ins){.op = back ? TL_BC_LOOP : TL_BC_JMP});
  if (back)
    add_point(e, pc, ins);
  add_fixup(e, pc, block, false);
}

// --- Literals ---------------------------------------------------------------

// Whether a constant can be a literal operand: a number, and of == and != a
// string or none.
static bool is_literal(const tl_emitter *e, uint32_t k, uint8_t op) {
  tl_slot s = e->p->constants[k];
  bool equality = op == TL_BC_EQ || op == TL_BC_NE;
  return (tl_class(s) & (TL_CLASS_I64 | TL_CLASS_F64)) != 0 ||
         (equality && (tl_is_string(s) || tl_is_none(s)));
}

// The index of two constants side by side, the literal as itself and as a
// float, as instructions with a literal (ADDK …) need them; -1: no room. One
// pair is remembered for each hash.
static int32_t literal_pair(tl_emitter *e, uint32_t k) {
  tl_slot s = e->p->constants[k];
  // By its index, which is the same in each run; the address of a text is not,
  // and so the number of pairs and the memory for them would not be either.
  uint32_t hash = k % PAIRS;
  int32_t at = e->pair_table[hash];
  if (at >= 0 && e->p->constants[at].tag == s.tag &&
      e->p->constants[at].u == s.u)
    return at;
  // The index is stored times 16 in 16 bits.
  if (e->p->constant_count + 2 > TL_MAX_SLOTS)
    return -1;
  // An operand that is a float needs the literal as one; of a float both are
  // the same. It equals no string and not none, as it never equals NaN.
  tl_slot twin = s;
  if (tl_class(s) != TL_CLASS_F64)
    twin = tl_weak_float(tl_class(s) == TL_CLASS_I64 ? (double)s.i : NAN);
  at = (int32_t)tl_function_constant(e->b, e->f, s);
  tl_function_constant(e->b, e->f, twin);
  e->pair_table[hash] = at;
  return at;
}

// Whether somebody reads the slot of an operand behind the instruction, as
// [after] says, before it is set.
static bool is_read_again(const tl_cfg_ins *ins, int32_t operand,
                          const uint64_t *after) {
  int32_t slot = ins->operands[operand];
  return slot != ins->result && tl_bit(after, slot);
}

// The literal that [ins], a LOADK, gives to operand [operand] of the next
// instruction and to nothing else; -1: it does not.
static int32_t literal_for(tl_emitter *e, const tl_cfg_ins *ins,
                           int32_t operand, const uint64_t *after) {
  const tl_cfg_ins *next = ins + 1;
  int32_t handler = tl_handler_of(next);
  if (ins->op != TL_BC_LOADK || ins->result < e->f->variable_count)
    return -1;
  // The temporary must have no other reader, since nothing is written to it
  // then.
  if (next->operands[operand] != ins->result ||
      is_read_again(next, operand, after) ||
      (handler >= 0 && tl_bit(tl_live_at(&e->flow, handler), ins->result)))
    return -1;
  // x op x with the literal on both sides has no form.
  if (next->operand_count == 2 && next->operands[0] == next->operands[1])
    return -1;
  return is_literal(e, ins->extra, next->op) ? (int32_t)ins->extra : -1;
}

// --- Windows ----------------------------------------------------------------

// Moves or copies a slot, as the mode of the source says.
static void put_move(tl_emitter *e, int32_t to, int32_t from, uint8_t mode) {
  bool moves = mode == TL_MODE_CONSUME || mode == TL_MODE_EITHER;
  put(e, (tl_ins){.op = moves ? TL_BC_MOV : TL_BC_MOVB,
                  .modes = modes(mode, 0, 0, 0),
                  .a = scaled(to),
                  .b = scaled(from)});
}

// Whether every operand can stay where lowering put it. One that is borrowed
// here but used later owns, so the window must get a copy: the instruction
// takes over all of the window.
static bool fits_window(const tl_cfg_ins *ins, const uint64_t *after,
                        int32_t skip, int32_t first) {
  if (ins->window < 0)
    return false;
  for (int32_t i = skip; i < ins->operand_count; i++) {
    // Borrowed here but dropped later: it owns, so a copy must be passed.
    if (ins->operands[i] == first + i - skip && is_read_again(ins, i, after))
      return false;
  }
  return true;
}

// Lays out operands [skip, …) side by side and returns the first one's slot;
// [head] is 1 if a result slot stands before them. If they cannot stay,
// another window is laid above all slots.
static int32_t lay_window(tl_emitter *e, const tl_cfg_ins *ins,
                          const uint64_t *after, int32_t skip, int32_t head) {
  int32_t count = ins->operand_count - skip;
  int32_t first = ins->window + head;
  if (!fits_window(ins, after, skip, first))
    first = e->f->slot_count + head;
  for (int32_t i = 0; i < count; i++) {
    int32_t from = ins->operands[skip + i];
    uint8_t mode = mode_of(ins, skip + i);
    // What stands in its place already needs no move: its mode is that of the
    // window, which takes over all.
    if (from != first + i)
      put_move(e, first + i, from, mode);
  }
  // A window above all slots makes the frame larger.
  uint32_t end = (uint32_t)(first + count);
  if (end > e->frame)
    e->frame = end;
  return first;
}

// The constant through which the interpreter finds a known function at once,
// without the unit's table.
static uint32_t callee_constant(tl_emitter *e, const tl_cfg_ins *ins) {
  tl_prototype *callee = e->b->unit->prototypes[ins->extra];
  // A table by index modulo 64 finds most repeated callees; a miss costs a
  // constant more.
  int32_t *known = &e->callee_table[ins->extra % 64];
  if (*known < 0 || e->p->constants[*known].pointer != callee) {
    tl_slot value = {.tag = TL_TAG_FUNCTION, .pointer = callee};
    *known = (int32_t)tl_function_constant(e->b, e->f, value);
  }
  return (uint32_t)*known;
}

// --- Single instructions ----------------------------------------------------

// An operation with a literal as one word, immediate if it is small; false:
// there is no such form.
static bool put_with_literal(tl_emitter *e, const tl_cfg_ins *ins, uint32_t k,
                             int32_t operand) {
  static const struct {
    uint8_t op, with_literal;
    bool commutes;
  } forms[] = {
      {TL_BC_ADD, TL_BC_ADDI, true},        {TL_BC_SUB, TL_BC_SUBI, false},
      {TL_BC_MUL, TL_BC_MULK, true},        {TL_BC_DIV, TL_BC_DIVK, false},
      {TL_BC_MOD, TL_BC_MODK, false},       {TL_BC_POW, TL_BC_POWK, false},
      {TL_BC_BITAND, TL_BC_BITANDK, false}, {TL_BC_SHR, TL_BC_SHRK, false},
  };
  enum { FORMS = sizeof forms / sizeof *forms };
  tl_slot value = e->p->constants[k];
  // A literal on the left has a form only where the order does not matter.
  size_t form = 0;
  while (form < FORMS && forms[form].op != ins->op) form++;
  if (form == FORMS || (operand == 0 && !forms[form].commutes))
    return false;
  uint8_t op = forms[form].with_literal;
  int32_t other = 1 - operand;
  tl_ins word = {.op = op,
                 .modes = modes(mode_of(ins, other), TL_MODE_CONST, 0, 0),
                 .a = scaled(ins->result),
                 .b = scaled(ins->operands[other])};
  if (op == TL_BC_ADDI || op == TL_BC_SUBI) {
    if (tl_class(value) != TL_CLASS_I64 || value.i < INT16_MIN ||
        value.i > INT16_MAX)
      return false;
    word.c = (uint16_t)value.i;
  } else {
    int32_t pair = literal_pair(e, k);
    if (pair < 0)
      return false;
    word.c = scaled(pair);
  }
  add_point(e, put(e, word), ins);
  return true;
}

// Where [ins] follows the operation whose result it uses up, the two may be
// done at once.
static void try_join(tl_emitter *e, const tl_cfg_ins *ins) {
  if (e->count == e->block_start || ins->operands[0] == ins->operands[1])
    return;
  // The word before is the operation that made the operand only if it is of
  // this block; its result must be a temporary, since a variable is seen by
  // others.
  tl_ins *first = &e->code[e->count - 1];
  int32_t made = first->a / 16;
  int side = ins->operands[0] == made ? 0 : 1;
  if (!tl_may_join(first->op) || made < e->f->variable_count ||
      ins->operands[side] != made || mode_of(ins, side) == TL_MODE_BORROW)
    return;
  first->modes |= TL_WITH_NEXT;
}

// A field of the format table in the two words of an instruction.
static uint16_t *field_of(tl_ins words[2], char field) {
  return field == 'a'   ? &words->a
         : field == 'b' ? &words->b
         : field == 'c' ? &words->c
                        : &words[1].a;
}

// The operands outside the window go to their fields; returns how many there
// are.
static int32_t set_operands(const tl_cfg_ins *ins, tl_ins words[2]) {
  int32_t i = 0;
  for (; i < ins->operand_count; i++) {
    char field = tl_operand_field(ins->op, i);
    if (field == 0)
      break;
    *field_of(words, field) = scaled(ins->operands[i]);
    words->modes |= (uint8_t)(mode_of(ins, i) << tl_mode_shift(field));
  }
  return i;
}

// An instruction as its format says, but for jumps and loops.
static void put_plain(tl_emitter *e, const tl_cfg_ins *ins,
                      const uint64_t *after) {
  const tl_format_info *f = &tl_formats[tl_opcodes[ins->op].format];
  tl_ins words[2] = {{.op = ins->op}, {.op = TL_BC_EXTRA}};
  int32_t outside = set_operands(ins, words), result = ins->result;
  if (f->window != 0) {
    int32_t head = f->window == 'a';
    int32_t base = lay_window(e, ins, after, outside, head) - head;
    *field_of(words, f->window) = scaled(base);
    *field_of(words, f->count) = (uint16_t)(ins->operand_count - outside);
    result = head ? base : result;
  }
  if (f->result != 0)
    *field_of(words, f->result) = scaled(result);
  uint32_t extra =
      ins->op == TL_BC_CALLK ? callee_constant(e, ins) : ins->extra;
  if (f->extra != 0)
    words[f->extra == 'x'].b = (uint16_t)extra;
  if (f->extra == 'x' || f->extra == 'w')
    words[f->extra == 'x'].c = (uint16_t)(extra >> 16);
  // The second word then says into which slot the operand goes back.
  if (ins->gives_back) {
    words->c = 1;
    words[1].a = scaled(ins->operands[0]);
  }
  if (tl_may_join(ins->op))
    try_join(e, ins);
  uint32_t pc = put(e, words[0]);
  if (f->extra == 'x')
    put(e, words[1]);
  if (ins->fails != TL_NEVER)
    add_point(e, pc, ins);
  // Only the window's own slot can be the result.
  if (result != ins->result)
    put_move(e, ins->result, result,
             tl_opcodes[ins->op].result == TL_DEF_IMMORTAL ? TL_MODE_BORROW
                                                           : TL_MODE_EITHER);
}

// One instruction that is no block's end.
static void put_ins(tl_emitter *e, const tl_cfg_ins *ins,
                    const uint64_t *after) {
  if (ins->op == TL_BC_MOV) {
    // A move or an alias, and nothing onto itself.
    if (ins->operands[0] != ins->result)
      put_move(e, ins->result, ins->operands[0], mode_of(ins, 0));
  } else if (ins->op == TL_BC_FORVAR) {
    // The counter stays in its hidden slot; the variable gets a copy, for it
    // may be assigned.
    put_move(e, ins->result, (int32_t)ins->extra, TL_MODE_BORROW);
  } else {
    put_plain(e, ins, after);
  }
}

// --- Ends of blocks ---------------------------------------------------------

// Comparison and branch as one: the four jumps, and whether operands are
// swapped (a > b is b < a; with a literal it has a jump of its own).
typedef struct joined {
  uint8_t op, negated, jump, negated_k, jump_k;
  bool swap;
} joined;

// The jumps of a comparison; NULL: it has none.
static const joined *find_joined(uint8_t op) {
  static const joined all[] = {
      {TL_BC_LT, TL_BC_JNLT, TL_BC_JLT, TL_BC_JNLTK, TL_BC_JLTK, false},
      {TL_BC_LE, TL_BC_JNLE, TL_BC_JLE, 0, 0, false},
      {TL_BC_GT, TL_BC_JNLT, TL_BC_JLT, TL_BC_JNGTK, TL_BC_JGTK, true},
      {TL_BC_GE, TL_BC_JNLE, TL_BC_JLE, 0, 0, true},
      {TL_BC_EQ, TL_BC_JNE, TL_BC_JEQ, TL_BC_JNEK, TL_BC_JEQK, false},
      {TL_BC_NE, TL_BC_JEQ, TL_BC_JNE, TL_BC_JEQK, TL_BC_JNEK, false},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].op == op)
      return &all[i];
  return NULL;
}

// Whether a branch is emitted negated: if the true target comes next anyway, or
// the false one stands before, as for `while not f(x)`. One jump goes there
// then, which polls before it has consumed anything, as the point that can fail
// says; a jump of its own behind the branch would be another point.
static bool is_negated(const tl_emitter *e, int32_t at,
                       const tl_cfg_block *block) {
  return is_next(e, at, block->targets[0]) || is_backward(e, block->targets[1]);
}

// The comparison [test] and the branch behind it as one jump. The negation of
// a < b is JNLT and not a >= b: with NaN these differ.
static void put_joined(tl_emitter *e, int32_t at, const tl_cfg_ins *test,
                       const tl_cfg_block *block, int32_t literal) {
  const joined *j = find_joined(test->op);
  int32_t yes = block->targets[0], no = block->targets[1];
  bool negate = is_negated(e, at, block);
  tl_ins word = {.op = negate ? j->negated : j->jump};
  if (literal >= 0) {
    word.op = negate ? j->negated_k : j->jump_k;
    word.modes = modes(TL_MODE_CONST, 0, mode_of(test, 0), 0);
    word.a = scaled(test->operands[0]);
    word.b = scaled(literal);
  } else {
    // a > b is emitted as b < a, so the operands change places with their
    // modes.
    int32_t first = j->swap ? 1 : 0;
    word.modes = modes(mode_of(test, 1 - first), 0, mode_of(test, first), 0);
    word.a = scaled(test->operands[first]);
    word.b = scaled(test->operands[1 - first]);
  }
  uint32_t pc = put(e, word);
  add_point(e, pc, test);
  add_fixup(e, pc, negate ? no : yes, true);
  put_goto(e, at, negate ? yes : no, test);
}

// A branch on a slot, negated likewise.
static void put_branch(tl_emitter *e, int32_t at, const tl_cfg_ins *ins,
                       const tl_cfg_block *block) {
  int32_t yes = block->targets[0], no = block->targets[1];
  // JSET has no negated form.
  bool negate = ins->op != TL_BC_JSET && is_negated(e, at, block);
  uint8_t op = ins->op;
  if (negate)
    op = op == TL_BC_JT ? TL_BC_JF : TL_BC_JT;
  tl_ins word = {.op = op,
                 .modes = modes(0, 0, mode_of(ins, 0), 0),
                 .a = scaled(ins->operands[0])};
  uint32_t pc = put(e, word);
  if (ins->fails != TL_NEVER)
    add_point(e, pc, ins);
  add_fixup(e, pc, negate ? no : yes, false);
  put_goto(e, at, negate ? yes : no, ins);
}

// FORPREP jumps if there is no iteration; FORR and MORE if there is one. In
// long code the offset may not fit the word: then it skips the first of two
// jumps.
static void put_loop(tl_emitter *e, int32_t at, const tl_cfg_ins *ins,
                     const tl_cfg_block *block) {
  // The hidden slots are counter, limit and step, or a container and the
  // position.
  int32_t hidden =
      ins->op == TL_BC_MORE ? ins->operands[0] : (int32_t)ins->extra;
  int32_t visible = ins->op == TL_BC_MORE ? -1 : e->written[block->targets[0]];
  tl_ins word = {.op = ins->op,
                 .a = scaled(hidden),
                 .b = scaled(visible < 0 ? hidden : visible)};
  int32_t iteration = block->targets[0], done = block->targets[1];
  int32_t target = ins->op == TL_BC_FORPREP ? done : iteration;
  int32_t other = ins->op == TL_BC_FORPREP ? iteration : done;
  uint32_t pc = put(e, word);
  add_point(e, pc, ins);
  if (e->fuse) {
    add_fixup(e, pc, target, true);
    put_goto(e, at, other, ins);
    return;
  }
  e->code[pc].c = 1;  // over the next jump
  put_jump(e, other);
  put_jump(e, target);
}

// The end of a block.
static void put_end(tl_emitter *e, int32_t at, const tl_cfg_ins *ins,
                    const tl_cfg_block *block) {
  switch (ins->op) {
    case TL_BC_JMP:
      put_goto(e, at, block->targets[0], ins);
      break;
    case TL_BC_JT:
    case TL_BC_JF:
    case TL_BC_JSET:
      put_branch(e, at, ins, block);
      break;
    case TL_BC_FORPREP:
    case TL_BC_FORR:
    case TL_BC_MORE:
      put_loop(e, at, ins, block);
      break;
    default:  // RET, RAISE
      put_plain(e, ins, NULL);
      break;
  }
}

// --- Blocks -----------------------------------------------------------------

// What is live behind instruction [i] of the block being emitted.
static const uint64_t *behind(const tl_emitter *e, int32_t i) {
  return e->rows + (size_t)i * (size_t)e->flow.words;
}

// Whether an opcode is an operator on two slots.
static bool is_binary(uint8_t op) {
  return op >= TL_BC_ADD && op <= TL_BC_GE;
}

// Emits a comparison whose only use is the branch behind it, and a literal
// before it, as one jump. Returns how many instructions that was; 0: none.
static int32_t try_joined(tl_emitter *e, int32_t at, const tl_cfg_block *block,
                          int32_t i) {
  const tl_cfg_ins *ins = &block->ins[i];
  int32_t literal = -1, test = i;
  if (!e->fuse || i + 1 >= block->count)
    return 0;
  if (ins->op == TL_BC_LOADK) {
    test = i + 1;
    if (!is_binary(block->ins[test].op))
      return 0;
    literal = literal_for(e, ins, 1, behind(e, test));
    if (literal < 0)
      return 0;
  }
  const joined *j = find_joined(block->ins[test].op);
  if (j == NULL)
    return 0;
  // The branch is the block's end, right behind the comparison.
  if (test + 2 != block->count)
    return 0;
  const tl_cfg_ins *end = &block->ins[test + 1];
  // The bool must be a temporary that ends in the branch, for it is never made.
  if (end->op != TL_BC_JT || end->operands[0] != block->ins[test].result ||
      end->operands[0] < e->f->variable_count ||
      end->modes[0] == TL_MODE_BORROW)
    return 0;
  int32_t pair = -1;
  if (literal >= 0) {
    pair = j->negated_k == 0 ? -1 : literal_pair(e, (uint32_t)literal);
    if (pair < 0)
      return 0;
  }
  put_joined(e, at, &block->ins[test], block, pair);
  return literal >= 0 ? 3 : 2;
}

// Emits a literal and the operation it is for as one word, likewise.
static int32_t try_literal(tl_emitter *e, const tl_cfg_block *block,
                           int32_t i) {
  if (i + 1 >= block->count || block->ins[i].op != TL_BC_LOADK)
    return 0;
  const tl_cfg_ins *next = &block->ins[i + 1];
  if (!is_binary(next->op))
    return 0;
  // The right operand first: every operation has that form.
  for (int32_t operand = 1; operand >= 0; operand--) {
    int32_t k = literal_for(e, &block->ins[i], operand, behind(e, i + 1));
    if (k < 0)
      continue;
    return put_with_literal(e, next, (uint32_t)k, operand) ? 2 : 0;
  }
  return 0;
}

// If a value is copied into the slot that is returned next, returns the source
// instead. False: it is not so.
static bool try_return(tl_emitter *e, const tl_cfg_block *block, int32_t i) {
  const tl_cfg_ins *copy = &block->ins[i];
  // Only as the last two of the block.
  if (copy->op != TL_BC_MOV || i + 2 != block->count)
    return false;
  const tl_cfg_ins *ret = &block->ins[i + 1];
  if (ret->op != TL_BC_RET || ret->operands[0] != copy->result ||
      mode_of(ret, 0) == TL_MODE_BORROW)
    return false;
  put(e, (tl_ins){.op = TL_BC_RET,
                  .modes = modes(0, 0, mode_of(copy, 0), 0),
                  .a = scaled(copy->operands[0])});
  return true;
}

// Whether the word of an instruction has its result, which is nothing else, in
// field a. Elementwise operations stay as the regions know them.
static bool has_plain_result(uint8_t op) {
  uint8_t format = tl_opcodes[op].format, result = tl_opcodes[op].result;
  return result != TL_DEF_NONE && result != TL_DEF_TARGET &&
         (op < TL_BC_ADD || op > TL_BC_RANGE) && op != TL_BC_CATCH &&
         format >= TL_FORMAT_AB && format <= TL_FORMAT_AX;
}

// If instruction [i] copies what the one before it has made, and nobody else
// reads that, the one before writes the copy's slot itself.
//
//   t = getel l, i;  x = copy t!     x = getel l, i
static bool try_forward(tl_emitter *e, const tl_cfg_block *block, int32_t i) {
  const tl_cfg_ins *copy = &block->ins[i];
  if (copy->op != TL_BC_MOV || i == 0 || e->count == e->block_start)
    return false;
  int32_t from = copy->operands[0];
  if (block->ins[i - 1].result != from ||
      tl_result_count(&block->ins[i - 1]) != 1 || from < e->f->variable_count ||
      is_read_again(copy, 0, behind(e, i)))
    return false;
  tl_ins *word = &e->code[e->count - 1];
  if (word->op == TL_BC_EXTRA)
    word--;
  if (word->a != scaled(from) || !has_plain_result(word->op))
    return false;
  word->a = scaled(copy->result);
  return true;
}

// The block at position [at]: tries to join instructions, from the longest
// form down. False: no memory.
static bool put_block(tl_emitter *e, int32_t at) {
  int32_t index = e->sequence[at];
  const tl_cfg_block *block = &e->f->blocks[index];
  e->block_pc[index] = e->block_start = e->count;
  tl_live_rows(&e->flow, index, e->rows);
  // The loop itself writes this block's variable, so FORVAR is left out.
  for (int32_t i = e->written[index] >= 0 ? 1 : 0; i < block->count;) {
    add_begin(e, &block->ins[i]);
    // It has emitted the block's end.
    if (try_return(e, block, i))
      break;
    int32_t taken = try_joined(e, at, block, i);
    if (taken == 0)
      taken = try_literal(e, block, i);
    if (taken == 0) {
      taken = 1;
      // The last instruction is the block's end.
      if (i + 1 == block->count)
        put_end(e, at, &block->ins[i], block);
      else if (!try_forward(e, block, i))
        put_ins(e, &block->ins[i], behind(e, i));
    }
    i += taken;
  }
  return !e->arena->failed;
}

// --- The whole ---------------------------------------------------------------

//   order and survey   which blocks, and which temporaries cross them
//   blocks             words, with jumps left open
//   tables             jumps filled in; places, ranges, handlers, summary
//
// The frame has at least the graph's slots; windows that could not stay where
// lowering put them lie above.
bool tl_emit_function(tl_builder *b, tl_cfg_function *f, tl_arena *arena) {
  tl_emitter e = {.b = b,
                  .arena = arena,
                  .f = f,
                  .p = f->prototype,
                  .frame = (uint32_t)f->slot_count};
  // Constants of one function are indices for it alone.
  memset(e.pair_table, -1, sizeof e.pair_table);
  memset(e.callee_table, -1, sizeof e.callee_table);
  e.block_pc = TL_ARENA_ARRAY(arena, uint32_t, (size_t)f->block_count);
  if (e.block_pc == NULL)
    return false;
  // Says which blocks have no code yet: jumps to the others are backward.
  for (int32_t i = 0; i < f->block_count; i++) e.block_pc[i] = UINT32_MAX;
  if (!tl_emit_order(&e))
    return false;
  for (int32_t i = 0; i < e.sequence_count; i++)
    if (!put_block(&e, i))
      return false;
  // Slots are stored times 16 in 16 bits.
  if (e.frame >= TL_MAX_SLOTS) {
    tl_diagnose(b->diagnostics, TALLY_ERR_LIMIT, (tl_span){0, 0, 0},
                "a function needs %u slots; at most %d are there: split it",
                e.frame, TL_MAX_SLOTS);
    return false;
  }
  tl_emit_tables(&e);
  e.p->code = tl_unit_keep(b, e.code, e.count * sizeof *e.code);
  e.p->code_count = e.count;
  e.p->slot_count = e.frame < 4 ? 4 : e.frame + 1;
  e.p->region_least = TL_NO_REGION;
  e.p->constants = tl_unit_keep(b, e.p->constants,
                                e.p->constant_count * sizeof *e.p->constants);
  return !b->failed && !b->arena->failed && !arena->failed;
}
