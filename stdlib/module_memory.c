// The module memory: the counters, from inside a script. Whatever these
// functions allocate themselves is counted too, so each reads the counters
// before it makes its result.

#include "stdlib/families.h"
#include "stdlib/memory_records.h"
#include "vm/memory/pages.h"
#include "vm/memory/reserve.h"
#include "vm/bytecode/module.h"

// --- Counters ---------------------------------------------------------------

// A record with a field for each counter, in the order of TALLY_STATS. Takes
// [record].
static bool put_all(tl_vm *vm, tl_record *record, const tally_stats *s,
                    tl_slot *out) {
#define X(field, what) tl_record_put_int(vm, &record, #field, s->field);
  TALLY_STATS(X)
#undef X
  return tl_record_put_end(record, out);
}

// memory.stats().
static bool stats(tl_vm *vm, tl_slot *args, tl_slot *out) {
  // Read before the record itself changes them.
  tally_stats now = vm->stats;
  return put_all(vm, tl_record_new(vm, 64), &now, out);
}

// memory.reset().
static bool reset(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_stats_reset(vm);
  *out = tl_none();
  return true;
}

// The difference of the counters from [before] to [now]; peaks are measured
// from the bytes that were live before.
static tally_stats gained(const tally_stats *before, const tally_stats *now) {
  tally_stats gain;
#define X(field, what) gain.field = now->field - before->field;
  TALLY_STATS(X)
#undef X
  gain.peak_bytes = now->peak_bytes - before->live_bytes;
  gain.ext_peak_bytes = now->ext_peak_bytes - before->ext_bytes;
  gain.longest_free = now->longest_free;
  return gain;
}

// Makes a counter that has the largest of something at least what it was.
static void at_least(uint64_t *counter, uint64_t least) {
  if (*counter < least)
    *counter = least;
}

// memory.measure(f). The peak is lowered for the call and the older one
// restored after it, unless the call went higher.
static bool measure(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot value;
  tally_stats before = vm->stats;
  // Reference counters cost time, so they run only while someone wants them.
  bool counting = vm->counting;
  vm->counting = true;
  // The peaks of the call alone.
  vm->stats.peak_bytes = vm->stats.live_bytes;
  vm->stats.ext_peak_bytes = vm->stats.ext_bytes;
  vm->stats.longest_free = 0;
  bool ok = tl_call(vm, tl_borrow(args[0]), 0, NULL, &value);
  tally_stats gain = gained(&before, &vm->stats);
  vm->counting = counting;
  // The peaks of the whole run must not fall.
  at_least(&vm->stats.peak_bytes, before.peak_bytes);
  at_least(&vm->stats.ext_peak_bytes, before.ext_peak_bytes);
  at_least(&vm->stats.longest_free, before.longest_free);
  if (!ok)
    return false;
  // What filled the memory can be told.
  size_t reserve = tl_reserve(vm, TL_RESERVE);
  tl_record *record = tl_record_new(vm, 64);
  tl_record_put(vm, &record, "value", value);
  ok = put_all(vm, record, &gain, out);
  tl_reserve(vm, reserve);
  return ok;
}

// --- Over time ---------------------------------------------------------------

// memory.timeline(f). The record is the call's own, whoever else watches.
static bool timeline(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot value;
  tl_timeline *t = tl_timeline_begin(vm);
  if (t == NULL)
    return tl_fail_memory(vm, sizeof *t, "a record of the run");
  bool ok = tl_call(vm, tl_borrow(args[0]), 0, NULL, &value);
  tl_timeline_end(vm, t);
  tl_slot given[2] = {tl_none(), value};
  if (ok && !tl_timeline_record(vm, t, &given[0])) {
    tl_drop(vm, value);
    ok = false;
  }
  tl_timeline_free(vm, t);
  return ok && tl_call_embedded(vm, "inner/timeline", "of_call", 2, given, out);
}

// --- Bytes ------------------------------------------------------------------

// memory.live().
static bool live(tl_vm *vm, tl_slot *args, tl_slot *out) {
  *out = tl_weak_int((int64_t)vm->stats.live_bytes);
  return true;
}

// memory.peak().
static bool peak(tl_vm *vm, tl_slot *args, tl_slot *out) {
  *out = tl_weak_int((int64_t)vm->stats.peak_bytes);
  return true;
}

// memory.devices(): a record of each.
static bool devices(tl_vm *vm, tl_slot *args, tl_slot *out) {
  size_t count = vm->options.device_count;
  tl_record *all = tl_record_new(vm, (int64_t)count);
  for (size_t i = 0; i < count; i++) {
    const tl_device *d = &vm->devices[i];
    tl_record *record = tl_record_new(vm, 3);
    tl_record_put_int(vm, &record, "bytes", d->bytes);
    tl_record_put_int(vm, &record, "peak", d->peak);
    tl_record_put(vm, &record, "limit",
                  d->limit > 0 ? tl_weak_int((int64_t)d->limit) : tl_none());
    tl_slot value;
    tl_record_put_made(vm, &all, d->name, tl_record_put_end(record, &value),
                       &value);
  }
  return tl_record_put_end(all, out);
}

