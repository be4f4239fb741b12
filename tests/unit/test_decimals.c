// Kernels for tables of text, against strtod and a look at each byte.
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/kernel_items.h"

static uint64_t state = 1;

static unsigned below(unsigned n) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % n;
}

// Mostly a decimal, of up to 20 bytes; returns its length.
static size_t write_cell(char *to) {
  static const char others[] = "+eE, x/:\r.-";
  size_t n = 0;
  if (below(3) == 0)
    to[n++] = '-';
  size_t digits = below(5) == 0 ? below(20) : 1 + below(9);
  size_t point = below(3) == 0 ? digits + 1 : below((unsigned)digits + 1);
  for (size_t i = 0; i < digits; i++) {
    if (i == point)
      to[n++] = '.';
    to[n++] = (char)('0' + below(10));
  }
  if (digits == point)
    to[n++] = '.';
  if (n > 0 && below(8) == 0)
    to[below((unsigned)n)] = others[below(sizeof others - 1)];
  if (below(50) == 0 && n > 0)
    to[n - 1] = (char)(128 + below(128));
  return n;
}

// What tl_decimals must say of a cell.
static uint64_t kind_of(const char *text, size_t n) {
  size_t points = 0, begin = n > 0 && text[0] == '-', digits = 0;
  for (size_t i = begin; i < n; i++) {
    if (text[i] != '.' && (text[i] < '0' || text[i] > '9'))
      return TL_DECIMAL_OTHER;
    points += text[i] == '.';
    digits += text[i] != '.';
  }
  if (digits == 0 || points > 1 || n - begin > 16)
    return TL_DECIMAL_OTHER;
  char joined[32];
  size_t k = 0;
  for (size_t i = begin; i < n; i++)
    if (text[i] != '.')
      joined[k++] = text[i];
  joined[k] = 0;
  if (strtoull(joined, NULL, 10) > UINT64_C(1) << 53)
    return TL_DECIMAL_OTHER;
  return points ? TL_DECIMAL_POINT : TL_DECIMAL_INTEGER;
}

static void numbers_of_cells(void **unused) {
  (void)unused;
  enum { CELLS = 2 * TL_DECIMALS, STEP = 3 };
  const tl_kernel_table *tables[3];
  const int count = kernel_tables(tables);
  for (int turn = 0; turn < 300; turn++) {
    char text[32 * CELLS + 64];
    uint16_t begin[CELLS + 1];
    size_t at = 16, n = 1 + below(CELLS / STEP);
    size_t behind = 1 + below(2);
    memset(text, below(2) ? '7' : ',', sizeof text);
    for (size_t i = 0; i <= CELLS; i++) {
      begin[i] = (uint16_t)at;
      at += write_cell(text + at);
      text[at++] = ',';
      if (behind == 2)
        text[at++] = ',';
    }
    for (int t = 0; t < count; t++) {
      double values[TL_DECIMALS];
      int64_t integers[TL_DECIMALS];
      uint64_t all = 0;
      unsigned seen =
          tables[t]->decimals(values, integers, text, begin, STEP, behind, n);
      for (size_t i = 0; i < n; i++) {
        char cell[64];
        size_t length =
            (size_t)(begin[STEP * i + 1] - begin[STEP * i]) - behind;
        memcpy(cell, text + begin[STEP * i], length);
        cell[length] = 0;
        uint64_t kind = kind_of(cell, length);
        all |= kind;
        // Alone, and what lies behind it stays.
        double alone[2] = {0, -7};
        unsigned of_one = tables[t]->decimals(
            alone, NULL, text, begin + STEP * i, STEP, behind, 1);
        assert_true(alone[1] == -7);
        if (kind == TL_DECIMAL_OTHER) {
          assert_true(of_one & TL_DECIMAL_OTHER);
          continue;
        }
        double expected = strtod(cell, NULL);
        assert_int_equal(of_one, kind);
        assert_memory_equal(&alone[0], &expected, sizeof expected);
        assert_memory_equal(&values[i], &expected, sizeof expected);
        if (kind == TL_DECIMAL_INTEGER)
          assert_int_equal(integers[i], strtoll(cell, NULL, 10));
      }
      assert_int_equal(seen >= TL_DECIMAL_OTHER, all >= TL_DECIMAL_OTHER);
      if (all < TL_DECIMAL_OTHER)
        assert_int_equal(seen, all);
    }
  }
}

static void places_in_text(void **unused) {
  (void)unused;
  const tl_kernel_table *tables[3];
  const int count = kernel_tables(tables);
  static tl_text_places places;
  for (int turn = 0; turn < 200; turn++) {
    static char text[TL_TEXT_BYTES];
    size_t n = 64 * (1 + below(TL_TEXT_BYTES / 64)), end = n;
    unsigned rare = 2 + below(40);
    for (size_t i = 0; i < n; i++)
      text[i] = below(rare) ? (char)(1 + below(255)) : "\n\r;;\n"[below(5)];
    for (size_t i = 0; i < n; i++)
      if (text[i] == '"' && turn % 4)
        text[i] = ';';
    if (turn % 8 == 1)
      text[below((unsigned)n)] = 0;
    for (size_t i = n; i-- > 0;)
      if (text[i] == '"' || text[i] == 0)
        end = i;
    for (int t = 0; t < count; t++) {
      size_t cells = 0, lines = 0, backs = 0;
      tables[t]->text_places(&places, text, ';', n);
      assert_int_equal(places.cell[0], 0);
      for (size_t i = 0; i < end; i++) {
        if (text[i] == ';' || text[i] == '\n')
          assert_int_equal(places.cell[++cells], i + 1);
        if (text[i] == '\n')
          assert_int_equal(places.line[lines++], i + 1);
        if (text[i] == '\r')
          assert_int_equal(places.back[backs++], i + 1);
      }
      assert_int_equal(places.cells, cells);
      assert_int_equal(places.lines, lines);
      assert_int_equal(places.backs, backs);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_of_cells),
      cmocka_unit_test(places_in_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
