// The compiler's entrance, and the folder on half a page.
//
// A text goes through these stages in a row, each in files of its name. Each
// reads the data structure that the one before made, and may note its own
// results in it (a scope, a slot, modes), which no earlier stage looks at:
//
//   text
//    │ source.c        UTF-8 checked, lines found
//    │ lexer*.c        offsets, brackets matched, newlines that count
//   tokens  (lexer.h)
//    │ parser*.c       recursive descent; reports syntax errors
//   tree    (ast.h)
//    │ resolver.c      which variable each name is; captures of closures
//   tree + scopes  (resolver.h)
//    │ warnings.c      what is hardly meant, for `tally check`
//    │ certain.c       what fails whatever a run does, for the same
//    │ lower*.c        expressions to instructions; constants, names, paths
//    │ definite.c      variables are set where they are read
//   graph   (cfg.h)
//    │ ownership.c …   last uses, owners and borrowers, drops
//   graph with modes
//    │ emit*.c         words of 64 bits, jumps, side tables
//   bytecode  (vm/bytecode)
//    │ fusion*.c       runs of elementwise instructions marked as regions
//    │ pragmas.c         what #:inplace pragmas claim is checked
//   unit
//
// compile.c calls the stages. A stage calls the next one itself in three
// places: the parser lexes its text, lowering runs definite.c over each
// finished graph, and ownership hands each finished function to emission, by a
// callback, so that only one has its final code in memory. Of an earlier stage
// a file may use the data structure and its look-ups (tl_scope_find,
// tl_source_place), but does not run it again; the exceptions are pragmas.c and
// layout.c, which need the tokens that the parser has released.
//
// Nodes, graphs and growing tables are in one arena (arena.h), errors go to
// one list (diagnostics.h), and what the finished unit needs is allocated by
// the unit itself. The folder calls the layers of vm/ below it and knows
// nothing of the interpreter; what it hands over is verified before it runs
// (vm/verify).
#pragma once

#include "vm/bytecode/function.h"

// Compiles a text into a unit of [module]; [mode] is a tl_unit_mode
// (resolver.h), [name] what messages call the text. NULL after tl_fail (kind
// syntax, name …), whose report names up to 20 errors. The unit belongs to the
// module. [text] need not stay.
tl_unit *tl_compile(tl_vm *vm, tl_module *module, const char *name,
                    const char *text, size_t nbytes, unsigned mode);

// Sets [out] to a new string: the same program with its blanks, indentation
// and empty lines in order. False after tl_fail: the text does not parse.
bool tl_format_source(tl_vm *vm, const char *name, const char *text,
                      size_t nbytes, tl_slot *out);

// Computes an expression, for a check; TALLY_OK: it has a value, else *message
// gets what is wrong, until the next call.
typedef tally_status tl_compute(void *context, const char *text, size_t nbytes,
                                const char **message);

// Compiles a script and sets [out] to a new list: its errors, those that are
// certain (certain.c) and then its warnings (warnings.c), each a record of kind
// ("name", …, "warning"), message, line, column, begin and end as byte offsets,
// and report, all of it as errors are shown. False after tl_fail: the text is
// not UTF-8, or memory failed.
bool tl_check_source(tl_vm *vm, const char *name, const char *text,
                     size_t nbytes, tl_compute *compute, void *context,
                     tl_slot *out);

// Sets [out] to a new string: signature and ## lines of the functions and
// variables of a script. False after tl_fail, likewise.
bool tl_describe_source(tl_vm *vm, const char *name, const char *text,
                        size_t nbytes, tl_slot *out);

// Sets [out] to a new list of the names in a script that mean its variables, in
// their order (occurrences.h). Names of the library are not among them, and
// names that mean nothing are no error. False after tl_fail, likewise.
bool tl_resolve_source(tl_vm *vm, const char *name, const char *text,
                       size_t nbytes, tl_slot *out);

// What the VM is given at open, so that lower layers can compile without
// including this folder.
extern const tl_compiler_hooks tl_compiler;
