// Random words, and the names that programs have.
#include <stdarg.h>
#include <string.h>

#include "tests/fuzz/writer_internal.h"

unsigned next(writer *w, unsigned below) {
  w->state = w->state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (unsigned)(w->state >> 33) % below;
}

void put(writer *w, const char *text) {
  fputs(text, w->to);
}

void print(writer *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vfprintf(w->to, format, args);
  va_end(args);
}

const char *pick(writer *w, const char *const *names, unsigned count) {
  return names[next(w, count)];
}

const char *array_name(writer *w) {
  static const char *const names[] = {"a", "b", "c", "m", "g", "h"};
  return pick(w, names, 6);
}

// g and h are module variables: functions assign to them by `global`.
const char *list_name(writer *w) {
  static const char *const names[] = {"p", "q", "gl"};
  return pick(w, names, 3);
}

void pattern(writer *w, const char *const *texts, unsigned count) {
  for (const char *at = pick(w, texts, count); *at != 0; at++) {
    if (at[0] != '%' || at[1] != 's') {
      fputc(*at, w->to);
      continue;
    }
    put(w, array_name(w));
    at++;
  }
}

void margin(writer *w) {
  for (int i = 0; i < w->indent; i++) put(w, "  ");
}
