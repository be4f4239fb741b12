// What is known of the word at a place: how it may go on, what it means, and
// the signature of the call around it.

#include "repl/lsp_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One item of a list of completions.
static void put_item(tl_server *s, const char *name, size_t nbytes,
                     int *count) {
  if ((*count)++ > 0)
    tl_json_puts(&s->out, ",");
  tl_json_puts(&s->out, "{\"label\":");
  tl_json_string(&s->out, name, nbytes);
  tl_json_puts(&s->out, "}");
}

// All tokens of a document up to a byte, as tally_tokens has them; *count are
// there. To be freed; NULL: no memory.
static tally_token *tokens_before(tl_server *s, const tl_document *d, size_t at,
                                  size_t *count) {
  *count = tally_tokens(s->vm, d->text, at, NULL, 0);
  tally_token *tokens = malloc((*count + 1) * sizeof *tokens);
  if (tokens != NULL)
    *count = tally_tokens(s->vm, d->text, at, tokens, *count);
  return tokens;
}

// A name as it stands in a text.
typedef struct spelled {
  const char *text;
  size_t nbytes;
} spelled;

// For qsort, by bytes; what another begins with comes first.
static int compare_spelled(const void *left, const void *right) {
  const spelled *a = left, *b = right;
  size_t n = a->nbytes < b->nbytes ? a->nbytes : b->nbytes;
  int order = memcmp(a->text, b->text, n);
  return order != 0 ? order : (a->nbytes > b->nbytes) - (a->nbytes < b->nbytes);
}

// The document's names that go on from its bytes [begin, at), in order and each
// once.
static void put_own_names(tl_server *s, const tl_document *d, size_t begin,
                          size_t at, int *count) {
  const size_t part = at - begin;
  size_t token_count, n = 0;
  tally_token *tokens = tokens_before(s, d, d->nbytes, &token_count);
  spelled *names = calloc(token_count + 1, sizeof *names);
  for (size_t i = 0; tokens != NULL && names != NULL && i < token_count; i++) {
    const tally_token *t = &tokens[i];
    if ((t->kind == TALLY_TOKEN_NAME || t->kind == TALLY_TOKEN_CALL) &&
        t->end - t->begin > part && t->begin != begin &&
        memcmp(d->text + t->begin, d->text + begin, part) == 0)
      names[n++] = (spelled){d->text + t->begin, t->end - t->begin};
  }
  if (n > 0)
    qsort(names, n, sizeof *names, compare_spelled);
  for (size_t i = 0; i < n; i++)
    if (i == 0 || compare_spelled(&names[i - 1], &names[i]) != 0)
      put_item(s, names[i].text, names[i].nbytes, count);
  free(names);
  free(tokens);
}

// Names of the document come first, then what the prompt would offer for the
// line up to the cursor. Behind a point only the second: members are none of
// the document's names. The list is an array of items, which the client may
// filter further, as nothing says that it is incomplete.
bool tl_lsp_complete(tl_server *s, tally_value message, tl_document *d,
                     size_t at) {
  size_t begin = at, nbytes;
  tally_value names, item;
  const char *name;
  int count = 0;
  (void)message;
  size_t line = at;
  while (line > 0 && d->text[line - 1] != '\n') line--;
  char *text = malloc(at - line + 1);
  tl_json_puts(&s->out, "[");
  if (text != NULL) {
    memcpy(text, d->text + line, at - line);
    text[at - line] = 0;
    while (begin > line && tl_lsp_is_in_name(d->text[begin - 1])) begin--;
    if (begin == line || d->text[begin - 1] != '.')
      put_own_names(s, d, begin, at, &count);
    if (tally_complete(s->vm, text, &names) == TALLY_OK) {
      for (size_t i = 0; i < tally_length(s->vm, names); i++) {
        if (tally_item(s->vm, names, i, &item) != TALLY_OK)
          break;
        if (tally_to_string(s->vm, item, &name, &nbytes) == TALLY_OK)
          put_item(s, name, nbytes, &count);
        tally_release(s->vm, item);
      }
      tally_release(s->vm, names);
    }
  }
  free(text);
  tl_json_puts(&s->out, "]");
  return true;
}

