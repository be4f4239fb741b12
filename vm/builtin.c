// What the library offers, found by name, and the parameters of its functions.
//
// Three parts: functions in C by a hash table over all families, modules in
// Tally by their texts, and the small language of parameter texts, "x, axis:
// none".
//
// Built for size.

#include "vm/builtin.h"

#include <math.h>

#include "vm/embedded.h"
#include "vm/number.h"
#include "vm/string.h"

// --- Finding ----------------------------------------------------------------

// States of the index, which threads of different VMs may fill at once.
enum { UNBUILT, BUILDING, BUILT };

// Whether both are the same module, or both NULL.
static bool same_module(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

// The place in the index where a search begins. Few modules have a name in
// common, so the module is only compared.
static size_t hash_name(const char *name, size_t nbytes) {
  return (size_t)tl_text_hash(name, nbytes) % TL_BUILTIN_INDEX;
}

// Puts all rows into the index; a place that is taken moves on to the next.
static void fill(const tl_library *library, tl_builtin_index *index) {
  for (const tl_family *family = library->families; family->rows; family++)
    for (const tl_builtin *row = family->rows; row->name; row++) {
      size_t at = hash_name(row->name, strlen(row->name));
      while (index->entries[at].row) at = (at + 1) % TL_BUILTIN_INDEX;
      index->entries[at].module = family->module;
      index->entries[at].row = row;
    }
}

// Finds a function without the index.
static const tl_builtin *search_rows(const tl_library *library,
                                     const char *module, const char *name,
                                     size_t nbytes) {
  for (const tl_family *family = library->families; family->rows; family++) {
    if (!same_module(family->module, module))
      continue;
    for (const tl_builtin *row = family->rows; row->name; row++)
      if (tl_text_is(row->name, name, nbytes))
        return row;
  }
  return NULL;
}

// The first VM that asks fills the index; others that ask meanwhile search
// without it.
const tl_builtin *tl_builtin_find(const tl_library *library, const char *module,
                                  const char *name, size_t nbytes) {
  tl_builtin_index *index = library->index;
  int state = atomic_load_explicit(&index->state, memory_order_acquire);
  if (state == UNBUILT &&
      atomic_compare_exchange_strong(&index->state, &state, BUILDING)) {
    fill(library, index);
    atomic_store_explicit(&index->state, BUILT, memory_order_release);
    state = BUILT;
  }
  if (state != BUILT)
    return search_rows(library, module, name, nbytes);
  size_t at = hash_name(name, nbytes);
  for (; index->entries[at].row; at = (at + 1) % TL_BUILTIN_INDEX)
    if (same_module(index->entries[at].module, module) &&
        tl_text_is(index->entries[at].row->name, name, nbytes))
      return index->entries[at].row;
  return NULL;
}

// Linear, as it is only asked for messages.
const char *tl_builtin_module(const tl_library *library,
                              const tl_builtin *builtin) {
  for (const tl_family *family = library->families; family->rows; family++)
    for (const tl_builtin *row = family->rows; row->name; row++)
      if (row == builtin)
        return family->module;
  return NULL;
}

// --- Modules in Tally -------------------------------------------------------

// "global/f" is found by the function's name, since a file of global functions
// is many modules; all others by the name of the module, "inner/arrays/f" too.
const struct tl_embedded *tl_embedded_find(const tl_library *library,
                                           const char *module) {
  const size_t prefix = strlen(TL_GLOBAL_MODULE);
  if (strncmp(module, TL_GLOBAL_MODULE, prefix) == 0)
    return tl_embedded_global(library, module + prefix);
  for (const struct tl_embedded *e = library->embedded->modules; e->name; e++) {
    const size_t length = strlen(e->name);
    if (strncmp(e->name, module, length) == 0 &&
        (module[length] == 0 || (e->parts && module[length] == '/')))
      return e;
  }
  return NULL;
}

// The function of that name among those from [f] on; NULL.
static const struct tl_embedded_function *named(
    const struct tl_embedded_function *f, const char *name) {
  for (; f && f->name; f++)
    if (strcmp(f->name, name) == 0)
      return f;
  return NULL;
}

// The public function of that name in a module's text; NULL.
static const struct tl_embedded_function *member_of(const struct tl_embedded *e,
                                                    const char *name) {
  return named(e ? e->functions : NULL, name);
}

const unsigned short *tl_embedded_lines(const tl_library *library,
                                        const char *module) {
  const struct tl_embedded *e = tl_embedded_find(library, module);
  const char *slash = strrchr(module, '/');
  const struct tl_embedded_function *f =
      e && slash ? named(e->is_global ? e->functions : e->parts, slash + 1)
                 : NULL;
  return f ? f->lines : NULL;
}

// NULL as well where there is no such module.
const struct tl_embedded_function *tl_embedded_member(const tl_library *library,
                                                      const char *module,
                                                      const char *name) {
  return member_of(tl_embedded_find(library, module), name);
}

const struct tl_embedded *tl_embedded_global(const tl_library *library,
                                             const char *name) {
  for (const struct tl_embedded *e = library->embedded->modules; e->name; e++)
    if (e->is_global && member_of(e, name))
      return e;
  return NULL;
}

// --- Signatures -------------------------------------------------------------

static const char *skip_blanks(const char *at) {
  while (*at == ' ') at++;
  return at;
}

// The end of the word that begins here.
static const char *skip_word(const char *at) {
  while (*at && !strchr(" ,:=\"", *at)) at++;
  return at;
}

// A default's value: none, a bool, a number. For anything else (a string, a
// name, a list) it is none, and the function's documentation says what none
// stands for. *at moves behind it.
static tl_slot parse_default(const char **at) {
  const char *start = *at;
  if (*start == '"' || *start == '(') {
    const char *end = strchr(start + 1, *start == '(' ? ')' : '"');
    *at = end ? end + 1 : start + strlen(start);
    return tl_none();
  }
  const char *end = skip_word(start);
  size_t nbytes = (size_t)(end - start);
  *at = end;
  if (nbytes == 4 && memcmp(start, "true", 4) == 0)
    return tl_bool(true);
  if (nbytes == 5 && memcmp(start, "false", 5) == 0)
    return tl_bool(false);
  if (nbytes == 3 && memcmp(start, "inf", 3) == 0)
    return tl_weak_float((double)INFINITY);
  tl_number number;
  if (tl_number_scan(start, end, &number) != end ||
      number.kind == TL_NUMBER_NONE)
    return tl_none();
  return number.kind == TL_NUMBER_INT ? tl_weak_int(number.i)
                                      : tl_weak_float(number.f);
}

// Names point into [params], which has to live as long as [out]. Parsing stops
// at the first thing that is no parameter, and at TL_MAX_PARAMS.
int tl_params_parse(const char *params, tl_param out[TL_MAX_PARAMS]) {
  int count = 0;
  const char *at = skip_blanks(params == NULL ? "" : params);
  while (*at && count < TL_MAX_PARAMS) {
    tl_param param = {.kind = TL_PARAM_REQUIRED, .value = tl_none()};
    // ...rest takes all further arguments by position.
    if (strncmp(at, "...", 3) == 0) {
      param.kind = TL_PARAM_REST;
      at += 3;
    }
    param.name = at;
    at = skip_word(at);
    param.name_length = (uint32_t)(at - param.name);
    at = skip_blanks(at);
    if (*at == ':' || *at == '=') {
      // A colon makes a parameter by name only, an equals sign one that also
      // goes by position.
      param.kind = *at == ':' ? TL_PARAM_NAMED : TL_PARAM_OPTIONAL;
      at = skip_blanks(at + 1);
      param.value = parse_default(&at);
      at = skip_blanks(at);
    }
    out[count++] = param;
    if (*at == ',')
      at = skip_blanks(at + 1);
    else
      break;
  }
  return count;
}

// Appends " (x, y)", the names of one kind; nothing where there are none.
static void put_names(tl_text *out, const tl_param *params, int count,
                      bool by_name) {
  const char *before = " (";
  for (int i = 0; i < count; i++) {
    const tl_param *p = &params[i];
    if ((p->kind == TL_PARAM_NAMED) != by_name || p->kind == TL_PARAM_REST)
      continue;
    tl_text_puts(out, before);
    tl_text_add(out, p->name, p->name_length);
    before = ", ";
  }
  if (before[0] == ',')
    tl_text_putc(out, ')');
}

// Counts both kinds first: the sentence begins with how many there are.
void tl_params_spell(const tl_param *params, int count,
                     char out[TL_PARAMS_TEXT]) {
  int positions = 0, named = 0;
  for (int i = 0; i < count; i++) {
    positions += params[i].kind < TL_PARAM_REST;
    named += params[i].kind == TL_PARAM_NAMED;
  }
  tl_text text;
  tl_text_within(&text, out, TL_PARAMS_TEXT);
  tl_text_printf(&text, "%d argument%s by position", positions,
                 positions == 1 ? "" : "s");
  put_names(&text, params, count, false);
  if (named > 0) {
    tl_text_puts(&text, positions == 0 ? ", all by name" : ", others by name");
    put_names(&text, params, count, true);
  }
  out[text.length] = 0;
}
