// The operators, as tokens and nodes of the tree name them.
//
// The groups below say in which kinds of nodes (ast.h) an operator occurs.
// OPERATOR is one that stands for a function, as in fold((+), xs).
#pragma once

// X(NAME, "its ASCII form", the opcode of two operands, "its function")
//
// NOT_IN is IN and then NOT. EXTRA and NULL: it has no such.
#define TL_OPERATORS(X)                               \
  /* BINARY, UPDATE and OPERATOR */                   \
  X(ADD, "+", ADD, "add")                             \
  X(SUBTRACT, "-", SUB, "subtract")                   \
  X(MULTIPLY, "*", MUL, "multiply")                   \
  X(DIVIDE, "/", DIV, "divide")                       \
  X(FLOOR_DIVIDE, "//", FLOORDIV, "floor_divide")     \
  X(REMAINDER, "%", MOD, "remainder")                 \
  X(MATMUL, "@", MATMUL, "matmul")                    \
  X(POWER, "**", POW, "pow")                          \
  X(BIT_AND, "&", BITAND, "bitwise_and")              \
  X(BIT_OR, "|", BITOR, "bitwise_or")                 \
  X(BIT_XOR, "^", BITXOR, "bitwise_xor")              \
  X(SHIFT_LEFT, "<<", SHL, "bitwise_left_shift")      \
  X(SHIFT_RIGHT, ">>", SHR, "bitwise_right_shift")    \
  /* COMPARE and OPERATOR; NOT_IN in COMPARE alone */ \
  X(EQUAL, "==", EQ, "equal")                         \
  X(NOT_EQUAL, "!=", NE, "not_equal")                 \
  X(LESS, "<", LT, "less")                            \
  X(LESS_EQUAL, "<=", LE, "less_equal")               \
  X(GREATER, ">", GT, "greater")                      \
  X(GREATER_EQUAL, ">=", GE, "greater_equal")         \
  X(IN, "in", IN, "contained")                        \
  X(NOT_IN, "not in", IN, NULL)                       \
  /* AND, OR and OPERATOR; NOT */                     \
  X(AND, "and", EXTRA, "both")                        \
  X(OR, "or", EXTRA, "either")                        \
  X(NOT, "not", EXTRA, NULL)                          \
  /* UNARY */                                         \
  X(NEGATE, "-", EXTRA, NULL)                         \
  X(PLUS, "+", EXTRA, NULL)                           \
  X(INVERT, "~", EXTRA, NULL)                         \
  X(SQRT, "√", EXTRA, NULL)                           \
  /* COMPOSE */                                       \
  X(COMPOSE, "∘", EXTRA, NULL)

// An operator of the language, whichever sign it was written with: × and * are
// both TL_OPERATOR_MULTIPLY.
typedef enum tl_operator {
#define X(name, ...) TL_OPERATOR_##name,
  TL_OPERATORS(X)
#undef X
      TL_OPERATOR_COUNT
} tl_operator;

// "+", "not in" …: the operator as it is written in ASCII.
const char *tl_operator_text(tl_operator op);
