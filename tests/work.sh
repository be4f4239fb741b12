#!/bin/sh
# How much work lies between two polls, in a library that counts the basic blocks
# that it runs, and what the C library moves for it:
#
#   tests/work.sh [EVERY]     one of EVERY ways to call each function (8)
#
# The last line is the sum, and the exit status 1 if anything failed.
set -u

cd "$(dirname "$0")/.."
build=build/work
cc=${CC:-cc}
uncounted='no_sanitize_coverage'
case $($cc --version) in *clang*) uncounted='no_sanitize("coverage")' ;; esac
wrapped=
for name in memcpy memmove memset memchr memcmp; do
  wrapped="$wrapped -Wl,--wrap=$name"
done

# shellcheck disable=SC2046,SC2086
env -u MAKEFLAGS -u CFLAGS make --no-print-directory CC="$cc" BUILD=$build KERNEL_OPT=-O1 \
  CFLAGS='-O1 -fsanitize-coverage=trace-pc' $build/libtally.a >"$build.log" 2>&1 &&
  $cc -std=c11 -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE -I. -O1 \
    "-DCOUNTS_WORK=$uncounted" -o $build/test_work tests/unit/test_polls.c \
    $build/libtally.a $(pkg-config --libs cmocka libutf8proc) -lm -ldl -pthread $wrapped ||
  { cat "$build.log"; echo "0 passed, 1 failed"; exit 1; }
$build/test_work "${1:-8}"
status=$?
echo "$((status == 0)) passed, $((status != 0)) failed"
exit "$((status != 0))"
