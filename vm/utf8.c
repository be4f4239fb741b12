// Checking and mending UTF-8; needs neither memory nor a VM. Most text is
// ASCII, so blocks of 64 bytes and then words of 8 are looked at as a whole;
// only the rest is read sequence by sequence.
#include "vm/utf8.h"

#include <string.h>
#include <utf8proc.h>

// The length of the well-formed sequence at [s]; 0: there is none. The second
// byte's range depends on the first: that excludes overlong forms, surrogates,
// and what is above U+10FFFF.
static size_t sequence_length(const unsigned char *s, size_t left) {
  unsigned char low = 0x80, high = 0xbf;
  size_t length;
  if (s[0] < 0x80)
    return 1;
  if (s[0] >= 0xc2 && s[0] <= 0xdf)
    length = 2;
  else if (s[0] >= 0xe0 && s[0] <= 0xef)
    length = 3;
  else if (s[0] >= 0xf0 && s[0] <= 0xf4)
    length = 4;
  else
    return 0;
  // The second byte's range, from the Unicode Standard's table 3-7:
  //
  //   e0  a0..bf   no overlong form of fewer than three bytes
  //   ed  80..9f   no surrogates
  //   f0  90..bf   no overlong form of fewer than four bytes
  //   f4  80..8f   nothing above U+10FFFF
  if (s[0] == 0xe0)
    low = 0xa0;
  if (s[0] == 0xed)
    high = 0x9f;
  if (s[0] == 0xf0)
    low = 0x90;
  if (s[0] == 0xf4)
    high = 0x8f;
  if (left < length || s[1] < low || s[1] > high)
    return 0;
  for (size_t i = 2; i < length; i++)
    if (s[i] < 0x80 || s[i] > 0xbf)
      return 0;
  return length;
}

// How many bytes, in whole blocks of 64, are ASCII.
static size_t ascii_blocks(const unsigned char *s, size_t nbytes) {
  typedef uint64_t words __attribute__((vector_size(16)));
  size_t i = 0;
  for (; nbytes - i >= 64; i += 64) {
    words block[4];
    memcpy(block, s + i, sizeof block);
    const words all = block[0] | block[1] | block[2] | block[3];
    if (((all[0] | all[1]) & UINT64_C(0x8080808080808080)) != 0)
      break;
  }
  return i;
}

// Most texts are ASCII, so the loop tests 64 and then 8 bytes at a time and
// decodes only what is left. *at is written only on failure.
bool tl_utf8_check(const char *text, size_t nbytes, size_t *at) {
  const unsigned char *s = (const unsigned char *)text;
  for (size_t i = 0; i < nbytes;) {
    uint64_t word;
    // Blocks of ASCII first, then words, then single sequences.
    i += ascii_blocks(s + i, nbytes - i);
    while (nbytes - i >= 8 && (memcpy(&word, s + i, 8),
                               (word & UINT64_C(0x8080808080808080)) == 0))
      i += 8;
    if (i == nbytes)
      break;
    size_t length = sequence_length(s + i, nbytes - i);
    if (length == 0) {
      if (at != NULL)
        *at = i;
      return false;
    }
    i += length;
  }
  return true;
}

size_t tl_utf8_decode_long(const char *text, size_t nbytes, int32_t *point) {
  utf8proc_ssize_t step = utf8proc_iterate((const utf8proc_uint8_t *)text,
                                           (utf8proc_ssize_t)nbytes, point);
  if (step > 0)
    return (size_t)step;
  *point = 0xfffd;
  return 1;
}

// What is below 0 is no code point.
bool tl_begins_name(int32_t point) {
  if (point < 0x80)
    return (point >= 'a' && point <= 'z') || (point >= 'A' && point <= 'Z') ||
           point == '_';
  switch (utf8proc_category(point)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_NL:
      return true;
    default:
      return false;
  }
}

bool tl_continues_name(int32_t point) {
  if (tl_begins_name(point) || (point >= '0' && point <= '9'))
    return true;
  if (point < 0x80)
    return false;
  // Subscript digits and primes.
  if ((point >= 0x2080 && point <= 0x2089) ||
      (point >= 0x2032 && point <= 0x2034) || point == 0x2057)
    return true;
  utf8proc_category_t category = utf8proc_category(point);
  return category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_MN ||
         category == UTF8PROC_CATEGORY_MC;
}

// Each code point has one byte that does not continue another. What continues
// has the highest bit and not the next; eight at a time.
size_t tl_utf8_count(const char *text, size_t nbytes) {
  size_t count = nbytes, i = 0;
  for (uint64_t word; nbytes - i >= sizeof word; i += sizeof word) {
    memcpy(&word, text + i, sizeof word);
    word = word >> 7 & ~word >> 6 & UINT64_C(0x0101010101010101);
    count -= word * UINT64_C(0x0101010101010101) >> 56;
  }
  for (; i < nbytes; i++) count -= ((unsigned char)text[i] & 0xc0) == 0x80;
  return count;
}

// Goes on behind each wrong byte, so that the rest of a broken sequence is
// replaced, too.
void tl_utf8_mend(char *text, size_t nbytes) {
  size_t at;
  while (!tl_utf8_check(text, nbytes, &at)) {
    text[at] = '?';
    text += at;
    nbytes -= at;
  }
}
