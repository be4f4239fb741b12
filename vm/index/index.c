// Reading by index: arrays, lists, records, strings, ranges. One function for
// each kind of base, all chosen by tl_index_get at the end.
//
// Arrays go through a selection (select.h). Lists, strings and ranges have one
// axis, whose index is read by read_one: an item, a slice, or an index array.
#include "vm/index/index.h"
#include "vm/objects.h"

#include <inttypes.h>

#include "vm/array/element.h"
#include "vm/array/range.h"
#include "vm/values/record.h"
#include "vm/index/select.h"
#include "vm/events.h"
#include "vm/poll.h"

// --- Arrays -----------------------------------------------------------------

// The fast path of reading and writing: one multiplication for each axis, no
// allocation.
bool tl_index_item_at(const tl_array *a, const tl_step *step,
                      const tl_slot *parts, char **item) {
  *item = a->data;
  if (step->item_count != tl_ndim(a))
    return false;
  for (int i = 0; i < step->item_count; i++) {
    int64_t at;
    // An index out of range is reported by the general path, which takes
    // indices in their order.
    if (step->items[i].kind != TL_ITEM_VALUE ||
        !tl_index_integer(parts[i], &at) || !tl_index_wrap(&at, tl_shape(a)[i]))
      return false;
    *item += at * tl_strides(a)[i];
  }
  return true;
}

// One item of an array as a scalar; a string or complex128 item may need
// memory.
// [item] lies within the array.
static bool finish_item(tl_vm *vm, const tl_array *a, const char *item,
                        tl_slot *out) {
  *out = tl_item(vm, a, item);
  return !tl_is_unset(*out);
}

// x[mask] where the mask covers x: in x's own memory if x ends here, else a new
// array.
static bool whole_mask(tl_vm *vm, tl_slot *base, const tl_array *mask,
                       tl_slot *out) {
  if (tl_compress_in_place(vm, base, mask, out))
    return true;
  return tl_array_give(
      tl_failed(vm) ? NULL : tl_compress_items(vm, base->array, mask), out);
}

// Makes the result of a selection: an item, a view, or a copy of chosen items.
// A base that owns may be consumed, as tl_index_get says.
static bool finish_selection(tl_vm *vm, tl_slot *base, tl_selection *selection,
                             tl_slot *out) {
  tl_dtype dtype = tl_array_dtype(base->array);
  tl_array *made;
  if (selection->is_fancy) {
    bool given = tl_gather_in_place(vm, base, selection, out);
    made =
        given || tl_failed(vm) ? NULL : tl_gather_items(vm, selection, dtype);
    tl_selection_close(vm, selection);
    if (given)
      return true;
  } else if (selection->ndim == 0) {
    return finish_item(vm, base->array, selection->data, out);
  } else {
    made = tl_view_new(vm, base, dtype, selection->data, selection->ndim,
                       selection->shape, selection->strides);
  }
  return tl_array_give(made, out);
}

// The index of an array: integers and slices first, then integers of other
// dtypes, masks of the whole, and the general selection.
static bool array_get(tl_vm *vm, tl_slot *base, const tl_step *step,
                      const tl_slot *parts, tl_slot *out) {
  char *item;
  const tl_array *a = base->array;
  tl_selection selection;
  if (tl_select_plain(a, step, parts, &selection))
    return finish_selection(vm, base, &selection, out);
  if (tl_index_item_at(a, step, parts, &item))
    return finish_item(vm, a, item, out);
  if (tl_gather_few(vm, *base, step, parts, out))
    return true;  // even if an error waits, as while a text without memory is made
  if (tl_failed(vm))
    return false;
  const tl_array *mask = tl_whole_mask(a, step, parts);
  if (mask != NULL)
    return whole_mask(vm, base, mask, out);
  if (tl_is_option_mask(step, parts))
    return vm->nested->get_mask(vm, *base, parts[0].nested, out);
  return tl_select(vm, a, step, parts, &selection) &&
         finish_selection(vm, base, &selection, out);
}

// --- Numbers ----------------------------------------------------------------

