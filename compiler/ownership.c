// The forward pass of the ownership analysis over one function.
//
// The pass takes the blocks in reverse postorder and carries a state for each
// live slot: owned, borrowed or either, and from whom. Where paths meet,
// states are joined. It runs until the states at all entries hold (`search`).
// Each visit of a block may write its code; that of the last one is final, as
// the states that it found hold (`place_code`).
//
//   load_entry → tl_transfer for each instruction → follow_edge for each edge
//        ↑                                               │ tl_flow_into
//        └──────────── blocks whose entry changed ───────┘

#include "compiler/ownership_internal.h"

// What the visits of blocks write: the code of each block, and of each edge the
// instructions that end slots which the target does not need.
typedef struct final_code {
  tl_ins_list *lists;     // for each block three: its own, and its edges'
  tl_cfg_ins *polls;      // for each edge: the end of a block put into it
  uint8_t *predecessors;  // for each block: 0, 1, 2 (or more)
} final_code;

// --- States at block entries ------------------------------------------------

// Makes the states that were joined at the block's entry the current ones.
static void load_entry(tl_flow *flow, int32_t block) {
  const tl_owned_function *f = flow->function;
  const uint64_t *live = tl_live_at(f, block);
  const tl_state *entry = f->entry[block];
  memset(flow->present, 0, (size_t)f->words * sizeof(uint64_t));
  memset(flow->borrowers, 0, (size_t)f->words * sizeof(uint64_t));
  const uint64_t *read = f->read + (size_t)block * (size_t)f->words;
  for (int32_t w = 0; w < f->words; w++) flow->taken[w] = live[w] & ~read[w];
  TL_EACH_BIT(y, live, f->words) tl_set_state(flow, y, entry++);
}

// A parameter is the caller's: borrowed for certain, or, where callers may
// hand over what they own, one or the other as the call decides.
static tl_state param_state(const tl_owned_function *f, int32_t param) {
  tl_ownership_kind kind =
      f->param_modes[param] == TL_MODE_BORROW ? TL_BORROWS : TL_EITHER;
  return tl_state_borrowed(kind, TL_WHO_CALLER + (uint32_t)param, TL_SAME);
}

// Before the first pass: parameters are known at the function's entry, every
// other slot there is unset, and no other block has been reached.
static void start_states(tl_owned_function *f) {
  size_t n = (size_t)f->cfg->block_count;
  memset(f->reached, 0, n * sizeof(bool));
  memset(f->dirty, 0, n * sizeof(bool));
  memset(f->must_own, 0, n * (size_t)f->words * sizeof(uint64_t));
  memset(f->read, 0, n * (size_t)f->words * sizeof(uint64_t));
  for (size_t b = 0; b < n; b++) {
    tl_state *entry = f->entry[b];
    TL_EACH_BIT(y, tl_live_at(f, (int32_t)b), f->words) {
      *entry = tl_state_new(TL_ABSENT);
      if (b == 0)
        *entry = y < f->cfg->param_count
                     ? param_state(f, y)
                     : tl_state_borrowed(TL_BORROWS, TL_WHO_IMMORTAL, TL_PART);
      entry++;
    }
  }
  f->reached[0] = f->dirty[0] = true;
}

// Parameters that nothing reads are given back first of all.
static void drop_unread_params(tl_flow *flow) {
  const tl_owned_function *f = flow->function;
  for (int32_t i = 0; i < f->cfg->param_count; i++)
    if (!tl_bit(tl_live_at(f, 0), i) && f->param_modes[i] != TL_MODE_BORROW)
      tl_put(flow, TL_BC_DROP, -1, i, -1, TL_MODE_EITHER);
}

// --- Ends of blocks ---------------------------------------------------------

// RET: the result leaves the frame. What it borrows from a module variable,
// from the closure or, where callers take the result to be owned, from an
// argument would not stay alive for the caller, so it is made an owner first.
// The state at RET joins the function's summary; where the set of owners grows
// too large, results are owned from the start, and the search begins again.
static void transfer_return(tl_flow *flow, const tl_cfg_ins *ins) {
  tl_owned_function *f = flow->function;
  int32_t x = ins->operands[0];
  tl_state *state = &flow->now[x];
  flow->span = ins->span;
  // The closure may go with the caller's last use of it, and a module variable
  // may be rebound: a summary could state neither.
  if (tl_bit(flow->present, x) &&
      (tl_state_has(state, tl_who_is_global) ||
       tl_state_borrowed_by(state, TL_WHO_SELF) ||
       (f->owned_result && tl_state_has(state, tl_who_is_caller))))
    tl_own(flow, x);
  tl_state left = *tl_state_of(flow, x);
  f->has_changed |= tl_state_join(&f->result, &left);
  if (f->result.full || f->result.count > TL_BORROW_OWNER_LIMIT) {
    f->owned_result = true;
    f->result = tl_state_new(TL_ABSENT);
    flow->again = true;
  }
  tl_cfg_ins *out = tl_put_ins(flow, ins);
  if (out != NULL)
    out->modes[0] = (uint8_t)tl_mode_of(&left);
}

