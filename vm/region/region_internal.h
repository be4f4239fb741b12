// Shared by the files of the fused regions. Each file is a part of one stage of
// region.h's diagram, and needs only its own and those above it here:
//
//   all       region_graph.c     what every stage asks of a graph
//   read      region_slots.c     what slots hold; loads, moves, ends
//             region_views.c     slices, transposes, rolled arrays, selections
//             region_calls.c     calls, read as if they stood in the caller
//             region_read.c      what instructions are; operations, the whole
//   shape     region_resolve.c   shapes and dtypes; parts computed first
//   plan      region_plan.c      graph to streams and steps
//   run       region_write.c     which memory a result may go to; results into
//                                it, tile by tile at wraps
//             region_elsewhere.c over an operand that is read elsewhere, too
//             region_store.c     arrays, and parts of arrays
//   consume   region_fold.c      reductions; items to a consumer, in an order;
//                                histograms and counts
//             region_select.c    the items that a mask takes
//             region_rows.c      ragged rows
//   multi     region_multi.c     several results
//   cache     region_cache.c     graphs and plans of earlier runs, and guards
//             region_short.c     short arrays, with all as it was
//   driver    region.c           where the VM meets a region: what is tried
#pragma once

#include "vm/engine/engine_internal.h"
#include "vm/host.h"
#include "vm/memory/reserve.h"
#include "vm/nested/nested.h"
#include "vm/engine/reduce_internal.h"
#include "vm/engine/scan.h"
#include "vm/region/region.h"
#include "vm/index/select.h"

// The largest region: what exceeds one of these is read up to there, or left to
// the instructions one by one. Uses, guards and roots are int8_t elsewhere.
enum {
  TL_REGION_NODES = 112,
  TL_REGION_USES = 120,  // int8_t, as guards
  TL_REGION_ROOTS = 24,
  TL_REGION_TRANSFERS = 8,
  TL_REGION_BINDINGS = 240,
  TL_REGION_VIEW_WORDS = 768,  // views' headers, shapes and strides
  TL_REGION_SHAPES = 8,
  TL_REGION_GUARDS = 120,
  TL_REGION_DEPTH = 4,  // of calls in one another
  TL_REGION_INDICES = 32,
  TL_REGION_HOISTED = 8,
  TL_REGION_INNER = 8,
  TL_REGION_WRAPS = 16,
  TL_REGION_CUTS = 16,  // of an axis
};

// One operation. An operand is a node, or -1 - its number among the uses.
typedef struct tl_region_node {
  tl_op op;
  tl_dtype cast;  // the operand as this dtype; TL_DTYPE_COUNT: no cast
  const tl_host_function *host;  // its loop is the operation; NULL: op is
  int8_t arity;
  int8_t shape;  // its number among the region's shapes; -1: a scalar
  bool needed;   // for the result
  bool is_power;
  int in[3];
  uint32_t at, pc;  // of its instruction, and of the one after it
  tl_typing typing;
  tl_c128 items[3];  // scalars, converted for this node
} tl_region_node;

// A value from outside: an array, a view of one (whose header stands in the
// region's own memory), a number, or what an index is made of.
// Uses stand in the order in which they were read, which is that of their
// guards; a cached graph takes their values anew for each run.
typedef struct tl_region_use {
  tl_slot value;
  tl_slot items;  // what is computed with: of ragged rows their content
  int root;       // whose memory an array is, -1: nobody's who may die here
  bool direct;    // the root itself, no view of it
  bool read;      // by a node that is needed
  int8_t wrap;    // rolled: its number among the wraps, from 1; 0: not
  bool fixed;     // a literal
  bool exact;     // the graph is good for this value alone
  bool changed;   // since the graph was used last
  bool taken;  // all of an array, of which an update puts a mask's items back
  int64_t *dims;  // of an array in a cached graph: ndim, shape, strides
} tl_region_use;

// A slot of the frame that the region reads or ends.
// One for each slot, however often it is read; its value is that from before
// the region, until a transfer changes who owns it.
typedef struct tl_region_root {
  uint32_t slot;
  tl_slot value;
  bool ends;      // it is read for the last time here
  bool consumed;  // likewise, and nothing has taken its memory over yet
  int8_t ended;   // when: the first node that may be made after it has gone
} tl_region_root;

