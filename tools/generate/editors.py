#!/usr/bin/env python3
"""Writes what editors know of Tally's words, from the tables of the compiler and
from what `tally doc` lists: `tools/generate/editors.py TALLY` makes
vim/syntax/tally.vim and vscode/syntaxes/tally.tmLanguage.json below the working
directory; those in the tree are below examples/editors.
"""
import json
import pathlib
import re
import subprocess
import sys
import textwrap

root = pathlib.Path(__file__).resolve().parents[2]


def table(path, macro):
    """The rows of an X macro in a header, each a list of its arguments."""
    text = (root / path).read_text()
    body = re.search(rf"#define {macro}\(X\)((?:.*\\\n)*.*)", text)[1]
    return [re.split(r",\s*", row) for row in re.findall(r"X\(([^)]*)\)", body)]


def words(macro):
    return [row[1].strip('"') for row in table("compiler/lexer.h", macro)]


def documented(tally):
    """The names of the library: functions, constants, modules."""
    page = subprocess.run([tally, "doc", "--man"], check=True, text=True,
                          capture_output=True).stdout
    found = re.findall(r"^\.TP\n\\fB([^\\]*)\\fP(\(?)", page, re.M)
    names = {name: bool(called) for name, called in found}
    own = [n for n in names if "." not in n and n.isascii()]
    return (sorted(n for n in own if names[n]),
            sorted(n for n in own if not names[n]),
            sorted({n.split(".")[0] for n in names if "." in n}))


constants = ["true", "false", "none"]
keywords = [w for w in words("TL_TOKEN_KEYWORDS") if w not in constants]
operators = words("TL_TOKEN_WORD_OPERATORS")
dtypes = [row[1] for row in table("vm/dtype.h", "TL_DTYPES")]
functions, values, modules = documented(sys.argv[1])
functions = [f for f in functions if f not in dtypes]
signs = "√²³×÷−·≤≥≠∧∨¬⊻∈∉→∘"

VIM = r'''" Vim syntax file: Tally. Made by tools/generate/editors.py.
if exists('b:current_syntax')
  finish
endif

@words@
" by is a word of the language behind a range alone, ahead of an operand.
syn match tallyKeyword "\<by\ze\s\+[-[:alnum:]_(√]"

syn match tallyNumber "\<0x\x\+\>"
syn match tallyNumber
      \ "\<\d\%(_\?\d\)*\%(\.\d\%(_\?\d\)*\)\?\%([eE][-+]\?\d\+\)\?i\?\>"
syn match tallyOperator "[-+*/%@&|^<>=~@signs@]"
" The name of a field is no function of the library; .. is a range.
syn match tallyField "\.\K\k*"
syn match tallyOperator "\.\.\.\?"
syn match tallyDefinition "\%(\<fn\s\+\)\@<=\K\k*"

" In a hole # belongs to a format: it may hold all but comments.
syn region tallyHole contained matchgroup=tallyBrace start="{" end="}"
      \ contains=TOP,tallyComment,tallyDoc,tallyPragma
syn match tallyEscape contained "\\[ntr0\\"]\|\\x\x\x\|\\u{\x\+}\|{{\|}}"
syn region tallyString oneline start=+"+ end=+"+
      \ contains=tallyEscape,tallyHole
syn region tallyString start=+"""+ end=+"""+ contains=tallyEscape,tallyHole
syn region tallyString oneline start=+\<r"+ end=+"+
syn region tallyString start=+\<r"""+ end=+"""+
syn region tallyType oneline start=+`+ end=+`+

syn match tallyComment "#.*" contains=tallyTodo,@Spell
syn match tallyDoc "^\s*##\%($\|[^#].*\)" contains=@Spell
syn match tallyPragma "#:.*"
syn keyword tallyTodo contained TODO FIXME XXX

hi def link tallyKeyword Keyword
hi def link tallyWordOperator Operator
hi def link tallyConstant Constant
hi def link tallyType Type
hi def link tallyFunction Function
hi def link tallyModule Include
hi def link tallyNumber Number
hi def link tallyOperator Operator
hi def link tallyDefinition Function
hi def link tallyString String
hi def link tallyEscape SpecialChar
hi def link tallyBrace Delimiter
hi def link tallyComment Comment
hi def link tallyDoc SpecialComment
hi def link tallyPragma PreProc
hi def link tallyTodo Todo

let b:current_syntax = 'tally'
'''


