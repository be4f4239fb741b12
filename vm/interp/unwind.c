// What happens when an instruction fails.
//
//     tl_fail      has set kind and message
//     tl_error_place   line, column, excerpt with a caret     once
//     tl_unwind        what the frame owns is dropped, the handler found
//     tl_error_trace   "called from …"     for each frame that ends
//
// Which slots own at a pc is known from the function's ranges; nothing at run
// time keeps track of it.
//
// Built for size.

#include "vm/events.h"
#include "vm/interp/catch.h"
#include "vm/interp/interp.h"
#include "vm/values/list.h"
#include "vm/memory/mapping.h"
#include "vm/text/excerpt.h"

// --- Places -----------------------------------------------------------------

// A place in the text, as messages show it.
typedef struct position {
  int line, column;
  size_t begin, end;  // the line's bytes
} position;

// Line and column of a byte offset. A column counts the width on a terminal.
static position find_position(const tl_unit *unit, uint32_t offset) {
  const uint32_t line = tl_line_of(unit, offset);
  position p = {.line = (int)line, .begin = unit->line_starts[line - 1]};
  p.end = line < unit->line_count ? unit->line_starts[line] - 1 : unit->nbytes;
  if (offset > unit->nbytes)
    offset = (uint32_t)unit->nbytes;
  p.column = 1 + tl_display_width(unit->text + p.begin, offset - p.begin);
  return p;
}

// --- The excerpt ------------------------------------------------------------

// How many more ( than ) there are.
static int open_parentheses(const char *text, size_t nbytes) {
  int depth = 0;
  for (size_t i = 0; i < nbytes; i++) {
    depth += text[i] == '(';
    depth -= text[i] == ')';
  }
  return depth;
}

// Blanks between operands, of which a line end may be one.
static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

// Takes away the blanks around an operand, and parentheses that do not match
// within it: "(a + b" becomes "a + b".
static void trim(const char **text, size_t *nbytes) {
  int depth = open_parentheses(*text, *nbytes);
  while (*nbytes > 0 && (is_blank(**text) || (**text == '(' && depth > 0))) {
    depth -= **text == '(';
    ++*text;
    --*nbytes;
  }
  while (*nbytes > 0) {
    char last = (*text)[*nbytes - 1];
    if (!is_blank(last) && !(last == ')' && depth < 0))
      break;
    depth += last == ')';
    --*nbytes;
  }
}

// Appends what the operands are, with their text where that is short:
//
//     left n: 3 * 4 * int8, right g[:, 0]: 5 * int8
static void add_operands(tl_text *out, const tl_unit *unit,
                         const tl_place_entry *place,
                         const tl_pending_error *error) {
  const char *left = unit->text + place->begin;
  const char *right = unit->text + place->at;
  size_t left_size = place->at - place->begin;
  size_t right_size = place->end - place->at;
  if (place->at <= place->begin || place->at >= place->end)
    return;
  while (right_size > 0 && strchr("+-*/%@&|^<>=!~ ", *right) != NULL) {
    right++;
    right_size--;
  }
  // An operator such as × or ≤ has up to three bytes.
  while (right_size > 0 && (*right & 0x80) != 0 &&
         right < unit->text + place->at + 3) {
    right++;
    right_size--;
  }
  trim(&left, &left_size);
  trim(&right, &right_size);
  bool is_short = left_size <= 40 && right_size <= 40 &&
                  memchr(left, '\n', left_size) == NULL &&
                  memchr(right, '\n', right_size) == NULL;
  const char *colon = is_short ? ": " : "";
  tl_text_printf(out, " left %.*s%s%s, right %.*s%s%s",
                 is_short ? (int)left_size : 0, left, colon, error->left,
                 is_short ? (int)right_size : 0, right, colon, error->right);
}

// Makes the error's excerpt: the source line and a caret below the place.
// Without memory for it the error has no excerpt.
static void write_excerpt(tl_vm *vm, const tl_unit *unit,
                          const tl_place_entry *place, position where) {
  tl_text text;
  tl_text_open(&text, vm);
  tl_text_excerpt(&text, unit->text, where.line, where.begin, where.end,
                  place->at);
  if (vm->error.left[0] != 0)
    add_operands(&text, unit, place, &vm->error);
  tl_text_putc(&text, '\0');
  size_t nbytes;
  vm->error.excerpt = tl_text_take(&text, &nbytes);
  vm->error.excerpt_size = vm->error.excerpt == NULL ? 0 : nbytes;
}

