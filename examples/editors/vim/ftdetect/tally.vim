autocmd BufRead,BufNewFile *.tly setfiletype tally
