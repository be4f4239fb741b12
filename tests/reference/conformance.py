"""Makes tests/reference/data/conformance.npz: random calls of the functions of
the array API standard, and of some beside it, with NumPy's answers, which
tests/lib/conformance.tly repeats. Run with NumPy 1.24, from the project's root:

    /usr/bin/python3 tests/reference/conformance.py

Where NumPy and the standard differ, what the standard says is computed here.
"""
import warnings

import numpy as np

warnings.simplefilter("ignore")
np.seterr(all="ignore")
rng = np.random.default_rng(20251201)

SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]
INTEGERS = SIGNED + UNSIGNED
REALS = INTEGERS + FLOATS
INEXACT = FLOATS + COMPLEX
NUMBERS = REALS + COMPLEX
DTYPES = ["bool"] + NUMBERS
SHAPES = [(), (0,), (1,), (5,), (3, 4), (0, 3), (3, 0), (2, 3, 2), (2, 0, 3),
          (2, 1, 3, 2), (1, 2, 1, 2, 2)]

plan, names, cases = [], {}, 0
streams = {d: [] for d in DTYPES}


# --- What is written ---------------------------------------------------------

def word(text):
    return names.setdefault(text, len(names))


def emit(x):
    """A value of the plan: a tag, and what conformance.tly's next() reads."""
    if x is None or isinstance(x, bool):
        plan.append(0 if x is None else 2 if x else 1)
    elif isinstance(x, int):
        plan.extend([3, x])
    elif isinstance(x, float):
        if np.isinf(x):
            plan.extend([5, word("inf" if x > 0 else "-inf")])
        else:
            assert x * 4 == int(x * 4)
            plan.extend([4, int(x * 4)])
    elif isinstance(x, str):
        plan.extend([8, DTYPES.index(x)] if x in DTYPES else [5, word(x)])
    elif isinstance(x, (tuple, list)):
        plan.extend([7, len(x)])
        for v in x:
            emit(v)
    elif isinstance(x, dict):
        plan.extend([9, len(x)])
        for k, v in x.items():
            emit(k)
            emit(v)
    else:
        x = np.asarray(x)
        plan.extend([6, DTYPES.index(x.dtype.name), x.ndim, *x.shape])
        streams[x.dtype.name].append(x.reshape(-1))


def call(name, *args, want, tol=None, scale=0.0, **options):
    """A call by position and by name, and its answer: an array or a list."""
    global cases
    cases += 1
    first = want[0] if isinstance(want, list) and want else want
    kind = np.asarray(first).dtype
    if tol is None:
        tol = 1e-6 if kind in ("float32", "complex64") else 1e-13
    emit(name)
    emit(list(args))
    emit(options)
    emit([np.asarray(w) for w in want] if isinstance(want, list) else np.asarray(want))
    emit(np.asarray(float(tol)))
    emit(np.asarray(float(scale)))


def largest(w):
    return float(np.nan_to_num(np.max(np.abs(w), initial=1.0), posinf=1.0))


# --- What is drawn -----------------------------------------------------------

def items(dtype, shape, special=True, low=-9, high=10):
    n = int(np.prod(shape, dtype=int))
    d = np.dtype(dtype)
    if d.kind == "b":
        x = rng.integers(0, 2, n) == 1
    elif d.kind in "iu":
        x = rng.integers(max(low, 0) if d.kind == "u" else low, high, n).astype(d)
        if special and n > 3 and rng.random() < 0.5:
            x[rng.integers(n)] = np.iinfo(d).min
            x[rng.integers(n)] = np.iinfo(d).max
    elif d.kind == "f":
        x = (rng.integers(low * 4, high * 4, n) / 4).astype(d)
        for v in (np.nan, np.inf, -np.inf, -0.0, 0.0):
            if special and n > 2 and rng.random() < 0.3:
                x[rng.integers(n)] = v
    else:
        part = "float32" if dtype == "complex64" else "float64"
        x = np.empty(n, d)
        x.real = items(part, (n,), special, low, high)
        x.imag = items(part, (n,), special, low, high)
    return np.asarray(x, dtype=d).reshape(shape)


def some(choices):
    return choices[int(rng.integers(len(choices)))]


def flag():
    return bool(rng.integers(2))


def axis_sign(axis, ndim):
    return int(axis) - (ndim if flag() else 0)


