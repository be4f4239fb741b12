// The module memory: who refers to whom, as values and as pictures.
//
//
// Objects do not know who refers to them. To find owners, all references that
// the VM has are walked (tl_each_reference), and records are made of what such
// a walk calls back with:
//
//   root --"x"--> list --[0]--> array        refs(x) looks to the right,
//                                            chain(…) to the left
//
// Walks need no memory of the script's; what they make is listed last, so that
// it is not found itself.
#include <stdio.h>

#include "stdlib/families.h"
#include "stdlib/memory_records.h"
#include "stdlib/text.h"
#include "vm/bytecode/module.h"
#include "vm/observe/reach.h"
#include "vm/observe/references.h"

static const char *const count_names[] = {"virtual", "embedded", "immediate",
                                          "borrowed"};

// Shows every reference that the VM can find to [visit], for memory.[function].
// False after tl_fail: there was no memory to look at all values.
static bool walk(tl_vm *vm, const char *function, tl_reference_visit *visit,
                 void *context) {
  bool complete = true;
  tl_each_reference(vm, true, visit, context, &complete);
  return complete || tl_fail_incomplete(vm, function);
}

// --- Lists of references ----------------------------------------------------

// A list of records under way, while the walk over the references calls back.
// [wanted] NULL: every reference is listed.
typedef struct gathering {
  tl_vm *vm;
  tl_list *list;
  const tl_object *wanted;  // of backrefs
  tl_reach parts;           // and the arrays that it consists of
  bool ok;
} gathering;

// Whether a reference is one to what backrefs asks for: to its parts, too, but
// from elsewhere, as a field that is stored by itself has.
static bool is_wanted(const gathering *g, const tl_reference *r) {
  return r->to.object == g->wanted ||
         (tl_reach_has(&g->parts, r->to.object) &&
          (r->from == NULL || !tl_reach_has(&g->parts, r->from)));
}

// Adds a reference to the list: for refs what is referred to, for backrefs who
// refers. False ends the walk.
static bool gather(void *context, const tl_reference *r) {
  gathering *g = context;
  if (g->wanted != NULL && !is_wanted(g, r))
    return true;
  char text[TL_REFERENCE_NAME + TL_DESCRIBE + 8];
  tl_record *record = tl_record_new(g->vm, 4);
  if (g->wanted != NULL) {
    tl_spell_owner(r, text, sizeof text);
    tl_record_put_text(g->vm, &record, "owner", text);
  } else {
    tl_record_put_text(g->vm, &record, "place", r->name);
    tl_record_put_text(g->vm, &record, "type",
                       tl_describe(r->to, text, sizeof text));
    tl_record_put_int(g->vm, &record, "bytes", r->to.object->nbytes);
  }
  tl_record_put_text(g->vm, &record, "count", count_names[r->count]);
  g->ok = tl_record_put_into(g->vm, &g->list, record);
  return g->ok;
}

// The same, and a view that borrows its block: that the block is alive somebody
// else takes care.
static bool gather_back(void *context, const tl_reference *r) {
  gathering *g = context;
  const tl_array *a = tl_is_array(r->to) ? r->to.array : NULL;
  bool lent = r->is_first && a != NULL && tl_is_view(a) &&
              (a->head.flags & TL_HOLD) == 0 &&
              (&tl_array_owner(a)->head == g->wanted ||
               tl_reach_has(&g->parts, &tl_array_owner(a)->head));
  tl_reference block = {.kind = TL_REFERENCE_ITEM,
                        .count = TL_COUNT_BORROWED,
                        .from = r->to.object,
                        .to = {.object = (tl_object *)(uintptr_t)g->wanted},
                        .name = "its block"};
  return gather(g, r) && (!lent || gather(g, &block));
}

// memory.refs(x): the objects that x refers to directly, with their places.
static bool refs(tl_vm *vm, tl_slot *args, tl_slot *out) {
  gathering g = {.vm = vm, .list = tl_list_new(vm, 4)};
  g.ok = g.list != NULL;
  if (g.ok)
    tl_each_item(args[0], gather, &g);
  return tl_list_give(vm, g.list, g.ok, out);
}

