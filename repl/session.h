// A VM with what the command adds: interrupts, reports, counters.
//
//     tl_session_open ─ begin … end, begin … end ─ tl_session_close
//                       Ctrl-C stops the run       counters, memory plot
#pragma once

#include <stdint.h>

#include "repl/options.h"

enum {  // exit statuses
  TL_DONE = 0,
  TL_FAILED = 1,
  TL_USAGE = 2,
  TL_INTERRUPTED = 130,
};

// The command's one VM.
typedef struct tl_session {
  tally_vm *vm;
  tl_stats_form stats;
  const char *memory_plot, *profile;
  bool ended;  // by os.exit: a prompt reads no more
  // The bytes that were alive behind each input, the oldest first.
  int64_t *live;
  size_t live_count;
} tl_session;

// Opens a VM as the command line asks and takes over the interrupt signal;
// false after a message on standard error. One session at a time.
bool tl_session_open(tl_session *session, const tl_command *cmd);

// Writes the counters and the memory plot where they are wanted, and closes the
// VM. Returns [status], or TL_FAILED where the output could not be written.
int tl_session_close(tl_session *session, int status);

// --- Around each run --------------------------------------------------------

// From here on Ctrl-C stops the script.
void tl_session_begin(void);
// Within a run: from here on Ctrl-C makes a debugged run pause (true), or waits
// for whoever asks for it, as at the prompt (false).
void tl_session_pauses(bool on);
// The run is over: reports its error on standard error. Returns the exit
// status.
int tl_session_end(tl_session *session, tally_status status);

// Notes the bytes that are alive behind an input, for :mem.
void tl_session_note_live(tl_session *session);

// Whether Ctrl-C was pressed while nothing ran; forgets it.
bool tl_session_was_interrupted(void);

// Writes an error's whole report behind all output so far.
void tl_session_report(const tl_session *session);

// Whether a script has left its last line of output without an end; forgets it.
bool tl_session_is_within_line(void);