// memory.foreign(): a record of each type on each device.
static bool foreign(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_list *all = tl_list_new(vm, 4);
  bool ok = all != NULL;
  for (const tl_type_count *c = vm->type_counts; ok && c != NULL; c = c->next) {
    if (c->nbytes == 0 && c->alive == 0)
      continue;
    tl_record *record = tl_type_record(vm, c, vm->devices);
    tl_record_put(vm, &record, "count",
                  c->type != NULL ? tl_weak_int((int64_t)c->alive) : tl_none());
    tl_record_put_int(vm, &record, "bytes", c->nbytes);
    ok = tl_record_put_into(vm, &all, record);
  }
  return tl_list_give(vm, all, ok, out);
}

// memory.rss(): none where the system does not say.
static bool rss(tl_vm *vm, tl_slot *args, tl_slot *out) {
  size_t nbytes = tl_pages_resident();
  *out = nbytes > 0 ? tl_weak_int((int64_t)nbytes) : tl_none();
  return true;
}

// memory.trim(): the pool's free blocks go back to the system.
static bool trim(tl_vm *vm, tl_slot *args, tl_slot *out) {
  *out = tl_weak_int((int64_t)tl_memory_trim(vm));
  return true;
}

// memory.reclaim().
static bool reclaim(tl_vm *vm, tl_slot *args, tl_slot *out) {
  *out = tl_weak_int((int64_t)tl_reclaim(vm));
  return !tl_failed(vm);
}

// memory.reuse: a name for a value, not a function.
static bool reuse(tl_vm *vm, tl_slot *args, tl_slot *out) {
  *out = tl_bool(!vm->no_reuse);
  return true;
}

// --- One value --------------------------------------------------------------

// Whether the value is an object with a header of its own and a count.
static bool is_counted(tl_slot s) {
  // Scalars and the like live in their slot.
  if (!tl_is_heap(s))
    return false;
  if (tl_is_array(s))
    return true;
  int kind = tl_dtype_of(s);
  return kind != TL_KIND_BUILTIN && kind != TL_KIND_FUNCTION &&
         kind != TL_KIND_TYPE && kind != TL_KIND_MODULE;
}

// memory.count(x): the references besides the one that x is read from.
static bool count(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int64_t all = tl_is_counted(args[0]) ? args[0].object->count : 1;
  *out = tl_weak_int(all - 1);
  return true;
}

// memory.size(x): the bytes of the object itself.
static bool size(tl_vm *vm, tl_slot *args, tl_slot *out) {
  *out = tl_weak_int(is_counted(args[0]) ? (int64_t)args[0].object->nbytes : 0);
  return true;
}

// Writes the axes of an array, one on a line.
static void write_dims(tl_text *text, const tl_array *a) {
  for (int i = 0; i < tl_ndim(a); i++) {
    tl_text_printf(text, "\n  axis %d: size %lld, stride %lld", i,
                   (long long)tl_shape(a)[i], (long long)tl_strides(a)[i]);
  }
}

// Writes where the items are and who owns them.
static void write_array(tl_text *text, const tl_array *a) {
  write_dims(text, a);
  tl_text_printf(text, "\n  data: %p", (void *)a->data);
  if (tl_is_view(a)) {
    tl_text_printf(text, "\n  owner: array at %p, count %u%s",
                   (void *)tl_array_owner(a), tl_array_owner(a)->head.count,
                   (a->head.flags & TL_HOLD) != 0 ? ", held" : ", borrowed");
  } else if ((a->head.flags & TL_EXTERNAL) != 0) {
    tl_text_printf(text, "\n  owner: %s", tl_external_owner(a));
  } else {
    tl_text_puts(text, "\n  owner: itself");
  }
}

// memory.debug_repr(x): the value as the machine has it. Addresses differ from
// run to run.
static bool debug_repr(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot s = args[0];
  tl_text text;
  tl_text_open(&text, vm);
  tl_text_puts(&text, tl_described(vm, s));
  if (!is_counted(s)) {
    tl_text_puts(&text, ": in its slot, not counted");
  } else {
    tl_text_printf(&text, " at %p, %zu bytes, ", s.pointer, s.object->nbytes);
    if (!tl_is_counted(s))
      tl_text_puts(&text, "immortal");
    else
      tl_text_printf(&text, "count %u", s.object->count);
  }
  if (tl_is_array(s))
    write_array(&text, s.array);
  if (tl_is_nested(s))
    tl_nested_tree(&text, s.nested, 1);
  return tl_text_give(&text, true, out);
}

