// Messages of the language server: their headers and bodies.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// The body of a message, for which memory grows as needed. It begins as {0},
// and [text] is freed by whoever has it.
typedef struct tl_message {
  char *text;
  size_t nbytes, capacity;
} tl_message;

typedef enum tl_message_status {
  TL_MESSAGE_READ,
  TL_MESSAGE_END,     // of the input, between two messages
  TL_MESSAGE_BROKEN,  // no header, cut off, too long, or no memory
} tl_message_status;

// Reads the body of the next message into [to], in place of what it has. [from]
// then stands behind the message; after TL_MESSAGE_BROKEN nobody knows where
// the next one begins. It waits for as long as the client says nothing.
tl_message_status tl_message_read(FILE *from, tl_message *to);
// Writes a message with this body. It is flushed, as the client waits for it.
void tl_message_write(FILE *to, const char *text, size_t nbytes);
