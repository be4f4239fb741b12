// Where names stand: definitions, references, renaming and the list of symbols.
// What a name means, the compiler says (tally_resolve_source).

#include "repl/lsp_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A place where a variable stands, as tally_resolve_source has it. Texts are
// owned: [file] is "" where the variable is of no other file, [of] where it is
// no parameter of a module's function. Whether it [is_far]: its home is in
// another file, or would be.
typedef struct name_place {
  size_t begin, end;
  long long home;
  char *file, *of;
  bool writes, is_far, is_global;
} name_place;

// All of a document. There are none where it does not parse.
typedef struct name_list {
  name_place *items;
  size_t count;
} name_list;

static void free_place(name_place *p) {
  free(p->file);
  free(p->of);
}

// Leaves an empty list, which may be freed again.
static void free_names(name_list *list) {
  for (size_t i = 0; i < list->count; i++) free_place(&list->items[i]);
  free(list->items);
  *list = (name_list){0};
}

// False: its record is not whole, for want of memory.
static bool read_place(const tl_server *s, tally_value record, name_place *to) {
  size_t nbytes;
  char *role = tl_lsp_text(s, record, "role", &nbytes);
  *to = (name_place){.begin = (size_t)tl_lsp_int(s, record, "begin"),
                     .end = (size_t)tl_lsp_int(s, record, "end"),
                     .home = tl_lsp_int(s, record, "home"),
                     .file = tl_lsp_text(s, record, "file", &nbytes),
                     .of = tl_lsp_text(s, record, "of", &nbytes),
                     .writes = role != NULL && strcmp(role, "write") == 0,
                     .is_far = role != NULL && (strcmp(role, "member") == 0 ||
                                                strcmp(role, "argument") == 0),
                     .is_global = tl_lsp_is_true(s, record, "is_global")};
  bool ok = role != NULL && to->file != NULL && to->of != NULL;
  free(role);
  return ok;
}

// The names of a text; an empty list where it does not parse, or memory fails.
// To be given to free_names.
static name_list read_names(const tl_server *s, const char *text,
                            size_t nbytes) {
  tally_value found, item;
  name_list list = {0};
  if (tally_resolve_source(s->vm, "a document", text, nbytes, &found) !=
      TALLY_OK)
    return list;
  size_t count = tally_length(s->vm, found);
  bool ok = true;
  list.items = calloc(count + 1, sizeof *list.items);
  for (size_t i = 0; i < count && list.items != NULL && ok; i++) {
    ok = tally_item(s->vm, found, i, &item) == TALLY_OK;
    if (!ok)
      break;
    ok = read_place(s, item, &list.items[list.count++]);
    tally_release(s->vm, item);
  }
  tally_release(s->vm, found);
  if (!ok)
    free_names(&list);
  return list;
}

// The place that a byte is in or behind; NULL: none.
static const name_place *place_at(const name_list *list, size_t at) {
  for (size_t i = 0; i < list->count; i++)
    if (list->items[i].begin <= at && at <= list->items[i].end)
      return &list->items[i];
  return NULL;
}

// Whether the name at a place is spelled so. Bytes are compared: a name that is
// composed in one document and decomposed in another counts as two.
static bool is_text(const tl_document *d, const name_place *p, const char *text,
                    size_t nbytes) {
  return p->end - p->begin == nbytes &&
         memcmp(d->text + p->begin, text, nbytes) == 0;
}

// --- Files ------------------------------------------------------------------

// One byte of a URI, in which %41 is an A; [text] moves behind it.
static char next_byte(const char **text) {
  char digits[3] = {0}, *end;
  if (**text == '%' && (*text)[1] != 0 && (*text)[2] != 0) {
    memcpy(digits, *text + 1, 2);
    long value = strtol(digits, &end, 16);
    if (end == digits + 2) {
      *text += 3;
      return (char)value;
    }
  }
  return *(*text)++;
}

// Takes the steps "." and ".." out of a path, in its place.
static void normalise(char *path) {
  char *to = path;
  for (const char *at = path; *at != 0;) {
    size_t n = strcspn(at + (*at == '/'), "/") + (*at == '/');
    if (n == 3 && memcmp(at, "/..", 3) == 0) {
      while (to > path && *--to != '/') continue;
    } else if (n != 2 || memcmp(at, "/.", 2) != 0) {
      memmove(to, at, n);
      to += n;
    }
    at += n;
  }
  *to = 0;
}

