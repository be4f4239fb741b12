// Places that are read, changed and set again: which loads may move the item
// out of its container.
//
//   a = b.h            a takes the item: nobody asks b for it again …
//   a = append(a, i)   … so this goes on in its memory
//   b.h = a            … before it is there again
//
// A place, a container's slot and a field or an index, is live where some path
// reads it, or the container as a whole, before setting it. It is found
// backward over the graph, as the liveness of slots is (liveness.c), with the
// edges of errors. A load behind which its place is dead becomes a TAKE, which
// is a plain load where something else has the container or the item. It pays
// only if what is loaded comes to an instruction that may write into it, so
// all other loads stay.
//
// A field that nobody sets is such a place too, where it is loaded to be
// written into: the list of m in (l: append(m.l, 1), n: m.n), which m ends
// with.

#include "compiler/ownership_internal.h"

// A set of places is one word; what a function has beyond is left alone. So is
// all the rest of a function for which that many instructions were looked at,
// times the places: then compiling stays linear.
enum { MOST_PLACES = 64, MOST_WORK = 1 << 23 };

// What stands between the brackets of a place: a variable, or a constant.
typedef struct place_index {
  int32_t slot;  // -1: a constant
  int op;        // LOADK or LOADI, which loads it
  uint32_t extra;
} place_index;

// A longer way of fields is left alone.
enum { MOST_FIELDS = 4 };

typedef struct place {
  int32_t base;     // the slot of the container
  int field_count;  // 0: an index
  const tl_string *fields[MOST_FIELDS];
  place_index index;
  uint32_t path;  // of what sets it
} place;

typedef struct place_flow {
  const tl_owned_function *function;
  tl_cfg_function *cfg;
  const tl_unit *unit;
  place places[MOST_PLACES];
  int count;
  int64_t work;    // that is left
  uint64_t taken;  // places out of which something is moved
  uint64_t *live;  // for each block: places that are live at its start
  // Only what comes soon is asked for, and not what a function does with what
  // it is given: a container that ends before the call loses its item anyway.
  bool is_soon;
  int32_t words;    // of a set of slots
  uint64_t *holds;  // for each block: slots that may hold what was loaded
  uint64_t *rows;   // what is live behind each instruction of a block
} place_flow;

// --- Places -----------------------------------------------------------------

// What instruction [at] of the block finds in the slot of an index. False:
// nothing that another instruction would know again.
static bool find_index(const tl_cfg_function *cfg, const tl_cfg_block *block,
                       int32_t at, int32_t slot, place_index *out) {
  if (slot < cfg->variable_count) {
    *out = (place_index){.slot = slot};
    return true;
  }
  while (--at >= 0 && !tl_ins_sets(&block->ins[at], slot)) continue;
  if (at < 0)
    return false;
  const tl_cfg_ins *ins = &block->ins[at];
  *out = (place_index){.slot = -1, .op = ins->op, .extra = ins->extra};
  return ins->op == TL_BC_LOADK || ins->op == TL_BC_LOADI;
}

static bool is_same_index(const place_index *a, const place_index *b) {
  return a->slot == b->slot &&
         (a->slot >= 0 || (a->op == b->op && a->extra == b->extra));
}

// Whether two names are equal: the unit may have a text twice.
static bool is_same_name(const tl_string *a, const tl_string *b) {
  return a == b || strcmp(a->text, b->text) == 0;
}

// The fields that instruction [at] loads one out of the other, r.a.b, by
// loads that stand together; false: too many.
static bool find_loaded(const place_flow *f, const tl_cfg_block *block,
                        int32_t at, place *out) {
  const tl_cfg_ins *last = &block->ins[at], *first = last;
  while (first > block->ins && last - first < MOST_FIELDS &&
         first->operands[0] >= f->cfg->variable_count &&
         first[-1].op == TL_BC_GETF && first[-1].result == first->operands[0])
    first--;
  if (last - first == MOST_FIELDS)
    return false;
  out->base = first->operands[0];
  for (; first <= last; first++)
    out->fields[out->field_count++] = f->unit->names[first->extra];
  return true;
}

// The fields that a path consists of; false: it has indices or too many.
static bool find_set(const tl_path *path, place *out) {
  if (path->step_count > MOST_FIELDS)
    return false;
  for (int i = 0; i < path->step_count; i++)
    if ((out->fields[out->field_count++] = path->steps[i].field) == NULL)
      return false;
  return true;
}

