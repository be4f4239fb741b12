// Reads declarations for `tally bind`: a recursive descent over the text, one
// function for each part of the format.
//
//     read_all ─ a word at the start of a line, by the table `declarations`
//              ─ read_function ─ read_value (result, parameters)
//                              ─ clauses: indented lines below it
//              ─ resolve: names of other parameters, who owns what
//
// The grammar, in which WORDS stand for themselves and […] for what may be left
// out; EXPR is C, TEXT is all to the end of the line:
//
//     file        (declaration | comment)*
//     declaration module NAME | library TEXT | package TEXT | include TEXT
//                 errors ERRORS
//                 handle NAME = TEXT *
//                                { release | nbytes | device | limit | get }
//                 callback NAME = result (params) { stop TEXT }
//                 function NAME = result NAME (params)
//                                           { errors | free | length }
//                 constant NAME : type = TEXT
//                 raw NAME (TEXT) = NAME
//                 skip NAME : TEXT
//                 code LINES end
//     result      void | code | type [within NAME]
//     param       context | use EXPR
//                 [out] type NAME [within NAME] [in END .. END] [= VALUE]
//     type        [owner] NAME [?] [ [EXPR, EXPR …] ]
//     owner       borrow | own | fresh | view of NAME | list of fresh
//     errors      [none|code|null|negative|errno] [jump]
//                 [ok NUMBERS] [kind NAME] [text TEXT]
//
// What stands in braces are lines below it, indented. Words have their meaning
// only where they may stand, so a function may be called `length`; names of
// parameters are limited by the generated code (is_reserved).
//
// The first mistake ends it, with its line and column:
//
//     x.bind:2:28: pointer is no type here: there are numbers such as …
//         2 | function f = void g(borrow pointer x)
//           |                            ^
//
// A function returns false once fail was called, and callers pass that up. What
// was read until then is in the file's lists, which tl_bind_free frees.

#include "repl/bind.h"

#include <ctype.h>
#include <stdarg.h>

// Where the reader is. Blanks include ends of lines within brackets.
typedef struct reader {
  bind_file *file;
  // at ≤ end; *end is NUL, so that a look at the next character is safe. depth
  // counts open brackets of parameters, in which a declaration may go over
  // lines.
  const char *at, *end;
  int depth;
  bool failed;
  span doc;            // the ## lines above what is read
  bind_errors errors;  // of functions that say nothing else
} reader;

// The types of numbers; the first that a word names counts. [low] begins with 0
// where the type is unsigned, which decides what makes a value of it. An array
// of long has 64 bits an item.
static const bind_number numbers[] = {
    {"int", "int", "int32", false, "INT_MIN", "INT_MAX"},
    {"uint", "unsigned", "uint32", false, "0", "UINT_MAX"},
    {"long", "long", "int64", false, "LONG_MIN", "LONG_MAX"},
    {"ulong", "unsigned long", "uint64", false, "0", "ULONG_MAX"},
    {"size", "size_t", "uint64", false, "0", "SIZE_MAX"},
    {"int8", "int8_t", "int8", false, "INT8_MIN", "INT8_MAX"},
    {"int16", "int16_t", "int16", false, "INT16_MIN", "INT16_MAX"},
    {"int32", "int32_t", "int32", false, "INT32_MIN", "INT32_MAX"},
    {"int64", "int64_t", "int64", false, "INT64_MIN", "INT64_MAX"},
    {"uint8", "uint8_t", "uint8", false, "0", "UINT8_MAX"},
    {"uint16", "uint16_t", "uint16", false, "0", "UINT16_MAX"},
    {"uint32", "uint32_t", "uint32", false, "0", "UINT32_MAX"},
    {"uint64", "uint64_t", "uint64", false, "0", "UINT64_MAX"},
    {"float", "float", "float32", true, "0", "0"},
    {"double", "double", "float64", true, "0", "0"},
    {NULL, NULL, NULL, false, NULL, NULL}};

// --- Mistakes ---------------------------------------------------------------

// Tells of the first mistake: place, message, the line and a caret. Returns
// false.
// [at] is any place in the text, its end included; the column counts bytes.
static bool fail(reader *r, const char *at, const char *format, ...) {
  if (r->failed)
    return false;
  r->failed = true;
  // Lines are counted here, for the one mistake, and not while reading.
  const char *line = r->file->source.data;
  int number = 1;
  for (const char *c = line; c < at; c++) {
    if (*c != '\n')
      continue;
    number++;
    line = c + 1;
  }
  fprintf(stderr, "%s:%d:%d: ", r->file->path, number, (int)(at - line) + 1);
  va_list list;
  va_start(list, format);
  vfprintf(stderr, format, list);
  va_end(list);
  fprintf(stderr, "\n%5d | %.*s\n      | %*s^\n", number,
          (int)strcspn(line, "\n"), line, (int)(at - line), "");
  return false;
}

// --- Words ------------------------------------------------------------------

// Names are ASCII, as C's are.
static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

// Skips blanks and, behind them, a comment; within brackets ends of lines too.
static void blanks(reader *r) {
  for (; r->at < r->end; r->at++) {
    if (*r->at == '#')
      while (r->at + 1 < r->end && r->at[1] != '\n') r->at++;
    else if (*r->at != ' ' && *r->at != '\t' && *r->at != '\r' &&
             (*r->at != '\n' || r->depth == 0))
      return;
  }
}

