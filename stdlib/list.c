// Functions for lists, some of which serve arrays, ranges and strings too.
//
// A dying list that nothing else refers to is changed where it is: appending
// to it and popping from it in a loop take constant time.

#include "stdlib/families.h"
#include "stdlib/ragged.h"
#include "vm/array/element.h"
#include "vm/array/reuse.h"
#include "vm/array/range.h"
#include "vm/values/record.h"

// --- append -----------------------------------------------------------------

// Room for one row more, and for half as many again where it moves.
static bool add_row(tl_vm *vm, tl_slot *s) {
  int64_t n = tl_shape(s->array)[0];
  return tl_array_widen(vm, s, n + 1, n / 2);
}

// The array in *s as the function's result, once its items are written. The
// argument gives up what it owned, and the array's date of change is noted for
// what depends on it (tl_written_in_place).
static tl_slot give_grown(tl_vm *vm, tl_slot *s) {
  tl_array *a = s->array;
  s->tag &= ~TL_OWNED;
  vm->stats.temps_ended++;
  tl_written_in_place(vm, a);
  return tl_own_array(a);
}

// A scalar behind the vector's items.
static bool grow_vector(tl_vm *vm, tl_slot *s, tl_slot value, tl_slot *out) {
  // Converted before there is room, so that a failure leaves x as it was.
  _Alignas(16) char item[sizeof(tl_c128)];
  tl_dtype dtype = tl_array_dtype(s->array);
  int64_t n = s->array->size;
  if (!tl_scalar_convert(vm, value, dtype, item) || !add_row(vm, s))
    return false;
  size_t itemsize = tl_itemsize(dtype);
  memcpy(s->array->data + (size_t)n * itemsize, item, itemsize);
  *out = give_grown(vm, s);
  return true;
}

// Whether appending [value] to the vector in [s] keeps its dtype and place.
static bool may_grow(tl_vm *vm, tl_slot s, tl_slot value) {
  tl_dtype dtype;
  if (!tl_is_scalar(value) || tl_ndim(s.array) != 1 ||
      tl_array_dtype(s.array) >= TL_COMPLEX128)
    return false;
  if (!tl_promote_slots(vm, "append", s, value, &dtype))
    return false;
  return dtype == tl_array_dtype(s.array) && tl_array_resizes(vm, s);
}

// Whether [row] goes behind the array's rows where they are.
static bool may_take_row(tl_vm *vm, tl_slot s, const tl_array *row) {
  const tl_array *a = s.array;
  if (tl_array_dtype(a) != tl_array_dtype(row) || tl_ndim(a) != tl_ndim(row))
    return false;
  for (int k = 1; k < tl_ndim(a); k++)
    if (tl_shape(a)[k] != tl_shape(row)[k])
      return false;
  return tl_array_resizes(vm, s);
}

// The row is written through a view of its place, as tl_array_assign wants one.
// The view of the last row is made first: nothing fails once that is written.
static bool grow_rows(tl_vm *vm, tl_slot *s, const tl_array *row,
                      tl_slot *out) {
  int64_t n = tl_shape(s->array)[0];
  if (!add_row(vm, s))
    return false;
  tl_array *a = s->array;
  tl_slot base = tl_borrow(*s);
  tl_array *last =
      tl_view_new(vm, &base, tl_array_dtype(a), a->data + n * tl_strides(a)[0],
                  tl_ndim(a), tl_shape(row), tl_strides(a));
  if (last == NULL) {
    a->size -= row->size;
    tl_shape(a)[0]--;
    return false;
  }
  // Only a stop ends this early, after which nobody sees the array.
  bool ok = tl_array_assign(vm, last, row);
  tl_drop(vm, tl_own_array(last));
  if (ok)
    *out = give_grown(vm, s);
  return ok;
}

