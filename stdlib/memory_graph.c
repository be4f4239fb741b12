// The module memory: who refers to whom, as values and as pictures.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stdlib/arguments.h"
#include "stdlib/families.h"
#include "stdlib/memory_plot.h"
#include "stdlib/text.h"
#include "vm/values/list.h"
#include "vm/values/record.h"
#include "vm/memory/references.h"

static const char *const count_names[] = {"virtual", "embedded", "immediate"};

static bool fail_incomplete(tl_vm *vm, const char *function) {
  return tl_fail(vm, TALLY_ERR_MEMORY,
                 "memory.%s: no memory to look at all values", function);
}

// --- Lists of references ----------------------------------------------------

typedef struct gathering {
  tl_vm *vm;
  tl_list *list;
  const tl_object *wanted;  // of backrefs
  bool ok;
} gathering;

static bool set_number(tl_vm *vm, tl_record **record, const char *key,
                       uint64_t number) {
  tl_slot value = tl_weak_int((int64_t)number);
  return tl_record_set_name(vm, record, key, &value);
}

static bool gather(void *context, const tl_reference *r) {
  gathering *g = context;
  if (g->wanted != NULL && r->to.object != g->wanted)
    return true;
  char text[TL_REFERENCE_NAME + TL_DESCRIBE + 8];
  tl_record *record = tl_record_new(g->vm, 4);
  g->ok = record != NULL;
  if (g->wanted != NULL) {
    tl_spell_owner(r, text, sizeof text);
    g->ok = g->ok && tl_record_set_text(g->vm, &record, "owner", text);
  } else {
    char type[TL_DESCRIBE];
    g->ok = g->ok && tl_record_set_text(g->vm, &record, "place", r->name) &&
            tl_record_set_text(g->vm, &record, "type",
                               tl_describe(r->to, type, sizeof type)) &&
            set_number(g->vm, &record, "bytes", r->to.object->nbytes);
  }
  g->ok = g->ok &&
          tl_record_set_text(g->vm, &record, "count", count_names[r->count]);
  if (record == NULL)
    return false;
  tl_slot item = tl_own_record(record);
  g->ok = g->ok && tl_list_push(g->vm, &g->list, &item);
  tl_drop(g->vm, item);
  return g->ok;
}

static bool finish(gathering *g, tl_slot *out) {
  if (g->ok)
    *out = tl_own_list(g->list);
  else if (g->list != NULL)
    tl_drop(g->vm, tl_own_list(g->list));
  return g->ok;
}

static bool refs(tl_vm *vm, tl_slot *args, tl_slot *out) {
  gathering g = {.vm = vm, .list = tl_list_new(vm, 4)};
  g.ok = g.list != NULL;
  if (g.ok)
    tl_each_item(args[0], gather, &g);
  return finish(&g, out);
}

static bool backrefs(tl_vm *vm, tl_slot *args, tl_slot *out) {
  bool complete = true;
  gathering g = {.vm = vm, .list = tl_list_new(vm, 4)};
  g.ok = g.list != NULL;
  if (g.ok && tl_is_counted(args[0])) {
    g.wanted = args[0].object;
    tl_each_reference(vm, gather, &g, &complete);
  }
  if (!complete && g.ok)
    g.ok = fail_incomplete(vm, "backrefs");
  return finish(&g, out);
}

// --- Chains -----------------------------------------------------------------

// One step back: the first owner found of an object.
typedef struct step {
  const tl_object *wanted;
  tl_reference found;
  bool any;
} step;

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

