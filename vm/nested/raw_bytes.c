// Bytes. See raw_bytes.h.
//
//   call      arguments opened ─ the function on text ─ result closed
//   b1 + b2   opened ─ string + string ─ closed
//   b[1:3]    uint8 1:3 ─ bytes of those
//   bs[0]     opened ─ strings[0] ─ closed
#include "vm/nested/forms.h"
#include "vm/nested/raw_bytes.h"

#include "vm/array/string_item.h"
#include "vm/engine/engine.h"
#include "vm/engine/operand.h"
#include "vm/nested/lift.h"
#include "vm/nested/nested_join.h"
#include "vm/nested/ragged.h"
#include "vm/values/list.h"
#include "vm/values/record.h"

// --- Closing and opening -----------------------------------------------------

// Whether strings are at the bottom of the value: then it can be bytes.
static bool has_texts(tl_slot s) {
  while (tl_is_form(s, TL_FORM_OPTION) || tl_has_rows(s))
    s = s.nested->parts[1];
  return tl_is_string(s) || (tl_is_array(s) && tl_dtype_of(s) == TL_STRING);
}

// A list of what [map] makes of each item; a record of each field's value. *out
// is owned.
static bool map_values(tl_vm *vm, tl_slot s, tl_opener *map, tl_slot *out) {
  tl_slot made;
  if (tl_is_list(s)) {
    tl_list *list = tl_list_new(vm, s.list->length);
    bool ok = list != NULL;
    for (int64_t i = 0; ok && i < s.list->length; i++)
      ok = map(vm, s.list->items[i], &made) &&
           tl_drop_after(vm, tl_list_push(vm, &list, &made), &made);
    return tl_list_give(vm, list, ok, out);
  }
  tl_record *record = tl_record_new(vm, s.record->length);
  bool ok = record != NULL;
  for (int64_t i = 0; ok && i < s.record->length; i++) {
    tl_slot key = tl_key_slot(s.record->fields[i].key);
    ok = map(vm, s.record->fields[i].value, &made) &&
         tl_drop_after(vm, tl_record_set_key(vm, &record, &key, &made), &made);
  }
  return tl_record_give(vm, record, ok, out);
}

static bool closed(tl_vm *vm, tl_slot s, tl_slot *out) {
  tl_slot borrowed = tl_borrow(s);
  return tl_raw_bytes_close(vm, &borrowed, out);
}

// Lists of lists are a few deep: what the library's functions give.
bool tl_raw_bytes_close(tl_vm *vm, tl_slot *s, tl_slot *out) {
  if (has_texts(*s)) {
    int ndim = tl_value_ndim(*s);
    return tl_nested_pair(vm, TL_FORM_BYTES, ndim, s, NULL, out);
  }
  if (!tl_is_list(*s) && !tl_is_record(*s)) {
    *out = tl_is_owned(*s) ? *s : tl_retain(vm, *s);
    s->tag &= ~TL_OWNED;
    return true;
  }
  bool ok = map_values(vm, *s, closed, out);
  tl_clear(vm, s);
  return ok;
}

// A list of arrays of which some are bytes: what concat and stack take.
static bool lists_raw_bytes(tl_slot s) {
  bool found = false, arrays = tl_is_list(s);
  for (int64_t i = 0; arrays && i < s.list->length; i++) {
    tl_slot item = s.list->items[i];
    found = found || tl_is_raw_bytes(item);
    arrays = tl_is_array(item) || tl_is_nested(item);
  }
  return arrays && found;
}

// What is joined of bytes.
static bool inside(tl_vm *vm, tl_slot s, tl_slot *out) {
  (void)vm;
  *out = tl_raw_bytes_inside(s);
  return true;
}

// --- Calls -------------------------------------------------------------------

// Functions that move items, whatever they are, need not say that they take
// bytes.
static bool is_opened(const tl_builtin *builtin) {
  return builtin->takes >= TL_BYTES || tl_builtin_moves(builtin);
}

