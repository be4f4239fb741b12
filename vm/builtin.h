// How the library's functions look to the VM and the compiler.
//
// A function is a row of a table: name, parameters as the language writes them,
// C function, flags and traits. The `///` lines above it are its documentation,
// as `##` lines are that of a function in Tally: the first one is a sentence,
// examples are indented by four. It is no part of the row, where it would lie
// unpacked in every host: tools/embed packs it with all others (embedded.h).
//
//     /// How many items x has.
//     ///     len([1, 2])    # 2
//     {"len", "x", len},
//     {"seed", "n", seed, TL_EFFECT},
//     {"upper", "s", upper, .lifts = TL_OF_TEXT},
//
//     stdlib/*.c    rows, in families ──▶ tl_library ──▶ vm->library
//     compiler      tl_builtin_find       CALLB with all parameters, given or
//                                         not
//     interpreter   run_builtin (call.c)  converts, checks, calls, drops
//
// The traits say what the VM may do with the function beyond calling it: borrow
// the result from an argument, apply it to each row of ragged rows, compute it
// in a fused region. Each has one value, and a row writes those that are not
// the plain case: a function without any is called with plain arguments and
// owns its result. What the VM asks of them has a name: tl_builtin_moves, …
#pragma once

#include <stdatomic.h>

#include "tally.h"
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
// owned if it was, else still borrowed. A function that restores (tl_restores)
// puts what it took from its first argument back where it fails, by
// tl_put_back, with the value it had.
typedef bool tl_builtin_fn(tl_vm *vm, tl_slot *args, tl_slot *out);

// A shorter way to the same result, which a call of a row that has one tries
// first: for arguments with which nothing can fail, nothing but the result is
// allocated and nothing is left to drop. False: it is not so, or there is no
// memory, and nothing has happened. What it takes from an argument it takes as
// a tl_builtin_fn does. *out is owned, a scalar or an immortal, or with
// TL_RETURNS the argument; of a function of TL_PAIR the two are written to
// out[0] and out[1], which may be the arguments' own slots, and no list is
// made.
typedef bool tl_builtin_at_once(tl_vm *vm, tl_slot *args, tl_slot *out);

enum {  // tl_builtin.flags
  // Capabilities of the host that it needs.
  TL_FILES = TALLY_MAY_FILES,
  TL_CLOCK = TALLY_MAY_CLOCK,
  TL_ENVIRONMENT = TALLY_MAY_ENVIRONMENT,
  // Worth calling for what it does: print, write_text …
  TL_EFFECT = 8,
  // Calls functions that it is given (each, fold …).
  TL_CALLS = 16,
  // An interrupt may leave the argument that it restores half changed, so where
  // that would be seen a large one is only borrowed.
  TL_STOPS = 32,
  // Takes rows in a grid as they are. Others, except those applied to items or
  // rows, get rows of rows.
  TL_GRIDS = 64,
};

// What the result may be to the first argument; to others it is nothing.
typedef enum tl_result_trait {
  // New: owned, a scalar or an immortal.
  TL_NEW,
  // The same, and a list of two.
  TL_PAIR,
  // Perhaps a view of it. From here on it may borrow.
  TL_VIEWS,
  // Perhaps the argument itself, by tl_pass_on.
  TL_RETURNS,
  // Perhaps a list that borrows its items (value.c).
  TL_LISTS,
} tl_result_trait;

// What of the first argument can be given back to its slot after a failure.
typedef enum tl_restores {
  TL_NOTHING,
  // Whatever it is: where the function fails it has taken nothing.
  TL_ALL,
  // The same; and the first item of the list that it is may be continued with
  // the others'. Where that fails, the item is still in the list, as it was.
  TL_FIRST_ITEM,
  // Arrays alone. Anything else is converted, so that it is only borrowed.
  TL_ARRAYS,
} tl_restores;

