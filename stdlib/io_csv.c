// Tables in text: comma-separated values, as RFC 4180 has them.
//
// Here the first row gives the columns their names, and the arguments say which
// of them are read; csv_table.c reads the rows.

#include <stdio.h>
#include <string.h>

#include "stdlib/arguments.h"
#include "stdlib/csv_table.h"
#include "stdlib/csv_types.h"
#include "stdlib/families.h"
#include "stdlib/shared.h"
#include "vm/array/describe.h"
#include "vm/nested/nested.h"
#include "vm/values/list.h"
#include "vm/values/record.h"
#include "vm/vm.h"

// --- Names ------------------------------------------------------------------

// A column without a name is called c and its number, from c0 on.
static bool add_column(tl_vm *vm, tl_csv_table *t, const char *name,
                       size_t nbytes) {
  if (!tl_make_room(vm, &t->targets, NULL, &t->capacity, (size_t)t->count,
                    sizeof *t->targets, "the columns of a table"))
    return false;
  tl_string *string = nbytes > 0
                          ? tl_string_new(vm, name, nbytes)
                          : tl_string_format(vm, "c%lld", (long long)t->count);
  if (!string)
    return false;
  t->targets[t->count++] = (tl_csv_target){
      .name = string, .array = tl_none(), .missing = tl_none(), .wanted = true};
  return true;
}

// The columns of the first row, by what its cells say; without a header they
// are numbered, and the row is read again.
static bool read_names(tl_vm *vm, tl_csv_table *t, tl_csv_part *start,
                       bool header) {
  tl_csv_part ahead = *start, *part = header ? start : &ahead;
  tl_csv_cell cell;
  do {
    part->fault_cell = t->count;
    if (!tl_csv_next(&t->source, part, &cell))
      return tl_csv_table_fail(t, part);
    const char *name = cell.text;
    size_t nbytes = header ? cell.nbytes : 0;
    tl_csv_trim(&name, &nbytes);
    if (!add_column(vm, t, name, nbytes))
      return false;
  } while (!cell.last);
  return true;
}

// --- Which columns ----------------------------------------------------------

// Fails (kind value) where two columns have one name: a record could not have
// both. They are found with a record, whose keys are hashed.
static bool check_names(tl_vm *vm, const tl_csv_table *t) {
  tl_record *seen = tl_record_new(vm, t->count);
  bool ok = seen != NULL;
  for (int64_t i = 0; ok && i < t->count; i++) {
    tl_slot none = tl_none(), name = tl_own_string(t->targets[i].name);
    if (tl_record_find(seen, t->targets[i].name) >= 0)
      ok = tl_fail(vm, TALLY_ERR_VALUE,
                   "read_csv: \"%s\" has two columns "
                   "named \"%s\"; read it with header: false, skip: 1",
                   t->path, t->targets[i].name->text);
    else
      ok = tl_record_set_key(vm, &seen, &name, &none);
  }
  // The names were only lent to it.
  if (seen) {
    seen->length = 0;
    tl_drop(vm, tl_own_record(seen));
  }
  return ok;
}

// The column of that name, unless it was given away; NULL: there is none.
static tl_csv_target *named_column(const tl_csv_table *t,
                                   const tl_string *name) {
  for (int64_t k = 0; k < t->count; k++)
    if (t->targets[k].name && tl_string_equal(t->targets[k].name, name))
      return &t->targets[k];
  return NULL;
}

// The same, which there must be: else fails (kind value).
static tl_csv_target *find_column(tl_vm *vm, const tl_csv_table *t,
                                  const tl_string *name) {
  tl_csv_target *column = named_column(t, name);
  if (column == NULL)
    tl_fail(vm, TALLY_ERR_VALUE, "read_csv: \"%s\" has no column \"%s\"",
            t->path, name->text);
  return column;
}

