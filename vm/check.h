// Preconditions: what a function may rely on because its callers see to it.
//
// TL_CHECK(condition) costs nothing in a release build, where the condition is
// compiled and not evaluated. In builds for tests (`make check`, `make audit`)
// it ends the process with the place and the condition, since a broken
// precondition is a fault of Tally's own, never of a script's or a host's.
#pragma once

#ifdef TALLY_AUDIT
#include <stdio.h>
#include <stdlib.h>
#define TL_CHECK(condition)                                           \
  ((condition) ? (void)0                                              \
               : (fprintf(stderr, "%s:%d: broken precondition: %s\n", \
                          __FILE__, __LINE__, #condition),            \
                  abort()))
#else
#define TL_CHECK(condition) ((void)sizeof((condition) ? 1 : 0))
#endif
