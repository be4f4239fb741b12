#!/bin/sh
# Programs larger than anybody writes by hand: generated source with thousands
# of parts of one thing, which must be right, or be refused with few words.
#
#   tests/large.sh build/release/tally
#
# The last line is the sum, and the exit status 1 if anything failed.
set -u

tally=${1:?usage: tests/large.sh TALLY}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0

# check WHAT EXPECTED: what $dir/x.tly prints, at most its first 200 characters
# in a line, and no more than 100 lines.
check() {
  "$tally" "$dir/x.tly" 2>&1 | cut -c1-200 >"$dir/out"
  if [ "$(sed -n "${3:-1}p" "$dir/out" | sed "s|$dir/||")" = "$2" ] &&
    [ "$(wc -l <"$dir/out")" -le 100 ]; then
    passed=$((passed + 1))
  else
    head -n 5 "$dir/out"
    echo "FAILED: $1, expected: $2"
    failed=$((failed + 1))
  fi
}

# lines COUNT TEXT: that line COUNT times, @ standing for its number from 0.
lines() {
  awk -v count="$1" -v text="$2" 'BEGIN {
    for (i = 0; i < count; i++) {
      line = text
      gsub(/@/, i, line)
      print line
    }
  }'
}

awk 'BEGIN {
  printf "fn f(a) {\n  r = ("
  for (i = 0; i < 5000; i++) printf "k%d: a + %d, ", i, i
  print ")\n  return r\n}\nr = f(1)"
  print "print(len(r), r.k0, r.k199, r.k200, r.k4999, keys(r)[200])"
}' >"$dir/x.tly"
check 'a record of 5,000 fields' '5000 1 200 201 5000 k200'

awk 'BEGIN {
  printf "r = ("
  for (i = 0; i < 300; i++) printf "k%d: %d, ", i, i
  print "k7: 1, k299: 2)"
}' >"$dir/x.tly"
check 'a record that has a field twice' \
  'x.tly:1:3086: syntax error: the record has the field k7 twice'

awk 'BEGIN {
  printf "fn f(a) = \""
  for (i = 0; i < 50000; i++) printf "{a + %d};", i % 10
  print "\"\ns = f(1)"
  print "print(len(s), s[:9], s[-4:])"
}' >"$dir/x.tly"
check 'a string with 50,000 values' '105000 1;2;3;4;5 ;10;'

{
  echo 'fn a(x) {'
  lines 3000 '  v@ = x'
  echo '  fn b(y) {'
  lines 3000 '    w@ = y'
  echo '    fn c() {'
  echo '      s = 0'
  lines 3000 '      s = s + v@ + w@'
  printf '%s\n' '      return s' '    }' '    return c' '  }' '  return b' '}'
} >"$dir/x.tly"
check 'a closure over 6,000 variables' \
  'x.tly:6003:8: limit error: a function uses at most 3495 variables of those around it'

lines 100000 'x = unknown@' >"$dir/x.tly"
check '100,000 errors' 'and 99980 more errors' '$'

# Thousands of names of one array, each of which may be its last owner.
{
  echo 'fn f(x) {'
  lines 1000 '  v@ = x'
  echo '  s = 0'
  lines 1000 '  s = s + sum(v@)'
  printf '%s\n' '  return s' '}' 'print(f([1, 2]))'
} >"$dir/x.tly"
check '1,000 names of one array' '3000'

# Thousands of constants, of which none is another one.
{
  echo 'fn f() {'
  echo '  s = 0'
  lines 5000 '  s = s + len("s@") + @.5'
  printf '%s\n' '  return s' '}' 'print(f())'
} >"$dir/x.tly"
check '10,000 constants' '12523890.0'

# One instruction has all indices of a place, and at most so many operands.
{
  echo 'x = [1]'
  printf x
  lines 900 '[0, 0, 0, 0, 0, 0, 0, 0]' | tr -d '\n'
  echo ' = 1'
} >"$dir/x.tly"
check 'a place of 7,200 indices' \
  'x.tly:2:21578: limit error: a place has at most 3495 indices'

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