// By tl_item, so that a complex128 gets an array of rank 0 of its own again.
tl_slot tl_number_unbox(tl_vm *vm, const tl_array *box, tl_slot number) {
  tl_slot out = tl_item(vm, box, box->data);
  if (!tl_is_unset(out))
    out.tag |= number.tag & TL_WEAK;
  return out;
}

// A number is an array without axes: what indexes those indexes it, and a
// result without axes is a number again.
static bool number_get(tl_vm *vm, const tl_slot *base, const tl_step *step,
                       const tl_slot *parts, tl_slot *out) {
  tl_array *box = tl_number_box(vm, *base);
  if (box == NULL)
    return false;
  tl_slot owned = tl_own_array(box);
  tl_selection selection;
  bool ok = tl_select(vm, box, step, parts, &selection);
  if (ok && !selection.is_fancy && selection.ndim == 0) {
    *out = tl_number_unbox(vm, box, *base);
    ok = !tl_is_unset(*out);
  } else if (ok) {
    ok = finish_selection(vm, &owned, &selection, out);
  }
  tl_drop(vm, owned);
  return ok;
}

// --- One index of one axis --------------------------------------------------

// What the index of a list, a string or a range comes to.
typedef enum one_kind { ONE_ITEM, ONE_SLICE, ONE_ARRAY } one_kind;

// The index of something with one axis.
typedef struct one {
  one_kind kind;
  int64_t at;
  tl_slice slice;
  tl_slot array;  // borrowed
} one;

// The error of an index that has no meaning for a list, string or range.
// [what] is the kind of base in words, as in the functions below.
static bool fail_one(tl_vm *vm, const char *what, tl_slot s) {
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "a %s is indexed by integers, slices and ranges: got %s", what,
                 tl_described(vm, s));
}

// Reads one value as an index among [length] items; negative integers count
// from the end.
static bool read_value(tl_vm *vm, const char *what, tl_slot s, int64_t length,
                       one *out) {
  if (tl_index_integer(s, &out->at)) {
    out->kind = ONE_ITEM;
    if (!tl_index_wrap(&out->at, length)) {
      const char *unit = what[0] == 's' ? "character" : "item";
      char text[TL_NUMBER_TEXT];
      return tl_fail(vm, TALLY_ERR_INDEX,
                     "index %s is out of range for a %s of %" PRId64 " %s%s",
                     tl_number_text(s, text), what, length, unit,
                     length == 1 ? "" : "s");
    }
    return true;
  }
  if (tl_is_range(s)) {
    out->kind = ONE_SLICE;
    out->slice = tl_slice_of_range(s.range, length);
    return true;
  }
  if (tl_is_array(s) && tl_ndim(s.array) > 0) {
    out->kind = ONE_ARRAY;
    out->array = s;
    return true;
  }
  return fail_one(vm, what, s);
}

// Where a bound of a slice lies among so many items. Clipped, as for slices of
// arrays: no bound is an error.
static inline int64_t bound(int64_t at, int64_t count) {
  if (at < 0)
    at += count;
  return at < 0 ? 0 : at > count ? count : at;
}

// Whether a step is an int64, or a slice without a step between such bounds.
static bool is_by_int64(const tl_step *step, const tl_slot *parts) {
  if (step->item_count != 1)
    return false;
  const tl_index_item item = step->items[0];
  const int count = tl_item_parts(item);
  if ((item.given & TL_SLICE_STEP) != 0 ||
      (item.kind != TL_ITEM_SLICE && item.kind != TL_ITEM_VALUE))
    return false;
  for (int i = 0; i < count; i++)
    if ((uint8_t)parts[i].tag != TL_CLASS_I64)
      return false;
  return true;
}

// What a slice without a step takes of [count] items, between such bounds.
static inline tl_slice plain_slice(tl_index_item item, const tl_slot *parts,
                                   int64_t count) {
  int64_t start = 0, stop = count;
  if ((item.given & TL_SLICE_START) != 0)
    start = bound((parts++)->i, count);
  if ((item.given & TL_SLICE_STOP) != 0)
    stop = bound(parts->i, count);
  return (tl_slice){
      .start = start, .step = 1, .length = start < stop ? stop - start : 0};
}

