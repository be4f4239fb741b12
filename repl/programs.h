// What the command has in it of other languages, as strings; the Makefile makes
// C of the files of these names.
#ifndef TALLY_REPL_PROGRAMS_H
#define TALLY_REPL_PROGRAMS_H

// What --help prints.
extern const char tl_help[];
// The style, the script and the program of the reference.
extern const char tl_doc_css[], tl_doc_js[], tl_doc[];
// The programs of tally bind, fmt --diff, lsp and test.
extern const char tl_bind_read[], tl_bind_glue[], tl_format[], tl_lsp[],
    tl_test[];

#endif