// An edge backward that gets code of its own ends by polling, which may fail.
// Its error goes to the handler of the block's end, unless the edge leaves
// that `try`.
static int32_t poll_handler(const tl_flow *flow, const tl_cfg_ins *end,
                            int32_t target) {
  if (end->handler < 0)
    return -1;
  const uint64_t *keep = tl_live_at(flow->function, end->handler);
  const uint64_t *live = tl_live_at(flow->function, target);
  for (int32_t w = 0; w < flow->function->words; w++)
    if ((keep[w] & ~live[w]) != 0)
      return -1;
  return end->handler;
}

// Passes the current states on along one edge. Slots that the target does not
// need end on the edge; if that takes instructions, they are the edge's code.
static void follow_edge(tl_flow *flow, int32_t block, int edge,
                        final_code *code) {
  tl_owned_function *f = flow->function;
  const tl_cfg_block *b = &f->cfg->blocks[block];
  const tl_cfg_ins *end = &b->ins[b->count - 1];
  int32_t target = b->targets[edge];
  if (code != NULL)
    flow->out = &code->lists[3 * block + 1 + edge];
  flow->span = end->span;
  // Asked before tl_end_dead takes the states away: only what owns makes
  // instructions, and only an edge with instructions needs a poll of its own.
  bool deaths = false;
  TL_EACH_BIT_WITHOUT(y, flow->present, tl_live_at(f, target), f->words)
  deaths |= flow->now[y].kind != TL_BORROWS;
  tl_end_dead(flow, tl_live_at(f, target));
  tl_flow_into(flow, target);
  if (!deaths || f->cfg->blocks[target].order > b->order)
    return;
  int32_t handler = poll_handler(flow, end, target);
  tl_cfg_ins *poll = code == NULL ? NULL : &code->polls[2 * block + edge];
  if (poll != NULL) {
    poll->fails = TL_EARLY;
    poll->handler = handler;
  }
  tl_may_fail(flow, poll, handler, NULL);
}

// Both edges of a branch begin with the same states: they are saved before the
// first one is followed.
static void save_states(tl_flow *flow, uint64_t *present) {
  const tl_owned_function *f = flow->function;
  memcpy(present, flow->present, (size_t)f->words * sizeof(uint64_t));
  TL_EACH_BIT(y, present, f->words) flow->saved[y] = flow->now[y];
}

// Brings back what save_states put aside, for the second edge.
static void restore_states(tl_flow *flow, const uint64_t *present) {
  const tl_owned_function *f = flow->function;
  memcpy(flow->present, present, (size_t)f->words * sizeof(uint64_t));
  memset(flow->borrowers, 0, (size_t)f->words * sizeof(uint64_t));
  TL_EACH_BIT(y, present, f->words) {
    flow->now[y] = flow->saved[y];
    tl_note_state(flow, y);
  }
}

// One block: its instructions in order, then its edges. With [code] it writes
// the code that these states make of it.
static void flow_block(tl_flow *flow, int32_t block, final_code *code) {
  tl_owned_function *f = flow->function;
  const tl_cfg_block *b = &f->cfg->blocks[block];
  flow->block = block;
  flow->iteration++;
  load_entry(flow, block);
  tl_live_rows(f, block, flow->rows);
  flow->out = code == NULL ? NULL : &code->lists[3 * block];
  if (code != NULL) {  // what an earlier visit has written does not hold
    memset(flow->out, 0, 3 * sizeof *flow->out);
    memset(&code->polls[2 * block], 0, 2 * sizeof *code->polls);
  }
  if (block == 0)
    drop_unread_params(flow);
  for (int32_t i = 0; i < b->count; i++) {
    const tl_cfg_ins *ins = &b->ins[i];
    flow->at = i;
    if (ins->op == TL_BC_RET) {
      transfer_return(flow, ins);
      return;
    }
    tl_transfer(flow, ins, flow->rows + (size_t)i * (size_t)f->words,
                i == b->count - 1 && b->targets[0] >= 0);
    if (ins->op == TL_BC_RAISE) {
      // Nothing runs behind it: what it has read is dropped by the error.
      while (flow->out != NULL && flow->out->count > 0 &&
             flow->out->items[flow->out->count - 1].op != TL_BC_RAISE)
        flow->out->count--;
      return;
    }
  }
  if (b->count == 0 || b->targets[0] < 0)
    return;
  // `gone` is free here: no instruction is under way.
  bool two = b->targets[1] >= 0;
  if (two)
    save_states(flow, flow->gone);
  follow_edge(flow, block, 0, code);
  if (two) {
    restore_states(flow, flow->gone);
    follow_edge(flow, block, 1, code);
  }
}