// Which `catch` waits for an error of the frame, or of one of its callers' up
// to C, which may look at the error itself.
static tl_catches catcher(const tl_frame *frame, uint32_t pc) {
  for (;;) {
    const tl_catches kind = tl_catches_at(frame->function, pc);
    if (kind != TL_CATCHES_NOTHING || (frame->flags & TL_FRAME_ENTRY) != 0)
      return kind;
    frame--;
    pc = tl_frame_pc(frame);
  }
}

// In a function of the library the error gets no place: as with functions in C,
// its place is the call of it, and the operands that it looked at mean nothing
// there.
static void place_error(tl_vm *vm, tl_prototype *function, const tl_slot *base,
                        uint32_t pc) {
  if (vm->error.placed)
    return;
  // Code that read a mapped file after it was lost has read zeros: the loss is
  // the cause, and is reported in place of what came of it.
  if ((vm->interrupted & TL_FILE_LOST) != 0 && !vm->error.is_final) {
    tl_error_clear(vm);
    tl_poll(vm, 0);
  }
  const tl_catches kind =
      vm->error.is_final ? TL_CATCHES_NOTHING : catcher(vm->frame, pc);
  // Nobody will ask where it was, and through which calls it came.
  vm->error.is_text = kind == TL_CATCHES_UNNAMED || kind == TL_CATCHES_TEXT;
  if (kind == TL_CATCHES_UNNAMED) {
    vm->error.placed = true;
    return;
  }
  if (tl_is_library(vm, function->unit)) {
    vm->error.left[0] = 0;
    tl_error_of_function(vm, function, base);
    return;
  }
  const tl_place_entry *place = tl_place_at(function, pc);
  // Only an instruction that computes a value can stand for a call; the branch
  // of `if any(x)` merely looks at its result.
  bool makes = tl_opcodes[function->code[pc].op].result == TL_DEF_OWNED;
  if (makes && place != NULL && place->end > place->at)
    tl_error_of_call(vm, function->unit->text + place->at,
                     place->end - place->at);
  vm->error.placed = true;
  if (place == NULL || vm->error.is_text)
    return;
  position where = find_position(function->unit, place->at);
  vm->error.line = where.line;
  vm->error.column = where.column;
  tl_slot file = {.tag = TL_TAG_STRING, .string = function->unit->file};
  vm->error.file = tl_retain(vm, file).string;
  // The record of a `catch` has no excerpt.
  if (kind == TL_CATCHES_NOTHING)
    write_excerpt(vm, function->unit, place, where);
}

// The observer takes the first that it hears of, which is that of the innermost
// function of a script.
void tl_error_place(tl_vm *vm, tl_prototype *function, const tl_slot *base,
                    uint32_t pc) {
  if (vm->debug == NULL) {  // as nearly always: nothing is kept for later
    place_error(vm, function, base, pc);
    return;
  }
  place_error(vm, function, base, pc);
  if (!tl_is_library(vm, function->unit))
    vm->observer->raised(vm);
}

// --- The trace --------------------------------------------------------------

// Of a trace of many lines the first and the last are kept: where it happened,
// and where it all began.
enum { FIRST_LINES = 40, TRACE_LINES = 50 };

// "called from life.tly:30:6 in step": where the call stands, and in which
// function. Returns owned; NULL after tl_fail.
static tl_string *trace_line(tl_vm *vm, const tl_prototype *function,
                             const tl_place_entry *place, int64_t times) {
  position where = find_position(function->unit, place->at);
  const char *name = function->name->text, *file = function->unit->file->text;
  const char *in = *name == 0 ? "" : " in ";
  if (times > 1)
    return tl_string_format(vm, "called from %s:%d:%d%s%s (%lld times)", file,
                            where.line, where.column, in, name,
                            (long long)times);
  return tl_string_format(vm, "called from %s:%d:%d%s%s", file, where.line,
                          where.column, in, name);
}

// Replaces a line of the trace; takes [line].
static void set_line(tl_vm *vm, int64_t index, tl_string *line) {
  tl_slot *item = &vm->error.trace->items[index];
  tl_drop(vm, *item);
  *item = tl_own_string(line);
}

// Makes room for one more line, by leaving out the one behind the first
// FIRST_LINES.
static bool leave_out(tl_vm *vm) {
  tl_list *trace = vm->error.trace;
  tl_string *note = tl_string_from(vm, "… lines left out …");
  if (note == NULL)
    return false;
  set_line(vm, FIRST_LINES, note);
  tl_drop(vm, trace->items[FIRST_LINES + 1]);
  trace->length--;
  memmove(&trace->items[FIRST_LINES + 1], &trace->items[FIRST_LINES + 2],
          (size_t)(trace->length - FIRST_LINES - 1) * sizeof *trace->items);
  return true;
}

