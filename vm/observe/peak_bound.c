// Bounds of peak memory: the instructions of a function on what is known of
// its values, as often as that changes where ways meet.
//
//     walk        values of the slots, and of those that wait at jump targets
//       step      one instruction: a new array, a view, an end …
//       note      what is alive now, if that is the most
//
// An operand that ends with an instruction, or with a fused region, is pending
// until then: it is alive, and a result may get its block.
//
// Built for size.
#include "vm/observe/peak_bound.h"

#include <inttypes.h>
#include <string.h>

#include "vm/array/array.h"
#include "vm/engine/elementwise.h"
#include "vm/index/index.h"
#include "vm/memory/memory.h"
#include "vm/observe/explain_internal.h"
#include "vm/observe/rejection.h"
#include "vm/observe/peak_internal.h"
#include "vm/error.h"
#include "vm/types/type.h"

// A region of more operands, a deeper call, or a function that still changes
// after so many passes is reported as not known. Three owners fit a line of the
// report.
enum {
  PENDING = 32,  // operands that end in one region
  PASSES = 8,    // over a function, until nothing changes
  CALLS = 6,     // of functions in one another
  OWNERS = 3,    // that a report names
  // The numbers of blocks: twice a pc for those that are made, and from here on
  // for those of arguments and of slots where ways meet.
  OF_ARGUMENT = 1 << 29,
  OF_JOIN = 1 << 30,
};

// What was alive where most was. Only for the report: the bound itself is
// walk.peak, which may be larger than any one place where several compete.
typedef struct most {
  double weight;
  uint32_t pc;
  tl_product made;  // by the instruction at pc
  int count;
  uint32_t slot[OWNERS];
  tl_peak_value owner[OWNERS];
} most;

// Pointers are tables of the function, made by open_walk; [symbols] is shared
// by all functions that one report runs through, since a callee's lengths are
// those of its caller.
typedef struct walk {
  tl_vm *vm;
  const tl_prototype *p;
  tl_peak_symbols *symbols;
  tl_writers writers;
  uint32_t *memory;  // of the writers
  int depth;
  bool is_silent;  // within a region: nothing has memory
  tl_peak_value *now;
  // At each pc that is jumped to, its values; NULL: not come to yet.
  tl_peak_value **saved;
  bool changed;
  tl_peak_value pending[PENDING];
  int pending_count;
  // The pc behind the region or instruction with which all of them end.
  uint32_t pending_until;
  // Blocks that are read until then otherwise than item on item.
  uint32_t shown[PENDING];
  int shown_count;
  tl_sum peak;
  most most;
  tl_peak_value result;
  // Why it cannot be bounded; NULL: it can.
  const char *why;
  const char *name;    // that [why] is about, or ""
  const char *inside;  // the function that is called there; NULL: none
  uint32_t why_pc;
} walk;

// Notes why the function cannot be bounded; the first reason stays. [name] is
// what it is about, or empty: both are put in front of [why]. Returns false, so
// that callers can return it.
static bool fail(walk *w, uint32_t pc, const char *name, const char *why) {
  if (w->why == NULL) {
    w->why = why;
    w->name = name;
    w->why_pc = pc;
  }
  return false;
}

static const char no_shape[] =
    "the shape of an operand is not known: parameters with types give it, as "
    "in x :: `N * float64`";

static const char too_many[] = "has more parameters than are followed";

// --- What is alive -----------------------------------------------------------

// Whether an owner of the block comes before this one. Owners are slots; with
// the number of slots it says whether any has the block.
static bool is_counted(const walk *w, uint32_t slot, uint32_t block) {
  for (uint32_t i = 0; i < slot; i++)
    if (w->now[i].owns && w->now[i].block == block)
      return true;
  return false;
}

// The bytes that are alive now: each block once, whoever owns it, and what ends
// with the instruction or region under way.
static tl_sum sum_live(const walk *w) {
  tl_sum sum = {.count = 0};
  uint32_t count = w->p->slot_count;
  for (uint32_t i = 0; i < count; i++)
    if (w->now[i].owns && !is_counted(w, i, w->now[i].block))
      tl_sum_add(&sum, &w->now[i].held);
  for (int i = 0; i < w->pending_count; i++)
    if (w->pending[i].owns && !is_counted(w, count, w->pending[i].block))
      tl_sum_add(&sum, &w->pending[i].held);
  return sum;
}

// Names the largest owners of now. The first of them in the order of slots,
// each block once.
static void name_owners(walk *w) {
  w->most.count = 0;
  for (uint32_t i = 0; i < w->p->slot_count && w->most.count < OWNERS; i++) {
    if (!w->now[i].owns || is_counted(w, i, w->now[i].block))
      continue;
    w->most.slot[w->most.count] = i;
    w->most.owner[w->most.count++] = w->now[i];
  }
}

// Notes what is alive, [sum] and what the instruction makes. The bound takes in
// every state; the report names that with the largest weight, the first of
// equal ones.
static void note(walk *w, uint32_t pc, const tl_sum *sum,
                 const tl_product *made) {
  double weight = tl_sum_weigh(sum);
  tl_sum_max(&w->peak, sum);
  if (weight <= w->most.weight)
    return;
  w->most.weight = weight;
  w->most.pc = pc;
  w->most.made = *made;
  name_owners(w);
}

// --- Blocks ------------------------------------------------------------------

// Whether something that is alive has a block of that number. What waits at
// jump targets is not looked at: it counts when control gets there.
static bool is_in_use(const walk *w, uint32_t block) {
  bool used = is_counted(w, w->p->slot_count, block);
  for (int i = 0; i < w->pending_count; i++)
    used = used || (w->pending[i].owns && w->pending[i].block == block);
  return used;
}

// Notes that a view of the block is read, x[::-1] or m[0], or a rolled array.
static bool show(walk *w, uint32_t pc, const tl_peak_value *v) {
  if (v->kind != TL_PEAK_ARRAY)
    return true;
  if (w->shown_count == PENDING)
    return fail(w, pc, "", "too many views are read in one region");
  w->shown[w->shown_count++] = v->block;
  return true;
}

// Whether the block is among those.
static bool is_shown(const walk *w, uint32_t block) {
  for (int i = 0; i < w->shown_count; i++)
    if (w->shown[i] == block)
      return true;
  return false;
}

// The pending operand whose block a result may get; NULL. As the VM decides it:
// an owned block that no slot owns, too, of the same shape and item size. Of a
// view that is read the VM copies what is small; how small is not known here.
static tl_peak_value *find_reusable(walk *w, const tl_peak_value *v) {
  for (int i = 0; i < w->pending_count; i++) {
    tl_peak_value *x = &w->pending[i];
    if (x->kind == TL_PEAK_ARRAY && x->owns && !x->is_view &&
        tl_itemsize(x->dtype) == tl_itemsize(v->dtype) &&
        tl_peak_same_shape(x, v) &&
        !is_counted(w, w->p->slot_count, x->block) && !is_shown(w, x->block))
      return x;
  }
  return NULL;
}

