// The tree as text, for tests to compare: each node as (word child child …),
// leaves as they are written.
//
//   f(x, 2) + 1      (+ (call f x 2) 1)
#ifndef TALLY_TESTS_UNIT_AST_TEXT_H
#define TALLY_TESTS_UNIT_AST_TEXT_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "compiler/ast.h"

// From the table of kinds in ast.h.
static const char *kind_name(tl_ast_kind kind) {
#define X(kind, text, ...) text,
  static const char *const names[] = {TL_AST_KINDS(X)};
#undef X
  return names[kind];
}

// The text so far, in the arena, with a zero byte behind it.
typedef struct tl_printer {
  tl_arena *arena;
  char *text;
  size_t length, size;
} tl_printer;

// Makes room for [nbytes] and a zero. What does not fit moves to twice the
// room; the arena keeps the old copy.
static bool reserve(tl_printer *printer, size_t nbytes) {
  if (printer->arena->failed)
    return false;
  if (printer->size - printer->length > nbytes)
    return true;
  size_t size = printer->size * 2 + nbytes + 256;
  char *text = tl_arena_alloc(printer->arena, size);
  if (!text)
    return false;
  if (printer->length)
    memcpy(text, printer->text, printer->length);
  printer->text = text;
  printer->size = size;
  return true;
}

// Appends bytes; without memory it does nothing, which ast_text notices.
static void put(tl_printer *printer, const char *text, size_t nbytes) {
  if (!reserve(printer, nbytes))
    return;
  memcpy(printer->text + printer->length, text, nbytes);
  printer->length += nbytes;
  printer->text[printer->length] = 0;
}

static void put_text(tl_printer *printer, const char *text) {
  put(printer, text, strlen(text));
}

// The text in quotes, with escapes, so that it stays on one line.
static void put_quoted(tl_printer *printer, const char *text, size_t nbytes) {
  put_text(printer, "\"");
  for (size_t i = 0; i < nbytes; i++) {
    char byte = text[i], escape[8];
    if (byte == '"' || byte == '\\') {
      put_text(printer, "\\");
      put(printer, &byte, 1);
    } else if (byte == '\n') {
      put_text(printer, "\\n");
    } else if ((unsigned char)byte < 0x20) {
      snprintf(escape, sizeof escape, "\\x%02x", (unsigned)byte);
      put_text(printer, escape);
    } else {
      put(printer, &byte, 1);
    }
  }
  put_text(printer, "\"");
}

static void put_name(tl_printer *printer, const tl_name *name) {
  put(printer, name->text, name->nbytes);
}

// A field's name; one that is no plain word is quoted.
static void put_key(tl_printer *printer, const tl_name *name) {
  bool is_plain = name->nbytes > 0;
  for (uint32_t i = 0; i < name->nbytes; i++) {
    if (strchr(" \t\n\"\\().:", name->text[i]))
      is_plain = false;
  }
  if (is_plain) {
    put_name(printer, name);
  } else {
    put_quoted(printer, name->text, name->nbytes);
  }
}

// The fewest digits that read back as [value], always with a point or an
// exponent, so that a float is not taken for an integer.
static void put_real(tl_printer *printer, double value) {
  char buffer[40];
  for (int digits = 1; digits <= 17; digits++) {
    double back = 0;
    snprintf(buffer, sizeof buffer, "%.*g", digits, value);
    sscanf(buffer, "%lf", &back);
    // Without ==, which a warning forbids for floats; NaN does not occur.
    if (!(back < value) && !(back > value))
      break;
  }
  put_text(printer, buffer);
  if (!strpbrk(buffer, ".en"))
    put_text(printer, ".0");
}

static void put_ast(tl_printer *printer, const tl_ast *ast);

// A blank and the child; `-` where an optional one is missing.
static void put_child(tl_printer *printer, const tl_ast *ast) {
  put_text(printer, " ");
  if (ast) {
    put_ast(printer, ast);
  } else {
    put_text(printer, "-");
  }
}

// Names with blanks between them.
static void put_idents(tl_printer *printer, const tl_ident *idents,
                       uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (i)
      put_text(printer, " ");
    put_name(printer, idents[i].name);
  }
}

// The items of an index: a slice is (: start stop step).
static void put_items(tl_printer *printer, const tl_ast_item *items,
                      uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const tl_ast_item *item = &items[i];
    if (i)
      put_text(printer, " ");
    if (item->kind == TL_AST_ITEM_ELLIPSIS) {
      put_text(printer, "...");
    } else if (item->kind == TL_AST_ITEM_SPREAD) {
      put_text(printer, "(...");
      put_child(printer, item->value);
      put_text(printer, ")");
    } else if (item->kind == TL_AST_ITEM_VALUE) {
      put_ast(printer, item->value);
    } else {
      // A slice has `-` for an end that is left out.
      put_text(printer, "(:");
      put_child(printer, item->start);
      put_child(printer, item->stop);
      if (item->step)
        put_child(printer, item->step);
      put_text(printer, ")");
    }
  }
}

