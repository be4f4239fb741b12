// Items of string arrays: what lies in them, how they are compared and counted.
#include "tests/unit/fixture.h"
#include "vm/array/string_item.h"

// The texts around the border, in the order of their bytes. Some share their
// first 4, 8 and 12 bytes, some end with zeros.
static const struct {
  const char *text;
  size_t nbytes;
} texts[] = {
    {"", 0},
    {"\0", 1},
    {"\0\0", 2},
    {"a", 1},
    {"a\0", 2},
    {"ab", 2},
    {"abc", 3},
    {"abc\0", 4},
    {"abcd", 4},
    {"abcd\0e", 6},
    {"abcde", 5},
    {"abcdefgh", 8},
    {"abcdefghijk", 11},
    {"abcdefghijkl", 12},
    {"abcdefghijkl\0", 13},
    {"abcdefghijklm", 13},
    {"abcdefghijklmn", 14},
    {"abcdefghijkln", 13},
    {"abcdefghijkm", 12},
    {"abcz", 4},
    {"abd", 3},
    {"no room for this text in an item", 32},
    {"no room for this text in an item!", 33},
    {"zeros behind\0\0", 14},
    {"\xc3\xa9t\xc3\xa9", 5},                                  // été
    {"\xe9\x80\x9f\xe5\xba\xa6\xe9\x80\x9f\xe5\xba\xa6", 12},  // 速度速度
    {"\xe9\x80\x9f\xe5\xba\xa6\xe9\x80\x9f\xe5\xba\xa6\xe9\x80\x9f", 15},
    {"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80", 12},  // 3 of U+1F600
};
enum { TEXTS = sizeof texts / sizeof *texts };

static tl_array *text_array(tl_vm *vm) {
  int64_t n = TEXTS;
  tl_array *a = tl_array_new(vm, TL_STRING, 1, &n);
  assert_non_null(a);
  for (int i = 0; i < TEXTS; i++) {
    assert_true(tl_string_item_set(vm, &tl_string_items(a)[i], texts[i].text,
                                   texts[i].nbytes));
  }
  return a;
}

static void check_text(const tl_string_item *item, const char *text,
                       size_t nbytes) {
  assert_int_equal(tl_string_item_length(item), nbytes);
  assert_memory_equal(tl_string_item_text(item), text, nbytes);
  assert_true((tl_string_item_object(item) == NULL) == (nbytes <= 12));
}

static void text_is_what_was_set(void **state) {
  tl_vm *vm = *state;
  tl_array *a = text_array(vm);
  for (int i = 0; i < TEXTS; i++)
    check_text(&tl_string_items(a)[i], texts[i].text, texts[i].nbytes);
  tl_drop(vm, tl_own_array(a));
}

static void items_are_compared_as_their_text(void **state) {
  tl_vm *vm = *state;
  tl_array *a = text_array(vm);
  const tl_string_item *items = tl_string_items(a);
  for (int i = 0; i < TEXTS; i++) {
    for (int k = 0; k < TEXTS; k++) {
      assert_int_equal(tl_string_item_compare(NULL, &items[i], &items[k]),
                       (i > k) - (i < k));
      assert_true(tl_string_item_equal(NULL, &items[i], &items[k]) == (i == k));
    }
  }
  tl_drop(vm, tl_own_array(a));
}

// Equal items that were made in other ways: of a string, by joining.
static void equal_items_have_one_hash(void **state) {
  tl_vm *vm = *state;
  int64_t n = 2;
  tl_array *a = text_array(vm), *b = tl_array_new(vm, TL_STRING, 1, &n);
  tl_string_item *other = tl_string_items(b);
  for (int i = 0; i < TEXTS; i++) {
    const tl_string_item *item = &tl_string_items(a)[i];
    for (size_t cut = 0; cut <= texts[i].nbytes; cut++) {
      tl_string_item head = {0}, tail = {0};
      size_t left = texts[i].nbytes - cut;
      assert_true(tl_string_item_set(vm, &head, texts[i].text, cut));
      assert_true(tl_string_item_set(vm, &tail, texts[i].text + cut, left));
      assert_true(tl_string_item_join(vm, &other[0], &head, &tail));
      assert_true(tl_string_item_equal(NULL, item, &other[0]));
      assert_true(tl_string_item_hash(item) == tl_string_item_hash(&other[0]));
      tl_string_items_drop(vm, &head, 1);
      tl_string_items_drop(vm, &tail, 1);
    }
    tl_slot s =
        tl_own_string(tl_string_new(vm, texts[i].text, texts[i].nbytes));
    tl_string_item borrowed = tl_string_item_of(s.string);
    assert_true(tl_string_item_equal(NULL, item, &borrowed));
    tl_string_item_put(vm, &other[1], s.string);
    tl_drop(vm, s);
    assert_true(tl_string_item_equal(NULL, item, &other[1]));
    assert_true(tl_string_item_hash(item) == tl_string_item_hash(&other[1]));
  }
  tl_drop(vm, tl_own_array(a));
  tl_drop(vm, tl_own_array(b));
}