// What a slot holds while the region is read: nothing is written until all is
// computed. [binds]: a scalar or constant that the slot gets in the end. From
// TL_REGION_FOLDED on [in] is a reduction among several results.
enum { TL_REGION_FOLDED = 1000 };
// [in] is a node, or -1 - the number of a use.
typedef struct tl_region_binding {
  uint32_t slot;
  int in;
  bool binds;
  bool over;      // the slot has been used up, or holds something else
  bool heir;      // its array would be its own, if the region did not use it up
  bool is_shape;  // the lengths of the array [in], of which one may be read
} tl_region_binding;

// Where a use's value came from, for taking it from there again
// (region_cache.c). Literals have none.
typedef enum tl_region_source {
  TL_FROM_SLOT,       // [at] of the frame
  TL_FROM_CAPTURE,    // [at] of the callee of[0], -1: of the running function
  TL_FROM_VARIABLE,   // [at] of the callee's module; again: the use of[1], too
  TL_FROM_SELF,       // the callee's member [at]
  TL_FROM_CALLEE,     // no value: a use is the callee [at]
  TL_FROM_BORROWED,   // the use of[0] once more
  TL_FROM_LENGTH,     // of the array of[0], along the axis that the use of[1]
                      // is, -1: the first
  TL_FROM_REDUCTION,  // of the array of[0], by the call at [at]
  TL_FROM_FIELD,    // of the record or module of[0], by the name [at] of callee
                    // of[1]
  TL_FROM_LIST,     // the item of the list of[0] at the use of[1]
  TL_FROM_VIEW,     // a part of the use of[0]: index [at]
  TL_FROM_ITEM,     // one item of it
  TL_FROM_AXES,     // all of it, its axes in another order, or rolled
  TL_FROM_SCALARS,  // operation [at] of the uses
  TL_FROM_CAST,     // the use of[0] as dtype [at]
  TL_FROM_TRANSFER,  // no value: of[0]'s ownership went to of[1], or not
} tl_region_source;

// Guards are checked in the order of the reading. What one looks at, earlier
// ones have taken.
typedef struct tl_region_guard {
  uint8_t from;  // tl_region_source
  int8_t use;
  int8_t of[3];
  bool again;        // of an array or a view that an earlier guard has, too
  bool transferred;  // the ownership went over
  uint32_t at;
  int64_t offset;  // of a view's or item's place, in bytes; of a reduction its
                   // arguments, two bits for each
} tl_region_guard;

// What stands between brackets: the parts are uses.
typedef struct tl_region_index {
  tl_step step;
  int count;
  int8_t parts[TL_MAX_DIMS];
} tl_region_index;

// A call whose function states types of its parameters, and what these are:
// nodes, or -1 - the number of a use.
enum { TL_REGION_CHECKS = 4, TL_REGION_CHECKED = 6 };
typedef struct tl_region_check {
  const tl_prototype *function;
  int in[TL_REGION_CHECKED];
} tl_region_check;

// A function that only a run knows: the code that the use was.
enum { TL_REGION_CALLEES = 6 };
typedef struct tl_region_callee {
  const tl_prototype *function;
  int8_t use;
} tl_region_callee;

// A shape that at least one node has; nodes name shapes by their number, so
// that two can be compared by it.
typedef struct tl_region_shape {
  int ndim;
  int64_t lengths[TL_MAX_DIMS];
} tl_region_shape;

// Where the result goes.
typedef enum tl_region_consumer {
  TL_CONSUMER_ARRAY,   // a new array, or a dying operand's memory
  TL_CONSUMER_PLACE,   // a part of an array: a[i:j] = …
  TL_CONSUMER_FOLD,    // a reduction
  TL_CONSUMER_SCAN,    // a running fold, into what an array would go into
  TL_CONSUMER_SELECT,  // those items of it that a mask takes
  TL_CONSUMER_MULTI,   // g->results, each an array or a reduction
} tl_region_consumer;

// One of several results.
typedef struct tl_region_result {
  uint32_t slot;
  int node;
  const tl_builtin *fold;  // that takes its items in; NULL: it is an array
  int target;              // the root of which it is a part; -1: it is none
  tl_region_index place;   // of the part
  // After tl_region_resolve. Of a norm [node] is what is folded.
  tl_fold_call call;
  tl_scan_call scan;
  double norm;       // its order
  tl_dtype norm_of;  // the dtype of what it is the norm of
} tl_region_result;

