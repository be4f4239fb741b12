// Lowering of calls: arguments are bound to parameters here if the function is
// known, else by the VM.
//
//   CALLB   a library function, with a slot for each parameter
//   CALLK   a function of this unit that is known, likewise
//   CALL    anything else: arguments as given, and a shape that says how
//
// The slots of the arguments stand side by side above the result's: a window,
// which the instruction takes over whole.

#include <stdio.h>

#include "compiler/lower.h"
#include "vm/embedded.h"
#include "vm/elementwise.h"
#include "vm/hints.h"

// A callee's parameters, whether it is a script's or the library's.
typedef struct signature {
  const char *function;
  int count;
  tl_param params[TL_MAX_PARAMS];  // the values of a script's are unset
  const tl_builtin *builtin;       // NULL: a script's
} signature;

// Room for a module, a point and a name.
enum { NAME_SIZE = 64 };

// The function as messages name it, linalg.solve; [room] is used only for
// functions of modules.
static const char *spell_name(const tl_vm *vm, const signature *s,
                              char room[NAME_SIZE]) {
  const char *module =
      s->builtin == NULL ? NULL : tl_builtin_module(vm->library, s->builtin);
  if (module == NULL)
    return s->function;
  snprintf(room, NAME_SIZE, "%s.%s", module, s->function);
  return room;
}

// The parameters of a library function, parsed from its row.
static void builtin_signature(const tl_builtin *builtin, signature *out) {
  out->function = builtin->name;
  out->builtin = builtin;
  out->count = tl_params_parse(builtin->params, out->params);
}

// The parameters of a global function that is written in Tally; false: there
// is none of the name.
static bool global_signature(const tl_vm *vm, const tl_name *name,
                             signature *out) {
  const struct tl_embedded *text = tl_embedded_global(vm->library, name->text);
  const struct tl_embedded_function *f = text == NULL ? NULL : text->functions;
  while (f != NULL && f->name != NULL && strcmp(f->name, name->text) != 0) f++;
  if (f == NULL || f->name == NULL)
    return false;
  out->function = f->name;
  out->builtin = NULL;
  out->count = tl_params_parse(f->params, out->params);
  return true;
}

// The parameters of a script's function, from the tree: its prototype may not
// be described yet. False: too many to bind here.
static bool script_signature(const tl_ast_function *function, signature *out) {
  if (function->count > TL_MAX_PARAMS)
    return false;
  out->builtin = NULL;
  out->function = function->name == NULL ? "fn" : function->name->text;
  out->count = (int)function->count;
  for (int i = 0; i < out->count; i++) {
    const tl_ast_param *param = &function->params[i];
    // A missing argument is passed as unset: the function evaluates its default
    // itself.
    out->params[i] = (tl_param){.name = param->name->text,
                                .name_length = param->name->nbytes,
                                .kind = tl_param_kind_of(param),
                                .value = tl_unset()};
  }
  return true;
}

// --- Binding ----------------------------------------------------------------

// Which argument each parameter gets: an index, or -1 for none; the rest
// parameter gets [rest_count] arguments, whose indices are in rest[].
//
//   fn f(x, y, ...more, z: 0)  with  f(1, z: 5, 2, 3)
//   argument x 0, y 2, z 1; rest 3
typedef struct binding {
  int16_t argument[TL_MAX_PARAMS];
  uint32_t rest_count;
  uint32_t *rest;
} binding;

// Reports an argument without a parameter, with what was probably meant.
static void too_many(tl_lower *l, const signature *s, const tl_argument *a,
                     int allowed) {
  char hint[160] = "", room[NAME_SIZE];
  const char *function = spell_name(l->b->vm, s, room);
  tl_span span = a->span;
  const char *text = l->b->source->text + span.begin;
  int length = (int)(span.end - span.begin);
  // The proposal quotes the argument, unless it is long.
  if (length > 30) {
    text = "…";
    length = (int)strlen(text);
  }
  // Most often a setting is given by position that has to be named, sum(x, 0):
  // propose the first of those.
  for (int i = 0; i < s->count; i++) {
    if (s->params[i].kind != TL_PARAM_NAMED)
      continue;
    snprintf(hint, sizeof hint, "; did you mean %s(…, %.*s: %.*s)?", function,
             (int)s->params[i].name_length, s->params[i].name, length, text);
    break;
  }
  // max(a, b) of other languages.
  if (strcmp(s->function, "max") == 0 || strcmp(s->function, "min") == 0)
    snprintf(hint, sizeof hint,
             "; for the larger or smaller of two values "
             "write %simum(a, b)",
             s->function);
  // zeros(2, 3) of other languages.
  const tl_param *last = allowed > 0 ? &s->params[allowed - 1] : NULL;
  if (last != NULL && last->name_length == 5 &&
      memcmp(last->name, "shape", 5) == 0) {
    snprintf(hint, sizeof hint,
             "; a shape of several lengths is a list, as in (2, 3)");
  }
  char names[TL_PARAMS_TEXT];
  tl_params_spell(s->params, s->count, names);
  tl_diagnose(l->b->diagnostics, TALLY_ERR_TYPE, span, "%s takes %s%s",
              function, names, hint);
}

