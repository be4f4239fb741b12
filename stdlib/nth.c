// Among many items, some of them tell between which two keys the one sought
// most likely lies (Floyd and Rivest, 1975): one pass counts the lesser keys
// and writes down those between. Where it does not lie there, or too many do,
// it is found digit by digit, from the highest on (radix selection): as long as
// many keys may still be it, all items are gone through for each digit. So are
// the keys that are written down in the end.
#include "stdlib/nth.h"

#include <math.h>

#include "vm/kernels/sort.h"
#include "vm/vm.h"

// Of few keys, short digits: their counts are cleared and searched each time. A
// handful is sorted.
enum {
  FEW = 2048,
  SORTED = 24,
  FEW_BITS = 8,
  DIGIT_BITS = 11,
  DIGITS = 1 << DIGIT_BITS,
  PART = TL_NTH_FREE / FEW,  // of the keys, at most, is written down
  PIECE = 1 << 17,           // items between two polls
};

// Only floats have NaN. Those of 16 bits are in no range of a sample.
static bool is_float(tl_dtype dtype) {
  return dtype == TL_FLOAT32 || dtype == TL_FLOAT64;
}

// Whether that of the greatest key is one.
static bool is_nan(tl_dtype dtype, uint64_t key) {
  return dtype == TL_FLOAT16   ? key == UINT16_MAX
         : dtype == TL_FLOAT32 ? key == UINT32_MAX
                               : dtype == TL_FLOAT64 && key == UINT64_MAX;
}

// Items of uint64 are their own keys and need no buffer.
const uint64_t *tl_nth_keys(const tl_ranks *r, int64_t i, int64_t m,
                            uint64_t buffer[TL_NTH_CHUNK]) {
  const char *items = r->items + (size_t)i * tl_itemsize(r->dtype);
  if (r->dtype == TL_UINT64 && !r->descending)
    return (const uint64_t *)(const void *)items;
  tl_sort_keys(r->dtype, buffer, items, (size_t)m, r->descending, r->same_zero,
               NULL);
  return buffer;
}

// Polls once for PIECE items; false where the host ended the call.
static bool goes_on(const tl_ranks *r, int64_t i) {
  return i % PIECE != 0 || tl_poll(r->vm, PIECE >> 10);
}

// The bits above [shift] low ones.
static uint64_t above(uint64_t key, int shift) {
  return shift < 64 ? key >> shift : 0;
}

// The number of low bits that may differ.
static int width_of(uint64_t differ) {
  return differ ? 64 - __builtin_clzll(differ) : 0;
}

// That of the low bits that are not the same in all keys.
static bool find_width(const tl_ranks *r, int *width, uint64_t *first,
                       uint64_t *greatest) {
  uint64_t buffer[TL_NTH_CHUNK], differ = 0, most = 0;
  for (int64_t i = 0; i < r->n; i += TL_NTH_CHUNK) {
    int64_t m = tl_least(TL_NTH_CHUNK, r->n - i);
    const uint64_t *keys = tl_nth_keys(r, i, m, buffer);
    if (i == 0)
      *first = keys[0];
    for (int64_t j = 0; j < m; j++) {
      differ |= keys[j] ^ *first;
      most = keys[j] > most ? keys[j] : most;
    }
    if (!goes_on(r, i))
      return false;
  }
  *width = width_of(differ);
  *greatest = most;
  return true;
}

// What is known of the key sought: its bits above [shift], that [left] keys
// have them, and its place among these.
typedef struct search {
  uint64_t high;
  int shift;
  int64_t left, place;
  bool wants_next;
  uint64_t next;  // the least key above it that was seen; all ones: none was
} search;

// The bucket that the place is in; the place becomes that in it.
static size_t find_bucket(const int64_t *counts, int64_t *place) {
  size_t bucket = 0;
  for (; *place >= counts[bucket]; bucket++) *place -= counts[bucket];
  return bucket;
}

// As many bits as are still open, [most] at most.
static int digit_bits(const search *s, int most) {
  return s->shift < most ? s->shift : most;
}

