// Requests that are refused: the one of a number, or that and all after it.
#ifndef TALLY_TESTS_FUZZ_REFUSE_H
#define TALLY_TESTS_FUZZ_REFUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct refusals {
  uint64_t requests;  // so far
  uint64_t fail_at;   // from 1 on; 0: none
  bool onwards;       // all after that one too
} refusals;

// Whether this request is one to refuse; counts it.
static inline bool is_refused(refusals *r) {
  r->requests++;
  return r->fail_at != 0 &&
         (r->onwards ? r->requests >= r->fail_at : r->requests == r->fail_at);
}

// Where calls of the system are refused now: borrowed, NULL nowhere. Each call
// of the library's is wrapped by the linker (see system_calls.c); elsewhere, on
// systems whose linker cannot, none is ever counted.
extern refusals *refused_calls;

// The places in the program from which calls were refused, as addresses that a
// call returns to. At most SITES are kept.
enum { SITES = 1024 };
typedef struct refused_sites {
  int count;
  void *sites[SITES];
} refused_sites;
extern refused_sites *refused_from;  // borrowed; NULL: not kept

#endif
