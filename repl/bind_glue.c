// Writes the C of a native module from declarations: for each function a
// tally_function that reads its arguments, calls, looks whether that failed,
// and makes values of the results. What these share is in tally_bind.h.
//
//     write_function   variables ─ arguments ─ call ─ failure ─ results ─ done:
//
// Every way out of a function leads through its label done, where what was made
// and did not become a result is released again. Of
//
//     function even = code even(borrow int[n] x, int n, out fresh int[n] y)
//
// it makes, with the checks left out:
//
//     static tally_status call_even(vm, context, count, args, out) {
//       tally_value made[1] = {{0, 0}};             what becomes the results
//       int code = 0, n = 0, *y = 0;                named as in the declaration
//       const int *x = 0;
//       bind_array x_array = {.made = {0, 0}};      the argument as C sees it
//       status = bind_items(vm, "m.even: x", args[0], "int32", …, &x_array);
//       x = x_array.of.data;
//       n = (int)(x_array.of.size);                 hidden, so after all others
//       status = bind_allocate(…, &memory);         y
//       code = even(x, n, y);
//       if (code != 0) { tally_raise(…); goto done; }
//       status = bind_from_items(vm, y, …, &made[0]);
//       y = NULL;                                   the value has it now
//       *out = made[0];
//     done:
//       free(y), tally_release(vm, x_array.made), …
//       return status;
//     }
//
// Expressions of the declarations stand in it as they were written, so they see
// these variables; is_reserved (bind_read.c) has the names that they may not
// take. What is written is C11 and has no warnings at -Wall, but for those of
// the expressions.

#include "repl/bind.h"

// What is written, and for which file and function.
typedef struct writer {
  FILE *out;
  const bind_file *file;
  const bind_function *f;
  int results;  // of the function
} writer;

// For names that are not from the file.
static bool same_word(span a, const char *b) {
  return same(a, spell(b));
}

// Writes the text as it stands, or something else where it is empty.
// A default for what a declaration may leave out.
static span text_or(span text, const char *otherwise) {
  return text.n > 0 ? text : spell(otherwise);
}

// A text as a literal of C, without its quotes.
// Not for formats of printf: a % stays one.
static void write_escaped(FILE *out, span text) {
  for (size_t i = 0; i < text.n; i++) {
    char c = text.at[i];
    // A literal for each line, so that the generated file can be read.
    if (c == '\n')
      fputs("\\n\"\n    \"", out);
    else if (c == '"' || c == '\\')
      fprintf(out, "\\%c", c);
    else
      fputc(c, out);
  }
}

// Writes documentation without its ## signs.
// The one blank behind ## is no indent of the text's; more are, as of examples.
static void bind_doc(span doc, FILE *out) {
  span line;
  while (next_line(&doc, &line)) {
    line = skip(line, starts(line, "## ") ? 3 : 2);
    fprintf(out, "%.*s\n", SPAN(trim_right(line)));
  }
}

// Writes the params text of a function, as the language has it: "x, n = 1".
// As tl_params_parse reads it: required ones are names, and defaults follow =
// so that they go by position, too. What is out or hidden is not there.
static void bind_params(const bind_function *f, FILE *out) {
  if (f->is_raw) {
    fprintf(out, "%.*s", SPAN(f->raw_params));
    return;
  }
  const char *comma = "";
  for (int i = 0; i < f->count; i++) {
    const bind_value *v = &f->params[i];
    if (!bind_is_given(v))
      continue;
    fprintf(out, "%s%.*s", comma, SPAN(v->name));
    if (v->preset.n > 0)
      fprintf(out, " = %.*s", SPAN(v->preset));
    comma = ", ";
  }
}

// --- Types ------------------------------------------------------------------

// The C type of a value, for a variable or a parameter of a callback. What the
// library only reads is const; a void result has none.
static void write_type(const writer *w, const bind_value *v) {
  switch (v->form) {
    case BIND_NUMBER:
      fputs(v->type->c, w->out);
      break;
    case BIND_CODE:
      fputs("int", w->out);
      break;
    case BIND_TEXT:
      fputs(v->owner == BIND_LIST    ? "char **"
            : v->owner == BIND_FRESH ? "char *"
                                     : "const char *",
            w->out);
      break;
    case BIND_HANDLE:
      fprintf(w->out, "%.*s%s", SPAN(w->file->handles[v->index].c),
              v->owner == BIND_LIST ? "*" : "");
      break;
    case BIND_ARRAY:
      fprintf(w->out, "%s%s *",
              v->is_out || v->owner == BIND_FRESH ? "" : "const ", v->type->c);
      break;
    default:
      fputs("void", w->out);
  }
}

// "module.function: parameter", as a literal.
// It goes to the functions of tally_bind.h, which begin their messages with it.
static void write_what(const writer *w, const bind_value *v) {
  fprintf(w->out, "\"%.*s.%.*s: %.*s\"", SPAN(w->file->name), SPAN(w->f->name),
          SPAN(v->name));
}

// --- Handles ----------------------------------------------------------------

// The hook's if for one attribute; its expression sees `object`.
static void write_attribute(const writer *w, const bind_value *v) {
  fprintf(w->out, "  if (strcmp(name, \"%.*s\") == 0)\n    return ",
          SPAN(v->name));
  const char *make = v->form == BIND_TEXT   ? "bind_from_text"
                     : v->type->is_float    ? "tally_from_float"
                     : *v->type->low == '0' ? "bind_from_unsigned"
                                            : "tally_from_int";
  fprintf(w->out, "%s(vm, %.*s, out);\n", make, SPAN(v->preset));
}

