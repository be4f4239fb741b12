// The command `tally bind`: a program in Tally makes the module's C and its
// tests of declarations; what is here writes both, says what was bound and what
// was not, and builds it.
//
//     tally bind -o made db/x.bind      made/sqlite.c  made/sqlite_test.tly
//     tally bind --build db/x.bind      db/sqlite.c, …, and db/sqlite.so
//
//     tl_bind_command ─ run_program   bind_read.tly, bind_glue.tly
//                     ─ finish, which writes and builds
//
// Names are the module's, as `module NAME` has it, not the file's. The build is
// one command of a shell; without --build it is printed, for a Makefile.
// docs/foreign.md has the format.

#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700  // realpath
#endif

#include "repl/bind.h"

#include <unistd.h>

#include "repl/file.h"
#include "repl/text.h"
#include "repl/program.h"

// As long as the longest path of the system.
enum { BIND_PATH = 4096 };

// What the command line asks for.
// folder NULL: beside the declarations; builds: --build was given.
typedef struct bind_command {
  const char *path, *folder;
  bool builds;
} bind_command;

// What the program made: C, tests, what to say of them, and the flags behind
// the paths of the compiler's command. Borrowed of the VM.
typedef struct bind_made {
  const char *mistake, *name, *c, *tests, *report, *libraries;
} bind_made;

// 2 is the exit status for a command line that says nothing, as of the other
// commands.
static int usage(void) {
  fputs("usage: tally bind [--build] [-o FOLDER] FILE.bind\n", stderr);
  return 2;
}

// Reads the arguments behind the word; 0, or the exit status.
// A word that begins with - is no file; one that does goes as ./-x.
static int read_arguments(int argc, char **argv, bind_command *out) {
  for (int i = 0; i < argc; i++)
    if (strcmp(argv[i], "--build") == 0)
      out->builds = true;
    else if (strcmp(argv[i], "-o") == 0 && i + 1 < argc)
      out->folder = argv[++i];
    else if (argv[i][0] == '-' || out->path != NULL)
      return usage();
    else
      out->path = argv[i];
  return out->path == NULL ? usage() : 0;
}

// --- The program ------------------------------------------------------------

// The field of a record as a text, which lives as long as the VM; NULL after an
// error of it.
static const char *field_of(tally_vm *vm, tally_value record, const char *key) {
  tally_value field;
  const char *text;
  size_t nbytes;
  return tally_field(vm, record, key, &field) == TALLY_OK &&
                 tally_to_string(vm, field, &text, &nbytes) == TALLY_OK
             ? text
             : NULL;
}

// Runs the program on the text of declarations at [path], of [n] bytes. False
// after a message.
static bool run_program(tally_vm *vm, const char *path, const char *text,
                        size_t n, bind_made *out) {
  // A path may be of any bytes, a text of the program's not.
  tally_value args[2], made;
  bool ok = tally_eval(vm, tl_bind_read, NULL) == TALLY_OK &&
            tally_eval(vm, tl_bind_glue, NULL) == TALLY_OK &&
            (tally_from_string(vm, path, strlen(path), &args[0]) == TALLY_OK ||
             tally_from_string(vm, "the file", 8, &args[0]) == TALLY_OK) &&
            tally_from_string(vm, text, n, &args[1]) == TALLY_OK &&
            tally_call(vm, "bind", 2, args, &made) == TALLY_OK &&
            (out->mistake = field_of(vm, made, "mistake")) != NULL;
  if (ok && *out->mistake != 0) {
    fputs(out->mistake, stderr);
    return false;
  }
  ok = ok && (out->name = field_of(vm, made, "name")) != NULL &&
       (out->c = field_of(vm, made, "c")) != NULL &&
       (out->tests = field_of(vm, made, "tests")) != NULL &&
       (out->report = field_of(vm, made, "report")) != NULL &&
       (out->libraries = field_of(vm, made, "libraries")) != NULL;
  if (!ok)
    fprintf(stderr, "%s: %s\n", path, tally_error(vm)->message);
  return ok;
}

// --- Files ------------------------------------------------------------------

// FOLDER/NAMEending; the folder is that of the declarations unless one was
// given. False: it is too long.
// [ending] begins with its point or underscore; out has room for BIND_PATH.
static bool make_path(const bind_command *cmd, const char *name,
                      const char *ending, char *out) {
  const char *slash = strrchr(cmd->path, '/');
  int n = cmd->folder != NULL
              ? snprintf(out, BIND_PATH, "%s/%s%s", cmd->folder, name, ending)
              : snprintf(out, BIND_PATH, "%.*s%s%s",
                         slash == NULL ? 0 : (int)(slash + 1 - cmd->path),
                         cmd->path, name, ending);
  return n < BIND_PATH;
}