def as_float(x):
    return x.astype("float64") if x.dtype.kind in "biu" else x


def wide(dtype):
    kind = np.dtype(dtype).kind
    return "int64" if kind in "bi" else "uint64" if kind == "u" else dtype


# --- Elementwise -------------------------------------------------------------

ONE = dict(negative=(NUMBERS, np.negative), positive=(NUMBERS, np.positive),
           square=(NUMBERS, np.square), abs=(REALS, np.abs), floor=(FLOATS, np.floor),
           ceil=(FLOATS, np.ceil), trunc=(FLOATS, np.trunc), round=(FLOATS, np.round),
           conj=(NUMBERS, np.conj), real=(NUMBERS, np.real), imag=(COMPLEX, np.imag),
           isnan=(INEXACT, np.isnan), isinf=(INEXACT, np.isinf), isfinite=(INEXACT, np.isfinite),
           signbit=(FLOATS, np.signbit), sign=(REALS, np.sign),
           bitwise_invert=(["bool"] + INTEGERS, np.invert), logical_not=(["bool"], np.logical_not))
FLOAT_ONE = dict(exp="exp", expm1="expm1", log="log", log1p="log1p", log2="log2", log10="log10",
                 sqrt="sqrt", sin="sin", cos="cos", tan="tan", sinh="sinh", cosh="cosh", tanh="tanh",
                 asin="arcsin", acos="arccos", atan="arctan", asinh="arcsinh", acosh="arccosh",
                 atanh="arctanh", exp2="exp2", cbrt="cbrt")
TWO = dict(add=(NUMBERS, np.add), subtract=(NUMBERS, np.subtract), multiply=(REALS, np.multiply),
           maximum=(REALS, np.maximum), minimum=(REALS, np.minimum), equal=(DTYPES, np.equal),
           not_equal=(DTYPES, np.not_equal), less=(REALS, np.less), less_equal=(REALS, np.less_equal),
           greater=(REALS, np.greater), greater_equal=(REALS, np.greater_equal),
           bitwise_and=(["bool"] + INTEGERS, np.bitwise_and),
           bitwise_or=(["bool"] + INTEGERS, np.bitwise_or),
           bitwise_xor=(["bool"] + INTEGERS, np.bitwise_xor), logical_and=(["bool"], np.logical_and),
           logical_or=(["bool"], np.logical_or), logical_xor=(["bool"], np.logical_xor))
FLOAT_TWO = dict(divide=np.divide, atan2=np.arctan2, hypot=np.hypot, copysign=np.copysign,
                 nextafter=np.nextafter, logaddexp=np.logaddexp, pow=np.power, remainder=np.remainder)
PAIRS = [((), ()), ((5,), ()), ((), (3,)), ((3, 4), (4,)), ((3, 1), (1, 4)), ((0,), (1,)),
         ((2, 1, 3), (4, 1)), ((2, 0, 3), (1, 3))]


def floor_divide(x, y):
    """The standard's: of infinities, and by them, as the quotient goes."""
    w = np.floor_divide(x, y)
    sign = np.where(np.signbit(x) != np.signbit(y), -1.0, 1.0)
    w = np.where(np.isinf(x) & np.isfinite(y), sign * np.inf, w)
    return np.where(np.isinf(y) & np.isfinite(x), sign * 0.0, w).astype(x.dtype)


