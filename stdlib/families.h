// The tables of the library's functions, one for each family. A new family
// takes a line here and one in library.c.
#ifndef TALLY_STDLIB_FAMILIES_H
#define TALLY_STDLIB_FAMILIES_H

#include "vm/builtin.h"

extern const tl_builtin tl_operator_builtins[];
extern const tl_builtin tl_value_builtins[];
extern const tl_builtin tl_list_builtins[];
extern const tl_builtin tl_record_builtins[];
extern const tl_builtin tl_struct_builtins[];
extern const tl_builtin tl_missing_builtins[];
extern const tl_builtin tl_ragged_builtins[];
extern const tl_builtin tl_ragged_pairs_builtins[];
extern const tl_builtin tl_group_builtins[];
extern const tl_builtin tl_categorical_builtins[];
extern const tl_builtin tl_pointer_builtins[];
extern const tl_builtin tl_cumulative_builtins[];
extern const tl_builtin tl_string_builtins[];
extern const tl_builtin tl_strings_module[];
extern const tl_builtin tl_regex_module[];
extern const tl_builtin tl_json_module[];
extern const tl_builtin tl_elementwise_builtins[];
extern const tl_builtin tl_reduce_builtins[];
extern const tl_builtin tl_nan_builtins[];
extern const tl_builtin tl_functional_builtins[];
extern const tl_builtin tl_create_builtins[];
extern const tl_builtin tl_asarray_builtins[];
extern const tl_builtin tl_shape_builtins[];
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
extern const tl_builtin tl_io_text_module[];
extern const tl_builtin tl_io_open_module[];
extern const tl_builtin tl_io_csv_module[];
extern const tl_builtin tl_io_csv_write_module[];
extern const tl_builtin tl_io_npy_module[];
extern const tl_builtin tl_io_map_module[];
extern const tl_builtin tl_io_image_module[];
extern const tl_builtin tl_io_binary_module[];
extern const tl_builtin tl_binary_module[];
extern const tl_builtin tl_linear_module[];
extern const tl_builtin tl_linalg_module[];
extern const tl_builtin tl_linalg_factor_module[];
extern const tl_builtin tl_linalg_products_module[];
extern const tl_builtin tl_fft_module[];
extern const tl_builtin tl_generator_module[];
extern const tl_builtin tl_random_module[];
extern const tl_builtin tl_random_orders_module[];
extern const tl_builtin tl_time_module[];
extern const tl_builtin tl_os_module[];
extern const tl_builtin tl_os_files_module[];
extern const tl_builtin tl_memory_module[];
extern const tl_builtin tl_memory_references[];
extern const tl_builtin tl_memory_held[];
extern const tl_builtin tl_pack_builtins[];

#endif
