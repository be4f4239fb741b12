// The ownership analysis of a whole program: what callers may rely on, to a
// fixpoint, and then every function's final code.
//
// A summary says of a function how it takes each parameter, whether its result
// is owned or which arguments it borrows from, and which module variables it
// may assign. Functions that nobody has looked at begin with the best summary;
// each pass may only make it worse, so the search ends.
//
// A function whose callees are finished needs one pass, since their summaries
// hold; only those that call one another are gone over again and again.
//
//   liveness ─ callees finished? ─ yes ─ search and final code at once
//                     │ no                         │
//                     │    their callers ──────────┘
//                     └─ search of each ─ summary changed? ─ callers again
//                                                  │ no
//                                                  └─ final code, one by one

#include "compiler/ownership_internal.h"

// --- Parameter modes --------------------------------------------------------

// Whether memory may be asked for or foreign code run while [ins] works.
// While such an instruction runs, memory that a dead parameter still owns is
// memory that the program cannot use.
static bool needs_room(const tl_cfg_ins *ins) {
  if (ins->fails == TL_LATE || ins->op == TL_BC_SETG)
    return true;
  switch ((tl_result_kind)tl_opcodes[ins->op].result) {
    case TL_DEF_OWNED:
    case TL_DEF_ITEM:
    case TL_DEF_SAME:
    case TL_DEF_NEXT:
    case TL_DEF_ITEMS:
    case TL_DEF_CALL:
    case TL_DEF_TARGET:
      return true;
    default:
      return false;
  }
}

// Whether a call passes [param] to parameters that only borrow.
static bool only_borrows(const tl_owned_program *program, const tl_cfg_ins *ins,
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

// A borrowed parameter lives until the call returns. That keeps no memory for
// longer only if nothing that needs room comes after its last use, nor is it:
// of v[0] = 1 and v = v * 2 the parameter's value ends where v gets another.
static bool keeps_nothing(const tl_owned_program *program,
                          const tl_owned_function *f, int32_t param,
                          uint64_t *rows) {
  for (int32_t i = 0; i < f->sequence_count; i++) {
    const tl_cfg_block *block = &f->cfg->blocks[f->sequence[i]];
    tl_live_rows(f, f->sequence[i], rows);
    for (int32_t k = 0; k < block->count; k++) {
      const tl_cfg_ins *ins = &block->ins[k];
      if (tl_bit(rows + (size_t)k * (size_t)f->words, param) &&
          ins->result != param)
        continue;
      bool moved =
          tl_opcodes[ins->op].result == TL_DEF_COPY && tl_ins_reads(ins, param);
      if (moved || (needs_room(ins) && !only_borrows(program, ins, param)))
        return false;
    }
  }
  return true;
}

// Parameters start as borrowed, which costs callers nothing, and become
// "either" where borrowing would keep memory alive for longer than the last
// use.
static void find_param_modes(tl_owned_program *program, tl_owned_function *f) {
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
        !keeps_nothing(program, f, i, rows)) {
      f->param_modes[i] = TL_MODE_EITHER;
      f->has_changed = true;
    }
}

// --- Setting up -------------------------------------------------------------

// Allocates what is known of one function, before anything is.
static bool open_function(tl_owned_program *program, tl_owned_function *f,
                          tl_cfg_function *cfg) {
  tl_arena *arena = program->arena;
  f->cfg = cfg;
  if (!tl_liveness(arena, f) ||
      (!program->cfg->is_conservative && !tl_place_flow(arena, f)))
    return false;
  f->pinned = TL_ARENA_ARRAY(arena, bool, (size_t)f->spare + 1);
  f->param_modes = TL_ARENA_ARRAY(arena, uint8_t, (size_t)cfg->param_count + 1);
  if (arena->failed)
    return false;
  // A function that callers reach without knowing it gets whatever they pass.
  for (int32_t i = 0; i < cfg->param_count; i++)
    f->param_modes[i] = cfg->may_be_value ? TL_MODE_EITHER : TL_MODE_BORROW;
  f->stale = true;
  return !arena->failed;
}

// A function that some code has as a constant, or that is in a closure group,
// may be called as a value. Lowering says so too; what it cannot see yet when
// it lowers a function is found here.
static void mark_value(tl_cfg_program *cfg, const tl_prototype *p,
                       const tl_unit *unit) {
  if (p->unit == unit && (int32_t)p->index < cfg->function_count &&
      cfg->functions[p->index]->prototype == p)
    cfg->functions[p->index]->may_be_value = true;
}

