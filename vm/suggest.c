// Near names by edit distance: insertions, deletions, replacements and swaps of
// neighbours (Damerau, 1964, in the restricted form), over code points; letters
// that differ in case cost nothing.
//
// Built for size.
#include "vm/suggest.h"

#include <stdio.h>

#include "vm/utf8.h"

// Decodes valid UTF-8 with capital ASCII letters made small; returns the number
// of code points, or -1: too many.
static int decode(const char *text, size_t nbytes, uint32_t *out) {
  int n = 0;
  for (size_t i = 0; i < nbytes;) {
    if (n == TL_SUGGEST_MAX)
      return -1;
    int32_t c;
    i += tl_utf8_decode(text + i, nbytes - i, &c);
    out[n++] = (uint32_t)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  }
  return n;
}

static int smallest(int a, int b, int c) {
  int least = a < b ? a : b;
  return least < c ? least : c;
}

// The distance of two names. Three rows of the table are enough, as a swap
// looks back two.
static int distance(const uint32_t *a, int n, const uint32_t *b, int m) {
  int rows[3][TL_SUGGEST_MAX + 1];
  int *before = rows[0], *last = rows[1], *row = rows[2];
  for (int j = 0; j <= m; j++) last[j] = j;
  for (int i = 1; i <= n; i++) {
    row[0] = i;
    for (int j = 1; j <= m; j++) {
      int change = last[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = smallest(last[j] + 1, row[j - 1] + 1, change);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
          before[j - 2] + 1 < row[j]) {
        row[j] = before[j - 2] + 1;
      }
    }
    int *spare = before;
    before = last;
    last = row;
    row = spare;
  }
  return last[m];
}

// A name longer than TL_SUGGEST_MAX has length -1, and nothing is near to it.
void tl_suggest_begin(tl_suggestion *near, const char *name, size_t nbytes) {
  near->best = NULL;
  near->best_nbytes = 0;
  near->length = decode(name, nbytes, near->name);
  // One letter of a short name may differ, two of a longer one.
  near->limit = near->length <= 2 ? 1 : near->length <= 5 ? 2 : 3;
}

// A candidate has to be nearer than the best so far.
void tl_suggest_offer(tl_suggestion *near, const char *candidate,
                      size_t nbytes) {
  uint32_t other[TL_SUGGEST_MAX];
  int length = decode(candidate, nbytes, other);
  if (near->length <= 0 || length <= 0)
    return;
  int d = distance(near->name, near->length, other, length);
  if (d >= near->limit)
    return;
  near->limit = d;
  near->best = candidate;
  near->best_nbytes = nbytes;
}

// The 20 bytes are those of the words around the name and of the NUL; the
// buffer is larger than that.
const char *tl_suggest_text(const tl_suggestion *near, char *buffer,
                            size_t size) {
  if (near->best == NULL)
    return "";
  int n = tl_clip(near->best, near->best_nbytes, size - 20);
  snprintf(buffer, size, "; did you mean %.*s?", n, near->best);
  return buffer;
}

// Steps back to the beginning of a character.
int tl_clip(const char *text, size_t nbytes, size_t most) {
  if (nbytes <= most)
    return (int)nbytes;
  while (most > 0 && ((uint8_t)text[most] & 0xc0) == 0x80) most--;
  return (int)most;
}
