// What goes byte by byte in images, which _images.tly reads and writes: rows of
// a PNG (ISO/IEC 15948), each byte of which stands there less what a filter
// predicts of the bytes before it, and the numbers of a PGM or PPM image that
// is text.

#include "stdlib/families.h"

// --- Filters ----------------------------------------------------------------

// Paeth's predictor: of left, above and above left, the one that is nearest to
// a + b - c.
static int paeth(int a, int b, int c) {
  // Ties go to a, then b, as the standard demands.
  int p = a + b - c;
  int da = p > a ? p - a : a - p, db = p > b ? p - b : b - p;
  int dc = p > c ? p - c : c - p;
  return da <= db && da <= dc ? a : db <= dc ? b : c;
}

// The byte that a filter predicts at i; [step] bytes make a pixel, [above] is
// the row before (NULL: zeros).
static int predicted(int filter, const unsigned char *row,
                     const unsigned char *above, size_t i, size_t step) {
  int a = i >= step ? row[i - step] : 0, b = above ? above[i] : 0;
  int c = above && i >= step ? above[i - step] : 0;
  switch (filter) {
    case 1:
      return a;
    case 2:
      return b;
    case 3:
      return (a + b) / 2;
    case 4:
      return paeth(a, b, c);
    default:
      return 0;
  }
}

// Adds the predictions in place to rows of [nbytes] bytes, [step] of which are
// a pixel: the first begins at byte [from] of data, and before each stands the
// number of its filter. The data, which have as many bytes, or none where one
// is no filter.
static bool unfilter(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const int64_t from = args[1].i, rows = args[2].i, nbytes = args[3].i;
  tl_array *a = tl_take_dense(vm, &args[0]);
  const unsigned char *above = NULL;
  bool ok = a != NULL;
  *out = tl_none();
  for (int64_t y = 0; ok && y < rows; y++) {
    unsigned char *row = (unsigned char *)a->data + from + y * (nbytes + 1) + 1;
    const int filter = row[-1];
    ok = filter <= 4 && tl_poll(vm, 1 + ((uint64_t)nbytes >> 10));
    for (size_t i = 0; ok && filter > 0 && i < (size_t)nbytes; i++)
      row[i] = (unsigned char)(row[i] + predicted(filter, row, above, i,
                                                  (size_t)args[4].i));
    above = row;
  }
  if (ok)
    *out = tl_own_array(a);
  else
    tl_array_drop(vm, a);
  return ok || !tl_failed(vm);
}

// --- Numbers as text --------------------------------------------------------

// A number of at most [most] behind blanks and comments, which go from # to the
// end of their line. *at goes behind its digits, or to what is wrong, which is
// returned; NULL: nothing is.
static const char *next_number(const unsigned char **at,
                               const unsigned char *end, int64_t most,
                               int64_t *out) {
  const unsigned char *c = *at;
  for (bool comment = false; c < end && (comment || *c == '#' || *c == ' ' ||
                                         (*c >= '\t' && *c <= '\r'));
       c++)
    comment = comment ? *c != '\n' : *c == '#';
  *at = c;
  if (c == end)
    return "it ends early";
  if (*c < '0' || *c > '9')
    return "a number is expected";
  for (*out = 0; c < end && *c >= '0' && *c <= '9'; c++) {
    *out = *out * 10 + (*c - '0');
    if (*out > most)
      return "a number is too large";
  }
  *at = c;
  return NULL;
}

// count numbers of at most [most] in the bytes data from byte [from] on: a
// vector of uint8 or, where they need it, uint16; or a text that says what is
// wrong.
static bool numbers(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const int64_t from = args[1].i, count = args[2].i, most = args[3].i;
  int64_t value;
  const unsigned char *at = (unsigned char *)args[0].array->data + from;
  const unsigned char *end = at + args[0].array->size - from;
  const bool wide = most > UINT8_MAX;
  const char *wrong = NULL;
  tl_array *a = tl_array_new(vm, wide ? TL_UINT16 : TL_UINT8, 1, &count);
  bool ok = a != NULL;
  for (int64_t i = 0; ok && wrong == NULL && i < count; i++) {
    wrong = next_number(&at, end, most, &value);
    if (wrong == NULL && wide)
      ((uint16_t *)(void *)a->data)[i] = (uint16_t)value;
    else if (wrong == NULL)
      ((uint8_t *)a->data)[i] = (uint8_t)value;
    ok = i % 4096 != 4095 || tl_poll(vm, 16);
  }
  if (ok && wrong == NULL) {
    *out = tl_own_array(a);
    return true;
  }
  tl_array_drop(vm, a);
  return ok && tl_string_give(tl_string_from(vm, wrong), out);
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_pixels_module[] = {
    // Data with the bytes of rows of a PNG image.
    {"unfilter", "data, from, rows, nbytes, step", unfilter, .types = ".nnnn"},
    // Numbers as text.
    {"numbers_of_text", "data, from, count, most", numbers, .types = ".nnn"},
    {.name = NULL},
};