// The first argument decides for functions that take no bytes, so that their
// error is one about bytes; for others any argument may be bytes.
bool tl_raw_bytes_given(const tl_builtin *builtin, uint32_t count,
                        const tl_slot *args) {
  // A function that a built-in calls gets items as they are.
  if (count == 0 ||
      (tl_builtin_calls(builtin) &&
       (tl_is_function(args[count - 1]) || tl_is_type(args[count - 1]))))
    return false;
  if (tl_is_raw_bytes(args[0]))
    return is_opened(builtin) ||
           (builtin->takes != TL_FORMS && !tl_builtin_calls(builtin));
  if (!is_opened(builtin))
    return false;
  // Lists and records keep bytes as they keep all else.
  if (!tl_is_array(args[0]) && !tl_is_nested(args[0]) && !tl_is_scalar(args[0]))
    return builtin->takes != TL_CONTAINERS && lists_raw_bytes(args[0]);
  bool found = false;
  for (uint32_t i = 1; !found && i < count; i++)
    found = tl_is_raw_bytes(args[i]) || lists_raw_bytes(args[i]);
  return found;
}

// The error names what would do instead: text or numbers. Kind type.
static bool fail_call(tl_vm *vm, const tl_builtin *builtin, tl_slot s) {
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "%s: takes no %s: got %s (binary.text(b) is the text of "
                 "bytes, uint8(b) their numbers)",
                 builtin->name,
                 tl_is_raw_bytes(s) ? "bytes" : "bytes beside strings",
                 tl_described(vm, s));
}

// The columns of rows of structs; NULL for others.
static tl_nested *columns_of_rows(tl_slot s) {
  bool rows = tl_is_form(s, TL_FORM_RAGGED);
  while (tl_is_form(s, TL_FORM_RAGGED)) s = s.nested->parts[1];
  return rows && tl_is_form(s, TL_FORM_COLUMNS) ? s.nested : NULL;
}

// Whether an argument would come back as bytes.
static bool mixes(tl_slot s) {
  return (!tl_is_string(s) && has_texts(s)) || columns_of_rows(s) != NULL;
}

// Pairs of bytes are new: no argument has columns.
static bool close_pairs(tl_vm *vm, tl_slot *s) {
  tl_nested *columns = columns_of_rows(*s);
  bool ok = true;
  for (int64_t i = 0; columns != NULL && ok && i < columns->count; i++) {
    tl_slot item = tl_borrow(columns->parts[i]), closed;
    ok = tl_raw_bytes_close(vm, &item, &closed);
    if (!ok)
      break;
    tl_clear(vm, &columns->parts[i]);
    tl_nested_put(vm, columns, i, &closed);
  }
  if (!ok)
    tl_clear(vm, s);
  return ok;
}

// Every result that has strings becomes bytes. So strings beside bytes are an
// error (kind type) and not taken as their UTF-8: the result could not tell
// which of them were text. uint8(b) alone gives numbers.
bool tl_raw_bytes_call(tl_vm *vm, const tl_builtin *builtin, uint32_t count,
                       tl_slot *args, tl_slot *out) {
  tl_slot made;
  if (builtin->fused == TL_FUSED_CAST && tl_is_type(args[1]) &&
      args[1].type == tl_type_of_dtype(vm, TL_UINT8))
    return tl_raw_bytes_items(vm, args[0], out);
  for (uint32_t i = 0; i < count; i++)
    if (!is_opened(builtin) || mixes(args[i]))
      return fail_call(vm, builtin, args[i]);
  for (uint32_t i = 0; i < count; i++) {
    if (tl_is_raw_bytes(args[i]))
      made = tl_retain(vm, tl_raw_bytes_inside(args[i]));
    else if (!lists_raw_bytes(args[i]))
      continue;
    else if (!map_values(vm, args[i], inside, &made))
      return false;
    tl_clear(vm, &args[i]);
    args[i] = made;
  }
  if (!tl_lift_call(vm, builtin, count, args, &made))
    return false;
  if (!tl_is_owned(made))
    made = tl_retain(vm, made);
  return close_pairs(vm, &made) && tl_raw_bytes_close(vm, &made, out);
}

// --- Conversion --------------------------------------------------------------

// A dense vector of uint8 as one string of those bytes.
static bool string_of_items(tl_vm *vm, tl_slot s, tl_slot *out) {
  tl_slot dense, borrowed = tl_borrow(s);
  if (!tl_array_contiguous(vm, &borrowed, &dense))
    return false;
  tl_string *string =
      tl_string_new(vm, dense.array->data, (size_t)dense.array->size);
  tl_drop(vm, dense);
  return tl_string_give(string, out);
}

