// A virtual machine: everything that one interpreter owns.
#ifndef TALLY_VM_VM_H
#define TALLY_VM_VM_H

#include <stdatomic.h>

#include "tally.h"
#include "vm/builtin.h"
#include "vm/error.h"
#include "vm/engine/pool.h"
#include "vm/values/string.h"

typedef struct tl_unit tl_unit;      // a compiled module's code (function.h)
typedef struct tl_module tl_module;  // its variables (module.h)
typedef struct tl_frame tl_frame;    // a call record (function.h)
struct tl_memory;                    // free lists and the block cache
struct tl_handles;                   // values held by the host (handles.c)
struct tl_types;                     // interned types (type.c)
struct tl_watch;                     // what a run does with memory (watch.h)

// What the compiler offers to the VM; the embedding layer hands it over, so
// that vm/ does not depend on compiler/.
typedef struct tl_compiler_hooks {
  // Compiles a module's text into a unit. Fails with kind syntax or name.
  tl_unit *(*compile)(tl_vm *vm, tl_module *module, const char *name,
                      const char *text, size_t nbytes, unsigned mode);
} tl_compiler_hooks;

// What hooks may do while they run. Values may be made and read in all but the
// innermost, since a release may run while an error unwinds.
typedef enum tl_access {
  TL_ACCESS_ALL,
  TL_ACCESS_VALUES,  // no code runs, no variable changes
  TL_ACCESS_NONE,
} tl_access;

typedef struct tl_pending_error {
  bool set;
  tally_status status;
  char *message;        // owned, or static when memory ran out
  size_t message_size;  // of the allocation, 0: static
  char *note;           // under the caret: operands' types; owned or NULL
  size_t note_size;
  tl_string *file;  // counted
  int line, column;
  int caret_width;
  tl_list *trace;        // of strings, innermost first; NULL: none yet
  const void *trace_of;  // the function of the last line's call, and where
  uint32_t trace_pc;
  int64_t trace_times;  // how many such calls that line stands for
  char *excerpt;        // the source line and caret, owned or NULL
  size_t excerpt_size;
  char left[TL_DESCRIBE], right[TL_DESCRIBE];  // operand types, "" if none
  bool placed;                                 // line and excerpt are set
  bool named;  // the message has the name that it is to have in front
  // Where the message says "function: argument must be …": the value, to be
  // compared with arguments only, and the length of the argument's name.
  tl_slot refused;
  size_t refused_size;
  bool refused_known;  // it is a parameter's name, or says that there is none
  bool is_final;       // the host's interrupt, budget or deadline: passes
                       // every catch
  bool compiled;       // excerpt is the whole report of a compilation
} tl_pending_error;

struct tally_vm {
  tally_options options;
  const tl_compiler_hooks *compiler;

  // The slot stack, reserved at open and never moved; frame records apart
  // (slots.h). The ends are of the part that has been counted.
  tl_slot *stack, *stack_end;
  tl_slot *stack_top;  // first slot free for a call from C
  tl_frame *frames, *frames_end, *frame;
  int native_depth;  // calls into the VM from inside built-ins
  bool keeping;      // the built-in must give its first argument back as it was
  bool finishing;    // it is soon done, and not stopped before
  int host_depth;    // hooks of the host's that are running
  tl_access access;  // what the innermost may do

  tl_pending_error error;
  tl_slot caught;  // its record, on the way to a handler
  tally_stats stats;
  bool counting;
  bool no_reuse;  // --no-reuse: nothing is written in place or fused
  bool distrust;  // for tests: as if the verifier had refused all code at first
  // While counting, for tests: the operation that fails, counted from 1 among
  // those that can; 0: none.
  uint64_t fail_in;

  // Polling: one counter for interrupt, deadline and budget.
  // By another thread or a signal handler: bits of mapping.h.
  atomic_int interrupted;
  bool file_lost;   // an error says so, and has not unwound yet
  uint64_t budget;  // instructions left beyond fuel; UINT64_MAX: no limit
  int32_t fuel;     // polls until the next look around; never below 1
  double deadline;  // clock() seconds; 0: none
  uint32_t looks;   // for the flag and the deadline, so far

  struct tl_memory *memory;
  struct tl_region_kept *regions;  // kept graphs of all code, the newest first
  struct tl_region_kept *oldest_region;
  int region_count;
  tl_pool pool;            // threads for long work on arrays
  struct tl_watch *watch;  // NULL: nobody watches
  bool has_promises;       // some code says #:inplace (promise.h)
  uint8_t refused_why;
  uint32_t refused_slot;  // of a call's operand; UINT32_MAX: none
  tl_slot refused_operand;
  const struct tl_ins *refused_at;  // the promised instruction; NULL: none
  tl_slot grown;  // what memory.growth() compares with: a record, or none
  struct tl_watch *watched;  // what was recorded; freed with the VM
  struct tl_handles *handles;
  struct tl_export *exports;  // values that other libraries hold (exports.h)
  struct tl_host_function *host_functions;  // newest first (host.h)
  struct tl_host_module *host_modules;
  char *docs;  // of the library, unpacked, or NULL (documentation.c)
  struct tl_report *report;  // the last error, for the host (api.c)
  char report_file[256];
  char type_text[2 * TL_DESCRIBE];  // what tally_type returned last
  struct tl_types *types;
  tl_module *main;     // the main module
  tl_module *modules;  // all, linked
  size_t unit_count;   // of all modules
  size_t units_kept;   // when they were reclaimed last
  bool wants_reclaim;  // as soon as only the top level runs
  tl_list *waiting;    // values for the end of all calls (module.h), or NULL
  tl_slot args;        // os.args: a list
  int width;           // columns that the prompt shows values in
  uint64_t seed;       // random.seed
  bool fftw;           // fft.use("fftw")
};

// Polls for interrupt, deadline and budget after [work] items of 1,024
// elements or turns; false after tl_fail (kind interrupt or limit). Built-ins
// with long loops call it once per block.
bool tl_poll(tl_vm *vm, uint64_t work);

// Fails (kind io) where the VM lacks a capability; [what] names the function.
bool tl_require(tl_vm *vm, unsigned capability, const char *what);

// Sends text to the write hook; false after tl_fail (kind io).
bool tl_write(tl_vm *vm, const char *text, size_t nbytes);

#endif
