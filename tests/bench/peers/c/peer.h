/* What the workloads in C share: timing, inputs, sizes. */
#ifndef PEER_H
#define PEER_H

#include <stddef.h>
#include <stdint.h>

#define NOINLINE __attribute__((noinline))

enum { NEST = 100000000, LONG = 10000000, SHORT = 100000, MILLION = 1000000 };

extern volatile double check;  // what a workload computed

// Runs f until its time is known; prints its median and least seconds, divided
// by [per], and the check value.
void bench(const char *name, void (*f)(void));
void bench_per(const char *name, void (*f)(void), double per);

// Memory in huge pages, touched.
void *room(size_t nbytes);
void *read_file(const char *name, size_t *nbytes);
// The items of an array, moved to the aligned beginning of their memory.
void *read_array(const char *name);

// Two arrays of LONG numbers, and room for two results.
extern double *X, *Y, *out, *out2;
void read_reals(void);

// The groups of workloads.
void nest(void);
void chain(void);
void maths(void);
void reductions(void);
void options(void);
void products(void);
void sorting(void);
void programs(void);
void small(void);
void scalars(void);
void words(void);

#endif