// Whether a document is the file that an import in another one names: a path
// from that one's folder, or from the root. What an editor encodes in a URI is
// its choice, so that both are compared decoded.
static bool is_file(const tl_document *d, const tl_document *from,
                    const char *file) {
  const char *folder = strrchr(from->uri, '/');
  size_t stem =
      file[0] == '/' || folder == NULL ? 0 : (size_t)(folder - from->uri) + 1;
  char *wanted = malloc(strlen(from->uri) + strlen(file) + 8);
  char *has = malloc(strlen(d->uri) + 1);
  bool same = false;
  if (wanted != NULL && has != NULL) {
    char *to = wanted;
    for (const char *at = from->uri; at < from->uri + stem;)
      *to++ = next_byte(&at);
    strcpy(to, stem == 0 ? "file://" : "");
    strcat(to, file);
    to = has;
    for (const char *at = d->uri; *at != 0;) *to++ = next_byte(&at);
    *to = 0;
    normalise(wanted);
    normalise(has);
    same = strcmp(wanted, has) == 0;
  }
  free(wanted);
  free(has);
  return same;
}

// The open document that an import means; NULL: it is not open, and what it has
// is not known, since files are not read (tl_document).
static tl_document *find_file(const tl_server *s, const tl_document *from,
                              const char *file) {
  tl_document *d = s->documents;
  while (d != NULL && !is_file(d, from, file)) d = d->next;
  return d;
}

// --- Places of one variable -------------------------------------------------

// The variable that a request means. Of a module's variable [home] is the
// document of the module and every document may have its name; else [home] is
// the document of the request, and [at] says which variable.
typedef struct meaning {
  tl_document *home;
  long long at;
  char *name;  // owned; its bytes as they stand there
  size_t nbytes;
  char *file;  // owned; "", or the file that is not open
  char *of;    // owned; "", or the function whose parameter it is
  bool is_global, is_far;
} meaning;

// Of one that find_meaning made.
static void free_meaning(meaning *m) {
  free(m->name);
  free(m->file);
  free(m->of);
}

// Where a function's parameter stands first, as it is spelled at a place of
// another document; -1: nowhere.
static long long find_parameter(const tl_server *s, const tl_document *in,
                                const meaning *m) {
  name_list list = read_names(s, in->text, in->nbytes);
  long long home = -1;
  for (size_t i = 0; i < list.count && home < 0; i++) {
    const name_place *p = &list.items[i];
    if (!p->is_far && strcmp(p->of, m->of) == 0 &&
        is_text(in, p, m->name, m->nbytes))
      home = p->home;
  }
  free_names(&list);
  return home;
}

// What the name at a byte means; false: nothing, or memory failed. To be given
// to free_meaning where it is true. *place is the name's, without texts.
static bool find_meaning(const tl_server *s, tl_document *d, size_t at,
                         meaning *m, name_place *place) {
  name_list list = read_names(s, d->text, d->nbytes);
  const name_place *p = place_at(&list, at);
  bool found = p != NULL;
  if (found) {
    tl_document *other = p->file[0] == 0 ? NULL : find_file(s, d, p->file);
    bool is_param = p->of[0] != 0;
    *m = (meaning){.home = other == NULL ? d : other,
                   .at = p->home,
                   .is_far = p->is_far && !(is_param && other != NULL),
                   .nbytes = p->end - p->begin,
                   .is_global = p->file[0] == 0 ? p->is_global
                                                : other != NULL && !is_param,
                   .name = strndup(d->text + p->begin, p->end - p->begin),
                   .file = strdup(other == NULL ? p->file : ""),
                   .of = strdup(p->of)};
    *place = *p;
    place->file = place->of = NULL;
    found = m->name != NULL && m->file != NULL && m->of != NULL;
    if (found && is_param && other != NULL)
      found = (m->at = find_parameter(s, other, m)) >= 0;
    if (!found)
      free_meaning(m);
  }
  free_names(&list);
  return found;
}

