// How the library's functions look to the VM and the compiler.
//
// A function is a row of a table: name, parameters as the language writes them,
// C function, flags, documentation.
//
//     {"sum", "x, axis: none, keepdims: false", sum, TL_PURE | …, TL_DOC("…")}
//
//     stdlib/*.c    rows, in families ──▶ tl_library ──▶ vm->library
//     compiler      tl_builtin_find       CALLB with all parameters, given or
//                                         not
//     interpreter   run_builtin (call.c)  converts, checks, calls, drops
//
// The flags say what the VM may do with the function beyond calling it: borrow
// the result from an argument, apply it to each row of ragged rows, compute it
// in a fused region. A function that sets none is called with plain arguments
// and owns its result.
#ifndef TALLY_VM_BUILTIN_H
#define TALLY_VM_BUILTIN_H

#include <stdatomic.h>

#include "vm/value.h"

// Computes a built-in. [args] has one slot for each parameter, in order:
// defaults are filled in, `...rest` is a list. On success *out holds the
// result: owned, a scalar, or an immortal. False after tl_fail; nobody looks at
// *out then, so the function has released what it made.
//
// Arguments: a slot with its OWNED bit set ends here. The function may take
// what it owns (tl_take, or reuse in place where tl_is_unique), and must then
// leave the slot without the bit; the VM drops whatever still owns after the
// call, on success and on failure. A borrowed argument may not be stored
// without tl_take, which then retains. A result that is a view of a borrowed
// argument may be returned as it is: the VM makes it count its block.
//
// With TL_RETURNS the first argument itself may be the result, by tl_pass_on:
// owned if it was, else still borrowed. With TL_KEEPS a function that fails
// puts what it took from its first argument back, by tl_put_back, with the
// value it had.
typedef bool tl_builtin_fn(tl_vm *vm, tl_slot *args, tl_slot *out);

enum {  // tl_builtin.flags
  // Nothing but its result.
  TL_PURE = 0,
  // Worth calling for what it does: print, write_text …
  TL_EFFECT = 1,
  // Calls functions that it is given (each, fold …).
  TL_CALLS = 2,
  // Capabilities of the host that it needs.
  TL_FILES = 4,
  TL_CLOCK = 8,
  TL_ENVIRONMENT = 16,
  // No function: its name stands for its result, as os.args does.
  TL_VALUE = 32,
  // A host's function: tl_host_call runs it (vm/api/host.h).
  TL_HOST = 64,
  // Where it fails it has taken nothing: its first argument can be given back
  // to its slot.
  TL_KEEPS = 128,
  // The result may be a view of the first argument, and of no other.
  TL_VIEWS = 256,
  // The result may be the first argument itself, by tl_pass_on.
  TL_RETURNS = 512,
  // The result may be a list that borrows items of the first argument
  // (value.c).
  TL_LISTS = 131072,
  TL_MAY_BORROW = TL_VIEWS | TL_RETURNS | TL_LISTS,
  // Works on each item of its first argument by itself.
  TL_OF_ITEMS = 1024,
  // Takes a string first; it is applied to arrays of strings, too.
  TL_OF_TEXT = 2048,
  // Moves the items of its first argument without looking at them.
  TL_MOVES = 4096,
  // A region of large arrays may begin with its call.
  TL_BEGINS = 16384,
  // Works on each row of its first argument by itself.
  TL_OF_ROWS = 32768,
  // With TL_OF_ROWS: of rows of rows it takes the innermost.
  TL_INNERMOST = 262144,
  // Works along an axis; of ragged rows it is called for each row.
  TL_EACH_ROW = 524288,
  // Of values that may be missing it works on the values, and on the mask
  // alike.
  TL_OF_MASKS = 1048576,
  // Takes rows in a grid as they are. Others, except those applied to items or
  // rows, get rows of rows.
  TL_GRIDS = 65536,
  // The result is a list of two.
  TL_PAIR = 2097152,
  // With TL_KEEPS: the first item of the list that it takes may be continued
  // with the others'. Where it fails, that item is still in the list, as it
  // was.
  TL_GOES_ON = 4194304,
  // With TL_KEEPS: an interrupt may leave its argument half changed, so where
  // that would be seen a large one is only borrowed.
  TL_STOPS = 8388608,
  // With TL_KEEPS: takes arrays alone and converts anything else, so that
  // anything else is only borrowed.
  TL_ARRAYS = 67108864,
  // Strings are items like others to it, neither read as text nor made: so it
  // takes bytes, too.
  TL_OF_BYTES = 16777216,
  // It leaves the items of a list or a record as they are, and does not look at
  // them.
  TL_HOLDS = 33554432,
  // Takes categorical arrays as they are; others get their values.
  TL_ANY_FORM = 8192,
};

