// The parser of datashapes: recursive descent, one function for each form.
//
//     type   = dimension [** n] * type | ?type | item
//     item   = name | {fields [, ...]} | (types) [-> type] | name[arguments]
//
//     name   = a dtype or its alias     float64, double
//              a kind of values         list, function
//              a set of types           Int, Scalar, Any
//              else, with a capital first, a variable
//
// What datashapes of other systems have besides is refused by name, with what
// stands for it here.
//
// Errors name the column in the text, and what was expected there. type.h has
// the whole language.
#include <inttypes.h>

#include "vm/number.h"
#include "vm/suggest.h"
#include "vm/types/type.h"
#include "vm/vm.h"

// Each new name is compared with all before it (is_new_name), which this
// bounds.
enum {
  TL_TYPE_FIELDS = 1000  // of one struct
};

// The text and how far it has been read.
// Positions are in bytes; messages give columns.
typedef struct parser {
  tl_vm *vm;
  const char *text;
  size_t nbytes;
  size_t at;
  int depth;
} parser;

// Any type, from the next byte on. Borrowed, as all types are interned; NULL
// after tl_fail.
static tl_type *parse_type(parser *p);

// --- Tokens -----------------------------------------------------------------

// Skips blanks and comments. All of a text may be one, or a name, hence the
// polls: the error that they leave stays.
static void skip_space(parser *p) {
  while (p->at < p->nbytes && tl_poll_at(p->vm, (int64_t)p->at)) {
    char c = p->text[p->at];
    // A comment goes on to the end of its line.
    if (c == '#') {
      while (p->at < p->nbytes && p->text[p->at] != '\n' &&
             tl_poll_at(p->vm, (int64_t)p->at))
        p->at++;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      p->at++;
    } else {
      return;
    }
  }
}

// Whether the byte may begin a name; all of those beyond ASCII may.
static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (uint8_t)c >= 0x80;
}

// The next byte that is no blank; 0: the end.
static char peek(parser *p) {
  skip_space(p);
  return p->at < p->nbytes ? p->text[p->at] : '\0';
}

// Skips the token if it comes next.
// No blank may stand within a token, but any may stand before it.
static bool accept(parser *p, const char *token) {
  size_t n = strlen(token);
  skip_space(p);
  if (p->nbytes - p->at < n || memcmp(p->text + p->at, token, n) != 0)
    return false;
  p->at += n;
  return true;
}

// The name that begins here; returns its length, 0: there is none.
static size_t read_name(parser *p, const char **name) {
  skip_space(p);
  size_t begin = p->at;
  *name = p->text + begin;
  if (begin == p->nbytes || !is_letter(p->text[begin]))
    return 0;
  while (p->at < p->nbytes &&
         (is_letter(p->text[p->at]) || tl_is_digit(p->text[p->at])) &&
         tl_poll_at(p->vm, (int64_t)p->at)) {
    p->at++;
  }
  return p->at - begin;
}

// --- Errors -----------------------------------------------------------------

// The column of a byte, counting code points from 1.
static int column(const parser *p, size_t at) {
  return 1 + (int)tl_utf8_count(p->text, at);
}

// "expected a dtype, got "}" at column 7 of the type `3 * }`". Returns NULL.
// Where a function returns a bool, `return fail_expected(…) != NULL` is false.
// What is shown of the text is clipped, as a datashape may be as long as a
// file.
static void *fail_expected(parser *p, const char *expected) {
  skip_space(p);
  int shown = tl_clip(p->text, p->nbytes, 80);
  size_t end = p->at;
  // No more than is shown.
  while (end < p->nbytes && end - p->at < 80 &&
         (is_letter(p->text[end]) || tl_is_digit(p->text[end]))) {
    end++;
  }
  if (end == p->at && end < p->nbytes)
    end++;
  if (p->at == p->nbytes) {
    tl_fail(p->vm, TALLY_ERR_TYPE,
            "expected %s, but the type `%.*s` ends there", expected, shown,
            p->text);
  } else {
    tl_fail(p->vm, TALLY_ERR_TYPE,
            "expected %s, got \"%.*s\" at column %d of the type `%.*s`",
            expected, tl_clip(p->text + p->at, end - p->at, 40),
            p->text + p->at, column(p, p->at), shown, p->text);
  }
  return NULL;
}