// The place that instruction [at] reads or sets alone: x.f, x.f.g, x[i], x.f =
// v or x[i] = v. False: it is none of these.
static bool find_place(const place_flow *f, const tl_cfg_block *block,
                       int32_t at, place *out) {
  const tl_cfg_ins *ins = &block->ins[at];
  *out = (place){.base = ins->operand_count > 0 ? ins->operands[0] : -1};
  switch (ins->op) {
    case TL_BC_GETF:
      return find_loaded(f, block, at, out);
    case TL_BC_SETPATH:
      out->path = ins->extra;
      return find_set(&f->unit->paths[ins->extra], out);
    case TL_BC_GETEL:
      return find_index(f->cfg, block, at, ins->operands[1], &out->index);
    case TL_BC_SETEL:
      out->path = ins->extra;
      return find_index(f->cfg, block, at, ins->operands[2], &out->index);
    default:
      return false;
  }
}

static bool is_same_place(const place *a, const place *b) {
  if (a->base != b->base || a->field_count != b->field_count)
    return false;
  for (int i = 0; i < a->field_count; i++)
    if (!is_same_name(a->fields[i], b->fields[i]))
      return false;
  return a->field_count > 0 || is_same_index(&a->index, &b->index);
}

// The number of a place that something sets; -1: nothing does.
static int number_of(const place_flow *f, const place *p) {
  for (int i = 0; i < f->count; i++)
    if (is_same_place(&f->places[i], p))
      return i;
  return -1;
}

// Whether the instruction sets a place.
static bool is_store(const tl_cfg_ins *ins) {
  return ins->op == TL_BC_SETPATH || ins->op == TL_BC_SETEL;
}

// Whether the instruction may write into operand [i].
static bool may_write(const place_flow *f, const tl_cfg_ins *ins, int32_t i) {
  if (ins->op == TL_BC_CALLK)
    return !f->is_soon;
  if (ins->op == TL_BC_CALLB) {
    tl_slot constant = f->cfg->prototype->constants[ins->extra];
    return i == 0 && tl_builtin_restores(constant.pointer);
  }
  // Slices of a list are made in its memory.
  if (ins->op == TL_BC_INDEX && i == 0)
    return tl_path_portion(&f->unit->paths[ins->extra]) == TL_PORTION_SLICE;
  return tl_opcode_role(ins->op, i) == TL_ROLE_TARGET;
}

// Follows the slots in [holds] through instructions from [at] up to [end];
// true: one of them comes to where it may be written into.
static bool follow(const place_flow *f, const tl_cfg_block *block, int32_t at,
                   int32_t end, uint64_t *holds) {
  for (; at < end; at++) {
    const tl_cfg_ins *ins = &block->ins[at];
    bool copies = false;
    for (int32_t i = 0; i < ins->operand_count; i++) {
      if (ins->operands[i] < 0 || !tl_bit(holds, ins->operands[i]))
        continue;
      if (may_write(f, ins, i))
        return true;
      copies |= ins->op == TL_BC_MOV;
    }
    for (int32_t i = 0; i < tl_result_count(ins); i++)
      if (copies)
        tl_bit_set(holds, ins->result + i);
      else
        tl_bit_clear(holds, ins->result + i);
  }
  return false;
}

// The path of a field alone, which lowering has made; false: there is none.
static bool find_path(place_flow *f, const tl_string *field, uint32_t *out) {
  f->work -= f->unit->path_count;
  for (uint32_t i = f->unit->path_count; i-- > 0;) {
    const tl_path *path = &f->unit->paths[i];
    *out = i;
    if (path->step_count == 1 && path->steps[0].field != NULL && !path->lends &&
        is_same_name(path->steps[0].field, field))
      return true;
  }
  return false;
}

// Whether instruction [at] of block [b] loads a field that is written into
// soon, of a variable that is read behind that. *known: its rows are there.
static bool is_changed(place_flow *f, int32_t b, int32_t at, bool *known,
                       place *out) {
  enum { SOON = 32 };
  const tl_cfg_block *block = &f->cfg->blocks[b];
  const tl_cfg_ins *ins = &block->ins[at];
  if (ins->op != TL_BC_GETF || ins->operands[0] >= f->cfg->variable_count ||
      ins->result == ins->operands[0])
    return false;
  if (!*known)
    tl_live_rows(f->function, b, f->rows);
  *known = true;
  if (!tl_bit(f->rows + (size_t)at * (size_t)f->words, ins->operands[0]))
    return false;
  memset(f->holds, 0, (size_t)f->words * sizeof(uint64_t));
  tl_bit_set(f->holds, ins->result);
  int32_t end = at + 1 + SOON < block->count ? at + 1 + SOON : block->count;
  return follow(f, block, at + 1, end, f->holds) &&
         find_place(f, block, at, out) &&
         find_path(f, out->fields[0], &out->path);
}

