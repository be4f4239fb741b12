// Signs by the names that a prompt takes after a backslash, as LaTeX has them.
#ifndef TALLY_REPL_SIGNS_H
#define TALLY_REPL_SIGNS_H

typedef struct tl_sign {
  const char *name;  // without the backslash; NULL ends the table
  const char *sign;
} tl_sign;

extern const tl_sign tl_signs[];

#endif
