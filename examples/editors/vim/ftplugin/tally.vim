" Vim filetype plugin: Tally, laid out as `tally fmt` does.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

setlocal expandtab shiftwidth=2 softtabstop=2
setlocal commentstring=#\ %s comments=:##,:#
setlocal formatprg=tally\ fmt\ -
let b:undo_ftplugin = 'setlocal expandtab< shiftwidth< softtabstop<'
      \ . ' commentstring< comments< formatprg<'

" In Neovim from 0.8 on the language server brings errors, completion, help and renaming.
if has('nvim-0.8') && executable('tally')
  lua vim.lsp.start({name = 'tally', cmd = {'tally', 'lsp'}})
endif