// How it is applied to a first argument that holds more than a plain array
// does: rows, missing values, many strings (vm/nested/lift.h).
typedef enum tl_lifts {
  // Not at all: it gets the argument as it is.
  TL_NOT_LIFTED,
  // Of values that may be missing it works on the values, and on the mask
  // alike; it gives an array of one axis or more.
  TL_OF_MASKS,
  // It works on each item by itself.
  TL_OF_ITEMS,
  // It takes a string; it is applied to arrays of strings, too.
  TL_OF_TEXT,
  // It works on each row by itself, and knows ragged rows.
  TL_OF_ROWS,
  // The same; of rows of rows it takes the innermost.
  TL_INNERMOST,
  // It works along an axis; of ragged rows it is called for each row.
  TL_EACH_ROW,
  // It moves the items without looking at them.
  TL_MOVES,
  // The same; within a grid's rows it works on each row by itself.
  TL_MOVES_ROWS,
  // The same; of ragged rows it is called for each row.
  TL_MOVES_EACH_ROW,
} tl_lifts;

// Which values it takes as they are, besides plain arrays, text and containers
// of those. What only moves items takes bytes in any case.
typedef enum tl_takes {
  TL_TAKES_PLAIN,
  // Categorical arrays, pointers, bytes: whatever there is. Others get the
  // values.
  TL_FORMS,
  // Bytes, too: strings are items like others to it, neither read as text nor
  // made.
  TL_BYTES,
  // The same; it leaves the items of a list or a record as they are, and does
  // not look at them. Nor does it look at what it puts there: values of all
  // forms stay what they are.
  TL_CONTAINERS,
} tl_takes;

// How a fused region computes a call of the function, so that neither the VM
// nor the compiler needs to know any function by name.
typedef enum tl_fused_kind {
  TL_FUSED_NOT,
  // A reduction of its first argument, by tl_reduce.
  TL_FUSED_REDUCTION,
  // A running fold of its first argument, by tl_cumulative.
  TL_FUSED_SCAN,
  // A fold of |x|^p, and a root of that.
  TL_FUSED_NORM,
  // It consumes the items as they are computed (tl_call_consumer).
  TL_FUSED_CONSUMER,
  // From here on the call gives items, as an operation does, so a region may
  // begin with it. astype: a cast to the dtype that is the second argument.
  TL_FUSED_CAST,
  // Casts to a fixed dtype: int64, float64, bool.
  TL_FUSED_TO_INT,
  TL_FUSED_TO_FLOAT,
  TL_FUSED_TO_BOOL,
  TL_FUSED_CLIP,
  // The first argument, wrapped around along some axes.
  TL_FUSED_ROLL,
  // The length of the first argument, which the region asks itself.
  TL_FUSED_LENGTH,
} tl_fused_kind;

// A function of the library, or of a host.
typedef struct tl_builtin {
  const char *name;
  // "x, axis: none, keepdims: false": as in the language. NULL: it is no
  // function, its name stands for its result, as os.args does.
  const char *params;
  // NULL: the host's; tl_host_call runs it (vm/api/host.h).
  tl_builtin_fn *call;
  unsigned flags;  // TL_EFFECT …
  tl_result_trait result;
  tl_restores restores;
  tl_lifts lifts;
  tl_takes takes;
  tl_fused_kind fused;
  // What its parameters take, a letter for each: the library checks that, and
  // converts the argument in its slot, before the function is called.
  //
  //     s  a string        i  an integer    n  an integer from 0 on
  //     b  a bool          d  a dtype       f  a real number, made a float64
  //     p  a file's path, or a standard stream (tl_file_path)
  //     a  an array, or what becomes one (tl_arg_array)
  //     m  the same of numbers or bools     t  the same, or a string
  //     v  the same, or a nested array      w  the same of numbers or bools
  //     x  what has items (tl_arg_items)    l  the same, or a list
  //     y  the same, or a string            g  rows (tl_arg_ragged)
  //     @  what messages call the argument before it
  //
  // A capital letter takes none, too. '.' and parameters without a letter take
  // anything.
  char types[8];
  // What a loop with a name for each item of its rows calls instead, with the
  // same arguments, so that no row is made: it fails as this one does, and
  // returns the first items as a range. The others are those of its first
  // argument. Of a function of ...rest alone the items are those of its
  // arguments, and nobody looks at the result. NULL: rows are made.
  //
  //     for i, x in enumerate(xs, 1) { … }    1..len(xs) + 1, xs
  //     for x, y in zip(xs, ys) { … }         xs, ys
  const struct tl_builtin *walk;
  // What is called instead where the only argument is a list or an array of two
  // to TL_FEW items that are written there: with these, none for those that are
  // left, and their number, below 0 for an array. So no list is made of
  // numbers. NULL: it gets the list.
  //
  //     max((x, y, z))    called with x, y, z, none, 3
  const struct tl_builtin *of_few;
  tl_builtin_at_once *at_once;  // NULL: there is no shorter way
  const char *doc;              // of a host's
} tl_builtin;