// Reads the index of a list, string or range: an item, a slice, or an index
// array.
static bool read_one(tl_vm *vm, const char *what, const tl_step *step,
                     const tl_slot *parts, int64_t length, one *out) {
  if (step->item_count != 1 || step->items[0].kind == TL_ITEM_ELLIPSIS)
    return tl_fail(vm, TALLY_ERR_INDEX, "a %s has one axis: it takes one index",
                   what);
  if (step->items[0].kind == TL_ITEM_VALUE)
    return read_value(vm, what, parts[0], length, out);
  out->kind = ONE_SLICE;
  if (!is_by_int64(step, parts))
    return tl_slice_resolve(vm, step->items[0], &parts, length, &out->slice);
  out->slice = plain_slice(step->items[0], parts, length);
  return true;
}

// The places that an index array or a mask chooses among [length] items, as
// int64: computed by indexing the numbers 0, 1, 2 …
// So lists follow the rules of arrays for negative indices and masks, and
// report errors in the same words. The result is dense, and owned.
static tl_array *places_of(tl_vm *vm, tl_slot array, int64_t length) {
  tl_range all = {.stop = length, .step = 1, .length = length};
  tl_slot base, out;
  if (!tl_array_give(tl_range_to_array(vm, &all), &base))
    return NULL;
  bool ok = array_get(vm, &base, &tl_index_one, &array, &out);
  tl_drop(vm, base);
  return ok ? out.array : NULL;
}

// --- Lists ------------------------------------------------------------------

// An item moves out of a list with no other owner; else it is borrowed or
// counted as the list lives on. An item that the list borrows itself is
// borrowed on.
static void list_item(tl_vm *vm, const tl_slot *base, tl_slot *item,
                      tl_slot *out) {
  if (!tl_is_owned(*base)) {
    *out = tl_borrow(*item);
  } else if (base->object->count == 1) {
    tl_copy_slot(out, item);
    *item = tl_none();
  } else {
    *out = tl_retain(vm, tl_borrow(*item));
  }
}

// An item of a list that lives on, for [made], which borrows it with [lends].
static tl_slot share_item(tl_vm *vm, tl_list *made, tl_slot item, bool lends) {
  return lends ? tl_borrow_item(vm, &made->head, &item, TL_CAUSE_ITEM)
               : tl_escape(vm, &item, TL_CAUSE_ITEM);
}

// A slice of a list; items move out of a list that ends. With [lends] the slice
// borrows items of a list that lives on.
static bool list_slice(tl_vm *vm, tl_slot *base, tl_slice slice, bool lends,
                       tl_slot *out) {
  enum { FEW = 10 };
  // The list ends here and has no other owner, so its items move, or stay where
  // they are unless their block is large and mostly free then: a stack that
  // grows and shrinks around any size keeps its block.
  bool moves = tl_is_owned(*base) && base->object->count == 1;
  if (moves && slice.step == 1 && !vm->no_reuse &&
      (base->list->capacity <= FEW ||
       slice.length > base->list->capacity / 4)) {
    tl_changed_in_place(vm, *base);
    tl_list *list = base->list;
    base->tag &= ~TL_OWNED;
    tl_list_narrow(vm, &list, slice.start, slice.length);
    *out = tl_own_list(list);
    return true;
  }
  // Most of a list that does not end here is a copy of it.
  const bool copies = !moves && slice.length > base->list->length / 2;
  if (copies && !tl_may_copy(vm, *base))
    return false;
  tl_list *made = tl_list_new(vm, slice.length);
  if (made == NULL)
    return false;
  if (copies && vm->watch != NULL)
    vm->observer->fresh(vm, tl_own_list(made));
  if (moves)
    made->head.flags |= base->object->flags & TL_BORROWED;
  bool ok = true;
  for (int64_t i = 0; ok && i < slice.length; i++) {
    tl_slot *item = &base->list->items[slice.start + i * slice.step];
    made->length = i + 1;
    if (moves) {
      tl_copy_slot(&made->items[i], item);
      *item = tl_none();
    } else {
      made->items[i] = share_item(vm, made, tl_borrow(*item), lends);
    }
    ok = (i & 0xfff) != 0xfff || (moves ? tl_poll_over(vm) : tl_poll(vm, 4));
  }
  return tl_list_give(vm, made, ok, out);
}