struct tl_region_planned;

// All that one reading of a region's instructions gives. It lives in a
// tl_region_room on the stack, or in memory of its own where it is cached; all
// slots in it are borrowed from the frame, but for those in [hoisted].
typedef struct tl_region_graph {
  tl_vm *vm;
  const tl_prototype *function;
  tl_slot *base;  // the frame's
  int64_t items;  // of the operand that asked
  tl_region_node *nodes;
  tl_region_use *uses;
  tl_region_root *roots;
  tl_region_binding *bindings;
  tl_region_guard *guards;
  tl_region_index *indices;
  tl_region_shape *shapes;
  int64_t *views;  // the views' memory, in words
  int node_count, use_count, root_count, binding_count;
  int guard_count, index_count, shape_count, shape_room;
  int view_words, view_room;
  int check_count;
  tl_region_check checks[TL_REGION_CHECKS];
  // Reductions within the region, kept while it is read in several ways.
  int inner_count;
  struct {
    uint32_t pc;
    tl_slot value;  // owned
  } inner[TL_REGION_INNER];
  int hoisted_count;
  tl_slot hoisted[TL_REGION_HOISTED];  // arrays of its own
  int callee_count;
  tl_region_callee callees[TL_REGION_CALLEES];
  int transfer_count;
  struct {
    int8_t from, to;  // roots: the ownership went over
  } transferred[TL_REGION_TRANSFERS];
  bool uncacheable;  // it depends on values: good for this run alone
  int value;         // the node that is the result, or goes to the consumer
  uint32_t result;   // the slot of the result
  tl_region_consumer consumer;
  uint32_t stop;  // the instruction that did not fit the others; 0: none
  uint32_t skip;  // where the reading failed: no use to begin before it
  uint32_t end;   // where to go on
  // Without the consumer, whose instruction is then run after the region.
  uint32_t consumer_pc;
  uint32_t consumed_slot;  // the slot of what it takes
  bool detaches;           // that is possible

  // The result, or what was selected, stands at the front of an operand, which
  // is cut to it once the graph has been cached.
  bool is_longer;

  // TL_CONSUMER_PLACE
  int target;  // the root that is updated; of TL_CONSUMER_SELECT, one of two
               // operands that is no node and ends there; or -1
  tl_region_index place;

  // x[mask] += y[mask], or x[mask] = 0. What is read as x[mask] is all of x, a
  // use that is [taken]; what is computed of it is stored where the mask is
  // true, and until then [takes]. Nodes from taken_at on are those after it.
  bool takes;
  int taken_mask, taken_at;
  bool masked;  // the value is such a choice, a node of TL_OP_WHERE

  // TL_CONSUMER_SELECT: nodes, or -1 - the number of a use; one is a node
  int selected, mask;
  int64_t selected_before;  // items, of an earlier run; 0: not known

  // TL_CONSUMER_SCAN, and fold and arguments
  tl_dtype scan_dtype;

  // TL_CONSUMER_FOLD
  const tl_builtin *fold;
  tl_slot arguments[TL_MAX_PARAMS];  // but for the first
  int before_norm;  // the node whose norm it is, value being of it; or -1

  // What a container lends is left to the instructions: [has_heirs] of another
  // reading were not used up.
  bool settles, has_heirs;

  // TL_CONSUMER_MULTI, while [together] is read
  bool together;
  int result_count;
  tl_region_result results[TL_REGION_RESULTS];
  tl_slot (*result_arguments)[TL_MAX_PARAMS];  // until they are resolved

  // The first of the ragged arrays, whose rows the others must have; NULL:
  // there is none. Their items are the region's first shape.
  const tl_nested *rows;

  // A rolled view: along axis k, item i is the array's item i - shift[k], and
  // from the start on those of its end.
  int wrap_count;
  int64_t (*wraps)[TL_MAX_DIMS];

  struct tl_region_planned *cached;  // an earlier run's plan; NULL: none
  struct tl_region_planned *fresh;   // memory for one
} tl_region_graph;