// --- The final code ---------------------------------------------------------

// Puts a block into an edge. Orders have been spread, so that there is room
// for it right behind its source.
static bool split_edge(tl_flow *flow, int32_t block, int edge,
                       final_code *code) {
  tl_cfg_function *cfg = flow->cfg;
  tl_ins_list *list = &code->lists[3 * block + 1 + edge];
  int32_t target = cfg->blocks[block].targets[edge];
  tl_cfg_ins end = code->polls[2 * block + edge];
  end.op = TL_BC_JMP;
  end.result = end.window = -1;
  if (end.fails == TL_NEVER)
    end.handler = -1;
  end.span = list->items[0].span;
  flow->out = list;
  if (tl_put_ins(flow, &end) == NULL ||
      !tl_arena_more(flow->arena, &cfg->blocks, &cfg->block_capacity,
                     (uint32_t)cfg->block_count, sizeof *cfg->blocks))
    return false;
  cfg->blocks[block].targets[edge] = cfg->block_count;
  cfg->blocks[cfg->block_count++] = (tl_cfg_block){
      .ins = list->items,
      .count = list->count,
      .capacity = list->capacity,
      .targets = {target, -1},
      .order = cfg->blocks[block].order + 1 + edge,
  };
  return true;
}

// Finds a place for the code of each edge: at the start of the target where
// nothing else leads there, else in a block of its own.
static bool place_edges(tl_flow *flow, int32_t block_count, final_code *code) {
  for (int32_t b = 0; b < block_count; b++)
    for (int edge = 0; edge < 2; edge++) {
      tl_ins_list *list = &code->lists[3 * b + 1 + edge];
      if (list->count == 0)
        continue;
      int32_t target = flow->cfg->blocks[b].targets[edge];
      if (code->predecessors[target] > 1) {
        if (!split_edge(flow, b, edge, code))
          return false;
        continue;
      }
      tl_ins_list *behind = &code->lists[3 * target];
      flow->out = list;
      for (int32_t i = 0; i < behind->count; i++)
        tl_put_ins(flow, &behind->items[i]);
      *behind = *list;
    }
  return true;
}

// Tells the unwinder which slots a handler still needs and which of these it
// must make owners, in case the error came from a place where they only
// borrowed.
static void name_handler_slots(tl_flow *flow, int32_t block) {
  tl_owned_function *f = flow->function;
  tl_cfg_block *b = &f->cfg->blocks[block];
  const uint64_t *live = tl_live_at(f, block);
  const uint64_t *own = f->must_own + (size_t)block * (size_t)f->words;
  int32_t room = 0;
  TL_EACH_BIT(y, live, f->words) room++;
  b->kept = TL_ARENA_ARRAY(flow->arena, int32_t, (size_t)room);
  b->own = TL_ARENA_ARRAY(flow->arena, int32_t, (size_t)room);
  if (b->kept == NULL || b->own == NULL)
    return;
  TL_EACH_BIT(y, live, f->words) {
    b->kept[b->kept_count++] = y;
    if (tl_bit(own, y))
      b->own[b->own_count++] = y;
  }
}

// Once the states hold, what the last visits wrote becomes the function's code.
static bool place_code(tl_flow *flow, final_code *code) {
  tl_owned_function *f = flow->function;
  int32_t n = f->cfg->block_count;
  code->predecessors[0] = 1;  // the call
  for (int32_t i = 0; i < 3 * n; i++) {
    if (code->lists[i].slot_count > f->cfg->slot_count)
      f->cfg->slot_count = code->lists[i].slot_count;
    int32_t edge = i % 3 - 1;
    int32_t target = edge < 0 ? -1 : f->cfg->blocks[i / 3].targets[edge];
    if (target >= 0 && f->reached[i / 3] && code->predecessors[target] < 2)
      code->predecessors[target]++;
  }
  // Times 3 leaves two positions behind each block for the code of its two
  // edges.
  for (int32_t b = 0; b < n; b++) f->cfg->blocks[b].order *= 3;
  if (!place_edges(flow, n, code))
    return false;
  for (int32_t b = 0; b < n; b++) {
    if (!f->reached[b])
      continue;
    tl_cfg_block *block = &f->cfg->blocks[b];
    block->ins = code->lists[3 * b].items;
    block->count = code->lists[3 * b].count;
    if (block->is_handler)
      name_handler_slots(flow, b);
  }
  return f->is_finished = !flow->arena->failed;
}

// --- The search -------------------------------------------------------------