// Adds the digit whose bucket has the place: all keys left have it.
static void narrow(search *s, const int64_t *counts, int bits) {
  size_t bucket = find_bucket(counts, &s->place);
  s->high = s->high << bits | bucket;
  s->shift -= bits;
  s->left = counts[bucket];
}

// One digit more, by going through all items.
static bool next_digit(const tl_ranks *r, search *s) {
  int64_t counts[DIGITS] = {0};
  uint64_t buffer[TL_NTH_CHUNK];
  int bits = digit_bits(s, DIGIT_BITS), shift = s->shift - bits;
  uint64_t mask = ((uint64_t)1 << bits) - 1;
  for (int64_t i = 0; i < r->n; i += TL_NTH_CHUNK) {
    int64_t m = tl_least(TL_NTH_CHUNK, r->n - i);
    const uint64_t *keys = tl_nth_keys(r, i, m, buffer);
    if (s->left == r->n)
      for (int64_t j = 0; j < m; j++) counts[keys[j] >> shift & mask]++;
    else
      for (int64_t j = 0; j < m; j++)
        counts[keys[j] >> shift & mask] += above(keys[j], s->shift) == s->high;
    if (!goes_on(r, i))
      return false;
  }
  narrow(s, counts, bits);
  return true;
}

// Writes down what is left, with room for one more.
static bool collect(const tl_ranks *r, const search *s, uint64_t *to) {
  uint64_t buffer[TL_NTH_CHUNK];
  int64_t count = 0;
  for (int64_t i = 0; count < s->left; i += TL_NTH_CHUNK) {
    int64_t m = tl_least(TL_NTH_CHUNK, r->n - i);
    const uint64_t *keys = tl_nth_keys(r, i, m, buffer);
    for (int64_t j = 0; j < m && count < s->left; j++) {
      to[count] = keys[j];
      count += above(keys[j], s->shift) == s->high;
    }
    if (!goes_on(r, i))
      return false;
  }
  return true;
}

// The least of [next] and of the keys just above the digit that was found;
// those of a lower digit are less than those of a higher one.
static uint64_t see_next(const uint64_t *keys, size_t n, const search *s,
                         uint64_t mask, uint64_t next) {
  for (size_t i = 0; i < n; i++) {
    bool over = (keys[i] >> s->shift & mask) > (s->high & mask);
    uint64_t key = over ? keys[i] : UINT64_MAX;
    next = key < next ? key : next;
  }
  return next;
}

// The key at the place among so few written keys that sorting them takes less
// than a digit. They have the same bits above s->shift, so the one that follows
// is among them, or else the one that was seen before.
static void search_sorted(uint64_t *keys, search *s) {
  const int64_t n = s->left;
  for (int64_t i = 1; i < n; i++) {
    const uint64_t key = keys[i];
    int64_t j = i;
    for (; j > 0 && keys[j - 1] > key; j--) keys[j] = keys[j - 1];
    keys[j] = key;
  }
  int64_t first = s->place, end = s->place + 1;
  while (first > 0 && keys[first - 1] == keys[s->place]) first--;
  while (end < n && keys[end] == keys[s->place]) end++;
  if (end < n)
    s->next = keys[end];
  s->high = keys[s->place];
  s->place -= first;
  s->left = end - first;
  s->shift = 0;
}

