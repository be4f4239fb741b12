"""One workload at one size in NumPy. usage: scaling_numpy.py NAME N"""

import sys
import time
import tracemalloc

import numpy as np

name, n = sys.argv[1], int(sys.argv[2])
r = np.random.default_rng(1)
x = y = r.uniform(size=n)
if name not in ("polynomial", "exp", "sum", "cumulative_sum", "sort"):
    y = r.uniform(size=n)
if name in ("unique", "gather"):
    places = (y * n).astype(np.int64)
    few = places % 1000
if name == "compress":
    mask = y > 0.5
if name in ("mean_rows", "matmul"):
    side = max(int(n ** 0.5), 1)
    rows = x[:side * side].reshape(side, side)
    columns = y[:side * side].reshape(side, side)

f = {
    "add": lambda: x + y,
    "polynomial": lambda: (1.5 * x - 0.5) * x + 0.25,
    "exp": lambda: np.exp(x),
    "where": lambda: np.where(x > 0.5, x * y, x - y),
    "sum": lambda: np.sum(x),
    "mean_rows": lambda: rows.mean(1),
    "cumulative_sum": lambda: np.cumsum(x),
    "sort": lambda: np.sort(x),
    "unique": lambda: np.unique(few),
    "gather": lambda: x[places],
    "compress": lambda: x[mask],
    "matmul": lambda: rows @ columns,
}[name]

# What takes a fourth of a second is timed three times, what takes two once.
tracemalloc.start()
before = tracemalloc.get_traced_memory()[0]
tracemalloc.reset_peak()
start = time.process_time()
result = f()
once = time.process_time() - start
peak = tracemalloc.get_traced_memory()[1] - before
tracemalloc.stop()
check = float(np.sum(result))
del result
turns = int(0.004 / (once + 1e-9)) + 1 if once < 0.004 else 1
samples = [once] if once > 2 else []
for _ in range(0 if samples else 3 if once > 0.25 else 7):
    start = time.process_time()
    for _ in range(turns):
        f()
    samples.append((time.process_time() - start) / turns)
samples.sort()
print(name, samples[len(samples) // 2], samples[0], peak, check, sep="\t")