// Items chosen by an index array or a mask. A list that ends gives each item
// away once; where it is chosen again, the place of the first is noted in the
// list's slot.
static bool list_choice(tl_vm *vm, const tl_slot *base, tl_slot array,
                        bool lends, tl_slot *out) {
  tl_array *places = places_of(vm, array, base->list->length);
  if (places == NULL)
    return false;
  const int64_t *at = (const int64_t *)(const void *)places->data;
  bool ok = tl_ndim(places) == 1;
  if (!ok)
    tl_fail(vm, TALLY_ERR_INDEX, "a list has one axis: the index array has %d",
            tl_ndim(places));
  tl_list *made = ok ? tl_list_new(vm, places->size) : NULL;
  bool gives = tl_is_owned(*base) && base->object->count == 1;
  for (int64_t i = 0; ok && made != NULL && i < places->size; i++) {
    tl_slot *item = &base->list->items[at[i]];
    // An item given away before: its slot has the place in [made] where it
    // went.
    bool given = tl_is_unset(*item);
    tl_slot borrowed = tl_borrow(given ? made->items[item->i] : *item);
    // An item that base borrows the choice may borrow, too.
    bool stays =
        !tl_is_owned(*base) || ((base->object->flags & TL_BORROWED) != 0 &&
                                !given && !tl_is_owned(*item));
    if (gives && tl_is_owned(*item)) {
      made->items[i] = tl_escape(vm, item, TL_CAUSE_ITEM);
      *item = tl_unset();
      item->i = i;
    } else {
      made->items[i] = share_item(vm, made, borrowed, lends && stays);
    }
    made->length = i + 1;
    ok = (i & 0xfff) != 0xfff || (gives ? tl_poll_over(vm) : tl_poll(vm, 4));
  }
  tl_drop(vm, tl_own_array(places));
  return tl_list_give(vm, made, ok && made != NULL, out);
}

// By what read_one made of the index. Slices and choices are new lists whose
// items are counted, not borrowed, as nobody knows how long the base lives;
// [lends]: the compiler does.
static bool list_get(tl_vm *vm, tl_slot *base, const tl_step *step,
                     const tl_slot *parts, bool lends, tl_slot *out) {
  one index;
  tl_list *list = base->list;
  if (!read_one(vm, "list", step, parts, list->length, &index))
    return false;
  if (index.kind == ONE_SLICE)
    return list_slice(vm, base, index.slice, lends && !tl_is_owned(*base), out);
  if (index.kind == ONE_ARRAY)
    return list_choice(vm, base, index.array, lends, out);
  list_item(vm, base, &list->items[index.at], out);
  return true;
}

// The compiler has seen an index that takes several items, and relies on the
// result being the slot's own.
bool tl_index_take(tl_vm *vm, tl_slot *base, const tl_step *step,
                   tl_slot *parts, tl_slot *out) {
  if (!(tl_is_list(*base) ? list_get(vm, base, step, parts, true, out)
                          : tl_index_get(vm, base, step, parts, out)))
    return false;
  if (tl_is_owned(*out) || step->items[0].given == 0)
    return true;
  if (!tl_is_string(*out)) {
    *out = tl_retain(vm, *out);
    return true;
  }
  // The slice covers all of the string by chance. Only [:] may return the
  // string itself, as the compiler relies on.
  return tl_string_give(
      tl_string_new(vm, out->string->text, out->string->length), out);
}

// Writing to a list takes an index or a slice, no index array.
bool tl_list_place(tl_vm *vm, const tl_list *list, const tl_step *step,
                   const tl_slot *parts, bool *is_item, tl_slice *out) {
  one index;
  if (!read_one(vm, "list", step, parts, list->length, &index))
    return false;
  if (index.kind == ONE_ARRAY)
    return fail_one(vm, "list", index.array);
  *is_item = index.kind == ONE_ITEM;
  *out = *is_item ? (tl_slice){index.at, 1, 1} : index.slice;
  return true;
}