// Reports a named argument that no parameter has.
static void unknown_argument(tl_lower *l, const signature *s,
                             const tl_argument *a) {
  char names[200], room[NAME_SIZE];
  const char *function = spell_name(l->b->vm, s, room);
  size_t used = 0;
  names[0] = 0;
  // As many names as the room takes.
  for (int i = 0; i < s->count && used + 40 < sizeof names; i++)
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%.*s",
                             i == 0 ? "" : ", ", (int)s->params[i].name_length,
                             s->params[i].name);
  const char *habit =
      s->builtin == NULL ? NULL : tl_parameter_hint(function, a->name->text);
  tl_diagnose(l->b->diagnostics, TALLY_ERR_TYPE, a->span,
              "%s has no parameter %s%s%s; its parameters: %s", function,
              a->name->text, habit == NULL ? "" : ": ",
              habit == NULL ? "" : habit, names);
}

// The parameter of a name, or -1; ...rest cannot be named.
static int find_param(const signature *s, const tl_name *name) {
  for (int i = 0; i < s->count; i++)
    if (s->params[i].name_length == name->nbytes &&
        memcmp(s->params[i].name, name->text, name->nbytes) == 0)
      return s->params[i].kind == TL_PARAM_REST ? -1 : i;
  return -1;
}

// Binds arguments to parameters as the VM would, so that a wrong call is
// reported before the script runs. False after a diagnostic.
static bool bind(tl_lower *l, const signature *s, tl_ast *ast, binding *out) {
  tl_ast_call *call = &ast->call;
  int rest = -1, positions = 0;
  for (int i = 0; i < s->count; i++) {
    out->argument[i] = -1;
    if (s->params[i].kind == TL_PARAM_REST)
      rest = i;
    // Kinds are in order: required and optional ones are bound by position.
    if (s->params[i].kind < TL_PARAM_REST)
      positions++;
  }
  out->rest_count = 0;
  out->rest = TL_ARENA_ARRAY(l->b->arena, uint32_t, call->count + 1);
  if (out->rest == NULL)
    return false;
  int next = 0;
  for (uint32_t i = 0; i < call->count; i++) {
    const tl_argument *a = &call->arguments[i];
    int p = a->kind == TL_ARGUMENT_NAMED ? find_param(s, a->name)
            : next < positions           ? next++
                                         : -1;
    if (p < 0 && a->kind == TL_ARGUMENT_NAMED) {
      unknown_argument(l, s, a);
      return false;
    }
    if (p < 0 && rest < 0) {
      too_many(l, s, a, positions);
      return false;
    }
    if (p < 0) {
      out->rest[out->rest_count++] = i;
      continue;
    }
    // A named argument may have taken a parameter that has a place, too.
    if (out->argument[p] >= 0) {
      tl_diagnose(l->b->diagnostics, TALLY_ERR_TYPE, a->span,
                  "%.*s is given twice", (int)s->params[p].name_length,
                  s->params[p].name);
      return false;
    }
    out->argument[p] = (int16_t)i;
  }
  for (int i = 0; i < s->count; i++) {
    // Only now is it known that no argument, named or not, gives it.
    if (s->params[i].kind == TL_PARAM_REQUIRED && out->argument[i] < 0) {
      char room[NAME_SIZE];
      tl_diagnose(l->b->diagnostics, TALLY_ERR_TYPE, ast->span,
                  "%s needs its argument %.*s", spell_name(l->b->vm, s, room),
                  (int)s->params[i].name_length, s->params[i].name);
      return false;
    }
  }
  return true;
}

// --- The call itself --------------------------------------------------------

