// tally.h: watching what runs do with memory and time: tally_watch,
// tally_plot_memory, tally_plot_time, tally_explain, tally_left, and
// tally_disassemble, which tells of code as tally_explain does. The records are
// vm/observe's; here they are started, and given to the host as texts.
//
//   tally_watch   start: what was recorded before goes
//     … runs …
//   tally_plot_…  stop, then draw        a VM of its own runs the painter
//   tally_explain start, run, stop, tell
#include "stdlib/memory_records.h"
#include "compiler/compile.h"
#include "compiler/resolver.h"
#include "vm/api/exports.h"
#include "vm/api/painter.h"
#include "vm/host.h"
#include "vm/observe/references.h"
#include "vm/native/jit.h"
#include "vm/observe/code_json.h"
#include "vm/memory/reserve.h"
#include "vm/observe/explain.h"
#include "vm/observe/peak_bound.h"
#include "vm/bytecode/module.h"

#include <stdio.h>

// Starts anew: earlier records are stopped first.
// Fails (kind memory); what was started before the failure goes on.
tally_status tally_watch(tally_vm *vm, unsigned what) {
  TL_ENTER(vm);
  tl_watch_stop(vm);
  // A profile is of the run as it is, machine code included.
  tl_jit_while_counting(vm, (what & TALLY_WATCH_TIME) != 0,
                        what != TALLY_WATCH_TIME);
  if (((what & TALLY_WATCH_MEMORY) != 0 && !tl_watch_memory(vm)) ||
      ((what & TALLY_WATCH_OPERATIONS) != 0 && !tl_watch_operations(vm)) ||
      ((what & TALLY_WATCH_TIME) != 0 && !tl_watch_time(vm))) {
    tl_fail_memory(vm, sizeof(tl_timeline), "a record of the run");
    return tl_report(vm);
  }
  return TALLY_OK;
}

// What is drawn: of which function it is spoken in messages, and the names of
// the functions of stdlib/inner/memory.tly, one for each form.
typedef struct picture {
  const char *function;
  const char *names[TALLY_PLOT_JSON + 1];
} picture;

static const picture of_memory = {
    "tally_plot_memory", {"timeline_text", "timeline_svg", "timeline_json"}};
static const picture of_time = {
    "tally_plot_time", {"profile_text", "profile_svg", "profile_json"}};

// The record as a value of the painter; false after tl_fail there. The VM that
// was watched is only read, since it may have run into its limits.
static bool record(tl_vm *painter, const tl_vm *watched, const picture *what,
                   tl_slot *out) {
  return what == &of_memory
             ? tl_timeline_record(painter, watched->watched->timeline, out)
             : tl_profile_record(painter, watched->watched->profile, out);
}

// Draws the record into the text. False after tl_fail.
static bool draw(tl_vm *vm, const picture *what, tally_plot_form form,
                 int width, tl_text *text) {
  tl_painter p;
  if (tl_painter_open(&p, vm) == NULL)
    return false;
  tl_slot args[2] = {tl_none(), tl_weak_int(width)}, drawn = tl_none();
  bool ok = record(p.vm, vm, what, &args[0]) &&
            tl_call_embedded(p.vm, "inner/memory", what->names[form],
                             form == TALLY_PLOT_TEXT ? 2 : 1, args, &drawn);
  return tl_painter_close(&p, ok, drawn, text);
}

