// Dtypes of NumPy: read into ours and into layouts of structs, written from
// them.
//
//
//   [('x', '<f8'), ('', '|V4'), ('s', '<U4'), ('m', '<i4', (2, 3))]
//
//   x   float64                 at 0
//       padding, no field       at 8
//   s   4 * char                at 12
//   m   2 * 3 * int32           at 28      an item has 52 bytes

#include "stdlib/npy_struct.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vm/error.h"
#include "vm/types/layout.h"
#include "vm/memory/memory.h"

// Limits for what a file may ask for. NumPy writes nothing near them; they set
// bounds to memory and recursion for a file that lies.
enum {
  MOST_FIELDS = TL_NPY_FIELDS,
  MOST_NAME = 200,
  MOST_DEPTH = 20,
  MOST_DIMS = 8
};

// --- The text ---------------------------------------------------------------

bool tl_npy_accept(tl_npy_source *s, char c) {
  while (s->at < s->end && isspace((unsigned char)*s->at)) s->at++;
  if (s->at == s->end || *s->at != c)
    return false;
  s->at++;
  return true;
}

// The string is copied up to its quote; s->at stands behind that, or at the end
// of the text, which is an error.
bool tl_npy_read_quoted(tl_npy_source *s, char *out, size_t room) {
  char quote = tl_npy_accept(s, '\'') ? '\'' : tl_npy_accept(s, '"') ? '"' : 0;
  size_t n = 0;
  if (quote == 0)
    return false;
  for (; s->at < s->end && *s->at != quote; s->at++) {
    if (n + 1 >= room || *s->at == '\\')
      return false;
    out[n++] = *s->at;
  }
  out[n] = 0;
  return s->at++ < s->end;
}

// Whether a decimal digit comes next.
static bool at_digit(const tl_npy_source *s) {
  return s->at < s->end && isdigit((unsigned char)*s->at);
}

// At an overflow *out is undefined and the digits are read in part: the caller
// fails then.
bool tl_npy_read_length(tl_npy_source *s, int64_t *out) {
  while (s->at < s->end && isspace((unsigned char)*s->at)) s->at++;
  if (!at_digit(s))
    return false;
  for (*out = 0; at_digit(s); s->at++)
    if (__builtin_mul_overflow(*out, 10, out) ||
        __builtin_add_overflow(*out, *s->at - '0', out))
      return false;
  return true;
}

// --- Dtypes -----------------------------------------------------------------

bool tl_npy_is_swapped(char order) {
  return (order == '>' || (order == '=' && tl_is_big_endian())) !=
         tl_is_big_endian();
}

// NumPy's letters of our kinds.
static const char kinds[] = "BIUFC", letters[] = "biufc";

// The pair is looked up among our dtypes: "f2" and "f16" have none.
tl_dtype tl_npy_dtype(char letter, long size) {
  const char *at = letter != 0 ? strchr(letters, letter) : NULL;
  for (int d = 0; at && d < TL_STRING; d++)
    if (tl_dtypes[d].kind == kinds[at - letters] &&
        tl_dtypes[d].itemsize == size)
      return (tl_dtype)d;
  return TL_DTYPE_COUNT;
}

int tl_npy_spell_dtype(tl_dtype dtype, char *out, size_t room) {
  size_t size = tl_itemsize(dtype);
  char letter = letters[strchr(kinds, tl_dtypes[dtype].kind) - kinds];
  return snprintf(out, room, "'%c%c%zu'",
                  size == 1            ? '|'
                  : tl_is_big_endian() ? '>'
                                       : '<',
                  letter, size);
}

// --- Fields -----------------------------------------------------------------

// A list of fields under way; [depth] counts the lists around it.
typedef struct parser {
  tl_vm *vm;
  tl_npy_source *source;
  int depth;
  bool is_text;  // the last item is of U, with more than one code point
  tl_npy_texts *texts;
  bool swapped, straight;  // whether fields of that byte order were met
} parser;

// Returns NULL, as a type that could not be read.
static void *fail(parser *p, const char *what) {
  tl_fail(p->vm, TALLY_ERR_VALUE,
          "%s: \"%s\" is no valid .npy file: %s in its fields", p->source->what,
          p->source->path, what);
  return NULL;
}

// Passes over the byte where it is the next one.
static bool accept(parser *p, char c) {
  return tl_npy_accept(p->source, c);
}

static tl_type *read_fields(parser *p);

// "<f8" as a dtype; a size of V in *padding.
static tl_type *read_item(parser *p, const char *text, int64_t *padding) {
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
  if (order != '|' && (size > 1 || *text == 'U'))
    *(tl_npy_is_swapped(order) ? &p->swapped : &p->straight) = true;
  tl_type *one = *text == 'U' && size > 0
                     ? tl_type_intern(p->vm, &(tl_type){.kind = TL_TYPE_CHAR})
                     : NULL;
  p->is_text = one != NULL && size > 1;
  if (p->is_text)
    one = tl_type_fixed(p->vm, size, one);
  if (*text == 'U' && size > 0)
    return one;
  tl_dtype dtype = tl_npy_dtype(*text, size);
  if (dtype != TL_DTYPE_COUNT)
    return tl_type_of_dtype(p->vm, dtype);
  tl_fail(p->vm, TALLY_ERR_TYPE,
          "%s: \"%s\" has a field of type \"%.20s\", which Tally does not "
          "have",
          p->source->what, p->source->path, text);
  return NULL;
}