// Meets a part of a nested array. What a part refers to, such as the block of a
// view, is no part.
static bool meet_part(void *context, const tl_reference *r) {
  tl_reach_meet(context, r->to);
  return true;
}

// The nested array and all arrays that it consists of; of others nothing.
static void find_parts(tl_slot s, tl_reach *parts) {
  if (tl_is_nested(s))
    tl_reach_meet(parts, s);
  while (tl_reach_next(parts, &s))
    if (tl_is_nested(s))
      tl_each_item(s, meet_part, parts);
}

// memory.backrefs(x): every reference to x that the VM can find, by a walk over
// all there are, counted or not. A scalar has none, so its list is empty.
static bool backrefs(tl_vm *vm, tl_slot *args, tl_slot *out) {
  bool complete = true;
  gathering g = {.vm = vm, .list = tl_list_new(vm, 4)};
  g.ok = g.list != NULL;
  if (g.ok && tl_is_counted(args[0])) {
    g.wanted = args[0].object;
    g.parts.vm = vm;
    find_parts(args[0], &g.parts);
    tl_each_reference(vm, true, gather_back, &g, &complete);
    complete = complete && !g.parts.failed;
    if (g.ok && complete)
      tl_each_alias(vm, gather, &g, &complete);
  }
  if (!complete && g.ok)
    g.ok = tl_fail_incomplete(vm, "backrefs");
  tl_reach_end(&g.parts);
  return tl_list_give(vm, g.list, g.ok, out);
}

// --- Circles ----------------------------------------------------------------

// Adds the resource of a circle to the list, which nothing refers to yet.
static bool gather_circle(void *context, const tl_reference *r) {
  gathering *g = context;
  if (r->kind != TL_REFERENCE_CIRCLE)
    return true;
  g->ok = tl_list_push_own(g->vm, &g->list, tl_retain(g->vm, r->to));
  return g->ok;
}

// memory.circles().
static bool circles(tl_vm *vm, tl_slot *args, tl_slot *out) {
  gathering g = {.vm = vm, .list = tl_list_new(vm, 4)};
  g.ok = g.list != NULL;
  g.ok = g.ok && walk(vm, "circles", gather_circle, &g) && g.ok;
  return tl_list_give(vm, g.list, g.ok, out);
}

// --- Chains -----------------------------------------------------------------

// One step back: the first owner found of an object.
typedef struct step {
  const tl_object *wanted;
  tl_reference found;
  bool any;
} step;

// Notes an owner of the wanted object; an object's reference to itself leads
// nowhere and is passed over. False ends the walk at a root.
static bool take_step(void *context, const tl_reference *r) {
  step *s = context;
  if (r->to.object != s->wanted || r->from == s->wanted)
    return true;
  // A root ends the chain; else the first container.
  if (!s->any || r->from == NULL)
    s->found = *r;
  s->any = true;
  return r->from != NULL;
}

// Whether the chain has come to what [test] asks for; false after tl_fail.
static bool is_there(tl_vm *vm, tl_slot test, const char *owner, bool *there) {
  *there = false;
  if (tl_is_none(test))
    return true;
  tl_string *text = tl_string_from(vm, owner);
  tl_slot answer;
  if (text == NULL)
    return false;
  tl_slot argument = tl_own_string(text);
  if (!tl_call(vm, tl_borrow(test), 1, &argument, &answer))
    return false;
  *there = tl_is_bool(answer) && answer.i != 0;
  tl_drop(vm, answer);
  return true;
}

// memory.chain(x, test): owners from x back to a root, or to the first for
// which test(owner) is true. Each step is a walk over all references, as no
// object knows its owners; LONGEST ends it where objects refer to each other in
// a circle.
static bool chain(tl_vm *vm, tl_slot *args, tl_slot *out) {
  enum { LONGEST = 1000 };
  tl_list *list = tl_list_new(vm, 4);
  bool ok = list != NULL, there = false;
  step s = {.wanted = tl_is_counted(args[0]) ? args[0].object : NULL};
  for (int i = 0; ok && !there && s.wanted != NULL && i < LONGEST; i++) {
    char text[TL_REFERENCE_NAME + TL_DESCRIBE + 8];
    s.any = false;
    ok = walk(vm, "chain", take_step, &s);
    if (!ok || !s.any)
      break;
    tl_spell_owner(&s.found, text, sizeof text);
    ok = tl_list_push_text(vm, &list, text, strlen(text)) &&
         is_there(vm, args[1], text, &there);
    // NULL for a root, which ends the chain.
    s.wanted = s.found.from;
  }
  return tl_list_give(vm, list, ok, out);
}