static bool push_text(tl_vm *vm, tl_list **list, const char *text) {
  return tl_list_push_text(vm, list, text, strlen(text));
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

static bool chain(tl_vm *vm, tl_slot *args, tl_slot *out) {
  enum { LONGEST = 1000 };
  tl_list *list = tl_list_new(vm, 4);
  bool ok = list != NULL, complete = true, there = false;
  step s = {.wanted = tl_is_counted(args[0]) ? args[0].object : NULL};
  for (int i = 0; ok && !there && s.wanted != NULL && i < LONGEST; i++) {
    char text[TL_REFERENCE_NAME + TL_DESCRIBE + 8];
    s.any = false;
    tl_each_reference(vm, take_step, &s, &complete);
    if (!complete)
      ok = fail_incomplete(vm, "chain");
    if (!ok || !s.any)
      break;
    tl_spell_owner(&s.found, text, sizeof text);
    ok = push_text(vm, &list, text) && is_there(vm, args[1], text, &there);
    s.wanted = s.found.from;
  }
  return tl_list_give(vm, list, ok, out);
}

// --- By type ----------------------------------------------------------------

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
  s->ok = sum != NULL && set_number(s->vm, &sum, "count", count) &&
          set_number(s->vm, &sum, "bytes", bytes);
  if (sum == NULL)
    return false;
  tl_slot value = tl_own_record(sum);
  s->ok = s->ok && tl_record_set_name(s->vm, &s->record, kind, &value);
  tl_drop(s->vm, value);
  return s->ok;
}

static bool count_types(tl_vm *vm, tl_record **out) {
  bool complete = true;
  sums s = {.vm = vm, .record = tl_record_new(vm, 8), .ok = true};
  if (s.record == NULL)
    return false;
  tl_each_reference(vm, add_object, &s, &complete);
  if (!complete && s.ok)
    s.ok = fail_incomplete(vm, "by_type");
  if (!s.ok) {
    tl_drop(vm, tl_own_record(s.record));
    return false;
  }
  *out = s.record;
  return true;
}

static bool by_type(tl_vm *vm, tl_slot *args, tl_slot *out) {
  (void)args;
  tl_record *record;
  if (!count_types(vm, &record))
    return false;
  *out = tl_own_record(record);
  return true;
}

static int64_t counted(tl_record *record, const char *kind) {
  tl_slot *sum = tl_record_get_name(record, kind);
  tl_slot *count = sum == NULL || !tl_is_record(*sum)
                       ? NULL
                       : tl_record_get_name(sum->record, "count");
  return count == NULL || !tl_is_scalar(*count) ? 0 : count->i;
}

// The types of which [now] has more than [before] (a record or none), and how
// many more; NULL after tl_fail.
static tl_record *compare(tl_vm *vm, tl_record *now, tl_slot before) {
  tl_record *gained = tl_record_new(vm, 4);
  bool ok = gained != NULL;
  for (int64_t i = 0; ok && i < now->length; i++) {
    const char *kind = now->fields[i].key->text;
    int64_t more = counted(now, kind);
    if (tl_is_record(before))
      more -= counted(before.record, kind);
    if (more > 0)
      ok = set_number(vm, &gained, kind, (uint64_t)more);
  }
  if (ok || gained == NULL)
    return gained;
  tl_drop(vm, tl_own_record(gained));
  return NULL;
}

static bool growth(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_record *now, *gained;
  bool since_last = tl_is_none(args[0]);
  if (!since_last && !tl_is_record(args[0]))
    return tl_arg_fail(vm, "memory.growth", "before",
                       "a record of memory.by_type, or none", args[0]);
  if (!count_types(vm, &now))
    return false;
  gained = compare(vm, now, since_last ? vm->grown : args[0]);
  if (gained == NULL || !since_last) {
    tl_drop(vm, tl_own_record(now));
  } else {
    tl_drop(vm, vm->grown);
    vm->grown = tl_own_record(now);
  }
  if (gained != NULL)
    *out = tl_own_record(gained);
  return gained != NULL;
}

// --- Graphs -----------------------------------------------------------------

enum { NODES = 64, EDGES = 256 };

typedef struct node {
  const tl_object *object;  // NULL: a root
  char label[TL_REFERENCE_NAME + 8];
  char note[64];  // bytes and count; "" for a root
  int level;      // 1: the value, 2: its items; owners before what they own
  int row;
} node;

typedef struct edge {
  int from, to;
  tl_reference_count count;
  char label[48];
} edge;

typedef struct graph {
  node nodes[NODES];
  edge edges[EDGES];
  int node_count, edge_count, depth;
  int at;         // the node whose items are added
  bool has_more;  // something did not fit
} graph;

