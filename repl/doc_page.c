// The reference of all functions as one page, in HTML or for man.
//
//     tl_doc_html, tl_doc_man
//       write_page
//         read_names        all names with their topics
//         relate_text       which others the text of a name means
//         write_contents    links to topics and modules, HTML only
//         write_topics      of each topic its names:
//           write_entry     signature, text, examples, see also
//         write_modules     of each module its names, HTML only
//
// A form says how each part looks. What is said comes from the tables that
// `tally doc` prints: texts are prose whose lines belong together, examples
// that four blanks indent, and empty lines between.
//
// The whole library is some 600 names and 150 kB of text, so names are found by
// going through them all; a page takes about 0.1 s. The page for the browser is
// one file, since browsers let a page from the disk load nothing else.
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700  // open_memstream
#endif

#include "repl/doc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "repl/file.h"

// At most so many names stand behind "See also".
enum { SEE_ALSO = 12 };

// What the lines of a documentation are.
typedef enum line_kind { LINE_BLANK, LINE_PROSE, LINE_EXAMPLE } line_kind;

// How a page looks.
typedef struct page_form {
  // What the page begins and ends with, but for what write_page adds.
  const char *head, *end;
  // What stands around lines of a kind, by line_kind.
  const char *open[3], *close[3];
  // Writes text so that it is read as it stands.
  void (*put)(FILE *out, const char *text, size_t n);
  // Writes a name that the page has.
  void (*link)(FILE *out, const char *name);
  // Begins a topic, whose first name is the one at [at].
  void (*topic)(FILE *out, const char *topic, size_t at);
  // Begins what is said of a name; parameters NULL: of a constant.
  void (*entry)(FILE *out, const char *name);  // how its heading begins
  const char *parameters[2], *end_heading;     // what is around them
  const char *also, *end_entry;  // ahead of the names it is like; its end
} page_form;

// All names, and a row of [related] for each: the names that its text means.
typedef struct reference {
  tally_vm *vm;
  FILE *out;
  const page_form *form;
  size_t count;
  char **names;  // owned, as all here
  const char **topics;
  bool *related;
} reference;

// A name is copied before its topic is asked for, as the VM may write the next
// answer over it. A topic lives as long as the VM.
const char **tl_doc_topics(tally_vm *vm, size_t *count) {
  *count = 0;
  while (tally_documented(vm, *count) != NULL) ++*count;
  const char **topics = malloc((*count + 1) * sizeof *topics);
  for (size_t i = 0; topics != NULL && i < *count; i++) {
    char name[256];
    snprintf(name, sizeof name, "%s", tally_documented(vm, i));
    const char *topic = tally_topic(vm, name);
    topics[i] = topic == NULL ? "" : topic;
  }
  return topics;
}

// Frees what read_names made, also of one that failed half way. The VM and the
// file are the caller's.
static void free_reference(reference *r) {
  for (size_t i = 0; r->names != NULL && i < r->count; i++) free(r->names[i]);
  free(r->names);
  free(r->topics);
  free(r->related);
}

// Copies what the VM enumerates, since a name is good only until the next call.
// False: no memory; what was read is freed by free_reference.
static bool read_names(reference *r) {
  r->topics = tl_doc_topics(r->vm, &r->count);
  r->names = calloc(r->count + 1, sizeof *r->names);
  r->related = calloc(r->count * r->count + 1, sizeof *r->related);
  if (r->topics == NULL || r->names == NULL || r->related == NULL)
    return false;
  for (size_t i = 0; i < r->count; i++) {
    const char *name = tally_documented(r->vm, i);
    r->names[i] = malloc(strlen(name) + 1);
    if (r->names[i] == NULL)
      return false;
    strcpy(r->names[i], name);
  }
  return true;
}

// --- Words ------------------------------------------------------------------

// Whether names may have the byte; all signs beyond ASCII count.
static bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 0x80;
}

// How many bytes the name at [text] has, with the points between its parts; 0:
// none begins there.
static size_t name_length(const char *text) {
  size_t n = 0;
  while (is_name_byte(text[n]) ||
         (n > 0 && text[n] == '.' && is_name_byte(text[n + 1])))
    n++;
  return n;
}

// Which function the word of [n] bytes at [text] means, or [count]. Many
// functions are called as English words are, so in prose a word counts that no
// sentence has: one with a point or a low line, or that is called.
static size_t meant(const reference *r, const char *text, size_t n,
                    line_kind kind) {
  bool is_called = text[n] == '(';
  bool is_marked = memchr(text, '.', n) != NULL || memchr(text, '_', n) != NULL;
  if (!is_called && (kind == LINE_EXAMPLE || !is_marked))
    return r->count;
  size_t i = 0;
  while (i < r->count &&
         (strncmp(r->names[i], text, n) != 0 || r->names[i][n] != 0))
    i++;
  return i;
}

