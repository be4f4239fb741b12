// The library's modules that are written in Tally, built into the program.
//
// A module may be written in both languages: then its name has rows in the
// library too, and the text is run in the same module, where it finds those
// functions after `import` of its own name.
//
//     stdlib/stats.tly      import stats        a module with many functions
//     stdlib/global/*.tly   no import           each function is a module
//     stdlib/inner/*.tly    not for scripts     called from C
//                                               (tl_call_embedded)
//
// A global function is a module of its own, "global/" and its name, which the
// compiler imports where the function is named: with the undocumented
// definitions of its file that it leads to, and no others, so that a script
// compiles what it calls. So is each documented function of a module,
// "stats/median", with all that it leads to: `import stats` compiles nothing,
// and tl_module_get makes that module where a script first names the function.
// So is a function that C calls, "inner/FILE/" and its name, or "plot/" and its
// name, unless others of its file lead to it: then it is one of all of them.
#pragma once

#include "vm/builtin.h"

// A function with `##` documentation: what of the module is public.
struct tl_embedded_function {
  const char *name, *params;  // as in tl_builtin
  // Of a function that is a module the lines of its file that it needs, counted
  // from 1: first and last ones in turn, in order, ended by 0. NULL: all.
  const unsigned short *lines;
};

// One module's text and what it offers.
struct tl_embedded {
  const char *name;                              // as in `import name`
  const unsigned char *packed;                   // its text
  size_t nbytes;                                 // of that unpacked, UTF-8
  const struct tl_embedded_function *functions;  // ended by name NULL
  // Functions that are modules of their own, ended likewise; or NULL: all are.
  const struct tl_embedded_function *parts;
  bool is_global;  // they need no import
};

// How many texts of documentation come before those of a table. A list of these
// ends with rows NULL.
struct tl_embedded_table {
  const tl_builtin *rows;
  size_t docs_before;
};

// All modules, as tools/embed writes them into a C file.
typedef struct tl_embedded_library {
  const struct tl_embedded *modules;  // ended by an entry whose name is NULL
  // What their functions' documentation says, in order, then what the rows in
  // C say, table by table; each text ended by a 0.
  const unsigned char *packed_docs;
  size_t docs_nbytes;  // unpacked
  const struct tl_embedded_table *tables;
  // Writes all bytes of what is packed to [to].
  void (*unpack)(const unsigned char *packed, char *to);
} tl_embedded_library;

extern const tl_embedded_library tl_embedded;

// The prefix of the module of a global function: this, and the function's name.
#define TL_GLOBAL_MODULE "global/"

// The text that the module of that name is made of; NULL: the library has no
// such module in Tally.
const struct tl_embedded *tl_embedded_find(const tl_library *library,
                                           const char *module);
// The lines of its file that a module has: of one that is a function alone.
// NULL: all. Borrowed, for good.
const unsigned short *tl_embedded_lines(const tl_library *library,
                                        const char *module);
// A public function of that module; NULL. Borrowed, for good.
const struct tl_embedded_function *tl_embedded_member(const tl_library *library,
                                                      const char *module,
                                                      const char *name);
// The text with the global function of that name; NULL.
const struct tl_embedded *tl_embedded_global(const tl_library *library,
                                             const char *name);
