// Live bytes over time, in bounded memory: when the samples are full, each two
// become one; when the bands are, the lighter half goes. So a recording of a
// second and one of a day take the same room.
#include <stdlib.h>

#include "vm/poll.h"
#include "vm/observe/in_place_contract.h"
#include "vm/observe/references.h"
#include "vm/memory/pages.h"
#include "vm/observe/debug.h"
#include "vm/suggest.h"

// Seconds since the recording began.
// The system's clock and not the host's hook, which a script's budget may be
// measured by and which is not to be called from within an allocation.
static double now(const tl_timeline *t) {
  return tl_clock() - t->start;
}

// --- Places -----------------------------------------------------------------

// The index of a file's name; of a long path the end is kept, where the name
// is. Files are compared by what is stored, so two long paths with one end are
// one file.
static uint32_t file_index(tl_timeline *t, const char *path) {
  const size_t most = sizeof t->files[0] - 1;
  size_t length = strlen(path);
  const char *name = length > most ? path + length - most : path;
  while ((*name & 0xc0) == 0x80) name++;  // not within a character
  for (uint32_t i = 0; i < t->file_count; i++)
    if (strcmp(t->files[i], name) == 0)
      return i;
  // More files than can be named share the last name.
  if (t->file_count == TL_WATCH_FILES)
    return TL_WATCH_FILES - 1;
  memcpy(t->files[t->file_count], name, strlen(name) + 1);
  return t->file_count++;
}

// Where the running script stands; its line's text goes to [text], unless that
// is NULL. 0: unknown.
static uint32_t find_line(tl_vm *vm, tl_timeline *t, uint32_t *file, char *text,
                          size_t size) {
  *file = 0;
  if (text != NULL)
    text[0] = 0;
  const tl_frame *frame = vm->frame;
  if (vm->frames == NULL || frame < vm->frames || frame->function == NULL)
    return 0;
  const tl_prototype *p = frame->function;
  uint32_t line = tl_line_at(p, tl_frame_pc(frame));
  if (line == 0)
    return 0;
  // The first file is the script's, even where a module is the first to ask.
  for (const tl_frame *f = vm->frames; t->file_count == 0; f++)
    if (f->function != NULL)
      file_index(t, f->function->unit->file->text);
  *file = file_index(t, p->unit->file->text);
  if (text != NULL) {
    size_t nbytes;
    const char *from = tl_line_text(p->unit, line, &nbytes);
    nbytes = (size_t)tl_clip(from, nbytes, size - 1);
    memcpy(text, from, nbytes);
    text[nbytes] = 0;
  }
  return line;
}

// --- Samples ----------------------------------------------------------------

// Makes one stretch of each two. What lies behind the last change is not known
// yet.
static void halve_line(tl_device_line *line) {
  for (uint32_t i = 0; 2 * i <= line->at; i++) {
    uint64_t a = line->high[2 * i];
    uint64_t b = 2 * i < line->at ? line->high[2 * i + 1] : 0;
    line->high[i] = a > b ? a : b;
  }
  line->at /= 2;
}

// Makes one sample of each two. Low and high stay exact: they are those of the
// whole double interval. What is lost is when within it they were.
//
//  samples 0.1 s   3 5 | 9 2 | 4 4 | …    1,024 of them
//  samples 0.2 s    5     9     4   …     512, and room for as many again
//
static void halve_samples(tl_timeline *t) {
  for (uint32_t i = 0; i < TL_SAMPLES / 2; i++) {
    tl_sample a = t->samples[2 * i], b = t->samples[2 * i + 1];
    t->samples[i] = (tl_sample){.low = a.low < b.low ? a.low : b.low,
                                .high = a.high > b.high ? a.high : b.high,
                                .last = b.last};
  }
  t->sample_count = TL_SAMPLES / 2;
  t->width *= 2;
  halve_line(&t->rss);
  for (uint32_t d = 0; d < t->device_count; d++) halve_line(&t->devices[d]);
}

// Notes the bytes of a line in the newest sample; until then they were what
// they had been last.
// Samples in between, in which nothing changed, are filled in by the last value
// as they are passed.
static void add_to_line(tl_device_line *line, uint32_t at, uint64_t bytes) {
  while (line->at < at) line->high[++line->at] = line->last;
  line->last = bytes;
  if (bytes > line->high[at])
    line->high[at] = bytes;
  if (bytes > line->peak)
    line->peak = bytes;
}

// Makes samples up to so many, in which nothing has changed.
static void fill_samples(tl_timeline *t, uint32_t count) {
  while (t->sample_count < count) {
    uint64_t last = t->samples[t->sample_count - 1].last;
    t->samples[t->sample_count++] = (tl_sample){last, last, last};
  }
}

