// Bounds of peak memory: the code of a unit as JSON for stdlib/inner/peak.tly,
// which bounds it and reports.
//
//     tl_peak_code ─ put_function ─ put_more
//
// Functions are numbered: those of the unit first, then those of others that
// they call.
//
// Built for size.
#include "vm/observe/peak_bound.h"

#include <inttypes.h>

#include "vm/observe/code_json.h"
#include "vm/observe/explain.h"
#include "vm/region/region.h"

// The code as it is written.
typedef struct lister {
  tl_text *out;
  const tl_unit *unit;
  // Callees of other units, whose numbers are behind those of the unit.
  const tl_prototype **others;
  size_t count, capacity;
} lister;

// The number of a function, NULL where only a run knows which is called; -1
// where there is none, or no memory, and then the text has failed. A function
// of another unit gets a number when it is first asked for. Borrowed: units
// live as long as the explanation does.
static int64_t number_of(lister *l, const tl_prototype *p) {
  if (p == NULL || p->unit == l->unit)
    return p == NULL ? -1 : (int64_t)p->index;
  size_t i = 0;
  while (i < l->count && l->others[i] != p) i++;
  if (!tl_make_room(l->out->vm, &l->others, NULL, &l->capacity, i,
                    sizeof *l->others, "an explanation")) {
    l->out->failed = true;
    return -1;
  }
  if (i == l->count)
    l->others[l->count++] = p;
  return (int64_t)(l->unit->prototype_count + i);
}

// --- Values ------------------------------------------------------------------

// What is known of a constant: a number, an array's shape, a dtype. An array of
// more axes than are followed is unknown; a type that is no dtype stands where
// one is asked for, and then float64 is the largest that is real.
static void put_constant(tl_text *out, tl_slot s) {
  int ndim = tl_is_array(s) ? tl_ndim(s.array) : 0;
  int dtype = tl_is_number(s) ? (int)tl_dtype_of(s)
              : ndim > 0      ? (int)tl_array_dtype(s.array)
                              : 0;
  if (tl_is_type(s))
    dtype = s.type->kind == TL_TYPE_DTYPE ? (int)s.type->dtype : TL_FLOAT64;
  tl_text_printf(out,
                 ", \"constant\": {\"kind\": \"%s\", \"dtype\": %d, "
                 "\"is_weak\": %s, \"lengths\": [",
                 tl_is_none(s) ? "none"
                 : ndim > 4    ? "unknown"
                 : ndim > 0    ? "array"
                               : "plain",
                 dtype, tl_json_bool(tl_is_number(s)));
  for (int i = 0; i < ndim && ndim <= 4; i++)
    tl_text_printf(out, "%s%" PRId64, i == 0 ? "" : ", ", tl_shape(s.array)[i]);
  tl_text_puts(out, "], \"number\": ");
  if (tl_is_number(s) && tl_class(s) == TL_CLASS_I64)
    tl_text_printf(out, "%" PRId64 "}", s.i);
  else
    tl_text_puts(out, "null}");
}

// A parameter: its dimensions as numbers and names, false what is no length; a
// name of which several lengths may differ has a ? before it. The dtype is null
// where the type leaves it open, -1 where the items are no numbers.
static void put_parameter(tl_text *out, const void *of, uint32_t i) {
  const tl_function_param *param = &((const tl_function_param *)of)[i];
  const tl_type *t = param->pattern;
  tl_text_puts(out, "{\"name\": ");
  tl_json_name(out, &param->name, 0);
  tl_text_puts(out, ", \"type\": ");
  if (t == NULL) {
    tl_text_puts(out, "null}");
    return;
  }
  tl_text_puts(out, "{\"dims\": [");
  for (const char *sep = ""; tl_type_is_dimension(t); t = t->of, sep = ", ") {
    tl_text_puts(out, sep);
    if (t->kind == TL_TYPE_FIXED)
      tl_text_printf(out, "%" PRId64, t->size);
    else if (t->kind == TL_TYPE_SYMBOL)
      tl_text_printf(out, "\"%s%s\"", t->size == TL_SET_NONE ? "" : "?",
                     t->name == NULL ? "" : t->name->text);
    else
      tl_text_puts(out, "false");
  }
  tl_text_puts(out, "], \"dtype\": ");
  if (t->kind == TL_TYPE_VARIABLE)
    tl_text_puts(out, "null}}");
  else
    tl_text_printf(
        out, "%d}}",
        t->kind == TL_TYPE_DTYPE && t->dtype < TL_STRING ? (int)t->dtype : -1);
}