// --- By type ----------------------------------------------------------------

// The sums under way: a record { kind: { count, bytes } }.
typedef struct sums {
  tl_vm *vm;
  tl_record *record;
  bool ok;
} sums;

// Arrays by dtype and rank, all else by kind.
static void spell_kind(tl_slot value, char *out, size_t size) {
  char type[TL_DESCRIBE];
  if (!tl_is_array(value)) {
    snprintf(out, size, "%s", tl_describe(value, type, sizeof type));
    return;
  }
  int n = 0;
  for (int i = 0; i < tl_ndim(value.array) && n < 60; i++)
    n += snprintf(out + n, size - (size_t)n, "_ * ");
  snprintf(out + n, size - (size_t)n, "%s%s",
           tl_dtypes[tl_array_dtype(value.array)].name,
           tl_is_view(value.array) ? " view" : "");
}

// Adds an object to the sum of its kind, at the first reference to it that the
// walk meets: others are of the same object.
static bool add_object(void *context, const tl_reference *r) {
  sums *s = context;
  if (!r->is_first)
    return true;
  char kind[120];
  spell_kind(r->to, kind, sizeof kind);
  tl_slot *old = tl_record_get_name(s->record, kind);
  uint64_t bytes = r->to.object->nbytes, count = 1;
  if (old != NULL) {
    count += (uint64_t)tl_record_get_name(old->record, "count")->i;
    bytes += (uint64_t)tl_record_get_name(old->record, "bytes")->i;
  }
  tl_record *sum = tl_record_new(s->vm, 2);
  tl_record_put_int(s->vm, &sum, "count", count);
  tl_record_put_int(s->vm, &sum, "bytes", bytes);
  tl_slot value;
  tl_record_put_made(s->vm, &s->record, kind, tl_record_put_end(sum, &value),
                     &value);
  s->ok = s->record != NULL;
  return s->ok;
}

// Sums all objects by kind, for [function]. *out is owned, and untouched on
// failure.
static bool count_types(tl_vm *vm, const char *function, tl_slot *out) {
  sums s = {.vm = vm, .record = tl_record_new(vm, 8), .ok = true};
  if (s.record == NULL)
    return false;
  if (!walk(vm, function, add_object, &s) || !s.ok)
    tl_record_put_nothing(vm, &s.record);
  return tl_record_put_end(s.record, out);
}

// memory.by_type().
static bool by_type(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return count_types(vm, "by_type", out);
}

// memory.growth(before): since the last call without an argument, whose sums
// are in vm->grown, or since the sums given. Only the former are replaced. What
// grew is told in Tally.
static bool growth(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot now;
  bool since_last = tl_is_none(args[0]);
  if (!since_last && !tl_is_record(args[0]))
    return tl_arg_fail(vm, "memory.growth", "before",
                       "a record of memory.by_type, or none", args[0]);
  if (!count_types(vm, "growth", &now))
    return false;
  tl_slot given[] = {tl_borrow(now),
                     tl_borrow(since_last ? vm->grown : args[0])};
  bool ok = tl_call_embedded(vm, "inner/timeline", "growth", 2, given, out);
  tl_drop(vm, ok && since_last ? vm->grown : now);
  if (ok && since_last)
    vm->grown = now;
  return ok;
}

// --- Graphs -----------------------------------------------------------------

// Objects and owners, found from one value outwards, as records of nodes and
// edges, which no walk finds. More than that no picture shows legibly; a graph
// that is cut says so.
enum { NODES = 64, EDGES = 256 };

typedef struct graph {
  tl_vm *vm;
  tl_list *nodes, *edges;
  // Of each node; a root, which is an owner outside of all objects, or in one
  // that is not entered, has none. The value is of level 1, its items of 2;
  // owners come before what they own.
  tl_slot values[NODES];
  int levels[NODES];
  int at;         // the node whose items are added
  bool has_more;  // something did not fit
  bool failed;    // tl_fail was called
} graph;

