// Golden scripts: cuts a file into parts, runs each in a VM of its own, and
// compares what it printed and how it ended with the answers in its comments.

#include "repl/golden.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tally.h"

// --- Text -------------------------------------------------------------------

typedef struct span {
  const char *at;
  size_t n;
} span;

typedef struct text {  // grows; data is NUL-terminated once anything was added
  char *data;
  size_t n, capacity;
} text;

static void *need(void *block) {
  if (block) return block;
  fputs("tally test: no memory\n", stderr);
  exit(1);
}

static void text_add(text *to, const char *from, size_t n) {
  if (to->n + n + 1 > to->capacity) {
    to->capacity = 2 * (to->n + n + 1);
    to->data = need(realloc(to->data, to->capacity));
  }
  if (n > 0) memcpy(to->data + to->n, from, n);
  to->n += n;
  to->data[to->n] = 0;
}

static span text_span(const text *from) {
  return (span){from->data ? from->data : "", from->n};
}

// Reads a whole file; false if there is none.
static bool read_file(const char *path, text *out) {
  FILE *file = fopen(path, "rb");
  if (!file) return false;
  char block[4096];
  for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;) {
    text_add(out, block, n);
  }
  bool good = !ferror(file);
  fclose(file);
  text_add(out, "", 0);
  return good;
}

// Takes the first line off [rest], without its end; false when none is left.
static bool next_line(span *rest, span *line) {
  if (rest->n == 0) return false;
  const char *end = memchr(rest->at, '\n', rest->n);
  line->at = rest->at;
  line->n = end ? (size_t)(end - rest->at) : rest->n;
  size_t step = line->n + (end != NULL);
  rest->at += step;
  rest->n -= step;
  return true;
}

static span skip(span from, size_t n) {
  return (span){from.at + n, from.n - n};
}

static span trim_left(span from) {
  while (from.n > 0 && (*from.at == ' ' || *from.at == '\t')) {
    from = skip(from, 1);
  }
  return from;
}

static span trim_right(span from) {
  while (from.n > 0 && strchr(" \t\r\n", from.at[from.n - 1])) from.n--;
  return from;
}

static bool starts(span with, const char *what) {
  size_t n = strlen(what);
  return with.n >= n && memcmp(with.at, what, n) == 0;
}

static bool same(span a, span b) {
  return a.n == b.n && (a.n == 0 || memcmp(a.at, b.at, a.n) == 0);
}

// Where [what] stands in [in]; in.n where it does not.
static size_t find(span in, span what) {
  for (size_t i = 0; i + what.n <= in.n; i++) {
    if (what.n == 0 || memcmp(in.at + i, what.at, what.n) == 0) return i;
  }
  return in.n;
}

static span spell(const char *what) {
  return (span){what, strlen(what)};
}

// [from] begins with [pattern], in which … stands for anything.
static bool matches(span from, span pattern) {
  const span gap = spell("…");
  bool first = true;
  for (;;) {
    size_t n = find(pattern, gap);
    span piece = {pattern.at, n};
    size_t at = find(from, piece);
    if (at == from.n && piece.n > 0) return false;
    if (first && at > 0) return false;
    if (n == pattern.n) return true;
    from = skip(from, at + piece.n);
    pattern = skip(pattern, n + gap.n);
    first = false;
  }
}

// --- Expectations -----------------------------------------------------------

typedef enum answer_kind {
  ANSWER_OUTPUT,
  ANSWER_ERROR,   // text: "shape error: message"
  ANSWER_REPORT,  // a line of the report of the error before it
} answer_kind;

typedef struct answer {
  answer_kind kind;
  span text;
  int line;       // of the expectation
  int error_line; // where the error must be
  int column;     // 0: any
} answer;

typedef struct part {
  const char *path;
  span name;
  text source;    // after as many empty lines as stand above it in the file
  answer *answers;
  size_t count, capacity;
  bool whole;     // output is expected to be [output], at line output_line of
  span output;    // output_path
  int output_line;
  const char *output_path;
} part;

