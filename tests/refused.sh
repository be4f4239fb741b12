#!/bin/sh
# Every documented function called with what it cannot take: each kind of value
# in each place of what it needs, the others being an array, a matrix or text.
# It gives a value, or an error of a kind that speaks of arguments, whose message
# begins with the function's name; those of an operator inside may be its own.
# What it says an argument must be, it says of one of the function's parameters;
# and of what values and shapes are wrong it names the parameter, where a
# function has several and the message does not show which one is meant.
#
#   tests/refused.sh build/release/tally
set -u

case ${1:?usage: tests/refused.sh TALLY} in
  /*) tally=$1 ;;
  *) tally=$PWD/$1 ;;
esac
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

# "name required params" for each function: how many arguments it needs at
# least, and its parameters' names with commas between.
signatures() {
  "$here/signatures.sh" "$tally" | awk '
    { name = $0; sub(/\(.*/, "", name) }
    name ~ /^(time\.sleep|error|assert|input|print)$/ { next }
    /\(.*\)$/ {
      name = substr($0, 1, index($0, "(") - 1)
      text = substr($0, index($0, "(") + 1)
      sub(/\)$/, "", text)
      count = split(text, params, ", ")
      needed = 0
      for (i = 1; i <= count && params[i] !~ /[:=]/; i++)
        needed += params[i] !~ /^\.\.\./
      if (needed == 0 && text ~ /^\.\.\./) needed = 1
      names = ""
      for (i = 1; i <= count; i++) {
        sub(/[:=].*/, "", params[i])
        gsub(/[. ]/, "", params[i])
        names = names (i > 1 ? "," : "") params[i]
      }
      if (needed > 0) print name, needed, names
    }'
}

cat > head <<'TALLY'
import strings
import json
import io
import binary
import linalg
import fft
import random
import time
import os
import memory
import stats
import tables
import plot
import tables

kinds = ("type", "shape", "index", "value", "domain", "io", "memory", "limit")
own = (" needs ", " takes ", " do not broadcast", " does not fit", "structs with", "a negative ", "is_missing(x)", " converts numbers")
# What is said of several arguments, of what is in one, or of a call inside.
others = ("item ", "each ", "the values", "what it goes through", "the function's result")
shows = (" do not broadcast", " does not broadcast to ", " rows against ", "@ of ", "a scalar", " of the stack ", " is indexed by rows", "cannot store ", ": index ", " which do not fill ", " does not fit int64", "JSON has no ", " ends in none of ", " by a negative count", " is not a whole number", " is out of range", ": an index ", " is no valid ")
calls = 0
fn words(text) {
  for mark in (":", ",", "(", ")") { text = replace(text, mark, " ") }
  split(text, " ")
}
fn names_argument(name, params, message) {
  end = find(message, " must be ")
  if end < 0 or not starts_with(message, name + ": ") { return true }
  said = words(message[len(name) + 2:end])
  any([p in said for p in params]) or any([starts_with(message, name + ": " + o) for o in others])
}
fn shows_argument(name, params, message) {
  said = words(message)
  if len(params) == 1 or any([p in said for p in params]) { return true }
  if starts_with(message, name + ": axis ") { return any([p in ("axis", "axes", "source") for p in params]) }
  any([find(message, s) >= 0 for s in shows])
}
fn try_call(name, params, text, f) {
  global calls
  calls += 1
  try { f() } catch e {
    named = names_argument(name, params, e.message) and (not (e.kind in ("value", "shape", "index", "domain")) or shows_argument(name, params, e.message))
    if not named { print("FAILED: {text}: no parameter is named: {e.message}") }
    named = starts_with(e.message, name + ":") or starts_with(e.message, name + " ")
    if not (e.kind in kinds) { print("FAILED: {text}: {e.kind} error: {e.message}") }
    else if not named and not (e.kind in ("memory", "limit")) and not any([find(e.message, o) >= 0 for o in own]) {
      print("FAILED: {text}: {e.message}")
    }
  }
}
TALLY

signatures | awk '
    function call(name, list, params, text) {
      text = name "(" list ")"
      gsub(/,/, "\", \"", params)
      print "try_call(\"" name "\", (\"" params "\",), r\"\"\"" text "\"\"\", () => " text ")"
    }
    BEGIN {
      bad = "\"a\"|none|(1, \"a\")|(a: 1)|int64|x => x|io|[1, none]|[[1], [2, 3]]|" \
        "[]|zeros((0, 3))|[nan, inf]|-1|2.5|true|[1i, 2]|ones((2, 2, 2))|[\"a\", \"b\"]|1..3|()|[(a: 1)]"
      count = split(bad, values, "|")
      others = split("[1.0, 2.0]|[[1, 2], [3, 4]]|\"a\"", other, "|")
    }
    {
      for (b = 1; b <= count; b++)
        for (k = 1; k <= $2; k++)
          for (o = 1; o <= ($2 > 1 ? others : 1); o++) {
            list = ""
            for (i = 1; i <= $2; i++)
              list = list (i > 1 ? ", " : "") (i == k ? values[b] : other[o])
            call($1, list, $3)
          }
    }' > calls

# In parts: the auditor of `make check` looks at all of a program at each step.
split -l 400 calls part.
for part in part.*; do
  { cat head "$part"; echo 'print("{calls} calls")'; } > refused.tly
  "$tally" refused.tly > out 2> errors
  status=$?
  grep '^FAILED' out
  if [ "$status" != 0 ]; then
    tail -n 3 errors
    echo "FAILED: tests/refused.sh: a run ended with status $status"
  fi
  sed -n 's/ calls$/ calls/p' out
done | awk '
  / calls$/ { passed += $1; next }
  { print }
  /^FAILED/ { failed++ }
  END {
    print passed - failed " passed, " failed + 0 " failed"
    exit failed > 0
  }'
