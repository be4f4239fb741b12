// A minimal host, as README.md shows it: fits a line through four points.

#include <stdio.h>
#include "tally.h"

int main(void) {
  tally_vm *vm;
  tally_value slope;
  double value;
  if (tally_open(NULL, &vm) != TALLY_OK)
    return 1;
  if (tally_eval(vm,
                 "x = [1, 2, 3, 4]\n"
                 "y = [2.1, 3.9, 6.2, 7.8]\n"
                 "sum(x * y) / sum(x²)",
                 &slope) == TALLY_OK &&
      tally_to_float(vm, slope, &value) == TALLY_OK) {
    printf("y is about %.2f x\n", value);
    tally_release(vm, slope);
  } else {
    fprintf(stderr, "%s\n", tally_error(vm)->message);
  }
  tally_close(vm);
}
