// A columnar host: batches of two columns go in through Arrow's C data
// interface without a copy, a script works on them, and a batch comes back.
// Each of the host's buffers is released at its last use.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "tally.h"

// Arrow's C data interface, as its specification prints it.
struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct ArrowSchema **children, *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};
struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children, *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

enum { ROWS = 4 };

// --- A batch: price and count -----------------------------------------------

typedef struct batch {
  int number;
  double prices[ROWS];
  int32_t counts[ROWS];
  const void *no_buffer[1], *price_buffers[2], *count_buffers[2];
  struct ArrowArray columns[2], *children[2];
  int open;  // what is not released yet, of the two columns and the struct
} batch;

static void let_go(batch *b) {
  if (--b->open > 0)
    return;
  printf("batch %d is released\n", b->number);
  free(b);
}

static void release_column(struct ArrowArray *a) {
  batch *b = a->private_data;
  a->release = NULL;
  let_go(b);
}

static void release_batch(struct ArrowArray *a) {
  batch *b = a->private_data;
  a->release = NULL;
  for (int i = 0; i < 2; i++)
    if (b->columns[i].release != NULL)
      b->columns[i].release(&b->columns[i]);
  let_go(b);
}

static struct ArrowArray column(batch *b, const void **buffers) {
  return (struct ArrowArray){.length = ROWS,
                             .n_buffers = 2,
                             .buffers = buffers,
                             .release = release_column,
                             .private_data = b};
}

static int make_batch(int number, struct ArrowArray *out) {
  batch *b = calloc(1, sizeof *b);
  if (b == NULL)
    return 0;
  b->number = number;
  b->open = 3;
  for (int i = 0; i < ROWS; i++) {
    b->prices[i] = 10 * number + 0.25 * i;
    b->counts[i] = i + number;
  }
  b->price_buffers[1] = b->prices;
  b->count_buffers[1] = b->counts;
  b->columns[0] = column(b, b->price_buffers);
  b->columns[1] = column(b, b->count_buffers);
  b->children[0] = &b->columns[0];
  b->children[1] = &b->columns[1];
  *out = (struct ArrowArray){.length = ROWS,
                             .n_buffers = 1,
                             .buffers = b->no_buffer,
                             .n_children = 2,
                             .children = b->children,
                             .release = release_batch,
                             .private_data = b};
  return 1;
}

static void release_schema(struct ArrowSchema *s) {
  s->release = NULL;
}

static struct ArrowSchema fields[2] = {
    {.format = "g", .name = "price", .release = release_schema},
    {.format = "i", .name = "count", .release = release_schema}};
static struct ArrowSchema *field_table[2] = {&fields[0], &fields[1]};

static struct ArrowSchema make_schema(void) {
  fields[0].release = fields[1].release = release_schema;
  return (struct ArrowSchema){.format = "+s",
                              .name = "",
                              .n_children = 2,
                              .children = field_table,
                              .release = release_schema};
}

// --- The script -------------------------------------------------------------

static const char script[] =
    "fn summary(batch) {\n"
    "  total = batch.price * batch.count\n"
    "  (share: total / sum(total), dear: batch.price > mean(batch.price))\n"
    "}\n";

static tally_status work(tally_vm *vm, int number) {
  struct ArrowSchema schema = make_schema();
  struct ArrowArray array;
  tally_value in, out;
  if (!make_batch(number, &array))
    return TALLY_ERR_MEMORY;
  tally_status status = tally_from_arrow(vm, &schema, &array, &in);  // takes
  if (status != TALLY_OK)
    return status;
  in = tally_take(in);
  status = tally_call(vm, "summary", 1, &in, &out);
  if (status != TALLY_OK)
    return status;
  status = tally_to_arrow(vm, out, &schema, &array);
  tally_release(vm, out);
  if (status != TALLY_OK)
    return status;
  const double *share = array.children[0]->buffers[1];
  const uint8_t *dear = array.children[1]->buffers[1];
  for (int i = 0; i < array.length; i++)
    printf("  %.3f%s\n", share[i], (dear[i / 8] >> i % 8 & 1) ? " dear" : "");
  schema.release(&schema);
  array.release(&array);
  return TALLY_OK;
}

int main(void) {
  tally_vm *vm;
  if (tally_open(NULL, &vm) != TALLY_OK)
    return 1;
  tally_status status = tally_eval(vm, script, NULL);
  for (int i = 1; i <= 2 && status == TALLY_OK; i++) status = work(vm, i);
  if (status != TALLY_OK)
    fprintf(stderr, "%s\n", tally_error(vm)->report);
  return tally_close(vm) != 0 || status != TALLY_OK;
}
