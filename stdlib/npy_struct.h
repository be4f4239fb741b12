// The descr of structured dtypes in .npy files.
#ifndef TALLY_STDLIB_NPY_STRUCT_H
#define TALLY_STDLIB_NPY_STRUCT_H

#include "vm/values/string.h"
#include "vm/types/type.h"

enum { TL_NPY_FIELDS = 1024 };

// Which fields of the outermost struct are texts of several code points: U4 is
// `4 * char` in its layout.
typedef struct tl_npy_texts {
  uint64_t bits[TL_NPY_FIELDS / 64];
  bool any;
} tl_npy_texts;
static inline bool tl_npy_is_text(const tl_npy_texts *texts, int64_t field) {
  return texts->any && (texts->bits[field / 64] >> (field % 64) & 1) != 0;
}
static inline void tl_npy_set_text(tl_npy_texts *texts, int64_t field) {
  texts->bits[field / 64] |= UINT64_C(1) << (field % 64);
  texts->any = true;
}

// Reads a list of fields, [('x', '<f8'), ('y', '<i4', (3,)), …], after its
// opening bracket: *at is moved behind it. Unnamed fields of kind V are
// padding. Nested lists are structs. NULL after tl_fail; [function] and [path]
// are for the message. *swapped: their bytes are in the other order than this
// machine's; one list has one order.
tl_type *tl_npy_read_fields(tl_vm *vm, const char *function, const char *path,
                            const char **at, const char *end, bool *swapped,
                            tl_npy_texts *texts);

bool tl_npy_has_bools(const tl_type *type);
// Turns each of [count] numbers of [width] bytes around.
void tl_npy_swap_bytes(char *data, size_t width, size_t count);
// Makes an item of a file one of ours: bytes in this machine's order, bools 0
// or 1.
void tl_npy_settle(char *at, const tl_type *type, bool swapped);

// Writes a layout so, with its padding. Fails (kind type) for fields that
// overlap or do not rise, which a list cannot say.
bool tl_npy_write_fields(tl_vm *vm, tl_text *text, const tl_type *layout,
                         const tl_npy_texts *texts);

#endif
