// Runs of a plan's steps as pieces: see pieces.h.
//
//     a plan that is finished
//       describe      what a run of steps does, by the plan's values
//       find_piece    its code, by that description, from the VM's table
//       drop_unread   steps that no step and no result needs any more
//       allot         registers for what is still in memory
//     the plan with pieces
//
// Its cost is bounded by the sizes of a plan and of the table, and it asks for
// memory only for new pieces. Plans that cannot be rewritten stay as they are.
//
// Built for size.
#include "vm/native/pieces.h"

#include "vm/native/jit_internal.h"

#if TL_JIT_X64

// Pieces of one VM: 1,024 of them take about a megabyte.
enum { PLACES = 512, MOST = 1024 };

// A piece that was asked for. Plans point to [head], so it stays while a plan
// that is kept has it, and the one that was made last.
typedef struct tl_kept_piece {
  tl_plan_piece head;          // run is NULL: it cannot be encoded
  struct tl_kept_piece *next;  // of the same place
  uint64_t asked;              // the last plan that it was asked for by
  uint32_t holds;              // steps of plans that are kept
  uint32_t nbytes;
  tl_vector_piece piece;  // cut behind its last operation
} kept_piece;

// The table, which owns the code and the records. It is there from the first
// plan that might have a piece to the VM's end; a place is a chain of records
// whose descriptions have the same hash modulo PLACES.
struct tl_pieces {
  tl_code_chunk *chunks;
  uint64_t plans;  // that have asked for pieces
  int count;
  bool is_off;  // code was refused or given up
  kept_piece *places[PLACES];
};

// The forms need what the kernels of their sets need, so the same test does.
// NULL: there is none for these kernels.
static const tl_vector_form *find_form(void) {
  const char *name = tl_kernels()->name;
  return strcmp(name, "avx512") == 0 ? &tl_vector_512
         : strcmp(name, "avx2") == 0 ? &tl_vector_256
                                     : NULL;
}

// Whether plans are given pieces: machine code is on and has not been refused,
// and there is a form for the kernels in use.
static bool is_on(const tl_vm *vm) {
  const struct tl_pieces *all = vm->jit == NULL ? NULL : vm->jit->pieces;
  return vm->jit != NULL && !vm->jit->is_off && find_form() != NULL &&
         (all == NULL || !all->is_off);
}

// --- Without code -----------------------------------------------------------

// Items that all operations of a piece are computed for at once.
enum { ITEMS = 32, NBYTES = ITEMS * 8 };

// The state of a piece that kernels run: on the stack, 11 KiB, as it may run on
// any thread and when no memory is left.
typedef struct by_kernels {
  const tl_vector_piece *piece;
  const tl_plan_value *values;
  size_t first, count;  // of the items
  _Alignas(64) char made[TL_PIECE_OPERATIONS][NBYTES];
  _Alignas(64) char singles[3][NBYTES];
} by_kernels;

// Operand [k] of operation [i], which computes in items of [size]: made before,
// one item repeated, or where the block has it.
static const void *find_operand(by_kernels *b, int i, int k, size_t size) {
  const tl_piece_operation *o = &b->piece->operations[i];
  int value = o->in[k];
  const char *at = b->values[value].at;
  if ((o->singles >> k & 1) != 0) {
    for (size_t n = 0; n < b->count; n++)
      memcpy(b->singles[k] + n * size, at, size);
    return b->singles[k];
  }
  for (int j = 0; j < i; j++) {
    if (b->piece->operations[j].out == value)
      return b->made[j];
  }
  return at + b->first * size;
}

// Operation [i] into its room. Steps of a piece have operands of one dtype, for
// which there always is a kernel.
static void run_operation(by_kernels *b, int i) {
  const tl_piece_operation *o = &b->piece->operations[i];
  const tl_kernel_table *kernels = tl_kernels();
  int arity = tl_ops[o->op].arity;
  const void *in[3];
  for (int k = 0; k < arity; k++) {
    bool is_choice = o->op == TL_OP_WHERE && k == 0;
    in[k] = find_operand(b, i, k, is_choice ? 1 : tl_itemsize(o->dtype));
  }
  if (arity == 1)
    kernels->unary[o->op][o->dtype](b->made[i], in[0], b->count);
  else if (arity == 2)
    kernels->binary[o->op][o->dtype](b->made[i], in[0], in[1], b->count);
  else
    kernels->select[tl_move_size(tl_itemsize(o->dtype))](
        b->made[i], in[0], in[1], in[2], b->count);
}

