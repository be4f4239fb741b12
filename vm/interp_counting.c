// The dispatch loop once more, counting references and instructions.
#define TL_COUNTING
#include "vm/interp.c"
