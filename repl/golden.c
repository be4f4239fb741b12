// Golden scripts: a program in Tally, test.tly, cuts a file into parts and says
// whether each gives what it must; what is here runs the parts for it, each in
// a VM of its own over an allocator that counts, so that a leak fails the part
// that made it.
//
//     tl_golden_run ─ test(path, filter, has_colours)          test.tly
//                       runner.open, run, evaluate, close   ─ a tested VM
//
// The program's VM has no machine code, so that what is tested there does not
// judge itself.

#include "repl/golden.h"

#include <unistd.h>

#include "repl/colours.h"
#include "repl/file.h"
#include "repl/text.h"
#include "repl/program.h"

// --- The tested VM ----------------------------------------------------------

// What it printed, and how many bytes it holds.
typedef struct world {
  tally_vm *vm;
  text output;
  size_t live;
} world;

struct tl_golden {
  tally_vm *program;
  const char *path;  // under test; NULL: the library
  FILE *report;
  tally_native_code native;
  world world;
};

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

// open(): the tested VM, of which there is one at a time.
static tally_status open_vm(tally_vm *vm, void *context, size_t count,
                            const tally_value *args, tally_value *out) {
  tl_golden *golden = context;
  tally_options options = tally_default_options();
  golden->world = (world){NULL, {0}, 0};
  options.resize = resize;
  options.write = capture;
  options.context = &golden->world;
  options.native = golden->native;
  if (tally_open(&options, &golden->world.vm) != TALLY_OK)
    return tally_raise(vm, TALLY_ERR_MEMORY, "a VM did not open");
  return tally_from_none(vm, out);
}

// close(): how many values the VM still held for its host, and how many bytes
// are left behind it.
static tally_status close_vm(tally_vm *vm, void *context, size_t count,
                             const tally_value *args, tally_value *out) {
  tl_golden *golden = context;
  tally_value counts[2];
  int64_t held = (int64_t)tally_close(golden->world.vm);
  free(golden->world.output.data);
  tally_status status = tally_from_int(vm, held, &counts[0]);
  if (status == TALLY_OK)
    status = tally_from_int(vm, (int64_t)golden->world.live, &counts[1]);
  return status == TALLY_OK ? tally_from_list(vm, 2, counts, out) : status;
}

// read(ending): the file under test, or the one that has this instead of the
// last four bytes of its name: (text, none), or (none, reason). Paths stay
// here, since they may be of any bytes.
static tally_status read_source(tally_vm *vm, void *context, size_t count,
                                const tally_value *args, tally_value *out) {
  const char *path = ((tl_golden *)context)->path;
  size_t n = strlen(path), ending_nbytes;
  const char *ending = tl_program_text(vm, args[0], &ending_nbytes);
  text name = {0}, source = {0};
  tally_value parts[2];
  text_add(&name, path, ending_nbytes > 0 && n > 4 ? n - 4 : n);
  text_add(&name, ending, ending_nbytes);
  const char *reason = read_file(name.data, &source) ? NULL : strerror(errno);
  if (reason == NULL &&
      tally_from_string(vm, source.data, source.n, &parts[0]) != TALLY_OK)
    reason = "it is no text in UTF-8";
  free(name.data);
  free(source.data);
  tally_status status = reason ? tally_from_none(vm, &parts[0]) : TALLY_OK;
  if (status == TALLY_OK)
    status =
        tl_program_give(vm, reason, reason ? strlen(reason) : 0, &parts[1]);
  return status == TALLY_OK ? tally_from_list(vm, 2, parts, out) : status;
}

// The error of the tested VM as a record; none where it ended well, as it does
// by os.exit(0), too.
static tally_status give_error(tally_vm *vm, world *w, tally_status status,
                               tally_value *out) {
  static const char *const keys[] = {"kind", "message", "report", "line"};
  const tally_error_info *e = tally_error(w->vm);
  tally_value fields[4];
  if (status == TALLY_OK || (status == TALLY_ERR_EXIT && e->exit_status == 0))
    return tally_from_none(vm, out);
  const char *const texts[] = {e->kind, e->message, e->report};
  for (int i = 0; i < 3; i++) {
    status = tl_program_give(vm, texts[i], strlen(texts[i]), &fields[i]);
    if (status != TALLY_OK)
      return status;
  }
  status = tally_from_int(vm, e->line, &fields[3]);
  return status == TALLY_OK ? tally_from_record(vm, 4, keys, fields, out)
                            : status;
}

