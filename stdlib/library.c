// All of the library's functions and constants in one place, found by name.

#include "stdlib/families.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "vm/embedded.h"

const tl_family tl_library[] = {
    {NULL, tl_value_builtins},
    {NULL, tl_operator_builtins},
    {NULL, tl_list_builtins},
    {NULL, tl_record_builtins},
    {NULL, tl_struct_builtins},
    {NULL, tl_missing_builtins},
    {NULL, tl_ragged_builtins},
    {NULL, tl_ragged_pairs_builtins},
    {NULL, tl_group_builtins},
    {NULL, tl_categorical_builtins},
    {NULL, tl_pointer_builtins},
    {NULL, tl_cumulative_builtins},
    {NULL, tl_string_builtins},
    {NULL, tl_elementwise_builtins},
    {NULL, tl_reduce_builtins},
    {NULL, tl_nan_builtins},
    {NULL, tl_functional_builtins},
    {NULL, tl_create_builtins},
    {NULL, tl_asarray_builtins},
    {NULL, tl_shape_builtins},
    {NULL, tl_join_builtins},
    {NULL, tl_sort_builtins},
    {NULL, tl_select_builtins},
    {NULL, tl_search_builtins},
    {NULL, tl_bins_builtins},
    {NULL, tl_places_builtins},
    {NULL, tl_convolve_builtins},
    {NULL, tl_neighbour_builtins},
    {NULL, tl_set_builtins},
    {NULL, tl_linear_builtins},
    {NULL, tl_dtype_builtins},
    {"strings", tl_strings_module},
    {"strings", tl_regex_module},
    {"json", tl_json_module},
    {"io", tl_io_text_module},
    {"io", tl_io_open_module},
    {"io", tl_io_csv_module},
    {"io", tl_io_csv_write_module},
    {"io", tl_io_npy_module},
    {"io", tl_io_map_module},
    {"io", tl_io_image_module},
    {"io", tl_io_binary_module},
    {"binary", tl_binary_module},
    {"linalg", tl_linear_module},
    {"linalg", tl_linalg_module},
    {"linalg", tl_linalg_factor_module},
    {"linalg", tl_linalg_products_module},
    {"fft", tl_fft_module},
    {"random", tl_generator_module},
    {"random", tl_random_module},
    {"random", tl_random_orders_module},
    {"time", tl_time_module},
    {"os", tl_os_module},
    {"os", tl_os_files_module},
    {"memory", tl_memory_module},
    {"memory", tl_memory_references},
    {"memory", tl_memory_held},
    {NULL, tl_pack_builtins},
    {NULL, NULL},
};

const tl_constant tl_constants[] = {
    {NULL, "pi", 3.14159265358979323846,
     "The ratio of a circle's circumference to its diameter; also π.\n"
     "    pi    # 3.141592653589793\n",
     false},
    {NULL, "e", 2.71828182845904523536,
     "The base of the natural logarithm.\n"
     "    e    # 2.718281828459045\n",
     false},
    {NULL, "inf", (double)INFINITY,
     "The float above all numbers; also ∞.\n"
     "    inf    # inf\n",
     false},
    {NULL, "nan", (double)NAN,
     "The float that is not a number: no comparison but != holds for it.\n"
     "    nan    # nan\n",
     false},
    {NULL, "newaxis", 0,
     "The index that makes a new axis of length 1: none, under the standard's\n"
     "name.\n"
     "    [1, 2][:, newaxis]    # [[1], [2]]\n",
     true},
    {NULL, NULL, 0, NULL, false},
};

// --- Finding ----------------------------------------------------------------

// An open hash table over all rows, four times as large as it needs to be.
enum { TABLE_SIZE = 2048 };

typedef struct entry {
  const char *module;
  const tl_builtin *row;
} entry;

static entry table[TABLE_SIZE];

// Whoever comes first builds the table; who comes meanwhile searches the rows
// one by one and need not wait.
enum { UNBUILT, BUILDING, BUILT };
static atomic_int table_state = UNBUILT;

static bool same_name(const char *a, const char *name, size_t nbytes) {
  return strncmp(a, name, nbytes) == 0 && a[nbytes] == 0;
}

static bool same_module(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

static size_t hash_name(const char *module, const char *name, size_t nbytes) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (; module && *module; module++)
    hash = (hash ^ (unsigned char)*module) * UINT64_C(0x100000001b3);
  hash = (hash ^ '.') * UINT64_C(0x100000001b3);
  for (size_t i = 0; i < nbytes; i++)
    hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
  return (size_t)(hash ^ hash >> 32) % TABLE_SIZE;
}

