#!/bin/sh
# tally bind: each mistake in declarations is told with its line and column; a
# module of its own has every word of the format, and those of real libraries
# run where these are installed (Debian: libsqlite3-dev libsamplerate0-dev
# libjpeg62-turbo-dev); what does not load is an error of the import. Python, too,
# is a library, whose locks a fork leaves behind.
#
#   tests/bind.sh build/release/tally
#
# The last line is the sum, and the exit status 1 if anything failed.
set -u

tally=$(cd "$(dirname "${1:?usage: tests/bind.sh TALLY}")" && pwd)/tally
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT
passed=0
failed=0
cc=${CC:-cc}
TALLY_PATH=$there
export TALLY_PATH

pass() { passed=$((passed + 1)); }
fail() {
  echo "FAILED: $*"
  failed=$((failed + 1))
}

# tested PATH...: adds what tally test says of these.
tested() {
  "$tally" test "$@" >"$there/out" 2>&1
  line=$(tail -n 1 "$there/out")
  case $line in
    *[0-9]\ passed,\ *[0-9]\ failed*)
      passed=$((passed + ${line%% passed*}))
      bad=${line##*passed, }
      bad=${bad%% failed*}
      failed=$((failed + bad))
      sed '$d' "$there/out"
      case $line in *skipped*) fail "$*: skipped" ;; esac ;;
    *)
      cat "$there/out"
      fail "tally test $*" ;;
  esac
}

# fails TEXT COMMAND...: it fails, and says so.
fails() {
  text=$1
  shift
  if "$@" >"$there/out" 2>&1; then fail "succeeds: $*"
  elif grep -qF -- "$text" "$there/out"; then pass
  else
    cat "$there/out"
    fail "does not say '$text': $*"
  fi
}

# --- Mistakes
awk -v there="$there" '
  /^=== / { close(file); file = there "/" ++n ".bind"; printf "" > file
            print substr($0, 5) > (there "/" n ".said"); next }
  file != "" { print > file }' tests/bind/mistakes.txt
