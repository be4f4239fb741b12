// How the library's functions look to the VM and the compiler.
#ifndef TALLY_VM_BUILTIN_H
#define TALLY_VM_BUILTIN_H

#include "vm/value.h"

// Computes a built-in. [args] has one slot for each parameter, in order:
// defaults are filled in, `...rest` is a list. On success *out holds the
// result: owned, a scalar, or an immortal; false after tl_fail.
//
// Arguments: a slot with its OWNED bit set is dying here. The function may
// take what it owns (tl_take, or reuse in place where tl_is_unique) and must
// then leave the slot without the bit; the VM drops whatever still owns after
// the call, on success and on failure. A borrowed argument may not be kept
// without tl_take, which then retains. A result that is a view of a borrowed
// argument may be returned as it is: the VM makes it hold its block. With
// TL_RETURNS the first argument itself may be the result, by tl_pass_on: owned
// if it was, else borrowed still. With TL_KEEPS a function that fails puts what
// it took from its first argument back, by tl_put_back, with the value it had.
typedef bool tl_builtin_fn(tl_vm *vm, tl_slot *args, tl_slot *out);

enum {  // tl_builtin.flags
  TL_PURE = 0,
  TL_EFFECT = 1,  // worth calling for what it does: print, write_text …
  TL_CALLS = 2,   // calls functions it is given (each, fold …)
  TL_FILES = 4,   // capabilities it needs
  TL_CLOCK = 8,
  TL_ENVIRONMENT = 16,
  TL_VALUE = 32,     // no function: its name stands for its result (os.args)
  TL_HOST = 64,      // a host's: tl_host_call runs it (host.h)
  TL_KEEPS = 128,    // where it fails, it has taken nothing: its first argument
                     // can be given back to its slot
  TL_VIEWS = 256,    // the result may be a view of the first argument alone
  TL_RETURNS = 512,  // the result may be the first argument itself: tl_pass_on
  TL_LISTS = 131072,  // the result may be a list that borrows items of the
                      // first argument (lend.c)
  TL_MAY_BORROW = TL_VIEWS | TL_RETURNS | TL_LISTS,
  // What else it is applied to, and how (lift.h):
  TL_OF_ITEMS = 1024,     // works on each item of its first argument by itself
  TL_OF_TEXT = 2048,      // takes a string first: also arrays of strings
  TL_MOVES = 4096,        // moves the items of its first argument
  TL_BEGINS = 16384,      // a region of large arrays may begin with its call
  TL_OF_ROWS = 32768,     // works on each row of its first argument by itself
  TL_INNERMOST = 262144,  // with TL_OF_ROWS: of rows of rows the innermost
  TL_EACH_ROW = 524288,   // along an axis: called for each row of ragged ones
  TL_OF_MASKS = 1048576,  // what may be missing: the values, and the mask alike
  TL_GRIDS = 65536,       // takes rows in a grid as they are; else, and but for
                          // the functions above, it gets rows of rows
  TL_PAIR = 2097152,      // the result is a list of two
  TL_GOES_ON = 4194304,   // with TL_KEEPS: the first item of the list that it
                          // takes may go on with the others'; where it fails,
                          // that is still in the list, as it was
  TL_STOPS = 8388608,  // with TL_KEEPS: an interrupt may leave that half done,
                       // so where it would be seen a large one is only lent
  TL_ARRAYS = 67108864,    // with TL_KEEPS: takes arrays alone, what else it is
                           // given it converts, so that is only lent
  TL_OF_BYTES = 16777216,  // strings are items like others to it, neither read
                           // as text nor made: so bytes are (octets.h)
  TL_HOLDS = 33554432,     // what a list or a record holds it leaves as it is,
                           // and does not look at
  TL_ANY_FORM = 8192,      // takes categorical arrays as they are; else it gets
                           // their values
};

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

// A module's functions: module NULL for what is there without an import.
// Tables end with a row whose name is NULL.
typedef struct tl_family {
  const char *module;
  const tl_builtin *rows;
} tl_family;

// All families (stdlib/library.c); ends with rows NULL.
extern const tl_family tl_library[];

typedef struct tl_constant {
  const char *module;  // NULL: everywhere
  const char *name;    // pi e inf nan newaxis, dtypes are separate
  double value;
  const char *doc;
  bool is_none;  // none instead of the value
} tl_constant;
extern const tl_constant tl_constants[];  // ends with name NULL

// --- Signatures -------------------------------------------------------------

enum { TL_MAX_PARAMS = 16 };

typedef enum tl_param_kind {
  TL_PARAM_REQUIRED,
  TL_PARAM_OPTIONAL,  // has a default, may be given by position or name
  TL_PARAM_REST,      // ...rest
  TL_PARAM_NAMED,     // by name only
} tl_param_kind;

