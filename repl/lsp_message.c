// A message is a header, lines that end with CR LF of which only Content-Length
// counts, an empty line, and so many bytes of JSON.

#include "repl/lsp_message.h"

#include <stdlib.h>
#include <string.h>

// A longer body is more likely a broken header than a document. No line of a
// header that clients send comes near its bound.
enum { MOST = 256 << 20, HEADER = 256 };

// Room for so many bytes and one more; false: the text has failed.
static bool make_room(tl_json *to, size_t nbytes) {
  if (to->failed || to->capacity - to->nbytes > nbytes)
    return !to->failed;
  size_t capacity = to->capacity * 2 + nbytes + 1024;
  char *text = realloc(to->text, capacity);
  to->failed = text == NULL;
  if (to->failed)
    return false;
  to->text = text;
  to->capacity = capacity;
  return true;
}

void tl_json_put(tl_json *to, const char *text, size_t nbytes) {
  if (!make_room(to, nbytes))
    return;
  memcpy(to->text + to->nbytes, text, nbytes);
  to->nbytes += nbytes;
}

void tl_json_puts(tl_json *to, const char *text) {
  tl_json_put(to, text, strlen(text));
}

void tl_json_int(tl_json *to, long long value) {
  char digits[24];
  snprintf(digits, sizeof digits, "%lld", value);
  tl_json_puts(to, digits);
}

// JSON wants escapes for quotation marks, backslashes and control characters
// alone (RFC 8259, section 7); a byte at a time is fast enough for what an
// editor shows.
void tl_json_string(tl_json *to, const char *text, size_t nbytes) {
  char escape[8];
  tl_json_puts(to, "\"");
  for (size_t i = 0; i < nbytes; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\')
      snprintf(escape, sizeof escape, "\\%c", c);
    else if (c < 0x20)
      snprintf(escape, sizeof escape, "\\u%04x", c);
    else
      snprintf(escape, sizeof escape, "%c", c);
    tl_json_puts(to, escape);
  }
  tl_json_puts(to, "\"");
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
tl_message_status tl_message_read(FILE *from, tl_json *to) {
  long length = read_header(from);
  if (length == -2)
    return TL_MESSAGE_END;
  to->nbytes = 0;
  if (length < 0 || length > MOST || !make_room(to, (size_t)length))
    return TL_MESSAGE_BROKEN;
  to->nbytes = fread(to->text, 1, (size_t)length, from);
  return to->nbytes == (size_t)length ? TL_MESSAGE_READ : TL_MESSAGE_BROKEN;
}

void tl_message_write(FILE *to, const tl_json *body) {
  fprintf(to, "Content-Length: %zu\r\n\r\n", body->nbytes);
  fwrite(body->text, 1, body->nbytes, to);
  fflush(to);
}
