"""Makes data/random_pcg64.npz, which tests/lib/generators.tly compares with:
run once, with NumPy 1.24, from the project's root:

    /usr/bin/python3 tests/reference/generators.py
"""
import numpy as np

out = {}
for seed, stream in ((0, 0), (42, 0), (2**40 + 7, 0), (42, 1), (2**63 - 1, 5)):
    key = () if stream == 0 else (stream - 1,)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))
    name = f"{seed}_{stream}"
    out[name + "_bits"] = rng.bit_generator.random_raw(7)
    out[name + "_uniform"] = rng.random(5)
    out[name + "_range"] = rng.uniform(-2, 3, 5)
    out[name + "_small"] = rng.integers(0, 10, 9)
    out[name + "_more"] = rng.integers(-5, 2**31, 6)
    out[name + "_half"] = rng.integers(0, 2**32, 3)
    out[name + "_large"] = rng.integers(0, 3 * 2**61, 6)
    out[name + "_one"] = rng.integers(4, 5, 2)
    out[name + "_last"] = rng.random(3)
np.savez_compressed("tests/reference/data/random_pcg64.npz", **out)
