// Struct arrays: to columns and back, other layouts, order by fields.
//
//
//   rows({ x: [1, 2], y: [3, 4] })     structs [(x: 1, y: 3), (x: 2, y: 4)]
//   columns(p)                         { x: [1, 2], y: [3, 4] }
//
// Structs are either columns, one array for each field, or a block of items
// (TL_FORM_STRUCT), in which each field has an offset; relayout copies a block
// into other offsets.

#include "stdlib/families.h"
#include "vm/types/layout.h"
#include "vm/nested/nested_join.h"
#include "vm/values/record.h"

// --- Columns ----------------------------------------------------------------

// Columns in one block are views of it, which remains as long as one of them
// does.
bool tl_columns_of(tl_vm *vm, tl_slot p, tl_slot *out) {
  const tl_type *layout = p.nested->layout;
  tl_slot *fields = tl_slots_new(vm, layout->field_count);
  int64_t made = 0;
  bool ok = fields != NULL;
  for (; ok && made < layout->field_count; made += ok) {
    tl_slot borrowed = tl_borrow(p);
    ok = tl_nested_field(vm, &borrowed, made, &fields[made]);
  }
  ok = ok && tl_struct_item(vm, layout, fields, out);
  tl_slots_free(vm, fields, made);
  return ok;
}

// columns(p).
static bool columns(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return tl_has_fields(args[0])
             ? tl_columns_of(vm, args[0], out)
             : tl_arg_fail(vm, "columns", "p", "an array of structs", args[0]);
}

// One column of rows(c).
static bool as_column(tl_vm *vm, tl_slot s, tl_slot *out) {
  bool is_column, ok = tl_column_of(vm, s, &is_column, out);
  return ok || (!is_column && tl_arg_fail(vm, "rows", "each column",
                                          "an array or a list", s));
}

// Structs of the columns in a record, or tuples of those in a list.
static bool join_columns(tl_vm *vm, const tl_record *record,
                         const tl_list *list, tl_slot *out) {
  int64_t length = record != NULL ? record->length : list->length, count = 0;
  tl_slot *made = tl_slots_new(vm, length);
  bool ok = made != NULL;
  while (ok && count < length) {
    ok = as_column(
        vm, record != NULL ? record->fields[count].value : list->items[count],
        &made[count]);
    ok = ok && tl_poll_at(vm, count++);
  }
  ok = ok && (record != NULL ? tl_struct_of_record(vm, record, made, out)
                             : tl_tuples_of_columns(vm, count, made, out));
  tl_slots_free(vm, made, count);
  return ok;
}

// rows(c): a record of columns, a list of columns (tuples) or a list of
// records, each of which is one row. An empty list fails (kind value): nothing
// says what the fields are.
static bool rows(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (tl_is_list(args[0])) {
    tl_list *l = args[0].list;
    if (l->length > 0 && !tl_is_record(l->items[0]))
      return join_columns(vm, NULL, l, out);
    for (int64_t i = 0; i < l->length; i++) {
      if (!tl_is_record(l->items[i]))
        return tl_arg_fail(vm, "rows", "each item", "a record", l->items[i]);
    }
    return l->length > 0 ? tl_stack_any(vm, l->length, l->items, out)
                         : tl_fail(vm, TALLY_ERR_VALUE,
                                   "rows: of no records the fields are not "
                                   "known");
  }
  if (!tl_is_record(args[0]))
    return tl_arg_fail(vm, "rows", "c",
                       "a record of columns or a list of records", args[0]);
  return tl_record_check_names(vm, args[0].record, "rows") &&
         join_columns(vm, args[0].record, NULL, out);
}

// --- Layouts ----------------------------------------------------------------

