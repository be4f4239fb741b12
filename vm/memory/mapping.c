// Files mapped into memory: mapping.h has the contracts and the story.
//
// A signal handler may touch only what belongs to the process and needs no
// lock, so the mappings of all VMs stand in one table of fixed size, whose
// places are claimed and given back by atomic operations.
//
// Built for size.

#define _DEFAULT_SOURCE 1  // for anonymous mappings

#include "vm/memory/mapping.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vm/vm.h"

// Only a nonzero [begin] says that the rest of a place may be read. A thread
// that faults at an address is reading the array there, so the place stays
// taken meanwhile.
enum { PLACES = 512 };

// A mapped file: a place of the table.
struct tl_mapping {
  atomic_bool taken;
  // 0: nothing is mapped here.
  atomic_uintptr_t begin;
  size_t nbytes;
  bool own;
  int fd;
  // The VM's word of interrupts, to be marked when the file is lost.
  atomic_int *mark;
  // Zeros stand from here on; 0: all is there.
  atomic_uintptr_t lost_from;
  // For the message; a long path is cut at its front.
  char path[120];
};

static tl_mapping places[PLACES];
static atomic_int used;  // places at the table's begin that were ever taken
static uintptr_t page_mask;

// The handlers that ours stands before, the newest last. Others may put theirs
// in its place, as test frameworks do: then ours goes before those in turn.
enum { HANDLERS = 64 };
static struct sigaction handlers[HANDLERS];
static atomic_int handler_count;
static atomic_flag installing = ATOMIC_FLAG_INIT;
// How many handlers up the one is that this thread has handed a signal to.
static _Thread_local volatile sig_atomic_t handed;

// --- The handler ------------------------------------------------------------

// Access to the pages, of the file or of the zeros in their place.
static int protection(const tl_mapping *m) {
  return m->own ? PROT_READ | PROT_WRITE : PROT_READ;
}

