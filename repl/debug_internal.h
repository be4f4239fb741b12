// What repl/debug.c, which reads commands, and repl/debug_stops.c, which says
// where a run stops, know of each other.
#ifndef TALLY_REPL_DEBUG_INTERNAL_H
#define TALLY_REPL_DEBUG_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "repl/editor.h"
#include "repl/run.h"

// What stops a run: a line of a file, the begin of a function, or a variable
// that has another value than before.
typedef enum stop_kind { STOP_LINE, STOP_FUNCTION, STOP_WATCH } stop_kind;

// Where a run stops, and only if the condition holds, where there is one. Texts
// are its own.
typedef struct breakpoint {
  int number;
  stop_kind kind;
  char *place;  // the file, the function or the variable
  char *condition;
  int line;  // of STOP_LINE
  // Of STOP_WATCH: how many calls are around the one that has the variable,
  // that one included, and its last value, owned, where it had one.
  size_t calls;
  bool has_value;
  tally_value value;
} breakpoint;

// Which lines stop the run besides breakpoints: by how many calls are around
// them.
typedef enum pace {
  PACE_RUN,
  PACE_STEP,    // any
  PACE_NEXT,    // with no more than [depth]
  PACE_FINISH,  // with fewer than [depth]
} pace;

enum { BREAKPOINTS = 64 };

// One run that is debugged, on the stack of tl_run_debug. It owns the
// breakpoints' texts, both lines and the editor; [info] is borrowed, and valid
// only while the hook runs.
typedef struct debugger {
  tally_vm *vm;
  tl_editor *editor;  // NULL: lines of standard input
  char *line, *last;  // the command under way, and the one to be repeated
  size_t line_size;
  breakpoint breakpoints[BREAKPOINTS];
  int count, numbered;
  pace pace;
  size_t depth;
  bool catches;   // stops at caught errors, too
  bool begins;    // a function with a breakpoint begins: stops at its line
  bool ended;     // by quit, or as there are no more commands
  size_t frame;   // the selected one
  size_t listed;  // the line that `list` goes on behind; 0: around the frame's
  const tally_debug_info *info;
} debugger;

// What becomes of the run behind a command: another command is read, or the run
// goes on.
typedef enum reply { STAY, GO } reply;

// --- What debug_stops.c does ------------------------------------------------

// Prints the error of the last call, which stands in no file.
void tl_debugger_error(const debugger *d);
// Calls [see] with each variable of the frame that has a value; functions and
// modules are left out.
void tl_debugger_names(debugger *d, size_t frame, tl_text_hook *see,
                       void *context);

// Whether a breakpoint stops the run here, or a watched variable that has
// changed, which is told.
bool tl_stops_at(debugger *d, const tally_debug_info *info);
void tl_stops_free(debugger *d);
// Commands, with what stands behind their names: see debug.c.
reply tl_stops_break(debugger *d, char *rest);
reply tl_stops_watch(debugger *d, char *rest);
reply tl_stops_delete(debugger *d, char *rest);
reply tl_stops_info(debugger *d, char *rest);

#endif