// "…x at column 12 of the type `{x: int8, x: int8}`". Returns NULL.
static void *fail_at(parser *p, size_t at, const char *what, const char *name) {
  tl_fail(p->vm, TALLY_ERR_TYPE, "%s%s at column %d of the type `%.*s`", what,
          name, column(p, at), tl_clip(p->text, p->nbytes, 80), p->text);
  return NULL;
}

// Whether the name is that word.
// Names are no C strings: they point into the text, and have a first letter.
static bool is_word(const char *name, size_t nbytes, const char *word) {
  return *word == *name && strlen(word) == nbytes &&
         memcmp(name, word, nbytes) == 0;
}

// What stands here for a word of other datashapes; NULL: nothing is known of
// it.
static const char *find_other(const char *name, size_t nbytes) {
  static const struct {
    const char *name, *hint;
  } others[] = {
      {"date", "; a date is text or a number here (time)"},
      {"time", "; a time is text or a number here (time)"},
      {"datetime", "; a time is text or a number here (time)"},
      {"json", "; JSON is text, which json.parse reads"},
      {"void", "; what gives nothing gives none"},
      {"unicode", "; text is string"},
      {"fixed_bytes", "; bytes of one length are N * uint8"},
      {"float128", "; floats have 16, 32 or 64 bits"},
      {"strided", "; a dimension of any length is fixed * T"},
      {"cfixed", "; a dimension is written 3 * T"},
      {"fixed", "; a dimension is written 3 * T, one of any length fixed * T"},
      {"map", "; what has keys is a record"},
      {"array", "; an array is N * T"},
      {"tuple", "; a tuple is (T, T)"},
      {"struct", "; a struct is {x: T}"},
      {"ref", "; what refers to a value is pointer[T]"},
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (is_word(name, nbytes, others[i].name))
      return others[i].hint;
  return NULL;
}

// The error of an unknown name, with what is written here in its place, or a
// similar name as a hint.
static tl_type *fail_name(parser *p, const char *name, size_t nbytes) {
  char hint[160];
  tl_suggestion near;
  tl_suggest_begin(&near, name, nbytes);
  for (int i = 0; i < TL_DTYPE_COUNT; i++)
    tl_suggest_offer(&near, tl_dtypes[i].name, strlen(tl_dtypes[i].name));
  const char *more = find_other(name, nbytes);
  if (more == NULL)
    more = tl_suggest_text(&near, hint, sizeof hint);
  // No dtype is near, so perhaps a variable was meant.
  if (more[0] == '\0')
    more = "; a type variable begins with a capital letter";
  tl_fail(p->vm, TALLY_ERR_TYPE, "unknown type %.*s at column %d of `%.*s`%s",
          tl_clip(name, nbytes, 60), name, column(p, (size_t)(name - p->text)),
          tl_clip(p->text, p->nbytes, 80), p->text, more);
  return NULL;
}

// --- Items ------------------------------------------------------------------

// Interns the model with that name.
// The type counts the name for itself, so the model's own count is dropped.
static tl_type *intern_named(parser *p, tl_type model, const char *name,
                             size_t nbytes) {
  model.name = tl_string_new(p->vm, name, nbytes);
  if (model.name == NULL)
    return NULL;
  tl_type *type = tl_type_intern(p->vm, &model);
  tl_drop(p->vm, tl_own_string(model.name));
  return type;
}

// The dtype of that name or alias; TL_DTYPE_COUNT.
static tl_dtype find_dtype(const char *name, size_t nbytes) {
  static const struct {
    const char *name;
    tl_dtype dtype;
  } aliases[] = {{"int", TL_INT64},      {"real", TL_FLOAT64},
                 {"float", TL_FLOAT64},  {"double", TL_FLOAT64},
                 {"intptr", TL_INT64},   {"size_t", TL_UINT64},
                 {"uintptr", TL_UINT64}, {"complex", TL_COMPLEX128}};
  for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
    if (is_word(name, nbytes, aliases[i].name))
      return aliases[i].dtype;
  return tl_dtype_find(name, nbytes);
}

// Whether the name is a kind of values that are no arrays.
static bool is_kind(const char *name, size_t nbytes) {
  static const char *const kinds[] = {"list", "record", "function", "range",
                                      "type", "module", "handle",   "none"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (is_word(name, nbytes, kinds[i]))
      return true;
  return false;
}

// Names that do not begin with a small letter of ASCII are variables.
// That includes those that begin with an underscore or beyond ASCII.
static bool is_variable(const char *name) {
  return !(name[0] >= 'a' && name[0] <= 'z');
}

// Sets [set] to what a name stands for: [place], which is TL_SET_ANY for all
// sets of items, or TL_SET_NONE for a variable. A name of another set is
// refused: as a variable it would match anything. So is one with a small
// letter.
static bool read_set(parser *p, const char *name, size_t nbytes,
                     tl_type_set place, const char *expected, int64_t *set) {
  static const char *const sets[] = {
      [TL_SET_ANY] = "Any",         [TL_SET_SCALAR] = "Scalar",
      [TL_SET_BOOL] = "Bool",       [TL_SET_INT] = "Int",
      [TL_SET_UINT] = "UInt",       [TL_SET_FLOAT] = "Float",
      [TL_SET_COMPLEX] = "Complex", [TL_SET_FIXED] = "Fixed",
      [TL_SET_DIMS] = "Dims"};
  int i = TL_SET_DIMS;
  while (i > TL_SET_NONE && !is_word(name, nbytes, sets[i])) i--;
  *set = i;
  if (is_variable(name) && (i == TL_SET_NONE || i == (int)place ||
                            (place == TL_SET_ANY && i < TL_SET_FIXED)))
    return true;
  p->at = (size_t)(name - p->text);
  return fail_expected(p, expected) != NULL;
}

static bool item_compound(parser *p, const char *name, size_t nbytes,
                          tl_type **out);

// Refuses arguments of a type that takes none here: string["utf8"], C[T].
static bool takes_none(parser *p, const char *name, size_t nbytes) {
  if (peek(p) != '[')
    return true;
  tl_dtype dtype = find_dtype(name, nbytes);
  bool is_number = dtype != TL_DTYPE_COUNT && tl_dtype_is_numeric(dtype);
  tl_fail(p->vm, TALLY_ERR_TYPE,
          "nothing stands in brackets behind %.*s, at column %d of the type "
          "`%.*s`: %s",
          tl_clip(name, nbytes, 60), name, column(p, p->at),
          tl_clip(p->text, p->nbytes, 80), p->text,
          is_variable(name) ? "types with parameters are built in alone"
          : is_number ? "a number's size is part of its name, as in float32"
                      : "text is UTF-8, bytes are of any length");
  return false;
}

// An item that begins with a name.
// Compound types come first, as they read their own brackets; in those of a
// dtype or a variable nothing may stand.
static tl_type *item_named(parser *p, const char *name, size_t nbytes) {
  tl_dtype dtype = find_dtype(name, nbytes);
  tl_type *made;
  if (item_compound(p, name, nbytes, &made))
    return made;
  if ((dtype != TL_DTYPE_COUNT || is_variable(name)) &&
      !takes_none(p, name, nbytes))
    return NULL;
  if (dtype != TL_DTYPE_COUNT)
    return tl_type_of_dtype(p->vm, dtype);
  tl_type model = {.kind = TL_TYPE_OTHER};
  if (is_variable(name)) {
    model.kind = TL_TYPE_VARIABLE;
    if (!read_set(p, name, nbytes, TL_SET_ANY,
                  "an item (Fixed * and Dims... * are dimensions)",
                  &model.size))
      return NULL;
  } else if (!is_kind(name, nbytes)) {
    return fail_name(p, name, nbytes);
  }
  return intern_named(p, model, name, nbytes);
}

// --- Structs ----------------------------------------------------------------

// A name in quotes, behind the opening one: "a \"quoted\" name"; escapes are \"
// \\ \n.
static tl_string *parse_quoted(parser *p, char quote, const char *expected) {
  tl_text text;
  tl_text_open(&text, p->vm);
  while (p->at < p->nbytes && p->text[p->at] != quote) {
    char c = p->text[p->at++];
    if (c == '\\' && p->at < p->nbytes) {
      c = p->text[p->at++];
      if (c == 'n')
        c = '\n';
    }
    tl_text_putc(&text, c);
  }
  if (p->at == p->nbytes) {
    tl_text_close(&text);
    return fail_expected(p, expected);
  }
  p->at++;
  return tl_text_finish(&text);
}

// A field's name, with quotes or without.
static tl_string *parse_field_name(parser *p) {
  if (accept(p, "\""))
    return parse_quoted(p, '"', "\" after a field's name");
  if (accept(p, "'"))
    return parse_quoted(p, '\'', "' after a field's name");
  const char *name;
  size_t n = read_name(p, &name);
  if (n == 0)
    return fail_expected(p, "a field's name");
  return tl_string_new(p->vm, name, n);
}

// A type with fields that is being read, and how many there is room for.
typedef struct draft {
  tl_type model;
  size_t capacity;
} draft;

// Whether no field has that name yet, which begins at [at]; else the error.
static bool is_new_name(parser *p, size_t at, const draft *d,
                        const tl_string *name, const char *again) {
  return tl_type_find(&d->model, name) < 0 ||
         fail_at(p, at, again, name->text) != NULL;
}

// Adds a field, a member of a tuple, a parameter or a category. [name], which
// may be NULL, is the draft's where this succeeds, else dropped. [type] may be
// NULL after tl_fail.
// The room doubles from 16 on, so even the largest struct is moved six times at
// most.
static bool add_member(parser *p, draft *d, tl_string *name, tl_type *type) {
  const size_t count = (size_t)d->model.field_count;
  const bool is_struct = d->model.kind == TL_TYPE_STRUCT;
  bool ok = type != NULL;
  if (ok && count == TL_TYPE_FIELDS) {
    ok = tl_fail(p->vm, TALLY_ERR_TYPE, "a %s has at most %d %s",
                 is_struct ? "struct type" : "type", TL_TYPE_FIELDS,
                 is_struct ? "fields" : "members");
  }
  ok = ok && tl_make_room(p->vm, &d->model.fields, NULL, &d->capacity, count,
                          sizeof *d->model.fields, "a struct type");
  if (ok)
    d->model.fields[d->model.field_count++] = (tl_type_field){name, type};
  else if (name != NULL)
    tl_drop(p->vm, tl_own_string(name));
  return ok;
}

// Reads what stands between commas up to the closing token, each by [item];
// returns how many commas there were, -1 after tl_fail.
static int parse_list(parser *p, draft *d, const char *close,
                      bool (*item)(parser *, draft *), const char *expected) {
  int commas = 0;
  while (!accept(p, close)) {
    if (!item(p, d))
      return -1;
    if (accept(p, ","))
      commas++;
    else if (peek(p) != *close)
      return fail_expected(p, expected), -1;
  }
  return commas;
}

// The type of a draft where [ok]; gives back the names and the memory.
static tl_type *end_draft(parser *p, draft *d, bool ok) {
  tl_type *type = ok ? tl_type_intern(p->vm, &d->model) : NULL;
  for (int64_t i = 0; i < d->model.field_count; i++)
    if (d->model.fields[i].name != NULL)
      tl_drop(p->vm, tl_own_string(d->model.fields[i].name));
  tl_free(p->vm, d->model.fields, d->capacity * sizeof *d->model.fields);
  return type;
}

// name: type, or "...", behind which nothing stands.
// The position before the name is noted first: a second field of the name is
// reported there and not behind it.
static bool parse_field(parser *p, draft *d) {
  if (accept(p, "...")) {
    d->model.kind = TL_TYPE_OPEN_STRUCT;
    return peek(p) == '}' || fail_expected(p, "\"}\" after ...") != NULL;
  }
  peek(p);
  size_t begin = p->at;
  tl_string *name = parse_field_name(p);
  if (name == NULL)
    return false;
  tl_type *type = NULL;
  if (is_new_name(p, begin, d, name, "the struct type has a second field ")) {
    if (accept(p, ":"))
      type = parse_type(p);
    else
      fail_expected(p, "\":\" after a field's name");
  }
  return add_member(p, d, name, type);
}

// A struct, behind its opening brace; behind ... there may be other fields.
static tl_type *parse_struct(parser *p) {
  draft d = {.model = {.kind = TL_TYPE_STRUCT}};
  int read =
      parse_list(p, &d, "}", parse_field, "\",\" or \"}\" after a field");
  return end_draft(p, &d, read >= 0);
}

// --- Tuples and functions ---------------------------------------------------

// Refuses what other datashapes say of parameters: (x: int64), (int64, ...).
static bool names_parameter(parser *p) {
  size_t begin = p->at;
  const char *name, *why = NULL;
  if (accept(p, "...") && peek(p) == ')')
    why =
        "a tuple or a function has as many members as its type names; there "
        "is no ...";
  else if (read_name(p, &name) > 0 && peek(p) == ':')
    why =
        "members of tuples and parameters of functions have no names: {x: T} "
        "has";
  p->at = begin;
  return why != NULL && fail_at(p, begin, why, "") == NULL;
}

// A member of a tuple, or a parameter.
static bool parse_member(parser *p, draft *d) {
  return !names_parameter(p) && add_member(p, d, NULL, parse_type(p));
}

// The members of a tuple are named "0", "1", …
// They get their names only once it is known that they are no parameters.
static bool number_members(parser *p, tl_type *model) {
  bool ok = true;
  for (int64_t i = 0; ok && i < model->field_count; i++) {
    model->fields[i].name = tl_string_format(p->vm, "%" PRId64, i);
    ok = model->fields[i].name != NULL;
  }
  return ok;
}

// After "(": a tuple, or the parameters of a function, or a type in
// parentheses.
//
//     (int64, string)    (int64,)      tuples
//     (int64) -> bool    () -> bool    functions
//     (int64)                          int64 itself
static tl_type *parse_tuple(parser *p) {
  draft d = {.model = {.kind = TL_TYPE_TUPLE}};
  int commas =
      parse_list(p, &d, ")", parse_member, "\",\" or \")\" after a type");
  bool ok = commas >= 0;
  // What looked like a tuple was a list of parameters.
  if (ok && accept(p, "->")) {
    d.model.kind = TL_TYPE_FUNCTION;
    d.model.of = parse_type(p);
    return end_draft(p, &d, d.model.of != NULL);
  }
  if (ok && d.model.field_count == 1 && commas == 0) {
    tl_type *only = d.model.fields[0].type;  // a type in parentheses
    end_draft(p, &d, false);
    return only;
  }
  return end_draft(p, &d, ok && number_members(p, &d.model));
}

// --- Types with arguments in brackets ---------------------------------------

// The closing bracket behind a type's arguments.
static tl_type *expect_close(parser *p, tl_type *type) {
  if (type == NULL || accept(p, "]"))
    return type;
  return fail_expected(p, "\"]\"");
}

// Reads digits; false: there are none, or after tl_fail too many.
static bool read_number(parser *p, int64_t *out) {
  const char *from = p->text + p->at;
  bool fits;
  uint64_t number;
  size_t count =
      (size_t)(tl_digits_read(from, p->text + p->nbytes, 10, &fits, &number) -
               from);
  if (!fits || number > INT64_MAX)
    return fail_expected(p, "a number below 2**63") != NULL;
  *out = (int64_t)number;
  p->at += count;
  return count > 0;
}

// A number from 1 to [most]; 0 after tl_fail, which names what is expected.
static int64_t expect_number(parser *p, int64_t most, const char *expected) {
  int64_t number;
  peek(p);
  size_t begin = p->at;
  if (read_number(p, &number) && number > 0 && number <= most)
    return number;
  p->at = begin;
  if (!tl_failed(p->vm))
    fail_expected(p, expected);
  return 0;
}

// fixed_string[n]
static tl_type *parse_fixed_string(parser *p) {
  tl_type model = {.kind = TL_TYPE_FIXED_STRING};
  if (!accept(p, "["))
    return fail_expected(p, "\"[\" and the number of bytes");
  model.size = expect_number(p, INT64_MAX, "a number of bytes above 0");
  if (model.size == 0)
    return NULL;
  if (accept(p, ",") && !accept(p, "'utf8'") && !accept(p, "\"utf8\""))
    return fail_expected(p, "'utf8', as all text is");
  return expect_close(p, tl_type_intern(p->vm, &model));
}

// A type that may be missing.
// [of] may be NULL, after tl_fail. An option of a dimension or of an option
// fails (kind type) at [begin].
static tl_type *make_option(parser *p, size_t begin, tl_type *of) {
  tl_type model = {.kind = TL_TYPE_OPTION, .of = of};
  if (of == NULL)
    return NULL;
  if (tl_type_is_dimension(of) || of->kind == TL_TYPE_OPTION)
    return fail_at(
        p, begin,
        "\"?\" stands before an item's type, as in 3 * ?float64: ", "none");
  return tl_type_intern(p->vm, &model);
}

// option[type], which is ?type, or pointer[type]. [expected] comes first.
static tl_type *parse_of(parser *p, tl_type_kind kind, const char *expected) {
  if (!accept(p, "["))
    return fail_expected(p, expected);
  size_t begin = p->at;
  tl_type model = {.kind = kind, .of = parse_type(p)};
  if (model.of == NULL)
    return NULL;
  return expect_close(p, kind == TL_TYPE_OPTION
                             ? make_option(p, begin, model.of)
                             : tl_type_intern(p->vm, &model));
}

// One category, in quotes, which must not be there yet.
// Linear in the categories that are there, so n of them cost n * n / 2
// comparisons; TL_TYPE_FIELDS is the limit of these, too.
static bool parse_category(parser *p, draft *d) {
  char quote = peek(p);
  if (quote != '"' && quote != '\'')
    return fail_expected(p, "a category in quotes") != NULL;
  size_t begin = p->at++;
  tl_string *name = parse_quoted(p, quote, "the quote after a category");
  if (name == NULL)
    return false;
  bool is_new = is_new_name(p, begin, d, name, "the same category again: ");
  return add_member(p, d, name, is_new ? d->model.of : NULL);
}

// The type of the categories and then these.
static bool parse_categories(parser *p, draft *d) {
  if (!accept(p, "["))
    return fail_expected(p, "\"[\" and a type, then the categories") != NULL;
  if (peek(p) == '"' || peek(p) == '[')
    return fail_expected(p,
                         "the type of the categories, as in "
                         "categorical[string, [\"a\"]]") != NULL;
  d->model.of = parse_type(p);
  if (d->model.of == NULL)
    return false;
  if (!accept(p, ",") || !accept(p, "["))
    return fail_expected(p, "\", [\" and the categories") != NULL;
  return parse_list(p, d, "]", parse_category,
                    "\",\" or \"]\" after a category") >= 0 &&
         (accept(p, "]") || fail_expected(p, "\"]\"") != NULL);
}

// categorical[type, ["a", "b"]]
static tl_type *parse_categorical(parser *p) {
  draft d = {.model = {.kind = TL_TYPE_CATEGORICAL}};
  return end_draft(p, &d, parse_categories(p, &d));
}

// A type with arguments, or one that is a word of its own; false: the name is
// none of these.
static bool item_compound(parser *p, const char *name, size_t nbytes,
                          tl_type **out) {
  if (is_word(name, nbytes, "fixed_string"))
    *out = parse_fixed_string(p);
  else if (is_word(name, nbytes, "pointer"))
    *out = parse_of(p, TL_TYPE_POINTER, "\"[\" and the type pointed to");
  else if (is_word(name, nbytes, "categorical"))
    *out = parse_categorical(p);
  else if (is_word(name, nbytes, "option"))
    *out =
        parse_of(p, TL_TYPE_OPTION, "\"[\" and the type that may be missing");
  else if (is_word(name, nbytes, "char") || is_word(name, nbytes, "bytes"))
    *out = takes_none(p, name, nbytes)
               ? tl_type_intern(
                     p->vm, &(tl_type){.kind = name[0] == 'c' ? TL_TYPE_CHAR
                                                              : TL_TYPE_BYTES})
               : NULL;
  else
    return false;
  return true;
}

// --- Dimensions -------------------------------------------------------------

// Whether there is a ... among the dimensions.
static bool has_ellipsis(const tl_type *type) {
  for (; tl_type_is_dimension(type); type = type->of)
    if (type->kind == TL_TYPE_ELLIPSIS)
      return true;
  return false;
}

// What follows a dimension: "* type". The dimension is interned over it, as
// often as it stands.
// [name] is that of a symbol or of a named ellipsis; of other dimensions there
// is none, and [nbytes] is 0.
static tl_type *parse_over(parser *p, tl_type model, const char *name,
                           size_t nbytes) {
  size_t begin = p->at;
  int64_t times = 1;
  // "** n" says how often it stands; more would nest too deep.
  if (accept(p, "**"))
    times = expect_number(p, TL_TYPE_DEPTH,
                          "how often the dimension stands, from 1 on");
  if (times == 0)
    return NULL;
  if (!accept(p, "*"))
    return fail_expected(p, "\"*\" after a dimension");
  model.of = parse_type(p);
  if (model.of == NULL)
    return NULL;
  if (model.kind == TL_TYPE_ELLIPSIS && (has_ellipsis(model.of) || times > 1))
    return fail_at(p, begin - 3,
                   "a type has at most one \"...\" among its dimensions", "");
  tl_type *type = model.of;
  // 3 ** 2 * x is 3 * 3 * x, from the inside out.
  for (; times > 0 && type != NULL; times--) {
    model.of = type;
    type = nbytes == 0 ? tl_type_intern(p->vm, &model)
                       : intern_named(p, model, name, nbytes);
  }
  return type;
}

// A dimension of fixed length.
static tl_type *parse_fixed(parser *p) {
  tl_type model = {.kind = TL_TYPE_FIXED};
  if (!read_number(p, &model.size))
    return NULL;
  return parse_over(p, model, NULL, 0);
}

// A dimension or an item that begins with a name: which one, the * behind it
// says.
// A word with a small letter is never a dimension, but for var and fixed.
static tl_type *parse_named(parser *p) {
  const char *name;
  size_t n = read_name(p, &name);
  if (n == 0)
    return fail_expected(p, "a dimension, a dtype or \"{\"");
  // A named ellipsis: Dims... * of.
  if (accept(p, "...")) {
    tl_type model = {.kind = TL_TYPE_ELLIPSIS};
    bool ok = read_set(p, name, n, TL_SET_DIMS, "Dims... or a name of its own",
                       &model.size);
    return ok ? parse_over(p, model, name, n) : NULL;
  }
  // Nothing follows that would make it a dimension.
  if (peek(p) != '*')
    return item_named(p, name, n);
  if (is_word(name, n, "var"))
    return parse_over(p, (tl_type){.kind = TL_TYPE_VAR}, NULL, 0);
  if (is_word(name, n, "fixed"))
    return parse_over(p, (tl_type){.kind = TL_TYPE_SYMBOL}, NULL, 0);
  if (find_other(name, n) != NULL)
    return fail_name(p, name, n);
  tl_type model = {.kind = TL_TYPE_SYMBOL};
  bool ok = read_set(p, name, n, TL_SET_FIXED,
                     "a dimension (a number, var, Fixed, Dims..., or a name of "
                     "its own that begins with a capital)",
                     &model.size);
  return ok ? parse_over(p, model, name, n) : NULL;
}

// A whole type; NULL after tl_fail.
// The depth is counted here alone, since every way to nest comes by.
static tl_type *parse_type(parser *p) {
  if (p->depth == TL_TYPE_DEPTH)
    return fail_at(p, p->at, "the type is nested too deep", "");
  p->depth++;
  // What comes next decides: a digit, a bracket, a mark, or a name.
  char c = peek(p);
  tl_type *type;
  if (tl_is_digit(c))
    type = parse_fixed(p);
  else if (accept(p, "{"))
    type = parse_struct(p);
  else if (accept(p, "("))
    type = parse_tuple(p);
  else if (accept(p, "?")) {
    size_t begin = p->at;
    type = make_option(p, begin, parse_type(p));
  } else if (accept(p, "...")) {
    type = parse_over(p, (tl_type){.kind = TL_TYPE_ELLIPSIS}, NULL, 0);
  } else
    type = parse_named(p);
  p->depth--;
  return type;
}

// The whole text has to be one type.
tl_type *tl_type_parse(tl_vm *vm, const char *text, size_t nbytes) {
  parser p = {.vm = vm, .text = text, .nbytes = nbytes};
  const char *name;
  size_t n = read_name(&p, &name);
  if (is_word(name, n, "type") && read_name(&p, &name) > 0 && peek(&p) == '=')
    return fail_at(&p, 0,
                   "a type has no name of its own; a variable names it, as in "
                   "pair = `(int64, int64)`:",
                   "");
  p.at = 0;
  tl_type *type = parse_type(&p);
  if (type == NULL)
    return NULL;
  skip_space(&p);
  if (p.at < nbytes)
    return fail_expected(&p, "the end of the type");
  return type;
}