// Memory for the largest graph.
typedef struct tl_region_room {
  tl_region_node nodes[TL_REGION_NODES];
  tl_region_use uses[TL_REGION_USES];
  tl_region_root roots[TL_REGION_ROOTS];
  tl_region_binding bindings[TL_REGION_BINDINGS];
  tl_region_guard guards[TL_REGION_GUARDS];
  tl_region_index indices[TL_REGION_INDICES];
  tl_region_shape shapes[TL_REGION_SHAPES];
  int64_t views[TL_REGION_VIEW_WORDS];
  int64_t wraps[TL_REGION_WRAPS][TL_MAX_DIMS];
  tl_slot result_arguments[TL_REGION_RESULTS][TL_MAX_PARAMS];
} tl_region_room;

// Whether a node's items are wanted, whatever other nodes do with them.
static inline bool tl_region_is_result(const tl_region_graph *g, int node) {
  if (g->consumer == TL_CONSUMER_SELECT)
    return node == g->selected || node == g->mask;
  for (int i = 0; i < g->result_count; i++)
    if (g->results[i].node == node)
      return true;
  return g->result_count == 0 && node == g->value;
}

// An empty graph in [room], which need not be cleared.
// Borrows [room], which has to live as long as the graph. [base] are the
// frame's slots; [function] is NULL for a graph that is not read from code.
void tl_region_open(tl_region_graph *g, tl_region_room *room, tl_vm *vm,
                    const tl_prototype *function, tl_slot *base);
// Whether a reduction's arguments, but the first, are such that a guard can say
// them: *all has two bits for each.
bool tl_region_usual(const tl_slot *arguments, uint32_t count, int64_t *all);
// Drops the reductions that the readings have made; once, after the last.
void tl_region_end_inner(tl_region_graph *g);
// Whether a part that was computed early met an interrupt or the end of a
// budget: that is not told twice.
static inline bool tl_region_is_stopped(const tl_vm *vm) {
  return vm->error.set && (vm->error.status == TALLY_ERR_INTERRUPT ||
                           vm->error.status == TALLY_ERR_LIMIT);
}
// Forgets what was read, not where it stands.
// For reading the same instructions in another way; arrays that were hoisted
// are dropped before by tl_region_end_hoisted.
void tl_region_clear(tl_region_graph *g);

// Reads the instructions from [pc] to [end], or to one before that at which
// only one result is left; false where the region cannot be run as one from
// there.
// The graph is clear or is cleared first. Sets g->end, g->skip, g->consumer,
// g->value and g->result; writes nothing else.
bool tl_region_read(tl_region_graph *g, uint32_t pc, uint32_t end);
// The instructions up to [end] alone, which is within a region.
// What is read must leave one result, the last node. Clears an error that is
// pending.
bool tl_region_read_before(tl_region_graph *g, uint32_t pc, uint32_t end);

// The same for at least two results; the reductions among them end nothing.
// Fills g->results, in no certain order. False: fewer than two results, or a
// slot that is neither a result nor has its value.
bool tl_region_read_together(tl_region_graph *g, uint32_t pc, uint32_t end);

// Whether the calls that are read get what they state, after tl_region_resolve.
// An error may be pending.
// Fails as the calls would, but only with false: the region is then not run,
// and the call itself says what is wrong.
bool tl_region_check_types(const tl_region_graph *g);

// What a guard takes out of a closure, module, record or list, or asks of an
// array, borrowed (region_graph.c); unset: it is not there. An error may be
// pending then.
tl_slot tl_region_load(const tl_region_graph *g, const tl_region_guard *f);

// What an index selects of [base], where that is a view: false for a choice of
// items, as by a bool, and after tl_fail.
// [out] is a place without positions, so it needs no tl_selection_close.
bool tl_region_find_index(const tl_region_graph *g, const tl_array *base,
                          const tl_region_index *index, tl_selection *out);

// Decides shapes and dtypes of all nodes; false where they do not allow it.
// An error may be pending then.
// After a reading, once. On false g->stop is the instruction that does not fit,
// and g->skip where a next try may begin.
bool tl_region_resolve(tl_region_graph *g);

// Computes a node now whose shape is a part of the result's (region_resolve.c);
// false where it cannot be, with an error pending. The arrays end with the run.
bool tl_region_compute_hoisted(tl_region_graph *g, int node);
// Drops what tl_region_compute_hoisted has made; once, on every path.
void tl_region_end_hoisted(tl_region_graph *g);

// Node [at]'s scalars again, after one of them has changed; false where that
// changes its dtypes. An error may be pending then.
bool tl_region_resolve_again(tl_region_graph *g, int at);

