#!/bin/sh
# The Unicode consortium's own tests of normal forms and grapheme clusters, and
# its tables of letters' cases, where this machine has them (Debian's package unicode-data). They are of one
# version of Unicode, and utf8proc must know that or a later one.
#
#   tests/unicode.sh build/release/tally
set -u

tally=${1:?usage: tests/unicode.sh TALLY}
data=${UNICODE_DATA:-/usr/share/unicode}
passed=0
failed=0
plain=$(mktemp)
trap 'rm -f "$plain"' EXIT

run() {
  out=$("$tally" "$@" 2>&1)
  last=$(echo "$out" | tail -1)
  echo "$out" | sed '$d'
  case $last in
    *passed,*failed)
      passed=$((passed + ${last%% passed*}))
      bad=${last##*passed, }
      failed=$((failed + ${bad%% failed})) ;;
    *)
      echo "$last"
      failed=$((failed + 1)) ;;
  esac
}

if [ -f "$data/NormalizationTest.txt.bz2" ] &&
  bzip2 -dc "$data/NormalizationTest.txt.bz2" >"$plain" 2>/dev/null; then
  run tests/unicode/normalization.tly "$plain"
elif [ -f "$data/NormalizationTest.txt" ]; then
  run tests/unicode/normalization.tly "$data/NormalizationTest.txt"
else
  echo "tests/unicode.sh: no NormalizationTest.txt in $data: not tested"
fi
if [ -f "$data/auxiliary/GraphemeBreakTest.txt" ]; then
  run tests/unicode/graphemes.tly "$data/auxiliary/GraphemeBreakTest.txt"
else
  echo "tests/unicode.sh: no GraphemeBreakTest.txt in $data: not tested"
fi
if [ -f "$data/UnicodeData.txt" ] && [ -f "$data/SpecialCasing.txt" ]; then
  run tests/unicode/casing.tly "$data/UnicodeData.txt" "$data/SpecialCasing.txt"
else
  echo "tests/unicode.sh: no UnicodeData.txt and SpecialCasing.txt in $data: not tested"
fi

echo "$passed passed, $failed failed"
