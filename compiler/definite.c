// Definite assignment: which variables are surely, maybe or surely not set
// where they are read. A forward pass over the graph, error edges included.

#include <string.h>

#include "compiler/lower.h"

typedef struct state {
  uint64_t *must;  // set on every path
  uint64_t *may;   // set on some path
  bool reached;
} state;

typedef struct pass {
  tl_builder *b;
  tl_cfg_function *f;
  tl_scope *scope;
  int32_t words;
  state *entry;  // of each block
  state now;
  bool *queued;       // blocks to look at again
  int32_t *sequence;  // the blocks in the order of their code
  uint64_t *needed;   // must be unset at the entry
} pass;

static bool get(const uint64_t *set, int32_t i) {
  return (set[i >> 6] >> (i & 63) & 1) != 0;
}

static void put(uint64_t *set, int32_t i) {
  set[i >> 6] |= UINT64_C(1) << (i & 63);
}

static void drop(uint64_t *set, int32_t i) {
  set[i >> 6] &= ~(UINT64_C(1) << (i & 63));
}

static void flow_to(pass *p, int32_t block) {
  if (block < 0)
    return;
  state *to = &p->entry[block];
  bool changed = !to->reached;
  for (int32_t w = 0; w < p->words; w++) {
    uint64_t must = to->reached ? to->must[w] & p->now.must[w] : p->now.must[w];
    uint64_t may = to->reached ? to->may[w] | p->now.may[w] : p->now.may[w];
    changed = changed || must != to->must[w] || may != to->may[w];
    to->must[w] = must;
    to->may[w] = may;
  }
  to->reached = true;
  if (changed)
    p->queued[block] = true;
}

static bool is_unset_constant(const pass *p, const tl_cfg_ins *ins) {
  return ins->op == TL_BC_LOADK &&
         tl_is_unset(p->f->prototype->constants[ins->extra]);
}

static void define(pass *p, const tl_cfg_ins *ins) {
  if (ins->result < 0 || ins->result >= p->f->variable_count)
    return;
  if (is_unset_constant(p, ins)) {  // del(name)
    drop(p->now.must, ins->result);
    drop(p->now.may, ins->result);
    return;
  }
  put(p->now.must, ins->result);
  put(p->now.may, ins->result);
}

static void report(pass *p, const tl_cfg_ins *ins) {
  tl_string *text = p->b->unit->names[ins->extra];
  const tl_name *name = tl_names_get(p->b->names, text->text, text->length);
  if (name == NULL)
    return;
  bool shadows = tl_known_find(p->b->vm, NULL, name).kind != TL_KNOWN_NOTHING;
  tl_diagnose(p->b->diagnostics, TL_DIAGNOSTIC_NAME, ins->span,
              shadows ? "%s is read before it is assigned: it is a variable "
                        "here, which hides the built-in %s"
                      : "%s is read before it is assigned",
              name->text, name->text);
}

// Follows one block; at the last visit (final) settles its checks.
static void visit(pass *p, int32_t index, bool final) {
  tl_cfg_block *block = &p->f->blocks[index];
  memcpy(p->now.must, p->entry[index].must,
         (size_t)p->words * sizeof(uint64_t));
  memcpy(p->now.may, p->entry[index].may, (size_t)p->words * sizeof(uint64_t));
  int32_t kept = 0;
  for (int32_t i = 0; i < block->count; i++) {
    tl_cfg_ins *ins = &block->ins[i];
    if (!final && ins->handler >= 0 && ins->fails != TL_NEVER) {
      flow_to(p, ins->handler);
    }
    bool keep = true;
    for (int32_t k = 0; final && k < ins->operand_count; k++) {
      int32_t slot = ins->operands[k];
      if (slot >= p->f->variable_count || get(p->now.must, slot))
        continue;
      if (ins->op == TL_BC_CHECKSET && !get(p->now.may, slot))
        report(p, ins);
      put(p->needed, slot);
    }
    if (final && ins->op == TL_BC_CHECKSET) {
      int32_t slot = ins->operands[0];
      keep = !get(p->now.must, slot);
      put(p->now.must, slot);
    }
    if (ins->op == TL_BC_CHECKSET)
      put(p->now.must, ins->operands[0]);
    define(p, ins);
    if (keep)
      block->ins[kept++] = *ins;
  }
  block->count = kept;
  if (final)
    return;
  flow_to(p, block->targets[0]);
  flow_to(p, block->targets[1]);
}

static uint64_t *new_set(pass *p) {
  return TL_ARENA_ARRAY(p->b->arena, uint64_t, (size_t)p->words);
}

// Defines what is read on some path without being set.
static void define_unset(pass *p) {
  tl_cfg_function *f = p->f;
  int32_t count = 0;
  for (int32_t i = f->param_count; i < f->variable_count; i++) {
    count += get(p->needed, i);
  }
  if (count == 0)
    return;
  tl_cfg_block *block = &f->blocks[0];
  tl_cfg_ins *ins =
      TL_ARENA_ARRAY(p->b->arena, tl_cfg_ins, (size_t)(block->count + count));
  if (ins == NULL)
    return;
  uint32_t unset = tl_function_constant(p->b, f, tl_unset());
  int32_t n = 0;
  for (int32_t i = f->param_count; i < f->variable_count; i++) {
    if (!get(p->needed, i))
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
  block->capacity = block->count;
}

// In the order of the code a block is seldom looked at before those that lead
// to it: as often as loops are nested, and twice more.
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

bool tl_definite(tl_builder *b, tl_cfg_function *f, tl_scope *scope) {
  // Without memory for a constant the code that names it is no code.
  if (b->failed)
    return false;
  pass p = {.b = b,
            .f = f,
            .scope = scope,
            .words = (f->variable_count + 63) / 64 + 1};
  p.entry = TL_ARENA_ARRAY(b->arena, state, (size_t)f->block_count);
  p.queued = TL_ARENA_ARRAY(b->arena, bool, (size_t)f->block_count);
  p.sequence = TL_ARENA_ARRAY(b->arena, int32_t, (size_t)f->order_count);
  p.now.must = new_set(&p);
  p.now.may = new_set(&p);
  p.needed = new_set(&p);
  if (b->arena->failed)
    return false;
  for (int32_t i = 0; i < f->block_count; i++) {
    p.entry[i].must = new_set(&p);
    p.entry[i].may = new_set(&p);
    if (f->blocks[i].order >= 0)
      p.sequence[f->blocks[i].order] = i;
  }
  if (b->arena->failed)
    return false;
  for (int32_t i = 0; i < f->param_count; i++) {
    put(p.now.must, i);
    put(p.now.may, i);
  }
  flow_to(&p, 0);
  search(&p);
  for (int32_t i = 0; i < f->block_count; i++) {
    if (p.entry[i].reached)
      visit(&p, i, true);
  }
  define_unset(&p);
  return !b->arena->failed;
}
