// tally.h: how a word at a prompt may go on (tally_complete), what the parts of
// a text are (tally_tokens), and what a script's own functions say of
// themselves (tally_describe).
//
//     "sq"          names: variables, functions, words of the language
//     "r.na"        members of the value r: fields, attributes of an array, or
//     a
//                   module's names
//     "f(x, ax"     names, and the parameters of f that may be named: axis:
//     "import li"   modules
//
// Nothing is run or compiled: what stands before the word is looked up among
// values that there are, so f(x).a offers nothing.
//
//     text      print(r.next.na
//                      ├────┘ └ the word, "na": what is offered begins so
//                      └ find_named: the value of r.next, which has them
//
// Values that are found are borrowed: nothing is called that could change or
// free them before tidy has put the names in order.

#include <stdio.h>
#include <stdlib.h>

#include "compiler/lexer.h"
#include "vm/api/api.h"
#include "vm/api/documentation.h"
#include "vm/memory/reserve.h"
#include "vm/values/list.h"
#include "vm/bytecode/module.h"
#include "vm/nested/nested.h"
#include "vm/text/signature.h"
#include "vm/values/record.h"

// The names found so far, and the word that they have to begin with.
typedef struct offers {
  tl_vm *vm;
  const char *word;  // what they begin with
  size_t nbytes;
  tl_list *list;
  const char *module;  // of which the library's names are offered
  bool failed;
} offers;

