"""The chain of six of counting.tly in NumPy: SPELLING N, and --traced for
NumPy's own count of its memory in place of the system's."""

import re
import sys
import tracemalloc

import numpy as np


def operators(X):
    return X+(X+(X+(X+(X+X))))


def calls(X):
    add = np.add
    return add(X, add(X, add(X, add(X, add(X, X)))))


def named(X):
    a = X+X
    b = X+a
    c = X+b
    d = X+c
    r = X+d
    return r


def rebinding(X):
    a = X+X
    for _ in range(4):
        a = X+a
    return a


def resident():
    try:
        with open("/proc/self/status", encoding="ascii") as f:
            return int(re.search(r"VmHWM:\s*(\d+)", f.read())[1]) * 1024
    except (OSError, TypeError):
        return 0


f = globals()[sys.argv[1]]
X = np.ones(int(sys.argv[2]), np.int8)
f(X[:1])
if "--traced" in sys.argv:
    tracemalloc.start()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    r = f(X)
    print("peak", tracemalloc.get_traced_memory()[1] - before)
else:
    before = resident()
    r = f(X)
    print("resident", resident() - before)
print("check", int(r.sum(dtype=np.int64) + X.sum(dtype=np.int64)))
