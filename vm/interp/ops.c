// The interpreter's slow paths: operands are read by their modes, handed to the
// engine and the containers, and dropped where they end. interp.h has the
// contracts; ops_elementwise.c, ops_places.c and ops_ownership.c have the
// others.
//
// Each function here follows one order, so that a failure consumes nothing:
//
//     tl_operand_read(operand, mode)   borrowed ones lose their owned bit
//     compute into a local  false: return, all operands are as they were
//     drop what ends        which may have become the result's memory already
//     tl_operand_put(a, result)        last, as a may be an operand's slot

#include "vm/interp/handlers.h"
#include "vm/interp/interp.h"

#include "vm/array/element.h"
#include "vm/events.h"
#include "vm/text/format.h"
#include "vm/host.h"
#include "vm/engine/matmul.h"
#include "vm/memory/mapping.h"
#include "vm/nested/indexed.h"
#include "vm/nested/nested_join.h"
#include "vm/array/range.h"
#include "vm/values/record.h"

// --- Operators --------------------------------------------------------------

// The product of arrays, pointers' and categories' values among them, or what
// the type of a host's value makes of @.
static bool matmul_of(tl_vm *vm, tl_slot *operands, tl_slot *out) {
  bool known = false;
  if ((tl_is_resource(operands[0]) || tl_is_resource(operands[1])) &&
      !vm->host->operate(vm, "@", 2, operands, out, &known))
    return false;
  if (known)
    return true;
  tl_slot values[2] = {tl_borrow(operands[0]), tl_borrow(operands[1])};
  bool ok = tl_spell_out(vm, 2, values) && tl_matmul(vm, values, out);
  tl_drop(vm, values[0]);
  return tl_drop_after(vm, ok, &values[1]);
}

// The product never takes an operand's memory, so both are only dropped.
bool tl_exec_matmul(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  tl_slot operands[2] = {tl_operand_read(RB, MODE_B),
                         tl_operand_read(RC, MODE_C)},
          result;
  if (!matmul_of(vm, operands, &result) ||
      (vm->has_contracts &&
       !vm->observer->contract_makes(vm, result, TL_WHY_PRODUCT)))
    return false;
  // A product too small to poll inside may have read a mapped file that has
  // become shorter: what it computed is then of no use.
  if ((vm->interrupted & TL_FILE_LOST) != 0 && !tl_poll(vm, 0)) {
    tl_drop(vm, result);
    return false;
  }
  tl_operand_end(vm, operands[0]);
  tl_operand_end(vm, operands[1]);
  // Last, as it may be an operand's slot.
  tl_operand_put(RA, result);
  return true;
}

// --- in ---------------------------------------------------------------------

// A container that ends is asked first and dropped then.
bool tl_do_in(tl_vm *vm, const tl_slot *b, const tl_slot *c, unsigned modes,
              bool *found) {
  *found = false;
  if (tl_is_record(*c) && tl_key_allowed(*b))
    *found = tl_record_find_key(c->record, *b) >= 0;
  else if (!tl_contains(vm, *b, *c, found))
    return false;
  tl_drop(vm, tl_operand_read(b, modes & 3u));
  tl_drop(vm, tl_operand_read(c, modes >> 2 & 3u));
  return true;
}

// --- Ranges and truth -------------------------------------------------------

// Whether a slot has an integer of another dtype whose value int64 has, too;
// else an error that names [what] of the range.
static bool narrow_or_fail(tl_vm *vm, const tl_slot *s, const char *what) {
  char text[TL_NUMBER_TEXT];
  if (tl_is_scalar(*s) && tl_dtype_is_integer((tl_dtype)tl_dtype_of(*s))) {
    if (s->i >= 0 || tl_dtype_of(*s) != TL_UINT64)
      return true;
    return tl_fail(vm, TALLY_ERR_VALUE, "the %s of a range fits int64: got %s",
                   what, tl_number_text(*s, text));
  }
  return tl_fail(vm, TALLY_ERR_TYPE, "the %s of a range is an integer: got %s",
                 what, tl_described(vm, *s));
}

// An integer of any dtype as int64.
static inline bool whole(tl_vm *vm, const tl_slot *s, const char *what,
                         int64_t *out) {
  *out = s->i;
  return (uint8_t)s->tag == TL_CLASS_I64 || narrow_or_fail(vm, s, what);
}

