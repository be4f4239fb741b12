// What is the better of two items, for the kernels of smallest and largest
// ones: `beats` is > or <, IS_NAN(x) whether x stays whatever it meets. NaN
// wins over every number, and the first of equals over the others. Compilers
// make vectors of these forms, not of others that mean the same.
#pragma once

#define IS_NAN_FLOAT(x) ((x) != (x))
#define IS_NAN_INTEGER(x) 0

// x meets y, which comes after it.
#define BETTER(x, y, beats, IS_NAN) (((y beats x) | IS_NAN(y)) ? y : x)

// The same where x is at `at` and y at `place`; of NaNs the first stays.
#define ARG_STEP(x, at, y, place, beats, IS_NAN)               \
  {                                                            \
    const bool moves = ((y beats x) | IS_NAN(y)) & !IS_NAN(x); \
    at = moves ? (place) : at;                                 \
    x = moves ? (y) : x;                                       \
  }

// The same, several times in one loop; of NaNs the last stays.
#define MOVING_STEP(x, at, y, place, beats, IS_NAN) \
  {                                                 \
    const bool moves = (y beats x) | IS_NAN(y);     \
    at = moves ? (place) : at;                      \
    x = moves ? (y) : x;                            \
  }

// EXTREME(name, suffix, type, beats, IS_NAN) for both ends of every real dtype.
#define EXTREME_INTEGER(D, sfx, T, W)     \
  EXTREME(min, sfx, T, <, IS_NAN_INTEGER) \
  EXTREME(max, sfx, T, >, IS_NAN_INTEGER)
#define EXTREME_FLOAT(D, sfx, T, W)     \
  EXTREME(min, sfx, T, <, IS_NAN_FLOAT) \
  EXTREME(max, sfx, T, >, IS_NAN_FLOAT)
#define EXTREMES TL_INTEGERS(EXTREME_INTEGER) TL_FLOATS(EXTREME_FLOAT)
