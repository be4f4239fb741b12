#!/bin/sh
# `tally fmt`: what it writes, and that every script here stays the same program
# (the command itself compares the tokens) and is laid out once and for all.
#
#   tests/format.sh build/release/tally
#
# The last line is the sum, and the exit status 1 if anything failed.
set -u

tally=${1:?usage: tests/format.sh TALLY}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0

# check NAME COMMAND...: the command succeeds.
check() {
  name=$1
  shift
  if "$@" >"$dir/check" 2>&1; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name"
    head -c 1000 "$dir/check"
  fi
}

# status WANTED NAME COMMAND...: it ends with this status.
status() {
  wanted=$1
  name=$2
  shift 2
  "$@" >"$dir/out" 2>&1
  got=$?
  check "$name: status $got instead of $wanted" [ "$got" = "$wanted" ]
}

for file in tests/format/*.in; do
  "$tally" fmt - <"$file" >"$dir/laid" 2>&1
  check "$file" diff -u "${file%.in}.out" "$dir/laid"
done

# A script with an error of syntax, as some tests are, stays as it is.
for file in $(find tests stdlib examples docs -name '*.tly' | sort); do
  cp "$file" "$dir/copy.tly"
  if "$tally" fmt "$dir/copy.tly" 2>"$dir/error"; then
    check "$file, laid out once" "$tally" fmt --check "$dir/copy.tly"
  else
    check "$file stays as it is" cmp "$file" "$dir/copy.tly"
    check "$file has an error" grep -q 'syntax error' "$dir/error"
  fi
done

check 'the library and the examples are laid out' \
  "$tally" fmt --check stdlib/*.tly examples/*.tly examples/kernels/*.tly \
  examples/slices/*.tly

# Files: permissions and links stay; --check writes nothing.
printf 'x=1' >"$dir/a.tly"
chmod 750 "$dir/a.tly"
ln -s a.tly "$dir/link.tly"
status 1 'not laid out' "$tally" fmt --check "$dir/a.tly"
check 'which file' grep -q 'a.tly is not laid out' "$dir/out"
printf '# one\n\n\n\n#two\nx=[1,\n  2]\n# 3\n# 4\n# 5\n# 6\n# 7\n# 8\n# 9\n# 10\n\n\ny=1' >"$dir/d.tly"
status 1 'what would change' "$tally" fmt --diff "$dir/d.tly"
cp "$dir/d.tly" "$dir/e.tly"
"$tally" fmt "$dir/d.tly"
if command -v patch >/dev/null 2>&1; then
  check 'a difference that patch reads' patch -s "$dir/e.tly" "$dir/out"
  check 'a difference is what is laid out' cmp "$dir/d.tly" "$dir/e.tly"
fi
status 0 'nothing would change' "$tally" fmt --diff "$dir/d.tly"
check 'no difference' [ ! -s "$dir/out" ]
check 'not written' [ "$(cat "$dir/a.tly")" = 'x=1' ]
status 0 'through a link' "$tally" fmt "$dir/link.tly"
check 'a link stays one' [ -L "$dir/link.tly" ]
check 'written' [ "$(cat "$dir/a.tly")" = 'x = 1' ]
check 'permissions' [ "$(ls -l "$dir/a.tly" | cut -c1-10)" = '-rwxr-x---' ]
status 0 'laid out' "$tally" fmt --check "$dir/a.tly" "$dir/link.tly"
printf 'y=(' >"$dir/b.tly"
printf 'z=1' >"$dir/c.tly"
status 1 'an error among files' "$tally" fmt "$dir/b.tly" "$dir/c.tly"
check 'its place' grep -q 'b.tly:1:3: syntax error' "$dir/out"
check 'the others are written' [ "$(cat "$dir/c.tly")" = 'z = 1' ]
status 1 'no such file' "$tally" fmt "$dir/none.tly"
check 'its name' grep -q 'cannot read .*none.tly' "$dir/out"
status 2 'no file' "$tally" fmt
: >"$dir/empty.tly"
status 0 'an empty file' "$tally" fmt --check "$dir/empty.tly"
printf '\357\273\277x = 1\r\ny = 2\r\n' >"$dir/crlf.tly"
status 0 'another system' "$tally" fmt "$dir/crlf.tly"
check 'ends of lines' [ "$(od -c "$dir/crlf.tly" | grep -c '\\r')" = 0 ]

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
