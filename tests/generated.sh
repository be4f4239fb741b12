#!/bin/sh
# The tables in the tree are what their scripts make: each is made anew and
# compared but for its layout, where the script's language is installed.
#
#   tests/generated.sh TALLY
set -u

tally=$(realpath "${1:?usage: tests/generated.sh TALLY}")
passed=0
failed=0
root=$(pwd)
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

# compare FOLDER SCRIPT MODULE: what SCRIPT, which imports MODULE, makes for it.
compare() {
  if ! python3 -c "import $3" 2>/dev/null; then
    echo "skipped: $2 needs Python with $3"
    return
  fi
  rm -rf "${made:?}"/*
  (cd "$made" && "$root/$2" "$tally") || failed=$((failed + 1))
  for file in $(find "$made" -type f); do
    kept=$1/${file#"$made/"}
    if [ "$(tr -d ' \n' <"$file")" = "$(tr -d ' \n' <"$kept")" ]; then
      passed=$((passed + 1))
    else
      failed=$((failed + 1))
      echo "FAILED: $kept is not what $2 makes"
    fi
  done
}

compare vm/generated tools/generate/powers_of_five.py math
compare vm/kernels/generated tools/generate/vmath.py mpmath
compare examples/editors tools/generate/editors.py json

# What `make` generates is C where a char has no sign, too, as on ARM.
if ${CC:-cc} -std=c11 -I. -funsigned-char -Wall -Wextra -Wconversion -Werror \
  -fsyntax-only "$(dirname "$tally")/texts.c"; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo 'FAILED: the texts of the command where a char has no sign'
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
