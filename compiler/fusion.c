// Fusion: runs of instructions around elementwise operations in which each
// result but the last is used up. The analysis of ownership has marked where
// that is: a consumed operand is read for the last time. The VM computes such a
// run in one pass where it meets arrays (vm/region/region.h). A store to a part
// of an array, or a reduction, takes the last result and ends the run.

#include "compiler/fusion.h"

#include <string.h>

#include "vm/region/region.h"

enum { RUN_MAX = 256 };  // instructions looked at together

typedef struct step {
  uint32_t pc, end;
  tl_decoded d;
  tl_region_step kind;
  bool is_fold;
  int32_t consumer;  // the step that uses its result up, -1
  int32_t viewed;    // the first step that takes a view of its result, -1
  bool is_index;     // its result says where a view is
} step;

typedef struct finder {
  tl_builder *b;
  tl_prototype *p;
  int32_t temporaries;
  bool *leads;  // a jump or handler may begin at this pc
  step steps[RUN_MAX];
  int32_t count;
  tl_region *regions;
  uint32_t region_count, capacity;
} finder;

static bool add_region(finder *f, tl_region region) {
  if (f->region_count == f->capacity) {
    uint32_t capacity = f->capacity * 2 + 16;
    tl_region *regions = TL_ARENA_ARRAY(f->b->arena, tl_region, capacity);
    if (regions == NULL)
      return false;
    if (f->region_count > 0) {
      memcpy(regions, f->regions, f->region_count * sizeof *regions);
    }
    f->regions = regions;
    f->capacity = capacity;
  }
  f->regions[f->region_count++] = region;
  return true;
}

static bool mark_leads(finder *f) {
  f->leads = TL_ARENA_ARRAY(f->b->arena, bool, (size_t)f->p->code_count + 1);
  if (f->leads == NULL)
    return false;
  for (uint32_t pc = 0; pc < f->p->code_count;) {
    tl_decoded d;
    tl_decode(f->p, pc, &d);
    if (d.target >= 0)
      f->leads[d.target] = true;
    pc += d.words;
  }
  for (uint32_t i = 0; i < f->p->handler_count; i++) {
    f->leads[f->p->handlers[i].handler] = true;
  }
  return true;
}

// --- Calls of small functions -----------------------------------------------

enum { INLINE_WORDS = 48 };

static tl_inlining joins(tl_prototype *p);

static tl_region_step step_in(const tl_prototype *p, const tl_decoded *d) {
  tl_region_step kind = tl_region_step_of(d->op, d->extra);
  if (kind == TL_STEP_CALL)
    return tl_region_call(p->constants[d->extra].pointer);
  if (kind != TL_STEP_INLINE)
    return kind;
  if (d->extra >= p->unit->prototype_count)
    return TL_STEP_NONE;
  tl_prototype *callee = p->unit->prototypes[d->extra];
  bool whole = callee->param_count == d->window_count;
  return whole && joins(callee) >= TL_JOINS ? kind : TL_STEP_NONE;
}

static bool takes_views(const tl_prototype *p, const tl_decoded *d,
                        tl_region_step kind) {
  return kind == TL_STEP_VIEW || kind == TL_STEP_ROLL ||
         (kind == TL_STEP_INLINE &&
          p->unit->prototypes[d->extra]->joins == TL_JOINS_VIEWS);
}

// A function of operations in a row may be read as part of its caller.
static tl_inlining find_joins(const tl_prototype *p) {
  tl_inlining found = TL_JOINS;
  int operations = 0;
  tl_decoded d;
  if (p->code_count > INLINE_WORDS || p->handler_count > 0)
    return TL_JOINS_NOT;
  for (uint32_t pc = 0; pc < p->code_count; pc += d.words) {
    tl_decode(p, pc, &d);
    if (d.op == TL_BC_RET && pc + d.words == p->code_count)
      break;
    tl_region_step kind = step_in(p, &d);
    if (kind == TL_STEP_NONE || kind == TL_STEP_PLACE || kind == TL_STEP_CALL ||
        d.op == TL_BC_GETC)
      return TL_JOINS_NOT;
    if (takes_views(p, &d, kind))
      found = TL_JOINS_VIEWS;
    operations += kind == TL_STEP_OPERATION || kind >= TL_STEP_CAST;
  }
  return operations > 0 ? found : TL_JOINS_NOT;
}

