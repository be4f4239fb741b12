// Golden scripts: programs that carry the answers they must give.
//
//   print(1 + 1)                 # expect: 2
//   print("a\nb")                the answer of several lines below it:
//   #> a
//   #> b
//   x[9]                         # expect error: index error: index 9
//   [1, 2][5]                    # expect error at 7: index error
//   #|    4 | [1, 2][5]          and these lines within the error's report
//
// Printed lines are matched with expectations in order. An error must have this
// kind, be at this line (at this column, where one is given), and its message
// must begin with this text, in which … stands for anything. A comment alone on
// its line speaks of the line above. The expected error ends the script; only
// syntax errors may be several. Lines `### name` cut a file into parts, each of
// which runs in a VM of its own.
//
// X.out beside X.tly is instead the whole output of X.tly. In Markdown, each
// block fenced as tally is a part; its answers stand behind `# →`, or in a
// block fenced as text or output below it. In documentation, an indented line
// `expr    # value` is evaluated and shown; with `# expect error: kind error:
// text` as value it must fail, and lines without # are run where another one
// has a value.
//
// Code that ends because an optional library "is not installed" is neither
// passed nor failed, unless its answers speak of that: it is reported as
// skipped.
#pragma once

#include <stdio.h>

#include "tally.h"

// The program that tests, in a VM of its own, and the VM that it tests.
typedef struct tl_golden tl_golden;

// Ends the process with a message where there is no memory. [native] is of each
// VM that is tested. Returns owned.
tl_golden *tl_golden_open(tally_native_code native);
void tl_golden_close(tl_golden *golden);

// Tests a .tly or .md file, from the working directory; path NULL: the examples
// in the documentation of all built-in functions, in a new folder. Only parts
// whose "file: name" has the text [filter], unless that is NULL. A line of the
// report for each failure and each part that is skipped, and behind these one
// with the numbers of expectations that were met and that were not.
void tl_golden_run(tl_golden *golden, const char *path, const char *filter,
                   FILE *report);