// What the line at [line] is, which ends with a newline or the text.
static line_kind kind_of(const char *line) {
  if (*line == '\n' || *line == 0)
    return LINE_BLANK;
  return strncmp(line, "    ", 4) == 0 ? LINE_EXAMPLE : LINE_PROSE;
}

// Notes the functions that the prose of the name [at] means. Examples call much
// that has little to do with it, so they are passed over; a text that cannot be
// had for want of memory means none.
static void relate_text(reference *r, size_t at) {
  const char *text = tally_documentation(r->vm, r->names[at]);
  line_kind kind = LINE_BLANK;
  bool is_begin = true;
  for (size_t n; text != NULL && *text != 0; text += n > 0 ? n : 1) {
    if (is_begin)
      kind = kind_of(text);
    n = name_length(text);
    is_begin = *text == '\n';
    size_t other =
        n > 0 && kind == LINE_PROSE ? meant(r, text, n, kind) : r->count;
    if (other < r->count)
      r->related[at * r->count + other] = true;
  }
}

// Whether two names of one topic belong together: one is a part of the other,
// and not as int is one of print.
static bool are_alike(const reference *r, size_t a, size_t b) {
  const char *x = r->names[a], *y = r->names[b];
  return strcmp(r->topics[a], r->topics[b]) == 0 &&
         ((strlen(x) > 3 && strstr(y, x) != NULL) ||
          (strlen(y) > 3 && strstr(x, y) != NULL));
}

// Writes the names that the text of [at] means, that mean it, or are alike.
static void write_related(const reference *r, size_t at) {
  int written = 0;
  for (size_t i = 0; i < r->count && written < SEE_ALSO; i++) {
    if (i == at || (!r->related[at * r->count + i] &&
                    !r->related[i * r->count + at] && !are_alike(r, at, i)))
      continue;
    fputs(written == 0 ? r->form->also : ", ", r->out);
    r->form->link(r->out, r->names[i]);
    written++;
  }
  if (written > 0)
    fprintf(r->out, "\n%s", r->form->close[LINE_PROSE]);
}

// --- Pages ------------------------------------------------------------------

// Writes a line of [n] bytes, the functions that it means as links, and a
// newline. What stands between words, and a name that nobody has, is written as
// text.
static void write_line(const reference *r, const char *line, size_t n,
                       line_kind kind) {
  for (size_t i = 0, length; i < n; i += length) {
    length = name_length(line + i);
    size_t other = length > 0 ? meant(r, line + i, length, kind) : r->count;
    length += length == 0;
    if (other < r->count)
      r->form->link(r->out, r->names[other]);
    else
      r->form->put(r->out, line + i, length);
  }
  fputc('\n', r->out);
}

// Writes a documentation: lines of one kind that follow each other belong
// together. Where the kind changes, what was open is closed first; blank lines
// only part the others.
static void write_text(const reference *r, const char *text) {
  line_kind kind = LINE_BLANK;
  while (*text != 0) {
    line_kind next = kind_of(text);
    if (next != kind) {
      fputs(r->form->close[kind], r->out);
      fputs(r->form->open[next], r->out);
      kind = next;
    }
    text += kind == LINE_EXAMPLE ? 4 : 0;
    size_t n = strcspn(text, "\n");
    if (kind != LINE_BLANK)
      write_line(r, text, n, kind);
    text += n + (text[n] == '\n');
  }
  fputs(r->form->close[kind], r->out);
}

// All that is said of the name [at].
static void write_entry(const reference *r, size_t at) {
  const char *name = r->names[at];
  const page_form *form = r->form;
  const char *parameters = tally_signature(r->vm, name);
  form->entry(r->out, name);
  if (parameters != NULL) {
    fputs(form->parameters[0], r->out);
    form->put(r->out, parameters, strlen(parameters));
    fputs(form->parameters[1], r->out);
  }
  fputs(form->end_heading, r->out);
  const char *text = tally_documentation(r->vm, name);
  write_text(r, text == NULL ? "" : text);
  write_related(r, at);
  fputs(form->end_entry, r->out);
}

// Whether a name before [at] has its topic, which then is written already.
// Names of a topic need not follow each other: C and Tally have some of each.
static bool is_later(const reference *r, size_t at) {
  size_t i = 0;
  while (strcmp(r->topics[i], r->topics[at]) != 0) i++;
  return i < at;
}

