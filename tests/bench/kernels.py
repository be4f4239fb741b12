"""The kernels of examples/kernels in NumPy, with whole arrays and slices, and the
programs of examples/slices, which slices.py has.

usage: kernels.py NAME (small | bench | thin | wide) [--memory]

Compares the outputs with the check values of the Tally script, and prints the
seconds that the kernel took; with --memory, also the most bytes that it had
allocated above its inputs.
"""

import os
import re
import sys

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import math
import time
import tracemalloc

import numpy as np

import slices
from numbers_of import F, I


# --- The kernels: NAME(inputs) computes, NAME_inputs(bench) makes inputs ------


def jacobi_1d_inputs(bench):
    n, steps = (200000, 100) if bench else (400, 50)
    return F(1, n), F(2, n), steps


def jacobi_1d(A, B, steps):
    for _ in range(steps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])
    return {"A": A, "B": B}


def jacobi_2d_inputs(bench):
    n, steps = (800, 25) if bench else (40, 20)
    return F(1, n, n), F(2, n, n), steps


def jacobi_2d(A, B, steps):
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:]
                               + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:]
                               + B[2:, 1:-1] + B[:-2, 1:-1])
    return {"A": A, "B": B}


def fdtd_2d_inputs(bench):
    nx, ny, steps = (700, 800, 20) if bench else (30, 34, 20)
    return F(1, nx, ny), F(2, nx, ny), F(3, nx, ny), steps


def fdtd_2d(ex, ey, hz, steps):
    for t in range(steps):
        ey[0, :] = t
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1]
                               + (ey[1:, :-1] - ey[:-1, :-1]))
    return {"ex": ex, "ey": ey, "hz": hz}


def cavity_flow_inputs(bench):
    ny, nx, steps, inner = (101, 101, 60, 25) if bench else (21, 21, 10, 5)
    zero = np.zeros((ny, nx))
    return zero, zero.copy(), zero.copy(), steps, inner


def cavity_flow(u, v, p, steps, inner):
    rho, nu = 1, 0.1
    ny, nx = u.shape
    dx = 2 / (nx - 1)
    dy = 2 / (ny - 1)
    dt = 0.1 / ((nx - 1) * (ny - 1))
    for _ in range(steps):
        ux = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)
        vy = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)
        uy = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy)
        vx = (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx)
        b = rho * ((ux + vy) / dt - ux**2 - 2 * uy * vx - vy**2)
        for _ in range(inner):
            q = p.copy()
            p[1:-1, 1:-1] = (((q[1:-1, 2:] + q[1:-1, :-2]) * dy**2
                              + (q[2:, 1:-1] + q[:-2, 1:-1]) * dx**2)
                             / (2 * (dx**2 + dy**2))
                             - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b)
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
            p[:, 0] = p[:, 1]
            p[-1, :] = 0
        un = u.copy()
        vn = v.copy()
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
            + nu * (dt / dx**2
                    * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, :-2])
                    + dt / dy**2
                    * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[:-2, 1:-1])))
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
            + nu * (dt / dx**2
                    * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, :-2])
                    + dt / dy**2
                    * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[:-2, 1:-1])))
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0
    return {"u": u, "v": v, "p": p}


def deriche_inputs(bench):
    return (F(1, 1200, 900) if bench else F(1, 40, 30),)


def smooth(x):
    alpha = 0.25
    e = math.exp(-alpha)
    k = (1 - e) ** 2 / (1 + 2 * alpha * e - e**2)
    a1, a2, a3, a4 = k, k * e * (alpha - 1), k * e * (alpha + 1), -k * e**2
    b1, b2 = 2 * e, -e**2
    n = x.shape[1]
    f = np.zeros_like(x)
    f[:, 0] = a1 * x[:, 0]
    f[:, 1] = a1 * x[:, 1] + a2 * x[:, 0] + b1 * f[:, 0]
    for j in range(2, n):
        f[:, j] = (a1 * x[:, j] + a2 * x[:, j - 1]
                   + b1 * f[:, j - 1] + b2 * f[:, j - 2])
    g = np.zeros_like(x)
    g[:, n - 2] = a3 * x[:, n - 1]
    for j in range(n - 3, -1, -1):
        g[:, j] = (a3 * x[:, j + 1] + a4 * x[:, j + 2]
                   + b1 * g[:, j + 1] + b2 * g[:, j + 2])
    return f + g


def deriche(image):
    return {"out": smooth(smooth(image).T).T}


