// UTF-8, grapheme clusters, widths, growing text, hashes.
#include <stdio.h>

#include "tests/unit/fixture.h"

static void check_utf8(const char *text, size_t nbytes, size_t wrong_at) {
  size_t at = SIZE_MAX;
  bool ok = tl_utf8_check(text, nbytes, &at);
  assert_int_equal(ok, wrong_at == SIZE_MAX);
  if (!ok)
    assert_int_equal(at, wrong_at);
}

static void malformed_text_is_found(void **state) {
  (void)state;
  check_utf8("plain", 5, SIZE_MAX);
  check_utf8("größe π 速度 😀", 22, SIZE_MAX);
  check_utf8("a\xff", 2, 1);
  check_utf8("ab\xc0\x80", 4, 2);        // overlong
  check_utf8("\xe0\x80\xaf", 3, 0);      // overlong
  check_utf8("x\xed\xa0\x80", 4, 1);     // a surrogate
  check_utf8("\xf4\x90\x80\x80", 4, 0);  // above U+10FFFF
  check_utf8("ab\xe2\x82", 4, 2);        // cut short
  check_utf8("\x80", 1, 0);              // a tail alone
  check_utf8("\0a", 2, SIZE_MAX);
}

static int64_t clusters(tl_vm *vm, const char *text) {
  tl_slot s = text_slot(vm, text);
  int64_t count = tl_string_graphemes(vm, s.string);
  tl_drop(vm, s);
  return count;
}

static void clusters_are_counted(void **state) {
  tl_vm *vm = *state;
  assert_int_equal(clusters(vm, ""), 0);
  assert_int_equal(clusters(vm, "abc"), 3);
  assert_int_equal(clusters(vm, "a\r\nb"), 3);
  assert_int_equal(clusters(vm, "\r"), 1);
  assert_int_equal(clusters(vm, "größe"), 5);
  assert_int_equal(clusters(vm, "e\u0301"), 1);
  assert_int_equal(clusters(vm, "🇫🇷🇩🇪"), 2);
  assert_int_equal(clusters(vm, "👩‍👩‍👧"), 1);
}

static void cluster_ranges_are_bytes(void **state) {
  tl_vm *vm = *state;
  tl_slot s = text_slot(vm, "ae\u0301π!");
  size_t begin, end;
  tl_string_grapheme_range(s.string, 1, 3, &begin, &end);
  assert_int_equal(begin, 1);
  assert_int_equal(end, 6);
  tl_drop(vm, s);
  s = text_slot(vm, "ascii");
  tl_string_grapheme_range(s.string, 2, 2, &begin, &end);
  assert_int_equal(begin, 2);
  assert_int_equal(end, 2);
  tl_drop(vm, s);
}

// 100 letters, every third of two code points.
static tl_slot long_text(tl_vm *vm) {
  tl_text text;
  tl_text_open(&text, vm);
  for (int i = 0; i < 100; i++)
    tl_text_puts(&text, i % 3 == 0 ? "e\u0301" : "π");
  return tl_own_string(tl_text_finish(&text));
}

static void check_ranges(tl_vm *vm, tl_string *s) {
  assert_int_equal(tl_string_graphemes(vm, s), 100);
  for (int64_t i = 0; i < 100; i++) {
    size_t begin, end, from = (size_t)(2 * i + (i + 2) / 3);
    tl_string_grapheme_range(s, i, i + 1, &begin, &end);
    assert_int_equal(begin, from);
    assert_int_equal(end, from + (i % 3 == 0 ? 3 : 2));
    assert_int_equal(tl_string_grapheme_at(vm, s, from), i);
    assert_int_equal(tl_string_grapheme_at(vm, s, from + 1), -1);
  }
}

static void marks_are_counted_and_freed(void **state) {
  tl_vm *vm = *state;
  tl_slot s = long_text(vm);
  uint64_t live = vm->stats.live_bytes, hash = tl_string_hash(s.string);
  check_ranges(vm, s.string);
  assert_true((s.string->head.flags & TL_MARKED) == 0);
  check_ranges(vm, s.string);
  assert_true((s.string->head.flags & TL_MARKED) != 0);
  assert_int_equal(vm->stats.live_bytes, live + s.string->marks->nbytes);
  assert_int_equal(tl_string_hash(s.string), hash);
  tl_drop(vm, s);
  assert_int_equal(vm->stats.live_bytes, 0);
}