def elementwise():
    for shape in SHAPES:
        for name, (dtypes, f) in ONE.items():
            x = items(some(dtypes), shape)
            call(name, x, want=f(x))
        for name, f in FLOAT_ONE.items():
            d = some(FLOATS + ["int32", "uint8"] + (COMPLEX if name not in ("exp2", "cbrt") else []))
            x = items(d, shape, special=d not in COMPLEX, low=-3, high=4)
            w = getattr(np, f)(as_float(x))
            call(name, x, want=w, tol=3e-6 if w.dtype in ("float32", "complex64") else 1e-13,
                 scale=largest(w) if d in COMPLEX else 0)
    for a, b in PAIRS:
        for name, (dtypes, f) in TWO.items():
            d, e = some(dtypes), some(dtypes)
            if "bool" in (d, e) or np.promote_types(d, e).kind == "f" and "u" in (np.dtype(d).kind, np.dtype(e).kind):
                e = d
            x, y = items(d, a), items(e, b)
            p = np.promote_types(d, e)
            call(name, x, y, want=f(x.astype(p), y.astype(p)))
        for name, f in FLOAT_TWO.items():
            d = some(FLOATS)
            x, y = items(d, a), items(d, b)
            w = f(x, y)
            if name == "remainder":  # the sign of a zero: the divisor's
                w = np.where(np.isinf(y) & (x == 0), np.copysign(0.0, y), w).astype(d)
            call(name, x, y, want=w, tol=3e-6 if d == "float32" else 1e-13)
        for d in FLOATS:
            x, y = items(d, a), items(d, b)
            call("floor_divide", x, y, want=floor_divide(x, y))
        d = some(INTEGERS)
        x, y = items(d, a), items(d, b)
        y = np.where(y == 0, 3, y).astype(d)
        call("floor_divide", x, y, want=np.floor_divide(x, y))
        call("remainder", x, y, want=np.remainder(x, y))
        k = rng.integers(0, x.dtype.itemsize * 8, b).astype(d)
        call("bitwise_left_shift", x, k, want=np.left_shift(x, k))
        call("bitwise_right_shift", x, k, want=np.right_shift(x, k))
        d = some(REALS)
        x, low = items(d, a), items(d, b)
        high = np.maximum(low, items(d, b))
        call("clip", x, low, high, want=np.minimum(np.maximum(x, low), high))
        call("clip", x, max=low, want=np.minimum(x, low))
        d = some(DTYPES)
        x, y, c = items(d, a), items(d, b), items("bool", b)
        call("where", c, x, y, want=np.where(c, x, y))


# --- Along axes --------------------------------------------------------------

def axes_of(ndim):
    out = [None] + [axis_sign(k, ndim) for k in range(ndim)]
    if ndim > 1:
        out += [tuple(axis_sign(v, ndim) for v in rng.permutation(ndim)[:2]), ()]
    return out


def reductions(d, shape, axis):
    kind = np.dtype(d).kind
    how = dict(axis=axis, keepdims=flag())
    x = items(d, shape, low=-3, high=4)
    xs = x.astype(wide(d))
    tol = 1e-5 if d in ("float32", "complex64") else 1e-12
    call("sum", x, **how, want=np.sum(xs, **how), tol=tol, scale=30)
    if kind in "biuf":
        call("prod", x, **how, want=np.prod(xs, **how), tol=tol)
    call("all", x, **how, want=np.all(x, **how))
    call("any", x, **how, want=np.any(x, **how))
    counted = np.sum(x != 0, dtype="int64", **how)
    call("count_nonzero", x, **how, want=counted)
    if kind == "b":
        return
    y = items(d, shape, special=False)
    other = some(["float64", "complex128"] if kind in "iuf" else ["complex128"])
    call("sum", y, dtype=other, **how, want=np.sum(y, dtype=other, **how), tol=1e-5, scale=50)
    call("mean", y, **how, want=np.mean(as_float(y), **how), tol=tol, scale=20)
    if kind == "c":
        return
    n = y.size if axis is None else int(np.prod([shape[a] for a in np.atleast_1d(axis)], dtype=int)) if axis != () else 1
    correction = some([0, 1, 0.5, 2])
    w = np.var(as_float(y).astype("float64"), **how)
    w = np.asarray(w * n / (n - correction) if n > correction else np.full_like(w, np.nan)).astype(as_float(y).dtype)
    call("var", y, correction=correction, **how, want=w, tol=tol, scale=400)
    call("std", y, correction=correction, **how, want=np.sqrt(w), tol=tol * 1e3, scale=20)
    if n > 0:
        call("max", x, **how, want=np.max(x, **how))
        call("min", x, **how, want=np.min(x, **how))
        if not isinstance(axis, tuple):
            call("argmax", x, **how, want=np.argmax(x, **how))
            call("argmin", x, **how, want=np.argmin(x, **how))


def descending(x, axis):
    """Stable, so that equal items keep their order."""
    y = np.moveaxis(x, axis, -1)
    out = np.empty(y.shape, "int64")
    for place in np.ndindex(y.shape[:-1]):
        lane = y[place].tolist()
        out[place] = sorted(range(len(lane)), key=lambda i: -lane[i])
    return np.moveaxis(out, -1, axis)


