// What a script's functions say of themselves, as text (signature.h): the same
// form for functions that exist (tally_describe) and for those of a text that
// is only parsed (tally_describe_source).
#include "vm/text/signature.h"

// An empty line between entries, and none before the first.
void tl_put_paragraph(tl_text *text) {
  if (text->length > 0)
    tl_text_putc(text, '\n');
}

// Parameters may stand on several lines: each line end with its indentation
// becomes one blank.
void tl_put_signature(tl_text *text, const char *name, size_t name_nbytes,
                      const char *params, size_t nbytes) {
  tl_put_paragraph(text);
  tl_text_add(text, name, name_nbytes);
  tl_text_putc(text, '(');
  for (size_t i = 0; i < nbytes; i++) {
    bool is_end = params[i] == '\n' || params[i] == '\r';
    if (!is_end) {
      tl_text_putc(text, params[i]);
      continue;
    }
    while (i + 1 < nbytes && strchr(" \t\r\n", params[i + 1]) != NULL) i++;
    tl_text_putc(text, ' ');
  }
  tl_text_puts(text, ")\n");
}

// NULL: the function says nothing of itself.
void tl_put_doc(tl_text *text, const char *doc, size_t nbytes) {
  if (doc == NULL)
    return;
  tl_text_putc(text, '\n');
  tl_text_add(text, doc, nbytes);
  tl_text_putc(text, '\n');
}
