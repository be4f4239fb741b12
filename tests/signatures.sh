#!/bin/sh
# Each documented function with its parameters, a line each, as the first line of
# `tally doc NAME` has it. One run tells all: hundreds take minutes under the
# sanitizers.
#
#   tests/signatures.sh build/release/tally
"${1:?usage: tests/signatures.sh TALLY}" doc --man | awk '
  before == ".TP" { gsub(/\\f[BP]|\\&/, ""); gsub(/\\-/, "-"); print }
  { before = $0 }'
