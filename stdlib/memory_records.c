// Records of counters, references, timelines and profiles, as scripts and the
// painter see them. A painter is a VM of its own: what is made here is made by
// the VM that is given, while the record of the other one is only read.
//
// A put into a record that is NULL does nothing, and one that fails makes it
// NULL: a record of twenty fields is checked once.
#include "stdlib/memory_records.h"

#include "stdlib/text.h"

// After an interrupt the error stands already, and is the one that counts.
bool tl_fail_incomplete(tl_vm *vm, const char *function) {
  return !tl_failed(vm) &&
         tl_fail(vm, TALLY_ERR_MEMORY,
                 "memory.%s: no memory to look at all values", function);
}

// A failure before this call or in it leaves *record NULL, which all puts pass
// on: the caller checks once, at the end.
//
//  &places[0].line ──▶ line        a field of each struct, [step] bytes apart,
//  places[1].line  ──▶             becomes an item of one dense array
//
void tl_record_put_column(tl_vm *vm, tl_record **record, const char *name,
                          tl_dtype dtype, const void *first, size_t step,
                          uint32_t count) {
  int64_t shape[1] = {count};
  size_t size = tl_itemsize(dtype);
  tl_array *a = *record ? tl_array_new(vm, dtype, 1, shape) : NULL;
  for (uint32_t i = 0; a != NULL && i < count; i++)
    memcpy(a->data + i * size, (const char *)first + i * step, size);
  tl_slot value;
  tl_record_put_made(vm, record, name, tl_array_finish(vm, true, a, &value),
                     &value);
}

// Adds a field as the others do; takes the list.
void tl_record_put_list(tl_vm *vm, tl_record **record, const char *name,
                        tl_list *list, bool ok) {
  tl_slot value;
  tl_record_put_made(vm, record, name, tl_list_give(vm, list, ok, &value),
                     &value);
}

// Takes the record, or NULL of one that failed: then false, too. *list may
// move.
bool tl_record_put_into(tl_vm *vm, tl_list **list, tl_record *record) {
  if (record == NULL)
    return false;
  return tl_list_push_own(vm, list, tl_own_record(record));
}

// --- Timelines --------------------------------------------------------------

// [count] texts as a list, [step] bytes from one to the next.
static void put_texts(tl_vm *vm, tl_record **record, const char *name,
                      const char *first, size_t step, uint32_t count) {
  tl_list *list = *record ? tl_list_new(vm, count) : NULL;
  bool ok = list != NULL;
  for (uint32_t i = 0; ok && i < count; i++) {
    const char *text = first + i * step;
    ok = tl_list_push_text(vm, &list, text, strlen(text));
  }
  tl_record_put_list(vm, record, name, list, ok);
}

// The blocks that are told apart, in columns.
// Columns of what is drawn, and of nothing that only the recording needs.
static void put_bands(tl_vm *vm, tl_record **record, const tl_timeline *t) {
  tl_record *bands = tl_record_new(vm, 8);
#define COLUMN(name, dtype)                                         \
  tl_record_put_column(vm, &bands, #name, dtype, &t->bands[0].name, \
                       sizeof t->bands[0], t->band_count)
  COLUMN(born, TL_FLOAT64);
  COLUMN(died, TL_FLOAT64);
  COLUMN(nbytes, TL_INT64);
  COLUMN(line, TL_UINT32);
  COLUMN(file, TL_UINT32);
  COLUMN(times, TL_UINT32);
#undef COLUMN
  tl_slot value;
  tl_record_put_made(vm, record, "bands", tl_record_put_end(bands, &value),
                     &value);
}

// The host's devices, each with a column of the most in each stretch.
// Their names may be any, so that they are fields of records and no keys.
static void put_devices(tl_vm *vm, tl_record **record, const tl_timeline *t) {
  tl_list *list = *record ? tl_list_new(vm, t->device_count) : NULL;
  bool ok = list != NULL;
  for (uint32_t i = 0; ok && i < t->device_count; i++) {
    const tl_device_line *line = &t->devices[i];
    tl_record *device = tl_record_new(vm, 5);
    tl_record_put_text(vm, &device, "name", t->names[i].name);
    tl_record_put_int(vm, &device, "before", line->before);
    tl_record_put_int(vm, &device, "peak", line->peak);
    tl_record_put_int(vm, &device, "after", line->last);
    tl_record_put_column(vm, &device, "high", TL_INT64, line->high,
                         sizeof line->high[0], t->sample_count);
    ok = tl_record_put_into(vm, &list, device);
  }
  tl_record_put_list(vm, record, "devices", list, ok);
}

// Texts, or none: of memory that has no type, and of the process's.
tl_record *tl_type_record(tl_vm *vm, const tl_type_count *count,
                          const tl_device *devices) {
  const char *type = count->type == NULL ? NULL : count->type->name;
  const char *device =
      count->device == 0 ? NULL : devices[count->device - 1].name;
  const char *names[2][2] = {{"type", type}, {"device", device}};
  tl_record *record = tl_record_new(vm, 5);
  for (int i = 0; i < 2; i++)
    if (names[i][1] != NULL)
      tl_record_put_text(vm, &record, names[i][0], names[i][1]);
    else
      tl_record_put(vm, &record, names[i][0], tl_none());
  return record;
}