// Finds all functions that may be called as values.
static void mark_values(tl_cfg_program *cfg) {
  const tl_unit *unit = NULL;
  for (int32_t i = 0; i < cfg->function_count; i++) {
    const tl_prototype *p = cfg->functions[i]->prototype;
    if (p == NULL)
      continue;
    unit = p->unit;
    cfg->functions[i]->may_be_value |= p->capture_count > 0;
    for (uint32_t k = 0; k < p->constant_count; k++)
      if (tl_is_kind(p->constants[k], TL_KIND_FUNCTION))
        mark_value(cfg, p->constants[k].pointer, unit);
  }
  for (uint32_t g = 0; unit != NULL && g < unit->group_count; g++)
    for (uint32_t k = 0; k < unit->groups[g].member_count; k++)
      mark_value(cfg, unit->groups[g].members[k], unit);
}

// --- The fixpoint -----------------------------------------------------------

// The set is made at the first variable: most functions assign none.
void tl_note_rebound(tl_owned_program *program, tl_owned_function *f,
                     int32_t global) {
  if (f->rebinds == NULL)
    f->rebinds =
        TL_ARENA_ARRAY(program->arena, uint64_t, (size_t)program->global_words);
  if (f->rebinds == NULL)
    return;
  f->has_changed |= !tl_bit(f->rebinds, global);
  tl_bit_set(f->rebinds, global);
}

// --- Handing it on ----------------------------------------------------------

// Owners that are no parameters go in as immortal (UINT16_MAX): a caller has
// nothing to see to for them. One entry for each relation, as the verifier
// reads them.
static bool write_summary(tl_owned_program *program, tl_owned_function *f) {
  tl_arena *arena = program->arena;
  tl_summary *out = &f->cfg->summary;
  *out = (tl_summary){
      .param_modes = f->param_modes,
      .may_own = tl_state_owns(&f->result),
      .may_borrow = f->result.kind == TL_BORROWS || f->result.kind == TL_EITHER,
      .rebinds_any = f->rebinds_any,
  };
  out->borrow_owners = TL_ARENA_ARRAY(arena, tl_result_borrow_owner,
                                      (size_t)f->result.count * (TL_INNER + 1));
  for (int32_t w = 0; f->rebinds != NULL && w < program->global_words; w++)
    out->rebind_count += (uint32_t)__builtin_popcountll(f->rebinds[w]);
  out->rebinds = TL_ARENA_ARRAY(arena, uint32_t, out->rebind_count);
  if (arena->failed)
    return false;
  for (int i = 0; i < f->result.count; i++) {
    uint32_t who = tl_borrow_owner_who(f->result.borrow_owners[i]);
    for (tl_relation r = TL_SAME; r <= TL_INNER; r++)
      if ((f->result.borrow_owners[i] >> r & 1) != 0)
        out->borrow_owners[out->borrow_owner_count++] =
            (tl_result_borrow_owner){
                .param = tl_who_is_caller(who) ? (uint16_t)(who - TL_WHO_CALLER)
                                               : UINT16_MAX,
                .relation = (uint8_t)r,
            };
  }
  uint32_t at = 0;
  if (f->rebinds != NULL)
    TL_EACH_BIT(g, f->rebinds, program->global_words)
  out->rebinds[at++] = (uint32_t)g;
  return true;
}

// One pass over a function. With [is_last] it writes the function's code and
// hands it to [use], which emits it; then the code's memory is given back.
static bool go_through(tl_owned_program *program, tl_owned_function *f,
                       bool is_last, tl_use_owned *use, void *context) {
  tl_arena code, *arena = !is_last      ? NULL
                          : use == NULL ? program->arena
                                        : &code;
  tl_arena_open(&code, program->arena->resize, program->arena->context);
  f->stale = f->has_changed = false;
  find_param_modes(program, f);
  bool ok = tl_own_function(program, f, arena);
  if (ok && f->is_finished) {
    ok = write_summary(program, f) &&
         (use == NULL || use(context, f->cfg, &code));
    if (use != NULL)
      f->cfg->block_count = 0;  // they were in that arena
  }
  tl_arena_close(&code);
  // What callers could rely on is another: their analysis is stale.
  for (tl_caller *c = f->callers; c != NULL; c = c->next)
    program->functions[c->index].stale |= f->has_changed;
  return ok;
}

