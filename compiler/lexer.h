// From text to tokens.
//
// The lexer finds where tokens begin and end, matches brackets and decides
// which ends of lines count (rule 1 of the grammar). What is inside numbers
// and strings is read later, in literal.h. It reports nothing itself: what is
// wrong becomes an ERROR token, which the parser reports when it gets there.
// So errors come in the order of their places, and one that lies in a
// statement already given up stays unsaid.

#pragma once

#include "compiler/arena.h"
#include "compiler/operator.h"
#include "compiler/source.h"

// How tightly binary operators bind: levels 3 to 15 of the language's table.
typedef enum tl_level {
  TL_LEVEL_NONE,  // no binary operator
  TL_LEVEL_OR,
  TL_LEVEL_AND,
  TL_LEVEL_NOT,  // a prefix, but `not in` is a comparison
  TL_LEVEL_COMPARE,
  TL_LEVEL_RANGE,
  TL_LEVEL_BIT_OR,
  TL_LEVEL_BIT_AND,
  TL_LEVEL_SHIFT,
  TL_LEVEL_SUM,
  TL_LEVEL_PRODUCT,
  TL_LEVEL_POWER,    // read by a function of its own
  TL_LEVEL_COMPOSE,  // likewise
} tl_level;

// X(KIND, "text", level, operator)
//
// A newline after a token that has a level is dropped, and no statement may
// begin with one (but see `+`, `-` and `not`).
#define TL_TOKEN_OPERATORS(X)                    \
  X(PLUS, "+", SUM, ADD)                         \
  X(MINUS, "-", SUM, SUBTRACT)                   \
  X(STAR, "*", PRODUCT, MULTIPLY)                \
  X(SLASH, "/", PRODUCT, DIVIDE)                 \
  X(SLASHES, "//", PRODUCT, FLOOR_DIVIDE)        \
  X(PERCENT, "%", PRODUCT, REMAINDER)            \
  X(AT, "@", PRODUCT, MATMUL)                    \
  X(STARS, "**", POWER, POWER)                   \
  X(AMPERSAND, "&", BIT_AND, BIT_AND)            \
  X(BAR, "|", BIT_OR, BIT_OR)                    \
  X(CARET, "^", BIT_OR, BIT_XOR)                 \
  X(SHIFT_LEFT, "<<", SHIFT, SHIFT_LEFT)         \
  X(SHIFT_RIGHT, ">>", SHIFT, SHIFT_RIGHT)       \
  X(EQUAL, "==", COMPARE, EQUAL)                 \
  X(NOT_EQUAL, "!=", COMPARE, NOT_EQUAL)         \
  X(LESS, "<", COMPARE, LESS)                    \
  X(LESS_EQUAL, "<=", COMPARE, LESS_EQUAL)       \
  X(GREATER, ">", COMPARE, GREATER)              \
  X(GREATER_EQUAL, ">=", COMPARE, GREATER_EQUAL) \
  X(NOT_IN, "∉", COMPARE, NOT_IN)                \
  X(DOTS, "..", RANGE, ADD)                      \
  X(RING, "∘", COMPOSE, COMPOSE)

// The same, for those that are keywords.
#define TL_TOKEN_WORD_OPERATORS(X) \
  X(IN, "in", COMPARE, IN)         \
  X(AND, "and", AND, AND)          \
  X(OR, "or", OR, OR)              \
  X(NOT, "not", NOT, NOT)

// X(KIND, "text", whether it may be the first or the last token of an operand,
// what a prompt colours it as)
#define TL_TOKEN_MARKS(X)                                                      \
  X(END, "the end of the text", NEITHER, OTHER)                                \
  X(ERROR, "an error", NEITHER, ERROR)              /* code: tl_lex_error */   \
  X(NEWLINE, "the end of the line", NEITHER, OTHER) /* never stored */         \
  X(PEAK, "#:peak", NEITHER, COMMENT) /* an expression, a statement follow */  \
  X(NAME, "a name", BOTH, NAME)                                                \
  X(NUMBER, "a number", BOTH, NUMBER)                                          \
  X(STRING, "a string", BOTH, STRING) /* whole, without holes; raw ones too */ \
  X(HEAD, "a string", FIRST, STRING)  /* "text{   other: the token after */    \
  /* the hole; or :format{   of a format that has holes itself */              \
  X(MIDDLE, "}", NEITHER, STRING) /* }text{   likewise */                      \
  X(TAIL, "}", LAST, STRING)      /* }text"   or }format, up to the } */       \
  X(FORMAT, ":", NEITHER, STRING) /* :format  before the } of a hole */        \
  X(TYPE, "a type", BOTH, TYPE)                                                \
  X(PAREN, "(", FIRST, OPEN)     /* other: the closing bracket's index, */     \
  X(PAREN_END, ")", LAST, CLOSE) /* or the opening one's, here and below */    \
  X(BRACKET, "[", FIRST, OPEN)                                                 \
  X(BRACKET_END, "]", LAST, CLOSE)                                             \
  X(BRACE, "{", NEITHER, OPEN)                                                 \
  X(BRACE_END, "}", LAST, CLOSE)                                               \
  /* The signs: from here to the operators, which follow. */                   \
  X(COMMA, ",", NEITHER, OTHER)                                                \
  X(SEMICOLON, ";", NEITHER, OTHER)                                            \
  X(COLON, ":", NEITHER, OTHER)                                                \
  X(DOT, ".", NEITHER, OTHER)                                                  \
  X(ELLIPSIS, "...", NEITHER, OPERATOR)                                        \
  X(ASSIGN, "=", NEITHER, OPERATOR)                                            \
  X(UPDATE, "an update", NEITHER, OPERATOR) /* code: tl_operator */            \
  X(ARROW, "=>", NEITHER, OPERATOR)                                            \
  X(PIPE, "|>", NEITHER, OPERATOR)                                             \
  X(TILDE, "~", FIRST, OPERATOR)                                               \
  X(ROOT, "√", FIRST, OPERATOR)                                                \
  X(SQUARE, "²", LAST, OPERATOR)                                               \
  X(CUBE, "³", LAST, OPERATOR)