// Gives an array the block of the instruction. That of the last turn may still
// be there: two are told apart.
static bool new_block(walk *w, uint32_t pc, tl_peak_value *v) {
  v->block = 2 * pc + is_in_use(w, 2 * pc);
  return !is_in_use(w, v->block) ||
         fail(w, pc, "", "more arrays of it are alive than can be told apart");
}

// Gives an array its block: that of an operand that ends, where [reuses], or a
// new one. On true *v has its block, and the peak includes it. [reuses] is for
// elementwise results; what fills an array from nothing needs a new one.
static bool make(walk *w, uint32_t pc, tl_peak_value *v, bool reuses) {
  v->is_view = v->is_virtual = false;
  v->since = pc;
  v->owns = !w->is_silent;
  // In a region of the caller's the result is the region's.
  if (w->is_silent)
    return true;
  tl_peak_value *x = reuses ? find_reusable(w, v) : NULL;
  if (x != NULL) {
    v->block = x->block;
    v->held = x->held;
    x->owns = false;
    return true;
  }
  if (!tl_peak_bytes(v, &v->held))
    return fail(w, pc, "", "its size is no number of 64 bits");
  tl_sum sum = sum_live(w);
  tl_sum_add(&sum, &v->held);
  note(w, pc, &sum, &v->held);
  return new_block(w, pc, v);
}

// --- Operands ----------------------------------------------------------------

// A value ends here, or with the region. What owns stays pending, so that it
// counts while the instruction runs and a result may have its block.
static bool end(walk *w, uint32_t pc, tl_peak_value *v) {
  if (v->owns) {
    if (w->pending_count == PENDING)
      return fail(w, pc, "", "too much ends in one region");
    w->pending[w->pending_count++] = *v;
  }
  *v = (tl_peak_value){.kind = TL_PEAK_UNSET};
  return true;
}

// Whether operand [i] ends here, if it owns. What it owned in the caller is the
// caller's, and was never counted.
static bool ends(const tl_decoded *d, uint32_t i) {
  return d->modes[i] == TL_MODE_CONSUME || d->modes[i] == TL_MODE_EITHER;
}

// Ends all that the instruction consumes. Windows are always consumed: they are
// the slots of a call's arguments.
static bool end_operands(walk *w, uint32_t pc, const tl_decoded *d) {
  bool ok = true;
  for (uint32_t i = 0; ok && i < d->operand_count; i++)
    if (ends(d, i))
      ok = end(w, pc, &w->now[d->operands[i]]);
  for (uint32_t i = 0; ok && i < d->window_count; i++)
    ok = end(w, pc, &w->now[d->window + i]);
  return ok;
}

// Sets the slots that the instruction writes.
static void put(walk *w, const tl_decoded *d, tl_peak_value v) {
  for (uint32_t i = 0; i < d->result_count; i++)
    w->now[(uint32_t)d->result + i] = v;
}

// Ends the instruction: what it consumes, then its result.
static bool finish(walk *w, uint32_t pc, const tl_decoded *d, tl_peak_value v) {
  bool ok = end_operands(w, pc, d);
  put(w, d, v);
  return ok;
}

// The same where an array is made first, which may get the block of an operand
// that ends, where it [reuses].
static bool finish_array(walk *w, uint32_t pc, const tl_decoded *d,
                         tl_peak_value v, bool reuses) {
  if (!end_operands(w, pc, d) || !make(w, pc, &v, reuses))
    return false;
  put(w, d, v);
  return true;
}

// The region of the instruction in which it is not the last: then its result
// is no array.
//
//     t1 = mul x, y  ┐ inner: t1 has no memory
//     t2 = add t1, z │ inner
//     r = sqrt t2    ┘ the last: its result is an array
static const tl_region *inner_region(const walk *w, uint32_t pc,
                                     const tl_decoded *d) {
  const tl_region *r = tl_explain_region(w->p, pc);
  bool alone = r != NULL && r->is_part && r->together == r->end;
  return r == NULL || alone || pc + d->words == r->end ? NULL : r;
}

// --- Operations --------------------------------------------------------------

// Takes in one operand: its shape, and its dtype unless it only chooses. *any:
// whether an operand has given its dtype. Weak numbers take part as they do at
// run time: a literal does not widen an array.
static bool add_operand(walk *w, uint32_t pc, tl_peak_value *all,
                        const tl_peak_value *v, bool chooses, bool *any) {
  const char *why;
  if (v->kind == TL_PEAK_ARRAY && !tl_peak_broadcast(all, v, &why))
    return fail(w, pc, "", why);
  if (v->kind != TL_PEAK_ARRAY && v->kind != TL_PEAK_PLAIN)
    return fail(w, pc, "", no_shape);
  all->kind = v->kind == TL_PEAK_ARRAY ? TL_PEAK_ARRAY : all->kind;
  if (chooses)
    return true;
  tl_dtype dtype = v->dtype;
  if (!*any)
    all->dtype = dtype;
  else if (v->is_weak)
    all->dtype = tl_dtype_promote_weak(dtype, all->dtype);
  else
    all->dtype = all->is_weak ? tl_dtype_promote_weak(all->dtype, dtype)
                              : tl_dtype_promote(all->dtype, dtype);
  all->is_weak = v->is_weak && (!*any || all->is_weak);
  *any = true;
  return true;
}

// The literal of an instruction that has one.
static tl_peak_value literal_of(const walk *w, uint32_t pc,
                                const tl_decoded *d) {
  const tl_ins *ins = &w->p->code[pc];
  tl_peak_value v = tl_peak_plain;
  v.is_weak = true;
  v.dtype = tl_opcodes[ins->op].format == TL_FORMAT_ABI
                ? TL_INT64
                : (tl_dtype)tl_dtype_of(w->p->constants[d->extra]);
  return v;
}

// An array of the operation's result, which is none within a region. Operands
// end before the result is made, as it may get the block of one.
static bool end_operation(walk *w, uint32_t pc, const tl_decoded *d,
                          tl_peak_value all) {
  all.owns = all.is_view = all.is_known = false;
  if (all.kind == TL_PEAK_ARRAY && inner_region(w, pc, d) == NULL)
    return finish_array(w, pc, d, all, true);
  all.is_virtual = all.is_virtual || all.kind == TL_PEAK_ARRAY;
  return finish(w, pc, d, all);
}

