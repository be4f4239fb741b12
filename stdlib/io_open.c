// Text files that are walked line by line: `for line in io.open(path)`, and
// standard input, output and errors as such. A file is a resource: the value
// owns the open file, which is closed with its last use. No more than a piece
// and a line is in memory, except of compressed files.

#include "stdlib/compress.h"
#include "stdlib/families.h"

// Bytes that are read at once: a call of the system costs little beside it.
enum { PIECE = 1 << 16 };

// An open file. Of its buffer, [start, end) is read and not given out yet:
//
//   |.. given out ..|start  .. searched ..|searched .. |end   free|capacity
typedef struct line_file {
  tl_vm *vm;
  tl_string *name;  // counted
  tl_reader reader;
  char *buffer;
  size_t capacity, start, end;
  size_t searched;  // no line ends before it
  int64_t line;     // given out so far
  bool began, ended;
} line_file;

// Closes the file when its value ends.
static void close_file(void *context, void *object) {
  line_file *f = object;
  tl_vm *vm = f->vm;
  tl_reader_close(&f->reader);
  tl_free(vm, f->buffer, f->capacity);
  tl_drop(vm, tl_own_string(f->name));
  tl_free(vm, f, sizeof *f);
}

// What typeof and the documentation know of an open file.
static const tally_resource file_type = {
    .size = sizeof(tally_resource),
    .name = "file",
    .doc = "A text file that for walks line by line.",
    .release = close_file,
};

// Reads a piece; what is not given out moves to the front, and the buffer
// grows if need be, since one line may be longer than it.
static bool read_piece(tl_vm *vm, line_file *f) {
  // The part of a line that has been read so far.
  size_t left = f->end - f->start, got;
  if (left > 0)
    memmove(f->buffer, f->buffer + f->start, left);
  f->searched -= f->start;
  f->start = 0;
  f->end = left;
  // Doubling keeps the copying of a long line linear.
  if (f->capacity - left < PIECE) {
    size_t capacity = 2 * f->capacity;
    char *buffer = tl_realloc(vm, f->buffer, f->capacity, capacity, "a line");
    if (!buffer)
      return false;
    f->buffer = buffer;
    f->capacity = capacity;
  }
  if (!tl_poll(vm, PIECE / 1024) ||
      !tl_reader_read(&f->reader, f->buffer + left, PIECE, &got))
    return false;
  f->end += got;
  f->ended = got == 0;
  return true;
}

// Whether the file begins like gzip or Zstandard. The second byte of such data
// begins no code point, so that no text is taken for one.
static bool may_be_packed(const line_file *f) {
  const unsigned char *start = (const unsigned char *)f->buffer;
  return f->end >= 2 && ((start[0] == 0x1f && start[1] == 0x8b) ||
                         (start[0] == 0x28 && start[1] == 0xb5));
}

// Reads all of a compressed file and expands it in place of the buffer.
static bool expand(tl_vm *vm, line_file *f) {
  // Compressed data are expanded as a whole: the formats have no lines.
  while (!f->ended)
    if (!read_piece(vm, f))
      return false;
  // tl_expand_text takes the buffer over and gives another one back.
  tl_bytes text = {f->buffer, f->end, f->capacity};
  bool ok = tl_expand_text(vm, "open", f->name->text, &text);
  f->buffer = text.data;
  f->end = text.nbytes;
  f->capacity = text.capacity;  // all 0 after a failure: nothing is left
  return ok;
}

// Reads the next piece; the first one decides whether the file is compressed.
static bool read_more(tl_vm *vm, line_file *f) {
  bool is_first = !f->began;
  f->began = true;
  return read_piece(vm, f) && (!is_first || !may_be_packed(f) || expand(vm, f));
}

// Sets *out to the end of the next line: its \n, or the end of the file.
static bool find_end(tl_vm *vm, line_file *f, size_t *out) {
  for (;;) {
    const char *at = f->searched == f->end ? NULL
                                           : memchr(f->buffer + f->searched,
                                                    '\n', f->end - f->searched);
    f->searched = at ? (size_t)(at - f->buffer) : f->end;
    *out = f->searched;
    if (at || f->ended)
      return true;
    if (!read_more(vm, f))
      return false;
  }
}