// Rows of different lengths, or of one: a matrix.
static bool strings_of_rows(tl_vm *vm, tl_slot s, tl_slot *out) {
  tl_slot offsets, items, dense;
  if (tl_is_array(s)) {
    tl_slot ragged;
    return tl_ragged_of_regular(vm, s, &ragged) &&
           tl_drop_after(vm, strings_of_rows(vm, ragged, out), &ragged);
  }
  int64_t rows = tl_value_length(s, 0);
  if (!tl_ragged_flat(vm, s, &offsets, &items))
    return false;
  const int64_t *at = tl_offsets_data(offsets.array);
  bool ok = tl_array_contiguous(vm, &items, &dense);
  tl_drop(vm, items);
  tl_array *made = ok ? tl_array_new(vm, TL_STRING, 1, &rows) : NULL;
  bool done = made != NULL;
  for (int64_t i = 0; done && i < rows; i++)
    done = tl_string_item_set(vm, &tl_string_items(made)[i],
                              dense.array->data + at[i],
                              (size_t)(at[i + 1] - at[i])) &&
           ((i & 0xfff) != 0xfff || tl_poll(vm, 4));
  tl_drop(vm, offsets);
  if (ok)
    tl_drop(vm, dense);
  return tl_array_finish(vm, done, made, out);
}

static bool is_uint8_of(tl_slot s, int ndim) {
  return tl_is_array(s) && tl_dtype_of(s) == TL_UINT8 &&
         tl_ndim(s.array) == ndim;
}

static bool is_uint8(tl_slot s) {
  return is_uint8_of(s, 1);
}

// Fails (kind type) for others; bytes are themselves, retained.
bool tl_raw_bytes_of(tl_vm *vm, tl_slot s, tl_slot *out) {
  tl_slot texts = tl_borrow(s);
  if (tl_is_raw_bytes(s)) {
    *out = tl_retain(vm, tl_borrow(s));
    return true;
  }
  bool rows = is_uint8_of(s, 2) ||
              (tl_is_form(s, TL_FORM_RAGGED) && is_uint8(s.nested->parts[1]));
  if (!rows && !is_uint8(s) && !has_texts(s))
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "bytes are made of strings, a vector of uint8 or rows of "
                   "uint8: got %s",
                   tl_described(vm, s));
  return (!rows || strings_of_rows(vm, s, &texts)) &&
         (!is_uint8(s) || string_of_items(vm, s, &texts)) &&
         tl_raw_bytes_close(vm, &texts, out);
}

// A copy of the bytes as a vector of uint8, owned.
static bool items_of_string(tl_vm *vm, const tl_string *string, tl_slot *out) {
  int64_t n = (int64_t)string->length;
  tl_array *a = tl_array_new(vm, TL_UINT8, 1, &n);
  bool ok =
      a != NULL && tl_copy_bytes(vm, a->data, string->text, string->length);
  return tl_array_finish(vm, ok, a, out);
}

// Fails (kind type) for bytes of several axes or that may be missing.
bool tl_raw_bytes_items(tl_vm *vm, tl_slot s, tl_slot *out) {
  tl_slot texts = tl_raw_bytes_inside(s), dense;
  if (tl_is_string(texts))
    return items_of_string(vm, texts.string, out);
  if (!tl_is_array(texts) || tl_ndim(texts.array) != 1)
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "uint8: the numbers of bytes or of one axis of them: got %s",
                   tl_described(vm, s));
  if (!tl_array_contiguous(vm, &texts, &dense))
    return false;
  const tl_string_item *items = tl_string_items(dense.array);
  int64_t rows = dense.array->size;
  tl_array *offsets = tl_offsets_new(vm, rows), *all = NULL;
  bool ok = offsets != NULL;
  for (int64_t i = 0; i < rows && tl_poll_ok(vm, i, &ok); i++) {
    int64_t *at = tl_offsets_data(offsets) + i;
    at[1] = at[0] + (int64_t)tl_string_item_length(&items[i]);
  }
  ok = ok && (all = tl_array_new(vm, TL_UINT8, 1,
                                 &tl_offsets_data(offsets)[rows])) != NULL;
  for (int64_t i = 0; i < rows && tl_poll_ok(vm, i, &ok); i++)
    ok = tl_copy_bytes(vm, all->data + tl_offsets_data(offsets)[i],
                       tl_string_item_text(&items[i]),
                       tl_string_item_length(&items[i]));
  tl_drop(vm, dense);
  tl_slot made;
  ok = tl_array_finish(vm, ok, all, &made);
  return tl_ragged_close(vm, ok, offsets, &made, out);
}