// The hooks of a type of objects, and the type.
//
//   handle box = struct box *     box_release_hook    calls box_free
//     release box_free            box_nbytes_hook     where there is nbytes
//     get n: int = object->n      box_attribute_hook  refs, device, n
//                                 box_hooks           the first two of them
//                                 box_type            the tally_resource
//
// `refs` is there for every handle: how many values were made from it. An
// object that was given away has no other attribute, as C would read freed
// memory.
static void write_handle(const writer *w, const bind_handle_type *h) {
  int n = (int)h->name.n;
  const char *name = h->name.at;
  // The library's function may take another type or give a result, so it is not
  // the hook itself.
  fprintf(w->out,
          "static void %.*s_release_hook(void *object) {\n"
          "  %.*s((%.*s)object);\n}\n\n",
          n, name, SPAN(h->release), SPAN(h->c));
  if (h->nbytes.n > 0)
    fprintf(w->out,
            "static size_t %.*s_nbytes_hook(void *of) {\n"
            "  %.*s object = of;\n  return (size_t)(%.*s);\n}\n\n",
            n, name, SPAN(h->c), SPAN(h->nbytes));
  fprintf(
      w->out,
      "static tally_status %.*s_attribute_hook(tally_vm *vm, void *context,\n"
      "    void *of, const char *name, tally_value *out) {\n"
      "  const bind_handle *h = of;\n"
      "  %.*s object = h->object;\n  (void)context, (void)object;\n"
      "  if (strcmp(name, \"refs\") == 0)\n"
      "    return tally_from_int(vm, h->children, out);\n"
      "  if (object == NULL)\n"
      "    return tally_raise(vm, TALLY_ERR_VALUE,\n"
      "                       \"the %.*s was given away\");\n",
      n, name, SPAN(h->c), n, name);
  if (h->device.n > 0)
    fprintf(w->out,
            "  if (strcmp(name, \"device\") == 0)\n"
            "    return bind_from_text(vm, %.*s, out);\n",
            SPAN(h->device));
  for (size_t i = 0; i < h->count; i++) write_attribute(w, &h->attributes[i]);
  fprintf(w->out,
          "  return TALLY_OK;\n}\n\n"
          "static bind_type %.*s_hooks = {%.*s_release_hook, %.*s%s};\n\n"
          "static const tally_resource %.*s_type = {\n"
          "    .size = sizeof(tally_resource), .name = \"%.*s.%.*s\",\n"
          "    .context = &%.*s_hooks, .release = bind_end,\n"
          "    .nbytes = bind_nbytes, .attribute = %.*s_attribute_hook,\n"
          "    .limit = %.*s};\n\n",
          n, name, n, name, h->nbytes.n > 0 ? n : 4,
          h->nbytes.n > 0 ? name : "NULL",
          h->nbytes.n > 0 ? "_nbytes_hook" : "", n, name, SPAN(w->file->name),
          n, name, n, name, n, name, h->limit.n > 0 ? (int)h->limit.n : 1,
          h->limit.n > 0 ? h->limit.at : "0");
}

// --- Callbacks --------------------------------------------------------------

// One argument of a callback, as a value.
// Texts and arrays are copied: the script may keep them, the library's memory
// is its own again when the callback has returned.
static void write_callback_argument(const writer *w, const bind_value *v,
                                    int at) {
  int n = (int)v->name.n;
  const char *name = v->name.at;
  fprintf(w->out, "  if (status == TALLY_OK)\n    status = ");
  if (v->form == BIND_TEXT) {
    fprintf(w->out, "bind_from_text(vm, %.*s, &args[%d]);\n", n, name, at);
  } else if (v->form == BIND_NUMBER) {
    fprintf(w->out, "%s(vm, %.*s, &args[%d]);\n",
            v->type->is_float      ? "tally_from_float"
            : *v->type->low == '0' ? "bind_from_unsigned"
                                   : "tally_from_int",
            n, name, at);
  } else {
    fprintf(w->out,
            "bind_copy_items(vm, %.*s, \"%s\", sizeof *%.*s, %d,\n"
            "                             (const int64_t[]){",
            n, name, v->type->dtype, n, name, v->axes);
    for (int i = 0; i < v->axes; i++)
      fprintf(w->out, "%s(int64_t)(%.*s)", i > 0 ? ", " : "",
              SPAN(v->shape[i]));
    fprintf(w->out, "}, &args[%d]);\n", at);
  }
}

// What becomes of the script's result.
// Into `result`, of the widest type; a value that does not fit is an error of
// the callback, as if it had raised it.
static void write_callback_result(const writer *w, const bind_function *f) {
  if (f->result.form == BIND_VOID)
    return;
  const bind_number *type = f->result.type;
  if (type->is_float) {
    fprintf(w->out,
            "  if (status == TALLY_OK)\n"
            "    status = bind_float(vm, \"%.*s: the result\", made, "
            "&result);\n",
            SPAN(f->name));
  } else {
    fprintf(w->out,
            "  if (status == TALLY_OK)\n"
            "    status = bind_integer(vm, \"%.*s: the result\", made, %s, "
            "%s,\n                          &result);\n",
            SPAN(f->name), type->low, type->high);
  }
}

