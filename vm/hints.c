// Names from other languages and libraries: three tables and their search
// (hints.h). The first has sentences, the second code that does the same here,
// the third parameters.
//
// Built for size.
#include "vm/hints.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// A name, and a sentence of its own about it.
typedef struct hint {
  const char *text, *message;
} hint;

// Names with a sentence of their own.
static const hint hints[] = {
    {"True", "in Tally it is called true"},
    {"TRUE", "in Tally it is called true"},
    {"False", "in Tally it is called false"},
    {"FALSE", "in Tally it is called false"},
    {"None", "in Tally it is called none"},
    {"null", "in Tally it is called none"},
    {"nil", "in Tally it is called none"},
    {"NULL", "in Tally it is called none"},
    {"undefined", "in Tally it is called none"},
    {"NaN", "in Tally it is called nan"},
    {"NAN", "in Tally it is called nan"},
    {"Inf", "in Tally it is called inf"},
    {"Infinity", "in Tally it is called inf"},
    {"println", "in Tally it is called print"},
    {"printf", "in Tally it is called print"},
    {"array", "an array is written [1, 2, 3]; asarray(x) makes one of a list"},
    {"power", "a power is written x ** y"},
    {"pow", "a power is written x ** y"},
    {"str", "the text of a value is string(x) or \"{x}\""},
    {"ord", "the code points of a string are codepoints(s)"},
    {"chr", "in Tally it is called char"},
    {"math", "functions need no prefix: math.sqrt(x) is sqrt(x)"},
    {"Math", "functions need no prefix: Math.sqrt(x) is sqrt(x)"},
    {"dot", "the product of vectors and matrices is x @ y"},
    {"np", "functions on arrays need no prefix: np.sum(x) is sum(x)"},
    {"numpy", "functions on arrays need no prefix: numpy.sum(x) is sum(x)"},
    {"vstack", "write stack((x, y)) for vectors, concat((x, y)) for matrices"},
    {"row_stack",
     "write stack((x, y)) for vectors, concat((x, y)) for matrices"},
    {"hstack",
     "write concat((x, y)) for vectors, concat((x, y), axis: 1) for matrices"},
    {"list",
     "a list is written (1, 2); of an array's items, (v for v in x); the type "
     "is `list`"},
    {"tuple", "a list is written (1, 2); of an array's items, (v for v in x)"},
    {"dict", "a record is written (a: 1, b: 2), an empty one (:)"},
    {"set",
     "the different items of x are unique(x), in sorted order; "
     "union1d(x, y), intersect1d, setdiff1d and isin combine them"},
    {"throw", "an error is raised by error(\"text\", kind: \"value\")"},
    {"raise", "an error is raised by error(\"text\", kind: \"value\")"},
    {"stop", "an error is raised by error(\"text\", kind: \"value\")"},
    {"range", "a range is written 0..n, an array arange(n)"},
    {"pass", "an empty block is { }"},
    {"elif", "write else if"},
    {"help", "at the prompt ?mean explains mean; `tally doc` lists all names"},
    {"exit", "write os.exit(status); the prompt ends with Ctrl-D too"},
    {"quit", "write os.exit(status); the prompt ends with Ctrl-D too"},
    {"sys",
     "write os.exit(status), os.args or io.stdin, and import os or io first"},
    {"dir", "at the prompt Tab lists names; `tally doc` has all"},
    {"items", "a loop takes both: for key, value in x { … }"},
    {"fill", "all items are set by x[...] = 0"},
    {"copyto", "all items are set by x[...] = y"},
    {"putmask", "items are set by x[mask] = values"},
    {"place", "items are set by x[mask] = values"},
    {"fill_diagonal", "a diagonal is set by x[arange(n), arange(n)] = value"},
    {"ix_", "rows by columns are x[rows[:, none], columns]"},
    {"mgrid",
     "coordinates are meshgrid(arange(n), arange(m), indexing: \"ij\")"},
    {"at",
     "at repeated places k, add_at(x, k, y) adds; for others, group_by(k, y) "
     "gives the values of each place as a row"},
    {"reduceat", "sums of rows are sum(ragged(x, counts), axis: 1)"},
    {"self", "there are no methods: a function takes all that it reads"},
    {"this", "there are no methods: a function takes all that it reads"},
};