// The nodes' shapes again, after operands have got other lengths; dtypes stay.
// False where the graph is no region for them. An error may be pending then.
bool tl_region_shape_again(tl_region_graph *g);

// Items of the result; after tl_region_resolve.
// Of several results all have this shape; of a reduction it is what goes in.
int64_t tl_region_size(const tl_region_graph *g);

// A part of the result: a shape whose axes are [axes] of the result's (NULL: as
// they are), from the item of the result at [from] on (NULL: the first).
typedef struct tl_region_tile {
  int ndim;
  const int64_t *shape;
  const int *axes;
  const int64_t *from;
} tl_region_tile;

// What a stream shows: the scalar that is a node's operand; node -1: a use; the
// output: both -1, of several results the operand -1 - the target's number.
typedef struct tl_region_origin {
  int8_t node, operand;
} tl_region_origin;

// A plan, and where its streams' data come from.
// Valid for one graph and for operands of the same shapes and strides. Numbers
// and addresses in it are those of the last run; tl_region_plan_to and its like
// set them before each one.
typedef struct tl_region_planned {
  tl_plan plan;
  bool is_ready;
  int target_count;  // results
  struct {
    tl_dtype dtype;
    bool is_array, last;
    int64_t strides[TL_MAX_DIMS];  // of an array
  } targets[TL_REGION_RESULTS];
  tl_region_origin streams[TL_PLAN_STREAMS];
  tl_plan_room *room;  // for making it
} tl_region_planned;

// Makes the plan that writes a tile of the result, as [dtype], to [out]. With
// out NULL the items go to the plan's consumer, in the order of the tile.
// false: too much for one plan.
bool tl_region_plan(const tl_region_graph *g, tl_region_planned *planned,
                    const tl_region_tile *tile, void *out, tl_dtype dtype,
                    const int64_t *out_strides);

// The plan that was made for another tile, along no axis shorter, for this one.
// [planned] is not changed but for its streams and its lengths, so the longest
// tile has to come first.
tl_plan *tl_region_plan_again(const tl_region_graph *g,
                              tl_region_planned *planned,
                              const tl_region_tile *tile, void *out);

// The same for the whole result, its axes in the order of [axes] (NULL: as they
// are): the plan of an earlier run where it fits. NULL: too much for one plan.
tl_plan *tl_region_plan_whole(tl_region_graph *g, const tl_region_tile *tile,
                              void *out, tl_dtype dtype,
                              const int64_t *out_strides);

// Computes a tile into memory, its axes [strides] bytes apart, whatever
// operands are rolled (region_write.c). To be thrown away where it is declined.
// [dtype] may be another than the node's: items are cast.
tl_region_status tl_region_run_tile(tl_region_graph *g,
                                    const tl_region_tile *tile, void *to,
                                    tl_dtype dtype, const int64_t *strides);

// --- region_fold.c ----------------------------------------------------------

// The largest tile from position [at] on, of at most [most] positions of
// [count] axes in row-major order, whose order is theirs: a part of one axis,
// with the axes behind it whole. Returns how many it has; from[] is set for the
// axes.
typedef struct tl_region_found_tile {
  int ndim;
  int64_t shape[TL_MAX_DIMS + 1];
  int axes[TL_MAX_DIMS + 1];
} tl_region_found_tile;

// A cached plan, its streams where the operands are now, and its output at
// [out].
// Strides of the output are those that the plan was made for.
tl_plan *tl_region_plan_to(const tl_region_graph *g, tl_region_planned *planned,
                           void *out);

// Where one of several results goes: an array of the region's shape.
typedef struct tl_region_target {
  int node;                // or -1 - the number of a use
  tl_dtype dtype;          // of the items
  void *out;               // NULL: they go to the plan's consumer
  const int64_t *strides;  // NULL: dense
  bool last;               // out is memory that others may read
} tl_region_target;

// The numbers and constants that slots are left with: borrowed, as no slot owns
// them. After all that may fail: it writes to slots.
static inline void tl_region_bind(const tl_region_graph *g) {
  tl_slot *base = g->base;
  const tl_region_use *uses = g->uses;
  const tl_region_binding *end = g->bindings + g->binding_count;
  for (const tl_region_binding *b = g->bindings; b != end; b++)
    if (b->binds) {
      tl_slot value = tl_borrow(uses[-1 - b->in].value);
      tl_copy_slot(&base[b->slot], &value);
    }
}

