// A virtual machine: everything that one interpreter owns.
//
//     tally_vm ── options           the host's decisions, copied
//       ├ compiler, library, observer, arrays, nested, fusion, host
//       │                           tables handed over at open (vm/api/open.c)
//       ├ stack, frames             running calls           bytecode/slots.h
//       ├ error                     the one pending error   error.h
//       ├ stats                     counters                tally.h
//       ├ fuel, budget, deadline    polling                 poll.h
//       ├ memory                    free lists and cache    memory/memory.h
//       ├ modules ── units          compiled code           bytecode/module.h
//       ├ jit                       machine code            native/jit.h
//       ├ pool                      worker threads          pool.h
//       └ handles, exports          values outside the VM   api/
//
// Few things belong to the process instead, such as the index of built-ins, the
// table of mapped files and the chosen kernels. So different VMs run in
// different threads; one VM is used by one thread at a time.
//
// This header is included nearly everywhere; what only one part needs is a
// pointer to a struct of that part.
#pragma once

#include "vm/builtin.h"
#include "vm/error.h"
#include "vm/pool.h"
#include "vm/string.h"

typedef struct tl_unit tl_unit;      // a compiled module's code (function.h)
typedef struct tl_module tl_module;  // its variables (module.h)
typedef struct tl_frame tl_frame;    // a call record (function.h)
struct tl_ins;                       // an instruction (function.h)
struct tl_memory;                    // free lists and the block cache
struct tl_handles;                   // values held by the host (handles.c)
struct tl_types;                     // interned types (type.c)
struct tl_watch;                     // what a run does with memory (watch.h)
struct tl_debug;                     // who follows a run (debug.h)
struct tl_nested_ops;                // objects.h
struct tl_host_ops;
typedef struct tl_observer tl_observer;  // who is told of that (events.h)

// Entries of tl_vm.global_modules, by which calls of global functions find
// their module.
enum { TL_GLOBAL_MODULES = 64 };

// What the compiler offers to the VM. The embedding layer hands it over, so
// that vm/ does not depend on compiler/.
typedef struct tl_compiler_hooks {
  // Compiles a module's text into a unit. Fails with kind syntax or name.
  tl_unit *(*compile)(tl_vm *vm, tl_module *module, const char *name,
                      const char *text, size_t nbytes, unsigned mode);
} tl_compiler_hooks;

// Lists that the functions of a host are spread over.
enum { TL_HOST_NAMES = 32 };

// What a hook of the host's may do while it runs. Values may be made and read
// in all but the innermost kind, since a release may run while an error
// unwinds.
typedef enum tl_access {
  TL_ACCESS_ALL,
  // No code runs and no variable changes.
  TL_ACCESS_VALUES,
  TL_ACCESS_NONE,
} tl_access;

// Memory of the host's that is not the process's (memory/devices.c).
typedef struct tl_device {
  char name[48];
  size_t limit;  // 0: none
  uint64_t bytes, peak;
} tl_device;

// What is alive of one type of resources on one device (0: the process), or
// what no type says (NULL): arrays over the host's memory, and what a library
// allocates for itself.
typedef struct tl_type_count {
  const tally_resource *type;
  size_t device;
  size_t alive;  // how many
  uint64_t nbytes;
  struct tl_type_count *next;
} tl_type_count;

// The pending error. The interpreter adds place and trace on the way out; a
// `catch` or the host takes it (tl_error_take, vm/api/report.c).
typedef struct tl_pending_error {
  bool set;
  tally_status status;
  // The kind's name of TALLY_ERR_USER, where a script named it; else "".
  char own_kind[64];
  // Owned, or the VM's own buffer when memory ran out.
  char *message;
  // Bytes of the allocation; 0: the VM's own buffer.
  size_t message_size;
  // What stands under the caret, the operands' types; owned or NULL.
  char *note;
  size_t note_size;
  tl_string *file;  // counted
  int line, column;
  // Lines of text, innermost first; NULL: none yet.
  tl_list *trace;
  // The function of the last line's call, and where in it the call is; how many
  // such calls that line stands for.
  const void *trace_of;
  uint32_t trace_pc;
  int64_t trace_times;  // how many such calls that line stands for
  char *excerpt;        // the source line and caret, owned or NULL
  size_t excerpt_size;
  // The error has its line and excerpt.
  bool placed;
  // Who catches it reads its kind and message at most: it has no place or
  // trace.
  bool is_text;
  // The message begins with the name of the function that it speaks of.
  bool named;
  // Where the message says "function: argument must be …": the value, to be
  // compared with arguments only, and the length of the argument's name.
  tl_slot refused;
  size_t refused_size;
  // That name is a parameter's, or it is known that there is none.
  bool refused_known;
  // The host's interrupt, budget or deadline, or the script's end: passes every
  // catch.
  bool is_final;
  int exit_status;  // of kind exit
  // The excerpt is the whole report of a compilation.
  bool compiled;
  // Operand types, "" if none. The last members: see tl_error_clear.
  char left[TL_DESCRIBE], right[TL_DESCRIBE];
} tl_pending_error;

