// Reading arguments by the types that the row of a function says.
//
//     {"replace", "s, old, new, count: none", replace, .types = "sssN"}
//
// The VM calls tl_read_arguments before such a function, which then finds in
// its slots what the letters say (vm/builtin.h). Arguments are read in order,
// so that of two that are wrong the first is named.

#include <stdio.h>

#include "stdlib/arguments.h"
#include "stdlib/ragged.h"

// Whether the argument is what most calls have for that letter, so that nothing
// is left to do. It may be fine where this is false.
static bool is_usual(char type, tl_slot s) {
  switch (type) {
    case 's':
      return tl_is_string(s);
    case 'b':
      return tl_is_bool(s);
    case 'i':
      return tl_class(s) == TL_CLASS_I64;
    case 'n':
      return tl_class(s) == TL_CLASS_I64 && s.i >= 0;
    case 'f':
      return tl_class(s) == TL_CLASS_F64;
    case 'm':
    case 'w':
      return tl_is_array(s) && tl_array_dtype(s.array) < TL_STRING;
    case 'a':
    case 'l':
    case 't':
    case 'v':
    case 'x':
    case 'y':
      return tl_is_array(s);
    default:
      return type == '.' || type == '@';
  }
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
    case 'x':
      return tl_arg_items(vm, function, s);
    case 'y':
      return tl_is_string(*s) || tl_arg_items(vm, function, s);
    case 'l':
      return tl_is_list(*s) || tl_arg_items(vm, function, s);
    case 'g':
      return tl_arg_ragged(vm, function, s);
    case 'w':
      return tl_is_nested(*s) || tl_arg_numeric(vm, function, s);
    case 'v':
      return tl_is_nested(*s) || tl_arg_array(vm, function, s);
    default:
      return tl_arg_array(vm, function, s);
  }
}

bool tl_read_arguments(tl_vm *vm, const tl_builtin *builtin, tl_slot *args) {
  const char *types = builtin->types;
  for (int i = 0; types[i] != '\0'; i++) {
    const bool optional = types[i] >= 'A' && types[i] <= 'Z';
    const char type = (char)(optional ? types[i] - 'A' + 'a' : types[i]);
    if ((optional && tl_is_none(args[i])) || is_usual(type, args[i]))
      continue;
    tl_param params[TL_MAX_PARAMS];
    char name[40];
    tl_params_parse(builtin->params, params);
    snprintf(name, sizeof name, "%.*s", (int)params[i].name_length,
             params[i].name);
    const bool told = types[i + 1] == '@' && tl_is_string(args[i + 1]);
    if (!read_argument(vm, builtin->name,
                       told ? args[i + 1].string->text : name, type, &args[i]))
      return false;
  }
  return true;
}
