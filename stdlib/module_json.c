// The module json: text to values and back.
//
// Both directions have a stack of open containers of their own instead of
// recursion, so that the depth of a text is bounded by memory alone and not by
// the C stack. For {"a": [1, 2  the reader's stack is
//
//   record | "a" | list (1)
//
// and 2 is pushed to the list when the comma or bracket behind it is read.

#include <math.h>

#include "stdlib/families.h"
#include "vm/number.h"
#include "stdlib/text.h"
#include "vm/text/format.h"
#include "vm/nested/nested.h"
#include "vm/array/range.h"
#include "vm/values/record.h"
#include "vm/array/string_item.h"

// --- Reading ----------------------------------------------------------------

// A text being read. [open] is a list: of each array or object that is open,
// its items so far (a list or a record), and behind an object its key.
typedef struct reader {
  tl_vm *vm;
  const char *start, *at, *end;
  tl_list *open;
} reader;

// Fails (kind value) with line and byte of the place. Only here are lines
// counted, so reading need not.
static bool fail_at(reader *r, const char *what) {
  // Bytes, not characters: an editor goes to a byte of a line.
  size_t line = 1, column = 1;
  for (const char *p = r->start; p < r->at; p++) {
    line += *p == '\n';
    column = *p == '\n' ? 1 : column + 1;
  }
  return tl_fail(r->vm, TALLY_ERR_VALUE, "%s at line %zu, byte %zu of it", what,
                 line, column);
}

