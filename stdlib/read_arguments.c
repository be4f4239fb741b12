// Reading arguments by the types that the row of a function says.
//
//     {"replace", "s, old, new, count: none", replace, .types = "sssN"}
//
// The VM calls tl_read_arguments before such a function, which then finds in
// its slots what the letters say (vm/builtin.h). Arguments are read in order,
// so that of two that are wrong the first is named.

#include <stdio.h>
#include <string.h>

#include "stdlib/arguments.h"
#include "stdlib/ragged.h"

// What most calls have for a letter: a value of that class and kind, or where
// it has the class too an array or a list.
enum { USUAL_ITEMS = TL_CLASS_ARRAY | TL_CLASS_LIST };
static const uint16_t usual_tags[32] = {
    ['s' & 31] = TL_TAG_STRING,  ['b' & 31] = TL_TAG_BOOL,
    ['i' & 31] = TL_TAG_I64,     ['f' & 31] = TL_TAG_F64,
    ['a' & 31] = TL_CLASS_ARRAY, ['t' & 31] = TL_CLASS_ARRAY,
    ['x' & 31] = TL_CLASS_ARRAY, ['m' & 31] = TL_CLASS_ARRAY,
    ['w' & 31] = TL_CLASS_ARRAY, ['y' & 31] = TL_CLASS_ARRAY | TL_TAG_STRING,
    ['l' & 31] = USUAL_ITEMS,    ['v' & 31] = TL_CLASS_ARRAY | TL_TAG_NESTED,
};

// Whether nothing is left to do for an argument, as for most; its letter may
// stand for none, too. The argument may be fine where this is false.
static inline bool is_usual(char letter, tl_slot s) {
  const char type = (char)(letter | ('a' - 'A'));
  const uint16_t tag = usual_tags[letter & 31];
  if ((uint16_t)s.tag == (tag & ~USUAL_ITEMS) || type < 'a' ||
      (letter < 'a' && tl_is_none(s)))
    return true;
  if (type == 'n')
    return tl_class(s) == TL_CLASS_I64 && s.i >= 0;
  return (s.tag & tag & USUAL_ITEMS) != 0 &&
         ((type != 'm' && type != 'w') || tl_dtype_of(s) < TL_STRING);
}

// Reads an argument by the letter of its type (vm/builtin.h).
static bool read_argument(tl_vm *vm, const char *function, const char *name,
                          char type, tl_slot *s) {
  tl_string *text;
  const char *path;
  tl_dtype dtype;
  int64_t integer;
  double real;
  bool truth;
  switch (type) {
    case 's':
      return tl_arg_string(vm, function, name, *s, &text);
    case 'i':
      return tl_arg_int(vm, function, name, *s, &integer);
    case 'n':
      return tl_arg_count(vm, function, name, *s, &integer);
    case 'b':
      return tl_arg_bool(vm, function, name, *s, &truth);
    case 'f':
      if (!tl_arg_float(vm, function, name, *s, &real))
        return false;
      *s = tl_weak_float(real);
      return true;
    case 'd':
      return tl_dtype_argument(vm, function, *s, &dtype);
    case 'p':
      return tl_arg_path(vm, function, *s, &path);
    case 'm':
      return tl_arg_numeric(vm, function, s);
    case 't':
      return tl_arg_array_or_string(vm, function, s);
    case 'l':
    case 'x':
    case 'y':
      return tl_arg_items(vm, function, s);
    case 'g':
      return tl_arg_ragged(vm, function, s);
    case 'w':
      return tl_is_nested(*s) || tl_arg_numeric(vm, function, s);
    default:
      return tl_arg_array(vm, function, s);
  }
}

// Reads an argument that is not the usual one. Its name is only found where a
// message has it, since to read what stands behind the names takes longer than
// most conversions do.
static bool read_other(tl_vm *vm, const tl_builtin *builtin, tl_slot *args,
                       int i) {
  const char *next = &builtin->types[i + 1];
  const char type = (char)(next[-1] | ('a' - 'A'));
  tl_param params[TL_MAX_PARAMS];
  char name[40] = "";
  if (strchr("sinbf", type) != NULL) {
    tl_params_parse(builtin->params, params);
    snprintf(name, sizeof name, "%.*s", (int)params[i].name_length,
             params[i].name);
  }
  const bool told = *next == '@' && tl_is_string(args[i + 1]);
  return read_argument(vm, builtin->name,
                       told ? args[i + 1].string->text : name, type, &args[i]);
}

// Reads the arguments from the one at [i] on.
static __attribute__((noinline)) bool read_from(tl_vm *vm,
                                                const tl_builtin *builtin,
                                                tl_slot *args, int i) {
  for (const char *types = builtin->types; types[i] != '\0'; i++)
    if (!is_usual(types[i], args[i]) && !read_other(vm, builtin, args, i))
      return false;
  return true;
}

// Most calls have the very kinds that the letters say, or none, and need no
// register saved.
bool tl_read_arguments(tl_vm *vm, const tl_builtin *builtin, tl_slot *args) {
  int i = 0;
  for (char letter; (letter = builtin->types[i]) != '\0'; i++)
    if ((uint16_t)args[i].tag != usual_tags[letter & 31] &&
        (letter >= 'a' || !tl_is_none(args[i])))
      return read_from(vm, builtin, args, i);
  return true;
}