// The value as an array of one axis more, of length 1.
static bool as_row(tl_vm *vm, tl_slot value, tl_dtype dtype, tl_slot *out) {
  tl_slot array;
  if (!tl_as_array(vm, "append", value, &array))
    return false;
  if (tl_array_dtype(array.array) != dtype) {
    tl_slot converted;
    bool ok = tl_cast(vm, &array, dtype, &converted);
    tl_drop(vm, array);
    if (!ok)
      return false;
    if (!tl_is_array(converted) &&
        !tl_as_array(vm, "append", converted, &converted))
      return false;
    array = converted;
  }
  int ndim = tl_ndim(array.array);
  int64_t shape[TL_MAX_DIMS];
  if (ndim == TL_MAX_DIMS) {
    tl_drop(vm, array);
    return tl_fail(vm, TALLY_ERR_SHAPE, "append: the value has %d axes", ndim);
  }
  shape[0] = 1;
  memcpy(shape + 1, tl_shape(array.array), (size_t)ndim * sizeof(int64_t));
  bool ok = tl_reshape(vm, &array, ndim + 1, shape, out);
  if (ok)
    tl_hold(vm, *out, TL_CAUSE_VIEW);
  tl_drop(vm, array);
  return ok;
}

// A string as an array of one.
static bool string_row(tl_vm *vm, tl_slot value, tl_slot *out) {
  int64_t one = 1;
  tl_array *row = tl_array_new(vm, TL_STRING, 1, &one);
  bool ok = row != NULL && tl_item_store(vm, row, row->data, value);
  return tl_array_finish(vm, ok, row, out);
}

// append to a plain array, by the cheapest way that its dtype and owner allow:
//
//   a scalar of the dtype, x ends here    behind the items where they are
//   a row of the dtype, x ends here       the same, by rows
//   all else                              concat of x and the row, a copy
static bool append_array(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (may_grow(vm, args[0], args[1]))
    return grow_vector(vm, &args[0], args[1], out);
  // may_grow says false for a dtype that does not fit and for an error.
  if (tl_failed(vm))
    return false;
  tl_dtype dtype = TL_STRING;
  tl_slot row;
  bool ok = tl_is_string(args[1])
                ? string_row(vm, args[1], &row)
                : tl_promote_slots(vm, "append", args[0], args[1], &dtype) &&
                      as_row(vm, args[1], dtype, &row);
  if (!ok)
    return false;
  if (may_take_row(vm, args[0], row.array)) {
    return tl_drop_after(vm, grow_rows(vm, &args[0], row.array, out), &row);
  }
  tl_list *parts = tl_list_new(vm, 2);
  tl_slot array = tl_borrow(args[0]);
  ok = parts != NULL && tl_list_push(vm, &parts, &array) &&
       tl_list_push(vm, &parts, &row);
  tl_drop(vm, row);
  return tl_concat_parts(vm, parts, ok, 0, out);
}

// append to an array, a nested array or a range, which becomes an array first.
static bool append_items(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (tl_is_array(args[0]))
    return append_array(vm, args, out);
  if (tl_is_nested(args[0]))
    return tl_nested_append(vm, args[0], args[1], out);
  tl_slot array[] = {tl_borrow(args[0]), args[1]};
  bool ok =
      tl_arg_array(vm, "append", &array[0]) && append_array(vm, array, out);
  tl_drop(vm, array[0]);
  return ok;
}

// Says what it was about, and not how the items are joined.
static bool fail_shape_of_item(tl_vm *vm, const tl_slot *args) {
  tl_error_clear(vm);
  return tl_fail(vm, TALLY_ERR_SHAPE, "append: value, %s, is no item of xs, %s",
                 tl_described(vm, args[1]), tl_described(vm, args[0]));
}

// To a list in place, where it has room and no other owner, as nearly all have.
static bool append_at_once(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!tl_is_list(args[0]) || !tl_is_unique(args[0]))
    return false;
  tl_list *list = args[0].list;
  if (list->length == list->capacity)
    return false;
  tl_changed_in_place(vm, args[0]);
  tl_list_put(vm, list, &args[1]);
  tl_copy_slot(out, &args[0]);
  args[0].tag &= ~TL_OWNED;
  return true;
}

