// Layout: lines stay as the author broke them, everything within a line is
// decided here. Three passes: find the lines and their comments, decide
// indentation and columns, write.
//
//   find_brackets, find_lines   tokens and comments become lines
//   has_blank                   blanks between the tokens of a line
//   indent_lines                from the brackets around a line's first token
//   align_comments              comments of neighbouring lines in one column
//   write_line                  all of it
//
// For example:
//
//   if x>1{             if x > 1 {
//   y=[1,                 y = [1,
//   2]                         2]
//   }                   }

#include "compiler/layout.h"

enum {
  INDENT = 2,
  // A line wider than this does not push the comments of its neighbours.
  COMMENT_COLUMN_MAX = 60,
};

// One line of the result; it may have code, a comment, or both.
typedef struct line {
  uint32_t first, end;  // tokens
  uint32_t comment, comment_end;
  uint32_t indent;
  uint32_t width;   // of the code, with its indentation
  uint32_t column;  // of the comment behind the code
  bool is_apart;    // an empty line stands before it
} line;

// The source, and what is found out about each token and line.
typedef struct layout {
  const tl_source *source;
  const tl_token *tokens;
  uint32_t token_count;  // without END
  tl_arena *arena;
  bool *has_blank;    // before each token, unless it is first on its line
  uint32_t *inside;   // the opening bracket around each token, + 1; 0: none
  uint32_t *columns;  // where each begins
  uint32_t *firsts;   // the first token of the line that it is on
  uint32_t *indents;  // and that line's indentation
  line *lines;
  uint32_t line_count;
} layout;

// --- Blanks -----------------------------------------------------------------

// Whether a token may be an operand's last, so that a bracket or a sign behind
// it belongs to it.
static bool ends_operand(uint8_t kind) {
  return (tl_token_infos[kind].place & TL_OPERAND_LAST) != 0;
}

// Braces are neither: blanks stand inside those of a block.
static bool is_opening(uint8_t kind) {
  return kind == TL_TOKEN_PAREN || kind == TL_TOKEN_BRACKET;
}

static bool is_closing(uint8_t kind) {
  return kind == TL_TOKEN_PAREN_END || kind == TL_TOKEN_BRACKET_END;
}

// The kind of a token; END where there is none.
static uint8_t kind_at(const layout *l, int64_t at) {
  return at < 0 || at >= l->token_count ? TL_TOKEN_END : l->tokens[at].kind;
}

// Whether a token is the `by` of a range, behind which no operand ends.
// Anywhere else `by` is a name.
static bool is_by(const layout *l, int64_t at) {
  const tl_token *t = &l->tokens[at];
  return at > 0 && t->kind == TL_TOKEN_NAME && t->end - t->begin == 2 &&
         memcmp(l->source->text + t->begin, "by", 2) == 0 &&
         !(t->flags & TL_TOKEN_AFTER_NEWLINE) &&
         ends_operand(kind_at(l, at - 1));
}

// Whether an operand ends right before the token.
static bool is_operand_before(const layout *l, uint32_t at) {
  return at > 0 && !(l->tokens[at].flags & TL_TOKEN_AFTER_NEWLINE) &&
         ends_operand(l->tokens[at - 1].kind) && !is_by(l, (int64_t)at - 1);
}

// Whether a token is a sign before its operand: `-x`, `+x`, `~x`, `√x`.
static bool is_prefix(const layout *l, uint32_t at) {
  uint8_t kind = l->tokens[at].kind;
  if (kind == TL_TOKEN_TILDE || kind == TL_TOKEN_ROOT)
    return true;
  return (kind == TL_TOKEN_MINUS || kind == TL_TOKEN_PLUS) &&
         !is_operand_before(l, at);
}

// Whether a brace is that of `p.{x, y}`.
static bool is_selection(const layout *l, uint32_t brace) {
  return kind_at(l, (int64_t)brace - 1) == TL_TOKEN_DOT;
}

