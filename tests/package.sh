#!/bin/sh
# The Python package: built as setup.py does it, without the network, and used.
#
#   tests/package.sh build/release/tally
#
# The last line is the sum, and the exit status 1 if anything failed.
set -u

build=$(cd "$(dirname "${1:?usage: tests/package.sh TALLY}")" && pwd)
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT
passed=0
failed=0
cc=${CC:-cc}

finish() {
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
  exit
}
case ${CFLAGS-} in
  *sanitize*)
    echo 'skipped: Python loads no sanitizer'
    finish ;;
esac

# A Python whose headers are here; $python is set.
find_python() {
  for python in python3 /usr/bin/python3; do
    include=$($python -c 'import sysconfig
print(sysconfig.get_paths()["include"])' 2>/dev/null) &&
      [ -e "$include/Python.h" ] && return
  done
  echo 'skipped: the package needs Python.h (Debian: python3-dev)'
  finish
}

# compared NAME: its output is NAME.out.
compared() {
  if PYTHONPATH=$there TALLY_PATH=$build/$(basename "$build"/tally-[0-9]*) \
    "$python" "tests/python/$1.py" >"$there/out" 2>&1 &&
    diff "tests/python/$1.out" "$there/out"; then
    passed=$((passed + 1))
  else
    cat "$there/out"
    echo "FAILED: tests/python/$1.py"
    failed=$((failed + 1))
  fi
}

# compared_with MODULE NAME: by a Python that has the module, or not at all.
compared_with() {
  for python in python3 /usr/bin/python3; do
    if "$python" -c "import $1" 2>/dev/null; then
      compared "$2"
      return
    fi
  done
  echo "skipped: tests/python/$2.py needs Python with $1"
}

find_python
cp -r stdlib/python/tally "$there"
if ! $cc -std=c11 -O1 -Wall -Wextra -Werror -shared -fPIC -fvisibility=hidden \
  -I. -I"$include" -o "$there/tally/_tally.abi3.so" stdlib/python/_tally.c \
  stdlib/native/python_link.c stdlib/native/python_held.c \
  stdlib/native/python_values.c stdlib/native/python_object.c \
  "$build/libtally.a" \
  $(pkg-config --libs libutf8proc 2>/dev/null || echo -lutf8proc) \
  -lm -ldl -pthread; then
  echo 'FAILED: the extension does not compile'
  failed=1
  finish
fi
compared package
compared_with numpy package_numpy
compared_with IPython package_ipython
finish
