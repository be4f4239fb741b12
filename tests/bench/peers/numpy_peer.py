"""The general workloads in NumPy. usage: numpy_peer.py DATA GROUP …"""

import numpy as np

from harness import DATA, bench, run


def read(name):
    return np.load(f"{DATA}/{name}.npy")


def nest():
    x = np.ones((1000, 1000, 100), np.int8)
    bench("nest8", lambda: (x + (x + (x + (x + (x + x)))))[12, 34, 5])


def chain():
    X, Y = read("x"), read("y")
    a, b, c = 1.5, -0.5, 0.25
    for n, size in (1000, "1e3"), (100_000, "1e5"), (10_000_000, "1e7"):
        x, y, i = X[:n], Y[:n], n // 2
        bench("poly_" + size, lambda: ((a * x + b) * x + c)[i])
        bench("hyp_" + size, lambda: np.sqrt(x * x + y * y)[i])
        bench("where_" + size, lambda: np.where(x > 0, x * y, x - y)[i])


def maths():
    X, Y = read("x"), read("y")
    bench("texp_sum", lambda: np.sum(np.exp(-X * X) * np.cos(Y)))
    x = X[:100_000].copy()
    x1, per = x + 1, 1e5 * 1e-9
    bench("exp_ns", lambda: np.exp(x)[777], per)
    bench("log_ns", lambda: np.log(x1)[777], per)
    bench("sin_ns", lambda: np.sin(x)[777], per)
    bench("tanh_ns", lambda: np.tanh(x)[777], per)


def reductions():
    M = read("m").reshape(4000, 4000)
    for axis in 0, 1:
        for name in "sum", "mean", "max", "argmax", "var":
            bench(f"{name}{axis}", lambda: getattr(M, name)(axis=axis)[7])
    X, Y = read("x"), read("y")
    bench("cumsum", lambda: np.cumsum(X)[-1])
    some, never, always = Y > 0, Y > 2, np.ones(10_000_000, bool)
    bench("any", lambda: never.any())
    bench("all", lambda: always.all())
    bench("count", lambda: np.count_nonzero(some))


def cdf(d):
    k = 1 / (1 + 0.2316419 * np.abs(d))
    p = 0.3989422804014327 * np.exp(-0.5 * d * d) * k * (
        0.319381530 + k * (-0.356563782 + k * (
            1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    return np.where(d > 0, 1 - p, p)


def black_scholes(s, k, t):
    r, v = 0.05, 0.2
    q = v * np.sqrt(t)
    d1 = (np.log(s / k) + (r + 0.5 * v * v) * t) / q
    d2 = d1 - q
    e = k * np.exp(-r * t)
    n1, n2 = cdf(d1), cdf(d2)
    call, put = s * n1 - e * n2, e * (1 - n2) - s * (1 - n1)
    return call[777] + put[778]


def options():
    s = 100 + 40 * read("x")[:1_000_000]
    k = 100 + 40 * read("y")[:1_000_000]
    t = 1.25 + read("x")[:-1_000_001:-1]
    bench("bs", lambda: black_scholes(s, k, t))


def products():
    A = read("x")[:1_000_000].reshape(1000, 1000)
    B = read("y")[:1_000_000].reshape(1000, 1000)
    bench("mm1000", lambda: (A @ B)[0, 777])
    a, b = A[:100, :100].copy(), B[:100, :100].copy()
    bench("mm100", lambda: (a @ b)[7, 77])


def sorting():
    X = read("x")
    x, y = X[:1_000_000], read("y")[:1_000_000]
    keys, places = read("k"), read("i")
    ordered, mask = np.sort(x), read("y") > 0
    bench("sort", lambda: np.sort(x)[777])
    bench("argsort", lambda: np.argsort(x)[777])
    bench("unique", lambda: len(np.unique(keys)))
    bench("searchsorted", lambda: np.searchsorted(ordered, y)[777])
    bench("bincount", lambda: np.bincount(keys)[77])
    bench("histogram", lambda: np.histogram(x, 100, (-1, 1))[0][50])
    bench("gather", lambda: x[places][777])

    def scatter():
        o = np.zeros(1_000_000)
        np.add.at(o, places, x)
        return o[777]

    bench("scatter_add", scatter)
    bench("compress", lambda: len(X[mask]))


def jacobi(a):
    for _ in range(100):
        b = a.copy()
        b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1]
                                + a[1:-1, :-2] + a[1:-1, 2:])
        a = b
    return a[500, 500]


def kmeans(p):
    c = p[:16]
    for _ in range(10):
        d = ((p[:, None, :] - c[None, :, :]) ** 2).sum(-1)
        nearest = d.argmin(1)
        n = np.bincount(nearest, minlength=16)
        sums = np.stack([np.bincount(nearest, weights=p[:, j], minlength=16)
                         for j in range(8)])
        c = sums.T / n[:, None]
    return (c * c).sum()


def nbody(p, m):
    v = np.zeros((100, 3))
    for _ in range(200):
        d = p[None] - p[:, None]
        r = (d * d).sum(-1) + 0.01
        w = m / (r * np.sqrt(r))
        v = v + 0.001 * (d * w[:, :, None]).sum(1)
        p = p + 0.001 * v
    return (p * p).sum()


def life(a):
    for _ in range(100):
        r = np.roll(a, 1, 1) + a + np.roll(a, -1, 1)
        s = np.roll(r, 1, 0) + r + np.roll(r, -1, 0) - a
        a = ((s == 3) | ((s == 2) & (a == 1))).astype(np.uint8)
    return a.sum()


def programs():
    X = read("x")
    x = X[:1_000_000].reshape(1000, 1000)
    bench("jacobi", lambda: jacobi(x))
    p = X[:1_600_000].reshape(200_000, 8)
    bench("kmeans", lambda: kmeans(p))
    bodies, m = X[:300].reshape(100, 3), read("y")[:100] + 1.5
    bench("nbody", lambda: nbody(bodies, m))
    cells = (x > 0.4).astype(np.uint8)
    bench("life", lambda: life(cells))


def repeated(n):
    x, y, z = 0.5 + np.arange(n) * 1e-3, np.full(n, 0.25), np.zeros(n)
    for _ in range(1_000_000):
        z = x * y + z
    return z[3]


def small():
    for n in 4, 64:
        bench(f"small{n}_ns", lambda: repeated(n), 1e6 * 1e-9)


run(globals())