// The operands are integers, so nothing has to be dropped.
bool tl_exec_range(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  int64_t start, stop, step;
  if (!whole(vm, RB, "start", &start) || !whole(vm, RC, "end", &stop) ||
      !whole(vm, RD, "step", &step))
    return false;
  tl_range *range = tl_range_new(vm, start, stop, step);
  if (range == NULL)
    return false;
  tl_operand_put(RA, tl_own_range(range));
  return true;
}

// Messages differ by what the value is, as the remedy does.
bool tl_do_truth(tl_vm *vm, tl_slot s, bool *truth) {
  if (tl_is_bool(s)) {
    *truth = s.i != 0;
    return true;
  }
  const char *text = tl_described(vm, s);
  if (tl_is_array(s) && s.array->head.dtype == TL_BOOL)
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "a condition is one bool, and this is %s: write any(…) or "
                   "all(…); item by item write ¬x, x & y, x | y",
                   text);
  if (tl_is_number(s) || tl_is_array(s))
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "a condition is one bool, and this is %s: write … != 0%s",
                   text, tl_is_array(s) ? " in any(…) or all(…)" : "");
  if (tl_is_none(s))
    return tl_fail(
        vm, TALLY_ERR_TYPE,
        "a condition is one bool, and this is none: x != none asks "
        "whether there is a value, skip_missing: true leaves missing "
        "items out of any(…) and all(…)");
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "a condition is one bool, and this is %s: compare it, as in "
                 "… != none or len(…) > 0",
                 text);
}

// The number of iterations is found once, so that the loop counts down to 0 and
// needs no comparison with the end, which a step might jump past:
//
//   0..10 by 3     (10 - 0 - 1) / 3 + 1 = 4      0 3 6 9
//   10..0 by -4    (10 - 0 - 1) / 4 + 1 = 3      10 6 2
//
// The hidden slots are start, end and step before, and then the first item, the
// number of iterations and the step.
bool tl_do_forprep(tl_vm *vm, tl_slot *hidden, bool *any) {
  int64_t start, stop, step;
  if (!whole(vm, &hidden[0], "start", &start) ||
      !whole(vm, &hidden[1], "end", &stop) ||
      !whole(vm, &hidden[2], "step", &step))
    return false;
  if (step == 0)
    return tl_fail(vm, TALLY_ERR_VALUE, "the step of a range is not 0");
  // Iterations, in unsigned arithmetic: the distance of two int64 may not fit
  // one.
  uint64_t iterations = 0;
  if (step == 1 && start < stop) {
    iterations = (uint64_t)stop - (uint64_t)start;  // most loops: no division
  } else if (step > 0 && start < stop) {
    iterations = ((uint64_t)stop - (uint64_t)start - 1) / (uint64_t)step + 1;
  } else if (step < 0 && start > stop) {
    iterations =
        ((uint64_t)start - (uint64_t)stop - 1) / (0 - (uint64_t)step) + 1;
  }
  // More iterations than any loop will run; the counter stays a signed number.
  if (iterations > INT64_MAX)
    iterations = INT64_MAX;
  *any = iterations > 0;
  hidden[0] = tl_weak_int(start);
  hidden[1] = tl_weak_int((int64_t)iterations);
  hidden[2] = tl_weak_int(step);
  return true;
}

// --- Building ---------------------------------------------------------------

// Makes the views in a window count their blocks before the first slot is
// stored: a store may copy a view out and drop its block, which other slots of
// the window may borrow.
static void hold_all(tl_vm *vm, uint32_t count, const tl_slot *slots) {
  for (uint32_t i = 0; count > 1 && i < count; i++)
    if (tl_is_array(slots[i]))
      tl_hold(vm, slots[i], TL_CAUSE_VIEW);
}

// Puts a value of the window into a new container: nothing that can fail, so
// nothing is lost.
static inline void store_new(tl_vm *vm, tl_object *container, tl_slot *to,
                             tl_slot *value, tl_cause cause) {
  if (!tl_is_heap(*value)) {
    tl_copy_slot(to, value);
    return;
  }
  tl_slot stored = tl_borrow_item(vm, container, value, cause);
  tl_copy_slot(to, &stored);
}

