// The tree that the parser builds, the resolver annotates and lowering reads.
//
// Everything lives in the compilation's arena. Arrays of count 0 may be NULL;
// other pointers that may be NULL say so. Types are called tl_ast_… where vm/
// has one of the short name. A new kind of node is a line in the table below,
// its payload, a member of the union, its children in ast_walk.c, its lowering
// and its form in tests/unit/ast_text.h. An example, `x[0] = 2 **
// y`:
//
//   ASSIGN  target: PLACE x, one step [INT 0]
//           value:  BINARY POWER (INT 2, NAME y)

#pragma once

#include "compiler/names.h"
#include "compiler/operator.h"
#include "compiler/source.h"

// X(KIND, "name in prints", payload type, member of the union, how, lowering):
// lowering has a function tl_lower_ of that name, which is one of [how], a
// value or a statement that is run.
//
// An IMAGINARY's real number is its i part, a TYPE has the raw text between the
// ` `, OPERATOR is (+) as a function, COMPOSE is left ∘ right, DEFINE is fn
// name(…) …, a PEAK has the bytes, their begin and their end, and a SPREAD is
// an item of a list or array.
// A statement that is just an expression stands in its block as it is.
// AND, OR, NOT are separate from BINARY and UNARY: they decide what runs.
#define TL_AST_KINDS(X)                                                   \
  X(BOOL, "bool", bool, boolean, value, constant)                         \
  X(INT, "int", uint64_t, integer, value, constant)                       \
  X(FLOAT, "float", double, real, value, constant)                        \
  X(IMAGINARY, "imaginary", double, real, value, constant)                \
  X(STRING, "string", tl_ast_string, string, value, string)               \
  X(INTERPOLATED, "format", tl_ast_interpolated, interpolated, value,     \
    interpolated)                                                         \
  X(TYPE, "type", tl_ast_string, string, value, type)                     \
  X(NONE, "none", char, nothing, value, constant)                         \
  X(NAME, "name", tl_ast_name, name, value, variable)                     \
  X(LIST, "list", tl_ast_items, items, value, items)                      \
  X(RECORD, "record", tl_ast_record, record, value, record)               \
  X(ARRAY, "array", tl_ast_items, items, value, items)                    \
  X(LIST_FOR, "list-for", tl_ast_comprehension, comprehension, value,     \
    comprehension)                                                        \
  X(ARRAY_FOR, "array-for", tl_ast_comprehension, comprehension, value,   \
    comprehension)                                                        \
  X(RECORD_FOR, "record-for", tl_ast_comprehension, comprehension, value, \
    comprehension)                                                        \
  X(FUNCTION, "fn", tl_ast_function, function, value, function)           \
  X(BLOCK, "block", tl_ast_items, items, value, block)                    \
  X(IF, "if", tl_ast_if, condition, value, if)                            \
  X(WHILE, "while", tl_ast_while, while_loop, run, while)                 \
  X(FOR, "for", tl_ast_for, for_loop, run, for)                           \
  X(TRY, "try", tl_ast_try, attempt, value, try)                          \
  X(CALL, "call", tl_ast_call, call, value, call)                         \
  X(INDEX, "index", tl_ast_index, index, value, index)                    \
  X(FIELD, ".", tl_ast_field, field, value, field)                        \
  X(SELECT, ".{}", tl_ast_select, select, value, select)                  \
  X(UNARY, "unary", tl_ast_unary, unary, value, unary)                    \
  X(BINARY, "binary", tl_ast_binary, binary, value, binary)               \
  X(COMPARE, "compare", tl_ast_binary, binary, value, binary)             \
  X(AND, "and", tl_ast_binary, binary, value, logical)                    \
  X(OR, "or", tl_ast_binary, binary, value, logical)                      \
  X(NOT, "not", tl_ast_unary, unary, value, not )                         \
  X(SPREAD, "...", tl_ast_unary, unary, value, operand)                   \
  X(RANGE, "..", tl_ast_range, range, value, range)                       \
  X(OPERATOR, "operator", tl_operator, op, value, operator)               \
  X(COMPOSE, "compose", tl_ast_binary, binary, value, compose)            \
  X(ASSIGN, "=", tl_ast_assign, assign, run, assign)                      \
  X(UPDATE, "update", tl_ast_assign, assign, run, update)                 \
  X(DEFINE, "define", tl_ast_define, define, run, define)                 \
  X(GLOBAL, "global", tl_ast_idents, idents, run, nothing)                \
  X(RETURN, "return", tl_ast *, result, run, return )                     \
  X(PEAK, "#:peak", tl_ast_items, items, run, peak)                       \
  X(BREAK, "break", char, nothing, run, leave)                            \
  X(CONTINUE, "continue", char, nothing, run, leave)                      \
  X(IMPORT, "import", tl_ast_import, import, run, import)