// --- Records ----------------------------------------------------------------

// A field's name is always a key; an index is one if its value may be a key.
bool tl_record_key(tl_vm *vm, const tl_step *step, const tl_slot *parts,
                   tl_slot *key) {
  if (step->field != NULL) {
    *key = (tl_slot){.tag = TL_TAG_STRING, .string = step->field};
    return true;
  }
  if (step->item_count == 1 && step->items[0].kind == TL_ITEM_VALUE) {
    *key = tl_borrow(parts[0]);
    return tl_key_is_plain(*key) || tl_key_check(vm, *key);
  }
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "a record is indexed by one key: two values as one key are a "
                 "list, r[(a, b)]");
}

// Fails for a key that is not there with the keys that are. *base may be an
// owned record: then the value moves out of it, or is counted.
bool tl_record_value(tl_vm *vm, tl_slot *base, tl_slot key, tl_slot *out) {
  tl_slot *value = tl_record_get_key(base->record, key);
  if (value == NULL)
    return vm->nested->fail_no_field(vm, *base, key);
  list_item(vm, base, value, out);
  return true;
}

// r["a"] and r[1] are keys as r.a is: a record has no positions.
static bool record_get(tl_vm *vm, tl_slot *base, const tl_step *step,
                       const tl_slot *parts, tl_slot *out) {
  tl_slot key;
  return tl_record_key(vm, step, parts, &key) &&
         tl_record_value(vm, base, key, out);
}

// --- Strings ----------------------------------------------------------------

// Characters [start, stop) as a string.
// By cluster, as a character is whatever a reader takes for one.
static bool substring(tl_vm *vm, const tl_string *s, int64_t start,
                      int64_t stop, tl_slot *out) {
  size_t begin, end;
  tl_string_grapheme_range(s, start, stop, &begin, &end);
  return tl_string_cut(vm, s, begin, end, out);
}

// One character, or those between two bounds.
bool tl_index_part(tl_vm *vm, tl_slot base, const tl_step *step,
                   const tl_slot *parts, size_t *begin, size_t *end) {
  if (!tl_is_string(base) || !is_by_int64(step, parts))
    return false;
  const tl_index_item item = step->items[0];
  const int64_t count = tl_string_graphemes(vm, base.string);
  if (count < 0)
    return true;
  tl_slice part = {.step = 1, .length = 1};
  if (item.kind == TL_ITEM_VALUE) {
    part.start = parts[0].i;
    if (!tl_index_wrap(&part.start, count))
      return false;
  } else {
    part = plain_slice(item, parts, count);
    if (part.length == count)
      return false;
  }
  tl_string_grapheme_range(base.string, part.start, part.start + part.length,
                           begin, end);
  return true;
}

// A slice that goes backwards or leaves characters out, where these are bytes.
// [slice] has at least two items and lies within the text.
static bool spaced_bytes(tl_vm *vm, const tl_string *s, tl_slice slice,
                         tl_slot *out) {
  tl_string *made = tl_string_new(vm, NULL, (size_t)slice.length);
  if (made == NULL)
    return false;
  const char *from = s->text + slice.start;
  for (size_t at = 0, end = 0; at < made->length; at = end) {
    if (!tl_poll_piece(vm, at, made->length, &end)) {
      tl_string_free(vm, made);
      return false;
    }
    for (size_t i = at; i < end; i++)
      made->text[i] = from[(int64_t)i * slice.step];
  }
  tl_string_finish_parts(made, TL_BYTEWISE);
  *out = tl_own_string(made);
  return true;
}