static void add_answer(part *p, answer a) {
  if (p->count == p->capacity) {
    p->capacity = p->capacity ? 2 * p->capacity : 32;
    p->answers = need(realloc(p->answers, p->capacity * sizeof *p->answers));
  }
  a.text = trim_right(a.text);
  p->answers[p->count++] = a;
}

static void part_open(part *p, const char *path, span name, int line) {
  *p = (part){.path = path, .name = name};
  for (int i = 1; i < line; i++) text_add(&p->source, "\n", 1);
}

static void part_close(part *p) {
  free(p->source.data);
  free(p->answers);
}

// Reads "# expect error at 7: shape error: text" from behind "error".
static void add_error(part *p, span rest, int line, bool alone) {
  answer a = {ANSWER_ERROR, rest, line, alone ? line - 1 : line, 0};
  if (starts(rest, " at ")) {
    for (rest = skip(rest, 4); rest.n > 0 && *rest.at >= '0' &&
                               *rest.at <= '9'; rest = skip(rest, 1)) {
      a.column = 10 * a.column + (*rest.at - '0');
    }
  }
  if (starts(rest, ":")) rest = skip(rest, 1);
  a.text = trim_left(rest);
  add_answer(p, a);
}

// Adds a line of a script to a part, and the answer that stands on it.
static void add_line(part *p, span line, int number) {
  static const char expect[] = "# expect", arrow[] = "# →";
  text_add(&p->source, line.at, line.n);
  text_add(&p->source, "\n", 1);
  span bare = trim_left(line);
  if (starts(bare, "#>") || starts(bare, "#|")) {
    answer_kind kind = bare.at[1] == '>' ? ANSWER_OUTPUT : ANSWER_REPORT;
    bare = skip(bare, starts(skip(bare, 2), " ") ? 3 : 2);
    add_answer(p, (answer){kind, bare, number, 0, 0});
    return;
  }
  size_t at = find(line, spell(expect));
  if (at < line.n) {
    span rest = skip(line, at + sizeof expect - 1);
    if (starts(rest, " error")) {
      bool alone = bare.at == line.at + at;
      add_error(p, skip(rest, 6), number, alone);
    } else if (starts(rest, ":")) {
      rest = skip(rest, 1);
      if (starts(rest, " ")) rest = skip(rest, 1);
      add_answer(p, (answer){ANSWER_OUTPUT, rest, number, 0, 0});
    }
    return;
  }
  at = find(line, spell(arrow));
  if (at < line.n) {
    span rest = trim_left(skip(line, at + sizeof arrow - 1));
    add_answer(p, (answer){ANSWER_OUTPUT, rest, number, 0, 0});
  }
}

// --- Running ----------------------------------------------------------------

// What a VM printed, and how many bytes it holds.
typedef struct world {
  text output;
  size_t live;
} world;

static void *resize(void *context, void *block, size_t old_size,
                    size_t new_size) {
  world *w = context;
  if (new_size == 0) {
    free(block);
    w->live -= old_size;
    return NULL;
  }
  void *moved = realloc(block, new_size);
  if (moved) w->live += new_size - old_size;
  return moved;
}

static int capture(void *context, const char *from, size_t nbytes) {
  text_add(&((world *)context)->output, from, nbytes);
  return 0;
}

static tally_vm *open_vm(world *w) {
  tally_options options = tally_default_options();
  options.resize = resize;
  options.write = capture;
  options.context = w;
  tally_vm *vm;
  *w = (world){0};
  if (tally_open(&options, &vm) == TALLY_OK) return vm;
  fputs("tally test: a VM did not open\n", stderr);
  exit(1);
}

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static void fail(tl_golden *golden, const char *path, int line,
                 const char *format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(golden->report, "%s:%d: ", path, line);
  vfprintf(golden->report, format, args);
  fputc('\n', golden->report);
  va_end(args);
  golden->failed++;
}

#define SPAN(s) (int)(s).n, (s).at

static void close_vm(tl_golden *golden, world *w, tally_vm *vm,
                     const char *path, int line) {
  size_t held = tally_close(vm);
  if (held > 0) fail(golden, path, line, "the runner kept %zu values", held);
  if (w->live > 0) {
    fail(golden, path, line, "leak: %zu bytes are left", w->live);
  }
  free(w->output.data);
}

