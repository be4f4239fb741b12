// The operators, as tokens and nodes of the tree name them.
//
// The groups below say in which kinds of nodes (ast.h) an operator occurs.
// OPERATOR is one that stands for a function, as in fold((+), xs).
#ifndef TALLY_COMPILER_OPERATOR_H
#define TALLY_COMPILER_OPERATOR_H

// X(NAME, "its ASCII form")
#define TL_OPERATORS(X)                               \
  /* BINARY, UPDATE and OPERATOR */                   \
  X(ADD, "+")                                         \
  X(SUBTRACT, "-")                                    \
  X(MULTIPLY, "*")                                    \
  X(DIVIDE, "/")                                      \
  X(FLOOR_DIVIDE, "//")                               \
  X(REMAINDER, "%")                                   \
  X(MATMUL, "@")                                      \
  X(POWER, "**")                                      \
  X(BIT_AND, "&")                                     \
  X(BIT_OR, "|")                                      \
  X(BIT_XOR, "^")                                     \
  X(SHIFT_LEFT, "<<")                                 \
  X(SHIFT_RIGHT, ">>")                                \
  /* COMPARE and OPERATOR; NOT_IN in COMPARE alone */ \
  X(EQUAL, "==")                                      \
  X(NOT_EQUAL, "!=")                                  \
  X(LESS, "<")                                        \
  X(LESS_EQUAL, "<=")                                 \
  X(GREATER, ">")                                     \
  X(GREATER_EQUAL, ">=")                              \
  X(IN, "in")                                         \
  X(NOT_IN, "not in")                                 \
  /* AND, OR and OPERATOR; NOT */                     \
  X(AND, "and")                                       \
  X(OR, "or")                                         \
  X(NOT, "not")                                       \
  /* UNARY */                                         \
  X(NEGATE, "-")                                      \
  X(PLUS, "+")                                        \
  X(INVERT, "~")                                      \
  X(SQRT, "√")                                        \
  /* COMPOSE */                                       \
  X(COMPOSE, "∘")

// An operator of the language, whichever sign it was written with: × and * are
// both TL_OPERATOR_MULTIPLY.
typedef enum tl_operator {
#define X(name, text) TL_OPERATOR_##name,
  TL_OPERATORS(X)
#undef X
      TL_OPERATOR_COUNT
} tl_operator;

// "+", "not in" …: the operator as it is written in ASCII.
const char *tl_operator_text(tl_operator op);

#endif
