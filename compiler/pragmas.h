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
#pragma once

#include "compiler/lower.h"

// Notes in the unit what the pragmas cover. False after a diagnostic (an
// unknown word, nothing below), or with b->failed without memory.
bool tl_find_pragmas(tl_builder *b);

// Looks through finished code for in-place contracts that cannot hold whatever
// the values are. False after a diagnostic; what only the run knows is checked
// by the VM (vm/observe/in_place_contract.h).
bool tl_check_pragmas(tl_builder *b);
