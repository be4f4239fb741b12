// Tally: an array engine and its language, for use inside C and C++ programs.
//
// No global state: any number of VMs, each used by one thread at a time. A
// function that can fail returns a tally_status; the message, place and trace
// are read from tally_error. Nothing aborts, exits, prints or jumps over the
// host's frames; nor may hooks and functions of the host's jump over Tally's,
// or let a C++ exception out.
//
// Ownership, in four phrases with exactly these meanings:
//   borrows x         the caller still owns x. The default; unsaid
//   takes x           Tally releases or stores x on every path, failure too
//   returns owned     the caller must give it back with tally_release
//   returns borrowed  valid until the named owner is released or changed
#ifndef TALLY_H
#define TALLY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TALLY_API __attribute__((visibility("default")))
#else
#define TALLY_API
#endif

#define TALLY_VERSION "0.1.0"

typedef enum tally_status {
  TALLY_OK = 0,
  TALLY_ERR_SYNTAX,     // the text is no program
  TALLY_ERR_NAME,       // a name that nothing has
  TALLY_ERR_TYPE,       // a value of the wrong type
  TALLY_ERR_SHAPE,      // shapes that do not fit
  TALLY_ERR_INDEX,      // outside an array, list or record
  TALLY_ERR_VALUE,      // the right type, but not this value
  TALLY_ERR_DOMAIN,     // a value for which the operation is not defined
  TALLY_ERR_MEMORY,     // no memory, or the limit reached
  TALLY_ERR_IO,         // a file or device
  TALLY_ERR_LIMIT,      // instruction budget, time, depth
  TALLY_ERR_INTERRUPT,  // tally_interrupt was called
  TALLY_ERR_HOST,       // raised by the host, or the API was used wrongly
  TALLY_ERR_ASSERT,     // assert(…) in a script
  TALLY_ERR_EXIT,  // os.exit(…): the script ends itself; the process does
                   // not. No catch sees it
  TALLY_ERR_USER,  // a kind of a script's own: tally_error()->kind
  TALLY_STATUS_COUNT
} tally_status;

typedef struct tally_vm tally_vm;

// A handle to a value: passed by value, given back with tally_release.
typedef struct tally_value {
  uint64_t handle;
  uint64_t check;
} tally_value;

enum {  // tally_options.capabilities: what a script may do
  TALLY_MAY_FILES = 1,
  TALLY_MAY_CLOCK = 2,
  TALLY_MAY_ENVIRONMENT = 4,
  // Import native modules (see "Native modules in files"), whose code may do
  // whatever the process may. The values between are not free.
  TALLY_MAY_LIBRARIES = 128,
  TALLY_MAY_ALL = 135,
};

// tally_options.native: whether loops and functions that run long become machine
// code. Results, errors, budgets and deadlines are the same either way.
typedef enum tally_native_code {
  // Where the processor is known (x86-64) and the system gives executable pages;
  // else the interpreter does all, and says nothing.
  TALLY_NATIVE_USUAL,
  TALLY_NATIVE_OFF,
  // For tests: wherever code may be entered, also if that does not pay.
  TALLY_NATIVE_ALWAYS,
} tally_native_code;

enum { TALLY_MAX_DEVICES = 8 };

typedef struct tally_device {
  const char *name;  // "gpu 0", UTF-8
  size_t limit;      // bytes on it at once; 0: no limit
} tally_device;

// What a run is at: the line of its outermost loop over something of known
// length, or else of its outermost call. Texts are borrowed for the call.
typedef struct tally_progress {
  const char *file;  // "" where no script's line is under way
  int line;          // from 1; 0: unknown
  const char *text;  // of the line, without the blanks around it
  size_t nbytes;     // of the text, which has no zero byte behind it
  double part;       // done, from 0 to 1; below 0: the end is not known
} tally_progress;

// What a host decides about a VM. Start from tally_default_options().
typedef struct tally_options {
  size_t size;  // sizeof(tally_options), set by tally_default_options
  // Resizes [block] from [old_size] to [new_size] bytes; NULL allocates, a
  // new_size of 0 frees and returns NULL. Default: realloc and free.
  void *(*resize)(void *context, void *block, size_t old_size, size_t new_size);
  // Receives what scripts print, UTF-8, and where they may use files, what
  // they write to /dev/stdout, perhaps no text. Nonzero refuses: print then
  // fails with kind io. Default: standard output.
  int (*write)(void *context, const char *text, size_t nbytes);
  // Gives the source of the module that [name] names, as an owned block made
  // by resize, or returns nonzero: there is none. NULL: files beside the
  // importing file, TALLY_PATH, the library.
  int (*load)(void *context, const char *name, char **text, size_t *nbytes);
  void *context;               // handed to these and clock, never touched
  // Bytes live at once; 0: no limit. Compiling a text and telling of an error or
  // of a run may take 256 KiB more, so that a full VM can still be told to let
  // go.
  size_t memory_limit;
  uint64_t instruction_limit;  // per call into the VM; 0: no limit
  double time_limit;           // seconds per call into the VM; 0: no limit
  unsigned capabilities;       // TALLY_MAY_…; default: all
  int threads;                 // at most; 0: as many as cores
  int no_reuse;                // nothing is written in place or fused, so that
                               // each temporary's end can be seen in the stats
  int no_blas;                 // no BLAS or LAPACK is loaded: results of matrix
                               // functions then come from Tally's own code
  // Bytes of the stack that calls nest in; 0: 1 MiB, enough for some 10,000
  // calls. Reserved as address space, and counted as it is used; a host's own
  // resize is asked for all of it (and as much again for call records) at once.
  size_t stack_size;
  int seeded;    // not 0: random numbers begin as after random.seed(seed), else
  int64_t seed;  // where the system says
  // No signal handler is installed in the process. io.map_npy, which needs one
  // for SIGBUS (a file that shrinks while it is mapped), then fails with
  // kind io. It would be installed when a script maps its first file, and hand
  // on every SIGBUS that is not about a mapped file of Tally's.
  int no_signals;
  // Seconds on a clock of the host's, which never goes back: time_limit is
  // measured with it (each poll asks then), time.now and time.clock give it.
  // NULL: the system's clocks. It may call tally_interrupt, but else not use
  // the VM.
  double (*clock)(void *context);
  // Code memory counts against memory_limit; it is written first and made
  // executable then, never both at once.
  tally_native_code native;
  // Whether the value that tally_interact has shown stays, as the variable ans,
  // and all variables of what tally_run has run.
  int keep_ans;
  // How tally_interact shows pictures: as text, 0 without a terminal's colours
  // and 1 with them, or as images, as terminals take them that know kitty's
  // graphics (2) or sixels (3).
  int colors;
  // Other memory than the process's, such as a GPU's, on which resources may
  // say that their bytes lie (tally_resource.device): each has a limit of its
  // own and is counted by itself. Copied when the VM is opened, names too.
  const tally_device *devices;
  size_t device_count;  // at most TALLY_MAX_DEVICES
  // Hears what no script can be told: that the end of a resource failed
  // (tally_resource.finish). One line of UTF-8. It may not use the VM. Default:
  // writes it to standard error; NULL: nobody hears it.
  void (*report)(void *context, const char *text);
  // Bytes that scripts print and write to files in a call into the VM; 0: no
  // limit. A piece that would pass it is not written, and ends the call with
  // TALLY_ERR_LIMIT.
  uint64_t output_limit;
  // Hears what a run is at, once for each tally_ask_progress. It may call
  // tally_interrupt, but else not use the VM. NULL: nobody asks.
  void (*progress)(void *context, const tally_progress *at);
} tally_options;