// Finishes the functions whose callees are finished, callees first: each in one
// pass, but one that calls itself first has to know its own summary.
static bool finish_ready(tl_owned_program *program, tl_use_owned *use,
                         void *context) {
  int32_t n = program->cfg->function_count, count = 0;
  int32_t *ready = TL_ARENA_ARRAY(program->arena, int32_t, (size_t)n);
  for (int32_t i = 0; ready != NULL && i < n; i++)
    if (program->functions[i].open_calls == 0)
      ready[count++] = i;
  while (count > 0) {
    tl_owned_function *f = &program->functions[ready[--count]];
    for (bool is_last = !f->calls_itself; !f->is_finished; is_last = true)
      if (!go_through(program, f, is_last, use, context))
        return false;
    for (tl_caller *c = f->callers; c != NULL; c = c->next)
      if (--program->functions[c->index].open_calls == 0)
        ready[count++] = c->index;
  }
  return ready != NULL;
}

// Finishes those that call one another, or that call such functions: no summary
// of theirs is final before all hold.
static bool finish_rest(tl_owned_program *program, tl_use_owned *use,
                        void *context) {
  int32_t n = program->cfg->function_count;
  for (bool busy = true; busy;) {
    busy = false;
    for (int32_t i = n - 1; i >= 0; i--) {
      tl_owned_function *f = &program->functions[i];
      if (f->is_finished || !f->stale)
        continue;
      busy = true;
      if (!go_through(program, f, false, use, context))
        return false;
    }
  }
  for (int32_t i = 0; i < n; i++)
    if (!program->functions[i].is_finished &&
        !go_through(program, &program->functions[i], true, use, context))
      return false;
  return true;
}

// Notes in the callee of CALLK that function [i] calls it; false: no memory.
static bool add_caller(tl_owned_program *program, uint32_t callee, int32_t i) {
  tl_caller **first = &program->functions[callee].callers;
  // Calls of one function by another stand in a row.
  if (*first != NULL && (*first)->index == i)
    return true;
  tl_caller *caller = TL_ARENA_NEW(program->arena, tl_caller);
  if (caller == NULL)
    return false;
  *caller = (tl_caller){i, *first};
  *first = caller;
  program->functions[i].calls_itself |= callee == (uint32_t)i;
  program->functions[i].open_calls += callee != (uint32_t)i;
  return true;
}

// Who calls whom, and what the functions assign, but for the module's own code:
// while that runs nothing else of the unit does that would still need the old
// value.
static bool survey(tl_owned_program *program) {
  tl_cfg_program *cfg = program->cfg;
  size_t words = (size_t)program->global_words;
  program->assigned = TL_ARENA_ARRAY(program->arena, uint64_t, words);
  cfg->invariant = TL_ARENA_ARRAY(program->arena, uint64_t, words);
  if (program->arena->failed)
    return false;
  for (int32_t i = 0; i < cfg->function_count; i++) {
    const tl_cfg_function *f = cfg->functions[i];
    for (int32_t b = 0; b < f->block_count; b++)
      for (int32_t k = 0; k < f->blocks[b].count; k++) {
        const tl_cfg_ins *ins = &f->blocks[b].ins[k];
        bool assigns = ins->op == TL_BC_SETG || ins->op == TL_BC_TAKEG;
        if (assigns && !f->is_main &&
            (int32_t)ins->extra / 64 < program->global_words)
          tl_bit_set(program->assigned, (int32_t)ins->extra);
        if (ins->op == TL_BC_CALLK && !add_caller(program, ins->extra, i))
          return false;
      }
  }
  return true;
}

// See cfg.h.
bool tl_ownership(tl_cfg_program *cfg, tl_use_owned *use, void *context) {
  tl_owned_program program = {
      .cfg = cfg,
      .arena = cfg->arena,
      .global_words = (cfg->global_count + 63) / 64,
      .functions = TL_ARENA_ARRAY(cfg->arena, tl_owned_function,
                                  (size_t)cfg->function_count),
  };
  if (program.functions == NULL || !survey(&program))
    return false;
  mark_values(cfg);
  for (int32_t i = 0; i < cfg->function_count; i++)
    if (!open_function(&program, &program.functions[i], cfg->functions[i]))
      return false;
  return finish_ready(&program, use, context) &&
         finish_rest(&program, use, context);
}