static tl_inlining joins(tl_prototype *p) {
  if (p->joins == TL_JOINS_UNKNOWN) {
    p->joins = TL_JOINS_NOT;  // while it is looked at: it may call itself
    p->joins = (uint8_t)find_joins(p);
  }
  return (tl_inlining)p->joins;
}

// --- Runs -------------------------------------------------------------------

// What an instruction is to a region. Loads write temporaries alone, which
// nothing else sees; of the built-ins casts and loops of the host's may
// stand in a region, and reductions end it.
static tl_region_step step_of(const finder *f, const tl_decoded *d) {
  tl_region_step kind = step_in(f->p, d);
  bool names = kind == TL_STEP_LOAD && d->result < f->temporaries;
  return names ? TL_STEP_NONE : kind;
}

// A sink that may be one of several.
static bool is_fold(const tl_prototype *p, const tl_decoded *d,
                    tl_region_step kind) {
  return kind == TL_STEP_CALL &&
         tl_builtin_is_fold(p->constants[d->extra].pointer);
}

static bool is_operation(const step *s) {
  return s->kind == TL_STEP_OPERATION || s->kind == TL_STEP_CAST ||
         s->kind == TL_STEP_HOST || s->kind == TL_STEP_INLINE;
}

// What makes an array where it runs alone.
static bool makes_array(const step *s) {
  return is_operation(s) || s->kind == TL_STEP_ROLL;
}

static bool is_sink(const step *s) {
  return s->kind == TL_STEP_PLACE || s->kind == TL_STEP_CALL;
}

static bool reads(const tl_decoded *d, int32_t slot, bool *consumes) {
  bool found = false;
  *consumes = false;
  for (uint32_t i = 0; i < d->operand_count; i++) {
    if (d->operands[i] != slot)
      continue;
    found = true;
    *consumes = *consumes || d->modes[i] == TL_MODE_CONSUME ||
                d->modes[i] == TL_MODE_EITHER;
  }
  if (slot >= (int32_t)d->window &&
      slot < (int32_t)(d->window + d->window_count)) {
    found = *consumes = true;
  }
  return found;
}

static void find_consumers(finder *f) {
  for (int32_t i = 0; i < f->count; i++) {
    f->steps[i].consumer = -1;
    int32_t slot = f->steps[i].d.result;
    for (int32_t k = i + 1; slot >= 0 && k < f->count; k++) {
      bool consumes;
      if (reads(&f->steps[k].d, slot, &consumes) && consumes) {
        f->steps[i].consumer = k;
        break;
      }
      if (f->steps[k].d.result == slot)
        break;
    }
  }
}

// The step before [i] that makes what a slot holds there, -1.
static int32_t find_maker(const finder *f, int32_t i, int32_t slot) {
  while (--i >= 0) {
    const step *s = &f->steps[i];
    if (s->d.result != slot)
      continue;
    if (s->kind != TL_STEP_MOVE)
      return i;
    slot = (int32_t)s->d.operands[0];
  }
  return -1;
}

static void mark_viewed(finder *f, int32_t i, uint32_t slot) {
  int32_t maker = find_maker(f, i, (int32_t)slot);
  if (maker >= 0 && f->steps[maker].viewed < 0)
    f->steps[maker].viewed = i;
}

// What computes a place from numbers: [j - 1]. Where the numbers are arrays the
// region ends before the view when it is read.
static bool computes_place(const step *s) {
  switch (s->kind == TL_STEP_OPERATION ? tl_region_op(s->d.op, s->d.extra)
                                       : TL_OP_COUNT) {
    case TL_OP_ADD:
    case TL_OP_SUBTRACT:
    case TL_OP_MULTIPLY:
    case TL_OP_FLOOR_DIVIDE:
    case TL_OP_REMAINDER:
    case TL_OP_NEGATIVE:
      return true;
    default:
      return false;
  }
}

static void mark_index(finder *f, int32_t i, uint32_t slot) {
  int32_t maker = find_maker(f, i, (int32_t)slot);
  if (maker >= 0 && computes_place(&f->steps[maker])) {
    f->steps[maker].is_index = true;
  } else {
    mark_viewed(f, i, slot);
  }
}