// Whether a place of a document is one of the variable.
static bool is_meant(const meaning *m, const tl_document *d,
                     const name_place *p) {
  if (strcmp(p->of, m->of) != 0)
    return false;
  // A parameter is named in calls of other files.
  if (m->of[0] != 0 && d != m->home)
    return p->is_far && is_text(d, p, m->name, m->nbytes) &&
           is_file(m->home, d, p->file);
  // Of a file that is not open, this document's own places are all that is
  // seen.
  if (m->file[0] != 0 || !m->is_global)
    return d == m->home && p->is_far == m->is_far &&
           (m->is_far ? strcmp(p->file, m->file) == 0 &&
                            is_text(d, p, m->name, m->nbytes)
                      : p->home == m->at);
  if (!is_text(d, p, m->name, m->nbytes))
    return false;
  return p->file[0] == 0 ? d == m->home && p->is_global
                         : is_file(m->home, d, p->file);
}

// The places of the variable alone, in the order of the text.
static name_list list_meant(const tl_server *s, const meaning *m,
                            const tl_document *d) {
  name_list list = read_names(s, d->text, d->nbytes);
  size_t kept = 0;
  for (size_t i = 0; i < list.count; i++) {
    if (is_meant(m, d, &list.items[i]))
      list.items[kept++] = list.items[i];
    else
      free_place(&list.items[i]);
  }
  list.count = kept;
  return list;
}

// --- Requests ---------------------------------------------------------------

// Where a name is defined in a text that does not parse: a function's `fn
// name(`, or else the first place that has the name. false: nowhere. A variable
// is defined where its name stands first, as there are no declarations. Names
// with points are those of modules, which have no place in the document: none
// of its names is equal to one.
static bool find_definition(const tl_document *d, const char *name,
                            size_t *at) {
  size_t n = strlen(name);
  bool found = false;
  for (size_t i = 0, m; n > 0 && i < d->nbytes; i += m + 1) {
    m = 0;
    while (i + m < d->nbytes && tl_lsp_is_in_name(d->text[i + m])) m++;
    if (m != n || memcmp(d->text + i, name, n) != 0)
      continue;
    if (i >= 3 && memcmp(d->text + i - 3, "fn ", 3) == 0)
      return *at = i, true;
    if (!found)
      *at = i;
    found = true;
  }
  return found;
}

// {"uri": …, "range": …}, a Location of the protocol.
static void put_location(tl_server *s, tl_document *d, size_t begin,
                         size_t end) {
  tl_json_puts(&s->out, "{\"uri\":");
  tl_json_string(&s->out, d->uri, strlen(d->uri));
  tl_json_puts(&s->out, ",");
  tl_lsp_put_range(&s->out, d, begin, end);
  tl_json_puts(&s->out, "}");
}

// The answer is one Location: where the variable stands first, in this document
// or in that of the module which it is imported from. While one types, the text
// often does not parse; then the first place that is spelled so is close
// enough. A rename never guesses like that.
bool tl_lsp_define(tl_server *s, tally_value message, tl_document *d,
                   size_t at) {
  size_t begin;
  char name[128];
  meaning m;
  name_place place;
  (void)message;
  tl_lsp_name_at(d, at, name, sizeof name);
  if (find_meaning(s, d, at, &m, &place)) {
    name_list list = list_meant(s, &m, m.home);
    bool found = list.count > 0;
    if (found)
      put_location(s, m.home, list.items[0].begin, list.items[0].end);
    free_names(&list);
    free_meaning(&m);
    return found;
  }
  if (!find_definition(d, name, &begin))
    return false;
  put_location(s, d, begin, begin + strlen(name));
  return true;
}

// All places in the open documents, as Locations, document by document in the
// order of their texts; an empty list where nothing is found. Without
// includeDeclaration the variable's first place is left out; a member of a file
// that is not open has that elsewhere.
bool tl_lsp_references(tl_server *s, tally_value message, tl_document *d,
                       size_t at) {
  meaning m;
  name_place place;
  bool all = tl_lsp_is_true(s, message, "params.context.includeDeclaration");
  bool any = false;
  tl_json_puts(&s->out, "[");
  if (find_meaning(s, d, at, &m, &place)) {
    all = all || (m.is_far && m.file[0] != 0);
    for (tl_document *e = s->documents; e != NULL; e = e->next) {
      name_list list = list_meant(s, &m, e);
      for (size_t i = e == m.home && !all ? 1 : 0; i < list.count; i++) {
        tl_json_puts(&s->out, any ? "," : "");
        put_location(s, e, list.items[i].begin, list.items[i].end);
        any = true;
      }
      free_names(&list);
    }
    free_meaning(&m);
  }
  tl_json_puts(&s->out, "]");
  return true;
}

