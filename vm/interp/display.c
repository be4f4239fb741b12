// What the prompt shows of a value: on one line where that is all, else what a
// function of inner/display.tly makes of it.
//
//   a number, a string        its text
//   a list that fits a line   likewise
//   arrays, long lists        described, in columns, by inner/display.tly
//
// Where that fails, as for want of memory, the value is shown on one line, cut.
//
// Built for size.
#include "vm/interp/display.h"

#include <limits.h>

#include "vm/bytecode/module.h"
#include "vm/nested/raw_bytes.h"
#include "vm/text/format.h"

// Adds the value on one line, of which arrays and lists of more than [limit]
// items are elided (0: none); of a text of more than [width] cells nothing is
// added, and *fits is false.
static bool add_line(tl_text *text, tl_slot value, int64_t limit, int width,
                     bool *fits) {
  const size_t start = text->length;
  bool ok = tl_format_value(text->vm, text, value, true, limit);
  *fits = width == INT_MAX || text->length == start ||
          tl_display_width(text->bytes + start, text->length - start) <= width;
  if (ok && *fits)
    tl_text_putc(text, '\n');
  else
    text->length = start;
  return ok;
}

// Which function of inner/display.tly shows the value, and its last argument;
// NULL: none, it is on one line.
static const char *shown_by(tl_slot value, tl_slot *more) {
  if (tl_is_list(value) || tl_is_record(value))
    return "tree";
  if (tl_is_array(value) && !tl_is_number(value))
    return tl_ndim(value.array) == 1 ? "vector" : "matrices";
  if (!tl_is_nested(value) || tl_value_ndim(value) == 0)
    return NULL;
  const bool is_vector = tl_value_ndim(value) == 1;
  if (tl_has_fields(value) && is_vector)
    return "table";
  *more =
      tl_bool((tl_is_form(value, TL_FORM_OPTION) || tl_is_raw_bytes(value)) &&
              is_vector);
  return "items";
}

// Counters as they were, but for what is alive: what a script's values did is
// counted, not what showing them takes.
static void set_back(tl_vm *vm, tally_stats counted) {
  counted.live = vm->stats.live;
  counted.live_bytes = vm->stats.live_bytes;
  counted.peak_bytes = vm->stats.peak_bytes;
  counted.ext_bytes = vm->stats.ext_bytes;
  counted.ext_peak_bytes = vm->stats.ext_peak_bytes;
  vm->stats = counted;
}

// Has a function of inner/display.tly show the value. False after tl_fail.
static bool display(tl_text *text, const char *function, tl_slot value,
                    int width, bool all, tl_slot more) {
  tl_vm *vm = text->vm;
  tl_slot shown, described;
  if (!tl_string_give(tl_string_from(vm, tl_described(vm, value)), &described))
    return false;
  tl_slot given[] = {tl_borrow(value), described, tl_weak_int(width),
                     tl_bool(all), more};
  const tally_stats counted = vm->stats;
  const bool ok =
      tl_call_embedded(vm, "inner/display", function, 5, given, &shown);
  set_back(vm, counted);
  if (!ok)
    return false;
  tl_text_add(text, shown.string->text, shown.string->length);
  tl_drop(vm, shown);
  return true;
}

bool tl_format_display(tl_vm *vm, tl_text *text, tl_slot value, int width,
                       bool all) {
  tl_slot more = tl_weak_int(vm->decimals);
  const char *function = shown_by(value, &more);
  bool fits = false;
  if (width < 20)
    width = 20;
  if (function == NULL)
    return add_line(text, value, 0, INT_MAX, &fits) && !text->failed;
  if (tl_is_list(value) || tl_is_record(value)) {
    if (!add_line(text, value, 24, width, &fits) || fits)
      return fits && !text->failed;
  }
  if (display(text, function, value, width, all, more))
    return !text->failed;
  if (vm->error.is_final)
    return false;
  tl_error_clear(vm);
  return add_line(text, value, 24, INT_MAX, &fits) && !text->failed;
}

// A picture as signs of the terminal, or as what the host says that it can show
// besides. The text counts as output, as every print.
static bool draw(tl_vm *vm, tl_slot picture) {
  tl_slot args[] = {tl_retain(vm, picture), tl_weak_int(vm->width),
                    tl_weak_int(vm->options.colors)};
  tl_slot drawn;
  if (!tl_call_embedded(vm, "plot", "drawn_at_prompt", 3, args, &drawn))
    return false;
  bool ok = tl_write(vm, drawn.string->text, drawn.string->length);
  tl_drop(vm, drawn);
  return ok;
}

// The display ends with a newline, whatever the value's own text does.
bool tl_do_show(tl_vm *vm, tl_slot value) {
  if (tl_is_none(value))
    return true;
  if (vm->library->is_picture(value)) {
    if (draw(vm, value))
      return true;
    if (vm->error.is_final)
      return false;
    tl_error_clear(vm);  // it only looks like one
  }
  tl_text text;
  tl_text_open(&text, vm);
  bool ok = tl_format_display(vm, &text, value, vm->width, false);
  if (ok && (text.length == 0 || text.bytes[text.length - 1] != '\n'))
    tl_text_putc(&text, '\n');
  if (ok && text.failed)
    ok = tl_fail_memory(vm, text.length, "the display");
  ok = ok && tl_write(vm, text.bytes, text.length);
  tl_text_close(&text);
  return ok;
}