// A test runs each code: x and y are arrays, n is an integer, f a function, s a
// text, path a file's name and data an array of bytes.
const tl_hint_code tl_hint_codes[] = {
    {"absolute", "abs(x)"},
    {"alltrue", "all(x)"},
    {"amax", "max(x)"},
    {"amin", "min(x)"},
    {"apply_along_axis", "map_axis(x, f, axis: 0)"},
    {"arccos", "acos(x)"},
    {"arccosh", "acosh(x)"},
    {"arcsin", "asin(x)"},
    {"arcsinh", "asinh(x)"},
    {"arctan", "atan(x)"},
    {"arctan2", "atan2(y, x)"},
    {"arctanh", "atanh(x)"},
    {"argwhere", "stack(nonzero(x), axis: 1)"},
    {"around", "round(x)"},
    {"array_equal", "same(x, y)"},
    {"array_equiv", "all(x == y)"},
    {"asanyarray", "asarray(x)"},
    {"ascontiguousarray", "copy(x)"},
    {"atleast_1d", "reshape(x, -1)"},
    {"atleast_2d", "x[none, :]"},
    {"base_repr", "\"{n:b}\""},
    {"binary_repr", "\"{n:b}\""},
    {"bitwise_not", "~n"},
    {"bmat", "concat((x, y))"},
    {"clamp", "clip(x, 0, 1)"},
    {"column_stack", "stack((x, y), axis: 1)"},
    {"concatenate", "concat((x, y))"},
    {"conjugate", "conj(x)"},
    {"count", "count_nonzero(x)"},
    {"cummax", "cumulative_max(x)"},
    {"cummin", "cumulative_min(x)"},
    {"cumprod", "cumulative_prod(x)"},
    {"cumproduct", "cumulative_prod(x)"},
    {"cumsum", "cumulative_sum(x)"},
    {"deg2rad", "radians(x)"},
    {"delete", "concat((x[:n], x[n + 1:]))"},
    {"diag_indices", "(arange(n), arange(n))"},
    {"diagflat", "diag(x)"},
    {"double", "float64(x)"},
    {"dstack", "stack((x, y), axis: 2)"},
    {"ediff1d", "diff(x)"},
    {"endswith", "ends_with(s, \"a\")"},
    {"extend", "concat((x, y))"},
    {"extract", "x[x > 0]"},
    {"fabs", "abs(x)"},
    {"fix", "trunc(x)"},
    {"flatnonzero", "nonzero(flatten(x))[0]"},
    {"fliplr", "flip(x, axis: 1)"},
    {"flipud", "flip(x, axis: 0)"},
    {"float_power", "float64(x) ** y"},
    {"fmax", "maximum(x, y)"},
    {"fmin", "minimum(x, y)"},
    {"frombuffer", "binary.decode(data, float64)"},
    {"fromfile", "io.read_binary(path, float64)"},
    {"fromfunction", "f(...meshgrid(arange(n), arange(n), indexing: \"ij\"))"},
    {"genfromtxt", "io.read_csv(path)"},
    {"hamming", "0.54 - 0.46 * cos(2 * pi * arange(n) / (n - 1))"},
    {"hanning", "0.5 - 0.5 * cos(2 * pi * arange(n) / (n - 1))"},
    {"histogram_bin_edges", "histogram(x, bins: 10)[1]"},
    {"hsplit", "array_split(x, 2, axis: 1)"},
    {"identity", "eye(n)"},
    {"in1d", "isin(x, y)"},
    {"indices", "meshgrid(arange(n), arange(n), indexing: \"ij\")"},
    {"inner", "x @ y"},
    {"intc", "int32(x)"},
    {"intersect", "intersect1d(x, y)"},
    {"intp", "int64(x)"},
    {"invert", "~n"},
    {"iscomplexobj", "isdtype(x.dtype, \"complex floating\")"},
    {"isneginf", "x == -inf"},
    {"isposinf", "x == inf"},
    {"isna", "is_missing(x)"},
    {"isnull", "is_missing(x)"},
    {"issubdtype", "isdtype(x.dtype, \"integral\")"},
    {"item", "float(x[0])"},
    {"itemsize", "x.dtype.itemsize"},
    {"ldexp", "x * 2.0 ** n"},
    {"left_shift", "n << 1"},
    {"length", "len(x)"},
    {"load", "io.read_npy(path)"},
    {"loadtxt", "io.read_csv(path)"},
    {"map", "each(x, f)"},
    {"memmap", "io.map_npy(path)"},
    {"mod", "x % y"},
    {"modf", "(x - trunc(x), trunc(x))"},
    {"msort", "sort(x, axis: 0)"},
    {"open", "io.open(path)"},
    {"perm", "factorial(n) // factorial(n - 1)"},
    {"piecewise", "select((x < 0, x < 1), (x, y), otherwise: 0.0)"},
    {"polymul", "convolve(x, y)"},
    {"product", "prod(x)"},
    {"promote_types", "result_type(x, y)"},
    {"push", "append(x, 1)"},
    {"rad2deg", "degrees(x)"},
    {"rand", "random.uniform((n,))"},
    {"randint", "random.integers((n,), 0, 10)"},
    {"randn", "random.normal((n,))"},
    {"ravel", "flatten(x)"},
    {"reduce", "fold(x, f)"},
    {"reversed", "reverse(x)"},
    {"right_shift", "n >> 1"},
    {"rint", "round(x)"},
    {"rollaxis", "moveaxis(x, 1, 0)"},
    {"round_", "round(x)"},
    {"save", "io.write_npy(path, x)"},
    {"savetxt", "io.write_csv(path, (x: x))"},
    {"savez", "io.write_npz(path, (x: x))"},
    {"savez_compressed", "io.write_npz(path, (x: x), compressed: true)"},
    {"single", "float32(x)"},
    {"sometrue", "any(x)"},
    {"sorted", "sort(x)"},
    {"splitlines", "strings.lines(s)"},
    {"startswith", "starts_with(s, \"a\")"},
    {"swapaxes", "moveaxis(x, 0, 1)"},
    {"tolist", "(v for v in x)"},
    {"transpose", "x.T"},
    {"trapz", "trapezoid(y, x: x)"},
    {"tri", "tril(ones((n, n)))"},
    {"tril_indices", "nonzero(tril(ones((n, n))))"},
    {"triu_indices", "nonzero(triu(ones((n, n))))"},
    {"true_divide", "x / y"},
    {"uint", "uint64(x)"},
    {"union", "union1d(x, y)"},
    {"vdot", "sum(conj(x) * y)"},
    {"vectorize", "each(x, f)"},
    {"vsplit", "array_split(x, 2)"},
    {"fft.fft2", "fft.fftn(x)"},
    {"fft.ifft2", "fft.ifftn(x)"},
    {"fft.irfft2", "fft.irfftn(x)"},
    {"fft.rfft2", "fft.rfftn(x)"},
    {"random.default_rng", "random.generator(n)"},
    {"random.lognormal", "exp(random.normal((n,)))"},
    {"random.rand", "random.uniform((n,))"},
    {"random.randint", "random.integers((n,), 0, 10)"},
    {"random.randn", "random.normal((n,))"},
    {"random.random", "random.uniform((n,))"},
    {"random.random_integers", "random.integers((n,), 0, 10)"},
    {"random.random_sample", "random.uniform((n,))"},
    {"random.sample", "random.choice(x, (n,), replace: false)"},
    {"random.standard_exponential", "random.exponential((n,))"},
    {"random.standard_gamma", "random.gamma((n,), 2.0)"},
    {"random.standard_normal", "random.normal((n,))"},
    {"time.perf_counter", "time.clock()"},
    {"time.process_time", "time.cpu()"},
    {"time.time", "time.now()"},
    {"os.getcwd", "os.working_folder()"},
    {"os.listdir", "os.list(path)"},
    {"os.mkdir", "os.make_folder(path)"},
    {"os.unlink", "os.remove(path)"},
    {"os.stat", "os.status(path)"},
    {"os.environ", "os.getenv(s)"},
    {"json.loads", "json.parse(s)"},
    {"json.load", "json.parse(io.read_text(path))"},
    {"json.dumps", "json.format(x)"},
    {"json.dump", "io.write_text(path, json.format(x))"},
    {NULL, NULL},
};