// A piece whose code was given up: as the code does it, so that values are
// written behind all reads of the same items.
static void run_by_kernels(const tl_plan_value *values, size_t n,
                           const tl_plan_piece *piece) {
  by_kernels b;
  b.piece = &((const kept_piece *)(const void *)piece)->piece;
  b.values = values;
  for (b.first = 0; b.first < n; b.first += ITEMS) {
    b.count = n - b.first < ITEMS ? n - b.first : ITEMS;
    for (int i = 0; i < b.piece->count; i++) run_operation(&b, i);
    for (int i = 0; i < b.piece->count; i++) {
      const tl_piece_operation *o = &b.piece->operations[i];
      size_t size = values[o->out].itemsize;
      if (o->is_stored)
        memcpy(values[o->out].at + b.first * size, b.made[i], b.count * size);
    }
  }
}

// --- The table --------------------------------------------------------------

// Bytes of a piece, without the operations that it does not have: what is
// hashed, compared and kept.
static size_t nbytes_of(const tl_vector_piece *p) {
  return offsetof(tl_vector_piece, operations) +
         (size_t)p->count * sizeof *p->operations;
}

// FNV-1a of the bytes: descriptions have no gaps that are unset. At most about
// 330 bytes, and once for each run of steps that is tried.
static uint32_t hash(const tl_vector_piece *p) {
  const uint8_t *bytes = (const uint8_t *)p;
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < nbytes_of(p); i++) h = (h ^ bytes[i]) * 16777619u;
  return h;
}

// Code as data, for those who copy and drop it.
static void *code_of(const kept_piece *k) {
  void *code;
  memcpy(&code, &k->head.run, sizeof code);
  return code;
}

// Makes room: the pieces go that no plan has which is kept or being made. They
// are many, as memory for code is free again where all of a chunk is. False:
// there is none.
static bool evict(tl_vm *vm) {
  struct tl_pieces *all = vm->jit->pieces;
  int before = all->count;
  for (int i = 0; i < PLACES; i++) {
    for (kept_piece **at = &all->places[i], *k; (k = *at) != NULL;) {
      if (k->holds > 0 || k->asked == all->plans) {
        at = &k->next;
        continue;
      }
      *at = k->next;
      tl_code_drop(all->chunks, code_of(k));
      tl_spare_free(vm, k, k->nbytes);
      all->count--;
    }
  }
  return all->count < before;
}

// Encodes a piece. Where memory for it is refused although others have made
// room, that of all goes: the VM is at its limit, or its pages cannot be run
// any more.
static void make_code(tl_vm *vm, kept_piece *k) {
  tl_assembler as = {.vm = vm};
  if (tl_piece_emit(&k->piece, find_form(), &as)) {
    void *code = NULL;
    do {
      if (!as.is_full)
        code = tl_code_put(vm, &vm->jit->pieces->chunks, as.bytes, as.size);
    } while (code == NULL && !as.is_full && evict(vm));
    if (code != NULL)
      memcpy(&k->head.run, &code, sizeof code);
    else
      tl_pieces_drop(vm);
  }
  tl_as_close(&as);
}