// The next word, which stays; of no characters where there is none.
static span peek(reader *r) {
  blanks(r);
  const char *end = r->at;
  while (end < r->end && is_word(*end)) end++;
  return (span){r->at, (size_t)(end - r->at)};
}

// The same, which is then read.
static span word(reader *r) {
  span found = peek(r);
  r->at += found.n;
  return found;
}

// A name, or a mistake that says what was expected.
// [what] begins the message: "the handle's name is expected here".
static bool name(reader *r, const char *what, span *out) {
  *out = word(r);
  if (out->n > 0 && !isdigit((unsigned char)*out->at))
    return true;
  return fail(r, out->at, "%s is expected here", what);
}

// Takes a word or a sign if it comes next.
// A sign is one character.
static bool take(reader *r, const char *what) {
  span next = peek(r);
  // A word counts whole: `in` does not take the begin of `int`.
  if (is_word(*what) ? !same(next, spell(what))
                     : r->at == r->end || *r->at != *what)
    return false;
  r->at += strlen(what);
  return true;
}

// Takes it, or it is a mistake: "of is expected behind view".
static bool expect(reader *r, const char *sign, const char *where) {
  return take(r, sign) || fail(r, r->at, "%s is expected %s", sign, where);
}

// All to the end of the line, without blanks around it: prose, in which # is a
// character like any other.
static span prose(reader *r) {
  span line = {r->at, 0};
  while (r->at < r->end && *r->at != '\n') r->at++;
  line.n = (size_t)(r->at - line.at);
  return trim_right(trim_left(line));
}

// Whether the character belongs to a literal of C, its quotes included; *quote
// is the open one, 0: none. A backslash takes what follows it along.
static bool is_quoted(const char **at, char *quote) {
  char c = **at;
  if (*quote == 0) {
    *quote = c == '"' || c == '\'' ? c : 0;
    return *quote != 0;
  }
  if (c == '\\' && (*at)[1] != 0 && (*at)[1] != '\n')
    ++*at;
  else if (c == *quote)
    *quote = 0;
  return true;
}

// The same without a comment: a # behind a blank, outside of C's literals.
static span rest(reader *r) {
  span line = prose(r);
  char quote = 0;
  for (const char *c = line.at; c < line.at + line.n; c++) {
    if (!is_quoted(&c, &quote) && *c == '#' &&
        (c == line.at || strchr(" \t", c[-1]) != NULL))
      line.n = (size_t)(c - line.at);
  }
  return trim_right(line);
}

// Nothing but a comment may follow in the line.
// For declarations without an expression at their end.
static bool line_ends(reader *r) {
  blanks(r);
  return r->at == r->end || *r->at == '\n' ||
         fail(r, r->at, "the line should end here");
}

// A C expression up to a sign of [stops] that is in no brackets of its own.
static bool expression(reader *r, const char *stops, span *out) {
  int depth = 0;
  char quote = 0;
  blanks(r);
  const char *from = r->at;
  for (; r->at < r->end && *r->at != '\n'; r->at++) {
    char c = *r->at;
    if (is_quoted(&r->at, &quote))
      continue;
    if (depth == 0 && strchr(stops, c) != NULL)
      break;
    depth += (strchr("([", c) != NULL) - (strchr(")]", c) != NULL);
  }
  *out = trim_right((span){from, (size_t)(r->at - from)});
  // Nothing checks that it is C: the compiler will, with the generated line.
  return out->n > 0 || fail(r, from, "a C expression is expected here");
}

// Moves to the next line; whether it is a clause, indented and not empty.
//   function f = code g()
//     errors code          true, at its first letter
//                          skipped, as are comments that are indented
//     free h               true
//   ## …                   false: at the end of the line before it
static bool next_clause(reader *r) {
  for (;;) {
    const char *line = memchr(r->at, '\n', (size_t)(r->end - r->at));
    if (line == NULL) {
      r->at = r->end;
      return false;
    }
    const char *text = line + 1;
    while (text < r->end && (*text == ' ' || *text == '\t')) text++;
    if (text == r->end || (*text != '\n' && *text != '#')) {
      bool indented = text > line + 1 && text < r->end;
      r->at = indented ? text : line;
      return indented;
    }
    // A ## line at the margin is the next declaration's.
    if (text == line + 1 && *text == '#') {
      r->at = line;
      return false;
    }
    r->at = text;
  }
}

// Adds a zeroed item to a list; returns it.
// [list] is the address of the pointer to the items. A returned item is valid
// up to the next call for the same list.
static void *grow(void *list, size_t *count, size_t size) {
  void **at = list;
  // Lists are short, so they grow by one.
  *at = need(realloc(*at, (*count + 1) * size));
  return memset((char *)*at + (*count)++ * size, 0, size);
}

// --- Types ------------------------------------------------------------------

// The number, handle or callback that a word names.
// Fills in form and index or type. Handles and callbacks are those above: no
// declaration refers to one below it, so their indices are final.
static bool find_type(reader *r, span type, bind_value *out) {
  bind_file *f = r->file;
  // Numbers first: a handle of the name int would never be found.
  for (out->type = numbers; out->type->word != NULL; out->type++) {
    if (same(type, spell(out->type->word)))
      return out->form = BIND_NUMBER, true;
  }
  out->type = NULL;
  out->form = BIND_TEXT;
  if (same(type, spell("text")))
    return true;
  for (size_t i = 0; i < f->handle_count; i++) {
    if (same(type, f->handles[i].name)) {
      out->index = (int)i;
      return out->form = BIND_HANDLE, true;
    }
  }
  for (size_t i = 0; i < f->callback_count; i++) {
    if (same(type, f->callbacks[i].name)) {
      out->index = (int)i;
      return out->form = BIND_CALLBACK, true;
    }
  }
  return fail(r, type.at,
              "%.*s is no type here: there are numbers such as int and double, "
              "text, and the handles and callbacks declared above",
              SPAN(type));
}