// The text of a picture as the host's value, which *out owns. Recording is
// stopped first, if it is not over yet: the text itself should not be in the
// picture. C lets a host pass any number for an enum.
static tally_status plot(tl_vm *vm, const picture *what, tally_plot_form form,
                         int width, tally_value *out) {
  TL_ENTER(vm);
  tl_text text;
  if (!tl_given(vm, out, "the place for the result"))
    return tl_report(vm);
  if (form < TALLY_PLOT_TEXT || form > TALLY_PLOT_JSON)
    return tl_report_fail(vm, TALLY_ERR_HOST, "%s: there is no form %d",
                          what->function, (int)form);
  tl_watch_stop(vm);
  tl_jit_while_counting(vm, false, false);
  if (vm->watched == NULL ||
      (what == &of_memory ? (void *)vm->watched->timeline
                          : (void *)vm->watched->profile) == NULL)
    return tl_report_fail(vm, TALLY_ERR_HOST, "%s: nothing was recorded",
                          what->function);
  tl_text_open(&text, vm);
  size_t before = tl_reserve(vm, TL_RESERVE);
  tally_status status = draw(vm, what, form, width, &text)
                            ? tl_give_text(vm, &text, out)
                            : tl_report(vm);
  tl_text_close(&text);
  tl_reserve(vm, before);
  return status;
}

tally_status tally_plot_memory(tally_vm *vm, tally_plot_form form, int width,
                               tally_value *out) {
  return plot(vm, &of_memory, form, width, out);
}

tally_status tally_plot_time(tally_vm *vm, tally_plot_form form, int width,
                             tally_value *out) {
  return plot(vm, &of_time, form, width, out);
}

// --- What is left -----------------------------------------------------------

// The list of what the host holds, under way.
typedef struct left {
  tl_vm *vm;
  tl_list *list;
  bool ok;
} left;

// Whether another library holds the value by an export.
// An export keeps its value in a handle, which the walk over handles visits as
// one of the host's: this tells them apart.
static bool is_exported(tl_vm *vm, tl_slot value) {
  tl_slot held;
  for (const tl_export *e = vm->exports; e != NULL; e = e->next)
    if (tl_handle_get(vm, e->held, &held) && held.object == value.object)
      return true;
  return false;
}

// "script.tly:3", if a recording under way has a band of the object's block;
// once it has stopped, another object may be where that was.
static tl_slot place_made(tl_vm *vm, const tl_object *object) {
  const tl_timeline *t = vm->watch != NULL ? vm->watch->timeline : NULL;
  for (uint32_t i = 0; t != NULL && i < t->band_count; i++) {
    const tl_band *b = &t->bands[i];
    if (b->block != object || b->line == 0)
      continue;
    char text[sizeof t->files[0] + 16];
    snprintf(text, sizeof text, "%s:%u", t->files[b->file], (unsigned)b->line);
    tl_string *made = tl_string_from(vm, text);
    return made != NULL ? tl_own_string(made) : tl_none();
  }
  return tl_none();
}

// The resource that holds a value, while resources are asked.
typedef struct holder {
  tl_slot value;
  bool found;
} holder;

// The walk cannot be stopped, so that the first find stays.
static void look_for(void *context, tl_slot value) {
  holder *h = context;
  h->found = h->found || value.object == h->value.object;
}

// Whose the value is: the host's, another library's, a resource's. False where
// there was no memory to find out.
static bool spell_holder(tl_vm *vm, tl_slot value, char *out, size_t size) {
  holder h = {value, false};
  bool heap = tl_is_heap(value), complete = true;
  for (const tl_resource *r = vm->visiting; heap && r != NULL; r = r->older) {
    tl_resource_each_held(r, look_for, &h);
    if (!h.found)
      continue;
    snprintf(out, size, "a %.80s%s", r->type->name,
             tl_is_in_circle(vm, r, &complete) ? ", in a circle" : "");
    return complete;
  }
  snprintf(out, size, "%s",
           heap && is_exported(vm, value) ? "another library" : "the host");
  return true;
}

