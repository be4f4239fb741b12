// Random programs about ownership, for programs.c and mutants.c.
#ifndef TALLY_TESTS_FUZZ_WRITER_H
#define TALLY_TESTS_FUZZ_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// Writes the program of this seed; [statements]: about how many its main script
// has. It calls the functions of fuzz_host_open and imports tl_aside_module as
// "aside.tly"; not hosted: it defines the former itself.
void tl_write_program(uint64_t seed, int statements, bool hosted, FILE *to);

extern const char tl_aside_module[];

#endif
