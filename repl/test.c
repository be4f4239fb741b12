// tally test: finds the files, tests each in a child process, so that a crash
// loses one file and not the rest, and sums up.
//
//     read_arguments ─ find_tests ─ jobs
//     run_all ─ start (fork, run_child) … finish_one (wait) … report, in order
//
// With --jobs 3, while the second of five files takes long:
//
//     jobs       1          2         3        4         5
//                reported   running   done     running   not started
//                           ▲         waits for 2's report
//
// A child writes its failures as lines and its two counts as the last one, to
// a file that the parent has opened. So a child that dies has written the
// failures so far, but no counts.

#include "repl/test.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "repl/file.h"
#include "repl/golden.h"
#include "repl/text.h"

// Unless --timeout says otherwise.
// Far more than any file takes, also under a checker of memory on a machine
// that does other things; a loop without an end is still found.
enum { SECONDS_PER_FILE = 300 };

// One file to test; path NULL stands for the library's documentation.
typedef struct job {
  char *path;
  pid_t child;
  FILE *report;  // failures, then a line with the two counts
  bool done;
  int status;         // as wait gives it
  char folder[1024];  // the job's own TMPDIR, or ""
} job;

// The command line and the sums.
typedef struct command {
  job *jobs;
  size_t count, capacity;
  const char *filter;
  long parallel, timeout;  // timeout in seconds, of each file
  bool verbose;
  tl_golden *golden;
  unsigned long passed, failed;
} command;

static const char usage[] =
    "usage: tally test [-v] [--filter TEXT] [--jobs N] [--timeout SECONDS]\n"
    "                  [--library] [PATH ...]\n"
    "Runs golden scripts (.tly), the code in Markdown files and documented\n"
    "examples. A directory stands for all such files in it. --library: the\n"
    "examples in the documentation of built-in functions. No PATH: all that\n"
    "is here, and the library.\n";

// Adds a file to test; NULL: the library's documentation.
// Takes a copy of the path. Without memory the command ends: see need().
static void add_job(command *cmd, const char *path) {
  if (cmd->count == cmd->capacity) {
    cmd->capacity = cmd->capacity ? 2 * cmd->capacity : 64;
    cmd->jobs = need(realloc(cmd->jobs, cmd->capacity * sizeof *cmd->jobs));
  }
  job *added = &cmd->jobs[cmd->count++];
  *added = (job){0};
  if (path) {
    size_t nbytes = strlen(path) + 1;
    added->path = memcpy(need(malloc(nbytes)), path, nbytes);
  }
}

// --- Finding files ----------------------------------------------------------

// Whether a file found in a folder is one to test.
// By its name alone: a file that was asked for may have any.
static bool is_test(const char *path) {
  return has_ending(path, ".tly") || has_ending(path, ".md");
}

