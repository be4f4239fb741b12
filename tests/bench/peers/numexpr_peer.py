"""The general workloads that numexpr has. usage: numexpr_peer.py DATA GROUP …"""

import numexpr as ne
import numpy as np

from harness import DATA, bench, run

ne.set_num_threads(1)


def evaluate(text, **names):
    return ne.evaluate(text, names)


def read(name):
    return np.load(f"{DATA}/{name}.npy")


def nest():
    x = np.ones((1000, 1000, 100), np.int8)
    bench("nest8", lambda: evaluate("x+(x+(x+(x+(x+x))))", x=x)[12, 34, 5])


def chain():
    X, Y = read("x"), read("y")
    a, b, c = 1.5, -0.5, 0.25
    for n, size in (1000, "1e3"), (100_000, "1e5"), (10_000_000, "1e7"):
        x, y, i = X[:n], Y[:n], n // 2
        bench("poly_" + size, lambda: evaluate("(a*x + b)*x + c", x=x, a=a, b=b, c=c)[i])
        bench("hyp_" + size, lambda: evaluate("sqrt(x*x + y*y)", x=x, y=y)[i])
        bench("where_" + size,
              lambda: evaluate("where(x > 0, x*y, x - y)", x=x, y=y)[i])


def maths():
    X, Y = read("x"), read("y")
    bench("texp_sum", lambda: evaluate("sum(exp(-x*x)*cos(y))", x=X, y=Y))
    x = X[:100_000].copy()
    x1, per = x + 1, 1e5 * 1e-9
    bench("exp_ns", lambda: evaluate("exp(x)", x=x)[777], per)
    bench("log_ns", lambda: evaluate("log(x)", x=x1)[777], per)
    bench("sin_ns", lambda: evaluate("sin(x)", x=x)[777], per)
    bench("tanh_ns", lambda: evaluate("tanh(x)", x=x)[777], per)


def cdf(d):
    k = ne.evaluate("1/(1 + 0.2316419*abs(d))")
    p = ne.evaluate(
        "0.3989422804014327*exp(-0.5*d*d)*k*(0.319381530 + k*(-0.356563782 + "
        "k*(1.781477937 + k*(-1.821255978 + k*1.330274429))))")
    return ne.evaluate("where(d > 0, 1 - p, p)")


def black_scholes(s, k, t):
    r, v = 0.05, 0.2
    q = ne.evaluate("v*sqrt(t)")
    d1 = ne.evaluate("(log(s/k) + (r + 0.5*v*v)*t)/q")
    d2 = ne.evaluate("d1 - q")
    e = ne.evaluate("k*exp(-r*t)")
    n1, n2 = cdf(d1), cdf(d2)
    call = ne.evaluate("s*n1 - e*n2")
    put = ne.evaluate("e*(1 - n2) - s*(1 - n1)")
    return call[777] + put[778]


def options():
    s = 100 + 40 * read("x")[:1_000_000]
    k = 100 + 40 * read("y")[:1_000_000]
    t = 1.25 + read("x")[:-1_000_001:-1].copy()
    bench("bs", lambda: black_scholes(s, k, t))


def jacobi(x):
    a, b = x.copy(), x.copy()
    for _ in range(100):
        n, s, w, e = a[:-2, 1:-1], a[2:, 1:-1], a[1:-1, :-2], a[1:-1, 2:]
        ne.evaluate("0.25*(n + s + w + e)", out=b[1:-1, 1:-1])
        a, b = b, a
    return a[500, 500]


def programs():
    x = read("x")[:1_000_000].reshape(1000, 1000)
    bench("jacobi", lambda: jacobi(x))


run(globals())