// Each entry as (key value); a computed key as (key expression).
static void put_record(tl_printer *printer, const tl_ast_record *record) {
  for (uint32_t i = 0; i < record->count; i++) {
    put_text(printer, " (");
    if (record->entries[i].key != NULL) {
      put_key(printer, record->entries[i].key);
    } else {
      put_text(printer, "(key");
      put_child(printer, record->entries[i].computed);
      put_text(printer, ")");
    }
    put_child(printer, record->entries[i].value);
    put_text(printer, ")");
  }
}

// The item and then each clause, (for (names) value) or (if value).
static void put_comprehension(tl_printer *printer,
                              const tl_ast_comprehension *ast) {
  if (ast->key)
    put_child(printer, ast->key);
  put_child(printer, ast->item);
  for (uint32_t i = 0; i < ast->count; i++) {
    const tl_clause *clause = &ast->clauses[i];
    // A clause without names is an `if`.
    put_text(printer, clause->name_count ? " (for (" : " (if");
    put_idents(printer, clause->names, clause->name_count);
    if (clause->name_count)
      put_text(printer, ")");
    put_child(printer, clause->value);
    put_text(printer, ")");
  }
}

// The parameter with a sign for its kind, as in (= x 1) and (... rest), and
// with a type within (:: …).
static void put_param(tl_printer *printer, const tl_ast_param *param) {
  static const char *const pragmas[] = {
      [TL_AST_PARAM_REQUIRED] = "",
      [TL_AST_PARAM_DEFAULT] = "(= ",
      [TL_AST_PARAM_REST] = "(... ",
      [TL_AST_PARAM_NAMED] = "(: ",
  };
  // The type is outermost: (:: (= x 1) `int64`).
  if (param->pattern)
    put_text(printer, "(:: ");
  put_text(printer, pragmas[param->kind]);
  put_name(printer, param->name);
  if (param->value)
    put_child(printer, param->value);
  if (param->kind != TL_AST_PARAM_REQUIRED)
    put_text(printer, ")");
  if (param->pattern) {
    put_child(printer, param->pattern);
    put_text(printer, ")");
  }
}

// Documentation as (doc "…"), if there is any.
static void put_doc(tl_printer *printer, const char *doc, uint32_t nbytes) {
  if (!doc)
    return;
  put_text(printer, " (doc ");
  put_quoted(printer, doc, nbytes);
  put_text(printer, ")");
}

// The name if any, the parameters in parentheses, the documentation and the
// body.
static void put_function(tl_printer *printer, const tl_ast_function *ast) {
  if (ast->name) {
    put_text(printer, " ");
    put_name(printer, ast->name);
  }
  put_text(printer, " (");
  for (uint32_t i = 0; i < ast->count; i++) {
    if (i)
      put_text(printer, " ");
    put_param(printer, &ast->params[i]);
  }
  put_text(printer, ")");
  put_doc(printer, ast->doc, ast->doc_nbytes);
  put_child(printer, ast->body);
}

// Each arm as (test body), and (else body).
static void put_if(tl_printer *printer, const tl_ast_if *ast) {
  for (uint32_t i = 0; i < ast->count; i++) {
    put_text(printer, " (");
    put_ast(printer, ast->arms[i].test);
    put_child(printer, ast->arms[i].body);
    put_text(printer, ")");
  }
  if (ast->otherwise) {
    put_text(printer, " (else");
    put_child(printer, ast->otherwise);
    put_text(printer, ")");
  }
}

// The names in parentheses, what is walked, and the body.
static void put_for(tl_printer *printer, const tl_ast_for *ast) {
  put_text(printer, " (");
  put_idents(printer, ast->names, ast->name_count);
  put_text(printer, ")");
  put_child(printer, ast->value);
  put_child(printer, ast->body);
}

// The callee and the arguments; named ones as (name: value).
static void put_call(tl_printer *printer, const tl_ast_call *ast) {
  put_child(printer, ast->callee);
  for (uint32_t i = 0; i < ast->count; i++) {
    const tl_argument *argument = &ast->arguments[i];
    if (argument->kind == TL_ARGUMENT_POSITIONAL) {
      put_child(printer, argument->value);
      continue;
    }
    put_text(printer, " (");
    if (argument->name)
      put_name(printer, argument->name);
    put_text(printer, argument->name ? ":" : "...");
    put_child(printer, argument->value);
    put_text(printer, ")");
  }
}

