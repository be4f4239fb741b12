// Numbers and the text of strings, from the bytes that the lexer has
// delimited.
//
// A string is decoded character by character into a buffer of the same size.

#include "compiler/literal.h"

#include <float.h>
#include <string.h>
#include <utf8proc.h>

#include "vm/number.h"

// Digits in [base]; TOO_LARGE on overflow of uint64.
static tl_literal read_integer(const char *text, size_t nbytes, unsigned base) {
  bool fits;
  tl_literal out = {.kind = TL_LITERAL_INT};
  tl_digits_read(text, text + nbytes, base, &fits, &out.integer);
  if (!fits)
    out.kind = TL_LITERAL_TOO_LARGE;
  return out;
}

// Whether a number has a point or an exponent.
static bool is_real(const char *text, size_t nbytes) {
  for (size_t i = 0; i < nbytes; i++)
    if (text[i] == '.' || text[i] == 'e' || text[i] == 'E')
      return true;
  return false;
}

// The text without the `_` between its digits; NULL: memory failed.
static const char *squeeze(tl_arena *arena, const char *text, size_t *nbytes) {
  char *out = tl_arena_alloc(arena, *nbytes);
  size_t n = 0;
  for (size_t i = 0; out != NULL && i < *nbytes; i++)
    if (text[i] != '_')
      out[n++] = text[i];
  *nbytes = n;
  return out;
}

// [text] is a number by the lexer's rules, so its form is not tested again.
tl_literal tl_literal_number(tl_arena *arena, const char *text, size_t nbytes) {
  if (memchr(text, '_', nbytes) != NULL)
    text = squeeze(arena, text, &nbytes);
  if (text == NULL)
    return (tl_literal){.kind = TL_LITERAL_INT};
  // The lexer lets an x stand there only in 0x….
  if (nbytes > 2 && text[1] == 'x')
    return read_integer(text + 2, nbytes - 2, 16);
  bool imaginary = text[nbytes - 1] == 'i';
  if (!imaginary && !is_real(text, nbytes))
    return read_integer(text, nbytes, 10);
  tl_number real;
  tl_number_scan(text, text + nbytes, &real);
  tl_literal number = {
      .kind = imaginary ? TL_LITERAL_IMAGINARY : TL_LITERAL_FLOAT,
      .real = real.f};
  // Infinity is written inf, so this is a mistake.
  if (number.real > DBL_MAX)
    number.kind = TL_LITERAL_PAST_FLOAT;
  return number;
}

// A string on its way from source to text.
typedef struct tl_decoder {
  const char *text;
  size_t at, nbytes;
  char *out;
  size_t length;
  const char *error;
} tl_decoder;

// Appends a code point as UTF-8.
static void put_character(tl_decoder *decoder, int32_t code) {
  decoder->length += (size_t)utf8proc_encode_char(
      code, (utf8proc_uint8_t *)decoder->out + decoder->length);
}

// \xhh is the character U+00hh, not a byte.
static void decode_byte(tl_decoder *decoder) {
  const char *text = decoder->text + decoder->at;
  bool fits;
  uint64_t code;
  if (decoder->nbytes - decoder->at < 2 ||
      tl_digits_read(text, text + 2, 16, &fits, &code) != text + 2) {
    decoder->error = "\\x takes two hexadecimal digits, as in \\x41";
    return;
  }
  decoder->at += 2;
  put_character(decoder, (int32_t)code);
}

// \u{h…} is the character with that number.
static void decode_code_point(tl_decoder *decoder) {
  const char *at = decoder->text + decoder->at;
  const char *end = decoder->text + decoder->nbytes;
  bool fits;
  uint64_t code;
  decoder->error = "\\u takes a character's number in braces, as in \\u{3c0}";
  if (at == end || *at != '{')
    return;
  const char *digits = at + 1;
  at = tl_digits_read(digits, end, 16, &fits, &code);
  if (at == digits || at == end || *at != '}')
    return;
  decoder->error =
      "no character has this number: the last is \\u{10ffff}, "
      "and d800 to dfff are none";
  if (!fits || code > 0x10ffff || !utf8proc_codepoint_valid((int32_t)code))
    return;
  // Set in advance for the returns above.
  decoder->error = NULL;
  decoder->at = (size_t)(at + 1 - decoder->text);
  put_character(decoder, (int32_t)code);
}

// What follows a backslash.
static void decode_escape(tl_decoder *decoder) {
  static const char letters[] = "ntr0\\\"", meanings[] = "\n\t\r\0\\\"";
  if (decoder->at == decoder->nbytes) {
    decoder->error = "a backslash needs a character after it";
    return;
  }
  char letter = decoder->text[decoder->at++];
  const char *found = letter ? strchr(letters, letter) : NULL;
  if (found) {
    decoder->out[decoder->length++] = meanings[found - letters];
  } else if (letter == 'x') {
    decode_byte(decoder);
  } else if (letter == 'u') {
    decode_code_point(decoder);
  } else {
    decoder->error =
        "no such escape: there are \\n \\t \\r \\0 \\\\ \\\" \\x41 "
        "\\u{3c0}, and r\"…\" takes every backslash as it is";
  }
}

// {{ and }} stand for one brace; a single one that is left is an error: the
// lexer has split the string at holes.
static void decode_brace(tl_decoder *decoder, char brace) {
  if (decoder->at < decoder->nbytes && decoder->text[decoder->at] == brace) {
    decoder->at++;
    decoder->out[decoder->length++] = brace;
  } else {
    decoder->error = "in a string a brace is written twice: }}";
  }
}

// The next character of the source, decoded. The \r of \r\n is dropped, so
// that a script means the same whatever its line ends are.
static void decode(tl_decoder *decoder) {
  char byte = decoder->text[decoder->at++];
  if (byte == '\\')
    decode_escape(decoder);
  else if (byte == '{' || byte == '}')
    decode_brace(decoder, byte);
  else if (byte != '\r' || decoder->at == decoder->nbytes ||
           decoder->text[decoder->at] != '\n')
    decoder->out[decoder->length++] = byte;
}

// NULL with *error NULL: no memory. NULL with an error: *error_at is the byte
// at which the wrong escape begins.
const char *tl_literal_string(tl_arena *arena, const char *text, size_t nbytes,
                              uint32_t *length, const char **error,
                              size_t *error_at) {
  // No escape is shorter than what it stands for.
  tl_decoder decoder = {.text = text, .nbytes = nbytes};
  decoder.out = tl_arena_alloc(arena, nbytes + 1);
  *error = NULL;
  if (!decoder.out)
    return NULL;
  while (decoder.at < nbytes) {
    // Where the character or escape begins that may be wrong.
    *error_at = decoder.at;
    decode(&decoder);
    *error = decoder.error;
    if (decoder.error)
      return NULL;
  }
  *length = (uint32_t)decoder.length;
  return decoder.out;
}