// A copy of the name; on failure the column has none, which tl_csv_table_close
// allows for.
static bool rename_column(tl_vm *vm, tl_csv_target *column,
                          const tl_string *name) {
  tl_drop(vm, tl_own_string(column->name));
  column->name = tl_string_new(vm, name->text, name->length);
  return column->name != NULL;
}

// What a list of names says of the columns: that they are wanted, that they
// have dates, or, in order, what they are called.
typedef enum naming { WANTED, DATES, NAMES } naming;

// Reads the argument columns or dates, a list of strings or none.
static bool read_list(tl_vm *vm, tl_csv_table *t, tl_slot s, naming how) {
  const char *argument = how == DATES ? "dates" : "columns";
  const char *each = how == DATES ? "each of the dates" : "each of the columns";
  if (tl_is_none(s))
    return true;
  if (!tl_is_list(s))
    return tl_arg_fail(vm, "read_csv", argument, "a list of strings", s);
  if (how == NAMES && s.list->length != t->count)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "read_csv: columns has %lld names, "
                   "\"%s\" has %lld columns",
                   (long long)s.list->length, t->path, (long long)t->count);
  for (int64_t i = 0; how == WANTED && i < t->count; i++)
    t->targets[i].wanted = false;
  for (int64_t i = 0; i < s.list->length; i++) {
    tl_string *name;
    if (!tl_arg_string(vm, "read_csv", each, s.list->items[i], &name))
      return false;
    tl_csv_target *column =
        how == NAMES ? &t->targets[i] : find_column(vm, t, name);
    if (column == NULL || (how == NAMES && !rename_column(vm, column, name)))
      return false;
    column->wanted |= how == WANTED;
    if (how == DATES)
      column->learned.kind = TL_CSV_DATES;
  }
  return true;
}

// With a header columns selects, without one it names; dates have the names
// that there are then.
static bool choose_columns(tl_vm *vm, tl_csv_table *t, tl_slot columns,
                           tl_slot dates, bool header) {
  return read_list(vm, t, columns, header ? WANTED : NAMES) &&
         check_names(vm, t) && read_list(vm, t, dates, DATES);
}

// --- The record -------------------------------------------------------------

// A column with flags as one of ?T.
static bool pair_column(tl_vm *vm, tl_csv_target *column) {
  tl_slot values = column->array, mask = column->missing;
  column->array = column->missing = tl_none();
  return tl_nested_pair(vm, TL_FORM_OPTION, 1, &mask, &values, &column->array);
}

// Moves the column's array and name into the record; both leave the table, so
// that it does not drop them again.
static bool set_column(tl_vm *vm, tl_record **record, tl_csv_target *column) {
  if (!tl_is_none(column->missing) && !pair_column(vm, column))
    return false;
  tl_slot value = column->array;
  column->array = tl_none();
  // The name goes along: the columns' list needs it no more.
  tl_slot name = tl_own_string(column->name);
  column->name = NULL;
  bool ok = tl_record_set_key(vm, record, &name, &value);
  tl_drop(vm, name);
  if (!ok)
    tl_drop(vm, value);
  return ok;
}

// A column that is asked for twice comes once, at its first place.
static bool make_record(tl_vm *vm, tl_csv_table *t, tl_slot order,
                        tl_slot *out) {
  tl_record *record = tl_record_new(vm, t->count);
  bool ok = record != NULL;
  // In the order asked for, else that of the file.
  for (int64_t i = 0; ok && tl_is_list(order) && i < order.list->length; i++) {
    tl_csv_target *column = named_column(t, order.list->items[i].string);
    if (column && !tl_is_none(column->array))
      ok = set_column(vm, &record, column);
  }
  for (int64_t i = 0; ok && i < t->count; i++)
    if (!tl_is_none(t->targets[i].array))
      ok = set_column(vm, &record, &t->targets[i]);
  return tl_record_give(vm, record, ok, out);
}

// --- Types ------------------------------------------------------------------

