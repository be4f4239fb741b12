// Definite assignment: which variables are surely, maybe or surely not set
// where they are read. A forward dataflow pass over the graph, error edges
// included, with two bits for each variable: it may be unset here, it may be
// set. Where paths meet, either bit is there that one of them brings.
//
//   CHECKSET x    surely set     removed
//                 may be both    stays, and x is unset at the entry
//                 surely unset   reported: read before it is assigned

#include "compiler/bits.h"
#include "compiler/lower.h"

// The pass over one function.
typedef struct pass {
  tl_builder *b;
  tl_scope *scope;  // the function's
  tl_cfg_function *f;
  int32_t words;    // of a set of variables
  uint64_t *entry;  // for each block two sets: what may be unset, may be set
  uint64_t *unset, *set;  // the same at the current instruction
  bool *queued;           // blocks to look at again
  int32_t *sequence;      // the blocks in the order of their code
  uint64_t *needed;       // must be unset at the entry
} pass;

// The two sets at the start of a block.
static uint64_t *entry_of(const pass *p, int32_t block) {
  return p->entry + (size_t)block * 2 * (size_t)p->words;
}

// Joins the current state into the entry of [block]. A block whose entry
// changes is looked at again.
static void flow_to(pass *p, int32_t block) {
  for (int32_t w = 0; block >= 0 && w < 2 * p->words; w++) {
    uint64_t *to = &entry_of(p, block)[w];
    if ((p->unset[w] & ~*to) != 0)
      p->queued[block] = true;
    *to |= p->unset[w];
  }
}

// Whether some path reaches a block. The bit behind those of the variables is
// of one that is always set.
static bool is_reached(const pass *p, int32_t block) {
  return tl_bit(entry_of(p, block) + p->words, p->f->variable_count);
}

// Notes what the variable is from here on.
static void note(pass *p, int32_t variable, bool is_set) {
  tl_bit_set(is_set ? p->set : p->unset, variable);
  tl_bit_clear(is_set ? p->unset : p->set, variable);
}

// Whether an instruction unsets its result, as del(name) does.
static bool is_unset_constant(const pass *p, const tl_cfg_ins *ins) {
  return ins->op == TL_BC_LOADK &&
         tl_is_unset(p->f->prototype->constants[ins->extra]);
}

// Reports a variable that is read but set on no path.
static void report(pass *p, const tl_cfg_ins *ins) {
  tl_string *text = p->b->unit->names[ins->extra];
  const tl_name *name = tl_names_get(p->b->names, text->text, text->length);
  if (name == NULL)
    return;
  // Who writes x = x + 1 in a function meant the module's x.
  const tl_variable *outer =
      p->scope->parent != NULL ? tl_scope_find(p->scope->parent, name) : NULL;
  bool is_outer = outer != NULL && outer->scope->kind == TL_SCOPE_MODULE;
  // A script that assigns to sum somewhere has a variable sum everywhere; say
  // so to whoever meant the built-in.
  bool shadows = tl_known_find(p->b->vm, NULL, name).kind != TL_KNOWN_NOTHING;
  tl_diagnose(p->b->diagnostics, TALLY_ERR_NAME, ins->span,
              is_outer  ? "%s is read before it is assigned: the %s of the "
                          "module is another variable, unless the function "
                          "says global %s"
              : shadows ? "%s is read before it is assigned: it is a variable "
                          "here, which hides the built-in %s"
                        : "%s is read before it is assigned",
              name->text, name->text, name->text);
}

