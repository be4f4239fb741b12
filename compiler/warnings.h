// What is no error and yet is hardly meant: for `tally check`.
//
//   unused = 3      a variable of a function that nothing reads
//   return x
//   print(x)        a statement that is never reached
//   import linalg   a module that nothing names
//   typeof(x) == "list"           a type is no text
//   for i, x in ("a", "b") { }    items that no list is
#pragma once

#include "compiler/resolver.h"

// Adds the warnings about a resolved program to [list], as diagnostics of the
// kind TALLY_OK. Names that begin with an underscore are never warned of.
void tl_find_warnings(const tl_resolver *resolver, tl_ast *program,
                      tl_diagnostics *list);
