// The head of the library: the tables of its functions, one for each family,
// and what nearly every family needs.
//
// A family is a file with an array of rows { name, signature, function, flags },
// each below its documentation, ended by a row of NULL. A list has the families
// with the module that each belongs to and the topic under which `tally doc`
// shows it:
//
//   value.c    tl_value_builtins[] --+
//   reduce.c   tl_reduce_builtins[] -+--> TL_FAMILIES, below
//   module_json.c tl_json_module[] --+         |
//                                              v
//                   library.c tl_standard_library --> tally_open --> VM
//
// A function reads its arguments (arguments.h), makes arrays (arrays.h), or
// hands the work on, to Tally or to another family (shared.h). A new family
// takes a line in the list below.
#pragma once

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/shared.h"

// A row leaves out what is plain about its function, and a function has all
// parameters of tl_builtin_fn, whether it needs them or not.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wunused-parameter"

// X(module, rows, topic): every family, in the order of `tally doc`. The module
// is NULL for global names; it may have several families, and a file in Tally
// besides: linalg has four here, and stdlib/linalg.tly. _arguments is for
// modules written in Tally, _places for the compiler, and neither is meant for
// scripts. Topics are in library.c.
// The rows of tl_elementwise_builtins are in the order of tl_op.
#define TL_FAMILIES(X)                           \
  X(NULL, tl_value_builtins, VALUES)             \
  X(NULL, tl_list_builtins, RECORDS)             \
  X(NULL, tl_record_builtins, RECORDS)           \
  X(NULL, tl_struct_builtins, TABLES)            \
  X(NULL, tl_missing_builtins, MISSING)          \
  X(NULL, tl_ragged_builtins, RAGGED)            \
  X(NULL, tl_ragged_pairs_builtins, RAGGED)      \
  X(NULL, tl_group_builtins, RAGGED)             \
  X(NULL, tl_cumulative_builtins, REDUCTIONS)    \
  X(NULL, tl_string_builtins, TEXT)              \
  X(NULL, tl_elementwise_builtins, ITEMS)        \
  X(NULL, tl_reduce_builtins, REDUCTIONS)        \
  X(NULL, tl_quantile_builtins, REDUCTIONS)      \
  X(NULL, tl_functional_builtins, FUNCTIONS)     \
  X(NULL, tl_create_builtins, CREATING)          \
  X(NULL, tl_asarray_builtins, CREATING)         \
  X(NULL, tl_shape_builtins, SHAPE)              \
  X(NULL, tl_broadcast_builtins, SHAPE)          \
  X(NULL, tl_join_builtins, SHAPE)               \
  X(NULL, tl_sort_builtins, ORDER)               \
  X(NULL, tl_select_builtins, PLACES)            \
  X(NULL, tl_search_builtins, ORDER)             \
  X(NULL, tl_bins_builtins, BINS)                \
  X(NULL, tl_places_builtins, PLACES)            \
  X(NULL, tl_convolve_builtins, SIGNALS)         \
  X(NULL, tl_neighbour_builtins, SIGNALS)        \
  X(NULL, tl_set_builtins, ORDER)                \
  X(NULL, tl_linear_builtins, LINEAR)            \
  X(NULL, tl_dtype_builtins, DTYPES)             \
  X("strings", tl_strings_module, TEXT)          \
  X("strings", tl_regex_module, TEXT)            \
  X("json", tl_json_module, FILES)               \
  X("io", tl_io_text_module, FILES)              \
  X("io", tl_io_open_module, FILES)              \
  X(NULL, tl_input_builtins, FILES)              \
  X("io", tl_io_csv_module, FILES)               \
  X("io", tl_io_csv_write_module, FILES)         \
  X("io", tl_io_npy_module, FILES)               \
  X("io", tl_io_map_module, FILES)               \
  X("io", tl_io_binary_module, FILES)            \
  X("binary", tl_binary_module, FILES)           \
  X("linalg", tl_linear_module, LINEAR)          \
  X("linalg", tl_linalg_module, LINEAR)          \
  X("linalg", tl_linalg_factor_module, LINEAR)   \
  X("linalg", tl_linalg_products_module, LINEAR) \
  X("fft", tl_fft_module, SIGNALS)               \
  X("random", tl_generator_module, RANDOM)       \
  X("random", tl_random_module, RANDOM)          \
  X("random", tl_random_orders_module, RANDOM)   \
  X("time", tl_time_module, SYSTEM)              \
  X("os", tl_os_module, SYSTEM)                  \
  X("os", tl_os_files_module, SYSTEM)            \
  X("memory", tl_memory_module, MEMORY)          \
  X("memory", tl_memory_references, MEMORY)      \
  X("memory", tl_memory_held, MEMORY)            \
  X("_arguments", tl_checks_module, VALUES)      \
  X("_arguments", tl_divisors_module, VALUES)    \
  X("_arguments", tl_described_module, VALUES)   \
  X("_arguments", tl_pixels_module, VALUES)      \
  X("_arguments", tl_csv_module, VALUES)         \
  X("_places", tl_sought_module, RECORDS)        \
  X(NULL, tl_pack_builtins, MEMORY)              \
  X("plot", tl_plot_module, PLOT)

#define X(module, rows, topic) extern const tl_builtin rows[];
TL_FAMILIES(X)
#undef X

// How a region reads a call of a built-in that consumes the items of a fused
// expression: each fills *out and returns true where the call with these
// arguments is one that the region may fold into its own loop. False is no
// failure: the call is made as usual. See tl_fused_calls. An argument that is
// wrong may leave an error pending; the call that follows fails with the same
// one.
bool tl_fused_reduction(tl_vm *vm, const tl_builtin *builtin, int ndim,
                        const tl_slot *args, tl_fold_call *out);  // reduce.c
// A running value along one axis. What *out borrows lives as long as [args].
bool tl_fused_scan(tl_vm *vm, const tl_builtin *builtin, int ndim,
                   const tl_slot *args, tl_scan_call *out);  // cumulative.c
// A norm as a fold of |x|^p; the root is taken of the result.
bool tl_fused_norm(tl_vm *vm, const tl_builtin *builtin, int ndim,
                   const tl_slot *args, tl_fold_call *out,
                   double *p);  // linalg_products.c
// bincount and histogram. On success the region calls out->close, whatever
// happens in between; on failure nothing is open.
bool tl_fused_consumer(tl_vm *vm, const tl_builtin *builtin, tl_dtype from,
                       int ndim, const tl_slot *args,
                       tl_call_consumer *out);  // bins.c
// Shifts are from 0 and below the length of their axis, one for each axis.
bool tl_fused_roll(tl_vm *vm, int ndim, const int64_t *lengths,
                   const tl_slot *args, int64_t *shift);  // shape.c

// Expands data packed with deflate at build time, such as the library's own
// sources, into [to], which has room for all of it (inflate.c).
void tl_inflate(const unsigned char *packed, char *to);

// All of this as one value, which tally_open hands to a VM.
extern const tl_library tl_standard_library;
