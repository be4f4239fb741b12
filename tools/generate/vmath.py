#!/usr/bin/env python3
"""Computes what vm/kernels/vmath*.c compute with: polynomials, and tables.

Writes vmath_data.h, vmath_shorts.h, vmath_tables.h and erf_table.c into the
working directory; those in the tree, vm/kernels/generated, are these as `make
format` lays them out. Needs mpmath. Polynomials interpolate at Chebyshev nodes,
which comes within a factor of about two of the best possible error; that of
sines alone is Sollya's, whose command stands beside it.
"""
import struct
import sys

from mpmath import asin, asinh, atan, atanh, cos, erf, exp, floor, log
from mpmath import lu_solve, matrix, mp, mpf, pi, sin, sinh, sqrt, tan, tanh

mp.prec = 400


def nodes(low, high, count):
    middle, radius = (low + high) / 2, (high - low) / 2
    return [middle + radius * cos(pi * (2 * i + 1) / (2 * count))
            for i in range(count)]


def polynomial(f, low, high, degree):
    xs = nodes(mpf(low), mpf(high), degree + 1)
    rows = matrix([[x ** k for k in range(degree + 1)] for x in xs])
    return list(lu_solve(rows, matrix([f(x) for x in xs])))


def rational(f, low, high, upper, lower):
    """Terms of p and of q, whose highest is 1, with p/q = f."""
    xs = nodes(mpf(low), mpf(high), upper + lower + 1)
    rows = matrix([[x ** k for k in range(upper + 1)] +
                   [-f(x) * x ** k for k in range(lower)] for x in xs])
    terms = list(lu_solve(rows, matrix([f(x) * x ** lower for x in xs])))
    return terms[:upper + 1], terms[upper + 1:] + [mpf(1)]


def hexadecimal(x):
    return float(x).hex()


def define(name, terms):
    print(f'TL_INLINE double {name}(double x) {{')
    print(f'  double p = {hexadecimal(terms[-1])};')
    for term in reversed(terms[:-1]):
        print(f'  p = p * x + {hexadecimal(term)};')
    print('  return p;\n}')


def define_terms(name, terms):
    """The same as an array, lowest first, for formulas over vectors."""
    print(f'static const double {name}[{len(terms)}] = {{')
    for term in terms:
        print(f'    {hexadecimal(term)},')
    print('};')


def parts(name, value, bits):
    """Splits a value; each part but the last has so many bits."""
    for i, width in enumerate(bits + [53]):
        unit = mpf(2) ** (floor(log(abs(value), 2)) + 1 - width)
        part = floor(value / unit) * unit if width < 53 else value
        print(f'#define {name}_{i + 1} {hexadecimal(part)}')
        value -= part


def exp_tail(x):
    if abs(x) < mpf(10) ** -30:
        return mpf('0.5') + x / 6
    return (exp(x) - 1 - x) / x ** 2


def polynomials():
    parts('LN2', log(mpf(2)), [32])
    print(f'#define ONE_OVER_LN2 {hexadecimal(1 / log(mpf(2)))}')
    print()
    bound = log(mpf(2)) / 2 * mpf('1.0001')
    print('// (e^x - 1 - x) / x^2')
    define('exp_rest', polynomial(
        exp_tail,
        -bound, bound, 9))
    print('\n// (e^x - 1 - x - x^2 / 2) / x^3')
    define('exp_cubic', polynomial(
        lambda x: (exp_tail(x) - mpf('0.5')) / x if x else mpf(1) / 6,
        -bound, bound, 9))
    s = (sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)
    print('\n// (log((1 + s) / (1 - s)) - 2 s) / s / s^2 for x = s^2')
    define('log_rest', polynomial(
        lambda z: (log((1 + sqrt(z)) / (1 - sqrt(z))) / sqrt(z) - 2) / z,
        mpf(10) ** -12, s * s * mpf('1.0001'), 6))
    print('\n// erf(r) / r - 1 for x = r^2')
    define('erf_rest', polynomial(
        lambda z: erf(sqrt(z)) / sqrt(z) - 1, mpf(10) ** -12,
        mpf('0.0625') ** 2 * mpf('1.1'), 4))
    odd('atan', atan, mpf('0.4375') ** 2, 11)
    odd('asin', asin, mpf('0.25'), 13)
    odd('asinh', asinh, mpf('0.25'), 11)
    odd('atanh', atanh, mpf('0.25'), 13)
    print('\n// (cos r - 1 + z / 2) / z^2 for z = r^2')
    define('cos_rest', polynomial(
        lambda z: (cos(sqrt(z)) - 1 + z / 2) / z ** 2, mpf(10) ** -12,
        (pi / 4) ** 2 * mpf('1.0001'), 5))
    print('\n// r^(-1/3)')
    define('cbrt_step', polynomial(
        lambda r: r ** (-mpf(1) / 3), mpf('0.87'), mpf('1.13'), 4))


