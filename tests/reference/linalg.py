"""Makes data/linalg_*.npy, which tests/lib/linalg_reference.tly compares with:
run once, with NumPy 1.24 and SciPy 1.10, from the project's root:

    /usr/bin/python3 tests/reference/linalg.py

Signs, phases and the order of eigenvalues are those of Tally's documentation.
"""
import numpy as np
import scipy.linalg

here = "tests/reference/data/linalg_"
rng = np.random.default_rng(7)


parts = []


def save(x):
    """Goes to the file that write() makes: all results in order, flat."""
    parts.append(np.asarray(x).ravel())


def write(name):
    np.save(here + name + ".npy", np.concatenate(parts))
    parts.clear()


def turns(v):
    """Per column: what makes the first large item real and positive."""
    size = np.abs(v)
    first = np.argmax(size >= size.max(axis=-2, keepdims=True) / 2, axis=-2)
    x = np.take_along_axis(v, first[..., None, :], axis=-2)
    return np.conj(x) / np.abs(x)


def factors(a):
    """What matrices of any shape have."""
    save(a)
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    f = turns(u)
    save(u * f)
    save(s)
    save(vh * np.conj(np.swapaxes(f, -1, -2)))
    q, r = np.linalg.qr(a)
    d = np.diagonal(r, axis1=-2, axis2=-1)
    d = d / np.abs(d)
    save(q * d[..., None, :])
    save(r * np.conj(d[..., :, None]))
    save(np.linalg.pinv(a))


def square(a, b):
    factors(a)
    h = a + np.conj(np.swapaxes(a, -1, -2))
    save(b)
    save(np.linalg.solve(a, b))
    save(np.linalg.inv(a))
    save(np.linalg.det(a))
    sign, logs = np.linalg.slogdet(a)
    save(sign)
    save(logs)
    save(np.linalg.cholesky(
        a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(a.shape[-1])))
    w, v = np.linalg.eigh(h)
    save(w)
    save(v * turns(v))
    w, v = np.linalg.eig(a)
    if a.ndim == 2:
        order = np.lexsort((w.imag, w.real))
        w, v = w[order], v[:, order]
        save(w)
        save(v * turns(v))
    save(np.linalg.matrix_power(a, 3))
    for p in "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf:
        save(np.linalg.norm(a, p, axis=(-2, -1)))
        if p in (1, 2, np.inf):
            save(np.linalg.cond(a, p))
    small = a / 4 / np.sqrt(a.shape[-1])
    if a.ndim == 2:
        save(scipy.linalg.expm(small))
        save(scipy.linalg.expm(small * 40))
        save(scipy.linalg.solve_triangular(
            np.triu(a) + 9 * np.eye(len(a)), b))
        save(scipy.linalg.solve_triangular(
            np.tril(a) + 9 * np.eye(len(a)), b, lower=True))


def real(*shape):
    return rng.standard_normal(shape)


def full(*shape):
    return real(*shape) + 1j * real(*shape)


# Below and above the size from which a loaded library computes.
for name, make, shape in (
    ("small", real, (6, 6)),
    ("small_c", full, (6, 6)),
    ("large", real, (33, 33)),
    ("large_c", full, (33, 33)),
    ("stack", real, (2, 3, 4, 4)),
    ("tall", real, (7, 4)),
    ("tall_c", full, (34, 33)),
    ("wide", real, (33, 34)),
    ("wide_c", full, (3, 5)),
):
    a = make(*shape)
    if shape[-1] == shape[-2]:
        square(a, make(*shape[:-1], 2))
    else:
        factors(a)
    write(name)

# Least squares, of full rank and not.
for a in real(9, 4), real(9, 3) @ real(3, 6):
    b = real(9, 2)
    x, residuals, rank, s = np.linalg.lstsq(a, b, rcond=None)
    for y in a, b, x, residuals, s:
        save(y)
save(np.linalg.pinv(a, rcond=1e-10))
write("least_squares")

# A band, and products.
ab, b = real(4, 12), real(12, 2)
ab[1] += 6
for y in ab, b, scipy.linalg.solve_banded((2, 1), ab, b):
    save(y)
write("band")
for name, make in ("products", real), ("products_c", full):
    p, q = make(3, 4, 5), make(5, 4, 2)
    x, y = make(4, 3, 5), make(3, 5)
    big, other = make(65, 64), make(64, 66)
    for z in (
        p, q, x, y, big, other,
        np.tensordot(p, q, axes=((2, 1), (0, 1))),
        np.tensordot(p, q, axes=((1,), (1,))),
        np.cross(x, y[None], axis=1),
        np.sum(np.conj(x) * y, axis=-1),
        np.kron(p[0], q[0]),
        big @ other,
    ):
        save(z)
    write(name)