// The parts of an interpolated string; with a format (: value format).
static void put_parts(tl_printer *printer, const tl_ast_interpolated *ast) {
  for (uint32_t i = 0; i < ast->count; i++) {
    const tl_part *part = &ast->parts[i];
    put_text(printer, " ");
    if (part->text) {
      put_quoted(printer, part->text, part->nbytes);
    } else if (part->spec) {
      put_text(printer, "(:");
      put_child(printer, part->value);
      put_child(printer, part->spec);
      put_text(printer, ")");
    } else if (part->format) {
      put_text(printer, "(:");
      put_child(printer, part->value);
      put_text(printer, " ");
      put_quoted(printer, part->format, part->format_nbytes);
      put_text(printer, ")");
    } else {
      put_ast(printer, part->value);
    }
  }
}

// A name as it is, a place as (place x [0] .f), several as (list a b).
static void put_target(tl_printer *printer, const tl_target *target) {
  if (target->is_rest)
    put_text(printer, "...");
  if (target->kind == TL_TARGET_NAME) {
    put_name(printer, target->name);
    return;
  }
  // A place begins with its variable, then come the steps.
  put_text(printer, target->kind == TL_TARGET_LIST ? "(list" : "(place ");
  for (uint32_t i = 0; i < target->count; i++) {
    put_text(printer, " ");
    put_target(printer, &target->targets[i]);
  }
  if (target->kind == TL_TARGET_PLACE)
    put_name(printer, target->name);
  for (uint32_t i = 0; i < target->step_count; i++) {
    const tl_ast_step *step = &target->steps[i];
    put_text(printer, step->items ? " [" : " .");
    if (!step->items) {
      put_name(printer, step->field.name);
      continue;
    }
    put_items(printer, step->items, step->count);
    put_text(printer, "]");
  }
  put_text(printer, ")");
}

// The path or name, `as` and the alias, and the names in parentheses.
static void put_import(tl_printer *printer, const tl_ast_import *ast) {
  put_text(printer, " ");
  if (ast->path) {
    put_quoted(printer, ast->path, ast->path_nbytes);
  } else {
    put_name(printer, ast->name);
  }
  if (ast->alias.name) {
    put_text(printer, " as ");
    put_name(printer, ast->alias.name);
  }
  if (ast->count) {
    put_text(printer, " (");
    put_idents(printer, ast->names, ast->count);
    put_text(printer, ")");
  }
}

// Prints a node that has no parentheses; false for all others.
static bool put_leaf(tl_printer *printer, const tl_ast *ast) {
  char buffer[32];
  switch (ast->kind) {
    case TL_AST_BOOL:
      put_text(printer, ast->boolean ? "true" : "false");
      return true;
    case TL_AST_INT:
      snprintf(buffer, sizeof buffer, "%" PRIu64, ast->integer);
      put_text(printer, buffer);
      return true;
    case TL_AST_FLOAT:
    case TL_AST_IMAGINARY:
      put_real(printer, ast->real);
      if (ast->kind == TL_AST_IMAGINARY)
        put_text(printer, "i");
      return true;
    case TL_AST_STRING:
      put_quoted(printer, ast->string.text, ast->string.nbytes);
      return true;
    case TL_AST_TYPE:
      put_text(printer, "`");
      put(printer, ast->string.text, ast->string.nbytes);
      put_text(printer, "`");
      return true;
    case TL_AST_NONE:
      put_text(printer, "none");
      return true;
    case TL_AST_NAME:
      put_name(printer, ast->name.name);
      return true;
    default:
      return false;
  }
}