// A view is of an array, not of what is still to be computed.
static void find_viewed(finder *f) {
  for (int32_t i = 0; i < f->count; i++) {
    f->steps[i].viewed = -1;
    f->steps[i].is_index = false;
  }
  for (int32_t i = 0; i < f->count; i++) {
    const tl_decoded *d = &f->steps[i].d;
    if (!takes_views(f->p, d, f->steps[i].kind))
      continue;
    bool is_view = f->steps[i].kind == TL_STEP_VIEW;
    if (is_view)
      mark_viewed(f, i, d->operands[0]);
    for (uint32_t k = 0; k < d->window_count; k++) {
      if (is_view) {
        mark_index(f, i, d->window + k);
      } else {
        mark_viewed(f, i, d->window + k);
      }
    }
  }
}

// Whether a region that ends with step [last] may take in what a step makes:
// it is used up there, or is a literal or an alias that stays in its slot.
static bool is_used_up(const step *s, int32_t last) {
  if (is_operation(s) && s->viewed >= 0 && s->viewed <= last)
    return false;
  switch (s->kind) {
    case TL_STEP_LOAD:
    case TL_STEP_DROP:
    case TL_STEP_HOLD:
    case TL_STEP_SETTLE:
      return true;
    case TL_STEP_CALL:
      return false;
    case TL_STEP_MOVE:
      if (s->d.op == TL_BC_MOVB)
        return true;
      break;
    default:
      break;
  }
  return s->consumer >= 0 && s->consumer <= last;
}

// Steps that are computed together; with [part] only as part of a group.
typedef struct unit {
  int32_t first, last;  // steps
  bool part;
  int32_t group_end;  // the last unit of its group
} unit;

// From the last step backward: a unit reaches as far as every result in it is
// used up inside. Returns how many there are.
static int32_t find_units(finder *f, unit *units) {
  int32_t n = 0;
  for (int32_t last = f->count - 1; last >= 0;) {
    const step *end = &f->steps[last];
    if (!is_operation(end) && !is_sink(end)) {
      last--;
      continue;
    }
    int32_t first = last, operations = 0;
    while (first > 0 && is_used_up(&f->steps[first - 1], last)) first--;
    for (int32_t i = first; i <= last; i++) {
      operations += makes_array(&f->steps[i]) && !f->steps[i].is_index;
    }
    bool part = operations <= (is_sink(end) ? 0 : 1);
    units[n++] = (unit){first, last, part, 0};
    last = first - 1;
  }
  for (int32_t i = 0; i < n / 2; i++) {
    unit other = units[i];
    units[i] = units[n - 1 - i];
    units[n - 1 - i] = other;
  }
  for (int32_t i = 0; i < n; i++) units[i].group_end = i;
  return n;
}

// --- Several results --------------------------------------------------------

// Units that share what they read run together, each with a result of its own.

// What a slot holds at step [i]: the step that makes it, *root -1; or the slot
// that it comes from, and -1.
static int32_t find_source(const finder *f, int32_t i, int32_t slot,
                           int32_t *root) {
  *root = slot;
  while (--i >= 0) {
    const step *s = &f->steps[i];
    if (s->d.result != *root)
      continue;
    if (s->kind != TL_STEP_MOVE)
      return i;
    *root = (int32_t)s->d.operands[0];
  }
  return -1;
}

// Whether two values are of the same array: the same, or views of the same.
static bool is_same(const finder *f, int32_t i, int32_t x, int32_t k,
                    int32_t y) {
  int32_t x_root, y_root;
  int32_t a = find_source(f, i, x, &x_root), b = find_source(f, k, y, &y_root);
  while (a >= 0 && f->steps[a].kind == TL_STEP_VIEW)
    a = find_source(f, a, (int32_t)f->steps[a].d.operands[0], &x_root);
  while (b >= 0 && f->steps[b].kind == TL_STEP_VIEW)
    b = find_source(f, b, (int32_t)f->steps[b].d.operands[0], &y_root);
  if (a < 0 || b < 0)
    return a == b && x_root == y_root;
  const tl_decoded *c = &f->steps[a].d, *d = &f->steps[b].d;
  bool variables = (c->op == TL_BC_GETG || c->op == TL_BC_GETC) &&
                   d->op == c->op && d->extra == c->extra;
  return a == b ? f->steps[a].kind != TL_STEP_LOAD : variables;
}

static int32_t input_count(const step *s) {
  return is_operation(s) || is_sink(s)
             ? (int32_t)(s->d.operand_count + s->d.window_count)
             : 0;
}