// append to a list, which may have to grow or to be copied.
static bool append_to_list(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_list *list;
  if (append_at_once(vm, args, out))
    return true;
  if (!tl_list_unique(vm, &args[0], 1, &list))
    return false;
  bool ok = tl_list_push(vm, &list, &args[1]);
  return tl_list_give(vm, list, ok, out);
}

// append(xs, value): in constant time on average where xs ends here. The other
// kinds of values get an error that names the function meant for them.
static bool append(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (tl_is_list(args[0]))
    return append_to_list(vm, args, out);
  // Messages about joining are replaced: the script did not ask for that.
  if (tl_value_ndim(args[0]) > 0 || tl_is_range(args[0]))
    return append_items(vm, args, out) ||
           (vm->error.status == TALLY_ERR_SHAPE &&
            fail_shape_of_item(vm, args));
  const char *hint = tl_is_record(args[0])   ? " (put sets a record's field)"
                     : tl_is_string(args[0]) ? " (+ joins strings)"
                                             : "";
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "append: xs must be a list or an array, not %s%s",
                 tl_described(vm, args[0]), hint);
}

// --- insert and pop ---------------------------------------------------------

// An index from 0 to [last]; negative ones count from the end.
static bool position(tl_vm *vm, const char *function, tl_slot s, int64_t length,
                     int64_t last, int64_t *out) {
  int64_t index;
  if (!tl_arg_int(vm, function, "index", s, &index))
    return false;
  *out = index < 0 ? index + length : index;
  if (*out >= 0 && *out <= last)
    return true;
  return tl_fail(vm, TALLY_ERR_INDEX,
                 "%s: index %lld is outside a list of %lld", function,
                 (long long)index, (long long)length);
}

// insert(xs, index, value): the item is pushed first and then moved to its
// place, since only the push can fail; a list that ends here is changed where
// it is.
static bool insert(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int64_t at, length;
  if (!tl_is_list(args[0]))
    return tl_arg_fail(vm, "insert", "xs", "a list", args[0]);
  length = args[0].list->length;
  if (!position(vm, "insert", args[1], length, length, &at))
    return false;
  tl_list *list;
  if (!tl_list_unique(vm, &args[0], 1, &list))
    return false;
  if (!tl_list_push(vm, &list, &args[2]))
    return tl_list_give(vm, list, false, out);
  // What is stopped leaves the item where it has come to.
  tl_slot item = list->items[length], *to = &list->items[length];
  bool ok = true;
  for (int64_t n; ok && length > at; length -= n) {
    n = length - at < TL_COPY_PIECE / 16 ? length - at : TL_COPY_PIECE / 16;
    to -= n;
    memmove(to + 1, to, (size_t)n * sizeof *to);
    ok = n == length - at || tl_poll_over(vm);
  }
  *to = item;
  return tl_list_give(vm, list, ok, out);
}

// (item, what is left) in a list that was made before anything was taken.
static bool fill_pair(tl_list *pair, tl_slot item, tl_slot rest, tl_slot *out) {
  pair->items[0] = item;
  pair->items[1] = rest;
  pair->length = 2;
  *out = tl_own_list(pair);
  return true;
}

// Moves item [at] out of a list that only the caller has. From the front or the
// end nothing else has to move.
static tl_slot take_item(tl_vm *vm, tl_list **list, int64_t at) {
  tl_list *l = *list;
  int64_t length = l->length;
  tl_slot item = l->items[at];
  l->items[at] = tl_none();
  if (at > 0 && at < length - 1) {
    memmove(&l->items[at], &l->items[at + 1],
            (size_t)(length - 1 - at) * sizeof(tl_slot));
    l->length--;
  } else {
    tl_list_narrow(vm, list, at == 0 && length > 1, length - 1);
  }
  return item;
}