// The key at the place among written keys, which are overwritten: each round
// counts one digit and moves the keys that have it to the front. Ends with one
// key left or no bit open; s->high is the key then. False after tl_fail: the
// keys may be a sixteenth of all. A [vm] of NULL is for few.
static bool search_written(tl_vm *vm, uint64_t *keys, search *s) {
  while (s->shift > 0 && s->left > 1) {
    if (s->left <= SORTED) {
      search_sorted(keys, s);
      return true;
    }
    int64_t counts[DIGITS], count = 0;
    int bits = digit_bits(s, s->left < FEW ? FEW_BITS : DIGIT_BITS);
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    const size_t n = (size_t)s->left;
    int shift = s->shift - bits;
    memset(counts, 0, sizeof *counts << bits);
    for (size_t i = 0, end = 0; i < n; i = end) {
      if (!tl_poll_piece(vm, i, n, &end))
        return false;
      for (size_t j = i; j < end; j++) counts[keys[j] >> shift & mask]++;
    }
    narrow(s, counts, bits);
    uint64_t next = UINT64_MAX;
    for (size_t i = 0, end = 0; i < n; i = end) {
      if (!tl_poll_piece(vm, i, n, &end))
        return false;
      if (s->wants_next)
        next = see_next(keys + i, end - i, s, mask, next);
      for (size_t j = i; j < end; j++) {
        uint64_t key = keys[j];
        keys[count] = key;
        count += (key >> shift & mask) == (s->high & mask);
      }
    }
    s->next = next == UINT64_MAX ? s->next : next;
  }
  if (s->shift > 0)
    s->high = keys[0];
  s->shift = 0;
  return true;
}

// Of keys of which nothing is known. False after tl_fail.
static bool search_all(tl_vm *vm, uint64_t *keys, search *s) {
  uint64_t differ = 0;
  const size_t n = (size_t)s->left;
  for (size_t i = 0, end = 0; i < n; i = end) {
    if (!tl_poll_piece(vm, i, n, &end))
      return false;
    for (size_t j = i; j < end; j++) differ |= keys[j] ^ keys[0];
  }
  s->shift = width_of(differ);
  s->high = above(keys[0], s->shift);
  return search_written(vm, keys, s);
}

// The result of a search that has ended, whose place among equal keys says how
// many are less.
static tl_nth found_at(const search *s, int64_t k, bool nan) {
  return (tl_nth){s->high, s->next, nan, k - s->place, s->left};
}

// --- Between two keys
// ---------------------------------------------------------

// Two keys, between which some number of keys are written down.
typedef struct range {
  uint64_t from, to;
  // Their items, as often as one chunk compares them with.
  uint64_t first[TL_NTH_CHUNK], last[TL_NTH_CHUNK];
  uint64_t *keys;
  int64_t count, most;
  tl_fold_state before, nans;  // items before the range, NaN
} range;

// Key k of a sample in order, without changing the sample.
static uint64_t key_of_place(const uint64_t *keys, int64_t k) {
  uint64_t copy[FEW];
  search s = {.shift = 64, .left = FEW, .place = k, .next = UINT64_MAX};
  search_written(NULL, memcpy(copy, keys, sizeof copy), &s);
  return s.high;
}

// Where the key of place k most likely is; one key alone, where too many others
// are near.
static void guess(const tl_ranks *r, int64_t k, range *out) {
  uint64_t keys[FEW], one[TL_NTH_CHUNK];
  const int64_t step = r->n / FEW;
  for (int64_t i = 0; i < FEW; i++) {
    // Not at equal distances, at which items may be alike.
    int64_t at = i * step + (int64_t)((uint64_t)i * 40503 % (uint64_t)step);
    keys[i] = tl_nth_keys(r, at, 1, one)[0];
  }
  // How far such a sample is off, three and a half times.
  double share = (double)k / (double)r->n;
  int64_t off = (int64_t)(3.5 * sqrt(FEW * share * (1 - share))) + 3;
  int64_t place = (int64_t)(share * FEW), count = 0;
  out->from = place < off ? 0 : key_of_place(keys, place - off);
  out->to = place + off >= FEW ? UINT64_MAX : key_of_place(keys, place + off);
  for (int i = 0; i < FEW; i++)
    count += keys[i] >= out->from && keys[i] <= out->to;
  if (count >= FEW / PART - FEW / 64)
    out->from = out->to = key_of_place(keys, place);
}