static int32_t input(const step *s, int32_t i) {
  int32_t operands = (int32_t)s->d.operand_count;
  return i < operands ? s->d.operands[i] : (int32_t)s->d.window + i - operands;
}

static bool shares_with(const finder *f, const unit *u, int32_t k, int32_t y) {
  for (int32_t i = u->first; i <= u->last; i++) {
    const step *s = &f->steps[i];
    for (int32_t n = 0; n < input_count(s); n++) {
      if (is_same(f, i, input(s, n), k, y))
        return true;
    }
  }
  return false;
}

// Whether a unit reads what an earlier one reads or makes.
static bool shares(const finder *f, const unit *earlier, const unit *u) {
  for (int32_t k = u->first; k <= u->last; k++) {
    const step *s = &f->steps[k];
    for (int32_t n = 0; n < input_count(s); n++) {
      int32_t root, made = find_source(f, k, input(s, n), &root);
      if ((made >= earlier->first && made <= earlier->last &&
           f->steps[made].kind != TL_STEP_LOAD) ||
          shares_with(f, earlier, k, input(s, n))) {
        return true;
      }
    }
  }
  return false;
}

// Steps before a unit that may stand in its group: what they do is known when
// it is read.
static bool is_passive(const step *s) {
  return s->kind == TL_STEP_LOAD || s->kind == TL_STEP_MOVE ||
         s->kind == TL_STEP_DROP || s->kind == TL_STEP_HOLD ||
         s->kind == TL_STEP_SETTLE;
}

// The result of a reduction is there when all is computed, and no sooner; of
// what is computed there is no view.
static bool waits_for(const finder *f, int32_t first, const unit *u) {
  for (int32_t i = first; i <= u->last; i++) {
    const step *s = &f->steps[i];
    if (is_operation(s) && s->viewed >= 0 && s->viewed <= u->last)
      return true;
    if (s->kind == TL_STEP_MOVE || s->kind == TL_STEP_LOAD)
      continue;
    int32_t count = (int32_t)(s->d.operand_count + s->d.window_count);
    for (int32_t n = 0; n < count; n++) {
      int32_t root, made = find_source(f, i, input(s, n), &root);
      if (made >= first && f->steps[made].kind == TL_STEP_CALL)
        return true;
    }
  }
  return false;
}

// Whether a group may go on to unit [u]: a reduction only of what is computed
// in it.
static bool may_follow(const finder *f, const unit *units, int32_t from,
                       int32_t u) {
  const step *end = &f->steps[units[u].last];
  if (is_sink(end) && !end->is_fold)
    return false;
  for (int32_t i = units[u - 1].last + 1; i < units[u].first; i++) {
    if (!is_passive(&f->steps[i]))
      return false;
  }
  if (end->kind == TL_STEP_CALL) {
    int32_t root,
        made = find_source(f, units[u].last, (int32_t)end->d.window, &root);
    if (made < units[from].first || !is_operation(&f->steps[made]))
      return false;
  }
  return !waits_for(f, units[from].first, &units[u]);
}

// Whether the result of a unit is still there after step [last].
static bool is_left(const finder *f, const unit *u, int32_t last) {
  int32_t at = u->last;
  while (f->steps[at].consumer >= 0 && f->steps[at].consumer <= last) {
    at = f->steps[at].consumer;
    if (f->steps[at].kind != TL_STEP_MOVE)
      return false;
  }
  return true;
}

static int32_t count_left(const finder *f, const unit *units, int32_t from,
                          int32_t to) {
  int32_t left = 0;
  for (int32_t i = from; i <= to; i++)
    left += is_left(f, &units[i], units[to].last);
  return left;
}

// The last unit of the longest group that begins with unit [from].
static int32_t find_group(const finder *f, const unit *units, int32_t n,
                          int32_t from) {
  const step *begin = &f->steps[units[from].last];
  int32_t found = from;
  if (!is_operation(begin) && units[from].part)
    return from;
  if (is_sink(begin) && !begin->is_fold)
    return from;
  for (int32_t u = from + 1; u < n && may_follow(f, units, from, u); u++) {
    bool joined = false;
    for (int32_t i = from; i < u && !joined; i++)
      joined = shares(f, &units[i], &units[u]);
    if (!joined)
      break;
    int32_t left = count_left(f, units, from, u);
    if (left > 1 && left <= TL_REGION_RESULTS)
      found = u;
  }
  return found;
}

