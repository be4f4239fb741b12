#!/bin/sh
# Tests of the language server: tests/lsp.sh TALLY. Messages of the protocol and
# broken ones through a pipe, and a session with a real editor where there is
# Neovim. The last line is `N passed, N failed`.
set -u
LC_ALL=C
export LC_ALL
tally=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
passed=0
failed=0
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT

# message JSON: one message as a client sends it.
message() { printf 'Content-Length: %d\r\n\r\n%s' "${#1}" "$1"; }
# Runs the server on the file in; its output, a message a line, is in out.
serve() {
  "$tally" lsp <"$dir/in" >"$dir/raw" 2>"$dir/err"
  status=$?
  tr -d '\r' <"$dir/raw" | sed 's/Content-Length: [0-9]*$/\n/' | grep . >"$dir/out"
}
# expect STATUS PATTERN WHAT
expect() {
  if [ "$status" = "$1" ] && grep -q -- "$2" "$dir/out" "$dir/err"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $3 (status $status)"
    cat "$dir/out" "$dir/err"
  fi
}
absent() {
  if grep -q -- "$1" "$dir/out"; then
    failed=$((failed + 1))
    echo "FAILED: $2"
  else passed=$((passed + 1))
  fi
}
begin='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}'
shut='{"jsonrpc":"2.0","id":9,"method":"shutdown"}'
leave='{"jsonrpc":"2.0","method":"exit"}'
open() {
  message '{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///a.tly","languageId":"tally","version":1,"text":"'"$1"'"}}}'
}
# ask METHOD LINE CHARACTER
ask() {
  message '{"jsonrpc":"2.0","id":"q","method":"textDocument/'"$1"'","params":{"textDocument":{"uri":"file:///a.tly"},"position":{"line":'"$2"',"character":'"$3"'}}}'
}

{ message "$begin"; message "$shut"; message "$leave"; } >"$dir/in"
serve
expect 0 '"id":1,"result":{"capabilities":{"textDocumentSync":1' 'initialize'
expect 0 '"id":9,"result":null' 'shutdown'
{ message "$begin"; message "$leave"; } >"$dir/in"
serve; expect 1 capabilities 'exit without shutdown is a failure'

{ message "$begin"; open 'x = nope\nfn f(a) {\n  b = 1\n  a\n}\n'
  message '{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///a.tly","version":2},"contentChanges":[{"text":"fn f(a) {\n  b = 1\n  a\n}\nprint(f(2))\n"}]}}'
  message "$shut"; message "$leave"; } >"$dir/in"
serve
expect 0 '"start":{"line":0,"character":4},"end":{"line":0,"character":8}},"severity":1,"source":"tally","message":"nope is not defined"' 'an error is told with its place'
expect 0 '"line":1,"character":2},"end":{"line":1,"character":3}},"severity":2,"source":"tally","message":"b is never read"' 'a change is told with its warnings'
absent '^2$' 'nothing is run'

{ open 'import io ; io.write_text(\"'"$dir"'/made\", \"x\")\nimport json ; print(\"RAN\")\nimport json as e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301;print(\"RAN\")\nimport linalg as la ; 1\nla.no\n'
  message "$shut"; message "$leave"; } >"$dir/in"
serve
expect 0 'the module linalg has no no' 'a module is imported by another name'
absent RAN 'nothing behind an import is run'
if [ -e "$dir/made" ]; then
  failed=$((failed + 1))
  echo 'FAILED: a document that is opened writes a file'
else passed=$((passed + 1))
fi
{ open 'x = nope\n'
  message '{"jsonrpc":"2.0","method":"textDocument/didClose","params":{"textDocument":{"uri":"file:///a.tly"}}}'
  message "$shut"; message "$leave"; } >"$dir/in"
serve
expect 0 '"diagnostics":\[\]' 'a document that is closed has no errors'
long=$(awk 'BEGIN { for (i = 0; i < 300; i++) printf "é" }')
{ open "fn f(x, $long) = x\nf(1, 2)\n"; ask hover 1 0; ask signatureHelp 1 2
  message "$shut"; message "$leave"; } >"$dir/in"
serve
if iconv -f UTF-8 -t UTF-8 <"$dir/raw" >/dev/null; then passed=$((passed + 1))
else
  failed=$((failed + 1))
  echo 'FAILED: a long signature is cut between characters'
fi

{ open 'β = \"😀\" + nope\n'; message "$shut"; message "$leave"; } >"$dir/in"
serve
expect 0 '"start":{"line":0,"character":11}' 'characters are UTF-16 units'