// Adds a value of the host's to the list, as a record; after a failure nothing
// more is added, as the walk over handles cannot be stopped.
static void put_left(void *context, tl_slot value) {
  left *l = context;
  char owner[120];
  bool heap = tl_is_heap(value);
  if (!l->ok)
    return;
  l->ok = spell_holder(l->vm, value, owner, sizeof owner) ||
          tl_fail_memory(l->vm, 0, "a walk over what is left");
  if (!l->ok)
    return;
  tl_record *record = tl_record_new(l->vm, 4);
  tl_record_put_text(l->vm, &record, "type", tl_described(l->vm, value));
  tl_record_put_int(l->vm, &record, "bytes", heap ? value.object->nbytes : 0);
  tl_record_put_text(l->vm, &record, "owner", owner);
  tl_record_put(l->vm, &record, "made",
                heap ? place_made(l->vm, value.object) : tl_none());
  l->ok = tl_record_put_into(l->vm, &l->list, record);
}

// The list gets its handle when it is complete, so that it is not in itself.
tally_status tally_left(tally_vm *vm, tally_value *out) {
  TL_ENTER(vm);
  if (!tl_given(vm, out, "the place for the result"))
    return tl_report(vm);
  left l = {.vm = vm, .list = tl_list_new(vm, 4)};
  l.ok = l.list != NULL;
  if (l.ok)
    tl_handles_each(vm, put_left, &l);
  tl_slot list;
  return tl_list_give(vm, l.list, l.ok, &list) ? tl_give(vm, list, out)
                                               : tl_report(vm);
}

// --- Explaining --------------------------------------------------------------

// Compiles a text, or with [source] NULL the file of that name, without running
// it; NULL after tl_fail. The host reads the file, so that no capability is
// asked for; the caller frees the unit.
static tl_unit *compile_text(tl_vm *vm, const char *name, const char *source,
                             size_t nbytes) {
  tl_bytes file;
  if (!tl_read_source(vm, name, &source, &nbytes, &file))
    return NULL;
  tl_unit *unit =
      tl_compile(vm, vm->main, name, source, nbytes, TL_UNIT_SCRIPT);
  tl_bytes_free(vm, &file);
  return unit;
}

// Writes the listing of a unit, or of one function alone, to the host's output,
// as print writes.
static tally_status write_listing(tl_vm *vm, const tl_unit *unit,
                                  const tl_prototype *function) {
  tl_text code, text;
  size_t before = tl_reserve(vm, TL_RESERVE);
  tl_text_open(&code, vm);
  tl_text_open(&text, vm);
  tl_json_listing(&code, unit, function);
  bool ok = tl_tell_code(vm, &code, "inner/listing", "listing", NULL, &text) &&
            !text.failed && tl_write(vm, text.bytes, text.length);
  if (!ok && !tl_failed(vm))
    tl_fail_memory(vm, text.length, "a listing");
  tl_text_close(&text);
  tl_reserve(vm, before);
  return ok ? TALLY_OK : tl_report(vm);
}

// The unit is freed at once: nothing of it runs.
tally_status tally_disassemble(tally_vm *vm, const char *name,
                               const char *source, size_t nbytes) {
  TL_ENTER(vm);
  if (!tl_may_run(vm) || !tl_given(vm, name, "the name"))
    return tl_report(vm);
  tl_unit *unit = compile_text(vm, name, source, nbytes);
  if (unit == NULL)
    return tl_report(vm);
  tally_status status = write_listing(vm, unit, NULL);
  tl_unit_free(vm, unit);
  return status;
}

// Built-ins have no bytecode.
tally_status tally_disassemble_function(tally_vm *vm, tally_value function) {
  TL_ENTER(vm);
  tl_slot s;
  if (!tl_handle_get(vm, function, &s))
    return tl_report(vm);
  if (tl_is_kind(s, TL_KIND_FUNCTION) || tl_is_kind(s, TL_KIND_CLOSURE))
    return write_listing(vm, tl_function_prototype(s)->unit,
                         tl_function_prototype(s));
  tl_fail(vm, TALLY_ERR_TYPE, "a listing needs a script's function: got %s",
          tl_described(vm, s));
  return tl_report(vm);
}