// borrow, own, fresh, view of k, list of fresh; nothing.
// The parameter that a view is of may be declared further on.
static bool read_owner(reader *r, bind_value *out) {
  static const char *const words[] = {"borrow", "own", "fresh", "view", "list"};
  out->owner = BIND_NO_OWNER;
  for (int i = 0; i < 5 && out->owner == BIND_NO_OWNER; i++) {
    if (take(r, words[i]))
      out->owner = (bind_owner)(BIND_BORROW + i);
  }
  if (out->owner == BIND_VIEW) {
    return expect(r, "of", "behind view") &&
           name(r, "the parameter that it is a view of", &out->of);
  }
  return out->owner != BIND_LIST || (expect(r, "of", "behind list") &&
                                     expect(r, "fresh", "behind list of"));
}

// The [n, m] of an array or list.
// Sizes stay text: names of parameters that may come later, or C.
static bool read_shape(reader *r, bind_value *out) {
  if (!take(r, "["))
    return true;
  // Of texts and handles [n] says how long a list is.
  if (out->form == BIND_NUMBER)
    out->form = BIND_ARRAY;
  if (take(r, "]"))
    return true;
  do {
    if (out->axes == BIND_MAX_AXES)
      return fail(r, r->at, "an array has at most %d axes here", BIND_MAX_AXES);
    if (!expression(r, ",]", &out->shape[out->axes++]))
      return false;
  } while (take(r, ","));
  return expect(r, "]", "behind the size");
}

// A pointer has to say who owns it, and a number must not.
// The one rule that the format is for, so the message names all the words.
static bool check_owner(reader *r, const bind_value *v) {
  bool points = v->form != BIND_NUMBER;
  if (points && v->owner == BIND_NO_OWNER) {
    return fail(r, v->at,
                "a pointer without an ownership word: say borrow, own, fresh, "
                "view of k or list of fresh before it");
  }
  if (!points && v->owner != BIND_NO_OWNER) {
    return fail(r, v->at,
                "a number has no owner; an array of them is written int[n]");
  }
  return true;
}

// An owner and a type: "view of db text", "borrow double[n]".
// Leaves out->name and what stands behind the name to its callers.
static bool read_type(reader *r, bind_value *out) {
  // 0 would be the first parameter.
  out->of_index = out->length_of = -1;
  blanks(r);
  out->at = r->at;
  span type;
  if (!read_owner(r, out))
    return false;
  if (!name(r, "a type", &type))
    return false;
  // const and struct begin C types, which are not what stands here.
  if (take(r, "*") || same(type, spell("const")) ||
      same(type, spell("struct"))) {
    return fail(r, type.at,
                out->owner == BIND_NO_OWNER
                    ? "a pointer without an ownership word, and C's own type: "
                      "write borrow text, borrow double[n], fresh HANDLE, …"
                    : "not C's own type: write text, double[n], or a handle "
                      "that is declared above");
  }
  if (!find_type(r, type, out))
    return false;
  out->may_be_none = take(r, "?");
  return read_shape(r, out) && check_owner(r, out);
}

// --- Parameters -------------------------------------------------------------

// Names that the glue has for itself, and words of C and Tally.
// All other names of the generated code begin or end with what no declaration
// has by accident: _handle, _array, _given, bind_, call_.
static bool is_reserved(span text) {
  static const char words[] =
      " vm context count args out status made code result done call jump before "
      "here jumped said memory "
      "auto break case char const continue default do double else enum extern "
      "float for goto if inline int long register restrict return short signed "
      "sizeof static struct switch typedef union unsigned void volatile while "
      "fn and or not in true false none import global try catch match ";
  // A longer name is none of these.
  char padded[64];
  int n = snprintf(padded, sizeof padded, " %.*s ", SPAN(text));
  return n < (int)sizeof padded && strstr(words, padded) != NULL;
}

// What stands for a parameter without being one of the script's.
// *hidden false and true as the result: it is an ordinary parameter.
static bool read_hidden(reader *r, bind_value *out, bool *hidden) {
  *hidden = true;
  out->is_hidden = true;
  out->of_index = out->length_of = -1;
  blanks(r);
  out->at = r->at;
  if (take(r, "context")) {
    out->form = BIND_CONTEXT;
    return true;
  }
  if (take(r, "use")) {
    out->form = BIND_USE;
    return expression(r, ",)", &out->preset);
  }
  return *hidden = out->is_hidden = false, true;
}

// Whether a registered function can have it as a default: all but these would
// be none without a word (tl_params_parse).
static bool is_default(span text, bool may_be_none) {
  char digits[64], *end;
  if (same(text, spell("none")))
    return may_be_none;
  if (same(text, spell("true")) || same(text, spell("false")))
    return true;
  snprintf(digits, sizeof digits, "%.*s", SPAN(text));
  strtod(digits, &end);
  return text.n < sizeof digits && end > digits && *end == 0;
}

