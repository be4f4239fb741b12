// Where the time goes: a tree of the lines under way, in bounded memory.
//
// A thread of its own says every half millisecond that a sample is due. That is
// seen before the next instruction, which is counted, and by machine code and
// long kernels at their next poll, and the time since the last sample goes to
// the line under way: to the one that took long, even where a single kernel
// took a hundred of these intervals.
//
//     clock thread ── due ──▶ tl_profile_step ──▶ seconds of a place
//     vm/memory ── alloc ───▶ tl_profile_alloc ─▶ bytes of it
//
// A place is found from the outermost frame on, by a hash table of parent,
// function, file and line. Texts are copied, as code may be freed before the
// record is read.
//
//     index   parent  function  line          of a script that calls step(x)
//       0       0     ""          0           compiling, and the host
//       1       0     ""          7           the script's line 7 …
//       2       1     "step"      3           … as it runs line 3 of step
//       3       2     "sum"       0           … which is in the library's sum
//
// Two threads meet here. The VM's own writes all of the record; the clock's
// reads [over] and writes [due], and is joined before the record is freed. What
// is recorded is read after the clock has stopped.
#include <signal.h>

#include "vm/interp/interp.h"
#include "vm/observe/watch.h"
#include "vm/poll.h"
#include "vm/suggest.h"

// Twice as many entries as places, so that searches stay short.
// Ticks of half a millisecond cost the run nothing that is seen, and give a
// loop of a second 2,000 samples: an error of some 2 %.
enum { TABLE = 2 * TL_PLACES, TEXTS = 4096, INTERVAL_NS = 500000 };

// What a run has spent where: a tree of places in the order they were met,
// found through a table of hashes. It has one size, so that noting a place
// never allocates in the midst of what is measured, and what exceeds it goes to
// the caller's place.
struct tl_profile {
  // The clock's thread: it sets [due] until [over].
  pthread_t clock;
  atomic_bool due, over;
  bool ticks;
  // Some code has run; all before that was compiling.
  bool begun;
  double last;  // the time of the last sample
  tl_call_place places[TL_PLACES];
  uint32_t count;
  uint32_t table[TABLE];  // indices of places; 0: free
  // Texts, each ended by a zero byte, in the host's memory.
  char *texts[TEXTS];
  uint32_t text_count;
};

// --- The clock --------------------------------------------------------------

// The thread knows two words of the record and nothing else: it may not touch
// the VM, which runs meanwhile, nor its clock hook. Both words are said alone,
// with nothing published by them, so that relaxed order is enough; a tick that
// comes late makes a sample late and no time wrong, since samples are weighed
// by the clock.
static void *tick(void *context) {
  tl_profile *p = context;
  const struct timespec interval = {.tv_nsec = INTERVAL_NS};
  while (!atomic_load_explicit(&p->over, memory_order_relaxed)) {
    nanosleep(&interval, NULL);
    atomic_store_explicit(&p->due, true, memory_order_relaxed);
  }
  return NULL;
}

// Signals are for the host's own threads.
static bool start_clock(tl_profile *p) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  p->ticks = pthread_create(&p->clock, NULL, tick, p) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return p->ticks;
}

// The thread reads the record, so that this comes before it is freed. Takes as
// long as the rest of an interval; nothing happens where no clock runs.
static void stop_clock(tl_profile *p) {
  if (!p->ticks)
    return;
  p->ticks = false;
  atomic_store_explicit(&p->over, true, memory_order_relaxed);
  pthread_join(p->clock, NULL);
}

// --- Texts ------------------------------------------------------------------

// The index of a text, which is copied at first; 0, the empty text, where there
// is no room. There are few: names of files and functions, and source lines.
static uint32_t text_index(tl_vm *vm, tl_profile *p, const char *text,
                           size_t nbytes) {
  for (uint32_t i = 0; i < p->text_count; i++)
    if (tl_text_is(p->texts[i], text, nbytes))
      return i;
  char *copy = p->text_count == TEXTS ? NULL : tl_host_new(vm, nbytes + 1);
  if (copy == NULL)
    return 0;
  memcpy(copy, text, nbytes);
  copy[nbytes] = 0;
  p->texts[p->text_count] = copy;
  return p->text_count++;
}

// The caller counts up from 0 until NULL.
const char *tl_profile_text(const tl_profile *p, uint32_t index) {
  return index < p->text_count ? p->texts[index] : NULL;
}

// --- Places -----------------------------------------------------------------

// What tells a place from another of the same parent.
typedef struct spot {
  const tl_prototype *function;
  uint32_t parent, line;
} spot;

// By content, as the code that the text came from may have been freed and
// another be at its address.
static bool is_text(const tl_profile *p, uint32_t index, const tl_string *s) {
  return strcmp(p->texts[index], s->text) == 0;
}