// (3, 4) or 3 behind a type: its fixed dimensions.
static tl_type *read_shape(parser *p, tl_type *of) {
  int64_t shape[MOST_DIMS];
  int ndim = 0;
  bool tuple = accept(p, '(');
  while (tuple ? !accept(p, ')') : ndim == 0) {
    const char *from = p->source->at;
    int64_t n;
    if (ndim == MOST_DIMS || !tl_npy_read_length(p->source, &n))
      return fail(p, "a shape that is none");
    // The digits are limited too: zeros in front would make the text long.
    if (n / 10 > INT32_MAX || p->source->at - from > 20)
      return fail(p, "a shape that is too large");
    shape[ndim++] = n;
    if (tuple)
      accept(p, ',');
  }
  while (ndim > 0) of = tl_type_fixed(p->vm, shape[--ndim], of);
  return of;
}

// ('x', '<f8') or ('y', [ … ], (3,)); *padding is -1 for a field.
static bool read_field(parser *p, tl_type_field *field, int64_t *padding) {
  char name[MOST_NAME], type[32];
  *padding = -1;
  if (!accept(p, '(') || !tl_npy_read_quoted(p->source, name, sizeof name) ||
      !accept(p, ','))
    return fail(p, "no (name, type)") != NULL;
  if (accept(p, '['))
    field->type = read_fields(p);
  else if (tl_npy_read_quoted(p->source, type, sizeof type))
    field->type = read_item(p, type, padding);
  else
    return fail(p, "no type") != NULL;
  if (field->type != NULL && accept(p, ',') && !accept(p, ')')) {
    field->type = read_shape(p, field->type);
    accept(p, ',');
    if (field->type != NULL && !accept(p, ')'))
      return fail(p, "no end of a field") != NULL;
  } else if (field->type != NULL && p->source->at[-1] != ')' &&
             !accept(p, ')')) {
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

// Whether the name of field [count] differs from all before it. Quadratic, for
// 1024 fields at most.
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

// Fails (kind type): a text of several code points inside of an inner struct or
// a fixed dimension has no column that could become strings.
static bool fail_text(parser *p) {
  return tl_fail(p->vm, TALLY_ERR_TYPE,
                 "%s: \"%s\" has a field of type U with a shape, or within "
                 "another field, which Tally does not have",
                 p->source->what, p->source->path);
}

// Reads up to the closing bracket. Offsets add up as NumPy packs fields, with
// the unnamed ones as gaps; the layout is made with them as given. Names are
// released at the end: the interned type has its own references.
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
    // NumPy's lists have no gaps but the unnamed fields.
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

// Mixed byte orders fail (kind type): one flag stands for all bytes of a
// struct.
tl_type *tl_npy_read_fields(tl_npy_source *source, bool *swapped,
                            tl_npy_texts *texts) {
  parser p = {.vm = source->vm, .source = source, .texts = texts};
  tl_type *layout = read_fields(&p);
  *swapped = p.swapped;
  if (layout != NULL && p.swapped && p.straight) {
    tl_fail(p.vm, TALLY_ERR_TYPE,
            "%s: \"%s\" has fields of both byte orders, which are not read",
            source->what, source->path);
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

// Recurses over the type, once for each item of the file; texts of bytes have
// no order.
void tl_npy_settle(char *at, const tl_type *type, bool swapped) {
  if (type->kind == TL_TYPE_DTYPE)
    tl_settle_items(at, type->dtype, 1, swapped);
  else if (type->kind == TL_TYPE_CHAR && swapped)
    tl_swap_bytes(at, (size_t)tl_type_size(type), 1);
  int64_t step = type->kind == TL_TYPE_FIXED ? tl_type_size(type->of) : 0;
  for (int64_t i = 0; type->kind == TL_TYPE_FIXED && i < type->size; i++)
    tl_npy_settle(at + i * step, type->of, swapped);
  for (int64_t i = 0; tl_type_has_fields(type) && i < type->field_count; i++)
    tl_npy_settle(at + type->offsets[i], type->fields[i].type, swapped);
}

// --- Writing ----------------------------------------------------------------

// A name in quotes, so that Python reads it back. Bytes above 127 stay: version
// 3 of the format is UTF-8.
static void add_name(tl_text *text, const tl_string *name) {
  tl_text_puts(text, "('");
  for (size_t i = 0; i < name->length; i++) {
    if (name->text[i] == '\'' || name->text[i] == '\\')
      tl_text_putc(text, '\\');
    tl_text_putc(text, name->text[i]);
  }
  tl_text_puts(text, "', ");
}

// A gap as an unnamed field of raw bytes, which is how NumPy writes one.
static void add_padding(tl_text *text, int64_t nbytes) {
  if (nbytes > 0)
    tl_text_printf(text, "('', '|V%lld'), ", (long long)nbytes);
}

// Only gaps say where fields are, which is why offsets must rise. Fixed
// dimensions become the shape of a field, outermost first.
bool tl_npy_write_fields(tl_vm *vm, tl_text *text, const tl_type *layout,
                         const tl_npy_texts *texts) {
  const char order = tl_is_big_endian() ? '>' : '<';
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
      char dtype[16];
      tl_npy_spell_dtype(item->dtype, dtype, sizeof dtype);
      tl_text_puts(text, dtype);
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
