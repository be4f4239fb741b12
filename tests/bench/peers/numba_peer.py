"""The general workloads in Numba, with loops where its users write loops.
usage: numba_peer.py DATA GROUP …"""

import math

import numpy as np
from numba import njit

from harness import DATA, bench, run


def read(name):
    return np.load(f"{DATA}/{name}.npy")


@njit
def nested(x):
    return x + (x + (x + (x + (x + x))))


@njit
def polynomial(x, a, b, c):
    return (a * x + b) * x + c


@njit
def hypotenuse(x, y):
    return np.sqrt(x * x + y * y)


@njit
def choose(x, y):
    o = np.empty_like(x)
    for i in range(x.size):
        o[i] = x[i] * y[i] if x[i] > 0 else x[i] - y[i]
    return o


@njit
def exp_cos_sum(x, y):
    s = 0.0
    for i in range(x.size):
        s += math.exp(-x[i] * x[i]) * math.cos(y[i])
    return s


@njit
def exps(x):
    return np.exp(x)


@njit
def logs(x):
    return np.log(x)


@njit
def sines(x):
    return np.sin(x)


@njit
def tanhs(x):
    return np.tanh(x)


def nest():
    x = np.ones((1000, 1000, 100), np.int8)
    bench("nest8", lambda: nested(x)[12, 34, 5])


def chain():
    X, Y = read("x"), read("y")
    for n, size in (1000, "1e3"), (100_000, "1e5"), (10_000_000, "1e7"):
        x, y, i = X[:n], Y[:n], n // 2
        bench("poly_" + size, lambda: polynomial(x, 1.5, -0.5, 0.25)[i])
        bench("hyp_" + size, lambda: hypotenuse(x, y)[i])
        bench("where_" + size, lambda: choose(x, y)[i])


def maths():
    X, Y = read("x"), read("y")
    bench("texp_sum", lambda: exp_cos_sum(X, Y))
    x = X[:100_000].copy()
    x1, per = x + 1, 1e5 * 1e-9
    bench("exp_ns", lambda: exps(x)[777], per)
    bench("log_ns", lambda: logs(x1)[777], per)
    bench("sin_ns", lambda: sines(x)[777], per)
    bench("tanh_ns", lambda: tanhs(x)[777], per)


@njit(inline="always")
def cdf(d):
    k = 1 / (1 + 0.2316419 * abs(d))
    p = 0.3989422804014327 * math.exp(-0.5 * d * d) * k * (
        0.319381530 + k * (-0.356563782 + k * (
            1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    return 1 - p if d > 0 else p


@njit
def black_scholes(s, k, t):
    r, v = 0.05, 0.2
    call, put = np.empty_like(s), np.empty_like(s)
    for i in range(s.size):
        q = v * math.sqrt(t[i])
        d1 = (math.log(s[i] / k[i]) + (r + 0.5 * v * v) * t[i]) / q
        e = k[i] * math.exp(-r * t[i])
        n1, n2 = cdf(d1), cdf(d1 - q)
        call[i] = s[i] * n1 - e * n2
        put[i] = e * (1 - n2) - s[i] * (1 - n1)
    return call[777] + put[778]


def options():
    s = 100 + 40 * read("x")[:1_000_000]
    k = 100 + 40 * read("y")[:1_000_000]
    t = 1.25 + read("x")[:-1_000_001:-1].copy()
    bench("bs", lambda: black_scholes(s, k, t))


@njit
def jacobi(x):
    a, b = x.copy(), x.copy()
    for _ in range(100):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1]
                                  + a[i, j + 1])
        a, b = b, a
    return a[500, 500]


@njit
def kmeans(p):
    n, width = p.shape
    c = p[:16].copy()
    for _ in range(10):
        sums, counts = np.zeros((16, width)), np.zeros(16)
        for i in range(n):
            least, nearest = np.inf, 0
            for k in range(16):
                d = 0.0
                for j in range(width):
                    d += (p[i, j] - c[k, j]) ** 2
                if d < least:
                    least, nearest = d, k
            counts[nearest] += 1
            for j in range(width):
                sums[nearest, j] += p[i, j]
        for k in range(16):
            c[k] = sums[k] / counts[k]
    return (c * c).sum()


@njit
def nbody(p, m):
    n = p.shape[0]
    v = np.zeros((n, 3))
    for _ in range(200):
        a = np.zeros((n, 3))
        for i in range(n):
            for j in range(n):
                x, y = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1]
                z = p[j, 2] - p[i, 2]
                r = x * x + y * y + z * z + 0.01
                w = m[j] / (r * math.sqrt(r))
                a[i, 0] += x * w
                a[i, 1] += y * w
                a[i, 2] += z * w
        v = v + 0.001 * a
        p = p + 0.001 * v
    return (p * p).sum()