{ open 'import linalg\nzz = linalg.slo\nzzz = sum(zz, ke)\n'
  ask completion 1 15; ask completion 2 16; ask completion 2 1
  ask hover 2 7; ask hover 0 0; ask hover 99 99
  message "$shut"; message "$leave"; } >"$dir/in"
serve
expect 0 '\[{"label":"slogdet"}\]' 'members of a module are completed'
expect 0 '"label":"keepdims:"' 'parameters are completed'
expect 0 '{"label":"zz"}' 'names of the document are completed'
expect 0 'sum(x, axis: none, keepdims: false' 'hover shows signature and text'
expect 0 '"id":"q","result":null' 'hover of nothing'

# Names: what is renamed is the variable, not what is spelled alike.
# rename LINE CHARACTER NAME, of a.tly
rename() {
  message '{"jsonrpc":"2.0","id":"r","method":"textDocument/rename","params":{"textDocument":{"uri":"file:///a.tly"},"position":{"line":'"$1"',"character":'"$2"'},"newName":"'"$3"'"}}'
}
# edits: the places of the edits that are answered, a word each.
edits() {
  grep -o '"start":{"line":[0-9]*,"character":[0-9]*},"end"' "$dir/out" |
    tr -dc '0-9,\n' | sed 's/,\(.*\),/:\1/' | tr '\n' ' ' >"$dir/edits"
  grep '"changes"' "$dir/out" >/dev/null && cat "$dir/edits" >>"$dir/out"
}
{ open 'n = 1\nr = (n: n)\nfn f(n, k = n) {\n  g = () => n + k\n  g() + r.n\n}\ny = f(n: n) + sum((n for n in 1..n))\nprint(\"{n} n {y}\") # n\n'
  rename 0 0 m; message "$shut"; message "$leave"; } >"$dir/in"
serve; edits
expect 0 '^0:0 1:8 6:9 6:33 7:8 $' 'a variable of the module is renamed, no field, no parameter, no text'
{ cat "$dir/in" | head -c 0
  open 'n = 1\nr = (n: n)\nfn f(n, k = n) {\n  g = () => n + k\n  g() + r.n\n}\ny = f(n: n) + sum((n for n in 1..n))\n'
  rename 3 12 m; message "$shut"; message "$leave"; } >"$dir/in"
serve; edits
expect 0 '^2:5 2:12 3:12 6:6 $' 'a parameter is renamed where it is captured and where it is given by name'
{ open 'n = 1\nfn f(k) = n + k\nx = sum(n)\nfn g() {\n  global n\n  n += 1\n}\n'
  rename 0 0 k; rename 0 0 sum; rename 0 0 '2 ='; rename 0 0 for
  rename 2 4 total; message "$shut"; message "$leave"; } >"$dir/in"
serve
absent changes 'a name that is taken, or no name, is refused'
expect 0 '"id":"r","error":{"code":-32803,"message":"with that name' 'a name that is taken is refused'
expect 0 'no variable stands there' 'a name of the library is not renamed'
{ open 'n = 1\nfn g() {\n  global n\n  n += 1\n  n\n}\n'
  rename 3 2 m; message "$shut"; message "$leave"; } >"$dir/in"
serve; edits
expect 0 '^0:0 2:9 3:2 4:2 $' 'a global is one variable'
{ open 'import \"lib/b c.tly\" as b\nimport \"./lib/b c.tly\" (area)\nx = b.area(1) + area(2)\ny = b.other\narea2 = (area: 1)\n'
  message '{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///lib/b%20c.tly","languageId":"tally","version":1,"text":"fn area(r) = r * 3\nprint(area(1))\n"}}}'
  rename 2 7 surface; ask definition 2 18
  message "$shut"; message "$leave"; } >"$dir/in"
serve
expect 0 '"uri":"file:///lib/b%20c.tly","range":{"start":{"line":0,"character":3}' 'a name is defined in another document'
grep '"id":"r"' "$dir/out" >"$dir/one" && mv "$dir/one" "$dir/out"; edits
expect 0 '^0:3 1:6 1:24 2:6 2:16 $' 'a name of a module is renamed in all documents'
{ open 'import \"m.tly\" as m\nimport \"m.tly\" (f)\nby = 3\nz = m.f(1, by: by) + f(2, by: 5) + m.g(by: 2)\n'
  message '{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///m.tly","languageId":"tally","version":1,"text":"fn f(x, by: 2) = x * by\ny = f(1, by: 4)\nfn g(by: 1) = by\n"}}}'
  rename 3 11 q; ask definition 3 26; rename 3 11 x
  message "$shut"; message "$leave"; } >"$dir/in"