// Follows one block. While states are searched ([final] false) it passes them
// on; at the last visit it removes checks that cannot fail, reports those that
// always do, and notes which variables are read while unset.
static void visit(pass *p, int32_t index, bool final) {
  tl_cfg_block *block = &p->f->blocks[index];
  memcpy(p->unset, entry_of(p, index), 2 * (size_t)p->words * sizeof(uint64_t));
  int32_t kept = 0;
  for (int32_t i = 0; i < block->count; i++) {
    tl_cfg_ins *ins = &block->ins[i];
    // An error may come before the instruction sets its result.
    if (!final && ins->fails != TL_NEVER)
      flow_to(p, ins->handler);
    bool keep = true;
    for (int32_t k = 0; final && k < ins->operand_count; k++) {
      int32_t slot = ins->operands[k];
      if (slot >= p->f->variable_count || !tl_bit(p->unset, slot))
        continue;
      if (ins->op == TL_BC_CHECKSET && !tl_bit(p->set, slot))
        report(p, ins);
      // Any instruction that reads the slot needs it defined, checks too.
      tl_bit_set(p->needed, slot);
    }
    // Behind a check that has passed the variable is set.
    if (ins->op == TL_BC_CHECKSET) {
      keep = !final || tl_bit(p->unset, ins->operands[0]);
      tl_bit_clear(p->unset, ins->operands[0]);
    }
    // Temporaries are always set before they are read: lowering makes them so.
    if (ins->result >= 0 && ins->result < p->f->variable_count)
      note(p, ins->result, !is_unset_constant(p, ins));
    // Instructions that stay close the gaps in place.
    if (keep && kept++ < i)
      block->ins[kept - 1] = *ins;
  }
  block->count = kept;
  for (int k = 0; !final && k < 2; k++) flow_to(p, block->targets[k]);
}

// Defines as unset, at the function's entry, what is read on some path without
// being set: then the run's check finds a value.
//
//   if c { x = 1 }      x = loadk unset      at the entry
//   x + 1               checkset x           before the sum
static void define_unset(pass *p) {
  tl_cfg_function *f = p->f;
  int32_t count = 0;
  // Parameters are always defined: a missing argument is passed as unset.
  for (int32_t i = f->param_count; i < f->variable_count; i++)
    count += tl_bit(p->needed, i);
  if (count == 0)
    return;
  tl_cfg_block *block = &f->blocks[0];
  tl_cfg_ins *ins =
      TL_ARENA_ARRAY(p->b->arena, tl_cfg_ins, (size_t)(block->count + count));
  if (ins == NULL)
    return;
  // All share one constant.
  uint32_t unset = tl_function_constant(p->b, f, tl_unset());
  int32_t n = 0;
  for (int32_t i = f->param_count; i < f->variable_count; i++) {
    if (!tl_bit(p->needed, i))
      continue;
    ins[n++] = (tl_cfg_ins){.op = TL_BC_LOADK,
                            .result = i,
                            .extra = unset,
                            .window = -1,
                            .handler = -1};
  }
  memcpy(ins + n, block->ins, (size_t)block->count * sizeof *ins);
  block->ins = ins;
  block->count += n;
  block->capacity = (uint32_t)block->count;
}

// Until nothing changes. In the order of the code a block is seldom looked at
// before those that lead to it, so this takes about as many rounds as loops
// are nested, and two more.
static void search(pass *p) {
  for (bool busy = true; busy;) {
    busy = false;
    for (int32_t i = 0; i < p->f->order_count; i++) {
      int32_t block = p->sequence[i];
      if (!p->queued[block])
        continue;
      p->queued[block] = false;
      busy = true;
      visit(p, block, false);
    }
  }
}

// Runs the search and then each block's last visit.
bool tl_definite(tl_builder *b, tl_cfg_function *f, tl_scope *scope) {
  // If memory for a constant failed, the instructions that name it mean
  // nothing.
  if (b->failed)
    return false;
  pass p = {
      .b = b, .scope = scope, .f = f, .words = f->variable_count / 64 + 1};
  size_t words = (size_t)p.words, blocks = (size_t)f->block_count;
  p.entry = TL_ARENA_ARRAY(b->arena, uint64_t, 2 * words * blocks);
  p.unset = TL_ARENA_ARRAY(b->arena, uint64_t, 2 * words);
  p.queued = TL_ARENA_ARRAY(b->arena, bool, blocks);
  p.sequence = TL_ARENA_ARRAY(b->arena, int32_t, (size_t)f->order_count);
  p.needed = TL_ARENA_ARRAY(b->arena, uint64_t, words);
  if (b->arena->failed)
    return false;
  p.set = p.unset + words;
  // The sequence is the order of the code, which follows the jumps more closely
  // than the numbers of blocks.
  for (int32_t i = 0; i < f->block_count; i++)
    if (f->blocks[i].order >= 0)
      p.sequence[f->blocks[i].order] = i;
  for (int32_t i = 0; i <= f->variable_count; i++)
    note(&p, i, i < f->param_count || i == f->variable_count);
  flow_to(&p, 0);
  search(&p);
  for (int32_t i = 0; i < f->block_count; i++)
    if (is_reached(&p, i))
      visit(&p, i, true);
  define_unset(&p);
  return !b->arena->failed;
}
