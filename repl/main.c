// The tally command: a host of tally.h like any other.
//
//     main ─ tl_command_read        options.c   the command line
//          ─ tl_session_open        session.c   a VM, Ctrl-C, counters
//          ─ one of: tl_run_file, tl_run_code, tl_run_dis, tl_run_explain
//                    tl_run_debug   debug.c
//                    tl_run_doc     doc.c
//                    tl_run_format  format.c
//                    tl_prompt_run  prompt.c, editor.c
//          ─ tl_session_close
//     tally test                    test.c ─ golden.c ─ test.tly
//     tally bind                    bind.c ─ bind_read.tly, bind_glue.tly
//
// Nothing here includes a header of vm/: what the prompt lacks in tally.h, a
// host lacks, too.

#include <stdio.h>

#include "repl/bind.h"
#include "repl/lsp.h"
#include "repl/program.h"
#include "repl/prompt.h"
#include "repl/run.h"
#include "repl/test.h"

// Does what the command line asks for; returns the exit status.
static int run(tl_session *session, const tl_command *cmd) {
  static int (*const functions[])(tl_session *, const tl_command *) = {
      [TL_ACTION_PROMPT] = tl_prompt_run,   [TL_ACTION_RUN] = tl_run_file,
      [TL_ACTION_CODE] = tl_run_code,       [TL_ACTION_DIS] = tl_run_dis,
      [TL_ACTION_EXPLAIN] = tl_run_explain, [TL_ACTION_DOC] = tl_run_doc,
      [TL_ACTION_FORMAT] = tl_run_format,   [TL_ACTION_CHECK] = tl_run_check,
      [TL_ACTION_DEBUG] = tl_run_debug,     [TL_ACTION_LSP] = tl_run_lsp,
  };
  return functions[cmd->action](session, cmd);
}

// Which version this is, and which library large matrices go to.
static int print_version(const tl_command *cmd) {
  tl_session session;
  tally_value blas;
  const char *text;
  size_t nbytes;
  printf("tally %s\nmachine code: %s\n", tally_version(),
         tally_has_native_code() ? "available" : "not available here");
  if (!tl_session_open(&session, cmd))
    return TL_FAILED;
  tally_status status =
      tally_eval(session.vm,
                 "import linalg\n"
                 "if linalg.blas == none { \"none, Tally's own code\" } "
                 "else { linalg.blas }",
                 &blas);
  if (status == TALLY_OK)
    status = tally_to_string(session.vm, blas, &text, &nbytes);
  if (status == TALLY_OK)
    printf("BLAS: %.*s\n", (int)nbytes, text);
  return tl_session_close(&session, TL_DONE);
}

// Commands that need no VM are done first.
int main(int argc, char **argv) {
  tl_command cmd;
  tl_session session;
  int status = tl_command_read(argc, argv, &cmd);
  if (status != 0)
    return status;
  switch (cmd.action) {
    case TL_ACTION_TEST:
      return tl_test_command(cmd.argc, cmd.argv, cmd.options.native);
    case TL_ACTION_BIND:
      return tl_bind_command(cmd.argc, cmd.argv);
    case TL_ACTION_VERSION:
      return print_version(&cmd);
    case TL_ACTION_HELP:
      fputs(tl_help, stdout);
      return 0;
    default:
      break;
  }
  if (!tl_session_open(&session, &cmd))
    return TL_FAILED;
  return tl_session_close(&session, run(&session, &cmd));
}
