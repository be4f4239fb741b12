// The whole program: what callers may rely on, to a fixpoint, callees first;
// then every function's final code.
#include <string.h>

#include "compiler/ownership_internal.h"

// --- Parameter modes --------------------------------------------------------

// Whether memory may be asked for or foreign code run while [ins] works.
static bool needs_room(const tl_cfg_ins *ins) {
  if (ins->fails == TL_LATE || ins->op == TL_BC_SETG)
    return true;
  switch ((tl_result_kind)tl_opcodes[ins->op].result) {
    case TL_DEF_OWNED:
    case TL_DEF_ITEM:
    case TL_DEF_VIEW:
    case TL_DEF_SAME:
    case TL_DEF_NEXT:
    case TL_DEF_CALL:
    case TL_DEF_TARGET:
      return true;
    default:
      return false;
  }
}

// Whether a call passes [param] to parameters that only borrow.
static bool only_lends(const tl_owned_program *program, const tl_cfg_ins *ins,
                       int32_t param) {
  if (ins->op != TL_BC_CALLK)
    return false;
  const tl_owned_function *callee = &program->functions[ins->extra];
  bool passed = false;
  for (int32_t i = 0; i < ins->operand_count; i++) {
    if (ins->operands[i] != param)
      continue;
    passed = true;
    if (i >= callee->cfg->param_count ||
        callee->param_modes[i] != TL_MODE_BORROW)
      return false;
  }
  return passed;
}

static bool reads(const tl_cfg_ins *ins, int32_t slot) {
  for (int32_t i = 0; i < ins->operand_count; i++)
    if (ins->operands[i] == slot)
      return true;
  return false;
}

// A borrowed parameter lives until the call returns. That keeps no memory for
// longer only if nothing that needs room comes after its last use.
static bool keeps_nothing(const tl_owned_program *program,
                          const tl_owned_function *f, int32_t param,
                          uint64_t *rows) {
  for (int32_t i = 0; i < f->sequence_count; i++) {
    const tl_cfg_block *block = &f->cfg->blocks[f->sequence[i]];
    tl_live_rows(f, f->sequence[i], rows);
    for (int32_t k = 0; k < block->count; k++) {
      const tl_cfg_ins *ins = &block->ins[k];
      if (tl_bit(rows + (size_t)k * (size_t)f->words, param))
        continue;
      bool moved =
          tl_opcodes[ins->op].result == TL_DEF_COPY && reads(ins, param);
      if (moved || (needs_room(ins) && !only_lends(program, ins, param)))
        return false;
    }
  }
  return true;
}

void tl_param_modes(tl_owned_program *program, tl_owned_function *f) {
  int32_t left = 0;
  for (int32_t i = 0; i < f->cfg->param_count; i++)
    left += f->param_modes[i] == TL_MODE_BORROW;
  if (left == 0)
    return;
  uint64_t *rows = TL_ARENA_ARRAY(program->arena, uint64_t,
                                  (size_t)f->words * (size_t)(f->longest + 1));
  if (rows == NULL)
    return;
  for (int32_t i = 0; i < f->cfg->param_count; i++)
    if (f->param_modes[i] == TL_MODE_BORROW &&
        !keeps_nothing(program, f, i, rows))
      f->param_modes[i] = TL_MODE_EITHER;
}

// --- Setting up -------------------------------------------------------------

// Slots that the analysis adds lie behind the function's own.
static bool extend_scalars(tl_arena *arena, tl_owned_function *f) {
  size_t old = (size_t)f->cfg->slot_count;
  bool *more = TL_ARENA_ARRAY(arena, bool, (size_t)f->slots);
  if (more == NULL)
    return false;
  if (f->cfg->is_scalar != NULL)
    memcpy(more, f->cfg->is_scalar, old * sizeof(bool));
  f->cfg->is_scalar = more;
  return true;
}

static bool open_function(tl_owned_program *program, tl_owned_function *f,
                          tl_cfg_function *cfg) {
  tl_arena *arena = program->arena;
  size_t n = (size_t)cfg->block_count;
  f->cfg = cfg;
  if (!tl_liveness(arena, f) || !extend_scalars(arena, f))
    return false;
  f->entry = TL_ARENA_ARRAY(arena, tl_state *, n);
  f->reached = TL_ARENA_ARRAY(arena, bool, n);
  f->dirty = TL_ARENA_ARRAY(arena, bool, n);
  f->must_own = TL_ARENA_ARRAY(arena, uint64_t, n * (size_t)f->words);
  f->pinned = TL_ARENA_ARRAY(arena, bool, (size_t)f->spare + 1);
  f->param_modes = TL_ARENA_ARRAY(arena, uint8_t, (size_t)cfg->param_count + 1);
  f->rebinds = TL_ARENA_ARRAY(arena, uint64_t, (size_t)program->global_words);
  if (arena->failed)
    return false;
  for (size_t b = 0; b < n; b++) {
    size_t count = 0;
    for (int32_t w = 0; w < f->words; w++)
      count += (size_t)__builtin_popcountll(tl_live_at(f, (int32_t)b)[w]);
    f->entry[b] = TL_ARENA_ARRAY(arena, tl_state, count);
  }
  // A function that callers reach without knowing it gets whatever they pass.
  for (int32_t i = 0; i < cfg->param_count; i++)
    f->param_modes[i] = cfg->may_be_value ? TL_MODE_EITHER : TL_MODE_BORROW;
  f->stale = true;
  return !arena->failed;
}