// How a topic is called on the page; "" is that of a host's functions.
static const char *topic_title(const char *topic) {
  return *topic == 0 ? "of the host" : topic;
}

// A topic is numbered by its first name.
static void write_topics(const reference *r) {
  for (size_t i = 0; i < r->count; i++) {
    if (is_later(r, i))
      continue;
    r->form->topic(r->out, topic_title(r->topics[i]), i);
    for (size_t k = i; k < r->count; k++)
      if (strcmp(r->topics[k], r->topics[i]) == 0)
        write_entry(r, k);
  }
}

// How many bytes the module of a name has with its point: 7 of linalg.solve. 0:
// it belongs to no module.
static size_t module_length(const char *name) {
  const char *point = strchr(name, '.');
  return point == NULL ? 0 : (size_t)(point - name) + 1;
}

// Whether the name [at] is the first of its module.
static bool begins_module(const reference *r, size_t at) {
  size_t i = 0, n = module_length(r->names[at]);
  while (n > 0 && strncmp(r->names[i], r->names[at], n) != 0) i++;
  return n > 0 && i == at;
}

// --- man --------------------------------------------------------------------

// Backslashes and dashes mean something to man.
static void put_man(FILE *out, const char *text, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (text[i] == '\\' || text[i] == '-')
      fputc('\\', out);
    // \& keeps a point or an apostrophe from beginning a request.
    else if (text[i] == '.' || text[i] == '\'')
      fputs("\\&", out);
    fputc(text[i] == '\\' ? 'e' : text[i], out);
  }
}

// A manual has no links: the name is bold.
static void link_man(FILE *out, const char *name) {
  fprintf(out, "\\fB%s\\fP", name);
}

// A section.
static void topic_man(FILE *out, const char *topic, size_t at) {
  (void)at;
  fputs(".SH \"", out);
  put_man(out, topic, strlen(topic));
  fputs("\"\n", out);
}

// A paragraph under its signature.
static void entry_man(FILE *out, const char *name) {
  fprintf(out, ".TP\n\\fB%s\\fP", name);
}

// Everything stands below .TP, so paragraphs are parted by .sp, which keeps the
// indentation.
static const page_form man_form = {
    .head =
        ".TH TALLY 7 \"\" \"Tally\" \"Functions of Tally\"\n"
        ".SH NAME\ntally \\- the functions of the array language Tally\n"
        ".SH DESCRIPTION\n"
        "All functions and constants by topics. A name with a point is of "
        "a\nmodule, which\n.B import\nbrings in. The command is in\n"
        ".BR tally (1).\n",
    .end = ".SH SEE ALSO\n.BR tally (1)\n",
    .open = {".sp\n", "", ".sp\n.nf\n"},
    .close = {"", "", ".fi\n"},
    .put = put_man,
    .link = link_man,
    .topic = topic_man,
    .entry = entry_man,
    .parameters = {"(", ")"},
    .end_heading = "\n",
    .also = ".sp\nSee also ",
    .end_entry = "",
};

// --- HTML -------------------------------------------------------------------

// Signs of the markup are escaped, quotes too, as attributes need it.
static void put_html(FILE *out, const char *text, size_t n) {
  for (size_t i = 0; i < n; i++) {
    switch (text[i]) {
      case '&':
        fputs("&amp;", out);
        break;
      case '<':
        fputs("&lt;", out);
        break;
      case '>':
        fputs("&gt;", out);
        break;
      case '"':
        fputs("&quot;", out);
        break;
      default:
        fputc(text[i], out);
    }
  }
}

// A place of the page is called as the function; ids of its own begin with
// topic-, module- or page-, which no name can.
static void link_html(FILE *out, const char *name) {
  fprintf(out, "<a href=\"#%s\">%s</a>", name, name);
}

// A heading.
static void topic_html(FILE *out, const char *topic, size_t at) {
  fprintf(out, "<h2 id=\"topic-%zu\">", at);
  put_html(out, topic, strlen(topic));
  fputs("</h2>\n", out);
}

// A heading that links to itself, for others to copy the address.
static void entry_html(FILE *out, const char *name) {
  fprintf(out, "<article id=\"%s\"><h3>", name);
  link_html(out, name);
}