// The value has the same text; a long one is the string itself.
static void values_are_strings(void **state) {
  tl_vm *vm = *state;
  tl_array *a = text_array(vm);
  for (int i = 0; i < TEXTS; i++) {
    const tl_string_item *item = &tl_string_items(a)[i];
    tl_slot s = tl_string_item_value(vm, item);
    assert_true(tl_is_string(s));
    assert_int_equal(s.string->length, texts[i].nbytes);
    assert_memory_equal(s.string->text, texts[i].text, texts[i].nbytes + 1);
    if (texts[i].nbytes > 12)
      assert_ptr_equal(s.string, tl_string_item_object(item));
    tl_drop(vm, s);
  }
  tl_drop(vm, tl_own_array(a));
}

static void only_long_texts_are_counted(void **state) {
  tl_vm *vm = *state;
  int64_t n = 3;
  tl_array *a = tl_array_new(vm, TL_STRING, 1, &n);
  tl_string_item *items = tl_string_items(a);
  uint64_t live = vm->stats.live;
  tl_slot brief = text_slot(vm, "twelve bytes"),
          more = text_slot(vm, "13 bytes here");
  tl_string_item_put(vm, &items[0], brief.string);
  assert_int_equal(brief.string->head.count, 1);
  tl_string_item_put(vm, &items[1], more.string);
  assert_int_equal(more.string->head.count, 2);
  tl_string_item_copy(vm, &items[2], &items[1]);
  assert_int_equal(more.string->head.count, 3);
  tl_string_item_copy(vm, &items[2], &items[2]);
  assert_int_equal(more.string->head.count, 3);
  tl_string_item_copy(vm, &items[2], &items[0]);
  assert_int_equal(more.string->head.count, 2);
  // Taken: the slot's own count goes into the item, or is given up.
  tl_string *string = more.string;
  tl_string_item_take(vm, &items[2], &more);
  assert_int_equal(string->head.count, 2);
  tl_string_item_take(vm, &items[1], &brief);
  assert_true(tl_is_none(brief) && tl_is_none(more));
  assert_int_equal(string->head.count, 1);
  assert_int_equal(vm->stats.live, live + 1);
  tl_drop(vm, tl_own_array(a));
}

// A short text needs no memory; where a long one gets none, the item stays.
static void refused_memory_leaves_the_item(void **state) {
  tl_vm *vm = *state;
  tl_string_item item = {0}, tail = {0};
  assert_true(tl_string_item_set(vm, &item, "before", 6));
  assert_true(tl_string_item_set(vm, &tail, " and after", 10));
  vm->options.memory_limit = (size_t)vm->stats.live_bytes + 1;
  assert_true(tl_string_item_set(vm, &item, "twelve bytes", 12));
  static char large[1 << 20];
  memset(large, 'x', sizeof large);
  assert_false(tl_string_item_set(vm, &item, large, sizeof large));
  failure(vm, TALLY_ERR_MEMORY);
  tl_error_clear(vm);
  check_text(&item, "twelve bytes", 12);
  vm->options.memory_limit = 0;
  assert_true(tl_string_item_join(vm, &item, &item, &tail));
  check_text(&item, "twelve bytes and after", 22);
  tl_string_items_drop(vm, &item, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(text_is_what_was_set),
      FIXTURE_TEST(items_are_compared_as_their_text),
      FIXTURE_TEST(equal_items_have_one_hash),
      FIXTURE_TEST(values_are_strings),
      FIXTURE_TEST(only_long_texts_are_counted),
      FIXTURE_TEST(refused_memory_leaves_the_item),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
