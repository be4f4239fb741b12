// Signs by the names that a prompt takes after a backslash, as LaTeX has them:
// \alpha and Tab make α. The editor completes the names, and puts the sign in
// the name's place.
#ifndef TALLY_REPL_SIGNS_H
#define TALLY_REPL_SIGNS_H

// A name without the backslash, and its sign; name NULL ends the table.
typedef struct tl_sign {
  const char *name;  // without the backslash; NULL ends the table
  const char *sign;
} tl_sign;

// All of them.
extern const tl_sign tl_signs[];

#endif