// A default: what the language takes as one.
static bool read_preset(reader *r, bind_value *out) {
  if (!take(r, "="))
    return true;
  if (out->is_out || (out->form != BIND_NUMBER && !out->may_be_none))
    return fail(r, r->at, "only numbers, and types with ?, have a default");
  if (!expression(r, ",)", &out->preset))
    return false;
  return is_default(out->preset, out->may_be_none) ||
         fail(r, out->preset.at,
              "a default is a number, true or false; of a type with ? it may "
              "be none");
}

// Whether the owner may be said of such a parameter or result.
// [gives]: a result, or an out parameter.
static bool check_place(reader *r, const bind_value *v, bool gives) {
  if (!gives && v->owner > BIND_OWN) {
    return fail(r, v->at,
                "an argument is borrowed or the library's own; for what the "
                "function gives through a pointer, say out before it");
  }
  // The rules in this order, so that the message is of the nearest mistake.
  if (gives && v->owner == BIND_OWN)
    return fail(r, v->at, "own is said of arguments; a result is fresh");
  if (v->owner == BIND_OWN && v->form != BIND_HANDLE)
    return fail(r, v->at, "only a handle can be given away");
  if (v->owner == BIND_LIST && (v->is_out || v->axes != 1))
    return fail(r, v->at, "a list is a result with a length: text[n]");
  if (gives && v->form == BIND_CALLBACK)
    return fail(r, v->at, "a callback is no result");
  if (gives && v->form == BIND_ARRAY && v->axes == 0)
    return fail(r, v->at, "how many items? Write their number: double[n]");
  if (v->is_out && v->form == BIND_ARRAY && v->owner != BIND_FRESH)
    return fail(r, v->at, "an array that the function fills is out fresh");
  if (v->axes > 0 && v->form != BIND_ARRAY && v->owner != BIND_LIST)
    return fail(r, v->at,
                "only numbers are items; of others say list of fresh");
  return true;
}

// in 1 .. 16: what an integer may be; ends of the library's own names, too.
// The ends are C, and narrow the range of the type; nothing compares them.
static bool read_range(reader *r, bind_value *out) {
  if (!take(r, "in"))
    return true;
  blanks(r);
  const char *from = r->at;
  if (out->form != BIND_NUMBER || out->is_out || out->type->is_float)
    return fail(r, from, "only an integer has a range");
  // Ends are names and integers: a point would belong to the dots.
  while (r->at < r->end && strchr(".,)=\n", *r->at) == NULL) r->at++;
  out->low = trim_right((span){from, (size_t)(r->at - from)});
  if (!expect(r, ".", "in a range") || !expect(r, ".", "in a range"))
    return false;
  from = r->at;
  while (r->at < r->end && strchr(".,)=\n", *r->at) == NULL) r->at++;
  out->high = trim_right(trim_left((span){from, (size_t)(r->at - from)}));
  return (out->low.n > 0 && out->high.n > 0) ||
         fail(r, from, "a range is written 1 .. 16");
}

// One parameter: "out fresh statement s within db".
// In this order: out, owner, type, name, within, in, =.
static bool read_param(reader *r, bind_value *out) {
  bool hidden;
  if (!read_hidden(r, out, &hidden) || hidden)
    return hidden && !r->failed;
  bool is_out = take(r, "out");
  if (!read_type(r, out))
    return false;
  out->is_out = is_out;
  if (!name(r, "the parameter's name", &out->name))
    return false;
  if (is_reserved(out->name)) {
    return fail(r, out->name.at, "%.*s cannot be a name here: choose another",
                SPAN(out->name));
  }
  if (take(r, "within") && !name(r, "a parameter", &out->of))
    return false;
  return check_place(r, out, is_out) && read_range(r, out) &&
         read_preset(r, out);
}

// Its index, or -1. What is hidden by `use` and `context` has no name.
static int find_param(const bind_function *f, span wanted) {
  for (int i = 0; i < f->count; i++) {
    if (f->params[i].name.n > 0 && same(f->params[i].name, wanted))
      return i;
  }
  return -1;
}

// Finds what a value is a view of.
// What it names must outlive the result: an argument of the script's, which the
// glue can retain, and not a text, whose memory is the VM's to move.
static bool resolve_owner(reader *r, bind_function *f, bind_value *v) {
  if (v->of.n == 0)
    return true;
  int k = isdigit((unsigned char)*v->of.at) ? atoi(v->of.at) - 1
                                            : find_param(f, v->of);
  if (k < 0 || k >= f->count)
    return fail(r, v->of.at, "there is no parameter %.*s", SPAN(v->of));
  const bind_value *of = &f->params[k];
  if (of->is_out || of->owner != BIND_BORROW ||
      (of->form != BIND_HANDLE && of->form != BIND_ARRAY)) {
    return fail(r, v->of.at,
                "what it is a view of must be a borrowed handle or array");
  }
  // Its value is an argument of the call, so the glue can retain it.
  return v->of_index = k, true;
}

