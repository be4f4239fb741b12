// Threads for long work on arrays: one group of workers a VM, made when first
// needed and joined when the VM is closed.
//
// Work comes in chunks, which the caller and the workers take one after the
// other. A chunk sees plain memory alone: no VM, no allocation, no errors.
#ifndef TALLY_VM_POOL_H
#define TALLY_VM_POOL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct tally_vm tl_vm;

typedef void tl_pool_work(void *context, int64_t chunk);

enum { TL_POOL_MOST = 64 };  // threads, the caller among them

typedef struct tl_pool {
  int limit;    // threads, the caller among them; 0: not asked yet
  int workers;  // that run
  bool eager;   // tests: no work is too small
  pthread_t threads[TL_POOL_MOST];
  pthread_mutex_t lock;
  pthread_cond_t wake;
  int sleeping;     // under the lock
  double worked;    // when the last job ended
  bool closing;     // under the lock
  atomic_uint job;  // its number, 0: none is open
  unsigned job_count;
  atomic_int inside;    // workers that look at the job
  atomic_bool stopped;  // chunks that nobody has taken are left
  atomic_int_fast64_t next;
  int64_t chunks;
  tl_pool_work *work;
  void *context;
} tl_pool;

void tl_pool_open(tl_vm *vm);
void tl_pool_close(tl_vm *vm);

// How many threads work may be spread over: the option, at most the processors
// that this process may run on.
int tl_pool_threads(tl_vm *vm);

// Whether work that one thread would do in [seconds] ends earlier with more.
bool tl_pool_pays(tl_vm *vm, double seconds);

// Runs all chunks; the order is open. With [may_stop] the VM is polled for
// [cost] (see tl_poll) after each chunk of the caller's, and false means that
// some chunks were not run. Without, it is always true.
bool tl_pool_run(tl_vm *vm, int64_t chunks, tl_pool_work *work, void *context,
                 bool may_stop, uint64_t cost);

// The same where it is not known whether it pays: the first chunk, which the
// caller runs, tells. The VM is polled for [cost] a chunk.
bool tl_pool_spread(tl_vm *vm, int64_t chunks, tl_pool_work *work,
                    void *context, uint64_t cost);

#endif
