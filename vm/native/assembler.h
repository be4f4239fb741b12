// Bytes of machine code, in a buffer that grows; where there is no memory for
// it, the assembler is full, and what is written is lost.
#pragma once

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

// Appends the lowest [count] bytes, at most 8, lowest first, as the processors
// have them that code is made for; all 8 are written, and what is behind is
// overwritten by the next.
void tl_as_put(tl_assembler *as, uint64_t bytes, uint32_t count);
static inline void tl_as_byte(tl_assembler *as, int byte) {
  tl_as_put(as, (uint8_t)byte, 1);
}
// An immediate, a displacement, or an instruction of 32 bits.
static inline void tl_as_word(tl_assembler *as, uint32_t word) {
  tl_as_put(as, word, 4);
}
// Frees the bytes; tl_code_put has copied them by then.
void tl_as_close(tl_assembler *as);
