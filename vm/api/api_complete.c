// tally.h: the names that a word at a prompt may go on as.

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "compiler/lexer.h"
#include "vm/embedded.h"
#include "vm/api/api.h"
#include "vm/api/documentation.h"
#include "vm/interp/function.h"
#include "vm/api/host.h"
#include "vm/values/list.h"
#include "vm/interp/module.h"
#include "vm/nested/nested.h"
#include "vm/values/record.h"

// The names found so far.
typedef struct offers {
  tl_vm *vm;
  const char *word;  // what they begin with
  size_t nbytes;
  tl_list *list;
  bool failed;
} offers;

static void offer_text(offers *o, const char *name, size_t nbytes) {
  if (o->failed || nbytes < o->nbytes || memcmp(name, o->word, o->nbytes) != 0)
    return;
  if (name[0] == '_' && o->nbytes == 0)
    return;  // private
  tl_string *string = tl_string_new(o->vm, name, nbytes);
  o->failed = string == NULL;
  if (o->failed)
    return;
  tl_slot item = tl_own_string(string);
  o->failed = !tl_list_push(o->vm, &o->list, &item);
  tl_drop(o->vm, item);
}

static void offer(offers *o, const char *name) {
  offer_text(o, name, strlen(name));
}

// --- What there is ----------------------------------------------------------

static void offer_variables(offers *o, const tl_module *module) {
  for (uint32_t i = 0; i < module->variable_count; i++) {
    const tl_string *name = module->variable_names[i];
    if (!tl_is_unset(module->variables[i]))
      offer_text(o, name->text, name->length);
  }
}

// [module] NULL: what needs no import.
static void offer_library(offers *o, const char *module) {
  tl_documented d;
  for (size_t i = 0; tl_documented_at(o->vm, i, &d); i++) {
    bool is_here = module == NULL
                       ? d.module == NULL
                       : d.module != NULL && strcmp(d.module, module) == 0;
    if (is_here)
      offer(o, d.name);
  }
}

static void offer_modules(offers *o) {
  tl_documented d;
  for (size_t i = 0; tl_documented_at(o->vm, i, &d); i++) {
    if (d.module != NULL)
      offer(o, d.module);
  }
}

static void offer_members(offers *o, tl_slot value) {
  if (tl_is_record(value)) {
    for (int64_t i = 0; i < value.record->length; i++) {
      const tl_string *key = value.record->fields[i].key;
      offer_text(o, key->text, key->length);
    }
  } else if (tl_is_kind(value, TL_KIND_MODULE)) {
    const tl_module *module = value.pointer;
    // Of the library's own modules what is documented; one read from a file has
    // a path.
    bool is_library =
        module->path == NULL && tl_embedded_find(module->name->text) != NULL;
    if (module->builtin != NULL)
      offer_library(o, module->builtin);
    else if (is_library)
      offer_library(o, module->name->text);
    else
      offer_variables(o, module);
  } else if (tl_is_nested(value) && value.nested->layout != NULL) {
    const tl_type *type = value.nested->layout;
    for (int i = 0; i < type->field_count; i++) {
      offer_text(o, type->fields[i].name->text, type->fields[i].name->length);
    }
  }
}

static void offer_names(offers *o) {
  offer_variables(o, o->vm->main);
  offer_library(o, NULL);
  for (int i = 0; i < TL_DTYPE_COUNT; i++) offer(o, tl_dtypes[i].name);
  for (int i = 0; i < TL_TOKEN_KIND_COUNT; i++) {
    if (tl_token_infos[i].is_word)
      offer(o, tl_token_infos[i].text);
  }
}

// --- What is asked ----------------------------------------------------------

// Where the name begins that ends at [end].
static size_t name_begin(const char *text, size_t end) {
  size_t at = end;
  while (at > 0) {
    size_t before = at - 1;
    while (before > 0 && ((unsigned char)text[before] & 0xc0) == 0x80) before--;
    utf8proc_int32_t code;
    if (utf8proc_iterate((const utf8proc_uint8_t *)text + before,
                         (utf8proc_ssize_t)(at - before), &code) < 0 ||
        !tl_continues_name(code)) {
      break;
    }
    at = before;
  }
  return at;
}

// The member of that name, borrowed; false: there is none, or no value yet.
static bool find_member(tl_slot value, const char *name, size_t nbytes,
                        tl_slot *out) {
  if (tl_is_kind(value, TL_KIND_MODULE)) {
    const tl_module *module = value.pointer;
    int32_t at = tl_module_find(module, name, nbytes);
    if (at >= 0)
      *out = module->variables[at];
    return at >= 0;
  }
  if (!tl_is_record(value))
    return false;
  for (int64_t i = 0; i < value.record->length; i++) {
    const tl_string *key = value.record->fields[i].key;
    if (key->length == nbytes && memcmp(key->text, name, nbytes) == 0) {
      *out = value.record->fields[i].value;
      return true;
    }
  }
  return false;
}

// The value of the names with dots between them that end at [end], borrowed.
static bool find_value(tl_vm *vm, const char *text, size_t end, tl_slot *out) {
  size_t begin = name_begin(text, end);
  if (begin == end)
    return false;
  tl_slot object = {.tag = TL_TAG_MODULE, .pointer = vm->main};
  if (begin > 0 && text[begin - 1] == '.' &&
      !find_value(vm, text, begin - 1, &object))
    return false;
  return find_member(object, text + begin, end - begin, out);
}

static bool follows_import(const char *text, size_t begin) {
  static const char word[] = "import";
  size_t end = begin;
  while (end > 0 && text[end - 1] == ' ') end--;
  size_t at = name_begin(text, end);
  return end < begin && end - at == sizeof word - 1 &&
         memcmp(text + at, word, sizeof word - 1) == 0;
}

static int compare_names(const void *a, const void *b) {
  return strcmp(((const tl_slot *)a)->string->text,
                ((const tl_slot *)b)->string->text);
}

// In order, each once.
static void tidy(tl_vm *vm, tl_list *list) {
  if (list->length == 0)
    return;
  qsort(list->items, (size_t)list->length, sizeof *list->items, compare_names);
  int64_t kept = 1;
  for (int64_t i = 1; i < list->length; i++) {
    tl_slot item = list->items[i];
    if (compare_names(&list->items[kept - 1], &item) == 0)
      tl_drop(vm, item);
    else
      list->items[kept++] = item;
  }
  list->length = kept;
}

tally_status tally_complete(tally_vm *vm, const char *text, tally_value *out) {
  TL_ENTER(vm);
  if (!tl_given(vm, text, "the text") || !tl_given(vm, out, "the result"))
    return tl_report(vm);
  size_t end = strlen(text), begin = name_begin(text, end);
  offers o = {vm, text + begin, end - begin, tl_list_new(vm, 16), false};
  if (o.list == NULL)
    return tl_report(vm);
  tl_slot object;
  if (begin > 0 && text[begin - 1] == '.') {
    if (find_value(vm, text, begin - 1, &object))
      offer_members(&o, object);
  } else if (follows_import(text, begin)) {
    offer_modules(&o);
  } else {
    offer_names(&o);
  }
  tidy(vm, o.list);
  tl_slot list = tl_own_list(o.list);
  bool ok = !o.failed && tl_handle_new(vm, &list, out);
  tl_drop(vm, list);
  return ok ? TALLY_OK : tl_report(vm);
}