// Allocates the states at the blocks' entries, one for each slot that is live
// there. They last until this pass ends.
static void open_entries(tl_flow *flow) {
  tl_owned_function *f = flow->function;
  size_t n = (size_t)f->cfg->block_count;
  f->entry = TL_ARENA_ARRAY(flow->scratch, tl_state *, n);
  f->reached = TL_ARENA_ARRAY(flow->scratch, bool, n);
  f->dirty = TL_ARENA_ARRAY(flow->scratch, bool, n);
  f->must_own = TL_ARENA_ARRAY(flow->scratch, uint64_t, n * (size_t)f->words);
  f->read = TL_ARENA_ARRAY(flow->scratch, uint64_t, n * (size_t)f->words);
  for (size_t b = 0; b < n && !flow->scratch->failed; b++) {
    size_t count = 0;
    for (int32_t w = 0; w < f->words; w++)
      count += (size_t)__builtin_popcountll(tl_live_at(f, (int32_t)b)[w]);
    f->entry[b] = TL_ARENA_ARRAY(flow->scratch, tl_state, count);
  }
}

// Allocates what the pass works with. False: no memory.
static bool open_flow(tl_flow *flow, tl_owned_program *program,
                      tl_owned_function *f, tl_arena *code, tl_arena *scratch) {
  size_t words = (size_t)f->words, slots = (size_t)f->slots;
  size_t operands = (size_t)f->most_operands + 1;
  *flow = (tl_flow){
      .program = program,
      .successor = -1,
      .function = f,
      .cfg = f->cfg,
      .arena = code,
      .scratch = scratch,
      .now = TL_ARENA_ARRAY(scratch, tl_state, slots),
      .saved = TL_ARENA_ARRAY(scratch, tl_state, slots),
      .owned = TL_ARENA_ARRAY(scratch, tl_cfg_owned, slots),
      .present = TL_ARENA_ARRAY(scratch, uint64_t, words),
      .borrowers = TL_ARENA_ARRAY(scratch, uint64_t, words),
      .taken = TL_ARENA_ARRAY(scratch, uint64_t, words),
      .risk = TL_ARENA_ARRAY(scratch, uint64_t, words),
      .mask = TL_ARENA_ARRAY(scratch, uint64_t, words),
      .gone = TL_ARENA_ARRAY(scratch, uint64_t, words),
      .rows =
          TL_ARENA_ARRAY(scratch, uint64_t, words * (size_t)(f->longest + 1)),
      .operands = TL_ARENA_ARRAY(scratch, int32_t, operands),
      .modes = TL_ARENA_ARRAY(scratch, uint8_t, operands),
      .borrowed = TL_ARENA_ARRAY(scratch, int32_t, operands),
      .candidates = TL_ARENA_ARRAY(scratch, int32_t, operands),
      .uses = TL_ARENA_ARRAY(scratch, uint8_t, slots),
      .defined = TL_ARENA_ARRAY(scratch, struct tl_defined, slots),
  };
  open_entries(flow);
  return !scratch->failed;
}

// Iterates to a fixpoint. States only grow, except where a slot is pinned:
// then the search starts again with that slot as an owner. After PATIENCE
// searches whole slots are pinned instead of single definitions, so that this
// ends.
static void search(tl_flow *flow, final_code *code) {
  enum { PATIENCE = 16 };
  tl_owned_function *f = flow->function;
  int searches = 0;
  do {
    flow->again = false;
    flow->pins_slots = ++searches > PATIENCE;
    start_states(f);
    for (bool busy = true; busy && !flow->again;) {
      busy = false;
      for (int32_t i = 0; i < f->sequence_count && !flow->again; i++) {
        int32_t b = f->sequence[i];
        if (!f->dirty[b])
          continue;
        f->dirty[b] = false;
        busy = true;
        flow_block(flow, b, code);
      }
    }
  } while (flow->again);
}

// Without [code] only the fixpoint is searched, for the summary. Scratch memory
// is given back in either case, since programs have many functions.
bool tl_own_function(tl_owned_program *program, tl_owned_function *f,
                     tl_arena *code) {
  tl_flow flow;
  tl_arena scratch;
  size_t n = (size_t)f->cfg->block_count;
  tl_arena_open(&scratch, program->arena->resize, program->arena->context);
  bool ok = open_flow(&flow, program, f, code, &scratch);
  final_code written = {
      .lists = TL_ARENA_ARRAY(&scratch, tl_ins_list, 3 * n),
      .polls = TL_ARENA_ARRAY(&scratch, tl_cfg_ins, 2 * n),
      .predecessors = TL_ARENA_ARRAY(&scratch, uint8_t, n),
  };
  ok = ok && !scratch.failed;
  if (ok)
    search(&flow, code == NULL ? NULL : &written);
  // Where the function calls itself, another summary makes other code.
  if (ok && code != NULL && !(f->calls_itself && f->has_changed))
    ok = place_code(&flow, &written);
  ok = ok && !scratch.failed && !program->arena->failed;
  tl_arena_close(&scratch);
  return ok;
}
