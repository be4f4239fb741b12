// Growing text: what strings are built in, piece by piece, within the VM's
// memory or a buffer of the caller's.

#include <stdio.h>

#include "vm/vm.h"

// The first bytes lie in the text itself (room), so that short ones need no
// block.
void tl_text_open(tl_text *text, tl_vm *vm) {
  TL_CHECK(vm != NULL);
  // Not all at once: the room needs no clearing.
  text->vm = vm;
  text->bytes = NULL;
  text->length = text->capacity = text->polled = 0;
  text->failed = false;
}

void tl_text_within(tl_text *text, char *buffer, size_t size) {
  text->vm = NULL;
  text->bytes = buffer;
  text->length = text->polled = 0;
  text->capacity = size;
  text->failed = false;
}

// Whether more bytes fit a text within a buffer, which else is cut: there is
// always room for that and a NUL.
static bool fits_buffer(tl_text *text, size_t more) {
  if (more + 4 <= text->capacity - text->length)
    return true;
  memcpy(text->bytes + text->length, "…", 3);
  text->length += 3;
  text->failed = true;
  return false;
}

enum { TEXT_POLL = 1 << 16 };  // bytes written between two polls

// Makes room for [more] bytes and a NUL; false after a failure, which the text
// remembers. The polls are what lets an interrupt end a print of a huge array.
static bool reserve(tl_text *text, size_t more) {
  if (text->failed)
    return false;
  if (text->vm == NULL)
    return fits_buffer(text, more);
  size_t need;
  if (tl_add_overflows(text->length, more, &need) ||
      tl_add_overflows(need, 1, &need)) {
    text->failed = true;
    return tl_fail_memory(text->vm, SIZE_MAX, "a text");
  }
  if (need > text->polled + TEXT_POLL) {
    text->failed = !tl_poll(text->vm, (need - text->polled) / 1024);
    text->polled = need;
    if (text->failed)
      return false;
  }
  if (need <= text->capacity)
    return true;
  size_t capacity = text->capacity + text->capacity / 2;
  if (capacity < need)
    capacity = need;
  bool in_room = text->bytes == text->room;
  char *bytes = text->room;
  if (need > sizeof text->room)
    bytes = tl_realloc(text->vm, in_room ? NULL : text->bytes,
                       in_room ? 0 : text->capacity, capacity, "a text");
  else
    capacity = sizeof text->room;
  if (bytes == NULL) {
    text->failed = true;
    return false;
  }
  if (in_room)
    memcpy(bytes, text->room, text->length);
  text->bytes = bytes;
  text->capacity = capacity;
  return true;
}

// After a failure nothing is added, and the failure stays.
void tl_text_add(tl_text *text, const char *bytes, size_t nbytes) {
  if (nbytes == 0 || !reserve(text, nbytes))
    return;
  char *to = text->bytes + text->length;
  if (text->vm == NULL)
    memcpy(to, bytes, nbytes);
  else
    text->failed = !tl_copy_bytes(text->vm, to, bytes, nbytes);
  text->length += nbytes;
}

// [string] is UTF-8, as all that a text holds; its end is not written.
void tl_text_puts(tl_text *text, const char *string) {
  tl_text_add(text, string, strlen(string));
}

bool tl_text_json(tl_text *text, const char *string, size_t nbytes) {
  tl_text_putc(text, '"');
  for (size_t i = 0; i < nbytes && !text->failed; i++) {
    unsigned char c = (unsigned char)string[i];
    if (c == '"' || c == '\\')
      tl_text_printf(text, "\\%c", c);
    else if (c == '\n')
      tl_text_puts(text, "\\n");
    else if (c == '\t')
      tl_text_puts(text, "\\t");
    else if (c < 32)
      tl_text_printf(text, "\\u%04x", (unsigned)c);
    else
      tl_text_putc(text, (char)c);
  }
  tl_text_putc(text, '"');
  return !text->failed;
}

// A character of ASCII, or a byte of a longer one whose others follow.
void tl_text_putc(tl_text *text, char c) {
  if (reserve(text, 1))
    text->bytes[text->length++] = c;
}

// Prints into the room that is there, and once more where that was too small.
static void add_formatted(tl_text *text, const char *format, va_list args) {
  if (!reserve(text, 0))
    return;
  va_list again;
  va_copy(again, args);
  size_t room = text->capacity - text->length;
  int length = vsnprintf(text->bytes + text->length, room, format, args);
  if (length > 0 && reserve(text, (size_t)length)) {
    if ((size_t)length >= room)
      vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
    text->length += (size_t)length;
  }
  va_end(again);
}

// Numbers with a point must not go this way: printf writes the locale's.
void tl_text_printf(tl_text *text, const char *format, ...) {
  va_list args;
  va_start(args, format);
  add_formatted(text, format, args);
  va_end(args);
}

// Lack of memory in between is reported by finishing.
tl_string *tl_string_format(tl_vm *vm, const char *format, ...) {
  tl_text text;
  tl_text_open(&text, vm);
  va_list args;
  va_start(args, format);
  add_formatted(&text, format, args);
  va_end(args);
  return tl_text_finish(&text);
}

// The buffer is copied, so that the string is no larger than its text.
tl_string *tl_text_finish(tl_text *text) {
  tl_string *string = NULL;
  if (!text->failed)
    string =
        tl_string_new(text->vm, text->bytes ? text->bytes : "", text->length);
  tl_text_close(text);
  return string;
}

// An error that the text met on the way shows here: puts need no checks.
bool tl_text_give(tl_text *text, bool ok, tl_slot *out) {
  if (ok)
    return tl_string_give(tl_text_finish(text), out);
  tl_text_close(text);
  return false;
}

// The text is empty afterwards, but a failure is remembered.
char *tl_text_take(tl_text *text, size_t *nbytes) {
  char *bytes = text->failed ? NULL : text->bytes;
  *nbytes = text->capacity;
  // The room ends with the text, so what is in it moves to a block.
  if (bytes == text->room) {
    *nbytes = text->length;
    bytes = tl_alloc(text->vm, text->length, "a text");
    if (bytes != NULL)
      memcpy(bytes, text->room, text->length);
  } else if (bytes != NULL) {
    text->bytes = NULL;
  }
  tl_text_close(text);
  return bytes;
}

// It may be called again, and behind tl_text_finish or tl_text_take.
void tl_text_close(tl_text *text) {
  if (text->bytes != text->room)
    tl_free(text->vm, text->bytes, text->capacity);
  text->bytes = NULL;
  text->length = text->capacity = 0;
}