// The same of a list, or of a record a value by a key that needs no walk, where
// that is there and xs has one owner.
static bool pop_at_once(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot xs = args[0], key = args[1], item;
  if (!tl_is_heap(xs) || tl_is_owned(key) || !tl_is_unique(xs))
    return false;
  if (tl_is_list(xs)) {
    int64_t at = tl_is_none(key) ? -1 : key.i;
    if ((!tl_is_none(key) && tl_class(key) != TL_CLASS_I64) ||
        !tl_index_wrap(&at, xs.list->length))
      return false;
    tl_changed_in_place(vm, xs);
    item = take_item(vm, &xs.list, at);
  } else {
    int64_t at = tl_is_record(xs) && tl_key_is_plain(key)
                     ? tl_record_find_key(xs.record, key)
                     : -1;
    if (at < 0)
      return false;
    tl_changed_in_place(vm, xs);
    tl_record_remove(vm, &xs.record, at, &item);
  }
  args[0].tag &= ~TL_OWNED;
  tl_copy_slot(&out[0], &item);
  tl_copy_slot(&out[1], &xs);
  return true;
}

// pop(xs, index) of a list: the item and the list without it. The pair is made
// before the list is changed, so that nothing is lost where memory ends.
static bool pop_list(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int64_t at, length = args[0].list->length;
  if (length == 0)
    return tl_fail(vm, TALLY_ERR_INDEX, "pop: xs is empty");
  // The last one: nothing has to move then.
  tl_slot index = tl_is_none(args[1]) ? tl_int(-1) : args[1];
  if (!position(vm, "pop", index, length, length - 1, &at))
    return false;
  tl_list *list, *pair = tl_list_new(vm, 2);
  if (pair == NULL || !tl_list_unique(vm, &args[0], 0, &list))
    return tl_list_give(vm, pair, false, out);
  tl_slot item = take_item(vm, &list, at);
  return fill_pair(pair, item, tl_own_list(list), out);
}

// Fails (kind index) with the key as a program spells it.
static bool fail_no_key(tl_vm *vm, tl_slot key) {
  char text[TL_KEY_TEXT];
  const char *quote = tl_is_string(key) ? "\"" : "";
  return tl_fail(vm, TALLY_ERR_INDEX, "pop: the record has no key %s%.80s%s",
                 quote, tl_key_text(key, text), quote);
}

// pop(xs, key) of a record: the value and the record without the field; without
// a key the field that was added last.
static bool pop_record(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_record *record = args[0].record;
  int64_t at = record->length - 1;
  if (!tl_is_none(args[1])) {
    if (!tl_arg_key(vm, "pop", "key", args[1]))
      return false;
    at = tl_record_find_key(record, args[1]);
    if (at < 0)
      return fail_no_key(vm, args[1]);
  }
  if (at < 0)
    return tl_fail(vm, TALLY_ERR_INDEX, "pop: the record is empty");
  tl_list *pair = tl_list_new(vm, 2);
  if (pair == NULL || !tl_record_unique(vm, &args[0], 0, &record))
    return tl_list_give(vm, pair, false, out);
  tl_slot value;
  tl_record_remove(vm, &record, at, &value);
  return fill_pair(pair, value, tl_own_record(record), out);
}

// pop(xs, key).
static bool pop(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (tl_is_list(args[0]))
    return pop_list(vm, args, out);
  if (tl_is_record(args[0]))
    return pop_record(vm, args, out);
  return tl_arg_fail(vm, "pop", "xs", "a list or a record", args[0]);
}

// --- enumerate and zip ------------------------------------------------------

// The number of items of xs, the numbers of which end within int64.
static bool enumerate_count(tl_vm *vm, const tl_slot *args, int64_t *count,
                            int64_t *start) {
  int64_t end;
  if (!tl_items_count(vm, "enumerate", args[0], count) ||
      !tl_arg_int(vm, "enumerate", "start", args[1], start))
    return false;
  if (*count > 0 && __builtin_add_overflow(*start, *count - 1, &end))
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "enumerate: %lld items from %lld on go beyond int64",
                   (long long)*count, (long long)*start);
  return true;
}

// enumerate(xs, start): pairs of a number and an item.
static bool enumerate(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int64_t count, start;
  size_t at = 0;
  if (!enumerate_count(vm, args, &count, &start))
    return false;
  tl_list *list = tl_list_new(vm, count);
  bool ok = list != NULL;
  for (int64_t i = 0; ok && i < count; i++) {
    tl_slot item, made;
    tl_list *pair = tl_list_new(vm, 2);
    ok = pair != NULL && tl_items_get(vm, args[0], i, &at, &item);
    if (ok)
      fill_pair(pair, tl_weak_int(start + i), item, &made);
    else
      tl_list_give(vm, pair, false, &made);
    ok = ok && tl_list_push_own(vm, &list, made);
  }
  return tl_list_give(vm, list, ok, out);
}