TALLY_API tally_options tally_default_options(void);

// --- Life -------------------------------------------------------------------

// Opens a VM into *out. options NULL: the defaults. *out is NULL after a
// failure:
//   TALLY_ERR_MEMORY  no memory for it
//   TALLY_ERR_HOST    device_count is above TALLY_MAX_DEVICES, or without
//                     devices, or a name of theirs is not UTF-8
TALLY_API tally_status tally_open(const tally_options *options, tally_vm **out);

// Closes a VM and releases all it holds. Returns the number of values that the
// host had not released; tally_left names them before. NULL is allowed.
TALLY_API size_t tally_close(tally_vm *vm);

// Stops a running script at its next poll, within milliseconds, with
// TALLY_ERR_INTERRUPT. From any thread or a signal handler. An interrupt belongs
// to the run that it meets: where none is under way nothing happens, so a thread
// that may come before the run begins asks again until it has ended.
TALLY_API void tally_interrupt(tally_vm *vm);

// Has tally_options.progress called at the next poll of a running script, within
// milliseconds. From any thread or a signal handler, such as a timer's. It costs
// the script nothing unless it is called.
TALLY_API void tally_ask_progress(tally_vm *vm);

TALLY_API const char *tally_version(void);

// Whether this build makes machine code and the system lets it run (see
// tally_native_code): 1 or 0.
TALLY_API int tally_has_native_code(void);

// --- Running ----------------------------------------------------------------

// Runs [source] as the VM's main module goes on: its variables stay. *out gets
// the value of the last expression, returns owned; NULL: dropped.
TALLY_API tally_status tally_eval(tally_vm *vm, const char *source,
                                  tally_value *out);

// Runs the script at [path] ("-": standard input) with os.args. Top-level
// variables that no function reads are freed at their last use.
TALLY_API tally_status tally_run(tally_vm *vm, const char *path, int argc,
                                 const char *const *argv);
// The same for a text in memory; [name] stands in messages, and imports are
// looked for beside it if it is a path.
TALLY_API tally_status tally_run_source(tally_vm *vm, const char *name,
                                        const char *source, size_t nbytes,
                                        int argc, const char *const *argv);

// Compiles the body of a function without parameters; *function returns owned.
TALLY_API tally_status tally_compile(tally_vm *vm, const char *source,
                                     tally_value *function);

// Calls a function value, or by name a function of the main module, the host
// or the library ("sqrt", "linalg.det": no import is needed; ".sqrt" is not the
// main module's, whatever a script calls its own). Borrows args but those marked
// by tally_take; *out returns owned; NULL: dropped. count: at most 64. From
// inside a function of the host's too, up to TALLY_MAX_DEPTH deep; such calls
// share the budget and the deadline of the outermost.
//
//   TALLY_ERR_NAME   nothing has that name
//   TALLY_ERR_TYPE   no function; arguments that its parameters do not take
//   TALLY_ERR_HOST   an argument was released already
//   TALLY_ERR_LIMIT  instruction budget, time or depth
//   and whatever the function raises
TALLY_API tally_status tally_apply(tally_vm *vm, tally_value function,
                                   int count, const tally_value *args,
                                   tally_value *out);
TALLY_API tally_status tally_call(tally_vm *vm, const char *name, int count,
                                  const tally_value *args, tally_value *out);

// Marks a value as given away: an argument of a call, an item of a new list or
// record, or a global variable takes it over on every path, failure included.
// The handle is released then, and using it again is TALLY_ERR_HOST. Where
// nobody else holds the value, its memory is freed or written over at the
// script's last use of it.
//
//   tally_value args[] = {tally_take(image), gain};
//   tally_call(vm, "sharpen", 2, args, &image);  // in place
TALLY_API tally_value tally_take(tally_value v);

// Variables of the main module. get returns owned; set borrows; move takes,
// so that the script may free or reuse the value at its last use.
//
//   TALLY_ERR_NAME   get: no variable has that name, or it is unset
//   TALLY_ERR_VALUE  set, move: the name is not UTF-8
TALLY_API tally_status tally_get_global(tally_vm *vm, const char *name,
                                        tally_value *out);
TALLY_API tally_status tally_set_global(tally_vm *vm, const char *name,
                                        tally_value value);
TALLY_API tally_status tally_move_global(tally_vm *vm, const char *name,
                                         tally_value value);

// --- Functions of the host --------------------------------------------------

enum {
  TALLY_MAX_DEPTH = 64,      // functions and hooks of the host in each other
  TALLY_MAX_LOOP_INPUTS = 3  // parameters of an elementwise function
};

// A function that scripts call. args has one value for each parameter, in
// order: defaults are filled in, ...rest is a list. They are lent for the time
// of the call, without a count: tally_retain one to keep it, or to return it.
// Those that the table marks as taken are the function's own: where the script
// gave its last reference, tally_release frees the value there and then.
//
// The function sets *out to a value that returns owned (untouched: none) and
// returns TALLY_OK, or an error's status: after tally_raise, or the one that a
// function of this header returned, which is then passed on as it was. It may
// run code and call functions. An interrupt, a budget or a deadline that it
// meets on the way is raised again when it returns.
typedef tally_status tally_function(tally_vm *vm, void *context, size_t count,
                                    const tally_value *args, tally_value *out);

// An elementwise function's loop: n items from each input, steps[i] bytes
// apart (0 repeats one), into n adjacent items at output, which may be exactly
// an input of that item size. It must not use the VM. Between other elementwise
// operations on large arrays it is called for blocks that stay in the cache, as
// these are, and no array is made for what goes in or comes out: item i of the
// result may depend on items i of the inputs alone.
typedef void tally_loop(void *context, size_t n, const void *const *inputs,
                        const ptrdiff_t *steps, void *output);

