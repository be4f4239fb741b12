// Fusion: units that share what they read run together, each with a result of
// its own (vm/region/region_multi.c).
#include "compiler/fusion_internal.h"

// Goes backward through moves: y = x; y + 1 has the maker of x as its source.
// Where none is in the run, the value was there before, and *root is the slot
// that had it.
int32_t tl_fusion_source(const tl_fusion *f, int32_t i, int32_t slot,
                         int32_t *root) {
  *root = slot;
  while (--i >= 0) {
    if (f->results[i] != *root)
      continue;
    const tl_fused_step *s = &f->steps[i];
    if (s->kind != TL_STEP_MOVE)
      return i;
    *root = (int32_t)s->d.operands[0];
  }
  return -1;
}

// Whether two values are of the same array: the same, or views of the same.
static bool is_same(const tl_fusion *f, int32_t i, int32_t x, int32_t k,
                    int32_t y) {
  int32_t x_root, y_root;
  int32_t a = tl_fusion_source(f, i, x, &x_root),
          b = tl_fusion_source(f, k, y, &y_root);
  while (a >= 0 && f->steps[a].kind == TL_STEP_VIEW)
    a = tl_fusion_source(f, a, (int32_t)f->steps[a].d.operands[0], &x_root);
  while (b >= 0 && f->steps[b].kind == TL_STEP_VIEW)
    b = tl_fusion_source(f, b, (int32_t)f->steps[b].d.operands[0], &y_root);
  if (a < 0 || b < 0)
    return a == b && x_root == y_root;
  const tl_decoded *c = &f->steps[a].d, *d = &f->steps[b].d;
  bool variables = (c->op == TL_BC_GETG || c->op == TL_BC_GETC) &&
                   d->op == c->op && d->extra == c->extra;
  return a == b ? f->steps[a].kind != TL_STEP_LOAD : variables;
}

// Operands in fields and in the window, of steps that read items; loads, moves
// and drops count as reading none.
static int32_t input_count(const tl_fused_step *s) {
  return tl_fused_is_operation(s) || tl_fused_is_consumer(s)
             ? (int32_t)(s->d.operand_count + s->d.window_count)
             : 0;
}

// The slot of input [i], those of the window last.
static int32_t input(const tl_fused_step *s, int32_t i) {
  int32_t operands = (int32_t)s->d.operand_count;
  return i < operands ? s->d.operands[i] : (int32_t)s->d.window + i - operands;
}

// Whether unit [u] reads the array that step [k] reads in slot [y].
static bool shares_with(const tl_fusion *f, const tl_fused_unit *u, int32_t k,
                        int32_t y) {
  for (int32_t i = u->first; i <= u->last; i++) {
    const tl_fused_step *s = &f->steps[i];
    for (int32_t n = 0; n < input_count(s); n++)
      if (is_same(f, i, input(s, n), k, y))
        return true;
  }
  return false;
}

// Whether a unit reads what an earlier one reads or makes.
static bool shares(const tl_fusion *f, const tl_fused_unit *earlier,
                   const tl_fused_unit *u) {
  for (int32_t k = u->first; k <= u->last; k++) {
    const tl_fused_step *s = &f->steps[k];
    for (int32_t n = 0; n < input_count(s); n++) {
      int32_t root, made = tl_fusion_source(f, k, input(s, n), &root);
      if ((made >= earlier->first && made <= earlier->last &&
           f->steps[made].kind != TL_STEP_LOAD) ||
          shares_with(f, earlier, k, input(s, n)))
        return true;
    }
  }
  return false;
}

// The result of a reduction, and an array with a new part, is there when all is
// computed, and no sooner; of what is computed there is no view.
static bool waits_for(const tl_fusion *f, int32_t first,
                      const tl_fused_unit *u) {
  for (int32_t i = first; i <= u->last; i++) {
    const tl_fused_step *s = &f->steps[i];
    if (tl_fused_is_operation(s) && s->viewed >= 0 && s->viewed <= u->last)
      return true;
    if (s->kind == TL_STEP_MOVE || s->kind == TL_STEP_LOAD)
      continue;
    int32_t count = (int32_t)(s->d.operand_count + s->d.window_count);
    for (int32_t n = 0; n < count; n++) {
      int32_t root, made = tl_fusion_source(f, i, input(s, n), &root);
      if (made >= first && tl_fused_is_consumer(&f->steps[made]) &&
          !f->steps[made].is_inner)
        return true;
    }
  }
  return false;
}

// Whether a group may go on to unit [u]: a reduction or an assignment only of
// what is computed in it.
static bool may_follow(const tl_fusion *f, const tl_fused_unit *units,
                       int32_t from, int32_t u) {
  const tl_fused_step *end = &f->steps[units[u].last];
  if (tl_fused_is_consumer(end) && !end->may_join)
    return false;
  for (int32_t i = units[u - 1].last + 1; i < units[u].first; i++)
    if (!tl_fused_is_passive(&f->steps[i]))
      return false;
  if (tl_fused_is_consumer(end)) {
    uint32_t slot =
        end->kind == TL_STEP_CALL ? end->d.window : end->d.operands[1];
    int32_t root,
        made = tl_fusion_source(f, units[u].last, (int32_t)slot, &root);
    if (made < units[from].first || !tl_fused_is_operation(&f->steps[made]))
      return false;
  }
  return !waits_for(f, units[from].first, &units[u]);
}

// Whether the result of a unit is still there after step [last].
static bool is_left(const tl_fusion *f, const tl_fused_unit *u, int32_t last) {
  int32_t at = u->last;
  while (f->steps[at].consumer >= 0 && f->steps[at].consumer <= last) {
    at = f->steps[at].consumer;
    if (f->steps[at].kind != TL_STEP_MOVE)
      return false;
  }
  return true;
}

// How many results of the group exist afterwards: one makes it no group, and
// more than TL_REGION_RESULTS a plan cannot write.
static int32_t count_left(const tl_fusion *f, const tl_fused_unit *units,
                          int32_t from, int32_t to) {
  int32_t left = 0;
  for (int32_t i = from; i <= to; i++)
    left += is_left(f, &units[i], units[to].last);
  return left;
}

// The last unit of the longest group that begins with unit [from].
static int32_t find_group(const tl_fusion *f, const tl_fused_unit *units,
                          int32_t n, int32_t from) {
  const tl_fused_step *begin = &f->steps[units[from].last];
  int32_t found = from;
  if (!tl_fused_is_operation(begin) && units[from].part)
    return from;
  if (tl_fused_is_consumer(begin) && !begin->may_join)
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

// Groups do not overlap: the search goes on behind the last unit of each. In
// every unit of one, group_end is that last unit.
void tl_fusion_find_groups(const tl_fusion *f, tl_fused_unit *units,
                           int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    int32_t end = find_group(f, units, n, i);
    for (; end > i; i++) units[i].group_end = end;
    units[i].group_end = end;
  }
}