// Operations that make no array of their own.
int tl_region_count_fused(const tl_region_graph *g);

// As tl_region_plan_whole, for several results.
tl_plan *tl_region_plan_multi(tl_region_graph *g,
                              const tl_region_target *targets, int count);

// Runs such a plan, its blocks going to [consumer], which may be NULL. It is
// declined where there is no plan.
tl_region_status tl_region_run_plan(const tl_region_graph *g, tl_plan *plan,
                                    tl_plan_consume *consumer, void *context,
                                    bool may_stop);

// --- Cached graphs: region_cache.c ------------------------------------------

// The graph and plan of an earlier run from one instruction on.
struct tl_region_cached {
  tl_region_cached *next;           // of the region, the last used first
  tl_region_cached *newer, *older;  // of the VM
  tl_region *where;
  const tl_unit *unit;
  uint32_t pc;
  bool is_busy;       // a run is under way
  bool is_stale;      // its values are of different runs
  bool is_good;       // to be used again
  bool any_length;    // arrays may be of other lengths this time
  bool is_reshaped;   // some are: the nodes' shapes are of another run
  bool is_restrided;  // and so are the streams' strides of the plan
  bool is_short;      // tl_region_run_short does it
  bool is_simple;     // nothing has to be computed to see that all is as before
  bool is_placed;     // its plan has no registers, which each run places
  bool is_last;       // so it is asked, as the last run was a short one
  int8_t over;        // the root whose memory a short run goes to; -1: none
  uint16_t fused;     // operations that make no array of their own
  int view_words;     // without what a run adds
  size_t nbytes, plan_nbytes;
  void *plan_memory;
  // The tag and the header of a result that tl_region_run_short has made, with
  // two axes at most; tag 0: none yet.
  uint64_t model_tag;
  int64_t model[sizeof(tl_array) / sizeof(int64_t) + 4];
  tl_region_graph graph;
  tl_region_planned planned;
};

// The one that is good for what the frame holds now, its values taken; or NULL.
// Where operands are other ones in each run, as x[:i] is in a loop, the one
// that was used last is good for arrays of other lengths, too: *other is then
// true, and its plan is made anew where only the length of a vector is no
// other.
// [base] is the frame of this run. The graph returned is not busy yet; the
// caller says so while it runs.
tl_region_cached *tl_region_find_cached(tl_region *where, uint32_t pc,
                                        tl_slot *base, bool *other);

// Keeps the plan that a run of a cached graph has made for other lengths.
// Does nothing where it has its plan still, or the run made none.
void tl_region_renew(tl_region_cached *k);

// Keeps a graph, and its plan if it has one, after it has run from [pc] on.
// Without memory nothing is cached.
// Counts no arrays: values that it shows may end after this, and are taken anew
// before they are looked at again.
void tl_region_cache(tl_region_graph *g, tl_region *where, uint32_t pc);

// Takes it out of all lists and frees it. Not while it is busy.
void tl_region_drop_cached(tl_vm *vm, tl_region_cached *k);

// --- Short arrays: region_short.c --------------------------------------------

// Decides is_short and is_simple. Called for each new plan.
void tl_region_find_short(tl_region_cached *k);

// Whether an array of one block is all that is to be made of the values that
// are taken, in memory of its own or over the one operand that ends, and no
// contract is to be kept. Sets over.
bool tl_region_runs_short(tl_region_cached *cached);

// A view that is as far from its array's beginning as before. False: an earlier
// guard has placed it, elsewhere (region_graph.c).
bool tl_region_move_view(const tl_region_graph *g, const tl_region_guard *f);

// Makes the array; false: no memory, with an error pending.
// Writes the result to its slot itself, and binds what else the region leaves;
// nothing else ends here.
bool tl_region_run_short(tl_region_cached *cached);

// Reduces g->value by g->fold, or as [call] says.
// *out is owned where it is done. Both decline before anything is written, so
// that the instruction itself can run.
tl_region_status tl_region_fold(tl_region_graph *g, tl_slot *out);
// [call] is borrowed; its axes are those of g->value's shape.
tl_region_status tl_region_fold_call(tl_region_graph *g,
                                     const tl_fold_call *call, tl_slot *out);