// Notes the live bytes at a time. Times never go back, so only the last sample
// is changed. An interval without events has the value of the one before.
static void add_sample(tl_timeline *t, double at, uint64_t live) {
  while (at >= t->width * TL_SAMPLES) {
    fill_samples(t, TL_SAMPLES);
    halve_samples(t);
  }
  uint32_t index = (uint32_t)(at / t->width);
  // Rounding may give the index behind the last.
  if (index >= TL_SAMPLES)
    index = TL_SAMPLES - 1;
  fill_samples(t, index + 1);
  if (t->rss.at < index)
    add_to_line(&t->rss, index, tl_pages_resident());
  tl_sample *s = &t->samples[t->sample_count - 1];
  if (live < s->low)
    s->low = live;
  if (live > s->high)
    s->high = live;
  s->last = live;
}

// --- Bands ------------------------------------------------------------------

// How much of a picture the band covers: bytes times seconds.
// A block of a moment still weighs as if it had lived for one sample, which is
// as narrow as a picture shows it.
static double weight(const tl_timeline *t, const tl_band *b) {
  double until = b->block == NULL ? b->died : t->end;
  return (double)b->nbytes * (until - b->born + t->width);
}

// Without subtraction, whose rounding to int would lose the sign of small
// differences.
static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Keeps the heavier half. A living block that goes is still counted, but not
// shown by itself.
// The median of the weights decides, so that about half go whatever the weights
// are; several that weigh as much as the median go together.
static void thin_bands(tl_timeline *t) {
  double weights[TL_BANDS];
  for (uint32_t i = 0; i < t->band_count; i++)
    weights[i] = weight(t, &t->bands[i]);
  qsort(weights, t->band_count, sizeof *weights, by_size);
  double middle = weights[t->band_count / 2];
  uint32_t count = 0;
  t->smallest_band = UINT64_MAX;
  for (uint32_t i = 0; i < t->band_count; i++) {
    if (weight(t, &t->bands[i]) <= middle)
      continue;
    t->bands[count++] = t->bands[i];
    if (t->bands[i].nbytes < t->smallest_band)
      t->smallest_band = t->bands[i].nbytes;
  }
  t->band_count = count;
}

// A block made where one of the same size and line has just died goes on with
// its band, if the gap could not be seen. A loop that makes and drops one array
// per iteration is one band and not a thousand. The newest bands are looked at
// first.
//
//  for i in 0..1000 { y = x + i }     every y: one band, 1,000 times
//
static tl_band *continued(tl_timeline *t, uint64_t nbytes, uint32_t line,
                          uint32_t file, double at) {
  for (uint32_t i = t->band_count; i-- > 0;) {
    tl_band *b = &t->bands[i];
    if (b->block == NULL && b->nbytes == nbytes && b->line == line &&
        b->file == file && at - b->died <= t->width)
      return b;
  }
  return NULL;
}

// A new block, as a band of its own or a continued one.
static void add_band(tl_vm *vm, tl_timeline *t, const void *block,
                     size_t nbytes, double at) {
  uint32_t file;
  char text[sizeof t->bands[0].text];
  uint32_t line = find_line(vm, t, &file, text, sizeof text);
  tl_band *b = continued(t, nbytes, line, file, at);
  if (b != NULL) {
    b->block = block;
    b->times++;
    return;
  }
  if (t->band_count == TL_BANDS)
    thin_bands(t);
  if (nbytes < t->smallest_band)
    t->smallest_band = nbytes;
  b = &t->bands[t->band_count++];
  *b = (tl_band){block, nbytes, at, at, line, file, 1, "", ""};
  memcpy(b->text, text, sizeof text);
}

// --- Events -----------------------------------------------------------------

// A block was made.
static void add_alloc(tl_vm *vm, tl_timeline *t, const void *block,
                      size_t nbytes) {
  uint64_t live = tl_live_now(vm);
  double at = t->end = now(t);
  add_sample(t, at, live);
  if (live > t->peak) {
    t->peak = live;
    t->peak_at = at;
    t->peak_line =
        find_line(vm, t, &t->peak_file, t->peak_text, sizeof t->peak_text);
    // Blocks of less than a thousandth of the peak could not be seen.
    t->smallest = live / 1000;
  }
  if (nbytes >= t->smallest)
    add_band(vm, t, block, nbytes, at);
}

// A block died. A block that has no band, since it was too small or went when
// bands were thinned, changes the sample alone.
static void add_free(tl_vm *vm, tl_timeline *t, const void *block,
                     size_t nbytes) {
  double at = t->end = now(t);
  add_sample(t, at, tl_live_now(vm));
  if (nbytes < t->smallest_band)
    return;
  for (uint32_t i = t->band_count; i-- > 0;) {
    if (t->bands[i].block != block)
      continue;
    t->bands[i].block = NULL;
    t->bands[i].died = at;
    return;
  }
}