// --- Comparing --------------------------------------------------------------

// Lines of output, as spans; returns owned.
static span *cut_lines(span from, size_t *count) {
  span *lines = NULL, line;
  size_t capacity = 0;
  *count = 0;
  while (next_line(&from, &line)) {
    if (*count == capacity) {
      capacity = capacity ? 2 * capacity : 64;
      lines = need(realloc(lines, capacity * sizeof *lines));
    }
    lines[(*count)++] = trim_right(line);
  }
  return lines;
}

// table[i * (m + 1) + j]: the longest common part of wanted[i..] and got[j..].
static unsigned *common_parts(const span *wanted, size_t n, const span *got,
                              size_t m) {
  unsigned *table = need(calloc((n + 1) * (m + 1), sizeof *table));
  for (size_t i = n; i-- > 0;) {
    for (size_t j = m; j-- > 0;) {
      unsigned *cell = &table[i * (m + 1) + j];
      unsigned down = cell[m + 1], right = cell[1];
      *cell = same(wanted[i], got[j]) ? 1 + cell[m + 2]
              : down > right          ? down
                                      : right;
    }
  }
  return table;
}

// Compares lines with the wanted ones. Where counts differ, the longest common
// part decides which are missing and which too many, so that one lost line
// does not shift the rest.
static void compare_lines(tl_golden *golden, const char *path,
                          const span *wanted, const int *lines, size_t n,
                          const span *got, size_t m) {
  unsigned *table = common_parts(wanted, n, got, m);
  size_t i = 0, j = 0;
  while (i < n || j < m) {
    int line = n == 0 ? 1 : lines[i < n ? i : n - 1];
    if (i < n && j < m && same(wanted[i], got[j])) {
      golden->passed++;
      i++;
      j++;
    } else if (j == m) {
      fail(golden, path, line, "expected %.*s, got nothing%s",
           SPAN(wanted[i]), n - i > 1 ? ", nor for what follows" : "");
      golden->failed += n - i - 1;
      break;
    } else if (i < n && (n - i == m - j || table[(i + 1) * (m + 1) + j + 1] ==
                                               table[i * (m + 1) + j])) {
      fail(golden, path, line, "expected %.*s, got %.*s", SPAN(wanted[i]),
           SPAN(got[j]));
      i++;
      j++;
    } else if (i < n && table[(i + 1) * (m + 1) + j] >=
                            table[i * (m + 1) + j + 1]) {
      fail(golden, path, line, "expected %.*s, got nothing", SPAN(wanted[i]));
      i++;
    } else {
      fail(golden, path, line, "nothing was expected here, got %.*s",
           SPAN(got[j]));
      j++;
    }
  }
  free(table);
}

static void compare_output(tl_golden *golden, const part *p, span output) {
  size_t m, n = 0;
  span *got = cut_lines(output, &m);
  span *wanted = need(malloc((p->count + 1) * sizeof *wanted));
  int *lines = need(malloc((p->count + 1) * sizeof *lines));
  for (size_t i = 0; i < p->count; i++) {
    if (p->answers[i].kind != ANSWER_OUTPUT) continue;
    wanted[n] = p->answers[i].text;
    lines[n++] = p->answers[i].line;
  }
  compare_lines(golden, p->path, wanted, lines, n, got, m);
  free(lines);
  free(wanted);
  free(got);
}

// The output as one expectation: reports its first wrong line.
static void compare_whole(tl_golden *golden, const part *p, span output) {
  span wanted = p->output, a, b;
  for (int line = p->output_line;; line++) {
    bool more_a = next_line(&wanted, &a), more_b = next_line(&output, &b);
    if (!more_a && !more_b) break;
    if (more_a && more_b && same(trim_right(a), trim_right(b))) continue;
    if (!more_b) b = spell("nothing");
    if (!more_a) a = spell("nothing");
    fail(golden, p->output_path, line, "expected %.*s, got %.*s", SPAN(a),
         SPAN(b));
    return;
  }
  golden->passed++;
}

// --- Errors -----------------------------------------------------------------