// The numbers alone. They may end at the largest int64, so the range has its
// length set: a loop asks for that and not for its end.
static bool enumerate_walk(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int64_t count, start;
  tl_range *numbers = enumerate_count(vm, args, &count, &start)
                          ? tl_range_new(vm, start, start, 1)
                          : NULL;
  if (numbers == NULL)
    return false;
  numbers->length = count;
  *out = tl_own_range(numbers);
  return true;
}

// The common length of all arguments; *count is 0 where there are none. Lengths
// that differ fail (kind value) with both: zip does not cut to the shortest.
static bool zip_count(tl_vm *vm, const tl_list *args, int64_t *count) {
  *count = 0;
  for (int64_t k = 0; k < args->length; k++) {
    int64_t length;
    if (!tl_items_count(vm, "zip", args->items[k], &length))
      return false;
    if (k > 0 && length != *count)
      return tl_fail(vm, TALLY_ERR_VALUE,
                     "zip: argument 0 has %lld items, argument %lld has %lld",
                     (long long)*count, (long long)k, (long long)length);
    *count = length;
  }
  return true;
}

// Item i of every argument as a list. at[k] is where tl_items_get goes on in
// argument k, so that a string is decoded once in all.
static bool zip_row(tl_vm *vm, const tl_list *args, int64_t i, size_t *at,
                    tl_slot *out) {
  tl_list *row = tl_list_new(vm, args->length);
  bool ok = row != NULL;
  for (int64_t k = 0; ok && k < args->length; k++) {
    tl_slot item;
    ok = tl_items_get(vm, args->items[k], i, &at[k], &item) &&
         tl_list_push_own(vm, &row, item);
  }
  return tl_list_give(vm, row, ok, out);
}

// zip(xs, ...): rows of the items with one number. All lengths are compared
// before anything is made.
static bool zip(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const tl_list *of = args[0].list;
  int64_t count;
  if (!zip_count(vm, of, &count))
    return false;
  size_t nbytes = (size_t)(of->length + 1) * sizeof(size_t);
  size_t *at = tl_alloc_zeroed(vm, nbytes, "zip");
  if (at == NULL)
    return false;
  tl_list *list = tl_list_new(vm, count);
  bool ok = list != NULL;
  for (int64_t i = 0; ok && i < count; i++) {
    tl_slot row;
    ok = zip_row(vm, of, i, at, &row) && tl_list_push_own(vm, &list, row);
  }
  tl_free(vm, at, nbytes);
  return tl_list_give(vm, list, ok, out);
}

// Whether all have the same number of items.
static bool zip_walk(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int64_t count;
  *out = tl_none();
  return zip_count(vm, args[0].list, &count);
}

// --- reverse ----------------------------------------------------------------

// Exchanges items from both ends; in the list's own memory where it ends here.
static bool reverse_list(tl_vm *vm, tl_slot *s, tl_slot *out) {
  tl_list *list;
  if (!tl_list_unique(vm, s, 0, &list))
    return false;
  for (int64_t i = 0, k = list->length - 1; i < k; i++, k--) {
    tl_slot item = list->items[i];
    list->items[i] = list->items[k];
    list->items[k] = item;
  }
  *out = tl_own_list(list);
  return true;
}

// 0..3 becomes 2..-1 by -1.
// The stop of the result lies one step before the start, which need not be an
// int64 even where all items are.
static bool reverse_range(tl_vm *vm, const tl_range *range, tl_slot *out) {
  int64_t start = range->start, stop = range->start, step = -range->step;
  if (range->step == INT64_MIN)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "reverse: the range's step is too long");
  if (range->length > 0) {
    start = tl_range_item(range, range->length - 1);
    if (__builtin_sub_overflow(range->start, range->step, &stop))
      return tl_fail(vm, TALLY_ERR_VALUE, "reverse: the range begins too %s",
                     range->step > 0 ? "low" : "high");
  }
  tl_range *reversed = tl_range_new(vm, start, stop, step);
  if (reversed == NULL)
    return false;
  *out = tl_own_range(reversed);
  return true;
}

