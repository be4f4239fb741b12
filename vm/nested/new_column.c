// A new column of a struct array: p.x = v where p has no x yet.
//
//   p  3 * {x: float64}, p.y = [1, 2, 3]   3 * {x: float64, y: int64}
//   p.y = 0                                0 in all rows
//   p.y = [1, 2]                           error: 2 items, 3 rows
//
// All columns are put together anew, in one block if they can be. A part of
// another array keeps its type, so there no column is added (path.c).
#include "vm/nested/nested_set.h"

#include <inttypes.h>

#include "vm/array/describe.h"
#include "vm/error.h"
#include "vm/nested/nested_join.h"
#include "vm/nested/parts.h"
#include "vm/vm.h"

// Whether the place is a field that a struct array has not got yet.
bool tl_adds_column(tl_nested_path w, tl_slot target) {
  const tl_string *name = tl_has_fields(target) && w.count == 1 &&
                                  target.nested->layout->kind == TL_TYPE_STRUCT
                              ? tl_step_name(w.steps, w.parts)
                              : NULL;
  return name != NULL && tl_nested_find(target.nested, name) < 0;
}

// What is assigned as a column: an array borrowed, of others one made of it.
static bool as_column(tl_vm *vm, const tl_string *name, tl_slot value,
                      int64_t length, tl_slot *out) {
  bool is_column, ok = tl_column_of(vm, value, &is_column, out);
  if (is_column)
    return ok;
  if (tl_is_scalar(value) || tl_is_string(value) || tl_is_record(value))
    return tl_value_repeat(vm, value, 1, &length, out);
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "the new column %s must be an array, or a value for all rows, "
                 "not %s",
                 name->text, tl_described(vm, value));
}

// The columns of a table behind its own ones; they share its memory where they
// have a block each, and are copied where they lie in one.
static bool put_columns(tl_vm *vm, tl_slot table, const tl_string *name,
                        tl_slot value, tl_string **names, tl_slot *columns,
                        int64_t *made) {
  const tl_nested *n = table.nested;
  int64_t count = n->layout->field_count;
  for (; *made < count; ++*made) {
    tl_slot borrowed = tl_borrow(table);
    names[*made] = n->layout->fields[*made].name;
    if (!tl_nested_field(vm, &borrowed, *made, &columns[*made]))
      return false;
  }
  int64_t length = tl_value_length(table, 0);
  names[count] = (tl_string *)name;
  if (!as_column(vm, name, value, length, &columns[count]))
    return false;
  ++*made;
  if (tl_value_length(columns[count], 0) == length)
    return true;
  return tl_fail(vm, TALLY_ERR_SHAPE,
                 "the new column %s has %" PRId64
                 " items, but the table has "
                 "%" PRId64 " rows",
                 name->text, tl_value_length(columns[count], 0), length);
}

// By building the table anew from its columns and the new one. Fails (kind
// name) for tables of several axes, and (kind shape) where the lengths differ.
bool tl_add_column(tl_vm *vm, tl_nested_path w, tl_slot table, tl_slot value,
                   tl_nested **out) {
  const tl_nested *n = table.nested;
  tl_string *name = tl_step_name(w.steps, w.parts);
  if (tl_nested_ndim(n) != 1)
    return tl_fail_no_field(vm, table, name);
  int64_t made = 0, count = n->layout->field_count + 1;
  size_t nbytes = (size_t)count * (sizeof(tl_slot) + sizeof(tl_string *));
  tl_slot *columns = tl_alloc(vm, nbytes, "a new column"), wider;
  if (columns == NULL)
    return false;
  tl_string **names = (tl_string **)(void *)(columns + count);
  bool ok = put_columns(vm, table, name, value, names, columns, &made) &&
            tl_struct_of_columns(vm, count, names, columns, &wider);
  while (made > 0) tl_clear(vm, &columns[--made]);
  tl_free(vm, columns, nbytes);
  if (ok)
    *out = wider.nested;
  return ok;
}