def odd(name, f, end, degree, suffix='', what=None):
    print(f'\n// ({what or name}(s) / s - 1) / z for z = s^2')
    define(f'{name}_rest{suffix}', polynomial(
        lambda z: (f(sqrt(z)) / sqrt(z) - 1) / z, mpf(10) ** -12,
        end * mpf('1.0001'), degree))


def round_to(value, bits):
    unit = mpf(2) ** -bits
    return floor(value / unit + mpf('0.5')) * unit


def short_parts(name, value, bits, more_bits):
    """Two parts of so many bits after the point: products are exact."""
    high = round_to(value, bits)
    print(f'#define {name}_1 {hexadecimal(high)}')
    print(f'#define {name}_2 {hexadecimal(round_to(value - high, more_bits))}')


def without_exponent(j):
    """2^(j/16), with j times 2^-4 taken from its exponent field: adding k times
    2^-4 there, for k = 16 n + j, leaves n."""
    bits, = struct.unpack('<Q', struct.pack('<d', float(mpf(2) ** (mpf(j) / 16))))
    return struct.unpack('<d', struct.pack('<Q', bits - (j << 48)))[0]


def exponentials():
    step = log(mpf(2)) / 16
    print(f'#define EXP_STEPS {hexadecimal(1 / step)}')
    short_parts('EXP_STEP', step, 40, 77)
    bound = step / 2 * mpf('1.0002')
    for name, degree, what in (('exp_terms', 4, 'float64: 2^-55'),
                               ('exp_terms_short', 2, 'float32: 2^-36')):
        print(f'\n// (e^r - 1 - r) / r^2 for |r| < ln 2 / 32; {what}')
        define_terms(name, polynomial(exp_tail, -bound, bound, degree))
    print('\n// 2^(j/16), j / 16 taken from its exponent field.')
    define_terms('exp_table', map_table(without_exponent))
    print('\n// What rounding took from 2^(j/16), as a part of it.')
    define_terms('exp_table_lost', map_table(lost_by_rounding))


def map_table(f):
    return [f(j) for j in range(16)]


def lost_by_rounding(j):
    value = mpf(2) ** (mpf(j) / 16)
    return value / mpf(float(value)) - 1


def table():
    print('// At i / 128: erf rounded, what rounding took, and its slope.')
    print('const double tl_erf_table[769][3] = {')
    for i in range(769):
        x = mpf(i) / 128
        value = erf(x)
        print('    {%s, %s, %s},' % (
            hexadecimal(value), hexadecimal(value - mpf(float(value))),
            hexadecimal(2 / sqrt(pi) * exp(-x * x))))
    print('};')


# Where the interval of 1 begins, one of the sixteen that m = x / 2^k lies in. In
# bits all are as long: those below 1 are half as wide.
LOG_FIRST = 0x3fef555500000000
INTERVALS = [tuple(
    mpf(struct.unpack('<d', struct.pack('<Q', LOG_FIRST + (i << 48)))[0])
    for i in (j, j + 1)) for j in range(16)]