// --- Instructions ------------------------------------------------------------

// The items of an index: of a slice which of its parts are given, as bits; -1
// of a value. null: fields, several steps or an ellipsis, which are not
// followed.
static void put_items(tl_text *out, const tl_path *path) {
  bool follows =
      path->step_count == 1 && !path->spreads && path->steps[0].field == NULL;
  size_t begin = out->length;
  tl_text_puts(out, ", \"items\": [");
  for (int i = 0; follows && i < path->steps[0].item_count; i++) {
    const tl_index_item *item = &path->steps[0].items[i];
    bool slices = item->kind == TL_ITEM_SLICE;
    follows = item->kind != TL_ITEM_ELLIPSIS;
    tl_text_printf(out, "%s%d", i == 0 ? "" : ", ", slices ? item->given : -1);
  }
  if (!follows)
    out->length = begin;
  tl_text_puts(out, follows ? "]" : ", \"items\": null");
}

// How a call of the library's function is computed, where regions know it: with
// "" its name has to say what it needs. A cast says its dtype by an argument,
// "number" stands for int and float, of either of which the items have 8 bytes.
static void put_builtin(tl_text *out, const tl_builtin *builtin) {
  tl_fused_kind fused = builtin->fused;
  tl_region_step step = tl_region_call(builtin);
  tl_text_puts(out, ", \"builtin\": {\"name\": ");
  tl_text_json(out, builtin->name, strlen(builtin->name));
  tl_text_printf(out, ", \"fused\": \"%s\"}",
                 fused == TL_FUSED_REDUCTION ? "reduction"
                 : fused == TL_FUSED_SCAN    ? "scan"
                 : step == TL_STEP_ROLL      ? "roll"
                 : step == TL_STEP_CLIP      ? "clip"
                 : step != TL_STEP_CAST      ? ""
                 : fused == TL_FUSED_CAST    ? "cast"
                 : fused == TL_FUSED_TO_BOOL ? "bool"
                                             : "number");
}

// A variable of the module, a captured one or a field; null: it has no name.
static void put_name(tl_text *out, const tl_prototype *p, const tl_decoded *d) {
  const tl_string *name = NULL;
  if (d->op == TL_BC_GETF)
    name = p->unit->names[d->extra];
  else if (d->op == TL_BC_GETG)
    name = p->unit->module->variable_names[d->extra];
  else if (p->capture_names != NULL)
    name = p->capture_names[d->extra & 0x7fffffffu];
  tl_text_puts(out, ", \"name\": ");
  tl_json_name(out, &name, 0);
}

// What only instructions of some opcodes have.
static void put_extra(lister *l, const tl_prototype *p, uint32_t pc,
                      const tl_decoded *d) {
  tl_op op = tl_region_op(d->op, d->extra);
  if (op != TL_OP_COUNT) {
    tl_text_printf(l->out, ", \"operation\": %d", (int)op);
    if ((int)d->operand_count < tl_ops[op].arity)
      tl_text_printf(l->out, ", \"literal\": %d",
                     tl_opcodes[d->op].format == TL_FORMAT_ABI
                         ? TL_INT64
                         : (int)tl_dtype_of(p->constants[d->extra]));
    return;
  }
  switch (d->op) {
    case TL_BC_LOADK:
      put_constant(l->out, p->constants[d->extra]);
      break;
    case TL_BC_LOADI:
      put_constant(l->out, tl_weak_int((int32_t)d->extra));
      break;
    case TL_BC_GETF:
    case TL_BC_GETG:
    case TL_BC_GETC:
      put_name(l->out, p, d);
      break;
    case TL_BC_INDEX:
    case TL_BC_SETPATH:
      put_items(l->out, &p->unit->paths[d->extra]);
      break;
    case TL_BC_CALLB:
      put_builtin(l->out, p->constants[d->extra].pointer);
      break;
    case TL_BC_CALLK:
    case TL_BC_CALL:
      tl_text_printf(
          l->out, ", \"callee\": %" PRId64,
          number_of(l, tl_region_find_callee(&(tl_writers){.p = p}, pc, d)));
      break;
    default:
      break;
  }
}

