// Worker threads: see pool.h.
//
// A job is a number that the workers see change. Taking a chunk is one atomic
// addition, so chunks need not be of equal length.
//
// Built for size.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1  // sched_getaffinity
#endif

#include "vm/pool.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "vm/poll.h"

// Waking a sleeping worker takes longer than many jobs, one that still looks
// for work next to nothing: so workers look around for a while after a job.
#define SPIN_SECONDS 50e-6
#define PAYS_ASLEEP 150e-6
#define PAYS_AWAKE 20e-6

enum { LOOKS = 64 };  // between two looks at the clock

// Tells the processor that this thread spins.
static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

// --- Workers ----------------------------------------------------------------

// Does chunks until none is left or the job is stopped.
static void take_chunks(tl_pool *pool) {
  for (;;) {
    if (atomic_load_explicit(&pool->stopped, memory_order_relaxed))
      return;
    int64_t chunk = atomic_fetch_add(&pool->next, 1);
    if (chunk >= pool->chunks)
      return;
    pool->work(pool->context, chunk);
  }
}

// Joins in job [seen], unless it is over. The caller closes a job first and
// then waits until nobody is inside, and a worker goes inside first and then
// looks at the job: so one of the two sees the other.
static void join_in(tl_pool *pool, unsigned seen) {
  atomic_fetch_add(&pool->inside, 1);
  if (atomic_load(&pool->job) == seen)
    take_chunks(pool);
  atomic_fetch_sub(&pool->inside, 1);
}

// Waits for another job than [last] and returns its number: spinning for a
// while, then asleep. 0: the VM closes.
static unsigned await_job(tl_pool *pool, unsigned last) {
  double until = tl_clock() + SPIN_SECONDS;
  do {
    for (int i = 0; i < LOOKS; i++) {
      unsigned job = atomic_load(&pool->job);
      if (job != 0 && job != last)
        return job;
      relax();
    }
  } while (tl_clock() < until);
  unsigned job = 0;
  pthread_mutex_lock(&pool->lock);
  pool->sleeping++;
  while (!pool->closing) {
    job = atomic_load(&pool->job);
    if (job != 0 && job != last)
      break;
    job = 0;
    pthread_cond_wait(&pool->wake, &pool->lock);
  }
  pool->sleeping--;
  pthread_mutex_unlock(&pool->lock);
  return job;
}

// A worker thread's life.
static void *run_worker(void *argument) {
  tl_pool *pool = argument;
  unsigned job = 0;
  while ((job = await_job(pool, job)) != 0) join_in(pool, job);
  return NULL;
}

// --- The pool ---------------------------------------------------------------

// The other fields are zero, as the VM's memory is.
void tl_pool_open(tl_vm *vm) {
  tl_pool *pool = &vm->pool;
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->wake, NULL);
}

// Sleeping workers are woken to see that the VM closes; spinning ones see it
// when they go to sleep.
void tl_pool_close(tl_vm *vm) {
  tl_pool *pool = &vm->pool;
  pthread_mutex_lock(&pool->lock);
  pool->closing = true;
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->lock);
  while (pool->workers > 0) pthread_join(pool->threads[--pool->workers], NULL);
  pthread_cond_destroy(&pool->wake);
  pthread_mutex_destroy(&pool->lock);
}

// The processors that this process may run on.
static int processors(void) {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    return CPU_COUNT(&set);
#endif
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online < 1 ? 1 : (int)(online < TL_POOL_MOST ? online : TL_POOL_MOST);
}

// Decided once, at the first question, as the processors may not be known
// earlier.
int tl_pool_threads(tl_vm *vm) {
  tl_pool *pool = &vm->pool;
  if (pool->limit == 0) {
    int most = pool->eager ? TL_POOL_MOST : processors();
    int asked = vm->options.threads > 0 ? vm->options.threads : most;
    pool->limit = asked < most ? asked : most;
    if (pool->limit > TL_POOL_MOST)
      pool->limit = TL_POOL_MOST;
  }
  return pool->limit;
}

// Workers that still spin cost little to involve, sleeping ones their wake-up.
bool tl_pool_pays(tl_vm *vm, double seconds) {
  tl_pool *pool = &vm->pool;
  if (tl_pool_threads(vm) < 2)
    return false;
  bool awake = pool->workers > 0 && tl_clock() - pool->worked < SPIN_SECONDS;
  return pool->eager || seconds > (awake ? PAYS_AWAKE : PAYS_ASLEEP);
}

