#!/bin/sh
# The cases of counting once more with --no-reuse: tests/counting/X.plain is
# what X.tly prints then. R6: no script needs more memory at its peak with reuse
# than without, the code of each page and the examples among them. And of the
# references that the array kernels make at most 0.1 % write a heap count, of
# those of the examples, lists and all, at most 3 %, of three of them 8 %.
#
#   tests/counting.sh build/release/tally
#
# Under the sanitizers, where bytes are counted alike and the golden tests run with
# reuse, each script runs without it alone.
#
# The last line is the sum, and the exit status 1 if anything failed.
set -u

tally=${1:?usage: tests/counting.sh TALLY}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0

for expected in tests/counting/*.plain; do
  script=${expected%.plain}.tly
  if "$tally" --no-reuse "$script" >"$dir/out" 2>&1 &&
    diff -u "$expected" "$dir/out"; then
    passed=$((passed + 1))
  else
    tail -n 5 "$dir/out"
    echo "FAILED: $script --no-reuse"
    failed=$((failed + 1))
  fi
done

# peak OPTION: the largest live_bytes of $script, which runs in a directory of
# its own; what it prints and how it ends is another test's business.
peak() {
  (cd "$dir" && "$tally" --stats=json "$@" "$script" 2>&1 >/dev/null </dev/null) |
    sed -n 's/.*"peak_bytes": \([0-9]*\).*/\1/p'
}

case $tally in /*) ;; *) tally=$PWD/$tally ;; esac
here=$PWD

# Each block of Tally in a page is a script of its own: PAGE.LINE.tly.
for page in README.md docs/*.md; do
  name=$(basename "$page" .md)
  awk -v to="$dir/$name" '/^```/ { file = ""; if ($1 == "```tally") {
    file = to "." NR ".tly"; printf "" >file; next } }
    file != "" { print >file }' "$page"
done

for path in tests/lang/*.tly tests/lib/*.tly tests/regress/*.tly \
  tests/unicode/*.tly examples/*.tly examples/kernels/*.tly "$dir"/*.tly; do
  case $path in /*) script=$path ;; *) script=$here/$path ;; esac
  # Where nothing is reused a promised peak is passed, and the script ends there.
  grep -q '^ *#:peak' "$script" && continue
  plain=$(peak --no-reuse)
  case ${CFLAGS-} in
    *sanitize*) reused=$plain ;;
    *) reused=$(peak) ;;
  esac
  if [ -n "$reused" ] && [ -n "$plain" ] && [ "$reused" -le "$plain" ]; then
    passed=$((passed + 1))
  else
    echo "FAILED: R6 $path: peak $reused with reuse, $plain without"
    failed=$((failed + 1))
  fi
done

# share MOST SCRIPT…: no script's share of counted references is above MOST.
share() {
  most=$1
  shift
  for script; do
    # Of a script that fails nothing is known: it may have ended at once.
    stats=$("$tally" --stats=json "$script" 2>&1 >/dev/null </dev/null) || stats=
    counted=$(echo "$stats" |
      sed -n 's/.*"heap_counted_share": \([0-9.]*\).*/\1/p')
    if awk "BEGIN { exit !(\"$counted\" != \"\" && $counted + 0 <= $most) }"; then
      passed=$((passed + 1))
    else
      echo "FAILED: $script: heap-counted share $counted, at most $most expected"
      failed=$((failed + 1))
    fi
  done
}
share 0.001 $(ls examples/kernels/*.tly | grep -v /inputs)
share 0.01 examples/slices/*.tly
# These three keep a table's strings in lists, and do little else.
strings="examples/elnino.tly examples/patterns.tly examples/sentences.tly"
share 0.08 $strings
share 0.03 $(ls examples/*.tly | grep -vF "$(echo "$strings" | tr ' ' '\n')")

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