// Whether an argument from number [from] on may assign a variable.
static bool may_assign_from(const tl_ast_call *call, uint32_t from) {
  while (from < call->count && !tl_may_assign(call->arguments[from].value))
    from++;
  return from < call->count;
}

// One argument into its window slot, or left in the variable that it names if
// no later argument may assign that. [setting]: an argument of a library
// function behind its first, which is only read: a list of literals is a
// constant then.
static int32_t lower_argument(tl_lower *l, tl_ast_call *call, uint32_t index,
                              int32_t slot, bool setting) {
  tl_ast *value = call->arguments[index].value;
  if (setting && tl_constant_list(l, value, slot, false))
    return slot;
  // A taken value is where the take puts it: -1 leaves it there.
  int32_t want = tl_is_taken(l, value) ? -1 : slot;
  if (tl_is_own_variable(l, value)) {
    // f(x, { x = 2 }) passes the x of before.
    want = may_assign_from(call, index + 1) ? slot : -1;
  }
  int32_t mark = l->top;
  int32_t result = tl_lower_expr(l, value, want);
  l->top = mark;
  return result;
}

// All arguments in their order, into slots from [first] on or left where they
// are; [operands] gets where each is.
static void lower_arguments(tl_lower *l, tl_ast_call *call, int32_t first,
                            int32_t *operands) {
  uint32_t last =
      tl_find_last(l, call->arguments, sizeof *call->arguments, call->count);
  for (uint32_t k = 0; k < call->count; k++) {
    uint32_t i = tl_in_order(k, last, call->count);
    operands[i] = lower_argument(l, call, i, first + (int32_t)i, false);
  }
  for (uint32_t i = 0; i < call->count; i++)
    operands[i] = tl_take_late(l, call->arguments[i].value, operands[i]);
}

// A list of the arguments that the rest parameter takes.
static int32_t lower_rest(tl_lower *l, tl_ast_call *call, const binding *b,
                          int32_t slot, tl_span span) {
  tl_ast **items =
      TL_ARENA_ARRAY(l->b->arena, tl_ast *, (size_t)b->rest_count + 1);
  if (items == NULL)
    return slot;
  for (uint32_t i = 0; i < b->rest_count; i++)
    items[i] = call->arguments[b->rest[i]].value;
  int32_t mark = l->top;
  tl_lower_window(l, TL_BC_LIST, items, b->rest_count, 0, slot, span);
  l->top = mark;
  return slot;
}

// A call with bound arguments; [builtin] NULL: a script's function, number
// [extra]. Arguments are evaluated in the order in which they are written (but
// see tl_find_last), whatever order the parameters have; defaults of the
// library are constants.
static int32_t lower_bound(tl_lower *l, tl_ast *ast, const signature *s,
                           const binding *b, const tl_builtin *builtin,
                           uint32_t extra, int32_t want) {
  tl_ast_call *call = &ast->call;
  // The result, and above it a slot for each parameter: the window.
  int32_t base = tl_temp(l);
  int32_t first = tl_temps(l, s->count);
  int32_t operands[TL_MAX_PARAMS];
  tl_joining joining = {.pad = -1};
  uint32_t last =
      tl_find_last(l, call->arguments, sizeof *call->arguments, call->count);
  for (uint32_t k = 0; k < call->count; k++) {
    uint32_t a = tl_in_order(k, last, call->count);
    for (int p = 0; p < s->count; p++) {
      if (b->argument[p] != (int)a)
        continue;
      // The list of concat((x, more)) is made so that x can go on in its
      // memory.
      bool joins = p == 0 && builtin != NULL;
      bool is_taken = tl_is_taken(l, call->arguments[a].value);
      operands[p] = joins ? tl_joining_begin(l, builtin,
                                             call->arguments[a].value, &joining)
                          : -1;
      if (operands[p] < 0)
        operands[p] =
            lower_argument(l, call, a, first + p, builtin != NULL && p > 0);
      if (p == 0 && builtin != NULL && tl_builtin_restores(builtin) &&
          !is_taken)
        tl_load_got(l, call->arguments[a].value, operands[p]);
    }
  }
  for (int p = 0; p < s->count; p++) {
    // Parameters without an argument: the rest as a list, others their default,
    // which is a constant.
    if (b->argument[p] >= 0)
      continue;
    operands[p] = first + p;
    if (s->params[p].kind == TL_PARAM_REST)
      lower_rest(l, call, b, first + p, ast->span);
    else
      tl_load_constant(l, first + p, s->params[p].value, ast->span);
  }
  for (int p = 0; p < s->count; p++)
    if (b->argument[p] >= 0)
      operands[p] =
          tl_take_late(l, call->arguments[b->argument[p]].value, operands[p]);
  tl_opcode op = builtin != NULL ? TL_BC_CALLB : TL_BC_CALLK;
  tl_emit_window(l, op, base, operands, s->count, extra, ast->span);
  // Behind the call, whose errors the pad sees.
  if (joining.pad >= 0)
    tl_joining_end(l, &joining, ast->span);
  return tl_lower_into(l, want, base, ast->span);
}

