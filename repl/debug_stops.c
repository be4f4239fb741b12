// Where a debugged run stops: breakpoints, and variables that are watched; and
// what else is asked of the VM for the debugger.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repl/debug_internal.h"

void tl_debugger_error(const debugger *d) {
  const tally_error_info *e = tally_error(d->vm);
  printf("%s error: %s\n", e->kind, e->message);
}

// Names are borrowed for the call of [see]. What cannot be listed is told.
void tl_debugger_names(debugger *d, size_t frame, tl_text_hook *see,
                       void *context) {
  tally_value names;
  if (tally_debug_names(d->vm, frame, &names) != TALLY_OK) {
    tl_debugger_error(d);
    return;
  }
  tl_each_text(d->vm, names, see, context);
  tally_release(d->vm, names);
}

// Whether a file's path is, or ends with, the name that was given.
static bool is_file(const char *path, const char *name) {
  size_t m = strlen(path), n = strlen(name);
  return m >= n && strcmp(path + m - n, name) == 0 &&
         (m == n || path[m - n - 1] == '/');
}

// --- Stopping ---------------------------------------------------------------

// Whether the breakpoint's condition is true in a frame; without a condition it
// is. One that fails is told, and stops the run: a mistake in it must not look
// like a breakpoint that is never met.
static bool holds(debugger *d, const breakpoint *b, size_t frame) {
  tally_value value;
  int truth = 1;
  if (b->condition == NULL)
    return true;
  tally_status status = tally_debug_eval(d->vm, frame, b->condition, &value);
  if (status == TALLY_OK) {
    status = tally_to_bool(d->vm, value, &truth);
    tally_release(d->vm, value);
  }
  if (status != TALLY_OK)
    tl_debugger_error(d);
  return status != TALLY_OK || truth != 0;
}

// One of a line where the line is next, one of a function where that begins.
static bool is_at_breakpoint(debugger *d, const tally_debug_info *info) {
  const bool calls = info->event == TALLY_DEBUG_CALL;
  for (int i = 0; i < d->count; i++) {
    const breakpoint *b = &d->breakpoints[i];
    bool here = calls ? b->kind == STOP_FUNCTION &&
                            strcmp(info->function, b->place) == 0
                      : b->kind == STOP_LINE && b->line == info->line &&
                            is_file(info->file, b->place);
    if (here && holds(d, b, 0))
      return true;
  }
  return false;
}

// Frees what the breakpoint owns.
static void free_breakpoint(debugger *d, breakpoint *b) {
  if (b->has_value)
    tally_release(d->vm, b->value);
  free(b->place);
  free(b->condition);
}

// The last one takes its place: numbers stay, the order does not matter.
static void remove_breakpoint(debugger *d, int at) {
  free_breakpoint(d, &d->breakpoints[at]);
  d->breakpoints[at] = d->breakpoints[--d->count];
}

// --- Watching ---------------------------------------------------------------

// How many calls are under way, without the library's.
static size_t count_calls(debugger *d) {
  tally_debug_place place;
  size_t n = 0;
  while (tally_debug_frame(d->vm, n, &place) == TALLY_OK) n++;
  return n;
}

// Sets the value that the variable has now, owned; false: it has none.
static bool look_up(debugger *d, const breakpoint *b, size_t calls,
                    tally_value *out) {
  return calls >= b->calls &&
         tally_debug_eval(d->vm, calls - b->calls, b->place, out) == TALLY_OK;
}

// Whether both are the same in all that they hold; what cannot be compared is
// not. The library's function is asked, whatever the script calls its own.
static bool are_same(debugger *d, tally_value a, tally_value b) {
  tally_value args[] = {a, b}, answer;
  int truth = 0;
  if (tally_call(d->vm, ".same", 2, args, &answer) != TALLY_OK)
    return false;
  tally_to_bool(d->vm, answer, &truth);
  tally_release(d->vm, answer);
  return truth != 0;
}

// "y was 6": prints the value that is kept of a watched variable.
static void print_watched(const debugger *d, const breakpoint *b,
                          const char *verb) {
  printf("%s %s ", b->place, verb);
  if (!b->has_value)
    puts("not set");
  else if (tl_print_value(d->vm, b->value) != TALLY_OK)
    tl_debugger_error(d);
}