// Which construct of the language a node is; the rows above say how it is
// written and which member of the union it has.
typedef enum tl_ast_kind {
#define X(kind, ...) TL_AST_##kind,
  TL_AST_KINDS(X)
#undef X
      TL_AST_KIND_COUNT
} tl_ast_kind;

// A node of the tree. See the kinds below for which member of the union is
// used.
typedef struct tl_ast tl_ast;

// A name where it stands.
typedef struct tl_ident {
  const tl_name *name;
  tl_span span;
} tl_ident;

// A string without holes. The bytes are the arena's and UTF-8.
typedef struct tl_ast_string {
  const char *text;  // decoded; a zero byte follows, others may be inside
  uint32_t nbytes;
} tl_ast_string;

// One part of "text {value:format}": either text or a value.
typedef struct tl_part {
  tl_span span;
  const char *text;  // of a text part, else NULL
  uint32_t nbytes;
  tl_ast *value;       // of a hole, else NULL
  const char *format;  // of a hole with ':', else NULL
  uint32_t format_nbytes;
  tl_ast *spec;  // of a hole whose format has holes: an INTERPOLATED
} tl_part;

// A string with holes: its parts in the order of the text.
typedef struct tl_ast_interpolated {
  tl_part *parts;
  uint32_t count;
} tl_ast_interpolated;

// A name that is read. What it means is for the resolver to say, by its scope.
typedef struct tl_ast_name {
  const tl_name *name;
} tl_ast_name;

// Nodes in a row: the items of a list or an array, or the statements of a
// block.
typedef struct tl_ast_items {
  tl_ast **items;
  uint32_t count;
} tl_ast_items;

// One `key: value` of a record.
typedef struct tl_entry {
  const tl_name *key;  // a string key has its bytes, a name its NFC
  tl_ast *computed;    // where key is NULL: the expression that gives the key
  tl_span key_span;
  tl_ast *value;
} tl_entry;

// (a: 1, b: 2): the entries in the order of the text, in which their values
// are computed.
typedef struct tl_ast_record {
  tl_entry *entries;
  uint32_t count;
} tl_ast_record;

// One clause of a comprehension: `for a, b in value`, or with name_count 0 `if
// value`.
typedef struct tl_clause {
  tl_span span;
  tl_ident *names;
  uint32_t name_count;
  tl_ast *value;
} tl_clause;

// (item for …), [item for …] or (key: item for …).
typedef struct tl_ast_comprehension {
  tl_ast *key;  // of a record, else NULL
  tl_ast *item;
  tl_clause *clauses;  // at least one; the first may be an `if`
  uint32_t count;
  struct tl_scope *scope;  // the resolver's
} tl_ast_comprehension;

// How a parameter gets its value: by its place, by what is left of the places,
// or by its name alone. The order is the one in which they have to stand.
typedef enum tl_ast_param_kind {
  TL_AST_PARAM_REQUIRED,  // x
  TL_AST_PARAM_DEFAULT,   // x = value
  TL_AST_PARAM_REST,      // ...x
  TL_AST_PARAM_NAMED,     // x: value
} tl_ast_param_kind;

// One parameter. They stand in order of kind, with at most one REST, and their
// names are distinct (except `_`).
typedef struct tl_ast_param {
  tl_ast_param_kind kind;
  tl_span span;
  const tl_name *name;
  tl_span name_span;
  tl_ast *value;    // the default: DEFAULT and NAMED, else NULL
  tl_ast *pattern;  // a TYPE node, or NULL
} tl_ast_param;

