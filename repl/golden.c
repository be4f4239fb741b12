// Golden scripts: cuts a file into parts, and runs each in a VM of its own over
// an allocator that counts, so that a leak fails the part that made it.
//
//     tl_golden_file ─ run_script      parts at ### lines
//                    ─ run_with_output X.tly with X.out
//                    ─ run_markdown    blocks fenced as tally
//                    ─ run_file_examples   indented lines of ## comments
//     each part: tl_part_open, tl_part_add_line …, run_part

#include "repl/golden.h"

#include <errno.h>
#include <unistd.h>

#include "repl/answers.h"
#include "repl/file.h"

// --- VMs --------------------------------------------------------------------

// What a VM printed, and how many bytes it holds.
typedef struct world {
  text output;
  size_t live;
} world;

// The VM's allocator, which counts.
static void *resize(void *context, void *block, size_t old_size,
                    size_t new_size) {
  world *w = context;
  if (new_size == 0) {
    free(block);
    w->live -= old_size;
    return NULL;
  }
  void *moved = realloc(block, new_size);
  if (moved)
    w->live += new_size - old_size;
  return moved;
}

// The VM's output, which is compared later.
static int capture(void *context, const char *from, size_t nbytes) {
  text_add(&((world *)context)->output, from, nbytes);
  return 0;
}

// A VM in a world of its own; ends the command where there is no memory.
static tally_vm *open_vm(const tl_golden *golden, world *w) {
  tally_options options = tally_default_options();
  options.resize = resize;
  options.write = capture;
  options.context = w;
  options.native = golden->native;
  tally_vm *vm;
  *w = (world){0};
  if (tally_open(&options, &vm) == TALLY_OK)
    return vm;
  fputs("tally test: a VM did not open\n", stderr);
  exit(1);
}

// Closes the VM and fails the part for every byte or handle that is left.
static void close_vm(tl_golden *golden, world *w, tally_vm *vm,
                     const char *path, int line) {
  size_t held = tally_close(vm);
  if (held > 0)
    tl_golden_fail(golden, path, line, "the runner kept %zu values", held);
  if (w->live > 0) {
    tl_golden_fail(golden, path, line, "leak: %zu bytes are left", w->live);
  }
  free(w->output.data);
}

// --- Parts ------------------------------------------------------------------

// Whether the part's "file: name" has the text of --filter.
static bool is_chosen(const tl_golden *golden, const tl_part *p) {
  if (!golden->filter)
    return true;
  text name = {0};
  text_add(&name, p->path, strlen(p->path));
  text_add(&name, ": ", 2);
  text_add(&name, p->name.at, p->name.n);
  bool chosen = strstr(name.data, golden->filter) != NULL;
  free(name.data);
  return chosen;
}

// Whether code ended because an optional library is missing: that says
// something of the machine and nothing of the code. Reports it, and counts
// nothing.
static bool is_skipped(tl_golden *golden, const char *path, int line,
                       const tally_error_info *info) {
  static const char missing[] = "which is not installed";
  size_t n = strlen(info->message);
  if (strcmp(info->kind, "io") != 0 || n < sizeof missing ||
      strcmp(info->message + n - (sizeof missing - 1), missing) != 0)
    return false;
  fprintf(golden->report, "skipped: %s:%d: %s\n", path, line, info->message);
  return true;
}

// Whether the part's answers speak of a missing library.
static bool expects_missing(const tl_part *p) {
  for (size_t i = 0; i < p->count; i++) {
    span text = p->answers[i].text;
    if (find(text, spell("which is not installed")) < text.n)
      return true;
  }
  return false;
}

// Runs a part and compares; then closes it.
static void run_part(tl_golden *golden, tl_part *p) {
  if (trim_right(text_span(&p->source)).n == 0 || !is_chosen(golden, p)) {
    tl_part_close(p);
    return;
  }
  world w;
  tally_vm *vm = open_vm(golden, &w);
  unsigned long before = golden->passed + golden->failed;
  tally_status status =
      tally_run_source(vm, p->path, p->source.data, p->source.n, 0, NULL);
  // os.exit(0) is a good end.
  bool good = status == TALLY_OK ||
              (status == TALLY_ERR_EXIT && tally_error(vm)->exit_status == 0);
  const tally_error_info *info = good ? NULL : tally_error(vm);
  bool skipped = info && !expects_missing(p) &&
                 is_skipped(golden, p->path, info->line, info);
  if (!skipped)
    tl_part_compare(golden, p, text_span(&w.output), info);
  // A script without answers says one thing: that it runs.
  if (!skipped && golden->passed + golden->failed == before)
    golden->passed++;
  close_vm(golden, &w, vm, p->path, p->count ? p->answers[0].line : 1);
  tl_part_close(p);
}

