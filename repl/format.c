// `tally fmt`: lays files out alike, by tally_format_source. With --check it
// only says which are not laid out so, with --diff what would change, as diff
// -u does. A file that is laid out already is not written again; a lone - is
// standard input, laid out to standard output.

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "repl/colours.h"
#include "repl/file.h"
#include "repl/run.h"
#include "repl/span.h"

// Appends all of a file, or of standard input for "-"; false with errno set.
static bool read_source(const char *path, text *out) {
  return strcmp(path, "-") == 0 ? read_stream(stdin, out)
                                : read_file(path, out);
}

// --- Differences ------------------------------------------------------------

// A line that stays (' '), goes ('-') or comes ('+').
typedef struct change {
  char sign;
  span line;
} change;

// Changes in order, and those that come behind the lines that go with them.
typedef struct changes {
  change *items, *later;
  size_t count, later_count;
} changes;

// The lines that came go behind those that went.
static void flush_changes(changes *c) {
  memcpy(c->items + c->count, c->later, c->later_count * sizeof *c->later);
  c->count += c->later_count;
  c->later_count = 0;
}

// At least as many as take_line takes: one more where the text ends with one.
static size_t count_lines(span s) {
  size_t n = 1;
  for (size_t i = 0; i < s.n; i++) n += s.at[i] == '\n';
  return n;
}

// Whether the line has nothing but blanks, as those that fmt adds and removes.
static bool is_blank(span line) {
  return trim_left(trim_right(line)).n == 0;
}

// The next line with its end, where it has one; false: there is none.
static bool take_line(span *rest, span *line) {
  const char *begin = rest->at;
  bool any = next_line(rest, line);
  if (any)
    line->n = (size_t)(rest->at - begin);
  return any;
}

// Pairs the lines of both texts, of which the changes borrow; the caller frees
// their items. Laying out keeps all lines but empty ones in
// their order, so that one look ahead says which came or went.
static changes list_changes(span from, span to) {
  size_t most = count_lines(from) + count_lines(to);
  changes c = {.items = need(malloc(most * sizeof *c.items)),
               .later = need(malloc(most * sizeof *c.later))};
  span a, b;
  bool has_a = take_line(&from, &a), has_b = take_line(&to, &b);
  while (has_a || has_b) {
    bool stays = has_a && has_b && same(a, b);
    bool goes = !stays && has_a && (!has_b || !is_blank(b) || is_blank(a));
    bool comes = !stays && has_b && (!has_a || !is_blank(a) || is_blank(b));
    if (stays) {
      flush_changes(&c);
      c.items[c.count++] = (change){' ', a};
    }
    if (goes)
      c.items[c.count++] = (change){'-', a};
    if (comes)
      c.later[c.later_count++] = (change){'+', b};
    if (stays || goes)
      has_a = take_line(&from, &a);
    if (stays || comes)
      has_b = take_line(&to, &b);
  }
  flush_changes(&c);
  free(c.later);
  return c;
}

// One line, in the colour of its sign where there are colours.
static void print_change(const change *c, bool has_colours) {
  const char *colour = c->sign == '-' ? TL_RED : TL_GREEN;
  bool coloured = has_colours && c->sign != ' ';
  bool ends = c->line.n > 0 && c->line.at[c->line.n - 1] == '\n';
  printf("%s%c%.*s%s\n%s", coloured ? colour : "", c->sign,
         (int)c->line.n - ends, c->line.at, coloured ? TL_PLAIN : "",
         ends ? "" : "\\ No newline at end of file\n");
}

// The changes [from, to) with their head; [a] and [b] are the numbers of their
// first lines before and afterwards.
static void print_hunk(const changes *c, size_t from, size_t to, size_t a,
                       size_t b, bool has_colours) {
  size_t before = 0, after = 0;
  for (size_t i = from; i < to; i++) {
    before += c->items[i].sign != '+';
    after += c->items[i].sign != '-';
  }
  printf("%s@@ -%zu,%zu +%zu,%zu @@%s\n", has_colours ? TL_CYAN : "",
         before == 0 ? a - 1 : a, before, after == 0 ? b - 1 : b, after,
         has_colours ? TL_PLAIN : "");
  for (size_t i = from; i < to; i++) print_change(&c->items[i], has_colours);
}

