// Messages of the language server: reading them, and writing JSON.
#ifndef TALLY_REPL_LSP_MESSAGE_H
#define TALLY_REPL_LSP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// A text that grows. Memory that is missing is noted, and nothing more added.
// It begins as {0}, and [text] is freed by whoever has it. A failed text is no
// message: look at [failed] before writing it. It is not ended by a zero byte.
typedef struct tl_json {
  char *text;
  size_t nbytes, capacity;
  bool failed;
} tl_json;

// Append bytes as they are, a text that ends with a zero byte, and a number.
// All of them borrow, and do nothing once the text has failed.
void tl_json_put(tl_json *to, const char *text, size_t nbytes);
void tl_json_puts(tl_json *to, const char *text);
void tl_json_int(tl_json *to, long long value);
// With quotation marks around it, and escapes (RFC 8259). [text] has to be
// UTF-8, which stays as it is.
void tl_json_string(tl_json *to, const char *text, size_t nbytes);

typedef enum tl_message_status {
  TL_MESSAGE_READ,
  TL_MESSAGE_END,     // of the input, between two messages
  TL_MESSAGE_BROKEN,  // no header, cut off, too long, or no memory
} tl_message_status;

// Reads the body of the next message into [to], in place of what it has. [from]
// then stands behind the message; after TL_MESSAGE_BROKEN nobody knows where
// the next one begins. It waits for as long as the client says nothing.
tl_message_status tl_message_read(FILE *from, tl_json *to);
// Writes a message with this body. It is flushed, as the client waits for it.
void tl_message_write(FILE *to, const tl_json *body);

#endif