// A function that some code has as a constant, or that is in a closure group.
// Lowering says so too; what it cannot see yet when it lowers a function is
// found here.
static bool is_value(const tl_owned_program *program,
                     const tl_cfg_function *f) {
  const tl_prototype *p = f->prototype;
  if (f->may_be_value || p == NULL || p->capture_count > 0)
    return p != NULL || f->may_be_value;
  for (int32_t i = 0; i < program->cfg->function_count; i++) {
    const tl_prototype *q = program->cfg->functions[i]->prototype;
    for (uint32_t k = 0; q != NULL && k < q->constant_count; k++)
      if (tl_is_kind(q->constants[k], TL_KIND_FUNCTION) &&
          q->constants[k].pointer == p)
        return true;
  }
  const tl_unit *unit = p->unit;
  for (uint32_t g = 0; unit != NULL && g < unit->group_count; g++)
    for (uint32_t k = 0; k < unit->groups[g].member_count; k++)
      if (unit->groups[g].members[k] == p)
        return true;
  return false;
}

// --- The fixpoint -----------------------------------------------------------

typedef struct known {  // what a search may change
  tl_state result;
  uint64_t param_sum, rebind_sum;
  bool rebinds_any;
} known;

static known what_is_known(const tl_owned_program *program,
                           const tl_owned_function *f) {
  known k = {.result = f->result, .rebinds_any = f->rebinds_any};
  for (int32_t i = 0; i < f->cfg->param_count; i++)
    k.param_sum += f->param_modes[i] == TL_MODE_EITHER;
  for (int32_t w = 0; w < program->global_words; w++)
    k.rebind_sum += (uint64_t)__builtin_popcountll(f->rebinds[w]);
  return k;
}

// All of it only grows, so sums tell whether it did.
static bool is_more(const known *a, const known *b) {
  return !tl_state_equal(&a->result, &b->result) ||
         a->param_sum != b->param_sum || a->rebind_sum != b->rebind_sum ||
         a->rebinds_any != b->rebinds_any;
}

static void mark_callers(tl_owned_program *program, int32_t callee) {
  for (int32_t i = 0; i < program->cfg->function_count; i++) {
    tl_owned_function *f = &program->functions[i];
    for (int32_t b = 0; b < f->cfg->block_count && !f->stale; b++) {
      const tl_cfg_block *block = &f->cfg->blocks[b];
      for (int32_t k = 0; k < block->count && !f->stale; k++)
        f->stale = block->ins[k].op == TL_BC_CALLK &&
                   block->ins[k].extra == (uint32_t)callee;
    }
  }
}

// Functions are lowered outermost first, and what a script calls is mostly
// defined before the call: later functions first settles most in one round.
static bool settle_summaries(tl_owned_program *program) {
  for (bool busy = true; busy;) {
    busy = false;
    for (int32_t i = program->cfg->function_count - 1; i >= 0; i--) {
      tl_owned_function *f = &program->functions[i];
      if (!f->stale)
        continue;
      f->stale = false;
      busy = true;
      known before = what_is_known(program, f);
      tl_param_modes(program, f);
      if (!tl_own_function(program, f, false))
        return false;
      known now = what_is_known(program, f);
      if (is_more(&before, &now))
        mark_callers(program, i);
    }
  }
  return true;
}

// --- Handing it on ----------------------------------------------------------

bool tl_write_summary(tl_owned_program *program, tl_owned_function *f) {
  tl_arena *arena = program->arena;
  tl_summary *out = &f->cfg->summary;
  *out = (tl_summary){
      .param_modes = f->param_modes,
      .may_own = f->result.kind == TL_OWNS || f->result.kind == TL_EITHER,
      .may_borrow = f->result.kind == TL_BORROWS || f->result.kind == TL_EITHER,
      .rebinds_any = f->rebinds_any,
  };
  out->lenders =
      TL_ARENA_ARRAY(arena, tl_result_lender, (size_t)f->result.count);
  for (int32_t w = 0; w < program->global_words; w++)
    out->rebind_count += (uint32_t)__builtin_popcountll(f->rebinds[w]);
  out->rebinds = TL_ARENA_ARRAY(arena, uint32_t, out->rebind_count);
  if (arena->failed)
    return false;
  for (int i = 0; i < f->result.count; i++) {
    uint32_t who = tl_lender_who(f->result.lenders[i]);
    out->lenders[out->lender_count++] = (tl_result_lender){
        .param = tl_who_is_caller(who) ? (uint16_t)(who - TL_WHO_CALLER)
                                       : UINT16_MAX,
        .relation = (uint8_t)tl_lender_relation(f->result.lenders[i]),
    };
  }
  uint32_t at = 0;
  TL_EACH_BIT(g, f->rebinds, program->global_words) {
    out->rebinds[at++] = (uint32_t)g;
  }
  return true;
}

bool tl_ownership(tl_cfg_program *cfg) {
  tl_owned_program program = {
      .cfg = cfg,
      .arena = cfg->arena,
      .global_words = (cfg->global_count + 63) / 64,
      .functions = TL_ARENA_ARRAY(cfg->arena, tl_owned_function,
                                  (size_t)cfg->function_count),
  };
  if (program.functions == NULL)
    return false;
  for (int32_t i = 0; i < cfg->function_count; i++) {
    tl_cfg_function *f = cfg->functions[i];
    f->may_be_value = is_value(&program, f);
  }
  for (int32_t i = 0; i < cfg->function_count; i++)
    if (!open_function(&program, &program.functions[i], cfg->functions[i]))
      return false;
  if (!settle_summaries(&program))
    return false;
  for (int32_t i = 0; i < cfg->function_count; i++) {
    tl_owned_function *f = &program.functions[i];
    if (!tl_own_function(&program, f, true) || !tl_write_summary(&program, f))
      return false;
  }
  return true;
}