// A function of C that calls the script's.
// While that runs nothing may jump: the frames of the VM lie between, and what
// they hold would be lost. A library that jumps then ends the process, as one
// does that jumps outside of any call.
// Once a call of the script's has failed, all further ones return `stop` at
// once, until the library gives up.
//   callback each = int (int i, context)
//     stop -1
//
//   static int each_callback(int i, void *context) {
//     bind_call *call = context;                    the script's function
//     if (call->status != TALLY_OK) return -1;
//     status = tally_from_int(vm, i, &args[0]);
//     status = tally_apply(vm, call->function, 1, args, &made);
//     status = bind_integer(vm, …, made, INT_MIN, INT_MAX, &result);
//     call->status = status;                        for write_failure
//     return status == TALLY_OK ? (int)result : (-1);
//   }
static void write_callback(const writer *w, const bind_function *f) {
  fputs("static ", w->out);
  write_type(w, &f->result);
  fprintf(w->out, " %.*s_callback(", SPAN(f->name));
  int count = 0;
  for (int i = 0; i < f->count; i++) {
    fputs(i > 0 ? ", " : "", w->out);
    if (f->params[i].form == BIND_CONTEXT) {
      fputs("void *context", w->out);
      continue;
    }
    write_type(w, &f->params[i]);
    fprintf(w->out, " %.*s", SPAN(f->params[i].name));
    count++;
  }
  bool gives = f->result.form != BIND_VOID;
  bool is_float = gives && f->result.type->is_float;
  span stop = text_or(f->stop, "0");
  fprintf(w->out,
          ") {\n  bind_call *call = context;\n  tally_vm *vm = call->vm;\n"
          "  tally_value args[%d] = {{0, 0}}, made = {0, 0};\n"
          "  tally_status status = TALLY_OK;\n",
          count > 0 ? count : 1);
  if (gives)
    fprintf(w->out, "  %s result = 0;\n", is_float ? "double" : "int64_t");
  fprintf(w->out, "  if (call->status != TALLY_OK)\n    return%s%.*s;\n",
          gives ? " " : "", gives ? (int)stop.n : 0, stop.at);
  for (int i = 0, at = 0; i < f->count; i++)
    if (f->params[i].form != BIND_CONTEXT)
      write_callback_argument(w, &f->params[i], at++);
  fprintf(w->out,
          "  jmp_buf *before = bind_jump;\n  bind_jump = NULL;\n"
          "  if (status == TALLY_OK)\n"
          "    status = tally_apply(vm, call->function, %d, args, &made);\n"
          "  bind_jump = before;\n",
          count);
  write_callback_result(w, f);
  fprintf(w->out,
          "  for (int i = 0; i < %d; i++) tally_release(vm, args[i]);\n"
          "  tally_release(vm, made);\n  call->status = status;\n",
          count);
  if (gives)
    fprintf(w->out, "  return status == TALLY_OK ? (%s)result : (%.*s);\n",
            f->result.type->c, SPAN(stop));
  fputs("}\n\n", w->out);
}

// --- Variables and arguments ------------------------------------------------

// All are zero from the start: done may be reached before any of them is set,
// and must see what is there to release.
static void write_variable(const writer *w, const bind_value *v) {
  FILE *out = w->out;
  if (v->form == BIND_USE || v->form == BIND_CONTEXT)
    return;
  if (v->form == BIND_CALLBACK) {
    fprintf(out, "  bind_call call = {vm, {0, 0}, TALLY_OK};\n");
    return;
  }
  fputs("  ", out);
  write_type(w, v);
  fprintf(out, " %.*s = 0;\n", SPAN(v->name));
  if (v->form == BIND_HANDLE && !v->is_out)
    fprintf(out, "  bind_handle *%.*s_handle = NULL;\n", SPAN(v->name));
  if (v->form == BIND_ARRAY && !v->is_out)
    fprintf(out, "  bind_array %.*s_array = {.made = {0, 0}};\n",
            SPAN(v->name));
}

// Through a variable of the widest type, then cast: the range was checked.
static void write_number(const writer *w, const bind_value *v, int at) {
  bool is_float = v->type->is_float;
  fprintf(w->out, "  %s %.*s_given;\n  status = %s(vm, ",
          is_float ? "double" : "int64_t", SPAN(v->name),
          is_float ? "bind_float" : "bind_integer");
  write_what(w, v);
  fprintf(w->out, ", args[%d]", at);
  if (!is_float)
    fprintf(w->out, ", %.*s, %.*s", SPAN(text_or(v->low, v->type->low)),
            SPAN(text_or(v->high, v->type->high)));
  fprintf(w->out,
          ", &%.*s_given);\n  if (status != TALLY_OK)\n    goto done;\n"
          "  %.*s = (%s)%.*s_given;\n",
          SPAN(v->name), SPAN(v->name), v->type->c, SPAN(v->name));
}

// The range is that of the dtype: an `in` is of single numbers alone.
static void write_array(const writer *w, const bind_value *v, int at) {
  int n = (int)v->name.n;
  const char *name = v->name.at;
  fputs("  status = bind_items(vm, ", w->out);
  write_what(w, v);
  fprintf(w->out,
          ", args[%d], \"%s\", sizeof(%s), %s,\n"
          "                      %s, &%.*s_array);\n"
          "  if (status != TALLY_OK)\n    goto done;\n"
          "  %.*s = %.*s_array.of.data;\n",
          at, v->type->dtype, v->type->c, v->type->low, v->type->high, n, name,
          n, name, n, name);
}

// The handle itself is needed behind the call, by what lives in it (its
// children) and by `own` (its object becomes NULL).
static void write_handle_argument(const writer *w, const bind_value *v,
                                  int at) {
  fprintf(w->out, "  status = %s(vm, ",
          v->owner == BIND_OWN ? "bind_given" : "bind_borrowed");
  write_what(w, v);
  fprintf(w->out,
          ", args[%d],\n      &%.*s_type, &%.*s_handle);\n"
          "  if (status != TALLY_OK)\n    goto done;\n"
          "  %.*s = %.*s_handle->object;\n",
          at, SPAN(w->file->handles[v->index].name), SPAN(v->name),
          SPAN(v->name), SPAN(v->name));
}

