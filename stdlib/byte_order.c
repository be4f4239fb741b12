// See byte_order.h.
//
// Built for speed.
#include "stdlib/byte_order.h"

// Read from memory, as C11 has no macro for it; compilers fold it to a
// constant.
bool tl_is_big_endian(void) {
  const uint16_t one = 1;
  return *(const uint8_t *)&one == 0;
}

// Any even width; the middle byte of an odd one stays where it is.
static inline void swap(char *data, size_t width, size_t count) {
  for (; count > 0; count--, data += width)
    for (size_t i = 0; i < width / 2; i++) {
      char byte = data[i];
      data[i] = data[width - 1 - i];
      data[width - 1 - i] = byte;
    }
}

// With a width that the compiler knows a word is turned in one instruction.
void tl_swap_bytes(char *data, size_t width, size_t count) {
  if (width == 2)
    swap(data, 2, count);
  else if (width == 4)
    swap(data, 4, count);
  else if (width == 8)
    swap(data, 8, count);
  else if (width > 1)
    swap(data, width, count);
}

// A complex number is two words, each with its own order of bytes. Bools are
// brought to 0 or 1 even where nothing is swapped: a file may hold any byte.
void tl_settle_items(char *data, tl_dtype dtype, size_t count, bool swapped) {
  size_t words = tl_dtype_is_complex(dtype) ? 2 : 1;
  if (swapped)
    tl_swap_bytes(data, tl_itemsize(dtype) / words, count * words);
  for (size_t i = 0; dtype == TL_BOOL && i < count; i++) data[i] = data[i] != 0;
}

bool tl_settle_all(tl_vm *vm, char *data, tl_dtype dtype, size_t count,
                   bool swapped) {
  for (size_t at = 0, end = 0; at < count; at = end) {
    if (!tl_poll_piece(vm, at, count, &end))
      return false;
    tl_settle_items(data + at * tl_itemsize(dtype), dtype, end - at, swapped);
  }
  return true;
}
