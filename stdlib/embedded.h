// The library's modules that are written in Tally, built into the program.
//
// A module may be written in both languages: then its name has rows in
// tl_library too, and the text is run in the same module, where it finds those
// functions after `import` of its own name.
//
// The documented functions of stdlib/global/*.tly are there without an import:
// the compiler imports their module, "global/…", where one is named.
#ifndef TALLY_STDLIB_EMBEDDED_H
#define TALLY_STDLIB_EMBEDDED_H

#include <stdbool.h>
#include <stddef.h>

// A function with `##` documentation: what of the module is public.
struct tl_embedded_function {
  const char *name, *params;  // as in tl_builtin
  const char *doc;
};

struct tl_embedded {
  const char *name;  // as in `import name`
  const unsigned char *packed;
  size_t nbytes;                                 // of the text, UTF-8
  const struct tl_embedded_function *functions;  // ended by name NULL
  bool is_global;                                // they need no import
};

// Ended by an entry whose name is NULL. Written by tools/embed.
extern const struct tl_embedded tl_embedded_modules[];

// What a byte of packed texts stands for: two such bytes, or, where these are
// 0, itself.
extern const unsigned char tl_embedded_pairs[256][2];

// Writes nbytes to [text].
void tl_embedded_unpack(const struct tl_embedded *module, char *text);

// The module of that name, or NULL; its public function, or NULL.
const struct tl_embedded *tl_embedded_find(const char *module);
const struct tl_embedded_function *tl_embedded_member(const char *module,
                                                      const char *name);
// The module with the global function of that name, or NULL.
const struct tl_embedded *tl_embedded_global(const char *name);

#endif