static int find_node(const graph *g, const tl_object *object) {
  for (int i = 0; i < g->node_count; i++)
    if (g->nodes[i].object == object)
      return i;
  return -1;
}

static int add_node(graph *g, tl_slot value, int level) {
  if (g->node_count == NODES) {
    g->has_more = true;
    return -1;
  }
  node *n = &g->nodes[g->node_count];
  char type[TL_DESCRIBE], bytes[TL_SPELLED];
  *n = (node){.object = value.object, .level = level};
  snprintf(n->label, sizeof n->label, "%.100s",
           tl_describe(value, type, sizeof type));
  tl_spell_bytes(value.object->nbytes, bytes);
  // P10: what more refer to than a count holds is never freed.
  if (value.object->count == UINT32_MAX)
    snprintf(n->note, sizeof n->note, "%s, count full: never freed", bytes);
  else
    snprintf(n->note, sizeof n->note, "%s, count %" PRIu32, bytes,
             value.object->count);
  return g->node_count++;
}

static void add_edge(graph *g, int from, int to, const tl_reference *r) {
  if (g->edge_count == EDGES) {
    g->has_more = true;
    return;
  }
  edge *e = &g->edges[g->edge_count++];
  *e = (edge){.from = from, .to = to, .count = r->count};
  if (g->nodes[from].object != NULL)
    snprintf(e->label, sizeof e->label, "%.47s", r->name);
}

static bool add_item(void *context, const tl_reference *r) {
  graph *g = context;
  int to = find_node(g, r->to.object);
  if (to < 0)
    to = add_node(g, r->to, g->nodes[g->at].level + 1);
  if (to >= 0)
    add_edge(g, g->at, to, r);
  return true;
}

// Who refers into the graph from outside.
static bool add_owner(void *context, const tl_reference *r) {
  graph *g = context;
  int to = find_node(g, r->to.object);
  if (to < 0 || (r->from != NULL && find_node(g, r->from) >= 0))
    return true;
  if (g->node_count == NODES) {
    g->has_more = true;
    return true;
  }
  node *n = &g->nodes[g->node_count];
  *n = (node){.level = g->nodes[to].level - 1};
  tl_spell_owner(r, n->label, sizeof n->label);
  add_edge(g, g->node_count++, to, r);
  return true;
}

// The slots of nodes that are to be entered, found again by their references.
typedef struct entry {
  tl_slot slots[NODES];
} entry;

static bool remember(void *context, const tl_reference *r) {
  void **both = context;
  graph *g = both[0];
  entry *e = both[1];
  int at = find_node(g, r->to.object);
  if (at >= 0)
    e->slots[at] = r->to;
  return true;
}

static bool build(tl_vm *vm, graph *g, tl_slot value, int depth) {
  bool complete = true;
  entry e;
  void *both[2] = {g, &e};
  *g = (graph){.depth = depth};
  add_node(g, value, 1);
  e.slots[0] = value;
  for (g->at = 0; g->at < g->node_count; g->at++) {
    if (g->nodes[g->at].level > depth)
      continue;
    tl_each_item(e.slots[g->at], add_item, g);
    tl_each_item(e.slots[g->at], remember, both);
  }
  tl_each_reference(vm, add_owner, g, &complete);
  return complete || fail_incomplete(vm, "graph");
}

static void graph_dot(tl_text *text, const graph *g) {
  static const char *const styles[] = {"dotted", "dashed", "solid"};
  tl_text_puts(
      text,
      "digraph memory {\n  rankdir=LR\n  labelloc=b\n  label=\"dotted: "
      "virtual, dashed: embedded, solid: immediate\"\n  node "
      "[shape=box]\n");
  for (int i = 0; i < g->node_count; i++) {
    const node *n = &g->nodes[i];
    tl_text_printf(text, "  n%d [label=\"", i);
    for (const char *c = n->label; *c != 0; c++) {
      if (*c == '"' || *c == '\\')
        tl_text_putc(text, '\\');
      tl_text_putc(text, *c);
    }
    tl_text_printf(text, "%s%s\"%s]\n", n->note[0] != 0 ? "\\n" : "", n->note,
                   n->object == NULL ? ", shape=plaintext" : "");
  }
  for (int i = 0; i < g->edge_count; i++) {
    const edge *e = &g->edges[i];
    tl_text_printf(text, "  n%d -> n%d [style=%s, label=\"", e->from, e->to,
                   styles[e->count]);
    for (const char *c = e->label; *c != 0; c++) {
      if (*c == '"' || *c == '\\')
        tl_text_putc(text, '\\');
      tl_text_putc(text, *c);
    }
    tl_text_puts(text, "\"]\n");
  }
  tl_text_puts(text, g->has_more ? "  // and more\n}\n" : "}\n");
}

