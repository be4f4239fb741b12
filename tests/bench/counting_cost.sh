#!/bin/sh
# What the counting twin of the dispatch loop costs where it is off: runs a
# loop under callgrind with the twin in the program, and with a stub in its
# place, and compares instructions a turn.
#
#   tests/bench/counting_cost.sh build/release
#
# Needs valgrind. Exit status 1 if the two differ.
set -eu

build=${1:?usage: tests/bench/counting_cost.sh BUILD}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat >"$dir/stub.c" <<'END'
#include "vm/interp/interp.h"
bool tl_interpret_counting(tl_vm *vm) {
  return tl_interpret(vm);
}
END
${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -I. -c "$dir/stub.c" -o "$dir/stub.o"
cp "$build/libtally.a" "$dir/libtally.a"
ar d "$dir/libtally.a" interp_counting.o
ar q "$dir/libtally.a" "$dir/stub.o"
# shellcheck disable=SC2046
${CC:-cc} -o "$dir/tally" "$build"/repl/*.o "$dir/libtally.a" \
  $(pkg-config --libs libutf8proc 2>/dev/null || echo -lutf8proc) -lm -pthread

# turns N: a script of N turns: scalars, an item, a small array, a call.
turns() {
  echo "fn f(a, b) = a * 2 + b
x = zeros(8)
s = 0
for i in 0..$1 { s = f(s, i) % 1000; x[i % 8] = 1.0; y = x + 1.0; s += i }
print(s, y[0])"
}

# count TALLY OPTION N: instructions of the whole run.
count() {
  turns "$3" >"$dir/script.tly"
  # shellcheck disable=SC2086
  valgrind --tool=callgrind --callgrind-out-file="$dir/out" "$1" $2 \
    "$dir/script.tly" 2>"$dir/log" >/dev/null
  sed -n 's/.*Collected : \([0-9]*\).*/\1/p' "$dir/log"
}

# each TALLY OPTION: instructions a turn.
each() {
  a=$(count "$1" "$2" 1000)
  b=$(count "$1" "$2" 21000)
  echo $(((b - a) / 200))
}

twin=$(each "$build/tally" --threads=1)
stub=$(each "$dir/tally" --threads=1)
on=$(each "$build/tally" --stats)
echo "instructions a turn, the twin off:      $((twin / 100)).$((twin % 100))"
echo "the same without the twin:              $((stub / 100)).$((stub % 100))"
echo "counting:                               $((on / 100)).$((on % 100))"
[ "$twin" = "$stub" ]