// Offers a name if it begins with the word; private names only to a word with
// an underscore. After a failure nothing more is added.
// The name's bytes are copied. Capitals count, and no name is offered for
// letters in its midst. Names may come several times: see tidy.
static void offer_text(offers *o, const char *name, size_t nbytes) {
  if (o->failed || nbytes < o->nbytes || memcmp(name, o->word, o->nbytes) != 0)
    return;
  // A name with an underscore is private to its module.
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

// Offers a NUL-terminated name.
static void offer(offers *o, const char *name) {
  offer_text(o, name, strlen(name));
}

// --- What there is ----------------------------------------------------------

// The variables of a module that have a value.
// One that was deleted is still in the table, without a value.
static void offer_variables(offers *o, const tl_module *module) {
  for (uint32_t i = 0; i < module->variable_count; i++) {
    const tl_string *name = module->variable_names[i];
    if (!tl_is_unset(module->variables[i]))
      offer_text(o, name->text, name->length);
  }
}

// An entry of the library's that is in the module of the offers.
static bool offer_of_module(void *context, const tl_documented *d) {
  offers *o = context;
  if (o->module == NULL
          ? d->module == NULL
          : d->module != NULL && strcmp(d->module, o->module) == 0)
    offer(o, d->name);
  return false;
}

// What the library has in a module; NULL: what needs no import.
// Functions and constants that are documented, those of the host too.
static void offer_library(offers *o, const char *module) {
  o->module = module;
  tl_each_documented(o->vm, offer_of_module, o);
}

// The names of modules that can be imported.
// Once for each of their functions; tidy leaves one.
static bool offer_module(void *context, const tl_documented *d) {
  if (d->module != NULL)
    offer(context, d->module);
  return false;
}

// The members of a value: fields of a record or a struct, attributes of an
// array, names of a module.
// Keys of a record that are no names, such as numbers, are not offered, as no
// point leads to them. Of a value without members nothing is offered, which is
// no error.
static void offer_members(offers *o, tl_slot value) {
  for (int i = 0; tl_is_nested(value) || tl_has_attributes(value); i++) {
    const char *name = tl_attribute_at(i);
    if (name == NULL)
      break;
    offer(o, name);
  }
  if (tl_is_record(value)) {
    for (int64_t i = 0; i < value.record->length; i++) {
      const tl_string *key = tl_key_string(value.record->fields[i].key);
      if (key != NULL)
        offer_text(o, key->text, key->length);
    }
  } else if (tl_is_kind(value, TL_KIND_MODULE)) {
    const tl_module *module = value.pointer;
    // Of the library's own modules what is documented.
    if (module->builtin != NULL)
      offer_library(o, module->builtin);
    else
      offer_variables(o, module);
  } else if (tl_is_nested(value) && value.nested->layout != NULL) {
    const tl_type *type = value.nested->layout;
    for (int i = 0; i < type->field_count; i++)
      offer_text(o, type->fields[i].name->text, type->fields[i].name->length);
  }
}

// Everything that a word at the begin of an expression may be.
// Types are offered as functions: float64(x).
static void offer_names(offers *o) {
  offer_variables(o, o->vm->main);
  offer_library(o, NULL);
  for (int i = 0; i < TL_DTYPE_COUNT; i++) offer(o, tl_dtypes[i].name);
  for (int i = 0; i < TL_TOKEN_KIND_COUNT; i++)
    if (tl_token_infos[i].is_word)
      offer(o, tl_token_infos[i].text);
}

// --- What is asked ----------------------------------------------------------

// Where the name that ends at [end] begins, by the lexer's rule for letters.
//
//     text    "r.naïve"   end 8    gives 2
//             "r."        end 2    gives 2, as there is no name
//
// Characters are read backwards; bytes that are no text end the name. Digits
// may be in front: 12 counts as a name, and none is found for it.
static size_t name_begin(const char *text, size_t end) {
  size_t at = end;
  while (at > 0) {
    size_t before = at - 1;
    while (before > 0 && ((unsigned char)text[before] & 0xc0) == 0x80) before--;
    int32_t code;
    tl_utf8_decode(text + before, at - before, &code);
    if (!tl_continues_name(code))
      break;
    at = before;
  }
  return at;
}

// The member of that name, borrowed; false: there is none, or no value yet.
// [value] may be *out's own, as it is passed by value. *out is as before where
// it returns false. A variable without a value gives the slot that says so.
static bool find_member(tl_slot value, const char *name, size_t nbytes,
                        tl_slot *out) {
  if (tl_is_kind(value, TL_KIND_MODULE)) {
    // What the library's modules have is documented, compiled or not.
    const tl_module *module = value.pointer;
    int32_t at = module->builtin ? -1 : tl_module_find(module, name, nbytes);
    if (at >= 0)
      *out = module->variables[at];
    return at >= 0;
  }
  if (!tl_is_record(value))
    return false;
  for (int64_t i = 0; i < value.record->length; i++) {
    const tl_string *key = tl_key_string(value.record->fields[i].key);
    if (key != NULL && key->length == nbytes &&
        memcmp(key->text, name, nbytes) == 0) {
      *out = value.record->fields[i].value;
      return true;
    }
  }
  return false;
}

// The value of names with dots between them, such as a.b.c, that end at [end];
// borrowed. The first name is found from right to left, then each is looked up
// in the one before. No recursion: a text may have as many points as it likes.
static bool find_named(tl_vm *vm, const char *text, size_t end, tl_slot *out) {
  size_t begin = name_begin(text, end);
  while (begin > 0 && text[begin - 1] == '.')
    begin = name_begin(text, begin - 1);
  tl_slot object = {.tag = TL_TAG_MODULE, .pointer = vm->main};
  for (;; begin++) {
    size_t n = strcspn(text + begin, ".");
    n = n < end - begin ? n : end - begin;
    if (n == 0 || !find_member(object, text + begin, n, &object))
      return false;
    begin += n;
    if (begin == end)
      return *out = object, true;
  }
}

// Where the call begins whose arguments the text at [end] is among: its open
// parenthesis. Brackets within strings count as brackets, which offers less.
// false: there is none.
//
//     f(x, g(1), ax      the first ( is open: *at is 1
//     f([x, ax           the innermost is a [: false
static bool find_call(const char *text, size_t end, size_t *at) {
  int depth = 0;
  for (size_t i = end; i-- > 0;)
    if (strchr(")]}", text[i]) != NULL)
      depth++;
    else if (strchr("([{", text[i]) != NULL && depth-- == 0)
      return *at = i, text[i] == '(';
  return false;
}

// A parameter as it is named in a call: "axis:".
// A name of more than 78 bytes is not offered. One with an underscore is for
// the function's own use.
static void offer_parameter(offers *o, const char *name, size_t nbytes) {
  char text[80];
  int n = snprintf(text, sizeof text, "%.*s:", (int)nbytes, name);
  if (n > 0 && (size_t)n < sizeof text && text[0] != '_')
    offer_text(o, text, (size_t)n);
}

// The parameters of a library function that have a default: "x, axis: none".
// Those with a colon have a default, and can be named. Brackets, and the types
// between backquotes, are passed over: a comma or colon within them is not the
// signature's.
static void offer_signature(offers *o, const char *params) {
  int depth = 0;
  for (const char *from = params, *at = params; *at != 0; at++) {
    depth += (strchr("([{`", *at) != NULL) - (strchr(")]}", *at) != NULL);
    if (depth == 0 && *at == ':')
      offer_parameter(o, from, (size_t)(at - from));
    if (depth == 0 && (*at == ',' || *at == ':'))
      from = at + 1 + strspn(at + 1, " ");
  }
}

// The parameters of the function whose name ends before the parenthesis.
// What the session has under that name hides the library's, and where it is no
// function nothing is offered. tally_signature looks the name up as it stands,
// `linalg.solve` included.
static void offer_parameters(offers *o, const char *text, size_t paren) {
  char name[80];
  tl_slot value;
  size_t begin = name_begin(text, paren);
  while (begin > 0 && text[begin - 1] == '.')
    begin = name_begin(text, begin - 1);
  snprintf(name, sizeof name, "%.*s", (int)(paren - begin), text + begin);
  if (find_named(o->vm, text, paren, &value)) {
    if (!tl_is_kind(value, TL_KIND_FUNCTION) &&
        !tl_is_kind(value, TL_KIND_CLOSURE))
      return;
    const tl_prototype *p = tl_function_prototype(value);
    for (uint32_t i = 0; i < p->param_count; i++)
      offer_parameter(o, p->params[i].name->text,
                      (size_t)p->params[i].name->length);
    return;
  }
  const char *params = begin < paren ? tally_signature(o->vm, name) : NULL;
  if (params != NULL)
    offer_signature(o, params);
}

// Whether the word is a module's name behind `import`.
// At least one blank is between them. `import a, li` offers names, as a comma
// stands before the word.
static bool follows_import(const char *text, size_t begin) {
  static const char word[] = "import";
  size_t end = begin;
  while (end > 0 && text[end - 1] == ' ') end--;
  size_t at = name_begin(text, end);
  return end < begin && end - at == sizeof word - 1 &&
         memcmp(text + at, word, sizeof word - 1) == 0;
}

// For qsort, by bytes: capitals first.
// No name has a zero byte.
static int compare_names(const void *a, const void *b) {
  return strcmp(((const tl_slot *)a)->string->text,
                ((const tl_slot *)b)->string->text);
}

// Sorts the names and leaves each in once.
// The list is of this call alone, so its items may be moved.
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

// The text before the word decides what is offered; nothing is run, so only
// existing values are looked at.
// [text] may be any bytes: what is no name is looked up and not found. Without
// memory for one of the names the call fails, with no half of a list.
static tally_status complete(tally_vm *vm, const char *text, tally_value *out) {
  if (!tl_given(vm, text, "the text") || !tl_given(vm, out, "the result"))
    return tl_report(vm);
  size_t end = strlen(text), begin = name_begin(text, end);
  offers o = {vm, text + begin, end - begin, tl_list_new(vm, 16), NULL, false};
  if (o.list == NULL)
    return tl_report(vm);
  tl_slot object;
  if (begin > 0 && text[begin - 1] == '.') {
    if (find_named(vm, text, begin - 1, &object))
      offer_members(&o, object);
  } else if (follows_import(text, begin)) {
    tl_each_documented(vm, offer_module, &o);
  } else {
    size_t paren;
    if (find_call(text, begin, &paren))
      offer_parameters(&o, text, paren);
    offer_names(&o);
  }
  tidy(vm, o.list);
  if (!o.failed)
    return tl_give(vm, tl_own_list(o.list), out);
  tl_drop(vm, tl_own_list(o.list));
  return tl_report(vm);
}

// Whoever wants to let go of variables asks for their names.
tally_status tally_complete(tally_vm *vm, const char *text, tally_value *out) {
  TL_ENTER(vm);
  size_t before = tl_reserve(vm, TL_RESERVE);
  tally_status status = complete(vm, text, out);
  tl_reserve(vm, before);
  return status;
}

// --- Tokens -----------------------------------------------------------------

// Whether it is an error only because the text ends too early: what is typed
// next may make it a token.
// Of three errors, as of a string that lacks its quote, and only at the text's
// end.
static bool is_unfinished(const tl_token *token, size_t nbytes) {
  return token->end == nbytes &&
         (token->code == TL_LEX_STRING || token->code == TL_LEX_TRIPLE_STRING ||
          token->code == TL_LEX_HOLE);
}

// What the token is, for its colour. Another token follows it.
// So token[1] is there: the end at least. A name calls where the parenthesis
// touches it.
static tally_token_kind kind_of(const tl_token *token, size_t nbytes) {
  bool ends = token->end == nbytes;
  if (token->kind == TL_TOKEN_ERROR && is_unfinished(token, nbytes))
    return TALLY_TOKEN_STRING;
  if (token->kind == TL_TOKEN_ERROR && ends &&
      (token->code == TL_LEX_TYPE || token->code == TL_LEX_NUMBER_POINT))
    return TALLY_TOKEN_OTHER;
  if (token->kind == TL_TOKEN_NAME && token[1].kind == TL_TOKEN_PAREN &&
      token[1].begin == token->end)
    return TALLY_TOKEN_CALL;
  return (tally_token_kind)tl_token_infos[token->kind].shown;
}

// Where the tokens go, and how many there are so far.
typedef struct found_tokens {
  tally_token *items;
  size_t count, capacity;
} found_tokens;

// What there is no room for is counted all the same, so that a first call with
// a capacity of 0 says how much is needed.
static void add_token(found_tokens *f, tally_token_kind kind, size_t begin,
                      size_t end, size_t match) {
  if (f->count < f->capacity)
    f->items[f->count] = (tally_token){kind, begin, end, match};
  f->count++;
}

// Between tokens there are blanks and comments, which begin with # and end with
// their line.
// [begin, end) has no token, so no # in it is a string's.
static void add_comments(found_tokens *f, const char *text, size_t begin,
                         size_t end) {
  while (begin < end) {
    const char *sign = memchr(text + begin, '#', end - begin);
    if (sign == NULL)
      return;
    begin = (size_t)(sign - text);
    const char *line = memchr(sign, '\n', end - begin);
    size_t stop = line == NULL ? end : (size_t)(line - text);
    add_token(f, TALLY_TOKEN_COMMENT, begin, stop, begin);
    begin = stop;
  }
}

// The last token is the text's end, and is not given. A bracket without its
// other half has the index 0, as has one whose other half is the first token.
// The last comments stand behind the last token. A closing bracket that fits
// none is an error to the lexer, and has no other half to look for.
static void add_tokens(found_tokens *f, const tl_tokens *all, const char *text,
                       size_t nbytes) {
  size_t end = 0;
  for (uint32_t i = 0; i + 1 < all->count; i++) {
    const tl_token *token = &all->items[i];
    tally_token_kind kind = kind_of(token, nbytes);
    size_t match = token->begin;
    if (kind == TALLY_TOKEN_CLOSE || (kind == TALLY_TOKEN_OPEN && token->other))
      match = all->items[token->other].begin;
    add_comments(f, text, end, token->begin);
    add_token(f, kind, token->begin, token->end, match);
    end = token->end;
  }
  if (end < nbytes)
    add_comments(f, text, end, nbytes);
}

// Only the lexer looks at the text; no state of the VM is touched.
// The source need not end with a zero byte. Its memory is an arena's, freed at
// the end with all tokens.
size_t tally_tokens(tally_vm *vm, const char *source, size_t nbytes,
                    tally_token *tokens, size_t capacity) {
  if (!tl_enter(vm) || source == NULL || (tokens == NULL && capacity > 0))
    return 0;
  tl_arena arena;
  tl_source text;
  tl_tokens all = {.items = NULL};
  found_tokens found = {tokens, 0, capacity};
  size_t bad_offset;
  tl_arena_open(&arena, vm->options.resize, vm->options.context);
  if (tl_source_open(&text, "", source, nbytes, &bad_offset) == TL_SOURCE_OK) {
    if (tl_lex(&all, &arena, &text, true))
      add_tokens(&found, &all, source, nbytes);
    tl_tokens_release(&all, &arena);
  }
  tl_arena_close(&arena);
  return found.count;
}

// --- The script's own -------------------------------------------------------

// Appends signature and documentation of a script function.
// Values that are no functions add nothing. A function from bytecode alone has
// lost its source, and is shown without its parameters.
static void describe_function(tl_text *text, tl_slot value) {
  if (!tl_is_kind(value, TL_KIND_FUNCTION) &&
      !tl_is_kind(value, TL_KIND_CLOSURE))
    return;
  const tl_prototype *p = tl_function_prototype(value);
  const char *name = p->name->length > 0 ? p->name->text : "fn";
  bool has_text = p->unit->text != NULL;
  tl_put_signature(text, name, strlen(name),
                   has_text ? p->unit->text + p->params_begin : "",
                   has_text ? p->params_end - p->params_begin : 0);
  if (p->doc != NULL)
    tl_put_doc(text, p->doc->text, (size_t)p->doc->length);
}

// Of a module all of its functions; of a name that stands for something else
// nothing.
// *out is a string, empty where there is nothing to say.
// [name] is all of the text: "f(" is no name, and gives an empty string.
tally_status tally_describe(tally_vm *vm, const char *name, tally_value *out) {
  TL_ENTER(vm);
  if (!tl_given(vm, name, "the name") || !tl_given(vm, out, "the result"))
    return tl_report(vm);
  tl_text text;
  tl_slot value;
  tl_text_open(&text, vm);
  bool found = find_named(vm, name, strlen(name), &value);
  if (found && tl_is_kind(value, TL_KIND_MODULE)) {
    const tl_module *module = value.pointer;
    for (uint32_t i = 0; i < module->variable_count && !module->builtin; i++)
      describe_function(&text, module->variables[i]);
  } else if (found) {
    describe_function(&text, value);
  }
  return tl_give_text(vm, &text, out);
}
