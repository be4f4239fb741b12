// Registers of a unit in those of the processor or at home, and jumps: see
// emit.h.
#include "vm/native/emit.h"

#if TL_HAS_JIT

void tl_jit_load(emitter *e, int to, int r) {
  read_payload(e, is_float(r), to, home_base(r), home(r));
}

void tl_jit_store(emitter *e, int from, int r) {
  write_payload(e, is_float(r), from, home_base(r), home(r));
}

int tl_jit_get(emitter *e, int r, int scratch) {
  if (e->reg[r] >= 0)
    return e->reg[r];
  tl_jit_load(e, scratch, r);
  return scratch;
}

void tl_jit_put(emitter *e, int r, int from) {
  if (e->reg[r] < 0)
    tl_jit_store(e, from, r);
}

void tl_jit_put_from(emitter *e, int r, int from) {
  int to = into(e, r, from);
  is_float(r) ? move_float(e, to, from) : move_int(e, to, from);
  tl_jit_put(e, r, to);
}

void tl_jit_put_word(emitter *e, int r, int base, int32_t at) {
  int to = into(e, r, is_float(r) ? 0 : T0);
  read_payload(e, is_float(r), to, base, at);
  tl_jit_put(e, r, to);
}

void tl_jit_jump_to(emitter *e, int condition, int32_t to) {
  tl_jit_jump_if(e, condition, to < 0 ? FIX_EXIT : FIX_LABEL,
                 to < 0 ? -1 - to : to);
}

void tl_jit_decide(emitter *e, const tl_typed *t, int condition) {
  if (tl_jit_jumps(t->op)) {
    tl_jit_jump_to(e, condition, t->to);
    return;
  }
  int a = into(e, t->a, T0);
  set_condition(e, a, condition);
  tl_jit_put(e, t->a, a);
}

void tl_jit_go_to(emitter *e, int32_t to) {
  jump(e, to < 0 ? FIX_EXIT : FIX_LABEL, to < 0 ? -1 - to : to);
}

void tl_jit_leave_if(emitter *e, int condition, const tl_typed *t) {
  tl_jit_jump_to(e, condition, -t->exit - (t->exit < -1 ? 2 : 1));
}

void tl_jit_jump_if(emitter *e, int condition, fix_kind kind, int32_t to) {
  jump_if(e, condition, kind, to);
}

#endif
