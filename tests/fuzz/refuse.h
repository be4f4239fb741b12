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

// Where allocations are refused now: borrowed, NULL nowhere. On systems whose
// linker cannot wrap functions only those that reach the host's allocator are.
extern refusals *refused_blocks;
// Whether pieces that the compiler asks its arenas for are requests as well.
extern bool refuses_arenas;

// The requests of a run that came from where none had come from before, in this
// run or an earlier one: by the functions that led there, CALLERS of them.
enum { PLACES = 1 << 17, CALLERS = 6 };
typedef struct refused_places {
  uint32_t count, used;  // of requests; of the table
  uint64_t requests[PLACES / 2];
  uint64_t seen[PLACES];  // a hash table of callers
} refused_places;
extern refused_places *new_places;  // borrowed; NULL: nobody looks

// Whether this request for memory is refused.
bool refuse_block(void);

#endif
