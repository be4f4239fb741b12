// Fusion: runs of instructions around elementwise operations in which each
// result but the last is used up. The analysis of ownership has marked where
// that is: a consumed operand is read for the last time. The VM computes such a
// run in one pass where it meets arrays (vm/region/region.h). A store to a part
// of an array, a selection by a mask or a reduction takes the last result and
// ends the run.
//
//   fusion.c         runs, and the units in them; calls of small functions
//   fusion_groups.c  units that run together, each with a result of its own

#include "compiler/fusion_internal.h"
#include "vm/observe/in_place_contract.h"

// --- Calls of small functions -----------------------------------------------

// Fusion: which calls of script functions may be read as part of their caller's
// regions. Of a closure the code around a call tells which function it is, and
// of other modules' functions a run: it reads whatever may be read.

// Words of code: longer functions are worth their call, and reading them anew
// at each call would cost more than that.
enum { INLINE_WORDS = 48 };

static void fusion_find_joins(tl_prototype *p);

// What an instruction is to a region, where calls are looked into. What only
// the run can know is assumed to fit.
//
//   OWN     only of views
//   CALLB   by the built-in's own trait
//   CALL    of a function that is known: if that may be inlined; of one that is
//           not known, by position: yes, and the run decides
static tl_region_step fusion_step(const tl_writers *w, uint32_t pc,
                                  const tl_decoded *d) {
  tl_region_step kind = tl_region_step_of(d->op, d->extra);
  if (d->op == TL_BC_OWN && !tl_region_may_own(w, pc, d->operands[0]))
    return TL_STEP_NONE;
  if (kind == TL_STEP_CALL)
    return tl_region_call(w->p->constants[d->extra].pointer);
  if (kind != TL_STEP_INLINE)
    return kind;
  tl_prototype *callee = tl_region_find_callee(w, pc, d);
  if (callee == NULL)
    return d->op == TL_BC_CALL && d->extra == 0 ? kind : TL_STEP_NONE;
  fusion_find_joins(callee);
  bool whole = callee->param_count == d->window_count;
  return whole && callee->joins >= TL_JOINS ? kind : TL_STEP_NONE;
}

// Whether the step needs its array to exist as such, because a view is made of
// it: an index, a roll, or a call of a function that does so inside.
static bool fusion_takes_views(const tl_writers *w, uint32_t pc,
                               const tl_decoded *d, tl_region_step kind) {
  if (kind != TL_STEP_INLINE)
    return kind == TL_STEP_VIEW || kind == TL_STEP_ROLL ||
           kind == TL_STEP_LENGTH;
  const tl_prototype *callee = tl_region_find_callee(w, pc, d);
  return callee != NULL && callee->joins == TL_JOINS_VIEWS;
}

// Whether an operation may make a mask, by the rule of its result: bitwise
// operations of bool give bool.
static bool fusion_makes_mask(tl_op op) {
  switch ((tl_rule)tl_ops[op].rule) {
    case TL_RULE_COMPARE:
    case TL_RULE_LOGICAL:
    case TL_RULE_TEST:
    case TL_RULE_BITWISE:
      return true;
    default:
      return false;
  }
}

// The operation whose result a slot holds at [end]; TL_OP_COUNT: none.
static tl_op operation_at(const tl_prototype *p, uint32_t end, uint32_t slot) {
  uint32_t at;
  tl_decoded d;
  return tl_writers_find(&(tl_writers){.p = p}, end, slot, &at, &d)
             ? tl_region_op(d.op, d.extra)
             : TL_OP_COUNT;
}

// Whether it takes the items of a mask that is computed here: that ends a
// region.
static bool selects(const tl_prototype *p, uint32_t pc, const tl_decoded *d) {
  if (d->op != TL_BC_GETEL)
    return false;
  tl_op op = operation_at(p, pc, d->operands[1]);
  return op != TL_OP_COUNT && fusion_makes_mask(op);
}

// Jumps of any kind, but for JSET, which skips a parameter's default, and for
// LOOP, which goes backward: with those a function is not inlined.
static bool is_branch(uint8_t opcode) {
  tl_format format = (tl_format)tl_opcodes[opcode].format;
  return opcode != TL_BC_JSET && opcode != TL_BC_LOOP &&
         format != TL_FORMAT_LOOP && tl_formats[format].jump != 0;
}