// What happens to results and casts of integers that do not fit their dtype.
typedef enum tl_overflow {
  TL_OVERFLOW_UNSAID,    // results wrap, casts fail
  TL_OVERFLOW_WRAP,      // both wrap
  TL_OVERFLOW_ERROR,     // both fail (kind value), naming the first place
  TL_OVERFLOW_SATURATE,  // both become the end of the range
} tl_overflow;

// Something that the library keeps in the VM until that is closed, such as a
// compiled pattern.
struct tl_kept {
  void (*free)(tl_vm *vm, struct tl_kept *kept);
};

// One instruction that machine code does not do itself: [ins] of vm->frame,
// whose slots begin at [base] and whose pc is there. Never calls a script.
typedef enum tl_one {
  // Declined: nothing has happened, or of two instructions that were taken for
  // one the first was done, and the frame's pc is the second's.
  TL_ONE_LEFT,
  TL_ONE_FAILED,  // after tl_fail; the frame's pc is the instruction's
  TL_ONE_WENT,    // a region did it and more: the frame's pc is behind that
  TL_ONE_DONE,    // the slots are as behind it
  TL_ONE_JUMPS,   // done, and it is a jump that is taken
} tl_one;
typedef tl_one tl_one_fn(tl_vm *vm, tl_slot *base, const struct tl_ins *ins);

// The VM itself. Fields stand in groups, as the diagram above has them.
struct tally_vm {
  // What the host decided; a copy.
  tally_options options;
  // The tables through which lower layers reach higher ones (vm/api/open.c).
  const tl_compiler_hooks *compiler;
  const tl_library *library;
  const tl_observer *observer;
  const struct tl_array_ops *arrays;
  const struct tl_nested_ops *nested;
  const struct tl_fusion_ops *fusion;
  const struct tl_host_ops *host;
  tl_one_fn *one;  // the interpreter's (interp/one.c)

  // The slot stack, reserved at open and never moved, and the frame records
  // behind it (bytecode/slots.h). The ends are those of the part that has been
  // counted.
  tl_slot *stack, *stack_end;
  tl_frame *frames, *frames_end, *frame;
  // How deep calls into the VM from inside built-ins nest.
  int native_depth;
  // A call of the host's that runs no script is under way: its budget and
  // deadline have not begun, and do so at its first poll.
  bool outside;
  // The built-in under way has to give its first argument back as it was if it
  // fails.
  bool keeping;
  // The built-in under way is soon done, and is not to be stopped before.
  bool finishing;
  // What integers that do not fit are to become in the call under way
  // (tl_overflow), and whether its operands hold arrays inside.
  uint8_t overflow;
  bool overflow_inside;
  // How many of the host's hooks are running, and what the innermost may do.
  int host_depth;
  tl_access access;  // what the innermost may do

  char described[TL_DESCRIPTIONS][TL_DESCRIBE];  // of tl_described, in turn
  unsigned next_described;
  tl_pending_error error;
  // The record of a caught error on its way to the handler.
  tl_slot caught;
  tally_stats stats;
  // Whether the dispatch loop counts each instruction (tally --stats).
  bool counting;
  // Where it counts, it tells the observer of each instruction (events.h).
  bool timed;
  bool no_reuse;  // --no-reuse: nothing is written in place or fused
  // For tests: code runs as if the verifier had rejected all of it at first.
  bool conservative;
  // While counting, for tests: the operation that fails, counted from 1 among
  // those that can; 0: none.
  uint64_t fail_in;

  // Polling (poll.h): one counter for interrupt, deadline and budget.
  // [interrupted] has bits of mapping.h, set by other threads and signal
  // handlers.
  atomic_int interrupted;
  // The pending error says that a mapped file was lost; set until it unwinds.
  bool file_lost;
  uint64_t written;  // bytes of output in this call of the host
  // Instructions left beyond the fuel; UINT64_MAX: no limit.
  uint64_t budget;
  int64_t unpolled;  // items that were handled since the last tl_poll_items
  // Polls until the next look around; never below 1 while code runs.
  int32_t fuel;
  // More of it, set aside so that the next poll comes by where machine code is
  // entered (vm/native/jit.h).
  int32_t fuel_aside;
  // The array or text that grew last, maybe gone: compared, and never read. Of
  // a text, how many times it has.
  const tl_object *last_grown;
  int times_grown;
  // For tests: all but one poll is always set aside.
  bool every_poll;
  // In seconds of the host's clock; 0: none.
  double deadline;
  // Looks at flag and deadline so far: old cached memory goes back now and
  // then.
  uint32_t looks;