// xs[::-1].
static const tl_index_item backward = {.kind = TL_ITEM_SLICE,
                                       .given = TL_SLICE_STEP};
static const tl_step from_the_end = {.item_count = 1, .items = &backward};

// reverse(xs): a view of an array, and a new value of the other kinds.
static bool reverse(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (tl_is_list(args[0]))
    return reverse_list(vm, &args[0], out);
  if (tl_is_range(args[0]))
    return reverse_range(vm, args[0].range, out);
  tl_slot step = tl_weak_int(-1);
  if (tl_is_string(args[0]) || tl_value_ndim(args[0]) > 0)
    return tl_index_get(vm, &args[0], &from_the_end, &step, out);
  return tl_arg_fail(vm, "reverse", "xs", "a list, array, range or string",
                     args[0]);
}

// --- The table --------------------------------------------------------------

static const tl_builtin walk_of_enumerate = {
    "enumerate", "xs, start = 0", enumerate_walk, .takes = TL_CONTAINERS};
static const tl_builtin walk_of_zip = {"zip", "...xs", zip_walk,
                                       .takes = TL_CONTAINERS};

const tl_builtin tl_list_builtins[] = {
    /// The list or array xs with one more item at its end. A dying xs is
    /// extended where it is.
    /// Other containers are an error (kind type), items of another shape one of
    /// kind shape.
    ///     append((1, "a"), 2.5)    # (1, "a", 2.5)
    ///     append([1, 2], 3)    # [1, 2, 3]
    {"append", "xs, value", append, TL_GRIDS, .restores = TL_ALL,
     .takes = TL_CONTAINERS, .at_once = append_at_once},
    /// The list xs with an item more, before the one at index.
    /// A position outside the list is an error (kind index).
    ///     insert((1, 3), 1, 2)    # (1, 2, 3)
    {"insert", "xs, index, value", insert, .restores = TL_ALL,
     .takes = TL_CONTAINERS},
    /// Two things: an item of a list (by index, else the last) or a value of a
    /// record (by key), and xs without it. A key that is not there is an error
    /// (kind index).
    ///     pop((1, 2, 3))    # (3, (1, 2))
    ///     pop((a: 1, b: 2), "a")    # (1, (b: 2))
    ///     last, others = pop((1, 2, 3))
    ///     last    # 3
    {"pop", "xs, key = none", pop, .result = TL_PAIR, .restores = TL_ALL,
     .at_once = pop_at_once},
    /// The items of xs, each with its number, as a list of pairs. A loop with
    /// two names makes no pairs.
    /// Values without items are an error (kind type).
    ///     enumerate("ab")    # ((0, "a"), (1, "b"))
    {"enumerate", "xs, start = 0", enumerate, .takes = TL_CONTAINERS,
     .walk = &walk_of_enumerate},
    /// The first items of all xs, then the second ones, and so on: a list of
    /// lists. All must have the same number of items. A loop with a name for
    /// each makes no lists.
    /// Values without items are an error (kind type).
    ///     zip((1, 2), [0.5, 1.5])    # ((1, 0.5), (2, 1.5))
    {"zip", "...xs", zip, .takes = TL_CONTAINERS, .walk = &walk_of_zip},
    /// xs from its end: a list, a range, a string by grapheme clusters, an
    /// array along its leading axis (as a view).
    /// Values without items are an error (kind type).
    ///     reverse((1, "a"))    # ("a", 1)
    ///     reverse(0..3)    # 2..-1 by -1
    ///     reverse([[1, 2], [3, 4]])    # [[3, 4], [1, 2]]
    {"reverse", "xs", reverse, .result = TL_VIEWS, .restores = TL_ALL,
     .takes = TL_CONTAINERS},
    {.name = NULL},
};
