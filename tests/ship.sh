#!/bin/sh
# What `make install` leaves is what a host needs:
#
#   tests/ship.sh build/release
#
# The header compiles alone, the library shows tally_ names only, and a host
# builds with what pkg-config says, shared and static.
# The last line is the sum, and the exit status 1 if anything failed.
set -u

build=${1:?usage: tests/ship.sh BUILD}
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT
passed=0
failed=0
cc=${CC:-cc}
cxx=${CXX:-c++}

check() {
  what=$1
  shift
  if "$@" >"$there/out" 2>&1; then passed=$((passed + 1))
  else
    cat "$there/out"
    echo "FAILED: $what"
    failed=$((failed + 1))
  fi
}

# --- The header alone
strict='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only'
echo '#include "tally.h"' >"$there/alone.c"
cp "$there/alone.c" "$there/alone.cpp"
check 'tally.h as C11' $cc -std=c11 $strict -I. "$there/alone.c"
if command -v "$cxx" >/dev/null 2>&1; then
  check 'tally.h as C++17' "$cxx" -std=c++17 $strict -I. "$there/alone.cpp"
fi

# --- Each function is used by a test or an example
unused() {
  sed -n 's/^.*TALLY_API.*[ *]\(tally_[a-z0-9_]*\)(.*/\1/p' tally.h |
    while read -r name; do
      grep -qw "$name" tests/unit/*.[ch] examples/*.c || echo "unused: $name"
    done
}
test_unused() { [ -z "$(unused)" ] || { unused; return 1; }; }
check 'each function of tally.h is used' test_unused

# --- And each that can fail stands in the list of those whose refusals end a
# test that runs again: with that, each test is in both forms
unrefused() {
  sed -n 's/^.*TALLY_API tally_status *\(tally_[a-z0-9_]*\)(.*/\1/p' tally.h |
    while read -r name; do
      grep -q "^#define $name(" tests/unit/refused.h || echo "always: $name"
    done
  grep -n '^      cmocka_unit_test[(_]' tests/unit/test_api*.c |
    grep -v test_every_allocation_fails
}
test_unrefused() { [ -z "$(unrefused)" ] || { unrefused; return 1; }; }
check 'each test runs out of memory' test_unrefused

# --- Switches of a build: libraries that are linked, or nothing loaded
needs() {  # SOURCE NAME FLAG: whether its object does
  $cc -std=c11 -D_POSIX_C_SOURCE=200809L -I. "$3" -c "$1" \
    -o "$there/switched.o" && nm -u "$there/switched.o" | grep -qw "$2"
}
loads_nothing() {
  ! needs stdlib/shared_library.c dlopen -DTALLY_NO_DLOPEN &&
    ! needs vm/engine/blas.c dlopen -DTALLY_NO_DLOPEN
}
check 'zlib linked' needs stdlib/compress.c inflate -DTALLY_WITH_ZLIB
check 'Zstandard linked' needs stdlib/compress.c ZSTD_compressStream2 \
  -DTALLY_WITH_ZSTD
check 'PCRE2 linked' needs stdlib/module_regex.c pcre2_match_8 \
  -DTALLY_WITH_PCRE2
check 'nothing loaded' loads_nothing

# --- Sanitizers need more stack than a program
small_stack() {
  (ulimit -s 512 && "$build/tally" test tests/lang tests/regress)
}
case ${CFLAGS-} in
  *sanitize*) ;;
  *) check '512 KiB of stack are enough' small_stack ;;
esac

# --- What is installed
# A loader that knows the folder is told once, as root; the system's is not.
mkdir "$there/bin"
cat >"$there/bin/ldconfig" <<END
#!/bin/sh
if [ "\${1-}" = -v ]; then echo '$there/usr/lib: (from a test)'
else echo told >>'$there/told'
fi
END
chmod +x "$there/bin/ldconfig"
check 'make install' env PATH="$there/bin:$PATH" \
  make BUILD="$build" PREFIX="$there/usr" install
is_told() {
  if [ "$(id -u)" = 0 ]; then [ "$(cat "$there/told")" = told ]
  else [ ! -e "$there/told" ]
  fi
}
told_nothing_below() {
  rm -f "$there/told"
  PATH=$there/bin:$PATH make BUILD="$build" PREFIX="$there/usr" \
    DESTDIR="$there/packed" install && [ ! -e "$there/told" ] &&
    "$there/packed$there/usr/bin/tally" --version
}
if [ "$(uname -s)" = Linux ]; then
  check 'the loader is told of the library' is_told
  check 'below DESTDIR it is not, and the command runs' told_nothing_below