// The column of a type's field: of its name, of a tuple at its place.
static tl_csv_target *field_column(tl_vm *vm, tl_csv_table *t,
                                   const tl_type *type, int64_t field) {
  if (type->kind == TL_TYPE_TUPLE)
    return &t->targets[field];
  return find_column(vm, t, type->fields[field].name);
}

// Fails (kind type) for a type that no cell holds, such as a complex dtype. The
// kind and the gaps are set before the scan, which then begins with them.
static bool give_type(tl_vm *vm, const tl_type_field *field,
                      tl_csv_target *column) {
  if (!column)
    return false;
  if (!tl_csv_can_hold(field->type)) {
    tl_string *text = tl_type_text(vm, field->type);
    if (!text)
      return false;
    tl_fail(vm, TALLY_ERR_TYPE,
            "read_csv: field %s of type is %s: a cell holds a real number, a "
            "bool or a text, or ?T of them",
            field->name->text, text->text);
    tl_drop(vm, tl_own_string(text));
    return false;
  }
  column->type = field->type;
  column->wanted = true;
  column->learned.kind = tl_csv_kind_of(field->type);
  column->learned.gap = field->type->kind == TL_TYPE_OPTION;
  return true;
}

// The type argument says which columns are read, and as what. Without names of
// their own they have those of its fields.
static bool apply_type(tl_vm *vm, tl_csv_table *t, tl_type *type, bool named) {
  const bool ordered = !named || type->kind == TL_TYPE_TUPLE;
  if (ordered && type->field_count != t->count)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "read_csv: type has %lld fields, \"%s\" has %lld columns",
                   (long long)type->field_count, t->path, (long long)t->count);
  for (int64_t k = 0; k < t->count; k++) {
    t->targets[k].wanted = false;
    if (!named && !rename_column(vm, &t->targets[k], type->fields[k].name))
      return false;
  }
  for (int64_t i = 0; i < type->field_count; i++)
    if (!give_type(vm, &type->fields[i], field_column(vm, t, type, i)))
      return false;
  return true;
}

// A cell that is not of the type is found by a second scan, which names it.
static bool convert_column(tl_vm *vm, tl_csv_table *t, tl_csv_target *column) {
  if (!tl_csv_convert(vm, column->type, column->learned.kind, &column->missing,
                      &column->array))
    return vm->error.status == TALLY_OK && tl_csv_table_fail_type(t);
  if (column->type->kind == TL_TYPE_OPTION)
    return pair_column(vm, column);
  tl_clear(vm, &column->missing);
  return true;
}

// Whether structs of that type are one block, in which text lies in place.
static bool has_text_in_place(const tl_type *type) {
  bool any = false;
  for (int64_t i = 0; i < type->field_count; i++) {
    const tl_type *field = type->fields[i].type;
    if (field->kind == TL_TYPE_OPTION ||
        (field->kind == TL_TYPE_DTYPE && field->dtype == TL_STRING))
      return false;
    any = any || field->kind != TL_TYPE_DTYPE;
  }
  return any;
}

// Columns are joined as they are; structs in which text lies in place are one
// block, to which they are converted.
static bool make_structs(tl_vm *vm, tl_csv_table *t, tl_type *type,
                         tl_slot *out) {
  for (int64_t k = 0; k < t->count; k++)
    if (t->targets[k].type && !convert_column(vm, t, &t->targets[k]))
      return false;
  tl_slot *columns = tl_slots_new(vm, type->field_count);
  if (columns == NULL)
    return false;
  for (int64_t i = 0; i < type->field_count; i++)
    columns[i] = tl_borrow(field_column(vm, t, type, i)->array);
  bool ok = tl_struct_like(vm, type, columns, out);
  tl_slots_free(vm, columns, type->field_count);
  if (!ok || !has_text_in_place(type))
    return ok;
  tl_slot loose = *out;
  ok = tl_struct_convert(vm, type, loose, out);
  tl_drop(vm, loose);
  return ok;
}

// --- Missing values ---------------------------------------------------------

