// Reads the answers in comments, and compares: output line by line, errors by
// kind, place and text. Every expectation counts once, as passed or as failed;
// golden.h says how they are written.
//
// Order: reading answers, comparing output, comparing errors, and
// tl_part_compare, which does both.

#include "repl/answers.h"

#include <stdarg.h>

// One line, or as many as the text has, as compilers write them, so that
// editors can go there.
void tl_golden_fail(tl_golden *golden, const char *path, int line,
                    const char *format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(golden->report, "%s:%d: ", path, line);
  vfprintf(golden->report, format, args);
  fputc('\n', golden->report);
  va_end(args);
  golden->failed++;
}

// --- Reading ----------------------------------------------------------------

// Adds an answer without blanks at its end.
static void add_answer(tl_part *p, tl_answer a) {
  if (p->count == p->capacity) {
    p->capacity = p->capacity ? 2 * p->capacity : 32;
    p->answers = need(realloc(p->answers, p->capacity * sizeof *p->answers));
  }
  a.text = trim_right(a.text);
  p->answers[p->count++] = a;
}

// Empty lines in front make line numbers those of the file.
void tl_part_open(tl_part *p, const char *path, span name, int line) {
  *p = (tl_part){.path = path, .name = name};
  for (int i = 1; i < line; i++) text_add(&p->source, "\n", 1);
}

void tl_part_close(tl_part *p) {
  free(p->source.data);
  free(p->answers);
}

// Reads "# expect error at 7: shape error: text" from behind "error". [alone]:
// the comment stands on a line of its own and speaks of the line above.
static void add_error(tl_part *p, span rest, int line, bool alone) {
  tl_answer a = {TL_ANSWER_ERROR, rest, line, alone ? line - 1 : line, 0};
  if (starts(rest, " at ")) {
    for (rest = skip(rest, 4); rest.n > 0 && *rest.at >= '0' && *rest.at <= '9';
         rest = skip(rest, 1)) {
      a.column = 10 * a.column + (*rest.at - '0');
    }
  }
  if (starts(rest, ":"))
    rest = skip(rest, 1);
  a.text = trim_left(rest);
  add_answer(p, a);
}

// Adds a line of a script to a part, and the answer that stands on it.
void tl_part_add_line(tl_part *p, span line, int number) {
  static const char expect[] = "# expect", arrow[] = "# →";
  text_add(&p->source, line.at, line.n);
  text_add(&p->source, "\n", 1);
  span bare = trim_left(line);
  if (starts(bare, "#>") || starts(bare, "#|")) {
    tl_answer_kind kind =
        bare.at[1] == '>' ? TL_ANSWER_OUTPUT : TL_ANSWER_REPORT;
    bare = skip(bare, starts(skip(bare, 2), " ") ? 3 : 2);
    add_answer(p, (tl_answer){kind, bare, number, 0, 0});
    return;
  }
  if (starts(bare, "## "))
    return;  // documentation, whose examples say for themselves what they give
  size_t at = find(line, spell(expect));
  if (at < line.n) {
    span rest = skip(line, at + sizeof expect - 1);
    if (starts(rest, " error")) {
      bool alone = bare.at == line.at + at;
      add_error(p, skip(rest, 6), number, alone);
    } else if (starts(rest, ":")) {
      rest = skip(rest, 1);
      if (starts(rest, " "))
        rest = skip(rest, 1);
      add_answer(p, (tl_answer){TL_ANSWER_OUTPUT, rest, number, 0, 0});
    }
    return;
  }
  at = find(line, spell(arrow));
  if (at < line.n) {
    span rest = trim_left(skip(line, at + sizeof arrow - 1));
    add_answer(p, (tl_answer){TL_ANSWER_OUTPUT, rest, number, 0, 0});
  }
}

// --- Output -----------------------------------------------------------------

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

// table[i * (m + 1) + j]: the length of the longest common subsequence of
// wanted[i..] and got[j..]. Returns owned.
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
// subsequence decides which are missing and which are too many, so that one
// lost line does not shift the rest.
//
//     wanted   a b c d        b is lost: "expected b, got nothing", and c and d
//     got      a c d          are compared with c and d
//
// (Longest common subsequence by dynamic programming, quadratic in the lines of
// one part, which are few.)
static void compare_lines(tl_golden *golden, const char *path,
                          const span *wanted, const int *lines, size_t n,
                          const span *got, size_t m) {
  unsigned *table = common_parts(wanted, n, got, m);
  size_t i = 0, j = 0;
  while (i < n || j < m) {
    int line = n == 0 ? 1 : lines[i < n ? i : n - 1];
    // Both go on together, as far as they agree.
    if (i < n && j < m && same(wanted[i], got[j])) {
      golden->passed++;
      i++;
      j++;
    } else if (j == m) {
      tl_golden_fail(golden, path, line, "expected %.*s, got nothing%s",
                     SPAN(wanted[i]),
                     n - i > 1 ? ", nor for what follows" : "");
      golden->failed += n - i - 1;
      break;
    } else if (i < n && (n - i == m - j || table[(i + 1) * (m + 1) + j + 1] ==
                                               table[i * (m + 1) + j])) {
      tl_golden_fail(golden, path, line, "expected %.*s, got %.*s",
                     SPAN(wanted[i]), SPAN(got[j]));
      i++;
      j++;
    } else if (i < n &&
               table[(i + 1) * (m + 1) + j] >= table[i * (m + 1) + j + 1]) {
      tl_golden_fail(golden, path, line, "expected %.*s, got nothing",
                     SPAN(wanted[i]));
      i++;
    } else {
      tl_golden_fail(golden, path, line, "nothing was expected here, got %.*s",
                     SPAN(got[j]));
      j++;
    }
  }
  free(table);
}