def along(d, shape, axis):
    kind = np.dtype(d).kind
    ndim, n = len(shape), shape[axis]
    x = items(d, shape)
    y = items(d, shape, special=False, low=-3, high=4)
    initial = flag()
    one = list(shape)
    one[axis] = 1
    for name, f, first in (("cumulative_sum", np.cumsum, np.zeros), ("cumulative_prod", np.cumprod, np.ones)):
        w = f(y.astype(wide(d)), axis=axis)
        if initial:
            w = np.concatenate([first(one, w.dtype), w], axis=axis)
        call(name, y, axis=axis, include_initial=initial, want=w, tol=1e-5, scale=largest(w))
    if kind != "c":
        call("sort", x, axis=axis, want=np.sort(x, axis=axis))
        call("argsort", x, axis=axis, want=np.argsort(x, axis=axis, kind="stable"))
        order = descending(y, axis)
        call("argsort", y, axis=axis, descending=True, want=order)
        call("sort", y, axis=axis, descending=True, want=np.take_along_axis(y, order, axis))
    if kind in "iuf":
        call("cumulative_max", x, axis=axis, want=np.maximum.accumulate(x, axis=axis))
        call("cumulative_min", x, axis=axis, want=np.minimum.accumulate(x, axis=axis))
    ends = []
    for _ in range(2):
        joined = list(shape)
        joined[axis] = int(rng.integers(0, 3))
        ends.append(items(d, joined, special=False))
    if kind != "b":
        k = int(rng.integers(0, 4))
        call("diff", y, axis=axis, n=k, prepend=ends[0], append=ends[1],
             want=np.diff(y, axis=axis, n=k, prepend=ends[0], append=ends[1]), tol=1e-5)
    if n > 0:
        index = rng.integers(-n, n, int(rng.integers(0, 5))).astype(some(SIGNED))
        call("take", x, index, axis=axis, want=np.take(x, index, axis=axis))
        lanes = list(shape)
        lanes[axis] = int(rng.integers(0, 4))
        index = rng.integers(-n, n, lanes)
        call("take_along_axis", x, index, axis=axis, want=np.take_along_axis(x, index, axis))
    counts = rng.integers(0, 4, n)
    call("repeat", x, counts, axis=axis, want=np.repeat(x, counts, axis=axis))
    call("flip", x, axis=axis, want=np.flip(x, axis))
    shift = int(rng.integers(-7, 8))
    call("roll", x, shift, axis=axis, want=np.roll(x, shift, axis))
    call("concat", [x, ends[0]], axis=axis, want=np.concatenate([x, ends[0]], axis))
    call("stack", [x, x], axis=axis, want=np.stack([x, x], axis))
    call("unstack", x, axis=axis, want=[np.take(x, i, axis) for i in range(n)])
    call("expand_dims", x, axis=axis, want=np.expand_dims(x, axis))
    if n == 1:
        call("squeeze", x, axis=axis, want=np.squeeze(x, axis))
    other = int(rng.integers(ndim))
    call("moveaxis", x, axis, other, want=np.moveaxis(x, axis, other))


def whole(d, shape):
    ndim = len(shape)
    x = items(d, shape)
    call("flip", x, want=np.flip(x))
    call("roll", x, 3, want=np.roll(x, 3))
    call("repeat", x, 3, want=np.repeat(x, 3))
    call("squeeze", x, want=np.squeeze(x))
    order = [int(k) for k in rng.permutation(ndim)]
    call("permute_dims", x, order, want=np.transpose(x, order))
    times = [int(v) for v in rng.integers(0, 3, rng.integers(0, ndim + 2))]
    call("tile", x, times, want=np.tile(x, times))
    wider = [2] + [3 if n == 1 else n for n in shape]
    call("broadcast_to", x, wider, want=np.broadcast_to(x, wider))
    if ndim > 0:
        call("nonzero", x, want=[p.astype("int64") for p in np.nonzero(x)])
    if ndim > 1:
        a, b = (int(k) for k in rng.permutation(ndim)[:2])
        call("roll", x, [2, -3], axis=[a, b - ndim], want=np.roll(x, (2, -3), (a, b)))
        call("flip", x, axis=[a, b - ndim], want=np.flip(x, (a, b)))
        call("expand_dims", x, axis=[0, -1], want=np.expand_dims(x, (0, -1)))
        k = int(rng.integers(-4, 5))
        call("tril", x, k=k, want=np.tril(x, k))
        call("triu", x, k=k, want=np.triu(x, k))
        call("concat", [x, x], axis=None, want=np.concatenate([x, x], None))
    for e in DTYPES:
        if not (np.dtype(d).kind == "c" and np.dtype(e).kind != "c") and flag():
            y = items(d, shape, special=False, low=0)
            call("astype", y, e, want=y.astype(e))


