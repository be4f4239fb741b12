// The descr of dtypes in .npy files.
#pragma once

#include "stdlib/byte_order.h"
#include "vm/types/type.h"
#include "vm/values/list.h"

// Fields of a struct in a file, at most: a bit for each in tl_npy_texts.
enum { TL_NPY_FIELDS = 1024 };

// Which fields of the outermost struct are texts of several code points: U4 is
// `4 * char` in its layout.
typedef struct tl_npy_texts {
  uint64_t bits[TL_NPY_FIELDS / 64];
  bool any;
} tl_npy_texts;
// Whether the field is one of them; fields count from 0.
static inline bool tl_npy_is_text(const tl_npy_texts *texts, int64_t field) {
  return texts->any && (texts->bits[field / 64] >> (field % 64) & 1) != 0;
}
static inline void tl_npy_set_text(tl_npy_texts *texts, int64_t field) {
  texts->bits[field / 64] |= UINT64_C(1) << (field % 64);
  texts->any = true;
}

// The dtype of NumPy's letter and item size; TL_DTYPE_COUNT: there is none.
tl_dtype tl_npy_dtype(char letter, long size);
// "'<f8'", and of one byte "'|i1'". Cut to [room]; returns its length.
int tl_npy_spell_dtype(tl_dtype dtype, char *out, size_t room);

// The layout of a list of fields as inner/npy.tly gives them; NULL after
// tl_fail. [texts] NULL: none of them is a text of several code points.
tl_type *tl_npy_layout(tl_vm *vm, const tl_list *list, int64_t itemsize,
                       tl_npy_texts *texts);

// Whether bytes of an item are bools, anywhere inside: those of a file may be
// other than 0 and 1, so that a mapped file cannot be used as it is.
bool tl_npy_has_bools(const tl_type *type);
// Makes an item of a file one of ours: bytes in this machine's order, bools 0
// or 1.
void tl_npy_settle(char *at, const tl_type *type, bool swapped);

// Writes a layout so, with its padding. Fails (kind type) for fields that
// overlap or do not rise, which a list cannot say.
// [texts] NULL: there are none, as inside of an inner struct.
bool tl_npy_write_fields(tl_vm *vm, tl_text *text, const tl_type *layout,
                         const tl_npy_texts *texts);
