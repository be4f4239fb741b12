// A part of a golden script with the answers that stand in its comments, and
// how what it did is compared with them. golden.h says how answers are written.
//
//     tl_part_open, tl_part_add_line for each line
//     golden.c runs the part
//     tl_part_compare, tl_part_close
#ifndef TALLY_REPL_ANSWERS_H
#define TALLY_REPL_ANSWERS_H

#include "repl/golden.h"
#include "repl/span.h"
#include "tally.h"

// What an answer speaks of.
typedef enum tl_answer_kind {
  TL_ANSWER_OUTPUT,
  // An error; the text is "shape error: message".
  TL_ANSWER_ERROR,
  // A line of the report of the error before it.
  TL_ANSWER_REPORT,
} tl_answer_kind;

// One expectation.
// Lines are counted from 1, in the file and not in the part.
typedef struct tl_answer {
  tl_answer_kind kind;
  span text;
  // Of the expectation, for reports of its failure.
  int line;
  // Where the error has to be.
  int error_line;
  // The column there; 0: any.
  int column;
} tl_answer;

// A part of a file, which runs in a VM of its own.
typedef struct tl_part {
  const char *path;
  span name;
  // The part's code, after as many empty lines as stand above it in the file.
  text source;
  tl_answer *answers;
  size_t count, capacity;
  // The whole output is expected to be [output], which stands at output_line of
  // output_path.
  bool whole;
  span output;  // output_path
  int output_line;
  const char *output_path;
} tl_part;

// Opens a part that begins on [line] of the file; borrows path and name.
void tl_part_open(tl_part *p, const char *path, span name, int line);
// Frees the part's source and answers.
void tl_part_close(tl_part *p);

// Adds a line of the script, and the answer that stands on it. Borrows line,
// until the part is closed.
void tl_part_add_line(tl_part *p, span line, int number);

// Compares what the part printed and how it ended with its answers; [info]
// NULL: it ended without an error.
void tl_part_compare(tl_golden *golden, const tl_part *p, span output,
                     const tally_error_info *info);

// Reports a failed expectation, and counts it.
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void tl_golden_fail(tl_golden *golden, const char *path, int line,
                    const char *format, ...);

#endif