// All memory is there before the first item moves, so a failure leaves the
// window as it was. An empty list will get items: the block that it has anyway
// has room for two.
bool tl_do_list(tl_vm *vm, uint32_t count, tl_slot *items, tl_slot *out) {
  tl_list *list = tl_list_new(vm, count == 0 ? 2 : count);
  if (list == NULL)
    return false;
  hold_all(vm, count, items);
  for (uint32_t i = 0; i < count; i++)
    store_new(vm, &list->head, &list->items[i], &items[i], TL_CAUSE_ITEM);
  list->length = count;
  tl_operand_put(out, tl_own_list(list));
  return true;
}

// Where the caller goes on behind a call of [frame] whose result it takes apart
// into [count] slots, of which *to is the first, and needs for nothing else;
// NULL: it does not.
static const tl_ins *find_unpack(const tl_frame *frame, uint32_t count,
                                 tl_slot **to) {
  const tl_frame *caller = frame - 1;
  const tl_ins *call = caller->pc, *then = call + 2;
  if (then->op != TL_BC_UNPACK || then->b != call->a ||
      tl_ins_extra(then[1]) != count || (then->modes & 3u) == TL_MODE_BORROW)
    return NULL;
  *to = tl_slot_at(caller->base, then->a);
  return then + 2;
}

// Moves items as tl_do_list stores them; with [owns] also as a list is owned
// that its caller knows nothing of. Not inlined, since most are numbers.
__attribute__((noinline)) static void move_items(tl_vm *vm, uint32_t count,
                                                 tl_slot *items, tl_slot *to,
                                                 bool owns) {
  tl_object list = {0};  // which the items are not put into
  hold_all(vm, count, items);
  for (uint32_t i = 0; i < count; i++) {
    store_new(vm, &list, &to[i], &items[i], TL_CAUSE_ITEM);
    if (!owns || !tl_is_heap(to[i]))
      continue;
    if (!tl_is_owned(to[i]))
      to[i] = tl_escape(vm, &to[i], TL_CAUSE_ITEM);
    else
      tl_hold(vm, to[i], TL_CAUSE_ITEM);
  }
}

// The window lies above the caller's slots, so that going upward no item is
// overwritten before it is moved; code that has it otherwise gets a list.
const tl_ins *tl_hand_over(tl_vm *vm, const tl_frame *frame,
                           const tl_ins *ins) {
  const tl_ins *end = ins + 2;
  bool owns = frame->flags == TL_FRAME_OWNS || end->op == TL_BC_OWN;
  tl_slot *to, *items = tl_slot_at(frame->base, ins->a) + 1;
  if (end->a == ins->a && end->op == TL_BC_OWN)
    end++;
  if (end->op != TL_BC_RET || end->a != ins->a ||
      (frame->flags & ~(uint32_t)TL_FRAME_OWNS) != 0)
    return NULL;
  const tl_ins *next = find_unpack(frame, ins->b, &to);
  if (next == NULL || to > items)
    return NULL;
  uint32_t count = ins->b;
  bool heap = false;
  for (uint32_t i = 0; i < count; i++) heap |= tl_is_heap(items[i]);
  if (heap)
    move_items(vm, count, items, to, owns);
  else
    for (uint32_t i = 0; i < count; i++) tl_copy_slot(&to[i], &items[i]);
  return next;
}

// A value that the slot owns moves in; one that it borrows is borrowed by the
// record, too, and counted only where that leaves the frame. So a place is made
// with none first, which no failure can leave half filled.
bool tl_set_new_field(tl_vm *vm, tl_record **record, tl_string *key,
                      tl_slot *value) {
  bool whole =
      !tl_is_counted(*value) || (value->object->flags & TL_BORROWED) == 0;
  if (whole && (tl_is_owned(*value) || !tl_is_counted(*value)))
    return tl_record_set(vm, record, key, value);
  tl_slot nothing = tl_none();
  if (!tl_record_set(vm, record, key, &nothing))
    return false;
  *tl_record_get(*record, key) =
      tl_borrow_item(vm, &(*record)->head, value, TL_CAUSE_FIELD);
  return true;
}

