#!/usr/bin/env python3
"""Prints the rows of stdlib/powers_of_five.h: of 5^q the first 128 bits, cut
off for q from 0 on, rounded up below (Lemire, 2021)."""
for q in range(-342, 309):
    if q >= 0:
        c = 5**q
        c = c << 127 >> (c.bit_length() - 1)
    else:
        p = 5**-q
        z = (p - 1).bit_length()
        c = 2 ** (z + 127 if q >= -27 else 2 * z + 128) // p + 1
        c >>= max(c.bit_length() - 128, 0)
    print(f"    {{0x{c >> 64:016x}, 0x{c & (2**64 - 1):016x}}},")
