// The tally command: a host of tally.h like any other.

#include <stdio.h>

#include "repl/options.h"
#include "repl/prompt.h"
#include "repl/run.h"
#include "repl/session.h"
#include "repl/test.h"

static int run(tl_session *session, const tl_command *cmd) {
  switch (cmd->action) {
    case TL_ACTION_RUN:
      return tl_run_file(session, cmd);
    case TL_ACTION_CODE:
      return tl_run_code(session, cmd);
    case TL_ACTION_DIS:
      return tl_run_dis(session, cmd);
    case TL_ACTION_EXPLAIN:
      return tl_run_explain(session, cmd);
    case TL_ACTION_DOC:
      return tl_run_doc(session, cmd);
    case TL_ACTION_FORMAT:
      return tl_run_format(session, cmd);
    default:
      return tl_prompt_run(session);
  }
}

int main(int argc, char **argv) {
  tl_command cmd;
  tl_session session;
  int status = tl_command_read(argc, argv, &cmd);
  if (status != 0)
    return status;
  switch (cmd.action) {
    case TL_ACTION_TEST:
      return tl_test_command(cmd.argc, cmd.argv);
    case TL_ACTION_VERSION:
      printf("tally %s\n", tally_version());
      return 0;
    case TL_ACTION_HELP:
      tl_command_help();
      return 0;
    default:
      break;
  }
  if (!tl_session_open(&session, &cmd))
    return TL_FAILED;
  return tl_session_close(&session, run(&session, &cmd));
}
