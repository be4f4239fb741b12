"""Makes data/stats_*.npy, which tests/lib/statistics.tly compares with: run once,
with NumPy 1.24 and SciPy 1.10, from the project's root:

    /usr/bin/python3 tests/reference/stats.py
"""
import numpy as np
from scipy import special, stats

here = "tests/reference/data/stats_"
rng = np.random.default_rng(20)


def save(name, x):
    np.save(here + name + ".npy", np.asarray(x))


x = rng.gamma(2.0, size=(5, 40))
y = 0.5 * x[0] + rng.standard_normal(40)
save("x", x)
save("y", y)
save("skewness", stats.skew(x, axis=1))
save("kurtosis", stats.kurtosis(x, axis=1))
save("variance", x.var(axis=0, ddof=1))
save("zscore", stats.zscore(x, axis=1))
save("covariance", np.cov(x))
save("correlation", np.corrcoef(x))
save("covariance2", np.cov(x[0], y))
r = stats.linregress(x[0], y)
save("regression", [r.slope, r.intercept, r.rvalue, r.stderr,
                    r.intercept_stderr, r.pvalue])
save("density", np.histogram(x, 7, density=True)[0])
save("kernel", stats.gaussian_kde(y)(np.linspace(-2, 4, 13)))
one = stats.ttest_1samp(y, 0.7)
two = stats.ttest_ind(x[1], y, equal_var=False)
save("t", [one.statistic, one.pvalue, two.statistic, two.pvalue])
observed = np.array([16, 18, 16, 14, 12, 12])
expected = np.array([16, 16, 16, 16, 16, 8])
a, b = stats.chisquare(observed), stats.chisquare(observed, expected)
save("chi", [a.statistic, a.pvalue, b.statistic, b.pvalue])

p, q = np.meshgrid([0.5, 1, 2.5, 30, 1000], [0.5, 1, 3, 70, 2000])
u = np.array([0.0, 1e-6, 0.1, 0.3, 0.5, 0.9, 1.0])
save("beta", [[a, b, v, special.betainc(a, b, v)]
              for a, b in zip(p.ravel(), q.ravel()) for v in u])
save("gamma", [[a, v, special.gammaincc(a, v)]
               for a in (0.1, 0.5, 1, 2.5, 30, 1000)
               for v in (0, 1e-6, 0.5, 1, 3, 29, 60, 990, 1010)])
