// Tokens, except strings (lexer_string.c) and brackets (lexer_bracket.c).
//
// One pass over the text: skip_space passes over what separates tokens, and
// lex_token reads the next one by its first character. When the end is
// reached, tl_lexer_lay_out goes over the tokens once more and decides which
// ends of lines count. Tokens hold offsets only; nothing is decoded or copied.
//
//   z = x * 2.5   # text        NAME ASSIGN NAME STAR NUMBER
//   -z                          MINUS (after a newline that counts) NAME END

#include "compiler/lexer.h"

#include <string.h>

#include "compiler/lexer_internal.h"
#include "vm/number.h"
#include "vm/utf8.h"

// A character outside ASCII and the token that it makes, as a second form of a
// sign in lexer.h; ∞ is a name.
typedef struct tl_unicode_sign {
  int32_t code;
  uint8_t kind;
} tl_unicode_sign;

static const tl_unicode_sign unicode_signs[] = {
    {0x00b7, TL_TOKEN_AT},         {0x00d7, TL_TOKEN_STAR},
    {0x00f7, TL_TOKEN_SLASH},      {0x2192, TL_TOKEN_ARROW},
    {0x2208, TL_TOKEN_IN},         {0x2212, TL_TOKEN_MINUS},
    {0x221e, TL_TOKEN_NAME},       {0x2227, TL_TOKEN_AMPERSAND},
    {0x2228, TL_TOKEN_BAR},        {0x00ac, TL_TOKEN_TILDE},
    {0x22bb, TL_TOKEN_CARET},      {0x2260, TL_TOKEN_NOT_EQUAL},
    {0x2264, TL_TOKEN_LESS_EQUAL}, {0x2265, TL_TOKEN_GREATER_EQUAL},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

// The character at [at]; its bytes in [length]. The source is valid UTF-8.
static int32_t character_at(const tl_lexer *lexer, uint32_t at,
                            uint32_t *length) {
  int32_t code;
  if (at >= lexer->nbytes)
    return *length = 0, -1;
  *length =
      (uint32_t)tl_utf8_decode(lexer->text + at, lexer->nbytes - at, &code);
  return code;
}

// The byte at [at]; 0 behind the text, so that callers may look ahead.
static char byte_at(const tl_lexer *lexer, uint32_t at) {
  return at < lexer->nbytes ? lexer->text[at] : 0;
}

static bool name_starts_at(const tl_lexer *lexer, uint32_t at) {
  uint32_t length;
  return tl_begins_name(character_at(lexer, at, &length));
}

// Whether a byte continues a name without a look at Unicode: what names are
// mostly made of.
static bool is_plain_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

// The offset behind the name that begins at [at].
static uint32_t name_end(const tl_lexer *lexer, uint32_t at) {
  for (uint32_t length;; at += length) {
    while (at < lexer->nbytes && is_plain_in_name(lexer->text[at])) at++;
    if (!tl_continues_name(character_at(lexer, at, &length)))
      return at;
  }
}

// Signs and keywords in lists by their first byte: most have one or two.
static void index_tokens(tl_lexer *lexer) {
  for (int kind = TL_TOKEN_COMMA; kind < TL_TOKEN_KIND_COUNT; kind++) {
    uint8_t *first = &lexer->first[(uint8_t)tl_token_infos[kind].text[0]];
    lexer->next[kind] = *first;
    *first = (uint8_t)kind;
  }
}

// The kind of the longest sign or keyword that the [left] bytes at [at] begin
// with, and its bytes in [length]; ERROR: with none.
static tl_token_kind find_fixed(const tl_lexer *lexer, uint32_t at,
                                uint32_t left, uint32_t *length) {
  const char *text = lexer->text + at;
  int found = TL_TOKEN_ERROR;
  *length = 0;
  for (int kind = lexer->first[(uint8_t)text[0]]; kind != 0;
       kind = lexer->next[kind]) {
    const char *fixed = tl_token_infos[kind].text;
    uint32_t nbytes = (uint32_t)strlen(fixed);
    if (nbytes > *length && nbytes <= left &&
        memcmp(fixed, text, nbytes) == 0) {
      *length = nbytes;
      found = kind;
    }
  }
  return (tl_token_kind)found;
}

// A name or a keyword. Its normal form is made when the name is stored.
static void lex_name(tl_lexer *lexer) {
  uint32_t begin = lexer->at, length;
  lexer->at = name_end(lexer, begin);
  uint32_t nbytes = lexer->at - begin;
  tl_token_kind kind = find_fixed(lexer, begin, nbytes, &length);
  tl_lexer_add(lexer, length == nbytes ? kind : TL_TOKEN_NAME, begin);
}

// The offset behind digits of a base; a single `_` may stand between two of
// them, as in 1_000_000.
static uint32_t digits_end(const tl_lexer *lexer, uint32_t at, unsigned base) {
  for (;;) {
    uint32_t next = at + (byte_at(lexer, at) == '_');
    if (tl_digit_value(byte_at(lexer, next)) >= base)
      return at;
    at = next + 1;
  }
}

// The offset behind an exponent at [at]; [at] itself if there is none.
static uint32_t exponent_end(const tl_lexer *lexer, uint32_t at) {
  uint32_t digits = at + 1;
  if (byte_at(lexer, at) != 'e' && byte_at(lexer, at) != 'E')
    return at;
  if (byte_at(lexer, digits) == '+' || byte_at(lexer, digits) == '-')
    digits++;
  // 2e and 2em: no exponent, so `e` begins a name.
  if (!tl_is_digit(byte_at(lexer, digits)))
    return at;
  return digits_end(lexer, digits, 10);
}

// Whether a point behind the number, at [at], is an error: no second point
// (2..5) and no field's name (2.x) follows it, or an exponent does (2.e5).
static bool ends_in_point(const tl_lexer *lexer, uint32_t at) {
  if (byte_at(lexer, at) != '.')
    return false;
  if (byte_at(lexer, at + 1) == '.')
    return false;
  return !name_starts_at(lexer, at + 1) || exponent_end(lexer, at + 1) > at + 1;
}

// The offset behind a decimal number: digits, fraction, exponent and the `i`
// of an imaginary one.
static uint32_t decimal_end(const tl_lexer *lexer, uint32_t at) {
  at = digits_end(lexer, at, 10);
  if (byte_at(lexer, at) == '.' && tl_is_digit(byte_at(lexer, at + 1)))
    at = digits_end(lexer, at + 1, 10);
  at = exponent_end(lexer, at);
  uint32_t length;
  // 2i is imaginary, but in 2in or 2if the letter begins a word, which is
  // reported.
  if (byte_at(lexer, at) == 'i' &&
      !tl_continues_name(character_at(lexer, at + 1, &length)))
    at++;
  return at;
}

// A NUMBER, or an ERROR for what would otherwise be two tokens that nobody
// meant: 2x, 2., 0xg.
static void lex_number(tl_lexer *lexer) {
  uint32_t begin = lexer->at, end;
  // 0x without digits is the number 0 and a name: an error below.
  if (byte_at(lexer, begin) == '0' && byte_at(lexer, begin + 1) == 'x' &&
      tl_digit_value(byte_at(lexer, begin + 2)) < 16)
    end = digits_end(lexer, begin + 2, 16);
  else
    end = decimal_end(lexer, begin);
  lexer->at = end;
  if (name_starts_at(lexer, end)) {
    // The whole word is part of the error, so that it is reported once.
    lexer->at = name_end(lexer, end);
    tl_lexer_add_error(lexer, TL_LEX_NUMBER_NAME, begin, end);
  } else if (ends_in_point(lexer, end)) {
    lexer->at = exponent_end(lexer, end + 1);
    tl_lexer_add_error(lexer, TL_LEX_NUMBER_POINT, begin, end);
  } else {
    tl_lexer_add(lexer, TL_TOKEN_NUMBER, begin);
  }
}

// Whether the last token ends here and may be an operand: then .5 is a wrong
// field, not a wrong number.
static bool touches_operand(const tl_lexer *lexer) {
  const tl_tokens *tokens = lexer->tokens;
  if (!tokens->count)
    return false;
  const tl_token *last = &tokens->items[tokens->count - 1];
  return last->end == lexer->at &&
         (last->kind == TL_TOKEN_NAME || last->kind == TL_TOKEN_PAREN_END ||
          last->kind == TL_TOKEN_BRACKET_END || last->kind == TL_TOKEN_NUMBER);
}

// Makes an ERROR of .5, which lacks its zero. False: none stands here.
static bool lex_point_number(tl_lexer *lexer) {
  uint32_t begin = lexer->at;
  if (byte_at(lexer, begin) != '.' || !tl_is_digit(byte_at(lexer, begin + 1)) ||
      touches_operand(lexer))
    return false;
  lexer->at = decimal_end(lexer, begin + 1);
  tl_lexer_add_error(lexer, TL_LEX_POINT_NUMBER, begin, 0);
  return true;
}

// The kind of the longest sign that stands here, and its bytes in [length];
// ERROR: none does.
static tl_token_kind find_sign(const tl_lexer *lexer, uint32_t *length) {
  tl_token_kind found =
      find_fixed(lexer, lexer->at, lexer->nbytes - lexer->at, length);
  if (found != TL_TOKEN_ERROR)
    return found;
  int32_t code = character_at(lexer, lexer->at, length);
  for (size_t i = 0; i < COUNT(unicode_signs); i++)
    if (unicode_signs[i].code == code)
      return (tl_token_kind)unicode_signs[i].kind;
  return TL_TOKEN_ERROR;
}

// Whether an `=` behind the sign at [begin], which was just read, makes an
// update of it: `×=` is `*=`. `×==` is not one.
static bool is_update(const tl_lexer *lexer, tl_token_kind kind,
                      uint32_t begin) {
  int level = tl_token_infos[kind].level;
  // Operators from | to ** have updates.
  return level >= TL_LEVEL_BIT_OR && level <= TL_LEVEL_POWER &&
         byte_at(lexer, lexer->at) == '=' &&
         ((unsigned char)lexer->text[begin] < 0x80 ||
          byte_at(lexer, lexer->at + 1) != '=');
}

// A sign, or an update by it. False: none stands here.
static bool lex_sign(tl_lexer *lexer) {
  uint32_t begin = lexer->at, length;
  tl_token_kind kind = find_sign(lexer, &length);
  if (kind == TL_TOKEN_ERROR)
    return false;
  lexer->at += length;
  if (!is_update(lexer, kind, begin)) {
    tl_lexer_add(lexer, kind, begin);
    return true;
  }
  // Over the `=`.
  lexer->at++;
  tl_token *token = tl_lexer_add(lexer, TL_TOKEN_UPDATE, begin);
  if (token)
    token->code = tl_token_infos[kind].op;
  return true;
}

// False: the character is no bracket.
static bool lex_bracket(tl_lexer *lexer) {
  static const char signs[] = "([{)]}";
  static const tl_token_kind kinds[] = {
      TL_TOKEN_PAREN,     TL_TOKEN_BRACKET,     TL_TOKEN_BRACE,
      TL_TOKEN_PAREN_END, TL_TOKEN_BRACKET_END, TL_TOKEN_BRACE_END};
  const char *sign = memchr(signs, lexer->text[lexer->at], 6);
  if (!sign)
    return false;
  uint32_t begin = lexer->at++;
  tl_token_kind kind = kinds[sign - signs];
  if (sign < signs + 3)
    tl_lexer_open(lexer, kind, begin);
  else if (tl_lexer_close(lexer, kind, begin))
    tl_lexer_string_rest(lexer, begin);
  return true;
}

// Makes an ERROR of one character that begins no token.
static void lex_unknown(tl_lexer *lexer) {
  uint32_t begin = lexer->at, length;
  character_at(lexer, begin, &length);
  lexer->at += length;
  tl_lexer_add_error(lexer, TL_LEX_CHARACTER, begin, 0);
}

// The token at lexer->at, which is no blank. The order matters: r" before
// names, the format of a hole before the sign `:`, and .5 before the sign `.`.
static void lex_token(tl_lexer *lexer) {
  char byte = lexer->text[lexer->at];
  if (byte == '#') {
    uint32_t begin = lexer->at;
    lexer->at += 6;
    tl_lexer_add(lexer, TL_TOKEN_PEAK, begin);
  } else if (byte == '"') {
    tl_lexer_string(lexer);
  } else if (byte == 'r' && byte_at(lexer, lexer->at + 1) == '"') {
    tl_lexer_raw_string(lexer);
  } else if (byte == '`') {
    tl_lexer_type(lexer);
  } else if (tl_is_digit(byte)) {
    lex_number(lexer);
  } else if (name_starts_at(lexer, lexer->at)) {
    lex_name(lexer);
  } else if (byte == ':' && tl_lexer_innermost(lexer) &&
             tl_lexer_innermost(lexer)->kind == TL_TOKEN_HEAD) {
    // Within ( ) or [ ] in a hole the colon is one of a slice or a name.
    tl_lexer_format(lexer);
  } else if (!lex_bracket(lexer) && !lex_point_number(lexer) &&
             !lex_sign(lexer)) {
    lex_unknown(lexer);
  }
}

// Passes over a comment. One that begins with exactly two # on a line of its
// own documents what follows: the first such line is remembered for the next
// token.
static void skip_comment(tl_lexer *lexer) {
  const char *text = lexer->text + lexer->at;
  size_t left = lexer->nbytes - lexer->at;
  bool is_doc = lexer->is_first && left > 1 && text[1] == '#' &&
                (left == 2 || text[2] != '#');
  if (is_doc && !lexer->has_doc)
    lexer->doc_begin = lexer->at;
  // A comment of another kind ends the documentation.
  lexer->has_doc = is_doc;
  const char *end = memchr(text, '\n', left);
  lexer->at = end ? (uint32_t)(end - lexer->text) : lexer->nbytes;
}

// Whether a #:peak stands here, first on its line. Alone of all pragmas it is
// followed by an expression, which is code of the script.
static bool peak_starts(const tl_lexer *lexer) {
  static const char mark[] = "#:peak";
  size_t n = sizeof mark - 1, left = lexer->nbytes - lexer->at;
  return lexer->is_first && left >= n &&
         memcmp(lexer->text + lexer->at, mark, n) == 0 &&
         (left == n || strchr(" \t\r\n", lexer->text[lexer->at + n]) != NULL);
}

// Skips blanks, comments and ends of lines up to the next token. A blank line
// separates the ## lines above it from what follows.
static void skip_space(tl_lexer *lexer) {
  bool is_blank = lexer->is_first;
  for (; lexer->at < lexer->nbytes;) {
    char byte = lexer->text[lexer->at];
    if (byte == '#' && peak_starts(lexer))
      return;
    if (byte == '#') {
      skip_comment(lexer);
      is_blank = false;
    } else if (byte == '\n') {
      // Two ends of lines with nothing between them.
      if (is_blank)
        lexer->has_doc = false;
      lexer->is_first = is_blank = true;
      lexer->at++;
    } else if (byte == ' ' || byte == '\t' || byte == '\r' || byte == '\f') {
      lexer->at++;
    } else {
      return;
    }
  }
}

static void skip_byte_order_mark(tl_lexer *lexer) {
  // It stays part of all offsets.
  if (lexer->nbytes >= 3 && memcmp(lexer->text, "\xef\xbb\xbf", 3) == 0)
    lexer->at = 3;
}

// Never stops at an error: what cannot be read becomes an ERROR token, which
// the parser reports where it meets it.
bool tl_lex(tl_tokens *tokens, tl_arena *arena, const tl_source *source,
            bool is_partial) {
  *tokens = (tl_tokens){0};
  // In the arena: its stack of brackets is large for the C stack.
  tl_lexer *lexer = TL_ARENA_NEW(arena, tl_lexer);
  if (!lexer)
    return false;
  lexer->text = source->text;
  lexer->nbytes = source->nbytes;
  lexer->arena = arena;
  lexer->tokens = tokens;
  lexer->is_first = true;
  index_tokens(lexer);
  skip_byte_order_mark(lexer);
  while (!lexer->is_done) {
    skip_space(lexer);
    if (lexer->at == lexer->nbytes)
      break;
    lex_token(lexer);
  }
  // The last token is always END, so that nobody who looks ahead has to ask for
  // the count.
  tl_lexer_add(lexer, TL_TOKEN_END, lexer->at);
  if (arena->failed)
    return false;
  tl_lexer_lay_out(lexer, is_partial);
  return true;
}

// The tokens are not in the arena, so that they can go before lowering begins.
void tl_tokens_release(tl_tokens *tokens, tl_arena *arena) {
  if (tokens->items)
    arena->resize(arena->context, tokens->items, tokens->nbytes, 0);
  *tokens = (tl_tokens){0};
}
