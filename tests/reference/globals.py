"""Makes tests/lib/globals.tly, which compares the functions of stdlib/global
and stdlib/places.c with NumPy's and SciPy's: run once, with NumPy 1.24 and
SciPy 1.10, from the project's root:

    /usr/bin/python3 tests/reference/globals.py
"""
import numpy as np
from scipy import special

rng = np.random.default_rng(7)
lines = []


def text(x):
    """A Tally literal."""
    if isinstance(x, (list, tuple)):
        return "(" + ", ".join(text(v) for v in x) + ("," if len(x) == 1 else "") + ")"
    a = np.asarray(x)
    if a.ndim > 0:
        if a.size == 0:
            return f"zeros({text([int(n) for n in a.shape])}, dtype: {a.dtype})"
        inner = "[" + ", ".join(text(v) for v in a) + "]"
        return inner
    if a.dtype == bool:
        return "true" if a else "false"
    if a.dtype.kind == "c":
        return f"complex({text(a.real)}, {text(a.imag)})"
    return repr(a.item())


def let(name, value):
    """A variable of both languages."""
    globals()[name] = value
    lit = text(value)
    a = np.asarray(value) if not isinstance(value, (list, tuple)) else None
    if a is not None and str(a.dtype) not in ("int64", "float64", "bool", "complex128"):
        lit = f"{a.dtype}({lit})"
    lines.append(f"{name} = {lit}")


def same(call, expected):
    """A call and NumPy's answer: an array, a number, or a list of arrays."""
    if isinstance(expected, (list, tuple)):
        for i, e in enumerate(expected):
            same(f"{call}[{i}]", e)
        return
    e = np.asarray(expected)
    lines.append(f"check({call}, {text(expected)}, {e.dtype}, {text([int(n) for n in e.shape])})")


let("v", np.round(rng.normal(size=7), 3))
let("u", np.round(rng.normal(size=7), 3))
let("x", np.round(rng.normal(size=(3, 5)), 3))
let("y", np.round(rng.normal(size=(2, 5)), 3))
let("i", rng.integers(-9, 9, size=(3, 4)))
let("n", np.where(rng.random((3, 5)) < 0.3, np.nan, x))
let("w", np.round(rng.random(5), 3))
let("c", np.round(rng.normal(size=4), 2) + 1j * np.round(rng.normal(size=4), 2))
let("cc", np.round(rng.normal(size=(2, 4)), 2) + 1j * np.round(rng.normal(size=(2, 4)), 2))
let("s", x.astype(np.float32))
let("k", np.array([2, 0, 1, 2, 2, 0, 1]))

# correlation.tly
same("average(x)", np.average(x))
same("average(x, axis: 1, weights: w)", np.average(x, axis=1, weights=w))
same("average(i, axis: 0, weights: [1, 2, 3])", np.average(i, axis=0, weights=[1, 2, 3]))
same("average(x, weights: x * x)", np.average(x, weights=x * x))
same("ptp(i, axis: 1)", np.ptp(i, axis=1))
same("ptp(x)", np.ptp(x))
same("cov(x)", np.cov(x))
same("cov(x, y)", np.cov(x, y))
same("cov(v, u)", np.cov(v, u))
same("cov(v)", np.cov(v))
same("cov(x, rowvar: false, correction: 0)", np.cov(x, rowvar=False, ddof=0))
same("cov(cc)", np.cov(cc))
same("cov(i)", np.cov(i))
same("corrcoef(x)", np.corrcoef(x))
same("corrcoef(v, u)", np.corrcoef(v, u))
same("mode(k)", 2)
same("mode([[1, 2, 2], [3, 3, 1]], axis: 1)", np.array([2, 3]))
same("histogram2d(v, u, 3)", list(np.histogram2d(v, u, 3)))
same("histogram2d(v, u, (2, 4), density: true)", list(np.histogram2d(v, u, (2, 4), density=True)))
same("histogram2d(v, u, 2, range: ((-1, 1), (-2, 2)))", list(np.histogram2d(v, u, 2, range=((-1, 1), (-2, 2)))))
same("histogram2d(v, u, ([-2.0, 0.0, 2.0], [-1.0, 0.0, 0.5, 3.0]), weights: abs(v))",
     list(np.histogram2d(v, u, ([-2.0, 0, 2], [-1, 0, 0.5, 3]), weights=abs(v))))