// Whether an argument is of the kind. With ...x only the run knows how many
// there are.
static bool has_kind(const tl_ast_call *call, tl_argument_kind kind) {
  for (uint32_t i = 0; i < call->count; i++)
    if (call->arguments[i].kind == kind)
      return true;
  return false;
}

// A call of a callee that only the run knows. The callee is evaluated first,
// and copied if an argument may assign its variable.
static int32_t lower_unknown(tl_lower *l, tl_ast *ast, int32_t want) {
  tl_ast_call *call = &ast->call;
  int32_t callee = tl_lower_expr(l, call->callee, -1);
  // An argument may assign the variable of the callee, which was evaluated
  // before it.
  if (tl_is_own_variable(l, call->callee) && may_assign_from(call, 0))
    callee = tl_lower_into(l, tl_temp(l), callee, ast->span);
  int32_t base = tl_temp(l);
  int32_t first = tl_temps(l, (int32_t)call->count);
  int32_t *operands = TL_ARENA_ARRAY(l->b->arena, int32_t, call->count + 1);
  if (operands == NULL)
    return base;
  // The callee is not in the window: it stays where it is.
  operands[0] = callee;
  lower_arguments(l, call, first, operands + 1);
  bool is_plain =
      !has_kind(call, TL_ARGUMENT_SPREAD) && !has_kind(call, TL_ARGUMENT_NAMED);
  tl_emit_window(l, TL_BC_CALL, base, operands, (int32_t)call->count + 1,
                 is_plain ? 0 : tl_unit_shape(l->b, call), ast->span);
  return tl_lower_into(l, want, base, ast->span);
}

// f ∘ g is a call of the library's compose, of which a script may nest many: so
// it has no arguments that would have to be bound.
int32_t tl_lower_compose(tl_lower *l, tl_ast *ast, int32_t want) {
  const tl_name *name = tl_names_get(l->b->names, "compose", 7);
  if (name == NULL)
    return tl_into(l, want);
  int32_t operands[3] = {tl_lower_known(l, NULL, name, ast->span, -1)};
  int32_t base = tl_temp(l), first = tl_temps(l, 2);
  operands[1] = tl_lower_expr(l, ast->binary.left, first);
  operands[2] = tl_lower_expr(l, ast->binary.right, first + 1);
  tl_emit_window(l, TL_BC_CALL, base, operands, 3, 0, ast->span);
  return tl_lower_into(l, want, base, ast->span);
}

// An elementwise function called with just its operands, as add(x, y), is the
// operator's instruction, so that it can be fused. False: it is not one.
static bool lower_elementwise(tl_lower *l, tl_ast *ast,
                              const tl_builtin *builtin, const binding *b,
                              int32_t *want) {
  const int arity = (int)ast->call.count;
  int op = 0;
  while (op < TL_OP_COUNT && (tl_ops[op].arity != arity ||
                              strcmp(tl_ops[op].name, builtin->name) != 0))
    op++;
  // A module may have a function of the same name.
  if (op == TL_OP_COUNT || b->rest_count > 0 ||
      tl_builtin_find(l->b->vm->library, NULL, builtin->name,
                      strlen(builtin->name)) != builtin)
    return false;
  // Arguments in the order of the parameters, all given: else binding would
  // have to reorder them.
  for (int i = 0; i < arity; i++)
    if (b->argument[i] != i)
      return false;
  // The four with opcodes of their own; all others are ELEM1 to ELEM3 with the
  // operation as extra.
  static const uint8_t opcodes[TL_OP_COUNT] = {
      [TL_OP_ADD] = TL_BC_ADD,
      [TL_OP_SUBTRACT] = TL_BC_SUB,
      [TL_OP_MULTIPLY] = TL_BC_MUL,
      [TL_OP_DIVIDE] = TL_BC_DIV,
  };
  int opcode = opcodes[op] != 0 ? opcodes[op] : TL_BC_ELEM1 + arity - 1;
  *want = tl_into(l, *want);
  int32_t first = tl_temps(l, arity);
  int32_t operands[3];
  lower_arguments(l, &ast->call, first, operands);
  tl_emit_operands(l, (tl_opcode)opcode, *want, operands, arity, ast->span)
      ->extra = (uint32_t)op;
  return true;
}