def close_to_reciprocal(j, base, bits):
    """A c of 29 bits after the point near 1 / m, for which the logarithm of 1 / c
    less that of 2^(j/16) is next to a multiple of 2^-bits: so the table needs no
    second part. (Gal's accurate tables.)"""
    middle = int(2 / sum(INTERVALS[j]) * 2 ** 29)
    one = 1 << 120
    start = int((-log(mpf(middle) / 2 ** 29) - j * log(mpf(2)) / 16) * one)
    grid = int(log(base) * one) >> bits

    def distance(i):
        x = (i * one) // middle
        x2 = (x * x) >> 120
        x3 = (x2 * x) >> 120
        x4 = (x3 * x) >> 120
        value = (start - x + x2 // 2 - x3 // 3 + x4 // 4 -
                 ((x4 * x) >> 120) // 5)
        return abs((value + grid // 2) % grid - grid // 2)

    span = 1 << max(17, 60 - bits)
    return mpf(middle + min(range(-span, span), key=distance)) / 2 ** 29


def log_tail(x):
    if abs(x) < mpf(10) ** -30:
        return x / 3 - mpf('0.5')
    return (log(1 + x) - x) / x ** 2


def logarithms():
    print(f'#define LOG_FIRST 0x{LOG_FIRST:x}u')
    logarithm('log', exp(mpf(1)), 43)
    print()
    logarithm('log2', mpf(2), 42)
    print()
    logarithm('log10', mpf(10), 44)


def logarithm(prefix, base, bits):
    step, scale = log(mpf(2)) / log(base) / 16, 1 / log(base)
    short_parts(f'{prefix.upper()}_STEP', step, bits, 82)
    if scale != 1:
        print(f'#define {prefix.upper()}_SCALE {hexadecimal(scale)}')
        parts(f'{prefix.upper()}_SCALE', scale, [26])
    close = [mpf(1)] + [close_to_reciprocal(j, base, bits)
                        for j in range(1, 16)]
    bound = max(abs(c * m - 1) for c, ends in zip(close, INTERVALS)
                for m in ends)
    for suffix, degree, what in (('', 7, 'float64'), ('_short', 3, 'float32')):
        if suffix and scale != 1:
            continue
        terms = polynomial(log_tail, -bound, bound, degree)
        print(f'\n// ({prefix}(1 + r) - r {prefix}(e)) / r^2 for |r| < '
              f'{float(bound):.3f}; {what}')
        define_terms(f'{prefix}_terms{suffix}', [t * scale for t in terms])
    print('\n// 2^512 c for each interval of m, where c m is next to 1.')
    define_terms(f'{prefix}_close', [c * mpf(2) ** 512 for c in close])
    exact = [-log(c) * scale - j * step for j, c in enumerate(close)]
    table = [round_to(value, bits) for value in exact]
    worst = max(abs(a - b) for a, b in zip(exact, table))
    print(f'\n// -{prefix} c - j {prefix}(2) / 16, off by '
          f'2^{float(log(worst, 2)):.1f}.')
    define_terms(f'{prefix}_table', table)


# The same of powers: 32 intervals.
POWER_FIRST = 0x3fefaaaa00000000


def power_log_tail(x):
    if abs(x) < mpf(10) ** -25:
        return mpf(1) / 3 - x / 4
    return (log(1 + x) - x + x * x / 2) / x ** 3


def powers():
    """log2 x to 2^-66 of itself: a reciprocal so short that its product with x
    is exact in two parts, and the logarithm's table in two parts."""
    ends = [mpf(struct.unpack('<d', struct.pack('<Q', POWER_FIRST + (i << 47)))[0])
            for i in range(33)]
    close = [mpf(1)] + [round_to(2 / (ends[j] + ends[j + 1]), 11)
                        for j in range(1, 32)]
    bound = max(abs(close[j] * m - 1) for j in range(32)
                for m in (ends[j], ends[j + 1]))
    print(f'#define POWER_FIRST 0x{POWER_FIRST:x}u')
    scale = 1 / log(mpf(2))
    print(f'#define POWER_SCALE {hexadecimal(scale)}')
    print(f'#define POWER_SCALE_LOST {hexadecimal(scale - mpf(float(scale)))}')
    what = f'|r| < {float(bound):.4f}'
    print(f'\n// (log(1 + r) - r + r^2 / 2) / r^3 for {what}')
    define_terms('power_terms', polynomial(power_log_tail, -bound, bound, 7))
    print(f'\n// (log2(1 + r) - r log2(e)) / r^2 for {what}; float32')
    define_terms('power_terms_short', [
        t * scale for t in polynomial(log_tail, -bound, bound, 4)])
    print('\n// c for each interval of m, where c m is next to 1.')
    define_terms('power_close', close)
    exact = [-log(c) * scale - mpf(j) / 32 for j, c in enumerate(close)]
    table = [round_to(value, 42) for value in exact]
    print('\n// -log2 c - j / 32, and what 42 bits leave of it.')
    define_terms('power_table', table)
    define_terms('power_table_lost', [a - b for a, b in zip(exact, table)])


def sines():
    """1/6 - z/120 ...: sin b = b - b z (these), for z = b^2."""
    quarter = pi / 4 * mpf('1.0001')
    print(f'#define TWO_OVER_PI {hexadecimal(2 / pi)}')
    parts('HALF_PI', pi / 2, [36, 36])
    first = floor(pi / 2 * 2 ** 35) / 2 ** 35
    print(f'#define HALF_PI_23 {hexadecimal(pi / 2 - first)}')
    # Sollya 8's, which weighs the rounding of each: 2^-58 of sin b.
    # p = fpminimax(sin(x), [|3,5,7,9,11,13|], [|D...|], [2^-30;0.78555],
    #               relative, x);
    print('\n// (b - sin b) / b^3 for z = b^2; float64')
    define_terms('sin_terms', [float.fromhex(term) for term in (
        '0x1.5555555555548p-3', '-0x1.111111110f75cp-7',
        '0x1.a01a019bf1ed8p-13', '-0x1.71de355ec94b6p-19',
        '0x1.ae5e543a6106ap-26', '-0x1.5d8e22e597a35p-33')])
    print('\n// float32')
    define_terms('sin_terms_short', polynomial(
        lambda z: (1 - sin(sqrt(z)) / sqrt(z)) / z,
        mpf(10) ** -12, quarter ** 2, 3))


def tangents():
    upper, lower = rational(
        lambda z: (tanh(sqrt(z)) / sqrt(z) - 1) / z, mpf(10) ** -12,
        mpf('0.625') ** 2, 2, 3)
    print('// (tanh(x) / x - 1) / x^2 for z = x^2, as a quotient; below, z^3 is'
          ' one more')
    define_terms('tanh_upper', upper)
    define_terms('tanh_lower', lower[:-1])


def tables():
    exponentials()
    print()
    logarithms()
    print()
    powers()
    print()
    sines()
    print()
    tangents()


def header(path, guard, what):
    with open(path, 'w') as file:
        sys.stdout = file
        print('// Made by tools/generate/vmath.py.')
        print(f'#ifndef TALLY_VM_KERNELS_GENERATED_{guard}')
        print(f'#define TALLY_VM_KERNELS_GENERATED_{guard}\n')
        print('#include "vm/kernels/loop.h"\n')
        what()
        print('\n#endif')
        sys.stdout = sys.__stdout__


def shorts():
    """What float32 needs, computed in double: 2^-32 and better."""
    bound = log(mpf(2)) / 2 * mpf('1.0001')
    print('// (e^x - 1 - x) / x^2')
    define('exp_rest_short', polynomial(exp_tail, -bound, bound, 5))
    s = (sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)
    odd('log', atanh, s * s, 3, '_short', 'atanh')
    odd('atan', atan, (sqrt(mpf(2)) - 1) ** 2, 5, '_short')
    odd('asin', asin, mpf('0.25'), 6, '_short')
    odd('sinh', sinh, mpf(1), 3, '_short')
    odd('asinh', asinh, mpf('0.0625'), 3, '_short')
    odd('atanh', atanh, mpf('0.0625'), 4, '_short')
    upper, lower = rational(
        lambda z: tan(sqrt(z)) / sqrt(z), mpf(10) ** -12,
        (pi / 4) ** 2 * mpf('1.0001'), 2, 2)
    print('\n// tan(r) / r for z = r^2, as a quotient')
    define('tan_upper_short', upper)
    define('tan_lower_short', lower)


header('vmath_data.h', 'VMATH_DATA_H', polynomials)
header('vmath_shorts.h', 'VMATH_SHORTS_H', shorts)
header('vmath_tables.h', 'VMATH_TABLES_H', tables)
with open('erf_table.c', 'w') as file:
    sys.stdout = file
    print('// Made by tools/generate/vmath.py.')
    print('#include "vm/kernels/vmath_parts.h"\n')
    table()
    sys.stdout = sys.__stdout__
