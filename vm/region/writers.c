#include "vm/region/writers.h"

size_t tl_writers_size(const tl_prototype *p) {
  size_t size = (size_t)p->slot_count + 2;
  tl_decoded d;
  for (uint32_t pc = 0; pc < p->code_count; pc += d.words) {
    tl_decode(p, pc, &d);
    size += d.result >= 0;
  }
  return size;
}

void tl_writers_index(tl_writers *w, const tl_prototype *p, uint32_t *memory) {
  w->p = p;
  w->first = memory;
  w->pcs = memory + p->slot_count + 2;
  // Counted two places on and summed, each slot's beginning is one place on;
  // as the pcs are filled in, it moves to the next slot's.
  uint32_t *next = w->first + 1;
  tl_decoded d;
  for (uint32_t pc = 0; pc < p->code_count; pc += d.words) {
    tl_decode(p, pc, &d);
    if (d.result >= 0)
      next[d.result + 1]++;
  }
  for (uint32_t i = 1; i <= p->slot_count; i++) next[i] += next[i - 1];
  for (uint32_t pc = 0; pc < p->code_count; pc += d.words) {
    tl_decode(p, pc, &d);
    if (d.result >= 0)
      w->pcs[next[d.result]++] = pc;
  }
}

static bool find_by_scan(const tl_prototype *p, uint32_t pc, uint32_t slot,
                         uint32_t *at) {
  bool found = false;
  tl_decoded d;
  for (uint32_t i = 0; i < pc; i += d.words) {
    tl_decode(p, i, &d);
    if (d.result == (int32_t)slot) {
      *at = i;
      found = true;
    }
  }
  return found;
}

static bool find_in_index(const tl_writers *w, uint32_t pc, uint32_t slot,
                          uint32_t *at) {
  uint32_t begin = w->first[slot], from = begin, to = w->first[slot + 1];
  while (from < to) {
    uint32_t middle = from + (to - from) / 2;
    if (w->pcs[middle] < pc)
      from = middle + 1;
    else
      to = middle;
  }
  if (from == begin)
    return false;
  *at = w->pcs[from - 1];
  return true;
}

bool tl_writers_find(const tl_writers *w, uint32_t pc, uint32_t slot,
                     uint32_t *at, tl_decoded *writer) {
  if (w->first == NULL ? !find_by_scan(w->p, pc, slot, at)
                       : !find_in_index(w, pc, slot, at))
    return false;
  tl_decode(w->p, *at, writer);
  return true;
}