// Counts the items of a chunk that are before the range, and writes down the
// keys of those in it: only these need keys. NaN is in no range.
static void take_chunk(const tl_ranks *r, range *g, int64_t i, int64_t m) {
  const tl_kernel_table *kernels = tl_kernels();
  const size_t n = (size_t)m, size = tl_itemsize(r->dtype);
  const char *items = r->items + (size_t)i * size;
  tl_fold_feed *count = kernels->fold_feed[TL_FOLD_COUNT][TL_BOOL];
  uint64_t taken[TL_NTH_CHUNK];
  uint8_t within[TL_NTH_CHUNK], before[TL_NTH_CHUNK];
  const bool down = r->descending;
  kernels->binary[down ? TL_OP_GREATER : TL_OP_LESS][r->dtype](before, items,
                                                               g->first, n);
  kernels->binary[down ? TL_OP_GREATER_EQUAL : TL_OP_LESS_EQUAL][r->dtype](
      within, items, g->last, n);
  count(&g->before, before, n);
  // Those up to the last one, without those before the first.
  kernels->binary[TL_OP_LOGICAL_XOR][TL_BOOL](within, within, before, n);
  if (r->wants_next && is_float(r->dtype)) {
    kernels->unary[TL_OP_ISNAN][r->dtype](before, items, n);
    count(&g->nans, before, n);
  }
  size_t found = kernels->compress[tl_move_size(size)](taken, items, within, n);
  tl_sort_keys(r->dtype, g->keys + g->count, taken, found, r->descending,
               r->same_zero, NULL);
  g->count += (int64_t)found;
}

// Fills one chunk with the item that a key stands for; floats of the outermost
// keys become infinities.
static void fill_bound(const tl_ranks *r, uint64_t key, bool first,
                       uint64_t bound[TL_NTH_CHUNK]) {
  tl_c128 item = {0, 0};
  tl_sort_from_wide(r->dtype, &item, &key, 1, r->descending, NULL);
  if (is_float(r->dtype) && (first ? key == 0 : key == UINT64_MAX)) {
    const double end = first == r->descending ? INFINITY : -INFINITY;
    const float narrow = (float)end;
    item.re = end;
    if (r->dtype == TL_FLOAT32)
      memcpy(&item, &narrow, sizeof narrow);
  }
  tl_kernels()->fill[tl_move_size(tl_itemsize(r->dtype))](bound, &item,
                                                          TL_NTH_CHUNK);
}

// Begins the counts, and makes items of the bounds.
static void open_range(const tl_ranks *r, range *g) {
  tl_fold_begin(&g->before);
  tl_fold_begin(&g->nans);
  fill_bound(r, g->from, true, g->first);
  fill_bound(r, g->to, false, g->last);
}

// How many items were counted.
static int64_t counted(tl_fold_state *state) {
  int64_t n;
  tl_kernels()->fold_end[TL_FOLD_COUNT][TL_BOOL](state, &n);
  return n;
}

// *found: false where the key is not in the range, or too many are.
static bool search_range(const tl_ranks *r, int64_t k, range *g, tl_nth *out,
                         bool *found) {
  int64_t same = 0;
  open_range(r, g);
  *found = false;
  for (int64_t i = 0; i < r->n; i += TL_NTH_CHUNK) {
    take_chunk(r, g, i, tl_least(TL_NTH_CHUNK, r->n - i));
    if (g->from == g->to) {  // what is written down is known
      same += g->count;
      g->count = 0;
    }
    if (g->count > g->most)
      return true;
    if (!goes_on(r, i))
      return false;
  }
  const int64_t nans = counted(&g->nans), less = counted(&g->before);
  if (g->from == g->to) {
    *found = k >= less && k - less < same;
    *out = (tl_nth){g->from, UINT64_MAX, nans > 0, less, same};
    return true;
  }
  search s = {.left = g->count,
              .place = k - less,
              .wants_next = r->wants_next,
              .next = UINT64_MAX};
  if (s.place < 0 || s.place >= g->count)
    return true;
  if (!search_all(r->vm, g->keys, &s))
    return false;
  *out = found_at(&s, k, nans > 0);
  *found = true;
  return true;
}