// A function of operations in a row may be read as part of its caller.
static tl_inlining find_joins(tl_prototype *p) {
  tl_inlining found = TL_JOINS;
  int operations = 0;
  tl_writers writers = {.p = p};
  tl_decoded d;
  if (p->code_count > INLINE_WORDS)
    return TL_JOINS_NOT_LONG;
  if (p->handler_count > 0)
    return TL_JOINS_NOT_CATCHES;
  for (uint32_t pc = 0; pc < p->code_count; pc += d.words) {
    tl_decode(p, pc, &d);
    // A branch forward goes where the numbers lead that are there when the call
    // is read; types of parameters are checked then.
    if (d.op == TL_BC_RET || d.op == TL_BC_CHECKTYPES ||
        (is_branch(d.op) && d.target > (int64_t)pc))
      continue;
    tl_region_step kind = fusion_step(&writers, pc, &d);
    if (kind == TL_STEP_NONE || kind == TL_STEP_PLACE || kind == TL_STEP_CALL ||
        selects(p, pc, &d)) {
      p->joins_not = pc;
      return TL_JOINS_NOT_HERE;
    }
    if (fusion_takes_views(&writers, pc, &d, kind))
      found = TL_JOINS_VIEWS;
    operations += kind == TL_STEP_OPERATION || kind >= TL_STEP_CAST;
  }
  return operations > 0 ? found : TL_JOINS_NOT;
}

// Finds out whether a region may take in a function's calls, into p->joins.
// Found once for each function. A recursive one finds itself marked as not
// inlined, and the search ends.
static void fusion_find_joins(tl_prototype *p) {
  if (p->joins != TL_JOINS_UNKNOWN)
    return;
  p->joins = TL_JOINS_NOT;  // while it is looked at: it may call itself
  p->joins = (uint8_t)find_joins(p);
}

// Appends to the regions found so far, in the order of the code.
static bool add_region(tl_fusion *f, tl_region region) {
  if (!tl_arena_more(f->b->arena, &f->regions, &f->capacity, f->region_count,
                     sizeof *f->regions))
    return false;
  f->regions[f->region_count++] = region;
  return true;
}

// An index of who writes each slot, in the arena. It is made only for functions
// with calls, since without one nobody asks what is called.
static bool index_writers(tl_fusion *f) {
  size_t size = tl_writers_size(f->p);
  uint32_t *memory = TL_ARENA_ARRAY(f->b->arena, uint32_t, size);
  if (memory != NULL)
    tl_writers_index(&f->writers, f->p, memory);
  return memory != NULL;
}

// Also who writes what is called.
static bool mark_leads(tl_fusion *f) {
  bool calls = false;
  f->leads = TL_ARENA_ARRAY(f->b->arena, bool, (size_t)f->p->code_count + 1);
  if (f->leads == NULL)
    return false;
  for (uint32_t pc = 0; pc < f->p->code_count; pc++) {
    uint8_t op = f->p->code[pc].op;
    calls |= op == TL_BC_CALL || op == TL_BC_OWN;
    if (tl_formats[tl_opcodes[op].format].jump != 0) {
      tl_decoded d;
      tl_decode(f->p, pc, &d);
      f->leads[d.target] = true;
    }
  }
  for (uint32_t i = 0; i < f->p->handler_count; i++)
    f->leads[f->p->handlers[i].handler] = true;
  return !calls || index_writers(f);
}

// --- Runs -------------------------------------------------------------------

// What an instruction is to a region. Loads write temporaries alone, which
// nothing else sees; of the built-ins casts and loops of the host's may
// stand in a region, and reductions end it.
static tl_region_step step_of(const tl_fusion *f, uint32_t pc,
                              const tl_decoded *d) {
  tl_region_step kind = fusion_step(&f->writers, pc, d);
  bool names = kind == TL_STEP_LOAD && d->result < f->temporaries;
  return names ? TL_STEP_NONE : kind;
}

