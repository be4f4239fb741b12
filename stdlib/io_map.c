// io.map_npy: an array whose items are the pages of a file.
//
//   npy_header.h -> can_map -> tl_mapping_open -> tl_array_external
//
// The array's release unmaps the file; the VM reads it like any other array,
// so only the layout of the file has to be right: this machine's byte order,
// aligned items, no bools and no strings.

#include "stdlib/families.h"
#include "stdlib/npy_header.h"
#include "vm/memory/mapping.h"
#include "vm/nested/nested.h"

// --- What can be mapped -----------------------------------------------------

// Fails (kind type): the file can be read, but not mapped.
static bool refuse(const tl_reader *reader, const char *why) {
  return tl_fail(reader->vm, TALLY_ERR_TYPE,
                 "map_npy: \"%s\" %s: io.read_npy reads it", reader->path, why);
}

// Whether the bytes of the file are items as kernels want them; false after a
// message that says what prevents it.
static bool can_map(const tl_reader *reader, const tl_npy *from,
                    size_t offset) {
  bool structs = from->layout != NULL;
  if (from->dtype == TL_STRING)
    return refuse(reader, from->letter == 'U'
                              ? "has strings, which are not mapped"
                              : "has bytes, which are not mapped");
  if (structs && from->texts.any)
    return refuse(reader, "has strings among its fields, which are not mapped");
  // Kernels rely on bools being 0 or 1, and a file may hold any byte at any
  // time.
  if (structs ? tl_npy_has_bools(from->layout) : from->dtype == TL_BOOL)
    return refuse(reader, "has bools, which a file cannot vouch for");
  if (from->swapped)
    return refuse(reader, "has the other byte order");
  if (structs && (from->ndim == 0 || (from->fortran && from->ndim > 1)))
    return refuse(reader, "has structs of no axis or in Fortran's order");
  // Complex items are aligned as their parts are.
  size_t align = tl_itemsize(from->dtype);
  if (tl_dtype_is_complex(from->dtype))
    align /= 2;
  if (offset % align != 0)
    return refuse(reader, "has items that are not aligned");
  return true;
}

// --- Mapping ----------------------------------------------------------------

// The strides of Fortran's order, in bytes: the first axis is the innermost.
static void rising_strides(const tl_npy *from, int64_t *strides) {
  int64_t stride = (int64_t)tl_itemsize(from->dtype);
  for (int i = 0; i < from->ndim; i++) {
    strides[i] = stride;
    stride *= from->shape[i];
  }
}

// An array over the items of the file. Its pages belong to the system as long
// as they are read; those that a script may write count as external memory.
// [own]: copy-on-write. The mapping passes to the array, whose release closes
// it; where no array is made it is released here. tl_reader_close does not end
// it.
static bool map_items(tl_reader *reader, const tl_npy *from, size_t offset,
                      bool own, tl_slot *out) {
  tl_vm *vm = reader->vm;
  tl_mapping *mapping;
  int ndim = from->ndim;
  int64_t shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  // Of a vector both orders are the same.
  bool fortran = from->fortran && ndim > 1;
  for (int i = 0; i < ndim; i++) shape[i] = from->shape[i];
  // Structs are rows of bytes with a layout: one axis more.
  if (from->layout != NULL) {
    if (ndim == TL_MAX_DIMS)
      return refuse(reader, "has too many axes");
    shape[ndim++] = from->layout->itemsize;
  } else if (fortran) {
    rising_strides(from, strides);
  }
  if (!tl_mapping_open(reader, own, &mapping))
    return false;
  char *data = tl_mapping_data(mapping) + offset;
  tl_array *a = tl_array_external(
      vm, from->dtype, ndim, shape, fortran ? strides : NULL, data,
      own ? (size_t)reader->size : 0, !own, tl_mapping_release, mapping);
  if (a == NULL) {
    tl_mapping_release(mapping, data);
    return false;
  }
  if (from->layout == NULL) {
    *out = tl_result(vm, a);
    return true;
  }
  tl_slot block = tl_own_array(a);
  if (!tl_nested_pair(vm, TL_FORM_STRUCT, ndim - 1, &block, NULL, out))
    return false;
  out->nested->layout = from->layout;
  return true;
}

// The array of a file without items, in which there is nothing to map.
static bool make_empty(tl_vm *vm, const tl_npy *from, tl_slot *out) {
  if (from->layout != NULL)
    return tl_struct_zeros(vm, from->layout, from->ndim, from->shape, out);
  return tl_array_finish(
      vm, true, tl_array_new(vm, from->dtype, from->ndim, from->shape), out);
}

// Reads the header and maps the rest.
static bool map_file(tl_reader *reader, bool own, tl_slot *out) {
  // The header is read as for io.read_npy, from a reader that stays at the
  // items.
  tl_npy from = {.width = 0};
  uint64_t left = 0;
  int64_t size;
  size_t nbytes;
  if (!tl_npy_read_header(reader, &from, &left) ||
      !tl_npy_check_size(reader, &from, left))
    return false;
  // The items are all that is left behind the header.
  size_t offset = (size_t)((uint64_t)reader->size - left);
  if (!can_map(reader, &from, offset) ||
      !tl_shape_size(reader->vm, from.ndim, from.shape, 1, &size, &nbytes))
    return false;
  if (size == 0)
    return make_empty(reader->vm, &from, out);
  return map_items(reader, &from, offset, own, out);
}

// --- The function -----------------------------------------------------------

// io.map_npy(path, mode).
static bool map_npy(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const tl_string *mode = tl_is_none(args[1]) ? NULL : args[1].string;
  tl_reader reader;
  // Copy-on-write: the pages that are written become the process' own.
  bool own = mode != NULL && strcmp(mode->text, "c") == 0;
  if (mode != NULL && !own && strcmp(mode->text, "r") != 0) {
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "map_npy: mode is \"r\" (read-only) or \"c\" (copy-on-write)"
                   ", not \"%s\"",
                   mode->text);
  }
  const char *path = tl_io_path(vm, "map_npy", args[0].string);
  if (path == NULL || !tl_reader_open(vm, "map_npy", path, &reader))
    return false;
  bool ok = map_file(&reader, own, out);
  tl_reader_close(&reader);
  return ok;
}

// One row; the array is used like any other.
const tl_builtin tl_io_map_module[] = {
    /// The array in a .npy file, mapped: its items are read from the file when
    /// they are used, and do not count against the memory limit, so that a file
    /// larger than memory can be reduced. Numbers and structs of numbers in this
    /// machine's byte order are mapped, any order of axes.
    /// With mode "r" the pages are read-only: an update makes a copy of the
    /// array. With "c" (copy-on-write) updates go to pages of the script's own,
    /// which count as external memory, as if all were written; the file never
    /// changes. Others should not change the file while it is mapped: values
    /// change with it, and where it has become shorter, reading what is gone is
    /// an error (kind io).
    /// A file that cannot be read is an error (kind io), one that cannot be
    /// mapped as it is another (type).
    ///     sum(io.map_npy("weights.npy"))
    {"map_npy", "path, mode: \"r\"", map_npy, TL_FILES | TL_EFFECT,
     .types = "sS"},
    {.name = NULL},
};
