#!/bin/sh
# What lies in the memory of a missing value is nothing that a script can see:
# every function of the library gives the same for two arrays that are equal but
# for what lies there, in whichever place they are given.
#
#   tests/gaps.sh build/release/tally
#
# The last line is the sum, and the exit status 1 if anything failed.
set -u

tally=${1:?usage: tests/gaps.sh TALLY}
case $tally in /*) ;; *) tally=$PWD/$tally ;; esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# All functions but those that ask the system or the memory, write, wait, end the
# script, or take no arrays at all.
"$tally" doc | sed -n 's/^\([A-Za-z][A-Za-z0-9_.]*\) .*/\1/p' |
  grep -vE '^(os|io|time|memory|plot)\.|^(print|show|input|error|assert|pi|e|inf|nan|newaxis|fft\.use|fft\.library|random\.(seed|generator))$' \
    >"$folder/names"

{
  grep -o '^[a-z]*\.' "$folder/names" | sort -u | sed 's/\.$//; s/^/import /'
  cat <<'END'
# Two arrays of a shape, with the same gaps over other values.
fn pair(values, hidden, others, dtype, shape) {
  made = ()
  for under in (hidden, others) {
    x = astype(values, dtype)
    x[1] = under
    x[1] = none
    x[4] = under
    x[4] = none
    made = append(made, reshape(x, shape))
  }
  made
}
cases = ()
fn add(values, hidden, others, dtype) {
  global cases
  for shape in ((6,), (2, 3)) { cases = append(cases, pair(values, hidden, others, dtype, shape)) }
}
add([3.0, 1.0, 2.0, 2.0, 5.0, 0.5], nan, 1e300, `?float64`)
add([3.0, 1.0, 2.0, 2.0, 5.0, 0.5], inf, 2.0, `?float64`)
add([3, 1, 2, 2, 5, 0], 9_223_372_036_854_775_807, 0, `?int64`)
add([3, 1, 2, 2, 5, 0], -9_223_372_036_854_775_808, 2, `?int64`)
add(int8([1, 1, 0, 2, 1, 0]), int8(127), int8(-1), `?int8`)
add([true, true, false, true, false, false], true, false, `?bool`)
add([3i, 1i, 2.0, 2.0, 5.0, 0i], complex(nan, inf), 0i, `?complex128`)
add(["3", "1", "b", "b", "a", ""], "zzz", "12", `?string`)

y = reshape([1.5, 2.5, 0.5, 3.5, 1.0, 2.0], (6,))
ways = (
  (f, x) => f(x), (f, x) => f(x, x), (f, x) => f(x, x, x), (f, x) => f(x, 1), (f, x) => f(x, 0),
  (f, x) => f(x, 1.5), (f, x) => f(x, "a"), (f, x) => f(1, x), (f, x) => f(0.5, x), (f, x) => f("1", x),
  (f, x) => f(reshape(y, x.shape), x), (f, x) => f(x, reshape(y, x.shape)), (f, x) => f(x, (+)),
  (f, x) => f(x, v => v), (f, x) => f(x, sum), (f, x) => f(x, 1, 2), (f, x) => f(x, 0, 1), (f, x) => f(x, (3, 2)),
  (f, x) => f((x, x)), (f, x) => f((a: x, b: x)), (f, x) => f(rows((a: x, b: x))), (f, x) => f(rows((a: x, b: x)), "a"),
  (f, x) => f(x, axis: 0), (f, x) => f(x, axis: -1), (f, x) => f(x, 1, axis: 0), (f, x) => f(x, [1, 0], axis: 0),
  (f, x) => f(x, skip_missing: true), (f, x) => f(x, keepdims: true), (f, x) => f(x, descending: true),
  (f, x) => f(x, [1, 0]), (f, x) => f([0, 1, 0, 1, 0, 1], x), (f, x) => f(x, [true, false, true, false, true, true]),
  (f, x) => f([true, false, true, false, true, true], x), (f, x) => f(x > x, x, 0), (f, x) => f(x == x, 1, 2),
  (f, x) => f(y, x, y), (f, x) => f(y, y, x), (f, x) => f(x, y, y), (f, x) => f(x, [0, 1], [1, 2]),
  (f, x) => f(ragged(reshape(x, -1), [2, 0, 4])), (f, x) => f(ragged(reshape(x, -1), [2, 0, 4]), axis: -1),
  (f, x) => f(ragged(reshape(x, -1), [2, 0, 4]), 1), (f, x) => f(reshape(x, -1)[::2]), (f, x) => f(x + x), (f, x) => f(x.T),
  (f, x) => f("ij->i", x), (f, x) => f(x, weights: x), (f, x) => f(x, bins: 3), (f, x) => f(2, x, x))

fn answer(f, way, x) = try { (value: way(f, x)) } catch e { (kind: e.kind, message: e.message) }

fn text_of(x) = try { string(x) } catch e { "FAILED: {e.message}" }

passed, failed = (0, 0)
fn compare(name, f) {
  global passed
  global failed
  for i, way in enumerate(ways) {
    for c in cases {
      random.seed(1)
      a = answer(f, way, c[0])
      random.seed(1)
      b = answer(f, way, c[1])
      if same(a, b) and text_of(a) == text_of(b) and not starts_with(text_of(a), "FAILED") {
        passed += 1
      } else {
        failed += 1
        print("FAILED: {name}, way {i}, {typeof(c[0])}: {text_of(a)} or {text_of(b)}")
      }
    }
  }
}
END
  sed 's/.*/compare("&", &)/' "$folder/names"
  echo 'print("{passed} passed, {failed} failed")'
  echo 'assert(failed == 0)'
} >"$folder/gaps.tly"

cd "$folder" || exit 1
"$tally" gaps.tly >"$folder/out" 2>"$folder/errors"
status=$?
cat "$folder/out"
if ! tail -n 1 "$folder/out" | grep -q '^[0-9]* passed, 0 failed$'; then
  head -n 20 "$folder/errors"
fi
exit "$status"
