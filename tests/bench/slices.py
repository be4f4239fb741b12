"""The programs of examples/slices in NumPy, step by step as they are there.

A module of kernels.py: NAME(inputs) computes, NAME_inputs(choose) makes inputs,
where choose(small, thin, wide) is what belongs to the size.
"""

import math

import numpy as np

from numbers_of import F, I


def kalman_inputs(choose):
    T, N = choose((20, 5), (2000, 32), (1000, 1000))
    return F(1, T, N) + 0.1 * F(2, N), 0.1, 0.01, 0.5


def kalman(z, dt, q, r):
    steps, n = z.shape
    x = z[0]
    v = np.zeros(n)
    p, s, w = np.ones(n), np.zeros(n), np.ones(n)
    out = np.zeros((steps, n))
    for t in range(steps):
        x = x + dt * v
        p = p + dt * (2 * s + dt * w) + q
        s = s + dt * w
        w = w + q
        gain = p / (p + r)
        slope = s / (p + r)
        error = z[t] - x
        x = x + gain * error
        v = v + slope * error
        w = w - slope * s
        p = (1 - gain) * p
        s = (1 - gain) * s
        out[t] = x
    return {"out": out, "v": v}


def biquad_inputs(choose):
    T, C = choose((40, 4), (6000, 16), (2500, 1000))
    return F(1, T, C), [0.2, 0.3, 0.2], [1.0, -0.6, 0.25]


def biquad(x, b, a):
    y = np.zeros_like(x)
    s = np.zeros(x.shape[1])
    u = np.zeros(x.shape[1])
    for t in range(len(x)):
        y[t] = b[0] * x[t] + s
        s = b[1] * x[t] - a[1] * y[t] + u
        u = b[2] * x[t] - a[2] * y[t]
    return {"y": y}


def zebra_inputs(choose):
    N, M, steps = choose((11, 9, 3), (33, 300, 10), (2001, 100, 8))
    return F(1, N, M), 0.01 * F(2, N, M), steps


def zebra(u, f, steps):
    n, m = u.shape
    c = np.zeros(m)
    for j in range(1, m - 1):
        c[j] = 1 / (4 - c[j - 1])
    for _ in range(steps):
        for first in (1, 2):
            d = u[first - 1:-2:2] + u[first + 1::2] + f[first:-1:2]
            d[:, 0] = u[first:-1:2, 0]
            for j in range(1, m - 1):
                d[:, j] = (d[:, j] + d[:, j - 1]) * c[j]
            for j in range(m - 2, 0, -1):
                u[first:-1:2, j] = d[:, j] + c[j] * u[first:-1:2, j + 1]
    return {"u": u}


def thomas_inputs(choose):
    N, R = choose((12, 3), (8000, 24), (2500, 1000))
    return F(1, N, R), 3 + F(2, N, R), F(3, N, R), F(4, N, R)


