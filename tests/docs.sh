#!/bin/sh
# What the pages show of the command and of C is what really happens:
#
#   tests/docs.sh build/release            compares, as `make test` does
#   tests/docs.sh build/release --update   writes what comes out into the pages
#
# Each page is written anew, and must come out as it was. In ```console blocks
# `$ ` begins a command and `tally> ` an input of the prompt, which `  ...> `
# continues. A ```c block is compiled and run, its output in the ```text block
# below. A ```tally block under a line `<!-- file: NAME -->` is kept as the file
# NAME: the commands run where these files are.
# The last line is the sum, and the exit status 1 if anything failed.
set -u

build=${1:?usage: tests/docs.sh BUILD [--update]}
update=${2-}
docs=$(mktemp -d)
trap 'rm -rf "$docs"' EXIT
case $build in /*) ;; *) build=$(pwd)/$build ;; esac
PATH=$build:$PATH
# What the examples write below the temporary folder is this run's own.
mkdir "$docs/tmp"
TMPDIR=$docs/tmp
export PATH docs TMPDIR
libs=$(pkg-config --cflags --libs libutf8proc 2>/dev/null || echo -lutf8proc)
compile="${CC:-cc} ${CFLAGS-} -I. -o $docs/program $docs/program.c"
compile="$compile $build/libtally.a $libs -lm -ldl -pthread"
export compile

# Writes the page with what comes out; the number of runs goes to $docs/runs.
rewrite() {
  awk -v docs="$docs" '
    # Prints what a command prints, without the names of temporary places.
    function show(command,   line) {
      runs++
      command = "(" command ") 2>&1"
      while ((command | getline line) > 0) {
        gsub(docs "/", "", line)
        print line
      }
      close(command)
    }
    # Runs the inputs gathered for the prompt, a mark behind each.
    function show_prompt(   i, line, input, command) {
      input = docs "/input"
      command = "tally <" input " 2>&1"
      printf "" > input
      for (i = 1; i <= inputs; i++) {
        line = said[i]
        gsub(/\n  \.\.\.> ?/, "\n", line)
        printf "%s\nprint(\"@@\")\n", substr(line, 8) > input
      }
      close(input)
      runs++
      i = 1
      print said[i]
      while ((command | getline line) > 0) {
        if (line != "@@") print line
        else if (i < inputs) print said[++i]
      }
      close(command)
      inputs = 0
    }
    function keep(line) { if (file != "") print line > file }
    {
      if (mode == "") {
        if ($0 ~ /^<!-- file: .* -->$/) named = docs "/" $3
        if ($0 == "```tally" && named != "") {
          mode = "keep"; file = named; named = ""
          printf "" > file
        } else if ($0 == "```c") {
          mode = "keep"; file = docs "/program.c"; compiled = 1
          printf "" > file
        } else if ($0 == "```console") {
          mode = "console"
        } else if ($0 == "```text" && compiled) {
          mode = "result"
          print
          if (system(ENVIRON["compile"] " >&2") == 0) show(docs "/program")
          else broken = 1
          compiled = 0
          next
        }
        print
      } else if ($0 == "```") {
        if (inputs) show_prompt()
        if (file != "") close(file)
        mode = file = ""
        print
      } else if (mode == "keep") {
        keep($0)
        print
      } else if (mode == "console" && $0 ~ /^\$ /) {
        print
        command = substr($0, 3)
        show("cd " docs " && " command)
      } else if (mode == "console" && $0 ~ /^tally> /) {
        said[++inputs] = $0
      } else if (mode == "console" && $0 ~ /^  \.\.\.>/ && inputs) {
        said[inputs] = said[inputs] "\n" $0
      }
    }
    END {
      print runs + 0 > (docs "/runs")
      exit broken
    }' "$1"
}

passed=0
failed=0
for page in docs/*.md; do
  # What does not compile or is cut short is never written into a page.
  if ! rewrite "$page" >"$docs/page"; then
    echo "FAILED: $page: a program in it does not compile"
    failed=$((failed + 1))
    continue
  fi
  if cmp -s "$page" "$docs/page"; then
    passed=$((passed + $(cat "$docs/runs")))
  elif [ "$update" = --update ]; then
    cp "$docs/page" "$page"
    echo "$page is new"
  else
    diff -u "$page" "$docs/page"
    echo "FAILED: $page: something else comes out"
    failed=$((failed + 1))
  fi
done
# The reference as a page: each name once, all links lead to a place of the page,
# all text is escaped (what is left are its tags), and it needs no other file.
page=$docs/reference/index.html
tally doc | sed -n 's/^\([^# ][^ ]*\).*/\1/p' | sort >"$docs/names"
check() {
  what=$1
  shift
  if "$@"; then passed=$((passed + 1))
  else
    echo "FAILED: the reference: $what"
    failed=$((failed + 1))
  fi
}
# all PATTERN: what the page has between the quotes of PATTERN="…".
all() { sed '/^<script>/,$d' "$page" | grep -o "$1=\"[^\"]*\"" | cut -d'"' -f2; }
each_name() { all '<article id' | sort | cmp - "$docs/names"; }
links_lead() {
  all ' id' | sort | uniq -d | cmp - /dev/null &&
    all 'href' | sed 's/^#//' | sort -u >"$docs/links" &&
    all ' id' | sort >"$docs/ids" &&
    [ -s "$docs/links" ] && comm -23 "$docs/links" "$docs/ids" | cmp - /dev/null
}
escaped() {
  sed '/^<style>/,/^<\/style>/d; /^<script>/,$d' "$page" >"$docs/body"
  grep -q '&lt;' "$docs/body" && grep -q '&quot;' "$docs/body" &&
    ! sed -E 's/<(\/?(a|article|body|div|h[1-3]|head|main|nav|p|pre|span)|(article|h2) id="[^"]*"|a href="#[^"]*"|p class="also"|div id="page-(all|found)")>//g; s/<input [^>]*>//
      s/<(!DOCTYPE html|html lang="en"|meta [^>]*|\/?title)>//g' \
      "$docs/body" | grep '[<>]'
}
alone() { ! grep -E 'src=|<link|@import|https?:|url\(' "$page"; }
related() {
  grep -q 'See also <a href="#linalg.solve_triangular">' "$page" &&
    grep -q '^<pre><a href="#linalg.solve">linalg.solve</a>(' "$page"
}
check 'it is written' tally doc --html "$docs/reference"
check 'each name is there once' each_name
check 'links lead somewhere' links_lead
check 'text is escaped' escaped
check 'it needs no other file' alone
check 'functions name each other' related
# The manual has the same, and no line that man would take for a request.
manual() {
  tally doc --man >"$docs/manual" &&
    sed -n '/^\.TP/{n;s/^\\fB\([^\\]*\).*/\1/p;}' "$docs/manual" | sort |
    cmp - "$docs/names" &&
    ! grep -vE "^(\.(TH|SH|TP|sp|nf|fi|B|BR)( |\$)|[^.'])|^\$" "$docs/manual"
}
check 'the manual has each name once' manual
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
