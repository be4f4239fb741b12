// An evaluator for scripts that no one has read, as a service would have it:
// each runs in a VM of its own, which takes 50 microseconds and no process. It
// has no files, clock or environment, 16 MB of memory, 256 KiB of stack, twenty
// million instructions, a minute, and 60 bytes to print. Whatever a script
// tries ends in an error of a kind that the host can tell.

#include <stdio.h>
#include <string.h>
#include "tally.h"

enum { MOST_OUTPUT = 60 };

// What a script has printed, for which there is room: the VM has the limit.
typedef struct output {
  char text[MOST_OUTPUT + 1];
  size_t length;
} output;

static int print_into(void *context, const char *text, size_t nbytes) {
  output *out = context;
  memcpy(out->text + out->length, text, nbytes);
  out->length += nbytes;
  out->text[out->length] = 0;
  return 0;
}

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
    "import os\nos.exit(0)",
    "l = 1\nfor i in 0..100 { l = (l, l) }\nprint(l)",
    "import strings\na = strings.repeat(\"a\", 2_000_000)\n"
    "print(strings.repeat(\"a\", 1_000_000) + \"b\" in a)",
    "for i in 0..9 { print(\"spam, spam\", i) }",
    "[1, 2, 3][9223372036854775807]",
    "x = (((((",
    "x = arange(10)\nprint(\"and another:\", sum(x))",
};

// A fresh VM for each: no script sees what another left.
static void run(const char *source) {
  tally_vm *vm;
  output out = {.length = 0};
  tally_options options = tally_default_options();
  options.capabilities = 0;
  options.memory_limit = 16u << 20;
  options.stack_size = 256u << 10;
  options.instruction_limit = 20000000;  // the same on every machine
  options.time_limit = 60;               // whatever the budget does not count
  options.output_limit = MOST_OUTPUT;
  options.threads = 1;
  options.seeded = 1;
  options.write = print_into;
  options.context = &out;
  if (tally_open(&options, &vm) != TALLY_OK) {
    printf("no memory\n");
    return;
  }
  tally_status status = tally_eval(vm, source, NULL);
  printf("%s", out.text);
  if (status != TALLY_OK)
    printf("%s error\n", tally_error(vm)->kind);
  tally_close(vm);
}

int main(void) {
  for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) run(scripts[i]);
  return 0;
}