// X(KIND, "text", the same)
#define TL_TOKEN_KEYWORDS(X)       \
  X(FN, "fn", FIRST)               \
  X(IF, "if", NEITHER)             \
  X(ELSE, "else", NEITHER)         \
  X(WHILE, "while", NEITHER)       \
  X(FOR, "for", NEITHER)           \
  X(BREAK, "break", NEITHER)       \
  X(CONTINUE, "continue", NEITHER) \
  X(RETURN, "return", NEITHER)     \
  X(TRY, "try", NEITHER)           \
  X(CATCH, "catch", NEITHER)       \
  X(IMPORT, "import", NEITHER)     \
  X(AS, "as", NEITHER)             \
  X(GLOBAL, "global", NEITHER)     \
  X(TRUE, "true", BOTH)            \
  X(FALSE, "false", BOTH)          \
  X(NONE, "none", BOTH)

// Where in an operand a token may stand, as bits.
typedef enum tl_operand_place {
  TL_OPERAND_NEITHER,
  TL_OPERAND_FIRST,
  TL_OPERAND_LAST,
  TL_OPERAND_BOTH
} tl_operand_place;

typedef enum tl_token_kind {
#define X(kind, ...) TL_TOKEN_##kind,
  TL_TOKEN_MARKS(X) TL_TOKEN_OPERATORS(X) TL_TOKEN_WORD_OPERATORS(X)
      TL_TOKEN_KEYWORDS(X)
#undef X
          TL_TOKEN_KIND_COUNT
} tl_token_kind;

// What is known of a kind of token without looking at its text.
typedef struct tl_token_info {
  const char *text;
  uint8_t level;  // tl_level
  uint8_t op;     // tl_operator, where level is not NONE
  bool is_word;   // a keyword, `and` and its like among them
  uint8_t place;  // tl_operand_place
  uint8_t shown;  // tally_token_kind
} tl_token_info;

// Indexed by tl_token_kind.
extern const tl_token_info tl_token_infos[TL_TOKEN_KIND_COUNT];

// What is wrong with an ERROR token (its code). The parser words the message,
// see tl_parser_lex_error.
typedef enum tl_lex_error {
  TL_LEX_CHARACTER,      // no token begins so
  TL_LEX_STRING,         // ends with its line
  TL_LEX_TRIPLE_STRING,  // ends with the text
  TL_LEX_TYPE,           // likewise
  TL_LEX_HOLE,           // is not closed; other: where its string begins
  TL_LEX_FORMAT,         // a format that holds {{ or "
  TL_LEX_UNCLOSED,       // an opening bracket
  TL_LEX_STRAY,          // a closing one; nothing is open
  TL_LEX_MISMATCH,       // likewise; other: the offset of what is open
  TL_LEX_SEMICOLON,      // within ( ), [ ] or a hole; other: its offset
  TL_LEX_DEPTH,          // too many open brackets; nothing follows
  TL_LEX_NUMBER_POINT,   // 2.
  TL_LEX_POINT_NUMBER,   // .5
  TL_LEX_NUMBER_NAME,    // 2x     other: where the name begins
} tl_lex_error;

// The flags of a token.
enum {
  TL_TOKEN_IS_FIRST = 1,       // on its line
  TL_TOKEN_AFTER_NEWLINE = 2,  // one that counts: a NEWLINE comes before it
  TL_TOKEN_HAS_DOC = 4,        // other: the offset of the ## lines above
};

// One token: a part of the text. [other] is the index of the matching token or
// an offset, as the table of kinds says.
typedef struct tl_token {
  uint8_t kind;  // tl_token_kind
  uint8_t flags;
  uint16_t code;
  uint32_t begin, end;
  uint32_t other;  // 0 where the kinds above say nothing else
} tl_token;

// The tokens of a source. The parser peeks at them by index, so all are there
// before it begins.
typedef struct tl_tokens {
  tl_token *items;  // the last is END
  uint32_t count;
  size_t nbytes;  // that there is room for
  bool is_open;   // the text ends in a bracket, a hole or a """string
} tl_tokens;

// Fills [tokens] with [source]'s tokens. Where [is_partial], a bracket that is
// never closed stays a bracket (with other 0), else it becomes an ERROR.
// Returns false, and sets arena->failed, when memory fails. The tokens are
// outside the arena; release them in either case.
bool tl_lex(tl_tokens *tokens, tl_arena *arena, const tl_source *source,
            bool is_partial);

// Rule 1: whether a newline after the token is dropped.
bool tl_token_joins_next_line(const tl_token *token);

// Frees the tokens; [arena] is the one that tl_lex had, whose resize made
// them.
void tl_tokens_release(tl_tokens *tokens, tl_arena *arena);
