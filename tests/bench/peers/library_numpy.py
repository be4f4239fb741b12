"""What the library is measured against: NumPy, and CPython where NumPy has
nothing of the kind. usage: library_numpy.py DATA GROUP …"""

import collections

import numpy as np

from harness import DATA, bench, run


def read(name):
    return np.load(f"{DATA}/{name}.npy")


def read_text():
    with open(f"{DATA}/words.txt", encoding="utf-8") as f:
        return f.read()


def products():
    """BLAS itself: into memory that is there already."""
    A = read("x")[:1_000_000].reshape(1000, 1000)
    B = read("y")[:1_000_000].reshape(1000, 1000)
    C = np.empty((1000, 1000))
    bench("mm1000", lambda: np.dot(A, B, out=C)[0, 777])
    a, b = A[:100, :100].copy(), B[:100, :100].copy()
    c = np.empty((100, 100))
    bench("mm100", lambda: np.dot(a, b, out=c)[7, 77])


def factors():
    a = read("x")[:250_000].reshape(500, 500)
    positive = a @ a.T + 500 * np.eye(500)
    b = read("y")[:500]
    bench("solve", lambda: np.linalg.solve(a, b)[77])
    bench("cholesky", lambda: np.linalg.cholesky(positive)[77, 7])
    bench("svd", lambda: np.linalg.svd(a)[1][77])
    bench("eigh", lambda: np.linalg.eigh(positive)[0][77])


def transforms():
    x = read("x") + 1j * read("y")
    power, prime = x[:2 ** 20].copy(), x[:1_000_003].copy()
    many = np.concatenate((x, x, x[:5_600_000])).reshape(100_000, 256)
    del x
    bench("fft_power", lambda: abs(np.fft.fft(power)[77]))
    bench("fft_prime", lambda: abs(np.fft.fft(prime)[77]))
    bench("fft_many", lambda: abs(np.fft.fft(many)[777, 77]))
    short = power[:1000].copy()
    real_short = short.real.copy()
    bench("fft_1000", lambda: abs(np.fft.fft(short)[77]))
    bench("rfft_1000", lambda: abs(np.fft.rfft(real_short)[77]))


def sorting():
    x = read("x")[:1_000_000]
    whole = read("i") * 1_000_003 % 998_244_353
    words = np.array(read_text().split()[:1_000_000])
    bench("sort_float", lambda: np.sort(x)[777])
    bench("sort_int", lambda: np.sort(whole)[777])
    bench("sort_string", lambda: len(np.sort(words)[777_777]))
    bench("argsort_float", lambda: np.argsort(x)[777])
    bench("argsort_int", lambda: whole[np.argsort(whole)[777]])
    bench("argsort_string", lambda: len(words[np.argsort(words)[777_777]]))


def searching():
    X = read("x")
    x, y = X[:1_000_000], read("y")[:1_000_000]
    keys, places = read("k"), read("i")
    ordered, mask = np.sort(x), read("y") > 0
    bench("unique", lambda: len(np.unique(keys)))
    bench("bincount", lambda: np.bincount(keys)[77])
    bench("histogram", lambda: np.histogram(x, 100, (-1, 1))[0][50])
    bench("searchsorted", lambda: np.searchsorted(ordered, y)[777])

    bench("isin", lambda: np.count_nonzero(np.isin(keys, keys[:1000] // 2)))
    bench("median", lambda: np.median(x))
    few = x[:1000].copy()
    bench("partition", lambda: np.partition(few, 500)[500])

    def add_at():
        o = np.zeros(1_000_000)
        np.add.at(o, places, x)
        return o[777]

    bench("add_at", add_at)
    bench("compress", lambda: len(X[mask]))
    bench("gather", lambda: x[places][777])


def files():
    bench("csv", lambda: np.loadtxt(f"{DATA}/table.csv", delimiter=",",
                                    skiprows=1)[:, 3].sum())
    bench("npy", lambda: np.load(f"{DATA}/big.npy")[777])


def numbers():
    r = np.random.default_rng(1)
    bench("normal", lambda: r.normal(size=10_000_000).size)
    bench("uniform", lambda: r.uniform(size=10_000_000).size)
    bench("gamma", lambda: r.gamma(2.5, size=1_000_000).size)
    bench("beta", lambda: r.beta(2, 3, size=1_000_000).size)
    bench("poisson", lambda: r.poisson(3, size=1_000_000).size)
    bench("poisson100", lambda: r.poisson(100, size=1_000_000).size)
    bench("binomial", lambda: r.binomial(1000, 0.3, size=1_000_000).size)


def powers():
    x = read("x")[:100_000]
    few_x, few_y = x[:1000].copy(), read("y")[:1000]
    short = (abs(few_x) + 0.5).astype("f4")
    bench("vander", lambda: np.vander(x, 5)[777, 1])
    bench("polyfit", lambda: np.polyfit(few_x, few_y, 3)[1])
    bench("logspace", lambda: np.logspace(0, 3, 1000)[777])
    bench("log2_short", lambda: np.log2(short)[77])
    bench("exp2_short", lambda: np.exp2(short)[77])


def ragged_rows():
    """NumPy has no ragged arrays: a list of a million rows, and a loop."""
    counts = read("k") % 21
    values = read("x")[:counts.sum()]
    rows = np.split(values, np.cumsum(counts)[:-1])
    bench("ragged_plus", lambda: [row * 2 + 1 for row in rows][1000][0])
    bench("ragged_sum", lambda: [row.sum() for row in rows][777])


def fields():
    p = np.zeros(1_000_000, dtype=[(name, "f8") for name in "xyzw"])
    p["x"], p["y"] = read("x")[:1_000_000], read("y")[:1_000_000]
    bench("fields", lambda: (p["x"] + p["y"])[777])


def mapped():
    bench("mapped",
          lambda: np.load(f"{DATA}/mapped.npy", mmap_mode="r").sum())


def words():
    text = read_text()
    bench("words", lambda: len(collections.Counter(text.split())))
    bench("split", lambda: len(text.split()))


run(globals())