static void build_table(void) {
  for (const tl_family *family = tl_library; family->rows; family++) {
    for (const tl_builtin *row = family->rows; row->name; row++) {
      size_t at = hash_name(family->module, row->name, strlen(row->name));
      while (table[at].row) at = (at + 1) % TABLE_SIZE;
      table[at] = (entry){family->module, row};
    }
  }
}

static const tl_builtin *search_rows(const char *module, const char *name,
                                     size_t nbytes) {
  for (const tl_family *family = tl_library; family->rows; family++) {
    if (!same_module(family->module, module))
      continue;
    for (const tl_builtin *row = family->rows; row->name; row++)
      if (same_name(row->name, name, nbytes))
        return row;
  }
  return NULL;
}

const tl_builtin *tl_builtin_find(const char *module, const char *name,
                                  size_t nbytes) {
  int state = atomic_load_explicit(&table_state, memory_order_acquire);
  if (state == UNBUILT &&
      atomic_compare_exchange_strong(&table_state, &state, BUILDING)) {
    build_table();
    atomic_store_explicit(&table_state, BUILT, memory_order_release);
    state = BUILT;
  }
  if (state != BUILT)
    return search_rows(module, name, nbytes);
  size_t at = hash_name(module, name, nbytes);
  for (; table[at].row; at = (at + 1) % TABLE_SIZE) {
    if (same_module(table[at].module, module) &&
        same_name(table[at].row->name, name, nbytes))
      return table[at].row;
  }
  return NULL;
}

const char *tl_builtin_module(const tl_builtin *builtin) {
  for (const tl_family *family = tl_library; family->rows; family++)
    for (const tl_builtin *row = family->rows; row->name; row++)
      if (row == builtin)
        return family->module;
  return NULL;
}

// --- Modules in Tally -------------------------------------------------------

const struct tl_embedded *tl_embedded_find(const char *module) {
  for (const struct tl_embedded *e = tl_embedded_modules; e->name; e++)
    if (strcmp(e->name, module) == 0)
      return e;
  return NULL;
}

const struct tl_embedded_function *tl_embedded_member(const char *module,
                                                      const char *name) {
  const struct tl_embedded *e = tl_embedded_find(module);
  const struct tl_embedded_function *f = e ? e->functions : NULL;
  for (; f && f->name; f++)
    if (strcmp(f->name, name) == 0)
      return f;
  return NULL;
}

const struct tl_embedded *tl_embedded_global(const char *name) {
  for (const struct tl_embedded *e = tl_embedded_modules; e->name; e++)
    if (e->is_global && tl_embedded_member(e->name, name))
      return e;
  return NULL;
}

// --- Signatures -------------------------------------------------------------

static const char *skip_blanks(const char *at) {
  while (*at == ' ') at++;
  return at;
}

static const char *skip_word(const char *at) {
  while (*at && !strchr(" ,:=\"", *at)) at++;
  return at;
}

// A default's value: none, a bool, a number. Anything else (a string, a name)
// is none, and the function's documentation says what none stands for.
static tl_slot parse_default(const char **at) {
  const char *start = *at;
  if (*start == '"') {
    const char *end = strchr(start + 1, '"');
    *at = end ? end + 1 : start + strlen(start);
    return tl_none();
  }
  const char *end = skip_word(start);
  size_t nbytes = (size_t)(end - start);
  *at = end;
  if (nbytes == 4 && memcmp(start, "true", 4) == 0)
    return tl_bool(true);
  if (nbytes == 5 && memcmp(start, "false", 5) == 0)
    return tl_bool(false);
  if (nbytes == 3 && memcmp(start, "inf", 3) == 0)
    return tl_weak_float((double)INFINITY);
  char *stop;
  long long i = strtoll(start, &stop, 10);
  if (stop == end && stop != start)
    return tl_weak_int(i);
  double f = strtod(start, &stop);
  if (stop == end && stop != start)
    return tl_weak_float(f);
  return tl_none();
}

int tl_params_parse(const char *params, tl_param out[TL_MAX_PARAMS]) {
  int count = 0;
  const char *at = skip_blanks(params);
  while (*at && count < TL_MAX_PARAMS) {
    tl_param param = {.kind = TL_PARAM_REQUIRED, .value = tl_none()};
    if (strncmp(at, "...", 3) == 0) {
      param.kind = TL_PARAM_REST;
      at += 3;
    }
    param.name = at;
    at = skip_word(at);
    param.name_length = (size_t)(at - param.name);
    at = skip_blanks(at);
    if (*at == ':' || *at == '=') {
      param.kind = *at == ':' ? TL_PARAM_NAMED : TL_PARAM_OPTIONAL;
      at = skip_blanks(at + 1);
      param.value = parse_default(&at);
      at = skip_blanks(at);
    }
    out[count++] = param;
    if (*at == ',')
      at = skip_blanks(at + 1);
    else
      break;
  }
  return count;
}