// Goes past JSON's white space.
static void skip_blanks(reader *r) {
  while (r->at < r->end &&
         (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
    r->at++;
}

// Goes past the character, if it is the next one.
static bool accept(reader *r, char c) {
  return tl_accept(&r->at, r->end, c);
}

// Four hex digits.
static bool read_hex(reader *r, uint32_t *out) {
  const char *from = r->at, *end = r->end - from > 4 ? from + 4 : r->end;
  bool fits;
  uint64_t value;
  r->at = tl_digits_read(from, end, 16, &fits, &value);
  *out = (uint32_t)value;
  return r->at - from == 4;
}

// \uXXXX, of which two make a point above U+FFFF. Half of a pair fails: it is
// no text.
static bool read_point(reader *r, tl_text *text) {
  uint32_t point, low;
  if (!read_hex(r, &point))
    return fail_at(r, "four hex digits expected");
  const bool is_half = point >= 0xd800 && point < 0xe000;
  // The second half must follow the first one at once.
  if (is_half && point < 0xdc00 && accept(r, '\\') && accept(r, 'u') &&
      read_hex(r, &low) && low >= 0xdc00 && low < 0xe000)
    point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
  else if (is_half)
    return fail_at(r, "half of a surrogate pair");
  tl_text_point(text, (int32_t)point);
  return true;
}

// The character behind a backslash.
static bool read_escape(reader *r, tl_text *text) {
  static const char marks[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  if (accept(r, 'u'))
    return read_point(r, text);
  const char *mark = r->at < r->end && *r->at ? strchr(marks, *r->at) : NULL;
  if (mark == NULL)
    return fail_at(r, "unknown escape");
  tl_text_putc(text, meant[mark - marks]);
  r->at++;
  return true;
}

// A string, behind its first quote. *out is owned.
static bool read_string(reader *r, tl_slot *out) {
  tl_text text;
  tl_text_open(&text, r->vm);
  bool ok = true;
  while (ok && !accept(r, '"')) {
    // Runs without escapes are copied as they are.
    const char *plain = r->at;
    while (r->at < r->end && *r->at != '"' && *r->at != '\\' &&
           (unsigned char)*r->at >= 32)
      r->at++;
    tl_text_add(&text, plain, (size_t)(r->at - plain));
    if (accept(r, '\\'))
      ok = read_escape(r, &text);
    else if (r->at == r->end)
      ok = fail_at(r, "a string without an end");
    else if (*r->at != '"')
      ok = fail_at(r, "a control character in a string");
  }
  return tl_text_give(&text, ok, out);
}

// Whether there is another character, and it is a digit.
static bool is_digit(const char *at, const char *end) {
  return at < end && *at >= '0' && *at <= '9';
}

// The place behind a run of digits.
static const char *skip_digits(const char *at, const char *end) {
  while (is_digit(at, end)) at++;
  return at;
}

// The end of a number as JSON writes it, or NULL: no 01, .5, 1. or +1.
static const char *number_end(const char *at, const char *end) {
  if (at < end && *at == '-')
    at++;
  if (!is_digit(at, end))
    return NULL;
  at = *at == '0' ? at + 1 : skip_digits(at, end);
  if (at < end && *at == '.') {
    if (!is_digit(at + 1, end))
      return NULL;
    at = skip_digits(at + 1, end);
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    at++;
    if (at < end && (*at == '+' || *at == '-'))
      at++;
    if (!is_digit(at, end))
      return NULL;
    at = skip_digits(at, end);
  }
  return at;
}

// A number, weak like a literal: an integer where it fits int64, else a float.
static bool read_number(reader *r, tl_slot *out) {
  const char *end = number_end(r->at, r->end);
  if (end == NULL)
    return fail_at(r, "a value expected");
  // JSON's grammar is checked above; the value is read as Tally reads numbers,
  // correctly rounded.
  tl_number number = tl_number_read(r->at, (size_t)(end - r->at));
  if (number.kind == TL_NUMBER_NONE)
    return fail_at(r, "a value expected");
  *out = number.kind == TL_NUMBER_INT ? tl_weak_int(number.i)
                                      : tl_weak_float(number.f);
  r->at = end;
  return true;
}

// Goes past the word, if it is next.
static bool accept_word(reader *r, const char *word) {
  // The characters behind the word are checked as what follows a value.
  size_t n = strlen(word);
  if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
    return false;
  r->at += n;
  return true;
}

// A value that holds no others.
static bool read_plain(reader *r, tl_slot *out) {
  if (accept(r, '"'))
    return read_string(r, out);
  if (accept_word(r, "true"))
    *out = tl_bool(true);
  else if (accept_word(r, "false"))
    *out = tl_bool(false);
  else if (accept_word(r, "null"))
    *out = tl_none();
  else
    return read_number(r, out);
  return true;
}

// --- What is open -----------------------------------------------------------

// Puts a value on the stack of open containers. Takes it.
static bool push_open(reader *r, tl_slot value) {
  return tl_drop_after(r->vm, tl_list_push(r->vm, &r->open, &value), &value);
}

// The innermost entry, borrowed.
static tl_slot *last_open(reader *r) {
  return &r->open->items[r->open->length - 1];
}

// Takes the innermost entry off; returns owned.
static tl_slot take_open(reader *r) {
  return r->open->items[--r->open->length];
}

// Reads the key of an object's next field and its colon, and puts the key on
// the stack.
static bool read_key(reader *r) {
  tl_slot key;
  skip_blanks(r);
  if (!accept(r, '"'))
    return fail_at(r, "a key in quotes expected");
  if (!read_string(r, &key))
    return false;
  if (!push_open(r, key))
    return false;
  skip_blanks(r);
  return accept(r, ':') || fail_at(r, "a colon expected");
}

// Opens an array or object. *done: it is empty, and *out is it.
static bool open_container(reader *r, bool is_object, bool *done,
                           tl_slot *out) {
  tl_slot value;
  if (!(is_object ? tl_record_put_end(tl_record_new(r->vm, 4), &value)
                  : tl_list_give(r->vm, tl_list_new(r->vm, 2), true, &value)))
    return false;
  skip_blanks(r);
  *done = accept(r, is_object ? '}' : ']');
  if (*done) {
    *out = value;
    return true;
  }
  return push_open(r, value) && (!is_object || read_key(r));
}

// Puts a value into the innermost container, below its key if there is one.
// Takes the value.
static bool add_value(reader *r, tl_slot value) {
  bool ok;
  // A key on top of the stack waits for this value. Arrays have no strings on
  // top: their items are in the list.
  if (tl_is_string(*last_open(r))) {
    tl_slot key = take_open(r), *object = last_open(r);
    ok = tl_record_set_key(r->vm, &object->record, &key, &value);
    tl_drop(r->vm, key);
  } else {
    ok = tl_list_push(r->vm, &last_open(r)->list, &value);
  }
  tl_drop(r->vm, value);
  return ok;
}

// After a value: goes past a comma, or closes containers, each of which is a
// value for the next one out. *done: *value is the whole.
static bool after_value(reader *r, tl_slot *value, bool *done) {
  for (;;) {
    *done = r->open->length == 0;
    if (*done)
      return true;
    if (!add_value(r, *value))
      return false;
    bool is_object = tl_is_record(*last_open(r));
    skip_blanks(r);
    if (accept(r, ','))
      return !is_object || read_key(r);
    if (!accept(r, is_object ? '}' : ']'))
      return fail_at(
          r, is_object ? "a comma or } expected" : "a comma or ] expected");
    *value = take_open(r);
  }
}

// Reads one value with all that it holds, in one loop.
static bool read_value(reader *r, tl_slot *out) {
  for (bool done = false; !done;) {
    tl_slot value = tl_none();
    // A container is complete when it is empty; otherwise its first item comes
    // next.
    bool complete = true;
    skip_blanks(r);
    if (!(accept(r, '[') || accept(r, '{')
              ? open_container(r, r->at[-1] == '{', &complete, &value)
              : read_plain(r, &value)))
      return false;
    if (!complete)
      continue;
    if (!after_value(r, &value, &done))
      return false;
    *out = value;
  }
  return true;
}

// json.parse(text).
static bool parse(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const tl_string *text = args[0].string;
  reader r = {vm, text->text, text->text, text->text + text->length,
              tl_list_new(vm, 8)};
  if (r.open == NULL)
    return false;
  tl_slot value = tl_none();
  bool ok = read_value(&r, &value);
  tl_drop(vm, tl_own_list(r.open));
  if (!ok)
    return false;
  skip_blanks(&r);
  // One value is all that a JSON text may have.
  if (r.at != r.end) {
    tl_drop(vm, value);
    return fail_at(&r, "text behind the value");
  }
  *out = value;
  return true;
}

// --- Writing ----------------------------------------------------------------

// Fails (kind type): JSON has no such values.
static bool fail_value(tl_vm *vm, const char *what) {
  return tl_fail(vm, TALLY_ERR_TYPE, "JSON has no %s", what);
}

// Writes a number or bool; inf and nan fail (kind value).
static bool write_scalar(tl_vm *vm, tl_text *text, tl_slot s) {
  int dtype = tl_dtype_of(s);
  // Integers are always finite.
  double f = dtype == TL_FLOAT64                          ? s.f
             : dtype == TL_FLOAT16 || dtype == TL_FLOAT32 ? (double)s.f32
                                                          : 0;
  if (!isfinite(f))
    return tl_fail(vm, TALLY_ERR_VALUE, "JSON has no %s",
                   isnan(f) ? "nan" : "inf");
  if (dtype == TL_COMPLEX64)
    return fail_value(vm, "complex numbers");
  return tl_format_value(vm, text, s, true, 0);
}

// Writes an array from [axis] on: recursion as deep as an array has axes.
static bool write_array(tl_vm *vm, tl_text *text, const tl_array *a, int axis,
                        const char *data) {
  tl_dtype dtype = tl_array_dtype(a);
  if (axis == tl_ndim(a)) {
    if (dtype == TL_COMPLEX128)
      return fail_value(vm, "complex numbers");
    if (dtype != TL_STRING)
      return write_scalar(vm, text, tl_scalar_load(dtype, data));
    const tl_string_item *item = tl_string_item_at(data);
    return tl_text_json(text, tl_string_item_text(item),
                        tl_string_item_length(item));
  }
  tl_text_putc(text, '[');
  for (int64_t i = 0; i < tl_shape(a)[axis]; i++) {
    if (i > 0)
      tl_text_putc(text, ',');
    if (!write_array(vm, text, a, axis + 1, data + i * tl_strides(a)[axis]))
      return false;
  }
  tl_text_putc(text, ']');
  return !text->failed;
}

// Writes a range as an array of its items.
static bool write_range(tl_text *text, const tl_range *range) {
  tl_text_putc(text, '[');
  for (int64_t i = 0; i < range->length && !text->failed; i++)
    tl_text_printf(text, i > 0 ? ",%lld" : "%lld",
                   (long long)tl_range_item(range, i));
  tl_text_putc(text, ']');
  return !text->failed;
}

// Writes a value that needs no stack.
static bool write_plain(tl_vm *vm, tl_text *text, tl_slot s) {
  if (tl_is_array(s))
    return write_array(vm, text, s.array, 0, s.array->data);
  if (tl_is_scalar(s))
    return write_scalar(vm, text, s);
  if (tl_is_range(s))
    return write_range(text, s.range);
  if (tl_is_none(s)) {
    tl_text_puts(text, "null");
    return !text->failed;
  }
  if (tl_is_string(s))
    return tl_text_json(text, s.string->text, s.string->length);
  return tl_fail(vm, TALLY_ERR_TYPE, "a %s cannot be written",
                 tl_described(vm, s));
}

// --- Nests ------------------------------------------------------------------

// A value being written. [open] has two entries for each open container,
// innermost last: the container, and the number of its items that are written.
// A part of the value is borrowed; a list that was made of the items of a
// nested array is owned.
typedef struct writer {
  tl_vm *vm;
  tl_text *text;
  int64_t indent;  // blanks a level; 0: all on one line
  tl_list *open;
} writer;

// Opens a container that the value owns.
static bool push_borrowed(writer *w, tl_slot value) {
  // The container, and how many of its items are written so far.
  tl_slot place = tl_none(), index = tl_int(0);
  if (!tl_list_push(w->vm, &w->open, &place))
    return false;
  // tl_list_push would count the value: the place is made first and filled
  // with the borrowed one.
  w->open->items[w->open->length - 1] = tl_borrow(value);
  return tl_list_push(w->vm, &w->open, &index);
}

// Opens a list of the items of a nested array: structs, rows, items that may
// be missing.
static bool push_items(writer *w, tl_slot array) {
  // Items of a nested array are made one by one, as records, lists or none.
  int64_t length = tl_value_length(array, 0);
  tl_list *list = tl_list_new(w->vm, length);
  bool ok = list != NULL;
  for (int64_t i = 0; ok && i < length; i++) {
    tl_slot item;
    ok = tl_nested_at(w->vm, array, i, &item) &&
         tl_list_push_own(w->vm, &list, item);
  }
  tl_slot owned;
  if (!tl_list_give(w->vm, list, ok, &owned))
    return false;
  ok = push_borrowed(w, owned);
  if (ok)
    w->open->items[w->open->length - 2] = owned;
  else
    tl_drop(w->vm, owned);
  return ok;
}

// Starts a line of the present depth, where lines are wanted at all.
static void new_line(writer *w) {
  if (w->indent == 0)
    return;
  tl_text_putc(w->text, '\n');
  for (int64_t i = 0; i < w->open->length / 2 * w->indent; i++)
    tl_text_putc(w->text, ' ');
}

// Takes the innermost container off and writes its end.
static void close_container(writer *w, bool is_list, bool empty) {
  tl_drop(w->vm, w->open->items[w->open->length - 2]);
  w->open->length -= 2;
  if (!empty)
    new_line(w);
  tl_text_putc(w->text, is_list ? ']' : '}');
}

// Writes up to the next item and returns it, borrowed; NULL: the container is
// closed.
static const tl_slot *next_item(writer *w) {
  tl_slot *top = &w->open->items[w->open->length - 2];
  bool is_list = tl_is_list(top[0]);
  // The two entries on top: the container, and how many of its items are
  // written.
  int64_t length = is_list ? top->list->length : top->record->length;
  int64_t i = top[1].i++;
  if (i == 0)
    tl_text_putc(w->text, is_list ? '[' : '{');
  if (i == length) {
    close_container(w, is_list, length == 0);
    return NULL;
  }
  if (i > 0)
    tl_text_putc(w->text, ',');
  new_line(w);
  if (is_list)
    return &top->list->items[i];
  const tl_field *field = &top->record->fields[i];
  const tl_string *key = tl_key_string(field->key);
  tl_text_json(w->text, key->text, key->length);
  tl_text_puts(w->text, w->indent ? ": " : ":");
  return &field->value;
}

// Fails (kind type) where a key is no string: as text 1 and "1" would be one
// key, and would both come back as strings.
static bool check_keys(tl_vm *vm, const tl_record *r) {
  char text[TL_KEY_TEXT];
  for (int64_t i = 0; i < r->length; i++) {
    tl_key key = r->fields[i].key;
    if (!tl_key_is_string(key))
      return tl_fail(vm, TALLY_ERR_TYPE,
                     "format: the keys of JSON are strings, and the record has "
                     "the key %s: (\"{k}\": v for k, v in r) has text for keys",
                     tl_key_text(tl_key_slot(key), text));
  }
  return true;
}

// Writes one value with all that it holds, in one loop.
static bool write_value(writer *w, tl_slot value) {
  const tl_slot *item = &value;
  for (;;) {
    // item is NULL after a container was closed.
    if (item != NULL && tl_is_record(*item) && !check_keys(w->vm, item->record))
      return false;
    if (item != NULL && (tl_is_list(*item) || tl_is_record(*item))) {
      if (!push_borrowed(w, *item))
        return false;
    } else if (item != NULL && tl_is_nested(*item)) {
      if (!push_items(w, *item))
        return false;
    } else if (item != NULL && !write_plain(w->vm, w->text, *item)) {
      return false;
    }
    if (w->open->length == 0)
      return !w->text->failed;
    item = next_item(w);
  }
}

// json.format(x, indent).
static bool format(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const int64_t indent = args[1].i;
  if (indent > 100)
    return tl_fail(vm, TALLY_ERR_VALUE, "format: indent is above 100");
  tl_text text;
  tl_text_open(&text, vm);
  writer w = {vm, &text, indent, tl_list_new(vm, 8)};
  bool ok = w.open != NULL && write_value(&w, args[0]);
  if (w.open != NULL)
    tl_drop(vm, tl_own_list(w.open));
  return tl_text_give(&text, ok, out);
}

// --- The table --------------------------------------------------------------

// Both are pure: the text is a string, and files are the business of io.
const tl_builtin tl_json_module[] = {
    /// The value of a JSON text: objects become records, arrays lists, null
    /// none. A text that is no JSON is an error (kind value) with its place.
    ///     json.parse("[1, 2.5, null]")    # (1, 2.5, none)
    {"parse", "text", parse, .types = "s"},
    /// A value as JSON: records and structs become objects, lists, arrays and
    /// rows arrays, none and what is missing null; indent blanks a level, or
    /// all on one line. JSON has no nan, inf or complex numbers: they are
    /// errors.
    ///     json.format((a: 1, b: [1.5, 2.0]))    # {"a":1,"b":[1.5,2.0]}
    {"format", "x, indent: 0", format, .types = ".n"},
    {.name = NULL},
};
