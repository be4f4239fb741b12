#!/bin/sh
# Every documented name stands in some golden script of tests/.
#
#   tests/named.sh build/release/tally
set -u

tally=${1:?usage: tests/named.sh TALLY}
here=$(dirname "$0")
words=$(mktemp)
trap 'rm -f "$words"' EXIT

find "$here/lib" "$here/lang" "$here/regress" "$here/counting" -name '*.tly' \
  -exec cat {} + | tr -cs 'A-Za-z0-9_' '\n' | sort -u > "$words"
"$tally" doc | grep '^[^#]' | while read -r name _; do
  if grep -qx -- "${name##*.}" "$words"; then echo "$name"
  else echo "FAILED: $name is in no golden script"; fi
done | awk '
  /^FAILED/ { print; failed++; next }
  { passed++ }
  END { print passed + 0 " passed, " failed + 0 " failed" }'