// The observer's events.
// Recordings lie within each other as calls do, so that there are few:
//
//   tally_watch           ├─────────────────────────────┤
//   memory.timeline(f)        ├───────────┤   ├─────┤
//   … within f                   ├─────┤
static void note_alloc(tl_vm *vm, const void *block, size_t nbytes) {
  for (tl_timeline *t = vm->watch->recording; t != NULL; t = t->next)
    add_alloc(vm, t, block, nbytes);
  if (vm->timed)
    tl_profile_alloc(vm, nbytes);
}

// A profile hears of births alone: it counts what lines make, not what
// stays of it.
static void note_free(tl_vm *vm, const void *block, size_t nbytes) {
  for (tl_timeline *t = vm->watch->recording; t != NULL; t = t->next)
    add_free(vm, t, block, nbytes);
}

// Notes how much there is of a type of foreign memory. Types beyond those that
// there is room for are not told apart.
static void add_type(tl_timeline *t, const tl_type_count *count) {
  uint32_t i = 0;
  while (i < t->type_count && t->types[i].of != count) i++;
  if (i == TL_WATCH_TYPES)
    return;
  if (i == t->type_count)
    t->types[t->type_count++] = (tl_type_line){.of = count};
  if (count->nbytes > t->types[i].peak)
    t->types[i].peak = count->nbytes;
}

// A device has no blocks that could be bands: only how much there is, in the
// sample of that moment.
static void note_foreign(tl_vm *vm, const tl_type_count *count) {
  for (tl_timeline *t = vm->watch->recording; t != NULL; t = t->next) {
    add_type(t, count);
    if (count->device == 0)
      continue;
    t->end = now(t);
    add_sample(t, t->end, tl_live_now(vm));
    add_to_line(&t->devices[count->device - 1], t->sample_count - 1,
                vm->devices[count->device - 1].bytes);
  }
}

// --- Beginning and end ------------------------------------------------------

// Begins a recording: instructions are counted, since each says there where it
// stands. The host's allocator is called directly, here and for all records:
// what watches memory should not be in the picture. False: no memory, and
// nothing has changed.
//
//  vm->watched   from the first watch on, until the VM is closed: the records
//  vm->watch     the same while anything is recorded, else NULL
//
static bool open_watch(tl_vm *vm) {
  if (vm->watched == NULL) {
    vm->watched = tl_host_new(vm, sizeof *vm->watched);
    if (vm->watched == NULL)
      return false;
    *vm->watched = (tl_watch){.recording = NULL};
  }
  if (vm->watch == NULL)
    vm->watched->was_counting = vm->counting;
  vm->watch = vm->watched;
  vm->counting = true;
  return true;
}

// The first sample is a microsecond long; each halving doubles that.
tl_timeline *tl_timeline_begin(tl_vm *vm) {
  bool opened = vm->watch == NULL;
  tl_timeline *t = tl_host_new(vm, sizeof *t);
  if (t == NULL || !open_watch(vm)) {
    tl_timeline_free(vm, t);
    return NULL;
  }
  memset(t, 0, sizeof *t);
  uint64_t live = tl_live_now(vm);
  t->start = tl_clock();
  t->width = 1e-6;
  t->smallest = live / 1000;
  t->smallest_band = UINT64_MAX;
  t->before = t->peak = t->after = live;
  t->samples[0] = (tl_sample){live, live, live};
  t->sample_count = 1;
  add_to_line(&t->rss, 0, t->rss.before = tl_pages_resident());
  t->device_count = (uint32_t)vm->options.device_count;
  for (uint32_t i = 0; i < t->device_count; i++) {
    uint64_t bytes = vm->devices[i].bytes;
    t->names[i] = vm->devices[i];
    t->devices[i].before = bytes;
    add_to_line(&t->devices[i], 0, bytes);
  }
  for (const tl_type_count *c = vm->type_counts; c != NULL; c = c->next) {
    if (c->nbytes == 0 || t->type_count == TL_WATCH_TYPES)
      continue;
    t->types[t->type_count++] =
        (tl_type_line){.of = c, .before = c->nbytes, .peak = c->nbytes};
  }
  t->opened = opened;
  t->next = vm->watch->recording;
  vm->watch->recording = t;
  return t;
}

// The host's allocator gets the size that it was asked for.
void tl_timeline_free(tl_vm *vm, tl_timeline *t) {
  if (t != NULL)
    tl_host_free(vm, t, sizeof *t);
}

// The new record is there before the old one goes, so that a failure changes
// nothing.
bool tl_watch_memory(tl_vm *vm) {
  tl_timeline *t = tl_timeline_begin(vm);
  if (t == NULL)
    return false;
  tl_timeline_free(vm, vm->watched->timeline);
  vm->watched->timeline = t;
  return true;
}