// The places in this document, which editors colour while the cursor rests on a
// name; DocumentHighlightKind 2 is Read, 3 is Write.
bool tl_lsp_highlight(tl_server *s, tally_value message, tl_document *d,
                      size_t at) {
  meaning m;
  name_place place;
  (void)message;
  tl_json_puts(&s->out, "[");
  if (find_meaning(s, d, at, &m, &place)) {
    name_list list = list_meant(s, &m, d);
    for (size_t i = 0; i < list.count; i++) {
      tl_json_puts(&s->out, i > 0 ? ",{" : "{");
      tl_lsp_put_range(&s->out, d, list.items[i].begin, list.items[i].end);
      tl_json_puts(&s->out,
                   list.items[i].writes ? ",\"kind\":3}" : ",\"kind\":2}");
    }
    free_names(&list);
    free_meaning(&m);
  }
  tl_json_puts(&s->out, "]");
  return true;
}

// The range of the name, or null where none of a variable stands: the editor
// then says so before it asks for another name. The whole name is the range,
// also where the cursor is in the middle or behind it.
bool tl_lsp_prepare_rename(tl_server *s, tally_value message, tl_document *d,
                           size_t at) {
  meaning m;
  name_place place;
  (void)message;
  if (!find_meaning(s, d, at, &m, &place))
    return false;
  tl_json_puts(&s->out, "{\"start\":");
  tl_lsp_put_place(&s->out, d, place.begin);
  tl_json_puts(&s->out, ",\"end\":");
  tl_lsp_put_place(&s->out, d, place.end);
  tl_json_puts(&s->out, "}");
  free_meaning(&m);
  return true;
}

// The text of a document with another name at the places. To be freed; NULL:
// no memory.
static char *rewrite(const tl_document *d, const name_list *places,
                     const char *name, size_t nbytes, size_t *out_nbytes) {
  char *text = malloc(d->nbytes + places->count * nbytes + 1), *to = text;
  size_t at = 0;
  for (size_t i = 0; i <= places->count && text != NULL; i++) {
    size_t end = i < places->count ? places->items[i].begin : d->nbytes;
    memcpy(to, d->text + at, end - at);
    to += end - at;
    if (i == places->count)
      break;
    memcpy(to, name, nbytes);
    to += nbytes;
    at = places->items[i].end;
  }
  *out_nbytes = text == NULL ? 0 : (size_t)(to - text);
  return text;
}

// Where the place that began at a byte begins once the names before it have
// their new length.
static size_t moved(const name_list *places, size_t begin, size_t nbytes) {
  size_t by = 0, lost = 0;
  for (size_t i = 0; i < places->count && places->items[i].begin < begin; i++) {
    by += nbytes;
    lost += places->items[i].end - places->items[i].begin;
  }
  return begin + by - lost;
}

// Whether with the new name every name of the document still means the same:
// all its places are there, no other ones, and those of one variable still are.
// So neither does the new name mean another variable somewhere, nor is it no
// name at all.
static bool keeps_meaning(const tl_server *s, const tl_document *d,
                          const name_list *places, const char *name,
                          size_t nbytes) {
  size_t text_nbytes;
  char *text = rewrite(d, places, name, nbytes, &text_nbytes);
  if (text == NULL)
    return false;
  name_list before = read_names(s, d->text, d->nbytes);
  name_list after = read_names(s, text, text_nbytes);
  bool same = before.count == after.count && before.count > 0;
  for (size_t i = 0; same && i < before.count; i++) {
    const name_place *a = &before.items[i], *b = &after.items[i];
    same = moved(places, a->begin, nbytes) == b->begin &&
           moved(places, (size_t)a->home, nbytes) == (size_t)b->home;
  }
  free_names(&before);
  free_names(&after);
  free(text);
  return same;
}