// --- Operations --------------------------------------------------------------

// Comparisons, + and where alone, on the text inside. What a comparison gives,
// bools, is no text and stays as it is when it is closed. Others fail as for
// strings (kind type).
static bool bytes_elementwise(tl_vm *vm, tl_op op, int arity, tl_slot *slots,
                              tl_slot *out) {
  tl_slot given[3], made;
  bool compares = op >= TL_OP_EQUAL && op <= TL_OP_GREATER_EQUAL;
  if (!compares && op != TL_OP_ADD && op != TL_OP_WHERE)
    return tl_op_refuse(vm, op, slots);
  int opened = 0;
  bool ok = true;
  for (int i = 0; op == TL_OP_ADD && i < arity; i++)
    if (!tl_is_raw_bytes(slots[i]) && !is_uint8(slots[i]) &&
        !has_texts(slots[i]))
      return tl_op_refuse(vm, op, slots);
  for (; ok && opened < arity; opened += ok) {
    given[opened] = tl_raw_bytes_inside(slots[opened]);
    if (is_uint8(slots[opened]))
      ok = string_of_items(vm, slots[opened], &given[opened]);
  }
  ok = ok && tl_elementwise(vm, op, given, &made);
  while (opened > 0) tl_clear(vm, &given[--opened]);
  return ok && tl_raw_bytes_close(vm, &made, out);
}

// Of one value the bytes are indexed as uint8: b[1:3] is bytes, b[0] a number.
// Of arrays the strings are, and an item is one value of bytes.
static bool bytes_get(tl_vm *vm, tl_slot whole, const tl_step *step,
                      tl_slot *parts, tl_slot *out) {
  tl_slot base = tl_raw_bytes_inside(whole), made;
  bool one = tl_is_string(base);
  if (one && !items_of_string(vm, base.string, &base))
    return false;
  bool ok =
      tl_index_get(vm, &base, step, parts, &made) && tl_keep_made(vm, &made);
  if (!one)
    return ok && tl_raw_bytes_close(vm, &made, out);
  tl_clear(vm, &base);
  if (!ok || !is_uint8(made)) {
    if (ok)
      *out = made;
    return ok;
  }
  return tl_drop_after(vm, tl_raw_bytes_of(vm, made, out), &made);
}

// The value is made bytes first, which strings and vectors of uint8 may be.
static bool bytes_set(tl_vm *vm, tl_nested_path w, tl_nested *n,
                      tl_slot *value) {
  tl_slot raw_bytes = tl_none(), texts;
  if (!tl_is_none(*value) && !tl_raw_bytes_of(vm, *value, &raw_bytes))
    return false;
  texts = tl_raw_bytes_inside(raw_bytes);
  return tl_drop_after(vm, tl_part_update(vm, w, &n->parts[0], &texts),
                       &raw_bytes);
}

// Whatever [join] is: concat and stack go through here.
bool tl_join_raw_bytes(tl_vm *vm, tl_joiner *join, int64_t count,
                       const tl_slot *items, tl_slot *out) {
  tl_slot made;
  return tl_join_opened(vm, inside, join, count, items, &made) &&
         tl_raw_bytes_close(vm, &made, out);
}

// Strings among them become bytes.
static bool bytes_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                         tl_slot *out) {
  return tl_join_raw_bytes(vm, tl_value_concat, count, items, out);
}

// --- Text --------------------------------------------------------------------

// Printable ASCII as it is, all else by its number, so that it can be read back
// by the parser.
void tl_raw_bytes_format(tl_text *text, const tl_string *bytes) {
  tl_text_puts(text, "b\"");
  for (size_t i = 0; i < bytes->length; i++) {
    unsigned char c = (unsigned char)bytes->text[i];
    if (c == '"' || c == '\\')
      tl_text_putc(text, '\\');
    if (c == '\n' || c == '\t')
      tl_text_puts(text, c == '\n' ? "\\n" : "\\t");
    else if (c < 32 || c > 126)
      tl_text_printf(text, "\\x%02x", c);
    else
      tl_text_putc(text, (char)c);
  }
  tl_text_putc(text, '"');
}

const tl_form_ops tl_bytes_ops = {bytes_get, bytes_set, bytes_elementwise,
                                  bytes_concat};
