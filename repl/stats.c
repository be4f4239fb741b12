// The counters of a VM, as --stats shows them: as text in groups, or as one
// JSON object. Which counters there are says TALLY_STATS in tally.h.

#include "repl/stats.h"

#include <inttypes.h>
#include <string.h>

// A counter by its name, with what it counts.
typedef struct counter {
  const char *name, *what;
  uint64_t value;
} counter;

// Groups of counters, each known by the name of its first one.
static const struct {
  const char *first, *title;
} groups[] = {{"instructions", "execution"},
              {"refs_virtual", "references"},
              {"rc_inc", "heap counts"},
              {"promotions_item", "promotions"},
              {"moves", "ownership"},
              {"allocs", "blocks"},
              {"inplace", "reuse"},
              {"copies", "copies and fusion"},
              {"live", "memory"},
              {"unwound_drops", "ends"}};

// Writes a group's title before its first counter.
static void write_title(const char *name, FILE *to) {
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    if (strcmp(groups[i].first, name) == 0)
      fprintf(to, "%s\n", groups[i].title);
}

// 1234567 as "1,234,567"; [to] has room for 27 bytes.
static void spell_number(uint64_t value, char *to) {
  char digits[21];
  int n = snprintf(digits, sizeof digits, "%" PRIu64, value);
  for (int i = 0; i < n; i++) {
    if (i > 0 && (n - i) % 3 == 0)
      *to++ = ',';
    *to++ = digits[i];
  }
  *to = 0;
}

// The share of references whose count was written in memory.
static double heap_share(const tally_stats *s) {
  uint64_t all = s->refs_virtual + s->refs_embedded + s->refs_immediate;
  return all == 0 ? 0 : (double)s->refs_immediate / (double)all;
}

// One line for each counter, with thousands separated.
static void write_text(const counter *counters, size_t count, FILE *to) {
  for (size_t i = 0; i < count; i++) {
    char number[32];
    spell_number(counters[i].value, number);
    write_title(counters[i].name, to);
    fprintf(to, "  %-25s %19s  %s\n", counters[i].name, number,
            counters[i].what);
  }
}

// One member for each counter; the caller closes the object.
static void write_json(const counter *counters, size_t count, FILE *to) {
  for (size_t i = 0; i < count; i++) {
    fprintf(to, "  \"%s\": %" PRIu64 ",\n", counters[i].name,
            counters[i].value);
  }
}

// The counters follow from TALLY_STATS in tally.h, so that a new one appears by
// itself.
void tl_stats_write(const tally_stats *stats, tl_stats_form form, FILE *to) {
  const counter counters[] = {
#define X(field, what) {#field, what, stats->field},
      TALLY_STATS(X)
#undef X
  };
  size_t count = sizeof counters / sizeof *counters;
  if (form == TL_STATS_JSON) {
    fputs("{\n", to);
    write_json(counters, count, to);
    fprintf(to, "  \"heap_counted_share\": %.6f\n}\n", heap_share(stats));
  } else {
    write_text(counters, count, to);
    fprintf(to, "heap-counted share = %.2f %%\n", 100 * heap_share(stats));
  }
}
