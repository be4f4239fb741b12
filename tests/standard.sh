#!/bin/sh
# Every name of the array API standard (tests/standard.txt), and of what everyone
# uses beside it (tests/beside.txt), answers, with the arguments that stand
# there: as many by position, and all those by name.
#
#   tests/standard.sh build/release/tally
set -u

tally=${1:?usage: tests/standard.sh TALLY}
here=$(dirname "$0")

{ "$here/signatures.sh" "$tally"; echo; cat "$here/standard.txt" "$here/beside.txt"; } | awk '
  # "f(a, b = 1, ...c, d: none)": positions, then names.
  !listed && /\(/ { signatures[substr($0, 1, index($0, "(") - 1)] = $0 }
  /^$/ { listed = 1 }
  listed && /^[^#]/ {
    name = $1
    wanted = $0
    signature = signatures[name]
    split("", known)
    count = 0
    rest = substr(signature, length(name) + 2)
    sub(/\)$/, "", rest)
    n = split(rest, parts, ", ")
    for (i = 1; i <= n; i++) {
      word = parts[i]
      by_name = word ~ /^[a-z_0-9]+:/
      sub(/^\.\.\./, "", word)
      sub(/( =|:).*/, "", word)
      known[word] = 1
      if (!by_name) places[++count] = word
    }
    problem = index(signature, name "(") == 1 ? "" : "is not there"
    n = split(wanted, parts, " ")
    slash = 0
    for (i = 2; i <= n; i++) if (parts[i] == "/") slash = i
    named = 0
    for (i = 2; i <= n && problem == ""; i++) {
      if (parts[i] == "*") named = 1
      else if (parts[i] == "/" || i < slash) continue
      else if (!(parts[i] in known)) problem = "has no argument " parts[i]
    }
    positions = 0
    for (i = 2; i <= n && parts[i] != "*"; i++) positions += parts[i] != "/"
    if (problem == "" && count < positions)
      problem = "takes fewer arguments by position"
    if (problem == "") passed++
    else { failed++; print "FAILED: " name " " problem ": " signature }
  }
  END { print passed + 0 " passed, " failed + 0 " failed" }'