// Counts a reference that is looked at; false after tl_fail.
static bool goes_on(graph *g) {
  g->failed = g->failed || !tl_poll_items(g->vm, TL_REACH_WORK);
  return !g->failed;
}

// The node of an object, or -1. A linear search, since there are few nodes.
static int find_node(const graph *g, const tl_object *object) {
  for (int i = 0; i < (int)g->nodes->length; i++)
    if (!tl_is_none(g->values[i]) && g->values[i].object == object)
      return i;
  return -1;
}

// Adds an object, which is borrowed, or where [owner] is not NULL a root. The
// number of the new node, or -1 where there is no room (has_more) or memory.
static int add_node(graph *g, tl_slot value, const char *owner, int level) {
  const int at = (int)g->nodes->length;
  const bool is_root = owner != NULL;
  if (at == NODES) {
    g->has_more = true;
    return -1;
  }
  g->values[at] = value;
  g->levels[at] = level;
  tl_record *record = tl_record_new(g->vm, 5);
  tl_record_put(g->vm, &record, "is_root", tl_bool(is_root));
  tl_record_put_text(g->vm, &record, "label",
                     is_root ? owner : tl_described(g->vm, value));
  tl_record_put_int(g->vm, &record, "level", (uint64_t)(int64_t)level);
  tl_record_put_int(g->vm, &record, "count", is_root ? 0 : value.object->count);
  tl_record_put_int(g->vm, &record, "bytes",
                    is_root ? 0 : value.object->nbytes);
  g->failed |= !tl_record_put_into(g->vm, &g->nodes, record);
  return g->failed ? -1 : at;
}

// Adds an edge between two nodes by their numbers, of which the first may be
// -1. Only edges from objects have labels; a root's owner is in its node.
static void add_edge(graph *g, int from, int to, const tl_reference *r) {
  g->has_more |= g->edges->length == EDGES;
  if (from < 0 || g->edges->length == EDGES)
    return;
  tl_record *record = tl_record_new(g->vm, 4);
  tl_record_put_int(g->vm, &record, "from", (uint64_t)from);
  tl_record_put_int(g->vm, &record, "to", (uint64_t)to);
  tl_record_put_text(g->vm, &record, "count", count_names[r->count]);
  tl_record_put_text(g->vm, &record, "label",
                     tl_is_none(g->values[from]) ? "" : r->name);
  g->failed |= !tl_record_put_into(g->vm, &g->edges, record);
}

// Adds an item of the node g->at, and the edge to it. References that do not
// fit are noted in has_more.
static bool add_item(void *context, const tl_reference *r) {
  graph *g = context;
  g->has_more |= g->edges->length == EDGES;
  if (g->edges->length == EDGES || !goes_on(g))
    return false;
  int to = find_node(g, r->to.object);
  if (to < 0)
    to = add_node(g, r->to, NULL, g->levels[g->at] + 1);
  if (to >= 0)
    add_edge(g, g->at, to, r);
  return !g->failed;
}

// Who refers into the graph from outside. One node for each owner's reference:
// owners outside have no object that could be found again.
static bool add_owner(void *context, const tl_reference *r) {
  graph *g = context;
  if (!goes_on(g))
    return false;
  int to = find_node(g, r->to.object);
  if (to < 0 || (r->from != NULL && find_node(g, r->from) >= 0))
    return true;
  char owner[TL_REFERENCE_NAME + 8];
  tl_spell_owner(r, owner, sizeof owner);
  add_edge(g, add_node(g, tl_none(), owner, g->levels[to] - 1), to, r);
  return !g->failed;
}

// Fills the graph from [value] outwards, level by level: the nodes are also the
// queue of the walk, so that those behind g->at are all that remains. Owners
// from outside come last, when it is known which nodes there are.
static bool fill(graph *g, tl_slot value, int64_t depth) {
  add_node(g, value, NULL, 1);
  for (; g->at < (int)g->nodes->length && !g->failed; g->at++)
    if (g->levels[g->at] <= depth)
      tl_each_item(g->values[g->at], add_item, g);
  return !g->failed && walk(g->vm, "graph", add_owner, g) && !g->failed;
}