def vim():
    groups = [("Keyword", keywords), ("WordOperator", operators),
              ("Constant", constants + values), ("Type", dtypes),
              ("Module", modules), ("Function", functions)]
    lines = []
    for group, names in groups:
        for line in textwrap.wrap(" ".join(names), 52):
            lines.append(f"syn keyword tally{group} {line}")
    text = VIM.replace("@words@", "\n".join(lines)).replace("@signs@", signs)
    return text


def any_of(names):
    """A word of these that is no field's name; a range's end may be one."""
    return r"(?:(?<![\w.])|(?<=\.\.))(?:" + "|".join(names) + r")(?!\w)"


def rule(match, name):
    return {"match": match, "name": name + ".tally"}


def region(begin, end, name, patterns=()):
    return {"begin": begin, "end": end, "name": name + ".tally",
            "patterns": [{"include": "#" + p} for p in patterns]}


def textmate():
    within = ["escape", "hole"]
    double = "string.quoted.double"
    triple = "string.quoted.triple"
    parts = {
        "pragma": rule(r"#:.*$", "keyword.control.directive"),
        "doc": rule(r"^\s*##(?!#).*$", "comment.block.documentation"),
        "comment": rule(r"#.*$", "comment.line.number-sign"),
        "raw_triple": region(r'(?<!\w)r"""', '"""', triple + ".raw"),
        "raw": region(r'(?<!\w)r"', r'"|$', double + ".raw"),
        "triple": region('"""', '"""', triple, within),
        "string": region('"', r'"|$', double, within),
        "type": rule(r"`[^`]*`", "storage.type"),
        "definition": {
            "match": r"(?<!\w)(fn)\s+([^\W\d]\w*)",
            "captures": {"1": {"name": "keyword.control.tally"},
                         "2": {"name": "entity.name.function.tally"}}},
        "number": rule(
            r"(?<!\w)(?:0x[0-9A-Fa-f]+|\d(?:_?\d)*(?:\.\d(?:_?\d)*)?"
            r"(?:[eE][-+]?\d+)?i?)(?!\w)", "constant.numeric"),
        "keyword": rule(any_of(keywords), "keyword.control"),
        "step": rule(r"(?<![\w.])by(?=\s+[-\w(√])", "keyword.control"),
        "word_operator": rule(any_of(operators), "keyword.operator.word"),
        "constant": rule(any_of(constants + values), "constant.language"),
        "dtype": rule(any_of(dtypes), "support.type"),
        "module": rule(any_of(modules), "support.module"),
        "function": rule(any_of(functions), "support.function"),
        "operator": rule(r"\.\.|[-+*/%@&|^<>=~" + signs + "]",
                         "keyword.operator"),
    }
    order = [{"include": "#" + part} for part in parts]
    parts["escape"] = rule(
        r'\\(?:[ntr0\\"]|x[0-9A-Fa-f]{2}|u\{[0-9A-Fa-f]+\})|\{\{|\}\}',
        "constant.character.escape")
    # In a hole # belongs to a format: it may hold all but comments.
    parts["hole"] = {"begin": r"\{", "end": r"\}", "name": "meta.embedded.tally",
                     "patterns": order[3:]}
    return json.dumps({
        "name": "Tally", "scopeName": "source.tally", "fileTypes": ["tly"],
        "comment": "Made by tools/generate/editors.py.",
        "patterns": order, "repository": parts}, indent=2,
        ensure_ascii=False) + "\n"


for path, text in [("vim/syntax/tally.vim", vim()),
                   ("vscode/syntaxes/tally.tmLanguage.json", textmate())]:
    to = pathlib.Path(path)
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text(text)