// An elementwise operation: its operands are broadcast and promoted as the
// engine does it. A choice takes its shape from the condition, too, but not its
// dtype. Opcodes with a constant or a number have fewer operands than the
// operation.
static bool operate(walk *w, uint32_t pc, const tl_decoded *d, tl_op op) {
  tl_peak_value all = tl_peak_plain;
  bool any = false;
  for (uint32_t i = 0; i < d->operand_count; i++) {
    const tl_peak_value *v = &w->now[d->operands[i]];
    bool chooses = tl_ops[op].rule == TL_RULE_SELECT && i == 0;
    if (!add_operand(w, pc, &all, v, chooses, &any) ||
        (v->is_view && !show(w, pc, v)))
      return false;
  }
  tl_peak_value literal;
  if ((int)d->operand_count < tl_ops[op].arity) {
    literal = literal_of(w, pc, d);
    if (!add_operand(w, pc, &all, &literal, false, &any))
      return false;
  }
  tl_dtype computed = tl_op_compute_dtype(op, all.dtype);
  if (computed == TL_DTYPE_COUNT)
    return fail(w, pc, "", "the operation refuses such operands");
  all.dtype = tl_op_result(op, computed);
  return end_operation(w, pc, d, all);
}

// --- Views -------------------------------------------------------------------

// One value between brackets: what becomes of the axis [at] of [from].
//
//     x[i]       the axis goes         x[mask], x[places]   a copy, no view
//     x[none]    an axis of length 1   of [at] nothing is used
static bool index_axis(walk *w, uint32_t pc, const tl_peak_value *part,
                       const tl_peak_value *from, int *at, tl_peak_value *to) {
  if (to->ndim == TL_PEAK_AXES)
    return fail(w, pc, "", "it has too many axes");
  if (part->kind == TL_PEAK_NONE) {
    to->lengths[to->ndim++] = (tl_length){-1, 1};
    return true;
  }
  if (*at >= from->ndim)
    return fail(w, pc, "", no_shape);
  if (part->kind == TL_PEAK_PLAIN) {  // one row
    ++*at;
    return true;
  }
  if (part->kind != TL_PEAK_ARRAY || part->ndim != 1)
    return fail(w, pc, "", no_shape);
  // A mask takes no more than there are.
  to->lengths[to->ndim++] =
      part->dtype == TL_BOOL ? from->lengths[*at] : part->lengths[0];
  ++*at;
  to->is_view = false;
  return true;
}

// The part of an array of any rank: at most all of it. Places are refused,
// since they may be more than there are items.
static bool index_any(walk *w, uint32_t pc, const tl_decoded *d,
                      tl_peak_value *to) {
  for (uint32_t i = 1; i < d->operand_count + d->window_count; i++) {
    uint32_t slot = i < d->operand_count ? d->operands[i]
                                         : d->window + i - d->operand_count;
    const tl_peak_value *part = &w->now[slot];
    if (part->kind == TL_PEAK_ARRAY && part->dtype != TL_BOOL)
      return fail(w, pc, "", no_shape);
    to->is_view = to->is_view && part->kind != TL_PEAK_ARRAY;
  }
  return true;
}

// The items between the brackets of an instruction, in their order. A slice has
// as many values in the window as were given of start, stop and step, any other
// item has one. A slice is bounded by its whole axis, and axes that are not
// named stay.
static bool index_path(walk *w, uint32_t pc, const tl_decoded *d,
                       const tl_peak_value *from, tl_peak_value *to) {
  const tl_path *path =
      d->op == TL_BC_INDEX ? &w->p->unit->paths[d->extra] : NULL;
  uint32_t part = d->window;
  int at = 0;
  to->ndim = 0;
  if (path != NULL &&
      (path->step_count != 1 || path->spreads || path->steps[0].field != NULL))
    return fail(w, pc, "", no_shape);
  for (int i = 0; path != NULL && i < path->steps[0].item_count; i++) {
    const tl_index_item *item = &path->steps[0].items[i];
    bool slices = item->kind == TL_ITEM_SLICE;
    if (item->kind == TL_ITEM_ELLIPSIS ||
        (slices && (at >= from->ndim || to->ndim == TL_PEAK_AXES)))
      return fail(w, pc, "", no_shape);
    if (slices) {
      for (unsigned given = item->given; given != 0; given &= given - 1) part++;
      to->lengths[to->ndim++] = from->lengths[at++];
    } else if (!index_axis(w, pc, &w->now[part++], from, &at, to)) {
      return false;
    }
  }
  for (uint32_t i = 1; i < d->operand_count; i++)
    if (!index_axis(w, pc, &w->now[d->operands[i]], from, &at, to))
      return false;
  for (; at < from->ndim && to->ndim < TL_PEAK_AXES; at++)
    to->lengths[to->ndim++] = from->lengths[at];
  return true;
}

// What is taken out of a container that is no array. Of x.shape[k] the length
// is known: so shapes can be computed with. All else is UNKNOWN, which fails
// only where something needs its shape.
static bool index_other(walk *w, uint32_t pc, const tl_decoded *d,
                        tl_peak_value from) {
  tl_peak_value v = {.kind = TL_PEAK_UNKNOWN};
  const tl_peak_value *part =
      d->operand_count > 1 ? &w->now[d->operands[1]] : NULL;
  if (from.kind == TL_PEAK_SHAPE && part != NULL && part->is_known &&
      part->lengths[0].symbol < 0 && part->lengths[0].number < from.ndim &&
      part->lengths[0].number >= -from.ndim) {
    int64_t at = part->lengths[0].number;
    v = tl_peak_plain;
    v.dtype = TL_INT64;
    v.is_known = v.is_weak = true;
    v.lengths[0] = from.lengths[at < 0 ? at + from.ndim : at];
  }
  return finish(w, pc, d, v);
}

// A view holds the block of an array that ends with it. What is taken out for
// an update (TAKEEL) ends nothing: the container stays. A copy may get the
// block of what ends with it.
static bool index_value(walk *w, uint32_t pc, const tl_decoded *d) {
  tl_peak_value from = w->now[d->operands[0]], to = from;
  bool takes = d->op == TL_BC_TAKEEL || d->op == TL_BC_TAKE;
  if (from.kind != TL_PEAK_ARRAY)
    return index_other(w, pc, d, from);
  if (d->op == TL_BC_TAKE)
    return fail(w, pc, "", no_shape);
  to.is_view = true;
  if (!(from.ndim < 0 ? index_any(w, pc, d, &to)
                      : index_path(w, pc, d, &from, &to)))
    return false;
  if (to.ndim == 0 && from.ndim >= 0)
    to = (tl_peak_value){.kind = TL_PEAK_PLAIN, .dtype = from.dtype};
  to.owns = to.kind == TL_PEAK_ARRAY && to.is_view && from.owns && !takes &&
            ends(d, 0);
  if (to.owns)
    w->now[d->operands[0]].owns = false;
  if (takes) {
    put(w, d, to);
    return true;
  }
  return to.kind == TL_PEAK_ARRAY && !to.is_view
             ? finish_array(w, pc, d, to, true)
             : finish(w, pc, d, to);
}