// A call of a library function.
static int32_t lower_builtin(tl_lower *l, tl_ast *ast,
                             const tl_builtin *builtin, int32_t want) {
  signature s;
  binding b;
  builtin_signature(builtin, &s);
  if (!bind(l, &s, ast, &b))
    return tl_lower_failed(l, want, ast->span);
  // Bound first, so that a wrong call gets the same message.
  if (lower_elementwise(l, ast, builtin, &b, &want) ||
      tl_lower_few(l, builtin, ast, &want))
    return want;
  // The function is a constant of the caller, which CALLB names.
  uint32_t k = tl_add_constant(l, tl_builtin_slot(builtin));
  return lower_bound(l, ast, &s, &b, builtin, k, want);
}

// The walk of a call that gives rows of [count] items; NULL: it has none.
static const tl_builtin *walk_of(tl_lower *l, const tl_ast *ast, uint32_t count,
                                 signature *s) {
  if (has_kind(&ast->call, TL_ARGUMENT_SPREAD))
    return NULL;
  const tl_builtin *builtin = tl_called_builtin(l, ast->call.callee);
  if (builtin == NULL || builtin->walk == NULL)
    return NULL;
  builtin_signature(builtin->walk, s);
  bool rest = s->params[0].kind == TL_PARAM_REST;
  return count == (rest ? ast->call.count : 2) ? builtin->walk : NULL;
}

// Evaluates the arguments into the hidden slots, and makes the list of them
// that the call looks at.
static void lower_zipped(tl_lower *l, const tl_ast *ast, int32_t list,
                         int32_t slots) {
  const tl_ast_call *call = &ast->call;
  int32_t count = (int32_t)call->count;
  for (int32_t i = 0; i < count; i++)
    tl_lower_expr(l, call->arguments[i].value, slots + 2 * i);
  tl_temps(l, count);
  tl_cfg_ins *ins = tl_emit(l, TL_BC_LIST, list, count, ast->span);
  for (int32_t i = 0; i < count; i++) ins->operands[i] = slots + 2 * i;
  ins->window = list;
}

// The same of a function with a first argument to walk and others that it reads
// alone, which come to [others].
static void lower_numbered(tl_lower *l, const tl_ast *ast, const signature *s,
                           const binding *b, int32_t others, int32_t slot) {
  for (uint32_t a = 0; a < ast->call.count; a++) {
    int p = 0;
    while (b->argument[p] != (int)a) p++;
    tl_lower_expr(l, ast->call.arguments[a].value, p == 0 ? slot : others + p);
  }
  for (int p = 1; p < s->count; p++)
    if (b->argument[p] < 0)
      tl_load_constant(l, others + p, s->params[p].value, ast->span);
}

// A call that does not fit the parameters is reported here and not again.
bool tl_lower_walk(tl_lower *l, tl_ast *ast, uint32_t count, int32_t slots) {
  signature s;
  binding b;
  const tl_builtin *walk = walk_of(l, ast, count, &s);
  if (walk == NULL)
    return false;
  if (!bind(l, &s, ast, &b))
    return true;
  int32_t mark = l->top, base = tl_temps(l, 1 + s.count);
  int32_t operands[TL_MAX_PARAMS];
  for (int p = 0; p < s.count; p++) operands[p] = base + 1 + p;
  bool rest = s.params[0].kind == TL_PARAM_REST;
  if (rest)
    lower_zipped(l, ast, operands[0], slots);
  else
    lower_numbered(l, ast, &s, &b, base + 1, operands[0] = slots + 2);
  tl_emit_window(l, TL_BC_CALLB, base, operands, s.count,
                 tl_add_constant(l, tl_builtin_slot(walk)), ast->span);
  if (!rest)
    tl_emit1(l, TL_BC_MOV, slots, base, ast->span);
  l->top = mark;
  return true;
}

