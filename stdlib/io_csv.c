// Tables in text: comma-separated values, as RFC 4180 has them.
//
// csv_table.c reads the rows; what the arguments say of the columns, whose
// names are known when the first row is read, and what is made of them is
// inner/csv.tly's.
//
//   read_names ─▶ plan ─▶ take_plan ─ tl_csv_table_read ─ give_columns ─▶ table

#include <stdio.h>

#include "stdlib/csv_table.h"
#include "stdlib/csv_types.h"
#include "stdlib/families.h"
#include "stdlib/text.h"
#include "vm/bytecode/module.h"
#include "vm/nested/nested.h"

// --- Columns ----------------------------------------------------------------

// The columns of the first row, by what its cells say; without a header, or
// where a cell is empty, they are numbered from c0 on, and without one the row
// is read again. *out is a list, owned.
static bool read_names(tl_vm *vm, tl_csv_table *t, tl_csv_part *start,
                       bool header, tl_slot *out) {
  tl_csv_part ahead = *start, *part = header ? start : &ahead;
  tl_csv_cell cell = {.last = false};
  tl_list *list = tl_list_new(vm, 8);
  bool ok = list != NULL;
  while (ok && !cell.last) {
    part->fault_cell = t->count = list->length;
    if (!tl_csv_next(&t->source, part, &cell)) {
      ok = tl_csv_table_fail(t, part);
      break;
    }
    char number[24];
    const char *name = cell.text;
    size_t nbytes = header ? cell.nbytes : 0;
    tl_csv_trim(&name, &nbytes);
    if (nbytes == 0) {
      snprintf(number, sizeof number, "c%lld", (long long)list->length);
      name = number;
      nbytes = strlen(number);
    }
    ok = tl_list_push_text(vm, &list, name, nbytes);
  }
  t->count = 0;
  return tl_list_give(vm, list, ok, out);
}

// The targets of the columns, each with its name, as what its cells are scanned
// (-1: not at all) and its type, if there is one. Borrows the lists.
static bool take_columns(tl_vm *vm, tl_csv_table *t, const tl_list *names,
                         const tl_list *kinds, const tl_list *types) {
  t->capacity = (size_t)names->length;
  t->targets = tl_alloc_zeroed(vm, t->capacity * sizeof *t->targets,
                               "the columns of a table");
  if (t->targets == NULL) {
    t->capacity = 0;
    return false;
  }
  for (; t->count < names->length; t->count++) {
    const int64_t kind = kinds->items[t->count].i;
    const tl_slot type = types->items[t->count];
    tl_csv_target *target = &t->targets[t->count];
    target->name = names->items[t->count].string;
    target->array = target->missing = tl_none();
    target->wanted = kind >= 0;
    target->type = tl_is_none(type) ? NULL : type.type;
    if (kind > 0)
      target->learned.kind = (tl_csv_kind)kind;
    target->learned.gap =
        target->type != NULL && target->type->kind == TL_TYPE_OPTION;
  }
  return true;
}

// Cells that are none of the texts in the list are missing values.
static bool take_marks(tl_vm *vm, tl_csv_table *t, const tl_list *texts,
                       tl_csv_mark **out) {
  if (texts->length == 0)
    return true;
  tl_csv_mark *marks =
      tl_alloc(vm, (size_t)texts->length * sizeof *marks, "missing texts");
  *out = marks;
  for (int64_t i = 0; marks != NULL && i < texts->length; i++) {
    const tl_string *text = texts->items[i].string;
    marks[i] = (tl_csv_mark){text->text, text->length};
  }
  if (marks != NULL)
    tl_csv_mark_missing(&t->source, marks, texts->length);
  return marks != NULL;
}

// A column that was read, where it has flags as one of ?T; none of one that was
// not. A cell that is not of the type is found by a second scan, which names
// it. *out is owned.
static bool give_column(tl_vm *vm, tl_csv_table *t, tl_csv_target *column,
                        tl_slot *out) {
  const tl_type *type = column->type;
  if (type != NULL && !tl_csv_convert(vm, type, column->learned.kind,
                                      &column->missing, &column->array))
    return vm->error.status == TALLY_OK && tl_csv_table_fail_type(t);
  if (type != NULL && type->kind != TL_TYPE_OPTION)
    tl_clear(vm, &column->missing);
  tl_slot values = column->array, mask = column->missing;
  column->array = column->missing = tl_none();
  *out = values;
  return tl_is_none(mask) ||
         tl_nested_pair(vm, TL_FORM_OPTION, 1, &mask, &values, out);
}

