// An evaluator for scripts that no one has read: no files, clock or
// environment, 16 MB, and a million turns for each call. Whatever a script
// tries ends in an error of a kind that the host can tell.

#include <stdio.h>
#include "tally.h"

static const char *const scripts[] = {
    "x = arange(10)\nprint(\"an honest script:\", sum(x * x))",
    "while true { }",
    "try { while true { } } catch { print(\"caught\") }",
    "fn f(n) = 1 + f(n + 1)\nprint(f(0))",
    "x = zeros((100000, 100000))",
    "l = ()\nwhile true { l = append(l, zeros(10000)) }",
    "s = \"ha\"\nwhile true { s = s + s }",
    "import io\nprint(io.read_text(\"/etc/passwd\"))",
    "import io\nio.write_text(\"tally.h\", \"\")",
    "import time\nprint(time.now())",
    "import \"/etc/passwd.tly\" as secret",
    "[1, 2, 3][9223372036854775807]",
    "x = (((((",
    "x = arange(10)\nprint(\"and another:\", sum(x))",
};

// A fresh VM for each: no script sees what another left.
static void run(const tally_options *options, const char *source) {
  tally_vm *vm;
  if (tally_open(options, &vm) != TALLY_OK) {
    printf("no memory\n");
    return;
  }
  if (tally_eval(vm, source, NULL) != TALLY_OK) {
    printf("%s error\n", tally_error(vm)->kind);
  }
  tally_close(vm);
}

int main(void) {
  tally_options options = tally_default_options();
  options.memory_limit = 16u << 20;
  options.instruction_limit = 1000000;
  options.capabilities = 0;
  for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
    run(&options, scripts[i]);
  }
  return 0;
}