// --- Documentation ----------------------------------------------------------

// Adds what a value looks like: as print shows it, or a string in quotes where
// the documentation has them.
static void add_value(text *to, tally_vm *vm, tally_value value, span wanted) {
  bool quoted =
      starts(wanted, "\"") && strcmp(tally_type(vm, value), "string") == 0;
  tally_value shown;
  const char *from;
  size_t n;
  if (tally_format(vm, value, &shown) != TALLY_OK)
    return;
  if (quoted)
    text_add(to, "\"", 1);
  if (tally_to_string(vm, shown, &from, &n) == TALLY_OK)
    text_add(to, from, n);
  if (quoted)
    text_add(to, "\"", 1);
  tally_release(vm, shown);
}

// Evaluates code; what it printed, or its value, or its error goes to [out].
static bool evaluate(world *w, tally_vm *vm, const char *code, span wanted,
                     text *out) {
  tally_value value = {0, 0};
  w->output.n = 0;
  if (tally_eval(vm, code, &value) != TALLY_OK) {
    const tally_error_info *info = tally_error(vm);
    text_add(out, info->kind, strlen(info->kind));
    text_add(out, " error: ", 8);
    text_add(out, info->message, strlen(info->message));
    return false;
  }
  text_add(out, w->output.data, w->output.n);
  if (out->n == 0)
    add_value(out, vm, value, wanted);
  tally_release(vm, value);
  return true;
}

// Evaluates a documented line `expr    # value`, or runs one without a value.
static void run_example(tl_golden *golden, world *w, tally_vm *vm, span line,
                        const char *path, int number) {
  text source = {0}, out = {0};
  text_add(&source, line.at, line.n);
  size_t at = find(line, spell("  # "));
  bool asked = at < line.n, fails = false;
  span wanted = {"", 0};
  if (asked) {
    wanted = trim_right(trim_left(skip(line, at + 4)));
    // The example has to fail with this error.
    fails = starts(wanted, "expect error: ");
    if (fails)
      wanted = trim_left(skip(wanted, strlen("expect error:")));
    source.data[at] = 0;
  }
  bool ran = evaluate(w, vm, source.data, wanted, &out);
  span shown = trim_right(text_span(&out));
  bool good = !asked ? ran
              : ran  ? !fails && same(shown, wanted)
                     : matches(shown, wanted);
  if (!good && !ran && is_skipped(golden, path, number, tally_error(vm))) {
    // Nothing is counted.
  } else if (!good) {
    tl_golden_fail(golden, path, number, "%s: expected %.*s, got %.*s",
                   source.data, SPAN(wanted), SPAN(shown));
  } else if (asked) {
    golden->passed++;
  }
  free(out.data);
  free(source.data);
}

// The word by which a module from that file is used: "name." of dir/name.tly.
static bool name_of_module(const char *path, char name[], size_t room) {
  const char *slash = strrchr(path, '/'), *begin = slash ? slash + 1 : path;
  const char *dot = strrchr(begin, '.');
  return dot && (size_t)(dot - begin) + 2 < room &&
         snprintf(name, room, "%.*s.", (int)(dot - begin), begin) > 1;
}

// An example may use the file's functions as a script that imports it does. A
// file that cannot be imported has its examples fail by themselves.
static void import_itself(tally_vm *vm, const char *path, const char *name) {
  char import[1200];
  int n = snprintf(import, sizeof import, "import \"%s\" as %.*s", path,
                   (int)strlen(name) - 1, name);
  if (n < (int)sizeof import)
    (void)tally_eval(vm, import, NULL);
}

// Finds the examples of `##` comments, and runs them where the file's own names
// are known.
static void run_file_examples(tl_golden *golden, const char *path,
                              const text *source) {
  span rest = text_span(source), line;
  world w;
  tally_vm *vm = NULL;
  char module[100];
  bool imported = !name_of_module(path, module, sizeof module);
  for (int number = 1; next_line(&rest, &line); number++) {
    line = trim_left(line);
    if (!starts(line, "##     "))
      continue;
    line = trim_left(skip(line, 2));
    if (!vm) {
      vm = open_vm(golden, &w);
      if (tally_eval(vm, source->data, NULL) != TALLY_OK) {
        tl_golden_fail(golden, path, number, "%s", tally_error(vm)->report);
        break;
      }
    }
    if (!imported && find(line, spell(module)) < line.n) {
      import_itself(vm, path, module);
      imported = true;
    }
    run_example(golden, &w, vm, line, path, number);
  }
  if (vm)
    close_vm(golden, &w, vm, path, 1);
}