// A piece that can run, encoded if it is not in the table; NULL: it cannot.
static tl_plan_piece *find_piece(tl_vm *vm, const tl_vector_piece *p) {
  struct tl_pieces *all = vm->jit->pieces;
  kept_piece **place = &all->places[hash(p) % PLACES], *k = *place;
  while (k != NULL && (k->piece.count != p->count ||
                       memcmp(&k->piece, p, nbytes_of(p)) != 0))
    k = k->next;
  if (k == NULL) {
    size_t nbytes = offsetof(kept_piece, piece) + nbytes_of(p);
    bool has_room = is_on(vm) && (all->count < MOST || evict(vm));
    k = has_room ? tl_spare_alloc(vm, nbytes) : NULL;
    if (k == NULL)
      return NULL;
    k->head.run = NULL;
    k->holds = 0;
    k->nbytes = (uint32_t)nbytes;
    memcpy(&k->piece, p, nbytes_of(p));
    make_code(vm, k);
    k->next = *place;
    *place = k;
    all->count++;
  }
  k->asked = all->plans;
  return k->head.run == NULL ? NULL : &k->head;
}

// See tl_piece_maker. Plans may be held and let go when their code is gone.
static void hold(const tl_plan *plan, int change) {
  for (int i = 0; i < plan->step_count; i++) {
    const tl_plan_step *s = &plan->steps[i];
    if (s->arity == TL_PLAN_PIECE)
      ((kept_piece *)(void *)s->piece)->holds += (uint32_t)change;
  }
}

// The table, when the first piece is asked for: most VMs need none. False: no
// memory, and plans stay as they are.
static bool open_pieces(tl_vm *vm) {
  if (vm->jit->pieces == NULL) {
    vm->jit->pieces = tl_spare_alloc(vm, sizeof *vm->jit->pieces);
    if (vm->jit->pieces != NULL)
      memset(vm->jit->pieces, 0, sizeof *vm->jit->pieces);
  }
  return vm->jit->pieces != NULL;
}

// Records stay, as plans point to them.
void tl_pieces_drop(tl_vm *vm) {
  struct tl_pieces *all = vm->jit->pieces;
  if (all == NULL)
    return;
  all->is_off = true;
  for (int i = 0; i < PLACES; i++) {
    for (kept_piece *k = all->places[i]; k != NULL; k = k->next) {
      if (k->head.run != NULL)
        k->head.run = run_by_kernels;
    }
  }
  tl_code_close(vm, all->chunks);
  all->chunks = NULL;
}

// Twice does no harm, and a VM without machine code has no table.
void tl_pieces_close(tl_vm *vm) {
  struct tl_pieces *all = vm->jit == NULL ? NULL : vm->jit->pieces;
  if (all == NULL)
    return;
  for (int i = 0; i < PLACES; i++) {
    for (kept_piece *k = all->places[i], *next; k != NULL; k = next) {
      next = k->next;
      tl_spare_free(vm, k, k->nbytes);
    }
  }
  tl_code_close(vm, all->chunks);
  tl_spare_free(vm, all, sizeof *all);
  vm->jit->pieces = NULL;
}

// --- Steps ------------------------------------------------------------------

// Whether a step may be part of a piece: one that is computed for all items, by
// one operation that has an instruction.
static bool is_known(const tl_plan_step *s) {
  return !s->single && !s->once && s->op < TL_OP_COUNT &&
         tl_piece_knows((tl_op)s->op, (tl_dtype)s->dtype);
}

// Whether a step, which is no piece and no host's, reads a value.
static bool reads(const tl_plan_step *s, int value) {
  return s->arity > 0 && memchr(s->in, value, s->arity) != NULL;
}

// Whether the consumer takes the value from memory.
static bool is_result(const tl_plan *plan, int value) {
  int i = 0;
  while (i < plan->result_count && plan->results[i] != value) i++;
  return i < plan->result_count;
}

// Whether a value has to be in memory behind step [to].
static bool is_read_after(const tl_plan *plan, int to, int value) {
  if (value < plan->stream_count || is_result(plan, value))
    return true;
  for (int i = to; i < plan->step_count; i++) {
    if (reads(&plan->steps[i], value))
      return true;
  }
  return false;
}

// The stream whose one item a register was filled with; -1: no such one. A
// piece reads the item itself, so that the register may be needless.
static int filled_from(const tl_plan *plan, int value) {
  if (!plan->values[value].splat)
    return -1;
  for (int i = 0; i < plan->step_count; i++) {
    const tl_plan_step *s = &plan->steps[i];
    if (s->out == value)
      return s->in[0] < plan->stream_count ? s->in[0] : -1;
  }
  return -1;
}