// An argument that may be none stays 0 or NULL then: nothing is read.
static void write_argument(const writer *w, const bind_value *v, int at) {
  if (v->may_be_none)
    fprintf(w->out, "  if (!bind_is_none(vm, args[%d])) {\n", at);
  switch (v->form) {
    case BIND_NUMBER:
      write_number(w, v, at);
      break;
    case BIND_TEXT:
      fputs("  status = bind_text(vm, ", w->out);
      write_what(w, v);
      fprintf(w->out,
              ", args[%d], &%.*s);\n  if (status != TALLY_OK)\n"
              "    goto done;\n",
              at, SPAN(v->name));
      break;
    case BIND_HANDLE:
      write_handle_argument(w, v, at);
      break;
    case BIND_ARRAY:
      write_array(w, v, at);
      break;
    default:
      fprintf(w->out, "  call.function = args[%d];\n", at);
  }
  if (v->may_be_none)
    fputs("  }\n", w->out);
}

// A parameter that the glue fills in: the size of an array, or of an axis.
// Too many items for the type is kind value: an int n of a library ends at
// 2^31.
static void write_length(const writer *w, const bind_value *v) {
  const bind_value *a = &w->f->params[v->length_of];
  // For a name of usual length; a longer one is cut, which the compiler
  // refuses.
  char size[160];
  if (v->axis < 0)
    snprintf(size, sizeof size, "%.*s_array.of.size", SPAN(a->name));
  else
    snprintf(size, sizeof size, "(size_t)%.*s_array.shape[%d]", SPAN(a->name),
             v->axis);
  fprintf(w->out,
          "  if (%s > (size_t)%s) {\n    status = tally_raise(vm, "
          "TALLY_ERR_VALUE, \"%%s has too many items\",\n"
          "                         ",
          size, v->type->is_float ? "(1 << 24)" : v->type->high);
  write_what(w, a);
  fprintf(w->out, ");\n    goto done;\n  }\n  %.*s = (%s)(%s);\n",
          SPAN(v->name), v->type->c, size);
}

// The begin of a check of an array; one that is none passes it.
static void write_given(const writer *w, const bind_value *v) {
  fputs("  if (", w->out);
  if (v->may_be_none)
    fprintf(w->out, "%.*s_array.of.dtype != NULL && ", SPAN(v->name));
}

// Whether an array has the axes that were declared.
// Of one axis any shape will do: a matrix goes as its items in a row.
static void write_axes_check(const writer *w, const bind_value *v) {
  write_given(w, v);
  fprintf(w->out,
          "%.*s_array.ndim != %d) {\n    status = tally_raise(vm, "
          "TALLY_ERR_SHAPE, \"%%s must have %d axes, not %%d\",\n"
          "                         ",
          SPAN(v->name), v->axes, v->axes);
  write_what(w, v);
  fprintf(w->out, ", %.*s_array.ndim);\n    goto done;\n  }\n", SPAN(v->name));
}

// Whether it has as many items as was declared.
static void write_size_check(const writer *w, const bind_value *v) {
  write_given(w, v);
  // C sees a run of items, so the product is what counts.
  fprintf(w->out, "%.*s_array.of.size != (size_t)1", SPAN(v->name));
  for (int k = 0; k < v->axes; k++)
    fprintf(w->out, " * (size_t)(%.*s)", SPAN(v->shape[k]));
  fputs(
      ") {\n    status = tally_raise(vm, TALLY_ERR_SHAPE, \"%s has %zu "
      "items, which is not %s\",\n                         ",
      w->out);
  write_what(w, v);
  fprintf(w->out, ", %.*s_array.of.size, \"", SPAN(v->name));
  for (int k = 0; k < v->axes; k++) {
    fputs(k > 0 ? " * " : "", w->out);
    write_escaped(w->out, v->shape[k]);
  }
  fputs("\");\n    goto done;\n  }\n", w->out);
}

// The sizes that the glue fills in, and checks of those that are given.
// Behind all arguments, as expressions may name any of them.
static void write_lengths(const writer *w) {
  const bind_function *f = w->f;
  for (int i = 0; i < f->count; i++) {
    const bind_value *v = &f->params[i];
    if (v->form == BIND_ARRAY && !v->is_out && v->axes > 1)
      write_axes_check(w, v);
  }
  // Sizes come before the checks, whose expressions may use them.
  for (int i = 0; i < f->count; i++)
    if (f->params[i].length_of >= 0)
      write_length(w, &f->params[i]);
  for (int i = 0; i < f->count; i++) {
    const bind_value *v = &f->params[i];
    if (v->form == BIND_ARRAY && !v->is_out && v->axes > 0)
      write_size_check(w, v);
  }
}

// The shape of an array as a compound literal: of the memory, or [filled] of
// what is in it.
// Each size is cast on its own, so a product is made where it is checked.
static void write_shape(const writer *w, const bind_value *v, bool filled) {
  fputs("(const int64_t[]){", w->out);
  for (int i = 0; i < v->axes; i++) {
    span size = filled && i == 0 && v->filled.n > 0 ? v->filled : v->shape[i];
    fprintf(w->out, "%s(int64_t)(%.*s)", i > 0 ? ", " : "", SPAN(size));
  }
  fputs("}", w->out);
}

// Memory for arrays that the function fills.
// Behind the arguments and their sizes, as its own sizes are made of these.
static void write_outputs(const writer *w) {
  for (int i = 0; i < w->f->count; i++) {
    const bind_value *v = &w->f->params[i];
    if (v->form != BIND_ARRAY || !v->is_out)
      continue;
    fputs("  {\n  void *bind_memory = NULL;\n  status = bind_allocate(vm, ",
          w->out);
    write_what(w, v);
    fprintf(w->out, ", %d,\n      ", v->axes);
    write_shape(w, v, false);
    fprintf(w->out,
            ",\n      sizeof(%s), &bind_memory);\n  if (status != TALLY_OK)\n"
            "    goto done;\n  %.*s = bind_memory;\n  }\n",
            v->type->c, SPAN(v->name));
  }
}