// The kind of the bracket that a token stands in; END: none.
static uint8_t bracket_around(const layout *l, uint32_t at) {
  return l->inside[at] == 0 ? TL_TOKEN_END : l->tokens[l->inside[at] - 1].kind;
}

// f(x) and x[i] have none, `if (a)`, `f(x) {` and the names of an import have
// one.
static bool has_blank_before_bracket(const layout *l, uint32_t at) {
  uint8_t before = l->tokens[at - 1].kind;
  if (l->tokens[at].kind == TL_TOKEN_BRACE)
    return before != TL_TOKEN_DOT;
  if (before == TL_TOKEN_FN)
    return false;
  bool is_import = kind_at(l, (int64_t)at - 2) == TL_TOKEN_IMPORT;
  return !is_operand_before(l, at) || is_import;
}

// `a: 1` in parentheses and `a:b` in brackets have none, `x :: T` for a
// parameter's type has one.
static bool has_blank_before_colon(const layout *l, uint32_t at) {
  return bracket_around(l, at) == TL_TOKEN_PAREN &&
         kind_at(l, (int64_t)at + 1) == TL_TOKEN_COLON;
}

// `a: 1` has one, a slice has none.
static bool has_blank_after_colon(const layout *l, uint32_t colon) {
  return bracket_around(l, colon) == TL_TOKEN_PAREN;
}

// Whether a blank stands before a token that is not first on its line. The
// rules are tried in order, so earlier ones are stronger.
static bool has_blank(const layout *l, uint32_t at) {
  uint8_t before = l->tokens[at - 1].kind, kind = l->tokens[at].kind;
  // Never a blank within brackets, before a comma, or before ² and ³.
  if (is_opening(before) || is_closing(kind) || kind == TL_TOKEN_COMMA ||
      kind == TL_TOKEN_SEMICOLON || kind == TL_TOKEN_SQUARE ||
      kind == TL_TOKEN_CUBE)
    return false;
  if (before == TL_TOKEN_COMMA || before == TL_TOKEN_SEMICOLON)
    return true;
  // The two colons of a parameter's type.
  if (kind == TL_TOKEN_COLON && before == TL_TOKEN_COLON)
    return false;
  if (kind == TL_TOKEN_COLON)
    return has_blank_before_colon(l, at);
  if (before == TL_TOKEN_COLON)
    return has_blank_after_colon(l, at - 1);
  // `1 .x`: the point would become the number's.
  if (kind == TL_TOKEN_DOT || kind == TL_TOKEN_DOTS)
    return kind == TL_TOKEN_DOT && before == TL_TOKEN_NUMBER;
  if (before == TL_TOKEN_DOT || before == TL_TOKEN_DOTS ||
      before == TL_TOKEN_ELLIPSIS)
    return false;
  // { } of a block has blanks within, unless it is empty; p.{x} has none.
  if (before == TL_TOKEN_BRACE)
    return !is_selection(l, at - 1) && kind != TL_TOKEN_BRACE_END;
  if (kind == TL_TOKEN_BRACE_END)
    return !is_selection(l, l->tokens[at].other);
  // -x: a sign touches its operand.
  if (is_prefix(l, at - 1))
    return false;
  if (is_opening(kind) || kind == TL_TOKEN_BRACE)
    return has_blank_before_bracket(l, at);
  return true;
}

// --- Lines ------------------------------------------------------------------

// Begins a line at [token]; an empty line stands before it if [newlines] say
// so.
static line *add_line(layout *l, uint32_t token, uint32_t newlines) {
  line *added = &l->lines[l->line_count++];
  *added = (line){.first = token,
                  .end = token,
                  .is_apart = newlines > 1 && l->line_count > 1};
  return added;
}

// Whether the token follows a `{` that ends its line: no empty line stands
// there.
static bool follows_brace(const layout *l, uint32_t token) {
  return token > 0 && l->tokens[token - 1].kind == TL_TOKEN_BRACE &&
         l->lines[l->line_count - 1].end == token;
}

