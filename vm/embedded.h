// The library's modules that are written in Tally, built into the program.
//
// A module may be written in both languages: then its name has rows in
// tl_library too, and the text is run in the same module, where it finds those
// functions after `import` of its own name.
//
// The documented functions of stdlib/global/*.tly are there without an import:
// the compiler imports their module, "global/…", where one is named.
#ifndef TALLY_VM_EMBEDDED_H
#define TALLY_VM_EMBEDDED_H

#include <stdbool.h>
#include <stddef.h>

#include "vm/builtin.h"

// A function with `##` documentation: what of the module is public.
struct tl_embedded_function {
  const char *name, *params;  // as in tl_builtin
};

struct tl_embedded {
  const char *name;                              // as in `import name`
  const unsigned char *packed;                   // its text
  size_t nbytes;                                 // of that unpacked, UTF-8
  const struct tl_embedded_function *functions;  // ended by name NULL
  bool is_global;                                // they need no import
};

// Ended by an entry whose name is NULL. Written by tools/embed.
extern const struct tl_embedded tl_embedded_modules[];

// What their functions' documentation says, in order, then what the rows in C
// say, table by table; each text ended by a 0.
extern const unsigned char tl_packed_docs[];
extern const size_t tl_docs_nbytes;

// How many of those texts come before the table's. Ended by rows NULL.
struct tl_embedded_table {
  const tl_builtin *rows;
  size_t docs_before;
};
extern const struct tl_embedded_table tl_embedded_tables[];

// Writes all bytes of what is packed to [to] (inflate.c).
void tl_inflate(const unsigned char *packed, char *to);

// The module of that name, or NULL; its public function, or NULL.
const struct tl_embedded *tl_embedded_find(const char *module);
const struct tl_embedded_function *tl_embedded_member(const char *module,
                                                      const char *name);
// The module with the global function of that name, or NULL.
const struct tl_embedded *tl_embedded_global(const char *name);

#endif
