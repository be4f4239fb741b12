// Strings met lately stand in a table by their hash, a newer one in the place
// of an older. Where few pieces come again, it is given up.
//
// Built for speed.
#include "stdlib/interner.h"

#include <string.h>

#include "vm/vm.h"

enum {
  // Each place of a table costs 8 bytes to clear, so half a byte for each of
  // text.
  LEAST_TEXT = 4096,  // bytes; a shorter text is not worth a table
  BYTES = 16,         // of text for each place of the table
  MOST_PLACES = 65536,
  LONGEST = 64,  // bytes of a piece
  TRIAL = 4096,  // pieces, of which a quarter must have been met
};

// The table is about a sixteenth as long as the text has bytes, and a power of
// two. Without memory for it, strings are made one by one.
void tl_interner_open(tl_interner *interner, tl_vm *vm, size_t nbytes) {
  *interner = (tl_interner){.vm = vm};
  if (nbytes < LEAST_TEXT)
    return;
  size_t count = LEAST_TEXT / BYTES;
  while (count < nbytes / BYTES && count < MOST_PLACES) count *= 2;
  size_t table = count * sizeof *interner->met;
  interner->met = tl_alloc(vm, table, "strings met lately");
  if (interner->met == NULL) {
    tl_error_clear(vm);  // it goes without
    return;
  }
  memset(interner->met, 0, table);
  interner->count = count;
}

// The strings are not dropped: the table borrows them.
void tl_interner_close(tl_interner *interner) {
  tl_free(interner->vm, interner->met, interner->count * sizeof *interner->met);
  interner->met = NULL;
}

// After each TRIAL pieces it is decided anew, since a text may change its
// nature.
static bool is_worth_it(tl_interner *interner) {
  if (interner->asked < TRIAL)
    return true;
  bool worth = interner->found >= TRIAL / 4;
  interner->asked = interner->found = 0;
  return worth;
}

// The hash goes into the string, where a record would compute it again.
tl_string *tl_intern(tl_interner *interner, const char *text, size_t nbytes) {
  if (interner->met == NULL || nbytes > LONGEST)
    return tl_string_new(interner->vm, text, nbytes);
  uint64_t hash = tl_text_hash(text, nbytes);
  tl_string **place = &interner->met[hash & (interner->count - 1)],
            *met = *place;
  interner->asked++;
  if (met != NULL && tl_string_hash(met) == hash && met->length == nbytes &&
      memcmp(met->text, text, nbytes) == 0) {
    interner->found++;
    tl_slot again = {.tag = TL_TAG_STRING, .string = met};
    return tl_retain(interner->vm, again).string;
  }
  tl_string *string = tl_string_new(interner->vm, text, nbytes);
  if (string == NULL)
    return NULL;
  string->hash = hash;
  *place = string;
  if (!is_worth_it(interner))
    tl_interner_close(interner);
  return string;
}
