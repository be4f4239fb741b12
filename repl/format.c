// `tally fmt`: lays files out alike, by tally_format_source. With --check it
// only says which are not laid out so, with --diff what would change, as diff
// -u does. A file that is laid out already is not written again; a lone - is
// standard input, laid out to standard output.

#include <unistd.h>

#include "repl/colours.h"
#include "repl/file.h"
#include "repl/run.h"
#include "repl/text.h"
#include "repl/program.h"

// Appends all of a file, or of standard input for "-"; false with errno set.
static bool read_source(const char *path, text *out) {
  return strcmp(path, "-") == 0 ? read_stream(stdin, out)
                                : read_file(path, out);
}

// Prints what differs, by the program format.tly; TL_FAILED, as files that are
// not laid out are a failure.
static int print_diff(tally_vm *vm, const char *path, const text *source,
                      tally_value laid) {
  tally_value args[4] = {{0, 0}, {0, 0}, laid, {0, 0}};
  tally_frame frame = tally_begin(vm);
  // A path may be of any bytes, a text of the program's not.
  if (tally_eval(vm, tl_format, NULL) != TALLY_OK ||
      (tally_from_string(vm, path, strlen(path), &args[0]) != TALLY_OK &&
       tally_from_string(vm, "the file", 8, &args[0]) != TALLY_OK) ||
      tally_from_string(vm, source->data, source->n, &args[1]) != TALLY_OK ||
      tally_from_bool(vm, tl_has_colours(STDOUT_FILENO), &args[3]) !=
          TALLY_OK ||
      tally_call(vm, "print_diff", 4, args, NULL) != TALLY_OK)
    fprintf(stderr, "tally: %s\n", tally_error(vm)->message);
  tally_end(vm, frame, 0, NULL);
  return TL_FAILED;
}

// --- Files ------------------------------------------------------------------

// Writes the laid-out text where it belongs, or only compares.
static int keep(const tl_command *cmd, const char *path, bool is_same,
                const char *laid, size_t nbytes) {
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
    result = is_asked     ? TL_INTERRUPTED
             : !cmd->diff ? keep(cmd, path, is_same, laid, laid_nbytes)
             : is_same    ? TL_DONE
                          : print_diff(session->vm, path, &source, value);
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