// Runs the examples of a text, if any of them says what it gives: those of
// functions that touch files do not.
static void run_documentation(tl_golden *golden, const char *name,
                              const char *documentation) {
  if (!strstr(documentation, "  # "))
    return;
  world w;
  tally_vm *vm = open_vm(golden, &w);
  const char *dot = strchr(name, '.');
  if (dot) {
    char import[256];
    snprintf(import, sizeof import, "import %.*s", (int)(dot - name), name);
    if (tally_eval(vm, import, NULL) != TALLY_OK)
      tl_golden_fail(golden, name, 1, "%s", tally_error(vm)->report);
  }
  span rest = spell(documentation), line;
  for (int number = 1; next_line(&rest, &line); number++) {
    if (!starts(line, "    "))
      continue;
    run_example(golden, &w, vm, trim_left(line), name, number);
  }
  close_vm(golden, &w, vm, name, 1);
}

// One VM lists the names; each documentation runs in another, so that examples
// cannot see one another's variables.
void tl_golden_library(tl_golden *golden) {
  char path[1024] = "";
  // A new folder, since examples may write files.
  if (!tl_make_private_folder(path, sizeof path) || chdir(path) != 0) {
    tl_golden_fail(golden, path, 1, "%s", strerror(errno));
    return;
  }
  world w;
  tally_vm *vm = open_vm(golden, &w);
  const char *name;
  for (size_t i = 0; (name = tally_documented(vm, i)) != NULL; i++) {
    if (golden->filter && !strstr(name, golden->filter))
      continue;
    const char *documentation = tally_documentation(vm, name);
    if (documentation)
      run_documentation(golden, name, documentation);
  }
  close_vm(golden, &w, vm, "library", 1);
  tl_remove_tree(path);
}

// --- Files ------------------------------------------------------------------

// Cuts a script into parts at lines `### name`, and runs them.
static void run_script(tl_golden *golden, const char *path,
                       const text *source) {
  span rest = text_span(source), line;
  tl_part p;
  tl_part_open(&p, path, spell(""), 1);
  for (int number = 1; next_line(&rest, &line); number++) {
    if (starts(line, "### ")) {
      run_part(golden, &p);
      tl_part_open(&p, path, trim_right(skip(line, 4)), number + 1);
    } else {
      tl_part_add_line(&p, line, number);
    }
  }
  run_part(golden, &p);
}

// X.tly with X.out: one part, whose whole output is known.
static void run_with_output(tl_golden *golden, const char *path,
                            const text *source, const char *output_path,
                            const text *output) {
  tl_part p;
  tl_part_open(&p, path, spell(""), 1);
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
    if (starts(line, "```"))
      break;
    block.n = (size_t)(rest->at - block.at);
  }
  return block;
}

// The text block directly below, if there is one, as the part's whole output.
static bool read_output(span *rest, int *number, tl_part *p) {
  span ahead = *rest, line;
  int at = *number;
  // Empty lines may stand between the block and its output.
  while (next_line(&ahead, &line)) {
    at++;
    if (trim_left(line).n == 0)
      continue;
    if (!starts(line, "```text") && !starts(line, "```output"))
      return false;
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

// Runs the blocks fenced as tally.
static void run_markdown(tl_golden *golden, const char *path,
                         const text *source) {
  span rest = text_span(source), line;
  for (int number = 1; next_line(&rest, &line); number++) {
    if (!starts(line, "```"))
      continue;
    bool tally = same(trim_right(line), spell("```tally"));
    int first = number + 1;
    span block = read_block(&rest, &number);
    if (!tally)
      continue;
    tl_part p;
    tl_part_open(&p, path, spell("block"), first);
    while (next_line(&block, &line)) tl_part_add_line(&p, line, first++);
    read_output(&rest, &number, &p);
    run_part(golden, &p);
  }
}

// By the file's kind; a script may have an .out file beside it, and examples in
// its ## lines.
void tl_golden_file(tl_golden *golden, const char *path) {
  text source = {0}, output = {0}, output_path = {0};
  if (!read_file(path, &source)) {
    tl_golden_fail(golden, path, 1, "%s", strerror(errno));
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
