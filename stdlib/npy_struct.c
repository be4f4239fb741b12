// Structured dtypes of NumPy: read into layouts, written from them.

#include "stdlib/npy_struct.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "vm/error.h"
#include "vm/types/layout.h"
#include "vm/memory/memory.h"

enum {
  MOST_FIELDS = TL_NPY_FIELDS,
  MOST_NAME = 200,
  MOST_DEPTH = 20,
  MOST_DIMS = 8
};

typedef struct parser {
  tl_vm *vm;
  const char *function, *path;
  const char *at, *end;
  int depth;
  bool is_text;  // the last item is of U, with more than one code point
  tl_npy_texts *texts;
  bool swapped, straight;  // whether fields of that byte order were met
} parser;

static bool is_big_endian(void) {
  const uint16_t one = 1;
  return *(const uint8_t *)&one == 0;
}

static void *fail(parser *p, const char *what) {
  tl_fail(p->vm, TALLY_ERR_VALUE,
          "%s: \"%s\" is no valid .npy file: %s in its fields", p->function,
          p->path, what);
  return NULL;
}

static bool accept(parser *p, char c) {
  while (p->at < p->end && isspace((unsigned char)*p->at)) p->at++;
  if (p->at == p->end || *p->at != c)
    return false;
  p->at++;
  return true;
}

// A string in quotes; escapes do not occur in names that NumPy writes so.
static bool read_text(parser *p, char *out, size_t room) {
  char quote = accept(p, '\'') ? '\'' : accept(p, '"') ? '"' : 0;
  size_t n = 0;
  if (quote == 0)
    return false;
  for (; p->at < p->end && *p->at != quote; p->at++) {
    if (n + 1 == room || *p->at == '\\')
      return false;
    out[n++] = *p->at;
  }
  out[n] = 0;
  return p->at++ < p->end;
}

// --- Reading ----------------------------------------------------------------

static tl_type *read_fields(parser *p);

// "<f8" as a dtype; a size of V in *padding.
static tl_type *read_item(parser *p, const char *text, int64_t *padding) {
  static const char kinds[] = "BIUFC", letters[] = "biufc";
  char order = text[0] != 0 && strchr("<>|=", text[0]) ? *text++ : '|';
  if (*text == 0)
    return fail(p, "an empty type");
  char *rest;
  long size = strtol(text + 1, &rest, 10);
  if (*rest != 0 || size < 0 || rest == text + 1)
    return fail(p, "a type without a size");
  if (*text == 'V') {
    *padding = size;
    return tl_type_of_dtype(p->vm, TL_UINT8);
  }
  if (*text == 'S' && size > 0) {
    tl_type model = {.kind = TL_TYPE_FIXED_STRING, .size = size};
    return tl_type_intern(p->vm, &model);
  }
  bool big = order == '>' || (order == '=' && is_big_endian());
  if (order != '|' && (size > 1 || *text == 'U'))
    *(big != is_big_endian() ? &p->swapped : &p->straight) = true;
  tl_type *one = *text == 'U' && size > 0
                     ? tl_type_intern(p->vm, &(tl_type){.kind = TL_TYPE_CHAR})
                     : NULL;
  p->is_text = one != NULL && size > 1;
  if (p->is_text)
    one = tl_type_intern(
        p->vm, &(tl_type){.kind = TL_TYPE_FIXED, .size = size, .of = one});
  if (*text == 'U' && size > 0)
    return one;
  const char *letter = strchr(letters, *text);
  for (int d = 0; letter && d < TL_STRING; d++) {
    if (tl_dtypes[d].kind == kinds[letter - letters] &&
        tl_dtypes[d].itemsize == size)
      return tl_type_of_dtype(p->vm, (tl_dtype)d);
  }
  tl_fail(p->vm, TALLY_ERR_TYPE,
          "%s: \"%s\" has a field of type \"%.20s\", which Tally does not "
          "have",
          p->function, p->path, text);
  return NULL;
}

// (3, 4) or 3 behind a type: its fixed dimensions.
static tl_type *read_shape(parser *p, tl_type *of) {
  int64_t shape[MOST_DIMS];
  int ndim = 0;
  bool tuple = accept(p, '(');
  while (tuple ? !accept(p, ')') : ndim == 0) {
    while (p->at < p->end && isspace((unsigned char)*p->at)) p->at++;
    if (ndim == MOST_DIMS || p->at == p->end || !isdigit((unsigned char)*p->at))
      return fail(p, "a shape that is none");
    int64_t n = 0;
    for (; p->at < p->end && isdigit((unsigned char)*p->at); p->at++) {
      if (n > INT32_MAX)
        return fail(p, "a shape that is too large");
      n = n * 10 + (*p->at - '0');
    }
    shape[ndim++] = n;
    if (tuple)
      accept(p, ',');
  }
  while (ndim > 0 && of != NULL) {
    tl_type model = {.kind = TL_TYPE_FIXED, .size = shape[--ndim], .of = of};
    of = tl_type_intern(p->vm, &model);
  }
  return of;
}

