// Programs in Tally that the command has in it, and other texts. A program has
// a VM of its own: what it defines is in nobody's way, and what it asks of the
// command or of another VM goes through modules.
#pragma once

#include <stddef.h>

#include "tally.h"

// A function that a program calls has all parameters of tally_function, whether
// it needs them or not.
#pragma GCC diagnostic ignored "-Wunused-parameter"

// What the files of these names say; the Makefile makes C of them. The style,
// the script and the program of the reference, the programs of tally bind,
// debug, fmt --diff, lsp, test, of the prompt's commands and the editor, and
// what --help prints.
extern const char tl_doc_css[], tl_doc_js[], tl_doc[], tl_bind_read[],
    tl_bind_glue[], tl_debug[], tl_format[], tl_lsp[], tl_test[], tl_commands[],
    tl_editing[], tl_help[];

// Opens a VM, defines what the program does, and returns it, owned. NULL: no
// memory, or the program is wrong, which standard error is told.
//
//   options    of the VM; NULL: one thread, no signals
//   name       of the module with [functions], at most 16, which are copied;
//              those without a context get [context]. NULL: there is none
//   about      the VM whose names the module `library` knows, borrowed; NULL:
//              the program's own
//
//     library.rows(prefix)   for each name that begins so the record (name,
//                            parameters, text, topic), in order; parameters are
//                            none for a constant
//     library.row(name)      that of one name, none where it is not documented
tally_vm *tl_program_open(const char *text, const tally_options *options,
                          void *context, const char *name,
                          const tally_native *functions, size_t count,
                          tally_vm *about);

// A native function: the tokens of a text, in their order, an int64 matrix with
// a row for each: its kind, of tally_token_kind; begin and end, in bytes; and
// the begin of the other half of a bracket, which is its own where there is
// none. Blanks are no tokens, and what is wrong is one of its own kind.
tally_function tl_program_tokens;

// The bytes of a value; "" of what is no string. Borrowed of the value.
const char *tl_program_text(tally_vm *vm, tally_value value, size_t *nbytes);

// A text of any bytes as a value, NULL as none. One that is no UTF-8 is named
// instead.
tally_status tl_program_give(tally_vm *vm, const char *text, size_t nbytes,
                             tally_value *out);

// The strings of a list of another VM, a line each, as one text; "" where that
// has no memory for it. Takes the list.
tally_status tl_program_lines(tally_vm *vm, tally_vm *from, tally_value list,
                              tally_value *out);
