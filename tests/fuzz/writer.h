// Random programs about ownership, for programs.c and mutants.c.
#ifndef TALLY_TESTS_FUZZ_WRITER_H
#define TALLY_TESTS_FUZZ_WRITER_H

#include <stdint.h>
#include <stdio.h>

// Writes the program of this seed; [statements]: about how many its main script
// has.
void tl_write_program(uint64_t seed, int statements, FILE *to);

#endif