// Whether a paragraph of a description is a signature.
static bool is_signature(const char *text) {
  size_t n = 0;
  while (tl_lsp_is_in_name(text[n])) n++;
  return n > 0 && text[n] == '(';
}

// The end of the description that begins here: its signature, and the paragraph
// behind it unless that is the next one's.
//
//     f(x)
//
//     What f does.        no signature: it belongs to f
//
//     g(x, y)             a name with a parenthesis: the next description
static const char *description_end(const char *at) {
  const char *end = strstr(at, "\n\n");
  if (end != NULL && !is_signature(end + 2))
    end = strstr(end + 2, "\n\n");
  return end == NULL ? at + strlen(at) : end;
}

// What the document's own function of that name says of itself. To be freed;
// NULL: nothing.
static char *describe_own(const tl_document *d, const char *name) {
  size_t n = strlen(name);
  const char *at = d->described;
  while (at != NULL && (strncmp(at, name, n) != 0 || at[n] != '(')) {
    at = strstr(at, "\n\n");
    at = at == NULL ? NULL : at + 2;
  }
  return at == NULL ? NULL : strndup(at, (size_t)(description_end(at) - at));
}

// At most so many bytes of a text, none of a character cut in two.
static int whole_bytes(const char *text, size_t most) {
  size_t n = strlen(text);
  if (n <= most)
    return (int)n;
  for (n = most; n > 0 && (text[n] & 0xc0) == 0x80;) n--;
  return (int)n;
}

// The first line of a description: name and parameters, as in Tally. Then comes
// the rest, as Markdown (MarkupContent in the protocol); editors colour what is
// fenced as tally.
static void put_markup(tl_json *to, const char *head, const char *text) {
  tl_json all = {0};
  tl_json_puts(&all, "```tally\n");
  tl_json_puts(&all, head);
  tl_json_puts(&all, "\n```\n");
  tl_json_puts(&all, text);
  tl_json_puts(to, "{\"kind\":\"markdown\",\"value\":");
  tl_json_string(to, all.text == NULL ? "" : all.text, all.nbytes);
  tl_json_puts(to, "}");
  free(all.text);
}

// What is known of a name: name and parameters in [head], and the text behind
// them; NULL: nothing. It is valid until *own is freed, which the caller does.
// The document's own function wins over the library's of that name, as it does
// when the script runs.
enum { HEAD = 512 };
static const char *describe(tl_server *s, const tl_document *d,
                            const char *name, char head[HEAD], char **own) {
  *own = name[0] == 0 ? NULL : describe_own(d, name);
  if (*own != NULL) {
    size_t n = strcspn(*own, "\n");
    snprintf(head, HEAD, "%.*s", whole_bytes(*own, n < 500 ? n : 500), *own);
    return *own + n;
  }
  const char *text = name[0] == 0 ? NULL : tally_documentation(s->vm, name);
  const char *params = text == NULL ? NULL : tally_signature(s->vm, name);
  if (params == NULL)
    snprintf(head, HEAD, "%s", name);
  else
    snprintf(head, HEAD, "%s(%.*s)", name, whole_bytes(params, 370), params);
  return text;
}

// Of what nothing is known there is null, and the editor shows nothing.
bool tl_lsp_hover(tl_server *s, tally_value message, tl_document *d,
                  size_t at) {
  char name[128], head[HEAD], *own;
  (void)message;
  tl_lsp_name_at(d, at, name, sizeof name);
  const char *text = describe(s, d, name, head, &own);
  if (text != NULL) {
    tl_json_puts(&s->out, "{\"contents\":");
    put_markup(&s->out, head, text);
    tl_json_puts(&s->out, "}");
  }
  free(own);
  return text != NULL;
}

// A call whose arguments stand at a byte.
typedef struct open_call {
  size_t paren;   // where its parenthesis is
  int argument;   // how many arguments are before the one at the byte
  char name[64];  // that one's; "" where it is given by position
} open_call;