enum { TL_FEW = 4 };

// Whether a host runs it; else it is the library's, and has a C function.
static inline bool tl_builtin_is_host(const tl_builtin *builtin) {
  return builtin->call == NULL;
}

// Whether its name stands for its result.
static inline bool tl_builtin_is_value(const tl_builtin *builtin) {
  return builtin->params == NULL;
}

// Whether a call may run scripts, so that any variable may have changed.
static inline bool tl_builtin_calls(const tl_builtin *builtin) {
  return (builtin->flags & TL_CALLS) != 0;
}

// Whether the result may borrow from the first argument.
static inline bool tl_builtin_may_borrow(const tl_builtin *builtin) {
  return builtin->result >= TL_VIEWS;
}

// Whether a call that fails can give its first argument back.
static inline bool tl_builtin_restores(const tl_builtin *builtin) {
  return builtin->restores != TL_NOTHING;
}

// Whether it moves items without looking at them.
static inline bool tl_builtin_moves(const tl_builtin *builtin) {
  return builtin->lifts >= TL_MOVES;
}

// Whether it is a fold, a running one or a norm, of which a region computes
// several at a time.
static inline bool tl_builtin_folds(const tl_builtin *builtin) {
  return builtin->fused != TL_FUSED_NOT && builtin->fused < TL_FUSED_CONSUMER;
}

// Whether it is a reduction by one of the methods of consumers.
static inline bool tl_builtin_reduces(const tl_builtin *builtin) {
  return builtin->fused == TL_FUSED_REDUCTION;
}

// Whether a region of large arrays may begin with its call.
static inline bool tl_builtin_begins(const tl_builtin *builtin) {
  return builtin->fused >= TL_FUSED_CAST;
}

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

// A mask of 32 bits has a bit for each argument (call.c), and calls have an
// array of this length on the C stack.
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
  uint32_t name_length;
  tl_param_kind kind;
  tl_slot value;  // the default: none, bool, weak number; a string default
                  // is given as none and documented
} tl_param;

// Parses a params text into [out] and returns the number of parameters; NULL
// has none. Always succeeds for the library's own texts, which a unit test
// checks.
//
//     "x, n = 1, axis: none, ...rest"
//      required, optional (default 1), by name only, rest
int tl_params_parse(const char *params, tl_param out[TL_MAX_PARAMS]);

enum { TL_PARAMS_TEXT = 400 };
// Writes what a function takes, for errors: "2 arguments by position (x, axis),
// others by name (keepdims)".
void tl_params_spell(const tl_param *params, int count,
                     char out[TL_PARAMS_TEXT]);

// --- In fused regions (vm/region) ------------------------------------------

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
typedef struct tl_call_consumer {
  tl_vm *vm;
  tl_dtype dtype;  // of the items fed
  int passes;
  bool failed;  // set by feed: the call itself says why
  void (*feed)(struct tl_call_consumer *in, int pass, const void *items,
               size_t n);
  // After each pass; the last one sets *out, which is owned. False: the call
  // itself says why.
  bool (*end)(struct tl_call_consumer *in, int pass, tl_slot *out);
  void (*close)(struct tl_call_consumer *in);  // always, at last
  _Alignas(16) unsigned char room[96];         // the function's own
} tl_call_consumer;

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
                   int ndim, const tl_slot *args, tl_call_consumer *out);
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
  // Checks and converts the arguments of a row with types; false after tl_fail.
  bool (*read_arguments)(tl_vm *vm, const tl_builtin *builtin, tl_slot *args);
  struct tl_builtin_index *index;  // of all rows by name; made when first asked
  const struct tl_embedded_library *embedded;  // what is in Tally (embedded.h)
  // Whether a prompt draws the value, as the library's module "plot" does.
  bool (*is_picture)(tl_slot value);
} tl_library;

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
