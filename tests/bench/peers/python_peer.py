"""The scalar workloads in plain Python. usage: python_peer.py DATA GROUP …"""

import collections
from math import sqrt, tanh

from harness import DATA, bench, run


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def loopij():
    s = 0
    for i in range(3000):
        for j in range(3000):
            s += i * j
    return s


def sieve():
    n = 1_000_000
    f = [True] * (n + 1)
    f[0] = f[1] = False
    i = 2
    while i * i <= n:
        if f[i]:
            for j in range(i * i, n + 1, i):
                f[j] = False
        i += 1
    c = 0
    for i in range(1, n + 1):
        if f[i]:
            c += 1
    return c


def mandel():
    total = 0
    for py in range(400):
        for px in range(400):
            cx, cy = -2.0 + px * 3.0 / 400, -1.5 + py * 3.0 / 400
            x, y, k = 0.0, 0.0, 0
            while k < 50:
                xx, yy = x * x, y * y
                if xx + yy > 4:
                    break
                y = 2 * x * y + cy
                x = xx - yy + cx
                k += 1
            total += k
    return total


def crc16(data):
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            if crc & 1 == 1:
                crc = crc >> 1 ^ 0x8408
            else:
                crc = crc >> 1
    return crc


def square_of(n):
    return [[(i * n + j) * 7919 % 10007 / 10007 for j in range(n)]
            for i in range(n)]


def seidel(n, steps):
    a = square_of(n)
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] +
                           a[i][j - 1] + a[i][j] + a[i][j + 1] +
                           a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) / 9
    return a[1][1] + a[n // 2][n // 3]


def go_fast(n, steps):
    a = square_of(n)
    for _ in range(steps):
        t = 0.0
        for i in range(n):
            t += tanh(a[i][i])
        t /= n
        for i in range(n):
            for j in range(n):
                a[i][j] = 0.5 * a[i][j] + t
    return a[1][1] + a[n // 2][n // 3]


def nbody(n, steps):
    p, v, m = square_of(n), [[0.0] * 3 for _ in range(n)], [1.0 / n] * n
    for _ in range(steps):
        for i in range(n):
            for j in range(i + 1, n):
                dx = p[i][0] - p[j][0]
                dy = p[i][1] - p[j][1]
                dz = p[i][2] - p[j][2]
                d = dx * dx + dy * dy + dz * dz + 0.01
                w = 0.01 / (d * sqrt(d))
                v[i][0] -= dx * m[j] * w
                v[i][1] -= dy * m[j] * w
                v[i][2] -= dz * m[j] * w
                v[j][0] += dx * m[i] * w
                v[j][1] += dy * m[i] * w
                v[j][2] += dz * m[i] * w
        for i in range(n):
            for k in range(3):
                p[i][k] += 0.01 * v[i][k]
    return p[0][0] + p[n // 2][1] + p[n - 1][2]


def kmeans(n, steps):
    p = [[(i * 3 + a) * 7919 % 10007 / 10007 for a in range(3)]
         for i in range(n)]
    c = [list(x) for x in p[:8]]
    for _ in range(steps):
        s, count = [[0.0] * 3 for _ in range(8)], [0.0] * 8
        for i in range(n):
            best, at = 1e9, 0
            for k in range(8):
                d = 0.0
                for a in range(3):
                    t = p[i][a] - c[k][a]
                    d += t * t
                if d < best:
                    best, at = d, k
            for a in range(3):
                s[at][a] += p[i][a]
            count[at] += 1
        for k in range(8):
            if count[k] > 0:
                for a in range(3):
                    c[k][a] = s[k][a] / count[k]
    return sum(map(sum, c))


def scalars():
    bench("fib30", lambda: fib(30))
    bench("loopij", loopij)
    bench("sieve", sieve)
    bench("mandel", mandel)
    data = [k * 7919 % 251 for k in range(200_000)]
    bench("crc16_loops", lambda: crc16(data))
    bench("seidel_loops", lambda: seidel(120, 20))
    bench("go_fast_loops", lambda: go_fast(300, 10))
    bench("nbody_loops", lambda: nbody(40, 20))
    bench("kmeans_loops", lambda: kmeans(2000, 5))


def repeated(n, turns):
    x, y, z = [0.5 + i * 1e-3 for i in range(n)], [0.25] * n, [0.0] * n
    for _ in range(turns):
        z = [a * b + c for a, b, c in zip(x, y, z)]
    return z[3]


def small():
    for n in 4, 64:
        bench(f"small{n}_ns", lambda: repeated(n, 20_000), 2e4 * 1e-9)


def words():
    with open(f"{DATA}/words.txt", encoding="utf-8") as f:
        text = f.read()
    bench("words", lambda: len(collections.Counter(text.split())))


run(globals())