// What the argument missing says: whether gaps are missing values, and which
// texts are gaps beside none.
typedef struct gaps {
  bool wanted;
  tl_csv_mark *marks;  // of the argument's strings; owned
  int64_t count;
} gaps;

// The marks borrow their texts from the argument.
static void gaps_close(tl_vm *vm, gaps *g) {
  tl_free(vm, g->marks, (size_t)g->count * sizeof *g->marks);
}

// Must be closed, also after a failure. Marks are without the blanks at their
// ends, as cells are compared without theirs.
static bool read_gaps(tl_vm *vm, tl_slot *s, gaps *g) {
  if (tl_is_bool(*s)) {
    g->wanted = s->i != 0;
    return true;
  }
  const bool one = tl_is_string(*s);
  if (!tl_arg_names(vm, s))
    return false;
  if (!tl_is_list(*s) && !one)
    return tl_arg_fail(vm, "read_csv", "missing",
                       "true, false, a text or a list of texts", *s);
  const int64_t count = one ? 1 : s->list->length;
  g->wanted = true;
  if (count == 0)
    return true;
  g->marks = tl_alloc(vm, (size_t)count * sizeof *g->marks, "missing texts");
  if (g->marks == NULL)
    return false;
  g->count = count;
  for (int64_t i = 0; i < count; i++) {
    tl_csv_mark *mark = &g->marks[i];
    tl_string *text;
    if (!tl_arg_string(vm, "read_csv", "each of missing",
                       one ? *s : s->list->items[i], &text))
      return false;
    *mark = (tl_csv_mark){text->text, text->length};
    tl_csv_trim(&mark->text, &mark->nbytes);
  }
  return true;
}

// --- read_csv ---------------------------------------------------------------

// Lines of the file, and not rows: a quote does not join them.
static void skip_lines(const tl_csv_table *t, tl_csv_part *part,
                       int64_t count) {
  for (; count > 0 && part->at < t->source.end; count--) {
    while (part->at < t->source.end && *part->at != '\n' && *part->at != '\r')
      part->at++;
    tl_csv_skip_line_end(&t->source, part);
  }
}

// Whether the text so far has all of a row. What is wrong in it is told when it
// is read.
static bool pass_row(const tl_csv_table *t, tl_csv_part *part) {
  tl_csv_cell cell = {.last = false};
  if (!tl_csv_has_row(&t->source, part))
    return false;
  while (!cell.last)
    if (!tl_csv_next(&t->source, part, &cell))
      return part->fault != TL_CSV_OPEN_QUOTE;
  return true;
}

// Goes to the first row behind [skip] lines, of which and of the next one the
// window then has the whole text.
static bool find_rows(tl_csv_table *t, int64_t skip, tl_csv_part *part) {
  for (;;) {
    const tl_csv_source *s = &t->source;
    bool marked =
        s->end - s->text >= 3 && memcmp(s->text, "\xef\xbb\xbf", 3) == 0;
    *part = (tl_csv_part){
        .at = s->text + (marked ? 3 : 0), .to = s->end, .line = 1};
    skip_lines(t, part, skip);
    tl_csv_part ahead = *part;
    if (t->window.last || (pass_row(t, &ahead) && pass_row(t, &ahead)))
      break;
    if (!tl_csv_table_more(t))
      return false;
  }
  return tl_csv_has_row(&t->source, part) ||
         tl_fail(t->vm, TALLY_ERR_VALUE, "read_csv: \"%s\" has no rows",
                 t->path);
}

// The structs of args[8], or with none a record of columns.
static bool read_table(tl_vm *vm, tl_csv_table *t, tl_csv_part *start,
                       tl_slot *args, bool header, const gaps *missing,
                       tl_slot *out) {
  tl_type *type = tl_is_none(args[8]) ? NULL : args[8].type;
  if (!read_names(vm, t, start, header) ||
      !choose_columns(vm, t, args[3], args[5], header) ||
      (type && !apply_type(vm, t, type, header || !tl_is_none(args[3]))))
    return false;
  // Names of columns are no values: only now.
  if (missing->count > 0)
    tl_csv_mark_missing(&t->source, missing->marks, missing->count);
  if (!tl_csv_table_read(t, start))
    return false;
  if (type)
    return make_structs(vm, t, type, out);
  return make_record(vm, t, args[3], out);
}