serve
expect 0 '"uri":"file:///m.tly","range":{"start":{"line":0,"character":8}' 'an argument is defined in another document'
expect 0 '"id":"r","error":{"code":-32803,"message":"with that name' 'a parameter that is there is refused'
grep '"changes"' "$dir/out" >"$dir/one" && mv "$dir/one" "$dir/out"; edits
expect 0 '^0:8 0:21 1:9 3:11 3:26 $' 'a parameter is renamed in the calls of other documents'
{ open 'fn f(x, axis: none, by: 2) = x\n'
  message '{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///a.tly","version":2},"contentChanges":[{"text":"fn f(x, axis: none, by: 2) = x\ny = f(1, by: \"a, (\", ax"}]}}'
  ask signatureHelp 1 6; ask signatureHelp 1 12; ask signatureHelp 1 23
  message "$shut"; message "$leave"; } >"$dir/in"
serve
expect 0 '"parameters":\[{"label":"x"},{"label":"axis: none"},{"label":"by: 2"}\]}\],"activeParameter":0' 'a signature has its parameters'
expect 0 '"activeParameter":2' 'a parameter that is named is the active one'
{ open 'fn f(x, by: \", \\\" (\", z: 1) = x\nf(1, z: 3)\n'; ask signatureHelp 1 7
  message "$shut"; message "$leave"; } >"$dir/in"
serve
expect 0 '"parameters":\[{"label":"x"},{"label":"by: \\", \\\\\\" (\\""},{"label":"z: 1"}\]}\],"activeParameter":2' 'a comma in a text parts no parameters'
{ open 'print(1, 2\nsum(zeros((2, 3)), ax'; ask signatureHelp 0 9; message "$shut"; message "$leave"; } >"$dir/in"
serve; expect 0 '"activeParameter":0' 'a rest parameter stays the active one'
{ open '# apple\napricot = 1\napricot = 2\nap'; ask completion 3 2; ask completion 0 0; message "$shut"; message "$leave"; } >"$dir/in"
serve; expect 0 '\[{"label":"apricot"},{"label":"append"}' 'names are completed once, words of comments never'
{ open 'import \"b.tly\" as b\nx = b.area\n'; rename 1 7 q; ask references 1 7
  message "$shut"; message "$leave"; } >"$dir/in"
serve; expect 0 'is of another file' 'a file that is not open stays as it is'
expect 0 '"id":"q","result":\[{' 'no use of a member that is defined elsewhere is its declaration'
{ open 'x = 1\nx = x + '; ask references 0 0; rename 0 0 y; ask documentHighlight 0 0
  message "$shut"; message "$leave"; } >"$dir/in"
serve; expect 0 '"id":"q","result":\[\]' 'a text that does not parse has no references'

{ message '{"jsonrpc":"2.0","id":5,"method":"nothing/such","params":{}}'
  message '{"jsonrpc":"2.0","method":"nothing/such"}'
  message '{"a":'; message '[1]'; message '3'; message '"x"'
  message '{"jsonrpc":"2.0","id":6,"method":"textDocument/hover","params":7}'
  message '{"jsonrpc":"2.0","id":7,"method":"textDocument/hover"}'
  message '{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{}}'
  message '{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":3},"contentChanges":{}}}'
  message "$shut"; message "$leave"; } >"$dir/in"
serve
expect 0 '"id":5,"error":{"code":-32601' 'an unknown request is answered'
expect 0 '"id":null,"error":{"code":-32700,"message":"json.parse' 'no JSON'
expect 0 '"error":{"code":-32600' 'JSON that is no message'
expect 0 '"id":6,"result":null' 'parameters of another kind'
expect 0 '"id":7,"result":null' 'no parameters'

printf 'Content-Length: 100\r\n\r\n{"jsonrpc"' >"$dir/in"
serve; expect 1 'the input is no message' 'a message cut in half'
printf 'GET / HTTP/1.1\r\n\r\n' >"$dir/in"
serve; expect 1 'the input is no message' 'another protocol'
printf 'Content-Length: 99999999999\r\n\r\n{}' >"$dir/in"
serve; expect 1 'the input is no message' 'a length beyond all measure'
head -c 5000 /dev/zero >"$dir/in"
serve; expect 1 'the input is no message' 'bytes that are no text'
{ open 'x = 1\n'; } >"$dir/in"
serve; expect 1 'diagnostics":\[\]' 'the input ends without exit'