// Notes all places that are set somewhere, and fields that are changed.
static void find_places(place_flow *f) {
  f->is_soon = true;
  for (int32_t b = 0; b < f->cfg->block_count; b++) {
    const tl_cfg_block *block = &f->cfg->blocks[b];
    bool known = false;
    for (int32_t i = 0; i < block->count; i++) {
      place p;
      bool found = is_store(&block->ins[i]) ? find_place(f, block, i, &p)
                                            : is_changed(f, b, i, &known, &p);
      if (f->count < MOST_PLACES && found && number_of(f, &p) < 0 &&
          !f->unit->paths[p.path].lends)
        f->places[f->count++] = p;
    }
  }
  f->is_soon = false;
}

// --- Liveness of places -----------------------------------------------------

// Whether operand 0, the container of [p], is not asked for that place: it is
// another field, or only that the variable is set.
static bool is_elsewhere(const place_flow *f, const tl_cfg_ins *ins,
                         const place *p) {
  const tl_string *field = NULL;
  if (ins->op == TL_BC_CHECKSET || ins->op == TL_BC_JSET)
    return true;
  if (ins->op == TL_BC_GETF)
    field = f->unit->names[ins->extra];
  else if (ins->op == TL_BC_SETPATH || ins->op == TL_BC_TAKE)
    field = f->unit->paths[ins->extra].steps[0].field;
  return field != NULL && p->field_count > 0 &&
         !is_same_name(field, p->fields[0]);
}

// Whether the instruction may read the place, or makes another one of it by
// assigning its index. [sets]: it sets just this place.
static bool reads(const place_flow *f, const tl_cfg_ins *ins, const place *p,
                  bool sets) {
  if (p->field_count == 0 && p->index.slot >= 0 && ins->result == p->index.slot)
    return true;
  for (int32_t i = 0; i < ins->operand_count; i++)
    if (ins->operands[i] == p->base &&
        !(i == 0 && (sets || is_elsewhere(f, ins, p))))
      return true;
  return false;
}

// What is live before instruction [at], given what is live after it.
static uint64_t step_back(const place_flow *f, const tl_cfg_block *block,
                          int32_t at, uint64_t live) {
  const tl_cfg_ins *ins = &block->ins[at];
  place set;
  int number =
      is_store(ins) && find_place(f, block, at, &set) ? number_of(f, &set) : -1;
  for (int i = 0; i < f->count; i++) {
    const place *p = &f->places[i];
    uint64_t bit = UINT64_C(1) << i;
    bool ends = tl_ins_sets(ins, p->base) && !is_store(ins);
    if (i == number || ends)
      live &= ~bit;
    if (reads(f, ins, p, i == number))
      live |= bit;
  }
  if (ins->fails != TL_NEVER && ins->handler >= 0)
    live |= f->live[ins->handler];
  return live;
}

// What is live behind a block.
static uint64_t live_at_end(const place_flow *f, const tl_cfg_block *block) {
  uint64_t live = 0;
  for (int i = 0; i < 2; i++)
    if (block->targets[i] >= 0)
      live |= f->live[block->targets[i]];
  return live;
}

// Until nothing changes, from the last block on. False: it took too long.
static bool find_live(place_flow *f) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int32_t b = f->cfg->block_count - 1; b >= 0; b--) {
      const tl_cfg_block *block = &f->cfg->blocks[b];
      f->work -= (int64_t)block->count * f->count;
      if (f->work < 0)
        return false;
      uint64_t live = live_at_end(f, block);
      for (int32_t i = block->count - 1; i >= 0; i--)
        live = step_back(f, block, i, live);
      changed |= live != f->live[b];
      f->live[b] = live;
    }
  }
  return true;
}

// --- What becomes of the item -----------------------------------------------

// Adds the slots to those at the block's start; true: there are new ones.
static bool add_holds(const place_flow *f, int32_t block,
                      const uint64_t *holds) {
  uint64_t *to = f->holds + (size_t)block * (size_t)f->words, more = 0;
  for (int32_t w = 0; w < f->words; w++) {
    more |= holds[w] & ~to[w];
    to[w] |= holds[w];
  }
  return more != 0;
}