// Reads what stands between two tokens, the second of which is [next]:
// comments become lines, or parts of the line that they end. Returns how many
// lines end behind the last comment.
static uint32_t read_gap(layout *l, uint32_t begin, uint32_t end,
                         uint32_t next) {
  const char *text = l->source->text;
  uint32_t newlines = 0;
  // The first line of a file may be a comment.
  bool is_behind = next > 0;  // code stands before it on its line
  for (uint32_t at = begin; at < end; at++) {
    if (text[at] == '\n') {
      newlines++;
      is_behind = false;
    }
    if (text[at] != '#')
      continue;
    // The first comment of a block has no empty line before it.
    if (!is_behind)
      newlines = follows_brace(l, next) ? 1 : newlines;
    line *of =
        is_behind ? &l->lines[l->line_count - 1] : add_line(l, next, newlines);
    of->comment = at;
    while (at < end && text[at] != '\n') at++;
    of->comment_end = at;
    // Blanks at the end of a comment go.
    while (text[of->comment_end - 1] == ' ' ||
           text[of->comment_end - 1] == '\t' ||
           text[of->comment_end - 1] == '\r')
      of->comment_end--;
    at--;  // the newline counts
    newlines = 0;
  }
  return newlines;
}

// The last token of the piece that begins at [at]: a string with holes is one
// piece, and what is in it stays as it is.
static uint32_t last_of_piece(const layout *l, uint32_t at) {
  while (l->tokens[at].kind == TL_TOKEN_HEAD ||
         l->tokens[at].kind == TL_TOKEN_MIDDLE)
    at = l->tokens[at].other;
  return at;
}

// Makes the lines. Empty lines directly within braces go.
static void find_lines(layout *l) {
  uint32_t begin = 0;
  for (uint32_t i = 0; i < l->token_count; i++) {
    const tl_token *token = &l->tokens[i];
    uint32_t newlines = read_gap(l, begin, token->begin, i);
    if (i == 0 || (token->flags & TL_TOKEN_IS_FIRST)) {
      // No empty line behind { or before }.
      bool opens = i > 0 && l->tokens[i - 1].kind == TL_TOKEN_BRACE;
      bool closes = token->kind == TL_TOKEN_BRACE_END;
      add_line(l, i, newlines)->is_apart &= !opens && !closes;
    }
    i = last_of_piece(l, i);
    l->lines[l->line_count - 1].end = i + 1;
    begin = l->tokens[i].end;
  }
  read_gap(l, begin, l->source->nbytes, l->token_count);
}

// Notes which bracket each token stands in: an opening one in the bracket
// around it, a closing one in its own.
static void find_brackets(layout *l) {
  uint32_t innermost = 0;
  for (uint32_t i = 0; i < l->token_count; i++) {
    const tl_token *token = &l->tokens[i];
    l->inside[i] = innermost;
    if (is_opening(token->kind) || token->kind == TL_TOKEN_BRACE)
      innermost = i + 1;
    if (is_closing(token->kind) || token->kind == TL_TOKEN_BRACE_END)
      innermost = l->inside[token->other];
    if (token->kind == TL_TOKEN_HEAD)
      i = last_of_piece(l, i);
  }
}

// --- Columns ----------------------------------------------------------------

// Whether a line begins with an operand or operator that goes on with the line
// above.
static bool continues(const layout *l, uint32_t at) {
  const tl_token *token = &l->tokens[at];
  uint8_t before = kind_at(l, (int64_t)at - 1);
  return at > 0 && !(token->flags & TL_TOKEN_AFTER_NEWLINE) &&
         before != TL_TOKEN_BRACE && before != TL_TOKEN_SEMICOLON &&
         token->kind != TL_TOKEN_ELSE && token->kind != TL_TOKEN_CATCH &&
         !is_opening(bracket_around(l, at));
}