// Whether the watched variable has another value than before, and its condition
// holds in its own call: then that is told. The value is kept in any case, so
// that an array is copied where the script changes it.
static bool has_changed(debugger *d, breakpoint *b, size_t calls) {
  tally_value value;
  bool has_value = look_up(d, b, calls, &value);
  if (has_value == b->has_value &&
      (!has_value || are_same(d, b->value, value))) {
    if (has_value)
      tally_release(d->vm, value);
    return false;
  }
  const bool stops = holds(d, b, calls - b->calls);
  if (stops)
    print_watched(d, b, "was");
  if (b->has_value)
    tally_release(d->vm, b->value);
  b->has_value = has_value;
  b->value = value;
  if (stops)
    print_watched(d, b, "is");
  return stops;
}

// All of them are looked at, so that each has the value of now. A call that has
// ended ends the watching of its variables.
static bool sees_change(debugger *d) {
  bool changed = false;
  size_t calls = 0;
  for (int i = d->count - 1; i >= 0; i--) {
    breakpoint *b = &d->breakpoints[i];
    if (b->kind != STOP_WATCH)
      continue;
    if (calls == 0)
      calls = count_calls(d);
    if (calls < b->calls) {
      printf("the call that had %s has ended\n", b->place);
      remove_breakpoint(d, i);
      changed = true;
    } else {
      changed = has_changed(d, b, calls) || changed;
    }
  }
  return changed;
}

// Watched variables come first, so that each change is seen.
bool tl_stops_at(debugger *d, const tally_debug_info *info) {
  bool changed = info->event != TALLY_DEBUG_CALL && sees_change(d);
  return is_at_breakpoint(d, info) || changed;
}

// The VM is still open: the values that were kept are released.
void tl_stops_free(debugger *d) {
  while (d->count > 0) remove_breakpoint(d, 0);
}

// --- Commands ---------------------------------------------------------------

// "2: life.tly:5 if n > 3", as break and info print it.
static void describe(const breakpoint *b) {
  printf("%d: %s%s", b->number, b->kind == STOP_WATCH ? "watch " : "",
         b->place);
  if (b->kind == STOP_LINE)
    printf(":%d", b->line);
  printf("%s%s\n", b->condition == NULL ? "" : " if ",
         b->condition == NULL ? "" : b->condition);
}

// Takes what stands behind the word `if` off a place, and returns it, borrowed
// from the same text. NULL: nothing does.
static char *cut_condition(char *text) {
  char *at = strstr(text, " if ");
  if (at == NULL)
    return NULL;
  *at = 0;
  return at + 4 + strspn(at + 4, " ");
}

// Adds it with copies of the texts, and describes it. What it has of a value is
// taken.
static reply add_breakpoint(debugger *d, breakpoint b, const char *place,
                            size_t nbytes, const char *condition) {
  b.number = d->numbered + 1;
  b.place = strndup(place, nbytes);
  b.condition = condition == NULL ? NULL : strdup(condition);
  bool full = d->count == BREAKPOINTS;
  if (full || b.place == NULL || (condition != NULL && b.condition == NULL)) {
    if (full)
      printf("there are %d breakpoints already\n", BREAKPOINTS);
    else
      puts("no memory for a breakpoint");
    free_breakpoint(d, &b);
    return STAY;
  }
  describe(&b);
  d->numbered++;
  d->breakpoints[d->count++] = b;
  return STAY;
}

// The first frame of a file, from the selected one on; SIZE_MAX: it has no call
// under way.
static size_t frame_of(debugger *d, const char *file, size_t nbytes) {
  tally_debug_place place;
  for (size_t i = d->frame; tally_debug_frame(d->vm, i, &place) == TALLY_OK;
       i++) {
    size_t m = strlen(place.file);
    if (m >= nbytes && memcmp(place.file + m - nbytes, file, nbytes) == 0 &&
        (m == nbytes || nbytes == 0 || place.file[m - nbytes - 1] == '/'))
      return i;
  }
  return SIZE_MAX;
}