# A real editor.
if command -v nvim >/dev/null 2>&1; then
  printf 'import linalg\n## Doubles x.\nfn double(x,by=2) {\n  unused = 3\n  x * by\n}\ny = double(3)\nz = linalg.slog(y)\n' >"$dir/a.tly"
  TALLY=$tally TALLY_FILE=$dir/a.tly timeout 60 nvim --headless -u NONE \
    -c 'luafile tests/lsp.lua' -c 'quitall!' >"$dir/err" 2>&1
  status=$?
  : >"$dir/out"
  expect 0 '8:12 1 the module linalg has no slog' 'the editor shows an error'
  expect 0 'hover .*double(x,by=2).*Doubles x' 'the editor shows what a name is'
  expect 0 'completion slogdet' 'the editor completes'
  expect 0 'definition 3' 'the editor goes to a definition'
  expect 0 'help double(x,by=2) active 0' 'the editor shows a signature' 
  expect 0 'references 3:12 5:6' 'the editor lists references'
  expect 0 'highlights 3:3 5:2' 'the editor marks a name'
  expect 0 'prepared 2:12 2:14' 'the editor asks what it can rename'
  expect 0 '  x \* factor' 'the editor renames'
  expect 0 'symbol double' 'the editor lists symbols'
  expect 0 'laid out fn double(x, factor = 2) {' 'the editor lays the text out'
  expect 0 '4:.* nope is not defined' 'the editor sees a change'

  # Its files for Tally: groups of syntax at places, and lines laid out again.
  cat >"$dir/b.tly" <<'END'
## Sums what x has.
fn total(x, by = 2) {
for i in 0..sum(x) by 2 {
print("a {len(x):#x} \n{{b}}", x.sum, r"\n{x}")
}
y = stack((x,
x), axis: 1)
|> sum(axis: 0)
`3 * int64`; float32(1_000.5e-3i); 0x1F; pi; true  # and not
#:inplace
}
END
  cat >"$dir/b.vim" <<'END'
filetype plugin indent on
syntax on
exe 'edit ' . $TALLY_FILE
function! At(line, text)
  let column = stridx(getline(a:line), a:text) + 1
  return a:text . '=' . synIDattr(synID(a:line, column, 1), 'name')
endfunction
echo 'groups ' . &filetype . ' ' . join([At(1, '##'), At(2, 'fn'), At(2, 'total'),
  \ At(2, 'by'), At(3, 'by'), At(3, 'in'), At(3, '0'), At(3, '..'), At(3, 'sum'), At(4, 'a '),
  \ At(4, '{len'), At(4, 'len'), At(4, '\n'), At(4, '{{'), At(4, '.sum'), At(4, '\n{x'),
  \ At(6, '='), At(9, '3'), At(9, 'float32'), At(9, '1_0'), At(9, '3i'), At(9, '0x'),
  \ At(9, 'pi'), At(9, 'true'), At(9, 'not'), At(10, '#:')]) . ' end'
normal gg=G
echo "\nindent " . join(map(range(1, line('$')), 'indent(v:val)'))
echo "\nsettings " . &shiftwidth . &expandtab . &commentstring
END
  TALLY_FILE=$dir/b.tly timeout 60 nvim --headless -u NONE \
    --cmd 'set rtp^=examples/editors/vim' -S "$dir/b.vim" -c 'quitall!' \
    >"$dir/err" 2>&1
  status=$?
  expect 0 'groups tally ##=tallyDoc fn=tallyKeyword total=tallyDefinition by= by=tallyKeyword in=tallyWordOperator 0=tallyNumber ..=tallyOperator sum=tallyFunction a =tallyString {len=tallyBrace len=tallyFunction \\n=tallyEscape {{=tallyEscape .sum=tallyField \\n{x=tallyString ==tallyOperator 3=tallyType float32=tallyType 1_0=tallyNumber 3i=tallyNumber 0x=tallyNumber pi=tallyConstant true=tallyConstant not=tallyComment #:=tallyPragma end' 'groups of syntax'
  expect 0 '^.*indent 0 0 2 4 2 2 13 4 2 2 0' 'lines are indented as tally fmt does'
  expect 0 'settings 21# %s' 'settings of the file type'
else echo 'skipped: the language server with a real editor needs nvim'
fi
# What VS Code reads is JSON, and names files that are there.
vscode=examples/editors/vscode
cat >"$dir/code.tly" <<'END'
import io
import json
extension = json.parse(io.read_text("package.json"))
parts = extension.contributes
grammar = json.parse(io.read_text(parts.grammars[0].path))
settings = json.parse(io.read_text(parts.languages[0].configuration))
io.read_text(extension.main)
included = [p.include for p in grammar.patterns]
for p in grammar.patterns { assert(has(grammar.repository, p.include[1:])) }
print(grammar.scopeName == parts.grammars[0].scopeName, settings.comments.lineComment)
END
(cd "$vscode" && "$tally" "$dir/code.tly") >"$dir/out" 2>"$dir/err"
status=$?
expect 0 '^true #$' 'the extension for VS Code'
echo "$passed passed, $failed failed"
