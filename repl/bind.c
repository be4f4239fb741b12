// The command `tally bind`: reads declarations, writes the module's C and its
// tests beside them, says what was bound and what was not, and builds it.
//
//     tally bind -o made db/x.bind      made/sqlite.c  made/sqlite_test.tly
//     tally bind --build db/x.bind      db/sqlite.c, …, and db/sqlite.so
//
// Names are the module's, as `module NAME` has it, not the file's. The build is
// one command of a shell; without --build it is printed, for a Makefile.

#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700  // realpath
#endif

#include "repl/bind.h"

#include <errno.h>
#include <unistd.h>

#include "repl/file.h"

// As long as the longest path of the system.
enum { BIND_PATH = 4096 };

// What the command line asks for.
// folder NULL: beside the declarations; builds: --build was given.
typedef struct bind_command {
  const char *path, *folder;
  bool builds;
} bind_command;

// 2 is the exit status for a command line that says nothing, as of the other
// commands.
static int usage(void) {
  fputs("usage: tally bind [--build] [-o FOLDER] FILE.bind\n", stderr);
  return 2;
}

// Reads the arguments behind the word; 0, or the exit status.
// A word that begins with - is no file; one that does goes as ./-x.
static int read_arguments(int argc, char **argv, bind_command *out) {
  for (int i = 0; i < argc; i++) {
    if (strcmp(argv[i], "--build") == 0)
      out->builds = true;
    else if (strcmp(argv[i], "-o") == 0 && i + 1 < argc)
      out->folder = argv[++i];
    else if (argv[i][0] == '-' || out->path != NULL)
      return usage();
    else
      out->path = argv[i];
  }
  return out->path == NULL ? usage() : 0;
}

// FOLDER/NAMEending; the folder is that of the declarations unless one was
// given. False: it is too long.
// [ending] begins with its point or underscore; out has room for BIND_PATH.
static bool make_path(const bind_command *cmd, const bind_file *file,
                      const char *ending, char *out) {
  const char *slash = strrchr(cmd->path, '/');
  int n = cmd->folder != NULL
              ? snprintf(out, BIND_PATH, "%s/%.*s%s", cmd->folder,
                         SPAN(file->name), ending)
              : snprintf(out, BIND_PATH, "%.*s%.*s%s",
                         slash == NULL ? 0 : (int)(slash + 1 - cmd->path),
                         cmd->path, SPAN(file->name), ending);
  return n < BIND_PATH;
}

// Whole or not at all, so that a module that is being built elsewhere never
// sees half of it. False after a message that names the path.
static bool write_text(const char *path, const char *data, size_t n) {
  if (tl_write_file(path, data, n))
    return true;
  fprintf(stderr, "tally: cannot write %s: %s\n", path, strerror(errno));
  return false;
}

// Writes the module's C and its tests; *tested says how many functions these
// call.
static bool write_files(const bind_file *file, const char *c, const char *test,
                        size_t *tested) {
  char *data = NULL;
  size_t n;
  // In memory first: what the writers say is then one write, which is atomic.
  FILE *out = need(open_memstream(&data, &n));
  tl_bind_glue(file, out);
  fclose(out);
  bool ok = write_text(c, data, n);
  free(data);
  data = NULL;
  out = need(open_memstream(&data, &n));
  *tested = tl_bind_tests(file, out);
  fclose(out);
  ok = ok && write_text(test, data, n);
  free(data);
  return ok;
}

// What was bound of what was listed, and why the rest was not.
// Constants and raw functions count as functions.
static void report(const bind_file *file, size_t tested) {
  printf("%.*s: %zu of %zu functions bound, %zu of them tested\n",
         SPAN(file->name), file->function_count,
         file->function_count + file->skip_count, tested);
  for (size_t i = 0; i < file->skip_count; i++) {
    printf("  left out: %.*s: %.*s\n", SPAN(file->skips[i].name),
           SPAN(file->skips[i].why));
  }
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

// The command that makes the library, for a shell: $CC and $CFLAGS count.
static void spell_build(const bind_file *file, const char *c, const char *so,
                        FILE *out) {
  fputs("${CC:-cc} -O2 ${CFLAGS-}", out);
  spell_headers(out);
  fputs(" -shared -fPIC -o", out);
  spell_path(so, out);
  spell_path(c, out);
  if (file->packages.n > 0)
    fprintf(out, " $(pkg-config --cflags --libs %.*s)", SPAN(file->packages));
  span left = file->libraries;
  while (left.n > 0) {
    size_t n = 0;
    while (n < left.n && left.at[n] != ' ') n++;
    fprintf(out, " -l%.*s", (int)n, left.at);
    left = trim_left(skip(left, n));
  }
}

// Runs it, or says what to type.
// 1 where the command failed, after a message with all of it, to be tried by
// hand.
static int build(const bind_command *cmd, const bind_file *file, const char *c,
                 const char *so) {
  char *line = NULL;
  size_t n;
  FILE *out = need(open_memstream(&line, &n));
  spell_build(file, c, so, out);
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

// Writes, reports and builds, for declarations that were read.
// The paths come first: nothing is written where one of them is too long. A
// failed build leaves the C and the tests, which are what there is to look at.
static int bind(const bind_command *cmd, const bind_file *file) {
  char c[BIND_PATH], test[BIND_PATH], so[BIND_PATH];
  size_t tested;
  if (!make_path(cmd, file, ".c", c) || !make_path(cmd, file, ".so", so) ||
      !make_path(cmd, file, "_test.tly", test)) {
    fputs("tally: the path is too long\n", stderr);
    return 1;
  }
  if (!write_files(file, c, test, &tested))
    return 1;
  report(file, tested);
  return build(cmd, file, c, so);
}

// 0: all was written, and built if that was asked for; 1 after a message; 2:
// the usage. The C is written anew at each call, even where nothing changed.
int tl_bind_command(int argc, char **argv) {
  bind_command cmd = {NULL, NULL, false};
  int status = read_arguments(argc, argv, &cmd);
  if (status != 0)
    return status;
  bind_file file = {.path = cmd.path};
  status = tl_bind_read(&file) ? bind(&cmd, &file) : 1;
  tl_bind_free(&file);
  return status;
}