// Whether computing everything twice is worth it: a few simple operations.
bool tl_region_is_cheap(const tl_region_graph *g);

// Whether items become a dtype without a look at them.
bool tl_region_is_cast(tl_dtype from, tl_dtype to);

// How a node's items are reduced: r, but for where results go, and the dtype
// that the plan hands out. False: not so.
bool tl_region_reducer(const tl_region_graph *g, int node,
                       const tl_fold_call *call, tl_reducer *r,
                       tl_dtype *dtype);

// The place [index] of [a] as a view; NULL where a node's items are not stored
// there as they are.
// Takes memory for a view (tl_region_view), which lives as long as the graph.
// An index that is no view gives NULL, too, perhaps with an error pending.
tl_array *tl_region_find_place(tl_region_graph *g, const tl_array *a, int node,
                               const tl_region_index *index);

// All results of TL_CONSUMER_MULTI, into results[]. Nothing is written where it
// is declined.
// results[i] is owned, in the order of g->results; the array of a place is its
// root's.
tl_region_status tl_region_multi(tl_region_graph *g, tl_slot *results);

// The items of g->selected that g->mask takes, as a vector.
// *out is owned. Declined where the mask is no mask, or has another shape.
tl_region_status tl_region_select(tl_region_graph *g, tl_slot *out);
// Cuts a result that stands in an operand to its length: no sooner than the
// graph has been cached, which the operand's shape is part of.
void tl_region_cut(tl_region_graph *g, tl_slot *out);

// Feeds g->value's items, as [dtype], to a consumer: in the order of [axes]
// (NULL: as they are).
// Done, all items have been handed out, on one thread unless [split] says how
// parts are made. Failed, some may have been. Declined only before the first
// item has been handed out, or by a tile that is cut too often.
tl_region_status tl_region_feed(tl_region_graph *g, const int *axes,
                                tl_dtype dtype, tl_plan_consume *consumer,
                                void *context, const tl_plan_split *split);
// Whether the region can feed the running fold; sets g->scan_dtype.
// Not with an initial item, which would make the result longer than the
// region's shape, nor where operands are rolled.
bool tl_region_scan_fits(tl_region_graph *g);
// Begins a running fold into a dense array of such a shape.
void tl_region_open_scanner(tl_scanner *s, const tl_scan_call *call,
                            tl_dtype dtype, int ndim, const int64_t *shape,
                            void *to);
// The dtype of what the region makes: of a running fold that of its results.
// Of a scan only after tl_region_scan_fits.
tl_dtype tl_region_result_dtype(const tl_region_graph *g);

// Whether an operand that is read has a wrap.
bool tl_region_has_wrap(const tl_region_graph *g);

// The shift of a rolled operand along each axis of it.
static inline const int64_t *tl_region_shift(const tl_region_graph *g,
                                             const tl_region_use *u) {
  return g->wraps[u->wrap - 1];
}

// An array of at least one axis: the others count as numbers.
static inline bool tl_region_is_array(tl_slot s) {
  return tl_is_array(s) && tl_ndim(s.array) > 0;
}
// Whether an operand is a number: an unboxed one, or one in an array of rank 0.
// A graph counts both alike, so that 2 and asarray(2) give the same plan.
static inline bool tl_region_is_scalar(const tl_region_graph *g, int in) {
  return in < 0 && !tl_region_is_array(g->uses[-1 - in].items);
}
// The array that a use is, if a node that is needed reads it; else NULL.
static inline const tl_array *tl_region_read_array(const tl_region_use *u) {
  return u->read && tl_region_is_array(u->items) ? u->items.array : NULL;
}

