// Reading a region's instructions: calls whose function only a run knows: of
// closures, of parameters, of other modules. What is called must be the same
// code when the graph is used again; whose captures and variables are read
// stands in the graph's list of callees.
#include "vm/array/array.h"
#include "vm/error.h"
#include "vm/interp/module.h"
#include "vm/region/region_reader.h"

// --- What the code tells ----------------------------------------------------

// The group of a CLOSURE, or of another member's. A function that was moved
// more often than this is one that only a run knows.
static tl_prototype *find_member(const tl_writers *w, uint32_t pc,
                                 uint32_t slot) {
  enum { MOVES = 8 };
  uint32_t member = 0;
  tl_decoded d;
  for (int i = 0; i < MOVES && tl_writers_find(w, pc, slot, &pc, &d); i++) {
    if (d.op == TL_BC_CLOSURE) {
      const tl_group *group = &w->p->unit->groups[d.extra];
      return member < group->member_count ? group->members[member] : NULL;
    }
    if (d.op == TL_BC_LOADK &&
        tl_is_kind(w->p->constants[d.extra], TL_KIND_FUNCTION))
      return w->p->constants[d.extra].pointer;
    if (d.op == TL_BC_MEMBER)
      member = d.extra;
    else if (d.op != TL_BC_MOV && d.op != TL_BC_MOVB)
      return NULL;
    slot = d.operands[0];
  }
  return NULL;
}

tl_prototype *tl_region_find_callee(const tl_writers *w, uint32_t pc,
                                    const tl_decoded *call) {
  if (call->op == TL_BC_CALLK) {
    const tl_unit *unit = w->p->unit;
    bool known = call->extra < unit->prototype_count;
    return known ? unit->prototypes[call->extra] : NULL;
  }
  return find_member(w, pc, call->operands[0]);
}

bool tl_region_is_function(const tl_writers *w, uint32_t pc, uint32_t slot) {
  // What OWN is for but functions, arrays have not: a member of a module.
  uint32_t at;
  tl_decoded d;
  return tl_writers_find(w, pc, slot, &at, &d) &&
         (d.op == TL_BC_GETF || d.op == TL_BC_GETG || d.op == TL_BC_GETC);
}

// --- Whose code is read -----------------------------------------------------

static const tl_prototype *callee_code(const tl_region_graph *g, int callee) {
  return callee < 0 ? g->function : g->callees[callee].function;
}

static const tl_closure *callee_closure(const tl_region_graph *g, int callee) {
  if (callee < 0)
    return g->vm->frame->closure;
  tl_slot value = g->uses[g->callees[callee].use].value;
  return tl_is_kind(value, TL_KIND_CLOSURE) ? value.pointer : NULL;
}

tl_slot tl_region_variable(const tl_region_graph *g, int callee,
                           uint32_t variable) {
  const tl_module *module = callee_code(g, callee)->unit->module;
  return tl_borrow(module->variables[variable]);
}

tl_slot tl_region_capture(const tl_region_graph *g, int callee,
                          uint32_t capture) {
  const tl_closure *closure = callee_closure(g, callee);
  return closure == NULL ? tl_unset() : tl_borrow(closure->captures[capture]);
}

tl_slot tl_region_self(const tl_region_graph *g, int callee, uint32_t member) {
  const tl_closure *closure = callee_closure(g, callee);
  tl_slot value = tl_unset();
  if (closure != NULL) {
    value.pointer = (void *)(uintptr_t)closure;
    value.tag = TL_TAG_CLOSURE | (uint64_t)member << 32;
  }
  return value;
}

bool tl_region_member(const tl_region_graph *g, int callee, uint32_t name,
                      tl_slot module, tl_slot *value) {
  if (!tl_is_kind(module, TL_KIND_MODULE) ||
      !tl_module_get(g->vm, module.pointer,
                     callee_code(g, callee)->unit->names[name], value))
    return false;
  // Borrowed: no code that could assign it anew runs before it is called.
  bool stays =
      !tl_is_owned(*value) || ((const tl_object *)value->pointer)->count > 1;
  tl_drop(g->vm, *value);
  *value = tl_borrow(*value);
  return stays;
}

// --- Reading ----------------------------------------------------------------

// mm.f: the member of a module, where it is a function.
bool tl_reader_member(tl_region_reader *rd, const tl_decoded *d) {
  tl_slot value;
  int from;
  if (!tl_reader_look_up(rd, d->operands[0], &from) || from >= 0 ||
      !tl_region_member(rd->g, rd->callee, d->extra,
                        tl_reader_use(rd, from)->value, &value) ||
      !tl_is_function(value))
    return false;
  tl_reader_consume(rd, d->operands[0], from, d->modes[0]);
  int in = tl_reader_add_use(rd, value, -1, true);
  tl_reader_add_fact(rd, in,
                     (tl_region_fact){.from = TL_FROM_MEMBER,
                                      .at = d->extra,
                                      .of = {(int8_t)(-1 - from), rd->callee}});
  return in < 0 && tl_reader_bind(rd, (uint32_t)d->result, in, true);
}

// A function is held while it is called, and let go afterwards: the region
// must come that far.
bool tl_reader_own(tl_region_reader *rd, const tl_decoded *d) {
  int in, lent;
  if (!tl_reader_look_up(rd, d->operands[0], &in) || in >= 0)
    return false;
  tl_slot value = tl_reader_use(rd, in)->value;
  if (!tl_is_function(value))
    return false;
  tl_reader_add_fact(
      rd, in,
      (tl_region_fact){.from = TL_FROM_OWNED, .settled = tl_is_owned(value)});
  if (tl_is_owned(value))
    return true;
  lent = tl_reader_add_use(rd, value, -1, true);
  tl_reader_add_fact(
      rd, lent,
      (tl_region_fact){.from = TL_FROM_LENT, .of = {(int8_t)(-1 - in)}});
  return lent < 0 && tl_reader_bind(rd, d->operands[0], lent, false);
}

static int add_callee(tl_region_graph *g, const tl_prototype *function,
                      int use) {
  for (int i = 0; i < g->callee_count; i++) {
    if (g->callees[i].use == use)
      return i;
  }
  if (g->callee_count == TL_REGION_CALLEES)
    return -1;
  g->callees[g->callee_count].function = function;
  g->callees[g->callee_count].use = (int8_t)use;
  return g->callee_count++;
}

bool tl_reader_callee(tl_region_reader *rd, const tl_decoded *call,
                      tl_region_reader *inner) {
  tl_region_graph *g = rd->g;
  int in;
  if (call->op == TL_BC_CALLK) {
    inner->function = rd->function->unit->prototypes[call->extra];
    return true;
  }
  if (call->extra != 0 || !tl_reader_look_up(rd, call->operands[0], &in) ||
      in >= 0)
    return false;
  tl_slot value = tl_reader_use(rd, in)->value;
  if (!tl_is_kind(value, TL_KIND_FUNCTION) &&
      !tl_is_kind(value, TL_KIND_CLOSURE))
    return false;
  const tl_prototype *function = tl_function_prototype(value);
  if (function->joins < TL_JOINS || function->has_rest ||
      function->param_count != call->window_count)
    return false;
  int before = g->callee_count, callee = add_callee(g, function, -1 - in);
  if (callee < 0)
    return false;
  if (callee == before) {
    tl_reader_add_fact(
        rd, in,
        (tl_region_fact){.from = TL_FROM_CALLEE, .at = (uint32_t)callee});
  }
  inner->function = function;
  inner->callee = (int8_t)callee;
  return true;
}