// How a fused region computes a call of the function: in the top bits of the
// flags, so that neither the VM nor the compiler needs to know any function by
// name.
typedef enum tl_fused_kind {
  TL_FUSED_NOT,
  // A reduction of its first argument, by tl_reduce.
  TL_FUSED_REDUCTION,
  // A running fold of its first argument, by tl_cumulative.
  TL_FUSED_SCAN,
  // A fold of |x|^p, and a root of that.
  TL_FUSED_NORM,
  // It consumes the items as they are computed (tl_intake).
  TL_FUSED_CONSUMER,
  // astype: a cast to the dtype that is the second argument.
  TL_FUSED_CAST,
  // Casts to a fixed dtype: int64, float64, bool.
  TL_FUSED_TO_INT,
  TL_FUSED_TO_FLOAT,
  TL_FUSED_TO_BOOL,
  TL_FUSED_CLIP,
  // The first argument, wrapped around along some axes.
  TL_FUSED_ROLL,
} tl_fused_kind;
#define TL_FUSED(kind) ((unsigned)TL_FUSED_##kind << 28)

// A function of the library, or of a host.
typedef struct tl_builtin {
  const char *name;
  const char *params;  // "x, axis: none, keepdims: false": as in the language
  tl_builtin_fn *call;
  unsigned flags;
  const char *doc;  // of the library: TL_DOC. First line a sentence; examples
                    // indented by four
} tl_builtin;

// The documentation of a row of the library: not in the row, where it would
// lie unpacked in every host, but with all others (embedded.h); tools/docs_of
// finds it between the two names.
#ifdef TL_DOCS_ALONE
#define TL_DOC(...) TL_DOC_BEGINS __VA_ARGS__ TL_DOC_ENDS
#else
#define TL_DOC(...) NULL
#endif

// A module's functions; module NULL: those that need no import. Tables end with
// a row whose name is NULL.
typedef struct tl_family {
  const char *module;
  const tl_builtin *rows;
  const char *topic;  // under which `tally doc` lists them
} tl_family;

// The topic under which `tally doc` lists what a module has in Tally.
typedef struct tl_module_topic {
  const char *module;  // as in struct tl_embedded: "global/sets", "stats"
  const char *topic;
} tl_module_topic;

// A named constant of the library.
typedef struct tl_constant {
  const char *module;  // NULL: everywhere
  const char *name;    // pi e inf nan newaxis, dtypes are separate
  double value;
  const char *doc;
  bool is_none;  // none instead of the value
} tl_constant;

// --- Signatures -------------------------------------------------------------

enum { TL_MAX_PARAMS = 16 };

// How a parameter is given in a call.
typedef enum tl_param_kind {
  TL_PARAM_REQUIRED,
  // It has a default, and may be given by position or by name.
  TL_PARAM_OPTIONAL,
  // ...rest: all further arguments by position, as a list.
  TL_PARAM_REST,
  // By name only.
  TL_PARAM_NAMED,
} tl_param_kind;

// A parameter, parsed from the text of a row.
typedef struct tl_param {
  const char *name;  // into the params text, name_length bytes
  size_t name_length;
  tl_param_kind kind;
  tl_slot value;  // the default: none, bool, weak number; a string default
                  // is given as none and documented
} tl_param;

// Parses a params text into [out] and returns the number of parameters. Always
// succeeds for the library's own texts, which a unit test checks.
//
//     "x, n = 1, axis: none, ...rest"
//      required, optional (default 1), by name only, rest
int tl_params_parse(const char *params, tl_param out[TL_MAX_PARAMS]);

// What a function takes, for errors: "2 arguments by position (x, axis), others
// by name (keepdims)".
enum { TL_PARAMS_TEXT = 400 };
// Writes what a function takes, for errors: "2 arguments by position (x, axis),
// others by name (keepdims)".
void tl_params_spell(const tl_param *params, int count,
                     char out[TL_PARAMS_TEXT]);

// --- In fused regions (vm/region) ------------------------------------------

// How a region computes a call of the function.
static inline tl_fused_kind tl_builtin_fused(const tl_builtin *builtin) {
  return (tl_fused_kind)(builtin->flags >> 28);
}