// Tries the range that a sample suggests. *found is false where it was of no
// use: too few items, too small ones, or a sample that misled.
static bool find_in_range(const tl_ranks *r, int64_t k, tl_nth *out,
                          bool *found) {
  range g;  // large: not cleared
  *found = false;
  if (r->n <= TL_NTH_FREE || tl_itemsize(r->dtype) < 4)
    return true;
  guess(r, k, &g);
  g.most = r->n / PART;
  g.count = 0;
  // What one chunk more may write, and one key behind those that count.
  size_t nbytes = ((size_t)g.most + TL_NTH_CHUNK + 1) * sizeof *g.keys;
  g.keys = tl_alloc(r->vm, nbytes, r->function);
  bool ok = g.keys != NULL && search_range(r, k, &g, out, found);
  tl_free(r->vm, g.keys, nbytes);
  return ok;
}

// --- Digit by digit
// ------------------------------------------------------------

// The way that always ends: at most one pass over all items for each digit of
// 11 bits, fewer where high bits are the same in all keys.
static bool find_by_digits(const tl_ranks *r, int64_t k, tl_nth *out) {
  uint64_t few[FEW + 1], *keys = few, first = 0, most = 0;
  size_t nbytes = 0;
  search s = {.shift = (int)tl_itemsize(r->dtype) * 8,
              .left = r->n,
              .place = k,
              .next = UINT64_MAX};
  // Keys of 16 bits are two digits anyway, but NaN has to be seen.
  if ((s.shift > 16 || r->dtype == TL_FLOAT16) &&
      !find_width(r, &s.shift, &first, &most))
    return false;
  s.high = above(first, s.shift);
  while (s.shift > 0 && (s.left == r->n || s.left > r->n / PART))
    if (!next_digit(r, &s))
      return false;
  if (s.shift > 0) {
    if (s.left > FEW) {
      nbytes = ((size_t)s.left + 1) * sizeof *keys;
      keys = tl_alloc(r->vm, nbytes, r->function);
    }
    bool ok =
        keys != NULL && collect(r, &s, keys) && search_written(r->vm, keys, &s);
    if (nbytes > 0 && keys != NULL)
      tl_free(r->vm, keys, nbytes);
    if (!ok)
      return false;
  }
  *out = found_at(&s, k, is_nan(r->dtype, most));
  // Seen was only what was written down.
  out->next = UINT64_MAX;
  return true;
}

// All keys are written down at once.
static void find_among_few(const tl_ranks *r, int64_t k, tl_nth *out) {
  uint64_t keys[FEW + 1], most = 0;
  search s = {.left = r->n,
              .place = k,
              .wants_next = r->wants_next,
              .next = UINT64_MAX};
  keys[0] = 0;
  tl_sort_keys(r->dtype, keys, r->items, (size_t)r->n, r->descending,
               r->same_zero, NULL);
  for (int64_t i = 0; r->wants_next && i < r->n; i++)
    most = keys[i] > most ? keys[i] : most;
  search_all(NULL, keys, &s);
  *out = found_at(&s, k, is_nan(r->dtype, most));
}

// Three ways, by size: all keys at once, a range from a sample, digits.
bool tl_nth_find(const tl_ranks *r, int64_t k, tl_nth *out) {
  bool found;
  if (r->n <= FEW) {
    find_among_few(r, k, out);
    return true;
  }
  return find_in_range(r, k, out, &found) &&
         (found || find_by_digits(r, k, out));
}

// One pass; keys that are not above stand for all ones, which is no branch.
bool tl_nth_above(const tl_ranks *r, uint64_t key, uint64_t *out) {
  uint64_t buffer[TL_NTH_CHUNK], found = UINT64_MAX;
  for (int64_t i = 0; i < r->n; i += TL_NTH_CHUNK) {
    int64_t m = tl_least(TL_NTH_CHUNK, r->n - i);
    const uint64_t *keys = tl_nth_keys(r, i, m, buffer);
    for (int64_t j = 0; j < m; j++) {
      uint64_t other = keys[j] > key ? keys[j] : UINT64_MAX;
      found = other < found ? other : found;
    }
    if (!goes_on(r, i))
      return false;
  }
  *out = found;
  return true;
}