// Attributes of an array. .T is a view with its axes the other way round, or
// the array itself where that ends and nobody else has it; .size of two axes
// and more would be a product, which a length cannot be.
static bool get_field(walk *w, uint32_t pc, const tl_decoded *d) {
  tl_peak_value from = w->now[d->operands[0]], v = tl_peak_plain;
  const char *name = w->p->unit->names[d->extra]->text;
  v.dtype = TL_INT64;
  v.is_weak = true;
  if (from.kind != TL_PEAK_ARRAY)
    return index_other(w, pc, d, (tl_peak_value){.kind = TL_PEAK_UNKNOWN});
  if (strcmp(name, "shape") == 0 && from.ndim >= 0) {
    v = from;
    v.kind = TL_PEAK_SHAPE;
    v.owns = false;
  } else if (strcmp(name, "size") == 0 && from.ndim < 2) {
    v.is_known = from.ndim != 0;
    v.lengths[0] = from.lengths[0];
  } else if (strcmp(name, "T") == 0) {
    v = from;
    for (int i = 0; i < from.ndim; i++)
      v.lengths[i] = from.lengths[from.ndim - 1 - i];
    v.owns = from.owns && ends(d, 0);
    if (v.owns)
      w->now[d->operands[0]].owns = false;
    v.is_view =
        from.is_view || !v.owns || is_counted(w, w->p->slot_count, from.block);
  } else if (strcmp(name, "shape") == 0) {
    v = (tl_peak_value){.kind = TL_PEAK_UNKNOWN};
  }
  return finish(w, pc, d, v);
}

// x[i] = v in its own block, or in a copy where somebody else has the array.
// The copy is made while the original is alive: both count.
static bool update(walk *w, uint32_t pc, const tl_decoded *d) {
  tl_peak_value target = w->now[d->operands[0]];
  // A parameter may be the caller's, and a view shows what others have.
  bool in_place = target.owns && !target.is_view && ends(d, 0);
  if (target.kind == TL_PEAK_UNKNOWN)
    return fail(w, pc, "", no_shape);
  if (in_place || target.kind != TL_PEAK_ARRAY)
    w->now[d->operands[0]] = (tl_peak_value){.kind = TL_PEAK_UNSET};
  return target.kind == TL_PEAK_ARRAY && !in_place
             ? finish_array(w, pc, d, target, false)
             : finish(w, pc, d, target);
}

// The result is a number, a text or the like.
static bool plain_result(walk *w, uint32_t pc, const tl_decoded *d) {
  tl_peak_value v = tl_peak_plain;
  v.dtype = TL_INT64;
  return finish(w, pc, d, v);
}

// --- Calls of the library ----------------------------------------------------

// The lengths that an argument says; false: they are not known. A parameter of
// any kind is a number here. So zeros(n) of a parameter n without a type is n
// items: a number has no size that could be meant instead.
static bool read_shape(const walk *w, const tl_peak_value *arg,
                       tl_peak_value *to) {
  if (arg->kind == TL_PEAK_ARRAY && arg->ndim < 0 && arg->is_view) {
    const tl_peak_symbol *x = &w->symbols->of[arg->lengths[0].symbol];
    to->ndim = 1;
    to->lengths[0].symbol =
        tl_peak_symbol_of(w->symbols, x->name, TL_PEAK_NUMBER);
    return x->axis == TL_PEAK_SIZE && to->lengths[0].symbol >= 0;
  }
  if (arg->kind == TL_PEAK_PLAIN && arg->is_known) {
    to->ndim = 1;
    to->lengths[0] = arg->lengths[0];
    return true;
  }
  if (arg->kind != TL_PEAK_SHAPE)
    return false;
  to->ndim = arg->ndim;
  memcpy(to->lengths, arg->lengths, sizeof to->lengths);
  return true;
}

// Functions that make an array of a length or like another, and their argument
// that says so.
static const struct {
  const char *name;
  int shape, dtype;
  bool like;
} makers[] = {
    {"zeros", 0, 1, false},     {"ones", 0, 1, false},
    {"full", 0, 2, false},      {"linspace", 2, 3, false},
    {"zeros_like", 0, 1, true}, {"ones_like", 0, 1, true},
    {"full_like", 0, 2, true},
};

// Functions that need no memory beside their result, a number.
static const char *const plain[] = {"len",   "print", "typeof", "error",
                                    "float", "int",   "bool",   "str"};

// A call of one of the makers. A dtype that is not given is float64. [which] is
// the row of the table.
static bool make_called(walk *w, uint32_t pc, const tl_decoded *d, int which) {
  const tl_peak_value *args = &w->now[d->window];
  const tl_peak_value *shape = &args[makers[which].shape];
  tl_peak_value v = {.kind = TL_PEAK_ARRAY, .dtype = TL_FLOAT64};
  if (makers[which].like ? shape->kind != TL_PEAK_ARRAY
                         : !read_shape(w, shape, &v))
    return fail(w, pc, "",
                "the length is not known: the length of a parameter would be");
  if (makers[which].like)
    v = *shape;
  const tl_peak_value *dtype = (uint32_t)makers[which].dtype < d->window_count
                                   ? &args[makers[which].dtype]
                                   : NULL;
  if (dtype != NULL && dtype->kind == TL_PEAK_PLAIN &&
      tl_itemsize(dtype->dtype) > 0)
    v.dtype = dtype->dtype;
  v.owns = false;
  return finish_array(w, pc, d, v, false);
}

// A reduction: of all items a number, along the last axis an array without it.
// Along another one it needs memory of its own meanwhile, which depends on the
// layout and on threads. Axes count from the end where they are below 0. A scan
// has the shape of its operand.
static bool reduce(walk *w, uint32_t pc, const tl_decoded *d,
                   const tl_builtin *builtin) {
  tl_peak_value v = w->now[d->window];
  tl_peak_value axis =
      d->window_count > 1 ? w->now[d->window + 1] : (tl_peak_value){.kind = 0};
  if (v.kind != TL_PEAK_ARRAY && v.kind != TL_PEAK_PLAIN)
    return fail(w, pc, "", no_shape);
  bool scans = builtin->fused == TL_FUSED_SCAN;
  // Sums of floats keep their dtype; integers and places are of 64 bits.
  if (!tl_dtype_is_real(v.dtype) || strncmp(builtin->name, "arg", 3) == 0)
    v.dtype = tl_itemsize(v.dtype) > 8 ? v.dtype : TL_INT64;
  if (scans || v.kind == TL_PEAK_PLAIN)
    return end_operation(w, pc, d, v);
  if (axis.kind != TL_PEAK_NONE && axis.kind != TL_PEAK_PLAIN)
    return fail(w, pc, "", "its axis is not known");
  int64_t at = axis.lengths[0].number;
  if (axis.kind == TL_PEAK_PLAIN) {
    at = at < 0 ? at + v.ndim : at;
    if (!axis.is_known || axis.lengths[0].symbol >= 0 || at < 0 || at >= v.ndim)
      return fail(w, pc, "", "its axis is not known");
    if (at < --v.ndim)
      return fail(w, pc, builtin->name,
                  "needs memory of its own along an axis that is not the last");
  }
  if (axis.kind == TL_PEAK_NONE || v.ndim == 0) {
    tl_dtype dtype = v.dtype;
    v = tl_peak_plain;
    v.dtype = dtype;
  }
  // Within a region it is computed first, so that it has memory all the same.
  v.owns = v.is_known = false;
  return v.kind == TL_PEAK_ARRAY ? finish_array(w, pc, d, v, true)
                                 : finish(w, pc, d, v);
}

