// What the program doc.tly makes of all names: the reference as one page, in
// HTML or for man, lists, and what is missing.
//
//     tl_doc_html, tl_doc_ask
//       call_program      opens the program and calls a function of it

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "repl/colours.h"
#include "repl/file.h"
#include "repl/program.h"

// What the program's function of that name gives for the texts, ended by NULL,
// of what [vm] documents. *program is to be closed in any case. An error is the
// one of [vm].
static tally_status call_program(tally_vm *vm, const char *function,
                                 const char *const *texts, tally_vm **program,
                                 tally_value *out) {
  tally_value args[2], width;
  int count = 0;
  *program = tl_program_open(tl_doc, NULL, NULL, NULL, NULL, 0, vm);
  if (*program == NULL)
    return tally_raise(vm, TALLY_ERR_MEMORY, "no memory for documentation");
  tally_status status =
      tally_from_int(*program, tl_terminal_width(STDOUT_FILENO), &width);
  if (status == TALLY_OK)
    status = tally_set_global(*program, "width", width);
  for (; status == TALLY_OK && *texts != NULL; texts++, count++)
    status = tl_program_give(*program, *texts, strlen(*texts), &args[count]);
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
  tally_status status = call_program(vm, "page_html", texts, &program, &page);
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

tally_status tl_doc_ask(tally_vm *vm, const char *function, const char *text,
                        int *answer) {
  const char *const texts[] = {text, NULL};
  tally_vm *program = NULL;
  tally_value found;
  tally_status status = call_program(vm, function, texts, &program, &found);
  if (status == TALLY_OK)
    status = tally_to_bool(program, found, answer);
  tally_close(program);
  return status;
}