// Finds the call; false: there is none. Goes backwards over brackets that are
// closed. A list or record that begins in between says that the byte is in none
// of the call's arguments directly.
static bool find_call(tl_server *s, const tl_document *d, size_t at,
                      open_call *out) {
  size_t count;
  tally_token *tokens = tokens_before(s, d, at, &count);
  bool found = false;
  *out = (open_call){.paren = 0};
  int depth = 0;
  for (size_t i = tokens == NULL ? 0 : count; i-- > 0;) {
    const tally_token *t = &tokens[i];
    const char sign = d->text[t->begin];
    if (t->kind == TALLY_TOKEN_CLOSE)
      depth++;
    bool begins = t->kind == TALLY_TOKEN_OPEN && depth-- == 0;
    bool divides = t->kind == TALLY_TOKEN_OTHER && depth == 0;
    if (divides && sign == ';')
      break;
    // Only the last argument's name counts, which is come by first.
    if (divides && sign == ':' && i > 0 && out->argument == 0)
      snprintf(out->name, sizeof out->name, "%.*s",
               (int)(tokens[i - 1].end - tokens[i - 1].begin),
               d->text + tokens[i - 1].begin);
    out->argument += divides && sign == ',';
    if (begins) {
      out->paren = t->begin;
      found = sign == '(';
      break;
    }
  }
  free(tokens);
  return found;
}

// The quote that ends the string that begins here, or its last byte.
static const char *string_end(const char *at) {
  while (at[1] != 0 && at[1] != '"') at += 1 + (at[1] == '\\' && at[2] != 0);
  return at + (at[1] != 0);
}

// The parameters of a signature, f(x, axis: none), each as it stands there, and
// which of them the argument is; -1: none.
static int put_parameters(tl_server *s, const char *label,
                          const open_call *call) {
  const char *from = strchr(label, '(');
  int count = 0, active = -1, depth = 0;
  tl_json_puts(&s->out, ",\"parameters\":[");
  for (const char *at = from == NULL ? "" : ++from; *at != 0; at++) {
    if (*at == '"')
      at = string_end(at);
    bool ends = depth == 0 && (*at == ',' || *at == ')');
    // Types stand between backquotes, which open and close alike.
    depth += (strchr("([{", *at) != NULL) - (strchr(")]}", *at) != NULL);
    if (!ends)
      continue;
    size_t n = (size_t)(at - from), named = strcspn(from, " :=,)");
    if (n > 0) {
      bool is_next = active < 0 &&
                     (count == call->argument ||
                      (count < call->argument && strncmp(from, "...", 3) == 0));
      bool is_it = call->name[0] == 0
                       ? is_next
                       : strlen(call->name) == named &&
                             memcmp(from, call->name, named) == 0;
      if (is_it)
        active = count;
      tl_json_puts(&s->out, count++ > 0 ? ",{\"label\":" : "{\"label\":");
      tl_json_string(&s->out, from, n);
      tl_json_puts(&s->out, "}");
    }
    if (*at == ')')
      break;
    from = at + 1 + strspn(at + 1, " ");
  }
  tl_json_puts(&s->out, "]");
  return active;
}

// Where the argument is no parameter's the client shows the first as the active
// one.
bool tl_lsp_signature(tl_server *s, tally_value message, tl_document *d,
                      size_t at) {
  char name[128] = "", label[HEAD], *own;
  open_call call;
  (void)message;
  if (find_call(s, d, at, &call) && call.paren > 0)
    tl_lsp_name_at(d, call.paren - 1, name, sizeof name);
  bool found = describe(s, d, name, label, &own) != NULL;
  free(own);
  if (!found)
    return false;
  tl_json_puts(&s->out, "{\"signatures\":[{\"label\":");
  tl_json_string(&s->out, label, strlen(label));
  int active = put_parameters(s, label, &call);
  tl_json_puts(&s->out, "}]");
  if (active >= 0) {
    tl_json_puts(&s->out, ",\"activeParameter\":");
    tl_json_int(&s->out, active);
  }
  tl_json_puts(&s->out, "}");
  return true;
}
