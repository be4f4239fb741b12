#!/bin/sh
# The hosts, and what uses threads, under the thread sanitizer:
#
#   tests/threads.sh build/threads
#
# A race is a failure, whatever the output. The last line is the sum, and the
# exit status 1 if anything failed.
set -u

build=${1:?usage: tests/threads.sh BUILD}
out=$build/tests/out
passed=0
failed=0
export TSAN_OPTIONS=halt_on_error=1:exitcode=66

mkdir -p "$build/tests"

# check WHAT EXPECTED COMMAND...: it succeeds and prints that file's text ('':
# whatever it likes).
check() {
  what=$1 expected=$2
  shift 2
  if "$@" >"$out" 2>"$out.err" &&
    { [ -z "$expected" ] || diff -u "$expected" "$out"; }; then
    passed=$((passed + 1))
  else
    cat "$out.err"
    echo "FAILED: $what"
    failed=$((failed + 1))
  fi
}

for source in examples/*.c; do
  check "$source" "${source%.c}.out" "$build/${source%.c}"
done
for name in test_pool test_api_interrupts test_api_limits test_api_exchange; do
  check "$name" '' "$build/tests/unit/$name"
done
# Array work in several threads, and the same result in one.
for script in tests/lib/reductions.tly tests/lang/peak_of_spellings.tly \
  tests/lang/*_in_one_pass.tly tests/kernels/*.tly; do
  check "$script in threads" '' "$build/tally" test "$script"
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