def seidel_2d_inputs(bench):
    n, steps = (120, 20) if bench else (20, 5)
    return F(1, n, n), steps


def seidel_2d(A, steps):
    n, m = A.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            A[i, 1:-1] += (A[i - 1, :-2] + A[i - 1, 1:-1] + A[i - 1, 2:]
                           + A[i, 2:]
                           + A[i + 1, :-2] + A[i + 1, 1:-1] + A[i + 1, 2:])
            for j in range(1, m - 1):
                A[i, j] = (A[i, j] + A[i, j - 1]) / 9
    return {"A": A}


def gemm_inputs(bench):
    ni, nj, nk = (800, 900, 1000) if bench else (20, 22, 24)
    return F(1, ni, nk), F(2, nk, nj), F(3, ni, nj)


def gemm(A, B, C):
    C[:] = 1.5 * (A @ B) + 1.2 * C
    return {"C": C}


def k2mm_inputs(bench):
    ni, nj, nk, nl = (600, 650, 700, 750) if bench else (16, 18, 20, 22)
    return F(1, ni, nk), F(2, nk, nj), F(3, nj, nl), F(4, ni, nl)


def k2mm(A, B, C, D):
    D[:] = 1.5 * (A @ B) @ C + 1.2 * D
    return {"D": D}


def mlp_inputs(bench):
    n, *s = (256, 784, 2048, 1024, 512) if bench else (4, 7, 20, 16, 10)
    inputs = [F(1, n, s[0]).astype(np.float32)]
    for i in range(1, 4):
        w = (F(2 * i, s[i - 1], s[i]) - 0.5) / s[i - 1]
        inputs += [w.astype(np.float32),
                   (F(2 * i + 1, s[i]) - 0.5).astype(np.float32)]
    return inputs


def mlp(x, W1, b1, W2, b2, W3, b3):
    x = np.maximum(x @ W1 + b1, 0)
    x = np.maximum(x @ W2 + b2, 0)
    x = x @ W3 + b3
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return {"y": e / np.sum(e, axis=-1, keepdims=True)}


def covariance2_inputs(bench):
    return (F(1, 1500, 900) if bench else F(1, 30, 20),)


def covariance2(X):
    Z = X - np.mean(X, axis=0)
    return {"cov": Z.T @ Z / (len(X) - 1)}


def atax_inputs(bench):
    m, n, steps = (1500, 1800, 40) if bench else (20, 25, 4)
    return F(1, m, n), F(2, n), steps


def atax(A, x, steps):
    for _ in range(steps):
        y = (A @ x) @ A
        x = y / np.max(np.abs(y))
    return {"x": x, "y": y}


def gemver_inputs(bench):
    n = 3000 if bench else 25
    return [F(1, n, n)] + [F(s, n) for s in range(2, 8)]


def gemver(A, u1, v1, u2, v2, y, z):
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x = 1.2 * y @ A + z
    w = 1.5 * A @ x
    return {"A": A, "x": x, "w": w}


def cholesky_inputs(bench):
    n = 300 if bench else 20
    B = F(1, n, n)
    return (B @ B.T + n * np.eye(n),)


def cholesky(A):
    for i in range(len(A)):
        for j in range(i):
            A[i, j] = (A[i, j] - A[i, :j] @ A[j, :j]) / A[j, j]
        A[i, i] = math.sqrt(A[i, i] - A[i, :i] @ A[i, :i])
    return {"L": A}


def lu_inputs(bench):
    n = 240 if bench else 20
    return (F(1, n, n) + n * np.eye(n),)


def lu(A):
    n = len(A)
    for i in range(n):
        for j in range(i):
            A[i, j] = (A[i, j] - A[i, :j] @ A[:j, j]) / A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]
    return {"LU": A}


def trisolv_inputs(bench):
    n, r = (1500, 30) if bench else (30, 2)
    return np.tril(F(1, n, n), -1) + n * np.eye(n), F(2, r, n)


def trisolv(L, B):
    X = np.zeros_like(B)
    for x, b in zip(X, B):
        for i in range(len(b)):
            x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    return {"X": X}


def syrk_inputs(bench):
    n, m = (300, 200) if bench else (16, 12)
    return F(1, n, m), F(2, n, n)


def syrk(A, C):
    n, m = A.shape
    for i in range(n):
        C[i, :i + 1] *= 1.2
        for k in range(m):
            C[i, :i + 1] += 1.5 * A[i, k] * A[:i + 1, k]
    return {"C": C}


