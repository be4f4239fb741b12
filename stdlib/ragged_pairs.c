// Items of rows in pairs and more: all pairs, all choices.
//
//
//   cartesian([[1, 2]], [[3, 4]])     [[(1, 3), (1, 4), (2, 3), (2, 4)]]
//   combinations([[1, 2, 3]], 2)      [[(1, 2), (1, 3), (2, 3)]]
//
// Places of the items are written down for all rows first, and each column is
// then taken at once: the loops know nothing of dtypes.

#include <inttypes.h>

#include "stdlib/families.h"
#include "stdlib/ragged.h"
#include "vm/nested/parts.h"

// What messages and fields call the items of one combination.
static const char *const ordinals[] = {"first", "second", "third",   "fourth",
                                       "fifth", "sixth",  "seventh", "eighth",
                                       "ninth", "tenth"};
enum { MOST_CHOSEN = sizeof ordinals / sizeof *ordinals };

// Makes room for the places of [count] columns of [total] items; places that
// were not made are NULL.
static bool open_places(tl_vm *vm, int64_t count, int64_t total,
                        tl_array **places) {
  bool ok = true;
  for (int64_t i = 0; i < count; i++) {
    places[i] = ok ? tl_positions_new(vm, total) : NULL;
    ok = places[i] != NULL;
  }
  return ok;
}

// Rows of structs with the fields first, second, …: the items of each content
// at its places. Takes the offsets and places on every path; false where [ok]
// is.
static bool combine(tl_vm *vm, bool ok, tl_array *offsets, int64_t count,
                    const tl_slot *contents, tl_array *const *places,
                    tl_slot *out) {
  tl_slot columns[MOST_CHOSEN], items;
  tl_string *names[MOST_CHOSEN];
  for (int64_t i = 0; i < count; i++) {
    columns[i] = tl_none();
    names[i] = ok ? tl_string_from(vm, ordinals[i]) : NULL;
    ok = tl_take_at(vm, names[i] != NULL, contents[i], places[i], &columns[i]);
  }
  ok = ok && tl_struct_of_columns(vm, count, names, columns, &items);
  for (int64_t i = 0; i < count; i++) {
    tl_clear(vm, &columns[i]);
    if (names[i] != NULL)
      tl_drop(vm, tl_own_string(names[i]));
  }
  return tl_ragged_close(vm, ok, offsets, &items, out);
}

// n over k; -1: beyond int64.
static int64_t choose(int64_t n, int64_t k) {
  int64_t result = 1;
  if (n < k)
    return 0;
  for (int64_t i = 1; i <= k; i++) {
    // The product of i neighbours is divisible by i.
    if (__builtin_mul_overflow(result, n - k + i, &result))
      return -1;
    result /= i;
  }
  return result;
}

// Offsets for what each row gives: all pairs of its x with its y, or where
// these are NULL the choices of k of its items. NULL after tl_fail (kind shape)
// where they are too many to count.
static tl_array *count_each(tl_vm *vm, const int64_t *x, const int64_t *y,
                            int64_t k, int64_t rows) {
  tl_array *offsets = tl_offsets_new(vm, rows);
  for (int64_t i = 0; i < rows && tl_array_polled(vm, &offsets, i); i++) {
    int64_t *to = &tl_offsets_data(offsets)[i], n = x[i + 1] - x[i], count;
    if (y == NULL)
      count = choose(n, k);
    else if (__builtin_mul_overflow(n, y[i + 1] - y[i], &count))
      count = -1;
    if (count >= 0 && !__builtin_add_overflow(to[0], count, &to[1]))
      continue;
    tl_drop(vm, tl_own_array(offsets));
    tl_fail(vm, TALLY_ERR_SHAPE,
            y == NULL ? "combinations: row %" PRId64 " has too many of them"
                      : "cartesian: row %" PRId64 " has too many pairs",
            i);
    return NULL;
  }
  return offsets;
}