// What a slot only borrows the record borrows, as lists do.
bool tl_exec_record(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  const struct tl_keys *keys = &tl_unit_of(vm)->keys[EXTRA()];
  tl_slot *values = RA + 1;
  tl_record *record = tl_record_of_names(vm, keys->count, keys->names);
  if (record == NULL)
    return false;
  hold_all(vm, keys->count, values);
  for (uint32_t i = 0; i < keys->count; i++)
    store_new(vm, &record->head, &record->fields[i].value, &values[i],
              TL_CAUSE_FIELD);
  tl_operand_put(RA, tl_own_record(record));
  return true;
}

bool tl_do_stack(tl_vm *vm, uint32_t count, const tl_slot *items,
                 tl_slot *result) {
  return tl_stack_any(vm, count, items, result) &&
         (!vm->has_contracts ||
          vm->observer->contract_makes(vm, *result, TL_WHY_STACK));
}

bool tl_exec_stack(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  tl_slot result;
  if (!tl_do_stack(vm, ins->b, RA + 1, &result))
    return false;
  tl_drop_all(vm, RA + 1, ins->b);
  tl_operand_put(RA, result);
  return true;
}

// The items of a list literal's list: they go with the list.
bool tl_exec_stacklist(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  tl_slot list = tl_operand_read(RB, MODE_B), result;
  if (!tl_do_stack(vm, (uint32_t)list.list->length, list.list->items, &result))
    return false;
  tl_drop(vm, list);
  tl_operand_put(RA, result);
  return true;
}

// Whether the value is a number, or a string that is never freed: it is stored
// without a count.
static inline bool has_no_count(tl_slot s) {
  return !tl_is_heap(s) || (tl_is_string(s) && !tl_is_owned(s) &&
                            (s.object->flags & TL_IMMORTAL) != 0);
}

// On failure the slot has its list as it was, with the same owner: nothing but
// the copy that was made here is dropped.
bool tl_do_push(tl_vm *vm, tl_slot *list, tl_slot *item, unsigned modes) {
  tl_slot value = tl_operand_read(item, modes & 3u);
  tl_slot target = tl_operand_read(list, modes >> 4 & 3u);
  // A list with one owner may grow while it borrows items: it goes on borrowing
  // these.
  tl_list *unique = target.list;
  bool in_place = tl_is_owned(target) && target.object->count == 1;
  if (!in_place && !tl_list_unique(vm, &target, 1, &unique))
    return false;
  if (in_place)
    tl_changed_in_place(vm, target);
  if (in_place && has_no_count(value) && unique->length < unique->capacity) {
    tl_copy_slot(&unique->items[unique->length++], &value);
    return true;
  }
  bool ok = tl_list_push_borrowed(vm, &unique, &value);
  // The target was borrowed, so it is a copy that failed to grow: the slot
  // keeps the original.
  if (!ok && !tl_is_owned(tl_operand_read(list, modes >> 4 & 3u))) {
    tl_drop(vm, tl_own_list(unique));
    return false;
  }
  tl_operand_put(list, tl_own_list(unique));
  if (ok)
    tl_drop(vm, value);
  return ok;
}

// A string without a spec passes on with its mode: owned if it was consumed,
// else still borrowed.
bool tl_exec_format(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  const tl_string *spec = tl_unit_of(vm)->names[EXTRA()];
  tl_slot value = tl_operand_read(RB, MODE_B);
  // A string is its own text.
  if (spec->length == 0 && tl_is_string(value)) {
    tl_operand_put(RA, value);
    return true;
  }
  tl_text text;
  tl_text_open(&text, vm);
  tl_slot shown = tl_borrow(value);
  bool ok = spec->length == 0 ? tl_format_value(vm, &text, value, false, 0)
                              : tl_single_number(vm, &shown) &&
                                    tl_format_spec(vm, &text, shown, spec->text,
                                                   spec->length);
  tl_slot made;
  if (!tl_text_give(&text, ok, &made))
    return false;
  tl_drop(vm, value);
  tl_operand_put(RA, made);
  return true;
}

// One allocation for the whole, since all lengths are known.
// The result is bytewise where all pieces are: no cluster begins in one and
// ends in another then.
bool tl_exec_join(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  const tl_slot *strings = RA + 1;
  const uint32_t count = ins->b;
  size_t nbytes = 0;
  unsigned flags = TL_BYTEWISE;
  for (uint32_t i = 0; i < count; i++) {
    nbytes += strings[i].string->length;
    flags &= strings[i].object->flags;
  }
  tl_string *joined = tl_string_new(vm, NULL, nbytes);
  bool ok = joined != NULL;
  char *to = ok ? joined->text : NULL;
  for (uint32_t i = 0; ok && i < count; i++) {
    const tl_string *part = strings[i].string;
    ok = tl_copy_bytes(vm, to, part->text, part->length);
    to += part->length;
  }
  if (tl_string_whole(vm, joined, ok) == NULL)
    return false;
  tl_string_finish_parts(joined, flags);
  tl_drop_all(vm, strings, count);
  tl_operand_put(RA, tl_own_string(joined));
  return true;
}