// The graph as stdlib/inner/memory.tly wants it.
static bool build(tl_vm *vm, tl_slot value, int64_t depth, tl_slot *out) {
  graph g = {.vm = vm,
             .nodes = tl_list_new(vm, NODES),
             .edges = tl_list_new(vm, EDGES)};
  bool ok = g.nodes != NULL && g.edges != NULL && fill(&g, value, depth);
  tl_record *record = tl_record_new(vm, 3);
  tl_record_put_list(vm, &record, "nodes", g.nodes, ok);
  tl_record_put_list(vm, &record, "edges", g.edges, ok);
  tl_record_put(vm, &record, "has_more", tl_bool(g.has_more));
  return tl_record_put_end(record, out);
}

// memory.graph(x, depth, form): the graph is found here, and drawn in Tally.
static bool draw(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!tl_is_counted(args[0])) {
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "memory.graph: nothing refers to %s by a count",
                   tl_described(vm, args[0]));
  }
  tl_slot given[2] = {tl_none(), tl_borrow(args[2])};
  if (!build(vm, args[0], args[1].i, &given[0]))
    return false;
  return tl_call_embedded(vm, "inner/memory", "graph", 2, given, out) ||
         (vm->error.named = false);
}

const tl_builtin tl_memory_references[] = {
    /// What a value refers to: a list of records (place, type, bytes, count),
    /// where count says which of the three counts the reference is part of.
    /// Constants of the program are counted by nobody and left out.
    /// Takes any value; want of memory is the only error (kind memory).
    ///     memory.refs(([1, 2], 3))[0].place    # "[0]"
    {"refs", "x", refs, TL_EFFECT, .takes = TL_FORMS},
    /// Who refers to a value: a list of records (owner, count). Owners on the
    /// stack are named by variable, function, line and slot; the argument of
    /// this call is none of them. count is "borrowed" of what owns nothing: a
    /// second name (y = x), a view that is not stored. Of a nested array those
    /// that refer to its parts are among them, as a view of a field is.
    /// Takes any value; want of memory is the only error (kind memory).
    ///     memory.backrefs(3)    # ()
    {"backrefs", "x", backrefs, TL_EFFECT, .takes = TL_FORMS},
    /// One way from a value back to what keeps it alive: the names of its
    /// owners, the nearest first, up to a variable, or to the first for whose
    /// name test gives true.
    /// Takes any value and gives a list of strings; want of memory is the only
    /// error (kind memory).
    ///     memory.chain(3)    # ()
    {"chain", "x, test: none", chain, TL_EFFECT | TL_CALLS, .takes = TL_FORMS},
    /// A host's objects that keep themselves alive: each holds a value that
    /// leads back to it, and no variable leads to either, so that no count will
    /// ever free them. memory.graph draws what such an object holds. Scripts
    /// alone make none.
    /// A list, of each circle one object; want of memory is the only error (kind
    /// memory).
    ///     memory.circles()    # ()
    {"circles", "", circles, TL_EFFECT},
    /// How many objects are alive, and their bytes, by type: of arrays the
    /// dtype and rank. Temporaries of calls under way are left out.
    /// Want of memory is the only error (kind memory).
    ///     typeof(memory.by_type())    # record
    {"by_type", "", by_type, TL_EFFECT},
    /// How many more objects of each type there are than in an earlier result
    /// of memory.by_type(); without it, than at the last such call: the first
    /// gives all. What grows from call to call is kept by somebody.
    /// A record of integers. Values that by_type did not give are an error (kind
    /// type).
    ///     memory.growth(memory.by_type())    # (:)
    {"growth", "before = none", growth, TL_EFFECT},
    /// A picture of what a value refers to, to a depth, and of who refers to
    /// that: form "dot" (or none) is for Graphviz, "text" a tree, "svg" a
    /// drawing, made without Graphviz.
    /// Edges say which of the three counts they are part of. Constants of the
    /// program are left out. What is not counted itself (a number, a function,
    /// a constant) is a type error, another form or a depth below 0 a value
    /// error.
    ///     "count 1" in memory.graph((1, 2), form: "text")    # true
    {"graph", "x, depth: 4, form: none", draw, TL_EFFECT | TL_CALLS,
     .takes = TL_FORMS, .types = ".nS"},
    {.name = NULL},
};