// A function, with a name or without. The resolver adds its scope and the
// group of functions that it shares captures with.
typedef struct tl_ast_function {
  const tl_name *name;  // NULL: no name
  tl_ast_param *params;
  uint32_t count;
  tl_ast *body;     // any expression
  const char *doc;  // the ## lines above, without the signs; NULL: none
  uint32_t doc_nbytes;
  struct tl_scope *scope;  // the resolver's
  struct tl_closure_group *group;
} tl_ast_function;

// One condition and what is done if it holds.
typedef struct tl_arm {
  tl_ast *test;
  tl_ast *body;  // a BLOCK
} tl_arm;

// if … else if … else …: the arms in order.
typedef struct tl_ast_if {
  tl_arm *arms;  // at least one
  uint32_t count;
  tl_ast *otherwise;  // a BLOCK, or NULL
} tl_ast_if;

// while test { … }: the test is computed before each round.
typedef struct tl_ast_while {
  tl_ast *test;
  tl_ast *body;  // a BLOCK
} tl_ast_while;

// for a, b in value { … }: the value is computed once. Several names take an
// item apart, which has to have as many items.
typedef struct tl_ast_for {
  tl_ident *names;  // one or more
  uint32_t name_count;
  tl_ast *value;
  tl_ast *body;  // a BLOCK
} tl_ast_for;

// try { … } catch error { … }: the handler runs where the body fails, with the
// error under the name.
typedef struct tl_ast_try {
  tl_ast *body;     // a BLOCK
  tl_ident error;   // error.name NULL: catch without a name
  tl_ast *handler;  // a BLOCK
} tl_ast_try;

// How an argument finds its parameter: by its place, each item of it by its
// place, or by the parameter's name.
typedef enum tl_argument_kind {
  TL_ARGUMENT_POSITIONAL,
  TL_ARGUMENT_SPREAD,  // ...value
  TL_ARGUMENT_NAMED,   // name: value
} tl_argument_kind;

// One argument. The span of a named one is that of the name alone, which an
// editor changes when the parameter is renamed.
typedef struct tl_argument {
  tl_ast *value;  // first, as lower_order.c looks for it
  tl_argument_kind kind;
  tl_span span;
  const tl_name *name;  // NAMED, else NULL
} tl_argument;

// The caret of a call is its callee's: in m.f(x) it stands under f.
typedef struct tl_ast_call {
  tl_ast *callee;
  tl_argument *arguments;
  uint32_t count;
  bool is_piped;  // arguments[0] stood before |>
} tl_ast_call;

// What stands between two commas of an index.
typedef enum tl_ast_item_kind {
  TL_AST_ITEM_VALUE,
  TL_AST_ITEM_SLICE,     // start:stop:step, each may be NULL; also a..b
  TL_AST_ITEM_ELLIPSIS,  // ...
  TL_AST_ITEM_SPREAD,    // ...value: its items are indices
} tl_ast_item_kind;

// One item between the brackets of an index.
typedef struct tl_ast_item {
  tl_ast_item_kind kind;
  tl_span span;
  tl_ast *value;                // VALUE, SPREAD
  tl_ast *start, *stop, *step;  // SLICE
} tl_ast_item;

// object[items], as a value; as a target it is a step of a place.
typedef struct tl_ast_index {
  tl_ast *object;
  tl_ast_item *items;  // at least one
  uint32_t count;
} tl_ast_index;

// object.name: a field of a record, or what a module has under the name.
typedef struct tl_ast_field {
  tl_ast *object;
  tl_ident field;
} tl_ast_field;

// object.{a, b}: a record of the selected fields.
typedef struct tl_ast_select {
  tl_ast *object;
  tl_ident *fields;  // at least one
  uint32_t count;
} tl_ast_select;

// op operand; also ...operand, where op means nothing.
typedef struct tl_ast_unary {
  tl_operator op;
  tl_ast *operand;
} tl_ast_unary;