// Everything here depends on what ran before, so even the functions that only
// read are marked as effects: their order and number stay.
const tl_builtin tl_memory_module[] = {
    /// The counters that --stats shows, as a record of integers. Those of
    /// references (refs_virtual, refs_embedded, moves, borrows, promotions)
    /// and of instructions count where --stats or memory.measure asks for them;
    /// the others always do.
    /// Never fails.
    ///     memory.stats().rc_immortal_touched    # 0
    {"stats", "", stats, TL_EFFECT},
    /// Calls f() with every counter on; returns a record of f's value and what
    /// the counters gained, peak_bytes above what was alive before.
    /// An f that is no function is a type error; errors of f pass through.
    ///     memory.measure(() => zeros(3) + 1.0).allocs    # 1
    {"measure", "f", measure, TL_EFFECT | TL_CALLS},
    /// Calls f() and records how many bytes were alive meanwhile: a record of
    /// f's value, the arrays time (float64, seconds) and live (int64, the most
    /// bytes in the stretch that ends then), and before, peak, after (bytes)
    /// and the line of the peak. An f that is no function is a type error;
    /// errors of f pass through; a VM without the clock gives an io error.
    ///     memory.timeline(() => sum(zeros(10))).value    # 0.0
    {"timeline", "f", timeline, TL_CLOCK | TL_EFFECT | TL_CALLS},
    /// How many bytes are alive now, an int64 scalar. Never fails.
    ///     memory.live() >= 0    # true
    {"live", "", live, TL_EFFECT},
    /// The most bytes that were alive at once, since the beginning or
    /// memory.reset(): an int64 scalar. Never fails.
    ///     memory.peak() >= memory.live()    # true
    {"peak", "", peak, TL_EFFECT},
    /// How many bytes of the whole process are in memory now (its resident set),
    /// an int64 scalar: Tally's, those of other libraries and code. none where the
    /// system does not say. A VM without the environment gives an io error.
    ///     memory.rss() > 0    # true
    {"rss", "", rss, TL_ENVIRONMENT | TL_EFFECT},
    /// Bytes on the host's devices, such as a GPU: a record for each of bytes
    /// (now), peak (since the beginning or memory.reset()) and limit (none: no
    /// limit). They are not among live and peak, and not within the limit of
    /// the process's memory. Never fails.
    ///     memory.devices()    # (:)
    {"devices", "", devices, TL_EFFECT},
    /// What there is now of other libraries' memory: a record for each type of
    /// their objects on each device, of type and device (texts; none: the
    /// process's memory), count (how many) and bytes. Arrays over memory of the
    /// host's, and what a library allocates for itself, have the type none and
    /// no count. Never fails.
    ///     memory.foreign()    # ()
    {"foreign", "", foreign, TL_EFFECT},
    /// Sets the numbers of memory.stats to 0, the peak to what is alive now.
    /// Gives the value none and never fails.
    ///     memory.reset()
    {"reset", "", reset, TL_EFFECT},
    /// Gives cached memory back to the system; returns how many bytes.
    /// Never fails.
    ///     memory.trim() >= 0    # true
    {"trim", "", trim, TL_EFFECT},
    /// Frees the code of functions that nothing refers to any more, with its
    /// constants; returns how many bytes. Values go at once, when they are used
    /// last; code waits for this, or for the next statement of a prompt or
    /// host when much has gathered. Inside a function nothing is freed at once:
    /// the next such statement does it. Never fails.
    ///     memory.reclaim() >= 0    # true
    {"reclaim", "", reclaim, TL_EFFECT},
    /// Whether results may be written into dying operands: not with
    /// --no-reuse.
    /// A bool.
    ///     typeof(memory.reuse) == bool    # true
    {"reuse", NULL, reuse},
    /// How many counted references to a value there are besides the one that x
    /// is read from; 0 for what is not counted: scalars, constants, functions.
    /// Takes any value, gives an integer and never fails.
    ///     memory.count(3)    # 0
    {"count", "x", count, TL_EFFECT, .takes = TL_FORMS},
    /// The bytes of a value's own object, its header among them, without what
    /// it refers to; 0 for a scalar.
    /// Takes any value and never fails.
    ///     memory.size(3)    # 0
    {"size", "x", size, TL_EFFECT, .takes = TL_FORMS},
    /// A value as the machine has it: type, address, size, count; of an array
    /// the axes, the address of its data and who owns them.
    /// Takes any value and never fails.
    ///     memory.debug_repr(3)    # "int64: in its slot, not counted"
    {"debug_repr", "x", debug_repr, TL_EFFECT, .takes = TL_FORMS},
    {.name = NULL},
};