# missing.tly, nan.c
for axis in (None, 0, 1):
    a = "" if axis is None else f", axis: {axis}"
    for name in ("nansum", "nanmean", "nanprod", "nanvar", "nanstd", "nanmedian", "nanmax", "nanmin"):
        same(f"{name}(n{a})", getattr(np, name)(n, axis=axis))
        same(f"{name}(x{a})", getattr(np, name)(x, axis=axis))
    same(f"nanquantile(n, 0.3{a})", np.nanquantile(n, 0.3, axis=axis))
    same(f"nanpercentile(n, 80{a})", np.nanpercentile(n, 80, axis=axis))
    same(f"nanargmax(n{a})", np.nanargmax(n, axis=axis))
    same(f"nanargmin(n{a})", np.nanargmin(n, axis=axis))
    if axis is not None:
        same(f"nancumsum(n{a})", np.nancumsum(n, axis=axis))
        same(f"nancumprod(n{a})", np.nancumprod(n, axis=axis))
same("nanvar(n, axis: 1, correction: 1)", np.nanvar(n, axis=1, ddof=1))
same("nanmean(n, axis: 1, keepdims: true)", np.nanmean(n, axis=1, keepdims=True))
same("nanmedian(n, axis: 0, keepdims: true)", np.nanmedian(n, axis=0, keepdims=True))
same("nan_to_num([nan, inf, -inf, 2.5])", np.nan_to_num(np.array([np.nan, np.inf, -np.inf, 2.5])))
same("nan_to_num(n, nan: -1)", np.nan_to_num(n, nan=-1))
same("nan_to_num(i)", np.nan_to_num(i))
same("nanvar(s)", np.nanvar(s))

# ordering.tly, places.c
same("partition(v, 3)", np.sort(v))
same("argpartition(v, -1)", np.argsort(v))
same("lexsort((u, k))", np.lexsort((u, k)))
same("lexsort([[1, 0, 1, 0], [0, 0, 1, 0]])", np.lexsort([[1, 0, 1, 0], [0, 0, 1, 0]]))
same("select((v > 1, v > 0), (v * 10, v), otherwise: -1.0)", np.select([v > 1, v > 0], [v * 10, v], -1.0))
same("choose(k, (v, u, -v))", np.choose(k, [v, u, -v]))
same("choose([5, -1], ([1, 2], [3, 4]), mode: \"wrap\")", np.choose([5, -1], [[1, 2], [3, 4]], mode="wrap"))
same("choose([5, -1], ([1, 2], [3, 4]), mode: \"clip\")", np.choose([5, -1], [[1, 2], [3, 4]], mode="clip"))
same("compress([true, false, true], x, axis: 0)", np.compress([True, False, True], x, axis=0))
same("compress([0, 1, 1, 0, 1], x, axis: 1)", np.compress([0, 1, 1, 0, 1], x, axis=1))
same("compress([1, 0, 1], x)", np.compress([1, 0, 1], x))
p = x.copy(); np.put_along_axis(p, np.array([[1], [-1], [0]]), np.array([[7.0], [8], [9]]), 1)
same("put_along_axis(x, [[1], [-1], [0]], [[7.0], [8.0], [9.0]], axis: 1)", p)
p = x.copy(); np.put_along_axis(p, np.array([[0, 1, 2, 0, 1]]), 5.0, 0)
same("put_along_axis(x, [[0, 1, 2, 0, 1]], 5.0, axis: 0)", p)
p = np.zeros(3); np.add.at(p, k, v)
same("add_at(zeros(3), k, v)", p)
p = i.copy(); np.add.at(p, [0, -1, 0], [[1, 2, 3, 4]])
same("add_at(i, [0, -1, 0], [1, 2, 3, 4])", p)
p = np.zeros(2, np.int8); np.add.at(p, [[1, 1], [0, 1]], 100)
same("add_at(zeros(2, dtype: int8), [[1, 1], [0, 1]], 100)", p)
p = c.copy(); np.add.at(p, [1, 1], [1j, 2])
same("add_at(c, [1, 1], [1i, 2])", p)
win = np.lib.stride_tricks.sliding_window_view
same("sliding_windows(v, 3)", win(v, 3))
same("sliding_windows(i, (2, 3))", win(i, (2, 3)))
same("sliding_windows(i, 2, axis: 0)", win(i, 2, axis=0))
same("sliding_windows(x[:, ::-2], (1, 2))", win(x[:, ::-2], (1, 2)))