def sets(d, shape):
    x = items(d, shape)
    flat = x.reshape(-1).tolist()
    values = sorted(set(v for v in flat if v == v))
    counts = [flat.count(v) for v in values]
    inverse = []
    for v in flat:  # each NaN is distinct
        if v != v:
            counts.append(1)
        inverse.append(values.index(v) if v == v else len(counts) - 1)
    values = np.array(values + [np.nan] * (len(counts) - len(values)), d)
    first = np.array([inverse.index(i) for i in range(len(counts))], "int64")
    inverse = np.array(inverse, "int64").reshape(shape)
    counts = np.array(counts, "int64")
    call("unique_values", x, want=values)
    call("unique_counts", x, want=[values, counts])
    call("unique_inverse", x, want=[values, inverse])
    call("unique_all", x, want=[values, first, inverse, counts])
    y = items(d, (4,))
    invert = flag()
    call("isin", x, y, invert=invert, want=np.isin(x, y, invert=invert))
    if np.dtype(d).kind == "b":
        return
    y = items(d, (7,))
    side = some(["left", "right"])
    order = np.argsort(y, kind="stable")
    call("searchsorted", y[order], x, side=side, want=np.asarray(np.searchsorted(y[order], x, side=side)))
    call("searchsorted", y, x, side=side, sorter=order, want=np.asarray(np.searchsorted(y, x, side=side, sorter=order)))


def by_axis():
    for shape in SHAPES:
        for d in DTYPES:
            if flag():
                whole(d, shape)
            for axis in axes_of(len(shape)):
                if rng.random() < 0.3:
                    reductions(d, shape, axis)
                if isinstance(axis, int) and rng.random() < 0.3:
                    along(d, shape, axis)
            if d not in COMPLEX and rng.random() < 0.7:
                sets(d, shape)


# --- Creation ----------------------------------------------------------------

def creation():
    for _ in range(60):
        a, b = (int(v) for v in rng.integers(-20, 20, 2))
        step = some([-3, -1, 1, 2, 5])
        call("arange", a, b, step, want=np.arange(a, b, step))
        call("arange", a / 4, b / 4, step / 4, want=np.arange(a / 4, b / 4, step / 4))
        n = int(rng.integers(0, 9))
        d = some(INEXACT)
        end = flag()
        call("linspace", a / 4, b / 4, n, endpoint=end, dtype=d,
             want=np.linspace(a / 4, b / 4, n, endpoint=end).astype(d), scale=5)
        rows, columns = (int(v) for v in rng.integers(0, 5, 2))
        k = int(rng.integers(-6, 7))
        d = some(DTYPES)
        call("eye", rows, columns, k=k, dtype=d, want=np.eye(rows, columns, k, dtype=d))
        shape = [int(v) for v in rng.integers(0, 4, rng.integers(0, 4))]
        call("zeros", shape, dtype=d, want=np.zeros(shape, d))
        call("ones", shape, dtype=d, want=np.ones(shape, d))
        e = some(NUMBERS)
        call("full", shape, 3, dtype=e, want=np.full(shape, 3, e))
        x = items(e, shape, special=False)
        call("full_like", x, 1, want=np.full_like(x, 1))
        call("zeros_like", x, dtype=d, want=np.zeros(shape, d))
        vectors = [items("float64", (int(v),)) for v in rng.integers(0, 4, rng.integers(1, 4))]
        indexing = some(["xy", "ij"])
        call("meshgrid", *vectors, indexing=indexing, want=list(np.meshgrid(*vectors, indexing=indexing)))


# --- Linear algebra ----------------------------------------------------------

PRODUCTS = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)),
            ((5, 1, 2, 3), (4, 3, 2)), ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((0, 2, 3), (3, 4)), ((0,), (0,))]
