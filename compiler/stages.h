// The entrances of the stages behind the parser that have one or two: compile.c
// calls them in this order, except that emission is handed over to ownership.
// resolver.h and lower.h have those of their own.
#pragma once

#include "compiler/compile.h"
#include "compiler/lower.h"

// --- warnings.c -------------------------------------------------------------

// What is no error and yet is hardly meant: for `tally check`.
//
//   unused = 3      a variable of a function that nothing reads
//   return x
//   print(x)        a statement that is never reached
//   import linalg   a module that nothing names
//   typeof(x) == "list"           a type is no text
//   for i, x in ("a", "b") { }    items that no list is

// Adds the warnings about a resolved program to [list], as diagnostics of the
// kind TALLY_OK. Names that begin with an underscore are never warned of.
void tl_find_warnings(const tl_resolver *resolver, tl_ast *program,
                      tl_diagnostics *list);

// --- certain.c --------------------------------------------------------------

// Errors that are certain, since what fails is made of literals alone: for
// `tally check`.
//
//     x = zeros((3, 4))
//     print(x + [1, 2, 3])     shape error, as a run would have it

// Adds an error to [list] for each expression of a resolved program that
// [compute] finds to fail: those made of literals, of functions of the library
// that only compute, and of variables that have one such value and are never
// changed, nor asked for what else runs. What stands in a try or in a function
// without a name may be meant to fail, and is passed over.
void tl_find_certain_errors(const tl_resolver *resolver, tl_ast *program,
                            const tl_source *source, tl_compute *compute,
                            void *context, tl_diagnostics *list);

// --- emit.c -----------------------------------------------------------------

// Emission: a function's graph, whose ownership is decided, becomes bytecode
// (vm/bytecode/function.h). It is called with one function at a time, by
// ownership; regions are found later, over the code of the whole unit.

// Fills the prototype's code and side tables, in memory of the unit; [arena]
// is for what emission alone needs. Changes the targets of jumps in the graph.
// False: a diagnostic (too many slots) or no memory.
bool tl_emit_function(tl_builder *b, tl_cfg_function *f, tl_arena *arena);

// --- fusion.c ---------------------------------------------------------------

// Fusion: which elementwise instructions may run as one region, in one pass
// over their arrays (vm/region/region.h). The compiler only marks candidates;
// the VM decides by the values whether a region runs.

// Finds the regions of finished bytecode; [temporaries] is the first slot that
// is no variable. Fills function->regions in the unit's memory. False: no
// memory. All functions of the unit must be emitted: a region may take in a
// call.
bool tl_find_regions(tl_builder *b, tl_prototype *function,
                     int32_t temporaries);

// --- pragmas.c --------------------------------------------------------------

// Pragmas: comments that begin with #: on a line of their own and say
// something about the statement or function below them. #:inplace is an
// in-place contract: results of what it stands above are computed in the memory
// of operands.
//
//   #:inplace
//   x += y        fails to compile if x is shared here
//
// #:peak, the promise of peak memory, is followed by an expression; so it is a
// token and a statement (parser_block.c), and only its word is known here.
//
// tl_find_pragmas runs on the source, before the back end; tl_check_pragmas on
// the bytecode, when it is known which operands are consumed.

// Notes in the unit what the pragmas cover. False after a diagnostic (an
// unknown word, nothing below), or with b->failed without memory.
bool tl_find_pragmas(tl_builder *b);

// Looks through finished code for in-place contracts that cannot hold whatever
// the values are. False after a diagnostic; what only the run knows is checked
// by the VM (vm/observe/in_place_contract.h).
bool tl_check_pragmas(tl_builder *b);