// Puts zeros over the rest of the mapping that [at] lies in, from the page of
// [at] on. False: the address is in no mapping. Called from the signal handler.
static bool cover(uintptr_t at) {
  int count = atomic_load(&used);
  for (int i = 0; i < count; i++) {
    tl_mapping *m = &places[i];
    uintptr_t begin = atomic_load(&m->begin);
    // Not in this mapping.
    if (begin == 0 || at < begin || at - begin >= m->nbytes)
      continue;
    uintptr_t page = at & ~page_mask;
    if (mmap((void *)page, begin + m->nbytes - page, protection(m),
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
      return false;
    uintptr_t sofar = atomic_load(&m->lost_from);
    // Several threads may meet the loss at different pages: the lowest one
    // counts.
    while ((sofar == 0 || page < sofar) &&
           !atomic_compare_exchange_weak(&m->lost_from, &sofar, page))
      ;
    // The VM polls this word; the kernel that reads the zeros comes to its end
    // first.
    atomic_fetch_or(m->mark, TL_FILE_LOST);
    return true;
  }
  return false;
}

// Passes a signal that is not ours to the handler before ours. If that handler
// passes it back to ours, because it was installed earlier, the one before it
// is next.
static void hand_on(int number, siginfo_t *info, void *context) {
  int at = atomic_load(&handler_count) - 1 - handed;
  struct sigaction before = {.sa_handler = SIG_DFL};
  if (at >= 0)
    before = handlers[at];
  handed++;
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(number, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(number);
  } else {
    // With the default action restored, the access is tried again and ends the
    // process as it would have.
    signal(number, SIG_DFL);
    if (info->si_code <= 0)
      raise(number);
  }
  handed--;
}

// The handler of SIGBUS.
static void on_bus_error(int number, siginfo_t *info, void *context) {
  int error = errno;
  // A code above 0: the processor met it; others were sent.
  if (info->si_code <= 0 || !cover((uintptr_t)info->si_addr))
    hand_on(number, info, context);
  errno = error;
}

// Whether the installed action is this file's handler.
static bool is_ours(const struct sigaction *action) {
  return (action->sa_flags & SA_SIGINFO) != 0 &&
         action->sa_sigaction == on_bus_error;
}

// Whether two actions are the same handler.
static bool is_same(const struct sigaction *a, const struct sigaction *b) {
  bool takes_info = (a->sa_flags & SA_SIGINFO) != 0;
  return a->sa_flags == b->sa_flags &&
         (takes_info ? a->sa_sigaction == b->sa_sigaction
                     : a->sa_handler == b->sa_handler);
}

// Installs the handler if another is in its place, and remembers that one.
static bool install_here(void) {
  struct sigaction there, action = {.sa_sigaction = on_bus_error,
                                    .sa_flags = SA_SIGINFO | SA_ONSTACK};
  if (sigaction(SIGBUS, NULL, &there) != 0)
    return false;
  if (is_ours(&there))
    return true;
  // A handler that ours knows already has been put back: those after it are
  // gone.
  int count = 0, most = atomic_load(&handler_count);
  while (count < most && !is_same(&handlers[count], &there)) count++;
  if (count == HANDLERS)
    return false;
  page_mask = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
  sigemptyset(&action.sa_mask);
  handlers[count] = there;
  atomic_store(&handler_count, count + 1);
  return sigaction(SIGBUS, &action, NULL) == 0;
}

// Installs the handler under a spin lock: two VMs may map their first file at
// once.
static bool install(tl_vm *vm, const char *what) {
  while (atomic_flag_test_and_set(&installing))
    ;
  bool ok = install_here();
  atomic_flag_clear(&installing);
  return ok || tl_fail(vm, TALLY_ERR_IO,
                       "%s: no handler of SIGBUS could be installed", what);
}

// --- Mapping ----------------------------------------------------------------

// A free place of the table; NULL: all are taken.
// `used` says how far the signal handler has to look; it only grows.
static tl_mapping *claim(void) {
  for (int i = 0; i < PLACES; i++) {
    bool taken = false;
    if (!atomic_compare_exchange_strong(&places[i].taken, &taken, true))
      continue;
    int count = atomic_load(&used);
    while (count <= i && !atomic_compare_exchange_weak(&used, &count, i + 1))
      ;
    return &places[i];
  }
  return NULL;
}

// Keeps the path for messages; of a long one the end.
static void keep_path(tl_mapping *m, const char *path) {
  size_t n = strlen(path), room = sizeof m->path - 1;
  if (n <= room) {
    memcpy(m->path, path, n + 1);
    return;
  }
  snprintf(m->path, sizeof m->path, "...%s", path + n - room + 3);
}

// The error of a failed mmap.
static bool fail_map(tl_reader *reader, int error) {
  char reason[128];
  if (strerror_r(error, reason, sizeof reason) != 0)
    snprintf(reason, sizeof reason, "error %d", error);
  return tl_fail(reader->vm, TALLY_ERR_IO, "%s: cannot map \"%s\": %s",
                 reader->what, reader->path, reason);
}

// The place is claimed first and published last, by its begin, when all its
// fields are set.
bool tl_mapping_open(tl_reader *reader, bool own, tl_mapping **out) {
  tl_vm *vm = reader->vm;
  if (vm->options.no_signals)
    return tl_fail(vm, TALLY_ERR_IO,
                   "%s: this host allows no signal handler, which a mapped "
                   "file needs: read_npy reads it",
                   reader->what);
  if (!install(vm, reader->what))
    return false;
  tl_mapping *m = claim();
  if (m == NULL)
    return tl_fail(vm, TALLY_ERR_IO, "%s: %d files are mapped already",
                   reader->what, PLACES);
  m->nbytes = (size_t)reader->size;
  m->own = own;
  m->mark = &vm->interrupted;
  keep_path(m, reader->path);
  void *data = mmap(NULL, m->nbytes, protection(m),
                    own ? MAP_PRIVATE : MAP_SHARED, reader->fd, 0);
  if (data == MAP_FAILED) {
    int error = errno;
    atomic_store(&m->taken, false);
    return fail_map(reader, error);
  }
  m->fd = reader->fd;
  reader->fd = -1;
  atomic_store(&m->lost_from, 0);
  atomic_store(&m->begin, (uintptr_t)data);
  *out = m;
  return true;
}

// Atomic, because a signal handler in any thread reads it.
char *tl_mapping_data(const tl_mapping *m) {
  return (char *)atomic_load(&m->begin);
}

bool tl_mapping_is_own(const tl_mapping *m) {
  return m->own;
}

// The begin is cleared first: from then on the handler ignores the place.
void tl_mapping_release(void *context, void *data) {
  (void)data;  // the first item, behind the file's header
  tl_mapping *m = context;
  void *begin = tl_mapping_data(m);
  atomic_store(&m->begin, 0);
  munmap(begin, m->nbytes);
  close(m->fd);
  atomic_store(&m->taken, false);
}

// --- Files that were lost ---------------------------------------------------

// The next mapping of this VM, from index *at on, of which a part was lost;
// NULL.
static tl_mapping *next_lost(const tl_vm *vm, int *at) {
  for (int count = atomic_load(&used); *at < count; ++*at) {
    tl_mapping *m = &places[*at];
    if (atomic_load(&m->begin) != 0 && m->mark == &vm->interrupted &&
        atomic_load(&m->lost_from) != 0)
      return m;
  }
  return NULL;
}

// The lost part begins at a page, so the byte that is named may be before the
// first missing one.
bool tl_mapping_fail(tl_vm *vm) {
  int at = 0;
  const tl_mapping *m = next_lost(vm, &at);
  vm->file_lost = true;
  // Nobody has the array any more: what was read from it is still wrong.
  if (m == NULL)
    return tl_fail(vm, TALLY_ERR_IO,
                   "a mapped file has become shorter while it was read");
  return tl_fail(vm, TALLY_ERR_IO,
                 "\"%s\" has become shorter while it was mapped, or cannot be "
                 "read any more from byte %zu on",
                 m->path,
                 (size_t)(atomic_load(&m->lost_from) - atomic_load(&m->begin)));
}

// Maps the file's own pages over the zeros again. Where the system refuses
// that, who reads on would read zeros, so the VM stays marked.
void tl_mapping_restore(tl_vm *vm) {
  int at = 0;
  vm->file_lost = false;
  // Another thread of the pool may have met the same loss and marked the VM
  // again since.
  atomic_fetch_and(&vm->interrupted, ~TL_FILE_LOST);
  for (tl_mapping *m; (m = next_lost(vm, &at)) != NULL; at++) {
    uintptr_t begin = atomic_load(&m->begin), from = m->lost_from;
    if (mmap((void *)from, begin + m->nbytes - from, protection(m),
             (m->own ? MAP_PRIVATE : MAP_SHARED) | MAP_FIXED, m->fd,
             (off_t)(from - begin)) != MAP_FAILED)
      atomic_store(&m->lost_from, 0);
    else
      atomic_fetch_or(&vm->interrupted, TL_FILE_LOST);
  }
}