// --- The call ---------------------------------------------------------------

// In C's order, which is that of the declaration. What is out goes by its
// address, but an array, whose memory is there.
static void write_call_argument(const writer *w, const bind_value *v) {
  if (v->form == BIND_USE)
    fprintf(w->out, "%.*s", SPAN(v->preset));
  else if (v->form == BIND_CONTEXT)
    fputs("&call", w->out);
  else if (v->form == BIND_CALLBACK)
    fprintf(w->out, "%s%.*s_callback",
            v->may_be_none ? "call.function.check == 0 ? NULL : " : "",
            SPAN(w->file->callbacks[v->index].name));
  else
    fprintf(w->out, "%s%.*s", v->is_out && v->form != BIND_ARRAY ? "&" : "",
            SPAN(v->name));
}

// The end of `own`, behind the call or, where a failed call keeps what it was
// given, behind what is done about failures: the handle stays a value of the
// script's, and says what became of it.
static void write_given_away(const writer *w) {
  for (int i = 0; i < w->f->count; i++)
    if (w->f->params[i].owner == BIND_OWN)
      fprintf(w->out, "  %.*s_handle->object = NULL;\n",
              SPAN(w->f->params[i].name));
}

// Around the call: the jump's way back, errno, and the end of `own`. The object
// of an `own` is the library's whether the call failed or not, unless `keeps`
// says otherwise; a call that jumped has not come so far, and its handle still
// has it.
static void write_call(const writer *w) {
  const bind_function *f = w->f;
  if (f->errors.jumps)
    fputs(
        "  bind_jump = &here;\n  if (setjmp(here) != 0) {\n"
        "    bind_jump = before;\n    jumped = 1;\n    goto failed;\n  }\n",
        w->out);
  if (f->errors.failure == BIND_BY_ERRNO)
    fputs("  errno = 0;\n", w->out);
  fprintf(w->out, "  %s%.*s(",
          f->result.form == BIND_VOID   ? ""
          : f->result.form == BIND_CODE ? "code = "
                                        : "result = ",
          SPAN(f->c));
  for (int i = 0; i < f->count; i++) {
    fputs(i > 0 ? ", " : "", w->out);
    write_call_argument(w, &f->params[i]);
  }
  fputs(");\n", w->out);
  if (f->errors.jumps)
    fputs("  bind_jump = before;\n", w->out);
  if (!f->errors.keeps)
    write_given_away(w);
}

// The condition under which the call failed.
// Is never written for a result that does not fit: see check_errors.
static void write_condition(const writer *w) {
  const bind_errors *e = &w->f->errors;
  const char *result = w->f->result.form == BIND_CODE ? "code" : "result";
  bool points = w->f->result.form == BIND_TEXT ||
                w->f->result.form == BIND_HANDLE ||
                w->f->result.form == BIND_ARRAY;
  switch (e->failure) {
    case BIND_BY_CODE: {
      span left = text_or(e->ok, "0");
      const char *also = "";
      while (left.n > 0) {
        size_t n = 0;
        while (n < left.n && left.at[n] != ' ') n++;
        fprintf(w->out, "%scode != %.*s", also, (int)n, left.at);
        also = " && ";
        left = trim_left(skip(left, n));
      }
      break;
    }
    case BIND_BY_NULL:
      fprintf(w->out, "%s == NULL", result);
      break;
    case BIND_BY_ERRNO:
      fprintf(w->out, points ? "%s == NULL" : "%s < 0", result);
      break;
    default:
      fprintf(w->out, "%s < 0", result);
  }
}

// First what a callback raised, as the library may give any result after its
// stop or jump; then what the result says. The label `failed` is where a jump
// comes in, with the message of bind_throw.
static void write_failure(const writer *w) {
  const bind_function *f = w->f;
  const bind_errors *e = &f->errors;
  if (e->jumps)
    fputs("failed:\n", w->out);
  for (int i = 0; i < f->count; i++)
    if (f->params[i].form == BIND_CALLBACK)
      fputs(
          "  if (call.status != TALLY_OK) {\n    status = call.status;\n"
          "    goto done;\n  }\n",
          w->out);
  if (e->failure == BIND_NEVER && !e->jumps)
    return;
  fputs(e->jumps ? "  if (jumped" : "  if (", w->out);
  if (e->failure != BIND_NEVER) {
    fputs(e->jumps ? " || (" : "(", w->out);
    write_condition(w);
    fputs(")", w->out);
  }
  fputs(") {\n", w->out);
  // "io" is TALLY_ERR_IO.
  char kind[16];
  span of = text_or(e->kind, "host");
  for (size_t i = 0; i <= of.n && i < sizeof kind; i++)
    kind[i] = i == of.n ? 0 : (char)(of.at[i] - 'a' + 'A');
  span text = e->text.n > 0                 ? e->text
              : e->failure == BIND_BY_ERRNO ? spell("strerror(errno)")
                                            : spell("\"it failed\"");
  fputs("    {\n    const char *bind_said = ", w->out);
  if (e->jumps)
    fputs("jumped ? bind_thrown : ", w->out);
  fprintf(
      w->out,
      "%.*s;\n    status = tally_raise(vm, TALLY_ERR_%s, \"%.*s.%.*s: "
      "%%s\",\n        bind_said == NULL ? \"it failed\" : bind_said);\n    goto "
      "done;\n    }\n  }\n",
      SPAN(text), kind, SPAN(w->file->name), SPAN(f->name));
}

// --- Results ----------------------------------------------------------------