// Also where they were made and the text grew.
static void refused_marks_are_a_walk(void **state) {
  tl_vm *vm = *state;
  tl_slot s = long_text(vm);
  vm->options.memory_limit = vm->stats.live_bytes;
  check_ranges(vm, s.string);
  check_ranges(vm, s.string);
  assert_true((s.string->head.flags & TL_MARKED) == 0);
  assert_false(tl_failed(vm));
  vm->options.memory_limit = 0;
  assert_int_equal(tl_string_graphemes(vm, s.string), 100);
  assert_true((s.string->head.flags & TL_MARKED) != 0);
  tl_slot more = long_text(vm);
  s.string = tl_string_append(vm, s.string, more.string);
  tl_drop(vm, more);
  vm->options.memory_limit = vm->stats.live_bytes;
  assert_int_equal(tl_string_graphemes(vm, s.string), 200);
  vm->options.memory_limit = 0;
  assert_int_equal(tl_string_graphemes(vm, s.string), 200);
  tl_drop(vm, s);
  assert_int_equal(vm->stats.live_bytes, 0);
}

// The lowest bits of the hash choose the place in a table: short texts that
// differ in few bytes spread over it as if by chance (3,223 of 8,192 places).
static void hashes_of_short_texts_spread(void **state) {
  (void)state;
  static const char *const forms[] = {"%d", "k%d", "%o", "%d,"};
  for (size_t form = 0; form < sizeof forms / sizeof *forms; form++) {
    bool taken[8192] = {false};
    int places = 0;
    for (int i = 0; i < 4096; i++) {
      char text[16];
      int n = snprintf(text, sizeof text, forms[form], i);
      bool *at = &taken[tl_text_hash(text, (size_t)n) % 8192];
      places += !*at;
      *at = true;
    }
    assert_in_range(places, 3000, 4096);
  }
}

// The hash of a letter is a constant: it must be what is computed of any other
// string with its text, or a record would have both as keys.
static void letters_have_the_hash_of_their_text(void **state) {
  tl_vm *vm = *state;
  for (unsigned code = 0; code <= TL_NO_LETTER; code++) {
    tl_string *letter = tl_letter_slot(code).string;
    assert_int_equal(letter->length, code < TL_NO_LETTER);
    assert_true(tl_string_hash(letter) ==
                tl_text_hash(letter->text, letter->length));
    tl_string *other = tl_string_new(vm, letter->text, letter->length);
    assert_true(tl_string_hash(other) == tl_string_hash(letter));
    assert_true(tl_string_equal(other, letter));
    tl_drop(vm, tl_own_string(other));
  }
}

// Checks a part and whether each byte of it is a cluster.
static void check_cut(tl_vm *vm, tl_string *s, size_t begin, size_t end,
                      const char *text, bool bytewise) {
  tl_slot part;
  assert_true(tl_string_cut(vm, s, begin, end, &part));
  assert_string_equal(part.string->text, text);
  assert_int_equal(part.string->length, end - begin);
  assert_int_equal(tl_string_is_bytewise(part.string), bytewise);
  assert_int_equal(tl_is_owned(part), strlen(text) > 1);
  tl_drop(vm, part);
}

static void parts_know_what_their_string_knew(void **state) {
  tl_vm *vm = *state;
  tl_slot ascii = text_slot(vm, "plain text"), wide = text_slot(vm, "aπ bcd");
  check_cut(vm, ascii.string, 2, 7, "ain t", true);
  check_cut(vm, ascii.string, 3, 4, "i", true);
  check_cut(vm, ascii.string, 10, 10, "", true);
  check_cut(vm, wide.string, 0, 3, "aπ", false);
  check_cut(vm, wide.string, 3, 7, " bcd", true);
  check_cut(vm, wide.string, 0, 1, "a", true);
  tl_drop(vm, ascii);
  tl_drop(vm, wide);
}

// CR is a cluster with a LF behind it, so that bytes are not, at any place.
static void each_byte_is_looked_at(void **state) {
  tl_vm *vm = *state;
  for (size_t length = 1; length < 100; length++) {
    for (size_t at = 0; at <= length; at++) {
      char text[100];
      memset(text, 'x', length);
      if (at < length)
        text[at] = at % 2 == 0 ? '\r' : '\x7f';
      tl_string *s = tl_string_new(vm, text, length);
      assert_int_equal(tl_string_is_bytewise(s), at == length || at % 2 != 0);
      tl_drop(vm, tl_own_string(s));
    }
  }
}

static void check_search(tl_vm *vm, const char *text, const char *sought,
                         size_t from, int64_t place) {
  tl_slot s = text_slot(vm, text), part = text_slot(vm, sought);
  const char *found = tl_string_search(vm, s.string, from, part.string);
  assert_int_equal(found != NULL ? found - s.string->text : -1, place);
  tl_drop(vm, s);
  tl_drop(vm, part);
}