// Ragged rows (region_rows.c). What an operand is computed with: of ragged rows
// of plain items those of all rows, where they are all that there is; of other
// values themselves.
tl_slot tl_region_items(tl_slot value);
// A ragged value whose items are all of its content (tl_region_items).
static inline bool tl_region_is_ragged(const tl_region_use *u) {
  return tl_is_nested(u->value) && tl_is_array(u->items);
}
// Finds g->rows; false: the ragged operands have other rows.
// The items of all rows become the region's first shape, number 0.
bool tl_region_find_rows(tl_region_graph *g);
// Whether an array has one item for each row.
// A number counts as such an array; of shape rows or rows * 1.
bool tl_region_is_per_row(const tl_region_graph *g, tl_slot items);
// Whether the result is the items of ragged rows.
static inline bool tl_region_makes_rows(const tl_region_graph *g) {
  return g->rows != NULL && g->nodes[g->value].shape == 0;
}
// Reduces the rows, or all their items.
// Only reductions over the last axis, or over both without axes left; others
// decline.
tl_region_status tl_region_fold_rows(tl_region_graph *g, tl_slot *out);
// *out is a ragged array with the offsets of the operands, in a dying operand's
// memory or new.
tl_region_status tl_region_rows_to_array(tl_region_graph *g, tl_slot *out);
// The slot that has the array which a use shows, whole: the frame's, or the
// item of a container or the captured value of a function that is in a slot of
// the frame. NULL: it does not end with the region. *ended is when, as in
// roots. Returns borrowed: it may be written only by tl_region_take_over.
tl_slot *tl_region_owner(const tl_region_graph *g, int use, int *ended);
// The result has got that array, whose slot is not to end it.
void tl_region_take_over(tl_region_graph *g, int use);
// The dying operand that the result may be written into, or -1. [fits]: what
// else must hold of it.
// Returns the use's number. The memory is taken by the caller, after the run.
// Of the uses only those are asked whose root is still consumed, so a memory is
// given to one result.
int tl_region_find_target(const tl_region_graph *g, tl_dtype dtype, int ndim,
                          const int64_t *shape,
                          bool (*fits)(const tl_region_graph *,
                                       const tl_array *));
// The arrays that are read: up to TL_REGION_USES.
int tl_region_arrays(const tl_region_graph *g, const tl_array **arrays);
// Whether an array of the operations would lie as transposed operands do: folds
// take items in their order, for which these would be read by columns, while
// most reductions of the array read memory in its order.
bool tl_region_lies_otherwise(const tl_region_graph *g);
// The result as a new array, its layout that of what is read; *out is owned.
tl_region_status tl_region_make_array(tl_region_graph *g, tl_array **out);
// The same into [to], which has the result's shape (region_write.c); it is
// dense where a running fold goes there.
tl_region_status tl_region_write(tl_region_graph *g, tl_array *to,
                                 tl_dtype dtype, bool may_stop);
// The result of a region of an operation, in a dying operand's memory or a new
// array; or stored to g->place (region_store.c). *out is owned.
tl_region_status tl_region_to_array(tl_region_graph *g, tl_slot *out);
// *out is the whole array, whose slot it goes to.
tl_region_status tl_region_to_place(tl_region_graph *g, tl_slot *out);
// Whether [target] may be written while the others are read: none of them may
// be read at another place of its memory.
// Reading item on item at the same place does no harm, since a block is read
// before it is written.
bool tl_region_is_safe_target(const tl_region_graph *g, const tl_array *target);
// Whether other places of [target] are read in such ways that the result can be
// written over it all the same, with little memory; and that, declined before
// anything is written (region_elsewhere.c).
bool tl_region_is_shifted(const tl_region_graph *g, const tl_array *target);
tl_region_status tl_region_write_shifted(tl_region_graph *g, tl_array *to,
                                         tl_dtype dtype);
// The same where the items are also written in their order, without gaps.
bool tl_region_is_dense_target(const tl_region_graph *g,
                               const tl_array *target);

// The value of a guard that is computed of numbers alone (region_cache.c);
// false where it is none.
bool tl_region_compute_scalars(const tl_region_graph *g,
                               const tl_region_guard *f, tl_slot *out);

// Whether x's ownership of an object goes to y, which shows the same one.
static inline bool tl_region_transfers(tl_slot x, tl_slot y) {
  return tl_is_owned(x) && tl_is_heap(y) && !tl_is_owned(y) &&
         x.pointer == y.pointer;
}

// Lets it go there, as a guard says; false: it goes, or does not, against that.
bool tl_region_transfer(tl_region_graph *g, const tl_region_guard *f);

// A place as a view in the region's own memory, NULL: none is left.
// Returns borrowed: valid as long as the region's memory. [shape] and [strides]
// are copied; the view owns nothing, and nobody may release it.
tl_array *tl_region_view(tl_region_graph *g, const tl_array *base,
                         tl_dtype dtype, char *data, int ndim,
                         const int64_t *shape, const int64_t *strides);
