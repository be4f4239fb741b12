"""Makes tests/lib/expressions.tly: random chains of operations on arrays (views
of views, updates of what dies, reductions, joins) with NumPy's answers. Run
once, with NumPy 1.24, from the project's root:

    /usr/bin/python3 tests/reference/expressions.py

`expressions.py COUNT SEED` writes COUNT other chains to standard output, for
`tally test`: some thousands of them when much has changed.
"""
import random
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")
np.seterr(all="ignore")

DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
          "float32", "float64", "bool"]
LENGTHS = [0, 1, 1, 2, 3, 4, 5, 7]
MOST = 400  # items of a result

count, seed = (int(a) for a in sys.argv[1:3]) if sys.argv[1:] else (600, 1)
rng = random.Random(seed)


class Unfit(Exception):
    """The operation is not for this array."""


def need(condition):
    if not condition:
        raise Unfit


# --- Text --------------------------------------------------------------------

def tuple_text(items):
    return "(" + ", ".join(map(str, items)) + ("," if len(items) == 1 else "") + ")"


def number(x):
    if isinstance(x, bool):
        return "true" if x else "false"
    if isinstance(x, float):
        return f"{x:.9g}"
    return str(x) if x < 2**63 else f"{x}.0"


def call(body, a):
    """A function of q on an array that dies there."""
    return f"(fn(q) {{ {body} }})({a})"


# --- What chains begin with --------------------------------------------------

def start():
    shape = tuple(rng.choice(LENGTHS) for _ in range(rng.choice([1, 1, 2, 2, 3, 4])))
    n, dtype = int(np.prod(shape)), rng.choice(DTYPES)
    step, modulus = rng.randrange(1, 9), rng.choice([5, 7, 11, 97])
    less = modulus // 2 if dtype[0] in "if" else 0
    items = (np.arange(n) * step % modulus - less).reshape(shape)
    text = f"reshape(arange({n}) * {step} % {modulus} - {less}, {tuple_text(shape)})"
    if dtype == "bool":
        return items % 2 == 0, f"({text} % 2 == 0)"
    return items.astype(dtype), f"{dtype}({text})"


# --- Operations: of an array and its text ------------------------------------

def an_axis(a):
    return rng.randrange(-a.ndim, a.ndim)


def a_slice(n):
    if rng.random() < 0.3:
        return slice(None), ":"
    begin = rng.choice([None, rng.randrange(-n - 1, n + 2)])
    end = rng.choice([None, rng.randrange(-n - 1, n + 2)])
    step = rng.choice([1, 1, 2, -1, -2, 3])
    text = f"{'' if begin is None else begin}:{'' if end is None else end}"
    return slice(begin, end, step), text + (f":{step}" if step != 1 else "")


def slices(a, axes):
    pairs = [a_slice(n) for n in a.shape[:axes]]
    return tuple(p[0] for p in pairs), ", ".join(p[1] for p in pairs)


def transposed(a, t):
    if rng.random() < 0.5:
        return a.T, f"({t}).T"
    order = rng.sample(range(a.ndim), a.ndim)
    return a.transpose(order), f"permute_dims({t}, {tuple_text(order)})"


def sliced(a, t):
    index, text = slices(a, rng.randrange(1, a.ndim + 1))
    return a[index], f"({t})[{text}]"


def item_of(a, t):
    axis = rng.randrange(a.ndim)
    need(a.ndim > 1 and a.shape[axis] > 0)
    i = rng.randrange(-a.shape[axis], a.shape[axis])
    return (a[(slice(None),) * axis + (i,)],
            f"({t})[{', '.join([':'] * axis + [str(i)])}]")


def expanded(a, t):
    need(a.ndim < 5)
    axis = rng.randrange(a.ndim + 1)
    return np.expand_dims(a, axis), f"expand_dims({t}, axis: {axis})"


def reshaped(a, t):
    need(a.size > 0)
    rows = rng.choice([d for d in range(1, a.size + 1) if a.size % d == 0])
    return a.reshape(rows, -1), f"reshape({t}, ({rows}, -1))"