// The same of any text: first finds the byte at which each character begins
// from the first to the last that is taken.
static bool spaced_substring(tl_vm *vm, const tl_string *s, tl_slice slice,
                             tl_slot *out) {
  int64_t last = slice.start + (slice.length - 1) * slice.step;
  int64_t low = slice.step < 0 ? last : slice.start;
  int64_t count = (slice.step < 0 ? slice.start : last) + 1 - low;
  // Clusters are found forwards alone, so they are noted first: the slice may
  // go backwards.
  size_t nbytes = ((size_t)count + 1) * sizeof(size_t);
  size_t *begins = tl_alloc(vm, nbytes, "a slice of a string");
  if (begins == NULL)
    return false;
  size_t at, end;
  tl_string_grapheme_range(s, low, low, &at, &end);
  size_t polled = at;
  for (int64_t i = 0; i < count; i++) {
    begins[i] = at;
    at = tl_grapheme_end(s->text, s->length, at);
    if (at - polled < 1 << 16)
      continue;
    polled = at;
    if (!tl_poll(vm, 64)) {
      tl_free(vm, begins, nbytes);
      return false;
    }
  }
  begins[count] = at;
  tl_text text;
  tl_text_open(&text, vm);
  for (int64_t i = 0; i < slice.length; i++) {
    int64_t k = slice.start + i * slice.step - low;
    tl_text_add(&text, s->text + begins[k], begins[k + 1] - begins[k]);
  }
  tl_free(vm, begins, nbytes);
  return tl_text_give(&text, true, out);
}

// Indices count characters.
static bool string_get(tl_vm *vm, tl_slot *base, const tl_step *step,
                       const tl_slot *parts, tl_slot *out) {
  one index;
  tl_string *s = base->string;
  int64_t count = tl_string_graphemes(vm, s);
  if (count < 0 || !read_one(vm, "string", step, parts, count, &index))
    return false;
  if (index.kind == ONE_ARRAY)
    return fail_one(vm, "string", index.array);
  if (index.kind == ONE_ITEM)
    return substring(vm, s, index.at, index.at + 1, out);
  tl_slice slice = index.slice;
  if (slice.length == 0)
    return substring(vm, s, 0, 0, out);
  // A string never changes, so all of it is the string itself.
  if (slice.step == 1 && slice.length == count)
    return tl_pass_to(base, out);
  if (slice.step == 1 || slice.length == 1)
    return substring(vm, s, slice.start, slice.start + slice.length, out);
  return (tl_string_is_bytewise(s) ? spaced_bytes : spaced_substring)(
      vm, s, slice, out);
}

// --- Ranges -----------------------------------------------------------------

// A slice of a range is a range.
//
//     (0..10 by 2)[1:4]    2..8 by 2
static bool range_slice(tl_vm *vm, const tl_range *range, tl_slice slice,
                        int64_t step, tl_slot *out) {
  int64_t start = range->start, stop;
  if (slice.length > 0)
    start = tl_range_item(range, slice.start);
  if (slice.length == 0) {
    stop = start;
  } else if (__builtin_mul_overflow(step, slice.length, &stop) ||
             __builtin_add_overflow(start, stop, &stop)) {
    // The end beyond the last item may not fit int64; any end in that direction
    // will do.
    stop = step > 0 ? INT64_MAX : INT64_MIN;
  }
  tl_range *made = tl_range_new(vm, start, stop, step);
  if (made == NULL)
    return false;
  *out = tl_own_range(made);
  return true;
}

// Anything but integers and slices makes an array of the range first.
// Among them none, bools, masks and several indices.
static bool range_choice(tl_vm *vm, const tl_range *range, const tl_step *step,
                         const tl_slot *parts, tl_slot *out) {
  tl_slot base;
  return tl_array_give(tl_range_to_array(vm, range), &base) &&
         tl_drop_after(vm, array_get(vm, &base, step, parts, out), &base);
}

// Integers and slices of a range stay without an array.
static bool range_get(tl_vm *vm, tl_slot *base, const tl_step *step,
                      const tl_slot *parts, tl_slot *out) {
  one index;
  const tl_range *range = base->range;
  // Integers and slices of a range need no array.
  bool is_plain = step->item_count == 1 &&
                  step->items[0].kind != TL_ITEM_ELLIPSIS &&
                  !(step->items[0].kind == TL_ITEM_VALUE &&
                    (tl_is_none(parts[0]) || tl_is_bool(parts[0]) ||
                     tl_is_list(parts[0]) || tl_is_array(parts[0])));
  if (!is_plain)
    return range_choice(vm, range, step, parts, out);
  if (!read_one(vm, "range", step, parts, range->length, &index))
    return false;
  if (index.kind == ONE_SLICE) {
    int64_t by = range->step;
    // The step of a slice of one item says nothing.
    if (index.slice.length > 1 &&
        __builtin_mul_overflow(by, index.slice.step, &by))
      return range_choice(vm, range, step, parts, out);
    return range_slice(vm, range, index.slice, by, out);
  }
  *out = tl_weak_int(tl_range_item(range, index.at));
  return true;
}