// A number that is the size of a borrowed array, or one of its axes, is no
// argument of the script's.
//   borrow double[n] x, int n             n is x's size, and hidden
//   borrow uint8[h, w, 3] x, int h, int w   h and w are axes 0 and 1
//   borrow float[n] x, borrow float[n] y  n is x's; y is checked against it
//   fresh uint8[size] f(…, out ulong size)  size is no result of its own
static void resolve_lengths(bind_function *f) {
  for (int i = 0; i < f->count; i++) {
    const bind_value *a = &f->params[i];
    for (int k = 0; a->form == BIND_ARRAY && !a->is_out && k < a->axes; k++) {
      int n = find_param(f, a->shape[k]);
      if (n < 0 || f->params[n].form != BIND_NUMBER || f->params[n].is_out ||
          f->params[n].length_of >= 0)
        continue;
      f->params[n].is_hidden = true;
      f->params[n].length_of = i;
      f->params[n].axis = a->axes == 1 ? -1 : k;
    }
  }
  // Nor is what a function says of its result's size a result of its own.
  for (int k = 0; k < f->result.axes; k++) {
    int n = find_param(f, f->result.shape[k]);
    if (n >= 0 && f->params[n].is_out)
      f->params[n].is_filled = true;
  }
}

// Names are those of other parameters, each once; behind a default all have
// one.
// Runs when all parameters are there, as sizes and owners may stand before what
// they name.
static bool resolve(reader *r, bind_function *f) {
  bool defaults = false;
  int callbacks = 0, contexts = 0;
  resolve_lengths(f);
  for (int i = 0; i < f->count; i++) {
    bind_value *v = &f->params[i];
    if (v->name.n > 0 && find_param(f, v->name) != i)
      return fail(r, v->name.at, "there are two parameters %.*s",
                  SPAN(v->name));
    if (!resolve_owner(r, f, v))
      return false;
    callbacks += v->form == BIND_CALLBACK;
    contexts += v->form == BIND_CONTEXT;
    if (!bind_is_given(v))
      continue;
    if (defaults && v->preset.n == 0)
      return fail(r, v->at,
                  "a parameter before it has a default, so it needs "
                  "one, too");
    defaults = v->preset.n > 0;
  }
  if (callbacks > 1)
    return fail(r, f->at, "a function takes at most one callback");
  if (callbacks != contexts)
    return fail(r, f->at,
                "where a callback is given, and only there, one parameter is "
                "context");
  return resolve_owner(r, f, &f->result);
}

// Fills f->params; a trailing comma is allowed.
static bool read_params(reader *r, bind_function *f) {
  if (!expect(r, "(", "before the parameters"))
    return false;
  r->depth++;
  bool ok = true;
  while (ok && !take(r, ")")) {
    if (f->count == BIND_MAX_PARAMS) {
      ok = fail(r, r->at, "at most %d parameters", BIND_MAX_PARAMS);
    } else if (read_param(r, &f->params[f->count])) {
      f->count++;
      blanks(r);
      ok = take(r, ",") || (r->at < r->end && *r->at == ')') ||
           fail(r, r->at, "a comma or ) is expected behind a parameter");
    } else {
      ok = false;
    }
  }
  r->depth--;
  return ok;
}

// --- Errors -----------------------------------------------------------------

// The kinds of errors that a library may raise; the others are Tally's own.
static bool is_kind(span text) {
  static const char kinds[] =
      " type shape index value domain memory io limit host ";
  char padded[32];
  int n = snprintf(padded, sizeof padded, " %.*s ", SPAN(text));
  return n < (int)sizeof padded && strstr(kinds, padded) != NULL;
}

// The numbers behind ok.
// Codes of C by number alone, as messages and the glue repeat them.
static bool read_ok(reader *r, span *out) {
  blanks(r);
  const char *from = r->at;
  while (r->at < r->end &&
         (isdigit((unsigned char)*r->at) || strchr("- ", *r->at) != NULL))
    r->at++;
  *out = trim_right((span){from, (size_t)(r->at - from)});
  return out->n > 0 || fail(r, from, "codes that are no errors, as numbers");
}

// errors code ok 0 100 kind io text sqlite3_errstr(code)
// Replaces all that a default said: a function's own line begins anew. text
// goes to the end of the line, so it is last.
static bool read_errors(reader *r, bind_errors *out) {
  static const char *const ways[] = {"none", "code", "null", "negative",
                                     "errno"};
  *out = (bind_errors){.failure = BIND_NEVER};
  blanks(r);
  const char *at = r->at;
  int way = -1;
  for (int i = 0; i < 5 && way < 0; i++)
    if (take(r, ways[i]))
      way = i;
  if (way >= 0)
    out->failure = (bind_failure)way;
  out->jumps = take(r, "jump");
  if (way < 0 && !out->jumps)
    return fail(r, at,
                "errors are told by one of none, code, null, negative, "
                "errno and jump");
  while (!r->failed) {
    if (take(r, "keeps")) {
      out->keeps = true;
    } else if (take(r, "ok")) {
      read_ok(r, &out->ok);
    } else if (take(r, "kind")) {
      out->kind = word(r);
      if (!is_kind(out->kind))
        fail(r, out->kind.at, "there is no such kind of error");
    } else if (take(r, "text")) {
      out->text = rest(r);
      if (out->text.n == 0)
        fail(r, r->at, "a C expression is expected here");
      return !r->failed;
    } else {
      return line_ends(r);
    }
  }
  return false;
}

// --- Declarations -----------------------------------------------------------

// The ## lines above it are the module's documentation.
static bool read_module(reader *r) {
  r->file->doc = r->doc;
  if (r->file->name.n > 0)
    return fail(r, r->at, "there is a module already");
  return name(r, "the module's name", &r->file->name) && line_ends(r);
}

// The last line of this kind counts, here and for package: a file that wants
// two libraries names both in one.
static bool read_library(reader *r) {
  r->file->libraries = rest(r);
  return true;
}