// The children of an expression behind its word. Of all kinds that are left
// the payload is a tl_ast_binary.
static void put_expression(tl_printer *printer, const tl_ast *ast) {
  switch (ast->kind) {
    case TL_AST_LIST:
    case TL_AST_ARRAY:
    case TL_AST_BLOCK:
    case TL_AST_PEAK:
      for (uint32_t i = 0; i < ast->items.count; i++) {
        put_child(printer, ast->items.items[i]);
      }
      break;
    case TL_AST_INTERPOLATED:
      put_parts(printer, &ast->interpolated);
      break;
    case TL_AST_RECORD:
      put_record(printer, &ast->record);
      break;
    case TL_AST_LIST_FOR:
    case TL_AST_ARRAY_FOR:
    case TL_AST_RECORD_FOR:
      put_comprehension(printer, &ast->comprehension);
      break;
    case TL_AST_FUNCTION:
      put_function(printer, &ast->function);
      break;
    case TL_AST_CALL:
      put_call(printer, &ast->call);
      break;
    case TL_AST_INDEX:
      put_child(printer, ast->index.object);
      put_text(printer, " ");
      put_items(printer, ast->index.items, ast->index.count);
      break;
    case TL_AST_FIELD:
      put_child(printer, ast->field.object);
      put_text(printer, " ");
      put_name(printer, ast->field.field.name);
      break;
    case TL_AST_SELECT:
      put_child(printer, ast->select.object);
      for (uint32_t i = 0; i < ast->select.count; i++) {
        put_text(printer, " ");
        put_key(printer, ast->select.fields[i].name);
      }
      break;
    case TL_AST_UNARY:
    case TL_AST_NOT:
    case TL_AST_SPREAD:
      put_child(printer, ast->unary.operand);
      break;
    case TL_AST_RANGE:
      put_child(printer, ast->range.start);
      put_child(printer, ast->range.stop);
      if (ast->range.step)
        put_child(printer, ast->range.step);
      break;
    case TL_AST_OPERATOR:
      put_text(printer, " ");
      put_text(printer, tl_operator_text(ast->op));
      break;
    default:
      put_child(printer, ast->binary.left);
      put_child(printer, ast->binary.right);
      break;
  }
}

// The children of a statement behind its word.
static void put_statement(tl_printer *printer, const tl_ast *ast) {
  switch (ast->kind) {
    case TL_AST_IF:
      put_if(printer, &ast->condition);
      break;
    case TL_AST_WHILE:
      put_child(printer, ast->while_loop.test);
      put_child(printer, ast->while_loop.body);
      break;
    case TL_AST_FOR:
      put_for(printer, &ast->for_loop);
      break;
    case TL_AST_TRY:
      put_child(printer, ast->attempt.body);
      if (ast->attempt.error.name) {
        put_text(printer, " ");
        put_name(printer, ast->attempt.error.name);
      }
      put_child(printer, ast->attempt.handler);
      break;
    case TL_AST_ASSIGN:
      put_text(printer, " ");
      put_target(printer, &ast->assign.target);
      put_doc(printer, ast->assign.doc, ast->assign.doc_nbytes);
      put_child(printer, ast->assign.value);
      break;
    // The operator is in the head; get(r, k, f) += e has the fallback before
    // the value.
    case TL_AST_UPDATE:
      put_text(printer, " ");
      put_target(printer, &ast->assign.target);
      if (ast->assign.fallback)
        put_child(printer, ast->assign.fallback);
      put_child(printer, ast->assign.value);
      break;
    case TL_AST_DEFINE:
      put_child(printer, ast->define.function);
      break;
    case TL_AST_GLOBAL:
      put_text(printer, " ");
      put_idents(printer, ast->idents.names, ast->idents.count);
      break;
    case TL_AST_RETURN:
      if (ast->result)
        put_child(printer, ast->result);
      break;
    case TL_AST_IMPORT:
      put_import(printer, &ast->import);
      break;
    case TL_AST_BREAK:
    case TL_AST_CONTINUE:
      break;
    default:
      put_expression(printer, ast);
      break;
  }
}

// The word behind the opening parenthesis: the operator, or the kind's name.
static void put_head(tl_printer *printer, const tl_ast *ast) {
  switch (ast->kind) {
    case TL_AST_UNARY:
      put_text(printer, tl_operator_text(ast->unary.op));
      break;
    case TL_AST_BINARY:
    case TL_AST_COMPARE:
    case TL_AST_AND:
    case TL_AST_OR:
    case TL_AST_COMPOSE:
      put_text(printer, tl_operator_text(ast->binary.op));
      break;
    case TL_AST_UPDATE:
      put_text(printer, tl_operator_text(ast->assign.op));
      put_text(printer, "=");
      break;
    case TL_AST_CALL:
      put_text(printer, ast->call.is_piped ? "pipe" : "call");
      break;
    default:
      put_text(printer, kind_name(ast->kind));
      break;
  }
}

// Any node: a leaf, or a word and children in parentheses.
static void put_ast(tl_printer *printer, const tl_ast *ast) {
  if (put_leaf(printer, ast))
    return;
  put_text(printer, "(");
  put_head(printer, ast);
  put_statement(printer, ast);
  put_text(printer, ")");
}

// NULL when memory fails.
static const char *ast_text(const tl_ast *ast, tl_arena *arena) {
  tl_printer printer = {.arena = arena};
  put_ast(&printer, ast);
  return arena->failed ? NULL : printer.text;
}

#endif
