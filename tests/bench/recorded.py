"""CBQN and J, which the systems have no packages of: their times as multiples of
C's, measured once with the same programs on a machine of this kind (2 cores
x86-64 with AVX-512, Debian 12; CBQN of December 2025 with its AVX2 kernels, J 9.8
for AVX-512). Rows that they lack are left out."""

CBQN = {
    "nest8": 6.17, "poly_1e3": 4.25, "poly_1e5": 6.1, "poly_1e7": 4.67,
    "hyp_1e3": 1.35, "hyp_1e5": 2.95, "hyp_1e7": 3.9, "where_1e3": 7.19,
    "where_1e5": 7.86, "where_1e7": 8.36, "texp_sum": 12.8, "exp_ns": 11.4,
    "log_ns": 7.34, "sin_ns": 14.6, "tanh_ns": 14.1, "sum0": 0.94, "sum1": 3.1,
    "max0": 0.833, "max1": 1.21, "argmax0": 5.73, "argmax1": 0.875,
    "var0": 4.6, "var1": 3.91, "cumsum": 1.06, "any": 0.15, "all": 0.146,
    "count": 0.0399, "bs": 12.3, "mm1000": 34.7, "mm100": 20.8, "sort": 12.1,
    "argsort": 11, "unique": 2.37, "searchsorted": 1.99, "bincount": 15,
    "histogram": 2.37, "gather": 0.929, "scatter_add": 16.7, "compress": 0.776,
    "jacobi": 11.3, "kmeans": 5.99, "nbody": 4.4, "life": 8.6,
    "small4_ns": 12.1, "small64_ns": 9.06, "fib30": 39.5, "loopij": 59.4,
    "mandel": 40.3, "words": 6.59,
}

J = {
    "poly_1e3": 15.5, "poly_1e5": 3.36, "poly_1e7": 6, "hyp_1e3": 2.77,
    "hyp_1e5": 6.67, "hyp_1e7": 7.73, "where_1e3": 32.4, "where_1e5": 14.5,
    "where_1e7": 10.1, "texp_sum": 7.14, "exp_ns": 2.49, "log_ns": 3.6,
    "sin_ns": 1.79, "tanh_ns": 1.41, "sum0": 9.89, "sum1": 1.05, "max0": 8.43,
    "max1": 1.1, "argmax1": 0.75, "cumsum": 2.88, "any": 1.02, "all": 0.974,
    "count": 0.947, "mm1000": 1.08, "mm100": 1.25, "sort": 2.05,
    "argsort": 0.667, "unique": 2.32, "searchsorted": 1.71, "bincount": 4.53,
    "gather": 0.991, "compress": 3.69, "jacobi": 14.5, "life": 102,
    "small4_ns": 164, "small64_ns": 99.7, "fib30": 314, "loopij": 232,
}
