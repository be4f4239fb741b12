#!/bin/sh
# What counting costs: runs a loop under callgrind, as it is and where each
# instruction is counted, and prints the instructions a turn of both.
#
#   tests/bench/counting_cost.sh build/release
#
# Needs valgrind.
set -eu

build=${1:?usage: tests/bench/counting_cost.sh BUILD}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

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

off=$(each "$build/tally" --threads=1)
on=$(each "$build/tally" --stats)
echo "instructions a turn:      $((off / 100)).$((off % 100))"
echo "counted:                  $((on / 100)).$((on % 100))"
