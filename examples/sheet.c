// A small spreadsheet: cells are formulas in Tally, which call functions of
// the host. One of them opens ledgers, a type of the host's own: each is closed
// at the formula's last use of it, as the log shows.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tally.h"

enum { ROWS = 4, NAME = 16 };

// --- A ledger: amounts under a name -----------------------------------------

typedef struct ledger {
  char name[NAME];
  double amounts[ROWS];
} ledger;

static void close_ledger(void *context, void *object) {
  ledger *l = object;
  (void)context;
  printf("    (%s is closed)\n", l->name);
  free(l);
}

static size_t ledger_size(void *context, void *object) {
  (void)context;
  (void)object;
  return sizeof(ledger);
}

static tally_status ledger_item(tally_vm *vm, void *context, void *object,
                                size_t count, const tally_value *indices,
                                tally_value *out) {
  (void)context;
  ledger *l = object;
  int64_t i;
  if (count != 1)
    return tally_raise(vm, TALLY_ERR_INDEX, "one row at a time");
  tally_status status = tally_to_int(vm, indices[0], &i);
  if (status != TALLY_OK)
    return status;
  if (i < 0 || i >= ROWS)
    return tally_raise(vm, TALLY_ERR_INDEX, "%s has no row %lld", l->name,
                       (long long)i);
  return tally_from_float(vm, l->amounts[i], out);
}

// .amounts is an array over a copy: the ledger may be closed before it.
static tally_status ledger_field(tally_vm *vm, void *context, void *object,
                                 const char *name, tally_value *out) {
  (void)context;
  ledger *l = object;
  if (strcmp(name, "name") == 0)
    return tally_from_string(vm, l->name, strlen(l->name), out);
  if (strcmp(name, "amounts") != 0)
    return TALLY_OK;  // there is none
  tally_value items[ROWS];
  for (int i = 0; i < ROWS; i++) tally_from_float(vm, l->amounts[i], &items[i]);
  return tally_from_list(vm, ROWS, items, out);
}

static tally_status merge(tally_vm *vm, void *context, const char *op,
                          size_t count, const tally_value *operands,
                          tally_value *out);

static const tally_resource ledger_type = {.size = sizeof ledger_type,
                                           .name = "ledger",
                                           .release = close_ledger,
                                           .nbytes = ledger_size,
                                           .attribute = ledger_field,
                                           .index = ledger_item,
                                           .operate = merge};

static tally_status give(tally_vm *vm, ledger l, tally_value *out) {
  ledger *kept = malloc(sizeof *kept);
  if (kept == NULL)
    return tally_raise(vm, TALLY_ERR_MEMORY, "no ledger");
  *kept = l;
  tally_status status = tally_from_resource(vm, &ledger_type, kept, out);
  if (status != TALLY_OK)
    free(kept);  // still ours
  return status;
}

// ledger + ledger: the amounts added.
static tally_status merge(tally_vm *vm, void *context, const char *op,
                          size_t count, const tally_value *operands,
                          tally_value *out) {
  (void)context;
  void *a, *b;
  if (strcmp(op, "+") != 0 || count != 2)
    return TALLY_OK;  // there is none
  tally_status status = tally_to_resource(vm, operands[0], &ledger_type, &a);
  if (status == TALLY_OK)
    status = tally_to_resource(vm, operands[1], &ledger_type, &b);
  if (status != TALLY_OK)
    return status;
  ledger sum = *(ledger *)a;
  snprintf(sum.name, NAME, "%.6s+%.6s", ((ledger *)a)->name,
           ((ledger *)b)->name);
  for (int i = 0; i < ROWS; i++) sum.amounts[i] += ((ledger *)b)->amounts[i];
  return give(vm, sum, out);
}

// --- Functions --------------------------------------------------------------

static tally_status open_ledger(tally_vm *vm, void *context, size_t count,
                                const tally_value *args, tally_value *out) {
  (void)context;
  (void)count;
  const char *name;
  tally_status status = tally_to_string(vm, args[0], &name, NULL);
  if (status != TALLY_OK)
    return status;
  ledger l = {.name = ""};
  snprintf(l.name, NAME, "%s", name);
  for (int i = 0; i < ROWS; i++) l.amounts[i] = (double)strlen(name) * (i + 1);
  return give(vm, l, out);
}

typedef struct cell {
  const char *name, *formula;
} cell;

static const cell cells[] = {
    {"a", "20"},
    {"b", "cell(\"a\") * 2 + 2"},
    {"rent", "ledger(\"rent\")[1]"},
    {"costs", "sum(asarray((ledger(\"food\") + ledger(\"power\")).amounts))"},
    {"tax", "vat([100.0, 250.0], 0.19)"},
    {"wrong", "ledger(\"food\")[9]"},
    {"loop", "cell(\"loop\")"},
};
enum { CELLS = sizeof cells / sizeof *cells };

// A formula may ask for other cells: the host calls back into the VM.
static tally_status value_of_cell(tally_vm *vm, void *context, size_t count,
                                  const tally_value *args, tally_value *out) {
  (void)context;
  (void)count;
  const char *name;
  tally_status status = tally_to_string(vm, args[0], &name, NULL);
  for (int i = 0; status == TALLY_OK && i < CELLS; i++) {
    if (strcmp(cells[i].name, name) == 0)
      return tally_eval(vm, cells[i].formula, out);
  }
  if (status != TALLY_OK)
    return status;
  return tally_raise(vm, TALLY_ERR_NAME, "there is no cell %s", name);
}

// Elementwise: the VM broadcasts, converts, and writes over what dies.
static void vat(void *context, size_t n, const void *const *inputs,
                const ptrdiff_t *steps, void *output) {
  (void)context;
  const char *net = inputs[0], *rate = inputs[1];
  double *to = output;
  for (size_t i = 0; i < n; i++, net += steps[0], rate += steps[1])
    to[i] = *(const double *)net * (1 + *(const double *)rate);
}

static const tally_native functions[] = {
    {.name = "ledger",
     .params = "name",
     .call = open_ledger,
     .signature = "(string) -> _",
     .doc = "Opens the ledger of that name."},
    {.name = "cell",
     .params = "name",
     .call = value_of_cell,
     .doc = "The value of a cell."},
    {.name = "vat",
     .params = "net, rate",
     .loop = vat,
     .signature = "(float64, float64) -> float64",
     .doc = "net with the tax on it, item by item."},
};

int main(void) {
  tally_vm *vm;
  tally_module module = {.size = sizeof module,
                         .functions = functions,
                         .function_count = 3,
                         .function_size = sizeof *functions};
  if (tally_open(NULL, &vm) != TALLY_OK)
    return 1;
  if (tally_add_module(vm, &module) != TALLY_OK)
    return 1;
  for (int i = 0; i < CELLS; i++) {
    tally_value value, text;
    const char *shown;
    printf("%s = %s\n", cells[i].name, cells[i].formula);
    if (tally_eval(vm, cells[i].formula, &value) != TALLY_OK) {
      printf("  %s error: %s\n", tally_error(vm)->kind,
             tally_error(vm)->message);
      continue;
    }
    if (tally_format(vm, value, &text) == TALLY_OK &&
        tally_to_string(vm, text, &shown, NULL) == TALLY_OK)
      printf("  %s\n", shown);
    tally_release(vm, text);
    tally_release(vm, value);
  }
  printf("%s\n", tally_documentation(vm, "vat"));
  return tally_close(vm) != 0;
}
