// Where strings, their holes, and type literals end.
//
// A string without holes is one STRING token. Holes split it, and the tokens
// of the expressions stand between the parts:
//
//   "a {x} b {y:.2f} c"     HEAD  x  MIDDLE  y  FORMAT  TAIL
//
// Each hole is pushed on the stack of brackets, so that a } is known to end
// it. Escapes are decoded by the parser (literal.h).

#include <string.h>

#include "compiler/lexer_internal.h"

// Whether [text] stands at the offset [at].
static bool is_at(const tl_lexer *lexer, uint32_t at, const char *text) {
  size_t length = strlen(text);
  return lexer->nbytes - at >= length &&
         memcmp(lexer->text + at, text, length) == 0;
}

// Passes over text to the string's end, to a hole's {, or to where the string
// breaks off. Returns false for the last.
static bool skip_text(tl_lexer *lexer, bool is_triple) {
  while (lexer->at < lexer->nbytes) {
    char byte = lexer->text[lexer->at];
    if (is_triple ? is_at(lexer, lexer->at, "\"\"\"") : byte == '"')
      return true;
    if (byte == '\n' && !is_triple)
      return false;
    if (byte == '{' && !is_at(lexer, lexer->at, "{{"))
      return true;
    // {{ and }} are braces as text, and a backslash takes the next byte with
    // it, so that \" does not end the string.
    bool is_pair = byte == '{' || byte == '\\' || is_at(lexer, lexer->at, "}}");
    // A backslash does not save the end of a line.
    if (byte == '\\' && is_at(lexer, lexer->at, "\\\n"))
      is_pair = false;
    // The brace of \u{3c0} opens no hole.
    bool is_code = is_at(lexer, lexer->at, "\\u{");
    lexer->at += is_code ? 3 : is_pair ? 2 : 1;
  }
  lexer->at = lexer->nbytes;
  return false;
}

// Gives up the string that breaks off here, and the holes of the strings
// around it that lie on this line: that makes one error, and the next line is
// read as usual.
static void break_off(tl_lexer *lexer, uint32_t begin, bool is_triple) {
  uint32_t depth = lexer->depth;
  for (uint32_t i = lexer->depth; i > 0 && !is_triple; i--) {
    if (lexer->open[i - 1].kind == TL_TOKEN_BRACE)
      break;
    if (lexer->open[i - 1].kind == TL_TOKEN_HEAD &&
        !lexer->open[i - 1].is_triple)
      depth = i - 1;
  }
  if (depth < lexer->depth) {
    lexer->depth = depth;  // the HEAD, without a partner, is the error
    return;
  }
  if (is_triple)
    lexer->tokens->is_open = true;
  tl_lexer_add_error(lexer, is_triple ? TL_LEX_TRIPLE_STRING : TL_LEX_STRING,
                     begin, 0);
}

// Pushes the hole whose { was just read. Its token begins at [begin], the
// string around it at [string].
static void open_hole(tl_lexer *lexer, tl_token_kind kind, uint32_t begin,
                      uint32_t string, bool is_triple) {
  tl_lexer_open(lexer, kind, begin);
  if (lexer->is_done)
    return;
  tl_open *hole = tl_lexer_innermost(lexer);
  hole->kind = TL_TOKEN_HEAD;
  hole->string_begin = string;
  hole->is_triple = is_triple;
}

// At a quote: a STRING, or a HEAD if a hole begins before the end.
void tl_lexer_string(tl_lexer *lexer) {
  uint32_t begin = lexer->at;
  bool is_triple = is_at(lexer, begin, "\"\"\"");
  lexer->at += is_triple ? 3 : 1;
  if (!skip_text(lexer, is_triple)) {
    break_off(lexer, begin, is_triple);
  } else if (lexer->text[lexer->at] == '{') {
    lexer->at++;
    open_hole(lexer, TL_TOKEN_HEAD, begin, begin, is_triple);
  } else {
    lexer->at += is_triple ? 3 : 1;
    tl_lexer_add(lexer, TL_TOKEN_STRING, begin);
  }
}

