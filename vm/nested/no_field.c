// The error that a value has no field of a name: what it has, and what may have
// been meant.
//
//   r.nme      record     near: name, and the fields that there are
//   x.mean     array      methods are functions: write mean(x)
//   x.shap     array      near: shape
//   p.z        structs    near fields and attributes
#include "vm/nested/nested.h"

#include <stdio.h>

#include "vm/hints.h"
#include "vm/objects.h"
#include "vm/suggest.h"
#include "vm/values/record.h"

static bool is_named(const tl_string *name, const char *text) {
  return strcmp(name->text, text) == 0;
}

static const char *const attributes[] = {
    "shape", "ndim", "size", "dtype", "nbytes", "T", "mT", "real", "imag"};
enum { ATTRIBUTES = sizeof attributes / sizeof *attributes };

const char *tl_attribute_at(int at) {
  return at < ATTRIBUTES ? attributes[at] : NULL;
}

bool tl_is_attribute(const tl_string *name) {
  for (int i = 0; i < ATTRIBUTES; i++)
    if (is_named(name, attributes[i]))
      return true;
  return false;
}

// Whether keys other than strings are there, which changes how all are spelled.
static bool has_other_keys(const tl_record *record) {
  for (int64_t i = 0; i < record->length; i++)
    if (!tl_key_is_string(record->fields[i].key))
      return true;
  return false;
}

// ", fields: x, y" of a record, as many as fit; strings are quoted where other
// keys may be meant, so that "1" is not taken for 1.
static void list_fields(const tl_record *record, bool quoted, char *buffer,
                        size_t size) {
  size_t used = 0;
  buffer[0] = '\0';
  for (int64_t i = 0; i < record->length; i++) {
    char text[TL_KEY_TEXT], key_text[TL_KEY_TEXT + 2];
    const tl_string *key = tl_key_string(record->fields[i].key);
    const char *name = key_text;
    if (key != NULL && !quoted)
      name = key->text;
    else
      snprintf(key_text, sizeof key_text, key != NULL ? "\"%s\"" : "%s",
               tl_key_text(tl_key_slot(record->fields[i].key), text));
    size_t length = strlen(name);
    if (used + length + 8 > size) {
      memcpy(buffer + used, ", ...", 6);
      return;
    }
    if (i > 0)
      memcpy(buffer + used, ", ", 2), used += 2;
    memcpy(buffer + used, name, length + 1);
    used += length;
  }
}

// How a method's place is taken: "mean(x)", "reshape(x, …)".
static const char *spell_call(const tl_builtin *builtin, char *out,
                              size_t size) {
  tl_param params[TL_MAX_PARAMS];
  bool wants_more = tl_params_parse(builtin->params, params) > 1 &&
                    params[1].kind == TL_PARAM_REQUIRED;
  snprintf(out, size, "%s(x%s)", builtin->name, wants_more ? ", …" : "");
  return out;
}

// Methods are functions here: what to say of one that somebody expects, or
// NULL.
static const char *spell_method(tl_vm *vm, const tl_string *name, char *out,
                                size_t size) {
  // The modules whose functions other languages have as methods.
  static const char *const modules[] = {"strings", "linalg", "stats"};
  char call[100];
  if (is_named(name, "length") || is_named(name, "size"))
    return "write len(x)";
  const tl_builtin *method =
      vm->host->find_function(vm, NULL, name->text, name->length);
  if (method != NULL) {
    snprintf(out, size, "write %s", spell_call(method, call, sizeof call));
    return out;
  }
  const char *habit = tl_name_hint(NULL, name->text, out, size);
  for (size_t i = 0; habit == NULL && i < sizeof modules / sizeof *modules;
       i++) {
    method = tl_builtin_find(vm->library, modules[i], name->text, name->length);
    if (method == NULL)
      continue;
    snprintf(out, size, "write %s.%s, and import %s first", modules[i],
             spell_call(method, call, sizeof call), modules[i]);
    return out;
  }
  return habit;
}