typedef struct tl_param {
  const char *name;  // into the params text, name_length bytes
  size_t name_length;
  tl_param_kind kind;
  tl_slot value;  // the default: none, bool, weak number; a string default
                  // is given as none and documented
} tl_param;

// Parses a params text; always succeeds for the library's own (a unit test
// checks them all). Returns the number of parameters.
int tl_params_parse(const char *params, tl_param out[TL_MAX_PARAMS]);

// What a function takes, for errors: "2 arguments by position (x, axis), others
// by name (keepdims)".
enum { TL_PARAMS_TEXT = 400 };
void tl_params_spell(const tl_param *params, int count,
                     char out[TL_PARAMS_TEXT]);

// Finds a function; module NULL for the global ones. NULL: there is none.
const tl_builtin *tl_builtin_find(const char *module, const char *name,
                                  size_t nbytes);
// The module that it is of; NULL for what is there without an import.
const char *tl_builtin_module(const tl_builtin *builtin);

// --- In regions (region.h) ---------------------------------------------------

// What a call of a reduction asks for; see tl_reduce.
typedef struct tl_fold_call {
  int reduction;  // tl_reduction
  uint32_t axes;
  bool keepdims;
  tl_dtype dtype;
  double parameter;
} tl_fold_call;

// Whether a function is a reduction of its first argument by tl_reduce, so that
// a region may feed it (stdlib/reduce.c).
bool tl_builtin_is_fold(const tl_builtin *builtin);
// Whether it is astype: its first argument as the dtype that is its second.
bool tl_builtin_is_cast(const tl_builtin *builtin);  // stdlib/dtype.c
// The dtype that int, float and bool convert to; TL_DTYPE_COUNT: another.
tl_dtype tl_builtin_converts(const tl_builtin *builtin);  // stdlib/value.c
bool tl_builtin_is_clip(const tl_builtin *builtin);  // stdlib/elementwise.c
// Whether it is a running fold of its first argument, by tl_cumulative.
bool tl_builtin_is_scan(const tl_builtin *builtin);  // stdlib/cumulative.c
// Whether it is roll: its first argument with a seam along some axes.
bool tl_builtin_is_roll(const tl_builtin *builtin);  // stdlib/shape.c
// Reads a reduction's arguments but the first, which has [ndim] axes.
bool tl_builtin_fold(tl_vm *vm, const tl_builtin *builtin, int ndim,
                     const tl_slot *args, tl_fold_call *out);
// What a call of a running fold asks for; see tl_cumulative.
typedef struct tl_scan_call {
  int reduction;  // tl_reduction
  int axis;
  bool initial;
  tl_dtype dtype;
} tl_scan_call;
bool tl_builtin_scan(tl_vm *vm, const tl_builtin *builtin, int ndim,
                     const tl_slot *args, tl_scan_call *out);
// Whether it is a norm of its first argument: a fold of |x|^p, and a root.
bool tl_builtin_is_norm(const tl_builtin *builtin);  // linalg_products.c
bool tl_builtin_norm(tl_vm *vm, const tl_builtin *builtin, int ndim,
                     const tl_slot *args, tl_fold_call *out, double *p);
// What a norm of [given] items is made in: the floats that are folded, and
// those of the result.
tl_dtype tl_norm_items(tl_dtype given);
tl_dtype tl_norm_result(tl_dtype given);
// The norm of a fold's result, which it takes.
bool tl_norm_end(tl_vm *vm, double p, tl_dtype dtype, tl_slot folded,
                 tl_slot *out);

// A call that takes the items of its first argument as they are computed: all
// of them in order, [passes] times.
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
bool tl_builtin_is_intake(const tl_builtin *builtin);  // stdlib/bins.c
// Of [size] items of dtype [from]. False: these arguments do not serve, and
// nothing is open; an error may be pending.
bool tl_builtin_intake(tl_vm *vm, const tl_builtin *builtin, tl_dtype from,
                       int ndim, const tl_slot *args, tl_intake *out);
// Reads those of roll: item i along an axis goes to i + shift, and from the
// axis's length on round to its start. False: they do not serve, or the shift
// is not along axes; an error may be pending.
bool tl_builtin_roll(tl_vm *vm, int ndim, const int64_t *lengths,
                     const tl_slot *args, int64_t *shift);

static inline tl_slot tl_builtin_slot(const tl_builtin *builtin) {
  return (tl_slot){.tag = TL_TAG_BUILTIN, .pointer = (void *)builtin};
}

// Calls any function value with positional arguments. Takes what args own (on
// failure too); *out is owned. For fold, each, sort by key …
bool tl_call(tl_vm *vm, tl_slot function, int count, tl_slot *args,
             tl_slot *out);

#endif
