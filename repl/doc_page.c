// The reference of all functions as one page, in HTML or for man, and what is
// missing in it: the rows of the tables that `tally doc` prints, handed to the
// program doc.tly.
//
//     tl_doc_html, _man, _check
//       call_program      runs doc.tly, which defines functions, and calls one
//         list_rows       (name, parameters, text, topic) for each name
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700  // strdup
#endif

#include "repl/doc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "repl/file.h"
#include "repl/programs.h"

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

// The row of a name, in the caller's frame of handles. What is asked for comes
// one after the other, as the VM may write the next answer over the last.
static tally_status make_row(tally_vm *vm, const char *name, tally_value *out) {
  static const char *const keys[] = {"name", "parameters", "text", "topic"};
  static const char *(*const ask[])(tally_vm *, const char *) = {
      NULL, tally_signature, tally_documentation, tally_topic};
  enum { FIELDS = sizeof keys / sizeof *keys };
  tally_value fields[FIELDS];
  for (int i = 0; i < FIELDS; i++) {
    const char *text = ask[i] == NULL ? name : ask[i](vm, name);
    tally_status status =
        text != NULL ? tally_from_string(vm, text, strlen(text), &fields[i])
        : ask[i] == tally_signature ? tally_from_none(vm, &fields[i])
                                    : tally_from_string(vm, "", 0, &fields[i]);
    if (status != TALLY_OK)
      return status;
  }
  return tally_from_record(vm, FIELDS, keys, fields, out);
}

// The rows of all names that begin with [prefix], likewise.
static tally_status list_rows(tally_vm *vm, const char *prefix,
                              tally_value *out) {
  size_t names = 0, count = 0;
  while (tally_documented(vm, names) != NULL) names++;
  tally_value *rows = malloc((names + 1) * sizeof *rows);
  tally_status status =
      rows == NULL ? tally_raise(vm, TALLY_ERR_MEMORY, "no memory for names")
                   : TALLY_OK;
  for (size_t i = 0; i < names && status == TALLY_OK; i++) {
    char name[256];
    snprintf(name, sizeof name, "%s", tally_documented(vm, i));
    if (strncmp(name, prefix, strlen(prefix)) == 0)
      status = make_row(vm, name, &rows[count++]);
  }
  if (status == TALLY_OK)
    status = tally_from_list(vm, count, rows, out);
  free(rows);
  return status;
}

// What the program's function of that name gives for these rows and texts,
// ended by NULL; the caller ends the frame.
static tally_status call_program(tally_vm *vm, const char *function,
                                 const char *prefix, const char *const *texts,
                                 tally_value *out) {
  tally_value args[3];
  int count = 1;
  tally_status status = tally_eval(vm, tl_doc, NULL);
  if (status == TALLY_OK)
    status = list_rows(vm, prefix, &args[0]);
  for (; status == TALLY_OK && *texts != NULL; texts++, count++)
    status = tally_from_string(vm, *texts, strlen(*texts), &args[count]);
  return status == TALLY_OK ? tally_call(vm, function, count, args, out)
                            : status;
}

// Goes to standard output.
tally_status tl_doc_man(tally_vm *vm) {
  static const char *const none[] = {NULL};
  tally_value page;
  const char *text;
  size_t nbytes;
  tally_frame frame = tally_begin(vm);
  tally_status status = call_program(vm, "page_man", "", none, &page);
  if (status == TALLY_OK)
    status = tally_to_string(vm, page, &text, &nbytes);
  if (status == TALLY_OK)
    fwrite(text, 1, nbytes, stdout);
  tally_end(vm, frame, 0, NULL);
  return status;
}

// The page is written only when it is whole, so that an old one is never cut
// short.
tally_status tl_doc_html(tally_vm *vm, const char *folder) {
  static const char *const texts[] = {tl_doc_css, tl_doc_js, NULL};
  char path[4096];
  tally_value page;
  const char *text;
  size_t nbytes;
  int n = snprintf(path, sizeof path, "%s/index.html", folder);
  tally_frame frame = tally_begin(vm);
  tally_status status = call_program(vm, "page_html", "", texts, &page);
  if (status == TALLY_OK)
    status = tally_to_string(vm, page, &text, &nbytes);
  if (n >= (int)sizeof path)
    errno = ENAMETOOLONG;
  if (status == TALLY_OK &&
      (n >= (int)sizeof path || (mkdir(folder, 0777) != 0 && errno != EEXIST) ||
       !tl_write_file(path, text, nbytes)))
    status =
        tally_raise(vm, TALLY_ERR_IO, "cannot write the reference into %s: %s",
                    folder, strerror(errno));
  tally_end(vm, frame, 0, NULL);
  return status;
}

// What lacks is printed by the program.
tally_status tl_doc_check(tally_vm *vm, const char *prefix, int *complete) {
  static const char *const none[] = {NULL};
  tally_value found;
  tally_frame frame = tally_begin(vm);
  tally_status status = call_program(vm, "check", prefix, none, &found);
  if (status == TALLY_OK)
    status = tally_to_bool(vm, found, complete);
  tally_end(vm, frame, 0, NULL);
  return status;
}