def thomas(a, b, c, d):
    n = len(b)
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    x = np.zeros_like(d)
    x[n - 1] = d[n - 1] / b[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = (d[i] - c[i] * x[i + 1]) / b[i]
    return {"x": x}


def vertical_inputs(choose):
    X, Y, Z = choose((3, 4, 8), (6, 8, 2500), (32, 32, 500))
    return F(1, X, Y, Z), F(2, X, Y, Z), 0.7


def vertical(u, w, dt):
    z = u.shape[2]
    c = np.zeros_like(u)
    d = np.zeros_like(u)
    g = dt * w[:, :, 0]
    c[:, :, 0] = g / (1 + g)
    d[:, :, 0] = u[:, :, 0] / (1 + g)
    for k in range(1, z):
        down = -dt * w[:, :, k - 1]
        up = -dt * w[:, :, k] if k < z - 1 else 0 * down
        scale = 1 / (1 - down - up + down * c[:, :, k - 1])
        c[:, :, k] = -up * scale
        d[:, :, k] = (u[:, :, k] - down * d[:, :, k - 1]) * scale
    u[:, :, z - 1] = d[:, :, z - 1]
    for k in range(z - 2, -1, -1):
        u[:, :, k] = d[:, :, k] + c[:, :, k] * u[:, :, k + 1]
    return {"u": u}


def seam_inputs(choose):
    H, W = choose((20, 10), (5000, 40), (4000, 1000))
    return (F(1, H, W),)


def seam(energy):
    h, w = energy.shape
    best = energy
    for i in range(1, h):
        up = best[i - 1]
        best[i, 1:-1] += np.minimum(np.minimum(up[:-2], up[2:]), up[1:-1])
        best[i, 0] += np.min(up[:2])
        best[i, -1] += np.min(up[-2:])
    path = np.zeros(h, dtype=np.int64)
    path[h - 1] = np.argmin(best[h - 1])
    for i in range(h - 2, -1, -1):
        low = max(path[i + 1] - 1, 0)
        path[i] = low + np.argmin(best[i, low:path[i + 1] + 2])
    return {"best": best, "path": path}


def attention_inputs(choose):
    shape = choose((2, 6, 4), (40, 64, 16), (2, 1000, 32))
    return F(1, *shape), F(2, *shape), F(3, *shape)


def attention(Q, K, V):
    heads, n, d = Q.shape
    out = np.zeros(Q.shape)
    for h in range(heads):
        for t in range(n):
            s = K[h, :t + 1] @ Q[h, t] / math.sqrt(d)
            p = np.exp(s - np.max(s))
            out[h, t] = p @ V[h, :t + 1] / np.sum(p)
    return {"out": out}


def layer_norm_inputs(choose):
    T, L, D = choose((6, 2, 5), (600, 4, 64), (400, 4, 1000))
    return F(1, T, D), F(2, L, D), F(3, L, D) - 0.5


def normalised(x, g, b):
    m = np.mean(x)
    v = np.mean((x - m) ** 2)
    return (x - m) / np.sqrt(v + 1e-5) * g + b


def layer_norm(x, g, b):
    for t in range(len(x)):
        h = x[t]
        for l in range(len(g)):
            h = h + np.maximum(normalised(h, g[l], b[l]), 0)
        x[t] = h
    return {"y": x}


def moving_window_inputs(choose):
    T, N, width = choose((30, 4, 5), (3000, 30, 20), (1200, 1000, 20))
    return F(1, T, N), width


def moving_window(x, width):
    steps, n = x.shape
    s = np.sum(x[:width], axis=0)
    q = np.sum(x[:width] ** 2, axis=0)
    held = np.zeros(n)
    gain = np.zeros(n)
    z = np.zeros((steps, n))
    for t in range(width, steps):
        s += x[t] - x[t - width]
        q += x[t] ** 2 - x[t - width] ** 2
        m = s / width
        z[t] = (x[t] - m) / np.sqrt(np.maximum(q / width - m ** 2, 1e-12))
        gain += held * (x[t] - x[t - 1])
        held = np.where(z[t] < -1, 1, np.where(z[t] > 0.5, 0, held))
    return {"z": z, "gain": gain}


def particles_inputs(choose):
    cells, size, steps = choose((4, 5, 3), (200, 24, 12), (30, 1000, 40))
    bounds = np.concatenate(
        ([0], np.cumsum(size + I(3, size // 2, cells))))
    return F(1, bounds[-1]), F(2, bounds[-1]), bounds, steps


def particles(x, v, bounds, steps):
    cells = len(bounds) - 1
    density = np.zeros(cells)
    heat = np.zeros(cells)
    for _ in range(steps):
        field = density - np.mean(density)
        for c in range(cells):
            a, b = bounds[c], bounds[c + 1]
            v[a:b] += 0.1 * (field[c] - v[a:b])
            x[a:b] += 0.01 * v[a:b]
            x[a:b] = np.where(x[a:b] > 1, x[a:b] - 1, x[a:b])
            density[c] = np.sum(x[a:b]) / (b - a)
            heat[c] += np.sum((v[a:b] - np.mean(v[a:b])) ** 2)
    return {"x": x, "heat": heat}


def elimination_inputs(choose):
    count, N = choose((2, 6), (60, 40), (1, 500))
    return (F(1, count, N, N) + N * np.eye(N),)


def elimination(stack):
    for A in stack:
        for k in range(len(A) - 1):
            A[k + 1:, k] /= A[k, k]
            A[k + 1:, k + 1:] -= A[k + 1:, k, None] * A[k, k + 1:]
    return {"A": stack}


def orthogonal_inputs(choose):
    return (F(1, *choose((1, 9, 5), (60, 30, 24), (1, 1000, 120))),)


def orthogonal(stack):
    count, m, n = stack.shape
    Rs = np.zeros((count, n, n))
    for A, R in zip(stack, Rs):
        for k in range(n):
            R[k, k] = np.sqrt(np.sum(A[:, k] ** 2))
            A[:, k] /= R[k, k]
            R[k, k + 1:] = A[:, k] @ A[:, k + 1:]
            A[:, k + 1:] -= A[:, k, None] * R[k, k + 1:]
    return {"Q": stack, "R": Rs}


def adi_inputs(choose):
    N, steps = choose((10, 3), (50, 40), (1000, 3))
    return F(1, N, N), steps


def adi(u, steps):
    n = len(u)
    v = np.zeros((n, n))
    p = np.zeros((n, n))
    q = np.zeros((n, n))
    a, b = -0.5, 2.0
    c, d = -0.25, 1.5
    for _ in range(steps):
        v[0, 1:-1] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = v[0, 1:-1]
        for j in range(1, n - 1):
            p[1:-1, j] = -a / (a * p[1:-1, j - 1] + b)
            q[1:-1, j] = ((-c * u[j - 1, 1:-1] + (1 + 2 * c) * u[j, 1:-1]
                           - c * u[j + 1, 1:-1] - a * q[1:-1, j - 1])
                          / (a * p[1:-1, j - 1] + b))
        v[-1, 1:-1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]
        u[1:-1, 0] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = u[1:-1, 0]
        for j in range(1, n - 1):
            p[1:-1, j] = -c / (c * p[1:-1, j - 1] + d)
            q[1:-1, j] = ((-a * v[1:-1, j - 1] + (1 + 2 * a) * v[1:-1, j]
                           - a * v[1:-1, j + 1] - c * q[1:-1, j - 1])
                          / (c * p[1:-1, j - 1] + d))
        u[1:-1, -1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1:-1, j] = p[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j]
    return {"u": u}


def smoothing_inputs(choose):
    return F(1, *choose((5, 12), (40, 4000), (1000, 600))), 0.3, 0.1


def smoothing(x, alpha, beta):
    n, months = x.shape
    level = np.zeros((n, months))
    trend = np.zeros((n, months))
    level[:, 0] = x[:, 0]
    trend[:, 0] = x[:, 1] - x[:, 0]
    error = 0.0
    for t in range(1, months):
        guess = level[:, t - 1] + trend[:, t - 1]
        error += np.sum((x[:, t] - guess) ** 2)
        level[:, t] = alpha * x[:, t] + (1 - alpha) * guess
        trend[:, t] = (beta * (level[:, t] - level[:, t - 1])
                       + (1 - beta) * trend[:, t - 1])
    return {"level": level, "error": np.asarray(error)}


def mixture_inputs(choose):
    N, K, steps = choose((30, 3, 4), (2000, 8, 60), (60, 1000, 20))
    return F(1, N), F(2, K), steps


def mixture(x, mu, steps):
    k = len(mu)
    variance = np.full(k, 0.05)
    weight = np.full(k, 1 / k)
    for _ in range(steps):
        l = (np.log(weight) - 0.5 * np.log(variance)
             - (x[:, None] - mu) ** 2 / (2 * variance))
        e = np.exp(l - np.max(l, axis=1, keepdims=True))
        r = e / np.sum(e, axis=1, keepdims=True)
        n = np.sum(r, axis=0)
        mu = np.sum(r * x[:, None], axis=0) / n
        variance = np.sum(r * (x[:, None] - mu) ** 2, axis=0) / n + 1e-3
        weight = n / len(x)
    return {"mu": mu, "weight": weight}


def forward_inputs(choose):
    S, O, T = choose((4, 3, 12), (16, 8, 3000), (300, 8, 300))
    A = F(1, S, S) + 0.1
    return A / np.sum(A, axis=1, keepdims=True), F(2, S, O) + 0.1, I(3, O, T)


def forward(A, B, seen):
    s = len(A)
    alpha = np.full(s, 1 / s)
    delta = np.zeros(s)
    LA = np.log(A)
    total = 0.0
    for o in seen:
        alpha = alpha @ A * B[:, o]
        c = np.sum(alpha)
        alpha = alpha / c
        total += np.log(c)
        delta = np.max(delta[:, None] + LA, axis=0) + B[:, o]
    return {"total": np.asarray(total), "alpha": alpha, "delta": delta}


def doitgen_inputs(choose):
    R, Q, P = choose((3, 4, 5), (80, 60, 24), (4, 30, 700))
    return F(1, R, Q, P), F(2, P, P)


def doitgen(A, C):
    r, q, p = A.shape
    for i in range(r):
        for j in range(q):
            row = A[i, j] @ C
            A[i, j] = row / np.sqrt(np.sum(row ** 2))
    return {"A": A}


def durbin_inputs(choose):
    count, N = choose((2, 8), (100, 50), (4, 1200))
    return (0.5 * F(1, count, N) / (1 + np.arange(N)),)


def durbin(stack):
    out = np.zeros_like(stack)
    for r, y in zip(stack, out):
        y[0] = -r[0]
        alpha = -r[0]
        beta = 1.0
        for k in range(1, len(r)):
            beta *= 1 - alpha * alpha
            alpha = -(r[k] + np.sum(r[k - 1::-1] * y[:k])) / beta
            y[:k] += alpha * y[k - 1::-1]
            y[k] = alpha
    return {"out": out}