// left op right, also for comparisons, `and`, `or` and composition.
typedef struct tl_ast_binary {
  tl_operator op;
  tl_ast *left, *right;
} tl_ast_binary;

// start..stop by step.
typedef struct tl_ast_range {
  tl_ast *start, *stop;
  tl_ast *step;  // NULL: 1
} tl_ast_range;

// What stands left of '='.
typedef struct tl_target tl_target;

// What can stand left of `=`.
typedef enum tl_target_kind {
  TL_TARGET_NAME,   // name
  TL_TARGET_PLACE,  // name and steps
  TL_TARGET_LIST,   // targets
} tl_target_kind;

// One step of a place: `[items]` or `.field`.
typedef struct tl_ast_step {
  tl_span span;
  tl_ast_item *items;  // NULL: a field
  uint32_t count;
  tl_ident field;  // name NULL: an index
} tl_ast_step;

// The members that a kind does not use are zero. Lists may stand in lists, as
// in (a, (b, c)) = x.
struct tl_target {
  tl_target_kind kind;
  bool is_rest;  // ...rest, within a list: all that the others leave
  tl_span span;
  const tl_name *name;  // NAME, PLACE
  tl_span name_span;
  tl_ast_step *steps;  // PLACE
  uint32_t step_count;
  tl_target *targets;  // LIST
  uint32_t count;
};

// target = value, with the ## lines above it; target op= value, of a NAME or a
// PLACE.
typedef struct tl_ast_assign {
  tl_target target;
  tl_ast *value;    // `a, b = b, a`: a LIST
  const char *doc;  // as in a function
  uint32_t doc_nbytes;
  tl_operator op;  // of an update
  // get(r, k, fallback) += value: the target is r[k], which need not be there.
  // NULL: it must be.
  tl_ast *fallback;
  const tl_name *getter;  // the name that stands for get
} tl_ast_assign;

// fn name(…) …: a statement that binds the function to its name.
typedef struct tl_ast_define {
  tl_ident name;
  tl_ast *function;  // a FUNCTION with the same name, and the doc
} tl_ast_define;

// global a, b: names of the module that the function may assign.
typedef struct tl_ast_idents {
  tl_ident *names;
  uint32_t count;
} tl_ast_idents;

// import "path" as alias, import "path" (names), import name as alias.
typedef struct tl_ast_import {
  const char *path;  // NULL: by name
  uint32_t path_nbytes;
  tl_span path_span;  // of the path or the name
  const tl_name *name;
  tl_ident alias;  // alias.name NULL: as it is called, or the names alone
  tl_ident *names;
  uint32_t count;
} tl_ast_import;

// Never copied by value: a node takes no more memory than its kind needs.
struct tl_ast {
  tl_ast_kind kind;
  bool is_parenthesised;  // stood in ( ) of its own
  // 1 for a leaf, else one more than the highest child; at most
  // TL_TREE_HEIGHT_MAX, so that walks of the tree may recurse.
  uint16_t height;
  tl_span span;
  union {
    char nothing;  // of kinds that say all: none, break, continue
    bool boolean;
    // Up to INT64_MAX, and INT64_MAX + 1 where it is directly the operand of a
    // unary minus. Hexadecimal numbers have the same range.
    uint64_t integer;
    double real;  // the float64 next to what is written
    tl_ast_string string;
    tl_ast_interpolated interpolated;
    tl_ast_name name;
    tl_ast_items items;
    tl_ast_record record;
    tl_ast_comprehension comprehension;
    tl_ast_function function;
    tl_ast_if condition;
    tl_ast_while while_loop;
    tl_ast_for for_loop;
    tl_ast_try attempt;
    tl_ast_call call;
    tl_ast_index index;
    tl_ast_field field;
    tl_ast_select select;
    tl_ast_unary unary;
    tl_ast_binary binary;
    tl_ast_range range;
    tl_operator op;  // (+): an operator as a function of its operands
    tl_ast_assign assign;
    tl_ast_define define;
    tl_ast_idents idents;
    tl_ast *result;  // of return; NULL: none
    tl_ast_import import;
  };
};
