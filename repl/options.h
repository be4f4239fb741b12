// The command line of `tally`.
#ifndef TALLY_REPL_OPTIONS_H
#define TALLY_REPL_OPTIONS_H

#include <stdbool.h>

#include "tally.h"

typedef enum tl_action {
  TL_ACTION_PROMPT,   // no FILE: the prompt, or standard input as one
  TL_ACTION_RUN,      // FILE, or - for standard input
  TL_ACTION_CODE,     // -e CODE
  TL_ACTION_DIS,      // dis FILE
  TL_ACTION_EXPLAIN,  // explain [--json] [--static] FILE [ARG ...]
  TL_ACTION_DOC,      // doc [--check] [NAME]
  TL_ACTION_FORMAT,   // fmt [--check] FILE ...
  TL_ACTION_TEST,     // test ...
  TL_ACTION_VERSION,
  TL_ACTION_HELP,
} tl_action;

typedef enum tl_stats_form {
  TL_STATS_NONE,
  TL_STATS_TEXT,
  TL_STATS_JSON,
} tl_stats_form;

typedef struct tl_command {
  tl_action action;
  const char *subject;  // the FILE, CODE or NAME; NULL where there is none
  int argc;             // what stands behind it: the script's arguments, or
  char **argv;          // those of test and fmt
  tl_stats_form stats;
  bool check;               // of doc and fmt: --check
  unsigned explain;         // TALLY_EXPLAIN_...
  const char *memory_plot;  // a file, or - for standard error; NULL: none
  tally_options options;    // limits, capabilities and threads are set
} tl_command;

// Reads the arguments of main. Returns 0, or 2 after a message on standard
// error. Strings in *out are those of argv.
int tl_command_read(int argc, char **argv, tl_command *out);

void tl_command_help(void);

#endif
