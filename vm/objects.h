// What values can do whose kinds are made above the core: arrays (vm/array),
// nested arrays (vm/nested), fused code (vm/region) and what a host makes
// (vm/api). One table of operations for each, handed over when a VM opens
// (vm/api/open.c), so that no layer calls one above it by name.
//
//     vm/value.c  drops the last owner of an array ─▶ vm->arrays->free
//     vm/index    base[i] of a ragged array        ─▶ vm->nested->get
//     vm/text     prints a host's value            ─▶ vm->host->text
//
// Functions that return bool return false after tl_fail; what *out gets is
// owned, unless the function behind it says otherwise.
#pragma once

#include "vm/builtin.h"

struct tl_resource;
struct tl_step;
struct tl_text;
struct tl_unit;
struct tl_nested_path;

// What the core does with arrays, which vm/array has.
struct tl_array_ops {
  // Frees an array whose last owner is gone.
  void (*free)(tl_vm *vm, tl_array *array);
  // A stored view counts the block that it shows; of other arrays, nothing.
  void (*retain_block)(tl_vm *vm, tl_array *array, tl_cause cause);
  // For a view or nested array that is about to be stored, of which the caller
  // has a count: returns it with its block counted, or a copy in its place if a
  // large block would live on for the little of it that the value shows. Never
  // fails.
  tl_slot (*keep)(tl_vm *vm, tl_slot s);
};

// Where a value is a nested array: structs, ragged rows, missing values. Each
// is false after tl_fail; what *out gets is owned, or as the function behind it
// says.
struct tl_nested_ops {
  // Copies all items that the array shows, and nothing else of its blocks.
  bool (*copy)(tl_vm *vm, tl_slot s, tl_slot *out);
  // The language's == of two whole values, of whichever kinds; see tl_equal.
  bool (*equal)(tl_vm *vm, tl_slot a, tl_slot b);
  // The value's type, as typeof gives it; NULL after tl_fail.
  tl_type *(*type)(tl_vm *vm, tl_slot s);
  // base.name for a value of any kind; see tl_field_get.
  bool (*field)(tl_vm *vm, tl_slot *base, tl_string *name, tl_slot *out);
  // The same where the attribute is a part of the value's memory that can be
  // written, such as x.real; see tl_attribute_place.
  bool (*attribute_place)(tl_vm *vm, tl_slot *base, const tl_string *name,
                          tl_slot *out);
  // The error that there is no such field; returns false.
  bool (*fail_no_field)(tl_vm *vm, tl_slot base, tl_slot key);
  // base[step], where [parts] are the values of the step's items; see
  // tl_index_get.
  bool (*get)(tl_vm *vm, tl_slot *base, const struct tl_step *step,
              tl_slot *parts, tl_slot *out);
  // A mask with missing values as a plain mask: true where it is true for
  // certain.
  bool (*known_mask)(tl_vm *vm, const tl_nested *mask, tl_slot *out);
  // base[mask], where the mask may have missing values.
  bool (*get_mask)(tl_vm *vm, tl_slot base, const tl_nested *mask,
                   tl_slot *out);
  // Sets the value at the path [way] below [target]; see tl_nested_set.
  bool (*set)(tl_vm *vm, const struct tl_nested_path *way, tl_slot target,
              bool in_place, bool may_widen, tl_slot *value, tl_nested **out);
  // The operation [op] (tl_op), of which one operand or more is nested.
  bool (*elementwise)(tl_vm *vm, int op, tl_slot *slots, tl_slot *out);
  // Joins arrays along their leading axis; see tl_value_concat.
  bool (*concat)(tl_vm *vm, int64_t count, const tl_slot *items, tl_slot *out);
  // Appends the value as print shows it.
  bool (*format)(struct tl_text *text, tl_slot s, int64_t limit);
};

// From so many items on a region is run as one though no earlier run was like
// it; smaller ones pay only where its plan is there already.
enum { TL_REGION_LARGE = 2048 };