// Parameters that a function has elsewhere, and what does here what they ask.
static const struct {
  const char *function, *parameter, *message;
} parameters[] = {
    {"unique", "return_counts", "unique_counts(x) has the counts"},
    {"unique", "return_index", "unique_all(x) has the indices"},
    {"unique", "return_inverse", "unique_inverse(x) has the inverse"},
    {"sort", "reverse", "write descending: true"},
    {"split", "axis", "arrays are cut by array_split(x, parts, axis: 0)"},
    {"std", "ddof", "it is called correction"},
    {"var", "ddof", "it is called correction"},
    {"io.read_csv", "na_values", "it is called missing"},
    {"io.read_csv", "usecols", "it is called columns"},
    {"io.read_csv", "delimiter", "it is called sep"},
    {"io.read_csv", "skiprows", "it is called skip"},
};

// For parameters that other libraries have under another name; NULL: none is
// known.
const char *tl_parameter_hint(const char *function, const char *parameter) {
  for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++)
    if (strcmp(parameters[i].function, function) == 0 &&
        strcmp(parameters[i].parameter, parameter) == 0)
      return parameters[i].message;
  return NULL;
}

// Whether [text] is [name], or with a module "module.name".
static bool is_named(const char *text, const char *module, const char *name) {
  size_t length = module == NULL ? 0 : strlen(module);
  if (length > 0) {
    if (strncmp(text, module, length) != 0 || text[length] != '.')
      return false;
    text += length + 1;
  }
  return strcmp(text, name) == 0;
}

// The length of the module's name that a code begins with; 0: none.
static size_t module_length(const char *code) {
  size_t n = 0;
  while (isalpha((unsigned char)code[n])) n++;
  return n > 1 && code[n] == '.' ? n : 0;
}

// A sentence of its own goes before a code.
const char *tl_name_hint(const char *module, const char *name, char *buffer,
                         size_t size) {
  for (size_t i = 0; module == NULL && i < sizeof hints / sizeof *hints; i++)
    if (strcmp(hints[i].text, name) == 0)
      return hints[i].message;
  for (const tl_hint_code *h = tl_hint_codes; h->name != NULL; h++) {
    if (!is_named(h->name, module, name))
      continue;
    size_t n = module_length(h->code);
    bool imported = n == 0 || (module != NULL && strlen(module) == n &&
                               memcmp(module, h->code, n) == 0);
    snprintf(buffer, size,
             imported ? "write %s" : "write %s, and import %.*s first", h->code,
             (int)n, h->code);
    return buffer;
  }
  return NULL;
}