// Steps [from, to) as a piece, which has no gaps of unset bytes.
static void describe(const tl_plan *plan, int from, int to,
                     tl_vector_piece *p) {
  memset(p, 0, sizeof *p);
  for (int i = from; i < to; i++) {
    const tl_plan_step *s = &plan->steps[i];
    tl_piece_operation *o = &p->operations[p->count++];
    o->op = s->op;
    o->dtype = s->dtype;
    o->out = s->out;
    o->is_stored = is_read_after(plan, to, s->out);
    for (int k = 0; k < s->arity; k++) {
      const tl_plan_value *v = &plan->values[s->in[k]];
      int source = filled_from(plan, s->in[k]);
      o->in[k] = source >= 0 ? (uint8_t)source : s->in[k];
      if (source >= 0 || (v->single && !v->splat))
        o->singles |= (uint8_t)(1u << k);
    }
  }
}

// --- Plans ------------------------------------------------------------------

// Of one plan; they lie on the C stack.
enum { PIECES_MOST = 40 };

// The plan that is to replace [plan], which it is like in all that is not here.
typedef struct rewriter {
  tl_plan *plan;
  tl_plan_value values[TL_PLAN_VALUES];
  int once_count, register_count;
  tl_plan_step steps[TL_PLAN_STEPS];
  tl_vector_piece pieces[PIECES_MOST];  // of steps, by number
  int8_t piece_of[TL_PLAN_STEPS];       // -1: a step
  int count, piece_count;
} rewriter;

// Whether step [i] of the new ones reads a value, or writes it, from memory.
static bool touches(const rewriter *r, int i, int value, bool writes) {
  const tl_plan_step *s = &r->steps[i];
  if (r->piece_of[i] < 0)
    return writes ? s->out == value : reads(s, value);
  const tl_vector_piece *p = &r->pieces[r->piece_of[i]];
  for (int k = 0; k < p->count; k++) {
    const tl_piece_operation *o = &p->operations[k];
    if (writes && o->is_stored && o->out == value)
      return true;
    for (int j = 0; !writes && j < tl_ops[o->op].arity; j++) {
      if (o->in[j] == value)
        return true;
    }
  }
  return false;
}

// Takes out the steps that filled a register with one item which only pieces
// read, since these read it from where it came from. Steps stay in their order,
// so those that run once still come first.
static void drop_unread(rewriter *r) {
  int kept = 0;
  for (int i = 0; i < r->count; i++) {
    bool is_read = r->piece_of[i] >= 0 ||
                   r->steps[i].out < r->plan->stream_count ||
                   is_result(r->plan, r->steps[i].out);
    for (int k = i + 1; k < r->count && !is_read; k++)
      is_read = touches(r, k, r->steps[i].out, false);
    if (!is_read) {
      r->values[r->steps[i].out].where = -1;
      r->once_count -= r->steps[i].once;
      continue;
    }
    r->steps[kept] = r->steps[i];
    r->piece_of[kept++] = r->piece_of[i];
  }
  r->count = kept;
}

// Registers for the whole run, of streams and constants, and none for what
// stays within a piece. Sets in [ends] the step that reads each value last.
// Whether a value may have a register was decided when the plan was finished:
// here it only loses it, if no step writes it to memory any more.
static void allot_lasting(rewriter *r, int16_t *ends) {
  const tl_plan *plan = r->plan;
  r->register_count = 0;
  for (int v = 0; v < plan->value_count; v++) {
    tl_plan_value *value = &r->values[v];
    int from = -1, to = is_result(plan, v) ? r->count : -1;
    for (int i = 0; i < r->count; i++) {
      if (touches(r, i, v, true) && from < 0)
        from = i;
      if (touches(r, i, v, false) && to < i)
        to = i;
    }
    ends[v] = (int16_t)(to < from ? from : to);
    if (v >= plan->stream_count && from < 0)
      value->where = -1;
    else if (value->where >= 0 && (v < plan->stream_count || value->constant))
      value->where = (int8_t)r->register_count++;
  }
}