static bool read_package(reader *r) {
  r->file->packages = rest(r);
  return true;
}

// With its quotes or angles, as it goes into the module.
static bool read_include(reader *r) {
  span *at = grow(&r->file->includes, &r->file->include_count, sizeof *at);
  *at = rest(r);
  return (at->n > 2 && strchr("<\"", *at->at) != NULL) ||
         fail(r, at->at, "a header is written <name.h> or \"name.h\"");
}

// For the functions below it, up to the next such line.
static bool read_default_errors(reader *r) {
  return read_errors(r, &r->errors);
}

// get changes: int = sqlite3_changes(object). The expression sees the object as
// `object`, and a text is copied, so it may be the library's for a moment only.
static bool read_attribute(reader *r, bind_handle_type *h) {
  bind_value *v = grow(&h->attributes, &h->count, sizeof *v);
  if (!name(r, "the attribute's name", &v->name) ||
      !expect(r, ":", "behind an attribute's name"))
    return false;
  if (!read_type(r, v))
    return false;
  if (v->form != BIND_NUMBER && v->form != BIND_TEXT)
    return fail(r, v->at, "an attribute is a number or a text");
  if (v->owner > BIND_BORROW)
    return fail(r, v->at, "the text of an attribute is borrowed");
  if (!expect(r, "=", "behind an attribute's type"))
    return false;
  v->preset = rest(r);
  return v->preset.n > 0 || fail(r, r->at, "a C expression is expected here");
}

// A clause that comes twice: the last one counts, but for get.
static bool read_handle_clause(reader *r, bind_handle_type *h) {
  static const char *const words[] = {"release", "nbytes", "device", "limit"};
  span *places[] = {&h->release, &h->nbytes, &h->device, &h->limit};
  for (int i = 0; i < 4; i++) {
    if (!take(r, words[i]))
      continue;
    *places[i] = rest(r);
    return places[i]->n > 0 || fail(r, r->at, "something is expected here");
  }
  if (take(r, "get"))
    return read_attribute(r, h);
  return fail(r, r->at, "a handle has release, nbytes, device, limit and get");
}

// Whether a C type may be a pointer: "sqlite3 *", or one word that is no
// number, such as gzFile, of which the C compiler knows the rest.
static bool is_pointer(span c) {
  size_t n = 0;
  while (n < c.n && is_word(c.at[n])) n++;
  if (c.n == 0 || n < c.n)
    return c.n > 0 && c.at[c.n - 1] == '*';
  for (const bind_number *t = numbers; t->word != NULL; t++)
    if (same(c, spell(t->word)) || same(c, spell(t->c)))
      return false;
  return true;
}

// handle connection = sqlite3 *
static bool read_handle(reader *r) {
  bind_handle_type h = {.doc = r->doc};
  const char *at = r->at;
  if (!name(r, "the handle's name", &h.name) ||
      !expect(r, "=", "behind the handle's name"))
    return false;
  for (size_t i = 0; i < r->file->handle_count; i++) {
    if (same(h.name, r->file->handles[i].name))
      return fail(r, h.name.at, "there is a handle %.*s already", SPAN(h.name));
  }
  h.c = rest(r);
  if (!is_pointer(h.c))
    return fail(r, h.c.at,
                "a handle's C type is a pointer: it ends with *, or is the "
                "library's name of one");
  bool ok = true;
  while (ok && next_clause(r)) ok = read_handle_clause(r, &h);
  if (ok && h.release.n == 0)
    ok = fail(r, at, "a handle has a line: release FUNCTION");
  bind_handle_type *to =
      grow(&r->file->handles, &r->file->handle_count, sizeof *to);
  *to = h;
  return ok;
}

// void, code, or a type.
// check_place is for results as for what is out.
static bool read_result(reader *r, bind_value *out) {
  out->of_index = out->length_of = -1;
  blanks(r);
  out->at = r->at;
  if (take(r, "void"))
    return out->form = BIND_VOID, true;
  if (take(r, "code"))
    return out->form = BIND_CODE, true;
  if (!read_type(r, out) || !check_place(r, out, true))
    return false;
  return !take(r, "within") || name(r, "a parameter", &out->of);
}

// length y = used: how many items of the first axis were filled.
// What the memory was made for stays its shape: `filled` is of the result
// alone, and the glue does not believe more than there is.
static bool read_length(reader *r, bind_function *f) {
  span array;
  if (!name(r, "an array that the function fills", &array) ||
      !expect(r, "=", "behind the array's name"))
    return false;
  int at = find_param(f, array);
  if (at < 0 || f->params[at].form != BIND_ARRAY || !f->params[at].is_out)
    return fail(r, array.at, "no array that the function fills");
  span filled = f->params[at].filled = rest(r);
  // length y = used, where used is `out int used`: it is told by y's size. Any
  // other expression of C will do, and hides nothing.
  int number = find_param(f, filled);
  if (number >= 0 && f->params[number].is_out)
    f->params[number].is_filled = true;
  return filled.n > 0 || fail(r, r->at, "a C expression is expected here");
}

// An indented line below a function; a second errors replaces the first.
static bool read_function_clause(reader *r, bind_function *f) {
  if (take(r, "length"))
    return read_length(r, f);
  if (take(r, "errors"))
    return read_errors(r, &f->errors);
  if (take(r, "free"))
    return (f->free = rest(r)).n > 0 || fail(r, r->at, "free by what?");
  return fail(r, r->at, "a function has errors, free and length");
}

