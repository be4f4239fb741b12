// A part of a golden script with the answers that stand in its comments, and
// how what it did is compared with them. golden.h says how they are written.
#ifndef TALLY_REPL_ANSWERS_H
#define TALLY_REPL_ANSWERS_H

#include "repl/golden.h"
#include "repl/span.h"
#include "tally.h"

typedef enum tl_answer_kind {
  TL_ANSWER_OUTPUT,
  TL_ANSWER_ERROR,   // text: "shape error: message"
  TL_ANSWER_REPORT,  // a line of the report of the error before it
} tl_answer_kind;

typedef struct tl_answer {
  tl_answer_kind kind;
  span text;
  int line;        // of the expectation
  int error_line;  // where the error must be
  int column;      // 0: any
} tl_answer;

typedef struct tl_part {
  const char *path;
  span name;
  text source;  // after as many empty lines as stand above it in the file
  tl_answer *answers;
  size_t count, capacity;
  bool whole;   // output is expected to be [output], at line output_line of
  span output;  // output_path
  int output_line;
  const char *output_path;
} tl_part;

// Opens a part that begins on [line] of the file; borrows path and name.
void tl_part_open(tl_part *p, const char *path, span name, int line);
void tl_part_close(tl_part *p);

// Adds a line of the script, and the answer that stands on it. Borrows line.
void tl_part_add_line(tl_part *p, span line, int number);

// Compares what the part printed and how it ended: info NULL is without error.
void tl_part_compare(tl_golden *golden, const tl_part *p, span output,
                     const tally_error_info *info);

// Reports a failed expectation, and counts it.
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void tl_golden_fail(tl_golden *golden, const char *path, int line,
                    const char *format, ...);

#endif