// Whether the value becomes a result of the script's.
// [first]: it is C's result, not a parameter.
static bool is_result(const bind_value *v, bool first) {
  return first ? v->form != BIND_VOID && v->form != BIND_CODE
               : v->is_out && !v->is_filled;
}

// The handle and the value that a result lives in, for bind_wrap.
// The index among the script's arguments, as args has no others.
static void write_owner(const writer *w, const bind_value *v) {
  if (v->of_index < 0) {
    fputs("NULL, (tally_value){0, 0}", w->out);
    return;
  }
  const bind_value *of = &w->f->params[v->of_index];
  int at = 0;
  for (int i = 0; i < v->of_index; i++) at += bind_is_given(&w->f->params[i]);
  if (of->form == BIND_HANDLE)
    fprintf(w->out, "%.*s_handle, args[%d]", SPAN(of->name), at);
  else
    // What C saw of an array that was converted is the copy.
    fprintf(w->out,
            "NULL,\n      %.*s_array.made.check != 0 ? %.*s_array.made : "
            "args[%d]",
            SPAN(of->name), SPAN(of->name), at);
}

// What frees fresh texts and arrays of the library's; the glue's own memory is
// always free's.
static span free_of(const writer *w) {
  return text_or(w->f->free, "free");
}

// A list of fresh texts or handles: each becomes a value, then the C array
// goes.
// One that is NULL, or has less than no items, is the empty list.
static void write_list(const writer *w, const bind_value *v, int n,
                       const char *name, int at) {
  fprintf(w->out,
          "  size_t %.*s_count =\n"
          "      %.*s == NULL || (int64_t)(%.*s) < 0 ? 0 : (size_t)(%.*s);\n"
          "  tally_value *%.*s_values = calloc(%.*s_count + 1, "
          "sizeof(tally_value));\n"
          "  if (%.*s_values == NULL)\n"
          "    status = tally_raise(vm, TALLY_ERR_MEMORY, \"no memory\");\n"
          "  for (size_t i = 0; i < %.*s_count; i++) {\n"
          "    if (status == TALLY_OK)\n      status = ",
          n, name, n, name, SPAN(v->shape[0]), SPAN(v->shape[0]), n, name, n,
          name, n, name, n, name);
  if (v->form == BIND_TEXT) {
    fprintf(
        w->out,
        "bind_from_text(vm, %.*s[i], &%.*s_values[i]);\n    %.*s(%.*s[i]);\n",
        n, name, n, name, SPAN(free_of(w)), n, name);
  } else {
    int k = (int)w->file->handles[v->index].name.n;
    const char *type = w->file->handles[v->index].name.at;
    fprintf(w->out, "bind_wrap(vm, &%.*s_type, %.*s[i], 0, ", k, type, n, name);
    write_owner(w, v);
    fprintf(w->out,
            ", &%.*s_values[i]);\n"
            "    if (status != TALLY_OK && %.*s[i] != NULL)\n"
            "      %.*s_release_hook(%.*s[i]);\n",
            n, name, n, name, k, type, n, name);
  }
  fprintf(w->out,
          "  }\n  if (status == TALLY_OK)\n"
          "    status = tally_from_list(vm, %.*s_count, %.*s_values, "
          "&made[%d]);\n"
          "  for (size_t i = 0; %.*s_values != NULL && i < %.*s_count; i++)\n"
          "    tally_release(vm, %.*s_values[i]);\n"
          "  free(%.*s_values);\n  free(%.*s);\n  %.*s = NULL;\n",
          n, name, n, name, at, n, name, n, name, n, name, n, name, n, name, n,
          name);
}

// A function that says it filled more than there was is not believed.
// What it says has to lie in 0 .. the first axis: memory behind that is not
// ours to show.
static void write_filled(const writer *w, const bind_value *v) {
  fprintf(w->out,
          "  if ((int64_t)(%.*s) < 0 || (int64_t)(%.*s) > (int64_t)(%.*s)) {\n"
          "    status = tally_raise(vm, TALLY_ERR_HOST, \"%%s has %%lld items "
          "now\",\n                         ",
          SPAN(v->filled), SPAN(v->filled), SPAN(v->shape[0]));
  write_what(w, v);
  fprintf(w->out, ", (long long)(%.*s));\n    goto done;\n  }\n",
          SPAN(v->filled));
}

// Makes made[at] of the variable [name].
// For one C form each; all write made[at] and go to done on failure.
static void write_result(const writer *w, const bind_value *v, span named,
                         int at) {
  int n = (int)named.n;
  const char *name = named.at;
  // A fresh object or array that became a value is forgotten here: done would
  // release it again. A text was copied, so done frees it in any case.
  if (v->owner == BIND_LIST) {
    write_list(w, v, n, name, at);
  } else if (v->form == BIND_NUMBER) {
    fprintf(w->out, "  status = %s(vm, %.*s, &made[%d]);\n",
            v->type->is_float      ? "tally_from_float"
            : *v->type->low == '0' ? "bind_from_unsigned"
                                   : "tally_from_int",
            n, name, at);
  } else if (v->form == BIND_TEXT) {
    fprintf(w->out, "  status = bind_from_text(vm, %.*s, &made[%d]);\n", n,
            name, at);
  } else if (v->form == BIND_HANDLE) {
    fprintf(w->out, "  status = bind_wrap(vm, &%.*s_type, %.*s, %d, ",
            SPAN(w->file->handles[v->index].name), n, name,
            v->owner != BIND_FRESH);
    write_owner(w, v);
    fprintf(w->out, ",\n                     &made[%d]);\n", at);
    if (v->owner == BIND_FRESH)
      fprintf(w->out, "  if (status == TALLY_OK)\n    %.*s = NULL;\n", n, name);
  } else {
    bool fresh = v->owner == BIND_FRESH;
    if (v->filled.n > 0)
      write_filled(w, v);
    span release = v->is_out ? spell("free") : free_of(w);
    fprintf(w->out,
            "  status = bind_from_items(vm, (void *)(uintptr_t)%.*s, "
            "\"%s\", sizeof(%s), %d,\n      ",
            n, name, v->type->dtype, v->type->c, v->axes);
    write_shape(w, v, true);
    fprintf(w->out, ",\n      %.*s, ", fresh ? (int)release.n : 4,
            fresh ? release.at : "NULL");
    write_owner(w, v);
    fprintf(w->out, ", &made[%d]);\n", at);
    if (fresh)
      fprintf(w->out, "  if (status == TALLY_OK)\n    %.*s = NULL;\n", n, name);
  }
  fputs("  if (status != TALLY_OK)\n    goto done;\n", w->out);
}

