// Why two operations are not computed in one pass: what comes between them, or
// a call that is no part of a region. Follows a result to its next use and
// notes the first obstacle on the way.
#include <inttypes.h>

#include "vm/observe/explain_internal.h"

// --- Calls ------------------------------------------------------------------

// The script function that an instruction calls and that no region takes in;
// NULL: it calls none, or one that only a run knows.
static const tl_prototype *find_called(const tl_explainer *e, uint32_t pc,
                                       const tl_decoded *d) {
  if (d->op != TL_BC_CALLK && d->op != TL_BC_CALL)
    return NULL;
  const tl_prototype *callee = tl_region_find_callee(&e->writers, pc, d);
  return callee != NULL && callee->joins > TL_JOINS_NOT &&
                 callee->joins < TL_JOINS
             ? callee
             : NULL;
}

// Says why a region cannot compute the callee.
static void put_called(const tl_explainer *e, uint32_t pc,
                       const tl_prototype *callee) {
  tl_text_puts(e->out, "apart from ");
  tl_explain_place(e, pc);
  tl_text_puts(e->out, ": ");
  const char *name = callee->name->length > 0 ? callee->name->text : "it";
  switch ((tl_inlining)callee->joins) {
    case TL_JOINS_NOT_LONG:
      tl_text_printf(e->out, "%s is long", name);
      break;
    case TL_JOINS_NOT_CATCHES:
      tl_text_printf(e->out, "%s catches errors", name);
      break;
    default:
      tl_text_printf(e->out,
                     "%s does more than compute items, in line %" PRIu32, name,
                     tl_line_at(callee, callee->joins_not));
      break;
  }
}

// Whether an operand comes from such a call; says so.
static bool put_called_before(const tl_explainer *e, const tl_explained *o) {
  for (uint32_t i = 0; i < o->d.operand_count; i++) {
    uint32_t at;
    tl_decoded d;
    if (!tl_explain_definition(e, o->pc, o->d.operands[i], &at))
      continue;
    tl_decode(e->p, at, &d);
    const tl_prototype *callee = find_called(e, at, &d);
    if (callee == NULL)
      continue;
    put_called(e, at, callee);
    return true;
  }
  return false;
}

// --- Operations -------------------------------------------------------------

// How many instructions are looked through for the use of a result.
enum { FAR = 200 };
#define NOWHERE UINT32_MAX

// The way of a result to the operation that uses it.
typedef struct way {
  uint32_t slot;     // that it stands in
  const char *why;   // the two are not one region, or NULL
  uint32_t between;  // the first instruction that does not fuse, or NOWHERE
} way;

// Whether it only moves or copies a reference.
static bool moves(const tl_decoded *d) {
  return d->op == TL_BC_MOV || d->op == TL_BC_MOVB;
}

// Whether a region goes on behind the instruction.
static bool goes_on(const tl_decoded *d) {
  return d->op == TL_BC_LOADK || d->op == TL_BC_LOADI || d->op == TL_BC_GETG ||
         moves(d) || tl_explain_is_elementwise(d);
}

// Says what stands between the result and the operation at [pc]; false: nothing
// that is known.
static bool put_between(const tl_explainer *e, uint32_t pc, const way *w) {
  if (w->why == NULL && w->between == NOWHERE)
    return false;
  tl_text_puts(e->out, "apart from ");
  tl_explain_place(e, pc);
  tl_text_puts(e->out, ": ");
  if (w->why != NULL) {
    tl_text_puts(e->out, w->why);
    return true;
  }
  tl_explain_place(e, w->between);
  tl_text_puts(e->out, " comes between");
  return true;
}

// The same for the instruction at [pc], which uses the result in [mode].
static bool put_user(const tl_explainer *e, uint32_t pc, const tl_decoded *d,
                     int mode, way *w) {
  if (tl_explain_is_elementwise(d)) {
    if (mode != TL_MODE_CONSUME && mode != TL_MODE_EITHER)
      w->why = "the result is used again after it";
    return put_between(e, pc, w);
  }
  const tl_prototype *callee = find_called(e, pc, d);
  if (callee != NULL)
    put_called(e, pc, callee);
  return callee != NULL;
}

// Looks for the next use of the result; false: there is nothing to say.
static bool put_apart(const tl_explainer *e, const tl_explained *o) {
  if (!tl_explain_is_elementwise(&o->d) || o->d.result < 0 ||
      (o->region != NULL && o->pc != tl_explain_result(e, o->region)))
    return false;
  way w = {.slot = (uint32_t)o->d.result, .between = NOWHERE};
  uint32_t left = e->p->code_count - o->pc;
  uint32_t end = o->pc + (left < FAR ? left : FAR);
  tl_decoded d;
  for (uint32_t pc = o->pc + o->d.words; pc < end; pc += d.words) {
    tl_decode(e->p, pc, &d);
    if (e->leads[pc])
      w.why = "a branch or loop comes between";
    int mode = tl_explain_mode(&d, w.slot);
    if (mode >= 0 && o->region != NULL && pc < o->region->together)
      return false;
    if (mode >= 0 && !moves(&d))
      return put_user(e, pc, &d, mode, &w);
    if (mode >= 0 && d.result >= 0)
      w.slot = (uint32_t)d.result;
    if (!goes_on(&d) && w.between == NOWHERE)
      w.between = pc;
    if (!d.falls_through || d.result == o->d.result)
      return false;
  }
  return false;
}

// First what uses the result; else, for an operation, whether a call before it
// is the reason.
bool tl_explain_apart(const tl_explainer *e, const tl_explained *o) {
  bool computes = tl_explain_is_elementwise(&o->d);
  return put_apart(e, o) || (computes && put_called_before(e, o));
}