CONTRACTIONS = [((2, 3, 4), (4, 3, 2), 1), ((2, 3, 4), (3, 4, 5), 2), ((2, 3), (4,), 0),
                ((2, 3, 4), (4, 3, 2), ((1, 2), (1, 0))), ((2, 3, 4), (4, 3, 2), ((-1, -2), (0, 1))),
                ((2, 3, 4), (2, 3, 4), ((0, 1, 2), (0, 1, 2))), ((2, 0), (0, 3), 1), ((2, 3), (2, 3), ((), ()))]
STACKS = [(), (3,), (0,), (2, 1)]


def products():
    for d in INTEGERS + INEXACT:
        tol = 2e-5 if d in ("float32", "complex64") else 1e-12
        draw = lambda shape: items(d, shape, special=False)
        for a, b in PRODUCTS:
            x, y = draw(a), draw(b)
            w = np.matmul(x, y)
            call("matmul", x, y, want=w, tol=tol, scale=largest(w))
        for a, b, axes in CONTRACTIONS:
            if flag():
                x, y = draw(a), draw(b)
                w = np.tensordot(x, y, axes)
                call("tensordot", x, y, axes=axes, want=w, tol=tol, scale=largest(w))
        for a, b, axis in [((3,), (3,), -1), ((2, 3), (2, 3), -2), ((3, 1, 4), (2, 4), -1), ((2, 0), (2, 0), -1), ((3, 2), (1, 3, 1), -2)]:
            x, y = draw(a), draw(b)
            p, q = np.broadcast_arrays(x, y)
            w = np.sum(np.conj(p) * q, axis=axis, dtype=d)
            call("vecdot", x, y, axis=axis, want=w, tol=tol, scale=100)
        for a, b, axis in [((3,), (3,), -1), ((3, 4), (3, 4), 0), ((2, 3, 4), (3, 4), -2), ((0, 3), (0, 3), -1), ((2, 3), (1, 3), -1)]:
            x, y = draw(a), draw(b)
            p, q = np.broadcast_arrays(x, y)
            call("linalg.cross", x, y, axis=axis, want=np.cross(p, q, axis=axis).astype(d), tol=tol, scale=100)
        for shape in [(3, 3), (2, 3, 4), (0, 0), (0, 3, 3), (2, 0, 3)]:
            x = draw(shape)
            k = some([0, 1, -1, 2, -7])
            call("linalg.diagonal", x, offset=k, want=np.diagonal(x, k, -2, -1))
            call("linalg.trace", x, offset=k, want=np.trace(x, k, -2, -1, dtype=wide(d)), tol=tol, scale=30)


def matrix(d, stack, m, n, kind="any"):
    x = rng.normal(size=stack + (m, n))
    if d in COMPLEX:
        x = x + 1j * rng.normal(size=stack + (m, n))
    if kind == "positive":
        x = x @ np.conj(np.swapaxes(x, -1, -2)) + n * np.eye(n)
    if kind == "hermitian":
        x = x + np.conj(np.swapaxes(x, -1, -2))
    if kind == "square":
        x = x + 3 * n * np.eye(n)
    return x.astype(d)