// Passes over a format to its hole's }, or to the { of a hole in it. Returns
// false where it breaks off.
static bool skip_format(tl_lexer *lexer) {
  for (; lexer->at < lexer->nbytes; lexer->at++) {
    char byte = lexer->text[lexer->at];
    if (byte == '}' || (byte == '{' && !is_at(lexer, lexer->at, "{{")))
      return true;
    if (byte == '{' || byte == '"' || byte == '\n')
      return false;
  }
  return false;
}

// A format, from its colon or from the } of a hole in it: text up to the } of
// its own hole, or to the { of the next one in it.
static void lex_format(tl_lexer *lexer, uint32_t begin, tl_token_kind whole,
                       tl_token_kind broken, const tl_open *around) {
  if (!skip_format(lexer)) {
    tl_lexer_add_error(lexer, TL_LEX_FORMAT, begin, 0);
  } else if (lexer->text[lexer->at] == '{') {
    lexer->at++;
    open_hole(lexer, broken, begin, around->string_begin, around->is_triple);
    if (!lexer->is_done)
      tl_lexer_innermost(lexer)->is_format = true;
  } else {
    tl_lexer_add(lexer, whole, begin);
  }
}

// Reads on behind the } of the innermost open hole, which stands at [begin];
// lexer->at is behind it. Makes a TAIL, or a MIDDLE if another hole begins.
void tl_lexer_string_rest(tl_lexer *lexer, uint32_t begin) {
  tl_open hole = *tl_lexer_innermost(lexer);
  uint32_t index = lexer->tokens->count;
  // Before the text goes on: a further hole is pushed in its place.
  lexer->depth--;
  if (hole.is_format) {
    lex_format(lexer, begin, TL_TOKEN_TAIL, TL_TOKEN_MIDDLE, &hole);
  } else if (!skip_text(lexer, hole.is_triple)) {
    break_off(lexer, hole.string_begin, hole.is_triple);
  } else if (lexer->text[lexer->at] == '{') {
    lexer->at++;
    open_hole(lexer, TL_TOKEN_MIDDLE, begin, hole.string_begin, hole.is_triple);
  } else {
    lexer->at += hole.is_triple ? 3 : 1;
    tl_lexer_add(lexer, TL_TOKEN_TAIL, begin);
  }
  // At a MIDDLE one hole ends and the next begins; at an ERROR the hole was
  // sound, and only its string is not.
  if (lexer->tokens->count > index)
    lexer->tokens->items[hole.token].other = index;
}

// A STRING at r", in which nothing means anything but its end.
void tl_lexer_raw_string(tl_lexer *lexer) {
  uint32_t begin = lexer->at++;
  bool is_triple = is_at(lexer, lexer->at, "\"\"\"");
  uint32_t quotes = is_triple ? 3 : 1;
  for (lexer->at += quotes; lexer->at < lexer->nbytes; lexer->at++) {
    if (is_at(lexer, lexer->at, is_triple ? "\"\"\"" : "\"")) {
      lexer->at += quotes;
      tl_lexer_add(lexer, TL_TOKEN_STRING, begin);
      return;
    }
    if (lexer->text[lexer->at] == '\n' && !is_triple)
      break;
  }
  break_off(lexer, begin, is_triple);
}

// At the `:` of a hole: a FORMAT, or a HEAD if the format has holes itself.
void tl_lexer_format(tl_lexer *lexer) {
  uint32_t begin = lexer->at++;
  tl_open hole = *tl_lexer_innermost(lexer);
  lex_format(lexer, begin, TL_TOKEN_FORMAT, TL_TOKEN_HEAD, &hole);
}

// A type may go over several lines, but then it must end somewhere.
void tl_lexer_type(tl_lexer *lexer) {
  uint32_t begin = lexer->at++;
  const char *text = lexer->text + lexer->at;
  size_t left = lexer->nbytes - lexer->at;
  const char *end = memchr(text, '`', left);
  if (end) {
    lexer->at += (uint32_t)(end - text) + 1;
    tl_lexer_add(lexer, TL_TOKEN_TYPE, begin);
    return;
  }
  // Without a partner the error ends with the line, so that the next one is
  // read as usual.
  const char *line = memchr(text, '\n', left);
  lexer->at = line ? (uint32_t)(line - lexer->text) : lexer->nbytes;
  tl_lexer_add_error(lexer, TL_LEX_TYPE, begin, 0);
}
