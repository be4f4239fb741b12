// Near names: what somebody who typed an unknown name may have meant.
//
//     tl_suggestion near;
//     tl_suggest_begin(&near, name, nbytes);
//     for (…) tl_suggest_offer(&near, candidate, strlen(candidate));
//     tl_suggest_text(&near, hint, sizeof hint)    "; did you mean float64?"
#pragma once

#include <stddef.h>
#include <stdint.h>

// Code points of a name; longer ones are never near.
enum { TL_SUGGEST_MAX = 48 };

// The search's state: the best candidate so far and how near it is.
typedef struct tl_suggestion {
  uint32_t name[TL_SUGGEST_MAX];
  int length;
  int limit;         // the distance from which on a name is not near
  const char *best;  // borrowed from the candidate, or NULL: none is near
  size_t best_nbytes;
} tl_suggestion;

// Begins with the unknown name. Of short names fewer letters may differ.
void tl_suggest_begin(tl_suggestion *near, const char *name, size_t nbytes);
// Offers a candidate, which has to live until the text is made. Of equally near
// ones the first stays.
void tl_suggest_offer(tl_suggestion *near, const char *candidate,
                      size_t nbytes);

// Writes "; did you mean float64?" into [buffer], or returns "", for messages.
const char *tl_suggest_text(const tl_suggestion *near, char *buffer,
                            size_t size);

// How many bytes of UTF-8 text to show with "%.*s": at most [most], and no part
// of a character.
int tl_clip(const char *text, size_t nbytes, size_t most);