def decompositions():
    for d in INEXACT:
        single = d in ("float32", "complex64")
        real = "float32" if single else "float64"
        tol = 1e-4 if single else 1e-11
        def check(name, *args, want, **options):
            call(name, *args, **options, want=want, tol=tol, scale=largest(want))
        for stack in STACKS:
            for n in (0, 1, 2, 4):
                x = matrix(d, stack, n, n, "square")
                check("linalg.det", x, want=np.linalg.det(x))
                check("linalg.inv", x, want=np.linalg.inv(x))
                k = some([0, 1, 2, 3] + ([-2] if n else []))
                check("linalg.matrix_power", x, k, want=np.linalg.matrix_power(x, k))
                p = matrix(d, stack, n, n, "positive")
                lower = np.linalg.cholesky(p)
                check("linalg.cholesky", p, want=lower)
                check("linalg.cholesky", p, upper=True, want=np.conj(np.swapaxes(lower, -1, -2)))
                h = matrix(d, stack, n, n, "hermitian")
                check("linalg.eigvalsh", h, want=np.linalg.eigvalsh(h))
                b = matrix(d, stack, n, 2)
                check("linalg.solve", x, b, want=np.linalg.solve(x, b))
                b = matrix(d, (), n, 1).reshape(n)
                check("linalg.solve", x, b, want=np.linalg.solve(x, np.broadcast_to(b[:, None], stack + (n, 1)))[..., 0])
            for m, n in [(3, 3), (4, 2), (2, 5), (1, 1)]:
                x = matrix(d, stack, m, n)
                s = np.linalg.svd(x, compute_uv=False)
                check("linalg.svdvals", x, want=s)
                check("linalg.pinv", x, want=np.linalg.pinv(x))
                rtol = rng.uniform(0.1, 0.9, stack).astype(real)
                check("linalg.pinv", x, rtol=rtol, want=np.linalg.pinv(x, rcond=rtol))
                rank = np.sum(s > rtol[..., None] * np.max(s, -1, keepdims=True), axis=-1)
                call("linalg.matrix_rank", x, rtol=rtol, want=np.asarray(rank).astype("int64"))
                order = some(["fro", "nuc", 1, -1, 2, -2, float("inf"), float("-inf")])
                keep = flag()
                w = np.linalg.norm(x, order, axis=(-2, -1), keepdims=keep).astype(real)
                check("linalg.matrix_norm", x, ord=order, keepdims=keep, want=w)
        for shape in [(4,), (2, 3), (2, 3, 2), (0,), (0, 3), ()]:
            x = items(d, shape, special=False)
            size = np.abs(x).astype("float64")
            for order in [2, 1, 0, 3, -1, 2.5, float("inf")]:
                axis = some([a for a in axes_of(len(shape)) if a != ()])
                keep = flag()
                over = tuple(range(len(shape))) if axis is None else axis
                if order == 0:
                    w = np.sum(size != 0, axis=over, keepdims=keep)
                elif order == float("inf"):
                    w = np.max(size, axis=over, keepdims=keep, initial=0)
                else:
                    w = np.sum(size ** order, axis=over, keepdims=keep) ** (1 / order)
                call("linalg.vector_norm", x, ord=order, axis=axis, keepdims=keep, want=np.asarray(w).astype(real), tol=tol)


# --- Fourier transforms ------------------------------------------------------

def transforms():
    for d in INEXACT:
        single = d in ("float32", "complex64")
        real, paired = ("float32", "complex64") if single else ("float64", "complex128")
        tol = 1e-5 if single else 1e-12
        for shape in [(1,), (7,), (16,), (3, 4), (2, 5, 6), (0, 3)]:
            ndim = len(shape)
            for name in ["fft", "ifft", "hfft", "irfft"] + (["rfft", "ihfft"] if d in FLOATS else []):
                for _ in range(3):
                    axis = axis_sign(rng.integers(ndim), ndim)
                    n = some([None, 1, 2, 5, 8])
                    if shape[axis] == 0 or shape[axis] == 1 and n is None:
                        continue
                    norm = some(["backward", "ortho", "forward"])
                    x = items(d, shape, special=False)
                    w = getattr(np.fft, name)(x, n=n, axis=axis, norm=norm)
                    w = w.astype(real if name in ("hfft", "irfft") else paired)
                    call("fft." + name, x, n=n, axis=axis, norm=norm, want=w, tol=tol, scale=largest(w))
            for name in ["fftn", "ifftn", "irfftn"] + (["rfftn"] if d in FLOATS else []):
                axes = [axis_sign(a, ndim) for a in rng.permutation(ndim)[:rng.integers(1, ndim + 1)]]
                s = [int(v) for v in rng.integers(2, 7, len(axes))]
                norm = some(["backward", "ortho", "forward"])
                x = items(d, shape, special=False)
                w = getattr(np.fft, name)(x, s=s, axes=axes, norm=norm).astype(real if name == "irfftn" else paired)
                call("fft." + name, x, s=s, axes=axes, norm=norm, want=w, tol=tol, scale=largest(w))
            x = items(d, shape)
            call("fft.fftshift", x, want=np.fft.fftshift(x))
            call("fft.ifftshift", x, axes=-1, want=np.fft.ifftshift(x, -1))


# --- Beside the standard -----------------------------------------------------

METHODS = ["linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf", "averaged_inverted_cdf",
           "interpolated_inverted_cdf", "hazen", "weibull", "median_unbiased", "normal_unbiased"]