// Nothing below the allocation fails, so that no capture is lost.
bool tl_exec_closure(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  const tl_group *group = &tl_unit_of(vm)->groups[EXTRA()];
  const uint32_t count = ins->b;
  tl_slot *captures = RA + 1;
  tl_closure *closure =
      tl_object_new(vm, TL_KIND_CLOSURE,
                    sizeof *closure + count * sizeof(tl_slot), "a function");
  if (closure == NULL)
    return false;
  // The captures are counted only where the closure leaves its slots
  // (tl_borrow_item).
  closure->member_count = group->member_count;
  closure->members = group->members;
  closure->capture_count = count;
  hold_all(vm, count, captures);
  for (uint32_t i = 0; i < count; i++)
    closure->captures[i] =
        tl_borrow_item(vm, &closure->head, &captures[i], TL_CAUSE_CAPTURE);
  tl_operand_put(
      RA, (tl_slot){.tag = TL_TAG_CLOSURE | TL_OWNED, .pointer = closure});
  return true;
}

// --- Iteration --------------------------------------------------------------

// A host's value or a file that `for` can iterate over; NULL.
static const tl_resource *walked_resource(tl_slot s) {
  const tl_resource *resource = tl_is_resource(s) ? s.pointer : NULL;
  return resource != NULL && resource->walked != NULL ? resource : NULL;
}

// No loop walks a number, none, a function or a single pointer.
int64_t tl_walked_length(tl_slot c) {
  if (tl_is_list(c))
    return c.list->length;
  if (tl_is_array(c))
    return tl_ndim(c.array) > 0 ? tl_shape(c.array)[0] : -1;
  if (tl_is_record(c))
    return c.record->length;
  if (tl_is_range(c))
    return c.range->length;
  if (tl_is_string(c))
    return (int64_t)c.string->length;
  bool one = tl_is_form(c, TL_FORM_POINTER) && tl_value_ndim(c) == 0;
  return tl_is_nested(c) && !one ? tl_value_length(c, 0) : -1;
}

// Of a file only its hook knows whether there is more. Of all others the
// position is compared with the length, which no assignment in the loop
// changes: the loop walks the value, not the variable.
bool tl_do_more(tl_vm *vm, const tl_slot *container, const tl_slot *position,
                bool *more) {
  const tl_resource *resource = walked_resource(*container);
  if (resource != NULL)
    return resource->walked->more(vm, resource, position->i, more);
  int64_t length = tl_walked_length(*container);
  if (length < 0) {
    return tl_fail(
        vm, TALLY_ERR_TYPE,
        "for walks an array, list, range, record, string or file: got %s",
        tl_described(vm, *container));
  }
  *more = position->i < length;
  return true;
}

// The next (key, value) of a record: a list that borrows both from the record.
// Of a record that ends with the loop, the value moves out.
static bool next_field(tl_vm *vm, tl_field *field, bool gives, tl_slot *out) {
  tl_list *pair = tl_list_new(vm, 2);
  if (pair == NULL)
    return false;
  tl_slot parts[2] = {tl_key_slot(field->key),
                      gives ? field->value : tl_borrow(field->value)};
  if (gives)
    field->value = tl_none();
  for (; pair->length < 2; pair->length++)
    store_new(vm, &pair->head, &pair->items[pair->length], &parts[pair->length],
              TL_CAUSE_KEEP);
  *out = tl_own_list(pair);
  return true;
}

// Whether a row of an array is so many numbers that fit slots.
static bool is_row(tl_slot s, int64_t columns) {
  return tl_is_of_rank(s.tag, 2) && s.array->dims[1] == columns &&
         tl_dtype_of(s) < TL_COMPLEX128;
}