// Whether there is another line. Called by for before next_line.
static bool has_line(tl_vm *vm, const tl_resource *resource, int64_t at,
                     bool *more) {
  line_file *f = resource->object;
  size_t end;
  if (!find_end(vm, f, &end))
    return false;
  *more = f->start < f->end;
  return true;
}

// The next line as a string, checked, without its end.
static bool next_line(tl_vm *vm, const tl_resource *resource, int64_t at,
                      tl_slot *out) {
  line_file *f = resource->object;
  size_t end, bad;
  if (!find_end(vm, f, &end))
    return false;
  const char *text = f->buffer + f->start;
  size_t length = end - f->start;
  // Lines of Windows end in \r\n.
  if (length > 0 && text[length - 1] == '\r')
    length--;
  if (f->line++ == 0 && length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
    text += 3, length -= 3;
  if (!tl_text_check(vm, text, length, &bad))
    return tl_fail(
        vm, TALLY_ERR_VALUE,
        "io.open: \"%s\", line %lld: no UTF-8 text: malformed at its "
        "byte %zu",
        f->name->text, (long long)f->line, bad);
  tl_string *string = tl_string_new(vm, text, length);
  if (!string)
    return false;
  // Only now is the line given out: a failure above leaves it.
  f->start = f->searched = end < f->end ? end + 1 : end;
  *out = tl_own_string(string);
  return true;
}

// How for walks an open file.
static const tl_walked lines = {has_line, next_line};

// Opens the file; *out is to be closed by close_file.
static bool open_file(tl_vm *vm, const char *path, line_file **out) {
  line_file *f = tl_alloc(vm, sizeof *f, "a file");
  if (!f)
    return false;
  *f = (line_file){.vm = vm, .capacity = 2 * PIECE};
  f->buffer = tl_alloc(vm, f->capacity, "a file");
  f->name = f->buffer ? tl_string_new(vm, path, strlen(path)) : NULL;
  if (f->name && tl_reader_open(vm, "open", f->name->text, &f->reader)) {
    *out = f;
    return true;
  }
  if (f->name)
    tl_drop(vm, tl_own_string(f->name));
  tl_free(vm, f->buffer, f->capacity);
  tl_free(vm, f, sizeof *f);
  return false;
}

// io.open(path).
static bool open(tl_vm *vm, tl_slot *args, tl_slot *out) {
  line_file *f;
  if (!open_file(vm, tl_file_path(args[0]), &f))
    return false;
  if (tl_resource_give(vm, &file_type, f, &lines, "a file", out))
    return true;
  close_file(NULL, f);
  return false;
}

// --- Standard input and output ----------------------------------------------

// Standard input, output and errors belong to the process, so that a value of
// one of these types only names one: both tables are in the system's order of
// the files.
static const char *const standard_paths[] = {"/dev/stdin", "/dev/stdout",
                                             "/dev/stderr"};

// The type of a standard stream, which messages and typeof name by its path.
#define STANDARD(path, text) \
  { .size = sizeof(tally_resource), .name = "file " path, .doc = text }

static const tally_resource standard_types[] = {
    STANDARD("/dev/stdin", "Standard input."),
    STANDARD("/dev/stdout", "Standard output."),
    STANDARD("/dev/stderr", "The output for errors."),
};

// By the address of the type: a host's resource of the same name is another
// type.
static const char *standard_path(tl_slot s) {
  const tl_resource *resource = tl_is_resource(s) ? s.pointer : NULL;
  for (int i = 0; resource != NULL && i < 3; i++) {
    if (resource->type == &standard_types[i])
      return standard_paths[i];
  }
  return NULL;
}

// A standard stream stands for its path, so that functions of files need not
// know of it.
bool tl_arg_path(tl_vm *vm, const char *function, tl_slot s,
                 const char **path) {
  tl_string *name;
  *path = standard_path(s);
  if (*path != NULL)
    return true;
  if (!tl_arg_string(vm, function, "path", s, &name))
    return false;
  *path = tl_io_path(vm, function, name);
  return *path != NULL;
}

const char *tl_file_path(tl_slot s) {
  const char *path = standard_path(s);
  return path != NULL ? path : s.string->text;
}

// A line of standard input; none where there are no more.
static bool input_line(tl_vm *vm, const char *function, tl_slot *out) {
  const char *text;
  size_t nbytes, bad;
  *out = tl_none();
  if (!tl_input_line(vm, function, &text, &nbytes))
    return false;
  if (text == NULL)
    return true;
  if (!tl_text_check(vm, text, nbytes, &bad))
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "%s: a line of standard input is no UTF-8 text: malformed "
                   "at its byte %zu",
                   function, bad);
  return tl_string_give(tl_string_new(vm, text, nbytes), out);
}