// A tl_json_more function: whether it gives anything, the pc at which the
// region around it ends, and whether its result is inner there: then it has no
// memory. A region of one instruction has no inner ones.
static void put_more(tl_text *out, void *context, const tl_prototype *p,
                     uint32_t pc, const tl_decoded *d) {
  const tl_region *r = tl_region_at(p, pc);
  bool alone = r != NULL && r->is_part && r->together == r->end;
  uint32_t next = pc + d->words;
  tl_text_printf(out, ", \"gives\": %s, \"until\": %" PRIu32 ", \"inner\": %s",
                 tl_json_bool(tl_opcodes[d->op].result != TL_DEF_NONE),
                 r == NULL ? next : r->together,
                 tl_json_bool(r != NULL && !alone && next != r->end));
  tl_explain_place(out, p, pc);
  put_extra(context, p, pc, d);
}

// --- The code ----------------------------------------------------------------

// A function. "follows": it has no more parameters than there is room for;
// "line", where it begins.
static void put_function(lister *l, const tl_prototype *p) {
  tl_text_printf(l->out, "{\"follows\": %s, \"line\": %" PRIu32,
                 tl_json_bool(p->param_count <= TL_MAX_PARAMS),
                 tl_line_of(p->unit, p->begin));
  tl_json_list(l->out, "variables", p->slot_names, p->named_count,
               tl_json_name);
  tl_json_list(l->out, "params", p->params, p->param_count, put_parameter);
  tl_json_code(l->out, p, put_more, l);
  tl_text_puts(l->out, "}");
}

// What becomes of dtypes, by their numbers: with each other, and of a weak one,
// as a literal is, with each. The program asks no more of the engine than these
// tables and those of operations.
static void put_dtypes(tl_text *out) {
  for (int a = 0; a < TL_DTYPE_COUNT; a++) {
    tl_dtype dtype = (tl_dtype)a;
    tl_text_printf(out,
                   "%s{\"name\": \"%s\", \"size\": %zu, \"is_real\": %s, "
                   "\"is_integer\": %s, \"promote\": [",
                   a == 0 ? "" : ",\n", tl_dtypes[a].name, tl_itemsize(dtype),
                   tl_json_bool(tl_dtype_is_real(dtype)),
                   tl_json_bool(tl_dtype_is_integer(dtype)));
    for (int b = 0; b < TL_DTYPE_COUNT; b++)
      tl_text_printf(out, "%s%d", b == 0 ? "" : ", ",
                     (int)tl_dtype_promote(dtype, (tl_dtype)b));
    tl_text_puts(out, "], \"weak\": [");
    for (int b = 0; b < TL_DTYPE_COUNT; b++)
      tl_text_printf(out, "%s%d", b == 0 ? "" : ", ",
                     (int)tl_dtype_promote_weak(dtype, (tl_dtype)b));
    tl_text_puts(out, "]}");
  }
}

// Of each elementwise operation the dtype of the result by that of the
// operands; -1: it refuses them. "looks": of integers, it looks at the operands
// before it writes, which a region can not always.
static void put_operations(tl_text *out) {
  for (int i = 0; i < TL_OP_COUNT; i++) {
    tl_text_printf(out,
                   "%s{\"arity\": %d, \"selects\": %s, \"looks\": %s, "
                   "\"results\": [",
                   i == 0 ? "" : ",\n", tl_ops[i].arity,
                   tl_json_bool(tl_ops[i].rule == TL_RULE_SELECT),
                   tl_json_bool(tl_op_looks((tl_op)i)));
    for (int k = 0; k < TL_DTYPE_COUNT; k++) {
      tl_dtype computed = tl_op_compute_dtype((tl_op)i, (tl_dtype)k);
      tl_text_printf(out, "%s%d", k == 0 ? "" : ", ",
                     computed == TL_DTYPE_COUNT
                         ? -1
                         : (int)tl_op_result((tl_op)i, computed));
    }
    tl_text_puts(out, "]}");
  }
}

// Callees of other units may call further ones, which are put in turn.
void tl_peak_code(tl_text *out, const tl_unit *unit) {
  lister l = {.out = out, .unit = unit};
  tl_text_puts(out, "{\"file\": ");
  tl_text_json(out, unit->file->text, unit->file->length);
  tl_text_printf(out, ", \"count\": %" PRIu32 ", \"dtypes\": [",
                 unit->prototype_count);
  put_dtypes(out);
  tl_text_puts(out, "], \"operations\": [");
  put_operations(out);
  tl_text_puts(out, "], \"functions\": [");
  for (size_t i = 0; i < unit->prototype_count + l.count; i++) {
    tl_text_puts(out, i == 0 ? "" : ",\n");
    put_function(&l, i < unit->prototype_count
                         ? unit->prototypes[i]
                         : l.others[i - unit->prototype_count]);
  }
  tl_text_puts(out, "]}");
  tl_free(out->vm, l.others, l.capacity * sizeof *l.others);
}