// Casts, and what computes item by item. The result has the operand's shape;
// only its dtype differs by kind.
static bool call_items(walk *w, uint32_t pc, const tl_decoded *d,
                       const tl_builtin *builtin) {
  tl_peak_value v = w->now[d->window];
  tl_fused_kind kind = builtin->fused;
  if (v.kind != TL_PEAK_ARRAY && v.kind != TL_PEAK_PLAIN)
    return fail(w, pc, "", no_shape);
  if (kind == TL_FUSED_CAST && d->window_count > 1 &&
      w->now[d->window + 1].kind == TL_PEAK_PLAIN)
    v.dtype = w->now[d->window + 1].dtype;
  else if (kind == TL_FUSED_CAST)
    return fail(w, pc, "", "the dtype is not known");
  else if (kind == TL_FUSED_TO_BOOL)
    v.dtype = TL_BOOL;
  else if (kind == TL_FUSED_TO_INT || kind == TL_FUSED_TO_FLOAT)
    v.dtype = TL_FLOAT64;
  bool rolls = tl_region_call(builtin) == TL_STEP_ROLL;
  return (!rolls || show(w, pc, &v)) && end_operation(w, pc, d, v);
}

// One of the functions that need nothing beside a number.
static bool call_plain(walk *w, uint32_t pc, const tl_decoded *d,
                       const char *name) {
  tl_peak_value v = tl_peak_plain;
  v.dtype = TL_INT64;
  for (uint32_t i = 0; i < d->window_count; i++) {
    const tl_peak_value *arg = &w->now[d->window + i];
    bool is_array = arg->kind == TL_PEAK_ARRAY;
    if (arg->kind == TL_PEAK_UNKNOWN || (is_array && strcmp(name, "len") != 0))
      return fail(w, pc, name, "is called, whose own needs are not known here");
    if (is_array && arg->ndim != 0) {
      v.is_known = v.is_weak = true;
      v.lengths[0] = arg->lengths[0];
    }
  }
  return finish(w, pc, d, v);
}

// #:peak of the function itself: what was needed for its number is before its
// beginning. One of a single statement, whose end is known, has no part in the
// function's bound.
static bool begin_promise(walk *w, uint32_t pc, const tl_decoded *d) {
  const tl_peak_value *end_of = &w->now[d->window + 2];
  if (end_of->is_known && end_of->lengths[0].number == UINT32_MAX) {
    w->peak.count = 0;
    w->most.weight = 0;
  }
  return plain_result(w, pc, d);
}

// What the library's function needs: by its trait, where regions know it, or by
// its name. All others are not known, and the report says which.
static bool call_library(walk *w, uint32_t pc, const tl_decoded *d) {
  const tl_builtin *builtin = w->p->constants[d->extra].pointer;
  tl_region_step step = tl_region_call(builtin);
  if (builtin->fused == TL_FUSED_REDUCTION || builtin->fused == TL_FUSED_SCAN)
    return reduce(w, pc, d, builtin);
  if (step == TL_STEP_CAST || step == TL_STEP_CLIP || step == TL_STEP_ROLL)
    return call_items(w, pc, d, builtin);
  for (int i = 0; i < (int)(sizeof makers / sizeof *makers); i++)
    if (strcmp(makers[i].name, builtin->name) == 0)
      return make_called(w, pc, d, i);
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
    if (strcmp(plain[i], builtin->name) == 0)
      return call_plain(w, pc, d, builtin->name);
  if (strcmp(builtin->name, "peak") == 0 && d->window_count == 3)
    return begin_promise(w, pc, d);
  return fail(w, pc, builtin->name,
              "is called, whose own needs are not known here");
}

// --- Calls of scripts --------------------------------------------------------

static bool bound_function(walk *w, const tl_peak_value *args, uint32_t count);
static void close_walk(walk *w);

// What the callee needs is above what is alive here but for its arguments,
// which are its own. The place that is named is the call, with what the callee
// makes at its own peak.
static void add_callee(walk *w, uint32_t pc, const walk *callee) {
  tl_sum sum = sum_live(w);
  for (int i = 0; i < callee->peak.count; i++)
    tl_sum_add(&sum, &callee->peak.terms[i]);
  sum.lost = sum.lost || callee->peak.lost;
  note(w, pc, &sum, &callee->most.made);
}

// The result's block is an argument's, or new. Numbers of blocks are those of
// the callee's code, so a new one gets the number of this call.
static bool take_result(walk *w, uint32_t pc, const tl_peak_value *args,
                        tl_peak_value *v) {
  v->since = pc;
  if (!v->owns)
    return true;
  if (v->block >= OF_ARGUMENT && v->block < OF_JOIN) {
    v->block = args[v->block - OF_ARGUMENT].block;
    return true;
  }
  return new_block(w, pc, v);
}

// Bounds the callee with what is known of the arguments, which move into it. In
// a region it is read for the shape of its result alone. The callee is run anew
// for each call: its bound depends on the arguments, and functions are short.
// Recursion ends at CALLS, as not known.
static bool call_script(walk *w, uint32_t pc, const tl_decoded *d) {
  const tl_prototype *p = tl_region_find_callee(&w->writers, pc, d);
  if (p == NULL || p->param_count != d->window_count)
    return fail(w, pc, "", "which function is called is not known");
  if (w->depth == CALLS)
    return fail(w, pc, p->name->text, "is called by itself, or too deep");
  if (p->param_count > TL_MAX_PARAMS)
    return fail(w, pc, p->name->text, too_many);
  tl_peak_value args[TL_MAX_PARAMS];
  bool is_silent = w->is_silent || inner_region(w, pc, d) != NULL;
  for (uint32_t i = 0; i < d->window_count; i++) {
    args[i] = w->now[d->window + i];
    w->now[d->window + i] = (tl_peak_value){.kind = TL_PEAK_UNSET};
  }
  walk callee = {.vm = w->vm,
                 .p = p,
                 .symbols = w->symbols,
                 .depth = w->depth + 1,
                 .is_silent = is_silent};
  bool ok = bound_function(&callee, args, d->window_count);
  if (callee.why != NULL) {
    fail(w, pc, callee.name, callee.why);
    w->inside = callee.inside != NULL ? callee.inside
                : p->name->length > 0 ? p->name->text
                                      : "a function";
  }
  tl_peak_value v = callee.result;
  if (ok && !is_silent)
    add_callee(w, pc, &callee);
  close_walk(&callee);
  if (!ok)
    return false;
  // In a region the caller's own instruction makes the array, if any does.
  if (is_silent)
    return end_operation(w, pc, d, v);
  ok = end_operands(w, pc, d) && take_result(w, pc, args, &v);
  put(w, d, v);
  return ok;
}