// ('x', '<f8') or ('y', [ … ], (3,)); *padding is -1 for a field.
static bool read_field(parser *p, tl_type_field *field, int64_t *padding) {
  char name[MOST_NAME], type[32];
  *padding = -1;
  if (!accept(p, '(') || !read_text(p, name, sizeof name) || !accept(p, ','))
    return fail(p, "no (name, type)") != NULL;
  if (accept(p, '['))
    field->type = read_fields(p);
  else if (read_text(p, type, sizeof type))
    field->type = read_item(p, type, padding);
  else
    return fail(p, "no type") != NULL;
  if (field->type != NULL && accept(p, ',') && !accept(p, ')')) {
    field->type = read_shape(p, field->type);
    accept(p, ',');
    if (field->type != NULL && !accept(p, ')'))
      return fail(p, "no end of a field") != NULL;
  } else if (field->type != NULL && p->at[-1] != ')' && !accept(p, ')')) {
    return fail(p, "no end of a field") != NULL;
  }
  if (field->type == NULL)
    return false;
  size_t bad;
  if (!tl_utf8_check(name, strlen(name), &bad))
    return fail(p, "a name that is no UTF-8") != NULL;
  if (*padding >= 0)
    return true;
  field->name = tl_string_from(p->vm, name);
  return field->name != NULL;
}

static bool is_new(parser *p, const tl_type_field *fields, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    if (tl_string_equal(fields[i].name, fields[count].name))
      return fail(p, "two equal names") != NULL;
  }
  return true;
}

// Texts are read in the outermost struct, one for each item of it.
static bool field_is_text(const parser *p, const tl_type_field *field) {
  return p->depth == 1 && field->type->of->kind == TL_TYPE_CHAR;
}

static bool fail_text(parser *p) {
  return tl_fail(p->vm, TALLY_ERR_TYPE,
                 "%s: \"%s\" has a field of type U with a shape, or within "
                 "another field, which Tally does not have",
                 p->function, p->path);
}

static tl_type *read_fields(parser *p) {
  tl_vm *vm = p->vm;
  size_t nbytes = MOST_FIELDS * (sizeof(tl_type_field) + sizeof(int64_t));
  if (p->depth == MOST_DEPTH)
    return fail(p, "structs nested too deep");
  tl_type_field *fields = tl_alloc(vm, nbytes, "fields");
  if (fields == NULL)
    return NULL;
  p->depth++;
  int64_t *offsets = (int64_t *)(void *)(fields + MOST_FIELDS);
  int64_t count = 0, size = 0, padding;
  bool ok = true;
  while (ok && !accept(p, ']')) {
    ok = count < MOST_FIELDS || fail(p, "too many names") != NULL;
    ok = ok && read_field(p, &fields[count], &padding);
    if (!ok)
      break;
    if (p->is_text) {
      if (field_is_text(p, &fields[count]))
        tl_npy_set_text(p->texts, count);
      else
        ok = fail_text(p);
      p->is_text = false;
    }
    accept(p, ',');
    if (padding >= 0) {
      ok = !__builtin_add_overflow(size, padding, &size) ||
           fail(p, "a size that is too large") != NULL;
      continue;
    }
    offsets[count] = size;
    int64_t more = tl_type_size(fields[count].type);
    count++;  // its name is ours from here on
    ok = ok && is_new(p, fields, count - 1) &&
         (!__builtin_add_overflow(size, more, &size) ||
          fail(p, "a size that is too large") != NULL);
  }
  ok = ok && (count > 0 || fail(p, "no names") != NULL);
  tl_type model = {
      .kind = TL_TYPE_STRUCT, .field_count = count, .fields = fields};
  tl_type *plain = ok ? tl_type_intern(vm, &model) : NULL;
  tl_type *made =
      plain != NULL ? tl_layout_given(vm, plain, offsets, size) : NULL;
  for (int64_t i = 0; i < count; i++)
    tl_drop(vm, tl_own_string(fields[i].name));
  tl_free(vm, fields, nbytes);
  p->depth--;
  return made;
}

tl_type *tl_npy_read_fields(tl_vm *vm, const char *function, const char *path,
                            const char **at, const char *end, bool *swapped,
                            tl_npy_texts *texts) {
  parser p = {.vm = vm,
              .function = function,
              .path = path,
              .at = *at,
              .end = end,
              .texts = texts};
  tl_type *layout = read_fields(&p);
  *at = p.at;
  *swapped = p.swapped;
  if (layout != NULL && p.swapped && p.straight) {
    tl_fail(vm, TALLY_ERR_TYPE,
            "%s: \"%s\" has fields of both byte orders, which are not read",
            function, path);
    return NULL;
  }
  return layout;
}

