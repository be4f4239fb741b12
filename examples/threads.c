// Eight threads with a VM each: every one makes an array and hands it to the
// next, which adds to it where it lies. Nothing is locked and nothing copied.
// Then one that never ends is interrupted from outside.

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include "tally.h"

enum { THREADS = 8, ITEMS = 100000 };

typedef struct worker {
  pthread_t thread;
  int number;
  tally_parcel *sent;
  const void *at;  // where the array's items are
  double sum;
  tally_status status;
} worker;

static void *make(void *argument) {
  worker *w = argument;
  tally_vm *vm;
  tally_value v = {0, 0};
  tally_array array;
  char source[80];
  w->status = tally_open(NULL, &vm);
  if (w->status != TALLY_OK)
    return NULL;
  snprintf(source, sizeof source, "arange(%d) * %d.0", ITEMS, w->number);
  w->status = tally_eval(vm, source, &v);
  if (w->status == TALLY_OK)
    w->status = tally_to_buffer(vm, v, &array);
  if (w->status == TALLY_OK) {
    w->at = array.data;
    w->status = tally_send(vm, v, &w->sent);  // takes v
  }
  tally_close(vm);
  return NULL;
}

static void *use(void *argument) {
  worker *w = argument;
  tally_vm *vm;
  tally_value v = {0, 0}, out = {0, 0};
  tally_array array;
  w->status = tally_open(NULL, &vm);
  if (w->status != TALLY_OK)
    return NULL;
  w->status = tally_receive(vm, w->sent, &v);
  if (w->status == TALLY_OK)
    w->status = tally_eval(vm, "fn add(x) = x + 1", NULL);
  v = tally_take(v);
  if (w->status == TALLY_OK)
    w->status = tally_call(vm, "add", 1, &v, &out);
  if (w->status == TALLY_OK)
    w->status = tally_to_buffer(vm, out, &array);
  if (w->status == TALLY_OK && array.data != w->at)
    w->status = TALLY_ERR_HOST;  // it was copied
  if (w->status == TALLY_OK)
    w->status = tally_call(vm, "sum", 1, &out, &v);
  if (w->status == TALLY_OK)
    w->status = tally_to_float(vm, v, &w->sum);
  tally_release(vm, out);
  tally_close(vm);
  return NULL;
}

static void run(worker *workers, void *(*body)(void *)) {
  for (int i = 0; i < THREADS; i++)
    pthread_create(&workers[i].thread, NULL, body, &workers[i]);
  for (int i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
}

static atomic_int has_ended;

static void *spin(void *argument) {
  static tally_status status;
  status = tally_eval(argument, "while true { }", NULL);
  atomic_store(&has_ended, 1);
  return &status;
}

int main(void) {
  worker workers[THREADS] = {{.number = 0}};
  for (int i = 0; i < THREADS; i++) workers[i].number = i;
  run(workers, make);
  // To the next one in the ring.
  worker last = workers[THREADS - 1];
  for (int i = THREADS - 1; i > 0; i--) {
    workers[i].sent = workers[i - 1].sent;
    workers[i].at = workers[i - 1].at;
  }
  workers[0].sent = last.sent;
  workers[0].at = last.at;
  run(workers, use);
  for (int i = 0; i < THREADS; i++)
    printf("thread %d: %s, sum %.0f\n", i,
           workers[i].status == TALLY_OK ? "in place" : "failed",
           workers[i].sum);

  tally_vm *vm;
  pthread_t thread;
  void *status;
  if (tally_open(NULL, &vm) != TALLY_OK)
    return 1;
  pthread_create(&thread, NULL, spin, vm);
  // It may not run yet, and an interrupt belongs to the run that it meets.
  while (!atomic_load(&has_ended)) {
    const struct timespec moment = {.tv_nsec = 1000000};
    tally_interrupt(vm);
    nanosleep(&moment, NULL);
  }
  pthread_join(thread, &status);
  printf("the endless one: %s\n", tally_error(vm)->kind);
  tally_close(vm);
  return *(tally_status *)status != TALLY_ERR_INTERRUPT;
}