// The row as a list of them.
// Numbers that are no more than a slot each, so that no view is made for rows
// that are unpacked at once.
static bool next_row(tl_vm *vm, const tl_array *x, int64_t i, tl_slot *out) {
  tl_list *row = tl_list_new(vm, x->dims[1]);
  if (row == NULL)
    return false;
  const char *item = x->data + i * x->dims[2];
  for (; row->length < x->dims[1]; item += x->dims[3])
    tl_element_load(&row->items[row->length++], (int)tl_array_dtype(x), item);
  *out = tl_own_list(row);
  return true;
}

// The next character of a string as a reader sees it (a grapheme cluster); *at
// moves on by its bytes.
// A cluster may be 64 KB long, whose end takes as long as thousands of other
// iterations. On failure *at stays, and nothing was given.
static bool next_cluster(tl_vm *vm, const tl_string *string, int64_t *at,
                         tl_slot *a) {
  size_t end = tl_grapheme_end(string->text, string->length, (size_t)*at);
  tl_slot cluster;
  // The loop counts each as one, whatever it took to find its end.
  size_t nbytes = end - (size_t)*at;
  if (nbytes >= 1024 && !tl_poll(vm, nbytes / 1024))
    return false;
  if (!tl_string_part(vm, string->text + *at, end - (size_t)*at, &cluster))
    return false;
  *at = (int64_t)end;
  tl_operand_put(a, cluster);
  return true;
}

// Only the position moves; the container's length stays as it is while it gives
// its items away, and each place that was given away holds none.
bool tl_do_next(tl_vm *vm, tl_slot *a, tl_slot *container, tl_slot *position,
                unsigned mode, uint32_t what) {
  tl_slot c = *container;
  int64_t i = position->i;
  const tl_resource *resource = walked_resource(c);
  bool more = i >= 0 && i < tl_walked_length(c);
  if (resource != NULL && !tl_do_more(vm, container, position, &more))
    return false;
  // The compiler puts MORE before each NEXT. Bytecode that a host loaded is not
  // trusted to, so it is checked here.
  if (!more || (what == TL_NEXT_OF_LIST && !tl_is_list(c)))
    return tl_fail(vm, TALLY_ERR_HOST, "next: there is no such item");
  if (tl_is_string(c))
    return next_cluster(vm, c.string, &position->i, a);
  // A container with no other owner that ends with the loop gives its items
  // away.
  bool gives = mode != TL_MODE_BORROW && tl_is_owned(c) && c.object->count == 1;
  bool ok = true;
  tl_slot result;
  if (resource != NULL) {
    ok = resource->walked->next(vm, resource, i, &result);
  } else if (tl_is_list(c)) {
    tl_slot *item = &c.list->items[i];
    // Also the items that it only borrows: then the variable borrows in its
    // place.
    result = gives ? *item : tl_borrow(*item);
    if (gives)
      *item = tl_none();
  } else if (tl_is_range(c)) {
    result = tl_weak_int(tl_range_item(c.range, i));
  } else if (tl_is_record(c) && what < TL_NEXT_PARTS) {
    result = tl_key_slot(c.record->fields[i].key);
  } else if (tl_is_record(c)) {
    ok = next_field(vm, &c.record->fields[i], gives, &result);
  } else if (what >= TL_NEXT_PARTS && is_row(c, what - TL_NEXT_PARTS)) {
    ok = next_row(vm, c.array, i, &result);
  } else {
    // Arrays and nested arrays: a scalar, or a view of a row.
    tl_slot base = tl_borrow(c), at = tl_weak_int(i);
    const tl_index_item item = {TL_ITEM_VALUE, 0};
    tl_step step = {.item_count = 1, .items = &item};
    ok = tl_index_get(vm, &base, &step, &at, &result);
  }
  if (!ok)
    return false;
  tl_operand_put(a, result);
  position->i = i + 1;
  return true;
}

// --- Parameters -------------------------------------------------------------

// Type variables bind from left to right: a second N must be equal to the
// first.
bool tl_exec_checktypes(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  (void)ins;
  const tl_prototype *function = vm->frame->function;
  tl_bindings bindings = {.count = 0};
  for (uint32_t i = 0; i < function->param_count; i++) {
    const tl_function_param *p = &function->params[i];
    if (p->pattern == NULL)
      continue;
    if (!tl_type_match(vm, p->pattern, base[i], &bindings, p->name->text))
      return false;
  }
  return true;
}