// One error of a run: from the report's line "file:3:9: shape error: …".
typedef struct found_error {
  int line, column;
  bool elsewhere;  // in another file: a module's
  span text;       // "shape error: …"
} found_error;

// Takes ":3" off [line]; false if it does not begin so.
static bool read_number(span *line, int *out) {
  span rest = *line;
  int value = 0;
  if (!starts(rest, ":")) return false;
  for (rest = skip(rest, 1); rest.n > 0 && *rest.at >= '0' && *rest.at <= '9';
       rest = skip(rest, 1)) {
    value = 10 * value + (*rest.at - '0');
  }
  if (rest.n + 1 == line->n) return false;
  *line = rest;
  *out = value;
  return true;
}

// Reads "path:3:9: shape error: text"; false for any other line.
static bool read_place(span line, const char *path, found_error *out) {
  for (size_t i = 0; i < line.n; i++) {
    span rest = skip(line, i);
    if (!read_number(&rest, &out->line) || !read_number(&rest, &out->column) ||
        !starts(rest, ": ")) {
      continue;
    }
    out->text = skip(rest, 2);
    out->elsewhere = !same((span){line.at, i}, spell(path));
    return find(out->text, spell(" error: ")) < out->text.n;
  }
  return false;
}

// The errors in a report, at most max; others count as well.
static size_t read_errors(const tally_error_info *info, const char *path,
                          found_error *out, size_t max) {
  span rest = spell(info->report), line;
  size_t count = 0;
  while (next_line(&rest, &line)) {
    found_error one;
    if (!read_place(line, path, &one)) continue;
    if (count < max) out[count] = one;
    count++;
  }
  return count;
}

static bool fits(const answer *a, const found_error *e) {
  bool here = e->elsewhere ||
              (a->error_line == e->line &&
               (a->column == 0 || a->column == e->column));
  return here && matches(e->text, a->text);
}

// The report has a line that begins as [wanted] says.
static bool reports(span report, span wanted) {
  span line;
  while (next_line(&report, &line)) {
    if (matches(line, wanted)) return true;
  }
  return false;
}

// Compares how a part ended with the errors that it should end with.
static void compare_errors(tl_golden *golden, const part *p,
                           const tally_error_info *info) {
  enum { MAX = 64 };
  found_error found[MAX];
  bool used[MAX] = {false};
  size_t count = info ? read_errors(info, p->path, found, MAX) : 0;
  if (count > MAX) count = MAX;
  for (size_t i = 0; i < p->count; i++) {
    const answer *a = &p->answers[i];
    if (a->kind == ANSWER_OUTPUT) continue;
    size_t j = count;
    if (a->kind == ANSWER_ERROR) {
      for (j = 0; j < count && (used[j] || !fits(a, &found[j]));) j++;
    }
    bool good = a->kind == ANSWER_ERROR
                    ? j < count
                    : info && reports(spell(info->report), a->text);
    if (good && j < count) used[j] = true;
    if (good) {
      golden->passed++;
    } else {
      fail(golden, p->path, a->line, "expected %s%.*s, got %s%s",
           a->kind == ANSWER_ERROR ? "error " : "in the report ",
           SPAN(a->text), info ? "" : "no error", info ? info->report : "");
    }
  }
  bool expected = false;
  for (size_t i = 0; i < p->count; i++) {
    expected = expected || p->answers[i].kind == ANSWER_ERROR;
  }
  for (size_t j = 0; j < count && expected; j++) {
    if (used[j]) continue;
    fail(golden, p->path, found[j].line, "unexpected %.*s",
         SPAN(found[j].text));
  }
  if (info && !expected) {
    fail(golden, p->path, info->line, "unexpected error:\n%s", info->report);
  }
}

// --- Parts ------------------------------------------------------------------

static bool is_chosen(const tl_golden *golden, const part *p) {
  if (!golden->filter) return true;
  text name = {0};
  text_add(&name, p->path, strlen(p->path));
  text_add(&name, ": ", 2);
  text_add(&name, p->name.at, p->name.n);
  bool chosen = strstr(name.data, golden->filter) != NULL;
  free(name.data);
  return chosen;
}

