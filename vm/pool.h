// Threads for long work on arrays: one group of workers for each VM, made when
// first needed and joined when the VM is closed.
//
// Work comes in chunks, which the caller and the workers take one after the
// other. A chunk sees plain memory alone: no VM, no allocation, no errors; the
// caller polls and fails for all.
//
//     caller    open_job ─ chunk 0 ─ chunk 3 ─ … ─ close_job, waits
//     worker 1             chunk 1 ─ chunk 4 ─ …
//     worker 2             chunk 2 ─ …
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct tally_vm tl_vm;

// Does chunk number [chunk] of the work in [context]; may run in any thread.
typedef void tl_pool_work(void *context, int64_t chunk);

// Threads at most, the caller among them.
enum { TL_POOL_MOST = 64 };

// The workers of a VM and the job under way. Fields without "under the lock"
// are atomic, or written only while no job is open.
typedef struct tl_pool {
  // How many threads may run, the caller among them; 0: not decided yet.
  int limit;
  int workers;  // that run
  // For tests: no work is too small to be spread.
  bool eager;
  pthread_t threads[TL_POOL_MOST];
  pthread_mutex_t lock;
  pthread_cond_t wake;
  int sleeping;  // under the lock
  // When the last job ended: workers that still spin need not be woken.
  double worked;
  bool closing;  // under the lock
  // The number of the open job; 0: none is open.
  atomic_uint job;
  unsigned job_count;
  // Workers that may be looking at the job's fields.
  atomic_int inside;
  // The job was given up: chunks that nobody has taken are left.
  atomic_bool stopped;
  atomic_int_fast64_t next;
  int64_t chunks;
  tl_pool_work *work;
  void *context;
} tl_pool;

// Prepares the pool; no thread is started.
void tl_pool_open(tl_vm *vm);
// Ends and joins all workers.
void tl_pool_close(tl_vm *vm);

// Over how many threads work may be spread: the host's option, but at most the
// processors that this process may run on.
int tl_pool_threads(tl_vm *vm);

// Whether work that would take one thread [seconds] ends earlier with more
// threads, considering whether workers have to be woken.
bool tl_pool_pays(tl_vm *vm, double seconds);

// Whether a job may be stopped between chunks: never; by a poll that each chunk
// is charged to; by one that is not charged, where nobody will see the half
// (tl_poll_over); or within chunks, which are long and ask pool.stopped: then
// the VM is also polled while the caller waits for the others' last ones.
typedef enum tl_stops {
  TL_NEVER_STOPS,
  TL_STOPS_PAID,
  TL_STOPS_UNSEEN,
  TL_STOPS_WITHIN
} tl_stops;

// Runs all chunks, in no particular order. The VM is polled, if at all, after
// each chunk of the caller's, for [cost] (see tl_poll); false means that
// tl_fail was called and some chunks were not run.
bool tl_pool_run(tl_vm *vm, int64_t chunks, tl_pool_work *work, void *context,
                 tl_stops stops, uint64_t cost);

// As tl_pool_run, where it is not known whether it pays: the caller runs the
// first chunk and measures it. The VM is polled for [cost] a chunk.
bool tl_pool_spread(tl_vm *vm, int64_t chunks, tl_pool_work *work,
                    void *context, uint64_t cost);
