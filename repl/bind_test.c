// Golden tests of a bound module: what can be called without arguments that
// only a person could make up. That is every function without parameters, whose
// result's type is known; every function of a handle, which has to refuse none;
// and the examples in the documentation, indented lines `code    # value`.
//
//     ##     upper("a")    # A          print(upper("a"))
//                                       #> A
//     function version = int version()  print(typeof(m.version()))
//                                       #> int64
//     function size = long f(borrow box b)
//                                       try { m.size(none) } catch e { … }
//                                       #> type

#include "repl/bind.h"

// The type of a function's result as typeof gives it; NULL: it may differ.
// A handle may be none, an array or a text too: only numbers are sure.
static const char *type_of(const bind_function *f) {
  int results = f->result.form != BIND_VOID && f->result.form != BIND_CODE;
  for (int i = 0; i < f->count; i++)
    results += f->params[i].is_out && !f->params[i].is_filled;
  if (results == 0)
    return "none";
  if (results > 1)
    return "list";
  if (f->result.form == BIND_NUMBER)
    return f->result.type->is_float ? "float64" : "int64";
  return NULL;
}

// Whether a call with nothing but none is refused for sure, with the kind type:
// the first argument, which is read first, is a handle.
static bool refuses_none(const bind_function *f) {
  for (int i = 0; i < f->count; i++) {
    if (bind_is_given(&f->params[i]))
      return f->params[i].form == BIND_HANDLE && !f->params[i].may_be_none;
  }
  return false;
}

// How many arguments a call needs.
// Those with a default come last, so these are the first of them.
static int needed(const bind_function *f) {
  int count = 0;
  for (int i = 0; i < f->count; i++)
    count += bind_is_given(&f->params[i]) && f->params[i].preset.n == 0;
  return count;
}

// The examples of a documentation: lines of four blanks behind the ##.
static int write_examples(span doc, FILE *out) {
  span line;
  int count = 0;
  while (next_line(&doc, &line)) {
    if (!starts(line, "##     "))
      continue;
    line = trim_right(skip(line, 7));
    size_t at = find(line, spell("    # "));
    // A line without a value prepares what the next ones show.
    if (at == line.n) {
      fprintf(out, "%.*s\n", SPAN(line));
      continue;
    }
    fprintf(out, "print(%.*s)\n#> %.*s\n", (int)at, line.at,
            SPAN(skip(line, at + 6)));
    count++;
  }
  return count;
}

// One function's tests; whether there are any.
// A function without parameters is called, as it can do no harm but what its
// library does; if it tells an error, so does the test.
static bool write_tests(const bind_file *file, const bind_function *f,
                        FILE *out) {
  bool tested = write_examples(f->doc, out) > 0;
  int module = (int)file->name.n, name = (int)f->name.n;
  const char *m = file->name.at, *at = f->name.at;
  if (!f->is_raw && f->count == 0 && type_of(f) != NULL) {
    fprintf(out, "print(typeof(%.*s.%.*s()))\n#> %s\n", module, m, name, at,
            type_of(f));
    return true;
  }
  if (f->is_raw || !refuses_none(f))
    return tested;
  fprintf(out, "try { %.*s.%.*s(", module, m, name, at);
  for (int i = 0; i < needed(f); i++) fputs(i > 0 ? ", none" : "none", out);
  fputs(") } catch e { print(e.kind) }\n#> type\n", out);
  return true;
}

// A function counts once, however many tests it has.
size_t tl_bind_tests(const bind_file *file, FILE *out) {
  size_t count = 0;
  fprintf(out, "# Made by `tally bind`; changes here are lost.\nimport %.*s\n",
          SPAN(file->name));
  for (size_t i = 0; i < file->function_count; i++)
    count += write_tests(file, &file->functions[i], out);
  return count;
}