def reduced(a, t):
    name = rng.choice("sum prod max min mean std var any all argmax argmin".split())
    axis = an_axis(a)
    need(a.shape[axis] > 0 or name in ("sum", "prod", "any", "all"))
    need((a.dtype == bool) == (name in ("any", "all")))
    need(name != "prod" or a.dtype.kind != "f")
    keep = rng.random() < 0.3
    return (getattr(np, name)(a, axis=axis, keepdims=keep),
            f"{name}({t}, axis: {axis}{', keepdims: true' if keep else ''})")


def counted(a, t):
    axis = an_axis(a)
    return np.count_nonzero(a, axis=axis), f"count_nonzero({t}, axis: {axis})"


def cumulated(a, t):
    need(a.dtype.kind in "iu")
    name, axis = rng.choice(["sum", "prod"]), an_axis(a)
    return getattr(np, "cum" + name)(a, axis=axis), f"cumulative_{name}({t}, axis: {axis})"


def along(numpy_name, name=None):
    def operation(a, t):
        axis = an_axis(a)
        f = getattr(np, numpy_name)
        given = {"kind": "stable"} if "sort" in numpy_name else {}
        return f(a, axis=axis, **given), f"{name or numpy_name}({t}, axis: {axis})"
    return operation


def differences(a, t):
    axis = an_axis(a)
    need(a.dtype != bool and a.shape[axis] > 0)
    return np.diff(a, axis=axis), f"diff({t}, axis: {axis})"


def moved(name, low, high):
    def operation(a, t):
        axis, n = an_axis(a), rng.randrange(low, high)
        return getattr(np, name)(a, n, axis=axis), f"{name}({t}, {n}, axis: {axis})"
    return operation


def tiled(a, t):
    times = tuple(rng.randrange(1, 3) for _ in range(a.ndim))
    return np.tile(a, times), f"tile({t}, {tuple_text(times)})"


def taken(a, t):
    axis = rng.randrange(a.ndim)
    n = a.shape[axis]
    need(n > 0)
    at = [rng.randrange(-n, n) for _ in range(rng.randrange(1, 6))]
    if rng.random() < 0.5:
        return np.take(a, at, axis=axis), f"take({t}, {at}, axis: {axis})"
    return (a[(slice(None),) * axis + (at,)],
            f"({t})[{', '.join([':'] * axis + [str(at)])}]")


def masked(a, t):
    mask, text = (a, "q") if a.dtype == bool else (a > 1, "q > 1")
    if rng.random() < 0.5:
        return a[mask], call(f"q[{text}]", t)
    changed, value = a.copy(), False if a.dtype == bool else 3
    changed[mask] = value
    return changed, call(f"q[{text}] = {number(value)}; q", t)


def updated(a, t):
    need(a.dtype != bool)
    index, text = slices(a, a.ndim)
    value, changed = rng.randrange(9), a.copy()
    if rng.random() < 0.5:
        changed[index] = value
        return changed, call(f"q[{text}] = {value}; q", t)
    changed[index] += changed.dtype.type(value)
    return changed, call(f"q[{text}] += {value}; q", t)


def shifted(a, t):
    """Source and destination overlap."""
    need(a.dtype != bool and a.shape[0] > 1)
    changed = a.copy()
    changed[1:] = a[:-1] + a[1:]
    return changed, call("q[1:] = q[:-1] + q[1:]; q", t)


def combined(a, t):
    need(a.dtype != bool)
    shape = [rng.choice([1, n]) for n in a.shape][rng.randrange(a.ndim):]
    n = int(np.prod(shape))
    b = (np.arange(n) % 5).reshape(shape).astype(a.dtype)
    other = f"{a.dtype}(reshape(arange({n}) % 5, {tuple_text(shape)}))"
    name, sign = rng.choice([("add", "+"), ("subtract", "-"), ("multiply", "*"),
                             ("maximum", ""), ("minimum", "")])
    if rng.random() < 0.5:
        (a, t), (b, other) = (b, other), (a, t)
    result = getattr(np, name)(a, b)
    return result, f"(({t}) {sign} ({other}))" if sign else f"{name}({t}, {other})"


def with_itself(a, t):
    need(a.dtype.kind in "iuf" and a.dtype.itemsize > 2 and a.ndim == 2)
    if a.shape[0] == a.shape[1] and rng.random() < 0.7:
        return a + a.T, call("q + q.T", t)
    return a.T @ a, call("q.T @ q", t)


