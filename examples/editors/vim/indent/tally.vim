" Vim indent file: Tally, as `tally fmt` lays it out.
if exists('b:did_indent')
  finish
endif
let b:did_indent = 1

setlocal indentexpr=TallyIndent(v:lnum) indentkeys=0},0),0],o,O,!^F,0\|
let b:undo_indent = 'setlocal indentexpr< indentkeys<'

" The line without its comment, strings as x of the same length.
function! s:Code(number) abort
  let line = substitute(getline(a:number), '\v"(\\.|[^"\\])*"',
        \ '\=repeat("x", strchars(submatch(0)))', 'g')
  return substitute(line, '\s*#.*', '', '')
endfunction

" The line and the place in it of the bracket that is open where the line
" begins; [0, 0]: none is, within 500 lines.
function! s:Opening(number) abort
  let depth = 0
  for above in range(a:number - 1, max([1, a:number - 500]), -1)
    let signs = split(s:Code(above), '\zs')
    for at in range(len(signs) - 1, 0, -1)
      if signs[at] =~# '[])}]'
        let depth += 1
      elseif signs[at] =~# '[[({]'
        let depth -= 1
        if depth < 0
          return [above, at]
        endif
      endif
    endfor
  endfor
  return [0, 0]
endfunction

" Whether a line goes on with what the one above says.
function! s:GoesOn(number) abort
  return s:Code(a:number) =~# '^\s*|>' || s:Code(prevnonblank(a:number - 1))
        \ =~# '\v([-+*/%@&|^=×÷−·∘]|\=\>|→|<and|<or|<not)$'
endfunction

function! TallyIndent(number) abort
  let [above, at] = s:Opening(a:number)
  let code = above ? s:Code(above) : ''
  if above && s:Code(a:number) =~# '^\s*[])}]'
    return indent(above)
  elseif above && strchars(code) > at + 1 && strcharpart(code, at, 1) != '{'
    " What follows an opening bracket is a column for the lines below.
    return strdisplaywidth(strcharpart(code, 0, at + 1))
  endif
  let indent = above ? indent(above) + shiftwidth() : 0
  return indent + (s:GoesOn(a:number) ? shiftwidth() : 0)
endfunction