// --- Other instructions ------------------------------------------------------

// What is known of a constant. An array among them is the program's, and never
// made: it has a shape, but owns nothing.
static tl_peak_value constant_of(tl_slot s) {
  tl_peak_value v = tl_peak_plain;
  if (tl_is_none(s))
    v.kind = TL_PEAK_NONE;
  if (tl_is_type(s))
    v.dtype =
        s.type->kind == TL_TYPE_DTYPE ? s.type->dtype : (tl_dtype)TL_FLOAT64;
  if (tl_is_number(s)) {
    v.dtype = (tl_dtype)tl_dtype_of(s);
    v.is_weak = true;
    v.is_known = tl_class(s) == TL_CLASS_I64;
    v.lengths[0] = (tl_length){-1, v.is_known ? s.i : 0};
  }
  if (tl_is_array(s) && tl_ndim(s.array) > 0) {
    int ndim = tl_ndim(s.array);
    v = (tl_peak_value){
        .kind = ndim > TL_PEAK_AXES ? TL_PEAK_UNKNOWN : TL_PEAK_ARRAY,
        .is_view = true,
        .dtype = tl_array_dtype(s.array),
        .ndim = (int8_t)ndim};
    for (int i = 0; i < ndim && i < TL_PEAK_AXES; i++)
      v.lengths[i] = (tl_length){-1, tl_shape(s.array)[i]};
  }
  return v;
}

// A variable of the module, or a captured one: an array of any size.
static void load_outer(walk *w, const tl_decoded *d) {
  const tl_string *name = NULL;
  if (d->op == TL_BC_GETG)
    name = w->p->unit->module->variable_names[d->extra];
  else if (d->op == TL_BC_GETC && w->p->capture_names != NULL)
    name = w->p->capture_names[d->extra & 0x7fffffffu];
  tl_bindings names = {.count = 0};
  put(w, d,
      name == NULL ? (tl_peak_value){.kind = TL_PEAK_UNKNOWN}
                   : tl_peak_given(w->symbols, name, NULL, &names));
}

// Lists of lengths are shapes; what is plain stays so. Arrays in containers
// would be alive by these, which no slot shows, so they are refused instead of
// counted wrongly.
static bool build(walk *w, uint32_t pc, const tl_decoded *d) {
  tl_peak_value v = tl_peak_plain;
  bool is_shape = d->op == TL_BC_LIST && d->window_count <= TL_PEAK_AXES;
  for (uint32_t i = 0; i < d->window_count; i++) {
    const tl_peak_value *item = &w->now[d->window + i];
    if (item->kind == TL_PEAK_ARRAY || item->kind == TL_PEAK_UNKNOWN)
      return fail(w, pc, "", "arrays in lists and records are not followed");
    is_shape = is_shape && item->kind == TL_PEAK_PLAIN && item->is_known;
    if (is_shape)
      v.lengths[i] = item->lengths[0];
  }
  bool ok = end_operands(w, pc, d);
  if (is_shape && d->window_count > 0) {
    v.kind = TL_PEAK_SHAPE;
    v.ndim = (int8_t)d->window_count;
  }
  if (d->op == TL_BC_STACK) {
    v = (tl_peak_value){.kind = TL_PEAK_ARRAY, .dtype = TL_FLOAT64, .ndim = 1};
    v.lengths[0] = (tl_length){-1, d->window_count};
    ok = ok && make(w, pc, &v, false);
  }
  put(w, d, v);
  return ok;
}

// Ownership goes over from one slot to another that shows the same block. Where
// nothing is owned, or the other is no array, there is nothing to do.
static void transfer(walk *w, uint32_t from, uint32_t to) {
  tl_peak_value *x = &w->now[from], *y = &w->now[to];
  if (!x->owns || y->kind != TL_PEAK_ARRAY)
    return;
  y->owns = true;
  y->block = x->block;
  y->held = x->held;
}

// What the analysis of ownership has put in.
//
//     HOLD             a view begins to own, from its array's slot
//     SETTLE           the other slot owns instead
//     KEEP             the other slot owns, too
//     INHERIT, LEAVE   the other slot owns, and this one ends
//     DETACH           a copy of its own, new
static bool settle(walk *w, uint32_t pc, const tl_decoded *d) {
  switch (d->op) {
    case TL_BC_HOLD:
      transfer(w, d->operands[1], d->operands[0]);
      return true;
    case TL_BC_SETTLE:
    case TL_BC_KEEP:
      transfer(w, d->operands[0], d->operands[1]);
      w->now[d->operands[0]].owns =
          d->op == TL_BC_KEEP && w->now[d->operands[0]].owns;
      return true;
    case TL_BC_INHERIT:
    case TL_BC_LEAVE:
      transfer(w, d->operands[0], d->operands[1]);
      return end(w, pc, &w->now[d->operands[0]]);
    case TL_BC_DETACH:
      return w->now[d->operands[0]].kind != TL_PEAK_ARRAY ||
             make(w, pc, &w->now[d->operands[0]], false);
    case TL_BC_DROP:
      return end(w, pc, &w->now[d->operands[0]]);
    default:
      return true;
  }
}

// The next item of what a loop goes over. A row of an array is a view that owns
// nothing: the loop's hidden slot has the array.
static void next_item(walk *w, const tl_decoded *d) {
  tl_peak_value v = w->now[d->operands[0]];
  if (v.kind == TL_PEAK_ARRAY && v.ndim > 1) {
    memmove(v.lengths, v.lengths + 1, sizeof v.lengths - sizeof v.lengths[0]);
    v.ndim--;
    v.is_view = true;
    v.owns = false;
  } else if (v.kind == TL_PEAK_PLAIN || v.ndim == 1) {
    v = (tl_peak_value){.kind = TL_PEAK_PLAIN, .dtype = v.dtype};
  } else if (v.kind != TL_PEAK_ARRAY) {
    v = (tl_peak_value){.kind = TL_PEAK_UNKNOWN};
  }
  put(w, d, v);
}

// A moved value takes its ownership with it, a borrowed one has none.
static bool move(walk *w, const tl_decoded *d) {
  tl_peak_value *from = &w->now[d->operands[0]], v = *from;
  if (d->op == TL_BC_MOV)
    *from = (tl_peak_value){.kind = TL_PEAK_UNSET};
  else
    v.owns = false;
  put(w, d, v);
  return true;
}