// What the function's errors need of its result.
// Else the glue would compare what there is not: `code` of a function that
// gives none.
static bool check_errors(reader *r, const bind_function *f) {
  bind_form form = f->result.form;
  bind_failure failure = f->errors.failure;
  bool points = form == BIND_TEXT || form == BIND_HANDLE || form == BIND_ARRAY;
  // A code that nobody looks at would be lost: it is no result.
  if (form == BIND_CODE && (failure == BIND_NEVER || failure == BIND_BY_NULL))
    return fail(r, f->at,
                "its result is a code, so errors are told by code, "
                "negative or errno");
  if (failure == BIND_BY_NULL && !points)
    return fail(r, f->at, "its result is no pointer, which could be NULL");
  if (failure == BIND_BY_CODE && form != BIND_CODE)
    return fail(r, f->at, "errors are told by code where the result is code");
  if (failure >= BIND_BY_NEGATIVE && form != BIND_CODE && form != BIND_NUMBER &&
      (failure == BIND_BY_NEGATIVE || !points))
    return fail(r, f->at, "its result is no number, which could be negative");
  return true;
}

// No two functions have one name.
static bool check_name(reader *r, span given) {
  const bind_file *file = r->file;
  for (size_t i = 0; i < file->function_count; i++) {
    if (same(file->functions[i].name, given))
      return fail(r, given.at, "there is a function %.*s already", SPAN(given));
  }
  return true;
}

// The defaults of a file are for functions whose results can tell so.
static bind_errors errors_for(const reader *r, const bind_function *f) {
  bind_errors e = r->errors;
  bool points = f->result.form == BIND_TEXT || f->result.form == BIND_HANDLE ||
                f->result.form == BIND_ARRAY;
  // A default that says nothing of this result does not count, and no mistake
  // is made of it: most files have functions without a code.
  bool fits = f->result.form == BIND_CODE ? e.failure != BIND_BY_NULL
              : e.failure == BIND_BY_NULL ? points
              : e.failure == BIND_BY_CODE
                  ? false
                  : f->result.form == BIND_NUMBER ||
                        (points && e.failure == BIND_BY_ERRNO);
  if (!fits)
    e.failure = BIND_NEVER;
  return e;
}

// function open = code sqlite3_open(borrow text path, out fresh connection db)
static bool read_function(reader *r) {
  bind_function f = {.doc = r->doc};
  blanks(r);
  f.at = r->at;
  if (!name(r, "the function's name", &f.name) || !check_name(r, f.name) ||
      !expect(r, "=", "behind the function's name") ||
      !read_result(r, &f.result) || !name(r, "C's name", &f.c) ||
      !read_params(r, &f) || !line_ends(r) || !resolve(r, &f))
    return false;
  f.errors = errors_for(r, &f);
  while (next_clause(r))
    if (!read_function_clause(r, &f))
      return false;
  bind_function *to =
      grow(&r->file->functions, &r->file->function_count, sizeof *to);
  *to = f;
  return check_errors(r, to);
}

// constant SRC_LINEAR: int = SRC_LINEAR
// Read at each call, so it may be a variable of the library.
static bool read_constant(reader *r) {
  bind_function f = {.doc = r->doc, .is_constant = true, .at = r->at};
  if (!name(r, "the constant's name", &f.name) || !check_name(r, f.name) ||
      !expect(r, ":", "behind the constant's name") ||
      !read_type(r, &f.result) || !expect(r, "=", "behind the constant's type"))
    return false;
  if (f.result.form != BIND_NUMBER && f.result.form != BIND_TEXT)
    return fail(r, f.result.at, "a constant is a number or a text");
  if (f.result.owner > BIND_BORROW)
    return fail(r, f.result.at, "the text of a constant is borrowed");
  f.c = rest(r);
  bind_function *to =
      grow(&r->file->functions, &r->file->function_count, sizeof *to);
  *to = f;
  return f.c.n > 0 || fail(r, r->at, "a C expression is expected here");
}

// raw rows(statement) = bind_rows
// Its parameters are of the language: no types, the C function looks itself.
static bool read_raw(reader *r) {
  bind_function f = {.doc = r->doc, .is_raw = true, .at = r->at};
  if (!name(r, "the function's name", &f.name) || !check_name(r, f.name) ||
      !expect(r, "(", "before the parameters"))
    return false;
  const char *from = r->at;
  while (r->at < r->end && *r->at != ')' && *r->at != '\n') r->at++;
  f.raw_params = (span){from, (size_t)(r->at - from)};
  if (!expect(r, ")", "behind the parameters") ||
      !expect(r, "=", "behind the parameters") || !name(r, "C's name", &f.c))
    return false;
  bind_function *to =
      grow(&r->file->functions, &r->file->function_count, sizeof *to);
  *to = f;
  return line_ends(r);
}

