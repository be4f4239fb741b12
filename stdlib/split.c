// Texts cut into strings: a loop over bytes, so not among the functions of
// strings that are built for size. Columns of texts repeat, so equal parts
// become one string with several counts.
//
// Built for speed.
#include "stdlib/split.h"

#include "stdlib/text.h"
#include "vm/vm.h"

// --- Strings met lately -----------------------------------------------------

// They stand in a table by their hash, a newer one in the place of an older. A
// piece that is met again costs a count instead of memory, and as a key of a
// record it is found by its address. Where few pieces come again, the table is
// given up.
typedef struct met_table {
  tl_vm *vm;
  tl_string **met;  // by hash, borrowed; NULL: strings are made one by one
  size_t count;     // places of it, a power of two
  uint32_t asked, found;
} met_table;

enum {
  // Each place of a table costs 8 bytes to clear, so half a byte for each of
  // text.
  LEAST_TEXT = 4096,  // bytes; a shorter text is not worth a table
  BYTES = 16,         // of text for each place of the table
  MOST_PLACES = 65536,
  LONGEST = 64,  // bytes of a piece
  TRIAL = 4096,  // pieces, of which a quarter must have been met
};

// For pieces of a text of [nbytes]; never fails. The table is about a sixteenth
// as long as the text has bytes, and a power of two. Without memory for it,
// strings are made one by one.
static void open_met(met_table *table, tl_vm *vm, size_t nbytes) {
  *table = (met_table){.vm = vm};
  if (nbytes < LEAST_TEXT)
    return;
  size_t count = LEAST_TEXT / BYTES;
  while (count < nbytes / BYTES && count < MOST_PLACES) count *= 2;
  size_t room = count * sizeof *table->met;
  table->met = tl_alloc(vm, room, "strings met lately");
  if (table->met == NULL) {
    tl_error_clear(vm);  // it goes without
    return;
  }
  memset(table->met, 0, room);
  table->count = count;
}

// The strings are not dropped: the table borrows them, so that they must live
// until here.
static void close_met(met_table *table) {
  tl_free(table->vm, table->met, table->count * sizeof *table->met);
  table->met = NULL;
}

// After each TRIAL pieces it is decided anew, since a text may change its
// nature.
static bool is_worth_it(met_table *table) {
  if (table->asked < TRIAL)
    return true;
  bool worth = table->found >= TRIAL / 4;
  table->asked = table->found = 0;
  return worth;
}

// Returns owned, or NULL after tl_fail; a long piece is a new string each time.
// The hash goes into the string, where a record would compute it again.
static tl_string *intern(met_table *table, const char *text, size_t nbytes) {
  if (table->met == NULL || nbytes > LONGEST)
    return tl_string_new(table->vm, text, nbytes);
  uint64_t hash = tl_text_hash(text, nbytes);
  tl_string **place = &table->met[hash & (table->count - 1)], *met = *place;
  table->asked++;
  if (met != NULL && tl_string_hash(met) == hash && met->length == nbytes &&
      memcmp(met->text, text, nbytes) == 0) {
    table->found++;
    tl_slot again = {.tag = TL_TAG_STRING, .string = met};
    return tl_retain(table->vm, again).string;
  }
  tl_string *string = tl_string_new(table->vm, text, nbytes);
  if (string == NULL)
    return NULL;
  string->hash = hash;
  *place = string;
  if (!is_worth_it(table))
    close_met(table);
  return string;
}

// --- Cutting ----------------------------------------------------------------

// Which bytes are white space themselves, and which begin a sequence of white
// space: c2 of two bytes, e1, e2 or e3 of three.
enum { WORD, BLANK, PERHAPS };
static const unsigned char kinds[256] = {
    ['\t'] = BLANK,   ['\n'] = BLANK,   ['\v'] = BLANK,   ['\f'] = BLANK,
    ['\r'] = BLANK,   [' '] = BLANK,    [0xc2] = PERHAPS, [0xe1] = PERHAPS,
    [0xe2] = PERHAPS, [0xe3] = PERHAPS,
};

// How many bytes the white space at [text] takes; 0 where it is none.
static size_t blank_at(const char *text, size_t nbytes) {
  unsigned kind = kinds[(unsigned char)*text];
  if (kind != PERHAPS)
    return kind;
  int32_t point;
  size_t step = tl_utf8_decode(text, nbytes, &point);
  return tl_is_blank(point) ? step : 0;
}

// Appends bytes [begin, end) of the text as a string: a letter, or one that was
// met before if there is an equal one.
static bool push(met_table *table, tl_list **list, const tl_string *s,
                 size_t begin, size_t end) {
  if (table->met == NULL || end - begin < 2)
    return tl_list_push_cut(table->vm, list, s, begin, end);
  tl_string *string = intern(table, s->text + begin, end - begin);
  if (string == NULL)
    return false;
  return tl_list_push_own(table->vm, list, tl_own_string(string));
}

// Appends the words between white space.
static bool push_words(met_table *table, const tl_string *s, tl_list **list) {
  const char *text = s->text;
  const size_t length = s->length;
  size_t at = 0;
  for (;;) {
    size_t step;
    while (at < length && (step = blank_at(text + at, length - at)) > 0)
      at += step;
    size_t start = at;
    // Byte by byte: the rest of a sequence that is no white space is none
    // either.
    while (at < length && (kinds[(unsigned char)text[at]] == WORD ||
                           blank_at(text + at, length - at) == 0))
      if ((++at & 0xffff) == 0 && !tl_poll(table->vm, 64))
        return false;
    if (at == start)
      return true;
    if (!push(table, list, s, start, at))
      return false;
  }
}

// The table lives for one call: equal words of one text share a string.
bool tl_split_blanks(tl_vm *vm, const tl_string *s, tl_list **list) {
  met_table table;
  open_met(&table, vm, s->length);
  bool ok = push_words(&table, s, list);
  close_met(&table);
  return ok;
}

// A text without the separator is one part; one that ends with it has an empty
// last part.
bool tl_split_at(tl_vm *vm, const tl_string *s, const tl_string *separator,
                 tl_list **list) {
  met_table table;
  open_met(&table, vm, s->length);
  const char *found;
  size_t at = 0;
  bool ok = true;
  do {
    found = tl_string_search(vm, s, at, separator);
    size_t end = found != NULL ? (size_t)(found - s->text) : s->length;
    ok = !tl_failed(vm) && push(&table, list, s, at, end);
    at = end + separator->length;
  } while (ok && found != NULL);
  close_met(&table);
  return ok;
}