// Standard input has a reader of its own in the VM, which input() shares.
static bool has_input(tl_vm *vm, const tl_resource *resource, int64_t at,
                      bool *more) {
  return tl_input_more(vm, "io.stdin", more);
}

// The next line of standard input, for a loop over io.stdin.
static bool next_input(tl_vm *vm, const tl_resource *resource, int64_t at,
                       tl_slot *out) {
  return input_line(vm, "io.stdin", out);
}

// How for walks standard input: the same lines that input() reads.
static const tl_walked input_lines = {has_input, next_input};

// The value of standard stream [number].
static bool standard(tl_vm *vm, int number, tl_slot *out) {
  return tl_resource_give(vm, &standard_types[number], NULL,
                          number == 0 ? &input_lines : NULL, "a file", out);
}

// io.stdin.
static bool standard_input(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return standard(vm, 0, out);
}

// io.stdout.
static bool standard_output(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return standard(vm, 1, out);
}

// io.stderr.
static bool standard_errors(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return standard(vm, 2, out);
}

// input(prompt).
static bool input(tl_vm *vm, tl_slot *args, tl_slot *out) {
  // The prompt is written before the line is waited for.
  const tl_string *prompt = tl_is_none(args[0]) ? NULL : args[0].string;
  if (prompt != NULL &&
      !tl_write_for(vm, "input", prompt->text, prompt->length))
    return false;
  return input_line(vm, "input", out);
}

// --- The table --------------------------------------------------------------

// The standard streams are values, without parameters; open gives a resource.
const tl_builtin tl_io_open_module[] = {
    /// A text file, or a pipe, whose lines for walks one by one, without their
    /// ends: no more than a piece and a line of it is in memory. Each line is
    /// given once; the file is closed with its last use. What is compressed (gzip,
    /// Zstandard) is expanded, whole, when the first line is asked for. A file
    /// that cannot be read is an io error, a line that is no UTF-8 or damaged
    /// compressed data a value error.
    ///     for line in io.open("log.txt") { print(line) }
    {"open", "path", open, TL_FILES | TL_EFFECT, .types = "p"},
    /// Standard input, as a file: for walks its lines, without their ends, and
    /// all functions that take a file's path take it: io.lines(io.stdin),
    /// io.read_csv(io.stdin). Each line is given once, here or by input(). A VM
    /// without files gives an io error when it is read, a line that is no UTF-8 a
    /// value error.
    ///     for line in io.stdin { print(line) }
    {"stdin", NULL, standard_input},
    /// Standard output, for functions that take the path of a file to write;
    /// /dev/stdout is the same. It is written as it goes on, in order with what
    /// is printed, and no file that it leads to is replaced. A VM without files
    /// gives an io error when it is written.
    ///     io.write_csv(io.stdout, (x: [1, 2]))
    {"stdout", NULL, standard_output},
    /// Where messages go that are not to stand in the output, for functions that
    /// take the path of a file to write; /dev/stderr is the same. A VM without
    /// files gives an io error when it is written.
    ///     io.write_text(io.stderr, "")    # none
    {"stderr", NULL, standard_errors},
    {.name = NULL},
};

// input needs no import: it is for the first programs that one writes.
const tl_builtin tl_input_builtins[] = {
    /// Shows the prompt, a string, and reads a line of standard input: a string
    /// without the line's end, or none where there are no more lines. io.stdin
    /// walks them. A VM without files gives an io error, a line that is no UTF-8
    /// a value error, a prompt that is no string a type error.
    ///     name = input("Your name: ")
    {"input", "prompt = none", input, TL_FILES | TL_EFFECT, .types = "S"},
    {.name = NULL},
};