// All registers anew, as pieces need fewer; the others from the step that
// writes them to the last that reads them. A piece writes several while it
// reads several, which can be more than a plan may have: false then.
static bool allot(rewriter *r) {
  const tl_plan *plan = r->plan;
  uint32_t free = 0;
  int16_t ends[TL_PLAN_VALUES];
  allot_lasting(r, ends);
  for (int i = 0; i < r->count; i++) {
    for (int v = plan->stream_count; v < plan->value_count; v++) {
      tl_plan_value *value = &r->values[v];
      if (value->where < 0 || value->constant || !touches(r, i, v, true))
        continue;
      if (free == 0 && r->register_count >= TL_PLAN_REGISTERS)
        return false;
      if (free == 0)
        free = 1u << r->register_count++;
      value->where = (int8_t)__builtin_ctz(free);
      free &= free - 1;
    }
    for (int v = plan->stream_count; v < plan->value_count; v++) {
      const tl_plan_value *value = &r->values[v];
      if (value->where >= 0 && !value->constant && ends[v] == i)
        free |= 1u << value->where;
    }
  }
  return r->register_count <= TL_PLAN_REGISTERS;
}

// Appends what begins at step [from]: the longest piece that has code, or that
// step as it is, as one operation alone has a kernel that is as good. Returns
// the step behind it. What cannot be encoded is tried without its last
// operation; the table remembers that, so that it is found out once.
static int add_piece(tl_vm *vm, rewriter *r, int from) {
  tl_plan *plan = r->plan;
  int to = from;
  while (to < plan->step_count && is_known(&plan->steps[to]) &&
         to - from < TL_PIECE_OPERATIONS)
    to++;
  for (; r->piece_count < PIECES_MOST && to - from > 1; to--) {
    tl_vector_piece *p = &r->pieces[r->piece_count];
    describe(plan, from, to, p);
    tl_plan_piece *piece = find_piece(vm, p);
    if (piece == NULL)
      continue;
    r->piece_of[r->count] = (int8_t)r->piece_count++;
    r->steps[r->count++] = (tl_plan_step){
        .arity = TL_PLAN_PIECE, .out = p->operations[0].out, .piece = piece};
    return to;
  }
  r->piece_of[r->count] = -1;
  r->steps[r->count++] = plan->steps[from];
  return from + 1;
}

// Rewrites the plan in place; borrows it, and the pieces that it points to then
// are the VM's. A plan that failed, that has a host's steps, or for which no
// piece can be encoded stays as it is: that is no error.
// The plan is replaced at the end, when nothing can be refused any more.
static void make(tl_vm *vm, tl_plan *plan) {
  if (plan->failed || plan->is_hosts || !is_on(vm) || !open_pieces(vm))
    return;
  rewriter r;
  vm->jit->pieces->plans++;
  r.plan = plan;
  r.count = r.piece_count = 0;
  r.once_count = plan->once_count;
  for (int i = 0; i < plan->step_count;) i = add_piece(vm, &r, i);
  if (r.piece_count == 0)
    return;
  memcpy(r.values, plan->values, (size_t)plan->value_count * sizeof *r.values);
  drop_unread(&r);
  if (!allot(&r))
    return;
  memcpy(plan->values, r.values, (size_t)plan->value_count * sizeof *r.values);
  memcpy(plan->steps, r.steps, (size_t)r.count * sizeof *r.steps);
  plan->step_count = r.count;
  plan->once_count = r.once_count;
  plan->register_count = r.register_count;
}

const tl_piece_maker tl_pieces = {.make = make, .hold = hold};

#else

// No emitter for the processor's vectors: plans stay as they are.
const tl_piece_maker tl_pieces = {NULL, NULL};
void tl_pieces_drop(tl_vm *vm) {
  (void)vm;
}
void tl_pieces_close(tl_vm *vm) {
  (void)vm;
}

#endif