// callback progress = void (int step, int steps, context)
// Its names are for the `stop` expression, which sees the C arguments.
static bool read_callback(reader *r) {
  bind_function f = {.doc = r->doc};
  blanks(r);
  f.at = r->at;
  if (!name(r, "the callback's name", &f.name) ||
      !expect(r, "=", "behind the callback's name") ||
      !read_result(r, &f.result) || !read_params(r, &f) || !line_ends(r))
    return false;
  // The context is how the C function finds the script's, so it is needed once.
  int contexts = 0;
  for (int i = 0; i < f.count; i++) {
    const bind_value *v = &f.params[i];
    contexts += v->form == BIND_CONTEXT;
    if (v->is_out || (v->form != BIND_CONTEXT && v->form != BIND_NUMBER &&
                      v->form != BIND_TEXT && v->form != BIND_ARRAY))
      return fail(r, v->at,
                  "a callback gets numbers, texts, arrays and its "
                  "context");
    if (v->form == BIND_ARRAY && v->axes == 0)
      return fail(r, v->at, "how many items? Write their number: double[n]");
  }
  if (contexts != 1)
    return fail(r, f.at, "one parameter of a callback is its context");
  if (f.result.form != BIND_VOID && f.result.form != BIND_NUMBER)
    return fail(r, f.result.at, "a callback gives a number or nothing");
  while (next_clause(r)) {
    if (!take(r, "stop"))
      return fail(r, r->at, "a callback has a line: stop EXPRESSION");
    f.stop = rest(r);
  }
  bind_function *to =
      grow(&r->file->callbacks, &r->file->callback_count, sizeof *to);
  *to = f;
  return true;
}

// skip sqlite3_exec: its callback gets arrays of texts
// For the report: what a reader of the library's header would miss.
static bool read_skip(reader *r) {
  bind_skip s;
  if (!name(r, "the function's name", &s.name) ||
      !expect(r, ":", "and then why it is left out"))
    return false;
  s.why = prose(r);
  bind_skip *to = grow(&r->file->skips, &r->file->skip_count, sizeof *to);
  *to = s;
  return s.why.n > 0 || fail(r, r->at, "why is it left out?");
}

// C up to a line that is `end`.
// The block goes into the module as it is, behind the headers and before the
// functions, so it may define what the declarations name. `end` stands alone in
// its line.
static bool read_code(reader *r) {
  const char *at = r->at;
  if (!line_ends(r))
    return false;
  span left = {r->at, (size_t)(r->end - r->at)}, line;
  next_line(&left, &line);
  span block = {left.at, 0};
  while (next_line(&left, &line)) {
    if (same(trim_right(line), spell("end"))) {
      block.n = (size_t)(line.at - block.at);
      span *to = grow(&r->file->code, &r->file->code_count, sizeof *to);
      *to = block;
      r->at = line.at + line.n;
      return true;
    }
  }
  return fail(r, at, "no line `end` ends this code");
}

static const struct {
  const char *word;
  bool (*read)(reader *);
} declarations[] = {{"module", read_module},
                    {"library", read_library},
                    {"package", read_package},
                    {"include", read_include},
                    {"errors", read_default_errors},
                    {"handle", read_handle},
                    {"callback", read_callback},
                    {"function", read_function},
                    {"constant", read_constant},
                    {"raw", read_raw},
                    {"skip", read_skip},
                    {"code", read_code},
                    {NULL, NULL}};

// One declaration, at the margin.
// At a character that is neither blank nor a comment. A declaration leaves the
// reader at the end of its last line.
static bool read_declaration(reader *r) {
  if (*r->at == ' ' || *r->at == '\t') {
    blanks(r);
    return fail(r, r->at,
                "a line that is indented belongs to a handle, "
                "callback or function above it");
  }
  span first = word(r);
  for (int i = 0; declarations[i].word != NULL; i++) {
    if (same(first, spell(declarations[i].word)))
      return declarations[i].read(r);
  }
  return fail(r, first.at,
              "a line begins with module, library, package, include, errors, "
              "handle, callback, function, constant, raw, skip or code");
}

// Gathers the ## lines above a declaration; false: the line is none.
static bool read_comment(reader *r) {
  span left = {r->at, (size_t)(r->end - r->at)}, line;
  next_line(&left, &line);
  bool is_empty = trim_right(trim_left(line)).n == 0;
  if (!is_empty && *line.at != '#')
    return false;
  if (!starts(line, "##"))
    r->doc = (span){NULL, 0};
  else if (r->doc.n == 0)
    r->doc = line;
  else
    r->doc.n = (size_t)(line.at + line.n - r->doc.at);
  r->at = left.at;
  return true;
}

// Documentation belongs to the declaration right below it: an empty line or a
// comment of one # between them breaks that.
static bool read_all(reader *r) {
  while (r->at < r->end) {
    if (read_comment(r))
      continue;
    if (!read_declaration(r))
      return false;
    r->doc = (span){NULL, 0};
    if (r->at < r->end)
      r->at++;
  }
  return r->file->name.n > 0 ||
         fail(r, r->file->source.data, "a line `module NAME` is missing");
}

// Spans of the file's text are all that is kept, so it stays until
// tl_bind_free.
bool tl_bind_read(bind_file *file) {
  if (!read_file(file->path, &file->source)) {
    fprintf(stderr, "tally: cannot read %s\n", file->path);
    return false;
  }
  // A NUL would end what fail and strchr see of a line.
  if (memchr(file->source.data, 0, file->source.n) != NULL) {
    fprintf(stderr, "%s: not a text: it has a byte of 0\n", file->path);
    return false;
  }
  reader r = {.file = file,
              .at = file->source.data,
              .end = file->source.data + file->source.n};
  return read_all(&r);
}

void tl_bind_free(bind_file *file) {
  for (size_t i = 0; i < file->handle_count; i++)
    free(file->handles[i].attributes);
  free(file->handles);
  free(file->includes);
  free(file->code);
  free(file->callbacks);
  free(file->functions);
  free(file->skips);
  free(file->source.data);
}
