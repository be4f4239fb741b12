// Watching a run: whoever asked hears of every block and of what became of
// operands. While nobody watches that costs one test of a pointer for each
// allocation, and none in the dispatch loop.
//
//     vm->watch (NULL: off)
//       ├ timeline   live bytes over time      tally --memory-plot
//       ├ notes      one for each instruction  tally explain
//       └ profile    a tree of calls           tally --profile
//
//     tl_watch_memory / _operations / _time     begin
//       the layers below call the observer      events.h
//         note_alloc, note_free                 timeline.c
//         tl_watch_fresh, _inplace, _refused    notes.c
//         tl_profile_step, _alloc               profile.c
//     tl_watch_stop                             what was recorded stays
//     tl_explain_code, tl_timeline_record …     readers
//     tl_watch_close
//
// The records' own memory is outside the VM's account, so that watching changes
// nothing that is watched; where there is none left, something is forgotten and
// nothing fails.
//
// The same observer checks in-place contracts (in_place_contract.h), and beside
// it stand the readers of who refers to what (references.h) and what nothing
// refers to any longer (reclaim.c).
#pragma once

#include "vm/events.h"
#include "vm/bytecode/function.h"

// --- What a run is at (progress.c) -------------------------------------------

// Tells the host's hook (tally_options.progress), which is not NULL. At a poll,
// with all slots of the frames as the code says.
void tl_progress_tell(tl_vm *vm);

// --- Live bytes over time (timeline.c) --------------------------------------

enum {
  // A recording takes bounded memory: stretches of time, blocks that are drawn
  // as bands (the smallest go first), and names of files.
  TL_SAMPLES = 1024,  // stretches of time
  TL_BANDS = 512,     // blocks drawn as bands
  TL_WATCH_FILES = 32,
  TL_WATCH_TYPES = 32,  // types of foreign memory, by device
};

// Live bytes in one stretch of time.
typedef struct tl_sample {
  uint64_t low, high, last;
} tl_sample;

// A large block from birth to death, or several of one size one after the
// other.
typedef struct tl_band {
  // NULL: it is dead.
  const void *block;
  uint64_t nbytes;
  double born, died;  // seconds from the start
  // Where it was made: a line (0: unknown), a file of [files], and the source
  // line.
  uint32_t line;
  uint32_t file;  // an index of files
  uint32_t times;
  char text[64];   // the source line of its birth
  char owner[80];  // who has it when the recording ends; "": nobody
} tl_band;

// Bytes on a device, or of the process, in the same stretches as the samples.
typedef struct tl_device_line {
  uint64_t high[TL_SAMPLES];  // the most, up to [at]
  uint64_t last;              // now
  uint32_t at;                // the sample of the last change
  uint64_t before, peak;
} tl_device_line;

// Foreign bytes of a type on a device.
typedef struct tl_type_line {
  const tl_type_count *of;
  uint64_t before, peak, after;
} tl_type_line;

// Live bytes over time, and which large blocks they were.
typedef struct tl_timeline {
  // The next of those that are being recorded, and whether watching began with
  // this one.
  struct tl_timeline *next;
  bool opened;
  // The clock at the beginning; the length of a sample, in seconds.
  double start, width;
  // The time of the last event.
  double end;
  tl_sample samples[TL_SAMPLES];
  uint32_t sample_count;
  tl_band bands[TL_BANDS];
  uint32_t band_count;
  // Blocks below this size are no bands: they could not be seen in a picture.
  uint64_t smallest;
  uint64_t smallest_band;
  uint64_t before, peak, after;
  double peak_at;
  uint32_t peak_line, peak_file;
  char peak_text[100];  // the source line
  char files[TL_WATCH_FILES][100];
  uint32_t file_count;
  // Of the process (its resident set, looked at when a sample begins), and of
  // the host's devices.
  tl_device_line rss;
  tl_device_line devices[TALLY_MAX_DEVICES];
  tl_device names[TALLY_MAX_DEVICES];
  uint32_t device_count;
  tl_type_line types[TL_WATCH_TYPES];
  uint32_t type_count;
} tl_timeline;

// --- What became of operands (notes.c) --------------------------------------

// What one instruction did with its operands and results.
typedef struct tl_note {
  // NULL: a free place of the table.
  const tl_ins *at;
  uint64_t inplace, fresh, fused, copies;
  // Lists, records and strings: changed in place, made anew (copies, texts that
  // were joined), bytes of these.
  uint64_t changed, made, made_bytes;
  // Fused runs with several results.
  uint64_t together;
  uint64_t refused[TL_REJECTION_COUNT];
  // Of the first refusal of each kind: which slot (UINT32_MAX: unknown) and
  // what is to be said of it; NULL: no memory.
  struct tl_rejection_words {
    uint32_t slot;
    char text[250];
  } * words[TL_REJECTION_COUNT];
  // Bytes of the fresh arrays and copies.
  uint64_t nbytes;
  uint64_t largest;  // items of the largest result
  // Operands whose memory was taken, a bit for each.
  uint8_t taken;
} tl_note;