// Whether the instruction neither makes nor ends arrays in ways of its own; its
// result is a number, a text or the like.
static bool is_plain_op(int op) {
  tl_result_kind result = (tl_result_kind)tl_opcodes[op].result;
  return op == TL_BC_RANGE || op == TL_BC_FORMAT || op == TL_BC_JOIN ||
         op == TL_BC_NOT || op == TL_BC_IN || op == TL_BC_FORVAR ||
         op == TL_BC_IMPORT || op == TL_BC_SHOW || op == TL_BC_CLOSURE ||
         op == TL_BC_SELF || op == TL_BC_MEMBER || op == TL_BC_SETG ||
         result == TL_DEF_NONE;
}

// The result of the function: what any of its returns may give. A result that
// is not known is no failure of the outermost function, since nothing comes
// behind it.
static bool give_back(walk *w, uint32_t pc, const tl_decoded *d) {
  tl_peak_value v = w->now[d->operands[0]];
  w->now[d->operands[0]] = (tl_peak_value){.kind = TL_PEAK_UNSET};
  v.is_virtual = false;
  if (!tl_peak_join(&w->result, &v, 2 * pc))
    w->result = (tl_peak_value){.kind = TL_PEAK_UNKNOWN};
  return w->result.kind != TL_PEAK_UNKNOWN || w->depth == 0 ||
         fail(w, pc, "", "the shape of its result is not known");
}

// Any instruction. What is not in the list below either is plain (is_plain_op)
// or ends the search: no bound is better than a wrong one.
static bool step(walk *w, uint32_t pc, const tl_decoded *d) {
  tl_op op = tl_region_op(d->op, d->extra);
  if (op != TL_OP_COUNT)
    return operate(w, pc, d, op);
  switch (d->op) {
    case TL_BC_MOV:
    case TL_BC_MOVB:
      return move(w, d);
    case TL_BC_LOADK:
      put(w, d, constant_of(w->p->constants[d->extra]));
      return true;
    case TL_BC_LOADI:
      put(w, d, constant_of(tl_weak_int((int32_t)d->extra)));
      return true;
    case TL_BC_GETG:
    case TL_BC_GETC:
      load_outer(w, d);
      return true;
    case TL_BC_DROP:
    case TL_BC_SETTLE:
    case TL_BC_KEEP:
    case TL_BC_INHERIT:
    case TL_BC_LEAVE:
    case TL_BC_HOLD:
    case TL_BC_DETACH:
    case TL_BC_OWN:
    case TL_BC_KEEPALL:
    case TL_BC_KEEPOF:
      return settle(w, pc, d);
    case TL_BC_GETEL:
    case TL_BC_GETEL2:
    case TL_BC_INDEX:
    case TL_BC_TAKEEL:
    case TL_BC_TAKE:
      return index_value(w, pc, d);
    case TL_BC_GETF:
      return get_field(w, pc, d);
    case TL_BC_SETEL:
    case TL_BC_SETEL2:
    case TL_BC_REPLACE:
    case TL_BC_SETPATH:
      return update(w, pc, d);
    case TL_BC_CALLB:
      return call_library(w, pc, d);
    case TL_BC_CALLK:
    case TL_BC_CALL:
      return call_script(w, pc, d);
    case TL_BC_LIST:
    case TL_BC_RECORD:
    case TL_BC_STACK:
      return build(w, pc, d);
    case TL_BC_NEXT:
      next_item(w, d);
      return true;
    case TL_BC_RET:
      return give_back(w, pc, d);
    default:
      return is_plain_op(d->op)
                 ? plain_result(w, pc, d)
                 : fail(w, pc, tl_opcodes[d->op].name,
                        "is an instruction that is not followed");
  }
}

// --- A function --------------------------------------------------------------

// The bytes of the values of all slots.
static size_t values_size(const walk *w) {
  return (size_t)w->p->slot_count * sizeof *w->now;
}

// The values of now wait at a jump's target, joined with those that do so
// already. False: no memory, or nothing is known of a slot. [changed] says that
// another pass is needed: something was reached for the first time, or less is
// known now.
static bool wait_at(walk *w, uint32_t pc) {
  tl_peak_value **saved = &w->saved[pc];
  if (*saved == NULL) {
    *saved = tl_alloc(w->vm, values_size(w), "an explanation");
    if (*saved != NULL)
      memcpy(*saved, w->now, values_size(w));
    w->changed = true;
    return *saved != NULL;
  }
  for (uint32_t i = 0; i < w->p->slot_count; i++) {
    tl_peak_value all = (*saved)[i];
    if (!tl_peak_join(&all, &w->now[i], OF_JOIN + i)) {
      // What is not known and owns cannot be counted.
      if (all.owns || w->now[i].owns)
        return fail(w, pc, "", "an array has other shapes on other ways");
      all = (tl_peak_value){.kind = TL_PEAK_UNKNOWN};
    }
    w->changed |= memcmp(&all, &(*saved)[i], sizeof all) != 0;
    (*saved)[i] = all;
  }
  return true;
}

// One instruction, and what ends with it or with its region. Values go to the
// jump's target before what is pending ends, which does not matter: what is
// pending is in no slot.
static bool run_one(walk *w, uint32_t pc, const tl_decoded *d) {
  const tl_region *r = tl_explain_region(w->p, pc);
  uint32_t until = r == NULL ? pc + d->words : r->together;
  if (until > w->pending_until)
    w->pending_until = until;
  if (!step(w, pc, d))
    return false;
  if (d->target >= 0 && !wait_at(w, (uint32_t)d->target))
    return false;
  if (pc + d->words >= w->pending_until)
    w->pending_count = w->shown_count = 0;
  return true;
}

// All instructions in the order of the text, from what waits at each. Behind a
// jump that always goes, nothing is reached until the next target.
static bool pass(walk *w) {
  bool reached = true;
  tl_decoded d;
  for (uint32_t pc = 0; pc < w->p->code_count; pc += d.words) {
    tl_decode(w->p, pc, &d);
    if (w->saved[pc] != NULL) {
      if (reached && !wait_at(w, pc))
        return false;
      memcpy(w->now, w->saved[pc], values_size(w));
      reached = true;
    }
    if (!reached)
      continue;
    if (!run_one(w, pc, &d))
      return false;
    reached = d.falls_through;
  }
  return true;
}

// Makes the tables of a function: false without memory, and close_walk frees
// what there is. The table of targets has one more than there are words: a jump
// may go behind the last instruction.
static bool open_walk(walk *w) {
  size_t words = tl_writers_size(w->p);
  w->now = tl_alloc_zeroed(w->vm, values_size(w), "an explanation");
  w->saved = tl_alloc_zeroed(w->vm, (w->p->code_count + 1) * sizeof *w->saved,
                             "an explanation");
  w->memory =
      tl_alloc_zeroed(w->vm, words * sizeof(uint32_t), "an explanation");
  if (w->now == NULL || w->saved == NULL || w->memory == NULL)
    return false;
  tl_writers_index(&w->writers, w->p, w->memory);
  return true;
}