// Starts as many workers as there are to be, or as the system gives. They block
// all signals, which are the host's threads' business, except SIGBUS: a worker
// meets that itself where a mapped file has become shorter, and blocking it
// would end the process.
static void start_workers(tl_vm *vm) {
  tl_pool *pool = &vm->pool;
  if (pool->workers >= tl_pool_threads(vm) - 1)
    return;
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGBUS);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (pool->workers < pool->limit - 1) {
    if (pthread_create(&pool->threads[pool->workers], NULL, run_worker, pool) !=
        0) {
      pool->limit = pool->workers + 1;
      break;
    }
    pool->workers++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// Gives the job its number and wakes the workers that sleep.
static void open_job(tl_pool *pool) {
  if (++pool->job_count == 0)
    pool->job_count = 1;
  atomic_store(&pool->job, pool->job_count);
  pthread_mutex_lock(&pool->lock);
  if (pool->sleeping > 0)
    pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->lock);
}

// Closes the job and waits until no worker is inside: after that its context
// may go. False where a poll on the way, if it [asks], stopped the workers.
static bool close_job(tl_vm *vm, bool asks) {
  enum { SPINS = 1024, YIELDS = 16 };
  tl_pool *pool = &vm->pool;
  bool ok = true;
  atomic_store(&pool->job, 0);
  // Chunks are mostly short, so spinning for a while is cheaper than sleeping.
  for (unsigned i = 0; atomic_load(&pool->inside) > 0; i++) {
    if (i < SPINS) {
      relax();
      continue;
    }
    sched_yield();
    if (asks && ok && i % YIELDS == 0) {
      ok = tl_poll(vm, 0);
      atomic_store(&pool->stopped, !ok);
    }
  }
  pool->worked = tl_clock();
  return ok;
}

// The caller is one of the threads: it takes chunks as the workers do, so that
// a job is done even if no worker is woken in time. Polling happens only in
// between its own chunks, since workers may not touch the VM.
bool tl_pool_run(tl_vm *vm, int64_t chunks, tl_pool_work *work, void *context,
                 tl_stops stops, uint64_t cost) {
  tl_pool *pool = &vm->pool;
  start_workers(vm);
  atomic_store(&pool->next, 0);
  atomic_store(&pool->stopped, false);
  pool->chunks = chunks;
  pool->work = work;
  pool->context = context;
  open_job(pool);
  bool ok = true;
  uint64_t total = cost * (uint64_t)chunks;
  while (ok) {
    int64_t chunk = atomic_fetch_add(&pool->next, 1);
    if (chunk >= chunks)
      break;
    work(context, chunk);
    // The caller pays for its own chunk and for one of the others', until all
    // are paid for.
    uint64_t part = total < 2 * cost ? total : 2 * cost;
    total -= part;  // what the others do is paid for too
    ok = stops == TL_STOPS_PAID     ? tl_poll_part(vm, part, chunk, chunks)
         : stops == TL_STOPS_UNSEEN ? tl_poll_over(vm)
                                    : !atomic_load(&pool->stopped);
  }
  if (!ok)
    atomic_store(&pool->stopped, true);
  ok = close_job(vm, ok && stops == TL_STOPS_WITHIN) && ok;
  return ok && (stops != TL_STOPS_PAID || total == 0 || tl_poll(vm, total));
}

// A job without its first chunk.
typedef struct rest {
  tl_pool_work *work;
  void *context;
} rest;

// The chunks of the job that is left are numbered from 0 again.
static void run_rest(void *context, int64_t chunk) {
  const rest *r = context;
  r->work(r->context, chunk + 1);
}

// The first chunk is done by the caller and measured: only then is it known how
// long the rest takes.
bool tl_pool_spread(tl_vm *vm, int64_t chunks, tl_pool_work *work,
                    void *context, uint64_t cost) {
  double start = tl_clock();
  work(context, 0);
  double each = tl_clock() - start;
  if (!tl_poll(vm, cost))
    return false;
  rest r = {work, context};
  if (tl_pool_pays(vm, each * (double)(chunks - 1)))
    return tl_pool_run(vm, chunks - 1, run_rest, &r, TL_STOPS_PAID, cost);
  for (int64_t i = 1; i < chunks; i++) {
    work(context, i);
    if (!tl_poll_part(vm, cost, i, chunks))
      return false;
  }
  return true;
}