// A consumer that may be one of several.
static bool may_join(const tl_prototype *p, const tl_decoded *d,
                     tl_region_step kind) {
  if (kind != TL_STEP_CALL)
    return kind == TL_STEP_PLACE;
  return tl_builtin_folds(p->constants[d->extra].pointer);
}

// What makes an array where it runs alone.
static bool makes_array(const tl_fused_step *s) {
  return tl_fused_is_operation(s) || s->kind == TL_STEP_ROLL;
}

// Whether what a slot holds may end with the instruction. What stands in a
// window always does.
static bool may_end(const tl_decoded *d, int32_t slot) {
  for (uint32_t i = 0; i < d->operand_count; i++)
    if (d->operands[i] == slot &&
        (d->modes[i] == TL_MODE_CONSUME || d->modes[i] == TL_MODE_EITHER))
      return true;
  return slot >= (int32_t)d->window &&
         slot < (int32_t)(d->window + d->window_count);
}

// For each step the step of the run that uses its result up. The search ends
// where the slot gets another value; a result that is read but not consumed
// within the run has no consumer, and so ends a region.
static void find_consumers(tl_fusion *f) {
  for (int32_t i = 0; i < f->count; i++) {
    f->steps[i].consumer = -1;
    int32_t slot = f->steps[i].d.result;
    for (int32_t k = i + 1; slot >= 0 && k < f->count; k++) {
      if (may_end(&f->steps[k].d, slot)) {
        f->steps[i].consumer = k;
        break;
      }
      if (f->steps[k].d.result == slot)
        break;
    }
  }
}

// The step before [i] that makes what a slot holds there, -1.
static int32_t find_maker(const tl_fusion *f, int32_t i, int32_t slot) {
  int32_t root;
  return tl_fusion_source(f, i, slot, &root);
}

// Step [i] makes a view of what the slot refers to: the first such step counts,
// since the region that computes it has to end before.
static void mark_viewed(tl_fusion *f, int32_t i, uint32_t slot) {
  int32_t maker = find_maker(f, i, (int32_t)slot);
  if (maker >= 0 && f->steps[maker].viewed < 0)
    f->steps[maker].viewed = i;
}

