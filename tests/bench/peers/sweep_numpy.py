"""What sweep.tly is measured against: the same operands and cases in NumPy, whose
names the cases see as their globals."""

import time
import warnings

import numpy as np

warnings.simplefilter("ignore")
np.seterr(all="ignore")

DTYPES = {"i": np.int64, "f": np.float64, "s": np.float32, "b": np.uint8}

# The array API's names for what NumPy 1 calls otherwise.
NAMES = dict(
    vars(np), pow=np.power, acos=np.arccos, asin=np.arcsin, atan=np.arctan,
    acosh=np.arccosh, asinh=np.arcsinh, atanh=np.arctanh, atan2=np.arctan2,
    concat=np.concatenate, permute_dims=np.transpose, unique_values=np.unique,
    cumulative_sum=np.cumsum, cumulative_prod=np.cumprod,
    matrix_transpose=lambda x: np.swapaxes(x, -1, -2),
    reciprocal=np.reciprocal, min=np.min, max=np.max, sum=np.sum, abs=np.abs,
    any=np.any, all=np.all, round=np.round, divmod=np.divmod,
    astype=lambda x, dtype: x.astype(dtype))


def scattered(n, step):
    return np.arange(n) * step % 1009 % 252


def laid_out(items, shape, layout):
    if layout == "b":
        return np.broadcast_to(items[:shape[-1]], shape)
    if layout == "c":
        return items.reshape(shape).copy()
    if len(shape) == 1:
        return np.repeat(items, 2)[::2]
    return items.reshape(shape).T.copy().T


def operands(n, dtype, layout):
    rows, columns = {16: (4, 4), 1000: (25, 40)}.get(n, (250, 400))
    four = {16: (2, 2, 2, 2), 1000: (5, 5, 5, 8)}.get(n, (10, 10, 10, 100))
    side = {16: 4, 1000: 31}.get(n, 200)
    shape = (rows, columns) if layout == "b" else (n,)
    if dtype == "t":
        return {name: laid_out(np.array([f"item{i}" for i in scattered(n, s)]),
                               shape, layout)
                for name, s in (("w", 7919), ("v", 104_729))}
    t = DTYPES[dtype]
    whole = scattered(n, 7919)
    other = scattered(n, 104_729) % 97 + 1
    x = ((whole - 100) / 37.0 if dtype in "fs" else whole).astype(t)
    y = (other / 7.0 if dtype in "fs" else other).astype(t)
    u = (whole / 260.0 + 0.01).astype("f4" if dtype == "s" else "f8")
    square = (scattered(side * side, 7919) % 100 / 100).reshape(side, side)
    definite = square @ square.T + side * np.eye(side)
    m = laid_out(x, (rows, columns), layout)
    return {
        "x": laid_out(x, shape, layout), "m": m, "c": m[0].copy(),
        "y": y[:rows].reshape(rows, 1) if layout == "b" else
        laid_out(y, shape, layout),
        "u": laid_out(u, shape, layout), "t": laid_out(x, four, layout),
        "s": np.sort(x),
        "k": laid_out(np.arange(n) * 7919 % n, (n,),
                      "c" if layout == "b" else layout),
        "p": laid_out(whole > 100, shape, layout),
        "q": laid_out(other > 50, shape, layout),
        "a": laid_out((square + 2 * np.eye(side)).astype(t), (side, side),
                      layout),
        "h": laid_out(np.minimum(definite, 255).astype(t), (side, side), layout),
    }


# --- What NumPy has no one function for ---------------------------------------


def error_and_catch():
    try:
        raise ValueError("no")
    except ValueError:
        return 1


def put_copy(x, k, y):
    out = x.copy()
    np.put_along_axis(out, k, y, -1)
    return out


def add_copy(x, k, y):
    out = x.copy()
    np.add.at(out, k, y)
    return out


NAMES.update(error_and_catch=error_and_catch, put_copy=put_copy,
             add_copy=add_copy)


def digest(result):
    try:
        values = np.abs(np.asarray(result).ravel().astype(complex))
        return float(np.where(np.isfinite(values), values, 0).sum())
    except (TypeError, ValueError):
        return 0.0


def seconds(f):
    f()
    start = time.process_time()
    f()
    once = time.process_time() - start
    turns = int(0.0005 / (once + 1e-9)) + 1
    best = float("inf")
    for _ in range(2 if once > 0.005 else 5):
        start = time.process_time()
        for _ in range(turns):
            f()
        best = min(best, (time.process_time() - start) / turns)
    return best


def sweep(cases, n):
    for dtype in "ifsbt":
        for layout in "csb":
            o = operands(n, dtype, layout)
            for name, f, dtypes, layouts in cases:
                if dtype not in dtypes or layout not in layouts:
                    continue
                try:
                    g = f(o)
                    row = seconds(g), digest(g())
                except Exception as e:  # is shown as the row
                    row = str(e).split("\n", maxsplit=1)[0], ""
                print(name, n, dtype, layout, *row, sep="\t", flush=True)