  // How much of the work under way is done, told by who knows its end, as a
  // file's size; [total] 0: nobody has since it was asked for.
  int64_t done, total;

  // Nests whose freeing was set aside, as somebody waits for control (value.h);
  // and the items freed since that was asked.
  tl_object *unfreed[TL_UNFREED];
  int unfreed_count;
  uint64_t freed;

  struct tl_memory *memory;
  // Cached graphs and plans of all fused regions, the newest first.
  struct tl_region_cached *regions;
  struct tl_region_cached *oldest_region;
  int region_count;
  const struct tl_piece_maker *pieces;  // of machine code, or NULL
  struct tl_jit *jit;      // machine code (vm/native/jit.h), or NULL
  tl_frame *native_end;    // the last record that may call; NULL: none runs
  tl_pool pool;            // threads for long work on arrays
  struct tl_watch *watch;  // NULL: nobody watches
  struct tl_debug *debug;  // NULL: nobody debugs (observe/debug.h)
  // A debugger's hook runs: the innermost script frame stands before its
  // instruction, and may borrow from what any variable has.
  bool paused;
  // Depth of records within each other that are becoming an array.
  int stacking;
  // Some code says #:inplace (observe/in_place_contract.h). The fields below
  // are of the operand whose memory could not be reused last.
  bool has_contracts;
  uint8_t refused_why;
  // The slot of a call's operand; UINT32_MAX: none.
  uint32_t refused_slot;
  tl_slot refused_operand;
  // The instruction with the contract; NULL: none.
  const struct tl_ins *refused_at;
  // What memory.growth() compares with: a record, or none.
  tl_slot grown;
  // What was recorded while somebody watched; freed with the VM.
  struct tl_watch *watched;
  // Values that the host holds (api/handles.c).
  struct tl_handles *handles;
  // Resources that say what they hold, the newest first (host.h).
  struct tl_resource *visiting;
  // Foreign memory by type and device. The list ends with what has no type, one
  // for each device.
  tl_type_count *type_counts;
  tl_type_count untyped[TALLY_MAX_DEVICES + 1];
  // Values that other libraries hold (api/exports.h).
  struct tl_export *exports;
  struct tl_host_function *host_functions;  // newest first (host.h)
  // The same by a hash of their names, so that one of thousands is found.
  struct tl_host_function *host_names[TL_HOST_NAMES];
  struct tl_host_module *host_modules;
  // The library's documentation, unpacked when first needed; or NULL.
  char *docs;
  // The last error as the host sees it (api/report.c).
  struct tl_report *report;
  char report_file[256];
  // What tally_type returned last: of nested arrays a string, of all others
  // here.
  tl_slot type_string;
  char type_text[2 * TL_DESCRIBE];
  struct tl_types *types;
  tl_module *main;  // the main module
  // All modules, linked, the newest first.
  tl_module *modules;
  // Where imports of global functions in Tally found their modules last, by the
  // address of what the import says (import.c).
  tl_module *global_modules[TL_GLOBAL_MODULES];
  size_t unit_count;  // of all modules
  // Units that were left when they were reclaimed last.
  size_t units_kept;
  // Reclaim as soon as only the top level runs.
  bool wants_reclaim;
  // Old values of module variables that calls under way may borrow
  // (bytecode/module.h); or NULL.
  tl_list *waiting;
  tl_slot args;             // os.args: a list
  struct tl_kept *pattern;  // regular expressions used lately, or NULL
  struct tl_input *input;   // read ahead of standard input, or NULL (io.h)
  uint64_t cleaned_folder;  // the inode of the folder saved to last (io.c)
  int width;                // columns that the prompt shows values in
  int decimals;             // at most, of the floats of an array there
  uint64_t seed;            // random.seed
  // Of tally_options.devices.
  tl_device devices[TALLY_MAX_DEVICES];
  bool fftw;  // fft.use("fftw")
};

// Calls a function of the library, one slot for each parameter, as
// tl_builtin_fn says: its types are read first.
static inline bool tl_builtin_run(tl_vm *vm, const tl_builtin *builtin,
                                  tl_slot *args, tl_slot *out) {
  return (builtin->types[0] == '\0' ||
          vm->library->read_arguments(vm, builtin, args)) &&
         builtin->call(vm, args, out);
}

