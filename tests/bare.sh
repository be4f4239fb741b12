#!/bin/sh
# The golden tests where none of the libraries is there that Tally loads when a
# script needs them (FFTW, BLAS, LAPACK, librsvg, PCRE2, Zstandard), nor
# Python or a compiler. Only zlib is, which every system brings:
#
#   tests/bare.sh build/release
#
# They run below a root of their own, with the C library, utf8proc, zlib, a shell and
# what the tests call. That takes root; others see one line and no failure.
# The last line is the sum, and the exit status 1 if anything failed.
set -u

build=${1:?usage: tests/bare.sh BUILD}
if [ "$(uname -s)" != Linux ] || [ "$(id -u)" != 0 ] || ! chroot / true; then
  echo 'skipped: tests/bare.sh needs root and Linux, for chroot'
  echo '0 passed, 0 failed'
  exit 0
fi
bare=$(mktemp -d)
proc=false
# The system's own /proc must be gone before anything is removed.
leave() {
  if $proc; then umount "$bare/proc" || exit 1; fi
  rm -rf "$bare"
}
trap leave EXIT
trap 'exit 1' HUP INT TERM

# put FILE...: those files, at their place, and the libraries that they need.
put() {
  for file; do
    mkdir -p "$bare$(dirname "$file")"
    cp -L "$file" "$bare$file"
    ldd "$file" 2>/dev/null | grep -o '/[^ ]*' | while read -r needed; do
      [ -e "$bare$needed" ] || {
        mkdir -p "$bare$(dirname "$needed")"
        cp -L "$needed" "$bare$needed"
      }
    done
  done
}
for program in sh cat env sleep true false; do
  put "$(command -v "$program" | grep / || echo "/bin/$program")"
done

for library in $(PATH=$PATH:/sbin ldconfig -p |
  sed -n 's|.*libz\.so\.1 .*=> ||p' | head -n 1); do
  put "$library"
done

# A device that cannot be made (no right to) is a file.
mkdir -p "$bare/dev" "$bare/proc" "$bare/tmp" "$bare/tally"
mknod -m 666 "$bare/dev/null" c 1 3 2>/dev/null || : >"$bare/dev/null"
mknod -m 666 "$bare/dev/zero" c 1 5 2>/dev/null
mknod -m 666 "$bare/dev/full" c 1 7 2>/dev/null
mknod -m 444 "$bare/dev/urandom" c 1 9 2>/dev/null
ln -s /proc/self/fd "$bare/dev/fd"
ln -s /proc/self/fd/0 "$bare/dev/stdin"
ln -s /proc/self/fd/1 "$bare/dev/stdout"
ln -s /proc/self/fd/2 "$bare/dev/stderr"
chmod 1777 "$bare/tmp"
if mount -t proc proc "$bare/proc" 2>/dev/null ||
  mount --bind /proc "$bare/proc" 2>/dev/null; then proc=true
fi

put "$(cd "$build" && pwd)/tally"
mv "$bare$(cd "$build" && pwd)/tally" "$bare/tally/tally"
strip "$bare/tally/tally" 2>/dev/null
# What needs libtorch is for `make torch-test`.
tar cf - --exclude=examples/torch tests/lang tests/lib tests/regress \
  tests/reference/data examples stdlib docs README.md |
  tar xf - -C "$bare/tally"

# The libraries must be missing for this to say anything.
if find "$bare/lib" "$bare/usr" "$bare/bin" "$bare/lib64" -name 'libzstd*' -o -name 'libpcre2*' -o -name 'libblas*' \
  -o -name 'libopenblas*' -o -name 'liblapack*' -o -name 'libfftw*' -o -name 'librsvg*' \
  -o -name 'python*' -o -name cc 2>/dev/null | grep .; then
  echo 'FAILED: something optional is in the bare root'
  echo '0 passed, 1 failed'
  exit 1
fi
passed=0
failed=0
check() {
  what=$1
  shift
  if "$@"; then passed=$((passed + 1))
  else
    echo "FAILED: $what"
    failed=$((failed + 1))
  fi
}
inside() { chroot "$bare" env -i PATH=/bin:/usr/bin TMPDIR=/tmp "$@"; }

# Parts that need such a library are skipped, and say so; all others pass.
inside sh -c 'cd /tally && ./tally test --library tests/lang tests/lib \
  tests/regress examples docs README.md' >"$bare/out" 2>&1
sed '$d' "$bare/out"
last=$(tail -n 1 "$bare/out")
case $last in
  *[0-9]\ passed,\ *[0-9]\ failed)
    passed=${last%% passed*}
    failed=${last##*passed, }
    failed=${failed%% failed} ;;
  *)
    echo "$last"
    failed=1 ;;
esac
check 'a part that needs a library is skipped' \
  grep -q '^skipped: tests/lib/regex.tly:.* needs PCRE2 ' "$bare/out"

# No source includes a header of theirs, so none is needed to build; but the
# package for Python, which pip builds where Python's headers are.
needs_no_header() {
  # shellcheck disable=SC2046
  ${CC:-cc} -std=c11 -D_POSIX_C_SOURCE=200809L -I. -DTL_ISA=base -M \
    $(find vm compiler stdlib repl -name '*.c' ! -path 'stdlib/python/*') >"$bare/headers" &&
    ! grep -E '/(fftw3|cblas|lapacke?|zlib|zstd|pcre2|Python)\.h' \
      "$bare/headers"
}
check 'no header of an optional library is included' needs_no_header

# Nor does the build run Python.
runs_no_python() { ! grep -lE '^#!.*python' tools/* tools/ship/* 2>/dev/null; }
check 'no tool of the build is Python' runs_no_python

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
