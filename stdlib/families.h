// The head of the library: the tables of its functions, one for each family,
// and what nearly every family needs.
//
// A family is a file with an array of rows { name, signature, function, flags },
// each below its documentation, ended by a row of NULL. library.c lists the
// families with the module that each belongs to and the topic under which
// `tally doc` shows it:
//
//   value.c    tl_value_builtins[] --+
//   reduce.c   tl_reduce_builtins[] -+--> library.c families[]
//   module_json.c tl_json_module[] --+         |
//                                              v
//                             tl_standard_library --> tally_open --> VM
//
// A function reads its arguments (arguments.h), makes arrays (arrays.h), or
// hands the work on, to Tally or to another family (shared.h). A new family
// takes a line here and one in library.c.
#ifndef TALLY_STDLIB_FAMILIES_H
#define TALLY_STDLIB_FAMILIES_H

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/shared.h"

// A row leaves out what is plain about its function, and a function has all
// parameters of tl_builtin_fn, whether it needs them or not.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wunused-parameter"

// Values, lists, records and the forms of arrays.
extern const tl_builtin tl_operator_builtins[];
extern const tl_builtin tl_value_builtins[];
extern const tl_builtin tl_list_builtins[];
extern const tl_builtin tl_record_builtins[];
extern const tl_builtin tl_struct_builtins[];
extern const tl_builtin tl_missing_builtins[];
extern const tl_builtin tl_ragged_builtins[];
extern const tl_builtin tl_ragged_pairs_builtins[];
extern const tl_builtin tl_group_builtins[];
extern const tl_builtin tl_cumulative_builtins[];
// Text, patterns and JSON.
extern const tl_builtin tl_string_builtins[];
extern const tl_builtin tl_strings_module[];
extern const tl_builtin tl_regex_module[];
extern const tl_builtin tl_json_module[];
// Items, reductions and functions of functions. The rows of
// tl_elementwise_builtins are in the order of tl_op.
extern const tl_builtin tl_elementwise_builtins[];
extern const tl_builtin tl_reduce_builtins[];
extern const tl_builtin tl_checks_module[];
extern const tl_builtin tl_divisors_module[];
extern const tl_builtin tl_described_module[];
extern const tl_builtin tl_functional_builtins[];
// Making arrays, their shapes and orders.
extern const tl_builtin tl_create_builtins[];
extern const tl_builtin tl_asarray_builtins[];
extern const tl_builtin tl_shape_builtins[];
extern const tl_builtin tl_broadcast_builtins[];
extern const tl_builtin tl_join_builtins[];
extern const tl_builtin tl_sort_builtins[];
extern const tl_builtin tl_select_builtins[];
extern const tl_builtin tl_bins_builtins[];
extern const tl_builtin tl_search_builtins[];
extern const tl_builtin tl_places_builtins[];
extern const tl_builtin tl_convolve_builtins[];
extern const tl_builtin tl_neighbour_builtins[];
extern const tl_builtin tl_set_builtins[];
extern const tl_builtin tl_linear_builtins[];
extern const tl_builtin tl_dtype_builtins[];
// Files and formats.
extern const tl_builtin tl_io_text_module[];
extern const tl_builtin tl_io_open_module[];
extern const tl_builtin tl_input_builtins[];
extern const tl_builtin tl_io_csv_module[];
extern const tl_builtin tl_csv_module[];
extern const tl_builtin tl_io_csv_write_module[];
extern const tl_builtin tl_io_npy_module[];
extern const tl_builtin tl_io_map_module[];
extern const tl_builtin tl_pixels_module[];
extern const tl_builtin tl_io_binary_module[];
extern const tl_builtin tl_binary_module[];
// Linear algebra and transforms.
extern const tl_builtin tl_linear_module[];
extern const tl_builtin tl_linalg_module[];
extern const tl_builtin tl_linalg_factor_module[];
extern const tl_builtin tl_linalg_products_module[];
extern const tl_builtin tl_fft_module[];
// Random numbers.
extern const tl_builtin tl_generator_module[];
extern const tl_builtin tl_random_module[];
extern const tl_builtin tl_random_orders_module[];
// The system, memory and pictures.
extern const tl_builtin tl_time_module[];
extern const tl_builtin tl_os_module[];
extern const tl_builtin tl_os_files_module[];
extern const tl_builtin tl_memory_module[];
extern const tl_builtin tl_memory_references[];
extern const tl_builtin tl_memory_held[];
extern const tl_builtin tl_pack_builtins[];
extern const tl_builtin tl_plot_module[];

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

#endif