// How the tested VM ended: (output, error).
static tally_status give_result(tally_vm *vm, world *w, tally_status status,
                                tally_value *out) {
  static const char *const keys[] = {"output", "error"};
  tally_value fields[2];
  status = give_error(vm, w, status, &fields[1]);
  if (status == TALLY_OK)
    status = tl_program_give(vm, w->output.data ? w->output.data : "",
                             w->output.n, &fields[0]);
  return status == TALLY_OK ? tally_from_record(vm, 2, keys, fields, out)
                            : status;
}

// run(source)
static tally_status run(tally_vm *vm, void *context, size_t count,
                        const tally_value *args, tally_value *out) {
  tl_golden *golden = context;
  size_t n;
  const char *source = tl_program_text(vm, args[0], &n);
  return give_result(
      vm, &golden->world,
      tally_run_source(golden->world.vm, golden->path, source, n, 0, NULL),
      out);
}

// Adds what a value looks like to the output: as print shows it, or a string
// [quoted].
static void add_value(world *w, tally_value value, bool quoted) {
  const char *quote =
      quoted && strcmp(tally_type(w->vm, value), "string") == 0 ? "\"" : "";
  tally_value shown;
  const char *from;
  size_t n;
  if (tally_format(w->vm, value, &shown) != TALLY_OK)
    return;
  if (tally_to_string(w->vm, shown, &from, &n) == TALLY_OK) {
    text_add(&w->output, quote, strlen(quote));
    text_add(&w->output, from, n);
    text_add(&w->output, quote, strlen(quote));
  }
  tally_release(w->vm, shown);
}

// evaluate(code, quoted): the output is what the code printed, or its value.
static tally_status evaluate(tally_vm *vm, void *context, size_t count,
                             const tally_value *args, tally_value *out) {
  world *w = &((tl_golden *)context)->world;
  tally_value value = {0, 0};
  size_t n;
  int quoted = 0;
  const char *code = tl_program_text(vm, args[0], &n);
  tally_status status = tally_to_bool(vm, args[1], &quoted);
  if (status != TALLY_OK)
    return status;
  w->output.n = 0;
  status = tally_eval(w->vm, code, &value);
  if (status == TALLY_OK && w->output.n == 0)
    add_value(w, value, quoted);
  tally_release(w->vm, value);
  return give_result(vm, w, status, out);
}

// --- The program ------------------------------------------------------------

// What the program prints goes to the report of the file under test.
static int write_report(void *context, const char *from, size_t nbytes) {
  tl_golden *golden = context;
  return fwrite(from, 1, nbytes, golden->report) != nbytes;
}

// The program is read once for all files, whose processes begin with it.
tl_golden *tl_golden_open(tally_native_code native) {
  tl_golden *golden = need(calloc(1, sizeof *golden));
  static const tally_native functions[] = {
      {.name = "open", .params = "", .call = open_vm},
      {.name = "close", .params = "", .call = close_vm},
      {.name = "read", .params = "ending", .call = read_source},
      {.name = "run", .params = "source", .call = run},
      {.name = "evaluate", .params = "code, quoted", .call = evaluate}};
  tally_options options = tally_default_options();
  options.native = TALLY_NATIVE_OFF;
  options.write = write_report;
  options.context = golden;
  golden->native = native;
  golden->program =
      tl_program_open(tl_test, &options, golden, "runner", functions,
                      sizeof functions / sizeof *functions, NULL);
  if (golden->program == NULL)
    exit(1);
  return golden;
}

void tl_golden_close(tl_golden *golden) {
  tally_close(golden->program);
  free(golden);
}

// Calls the program with a path and a filter, either of which may be NULL. It
// writes the counts of what it met by itself; a failure of its own is one more.
static void call_program(tl_golden *golden, const char *path,
                         const char *filter) {
  tally_vm *vm = golden->program;
  tally_value args[3];
  if (tl_program_give(vm, path, path ? strlen(path) : 0, &args[0]) !=
          TALLY_OK ||
      tl_program_give(vm, filter, filter ? strlen(filter) : 0, &args[1]) !=
          TALLY_OK ||
      tally_from_bool(vm, tl_has_colours(STDOUT_FILENO), &args[2]) !=
          TALLY_OK ||
      tally_call(vm, "test", 3, args, NULL) != TALLY_OK)
    fprintf(golden->report, "tally test: %s\n0 1\n", tally_error(vm)->report);
}

void tl_golden_run(tl_golden *golden, const char *path, const char *filter,
                   FILE *report) {
  char folder[1024] = "";
  golden->report = report;
  golden->path = path;
  // A new folder, since examples of the library may write files.
  if (path == NULL &&
      (!tl_make_private_folder(folder, sizeof folder) || chdir(folder) != 0)) {
    fprintf(report, "%s:1: %s\n0 1\n", folder, strerror(errno));
    return;
  }
  call_program(golden, path, filter);
  if (path == NULL)
    tl_remove_tree(folder);
}