// All notes, as a hash table by the instruction's address.
typedef struct tl_notes {
  tl_note *table;
  uint32_t count, capacity;  // a power of two
} tl_notes;

// --- Where the time went (profile.c) ----------------------------------------

enum {
  // Bounds of a record: places in calls, and calls within each other that are
  // told apart. What does not fit counts for the caller.
  TL_PLACES = 16384,
  TL_PLACE_DEPTH = 100,
};

// A line under way, called by another one: a node of the tree of calls. Texts
// are indices of the record's texts.
typedef struct tl_call_place {
  uint32_t parent;  // lower than its own index; of the first, itself
  uint32_t function, file, source;
  uint32_t line;  // 0: a function of the library
  // While this line was the innermost: blocks made, their bytes, and the time.
  uint64_t blocks, nbytes;
  double seconds;
} tl_call_place;

// All of them. The first stands for what is no script's code, such as compiling
// it.
typedef struct tl_profile tl_profile;

// What readers see of a record: [count] places, and the texts.
// Borrowed: they move no more, but are written until the clock is stopped.
uint32_t tl_profile_places(const tl_profile *p, const tl_call_place **places);
// The text of an index; NULL behind the last.
const char *tl_profile_text(const tl_profile *p, uint32_t index);

// --- Who watches ------------------------------------------------------------

// What is recorded, and whether counting was on before.
typedef struct tl_watch {
  // All that are being recorded, the newest first: each hears of every block.
  tl_timeline *recording;
  tl_timeline *timeline;  // the host's; NULL: not asked for
  tl_notes *notes;
  tl_profile *profile;  // NULL: not asked for
  // Whether counting was on before: while watching it is, since the counting
  // loop alone says where it stands.
  bool was_counting;
} tl_watch;

// Begins a record of live bytes beside those that are being made; NULL: no
// memory (no error is set). It ends with tl_timeline_end or tl_watch_stop,
// whichever comes first, and is the caller's to free.
tl_timeline *tl_timeline_begin(tl_vm *vm);
// Nothing happens where the record has ended already. Who refers to what is
// still alive is looked up here, which walks all objects.
void tl_timeline_end(tl_vm *vm, tl_timeline *t);
// Takes a record that has ended, or NULL.
void tl_timeline_free(tl_vm *vm, tl_timeline *t);
// Begins the host's record of live bytes, instead of its last one, which has
// been stopped; false: no memory (no error is set).
bool tl_watch_memory(tl_vm *vm);
// Begins to record what becomes of operands; likewise.
bool tl_watch_operations(tl_vm *vm);
// Begins to record where the time goes, anew; likewise, and false where there
// is no thread for the clock.
bool tl_watch_time(tl_vm *vm);
// Ends all that is being recorded; the host's records stay until
// tl_watch_close.
void tl_watch_stop(tl_vm *vm);
// Frees what was recorded.
void tl_watch_close(tl_vm *vm);

// --- Between timeline.c and profile.c ---
// Makes a record and starts its clock; NULL: no memory, or no thread.
// On success a thread runs that reads the record, until tl_profile_stop or
// tl_profile_close.
tl_profile *tl_profile_open(tl_vm *vm);
// Stops the clock; what was recorded stays.
// Waits for it for at most an interval of half a millisecond. Twice is once.
void tl_profile_stop(tl_vm *vm, tl_profile *p);
// Takes a record, or NULL.
void tl_profile_close(tl_vm *vm, tl_profile *p);
// A block was made by the line under way.
// Called for each block while vm->timed, in the VM's thread. Allocates from the
// host alone, so that it does not hear of itself.
void tl_profile_alloc(tl_vm *vm, size_t nbytes);
// The observer's step: takes a sample if one is due.
// In the VM's thread, between two instructions or at a poll, with vm->frame->pc
// at the instruction that is over.
void tl_profile_step(tl_vm *vm);

// Frees the notes and their texts.
void tl_notes_close(tl_vm *vm, tl_notes *notes);
// The note of an instruction; NULL: nothing was seen of it.
const tl_note *tl_note_find(const tl_notes *notes, const tl_ins *at);

// The observer's functions (vm/events.h), and itself (timeline.c). Each speaks
// of the instruction that the top frame runs; where none runs, nothing is
// noted. All of them borrow, and none fails: without memory for a note the
// event is missing from the report.
//
//     fresh     a new value was made for the result
//     inplace   the result is in an operand's memory
//     refused   an operand's memory did not serve, and why; a result may still
//               get that of another one
//     copied    a value was copied before it was changed
//     fused     the words [begin, end) ran as one loop; [array]: what it made,
//               or NULL; [together]: it has several results
void tl_watch_fresh(tl_vm *vm, tl_slot made);
void tl_watch_inplace(tl_vm *vm, tl_slot result);
void tl_watch_refused(tl_vm *vm, tl_rejection why, tl_slot operand);
void tl_watch_copied(tl_vm *vm, tl_slot copy);
void tl_watch_fused(tl_vm *vm, const tl_ins *begin, const tl_ins *end,
                    const tl_array *array, bool together);
extern const tl_observer tl_watch_observer;
