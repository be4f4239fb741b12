// What the families of random code share: the generator's state and the words
// that it writes.
#ifndef TALLY_TESTS_FUZZ_WRITER_INTERNAL_H
#define TALLY_TESTS_FUZZ_WRITER_INTERNAL_H

#include <stdbool.h>

#include "tests/fuzz/writer.h"

enum { MAX_DEPTH = 3, FUNCTIONS = 4 };

typedef struct writer {
  FILE *to;
  uint64_t state;  // of the random numbers
  int indent;
  int function;  // the one being written; FUNCTIONS: the main script
  int loops;     // around this place, within the function
  int budget;    // statements left
} writer;

// --- Words: writer_words.c ---------------------------------------------------

unsigned next(writer *w, unsigned below);
void put(writer *w, const char *text);
__attribute__((format(printf, 2, 3))) void print(writer *w, const char *format,
                                                 ...);
const char *pick(writer *w, const char *const *names, unsigned count);
const char *array_name(writer *w);
const char *list_name(writer *w);
// One of several texts, each %s of which becomes an array's name.
void pattern(writer *w, const char *const *texts, unsigned count);
#define PATTERN(w, ...)                          \
  pattern(w, (const char *const[]){__VA_ARGS__}, \
          sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))
void margin(writer *w);

// --- Expressions: writer_values.c --------------------------------------------

void condition(writer *w);
void array(writer *w, int depth);
void list(writer *w, int depth);
void record(writer *w, int depth);

// --- Changing places: writer_places.c
// ------------------------------------------

void update(writer *w);
void swap(writer *w);
void many_borrow_owners(writer *w);

// --- What programs begin with: writer_prelude.c
// --------------------------------

// Module variables and functions; not [hosted]: with the host's in Tally.
void prelude(writer *w, bool hosted);

#endif