// Frees the tables. Blocks of values need no end: they are only numbers.
static void close_walk(walk *w) {
  for (uint32_t i = 0; w->saved != NULL && i <= w->p->code_count; i++)
    tl_free(w->vm, w->saved[i], values_size(w));
  tl_free(w->vm, w->saved, (w->p->code_count + 1) * sizeof *w->saved);
  tl_free(w->vm, w->now, values_size(w));
  tl_free(w->vm, w->memory, tl_writers_size(w->p) * sizeof(uint32_t));
}

// Runs the function on its arguments. False: w->why says why not, or there is
// no memory. Iterates to a fixed point, as abstract interpretation does (Cousot
// and Cousot, 1977): the states at jump targets grow until nothing changes. On
// true w->result and w->peak are set. close_walk is the caller's in any case.
static bool bound_function(walk *w, const tl_peak_value *args, uint32_t count) {
  tl_peak_value *first;
  if (!open_walk(w))
    return false;
  if (w->p->handler_count > 0)
    return fail(w, w->p->handlers[0].handler, "",
                "errors are caught, and where they leave is not followed");
  size_t size = count * sizeof *args;
  first = size == 0 ? NULL : tl_alloc(w->vm, size, "an explanation");
  if (size > 0 && first == NULL)
    return false;
  for (uint32_t i = 0; i < count; i++) {
    first[i] = args[i];
    first[i].block = OF_ARGUMENT + i;
  }
  bool ok = true;
  w->changed = true;
  // Values at jump targets only become less known, so this ends; the sums that
  // were noted in an earlier pass are of states that the later ones cover.
  for (int i = 0; ok && w->changed && i < PASSES; i++) {
    w->changed = false;
    w->pending_count = w->shown_count = 0;
    w->pending_until = 0;
    memset(w->now, 0, values_size(w));
    if (size > 0)
      memcpy(w->now, first, size);
    ok = pass(w);
  }
  tl_free(w->vm, first, size);
  return ok && (!w->changed ||
                fail(w, 0, "", "its arrays have other shapes in each turn"));
}

// --- The report --------------------------------------------------------------

// "line 4, `a * b`".
static void put_source(tl_text *out, const walk *w, uint32_t pc) {
  const tl_place_entry *place = tl_place_at(w->p, pc);
  uint32_t at = place == NULL ? w->p->begin : place->at;
  tl_text_printf(out, "line %" PRIu32, tl_line_of(w->p->unit, at));
  if (place == NULL)
    return;
  tl_text_puts(out, ", `");
  tl_explain_source(out, w->p->unit, place);
  tl_text_puts(out, "`");
}

// "the most in line 4, `a * b`: y 8 * x.size since line 3, and 8 * x.size".
static void put_most(tl_text *out, const walk *w) {
  const most *m = &w->most;
  tl_text_puts(out, "    the most in ");
  put_source(out, w, m->pc);
  tl_text_puts(out, ": ");
  for (int i = 0; i < m->count; i++) {
    tl_spell_operand(out, w->p, m->pc, m->slot[i]);
    tl_text_puts(out, " ");
    tl_product_put(out, &m->owner[i].held, w->symbols);
    tl_text_printf(out, " since line %" PRIu32 ", ",
                   tl_line_at(w->p, m->owner[i].since));
  }
  tl_text_puts(out, m->count > 0 ? "and " : "");
  tl_product_put(out, &m->made, w->symbols);
  tl_text_puts(out, " there\n");
}

// The formula and where it comes from, or the reason why there is none.
static void put_bound(tl_text *out, const walk *w) {
  if (w->why != NULL) {
    tl_text_puts(out, "  not known, in ");
    put_source(out, w, w->why_pc);
    tl_text_puts(out, ": ");
    if (w->inside != NULL)
      tl_text_printf(out, "in %s, ", w->inside);
    tl_text_printf(out, "%s%s%s\n", w->name, *w->name == 0 ? "" : " ", w->why);
    return;
  }
  tl_text_puts(out, "  #:peak ");
  tl_sum_put(out, &w->peak, w->symbols);
  tl_text_puts(out, "\n");
  if (w->most.weight > 0)
    put_most(out, w);
}

// Whether the formula has the symbol.
static bool has_symbol(const tl_sum *sum, int symbol) {
  for (int i = 0; i < sum->count; i++)
    if (sum->terms[i].power[symbol] > 0)
      return true;
  return false;
}

// The parameters that no type says more of, but are in the formula. For items
// of other sizes the reader has to scale the term.
static void put_assumed(tl_text *out, const walk *w) {
  const tl_peak_symbols *s = w->symbols;
  int count = 0;
  for (int i = 0; i < s->count; i++) {
    if (s->of[i].axis == TL_PEAK_SIZE && has_symbol(&w->peak, i))
      tl_text_printf(out, "%s%s",
                     count++ == 0 ? "    for items of 8 bytes in " : ", ",
                     s->of[i].name->text);
  }
  if (count > 0)
    tl_text_puts(out, "\n");
}

// Bounds and reports one function, its parameters being what their types say.
// False: no memory.
static bool bound_one(tl_text *out, const tl_prototype *p) {
  tl_peak_symbols symbols = {.count = 0};
  tl_peak_value args[TL_MAX_PARAMS];
  tl_bindings names = {.count = 0};
  walk w = {.vm = out->vm, .p = p, .symbols = &symbols};
  bool follows = p->param_count <= TL_MAX_PARAMS;
  for (uint32_t i = 0; follows && i < p->param_count; i++)
    args[i] = tl_peak_given(&symbols, p->params[i].name, p->params[i].pattern,
                            &names);
  bool ok = follows ? bound_function(&w, args, p->param_count)
                    : fail(&w, 0, "the function", too_many);
  ok = ok || w.why != NULL;
  if (ok && w.peak.lost)
    fail(&w, 0, "", "its formula is too long");
  if (ok) {
    put_bound(out, &w);
    if (w.why == NULL)
      put_assumed(out, &w);
  }
  close_walk(&w);
  return ok;
}

// Prototype 0 is the code of the file itself. An error is cleared, as only
// memory can be missing, and text->failed says that.
void tl_explain_peak(tl_text *out, const tl_unit *unit) {
  for (uint32_t i = 0; i < unit->prototype_count; i++) {
    const tl_prototype *p = unit->prototypes[i];
    const char *name = p->name->length > 0 ? p->name->text : "(…)";
    if (i == 0)
      tl_text_printf(out, "%s\n", unit->file->text);
    else
      tl_text_printf(out, "\nfn %s, line %" PRIu32 "\n", name,
                     tl_line_of(unit, p->begin));
    if (!bound_one(out, p)) {
      tl_error_clear(out->vm);
      out->failed = true;
      return;
    }
  }
}