// The style follows behind the head, the script behind the end.
static const page_form html_form = {
    .head =
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width\">\n"
        "<title>Tally: the functions</title>\n<style>\n",
    .end = "</main>\n<script>\n",
    .open = {"", "<p>", "<pre>"},
    .close = {"", "</p>\n", "</pre>\n"},
    .put = put_html,
    .link = link_html,
    .topic = topic_html,
    .entry = entry_html,
    .parameters = {"<span>(", ")</span>"},
    .end_heading = "</h3>\n",
    .also = "<p class=\"also\">See also ",
    .end_entry = "</article>\n",
};

// Links to all topics and modules, and the search, beside the page. Ahead of
// the topics stands an empty place for what the search finds; while it shows
// something, the script hides all else.
static void write_contents(const reference *r) {
  fputs(
      "<nav><h1>Tally</h1><input id=\"page-search\" type=\"search\" autofocus "
      "placeholder=\"Search (/)\" aria-label=\"Search\">\n<h2>Topics</h2>"
      "<div>\n",
      r->out);
  for (size_t i = 0; i < r->count; i++) {
    if (is_later(r, i))
      continue;
    const char *title = topic_title(r->topics[i]);
    fprintf(r->out, "<a href=\"#topic-%zu\">", i);
    put_html(r->out, title, strlen(title));
    fputs("</a>\n", r->out);
  }
  fputs("</div><h2>Modules</h2><div>\n", r->out);
  for (size_t i = 0; i < r->count; i++) {
    int n = (int)module_length(r->names[i]) - 1;
    if (begins_module(r, i))
      fprintf(r->out, "<a href=\"#module-%.*s\">%.*s</a>\n", n, r->names[i], n,
              r->names[i]);
  }
  fputs(
      "</div></nav>\n<main><div id=\"page-found\"></div><div id=\"page-all\">\n",
      r->out);
}

// The names of each module, behind all topics, as links to what is said of them
// there. Modules come as their first names do.
static void write_modules(const reference *r) {
  for (size_t i = 0; i < r->count; i++) {
    size_t n = module_length(r->names[i]);
    if (!begins_module(r, i))
      continue;
    fprintf(r->out, "<h2 id=\"module-%.*s\">import %.*s</h2>\n<p>", (int)n - 1,
            r->names[i], (int)n - 1, r->names[i]);
    for (size_t k = i; k < r->count; k++) {
      if (strncmp(r->names[k], r->names[i], n) != 0)
        continue;
      link_html(r->out, r->names[k]);
      fputs("\n", r->out);
    }
    fputs("</p>\n", r->out);
  }
  fputs("</div>\n", r->out);
}

// --- Both -------------------------------------------------------------------

// Writes the whole page: its head, the contents, the topics with their names,
// the modules. A manual has neither contents nor modules, since man searches by
// itself and a name there says its module. Whether all arrived is for who
// closes [out]; false: no memory for the names.
static bool write_page(tally_vm *vm, const page_form *form, FILE *out) {
  reference r = {.vm = vm, .form = form, .out = out};
  bool ok = read_names(&r), is_html = form == &html_form;
  for (size_t i = 0; ok && i < r.count; i++) relate_text(&r, i);
  if (ok) {
    fputs(form->head, out);
    if (is_html) {
      fprintf(out, "%s</style></head><body>\n", tl_doc_style);
      write_contents(&r);
    }
    write_topics(&r);
    if (is_html)
      write_modules(&r);
    fputs(form->end, out);
    if (is_html)
      fprintf(out, "%s</script></body></html>\n", tl_doc_script);
  }
  free_reference(&r);
  return ok;
}

// Goes to standard output as it is made: a pager may begin before the end.
bool tl_doc_man(tally_vm *vm) {
  return write_page(vm, &man_form, stdout);
}

// The page is made in memory and written only when it is whole, so that an old
// one is never cut short. Memory that runs out shows in the stream alone, whose
// close need not tell.
bool tl_doc_html(tally_vm *vm, const char *folder) {
  char *text = NULL, path[4096];
  size_t nbytes = 0;
  int n = snprintf(path, sizeof path, "%s/index.html", folder);
  FILE *out = n < (int)sizeof path ? open_memstream(&text, &nbytes) : NULL;
  if (out == NULL) {
    errno = n < (int)sizeof path ? ENOMEM : ENAMETOOLONG;
    return false;
  }
  errno = ENOMEM;
  bool ok = write_page(vm, &html_form, out) && !ferror(out);
  ok = fclose(out) == 0 && ok;
  if (ok && mkdir(folder, 0777) != 0 && errno != EEXIST)
    ok = false;
  ok = ok && tl_write_file(path, text, nbytes);
  free(text);
  return ok;
}