// Writes what the code may do and, unless static, what the run did; or what
// became machine code, or bounds of peak memory: each told by a program. A full
// VM can be explained, too.
static tally_status explain(tl_vm *vm, const tl_unit *unit, unsigned flags,
                            const char *error, tally_value *out) {
  const size_t before = tl_reserve(vm, TL_RESERVE);
  const bool peak = (flags & TALLY_EXPLAIN_PEAK) != 0;
  const bool native = (flags & TALLY_EXPLAIN_NATIVE) != 0;
  const tl_slot as_json = tl_bool((flags & TALLY_EXPLAIN_JSON) != 0);
  tl_text code, text;
  tl_text_open(&text, vm);
  tl_text_open(&code, vm);
  if (native)
    tl_json_native(&code);
  else if (peak)
    tl_peak_code(&code, unit);
  else
    tl_explain_code(
        &code, unit,
        (flags & TALLY_EXPLAIN_STATIC) != 0 ? NULL : vm->watched->notes, error);
  text.failed |=
      !(native ? tl_tell_code(vm, &code, "inner/native", "listing", NULL, &text)
        : peak ? tl_tell_code(vm, &code, "inner/peak", "report", NULL, &text)
               : tl_tell_code(vm, &code, "inner/explain", "explain", &as_json,
                              &text));
  tally_status status = tl_give_text(vm, &text, out);
  tl_reserve(vm, before);
  return status;
}

// Runs the file, or with [source] that text, while its operations are noted,
// and tells what it did. The newest unit of the main module is that of the run:
// a unit is put in front when it has compiled, whether it then fails or not. It
// is kept while it is watched.
static tally_status explain_run(tl_vm *vm, const char *path, int argc,
                                const char *const *argv, const char *source,
                                unsigned flags, tally_value *out) {
  const tl_unit *before = vm->main->units;
  tally_status status = tally_watch(vm, TALLY_WATCH_OPERATIONS);
  if (status != TALLY_OK)
    return status;
  tl_jit_while_counting(vm, true, (flags & TALLY_EXPLAIN_NATIVE) == 0);
  status = source != NULL ? tally_eval(vm, source, NULL)
                          : tally_run(vm, path, argc, argv);
  tl_jit_while_counting(vm, false, false);
  tl_watch_stop(vm);
  const tl_unit *unit = vm->main->units;
  if (unit == before || unit == NULL)
    return status;  // it did not compile
  const tally_error_info *info = tally_error(vm);
  char error[300];
  snprintf(error, sizeof error, "line %d: %s error: %s", info->line, info->kind,
           info->message);
  return explain(vm, unit, flags, status == TALLY_OK ? NULL : error, out);
}

// Runs the script while its operations are noted, or only compiles it. An error
// of the script is part of the explanation.
// Where it did not compile the status is the error's and *out is untouched.
tally_status tally_explain(tally_vm *vm, const char *path, int argc,
                           const char *const *argv, unsigned flags,
                           tally_value *out) {
  TL_ENTER(vm);
  if (!tl_may_run(vm) || !tl_given(vm, path, "the path") ||
      !tl_given(vm, out, "the place for the result"))
    return tl_report(vm);
  if (strcmp(path, "-") == 0)
    path = "/dev/stdin";
  if ((flags & (TALLY_EXPLAIN_STATIC | TALLY_EXPLAIN_PEAK)) != 0) {
    tl_unit *unit = compile_text(vm, path, NULL, 0);
    if (unit == NULL)
      return tl_report(vm);
    tally_status status = explain(vm, unit, flags, NULL, out);
    tl_unit_free(vm, unit);
    return status;
  }
  return explain_run(vm, path, argc, argv, NULL, flags, out);
}

tally_status tally_explain_source(tally_vm *vm, const char *source,
                                  unsigned flags, tally_value *out) {
  TL_ENTER(vm);
  if (!tl_may_run(vm) || !tl_given(vm, source, "the source") ||
      !tl_given(vm, out, "the place for the result"))
    return tl_report(vm);
  return explain_run(vm, NULL, 0, NULL, source, flags, out);
}