// The entry of a place, or the free one where it would be. There always is one,
// since at most half of the table is taken.
//
//  key      parent, function, file, line      texts by content, not address
//  probe    one entry after the other         at most 16,384 of 32,768 taken
//
static uint32_t *find(tl_profile *p, spot s) {
  const tl_unit *unit = s.function->unit;
  uint64_t hash = tl_string_hash(s.function->name) ^ (uint64_t)s.parent << 32 ^
                  s.line ^ tl_string_hash(unit->file) << 1;
  // Fibonacci hashing, as for notes.
  size_t i = (size_t)(hash * 0x9e3779b97f4a7c15u >> 40);
  for (;; i++) {
    uint32_t *entry = &p->table[i & (TABLE - 1)];
    const tl_call_place *c = &p->places[*entry];
    if (*entry == 0 || (c->parent == s.parent && c->line == s.line &&
                        is_text(p, c->function, s.function->name) &&
                        is_text(p, c->file, unit->file)))
      return entry;
  }
}

// The source line of a place, cut between characters, and at a zero byte, which
// a comment may have: texts of the record end there.
static uint32_t source_index(tl_vm *vm, tl_profile *p, spot s) {
  size_t nbytes;
  if (s.line == 0)
    return 0;
  const char *text = tl_line_text(s.function->unit, s.line, &nbytes);
  nbytes = strnlen(text, nbytes);
  return text_index(vm, p, text, (size_t)tl_clip(text, nbytes, 100));
}

// The place of a frame below [parent]; that itself where there is no room for
// it or its names, without which it would not be found again.
static uint32_t place_below(tl_vm *vm, tl_profile *p, uint32_t parent,
                            const tl_frame *frame) {
  spot s = {.function = frame->function, .parent = parent};
  if (!tl_is_library(vm, frame->function->unit))
    s.line = tl_line_at(frame->function, tl_frame_pc(frame));
  uint32_t *entry = find(p, s);
  if (*entry != 0)
    return *entry;
  if (p->count == TL_PLACES)
    return parent;
  const tl_string *name = s.function->name, *file = s.function->unit->file;
  uint32_t function = text_index(vm, p, name->text, strlen(name->text));
  uint32_t path = text_index(vm, p, file->text, strlen(file->text));
  if ((function == 0 && name->text[0] != 0) ||
      (path == 0 && file->text[0] != 0))
    return parent;
  p->places[p->count] = (tl_call_place){.parent = parent,
                                        .line = s.line,
                                        .function = function,
                                        .file = path,
                                        .source = source_index(vm, p, s)};
  return *entry = p->count++;
}

// The place of the line under way. Of calls that nest deeper than the record
// does, the outer ones are told apart, and the innermost.
static tl_call_place *running(tl_vm *vm, tl_profile *p) {
  uint32_t at = 0, depth = 0;
  for (const tl_frame *f = vm->frames; vm->frames != NULL && f <= vm->frame;
       f++)
    if (f->function != NULL && (++depth < TL_PLACE_DEPTH || f == vm->frame))
      at = place_below(vm, p, at, f);
  return &p->places[at];
}

uint32_t tl_profile_places(const tl_profile *p, const tl_call_place **places) {
  *places = p->places;
  return p->count;
}

// --- Events -----------------------------------------------------------------

// Until the flag is seen this is one load of it for each instruction. What
// comes before the first instruction is compiling, and belongs to the first
// place. [due] is taken back before the clock is read, so that a tick in
// between is another sample and none is lost.
void tl_profile_step(tl_vm *vm) {
  tl_profile *p = vm->watch->profile;
  if (p->begun && !atomic_load_explicit(&p->due, memory_order_relaxed))
    return;
  atomic_store_explicit(&p->due, false, memory_order_relaxed);
  double now = tl_clock();
  tl_call_place *c = p->begun ? running(vm, p) : p->places;
  c->seconds += now - p->last;
  p->begun = true;
  p->last = now;
}

// Every block, not those of samples alone: bytes are exact where seconds are
// estimates. That is why places are looked up so often, and by a hash.
void tl_profile_alloc(tl_vm *vm, size_t nbytes) {
  tl_call_place *c = running(vm, vm->watch->profile);
  c->blocks++;
  c->nbytes += nbytes;
}

// --- Beginning and end ------------------------------------------------------

// The clock starts last: whatever fails before it leaves no thread. Text 0 is
// the empty one, which a lack of room gives, too.
tl_profile *tl_profile_open(tl_vm *vm) {
  tl_profile *p = tl_host_new(vm, sizeof *p);
  if (p == NULL)
    return NULL;
  memset(p, 0, sizeof *p);
  atomic_init(&p->due, false);
  atomic_init(&p->over, false);
  p->count = 1;
  p->last = tl_clock();
  text_index(vm, p, "", 0);
  if (p->text_count == 1 && start_clock(p))
    return p;
  tl_profile_close(vm, p);
  return NULL;
}

// What is left over since the last sample is the last line's.
void tl_profile_stop(tl_vm *vm, tl_profile *p) {
  if (!p->ticks)
    return;
  stop_clock(p);
  running(vm, p)->seconds += tl_clock() - p->last;
}

// Also of a record that is given up while its clock runs, for want of memory
// elsewhere. The host's allocator is told each block's size, which for a text
// is its length: none has a zero byte inside.
void tl_profile_close(tl_vm *vm, tl_profile *p) {
  if (p == NULL)
    return;
  stop_clock(p);
  for (uint32_t i = 0; i < p->text_count; i++)
    tl_host_free(vm, p->texts[i], strlen(p->texts[i]) + 1);
  tl_host_free(vm, p, sizeof *p);
}
