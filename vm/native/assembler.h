// Bytes of machine code, in a buffer that grows; where there is no memory for
// it, the assembler is full, and what is written is lost.
#ifndef TALLY_VM_ASSEMBLER_H
#define TALLY_VM_ASSEMBLER_H

#include <string.h>

#include "vm/memory/memory.h"

// Begins with the VM and zeros; tl_as_close ends it. While is_full is set,
// [bytes] is no code: whoever made it has to look before using it. [size] is at
// once the place of the next byte.
typedef struct tl_assembler {
  tl_vm *vm;
  uint8_t *bytes;
  uint32_t size, capacity;
  bool is_full;
} tl_assembler;

// Room doubles from a page on. A full assembler asks for no more memory, so
// that a unit that does not fit costs one refused allocation.
static inline void tl_as_byte(tl_assembler *as, int byte) {
  if (as->size == as->capacity) {
    uint32_t more = as->capacity == 0 ? 4096 : 2 * as->capacity;
    uint8_t *to = as->is_full ? NULL : tl_spare_alloc(as->vm, more);
    if (to == NULL) {
      as->is_full = true;
      return;
    }
    if (as->bytes != NULL) {
      memcpy(to, as->bytes, as->size);
      tl_spare_free(as->vm, as->bytes, as->capacity);
    }
    as->bytes = to;
    as->capacity = more;
  }
  as->bytes[as->size++] = (uint8_t)byte;
}
// Immediates and displacements stand with their lowest byte first.
static inline void tl_as_word(tl_assembler *as, uint32_t word) {
  for (int i = 0; i < 4; i++) tl_as_byte(as, (int)(word >> 8 * i & 255));
}
// Frees the bytes; tl_code_put has copied them by then.
static inline void tl_as_close(tl_assembler *as) {
  if (as->bytes != NULL)
    tl_spare_free(as->vm, as->bytes, as->capacity);
  as->bytes = NULL;
}

#endif