static void text_node(tl_text *text, const graph *g, int at, int indent,
                      bool *shown) {
  const node *n = &g->nodes[at];
  tl_text_printf(text, "%s, %s%s\n", n->label, n->note,
                 shown[at] ? ", shown above" : "");
  if (shown[at])
    return;
  shown[at] = true;
  for (int i = 0; i < g->edge_count; i++) {
    const edge *e = &g->edges[i];
    if (e->to != at || g->nodes[e->from].object != NULL)
      continue;
    for (int k = 0; k < indent + 1; k++) tl_text_puts(text, "  ");
    tl_text_printf(text, "owned by %s, %s\n", g->nodes[e->from].label,
                   count_names[e->count]);
  }
  for (int i = 0; i < g->edge_count; i++) {
    const edge *e = &g->edges[i];
    if (e->from != at)
      continue;
    for (int k = 0; k < indent + 1; k++) tl_text_puts(text, "  ");
    tl_text_printf(text, "%s → ", e->label);
    text_node(text, g, e->to, indent + 1, shown);
  }
}

// --- SVG --------------------------------------------------------------------

enum { BOX = 190, GAP = 120, HIGH = 40, STEP = 62, EDGE = 24 };

static int box_x(const graph *g, int at) {
  return EDGE + g->nodes[at].level * (BOX + GAP);
}

static int box_y(const graph *g, int at) {
  return 64 + g->nodes[at].row * STEP;
}

// At most [most] characters of a label.
static void svg_short(tl_text *text, const char *label, size_t most) {
  char cut[TL_REFERENCE_NAME + 8];
  snprintf(cut, sizeof cut, "%s", label);
  if (strlen(cut) > most) {
    size_t n = most - 1;
    while (n > 0 && ((unsigned char)cut[n] & 0xc0) == 0x80) n--;
    memcpy(cut + n, "…", sizeof "…");
  }
  tl_svg_text(text, cut);
}

static void svg_node(tl_text *text, const graph *g, int at) {
  const node *n = &g->nodes[at];
  int x = box_x(g, at), y = box_y(g, at);
  bool root = n->object == NULL;
  tl_text_printf(text,
                 "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\" "
                 "fill=\"%s\" stroke=\"%s\"/>",
                 x, y, BOX, HIGH,
                 root      ? "#fff"
                 : at == 0 ? "#fde9d2"
                           : "#e3edf7",
                 root      ? "#ccc"
                 : at == 0 ? "#f28e2b"
                           : "#4e79a7");
  if (root) {
    // "x in fn f, line 3, slot 2" on two lines.
    const char *comma = strstr(n->label, ", ");
    char first[TL_REFERENCE_NAME + 8];
    snprintf(first, sizeof first, "%.*s",
             comma == NULL ? (int)strlen(n->label) : (int)(comma - n->label),
             n->label);
    tl_text_printf(text, "<text x=\"%d\" y=\"%d\">", x + 9, y + 17);
    svg_short(text, first, 28);
    tl_text_printf(text, "</text><text x=\"%d\" y=\"%d\" fill=\"#666\">", x + 9,
                   y + 32);
    tl_svg_text(text, comma == NULL ? "" : comma + 2);
    tl_text_puts(text, "</text>\n");
    return;
  }
  tl_text_printf(text, "<text x=\"%d\" y=\"%d\" font-weight=\"600\">", x + 9,
                 y + 17);
  svg_short(text, n->label, 25);
  tl_text_printf(text,
                 "</text><text x=\"%d\" y=\"%d\" fill=\"#555\">%s</text>\n",
                 x + 9, y + 32, n->note);
}

