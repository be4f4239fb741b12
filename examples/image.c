// A host that filters an image of its own: the pixels go in without a copy,
// the script's function gives a new image back, and the host reads that where
// it lies. The frame is let go at its last use, which a hook sees.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "tally.h"

enum { HEIGHT = 12, WIDTH = 32 };

static const char script[] =
    "## Each pixel's weighted mean with its eight neighbours; edges stay.\n"
    "fn blur(image) {\n"
    "  rows = image[1:-1] * 2 + image[:-2] + image[2:]\n"
    "  inner = (rows[:, 1:-1] * 2 + rows[:, :-2] + rows[:, 2:]) / 16\n"
    "  image[1:-1, 1:-1] = inner\n"
    "  image\n"
    "}\n"
    "\n"
    "## Stretches an image to the range from 0 to 1.\n"
    "fn stretch(image) {\n"
    "  low = min(image)\n"
    "  (image - low) / (max(image) - low)\n"
    "}\n"
    "\n"
    "fn filter_frame(image) = image |> blur |> stretch\n";

typedef struct frame {
  float pixels[HEIGHT][WIDTH];
} frame;

// A bright ring, and a speck of noise.
static void draw(frame *f) {
  for (int y = 0; y < HEIGHT; y++) {
    for (int x = 0; x < WIDTH; x++) {
      double r = hypot((x - 15.5) / 2, y - 5.5);
      f->pixels[y][x] = fabs(r - 4) < 1 ? 200 : 20;
    }
  }
  f->pixels[5][15] = 250;
}

static void show(const float *pixels) {
  for (int y = 0; y < HEIGHT; y++) {
    for (int x = 0; x < WIDTH; x++) {
      putchar(" .:-=+*#%@"[(int)(pixels[y * WIDTH + x] * 9 + 0.5F)]);
    }
    putchar('\n');
  }
}

static void let_go(void *context, void *data) {
  (void)context;
  printf("the frame is let go\n");
  free(data);
}

// The host's frame becomes a value, without a copy.
static tally_status wrap(tally_vm *vm, frame *f, tally_value *out) {
  tally_buffer buffer = {.data = f,
                         .type = "12 * 32 * float32",
                         .nbytes = sizeof *f,
                         .release = let_go};
  return tally_from_buffer(vm, &buffer, out);
}

static tally_status filter(tally_vm *vm, frame *f) {
  tally_value image, result;
  tally_array array;
  tally_status status = wrap(vm, f, &image);
  if (status != TALLY_OK) {
    free(f);  // not taken
    return status;
  }
  status = tally_call(vm, "filter_frame", 1, &image, &result);
  tally_release(vm, image);
  if (status != TALLY_OK)
    return status;
  printf("a result of type %s\n", tally_type(vm, result));
  status = tally_to_buffer(vm, result, &array);
  if (status == TALLY_OK)
    show(array.data);
  tally_release(vm, result);
  return status;
}

int main(void) {
  tally_vm *vm;
  frame *f = malloc(sizeof *f);
  if (f == NULL || tally_open(NULL, &vm) != TALLY_OK)
    return 1;
  draw(f);
  tally_status status = tally_eval(vm, script, NULL);
  if (status == TALLY_OK)
    status = filter(vm, f);
  if (status != TALLY_OK)
    fprintf(stderr, "%s\n", tally_error(vm)->report);
  return tally_close(vm) != 0 || status != TALLY_OK;
}
