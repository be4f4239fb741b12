// `tally bind`: a native module of a library's declarations.
//
//     sqlite.bind ─ bind_read.tly   declarations, or a mistake
//                 ─ bind_glue.tly   sqlite.c, against tally.h; sqlite_test.tly
//                 ─ bind.c          writes and builds them
#pragma once

// tally bind [--build] [-o FOLDER] FILE; returns the exit status.
int tl_bind_command(int argc, char **argv);