def programs():
    X = read("x")
    x = X[:1_000_000].reshape(1000, 1000)
    bench("jacobi", lambda: jacobi(x))
    p = X[:1_600_000].reshape(200_000, 8)
    bench("kmeans", lambda: kmeans(p))
    bodies, m = X[:300].reshape(100, 3), read("y")[:100] + 1.5
    bench("nbody", lambda: nbody(bodies, m))


@njit
def repeated(x, y, z):
    for _ in range(1_000_000):
        z = x * y + z
    return z


def small():
    for n in 4, 64:
        x, y = 0.5 + np.arange(n) * 1e-3, np.full(n, 0.25)
        bench(f"small{n}_ns", lambda: repeated(x, y, np.zeros(n))[3],
              1e6 * 1e-9)


@njit
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@njit
def loopij(n):
    s = 0
    for i in range(n):
        for j in range(n):
            s += i * j
    return s


@njit
def sieve(n):
    f = np.ones(n + 1, np.bool_)
    f[:2] = False
    i = 2
    while i * i <= n:
        if f[i]:
            for j in range(i * i, n + 1, i):
                f[j] = False
        i += 1
    c = 0
    for i in range(1, n + 1):
        c += f[i]
    return c


@njit
def mandel(size):
    total = 0
    for py in range(size):
        for px in range(size):
            cx, cy = -2.0 + px * 3.0 / size, -1.5 + py * 3.0 / size
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


@njit
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


@njit
def square_of(n):
    return (np.arange(n * n) * 7919 % 10007 / 10007).reshape(n, n)


@njit
def seidel(n, steps):
    a = square_of(n)
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = (a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1] +
                           a[i, j - 1] + a[i, j] + a[i, j + 1] +
                           a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]) / 9
    return a[1, 1] + a[n // 2, n // 3]


@njit
def go_fast(n, steps):
    a = square_of(n)
    for _ in range(steps):
        t = 0.0
        for i in range(n):
            t += np.tanh(a[i, i])
        t /= n
        for i in range(n):
            for j in range(n):
                a[i, j] = 0.5 * a[i, j] + t
    return a[1, 1] + a[n // 2, n // 3]


@njit
def nbody_loops(n, steps):
    p, v = square_of(n)[:, :3].copy(), np.zeros((n, 3))
    m = np.full(n, 1.0 / n)
    for _ in range(steps):
        for i in range(n):
            for j in range(i + 1, n):
                dx = p[i, 0] - p[j, 0]
                dy = p[i, 1] - p[j, 1]
                dz = p[i, 2] - p[j, 2]
                d = dx * dx + dy * dy + dz * dz + 0.01
                w = 0.01 / (d * np.sqrt(d))
                v[i, 0] -= dx * m[j] * w
                v[i, 1] -= dy * m[j] * w
                v[i, 2] -= dz * m[j] * w
                v[j, 0] += dx * m[i] * w
                v[j, 1] += dy * m[i] * w
                v[j, 2] += dz * m[i] * w
        for i in range(n):
            for k in range(3):
                p[i, k] += 0.01 * v[i, k]
    return p[0, 0] + p[n // 2, 1] + p[n - 1, 2]


@njit
def kmeans_loops(n, steps):
    p = (np.arange(n * 3) * 7919 % 10007 / 10007).reshape(n, 3)
    c = p[:8].copy()
    for _ in range(steps):
        s, count = np.zeros((8, 3)), np.zeros(8)
        for i in range(n):
            best, at = 1e9, 0
            for k in range(8):
                d = 0.0
                for a in range(3):
                    t = p[i, a] - c[k, a]
                    d += t * t
                if d < best:
                    best, at = d, k
            for a in range(3):
                s[at, a] += p[i, a]
            count[at] += 1
        for k in range(8):
            if count[k] > 0:
                for a in range(3):
                    c[k, a] = s[k, a] / count[k]
    return c.sum()


def scalars():
    bench("fib30", lambda: fib(30))
    bench("loopij", lambda: loopij(3000))
    bench("sieve", lambda: sieve(1_000_000))
    bench("mandel", lambda: mandel(400))
    data = np.arange(200_000) * 7919 % 251
    bench("crc16_loops", lambda: crc16(data))
    bench("seidel_loops", lambda: seidel(120, 20))
    bench("go_fast_loops", lambda: go_fast(300, 10))
    bench("nbody_loops", lambda: nbody_loops(40, 20))
    bench("kmeans_loops", lambda: kmeans_loops(2000, 5))


run(globals())