// Foreign memory, where there was any.
static void put_types(tl_vm *vm, tl_record **record, const tl_timeline *t) {
  tl_list *list = *record ? tl_list_new(vm, t->type_count) : NULL;
  bool ok = list != NULL;
  for (uint32_t i = 0; ok && i < t->type_count; i++) {
    const tl_type_line *line = &t->types[i];
    if (line->peak == 0)
      continue;
    tl_record *type = tl_type_record(vm, line->of, t->names);
    tl_record_put_int(vm, &type, "before", line->before);
    tl_record_put_int(vm, &type, "peak", line->peak);
    tl_record_put_int(vm, &type, "after", line->after);
    ok = tl_record_put_into(vm, &list, type);
  }
  tl_record_put_list(vm, record, "foreign", list, ok);
}

// Samples and blocks are columns, one array for each of their fields: thousands
// of records would cost more memory than most programs that are watched.
//
//     (width: 0.01, end: 2.5, …, high: [512, 8192, …],   one for each sample
//      bands: (born: [0.1, …], file: [0, …], …),         one for each block
//      texts: ("a = b + c", …), owners: ("a", …),        the same, as texts
//      files: ("script.tly", …),                         by bands.file
//      devices: ((name: "gpu 0", …, high: [0, …]), …),   the host's
//      foreign: ((type: "tensor", device: "gpu 0", …), …))
bool tl_timeline_record(tl_vm *vm, const tl_timeline *t, tl_slot *out) {
  tl_record *record = tl_record_new(vm, 20);
  tl_record_put(vm, &record, "width", tl_float(t->width));
  tl_record_put(vm, &record, "end", tl_float(t->end));
  tl_record_put(vm, &record, "peak_at", tl_float(t->peak_at));
  tl_record_put_int(vm, &record, "before", t->before);
  tl_record_put_int(vm, &record, "peak", t->peak);
  tl_record_put_int(vm, &record, "after", t->after);
  tl_record_put_int(vm, &record, "peak_line", t->peak_line);
  tl_record_put_int(vm, &record, "peak_file", t->peak_file);
  tl_record_put_text(vm, &record, "peak_text", t->peak_text);
  tl_record_put_column(vm, &record, "high", TL_INT64, &t->samples[0].high,
                       sizeof t->samples[0], t->sample_count);
  put_bands(vm, &record, t);
  put_texts(vm, &record, "texts", t->bands[0].text, sizeof t->bands[0],
            t->band_count);
  put_texts(vm, &record, "owners", t->bands[0].owner, sizeof t->bands[0],
            t->band_count);
  put_texts(vm, &record, "files", t->files[0], sizeof t->files[0],
            t->file_count);
  tl_record_put_int(vm, &record, "rss_before", t->rss.before);
  tl_record_put_int(vm, &record, "rss_peak", t->rss.peak);
  tl_record_put_int(vm, &record, "rss_after", t->rss.last);
  tl_record_put_column(vm, &record, "rss", TL_INT64, t->rss.high,
                       sizeof t->rss.high[0], t->sample_count);
  put_devices(vm, &record, t);
  put_types(vm, &record, t);
  return tl_record_put_end(record, out);
}

// --- Profiles ---------------------------------------------------------------

// The texts that places have indices of, as a list.
// Most are used by many places: names once each keep the record small.
static void put_profile_texts(tl_vm *vm, tl_record **record,
                              const tl_profile *p) {
  tl_list *list = *record ? tl_list_new(vm, 16) : NULL;
  bool ok = list != NULL;
  const char *text;
  for (uint32_t i = 0; ok && (text = tl_profile_text(p, i)) != NULL; i++)
    ok = tl_list_push_text(vm, &list, text, strlen(text));
  tl_record_put_list(vm, record, "texts", list, ok);
}

// Columns again, one for each field of a place:
//
//     (parent: [0, 0, 1, …], function: …, seconds: [0.01, …], …,
//      texts: ("", "life.tly", "step", …))
//
//  place        0      1      2
//  parent      [0,     0,     1]       indices of places
//  function    [0,     1,     2]       indices of texts
//  seconds     [0.001, 0.02,  1.5]     its own
//
bool tl_profile_record(tl_vm *vm, const tl_profile *p, tl_slot *out) {
  const tl_call_place *places;
  uint32_t count = tl_profile_places(p, &places);
  tl_record *record = tl_record_new(vm, 9);
#define COLUMN(name, dtype)                                        \
  tl_record_put_column(vm, &record, #name, dtype, &places[0].name, \
                       sizeof places[0], count)
  COLUMN(parent, TL_UINT32);
  COLUMN(function, TL_UINT32);
  COLUMN(file, TL_UINT32);
  COLUMN(source, TL_UINT32);
  COLUMN(line, TL_UINT32);
  COLUMN(blocks, TL_INT64);
  COLUMN(nbytes, TL_INT64);
  COLUMN(seconds, TL_FLOAT64);
#undef COLUMN
  put_profile_texts(vm, &record, p);
  return tl_record_put_end(record, out);
}