// Polls for interrupt, deadline and budget after [work] units of 1,024 elements
// or iterations. False after tl_fail (kind interrupt or limit). Built-ins with
// long loops call it once per block.
bool tl_poll(tl_vm *vm, uint64_t work);
// The same, and says how much of a long operation is done, for
// tally_ask_progress.
bool tl_poll_part(tl_vm *vm, uint64_t work, int64_t done, int64_t total);
// Whether casts take what does not fit, too: the kernels then wrap or saturate.
static inline bool tl_casts_freely(const tl_vm *vm) {
  return vm->overflow == TL_OVERFLOW_WRAP ||
         vm->overflow == TL_OVERFLOW_SATURATE;
}

// All that counts against a limit: the host's memory in use, too.
static inline uint64_t tl_live_now(const tl_vm *vm) {
  return vm->stats.live_bytes + vm->stats.ext_bytes;
}

// Says that so many items were handled, in some nanoseconds each: polls once
// 65,536 have come together, whoever handled them. A pass that is too short for
// a poll of its own so brings the next one nearer. False after tl_fail; without
// a VM, on a worker, nothing is asked.
bool tl_poll_gathered(tl_vm *vm);
static inline bool tl_poll_items(tl_vm *vm, int64_t items) {
  return vm == NULL || (vm->unpolled += items) < 1 << 16 ||
         tl_poll_gathered(vm);
}

// The same for a text of so many bytes that is compared: of short ones a loop's
// own polls are enough, of long ones each may take as long as all others.
static inline bool tl_poll_text(tl_vm *vm, size_t nbytes) {
  return nbytes < TL_LONG_TEXT || tl_poll_items(vm, (int64_t)(nbytes / 32));
}

// As tl_poll in a loop whose iterations [i] counts from 0: once in 4,096.
static inline bool tl_poll_at(tl_vm *vm, int64_t i) {
  return (i & 0xfff) != 0xfff || tl_poll(vm, 4);
}

// The same as the condition of a loop that ends where *ok is false, too: it
// becomes so after tl_fail.
static inline bool tl_poll_ok(tl_vm *vm, int64_t i, bool *ok) {
  *ok = *ok && tl_poll_at(vm, i);
  return *ok;
}

// For loops over [n] items of a few nanoseconds each that nothing else stops:
// sets *end to where the piece that begins at [at] ends, and polls before all
// but the first. False after tl_fail.
//
//     for (size_t at = 0, end = 0; at < n; at = end) {
//       if (!tl_poll_piece(vm, at, n, &end))
//         return false;
static inline bool tl_poll_piece(tl_vm *vm, size_t at, size_t n, size_t *end) {
  enum { PIECE = 1 << 16 };
  *end = n - at < PIECE ? n : at + PIECE;
  return at == 0 || tl_poll(vm, PIECE / 1024);
}

// As memcpy, which a gigabyte keeps for half a second: polls between pieces,
// and counts no work. False after tl_fail.
enum { TL_COPY_PIECE = 1 << 20 };
bool tl_move_pieces(tl_vm *vm, void *to, const void *from, size_t nbytes,
                    bool over);
static inline bool tl_copy_bytes(tl_vm *vm, void *to, const void *from,
                                 size_t nbytes) {
  if (nbytes > TL_COPY_PIECE)
    return tl_move_pieces(vm, to, from, nbytes, false);
  if (nbytes > 0)
    memcpy(to, from, nbytes);
  return true;
}
// As tl_poll(vm, 0) within a pass over memory whose items were seen by the
// script: stops it halfway only where nobody will see that, since the run ends
// and nothing is put back.
bool tl_poll_over(tl_vm *vm);
// As memmove and memset, of items that the script may have seen: polls by
// tl_poll_over.
static inline bool tl_move_bytes(tl_vm *vm, void *to, const void *from,
                                 size_t nbytes) {
  return tl_move_pieces(vm, to, from, nbytes, true);
}
bool tl_fill_bytes(tl_vm *vm, char *to, int byte, size_t nbytes);

// Whether somebody waits for control: an interrupt or the deadline has come, or
// the error that says so is pending.
bool tl_is_awaited(tl_vm *vm);

// Fails (kind io) where the host has not given the VM a capability
// (TALLY_MAY_…); [what] names the function for the message.
bool tl_require(tl_vm *vm, unsigned capability, const char *what);

// Whether the host's limit allows so many more bytes of output, which then
// count. False after tl_fail (kind limit), past every catch.
bool tl_output_counts(tl_vm *vm, size_t nbytes);

// Sends text to the write hook, if the limit allows. False after tl_fail (kind
// io), which says that [what] was refused.
bool tl_write_for(tl_vm *vm, const char *what, const char *text, size_t nbytes);
// The same in the name of print.
bool tl_write(tl_vm *vm, const char *text, size_t nbytes);  // for print