static void svg_edge(tl_text *text, const graph *g, const edge *e) {
  static const char *const dashes[] = {"1 4", "6 4", ""};
  int x1 = box_x(g, e->from) + BOX, y1 = box_y(g, e->from) + HIGH / 2;
  int x2 = box_x(g, e->to), y2 = box_y(g, e->to) + HIGH / 2;
  int bend = GAP / 2;
  if (x2 <= x1 - BOX) {  // to the same column or back: around below
    x2 += BOX;
    bend = 3 * GAP / 4;
    tl_text_printf(text,
                   "<path d=\"M%d %dC%d %d %d %d %d %d\" fill=\"none\" "
                   "stroke=\"#555\" stroke-dasharray=\"%s\" "
                   "marker-end=\"url(#arrow)\"/>",
                   x1, y1, x1 + bend, y1, x2 + bend, y2, x2, y2,
                   dashes[e->count]);
  } else {
    tl_text_printf(text,
                   "<path d=\"M%d %dC%d %d %d %d %d %d\" fill=\"none\" "
                   "stroke=\"#555\" stroke-dasharray=\"%s\" "
                   "marker-end=\"url(#arrow)\"/>",
                   x1, y1, x1 + bend, y1, x2 - bend, y2, x2 - 2, y2,
                   dashes[e->count]);
  }
  // Near the end, where edges of one node have parted; of an edge that goes
  // back near its start, where no other has a label.
  bool back = bend != GAP / 2;
  tl_text_printf(text,
                 "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\" "
                 "font-size=\"11\" fill=\"#333\" stroke=\"#fff\" "
                 "stroke-width=\"3\" paint-order=\"stroke\">",
                 back ? x1 + 10 : x2 - 12, back ? y1 - 5 : y2 - 5,
                 back ? "start" : "end");
  svg_short(text, e->label, 18);
  tl_text_puts(text, "</text>\n");
}

static void svg_key(tl_text *text, int y) {
  static const char *const dashes[] = {"1 4", "6 4", ""};
  for (int i = 0; i < 3; i++)
    tl_text_printf(
        text,
        "<path d=\"M%d %dh36\" stroke=\"#555\" "
        "stroke-dasharray=\"%s\"/><text x=\"%d\" y=\"%d\">%s</text>\n",
        EDGE + i * 130, y, dashes[i], EDGE + 44 + i * 130, y + 4,
        count_names[i]);
}

static void graph_svg(tl_text *text, graph *g) {
  int rows[NODES + 2] = {0}, height = 1, levels = 0, first = 1;
  for (int i = 0; i < g->node_count; i++)
    if (g->nodes[i].level < first)
      first = g->nodes[i].level;
  for (int i = 0; i < g->node_count; i++) g->nodes[i].level -= first;
  for (int i = 0; i < g->node_count; i++) {
    node *n = &g->nodes[i];
    n->row = rows[n->level]++;
    if (rows[n->level] > height)
      height = rows[n->level];
    if (n->level > levels)
      levels = n->level;
  }
  int wide = 2 * EDGE + (levels + 1) * (BOX + GAP), high = 90 + height * STEP;
  tl_text_printf(
      text,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
      "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\" "
      "fill=\"#222\">\n<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" "
      "refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" "
      "orient=\"auto\"><path d=\"M0 0L8 4L0 8Z\" fill=\"#555\"/></marker>"
      "</defs>\n<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
      wide, high, wide, high, wide, high);
  svg_key(text, 24);
  if (g->has_more)
    tl_text_printf(text, "<text x=\"%d\" y=\"28\">and more</text>\n",
                   EDGE + 400);
  for (int i = 0; i < g->edge_count; i++) svg_edge(text, g, &g->edges[i]);
  for (int i = 0; i < g->node_count; i++) svg_node(text, g, i);
  tl_text_puts(text, "</svg>\n");
}