// Whether the call is at the same place as the last one, as in recursion: it
// then is counted and gets no line of its own.
static bool is_repeated(const tl_pending_error *error,
                        const tl_prototype *function, uint32_t pc) {
  return error->trace_times > 0 && error->trace_of == function &&
         error->trace_pc == pc;
}

// Calls within the library have no line: its caller is what a script can see. A
// trace has TRACE_LINES lines at most; in a deeper one lines in the middle are
// left out, as both ends tell more.
void tl_error_trace(tl_vm *vm, tl_prototype *function, const tl_slot *base,
                    uint32_t pc) {
  tl_pending_error *error = &vm->error;
  if (!error->placed) {
    place_error(vm, function, base, pc);
    return;
  }
  const tl_place_entry *place = tl_place_at(function, pc);
  if (error->is_text || tl_is_library(vm, function->unit) || place == NULL)
    return;
  // A recursive call at the same place only counts up the last line.
  bool repeated = is_repeated(error, function, pc);
  tl_string *line =
      trace_line(vm, function, place, repeated ? error->trace_times + 1 : 1);
  if (line == NULL)
    return;
  if (repeated) {
    set_line(vm, error->trace->length - 1, line);
    error->trace_times++;
    return;
  }
  tl_slot item = tl_own_string(line);
  // Without memory for the trace the error goes on without it.
  if (error->trace == NULL)
    error->trace = tl_list_new(vm, 4);
  if (error->trace != NULL &&
      (error->trace->length < TRACE_LINES || leave_out(vm)) &&
      tl_list_push(vm, &error->trace, &item)) {
    error->trace_of = function;
    error->trace_pc = pc;
    error->trace_times = 1;
    return;
  }
  tl_drop(vm, item);
}

// --- Giving back ------------------------------------------------------------

// Whether the handler wants the slot as it is.
static bool is_kept(const tl_handler *handler, uint16_t slot) {
  for (uint16_t i = 0; handler != NULL && i < handler->kept_count; i++)
    if (handler->kept[i] == slot)
      return true;
  return false;
}

// Whether the handler runs: a landing pad does for every error, a `catch` for
// those that a script may catch. The record that it names is made here, so that
// an error whose record does not fit in memory goes on to a caller that can do
// without; a `catch` without a name needs none.
static bool catches(tl_vm *vm, const tl_prototype *function,
                    const tl_handler *handler) {
  const tl_catches kind = tl_handler_kind(function, handler);
  if (kind == TL_CATCHES_PAD)
    return true;
  if (vm->error.is_final)
    return false;
  if (kind != TL_CATCHES_UNNAMED)
    return tl_error_take(vm, &vm->caught);
  tl_error_clear(vm);
  return true;
}

// An error with which the host stops the script passes every `catch`, but not
// landing pads: those may put the argument back where it is seen later.
tl_call_mode tl_call_restores(const tl_prototype *function,
                              const tl_builtin *builtin, const tl_ins *ins) {
  if ((builtin->flags & TL_STOPS) == 0)
    return TL_CALL_RESTORES;
  const tl_handler *handler =
      tl_handler_at(function, (uint32_t)(ins - function->code));
  bool seen = tl_handler_kind(function, handler) == TL_CATCHES_PAD;
  return seen ? TL_CALL_FINISHES : TL_CALL_RESTORES;
}

// Drops what the slot owns.
static void give_back(tl_vm *vm, tl_slot *slot) {
  if (!tl_is_owned(*slot))
    return;
  vm->stats.unwound_drops++;
  tl_drop(vm, *slot);
  slot->tag &= ~TL_OWNED;
}

// Order matters: owners are made of what the handler keeps before the rest is
// dropped, since a kept borrow may depend on what is dropped.
const tl_handler *tl_unwind(tl_vm *vm, tl_prototype *function, tl_slot *base,
                            uint32_t pc) {
  if (vm->file_lost)
    tl_mapping_restore(vm);
  const tl_handler *handler = tl_handler_at(function, pc);
  if (handler != NULL && !catches(vm, function, handler)) {
    // The ranges leave out what the handler would have kept, so that is dropped
    // here.
    for (uint16_t i = 0; i < handler->kept_count; i++)
      give_back(vm, &base[handler->kept[i]]);
    handler = NULL;
  }
  // First make owners of what the handler will need, then drop the rest: a
  // borrow may depend on what is dropped.
  for (uint16_t i = 0; handler != NULL && i < handler->own_count; i++)
    tl_do_own(vm, &base[handler->own[i]]);
  for (uint32_t i = 0; i < function->range_count; i++) {
    const tl_unwind_range *r = &function->ranges[i];
    // Ranges are in order of their starts.
    if (r->start > pc)
      break;
    if (pc < r->end && !is_kept(handler, r->slot))
      give_back(vm, &base[r->slot]);
  }
  return handler;
}
