#!/bin/sh
# The command: its options, exit statuses, and what it does with bad input.
#
#   tests/command.sh build/release/tally
#
# The last line is the sum, and the exit status 1 if anything failed.
set -u

tally=${1:?usage: tests/command.sh TALLY}
dir=$(mktemp -d)
case $tally in /*) here= ;; *) here=$PWD ;; esac
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0
limit=
if command -v timeout >/dev/null 2>&1; then limit='timeout 120'; fi

# expect STATUS PATTERN NAME: the run that run() has just made ended with this
# status (or one of these), and what it wrote matches (empty: anything).
expect() {
  case " $1 " in *" $status "*)
    if [ -z "$2" ] || grep -qE -- "$2" "$dir/out"; then
      passed=$((passed + 1))
      return
    fi ;;
  esac
  failed=$((failed + 1))
  echo "FAILED: $3: status $status instead of $1, or no match for: $2"
  head -c 1000 "$dir/out"
}

# run ARGUMENT...: the command, with standard input from $dir/in.
run() {
  $limit "$tally" "$@" <"$dir/in" >"$dir/out" 2>&1
  status=$?
}

# text TEXT: becomes standard input and the script $dir/script.tly.
text() {
  printf "$1" >"$dir/in"
  cp "$dir/in" "$dir/script.tly"
}

script() {
  run "$dir/script.tly"
}

# absent PATTERN NAME: the last run wrote nothing like it.
absent() {
  if grep -qE -- "$1" "$dir/out"; then
    failed=$((failed + 1))
    echo "FAILED: $2: found $1"
  else
    passed=$((passed + 1))
  fi
}

: >"$dir/in"

# --- Options ----------------------------------------------------------------

run --version;              expect 0 '^tally [0-9]+\.[0-9]+' '--version'
expect 0 '^machine code: (available|not available here)$' '--version says what runs'
run --version;              expect 0 '^BLAS: .' '--version: which BLAS'
run --no-blas --version
expect 0 "^BLAS: none, Tally's own code$" '--version: no BLAS'
run --no-blas -e 'import linalg; linalg.blas == none'; expect 0 '^true$' 'linalg.blas'
run --help;                 expect 0 'tally FILE' '--help'
run --nosuch;               expect 2 'nosuch' 'an unknown option'
for word in dis doc fmt explain check debug; do
  run $word --nosuch;       expect 2 "$word has no option --nosuch" "$word: an unknown option"
  run $word --help;         expect 0 'tally FILE' "$word --help"
done
run dis --native --nosuch;  expect 2 'dis has no option --nosuch' 'dis --native: a second option'
run dis --native;           expect 2 'usage: tally dis' 'dis --native without a FILE'
run --native=usual -e 1;    expect 2 '--native wants always' '--native of another word'
text 's = 0\nfor i in 0..5000 { s += i }\nprint(s)\n'
run --native=always "$dir/script.tly"; expect 0 '^12497500$' '--native=always'
run --no-native "$dir/script.tly"; expect 0 '^12497500$' '--no-native'
run --no-native dis --native "$dir/script.tly"
absent 'native' 'dis --native: nothing without machine code'
run explain --static "$dir/script.tly"
absent '^native' 'explain --static: no run, no machine code'
if "$tally" --version | grep -q 'machine code: available'; then
  run dis --native "$dir/script.tly"; expect 0 '^ +s = add s, i$' 'dis --native: an operation'
  run explain "$dir/script.tly"
  expect 0 '^  line 2: entered once, left last at line 3 .callb.$' 'explain: a loop as machine code'
  run --sandbox explain "$dir/script.tly"
  absent '^native' '--sandbox: no machine code'
  text 'fn f(n, x) {\n  s = 0\n  for i in 0..n { s += len(x) }\n  s\n}
for k in 0..90_000 { t = f(2, "{k}") }\nprint(f(300_000, "{t}"))\n'
  run explain "$dir/script.tly"
  absent '^  line 3 in f.*given up' 'explain: a loop that was given up runs long'
  text 'fn f() {\n  l = ()\n  for i in 0..5000 { l = append(l, i) }\n  l\n}
fn g(l) {\n  s = 0\n  while len(l) > 0 { x, l = pop(l); s += x }\n  s\n}
print(g(f()))\n'
  run dis --native "$dir/script.tly"; expect 0 '^ +append ' 'dis --native: append'
  expect 0 ' = pop ' 'dis --native: pop'
  text 'fn least(x) {\n  s = 0\n  for _ in 0..900 {\n    best, at = 1e9, 0
    for i in 0..len(x) { if x[i] < best { best, at = x[i], i } }\n    s += at\n  }\n  s\n}
print(least([3.0, 1.0, 2.0]))\n'
  run dis --native "$dir/script.tly"; expect 0 'fif t[0-9]+ not < best' 'dis --native: a choice'
  absent '^   [0-9]+d$' 'dis --native: no version for a literal that is only compared'
  text 'fn total(x) {\n  s = 0.5\n  for i in 0..len(x) { s += x[i] * 0.1 }\n  s\n}
fn count(l) {\n  for i in 0..9000 { l[i & 1].a += 1 }\n  l\n}
print(total(ones(5000)), count(((a: 1), (a: 2))))\n'
  run dis --native "$dir/script.tly"
  expect 0 '^native total  entered at [0-9]+, line 3: [0-9]+ operations' 'dis --native: a unit'
  expect 0 ' = fload x.i.    exit [0-9]+$' 'dis --native: an item, and where it leaves'
  expect 0 ' = fmul t[0-9]+, 0.10000000000000001$' 'dis --native: a constant'
  expect 0 ' = step t[0-9]+, 1 -> [0-9]+' 'dis --native: a jump, by a constant step'
  expect 0 ' = peek l.t[0-9]+..a    exit [0-9]+$' 'dis --native: a place'
  text '#:inplace\nk = 1\nfn total(f, n) {\n  s = 0\n  for i in 0..n { s += f(i) }\n  s\n}
print(total(fn(x) = x * 2, 5000))\n'
  run dis --native "$dir/script.tly"
  expect 0 ' = call f.t[0-9]+. ' 'dis --native: a contract costs its own function alone'
  text 'fn f(s, n) {\n  for k in 0..n { s = s * uint32(1664525) + uint32(k) + int64(uint8(k & 7)) }\n  s\n}
print(f(uint32(1), 5000))\n'
  run dis --native "$dir/script.tly"; expect 0 ' = fit.uint32 t' 'dis --native: a conversion'
  absent 'do callb' 'dis --native: no conversion is left to C'
  text 'fn f(x, n) {\n  for k in 0..n { x = x / 8 + float64(uint8(7)) + float64(k) }\n  x\n}
print(f(0.5, 5000))\n'
  run dis --native "$dir/script.tly"; expect 0 ' = fmul x, 0.125$' 'dis --native: a quotient'
  absent 'rconst' 'dis --native: what nobody reads is left out'
  text 'fn f(x, s) {\n  for k in 0..99 {\n    x = x * 2 + [1.0]
    for i in 0..700 { s = s * 0.5 + x[i] }\n    for j in 0..700 { s = s * 0.5 + x[j] }\n  }\n  s\n}
print(f(ones(700), 0.0))\n'
  run explain "$dir/script.tly"; expect 0 '^  line 4 in f: entered' 'explain: the first loop'
  absent '^  line 5 in f' 'explain: what was left where it began is entered there again'
  text 'fn f(s, n) = if s[n] < "b" { g(s, n) } else { (n, 1) }
fn g(s, n) {\n  while s[n] < "b" { n += 1 }\n  n, 2\n}
fn h(l) {\n  for k in 0..3000 { a, b = f("aab", l[k & 1]) }\n  a + b\n}\nprint(h((0, 1)))\n'
  run dis --native "$dir/script.tly"; expect 0 ' rif .* >= ' 'dis --native: order of texts'
  expect 0 '^ +rowcall g' 'dis --native: several results go on'
  expect 0 '^ +rowcall f' 'dis --native: results behind an argument that ends'
  text 'fn f(m) {\n  s = 0.0\n  for t in 0..300 {\n    y = zeros((3, 3), dtype: int8)
    for i in 0..9 { y[i // 4, i // 3] = i; s += m[i, 1] + y[2, 2] }\n  }\n  s\n}
print(f(ones((9, 9)).T))\n'
  run dis --native "$dir/script.tly"
  expect 0 ' setitem.int8 [a-z0-9]+, y, t[0-9]+, t[0-9]+ ' 'dis --native: a store into an array of the loop'
  expect 0 ' = fitem m, i, t[0-9]+ ' 'dis --native: an item of a transposed array'
  absent ' do [gs]etel' 'dis --native: no item by C'
  text 'fn f(a, n) {\n  for i in 0..n { a = max((a, i * 7 & 15, 2)) - min([a, 1.5]) }\n  a\n}\nprint(f(0.5, 5000))\n'
  run dis --native "$dir/script.tly"
  expect 0 ' = fmax ' 'dis --native: the largest of a few'
  absent ' (list|stack|do callb)' 'dis: no list of a few numbers'
  text 'fn g(x, n) {\n  x[0] += n\n  x, n + 1\n}\nfn f(x, n) {\n  a = 0\n  for i in 0..n { x, a = g(x, a) }\n  x, a\n}
for i in 0..90 { x, n = f([1, 2], 90) }\nprint(x)\n'
  run dis --native "$dir/script.tly"; expect 0 '^ +rowcall g' 'dis --native: an array among several results'
  text 'fn f(n) {\n  s = 0\n  for t in 0..n { for a, b in ((0, 1), (1, 2)) { s += a - b } }\n  s\n}\nprint(f(3000))\n'
  run dis --native "$dir/script.tly"; absent ' do (list|unpack|next)' 'dis --native: a list of pairs'
  text 'fn f(t) = t in ("+", ("a", -1), 2) or t not in ("x", "y")\n'
  run dis "$dir/script.tly"; absent ' list ' 'dis: no list where a written one is looked through'
fi
run explain --json --nosuch; expect 2 'explain has no option --nosuch' 'explain: a second option'
run -e;                     expect 2 '' '-e without code'
run -e '1 + 1';             expect 0 '^2$' '-e prints a value'
run -e 'x = 5';             expect 0 '' '-e of an assignment'
absent . '-e of an assignment prints nothing'
run -e 'print(1); 2';       expect 0 '^2$' '-e prints the last value'
run -e '1 +';               expect 1 'syntax error' '-e of broken code'
run -e 'foo';               expect 1 'name error.*foo' '-e of an unknown name'
run -e 'show(0..2000, all: true); show([i for i in 0..99], all: true)'
expect 0 ' 97  98$' 'show of all'
absent '…' 'show of all elides nothing'
run -e '[1, 2, 3] * 2';     expect 0 '2.*4.*6' '-e of an array'
run --stats -e '1';         expect 0 'peak_bytes|peak' '--stats'
expect 0 '^heap-counted share = [0-9.]+ %$' '--stats ends with the share'
run --memory-plot - -e 'sum(ones(100000) + 1.0)'
expect 0 '^before .* peak .* after' '--memory-plot - is text'
expect 0 '^whole process: before .* peak .* after' 'with what the process has'
run --memory-plot "$dir/plot.svg" -e '1'
expect 0 '^1$' '--memory-plot FILE.svg'
cp "$dir/plot.svg" "$dir/out"
expect 0 '^</svg>$' '--memory-plot writes the picture'
printf 'x = ones(100000)\nfn f() = sum(x)\nprint(f())\n' > "$dir/data.tly"
run --memory-plot "$dir/plot.json" "$dir/data.tly"
cp "$dir/plot.json" "$dir/out"
expect 0 '"bytes": *800[0-9]*.*"line": *1.*"source": *"x = ones.100000.".*"owner": *"x of module main"' \
  '--memory-plot FILE.json has blocks, lines and owners'
run --memory-plot "$dir/no/plot.svg" -e '1'
expect 1 'cannot write .*plot.svg' '--memory-plot into no directory'
printf '1 + 1\n' > "$dir/kept.tly"
run --memory-plot "$dir/kept.tly"
expect 2 'FILE.svg, FILE.txt, FILE.json or -' '--memory-plot does not write over a script'
run "$dir/kept.tly";        expect 1 '' 'the script is as it was'
run --memory-plot;          expect 2 'memory-plot' '--memory-plot without a file'

# --profile: by lines and functions, with the bytes that they made.
text 'fn step(x) {\n  y = sort(x * 1.5)\n  y + 1\n}\nx = ones(300000)\nfor i in 0..30 {\n  x = step(x)\n}\nprint(sum(x) > 0)\n'
run --profile "$dir/script.tly"
expect 0 '^true$' '--profile runs the script'
expect 0 ' MB +script.tly:2 in step  y = sort\(x \* 1.5\)' '--profile has lines with their time and bytes'
expect 0 ' MB +step$' '--profile has functions'
expect 0 ' blocks of [0-9.]+ MB made' '--profile has the sum'
run --profile "$dir/p.svg" "$dir/script.tly"; cp "$dir/p.svg" "$dir/out"
expect 0 '^<g><title>script.tly:7  x = step\(x\)$' '--profile FILE.svg has a box for a caller'
expect 0 '>script.tly:2 in step  y = sort' '--profile FILE.svg has boxes with names'
expect 0 '^</svg>$' '--profile FILE.svg is whole'
run "--profile=$dir/p.json" --no-native "$dir/script.tly"
"$tally" -e "import json; import io; r = json.parse(io.read_text(\"$dir/p.json\")); c = [c for c in r.calls if c.function == \"step\" and c.line == 2][0]; c.bytes >= 30 * 2400000 and r.calls[c.parent].line == 7" >"$dir/out" 2>&1
expect 0 '^true$' '--profile FILE.json has bytes and callers'
run "--profile=$dir/no.tly"; expect 2 'FILE.svg, FILE.txt, FILE.json or -' '--profile of another ending'
run --profiles;             expect 2 'no option --profiles' 'a longer word than --profile'
text 'fn f(n) = if n == 0 { sum(ones(10)) } else { f(n - 1) }\nprint(f(500))\nassert(false)\n'
run --profile "$dir/script.tly"; expect 1 '^10.0$' '--profile of a failing, deep script'
expect 1 'own   total   share' '--profile is written after an error'
run doc sum;                expect 0 'The sum of all items' 'doc of a function'
run doc linalg;             expect 0 '^linalg\.solve ' 'doc of a module'
run doc stats.mode;         expect 0 '^stats.mode' 'doc of a function in Tally'
run doc random;             expect 0 '^random\.normal ' 'doc of a module in C'
run doc pi;                 expect 0 '^The ratio' 'doc of a constant'
run doc median;             expect 0 '^See also nanmedian$' 'doc ends with related names'
run doc regex;              expect 0 '^strings\.match ' 'doc of a word from elsewhere'
run doc datetime;           expect 0 '^time\.now ' 'doc of a word that means a module'
run doc stdin;              expect 0 '^input ' 'doc of a word for input'
run doc srot;               expect 1 'srot; did you mean sort' 'doc of a typing error'
run doc exit;               expect 0 '^os\.exit' 'doc of a word for the end'
run doc Fourier;            expect 0 '^fft\.fft ' 'doc of a word in the texts'
absent 'no documentation' 'doc of a word that is found'
run doc f;                  expect 0 "^and [0-9]* more$" "doc of a word that many names have"
run doc xyzzy;              expect 1 'no documentation of xyzzy' 'doc of a word that nothing has'
run doc --check linalg.;    expect 0 'are complete$' 'doc --check of a module'
run doc --check;            expect 0 'are complete$' 'all documentation is complete'
run doc --check nosuch.;    expect 1 '^0 of 0' 'doc --check of nothing'
run doc --html;             expect 2 'usage: tally doc' 'doc --html without a folder'
run doc --html "$dir/in";   expect 1 'cannot write the reference into .*in: ' 'doc --html into a file'
run doc --html "$dir/a/b";  expect 1 'No such file' 'doc --html far below what is there'
run doc --man sum;          expect 2 'usage: tally doc' 'doc --man of a name'
run doc;                    expect 0 '^matmul ' 'doc lists all names'
expect 0 '^# creating arrays$' 'doc lists them by topics'
expect 0 '^# linear algebra$' 'doc lists functions in Tally by topics'
absent '^# of the host' 'doc knows the topic of each name'
text '## The mean of squares.\nfn power(x, axis: none) = mean(x ** 2, axis: axis)\n\n## Metres.\nlength = nosuch\nfn bare() = 1\n'
cp "$dir/in" "$dir/own.tly"
run doc "$dir/own.tly";     expect 0 '^power[(]x, axis: none[)]$' 'doc of a script has its functions'
expect 0 '^The mean of squares[.]$' 'doc of a script has its ## lines'
expect 0 '^bare[(][)]$' 'doc of a script has what says nothing'
expect 0 '^Metres[.]$' 'doc of a script has documented variables'
text 'x = 1\n'; cp "$dir/in" "$dir/own.tly"
run doc "$dir/own.tly";     expect 1 'defines no function' 'doc of a script without functions'
text 'x = = 1\n'; cp "$dir/in" "$dir/own.tly"
run doc "$dir/own.tly";     expect 1 'syntax error' 'doc of a script that does not parse'
run doc "$dir/nosuch.tly";  expect 1 'nosuch.tly' 'doc of a script that is not there'
run doc cumul;              expect 0 '^cumulative_sum ' 'doc of a part of a name'
run doc Pearson;            expect 0 '^stats.correlation ' 'doc of a word'
run doc random.choice;      expect 0 'one of 0 [.][.] x' 'doc of a choice'
run doc random;             expect 0 'one of 0 [.][.] x[.]$' 'a sentence ends at its stop'
run --limit-memory 1X -e 1; expect 2 '1X' 'a size with a wrong unit'
# Small stacks: the auditor recounts what they hold after every instruction.
deep='fn deep(n) = if n == 0 { 0 } else { 1 + deep(n - 1) }
deep(1500)'
run --stack 64K -e "$deep"; expect 1 'too deeply: [0-9]+ are open' 'calls that nest too deeply'
run --stack 64K -e "$deep"; expect 1 '^   called from <eval>:1:41 in deep \([0-9]+ times\)$' 'one line for calls from one place'
run --stack 64K -e "$deep"; expect 1 '^   called from <eval>:2:1$' 'and the call that began it'
run --stack 1M -e "$deep";  expect 0 '^1500$' 'a larger stack'
turns='fn left(n) = right(n)
fn right(n) = left(n + 1)
left(0)'
run --stack 64K -e "$turns"; expect 1 '^   … lines left out …$' 'a trace of two functions in turn'
run --stack 64K -e "$turns"; expect 1 '^   called from <eval>:3:1$' 'and where it began'
run --stack 1T1 -e 1;       expect 2 'stack wants' 'a stack of no size'
run --limit-time -1 -e 1;   expect 2 'limit-time' 'a time below zero'
run --limit-time 200ms -e 'import strings
strings.match(strings.repeat("x", 50_000), "(x)*z?[yw]")'; expect 1 '^<eval>:2.*limit error: .*time' 'a pattern that reads the text from each place'
run --threads 0 -e 1;       expect 2 'threads' 'no thread at all'
run --threads=2 -e 1;       expect 0 '^1$' 'an option with its value behind ='
run --limit-memory 1K -e 1; expect 1 'no memory' 'too little to begin with'
run dis;                    expect 2 'usage' 'dis without a file'
run -e 'print(1)' a;        expect 0 '^1$' 'arguments behind -e'
run -e 'import os
os.exit(7)';                expect 7 '' 'os.exit gives the status'
absent . 'and no word'
run -e 'import os
os.exit()';                 expect 0 '' 'os.exit without a status'
text 'import os\ntry { os.exit(3) } catch { }\nprint(1)\n'; run
expect 3 '' 'os.exit ends a prompt'
absent . 'which runs nothing more'
text 'one\ntwo\r\n\n\303\244'
run -e 'import io
print(input("? "))
for line in io.stdin { print("[{line}]"); break }
print(input() == "", io.read_text("/dev/stdin"), input())'
expect 0 '^[?] one$' 'input reads a line'
expect 0 '^\[two\]$' 'io.stdin walks them'
expect 0 '^true ä none$' 'and each line is given once'
text 'x,y\n1,2\n3,4\n'
run -e 'import io
print(input(), io.read_csv(io.stdin, header: false), io.lines(io.stdin))'
expect 0 '^x,y \(c0: \[1, 3\], c1: \[2, 4\]\) \(\)$' 'a table behind a line'
text '\377\n'
run -e 'input()';           expect 1 'value error: input: a line of standard input' 'input that is no text'
echo before >"$dir/written"
$limit "$tally" -e 'import io
print(1)
io.write_text("/dev/stdout", "2\n")
io.append_text("/dev/fd/1", "3\n")
io.write_text("/dev/stderr", "4\n")
io.write_csv(io.stdout, (x: [5]))
print(6)' >>"$dir/written" 2>"$dir/out"
status=$?;                  expect 0 '^4$' '/dev/stderr is written'
run -e "import io
print(io.lines(\"$dir/written\"))"
expect 0 '^\("before", "1", "2", "3", "x", "5", "6"\)$' '/dev/stdout is written through, in order'
mkdir "$dir/beside"; echo 41 >"$dir/beside/data.txt"
echo 'import io
import os
print(int(io.lines(os.script_folder() + "/data.txt")[0]) + 1)' >"$dir/beside/s.tly"
(cd "$dir/beside" && $limit "$here/$tally" s.tly) >"$dir/out" 2>&1
status=$?;                  expect 0 '^42$' 'a script finds data beside it'
run "$dir/beside/s.tly";    expect 0 '^42$' 'from elsewhere too'
run --stats=json -e '1';    expect 0 '"peak_bytes": *[0-9]+' '--stats=json'
text 'print(40 + 2)\n';     run -
expect 0 '^42$' 'standard input'
text 'import os\nprint(os.args)\n'; run "$dir/script.tly" a 'b c'
expect 0 '\("a", "b c"\)' 'arguments of a script'
text 'print(x)\n';          script
expect 1 'script.tly:1:7: name error: .*x' 'the place of an error'
run dis "$dir/nosuch.tly";  expect 1 'nosuch' 'dis of no file'
text 'x = ones(3)\nprint(x + (x + (x + x)))\n'; run dis "$dir/script.tly"
expect 0 'add.*!' 'dis shows consumed temporaries'
text 'x = ones(9000)\ny = x + 1\nz = y * x\nw = z\nw[0] = 2\nprint(sum(z), x[0])\n'
run explain "$dir/script.tly"
expect 0 'may: .*one pass with `y . x`.*no array of its own' 'explain: a region'
expect 0 'ran: fused once; fresh once' 'explain: what a run did'
expect 0 'fresh: x is used later, in line 6' 'explain: who keeps an operand'
expect 0 'ran: copied once, 72128 bytes: z holds it, too' 'explain: an update that copies'
text 'x = ones(9000)\nx = x * 2 + x * 3 - x / 4 * x - x\nprint(x[0])\n'
run explain "$dir/script.tly"
expect 0 'one pass with (`[^`]*`, ){3}`[^`]*` and 2 more; no' 'explain: of many, some are named'
text 'x = zeros(9000) + 1.0\ny = x[1:] - x[:-1]\nprint(y[0])\n'
run explain "$dir/script.tly"
expect 0 'may: in place of x if nobody lent it, which ends here' 'explain: views of what ends'
text 'p = (x: ones(9000), v: ones(9000))\nfor t in 0..5 {\n  p.v = p.v - p.x * 0.1 / p.x\n}\nq = p\nq.v[0] = 9.0\nprint(p.x[1], q.v[0])\n'
run explain "$dir/script.tly"
expect 0 'an array in q is shared with .v of a record .p in the script.' 'explain: an update within a record'
expect 0 'fused 5 times; in place 5 times$' 'explain: memory is told of once'
text 'u = ones((90, 90))\nfor t in 0..9 {\n  v = (u[2:, 1:-1] + u[:-2, 1:-1]) / 2\n  c = max(abs(v - u[1:-1, 1:-1]))\n  u[1:-1, 1:-1] = v\n}\nprint(c)\n'
run explain "$dir/script.tly"
expect 0 'together with .*line 3., `u.1:-1, 1:-1.` .line 5.' 'explain: an update that runs together'
run explain --json "$dir/script.tly"
expect 0 '"operation": ".u.2:, 1:-1. . u.:-2, 1:-1..".*"fused": 9,.*"inplace": 0, "fresh": 0, "bytes": 0' 'explain --json: memory is told of the result alone'
text 'fn f(x) {\n  y = cumulative_sum(x * 2 + 1)\n  print(y[0])\n  y = cumulative_sum(x * 2)\n  print(y[0])\n  y = cumulative_sum(x) + sort(x)\n  print(y[0], x[0])\n}\nf(arange(30000.0))\n'
run explain "$dir/script.tly"
expect 0 'fused once; fresh once, .* bytes: x is used later, in line 4' 'explain: a running sum of what lives on'
expect 0 'not fused: one operation, whose new array the result is in' 'explain: a running sum of one operation'
expect 0 'fresh once, .* bytes: x is used again in line 6' 'explain: a running sum alone'
expect 0 'copied once, .* bytes: x is used later, in line 7' 'explain: a sorted copy'
text 'l = ()\nfor i in 0..3 {\n  k = l\n  l = append(l, i)\n}\nl = append(l, 9)\nprint(l, k)\n'
run explain "$dir/script.tly"
expect 0 'ran: copied 3 times, .* bytes: l is held by k, too$' 'explain: a list that is copied'
expect 0 'ran: in place of l once$' 'explain: a list that grows'
text 'fn f(x) {\n  u = x + 1\n  v = u * u\n  x * 2\n}\nprint(sum(f(ones(3000))))\n'
run explain --static "$dir/script.tly"
expect 0 'may: .*no use: nothing reads it$' 'explain: a value that nobody uses'
text 'fn f(x) {\n  y = x + 1\n  sort(exp(y) * y)\n}\nfn g(x, n) = exp(x) * zeros(n)[0]\nprint(1)\n'
run explain --peak "$dir/script.tly"
expect 0 '#:peak 8 . x.size [+] 8 . n$' 'explain --peak: a formula'
expect 0 'not known, in line 3, `sort.*`: sort is called, whose own needs' 'explain --peak: what is not known'
text 'fn f(n) {\n  x = zeros(n)\n  x = x[::-1] + x\n  x\n}\nfn g(n) {\n  x = zeros(n)\n  x = roll(x, 1) + x\n  x\n}\nprint(1)\n'
run explain --peak "$dir/script.tly"
expect 0 '#:peak 16 . n$' 'explain --peak: a view keeps its block from the result'
expect 0 'the most in line 8, `roll' 'explain --peak: so does a rolled array'
text 'fn f(a :: `N * float64`, b :: `N * float64`, c) {\n  if c { a = a + 1 } else { b = b + 1 }\n  a[0] = 1\n  a[0] + b[0]\n}\nfn g(p :: `N * float64`, b :: `N * float64`, c) {\n  if c { p = p + 1 } else { b = b + 1 }\n  p = p * 2\n  p[0] + b[0]\n}\nprint(1)\n'
run explain --peak "$dir/script.tly"
expect 0 '#:peak 16 . a.shape.0.$' 'explain --peak: an update copies what only one way owns'
expect 0 '#:peak 16 . p.shape.0.$' 'explain --peak: so does an operation'
text "fn f($(seq -s ', ' -f 'a%g' 40)) = a1 + a2\n"
run explain --peak "$dir/script.tly"
expect 0 'not known, in line 1.*: the function has more parameters' 'explain --peak: 40 parameters'
text 'fn f(m :: `N * M * float64`) = sum(m, axis: 0)\nfn g(m :: `N * M * float64`) = sum(m, axis: -1)\nprint(1)\n'
run explain --peak "$dir/script.tly"
expect 0 'not known, in line 1, .*: sum needs memory of its own along' 'explain --peak: a reduction of columns'
expect 0 '#:peak 8 . m.shape.0.$' 'explain --peak: a reduction of rows'
text 'table = [[1.0, 2.0], [3.0, 4.0]]\nfn f(r) = exp(r.a)\nfn g(x :: `3 * 4 * float32`) = x + 1\nfn h(n) = zeros(n, dtype: `float32`)\nfn i(x :: `N * M * float64`) = x[..., 0] + 1\nfn j(x :: `N * float64`) {\n  try { y = exp(x) } catch e { y = x }\n  y\n}\nfn k(a :: `N * int64`) = float32(a) + bool(a) + float(a) + int(a)\nfn l(n) = zeros(n) + [1.5, 2][0] + table[0, 0]\nfn m(a :: `N * float64`) = cumulative_sum(clip(a, 0, 1))\nfn o(n) {\n  f = x => x + n\n  f(ones(n))\n}\nfn p(a :: `N * float64`) = twice(a) + twice(a)\nfn twice(a) = a + a\nfn q(a :: `T`, b :: `M * string`) = (a, b)\nprint(1)\n'
run explain --peak "$dir/script.tly"
expect 0 'not known, in line 2, .exp.r.a..: the shape of an operand' 'explain --peak: a field may be an array'
expect 0 '#:peak 48$' 'explain --peak: lengths that a type says'
expect 0 '#:peak 4 . n$' 'explain --peak: a dtype that is given'
expect 0 'not known, in line 5, .x......0..' 'explain --peak: an ellipsis'
expect 0 'the most in line 7, .exp.x..: 8 . x.shape.0. there' 'explain --peak: a handler'
expect 0 '#:peak 22 . a.shape.0.$' 'explain --peak: conversions'
expect 0 'not known, in line 11, `zeros' 'explain --peak: a variable of the module'
expect 0 'not known, in line 15, `f.ones.n..`: in a function' 'explain --peak: a closure'
expect 0 'the most in line 17, `twice.a. . twice.a.`: 8 . a.shape.0. there' 'explain --peak: calls that one pass takes in'
expect 0 'not known, in line 19, .*: arrays in lists' 'explain --peak: a type that is no array'
text 'fn f(n) {\n  x = ones(n)\n  float32(x * 2) + float32(1)\n}\nprint(sum(f(200000)))\n'
run explain "$dir/script.tly"
expect 0 'may: in one pass with .*; in place of x, which ends here' 'explain: what a variable has got from a call'
text 'fn f(x) = (x - mean(x)) / std(x)\nprint(sum(f(ones(9000))))\n'
run explain "$dir/script.tly"
expect 0 'may: computed before the pass of ..x - mean.x' 'explain: a reduction between operations'
expect 0 'may: in one pass with ..x - mean.x.. . std.x..; no array' 'explain: the pass around it'
text 'r = (x: 1, l: (1, 2))\nfor i in 0..3 {\n  r.x += i\n  r.l[0] = i\n}\nprint(r)\n'
run explain "$dir/script.tly"
expect 0 'ran: in place of r 3 times$' 'explain: places of a record'
printf 'fn f(a :: `A * B * C * D * E * F * G * H * J * float64`, k :: `J * float64`) = exp(k)\n' >"$dir/script.tly"
run explain --peak "$dir/script.tly"
expect 0 '#:peak 8 . k.shape.0.$' 'explain --peak: more lengths than it has names for'
printf 'x = ones((300, 40))\nprint(sum(x))\n' >"$dir/script.tly"
long=$dir/$(printf '%060d' 0)/$(printf '%060d' 1)
mkdir -p "$long"
cp "$dir/script.tly" "$long/short.tly"
run --memory-plot "$dir/plot.svg" "$long/short.tly"
cp "$dir/plot.svg" "$dir/out"
expect 0 '>short.tly: live bytes' '--memory-plot of a script far away'
# Each array is told of once: in sum, what is explained is what was counted.
sum_of() {
  grep -o "\"$1\": [0-9]*" "$2" | awk '{ s += $2 } END { print s + 0 }'
}
for name in black_scholes co2 elnino sentences sunspots; do
  "$tally" explain --json "examples/$name.tly" > "$dir/explained" 2> "$dir/err"
  "$tally" --stats=json "examples/$name.tly" > "$dir/printed" 2> "$dir/counted"
  for pair in fresh:allocs inplace:inplace copies:copies bytes:alloc_bytes; do
    told=$(sum_of "${pair%:*}" "$dir/explained")
    counted=$(sum_of "${pair#*:}" "$dir/counted")
    text "print(\"$told $counted\")\n"; run "$dir/script.tly"
    expect 0 "^$counted $counted\$" "explain of $name: ${pair%:*}"
  done
done
text 'x = ones(9000)\ny = x + 1\nz = y * x\nw = z\nw[0] = 2\nprint(sum(z), x[0])\n'
run explain "$dir/script.tly"
absent '^9000' 'explain leaves out what the script prints'
text 'fn f(x, y) {\n  a = x + y\n  b = x - y\n  (a, b)\n}\nx = ones(9000)\nprint(f(x, x * 2)[0][0])\n'
run explain "$dir/script.tly"
expect 0 'may: together with `x - y` .line 3.; fresh' 'explain: several results'
expect 0 'ran: fused once, together once; in place of x or y 2 times' 'explain: that they ran together'
text 'x = ones((300, 40))\nfor j in 1..40 { x[:, j] = x[:, j - 1] * 2 }\nprint(x[0, 39])\n'
run explain "$dir/script.tly"
expect 0 'ran: fused 38 times; in place of x 39 times' 'explain: columns in a loop'
text 'x = float64(0..9000)\nl = (a: x)\nx[0] = 1\ny = reshape(x, (9000, 1))[0:2]\nz = float64(0..2)\nz = z + (y + 1.0)\nb = x > 3\nprint(b[0])\nb = b * 2.5\nprint(l.a[0], z, sum(b))\n'
run explain "$dir/script.tly"
expect 0 'x is shared with .a of a record .l in the script.' 'explain: who shares'
expect 0 'z has another shape than the result: 2 . float64' 'explain: which operand has another shape'
expect 0 'b has items of another size than the result: 9000 . bool' 'explain: which items have another size'
text 'x = ones(9000)\ny = x + 1\nz = y * x\nw = z\nw[0] = 2\nprint(sum(z), x[0])\n'
run explain --static "$dir/script.tly"
expect 0 'w is copied: z holds it, too' 'explain --static'
absent 'ran:' 'explain --static runs nothing'
run explain --json "$dir/script.tly"
expect 0 '"operation": "x . 1", "may": ".*"ran": ."fused": 1,' 'explain --json'
text 'x = linspace(0, 1, 9)\nprint(x * 2 + 1)\n'; run explain "$dir/script.tly"
expect 0 'not fused: fewer than 2048 items$' 'explain: of few items'
text 'x = ones(5000)\nx = x + x[::-1]\nx = roll(x, 900) + x\nprint(x[1])\n'
run explain "$dir/script.tly"
expect 0 'x . x\[::-1\]`$' 'explain: a reversed operand'
expect 0 'ran: fresh once, 40128 bytes: x is read in another order than it would be written$' 'explain: what is read in two orders'
expect 0 'ran: fused once; fresh once, 40128 bytes: x is read in another order' 'explain: what is rolled far'
text 'z = ones(10000)\nl = z[0:5000]\nw = z[::2]\nz = 0\nw = w * 2 + w[::-1]\nfn f(x) = x * 2 + x[::-1]\nprint(w[1], f(l)[1], len(l))\n'
run explain "$dir/script.tly"
expect 0 'ran: fused once; fresh once, 40128 bytes: w is a view of another array$' 'explain: what is strided in a fused run'
expect 0 'ran: fused once; fresh once, 40128 bytes: x belongs to the caller$' 'explain: what outlives a fused run'
text 'y = ones(5000)\ny = float64(int64(exp(y))) * y\nprint(sum(y))\n'
run explain "$dir/script.tly"
expect 0 'not fused: a cast looks at all items first' 'explain: a cast that costs much'
text 'l = (ones(5000), ones(5000))\nl[0] = sqrt(l[0]) + l[1]\nprint(sum(l[0]))\n'
run explain "$dir/script.tly"
expect 0 'fresh once, 40128 bytes: `l\[0\]` is held by l$' 'explain: an item of a list'
{ printf 'x = ones(5000)\nx = x'; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 \
  21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40; do printf ' + x * %s.5 / (x + %s)' $i $i; done
  printf '\nprint(sum(x))\n'; } >"$dir/in"; cp "$dir/in" "$dir/script.tly"
run explain "$dir/script.tly"
expect 0 'fresh once, 40128 bytes: more operations than one pass takes$' 'explain: too many operations'
run explain "$dir/nosuch.tly"; expect 1 'nosuch' 'explain of no file'
run explain --nosuch x;     expect 2 'nosuch' 'explain with an unknown option'
text 'x = ones(5)\ny = x + 1\nprint(y[9])\n'; run explain "$dir/script.tly"
expect 0 'ended with an error: line 3: index' 'explain of a run that fails'
text 'x = 1 +\n';           run explain "$dir/script.tly"
expect 1 'syntax error' 'explain of broken code'
run --limit-memory 10M -e 'zeros(10000000)'
expect 1 'memory error' '--limit-memory'
text 'fn f(x) { x = concat((x, [1.0])); len(x) }\nprint(f(zeros(1000000)))\n'
run --limit-memory 10M "$dir/script.tly"
expect 0 1000001 'a join asks for no room behind the items'
run --limit-time 0.2s -e 'while true { }'
expect 1 'limit error' '--limit-time'
run --limit-output 1K -e 'while true { print("spam") }'
expect 1 'limit error: the output limit' '--limit-output'
run --limit-output 1Q -e 1; expect 2 'limit-output' 'a size with a wrong unit'
run --sandbox -e 'import io
io.read_text("README.md")'
expect 1 'error' '--sandbox forbids files'
run test --nosuch;          expect 2 'usage' 'test with an unknown option'
run test "";                expect 1 '^0 passed, 1 failed$' 'test with an empty path'
run fmt --check --diff x;   expect 2 'usage: tally fmt' 'two that exclude each other'
run fmt --check --nosuch;   expect 2 'fmt has no option --nosuch' 'a flag behind one'
text 'print(1)  # expect: 1\nprint(2)  # expect: 3\nprint(4)\n'
run test "$dir/script.tly"
expect 1 'script.tly:2: expected 3, got 2' 'test reports a wrong line'
expect 1 '^1 passed, 2 failed$' 'test counts expectations'
text 'print([1][2])  # expect error: index error: index 2\n'
run test "$dir/script.tly"
expect 0 '^1 passed, 0 failed$' 'test knows expected errors'
# Each way to fail, and what is said of it.
cat >"$dir/script.tly" <<'END'
print(1)
print(2)  # expect: 3
### lost
print(1)  # expect: 0
print(2)
print("a")  # expect: 1
#> 2
#> 3
#> a
### error
[1][2]    # expect error: value error
### place
[1][2]    # expect error at 2: index error: … 2
#|    1 | [1][2]
### well
print(1)  # expect error: index error
### kinds
assert(1 == 1)
[1][2]
END
run test "$dir/script.tly"
expect 1 '^3 passed, 12 failed$' 'every failure counts'
cat >"$dir/said" <<'END'
2: expected 
2: nothing was expected here
4: expected 
8: expected 
11: expected error value error
11: unexpected index error
13: expected error index error
14: expected in the report    
13: unexpected index error
1: nothing was expected here
16: expected error index error
19: unexpected error
END
grep -o 'script.tly:[0-9]*: [a-z ]*' "$dir/out" | cut -d: -f2- |
  cmp -s - "$dir/said" || status=9
expect 1 'got nothing' 'what is said of each'
# Numbers that are no lines, in what is expected and in a report, and output of
# bytes that are no text.
n=99999999999999999999
text "error('f:$n:1: an error: b')  # expect error at $n: b\nprint(1)  # expect: 2\n"
run test "$dir/script.tly"; expect 1 '^0 passed, 4 failed$' 'numbers without end'
text 'print(1)\n'
printf '\377' >"$dir/script.out"
run test "$dir/script.tly"; expect 1 'script.out:1: ' 'an answer that is no text'
rm "$dir/script.out"
run test --timeout 0 "$dir/script.tly"
expect 2 'usage' 'a timeout of no time'
text 'while true { }\n'
run test --timeout 1 "$dir/script.tly"
expect 1 'took longer than 1 s' 'a test that takes too long'
run test "$dir/nosuch";     expect 1 'nosuch' 'test of no file'
run test '';                expect 1 '"": No such file' 'test of an empty path'
mkdir -p "$dir/links/in" "$dir/linked"
echo 'assert(1 == 1)' >"$dir/links/in/a.tly"
echo 'assert(2 == 2)' >"$dir/linked/b.tly"
ln -s .. "$dir/links/in/up"
ln -s ../linked "$dir/links/other"
run test "$dir/links";      expect 0 '^2 passed, 0 failed$' \
  'test follows links to folders, and none in a circle'
printf '## Twice x.\n##     mine.twice(2)    # 4\n##     twice(3)    # 6\n%s\n' \
  'fn twice(x) = 2 * x' >"$dir/mine.tly"
run test "$dir/mine.tly";   expect 0 '3 passed, 0 failed' \
  'a module whose examples use it as its importers do'
printf '## Half x.\n##     half("a")    # expect error: type error\n##     half(3)    # 1.5\n%s\n' \
  'fn half(x) = x / 2' >"$dir/half.tly"
run test "$dir/half.tly";   expect 0 '^[0-9]* passed, 0 failed$' \
  'an example that is to fail'
printf '## Half x.\n##     half(3)    # expect error: type error\n%s\n' \
  'fn half(x) = x / 2' >"$dir/half.tly"
run test "$dir/half.tly";   expect 1 'half.tly:2: .*expected type error' \
  'an example that is to fail and does not'

# A module's file that changed is read anew where the prompt imports it again.
text "import io\nio.write_text(\"$dir/m.tly\", \"fn f() = 41\")
import \"$dir/m.tly\" as m\nold = m.f
io.write_text(\"$dir/m.tly\", \"fn f() = 42\")
import \"$dir/m.tly\" as m\nprint(m.f(), old())\n"
run;                        expect 0 '^42 41$' 'a changed module is read anew'

# --- debug ------------------------------------------------------------------

text 'fn f(x) {\n  y = x * 2\n  y + 1\n}\na = 3\nprint(f(a))\nprint([1][4])\n'
printf 'break f if x == 3\nbreak 9\nbreak script.tly:3\ninfo\ndelete 2\ncontinue\nnext\nprint y + a\nset y = 10\nup\nlocals\nfinish\nwhere\nlist 1\ncontinue\nlocals\nnosuch\nquit\n' >"$dir/in"
run debug "$dir/script.tly"; expect 0 '^1: f if x == 3$' 'debug: break'
expect 0 '^.*script.tly has no code at line 9 or behind it$' 'debug: break behind the end'
expect 0 '^2: .*script.tly:3$' 'debug: break FILE:LINE'
expect 0 '^>   2 \|   y = x \* 2$' 'debug: a breakpoint of a function'
expect 0 '^9$' 'debug: print sees the frame and the module'
expect 0 '^>   6 \| print\(f\(a\)\)$' 'debug: up'
expect 0 '^f returns 11$' 'debug: set, finish'
expect 0 '^11$' 'debug: the run goes on with what was set'
expect 0 '^index error: .*4' 'debug: an error stops the run'
expect 0 '^a = 3$' 'debug: locals'
expect 0 'no command nosuch' 'debug: another word'
absent '^debug> ' 'debug: no prompts in a pipe'
text 'fn f(x) {\n  y = x * 2\n\n  # more\n  y += 1\n  y\n}\na = 3\na = f(a)\nprint(a)\n'
printf 'break :4\nbreak :0\ncontinue\nwatch nosuch\nwatch y\nwatch a if a > 3\ninfo\ncontinue\ncontinue\n' >"$dir/in"
run debug "$dir/script.tly"; expect 0 '^line 4 has no code, line 5 has$' 'debug: break at a comment'
expect 0 '^lines count from 1$' 'debug: break 0'
expect 0 '^name error: nosuch is not defined$' 'debug: watch of no variable'
expect 0 '^3: watch a if a > 3$' 'debug: watch with a condition'
expect 0 '^y was 6$' 'debug: a watched variable changes'
expect 0 '^y is 7$' 'debug: what it has become'
expect 0 '^the call that had y has ended$' 'debug: a watched variable ends'
expect 0 '^a is 7$' "debug: a watched variable of the file's"
printf 'break f\nc\n' >"$dir/in"
run debug "$dir/script.tly"; expect 0 'script.tly:2 in f$' 'debug: the end of the commands ends the run'
absent '^7$' 'debug: nothing runs behind that'
text 'fn same(a, b) { print("asked"); false }\nfn g(x) = x\nfn f() {\n  y = 1\n  y = 2; z = g(5)\n  y = 5\n  z\n}\nprint(f())\n'
printf 'break 5\ncontinue\nwatch y if y > 3\ncontinue\n' >"$dir/in"
run debug "$dir/script.tly"; expect 0 '^y was 2$' 'debug: a condition is of the call that is watched'
absent '^y was 1$' 'debug: a change without the condition is not told'
absent '^asked$' "debug: a script's same is not called"
text 'count = 0\nfn bump(n) {\n  z = n\n  z\n}\n'; mv "$dir/script.tly" "$dir/counted.tly"
text 'import "counted.tly" as m\ncount = 8\nm.bump(1)\ncount = 9\n'
printf 'break bump\ncontinue\nwatch count\ncontinue\n' >"$dir/in"
run debug "$dir/script.tly"; expect 0 '^the call that had count has ended$' "debug: a variable of an imported file's"
absent '^count is' "debug: another file's variable of that name"
run debug;                  expect 2 'usage: tally debug' 'debug without a FILE'
run debug "$dir/nosuch";    expect 1 'nosuch' 'debug: no such file'
: >"$dir/in"

# --- The prompt, fed by a pipe ----------------------------------------------

text 'reshape(arange(60), (2, 30))\n("a text of some length", "and another one, which is cut")\n'
COLUMNS=30 run
expect 0 '^ 30  31  32  33  …  57  58  59$' 'columns that fit the width'
expect 0 '^  .1. "and another one, which…$' 'items of a list that fit it'
run --limit-memory 200K
expect 0 '^..0, 1, 2, …, 27, 28, 29' 'a value on one line, for want of memory'
text 'x = [1,2,3]\nx * 2\nfoo\nx + 1\n'
run
expect 1 '2,? +4,? +6' 'the prompt shows the first value'
expect 1 '2.*3.*4' 'the prompt shows the second value'
expect 1 'name error.*foo' 'the prompt survives an error that names foo'
if [ "$(grep -c 'error' "$dir/out")" = 1 ]; then passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo 'FAILED: the prompt reports one error'
fi
script
expect 1 'script.tly:2:' 'the same text as a script is an error'
absent '2,? +4,? +6' 'and a script does not show values'
text 'x = ones(40)\n#:inplace\nx[2:8] += x[1:7]\n#:inplace\nx[x > 1] *= 2\n#:inplace\nx[1:] += x[:3]\nx[2:4]\n'
run
expect 1 '4.*4' 'updates at the prompt are in place'
expect 1 'shape error' 'and one that fails leaves its variable'
absent 'memory error' 'and they make no array'
text 'fn f(x) {\n  x + 1\n}\nf(4)\n'; run
expect 0 '5' 'the prompt reads on in an open brace'
text 'print(1)\nprint(2)'; run
expect 0 '^2$' 'a last line without an end'
text 'x = 1\0002\n"on"\n'; run
expect 1 '^"on"$' 'the prompt survives a zero byte'
text 'x = "\377"\n"on"\n'; run
expect 1 '^"on"$' 'the prompt survives malformed UTF-8'
awk 'BEGIN {printf "x = \""; for (i = 0; i < 100000; i++) printf "0123456789"
  print "\"\nlen(x)"}' >"$dir/in"
run;                        expect 0 '^1000000$' 'a line of 1 MB at the prompt'
text 'x = (1,\n'; run
expect 1 'syntax error' 'the prompt ends with an open bracket'

# A listing names what an instruction refers to.
cat >"$dir/listed.tly" <<'EOF'
total = 0
r = (a: [1, 2, 3], b: (c: 4))
fn outer(k) {
  fn inner(x) = x + k
  () => inner(k)
}
fn add(n) {
  global total
  total += n
}
fn change(q, i) {
  q.a[i, none] += 1
  q.b.c = 5
  q.{a, b}
}
fn careful(x) {
  l = (x, x)
  try { l = (x / 0, l) } catch e { print(e.message, l) }
  l
}
print("{total:5d} {r.a}", outer(2)())
EOF
run dis "$dir/listed.tly"
for words in 'record  .t[0-9]*, t[0-9]*. .a, b.' 'setg .* -> total' \
  'closure  inner.t[0-9]*.' 'take  q.*\.a\[_, _\]' 'setpath  q.*\.b\.c' \
  'fields  q.* .a, b.' 'callk  outer.t' 'callb  print.t' 'keeps t[0-9]*$' \
  'try [0-9.]* -> [0-9]*' 'owned [0-9.]*  n\?' 'format  t' 'loadk  none'; do
  expect 0 "$words" "dis: $words"
done

# tally check: errors as a run has them, warnings, nothing is run.
printf 'import linalg\nfn f(x) {\n  y = 3\n  x\n}\nprint(f(1))\n' >"$dir/script.tly"
run check "$dir/script.tly"
expect 1 'script.tly:1:8: warning: linalg is never read' 'check warns of an import'
expect 1 'script.tly:3:3: warning: y is never read' 'check warns of a variable'
absent '^1$' 'check runs nothing'
printf 'print(nope)\n' >"$dir/script.tly"
run check "$dir/script.tly"; expect 1 'name error: nope is not' 'check finds errors'
printf 'print(1)\n' >"$dir/script.tly"
run check "$dir/script.tly"; expect 0 '' 'check of a script without fault'
cat >"$dir/wrong.tly" <<'EOF'
a = [1, 2]
b = [1, 2, 3]
m = zeros((2, 3))
n = -5
s = "abc"
print(a + b)
print((1, -(a + b)))
print(-"x")
print(m @ m)
print(a[7], s[9])
print([1, 2, "x"][0])
print(b |> (x => x) |> sum)
print(reshape(b, (2, 2)) |> sum)
for i in a { print(a + b) }
try { print(a + b) } catch { }
if n < 0 { print(m[5, 0]) }
while n > 0 { print(a @ b) }
print([v for v in a if a + b], (v for v in a + b))
print(n > 0 and a[9] == 1)
print((k: a[5]).k)
print(s.nothing)
x = 1
x = 2
print([1, 2] + [x, x, x])
fn f(y) = a + b + y
EOF
run check "$dir/wrong.tly"
for at in 6:9 7:15 8:7 9:9 10:8 10:14 11:18 13:7 16:19; do
  expect 1 "wrong.tly:$at: [a-z]* error: " "check finds what fails for certain at $at"
done
run check "$dir/none.tly"; expect 1 'cannot read' 'check of a file that is missing'
run check; expect 2 'usage: tally check FILE' 'check without a file'

# Commands of the prompt.
text 'x = [1, 2]\nx + 1\nans * 10\nx\nans\nprint(3)\nans\n'; run
expect 0 '20 +30' 'ans is the value that was shown last'
text 'x = [1, 2]\nx + 1\nx\nans[0] = 7\nx\nans\n'; run
expect 0 ' 7  3' 'a variable that is shown is not taken by ans'
text 'import plot\nplot.line([1, 2])\nans.width\n'; run
expect 0 '└──' 'a picture is drawn'
expect 0 '^640$' 'and is a record all the same'
text '(layers: 1, title: none, x_label: none, y_label: none, x_scale: 1, y_scale: 1, x_range: none, y_range: none, width: 1, height: 1)\n'; run
expect 0 'layers: 1' 'a record that only looks like a picture'
text ':time 1 + 1\n'; run
expect 0 'the median of [0-9]* runs' ':time tells how long'
text 'x = zeros(1000000)\n:time x + 1\n'; run
expect 0 '1 array made, 8.0 MB; 8.0 MB more alive at the peak' ':time counts'
text 'l = ()\nwhile true { l = append(l, "a string for the heap {len(l)}") }\n:time len(l)\n'
run --limit-memory 3000000
expect 1 'the median of [0-9]* runs' ':time in a full VM'
text ':time error("no")\n1 + 1\n'; run
expect 1 'value error: no' ':time reports what fails'
expect 1 '^2$' 'and the prompt goes on'
text 'x = zeros((2, 3))\n:type x.T\n'; run
expect 0 '3 \* 2 \* float64, ' ':type shows type and bytes'
text 'small = zeros(2)\nlarge = zeros(1000)\n:mem\n'; run
expect 0 '8.1 kB  large  *1000 \* float64' ':mem lists variables'
expect 0 'kB alive, .* at the peak' ':mem tells what is alive'
expect 0 'kB [▁▂▃▄▅▆▇█]*█  behind each input' ':mem draws the session'
expect 0 'MB of the whole process' ':mem tells what the process has'
text 'größe = zeros(2)\nweite = zeros(3, dtype: `{ä: int8, ää: int8, äää: int8, ääää: int8}`)\n:mem\n'; run
expect 0 ' größe            2 \* float64' ':mem pads by the cells of a name'
expect 0 ' weite            3 \* {ä: int8, ää: int8, äää: int8, ääää: int$' ':mem cuts types between characters'
text 'x = zeros(9)\n:explain x = x + (x + 1)\n'; run
expect 0 '`x \+ \(x \+ 1\)`' ':explain tells where results live'
text ':dis y = 1 + 1\n'; run
expect 0 'y' ':dis shows bytecode'
text 'fn f(x) = x + 1\n:dis f\n:dis f(2)\nx = 1\n:dis x\n:dis sum\n'; run
expect 0 '^fn f[(]x' ':dis shows that of a function'
expect 0 '= call  t0' ':dis shows that of an expression'
text "x = 2\n2 * x\nprint(x)\n:save $dir/saved.tly\n:reset\nx\n:load $dir/saved.tly\n"
run
expect 1 'x is not defined' ':reset forgets variables'
expect 1 '^4$' ':load runs what :save wrote'
script_is='x = 2
print(2 * x)
print(x)'
text "x = 2\nx + 1 # more\n:save $dir/noted.tly\n:load $dir/noted.tly\n"; run
expect 0 '^3$' ':save of a value with a comment'
text ":load $dir/noted.tly\nx * 21\n"; run
expect 0 '^42$' 'variables of what :load ran stay'
text "y = 1\n:load $dir/noted.tly\n:save $dir/whole.tly\n"; run
run "$dir/whole.tly"; expect 0 '^3$' ':save writes what :load ran'
if [ "$(cat "$dir/saved.tly")" = "$script_is" ]; then passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo 'FAILED: :save writes what was shown as printed'
fi
text ":save $dir/none/x.tly\n1 + 1\n"; run
expect 1 'io error: .*none/x.tly cannot be written: No such' ':save names the file'
mkfifo "$dir/pipe"
cat "$dir/pipe" >"$dir/piped" &
text "x = 40 + 2\n:save $dir/pipe\n"; run; expect 0 'saved' ':save to a pipe'
wait $!
if [ -p "$dir/pipe" ] && grep -q '^x = 40 + 2$' "$dir/piped"; then
  passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo 'FAILED: :save writes into a pipe, which stays one'
fi
text ":load $dir/none.tly\n"; run
expect 1 'io error: cannot read' ':load names what is missing'
text ':foo\n'; run
expect 1 'no command :foo; :help lists them' 'an unknown command is told'
text ':t 1\n'; run
expect 1 'several commands begin with :t; :help' 'a beginning of two commands'
text ':time\n'; run
expect 1 'write :time CODE' 'a command without its argument says what it takes'
text ':help\n'; run
expect 0 ':reset .*forgets all variables' ':help lists the commands'
text '1 + 1\n:quit\nprint("more")\n'; run
absent 'more' ':quit leaves'

# A name whose assignment failed hides nothing: one wrong line is one error.
errors() {
  if [ "$(grep -c ' error: ' "$dir/out")" = "$1" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $2: not $1 errors"
    head -c 1000 "$dir/out"
  fi
}
text 'sum = foo(3)\nsum([40, 2])\n'; run
expect 1 '^42$' 'a built-in after an input that does not compile'
errors 1 'a built-in after an input that does not compile'
text 'min = [1][7]\nmin([42, 43])\n'; run
expect 1 '^42$' 'a built-in after an input that fails'
errors 1 'a built-in after an input that fails'
text 'max = max([1, 2])\nmax([1, 42])\n'; run
expect 1 'max is read before it is assigned: .*hides the built-in max' \
  'a built-in that is read where it is assigned'
expect 1 '^42$' 'a built-in that was read where it is assigned'
errors 1 'a built-in that was read where it is assigned'
text 'import nosuch as abs\nfn sqrt(x) = foo(x)\nabs(-2) + sqrt(4)\n'; run
expect 1 '^4.0$' 'built-ins after an import and a function that fail'
errors 2 'built-ins after an import and a function that fail'
text 'import math\nmath.sqrt(4)\n'; run
expect 1 'math is not defined: .*sqrt\(x\)' 'a module of others, used'
text 'random = foo(3)\nrandom.normal(3)\n'; run
expect 1 'write import random first' 'a module whose name was to be a variable'
text 'x = foo(3)\nx\nx = 42\nx\n'; run
expect 1 'x is not defined' 'a name of the own is told'
expect 1 '^42$' 'a name of the own is assigned later'
text 'import nowhere_at_all\nfn f() = nowhere_at_all\n'; run
expect 1 'nowhere_at_all is not defined' 'a failed import declares nothing'
# What has a value keeps it, and what functions know stays one variable.
text 'sum = 42\nsum = foo(3)\nsum\n'; run
expect 1 '^42$' 'a variable whose second assignment fails'
text 'sum = 3\nfn f() = sum\ndel(sum)\nsum([2])\nsum = 42\nf()\n'; run
expect 0 '^2$' 'a built-in once its variable is cleared'
expect 0 '^42$' 'a function knows the variable that is assigned again'
text 'fn f() { global sum; sum = 42 }\nf(); print(sum)\n'; run
expect 0 '^42$' 'a variable that a function assigns'
text 'sum = foo(3)\nfn f() { global sum; sum = 42 }\nf()\nsum\n'; run
expect 1 '^42$' 'a function assigns a variable whose input failed'
text 'sum = [1][7]\nfn sum(x) = 41\nsum(1) + 1\n'; run
expect 1 '^42$' 'a function of the name of what failed'
text 'x == 3\nprint(x)\nfn f() = x + y\nprint(x, y)\n'; script
expect 1 'script.tly:1:1: name error: x is not defined' 'an unknown name'
errors 2 'an unknown name is told once'

# --- Bad input --------------------------------------------------------------

run "$dir/nosuch.tly";      expect 1 'nosuch.tly' 'a missing file'
run "$dir";                 expect 1 "$dir" 'a directory instead of a file'
text 'x = "a\377b"\n';      script
expect 1 'UTF-8.*offset 6' 'malformed UTF-8'
text 'x = 1\000\n';         script
expect 1 'error' 'a zero byte'
text '';                    script
expect 0 '' 'an empty file'
text '# only a comment';    script
expect 0 '' 'a comment without an end of line'
text 'print(1)\r\nprint(2)\r\n'; script
expect 0 '^2' 'lines that end as on Windows'
text '\357\273\277print(7)\n'; script
expect 0 '^7$' 'a byte order mark'

awk 'BEGIN {printf "x = \""; for (i = 0; i < 1000000; i++) printf "0123456789"
  print "\"\nprint(len(x))"}' >"$dir/script.tly"
script;                     expect 0 '^10000000$' 'a line of 10 MB'
awk 'BEGIN {printf "x = 1"; for (i = 0; i < 100000; i++) printf " + 1"
  print "\nprint(x)"}' >"$dir/script.tly"
script;                     expect '0 1' '' 'a sum of 100,000 terms'
for pair in '( )' '[ ]' '{ }' '-( )' 'f( )' 'not( )' '[x[ ]]'; do
  set -- $pair
  awk -v a="$1" -v b="$2" 'BEGIN {printf "x = "
    for (i = 0; i < 100000; i++) printf "%s", a
    printf "1"
    for (i = 0; i < 100000; i++) printf "%s", b
    print ""}' >"$dir/script.tly"
  script
  expect 1 'error' "100,000 nested $pair"
  awk -v a="$1" 'BEGIN {printf "x = "
    for (i = 0; i < 100000; i++) printf "%s", a
    print ""}' >"$dir/script.tly"
  script
  expect 1 'error' "100,000 open $1"
done
awk 'BEGIN {for (i = 0; i < 30; i++) print "x = 2."}' >"$dir/script.tly"
script
if [ "$(grep -c 'syntax error' "$dir/out")" = 20 ]; then passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo 'FAILED: 20 syntax errors from one run'
fi
awk 'BEGIN {printf "x = "; for (i = 0; i < 70000; i++) printf "y%d + ", i
  print "1"}' >"$dir/script.tly"
script;                     expect 1 'error' 'more names than slots'
awk 'BEGIN {for (i = 0; i < 20000; i++) printf "y%d = %d\n", i, i
  print "print(y19999)"}' >"$dir/script.tly"
script;                     expect '0 1' '19999|error' '20,000 variables'
text 'x = 99999999999999999999\n'; script
expect 1 '99999999999999999999' 'a number too large'
text 'x = zeros((4294967296, 4294967296))\n'; script
expect 1 'error' 'a shape whose product overflows'

# --- Hostile files ----------------------------------------------------------

npy() {
  printf 'import io\nprint(io.read_npy("%s"))\n' "$dir/a.npy" \
    >"$dir/script.tly"
  script
}
header="{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }"
printf '\223NUMPY\001\000v\000%-117s\n12345678' "$header" >"$dir/a.npy"
npy;                        expect 1 '(io|value) error' 'a truncated .npy'
printf '\223NUMPY\001\000v\000%-117s\n1234567812345678' "$header" \
  >"$dir/a.npy"
npy;                        expect 0 '^\[' 'a whole .npy'
printf '\223NUMPY\001\000\377\377' >"$dir/a.npy"
npy;                        expect 1 '(io|value) error' 'a .npy without header'
header="{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }"
printf '\223NUMPY\001\000v\000%-117s\n12345678' "$header" >"$dir/a.npy"
npy;                        expect 1 '(io|value) error' 'a negative shape'
header="{'descr': '<f8', 'fortran_order': False,
 'shape': (4611686018427387904, 4611686018427387904), }"
printf '\223NUMPY\001\000v\000%-117s\n12345678' "$header" >"$dir/a.npy"
npy;                        expect 1 '(io|value|memory|shape) error' \
  'a shape beyond memory'
header="{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
printf '\223NUMPY\001\000v\000%-117s\n12345678' "$header" >"$dir/a.npy"
npy;                        expect 1 '(io|value|type) error' 'objects in a .npy'
printf '' >"$dir/a.npy"
npy;                        expect 1 '(io|value) error' 'an empty .npy'

csv() {
  printf 'import io\nprint(io.read_csv("%s"))\n' "$dir/a.csv" \
    >"$dir/script.tly"
  script
}
printf 'a,b\n1,2\n3\n' >"$dir/a.csv"
csv;                        expect 1 'error.*3' 'a row with too few columns'
printf 'a,b\n1,2\n3,4,5\n' >"$dir/a.csv"
csv;                        expect 1 'error.*3' 'a row with too many columns'
printf 'a,b\n"1,2\n3,4\n' >"$dir/a.csv"
csv;                        expect 1 'error' 'an open quote'
printf '' >"$dir/a.csv"
csv;                        expect '0 1' '' 'an empty CSV'

# --- Output that cannot be written ------------------------------------------

text 'for i in 0..1000000 { print(i) }\n'
$limit "$tally" "$dir/script.tly" 2>"$dir/out" | head -n 1 >/dev/null
status=0;                   expect 0 '' 'a closed pipe'
absent . 'a closed pipe ends quietly'
if [ -c /dev/full ]; then
  $limit "$tally" -e 'print(1)' >/dev/full 2>"$dir/out"
  status=$?;                expect 1 'cannot write' 'a full device'
fi

# --- Mapped files -----------------------------------------------------------

# A file of holes, far larger than the memory that the script may have.
{
  printf '\223NUMPY\001\000\166\000'
  printf '%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': (67108864,), }"
} >"$dir/holes.npy"
dd if=/dev/zero of="$dir/holes.npy" bs=1 count=1 seek=536871039 conv=notrunc \
  2>/dev/null
text 'import io\nm = io.map_npy("'"$dir"'/holes.npy")\nprint(m.size, sum(m) + 1.0, max(m[5:]))\n'
run --limit-memory 64M "$dir/script.tly"
expect 0 '67108864 1.0 0.0' 'a mapped file larger than the memory limit'
text 'import io\nm = io.map_npy("'"$dir"'/holes.npy", mode: "c")\nprint(m[0])\n'
run --limit-memory 64M "$dir/script.tly"
expect 1 'memory error' 'pages of its own count'

# --- Interrupt --------------------------------------------------------------

text 'i = 0\nwhile true { i += 1 }\n'
"$tally" "$dir/script.tly" >"$dir/out" 2>&1 &
child=$!
sleep 0.5
kill -INT "$child" 2>/dev/null
wait "$child"
status=$?
# A shell without job control starts children that ignore the interrupt,
# unless the program installs a handler of its own.
expect 130 '' 'an interrupt ends a script'

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