// A reduction's arguments once parsed; see tl_reduce.
typedef struct tl_fold_call {
  int reduction;  // tl_reduction
  uint32_t axes;
  bool keepdims;
  tl_dtype dtype;
  double parameter;
} tl_fold_call;

// A running fold's arguments once parsed; see tl_cumulative.
typedef struct tl_scan_call {
  int reduction;  // tl_reduction
  int axis;
  bool initial;
  tl_dtype dtype;
} tl_scan_call;

// A call that consumes the items of its first argument as they are computed:
// all of them in order, [passes] times.
//
//     feed(pass 0) … feed(pass 0), end(0), feed(pass 1) … end(1), close
typedef struct tl_intake {
  tl_vm *vm;
  tl_dtype dtype;  // of the items fed
  int passes;
  bool failed;  // set by feed: the call itself says why
  void (*feed)(struct tl_intake *in, int pass, const void *items, size_t n);
  // After each pass; the last one sets *out, which is owned. False: the call
  // itself says why.
  bool (*end)(struct tl_intake *in, int pass, tl_slot *out);
  void (*close)(struct tl_intake *in);  // always, at last
  _Alignas(16) unsigned char room[96];  // the function's own
} tl_intake;

// How a library reads the arguments of calls that a region computes. Each
// function is for calls of one kind, and reads all arguments but the first,
// which has [ndim] axes. False: the region cannot compute this call, which then
// runs by itself; an error may be pending.
typedef struct tl_fused_calls {
  bool (*reduction)(tl_vm *vm, const tl_builtin *builtin, int ndim,
                    const tl_slot *args, tl_fold_call *out);
  bool (*scan)(tl_vm *vm, const tl_builtin *builtin, int ndim,
               const tl_slot *args, tl_scan_call *out);
  // The fold of a norm; *p is its power.
  bool (*norm)(tl_vm *vm, const tl_builtin *builtin, int ndim,
               const tl_slot *args, tl_fold_call *out, double *p);
  // Of items of dtype [from]. On failure nothing is open.
  bool (*consumer)(tl_vm *vm, const tl_builtin *builtin, tl_dtype from,
                   int ndim, const tl_slot *args, tl_intake *out);
  // Item i along an axis goes to i + shift, and from the axis's length on
  // round to its start. False also where the shift is not along axes.
  bool (*roll)(tl_vm *vm, int ndim, const int64_t *lengths, const tl_slot *args,
               int64_t *shift);
} tl_fused_calls;

// --- The library ------------------------------------------------------------

// All that scripts can call without a host's help. Whoever opens a VM hands one
// over (vm->library), so that the VM and the compiler know no function by its
// symbol.
typedef struct tl_library {
  const tl_family *families;      // ends with rows NULL
  const tl_constant *constants;   // ends with name NULL
  const tl_module_topic *topics;  // ends with module NULL
  const tl_fused_calls *fused;
  struct tl_builtin_index *index;  // of all rows by name; made when first asked
  const struct tl_embedded_library *embedded;  // what is in Tally (embedded.h)
} tl_library;

// An open hash table over all rows, four times as large as it needs to be. It
// is shared by all VMs of a process: whoever comes first fills it, and who
// comes meanwhile searches the rows one by one and need not wait.
enum { TL_BUILTIN_INDEX = 2048 };
// All rows by name: a hash table with open addressing, four times as large as
// it needs to be. All VMs of a process share it: the first to ask fills it, and
// others search the rows one by one meanwhile, without waiting.
typedef struct tl_builtin_index {
  atomic_int state;
  struct {
    const char *module;
    const tl_builtin *row;
  } entries[TL_BUILTIN_INDEX];
} tl_builtin_index;

// Finds a function of the library; module NULL for the global ones. NULL: there
// is none.
const tl_builtin *tl_builtin_find(const tl_library *library, const char *module,
                                  const char *name, size_t nbytes);
// The module that the function belongs to; NULL for those without an import.
const char *tl_builtin_module(const tl_library *library,
                              const tl_builtin *builtin);

// The function as a value, which is immortal.
static inline tl_slot tl_builtin_slot(const tl_builtin *builtin) {
  return (tl_slot){.tag = TL_TAG_BUILTIN, .pointer = (void *)builtin};
}

// Calls any function value with [count] arguments by position: for fold, each,
// sort by key … Takes what args own, on failure too; *out is owned. On failure
// *out is none, even where an interrupt, a deadline or a budget came after the
// function had given a result: that has been dropped, and the caller has
// nothing to release.
bool tl_call(tl_vm *vm, tl_slot function, int count, tl_slot *args,
             tl_slot *out);

#endif