typedef struct tally_native {
  const char *name;
  // As the language writes them: "x, y = 1.0, axis: none, ...rest". A default
  // after = may be given by position or name, one after : by name alone; it is
  // none, a bool or a number. At most 16.
  const char *params;
  tally_function *call;  // or loop
  // Datashape patterns of the parameters and the result, NULL: anything, _ in
  // place of one: anything. A name stands for one size throughout:
  //   "(M * N * float64, N * float64) -> M * float64"
  const char *signature;
  const char *doc;  // first a sentence; what `doc` shows
  uint64_t takes;   // bit i: argument i is taken
  void *context;    // handed to call and loop
  unsigned needs;   // TALLY_MAY_…: refused where the VM has not got them
  // Elementwise instead of call: arguments are converted to the dtypes of the
  // signature, such as "(float64, float64) -> float64", where that loses no
  // kind (int to float, not float to int), and broadcast; the result is written
  // over a dying argument where one fits. Blocks of one call may not run in
  // several threads. At most TALLY_MAX_LOOP_INPUTS parameters.
  tally_loop *loop;
} tally_native;

typedef struct tally_module {
  size_t size;       // sizeof(tally_module)
  const char *name;  // import NAME; NULL: its functions are there without
  const char *doc;
  const tally_native *functions;
  size_t function_count;
  size_t function_size;  // sizeof(tally_native)
} tally_module;

// Adds functions to a VM, for code compiled from now on; all or, on failure,
// none. Borrows the table and copies it, texts too; contexts must live as long
// as the VM.
//
//   TALLY_ERR_NAME  a name that is no word, or that is there already
//   TALLY_ERR_TYPE  a signature that does not fit the parameters
//   TALLY_ERR_HOST  neither or both of call and loop
TALLY_API tally_status tally_add_module(tally_vm *vm,
                                        const tally_module *module);

// Native modules in files. Where a script imports NAME, and there is neither a
// module nor a file NAME.tly of that name, a library NAME.so beside the
// importing file, in TALLY_PATH, or in tally-VERSION/ beside Tally itself is
// loaded, and its function tally_open_NAME called: it adds the module NAME by
// tally_add_module, and returns TALLY_OK or what it raised. It is called once
// for each VM that imports it, and the library stays loaded until the process
// ends. Needs TALLY_MAY_FILES and TALLY_MAY_LIBRARIES.
//
//   TALLY_ERR_IO    the library does not load (the loader's words follow), or
//                   the host may not
//   TALLY_ERR_NAME  it has no tally_open_NAME, or that adds no module NAME
//
// A program that is linked with libtally.a lets such libraries see tally.h's
// functions by -rdynamic, as the command does. A module may also be linked into
// a host, which calls tally_open_NAME itself.
typedef tally_status tally_open_module(tally_vm *vm);