// By bytes, whatever the person's language.
static int compare_names(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

// Hidden files and build folders are left out, . and .. among them.
static int is_looked_at(const struct dirent *entry) {
  return entry->d_name[0] != '.' && strcmp(entry->d_name, "build") != 0;
}

// A folder that is gone through, and the ones that it is in.
typedef struct open_folder {
  const struct open_folder *around;
  dev_t device;
  ino_t inode;
} open_folder;

static void find_tests(command *cmd, const char *path,
                       const open_folder *around);

// Folders are gone through in the order of names, so that reports are alike on
// all machines; one that cannot be read has none. A link to a folder is
// followed, except to one of those that it is in.
static void find_below(command *cmd, const char *path,
                       const open_folder *folder) {
  struct dirent **entries;
  for (const open_folder *f = folder->around; f != NULL; f = f->around)
    if (f->device == folder->device && f->inode == folder->inode)
      return;
  int count = scandir(path, &entries, is_looked_at, compare_names);
  const char *slash = path[strlen(path) - 1] == '/' ? "" : "/";
  if (strcmp(path, ".") == 0)
    path = slash = "";
  for (int i = 0; i < count; i++) {
    const char *name = entries[i]->d_name;
    size_t room = strlen(path) + strlen(name) + 2;
    char *below = need(malloc(room));
    snprintf(below, room, "%s%s%s", path, slash, name);
    find_tests(cmd, below, folder);
    free(below);
    free(entries[i]);
  }
  if (count >= 0)
    free(entries);
}

// Adds the tests at [path]; a file that was asked for, around which no folder
// is, need not look like one. A path that is not there is a failure, and is
// printed at once.
static void find_tests(command *cmd, const char *path,
                       const open_folder *around) {
  struct stat at;
  if (stat(path, &at) != 0) {
    printf("%s: %s\n", path[0] != 0 ? path : "\"\"", strerror(errno));
    cmd->failed++;
  } else if (S_ISDIR(at.st_mode)) {
    const open_folder folder = {around, at.st_dev, at.st_ino};
    find_below(cmd, path, &folder);
  } else if (around == NULL || is_test(path)) {
    add_job(cmd, path);
  }
}

// --- Running ----------------------------------------------------------------

// What the child does. Files that tests write below the temporary folder are
// each child's own, so that several runs at once do not meet, and go when the
// test is over.
// The alarm's signal ends the process, since nothing handles it: scripts
// cannot.
static void run_child(const command *cmd, const job *test) {
  if (test->folder[0] != 0)
    setenv("TMPDIR", test->folder, 1);
  alarm((unsigned)cmd->timeout);
  tl_golden_run(cmd->golden, test->path, cmd->filter, test->report);
  fflush(test->report);
}

// Starts a job in a child process. Its report goes to a file, from which
// report() reads it. Streams are flushed first, else the child would write what
// is in the parent's buffers a second time.
// test->done stays false until finish_one meets the child, but where there is
// no child.
static void start(command *cmd, job *test) {
  fflush(NULL);
  test->report = need(tmpfile());
  if (!tl_make_private_folder(test->folder, sizeof test->folder))
    test->folder[0] = 0;
  test->child = fork();
  if (test->child == 0) {
    run_child(cmd, test);
    tl_golden_close(cmd->golden);
    exit(0);  // not _exit: a leak checker reports at exit
  }
  // No process to be had: the job failed.
  if (test->child < 0) {
    fprintf(test->report, "no process for this test: %s\n", strerror(errno));
    test->done = true;
    test->status = -1;
    if (test->folder[0] != 0)
      tl_remove_tree(test->folder);
  }
}

// Waits for any child to end.
// A child that is none of the jobs, as one that another part of the process
// has started would be, is passed over.
static void finish_one(command *cmd) {
  int status;
  pid_t child = wait(&status);
  for (size_t i = 0; i < cmd->count; i++) {
    job *test = &cmd->jobs[i];
    if (test->child == child && test->report && !test->done) {
      test->done = true;
      test->status = status;
      if (test->folder[0] != 0)
        tl_remove_tree(test->folder);
      return;
    }
  }
}

// --- Reporting --------------------------------------------------------------

// Prints a finished job's failures and adds its counts. The counts come last; a
// child that died wrote none. Child and parent share the file's position, hence
// rewind.
// Frees what the report took. Failures are printed as they were written, also
// those of a child that died; its counts are not known, and count as nothing
// but the one failure that it died.
static void report(command *cmd, job *test) {
  const char *name = test->path ? test->path : "library";
  unsigned long passed = 0, failed = 0;
  char *line = NULL;
  size_t capacity = 0;
  bool counted = false;
  rewind(test->report);
  while (getline(&line, &capacity, test->report) > 0) {
    counted = sscanf(line, "%lu %lu\n", &passed, &failed) == 2;
    if (!counted)
      fputs(line, stdout);
  }
  free(line);
  fclose(test->report);
  if (!counted)
    passed = failed = 0;
  // A crash, or the alarm of the time limit.
  if (WIFSIGNALED(test->status)) {
    int signal = WTERMSIG(test->status);
    if (signal == SIGALRM)
      printf("%s: took longer than %ld s (--timeout)\n", name, cmd->timeout);
    else
      printf("%s: crashed (signal %d)\n", name, signal);
    failed++;
  } else if (test->status != 0 || !counted) {
    printf("%s: ended with status %d\n", name, WEXITSTATUS(test->status));
    failed++;
  }
  if (cmd->verbose)
    printf("%s: %lu passed, %lu failed\n", name, passed, failed);
  cmd->passed += passed;
  cmd->failed += failed;
}

// Runs all jobs, several at a time, and reports them in their order.
// A job that ends early waits for those before it to be reported, and counts as
// running until then, so at most `parallel` reports are open.
// Ends, as each pass starts a job or waits for one that was started, and all
// children end: by themselves or by their alarm.
static void run_all(command *cmd) {
  size_t started = 0, reported = 0;
  while (reported < cmd->count) {
    if (started < cmd->count && started < reported + (size_t)cmd->parallel)
      start(cmd, &cmd->jobs[started++]);
    else
      finish_one(cmd);
    while (reported < started && cmd->jobs[reported].done)
      report(cmd, &cmd->jobs[reported++]);
  }
}

// --- The command ------------------------------------------------------------

// Reads a whole number from 1 on, or returns false.
// At most a million, which is more jobs than a system has processes and more
// seconds than a week has. *out is any number where it returns false.
static bool read_number(const char *text, long *out) {
  char *end;
  *out = strtol(text, &end, 10);
  return end != text && *end == 0 && *out >= 1 && *out <= 1000000;
}

// Reads the options; returns false for a wrong one.
// Files are looked for at once, so that they run in the order of the
// arguments. "-" alone is an option that is not known.
static bool read_arguments(command *cmd, int argc, char **argv) {
  for (int i = 0; i < argc; i++) {
    const char *arg = argv[i];
    if (strcmp(arg, "-v") == 0) {
      cmd->verbose = true;
    } else if (strcmp(arg, "--library") == 0) {
      add_job(cmd, NULL);
    } else if (strcmp(arg, "--filter") == 0 && i + 1 < argc) {
      cmd->filter = argv[++i];
    } else if (strcmp(arg, "--jobs") == 0 && i + 1 < argc) {
      if (!read_number(argv[++i], &cmd->parallel))
        return false;
    } else if (strcmp(arg, "--timeout") == 0 && i + 1 < argc) {
      if (!read_number(argv[++i], &cmd->timeout))
        return false;
    } else if (arg[0] == '-') {
      return false;
    } else {
      find_tests(cmd, arg, NULL);
    }
  }
  return true;
}

// Without paths: everything below the working directory, and the library.
// A path without tests in it is no failure. One that does not exist is, and no
// other files run in its stead.
int tl_test_command(int argc, char **argv, tally_native_code native) {
  command cmd = {.parallel = sysconf(_SC_NPROCESSORS_ONLN),
                 .timeout = SECONDS_PER_FILE};
  if (cmd.parallel < 1)
    cmd.parallel = 1;
  // Who starts this may have SIGCHLD ignored, and then wait() knows no child.
  signal(SIGCHLD, SIG_DFL);
  if (!read_arguments(&cmd, argc, argv)) {
    fputs(usage, stderr);
    return 2;
  }
  if (cmd.count == 0 && cmd.failed == 0) {
    add_job(&cmd, NULL);
    find_tests(&cmd, ".", NULL);
  }
  cmd.golden = tl_golden_open(native);
  run_all(&cmd);
  tl_golden_close(cmd.golden);
  for (size_t i = 0; i < cmd.count; i++) free(cmd.jobs[i].path);
  free(cmd.jobs);
  printf("%lu passed, %lu failed\n", cmd.passed, cmd.failed);
  return cmd.failed != 0;
}
