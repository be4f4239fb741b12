// Near names: what somebody who typed an unknown name may have meant.
//
//   tl_suggestion near;
//   tl_suggest_begin(&near, name, nbytes);
//   for (…) tl_suggest_offer(&near, candidate, strlen(candidate));
//   if (near.best != NULL) … near.best, near.best_nbytes …
#ifndef TALLY_VM_SUGGEST_H
#define TALLY_VM_SUGGEST_H

#include <stddef.h>
#include <stdint.h>

enum { TL_SUGGEST_MAX = 48 };  // code points; longer names are never near

typedef struct tl_suggestion {
  uint32_t name[TL_SUGGEST_MAX];
  int length;
  int limit;         // the distance from which on a name is not near
  const char *best;  // borrowed from the candidate, or NULL: none is near
  size_t best_nbytes;
} tl_suggestion;

void tl_suggest_begin(tl_suggestion *near, const char *name, size_t nbytes);
// Of equally near candidates the first is kept.
void tl_suggest_offer(tl_suggestion *near, const char *candidate,
                      size_t nbytes);

// "; did you mean float64?" or "", written into buffer; for messages.
const char *tl_suggest_text(const tl_suggestion *near, char *buffer,
                            size_t size);

// How many of the bytes of UTF-8 text to show with "%.*s": at most [most], and
// whole characters.
int tl_clip(const char *text, size_t nbytes, size_t most);

#endif
