// A message is a header, lines that end with CR LF of which only Content-Length
// counts, an empty line, and so many bytes of JSON.

#include "repl/lsp_message.h"

#include <stdlib.h>
#include <string.h>

// A longer body is more likely a broken header than a document. No line of a
// header that clients send comes near its bound.
enum { MOST = 256 << 20, HEADER = 256 };

// Room for so many bytes; false: no memory.
static bool make_room(tl_message *to, size_t nbytes) {
  if (nbytes < to->capacity)
    return true;
  size_t capacity = to->capacity * 2 + nbytes + 1024;
  char *text = realloc(to->text, capacity);
  if (text == NULL)
    return false;
  to->text = text;
  to->capacity = capacity;
  return true;
}

// A line of the header without its end; false: the input ends, or the line is
// too long. [line] has room for HEADER bytes.
static bool read_line(FILE *from, char *line) {
  if (fgets(line, HEADER, from) == NULL || strchr(line, '\n') == NULL)
    return false;
  line[strcspn(line, "\r\n")] = 0;
  return true;
}

// The length that the header gives; negative: there is no header, -2: the input
// ends before it. Other lines, as Content-Type, are read over: UTF-8 is the
// only encoding that the protocol has left.
//
//     Content-Length: 52\r\n
//     \r\n
//     {"jsonrpc":"2.0",…            52 bytes, and the next header behind them
static long read_header(FILE *from) {
  static const char name[] = "Content-Length:";
  char line[HEADER];
  long length = -1;
  int first = fgetc(from);
  if (first == EOF)
    return -2;
  ungetc(first, from);
  while (read_line(from, line)) {
    if (line[0] == 0)
      return length;
    if (strncmp(line, name, sizeof name - 1) == 0)
      length = strtol(line + sizeof name - 1, NULL, 10);
  }
  return -1;
}

// The length is tested before it becomes memory. The end of the input is an end
// only before a header; within a message it is a broken one.
tl_message_status tl_message_read(FILE *from, tl_message *to) {
  long length = read_header(from);
  if (length == -2)
    return TL_MESSAGE_END;
  to->nbytes = 0;
  if (length < 0 || length > MOST || !make_room(to, (size_t)length))
    return TL_MESSAGE_BROKEN;
  to->nbytes = fread(to->text, 1, (size_t)length, from);
  return to->nbytes == (size_t)length ? TL_MESSAGE_READ : TL_MESSAGE_BROKEN;
}

void tl_message_write(FILE *to, const char *text, size_t nbytes) {
  fprintf(to, "Content-Length: %zu\r\n\r\n", nbytes);
  fwrite(text, 1, nbytes, to);
  fflush(to);
}