# shaping.tly
for q in range(-1, 5):
    same(f"rot90(i, {q})", np.rot90(i, q))
let("b", np.arange(12).reshape(2, 3, 2))
same("rot90(b, 1, axes: (2, 0))", np.rot90(b, 1, (2, 0)))
same("rot90(b, 3, axes: (0, -1))", np.rot90(b, 3, (0, -1)))
same("pad(v, 2)", np.pad(v, 2))
same("pad(i, ((1, 2), (0, 3)), value: 5)", np.pad(i, ((1, 2), (0, 3)), constant_values=5))
for mode in ("edge", "reflect", "symmetric", "wrap"):
    same(f'pad(v, (3, 5), mode: "{mode}")', np.pad(v, (3, 5), mode=mode))
    same(f'pad(i, ((1, 2), (2, 2)), mode: "{mode}")', np.pad(i, ((1, 2), (2, 2)), mode=mode))
same('pad([1, 2, 3], (7, 8), mode: "reflect")', np.pad([1, 2, 3], (7, 8), mode="reflect"))
same('pad([1, 2, 3], (7, 8), mode: "symmetric")', np.pad([1, 2, 3], (7, 8), mode="symmetric"))
same("array_split(v, 3)", np.array_split(v, 3))
same("array_split(i, [1, 3], axis: 1)", np.array_split(i, [1, 3], axis=1))
same("trim_zeros([0, 0, 1, 0, 2, 0])", np.trim_zeros(np.array([0, 0, 1, 0, 2, 0])))
same('trim_zeros([0, 1, 0], "f")', np.trim_zeros(np.array([0, 1, 0]), "f"))
same("vander([1, 2, 3, 5], 3)", np.vander([1, 2, 3, 5], 3))
same("vander(v, increasing: true)", np.vander(v, increasing=True))

# signals.tly
for mode in ("full", "same", "valid"):
    same(f'correlate(v, [0.5, 2, -1], mode: "{mode}")', np.correlate(v, [0.5, 2, -1], mode))
    same(f'correlate(c, [1i, 2], mode: "{mode}")', np.correlate(c, [1j, 2], mode))
same("gradient(v)", np.gradient(v))
same("gradient(v, 0.5, edge_order: 2)", np.gradient(v, 0.5, edge_order=2))
same("gradient(v, [0, 1, 3, 4, 4.5, 7, 8])", np.gradient(v, [0, 1, 3, 4, 4.5, 7, 8]))
same("gradient(v, [0, 1, 3, 4, 4.5, 7, 8], edge_order: 2)", np.gradient(v, [0, 1, 3, 4, 4.5, 7, 8], edge_order=2))
same("gradient(v[:3], [0, 1, 3], edge_order: 2)", np.gradient(v[:3], [0, 1, 3], edge_order=2))
same("gradient(x)", np.gradient(x))
same("gradient(i, axis: 1)", np.gradient(i, axis=1))
same("gradient(s, axis: 0)", np.gradient(s, axis=0))
let("a", np.array([0, 3, 7, 12, 6, -9.5, 0.1]))
same("unwrap(a)", np.unwrap(a))
same("unwrap(a, discont: 5)", np.unwrap(a, discont=5))
same("unwrap(a, period: 3.5)", np.unwrap(a, period=3.5))
same("unwrap([0, 1, 2, -1, 0, 5, 3], period: 4)", np.unwrap([0, 1, 2, -1, 0, 5, 3], period=4))
same("unwrap([0, 3, 1, 6, 2, -4], period: 5)", np.unwrap([0, 3, 1, 6, 2, -4], period=5))
same("unwrap(x * 4, axis: 0)", np.unwrap(x * 4, axis=0))