// cartesian(a, b): in each row all pairs of an item of a with one of b, the
// second changing fastest. The number of pairs is summed first, and fails (kind
// shape) beyond int64.
static bool cartesian(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot a = args[0], b = args[1];
  int64_t rows = tl_ragged_rows(a.nested);
  if (tl_ragged_rows(b.nested) != rows)
    return tl_fail_ragged_rows(vm, "cartesian", a, b, 0);
  const int64_t *x = tl_ragged_offsets(a.nested);
  const int64_t *y = tl_ragged_offsets(b.nested);
  tl_array *offsets = count_each(vm, x, y, 0, rows), *places[2];
  if (offsets == NULL)
    return false;
  bool ok = open_places(vm, 2, tl_offsets_data(offsets)[rows], places);
  int64_t at = 0;
  for (int64_t i = 0; ok && i < rows; i++) {
    for (int64_t j = x[i]; ok && j < x[i + 1]; j++) {
      ok = tl_poll_items(vm, y[i + 1] - y[i] + 1);
      for (int64_t k = y[i]; k < y[i + 1]; k++, at++) {
        tl_offsets_data(places[0])[at] = j;
        tl_offsets_data(places[1])[at] = k;
      }
    }
  }
  const tl_slot contents[2] = {a.nested->parts[1], b.nested->parts[1]};
  return combine(vm, ok, offsets, 2, contents, places, out);
}

// The next k of [0, n) in order, rising; false after the last.
static bool next_choice(int64_t *at, int64_t k, int64_t n) {
  int64_t i = k - 1;
  while (i >= 0 && at[i] == n - k + i) i--;
  if (i < 0)
    return false;
  at[i]++;
  for (i++; i < k; i++) at[i] = at[i - 1] + 1;
  return true;
}

// The places of the i-th items of all combinations, for each i < k.
static bool list_choices(tl_vm *vm, const int64_t *x, int64_t rows, int64_t k,
                         tl_array *const *places) {
  int64_t total = 0;
  bool ok = true;
  for (int64_t row = 0; ok && row < rows; row++) {
    // The first combination is 0, 1, … k - 1; a row that is shorter has none.
    int64_t at[MOST_CHOSEN], n = x[row + 1] - x[row];
    for (int64_t i = 0; i < k; i++) at[i] = i;
    bool more = n >= k;
    for (; more && tl_poll_ok(vm, total, &ok); total++) {
      for (int64_t i = 0; i < k; i++)
        tl_offsets_data(places[i])[total] = x[row] + at[i];
      more = next_choice(at, k, n);
    }
  }
  return ok;
}

// x, n
static bool combinations(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const int64_t k = args[1].i;
  if (k < 1 || k > MOST_CHOSEN) {
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "combinations: n is %" PRId64 ", not from 1 to %d", k,
                   (int)MOST_CHOSEN);
  }
  const tl_nested *n = args[0].nested;
  const int64_t *x = tl_ragged_offsets(n);
  int64_t rows = tl_ragged_rows(n);
  tl_array *offsets = count_each(vm, x, NULL, k, rows), *places[MOST_CHOSEN];
  if (offsets == NULL)
    return false;
  tl_slot contents[MOST_CHOSEN];
  for (int64_t i = 0; i < k; i++) contents[i] = n->parts[1];
  bool ok = open_places(vm, k, tl_offsets_data(offsets)[rows], places) &&
            list_choices(vm, x, rows, k, places);
  return combine(vm, ok, offsets, k, contents, places, out);
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_ragged_pairs_builtins[] = {
    /// For each row all pairs of an item of a with one of b, as structs with
    /// the fields first and second.
    /// Any dtype, which stays. Values other than arrays are an error (kind
    /// type).
    ///     cartesian([[1, 2], []], [[3], [4]]).second    # [[3, 3], []]
    {"cartesian", "a, b", cartesian, .lifts = TL_OF_ROWS, .takes = TL_BYTES,
     .types = "gg"},
    /// For each row all ways to choose n of its items, each once and in order,
    /// as structs with the fields first, second, third …; n is at most 10.
    /// Any dtype, which stays. Values other than arrays are an error (kind
    /// type), another n a second (value).
    ///     combinations([[1, 2, 3], [4]]).second    # [[2, 3, 3], []]
    ///     combinations([[1, 2, 3, 4]], 3).third    # [[3, 4, 4, 4]]
    {"combinations", "x, n = 2", combinations, .lifts = TL_OF_ROWS,
     .takes = TL_BYTES, .types = "gi"},
    {.name = NULL},
};
