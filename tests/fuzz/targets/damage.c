// Small damage to bytes, for machines without libFuzzer: see targets.h.
#include <string.h>

#include "tests/fuzz/targets/targets.h"

static uint32_t below(uint64_t *state, size_t n) {
  *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return n == 0 ? 0 : (uint32_t)((*state >> 33) % n);
}

typedef struct bytes {
  uint8_t *data;
  size_t n, room;
} bytes;

// Some bytes become others of the same number.
static void overwrite(bytes *b, uint64_t *chance) {
  static const uint32_t ends[] = {
      0,      1,          0x7f,       0x80,       0xff,       0x7fff,
      0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0, 0x10000};
  size_t at = below(chance, b->n);
  uint64_t word = ends[below(chance, sizeof ends / sizeof *ends)];
  bool big = below(chance, 2);
  size_t width = (size_t)1 << below(chance, 4);
  for (size_t i = 0; i < width && at + i < b->n; i++)
    b->data[at + i] = (uint8_t)(word >> 8 * (big ? width - 1 - i : i));
}

// A piece is removed, or comes twice.
static void move_piece(bytes *b, uint64_t *chance) {
  size_t at = below(chance, b->n), n = below(chance, b->n - at + 1);
  if (below(chance, 2)) {
    memmove(b->data + at, b->data + at + n, b->n - at - n);
    b->n -= n;
  } else if (b->n + n <= b->room) {
    memmove(b->data + at + n, b->data + at, b->n - at);
    b->n += n;
  }
}

// A digit somewhere behind becomes many.
static void grow_number(bytes *b, uint64_t *chance) {
  size_t at = below(chance, b->n), n = 1 + below(chance, 24);
  while (at < b->n && (b->data[at] < '0' || b->data[at] > '9')) at++;
  if (at == b->n || b->n + n > b->room)
    return;
  memmove(b->data + at + n, b->data + at, b->n - at);
  memset(b->data + at, '9', n);
  b->n += n;
}

size_t fuzz_damage(uint8_t *data, size_t nbytes, size_t room, uint64_t seed) {
  uint64_t chance = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
  bytes b = {data, nbytes, room};
  for (uint32_t left = 1 + below(&chance, 4); left > 0 && b.n > 0; left--) {
    switch (below(&chance, 6)) {
      case 0:
        b.data[below(&chance, b.n)] ^= (uint8_t)(1u << below(&chance, 8));
        break;
      case 1:
        b.data[below(&chance, b.n)] = (uint8_t)below(&chance, 256);
        break;
      case 2:
        move_piece(&b, &chance);
        break;
      case 3:
        b.n = below(&chance, b.n);
        break;
      case 4:
        grow_number(&b, &chance);
        break;
      default:
        overwrite(&b, &chance);
    }
  }
  return b.n;
}