bool tl_npy_has_bools(const tl_type *type) {
  while (type->kind == TL_TYPE_FIXED) type = type->of;
  if (!tl_type_has_fields(type))
    return type->kind == TL_TYPE_DTYPE && type->dtype == TL_BOOL;
  for (int64_t i = 0; i < type->field_count; i++) {
    if (tl_npy_has_bools(type->fields[i].type))
      return true;
  }
  return false;
}

void tl_npy_swap_bytes(char *data, size_t width, size_t count) {
  for (; count > 0; count--, data += width)
    for (size_t i = 0; i < width / 2; i++) {
      char byte = data[i];
      data[i] = data[width - 1 - i];
      data[width - 1 - i] = byte;
    }
}

static void settle_number(char *at, tl_dtype dtype, bool swapped) {
  size_t size = tl_itemsize(dtype);
  size_t width = tl_dtype_is_complex(dtype) ? size / 2 : size;
  // Kernels rely on bools being 0 or 1; a file may hold any byte.
  if (dtype == TL_BOOL)
    *at = *at != 0;
  else if (swapped)
    tl_npy_swap_bytes(at, width, size / width);
}

void tl_npy_settle(char *at, const tl_type *type, bool swapped) {
  if (type->kind == TL_TYPE_DTYPE)
    settle_number(at, type->dtype, swapped);
  else if (type->kind == TL_TYPE_CHAR && swapped)
    tl_npy_swap_bytes(at, (size_t)tl_type_size(type), 1);
  int64_t step = type->kind == TL_TYPE_FIXED ? tl_type_size(type->of) : 0;
  for (int64_t i = 0; type->kind == TL_TYPE_FIXED && i < type->size; i++)
    tl_npy_settle(at + i * step, type->of, swapped);
  for (int64_t i = 0; tl_type_has_fields(type) && i < type->field_count; i++)
    tl_npy_settle(at + type->offsets[i], type->fields[i].type, swapped);
}

// --- Writing ----------------------------------------------------------------

static void add_name(tl_text *text, const tl_string *name) {
  tl_text_puts(text, "('");
  for (size_t i = 0; i < name->length; i++) {
    if (name->text[i] == '\'' || name->text[i] == '\\')
      tl_text_putc(text, '\\');
    tl_text_putc(text, name->text[i]);
  }
  tl_text_puts(text, "', ");
}

static void add_padding(tl_text *text, int64_t nbytes) {
  if (nbytes > 0)
    tl_text_printf(text, "('', '|V%lld'), ", (long long)nbytes);
}

static void add_dtype(tl_text *text, tl_dtype dtype) {
  static const char letters[] = {
      ['B'] = 'b', ['I'] = 'i', ['U'] = 'u', ['F'] = 'f', ['C'] = 'c'};
  char order = tl_itemsize(dtype) == 1 ? '|' : is_big_endian() ? '>' : '<';
  tl_text_printf(text, "'%c%c%zu'", order, letters[(int)tl_dtypes[dtype].kind],
                 tl_itemsize(dtype));
}

bool tl_npy_write_fields(tl_vm *vm, tl_text *text, const tl_type *layout,
                         const tl_npy_texts *texts) {
  const char order = is_big_endian() ? '>' : '<';
  int64_t end = 0;
  tl_text_putc(text, '[');
  for (int64_t i = 0; i < layout->field_count; i++) {
    const tl_type_field *field = &layout->fields[i];
    const tl_type *item = field->type;
    if (layout->offsets[i] < end) {
      return tl_fail(vm, TALLY_ERR_TYPE,
                     "write_npy: the field %s lies before the end of the one "
                     "before it; relayout(p) first",
                     field->name->text);
    }
    add_padding(text, layout->offsets[i] - end);
    end = layout->offsets[i] + tl_type_size(item);
    add_name(text, field->name);
    if (texts != NULL && tl_npy_is_text(texts, i)) {
      tl_text_printf(text, "'%cU%lld'), ", order, (long long)item->size);
      continue;
    }
    while (item->kind == TL_TYPE_FIXED) item = item->of;
    if (tl_type_has_fields(item)) {
      if (!tl_npy_write_fields(vm, text, item, NULL))
        return false;
    } else if (item->kind == TL_TYPE_FIXED_STRING) {
      tl_text_printf(text, "'|S%lld'", (long long)item->size);
    } else if (item->kind == TL_TYPE_CHAR) {
      tl_text_printf(text, "'%cU1'", order);
    } else {
      add_dtype(text, item->dtype);
    }
    if (item != field->type) {
      tl_text_puts(text, ", (");
      for (const tl_type *t = field->type; t != item; t = t->of)
        tl_text_printf(text, "%lld, ", (long long)t->size);
      tl_text_putc(text, ')');
    }
    tl_text_puts(text, "), ");
  }
  add_padding(text, layout->itemsize - end);
  tl_text_putc(text, ']');
  return !text->failed;
}
