#!/usr/bin/env python3
"""Writes powers_of_five.h into the working directory, for vm/generated: of
5^q the first 128 bits, cut off for q from 0 on, rounded up below (Lemire,
2021)."""
LEAST, GREATEST = -342, 324
HEAD = f"""// The first 128 bits of 5^{LEAST} to 5^{GREATEST}, higher half first: made by
// tools/generate/powers_of_five.py.
#ifndef TALLY_VM_GENERATED_POWERS_OF_FIVE_H
#define TALLY_VM_GENERATED_POWERS_OF_FIVE_H

#include <stdint.h>

enum {{ TL_LEAST_POWER = {LEAST}, TL_GREATEST_POWER = {GREATEST} }};

static const uint64_t tl_powers_of_five[][2] = {{"""


def first_bits(q):
    if q >= 0:
        c = 5**q
        return c << 127 >> (c.bit_length() - 1)
    p = 5**-q
    z = (p - 1).bit_length()
    c = 2 ** (z + 127 if q >= -27 else 2 * z + 128) // p + 1
    return c >> max(c.bit_length() - 128, 0)


with open("powers_of_five.h", "w") as file:
    print(HEAD, file=file)
    for q in range(LEAST, GREATEST + 1):
        c = first_bits(q)
        print(f"    {{0x{c >> 64:016x}, 0x{c & (2**64 - 1):016x}}},", file=file)
    print("};\n\n#endif", file=file)