// The fields that are near, else how a method's name is written as a function,
// and in any case the fields that there are.
static bool fail_record(tl_vm *vm, const tl_record *record,
                        const tl_string *name) {
  enum { OFFERED = 1000 };  // more would be no help, and take their time
  char fields[200], hint[160];
  tl_suggestion near;
  tl_suggest_begin(&near, name->text, name->length);
  for (int64_t i = 0; i < record->length && i < OFFERED; i++) {
    const tl_string *key = tl_key_string(record->fields[i].key);
    if (key != NULL)
      tl_suggest_offer(&near, key->text, key->length);
  }
  bool others = has_other_keys(record);
  list_fields(record, others, fields, sizeof fields);
  const char *near_one = tl_suggest_text(&near, hint, sizeof hint);
  const char *method =
      near_one[0] == '\0' ? spell_method(vm, name, hint, sizeof hint) : NULL;
  const char *point = method != NULL ? "; " : "";
  method = method != NULL ? method : near_one;
  if (record->length == 0)
    return tl_fail(vm, TALLY_ERR_INDEX,
                   "no field \"%s\" in record, which is empty%s%s", name->text,
                   point, method);
  return tl_fail(vm, TALLY_ERR_INDEX, "no field \"%s\" in record; %s: %s%s%s",
                 name->text, others ? "keys" : "fields", fields, point, method);
}

// Spells such values in the plural, "arrays"; false: they have no such name.
static bool spell_plural(tl_slot s, char *out, size_t size) {
  const bool arrays = tl_is_array(s) && tl_ndim(s.array) > 0;
  const bool numbers = !arrays && tl_is_number(s);
  snprintf(out, size, "%ss",
           arrays    ? "array"
           : numbers ? "number"
                     : tl_kind_name(tl_dtype_of(s)));
  return arrays || numbers || tl_is_string(s) || tl_is_list(s) ||
         tl_is_range(s) || tl_is_type(s) || tl_is_function(s);
}

// No record: a method's name is answered with the function, and, for what has
// attributes or fields, another name with the nearest of them.
static bool fail_value(tl_vm *vm, tl_slot s, const tl_string *name) {
  char text[TL_DESCRIBE], hint[160];
  const bool nested = tl_is_nested(s);
  const bool many = spell_plural(s, text, sizeof text);
  const char *what = many ? text : tl_describe(s, text, sizeof text);
  const char *verb = many ? "have" : "has";
  if (!many && !nested)
    return tl_fail(vm, TALLY_ERR_NAME, "%s has no field %s", what, name->text);
  const char *method = spell_method(vm, name, hint, sizeof hint);
  if (method != NULL)
    return tl_fail(vm, TALLY_ERR_NAME, "%s %s no field %s: %s", what, verb,
                   name->text, method);
  tl_suggestion near;
  tl_suggest_begin(&near, name->text, name->length);
  for (int i = 0; (nested || tl_has_attributes(s)) && i < ATTRIBUTES; i++)
    tl_suggest_offer(&near, attributes[i], strlen(attributes[i]));
  const tl_type *layout = nested ? s.nested->layout : NULL;
  for (int64_t i = 0; layout != NULL && i < layout->field_count; i++) {
    const tl_string *field = layout->fields[i].name;
    tl_suggest_offer(&near, field->text, field->length);
  }
  return tl_fail(vm, TALLY_ERR_NAME, "%s %s no field %s%s", what, verb,
                 name->text, tl_suggest_text(&near, hint, sizeof hint));
}

// Kind index for records, whose keys are data; kind name for all else.
bool tl_fail_no_field(tl_vm *vm, tl_slot base, const tl_string *name) {
  return tl_is_record(base) ? fail_record(vm, base.record, name)
                            : fail_value(vm, base, name);
}

// Keys are quoted here, as a key that is no string was looked for: 1 and "1"
// must not look alike.
bool tl_fail_no_key(tl_vm *vm, tl_slot base, tl_slot key) {
  char text[TL_KEY_TEXT], keys[200];
  if (tl_is_string(key))
    return tl_fail_no_field(vm, base, key.string);
  if (base.record->length == 0)
    return tl_fail(vm, TALLY_ERR_INDEX, "no key %s in record, which is empty",
                   tl_key_text(key, text));
  list_fields(base.record, true, keys, sizeof keys);
  return tl_fail(vm, TALLY_ERR_INDEX, "no key %s in record; keys: %s",
                 tl_key_text(key, text), keys);
}