// Records of an earlier run stay, and new ones are added to them.
bool tl_watch_operations(tl_vm *vm) {
  if (!open_watch(vm))
    return false;
  tl_notes **notes = &vm->watched->notes;
  if (*notes == NULL) {
    *notes = tl_host_new(vm, sizeof **notes);
    if (*notes == NULL)
      return false;
    **notes = (tl_notes){.table = NULL};
  }
  return true;
}

// A record of before is given up: times of two runs do not add up.
bool tl_watch_time(tl_vm *vm) {
  tl_profile *p = tl_profile_open(vm);
  if (p == NULL || !open_watch(vm)) {
    tl_profile_close(vm, p);
    return false;
  }
  tl_profile_close(vm, vm->watched->profile);
  vm->watched->profile = p;
  vm->timed = true;
  return true;
}

// Notes who refers to the blocks that have bands.
// A value has one name there, that of the reference that is met first: frames
// come before variables.
// Of a view its block is what has a band, and the block's first owner its name.
static bool note_owner(void *context, const tl_reference *r) {
  tl_timeline *t = context;
  for (uint32_t i = 0; r->is_first && i < t->band_count; i++)
    if (t->bands[i].block == r->to.object)
      tl_spell_owner(r, t->bands[i].owner, sizeof t->bands[i].owner);
  return true;
}

// Bands of blocks that still live end here, as far as the picture goes.
// Owners are looked for at the end alone: a walk over all objects for each
// block would take longer than the run.
static void end_record(tl_vm *vm, tl_timeline *t) {
  t->end = now(t);
  t->after = tl_live_now(vm);
  add_sample(t, t->end, t->after);
  add_to_line(&t->rss, t->sample_count - 1, tl_pages_resident());
  for (uint32_t i = 0; i < t->device_count; i++)
    add_to_line(&t->devices[i], t->sample_count - 1, vm->devices[i].bytes);
  for (uint32_t i = 0; i < t->type_count; i++)
    t->types[i].after = t->types[i].of->nbytes;
  bool complete;  // owners that are not found are not named
  tl_each_reference(vm, false, note_owner, t, &complete);
  for (uint32_t i = 0; i < t->band_count; i++)
    if (t->bands[i].block != NULL)
      t->bands[i].died = t->end;
}

// A function of the host's may have stopped all recording in between.
void tl_timeline_end(tl_vm *vm, tl_timeline *t) {
  if (vm->watch == NULL)
    return;
  tl_timeline **at = &vm->watch->recording;
  while (*at != NULL && *at != t) at = &(*at)->next;
  if (*at == NULL)
    return;
  *at = t->next;
  end_record(vm, t);
  if (t->opened)
    tl_watch_stop(vm);
}

// Counting goes on where it was on before, as under --stats.
// Timelines that functions under way have begun end here, too, and stay theirs.
void tl_watch_stop(tl_vm *vm) {
  if (vm->watch == NULL)
    return;
  for (tl_timeline *t = vm->watch->recording; t != NULL; t = t->next)
    end_record(vm, t);
  vm->watch->recording = NULL;
  if (vm->timed)
    tl_profile_stop(vm, vm->watch->profile);
  vm->timed = false;
  vm->counting = vm->watch->was_counting;
  vm->watch = NULL;
}

// Both pointers are cleared first, so that nothing is recorded while it is
// freed.
void tl_watch_close(tl_vm *vm) {
  tl_watch *w = vm->watched;
  if (vm->timed)
    tl_profile_stop(vm, w->profile);
  vm->timed = false;
  vm->watch = vm->watched = NULL;
  if (w == NULL)
    return;
  tl_timeline_free(vm, w->timeline);
  tl_profile_close(vm, w->profile);
  if (w->notes != NULL)
    tl_notes_close(vm, w->notes);
  tl_host_free(vm, w, sizeof *w);
}

const tl_observer tl_watch_observer = {
    .alloc = note_alloc,
    .free = note_free,
    .step = tl_profile_step,
    .progress = tl_progress_tell,
    .before = tl_debug_before,
    .raised = tl_debug_raised,
    .foreign = note_foreign,
    .fresh = tl_watch_fresh,
    .inplace = tl_watch_inplace,
    .refused = tl_watch_refused,
    .copied = tl_watch_copied,
    .fused = tl_watch_fused,
    .has_contracts = tl_contract_near,
    .is_under_contract = tl_contract_runs,
    .contract_refused = tl_contract_refused,
    .contract_keeps = tl_contract_keeps,
    .contract_copies = tl_contract_copies,
    .contract_holds = tl_contract_holds,
    .contract_returns = tl_contract_returns,
    .contract_makes = tl_contract_makes,
    .contract_takes = tl_contract_takes,
};