// The end of a token's text, or of all of a string with holes.
static uint32_t piece_end(const layout *l, uint32_t at) {
  return l->tokens[last_of_piece(l, at)].end;
}

// Finds the column of each token of a line, and how wide its code is. Behind a
// string of several lines columns begin anew.
static void measure_line(layout *l, line *at) {
  at->width = at->indent;
  for (uint32_t t = at->first; t < at->end; t = last_of_piece(l, t) + 1) {
    const char *text = l->source->text + l->tokens[t].begin;
    uint32_t nbytes = piece_end(l, t) - l->tokens[t].begin;
    at->width += t > at->first && l->has_blank[t];
    l->columns[t] = at->width;
    l->firsts[t] = at->first;
    l->indents[t] = at->indent;
    // A string of several lines: the width counts from its last one.
    for (const char *end; (end = memchr(text, '\n', nbytes)) != NULL;) {
      nbytes -= (uint32_t)(end + 1 - text);
      text = end + 1;
      at->width = 0;
    }
    at->width += tl_source_width(text, nbytes);
  }
}

// Whether [bracket] is around [at], or is it; both count from 1.
static bool is_within(const layout *l, uint32_t at, uint32_t bracket) {
  while (at != bracket && at > 0) at = l->inside[at - 1];
  return at == bracket;
}

// The indentation of the statement that a block belongs to. That is not the
// last line of its header, if that line begins within brackets.
static uint32_t block_indent(const layout *l, uint32_t brace) {
  uint32_t at = brace;
  // Go out to the line that begins outside of all brackets that the block
  // itself does not stand in.
  while (!is_within(l, l->inside[brace], l->inside[l->firsts[at]]))
    at = l->inside[l->firsts[at]] - 1;
  return l->indents[at];
}

// Lines in a bracket stand one step further in than the line that opens it, or
// under what follows the bracket there.
static uint32_t indent_within(const layout *l, uint32_t opening) {
  if (l->tokens[opening].kind == TL_TOKEN_BRACE)
    return block_indent(l, opening) + INDENT;
  if (l->tokens[opening + 1].flags & TL_TOKEN_IS_FIRST)
    return l->indents[opening] + INDENT;
  return l->columns[opening + 1];
}

// A closing bracket that begins a line stands under the line that opened it.
static uint32_t indent_closing(const layout *l, uint32_t opening) {
  return l->tokens[opening].kind == TL_TOKEN_BRACE ? block_indent(l, opening)
                                                   : l->indents[opening];
}

// Indents from the first line to the last: each needs the columns of those
// above.
static void indent_lines(layout *l) {
  for (uint32_t i = 0; i < l->line_count; i++) {
    line *at = &l->lines[i];
    bool has_code = at->end > at->first;
    // A comment alone is indented like the code below it.
    uint32_t opening = at->first < l->token_count ? l->inside[at->first] : 0;
    uint8_t kind = kind_at(l, at->first);
    if (opening > 0)
      at->indent = indent_within(l, opening - 1);
    // A line that begins with a closing bracket stands further out, one that
    // goes on further in.
    if (has_code && (is_closing(kind) || kind == TL_TOKEN_BRACE_END))
      at->indent = indent_closing(l, opening - 1);
    else if (has_code && continues(l, at->first))
      at->indent += INDENT;
    measure_line(l, at);
  }
}

// Whether a line has code and a comment behind it.
static bool has_both(const line *at) {
  return at->end > at->first && at->comment_end > at->comment;
}

// Whether the comments of a line and of the one above begin in one column.
static bool joins_comments(const layout *l, uint32_t i) {
  return i > 0 && has_both(&l->lines[i]) && has_both(&l->lines[i - 1]) &&
         !l->lines[i].is_apart;
}