fi
command_runs() {
  echo 'print(sum([1, 2, 3]))' >"$there/sum.tly"
  [ "$("$there/usr/bin/tally" "$there/sum.tly")" = 6 ]
}
check 'the installed command runs' command_runs
has_no_compiler() { ! make -n CC=no-such-compiler help 2>&1 | grep no-such; }
check 'make is silent where there is no compiler' has_no_compiler

only_ours() {
  ! nm -D --defined-only "$there/usr/lib/libtally.so" |
    awk '{print $3}' | grep -v '^tally_\|^TALLY_'
}
case ${CFLAGS-} in
  *sanitize*) ;;
  *)
    if [ "$(uname -s)" = Linux ]; then
      check 'only tally_ names are exported' only_ours
      check 'names have versions' sh -c \
        "nm -D --with-symbol-versions '$there/usr/lib/libtally.so' |
         grep -q 'tally_open@@TALLY_0.1'"
    fi ;;
esac

# Small: below 1,812 kB, with the processor's kernels beside it. Of that machine
# code of its own takes 105 kB, bounds of peaks 19, guarded frames 15, and what may
# not overflow 10.
is_small() {
  [ "$(wc -c <"$there/usr/lib/libtally.so")" -lt 1812000 ] &&
    [ "$(wc -c <"$there/usr/bin/tally")" -lt 500000 ] &&
    [ "$(wc -c <"$there/usr/lib/libtally.a")" -lt 16000000 ] &&
    [ "$(du -sk "$there/usr" | cut -f 1)" -lt 24000 ]
}
starts() {  # a program that the documented line makes, as its only search
  $cc ${CFLAGS-} examples/host.c $(pkg-config --cflags --libs tally) \
    -o "$there/plain" &&
    LD_LIBRARY_PATH=$there/usr/lib "$there/plain" | diff examples/host.out -
}
finds_kernels() {
  LD_DEBUG=files "$there/shared" 2>&1 | grep -q 'tally-[0-9.]*/avx.*\.so'
}
does_without() {
  mv "$kernels" "$there/away" && says "$there/shared" &&
    mv "$there/away" "$kernels"
}

PKG_CONFIG_PATH=$there/usr/lib/pkgconfig:${PKG_CONFIG_PATH-}
export PKG_CONFIG_PATH
if command -v pkg-config >/dev/null 2>&1; then
  build_shared() {
    $cc ${CFLAGS-} -o "$there/shared" examples/host.c \
      $(pkg-config --cflags --libs tally) -Wl,-rpath,"$there/usr/lib"
  }
  build_static() {
    mkdir -p "$there/static" &&
      cp "$there/usr/lib/libtally.a" "$there/static" &&
      $cc ${CFLAGS-} -o "$there/fixed" examples/host.c \
        $(pkg-config --cflags tally) -L"$there/static" \
        $(pkg-config --static --libs tally | sed "s|-L$there/usr/lib||")
  }
  says() { "$1" | diff examples/host.out -; }
  check 'a host with the shared library' build_shared
  check 'it runs' says "$there/shared"
  check 'what the documented line makes starts' starts
  kernels=$(echo "$there"/usr/lib/tally-[0-9]*)
  if [ -e "$kernels/avx2.so" ]; then
    [ "${CFLAGS-}" ] || check 'the library is small' is_small
    grep -q avx2 /proc/cpuinfo && check 'it finds its kernels' finds_kernels
    check 'it runs without them' does_without
  fi
  check 'a host with the static library' build_static
  check 'it runs' says "$there/fixed"
fi

if command -v cmake >/dev/null 2>&1; then
  mkdir "$there/project"
  cat >"$there/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.13)
project(host C)
find_package(tally 0.1 REQUIRED)
add_executable(host $(pwd)/examples/host.c)
target_link_libraries(host tally::static)
END
  check 'CMake finds it' sh -c "cmake -S '$there/project' \
    -B '$there/project/build' -Dtally_DIR='$there/usr/lib/cmake/tally' &&
    cmake --build '$there/project/build'"
fi

check 'make uninstall' make BUILD="$build" PREFIX="$there/usr" uninstall
left() { [ -z "$(find "$there/usr" -type f -o -type l)" ]; }
check 'nothing is left' left

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