// Compares what was printed with the answers for output.
static void compare_output(tl_golden *golden, const tl_part *p, span output) {
  size_t m, n = 0;
  span *got = cut_lines(output, &m);
  span *wanted = need(malloc((p->count + 1) * sizeof *wanted));
  int *lines = need(malloc((p->count + 1) * sizeof *lines));
  for (size_t i = 0; i < p->count; i++) {
    if (p->answers[i].kind != TL_ANSWER_OUTPUT)
      continue;
    wanted[n] = p->answers[i].text;
    lines[n++] = p->answers[i].line;
  }
  compare_lines(golden, p->path, wanted, lines, n, got, m);
  free(lines);
  free(wanted);
  free(got);
}

// Compares the output as one expectation: reports its first wrong line.
static void compare_whole(tl_golden *golden, const tl_part *p, span output) {
  span wanted = p->output, a, b;
  for (int line = p->output_line;; line++) {
    bool more_a = next_line(&wanted, &a), more_b = next_line(&output, &b);
    if (!more_a && !more_b)
      break;
    if (more_a && more_b && same(trim_right(a), trim_right(b)))
      continue;
    if (!more_b)
      b = spell("nothing");
    if (!more_a)
      a = spell("nothing");
    tl_golden_fail(golden, p->output_path, line, "expected %.*s, got %.*s",
                   SPAN(a), SPAN(b));
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
  if (!starts(rest, ":"))
    return false;
  for (rest = skip(rest, 1); rest.n > 0 && *rest.at >= '0' && *rest.at <= '9';
       rest = skip(rest, 1)) {
    value = 10 * value + (*rest.at - '0');
  }
  if (rest.n + 1 == line->n)
    return false;
  *line = rest;
  *out = value;
  return true;
}

// Reads "path:3:9: shape error: text"; false for any other line. A path may
// have colons itself, so each place where two numbers could begin is tried.
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

// The errors in a report; at most [max] are stored, all are counted.
static size_t read_errors(const tally_error_info *info, const char *path,
                          found_error *out, size_t max) {
  span rest = spell(info->report), line;
  size_t count = 0;
  while (next_line(&rest, &line)) {
    found_error one;
    if (!read_place(line, path, &one))
      continue;
    if (count < max)
      out[count] = one;
    count++;
  }
  return count;
}

// Whether the error is the expected one. In another file, a module's, its place
// is not compared.
static bool fits(const tl_answer *a, const found_error *e) {
  bool here = e->elsewhere || (a->error_line == e->line &&
                               (a->column == 0 || a->column == e->column));
  return here && matches(e->text, a->text);
}

// Whether the report has a line that begins as [wanted] says.
static bool reports(span report, span wanted) {
  span line;
  while (next_line(&report, &line)) {
    if (matches(line, wanted))
      return true;
  }
  return false;
}

// Compares how a part ended with the errors that it should end with. A part
// without expected errors has to end well. One with some may have no others:
// each error of the report has to meet one.
static void compare_errors(tl_golden *golden, const tl_part *p,
                           const tally_error_info *info) {
  enum { MAX = 64 };
  found_error found[MAX];
  bool used[MAX] = {false};
  size_t count = info ? read_errors(info, p->path, found, MAX) : 0;
  if (count > MAX)
    count = MAX;
  for (size_t i = 0; i < p->count; i++) {
    const tl_answer *a = &p->answers[i];
    if (a->kind == TL_ANSWER_OUTPUT)
      continue;
    size_t j = count;
    if (a->kind == TL_ANSWER_ERROR) {
      // Each error meets one expectation.
      for (j = 0; j < count && (used[j] || !fits(a, &found[j]));) j++;
    }
    bool good = a->kind == TL_ANSWER_ERROR
                    ? j < count
                    : info && reports(spell(info->report), a->text);
    if (good && j < count)
      used[j] = true;
    if (good) {
      golden->passed++;
    } else {
      tl_golden_fail(golden, p->path, a->line, "expected %s%.*s, got %s%s",
                     a->kind == TL_ANSWER_ERROR ? "error " : "in the report ",
                     SPAN(a->text), info ? "" : "no error",
                     info ? info->report : "");
    }
  }
  bool expected = false;
  for (size_t i = 0; i < p->count; i++) {
    expected = expected || p->answers[i].kind == TL_ANSWER_ERROR;
  }
  for (size_t j = 0; j < count && expected; j++) {
    if (used[j])
      continue;
    tl_golden_fail(golden, p->path, found[j].line, "unexpected %.*s",
                   SPAN(found[j].text));
  }
  if (info && !expected) {
    tl_golden_fail(golden, p->path, info->line, "unexpected error:\n%s",
                   info->report);
  }
}

// Errors are compared in either case: a .out file says nothing of them.
void tl_part_compare(tl_golden *golden, const tl_part *p, span output,
                     const tally_error_info *info) {
  if (p->whole) {
    compare_whole(golden, p, output);
  } else {
    compare_output(golden, p, output);
  }
  compare_errors(golden, p, info);
}