// Gives one column to the comments of lines in a row, two blanks behind the
// widest code. Very wide lines do not count.
static void align_comments(layout *l) {
  for (uint32_t i = 0, end; i < l->line_count; i = end) {
    uint32_t width = 0;
    end = i;
    do {
      if (l->lines[end].width > width &&
          l->lines[end].width <= COMMENT_COLUMN_MAX)
        width = l->lines[end].width;
      // At the end of the file compare with line 0, which joins nothing.
    } while (joins_comments(l, ++end < l->line_count ? end : 0));
    for (uint32_t k = i; k < end; k++) {
      line *at = &l->lines[k];
      at->column = (at->width > width ? at->width : width) + 2;
    }
  }
}

// --- Writing ----------------------------------------------------------------

static void write_blanks(tl_text *out, uint32_t count) {
  while (count-- > 0) tl_text_putc(out, ' ');
}

// A line with its indentation, blanks and comment.
static void write_line(tl_text *out, const layout *l, const line *at) {
  const char *text = l->source->text;
  if (at->is_apart)
    tl_text_putc(out, '\n');
  write_blanks(out, at->indent);
  for (uint32_t t = at->first; t < at->end; t = last_of_piece(l, t) + 1) {
    if (t > at->first && l->has_blank[t])
      tl_text_putc(out, ' ');
    tl_text_add(out, text + l->tokens[t].begin,
                piece_end(l, t) - l->tokens[t].begin);
  }
  if (has_both(at))
    write_blanks(out, at->column - at->width);
  tl_text_add(out, text + at->comment, at->comment_end - at->comment);
  tl_text_putc(out, '\n');
}

// All tables are by token and have one entry more than there are tokens, so
// that none is empty.
bool tl_layout(const tl_source *source, const tl_tokens *tokens,
               tl_arena *arena, tl_text *out) {
  uint32_t count = tokens->count - 1, line_count = 1;
  for (uint32_t i = 0; i < source->nbytes; i++)
    line_count += source->text[i] == '\n';
  layout l = {.source = source,
              .tokens = tokens->items,
              .token_count = count,
              .arena = arena,
              .has_blank = TL_ARENA_ARRAY(arena, bool, count + 1),
              .inside = TL_ARENA_ARRAY(arena, uint32_t, count + 1),
              .columns = TL_ARENA_ARRAY(arena, uint32_t, count + 1),
              .firsts = TL_ARENA_ARRAY(arena, uint32_t, count + 1),
              .indents = TL_ARENA_ARRAY(arena, uint32_t, count + 1),
              // Every line of the result ends where one of the source does.
              .lines = TL_ARENA_ARRAY(arena, line, line_count)};
  if (arena->failed)
    return false;
  find_brackets(&l);
  find_lines(&l);
  // The first token is first on its line.
  for (uint32_t i = 1; i < count; i++) l.has_blank[i] = has_blank(&l, i);
  indent_lines(&l);
  align_comments(&l);
  for (uint32_t i = 0; i < l.line_count; i++) write_line(out, &l, &l.lines[i]);
  return true;
}

// --- The proof --------------------------------------------------------------

// Whether two tokens have one kind, text and newline before them.
static bool is_same_token(const char *a_text, const tl_token *a,
                          const char *b_text, const tl_token *b) {
  uint32_t nbytes = a->end - a->begin;
  return a->kind == b->kind && a->code == b->code &&
         (a->flags & TL_TOKEN_AFTER_NEWLINE) ==
             (b->flags & TL_TOKEN_AFTER_NEWLINE) &&
         b->end - b->begin == nbytes &&
         memcmp(a_text + a->begin, b_text + b->begin, nbytes) == 0;
}

// END is left out: its text is empty, and where it stands depends on the
// blanks.
bool tl_layout_is_same(const tl_source *a, const tl_tokens *a_tokens,
                       const tl_source *b, const tl_tokens *b_tokens) {
  if (a_tokens->count != b_tokens->count)
    return false;
  for (uint32_t i = 0; i + 1 < a_tokens->count; i++)
    if (!is_same_token(a->text, &a_tokens->items[i], b->text,
                       &b_tokens->items[i]))
      return false;
  return true;
}