// Makes an error of that kind the last one and returns its status, for a
// function of the host's to return: the script sees it as an error of its own,
// at the place of the call. format as for printf; bytes that are not UTF-8
// become question marks.
TALLY_API tally_status tally_raise(tally_vm *vm, tally_status kind,
                                   const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

// --- Types of the host ------------------------------------------------------

// What a resource's visit hook calls with each value that its object holds;
// [to] is as the hook was given it.
typedef void tally_see(void *to, tally_value value);

// A type of values that are the host's own: files, textures, connections. A
// script passes them around as it does arrays, and the object is released at
// its last use there: once, on the calling thread, on error paths too.
//
// Every hook but release may be NULL. attribute, index, put, operate and repr
// make and read values, but may not run code, import or set variables; call
// may. A hook that leaves *out untouched and returns TALLY_OK declines: the
// attribute or operator is then an error (== and != compare identity).
typedef struct tally_resource {
  size_t size;       // sizeof(tally_resource)
  const char *name;  // as error messages and tally_type call it
  const char *doc;
  void *context;  // handed to each hook
  // Lets go of the object. It may tally_release values, which go when it has
  // returned, and may use the VM in no other way.
  void (*release)(void *context, void *object);
  // The host's memory behind it, asked once: counts against memory_limit.
  size_t (*nbytes)(void *context, void *object);
  // What print shows: *out is a string. NULL: <name>.
  tally_status (*repr)(tally_vm *vm, void *context, void *object,
                       tally_value *out);
  tally_status (*attribute)(tally_vm *vm, void *context, void *object,
                            const char *name, tally_value *out);  // x.name
  // x[i, a:b, ...]: a slice is a record (start: a, stop: b, step: none), whose
  // fields are none where nothing is written, and an ellipsis the string "...".
  tally_status (*index)(tally_vm *vm, void *context, void *object, size_t count,
                        const tally_value *indices, tally_value *out);
  tally_status (*call)(tally_vm *vm, void *context, void *object, size_t count,
                       const tally_value *args, tally_value *out);  // x(…)
  // An operator as the language writes it ("+", "<", "-" with one operand) or
  // an elementwise function by its name ("sqrt"). Any operand may be of
  // another type: see tally_to_resource.
  tally_status (*operate)(tally_vm *vm, void *context, const char *op,
                          size_t count, const tally_value *operands,
                          tally_value *out);
  // Calls see(to, v) with each handle that the object keeps (tally_retain, or
  // what returned owned), and does nothing else with the VM. memory.refs,
  // graph, chain, backrefs and held then go on through the object, and a circle
  // that counts alone never free (the object keeps a list that it is in) is
  // told by memory.circles and tally_left.
  void (*visit)(void *context, void *object, tally_see *see, void *to);
  // What may fail at the end, such as writing what is left: called once before
  // release, which follows in any case. Returns NULL, or a text that says what
  // failed, for tally_options.report: borrowed until release is called. It may
  // use the VM as release may.
  const char *(*finish)(void *context, void *object);
  // Which device nbytes are on: 1 for the first of tally_options.devices; 0,
  // and without the hook: the process's memory, in memory_limit. Asked once.
  size_t (*device)(void *context, void *object);
  // How many values of the type a VM may have at once, such as open files; 0:
  // any number.
  size_t limit;
  // x[i, a:b, ...] = v: *out is what x is afterwards, with indices as index has
  // them. Nobody else has an object that is [alone]: it may be written, *out is
  // left untouched then and x stays the same value. Else somebody would see the
  // write, and *out is a changed copy. On failure x is as it was.
  tally_status (*put)(tally_vm *vm, void *context, void *object, int alone,
                      size_t count, const tally_value *indices,
                      tally_value value, tally_value *out);
  // x(…, name: value): a call with arguments by name, which are the fields of
  // the record [named]. Without the hook such a call is an error; one without
  // names goes to call, which a type with this hook has, too.
  tally_status (*call_named)(tally_vm *vm, void *context, void *object,
                             size_t count, const tally_value *args,
                             tally_value named, tally_value *out);
  // for x in r: sets *more to whether there is an item [at], from 0 on, before
  // each step, and then gives it. Loops over one object may lie within each
  // other. Both hooks or none; they may do what index may.
  tally_status (*more)(tally_vm *vm, void *context, void *object, size_t at,
                       int *more);
  tally_status (*next)(tally_vm *vm, void *context, void *object, size_t at,
                       tally_value *out);
} tally_resource;

// Sets *out to a value that owns [object]; *out returns owned. type is borrowed
// and stays as it is until the VM is closed. On failure the object is still the
// host's:
//   TALLY_ERR_MEMORY  memory_limit, or its device's, would be passed (nbytes
//                     counts)
//   TALLY_ERR_LIMIT   there are as many of the type as it allows
//   TALLY_ERR_HOST    there is no such device
TALLY_API tally_status tally_from_resource(tally_vm *vm,
                                           const tally_resource *type,
                                           void *object, tally_value *out);
// The object of a value of that type; *object returns borrowed: valid until v
// is released. TALLY_ERR_TYPE: v is of another type.
TALLY_API tally_status tally_to_resource(tally_vm *vm, tally_value v,
                                         const tally_resource *type,
                                         void **object);

// Counts memory that a library allocates by itself, for one that has hooks for
// it: as that of resources is, under the device's limit, from now until
// tally_unaccount with the same arguments. [block] is its address, which is
// never looked at; device 0 is the process's memory. By any function or hook of
// the host's but release.
//   TALLY_ERR_MEMORY  a limit would be passed: nothing is counted
//   TALLY_ERR_HOST    there is no such device
TALLY_API tally_status tally_account(tally_vm *vm, size_t device,
                                     const void *block, size_t nbytes);
// The memory is freed. Release hooks may call it, too. More bytes than are
// counted there, or a device that is none, are left alone.
TALLY_API void tally_unaccount(tally_vm *vm, size_t device, const void *block,
                               size_t nbytes);

// --- For prompts ------------------------------------------------------------

// Runs one input of a prompt: like tally_eval, but an expression's value is
// shown (type and aligned columns) through the write hook. width: columns of
// the terminal.
TALLY_API tally_status tally_interact(tally_vm *vm, const char *source,
                                      int width);

// What a prompt should do with the text so far.
typedef enum tally_input {
  TALLY_INPUT_COMPLETE,    // run it (it may still be wrong)
  TALLY_INPUT_INCOMPLETE,  // a bracket, string or operator is open: read on
} tally_input;
TALLY_API tally_input tally_check_input(tally_vm *vm, const char *source);

// What a part of a source is, for its colour.
typedef enum tally_token_kind {
  TALLY_TOKEN_OTHER,  // commas, points, colons
  TALLY_TOKEN_KEYWORD,
  TALLY_TOKEN_NAME,
  TALLY_TOKEN_CALL,    // a name, and its arguments follow
  TALLY_TOKEN_NUMBER,
  TALLY_TOKEN_STRING,  // or a part of one, between holes
  TALLY_TOKEN_TYPE,
  TALLY_TOKEN_OPERATOR,
  TALLY_TOKEN_OPEN,   // a bracket
  TALLY_TOKEN_CLOSE,  // likewise
  TALLY_TOKEN_COMMENT,
  TALLY_TOKEN_ERROR,  // no token of the language, or a bracket that fits none
} tally_token_kind;

// Bytes [begin, end) of a source.
typedef struct tally_token {
  tally_token_kind kind;
  size_t begin, end;
  size_t match;  // where the other bracket begins; [begin] where there is none
} tally_token;

// Writes the tokens and comments of a text in their order, at most [capacity],
// and returns how many there are; tokens may be NULL if capacity is 0. The text
// need not be whole: brackets and strings that are open at its end are no
// errors. 0 also where the text is not UTF-8 and where there is no memory.
TALLY_API size_t tally_tokens(tally_vm *vm, const char *source, size_t nbytes,
                              tally_token *tokens, size_t capacity);

// What the word at the end of [text] may go on as: variables, built-in names
// and keywords that begin with it, or behind `value.` the fields of a record
// and the members of a module, behind `import` modules. Runs no code.
// *out, returned owned, is a list of whole names in order, perhaps empty.
TALLY_API tally_status tally_complete(tally_vm *vm, const char *text,
                                      tally_value *out);

// --- Values -----------------------------------------------------------------

TALLY_API tally_status tally_from_none(tally_vm *vm, tally_value *out);
TALLY_API tally_status tally_from_bool(tally_vm *vm, int b, tally_value *out);
TALLY_API tally_status tally_from_int(tally_vm *vm, int64_t i,
                                      tally_value *out);
TALLY_API tally_status tally_from_float(tally_vm *vm, double f,
                                        tally_value *out);
TALLY_API tally_status tally_from_complex(tally_vm *vm, double re, double im,
                                          tally_value *out);
// UTF-8, copied; malformed text is TALLY_ERR_VALUE.
TALLY_API tally_status tally_from_string(tally_vm *vm, const char *text,
                                         size_t nbytes, tally_value *out);
TALLY_API tally_status tally_from_list(tally_vm *vm, size_t count,
                                       const tally_value *items,
                                       tally_value *out);
TALLY_API tally_status tally_from_record(tally_vm *vm, size_t count,
                                         const char *const *keys,
                                         const tally_value *values,
                                         tally_value *out);

TALLY_API tally_status tally_to_bool(tally_vm *vm, tally_value v, int *out);
TALLY_API tally_status tally_to_int(tally_vm *vm, tally_value v, int64_t *out);
TALLY_API tally_status tally_to_float(tally_vm *vm, tally_value v, double *out);
TALLY_API tally_status tally_to_complex(tally_vm *vm, tally_value v, double *re,
                                        double *im);
// Returns borrowed: valid until v is released. NUL-terminated.
TALLY_API tally_status tally_to_string(tally_vm *vm, tally_value v,
                                       const char **text, size_t *nbytes);

// "3 * 4 * float32", "int64", "string", "list", "record", "function", "none".
// A nested array's is whole, so that type(text) of a script reads it. Returns
// borrowed: valid until the next call of tally_type on this VM.
TALLY_API const char *tally_type(tally_vm *vm, tally_value v);
// The value as print shows it; *out is a string, returns owned.
TALLY_API tally_status tally_format(tally_vm *vm, tally_value v,
                                    tally_value *out);
// Items of an array's leading axis, list, record or string (bytes); else 0.
TALLY_API size_t tally_length(tally_vm *vm, tally_value v);
// *out returns owned. Lists, records (by position) and leading axes.
// tally_field finds the value at a key that is a string. The other keys that a
// script may use (integers, bools, lists of such) are not texts, so that no key
// given here finds them: the function keys, or a loop in Tally, gives them as
// values, in the order of the positions.
TALLY_API tally_status tally_item(tally_vm *vm, tally_value v, size_t index,
                                  tally_value *out);
TALLY_API tally_status tally_field(tally_vm *vm, tally_value v, const char *key,
                                   tally_value *out);

// One more owner of the handle: it is released with the last. Returns v.
TALLY_API tally_value tally_retain(tally_vm *vm, tally_value v);
// Gives a value back. A handle that was released already, or is {0, 0}, is left
// alone.
TALLY_API void tally_release(tally_vm *vm, tally_value v);
// Frames of handles: tally_end gives back what was made since the tally_begin
// that returned [frame], and was not released since, as if by one tally_release
// of each. The [count] values of [kept] are handed on: they live on in the
// frame around it, if there is one. Frames may nest; the end of one ends those
// in it. Values that live where tally_begin is called are left alone, and so is
// one that was retained: it has another owner. A frame that was ended is
// ignored.
//
//     tally_frame f = tally_begin(vm);
//     … tally_from_int, tally_call, tally_item …       no tally_release
//     tally_end(vm, f, 1, &result);
typedef uint32_t tally_frame;
TALLY_API tally_frame tally_begin(tally_vm *vm);
TALLY_API void tally_end(tally_vm *vm, tally_frame frame, size_t count,
                         const tally_value *kept);
// Whether v is a value of this VM that has not been released. Numbers of up to
// 8 bytes, bools and none lie in the handle itself: they always are.
TALLY_API int tally_is_live(tally_vm *vm, tally_value v);

// --- Arrays -----------------------------------------------------------------

enum { TALLY_MAX_DIMS = 32 };

typedef struct tally_buffer {
  size_t size;  // sizeof(tally_buffer); 0 means the same
  void *data;
  const char *type;        // a datashape: "1080 * 1920 * float32", or of C
                           // structs: "100 * {x: float64, tag: int32}"
  const int64_t *strides;  // bytes for each dimension, of any sign; NULL:
                           // row-major
  // Not 0: never written. Else results are written into it once the script
  // alone has the value (tally_take, tally_move_global), as into memory of its
  // own. Where items share memory, it is never written.
  int read_only;
  size_t nbytes;                               // of the block that data lie in
  void (*release)(void *context, void *data);  // NULL: nothing to do
  void *context;
} tally_buffer;

// Sets *out to an array over buffer->data, without copying it.
//
//   buffer   borrowed; its type and strides are copied
//   data     readable, and changed by nobody else, until release(context, data)
//            runs: once, at the array's last use or in tally_close, on the
//            calling thread. It may use the VM for tally_release alone
//   out      returns owned; untouched on failure
//
// On failure release is not called, so the host still owns the data:
//   TALLY_ERR_TYPE    buffer->type is not a datashape of fixed size, or has
//                     no dimension
//   TALLY_ERR_SHAPE   an item would lie outside data[0 .. nbytes)
//   TALLY_ERR_VALUE   data or a stride is no multiple of an item's alignment
//   TALLY_ERR_MEMORY  memory_limit would be passed (nbytes counts)
TALLY_API tally_status tally_from_buffer(tally_vm *vm,
                                         const tally_buffer *buffer,
                                         tally_value *out);

typedef struct tally_array {
  void *data;         // the item at 0, 0, …
  const char *dtype;  // "float64"
  int ndim;
  int64_t shape[TALLY_MAX_DIMS];
  int64_t strides[TALLY_MAX_DIMS];  // bytes; not always row-major
  size_t size;                      // items
} tally_array;

// Describes an array's memory: returns borrowed, valid until v is released.
// The data are for reading. Views have the strides of what they show, and
// results of transposed arrays lie as those do; who wants the items in
// row-major order asks for reshape(flatten(x), x.shape).
// TALLY_ERR_TYPE: v is no array.
TALLY_API tally_status tally_to_buffer(tally_vm *vm, tally_value v,
                                       tally_array *out);

// Pointers into an array, as a value of type "2 * 3 * pointer[T]": each of the
// addresses is that of an item of [target] along its first axis, an array that
// tally_from_buffer made (T is then what an item of that axis is), or any other
// of numbers or C structs. ndim 0: a single pointer, without a dimension.
// *out returns owned; it holds the target.
//   TALLY_ERR_TYPE    target is no such array
//   TALLY_ERR_SHAPE   ndim or a length that no array has
//   TALLY_ERR_INDEX   an address that is no item's
//   TALLY_ERR_HOST    out, or addresses, or shape where ndim is not 0, is NULL;
//                     also of no items
//   TALLY_ERR_MEMORY  memory_limit would be passed
TALLY_API tally_status tally_from_pointers(tally_vm *vm, tally_value target,
                                           int ndim, const int64_t *shape,
                                           const void *const *addresses,
                                           tally_value *out);
// The other way: *target, returned owned, is what they point into (see
// tally_to_buffer), and *places the items that they point to, an array of int64
// that is borrowed: valid until v is released. Of a single pointer ndim is 0,
// and data is its one place.
//   TALLY_ERR_TYPE   v is no array of pointers
TALLY_API tally_status tally_to_pointers(tally_vm *vm, tally_value v,
                                         tally_array *places,
                                         tally_value *target);

// --- Exchange with other libraries ------------------------------------------

struct DLManagedTensor;           // dlpack.h
struct DLManagedTensorVersioned;  // of DLPack 1
struct ArrowSchema;               // Arrow's C data interface
struct ArrowArray;

// Sets *out to an array over a DLPack tensor in the host's memory, without
// copying it; a tensor of no dimension becomes a number. Takes the tensor: its
// deleter runs at the array's last use or in tally_close, on the calling
// thread. The array is never written, unless the tensor is a copy made for us
// (DLPACK_FLAG_BITMASK_IS_COPIED). *out returns owned. On failure the tensor is
// still the host's:
//   TALLY_ERR_TYPE    a device, dtype or version that is not known here
//   TALLY_ERR_SHAPE   more than TALLY_MAX_DIMS dimensions, sizes that overflow
//   TALLY_ERR_VALUE   data that are not aligned to the dtype
//   TALLY_ERR_MEMORY  memory_limit would be passed
TALLY_API tally_status tally_from_dlpack(tally_vm *vm,
                                         struct DLManagedTensor *tensor,
                                         tally_value *out);
TALLY_API tally_status tally_from_dlpack_versioned(
    tally_vm *vm, struct DLManagedTensorVersioned *tensor, tally_value *out);

// Shows a number or an array as a DLPack tensor, without copying the items.
// They are for reading. The tensor holds the value until its deleter is called,
// on the VM's thread; what is still held when the VM is closed counts as not
// released, and is gone: the deleter then frees the tensor alone.
//   TALLY_ERR_TYPE  v is no number and no array of numbers
TALLY_API tally_status tally_to_dlpack(tally_vm *vm, tally_value v,
                                       struct DLManagedTensor **out);
TALLY_API tally_status tally_to_dlpack_versioned(
    tally_vm *vm, tally_value v, struct DLManagedTensorVersioned **out);

// Sets *out to the values of an Arrow array. Takes both structs, on every path:
// they are released, at once or with the last of the arrays over them.
//
//   numbers          N * dtype, over Arrow's buffer, not copied
//   bool, utf8       N * bool, N * string, copied; string views too
//   binary           N * bytes, copied; of a fixed size and views too
//   fixed-size list  of numbers: N * size * dtype, not copied
//   list             N * var * dtype, the items not copied
//   struct           a record of columns
//   dictionary       N * categorical[…]; N * dtype, the values, where some are
//                    missing or twice in the dictionary, or are floats
//   dates, times     N * int32 or int64: in the unit that the format says
//   missing values   N * ?dtype, where there are some; null: N * ?int64
//
//   TALLY_ERR_TYPE   another format (the message says what to cast it to), a
//                    layout that is none, a code outside its dictionary
//   TALLY_ERR_VALUE  missing lists or structs; text that is not UTF-8
//   TALLY_ERR_HOST   a struct that was released
TALLY_API tally_status tally_from_arrow(tally_vm *vm,
                                        struct ArrowSchema *schema,
                                        struct ArrowArray *array,
                                        tally_value *out);
// The same in the other direction: arrays of one dimension, with missing values
// or ragged rows too, matrices of numbers, categorical arrays (as
// dictionaries), and records of all these, the numbers without a copy where
// they are dense. Fills both structs, which returns owned: each lets go by its
// release, on the VM's thread (see tally_to_dlpack).
//   TALLY_ERR_TYPE   a value that Arrow has no format for
//   TALLY_ERR_SHAPE  columns of several lengths
TALLY_API tally_status tally_to_arrow(tally_vm *vm, tally_value v,
                                      struct ArrowSchema *schema,
                                      struct ArrowArray *array);

// --- Threads ----------------------------------------------------------------

// A value between two VMs; it belongs to neither, and its bytes to no limit.
// What two lists share is copied for each.
typedef struct tally_parcel tally_parcel;

// Takes a value out of its VM, for tally_receive in another, in any thread. An
// array over 8 KiB that nobody else holds goes with its block: where both VMs
// have the same allocator, nothing is copied. Everything else is. The
// allocator must then serve both threads. Takes v; *out returns owned: give it
// to tally_receive or tally_free_parcel.
//
// A function of a script goes as its text, if it has captured nothing and is of
// the main module: variables and functions that it names are those of the main
// module of the VM that receives it, which compiles it. One of the library or of
// the host goes by its name, and is that of the VM that receives it.
//
//   TALLY_ERR_TYPE   v is or holds another function, a module or resource
//   TALLY_ERR_LIMIT   lists in lists, 200 deep; time
//   TALLY_ERR_MEMORY  what is copied takes more than memory_limit
TALLY_API tally_status tally_send(tally_vm *vm, tally_value v,
                                  tally_parcel **out);
// The value, in this VM; *out returns owned. Takes the parcel on every path.
//   TALLY_ERR_MEMORY  memory_limit would be passed
//   TALLY_ERR_NAME    a function in it, or what that names, is not there
TALLY_API tally_status tally_receive(tally_vm *vm, tally_parcel *parcel,
                                     tally_value *out);
// Gives up a parcel that nobody receives. From any thread; NULL is allowed.
TALLY_API void tally_free_parcel(tally_parcel *parcel);

// --- Errors -----------------------------------------------------------------

typedef struct tally_error_info {
  tally_status status;
  const char *kind;     // "shape"
  const char *message;  // without kind and place
  const char *file;     // "" where there is none
  int line, column;     // from 1; 0: unknown. Columns count display cells
  const char *report;   // all of it as a person reads it: place, kind, message,
                        // the source line with a caret, the trace; for syntax
                        // errors each of up to 20
  size_t trace_count;   // calls, innermost first: "called from f.tly:3:5 in g"
  const char *const *trace;
  int exit_status;  // of TALLY_ERR_EXIT: what os.exit was given, 0 to 255
} tally_error_info;

// The last error; returns borrowed: valid until the next call that can fail.
TALLY_API const tally_error_info *tally_error(tally_vm *vm);

// --- Seeing it --------------------------------------------------------------

// X(field, what it counts)
#define TALLY_STATS(X)                                                   \
  X(instructions, "instructions run")                                    \
  X(refs_virtual, "references owned where the compiler knew it")         \
  X(refs_embedded, "references decided by a slot's bit")                 \
  X(refs_immediate, "references that wrote a heap count")                \
  X(rc_inc, "heap counts raised")                                        \
  X(rc_dec, "heap counts lowered without freeing")                       \
  X(rc_immortal_touched, "counts of immortals written (always 0)")       \
  X(promotions_item, "promotions: stored in a list")                     \
  X(promotions_field, "promotions: stored in a record")                  \
  X(promotions_capture, "promotions: captured")                          \
  X(promotions_global, "promotions: stored in a module variable")        \
  X(promotions_host, "promotions: given to the host")                    \
  X(promotions_view, "promotions: a view's hold on its block")           \
  X(promotions_call, "promotions: an argument or result of a call")      \
  X(promotions_keep, "promotions: an item kept past its container")      \
  X(promotions_unwind, "promotions: kept for a handler")                 \
  X(moves, "ownership moved")                                            \
  X(borrows, "operands borrowed")                                        \
  X(allocs, "array blocks allocated")                                    \
  X(alloc_bytes, "bytes of them")                                        \
  X(frees, "array blocks freed")                                         \
  X(inplace, "results written into a dying operand")                     \
  X(inplace_refused_live, "reuse refused: operand used later")           \
  X(inplace_refused_shared, "reuse refused: operand shared")             \
  X(inplace_refused_shape, "reuse refused: shape differs")               \
  X(inplace_refused_dtype, "reuse refused: item size differs")           \
  X(inplace_refused_external, "reuse refused: memory not ours to write") \
  X(copies, "arrays, lists and records copied")                          \
  X(copy_bytes, "bytes of them")                                         \
  X(fused_ops, "operations fused into another")                          \
  X(cache_hits, "blocks taken from the cache")                           \
  X(live, "objects alive")                                               \
  X(live_bytes, "bytes alive")                                           \
  X(peak_bytes, "largest live_bytes")                                    \
  X(ext_bytes, "bytes of the host's memory in use")                      \
  X(ext_peak_bytes, "largest ext_bytes")                                 \
  X(longest_free, "most objects freed by the end of one")                \
  X(unwound_drops, "values given back while an error unwound")           \
  X(temps_ended, "temporaries freed, reused or fused away")

typedef struct tally_stats {
#define X(field, what) uint64_t field;
  TALLY_STATS(X)
#undef X
} tally_stats;

TALLY_API void tally_get_stats(tally_vm *vm, tally_stats *out);
// Sets all but live, live_bytes and ext_bytes to 0, peak_bytes to live_bytes
// and ext_peak_bytes to ext_bytes.
TALLY_API void tally_reset_stats(tally_vm *vm);
// Bytes that resources have on a device (tally_options.devices, from 1 on; 0 is
// the process's memory: live_bytes and ext_bytes, and as the peak the sum of
// both peaks, which need not have been at one time). tally_reset_stats sets
// peak to bytes. TALLY_ERR_HOST: there is no such device.
typedef struct tally_device_stats {
  const char *name;  // borrowed: valid until the VM is closed
  uint64_t bytes, peak, limit;
} tally_device_stats;
TALLY_API tally_status tally_get_device(tally_vm *vm, size_t device,
                                        tally_device_stats *out);
// Counting of references, moves and borrows costs a little: off at first.
// While tally_watch records, all is counted; what is said here holds after it.
TALLY_API void tally_count(tally_vm *vm, int on);
// Gives cached memory back to the system; returns how many bytes.
TALLY_API size_t tally_trim(tally_vm *vm);

// Watches the runs from now on: for tally_plot_memory, tally_plot_time and
// tally_explain. 0 stops; what was recorded stays until the next start. Off at
// first: it costs about as much again for each allocation. TALLY_WATCH_TIME has
// a thread of its own until watching ends, with all signals blocked.
// TALLY_ERR_MEMORY: no memory for it, or no thread.
enum {
  TALLY_WATCH_MEMORY = 1,      // live bytes over time, and large blocks
  TALLY_WATCH_OPERATIONS = 2,  // what became of each operation's operands
  TALLY_WATCH_TIME = 4,        // time and bytes of each line and call
};
TALLY_API tally_status tally_watch(tally_vm *vm, unsigned what);

// Live bytes over time, the host's that count among them: before, peak and
// after, the large blocks from birth to death, the source line at the peak.
// *out is a string, returns owned. Stops watching first. TALLY_ERR_HOST:
// nothing was recorded.
typedef enum tally_plot_form {
  TALLY_PLOT_TEXT,  // of [width] columns
  TALLY_PLOT_SVG,
  // An object: end (seconds), before, peak, after (bytes), peak_at, peak_file,
  // peak_line, step and live (the most bytes in each stretch of so many
  // seconds), rss (before, peak, after and live of the whole process; null: not
  // known), devices (the host's: name, before, peak, after, live of each),
  // foreign (of each type of resources on each device: type, device, before,
  // peak, after; no type, null: arrays over the host's memory and
  // tally_account; no device: the process), and blocks, of which each has born
  // and died (seconds), bytes, file, line and source of its birth, times
  // (several of one size made there one after the other count as one) and
  // owner: who has it at the end, null: nobody.
  TALLY_PLOT_JSON,
} tally_plot_form;
TALLY_API tally_status tally_plot_memory(tally_vm *vm, tally_plot_form form,
                                         int width, tally_value *out);

// Where the time of the runs went, and the bytes of the blocks that they made:
// by lines and functions, and as a flame graph of calls. Samples are taken some
// 2,000 times a second; each gives the time since the one before to the line
// under way, with the kernels that it runs, and to its callers. Loops that run
// as machine code count for the line that began them, functions of the library
// for the line that calls them. *out is a string, returns owned. Stops watching
// first. TALLY_ERR_HOST: nothing was recorded.
//
//   TALLY_PLOT_TEXT  tables, the most expensive first, of [width] columns
//   TALLY_PLOT_SVG   the flame graph: a box for each line under way, as wide as
//                    its time, above the line that called it
//   TALLY_PLOT_JSON  an object: seconds, bytes, and calls, of which each has
//                    parent (an index of calls; null: none), function, file,
//                    line, source, seconds, bytes and blocks of its own
TALLY_API tally_status tally_plot_time(tally_vm *vm, tally_plot_form form,
                                       int width, tally_value *out);

// --- Debugging --------------------------------------------------------------

// What a run comes by.
typedef enum tally_debug_event {
  TALLY_DEBUG_LINE,    // a line is next
  TALLY_DEBUG_PAUSE,   // likewise, and tally_debug_pause was called
  TALLY_DEBUG_RESUME,  // behind a call its line goes on
  TALLY_DEBUG_CALL,    // a function begins; its first line follows
  TALLY_DEBUG_RETURN,  // a function returns info->value
  TALLY_DEBUG_RAISE,   // an error was raised; the frames are as it found them
} tally_debug_event;

// Where; all texts are borrowed for the time of the hook.
typedef struct tally_debug_info {
  tally_debug_event event;
  size_t depth;  // how many calls are around it, the library's among them
  const char *file, *function;  // "" at the top of a file
  int line;
  tally_value value;           // of RETURN: lent; else none
  const char *kind, *message;  // of RAISE
  int caught;                  // whether a script's `catch` waits for it
} tally_debug_info;

// Called in the midst of a run; nonzero ends it with TALLY_ERR_INTERRUPT. It may
// use the VM as a function of the host's may, and the functions below; what it
// runs is not debugged itself.
typedef int tally_debug_hook(tally_vm *vm, void *context,
                             const tally_debug_info *info);

// Debugs what is compiled and called from now on; hook NULL: no longer. Code of
// the library is passed over. A run that is debugged is slower and needs more
// memory: it has no machine code, no fused operations and no contracts of
// memory, and a variable lives until its function ends.
//   TALLY_ERR_MEMORY  no memory for it
TALLY_API tally_status tally_debug(tally_vm *vm, tally_debug_hook *hook,
                                   void *context);
// The next line is told as TALLY_DEBUG_PAUSE. From any thread or a signal
// handler, while the VM is debugged.
TALLY_API void tally_debug_pause(tally_vm *vm);

// A call under way. Frame 0 is the innermost; those of the library are left
// out.
typedef struct tally_debug_place {
  const char *file, *function;  // borrowed for the time of the hook
  int line;                     // under way, or next
  const char *source;           // of the whole file, nbytes long
  size_t nbytes;
} tally_debug_place;
// TALLY_ERR_INDEX: there are not so many frames.
TALLY_API tally_status tally_debug_frame(tally_vm *vm, size_t frame,
                                         tally_debug_place *out);
// The first line from [line] on at which the frame's file can stop; 0: none. Its
// functions count before they are called.
TALLY_API tally_status tally_debug_line(tally_vm *vm, size_t frame, int line,
                                        int *out);
// The names of the frame's variables that have a value: a list of strings,
// returns owned.
TALLY_API tally_status tally_debug_names(tally_vm *vm, size_t frame,
                                         tally_value *out);
// The value of an expression that sees the frame's variables; *out returns
// owned. Its functions do what they do; errors are its own.
//   TALLY_ERR_NAME  it names a variable that has no value now: it is not
//                   assigned yet, or is just being changed
TALLY_API tally_status tally_debug_eval(tally_vm *vm, size_t frame,
                                        const char *expression,
                                        tally_value *out);
// Assigns to a variable of the frame. Borrows the value.
//   TALLY_ERR_NAME   no variable has that name
//   TALLY_ERR_VALUE  it has no value now, shares it with another variable, or is
//                    a captured one, which cannot change
TALLY_API tally_status tally_debug_set(tally_vm *vm, size_t frame,
                                       const char *name, tally_value value);

// --- What is left -----------------------------------------------------------

// What tally_close would count: the values that the host, or another library by
// way of it, has not released. *out, returns owned and not among them: a list
// of records of type, bytes (of the value's own object), owner ("the host",
// "another library"; of what a resource keeps "a token", or "a token, in a
// circle" where it leads back to that) and made: "script.tly:3", known of large
// blocks while TALLY_WATCH_MEMORY records, else none.
TALLY_API tally_status tally_left(tally_vm *vm, tally_value *out);

// What each operation's result of a script lives in, and why: fused, in place
// of an operand, or fresh. Runs the script first, as tally_run does, and tells
// what the run did apart from what the compiled code allows. *out is a string,
// returns owned. An error of the run is part of the text; an error of the
// compilation is returned.
enum {
  TALLY_EXPLAIN_JSON = 1,    // as an object with an array "operations"
  TALLY_EXPLAIN_STATIC = 2,  // only compile, do not run
  // Instead, the typed operations of all loops and functions that became machine
  // code: what `tally dis --native` prints. Empty where there are none.
  TALLY_EXPLAIN_NATIVE = 4,
  // Instead a bound of the peak memory of each function, as a formula in the
  // shapes of its parameters, or what it would need to know; runs nothing.
  TALLY_EXPLAIN_PEAK = 8,
};
TALLY_API tally_status tally_explain(tally_vm *vm, const char *path, int argc,
                                     const char *const *argv, unsigned flags,
                                     tally_value *out);
// The same for a text that runs as tally_eval does; not with
// TALLY_EXPLAIN_STATIC.
TALLY_API tally_status tally_explain_source(tally_vm *vm, const char *source,
                                            unsigned flags, tally_value *out);

// The bytecode of a script, with each operand's ownership, through the write
// hook: what `tally dis` prints. NULL path: nbytes of source are given.
TALLY_API tally_status tally_disassemble(tally_vm *vm, const char *name,
                                         const char *source, size_t nbytes);
// The same of a function of a script, or of one that tally_compile made.
// TALLY_ERR_TYPE: another value.
TALLY_API tally_status tally_disassemble_function(tally_vm *vm,
                                                  tally_value function);

// The same program laid out as `tally fmt` does: blanks, indentation and empty
// lines in order, the ends of lines and the comments where they are. *out is a
// string, returns owned. NULL source: reads the file [name]. TALLY_ERR_SYNTAX:
// the text does not parse; an error that running it would find is none here.
TALLY_API tally_status tally_format_source(tally_vm *vm, const char *name,
                                           const char *source, size_t nbytes,
                                           tally_value *out);

// Compiles a script without running it. *out is a list, returns owned: a record
// for each error, also of what is made of literals alone and fails, and each
// warning (of a variable that nothing reads, a statement that is never reached),
// with kind ("syntax", "name", …, "warning"), message, line, column, begin and
// end as byte offsets, and report, which is all of it as errors are shown. At
// most 20 of each. NULL source: reads the file [name]. TALLY_ERR_SYNTAX: the text
// is not UTF-8.
TALLY_API tally_status tally_check_source(tally_vm *vm, const char *name,
                                          const char *source, size_t nbytes,
                                          tally_value *out);

// Which names of a script mean the same variable; runs nothing. *out is a list,
// returns owned: a record for each place where a variable of the script stands,
// in their order, with begin and end as byte offsets of the name, home, the
// begin of the first place of the variable (two places with one home mean one
// variable), and role:
//
//   "write"   it gets a value: a parameter, a loop's name, x = 1, x[0] = 1
//   "read"    its value is read; also the name of an argument, f(n: 1), which
//             is the parameter's
//   "import"  either, of a variable that was imported from a file by its name
//   "member"  a name behind the module of a file, m.f: home is its own
//             begin
//   "argument"  the name of an argument of such a function, m.f(n: 1), likewise
//
// file, the path as the import spells it, of the last three, else empty; of, the
// function of an argument, or of a parameter if that is the module's function;
// and is_global, whether it is a variable of the script's own module. Names of the
// library, of fields and those that mean nothing are not in it. NULL source:
// reads the file [name].
//   TALLY_ERR_SYNTAX  it does not parse
TALLY_API tally_status tally_resolve_source(tally_vm *vm, const char *name,
                                            const char *source, size_t nbytes,
                                            tally_value *out);

// The documentation of a built-in or a module, NULL if there is none, or no
// memory to unpack it; returns borrowed. tally_documented(i) enumerates the
// names, NULL at the end; each is valid until the next call on this VM.
TALLY_API const char *tally_documentation(tally_vm *vm, const char *name);
// The parameters of a built-in as the language writes them, such as
// "x, axis: none, keepdims: false"; NULL for a constant, and where there is
// nothing of that name.
TALLY_API const char *tally_signature(tally_vm *vm, const char *name);
// Under which topic `tally doc` lists a built-in, such as "creating arrays";
// NULL for functions of a host, and where there is nothing of that name.
TALLY_API const char *tally_topic(tally_vm *vm, const char *name);
TALLY_API const char *tally_documented(tally_vm *vm, size_t index);
// What the script's function of that name, or `module.name`, says of itself:
// its parameters and the ## lines above it; of a module, what each of its
// functions says. *out is a string, returns owned; it is empty where the name
// is of no such function. Runs no code.
TALLY_API tally_status tally_describe(tally_vm *vm, const char *name,
                                      tally_value *out);
// Likewise of the functions and documented variables of a script that need not
// run, in their order. NULL source: reads the file [name]. TALLY_ERR_SYNTAX:
// the text does not parse.
TALLY_API tally_status tally_describe_source(tally_vm *vm, const char *name,
                                             const char *source, size_t nbytes,
                                             tally_value *out);

#ifdef __cplusplus
}
#endif
#endif