// What is given to the script: nothing, one value, or a list of them.
// In order: C's result, then what is out, as declared.
static void write_results(const writer *w) {
  const bind_function *f = w->f;
  int at = 0;
  if (is_result(&f->result, true))
    write_result(w, &f->result, spell("result"), at++);
  for (int i = 0; i < f->count; i++)
    if (is_result(&f->params[i], false))
      write_result(w, &f->params[i], f->params[i].name, at++);
  if (at == 1)
    fputs("  *out = made[0];\n  made[0] = (tally_value){0, 0};\n", w->out);
  // The list retains its items; made is released at done.
  else if (at > 1)
    fprintf(w->out, "  status = tally_from_list(vm, %d, made, out);\n", at);
}

// Releases what did not become a result. Of a call that jumped, what it gave
// through pointers is not known.
static void write_release(const writer *w, const bind_value *v, span name) {
  // One that became a list is NULL by now.
  if (v->owner == BIND_LIST) {
    int n = (int)name.n;
    bool is_text = v->form == BIND_TEXT;
    span end = is_text ? free_of(w) : w->file->handles[v->index].name;
    fprintf(w->out,
            "  for (int64_t i = 0; %.*s != NULL && i < (int64_t)(%.*s); i++)\n"
            "    if (%.*s[i] != NULL)\n      %.*s%s(%.*s[i]);\n"
            "  free(%.*s);\n",
            n, name.at, SPAN(v->shape[0]), n, name.at, SPAN(end),
            is_text ? "" : "_release_hook", n, name.at, n, name.at);
  } else if (v->form == BIND_TEXT && v->owner == BIND_FRESH)
    fprintf(w->out, "  if (%.*s != NULL)\n    %.*s(%.*s);\n", SPAN(name),
            SPAN(free_of(w)), SPAN(name));
  else if (v->form == BIND_HANDLE && v->owner == BIND_FRESH)
    fprintf(w->out, "  if (%.*s != NULL)\n    %.*s_release_hook(%.*s);\n",
            SPAN(name), SPAN(w->file->handles[v->index].name), SPAN(name));
  else if (v->form == BIND_ARRAY && v->owner == BIND_FRESH)
    fprintf(w->out, "  if (%.*s != NULL)\n    %.*s(%.*s);\n", SPAN(name),
            SPAN(v->is_out ? spell("free") : free_of(w)), SPAN(name));
  else if (v->form == BIND_ARRAY && !v->is_out && v->owner == BIND_BORROW &&
           !same_word(name, "result"))
    fprintf(w->out, "  tally_release(vm, %.*s_array.made);\n", SPAN(name));
}

// In a call that jumped, variables that C wrote are undefined; arrays are not,
// as their pointers were set before.
static void write_end(const writer *w) {
  const bind_function *f = w->f;
  fputs("  goto done;\ndone:\n", w->out);
  if (f->errors.jumps)
    fputs("  if (!jumped) {\n", w->out);
  if (is_result(&f->result, true))
    write_release(w, &f->result, spell("result"));
  for (int i = 0; i < f->count; i++)
    if (f->params[i].is_out && f->params[i].form != BIND_ARRAY)
      write_release(w, &f->params[i], f->params[i].name);
  if (f->errors.jumps)
    fputs("  }\n", w->out);
  for (int i = 0; i < f->count; i++)
    if (f->params[i].form == BIND_ARRAY)
      write_release(w, &f->params[i], f->params[i].name);
  for (int i = 0; i < f->count; i++)
    if (f->params[i].form == BIND_HANDLE && !f->params[i].is_out)
      fprintf(w->out, "  bind_unused(%.*s_handle);\n", SPAN(f->params[i].name));
  for (int i = 0; i < w->results; i++)
    fprintf(w->out, "  tally_release(vm, made[%d]);\n", i);
  fputs("  return status;\n}\n\n", w->out);
}

// --- Functions --------------------------------------------------------------

// The length of `made`.
static int count_results(const bind_function *f) {
  int count = is_result(&f->result, true);
  for (int i = 0; i < f->count; i++) count += is_result(&f->params[i], false);
  return count;
}

// The signature of a tally_function, and the variables that are no parameters.
// jumped is volatile: it is set between setjmp and longjmp.
static void write_head(const writer *w) {
  const bind_function *f = w->f;
  fprintf(w->out,
          "static tally_status call_%.*s(tally_vm *vm, void *context, size_t "
          "count,\n    const tally_value *args, tally_value *out) {\n"
          "  (void)context, (void)count, (void)args, (void)out;\n"
          "  tally_status status = TALLY_OK;\n",
          SPAN(f->name));
  if (w->results > 0)
    fprintf(w->out, "  tally_value made[%d] = {{0, 0}};\n", w->results);
  if (f->errors.jumps)
    fputs(
        "  jmp_buf here, *before = bind_jump;\n"
        "  volatile int jumped = 0;\n",
        w->out);
  if (f->result.form != BIND_VOID) {
    fputs("  ", w->out);
    write_type(w, &f->result);
    fprintf(w->out, " %s = 0;\n",
            f->result.form == BIND_CODE ? "code" : "result");
  }
}