// Runs a part and compares; then closes it.
static void run_part(tl_golden *golden, part *p) {
  if (trim_right(text_span(&p->source)).n == 0 || !is_chosen(golden, p)) {
    part_close(p);
    return;
  }
  world w;
  tally_vm *vm = open_vm(&w);
  unsigned long before = golden->passed + golden->failed;
  tally_status status = tally_run_source(vm, p->path, p->source.data,
                                         p->source.n, 0, NULL);
  if (p->whole) {
    compare_whole(golden, p, text_span(&w.output));
  } else {
    compare_output(golden, p, text_span(&w.output));
  }
  compare_errors(golden, p, status == TALLY_OK ? NULL : tally_error(vm));
  // A script without answers says one thing: that it runs.
  if (golden->passed + golden->failed == before) golden->passed++;
  close_vm(golden, &w, vm, p->path, p->count ? p->answers[0].line : 1);
  part_close(p);
}

// --- Documentation ----------------------------------------------------------

// Evaluates a documented line `expr    # value`, or runs one without value.
static void run_example(tl_golden *golden, world *w, tally_vm *vm, span line,
                        const char *path, int number) {
  text source = {0};
  text_add(&source, line.at, line.n);
  size_t at = find(line, spell("    # "));
  if (at == line.n) at = find(line, spell("  # "));
  bool asked = at < line.n;
  span wanted = {"", 0};
  if (asked) {
    wanted = trim_left(skip(line, at));
    wanted = trim_right(trim_left(skip(wanted, 1)));
    source.data[at] = 0;
  }
  w->output.n = 0;
  tally_value value = {0, 0};
  tally_status status = tally_eval(vm, source.data, &value);
  text got = {0};
  text_add(&got, w->output.data, w->output.n);
  if (status != TALLY_OK) {
    const tally_error_info *info = tally_error(vm);
    text_add(&got, info->kind, strlen(info->kind));
    text_add(&got, " error: ", 8);
    text_add(&got, info->message, strlen(info->message));
  } else if (got.n == 0) {
    tally_value shown;
    const char *shown_text;
    size_t n;
    if (tally_format(vm, value, &shown) == TALLY_OK) {
      if (tally_to_string(vm, shown, &shown_text, &n) == TALLY_OK) {
        text_add(&got, shown_text, n);
      }
      tally_release(vm, shown);
    }
  }
  if (status == TALLY_OK) tally_release(vm, value);
  span shown = trim_right(text_span(&got));
  bool good = !asked ? status == TALLY_OK
              : status == TALLY_OK ? same(shown, wanted)
                                   : matches(shown, wanted);
  if (!good) {
    fail(golden, path, number, "%s: expected %.*s, got %.*s", source.data,
         SPAN(wanted), SPAN(shown));
  } else if (asked) {
    golden->passed++;
  }
  free(got.data);
  free(source.data);
}

// Finds the examples of `##` comments; runs them where the file's own names
// are known.
static void run_file_examples(tl_golden *golden, const char *path,
                              const text *source) {
  span rest = text_span(source), line;
  world w;
  tally_vm *vm = NULL;
  for (int number = 1; next_line(&rest, &line); number++) {
    line = trim_left(line);
    if (!starts(line, "##     ")) continue;
    line = trim_left(skip(line, 2));
    if (!vm) {
      vm = open_vm(&w);
      if (tally_eval(vm, source->data, NULL) != TALLY_OK) {
        fail(golden, path, number, "%s", tally_error(vm)->report);
        break;
      }
    }
    run_example(golden, &w, vm, line, path, number);
  }
  if (vm) close_vm(golden, &w, vm, path, 1);
}

// Runs the examples of a text, if any of them says what it gives: those of
// functions that touch files do not.
static void run_documentation(tl_golden *golden, const char *name,
                              const char *documentation) {
  if (!strstr(documentation, "  # ")) return;
  world w;
  tally_vm *vm = open_vm(&w);
  const char *dot = strchr(name, '.');
  if (dot) {
    text import = {0};
    text_add(&import, "import ", 7);
    text_add(&import, name, (size_t)(dot - name));
    if (tally_eval(vm, import.data, NULL) != TALLY_OK) {
      fail(golden, name, 1, "%s", tally_error(vm)->report);
    }
    free(import.data);
  }
  span rest = spell(documentation), line;
  for (int number = 1; next_line(&rest, &line); number++) {
    if (!starts(line, "    ")) continue;
    run_example(golden, &w, vm, trim_left(line), name, number);
  }
  close_vm(golden, &w, vm, name, 1);
}