// float32(x), where the name is the dtype's, is astype(x, float32), so that
// the callee is known and may reuse the memory of x. False: not one.
static bool lower_conversion(tl_lower *l, tl_ast *ast, int32_t *want) {
  const tl_ast_call *call = &ast->call;
  if (call->callee->kind != TL_AST_NAME || call->count != 1 ||
      call->arguments[0].kind != TL_ARGUMENT_POSITIONAL ||
      tl_scope_find(l->scope, call->callee->name.name) != NULL)
    return false;
  tl_known known = tl_known_find(l->b->vm, NULL, call->callee->name.name);
  if (known.kind != TL_KNOWN_DTYPE)
    return false;
  const tl_builtin *astype =
      tl_builtin_find(l->b->vm->library, NULL, "astype", 6);
  tl_type *type = tl_type_of_dtype(l->b->vm, known.dtype);
  if (astype == NULL || type == NULL)
    return false;
  signature s;
  builtin_signature(astype, &s);
  binding b = {.rest_count = 0};
  // x is argument 0 of astype; its type is a constant, and its other parameters
  // have their defaults.
  for (int p = 1; p < s.count; p++) b.argument[p] = -1;
  s.params[1].value = tl_type_slot(type);
  uint32_t k = tl_add_constant(l, tl_builtin_slot(astype));
  *want = lower_bound(l, ast, &s, &b, astype, k, *want);
  return true;
}

// del(name): the variable is unset, and its value ends. Reading the name first
// reports one that is not set.
static int32_t lower_del(tl_lower *l, tl_ast *ast, int32_t want) {
  tl_ast_call *call = &ast->call;
  for (uint32_t i = 0; i < call->count; i++) {
    tl_ast *value = call->arguments[i].value;
    tl_variable *v = value->kind == TL_AST_NAME
                         ? tl_scope_find(l->scope, value->name.name)
                         : NULL;
    // A captured variable cannot be cleared from here.
    if (v == NULL ||
        (!v->is_global && v->scope->function != l->scope->function)) {
      tl_diagnose(l->b->diagnostics, TALLY_ERR_NAME, value->span,
                  "del takes names of variables of this function or module");
      continue;
    }
    tl_lower_name(l, v->name, value->span, -1);
    if (v->is_global) {
      int32_t unset = tl_load_constant(l, -1, tl_unset(), value->span);
      tl_store_name(l, v->name, unset, value->span);
    } else if (v->index < l->f->variable_count) {
      tl_load_constant(l, v->index, tl_unset(), value->span);
      // Reads behind this need a check again.
      l->assigned_in[v->index] = -1;
    }
  }
  return tl_load_constant(l, want, tl_none(), ast->span);
}

// A call, by what is known of the callee: a form of the language, a library
// function, a dtype, a script's function, or nothing.
int32_t tl_lower_call(tl_lower *l, tl_ast *ast, int32_t want) {
  tl_ast_call *call = &ast->call;
  if (tl_is_del(l->scope, ast))
    return lower_del(l, ast, want);
  // Windows have to fit a frame.
  if (call->count > 200) {
    tl_diagnose(l->b->diagnostics, TALLY_ERR_LIMIT, ast->span,
                "a call has at most 200 arguments: spread a list");
    return tl_lower_failed(l, want, ast->span);
  }
  // Binding needs the number of arguments.
  if (has_kind(call, TL_ARGUMENT_SPREAD))
    return lower_unknown(l, ast, want);
  const tl_builtin *builtin = tl_called_builtin(l, call->callee);
  if (builtin != NULL)
    return lower_builtin(l, ast, builtin, want);
  if (lower_conversion(l, ast, &want))
    return want;
  if (call->callee->kind == TL_AST_NAME) {
    tl_variable *v = tl_scope_find(l->scope, call->callee->name.name);
    tl_prototype *known;
    signature s;
    binding b;
    // The library's functions in Tally are bound like those in C: a call that
    // does not fit their parameters is reported here.
    bool is_known =
        v != NULL && tl_known_constant(l, v, &known) &&
        script_signature(&v->definition->define.function->function, &s);
    bool is_bound =
        is_known ||
        (v == NULL && global_signature(l->b->vm, call->callee->name.name, &s));
    if (is_bound && !bind(l, &s, ast, &b))
      return tl_lower_failed(l, want, ast->span);
    // The number of a known function is the extra.
    if (is_known)
      return lower_bound(l, ast, &s, &b, NULL, known->index, want);
  }
  return lower_unknown(l, ast, want);
}