def compared(a, t):
    need(a.dtype != bool)
    if rng.random() < 0.5:
        return a >= 2, f"(({t}) >= 2)"
    return np.where(a > 0, a, a.dtype.type(7)), call("where(q > 0, q, 7)", t)


def joined(a, t):
    axis = an_axis(a)
    if a.ndim > 4 or rng.random() < 0.5:
        return np.concatenate((a, a), axis=axis), call(f"concat((q, q), axis: {axis})", t)
    return np.stack((a, np.flip(a)), axis=axis), call(f"stack((q, flip(q)), axis: {axis})", t)


def distinct(a, t):
    return np.unique(a), f"unique({t})"


def turned(a, t):
    need(a.ndim > 1)
    times, axes = rng.randrange(-1, 4), tuple(rng.sample(range(a.ndim), 2))
    return np.rot90(a, times, axes), f"rot90({t}, {times}, axes: {axes})"


def triangle(a, t):
    need(a.ndim > 1)
    name, k = rng.choice(["tril", "triu"]), rng.randrange(-2, 3)
    return getattr(np, name)(a, k), f"{name}({t}, k: {k})"


def diagonal(a, t):
    need(a.ndim > 1)
    k = rng.randrange(-2, 3)
    return (np.diagonal(a, k, -2, -1), f"diagonal({t}, offset: {k})")


def extremes(a, t):
    need(a.dtype != bool)
    name, axis = rng.choice(["max", "min"]), an_axis(a)
    accumulate = {"max": np.maximum, "min": np.minimum}[name].accumulate
    return accumulate(a, axis=axis), f"cumulative_{name}({t}, axis: {axis})"


def middle(a, t):
    axis = an_axis(a)
    need(a.dtype != bool and a.shape[axis] > 0)
    result = np.median(a, axis=axis)
    return result.astype(np.float64), f"float64(median({t}, axis: {axis}))"


def lane_items(a, t):
    need(a.dtype != bool)
    axis = an_axis(a)
    order = np.argsort(a, axis=axis, kind="stable")
    return (np.take_along_axis(a, order, axis=axis),
            call(f"take_along_axis(q, argsort(q, axis: {axis}), axis: {axis})", t))


def divided(a, t):
    need(a.dtype.kind in "iu")
    by = rng.randrange(2, 9)
    by = by if a.dtype.kind == "u" or rng.random() < 0.5 else -by
    name, sign = rng.choice([("floor_divide", "//"), ("remainder", "%")])
    result = getattr(np, name)(a, a.dtype.type(by))
    return result, f"({t}) {sign} {number(by)}"


def bits(a, t):
    need(a.dtype.kind in "iu")
    name, sign, value = rng.choice([("bitwise_and", "&", 5), ("bitwise_xor", "^", 3),
                                    ("bitwise_or", "|", 9), ("left_shift", "<<", 1),
                                    ("right_shift", ">>", 1)])
    return getattr(np, name)(a, a.dtype.type(value)), f"({t}) {sign} {value}"


def clipped(a, t):
    need(a.dtype != bool)
    low, high = sorted((rng.randrange(0, 9), rng.randrange(0, 9)))
    return np.clip(a, a.dtype.type(low), a.dtype.type(high)), f"clip({t}, {low}, {high})"


def padded(a, t):
    width = (rng.randrange(3), rng.randrange(3))
    mode = rng.choice(["constant", "edge", "wrap", "reflect"])
    need(mode == "constant" or a.size > 0)
    need(mode != "reflect" or all(n > 2 for n in a.shape))
    return np.pad(a, width, mode), f"pad({t}, {width}, mode: \"{mode}\")"


def windows(a, t):
    axis = rng.randrange(a.ndim)
    need(a.ndim < 5 and a.shape[axis] > 0)
    width = rng.randrange(1, a.shape[axis] + 1)
    view = np.lib.stride_tricks.sliding_window_view(a, width, axis)
    return view, f"sliding_windows({t}, {width}, axis: {axis})"


def member(a, t):
    values = sorted(rng.sample(range(12), 4))
    need(a.dtype != bool)
    return np.isin(a, values), f"isin({t}, {a.dtype}({values}))"


