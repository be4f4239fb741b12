// `tally bind`: declarations of a library's functions, and the native module
// that is made of them.
//
//     sqlite.bind ─ tl_bind_read    bind_read.c    declarations, or an error
//                 ─ tl_bind_glue    bind_glue.c    sqlite.c, against tally.h
//                 ─ tl_bind_tests   bind_test.c    sqlite_test.tly
//                 ─ the report      bind.c         what was bound, what not
//
// docs/foreign.md has the format. Everything that is read are spans of the
// file's text, which therefore has to live as long.
#ifndef TALLY_REPL_BIND_H
#define TALLY_REPL_BIND_H

#include "repl/options.h"
#include "repl/span.h"

// As many as a function of a native module may have.
// Axes: what bind_array (tally_bind.h) has room for.
enum { BIND_MAX_PARAMS = 16, BIND_MAX_AXES = 4 };

// A type of numbers: how declarations, C and arrays call it, and what fits.
typedef struct bind_number {
  const char *word, *c, *dtype;
  bool is_float;
  const char *low, *high;  // as C writes them; of integers alone
} bind_number;

// What a value is to C.
// What is a pointer to C has an owner as well: text, handle, array.
typedef enum bind_form {
  BIND_VOID,      // no result
  BIND_CODE,      // a result that says whether the call failed
  BIND_NUMBER,    // int n
  BIND_TEXT,      // borrow text s
  BIND_HANDLE,    // borrow connection db
  BIND_ARRAY,     // borrow double[n] x
  BIND_CALLBACK,  // borrow progress f
  BIND_CONTEXT,   // context: what a callback gets back
  BIND_USE,       // use EXPRESSION: no argument of the script's
} bind_form;

// Who owns what a pointer points at.
typedef enum bind_owner {
  BIND_NO_OWNER,  // said of nothing but numbers
  BIND_BORROW,    // an argument for the time of the call; a result for ever
  BIND_OWN,       // an argument that the library takes over
  BIND_FRESH,     // a result that the script releases
  BIND_VIEW,      // a result inside of an argument, which lives as long
  BIND_LIST,      // an array of fresh ones
} bind_owner;

// A parameter, a result, or an attribute of a handle.
//
//   out fresh double[n] y         ARRAY, FRESH, is_out, shape {n}
//   borrow text? s = none         TEXT, BORROW, may_be_none, preset
//   int n in 1 .. 9               NUMBER, low 1, high 9
//   use NULL                      USE, is_hidden, preset NULL
//   out fresh box b within a      HANDLE, FRESH, is_out, of a
//
// What names other parameters is an index once all of them were read.
typedef struct bind_value {
  bind_form form;
  bind_owner owner;
  bool is_out;              // the function writes it through a pointer
  bool may_be_none;         // text?: none is NULL
  bool is_hidden;           // the glue fills it in
  const bind_number *type;  // of BIND_NUMBER, and of an array's items
  int index;                // of the handle or callback
  span shape[BIND_MAX_AXES];
  int axes;
  span of;         // view of, within: the parameter that has to live as long
  int of_index;    // which it is; -1: none
  int length_of;   // the array whose size this parameter is; -1: none
  int axis;        // of that array; -1: all its items
  span filled;     // how many items of an array the function has filled
  bool is_filled;  // this number says so of an array: no result of its own
  span name;
  span low, high;  // of an integer, narrower than its type; empty: the type's
  span preset;     // the default; what is used; an attribute's expression
  const char *at;  // where it stands
} bind_value;

// How a function says that it failed.
typedef enum bind_failure {
  BIND_NEVER,
  BIND_BY_CODE,      // its code is not one of [ok]
  BIND_BY_NULL,      // its result is NULL
  BIND_BY_NEGATIVE,  // its result or code is below 0
  BIND_BY_ERRNO,     // NULL or below 0, and errno says why
} bind_failure;

// Functions that say nothing have those of the file's last errors line, as far
// as their result can tell.
typedef struct bind_errors {
  bind_failure failure;
  bool jumps;  // bind_throw was called
  bool keeps;  // a call that failed has not taken what was to be its own
  span ok;     // "0 100 101"
  span kind;   // "io"; empty: host
  span text;   // a C expression; empty: none
} bind_errors;

// A type of objects.
// c is its type with the *; release the function of C that ends an object;
// nbytes and device are expressions of `object`, limit a constant; empty: none.
typedef struct bind_handle_type {
  span name, c, doc, release, nbytes, device, limit;
  bind_value *attributes;
  size_t count;
} bind_handle_type;

// Also a callback and a constant. A callback has no C name: the glue writes the
// function that C calls.
typedef struct bind_function {
  span name, c, doc;
  bool is_constant;  // c is an expression
  bool is_raw;       // c is a tally_function; raw_params as in the language
  span raw_params;
  bind_value result;
  bind_value params[BIND_MAX_PARAMS];
  int count;
  bind_errors errors;
  span free;  // for fresh texts and arrays; empty: free
  span stop;  // of a callback: what it returns after an error
  const char *at;
} bind_function;

// A function of the library that is not bound, and why.
typedef struct bind_skip {
  span name, why;
} bind_skip;

// A file of declarations. Lists are owned, by tl_bind_free.
// Declared before they are used: an index of a handle or callback is of what
// stands above.
typedef struct bind_file {
  const char *path;
  text source;
  span name, doc;
  span libraries, packages;  // words, as they were written last
  span *includes, *code;
  bind_handle_type *handles;
  bind_function *callbacks, *functions;
  bind_skip *skips;
  size_t include_count, code_count, handle_count, callback_count,
      function_count, skip_count;
} bind_file;

// Reads the file at file->path. False after a message on standard error that
// begins with FILE:LINE:COLUMN; file->source is then still to be freed.
bool tl_bind_read(bind_file *file);
// Also after a tl_bind_read that failed. The file itself is the caller's.
void tl_bind_free(bind_file *file);

// Whether a parameter is one of the script's.
// In the order of the declaration, these are args[0], args[1], …
static inline bool bind_is_given(const bind_value *v) {
  return !v->is_out && !v->is_hidden;
}

// The module in C, and its tests in Tally. Return how many functions the tests
// call.
// Both write to memory or a file; whether that worked is for the caller to see.
// The glue takes a file that was read: nothing can fail any more.
void tl_bind_glue(const bind_file *file, FILE *out);
size_t tl_bind_tests(const bind_file *file, FILE *out);

// tally bind [--build] [-o FOLDER] FILE; returns the exit status.
int tl_bind_command(int argc, char **argv);

#endif