// A breakpoint at a line, of the selected frame's file where none is named. One
// without code moves on to the next that has some. A file that has no call
// under way is not looked at: it may be imported later.
static reply break_at_line(debugger *d, const char *file, size_t nbytes,
                           int line, const char *condition) {
  tally_debug_place place;
  size_t frame = frame_of(d, file, nbytes);
  int found = line;
  if (frame != SIZE_MAX &&
      tally_debug_line(d->vm, frame, line, &found) == TALLY_OK &&
      tally_debug_frame(d->vm, frame, &place) == TALLY_OK) {
    if (found == 0) {
      printf("%s has no code at line %d or behind it\n", place.file, line);
      return STAY;
    }
    if (found != line)
      printf("line %d has no code, line %d has\n", line, found);
    file = place.file;
    nbytes = strlen(file);
  }
  return add_breakpoint(d, (breakpoint){.kind = STOP_LINE, .line = found}, file,
                        nbytes, condition);
}

// break LINE, FILE:LINE or FUNCTION, and perhaps a condition. A function is not
// looked up: it may be imported later.
reply tl_stops_break(debugger *d, char *rest) {
  char *condition = cut_condition(rest), *colon = strrchr(rest, ':'), *end;
  const char *number = colon == NULL ? rest : colon + 1;
  long line = strtol(number, &end, 10);
  bool numbered = end > number && *end == 0;
  if (*rest == 0 || (colon != NULL && !numbered)) {
    puts("break wants LINE, FILE:LINE or a function's name");
    return STAY;
  }
  if (numbered && (line < 1 || line >= 1 << 30)) {
    puts("lines count from 1");
    return STAY;
  }
  size_t nbytes = colon == NULL ? 0 : (size_t)(colon - rest);
  return numbered ? break_at_line(d, rest, nbytes, (int)line, condition)
                  : add_breakpoint(d, (breakpoint){.kind = STOP_FUNCTION}, rest,
                                   strlen(rest), condition);
}

// A name that is looked for among a frame's own.
typedef struct sought_name {
  const char *name;
  bool found;
} sought_name;

// For tl_debugger_names: notes whether the name is the one that is looked for.
static void compare_name(void *context, const char *name) {
  sought_name *s = context;
  s->found = s->found || strcmp(name, s->name) == 0;
}

// Whether the selected call and the outermost one are of the same file, whose
// variables live as long as the run.
static bool is_of_main_file(debugger *d, size_t calls) {
  tally_debug_place here, main;
  return tally_debug_frame(d->vm, d->frame, &here) == TALLY_OK &&
         tally_debug_frame(d->vm, calls - 1, &main) == TALLY_OK &&
         strcmp(here.file, main.file) == 0;
}

// watch NAME: a variable of the selected call, or else of its file: one of an
// imported file is watched until the call ends.
reply tl_stops_watch(debugger *d, char *rest) {
  char *condition = cut_condition(rest);
  size_t calls = count_calls(d);
  breakpoint b = {.kind = STOP_WATCH, .place = rest};
  sought_name own = {rest, false};
  tl_debugger_names(d, d->frame, compare_name, &own);
  b.calls = own.found || !is_of_main_file(d, calls) ? calls - d->frame : 1;
  b.has_value = *rest != 0 && look_up(d, &b, calls, &b.value);
  if (!b.has_value) {
    if (*rest == 0)
      puts("watch wants a variable's name");
    else
      tl_debugger_error(d);
    return STAY;
  }
  return add_breakpoint(d, b, rest, strlen(rest), condition);
}

// delete NUMBER, or all.
reply tl_stops_delete(debugger *d, char *rest) {
  int number = atoi(rest), before = d->count;
  for (int i = d->count - 1; i >= 0; i--)
    if (*rest == 0 || d->breakpoints[i].number == number)
      remove_breakpoint(d, i);
  if (before == d->count)
    puts("there is no such breakpoint");
  return STAY;
}

// In the order of their numbers.
reply tl_stops_info(debugger *d, char *rest) {
  (void)rest;
  for (int n = 1; n <= d->numbered; n++)
    for (int i = 0; i < d->count; i++)
      if (d->breakpoints[i].number == n)
        describe(&d->breakpoints[i]);
  if (d->count == 0)
    puts("no breakpoints");
  printf("errors stop the run where %s\n",
         d->catches ? "they are raised" : "no catch waits for them");
  return STAY;
}