// What differs, with three lines around it (the unified format of POSIX diff).
static void print_diff(const char *path, span from, span to) {
  enum { AROUND = 3 };
  const bool has_colours = tl_has_colours(STDOUT_FILENO);
  changes c = list_changes(from, to);
  size_t a = 1, b = 1, at = 0;
  printf("--- %s\n+++ %s\n", path, path);
  while (at < c.count) {
    size_t first = at, last;
    while (first < c.count && c.items[first].sign == ' ') first++;
    if (first == c.count)
      break;
    size_t begin = first - at > AROUND ? first - AROUND : at;
    // Changes with few lines between them stand together.
    last = first;
    for (size_t i = first; i < c.count && i - last <= 2 * AROUND; i++)
      if (c.items[i].sign != ' ')
        last = i;
    size_t end = c.count - last > AROUND + 1 ? last + AROUND + 1 : c.count;
    a += begin - at;
    b += begin - at;
    print_hunk(&c, begin, end, a, b, has_colours);
    for (size_t i = begin; i < end; i++) {
      a += c.items[i].sign != '+';
      b += c.items[i].sign != '-';
    }
    at = end;
  }
  free(c.items);
}

// --- Files ------------------------------------------------------------------

// Writes the laid-out text where it belongs, or only compares.
static int keep(const tl_command *cmd, const char *path, bool is_same,
                span source, const char *laid, size_t nbytes) {
  if (cmd->diff && !is_same)
    print_diff(path, source, (span){laid, nbytes});
  if (cmd->diff)
    return is_same ? TL_DONE : TL_FAILED;
  if (cmd->check) {
    if (!is_same)
      printf("%s is not laid out as tally fmt does\n", path);
    return is_same ? TL_DONE : TL_FAILED;
  }
  if (strcmp(path, "-") == 0) {
    fwrite(laid, 1, nbytes, stdout);
    return TL_DONE;
  }
  if (is_same || tl_write_file(path, laid, nbytes))
    return TL_DONE;
  fprintf(stderr, "tally: cannot write %s: %s\n", path, strerror(errno));
  return TL_FAILED;
}

// Lays out one file; returns the exit status.
static int format_file(tl_session *session, const tl_command *cmd,
                       const char *path) {
  size_t laid_nbytes;
  const char *laid;
  tally_value value;
  text source = {0};
  if (!read_source(path, &source)) {
    fprintf(stderr, "tally: cannot read %s: %s\n", path, strerror(errno));
    free(source.data);
    return TL_FAILED;
  }
  tl_session_begin();
  tally_status status =
      tally_format_source(session->vm, path, source.data, source.n, &value);
  // Laying out does not poll, so an interrupt has to be looked for here.
  bool is_asked = tl_session_was_interrupted();
  int result = tl_session_end(session, status);
  if (status == TALLY_OK &&
      tally_to_string(session->vm, value, &laid, &laid_nbytes) == TALLY_OK) {
    bool is_same =
        laid_nbytes == source.n && memcmp(laid, source.data, source.n) == 0;
    result = is_asked ? TL_INTERRUPTED
                      : keep(cmd, path, is_same, (span){source.data, source.n},
                             laid, laid_nbytes);
    tally_release(session->vm, value);
  }
  free(source.data);
  return result;
}

// All files are laid out, up to an interrupt; the status is that of the last
// one that failed.
int tl_run_format(tl_session *session, const tl_command *cmd) {
  int result = TL_DONE;
  for (int i = 0; i < cmd->argc; i++) {
    int status = format_file(session, cmd, cmd->argv[i]);
    if (status != TL_DONE)
      result = status;
    // One that came while the file was written.
    if (status == TL_INTERRUPTED || tl_session_was_interrupted())
      return TL_INTERRUPTED;
  }
  return result;
}