def beside():
    for d in FLOATS + ["int16", "uint8"]:
        tol = 1e-5 if d == "float32" else 1e-11
        for shape in [(7,), (1,), (3, 5), (2, 3, 4)]:
            x = items(d, shape, special=False)
            f = as_float(x)
            holes = np.where(rng.random(shape) < 0.3, np.nan, f).astype(f.dtype)
            for axis in [a for a in axes_of(len(shape)) if a != ()]:
                how = dict(axis=axis, keepdims=flag())
                method = some(METHODS)
                q = np.array([0, 0.1, 0.3, 0.5, 1.0])
                call("quantile", x, q, method=method, **how, want=np.quantile(f, q, method=method, **how).astype(f.dtype), tol=tol, scale=20)
                call("nanquantile", holes, 0.25, method=method, **how, want=np.asarray(np.nanquantile(holes, 0.25, method=method, **how)).astype(f.dtype), tol=tol, scale=20)
                call("median", x, **how, want=np.asarray(np.median(f, **how)).astype(f.dtype), tol=tol, scale=20)
                for name in ("nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "nanmedian"):
                    w = np.asarray(getattr(np, name)(holes, **how)).astype(f.dtype)
                    call(name, holes, **how, want=w, tol=tol * 10, scale=largest(w) + 100)
                if not isinstance(axis, int):
                    continue
                n = shape[axis]
                call("nancumsum", holes, axis=axis, want=np.nancumsum(holes, axis=axis), tol=tol, scale=100)
                size = int(rng.integers(1, n + 1))
                call("sliding_windows", x, size, axis=axis, want=np.lib.stride_tricks.sliding_window_view(x, size, axis=axis))
                index = rng.integers(0, n, [1 if a == axis % len(shape) else v for a, v in enumerate(shape)])
                w = x.copy()
                np.put_along_axis(w, index, np.asarray(3, x.dtype), axis)
                call("put_along_axis", x, index, 3, axis=axis, want=w)
                if d in FLOATS:
                    if n > 1:
                        call("gradient", x, axis=axis, want=np.gradient(x, axis=axis), tol=tol, scale=20)
                    call("trapezoid", x, dx=np.asarray(0.5, d), axis=axis, want=np.asarray(np.trapz(x, axis=axis, dx=0.5)).astype(d), tol=tol, scale=100)
                    call("unwrap", x, axis=axis, want=np.unwrap(x, axis=axis).astype(d), tol=tol, scale=100)
            widths = [[int(v) for v in rng.integers(0, 3, 2)] for _ in shape]
            mode = some(["constant", "edge"] + (["reflect", "wrap", "symmetric"] if min(shape) > 2 else []))
            call("pad", x, widths, mode=mode, want=np.pad(x, widths, mode=mode))
            if len(shape) > 1:
                call("rot90", x, 3, want=np.rot90(x, 3))
        for n, m in [(5, 3), (3, 5), (1, 4)]:
            x, y = items(d, (n,), special=False), items(d, (m,), special=False)
            for mode in ("full", "same", "valid"):
                call("convolve", x, y, mode=mode, want=np.convolve(x, y, mode).astype(d), tol=tol, scale=500)
                call("correlate", x, y, mode=mode, want=np.correlate(x, y, mode).astype(d), tol=tol, scale=500)
        x, bins = items(d, (30,), special=False), np.sort(items(d, (5,), special=False))
        for edges in (bins, bins[::-1].copy()):
            right = flag()
            call("digitize", x, edges, right=right, want=np.digitize(x, edges, right=right))
        counts, edges = np.histogram(x.astype("float64"), 7)
        call("histogram", x, 7, want=[counts, edges], tol=1e-12, scale=20)
        keys = [items(d, (9,), special=False, low=0, high=3) for _ in range(3)]
        call("lexsort", keys, want=np.lexsort(keys))


elementwise()
by_axis()
creation()
products()
decompositions()
transforms()
beside()
arrays = {d: np.concatenate(v) for d, v in streams.items()}
arrays["plan"] = np.array(plan, "int16")
arrays["cases"] = np.array(cases)
arrays["names"] = np.frombuffer(" ".join(names).encode(), "uint8")
np.savez_compressed("tests/reference/data/conformance.npz", **arrays)
print(cases, "calls", {d: a.size for d, a in arrays.items()})