for said in "$there"/*.said; do
  fails "$(cat "$said")" "$tally" bind "${said%.said}.bind"
done
fails 'cannot read' "$tally" bind "$there/none.bind"
fails 'usage:' "$tally" bind
printf 'module x\0y\n' >"$there/zero.bind"
fails 'a byte of 0' "$tally" bind "$there/zero.bind"

# --- Texts of other editors
# Lines that end with CR LF, and letters of several code points: the module is
# the same.
mkdir "$there/crlf"
printf '# e\314\201\n' | cat - tests/bind/words.bind >"$there/plain.bind"
awk '{ printf "%s\r\n", $0 }' "$there/plain.bind" >"$there/crlf.bind"
"$tally" bind "$there/plain.bind" >"$there/plain.out"
"$tally" bind -o "$there/crlf" "$there/crlf.bind" >"$there/crlf.out"
tr -d '\r' <"$there/crlf/words.c" | sed 's/of crlf\.bind/of plain.bind/' >"$there/crlf.c"
if cmp "$there/crlf.c" "$there/words.c" &&
  [ "$(head -n 1 "$there/crlf.out")" = "$(head -n 1 "$there/plain.out")" ]; then pass
else fail 'lines that end with CR LF'
fi
latin=$there/$(printf 'r\351.bind')
if echo 'module latin' >"$latin" 2>/dev/null; then
  if "$tally" bind "$latin" >"$there/out"; then pass
  else fail 'a path that is no UTF-8'
  fi
  echo 'module' >"$latin"
  fails "the file:1:7: the module's name is expected" "$tally" bind "$latin"
fi
printf 'module x\n# \351\n' >"$there/latin.bind"
fails 'latin.bind: text from the host is not UTF-8' "$tally" bind "$there/latin.bind"

# --- Modules
# bound FILE HEADER: builds it, if there is the header, and runs its tests.
bound() {
  if ! printf '#include <stdio.h>\n#include <%s>\n' "$2" |
    $cc -fsyntax-only -x c - 2>/dev/null; then
    echo "skipped: $1 needs $2"
    return 1
  fi
  if ! "$tally" bind --build -o "$there" "$1" >"$there/out" 2>&1; then
    cat "$there/out"
    fail "tally bind --build $1"
    return 1
  fi
  name=$(basename "$1" .bind)
  tested "$there/${name}_test.tly"
}
bound tests/bind/words.bind stdio.h && tested tests/bind/every_word.tly
cat >"$there/lost.tly" <<'END'
import words
a, b = (words.pass(), words.pass())
words.lose(a)
print(a, b)
print(words.living())
END
if [ "$("$tally" "$there/lost.tly" 2>&1 | sort)" = '0
<words.pass> <words.pass>
words.pass: it was lost' ]; then pass
else fail 'an end that fails'
fi
bound examples/bind/sqlite.bind sqlite3.h && tested examples/bind/planets.tly
bound examples/bind/samplerate.bind samplerate.h && tested examples/bind/rates.tly
bound examples/bind/jpeg.bind jpeglib.h && tested examples/bind/photo.tly

# --- Devices
# The bytes of a handle count on the host's device of its name, under the limit
# there; where there is none of the name, as the process's.
cat >"$there/devices.c" <<'END'
#include <stdio.h>
#include <tally.h>
int main(void) {
  const tally_device gpu = {"gpu:0", 1000};
  tally_options options = tally_default_options();
  options.devices = &gpu;
  options.device_count = 1;
  tally_vm *vm;
  if (tally_open(&options, &vm) != TALLY_OK ||
      tally_eval(vm, "import memory\nimport words\n"
                 "a, b = (words.new(500), words.new(50))\n"
                 "print(memory.devices()[\"gpu:0\"].bytes > 500, memory.stats().ext_bytes > 50,\n"
                 "      (t.{device, count} for t in memory.foreign()))\n"
                 "print(try { words.new(600) } catch e { e.kind }, a.n, b.device)\n", NULL) != TALLY_OK)
    fprintf(stderr, "%s\n", tally_error(vm)->message);
  return tally_close(vm) != 0;
}
END
here=$(dirname "$tally")
if $cc ${CFLAGS-} -I. -o "$there/devices" "$there/devices.c" "$here/libtally.so" -Wl,-rpath,"$here" &&
  [ "$("$there/devices" 2>&1)" = 'true true ((device: none, count: 1), (device: "gpu:0", count: 1))
memory 500 cpu' ]; then pass
else fail "devices of a bound library: $("$there/devices" 2>&1)"
fi

# --- Headers that disagree
printf 'module wrong\ninclude <string.h>\nfunction f = size strlen(borrow double[n] x, use n)\n' >"$there/wrong.bind"
fails 'this failed' "$tally" bind --build "$there/wrong.bind"
printf 'module wrong\ninclude <string.h>\nfunction f = int no_such_function(int x)\n' >"$there/wrong.bind"
fails 'no_such_function' "$tally" bind --build "$there/wrong.bind"

# --- What does not load
says() { printf '%s\n' "$2" >"$there/$1.tly"; }
says use 'import words
print(words.answer())'
fails 'there is no module words' "$tally" --sandbox "$there/use.tly"
says broken 'import lacking'
echo 'int missing(void); int tally_open_lacking(void *vm) { return vm != 0 && missing(); }' \
  >"$there/lacking.c"
$cc -shared -fPIC -o "$there/lacking.so" "$there/lacking.c"
case ${CFLAGS-} in
  *sanitize*) ;;
  *) fails 'missing' "$tally" "$there/broken.tly" ;;
esac
echo 'int other;' >"$there/lacking.c"
$cc -shared -fPIC -o "$there/lacking.so" "$there/lacking.c"
fails 'it has no function tally_open_lacking' "$tally" "$there/broken.tly"
echo 'int tally_open_lacking(void *vm) { return vm == 0; }' >"$there/lacking.c"
$cc -shared -fPIC -o "$there/lacking.so" "$there/lacking.c"
fails 'adds no module' "$tally" "$there/broken.tly"
echo 'no library' >"$there/lacking.so"
fails 'lacking.so does not load' "$tally" "$there/broken.tly"
rm "$there/lacking.so"
echo 'module lacking' >"$there/lacking.bind"
fails 'which is not installed' "$tally" "$there/broken.tly"
if "$tally" bind "$there/lacking.bind" | grep -q '^lacking: 0 of 0 functions bound, 0 of them tested$'; then pass
else fail 'a module without functions'
fi
printf 'module lacking\nlibrary no_such_library\n' >"$there/lacking.bind"
fails 'this failed' "$tally" bind --build "$there/lacking.bind"
cp "$tally" "$there/tally"
echo 'import torch' >"$there/torchless.tly"
fails '`make torch` builds it' "$there/tally" "$there/torchless.tly"

# --- Python in the child of a fork: of Python's own, and of C's
cat >"$there/fork.tly" <<'END'
import os
import python
thing = python.eval("[1, 2]")
fn refused() = "forked" in (try { python.eval("1") } catch e { e.message }) and (try { thing[0] } catch e { e.kind }) == "host"
fn child(fork) {
  pid = fork()
  if pid == 0 { os.exit(if refused() { 7 } else { 1 }) }
  python.import("os").waitpid(pid, 0)[1] // 256
}
print(child(python.import("os").fork), child(python.import("ctypes").CDLL(none).fork), thing)
END
# What the child leaves of Python is no leak of Tally's.
said=$(ASAN_OPTIONS=detect_leaks=0 timeout 60 "$tally" "$there/fork.tly" 2>&1)
case $said in
  '7 7 [1, 2]') pass ;;
  *'is not installed'*) echo 'skipped: a fork needs Python' ;;
  *) fail "Python in the child of a fork: $said" ;;
esac

# --- Documentation
if [ "$("$tally" doc words.upper | head -n 1)" = 'words.upper(s)' ]; then pass
else fail 'tally doc words.upper'
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