// The order is that of the picture at the head of this file.
static void write_function(writer *w) {
  const bind_function *f = w->f;
  w->results = count_results(f);
  write_head(w);
  for (int i = 0; i < f->count; i++) write_variable(w, &f->params[i]);
  for (int i = 0, at = 0; i < f->count; i++) {
    if (!bind_is_given(&f->params[i]))
      continue;
    fputs("  {\n", w->out);
    write_argument(w, &f->params[i], at++);
    fputs("  }\n", w->out);
  }
  write_lengths(w);
  write_outputs(w);
  write_call(w);
  write_failure(w);
  if (f->errors.keeps)
    write_given_away(w);
  write_results(w);
  write_end(w);
}

// A constant is a function without parameters.
// Needs nothing of what a function has: no arguments, and no way to fail.
static void write_constant(const writer *w) {
  const bind_value *v = &w->f->result;
  fprintf(w->out,
          "static tally_status call_%.*s(tally_vm *vm, void *context, size_t "
          "count,\n    const tally_value *args, tally_value *out) {\n"
          "  (void)context, (void)count, (void)args;\n  return %s(vm, %.*s, "
          "out);\n}\n\n",
          SPAN(w->f->name),
          v->form == BIND_TEXT   ? "bind_from_text"
          : v->type->is_float    ? "tally_from_float"
          : *v->type->low == '0' ? "bind_from_unsigned"
                                 : "tally_from_int",
          SPAN(w->f->c));
}

// --- The module -------------------------------------------------------------

// Documentation as a literal: what was written, else C's name.
static void write_doc(const writer *w, span doc, span c) {
  text plain = {0};
  char *data = NULL;
  size_t n = 0;
  FILE *lines = need(open_memstream(&data, &n));
  bind_doc(doc, lines);
  // `tally doc` then says at least where it comes from.
  if (n == 0 && doc.n == 0)
    fprintf(lines, "%.*s of the C library.\n", SPAN(c));
  fclose(lines);
  text_add(&plain, data, n);
  fputs("\"", w->out);
  write_escaped(w->out, text_span(&plain));
  fputs("\"", w->out);
  free(plain.data);
  free(data);
}

// The row of the module's table; of a raw function its own C is called.
static void write_row(const writer *w) {
  const bind_function *f = w->f;
  char *params = NULL;
  size_t n = 0;
  FILE *text = need(open_memstream(&params, &n));
  bind_params(f, text);
  fclose(text);
  fprintf(w->out, "    {.name = \"%.*s\", .params = \"", SPAN(f->name));
  write_escaped(w->out, (span){params, n});
  free(params);
  fputs("\",\n     .doc = ", w->out);
  write_doc(w, f->doc, f->c);
  if (f->is_raw)
    fprintf(w->out, ",\n     .call = %.*s},\n", SPAN(f->c));
  else
    fprintf(w->out, ",\n     .call = call_%.*s},\n", SPAN(f->name));
}

// The table of functions, and tally_open_NAME, which an import calls once.
static void write_module(writer *w) {
  const bind_file *file = w->file;
  fputs("static const tally_native functions[] = {\n", w->out);
  for (size_t i = 0; i < file->function_count; i++) {
    w->f = &file->functions[i];
    write_row(w);
  }
  fprintf(w->out,
          "    {.name = NULL}};\n\n"
          "TALLY_API tally_status tally_open_%.*s(tally_vm *vm);\n"
          "TALLY_API tally_status tally_open_%.*s(tally_vm *vm) {\n"
          "  tally_module module = {.size = sizeof module, .name = \"%.*s\",\n"
          "      .functions = functions,\n"
          "      .function_count = sizeof functions / sizeof *functions - 1,\n"
          "      .function_size = sizeof *functions};\n  module.doc = ",
          SPAN(file->name), SPAN(file->name), SPAN(file->name));
  write_doc(w, file->doc, file->name);
  fputs(";\n  return tally_add_module(vm, &module);\n}\n", w->out);
}

// In C's order of what has to be known before: headers, types, the file's own
// code, hooks, callbacks, functions, the table.
void tl_bind_glue(const bind_file *file, FILE *out) {
  writer w = {out, file, NULL, 0};
  const char *slash = strrchr(file->path, '/');
  fprintf(out, "// Made by `tally bind` of %s; changes here are lost.\n\n",
          slash == NULL ? file->path : slash + 1);
  for (size_t i = 0; i < file->include_count; i++)
    fprintf(out, "#include %.*s\n", SPAN(file->includes[i]));
  fputs("#include \"tally_bind.h\"\n\n", out);
  // Types are declared before the file's own code, which may make values of
  // them; their hooks come behind it, as they call what it defines.
  for (size_t i = 0; i < file->handle_count; i++)
    fprintf(out, "static const tally_resource %.*s_type;\n",
            SPAN(file->handles[i].name));
  fputs("\n", out);
  for (size_t i = 0; i < file->code_count; i++)
    fprintf(out, "%.*s\n", SPAN(file->code[i]));
  for (size_t i = 0; i < file->handle_count; i++)
    write_handle(&w, &file->handles[i]);
  for (size_t i = 0; i < file->callback_count; i++)
    write_callback(&w, &file->callbacks[i]);
  for (size_t i = 0; i < file->function_count; i++) {
    w.f = &file->functions[i];
    if (w.f->is_constant)
      write_constant(&w);
    else if (!w.f->is_raw)
      write_function(&w);
  }
  write_module(&w);
}