def places(a, t):
    axis = rng.randrange(a.ndim)
    return np.nonzero(a)[axis], f"nonzero({t})[{axis}]"


def outer(a, t):
    need(a.dtype.kind in "iuf" and a.ndim < 4)
    b = np.arange(3).astype(a.dtype)
    return (np.multiply.outer(a, b),
            f"tensordot({t}, {a.dtype}(arange(3)), axes: 0)")


def one_part(a, t):
    axis = rng.randrange(a.ndim)
    parts = rng.randrange(1, 4)
    i = rng.randrange(parts)
    return (np.array_split(a, parts, axis=axis)[i],
            f"array_split({t}, {parts}, axis: {axis})[{i}]")


def slope(a, t):
    need(a.dtype == np.float64 and min(a.shape) > 1)
    axis = rng.randrange(a.ndim)
    return np.gradient(a, axis=axis), f"gradient({t}, axis: {axis})"


def rows_by(a, t):
    """Places along the first axis, set and added to."""
    need(a.dtype != bool and a.shape[0] > 0)
    n = a.shape[0]
    at = rng.sample(range(-n, n), rng.randrange(1, n + 1))
    at = [i for k, i in enumerate(at) if i % n not in [j % n for j in at[:k]]]
    changed = a.copy()
    if rng.random() < 0.5:
        changed[at] = 6
        return changed, call(f"q[{at}] = 6; q", t)
    changed[at] += a.dtype.type(2)
    return changed, call(f"q[{at}] += 2; q", t)


def chosen(a, t):
    """Two index arrays that broadcast."""
    need(a.ndim > 1 and a.size > 0)
    rows = [rng.randrange(-a.shape[0], a.shape[0]) for _ in range(3)]
    columns = [rng.randrange(a.shape[1]) for _ in range(rng.choice([1, 3]))]
    return a[rows, columns], f"({t})[{rows}, {columns}]"


def spread(a, t):
    need(a.ndim < 5)
    shape = (2,) + a.shape
    return np.broadcast_to(a, shape), f"broadcast_to({t}, {tuple_text(shape)})"


OPERATIONS = [
    transposed, transposed, sliced, sliced, item_of, expanded, reshaped, reduced, reduced,
    counted, cumulated, along("sort"), along("argsort"), along("flip"), differences,
    moved("roll", -5, 6), moved("repeat", 0, 4), tiled, taken, masked, updated, shifted,
    combined, combined, with_itself, compared, joined, distinct, spread, turned, triangle,
    diagonal, extremes, middle, lane_items, divided, bits, clipped, padded, windows, member,
    places, outer, one_part, slope, rows_by, chosen,
]


# --- Chains ------------------------------------------------------------------

def chain():
    """An array and its text; None where the dice do not make one."""
    a, t = start()
    for _ in range(rng.randrange(1, 6)):
        try:
            b, u = rng.choice(OPERATIONS)(a, t)
        except Unfit:
            continue
        b = np.asarray(b)
        if b.size > MOST or (b.dtype.kind == "f" and not np.isfinite(b).all()):
            return None
        a, t = b, u
        if a.ndim == 0:
            break
    return a, t


def main():
    out = sys.stdout if sys.argv[1:] else open("tests/lib/expressions.tly", "w",
                                               encoding="utf-8")
    print("# Random chains of operations with NumPy's answers. Made by "
          "tests/reference/expressions.py.", file=out)
    print("""
passed = 0
fn check(number, result, shape, dtype, items) {
  result = asarray(result)
  global passed
  expected = reshape(float64(items), shape)
  if result.shape != shape or string(result.dtype) != dtype or not allclose(float64(result), expected, rtol: 1e-5) {
    print("chain {number}: {result.dtype} {result.shape}: {result}, not {dtype} {shape}: {expected}")
  } else { passed += 1 }
}
""", file=out)
    made = 0
    while made < count:
        found = chain()
        if found is None:
            continue
        a, t = found
        items = ", ".join(number(x) for x in a.ravel().tolist())
        print(f"check({made}, {t}, {tuple_text(a.shape)}, \"{a.dtype}\", "
              f"[{items}])", file=out)
        made += 1
    print(f"print(passed)    # expect: {count}", file=out)


main()