// A type has fields, and says itself which columns are read and as what.
static bool check_type(tl_vm *vm, const tl_slot *args, bool header) {
  if (tl_is_none(args[8]))
    return true;
  if (!tl_is_type(args[8]) || !tl_type_has_fields(args[8].type))
    return tl_arg_fail(vm, "read_csv", "type",
                       "a type with fields, such as {a: int8, b: ?float64}",
                       args[8]);
  if (tl_is_none(args[5]) && (!header || tl_is_none(args[3])))
    return true;
  return tl_fail(vm, TALLY_ERR_VALUE,
                 "read_csv: type says which columns are read, and as what: "
                 "leave %s out",
                 tl_is_none(args[5]) ? "columns" : "dates");
}

// path, header, sep, columns, skip, dates, rows, missing, type
static bool read_csv(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const char *path;
  bool header;
  gaps missing = {.marks = NULL};
  char separator;
  int64_t skip;
  tl_csv_part start;
  tl_csv_table t = {.most = INT64_MAX};
  if (!tl_arg_path(vm, "read_csv", args[0], &path) ||
      !tl_arg_names(vm, &args[3]) || !tl_arg_names(vm, &args[5]) ||
      !tl_arg_bool(vm, "read_csv", "header", args[1], &header) ||
      !tl_csv_separator(vm, "read_csv", args[2], &separator) ||
      !tl_arg_count(vm, "read_csv", "skip", args[4], &skip) ||
      (!tl_is_none(args[6]) &&
       !tl_arg_count(vm, "read_csv", "rows", args[6], &t.most)) ||
      !check_type(vm, args, header))
    return false;
  bool ok = read_gaps(vm, &args[7], &missing);
  if (ok) {
    ok = tl_csv_table_open(vm, path, separator, &t);
    t.source.missing = missing.wanted || !tl_is_none(args[8]);
    ok = ok && find_rows(&t, skip, &start) &&
         read_table(vm, &t, &start, args, header, &missing, out);
    tl_csv_table_close(vm, &t);
  }
  gaps_close(vm, &missing);
  return ok;
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_io_csv_module[] = {
    /// A table of text as a record of columns: arrays of int64, float64 or
    /// string, the first of these that holds all cells. Empty cells are NaN
    /// (in strings ""). The first row, behind skip lines, names the columns,
    /// unless header is false: then they are c0, c1, … or what columns says.
    /// With a header, columns lists those to be read. dates lists columns of
    /// dates: int64 days since 1970-01-01, or microseconds where one has a time
    /// (UTC); iinfo(int64).min for a gap. rows reads no more of them. sep is
    /// one character ("\t" for TSV); compressed files are expanded. A row with
    /// too few or too many cells is an error (kind value) with its line. With
    /// missing: true the columns with empty cells are of type ?T instead, the
    /// cells missing; a text or a list of texts, such as ("NA", "-999"), names
    /// cells that are missing too. rows(table) makes structs of it. type, of a
    /// struct or tuple, reads the columns of its fields as structs of that type
    /// (by columns, fixed_string[n] and char are strings that would fit). A cell
    /// that is none of it is a value error with its line and column, and only
    /// ?T may be empty. A file that cannot be read is an io error; one without
    /// rows, without a column that is asked for, and another sep are value
    /// errors.
    ///     io.read_csv("data.csv", sep: ";")
    {"read_csv",
     "path, header: true, sep: \",\", columns: none, skip: 0, dates: none, "
     "rows: none, missing: false, type: none",
     read_csv, TL_FILES | TL_EFFECT},
    {.name = NULL},
};