def gramschmidt_inputs(bench):
    return (F(1, 300, 240) if bench else F(1, 20, 16),)


def gramschmidt(A):
    m, n = A.shape
    Q = np.zeros((m, n))
    R = np.zeros((n, n))
    for k in range(n):
        R[k, k] = math.sqrt(A[:, k] @ A[:, k])
        Q[:, k] = A[:, k] / R[k, k]
        for j in range(k + 1, n):
            R[k, j] = Q[:, k] @ A[:, j]
            A[:, j] -= Q[:, k] * R[k, j]
    return {"Q": Q, "R": R}


def covariance_inputs(bench):
    return (F(1, 1200, 1000) if bench else F(1, 30, 20),)


def covariance(X):
    n, m = X.shape
    X -= np.mean(X, axis=0)
    cov = np.zeros((m, m))
    for i in range(m):
        r = X[:, i] @ X[:, i:] / (n - 1)
        cov[i, i:] = r
        cov[i:, i] = r
    return {"cov": cov}


def compute_inputs(bench):
    m, n = (3000, 3200) if bench else (30, 40)
    return I(1, 1000, m, n), I(2, 1000, m, n)


def compute(X, Y):
    return {"Z": np.clip(X, 2, 10) * 4 + Y * 3 + 9}


def go_fast_inputs(bench):
    n, steps = (1200, 30) if bench else (20, 3)
    return F(1, n, n), steps


def go_fast(A, steps):
    n = len(A)
    for _ in range(steps):
        t = 0.0
        for i in range(n):
            t += np.tanh(A[i, i])
        A = 0.5 * A + t / n
    return {"A": A}


def mandelbrot1_inputs(bench):
    xn, yn, steps = (400, 400, 60) if bench else (30, 24, 20)
    x = np.linspace(-1.75, 0.25, xn)
    y = np.linspace(-1, 1, yn)
    return x + 1j * y[:, None], steps


def mandelbrot1(c, steps):
    z = np.zeros(c.shape, dtype=np.complex128)
    n = np.zeros(c.shape, dtype=np.int64)
    for k in range(steps):
        m = np.abs(z) < 2
        n[m] = k
        z[m] = z[m] ** 2 + c[m]
    n[n == steps - 1] = 0
    return {"n": n}


def azimint_naive_inputs(bench):
    n, rings = (200000, 599) if bench else (2000, 19)
    return F(1, n), np.sqrt(F(2, n)), rings


def azimint_naive(data, r, rings):
    R = np.max(r)
    out = np.zeros(rings)
    for i in range(rings):
        lo = R * i / rings
        hi = R * (i + 1) / rings
        out[i] = np.mean(data[(lo <= r) & (r < hi)])
    return {"out": out}


def nbody_inputs(bench):
    n, steps = (150, 60) if bench else (10, 10)
    return np.full(n, 20 / n), F(1, n, 3), F(2, n, 3), steps


def acceleration(m, X):
    d = X[None, :, :] - X[:, None, :]
    w = (np.sum(d**2, axis=2) + 0.1**2) ** -1.5
    return np.sum(d * (w * m)[:, :, None], axis=1)


def energies(m, X, V):
    KE = 0.5 * np.sum(m[:, None] * V**2)
    d = X[None, :, :] - X[:, None, :]
    distance = np.sqrt(np.sum(d**2, axis=2))
    pairs = np.triu(m * m[:, None] / (distance + np.eye(len(m))), 1)
    return KE, -np.sum(pairs)


def nbody(m, X, V, steps):
    dt = 0.02
    V -= m @ V / np.sum(m)
    KE = np.zeros(steps + 1)
    PE = np.zeros(steps + 1)
    acc = acceleration(m, X)
    KE[0], PE[0] = energies(m, X, V)
    for i in range(1, steps + 1):
        V += acc * dt / 2
        X += V * dt
        acc = acceleration(m, X)
        V += acc * dt / 2
        KE[i], PE[i] = energies(m, X, V)
    return {"KE": KE, "PE": PE, "X": X}


def spmv_inputs(bench):
    m, n = (40000, 40000) if bench else (50, 60)
    counts = 4 + np.arange(m) % 9
    ptr = np.concatenate(([0], np.cumsum(counts)))
    i = np.repeat(np.arange(m), counts)
    k = np.arange(len(i)) - ptr[i]
    col = (17 * i + 29 * k**2 + k) % n
    return ptr, col, F(1, len(i)), F(2, n)