# special.tly
let("t", np.array([-3.0, -0.75, 0.0, 0.5, 1.0, 2.25, 7.9, 8.1, 30.0]))
same("exp10(t)", 10.0 ** t)
same("sinc(t)", np.sinc(t))
same("heaviside(t, 0.5)", np.heaviside(t, 0.5))
same("i0(t)", np.i0(t))
same("beta([0.5, 2, 30, 100], [0.25, 3, 7, 150])", special.beta([0.5, 2, 30, 100], [0.25, 3, 7, 150]))
same("degrees(t)", np.degrees(t))
same("radians(t)", np.radians(t))
same("angle(c)", np.angle(c))
same("angle(v)", np.angle(v))
same("angle(c, deg: true)", np.angle(c, deg=True))
same("divmod(i, 4)", list(np.divmod(i, 4)))
same("fmod(i, 4)", np.fmod(i, 4))
same("fmod(t, -0.7)", np.fmod(t, -0.7))
same("gcd(i, 6)", np.gcd(i, 6))
same("gcd([0, 12, -8], [0, -18, 0])", np.gcd([0, 12, -8], [0, -18, 0]))
same("lcm(i, 6)", np.lcm(i, 6))
same("popcount([0, 1, 255, -1])", np.array([0, 1, 8, 64]))
same("popcount(uint16([65535, 256]))", np.array([16, 1]))
same("popcount(int32([-2]))", np.array([31]))
same("sinc(s)", np.sinc(s))

# polynomials.tly
same("polyval([2, -1, 0.5], v)", np.polyval([2, -1, 0.5], v))
same("polyval([2, -1], i)", np.polyval([2, -1], i))
same("polyfit(u, v, 2)", np.polyfit(u, v, 2))
same("polyfit(w, x.T, 1)", np.polyfit(w, x.T, 1))
same("polyfit(u, v, 1, w: abs(v))", np.polyfit(u, v, 1, w=abs(v)))
def order(r): return r[np.lexsort((np.round(r.imag, 6), np.round(r.real, 6)))]
for p in ([1, -6, 11, -6], [1, 0, 1], [0, 2, -2, 0, 0], [3], [1, 2, 3, 4, 5]):
    same(f"ordered(roots({p}))", order(np.roots(p).astype(complex)))

# einsum.tly
let("m", np.round(rng.normal(size=(4, 3)), 2))
let("q", np.round(rng.normal(size=(2, 3, 4)), 2))
let("h", np.round(rng.normal(size=(3, 3)), 2))
for sub, *ops in (("ij,jk->ik", "x", "x.T"), ("ij,jk", "x", "x.T"), ("ij,ij->", "x", "x"), ("ij->j", "x"),
                  ("ii", "h"), ("ii->i", "h"), ("ij->ji", "x"), ("bij,ji->b", "q", "m"), ("i,j->ij", "v", "u"),
                  ("i,i->i", "v", "u"), ("bij,bkj->bik", "q", "q"), ("...ij,...jk->...ik", "q", "m"),
                  ("...j,j->...", "q", "m[:, 0]"), ("ij,jk,kl->il", "x", "x.T", "h"), ("ba", "x"),
                  ("ij,j,i->", "x", "w", "h[0]"), ("i,j,k->kij", "w", "v[:2]", "u[:3]"), ("ij,jk", "i", "i.T"),
                  ("...", "x"), ("i...->...", "x"), ("ij,ij->ij", "x", "s"), ("...i,...i", "x[:, none, :]", "y")):
    values = [eval(o.replace("none", "None")) for o in ops]
    same(f'einsum("{sub}", {", ".join(ops)})', np.einsum(sub, *values))

head = """# Functions beside the standard, against NumPy's and SciPy's answers. Made by
# tests/reference/globals.py.
fn check(got, want, dtype, shape) {
  (g, w) = (asarray(got), astype(asarray(want), dtype))
  if g.dtype != dtype or asarray(g.shape).size != len(shape) or not same(g.shape, shape) {
    error("{g.dtype} of shape {g.shape}, but {dtype} of shape {shape} is expected")
  }
  tolerance = if dtype == float32 { 2e-6 } else { 1e-12 }
  off = if isdtype(dtype, ("real floating", "complex floating")) {
    (abs(g - w) > tolerance * maximum(1, abs(w))) | (isnan(g) != isnan(w))
  } else { g != w }
  if any(off & ~(g == w)) { error("got {g}, but {w} is expected") }
}
fn ordered(z) = z[lexsort((round(imag(z) * 1e6), round(real(z) * 1e6)))]
"""
with open("tests/lib/globals.tly", "w") as f:
    print(head + "\n".join(lines) + "\nprint(\"done\")   # expect: done", file=f)
