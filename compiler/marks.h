// Marks: comments that begin with #: on a line of their own and say something
// of the statement or function below them. There is one, #:inplace: what it
// stands above promises that its results live in the memory of operands.
#ifndef TALLY_COMPILER_MARKS_H
#define TALLY_COMPILER_MARKS_H

#include "compiler/lower.h"

// Notes in the unit what the marks cover. False, after a diagnosis, where a
// word is unknown or nothing stands below; b->failed where memory is out.
bool tl_find_marks(tl_builder *b);

// Looks through finished code for promises that cannot be kept whatever the
// values are. False after a diagnosis; what it cannot know, the VM sees.
bool tl_check_marks(tl_builder *b);

#endif