def spmv(ptr, col, val, x):
    rows = len(ptr) - 1
    y = np.zeros(rows)
    for i in range(rows):
        a, b = ptr[i], ptr[i + 1]
        y[i] = val[a:b] @ x[col[a:b]]
    return {"y": y}


def crc16_inputs(bench):
    return (I(1, 256, 200000 if bench else 100),)


def crc16(data):
    crc = 0xFFFF
    for byte in data.tolist():
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ 0x8408 if crc & 1 else crc >> 1
    crc ^= 0xFFFF
    return {"crc": np.array((crc & 0xFF) << 8 | crc >> 8)}


def floyd_warshall_inputs(bench):
    n = 500 if bench else 30
    i = np.arange(n)[:, None]
    j = np.arange(n)
    far = ((i + j) % 7 == 0) | ((i + j) % 11 == 0) | ((i + j) % 13 == 0)
    return (np.where(far, 999, i * j % 97 + 1).astype(np.int32),)


def floyd_warshall(D):
    for k in range(len(D)):
        D[:] = np.minimum(D, D[:, k, None] + D[None, k, :])
    return {"D": D}


def conv2d_bias_inputs(bench):
    n, h, w, ci, co, k = (8, 64, 64, 3, 16, 5) if bench else (2, 10, 12, 3, 4, 3)
    return (F(1, n, h, w, ci).astype(np.float32),
            F(2, k, k, ci, co).astype(np.float32),
            F(3, co).astype(np.float32))


def conv2d_bias(x, w, b):
    n, h, wide, _ = x.shape
    k, _, _, channels = w.shape
    y = np.zeros((n, h - k + 1, wide - k + 1, channels), dtype=np.float32)
    for i in range(h - k + 1):
        for j in range(wide - k + 1):
            window = x[:, i:i + k, j:j + k, :, None]
            y[:, i, j, :] = np.sum(window * w, axis=(1, 2, 3)) + b
    return {"y": y}


# --- The command ---------------------------------------------------------------

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "..", "..", "examples")


def kernel_and_inputs(name, size):
    """The function, and a function that makes its inputs."""
    if name + "_inputs" in globals():
        make = globals()[name + "_inputs"]
        return globals()[name], lambda: make(size == "bench")
    make = getattr(slices, name + "_inputs")
    choose = lambda *values: values[("small", "thin", "wide").index(size)]
    return getattr(slices, name), lambda: make(choose)


def known_values(name, size):
    """The check values that the kernel's Tally script states."""
    paths = (os.path.join(EXAMPLES, folder, name + ".tly")
             for folder in ("kernels", "slices"))
    with open(next(filter(os.path.exists, paths)), encoding="utf-8") as f:
        script = f.read()
    known = {}
    for output, values in re.findall(
            r'report\("(\w+)".*?%s: \(([^)]*)\)' % size, script, re.DOTALL):
        known[output] = [float(v) for v in values.split(",")]
    return known


def check(name, y, known):
    allowed = {"float64": 1e-10, "float32": 1e-4}.get(str(y.dtype), 0)
    y = y.astype(np.float64).ravel()
    weight = np.arange(y.size) % 97 + 1
    size = np.abs(y)
    found = [y.size, y.sum(), (y * weight).sum(), y.min(), y.max()]
    slack = [0, allowed * size.sum(), allowed * (size * weight).sum(),
             10 * allowed * size.max(), 10 * allowed * size.max()]
    for what, value, expected, s in zip(("n", "sum", "wsum", "min", "max"),
                                        found, known, slack):
        if not abs(value - expected) <= s:
            sys.exit(f"{what} of {name} is {value}, expected {expected}")


def main():
    name, size = sys.argv[1:3]
    known = known_values(name, size)
    kernel, make_inputs = kernel_and_inputs(name, size)
    inputs = make_inputs()
    before = time.process_time()
    outputs = kernel(*inputs)
    seconds = time.process_time() - before
    if name == "cholesky":
        outputs["L"] = np.tril(outputs["L"])
    assert set(known) == set(outputs)
    for output, y in outputs.items():
        check(output, y, known[output])
    print(f"time {seconds:.6f} s")
    if "--memory" in sys.argv:
        # In a second run, for counting takes time.
        del outputs, inputs, y
        inputs = make_inputs()
        tracemalloc.start()
        kernel(*inputs)
        print(f"peak {tracemalloc.get_traced_memory()[1]} bytes")


main()
