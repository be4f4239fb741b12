// Errors that are certain, since what fails is made of literals alone: for
// `tally check`.
//
//     x = zeros((3, 4))
//     print(x + [1, 2, 3])     shape error, as a run would have it
#pragma once

#include "compiler/compile.h"
#include "compiler/resolver.h"

// Adds an error to [list] for each expression of a resolved program that
// [compute] finds to fail: those made of literals, of functions of the library
// that only compute, and of variables that have one such value and are never
// changed, nor asked for what else runs. What stands in a try or in a function
// without a name may be meant to fail, and is passed over.
void tl_find_certain_errors(const tl_resolver *resolver, tl_ast *program,
                            const tl_source *source, tl_compute *compute,
                            void *context, tl_diagnostics *list);
