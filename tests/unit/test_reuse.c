// Every function of the library that needs no import stands in
// tests/counting/reuse.txt: with an expression whose result lies in the memory
// of an operand that ends there, as the counters say, or among those whose
// result cannot.

#include "tests/unit/host.h"

#include <stdio.h>

#include "stdlib/families.h"
#include "vm/builtin.h"

enum { MOST = 600, NAME = 48, LINE = 160 };

typedef struct entry {
  char name[NAME], expression[LINE];
  bool has_room;  // may work in memory beside the operand
} entry;

static entry entries[MOST];
static int entry_count;

static void add(char *name, const char *expression) {
  assert_true(entry_count < MOST);
  entry *e = &entries[entry_count++];
  char *room = strstr(name, " (room)");
  e->has_room = room != NULL;
  if (room != NULL)
    *room = 0;
  snprintf(e->name, NAME, "%s", name);
  snprintf(e->expression, LINE, "%s", expression);
}

static int read_list(void **state) {
  (void)state;
  FILE *f = fopen("tests/counting/reuse.txt", "r");
  char line[LINE], *end;
  if (f == NULL)
    return 1;
  while (fgets(line, sizeof line, f) != NULL) {
    line[strcspn(line, "\n")] = 0;
    if (line[0] == '#' || line[0] == 0)
      continue;
    if ((end = strstr(line, ": ")) != NULL) {
      *end = 0;
      add(line, end + 2);
      continue;
    }
    // A list of names behind the word that says why.
    strtok(line, " ");
    for (char *name = strtok(NULL, " "); name; name = strtok(NULL, " "))
      add(name, "");
  }
  fclose(f);
  return 0;
}

static entry *find(const char *name) {
  for (int i = 0; i < entry_count; i++)
    if (strcmp(entries[i].name, name) == 0)
      return &entries[i];
  return NULL;
}

static void every_function_says(void **state) {
  (void)state;
  for (const tl_family *family = tl_standard_library.families;
       family->rows != NULL; family++)
    for (const tl_builtin *row = family->rows;
         family->module == NULL && row->name != NULL; row++)
      if (find(row->name) == NULL)
        fail_msg(
            "tests/counting/reuse.txt does not say of %s whether its "
            "result can lie in a dying operand",
            row->name);
}

static void each_is_told_once(void **state) {
  (void)state;
  for (int i = 0; i < entry_count; i++)
    if (find(entries[i].name) != &entries[i])
      fail_msg("%s stands twice in tests/counting/reuse.txt", entries[i].name);
}

// What the expression's counter gains.
static int64_t measure(host *h, const char *expression, const char *counter) {
  char source[2 * LINE];
  int64_t gain;
  snprintf(source, sizeof source, "memory.measure(() => %s).%s", expression,
           counter);
  tally_value value = eval(h, source);
  assert_int_equal(tally_to_int(h->vm, value, &gain), TALLY_OK);
  tally_release(h->vm, value);
  return gain;
}

static void operands_are_reused(void **state) {
  host *h = *state;
  enum { OPERAND = 4096 * 8 };  // bytes
  run_ok(h,
         "import memory\n"
         "X = reshape(arange(4096), (64, 64)) / 7.0 + 1.0\n"
         "V = arange(4096) / 7.0 + 1.0\n");
  tally_count(h->vm, 1);
  for (int i = 0; i < entry_count; i++) {
    const entry *e = &entries[i];
    if (e->expression[0] == 0)
      continue;
    tally_release(h->vm, eval(h, e->expression));  // its module is there
    int64_t bytes = measure(h, e->expression, "alloc_bytes");
    int64_t peak = measure(h, e->expression, "peak_bytes");
    // The operand, and what is small beside it.
    if (bytes < OPERAND || bytes >= OPERAND * 3 / 2)
      fail_msg("%s makes blocks of %d bytes", e->expression, (int)bytes);
    // An array that grows has half as much room again.
    if (!e->has_room && peak >= OPERAND * 8 / 5)
      fail_msg("%s takes %d bytes at its peak", e->expression, (int)peak);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_function_says),
      cmocka_unit_test(each_is_told_once),
      HOST_TEST(operands_are_reused),
  };
  return cmocka_run_group_tests(tests, read_list, NULL);
}