// All columns as a list; *out is owned.
static bool give_columns(tl_vm *vm, tl_csv_table *t, tl_slot *out) {
  tl_list *list = tl_list_new(vm, t->count);
  bool ok = list != NULL;
  for (int64_t k = 0; ok && k < t->count; k++) {
    tl_slot column;
    ok = give_column(vm, t, &t->targets[k], &column) &&
         tl_list_push_own(vm, &list, column);
  }
  return tl_list_give(vm, list, ok, out);
}

// --- Types ------------------------------------------------------------------

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

// What the fields of a type are scanned as (-1: no cell holds such values):
// (name, kind, type) of each, whether it is a tuple, and whether structs of it
// are converted to. None for a value that is no such type.
static bool csv_fields(tl_vm *vm, tl_slot *args, tl_slot *out) {
  *out = tl_none();
  if (!tl_is_type(args[0]) || !tl_type_has_fields(args[0].type))
    return true;
  const tl_type *type = args[0].type;
  tl_list *list = tl_list_new(vm, type->field_count + 2);
  bool ok = list != NULL;
  for (int64_t i = 0; ok && i < type->field_count; i++) {
    const tl_type_field *field = &type->fields[i];
    const bool fits = tl_csv_can_hold(field->type);
    tl_list *row = tl_list_new(vm, 3);
    ok = row != NULL;
    if (!ok)
      break;
    row->items[0] = tl_retain(vm, tl_borrow(tl_own_string(field->name)));
    row->items[1] =
        tl_weak_int(fits ? (int64_t)tl_csv_kind_of(field->type) : -1);
    row->items[2] = tl_type_slot(field->type);
    row->length = 3;
    ok = tl_list_push_own(vm, &list, tl_own_list(row));
  }
  ok = ok &&
       tl_list_push_own(vm, &list, tl_bool(type->kind == TL_TYPE_TUPLE)) &&
       tl_list_push_own(vm, &list, tl_bool(has_text_in_place(type)));
  return tl_list_give(vm, list, ok, out);
}

const tl_builtin tl_csv_module[] = {
    // What read_csv makes of the fields of a type.
    {"csv_fields", "type", csv_fields, .takes = TL_FORMS},
    {.name = NULL},
};

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

// Calls a function of inner/csv; an error gets the name of the function that
// was called.
static bool call_csv(tl_vm *vm, const char *function, int count, tl_slot *args,
                     tl_slot *out) {
  if (tl_call_embedded(vm, "inner/csv", function, count, args, out))
    return true;
  vm->error.named = false;
  return false;
}

// The table behind the row of names. [plan] is what the arguments say: names,
// kinds and types of the columns, texts that are missing values, whether there
// are any, and what to make of the columns.
static bool read_table(tl_vm *vm, tl_csv_table *t, const tl_csv_part *start,
                       tl_slot plan, tl_slot *out) {
  const tl_slot *part = plan.list->items;
  tl_csv_mark *marks = NULL;
  tl_slot given[] = {tl_none(), tl_borrow(plan)};
  t->source.missing = part[4].i != 0;
  bool ok = take_columns(vm, t, part[0].list, part[1].list, part[2].list) &&
            take_marks(vm, t, part[3].list, &marks) &&
            tl_csv_table_read(t, start) && give_columns(vm, t, &given[0]) &&
            call_csv(vm, "table", 2, given, out);
  tl_free(vm, marks, (size_t)part[3].list->length * sizeof *marks);
  return ok;
}

// path, header, sep, columns, skip, dates, rows, missing, type
static bool read_csv(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const char *path = tl_file_path(args[0]);
  char separator;
  tl_csv_part start;
  tl_csv_table t = {.most = tl_is_none(args[6]) ? INT64_MAX : args[6].i};
  tl_slot plan, given[] = {tl_none(), tl_none(), tl_none()};
  tl_slot asked[] = {tl_borrow(args[1]), tl_borrow(args[3]), tl_borrow(args[5]),
                     tl_borrow(args[7]), tl_borrow(args[8])};
  if (!tl_csv_separator(vm, "read_csv", args[2], &separator) ||
      !call_csv(vm, "wanted", 5, asked, &given[2]))
    return false;
  // The call takes what it is given.
  bool ok = tl_csv_table_open(vm, path, separator, &t) &&
            find_rows(&t, args[4].i, &start) &&
            read_names(vm, &t, &start, args[1].i != 0, &given[1]) &&
            tl_string_give(tl_string_from(vm, path), &given[0]);
  if (!ok) {
    tl_drop(vm, given[1]);
    tl_drop(vm, given[2]);
  }
  ok = ok && call_csv(vm, "plan", 3, given, &plan) &&
       tl_drop_after(vm, read_table(vm, &t, &start, plan, out), &plan);
  tl_csv_table_close(vm, &t);
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
     read_csv, TL_FILES | TL_EFFECT, .types = "pbS.n.N"},
    {.name = NULL},
};