// What computes a place from numbers: [j - 1]. Where the numbers are arrays the
// region ends before the view when it is read.
static bool computes_place(const tl_fused_step *s) {
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

// An index such as j - 1 is a number as a rule and is then computed when the
// region is read, so it does not keep the view out of the region.
static void mark_index(tl_fusion *f, int32_t i, uint32_t slot) {
  int32_t maker = find_maker(f, i, (int32_t)slot);
  if (maker >= 0 && computes_place(&f->steps[maker]))
    f->steps[maker].is_index = true;
  else
    mark_viewed(f, i, slot);
}

// Whether the result may be an array of bool. Of casts, a host's functions and
// inlined calls nobody knows before they run.
static bool makes_mask(const tl_fused_step *s) {
  return s->kind == TL_STEP_OPERATION
             ? fusion_makes_mask(tl_region_op(s->d.op, s->d.extra))
             : s->kind == TL_STEP_CAST || s->kind == TL_STEP_HOST ||
                   s->kind == TL_STEP_INLINE;
}

// One index that may be a mask, where it or what it selects from is computed
// here: x[x > 0], (x * 2)[mask].
static bool is_selection(const tl_fusion *f, int32_t i) {
  const tl_decoded *d = &f->steps[i].d;
  if (d->op != TL_BC_GETEL || f->steps[i].kind != TL_STEP_VIEW)
    return false;
  int32_t base = find_maker(f, i, (int32_t)d->operands[0]);
  int32_t mask = find_maker(f, i, (int32_t)d->operands[1]);
  if (mask >= 0 && makes_mask(&f->steps[mask]))
    return true;
  bool is_place = mask >= 0 && (f->steps[mask].kind == TL_STEP_OPERATION ||
                                f->steps[mask].d.op == TL_BC_LOADK ||
                                f->steps[mask].d.op == TL_BC_LOADI);
  return base >= 0 && tl_fused_is_operation(&f->steps[base]) && !is_place;
}

// Whether a selection by a mask is put back by one, x[mask] = y[mask] + 1: if
// the masks are the same nothing has to be selected. Of what is computed here
// all of it would be an array.
static bool is_taken(const tl_fusion *f, int32_t i) {
  int32_t k = f->steps[i].consumer;
  int32_t base = find_maker(f, i, (int32_t)f->steps[i].d.operands[0]);
  if (base >= 0 && tl_fused_is_operation(&f->steps[base]))
    return false;
  while (k >= 0 && tl_fused_is_operation(&f->steps[k]))
    k = f->steps[i = k].consumer;
  return k >= 0 && f->steps[k].d.op == TL_BC_SETEL &&
         (int32_t)f->steps[k].d.operands[1] == f->steps[i].d.result;
}

// The consumers have been found by now; is_selection asks who made the
// operands.
static void find_selections(tl_fusion *f) {
  for (int32_t i = 0; i < f->count; i++) {
    bool selects = is_selection(f, i);
    f->steps[i].is_taken = selects && is_taken(f, i);
    if (selects && !f->steps[i].is_taken)
      f->steps[i].kind = TL_STEP_SELECT;
  }
}

// A view is of an array, not of what is still to be computed.
static void find_viewed(tl_fusion *f) {
  for (int32_t i = 0; i < f->count; i++) {
    const tl_decoded *d = &f->steps[i].d;
    if (!fusion_takes_views(&f->writers, f->steps[i].pc, d, f->steps[i].kind))
      continue;
    bool is_view = f->steps[i].kind == TL_STEP_VIEW;
    if (is_view)
      mark_viewed(f, i, d->operands[0]);
    for (uint32_t k = 0; k < d->window_count; k++)
      if (is_view)
        mark_index(f, i, d->window + k);
      else
        mark_viewed(f, i, d->window + k);
  }
}

// Whether a region that ends with step [last] may take in what a step makes:
// it is used up there, or is a literal or an alias that stays in its slot.
static bool is_used_up(const tl_fused_step *s, int32_t last) {
  if (tl_fused_is_operation(s) && s->viewed >= 0 && s->viewed <= last)
    return false;
  if (s->kind == TL_STEP_PLACE || s->kind == TL_STEP_SELECT ||
      (s->kind == TL_STEP_CALL && !s->is_inner))
    return false;
  bool stays = tl_fused_is_passive(s) &&
               (s->kind != TL_STEP_MOVE || s->d.op == TL_BC_MOVB);
  return stays || (s->consumer >= 0 && s->consumer <= last);
}

// --- Reductions within a unit ------------------------------------------------

// A reduction that only stands between operations, of an array that is there
// before, is computed when the unit is read:
//
//     t = x - mean(x)      inner: std(x), so that x ends with the unit and
//     r = t / std(x)       may be its memory, in one pass
//
// The step that computes its operand in this run; -1: it was there before.
static int32_t find_reduced(const tl_fusion *f, int32_t i) {
  int32_t maker = find_maker(f, i, (int32_t)f->steps[i].d.window);
  bool computes = maker >= 0 && (makes_array(&f->steps[maker]) ||
                                 tl_fused_is_consumer(&f->steps[maker]));
  return computes ? maker : -1;
}

// Whether step [i] may end what was there before step [first].
static bool ends_earlier(const tl_fusion *f, int32_t i, int32_t first) {
  const tl_decoded *d = &f->steps[i].d;
  for (uint32_t k = 0; k < d->operand_count; k++)
    if ((d->modes[k] == TL_MODE_CONSUME || d->modes[k] == TL_MODE_EITHER) &&
        find_maker(f, i, (int32_t)d->operands[k]) < first)
      return true;
  return false;
}

// Behind the steps that a unit would begin with and that nothing else in it
// reads, where they only make views, or end what was there before: that would
// live until the unit is computed.
//
//     r = (a * 2)[0]       r has ended, and with it a * 2, before the next line
//     y[:5] = y[-5:] / 2   makes a copy of y
//
// What computes of arrays that live on stays: it need not be computed then.
static int32_t skip_ended(const tl_fusion *f, int32_t first, int32_t last) {
  int32_t used = -1;  // the last step that reads what is made up to here
  bool computes = false, ends = false;
  for (int32_t i = first; i < last; i++) {
    const tl_fused_step *s = &f->steps[i];
    used = s->consumer > used ? s->consumer : used;
    if (s->kind != TL_STEP_DROP) {
      computes = computes || makes_array(s);
      ends = ends || ends_earlier(f, i, first);
    } else if (used <= i && (ends || !computes)) {
      first = i + 1;
      computes = ends = false;
    }
  }
  return first;
}

// The first step of the unit that ends with [last], whose reductions of earlier
// values are inner ones with [inner]. What they reduce lies before the unit.
static int32_t reach_back(tl_fusion *f, int32_t last, bool inner) {
  int32_t first = last, barrier = -1;
  for (; first - 1 > barrier; first--) {
    tl_fused_step *s = &f->steps[first - 1];
    s->is_inner = inner && s->kind == TL_STEP_CALL &&
                  tl_builtin_reduces(f->p->constants[s->d.extra].pointer);
    if (!is_used_up(s, last))
      break;
    int32_t reduced = s->is_inner ? find_reduced(f, first - 1) : -1;
    barrier = reduced > barrier ? reduced : barrier;
  }
  // What is dropped before it ends sooner without it, and reductions before its
  // first operation are none of its own.
  first = skip_ended(f, first, last);
  for (int32_t i = first; i < last && !makes_array(&f->steps[i]); i++)
    if (f->steps[i].kind == TL_STEP_CALL)
      first = i + 1;
  return first;
}

// Whether step [i] reads what a reduction between [from] and [to] gives.
static bool waits(const tl_fusion *f, int32_t i, int32_t from, int32_t to) {
  const tl_decoded *d = &f->steps[i].d;
  for (uint32_t k = 0; k < d->operand_count; k++) {
    int32_t maker = find_maker(f, i, (int32_t)d->operands[k]);
    if (maker > from && maker < to && f->steps[maker].kind == TL_STEP_CALL)
      return true;
  }
  return false;
}

// Whether a unit may have inner reductions: what they reduce was there before
// the run, or the unit waits for something else of it. Else it and the
// reductions could be computed together with that.
static bool has_good_inner(const tl_fusion *f, int32_t first, int32_t last) {
  for (int32_t i = first; i < last; i++) {
    if (f->steps[i].kind != TL_STEP_CALL)
      continue;
    int32_t reduced = find_reduced(f, i);
    bool good = reduced < 0;
    for (int32_t k = first; k < last && !good; k++)
      good = waits(f, k, reduced, first);
    if (!good)
      return false;
  }
  return true;
}

// A unit reaches back as far as every result in it is used up inside. What ends
// one may have been tried as inner before.
static int32_t find_first(tl_fusion *f, int32_t last) {
  f->steps[last].is_inner = false;
  int32_t first = reach_back(f, last, true);
  return has_good_inner(f, first, last) ? first : reach_back(f, last, false);
}

// --- Units ------------------------------------------------------------------

// Whether an array of which a view is taken ends in the unit: the result may go
// to the front of it, x[k:] - x[:-k], though it is of a single operation.
static bool ends_viewed(const tl_fusion *f, int32_t first, int32_t last) {
  for (int32_t i = first; i < last; i++)
    if (f->steps[i].kind == TL_STEP_VIEW &&
        may_end(&f->steps[i].d, (int32_t)f->steps[i].d.operands[0]))
      return true;
  return false;
}

// Whether something ends behind a call that is the last step: the function,
// with what it has captured, or an argument that an error's handler would read.
// It may be the result's memory.
static bool ends_called(const tl_fusion *f, int32_t last) {
  return f->steps[last].kind == TL_STEP_INLINE && last + 1 < f->count &&
         f->steps[last + 1].kind == TL_STEP_DROP;
}

// From the last step backward, to the end of [room]. Returns the first one of
// [*count] units.
static tl_fused_unit *find_units(tl_fusion *f, tl_fused_unit *room,
                                 int32_t *count) {
  tl_fused_unit *units = room + TL_FUSED_RUN;
  for (int32_t last = f->count - 1; last >= 0;) {
    const tl_fused_step *end = &f->steps[last];
    if (!tl_fused_is_operation(end) && !tl_fused_is_consumer(end)) {
      last--;
      continue;
    }
    int32_t first = find_first(f, last), operations = 0;
    for (int32_t i = first; i <= last; i++)
      operations += (makes_array(&f->steps[i]) && !f->steps[i].is_index) ||
                    f->steps[i].is_taken;
    bool part = operations <= (tl_fused_is_consumer(end) ? 0 : 1) &&
                (operations == 0 ||
                 !(ends_viewed(f, first, last) || ends_called(f, last)));
    *--units = (tl_fused_unit){first, last, part, 0};
    last = first - 1;
  }
  *count = (int32_t)(room + TL_FUSED_RUN - units);
  return units;
}

// The pc behind a unit. What an error's handler would read ends only behind the
// last operation: the unit takes that in, so that its result may go there.
static uint32_t end_of(const tl_fusion *f, const tl_fused_unit *u) {
  int32_t end = u->last + 1;
  while (tl_fused_is_operation(&f->steps[u->last]) && end < f->count &&
         f->steps[end].kind == TL_STEP_DROP &&
         find_maker(f, end, (int32_t)f->steps[end].d.operands[0]) < u->first)
    end++;
  return f->steps[end - 1].end;
}

// The regions of one run, in four passes over its steps:
//
//   find_consumers     who uses up which result
//   find_selections    x[mask] ends a unit
//   find_viewed        what must exist, because a view is made of it
//   find_units         stretches whose results are used up inside
//
// Units of one operation are regions only as parts of a group.
static bool find_in_run(tl_fusion *f) {
  tl_fused_unit room[TL_FUSED_RUN];
  int32_t n;
  find_consumers(f);
  find_selections(f);
  find_viewed(f);
  tl_fused_unit *units = find_units(f, room, &n);
  tl_fusion_find_groups(f, units, n);
  for (int32_t i = 0; i < n; i++) {
    const tl_fused_unit *u = &units[i];
    bool grouped = u->group_end > i || (i > 0 && units[i - 1].group_end >= i);
    if (u->part && !grouped)
      continue;
    tl_region region = {.start = f->steps[u->first].pc,
                        .end = end_of(f, u),
                        .together = end_of(f, &units[u->group_end]),
                        .is_part = u->part};
    if (!add_region(f, region))
      return false;
  }
  return true;
}

// Where a run that is too long is cut: the last place behind which one result
// at most is still to be read, so that no array more is made; else its end.
// What lies before the middle is not looked at, as each run has to get on.
static int32_t find_cut(tl_fusion *f) {
  find_consumers(f);
  for (int32_t cut = f->count; cut > TL_FUSED_RUN / 2; cut--) {
    int32_t left = 0;
    for (int32_t i = 0; i < cut && left < 2; i++)
      left += f->steps[i].d.result >= 0 && f->steps[i].kind != TL_STEP_LOAD &&
              (f->steps[i].consumer < 0 || f->steps[i].consumer >= cut);
    if (left < 2)
      return cut;
  }
  return f->count;
}

// One step alone is no region. Of a run that is [cut] what lies behind the cut
// begins the next one.
static bool end_run(tl_fusion *f, bool cut) {
  int32_t all = f->count;
  f->count = cut ? find_cut(f) : all;
  int32_t begin = f->count;
  bool ok = f->count < 2 || find_in_run(f);
  f->count = all - begin;
  memmove(f->steps, f->steps + begin, (size_t)f->count * sizeof *f->steps);
  memmove(f->results, f->results + begin,
          (size_t)f->count * sizeof *f->results);
  return ok;
}

// The items from which a region is faster than its operations one by one, as a
// power of two: measured (tests/bench/small). What is not made at all, views
// and what goes into a part or a reduction, pays at once. Where memory is
// promised, or a contract is to hold, it is no matter of speed.
static uint8_t least_items(const tl_fusion *f, const tl_region *region) {
  static const uint8_t least[] = {11, 11, 11, 9, 8, 7, 7}, at_once = 4;
  int operations = 0, others = 0, consumers = 0;
  for (uint32_t pc = region->start; pc < region->end;) {
    tl_decoded d;
    if (f->b->promises || tl_has_contract(f->p, pc))
      return 0;
    tl_decode(f->p, pc, &d);
    tl_region_step kind = step_of(f, pc, &d);
    if (kind == TL_STEP_OPERATION || kind == TL_STEP_CAST ||
        kind == TL_STEP_CLIP) {
      tl_op op = tl_region_op(d.op, d.extra);
      operations += 1 + (kind == TL_STEP_CLIP);
      others += op == TL_OP_WHERE;
    }
    if (kind == TL_STEP_INLINE) {
      bool known = tl_region_find_callee(&f->writers, pc, &d) != NULL;
      operations += 1 + known;
      others += known;
    }
    // An inner reduction decides nothing.
    bool ends = kind == TL_STEP_CALL && pc + d.words == region->end;
    others += kind == TL_STEP_VIEW || kind == TL_STEP_ROLL;
    consumers += ends || kind == TL_STEP_PLACE;
    pc += d.words;
  }
  if (others + consumers > 0 && operations > 1)
    return at_once;
  return consumers == 0 && operations < 7 ? least[operations] : 6;
}

// Attributes begin no region, however large the array: x.shape[0] is a number.
static void mark_attributes(tl_prototype *p, const tl_region *region) {
  for (uint32_t pc = region->start; pc < region->end;) {
    tl_decoded d;
    tl_decode(p, pc, &d);
    if (d.op == TL_BC_GETF && !tl_region_transposes(p->unit->names[d.extra]))
      p->region_items[pc] = TL_NO_REGION;
    pc += d.words;
  }
}

// Both tables in the unit's memory.
static bool cache_regions(tl_fusion *f) {
  tl_prototype *p = f->p;
  uint32_t count = f->region_count;
  if (count == 0)
    return true;
  p->regions = tl_unit_room(f->b, count * sizeof *p->regions);
  p->region_items = tl_unit_room(f->b, p->code_count);
  if (p->regions == NULL || p->region_items == NULL)
    return false;
  memcpy(p->regions, f->regions, count * sizeof *p->regions);
  memset(p->region_items, TL_NO_REGION, p->code_count);
  for (uint32_t i = 0; i < count; i++) {
    const tl_region *r = &p->regions[i];
    bool alone = r->is_part && r->together == r->end;  // of its group the last
    uint8_t least = alone ? TL_NO_REGION : least_items(f, r);
    memset(p->region_items + r->start, least, r->end - r->start);
    if (least < p->region_least)
      p->region_least = least;
    mark_attributes(p, r);
  }
  p->region_count = count;
  return true;
}

// A run ends at a step that no region can have, at a place that is jumped to,
// and where TL_FUSED_RUN steps are noted; the step at hand then begins the next
// one.
bool tl_find_regions(tl_builder *b, tl_prototype *function,
                     int32_t temporaries) {
  tl_fusion f;  // large: its steps are not cleared
  f.b = b;
  f.p = function;
  f.temporaries = temporaries;
  f.writers = (tl_writers){.p = function};
  f.leads = NULL;
  f.regions = NULL;
  f.count = 0;
  f.region_count = f.capacity = 0;
  fusion_find_joins(function);
  if (!mark_leads(&f))
    return false;
  for (uint32_t pc = 0; pc < function->code_count;) {
    tl_decoded d;
    tl_decode(function, pc, &d);
    tl_region_step kind = step_of(&f, pc, &d);
    bool ends = kind == TL_STEP_NONE || f.leads[pc];
    if ((ends || f.count == TL_FUSED_RUN) && !end_run(&f, !ends))
      return false;
    f.results[f.count] = d.result;
    if (kind != TL_STEP_NONE)
      f.steps[f.count++] = (tl_fused_step){
          pc, pc + d.words, d,     kind,  may_join(function, &d, kind),
          -1, -1,           false, false, false};
    pc += d.words;
  }
  return end_run(&f, false) && cache_regions(&f);
}