static bool draw(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int64_t depth;
  tl_string *form = NULL;
  graph g;
  bool shown[NODES] = {false};
  if (!tl_arg_count(vm, "memory.graph", "depth", args[1], &depth) ||
      (!tl_is_none(args[2]) &&
       !tl_arg_string(vm, "memory.graph", "form", args[2], &form)))
    return false;
  bool dot = form == NULL || strcmp(form->text, "dot") == 0;
  bool svg = !dot && strcmp(form->text, "svg") == 0;
  if (!dot && !svg && strcmp(form->text, "text") != 0)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "memory.graph: form is \"dot\", \"text\" or \"svg\", not "
                   "\"%.40s\"",
                   form->text);
  tl_text text;
  tl_text_open(&text, vm);
  if (!tl_is_counted(args[0])) {
    char type[TL_DESCRIBE];
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "memory.graph: nothing refers to %s by a count",
                   tl_describe(args[0], type, sizeof type));
  }
  if (!build(vm, &g, args[0], depth > NODES ? NODES : (int)depth))
    return false;
  if (svg)
    graph_svg(&text, &g);
  else if (dot)
    graph_dot(&text, &g);
  else
    text_node(&text, &g, 0, 0, shown);
  return tl_text_give(&text, out);
}

const tl_builtin tl_memory_references[] = {
    {"refs", "x", refs, TL_EFFECT | TL_ANY_FORM,
     TL_DOC(
         "What a value refers to: a list of records (place, type, bytes, count),\n"
         "where count says which of the three counts the reference is part of.\n"
         "Constants of the program are counted by nobody and left out.\n"
         "Takes any value; want of memory is the only error (kind memory).\n"
         "    memory.refs(([1, 2], 3))[0].place    # \"[0]\"\n")},
    {"backrefs", "x", backrefs, TL_EFFECT | TL_ANY_FORM,
     TL_DOC(
         "Who refers to a value: a list of records (owner, count). Owners on the\n"
         "stack are named by variable, function, line and slot; the argument of\n"
         "this call is none of them.\n"
         "Takes any value; want of memory is the only error (kind memory).\n"
         "    memory.backrefs(3)    # ()\n")},
    {"chain", "x, test: none", chain, TL_EFFECT | TL_ANY_FORM | TL_CALLS,
     TL_DOC(
         "One way from a value back to what keeps it alive: the names of its\n"
         "owners, the nearest first, up to a variable, or to the first for whose\n"
         "name test gives true.\n"
         "Takes any value and gives a list of strings; want of memory is the only\n"
         "error (kind memory).\n"
         "    memory.chain(3)    # ()\n")},
    {"by_type", "", by_type, TL_EFFECT,
     TL_DOC(
         "How many objects are alive, and their bytes, by type: of arrays the\n"
         "dtype and rank. Temporaries of calls under way are left out.\n"
         "Want of memory is the only error (kind memory).\n"
         "    typeof(memory.by_type())    # record\n")},
    {"growth", "before = none", growth, TL_EFFECT,
     TL_DOC(
         "How many more objects of each type there are than in an earlier result\n"
         "of memory.by_type(); without it, than at the last such call: the first\n"
         "gives all. What grows from call to call is kept by somebody.\n"
         "A record of integers. Values that by_type did not give are an error (kind\n"
         "type).\n"
         "    memory.growth(memory.by_type())    # (:)\n")},
    {"graph", "x, depth: 4, form: none", draw, TL_EFFECT | TL_ANY_FORM,
     TL_DOC(
         "A picture of what a value refers to, to a depth, and of who refers to\n"
         "that: form \"dot\" (or none) is for Graphviz, \"text\" a tree, \"svg\" a\n"
         "drawing, made without Graphviz.\n"
         "Edges say which of the three counts they are part of. Constants of the\n"
         "program are left out. What is not counted itself (a number, a function,\n"
         "a constant) is a type error, another form or a depth below 0 a value\n"
         "error.\n"
         "    \"count 1\" in memory.graph((1, 2), form: \"text\")    # true\n")},
    {NULL, NULL, NULL, 0, NULL},
};