// Near, far, at both ends, and where only the beginning is there.
static void parts_are_found(void **state) {
  tl_vm *vm = *state;
  const char *far = "abababababababababababababababababababababcab";
  check_search(vm, far, "a", 0, 0);
  check_search(vm, far, "c", 0, 42);
  check_search(vm, far, "ca", 0, 42);
  check_search(vm, far, "abc", 0, 40);
  check_search(vm, far, "cab", 0, 42);
  check_search(vm, far, "cabc", 0, -1);
  check_search(vm, far, "d", 0, -1);
  check_search(vm, far, "b", 44, 44);
  check_search(vm, far, "ab", 44, -1);
  check_search(vm, far, "", 45, 45);
  check_search(vm, far, "a", 45, -1);
  check_search(vm, "", "a", 0, -1);
  check_search(vm, "xπ", "π", 0, 1);
}

static void widths_are_in_cells(void **state) {
  (void)state;
  assert_int_equal(tl_display_width("abc", 3), 3);
  assert_int_equal(tl_display_width("速度", 6), 4);
  assert_int_equal(tl_display_width("e\u0301x", 4), 2);
  assert_int_equal(tl_display_width("π", 2), 1);
  assert_int_equal(tl_display_width("", 0), 0);
}

static void strings_compare_by_code_points(void **state) {
  tl_vm *vm = *state;
  tl_slot a = text_slot(vm, "abc"), b = text_slot(vm, "abd"),
          c = text_slot(vm, "ab");
  assert_true(tl_string_compare(NULL, a.string, b.string) < 0);
  assert_true(tl_string_compare(NULL, a.string, c.string) > 0);
  assert_int_equal(tl_string_compare(NULL, a.string, a.string), 0);
  tl_string *joined = tl_string_concat(vm, c.string, a.string);
  assert_string_equal(joined->text, "ababc");
  assert_true(tl_string_is_bytewise(joined));
  assert_true(tl_string_hash(joined) != 0);
  tl_drop(vm, tl_own_string(joined));
  tl_drop(vm, a);
  tl_drop(vm, b);
  tl_drop(vm, c);
}

static void text_grows(void **state) {
  tl_vm *vm = *state;
  tl_text text;
  tl_text_open(&text, vm);
  for (int i = 0; i < 1000; i++) tl_text_printf(&text, "%d,", i);
  tl_string *string = tl_text_finish(&text);
  assert_int_equal(string->length, 3890);
  assert_memory_equal(string->text, "0,1,2,", 6);
  tl_drop(vm, tl_own_string(string));
}

static void text_survives_each_failure(void **state) {
  tl_vm *vm = *state;
  for (uint64_t n = 1;; n++) {
    tl_memory_fail_at(vm, n);
    tl_text text;
    tl_text_open(&text, vm);
    for (int i = 0; i < 100; i++) tl_text_puts(&text, "some words ");
    tl_string *string = tl_text_finish(&text);
    tl_memory_fail_at(vm, 0);
    if (string != NULL) {
      tl_drop(vm, tl_own_string(string));
      assert_true(n > 2);
      return;
    }
    failure(vm, TALLY_ERR_MEMORY);
    tl_error_clear(vm);
    assert_int_equal(vm->stats.live_bytes, 0);
  }
}

static void code_points_are_decoded(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int32_t point;
    size_t length;
  } cases[] = {
      {"a", 'a', 1},
      {"\xc3\xa9", 0xe9, 2},
      {"\xe9\x80\x9f", 0x901f, 3},
      {"\xf0\x9f\x98\x80", 0x1f600, 4},
      {"\xc3", 0xfffd, 1},
      {"\xc3(", 0xfffd, 1},
      {"\xc0\x80", 0xfffd, 1},
      {"\xff", 0xfffd, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int32_t point;
    size_t length =
        tl_utf8_decode(cases[i].text, strlen(cases[i].text), &point);
    assert_int_equal(point, cases[i].point);
    assert_int_equal(length, cases[i].length);
  }
  assert_true(tl_begins_name('_') && tl_begins_name(0x3b1));
  assert_false(tl_begins_name('7') || tl_begins_name(0x2081));
  assert_true(tl_continues_name('7') && tl_continues_name(0x2081));
  assert_false(tl_continues_name('-') || tl_continues_name(0xfffd));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(code_points_are_decoded),
      cmocka_unit_test(malformed_text_is_found),
      FIXTURE_TEST(clusters_are_counted),
      FIXTURE_TEST(cluster_ranges_are_bytes),
      FIXTURE_TEST(marks_are_counted_and_freed),
      FIXTURE_TEST(refused_marks_are_a_walk),
      FIXTURE_TEST(letters_have_the_hash_of_their_text),
      FIXTURE_TEST(hashes_of_short_texts_spread),
      FIXTURE_TEST(parts_know_what_their_string_knew),
      FIXTURE_TEST(each_byte_is_looked_at),
      FIXTURE_TEST(parts_are_found),
      cmocka_unit_test(widths_are_in_cells),
      FIXTURE_TEST(strings_compare_by_code_points),
      FIXTURE_TEST(text_grows),
      FIXTURE_TEST(text_survives_each_failure),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
