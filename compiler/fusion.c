// Fusion: runs of elementwise instructions in which each result but the last
// is used up. The analysis of ownership has marked where that is: a consumed
// operand is read for the last time. The VM computes such a run in one pass
// where it meets arrays (vm/region.h).

#include "compiler/fusion.h"

#include <string.h>

#include "vm/region.h"

enum { RUN_MAX = 64 };  // instructions looked at together

typedef struct step {
  uint32_t pc, end;
  tl_decoded d;
  bool is_load;
  int32_t consumer;  // the step that uses its result up, -1
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

static bool add_region(finder *f, uint32_t start, uint32_t end) {
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
  f->regions[f->region_count++] = (tl_region){start, end};
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

// Literals and module variables may be loaded on the way, into temporaries
// that nothing else sees.
static bool is_load(const finder *f, const tl_decoded *d) {
  return (d->op == TL_BC_LOADK || d->op == TL_BC_GETG) &&
         d->result >= f->temporaries;
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
  return found;
}

static void find_consumers(finder *f) {
  for (int32_t i = 0; i < f->count; i++) {
    f->steps[i].consumer = -1;
    int32_t slot = f->steps[i].d.result;
    for (int32_t k = i + 1; k < f->count; k++) {
      bool consumes;
      if (reads(&f->steps[k].d, slot, &consumes)) {
        // A loaded value is borrowed for good: any use will do.
        if (consumes || f->steps[i].is_load)
          f->steps[i].consumer = k;
        if (consumes)
          break;
      }
      if (f->steps[k].d.result == slot)
        break;
    }
  }
}

// From the last step backward: a region reaches as far as every result in it
// is used up inside.
static bool find_in_run(finder *f) {
  find_consumers(f);
  int32_t last = f->count - 1;
  uint32_t starts[RUN_MAX], ends[RUN_MAX];
  int32_t n = 0;
  while (last > 0) {
    if (f->steps[last].is_load) {
      last--;
      continue;
    }
    int32_t first = last;
    while (first > 0 && f->steps[first - 1].consumer >= first &&
           f->steps[first - 1].consumer <= last) {
      first--;
    }
    int32_t operations = 0;
    for (int32_t i = first; i <= last; i++) operations += !f->steps[i].is_load;
    if (operations > 1) {
      starts[n] = f->steps[first].pc;
      ends[n++] = f->steps[last].end;
    }
    last = first - 1;
  }
  while (n-- > 0) {
    if (!add_region(f, starts[n], ends[n]))
      return false;
  }
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
    bool load = is_load(&f, &d);
    bool belongs = load || tl_region_op(d.op, d.extra) != TL_OP_COUNT;
    if (!belongs || f.leads[pc] || f.count == RUN_MAX) {
      if (f.count > 1 && !find_in_run(&f))
        return false;
      f.count = 0;
    }
    if (belongs) {
      f.steps[f.count++] = (step){pc, pc + d.words, d, load, -1};
    }
    pc += d.words;
  }
  if (f.count > 1 && !find_in_run(&f))
    return false;
  function->regions = tl_unit_alloc(
      b->vm, b->unit, (f.region_count + 1) * sizeof *function->regions);
  if (function->regions == NULL) {
    b->failed = true;
    return false;
  }
  if (f.region_count > 0) {
    memcpy(function->regions, f.regions,
           f.region_count * sizeof *function->regions);
  }
  function->region_count = f.region_count;
  return true;
}