static void find_groups(const finder *f, unit *units, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    int32_t end = find_group(f, units, n, i);
    for (; end > i; i++) units[i].group_end = end;
    units[i].group_end = end;
  }
}

static bool find_in_run(finder *f) {
  unit units[RUN_MAX];
  find_consumers(f);
  find_viewed(f);
  int32_t n = find_units(f, units);
  find_groups(f, units, n);
  for (int32_t i = 0; i < n; i++) {
    const unit *u = &units[i];
    bool grouped = u->group_end > i || (i > 0 && units[i - 1].group_end >= i);
    if (u->part && !grouped)
      continue;
    tl_region region = {.start = f->steps[u->first].pc,
                        .end = f->steps[u->last].end,
                        .together = f->steps[units[u->group_end].last].end,
                        .is_part = u->part};
    if (!add_region(f, region))
      return false;
  }
  return true;
}

static bool end_run(finder *f) {
  bool ok = f->count < 2 || find_in_run(f);
  f->count = 0;
  return ok;
}

// The items from which a region is faster than its operations one by one, as a
// power of two: measured (tests/bench/small). What is not made at all, views
// and what goes into a part or a reduction, pays at once.
static uint8_t least_items(const finder *f, const tl_region *region) {
  static const uint8_t least[] = {11, 11, 11, 9, 8, 7, 7};
  int operations = 0, others = 0;
  for (uint32_t pc = region->start; pc < region->end;) {
    tl_decoded d;
    tl_decode(f->p, pc, &d);
    tl_region_step kind = step_of(f, &d);
    if (kind == TL_STEP_OPERATION || kind == TL_STEP_CAST) {
      tl_op op = tl_region_op(d.op, d.extra);
      operations++;
      others += op == TL_OP_WHERE;
    }
    if (kind == TL_STEP_INLINE) {
      operations += 2;
      others++;
    }
    if (kind == TL_STEP_ROLL)
      return least[0];  // read anew each time
    others +=
        kind == TL_STEP_VIEW || kind == TL_STEP_CALL || kind == TL_STEP_PLACE;
    pc += d.words;
  }
  if (others > 0)
    return operations > 1 ? TL_FUSED_LEAST : 6;
  return operations < 7 ? least[operations] : 6;
}

// Both tables in the unit's memory.
static bool keep_regions(finder *f) {
  tl_prototype *p = f->p;
  uint32_t count = f->region_count;
  if (count == 0)
    return true;
  p->regions = tl_unit_alloc(f->b->vm, f->b->unit, count * sizeof *p->regions);
  p->region_items = tl_unit_alloc(f->b->vm, f->b->unit, p->code_count);
  if (p->regions == NULL || p->region_items == NULL) {
    f->b->failed = true;
    return false;
  }
  memcpy(p->regions, f->regions, count * sizeof *p->regions);
  memset(p->region_items, TL_NO_REGION, p->code_count);
  for (uint32_t i = 0; i < count; i++) {
    const tl_region *r = &p->regions[i];
    bool alone = r->is_part && r->together == r->end;  // of its group the last
    memset(p->region_items + r->start, alone ? TL_NO_REGION : least_items(f, r),
           r->end - r->start);
  }
  p->region_count = count;
  return true;
}

bool tl_find_regions(tl_builder *b, tl_prototype *function,
                     int32_t temporaries) {
  finder f = {.b = b, .p = function, .temporaries = temporaries};
  if (!mark_leads(&f))
    return false;
  for (uint32_t pc = 0; pc < function->code_count;) {
    tl_decoded d;
    tl_decode(function, pc, &d);
    tl_region_step kind = step_of(&f, &d);
    if ((kind == TL_STEP_NONE || f.leads[pc] || f.count == RUN_MAX) &&
        !end_run(&f)) {
      return false;
    }
    if (kind != TL_STEP_NONE)
      f.steps[f.count++] =
          (step){pc, pc + d.words, d,    kind, is_fold(function, &d, kind),
                 -1, -1,           false};
    if (kind == TL_STEP_PLACE && !end_run(&f))
      return false;
    pc += d.words;
  }
  if (!end_run(&f))
    return false;
  return keep_regions(&f);
}