// --- Any value --------------------------------------------------------------

// The error of a value that cannot be indexed.
// A function is indexed where a call was meant, so the hint says how to call.
static bool fail_base(tl_vm *vm, tl_slot base) {
  const char *hint = tl_is_function(base) ? ": call it with ( )" : "";
  return tl_fail(vm, TALLY_ERR_TYPE, "%s cannot be indexed%s",
                 tl_described(vm, base), hint);
}

// A slice as a value that a host reads: (start: 1, stop: none, step: none). Its
// values are taken from [parts], which moves on behind them; they are borrowed,
// and the record in [out] has counts of its own. False after tl_fail.
static bool slice_record(tl_vm *vm, tl_index_item item, const tl_slot **parts,
                         tl_slot *out) {
  static const char *const names[] = {"start", "stop", "step"};
  tl_record *record = tl_record_new(vm, 3);
  for (int k = 0; k < 3; k++) {
    tl_slot part = tl_none();
    if ((item.given >> k & 1) != 0)
      part = tl_retain(vm, *(*parts)++);
    tl_record_put(vm, &record, names[k], part);
  }
  return tl_record_put_end(record, out);
}

// A host's value: slices become records, and an ellipsis the string "...". The
// values of the step are borrowed; only what is made here is dropped.
bool tl_index_host(tl_vm *vm, tl_slot base, bool alone, const tl_step *step,
                   const tl_slot *parts, const tl_slot *value, tl_slot *out) {
  enum { MOST = 2 * TL_MAX_DIMS };
  tl_slot made[MOST + 1];
  const tl_slot *from = parts;
  uint16_t count = 0;
  bool ok = step->item_count <= MOST ||
            tl_fail(vm, TALLY_ERR_INDEX,
                    "a value of the host takes at most %d indices, not %d",
                    MOST, step->item_count);
  for (; ok && count < step->item_count; count++) {
    tl_index_item item = step->items[count];
    tl_slot *to = &made[count];
    if (item.kind == TL_ITEM_VALUE) {
      *to = tl_borrow(*from++);
      continue;
    }
    ok = item.kind == TL_ITEM_ELLIPSIS
             ? tl_string_give(tl_string_from(vm, "..."), to)
             : slice_record(vm, item, &from, to);
    if (!ok)
      break;
  }
  if (ok && value == NULL) {
    ok = vm->host->index(vm, base, count, made, out);
  } else if (ok) {
    made[count] = tl_borrow(*value);
    ok = vm->host->put(vm, base, alone, count + 1u, made, out);
  }
  while (count > 0) tl_drop(vm, made[--count]);
  return ok;
}

// By kind; arrays first, as they are most.
bool tl_index_get(tl_vm *vm, tl_slot *base, const tl_step *step, tl_slot *parts,
                  tl_slot *out) {
  if (step->field != NULL)
    return vm->nested->field(vm, base, step->field, out);
  if (tl_is_array(*base) && tl_ndim(base->array) > 0)
    return array_get(vm, base, step, parts, out);
  if (tl_is_number(*base))
    return number_get(vm, base, step, parts, out);
  switch (tl_dtype_of(*base)) {
    case TL_KIND_LIST:
      return list_get(vm, base, step, parts, false, out);
    case TL_KIND_RECORD:
      return record_get(vm, base, step, parts, out);
    case TL_KIND_STRING:
      return string_get(vm, base, step, parts, out);
    case TL_KIND_RANGE:
      return range_get(vm, base, step, parts, out);
    case TL_KIND_HANDLE:
      return tl_index_host(vm, *base, false, step, parts, NULL, out);
    case TL_KIND_NESTED:
      return vm->nested->get(vm, base, step, parts, out);
    default:
      return fail_base(vm, *base);
  }
}