void tl_golden_library(tl_golden *golden) {
  world w;
  tally_vm *vm = open_vm(&w);
  const char *name;
  for (size_t i = 0; (name = tally_documented(vm, i)) != NULL; i++) {
    if (golden->filter && !strstr(name, golden->filter)) continue;
    const char *documentation = tally_documentation(vm, name);
    if (documentation) run_documentation(golden, name, documentation);
  }
  close_vm(golden, &w, vm, "library", 1);
}

// --- Files ------------------------------------------------------------------

static void run_script(tl_golden *golden, const char *path,
                       const text *source) {
  span rest = text_span(source), line;
  part p;
  part_open(&p, path, spell(""), 1);
  for (int number = 1; next_line(&rest, &line); number++) {
    if (starts(line, "### ")) {
      run_part(golden, &p);
      part_open(&p, path, trim_right(skip(line, 4)), number + 1);
    } else {
      add_line(&p, line, number);
    }
  }
  run_part(golden, &p);
}

// X.tly with X.out: one part, whose whole output is known.
static void run_with_output(tl_golden *golden, const char *path,
                            const text *source, const char *output_path,
                            const text *output) {
  part p;
  part_open(&p, path, spell(""), 1);
  text_add(&p.source, source->data, source->n);
  p.whole = true;
  p.output = text_span(output);
  p.output_path = output_path;
  p.output_line = 1;
  run_part(golden, &p);
}

// Reads a block behind its opening fence, up to the closing one.
static span read_block(span *rest, int *number) {
  span block = {rest->at, 0}, line;
  while (next_line(rest, &line)) {
    ++*number;
    if (starts(line, "```")) break;
    block.n = (size_t)(rest->at - block.at);
  }
  return block;
}

// The text block directly below, if there is one.
static bool read_output(span *rest, int *number, part *p) {
  span ahead = *rest, line;
  int at = *number;
  while (next_line(&ahead, &line)) {
    at++;
    if (trim_left(line).n == 0) continue;
    if (!starts(line, "```text") && !starts(line, "```output")) return false;
    p->whole = true;
    p->output_line = at + 1;
    p->output_path = p->path;
    p->output = read_block(&ahead, &at);
    *rest = ahead;
    *number = at;
    return true;
  }
  return false;
}

static void run_markdown(tl_golden *golden, const char *path,
                         const text *source) {
  span rest = text_span(source), line;
  for (int number = 1; next_line(&rest, &line); number++) {
    if (!starts(line, "```")) continue;
    bool tally = same(trim_right(line), spell("```tally"));
    int first = number + 1;
    span block = read_block(&rest, &number);
    if (!tally) continue;
    part p;
    part_open(&p, path, spell("block"), first);
    while (next_line(&block, &line)) add_line(&p, line, first++);
    read_output(&rest, &number, &p);
    run_part(golden, &p);
  }
}

void tl_golden_file(tl_golden *golden, const char *path) {
  text source = {0}, output = {0}, output_path = {0};
  if (!read_file(path, &source)) {
    fail(golden, path, 1, "%s", strerror(errno));
    free(source.data);
    return;
  }
  size_t n = strlen(path);
  if (n > 3 && strcmp(path + n - 3, ".md") == 0) {
    run_markdown(golden, path, &source);
  } else {
    text_add(&output_path, path, n > 4 ? n - 4 : n);
    text_add(&output_path, ".out", 4);
    if (read_file(output_path.data, &output)) {
      run_with_output(golden, path, &source, output_path.data, &output);
    } else {
      run_script(golden, path, &source);
    }
    run_file_examples(golden, path, &source);
  }
  free(output_path.data);
  free(output.data);
  free(source.data);
}