// Whether what instruction [at] of block [b] loads may be written into by some
// other instruction.
static bool is_written(place_flow *f, int32_t b, int32_t at) {
  const tl_cfg_function *cfg = f->cfg;
  size_t words = (size_t)f->words, n = (size_t)cfg->block_count;
  uint64_t *holds = f->holds + n * words;  // of one block, behind those of all
  memset(f->holds, 0, (n + 1) * words * sizeof(uint64_t));
  f->work -= (int64_t)(n * words);
  tl_bit_set(holds, cfg->blocks[b].ins[at].result);
  if (follow(f, &cfg->blocks[b], at + 1, cfg->blocks[b].count, holds))
    return true;
  bool changed = false;
  for (int i = 0; i < 2; i++)
    if (cfg->blocks[b].targets[i] >= 0)
      changed |= add_holds(f, cfg->blocks[b].targets[i], holds);
  while (changed && f->work > 0) {
    changed = false;
    for (int32_t k = 0; k < cfg->block_count; k++) {
      const tl_cfg_block *block = &cfg->blocks[k];
      memcpy(holds, f->holds + (size_t)k * words, words * sizeof(uint64_t));
      f->work -= block->count + f->words;
      if (follow(f, block, 0, block->count, holds))
        return true;
      for (int i = 0; i < 2; i++)
        if (block->targets[i] >= 0)
          changed |= add_holds(f, block->targets[i], holds);
    }
  }
  return false;
}

// --- Taking -----------------------------------------------------------------

// The load moves the item out of [p] from now on.
static void take(tl_cfg_ins *ins, const place *p) {
  bool field = ins->op == TL_BC_GETF;
  ins->op = field ? TL_BC_TAKE : TL_BC_TAKEEL;
  ins->operands[0] = p->base;  // not what was loaded on the way
  ins->extra = p->path;
  if (field)
    ins->window = ins->result;  // of no slots
}

// Whether another place of the same container may be empty just then, as
// [live] says behind the load, and it is not sure to be another field.
static bool is_other_out(const place_flow *f, int number, uint64_t live) {
  const place *p = &f->places[number];
  for (int i = 0; i < f->count; i++) {
    const place *other = &f->places[i];
    bool apart = p->field_count > 0 && other->field_count > 0 &&
                 !is_same_name(p->fields[0], other->fields[0]);
    if (i != number && other->base == p->base && !apart &&
        ((f->taken & ~live) >> i & 1) != 0)
      return true;
  }
  return false;
}

// Looks for a load of the block that may take, from its end on; true: there
// was one. What is live has changed then.
static bool take_in_block(place_flow *f, int32_t b) {
  tl_cfg_block *block = &f->cfg->blocks[b];
  uint64_t live = live_at_end(f, block);
  for (int32_t i = block->count - 1; i >= 0; i--) {
    tl_cfg_ins *ins = &block->ins[i];
    place p;
    // What the load itself overwrites is another place behind it.
    bool loads = (ins->op == TL_BC_GETF || ins->op == TL_BC_GETEL) &&
                 find_place(f, block, i, &p) && ins->result != p.base &&
                 (p.field_count > 0 || ins->result != p.index.slot);
    int number = loads ? number_of(f, &p) : -1;
    if (number >= 0 && (live >> number & 1) == 0 &&
        !is_other_out(f, number, live) && is_written(f, b, i)) {
      take(ins, &f->places[number]);
      f->taken |= UINT64_C(1) << number;
      return true;
    }
    live = step_back(f, block, i, live);
  }
  return false;
}

bool tl_place_flow(tl_arena *arena, const tl_owned_function *function) {
  tl_cfg_function *cfg = function->cfg;
  if (cfg->prototype == NULL || cfg->prototype->unit == NULL)
    return true;
  size_t n = (size_t)cfg->block_count, words = (size_t)function->words;
  place_flow f = {
      .function = function,
      .cfg = cfg,
      .unit = cfg->prototype->unit,
      .work = MOST_WORK,
      .words = function->words,
      .live = TL_ARENA_ARRAY(arena, uint64_t, n),
      .holds = TL_ARENA_ARRAY(arena, uint64_t, (n + 1) * words),
      .rows = TL_ARENA_ARRAY(arena, uint64_t,
                             words * (size_t)(function->longest + 1))};
  if (arena->failed)
    return false;
  find_places(&f);
  bool known = f.count > 0 && find_live(&f);
  for (int32_t b = 0; known && b < cfg->block_count; b++)
    while (known && take_in_block(&f, b)) known = find_live(&f);
  return true;
}