// A copy whose fields overlap would hold neither.
static bool are_apart(tl_vm *vm, const tl_type *layout) {
  for (int64_t i = 0; i < layout->field_count; i++) {
    const tl_type_field *a = &layout->fields[i];
    int64_t begin = layout->offsets[i], end = begin + tl_type_size(a->type);
    for (int64_t j = 0; j < i; j++) {
      const tl_type_field *b = &layout->fields[j];
      int64_t from = layout->offsets[j], to = from + tl_type_size(b->type);
      if (begin < to && from < end) {
        return tl_fail(vm, TALLY_ERR_VALUE,
                       "relayout: with these offsets the fields %s and %s "
                       "overlap: bytes %lld to %lld and %lld to %lld",
                       b->name->text, a->name->text, (long long)from,
                       (long long)to, (long long)begin, (long long)end);
      }
    }
  }
  return true;
}

// p, packed, offsets, itemsize
static bool relayout(tl_vm *vm, tl_slot *args, tl_slot *out) {
  bool packed;
  int count = 0;
  int64_t itemsize = 0, offsets[TL_MAX_DIMS * 4];
  if (!tl_is_form(args[0], TL_FORM_STRUCT))
    return tl_arg_fail(vm, "relayout", "p",
                       "an array of structs of numbers, in one block", args[0]);
  const tl_nested *p = args[0].nested;
  // The type of the fields without their places, which the new layout sets.
  tl_type *plain = tl_layout_plain(vm, p->layout), *layout;
  if (plain == NULL ||
      !tl_arg_bool(vm, "relayout", "packed", args[1], &packed) ||
      (!tl_is_none(args[3]) &&
       !tl_arg_count(vm, "relayout", "itemsize", args[3], &itemsize))) {
    return false;
  }
  if (tl_is_none(args[2])) {
    layout = tl_layout_of(vm, plain, packed);
    // The offsets of the standard layout, with more room behind.
    if (layout != NULL && itemsize > 0)
      layout = tl_layout_given(vm, plain, layout->offsets, itemsize);
  } else {
    int most = (int)(sizeof offsets / sizeof *offsets);
    if (!tl_arg_ints(vm, "relayout", "offsets", args[2], most, &count, offsets))
      return false;
    if (count != plain->field_count) {
      return tl_fail(vm, TALLY_ERR_VALUE,
                     "relayout: %d offsets for %lld fields", count,
                     (long long)plain->field_count);
    }
    layout = tl_layout_given(vm, plain, offsets, itemsize);
  }
  int64_t shape[TL_MAX_DIMS];
  int ndim = tl_value_shape(args[0], shape);
  if (layout == NULL || !are_apart(vm, layout) ||
      !tl_struct_zeros(vm, layout, ndim, shape, out))
    return false;
  if (tl_struct_fill(vm, out->nested->parts[0], 0, layout, args[0]))
    return true;
  tl_clear(vm, out);
  return false;
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_struct_builtins[] = {
    /// The fields of a struct array as a record of columns, of tuples as a list:
    /// views, not copies.
    /// Values other than struct arrays are an error (kind type).
    ///     columns([(x: 1, y: 0.5), (x: 2, y: 1.5)])    # (x: [1, 2], y: [0.5, 1.5])
    {"columns", "p", columns},
    /// A struct array of columns of one length, given as a record, or of a list
    /// of records with the same fields. A list of columns gives tuples.
    /// Values other than struct arrays are an error (kind type).
    ///     rows((x: [1, 2], y: [0.5, 1.5]))    # [(x: 1, y: 0.5), (x: 2, y: 1.5)]
    ///     rows(([1, 2], ["a", "b"]))    # [(1, "a"), (2, "b")]
    {"rows", "c", rows},
    /// The structs p in another layout: as a C compiler lays them out, packed
    /// without padding, or with fields at the byte offsets given and items of
    /// itemsize bytes. The values stay the same.
    /// Values other than struct arrays are an error (kind type), offsets with
    /// which fields overlap another (value).
    ///     relayout([(a: true, b: 1.0)], packed: true).nbytes    # 9
    {"relayout", "p, packed: false, offsets: none, itemsize: none", relayout},
    {.name = NULL},
};
