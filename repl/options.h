// The command line of `tally`.
//
//     tally [OPTION ...] [FILE [ARG ...]]      options end at the FILE or word
//     tally WORD …                             test, dis, explain, doc, fmt
#pragma once

#include <stdbool.h>

#include "tally.h"

// What the command is to do.
typedef enum tl_action {
  // Without a FILE: the prompt, or standard input as one.
  TL_ACTION_PROMPT,
  // FILE, or - for standard input.
  TL_ACTION_RUN,
  TL_ACTION_CODE,  // -e CODE
  TL_ACTION_DIS,   // dis FILE
  // explain [--json] [--static] FILE [ARG ...], dis --native FILE
  TL_ACTION_EXPLAIN,
  TL_ACTION_DOC,     // doc [--check] [NAME], --html DIR, --man
  TL_ACTION_FORMAT,  // fmt [--check] FILE ...
  TL_ACTION_CHECK,   // check FILE ...
  TL_ACTION_DEBUG,   // debug FILE [ARG ...]
  TL_ACTION_LSP,     // lsp
  TL_ACTION_TEST,    // test ...
  TL_ACTION_BIND,    // bind ...
  TL_ACTION_VERSION,
  TL_ACTION_HELP,
} tl_action;

// How the counters are written at the end.
typedef enum tl_stats_form {
  TL_STATS_NONE,
  TL_STATS_TEXT,
  TL_STATS_JSON,
} tl_stats_form;

// The command line, read.
typedef struct tl_command {
  tl_action action;
  // The FILE, CODE or NAME; NULL where there is none.
  const char *subject;
  // What stands behind it: the script's arguments, or those of test, fmt and
  // check.
  int argc;
  char **argv;
  tl_stats_form stats;
  bool check;  // of doc and fmt: --check
  bool diff;   // of fmt: --diff
  // Of doc: the folder behind --html, NULL without; and --man.
  const char *html;
  bool man;
  unsigned explain;  // TALLY_EXPLAIN_...
  // A file for the picture of live bytes, or - for standard error; NULL: none.
  const char *memory_plot;
  // The same for the profile.
  const char *profile;
  // Limits, capabilities and threads are set; hooks are the session's.
  tally_options options;
} tl_command;

// Reads the arguments of main. Returns 0, or 2 after a message on standard
// error. Strings in *out are those of argv.
int tl_command_read(int argc, char **argv, tl_command *out);
