// The reference of all functions as one page, in HTML or for man, and what is
// missing in it: the rows of the tables that `tally doc` prints, handed to the
// program doc.tly.
//
//     tl_doc_html, tl_doc_ask
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
#include <unistd.h>

#include "repl/colours.h"
#include "repl/file.h"
#include "repl/programs.h"

// The row of a name of [vm], in the program's frame of handles. What is asked
// for comes one after the other, as the VM may write the next answer over the
// last.
static tally_status make_row(tally_vm *program, tally_vm *vm, const char *name,
                             tally_value *out) {
  static const char *const keys[] = {"name", "parameters", "text", "topic"};
  static const char *(*const ask[])(tally_vm *, const char *) = {
      NULL, tally_signature, tally_documentation, tally_topic};
  enum { FIELDS = sizeof keys / sizeof *keys };
  tally_value fields[FIELDS];
  for (int i = 0; i < FIELDS; i++) {
    const char *text = ask[i] == NULL ? name : ask[i](vm, name);
    tally_status status =
        text == NULL && ask[i] == tally_signature
            ? tally_from_none(program, &fields[i])
            : tally_from_string(program, text == NULL ? "" : text,
                                text == NULL ? 0 : strlen(text), &fields[i]);
    if (status != TALLY_OK)
      return status;
  }
  return tally_from_record(program, FIELDS, keys, fields, out);
}

// The rows of all names that begin with [prefix], likewise.
static tally_status list_rows(tally_vm *program, tally_vm *vm,
                              const char *prefix, tally_value *out) {
  size_t names = 0, count = 0;
  while (tally_documented(vm, names) != NULL) names++;
  tally_value *rows = malloc((names + 1) * sizeof *rows);
  tally_status status = rows == NULL ? tally_raise(program, TALLY_ERR_MEMORY,
                                                   "no memory for names")
                                     : TALLY_OK;
  for (size_t i = 0; i < names && status == TALLY_OK; i++) {
    char name[256];
    snprintf(name, sizeof name, "%s", tally_documented(vm, i));
    if (strncmp(name, prefix, strlen(prefix)) == 0)
      status = make_row(program, vm, name, &rows[count++]);
  }
  if (status == TALLY_OK)
    status = tally_from_list(program, count, rows, out);
  free(rows);
  return status;
}

// What the program prints. That standard output refuses it is seen when the
// command closes it.
static int write_page(void *context, const char *text, size_t nbytes) {
  (void)context;
  fwrite(text, 1, nbytes, stdout);
  return 0;
}

// What the program's function of that name gives for the rows of [vm] and
// texts, ended by NULL. The program has a VM of its own, as that of the prompt
// has the user's names; *program is to be closed in any case. An error is the
// one of [vm].
static tally_status call_program(tally_vm *vm, const char *function,
                                 const char *prefix, const char *const *texts,
                                 tally_vm **program, tally_value *out) {
  tally_value args[3], width;
  int count = 1;
  tally_options options = tally_default_options();
  options.write = write_page;
  tally_status status = tally_open(&options, program);
  if (status == TALLY_OK)
    status = tally_eval(*program, tl_doc, NULL);
  if (status == TALLY_OK)
    status = tally_from_int(*program, tl_terminal_width(STDOUT_FILENO), &width);
  if (status == TALLY_OK)
    status = tally_set_global(*program, "width", width);
  if (status == TALLY_OK)
    status = list_rows(*program, vm, prefix, &args[0]);
  for (; status == TALLY_OK && *texts != NULL; texts++, count++)
    status = tally_from_string(*program, *texts, strlen(*texts), &args[count]);
  if (status == TALLY_OK)
    status = tally_call(*program, function, count, args, out);
  return status == TALLY_OK
             ? status
             : tally_raise(vm, status, "%s", tally_error(*program)->message);
}

// The page is written only when it is whole, so that an old one is never cut
// short.
tally_status tl_doc_html(tally_vm *vm, const char *folder) {
  static const char *const texts[] = {tl_doc_css, tl_doc_js, NULL};
  char path[4096];
  tally_vm *program = NULL;
  tally_value page;
  const char *text;
  size_t nbytes;
  int n = snprintf(path, sizeof path, "%s/index.html", folder);
  tally_status status =
      call_program(vm, "page_html", "", texts, &program, &page);
  if (status == TALLY_OK)
    status = tally_to_string(program, page, &text, &nbytes);
  if (n >= (int)sizeof path)
    errno = ENAMETOOLONG;
  if (status == TALLY_OK &&
      (n >= (int)sizeof path || (mkdir(folder, 0777) != 0 && errno != EEXIST) ||
       !tl_write_file(path, text, nbytes)))
    status =
        tally_raise(vm, TALLY_ERR_IO, "cannot write the reference into %s: %s",
                    folder, strerror(errno));
  tally_close(program);
  return status;
}

tally_status tl_doc_ask(tally_vm *vm, const char *function, const char *prefix,
                        const char *text, int *answer) {
  const char *const texts[] = {text, NULL};
  tally_vm *program = NULL;
  tally_value found;
  tally_status status =
      call_program(vm, function, prefix, texts, &program, &found);
  if (status == TALLY_OK)
    status = tally_to_bool(program, found, answer);
  tally_close(program);
  return status;
}
