// A source, its arena and its errors, for tests of the front end: an arena
// whose memory is counted and can be made to fail.
#ifndef TALLY_TESTS_UNIT_SOURCE_FIXTURE_H
#define TALLY_TESTS_UNIT_SOURCE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler/parser.h"

typedef struct fixture_memory {
  size_t live;       // bytes
  long until_fails;  // allocations that still succeed; below 0: all
} fixture_memory;

typedef struct source_fixture {
  fixture_memory memory;
  tl_arena arena;
  tl_names names;
  tl_source source;
  tl_diagnostics diagnostics;
} source_fixture;

static inline void *fixture_resize(void *context, void *block, size_t old_size,
                                   size_t new_size) {
  fixture_memory *memory = context;
  if (new_size == 0) {
    free(block);
    memory->live -= old_size;
    return NULL;
  }
  if (memory->until_fails == 0)
    return NULL;
  if (memory->until_fails > 0)
    memory->until_fails--;
  void *out = realloc(block, new_size);
  assert_non_null(out);
  memory->live += new_size - old_size;
  return out;
}

// [text] is borrowed.
static inline tl_source_status fixture_open_source(source_fixture *fixture,
                                                   const char *text,
                                                   size_t nbytes,
                                                   size_t *bad_offset) {
  tl_arena_open(&fixture->arena, fixture_resize, &fixture->memory);
  tl_names_open(&fixture->names, &fixture->arena);
  tl_diagnostics_open(&fixture->diagnostics, &fixture->arena);
  return tl_source_open(&fixture->source, "t.tly", text, nbytes, bad_offset);
}

static inline void fixture_open_text(source_fixture *fixture,
                                     const char *text) {
  size_t bad_offset = 0;
  fixture->memory = (fixture_memory){.until_fails = -1};
  tl_source_status status =
      fixture_open_source(fixture, text, strlen(text), &bad_offset);
  assert_int_equal(status, TL_SOURCE_OK);
}

static inline void fixture_close_source(source_fixture *fixture) {
  tl_arena_close(&fixture->arena);
  assert_int_equal(fixture->memory.live, 0);
}

#endif
