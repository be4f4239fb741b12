// Watching a run: who asked is told of every block and of what became of
// operands. Off, it costs one test of a pointer for each allocation, and none
// in the dispatch loop.
//
// Its own memory is outside the VM's account, so that watching changes nothing
// that is watched; where there is none left, it forgets instead of failing.
#ifndef TALLY_VM_WATCH_H
#define TALLY_VM_WATCH_H

#include "vm/array/array.h"
#include "vm/interp/function.h"

// --- Live bytes over time (timeline.c) --------------------------------------

enum {
  TL_SAMPLES = 1024,  // stretches of time that are told apart
  TL_BANDS = 512,     // blocks that are; the smallest ones go first
  TL_WATCH_FILES = 32,
};

// Live bytes in one stretch of time.
typedef struct tl_sample {
  uint64_t low, high, last;
} tl_sample;

// A large block from birth to death, or several one after the other.
typedef struct tl_band {
  const void *block;  // NULL: it is dead
  uint64_t nbytes;
  double born, died;  // seconds from the start
  uint32_t line;      // 0: unknown
  uint32_t file;      // an index of files
  uint32_t times;
  char text[64];  // the source line of its birth
} tl_band;

typedef struct tl_timeline {
  double start, width;  // of a sample, in seconds
  double end;           // of the last event
  tl_sample samples[TL_SAMPLES];
  uint32_t sample_count;
  tl_band bands[TL_BANDS];
  uint32_t band_count;
  uint64_t smallest;  // blocks below are no bands: they could not be seen
  uint64_t smallest_band;
  uint64_t before, peak, after;
  double peak_at;
  uint32_t peak_line, peak_file;
  char peak_text[100];  // the source line
  char files[TL_WATCH_FILES][100];
  uint32_t file_count;
} tl_timeline;

// --- What became of operands (notes.c) --------------------------------------

typedef enum tl_refusal {
  TL_REFUSED_LIVE,      // the operand is used later
  TL_REFUSED_SHARED,    // something else refers to it
  TL_REFUSED_SHAPE,     // the result has another shape
  TL_REFUSED_DTYPE,     // or items of another size
  TL_REFUSED_EXTERNAL,  // a view, read-only, or memory of the host's
  TL_REFUSAL_COUNT
} tl_refusal;

// What one instruction did.
typedef struct tl_note {
  const tl_ins *at;  // NULL: a free place of the table
  uint64_t inplace, fresh, fused, copies;
  uint64_t together;  // fused runs with several results
  uint64_t turns;     // fused with other turns of their loop
  uint64_t refused[TL_REFUSAL_COUNT];
  // Of the first refusal of each kind: which slot (UINT32_MAX: unknown) and
  // what is to be said of it; NULL: no memory.
  struct tl_refusal_words {
    uint32_t slot;
    char text[250];
  } * words[TL_REFUSAL_COUNT];
  uint64_t nbytes;   // of the fresh arrays and copies
  uint64_t largest;  // items of the largest result
  uint8_t taken;     // operands whose memory was taken: a bit for each
  uint8_t ndim_differs;
} tl_note;

typedef struct tl_notes {
  tl_note *table;
  uint32_t count, capacity;  // a power of two
} tl_notes;

// --- Who watches ------------------------------------------------------------

typedef struct tl_watch {
  tl_timeline *timeline;  // NULL: not asked for
  tl_notes *notes;
  bool was_counting;  // before: the counting loop alone says where it stands
} tl_watch;

// Begins to record; false: no memory (no error is set).
bool tl_watch_memory(tl_vm *vm);
bool tl_watch_operations(tl_vm *vm);
// Stops recording; what was recorded stays until tl_watch_close.
void tl_watch_stop(tl_vm *vm);
void tl_watch_close(tl_vm *vm);

// Frees the notes and what they say.
void tl_notes_close(tl_vm *vm, tl_notes *notes);
const tl_note *tl_note_find(const tl_notes *notes, const tl_ins *at);

// What is told. The first two where live_bytes has been changed already.
void tl_watch_alloc(tl_vm *vm, const void *block, size_t nbytes);
void tl_watch_free(tl_vm *vm, const void *block, size_t nbytes);
void tl_watch_fresh(tl_vm *vm, const tl_array *array);
void tl_watch_inplace(tl_vm *vm, const tl_array *array);
void tl_watch_refused(tl_vm *vm, tl_refusal why, tl_slot operand);
void tl_watch_copy(tl_vm *vm, const tl_array *copy);
// The instructions from [begin] to [end] ran as one; their result is [array],
// or NULL where it is none; [together]: one of several; in so many [turns] of a
// loop.
void tl_watch_fused(tl_vm *vm, const tl_ins *begin, const tl_ins *end,
                    const tl_array *array, bool together, uint64_t turns);

// promise.h
void tl_promise_refused(tl_vm *vm, tl_refusal why, tl_slot operand);

// --- Counting, and telling who watches ---------------------------------------

static inline void tl_refused(tl_vm *vm, tl_refusal why, tl_slot operand) {
  (&vm->stats.inplace_refused_live)[why]++;
  if (vm->has_promises)
    tl_promise_refused(vm, why, operand);
  if (vm->watch != NULL)
    tl_watch_refused(vm, why, operand);
}

static inline void tl_written_in_place(tl_vm *vm, const tl_array *array) {
  vm->stats.inplace++;
  if (vm->watch != NULL)
    tl_watch_inplace(vm, array);
}

static inline void tl_made_fresh(tl_vm *vm, const tl_array *array) {
  vm->stats.allocs++;
  vm->stats.alloc_bytes += array->head.nbytes;
  if (vm->watch != NULL)
    tl_watch_fresh(vm, array);
}

#endif