// What lower layers ask of vm/region and its neighbours.
struct tl_fusion_ops {
  // Frees the graphs and plans that are cached for a unit's code, which is
  // about to be freed; see tl_region_forget.
  void (*forget)(tl_vm *vm, const struct tl_unit *unit);
  // One operation on a ragged array and an array with one item for each row,
  // false after tl_fail; *done stays false where the general path has to do it.
  bool (*apply_rows)(tl_vm *vm, int op, int arity, tl_slot *slots, tl_slot *out,
                     bool *done);
  // Whether an error now would put something back; see tl_has_taken.
  bool (*has_taken)(const tl_vm *vm);
};

// Called with a function's module (NULL: none is needed) and its name.
typedef void tl_each_function(void *context, const char *module,
                              const char *name);

// Where a value or a function is a host's.
struct tl_host_ops {
  // Frees a resource whose last owner is gone: runs its release hook.
  void (*free_resource)(tl_vm *vm, struct tl_resource *resource);
  // base.name, base[parts] and callee(args), each by the type's own hook; false
  // after tl_fail, *out is owned.
  bool (*attribute)(tl_vm *vm, tl_slot base, const tl_string *name,
                    tl_slot *out);
  bool (*index)(tl_vm *vm, tl_slot base, uint32_t count, tl_slot *parts,
                tl_slot *out);
  // base[indices] = value, by that type's hook: [count] parts, of which the
  // last is the value. [alone]: nobody else has the object. *out is what the
  // base is afterwards, owned, and perhaps itself.
  bool (*put)(tl_vm *vm, tl_slot base, bool alone, uint32_t count,
              tl_slot *parts, tl_slot *out);
  bool (*call_resource)(tl_vm *vm, tl_slot callee, bool has_names,
                        uint32_t count, tl_slot *args, tl_slot *out);
  // The operator that is written [sign] on [arity] operands, of which one is a
  // resource; *known stays false where no operand's type has it.
  bool (*operate)(tl_vm *vm, const char *sign, uint32_t arity,
                  tl_slot *operands, tl_slot *out, bool *known);
  // Its text as print shows it: owned, NULL after tl_fail.
  tl_string *(*text)(tl_vm *vm, tl_slot s);

  // Runs a release hook (NULL: nothing to do) of a buffer or a resource.
  void (*release)(tl_vm *vm, void (*hook)(void *context, void *data),
                  void *context, void *data);
  // Calls a host's function as tl_builtin_fn does.
  bool (*call)(tl_vm *vm, const tl_builtin *builtin, tl_slot *args,
               tl_slot *out);
  // The library's function of that name, or the host's; NULL: there is none.
  const tl_builtin *(*find_function)(const tl_vm *vm, const char *module,
                                     const char *name, size_t nbytes);
  // Whether an import of that name finds a module of the library or the host;
  // its name, which lives as long as the VM, or NULL.
  const char *(*find_module)(const tl_vm *vm, const char *name, size_t nbytes);
  // Loads the native module in the file at [path], which adds the module
  // [name]; false after tl_fail. NULL [path]: in the folder of Tally's own
  // modules, where *found says whether there is one.
  bool (*load_module)(tl_vm *vm, const char *path, const char *name,
                      bool *found);
  // The library's function in Tally, as tl_load_embedded_function gives it.
  bool (*load_function)(tl_vm *vm, const char *module, const char *function,
                        tl_slot *out);
  // Calls [each] with every function of the host.
  void (*each_function)(const tl_vm *vm, tl_each_function *each, void *context);
  // Calls [each] with every value that the host holds.
  void (*each_handle)(const tl_vm *vm,
                      void (*each)(void *context, tl_slot value),
                      void *context);
  // The same without those that only resources hold, which say so (tally.h:
  // visit).
  void (*each_outer)(tl_vm *vm, void (*each)(void *context, tl_slot value),
                     void *context);
  // Calls [each] with every value that the resource holds; of a type that does
  // not say what it holds, with none.
  void (*each_held)(const struct tl_resource *resource,
                    void (*each)(void *context, tl_slot value), void *context);
};
