// All of the library in one place, as tally_open hands it to a VM: families of
// built-ins, constants, the topics of the documentation, and the hooks by
// which regions read calls of the library. Nothing else of the VM names a
// function of the library.

#include "stdlib/families.h"

#include <math.h>

#include "vm/embedded.h"
#include "vm/values/record.h"

// The topics that `tally doc` lists together, in the order in which they come
// below. A new function is listed where its family is.
#define VALUES "values, conversions, errors"
#define RECORDS "lists and records"
#define TABLES "tables: arrays of structs"
#define MISSING "missing values"
#define RAGGED "rows of different lengths, groups"
#define FORMS "categories and pointers"
#define REDUCTIONS "sums, means and other reductions"
#define TEXT "text"
#define ITEMS "functions of each item"
#define FUNCTIONS "functions of functions"
#define CREATING "creating arrays"
#define SHAPE "shape, joining and cutting"
#define ORDER "sorting, searching, sets"
#define PLACES "choosing and placing items"
#define BINS "counting and interpolating"
#define SIGNALS "neighbours, signals, transforms"
#define LINEAR "linear algebra"
#define DTYPES "dtypes"
#define FILES "files and formats"
#define RANDOM "random numbers"
#define SYSTEM "time and system"
#define MEMORY "memory"
#define PLOT "pictures"
#define STATISTICS "statistics"
#define NUMBERS "whole numbers and bits"
#define POLYNOMIALS "polynomials and special functions"

// The topics of modules that are written in Tally, by their file's name
// without the ending.
// What the same module has in C stands under the topic of its family instead.
static const tl_module_topic topics[] = {
    {"global/categories", FORMS},
    {"global/correlation", STATISTICS},
    {"global/dtypes", DTYPES},
    {"global/einsum", LINEAR},
    {"global/functions", FUNCTIONS},
    {"global/grids", CREATING},
    {"global/missing", REDUCTIONS},
    {"global/nearness", ITEMS},
    {"global/nests", RECORDS},
    {"global/numbers", NUMBERS},
    {"global/operators", VALUES},
    {"global/ordering", ORDER},
    {"global/pictures", PLOT},
    {"global/polynomials", POLYNOMIALS},
    {"global/products", LINEAR},
    {"global/rows", RAGGED},
    {"global/sets", ORDER},
    {"global/shaping", SHAPE},
    {"global/signals", SIGNALS},
    {"global/special", POLYNOMIALS},
    {"global/structs", TABLES},
    {"fft", SIGNALS},
    {"io", FILES},
    {"linalg", LINEAR},
    {"plot", PLOT},
    {"stats", STATISTICS},
    {"tables", TABLES},
    {"time", SYSTEM},
    {NULL, NULL},
};

static const tl_family families[] = {
#define X(module, rows, topic) {module, rows, topic},
    TL_FAMILIES(X)
#undef X
        {NULL, NULL, NULL},
};

// Names that stand for a number; the last field says that the value is none
// instead.
static const tl_constant constants[] = {
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

// --- What a VM gets ---------------------------------------------------------

// How regions read calls of reductions, scans and other consumers.
static const tl_fused_calls fused_calls = {
    .reduction = tl_fused_reduction,
    .scan = tl_fused_scan,
    .norm = tl_fused_norm,
    .consumer = tl_fused_consumer,
    .roll = tl_fused_roll,
};

// The index of names, filled by the first that asks.
static tl_builtin_index builtin_index;

// What tally_open hands to a VM.
// A record with the fields of plot.tly's of_layer.
static bool is_picture(tl_slot value) {
  static const char *const fields[] = {
      "layers",  "title",   "x_label", "y_label", "x_scale",
      "y_scale", "x_range", "y_range", "width",   "height"};
  enum { FIELDS = sizeof fields / sizeof *fields };
  if (!tl_is_record(value) || value.record->length != FIELDS)
    return false;
  for (int i = 0; i < FIELDS; i++) {
    const tl_string *key = tl_key_string(value.record->fields[i].key);
    if (key == NULL || strcmp(key->text, fields[i]) != 0)
      return false;
  }
  return true;
}

const tl_library tl_standard_library = {
    .families = families,
    .constants = constants,
    .topics = topics,
    .fused = &fused_calls,
    .read_arguments = tl_read_arguments,
    .index = &builtin_index,
    .embedded = &tl_embedded,
    .is_picture = is_picture,
};
