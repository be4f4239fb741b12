// tally.h: watching what runs do with memory.
#include "stdlib/memory_plot.h"
#include "vm/api.h"

// Closes the text; *out gets its string.
static tally_status give_text(tl_vm *vm, tl_text *text, tally_value *out) {
  tl_string *string = tl_text_finish(text);
  if (string == NULL)
    return tl_report(vm);
  tl_slot value = tl_own_string(string);
  bool ok = tl_handle_new(vm, &value, out);
  tl_drop(vm, value);
  return ok ? TALLY_OK : tl_report(vm);
}

tally_status tally_watch(tally_vm *vm, unsigned what) {
  TL_ENTER(vm);
  tl_watch_stop(vm);
  if (((what & TALLY_WATCH_MEMORY) != 0 && !tl_watch_memory(vm)) ||
      ((what & TALLY_WATCH_OPERATIONS) != 0 && !tl_watch_operations(vm))) {
    tl_fail_memory(vm, sizeof(tl_timeline), "a record of the run");
    return tl_report(vm);
  }
  return TALLY_OK;
}

tally_status tally_plot_memory(tally_vm *vm, tally_plot_form form, int width,
                               tally_value *out) {
  tl_watch_stop(vm);
  if (vm->watched == NULL || vm->watched->timeline == NULL) {
    tl_fail(vm, TALLY_ERR_HOST, "tally_plot_memory: nothing was recorded");
    return tl_report(vm);
  }
  tl_text text;
  tl_text_open(&text, vm);
  if (form == TALLY_PLOT_SVG)
    tl_plot_svg(&text, vm->watched->timeline);
  else
    tl_plot_text(&text, vm->watched->timeline, width);
  return give_text(vm, &text, out);
}