// The edits of one document, of which it has some.
static void put_edits(tl_server *s, tl_document *d, const name_list *places,
                      const char *name, size_t nbytes) {
  tl_json_string(&s->out, d->uri, strlen(d->uri));
  tl_json_puts(&s->out, ":[");
  for (size_t i = 0; i < places->count; i++) {
    tl_json_puts(&s->out, i > 0 ? ",{" : "{");
    tl_lsp_put_range(&s->out, d, places->items[i].begin, places->items[i].end);
    tl_json_puts(&s->out, ",\"newText\":");
    tl_json_string(&s->out, name, nbytes);
    tl_json_puts(&s->out, "}");
  }
  tl_json_puts(&s->out, "]");
}

// Why a variable cannot have another name; NULL: it can.
static const char *refuse_rename(const tl_server *s, const meaning *m,
                                 const char *name, size_t nbytes) {
  if (m->file[0] != 0)
    return "the name is of another file: open that and rename it there";
  for (tl_document *d = s->documents; d != NULL; d = d->next) {
    name_list places = list_meant(s, m, d);
    bool ok = places.count == 0 || keeps_meaning(s, d, &places, name, nbytes);
    free_names(&places);
    if (!ok)
      return "with that name the program would mean something else, or none: "
             "it is taken, or no name";
  }
  return NULL;
}

// The edits of a text go from its beginning to its end and never overlap, as
// LSP asks for ("TextEdit[]"). One WorkspaceEdit for all open documents, or an
// error (-32803, RequestFailed) that says why not. Files that are not open stay
// as they are.
void tl_lsp_rename(tl_server *s, tally_value message) {
  tl_document *d = tl_lsp_document_of(s, message);
  size_t nbytes = 0;
  meaning m;
  name_place place;
  bool any = false;
  char *name = tl_lsp_text(s, message, "params.newName", &nbytes);
  if (name == NULL || d == NULL ||
      !find_meaning(s, d, tl_lsp_place_of(s, message, d), &m, &place)) {
    tl_lsp_error(
        s, &message, name == NULL ? -32602 : -32803,
        name == NULL ? "rename needs a newName" : "no variable stands there");
    free(name);
    return;
  }
  const char *why = refuse_rename(s, &m, name, nbytes);
  if (why != NULL) {
    tl_lsp_error(s, &message, -32803, why);
  } else {
    tl_lsp_begin_result(s, message);
    tl_json_puts(&s->out, "{\"changes\":{");
    for (tl_document *e = s->documents; e != NULL; e = e->next) {
      name_list places = list_meant(s, &m, e);
      tl_json_puts(&s->out, any && places.count > 0 ? "," : "");
      if (places.count > 0)
        put_edits(s, e, &places, name, nbytes);
      any = any || places.count > 0;
      free_names(&places);
    }
    tl_json_puts(&s->out, "}}");
    tl_lsp_end(s);
  }
  free_meaning(&m);
  free(name);
}

// The functions of a document, as symbols of kind 12. SymbolKind 12 is
// Function. `range` is what the editor folds or highlights, and has to contain
// `selectionRange`, where the cursor goes.
void tl_lsp_symbols(tl_server *s, tally_value message) {
  tl_document *d = tl_lsp_document_of(s, message);
  bool any = false;
  tl_lsp_begin_result(s, message);
  tl_json_puts(&s->out, "[");
  for (size_t i = 0; d != NULL && i + 3 < d->nbytes; i++) {
    bool is_begin = i == 0 || d->text[i - 1] == '\n' || d->text[i - 1] == ' ';
    if (!is_begin || memcmp(d->text + i, "fn ", 3) != 0)
      continue;
    size_t begin = i + 3, end = begin;
    while (end < d->nbytes && tl_lsp_is_in_name(d->text[end])) end++;
    if (end == begin || end == d->nbytes || d->text[end] != '(')
      continue;
    tl_json_puts(&s->out, any ? ",{\"name\":" : "{\"name\":");
    tl_json_string(&s->out, d->text + begin, end - begin);
    tl_json_puts(&s->out, ",\"kind\":12,");
    tl_lsp_put_range(&s->out, d, i, end);
    tl_json_puts(&s->out, ",\"selectionRange\":{\"start\":");
    tl_lsp_put_place(&s->out, d, begin);
    tl_json_puts(&s->out, ",\"end\":");
    tl_lsp_put_place(&s->out, d, end);
    tl_json_puts(&s->out, "}}");
    any = true;
  }
  tl_json_puts(&s->out, "]");
  tl_lsp_end(s);
}
