// Texts that functions of the library read: datashapes, specifications of
// formats, regular expressions, JSON, numbers. What a text gives must be read
// again from the text that it is shown as.
#include "tests/fuzz/targets/targets.h"

static const char types[] =
    "fn target(text) {\n"
    "  t = type(text)\n"
    "  assert(type(string(t)) == t)\n"
    "  assert(typeof(t) == typeof(`int8`))\n"
    "  try { z = zeros(t); z = (z, string(z), z == z) } catch e { }\n"
    "  try { z = zeros(2, dtype: t); z = (z[1], string(z)) } catch e { }\n"
    "}\n";

// Each value under the specification as it is, and in a text.
static const char specifications[] =
    "values = (1, -7, 0, true, 1.5, -0.0, inf, nan, 1e300, complex(2, 3), \"é\",\n"
    "  \"text\", uint8(200), float32(0.1), [1, 2], [0.5, nan], none,\n"
    "  (1, \"a\"), -9223372036854775807, [[1, none], []])\n"
    "fn target(spec) {\n"
    "  for x in values { try { z = format(x, spec) } catch e { } }\n"
    "}\n";

// The expression is the first line, the subject what follows.
static const char expressions[] =
    "import strings\n"
    "fn target(text) {\n"
    "  parts = split(text, \"\\n\")\n"
    "  e = parts[0]\n"
    "  s = join(parts[1:], \"\\n\")\n"
    "  m = strings.match(s, e)\n"
    "  all = strings.matches(s, e)\n"
    "  assert((m == none) == (len(all) == 0))\n"
    "  z = strings.substitute(s, e, \"<\\\\0\\\\1>\")\n"
    "  z = strings.split_matches(s, e)\n"
    "}\n";

static const char json[] =
    "import json\n"
    "fn target(text) {\n"
    "  v = json.parse(text)\n"
    "  again = json.format(v)\n"
    "  assert(same(json.parse(again), v))\n"
    "  assert(same(json.parse(json.format(v, indent: 2)), v))\n"
    "}\n";

static const char numbers[] =
    "fn target(text) {\n"
    "  try { x = float(text) } catch e { x = 0.0 }\n"
    "  assert(same(float(string(x)), x))\n"
    "  try { x = int(text) } catch e { x = 0 }\n"
    "  assert(same(int(string(x)), x))\n"
    "}\n";

const fuzz_target fuzz_texts[] = {
    {.name = "types", .script = types, .run = fuzz_call_text},
    {.name = "specs", .script = specifications, .run = fuzz_call_text},
    {.name = "regex", .script = expressions, .run = fuzz_call_text},
    {.name = "json", .script = json, .run = fuzz_call_text},
    {.name = "numbers", .script = numbers, .run = fuzz_call_text},
    {0},
};