// Whole or not at all, so that a module that is being built elsewhere never
// sees half of it. False after a message that names the path.
static bool write_text(const char *path, const char *text) {
  if (tl_write_file(path, text, strlen(text)))
    return true;
  fprintf(stderr, "tally: cannot write %s: %s\n", path, strerror(errno));
  return false;
}

// A path as one word of a shell, whatever is in it: it's -> 'it'\''s'.
static void spell_path(const char *path, FILE *out) {
  fputs(" '", out);
  for (; *path != 0; path++)
    fputs(*path == '\'' ? "'\\''" : (char[]){*path, 0}, out);
  fputs("'", out);
}

// Has the compiler look where tally_bind.h is: in the sources around this
// program, as `make` leaves it, or in the PREFIX that it is installed in. No
// word where the system does not say where the program is.
static void spell_headers(FILE *out) {
  static const char *const folders[] = {"../include", "../.."};
  char *self = realpath("/proc/self/exe", NULL);
  const char *end = self == NULL ? NULL : strrchr(self, '/');
  for (size_t i = 0; end != NULL && i < 2; i++) {
    char folder[BIND_PATH], header[BIND_PATH];
    int n = snprintf(folder, BIND_PATH, "%.*s/%s", (int)(end - self), self,
                     folders[i]);
    int m = snprintf(header, BIND_PATH, "%s/tally_bind.h", folder);
    if (n < BIND_PATH && m < BIND_PATH && access(header, R_OK) == 0) {
      fputs(" -I", out);
      spell_path(folder, out);
    }
  }
  free(self);
}

// Runs the command that makes the library, for a shell where $CC and $CFLAGS
// count, or says what to type.
// 1 where the command failed, after a message with all of it, to be tried by
// hand.
static int build(const bind_command *cmd, const char *libraries, const char *c,
                 const char *so) {
  char *line = NULL;
  size_t n;
  FILE *out = need(open_memstream(&line, &n));
  // What disagrees with the library's headers is no warning, whatever the
  // compiler: it would be called with arguments of other types.
  fputs(
      "${CC:-cc} -O2 -Werror=implicit-function-declaration "
      "-Werror=incompatible-pointer-types -Werror=int-conversion ${CFLAGS-}",
      out);
  spell_headers(out);
  fputs(" -shared -fPIC -o", out);
  spell_path(so, out);
  spell_path(c, out);
  fputs(libraries, out);
  fclose(out);
  int status = 0;
  if (cmd->builds) {
    fflush(stdout);
    // The compiler's own messages are on standard error already.
    status = system(line) == 0 ? 0 : 1;
    if (status != 0)
      fprintf(stderr, "tally: this failed: %s\n", line);
  } else {
    printf("this builds it: %s\n", line);
  }
  free(line);
  return status;
}

// Writes, reports and builds what the program made.
// The paths come first: nothing is written where one of them is too long. A
// failed build leaves the C and the tests, which are what there is to look at.
static int finish(const bind_command *cmd, const bind_made *made) {
  char c[BIND_PATH], test[BIND_PATH], so[BIND_PATH];
  if (!make_path(cmd, made->name, ".c", c) ||
      !make_path(cmd, made->name, ".so", so) ||
      !make_path(cmd, made->name, "_test.tly", test)) {
    fputs("tally: the path is too long\n", stderr);
    return 1;
  }
  if (!write_text(c, made->c) || !write_text(test, made->tests))
    return 1;
  fputs(made->report, stdout);
  return build(cmd, made->libraries, c, so);
}

// 0: all was written, and built if that was asked for; 1 after a message; 2:
// the usage. The C is written anew at each call, even where nothing changed.
int tl_bind_command(int argc, char **argv) {
  bind_command cmd = {NULL, NULL, false};
  bind_made made;
  text source = {0};
  tally_vm *vm = NULL;
  int status = read_arguments(argc, argv, &cmd);
  if (status != 0)
    return status;
  if (!read_file(cmd.path, &source))
    fprintf(stderr, "tally: cannot read %s\n", cmd.path);
  // A byte of 0 would end what C sees of the text.
  else if (memchr(source.data, 0, source.n) != NULL)
    fprintf(stderr, "%s: not a text: it has a byte of 0\n", cmd.path);
  else if (tally_open(NULL, &vm) != TALLY_OK)
    fputs("tally: no memory\n", stderr);
  else
    status = !run_program(vm, cmd.path, source.data, source.n, &made) ||
             finish(&cmd, &made);
  free(source.data);
  if (vm == NULL)
    return 1;
  tally_close(vm);
  return status;
}
